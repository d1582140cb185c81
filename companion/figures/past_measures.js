/* Which of the characters before a place mattered for what a model expects there, asked in two ways: as
 * companion.learning.influence does, to which tests/figures/test_figure_past.py holds it. */
import { back, backFromLogits, crossEntropy, logitsAt, modelOf, parametersOf, read } from "./networks.js";

/* kind → model, of weights by the names "LSTM.linear.weight", …, in rows as readSafetensors gives them. */
export const modelsOf = (weights, kinds) =>
  Object.fromEntries(
    kinds.map((kind) => {
      const of = (name) => weights[`${kind}.${name}`];
      const [vocab_size, embedding_dim] = [of("embedding.weight").length, of("embedding.weight")[0].length];
      const sizes = { vocab_size, embedding_dim, hidden_size: of("linear.weight")[0].length, num_outputs: vocab_size };
      const numbers = parametersOf(kind, sizes).flatMap(([name]) =>
        Array.from(of(name)).flatMap((row) => (row.length ? [...row] : row)),
      );
      return [kind, modelOf(kind, sizes, Float64Array.from(numbers))];
    }),
  );

/* L = -log p of what stands at a place, after all that stands before it. */
export const lossAt = (model, indices, place) =>
  crossEntropy(logitsAt(model, read(model, indices.slice(0, place)), place), indices[place]).loss;

/* ‖dL/dx_t‖ of each character before the place. */
export const gradientsAt = (model, indices, place) => {
  const { kind, sizes } = model;
  const tape = read(model, indices.slice(0, place));
  const [unused, dh] = [modelOf(kind, sizes), new Float64Array(tape.h.length)];
  backFromLogits(model, tape, place, crossEntropy(logitsAt(model, tape, place), indices[place]).d, dh, unused.w);
  const { dx } = back(model, tape, dh, unused.w);
  const E = sizes.embedding_dim;
  return Array.from({ length: place }, (_, t) => Math.hypot(...dx.subarray(t * E, (t + 1) * E)));
};

/* By how much L rises when one character before the place is taken out, for each of them. What stands before it is read once. */
export const takenAwayAt = (model, indices, place) => {
  const tape = read(model, indices.slice(0, place));
  const loss = (one, t) => crossEntropy(logitsAt(model, one, t), indices[place]).loss;
  const all = loss(tape, place);
  return Array.from({ length: place }, (_, t) => {
    const after = indices.slice(t + 1, place);
    return loss(read(model, after, { tape, t }), after.length) - all;
  });
};

/* How many of the last characters have this share of the sum of all absolute values. */
export const reach = (values, share) => {
  const wanted = share * values.reduce((sum, value) => sum + Math.abs(value), 0);
  let [sum, n] = [0, 0];
  while (n < values.length && (n === 0 || sum < wanted)) sum += Math.abs(values[values.length - ++n]);
  return n;
};
