/* Figure: two networks learn a recall task on the same data. It shows their losses, and their gates for one sequence. */
import LEARNER from "./learner.js" with { type: "text" };
import {
  BLUE,
  ORANGE,
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
import { button, choice, slider, reducedMotion, whenUnseen } from "./controls.js";
import { report, show } from "./show.js";

const COLOURS = [BLUE, ORANGE];
const [LEFT, RIGHT, TOP, BOTTOM] = [34, 352, 14, 126]; // the axes of the loss
const [UNIT, HIGH, APART] = [16, 5, 186]; // number of units, height of a unit's row, distance between the networks
const [FRAME, AT_ONCE, SHOWN] = [12, 100, 20]; // milliseconds a picture; steps at once with reduced motion; batches of a mean
const SYMBOLS = 4;

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/* The end of the axis: the first of 200, 500, 1000, 2000 … that is at least `steps`. */
const endOf = (steps) => {
  for (let power = 100; ; power *= 10) for (const first of [2, 5, 10]) if (first * power >= steps) return first * power;
};

/* A curve over `steps` of at most 160 points, each the mean of the losses around it. */
const curveOf = (losses, steps, end, most) => {
  const size = Math.max(1, Math.ceil(losses.length / 160));
  const points = [];
  for (let k = 0; k < losses.length; k += size) {
    const part = losses.slice(k, k + size);
    const x = LEFT + ((((k + part.length / 2) / losses.length) * steps) / end) * (RIGHT - LEFT);
    points.push(`${x.toFixed(1)} ${(BOTTOM - (Math.min(mean(part), most) / most) * (BOTTOM - TOP)).toFixed(1)}`);
  }
  return points.length ? `M${points.join("L")}` : "";
};

const axes = () => {
  const [ends, most] = [label(RIGHT, BOTTOM + 12, " ", { "font-size": 11, "text-anchor": "end" }), 2];
  const guessed = svg("path", { stroke: "currentColor", "stroke-opacity": 0.5, "stroke-dasharray": "4 3" });
  const chance = label(RIGHT, 0, " ", { "font-size": 11, "text-anchor": "end" });
  const curves = COLOURS.map((stroke) =>
    svg("path", { fill: "none", stroke, "stroke-width": 2, "stroke-linejoin": "round" }),
  );
  const ticks = [0, 1, 2].map((value) =>
    label(LEFT - 8, BOTTOM - (value / most) * (BOTTOM - TOP), `${value}`, { "font-size": 11 }),
  );
  return {
    element: svg(
      "g",
      {},
      svg("path", {
        d: `M${LEFT} ${TOP}V${BOTTOM}H${RIGHT}`,
        stroke: "currentColor",
        "stroke-opacity": 0.4,
        fill: "none",
      }),
      guessed,
      chance,
      curves,
      ends,
      ticks,
      label(14, TOP - 6, "L"),
      label(LEFT, BOTTOM + 12, "0", { "font-size": 11 }),
    ),
    set(losses, steps, answers) {
      const [end, y] = [endOf(steps), BOTTOM - (Math.log(answers) / most) * (BOTTOM - TOP)];
      setContent(ends, `${end}`);
      setContent(chance, `log ${answers}`);
      change(chance, { y: y - 8 });
      change(guessed, { d: `M${LEFT} ${y}H${RIGHT}` });
      curves.forEach((curve, k) => change(curve, { d: curveOf(losses[k], steps, end, most) }));
    },
  };
};

/* The gate values of a network: a row for each unit, a column for each step. */
const memory = (k) => {
  const [x, y, wide] = [8 + k * APART, 168, 160];
  const squares = mosaic(x, y, 4, HIGH);
  const [name, last] = [
    label(x, y - 10, " ", { "font-size": 12, "text-anchor": "start", fill: COLOURS[k] }),
    label(x + wide, y + UNIT * HIGH + 10, " ", { "font-size": 11 }),
  ];
  return {
    element: svg(
      "g",
      {},
      squares.element,
      svg("rect", { x, y, width: wide, height: UNIT * HIGH, fill: "none", stroke: COLOURS[k], "stroke-width": 1.5 }),
      name,
      last,
      label(x + 2, y + UNIT * HIGH + 10, "1", { "font-size": 11 }),
    ),
    set(columns, kind) {
      setContent(name, ...label(0, 0, { RNN: "h_t", GRU: "z_t", LSTM: "f_t" }[kind]).childNodes);
      setContent(last, columns.length ? `${columns.length}` : " ");
      squares.set(columns, 1, wide / Math.max(columns.length, 1));
    },
  };
};

const TRAITS = ["kind", "gap", "learning_rate", "start", "bias", "seed", "examples"];

const render = ({ model, el }) => {
  const words = model.get("words");
  let worker = null; // made when it is first needed
  let [run, busy, playing, losses, right, memories, weights] = [0, false, false, [[], []], [[], []], null, null];
  let finished = model.get("ended"); // a stored run, shown until the reader starts
  const [loss, kept, sentence] = [axes(), [memory(0), memory(1)], report()];
  const element = drawing(
    words,
    360,
    264,
    loss.element,
    kept.map((gates) => gates.element),
  );

  const set = (values) => {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
  };
  /* Send the results to Python when the learning pauses. */
  const share = () =>
    weights &&
    set({
      steps: losses[0].length,
      losses: losses.map((values) => [...values]),
      weights: weights.map((values) => [...values]),
      memories,
    });

  const request = (until, milliseconds, settings) => {
    if (!worker) {
      worker = new Worker(URL.createObjectURL(new Blob([LEARNER], { type: "text/javascript" })));
      worker.onmessage = arrived;
    }
    busy = true;
    worker.postMessage({ run, settings, until, milliseconds, learning_rate: model.get("learning_rate") });
  };
  /* Continue up to the goal that Python has set, or without end. */
  const goOn = () => {
    if (busy || !playing) return;
    const [steps, goal] = [losses[0].length, model.get("goal")];
    if (goal && steps >= goal) return pause();
    request(
      reducedMotion() ? Math.min(goal || Infinity, steps + AT_ONCE) : goal || Infinity,
      reducedMotion() ? Infinity : FRAME,
    );
    if (reducedMotion() && !goal) playing = false;
  };
  const pause = () => {
    playing = false;
    setContent(play, words.play);
    if (!busy) share();
  };
  const start = () => {
    if (finished.steps) restart();
    playing = true;
    setContent(play, reducedMotion() ? words.play : words.pause);
    goOn();
  };
  const restart = () => {
    run += 1;
    finished = {};
    pause();
    [losses, right, memories, weights] = [[[], []], [[], []], null, null];
    draw();
    const settings = Object.fromEntries([...TRAITS, "symbols"].map((name) => [name, model.get(name)]));
    request(0, 0, { ...settings, weights: model.get("begin_with").length ? model.get("begin_with") : null });
  };
  const play = button(words.play, () => (playing ? pause() : start()), { class: "play" });
  const arrived = ({ data }) => {
    if (data.run !== run) return;
    busy = false;
    data.losses.forEach((values, k) => losses[k].push(...values));
    data.right.forEach((values, k) => right[k].push(...values));
    [memories, weights] = [data.memories, data.weights];
    if (playing) {
      goOn(); // the worker continues while this is drawn
      drawSoon();
    } else {
      draw();
      pause();
    }
  };

  let planned = false;
  const drawSoon = () => {
    if (planned) return;
    planned = true;
    requestAnimationFrame(() => {
      planned = false;
      draw();
    });
  };
  const percent = (share) => `${Math.round(100 * share)}\u00a0%`;
  const draw = () => {
    const [kind, start, examples] = ["kind", "start", "examples"].map((name) => model.get(name));
    const answers = examples.length ? Math.max(...examples.map(([, target]) => target)) + 1 : SYMBOLS;
    const current = finished.steps
      ? finished
      : { losses, memories, steps: losses[0].length, right: right.map((values) => mean(values.slice(-SHOWN))) };
    const steps = current.steps;
    loss.set(current.losses, steps, answers);
    kept.forEach((gates, k) => gates.set(current.memories?.[k] ?? [], kind));
    const other = words[kind === "RNN" ? "with_identity" : start === "chrono" ? "with_chrono" : "with_bias"];
    const begun = fill(other, { bias: fixed(model.get("bias"), 1) });
    const gate =
      kind === "RNN" || !current.memories
        ? ""
        : words.between +
          fill(words.gates, {
            of: kind === "LSTM" ? "f" : "z",
            before: fixed(mean(current.memories[0].flat())),
            after: fixed(mean(current.memories[1].flat())),
          });
    sentence.set(
      steps
        ? fill(words.said, {
            steps,
            torch: percent(current.right[0]),
            begun,
            other: percent(current.right[1]),
            chance: percent(1 / answers),
          }) +
            gate +
            (finished.steps ? words.between + words.press : "")
        : words.ready,
    );
    change(bias, { hidden: kind === "RNN" || start !== "bias" });
    change(starts, { hidden: kind === "RNN" });
  };

  const options = (names) => names.map((name) => [name, words[`start_${name}`]]);
  const bias = slider(model, "bias", {
    label: [`${words.bias} `, symbol("b")],
    min: 0,
    max: 6,
    step: 0.5,
    show: (value) => fixed(value, 1),
  });
  const starts = choice(model, "start", { label: words.start, options: options(["chrono", "bias"]) });
  const parts = [
    html(
      "div",
      { class: "strip" },
      play,
      button(words.anew, restart),
      button(words.other_data, () => set({ seed: (model.get("seed") + 1) % 100 })),
    ),
    element,
    sentence.element,
    html(
      "div",
      { class: "controls" },
      choice(model, "kind", { label: words.kind, options: ["RNN", "GRU", "LSTM"].map((kind) => [kind, kind]) }),
      slider(model, "gap", { label: words.gap, min: 1, max: 60, step: 1, show: (gap) => `${gap}` }),
      choice(model, "learning_rate", {
        label: words.learning_rate,
        options: [0.001, 0.003, 0.01, 0.03].map((rate) => [rate, `${rate}`]),
      }),
      starts,
      bias,
    ),
  ];
  const restartTraits = [...TRAITS.filter((name) => name !== "learning_rate"), "begin_with"];
  const goal = () => (model.get("goal") > losses[0].length ? start() : pause());
  for (const name of restartTraits) model.on(`change:${name}`, restart);
  model.on("change:goal", goal);
  const remove = show(model, el, parts, ["learning_rate"], draw);
  const unwatch = whenUnseen(element, pause);
  if (!finished.steps) restart();
  return () => {
    for (const name of restartTraits) model.off(`change:${name}`, restart);
    model.off("change:goal", goal);
    unwatch();
    worker?.terminate();
    remove();
  };
};

export default { render };
