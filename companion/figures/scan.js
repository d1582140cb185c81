/* Figure: a linear recurrence of eight steps. The results in one row are computed in one round. */
import { scanInRounds } from "./rounds.js";
import {
  GREEN,
  arrow,
  change,
  drawing,
  fill,
  fixed,
  html,
  label,
  setContent,
  square,
  svg,
  symbol,
} from "./elements.js";
import { button, player, setterOf, slider, strip } from "./controls.js";
import { pointed } from "./pointer.js";
import { report, show } from "./show.js";

const [STEPS, LEFT, WIDTH, TOP, HIGH] = [8, 54, 38, 76, 25];
const LONG = 1024; // steps of the comparison under the controls, in chunks of CHUNK
const CHUNK = 32;
const WAYS = ["loop", "tree", "chunks"];
const x = (t) => LEFT + (t - 1) * WIDTH;
const y = (r) => TOP + (r - 1) * HIGH;

const short = (value) =>
  Math.abs(value) >= 100
    ? value.toExponential(0).replace("-", "−").replace("e+", "e")
    : fixed(value, Math.abs(value) >= 10 || Number.isInteger(value) ? 0 : 1);

/* The map of a piece, "0.5 h_3 − 1". */
const mapOf = ({ from, a, b }, number) =>
  `${number(a)} h_${from - 1}${b === 0 ? "" : ` ${b < 0 ? "−" : "+"} ${number(Math.abs(b))}`}`;

/* A composed piece below its steps. */
const pieceOf = (piece) => {
  const [left, width] = [x(piece.from) + 2, (piece.to - piece.from + 1) * WIDTH - 4];
  const box = { x: left, y: y(piece.round) + 5, width, height: HIGH - 8, rx: 6 };
  return svg(
    "g",
    { "data-said": `h_${piece.to} = ${mapOf(piece, (value) => fixed(value, 4))}` },
    svg("rect", { ...box, fill: GREEN, "fill-opacity": 0.16, stroke: GREEN }),
    label(left + width / 2, y(piece.round) + HIGH / 2 + 1, mapOf(piece, short), { "font-size": 11 }),
  );
};

const stateOf = ({ t, h, round }) => {
  const top = round ? y(round) + 4 : 26;
  const cell = square(x(t) + 3, top, WIDTH - 6, HIGH - 6, { limit: 2, size: 11, text: numberOf, name: `h_${t}` });
  cell.set(h);
  return cell.element;
};
const numberOf = (value, digits) => (digits === 4 ? fixed(value, 4) : short(value));

/* Arrows to a result from what it is computed from: a piece or a step above it, and the state before. */
const arrowsTo = (result) =>
  result.sources.map((source) => {
    const isState = "h" in source;
    const end = "h" in result ? x(result.t) + WIDTH / 2 : x(source.from) + ((source.to - source.from + 1) * WIDTH) / 2;
    const begin = isState ? x(source.t) + WIDTH / 2 : end;
    const bottom = source.round ? y(source.round) + HIGH - 3 : isState ? 45 : 58;
    return arrow(`${begin},${bottom} ${isState ? end - 9 : end},${y(result.round) + 4}`, { "stroke-opacity": 0.7 });
  });

