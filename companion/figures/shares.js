/* Figure: backpropagation through time in an RNN and an LSTM, or in a reader's layer. It shows each step's share of ∂L/∂W_hh,
 * and ‖∂L/∂x_t‖. */
import { initialModel, setMemoryBiases, gradientShares } from "./training.js";
import { uniform } from "./numbers.js";
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
  setContent,
  svg,
  symbol,
} from "./elements.js";
import { button, group, player, slider } from "./controls.js";
import { pointed } from "./pointer.js";
import { report, show } from "./show.js";

const [STEPS, SYMBOLS, HIDDEN_SIZE] = [24, 4, 8]; // as in shares.py
const SIZES = { vocab_size: 2 * SYMBOLS + 1, embedding_dim: 4, hidden_size: HIDDEN_SIZE, num_outputs: SYMBOLS };
const COLOURS = [BLUE, PURPLE];
const [LEFT, RIGHT] = [46, 353]; // ends of the steps
const [BARS, UNDER] = [57, 177]; // top and bottom of the bars
const [TOP, HIGH, DECADES] = [204, 62, 6]; // axis of the lengths, from 1 down to 10⁻⁶ of the last one
const BOTTOM = TOP + HIGH;

/* The indices that both read: noise, the target symbol, noise, the question. */
const sequence = (seed, gap) =>
  Array.from({ length: STEPS }, (_, t) => {
    const drawn = Math.floor(SYMBOLS * uniform(seed, 1000 + t));
    return t === STEPS - 1 - gap ? drawn : t === STEPS - 1 ? 2 * SYMBOLS : SYMBOLS + drawn;
  });

const modelOfKind = (kind, { seed, scale, bias }) => {
  const model = initialModel(kind, SIZES, seed);
  const weight_hh = model.w["recurrent.weight_hh_l0"];
  weight_hh.forEach((value, k) => (weight_hh[k] = scale * value));
  if (kind === "LSTM") setMemoryBiases(model, Array(HIDDEN_SIZE).fill(bias), false);
  return model;
};

/* The results of both networks: { kind, name, shares, lengths, lost }. */
const compute = (settings) => {
  const indices = sequence(settings.seed, settings.gap);
  return ["RNN", "LSTM"].map((kind) => {
    const target = indices[STEPS - 1 - settings.gap];
    const result = gradientShares(modelOfKind(kind, settings), indices, target, settings.window);
    return { ...result, kind, name: kind };
  });
};

/* The number of last steps with half of the sum of all absolute shares. */
const stepsOfHalf = (shares) => {
  const sizes = shares.map(Math.abs);
  const half = sizes.reduce((sum, size) => sum + size, 0) / 2;
  let [sum, n] = [0, 0];
  while (sum < half) sum += sizes.at(-(n += 1));
  return n;
};

const percent = (share) =>
  (share > 0 && share < 0.005 ? "< 1\u00a0%" : `${Math.round(100 * share)}\u00a0%`).replace("-", "−");
const path = (attributes) => svg("path", { fill: "none", stroke: "currentColor", ...attributes });

