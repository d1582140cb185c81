/* Split a text into characters, normalised and counted as companion.learning.text does. A browser without Intl.Segmenter
 * splits it into code points: no character of the vocabularies has more than one. */
export const characters = (text) => {
  const normalised = text.replace(/\r\n?/g, "\n").normalize("NFC");
  return Intl.Segmenter
    ? Array.from(new Intl.Segmenter().segment(normalised), ({ segment }) => segment)
    : [...normalised];
};
