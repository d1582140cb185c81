/* Sigmoid, dot product, norm, reach, and reproducible random numbers. */

export const sigmoid = (z) => 1 / (1 + Math.exp(-z));

export const dot = (a, b) => {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k] * b[k];
  return sum;
};

export const norm = (a) => Math.sqrt(dot(a, a));

/* The number of last values that together have this share of the sum of all absolute values. */
export const reach = (values, share) => {
  const target = share * values.reduce((sum, value) => sum + Math.abs(value), 0);
  let [sum, n] = [0, 0];
  while (n < values.length && (n === 0 || sum < target)) sum += Math.abs(values[values.length - ++n]);
  return n;
};

/* A number from U[ 0, 1 ) for a seed and a place, by mulberry32. */
export const uniform = (seed, place) => {
  const a = (Math.imul(0x9e3779b1, seed + 1) + Math.imul(0x6d2b79f5, place + 1)) | 0;
  let b = Math.imul(a ^ (a >>> 15), a | 1);
  b ^= b + Math.imul(b ^ (b >>> 7), b | 61);
  return ((b ^ (b >>> 14)) >>> 0) / 2 ** 32;
};

/* A number from N( 0, 1 ) for a seed and a place, from two uniform ones (Box and Muller 1958). */
export const normal = (seed, place) =>
  Math.sqrt(-2 * Math.log(1 - uniform(seed, 2 * place))) * Math.cos(2 * Math.PI * uniform(seed, 2 * place + 1));
