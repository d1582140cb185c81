/* What stands in for a notebook's kernel on a page: a model that keeps its state and tells who listens, with the methods
 * that anywidget's has. `answer(name)` promises the bytes of a file that a figure asks for by `send({ want: name })`; they
 * come as a message { have: name } with the bytes as its buffer. */
const staticModel = (state, answer) => {
  const listeners = {};
  const same = (a, b) => a === b || JSON.stringify(a) === JSON.stringify(b);
  const tell = (event, ...what) => [...(listeners[event] || [])].forEach((listener) => listener(...what));
  return {
    get: (name) => state[name],
    set(name, value) {
      if (same(state[name], value)) return;
      state[name] = value;
      tell(`change:${name}`);
    },
    save_changes() {},
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

/* Put the figure in the place of its picture, wherever the page has it: when that comes near, or the reader begins. */
const mount = (name, { render }) => {
  const answer = beside(document.currentScript);
  const waiting = new Set(document.querySelectorAll(`[data-figure="${name}"]`));
  const place = (el) => {
    if (!waiting.delete(el)) return;
    const state = JSON.parse(el.querySelector("script").textContent);
    el.replaceChildren();
    render({ model: staticModel(state, answer), el });
  };
  const near = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) place(target);
  }, { rootMargin: "100%" });
  for (const el of waiting) near.observe(el);
  addEventListener("begin", () => setTimeout(() => waiting.forEach(place)));
};
