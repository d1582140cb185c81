/* The parameters of nn.LSTM: the network that they make, and the shapes of all its tensors. */
import { batchSizes, count, lstmError, lstmParameters, lstmShapes, lstmWarning, packError, python, pythonFloat } from "./steps.js";
import { BLUE, ORANGE, arrow, button, change, choice, drawing, fill, group, html, label, report, say, show, stepper, svg, symbol, toggle } from "./kit.js";

const ARGUMENTS = ["input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional", "proj_size"];
const TRAITS = [...ARGUMENTS, "input_layout", "T", "N", "lengths", "marked"];
const LAYOUTS = ["batched", "unbatched", "packed"];
const TENSORS = ["input", "output", "h_n", "c_n"];
const ALWAYS = ["frame"]; // what is never made pale
const COLOURS = [BLUE, ORANGE]; // forwards, backwards
const LONGEST = 100; // the longest sequence, and eight of them at most
const MOST = 8;
const WIDTH = 42; // letters in a line of code on a phone

/* ---- What follows from the parameters ---- */

/* All that the figure shows, from the model's traits: R numbers in a hidden state, D directions, steps T of N sequences. */
const derive = (model) => {
  const now = Object.fromEntries(TRAITS.map((name) => [name, model.get(name)]));
  const packed = now.input_layout === "packed";
  const T = packed ? Math.max(...now.lengths) : now.T;
  const N = packed ? now.lengths.length : now.input_layout === "batched" ? now.N : null;
  const [L, D] = [now.num_layers, now.bidirectional ? 2 : 1];
  const [I, H, P] = [now.input_size, now.hidden_size, now.proj_size];
  const error = lstmError(now) || (packed ? packError(now.lengths) : null);
  return { ...now, layout: now.input_layout, packed, T, N, I, H, P, L, D, R: P || H, error };
};

