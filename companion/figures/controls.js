/* Controls bound to traits of the model: a change on either side reaches the other. */
import { change, fill, fixed, html, setContent } from "./elements.js";

let controls = 0;
const newId = () => `figure-${(controls += 1)}-${Math.random().toString(36).slice(2, 8)}`;

/* Access to a trait of the model, or to one number (key) of a trait that is a list. */
const binding = (model, name, key) => ({
  get: () => (key === undefined ? model.get(name) : model.get(name)[key]),
  set(value) {
    model.set(name, key === undefined ? value : model.get(name).map((old, k) => (k === key ? value : old)));
    model.save_changes();
  },
});

/* Return the function that sets traits of the model, { name: value, … }. */
export const setterOf = (model) => (values) => {
  for (const [name, value] of Object.entries(values)) model.set(name, value);
  model.save_changes();
};

/* The label of a control: words and symbols. */
const labelFor = (id, name) => html("label", { for: id }, ...[name].flat());

const decimals = (step) => (`${step}`.split(".")[1] ?? "").length;

/* A slider. name: of the trait; key: index of a number in a list; label: words and `symbol`s; show: formats the value, by
 * default with the decimals of a step. */
export const slider = (model, name, { key, label, min, max, step, show = (value) => fixed(value, decimals(step)) }) => {
  const [id, value] = [newId(), binding(model, name, key)];
  const input = html("input", { id, type: "range", min, max, step, oninput: () => value.set(Number(input.value)) });
  const output = html("output", { for: id });
  const follow = () => {
    if (Number(input.value) !== value.get()) input.value = value.get();
    setContent(output, show(value.get()));
    input.setAttribute("aria-valuetext", show(value.get()));
  };
  model.on(`change:${name}`, follow);
  follow();
  return html("div", { class: "control slider" }, labelFor(id, label), input, output);
};

export const toggle = (model, name, { label }) => {
  const [id, value] = [newId(), binding(model, name)];
  const input = html("input", { id, type: "checkbox", onchange: () => value.set(input.checked) });
  const follow = () => (input.checked = value.get());
  model.on(`change:${name}`, follow);
  follow();
  return html("div", { class: "control tick" }, input, labelFor(id, label));
};

/* A drop-down list. options: [[value, words], …] */
export const choice = (model, name, { label, options }) => {
  const [id, value] = [newId(), binding(model, name)];
  const items = options.map(([, words], k) => html("option", { value: k }, words));
  const select = html("select", { id, onchange: () => value.set(options[select.selectedIndex][0]) }, items);
  const follow = () => (select.selectedIndex = options.findIndex(([option]) => option === value.get()));
  model.on(`change:${name}`, follow);
  follow();
  return html("div", { class: "control choice" }, labelFor(id, label), select);
};

/* A typed number. Invalid input does not change the model. */
export const number = (model, name, { label, min, max, step = 1 }) => {
  const [id, value] = [newId(), binding(model, name)];
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
  return html("div", { class: "control number" }, labelFor(id, label), input);
};

export const textbox = (model, name, { label, maxlength = 200 }) => {
  const [id, value] = [newId(), binding(model, name)];
  const take = () => value.set(input.value);
  const input = html("input", {
    id,
    type: "text",
    maxlength,
    autocomplete: "off",
    oninput: (event) => event.isComposing || take(), // wait until the input method is done
    oncompositionend: take,
  });
  const follow = () => {
    if (input.value !== value.get()) input.value = value.get();
  };
  model.on(`change:${name}`, follow);
  follow();
  return html("div", { class: "control textbox" }, labelFor(id, label), input);
};

export const button = (words, onclick, attributes = {}) =>
  html("button", { type: "button", onclick, ...attributes }, words);

/* A button that copies a text. If the browser refuses, the text appears, selected; if it is on the page already, in the
 * element `source`, it is selected there. words: `copied` and `selected`. Return the button and the elements beside it. */
export const copyButton = (label, words, text, source = null) => {
  const said = html("span", { class: "report", role: "status" });
  const shown = html("input", { type: "text", class: "copy", readonly: true, hidden: true, "aria-label": label });
  const copy = async () => {
    const copied = await navigator.clipboard?.writeText(text()).then(
      () => true,
      () => false,
    );
    change(shown, { hidden: copied === true || source !== null });
    setContent(said, copied ? words.copied : words.selected);
    if (copied) return;
    if (source) return getSelection().selectAllChildren(source);
    shown.value = text();
    shown.select();
  };
  return [button(label, copy), shown, said];
};

