/* Arithmetic of the figures. Vectors are arrays of numbers, matrices arrays of rows, in float64. Names, shapes and orders
 * are torch's: tests/figures/test_figures_arithmetic.py compares every function with torch in a browser. */

import { dot, sigmoid } from "./numbers.js";

/* W x, W: (M, N), x: (N) */
export const times = (W, x) => W.map((row) => dot(row, x));

/* x W, x: (M), W: (M, N): if x is one-hot, a row of W */
export const rowTimes = (x, W) => W[0].map((_, n) => x.reduce((sum, x_m, m) => sum + x_m * W[m][n], 0));

/* W_ih x + b_ih + W_hh h + b_hh; a layer may have no biases. */
export const preactivations = (x, h, w) => {
  const [a, b] = [times(w.weight_ih, x), times(w.weight_hh, h)];
  return a.map((a_k, k) => a_k + b[k] + (w.bias_ih ? w.bias_ih[k] + w.bias_hh[k] : 0));
};

/* r W */
export const scale = (r, W) => W.map((row) => row.map((value) => r * value));

/* ---- Embedding ---- */

/* The one-hot vector of an index: (num_embeddings) */
export const oneHot = (index, num_embeddings) =>
  Array.from({ length: num_embeddings }, (_, k) => (k === index ? 1 : 0));

/* dL/dW, (num_embeddings, embedding_dim), from dL/de_k for every place k: a row's gradient is the sum over its places. */
export const embeddingGradient = (indices, gradients, num_embeddings, padding_idx = null) => {
  const sum = Array.from({ length: num_embeddings }, () => gradients[0].map(() => 0));
  indices.forEach((index, place) => {
    if (index !== padding_idx) gradients[place].forEach((value, n) => (sum[index][n] += value));
  });
  return sum;
};

/* One step of gradient descent: W - lr dL/dW */
export const gradientStep = (W, gradient, lr) => W.map((row, m) => row.map((value, n) => value - lr * gradient[m][n]));

/* L, the sum of all numbers of the rows e_0, e_1, …, and dL/de_k for every place k: all ones. */
export const sumLoss = (rows) => ({
  L: rows.flat().reduce((sum, value) => sum + value, 0),
  gradients: rows.map((e) => e.map(() => 1)),
});

/* ---- RNN ---- */

const NONLINEARITIES = {
  tanh: [Math.tanh, (h) => 1 - h * h],
  relu: [(a) => Math.max(a, 0), (h) => (h > 0 ? 1 : 0)],
};

/* h_t = tanh( W_ih x_t + b_ih + W_hh h_{t-1} + b_hh ), or relu. x: (input_size), h: (hidden_size) */
export const rnnCell = (x, h, w, nonlinearity = "tanh") => preactivations(x, h, w).map(NONLINEARITIES[nonlinearity][0]);

/* The states h_1 … h_T of a sequence, each (hidden_size), from zeros unless h_0 is given. */
export const rnn = (inputs, w, nonlinearity = "tanh", h_0 = w.weight_hh.map(() => 0)) => {
  let h = h_0;
  return inputs.map((x) => (h = rnnCell(x, h, w, nonlinearity)));
};

/* dL/dh_1 … dL/dh_T for a loss that reads only the last state, from dL/dh_T: back through each step
 * by W_hh^T diag( f'(a_t) ). */
export const rnnGradients = (states, last, w, nonlinearity = "tanh") => {
  const slope = NONLINEARITIES[nonlinearity][1];
  const gradients = [last];
  for (let t = states.length - 1; t > 0; t--) {
    const through = gradients[0].map((value, k) => value * slope(states[t][k]));
    gradients.unshift(rowTimes(through, w.weight_hh));
  }
  return gradients;
};

/* f'(a), computed from h = f(a): 1 - h² for tanh, 1 or 0 for relu. */
export const rnnDerivatives = (h, nonlinearity = "tanh") => h.map(NONLINEARITIES[nonlinearity][1]);

/* ---- LSTM ---- */

