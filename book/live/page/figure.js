/* Interactive figures in outputs: the page's scripts draw them, and Python gets the values that the reader changes. */

import { element } from "./code.js";

const models = new Map();

const loadScript = (url) =>
  new Promise((resolve, reject) => {
    const file = element("script", { src: url, onload: resolve, onerror: () => reject(new Error(url.pathname)) });
    document.head.append(file);
  });

/* Show the figure `name` with this state in an element. id: the model_id that Python gave it. */
export const showFigure = async (place, { name, state, id }, page) => {
  const scripts = new URL("../figures/", page.script);
  if (!window.unrolledFigures) {
    document.head.append(element("link", { rel: "stylesheet", href: new URL("figures.css", page.script) }));
    await loadScript(new URL("common.js", scripts));
  }
  if (!unrolledFigures.kinds[name]) await loadScript(new URL(`${name}.js`, scripts));
  models.set(
    id,
    unrolledFigures.kinds[name](place, state, (changes) => page.kernel?.change(id, changes)),
  );
};

/* Set values of a figure that Python has changed. */
export const changeFigure = ({ id, state }) => {
  const model = models.get(id);
  for (const [name, value] of Object.entries(state)) model?.set(name, value);
};
