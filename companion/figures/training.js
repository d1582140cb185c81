/* Training of a model, embedding → RNN, GRU or LSTM → linear layer → loss: forward, backward through time, and Adam. Names,
 * shapes, orders and formulas are those of companion.SequenceModel and torch, and tests/figures/test_figures_training.py
 * compares them. Numbers are in Float64Arrays, row after row, for speed: a page does thousands of steps a second. */
import { norm, normal, sigmoid, uniform } from "./numbers.js";

/* The number of parts of a layer's rows: for a GRU r, z, n, for an LSTM i, f, g, o. */
const PARTS = { RNN: 1, GRU: 3, LSTM: 4 };
const EMBEDDING = "embedding.weight";
const [W_IH, W_HH, B_IH, B_HH] = ["weight_ih", "weight_hh", "bias_ih", "bias_hh"].map((name) => `recurrent.${name}_l0`);
const [W_OUT, B_OUT] = ["linear.weight", "linear.bias"];

/* Names and shapes of all parameters, in torch's order. */
export const parameterShapes = (kind, { vocab_size, embedding_dim, hidden_size, num_outputs }) => {
  const rows = PARTS[kind] * hidden_size;
  return [
    [EMBEDDING, [vocab_size, embedding_dim]],
    [W_IH, [rows, embedding_dim]],
    [W_HH, [rows, hidden_size]],
    [B_IH, [rows]],
    [B_HH, [rows]],
    [W_OUT, [num_outputs, hidden_size]],
    [B_OUT, [num_outputs]],
  ];
};

/* A model, or the gradients of a model. values: all its numbers, w: views of the same numbers by parameter name. */
export const buildModel = (kind, sizes, values) => {
  const shapes = parameterShapes(kind, sizes).map(([name, [rows, columns = 1]]) => [name, rows * columns]);
  values ??= new Float64Array(shapes.reduce((sum, [, size]) => sum + size, 0));
  let end = 0;
  const w = Object.fromEntries(shapes.map(([name, size]) => [name, values.subarray(end, (end += size))]));
  return { kind, sizes, values, w };
};

/* ---- Initial weights ---- */

/* Torch's initialisation: the embedding from N( 0, 1 ), other parameters from U( -1/√H, 1/√H ). */
export const initialModel = (kind, sizes, seed) => {
  const model = buildModel(kind, sizes);
  const bound = 1 / Math.sqrt(sizes.hidden_size);
  const normals = model.w[EMBEDDING].length;
  model.values.forEach(
    (_, k) => (model.values[k] = k < normals ? normal(seed, k) : bound * (2 * uniform(seed, k) - 1)),
  );
  return model;
};

/* Set the biases of the gates that keep the state, an LSTM's f and a GRU's z, to b, and, if `coupled`, an LSTM's b_i to -b:
 * a unit that keeps for long writes rarely. Of b_ih and b_hh, the second becomes 0. */
export const setMemoryBiases = ({ kind, sizes, w }, b, coupled) => {
  b.forEach((bias, k) => {
    const keep = sizes.hidden_size + k; // the second part of the rows
    [w[B_IH][keep], w[B_HH][keep]] = [bias, 0];
    if (coupled && kind === "LSTM") [w[B_IH][k], w[B_HH][k]] = [-bias, 0];
  });
};

/* b = log( T - 1 ) for a memory of T steps, drawn from U( 2, longest ) for each unit (Tallec and Ollivier 2018). */
export const chronoBiases = (hidden_size, longest, seed) =>
  Array.from({ length: hidden_size }, (_, k) => Math.log(1 + (longest - 2) * uniform(seed, k)));

/* W_hh = I: an RNN starts by keeping its state (Le, Jaitly and Hinton 2015). */
export const setIdentity = ({ sizes, w }) =>
  w[W_HH].forEach((_, k) => (w[W_HH][k] = k % (sizes.hidden_size + 1) ? 0 : 1));

/* ---- Products ---- */

/* out += W x, W: (rows, columns). `o` and `from` are the offsets of out and x in their arrays. */
const addProduct = (out, o, W, rows, columns, x, from) => {
  for (let r = 0, k = 0; r < rows; r++) {
    let sum = 0;
    for (let c = 0; c < columns; c++, k++) sum += W[k] * x[from + c];
    out[o + r] += sum;
  }
};

