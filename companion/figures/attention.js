/* A reader of numerals writes digits, step by step, and shows at which words it looks. */
import { decode, readSafetensors } from "./steps.js";
import { GREEN, ON_COLOUR, ORANGE, button, change, drawing, fill, fixed, group, html, loader, player, report, say, show, slider, svg, textbox, toggle } from "./kit.js";

const [LEFT, WIDTH, HIGH] = [66, 290, 19]; // of the grid, and of a row
const END = "□";
const sign = (index) => (index === 0 ? END : `${index - 1}`);

/* The words of a text as it is typed, as companion.learning.numerals.split has them. */
const split = (text, spaced) => (spaced ? text.toLowerCase().split(/[\s,-]+/).filter(Boolean) : [...text].filter((one) => one.trim()));

/* A column for each word, a row for each sign; the more is taken from a word, the stronger its square. */
const diagram = (words, rows, spaced) => {
  const top = spaced ? 88 : 30;
  const text = (x, y, content, attributes) =>
    svg("text", { x, y, "font-size": 12, fill: "currentColor", "dominant-baseline": "central", ...attributes }, content);
  const middle = { "text-anchor": "middle" };
  const whole = svg("g");
  const draw = (read, written, shown, attend) => {
    const wide = Math.min(WIDTH / read.length, 34);
    const x = (j) => LEFT + j * wide;
    const size = Math.min(13, spaced ? wide + 2 : wide);
    const heads = read.map((word, j) => {
      const [at, y] = [x(j) + wide / 2, top - 6];
      if (!spaced) return text(at, y - 6, word, { ...middle, "font-size": Math.min(15, wide + 2) });
      return text(at, y, word, { "font-size": size, transform: `rotate(-90 ${at.toFixed(2)} ${y})` });
    });
    const lines = written.slice(0, shown).map(({ sign: index, p, weights }, t) => {
      const y = top + t * HIGH;
      const now = t === shown - 1;
      const squares = read.map((_, j) => {
        const a = weights && attend ? weights[j] : 0;
        const ground = svg("rect", {
          x: x(j).toFixed(2), y, width: wide.toFixed(2), height: HIGH, stroke: "currentColor", "stroke-opacity": 0.25,
          fill: ORANGE, "fill-opacity": a.toFixed(3),
        });
        if (wide < 22 || a < 0.05) return ground;
        const colour = a > 0.8 ? ON_COLOUR : "currentColor";
        return svg("g", {}, ground, text(x(j) + wide / 2, y + HIGH / 2, fixed(a, 1), { ...middle, "font-size": 11, fill: colour }));
      });
      const bold = now ? 700 : null;
      return svg(
        "g", {},
        text(16, y + HIGH / 2, sign(index), { ...middle, "font-size": 14, "font-weight": bold, fill: now ? GREEN : "currentColor" }),
        text(58, y + HIGH / 2, fixed(p), { "text-anchor": "end", "font-size": 11, "font-weight": bold }),
        squares,
        now ? svg("rect", { x: 2, y, width: x(read.length) - 2, height: HIGH, fill: "none", stroke: GREEN, "stroke-width": 2 }) : null,
      );
    });
    whole.replaceChildren(...heads, text(58, top - 12, "p", { "text-anchor": "end", "font-style": "italic" }), ...lines);
  };
  return { element: drawing(words, 360, top + rows * HIGH + 4, whole), draw };
};