/* One step, with all intermediate values, each (hidden_size):
 *   a     W_ih x_t + b_ih + W_hh h_{t-1} + b_hh, (4 hidden_size), the gates stacked in the order i, f, g, o
 *   i, f, o = σ( a_i ), σ( a_f ), σ( a_o )    g = tanh( a_g )
 *   kept  f ⊙ c_{t-1}    added  i ⊙ g    c  kept + added    squashed  tanh( c )    h  o ⊙ tanh( c ) */
export const lstmCell = (x, [h, c], w) => {
  const a = preactivations(x, h, w);
  const size = c.length;
  const chunk = (k, f) => a.slice(k * size, (k + 1) * size).map(f);
  const [i, f, g, o] = [chunk(0, sigmoid), chunk(1, sigmoid), chunk(2, Math.tanh), chunk(3, sigmoid)];
  const kept = f.map((f_k, k) => f_k * c[k]);
  const added = i.map((i_k, k) => i_k * g[k]);
  const c_t = kept.map((value, k) => value + added[k]);
  const squashed = c_t.map(Math.tanh);
  const h_t = o.map((o_k, k) => o_k * squashed[k]);
  return { a, i, f, g, o, kept, added, c: c_t, squashed, h: h_t };
};

/* All steps of a sequence, each as `lstmCell` returns it. w may be a function of the step, t = 0 … T-1. */
export const lstm = (inputs, w, state) => {
  const weights = typeof w === "function" ? w : () => w;
  return inputs.map((x, t) => {
    const step = lstmCell(x, state, weights(t));
    state = [step.h, step.c];
    return step;
  });
};

/* ---- The parameters of nn.LSTM ---- */

/* The error that torch's constructor raises for its arguments: { type, message } in torch's words, or null. */
export const lstmError = ({ input_size, hidden_size, num_layers, dropout, proj_size }) => {
  const valueError = (message) => ({ type: "ValueError", message });
  if (!(dropout >= 0 && dropout <= 1))
    return valueError(
      "dropout should be a number in range [0, 1] representing the probability of an element being zeroed",
    );
  if (input_size <= 0) return valueError("input_size must be greater than zero");
  if (hidden_size <= 0) return valueError("hidden_size must be greater than zero");
  if (num_layers <= 0) return valueError("num_layers must be greater than zero");
  if (proj_size < 0) return valueError("proj_size should be a positive integer or zero to disable projections");
  if (proj_size >= hidden_size) return valueError("proj_size has to be smaller than hidden_size");
  return null;
};

/* The warning of torch's constructor, or null. */
export const lstmWarning = ({ num_layers, dropout }) =>
  dropout > 0 && dropout <= 1 && num_layers === 1
    ? "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects " +
      `num_layers greater than 1, but got dropout=${pythonFloat(dropout)} and num_layers=${num_layers}`
    : null;

/* A number, a string or a boolean as Python writes it. */
export const pythonLiteral = (value) =>
  typeof value === "boolean"
    ? value
      ? "True"
      : "False"
    : typeof value === "string"
      ? JSON.stringify(value)
      : `${value}`;

/* Names and shapes of all parameters, in torch's order: [[name, shape], …] */
export const lstmParameters = ({ input_size, hidden_size, num_layers, bias, bidirectional, proj_size }) => {
  const size = proj_size || hidden_size;
  const directions = bidirectional ? ["", "_reverse"] : [""];
  const parameters = [];
  for (let layer = 0; layer < num_layers; layer++)
    for (const direction of directions) {
      const features = layer ? directions.length * size : input_size;
      const name = (kind) => `${kind}_l${layer}${direction}`;
      parameters.push([name("weight_ih"), [4 * hidden_size, features]], [name("weight_hh"), [4 * hidden_size, size]]);
      if (bias) parameters.push([name("bias_ih"), [4 * hidden_size]], [name("bias_hh"), [4 * hidden_size]]);
      if (proj_size) parameters.push([name("weight_hr"), [proj_size, hidden_size]]);
    }
  return parameters;
};

