/* Figure: a trained language model continues a text, one character after the other. */
import { uniform } from "./numbers.js";
import { characters } from "./characters.js";
import { readSafetensors } from "./weights_file.js";
import { sampleIndex, probabilities, languageModelStep } from "./arithmetic.js";
import { BLUE, GREEN, ORANGE, change, drawing, fill, fixed, html, label, setContent, svg, symbol } from "./elements.js";
import { button, group, loader, slider, reducedMotion } from "./controls.js";
import { report, show } from "./show.js";

const ROWS = 8; // of characters; another row is for all others
const RUN = 200; // characters of one run
const PAUSE = 100; // milliseconds between two characters; longer before the writer is loaded, so that all can be followed
const SLOW_PAUSE = 250;
const MOST = { beginning: 400, written: 2000 }; // as in writing.py

const visible = (character) => ({ " ": "␣", "\n": "⏎" })[character] ?? character;

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
const diagram = (words, take) => {
  const [left, width, top, high] = [40, 272, 62, 21];
  const x = (p) => left + p * width;
  const middle = { "text-anchor": "middle", "dominant-baseline": "central" };
  const upright = (at, y, size, attributes = {}) =>
    svg("text", { x: at, y, "font-size": size, fill: "currentColor", ...middle, ...attributes });
  const text = upright(214, 18, 15, { "text-anchor": "end" });
  const next = upright(231, 18, 15);
  const rows = Array.from({ length: ROWS + 1 }, (_, k) => {
    const y = top + k * high;
    const bar = svg("rect", { y: y + 2, height: high - 4, fill: "currentColor" });
    const [name, p] = [upright(22, y + high / 2, 15), upright(354, y + high / 2, 12, { "text-anchor": "end" })];
    const element = svg(
      "g",
      { onclick: () => k < ROWS && take(k) },
      svg("rect", { x: 0, y, width: 360, height: high, fill: "currentColor", "fill-opacity": 0 }),
      svg("rect", { x: left, y: y + 2, width, height: high - 4, fill: "currentColor", "fill-opacity": 0.06 }),
      bar,
      name,
      p,
    );
    return { element, bar, name, p };
  });
  const bottom = top + (ROWS + 1) * high;
  const line = svg("line", { y1: top - 4, y2: bottom + 4, stroke: GREEN, "stroke-width": 2 });
  const u = svg("g", {}, label(0, top - 14, "u"), upright(0, top - 13.5, 12, { "text-anchor": "start" }));
  const number = u.lastChild;
  u.firstChild.setAttribute("text-anchor", "end");
  const ticks = [0, 0.5, 1].map((p) => [
    svg("line", { x1: x(p), x2: x(p), y1: bottom, y2: bottom + 4, stroke: "currentColor", "stroke-opacity": 0.5 }),
    upright(x(p), bottom + 13, 11),
  ]);
  ticks.forEach(([, text], k) => setContent(text, ["0", "0.5", "1"][k]));
  const element = drawing(
    words,
    360,
    bottom + 22,
    text,
    svg("rect", { x: 218, y: 5, width: 26, height: 26, rx: 3, fill: GREEN, "fill-opacity": 0.2, stroke: GREEN }),
    next,
    rows.map((row) => row.element),
    ticks,
    line,
    u,
    label(346, top - 14, "p"),
  );
  return {
    element,
    set(read, chances, drawn, at, { choosable }) {
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
        change(element, { cursor: choosable && k < ROWS ? "pointer" : null });
        below += length;
      });
      change(line, { x1: x(at), x2: x(at) });
      setContent(number, `\u00a0= ${fixed(at)}`);
      change(u, {
        transform: `translate(${Math.min(Math.max(x(at) - 16, left + 6), left + width - 36).toFixed(2)} 0)`,
      });
    },
  };
};

/* A text with each character on the colour of its value: blue at -1, orange at 1. The opacity is at most one half, so that
 * letters stay legible. */
const coloured = (element) => {
  const shown = [];
  return (text, values) => {
    while (shown.length > text.length) shown.pop().span.remove();
    text.forEach((character, k) => {
      if (!shown[k]) element.append((shown[k] = { span: html("span", {}) }).span);
      const strength = Math.round(127.5 * Math.min(Math.abs(values?.[k] ?? 0), 1));
      const colour = `${values?.[k] > 0 ? ORANGE : BLUE}${strength.toString(16).padStart(2, "0")}`;
      const letter = shown[k];
      if (letter.character !== character) letter.span.textContent = letter.character = character;
      if (letter.colour !== colour) letter.span.style.background = letter.colour = colour;
    });
  };
};

