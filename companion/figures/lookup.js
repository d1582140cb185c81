/* Figure: an embedding table W. It shows the row that an index reads, and the rows that a training step changes. */
import { gradientStep, embeddingGradient, oneHot, rowTimes, sumLoss } from "./arithmetic.js";
import {
  GREEN,
  arrow,
  change,
  drawing,
  fill,
  fixed,
  html,
  label,
  setContent,
  squares,
  svg,
  symbol,
} from "./elements.js";
import { button, slider, textbox, toggle } from "./controls.js";
import { report, show } from "./show.js";

const PADDING = "·"; // the character of index 0
const PLACES = 8; // length to which a text is padded
const DIM = 3; // embedding_dim
const LR = 0.5;
const IN_GREEN = { stroke: GREEN, color: GREEN }; // an arrow's line and its head
const CODE = { "font-family": "monospace" };
const MAX_WEIGHT = 99.9; // as in lookup.py

/* The indices of the text, its unknown characters, and the loss and gradients of a step. */
const compute = (model) => {
  const vocabulary = [PADDING, ...model.get("words").letters];
  const typed = [...model.get("text")];
  const known = typed.filter((character) => vocabulary.includes(character)).slice(0, PLACES);
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
    unknown: [...new Set(typed.filter((character) => !vocabulary.includes(character)))],
    gradient: embeddingGradient(indices, gradients, W.length, padding_idx),
    counts: vocabulary.map((_, i) => indices.filter((index) => index === i).length),
  };
};

/* The initial table: row i is i.1, i.2, i.3; the row of padding_idx is zero. */
const initialTable = (rows, padding_idx) =>
  Array.from({ length: rows }, (_, i) => [1, 2, 3].map((n) => (i === padding_idx ? 0 : (10 * i + n) / 10)));

/* A character, upright: it is not a symbol of a formula. */
const letter = (x, y, sign, attributes) => {
  const text = label(x, y, " ", attributes);
  setContent(text, sign);
  return text;
};

/* The table after a step, and the change of each row, which is equal for all its numbers. */
const nextTable = ({ W, gradient }) => gradientStep(W, gradient, LR);
const rowChanges = ({ gradient }) =>
  gradientStep(
    gradient.map(() => [0]),
    gradient,
    LR,
  ).map(([value]) => value);
const exceedsRange = (values) =>
  nextTable(values)
    .flat()
    .some((value) => Math.abs(value) > MAX_WEIGHT);

/* The diagram: the text and its indices above; o, W and the gradient row by row in the middle; e below. */
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
  const read = svg("g", {}, arrow(`${x_o + 26},0 ${x_W - 1},0`, IN_GREEN));
  const [out, back] = [x_W, x_G].map((x) => frame(DIM * width, high, { x }));
  const up = arrow(`${middle(x_G)},${foot + 24} ${middle(x_G)},${foot + 4}`, IN_GREEN);
  const end = x_W + DIM * width;
  const amounts = vocabulary.map((_, i) => letter((end + x_G) / 2, y(i) - 4, " ", { "font-size": 11 }));
  const moves = vocabulary.map((_, i) =>
    svg("g", {}, arrow(`${x_G - 3},${y(i) + 6} ${end + 3},${y(i) + 6}`), amounts[i]),
  );
  const area = { x: 0, width: 360, height: high, fill: "none", "pointer-events": "all", cursor: "pointer" };
  const areas = vocabulary.map((_, i) => svg("rect", { ...area, y: top + i * high, onclick: () => replace(i) }));

  const element = drawing(
    words,
    360,
    foot + 72,
    label(20, 14, "k"),
    label(20, 65, "i_k"),
    places.map((place) => place.element),
    way,
    chosen,
    arrow(`${x_o + 13},88 ${x_o + 13},99`, IN_GREEN),
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
    arrow(`${middle(x_W)},${foot + 3} ${middle(x_W)},${foot + 23}`, IN_GREEN),
    up,
    label(middle(x_W), foot + 60, "e = o W"),
    label(middle(x_G), foot + 60, "∂L/∂e_k"),
  );
  return {
    element,
    set({ indices, W: weight, gradient, gradients, padding_idx }, place, moved) {
      const i = indices[place];
      const o_k = oneHot(i, rows);
      places.forEach(({ sign, index, ground }, k) => {
        setContent(sign, vocabulary[indices[k]]);
        setContent(index, `${indices[k]}`);
        // places that read the same row: their gradients are added
        change(ground, { fill: GREEN, "fill-opacity": indices[k] === i ? 0.2 : 0 });
      });
      change(chosen, { x: start + place * cell });
      change(way, { points: `${x(place)},79 ${x(place)},89 ${x_o + 13},89` });
      o.set(
        o_k.map((value) => [value]),
        (v) => ({ faded: v !== i }),
      );
      W.set(weight, (v) => ({ faded: v !== i }));
      e.set([rowTimes(o_k, weight)]);
      G.set(gradient, (v) => ({ faded: gradient[v].every((value) => value === 0) }));
      sent.set([gradients[place]]);
      change(read, { transform: `translate(0 ${y(i)})` });
      change(out, { y: top + i * high });
      // the padding row is read like any other, but gets no gradient
      const lost = i === padding_idx;
      change(back, { y: top + i * high, display: lost ? "none" : null });
      change(up, { display: lost ? "none" : null });
      moves.forEach((move, v) => change(move, { display: moved[v] ? null : "none" }));
      amounts.forEach((amount, v) => setContent(amount, moved[v] ? fixed(moved[v], 1) : " "));
    },
  };
};