/* The drawing of T steps; own: it shows a reader's layer. move(t) puts the symbol at step t. */
const chart = (words, T, own, move) => {
  let now = null; // what is drawn
  const wide = (RIGHT - LEFT) / T;
  const bars = own ? 20 : BARS;
  const tall = own ? UNDER - bars : (UNDER - bars) / 2 - 5;
  const small = { "font-size": 10.5 };
  const [start, end] = ["start", "end"].map((anchor) => ({ ...small, "text-anchor": anchor }));
  const [places, rows] = [svg("g"), svg("g")];
  const edge = path({ "stroke-width": 1.5, "stroke-dasharray": "4 3" });
  const curves = COLOURS.map((stroke) => path({ stroke, "stroke-width": 2.2, "stroke-linejoin": "round" }));
  const stepAt = (x) => Math.ceil((x - LEFT) / wide);
  const middle = (t) => LEFT + (t - 0.5) * wide;
  const height = (length) => Math.min(TOP - (HIGH * Math.log10(length)) / DECADES, 9999);
  const rect = (x, y, width, height, attributes) => svg("rect", { x, y, width, height, ...attributes });
  const colours = { symbol: ORANGE, question: GREEN, noise: "currentColor" };
  const styleOf = (kind) => ({ rx: 2, fill: colours[kind], "fill-opacity": kind === "noise" ? 0.15 : null });
  const kindOf = (t) => ({ [now.target]: "symbol", [T]: "question" })[t] ?? "noise";
  const press = ({ buttons, clientX }) => {
    const { left, width } = element.getBoundingClientRect();
    if (buttons) move(Math.max(1, Math.min(T - 1, stepAt(((clientX - left) / width) * 360))));
  };
  const touched = { fill: "none", "pointer-events": "all", cursor: "pointer", style: "touch-action: pan-y" };
  const sequenceRow = [
    Object.keys(colours).map((kind, k) => [
      rect(LEFT + 100 * k, 0, 10, 14, styleOf(kind)),
      label(LEFT + 15 + 100 * k, 7, words[`place_${kind}`], start),
    ]),
    label(22, 29, "x_t"),
    places,
    rect(LEFT, 18, RIGHT - LEFT, 24, { ...touched, onpointerdown: press, onpointermove: press }),
  ];
  const tick = (text, k) => [
    path({ d: `M${LEFT} ${TOP + (k * HIGH) / 2}H${RIGHT}`, opacity: 0.2 }),
    label(LEFT - 5, TOP + (k * HIGH) / 2, text, end),
  ];
  const numbered = new Set([0, 0.25, 0.5, 0.75, 1].map((part) => Math.round(part * T) || 1));
  const element = drawing(
    words,
    360,
    BOTTOM + 20,
    own ? null : sequenceRow,
    label(LEFT, bars - 9, words.share, start),
    rows,
    label(LEFT, TOP - 13, words.length, start),
    ["1", "10⁻³", "10⁻⁶"].map(tick),
    // an <svg> in a drawing cuts the lines where they leave the axis
    svg("svg", { y: TOP - 8, width: 360, height: HIGH + 8, viewBox: `0 ${TOP - 8} 360 ${HIGH + 8}` }, curves),
    edge,
    [...numbered].map((t) => label(middle(t), BOTTOM + 12, `${t}`, small)),
    label(20, BOTTOM + 12, `${words.step} t`, small),
  );
  const rowOf = ({ shares, kind }, k) => {
    const top = bars + k * (tall + 10);
    const [low, high] = [Math.min(0, ...shares), Math.max(...shares)];
    const y = (share) => top + (tall * (high - share)) / (high - low);
    const bar = (share, t) => {
      const [size, opacity] = [Math.max(Math.abs(y(share) - y(0)), 0.5), t >= T - now.window ? null : 0.25];
      const [left, upper] = [(LEFT + (t + 0.12) * wide).toFixed(1), Math.min(y(0), y(share)).toFixed(1)];
      return rect(left, upper, (0.76 * wide).toFixed(1), size.toFixed(1), {
        fill: COLOURS[k],
        "fill-opacity": opacity,
      });
    };
    return [
      label(22, top + tall / 2 + 5, kind, { "font-size": 12.5, fill: COLOURS[k] }),
      ...shares.map(bar).slice(T - now.shown),
      path({ d: `M${LEFT} ${y(0).toFixed(1)}H${RIGHT}`, opacity: 0.4 }),
      label(LEFT - 6, top + 3, percent(high), end),
      path({ d: `M${LEFT - 4} ${top}h4V${y(0).toFixed(1)}`, opacity: 0.4 }),
    ];
  };
  const valueAt = (x, y) => {
    const [t, { results, shown }] = [stepAt(x), now];
    if (t < 1 || t > T) return null;
    if (y < bars - 14) return own ? null : `x_{${t}} = ${words[`place_${kindOf(t)}`]}`;
    if (t <= T - shown) return null;
    const distance = ({ lengths, unit }) => Math.abs(Math.min(height(lengths[t - 1] / unit), BOTTOM) - y);
    const nearest = results.reduce((one, other) => (distance(other) < distance(one) ? other : one));
    const row = results[y < bars + tall + 5 ? 0 : results.length - 1];
    const [name, length] = [`‖∂L/∂x_{${t}}‖`, nearest.lengths[t - 1]];
    if (y < TOP - 22) return `${row.kind}, t = ${t}: ${brief(100 * row.shares[t - 1], 4)} %`;
    if (own) return `${name} = ${brief(length, 4)}`;
    return `${nearest.kind}, ${name} / ‖∂L/∂x_{${T}}‖ = ${brief(length / nearest.unit, 4)}`;
  };
  return {
    element: pointed(element, valueAt),
    /* results: of each network; target: the symbol's step; window; shown: the number of last steps that are drawn */
    set(drawn) {
      now = drawn;
      const { results, window, shown } = drawn;
      const steps = Array.from({ length: T }, (_, k) => k + 1);
      const squareAt = (t) => rect((middle(t) - wide / 2 + 1.5).toFixed(1), 22, wide - 3, 14, styleOf(kindOf(t)));
      if (!own) setContent(places, ...steps.map(squareAt));
      setContent(rows, ...results.flatMap(rowOf));
      results.forEach(({ lengths, unit }, k) => {
        const points = steps.map((t) => `${middle(t).toFixed(1)} ${height(lengths[t - 1] / unit).toFixed(1)}`);
        change(curves[k], { d: `M${points.slice(T - shown).join("L")}` });
      });
      const x = (middle(T - window) + wide / 2).toFixed(1);
      change(edge, { d: window < T ? `M${x} ${bars - 4}V${UNDER}` : null });
    },
  };
};

