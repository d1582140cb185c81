/* The arithmetic of the figure Steps: a word is read letter by letter. */
import { oneHot, rnnCell, times } from "./arithmetic.js";

export const LETTERS = ["a", "b", "n"];

/* Each step of reading a word: { x, before: h_{t-1}, input: W_ih x_t, recurrent: W_hh h_{t-1}, a: their sum, h: tanh( a ) } */
export const readWord = (word, w) => {
  let before = w.weight_hh.map(() => 0);
  return [...word].map((letter) => {
    const x = oneHot(LETTERS.indexOf(letter), LETTERS.length);
    const [input, recurrent, h] = [times(w.weight_ih, x), times(w.weight_hh, before), rnnCell(x, before, w)];
    const step = { x, before, input, recurrent, a: input.map((value, k) => value + recurrent[k]), h };
    before = h;
    return step;
  });
};

/* ‖h - g‖ */
export const distance = (h, g) => Math.hypot(...h.map((value, k) => value - g[k]));
