/* Figure: a trained language model continues a text, one character after the other. */
import { uniform } from "./numbers.js";
import { characters, namedBy, visible } from "./characters.js";
import { readSafetensors } from "./weights_file.js";
import { sampleIndex, probabilities, languageModelStep } from "./arithmetic.js";
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
  symbol,
  upright,
} from "./elements.js";
import { button, loader, reducedMotion, setterOf, slider } from "./controls.js";
import { pointed } from "./pointer.js";
import { report, show } from "./show.js";

const ROWS = 8; // of characters; another row is for all others
const RUN = 200; // characters of one run
const PAUSE = 100; // milliseconds between two characters; longer before the writer is loaded, so that all can be followed
const SLOW_PAUSE = 250;
const MOST = { beginning: 400, written: 2000 }; // as in writing.py

/* The language model of a file. It reads texts as arrays of characters, and caches the state after each character: only the
 * part that differs from the last text is read. */
const languageModel = (file) => {
  const { weights, metadata } = readSafetensors(file);
  const vocabulary = JSON.parse(metadata.characters);
  const indices = new Map(vocabulary.map((character, index) => [character, index]));
  const zeros = Array.from(weights["recurrent.weight_hh_l0"][0], () => 0);
  const steps = [];
  return {
    unknown: (text) => [...new Set(text)].filter((character) => !indices.has(character)),
    /* For each character: its index, h, c, and the logits y of the next one. */
    read(text) {
      const input = text.map((character) => indices.get(character));
      const differs = input.findIndex((index, place) => steps[place]?.index !== index);
      steps.length = differs < 0 ? input.length : differs;
      for (const index of input.slice(steps.length)) {
        const before = steps.at(-1) ?? { h: zeros, c: zeros };
        const { step, y } = languageModelStep(index, [before.h, before.c], weights);
        y[0] = -Infinity; // the unknown character is never written
        steps.push({ index, h: step.h, c: step.c, y });
      }
      return steps;
    },
    /* The next characters and their logits, the likeliest first. */
    ranked({ y }) {
      const order = y.map((_, index) => index).sort((a, b) => y[b] - y[a]);
      return { characters: order.map((index) => vocabulary[index]), logits: order.map((index) => y[index]) };
    },
  };
};

/* The end of a text that fits before the box of the next character. East Asian characters are twice as wide. */
const tail = (text) => {
  const [shown, rest] = [[], [...text]];
  let room = 13.3;
  while (rest.length && (room -= /[\u1100-\u11ff\u2e80-\uffdc]/.test(rest.at(-1)) ? 1 : 0.55) >= 0)
    shown.unshift(rest.pop());
  return `${rest.length ? "…" : ""}${shown.join("").replace(/ /g, "\u00a0").replace(/\n/g, "⏎")}`;
};

