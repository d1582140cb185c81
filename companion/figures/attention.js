/* Figure: a trained network translates a number in words into digits; its attention weights are shown. */
import { readSafetensors } from "./weights_file.js";
import { numeralWords, greedyDecode } from "./arithmetic.js";
import { GREEN, change, drawing, fill, fixed, html, label, setContent, square, svg } from "./elements.js";
import { button, choice, loader, player, setterOf, slider, toggle, strip } from "./controls.js";
import { pointed } from "./pointer.js";
import { report, show } from "./show.js";

const MOST = { words: 25, digits: 12 }; // as in attention.py
const TRAINED = 9; // digits, as in companion.learning.numerals
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

/* A string with at most so many characters. */
const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/* The grid of attention weights: a column for each word, a row for each output sign, with its probability. The more words
 * or rows, the smaller the squares; large ones have numbers. `upwards`: words are rotated, as in English. press: functions
 * for a pressed row or word, counted from 1. */
const grid = (words, upwards, press) => {
  const [left, width, top] = [58, 300, upwards ? 76 : 46];
  const element = drawing(words, 360, 200);
  const small = { "font-size": 11, "text-anchor": "end" };
  const titles = [
    label(54, top - 36, `${words.read} →`, small),
    label(2, top - 22, `${words.written} ↓`, { ...small, "text-anchor": "start" }),
  ];
  const [column, row] = ["3 3", null].map((dashes) =>
    svg("rect", { rx: 3, fill: "none", stroke: GREEN, "stroke-width": 2, "stroke-dasharray": dashes }),
  );
  const blank = label(0, 0, words.blank);
  let [rows, heads, size, high] = [[], [], 0, 0];
  return {
    element: pointed(element),
    /* Make the grid for the whole output, so that it keeps its size while rows appear. */
    make(input, T, hasP) {
      [size, high] = [Math.min(width / input.length, 40), Math.min(18, 216 / T)];
      const digits = high < 12 || size < 16.5 ? null : size < 29 ? 1 : 2;
      const text = (value, n) => (n === 1 && value < 0.05 ? " " : fixed(value, n)); // little room: no zeros
      const font = upwards ? Math.min(12, size) : Math.min(15, size - 0.5);
      heads = input.map((word, j) => {
        const x = left + (j + 0.5) * size;
        const at = upwards
          ? { transform: `translate(${x.toFixed(2)} ${top - 5}) rotate(-90)`, "text-anchor": "start" }
          : { x: x.toFixed(2), y: top - 12, "text-anchor": "middle" };
        const looks = { "font-size": font.toFixed(2), fill: "currentColor", "dominant-baseline": "central" };
        const pressed = { cursor: "pointer", "data-said": word, onclick: () => press.word(j + 1) };
        return svg("text", { ...at, ...looks, ...pressed }, cut(word, 11));
      });
      rows = Array.from({ length: T }, (_, k) => {
        const y = top + k * high;
        const ground = svg("rect", { x: 0, y, width: left, height: high, fill: "none", "pointer-events": "all" });
        const sign = label(hasP ? 14 : 2, y + high / 2, " ", {
          "font-size": Math.min(hasP ? 15 : 11, high - 1),
          "text-anchor": hasP ? "middle" : "start",
        });
        const p = label(54, y + high / 2, " ", small);
        const cells = input.map((_, j) =>
          square(left + j * size, y, size, high, { digits, size: digits === 1 ? 10 : 11, text }),
        );
        const squares = cells.map((cell) => cell.element);
        const pressed = { cursor: "pointer", onclick: () => press.row(k + 1) };
        return { element: svg("g", pressed, sign, p, svg("g", {}, squares), ground), sign, p, cells, squares };
      });
      const y = top + T * high + 14;
      const scale = [0, 0.5, 1].map((weight, k) => {
        const one = square(left + 62 + 36 * k, y - 8, 36, 16, { digits: 1, size: 11 });
        one.set(weight);
        return one.element;
      });
      const legend = svg("g", { class: "legend" }, label(left + 56, y, words.weight, small), scale);
      const p = hasP ? label(54, top - 8, "p", small) : null;
      change(blank, { x: left + (size * input.length) / 2, y: top + (Math.floor(T / 2) + 0.5) * high });
      setContent(
        element,
        ...heads,
        ...titles,
        ...(p ? [p] : []),
        ...rows.map((row) => row.element),
        column,
        row,
        blank,
        legend,
      );
      change(element, { viewBox: `0 0 360 ${y + 10}` });
      change(column, { y: 2, width: size, height: top + T * high });
      change(row, { x: 1, width: left + input.length * size + 1, height: high });
    },
    /* Show this many rows of the output, and frame the last of them and the chosen word. The word with the largest weight,
     * `most`, is bold. said(row, j): the text for a square. */
    set(written, shown, most, word, said) {
      rows.forEach(({ element, sign, p, cells, squares }, k) => {
        const { weights, ...output } = (k < shown && written[k]) || {};
        setContent(sign, cut(output.sign ?? " ", 9));
        setContent(p, output.p === undefined ? " " : fixed(output.p));
        change(p, { "data-said": output.p === undefined ? null : `p = ${fixed(output.p, 4)}` });
        change(sign, { "font-weight": k === shown - 1 ? 700 : null, "data-said": output.sign });
        change(element.children[2], { opacity: shown && most < 0 ? 0.12 : null });
        cells.forEach((cell, j) => cell.set(weights?.[j] ?? 0, { shown: Boolean(weights) }));
        squares.forEach((square, j) =>
          change(square, { "data-said": weights ? said({ ...output, weights }, j) : null }),
        );
      });
      change(blank, { visibility: shown && most < 0 ? null : "hidden" });
      heads.forEach((head, j) => change(head, { "font-weight": j === most ? 700 : null }));
      change(row, { y: top + (shown - 1) * high, visibility: shown ? null : "hidden" });
      change(column, { x: left + (word - 1) * size, visibility: word && word <= heads.length ? null : "hidden" });
    },
  };
};

