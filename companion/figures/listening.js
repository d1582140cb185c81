/* Figure: the reader taps Morse signs, and a network writes what it reads. */
import { readSafetensors } from "./weights_file.js";
import { SIGNS, collapse, listen, stepsOf } from "./listening_network.js";
import {
  BLUE,
  GREEN,
  ORANGE,
  change,
  drawing,
  fill,
  fixed,
  html,
  label,
  setContent,
  svg,
  upright,
} from "./elements.js";
import { button, choice, loader, setterOf, slider } from "./controls.js";
import { pointed } from "./pointer.js";
import { report, show } from "./show.js";

const [LEFT, WIDTH, SECONDS] = [4, 352, 7]; // the drawing shows the last seconds
const [KEY, BARS, HIGH, UNIT] = [8, 50, 60, 124]; // places of its rows
const LONGEST = 2; // seconds: longer pauses count as this
const MOST = 400; // pulses, as in listening.py

/* The key: calls press() and release() for a finger, the mouse and the space bar. */
const keyOf = (words, press, release) => {
  let held = false;
  const down = () => held || ((held = true), change(key, { "aria-pressed": "true" }), press());
  const up = () => held && ((held = false), change(key, { "aria-pressed": "false" }), release());
  const isKey = ({ key: name }) => name === " " || name === "Enter";
  const key = html(
    "button",
    {
      type: "button",
      class: "key",
      "aria-pressed": "false",
      onpointerdown: (event) => (key.setPointerCapture(event.pointerId), down()),
      onpointerup: up,
      onpointercancel: up,
      onblur: up,
      oncontextmenu: (event) => event.preventDefault(), // a long touch
      onkeydown: (event) => isKey(event) && (event.preventDefault(), down()),
      onkeyup: (event) => isKey(event) && (event.preventDefault(), up()),
    },
    words.key,
  );
  return key;
};

const blankSaid = (words, blank) => fill(words.said_blank, { p: fixed(blank) });

/* The last seconds: the key, the probabilities of the likeliest sign and of the blank at each step, and a unit's state. */
const recentSeconds = (words) => {
  const rows = svg("g");
  const small = { "font-size": 11, "text-anchor": "start" };
  const line = (y) => svg("path", { d: `M${LEFT} ${y}h${WIDTH}`, stroke: "currentColor", "stroke-opacity": 0.3 });
  const names = [
    label(LEFT, KEY + 26, words.row_key, small),
    label(LEFT, BARS + HIGH + 7, words.row_outputs, small),
    label(LEFT, UNIT + 21, words.row_unit, small),
  ];
  const element = drawing(words, 360, 154, line(KEY + 18), line(BARS + HIGH), rows, names);
  return {
    element: pointed(element),
    /* spans: [[from, to], …] of the steps; pressed: whether the last one is a pulse that is not over. */
    set(spans, isPulse, end, read, unit, pressed) {
      const from = Math.max(0, end - SECONDS);
      const x = (time) => LEFT + (Math.max(0, time - from) / SECONDS) * WIDTH;
      const parts = spans.flatMap(([start, stop], t) => {
        if (stop < from) return [];
        const place = { x: x(start).toFixed(2), width: Math.max(1, x(stop) - x(start)).toFixed(2) };
        const last = pressed && t === spans.length - 1;
        const pulse = svg("rect", { ...place, y: KEY, height: 18, fill: last ? GREEN : "currentColor" });
        if (!read[t]) return isPulse[t] ? [pulse] : [];
        const { k, p, blank, value } = read[t];
        const said = k ? fill(words.said, { sign: SIGNS[k - 1].trim() || words.space, p: fixed(p) }) : null;
        const bar = (share, fill, opacity) =>
          svg("rect", {
            ...place,
            y: (BARS + HIGH * (1 - share)).toFixed(2),
            height: (HIGH * share).toFixed(2),
            fill,
            "fill-opacity": opacity,
            "data-said": said ?? blankSaid(words, blank),
          });
        const middle = (x(start) + x(stop)) / 2;
        return [
          isPulse[t] ? pulse : null,
          bar(blank, "currentColor", 0.15),
          k ? bar(p, GREEN, 0.8) : null,
          k ? upright(middle, BARS - 8, SIGNS[k - 1].trim() || "␣", { "font-size": 13, "font-weight": 700 }) : null,
          svg("rect", {
            ...place,
            y: UNIT,
            height: 12,
            fill: value < 0 ? BLUE : ORANGE,
            "fill-opacity": Math.abs(value).toFixed(3),
            "data-said": `h_{${unit}} = ${fixed(value, 3)}`,
          }),
        ];
      });
      setContent(rows, ...parts.filter(Boolean));
    },
  };
};

