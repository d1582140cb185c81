/* What tries tell of a guesser, as in guess.py. Tries are numbers from 1 on; MOST + 1 stands for not found. */

export const MOST = 5;

export const mean = (numbers) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

/* Bits that tries leave at most (Shannon 1951, section 5). rest: how many characters are left after MOST wrong ones. */
export const shannon = (tries, rest) => {
  const shares = Array.from({ length: MOST + 1 }, (_, k) => mean(tries.map((n) => (n === k + 1 ? 1 : 0))));
  return shares.reduce((sum, share) => sum - (share && share * Math.log2(share)), 0) + shares[MOST] * Math.log2(rest);
};

/* The places over which all are compared: those that the reader has guessed, or else those that were shown. */
export const compared = (tries) => {
  const guessed = tries.flatMap((n, k) => (n ? [k] : []));
  return guessed.length ? guessed : tries.map((_, k) => k);
};

/* The reader's row and one for each player: { first, tries, bound, bits }, null for one who has guessed nothing. rest as above. */
export const standings = (tries, theirs, bits, rest) => {
  const places = compared(tries);
  const row = (own, p) => ({
    first: mean(own.map((n) => (n === 1 ? 1 : 0))),
    tries: mean(own),
    bound: shannon(own, rest),
    bits: p && mean(p),
  });
  const at = (list) => places.map((k) => list[k]);
  if (!places.length) return [null, ...theirs.map(() => null)];
  return [tries[places[0]] ? row(at(tries)) : null, ...theirs.map((own, n) => row(at(own), at(bits[n])))];
};