export const countNumbers = (parameters) =>
  parameters.reduce((sum, [, shape]) => sum + shape.reduce((product, size) => product * size, 1), 0);

/* The shapes of inputs and outputs. layout: "batched", "unbatched" or "packed"; T: steps, N: sequences;
 * lengths: of packed sequences, the longest first. */
export const lstmShapes = (sizes, { layout, T, N, lengths }) => {
  const { input_size, hidden_size, num_layers, batch_first, bidirectional, proj_size } = sizes;
  const D = bidirectional ? 2 : 1;
  const size = proj_size || hidden_size;
  const sequence = (features) => {
    if (layout === "unbatched") return [T, features];
    if (layout === "packed") return [lengths.reduce((sum, length) => sum + length, 0), features];
    return batch_first ? [N, T, features] : [T, N, features];
  };
  const state = (features) => (layout === "unbatched" ? [D * num_layers, features] : [D * num_layers, N, features]);
  return { input: sequence(input_size), output: sequence(D * size), h_n: state(size), c_n: state(hidden_size) };
};

/* A PackedSequence's batch_sizes: the number of sequences that are longer than t. */
export const batchSizes = (lengths) =>
  Array.from({ length: Math.max(...lengths) }, (_, t) => lengths.filter((length) => length > t).length);

/* The error that torch raises when it packs sequences of these lengths: { type, message }, or null. */
export const packError = (lengths) => {
  const runtimeError = (message) => ({ type: "RuntimeError", message });
  if (Math.max(...lengths) <= 0) return runtimeError("Cannot pack empty tensors.");
  if (lengths[lengths.length - 1] <= 0)
    return runtimeError(
      "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0",
    );
  if (lengths.some((length, n) => length > lengths[n - 1]))
    return runtimeError(
      "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass " +
        "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not " +
        "need ONNX exportability.",
    );
  return null;
};

/* A number as Python writes a float: 1.0, 0.5, 1e-05. */
export const pythonFloat = (value) => {
  const size = Math.abs(value);
  if (size > 0 && (size < 1e-4 || size >= 1e16)) return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  return Number.isInteger(value) ? value.toFixed(1) : `${value}`;
};

/* ---- Writing ---- */

/* softmax( y / temperature ); at temperature 0 one-hot for the first maximum. */
export const probabilities = (y, temperature = 1) => {
  const max = y.reduce((a, b) => Math.max(a, b), -Infinity);
  if (temperature === 0) return oneHot(y.indexOf(max), y.length);
  const powers = Array.from(y, (y_k) => Math.exp((y_k - max) / temperature));
  const total = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / total);
};

/* The index that a number u from [0, 1) selects, by inverse transform sampling. */
export const sampleIndex = (p, u) => {
  let below = 0;
  for (let k = 0; k < p.length; k++) if (u < (below += p[k])) return k;
  return p.findLastIndex((p_k) => p_k > 0); // the sum may be a little below 1
};

/* One step of a language model, index → embedding → LSTM → logits: { step, y }, with `step` as lstmCell returns it. Weights
 * are named as in companion.SequenceModel's state_dict. */
export const languageModelStep = (index, state, w) => {
  const step = lstmCell(w["embedding.weight"][index], state, {
    weight_ih: w["recurrent.weight_ih_l0"],
    weight_hh: w["recurrent.weight_hh_l0"],
    bias_ih: w["recurrent.bias_ih_l0"],
    bias_hh: w["recurrent.bias_hh_l0"],
  });
  const y = times(w["linear.weight"], step.h).map((y_k, k) => y_k + w["linear.bias"][k]);
  return { step, y };
};

/* ---- Reading with attention ---- */

/* Split a number in words as companion.learning.numerals does: in English at blanks, hyphens and commas, in other languages
 * character by character. */
export const numeralWords = (text, language) => {
  const normalised = text.normalize("NFC");
  return language === "en"
    ? normalised
        .toLowerCase()
        .split(/[\s,-]+/u)
        .filter(Boolean)
    : [...normalised].filter((character) => character.trim());
};

