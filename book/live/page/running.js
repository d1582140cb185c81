/* The controller of a page with cells: it asks before it loads Python, and runs cells with those above that they need.
 * run.js calls it once. */

import { Bar } from "./bar.js";
import { Cell } from "./cell.js";
import { element } from "./code.js";
import { changeFigure, showFigure } from "./figure.js";
import { fetchJSON, Loading, Problem } from "./loading.js";
import { inline } from "./markdown.js";
import { saveNotebook } from "./notebook.js";
import { OwnSeries } from "./own_series.js";
import { Storage } from "./storage.js";

// the build inserts their values
const WORDS = "WORDS",
  STYLE = "STYLE",
  NOTICE = "NOTICE"; // which torch computes

class Page {
  constructor(rows, script) {
    this.words = WORDS;
    this.notice = document.querySelector(".hand-in") ? NOTICE.replace("`compare`", "`check`") : NOTICE;
    this.rows = rows;
    this.cells = [];
    this.phase = "new"; // asking, starting, running, failed: loading.js sets it
    this.script = script;
    this.storage = new Storage(this.words);
    this.loading = new Loading(
      this,
      new URL(`${document.documentElement.dataset.content_root}../live/`, location.href),
    );
    this.queue = [];
    this.needs = new Set(); // cells that run because the pressed one needs them
    this.clock = 0; // the number of runs
    this.turn = 0; // the number of stops of Python: outputs of earlier runs are ignored
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
    if (location.protocol !== "file:") await this.readCells(new URL(`cells/${name}.json`, this.script));
    document.head.append(element("style", { textContent: STYLE }));
    this.storage.restore(this.cells);
    addEventListener("mode", () => this.recolour());
  }

  /* Make the cells. If their data do not fit what the page shows, the page and the site are of different versions. */
  async readCells(url) {
    const rows = this.rows.map(({ id, input }) => [id, input.querySelector("pre").textContent.trimEnd()]);
    for (const cache of ["no-cache", "reload"]) {
      const data = await fetchJSON(url, cache);
      this.outdated = `${data.map(({ id, source }) => [id, source.trimEnd()])}` !== `${rows}`;
      if (this.outdated) continue;
      this.cells = data.map((cell, k) => new Cell(this.rows[k], cell, this));
      return;
    }
  }

  /* Save the notebook of an assignment with the reader's answers as a file. */
  handIn(button) {
    this.storage.store();
    if (this.refused()) return;
    return saveNotebook(new URL(button.dataset.notebook, location.href), this.cells);
  }

  /* Compare forecasts for the reader's file. input: the element by which it was chosen. */
  takeFile(input) {
    this.own ??= new OwnSeries(input, this);
    return this.own.take(input.files[0]);
  }

  // --- loading

  /* Show words in the bar, with values filled in, and buttons for these actions. */
  say(name, values = {}, ...actions) {
    const text = Object.entries(values).reduce(
      (text, [key, value]) => text.replaceAll(`{${key}}`, value),
      this.words[name],
    );
    this.bar ??= new Bar(this.words, this.actions);
    const usual = ["run_all", ...(this.loading.agreed ? ["anew"] : []), "close"];
    this.bar.say(text, ...(actions.length ? actions : usual));
  }

  actions = {
    load: () => this.agree(),
    again: () => this.loading.ask(),
    reload: () => this.reload(),
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
    this.own?.forget();
    this.bar?.close();
    this.bar = null;
    this.pressed?.button.focus();
    if (this.phase === "asking" || this.phase === "failed") this.phase = "new";
  }

  /* Say why no cell of this page can run, if that is so; return whether it is. */
  refused() {
    if (location.protocol === "file:") this.ask("file", {}, "close");
    else if (this.outdated) this.ask("outdated", {}, "reload", "close");
    else return false;
    return true;
  }

  /* Fetch the page past all caches, then show it. */
  async reload() {
    await fetch(location.href, { cache: "reload" }).catch(() => {});
    location.reload();
  }

  /* Ask a question in the bar and move the focus to the answers. */
  ask(...question) {
    this.say(...question);
    this.bar.focus();
  }

  agree() {
    this.pressed?.button.focus();
    this.loading.begin();
  }

  /* Run the waiting cells on a Python that has started. */
  start(kernel) {
    this.kernel = kernel;
    this.phase = "running";
    this.enableEditing();
    if (this.queue.length) this.pump();
    else if (this.bar && !this.loading.quiet) this.say("ready");
  }

  /* Make all cells editable, and say on the page which torch computes. */
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

  async editors() {
    const { createEditor } = await this.loading.loader.importScript("editor.js");
    if (this.withoutEditor) this.say("ready");
    this.withoutEditor = false;
    return createEditor;
  }

  /* Say why there is no editor. */
  async sayNoEditor(error) {
    const { reason } = await this.loading.loader.explain(error, ["editor.js"]);
    this.say("no_editor", { why: this.words[reason] ?? "" });
    this.withoutEditor = true;
  }

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
    if (this.refused()) return;
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
    const needed = this.needed(cell);
    this.needs = new Set(needed);
    this.enqueue([...needed, cell]);
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
    if (this.phase === "new" || this.phase === "failed") return this.loading.ask();
    if (this.phase === "asking") return this.bar?.focus();
    if (this.phase === "starting") this.loading.show();
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
      const usual = cell.kind === "slow" ? "runs_slow" : this.needs.has(cell) ? "runs_first" : "runs";
      this.say(cell.says ?? usual, { k, all: k + this.queue.length }, "stop");
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
      cell.prepare?.(this.kernel);
      ({ status } = await this.kernel.run(text, { cell: cell.id, onOutput }));
    } catch (error) {
      if (turn === this.turn) this.loading.fail(new Problem("crashed", error.message));
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
    if (status !== "ok") this.say(this.queue.length ? "broke" : "broke_last");
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

  /* Terminate Python or give up its start, and drop the cells that wait. */
  end() {
    this.turn++;
    this.pumping = false;
    this.queue = [];
    this.kernel = null;
    this.loading.stop();
    for (const cell of this.cells) cell.forget();
    this.own?.forget();
    this.phase = "new";
  }

  /* Stop. Python cannot be interrupted: its worker is terminated, and the next one has no variables. */
  stop() {
    const ran = this.phase === "running";
    this.end();
    if (!ran) return this.close();
    this.say("stopped");
    this.loading.begin(true);
  }

  /* Restart Python and show the book's outputs; the reader's code stays. */
  anew() {
    this.end();
    for (const cell of this.cells) cell.withdraw();
    this.say("fresh");
    this.loading.begin(true);
  }
}

window.unrolledRunning = (rows, script) => new Page(rows, script);