/* Backward of addProduct: dx += Wᵀ d, dW += d xᵀ. `from`, `at` and `to` are the offsets of d, x and dx. */
const addProductGradients = (d, from, W, dW, rows, columns, x, at, dx, to) => {
  for (let r = 0, k = 0; r < rows; r++) {
    const d_r = d[from + r];
    for (let c = 0; c < columns; c++, k++) {
      dx[to + c] += W[k] * d_r;
      dW[k] += d_r * x[at + c];
    }
  }
};

/* ---- Forward ---- */

/* Run the model on T indices, from a state of zeros or that of `from.tape` after `from.t` steps. Return the tape for `backward`:
 *   x (T, E)   gates (T, parts, H)   h, c (T + 1, H), the states before the first step and after each
 *   m (T, H)   the factor of the reset gate or output gate: W_hn h_{t-1} + b_hn, or tanh( c_t ) */
export const forward = ({ kind, sizes, w }, indices, from = null) => {
  const [T, E, H] = [indices.length, sizes.embedding_dim, sizes.hidden_size];
  const rows = PARTS[kind] * H;
  const tape = {
    indices,
    x: new Float64Array(T * E),
    gates: new Float64Array(T * rows),
    m: new Float64Array(T * H),
    h: new Float64Array((T + 1) * H),
    c: new Float64Array(kind === "LSTM" ? (T + 1) * H : 0),
  };
  const { x, gates, h, c, m } = tape;
  if (from) for (const name of ["h", "c"]) tape[name].set(from.tape[name].subarray(from.t * H, (from.t + 1) * H));
  const recurrent = new Float64Array(rows); // W_hh h_{t-1} + b_hh
  for (let t = 0; t < T; t++) {
    const [a, next] = [t * rows, (t + 1) * H];
    // x_t = W_e[ i_t ]
    for (let k = 0; k < E; k++) x[t * E + k] = w[EMBEDDING][indices[t] * E + k];
    // a = W_ih x_t + b_ih + W_hh h_{t-1} + b_hh
    for (let k = 0; k < rows; k++) [gates[a + k], recurrent[k]] = [w[B_IH][k], w[B_HH][k]];
    addProduct(gates, a, w[W_IH], rows, E, x, t * E);
    addProduct(recurrent, 0, w[W_HH], rows, H, h, t * H);
    for (let k = 0; k < H; k++) {
      const at = (part) => a + part * H + k;
      const sum = (part) => gates[at(part)] + recurrent[part * H + k];
      if (kind === "RNN") {
        // h_t = tanh( a )
        h[next + k] = gates[at(0)] = Math.tanh(sum(0));
      } else if (kind === "GRU") {
        // r, z = σ( a_r ), σ( a_z )    n = tanh( W_in x_t + b_in + r ⊙ ( W_hn h_{t-1} + b_hn ) )
        const [r, z] = [(gates[at(0)] = sigmoid(sum(0))), (gates[at(1)] = sigmoid(sum(1)))];
        m[t * H + k] = recurrent[2 * H + k];
        const n = (gates[at(2)] = Math.tanh(gates[at(2)] + r * recurrent[2 * H + k]));
        // h_t = ( 1 - z ) ⊙ n + z ⊙ h_{t-1}
        h[next + k] = (1 - z) * n + z * h[t * H + k];
      } else {
        // i, f, g, o = σ( a_i ), σ( a_f ), tanh( a_g ), σ( a_o )
        const [i, f] = [(gates[at(0)] = sigmoid(sum(0))), (gates[at(1)] = sigmoid(sum(1)))];
        const [g, o] = [(gates[at(2)] = Math.tanh(sum(2))), (gates[at(3)] = sigmoid(sum(3)))];
        // c_t = f ⊙ c_{t-1} + i ⊙ g    h_t = o ⊙ tanh( c_t )
        c[next + k] = f * c[t * H + k] + i * g;
        m[t * H + k] = Math.tanh(c[next + k]);
        h[next + k] = o * m[t * H + k];
      }
    }
  }
  return tape;
};

/* y = W h + b after step t, 1 … T */
export const logitsAt = ({ sizes, w }, tape, t) => {
  const y = Float64Array.from(w[B_OUT]);
  addProduct(y, 0, w[W_OUT], sizes.num_outputs, sizes.hidden_size, tape.h, t * sizes.hidden_size);
  return y;
};

/* ---- Loss ---- */

/* L = -log softmax( y )[ target ], and dL/dy = softmax( y ) - one-hot( target ) */
export const crossEntropy = (y, target) => {
  const max = y.reduce((a, b) => Math.max(a, b), -Infinity);
  const powers = y.map((y_k) => Math.exp(y_k - max));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return {
    loss: Math.log(total) + max - y[target],
    d: powers.map((power, k) => power / total - (k === target ? 1 : 0)),
  };
};

