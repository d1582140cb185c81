/* The parameters of nn.LSTM: the network that they make, and the shapes of all its tensors. */
import { batchSizes, lstmError, packError, python, pythonFloat } from "./steps.js";
import { BLUE, ORANGE, fill, html } from "./kit.js";

const ARGUMENTS = [
  "input_size",
  "hidden_size",
  "num_layers",
  "bias",
  "batch_first",
  "dropout",
  "bidirectional",
  "proj_size",
];
export const TRAITS = [...ARGUMENTS, "input_layout", "T", "N", "lengths", "marked"];
export const LAYOUTS = ["batched", "unbatched", "packed"];
export const TENSORS = ["input", "output", "h_n", "c_n"];
export const ALWAYS = ["frame"]; // what is never made pale
export const COLOURS = [BLUE, ORANGE]; // forwards, backwards
export const LONGEST = 100; // the longest sequence, and eight of them at most
export const MOST = 8;
const WIDTH = 42; // letters in a line of code on a phone

/* ---- What follows from the parameters ---- */

/* All that the figure shows, from the model's traits: R numbers in a hidden state, D directions, steps T of N sequences. */
export const derive = (model) => {
  const now = Object.fromEntries(TRAITS.map((name) => [name, model.get(name)]));
  const packed = now.input_layout === "packed";
  const T = packed ? Math.max(...now.lengths) : now.T;
  const N = packed ? now.lengths.length : now.input_layout === "batched" ? now.N : null;
  const [L, D] = [now.num_layers, now.bidirectional ? 2 : 1];
  const [I, H, P] = [now.input_size, now.hidden_size, now.proj_size];
  const error = lstmError(now) || (packed ? packError(now.lengths) : null);
  return { ...now, layout: now.input_layout, packed, T, N, I, H, P, L, D, R: P || H, error };
};

export const tuple = (shape) => (shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`);

/* The same in symbols: those of the page's table. */
export const symbols = ({ layout, batch_first, D, P }) => {
  const R = P ? "P" : "H";
  const sequence = (features) => [
    ...(layout === "packed" ? ["ΣT"] : layout === "unbatched" ? ["T"] : batch_first ? ["N", "T"] : ["T", "N"]),
    features,
  ];
  const state = (features) => [D === 2 ? "2·L" : "L", ...(layout === "unbatched" ? [] : ["N"]), features];
  return { input: sequence("I"), output: sequence(D === 2 ? `2·${R}` : R), h_n: state(R), c_n: state("H") };
};

export const weightSymbols = (name, { D, P }) => {
  const R = P ? "P" : "H";
  if (name.startsWith("bias")) return ["4·H"];
  if (name.startsWith("weight_hr")) return ["P", "H"];
  if (name.startsWith("weight_hh")) return ["4·H", R];
  return ["4·H", name.includes("_l0") ? "I" : D === 2 ? `2·${R}` : R];
};

/* (T, N, 2·H) with its letters slanted */
export const letters = (parts) => {
  const inside = parts
    .join(", ")
    .match(/\p{L}|[^\p{L}]+/gu)
    .map((one) => (/\p{L}/u.test(one) ? html("var", {}, one) : one));
  return html("span", {}, "(", ...inside, parts.length === 1 ? ",)" : ")");
};

/* The Python that makes it all. What has its default is left out, and lines are short enough for a phone. */
export const code = (s) => {
  const usual = { num_layers: 1, bias: true, batch_first: false, dropout: 0, bidirectional: false, proj_size: 0 };
  const written = (name) => (name === "dropout" ? pythonFloat(s[name]) : python(s[name]));
  const options = Object.keys(usual)
    .filter((name) => s[name] !== usual[name])
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
export const said = (words, s, shapes, weights) => {
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
export const reason = (words, { message, type }, s) => {
  if (type === "RuntimeError") return message.startsWith("`lengths`") ? words.wrong_order : words.wrong_length;
  const [name] = message.split(" ");
  if (name === "dropout") return words.wrong_dropout;
  if (name !== "proj_size") return fill(words.wrong_size, { name });
  return fill(s.P < 0 ? words.wrong_negative : words.wrong_projection, { H: s.H, most: s.H - 1 });
};