const render = ({ model, el }) => {
  const words = model.get("words");
  const writer = model.get("writer"); // file name and size, and logits that are shown before it is loaded
  const stored = model.get("stored"); // on the front page: what the writer wrote, as in writing.py, to begin with
  const set = (values) => {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
  };
  const quoted = (character) => fill(words.quoted, { character });
  const named = (character) => ({ " ": words.space, "\n": words.newline })[character] ?? quoted(character);
  const split = {};
  const charactersOf = (name) => {
    const text = model.get(name);
    if (split[name]?.text !== text) split[name] = { text, characters: characters(text) };
    return split[name].characters;
  };
  const all = () => [...charactersOf("beginning"), ...charactersOf("written")];
  let loaded = null;

  /* Whether the stored text is shown, and what was stored about its next character. */
  const replays = () => stored && !loaded;

  /* The next characters, likeliest first, with probabilities p, and the index that u draws. Only `at` if not known. */
  let rank = {};
  const chances = () => {
    const text = model.get("beginning") + model.get("written");
    const at = uniform(model.get("seed"), charactersOf("written").length);
    if (replays()) {
      const [characters, thousandths, drawn] = stored.steps[charactersOf("written").length];
      return { at, next: { characters, p: thousandths.map((n) => n / 1000) }, drawn };
    }
    if (!loaded && text !== writer.text) return { at };
    if (rank.text !== text || rank.by !== loaded) {
      const { characters, logits } = loaded ? loaded.ranked(loaded.read(all()).at(-1)) : writer;
      rank = { text, by: loaded, characters, logits };
    }
    const p = probabilities(rank.logits, model.get("temperature"));
    return { at, next: { characters: rank.characters, p }, drawn: sampleIndex(p, at) };
  };

  // Writing by hand, or with a timer, which stops when the text is changed in another way and waits while it is not seen.
  let [timer, setting, seen] = [null, false, false];
  const room = () => (loaded ? MOST.written : stored ? stored.steps.length - 1 : 0) - charactersOf("written").length;
  const add = (character) => {
    if (room() < 1) return;
    setting = true;
    set({ written: model.get("written") + character });
    setting = false;
  };
  const writeOne = () => {
    const { next, drawn } = chances();
    add(next.characters[drawn]);
  };
  const take = (k) => {
    stop();
    if (loaded) add(chances().next.characters[k]);
  };
  const stop = () => {
    clearInterval(timer);
    timer = null;
    update();
  };
  const write = () => {
    if (timer !== null) return stop();
    if (replays() && !room()) set({ written: "" });
    let left = RUN;
    if (reducedMotion()) while (left-- && room()) writeOne();
    else {
      const step = () => {
        if (run.isConnected && (document.hidden || !seen)) return;
        if (run.isConnected && left-- && room()) writeOne();
        else stop();
      };
      timer = setInterval(step, loaded ? PAUSE : SLOW_PAUSE);
      update();
    }
  };
  const onText = () => setting || timer === null || stop();
  const run = button(words.write, write);
  const back = () => (stop(), set({ written: charactersOf("written").slice(0, -1).join("") }));

  // The beginning. Invalid text stays in its box and does not change the model.
  const id = `writing-${Math.random().toString(36).slice(2, 8)}`;
  const complaint = html("p", { id: `${id}-said`, class: "report", role: "status" });
  const typed = (event) => {
    if (event.isComposing) return; // the input method is not done
    const read = characters(box.value);
    const [text, unknown] = [read.join(""), loaded.unknown(read)];
    const wrong = !text ? words.empty : unknown.length ? fill(words.unknown, { characters: unknown.join(" ") }) : "";
    setContent(complaint, wrong);
    change(box, { "aria-invalid": wrong ? "true" : null });
    if (wrong || text === model.get("beginning")) return;
    stop();
    set({ written: "", beginning: text });
  };
  const box = html("textarea", {
    id,
    rows: 2,
    maxlength: MOST.beginning,
    spellcheck: "false",
    "aria-describedby": `${id}-said`,
    oninput: typed,
    oncompositionend: typed,
  });
  const follow = () => {
    if (characters(box.value).join("") === model.get("beginning")) return;
    box.value = model.get("beginning");
    setContent(complaint, "");
    change(box, { "aria-invalid": null });
  };

  const waiting = loader(
    model,
    writer,
    { load: words.load, lacking: words.lacking },
    languageModel,
    (trained, focused) => {
      loaded = trained;
      update();
      if (focused) run.focus();
    },
  );

  waiting.element.append(html("span", {}, words.purpose));

  const picture = diagram(words, take);
  const others = Array.from({ length: ROWS }, (_, k) => button(" ", () => take(k)));
  const [begun, written] = [html("b"), html("span")];
  const [paintBegun, paintWritten] = [coloured(begun), coloured(written)];
  const page = html("div", { class: "written", tabindex: 0, role: "group", "aria-label": words.text }, begun, written);
  const [chosen, unit] = [report(), report()];
  const scale = html("span", { class: "scale" }, "−1", html("i"), "1");
  const later = [
    html(
      "div",
      { class: "strip others", role: "group", "aria-label": words.others },
      html("span", {}, words.others),
      others,
    ),
    button(words.one, () => (stop(), writeOne())),
    button(words.back, back),
    button(words.restart, () => (stop(), set({ written: "" }))),
    html("div", {}, html("label", { for: id }, words.beginning), box, complaint),
    html(
      "div",
      {},
      group(
        words.inside,
        slider(model, "unit", { label: words.unit, min: 0, max: writer.hidden_size - 1, step: 1, show: (n) => `${n}` }),
        html("div", { class: "control" }, html("span", {}, "tanh(", symbol("c_t"), ")"), scale),
      ),
      unit.element,
    ),
  ];
  const sliders = html(
    "div",
    { class: "controls" },
    slider(model, "temperature", { label: [`${words.temperature} `, symbol("τ")], min: 0, max: 2, step: 0.05 }),
    slider(model, "seed", { label: words.seed, min: 0, max: 99, step: 1, show: (n) => `${n}` }),
  );
  const showLoaded = () => {
    change(page, { hidden: !loaded && !stored && !model.get("written") });
    change(run, { hidden: !loaded && !stored });
    setContent(run, timer !== null ? words.stop : replays() && !room() ? words.restart : words.write);
    change(sliders, { hidden: replays() }); // what is stored does not depend on them
    for (const element of later) change(element, { hidden: loaded === null });
  };

  let length = 0;
  const update = () => {
    showLoaded();
    const { at, next, drawn } = chances();
    const [begin, since, text] = [charactersOf("beginning"), charactersOf("written"), all()];
    const known = replays() ? stored.values.slice(0, text.length) : undefined;
    const values = loaded?.read(text).map(({ c }) => Math.tanh(c[model.get("unit")])) ?? known;
    picture.set(text, next, drawn, at, { choosable: loaded !== null });
    paintBegun(begin, values);
    paintWritten(since, values?.slice(begin.length));
    if (since.length !== length) page.scrollTop = page.scrollHeight;
    length = since.length;
    if (next)
      others.forEach((other, k) => {
        setContent(other, visible(next.characters[k]));
        change(other, { "aria-label": named(next.characters[k]) });
      });
    chosen.element.style.visibility = timer === null ? null : "hidden"; // changes too fast to read
    const chance = (k) => [named(next.characters[k]), fixed(next.p[k])];
    const outcome = () => {
      const [[likeliest, p], [character, q]] = [chance(0), chance(drawn)];
      return fill(words.drawn, { likeliest, p, u: fixed(at), drawn: character, q });
    };
    chosen.set(!next ? words.unread : room() ? outcome() : loaded ? words.full : stored ? words.go_on : outcome());
    if (!values) return;
    // a value, and the text before it
    const place = (k) => [
      fixed(values[k]),
      quoted(
        text
          .slice(Math.max(k - 5, 0), k + 1)
          .map(visible)
          .join(""),
      ),
    ];
    const [[least, lowest], [most, highest]] = [Math.min, Math.max].map((which) =>
      place(values.indexOf(which(...values))),
    );
    unit.set(
      fill(words.unit_said, { unit: model.get("unit"), now: fixed(values.at(-1)), least, lowest, most, highest }),
    );
  };

  const [instead, one, backwards, restart, beginning, inside] = later;
  const parts = [
    page,
    html("div", { class: "strip" }, run, one, backwards, restart, waiting.element),
    beginning,
    picture.element,
    chosen.element,
    instead,
    sliders,
    inside,
  ];
  const sight = new IntersectionObserver((entries) => (seen = entries.at(-1).isIntersecting));
  sight.observe(el);
  const texts = ["beginning", "written"];
  for (const name of texts) model.on(`change:${name}`, onText);
  model.on("change:beginning", follow);
  follow();
  const remove = show(model, el, parts, [...texts, "temperature", "seed", "unit"], update);
  if (stored && !reducedMotion()) write();
  return () => {
    for (const name of texts) model.off(`change:${name}`, onText);
    sight.disconnect();
    model.off("change:beginning", follow);
    waiting.remove();
    clearInterval(timer);
    remove();
  };
};

export default { render };
