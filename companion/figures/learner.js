/* Two networks of a kind that learn the same task from the same data, beside the page's own thread. One begins as torch's do,
 * the other so that it remembers. */
import {
  adamOf,
  adamStep,
  begin,
  chronoBiases,
  clipNorm,
  identity,
  lossOf,
  modelOf,
  read,
  recallBatch,
  remember,
} from "./networks.js";

const [EMBEDDING_DIM, HIDDEN_SIZE, BATCH, LONGEST_GRADIENT] = [8, 16, 16, 1];

/* settings: as the traits of companion.figures.Learning. weights: of both networks, or null for the start. */
const pairOf = ({ kind, gap, bias, start, seed, symbols, examples, weights }) => {
  const known = examples.flatMap(([indices]) => indices);
  const vocab_size = known.length ? Math.max(...known) + 1 : 2 * symbols + 1;
  const num_outputs = known.length ? Math.max(...examples.map(([, target]) => target)) + 1 : symbols;
  const sizes = { vocab_size, embedding_dim: EMBEDDING_DIM, hidden_size: HIDDEN_SIZE, num_outputs };
  const pair = [0, 1].map((k) => {
    if (weights) return modelOf(kind, sizes, Float64Array.from(weights[k]));
    const model = begin(kind, sizes, seed);
    if (k === 1 && kind === "RNN") identity(model);
    else if (k === 1)
      remember(
        model,
        start === "chrono" ? chronoBiases(HIDDEN_SIZE, Math.max(2 * gap, 3), seed) : Array(HIDDEN_SIZE).fill(bias),
        start === "chrono",
      );
    return model;
  });
  /* The examples that were given, one batch after the other, or new ones for ever. */
  const batchOf = (number) =>
    examples.length
      ? Array.from(
          { length: Math.min(BATCH, examples.length) },
          (_, k) => examples[(number * BATCH + k) % examples.length],
        )
      : recallBatch(seed, number, { gap, symbols, batch_size: BATCH });
  return {
    pair,
    adams: pair.map(({ values }) => adamOf(values.length)),
    batchOf,
    probe: (examples[0] ?? recallBatch(seed + 1, 0, { gap, symbols, batch_size: 1 })[0])[0],
  };
};

/* What is drawn of a network: an LSTM's f or a GRU's z, an RNN's h, after each step of the probe: T rows of hidden_size. */
const memoryOf = (model, probe) => {
  const { gates, h } = read(model, probe);
  const parts = gates.length / probe.length / HIDDEN_SIZE;
  const row = (t) =>
    parts === 1
      ? h.subarray((t + 1) * HIDDEN_SIZE, (t + 2) * HIDDEN_SIZE)
      : gates.subarray((t * parts + 1) * HIDDEN_SIZE, (t * parts + 2) * HIDDEN_SIZE);
  return probe.map((_, t) => Array.from(row(t)));
};

let [now, run, steps] = [null, null, 0];

/* settings: begin anew. until: learn up to this step, for so many milliseconds at most; answers are sent with the number of the
 * run, so that the page knows what is of an earlier one. */
onmessage = ({ data }) => {
  if (data.settings) [now, run, steps] = [pairOf(data.settings), data.run, 0];
  const { pair, adams, batchOf, probe } = now;
  const [losses, right] = [
    [[], []],
    [[], []],
  ];
  const end = performance.now() + data.milliseconds;
  while (steps < data.until && performance.now() < end) {
    const batch = batchOf(steps);
    pair.forEach((model, k) => {
      const found = lossOf(model, batch);
      clipNorm(found.gradients, LONGEST_GRADIENT);
      adamStep(model.values, found.gradients, adams[k], data.learning_rate);
      losses[k].push(found.loss);
      right[k].push(found.right / batch.length);
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
