/* A figure that answers, in a cell's output: the page's own scripts draw it, and Python hears what the reader moves. */

import { element } from "./code.js";

const models = new Map();

const loaded = (url) =>
  new Promise((resolve, reject) => {
    const file = element("script", { src: url, onload: resolve, onerror: () => reject(new Error(url.pathname)) });
    document.head.append(file);
  });

/* Show the figure `name` with this state in an element. id: what Python calls it. */
export const shownFigure = async (place, { name, state, id }, page) => {
  const scripts = new URL("../figures/", page.script);
  if (!window.unrolledFigures) {
    document.head.append(element("link", { rel: "stylesheet", href: new URL("figures.css", page.script) }));
    await loaded(new URL("common.js", scripts));
  }
  if (!unrolledFigures.kinds[name]) await loaded(new URL(`${name}.js`, scripts));
  models.set(
    id,
    unrolledFigures.kinds[name](place, state, (changes) => page.kernel?.change(id, changes)),
  );
};

/* Python has changed a figure. */
export const changeFigure = ({ id, state }) => {
  const model = models.get(id);
  for (const [name, value] of Object.entries(state)) model?.set(name, value);
};
