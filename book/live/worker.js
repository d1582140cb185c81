/* The worker with Python: loads Pyodide and packages from the site, and runs cells one after another.
 * It receives { start: sizes, language }, { run: id, source } and { change: [figure, values] }; it sends { loaded }, { ready },
 * { output }, { done: id, good } and { failed }. kernel.js is the page's side. */

const here = new URL(".", import.meta.url);
let session = null;

/* Fetch a file, decompressed if the site has it compressed. loaded(name, bytes): called with each piece. */
const fetchPart = async (name, sizes, loaded) => {
  const packed = `${name}.gz` in sizes;
  const response = await fromNetwork(new URL(packed ? `${name}.gz` : name, here));
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  const counting = new TransformStream({
    transform(chunk, controller) {
      loaded(name, chunk.byteLength);
      controller.enqueue(chunk);
    },
  });
  let body = response.body.pipeThrough(counting);
  if (packed) body = body.pipeThrough(new DecompressionStream("gzip"));
  const type = name.endsWith(".wasm") ? "application/wasm" : (response.headers.get("Content-Type") ?? "");
  return new Response(body, { headers: { "Content-Type": type } });
};

const fromNetwork = self.fetch.bind(self);

const start = async (sizes, language) => {
  let done = 0;
  const loaded = (name, bytes) => self.postMessage({ loaded: [(done += bytes), name] });
  self.fetch = (resource, options) => {
    const name = `${resource.url ?? resource}`.split("/").pop();
    return name in sizes || `${name}.gz` in sizes ? fetchPart(name, sizes, loaded) : fromNetwork(resource, options);
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
        UNROLLED_LANGUAGE: language.split("-")[0],
      },
    }),
  );
  const [python, ...archives] = await Promise.all([core, archive("packages.zip"), archive("book.zip")]);
  const site = python.runPython("import site; site.getsitepackages()[0]");
  for (const packed of archives) python.unpackArchive(packed, "zip", { extractDir: site });
  const emit = (output) => self.postMessage({ output: JSON.parse(output) });
  session = python.runPython(`
import importlib, json
importlib.invalidate_caches()
from cells import Session
lambda emit: Session(lambda output: emit(json.dumps(output)))
`)(emit);
};

/* Run a cell; return whether it ended without an error. The browser itself may fail, as when its stack is full. */
const run = (source) => {
  try {
    return session.run(source);
  } catch ({ name, message }) {
    const evalue = `${message} (an error of the browser: start Python anew)`;
    self.postMessage({ output: { output_type: "error", ename: name, evalue } });
    return false;
  }
};

self.onmessage = async ({ data }) => {
  if ("start" in data) {
    try {
      await start(data.start, data.language);
      self.postMessage({ ready: true });
    } catch (error) {
      self.postMessage({ failed: error.message ?? `${error}` });
    }
  } else if ("run" in data) self.postMessage({ done: data.run, good: run(data.source) });
  else if ("change" in data) {
    const [figure, values] = data.change;
    session.change(figure, JSON.stringify(values));
  }
};
