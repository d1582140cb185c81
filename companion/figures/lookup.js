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
  pointIn,
  upright,
} from "./elements.js";
import { button, setterOf, slider, textbox, toggle } from "./controls.js";
import { pointed } from "./pointer.js";
import { report, show } from "./show.js";

const PADDING = "·"; // the character of index 0
const PLACES = 8; // length to which a text is padded
const DIM = 3; // embedding_dim
const LR = 0.7; // no number of steps turns one row into another
const IN_GREEN = { stroke: GREEN, color: GREEN }; // an arrow's line and its head
const CODE = { "font-family": "monospace" };
const MAX_WEIGHT = 99.9; // as in lookup.py

/* The indices of the text, its unknown characters, and the gradients of a step. */
const compute = (model) => {
  const vocabulary = [PADDING, ...model.get("words").letters];
  const typed = [...model.get("text")];
  const known = typed.filter((character) => vocabulary.includes(character)).slice(0, PLACES);
  const indices = Array.from({ length: PLACES }, (_, k) => (k < known.length ? vocabulary.indexOf(known[k]) : 0));
  const [W, padding_idx] = [model.get("weight"), model.get("padding_idx")];
  const { gradients } = sumLoss(indices.map((i) => rowTimes(oneHot(i, W.length), W)));
  return {
    vocabulary,
    indices,
    W,
    padding_idx,
    gradients,
    unknown: [...new Set(typed.filter((character) => !vocabulary.includes(character)))],
    gradient: embeddingGradient(indices, gradients, W.length, padding_idx),
    counts: vocabulary.map((_, i) => indices.filter((index) => index === i).length),
  };
};

/* The initial table: row i is i.1, i.2, i.3; the row of padding_idx is zero. */
const initialTable = (rows, padding_idx) =>
  Array.from({ length: rows }, (_, i) => [1, 2, 3].map((n) => (i === padding_idx ? 0 : (10 * i + n) / 10)));

/* The table after a step, and the change of each row, which is equal for all its numbers. */
const nextTable = ({ W, gradient }) => gradientStep(W, gradient, LR);
const rowChanges = ({ gradient }) => gradient.map(([value]) => 0 - LR * value);
const exceedsRange = (values) => nextTable(values).some((row) => row.some((value) => Math.abs(value) > MAX_WEIGHT));

const [TABLE, HIGH] = [98, 24]; // top of the table, and height of a row
const SMALL = { "font-size": 10 };
const START = { ...SMALL, "text-anchor": "start" };
const frame = (width, height, at) =>
  svg("rect", { width, height, rx: 2, fill: "none", stroke: GREEN, "stroke-width": 2.5, ...at });
const named = (name) => (r, c) => `${name}_{${r},${c}}`;
const limits = (rows) => ({ limit: rows - 1 + DIM / 10, digits: 1 });

/* The text and its indices above; below, o beside the rows of W, and e beside the row that comes out, or the training step.
 * A press on a place chooses it, a press on a row writes its character there. */
const lookUp = (words, vocabulary, set, index) => {
  const rows = vocabulary.length;
  const [cell, start, x_o, x_W, x_e, width] = [38, 52, 50, 104, 250, 36];
  const x = (k) => start + (k + 0.5) * cell;
  const places = Array.from({ length: PLACES }, (_, k) => {
    const sign = upright(x(k), 31, " ", { "font-size": 16, ...CODE });
    const number = upright(x(k), 51, " ", { "font-size": 13 });
    const line = { stroke: "currentColor", "stroke-opacity": 0.3 };
    const ground = svg("rect", { x: x(k) - cell / 2, y: 19, width: cell, height: 43, ...line });
    const pressed = { cursor: "pointer", onclick: () => set({ place: k }) };
    return { sign, number, ground, element: svg("g", pressed, upright(x(k), 10, `${k}`, SMALL), ground, sign, number) };
  });
  const chosen = frame(cell, 43, { y: 19 });
  const way = svg("polyline", { fill: "none", stroke: GREEN, "stroke-width": 1.5 });
  const o = squares(x_o, TABLE, rows, 1, 30, HIGH, { digits: 0, name: (r) => `o_${r}` });
  const W = squares(x_W, TABLE, rows, DIM, width, HIGH, { ...limits(rows), name: named("W") });
  const e = squares(x_e, 0, 1, DIM, width, HIGH, { ...limits(rows), name: (_, n) => `e_${n}` });
  const middle = HIGH / 2;
  const moving = svg(
    "g",
    {},
    arrow(`${x_o + 30},${middle} ${x_W - 1},${middle}`, IN_GREEN),
    frame(DIM * width, HIGH, { x: x_W }),
  );
  const across = arrow(`${x_W + DIM * width},${middle} ${x_e - 1},${middle}`, IN_GREEN);
  const out = svg("g", {}, across, e.element);
  const result = svg("g", {}, label(x_e + (DIM * width) / 2, TABLE - 9, `${words.row} e = o W`, SMALL), out);
  const training = trainingStep(words, rows, x_W + DIM * width, 262);
  const names = vocabulary.map((sign, i) => [
    upright(13, TABLE + (i + 0.5) * HIGH, sign, { "font-size": 14, ...CODE }),
    upright(33, TABLE + (i + 0.5) * HIGH, `${i}`, { "font-size": 12 }),
  ]);
  const press = (event) => {
    const [, y] = pointIn(element, event);
    index.set("index", Math.min(rows - 1, Math.floor((y - TABLE) / HIGH)));
  };
  const area = svg("rect", { y: TABLE, width: 360, height: rows * HIGH, opacity: 0 });
  const element = drawing(
    words,
    360,
    TABLE + rows * HIGH + 3,
    label(2, 10, `${words.place} k`, START),
    label(2, 51, `${words.index} i_k`, START),
    label(356, 76, `${PADDING} ${words.pad}`, { ...SMALL, "text-anchor": "end" }),
    places.map((place) => place.element),
    way,
    chosen,
    label(x_o + 15, TABLE - 9, `${words.one_hot} o`, SMALL),
    label(x_W + (DIM * width) / 2, TABLE - 9, `${words.table} W`, SMALL),
    svg(
      "g",
      { cursor: "pointer", onclick: press },
      area,
      names,
      o.element,
      W.element,
      moving,
      result,
      training.element,
    ),
  );
  return {
    element,
    set({ indices, W: weight, gradient }, place, moved, trained) {
      const i = indices[place];
      const o_k = oneHot(i, rows);
      places.forEach(({ sign, number, ground, element }, k) => {
        setContent(sign, vocabulary[indices[k]]);
        setContent(number, `${indices[k]}`);
        change(element, { "data-said": `i_${k} = ${indices[k]}` });
        // places that read the same row
        change(ground, { fill: GREEN, "fill-opacity": indices[k] === i ? 0.2 : 0 });
      });
      change(chosen, { x: start + place * cell });
      change(way, { points: `${x(place)},63 ${x(place)},67 ${x_o + 15},67 ${x_o + 15},82` });
      o.set(o_k.map((value) => [value]));
      W.set(weight);
      e.set([rowTimes(o_k, weight)]);
      for (const part of [moving, out]) change(part, { transform: `translate(0 ${TABLE + i * HIGH})` });
      change(result, { display: trained ? "none" : null });
      change(training.element, { display: trained ? null : "none" });
      training.set(gradient, moved);
    },
  };
};

