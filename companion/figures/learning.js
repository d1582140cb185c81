/* Figure: two networks learn a recall task on the same data. It shows their losses, and their gates for one sequence. */
import LEARNER from "./learner.js" with { type: "text" };
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
  mosaic,
  setContent,
  svg,
  symbol,
} from "./elements.js";
import { button, choice, reducedMotion, setterOf, slider, whenUnseen } from "./controls.js";
import { pointed } from "./pointer.js";
import { report, show } from "./show.js";

const COLOURS = [BLUE, ORANGE];
const VALUES = [PURPLE, GREEN]; // of values in the maps below and above zero: blue and orange are the networks
const [LEFT, RIGHT, TOP, BOTTOM, MOST] = [24, 312, 18, 122, 2]; // the axes of the loss, and the end of the upright one
const [UNIT, HIGH, WIDE, APART, MAPS] = [16, 5, 166, 178, 184]; // units, a unit's row, a map, between maps, their top
const [FRAME, AT_ONCE, SHOWN] = [12, 100, 20]; // milliseconds a picture; steps at once with reduced motion; batches of a mean
const SYMBOLS = 4;
const GATES = { RNN: "h", GRU: "z", LSTM: "f" }; // the values in the maps
const SMALL = { "font-size": 11 };
const [START, END] = ["start", "end"].map((anchor) => ({ ...SMALL, "text-anchor": anchor }));

const copyOf = (lists) => lists.map((values) => [...values]);
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/* The end of the axis: the first of 300, 600, 1200 … that is at least `steps`. */
const endOf = (steps) => (steps > 300 ? 2 * endOf(steps / 2) : 300);

const height = (loss) => BOTTOM - (Math.min(loss, MOST) / MOST) * (BOTTOM - TOP);

/* A curve over `steps` of at most 160 points, each the mean of the losses around it. */
const curveOf = (losses, steps, end) => {
  const size = Math.max(1, Math.ceil(losses.length / 160));
  const points = [];
  for (let k = 0; k < losses.length; k += size) {
    const part = losses.slice(k, k + size);
    const x = LEFT + ((((k + part.length / 2) / losses.length) * steps) / end) * (RIGHT - LEFT);
    points.push(`${x.toFixed(1)} ${height(mean(part)).toFixed(1)}`);
  }
  return points.length ? `M${points.join("L")}` : "";
};

const percent = (share) => `${Math.round(100 * share)}\u00a0%`;

const axes = (words) => {
  const [ends, chance] = [label(RIGHT, BOTTOM + 11, " ", END), label(RIGHT, 0, " ", END)];
  const stroke = { fill: "none", stroke: "currentColor", "stroke-opacity": 0.5 };
  const guessed = svg("path", { ...stroke, "stroke-dasharray": "4 3" });
  const curves = COLOURS.map((colour) => svg("path", { fill: "none", stroke: colour, "stroke-width": 2 }));
  const ticks = [0, 1, 2].map((loss) => label(LEFT - 5, height(loss), `${loss}`, END));
  const frame = svg("path", { ...stroke, d: `M${LEFT} ${TOP}V${BOTTOM}H${RIGHT}` });
  const titles = [label(2, 6, words.loss, START), label((LEFT + RIGHT) / 2, BOTTOM + 11, words.training, SMALL)];
  const shares = COLOURS.map((fill) => label(358, 0, " ", { ...END, fill, "font-weight": 700 }));
  titles.push(label(358, 6, words.correct, END), label(LEFT, BOTTOM + 11, "0", SMALL));
  let shown = null;
  return {
    element: svg("g", {}, frame, guessed, chance, curves, shares, ends, ticks, titles),
    /* right: the shares of right answers, beside the ends of the curves. */
    set(losses, steps, answers, right) {
      shown = { losses, steps, end: endOf(steps) };
      const places = losses.map((values) => height(steps ? mean(values.slice(-5)) : 0));
      const [middle, apart] = [(places[0] + places[1]) / 2, places[0] > places[1] ? 7 : -7];
      const isTight = Math.abs(places[0] - places[1]) < 14;
      shares.forEach((share, k) => {
        setContent(share, steps ? percent(right[k]) : " ");
        change(share, { y: isTight ? middle + (k ? -apart : apart) : places[k] });
      });
      const y = height(Math.log(answers));
      setContent(ends, `${shown.end}`);
      setContent(chance, `${words.guessing}: ${percent(1 / answers)}`);
      change(chance, { y: y - 8 });
      change(guessed, { d: `M${LEFT} ${y}H${RIGHT}` });
      curves.forEach((curve, k) => change(curve, { d: curveOf(losses[k], steps, shown.end) }));
    },
    /* The losses at a step. */
    at(x, y) {
      const { losses, steps, end } = shown;
      const step = Math.ceil(((x - LEFT) / (RIGHT - LEFT)) * end);
      if (y > BOTTOM || step < 1 || step > steps) return null;
      const [blue, orange] = losses.map((values) => fixed(values[Math.floor(((step - 1) / steps) * values.length)], 3));
      return fill(words.at_step, { step, blue, orange });
    },
  };
};