const render = ({ model, el }) => {
  const [words, own] = [model.get("words"), model.get("own").shares ? model.get("own") : null];
  const T = own ? own.shares.length : STEPS;
  const set = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  const picture = chart(words, T, own, (t) => set("gap", T - t));
  const sentence = report();
  const traits = ["gap", "scale", "bias", "window", "shown", "seed"];

  const draw = () => {
    const settings = Object.fromEntries(traits.map((name) => [name, model.get(name)]));
    const { gap, window, shown } = settings;
    // lengths are drawn relative to the last one, or in a reader's layer to the longest
    const results = (own ? [{ ...own, lost: own.lost[window - 1] }] : compute(settings)).map((result) => ({
      ...result,
      unit: own ? Math.max(...result.lengths) || 1 : result.lengths.at(-1),
    }));
    picture.set({ results, target: own ? null : T - gap, window, shown });
    const sentences = results.map(({ name, shares, lost }) => {
      const n = shown < T ? shown : stepsOfHalf(shares);
      const near = n === 1 ? words.steps_1 : fill(words.steps, { n });
      const part = percent(shown < T ? shares.slice(T - shown).reduce((sum, share) => sum + share) : lost);
      return fill(words[shown < T ? "so_far" : window < T ? "lost" : "half"], { name, near, window, part });
    });
    const [rnn, lstm] = results.map(({ lengths, unit }) => percent(lengths[T - gap - 1] / unit));
    if (!own && shown === T) sentences.push(fill(words.arrives, { rnn, lstm }));
    sentence.set(sentences.join(words.between));
  };

  const anew = button(words.anew, () => set("seed", (model.get("seed") + 1) % 100));
  const control = (name, label, min, max, step) =>
    slider(model, name, { label, min, max, step, show: (value) => fixed(value, step < 1 ? 1 : 0) });
  const play = html("div", { class: "strip" }, player(model, "shown", { min: 1, max: T, words, pause: 200 }));
  const ofBars = group(words.for_bars, control("window", words.window, 1, T, 1));
  const ofNetworks = [
    group(
      words.for_all,
      control("gap", words.gap, 1, STEPS - 1, 1),
      control("scale", [words.scale, " ", symbol("W_{hh}"), " ×"], 0.2, 3, 0.1),
      html("div", { class: "strip" }, anew),
    ),
    group(words.for_lstm, control("bias", [words.bias, " ", symbol("b_f")], 0, 5, 0.5)),
  ];
  const parts = { drawing: [picture.element, sentence.element], controls: [play, own ? null : ofNetworks, ofBars] };
  return show(model, el, parts, traits, draw);
};

export default { render };
