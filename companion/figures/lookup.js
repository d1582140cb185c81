/* A table W that is read by index: the row that comes out, and the rows that a step of training moves. */
import { descend, embeddingGradient, oneHot, rowTimes, sumLoss } from "./steps.js";
import { GREEN, arrow, change, drawing, fill, fixed, html, label, say, squares, svg, symbol } from "./kit.js";
import { button, slider, textbox, toggle } from "./controls.js";
import { report, show } from "./show.js";

const PADDING = "·"; // the character of index 0
const PLACES = 8; // a text is filled up to so many
const DIM = 3; // embedding_dim
const LR = 0.5;
const IN_GREEN = { stroke: GREEN, color: GREEN }; // an arrow's line and its head
const CODE = { "font-family": "monospace" };
const FURTHEST = 99.9; // the largest number that the table takes, as in lookup.py

/* What a text is as indices, what of it is in no row, and what a step would do. */
const reading = (model) => {
  const vocabulary = [PADDING, ...model.get("words").letters];
  const typed = [...model.get("text")];
  const known = typed.filter((one) => vocabulary.includes(one)).slice(0, PLACES);
  const indices = Array.from({ length: PLACES }, (_, k) => (k < known.length ? vocabulary.indexOf(known[k]) : 0));
  const [W, padding_idx] = [model.get("weight"), model.get("padding_idx")];
  const { L, gradients } = sumLoss(indices.map((i) => rowTimes(oneHot(i, W.length), W)));
  return {
    vocabulary,
    indices,
    W,
    padding_idx,
    L,
    gradients,
    unknown: [...new Set(typed.filter((one) => !vocabulary.includes(one)))],
    gradient: embeddingGradient(indices, gradients, W.length, padding_idx),
    counts: vocabulary.map((_, i) => indices.filter((one) => one === i).length),
  };
};

/* The table as it is when the layer is made: row i holds i.1, i.2, i.3, that of padding_idx zeros. */
const written = (rows, padding_idx) =>
  Array.from({ length: rows }, (_, i) => [1, 2, 3].map((n) => (i === padding_idx ? 0 : (10 * i + n) / 10)));

/* A character, which stands upright: it is no symbol of a formula. */
const letter = (x, y, sign, attributes) => {
  const text = label(x, y, " ", attributes);
  say(text, sign);
  return text;
};

/* The table after a step, and by how much the step moves each row: all numbers of a row by the same. */
const next = ({ W, gradient }) => descend(W, gradient, LR);
const shift = ({ gradient }) =>
  descend(
    gradient.map(() => [0]),
    gradient,
    LR,
  ).map(([value]) => value);
const beyond = (now) =>
  next(now)
    .flat()
    .some((value) => Math.abs(value) > FURTHEST);

