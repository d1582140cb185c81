/* The question above a figure. The reader guesses before the figure shows it. */
import { change, html, setContent } from "./elements.js";
import { button } from "./controls.js";

/* The words have `question`, `answers`, the number `right` of the right answer, from 0, and `because`, which says why, or
 * where to see it: one text, or one for each answer. */
export const question = (words) => {
  if (!words.question) return null;
  const comment = html("p", { class: "report", role: "status" });
  const choose = (chosen) => {
    answers.forEach((answer, k) => change(answer, { "aria-pressed": `${k === chosen}` }));
    const verdict = chosen === words.right ? words.guessed : words.not_guessed;
    const because = Array.isArray(words.because) ? words.because[chosen] : words.because;
    setContent(comment, [verdict, because].join(words.between));
  };
  const answers = words.answers.map((answer, k) => button(answer, () => choose(k)));
  return html(
    "fieldset",
    { class: "question" },
    html("legend", {}, words.question),
    html("div", { class: "strip" }, answers),
    comment,
  );
};
