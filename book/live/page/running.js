/* What a page with running cells does: it loads Python when it may, runs cells in their order as far as needed, and keeps
 * what the reader writes. run.js calls it once. */

import { Bar } from "./bar.js";
import { Cell } from "./cell.js";
import { element } from "./code.js";
import { changeFigure, shownFigure } from "./figure.js";
import { inline } from "./markdown.js";
import { saveNotebook } from "./notebook.js";

// the build puts them in
const WORDS = "WORDS",
  STYLE = "STYLE",
  TESTS = "TESTS";

const megabytes = (bytes) => Math.max(1, Math.round(bytes / 1e6));

class Page {
  constructor(rows, script) {
    this.words = WORDS;
    this.honest = WORDS.honest.replace("{tests}", TESTS);
    if (document.querySelector(".hand-in")) this.honest = this.honest.replace("`compare`", "`check`");
    this.rows = rows;
    this.cells = [];
    this.phase = "new"; // asking, starting, running, failed
    this.key = `code:${location.pathname}`;
    this.script = script;
    this.base = new URL(`${document.documentElement.dataset.content_root}../live/`, location.href);
    this.queue = [];
    this.clock = 0; // counts the cells that have run
    this.turn = 0; // counts the beginnings and ends of Python: what a former one says is not heard
    document.head.append(element("style", { textContent: STYLE }));
    this.figure = (place, data) => shownFigure(place, data, this);
    this.told = this.prepare().then(() => this);
  }

  /* Read what the cells hold, and put there what the reader wrote at an earlier visit. */
  async prepare() {
    const name =
      location.pathname
        .split("/")
        .pop()
        .replace(/\.html$/, "") || "index";
    this.notebook = `_sources/${name}.ipynb`;
    const told = location.protocol === "file:" ? [] : await this.fetched(new URL(`cells/${name}.json`, this.script));
    const rows = new Map(this.rows.map((row) => [row.id, row]));
    this.cells = told.filter(({ id }) => rows.has(id)).map((one) => new Cell(rows.get(one.id), one, this));
    const kept = this.kept();
    for (const cell of this.cells) {
      if (!(cell.id in kept)) continue;
      cell.write(kept[cell.id]);
      cell.show();
    }
    addEventListener("pagehide", () => this.keepNow());
    addEventListener("mode", () => this.recolour());
  }

  /* The address of a script of what runs cells. */
  part(name) {
    return new URL(this.manifest.folder + name, this.base);
  }

  async fetched(url) {
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(`${url.pathname}: ${answer.status}`);
    return answer.json();
  }

  // --- what the reader writes

  kept() {
    try {
      return JSON.parse(localStorage.getItem(this.key)) ?? {};
    } catch {
      return {}; // private, or not ours
    }
  }

  keep() {
    clearTimeout(this.keeping);
    this.keeping = setTimeout(() => this.keepNow(), 300);
  }

  keepNow() {
    clearTimeout(this.keeping);
    const kept = this.kept(); // with what the reader has written meanwhile in another window
    for (const cell of this.cells.filter((one) => one.unkept)) {
      cell.unkept = false;
      if (cell.changed) kept[cell.id] = cell.text;
      else delete kept[cell.id];
    }
    try {
      if (Object.keys(kept).length) localStorage.setItem(this.key, JSON.stringify(kept));
      else localStorage.removeItem(this.key);
    } catch {} // then only this page has it
  }

  /* The notebook of an assignment with the reader's answers, as a file. */
  handIn(button) {
    this.keepNow();
    if (location.protocol === "file:") return this.offer("file", {}, "close");
    return saveNotebook(new URL(button.dataset.notebook, location.href), this.cells);
  }

  // --- loading