/* Backward of the linear layer after step t: add dL/dh_t to dh (T + 1, H), and its own gradients to d. */
export const backwardFromLogits = ({ sizes, w }, tape, t, dy, dh, d) => {
  const H = sizes.hidden_size;
  addProductGradients(dy, 0, w[W_OUT], d[W_OUT], sizes.num_outputs, H, tape.h, t * H, dh, t * H);
  for (let k = 0; k < dy.length; k++) d[B_OUT][k] += dy[k];
};

/* ---- Backward through time ---- */

/* Backpropagate from dh (T + 1, H), the loss's direct gradient of each state, to the first step after `until`. Add the
 * parameters' gradients to d, and complete dh to the whole of dL/dh_t. Return dx (T, E), and a, b (T, parts, H):
 * dL/d( W_ih x_t + b_ih ) and dL/d( W_hh h_{t-1} + b_hh ), which are equal but for a GRU's n. */
export const backward = ({ kind, sizes, w }, tape, dh, d, until = 0) => {
  const [T, E, H] = [tape.indices.length, sizes.embedding_dim, sizes.hidden_size];
  const rows = PARTS[kind] * H;
  const { x, gates, h, c, m } = tape;
  const result = { dx: new Float64Array(T * E), a: new Float64Array(T * rows), b: new Float64Array(T * rows) };
  const { dx, a, b } = result;
  const dc = new Float64Array(H); // the part of dL/dc_t from later steps
  for (let t = T - 1; t >= until; t--) {
    const next = (t + 1) * H;
    for (let k = 0; k < H; k++) {
      const at = (part) => t * rows + part * H + k;
      const δ = dh[next + k];
      if (kind === "RNN") {
        // δa = δh ⊙ ( 1 - h² )
        b[at(0)] = a[at(0)] = δ * (1 - h[next + k] ** 2);
      } else if (kind === "GRU") {
        const [r, z, n] = [gates[at(0)], gates[at(1)], gates[at(2)]];
        // δz = δh ⊙ ( h_{t-1} - n )    δn = δh ⊙ ( 1 - z )    δr = δa_n ⊙ ( W_hn h_{t-1} + b_hn )
        a[at(2)] = δ * (1 - z) * (1 - n * n);
        b[at(2)] = a[at(2)] * r;
        b[at(1)] = a[at(1)] = δ * (h[t * H + k] - n) * z * (1 - z);
        b[at(0)] = a[at(0)] = a[at(2)] * m[t * H + k] * r * (1 - r);
        // δh_{t-1}: the part through z
        dh[t * H + k] += δ * z;
      } else {
        const [i, f, g, o] = [gates[at(0)], gates[at(1)], gates[at(2)], gates[at(3)]];
        const tanh = m[t * H + k];
        // δc_t = δc from t + 1, and δh ⊙ o ⊙ ( 1 - tanh( c )² )
        const δc = dc[k] + δ * o * (1 - tanh * tanh);
        b[at(0)] = a[at(0)] = δc * g * i * (1 - i);
        b[at(1)] = a[at(1)] = δc * c[t * H + k] * f * (1 - f);
        b[at(2)] = a[at(2)] = δc * i * (1 - g * g);
        b[at(3)] = a[at(3)] = δ * tanh * o * (1 - o);
        dc[k] = δc * f;
      }
    }
    addProductGradients(a, t * rows, w[W_IH], d[W_IH], rows, E, x, t * E, dx, t * E);
    // δh_{t-1} += W_hhᵀ δb
    addProductGradients(b, t * rows, w[W_HH], d[W_HH], rows, H, h, t * H, dh, t * H);
    for (let k = 0; k < rows; k++) {
      d[B_IH][k] += a[t * rows + k];
      d[B_HH][k] += b[t * rows + k];
    }
    for (let k = 0; k < E; k++) d[EMBEDDING][tape.indices[t] * E + k] += dx[t * E + k];
  }
  return result;
};

/* Shares of each step t = 1 … T in G = dL/dW_hh, for a loss after the last step:
 *   share_t = ⟨ δb_t h_{t-1}ᵀ, G ⟩ / ⟨ G, G ⟩ = δb_tᵀ G h_{t-1} / ‖G‖², which add up to 1;
 * lengths: ‖dL/dx_t‖, t = 1 … T; lost: ‖G - G'‖ / ‖G‖, where G' goes back `window` steps only. */
