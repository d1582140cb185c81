/* Figure: three networks predict the character at a place; bars below the earlier characters show what each contributes. */
import READER from "./past_reader.js" with { type: "text" };
import { characters } from "./characters.js";
import { readSafetensors } from "./weights_file.js";
import { BLUE, GREEN, ORANGE, change, drawing, fill, fixed, html, label, setContent, svg, symbol } from "./elements.js";
import { button, loader, slider } from "./controls.js";
import { report, show } from "./show.js";

const [LEFT, RIGHT, LETTER, BAND, BAR, LINE] = [34, 358, 20, 23, 20, 98];
const KINDS = ["RNN", "GRU", "LSTM"];
const MOST = 120; // characters, as in past.py

const widthOf = (character) => (/[\u1100-\u11ff\u2e80-\uffdc]/.test(character) ? 15.5 : character === " " ? 8 : 11.5);

/* The place of each character: { x, width, line }. Lines break at blanks if possible, and at line feeds. */
const placesOf = (text) => {
  const places = [];
  let [x, line, begin] = [LEFT, 0, 0];
  text.forEach((character, k) => {
    const width = widthOf(character);
    if (x + width > RIGHT) {
      const blank = text.lastIndexOf(" ", k - 1);
      const from = blank > begin && k - blank < 12 && character !== " " ? blank + 1 : k;
      [x, line, begin] = [LEFT, line + 1, from];
      for (let moved = from; moved < k; moved++) {
        Object.assign(places[moved], { x, line });
        x += places[moved].width;
      }
    }
    places.push({ x, width, line });
    x += width;
    if (character === "\n") [x, line, begin] = [LEFT, line + 1, k + 1];
  });
  return places;
};

/* The networks of a file, run in a worker. `results` returns null until the worker has answered; then `arrived` is called.
 * Answers are cached. */
const networksOf = (file, arrived) => {
  const { weights, metadata } = readSafetensors(file);
  const indices = new Map(JSON.parse(metadata.characters).map((character, index) => [character, index]));
  const cache = new Map();
  let [pending, next] = [null, null]; // the key of the running request, and the next request
  const reader = new Worker(URL.createObjectURL(new Blob([READER], { type: "text/javascript" })));
  reader.postMessage({ weights, kinds: KINDS });
  const send = () => {
    if (pending || !next) return;
    reader.postMessage(next); // the newest; older ones are obsolete
    [pending, next] = [next.key, null];
  };
  reader.onmessage = ({ data: { key, results } }) => {
    if (cache.size > 200) cache.clear();
    cache.set(key, results);
    pending = null;
    send();
    arrived();
  };
  return {
    unknown: (text) => [...new Set(text)].filter((character) => !indices.has(character)),
    results(text, place, measure) {
      const key = JSON.stringify([text, place, measure]);
      if (!cache.has(key) && key !== pending)
        next = { key, indices: text.map((character) => indices.get(character)), place, measure };
      send();
      return cache.get(key) ?? null;
    },
    remove: () => reader.terminate(),
  };
};

/* The place in a changed text: before the same remaining text, if that has not changed. */
const movedPlace = (before, after, place) => {
  const rest = before.slice(place);
  const same = rest.join("") === after.slice(-rest.length).join("");
  const moved = same || rest.length === 1 ? after.length - rest.length : place;
  return Math.min(Math.max(moved, 1), after.length - 1);
};

