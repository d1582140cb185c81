/* Figure: an RNN of two units reads two words. A green box computes one of the states. */
import { LETTERS, distance, readWord } from "./steps_words.js";
import { scale } from "./arithmetic.js";
import { GREEN, PURPLE, arrow, drawing, label, squares, svg } from "./elements.js";
import { change, fill, fixed, html, setContent, symbol } from "./elements.js";
import { button, choice, group, player, setterOf, slider } from "./controls.js";
import { pointed } from "./pointer.js";
import { report, show } from "./show.js";

const [STEPS, UNITS, HIGH] = [6, [0, 1], 20];
const [FLOOR, BAR, BOX] = [213, 12.5, 233]; // y of the bars' lower ends, units of length per 1, y of the box
const [INPUT, STATE, NEW] = [50, 149, 357]; // x of W_ih, of W_hh and of the new state, in the box
const [CELL, WIDE, TILE] = [31, 37, 37]; // widths of squares: of W_ih, of W_hh, of states
const SMALL = { "font-size": 11 };

const x = (t) => 64 + (t - 1) * 57;
const y = (n) => 18 + n * 79;
const outline = (x, y, width, height, stroke, attributes = {}) =>
  svg("rect", { x, y, width, height, rx: 4, fill: "none", stroke, "stroke-width": 1.5, ...attributes });
const byFactor = (value) => `× ${fixed(value, 1)}`;
const small = (x, y, text, attributes = {}) => label(x, y, text, { ...SMALL, ...attributes });
const column = (values) => values.map((value) => [value]);
const left = (x, y, text) => small(x, y, text, { "text-anchor": "start" });

