/* What the figures share: elements, controls that are bound to the model, and squares in the colours of values. A drawing
 * looks as its attributes say, without a style sheet: so its picture can stand alone, where no script runs. */

/* As in companion.page.pictures: blue below zero and orange above. Legible on white and on black. */
export const BLUE = "#2f7fc1";
export const ORANGE = "#d9731a";
export const GREEN = "#2f9460";
export const PURPLE = "#8e63c7";
export const RED = "#d1495b";
export const ON_COLOUR = "#000"; // numbers on a square of full colour

/* ---- Elements ---- */

const furnish = (element, attributes, children) => {
  change(element, attributes);
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
};

/* Attributes as given; those that begin with "on" are listeners, null and false take an attribute away. */
export const change = (element, attributes) => {
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === null || value === undefined || value === false) element.removeAttribute(name);
    else if (element.getAttribute(name) !== `${value}`) element.setAttribute(name, value === true ? "" : value);
};

export const html = (tag, attributes = {}, ...children) => furnish(document.createElement(tag), attributes, children);

export const svg = (tag, attributes = {}, ...children) =>
  furnish(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/* Put words or elements in place of what an element has, if they are others. */
export const say = (element, ...content) => {
  if (content.length === 1 && typeof content[0] === "string") {
    if (element.textContent !== content[0]) element.textContent = content[0];
  } else element.replaceChildren(...content);
};

/* ---- Words, numbers, symbols ---- */

/* "step {t} of {T}" with { t: 3, T: 20 } */
export const fill = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (_, name) => values[name]);

/* A number with so many digits after the point, and a true minus. */
export const fixed = (value, digits = 2) => {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
};

/* "W_{ih} x_t" in pieces: [text, subscript] */
const pieces = (notation) =>
  [...notation.matchAll(/([^_]+)(?:_(?:\{([^}]*)\}|(.)))?/gu)].map(([, text, many = "", one = ""]) => [
    text,
    (many || one).replace("-", "−"), // "[-1]" elsewhere is Python's
  ]);

/* A symbol of a formula for a page's text: the letters slanted, the subscripts low. */
export const symbol = (notation) =>
  html("var", {}, ...pieces(notation).map(([text, sub]) => [text, sub && html("sub", {}, sub)]).flat());

/* The same in a drawing, as a <text>. Words and digits stand upright, single letters slanted. */
export const label = (x, y, notation, attributes = {}) =>
  svg(
    "text",
    { x, y, "font-size": 13, fill: "currentColor", "text-anchor": "middle", "dominant-baseline": "central", ...attributes },
    ...pieces(notation).flatMap(([text, sub]) => [
      ...(text.match(/[\p{L}\p{M}]+|[^\p{L}\p{M}]+/gu) || []).map((part) =>
        svg("tspan", /^\p{L}$/u.test(part) ? { "font-style": "italic" } : {}, part),
      ),
      sub && svg("tspan", { dy: "0.35em", "font-size": "75%" }, sub),
      sub && svg("tspan", { dy: "-0.26em" }, "\u200b"), // back up: dy is of this size, not of the subscript's
    ]),
  );

/* ---- Drawing ---- */

/* The drawing of a figure. width, height: of its own coordinates; on a phone one unit is a little under a pixel. */
export const drawing = (words, width, height, ...children) =>
  svg(
    "svg",
    { class: "drawing", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words.description },
    ...children,
  );

/* A square (or rectangle) on the colour of a value, with its number: `set(value, { faded, shown })`.
 * limit: the value that gets the full colour. digits: null draws no number. */
export const square = (x, y, width, height = width, { limit = 1, digits = 2, size = 12 } = {}) => {
  const ground = svg("rect", { x, y, width, height, rx: 2, stroke: "currentColor", "stroke-opacity": 0.3 });
  const number = label(x + width / 2, y + height / 2, " ", { "font-size": size });
  return {
    element: svg("g", {}, ground, digits === null ? null : number),
    set(value, { faded = false, shown = true } = {}) {
      const strength = (Number.isFinite(value) ? Math.min(Math.abs(value) / limit, 1) : 1) * (faded ? 0.15 : 1);
      change(ground, {
        fill: value < 0 ? BLUE : ORANGE,
        "fill-opacity": shown ? strength.toFixed(3) : 0,
      });
      if (digits === null) return;
      say(number, shown ? fixed(value, digits) : " ");
      // where a white letter would have less contrast than a black one, on a dark page
      change(number, { fill: strength > (value < 0 ? 0.95 : 0.8) ? ON_COLOUR : "currentColor", opacity: faded ? 0.45 : null });
    },
  };
};

