/* Figure: one LSTM cell of single numbers, and a sequence that runs through it. */
import { lstm, lstmCell } from "./arithmetic.js";
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
  svg,
  symbol,
  pointIn,
} from "./elements.js";
import { button, group, player, setterOf, slider, strip } from "./controls.js";
import { sigmoid } from "./numbers.js";
import { pointed } from "./pointer.js";
import { report, show } from "./show.js";

const GATES = ["i", "f", "g", "o"]; // torch's order
const LINES = ["c", "h", ...GATES]; // values that the sequence can draw as a line
const PRESETS = { new: [0, 0, 0, 0], remember: [-3, 6, 0, 0], forget: [0, -6, 0, 0], ignore: [-10, 2, 0, 0] };
const TRAITS = ["x", "h", "c", "bias", "weight_ih", "weight_hh", "inputs", "t", "closed", "shown", "line", "own"];
const SHUT = -100; // bias of a forget gate that is held shut
const SMALL = { "font-size": 10 };
const START = { ...SMALL, "text-anchor": "start" };
const END = { ...SMALL, "text-anchor": "end" };

/* The weights of step t, as lstmCell takes them; t is 0 if the values are set by hand. In the reader's own layer, inputs and
 * other units add a known number to each gate at each step: the weight of an input of 1. */
const weightsAt = ({ own, bias, weight_ih, weight_hh, closed }, t) => {
  const column = (values) => values.map((value) => [value]);
  return {
    weight_ih: column(own.drive ? own.drive[t - 1] : weight_ih),
    weight_hh: column(weight_hh),
    bias_ih: bias.map((b, k) => (t && k === 1 && t === closed ? SHUT : b)),
    bias_hh: [0, 0, 0, 0],
  };
};

/* All steps of the sequence from a state of zeros. */
const run = (state) => {
  const inputs = state.inputs.map((x) => [state.own.drive ? 1 : x]);
  return lstm(inputs, (k) => weightsAt(state, k + 1), [[0], [0]]);
};

/* The two parts of the goal, each with a tick or a cross. `without`: the steps without the first input. */
const verdict = (words, steps, without) => {
  const [c, other] = [steps.map((step) => step.c[0]), without.map((step) => step.c[0])];
  const left = (c.at(-1) - other.at(-1)) * Math.sign(c[0] - other[0]);
  const entered = Math.max(...other.map(Math.abs));
  const part = (met, sentence, value) => `${met ? "✓" : "✗"} ${fill(sentence, { value: fixed(value) })}`;
  return [part(left >= 0.5, words.kept, left), part(entered <= 0.25, words.kept_out, entered)].join("\n");
};

const COLUMNS = { f: 80, i: 160, g: 212, o: 292 }; // x of the gates
// the middle of each box, the value that gets the full colour, and the symbol
const BOXES = {
  c_before: [27, 30, 2, "c_{t-1}"],
  h_before: [27, 146, 1, "h_{t-1}"],
  x: [27, 194, 2, "x_t"],
  kept: [120, 30, 2, "f_t ⊙ c_{t-1}"],
  added: [160, 62, 2, "i_t ⊙ g_t"],
  c: [332, 30, 2, "c_t"],
  squashed: [292, 62, 1, "tanh(c_t)"],
  h: [332, 94, 1, "h_t"],
  ...Object.fromEntries(GATES.map((gate) => [gate, [COLUMNS[gate], 134, 1, `${gate}_t`]])),
};
const ARROWS = `50,30 72,30|88,30 97,30|143,30 152,30|168,30 309,30|80,121 80,38|160,121 160,102|212,121 212,94 168,94
|160,86 160,75|160,49 160,38|292,30 292,49|292,75 292,86|292,121 292,102|300,94 309,94|80,167 80,147|160,167 160,147
|212,167 212,147|292,167 292,147`;
const LINE = "M50 194H292M50 154H55V194M80 194V183M160 194V183M212 194V183M292 194V183"; // what the gates read
const NODES = { "80,30": "⊙", "160,30": "+", "160,94": "⊙", "292,94": "⊙" };
// the stages of the computation, and where their numbers are: a box is empty until its stage
const STAGES = [["x", "h_before", "c_before"], [], GATES, ["kept", "added"], ["c"], ["squashed", "h"]];
const NUMBERS = ["60,205", "332,174", "332,134", "126,62", "312,8", "327,71"];

/* The cell: the cell state runs along the top, the gates read x_t and h_{t-1} from below. choose(name) is called when the
 * reader presses a box whose line the sequence can draw. */