/* The gate values of a network: a row for each unit, a column for each step. */
const memory = (words, k) => {
  const [left, bottom] = [8 + k * APART, MAPS + UNIT * HIGH];
  const [squares, colour] = [mosaic(left, MAPS, 4, HIGH, VALUES), COLOURS[k]];
  const name = label(left, MAPS - 9, " ", { ...START, fill: colour });
  const [first, last] = [label(left, bottom + 10, " ", START), label(left + WIDE, bottom + 10, " ", END)];
  const place = { x: left, y: MAPS, width: WIDE, height: UNIT * HIGH };
  const frame = svg("rect", { ...place, fill: "none", stroke: colour, "stroke-width": 1.5 });
  let shown = null;
  return {
    element: svg("g", {}, squares.element, frame, name, first, last),
    set(columns, kind, begun, isRecall) {
      shown = { columns, kind };
      setContent(name, ...label(0, 0, `━ ${begun}`).childNodes);
      setContent(first, isRecall ? `1: ${words.symbol}` : "1");
      setContent(last, isRecall && columns.length ? `${columns.length}: ${words.asked}` : `${columns.length || ""}`);
      squares.set(columns, 1, WIDE / Math.max(columns.length, 1));
    },
    /* The value of a unit at a time step. */
    at(x, y) {
      const t = Math.floor(((x - left) / WIDE) * shown.columns.length);
      const unit = Math.floor((y - MAPS) / HIGH);
      const value = shown.columns[t]?.[unit];
      return value === undefined
        ? null
        : `${GATES[shown.kind]}_{${t + 1}}, ${words.unit} ${unit + 1} = ${fixed(value, 4)}`;
    },
  };
};

/* The colours of the maps, from the lowest value to the highest one. */
const scale = (words) => {
  const y = MAPS + UNIT * HIGH + 22;
  const look = { y, width: 12, height: 9, stroke: "currentColor", "stroke-opacity": 0.3 };
  const cells = [0, 1, 2, 3, 4].map((k) => svg("rect", { ...look, x: 150 + 12 * k }));
  const [low, high] = [label(145, y + 5, " ", END), label(215, y + 5, " ", START)];
  return {
    element: svg("g", {}, cells, low, high),
    set(kind) {
      const values = [0, 1, 2, 3, 4].map((k) => (kind === "RNN" ? (k - 2) / 2 : k / 4));
      cells.forEach((cell, k) => change(cell, { fill: VALUES[+(values[k] > 0)], "fill-opacity": Math.abs(values[k]) }));
      setContent(low, kind === "RNN" ? "−1" : `${words.forgets} 0`);
      setContent(high, kind === "RNN" ? "1" : `1 ${words.keeps}`);
    },
  };
};

const STARTS = ["chrono", "bias"];
const TRAITS = ["kind", "gap", "learning_rate", "start", "bias", "seed", "examples"];