const render = ({ model, el }) => {
  const words = model.get("words");
  const set = setterOf(model);
  const unit = (k) => fill(words.unit, { n: k + 1 });
  const wordName = (n) => fill(words.word, { n: n + 1 });
  const changeLetter = (n, k) => {
    const name = ["first", "second"][n];
    const next = (letter) => LETTERS[(LETTERS.indexOf(letter) + 1) % LETTERS.length];
    set({ [name]: [...model.get(name)].map((letter, at) => (at === k ? next(letter) : letter)).join("") });
  };

  /* Both words: for each step the letter and the state below it. */
  const columns = [0, 1].map((n) =>
    Array.from({ length: STEPS }, (_, k) => {
      const [tile, letter] = [
        outline(x(k + 1), y(n), TILE, HIGH, null, { fill: "currentColor", "fill-opacity": 0 }),
        label(x(k + 1) + TILE / 2, y(n) + HIGH / 2, " "),
      ];
      const input = svg("g", { cursor: "pointer", onclick: () => changeLetter(n, k) }, tile, letter);
      const options = { size: 11, name: (row) => `${unit(row)}: h_${k + 1}` };
      const state = squares(x(k + 1), y(n) + HIGH + 9, 2, 1, TILE, HIGH, options);
      change(state.element, { cursor: "pointer", onclick: () => set({ t: k + 1, word: n + 1 }) });
      return { tile, letter, input, state, button: button(" ", () => changeLetter(n, k)) };
    }),
  );
  const rowNames = [0, 1].map((n) => [
    left(2, y(n) + HIGH / 2, wordName(n)),
    UNITS.map((k) => left(2, y(n) + (k + 1.5) * HIGH + 9, unit(k))),
  ]);

  /* One step in numbers: vectors above the columns of the matrices. */
  const [top, rows] = [BOX + 20, BOX + 43];
  const [x_t, before] = [
    squares(INPUT, top, 1, LETTERS.length, CELL, HIGH, { digits: 0, size: 11, name: (_, c) => `x_t, ${LETTERS[c]}` }),
    squares(STATE, top, 1, 2, WIDE, HIGH, { size: 11, name: (_, c) => `${unit(c)}: h_{t-1}` }),
  ];
  const weights = (x, width, columns, digits) =>
    squares(x, rows, 2, columns, width, HIGH, {
      limit: 2,
      digits,
      size: 11,
    });
  const W_ih = weights(INPUT, CELL, LETTERS.length, 1);
  const W_hh = weights(STATE, WIDE, 2, 2);
  const h_t = squares(NEW, rows, 2, 1, WIDE - 2, HIGH, { size: 11, name: (row) => `${unit(row)}: h_t` });

  const [changing, element] = [
    svg("g"),
    drawing(
      words,
      400,
      BOX + 102,
      left(2, 8, `${words.step} t`),
      left(2, FLOOR - 8, words.distance),
      rowNames,
      outline(0.75, BOX, 398.5, 101, GREEN),
      columns.flat().map(({ input, state }) => [input, state.element]),
      [x_t, before, W_ih, W_hh, h_t].map((cells) => cells.element),
    ),
  ];
  element.append(changing);
  const sentence = report();
  change(sentence.element, { class: "steady" });

  const bar = (gap, k) =>
    svg(
      "g",
      { "data-said": `${words.distance} = ${fixed(gap, 4)}` },
      svg("rect", { x: x(k + 1), y: FLOOR - 36, width: TILE, height: 52, "fill-opacity": 0 }),
      svg("rect", { x: x(k + 1), y: FLOOR - gap * BAR, width: TILE, height: gap * BAR, fill: PURPLE }),
      small(x(k + 1) + TILE / 2, FLOOR + 9, fixed(gap)),
    );
  const arrows = (n, t) => [
    arrow(`${x(t) + TILE / 2},${y(n) + HIGH + 1} ${x(t) + TILE / 2},${y(n) + HIGH + 9}`),
    t > 1
      ? arrow(`${x(t - 1) + TILE},${y(n) + 2 * HIGH + 9} ${x(t)},${y(n) + 2 * HIGH + 9}`, { "stroke-width": 2 })
      : [],
  ];
  const calculation = (t, word, { x: one_hot, input, recurrent, a }) => {
    const sums = [
      [257, `W_{ih} x_${t}`, input],
      [303, `W_{hh} h_${t - 1}`, recurrent],
      [350, words.sum, a],
    ];
    const sum = ([x, name, values], k) =>
      small(x, rows + (k + 0.5) * HIGH, fixed(values[k]), {
        "text-anchor": "end",
        "data-said": `${unit(k)}: ${name} = ${fixed(values[k], 4)}`,
      });
    const texts = [
      ...LETTERS.map((letter, c) => [INPUT + (c + 0.5) * CELL, BOX + 11, letter, one_hot[c] ? 700 : 400]),
      [STATE + WIDE, BOX + 11, `h_${t - 1}`],
      [288, BOX + 11, [wordName(word - 1), `${words.step} ${t}`].join(words.comma), 700],
      [INPUT - 14, top + HIGH / 2, `x_${t}`],
      [NEW + 18, top + HIGH / 2, "tanh"],
      [INPUT + 1.5 * CELL, BOX + 93, "W_{ih}"],
      [STATE + WIDE, BOX + 93, "W_{hh}"],
      ...sums.map(([x, name]) => [x - 16, BOX + 93, name]),
      [NEW + 18, BOX + 93, `h_${t}`],
      ...UNITS.flatMap((k) => ["+", "="].map((sign, place) => [[264, 310][place], rows + (k + 0.5) * HIGH, sign])),
    ];
    return [
      texts.map(([x, y, text, weight = 400]) => small(x, y, text, { "font-weight": weight })),
      UNITS.map((k) => [left(3, rows + (k + 0.5) * HIGH, unit(k)), sums.map((column) => sum(column, k))]),
    ];
  };

  /* What step t shows. gaps: the distances of both states. */
  const sentenceOf = (t, read, gaps) => {
    const gap = gaps[t - 1];
    const different = [...read[0]].map((letter, k) => letter !== read[1][k]);
    const last = different.slice(0, t).lastIndexOf(true) + 1;
    const now = last === 0 ? "never" : last === t ? "now" : gap === 0 ? "equal" : gap < 0.005 ? "little" : "apart";
    const [first, second] = read.map((letters) => letters[t - 1]);
    const change = now !== "apart" ? [] : gap > gaps[last - 1] ? [words.grown] : [words.shrunk];
    return fill([words[`said_${now}`], ...change].join(words.between), {
      t,
      first,
      second,
      last,
      distance: fixed(gap),
    });
  };

  const traits = ["first", "second", "t", "word", "factor", "W_ih", "W_hh"];
  const draw = () => {
    const [first, second, t, word, factor, weight_ih, W] = traits.map((name) => model.get(name));
    const [read, w] = [[first, second], { weight_ih, weight_hh: scale(factor, W) }];
    const steps = read.map((letters) => readWord(letters, w));
    const gaps = steps[0].map(({ h }, k) => distance(h, steps[1][k].h));
    columns.forEach((columns, n) =>
      columns.forEach(({ tile, letter, input, state, button }, k) => {
        const differs = first[k] !== second[k];
        setContent(letter, read[n][k]);
        change(tile, { stroke: differs ? PURPLE : "currentColor", "stroke-opacity": differs ? 1 : 0.3 });
        change(input, { "data-said": `x_${k + 1} = (${steps[n][k].x.join(", ")})` });
        setContent(button, read[n][k]);
        change(button, { "aria-label": fill(words.letter, { n: n + 1, k: k + 1, letter: read[n][k] }) });
        state.set(column(steps[n][k].h), () => ({ shown: k < t }));
      }),
    );
    const step = steps[word - 1][t - 1];
    x_t.set([step.x]);
    before.set([step.before]);
    W_ih.set(w.weight_ih, (_, c) => ({ faded: step.x[c] === 0 }));
    W_hh.set(w.weight_hh);
    h_t.set(column(step.h));
    const shown = Array.from({ length: STEPS }, (_, k) => k + 1);
    setContent(
      changing,
      ...[
        shown.map((s) => small(x(s) + TILE / 2, 8, `${s}`, { "font-weight": s === t ? 700 : 400 })),
        shown.slice(0, t).map((s) => [arrows(0, s), arrows(1, s), bar(gaps[s - 1], s - 1)]),
        outline(x(t) - 4, y(word - 1) - 4, TILE + 8, 3 * HIGH + 17, GREEN),
        calculation(t, word, step),
      ].flat(Infinity),
    );
    const list = (name) => step[name].map((value) => fixed(value)).join(words.comma);
    const numbers = { t, n: word, input: list("input"), recurrent: list("recurrent"), a: list("a"), h: list("h") };
    change(element, { "aria-label": `${words.description}${words.between}${fill(words.numbers, numbers)}` });
    sentence.set(sentenceOf(t, read, gaps));
  };

  const letters = columns.map((columns, n) =>
    html("div", { class: "strip" }, html("span", {}, wordName(n)), ...columns.map(({ button }) => button)),
  );
  const controls = [
    html(
      "div",
      { class: "strip" },
      player(model, "t", { min: 1, max: STEPS, words, pause: 1000 }),
      slider(model, "t", { label: [`${words.step} `, symbol("t")], min: 1, max: STEPS, step: 1 }),
    ),
    slider(model, "factor", {
      label: [`${words.factor} `, symbol("W_{hh}")],
      min: 0,
      max: 2,
      step: 0.1,
      show: byFactor,
    }),
    group(words.letters, letters),
    choice(model, "word", { label: words.computed, options: [0, 1].map((n) => [n + 1, wordName(n)]) }),
  ];
  return show(model, el, { drawing: [pointed(element), sentence.element], controls }, traits, draw);
};

export default { render };
