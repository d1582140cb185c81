/* A network that reads Morse signals: an LSTM over pulses and pauses, and the likeliest output of each step. Names and orders
 * are those of companion.learning.listening; tests/figures/test_figure_listening.py compares all numbers with it. */
import { layerOf, lstm, probabilities, times } from "./arithmetic.js";

export const SIGNS = " ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"; // sign k is class k + 1; class 0 is the blank

/* The steps of pulses [[down, up], …] in seconds, up to `end`: [[1 for a pulse or -1, log( 10 × its seconds )], …]. A pulse
 * that is not over, [down], ends at `end`. */
export const stepsOf = (pulses, end) =>
  pulses.flatMap(([down, up = end], k) => {
    const next = pulses[k + 1]?.[0] ?? end;
    const pause = next > up ? [[-1, Math.log(10 * (next - up))]] : [];
    return [[1, Math.log(10 * (up - down))], ...pause];
  });

/* For each step: its states h, forward and then backward, and the probabilities p of all classes. kind: the prefix of the
 * names of weights, "one direction" or "two directions". */
export const listen = (steps, w, kind) => {
  const forward = layerOf(w, `${kind}.recurrent`);
  const backward = layerOf(w, `${kind}.recurrent`, "_reverse");
  const zeros = Array.from(forward.weight_hh[0], () => 0);
  const there = lstm(steps, forward, [zeros, zeros]).map(({ h }) => h);
  const back = backward.weight_hh
    ? lstm([...steps].reverse(), backward, [zeros, zeros])
        .reverse()
        .map(({ h }) => h)
    : there.map(() => []);
  return there.map((h_t, t) => {
    const h = [...h_t, ...back[t]];
    const y = times(w[`${kind}.linear.weight`], h).map((y_k, k) => y_k + w[`${kind}.linear.bias`][k]);
    return { h, p: probabilities(y) };
  });
};

/* The text of a path, a list of classes: without repetitions, and then without blanks. */
export const collapse = (path) =>
  path
    .filter((k, t) => k && k !== path[t - 1])
    .map((k) => SIGNS[k - 1])
    .join("");