const diagram = (words, choose) => {
  const chosen = svg("rect", { width: 50, height: 30, rx: 4, fill: "none", stroke: GREEN, "stroke-width": 2.5 });
  const box = ([name, [x, y, limit, sign]]) => {
    const cell = square(x - 23, y - 13, 46, 26, { limit, name: sign });
    if (LINES.includes(name)) change(cell.element, { cursor: "pointer", onclick: () => choose(name) });
    return [name, cell];
  };
  const boxes = Object.fromEntries(Object.entries(BOXES).map(box));
  const sum = (gate) => [gate, label(COLUMNS[gate], 175, " ", { "font-size": 12 })];
  const sums = Object.fromEntries(GATES.map(sum));
  const circle = (place, text, attributes, size) => {
    const [cx, cy] = place.split(",");
    return [svg("circle", { cx, cy, ...attributes }), label(cx, cy, text, size)];
  };
  const element = svg(
    "g",
    {},
    ARROWS.split(/\s*\|/).map((path) => arrow(path)),
    svg("path", { d: LINE, stroke: "currentColor", fill: "none", "stroke-width": 1.2 }),
    Object.entries(NODES).map(([place, sign]) => circle(place, sign, { r: 8, fill: "none", stroke: "currentColor" })),
    NUMBERS.map((place, k) => circle(place, `${k + 1}`, { r: 7, fill: BLUE, "fill-opacity": 0.3 }, SMALL)),
    Object.values(boxes).map((square) => square.element),
    Object.values(sums),
    chosen,
    label(4, 8, `${words.cell_state} c_{t-1}`, START),
    label(2, 111, words.hidden_state, START),
    label(27, 124, "h_{t-1}", SMALL),
    label(4, 172, `${words.input} x_t`, START),
    label(334, 8, "c_t", SMALL),
    label(346, 71, "h_t", SMALL),
    label(120, 8, "f_t ⊙ c_{t-1}", SMALL),
    label(187, 62, "i_t ⊙ g_t", START),
    label(265, 62, "tanh", END),
    GATES.map((gate) => [
      label(COLUMNS[gate] + 6, 113, `${gate} ${words[`gate_${gate}`]}`, START),
      label(COLUMNS[gate] + 6, 156, gate === "g" ? "tanh" : "σ", START),
    ]),
  );
  const setSum = (gate, a, shown) => {
    setContent(sums[gate], shown > 1 ? fixed(a) : " ");
    change(sums[gate], { "data-said": shown > 1 ? `a_${gate} = ${fixed(a, 4)}` : null });
    const value = (gate === "g" ? Math.tanh : sigmoid)(a);
    const said = `${gate}_t = ${gate === "g" ? "tanh" : "σ"}(${fixed(a)}) = ${fixed(value, 4)}`;
    change(boxes[gate].element, { "data-said": shown > 2 ? said : null });
  };
  return {
    element,
    set(values, shown, line) {
      STAGES.forEach((names, stage) => {
        for (const name of names) boxes[name].set(values[name] ?? 0, { shown: stage < shown && values[name] !== null });
      });
      GATES.forEach((gate, k) => setSum(gate, values.a[k], shown));
      change(chosen, { x: BOXES[line][0] - 25, y: BOXES[line][1] - 15 });
    },
  };
};