/* At the right of W, the training step: the gradient, and the change of the rows in the last step. */
const trainingStep = (words, rows, x_W, x_G) => {
  const y = (i) => TABLE + (i + 0.5) * HIGH;
  const G = squares(x_G, TABLE, rows, DIM, 32, HIGH, { limit: 4, digits: 0, name: named("∂L/∂W") });
  const amounts = Array.from({ length: rows }, (_, i) => upright((x_W + x_G) / 2, y(i) - 4, " ", { "font-size": 11 }));
  const path = (i) => `${x_G - 3},${y(i) + 6} ${x_W + 3},${y(i) + 6}`;
  const moves = amounts.map((amount, i) => svg("g", {}, arrow(path(i)), amount));
  const titles = [
    label((x_W + x_G) / 2, TABLE - 9, words.moved, SMALL),
    label(x_G + 48, TABLE - 9, `${words.gradient} ∂L/∂W`, SMALL),
  ];
  return {
    element: svg("g", {}, titles, G.element, moves),
    set(gradient, moved) {
      G.set(gradient, (v) => ({ faded: gradient[v].every((value) => value === 0) }));
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
  const set = setterOf(model);
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

  const table = lookUp(words, vocabulary, set, index);
  const [skipped, said, kept, stepped] = [report(), report(), report(), report()];
  const train = button(words.step, step);
  const box = textbox(model, "text", { label: words.label, maxlength: PLACES });
  change(box.querySelector("input"), { autocapitalize: "none", spellcheck: "false" });

  const training = html(
    "details",
    { ontoggle: () => draw() },
    html("summary", {}, words.training),
    html("div", { class: "strip" }, train, button(words.anew, restart)),
    html("p", { class: "note" }, symbol(`W ← W − ${LR} ∂L/∂W`)),
    stepped.element,
    toggle(padding, "padding", { label: words.padding }),
    kept.element,
  );

  const draw = () => {
    const values = compute(model);
    const place = model.get("place");
    // show the last step only while the gradient beside it is the one that it used
    const last_step = model.get("last_step");
    const moved = rowChanges(values).every((amount, v) => amount === last_step[v])
      ? last_step
      : vocabulary.map(() => 0);
    table.set(values, place, moved, training.open);
    const i = values.indices[place];
    const list = (format) => vocabulary.map(format).filter(Boolean).join(words.comma);
    const zero = values.W[0].every((value) => value === 0);
    skipped.set(values.unknown.length ? fill(words.skipped, { characters: values.unknown.join(" ") }) : "");
    const row = values.W[i].map((value) => fixed(value, 1)).join(words.comma);
    if (values.padding_idx === null) kept.set("");
    else if (!zero) kept.set(words.spoilt);
    else kept.set(values.counts[0] ? fill(words.kept, { n: values.counts[0] }) : "");
    const counts = list((sign, v) => values.gradient[v][0] && `${sign}\u00a0${values.gradient[v][0]}`);
    said.set(
      training.open
        ? fill(words.learned, { rows: counts || "0" })
        : fill(words.looked_up, { k: place, character: vocabulary[i], i, row }),
    );
    if (exceedsRange(values)) stepped.set(words.away);
    else if (!moved.some(Boolean)) stepped.set("");
    else
      stepped.set(fill(words.stepped, { rows: list((sign, v) => moved[v] && `${sign}\u00a0${fixed(moved[v], 1)}`) }));
    change(train, { disabled: exceedsRange(values) });
  };
  const upTo = (max, show) => ({ min: 0, max, step: 1, show });
  const controls = [
    box,
    skipped.element,
    slider(model, "place", { label: [`${words.place} `, symbol("k")], ...upTo(PLACES - 1) }),
    slider(index, "index", {
      label: [`${words.index} `, symbol("i_k")],
      ...upTo(rows - 1, (i) => `${i} ${vocabulary[i]}`),
    }),
    training,
  ];
  const parts = { drawing: [pointed(table.element), said.element], controls };
  return show(model, el, parts, ["text", "place", "padding_idx", "weight", "last_step"], draw);
};

export default { render };
