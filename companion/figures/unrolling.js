/* Figure: an RNN over 50 steps. The state appears step by step, then the gradient, back from the end: values in colours,
 * lengths on a log axis, and one step in detail. */
import { norm } from "./numbers.js";
import { rnn, rnnGradients, rnnDerivatives, scale } from "./arithmetic.js";
import {
  BLUE,
  GREEN,
  ORANGE,
  PURPLE,
  brief,
  change,
  drawing,
  fill,
  fixed,
  html,
  label,
  mosaic,
  setContent,
  squares,
  svg,
  symbol,
  pointIn,
} from "./elements.js";
import { button, choice, player, slider } from "./controls.js";
import { pointed } from "./pointer.js";
import { report, show } from "./show.js";

const [STEPS, SIZE] = [50, 8];
const [LEFT, RIGHT, TALL] = [54, 359, 6.5]; // ends of the columns, height of a square
const WIDE = (RIGHT - LEFT) / STEPS;
const [STATE, GRADIENT, KEY] = [20, 80, 143]; // tops of the squares, y of the key of their colours
const [TOP, HIGH, DECADES] = [177, 104, 6]; // the axis: from 10⁻⁶ to 10⁶
const [BOTTOM, MIDDLE] = [TOP + HIGH, TOP + HIGH / 2];

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/* All values of the figure: the states h_0 … h_50, the gradients with respect to them, and what follows from both.
 * The states up to step `forward` are shown, and the gradients from step `back` on. */
const compute = (model) => {
  const names = ["radius", "nonlinearity", "impulse", "Q", "t", "shown"];
  const [radius, f, impulse, Q, t, shown] = names.map((name) => model.get(name));
  const w = { weight_ih: Q.map((_, unit) => [unit ? 0 : 1]), weight_hh: scale(radius, Q) };
  const inputs = Array.from({ length: STEPS }, (_, k) => [k ? 0 : impulse]);
  const states = [Q.map(() => 0), ...rnn(inputs, w, f)];
  const last = Q.map(() => 1 / Math.sqrt(Q.length));
  const gradients = rnnGradients(states, last, w, f);
  const ones = states.map((h) => h.map(() => 1)); // relu has slope 1 for these: a network without f
  return {
    t,
    forward: Math.min(STEPS, Math.max(shown, t)),
    back: Math.min(STEPS, 2 * STEPS - shown) + 1,
    w,
    f,
    inputs,
    states,
    gradients,
    slopes: states.map((h) => rnnDerivatives(h, f)),
    lengths: states.map(norm),
    steepness: gradients.map(norm),
    linear: rnnGradients(ones, last, w, "relu").map(norm),
    limits: [states, gradients].map((rows) => Math.min(1, Math.max(...rows.flat().map(Math.abs))) || 1), // full colour
  };
};

const middle = (t) => LEFT + (t - 0.5) * WIDE;
/* The height of a length on the axis; beyond it, also of 0, far away. */
const height = (length) => Math.min(MIDDLE - (HIGH * Math.log10(length)) / (2 * DECADES), 9999);
const onAxis = (length) => Math.max(TOP, Math.min(BOTTOM, height(length)));

