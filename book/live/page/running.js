/* The controller of a page with cells: it asks before it loads Python, runs cells with those above that they need, and
 * stores the reader's code. run.js calls it once. */

import { Bar } from "./bar.js";
import { Cell } from "./cell.js";
import { element } from "./code.js";
import { loadEditor } from "./editors.js";
import { changeFigure, showFigure } from "./figure.js";
import { inline } from "./markdown.js";
import { saveNotebook } from "./notebook.js";

// the build inserts their values
const WORDS = "WORDS",
  STYLE = "STYLE",
  TESTS = "TESTS";

const megabytes = (bytes) => Math.max(1, Math.round(bytes / 1e6));

class Page {
  constructor(rows, script) {
    this.words = WORDS;
    this.notice = WORDS.honest.replace("{tests}", TESTS);
    if (document.querySelector(".hand-in")) this.notice = this.notice.replace("`compare`", "`check`");
    this.rows = rows;
    this.cells = [];
    this.phase = "new"; // asking, starting, running, failed
    this.key = `code:${location.pathname}`;
    this.script = script;
    this.base = new URL(`${document.documentElement.dataset.content_root}../live/`, location.href);
    this.queue = [];
    this.clock = 0; // the number of runs
    this.turn = 0; // the number of starts and stops of Python: outputs of earlier ones are ignored
    document.head.append(element("style", { textContent: STYLE }));
    this.figure = (place, data) => showFigure(place, data, this);
    this.prepared = this.prepare().then(() => this);
  }

  /* Load the data of the cells, and restore the code that the reader wrote at an earlier visit. */
  async prepare() {
    const name =
      location.pathname
        .split("/")
        .pop()
        .replace(/\.html$/, "") || "index";
    this.notebook = `_sources/${name}.ipynb`;
    const data = location.protocol === "file:" ? [] : await this.fetchJSON(new URL(`cells/${name}.json`, this.script));
    const rows = new Map(this.rows.map((row) => [row.id, row]));
    this.cells = data.filter(({ id }) => rows.has(id)).map((cell) => new Cell(rows.get(cell.id), cell, this));
    const stored = this.readStored();
    for (const cell of this.cells) {
      if (!(cell.id in stored)) continue;
      cell.write(stored[cell.id]);
      cell.show();
    }
    addEventListener("pagehide", () => this.store());
    addEventListener("mode", () => this.recolour());
  }

  /* Return the address of a file in the site's folder live/. */
  liveFile(name) {
    return new URL(this.manifest.folder + name, this.base);
  }