const render = ({ model, el }) => {
  const words = model.get("words");
  const stored = model.get("networks");
  const set = (values) => {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
  };
  const text = () => characters(model.get("text"));
  const place = () => Math.min(model.get("place"), text().length - 1);
  const named = (character) =>
    ({ " ": words.space, "\n": words.newline })[character] ?? fill(words.quoted, { character });
  let loaded = null;

  /* kind → { loss, values, reaches }, or null if not known yet. */
  const currentResults = () => {
    const measure = model.get("measure");
    if (loaded) return loaded.results(text(), place(), measure);
    if (model.get("text") !== stored.text || place() !== stored.place) return null;
    return Object.fromEntries(
      KINDS.map((kind) => [kind, { loss: stored.asked[kind].loss, ...stored.asked[kind][measure] }]),
    );
  };

  const tiles = svg("g");
  const element = drawing(words, 360, 3 * LINE, tiles);
  const sentence = report();
  const draw = (results, shown) => {
    const [all, at] = [text(), place()];
    const places = placesOf(all);
    const top = (k) => places[k].line * LINE + 4;
    const limit = results && Math.max(...KINDS.flatMap((kind) => shown[kind].map(Math.abs)));
    const base = (k, n) => top(k) + LETTER + (n + 1) * BAND - 1;
    const letter = (character, k) =>
      label(places[k].x + places[k].width / 2, top(k) + LETTER / 2, " ", {
        "font-size": character === "\n" ? 10 : 14,
        opacity: k > at ? 0.4 : null,
        "font-weight": k === at ? 700 : null,
      });
    const column = (k, attributes) =>
      svg("rect", {
        x: places[k].x,
        y: top(k),
        width: places[k].width,
        height: LINE - 6,
        rx: 2,
        fill: "currentColor",
        "fill-opacity": 0,
        ...attributes,
      });
    const line = (from, to, n, attributes) => {
      const parts = [];
      for (let k = from; k < to; ) {
        let end = k;
        while (end + 1 < to && places[end + 1].line === places[k].line) end++;
        parts.push(`M${places[k].x.toFixed(1)} ${base(k, n) + 0.5}H${(places[end].x + places[end].width).toFixed(1)}`);
        k = end + 1;
      }
      return svg("path", { d: parts.join(""), stroke: "currentColor", fill: "none", ...attributes });
    };
    const lines = places[at - 1].line;
    const bands = KINDS.flatMap((kind, n) => [
      ...Array.from({ length: lines + 1 }, (_, k) =>
        label(LEFT - 4, k * LINE + 4 + LETTER + (n + 0.5) * BAND + 4, " ", { "font-size": 10.5, "text-anchor": "end" }),
      ).map((element) => (setContent(element, kind), element)),
      line(0, at, n, { "stroke-opacity": 0.25 }),
      ...(results
        ? [
            line(at - results[kind].reaches[1], at, n, { "stroke-width": 2, "stroke-opacity": 0.7 }),
            ...shown[kind].map((value, k) => {
              const height = (BAR * Math.abs(value)) / limit;
              return height < 0.2
                ? null
                : svg("rect", {
                    x: (places[k].x + 1).toFixed(1),
                    y: (base(k, n) - height).toFixed(2),
                    width: (places[k].width - 2).toFixed(1),
                    height: height.toFixed(2),
                    fill: value < 0 ? BLUE : ORANGE,
                  });
            }),
          ]
        : []),
    ]);
    const letters = all.map((character, k) => {
      const element = letter(character, k);
      setContent(element, character === "\n" ? "⏎" : character);
      return element;
    });
    const choose = loaded
      ? all.map((_, k) => k && column(k, { cursor: "pointer", onclick: () => set({ place: k }) }))
      : [];
    setContent(
      tiles,
      column(at, { "fill-opacity": 0.22, fill: GREEN, stroke: GREEN }),
      ...[...bands, ...letters, ...choose].filter(Boolean),
    );
    change(element, { viewBox: `0 0 360 ${(places.at(-1).line + 1) * LINE}` });
  };

  const rows = KINDS.map((kind) => {
    const cells = Array.from({ length: 4 }, () => html("td"));
    return { cells, row: html("tr", {}, html("th", { scope: "row" }, kind), cells) };
  });
  const head = [words.network, symbol("p"), words.bits, words.half, words.most].map((title) =>
    html("th", { scope: "col" }, title),
  );
  const table = html(
    "table",
    { class: "standings" },
    html("thead", {}, html("tr", {}, head)),
    html(
      "tbody",
      {},
      rows.map(({ row }) => row),
    ),
  );

  const measures = ["without", "gradient"].map((measure) => button(words[measure], () => set({ measure })));
  const where = slider(model, "place", { label: words.place, min: 1, max: MOST - 1, step: 1, show: (k) => `${k + 1}` });
  const waiting = loader(
    model,
    stored,
    { load: words.load, lacking: words.lacking },
    (file) => networksOf(file, () => update()),
    (networks, focused) => {
      loaded = networks;
      update();
      if (focused) box.focus();
    },
  );

  // The text. Invalid text stays in its box and does not change the model.
  const id = `past-${Math.random().toString(36).slice(2, 8)}`;
  const complaint = html("p", { id: `${id}-said`, class: "report", role: "status" });
  const typed = (event) => {
    if (event.isComposing) return; // the input method is not done
    const read = characters(box.value);
    const unknown = loaded.unknown(read);
    const count = read.length < 2 || read.length > MOST ? fill(words.length, { most: MOST }) : "";
    const wrong = unknown.length ? fill(words.unknown, { characters: unknown.join(" ") }) : count;
    setContent(complaint, wrong);
    change(box, { "aria-invalid": wrong ? "true" : null });
    if (!wrong) set({ place: movedPlace(text(), read, place()), text: read.join("") });
  };
  const box = html("textarea", {
    id,
    rows: 2,
    maxlength: MOST,
    spellcheck: "false",
    "aria-describedby": `${id}-said`,
    oninput: typed,
    oncompositionend: typed,
  });
  const textField = html("div", {}, html("label", { for: id }, words.text), box, complaint);

  const percent = (share) => `${Math.round(100 * share)}`;
  const chance = (loss) => {
    const p = Math.exp(-loss);
    return p < 0.0005 ? "< 0.001" : fixed(p, p < 0.005 ? 3 : 2);
  };
  const update = () => {
    const [results, measure, at] = [currentResults(), model.get("measure"), place()];
    change(textField, { hidden: loaded === null });
    const followed = characters(box.value).join("") === model.get("text");
    if (!followed && !box.hasAttribute("aria-invalid")) box.value = model.get("text");
    const input = where.querySelector("input");
    change(input, { max: text().length - 1 });
    if (Number(input.value) !== at) input.value = at;
    measures.forEach((button, k) => change(button, { "aria-pressed": `${["without", "gradient"][k] === measure}` }));
    const sum = (values) => values.reduce((total, value) => total + Math.abs(value), 0);
    // gradient norms are shown as shares of their sum
    const shown =
      results &&
      Object.fromEntries(
        KINDS.map((kind) => {
          const { values } = results[kind];
          return [kind, measure === "gradient" ? values.map((value) => value / sum(values)) : values];
        }),
      );
    draw(results, shown);
    change(table, { "aria-busy": loaded && !results ? "true" : null });
    if (loaded && !results) return; // keep the last answer until the worker has replied
    rows.forEach(({ cells }, k) => {
      const result = results?.[KINDS[k]];
      const row = result
        ? [chance(result.loss), fixed(result.loss / Math.LN2, 1), ...result.reaches]
        : ["–", "–", "–", "–"];
      cells.forEach((cell, n) => setContent(cell, row[n]));
    });
    if (!results) return sentence.set(words.unread);
    const most = KINDS.map((kind) => {
      const [values, { loss }] = [shown[kind], results[kind]];
      const k = values.reduce((best, value, j) => (Math.abs(value) >= Math.abs(values[best]) ? j : best), 0);
      return fill(words[`said_${measure}`], {
        kind,
        character: named(text()[k]),
        back: at - k,
        p: chance(loss),
        without: chance(loss + values[k]),
        share: percent(values[k]),
      });
    });
    sentence.set([fill(words.asked, { character: named(text()[at]) }), ...most].join(words.between));
  };

  const parts = [
    html(
      "div",
      { class: "strip", role: "group", "aria-label": words.measure },
      html("span", {}, words.measure),
      measures,
    ),
    element,
    html("div", { class: "strip" }, where),
    waiting.element,
    textField,
    sentence.element,
    table,
  ];
  const remove = show(model, el, parts, ["text", "place", "measure"], update);
  return () => {
    waiting.remove();
    loaded?.remove();
    remove();
  };
};

export default { render };