/* All 50 steps. choose(t) is called when the reader presses step t. */
const whole = (words, choose) => {
  let now = null; // the values that are drawn
  const small = { "font-size": 10.5 };
  const [states, gradients] = [STATE, GRADIENT].map((y) => mosaic(LEFT, y, WIDE, TALL));
  const dashed = { fill: "none", stroke: "currentColor", "stroke-width": 1.2, "stroke-dasharray": "4 3" };
  const solid = (stroke) => svg("path", { fill: "none", stroke, "stroke-width": 2.5, "stroke-linejoin": "round" });
  const curves = { lengths: solid(BLUE), steepness: solid(PURPLE), linear: svg("path", dashed) };
  const dots = { lengths: svg("circle", { r: 3.5, fill: BLUE }), steepness: svg("circle", { r: 3.5, fill: PURPLE }) };
  const marker = solid(GREEN);
  const frame = (y, tall) =>
    svg("path", { d: `M${LEFT} ${y}H${RIGHT}v${tall}H${LEFT}z`, fill: "none", stroke: "currentColor", opacity: 0.25 });
  const ticks = ["10⁶", "10⁴", "100", "1", "1/100", "10⁻⁴", "10⁻⁶"].map((text, k) => [
    svg("path", {
      d: `M${LEFT} ${TOP + (k * HIGH) / 6}H${RIGHT}`,
      stroke: "currentColor",
      opacity: ["1", "1/100"].includes(text) ? 0.45 : 0.15,
    }),
    label(LEFT - 4, TOP + (k * HIGH) / 6, text, { ...small, "text-anchor": "end" }),
  ]);
  const key = [
    [BLUE, "< 0"],
    ["none", "0"],
    [ORANGE, "> 0"],
  ].map(([fill, text], k) => [
    svg("rect", {
      x: LEFT + 1 + 40 * k,
      y: KEY - 4,
      width: 8,
      height: 8,
      fill,
      stroke: "currentColor",
      "stroke-opacity": 0.3,
    }),
    label(LEFT + 13 + 40 * k, KEY, text, { ...small, "text-anchor": "start" }),
  ]);
  const beside = (y, text, attributes = small) => label(25, y, text, attributes);
  const legend = (x, text, anchor, fill) =>
    label(x, TOP - 15, text, { "font-size": 12, "text-anchor": anchor, fill: fill ?? "currentColor" });
  const without = legend(LEFT + 146, " ", "start");
  const stepAt = (x) => Math.ceil((x - LEFT) / WIDE);
  const press = (event) => {
    const t = stepAt(pointIn(element, event)[0]);
    if (event.buttons && t >= 1 && t <= STEPS) choose(t);
  };
  const element = drawing(
    words,
    360,
    BOTTOM + 20,
    beside(7, `${words.input} x_t`),
    svg("rect", { x: LEFT, y: 4, width: WIDE, height: TALL, fill: ORANGE }),
    frame(4, TALL),
    [STATE, GRADIENT].map((y, k) => [
      beside(y + 11, [words.state, words.gradient][k]),
      beside(y + 26, ["h_t", "∂L/∂h_t"][k], {}),
      beside(y + 42, words.units),
      [states, gradients][k].element,
      frame(y, SIZE * TALL),
    ]),
    key,
    legend(LEFT, `${words.state} →`, "start", BLUE),
    svg("path", { d: `M${LEFT + 119} ${TOP - 15}h22`, ...dashed }),
    without,
    legend(RIGHT, `← ${words.gradient}`, "end", PURPLE),
    label(10, MIDDLE, words.length, { ...small, transform: `rotate(-90 10 ${MIDDLE})` }),
    ticks,
    // an <svg> in a drawing cuts the lines where they leave the axis
    svg("svg", { y: TOP, width: 360, height: HIGH, viewBox: `0 ${TOP} 360 ${HIGH}` }, Object.values(curves)),
    marker,
    Object.values(dots),
    [1, 10, 20, 30, 40, 50].map((t) => label(Math.min(middle(t), 352), BOTTOM + 12, `${t}`, small)),
    beside(BOTTOM + 12, `${words.step} t`),
  );
  change(marker, { "stroke-width": 1.5 });
  change(element, { style: "touch-action: pan-y", onpointerdown: press, onpointermove: press });
  const valueAt = (x, y) => {
    const [t, unitAt] = [stepAt(x), (top) => Math.floor((y - top) / TALL)];
    if (t < 1 || t > STEPS) return null;
    if (y < STATE - 4) return `x_{${t}} = ${now.inputs[t - 1]}`;
    const [h, g] = [`h_{${t}}`, `∂L/∂h_{${t}}`];
    const found =
      y < TOP - 8
        ? []
        : [
            [`‖${h}‖`, now.lengths[t]],
            [`‖${g}‖`, now.steepness[t]],
            [`‖${g}‖, ${fill(words.without, now)}`, now.linear[t]],
          ];
    const known = found.filter((_, k) => (k ? t >= now.back : t <= now.forward));
    if (t <= now.forward && unitAt(STATE) in now.states[t])
      known.push([`${h}[${unitAt(STATE)}]`, now.states[t][unitAt(STATE)]]);
    if (t >= now.back && unitAt(GRADIENT) in now.gradients[t])
      known.push([`${g}[${unitAt(GRADIENT)}]`, now.gradients[t][unitAt(GRADIENT)]]);
    const distance = ([, value]) => Math.abs(onAxis(value) - y);
    const [nearest] = known.sort((one, other) => distance(one) - distance(other));
    return nearest && (!found.length || distance(nearest) < 25) ? `${nearest[0]} = ${brief(nearest[1], 4)}` : null;
  };
  return {
    element: pointed(element, valueAt),
    set(values) {
      now = values;
      const { t, forward, back, f } = values;
      states.set(values.states.slice(1, forward + 1), values.limits[0]);
      const arrived = values.gradients.map((column, k) => (k >= back ? column : []));
      gradients.set(arrived.slice(1), values.limits[1]);
      setContent(without, fill(words.without, { f }));
      for (const [name, path] of Object.entries(curves)) {
        const [first, last] = name === "lengths" ? [1, forward] : [back, STEPS];
        const points = values[name].map((value, k) => `${middle(k).toFixed(1)} ${height(value).toFixed(1)}`);
        change(path, { d: `M${points.slice(first, last + 1).join("L") || "0 0"}` });
        const [y, end] = [height(values[name][t]), onAxis(values[name][t])]; // beyond the axis: pale, at its end
        const place = { cx: middle(t).toFixed(1), cy: end.toFixed(1), "fill-opacity": y === end ? null : 0.35 };
        if (dots[name]) change(dots[name], { ...place, display: t >= first && t <= last ? null : "none" });
      }
      const box = (y, tall) => `M${(LEFT + (t - 1) * WIDE).toFixed(1)} ${y}h${WIDE}v${tall}h-${WIDE}z`;
      change(marker, { d: box(2, GRADIENT + SIZE * TALL) + box(TOP, HIGH) });
    },
  };
};

