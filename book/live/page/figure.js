/* Interactive figures in outputs: the page's scripts draw them, and Python gets the values that the reader changes. */

import { element } from "./code.js";

let figures = []; // { id, place, state, model }; two of one id show the same values, as when a figure is displayed twice
const scripts = new Map(); // address → promise of the loaded script

const loadScript = (url) => {
  if (!scripts.has(url.href)) {
    const load = (resolve, reject) => {
      const onerror = () => {
        scripts.delete(url.href); // the next figure tries again
        reject(new Error(url.pathname));
      };
      document.head.append(element("script", { src: url, onload: resolve, onerror }));
    };
    scripts.set(url.href, new Promise(load));
  }
  return scripts.get(url.href);
};

/* Set a figure's values; before its scripts are loaded, these are the values that it will begin with. */
const setValues = (figure, values) => {
  if (!figure.model) Object.assign(figure.state, values);
  else for (const [name, value] of Object.entries(values)) figure.model.set(name, value);
};

/* Show the figure `name` with this state in an element. id: the model_id that Python gave it. */
export const showFigure = async (place, { name, state, id }, page) => {
  const figure = { id, place, state };
  figures.push(figure);
  const folder = new URL("../figures/", page.script);
  if (!window.unrolledFigures) {
    const style = element("link", { rel: "stylesheet", href: new URL("figures.css", page.script) });
    if (!scripts.size) document.head.append(style);
    await loadScript(new URL("common.js", folder));
  }
  if (!unrolledFigures.kinds[name]) await loadScript(new URL(`${name}.js`, folder));
  figure.model = unrolledFigures.kinds[name](place, state, (values) => {
    if (!figures.includes(figure)) return; // its Python is gone
    for (const other of figures) if (other.id === id && other !== figure) setValues(other, values);
    page.kernel?.change(id, values);
  });
};

/* Set values of a figure that Python has changed. */
export const changeFigure = ({ id, state }) => {
  for (const figure of figures) if (figure.id === id) setValues(figure, state);
};

/* Disconnect the figures of a cell, because their Python is gone, and say so below each. */
export const disconnectFigures = (cell, words) => {
  for (const { place } of figures.filter(({ place }) => cell.contains(place)))
    place.after(element("p", { className: "run-cut", textContent: words.disconnected }));
  figures = figures.filter(({ place }) => place.isConnected && !cell.contains(place));
};
