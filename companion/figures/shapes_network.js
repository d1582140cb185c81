/* Drawing of the figure shapes.js: the network of nn.LSTM. */
import { batchSizes } from "./arithmetic.js";
import { arrow, change, drawing, label, svg } from "./elements.js";
import { ALWAYS, COLOURS, tuple } from "./shapes_parameters.js";

const [LEFT, RIGHT, TOP, BOTTOM, HEIGHT] = [42, 318, 46, 304, 348];

/* A vector as a bar of a few squares around x. p: the share that dropout leaves empty; t: shifts which ones. */
const bar = (x, y, width, size, colour, p = 0, t = 0) => {
  const n = Math.max(1, Math.min(size, Math.floor(width / 4.5)));
  const [step, dropCount] = [width / n, Math.round(p * n)];
  const place = (k) => (x - width / 2 + k * step).toFixed(2);
  const path = (squares) =>
    squares.map((k) => `M${place(k)} ${y}h${step.toFixed(2)}v9h${(-step).toFixed(2)}z`).join("");
  const all = Array.from({ length: n }, (_, k) => k);
  const dropped = (k) => (k * 3 + t * 2) % n < dropCount;
  return [
    svg("path", { d: path(all.filter((k) => !dropped(k))), fill: colour, "fill-opacity": 0.45, stroke: colour }),
    dropCount
      ? svg("path", { d: path(all.filter(dropped)), fill: "none", stroke: colour, "stroke-dasharray": "1.5 1" })
      : null,
  ];
};