/* One step, forward above and backward below. */
const single = (words) => {
  const [up, down, half] = [36, 196, SIZE * 7];
  const grid = (x, y, rows, columns, width) =>
    squares(x, y, rows, columns, width, 14, { digits: width > 25 ? 2 : null, size: 10.5, text: brief });
  const boxes = {
    h_now: grid(1, up, SIZE, 1, 54),
    W: grid(97, up, SIZE, SIZE, 13),
    h_before: grid(204, up, SIZE, 1, 54),
    V: grid(272, up, SIZE, 1, 13),
    x: grid(288, up + half - 7, 1, 1, 40),
    g_before: grid(1, down, SIZE, 1, 54),
    T: grid(97, down, SIZE, SIZE, 13),
    slopes: grid(212, down, SIZE, 1, 54),
    g_now: grid(282, down, SIZE, 1, 54),
  };
  const at = (y, texts) => Object.entries(texts).map(([x, text]) => label(x, y, text, { "font-size": 11.5 }));
  const title = (y, text) => label(1, y - 28, text, { "font-size": 11.5, "text-anchor": "start", "font-weight": 600 });
  const [[f], [slope]] = [at(up + half, { 76: " " }), at(down - 10, { 239: " " })];
  const forward = [
    title(up, words.forward),
    at(up - 10, { 28: "h_t", 149: "W_{hh} = r Q", 231: "h_{t-1}", 279: "W_{ih}" }),
    at(up + half, { 265: "+", 334: ")" }),
    at(up + half - 17, { 308: "x_t" }),
    f,
    ["h_now", "W", "h_before", "V", "x"].map((name) => boxes[name].element),
  ];
  const back = svg(
    "g",
    {},
    title(down, words.back),
    at(down - 10, { 28: "∂L/∂h_{t-1}", 149: "W_{hh}ᵀ", 309: "∂L/∂h_t" }),
    at(down + half, { 76: "=", 206: "(", 274: "⊙", 341: ")" }),
    slope,
    ["g_before", "T", "slopes", "g_now"].map((name) => boxes[name].element),
  );
  const element = drawing({}, 346, down + SIZE * 14 + 4, forward, back);
  return {
    element: pointed(element),
    set({ t, back: first, f: name, limits, states, gradients, slopes, w, inputs }) {
      const column = (vector) => vector.map((value) => [value]);
      const tanh = name === "tanh";
      const vectors = {
        h_now: [states[t], limits[0], `h_{${t}}`],
        h_before: [states[t - 1], limits[0], `h_{${t - 1}}`],
        slopes: [slopes[t], Infinity, tanh ? `1 − h_{${t}}²` : `f′(a_{${t}})`],
        g_now: [gradients[t], limits[1], `∂L/∂h_{${t}}`],
        g_before: [gradients[t - 1], limits[1], `∂L/∂h_{${t - 1}}`],
      };
      for (const [box, [vector, limit, named]] of Object.entries(vectors))
        boxes[box].set(column(vector), (r) => ({ limit, name: `${named}[${r}]` }));
      boxes.W.set(w.weight_hh, (r, c) => ({ name: `W_{hh}[${r}, ${c}]` }));
      boxes.T.set(
        w.weight_hh.map((_, r) => w.weight_hh.map((row) => row[r])),
        (r, c) => ({ name: `W_{hh}ᵀ[${r}, ${c}]` }),
      );
      boxes.V.set(w.weight_ih, (r) => ({ name: `W_{ih}[${r}]` }));
      boxes.x.set([inputs[t - 1]], () => ({ limit: inputs[0][0], name: `x_{${t}}` }));
      setContent(f, `= ${name}(`);
      setContent(slope, ...label(0, 0, tanh ? "1 − h_t²" : "f′(a_t)").childNodes);
      change(back, { display: t >= first ? null : "none" });
      change(element, { viewBox: `0 0 346 ${(t >= first ? down : up) + SIZE * 14 + 4}` });
      const lists = Object.entries(vectors).map(([box, [vector]]) => [
        box,
        vector.map((value) => brief(value)).join(", "),
      ]);
      const known = { t, before: t - 1, f: name, ...Object.fromEntries(lists) };
      const parts = [words.forward_description, ...(t >= first ? [words.back_description] : [])];
      change(element, { "aria-label": parts.map((part) => fill(part, known)).join(words.between) });
    },
  };
};

