/* Figure: a linear recurrence of eight steps. The results in one row are computed in one round. */
import { scanInRounds } from "./rounds.js";
import { GREEN, change, drawing, fill, fixed, html, label, setContent, square, svg, symbol } from "./elements.js";
import { button, player, slider } from "./controls.js";
import { pointed } from "./pointer.js";
import { report, show } from "./show.js";

const [STEPS, LEFT, WIDTH, TOP, HIGH] = [8, 30, 41, 76, 25];
const x = (t) => LEFT + (t - 1) * WIDTH;
const y = (r) => TOP + r * HIGH;

const short = (value) =>
  Math.abs(value) >= 100
    ? value.toExponential(0).replace("-", "−").replace("e+", "e")
    : fixed(value, Math.abs(value) >= 10 ? 0 : 1);

/* A composed piece above its steps, with its map h ↦ a h + b. */
const pieceOf = ({ from, to, a, b }, r) => {
  const width = (to - from + 1) * WIDTH - 4;
  const sign = b < 0 ? "−" : "+";
  return svg(
    "g",
    { "data-said": `h_${to} = ${fixed(a, 4)} h_${from - 1} ${sign} ${fixed(Math.abs(b), 4)}` },
    svg("rect", {
      x: x(from) + 2,
      y: y(r) + 3,
      width,
      height: HIGH - 6,
      rx: 6,
      fill: GREEN,
      "fill-opacity": 0.16,
      stroke: GREEN,
    }),
    label(x(from) + 2 + width / 2, y(r) + HIGH / 2, `${short(a)} h ${sign} ${short(Math.abs(b))}`, { "font-size": 11 }),
  );
};

const stateOf = ({ t, h }, r) => {
  const cell = square(x(t) + 3, y(r) + 2, WIDTH - 6, HIGH - 4, { limit: 2, digits: 1, size: 11, name: `h_${t}` });
  cell.set(h);
  return cell.element;
};

const render = ({ model, el }) => {
  const words = model.get("words");
  const set = (values) => {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
  };
  const small = { "font-size": 11 };
  const [steps, rows, marks] = [svg("g"), svg("g"), svg("g")];
  const element = drawing(
    words,
    360,
    y(STEPS) + 4,
    label(14, 14, "t", small),
    label(14, 32, "a_t", small),
    label(14, 49, "b_t", small),
    label(2, TOP - 8, words.round, { ...small, "text-anchor": "start" }),
    steps,
    marks,
    rows,
    Array.from({ length: STEPS }, (_, k) =>
      svg("rect", {
        x: x(k + 1),
        y: 4,
        width: WIDTH,
        height: 54,
        fill: "none",
        "pointer-events": "all",
        cursor: "pointer",
        onclick: () => set({ t: k + 1 }),
      }),
    ),
  );
  const sentence = report();

  const ways = ["loop", "tree", "chunks"].map((way) => button(words[way], () => set({ way })));
  const toggled = (cuts, t) =>
    cuts.includes(t) ? cuts.filter((cut) => cut !== t) : [...cuts, t].sort((first, second) => first - second);
  const cutters = Array.from({ length: STEPS - 1 }, (_, k) =>
    button(`${k + 1}|${k + 2}`, () => set({ cuts: toggled(model.get("cuts"), k + 1) }), {
      title: fill(words.cut_after, { t: k + 1 }),
    }),
  );
  const cutting = html(
    "div",
    { class: "strip", role: "group", "aria-label": words.cuts },
    html("span", {}, words.cuts),
    cutters,
  );
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
          step: 0.1,
          show: (value) => fixed(value, 1),
        }),
      ),
    ),
  );

  const roundsNow = () =>
    scanInRounds(model.get("way"), model.get("a"), model.get("b"), model.get("h_0"), model.get("cuts")).rounds.length;
  const shownSlider = slider(model, "shown", {
    label: words.shown,
    min: 0,
    max: STEPS,
    step: 1,
    show: (n) => `${Math.min(n, roundsNow())}`,
  });

  const draw = () => {
    const [a, b, h_0, way, cuts, t, shown] = ["a", "b", "h_0", "way", "cuts", "t", "shown"].map((name) =>
      model.get(name),
    );
    const { rounds, times, within, between } = scanInRounds(way, a, b, h_0, cuts);
    const isChunks = way === "chunks";
    const input = shownSlider.querySelector("input");
    change(input, { max: rounds.length });
    input.value = Math.min(shown, rounds.length);
    setContent(
      steps,
      ...a.flatMap((_, k) => {
        const middle = x(k + 1) + WIDTH / 2;
        const column = [`${k + 1}`, fixed(a[k], 1), fixed(b[k], 1)].map((text, line) =>
          label(middle, 14 + [0, 18, 35][line], text, small),
        );
        return k + 1 === t
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
    const line = (at) =>
      svg("line", {
        x1: x(at + 1),
        x2: x(at + 1),
        y1: 4,
        y2: y(rounds.length),
        stroke: "currentColor",
        "stroke-width": 1.5,
        "stroke-dasharray": "4 3",
      });
    setContent(marks, ...(isChunks ? cuts.map(line) : []));
    setContent(
      rows,
      ...rounds
        .slice(0, shown)
        .flatMap((round, r) => [
          label(14, y(r) + HIGH / 2, `${r + 1}`, small),
          ...round.map((result) => ("h" in result ? stateOf(result, r) : pieceOf(result, r))),
        ]),
    );
    ways.forEach((button, k) => change(button, { "aria-pressed": `${["loop", "tree", "chunks"][k] === way}` }));
    cutters.forEach((button, k) => change(button, { "aria-pressed": `${cuts.includes(k + 1)}` }));
    change(cutting, { hidden: !isChunks });
    stepControls.forEach((group, k) => change(group, { hidden: k + 1 !== t }));
    const end = rounds.flat().find((result) => result.t === STEPS).h;
    const edges = [0, ...cuts, STEPS];
    const sizes = edges
      .slice(1)
      .map((edge, k) => edge - edges[k])
      .join(", ");
    const counts = { rounds: rounds.length, times, h: short(end), sizes, within, between };
    const gain = isChunks && rounds.length >= STEPS ? words.between + words.no_gain : "";
    sentence.set(fill(words[`said_${way}`], counts) + gain);
  };

  const controls = [
    html("div", { class: "strip", role: "group", "aria-label": words.way }, html("span", {}, words.way), ways),
    cutting,
    html("div", { class: "strip" }, player(model, "shown", { min: 0, max: roundsNow, words, pause: 700 }), shownSlider),
    html(
      "div",
      { class: "controls" },
      slider(model, "t", { label: [`${words.step} `, symbol("t")], min: 1, max: STEPS, step: 1, show: (n) => `${n}` }),
      slider(model, "h_0", { label: symbol("h_0"), min: -2, max: 2, step: 0.1, show: (value) => fixed(value, 1) }),
    ),
    stepControls,
  ];
  const parts = { drawing: [pointed(element), sentence.element], controls };
  return show(model, el, parts, ["a", "b", "h_0", "way", "cuts", "t", "shown"], draw);
};

export default { render };
