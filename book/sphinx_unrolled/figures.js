/* What stands in for a notebook's kernel on a page: a model that keeps its state and tells who listens, with the methods
 * that anywidget's has. figures.py puts it before each figure's script. `answer(name)` promises the bytes of a file that a
 * figure asks for by `send({ want: name })`; they come as a message { have: name } with the bytes as its buffer. */
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