/* A sentence with its numbers, in which lines do not break at = − × /. */
const fillUnbroken = (sentence, values) =>
  fill(sentence, values)
    .replace(/ ([=−]) /g, "\u00a0$1\u00a0")
    .replaceAll("/∂", "/\u2060∂")
    .replace("× ", "×\u00a0");

/* The word for a change of length by this factor. */
const fate = (factor) =>
  ["vanishes", "fades", "holds", "grows", "explodes"][[0.01, 0.5, 2, 100].filter((bound) => factor > bound).length];

const stateSentence = (words, { lengths, slopes, f }) => {
  const [first, last] = [lengths[1], lengths[STEPS]];
  const held = f === "tanh" && last > 2 * first && mean(slopes[STEPS]) < 0.9;
  return fillUnbroken(words[`state_${held ? "held" : fate(last / first)}`], { first: brief(first), last: brief(last) });
};

const gradientSentence = (words, { steepness, linear, f }) => {
  const numbers = { first: brief(steepness[1]), linear: brief(linear[1]), f };
  return fillUnbroken(words[`gradient_${steepness[1] === 0 ? "zero" : fate(steepness[1])}`], numbers);
};

/* Why the gradient is not as long as without f. */
const reason = (words, { steepness, lengths, slopes, f }) => {
  const through = mean(slopes.slice(2).flat()); // of the steps between h_1 and h_50
  const forgets = f === "tanh" && fate(steepness[1]) === "vanishes" && lengths[STEPS] > 0.5 * lengths[1];
  const numbers = { slope: fixed(through), zeros: fixed(SIZE * (1 - through), 1) };
  return steepness[1] === 0 ? "" : fillUnbroken(words[forgets ? "tanh_forgets" : f], numbers);
};

const stepSentence = (words, { lengths, steepness, t, back }) =>
  fillUnbroken([words.here, ...(t >= back ? [words.here_back] : [])].join(words.between), {
    t,
    h_before: brief(lengths[t - 1], 3),
    h_now: brief(lengths[t], 3),
    g_now: brief(steepness[t], 3),
    g_before: brief(steepness[t - 1], 3),
    factor: steepness[t] ? fixed(steepness[t - 1] / steepness[t]) : "0",
  });

const render = ({ model, el }) => {
  const words = model.get("words");
  const set = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  // the frame goes along with the computation
  model.on("change:shown", () => set("t", Math.min(model.get("shown"), 2 * STEPS + 1 - model.get("shown"))));
  const [all, detail, outcome, step, why] = [
    whole(words, (t) => set("t", t)),
    single(words),
    report(),
    report(),
    report(),
  ];
  const radii = [0.9, 1, 1.1].map((r) => [r, button([symbol("r"), ` = ${r}`], () => set("radius", r))]);
  const draw = () => {
    const values = compute(model);
    for (const [r, button] of radii) change(button, { "aria-pressed": `${model.get("radius") === r}` });
    const [running, arrived] = [values.forward < STEPS, values.back === 1];
    all.set(values);
    detail.set(values);
    const state = running ? fill(words.running, { n: values.forward }) : stateSentence(words, values);
    outcome.set(arrived ? state + words.between + gradientSentence(words, values) : state);
    step.set(stepSentence(words, values));
    why.set(arrived ? reason(words, values) : "");
  };
  change(outcome.element, { class: "steady" });
  const options = (values) => values.map((value) => [value, `${value}`]);
  const controls = [
    html(
      "div",
      { class: "strip" },
      player(model, "shown", { min: 1, max: 2 * STEPS, words, pause: 90 }),
      slider(model, "t", { label: [`${words.step} `, symbol("t")], min: 1, max: STEPS, step: 1 }),
    ),
    slider(model, "radius", { label: [`${words.radius} `, symbol("r")], min: 0, max: 2, step: 0.05 }),
    html(
      "div",
      { class: "strip" },
      radii.map(([, button]) => button),
    ),
    choice(model, "nonlinearity", {
      label: [`${words.nonlinearity} `, symbol("f")],
      options: options(["tanh", "relu"]),
    }),
    choice(model, "impulse", { label: [`${words.impulse} `, symbol("x_1")], options: options([1, 0.1, 0.01, 0.001]) }),
    why.element,
    step.element,
    html("details", {}, html("summary", {}, words.large), detail.element),
  ];
  const traits = ["radius", "nonlinearity", "impulse", "t", "shown", "Q"];
  return show(model, el, { drawing: [all.element, outcome.element], controls }, traits, draw);
};

export default { render };
