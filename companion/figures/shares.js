/* Figure: backpropagation through time in an RNN and an LSTM. It shows each step's share of ∂L/∂W_hh, and ‖∂L/∂x_t‖. */
import { initialModel, setMemoryBiases, gradientShares } from "./training.js";
import { uniform } from "./numbers.js";
import {
  BLUE,
  GREEN,
  ORANGE,
  PURPLE,
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
import { button, slider } from "./controls.js";
import { report, show } from "./show.js";

const [STEPS, SYMBOLS, HIDDEN_SIZE] = [24, 4, 8]; // as in shares.py
const SIZES = { vocab_size: 2 * SYMBOLS + 1, embedding_dim: 4, hidden_size: HIDDEN_SIZE, num_outputs: SYMBOLS };
const KINDS = ["RNN", "LSTM"];
const COLOURS = [BLUE, PURPLE];
const [LEFT, WIDE] = [46, 12.8]; // left edge of the steps, width of a step
const RIGHT = LEFT + STEPS * WIDE;
const middle = (t) => LEFT + (t - 0.5) * WIDE;
const [TALL, TOPS] = [62, [36, 116]]; // height and top of each network's bars
const [TOP, HIGH, DECADES] = [212, 72, 6]; // axis of the lengths, from 1 down to 1e-6 of the last one

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

/* The number of last steps with half of the sum of all absolute shares. */
const stepsOfHalf = (shares) => {
  const sizes = shares.map(Math.abs);
  const half = sizes.reduce((sum, size) => sum + size, 0) / 2;
  let [sum, n] = [0, 0];
  while (sum < half) sum += sizes[STEPS - (n += 1)];
  return n;
};

/* Bars of the shares; the axis ends at the largest. */
const barsOf = (kind, colour, top) => {
  const [axis, bars, ends] = [
    svg("path", { stroke: "currentColor", "stroke-opacity": 0.4, fill: "none" }),
    svg("g"),
    svg("g"),
  ];
  return {
    element: svg("g", {}, label(20, top + TALL / 2 - 6, kind, { "font-size": 12, fill: colour }), bars, axis, ends),
    set(shares, window) {
      const [low, high] = [Math.min(0, ...shares), Math.max(...shares)];
      const y = (share) => top + (TALL * (high - share)) / (high - low);
      change(axis, { d: `M${LEFT} ${y(0).toFixed(1)}H${RIGHT}` });
      setContent(
        ends,
        label(20, top + TALL / 2 + 10, `${Math.round(100 * high)} %`, { "font-size": 11 }),
        svg("path", {
          d: `M${LEFT - 4} ${top}h4V${y(0).toFixed(1)}`,
          stroke: "currentColor",
          "stroke-opacity": 0.4,
          fill: "none",
        }),
      );
      setContent(
        bars,
        ...shares.map((share, t) =>
          svg("rect", {
            x: (LEFT + t * WIDE + 1.5).toFixed(1),
            width: WIDE - 3,
            y: Math.min(y(0), y(share)).toFixed(1),
            height: Math.max(Math.abs(y(share) - y(0)), 0.5).toFixed(1),
            fill: colour,
            "fill-opacity": t >= STEPS - window ? null : 0.25,
          }),
        ),
      );
    },
  };
};

const lengthsOf = () => {
  const curves = COLOURS.map((stroke) =>
    svg("path", { fill: "none", stroke, "stroke-width": 2.2, "stroke-linejoin": "round" }),
  );
  const ticks = [
    ["1", 0],
    ["10⁻³", 3],
    ["10⁻⁶", 6],
  ].map(([text, decade]) => {
    const y = TOP + (HIGH * decade) / DECADES;
    return [
      svg("path", { d: `M${LEFT} ${y}H${RIGHT}`, stroke: "currentColor", "stroke-opacity": 0.2 }),
      svg(
        "text",
        { x: LEFT - 5, y, "font-size": 10, fill: "currentColor", "text-anchor": "end", "dominant-baseline": "central" },
        text,
      ),
    ];
  });
  return {
    element: svg(
      "g",
      {},
      label(LEFT, TOP - 19, "‖∂L/∂x_t‖ / ‖∂L/∂x_T‖", { "text-anchor": "start", "font-size": 12 }),
      ticks,
      curves,
    ),
    set(all) {
      all.forEach((lengths, k) => {
        const y = lengths.map(
          (length) =>
            TOP + (HIGH * Math.max(-0.5, Math.min(DECADES, -Math.log10(length / lengths[STEPS - 1])))) / DECADES,
        );
        change(curves[k], { d: `M${y.map((y_t, t) => `${middle(t + 1).toFixed(1)} ${y_t.toFixed(1)}`).join("L")}` });
      });
    },
  };
};

const percent = (share) => (share > 0 && share < 0.005 ? "< 1\u00a0%" : `${Math.round(100 * share)}\u00a0%`);

const render = ({ model, el }) => {
  const words = model.get("words");
  const [places, marks, sentence, lengths] = [
    svg("g"),
    svg("path", { fill: "none", stroke: "currentColor", "stroke-width": 1.5, "stroke-dasharray": "4 3" }),
    report(),
    lengthsOf(),
  ];
  const bars = KINDS.map((kind, k) => barsOf(kind, COLOURS[k], TOPS[k]));
  const bottom = TOP + HIGH;
  const element = drawing(
    words,
    360,
    bottom + 22,
    label(20, 14, "x_t", { "font-size": 12 }),
    places,
    bars.map((chart) => chart.element),
    lengths.element,
    marks,
    [1, 6, 12, 18, 24].map((t) => label(middle(t), bottom + 12, `${t}`, { "font-size": 11 })),
    label(20, bottom + 12, "t"),
  );

  const draw = () => {
    const settings = Object.fromEntries(
      ["gap", "scale", "bias", "window", "seed"].map((name) => [name, model.get(name)]),
    );
    const indices = sequence(settings.seed, settings.gap);
    const targetStep = STEPS - settings.gap;
    const results = KINDS.map((kind) =>
      gradientShares(modelOfKind(kind, settings), indices, indices[targetStep - 1], settings.window),
    );
    setContent(
      places,
      ...indices.map((_, t) => {
        const colour = { [targetStep]: ORANGE, [STEPS]: GREEN }[t + 1];
        return svg("rect", {
          x: (LEFT + t * WIDE + 1.5).toFixed(1),
          y: 6,
          width: WIDE - 3,
          height: 16,
          rx: 2,
          fill: colour ?? "currentColor",
          "fill-opacity": colour ? null : 0.15,
        });
      }),
    );
    results.forEach(({ shares }, k) => bars[k].set(shares, settings.window));
    lengths.set(results.map((result) => result.lengths));
    const edge = (LEFT + (STEPS - settings.window) * WIDE).toFixed(1);
    change(marks, { d: settings.window < STEPS ? `M${edge} 2V${bottom}` : null });
    const sentences = results.map(({ shares, lengths }, k) => {
      const n = stepsOfHalf(shares);
      return fill(words.said, {
        kind: KINDS[k],
        near: n === 1 ? words.steps_1 : fill(words.steps, { n }),
        arrives: percent(lengths[targetStep - 1] / lengths[STEPS - 1]),
      });
    });
    const [rnn, lstm] = results.map(({ lost }) => percent(lost));
    sentence.set(
      [
        ...sentences,
        ...(settings.window < STEPS ? [fill(words.lost, { window: settings.window, rnn, lstm })] : []),
      ].join(words.between),
    );
  };

  const drawAgain = () => {
    model.set("seed", (model.get("seed") + 1) % 100);
    model.save_changes();
  };
  const whole = (n) => `${n}`;
  const parts = [
    element,
    sentence.element,
    html(
      "div",
      { class: "controls" },
      slider(model, "gap", { label: words.gap, min: 1, max: STEPS - 1, step: 1, show: whole }),
      slider(model, "scale", { label: words.scale, min: 0.2, max: 3, step: 0.1, show: (value) => fixed(value, 1) }),
      slider(model, "bias", {
        label: [words.bias, " ", symbol("b_f")],
        min: 0,
        max: 5,
        step: 0.5,
        show: (value) => fixed(value, 1),
      }),
      slider(model, "window", { label: words.window, min: 1, max: STEPS, step: 1, show: whole }),
    ),
    html("div", { class: "strip" }, button(words.anew, drawAgain)),
  ];
  return show(model, el, parts, ["gap", "scale", "bias", "window", "seed"], draw);
};

export default { render };
