/* Figure: a matrix state. The reader writes values into it under keys, and sees what each key reads. */
import { read, stateAfter } from "./matrix.js";
import {
  BLUE,
  GREEN,
  ORANGE,
  arrow,
  change,
  drawing,
  fill,
  fixed,
  html,
  label,
  setContent,
  square,
  squares,
  svg,
  symbol,
} from "./elements.js";
import { button, setterOf, slider, toggle, strip } from "./controls.js";
import { pointed } from "./pointer.js";
import { report, show } from "./show.js";

const [N, MOST, NAMES] = [4, 10, ["A", "B", "C", "D", "E", "F", "G"]];
const [LEFT, TOP, WIDTH, HIGH] = [94, 60, 34, 22]; // of S and its squares
const [ROWS, PITCH] = [190, 17]; // the list of keys
const [SMALL, START] = [{ "font-size": 11 }, { "font-size": 11, "text-anchor": "start" }];
const EXACT = 0.05; // an error below this is drawn as none

const render = ({ model, el }) => {
  const words = model.get("words");
  const [keys, values] = model.get("supply");
  const set = setterOf(model);
  const lastOf = (k) => model.get("writes").findLast(([written]) => written === k)?.[1];
  const choose = (k) => set({ asked: k, value: lastOf(k) ?? values[k] });
  const writeValue = () => {
    const [writes, asked, value] = ["writes", "asked", "value"].map((name) => model.get(name));
    adding = false;
    if (writes.length < MOST) set({ writes: [...writes, [asked, [...value]]] });
  };
  const writeFive = () => set({ writes: values.slice(0, 5).map((v, k) => [k, [...v]]), asked: 4, value: values[4] });
  let adding = false; // whether S shows what the next write adds

  const look = { limit: 2, digits: 1, size: 11 };
  const column = (x, name) => squares(x, TOP, N, 1, WIDTH, HIGH, { ...look, name: (i) => name(i + 1) });
  const S = squares(LEFT, TOP, N, N, WIDTH, HIGH, { ...look, name: (i, j) => `S_{${i + 1}${j + 1}}` });
  const key = squares(LEFT, 22, 1, N, WIDTH, 20, { ...look, limit: 1, name: (_, j) => `k_${j + 1}` });
  const value = column(4, (i) => `v_${i}`);
  const answer = column(268, (i) => `(S k)_${i}`);
  const last = column(310, (i) => `v_${i}`);
  const [history, picks, letter] = [svg("g"), svg("g"), label(LEFT + N * WIDTH + 12, 32, " ", { "font-weight": 700 })];
  const [stateTitle, valueTitle] = [
    label(LEFT + 2 * WIDTH, TOP + N * HIGH + 11, " ", SMALL),
    label(4, TOP - 10, " ", START),
  ];
  const overlapTitle = label(191, ROWS - 10, " ", SMALL);
  const rows = keys.map((numbers, k) => {
    const y = ROWS + k * PITCH;
    const own = squares(28, y + 1, 1, N, 31, PITCH - 2, { ...look, limit: 1, size: 10, name: (_, j) => `k_${j + 1}` });
    own.set([numbers]);
    const overlap = square(166, y + 1, 50, PITCH - 2, { ...look, limit: 1, digits: 2, size: 10 });
    const frame = svg("rect", { x: 2, y, width: 356, height: PITCH, rx: 3, fill: "none", "pointer-events": "all" });
    const off = svg("g");
    const choosing = { cursor: "pointer", onclick: () => choose(k) };
    const parts = [frame, label(14, y + PITCH / 2, NAMES[k], { "font-size": 12 }), own.element, overlap.element, off];
    return { element: svg("g", choosing, parts), frame, overlap, off, y };
  });
  const middle = TOP + 2 * HIGH;
  const element = drawing(
    words,
    360,
    ROWS + keys.length * PITCH + 2,
    history,
    label(LEFT - 6, 32, `${words.key} k`, { ...SMALL, "text-anchor": "end" }),
    [key.element, letter, picks, S.element, answer.element, last.element],
    [stateTitle, valueTitle],
    label(285, TOP - 22, words.answer, SMALL),
    label(285, TOP - 9, "S k", SMALL),
    label(327, TOP - 9, words.written, SMALL),
    svg(
      "g",
      { cursor: "pointer", onclick: writeValue },
      value.element,
      svg("rect", { x: 40, y: TOP, width: 52, height: N * HIGH, fill: "none", "pointer-events": "all" }),
      label(65, middle - 10, words.write, SMALL),
      arrow(`41,${middle} ${LEFT - 3},${middle}`),
    ),
    label(248, middle - 10, words.read, SMALL),
    arrow(`${LEFT + N * WIDTH + 3},${middle} 265,${middle}`),
    label(80, ROWS - 10, words.keys, SMALL),
    overlapTitle,
    label(250, ROWS - 10, words.off, START),
    rows.map((row) => row.element),
  );
  const sentence = report();

  const choosers = NAMES.map((name, k) =>
    button(name, () => choose(k), { "aria-label": fill(words.choose_one, { key: name }) }),
  );
  const writer = button(" ", writeValue);
  const showAdded = () => {
    adding = !adding;
    draw();
  };
  const preview = button(words.preview, showAdded);
  const five = button(words.write_five, writeFive);
  const undo = button(words.undo, () => set({ writes: model.get("writes").slice(0, -1) }));
  const clear = button(words.clear, () => set({ writes: [] }));

  const draw = () => {
    const [writes, asked, delta, alpha, beta] = ["writes", "asked", "delta", "alpha", "beta"].map((name) =>
      model.get(name),
    );
    const state = stateAfter(writes, keys, alpha, beta, delta);
    const k = keys[asked];
    const result = read(state, k);
    const errorOf = (n) => Math.max(...read(state, keys[n]).map((v, i) => Math.abs(v - lastOf(n)[i])));
    const overlapOf = (n) => keys[n].reduce((sum, k_i, i) => sum + k_i * k[i], 0);
    const upright = (vector) => vector.map((number) => [number]);
    const next = stateAfter([...writes, [asked, model.get("value")]], keys, alpha, beta, delta);
    const added = next.map((row, i) => row.map((s, j) => s - alpha * state[i][j]));
    const named = (i, j) => (adding ? `${words.added} (${i + 1}, ${j + 1})` : `S_{${i + 1}${j + 1}}`);
    S.set(adding ? added : state, (i, j) => ({ faded: k[j] === 0, name: named(i, j) }));
    const times = (factor, name) => (factor === 1 ? "" : `${name} `);
    const v = times(beta, "β") + (delta ? `(v − ${times(alpha, "α")}S k)` : "v");
    setContent(stateTitle, ...label(0, 0, adding ? `${words.added}: ${v} kᵀ` : `${words.state} S`).childNodes);
    setContent(valueTitle, ...label(0, 0, fill(words.value, { key: NAMES[asked] })).childNodes);
    change(preview, { "aria-pressed": `${adding}` });
    key.set([k]);
    value.set(upright(model.get("value")));
    answer.set(upright(result));
    last.set(upright(lastOf(asked) ?? [0, 0, 0, 0]), () => ({ shown: !!lastOf(asked) }));
    setContent(letter, NAMES[asked]);
    setContent(overlapTitle, fill(words.overlap, { key: NAMES[asked] }));
    const names = writes.map(([n]) => NAMES[n]).join(" ");
    setContent(history, names && label(4, 9, `${words.written_first} ${names}`, START));
    const pick = (k_j, j) => {
      const [x, colour] = [LEFT + (j + 0.5) * WIDTH, k_j < 0 ? BLUE : ORANGE];
      return k_j ? [arrow(`${x},43 ${x},${TOP - 1}`, { color: colour, "stroke-width": 4 * Math.abs(k_j) })] : [];
    };
    setContent(picks, ...k.flatMap(pick));
    rows.forEach(({ frame, overlap, off, y }, n) => {
      change(frame, { stroke: n === asked ? "currentColor" : null });
      overlap.set(overlapOf(n));
      change(overlap.element, { "data-said": `${NAMES[n]} · ${NAMES[asked]} = ${fixed(overlapOf(n), 2)}` });
      if (!lastOf(n)) return setContent(off);
      const [error, width] = [errorOf(n), Math.max(2, Math.min(errorOf(n), 4) * 20)];
      const bar = { x: 250, y: y + 4, width, height: PITCH - 8, fill: error < EXACT ? GREEN : ORANGE };
      setContent(
        off,
        svg("rect", { ...bar, "data-said": `${words.off} ${fixed(error, 4)}` }),
        label(255 + width, y + PITCH / 2, fixed(error, 1), { ...START, "font-size": 10 }),
      );
    });
    choosers.forEach((chooser, n) => change(chooser, { "aria-pressed": `${n === asked}` }));
    setContent(writer, fill(words.write_one, { key: NAMES[asked] }));
    change(writer, { disabled: writes.length >= MOST });
    for (const control of [undo, clear]) change(control, { disabled: writes.length === 0 });
    const said = { key: NAMES[asked], read: result.map((number) => fixed(number, 1)).join(", ") };
    if (!lastOf(asked)) return sentence.set(fill(words.said_nothing, said));
    const error = errorOf(asked);
    const others = NAMES.filter((_, n) => n !== asked && lastOf(n) && overlapOf(n) !== 0).join(words.comma);
    const newest = writes.at(-1)[0];
    const changed = NAMES.filter((_, n) => lastOf(n) && errorOf(n) >= EXACT).join(words.comma);
    const corrected = delta && changed && errorOf(newest) < EXACT;
    const why = corrected
      ? fill(words.corrected, { key: NAMES[newest], others: changed })
      : error >= EXACT && others && fill(words.spoiled, { others });
    const written = lastOf(asked)
      .map((number) => fixed(number, 0))
      .join(", ");
    const now = fill(words.said, { ...said, value: written, error: fixed(error, 1) });
    sentence.set(why ? now + words.between + why : now);
  };

  const control = (name, label, min, max, step, key) => slider(model, name, { key, label, min, max, step });
  const controls = [
    strip(words.choose, words.choose, choosers),
    html("div", { class: "strip" }, writer, preview, five, undo, clear),
    html(
      "div",
      { class: "controls" },
      [0, 1, 2, 3].map((i) => control("value", symbol(`v_${i + 1}`), -2, 2, 1, i)),
    ),
    html("div", { class: "controls" }, toggle(model, "delta", { label: words.delta })),
    html(
      "details",
      {},
      html("summary", {}, [words.beta, words.alpha].join(words.comma)),
      control("beta", [`${words.beta} `, symbol("β")], 0, 2, 0.1),
      control("alpha", [`${words.alpha} `, symbol("α")], 0.5, 1, 0.05),
    ),
  ];
  const parts = { drawing: [pointed(element), sentence.element], controls };
  return show(model, el, parts, ["writes", "asked", "value", "delta", "alpha", "beta"], draw);
};

export default { render };
