/* A trained reader turns a number in words into digits, and shows which words it looks at for each. */
import { readSafetensors } from "./reading.js";
import { numeralWords, writeNumber } from "./steps.js";
import { GREEN, change, drawing, fill, fixed, html, label, say, square, svg } from "./kit.js";
import { button, loader, player, slider, toggle } from "./controls.js";
import { report, show } from "./show.js";

const MOST = { words: 25, digits: 12 }; // as in attention.py
const KINDS = ["attention", "fixed"];
const END = "⏎";
const signOf = (index) => (index === 0 ? END : `${index - 1}`);

/* Reads numbers in words, with attention and without. */
const reader = (file) => {
  const { weights, metadata } = readSafetensors(file);
  const known = JSON.parse(metadata.words);
  const indices = new Map(known.map((word, index) => [word, index]).slice(1)); // the first is padding
  const of = Object.fromEntries(KINDS.map((kind) => [kind, {}]));
  for (const [name, weight] of Object.entries(weights)) {
    const [kind] = name.split(".", 1);
    of[kind][name.slice(kind.length + 1)] = weight;
  }
  return {
    unknown: (found) => [...new Set(found)].filter((word) => !indices.has(word)),
    read(text, found) {
      const read = found.map((word) => indices.get(word));
      return {
        text,
        words: found,
        ...Object.fromEntries(KINDS.map((kind) => [kind, writeNumber(read, of[kind], MOST.digits)])),
      };
    },
  };
};

/* The grid: a column for each word, a row for each sign that was written, with its probability. Squares become smaller
 * where words are many, and have their numbers where they are few. English words stand upwards, signs upright. */
const grid = (words, upwards) => {
  const [left, width, high] = [58, 300, 21];
  const top = upwards ? 78 : 26;
  const element = drawing(words, 360, 200);
  let [rows, heads, frame] = [[], [], null];
  return {
    element,
    /* As large as all that will be written, so that nothing moves while it is. */
    make(found, T) {
      const size = Math.min(width / found.length, 40);
      const digits = size >= 29 ? 2 : null;
      const font = upwards ? Math.min(12, size) : Math.min(15, size - 0.5);
      heads = found.map((word, j) => {
        const x = left + (j + 0.5) * size;
        const at = upwards
          ? { transform: `translate(${x.toFixed(2)} ${top - 5}) rotate(-90)`, "text-anchor": "start" }
          : { x: x.toFixed(2), y: top - 12, "text-anchor": "middle" };
        return svg(
          "text",
          { ...at, "font-size": font.toFixed(2), fill: "currentColor", "dominant-baseline": "central" },
          word,
        );
      });
      rows = Array.from({ length: T }, (_, k) => {
        const y = top + k * high;
        const sign = label(14, y + high / 2, " ", { "font-size": 15 });
        const p = label(50, y + high / 2, " ", { "font-size": 11, "text-anchor": "end" });
        const cells = found.map((_, j) => square(left + j * size, y, size, high, { digits, size: 11 }));
        return {
          element: svg(
            "g",
            {},
            sign,
            p,
            svg(
              "g",
              {},
              cells.map((one) => one.element),
            ),
          ),
          sign,
          p,
          cells,
        };
      });
      frame = svg("rect", {
        x: 3,
        width: left - 3 + found.length * size + 2,
        height: high,
        rx: 3,
        fill: "none",
        stroke: GREEN,
        "stroke-width": 2,
      });
      say(element, ...heads, ...rows.map((row) => row.element), frame);
      change(element, { viewBox: `0 0 360 ${top + T * high + 4}` });
    },
    /* So many rows of what was written; the last of them is framed, and the word that it looks at most is bold. */
    set(written, shown, most) {
      rows.forEach(({ element, sign, p, cells }, k) => {
        const { index, p: chance, weights } = written[k] ?? {};
        const there = k < shown;
        say(sign, there ? signOf(index) : " ");
        say(p, there ? fixed(chance) : " ");
        change(sign, { "font-weight": k === shown - 1 ? 700 : null });
        change(element.lastChild, { opacity: weights ? null : 0.4 });
        cells.forEach((one, j) => one.set(weights?.[j] ?? 0, { shown: there && Boolean(weights) }));
      });
      heads.forEach((head, j) => change(head, { "font-weight": j === most ? 700 : null }));
      change(frame, { y: top + (shown - 1) * high, visibility: shown ? null : "hidden" });
    },
  };
};

/* What both readers have written, one below the other; from where they part, in bold. */
const both = (words) => {
  const lines = KINDS.map((_, k) => [html("span", {}, k ? words.without : words.with), html("output", {})]);
  return {
    element: html("div", { class: "both" }, lines),
    set(texts, now) {
      const parting = [...texts[0]].findIndex((digit, k) => digit !== texts[1][k]);
      const common = parting < 0 ? texts[0].length : parting;
      texts.forEach((text, k) => {
        say(lines[k][1], text.slice(0, common), html("b", {}, text.slice(common)));
        for (const one of lines[k]) change(one, { class: k === now ? "now" : null });
      });
    },
  };
};