const render = ({ model, el }) => {
  const words = model.get("words");
  const known = model.get("reader"); // its file, and what it writes of one text
  const set = (values) => {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
  };
  const stored = (kind) => known[kind].signs.map((index, t) => ({ sign: index, p: known[kind].p[t], weights: known[kind].weights?.[t] ?? null }));
  const storedText = { read: known.words, attention: stored("attention"), fixed: stored("fixed") };

  let loaded = null; // { indices: word → index, attention, fixed: weights }
  const take = (buffer) => {
    const { weights, metadata } = readSafetensors(buffer);
    const of = (kind) =>
      Object.fromEntries(Object.entries(weights).filter(([name]) => name.startsWith(`${kind}.`)).map(([name, w]) => [name.slice(kind.length + 1), w]));
    loaded = { indices: new Map(JSON.parse(metadata.words).map((word, index) => [word, index])), attention: of("attention"), fixed: of("fixed") };
  };
  const wrong = (text) => {
    const read = split(text, known.spaced);
    const unknown = [...new Set(read)].filter((word) => !loaded.indices.has(word));
    if (!read.length) return words.empty;
    if (unknown.length) return fill(words.unknown, { words: unknown.join(words.comma) });
    return read.length > known.most ? fill(words.long, { most: known.most }) : "";
  };

  /* What both write of the text; of one that cannot be read, or not yet, of the last that could be. */
  let last = storedText;
  let lastText = known.text;
  const now = () => {
    const text = model.get("text");
    if (!loaded || text === lastText || wrong(text)) return last;
    const read = split(text, known.spaced);
    const indices = read.map((word) => loaded.indices.get(word));
    lastText = text;
    return (last = { read, attention: decode(indices, loaded.attention, known.longest), fixed: decode(indices, loaded.fixed, known.longest) });
  };

  const rows = known.longest + 1;
  const picture = diagram(words, rows, known.spaced);
  const [said, both] = [report(), report()];
  const box = textbox(model, "text", { label: words.number, maxlength: 400 });
  const complaint = html("p", { class: "report", role: "status" });
  const examples = known.examples.map((example, k) =>
    button(fill(words.example, { k: k + 1 }), () => set({ text: example, step: rows }), { title: example, "aria-label": example }),
  );
  const later = html("div", {}, box, complaint, html("div", { class: "strip", role: "group", "aria-label": words.examples }, html("span", {}, words.examples), examples));
  const waiting = loader(model, known, words, take, (focused) => {
    update();
    if (focused) later.querySelector("input").focus();
  });
  const play = player(model, "step", { min: 0, max: rows, words, pause: 500 });

  const update = () => {
    change(waiting.element, { hidden: loaded !== null });
    change(later, { hidden: loaded === null });
    const why = loaded ? wrong(model.get("text")) : "";
    say(complaint, why);
    change(later.querySelector("input"), { "aria-invalid": why ? "true" : null });
    const { read, ...kinds } = now();
    const attend = model.get("attend");
    const written = kinds[attend ? "attention" : "fixed"];
    const shown = Math.min(model.get("step"), written.length);
    picture.draw(read, written, shown, attend);
    const digits = (signs) => signs.filter((one) => one.sign !== 0).map((one) => sign(one.sign)).join("");
    both.set(fill(words.both, { attention: digits(kinds.attention), fixed: digits(kinds.fixed) }));
    if (shown === 0) return said.set(fill(words.begins, { count: read.length }));
    const { sign: index, p, weights } = written[shown - 1];
    const what = { step: shown, sign: index === 0 ? words.end : fill(words.quoted, { word: sign(index) }), p: fixed(p) };
    if (!attend) return said.set(fill(words.writes, what));
    const most = weights.indexOf(Math.max(...weights));
    said.set(fill(words.writes, what) + words.between + fill(words.looks, { word: fill(words.quoted, { word: read[most] }), a: fixed(weights[most]) }));
  };
  const parts = [
    picture.element,
    html("div", { class: "strip" }, play, slider(model, "step", { label: words.step, min: 0, max: rows, step: 1, show: (n) => `${n}` })),
    said.element, both.element,
    group(words.settings, toggle(model, "attend", { label: words.attend })),
    waiting.element, later,
  ];
  const remove = show(model, el, parts, ["text", "step", "attend"], update);
  return () => {
    waiting.stop();
    remove();
  };
};

export default { render };
