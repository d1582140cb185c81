/* Python, on a thread of its own: it loads what the site has of it, and runs cells one after another.
 * It hears { start: sizes }, { run: id, source } and { change: [figure, values] }; it says { loaded }, { ready }, { output },
 * { done: id, good } and { failed }. kernel.js is the page's side. */

const here = new URL(".", import.meta.url);
let session = null;

/* A part of what is loaded, and the page told how far it is. What was compressed is made whole. */
const part = async (name, sizes, loaded) => {
  const packed = `${name}.gz` in sizes;
  const answer = await fromNetwork(new URL(packed ? `${name}.gz` : name, here));
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  const counting = new TransformStream({
    transform(chunk, controller) {
      loaded(name, chunk.byteLength);
      controller.enqueue(chunk);
    },
  });
  let body = answer.body.pipeThrough(counting);
  if (packed) body = body.pipeThrough(new DecompressionStream("gzip"));
  const type = name.endsWith(".wasm") ? "application/wasm" : (answer.headers.get("Content-Type") ?? "");
  return new Response(body, { headers: { "Content-Type": type } });
};

const fromNetwork = self.fetch.bind(self);

const start = async (sizes) => {
  let done = 0;
  const loaded = (name, bytes) => self.postMessage({ loaded: [(done += bytes), name] });
  self.fetch = (resource, options) => {
    const name = `${resource.url ?? resource}`.split("/").pop();
    return name in sizes || `${name}.gz` in sizes ? part(name, sizes, loaded) : fromNetwork(resource, options);
  };
  const archive = async (name) => (await fetch(name)).arrayBuffer();
  const core = import(new URL("pyodide.mjs", here)).then(({ loadPyodide }) =>
    loadPyodide({
      indexURL: here.href,
      lockFileURL: new URL("pyodide-lock.json", here).href,
      env: {
        HOME: "/home/pyodide",
        MPLBACKEND: "module://matplotlib_inline.backend_inline",
        MPLCONFIGDIR: "/home/pyodide/.matplotlib",
      },
    }),
  );
  const [python, ...archives] = await Promise.all([core, archive("packages.zip"), archive("book.zip")]);
  const site = python.runPython("import site; site.getsitepackages()[0]");
  for (const one of archives) python.unpackArchive(one, "zip", { extractDir: site });
  const emit = (output) => self.postMessage({ output: JSON.parse(output) });
  session = python.runPython(`
import importlib, json
importlib.invalidate_caches()
from cells import Session
lambda emit: Session(lambda output: emit(json.dumps(output)))
`)(emit);
};

self.onmessage = async ({ data }) => {
  if ("start" in data) {
    try {
      await start(data.start);
      self.postMessage({ ready: true });
    } catch (error) {
      self.postMessage({ failed: error.message ?? `${error}` });
    }
  } else if ("run" in data) self.postMessage({ done: data.run, good: session.run(data.source) });
  else if ("change" in data) {
    const [figure, values] = data.change;
    session.change(figure, JSON.stringify(values));
  }
};