const render = ({ model, el }) => {
  const words = model.get("words");
  const source = model.get("reader"); // its file, and what is known of it before it is loaded
  const set = (values) => {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
  };
  let loaded = null;

  /* What both readers write for the text as it is now; nothing if that is not known. */
  let result = null;
  const found = () => {
    const text = model.get("text");
    if (result?.text !== text || result.by !== loaded) {
      const read = loaded
        ? loaded.read(text, numeralWords(text, source.language))
        : source.known.find((one) => one.text === text);
      result = { ...read, text, by: loaded };
      result.words ??= numeralWords(text, source.language);
    }
    return result;
  };
  const kind = () => KINDS[model.get("attention") ? 0 : 1];
  const length = () => found()[kind()]?.length ?? 1;
  const shown = () => Math.min(model.get("t"), length());

  // A number in words: what cannot be read stays in its box, and the model keeps what it has.
  const id = `attention-${Math.random().toString(36).slice(2, 8)}`;
  const complaint = html("p", { id: `${id}-said`, class: "report", role: "status" });
  const wrongWith = (read) => {
    const unknown = loaded.unknown(read);
    if (!read.length) return words.empty;
    if (unknown.length) return fill(words.unknown, { words: unknown.join(words.comma) });
    return read.length > MOST.words ? fill(words.long, { count: read.length, most: MOST.words }) : "";
  };
  const typed = (event) => {
    if (event.isComposing) return; // half a syllable is no sign yet
    const wrong = wrongWith(numeralWords(box.value, source.language));
    say(complaint, wrong);
    change(box, { "aria-invalid": wrong ? "true" : null });
    if (!wrong) set({ text: box.value.normalize("NFC"), t: MOST.digits + 1 });
  };
  const box = html("textarea", {
    id,
    rows: 2,
    maxlength: 400,
    spellcheck: "false",
    "aria-describedby": `${id}-said`,
    oninput: typed,
    oncompositionend: typed,
  });
  const follow = () => {
    if (box.value.normalize("NFC") === model.get("text")) return;
    box.value = model.get("text");
    say(complaint, "");
    change(box, { "aria-invalid": null });
  };

  const picture = grid(words, source.language === "en");
  const [now, compared] = [report(), both(words)];
  const move = slider(model, "t", {
    label: words.written,
    min: 1,
    max: MOST.digits + 1,
    step: 1,
    show: () => `${shown()} / ${length()}`,
  });
  const [input, output] = [move.querySelector("input"), move.querySelector("output")];
  const play = player(model, "t", { min: 1, max: length, words, pause: 700 });
  const choose = (text) => set({ text, t: MOST.digits + 1 });
  const examples = source.examples.map(([number, text]) => button(`${number}`, () => choose(text)));
  const typing = html("div", {}, html("label", { for: id }, words.label), box, complaint);
  const waiting = loader(model, source, { load: words.load, lacking: words.lacking }, reader, (it, focused) => {
    loaded = it;
    update();
    if (focused) box.focus();
  });

  let made = "";
  const update = () => {
    const all = found();
    const rows = all[kind()];
    const T = Math.max(...KINDS.map((one) => all[one]?.length ?? 1)); // the grid stays when attention is switched
    const shape = JSON.stringify([all.words, T]);
    if (made !== shape) picture.make(all.words, T);
    made = shape;
    change(typing, { hidden: loaded === null });
    change(input, { max: length(), disabled: !rows });
    change(play, { disabled: !rows });
    if (Number(input.value) !== shown()) input.value = shown();
    say(output, `${shown()} / ${length()}`);
    change(input, { "aria-valuetext": output.textContent });
    examples.forEach((one, k) =>
      change(one, { "aria-pressed": source.examples[k][1] === all.text ? "true" : "false" }),
    );
    change(compared.element, { hidden: !rows });
    if (!rows) {
      picture.set([], 0);
      return now.set(words.unread);
    }
    const { index, p, weights } = rows[shown() - 1];
    const most = weights ? weights.indexOf(Math.max(...weights)) : -1;
    picture.set(rows, shown(), most);
    const [goesOn, ends] = weights ? [words.said, words.said_end] : [words.said_fixed, words.said_fixed_end];
    const looked = weights ? { word: fill(words.quoted, { word: all.words[most] }), weight: fixed(weights[most]) } : {};
    now.set(fill(index ? goesOn : ends, { sign: signOf(index), p: fixed(p), ...looked }));
    const texts = KINDS.map((one) =>
      all[one]
        .slice(0, -1)
        .map((row) => signOf(row.index))
        .join(""),
    );
    compared.set(texts, KINDS.indexOf(kind()));
  };

  const parts = [
    picture.element,
    now.element,
    html("div", { class: "strip" }, play, move, toggle(model, "attention", { label: words.attention })),
    compared.element,
    html(
      "div",
      { class: "strip", role: "group", "aria-label": words.examples },
      html("span", {}, words.examples),
      examples,
    ),
    waiting.element,
    typing,
  ];
  model.on("change:text", follow);
  follow();
  const remove = show(model, el, parts, ["text", "attention", "t"], update);
  return () => {
    model.off("change:text", follow);
    waiting.remove();
    remove();
  };
};

export default { render };