/* The end of the text, and the next character: probabilities as bars, end to end from 0 to 1, and u as a line. */
const diagram = (words, nameOf, take) => {
  const [left, width, top, high] = [40, 272, 58, 18];
  const x = (p) => left + p * width;
  const right = { "text-anchor": "end" };
  const small = { "font-size": 11 };
  const text = upright(214, 18, "", right);
  const next = upright(231, 18, "");
  const rows = Array.from({ length: ROWS + 1 }, (_, k) => {
    const y = top + k * high;
    const place = { y: y + 2, height: high - 4, fill: "currentColor" };
    const bar = svg("rect", place);
    const [name, p] = [upright(22, y + high / 2, ""), upright(354, y + high / 2, "", { ...right, "font-size": 12 })];
    const pressed = svg("rect", { x: 0, y, width: 360, height: high, fill: "currentColor", "fill-opacity": 0 });
    const track = svg("rect", { ...place, x: left, width, "fill-opacity": 0.06 });
    const element = svg("g", { onclick: () => k < ROWS && take(k) }, pressed, track, bar, name, p);
    return { element, bar, name, p };
  });
  const bottom = top + (ROWS + 1) * high;
  const line = svg("line", { y1: top - 4, y2: bottom + 4, stroke: GREEN, "stroke-width": 2 });
  const u = svg("g");
  const ticks = [0, 0.5, 1].map((p) => [
    svg("line", { x1: x(p), x2: x(p), y1: bottom, y2: bottom + 4, stroke: "currentColor", "stroke-opacity": 0.5 }),
    upright(x(p), bottom + 13, `${p}`, small),
  ]);
  const box = { x: 218, y: 5, width: 26, height: 26, rx: 3, fill: GREEN, "fill-opacity": 0.2, stroke: GREEN };
  const titles = [
    upright(250, 18, words.next, { ...small, "text-anchor": "start" }),
    upright(358, top - 12, words.probability, { ...small, ...right }),
  ];
  const rest = upright(left + 4, top + (ROWS + 0.5) * high, words.all_others, { ...small, "text-anchor": "start" });
  rows[ROWS].element.append(rest);
  const bars = rows.map((row) => row.element);
  const element = drawing(words, 360, bottom + 22, text, svg("rect", box), next, titles, bars, ticks, line, u);
  return {
    element,
    set(read, chances, drawn, at) {
      setContent(text, tail(read));
      setContent(next, chances ? visible(chances.characters[drawn]) : "?");
      let below = 0;
      rows.forEach(({ element, bar, name, p }, k) => {
        const length = !chances ? 0 : k < ROWS ? chances.p[k] : Math.max(1 - below, 0);
        const marked = chances && k === Math.min(drawn, ROWS);
        change(bar, { x: x(below).toFixed(4), width: (length * width).toFixed(4) });
        change(bar, { fill: marked ? GREEN : "currentColor", "fill-opacity": marked ? 1 : 0.45 });
        setContent(name, k === ROWS ? "…" : chances ? visible(chances.characters[k]) : " ");
        setContent(p, chances ? fixed(length) : " ");
        for (const text of [name, p]) change(text, { "font-weight": marked ? 700 : null });
        const character = k < ROWS && chances ? nameOf(chances.characters[k]) : words.all_others;
        const said = chances && fill(words.bar_said, { character, p: fixed(length, 3) });
        const opacity = length < 0.0005 && !marked ? 0.3 : null; // its bar cannot be seen
        change(element, { cursor: chances && k < ROWS ? "pointer" : null, "data-said": said, opacity });
        below += length;
      });
      change(line, { x1: x(at), x2: x(at) });
      // beside the line, where there is room
      const side = at < 0.4 ? 4 : -4;
      const anchor = { "font-size": 12, "text-anchor": side > 0 ? "start" : "end", "data-said": `u = ${fixed(at, 4)}` };
      const end = Math.min(x(at) + side, 286); // where the title of the numbers begins
      setContent(u, label(end, top - 12, `${words.random} u = ${fixed(at)}`, anchor));
    },
  };
};

/* A text with each character on the colour of its value: blue at -1, orange at 1. The opacity is at most one half, so that
 * letters stay legible. say(character, value): what a character tells a pointer. */
const coloured = (element, say) => {
  const shown = [];
  return (text, values) => {
    while (shown.length > text.length) shown.pop().span.remove();
    text.forEach((character, k) => {
      if (!shown[k]) element.append((shown[k] = { span: html("span") }).span);
      const [letter, said] = [shown[k], values ? say(character, values[k]) : null];
      if (letter.character === character && letter.said === said) return;
      Object.assign(letter, { character, said });
      const strength = Math.round(127.5 * Math.min(Math.abs(values?.[k] ?? 0), 1));
      const colour = `${values?.[k] > 0 ? ORANGE : BLUE}${strength.toString(16).padStart(2, "0")}`;
      setContent(letter.span, character);
      change(letter.span, { "data-said": said, style: `background: ${colour}` });
    });
  };
};

