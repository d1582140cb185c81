/* What stands in for a notebook's kernel on a page: a model that keeps its state and tells who listens, with the methods
 * that anywidget's has. `answer(name)` promises the bytes of a file that a figure asks for by `send({ want: name })`; they
 * come as a message { have: name } with the bytes as its buffer. `changed(state)`, if there is one, hears of what is moved. */
const staticModel = (state, answer, changed) => {
  const listeners = {},
    moved = new Set();
  const same = (a, b) => a === b || JSON.stringify(a) === JSON.stringify(b);
  const tell = (event, ...what) => [...(listeners[event] || [])].forEach((listener) => listener(...what));
  return {
    get: (name) => state[name],
    set(name, value) {
      if (same(state[name], value)) return;
      state[name] = value;
      moved.add(name);
      tell(`change:${name}`);
    },
    save_changes() {
      changed?.(Object.fromEntries([...moved].map((name) => [name, state[name]])));
      moved.clear();
    },
    on: (event, listener) => (listeners[event] ??= new Set()).add(listener),
    off: (event, listener) => listeners[event]?.delete(listener),
    send({ want }) {
      answer(want).then(
        (bytes) => tell("msg:custom", { have: want }, [new DataView(bytes)]),
        (error) => tell("msg:custom", { lacks: want, why: `${error.message || error}` }, []),
      );
    },
  };
};

/* The bytes of a file beside this script. A page that is a file may not read others, but it may run them: there the bytes
 * come as text in a script of the same name. */
const beside = (script) => async (name) => {
  const url = new URL(name, script.src);
  if (location.protocol !== "file:") {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
    return response.arrayBuffer();
  }
  return new Promise((resolve, reject) => {
    const file = document.createElement("script");
    file.src = `${url}.js`;
    file.onerror = () => reject(new Error(`${name} is missing`));
    file.onload = () => resolve(Uint8Array.from(atob(window.unrolledFile), (c) => c.charCodeAt(0)).buffer);
    document.head.append(file);
  });
};

/* kind → function that shows such a figure in an element, and returns its model */
const kinds = {};

/* Put the figure in the place of its picture. The script stands in that place, so the browser has not read what follows:
 * nothing moves when the figure grows, and a link to a later section leads to it. */
// biome-ignore lint/correctness/noUnusedVariables: the pages call it, as unrolledFigures.mount
const mount = (name, { render }) => {
  const script = document.currentScript,
    place = script.closest("[data-figure]");
  const answer = beside(script);
  kinds[name] = (el, state, changed) => {
    const model = staticModel(state, answer, changed);
    render({ model, el });
    return model;
  };
  if (!place) return; // the script was loaded for a cell that the reader runs
  const state = JSON.parse(place.querySelector("script").textContent);
  place.replaceChildren();
  kinds[name](place, state);
};