/* A matrix of squares: `set(rows of values, r => options of a row)`. */
export const squares = (x, y, rows, columns, width, height = width, options = {}) => {
  const grid = Array.from({ length: rows }, (_, r) =>
    Array.from({ length: columns }, (_, c) => square(x + c * width, y + r * height, width, height, options)),
  );
  return {
    element: svg("g", {}, grid.flat().map((one) => one.element)),
    set(values, of = () => ({})) {
      grid.forEach((row, r) => row.forEach((one, c) => one.set(values[r][c], of(r, c))));
    },
  };
};

const LEVELS = 20; // of a colour's strength: finer than the eye tells apart in squares this small

/* Many small squares, a row for each unit and a column for each step: `set(columns, limit)`. All squares of one strength are
 * one path: few to change, quick to draw. */
export const mosaic = (x, y, width, height) => {
  const path = (colour) => (_, level) => svg("path", { fill: colour, "fill-opacity": ((level + 1) / LEVELS).toFixed(2) });
  const paths = [BLUE, ORANGE].map((colour) => Array.from({ length: LEVELS }, path(colour)));
  return {
    element: svg("g", { "shape-rendering": "crispEdges" }, paths),
    set(columns, limit, wide = width) {
      const d = paths.map((levels) => levels.map(() => ""));
      const across = wide === width ? wide : (wide + 0.1).toFixed(1); // no gap where a column's edge is rounded
      columns.forEach((column, k) =>
        column.forEach((value, unit) => {
          const level = Math.round(Math.min(Math.abs(value) / limit, 1) * LEVELS) - 1;
          if (level < 0) return;
          d[value < 0 ? 0 : 1][level] += `M${(x + k * wide).toFixed(1)} ${y + unit * height}h${across}v${height}h-${across}z`;
        }),
      );
      paths.forEach((levels, sign) => levels.forEach((one, level) => change(one, { d: d[sign][level] })));
    },
  };
};

/* A line through points [x, y], with a head at its end. */
export const arrow = (points, attributes = {}) => {
  const [[x_0, y_0], [x, y]] = points.slice(-2);
  const length = Math.hypot(x - x_0, y - y_0);
  const [dx, dy] = [(x - x_0) / length, (y - y_0) / length];
  const back = [x - 6 * dx, y - 6 * dy];
  const corner = (side) => `${back[0] + side * 3 * dy},${back[1] - side * 3 * dx}`;
  const along = [...points.slice(0, -1), back].map((point) => point.join(",")).join(" ");
  return svg(
    "g",
    { stroke: "currentColor", fill: "none", "stroke-width": 1.2, ...attributes },
    svg("polyline", { points: along }),
    svg("polygon", { points: `${x},${y} ${corner(1)} ${corner(-1)}`, fill: "currentColor", stroke: "none" }),
  );
};

/* ---- Controls. Each follows the model, and the model follows it. ---- */

let controls = 0;
const newId = () => `figure-${(controls += 1)}-${Math.random().toString(36).slice(2, 8)}`;

/* The value that a control stands for: a trait of the model, or one number (key) of a trait that is a list. */
const bound = (model, name, key) => ({
  get: () => (key === undefined ? model.get(name) : model.get(name)[key]),
  set(value) {
    model.set(name, key === undefined ? value : model.get(name).map((old, k) => (k === key ? value : old)));
    model.save_changes();
  },
});

/* A control's name: words and symbols. */
const named = (id, name) => html("label", { for: id }, ...[name].flat());

/* name: the trait; key: which number of a list; label: its name on the page, words and `symbol`s; show: its value as
 * words. Returns an element. */
export const slider = (model, name, { key, label, min, max, step, show = (value) => fixed(value) }) => {
  const [id, value] = [newId(), bound(model, name, key)];
  const input = html("input", { id, type: "range", min, max, step, oninput: () => value.set(Number(input.value)) });
  const output = html("output", { for: id });
  const follow = () => {
    if (Number(input.value) !== value.get()) input.value = value.get();
    say(output, show(value.get()));
    input.setAttribute("aria-valuetext", show(value.get()));
  };
  model.on(`change:${name}`, follow);
  follow();
  return html("div", { class: "control slider" }, named(id, label), input, output);
};