  /* What the bar says, in the page's language, and the buttons that it has. */
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
    again: () => (this.manifest ? this.begin() : this.ask()),
    not_now: () => this.close(),
    close: () => this.close(),
    stop: () => this.stop(),
    anyway: () => this.run(this.asker),
    run_all: () => this.enqueue(this.cells.filter((cell) => cell.kind !== "elsewhere")),
    anew: () => this.anew(),
  };

  /* The bar goes, and with it what waits for an answer. */
  close() {
    this.queue = [];
    this.bar?.close();
    this.bar = null;
    this.asker?.button.focus();
    if (this.phase !== "running") this.phase = "new";
  }

  /* Ask, once a site, whether to load so much. */
  async ask() {
    this.phase = "asking";
    if (location.protocol === "file:") return this.offer("file", {}, "close");
    try {
      this.manifest = await this.fetched(new URL("manifest.json", this.base));
    } catch (error) {
      return this.fail(error);
    }
    let loaded = null;
    try {
      loaded = localStorage.getItem("live");
    } catch {}
    if (loaded === this.manifest.version) this.begin();
    else this.offer("ask", { size: megabytes(this.manifest.size), honest: this.honest }, "load", "not_now");
  }

  /* Say it, and put the reader before the answers. */
  offer(...said) {
    this.say(...said);
    this.bar.focus();
  }

  agree() {
    this.asker?.button.focus();
    this.begin();
  }

  /* Start Python. */
  async begin() {
    const turn = ++this.turn;
    this.phase = "starting";
    for (const cell of this.queue) cell.mark("waiting");
    this.say("starting", {}, "stop");
    try {
      const { start } = await import(this.part("kernel.js"));
      this.kernel ??= start({
        base: this.base.href,
        onProgress: (...far) => this.phase === "starting" && this.progress(...far),
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
    this.welcome();
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
    this.offer("unloadable", { what: error.message ?? error }, "again", "close");
  }

  /* Python runs: every cell can be changed, and the page says what it is that runs. */
  welcome() {
    if (this.started) return;
    this.started = true;
    for (const cell of this.cells) cell.start();
    this.cells[0]?.cell.previousElementSibling.before(
      element("p", { className: "run-honest" }, ...inline(this.honest)),
    );
  }

  /* What else can be done with a cell: a menu at its last button. */
  menu(cell) {
    const { cells } = this,
      place = cells.indexOf(cell);
    const here = cells.filter((one) => one.kind !== "elsewhere" || one === cell);
    const actions = {
      run_above: () => this.enqueue(here.filter((one) => cells.indexOf(one) < place)),
      run_below: () => this.enqueue([...this.needed(cell), ...here.filter((one) => cells.indexOf(one) >= place)]),
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
    const { createEditor } = await import(this.part("editor.js"));
    return createEditor;
  }

  recolour() {
    for (const cell of this.cells.filter((one) => one.editor)) {
      const focused = cell.cell.contains(document.activeElement);
      cell.leave();
      cell.edit().then(() => focused || document.activeElement.blur());
    }
  }

  // --- running

  /* A cell's button was pressed. */
  press(id) {
    const cell = this.cells.find((one) => one.id === id) ?? this.rows.find((one) => one.id === id);
    this.asker = cell;
    if (cell.state === "running") this.stop();
    else if (cell.kind === "elsewhere") this.offer(cell.why, { notebook: this.notebook }, "anyway", "close");
    else this.run(cell);
  }

  /* The cells above this one that have to run before it does, in their order: from the first on that has not run as it is. */
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

  /* Run it, and go on to the next. */
  runNext(cell) {
    this.press(cell.id);
    if (this.phase !== "running") return;
    const next = this.cells.slice(this.cells.indexOf(cell) + 1).find((one) => one.visible);
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
    if (this.phase === "new" || this.phase === "failed") return this.ask();
    if (this.phase === "asking") return this.bar?.focus();
    for (const cell of fresh) if (cell.state !== "running") cell.mark("waiting");
    this.pump();
  }

  /* Run what waits, one cell after another. */
  async pump() {
    if (this.pumping || this.phase !== "running") return;
    this.pumping = true;
    const turn = this.turn;
    for (let k = 1; this.queue.length; k++) {
      const cell = this.queue.shift();
      this.say(cell.kind === "slow" ? "runs_slow" : "runs", { k, all: k + this.queue.length }, "stop");
      const good = await this.runOne(cell, turn);
      if (turn !== this.turn) return; // stopped, or lost: what comes then has begun already
      if (!good) break;
    }
    this.pumping = false;
    if (this.queue.length) {
      for (const cell of this.queue) cell.mark(cell.ranText === null ? "new" : "done");
      this.queue = [];
    }
  }

  /* Run one cell; true if it came to its end without an error. */
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
    this.age();
    if (status !== "ok") this.say("broke");
    else if (!this.queue.length) this.say("ready");
    return status === "ok";
  }

  /* Say which outputs are older than a change above them. */
  age() {
    let changedAt = 0;
    for (const cell of this.cells) {
      if (cell.ranAt) cell.age(changedAt > cell.ranAt);
      changedAt = Math.max(changedAt, cell.changedAt);
    }
  }

  /* End what runs. Python cannot be asked to: its worker is ended, and the next one knows nothing. */
  stop() {
    this.turn++;
    this.pumping = false;
    this.queue = [];
    for (const cell of this.cells) cell.forget();
    this.kernel?.stop();
    if (this.phase === "running") this.say("stopped");
    else this.close();
  }

  /* Python and outputs as at the beginning; what the reader wrote stays. */
  anew() {
    this.stop();
    for (const cell of this.cells) cell.withdraw();
    this.say("fresh");
  }
}

window.unrolledRunning = (rows, script) => new Page(rows, script);
