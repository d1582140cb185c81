/* h_t = a_t h_{t-1} + b_t by loop, tree and chunks, in rounds. Each result is computed in the first round after all that it
 * is computed from, but a step is in one result of a round only. All results of a round can be computed in parallel.
 *
 * A piece { from, to, a, b } is composed steps: h_to = a h_{from-1} + b. A state is { t, h }. Both have their `round`, 0 if
 * they are given, and `sources`, the two results that they are computed from. Steps count from 1. */

const after = (...sources) => ({ round: 1 + Math.max(...sources.map(({ round }) => round)), sources });

/* Compose two steps:  a_2 ( a_1 h + b_1 ) + b_2 = ( a_2 a_1 ) h + ( a_2 b_1 + b_2 ) */
const join = (first, second) => ({
  from: first.from,
  to: second.to,
  a: second.a * first.a,
  b: second.a * first.b + second.b,
  ...after(first, second),
});
const apply = (piece, state) => ({ t: piece.to, h: piece.a * state.h + piece.b, ...after(piece, state) });

/* Join neighbours until one piece is left. Return all pieces. */
const tree = (pieces) => {
  if (pieces.length < 2) return [];
  const joined = pieces.filter((_, k) => k % 2).map((second, k) => join(pieces[2 * k], second));
  return [...joined, ...tree(joined)];
};

/* Join the steps of each chunk one after another. Return all pieces. */
const chunks = (steps, cuts) =>
  [0, ...cuts].flatMap((start, k) => {
    const [first, ...rest] = steps.slice(start, cuts[k]);
    let piece = first;
    return rest.map((step) => (piece = join(piece, step)));
  });

/* Return the results of all rounds, the number of multiplications, and the states by step, with h_0. */
export const scanInRounds = (way, a, b, h_0, cuts) => {
  const steps = a.map((_, k) => ({ from: k + 1, to: k + 1, a: a[k], b: b[k], round: 0 }));
  const joined = { loop: () => [], tree, chunks }[way](steps, cuts).filter(({ from }) => from > 1); // h_0 is known
  const [endingAt, free] = [steps.map((step) => [step]), a.map(() => 0)];
  for (const piece of joined) {
    endingAt[piece.to - 1].unshift(piece); // the longest comes first
    free.fill(piece.round, piece.from - 1, piece.to); // later pieces have later rounds
  }
  const states = [{ t: 0, h: h_0, round: 0 }];
  endingAt.forEach((pieces, k) => {
    const possible = pieces.map((piece) => apply(piece, states[piece.from - 1]));
    const best = possible.reduce((first, state) => (state.round < first.round ? state : first));
    states.push({ ...best, round: Math.max(best.round, free[k] + 1) });
  });
  const rounds = [];
  for (const result of [...joined, ...states.slice(1)]) (rounds[result.round - 1] ??= []).push(result);
  return { rounds, times: 2 * joined.length + a.length, states };
};
