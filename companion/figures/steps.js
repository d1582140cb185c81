/* The arithmetic of the figures, each step once. Vectors are arrays of numbers, matrices arrays of rows, in float64.
 * Names, shapes and orders are torch's: tests/figures/test_figures_steps.py holds every function to torch in a browser. */

export const sigmoid = (z) => 1 / (1 + Math.exp(-z));

export const dot = (a, b) => {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k] * b[k];
  return sum;
};

export const norm = (a) => Math.sqrt(dot(a, a));

/* W x, W: (M, N), x: (N) */
export const times = (W, x) => W.map((row) => dot(row, x));

/* x W, x: (M), W: (M, N): with a one-hot x the row of its one */
export const rowTimes = (x, W) => W[0].map((_, n) => x.reduce((sum, x_m, m) => sum + x_m * W[m][n], 0));

/* W_ih x + b_ih + W_hh h + b_hh, without the biases where there are none. */
export const sums = (x, h, w) => {
  const [a, b] = [times(w.weight_ih, x), times(w.weight_hh, h)];
  return a.map((a_k, k) => a_k + b[k] + (w.bias_ih ? w.bias_ih[k] + w.bias_hh[k] : 0));
};

/* r W */
export const scaled = (r, W) => W.map((row) => row.map((value) => r * value));

/* ---- Embedding ---- */

/* The one-hot vector of an index: (num_embeddings) */
export const oneHot = (index, num_embeddings) => Array.from({ length: num_embeddings }, (_, k) => (k === index ? 1 : 0));

/* dL/dW, (num_embeddings, embedding_dim), from dL/de_k for every place k: each index's row gets the sum of its places. */
export const embeddingGradient = (indices, gradients, num_embeddings, padding_idx = null) => {
  const sum = Array.from({ length: num_embeddings }, () => gradients[0].map(() => 0));
  indices.forEach((index, place) => {
    if (index !== padding_idx) gradients[place].forEach((value, n) => (sum[index][n] += value));
  });
  return sum;
};

/* One step of gradient descent: W - lr dL/dW */
export const descend = (W, gradient, lr) => W.map((row, m) => row.map((value, n) => value - lr * gradient[m][n]));

/* L, the sum of all numbers that were read, and dL/de_k for every place k: all ones. rows: e_0, e_1, … */
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
export const rnnCell = (x, h, w, nonlinearity = "tanh") => sums(x, h, w).map(NONLINEARITIES[nonlinearity][0]);

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

/* f'(a), of the state h = f(a) that came of it: 1 - h² for tanh, 1 or 0 for relu. */
export const rnnSlopes = (h, nonlinearity = "tanh") => h.map(NONLINEARITIES[nonlinearity][1]);

/* ---- LSTM ---- */

/* One step, with everything that is computed on the way, each (hidden_size):
 *   a     W_ih x_t + b_ih + W_hh h_{t-1} + b_hh, (4 hidden_size), the gates stacked in the order i, f, g, o
 *   i, f, o = σ( a_i ), σ( a_f ), σ( a_o )    g = tanh( a_g )
 *   kept  f ⊙ c_{t-1}    added  i ⊙ g    c  kept + added    squashed  tanh( c )    h  o ⊙ tanh( c ) */
