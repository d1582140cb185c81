/* Figure: backpropagation through time in an RNN and an LSTM, or in a reader's layer. It shows ‖∂L/∂x_t‖,
 * and each step's share of ∂L/∂W_hh. */
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
  html,
  label,
  setContent,
  svg,
  symbol,
  pointIn,
} from "./elements.js";
import { button, group, player, setterOf, slider } from "./controls.js";
import { pointed } from "./pointer.js";
import { report, show } from "./show.js";

const [STEPS, SYMBOLS, HIDDEN_SIZE] = [24, 4, 8]; // as in shares.py
const SIZES = { vocab_size: 2 * SYMBOLS + 1, embedding_dim: 4, hidden_size: HIDDEN_SIZE, num_outputs: SYMBOLS };
const COLOURS = [BLUE, PURPLE];
const [LEFT, RIGHT] = [46, 353]; // ends of the steps
const [HIGH, DECADES] = [100, 8]; // axis of the lengths, from the last one down to 10⁻⁸ of it
const UNDER = 262; // bottom of the bars

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

const percent = (share) =>
  (share > 0 && share < 0.005 ? "< 1\u00a0%" : `${Math.round(100 * share)}\u00a0%`).replace("-", "−");
const path = (attributes) => svg("path", { fill: "none", stroke: "currentColor", ...attributes });