/* The weights of one LSTM layer, by its name in a state_dict. */
export const layerOf = (w, name, direction = "") => ({
  weight_ih: w[`${name}.weight_ih_l0${direction}`],
  weight_hh: w[`${name}.weight_hh_l0${direction}`],
  bias_ih: w[`${name}.bias_ih_l0${direction}`],
  bias_hh: w[`${name}.bias_hh_l0${direction}`],
});

/* The encoder: { memory, state: [h, c] }. memory: s_1 … s_S, each [ h→_j, h←_j ]; state: the last states of both directions,
 * with which the decoder starts. Weights are named as in companion.learning.encoder_decoder.EncoderDecoder's state_dict. */
export const encode = (indices, w) => {
  const embedded = indices.map((index) => w["source.weight"][index]);
  const [forwardLayer, backwardLayer] = [layerOf(w, "encoder"), layerOf(w, "encoder", "_reverse")];
  const zeros = Array.from(forwardLayer.weight_hh[0], () => 0);
  const forward = lstm(embedded, forwardLayer, [zeros, zeros]);
  const backward = lstm([...embedded].reverse(), backwardLayer, [zeros, zeros]).reverse();
  return {
    memory: forward.map(({ h }, j) => [...h, ...backward[j].h]),
    state: [
      [...forward.at(-1).h, ...backward[0].h],
      [...forward.at(-1).c, ...backward[0].c],
    ],
  };
};

/* nn.MultiheadAttention with one head: { context, weights }
 *   q = W_q h + b_q    k_j = W_k s_j + b_k    v_j = W_v s_j + b_v        α_j = softmax_j( q · k_j / √H )
 *   context = W_o ( Σ_j α_j v_j ) + b_o */
export const attend = (h, memory, w) => {
  const size = h.length;
  const projected = (k, x) => {
    const [from, to] = [k * size, (k + 1) * size];
    const bias = w["attention.in_proj_bias"];
    return times(w["attention.in_proj_weight"].slice(from, to), x).map((value, n) => value + bias[from + n]);
  };
  const query = projected(0, h);
  const weights = probabilities(memory.map((s) => dot(query, projected(1, s)) / Math.sqrt(size)));
  const mixed = rowTimes(
    weights,
    memory.map((s) => projected(2, s)),
  );
  const context = times(w["attention.out_proj.weight"], mixed).map(
    (value, n) => value + w["attention.out_proj.bias"][n],
  );
  return { context, weights };
};

/* One step of the decoder, after the sign `index`: { step, weights, y }. Without attention in w, weights are null.
 *   h_t = LSTM( y_{t-1}, h_{t-1} )    h̃_t = tanh( W_c [ h_t, context ] + b )    y = W h̃_t + b */
export const decoderStep = (index, state, memory, w) => {
  const step = lstmCell(w["target.weight"][index], state, layerOf(w, "decoder"));
  let [h, weights] = [step.h, null];
  if (w["join.weight"]) {
    const attended = attend(h, memory, w);
    weights = attended.weights;
    h = times(w["join.weight"], [...h, ...attended.context]).map((value, n) => Math.tanh(value + w["join.bias"][n]));
  }
  return { step, weights, y: times(w["linear.weight"], h).map((value, n) => value + w["linear.bias"][n]) };
};

/* The likeliest sign at each step, up to the end, 0: [{ index, p, weights }, …]. After `longest` signs the end is forced. */
export const greedyDecode = (indices, w, longest) => {
  let { memory, state } = encode(indices, w);
  const rows = [];
  for (let index = 0; rows.length === 0 || index !== 0; ) {
    const { step, weights, y } = decoderStep(index, state, memory, w);
    const p = rows.length < longest ? probabilities(y) : oneHot(0, y.length);
    index = p.indexOf(Math.max(...p));
    rows.push({ index, p: p[index], weights });
    state = [step.h, step.c];
  }
  return rows;
};