const render = ({ model, el }) => {
  const words = model.get("words");
  const set = setterOf(model);
  const small = { "font-size": 11 };
  const [steps, rows, marks, arrows] = [svg("g"), svg("g"), svg("g"), svg("g")];
  const numbers = Array.from({ length: STEPS }, (_, k) => label(9, y(k + 1) + HIGH / 2 + 1, `${k + 1}`, small));
  const element = drawing(
    words,
    360,
    y(STEPS + 1) + 4,
    label(9, 14, "t", small),
    label(9, 32, "a_t", small),
    label(9, 49, "b_t", small),
    label(x(0) + WIDTH / 2, 14, "h_0", small),
    label(2, TOP - 8, words.round, { ...small, "text-anchor": "start" }),
    [numbers, steps, marks, arrows, rows],
    Array.from({ length: STEPS }, (_, k) =>
      svg("rect", {
        x: x(k + 1),
        y: 4,
        width: WIDTH,
        height: 54,
        fill: "none",
        "pointer-events": "all",
        cursor: "pointer",
        onclick: () => {
          change(folded, { open: true });
          set({ t: k + 1 });
        },
      }),
    ),
  );
  const sentence = report();

  const roundsNow = () =>
    scanInRounds(...["way", "a", "b", "h_0", "cuts"].map((name) => model.get(name))).rounds.length;
  /* Another way, or other cuts: what was complete stays complete. */
  const choose = (values) => {
    const isComplete = model.get("shown") >= roundsNow();
    set(isComplete ? { ...values, shown: STEPS } : values);
  };
  const ways = WAYS.map((way) => button(words[way], () => choose({ way })));
  const toggled = (cuts, t) =>
    cuts.includes(t) ? cuts.filter((cut) => cut !== t) : [...cuts, t].sort((first, second) => first - second);
  const cutters = Array.from({ length: STEPS - 1 }, (_, k) =>
    button(`${k + 1}|${k + 2}`, () => choose({ cuts: toggled(model.get("cuts"), k + 1) }), {
      title: fill(words.cut_after, { t: k + 1 }),
    }),
  );
  const cutting = strip(words.cuts, html("span", {}, words.cuts), cutters);
  const stepControls = Array.from({ length: STEPS }, (_, key) =>
    html(
      "div",
      { class: "controls" },
      ...["a", "b"].map((name) =>
        slider(model, name, {
          key,
          label: symbol(`${name}_${key + 1}`),
          min: -2,
          max: 2,
          step: 0.5,
        }),
      ),
    ),
  );

  const folded = html(
    "details",
    {},
    html("summary", {}, words.numbers),
    html(
      "div",
      { class: "controls" },
      slider(model, "h_0", { label: symbol("h_0"), min: -2, max: 2, step: 0.5 }),
      slider(model, "t", { label: [`${words.step} `, symbol("t")], min: 1, max: STEPS, step: 1 }),
    ),
    stepControls,
  );
  const shownSlider = slider(model, "shown", {
    label: words.shown,
    min: 1,
    max: STEPS,
    step: 1,
    show: (n) => `${Math.min(n, roundsNow())}`,
  });

  const draw = () => {
    const [a, b, h_0, way, cuts, t, shown] = ["a", "b", "h_0", "way", "cuts", "t", "shown"].map((name) =>
      model.get(name),
    );
    const { rounds, times, states } = scanInRounds(way, a, b, h_0, cuts);
    const isChunks = way === "chunks";
    const input = shownSlider.querySelector("input");
    change(input, { max: rounds.length });
    input.value = Math.min(shown, rounds.length);
    setContent(
      steps,
      ...a.flatMap((_, k) => {
        const middle = x(k + 1) + WIDTH / 2;
        const column = [`${k + 1}`, short(a[k]), short(b[k])].map((text, line) =>
          label(middle, 14 + [0, 18, 35][line], text, small),
        );
        return k + 1 === t && folded.open
          ? [
              svg("rect", {
                x: x(t) + 2,
                y: 4,
                width: WIDTH - 4,
                height: 54,
                rx: 4,
                fill: "none",
                stroke: "currentColor",
                "stroke-opacity": 0.5,
              }),
              ...column,
            ]
          : column;
      }),
    );
    const line = (at) => `M${x(at + 1)} 4V${y(rounds.length + 1)}`;
    const dashed = { stroke: "currentColor", "stroke-width": 1.5, "stroke-dasharray": "4 3" };
    setContent(marks, svg("path", { ...dashed, d: isChunks ? cuts.map(line).join("") : "" }));
    const drawn = rounds.slice(0, shown);
    const light = (results) => setContent(arrows, ...results.flatMap(arrowsTo));
    light(drawn.at(-1));
    const resultOf = (result) => {
      const element = "h" in result ? stateOf(result) : pieceOf(result);
      change(element, { onpointerover: () => light([result]), onpointerdown: () => light([result]) });
      return element;
    };
    setContent(rows, stateOf(states[0]), ...drawn.flat().map(resultOf));
    numbers.forEach((number, k) => change(number, { opacity: k < drawn.length ? null : 0.4 }));
    ways.forEach((button, k) => change(button, { "aria-pressed": `${WAYS[k] === way}` }));
    cutters.forEach((button, k) => change(button, { "aria-pressed": `${cuts.includes(k + 1)}` }));
    change(cutting, { hidden: !isChunks });
    stepControls.forEach((group, k) => change(group, { hidden: k + 1 !== t }));
    if (shown < rounds.length)
      return sentence.set(fill(words.said_round, { round: shown, count: drawn.at(-1).length }));
    const edges = [0, ...cuts, STEPS];
    const sizes = edges.slice(1).map((edge, k) => edge - edges[k]);
    const ends = edges.slice(1).map((edge) => states[edge].round);
    const counts = { rounds: rounds.length, times, h: short(states[STEPS].h) };
    const lists = { sizes: sizes.join(words.comma), ends: ends.join(words.comma) };
    const gain = isChunks && rounds.length >= STEPS ? words.between + words.no_gain : "";
    sentence.set(fill(words[`said_${way}`], { ...counts, ...lists }) + gain);
  };

  const one = Array(LONG).fill(1);
  const cutsOfLong = Array.from({ length: LONG / CHUNK - 1 }, (_, k) => (k + 1) * CHUNK);
  const ofLong = WAYS.map((way) => [way, scanInRounds(way, one, one, 0, cutsOfLong).rounds.length]);
  change(folded, { ontoggle: draw });
  const controls = [
    strip(words.way, html("span", {}, words.way), ways),
    cutting,
    html("div", { class: "strip" }, player(model, "shown", { min: 1, max: roundsNow, words, pause: 700 }), shownSlider),
    folded,
    html("p", { class: "note" }, fill(words.long, Object.fromEntries(ofLong))),
  ];
  const drawn = pointed(element);
  drawn.classList.add("under");
  const parts = { drawing: [drawn, sentence.element], controls };
  return show(model, el, parts, ["a", "b", "h_0", "way", "cuts", "t", "shown"], draw);
};

export default { render };