/* The diagram: above, the text and its indices; below, o beside W and the gradient, row by row; e at the foot. */
const diagram = (words, vocabulary, { choose, replace }) => {
  const rows = vocabulary.length;
  const [cell, start, top, high] = [38, 40, 122, 24]; // of the text, and of the table
  const [x_o, x_W, x_G, width] = [46, 94, 244, 34];
  const foot = top + rows * high;
  const x = (k) => start + (k + 0.5) * cell;
  const y = (i) => top + (i + 0.5) * high;
  const middle = (left) => left + (DIM * width) / 2;

  const places = Array.from({ length: PLACES }, (_, k) => {
    const [sign, index] = [
      letter(x(k), 38, " ", { "font-size": 16, ...CODE }),
      letter(x(k), 65, " ", { "font-size": 13 }),
    ];
    const line = { stroke: "currentColor", "stroke-opacity": 0.3 };
    const ground = svg("rect", { x: x(k) - cell / 2, y: 24, width: cell, height: 54, ...line });
    const number = letter(x(k), 14, `${k}`, { "font-size": 11, opacity: 0.7 });
    const pointer = { cursor: "pointer", onclick: () => choose(k) };
    return { sign, index, ground, element: svg("g", pointer, number, ground, sign, index) };
  });
  const frame = (width, height, at) =>
    svg("rect", { width, height, rx: 2, fill: "none", stroke: GREEN, "stroke-width": 2.5, ...at });
  const chosen = frame(cell, 54, { y: 24 });
  const way = svg("polyline", { fill: "none", stroke: GREEN, "stroke-width": 1.5 });

  const limits = { limit: rows - 1 + DIM / 10, digits: 1 };
  const o = squares(x_o, top, rows, 1, 26, high, { digits: 0 });
  const W = squares(x_W, top, rows, DIM, width, high, limits);
  const G = squares(x_G, top, rows, DIM, width, high, { limit: 4, digits: 0 });
  const e = squares(x_W, foot + 24, 1, DIM, width, high, limits);
  const sent = squares(x_G, foot + 24, 1, DIM, width, high, { limit: 4, digits: 0 });

  const names = vocabulary.map((sign, i) => [
    letter(13, y(i), sign, { "font-size": 14, ...CODE }),
    letter(33, y(i), `${i}`, { "font-size": 12 }),
  ]);
  const read = svg(
    "g",
    {},
    arrow(
      [
        [x_o + 26, 0],
        [x_W - 1, 0],
      ],
      IN_GREEN,
    ),
  );
  const [out, back] = [x_W, x_G].map((x) => frame(DIM * width, high, { x }));
  const up = arrow(
    [
      [middle(x_G), foot + 24],
      [middle(x_G), foot + 4],
    ],
    IN_GREEN,
  );
  const end = x_W + DIM * width;
  const amounts = vocabulary.map((_, i) => letter((end + x_G) / 2, y(i) - 4, " ", { "font-size": 11 }));
  const moves = vocabulary.map((_, i) =>
    svg(
      "g",
      {},
      arrow([
        [x_G - 3, y(i) + 6],
        [end + 3, y(i) + 6],
      ]),
      amounts[i],
    ),
  );
  const area = { x: 0, width: 360, height: high, fill: "none", "pointer-events": "all", cursor: "pointer" };
  const areas = vocabulary.map((_, i) => svg("rect", { ...area, y: top + i * high, onclick: () => replace(i) }));

  const element = drawing(
    words,
    360,
    foot + 72,
    label(20, 14, "k"),
    label(20, 65, "i_k"),
    places.map((one) => one.element),
    way,
    chosen,
    arrow(
      [
        [x_o + 13, 88],
        [x_o + 13, 99],
      ],
      IN_GREEN,
    ),
    label(x_o + 13, 109, "o"),
    label(middle(x_W), 109, "W"),
    label(middle(x_G), 109, "∂L/∂W"),
    names,
    o.element,
    W.element,
    G.element,
    e.element,
    sent.element,
    read,
    out,
    back,
    moves,
    areas,
    arrow(
      [
        [middle(x_W), foot + 3],
        [middle(x_W), foot + 23],
      ],
      IN_GREEN,
    ),
    up,
    label(middle(x_W), foot + 60, "e = o W"),
    label(middle(x_G), foot + 60, "∂L/∂e_k"),
  );
  return {
    element,
    set({ indices, W: weight, gradient, gradients, padding_idx }, place, moved) {
      const i = indices[place];
      const one = oneHot(i, rows);
      places.forEach(({ sign, index, ground }, k) => {
        say(sign, vocabulary[indices[k]]);
        say(index, `${indices[k]}`);
        // all places that read the same row: the terms of its gradient's sum
        change(ground, { fill: GREEN, "fill-opacity": indices[k] === i ? 0.2 : 0 });
      });
      change(chosen, { x: start + place * cell });
      change(way, { points: `${x(place)},79 ${x(place)},89 ${x_o + 13},89` });
      o.set(
        one.map((value) => [value]),
        (v) => ({ faded: v !== i }),
      );
      W.set(weight, (v) => ({ faded: v !== i }));
      e.set([rowTimes(one, weight)]);
      G.set(gradient, (v) => ({ faded: gradient[v].every((value) => value === 0) }));
      sent.set([gradients[place]]);
      change(read, { transform: `translate(0 ${y(i)})` });
      change(out, { y: top + i * high });
      // what is read of the padding row comes out like any other, but nothing goes back to it
      const lost = i === padding_idx;
      change(back, { y: top + i * high, display: lost ? "none" : null });
      change(up, { display: lost ? "none" : null });
      moves.forEach((move, v) => change(move, { display: moved[v] ? null : "none" }));
      amounts.forEach((amount, v) => say(amount, moved[v] ? fixed(moved[v], 1) : " "));
    },
  };
};

