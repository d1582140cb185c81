/* Data of the figure shapes.js: shapes, code and sentences that follow from the parameters of nn.LSTM. */
import {
  batchSizes,
  lstmError,
  lstmParameters,
  lstmShapes,
  packError,
  pythonFloat,
  pythonLiteral,
} from "./arithmetic.js";
import { BLUE, ORANGE, fill, html } from "./elements.js";

const ARGUMENTS = "input_size hidden_size num_layers bias batch_first dropout bidirectional proj_size".split(" ");
export const TRAITS = [...ARGUMENTS, "input_layout", "T", "N", "lengths", "marked"];
export const TENSORS = ["input", "output", "h_n", "c_n"];
export const ALWAYS = ["frame"]; // parts that are never pale
export const COLOURS = [BLUE, ORANGE]; // forwards, backwards
export const LONGEST = 100; // steps of a sequence
export const MOST = 8; // sequences
const WIDTH = 42; // characters of a line of code on a phone

/* All values of the figure, from the model's traits. R: size of a hidden state, D: directions, T: steps of N sequences,
 * tensors: name → shape, first of TENSORS, then of the weights; none if torch refuses. */
export const derive = (model) => {
  const traits = Object.fromEntries(TRAITS.map((name) => [name, model.get(name)]));
  const packed = traits.input_layout === "packed";
  const T = packed ? Math.max(...traits.lengths) : traits.T;
  const N = packed ? traits.lengths.length : traits.input_layout === "batched" ? traits.N : null;
  const [L, D] = [traits.num_layers, traits.bidirectional ? 2 : 1];
  const [I, H, P] = [traits.input_size, traits.hidden_size, traits.proj_size];
  const error = lstmError(traits) || (packed ? packError(traits.lengths) : null);
  const s = { ...traits, layout: traits.input_layout, packed, T, N, I, H, P, L, D, R: P || H, error };
  return { ...s, tensors: error ? {} : { ...lstmShapes(s, s), ...Object.fromEntries(lstmParameters(s)) } };
};

export const tuple = (shape) => (shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`);

/* The shapes in symbols, as in the page's table: name → sizes. */
export const symbols = ({ layout, batch_first, D, P, tensors }) => {
  const R = P ? "P" : "H";
  const both = D === 2 ? `2·${R}` : R;
  const sequence = (features) => [
    ...(layout === "packed" ? ["ΣT"] : layout === "unbatched" ? ["T"] : batch_first ? ["N", "T"] : ["T", "N"]),
    features,
  ];
  const state = (features) => [D === 2 ? "2·L" : "L", ...(layout === "unbatched" ? [] : ["N"]), features];
  const weight = (name) => {
    if (name.startsWith("bias")) return ["4·H"];
    if (name.startsWith("weight_hr")) return ["P", "H"];
    if (name.startsWith("weight_hh")) return ["4·H", R];
    return ["4·H", name.includes("_l0") ? "I" : both];
  };
  const weights = Object.keys(tensors).map((name) => [name, weight(name)]);
  return {
    ...Object.fromEntries(weights),
    input: sequence("I"),
    output: sequence(both),
    h_n: state(R),
    c_n: state("H"),
  };
};

/* (T, N, 2·H) with its letters in italics. */
export const letters = (parts) => {
  const inside = parts
    .join(", ")
    .match(/\p{L}|[^\p{L}]+/gu)
    .map((part) => (/\p{L}/u.test(part) ? html("var", {}, part) : part));
  return html("span", {}, "(", ...inside, parts.length === 1 ? ",)" : ")");
};

/* The Python program that makes the network. Defaults are omitted, and lines are short enough for a phone. */
export const code = (s) => {
  const defaults = { num_layers: 1, bias: true, batch_first: false, dropout: 0, bidirectional: false, proj_size: 0 };
  const written = (name) => (name === "dropout" ? pythonFloat(s[name]) : pythonLiteral(s[name]));
  const options = Object.keys(defaults)
    .filter((name) => s[name] !== defaults[name])
    .map((name) => `${name}=${written(name)}`);
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
    "import torch",
    "from torch import nn",
    ...(s.packed ? ["from torch.nn.utils import rnn"] : []),
    "",
    ...call("lstm = nn.LSTM", [`${s.I}`, `${s.H}`, ...options]),
    `x = torch.randn(${shape.join(", ")})`,
    ...(s.packed ? call("x = rnn.pack_padded_sequence", packing) : []),
    "output, (h_n, c_n) = lstm(x)",
    "",
    `print(output${s.packed ? ".data" : ""}.shape)`,
    "print(h_n.shape)",
    "print(c_n.shape)",
  ].join("\n");
};

/* The places of the last layer's h_n in output, in Python. */
const finalStates = ({ layout, batch_first, D, R }) => {
  const at = (t, half) => {
    const first = layout === "batched" && batch_first ? [":", t] : [t];
    if (half) first.push(...(layout === "batched" && !batch_first ? [":"] : []), half);
    return `output[${first.join(", ")}]`;
  };
  return D === 1 ? [`h_n[-1] = ${at(-1)}`] : [`h_n[-2] = ${at(-1, `:${R}`)}`, `h_n[-1] = ${at(0, `${R}:`)}`];
};

/* A sentence about the marked tensor. */
export const describe = (words, s) => {
  const { marked, D, packed } = s;
  if (!marked) return words.said_nothing;
  const shape = s.tensors[marked];
  if (!shape) return fill(words.said_missing, { name: marked });
  if (TENSORS.includes(marked)) {
    const [forward, backward] = packed ? [] : finalStates(s);
    const running = packed ? batchSizes(s.lengths) : [];
    const sizes = running.slice(0, 8).join(", ") + (running.length > 8 ? ", …" : "");
    const values = { ...s, shape: tuple(shape), forward, backward, sizes };
    const kind = {
      input: `_${s.layout}`,
      output: (D === 2 ? "_both" : "") + (packed ? "_packed" : ""),
      h_n: (D === 2 ? "_both" : "") + (packed ? "_packed" : ""),
      c_n: s.P ? "_projected" : "",
    };
    return fill(words[`said_${marked}${kind[marked]}`], values);
  }
  const [rows, columns] = shape;
  const kind = marked.match(/^(weight|bias)(_[ihr]+)/)[0].replace(/^bias_.*/, "bias");
  const above = kind === "weight_ih" && !marked.includes("_l0");
  const other = above ? "_above" : kind === "weight_hh" && marked.endsWith("_reverse") ? "_reverse" : "";
  return fill(words[`said_${kind}${other}`], { ...s, name: marked, shape: tuple(shape), rows, columns });
};

/* An explanation of torch's error. */
export const explainError = (words, { message, type }, s) => {
  if (type === "RuntimeError") return message.startsWith("`lengths`") ? words.wrong_order : words.wrong_length;
  const [name] = message.split(" ");
  if (name === "dropout") return words.wrong_dropout;
  if (name !== "proj_size") return fill(words.wrong_size, { name });
  return fill(s.P < 0 ? words.wrong_negative : words.wrong_projection, { H: s.H });
};
