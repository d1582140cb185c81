/* Figure: the parameters of nn.LSTM, the network drawn, and the shapes of all its tensors. */
import { countNumbers, lstmWarning, pythonFloat } from "./arithmetic.js";
import { change, fill, html, setContent, symbol } from "./elements.js";
import { choice, group, stepper, toggle } from "./controls.js";
import { pointed } from "./pointer.js";
import { report, show } from "./show.js";
import { TENSORS, TRAITS, code, derive, describe, explainError, letters, symbols, tuple } from "./shapes_parameters.js";
import { network } from "./shapes_network.js";
import { copyBox, lengthsBox, tensorChoice } from "./shapes_controls.js";

const LAYOUTS = ["batched", "unbatched", "packed"];

const render = ({ model, el }) => {
  const words = model.get("words");
  /* Mark a tensor; mark none if it is marked already. */
  const mark = (name) => {
    model.set("marked", model.get("marked") === name ? "" : name);
    model.save_changes();
  };
  const [picture, find, program] = [network(words, mark), tensorChoice(words, mark), copyBox(words)];
  const [description, note] = [report(), report()];
  change(description.element, { class: "steady" });
  const message = html("code");
  const complaint = html("div", {}, message, note.element);
  const [shapesBody, weightsBody, total] = [html("tbody"), html("tbody"), html("summary")];
  const head = (...names) => {
    const cell = (name, k) => html("th", { scope: "col", class: k === 3 ? "amount" : null }, name);
    return html("thead", {}, html("tr", {}, names.map(cell)));
  };

  let [listed, rows] = [null, {}];
  const tables = (s) => {
    const key = JSON.stringify({ ...s, marked: null });
    if (key !== listed) {
      [listed, rows] = [key, {}];
      const [signs, numbers] = [symbols(s), (tensors) => countNumbers(tensors).toLocaleString("en")];
      const row = (name, ...amount) => {
        const data = s.packed && (name === "input" || name === "output") ? ".data" : "";
        const cells = [letters(signs[name]), s.error ? "—" : tuple(s.tensors[name]), ...amount];
        rows[name] = html(
          "tr",
          {
            onclick: () => mark(name),
            onmouseenter: () => picture.set({ ...derive(model), marked: name }),
            onmouseleave: () => picture.set(derive(model)),
          },
          html("th", { scope: "row" }, html("code", {}, name + data)),
          cells.map((cell, k) => html("td", { class: k === 2 ? "amount" : null }, cell)),
        );
        return rows[name];
      };
      const weights = Object.entries(s.tensors).slice(TENSORS.length);
      shapesBody.replaceChildren(...TENSORS.map((name) => row(name)));
      weightsBody.replaceChildren(...weights.map((weight) => row(weight[0], numbers([weight]))));
      const all = s.error ? { count: "—", tensors: "—" } : { count: numbers(weights), tensors: weights.length };
      setContent(total, fill(words.total, all));
    }
    for (const [name, element] of Object.entries(rows))
      change(element, { "aria-current": name === s.marked ? "true" : null });
  };

  const draw = () => {
    const s = derive(model);
    picture.set(s);
    find.set(s);
    description.set(s.error ? `${words.said_refused} ${explainError(words, s.error, s)}` : describe(words, s));
    const warning = lstmWarning(s);
    const dropping = !s.error && s.dropout > 0 && s.L > 1;
    setContent(message, s.error ? `${s.error.type}: ${s.error.message}` : warning ? `UserWarning: ${warning}` : "");
    const comment = s.error ? "" : warning ? words.warned : dropping ? words.dropping : "";
    note.set(fill(comment, { dropout: pythonFloat(s.dropout) }));
    change(complaint, { class: s.error || warning ? "refused" : "noted", hidden: !(s.error || warning || dropping) });
    tables(s);
    program.set(code(s));
    change(T, { hidden: s.packed });
    change(N, { hidden: s.layout !== "batched" });
    change(lengths, { hidden: !s.packed });
  };

  const size = (name, letter, min, max) =>
    stepper(model, name, {
      label: [html("code", {}, name), " ", symbol(letter), max < 10 ? `≤${max}` : ""],
      min,
      max,
    });
  const check = (name) => toggle(model, name, { label: html("code", {}, name) });
  const T = stepper(model, "T", { label: [`${words.steps} `, symbol("T")], min: 1, max: 100 });
  const N = stepper(model, "N", { label: [`${words.sequences} `, symbol("N")], min: 1, max: 100 });
  const lengths = lengthsBox(model, words);
  const drawn = [pointed(picture.element), description.element];
  const controls = [
    find.element,
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
      choice(model, "input_layout", { label: words.layout, options: LAYOUTS.map((name) => [name, words[name]]) }),
      check("batch_first"),
      T,
      N,
      lengths,
    ),
    complaint,
  ];
  const columns = [words.tensor, words.symbols, words.shape, words.numbers];
  const below = [
    html("table", {}, html("caption", {}, words.shapes), head(...columns.slice(0, 3)), shapesBody),
    html("details", {}, html("summary", {}, words.code), program.element),
    html("details", {}, total, html("table", {}, head(...columns), weightsBody)),
  ];
  return show(model, el, { drawing: drawn, controls, below }, TRAITS, draw);
};

export default { render };
