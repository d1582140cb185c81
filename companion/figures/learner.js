/* Worker of learning.js: two networks of a kind learn the same task from the same data. The first has torch's initial
 * weights, the second starts with a long memory. */
import {
  adamState,
  adamStep,
  initialModel,
  chronoBiases,
  clipNorm,
  setIdentity,
  batchLoss,
  buildModel,
  forward,
  recallBatch,
  setMemoryBiases,
} from "./training.js";

const [EMBEDDING_DIM, HIDDEN_SIZE, BATCH, LONGEST_GRADIENT] = [8, 16, 16, 1];

/* Both networks, their Adam states, and the data. settings: traits of companion.figures.Learning. weights: of both networks,
 * or null for initial weights. */
const pairOf = ({ kind, gap, bias, start, seed, symbols, examples, weights }) => {
  const tokens = examples.flatMap(([indices]) => indices);
  const vocab_size = tokens.length ? Math.max(...tokens) + 1 : 2 * symbols + 1;
  const num_outputs = tokens.length ? Math.max(...examples.map(([, target]) => target)) + 1 : symbols;
  const sizes = { vocab_size, embedding_dim: EMBEDDING_DIM, hidden_size: HIDDEN_SIZE, num_outputs };
  const pair = [0, 1].map((k) => {
    if (weights) return buildModel(kind, sizes, Float64Array.from(weights[k]));
    const model = initialModel(kind, sizes, seed);
    if (k === 1 && kind === "RNN") setIdentity(model);
    else if (k === 1)
      setMemoryBiases(
        model,
        start === "chrono" ? chronoBiases(HIDDEN_SIZE, Math.max(2 * gap, 3), seed) : Array(HIDDEN_SIZE).fill(bias),
        start === "chrono",
      );
    return model;
  });
  /* The given examples in turn, or new ones of the recall task. */
  const batchOf = (number) =>
    examples.length
      ? Array.from(
          { length: Math.min(BATCH, examples.length) },
          (_, k) => examples[(number * BATCH + k) % examples.length],
        )
      : recallBatch(seed, number, { gap, symbols, batch_size: BATCH });
  return {
    pair,
    adams: pair.map(({ values }) => adamState(values.length)),
    batchOf,
    probe: (examples[0] ?? recallBatch(seed + 1, 0, { gap, symbols, batch_size: 1 })[0])[0],
  };
};

/* The values that are drawn of a network: an LSTM's f, a GRU's z or an RNN's h at each step of the probe, (T, hidden_size). */
const memoryOf = (model, probe) => {
  const { gates, h } = forward(model, probe);
  const parts = gates.length / probe.length / HIDDEN_SIZE;
  const row = (t) =>
    parts === 1
      ? h.subarray((t + 1) * HIDDEN_SIZE, (t + 2) * HIDDEN_SIZE)
      : gates.subarray((t * parts + 1) * HIDDEN_SIZE, (t * parts + 2) * HIDDEN_SIZE);
  return probe.map((_, t) => Array.from(row(t)));
};

let [session, run, steps] = [null, null, 0];

/* settings: restart with these. until: learn up to this step, for at most `milliseconds`. Answers have the number of the run,
 * so that the page can drop those of an earlier run. */
onmessage = ({ data }) => {
  if (data.settings) [session, run, steps] = [pairOf(data.settings), data.run, 0];
  const { pair, adams, batchOf, probe } = session;
  const losses = [[], []];
  const right = [[], []];
  const end = performance.now() + data.milliseconds;
  while (steps < data.until && performance.now() < end) {
    const batch = batchOf(steps);
    pair.forEach((model, k) => {
      const result = batchLoss(model, batch);
      clipNorm(result.gradients, LONGEST_GRADIENT);
      adamStep(model.values, result.gradients, adams[k], data.learning_rate);
      losses[k].push(result.loss);
      right[k].push(result.right / batch.length);
    });
    steps += 1;
  }
  postMessage({
    run,
    steps,
    losses,
    right,
    memories: pair.map((model) => memoryOf(model, probe)),
    weights: pair.map(({ values }) => values),
  });
};
