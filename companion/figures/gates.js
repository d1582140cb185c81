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
} from "./elements.js";
import { button, group, player, slider } from "./controls.js";
import { report, show } from "./show.js";

const GATES = ["i", "f", "g", "o"]; // torch's order
const PRESETS = { new: [0, 0, 0, 0], remember: [-3, 6, 0, 0], forget: [0, -6, 0, 0], ignore: [-10, 2, 0, 0] };
const SHUT = -10; // bias of a forget gate that is held shut

/* The weights as lstmCell takes them. */
const weights = (model, shut = false) => {
  const bias = model.get("bias").map((b, k) => (shut && k === 1 ? SHUT : b));
  const column = (name) => model.get(name).map((value) => [value]);
  return { weight_ih: column("weight_ih"), weight_hh: column("weight_hh"), bias_ih: bias, bias_hh: [0, 0, 0, 0] };
};

/* All steps of the sequence from a state of zeros. first: replaces the first input. */
const runSequence = (model, first) => {
  const [original, ...rest] = model.get("inputs");
  const [open, shut] = [weights(model), weights(model, true)];
  const weightsAt = (t) => (t + 1 === model.get("closed") ? shut : open);
  return lstm([[first ?? original], ...rest.map((x) => [x])], weightsAt, [[0], [0]]);
};

/* Whether the cell has kept its first input, and only that. `without`: the steps without the first input. */
const verdict = (words, steps, without) => {
  const [c, other] = [steps.map((step) => step.c[0]), without.map((step) => step.c[0])];
  const last = c.length - 1;
  const [written, left] = [c[0] - other[0], c[last] - other[last]];
  const numbers = { first: fixed(c[0]), last: fixed(c[last]), without: fixed(other[last]) };
  if (Math.abs(written) < 0.5) return fill(words.not_written, { first: fixed(written) });
  if (left / written < 0.8) return fill(words.faded, { kept: Math.round((100 * left) / written), ...numbers });
  if (c.some((value) => Math.abs(value - c[0]) > 0.25 * Math.abs(c[0]))) {
    const furthest = c.reduce((a, b) => (Math.abs(b - c[0]) > Math.abs(a - c[0]) ? b : a));
    return fill(words.disturbed, { ...numbers, last: fixed(furthest) });
  }
  return `✓ ${fill(words.met, numbers)}`;
};

/* The cell: the memory runs along the top, the gates read x_t and h_{t-1} from below. */
const diagram = (words) => {
  const columns = { f: 96, i: 158, g: 214, o: 272 };
  const box = (x, y, limit = 1) => square(x - 23, y - 14, 46, 28, { limit });
  const boxes = {
    c_before: box(29, 40, 2),
    h_before: box(29, 196),
    x: box(29, 242, 2),
    kept: box(127, 78, 2),
    added: box(190, 78, 2),
    c: box(331, 40, 2),
    squashed: box(272, 84),
    h: box(331, 128),
    ...Object.fromEntries(GATES.map((name) => [name, box(columns[name], 166)])),
  };
  const sums = Object.fromEntries(GATES.map((name) => [name, label(columns[name], 216, " ", { "font-size": 12 })]));
  const node = (x, y, sign) =>
    svg("g", {}, svg("circle", { cx: x, cy: y, r: 9, fill: "none", stroke: "currentColor" }), label(x, y, sign));
  const order = (n, x, y) =>
    svg(
      "g",
      {},
      svg("circle", { cx: x, cy: y, r: 8, fill: BLUE, "fill-opacity": 0.3 }),
      label(x, y, `${n}`, { "font-size": 11 }),
    );
  const line = (points) => svg("polyline", { points, stroke: "currentColor", fill: "none", "stroke-width": 1.2 });
  // the stages of the computation: a box is empty until its stage
  const stages = [["x", "h_before", "c_before"], ["sums"], GATES, ["kept", "added"], ["c"], ["squashed", "h"]];
  const lines = [
    arrow("52,40 87,40"),
    arrow("105,40 149,40"),
    arrow("167,40 308,40"),
    arrow("96,152 96,49"),
    arrow("158,152 158,123"),
    arrow("214,152 214,114 167,114"),
    arrow("158,105 158,49"),
    arrow("272,40 272,70"),
    arrow("272,98 272,119"),
    arrow("272,152 272,137"),
    arrow("281,128 308,128"),
    line("52,242 272,242"),
    line("52,196 62,196 62,242"),
    ...GATES.flatMap((name) => [
      line(`${columns[name]},242 ${columns[name]},225`),
      arrow(`${columns[name]},207 ${columns[name]},181`),
    ]),
  ];
  const beside = { "text-anchor": "start", "font-size": 11 };
  const element = drawing(
    words,
    360,
    262,
    lines,
    [
      [96, 40, "⊙"],
      [158, 40, "+"],
      [158, 114, "⊙"],
      [272, 128, "⊙"],
    ].map((position) => node(...position)),
    Object.values(boxes).map((square) => square.element),
    Object.values(sums),
    label(29, 17, "c_{t-1}"),
    label(29, 173, "h_{t-1}"),
    label(29, 219, "x_t"),
    label(331, 17, "c_t"),
    label(331, 105, "h_t"),
    label(122, 102, "f ⊙ c_{t-1}", { "font-size": 12 }),
    label(190, 102, "i ⊙ g", { "font-size": 12 }),
    label(299, 84, "tanh", beside),
    GATES.map((name) => label(columns[name] - 11, 143, name)),
    GATES.map((name) => label(columns[name] + 6, 194, name === "g" ? "tanh" : "σ", beside)),
    [
      [1, 62, 256],
      [2, 318, 216],
      [3, 318, 166],
      [4, 226, 78],
      [5, 306, 17],
      [6, 306, 105],
    ].map((position) => order(...position)),
  );
  return {
    element,
    set(values, shown) {
      stages.forEach((names, stage) => {
        for (const name of names)
          if (name === "sums")
            GATES.forEach((gate, k) => setContent(sums[gate], stage < shown ? fixed(values.a[k]) : " "));
          else boxes[name].set(values[name], { shown: stage < shown });
      });
    },
  };
};

