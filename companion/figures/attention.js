/* Figure: a trained network translates a number in words into digits; its attention weights are shown. */
import { readSafetensors } from "./weights_file.js";
import { numeralWords, greedyDecode } from "./arithmetic.js";
import { GREEN, change, drawing, fill, fixed, html, label, setContent, square, svg } from "./elements.js";
import { button, loader, player, slider, toggle } from "./controls.js";
import { report, show } from "./show.js";

const MOST = { words: 25, digits: 12 }; // as in attention.py
const KINDS = ["attention", "fixed"];
const END = "⏎";
const signOf = (index) => (index === 0 ? END : `${index - 1}`);

/* The networks of a file, with attention and without. */
const networksOf = (file) => {
  const { weights, metadata } = readSafetensors(file);
  const vocabulary = JSON.parse(metadata.words);
  const indices = new Map(vocabulary.map((word, index) => [word, index]).slice(1)); // the first is padding
  const weightsOf = Object.fromEntries(KINDS.map((kind) => [kind, {}]));
  for (const [name, weight] of Object.entries(weights)) {
    const [kind] = name.split(".", 1);
    weightsOf[kind][name.slice(kind.length + 1)] = weight;
  }
  return {
    unknown: (tokens) => [...new Set(tokens)].filter((word) => !indices.has(word)),
    read(text, tokens) {
      const input = tokens.map((word) => indices.get(word));
      return {
        text,
        words: tokens,
        ...Object.fromEntries(KINDS.map((kind) => [kind, greedyDecode(input, weightsOf[kind], MOST.digits)])),
      };
    },
  };
};

/* The grid of attention weights: a column for each word, a row for each output sign, with its probability. The more words,
 * the smaller the squares; large ones have numbers. `upwards`: words are rotated, as in English. */
const grid = (words, upwards) => {
  const [left, width, high] = [58, 300, 21];
  const top = upwards ? 78 : 26;
  const element = drawing(words, 360, 200);
  let [rows, heads, frame] = [[], [], null];
  return {
    element,
    /* Make the grid for the whole output, so that it keeps its size while rows appear. */
    make(input, T) {
      const size = Math.min(width / input.length, 40);
      const digits = size >= 29 ? 2 : null;
      const font = upwards ? Math.min(12, size) : Math.min(15, size - 0.5);
      heads = input.map((word, j) => {
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
        const cells = input.map((_, j) => square(left + j * size, y, size, high, { digits, size: 11 }));
        return {
          element: svg(
            "g",
            {},
            sign,
            p,
            svg(
              "g",
              {},
              cells.map((cell) => cell.element),
            ),
          ),
          sign,
          p,
          cells,
        };
      });
      frame = svg("rect", {
        x: 3,
        width: left - 3 + input.length * size + 2,
        height: high,
        rx: 3,
        fill: "none",
        stroke: GREEN,
        "stroke-width": 2,
      });
      setContent(element, ...heads, ...rows.map((row) => row.element), frame);
      change(element, { viewBox: `0 0 360 ${top + T * high + 4}` });
    },
    /* Show this many rows of the output. The last of them is framed, and the word with the largest weight, `most`, is bold. */
    set(written, shown, most) {
      rows.forEach(({ element, sign, p, cells }, k) => {
        const { index, p: chance, weights } = written[k] ?? {};
        const visible = k < shown;
        setContent(sign, visible ? signOf(index) : " ");
        setContent(p, visible ? fixed(chance) : " ");
        change(sign, { "font-weight": k === shown - 1 ? 700 : null });
        change(element.lastChild, { opacity: weights ? null : 0.4 });
        cells.forEach((cell, j) => cell.set(weights?.[j] ?? 0, { shown: visible && Boolean(weights) }));
      });
      heads.forEach((head, j) => change(head, { "font-weight": j === most ? 700 : null }));
      change(frame, { y: top + (shown - 1) * high, visibility: shown ? null : "hidden" });
    },
  };
};

