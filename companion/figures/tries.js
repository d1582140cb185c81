/* Statistics of guesses in Shannon's game, as in guess.py. Tries are numbers from 1; MOST + 1 means not found. */

export const MOST = 5;

export const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

/* Upper bound of the entropy in bits (Shannon 1951, section 5). rest: number of characters left after MOST wrong ones. */
export const shannon = (tries, rest) => {
  const shares = Array.from({ length: MOST + 1 }, (_, k) => mean(tries.map((n) => (n === k + 1 ? 1 : 0))));
  return shares.reduce((sum, share) => sum - (share && share * Math.log2(share)), 0) + shares[MOST] * Math.log2(rest);
};

/* The places on which all players are compared: those that the reader has guessed, or else those shown. */
export const comparedPlaces = (tries) => {
  const guessed = tries.flatMap((n, k) => (n ? [k] : []));
  return guessed.length ? guessed : tries.map((_, k) => k);
};

/* A row { first, tries, bound, bits } for the reader and each player, null without guesses. rest: as for shannon. */
export const standings = (tries, theirs, bits, rest) => {
  const places = comparedPlaces(tries);
  const row = (numbers, p) => ({
    first: mean(numbers.map((n) => (n === 1 ? 1 : 0))),
    tries: mean(numbers),
    bound: shannon(numbers, rest),
    bits: p && mean(p),
  });
  const at = (list) => places.map((k) => list[k]);
  if (!places.length) return [null, ...theirs.map(() => null)];
  return [tries[places[0]] ? row(at(tries)) : null, ...theirs.map((numbers, n) => row(at(numbers), at(bits[n])))];
};
