/* A matrix as a state, values by keys: writing into it, and reading from it. */

/* S k */
export const read = (S, k) => S.map((row) => row.reduce((sum, s, j) => sum + s * k[j], 0));

/* S ← α S,   u = β v or β ( v - S k ),   S ← S + u kᵀ */
const write = (S, k, v, alpha, beta, delta) => {
  const decayed = S.map((row) => row.map((s) => alpha * s));
  const old = read(decayed, k);
  const u = v.map((v_i, i) => beta * (delta ? v_i - old[i] : v_i));
  return decayed.map((row, i) => row.map((s, j) => s + u[i] * k[j]));
};

/* The state after writing all pairs [index of a key, value]. */
export const stateAfter = (pairs, keys, alpha, beta, delta) =>
  pairs.reduce(
    (S, [key, value]) => write(S, keys[key], value, alpha, beta, delta),
    keys[0].map(() => keys[0].map(() => 0)),
  );