/* The outputs of both networks, one below the other; bold from the first difference on. */
const comparison = (words) => {
  const lines = KINDS.map((_, k) => [html("span", {}, k ? words.without : words.with), html("output", {})]);
  return {
    element: html("div", { class: "both" }, lines),
    set(texts, current) {
      const difference = [...texts[0]].findIndex((digit, k) => digit !== texts[1][k]);
      const common = difference < 0 ? texts[0].length : difference;
      texts.forEach((text, k) => {
        setContent(lines[k][1], text.slice(0, common), html("b", {}, text.slice(common)));
        for (const element of lines[k]) change(element, { class: k === current ? "now" : null });
      });
    },
  };
};

const render = ({ model, el }) => {
  const words = model.get("words");
  const source = model.get("reader"); // file name and size, and outputs that are shown before it is loaded
  const set = (values) => {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
  };
  let loaded = null;

  /* The outputs of both networks for the current text; none if they are not known without the weights. */
  let result = null;
  const outputs = () => {
    const text = model.get("text");
    if (result?.text !== text || result.by !== loaded) {
      const output = loaded
        ? loaded.read(text, numeralWords(text, source.language))
        : source.known.find((example) => example.text === text);
      result = { ...output, text, by: loaded };
      result.words ??= numeralWords(text, source.language);
    }
    return result;
  };
  const kind = () => KINDS[model.get("attention") ? 0 : 1];
  const length = () => outputs()[kind()]?.length ?? 1;
  const shown = () => Math.min(model.get("t"), length());

  // The number in words. Invalid text stays in its box and does not change the model.
  const id = `attention-${Math.random().toString(36).slice(2, 8)}`;
  const complaint = html("p", { id: `${id}-said`, class: "report", role: "status" });
  const errorIn = (input) => {
    const unknown = loaded.unknown(input);
    if (!input.length) return words.empty;
    if (unknown.length) return fill(words.unknown, { words: unknown.join(words.comma) });
    return input.length > MOST.words ? fill(words.long, { count: input.length, most: MOST.words }) : "";
  };
  const typed = (event) => {
    if (event.isComposing) return; // the input method is not done
    const error = errorIn(numeralWords(box.value, source.language));
    setContent(complaint, error);
    change(box, { "aria-invalid": error ? "true" : null });
    if (!error) set({ text: box.value.normalize("NFC"), t: MOST.digits + 1 });
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
    setContent(complaint, "");
    change(box, { "aria-invalid": null });
  };

  const picture = grid(words, source.language === "en");
  const [sentence, compared] = [report(), comparison(words)];
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
  const waiting = loader(
    model,
    source,
    { load: words.load, lacking: words.lacking },
    networksOf,
    (networks, focused) => {
      loaded = networks;
      update();
      if (focused) box.focus();
    },
  );

  let made = "";
  const update = () => {
    const all = outputs();
    const rows = all[kind()];
    const T = Math.max(...KINDS.map((name) => all[name]?.length ?? 1)); // one grid for both networks
    const shape = JSON.stringify([all.words, T]);
    if (made !== shape) picture.make(all.words, T);
    made = shape;
    change(typing, { hidden: loaded === null });
    change(input, { max: length(), disabled: !rows });
    change(play, { disabled: !rows });
    if (Number(input.value) !== shown()) input.value = shown();
    setContent(output, `${shown()} / ${length()}`);
    change(input, { "aria-valuetext": output.textContent });
    examples.forEach((example, k) =>
      change(example, { "aria-pressed": source.examples[k][1] === all.text ? "true" : "false" }),
    );
    change(compared.element, { hidden: !rows });
    if (!rows) {
      picture.set([], 0);
      return sentence.set(words.unread);
    }
    const { index, p, weights } = rows[shown() - 1];
    const most = weights ? weights.indexOf(Math.max(...weights)) : -1;
    picture.set(rows, shown(), most);
    const [goesOn, ends] = weights ? [words.said, words.said_end] : [words.said_fixed, words.said_fixed_end];
    const lookedAt = weights
      ? { word: fill(words.quoted, { word: all.words[most] }), weight: fixed(weights[most]) }
      : {};
    sentence.set(fill(index ? goesOn : ends, { sign: signOf(index), p: fixed(p), ...lookedAt }));
    const texts = KINDS.map((name) =>
      all[name]
        .slice(0, -1)
        .map((row) => signOf(row.index))
        .join(""),
    );
    compared.set(texts, KINDS.indexOf(kind()));
  };

  const parts = [
    picture.element,
    sentence.element,
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
