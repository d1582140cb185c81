/* Loads Python for a page: asks the reader and the site, starts Python, and says why that failed. */

const PATIENCE = 120_000; // milliseconds without an answer of the site or of Python, after which loading has failed

const megabytes = (bytes) => Math.max(1, Math.round(bytes / 1e6));

/* An error in loading. reason: a key of the words (offline, absent, damaged, silent, crashed), or "" if it is unknown.
 * what: a file. */
export class Problem extends Error {
  constructor(reason, what) {
    super(what);
    this.reason = reason;
  }
}

/* Fetch a text of the site. cache: as in the options of fetch. size: its bytes, if they are known. Throws a Problem. */
const fetchText = async (url, cache, size) => {
  const name = url.pathname.split("/").pop();
  const failed = (reason) => (error) => {
    throw new Problem(error.name === "TimeoutError" ? "silent" : reason, name);
  };
  const response = await fetch(url, { cache, signal: AbortSignal.timeout(PATIENCE) }).catch(failed("offline"));
  if (!response.ok) throw new Problem("absent", `${name}: ${response.status}`);
  const bytes = await response.arrayBuffer().catch(failed("damaged"));
  const html = response.headers.get("Content-Type")?.startsWith("text/html"); // a network's page in place of the file
  if (html || bytes.byteLength !== (size ?? bytes.byteLength)) throw new Problem("damaged", name);
  return new TextDecoder().decode(bytes);
};

/* Fetch a JSON file of the site. cache: "no-cache" (a cache asks the site whether its copy is current) or "reload". */
export const fetchJSON = async (url, cache) => {
  const text = await fetchText(url, cache);
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem("damaged", url.pathname.split("/").pop());
  }
};

/* Return what this browser lacks to run Python, or undefined. */
const missing = () => {
  let modules = false;
  const options = {
    get type() {
      modules = true;
      return "none";
    },
  }; // read only by browsers that know modules, which then refuse
  try {
    new Worker("data:,", options).terminate();
  } catch {}
  const present = { WebAssembly: window.WebAssembly, DecompressionStream: window.DecompressionStream };
  return Object.keys(present).find((name) => !present[name]) ?? (modules ? undefined : "module workers");
};

/* Return whether this browser keeps the files for later visits: it has a service worker, and space for them. */
const keeps = async (size) => {
  try {
    const { serviceWorker } = navigator;
    if (!serviceWorker.controller) {
      if (!(await serviceWorker.getRegistration())) return false;
      const late = new Promise((_resolve, reject) => setTimeout(reject, 3000));
      await Promise.race([new Promise((done) => (serviceWorker.oncontrollerchange = done)), late]); // on a first visit
    }
    const { quota, usage } = await navigator.storage.estimate();
    return quota - usage > size;
  } catch {
    return false;
  }
};

const SCRIPTS = ["kernel.js", "worker.js", "pyodide.mjs", "pyodide.asm.js", "pyodide.asm.mjs"]; // one of the last two

class Loader {
  /* base: the site's folder live/. onProgress(done, total, name): called while files arrive. */
  constructor(base, onProgress) {
    Object.assign(this, { base, onProgress, manifest: null, kernel: null });
    this.turn = 0; // the number of starts and stops: what belongs to an earlier one is dropped
    this.failures = 0;
    this.damaged = new Set();
  }

  /* Return the address of a file of the site's present version. */
  file(name) {
    return new URL(this.manifest.folder + name, this.base);
  }

  /* Ask the site for its version, and the names and sizes of its files. */
  async findFiles(cache = "no-cache") {
    const manifest = await fetchJSON(new URL("manifest.json", this.base), cache);
    if (!manifest.files) throw new Problem("damaged", "manifest.json");
    this.manifest = manifest;
  }

  /* Import a script; if the site has changed since it was asked, that of the new version. */
  async importScript(name) {
    try {
      return await this.importOnce(name);
    } catch (error) {
      if (await this.checkVersion()) return this.importOnce(name);
      throw error;
    }
  }

  importOnce(name) {
    const address = this.file(name);
    if (this.failures) address.search = `?try=${this.failures}`; // browsers remember a failed import
    return import(address);
  }

  /* After a failure, ask the site for its version again; return whether it has another one. */
  async checkVersion() {
    const { version } = this.manifest;
    this.failures++;
    await this.findFiles("reload").catch(() => {}); // then the version stays
    return this.manifest.version !== version;
  }

  /* Start Python; return its kernel when cells can run. If the site has changed since it was asked, start the new version. */
  async start() {
    this.stop();
    const { turn } = this;
    for (let first = true; ; first = false) {
      try {
        return await this.startOnce(turn);
      } catch (error) {
        if (turn !== this.turn) throw error;
        this.stopKernel();
        const changed = await this.checkVersion();
        if (turn === this.turn && first && changed) continue;
        const problem = await this.explain(error);
        if (problem.reason === "damaged") this.damaged.add(problem.message);
        throw problem;
      }
    }
  }

