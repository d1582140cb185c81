/* h_t = a_t h_{t-1} + b_t by loop, tree and chunks, in rounds. All results of a round can be computed in parallel.
 *
 * A round is a list of pieces { from, to, a, b }, which are composed steps h ↦ a h + b, and states { t, h }.
 * times: the number of multiplications. Steps count from 1. */

/* Compose two steps:  a_2 ( a_1 h + b_1 ) + b_2 = ( a_2 a_1 ) h + ( a_2 b_1 + b_2 ) */
const join = (first, second) => ({
  from: first.from,
  to: second.to,
  a: second.a * first.a,
  b: second.a * first.b + second.b,
});
const apply = (piece, h) => ({ t: piece.to, h: piece.a * h + piece.b });

const steps = (a, b) => a.map((_, k) => ({ from: k + 1, to: k + 1, a: a[k], b: b[k] }));

const byLoop = (a, b, h_0) => {
  let h = h_0;
  const rounds = steps(a, b).map((step) => {
    const state = apply(step, h);
    h = state.h;
    return [state];
  });
  return { rounds, times: a.length };
};

/* Join neighbours until one piece is left. It gives the last state; then, level by level, the states in between. */
const byTree = (a, b, h_0) => {
  const levels = [steps(a, b)];
  while (levels.at(-1).length > 1) {
    const below = levels.at(-1);
    levels.push(below.filter((_, k) => k % 2 === 0).map((piece, k) => join(piece, below[2 * k + 1])));
  }
  const up = levels.slice(1);
  const states = { 0: h_0 };
  const down = levels.toReversed().map((level) => {
    const computed = level
      .filter((piece) => !(piece.to in states) && piece.from - 1 in states)
      .map((piece) => apply(piece, states[piece.from - 1]));
    for (const { t, h } of computed) states[t] = h;
    return computed;
  });
  const rounds = [...up, ...down];
  return { rounds, times: 2 * up.flat().length + down.flat().length };
};

/* Join the steps of all chunks in parallel; pass the state from chunk to chunk; then compute all states. */
const byChunks = (a, b, h_0, cuts) => {
  const all = steps(a, b);
  const edges = [0, ...cuts, a.length];
  const chunks = edges.slice(1).map((end, k) => all.slice(edges[k], end));
  const within = [];
  const joined = chunks.map((chunk) => [chunk[0]]);
  for (let r = 1; r < Math.max(...chunks.map((chunk) => chunk.length)); r += 1) {
    const round = chunks.flatMap((chunk, k) => {
      if (r >= chunk.length) return [];
      joined[k].push(join(joined[k][r - 1], chunk[r]));
      return [joined[k][r]];
    });
    within.push(round);
  }
  let h = h_0;
  const begins = [h_0];
  const between = joined.slice(0, -1).map((pieces) => {
    const state = apply(pieces.at(-1), h);
    h = state.h;
    begins.push(h);
    return [state];
  });
  const last = joined.flatMap((pieces, k) => {
    const rest = k < joined.length - 1 ? pieces.slice(0, -1) : pieces; // the last states of the other chunks are computed already
    return rest.map((piece) => apply(piece, begins[k]));
  });
  const rounds = [...within, ...between, last].filter((round) => round.length);
  return {
    rounds,
    times: 2 * within.flat().length + between.length + last.length,
    within: within.length,
    between: between.length,
  };
};

export const scanInRounds = (way, a, b, h_0, cuts) =>
  ({ loop: byLoop, tree: byTree, chunks: byChunks })[way](a, b, h_0, cuts);
