/* ---- Controls. Each follows the model, and the model follows it. ---- */
import { change, fill, fixed, html, say } from "./kit.js";

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
    id,
    type: "text",
    maxlength,
    autocomplete: "off",
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

export const button = (words, onclick, attributes = {}) =>
  html("button", { type: "button", onclick, ...attributes }, words);

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
  const range = html(
    "output",
    { id: `${id}-range`, class: "range", for: id, hidden: true },
    `${min} … ${max}`.replace("-", "−"),
  );
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
  const input = html("input", {
    id,
    type: "number",
    min,
    max,
    step: any ? "any" : step,
    oninput: take,
    onkeydown,
    onblur: () => follow(),
  });
  const by = (sign, size) =>
    html(
      "button",
      { type: "button", tabindex: -1, "aria-label": `${name} ${sign} ${step}`, onclick: () => (move(size), follow()) },
      sign,
    );
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
