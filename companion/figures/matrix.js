/* A state that is a matrix, values by keys: writing into it, and reading. */

/* S k */
export const read = (S, k) => S.map((row) => row.reduce((sum, one, j) => sum + one * k[j], 0));

/* S ← α S,   u = β v or β ( v - S k ),   S ← S + u kᵀ */
const write = (S, k, v, alpha, beta, delta) => {
  const faded = S.map((row) => row.map((one) => alpha * one));
  const there = read(faded, k);
  const u = v.map((one, i) => beta * (delta ? one - there[i] : one));
  return faded.map((row, i) => row.map((one, j) => one + u[i] * k[j]));
};

/* The state after all pairs [key, value] of a supply of keys, and of values for each. */
export const written = (pairs, [keys, values], alpha, beta, delta) =>
  pairs.reduce(
    (S, [key, value]) => write(S, keys[key], values[key][value], alpha, beta, delta),
    values[0][0].map(() => keys[0].map(() => 0)),
  );