/* The sequence: a column for each step, and the chosen value as a line. choose(t) is called when the reader presses step t. */
const history = (words, inputs, own, choose) => {
  const [left, top, high, length] = [36, 272, 50, inputs.length];
  const width = 320 / length;
  const x = (t) => left + (t - 0.5) * width;
  const limit = own.drive ? Math.max(...inputs.map(Math.abs)) || 1 : 1;
  const row = (name, r) =>
    inputs.map((_, k) => {
      const options = { limit: r ? 1 : limit, digits: null, name: `${name}_{${k + 1}}` };
      return square(left + k * width, 228 + r * 13, width, 12, options);
    });
  const [inputRow, ...gateRows] = ["x", "i", "f"].map(row);
  const sign = (text, k) => {
    const shown = label(x(k + 1), 234, " ", SMALL);
    setContent(shown, width < 7 ? " " : text);
    const ground = svg("rect", { x: left + k * width, y: 228, width, height: 12, opacity: 0 });
    return svg("g", { "data-said": `x_{${k + 1}} = ${text}` }, ground, shown);
  };
  const thin = { fill: "none", "stroke-width": 1.5 };
  const line = svg("polyline", { ...thin, stroke: BLUE, "stroke-width": 2.5 });
  const dashes = { ...thin, stroke: ORANGE, "stroke-dasharray": "3 3" };
  const other = svg("polyline", dashes);
  const marker = svg("rect", { ...thin, y: 226, width, height: 100, stroke: GREEN, "stroke-width": 2, rx: 3 });
  const axis = svg("g", { "pointer-events": "none" }); // redrawn: an element that is removed ends no hovering
  const dashed = own.drive ? words.trained : words.without;
  let [name, low, highest, lines] = ["c", 0, 1, []];
  const y = (value) => top + (high * (highest - value)) / (highest - low);
  const stepAt = (at) => (at < left || at > left + 320 ? 0 : Math.min(length, Math.floor((at - left) / width) + 1));
  const press = (event) => {
    const t = stepAt(pointIn(event.currentTarget.ownerSVGElement, event)[0]);
    if (t) choose(t);
  };
  const element = svg(
    "g",
    { cursor: "pointer", onclick: press },
    svg("rect", { x: left, y: 226, width: 320, height: 110, opacity: 0 }),
    label(2, 219, fill(words.sequence, { T: length }), START),
    svg("path", { d: "M200 219h18", ...dashes }),
    label(222, 219, dashed, START),
    own.labels ? own.labels.map(sign) : own.features > 1 ? null : inputRow.map((cell) => cell.element),
    gateRows.flat().map((cell) => cell.element),
    own.features > 1 && !own.labels ? null : label(14, 234, "x_t", SMALL),
    [label(14, 247, "i_t", SMALL), label(14, 260, "f_t", SMALL), label(14, 332, words.step, SMALL)],
    [0, 0.25, 0.5, 0.75, 1]
      .map((part) => Math.max(1, Math.round(part * length)))
      .map((t) => label(x(t), 332, `${t}`, SMALL)),
    axis,
    other,
    line,
    marker,
  );
  return {
    element,
    at(at_x, at_y) {
      const t = stepAt(at_x);
      if (!t || at_y < top - 3) return null;
      const [near, far] = lines.map((values) => Math.abs(y(values[t - 1]) - at_y));
      const k = far < near ? 1 : 0;
      return `${k ? `${dashed}: ` : ""}${name}_{${t}} = ${fixed(lines[k][t - 1], 4)}`;
    },
    set(inputs, steps, others, t, chosen) {
      inputs.forEach((value, k) => inputRow[k].set(value));
      gateRows.forEach((cells, r) => cells.forEach((cell, k) => cell.set(steps[k]["if"[r]][0])));
      name = chosen;
      lines = [steps, others].map((each) => each.map((step) => step[name][0]));
      const [least, most] = [Math.min(...lines.flat()), Math.max(...lines.flat())];
      const gap = Math.max(1, Math.ceil((most - least) / 5));
      low = gap * Math.min(-1, Math.floor(least / gap));
      highest = gap * Math.max(name === "c" && !own.drive ? 4 : 1, Math.ceil(most / gap));
      const ticks = Array.from({ length: (highest - low) / gap + 1 }, (_, k) => low + k * gap);
      const grid = ticks.map((value) => `M${left} ${y(value)}h320`).join("");
      const every = ticks.length > 4 ? 2 : 1; // so that the numbers have room
      const numbered = ticks.filter((value) => (value / gap) % every === 0);
      const numbers = numbered.map((value) => label(left - 5, y(value), fixed(value, 0), END));
      const lineAt = svg("path", { d: grid, stroke: "currentColor", "stroke-opacity": 0.25 });
      setContent(axis, label(10, top + high / 2, `${name}_t`), lineAt, ...numbers);
      const points = lines.map((values) => values.map((value, k) => `${x(k + 1)},${y(value)}`).join(" "));
      [line, other].forEach((shape, k) => change(shape, { points: points[k] }));
      change(marker, { x: left + (t - 1) * width, display: t ? null : "none" });
    },
  };
};