/* A value derived from traits, in the form of a model with one trait, so that a control can be bound to it. */
const derivedModel = (model, traits, get, put) => ({
  get,
  set: (_, value) => put(value),
  save_changes() {},
  on: (_, listener) => traits.forEach((name) => model.on(`change:${name}`, listener)),
});

const render = ({ model, el }) => {
  const words = model.get("words");
  const { vocabulary } = compute(model);
  const rows = vocabulary.length;
  const set = (values) => {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
  };
  // The index at the chosen place. A new index writes its character there.
  const index = derivedModel(
    model,
    ["text", "place"],
    () => compute(model).indices[model.get("place")],
    (i) => {
      const text = compute(model).indices.map((index, k) => vocabulary[k === model.get("place") ? i : index]);
      set({ text: text.join("").replace(new RegExp(`${PADDING}+$`), "") });
    },
  );
  const on = () => model.get("padding_idx") === 0;
  const padding = derivedModel(model, ["padding_idx"], on, (value) => set({ padding_idx: value ? 0 : null }));

  const step = () => {
    const values = compute(model);
    if (!exceedsRange(values)) set({ weight: nextTable(values), last_step: rowChanges(values) });
  };
  const restart = () =>
    set({ weight: initialTable(rows, model.get("padding_idx")), last_step: vocabulary.map(() => 0) });

  const table = diagram(words, vocabulary, { choose: (k) => set({ place: k }), replace: (i) => index.set("index", i) });
  const [skipped, looked, kept, learned, stepped] = [report(), report(), report(), report(), report()];
  const train = button(words.step, step);
  const box = textbox(model, "text", { label: words.label, maxlength: PLACES });
  change(box.querySelector("input"), { autocapitalize: "none", spellcheck: "false" });

  const draw = () => {
    const values = compute(model);
    const place = model.get("place");
    // show the last step only while the gradient beside it is the one that it used
    const last_step = model.get("last_step");
    const moved = rowChanges(values).every((amount, v) => amount === last_step[v])
      ? last_step
      : vocabulary.map(() => 0);
    table.set(values, place, moved);
    const i = values.indices[place];
    const list = (format) => vocabulary.map(format).filter(Boolean).join(words.comma);
    const zero = values.W[0].every((value) => value === 0);
    skipped.set(values.unknown.length ? fill(words.skipped, { characters: values.unknown.join(" ") }) : "");
    const row = values.W[i].map((value) => fixed(value, 1)).join(words.comma);
    looked.set(fill(words.looked_up, { k: place, character: vocabulary[i], i, row }));
    if (values.padding_idx === null) kept.set("");
    else if (!zero) kept.set(words.spoilt);
    else kept.set(values.counts[0] ? fill(words.kept, { n: values.counts[0] }) : "");
    learned.set(
      fill(words.learned, { L: fixed(values.L, 1), rows: list((sign, v) => `${sign}\u00a0${values.gradient[v][0]}`) }),
    );
    if (exceedsRange(values)) stepped.set(words.away);
    else if (!moved.some(Boolean)) stepped.set("");
    else
      stepped.set(fill(words.stepped, { rows: list((sign, v) => moved[v] && `${sign}\u00a0${fixed(moved[v], 1)}`) }));
    change(train, { disabled: exceedsRange(values) });
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
    html("div", { class: "strip" }, train, symbol("W ← W − 0.5 ∂L/∂W"), button(words.anew, restart)),
    stepped.element,
  ];
  return show(model, el, parts, ["text", "place", "padding_idx", "weight", "last_step"], draw);
};

export default { render };
