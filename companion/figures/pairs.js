/* Figure: a matrix state. Key-value pairs are written into it, and one key is looked up. */
import { read, stateAfter } from "./matrix.js";
import {
  GREEN,
  ORANGE,
  change,
  drawing,
  fill,
  fixed,
  html,
  label,
  setContent,
  square,
  squares,
  svg,
} from "./elements.js";
import { button, slider, toggle } from "./controls.js";
import { report, show } from "./show.js";

const [N, MOST, NAMES] = [4, 10, ["A", "B", "C", "D", "E", "F", "G"]];

const render = ({ model, el }) => {
  const words = model.get("words");
  const [keys, values] = model.get("supply");
  const set = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  const [W, H, TOP] = [38, 27, 66];
  const column = (x) =>
    Array.from({ length: N }, (_, i) => square(x, TOP + i * H, W, H, { limit: 2, digits: 1, size: 11 }));
  const S = squares(14, TOP, N, N, W, H, { limit: 2, digits: 1, size: 11 });
  const [key, answer, target] = [188, 252, 312].map(column);
  const [chips, bars] = [svg("g"), svg("g")];
  const small = { "font-size": 11 };
  const element = drawing(
    words,
    360,
    262,
    chips,
    bars,
    S.element,
    [key, answer, target].map((cells) => cells.map((cell) => cell.element)),
    label(14 + 2 * W, TOP - 10, "S"),
    label(188 + W / 2, TOP - 10, "k"),
    label(252 + W / 2, TOP - 10, "S k"),
    label(312 + W / 2, TOP - 10, "v"),
    label(178, TOP + 2 * H, "·"),
    label(239, TOP + 2 * H, "="),
    label(301, TOP + 2 * H, "≈"),
    label(14, 196, words.wrong, { ...small, "text-anchor": "start" }),
  );
  const sentence = report();

  const add = (k) => {
    const before = model.get("writes");
    const last = before.findLast(([written]) => written === k);
    if (before.length < MOST) set("writes", [...before, [k, last ? 1 - last[1] : 0]]);
  };
  const writers = NAMES.map((name, k) =>
    button(name, () => add(k), { "aria-label": fill(words.write_one, { key: name }) }),
  );
  const undo = button(words.undo, () => set("writes", model.get("writes").slice(0, -1)));
  const clear = button(words.clear, () => set("writes", []));
  const askers = NAMES.map((name, k) =>
    button(name, () => set("asked", k), { "aria-label": fill(words.ask_one, { key: name }) }),
  );

  const draw = () => {
    const [writes, asked, delta, alpha, beta] = ["writes", "asked", "delta", "alpha", "beta"].map((name) =>
      model.get(name),
    );
    const state = stateAfter(writes, [keys, values], alpha, beta, delta);
    const lastOf = (k) => writes.findLast(([written]) => written === k);
    const wrong = (k) => {
      const v = values[k][lastOf(k)[1]];
      return Math.max(...read(state, keys[k]).map((v_i, i) => Math.abs(v_i - v[i])));
    };
    S.set(state);
    const result = read(state, keys[asked]);
    const last = lastOf(asked);
    key.forEach((cell, i) => cell.set(keys[asked][i]));
    answer.forEach((cell, i) => cell.set(result[i]));
    target.forEach((cell, i) => cell.set(last ? values[asked][last[1]][i] : 0, { shown: !!last }));
    setContent(
      chips,
      ...writes.map(([k, which], n) =>
        label(
          22 + n * 34,
          20,
          `${NAMES[k]} ${which ? "2" : "1"}`,
          n === writes.length - 1 ? { "font-weight": 700 } : {},
        ),
      ),
    );
    const written = NAMES.map((_, k) => k).filter(lastOf);
    setContent(
      bars,
      ...written.flatMap((k) => {
        const x = 22 + k * 34;
        const height = Math.min(wrong(k), 4) * 8;
        const exact = wrong(k) < 0.05;
        return [
          svg("rect", {
            x: x - 9,
            y: 238 - Math.max(height, 1.5),
            width: 18,
            height: Math.max(height, 1.5),
            fill: exact ? GREEN : ORANGE,
            "fill-opacity": 0.85,
          }),
          label(x, 250, NAMES[k], small),
          label(x, 230 - Math.max(height, 1.5), fixed(wrong(k), 1), { "font-size": 10.5 }),
        ];
      }),
    );
    askers.forEach((asker, k) => change(asker, { "aria-pressed": `${k === asked}` }));
    for (const writer of writers) change(writer, { disabled: writes.length >= MOST });
    for (const control of [undo, clear]) change(control, { disabled: writes.length === 0 });
    const numbers = (vector) => vector.map((value) => fixed(value, 1)).join(", ");
    const name = NAMES[asked];
    sentence.set(
      last
        ? fill(words.said, {
            key: name,
            read: numbers(result),
            value: numbers(values[asked][last[1]]),
            error: fixed(wrong(asked), 1),
          })
        : fill(words.said_nothing, { key: name, read: numbers(result) }),
    );
  };

  const strip = (name, ...children) =>
    html("div", { class: "strip", role: "group", "aria-label": name }, html("span", {}, name), children);
  const parts = [
    strip(words.write, writers),
    html("div", { class: "strip" }, undo, clear),
    element,
    strip(words.ask, askers),
    sentence.element,
    html(
      "div",
      { class: "controls" },
      toggle(model, "delta", { label: words.delta }),
      slider(model, "beta", { label: ["β"], min: 0, max: 2, step: 0.1, show: (value) => fixed(value, 1) }),
      slider(model, "alpha", { label: ["α"], min: 0.5, max: 1, step: 0.05, show: (value) => fixed(value, 2) }),
    ),
  ];
  return show(model, el, parts, ["writes", "asked", "delta", "alpha", "beta"], draw);
};

export default { render };