/* A value that follows from traits, as a control takes it: an object that answers as a model would. */
const following = (model, traits, get, put) => ({
  get,
  set: (_, value) => put(value),
  save_changes() {},
  on: (_, listener) => traits.forEach((name) => model.on(`change:${name}`, listener)),
});

const render = ({ model, el }) => {
  const words = model.get("words");
  const { vocabulary } = reading(model);
  const rows = vocabulary.length;
  const set = (values) => {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
  };
  // The index is what stands in the chosen place. Whoever chooses another one writes its character there.
  const index = following(
    model,
    ["text", "place"],
    () => reading(model).indices[model.get("place")],
    (i) => {
      const text = reading(model).indices.map((was, k) => vocabulary[k === model.get("place") ? i : was]);
      set({ text: text.join("").replace(new RegExp(`${PADDING}+$`), "") });
    },
  );
  const on = () => model.get("padding_idx") === 0;
  const padding = following(model, ["padding_idx"], on, (value) => set({ padding_idx: value ? 0 : null }));

  const step = () => {
    const now = reading(model);
    if (!beyond(now)) set({ weight: next(now), last_step: shift(now) });
  };
  const anew = () => set({ weight: written(rows, model.get("padding_idx")), last_step: vocabulary.map(() => 0) });

  const table = diagram(words, vocabulary, { choose: (k) => set({ place: k }), replace: (i) => index.set("index", i) });
  const [skipped, looked, kept, learned, stepped] = [report(), report(), report(), report(), report()];
  const train = button(words.step, step);
  const box = textbox(model, "text", { label: words.label, maxlength: PLACES });
  change(box.querySelector("input"), { autocapitalize: "none", spellcheck: "false" });

  const draw = () => {
    const now = reading(model);
    const place = model.get("place");
    // a step is shown until something else is read: then the gradient beside it is no longer the one that it took
    const last_step = model.get("last_step");
    const moved = shift(now).every((amount, v) => amount === last_step[v]) ? last_step : vocabulary.map(() => 0);
    table.set(now, place, moved);
    const i = now.indices[place];
    const list = (of) => vocabulary.map(of).filter(Boolean).join(words.comma);
    const zero = now.W[0].every((value) => value === 0);
    skipped.set(now.unknown.length ? fill(words.skipped, { characters: now.unknown.join(" ") }) : "");
    const row = now.W[i].map((value) => fixed(value, 1)).join(words.comma);
    looked.set(fill(words.looked_up, { k: place, character: vocabulary[i], i, row }));
    if (now.padding_idx === null) kept.set("");
    else if (!zero) kept.set(words.spoilt);
    else kept.set(now.counts[0] ? fill(words.kept, { n: now.counts[0] }) : "");
    learned.set(
      fill(words.learned, { L: fixed(now.L, 1), rows: list((sign, v) => `${sign}\u00a0${now.gradient[v][0]}`) }),
    );
    if (beyond(now)) stepped.set(words.away);
    else if (!moved.some(Boolean)) stepped.set("");
    else
      stepped.set(fill(words.stepped, { rows: list((sign, v) => moved[v] && `${sign}\u00a0${fixed(moved[v], 1)}`) }));
    change(train, { disabled: beyond(now) });
  };
  const upTo = (max, show) => ({ min: 0, max, step: 1, show });
  const parts = [
    box,
    skipped.element,
    table.element,
    html(
      "div",
      { class: "controls" },
      slider(model, "place", { label: [`${words.place} `, symbol("k")], ...upTo(PLACES - 1, (k) => `${k}`) }),
      slider(index, "index", {
        label: [`${words.index} `, symbol("i_k")],
        ...upTo(rows - 1, (i) => `${i} ${vocabulary[i]}`),
      }),
    ),
    looked.element,
    learned.element,
    toggle(padding, "padding", { label: words.padding }),
    kept.element,
    html("div", { class: "strip" }, train, symbol("W ← W − 0.5 ∂L/∂W"), button(words.anew, anew)),
    stepped.element,
  ];
  return show(model, el, parts, ["text", "place", "padding_idx", "weight", "last_step"], draw);
};

export default { render };