/* The network. Each part has the tensors that it represents (of) and those that it belongs to (near). */
export const network = (words, mark) => {
  const element = drawing(words, 360, HEIGHT);
  let [parts, built] = [[], null];

  const build = (s) => {
    const { L, D, I, H, P, R, T, N } = s;
    parts = [];
    const add = (shape, of = [], near = []) => {
      parts.push({ shape, of, near, width: shape.getAttribute("stroke-width") });
      const [name] = of;
      if (!s.tensors[name]) return;
      change(shape, { "data-said": `${name} ${tuple(s.tensors[name])}`, cursor: "pointer", onclick: () => mark(name) });
      const line = shape.querySelector("polyline")?.cloneNode(); // a wide transparent line is easier to press
      if (line) change(line, { "stroke-width": 13, "stroke-opacity": 0, "pointer-events": "stroke" });
      if (line) shape.append(line);
    };
    const text = (x, y, content, of, near, attributes = {}) =>
      add(label(x, y, content, { "font-size": 12, ...attributes }), of, near);
    const [end, start] = [{ "text-anchor": "end" }, { "text-anchor": "start" }];

    // up to four columns: the first steps and the last one
    const steps = T <= 4 ? Array.from({ length: T }, (_, t) => t) : [0, 1, null, T - 1];
    const pitch = (RIGHT - LEFT - 12) / steps.length;
    const columns = steps.map((t, k) => ({ t, x: LEFT + 6 + (k + 0.5) * pitch })).filter(({ t }) => t !== null);
    const dots = steps.includes(null) ? LEFT + 6 + 2.5 * pitch : null;
    const last = columns.length - 1;
    const rows = Array.from({ length: L }, (_, l) => BOTTOM - ((l + 0.5) * (BOTTOM - TOP)) / L);
    const spread = 16 + 5 * (3 - L);
    const tall = 12 + (3 - L) * (D === 2 ? 1.5 : 4); // half the height of a box
    const wide = D === 2 ? 10 : 12;
    const chain = (l, d) => rows[l] + (D === 2 ? (d ? -spread : spread) : 0);
    const side = (d) => (d ? 1 : -1); // a box is before its output, in its own direction of time
    const boxX = (x, d) => x + side(d) * (D === 2 ? 24 : 20);
    const outX = (x, d) => (D === 2 ? x + side(d) * 7 : x);
    const barY = (l) => (l < 0 ? 308 : l === L - 1 ? 33 : (rows[l] + rows[l + 1]) / 2 - 4.5);
    const full = D === 2 ? 21 : 30;
    const long = (size) => Math.max(9, Math.min(42, full * Math.sqrt(size / H)));
    const name = (kind, l, d) => `${kind}_l${l}${d ? "_reverse" : ""}`;
    const every = (l, d) =>
      ["weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr"].map((kind) => name(kind, l, d));
    const directions = D === 2 ? [0, 1] : [0];

    const half = tall + 8 + (D === 2 ? spread : 0); // of the height of a layer's frame
    const frame = { x: LEFT, width: RIGHT - LEFT, height: 2 * half, rx: 8, fill: "currentColor", "fill-opacity": 0.06 };
    for (const y of rows) add(svg("rect", { ...frame, y: y - half }), ALWAYS);

    // the vectors at every step: the input, then each layer's output
    for (let l = -1; l < L; l++) {
      const of = l < 0 ? ["input"] : l === L - 1 ? ["output"] : [];
      const reads = directions.map((d) => name("weight_ih", l + 1, d));
      for (const { x, t } of columns) {
        const y = barY(l);
        const p = l >= 0 && l < L - 1 ? s.dropout : 0;
        const g = (...inside) => svg("g", { "stroke-width": 0.8 }, ...inside);
        if (l < 0) add(g(bar(x, y, long(I), I, "currentColor")), of, reads);
        else
          for (const d of directions) {
            const width = D === 2 ? Math.min(21, long(R)) : long(R);
            const middle = D === 2 ? x + (side(d) * width) / 2 : x;
            const same = l === L - 1 && !s.packed && t === (d ? 0 : T - 1) ? ["h_n"] : [];
            add(g(bar(middle, y, width, R, COLOURS[d], p, t + 2 * d)), of, [...reads, ...same]);
          }
      }
      if (dots) text(dots, barY(l) + 4, "⋯", of, reads);
      text(LEFT - 5, barY(l) + 4.5, `${l < 0 ? I : D * R}`, of, reads, end);
      if (l >= 0 && l < L - 1 && s.dropout > 0)
        text(RIGHT + 5, barY(l) + 4.5, `p=${Number(s.dropout.toFixed(2))}`, [], [], { ...start, "font-size": 10.5 });
    }

    for (let l = 0; l < L; l++)
      for (const d of directions) {
        const y = chain(l, d);
        const [h, c] = [y - 0.46 * tall, y + 0.46 * tall];
        const colour = COLOURS[d];
        const lines = { color: colour, "stroke-width": 1.3 };
        const [ih, hh, bi, bh, hr] = every(l, d);
        const order = d ? [...columns].reverse() : columns;
        const forward = d ? -1 : 1;
        order.forEach(({ x }, k) => {
          const [box, out] = [boxX(x, d), outX(x, d)];
          const low = barY(l - 1) - 3;
          const edge = box + forward * wide;
          const from = edge + forward * (P > 0 ? 6 : 0);
          const top = l === L - 1 ? ["output"] : [];
          const ends = k === last ? ["h_n", "c_n"] : [];
          add(arrow(`${box},${low} ${box},${y + tall + 1}`, lines), [ih], [l ? "" : "input"]);
          add(
            arrow(`${from},${h} ${out},${h} ${out},${barY(l) + 10}`, lines),
            [],
            [...top, ...directions.map((each) => name("weight_ih", l + 1, each))],
          );
          const paint = { fill: colour, "fill-opacity": 0.18, stroke: colour, "stroke-width": 1.2 };
          add(
            svg("rect", { x: box - wide, y: y - tall, width: 2 * wide, height: 2 * tall, rx: 3, ...paint }),
            [bi, bh],
            [ih, hh, hr, ...ends, ...top],
          );
          text(box, y, `l_${l}`, [], [...every(l, d), ...ends, ...top], { "font-size": 14 });
          if (P > 0)
            add(
              svg("polygon", {
                ...paint,
                "fill-opacity": 0.6,
                "stroke-width": 0.8,
                points: `${edge},${h - 6} ${from},${h - 2.5} ${from},${h + 2.5} ${edge},${h + 6}`,
              }),
              [hr],
              [...ends.slice(0, 1), ...top],
            );
          const margin = d ? LEFT - 3 : RIGHT + 3;
          const to = k === last ? margin : boxX(order[k + 1].x, d) - forward * (wide + 1);
          const skips = dots && (x - dots) * (to - dots) < 0 && k < last;
          const broken = skips ? { ...lines, "stroke-dasharray": "1.5 4" } : lines;
          const [h_n, c_n] = k === last ? [["h_n"], ["c_n"]] : [[hh], []];
          add(arrow(`${from},${h} ${to},${h}`, broken), h_n);
          add(arrow(`${edge},${c} ${to},${c}`, broken), c_n);
          if (k === 0) {
            const begin = d ? RIGHT + 3 : LEFT - 3;
            add(arrow(`${begin},${h} ${box - forward * (wide + 1)},${h}`, lines), [hh]);
            add(arrow(`${begin},${c} ${box - forward * (wide + 1)},${c}`, lines));
            const [anchor, at] = d ? [start, RIGHT + 5] : [end, LEFT - 5];
            text(at, h, `${R}`, [], [hh, "h_n"], anchor);
            text(at, c, `${H}`, [], ["c_n"], anchor);
          }
          if (k === last) {
            const [anchor, at] = d ? [end, LEFT - 5] : [start, RIGHT + 5];
            text(at, h - 1, `h_n[${D * l + d}]`, ["h_n"], [], anchor);
            text(at, c + 2, `c_n[${D * l + d}]`, ["c_n"], [], anchor);
          }
        });
        // a layer reads the whole vector below it
        for (const { x } of columns) {
          const [half, ys] = [long(l ? R : I) / 2, barY(l - 1) - 3];
          const left = Math.min(boxX(x, 0), x - half);
          const line = { x1: left, x2: D === 2 ? 2 * x - left : x + half, y1: ys, y2: ys };
          const ihs = directions.map((each) => name("weight_ih", l, each));
          if (!d)
            add(svg("line", { ...line, stroke: "currentColor", "stroke-width": 1 }), [], [l ? "" : "input", ...ihs]);
        }
      }

    // the shapes
    const whole = (x, y, name, anchor) =>
      text(x, y, `${name} ${tuple(s.tensors[name])}`, [name], ALWAYS, { "font-size": 11, ...anchor });
    whole(4, 9, "output", start);
    whole(190, 9, "h_n", {});
    whole(356, 9, "c_n", end);
    whole(356, 342, "input", end);
    for (const { x, t } of columns) {
      text(x, 325, `x_{${t + 1}}`, ["input"]);
      const index = t && t === T - 1 ? -1 : t;
      const first = s.layout === "batched" && s.batch_first ? ":, " : "";
      if (!s.packed) text(x, 23, `[${first}${index}]`, ["output"]);
      const running = s.packed ? batchSizes(s.lengths)[t] : N;
      if (N) text(x + Math.max(12, long(I) / 2) + 2, 313, `×${running}`, ["input"], [], start);
    }
    if (dots) text(dots, 325, "⋯", ["input"]);
    const legend = (x, content, fill = "currentColor") =>
      text(x, 342, content, ALWAYS, [], { ...start, fill, "font-size": 10.5 });
    legend(4, `→ ${words.forwards}`, COLOURS[0]);
    if (D === 2) legend(70, `← ${words.backwards}`, COLOURS[1]);
    legend(150, `${I}: ${words.length}`);
    element.replaceChildren(...parts.map(({ shape }) => shape));
  };

  return {
    element,
    set(s) {
      if (!s.error) {
        const key = JSON.stringify({ ...s, marked: null });
        if (key !== built) build(s);
        built = key;
      }
      const marked = parts.some(({ of, near }) => of.includes(s.marked) || near.includes(s.marked)) ? s.marked : "";
      for (const { shape, of, near, width } of parts) {
        const [isMarked, isNear] = [of.includes(marked), [of, near].includes(ALWAYS) || near.includes(marked)];
        change(shape, {
          opacity: s.error ? 0.15 : !marked || isMarked || isNear ? null : 0.25,
          "font-weight": marked && isMarked ? "bold" : null,
          "stroke-width": marked && isMarked && width ? 2 * width : width,
        });
      }
    },
  };
};
