/* The worker with Python: loads Pyodide and packages from the site, and runs cells one after another.
 * It receives { start: sizes, reload: names, language }, { run: id, source }, { change: [figure, values] } and
 * { write: [name, bytes] }; it sends { loaded }, { ready }, { output }, { done: id, good } and { failed: what, reason }. kernel.js is the page's side. */

const here = new URL(".", import.meta.url);
let session = null,
  folder = null; // the file system of Python

let failure = null, // the first error in a file: Pyodide reports errors of its own that follow from it, or waits for ever
  fail;
const failed = new Promise((_resolve, reject) => (fail = reject));
self.addEventListener("unhandledrejection", (event) => failure && event.preventDefault());

/* Return an error for a file, which ends the start. reason: offline, absent or damaged. */
const problem = (reason, what) => {
  failure ??= Object.assign(new Error(what), { reason });
  fail(failure);
  return failure;
};

/* Fetch a file, decompressed if the site has it compressed. reload: names of files that no cache may answer.
 * loaded(name, bytes): called with each piece. */
const fetchPart = async (name, sizes, reload, loaded) => {
  const packed = `${name}.gz` in sizes,
    file = packed ? `${name}.gz` : name;
  const options = reload.includes(file) ? { cache: "reload" } : {};
  const response = await fromNetwork(new URL(file, here), options).catch(() => {
    throw problem("offline", file);
  });
  if (!response.ok) throw problem("absent", `${file}: ${response.status}`);
  const type = response.headers.get("Content-Type") ?? "";
  if (type.startsWith("text/html")) throw problem("damaged", file); // a network's page in place of the file
  const reader = response.body.getReader();
  let rest = sizes[file];
  const pull = async (controller) => {
    const { done, value } = await reader.read().catch(() => {
      throw problem("damaged", file);
    });
    if (done && rest) throw problem("damaged", file);
    if (done) return controller.close();
    rest -= value.byteLength;
    loaded(name, value.byteLength);
    controller.enqueue(value);
  };
  let body = new ReadableStream({ pull });
  if (packed) body = body.pipeThrough(new DecompressionStream("gzip"));
  return new Response(body, { headers: { "Content-Type": name.endsWith(".wasm") ? "application/wasm" : type } });
};

/* Install a wheel as Pyodide does, with its shared libraries. */
const install = async (python, wheel) => {
  let reason = wheel;
  const errorCallback = (message) => (reason = message);
  const options = { errorCallback, messageCallback() {} };
  const installed = await python.loadPackage(new URL(wheel, here).href, options);
  if (!installed.length) throw new Error(reason);
};

const fromNetwork = self.fetch.bind(self);

const start = async (sizes, reload, language) => {
  let done = 0;
  const loaded = (name, bytes) => self.postMessage({ loaded: [(done += bytes), name] });
  self.fetch = (resource, options) => {
    const name = `${resource.url ?? resource}`.split("/").pop();
    return name in sizes || `${name}.gz` in sizes
      ? fetchPart(name, sizes, reload, loaded)
      : fromNetwork(resource, options);
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
  const wheel = Object.keys(sizes).find((name) => name.endsWith(".whl")); // of torch, if it is not in book.zip
  const installed = core.then((python) => wheel && install(python, wheel));
  const parts = [core, archive("packages.zip"), archive("book.zip"), installed];
  const [python, ...archives] = (await Promise.all(parts)).slice(0, 3);
  const site = python.runPython("import site; site.getsitepackages()[0]");
  for (const packed of archives) python.unpackArchive(packed, "zip", { extractDir: site });
  folder = python.FS;
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
      await Promise.race([start(data.start, data.reload, data.language), failed]);
      self.postMessage({ ready: true });
    } catch (error) {
      const { message, reason } = failure ?? error;
      self.postMessage({ failed: message ?? `${error}`, reason });
    }
  } else if ("run" in data) self.postMessage({ done: data.run, good: run(data.source) });
  else if ("write" in data) folder.writeFile(...data.write);
  else if ("change" in data) {
    const [figure, values] = data.change;
    session.change(figure, JSON.stringify(values));
  }
};