const tuple = (shape) => (shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`);

/* The same in symbols: those of the page's table. */
const symbols = ({ layout, batch_first, D, P }) => {
  const R = P ? "P" : "H";
  const sequence = (features) =>
    [...(layout === "packed" ? ["ΣT"] : layout === "unbatched" ? ["T"] : batch_first ? ["N", "T"] : ["T", "N"]), features];
  const state = (features) => [D === 2 ? "2·L" : "L", ...(layout === "unbatched" ? [] : ["N"]), features];
  return { input: sequence("I"), output: sequence(D === 2 ? `2·${R}` : R), h_n: state(R), c_n: state("H") };
};

const weightSymbols = (name, { D, P }) => {
  const R = P ? "P" : "H";
  if (name.startsWith("bias")) return ["4·H"];
  if (name.startsWith("weight_hr")) return ["P", "H"];
  if (name.startsWith("weight_hh")) return ["4·H", R];
  return ["4·H", name.includes("_l0") ? "I" : D === 2 ? `2·${R}` : R];
};

/* (T, N, 2·H) with its letters slanted */
const letters = (parts) => {
  const inside = parts.join(", ").match(/\p{L}|[^\p{L}]+/gu).map((one) => (/\p{L}/u.test(one) ? html("var", {}, one) : one));
  return html("span", {}, "(", ...inside, parts.length === 1 ? ",)" : ")");
};

/* The Python that makes it all. What has its default is left out, and lines are short enough for a phone. */
const code = (s) => {
  const usual = { num_layers: 1, bias: true, batch_first: false, dropout: 0, bidirectional: false, proj_size: 0 };
  const written = (name) => (name === "dropout" ? pythonFloat(s[name]) : python(s[name]));
  const options = Object.keys(usual).filter((name) => s[name] !== usual[name]).map((name) => `${name}=${written(name)}`);
  const call = (name, parts) => {
    const line = `${name}(${parts.join(", ")})`;
    if (line.length <= WIDTH) return [line];
    const lines = [];
    for (const part of parts) {
      const longer = lines.length ? `${lines[lines.length - 1]} ${part},` : "";
      if (longer && longer.length <= WIDTH) lines[lines.length - 1] = longer;
      else lines.push(`    ${part},`);
    }
    return [`${name}(`, ...lines, ")"];
  };
  const shape = s.layout === "unbatched" ? [s.T, s.I] : s.batch_first ? [s.N, s.T, s.I] : [s.T, s.N, s.I];
  const packing = ["x", `[${s.lengths.join(", ")}]`, ...(s.batch_first ? ["batch_first=True"] : [])];
  return [
    "import torch", "from torch import nn", ...(s.packed ? ["from torch.nn.utils import rnn"] : []), "",
    ...call("lstm = nn.LSTM", [`${s.I}`, `${s.H}`, ...options]), `x = torch.randn(${shape.join(", ")})`,
    ...(s.packed ? call("x = rnn.pack_padded_sequence", packing) : []), "output, (h_n, c_n) = lstm(x)", "",
    `print(output${s.packed ? ".data" : ""}.shape)`, "print(h_n.shape)", "print(c_n.shape)",
  ].join("\n");
};

/* Where output has the last layer's rows of h_n, in Python. */
const places = ({ layout, batch_first, D, R }) => {
  const at = (t, half) => {
    const first = layout === "batched" && batch_first ? [":", t] : [t];
    if (half) first.push(...(layout === "batched" && !batch_first ? [":"] : []), half);
    return `output[${first.join(", ")}]`;
  };
  return D === 1 ? [`h_n[-1] = ${at(-1)}`] : [`h_n[-2] = ${at(-1, `:${R}`)}`, `h_n[-1] = ${at(0, `${R}:`)}`];
};

/* What is pointed out, in a sentence. */
const said = (words, s, shapes, weights) => {
  const { marked, D, R, packed } = s;
  if (!marked) return words.said_nothing;
  if (TENSORS.includes(marked)) {
    const [forward, backward] = packed ? [] : places(s);
    const running = packed ? batchSizes(s.lengths) : [];
    const sizes = running.slice(0, 12).join(", ") + (running.length > 12 ? ", …" : "");
    const values = { ...s, shape: tuple(shapes[marked]), forward, backward, sizes, both: D * R };
    const kind = {
      input: `_${s.layout}`,
      output: (D === 2 ? "_both" : "") + (packed ? "_packed" : ""),
      h_n: (D === 2 ? "_both" : "") + (packed ? "_packed" : ""),
      c_n: s.P ? "_projected" : "",
    };
    return fill(words[`said_${marked}${kind[marked]}`], values);
  }
  const found = weights.find(([name]) => name === marked);
  if (!found) return fill(words.said_missing, { name: marked });
  const [rows, columns] = found[1];
  const kind = marked.match(/^(weight|bias)(_[ihr]+)/)[0].replace(/^bias_.*/, "bias");
  const above = kind === "weight_ih" && !marked.includes("_l0");
  const other = above ? "_above" : kind === "weight_hh" && marked.endsWith("_reverse") ? "_reverse" : "";
  return fill(words[`said_${kind}${other}`], { ...s, name: marked, shape: tuple(found[1]), rows, columns });
};

/* Why torch refuses it, in our words. */
const reason = (words, { message, type }, s) => {
  if (type === "RuntimeError") return message.startsWith("`lengths`") ? words.wrong_order : words.wrong_length;
  const [name] = message.split(" ");
  if (name === "dropout") return words.wrong_dropout;
  if (name !== "proj_size") return fill(words.wrong_size, { name });
  return fill(s.P < 0 ? words.wrong_negative : words.wrong_projection, { H: s.H, most: s.H - 1 });
};

/* ---- The drawing ---- */

const [LEFT, RIGHT, TOP, BOTTOM, HEIGHT] = [42, 318, 36, 312, 346];

/* A vector as a bar of a few squares around x; p: how many of them dropout leaves empty, t shifts which. */
const bar = (x, y, width, size, colour, p = 0, t = 0) => {
  const n = Math.max(1, Math.min(size, Math.floor(width / 4.5)));
  const [one, gone] = [width / n, Math.round(p * n)];
  const place = (k) => (x - width / 2 + k * one).toFixed(2);
  const path = (these) => these.map((k) => `M${place(k)} ${y}h${one.toFixed(2)}v9h${(-one).toFixed(2)}z`).join("");
  const all = Array.from({ length: n }, (_, k) => k);
  const dropped = (k) => (k * 3 + t * 2) % n < gone;
  return [
    svg("path", { d: path(all.filter((k) => !dropped(k))), fill: colour, "fill-opacity": 0.45, stroke: colour }),
    gone ? svg("path", { d: path(all.filter(dropped)), fill: "none", stroke: colour, "stroke-dasharray": "1.5 1" }) : null,
  ];
};

/* The network that the parameters make. Each part knows for which tensors it stands (of) and which it belongs to (near). */
const network = (words, mark) => {
  const element = drawing(words, 360, HEIGHT);
  let [parts, built] = [[], null];

  const build = (s) => {
    const { L, D, I, H, P, R, T, N } = s;
    parts = [];
    const add = (shape, of = [], near = []) => {
      const width = shape.getAttribute("stroke-width");
      parts.push({ shape, of, near, width });
      if (TENSORS.includes(of[0])) change(shape, { cursor: "pointer", onclick: () => mark(of[0]) });
    };
    const text = (x, y, what, of, near, attributes = {}) =>
      add(label(x, y, what, { "font-size": 12, ...attributes }), of, near);
    const [end, start] = [{ "text-anchor": "end" }, { "text-anchor": "start" }];

    // up to four columns: the first steps and the last one
    const steps = T <= 4 ? Array.from({ length: T }, (_, t) => t) : [0, 1, null, T - 1];
    const pitch = (RIGHT - LEFT - 12) / steps.length;
    const columns = steps.map((t, k) => ({ t, x: LEFT + 6 + (k + 0.5) * pitch })).filter(({ t }) => t !== null);
    const dots = steps.includes(null) ? LEFT + 6 + 2.5 * pitch : null;
    const last = columns.length - 1;
    const rows = Array.from({ length: L }, (_, l) => BOTTOM - ((l + 0.5) * (BOTTOM - TOP)) / L);
    const spread = 16 + 5 * (3 - L);
    const tall = 12 + (3 - L) * (D === 2 ? 1.5 : 4); // half a box
    const wide = D === 2 ? 10 : 12;
    const chain = (l, d) => rows[l] + (D === 2 ? (d ? -spread : spread) : 0);
    const side = (d) => (d ? 1 : -1); // the box stands before its output, in its own direction of time
    const boxX = (x, d) => x + side(d) * (D === 2 ? 24 : 20);
    const outX = (x, d) => (D === 2 ? x + side(d) * 7 : x);
    const barY = (l) => (l < 0 ? 318 : l === L - 1 ? 19 : (rows[l] + rows[l + 1]) / 2 - 4.5);
    const full = D === 2 ? 21 : 30;
    const long = (size) => Math.max(9, Math.min(42, full * Math.sqrt(size / H)));
    const name = (kind, l, d) => `${kind}_l${l}${d ? "_reverse" : ""}`;
    const every = (l, d) => ["weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr"].map((kind) => name(kind, l, d));
    const directions = D === 2 ? [0, 1] : [0];

    const frame = tall + 8 + (D === 2 ? spread : 0);
    for (const y of rows)
      add(svg("rect", { x: LEFT, y: y - frame, width: RIGHT - LEFT, height: 2 * frame,
        rx: 8, fill: "currentColor", "fill-opacity": 0.06 }), ALWAYS, []);

    // the vectors at every step: the input, then what each layer gives
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
      text(LEFT - 5, barY(l) + 4.5, `${l < 0 ? I : D * R}`, of, reads, { ...end, "font-size": 11 });
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
          add(arrow([[box, low], [box, y + tall + 1]], lines), [ih], [l ? "" : "input"]);
          add(arrow([[from, h], [out, h], [out, barY(l) + 10]], lines), [], [...top, ...directions.map((one) => name("weight_ih", l + 1, one))]);
          const paint = { fill: colour, "fill-opacity": 0.18, stroke: colour, "stroke-width": 1.2 };
          add(svg("rect", { x: box - wide, y: y - tall, width: 2 * wide, height: 2 * tall, rx: 3, ...paint }),
            [bi, bh], [ih, hh, hr, ...ends, ...top]);
          text(box, y, `l${l}`, [], [...every(l, d), ...ends, ...top], { "font-size": 11, "font-family": "monospace" });
          if (P > 0)
            add(svg("polygon", { ...paint, "fill-opacity": 0.6, "stroke-width": 0.8,
              points: `${edge},${h - 6} ${from},${h - 2.5} ${from},${h + 2.5} ${edge},${h + 6}` }), [hr], [...ends.slice(0, 1), ...top]);
          const margin = d ? LEFT - 3 : RIGHT + 3;
          const to = k === last ? margin : boxX(order[k + 1].x, d) - forward * (wide + 1);
          const skips = dots && (x - dots) * (to - dots) < 0 && k < last;
          const broken = skips ? { ...lines, "stroke-dasharray": "1.5 4" } : lines;
          const [h_n, c_n] = k === last ? [["h_n"], ["c_n"]] : [[hh], []];
          add(arrow([[from, h], [to, h]], broken), h_n);
          add(arrow([[edge, c], [to, c]], broken), c_n);
          if (k === 0) {
            const begin = d ? RIGHT + 3 : LEFT - 3;
            add(arrow([[begin, h], [box - forward * (wide + 1), h]], lines), [hh]);
            add(arrow([[begin, c], [box - forward * (wide + 1), c]], lines));
            const [anchor, at] = d ? [start, RIGHT + 5] : [end, LEFT - 5];
            text(at, h, `${R}`, [], [hh, "h_n"], { ...anchor, "font-size": 11 });
            text(at, c, `${H}`, [], ["c_n"], { ...anchor, "font-size": 11 });
          }
          if (k === last) {
            const [anchor, at] = d ? [end, LEFT - 5] : [start, RIGHT + 5];
            text(at, h - 1, `h_n[${D * l + d}]`, ["h_n"], [], anchor);
            text(at, c + 2, `c_n[${D * l + d}]`, ["c_n"], [], anchor);
          }
        });
        // what a layer reads is the whole of the vector below it
        for (const { x } of columns) {
          const [half, ys] = [long(l ? R : I) / 2, barY(l - 1) - 3];
          const left = Math.min(boxX(x, 0), x - half);
          const line = { x1: left, x2: D === 2 ? 2 * x - left : x + half, y1: ys, y2: ys };
          const ihs = directions.map((one) => name("weight_ih", l, one));
          if (!d) add(svg("line", { ...line, stroke: "currentColor", "stroke-width": 1 }), [], [l ? "" : "input", ...ihs]);
        }
      }

    text(4, 9, "output", ["output"], [], { ...start });
    text(4, 338, "input", ["input"], [], { ...start });
    for (const { x, t } of columns) {
      text(x, 338, `x_{${t + 1}}`, ["input"]);
      const index = t && t === T - 1 ? -1 : t;
      const first = s.layout === "batched" && s.batch_first ? ":, " : "";
      if (!s.packed) text(x, 9, `[${first}${index}]`, ["output"], [], { "font-size": 11 });
      const running = s.packed ? batchSizes(s.lengths)[t] : N;
      if (N) text(x + Math.max(12, long(I) / 2) + 2, 323, `×${running}`, ["input"], [], { ...start, "font-size": 11 });
    }
    if (dots) text(dots, 338, "⋯", ["input"]);
    element.replaceChildren(...parts.map(({ shape }) => shape));
  };

  return {
    element,
    set(s) {
      if (!s.error) {
        const key = JSON.stringify({ ...s, marked: null, bias: null });
        if (key !== built) build(s);
        built = key;
      }
      const marked = parts.some(({ of, near }) => of.includes(s.marked) || near.includes(s.marked)) ? s.marked : "";
      for (const { shape, of, near, width } of parts) {
        const [is, by] = [of.includes(marked), of === ALWAYS || near.includes(marked)];
        change(shape, {
          opacity: s.error ? 0.15 : !marked || is || by ? null : 0.25,
          "font-weight": marked && is ? "bold" : null,
          "stroke-width": marked && is && width ? 2 * width : width,
        });
      }
    },
  };
};

/* ---- The controls that the kit has not ---- */

/* Lengths of sequences, typed with commas between them. */
const lengthsBox = (model, words) => {
  const list = /^\s*\d+([,\s、，]+\d+)*[,\s、，]*$/;
  const read = (typed) => (list.test(typed) ? typed.match(/\d+/g).map(Number) : null);
  const valid = (these) => these && these.length <= MOST && these.every((length) => length <= LONGEST);
  const same = (these) => these && these.join() === model.get("lengths").join();
  const mark = (wrong) => {
    change(input, { "aria-invalid": wrong ? "true" : null });
    change(hint, { hidden: !wrong });
  };
  const take = () => {
    const typed = read(input.value);
    if (valid(typed)) {
      model.set("lengths", typed);
      model.save_changes();
    }
    mark(!valid(typed) && input.value.trim() !== "");
  };
  const follow = () => {
    if (!same(read(input.value))) input.value = model.get("lengths").join(", ");
    mark(false);
  };
  const leave = () => {
    input.value = model.get("lengths").join(", ");
    mark(false);
  };
  const input = html("input", { type: "text", autocomplete: "off", maxlength: 60, oninput: take, onblur: leave });
  const hint = html("span", { hidden: true }, fill(words.lengths_typed, { most: MOST, longest: LONGEST }));
  model.on("change:lengths", follow);
  follow();
  const name = html("span", {}, html("code", {}, "lengths"), " ", symbol("T"));
  return html("div", {}, html("label", { class: "control textbox" }, name, input), hint);
};

/* The weights that there are, to choose one. The list follows the network. */
const weightChoice = (model, words, mark) => {
  const select = html("select", { class: "wide", "aria-label": words.weight, onchange: () => mark(select.value) });
  let listed = null;
  return {
    element: select,
    set(weights, marked) {
      const names = weights.map(([name]) => name);
      if (marked && !TENSORS.includes(marked) && !names.includes(marked)) names.push(marked);
      if (names.join() !== listed) {
        listed = names.join();
        select.replaceChildren(...["", ...names].map((name) => html("option", { value: name }, name || words.weight)));
      }
      select.value = TENSORS.includes(marked) ? "" : marked;
    },
  };
};

/* Python in a box, with a button that copies it. Where a page may not copy, it selects. */
const copyBox = (words) => {
  const text = html("code");
  const box = html("pre", { tabindex: 0, role: "region", "aria-label": words.code }, text);
  const done = html("span", { role: "status" });
  const copy = async () => {
    let copied = true;
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      getSelection().selectAllChildren(text);
      copied = document.execCommand("copy");
    }
    say(done, copied ? words.copied : words.selected);
  };
  return {
    element: html(
      "div", { class: "python" },
      html("div", { class: "strip" }, html("strong", {}, words.code), button(words.copy, copy), done), box,
    ),
    set(lines) {
      if (text.textContent === lines) return;
      say(text, lines);
      say(done, "");
    },
  };
};

const render = ({ model, el }) => {
  const words = model.get("words");
  const mark = (marked) => {
    model.set("marked", marked);
    model.save_changes();
  };
  const picture = network(words, mark);
  const [told, noted] = [report(), report()];
  change(told.element, { class: "steady" });
  const turn = (name) => mark(model.get("marked") === name ? "" : name);
  const pointed = Object.fromEntries(TENSORS.map((name) => [name, button(html("code", {}, name), () => turn(name))]));
  const weight = weightChoice(model, words, mark);
  const python = copyBox(words);
  const message = html("code");
  const complaint = html("div", { class: "refused" }, message, noted.element);
  const [shapesBody, weightsBody, total] = [html("tbody"), html("tbody"), html("summary")];
  const head = (...names) => {
    const cell = (name, k) => html("th", { scope: "col", class: k === 3 ? "amount" : null }, name);
    return html("thead", {}, html("tr", {}, names.map(cell)));
  };

  let [listed, rows] = [null, {}];
  const tables = (s, shapes, weights) => {
    const row = (name, shown, parts, ...cells) =>
      (rows[name] = html(
        "tr", {}, html("th", { scope: "row" }, html("code", {}, shown)), html("td", {}, letters(parts)),
        cells.map((cell, k) => html("td", { class: k ? "amount" : null }, cell)),
      ));
    const key = JSON.stringify({ ...s, marked: null });
    if (key !== listed) {
      [listed, rows] = [key, {}];
      const data = (name) => (s.packed && (name === "input" || name === "output") ? `${name}.data` : name);
      const [signs, numbers] = [symbols(s), (tensors) => count(tensors).toLocaleString("en")];
      shapesBody.replaceChildren(...TENSORS.map((name) => row(name, data(name), signs[name], s.error ? "—" : tuple(shapes[name]))));
      weightsBody.replaceChildren(
        ...weights.map((one) => row(one[0], one[0], weightSymbols(one[0], s), tuple(one[1]), numbers([one]))),
      );
      const all = s.error ? { count: "—", tensors: "—" } : { count: numbers(weights), tensors: weights.length };
      say(total, fill(words.total, all));
    }
    for (const [name, one] of Object.entries(rows)) change(one, { "aria-current": name === s.marked ? "true" : null });
  };

  const draw = () => {
    const s = derive(model);
    const shapes = s.error ? {} : lstmShapes(s, { ...s, N: s.N });
    const weights = s.error ? [] : lstmParameters(s);
    picture.set(s);
    for (const name of TENSORS) change(pointed[name], { "aria-pressed": `${s.marked === name}` });
    weight.set(weights, s.marked);
    told.set(s.error ? words.said_refused : said(words, s, shapes, weights));
    const warning = lstmWarning(s);
    const dropping = s.dropout > 0 && s.L > 1;
    say(message, s.error ? `${s.error.type}: ${s.error.message}` : warning ? `UserWarning: ${warning}` : "");
    const values = { dropout: pythonFloat(s.dropout) };
    const noting = warning ? words.warned : dropping ? words.dropping : "";
    noted.set(s.error ? reason(words, s.error, s) : fill(noting, values));
    change(complaint, { class: s.error || warning ? "refused" : "noted", hidden: !(s.error || warning || dropping) });
    tables(s, shapes, weights);
    python.set(code(s));
    change(T, { hidden: s.packed });
    change(N, { hidden: s.layout !== "batched" });
    change(lengths, { hidden: !s.packed });
  };

  const size = (name, letter, min, max) =>
    stepper(model, name, { label: [html("code", {}, name), " ", symbol(letter)], min, max });
  const check = (name) => toggle(model, name, { label: html("code", {}, name) });
  const T = stepper(model, "T", { label: [`${words.steps} `, symbol("T")], min: 1, max: 100 });
  const N = stepper(model, "N", { label: [`${words.sequences} `, symbol("N")], min: 1, max: 100 });
  const lengths = lengthsBox(model, words);
  const parts = [
    picture.element,
    html(
      "div", { class: "strip", role: "group", "aria-label": words.find },
      html("span", {}, words.find), Object.values(pointed), weight.element,
    ),
    told.element,
    group(
      words.network,
      size("input_size", "I", 0, 1024), size("hidden_size", "H", 0, 1024),
      size("num_layers", "L", 0, 3), size("proj_size", "P", -1, 1024),
      stepper(model, "dropout", { label: html("code", {}, "dropout"), min: -0.5, max: 1.5, step: 0.1, any: true }),
      html("div", { class: "strip" }, check("bidirectional"), check("bias")),
    ),
    group(
      words.input,
      choice(model, "input_layout", { label: words.layout, options: LAYOUTS.map((one) => [one, words[one]]) }),
      check("batch_first"), T, N, lengths,
    ),
    complaint,
    html("table", {}, html("caption", {}, words.shapes), head(words.tensor, words.symbols, words.shape), shapesBody),
    python.element,
    html(
      "details", {}, total,
      html("table", {}, head(words.tensor, words.symbols, words.shape, words.numbers), weightsBody),
    ),
  ];
  return show(model, el, parts, TRAITS, draw);
};

export default { render };
