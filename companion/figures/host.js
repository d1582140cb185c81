/* The host of figures on pages without a kernel. */

/* Return a model with the methods of anywidget's. fetchBytes(name): promise of the bytes of a file that a figure requests by
 * `send({ want: name })`; they arrive as a message { have: name } with the bytes as its buffer. onChange(values), optional:
 * called with the values that the reader has changed. */
const staticModel = (state, fetchBytes, onChange) => {
  const listeners = {},
    changedNames = new Set();
  const same = (a, b) => a === b || JSON.stringify(a) === JSON.stringify(b);
  const notify = (event, ...values) => [...(listeners[event] || [])].forEach((listener) => listener(...values));
  return {
    get: (name) => state[name],
    set(name, value) {
      if (same(state[name], value)) return;
      state[name] = value;
      changedNames.add(name);
      notify(`change:${name}`);
    },
    save_changes() {
      onChange?.(Object.fromEntries([...changedNames].map((name) => [name, state[name]])));
      changedNames.clear();
    },
    on: (event, listener) => (listeners[event] ??= new Set()).add(listener),
    off: (event, listener) => listeners[event]?.delete(listener),
    send({ want }) {
      fetchBytes(want).then(
        (bytes) => notify("msg:custom", { have: want }, [new DataView(bytes)]),
        (error) => notify("msg:custom", { lacks: want, why: `${error.message || error}` }, []),
      );
    },
  };
};

/* Return the function that fetches a file beside this script. A page opened as a file cannot read other files but can run
 * scripts: there the bytes come as base64 in a script of the same name. */
const fetchBeside = (script) => async (name) => {
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

/* Name of a figure → function that shows it in an element and returns its model. */
const kinds = {};

/* The settings that an address has for a figure, "?gates={…}", if all are settings of it and of the right type. */
const settingsOf = (address, name, state) => {
  const typeOf = (value) => (Array.isArray(value) ? "list" : value === null ? "none" : typeof value);
  try {
    const settings = JSON.parse(new URL(address).searchParams.get(name)) ?? {};
    const valid = ([key, value]) => state.settings.includes(key) && typeOf(value) === typeOf(state[key]);
    return Object.entries(settings).every(valid) ? settings : {};
  } catch {
    return {};
  }
};

/* The address of the page with the settings that differ from those at the start, and the figure as its target. */
const addressOf = (element, name, state, start) => {
  const changed = state.settings.filter((key) => JSON.stringify(state[key]) !== JSON.stringify(start[key]));
  const url = new URL(location.href.replace(/[?#].*/, ""));
  if (changed.length)
    url.searchParams.set(name, JSON.stringify(Object.fromEntries(changed.map((key) => [key, state[key]]))));
  url.hash = element.closest("[id]")?.id ?? "";
  return url.href;
};

/* Replace the picture by the figure. The script is in the picture's element, so the browser has not laid out what follows:
 * nothing moves when the figure grows, and links to later sections lead to the right place. On paper the picture is shown
 * until the reader changes the figure. */
// biome-ignore lint/correctness/noUnusedVariables: the pages call it, as unrolledFigures.mount
const mount = (name, { render }) => {
  const script = document.currentScript,
    element = script.closest("[data-figure]");
  const fetchBytes = fetchBeside(script);
  kinds[name] = (el, state, onChange) => {
    const model = staticModel(state, fetchBytes, onChange);
    render({ model, el });
    return model;
  };
  if (!element) return; // the script was loaded for a cell that the reader runs
  const [start, picture] = [JSON.parse(element.querySelector("script").textContent), element.querySelector("figure")];
  picture.classList.add("printed");
  const begin = (settings) => {
    const state = { ...start, ...settings };
    element.replaceChildren(picture);
    element.toggleAttribute("data-changed", Object.keys(settings).length > 0);
    const model = staticModel(state, fetchBytes, () => element.toggleAttribute("data-changed", true));
    model.link = () => addressOf(element, name, state, start);
    render({ model, el: element });
  };
  try {
    begin(settingsOf(location.href, name, start));
  } catch {
    begin({}); // an address with values that the figure cannot show
  }
};
