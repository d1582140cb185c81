/* Figure: an RNN over 50 steps. It shows states and gradients in colours, their norms on a log axis, and one step in detail. */
import { norm } from "./numbers.js";
import { rnn, rnnGradients, rnnDerivatives, scale } from "./arithmetic.js";
import {
  ON_COLOUR,
  BLUE,
  GREEN,
  ORANGE,
  PURPLE,
  arrow,
  change,
  drawing,
  fill,
  fixed,
  html,
  label,
  mosaic,
  setContent,
  svg,
  symbol,
} from "./elements.js";
import { choice, player, slider } from "./controls.js";
import { report, show } from "./show.js";

const STEPS = 50;
const [LEFT, WIDE, TALL] = [39, 6.4, 7]; // left edge of the columns, size of a square
const [TOP, HIGH, DECADES] = [166, 132, 6]; // the axis: from 1e-06 to 1e+06

/* A number in two digits, in the notation of Python's f"{value:.2g}". */
const brief = (value) => {
  const [digits, exponent] = value.toExponential(1).split("e");
  const power = Number(exponent);
  if (value === 0 || (power >= -4 && power < 2)) return `${Number(value.toPrecision(2))}`.replace("-", "−");
  return `${Number(digits)}e${power < 0 ? "-" : "+"}${`${Math.abs(power)}`.padStart(2, "0")}`.replace(/^-/, "−");
};

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/* All values of the figure: the states h_0 … h_50, the gradients with respect to them, and what follows from both. */
const compute = (model) => {
  const [radius, f, impulse, Q] = ["radius", "nonlinearity", "impulse", "Q"].map((name) => model.get(name));
  const w = { weight_ih: Q.map((_, unit) => [unit ? 0 : 1]), weight_hh: scale(radius, Q) };
  const inputs = Array.from({ length: STEPS }, (_, k) => [k ? 0 : impulse]);
  const states = [Q.map(() => 0), ...rnn(inputs, w, f)];
  const last = Q.map(() => 1 / Math.sqrt(Q.length));
  const gradients = rnnGradients(states, last, w, f);
  const ones = states.map((h) => h.map(() => 1)); // relu has slope 1 for these: a network without f
  return {
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
const height = (value) => TOP + (HIGH / 2) * (1 - Math.log10(value) / DECADES);

/* The path of a line, cut where it leaves the axis. */
const line = (values) => {
  const [low, high] = [TOP + HIGH, TOP];
  const inside = (y) => y >= high && y <= low;
  let [d, drawn] = ["", false];
  values.forEach((value, k) => {
    const [x, y] = [middle(k + 1), height(value)];
    const before = k ? height(values[k - 1]) : y;
    // the point between two steps where the line crosses the end of the axis; log 0 is -Infinity
    const back = (edge) => (Number.isFinite(before - y) ? (y - edge) / (y - before) : 1);
    const at = (edge) => `${(x - WIDE * back(edge)).toFixed(1)} ${edge}`;
    const edge = (out) => (out > low ? low : high);
    if (inside(y)) {
      if (k && !drawn) d += `M${at(edge(before))}`;
      d += `${d && (drawn || k) ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
    } else if (drawn) d += `L${at(edge(y))}`;
    drawn = inside(y);
  });
  return d;
};

/* Plain text: numbers such as 1e-06 are not formulas. */
const upright = (x, y, text, attributes) => {
  const placed = { x, y, "text-anchor": "middle", "dominant-baseline": "central" };
  return svg("text", { ...placed, "font-size": 13, fill: "currentColor", ...attributes }, text);
};

/* All 50 steps. choose(t) is called when the reader points at step t. */
const whole = (words, choose) => {
  const [right, bottom] = [LEFT + STEPS * WIDE, TOP + HIGH];
  const [states, gradients] = [18, 82].map((y) => mosaic(LEFT, y, WIDE, TALL));
  const curve = (stroke) => svg("path", { fill: "none", stroke, "stroke-width": 2.5, "stroke-linejoin": "round" });
  const dashed = { fill: "none", stroke: PURPLE, "stroke-width": 1.2, "stroke-dasharray": "4 3" };
  const curves = { lengths: curve(BLUE), steepness: curve(PURPLE), linear: svg("path", dashed) };
  const dots = { lengths: svg("circle", { r: 3.5, fill: BLUE }), steepness: svg("circle", { r: 3.5, fill: PURPLE }) };
  const marker = svg("path", { fill: "none", stroke: GREEN, "stroke-width": 1.5, "stroke-linejoin": "round" });
  const frame = (y, tall) =>
    svg("rect", {
      x: LEFT,
      y,
      width: right - LEFT,
      height: tall,
      fill: "none",
      stroke: "currentColor",
      "stroke-opacity": 0.25,
    });
  const left = { "text-anchor": "start", "font-size": 12 };
  const ticks = ["1e+06", "1e+03", "1", "1e-03", "1e-06"].map((number) => {
    const y = height(Number(number));
    return [
      svg("path", {
        d: `M${LEFT} ${y}H${right}`,
        stroke: "currentColor",
        "stroke-opacity": number === "1" ? 0.4 : 0.15,
      }),
      upright(LEFT - 4, y, number, { "font-size": 10, "text-anchor": "end" }),
    ];
  });
  const point = (event) => {
    const box = element.getBoundingClientRect();
    const t = Math.ceil((((event.clientX - box.left) / box.width) * 360 - LEFT) / WIDE);
    if (event.buttons && t >= 1 && t <= STEPS) choose(t);
  };
  const element = drawing(
    words,
    360,
    318,
    svg("rect", { x: LEFT, y: 4, width: WIDE, height: TALL, fill: ORANGE }),
    frame(4, TALL),
    label(18, 8, "x_t"),
    states.element,
    frame(18, 8 * TALL),
    label(18, 46, "h_t"),
    gradients.element,
    frame(82, 8 * TALL),
    label(18, 101, "∂L"),
    svg("path", { d: "M6 110H30", stroke: "currentColor" }),
    label(18, 119, "∂h_t"),
    label(LEFT, 151, "‖h_t‖", { ...left, fill: BLUE }),
    arrow(`${LEFT + 27},151 ${LEFT + 50},151`, { stroke: BLUE, color: BLUE }),
    svg("path", { d: "M150 151H172", ...dashed }),
    label(177, 151, "f(a) = a", left),
    arrow(`${right - 58},151 ${right - 81},151`, { stroke: PURPLE, color: PURPLE }),
    label(right, 151, "‖∂L/∂h_t‖", { "text-anchor": "end", "font-size": 12, fill: PURPLE }),
    ticks,
    Object.values(curves),
    marker,
    Object.values(dots),
    [1, 10, 20, 30, 40, 50].map((t) => label(Math.min(middle(t), 352), bottom + 12, `${t}`, { "font-size": 11 })),
    label(18, bottom + 12, "t"),
  );
  change(element, { style: "touch-action: pan-y", onpointerdown: point, onpointermove: point });
  return {
    element,
    set(values, t) {
      states.set(values.states.slice(1), values.limits[0]);
      gradients.set(values.gradients.slice(1), values.limits[1]);
      for (const [name, path] of Object.entries(curves)) change(path, { d: line(values[name].slice(1)) });
      for (const [name, dot] of Object.entries(dots)) {
        const y = height(values[name][t]);
        const clipped = Math.max(TOP, Math.min(bottom, y)); // beyond the axis: pale, at its end
        change(dot, { cx: middle(t).toFixed(1), cy: clipped.toFixed(1), "fill-opacity": y === clipped ? null : 0.35 });
      }
      const box = (y, tall) => `M${(LEFT + (t - 1) * WIDE).toFixed(1)} ${y}h${WIDE}v${tall}h-${WIDE}z`;
      change(marker, { d: box(2, 138) + box(TOP, HIGH) });
    },
  };
};

/* A matrix of rectangles coloured by value: `set(rows, limit)`. Wide ones show their number. */
const grid = (x, y, rows, columns, wide, tall = 14) => {
  const cell = (r, c) => {
    const [at_x, at_y] = [x + c * wide, y + r * tall];
    const edge = { stroke: "currentColor", "stroke-opacity": 0.3 };
    const ground = svg("rect", { x: at_x, y: at_y, width: wide, height: tall, ...edge });
    return [ground, wide > 30 ? upright(at_x + wide / 2, at_y + tall / 2, " ", { "font-size": 11 }) : null];
  };
  const cells = Array.from({ length: rows }, (_, r) => Array.from({ length: columns }, (_, c) => cell(r, c)));
  return {
    element: svg("g", {}, cells),
    set(values, limit) {
      cells.forEach((row, r) =>
        row.forEach(([ground, number], c) => {
          const [value, strength] = [values[r][c], Math.min(Math.abs(values[r][c]) / limit, 1)];
          change(ground, { fill: value < 0 ? BLUE : ORANGE, "fill-opacity": strength.toFixed(3) });
          if (!number) return;
          const text = brief(value);
          setContent(number, text);
          change(number, { fill: strength > 0.8 ? ON_COLOUR : "currentColor", "font-size": text.length > 6 ? 10 : 11 });
        }),
      );
    },
  };
};

/* One step, forward above and backward below. */
const single = (size) => {
  const [up, down, half] = [20, 170, size * 7];
  const vector = (x, y) => grid(x, y, size, 1, 50);
  const boxes = {
    h_now: vector(1, up),
    W: grid(100, up, size, size, 13),
    h_before: vector(210, up),
    V: grid(280, up, size, 1, 13),
    x: grid(299, up + half - 7, 1, 1, 48),
    g_before: vector(1, down),
    T: grid(100, down, size, size, 13),
    slopes: vector(216, down),
    g_now: vector(286, down),
  };
  const sign = (x, y, text) => upright(x, y + half, text);
  const f = upright(75, up + half, " ", { "font-size": 11 });
  const above = (x, y, text) => label(x, y - 10, text, { "font-size": 12 });
  const kinds = { tanh: above(241, down, "1 − h_t²"), relu: above(241, down, "f′(a_t)") };
  const element = svg(
    "svg",
    { class: "drawing", viewBox: `0 0 360 ${down + size * 14 + 4}`, role: "img" },
    Object.values(boxes).map((box) => box.element),
    f,
    sign(270, up, "+"),
    sign(354, up, ")"),
    above(26, up, "h_t"),
    above(152, up, "W_{hh} = r Q"),
    above(235, up, "h_{t-1}"),
    above(286, up, "W_{ih}"),
    above(323, up + half - 7, "x_t"),
    sign(75, down, "="),
    sign(210, down, "("),
    sign(276, down, "⊙"),
    sign(342, down, ")"),
    Object.values(kinds),
    above(28, down, "∂L/∂h_{t-1}"),
    above(152, down, "W_{hh}ᵀ"),
    above(311, down, "∂L/∂h_t"),
  );
  return {
    element,
    set(values, t, words) {
      const [state, gradient] = values.limits;
      const column = (vector) => vector.map((value) => [value]);
      const vectors = {
        h_now: values.states[t],
        h_before: values.states[t - 1],
        slopes: values.slopes[t],
        g_now: values.gradients[t],
        g_before: values.gradients[t - 1],
      };
      for (const [name, vector] of Object.entries(vectors))
        boxes[name].set(column(vector), name === "slopes" ? 1 : name[0] === "h" ? state : gradient);
      const { weight_hh, weight_ih } = values.w;
      boxes.W.set(weight_hh, 1);
      boxes.T.set(
        weight_hh.map((_, r) => weight_hh.map((row) => row[r])),
        1,
      );
      boxes.V.set(weight_ih, 1);
      boxes.x.set([values.inputs[t - 1]], values.inputs[0][0]);
      setContent(f, `= ${values.f}(`);
      for (const [name, element] of Object.entries(kinds))
        change(element, { display: name === values.f ? null : "none" });
      const numbers = Object.fromEntries(
        Object.entries(vectors).map(([name, vector]) => [name, vector.map(brief).join(", ")]),
      );
      change(element, { "aria-label": fill(words.step_description, { t, before: t - 1, f: values.f, ...numbers }) });
    },
  };
};

/* A sentence with its numbers, in which lines do not break at = − × or in an exponent. */
const fillUnbroken = (sentence, values) =>
  fill(sentence, values)
    .replace(/ ([=−]) /g, "\u00a0$1\u00a0")
    .replace("× ", "×\u00a0")
    .replaceAll("e-", "e-\u2060");

/* The word for a change of length by this factor. */
const fate = (factor) =>
  ["vanishes", "fades", "holds", "grows", "explodes"][[0.01, 0.5, 2, 100].filter((bound) => factor > bound).length];

const stateSentence = (words, { lengths, slopes, f }) => {
  const [first, last] = [lengths[1], lengths[STEPS]];
  const held = f === "tanh" && last > 2 * first && mean(slopes[STEPS]) < 0.9;
  return fillUnbroken(words[`state_${held ? "held" : fate(last / first)}`], { first: brief(first), last: brief(last) });
};

const gradientSentence = (words, { steepness, linear, lengths, slopes, f }) => {
  if (steepness[1] === 0) return words.gradient_zero;
  const outcome = fate(steepness[1]);
  const through = slopes.slice(2).flat(); // of the steps between h_1 and h_50
  const forgets = outcome === "vanishes" && lengths[STEPS] > 0.5 * lengths[1];
  const why = fillUnbroken(words[f === "tanh" && forgets ? "tanh_forgets" : f], {
    slope: fixed(mean(through)),
    zeros: fixed(8 * (1 - mean(through)), 1),
  });
  return `${fillUnbroken(words[`gradient_${outcome}`], { first: brief(steepness[1]), linear: brief(linear[1]), f })}${words.between}${why}`;
};

const stepSentence = (words, { lengths, steepness }, t) =>
  fillUnbroken(words.here, {
    t,
    h_before: brief(lengths[t - 1]),
    h_now: brief(lengths[t]),
    g_now: brief(steepness[t]),
    g_before: brief(steepness[t - 1]),
    factor: steepness[t] ? fixed(steepness[t - 1] / steepness[t]) : "0",
  });

const render = ({ model, el }) => {
  const words = model.get("words");
  const choose = (t) => {
    model.set("t", t);
    model.save_changes();
  };
  const [all, detail] = [whole(words, choose), single(model.get("Q").length)];
  const [state, gradient, step] = [report(), report(), report()];
  const impulses = [1, 0.1, 0.01, 0.001].map((value) => [value, `${value}`]);
  const draw = () => {
    const [values, t] = [compute(model), model.get("t")];
    all.set(values, t);
    detail.set(values, t, words);
    state.set(stateSentence(words, values));
    gradient.set(gradientSentence(words, values));
    step.set(stepSentence(words, values, t));
  };
  const parts = [
    all.element,
    slider(model, "radius", { label: [`${words.radius} `, symbol("r")], min: 0, max: 2, step: 0.05 }),
    state.element,
    gradient.element,
    html(
      "div",
      { class: "controls" },
      choice(model, "nonlinearity", {
        label: [`${words.nonlinearity} `, symbol("f")],
        options: ["tanh", "relu"].map((f) => [f, f]),
      }),
      choice(model, "impulse", { label: [`${words.impulse} `, symbol("x_1")], options: impulses }),
    ),
    html(
      "div",
      { class: "strip" },
      player(model, "t", { min: 1, max: STEPS, words }),
      slider(model, "t", { label: [`${words.step} `, symbol("t")], min: 1, max: STEPS, step: 1, show: (t) => `${t}` }),
    ),
    step.element,
    detail.element,
  ];
  return show(model, el, parts, ["radius", "nonlinearity", "impulse", "t", "Q"], draw);
};

export default { render };