/* The outputs of both networks below the correct number. Wrong digits are bold; if the number is not known, those that differ. */
const comparison = (words) => {
  const line = (name) => [html("span", {}, name), html("output")];
  const [correct, ...lines] = [words.correct, words.with, words.without].map(line);
  return {
    element: html("div", { class: "both" }, correct, lines),
    /* number: the correct one, or undefined. ended: both outputs are complete. */
    set(texts, current, number, ended) {
      for (const element of correct) change(element, { hidden: !number });
      setContent(correct[1], number ?? "");
      texts.forEach((text, k) => {
        const expected = number ?? texts[1 - k];
        const digits = [...text].map((digit, i) => (digit === expected[i] ? digit : html("b", {}, digit)));
        const verdict = text === number ? " ✓" : " ✗";
        setContent(lines[k][1], html("bdi", {}, digits), number && ended ? verdict : "");
        for (const element of lines[k]) change(element, { class: k === current ? "now" : null });
      });
    },
  };
};

const render = ({ model, el }) => {
  const words = model.get("words");
  const source = model.get("reader"); // file name and size, and outputs that are shown before it is loaded
  const own = source.heads; // the weights of a reader's own layer: the mean of the heads, and each head
  const set = setterOf(model);
  let loaded = null;

  /* The outputs of both networks for the current text; none if they are not known without the weights. */
  let result = null;
  const outputs = () => {
    if (own) {
      const rows = own[model.get("head")].map((weights, k) => ({ sign: source.signs[k], weights }));
      return { words: source.words, attention: rows };
    }
    const text = model.get("text");
    if (result?.text !== text || result.by !== loaded) {
      const output = loaded
        ? loaded.read(text, numeralWords(text, source.language))
        : source.known.find((example) => example.text === text);
      result = { ...output, text, by: loaded };
      result.words ??= numeralWords(text, source.language);
      for (const kind of KINDS) result[kind]?.forEach((row) => (row.sign = signOf(row.index)));
    }
    return result;
  };
  const read = () => outputs().words;
  const kind = () => KINDS[own || model.get("attention") ? 0 : 1];
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
    if (!error) choose(box.value.normalize("NFC"));
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

  const choose = (text) => set({ text, t: MOST.words, word: 0 });
  const word = () => Math.min(model.get("word"), read().length);
  const picture = grid(words, source.language === "en", {
    row: (t) => set({ t: Math.min(t, length()) }),
    word: (j) => set({ word: j === word() ? 0 : j }),
  });
  const [sentence, compared] = [report(), comparison(words)];
  const note = html("p", { class: "report", role: "status" }); // why both networks are wrong
  const quoted = (j) => fill(words.quoted, { word: read()[j] });
  const move = slider(model, "t", {
    label: words.row,
    min: 1,
    max: MOST.words,
    step: 1,
    show: () => `${shown()} / ${length()}`,
  });
  const [input, output] = [move.querySelector("input"), move.querySelector("output")];
  const columns = slider(model, "word", {
    label: words.column,
    min: 0,
    max: MOST.words,
    step: 1,
    show: () => (word() ? read()[word() - 1] : "–"),
  });
  const play = player(model, "t", { min: 1, max: length, words, pause: 700 });
  const examples = source.examples.map(([number, text]) => button(`${number}`, () => choose(text)));
  const typing = html("div", {}, html("label", { for: id }, words.label), box, complaint);
  const arrived = (networks, focused) => {
    loaded = networks;
    update();
    if (focused) box.focus({ preventScroll: true });
  };
  const texts = { load: words.load, lacking: words.lacking };
  const waiting = own ? null : loader(model, source, texts, networksOf, arrived);

  let made = "";
  const update = () => {
    const all = outputs();
    const rows = all[kind()];
    const T = Math.max(...KINDS.map((name) => all[name]?.length ?? 1)); // one grid for both networks
    const shape = JSON.stringify([all.words, T]);
    if (made !== shape) picture.make(all.words, T, !own);
    made = shape;
    change(typing, { hidden: loaded === null });
    change(input, { max: length(), disabled: !rows });
    change(columns.querySelector("input"), { max: read().length });
    columns.querySelector("input").value = word();
    change(play, { disabled: !rows });
    if (Number(input.value) !== shown()) input.value = shown();
    setContent(output, `${shown()} / ${length()}`);
    change(input, { "aria-valuetext": output.textContent });
    examples.forEach((example, k) => change(example, { "aria-pressed": `${source.examples[k][1] === all.text}` }));
    change(compared.element, { hidden: !rows });
    const number = source.examples.find(([, example]) => example === all.text)?.[0].toString();
    setContent(note, number?.length > TRAINED ? words.untrained : "");
    if (!rows) {
      picture.set([], 0, -1, word());
      return sentence.set(words.unread);
    }
    const { index, sign, p, weights } = rows[shown() - 1];
    const largest = (values) => values.indexOf(Math.max(...values));
    const most = weights ? largest(weights) : -1;
    picture.set(rows, shown(), most, word(), (row, j) =>
      fill(words.value, { sign: row.sign, word: quoted(j), weight: fixed(row.weights[j], 4) }),
    );
    const [goesOn, ends] = weights ? [words.said, words.said_end] : [words.said_fixed, words.said_fixed_end];
    const lookedAt = weights ? { word: quoted(most), weight: fixed(weights[most]) } : {};
    const said = own || index ? goesOn : ends;
    const sentences = [fill(said, { sign, p: own ? "" : fixed(p), ...lookedAt })];
    if (word() && weights) {
      const column = rows.slice(0, shown()).map((row) => row.weights[word() - 1]);
      const k = largest(column);
      const at = { word: quoted(word() - 1), row: k + 1, weight: fixed(column[k]) };
      sentences.push(fill(words.said_word, at));
    }
    sentence.set(sentences.join(words.between));
    if (own) return;
    const ended = shown() === length();
    const end = ended ? MOST.words : shown(); // the other output may be longer
    const digits = KINDS.map((name) =>
      all[name]
        .slice(0, end)
        .map((row) => row.sign)
        .join("")
        .replace(END, ""),
    );
    compared.set(digits, KINDS.indexOf(kind()), number, ended);
  };

  const headOptions = own?.map((_, head) => [head, head ? fill(words.one_head, { head }) : words.mean]);
  const ofNetworks = () => [
    strip(words.examples, html("span", {}, words.examples), examples),
    note,
    waiting.element,
    typing,
  ];
  const controls = [
    html("div", { class: "strip" }, play, own ? null : toggle(model, "attention", { label: words.attention })),
    [move, columns],
    own?.length > 2 ? choice(model, "head", { label: words.head, options: headOptions }) : null,
    own ? [] : ofNetworks(),
  ];
  const parts = { drawing: [picture.element, sentence.element, own ? null : compared.element], controls };
  model.on("change:text", follow);
  follow();
  const remove = show(model, el, parts, ["text", "attention", "t", "word", "head"], update);
  return () => {
    model.off("change:text", follow);
    waiting?.remove();
    remove();
  };
};

export default { render };