/* The sequence: a column for each step, and the memory as a line. choose(t) is called when the reader points at step t. */
const history = (words, length, choose) => {
  const [width, start, top, high] = [16, 36, 66, 88];
  const rows = ["x", "i", "f"].map((_name, r) =>
    Array.from({ length }, (_, t) => square(start + t * width, 4 + r * 19, width, 17, { digits: null })),
  );
  const x = (t) => start + (t + 0.5) * width;
  const y = (c) => top + high * (1 - (Math.max(-1, Math.min(4, c)) + 1) / 5);
  const line = svg("polyline", { fill: "none", stroke: BLUE, "stroke-width": 2.5 });
  const other = svg("polyline", { fill: "none", stroke: ORANGE, "stroke-width": 1.5, "stroke-dasharray": "3 3" });
  const marker = svg("rect", {
    y: 1,
    width,
    height: top + high + 4,
    fill: "none",
    stroke: GREEN,
    "stroke-width": 2,
    rx: 3,
  });
  const axis = [4, 3, 2, 1, 0, -1].map((c) => [
    svg("line", {
      x1: start,
      x2: start + length * width,
      y1: y(c),
      y2: y(c),
      stroke: "currentColor",
      "stroke-opacity": 0.25,
    }),
    label(start - 6, y(c), fixed(c, 0), { "text-anchor": "end", "font-size": 11 }),
  ]);
  const element = svg(
    "svg",
    {
      class: "drawing",
      viewBox: "0 0 360 178",
      role: "img",
      "aria-label": words.sequence_description,
      onpointerdown: (event) => {
        const box = element.getBoundingClientRect();
        const t = Math.ceil((((event.clientX - box.left) / box.width) * 360 - start) / width);
        if (t >= 1 && t <= length) choose(t);
      },
    },
    rows.flat().map((cell) => cell.element),
    axis,
    other,
    line,
    marker,
    ["x_t", "i_t", "f_t"].map((name, r) => label(14, 12 + r * 19, name)),
    label(12, y(2), "c_t"),
    [1, 5, 10, 15, 20].map((t) => label(x(t - 1), top + high + 14, `${t}`, { "font-size": 11 })),
  );
  return {
    element,
    set(inputs, steps, without, t) {
      inputs.forEach((value, k) => rows[0][k].set(value));
      steps.forEach((step, k) => (rows[1][k].set(step.i[0]), rows[2][k].set(step.f[0])));
      const points = (states) => states.map((step, k) => `${x(k).toFixed(1)},${y(step.c[0]).toFixed(1)}`).join(" ");
      change(line, { points: points(steps) });
      change(other, { points: points(without) });
      change(marker, { x: start + (t - 1) * width, display: t ? null : "none" });
    },
  };
};