export const toggle = (model, name, { label }) => {
  const [id, value] = [newId(), bound(model, name)];
  const input = html("input", { id, type: "checkbox", onchange: () => value.set(input.checked) });
  const follow = () => (input.checked = value.get());
  model.on(`change:${name}`, follow);
  follow();
  return html("div", { class: "control tick" }, input, named(id, label));
};

/* options: [[value, its words], …] */
export const choice = (model, name, { label, options }) => {
  const [id, value] = [newId(), bound(model, name)];
  const items = options.map(([, words], k) => html("option", { value: k }, words));
  const select = html("select", { id, onchange: () => value.set(options[select.selectedIndex][0]) }, items);
  const follow = () => (select.selectedIndex = options.findIndex(([one]) => one === value.get()));
  model.on(`change:${name}`, follow);
  follow();
  return html("div", { class: "control choice" }, named(id, label), select);
};

/* A whole number or any other, typed. What is no number leaves the model as it is. */
export const number = (model, name, { label, min, max, step = 1 }) => {
  const [id, value] = [newId(), bound(model, name)];
  const take = () => {
    if (input.value !== "" && input.validity.valid) value.set(Number(input.value));
    change(input, { "aria-invalid": input.validity.valid ? null : "true" });
  };
  const input = html("input", { id, type: "number", min, max, step, oninput: take, onblur: () => follow() });
  const follow = () => {
    if (input.value === "" || Number(input.value) !== value.get()) input.value = value.get();
    change(input, { "aria-invalid": null });
  };
  model.on(`change:${name}`, follow);
  follow();
  return html("div", { class: "control number" }, named(id, label), input);
};

export const textbox = (model, name, { label, maxlength = 200 }) => {
  const [id, value] = [newId(), bound(model, name)];
  const take = () => value.set(input.value);
  const input = html("input", {
    id, type: "text", maxlength, autocomplete: "off",
    oninput: (event) => event.isComposing || take(), // what an input method has not made a word of yet
    oncompositionend: take,
  });
  const follow = () => {
    if (input.value !== value.get()) input.value = value.get();
  };
  model.on(`change:${name}`, follow);
  follow();
  return html("div", { class: "control textbox" }, named(id, label), input);
};

export const button = (words, onclick, attributes = {}) => html("button", { type: "button", onclick, ...attributes }, words);

/* Controls that belong together under a name. */
export const group = (name, ...children) =>
  html("fieldset", { class: "controls" }, html("legend", {}, ...[name].flat()), ...children);

export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/* A button that lets a whole number run from min to max, a step every `pause` milliseconds; max may be a function. For a reader who wants no
 * motion it goes to the end at once. Stops when the reader takes over. */
export const player = (model, name, { min, max, words, pause = 250 }) => {
  let [timer, own] = [null, false];
  const end = () => (typeof max === "function" ? max() : max);
  const set = (value) => {
    own = true;
    model.set(name, value);
    model.save_changes();
    own = false;
  };
  const stop = () => {
    clearInterval(timer);
    timer = null;
    say(play, words.play);
  };
  const step = () => {
    if (!play.isConnected || model.get(name) >= end()) return stop();
    set(model.get(name) + 1);
    if (model.get(name) >= end()) stop();
  };
  const start = () => {
    if (timer !== null) return stop();
    if (still()) return set(end());
    if (model.get(name) >= end()) set(min);
    timer = setInterval(step, pause);
    say(play, words.pause);
  };
  const play = button(words.play, start, { class: "play" });
  model.on(`change:${name}`, () => own || timer === null || stop());
  return play;
};

/* Call `stop` when an element is out of sight or its tab is hidden. Returns what ends the watch. */
export const whenUnseen = (element, stop) => {
  const away = new IntersectionObserver(([{ isIntersecting }]) => isIntersecting || stop());
  const hidden = () => document.hidden && stop();
  away.observe(element);
  document.addEventListener("visibilitychange", hidden);
  return () => {
    away.disconnect();
    document.removeEventListener("visibilitychange", hidden);
  };
};

/* A number, typed or moved by a step: with the arrow keys, or with two buttons for a finger. What is out of range or no
 * number leaves the model as it is, and the range is shown. any: numbers between the steps may be typed. */