const render = ({ model, el }) => {
  const words = model.get("words");
  let worker = null; // made when it is first needed
  let [run, busy, playing, losses, right, memories, weights] = [0, false, false, [[], []], [[], []], null, null];
  const [loss, kept, colours] = [axes(words), [0, 1].map((k) => memory(words, k)), scale(words)];
  const [title, sentence, ended] = [label(180, MAPS - 25, " ", SMALL), report(), model.get("ended")];
  const maps = kept.map((gates) => gates.element);
  const element = drawing(words, 360, MAPS + UNIT * HIGH + 34, loss.element, title, maps, colours.element);

  /* Whether there is a stored run with these settings, and whether it is shown. */
  const canStore = () => Object.entries(ended.settings).every(([name, value]) => `${model.get(name)}` === `${value}`);
  const isStored = () => model.get("stored") && canStore();
  const set = setterOf(model);
  /* Send the results to Python when the learning pauses. */
  const share = () =>
    weights &&
    (losses[0].length || model.get("steps")) && // a reader who has done nothing has changed nothing
    set({ steps: losses[0].length, losses: copyOf(losses), weights: copyOf(weights), memories });

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
    const [most, milliseconds] = reducedMotion() ? [steps + AT_ONCE, Infinity] : [Infinity, FRAME];
    request(Math.min(goal || Infinity, most), milliseconds);
    if (reducedMotion() && !goal) playing = false;
  };
  const pause = () => {
    playing = false;
    setContent(play, words.play);
    if (!busy) share();
  };
  const start = () => {
    if (isStored()) restart();
    playing = true;
    setContent(play, reducedMotion() ? words.play : words.pause);
    goOn();
  };
  const restart = () => {
    run += 1;
    pause();
    if (model.get("stored")) set({ stored: false });
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

  let frame = null;
  const drawSoon = () => {
    frame ??= requestAnimationFrame(() => {
      frame = null;
      draw();
    });
  };
  const draw = () => {
    const [kind, start, examples] = ["kind", "start", "examples"].map((name) => model.get(name));
    const answers = examples.length ? Math.max(...examples.map(([, target]) => target)) + 1 : SYMBOLS;
    const current = isStored()
      ? ended
      : { losses, memories, steps: losses[0].length, right: right.map((values) => mean(values.slice(-SHOWN))) };
    const begun = words[kind === "RNN" ? "with_identity" : start === "chrono" ? "with_chrono" : "with_bias"];
    const names = [words.with_torch, fill(begun, { bias: fixed(model.get("bias"), 1), identity: "W_{hh} = I" })];
    loss.set(current.losses, current.steps, answers, current.right);
    kept.forEach((gates, k) => gates.set(current.memories?.[k] ?? [], kind, names[k], !examples.length));
    setContent(title, ...label(0, 0, `${words[`values_${kind}`]}: ${words.axes}`).childNodes);
    colours.set(kind);
    const [blue, orange, chance] = [...current.right, 1 / answers].map(percent);
    const said = { steps: current.steps, blue, orange, chance };
    sentence.set(current.steps ? fill(words.said, said) : fill(words.ready, { gap: model.get("gap") }));
    change(bias, { hidden: kind === "RNN" || start !== "bias" });
    change(starts, { hidden: kind === "RNN" });
    change(atOnce, { hidden: !canStore() });
    setContent(others, fill(words.other_data, { number: model.get("seed") + 1 }));
  };

  const bias = slider(model, "bias", {
    label: [`${words.bias} `, symbol("b")],
    min: 0,
    max: 6,
    step: 0.5,
  });
  const starts = choice(model, "start", {
    label: words.start,
    options: STARTS.map((name) => [name, words[`start_${name}`]]),
  });
  const others = button(" ", () => set({ seed: (model.get("seed") + 1) % 100 }));
  const atOnce = button(words.stored, () => set({ stored: true }));
  const controls = [
    html("div", { class: "strip" }, play, button(words.anew, restart), others, atOnce),
    html(
      "div",
      { class: "controls" },
      choice(model, "kind", { label: words.kind, options: Object.keys(GATES).map((kind) => [kind, kind]) }),
      slider(model, "gap", { label: words.gap, min: 1, max: 60, step: 1 }),
      choice(model, "learning_rate", {
        label: words.learning_rate,
        options: [0.001, 0.003, 0.01, 0.03].map((rate) => [rate, `${rate}`]),
      }),
      starts,
      bias,
    ),
  ];
  const at = (x, y) => loss.at(x, y) ?? kept[0].at(x, y) ?? kept[1].at(x, y);
  const listeners = [...TRAITS.filter((name) => name !== "learning_rate"), "begin_with"].map((name) => [name, restart]);
  listeners.push(["goal", () => (model.get("goal") > losses[0].length ? start() : pause())]);
  listeners.push(["stored", () => model.get("stored") && pause()]);
  for (const [name, listener] of listeners) model.on(`change:${name}`, listener);
  const parts = { drawing: [pointed(element, at), sentence.element], controls };
  const remove = show(model, el, parts, ["learning_rate", "stored"], draw);
  const unwatch = whenUnseen(element, pause);
  if (!isStored()) restart();
  return () => {
    for (const [name, listener] of listeners) model.off(`change:${name}`, listener);
    unwatch();
    cancelAnimationFrame(frame);
    worker?.terminate();
    remove();
  };
};

export default { render };
