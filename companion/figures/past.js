/* Figure: networks predict the character at a place; bars below the earlier characters show what each contributes. */
import READER from "./past_reader.js" with { type: "text" };
import { characters, namedBy } from "./characters.js";
import { reach } from "./numbers.js";
import { readSafetensors } from "./weights_file.js";
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
import { button, loader, setterOf, slider, strip } from "./controls.js";
import { pointed } from "./pointer.js";
import { report, show } from "./show.js";

const [LEFT, RIGHT, TOP, LETTER, CELL] = [36, 360, 42, 22, 9];
const MEASURES = ["without", "gradient"];
const MOST = 120; // characters, as in past.py
const LETTERS = { "font-family": "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" };

const isWide = (character) => /[\u1100-\u11ff\u2e80-\uffdc]/.test(character);

/* The place of each character in a grid: { x, width, line }. Lines break at blanks if possible, and at line feeds. */
const placesOf = (text) => {
  const places = [];
  let [x, line, begin] = [LEFT, 0, 0];
  text.forEach((character, k) => {
    const width = isWide(character) ? 2 * CELL : CELL;
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
const networksOf = (file, kinds, arrived) => {
  const { weights, metadata } = readSafetensors(file);
  const indices = new Map(JSON.parse(metadata.characters).map((character, index) => [character, index]));
  const cache = new Map();
  let [pending, next] = [null, null]; // the key of the running request, and the next request
  const reader = new Worker(URL.createObjectURL(new Blob([READER], { type: "text/javascript" })));
  reader.postMessage({ weights, kinds });
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

/* The text with a row of bars for each network below each of its lines. choose(place), show(kind): what happens when a letter
 * or a hidden row is pressed; said(kind, k): the text for the bar of character k. */
const bars = (words, kinds, choose, show, said) => {
  const tiles = svg("g");
  const element = drawing(words, 360, 300, tiles);
  let now = { places: [] };
  const small = { "font-size": 11, "text-anchor": "start" };
  const box = (x, y, width, height, fill, attributes = {}) => svg("rect", { x, y, width, height, fill, ...attributes });
  const rule = (d, attributes) => svg("path", { d, stroke: "currentColor", fill: "none", ...attributes });
  const marked = { rx: 2, "fill-opacity": 0.22, stroke: GREEN };

  /* What the colours mean. */
  const legend = (measure) => [
    box(LEFT, 2, CELL, 14, GREEN, marked),
    label(LEFT + 14, 9, words.framed, small),
    box(LEFT, 23, CELL, 12, ORANGE),
    label(LEFT + 14, 29, measure === "without" ? words.raised : words.share, small),
    ...(measure === "without" ? [box(190, 23, CELL, 12, BLUE), label(204, 29, words.lowered, small)] : []),
  ];
  const find = (x, y) => {
    const line = Math.floor((y - TOP) / now.high);
    const k = now.places.findIndex((place) => place.line === line && x >= place.x && x < place.x + place.width);
    return { k, n: Math.floor((y - TOP - line * now.high - LETTER) / now.band) };
  };
  return {
    element: pointed(element, (x, y) => {
      const { k, n } = find(x, y);
      return k >= 0 && k <= now.at && n in kinds ? said(kinds[n], k) : null;
    }),
    /* all: the text. results: kind → { loss, shown }, or null. visible: the kinds whose bars are drawn. */
    set(all, at, measure, results, visible) {
      const places = placesOf(all);
      const lines = places.at(-1).line + 1;
      const band = Math.min(80, Math.max(6, (285 / lines - LETTER) / kinds.length - 2));
      const high = LETTER + kinds.length * band + 6;
      now = { places, at, band, high };
      const isShare = measure === "gradient";
      const limit = results && isShare ? Math.max(...kinds.flatMap((kind) => results[kind].shown)) || 1 : 1;
      const top = (k) => TOP + places[k].line * high;
      const base = (line, n) => TOP + line * high + LETTER + (n + 1) * band - 1;
      const stretch = (from, to, n, attributes) => {
        const parts = [];
        for (let k = from; k < to; ) {
          let end = k;
          while (end + 1 < to && places[end + 1].line === places[k].line) end++;
          parts.push(`M${places[k].x} ${base(places[k].line, n) + 0.5}H${places[end].x + places[end].width}`);
          k = end + 1;
        }
        return rule(parts.join(""), attributes);
      };
      const side = { "font-size": 10.5, "text-anchor": "end" };
      const axis = (line, n) => [
        rule(`M${LEFT - 4} ${base(line, n) - band + 5}H${LEFT - 1}V${base(line, n) + 0.5}`, { "stroke-opacity": 0.5 }),
        label(LEFT - 6, base(line, n) - Math.min(16, band / 2), kinds[n].slice(0, 5), side),
        results &&
          band >= 30 &&
          label(LEFT - 6, base(line, n) - band + 8, isShare ? `${fixed(limit, 0)} %` : "1", side),
      ];
      const column = (value, k, n, colour = value < 0 ? BLUE : ORANGE) => {
        const height = ((band - 5) * Math.abs(value)) / limit;
        if (height < 0.2) return null;
        const [y, width] = [(base(places[k].line, n) - height).toFixed(2), places[k].width - 2];
        return box(places[k].x + 1, y, width, height.toFixed(2), colour);
      };
      /* The bars of a network, or a question mark; and p in the frame. */
      const row = (kind, n) => {
        const { loss, shown } = results[kind];
        const [first, last, middle] = [places[0], places[at - 1], base(0, n) - band / 2];
        const width = (last.line ? RIGHT : last.x + last.width) - first.x;
        const hidden = { "pointer-events": "all", cursor: "pointer", onclick: () => show(kind) };
        return [
          isShare ? null : column(Math.exp(-loss), at, n, GREEN),
          ...(visible.includes(kind)
            ? shown.map((value, k) => column(value, k, n))
            : [
                label(first.x + width / 2, middle, "?", { "font-size": 18 }),
                box(LEFT, middle - band / 2, width, band, "none", hidden),
              ]),
        ];
      };
      const letter = (character, k) => {
        const size = character === "\n" ? 10 : 15;
        const [weight, opacity] = [k === at ? 700 : null, k > at ? 0.4 : null];
        const looks = { ...LETTERS, "font-size": size, "font-weight": weight, opacity };
        const sign = character === "\n" ? "⏎" : character;
        return upright(places[k].x + places[k].width / 2, top(k) + LETTER / 2, sign, looks);
      };
      const press = (_, k) =>
        box(places[k].x, top(k), places[k].width, LETTER, "none", {
          "pointer-events": "all",
          cursor: "pointer",
          onclick: () => choose(k),
        });
      setContent(
        tiles,
        ...legend(measure),
        box(places[at].x, top(at), places[at].width, high - 6, GREEN, marked),
        ...kinds
          .flatMap((kind, n) => [
            ...Array.from({ length: places[at - 1].line + 1 }, (_, line) => axis(line, n)).flat(),
            stretch(0, at, n, { "stroke-opacity": 0.25 }),
            ...(results ? row(kind, n) : []),
          ])
          .filter(Boolean),
        ...all.map(letter),
        ...all.map(press).slice(1),
      );
      change(element, { viewBox: `0 0 360 ${TOP + lines * high}` });
    },
  };
};

const render = ({ model, el }) => {
  const words = model.get("words");
  const stored = model.get("networks");
  const { kinds } = stored;
  const set = setterOf(model);
  const text = () => characters(model.get("text"));
  const place = () => Math.min(model.get("place"), text().length - 1);
  const named = namedBy(words);
  let [loaded, results] = [null, null];

  const visible = () => kinds.filter((kind) => model.get("kinds").includes(kind));

  /* kind → { loss, values, shown }, or null if not known yet. shown: how much p falls without each character, or shares of
   * the sum in %. */
  const currentResults = () => {
    const [measure, at] = [model.get("measure"), place()];
    const inStore = ([kind, { loss, ...values }]) => [kind, { loss: loss[at - 1], values: values[measure][at - 1] }];
    const found =
      model.get("text") === stored.text
        ? Object.fromEntries(Object.entries(stored.results).map(inStore))
        : loaded?.results(text(), at, measure);
    for (const result of Object.values(found ?? {})) {
      const { loss, values } = result;
      const sum = values.reduce((total, value) => total + Math.abs(value), 0) || 1;
      const fall = (value) => Math.exp(-loss) - Math.exp(-loss - value);
      result.shown = values.map((value) => (measure === "gradient" ? (100 * value) / sum : fall(value)));
    }
    return found ?? null;
  };

  const chance = (loss) => {
    const p = Math.exp(-loss);
    return p < 0.0005 ? "< 0.001" : fixed(p, p < 0.005 ? 3 : 2);
  };
  const said = (kind, k) => {
    if (!results) return null;
    const { loss, values, shown } = results[kind];
    if (k === place()) return `${kind}: p ${chance(loss)}`;
    if (!visible().includes(kind)) return null;
    const said = { kind, character: named(text()[k]), value: fixed(shown[k]), p: chance(loss) };
    return fill(words[`value_${model.get("measure")}`], { ...said, without: chance(loss + values[k]) });
  };
  const toggled = (kind) =>
    visible().includes(kind) ? visible().filter((other) => other !== kind) : [...visible(), kind];
  const flip = (kind) => set({ kinds: toggled(kind) });
  const picture = bars(words, kinds, (k) => set({ place: k }), flip, said);
  const sentence = report();

  const rows = kinds.map((kind) => {
    const cells = Array.from({ length: 4 }, () => html("td"));
    return { cells, row: html("tr", {}, html("th", { scope: "row" }, kind), cells) };
  });
  const head = [words.network, symbol("p"), words.bits, words.half, words.most].map((title) =>
    html("th", { scope: "col" }, title),
  );
  const body = rows.map(({ row }) => row);
  const table = html("table", { class: "standings" }, html("thead", {}, html("tr", {}, head)), html("tbody", {}, body));

  const networks = kinds.map((kind) => button(kind, () => flip(kind)));
  const measures = MEASURES.map((measure) => button(words[measure], () => set({ measure })));
  const where = slider(model, "place", { label: words.place, min: 1, max: MOST - 1, step: 1, show: (k) => `${k + 1}` });
  const waiting = stored.file
    ? loader(
        model,
        stored,
        { load: words.load, lacking: words.lacking },
        (file) => networksOf(file, kinds, () => update()),
        (networks, focused) => {
          loaded = networks;
          update();
          if (focused) box.focus({ preventScroll: true });
        },
      )
    : null;

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

  const update = () => {
    const [all, measure, at] = [text(), model.get("measure"), place()];
    results = currentResults();
    change(textField, { hidden: loaded === null });
    const followed = characters(box.value).join("") === model.get("text");
    if (!followed && !box.hasAttribute("aria-invalid")) box.value = model.get("text");
    const input = where.querySelector("input");
    change(input, { max: all.length - 1 });
    if (Number(input.value) !== at) input.value = at;
    networks.forEach((button, k) => change(button, { "aria-pressed": `${visible().includes(kinds[k])}` }));
    measures.forEach((button, k) => change(button, { "aria-pressed": `${MEASURES[k] === measure}` }));
    picture.set(all, at, measure, results, visible());
    change(table, { "aria-busy": loaded && !results ? "true" : null });
    if (loaded && !results) return; // keep the last answer until the worker has replied
    rows.forEach(({ cells }, k) => {
      const { loss, values } = results?.[kinds[k]] ?? {};
      const row = values && [chance(loss), fixed(loss / Math.LN2, 1), reach(values, 0.5), reach(values, 0.9)];
      cells.forEach((cell, n) => setContent(cell, `${row?.[n] ?? "–"}`));
    });
    if (!results) return sentence.set(words.unread);
    /* The character with the largest share, or the first without which p falls by half or more. */
    const found = visible().map((kind) => {
      const { values } = results[kind];
      const k =
        measure === "gradient" ? values.indexOf(Math.max(...values)) : values.findIndex((rise) => rise >= Math.LN2);
      return fill(k < 0 ? words.needs_none : words.said, { kind, character: named(all[k]), back: at - k });
    });
    const asked = measure === "gradient" ? fill(words.asked, { character: named(all[at]) }) : words.needed;
    sentence.set(found.length ? [asked, ...found].join(words.between) : "");
  };

  const controls = [
    kinds.length > 1 ? strip(words.network, html("span", {}, words.network), networks) : [],
    html("div", { class: "strip" }, where),
    html("details", {}, html("summary", {}, words.measure), strip(words.measure, measures), table),
    ...(waiting ? [waiting.element, textField] : []),
  ];
  const parts = { drawing: [picture.element, sentence.element], controls };
  const remove = show(model, el, parts, ["text", "place", "measure", "kinds"], update);
  return () => {
    waiting?.remove();
    loaded?.remove();
    remove();
  };
};

export default { render };