const render = ({ model, el }) => {
  const words = model.get("words");
  const stored = model.get("stored");
  const set = setterOf(model);
  const names = ["pulses", "end", "kind", "unit"];
  let [weights, asked] = [null, false];
  const ask = () => {
    if (asked) return;
    asked = true;
    waiting.element.querySelector("button").click();
  };
  const parse = (file) => readSafetensors(file).weights;
  const waiting = loader(
    model,
    model.get("listener"),
    { load: words.load, lacking: words.lacking },
    parse,
    (loaded) => {
      weights = loaded;
      draw();
    },
  );

  // Times are in seconds since the first pulse. While the key is down, `down` is the time since which it is.
  let [origin, down, frame] = [null, null, null];
  const now = () => performance.now() / 1000 - origin;
  const begin = () => {
    origin = performance.now() / 1000;
    set({ pulses: [], end: 0 });
  };
  const press = () => {
    const pulses = model.get("pulses");
    if (origin === null || pulses.length >= MOST) begin();
    else if (pulses.length) {
      const late = now() - pulses.at(-1)[1] - LONGEST;
      if (late > 0) origin += late;
    }
    down = now();
    tick();
  };
  const release = () => {
    const [start, stop] = [down, Math.max(now(), down + 0.001)];
    down = null;
    set({ pulses: [...model.get("pulses"), [start, stop]], end: stop + 0.001 });
    frame = requestAnimationFrame(tick);
  };
  /* Draw while the key is down, and until the pause is as long as counts: then the model learns its end. */
  const tick = () => {
    cancelAnimationFrame(frame);
    if (!el.isConnected) return;
    if (down === null && now() >= lastUp() + LONGEST) return set({ end: lastUp() + LONGEST });
    draw();
    frame = requestAnimationFrame(tick);
  };
  const lastUp = () => model.get("pulses").at(-1)[1];
  /* The second up to which the signal is known. */
  const endNow = () => {
    if (down !== null) return Math.max(now(), down + 0.001);
    const end = model.get("end");
    return origin === null ? end : Math.max(end, Math.min(now(), lastUp() + LONGEST));
  };
  const clear = () => {
    cancelAnimationFrame(frame);
    [origin, down] = [null, null];
    set({ pulses: [], end: 0 });
    key.focus();
  };
  const tap = (pulses) => {
    cancelAnimationFrame(frame);
    [origin, down] = [null, null];
    ask();
    set({ pulses, end: pulses.at(-1)[1] + 1 });
  };

  const key = keyOf(words, press, release);
  const picture = recentSeconds(words);
  const text = html("p", { class: "heard", "aria-hidden": "true" });
  const spoken = report();
  const same = (name) => JSON.stringify(model.get(name)) === JSON.stringify(stored[name]);
  /* For each step the likeliest class k with its probability p, that of the blank, and the unit's state. */
  const readOf = (steps) => {
    const unit = model.get("unit");
    if (weights)
      return listen(steps, weights, model.get("kind")).map(({ h, p }) => {
        const k = p.indexOf(Math.max(...p));
        return { k, p: p[k], blank: p[0], value: h[unit] };
      });
    if (down !== null || !names.every(same)) {
      ask(); // what is stored is not of these pulses and this unit
      return [];
    }
    return stored.path.map((k, t) => ({
      k,
      p: stored.p[t] / 1000,
      blank: stored.blank[t] / 1000,
      value: stored.values[t] / 1000,
    }));
  };
  const draw = () => {
    const pressed = down !== null;
    const end = endNow();
    const pulses = [...model.get("pulses"), ...(pressed ? [[down]] : [])];
    const steps = stepsOf(pulses, end);
    const isPulse = steps.map(([sign]) => sign > 0);
    let start = pulses.length ? pulses[0][0] : 0;
    const spans = steps.map(([, size]) => [start, (start += Math.exp(size) / 10)]);
    const read = readOf(steps);
    picture.set(spans, isPulse, end, read, model.get("unit"), pressed);
    const found = collapse(read.map(({ k }) => k));
    setContent(text, found || "…");
    spoken.set(pulses.length && read.length ? fill(words.read, { text: found || words.nothing }) : "");
  };

  const examples = model.get("examples");
  const buttons = Object.entries(examples).map(([name, pulses]) => button(name, () => tap(pulses)));
  const chart = html("details", {}, html("summary", {}, words.chart), chartOf(model.get("codes")));
  const controls = [
    html("div", { class: "strip" }, html("span", {}, words.examples), buttons, button(words.clear, clear)),
    choice(model, "kind", {
      label: words.kind,
      options: [
        ["one direction", words.one_direction],
        ["two directions", words.two_directions],
      ],
    }),
    slider(model, "unit", { label: words.unit, min: 0, max: 55, step: 1 }),
    waiting.element,
    chart,
  ];
  const parts = { drawing: [html("div", { class: "pen" }, text), picture.element, key, spoken.element], controls };
  const remove = show(model, el, parts, names, draw);
  return () => {
    cancelAnimationFrame(frame);
    waiting.remove();
    remove();
  };
};

/* The code of each sign, in columns. */
const chartOf = (codes) =>
  html(
    "ul",
    { class: "codes" },
    Object.entries(codes).map(([sign, code]) =>
      html("li", {}, html("b", {}, sign), " ", code.replaceAll(".", "·").replaceAll("-", "–")),
    ),
  );

export default { render };