export const stepper = (model, name, { label, min, max, step = 1, any = false }) => {
  const [id, value] = [newId(), bound(model, name)];
  const range = html("output", { id: `${id}-range`, class: "range", for: id, hidden: true }, `${min} … ${max}`.replace("-", "−"));
  const mark = (wrong) => {
    change(input, { "aria-invalid": wrong ? "true" : null, "aria-describedby": wrong ? `${id}-range` : null });
    change(range, { hidden: !wrong });
  };
  const take = () => {
    if (input.value !== "" && input.validity.valid) value.set(Number(input.value));
    mark(!input.validity.valid);
  };
  const follow = () => {
    if (input.value === "" || Number(input.value) !== value.get()) input.value = value.get();
    mark(false);
    change(less, { disabled: value.get() <= min });
    change(more, { disabled: value.get() >= max });
  };
  const move = (by) => value.set(Number(Math.min(max, Math.max(min, value.get() + by)).toFixed(10)));
  const keys = { ArrowUp: step, ArrowDown: -step };
  const onkeydown = (event) => {
    if (!(event.key in keys)) return;
    event.preventDefault(); // the browser's own steps are other ones where any number may be typed
    move(keys[event.key]);
    follow();
  };
  const input = html("input", { id, type: "number", min, max, step: any ? "any" : step, oninput: take, onkeydown, onblur: () => follow() });
  const by = (sign, size) =>
    html("button", { type: "button", tabindex: -1, "aria-label": `${name} ${sign} ${step}`, onclick: () => (move(size), follow()) }, sign);
  const [less, more] = [by("−", -step), by("+", step)];
  model.on(`change:${name}`, follow);
  follow();
  return html("div", { class: "control stepper" }, named(id, label), less, input, more, range);
};

/* ---- What comes when it is asked for ---- */

const PATIENCE = 6000; // milliseconds until a page that has got no answer says what to do

/* A button that asks for a file by its name and says its size in bytes. said: `load` and `lacking`, of this figure.
 * parse makes of the file what the figure wants, and may throw: then it can be asked again. arrived(it, focused) is called
 * once; focused: the reader is still at the button, which goes away. */
export const loader = (model, { file, bytes }, said, parse, arrived) => {
  const words = model.get("words");
  const size = `${Math.round(bytes / 1000)} kB`;
  let [patience, done] = [null, false];
  const notice = html("p", { class: "report", role: "status" });
  const failed = (why) => {
    clearTimeout(patience);
    patience = null;
    say(notice, why);
    say(ask, fill(words.again, { size }));
  };
  const want = () => {
    if (patience !== null) return;
    say(notice, words.loading);
    patience = setTimeout(() => failed(words.unanswered), PATIENCE);
    try {
      model.send({ want: file });
    } catch {
      failed(words.unanswered);
    }
  };
  const answered = ({ have, lacks, why }, buffers) => {
    if (done || (have ?? lacks) !== file) return;
    if (!have) return failed(fill(said.lacking, { why }));
    let found;
    try {
      const { buffer, byteOffset, byteLength } = buffers[0];
      found = parse(buffer.slice(byteOffset, byteOffset + byteLength));
    } catch (error) {
      return failed(fill(said.lacking, { why: error.message }));
    }
    done = true;
    clearTimeout(patience);
    const focused = ask.getRootNode().activeElement === ask;
    change(element, { hidden: true });
    arrived(found, focused);
  };
  const ask = button(fill(said.load, { size }), want);
  const element = html("div", { class: "strip" }, ask, notice);
  model.on("msg:custom", answered);
  return {
    element,
    remove() {
      model.off("msg:custom", answered);
      clearTimeout(patience);
    },
  };
};

/* ---- The figure ---- */

/* Show the parts in `el`, with the caption under them. `draw` is called now, and at most once a frame after one of the
 * traits has changed. Returns what takes the figure away again. */
export const show = (model, el, parts, traits, draw) => {
  const words = model.get("words");
  const caption = html("figcaption", {}, words.caption);
  el.append(html("figure", { class: "unrolled-figure", lang: model.get("language") }, ...parts, caption));
  let asked = null;
  const redraw = () => {
    asked ??= requestAnimationFrame(() => {
      asked = null;
      draw();
    });
  };
  for (const name of traits) model.on(`change:${name}`, redraw);
  draw();
  return () => {
    cancelAnimationFrame(asked);
    for (const name of traits) model.off(`change:${name}`, redraw);
  };
};

/* A line that is read aloud when it changes, and stays so for a moment: not for every pixel of a slider. */
export const report = () => {
  const [element, spoken] = [html("p", { class: "report", "aria-hidden": "true" }), html("p", { class: "unseen", role: "status" })];
  let timer = null;
  return {
    element: html("div", {}, element, spoken),
    set(sentence) {
      if (element.textContent === sentence) return;
      say(element, sentence);
      clearTimeout(timer);
      timer = setTimeout(() => say(spoken, sentence), 600);
    },
  };
};