export const lstmCell = (x, [h, c], w) => {
  const a = sums(x, h, w);
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

/* What torch's constructor says of its arguments: an error { type, message }, or null. The words are torch's. */
export const lstmError = ({ input_size, hidden_size, num_layers, dropout, proj_size }) => {
  const value = (message) => ({ type: "ValueError", message });
  if (!(dropout >= 0 && dropout <= 1))
    return value("dropout should be a number in range [0, 1] representing the probability of an element being zeroed");
  if (input_size <= 0) return value("input_size must be greater than zero");
  if (hidden_size <= 0) return value("hidden_size must be greater than zero");
  if (num_layers <= 0) return value("num_layers must be greater than zero");
  if (proj_size < 0) return value("proj_size should be a positive integer or zero to disable projections");
  if (proj_size >= hidden_size) return value("proj_size has to be smaller than hidden_size");
  return null;
};

/* And its warning, or null. */
export const lstmWarning = ({ num_layers, dropout }) =>
  dropout > 0 && dropout <= 1 && num_layers === 1
    ? "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects " +
      `num_layers greater than 1, but got dropout=${pythonFloat(dropout)} and num_layers=${num_layers}`
    : null;

/* A number, a string or a truth value as Python writes it. */
export const python = (value) =>
  typeof value === "boolean" ? (value ? "True" : "False") : typeof value === "string" ? JSON.stringify(value) : `${value}`;

/* Names and shapes of all parameters, in torch's order: [[name, shape], …] */
export const lstmParameters = ({ input_size, hidden_size, num_layers, bias, bidirectional, proj_size }) => {
  const size = proj_size || hidden_size;
  const directions = bidirectional ? ["", "_reverse"] : [""];
  const parameters = [];
  for (let layer = 0; layer < num_layers; layer++)
    for (const direction of directions) {
      const read = layer ? directions.length * size : input_size;
      const name = (kind) => `${kind}_l${layer}${direction}`;
      parameters.push([name("weight_ih"), [4 * hidden_size, read]], [name("weight_hh"), [4 * hidden_size, size]]);
      if (bias) parameters.push([name("bias_ih"), [4 * hidden_size]], [name("bias_hh"), [4 * hidden_size]]);
      if (proj_size) parameters.push([name("weight_hr"), [proj_size, hidden_size]]);
    }
  return parameters;
};

export const count = (parameters) =>
  parameters.reduce((sum, [, shape]) => sum + shape.reduce((product, size) => product * size, 1), 0);

/* The shapes of what goes in and comes out. layout: "batched", "unbatched" or "packed"; T: steps, N: sequences;
 * lengths: those of packed sequences, the longest first. */
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

/* How many sequences are still running at each step: a PackedSequence's batch_sizes. */
export const batchSizes = (lengths) =>
  Array.from({ length: Math.max(...lengths) }, (_, t) => lengths.filter((length) => length > t).length);

/* What torch says of the lengths of sequences that it is to pack: an error { type, message }, or null. */
export const packError = (lengths) => {
  const runtime = (message) => ({ type: "RuntimeError", message });
  if (Math.max(...lengths) <= 0) return runtime("Cannot pack empty tensors.");
  if (lengths[lengths.length - 1] <= 0)
    return runtime("Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0");
  if (lengths.some((length, n) => length > lengths[n - 1]))
    return runtime(
      "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass " +
        "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not " +
        "need ONNX exportability.",
    );
  return null;
};

/* A number as Python writes a float, with its point: 1.0, 0.5, 1e-05. */
export const pythonFloat = (value) => {
  const size = Math.abs(value);
  if (size > 0 && (size < 1e-4 || size >= 1e16)) return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  return Number.isInteger(value) ? value.toFixed(1) : `${value}`;
};

/* ---- Writing ---- */

/* softmax( y / temperature ); at temperature 0 the likeliest, the first of them, has it all. */
export const probabilities = (y, temperature = 1) => {
  const most = y.reduce((a, b) => Math.max(a, b), -Infinity);
  if (temperature === 0) return oneHot(y.indexOf(most), y.length);
  const powers = Array.from(y, (y_k) => Math.exp((y_k - most) / temperature));
  const total = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / total);
};

/* The index that a number u from [0, 1) draws. */
export const draw = (p, u) => {
  let below = 0;
  for (let k = 0; k < p.length; k++) if (u < (below += p[k])) return k;
  return p.findLastIndex((p_k) => p_k > 0); // what rounding left over
};

/* One step of a language model: index → embedding → LSTM → logits. Its weights are named as in companion.SequenceModel's
 * state_dict: { step, y }, with `step` as lstmCell returns it. */
export const writeStep = (index, state, w) => {
  const step = lstmCell(w["embedding.weight"][index], state, {
    weight_ih: w["recurrent.weight_ih_l0"],
    weight_hh: w["recurrent.weight_hh_l0"],
    bias_ih: w["recurrent.bias_ih_l0"],
    bias_hh: w["recurrent.bias_hh_l0"],
  });
  const y = times(w["linear.weight"], step.h).map((y_k, k) => y_k + w["linear.bias"][k]);
  return { step, y };
};

/* ---- Attention ---- */

/* W x + b for the rows k · size … of a stacked weight and bias, W: (n · size, N) */
const block = (W, b, k, size, x) => times(W.slice(k * size, (k + 1) * size), x).map((value, n) => value + b[k * size + n]);

/* nn.MultiheadAttention with one head: what one query, (E), gets from a memory of S vectors, and the weights, (S). */
export const attendOver = (query, memory, w, name = "attention") => {
  const [W, b, size] = [w[`${name}.in_proj_weight`], w[`${name}.in_proj_bias`], query.length];
  // q = W_q h + b_q,   k_j = W_k s_j + b_k,   v_j = W_v s_j + b_v
  const q = block(W, b, 0, size, query);
  const [keys, values] = [1, 2].map((k) => memory.map((s) => block(W, b, k, size, s)));
  // a = softmax( q · k_j / √E )
  const weights = probabilities(keys.map((k) => dot(q, k) / Math.sqrt(size)));
  // c = Σ_j a_j v_j,   and W_o c + b_o
  const context = q.map((_, n) => weights.reduce((sum, a, j) => sum + a * values[j][n], 0));
  return { output: block(w[`${name}.out_proj.weight`], w[`${name}.out_proj.bias`], 0, size, context), weights };
};

