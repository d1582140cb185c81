/* ---- The figure ---- */
import { html, say } from "./kit.js";

/* Show the parts in `el`, with the caption under them. `draw` is called now, and at most once a frame after one of the
 * traits has changed. Returns what takes the figure away again. */
export const show = (model, el, parts, traits, draw) => {
  const words = model.get("words");
  const caption = html("figcaption", {}, words.caption);
  el.append(html("figure", { class: "unrolled-figure", lang: model.get("language") }, ...parts, caption));
  let asked = null;
  const redraw = () => {
    asked ??= requestAnimationFrame(() => {
      asked = null;
      draw();
    });
  };
  for (const name of traits) model.on(`change:${name}`, redraw);
  draw();
  return () => {
    cancelAnimationFrame(asked);
    for (const name of traits) model.off(`change:${name}`, redraw);
  };
};

/* A line that is read aloud when it changes, and stays so for a moment: not for every pixel of a slider. */
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
      say(element, sentence);
      clearTimeout(timer);
      timer = setTimeout(() => say(spoken, sentence), 600);
    },
  };
};