const render = ({ model, el }) => {
  const words = model.get("words");
  const set = setterOf(model);
  const own = model.get("own");
  const inputsNow = () => own.inputs ?? model.get("inputs");
  const { length } = inputsNow();
  const cell = diagram(words, (line) => set({ line }));
  const sequence = history(words, inputsNow(), own, (t) => set({ t }));
  const sentence = report();

  // While a step of the sequence is shown, x, h and c are those of that step. A change of them sets t to 0.
  let following = false;
  const follow = (values) => {
    if (Object.entries(values).every(([name, value]) => model.get(name) === value)) return;
    following = true;
    set(values);
    following = false;
  };
  const leave = () => following || !model.get("t") || set({ t: 0 });
  for (const name of ["x", "h", "c"]) model.on(`change:${name}`, leave);
  const within = (limit, value) => Math.max(-limit, Math.min(limit, value));

  const draw = () => {
    const state = { ...Object.fromEntries(TRAITS.map((name) => [name, model.get(name)])), inputs: inputsNow() };
    const { inputs, t, line, shown, bias } = state;
    const changes = own.drive ? { ...own.start, closed: 0 } : { inputs: [0, ...inputs.slice(1)] };
    const [steps, others] = [run(state), run({ ...state, ...changes })];
    const before = t > 1 ? steps[t - 2] : { h: [0], c: [0] };
    const [x, h, c] = t ? [inputs[t - 1], before.h[0], before.c[0]] : [state.x, state.h, state.c];
    if (t && !own.drive) follow({ x: within(2, x), h, c: within(4, c) });
    const step = t ? steps[t - 1] : lstmCell([x], [[h], [c]], weightsAt(state, 0));
    const numbers = Object.fromEntries(
      Object.entries(step).map(([name, value]) => [name, name === "a" ? value : value[0]]),
    );
    cell.set({ ...numbers, x: own.features > 1 ? null : x, h_before: h, c_before: c }, shown, line);
    sequence.set(inputs, steps, others, t, line);
    sentence.set(own.drive ? fill(words.own, own) : verdict(words, steps, others));
    presets.forEach((preset, k) => change(preset, { "aria-pressed": `${settings[k][1].join() === bias.join()}` }));
    lineButtons.forEach((button, k) => change(button, { "aria-pressed": `${LINES[k] === line}` }));
  };

  const settings = Object.entries(own.drive ? { trained: own.start.bias } : PRESETS);
  const presets = settings.map(([name, bias]) => button(words[name], () => set({ bias })));
  const lineButtons = LINES.map((line) => button(symbol(`${line}_t`), () => set({ line })));
  const whole = (min, max, zero) => ({ min, max, step: 1, show: (n) => (n ? `${n}` : zero) });
  const weight = (name, title, sign) =>
    GATES.map((gate, key) =>
      slider(model, name, { key, label: [`${title} `, symbol(`${sign}${gate}}`)], min: -10, max: 10, step: 0.25 }),
    );
  const playing = (name, play, title, min, max, pause) =>
    html(
      "div",
      { class: "strip playing" },
      player(model, name, { min: 1, max, words: { ...words, play }, pause }),
      slider(model, name, { label: title, ...whole(min, max, words.by_hand) }),
    );
  const byHand = ([name, title, sign, max]) =>
    slider(model, name, { label: [`${title} `, symbol(sign)], min: -max, max, step: 0.05 });
  const fold = (name, ...children) => html("details", {}, html("summary", {}, name), ...children);
  const [b_i, b_f, b_g, b_o] = weight("bias", words.bias, "b_{");
  const hand = [
    ["x", words.input, "x_t", 2],
    ["h", words.hidden_state, "h_{t-1}", 1],
    ["c", words.cell_state, "c_{t-1}", 4],
  ];
  const controls = [
    group(own.drive ? words.biases : words.challenge, b_f, b_i, b_o, strip(words.presets, presets)),
    playing("t", words.run, [`${words.step} `, symbol("t")], own.drive ? 1 : 0, length),
    slider(model, "closed", { label: words.closed, ...whole(0, length, words.never) }),
    playing("shown", words.compute, words.shown, 1, 6, 900),
    fold(
      words.more,
      strip(words.line, html("span", {}, words.line), lineButtons),
      b_g,
      own.drive ? null : group(words.inputs, hand.map(byHand)),
    ),
  ];
  const weights = [
    own.drive ? null : weight("weight_ih", words.weight, "W_{i"),
    weight("weight_hh", words.weight, "W_{h"),
  ];
  const picture = drawing(words, 360, 338, cell.element, sequence.element);
  const parts = {
    drawing: [pointed(picture, sequence.at), html("div", { class: "ticks" }, sentence.element)],
    controls,
    below: [fold(words.weights, html("div", { class: "controls" }, weights))],
  };
  return show(model, el, parts, TRAITS, draw);
};

export default { render };
