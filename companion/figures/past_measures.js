/* Two attribution measures: which earlier characters mattered for a model's prediction at a place. They are those of
 * companion.learning.influence, with which tests/figures/test_figure_past.py compares them. */
import {
  backward,
  backwardFromLogits,
  crossEntropy,
  logitsAt,
  buildModel,
  parameterShapes,
  forward,
} from "./training.js";

/* kind → model, from weights named "LSTM.linear.weight", …, in rows as readSafetensors returns them. */
export const buildModels = (weights, kinds) =>
  Object.fromEntries(
    kinds.map((kind) => {
      const weight = (name) => weights[`${kind}.${name}`];
      const [vocab_size, embedding_dim] = [weight("embedding.weight").length, weight("embedding.weight")[0].length];
      const sizes = {
        vocab_size,
        embedding_dim,
        hidden_size: weight("linear.weight")[0].length,
        num_outputs: vocab_size,
      };
      const numbers = parameterShapes(kind, sizes).flatMap(([name]) =>
        Array.from(weight(name)).flatMap((row) => (row.length ? [...row] : row)),
      );
      return [kind, buildModel(kind, sizes, Float64Array.from(numbers))];
    }),
  );

/* L = -log p of the character at a place, given all characters before it. */
export const lossAt = (model, indices, place) =>
  crossEntropy(logitsAt(model, forward(model, indices.slice(0, place)), place), indices[place]).loss;

/* ‖dL/dx_t‖ for each character before the place. */
export const gradientNorms = (model, indices, place) => {
  const { kind, sizes } = model;
  const tape = forward(model, indices.slice(0, place));
  const [unused, dh] = [buildModel(kind, sizes), new Float64Array(tape.h.length)];
  backwardFromLogits(model, tape, place, crossEntropy(logitsAt(model, tape, place), indices[place]).d, dh, unused.w);
  const { dx } = backward(model, tape, dh, unused.w);
  const E = sizes.embedding_dim;
  return Array.from({ length: place }, (_, t) => Math.hypot(...dx.subarray(t * E, (t + 1) * E)));
};

/* How much L rises without each of the characters before the place. The characters before the omitted one are read once. */
export const lossIncreases = (model, indices, place) => {
  const tape = forward(model, indices.slice(0, place));
  const loss = (anyTape, t) => crossEntropy(logitsAt(model, anyTape, t), indices[place]).loss;
  const full = loss(tape, place);
  return Array.from({ length: place }, (_, t) => {
    const after = indices.slice(t + 1, place);
    return loss(forward(model, after, { tape, t }), after.length) - full;
  });
};
