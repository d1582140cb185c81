/* Figure: the parameters of nn.LSTM, the network drawn, and the shapes of all its tensors. */
import { countNumbers, lstmParameters, lstmShapes, lstmWarning, pythonFloat } from "./arithmetic.js";
import { change, fill, html, setContent, symbol } from "./elements.js";
import { button, choice, group, stepper, toggle } from "./controls.js";
import { report, show } from "./show.js";
import {
  LAYOUTS,
  TENSORS,
  TRAITS,
  code,
  derive,
  letters,
  explainError,
  describe,
  symbols,
  tuple,
  weightSymbols,
} from "./shapes_parameters.js";
import { network } from "./shapes_network.js";
import { copyBox, lengthsBox, weightChoice } from "./shapes_controls.js";
const render = ({ model, el }) => {
  const words = model.get("words");
  const mark = (marked) => {
    model.set("marked", marked);
    model.save_changes();
  };
  const picture = network(words, mark);
  const [description, note] = [report(), report()];
  change(description.element, { class: "steady" });
  const toggleMark = (name) => mark(model.get("marked") === name ? "" : name);
  const tensorButtons = Object.fromEntries(
    TENSORS.map((name) => [name, button(html("code", {}, name), () => toggleMark(name))]),
  );
  const weight = weightChoice(words, mark);
  const program = copyBox(words);
  const message = html("code");
  const complaint = html("div", { class: "refused" }, message, note.element);
  const [shapesBody, weightsBody, total] = [html("tbody"), html("tbody"), html("summary")];
  const head = (...names) => {
    const cell = (name, k) => html("th", { scope: "col", class: k === 3 ? "amount" : null }, name);
    return html("thead", {}, html("tr", {}, names.map(cell)));
  };

  let [listed, rows] = [null, {}];
  const tables = (s, shapes, weights) => {
    const row = (name, shown, parts, ...cells) =>
      (rows[name] = html(
        "tr",
        {},
        html("th", { scope: "row" }, html("code", {}, shown)),
        html("td", {}, letters(parts)),
        cells.map((cell, k) => html("td", { class: k ? "amount" : null }, cell)),
      ));
    const key = JSON.stringify({ ...s, marked: null });
    if (key !== listed) {
      [listed, rows] = [key, {}];
      const data = (name) => (s.packed && (name === "input" || name === "output") ? `${name}.data` : name);
      const [signs, numbers] = [symbols(s), (tensors) => countNumbers(tensors).toLocaleString("en")];
      shapesBody.replaceChildren(
        ...TENSORS.map((name) => row(name, data(name), signs[name], s.error ? "—" : tuple(shapes[name]))),
      );
      weightsBody.replaceChildren(
        ...weights.map((weight) => {
          const [name, shape] = weight;
          return row(name, name, weightSymbols(name, s), tuple(shape), numbers([weight]));
        }),
      );
      const all = s.error ? { count: "—", tensors: "—" } : { count: numbers(weights), tensors: weights.length };
      setContent(total, fill(words.total, all));
    }
    for (const [name, element] of Object.entries(rows))
      change(element, { "aria-current": name === s.marked ? "true" : null });
  };

  const draw = () => {
    const s = derive(model);
    const shapes = s.error ? {} : lstmShapes(s, { ...s, N: s.N });
    const weights = s.error ? [] : lstmParameters(s);
    picture.set(s);
    for (const name of TENSORS) change(tensorButtons[name], { "aria-pressed": `${s.marked === name}` });
    weight.set(weights, s.marked);
    description.set(s.error ? words.said_refused : describe(words, s, shapes, weights));
    const warning = lstmWarning(s);
    const dropping = s.dropout > 0 && s.L > 1;
    setContent(message, s.error ? `${s.error.type}: ${s.error.message}` : warning ? `UserWarning: ${warning}` : "");
    const values = { dropout: pythonFloat(s.dropout) };
    const comment = warning ? words.warned : dropping ? words.dropping : "";
    note.set(s.error ? explainError(words, s.error, s) : fill(comment, values));
    change(complaint, { class: s.error || warning ? "refused" : "noted", hidden: !(s.error || warning || dropping) });
    tables(s, shapes, weights);
    program.set(code(s));
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
      "div",
      { class: "strip", role: "group", "aria-label": words.find },
      html("span", {}, words.find),
      Object.values(tensorButtons),
      weight.element,
    ),
    description.element,
    group(
      words.network,
      size("input_size", "I", 0, 1024),
      size("hidden_size", "H", 0, 1024),
      size("num_layers", "L", 0, 3),
      size("proj_size", "P", -1, 1024),
      stepper(model, "dropout", { label: html("code", {}, "dropout"), min: -0.5, max: 1.5, step: 0.1, any: true }),
      html("div", { class: "strip" }, check("bidirectional"), check("bias")),
    ),
    group(
      words.input,
      choice(model, "input_layout", { label: words.layout, options: LAYOUTS.map((layout) => [layout, words[layout]]) }),
      check("batch_first"),
      T,
      N,
      lengths,
    ),
    complaint,
    html("table", {}, html("caption", {}, words.shapes), head(words.tensor, words.symbols, words.shape), shapesBody),
    program.element,
    html(
      "details",
      {},
      total,
      html("table", {}, head(words.tensor, words.symbols, words.shape, words.numbers), weightsBody),
    ),
  ];
  return show(model, el, parts, TRAITS, draw);
};

export default { render };