/* A named group of controls. */
export const group = (name, ...children) =>
  html("fieldset", { class: "controls" }, html("legend", {}, ...[name].flat()), ...children);

/* Controls in a line, which screen readers call `name`. */
export const strip = (name, ...children) =>
  html("div", { class: "strip", role: "group", "aria-label": name }, children);

export const reducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/* A button that counts a whole number up from min to max, a step every `pause` milliseconds; max may be a function.
 * With reduced motion it goes to the end at once. It stops when the reader changes the number. */
export const player = (model, name, { min, max, words, pause = 250 }) => {
  let [timer, setting] = [null, false];
  const end = () => (typeof max === "function" ? max() : max);
  const set = (value) => {
    setting = true;
    model.set(name, value);
    model.save_changes();
    setting = false;
  };
  const stop = () => {
    clearInterval(timer);
    timer = null;
    setContent(play, words.play);
  };
  const step = () => {
    if (!play.isConnected || model.get(name) >= end()) return stop();
    set(model.get(name) + 1);
    if (model.get(name) >= end()) stop();
  };
  const start = () => {
    if (timer !== null) return stop();
    if (reducedMotion()) return set(end());
    if (model.get(name) >= end()) set(min);
    timer = setInterval(step, pause);
    setContent(play, words.pause);
  };
  const play = button(words.play, start, { class: "play" });
  model.on(`change:${name}`, () => setting || timer === null || stop());
  return play;
};

/* Call `stop` when an element is out of sight or its tab is hidden. Return a function that ends this. */
export const whenUnseen = (element, stop) => {
  const observer = new IntersectionObserver(([{ isIntersecting }]) => isIntersecting || stop());
  const hidden = () => document.hidden && stop();
  observer.observe(element);
  document.addEventListener("visibilitychange", hidden);
  return () => {
    observer.disconnect();
    document.removeEventListener("visibilitychange", hidden);
  };
};

/* A number, typed or changed in steps with the arrow keys or two buttons. Invalid input does not change the model, and the
 * range is shown. any: numbers between the steps may be typed. */
export const stepper = (model, name, { label, min, max, step = 1, any = false }) => {
  const [id, value] = [newId(), binding(model, name)];
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
    event.preventDefault(); // with step "any", the browser's own steps are 1
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
  return html("div", { class: "control stepper" }, labelFor(id, label), less, input, more, range);
};

/* ---- Files loaded on request ---- */

const TIMEOUT = 6000; // milliseconds without an answer until the page says so

/* A button that requests a file and shows its size. texts: `load` and `lacking`, of this figure. parse: turns the file into
 * the object that the figure needs; if it throws, the reader can try again. arrived(object, focused) is called once;
 * focused: the button, which is then hidden, had the focus. */
export const loader = (model, { file, bytes }, texts, parse, arrived) => {
  const words = model.get("words");
  const size = `${Math.round(bytes / 1000)} kB`;
  let [timeout, done] = [null, false];
  const notice = html("p", { class: "report", role: "status" });
  const fail = (why) => {
    clearTimeout(timeout);
    timeout = null;
    setContent(notice, why);
    setContent(ask, fill(words.again, { size }));
  };
  const request = () => {
    if (timeout !== null) return;
    setContent(notice, words.loading);
    timeout = setTimeout(() => fail(words.unanswered), TIMEOUT);
    try {
      model.send({ want: file });
    } catch {
      fail(words.unanswered);
    }
  };
  const receive = ({ have, lacks, why }, buffers) => {
    if (done || (have ?? lacks) !== file) return;
    if (!have) return fail(fill(texts.lacking, { why }));
    let parsed;
    try {
      const { buffer, byteOffset, byteLength } = buffers[0];
      parsed = parse(buffer.slice(byteOffset, byteOffset + byteLength));
    } catch (error) {
      return fail(fill(texts.lacking, { why: error.message }));
    }
    done = true;
    clearTimeout(timeout);
    const focused = ask.getRootNode().activeElement === ask;
    change(element, { hidden: true });
    arrived(parsed, focused);
  };
  const ask = button(fill(texts.load, { size }), request);
  const element = html("div", { class: "strip" }, ask, notice);
  model.on("msg:custom", receive);
  return {
    element,
    remove() {
      model.off("msg:custom", receive);
      clearTimeout(timeout);
    },
  };
};