const render = ({ model, el }) => {
  const words = model.get("words");
  const set = (values) => {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
  };
  const cell = diagram(words);
  const length = model.get("inputs").length;
  const sequence = history(words, length, (t) => set({ t }));
  const challenge = report();

  // While a step of the sequence is shown, x, h and c are those of that step. A change of them sets t to 0.
  let following = false;
  const follow = (steps) => {
    const t = model.get("t");
    if (!t) return;
    const before = t > 1 ? steps[t - 2] : { h: [0], c: [0] };
    const stepValues = { x: model.get("inputs")[t - 1], h: before.h[0], c: before.c[0] };
    if (Object.entries(stepValues).every(([name, value]) => model.get(name) === value)) return;
    following = true;
    set(stepValues);
    following = false;
  };
  const leave = () => following || !model.get("t") || set({ t: 0 });
  for (const name of ["x", "h", "c"]) model.on(`change:${name}`, leave);

  const draw = () => {
    const steps = runSequence(model);
    follow(steps);
    const [x, h, c, t] = ["x", "h", "c", "t"].map((name) => model.get(name));
    const shut = t > 0 && t === model.get("closed");
    const step = lstmCell([x], [[h], [c]], weights(model, shut));
    const numbers = Object.fromEntries(
      Object.entries(step).map(([name, value]) => [name, name === "a" ? value : value[0]]),
    );
    cell.set({ ...numbers, x, h_before: h, c_before: c }, model.get("shown"));
    const without = runSequence(model, 0);
    sequence.set(model.get("inputs"), steps, without, t);
    challenge.set(verdict(words, steps, without));
    for (const [name, preset] of Object.entries(presets)) {
      const chosen = model.get("bias").every((b, k) => b === PRESETS[name][k]);
      change(preset, { "aria-pressed": `${chosen}` });
    }
  };

  const showStep = (value) => (value ? `${value}` : words.by_hand);
  const presets = Object.fromEntries(
    Object.keys(PRESETS).map((name) => [name, button(words[name], () => set({ bias: PRESETS[name] }))]),
  );
  const gateSliders = (name, sign, title, limits) =>
    GATES.map((gate, key) => slider(model, name, { key, label: [`${title} `, symbol(sign(gate))], ...limits }));
  const parts = [
    cell.element,
    html(
      "div",
      { class: "controls" },
      slider(model, "shown", { label: words.shown, min: 1, max: 6, step: 1, show: (n) => `${n}` }),
    ),
    group(
      words.inputs,
      slider(model, "x", { label: [`${words.input} `, symbol("x_t")], min: -2, max: 2, step: 0.05 }),
      slider(model, "h", { label: [`${words.hidden_state} `, symbol("h_{t-1}")], min: -1, max: 1, step: 0.05 }),
      slider(model, "c", { label: [`${words.cell_state} `, symbol("c_{t-1}")], min: -4, max: 4, step: 0.05 }),
    ),
    group(
      words.biases,
      gateSliders("bias", (gate) => `b_${gate}`, words.bias, { min: -10, max: 10, step: 0.25 }),
    ),
    html(
      "div",
      { class: "strip", role: "group", "aria-label": words.presets },
      html("span", {}, words.presets),
      Object.values(presets),
    ),
    html(
      "details",
      {},
      html("summary", {}, words.weights),
      html(
        "div",
        { class: "controls" },
        gateSliders("weight_ih", (gate) => `W_{i${gate}}`, words.weight, { min: -10, max: 10, step: 0.25 }),
        gateSliders("weight_hh", (gate) => `W_{h${gate}}`, words.weight, { min: -10, max: 10, step: 0.25 }),
      ),
    ),
    group(words.sequence),
    sequence.element,
    html("p", { class: "note" }, words.dashed),
    html(
      "div",
      { class: "strip" },
      player(model, "t", { min: 1, max: length, words }),
      slider(model, "t", { label: [`${words.step} `, symbol("t")], min: 0, max: length, step: 1, show: showStep }),
      slider(model, "closed", {
        label: words.closed,
        min: 0,
        max: length,
        step: 1,
        show: (value) => (value ? `${value}` : words.never),
      }),
    ),
    html("p", {}, html("strong", {}, words.challenge)),
    challenge.element,
  ];
  return show(
    model,
    el,
    parts,
    ["x", "h", "c", "bias", "weight_ih", "weight_hh", "inputs", "t", "closed", "shown"],
    draw,
  );
};

export default { render };
