/* The frame of every figure: a question, the drawing beside its controls, the caption, redrawing, and the line of text that
 * is read aloud. */
import { html, setContent } from "./elements.js";
import { copyButton } from "./controls.js";
import { question } from "./question.js";

/* Show a figure in `el`. parts: { drawing, controls, below }, lists of elements. On a wide page the controls are beside the
 * drawing; on a narrow one the drawing stays in view while the reader scrolls through them. `draw` is called now, and at
 * most once a frame after a change of the traits. Return a function that removes the listeners. */
export const show = (model, el, { drawing, controls = [], below = [] }, traits, draw) => {
  const words = model.get("words");
  const link = model.link
    ? html(
        "div",
        { class: "strip link" },
        copyButton(words.link, words, () => model.link()),
      )
    : null;
  const both = [html("div", { class: "seen" }, drawing), html("div", { class: "beside" }, controls)];
  const parts = [question(words), html("div", { class: "together" }, both), below, link];
  const caption = html("figcaption", {}, words.caption);
  el.append(html("figure", { class: "unrolled-figure", lang: model.get("language") }, parts, caption));
  let frame = null;
  const redraw = () => {
    frame ??= requestAnimationFrame(() => {
      frame = null;
      draw();
    });
  };
  for (const name of traits) model.on(`change:${name}`, redraw);
  draw();
  return () => {
    cancelAnimationFrame(frame);
    for (const name of traits) model.off(`change:${name}`, redraw);
  };
};

/* A line of text that screen readers read aloud once it has not changed for a moment: not for every pixel of a slider. */
export const report = () => {
  const [element, spoken] = [
    html("p", { class: "report", "aria-hidden": "true" }),
    html("p", { class: "unseen", role: "status" }),
  ];
  let timer = null;
  return {
    element: html("div", {}, element, spoken),
    set(sentence) {
      if (element.textContent === sentence) return;
      setContent(element, sentence);
      clearTimeout(timer);
      timer = setTimeout(() => setContent(spoken, sentence), 600);
    },
  };
};