  async startOnce(turn) {
    for (const name of SCRIPTS) if (this.damaged.has(name)) await this.fetchAgain(name);
    const { start } = await this.importOnce("kernel.js");
    if (turn !== this.turn) throw new Error("stopped");
    const { files, size } = this.manifest;
    this.kernel = start({ files, size, reload: [...this.damaged], onProgress: this.onProgress });
    await this.kernel.ready;
    this.damaged.clear();
    return this.kernel;
  }

  /* Terminate Python, or give up its start. */
  stop() {
    this.turn++;
    this.stopKernel();
  }

  stopKernel() {
    this.kernel?.stop();
    this.kernel = null;
  }

  /* Fetch a script past all caches, which then keep this copy. Throws a Problem if the site has another size for it. */
  async fetchAgain(name) {
    await fetchText(this.file(name), "reload", this.manifest.files[name]);
  }

  /* Return an error as a Problem. Browsers do not say why a script failed, so fetch the scripts and look at the answers. */
  async explain(error, names = SCRIPTS) {
    if (error.reason) return error;
    try {
      for (const name of names) if (name in this.manifest.files) await this.fetchAgain(name);
    } catch (problem) {
      return problem;
    }
    this.damaged = new Set(Object.keys(this.manifest.files)); // one of them may be, though its size is right
    return new Problem("", error.message ?? `${error}`);
  }
}

/* What the page says and asks while Python is loaded. It sets the phase of the page. */
export class Loading {
  constructor(page, base) {
    this.page = page;
    this.loader = new Loader(base, (...progress) => this.progress(...progress));
    this.agreed = false;
    this.turn = 0; // the number of attempts and stops: what belongs to an earlier one is ignored
  }

  /* Ask whether to load Python, unless the reader has agreed before. */
  async ask() {
    const { page, loader } = this,
      turn = ++this.turn;
    page.phase = "asking";
    if (page.refused()) return;
    const what = missing();
    if (what) return page.ask("unsupported", { what }, "close");
    this.quiet = false;
    page.say("connecting", {}, "stop");
    this.waitLonger();
    try {
      await loader.findFiles();
    } catch (error) {
      if (turn === this.turn) this.fail(error);
      return;
    }
    const { size, version } = loader.manifest;
    const kept = page.words[(await keeps(size)) ? "kept" : "not_kept"];
    if (turn !== this.turn) return;
    clearTimeout(this.waiting);
    let loaded = null;
    try {
      loaded = localStorage.getItem("live");
    } catch {}
    if (this.agreed || loaded === version) this.begin();
    else page.ask("ask", { size: megabytes(size), kept, honest: page.notice }, "load", "not_now");
  }

  /* Start Python. quiet: in the background, so that the bar says nothing unless a cell waits. */
  async begin(quiet = false) {
    const turn = ++this.turn;
    this.page.phase = "starting";
    this.agreed = this.quiet = true;
    if (!quiet) this.show();
    this.waitLonger();
    let kernel;
    try {
      kernel = await this.loader.start();
    } catch (error) {
      if (turn === this.turn) this.fail(error);
      return;
    }
    clearTimeout(this.waiting);
    try {
      localStorage.setItem("live", this.loader.manifest.version);
    } catch {}
    this.page.start(kernel);
  }

  /* Show that Python starts, because cells wait for it. */
  show() {
    for (const cell of this.page.queue) cell.mark("waiting");
    if (!this.quiet) return;
    this.quiet = false;
    this.page.say("starting", {}, "stop");
  }

  /* Fail if nothing arrives for a long time. */
  waitLonger() {
    const { turn } = this;
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => turn === this.turn && this.fail(new Problem("silent", "Python")), PATIENCE);
  }

  progress(done, total, what) {
    this.waitLonger();
    if (this.quiet) return;
    this.page.say("loading", { what, done: (done / 1e6).toFixed(1), total: megabytes(total) }, "stop");
    this.page.bar.progress(done / total);
  }

  /* Say why Python does not run. The cells that wait are kept for another try. */
  fail({ reason, message }) {
    const { page, quiet } = this,
      { queue } = page;
    page.end();
    if (reason === "crashed") return page.ask("crashed", { what: message });
    if (quiet && !queue.length) return; // nobody waits: the next run tries again
    page.queue = queue;
    page.phase = "failed";
    page.ask("unloadable", { what: message, why: page.words[reason] ?? "" }, "again", "close");
  }

  /* Give up the start of Python, or terminate it. */
  stop() {
    this.turn++;
    clearTimeout(this.waiting);
    this.loader.stop();
  }
}