/* The drawing of T steps; own: the results of a reader's layer, or null. move(t) puts the symbol at step t. */
const chart = (words, T, own, move) => {
  const kinds = own ? [own.kind] : ["RNN", "LSTM"];
  let now = null; // what is drawn
  const [wide, top] = [(RIGHT - LEFT) / T, own ? 33 : 70]; // width of a step, top of the axis of the lengths
  const [bottom, bars] = [top + HIGH, top + HIGH + 34]; // of this axis, and top of the bars
  const small = { "font-size": 10.5 };
  const [start, end] = ["start", "end"].map((anchor) => ({ ...small, "text-anchor": anchor }));
  const [places, rows, arrived] = [svg("g"), svg("g"), svg("g")];
  const edge = path({ "stroke-width": 1.5, "stroke-dasharray": "4 3" });
  const curves = COLOURS.map((stroke) => path({ stroke, "stroke-width": 2.2, "stroke-linejoin": "round" }));
  const stepAt = (x) => Math.ceil((x - LEFT) / wide);
  const middle = (t) => LEFT + (t - 0.5) * wide;
  const height = (length) => Math.min(top - (HIGH * Math.log10(length)) / DECADES, 9999);
  const rect = (x, y, width, height, attributes) => svg("rect", { x, y, width, height, ...attributes });
  const colours = { symbol: ORANGE, question: GREEN, noise: "currentColor" };
  const styleOf = (kind) => ({ rx: 2, fill: colours[kind], "fill-opacity": kind === "noise" ? 0.15 : null });
  const kindOf = (t) => ({ [now.target]: "symbol", [T]: "question" })[t] ?? "noise";
  const press = (event) => event.buttons && move(Math.max(1, Math.min(T - 1, stepAt(pointIn(element, event)[0]))));
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
    path({ d: `M${LEFT} ${top + (k * HIGH) / 4}H${RIGHT}`, opacity: text === "1 %" ? 0.55 : 0.2 }),
    label(LEFT - 5, top + (k * HIGH) / 4, text, end),
  ];
  const title = (y, text) => [
    label(LEFT, y, text, start),
    kinds.map((kind, k) =>
      label(RIGHT - 42 * (kinds.length - 1 - k), y, kind, { ...end, fill: COLOURS[k], "font-weight": 700 }),
    ),
  ];
  const numbered = new Set([0, 0.25, 0.5, 0.75, 1].map((part) => Math.round(part * T) || 1));
  const element = drawing(
    words,
    360,
    UNDER + 22,
    own ? null : sequenceRow,
    title(top - 15, words.length),
    ["100 %", "1 %", "10⁻⁴", "10⁻⁶", "10⁻⁸"].map(tick),
    // an <svg> in a drawing cuts the lines where they leave the axis
    svg("svg", { y: top - 8, width: 360, height: HIGH + 8, viewBox: `0 ${top - 8} 360 ${HIGH + 8}` }, curves),
    arrived,
    title(bars - 14, words.share),
    rows,
    edge,
    [...numbered].map((t) => label(middle(t), UNDER + 12, `${t}`, small)),
    label(20, UNDER + 12, `${words.step} t`, small),
  );
  /* The bars of all networks, side by side on one axis. */
  const barsOf = ({ results, window, shown }) => {
    const all = results.flatMap(({ shares }) => shares);
    const [low, high] = [Math.min(0, ...all), Math.max(...all)];
    const y = (share) => bars + ((UNDER - bars) * (high - share)) / (high - low);
    const width = (0.76 * wide) / results.length;
    const bar = (share, t, k) => {
      const [size, opacity] = [Math.max(Math.abs(y(share) - y(0)), 0.5), t >= T - window ? null : 0.25];
      const [left, upper] = [LEFT + (t + 0.12) * wide + k * width, Math.min(y(0), y(share))];
      return rect(left.toFixed(1), upper.toFixed(1), width.toFixed(1), size.toFixed(1), {
        fill: COLOURS[k],
        "fill-opacity": opacity,
      });
    };
    return [
      ...results.flatMap(({ shares }, k) => shares.map((share, t) => bar(share, t, k)).slice(T - shown)),
      path({ d: `M${LEFT - 4} ${bars}h4V${UNDER}M${LEFT} ${y(0).toFixed(1)}H${RIGHT}`, opacity: 0.4 }),
      label(LEFT - 6, bars + 3, percent(high), end),
      label(LEFT - 6, y(0), percent(0), end),
    ];
  };
  /* How much of the length arrives at the symbol: a point on each line, and two numbers, where the lines leave room. */
  const arrivals = ({ results, target, shown }) => {
    const [x, late] = [middle(target), target > T - 7];
    const points = results.map(({ kind, lengths, unit }, k) => {
      const part = lengths[target - 1] / unit;
      return { k, y: Math.min(height(part), bottom), text: `${kind} ${percent(part)}` };
    });
    const [upper, lower] = points.sort((one, other) => one.y - other.y).map(({ y }) => Math.min(y, bottom - 34));
    const far = lower - upper > 30;
    const heights = late ? [bottom - 20, bottom - 8] : far ? [upper + 18, lower + 12] : [lower + 14, lower + 26];
    const numberAt = ({ k, text }, row) => {
      const left = late || (far && row === 0 && target > 6);
      const style = { "font-size": 11.5, "font-weight": 700, "text-anchor": left ? "end" : "start", fill: COLOURS[k] };
      return label(x + (left ? -6 : 6), heights[row], text, style);
    };
    const dot = ({ k, y }) => svg("circle", { cx: x, cy: y, r: 3.5, fill: COLOURS[k] });
    return [
      path({ d: `M${x} 38V${bottom}`, stroke: ORANGE, "stroke-dasharray": "2 3" }),
      ...(target <= T - shown ? [] : points.flatMap((point, row) => [dot(point), numberAt(point, row)])),
    ];
  };
  const valueAt = (x, y) => {
    const [t, { results, shown }] = [stepAt(x), now];
    if (t < 1 || t > T) return null;
    if (!own && y < top - 22) return `x_{${t}} = ${words[`place_${kindOf(t)}`]}`;
    if (t <= T - shown) return null;
    const shares = results.map(({ kind, shares }) => `${kind} ${brief(100 * shares[t - 1], 4)} %`);
    if (y > bottom + 10) return `t = ${t}: ${shares.join(words.comma)}`;
    const distance = ({ lengths, unit }) => Math.abs(Math.min(height(lengths[t - 1] / unit), bottom) - y);
    const nearest = results.reduce((one, other) => (distance(other) < distance(one) ? other : one));
    const [name, length] = [`‖∂L/∂x_{${t}}‖`, nearest.lengths[t - 1]];
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
      if (!own) setContent(arrived, ...arrivals(drawn));
      setContent(rows, ...barsOf(drawn));
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
  const set = setterOf(model);
  const picture = chart(words, T, own, (t) => set({ gap: T - t }));
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
    const [ended, cut] = [shown === T, shown === T && window < T];
    const near = ended || shown === 1 ? words.steps_1 : fill(words.steps, { n: shown });
    const through = ({ shares }) => percent(shares.slice(ended ? -1 : -shown).reduce((sum, share) => sum + share));
    const arriving = ({ lengths, unit }) => percent(lengths[T - gap - 1] / unit);
    const both = (sentence, [rnn, lstm]) => fill(sentence, { rnn, lstm });
    const each = (result) => ({ ...result, near, window, part: cut ? percent(result.lost) : through(result) });
    const sentences = results.map((result) => fill(words[cut ? "lost" : "so_far"], each(result)));
    if (ended && !cut && !own) sentences.splice(0, 2, both(words.last, results.map(through)));
    if (ended && !own) sentences.push(both(words.arrives, results.map(arriving)));
    sentence.set(sentences.join(words.between));
  };

  const anew = button(words.anew, () => set({ seed: (model.get("seed") + 1) % 100 }));
  const control = (name, label, min, max, step) => slider(model, name, { label, min, max, step });
  const play = html("div", { class: "strip" }, player(model, "shown", { min: 1, max: T, words, pause: 200 }));
  const note = html("p", { class: "note" }, words.sum);
  const ofBars = group(words.for_bars, control("window", words.window, 1, T, 1), note);
  const ofNetworks = [
    group(
      words.for_all,
      control("gap", words.gap, 1, STEPS - 1, 1),
      control("scale", [words.scale, " ", symbol("W_{hh}"), " ×"], 0.2, 3, 0.1),
      html("div", { class: "strip" }, anew),
    ),
    group(words.for_lstm, control("bias", [words.bias, " ", symbol("b_f")], 0, 5, 0.5)),
  ];
  const parts = {
    drawing: [picture.element, sentence.element],
    controls: [play, own ? null : ofNetworks, ofBars],
  };
  return show(model, el, parts, traits, draw);
};

export default { render };