const lstmOf = (w, name, direction = "") =>
  Object.fromEntries(["weight_ih", "weight_hh", "bias_ih", "bias_hh"].map((one) => [one, w[`${name}.${one}_l0${direction}`]]));

/* An LSTM in two directions over words, given as indices: { memory, state }. memory: (S, 2 hidden_size). */
export const encode = (indices, w) => {
  const x = indices.map((index) => w["source.weight"][index]);
  const zeros = w["encoder.weight_hh_l0"][0].map(() => 0);
  const run = (inputs, direction) => lstm(inputs, lstmOf(w, "encoder", direction), [zeros, zeros]);
  const [there, back] = [run(x, ""), run([...x].reverse(), "_reverse")];
  const last = (part) => [...there.at(-1)[part], ...back.at(-1)[part]];
  return { memory: there.map((step, j) => [...step.h, ...back[x.length - 1 - j].h]), state: [last("h"), last("c")] };
};

/* What an EncoderDecoder writes, the likeliest sign at each step, as companion.learning.search.greedy: a list of
 * { sign, p, weights }, the end (sign 0) included. weights: null without attention. */
export const decode = (indices, w, longest) => {
  const { memory, state } = encode(indices, w);
  const [found, decoder] = [[], lstmOf(w, "decoder")];
  let [now, sign] = [state, 0];
  for (let t = 0; t <= longest && (t === 0 || sign !== 0); t++) {
    // h_t = LSTM( y_{t-1}, h_{t-1} )
    const step = lstmCell(w["target.weight"][sign], now, decoder);
    now = [step.h, step.c];
    let [h, weights] = [step.h, null];
    if (w["attention.in_proj_weight"]) {
      const looked = attendOver(step.h, memory, w);
      weights = looked.weights;
      // h̃_t = tanh( W_c [ h_t, c_t ] + b )
      h = times(w["join.weight"], [...step.h, ...looked.output]).map((value, n) => Math.tanh(value + w["join.bias"][n]));
    }
    const p = probabilities(times(w["linear.weight"], h).map((value, n) => value + w["linear.bias"][n]));
    // at the last of all places only the end may come
    sign = t === longest ? 0 : p.indexOf(Math.max(...p));
    found.push({ sign, p: t === longest ? 1 : p[sign], weights });
  }
  return found;
};

/* Names → weights of a .safetensors file in float16, as rows of float64, and its metadata: { weights, metadata }. */
export const readSafetensors = (buffer) => {
  const view = new DataView(buffer);
  const length = Number(view.getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const { __metadata__: metadata, ...tensors } = header;
  const weights = {};
  for (const [name, { dtype, shape, data_offsets }] of Object.entries(tensors)) {
    if (dtype !== "F16") throw new TypeError(`${name} is ${dtype}, not F16`);
    const at = 8 + length + data_offsets[0];
    const row = (start, size) => Float64Array.from({ length: size }, (_, k) => float16(view.getUint16(at + 2 * (start + k), true)));
    const [rows, columns] = shape;
    weights[name] = columns === undefined ? row(0, rows) : Array.from({ length: rows }, (_, r) => row(r * columns, columns));
  }
  return { weights, metadata };
};

const float16 = (bits) => {
  const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
};

/* A number from [0, 1) for each place of a text, in no visible order: mulberry32. */
export const uniform = (seed, place) => {
  const a = (Math.imul(0x9e3779b1, seed + 1) + Math.imul(0x6d2b79f5, place + 1)) | 0;
  let b = Math.imul(a ^ (a >>> 15), a | 1);
  b ^= b + Math.imul(b ^ (b >>> 7), b | 61);
  return ((b ^ (b >>> 14)) >>> 0) / 2 ** 32;
};

/* The characters of a text in one form, as companion.learning.text counts them. A browser that cannot split a text into them
 * splits it into code points: the writers know no character that has more than one. */
export const characters = (text) => {
  const normal = text.replace(/\r\n?/g, "\n").normalize("NFC");
  return Intl.Segmenter ? Array.from(new Intl.Segmenter().segment(normal), ({ segment }) => segment) : [...normal];
};