export const gradientShares = (model, indices, target, window) => {
  const { kind, sizes } = model;
  const [T, E, H, rows] = [indices.length, sizes.embedding_dim, sizes.hidden_size, PARTS[kind] * sizes.hidden_size];
  const tape = forward(model, indices);
  const { d: dy } = crossEntropy(logitsAt(model, tape, T), target);
  const [[whole, { dx, b }], [part]] = [0, T - window].map((until) => {
    const [gradients, dh] = [buildModel(kind, sizes), new Float64Array(tape.h.length)];
    backwardFromLogits(model, tape, T, dy, dh, gradients.w);
    return [gradients.w[W_HH], backward(model, tape, dh, gradients.w, until)];
  });
  const square = norm(whole) ** 2;
  const steps = Array.from({ length: T }, (_, t) => t);
  const shares = steps.map((t) => {
    const Gh = new Float64Array(rows);
    addProduct(Gh, 0, whole, rows, H, tape.h, t * H);
    return Gh.reduce((sum, value, r) => sum + value * b[t * rows + r], 0) / square;
  });
  const lengths = steps.map((t) => norm(dx.subarray(t * E, (t + 1) * E)));
  return { shares, lengths, lost: norm(whole.map((value, k) => value - part[k])) / norm(whole) };
};

/* Mean loss of a batch of [indices, target], with the loss after the last step; number of correct predictions; dL/dw. */
export const batchLoss = (model, batch) => {
  const { kind, sizes } = model;
  const gradients = buildModel(kind, sizes);
  let [loss, right] = [0, 0];
  for (const [indices, target] of batch) {
    const tape = forward(model, indices);
    const y = logitsAt(model, tape, indices.length);
    const { loss: term, d } = crossEntropy(y, target);
    loss += term / batch.length;
    right += y.every((y_k, k) => k === target || y_k < y[target]) ? 1 : 0;
    const dh = new Float64Array(tape.h.length);
    backwardFromLogits(
      model,
      tape,
      indices.length,
      d.map((d_k) => d_k / batch.length),
      dh,
      gradients.w,
    );
    backward(model, tape, dh, gradients.w);
  }
  return { loss, right, gradients: gradients.values };
};

/* ---- Adam (Kingma and Ba 2015), with torch's defaults ---- */

const [BETA_1, BETA_2, EPSILON] = [0.9, 0.999, 1e-8];

/* Adam's state for `size` parameters. */
export const adamState = (size) => ({ steps: 0, m: new Float64Array(size), v: new Float64Array(size) });

/* One step: changes the values and Adam's state. */
export const adamStep = (values, gradients, adam, lr) => {
  adam.steps += 1;
  const [correction_m, correction_v] = [1 - BETA_1 ** adam.steps, Math.sqrt(1 - BETA_2 ** adam.steps)];
  for (let k = 0; k < values.length; k++) {
    // m ← β₁ m + ( 1 - β₁ ) g    v ← β₂ v + ( 1 - β₂ ) g²
    adam.m[k] = BETA_1 * adam.m[k] + (1 - BETA_1) * gradients[k];
    adam.v[k] = BETA_2 * adam.v[k] + (1 - BETA_2) * gradients[k] ** 2;
    // w ← w - lr m̂ / ( √v̂ + ε )
    values[k] -= ((lr / correction_m) * adam.m[k]) / (Math.sqrt(adam.v[k]) / correction_v + EPSILON);
  }
};

/* Clip the norm of all gradients to `most` in place, as companion's clip_gradients does. Return the norm before. */
export const clipNorm = (gradients, most) => {
  const length = norm(gradients);
  // g ← g · most / ‖g‖   where ‖g‖ > most
  if (length > most) gradients.forEach((g, k) => (gradients[k] = (g * most) / length));
  return length;
};

/* ---- A task ---- */

/* Batch `number` of companion.tasks.Recall: one of `symbols`, `gap` steps of noise, the question. */
export const recallBatch = (seed, number, { gap, symbols, batch_size }) =>
  Array.from({ length: batch_size }, (_, row) => {
    const place = (number * batch_size + row) * (gap + 1);
    const drawn = Array.from({ length: gap + 1 }, (_, k) => Math.floor(symbols * uniform(seed, place + k)));
    return [[drawn[0], ...drawn.slice(1).map((noise) => symbols + noise), 2 * symbols], drawn[0]];
  });
