/* Backward through time in an RNN and an LSTM: each step's share of the gradient, and what arrives at each input. */
import { begin, remember, sharesOf } from "./networks.js";
import { uniform } from "./numbers.js";
import { BLUE, GREEN, ORANGE, PURPLE, change, drawing, fill, fixed, html, label, say, svg, symbol } from "./kit.js";
import { button, slider } from "./controls.js";
import { report, show } from "./show.js";

const [STEPS, SYMBOLS, HIDDEN_SIZE] = [24, 4, 8]; // as in shares.py
const SIZES = { vocab_size: 2 * SYMBOLS + 1, embedding_dim: 4, hidden_size: HIDDEN_SIZE, num_outputs: SYMBOLS };
const KINDS = ["RNN", "LSTM"];
const COLOURS = [BLUE, PURPLE];
const [LEFT, WIDE] = [46, 12.8]; // where the steps begin, and how wide one is
const RIGHT = LEFT + STEPS * WIDE;
const middle = (t) => LEFT + (t - 0.5) * WIDE;
const [TALL, TOPS] = [62, [36, 116]]; // of the bars of each network
const [TOP, HIGH, DECADES] = [212, 72, 6]; // of the lengths: from 1 down to 1e-6 of the last one

/* What both read: noise, the symbol that counts, noise, the question. */
const sequence = (seed, gap) =>
  Array.from({ length: STEPS }, (_, t) => {
    const drawn = Math.floor(SYMBOLS * uniform(seed, 1000 + t));
    return t === STEPS - 1 - gap ? drawn : t === STEPS - 1 ? 2 * SYMBOLS : SYMBOLS + drawn;
  });

const modelOfKind = (kind, { seed, scale, bias }) => {
  const model = begin(kind, SIZES, seed);
  const weight_hh = model.w["recurrent.weight_hh_l0"];
  weight_hh.forEach((value, k) => (weight_hh[k] = scale * value));
  if (kind === "LSTM") remember(model, Array(HIDDEN_SIZE).fill(bias), false);
  return model;
};

/* How many of the last steps have half of all shares, whichever way they pull. */
const nearOf = (shares) => {
  const sizes = shares.map(Math.abs);
  const half = sizes.reduce((sum, size) => sum + size, 0) / 2;
  let [sum, n] = [0, 0];
  while (sum < half) sum += sizes[STEPS - (n += 1)];
  return n;
};

/* Bars of the shares: the axis ends at the largest of them. */
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
      say(
        ends,
        label(20, top + TALL / 2 + 10, `${Math.round(100 * high)} %`, { "font-size": 11 }),
        svg("path", {
          d: `M${LEFT - 4} ${top}h4V${y(0).toFixed(1)}`,
          stroke: "currentColor",
          "stroke-opacity": 0.4,
          fill: "none",
        }),
      );
      say(
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
        change(curves[k], { d: `M${y.map((one, t) => `${middle(t + 1).toFixed(1)} ${one.toFixed(1)}`).join("L")}` });
      });
    },
  };
};

const percent = (share) => (share > 0 && share < 0.005 ? "< 1\u00a0%" : `${Math.round(100 * share)}\u00a0%`);

const render = ({ model, el }) => {
  const words = model.get("words");
  const [places, marks, said, lengths] = [
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
    bars.map((one) => one.element),
    lengths.element,
    marks,
    [1, 6, 12, 18, 24].map((t) => label(middle(t), bottom + 12, `${t}`, { "font-size": 11 })),
    label(20, bottom + 12, "t"),
  );

  const draw = () => {
    const now = Object.fromEntries(["gap", "scale", "bias", "window", "seed"].map((name) => [name, model.get(name)]));
    const indices = sequence(now.seed, now.gap);
    const asked = STEPS - now.gap; // the step of the symbol
    const found = KINDS.map((kind) => sharesOf(modelOfKind(kind, now), indices, indices[asked - 1], now.window));
    say(
      places,
      ...indices.map((_, t) => {
        const colour = { [asked]: ORANGE, [STEPS]: GREEN }[t + 1];
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
    found.forEach(({ shares }, k) => bars[k].set(shares, now.window));
    lengths.set(found.map((one) => one.lengths));
    const edge = (LEFT + (STEPS - now.window) * WIDE).toFixed(1);
    change(marks, { d: now.window < STEPS ? `M${edge} 2V${bottom}` : null });
    const sentences = found.map(({ shares, lengths }, k) => {
      const n = nearOf(shares);
      return fill(words.said, {
        kind: KINDS[k],
        near: n === 1 ? words.steps_1 : fill(words.steps, { n }),
        arrives: percent(lengths[asked - 1] / lengths[STEPS - 1]),
      });
    });
    const [rnn, lstm] = found.map(({ lost }) => percent(lost));
    said.set(
      [...sentences, ...(now.window < STEPS ? [fill(words.lost, { window: now.window, rnn, lstm })] : [])].join(
        words.between,
      ),
    );
  };

  const anew = () => {
    model.set("seed", (model.get("seed") + 1) % 100);
    model.save_changes();
  };
  const whole = (n) => `${n}`;
  const parts = [
    element,
    said.element,
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
    html("div", { class: "strip" }, button(words.anew, anew)),
  ];
  return show(model, el, parts, ["gap", "scale", "bias", "window", "seed"], draw);
};

export default { render };