const render = ({ model, el }) => {
  const words = model.get("words");
  const writer = model.get("writer"); // file name and size, a text, and what follows it with which logits, as in writing.py
  const stored = model.get("stored"); // what it goes on to write, as in writing.py, to show before it is loaded
  const first = characters(writer.text).length;
  let y = 0;
  const known = { characters: [...writer.characters], logits: writer.drops.map((drop) => (y -= drop) / 10_000) };
  const nameOf = namedBy(words);
  const set = setterOf(model);
  const split = {};
  const charactersOf = (name) => {
    const text = model.get(name);
    if (split[name]?.text !== text) split[name] = { text, characters: characters(text) };
    return split[name].characters;
  };
  const all = () => [...charactersOf("beginning"), ...charactersOf("written")];
  let loaded = null;

  const isStored = () => (writer.text + stored.written).startsWith(model.get("beginning") + model.get("written"));
  const equals = (...names) => names.every((name) => model.get(name) === stored[name]);

  /* The next characters, likeliest first, with probabilities p, and the index that u draws. Only `at` if not known. */
  let rank = {};
  const chances = () => {
    const text = model.get("beginning") + model.get("written");
    const at = uniform(model.get("seed"), charactersOf("written").length);
    if (loaded || text === writer.text) {
      if (rank.text !== text || rank.by !== loaded)
        rank = { ...(loaded ? loaded.ranked(loaded.read(all()).at(-1)) : known), text, by: loaded };
      const p = probabilities(rank.logits, model.get("temperature"));
      return { at, next: { characters: rank.characters, p }, drawn: sampleIndex(p, at) };
    }
    const step = isStored() && equals("temperature", "seed") && stored.steps[all().length - first];
    if (!step) return { at };
    const [characters, thousandths, drawn] = step;
    return { at, next: { characters: [...characters], p: thousandths.map((n) => n / 1000) }, drawn };
  };

  // Writing by hand, or with a timer, which stops when the text is changed in another way and waits while it is not seen.
  let [timer, setting, seen] = [null, false, false];
  const room = () => {
    const left = MOST.written - charactersOf("written").length;
    return loaded ? left : Math.min(left, first + stored.steps.length - 1 - all().length);
  };
  const add = (character) => {
    if (charactersOf("written").length === MOST.written) return;
    setting = true;
    set({ written: model.get("written") + character });
    setting = false;
  };
  const canWrite = () => room() > 0 && chances().next !== undefined;
  /* Write the k-th of the next characters, or the one that u draws. */
  const writeOne = (k) => {
    const { next, drawn } = chances();
    if (next) add(next.characters[k ?? drawn]);
  };
  const take = (k) => (stop(), writeOne(k));
  /* Load the writer where the stored text is not enough. resumes: whether it then goes on writing. */
  let [asked, resumes] = [false, false];
  const ask = () => {
    asked = true;
    waiting.element.querySelector("button").click();
  };
  const stop = () => {
    clearInterval(timer);
    timer = null;
    resumes = false;
    update();
  };
  const restart = () => (stop(), set({ written: "" }));
  const write = () => {
    if (timer !== null) return stop();
    if (!loaded && !canWrite()) {
      resumes = true;
      return ask();
    }
    let left = RUN;
    if (reducedMotion()) {
      while (left-- && canWrite()) writeOne();
      resumes = !chances().next;
    } else {
      const step = () => {
        if (run.isConnected && (document.hidden || !seen)) return;
        if (run.isConnected && left-- && canWrite()) return writeOne();
        stop();
        resumes = !chances().next;
      };
      timer = setInterval(step, loaded ? PAUSE : SLOW_PAUSE);
      update();
    }
  };
  const onText = () => setting || timer === null || stop();
  const run = button(words.write, write);

  // The beginning. Invalid text stays in its box and does not change the model.
  const id = `writing-${Math.random().toString(36).slice(2, 8)}`;
  const complaint = html("p", { id: `${id}-said`, class: "report", role: "status" });
  const complain = (wrong) => {
    setContent(complaint, wrong);
    change(box, { "aria-invalid": wrong ? "true" : null });
  };
  const typed = (event) => {
    if (event.isComposing) return; // the input method is not done
    const read = characters(box.value);
    const [text, unknown] = [read.join(""), loaded.unknown(read)];
    const wrong = !text ? words.empty : unknown.length ? fill(words.unknown, { characters: unknown.join(" ") }) : "";
    complain(wrong);
    if (wrong || text === model.get("beginning")) return;
    stop();
    set({ written: "", beginning: text });
  };
  const listens = { oninput: typed, oncompositionend: typed, "aria-describedby": `${id}-said` };
  const box = html("textarea", { id, rows: 2, maxlength: MOST.beginning, spellcheck: "false", ...listens });
  const follow = () => {
    if (characters(box.value).join("") === model.get("beginning")) return;
    box.value = model.get("beginning");
    complain("");
  };

  const arrived = (trained, focused) => {
    loaded = trained;
    const goesOn = resumes;
    update();
    if (focused) run.focus();
    if (goesOn) write();
  };
  const texts = { load: words.load, lacking: words.lacking };
  const waiting = loader(model, writer, texts, languageModel, arrived);
  waiting.element.append(html("span", {}, words.purpose));

  const picture = diagram(words, nameOf, take);
  const others = Array.from({ length: ROWS }, (_, k) => button(" ", () => take(k)));
  const named = { class: "strip others", role: "group", "aria-label": words.others };
  const instead = html("div", named, html("span", {}, words.others), others);
  const say = (character, value) =>
    fill(words.value_said, { unit: model.get("unit"), character: nameOf(character), value: fixed(value) });
  const [begun, written] = [html("b"), html("span")];
  const [paintBegun, paintWritten] = [coloured(begun, say), coloured(written, say)];
  const page = html("div", { class: "written", tabindex: 0, role: "group", "aria-label": words.text }, begun, written);
  const legend = html("p", { class: "legend" });
  const [chosen, unit] = [report(), report()];
  const beginning = html("div", {}, html("label", { for: id }, words.beginning), box, complaint);
  const count = { label: words.unit, min: 0, max: writer.hidden_size - 1, step: 1 };
  const fold = { ontoggle: () => update() };
  const inside = html(
    "details",
    fold,
    html("summary", {}, words.inside),
    legend,
    slider(model, "unit", count),
    unit.element,
  );
  const sliders = html(
    "div",
    { class: "controls" },
    slider(model, "temperature", { label: [`${words.temperature} `, symbol("τ")], min: 0, max: 2, step: 0.05 }),
    slider(model, "seed", { label: words.seed, min: 0, max: 99, step: 1 }),
  );

  const explain = () => {
    const name = model.get("unit");
    const ends = [words.in_quotation, words.outside];
    const [blue, orange] = name !== writer.unit ? ["−1", "1"] : writer.inside < 0 ? ends : ends.reverse();
    const swatch = (colour) => html("i", { style: `background: ${colour}7f` });
    const title = fill(name === writer.unit ? words.follows : words.colour, { unit: name });
    setContent(legend, title, swatch(BLUE), blue, swatch(ORANGE), orange);
  };
  const sayUnit = (text, values) => {
    // a value, and the text before it
    const place = (which) => {
      const k = values.indexOf(which(...values));
      const before = text.slice(Math.max(k - 5, 0), k + 1).map(visible);
      return [fixed(values[k]), fill(words.quoted, { character: before.join("") })];
    };
    const [[least, lowest], [most, highest]] = [place(Math.min), place(Math.max)];
    const now = fixed(values.at(-1));
    unit.set(fill(words.unit_said, { unit: model.get("unit"), now, least, lowest, most, highest }));
  };

  let length = 0;
  const update = () => {
    const { at, next, drawn } = chances();
    const [begin, since, text] = [charactersOf("beginning"), charactersOf("written"), all()];
    setContent(run, timer === null ? words.write : words.stop);
    change(beginning, { hidden: loaded === null });
    const before = isStored() && equals("unit") ? stored.values.slice(0, text.length) : undefined;
    const known = loaded?.read(text).map(({ c }) => Math.tanh(c[model.get("unit")])) ?? before;
    const values = inside.open ? known : undefined;
    if (!loaded && !asked && (!next || (inside.open && !values))) ask();
    picture.set(text, next, drawn, at);
    explain();
    paintBegun(begin, values);
    paintWritten(since, values?.slice(begin.length));
    if (since.length !== length) page.scrollTop = page.scrollHeight;
    length = since.length;
    others.forEach((other, k) => {
      setContent(other, next ? visible(next.characters[k]) : "?");
      change(other, { "aria-label": next ? nameOf(next.characters[k]) : null, disabled: !next });
    });
    chosen.element.style.visibility = timer === null ? null : "hidden"; // changes too fast to read
    const outcome = () =>
      fill(words.falls_on, { u: fixed(at), drawn: nameOf(next.characters[drawn]), q: fixed(next.p[drawn]) });
    const isFull = since.length === MOST.written;
    chosen.set(isFull ? words.full : !next ? words.unread : room() > 0 ? outcome() : words.go_on);
    if (values) sayUnit(text, values);
  };

  const seenTogether = html("div", {}, html("div", { class: "pen" }, page, run), picture.element);
  const buttons = [
    button(words.one, () => take()),
    button(words.back, () => (stop(), set({ written: charactersOf("written").slice(0, -1).join("") }))),
    button(words.restart, restart),
  ];
  const controls = [html("div", { class: "strip" }, buttons), instead, sliders, waiting.element, beginning, inside];
  const parts = { drawing: [pointed(seenTogether), chosen.element], controls };
  const sight = new IntersectionObserver((entries) => (seen = entries.at(-1).isIntersecting));
  sight.observe(el);
  const listeners = Object.entries({ beginning: () => (onText(), follow()), written: onText });
  for (const [name, listener] of listeners) model.on(`change:${name}`, listener);
  follow();
  const remove = show(model, el, parts, ["beginning", "written", "temperature", "seed", "unit"], update);
  if (model.get("alive") && canWrite() && !reducedMotion()) write();
  return () => {
    for (const [name, listener] of listeners) model.off(`change:${name}`, listener);
    sight.disconnect();
    waiting.remove();
    clearInterval(timer);
    remove();
  };
};

export default { render };
