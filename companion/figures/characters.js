/* The characters of a text, in drawings and in sentences. */
import { fill } from "./elements.js";

/* Split a text into characters, normalised and counted as companion.learning.text does. A browser without Intl.Segmenter
 * splits it into code points: no character of the vocabularies has more than one. */
export const characters = (text) => {
  const normalised = text.replace(/\r\n?/g, "\n").normalize("NFC");
  return Intl.Segmenter
    ? Array.from(new Intl.Segmenter().segment(normalised), ({ segment }) => segment)
    : [...normalised];
};

/* Signs for the characters that have no ink. */
export const visible = (character) => ({ " ": "␣", "\n": "⏎" })[character] ?? character;

/* Return the function that names a character in a sentence. */
export const namedBy = (words) => (character) =>
  ({ " ": words.space, "\n": words.newline })[character] ?? fill(words.quoted, { character });