  async fetchJSON(url) {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url.pathname}: ${response.status}`);
    return response.json();
  }

  // --- storing the reader's code

  readStored() {
    try {
      return JSON.parse(localStorage.getItem(this.key)) ?? {};
    } catch {
      return {}; // private browsing, or not the format of this script
    }
  }

  storeSoon() {
    clearTimeout(this.storing);
    this.storing = setTimeout(() => this.store(), 300);
  }

  store() {
    clearTimeout(this.storing);
    const stored = this.readStored(); // read again, because another window may have written
    for (const cell of this.cells.filter((cell) => cell.unsaved)) {
      cell.unsaved = false;
      if (cell.changed) stored[cell.id] = cell.text;
      else delete stored[cell.id];
    }
    try {
      if (Object.keys(stored).length) localStorage.setItem(this.key, JSON.stringify(stored));
      else localStorage.removeItem(this.key);
    } catch {} // then the code lasts as long as the page
  }

  /* Save the notebook of an assignment with the reader's answers as a file. */
  handIn(button) {
    this.store();
    if (location.protocol === "file:") return this.ask("file", {}, "close");
    return saveNotebook(new URL(button.dataset.notebook, location.href), this.cells);
  }

  // --- loading

  /* Show words in the bar, with values filled in, and buttons for these actions. */
  say(name, values = {}, ...actions) {
    const text = Object.entries(values).reduce(
      (text, [key, value]) => text.replaceAll(`{${key}}`, value),
      this.words[name],
    );
    this.bar ??= new Bar(this.words, this.actions);
    this.bar.say(text, ...(actions.length ? actions : ["run_all", "anew", "close"]));
  }

  actions = {
    load: () => this.agree(),
    again: () => (this.manifest ? this.begin() : this.askToLoad()),
    not_now: () => this.close(),
    close: () => this.close(),
    stop: () => this.stop(),
    anyway: () => this.run(this.pressed),
    run_all: () => this.enqueue(this.cells.filter((cell) => cell.kind !== "elsewhere")),
    anew: () => this.anew(),
  };

  /* Close the bar, and drop the cells that wait. */
  close() {
    this.queue = [];
    this.bar?.close();
    this.bar = null;
    this.pressed?.button.focus();
    if (this.phase !== "running") this.phase = "new";
  }

  /* Ask whether to load Python, unless the reader has agreed before. */
  async askToLoad() {
    this.phase = "asking";
    if (location.protocol === "file:") return this.ask("file", {}, "close");
    try {
      this.manifest = await this.fetchJSON(new URL("manifest.json", this.base));
    } catch (error) {
      return this.fail(error);
    }
    let loaded = null;
    try {
      loaded = localStorage.getItem("live");
    } catch {}
    if (loaded === this.manifest.version) this.begin();
    else this.ask("ask", { size: megabytes(this.manifest.size), honest: this.notice }, "load", "not_now");
  }

  /* Show a question in the bar and move the focus to the answers. */
  ask(...question) {
    this.say(...question);
    this.bar.focus();
  }

  agree() {
    this.pressed?.button.focus();
    this.begin();
  }

  /* Start Python. */
  async begin() {
    const turn = ++this.turn;
    this.phase = "starting";
    for (const cell of this.queue) cell.mark("waiting");
    this.say("starting", {}, "stop");
    try {
      const { start } = await import(this.liveFile("kernel.js"));
      this.kernel ??= start({
        base: this.base.href,
        onProgress: (...progress) => this.phase === "starting" && this.progress(...progress),
      });
      await this.kernel.ready;
    } catch (error) {
      if (turn === this.turn) this.fail(error);
      return;
    }
    if (turn !== this.turn) return;
    try {
      localStorage.setItem("live", this.manifest.version);
    } catch {}
    this.phase = "running";
    this.enableEditing();
    this.pump();
  }

  progress(done, total, what) {
    this.say("loading", { what, done: (done / 1e6).toFixed(1), total: megabytes(total) }, "stop");
    this.bar.progress(done / total);
  }

  fail(error) {
    this.turn++;
    this.kernel = null;
    this.phase = "failed";
    this.pumping = false;
    for (const cell of this.cells) cell.forget();
    this.ask("unloadable", { what: error.message ?? error }, "again", "close");
  }

  /* Make all cells editable, and say on the page that small_torch stands in for torch. */
  enableEditing() {
    if (this.started) return;
    this.started = true;
    this.editors().catch(() => {}); // so that it is there without a network; Edit tries again
    for (const cell of this.cells) cell.start();
    this.cells[0]?.cell.previousElementSibling.before(
      element("p", { className: "run-honest" }, ...inline(this.notice)),
    );
  }

  /* Open a menu with more ways to run a cell. */
  menu(cell) {
    const { cells } = this,
      place = cells.indexOf(cell);
    const runnable = cells.filter((other) => other.kind !== "elsewhere" || other === cell);
    const actions = {
      run_above: () => this.enqueue(runnable.filter((other) => cells.indexOf(other) < place)),
      run_below: () =>
        this.enqueue([...this.needed(cell), ...runnable.filter((other) => cells.indexOf(other) >= place)]),
      run_alone: () => this.enqueue([cell]),
    };
    this.open?.remove();
    const menu = (this.open = element("div", { className: "run-menu", popover: "auto" }));
    menu.setAttribute("role", "menu");
    for (const [name, action] of Object.entries(actions)) {
      const item = element("button", { type: "button", textContent: this.words[name] });
      item.setAttribute("role", "menuitem");
      item.addEventListener("click", () => {
        menu.hidePopover();
        cell.more.focus();
        action();
      });
      menu.append(item);
    }
    menu.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key],
        items = [...menu.children];
      if (!step) return;
      event.preventDefault();
      items.at((items.indexOf(document.activeElement) + step) % items.length).focus();
    });
    cell.row.append(menu);
    menu.showPopover();
    const { left, bottom } = cell.more.getBoundingClientRect();
    const { width, height } = menu.getBoundingClientRect();
    menu.style.left = `${Math.min(left, innerWidth - width - 8) + scrollX}px`;
    menu.style.top = `${Math.min(bottom + 4, innerHeight - height - 8) + scrollY}px`;
    menu.firstChild.focus();
  }

  editors = () => loadEditor(this.liveFile("editor.js"));

  recolour() {
    for (const cell of this.cells.filter((cell) => cell.editor)) {
      const focused = cell.cell.contains(document.activeElement);
      cell.leave();
      cell.edit().then(() => focused || document.activeElement.blur());
    }
  }

  // --- running

  /* Run a cell whose button was pressed, stop it if it runs, or ask if it should not run on a page. */
  press(id) {
    const cell = this.cells.find((cell) => cell.id === id) ?? this.rows.find((row) => row.id === id);
    this.pressed = cell;
    if (cell.state === "running") this.stop();
    else if (cell.kind === "elsewhere") this.ask(cell.why, { notebook: this.notebook }, "anyway", "close");
    else this.run(cell);
  }

  /* Return the cells above that must run before this one: all from the first that is stale, failed or has not run. */
  needed(target) {
    const above = this.cells
      .slice(0, this.cells.indexOf(target))
      .filter((cell) => cell.kind !== "elsewhere" && !cell.checks);
    let changedAt = 0;
    const first = above.findIndex((cell) => {
      const stale = cell.ranText !== cell.text || cell.state === "failed" || changedAt > cell.ranAt;
      changedAt = Math.max(changedAt, cell.changedAt);
      return stale;
    });
    return first < 0 ? [] : above.slice(first);
  }

  run(cell) {
    this.enqueue([...this.needed(cell), cell]);
  }

  /* Run all cells. button: the one below the title, which gets the focus back. */
  runPage(button) {
    this.pressed = { button };
    this.actions.run_all();
  }

  /* Run a cell and go to the next one. */
  runNext(cell) {
    this.press(cell.id);
    if (this.phase !== "running") return;
    const next = this.cells.slice(this.cells.indexOf(cell) + 1).find((other) => other.visible);
    if (!next) return;
    if (next.editor) next.editor.focus();
    else next.button.focus();
    next.cell.scrollIntoView({ block: "nearest" });
  }

  enqueue(cells) {
    const fresh = cells.filter(
      (cell) => !this.queue.includes(cell) && !(cell.state === "running" && cell.runs === cell.text),
    );
    this.queue.push(...fresh);
    if (this.phase === "new" || this.phase === "failed") return this.askToLoad();
    if (this.phase === "asking") return this.bar?.focus();
    for (const cell of fresh) if (cell.state !== "running") cell.mark("waiting");
    this.pump();
  }

  /* Run the waiting cells, one after another. */
  async pump() {
    if (this.pumping || this.phase !== "running") return;
    this.pumping = true;
    const turn = this.turn;
    for (let k = 1; this.queue.length; k++) {
      const cell = this.queue.shift();
      this.say(cell.kind === "slow" ? "runs_slow" : "runs", { k, all: k + this.queue.length }, "stop");
      const good = await this.runOne(cell, turn);
      if (turn !== this.turn) return; // stopped or failed: another call handles what follows
      if (!good) break;
    }
    this.pumping = false;
    if (this.queue.length) {
      for (const cell of this.queue) cell.mark(cell.ranText === null ? "new" : "done");
      this.queue = [];
    }
  }

  /* Run one cell; return whether it ended without an error. */
  async runOne(cell, turn) {
    const { text } = cell,
      receiver = cell.receive();
    cell.runs = text;
    cell.mark("running");
    let status;
    try {
      const onOutput = (output) =>
        turn === this.turn && (output.output_type === "figure" ? changeFigure(output) : receiver.add(output));
      ({ status } = await this.kernel.run(text, { cell: cell.id, onOutput }));
    } catch (error) {
      if (turn === this.turn) this.fail(error);
      return false;
    }
    if (turn !== this.turn) return false;
    receiver.end();
    this.clock++;
    if (cell.ranText !== text) cell.changedAt = this.clock;
    cell.ranText = text;
    cell.ranAt = this.clock;
    cell.mark(status === "ok" ? "done" : "failed");
    this.markOlder();
    if (status !== "ok") this.say("broke");
    else if (!this.queue.length) this.say("ready");
    return status === "ok";
  }

  /* Mark the outputs that are older than a change above them. */
  markOlder() {
    let changedAt = 0;
    for (const cell of this.cells) {
      if (cell.ranAt) cell.setOlder(changedAt > cell.ranAt);
      changedAt = Math.max(changedAt, cell.changedAt);
    }
  }

  /* Stop what runs. Python cannot be interrupted: its worker is terminated, and the next one has no variables. */
  stop() {
    this.turn++;
    this.pumping = false;
    this.queue = [];
    for (const cell of this.cells) cell.forget();
    this.kernel?.stop();
    if (this.phase === "running") this.say("stopped");
    else this.close();
  }

  /* Restart Python and show the book's outputs; the reader's code stays. */
  anew() {
    this.stop();
    for (const cell of this.cells) cell.withdraw();
    this.say("fresh");
  }
}

window.unrolledRunning = (rows, script) => new Page(rows, script);
