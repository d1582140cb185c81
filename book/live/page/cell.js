/* A code cell of the page: its code, which the reader may change, and its output, the book's or the reader's. */

import { coloured, element } from "./code.js";
import { disconnectFigures } from "./figure.js";
import { Outputs } from "./outputs.js";

export class Cell {
  /* row: elements of the cell, from run.js. data: id, source, alt, why and checks, from page_scripts.py. */
  constructor(row, data, page) {
    Object.assign(this, row, data, { page, text: data.source, state: "new" });
    this.code = this.input.querySelector("[class*='highlight-']");
    this.stored = this.cell.querySelector(".cell_output");
    this.editor = null;
    this.forget();
    this.addButtons();
  }

  /* Forget that the cell ran: Python starts again. */
  forget() {
    this.ranText = null;
    this.ranAt = this.changedAt = 0;
    disconnectFigures(this.cell, this.page.words);
    if (this.state !== "new") this.mark("new");
  }

  get changed() {
    return this.text !== this.source;
  }

  get visible() {
    return this.cell.checkVisibility() && this.input.checkVisibility();
  }

  /* Add the buttons beside the first one, hidden until Python runs. */
  addButtons() {
    const { words } = this.page;
    const button = (name, action) => {
      const node = element("button", { type: "button", hidden: true, textContent: words[name] });
      node.addEventListener("click", action);
      this.row.append(node);
      return node;
    };
    this.label = this.button.lastChild;
    this.sign = element("span", { className: "run-sign" });
    this.sign.setAttribute("aria-hidden", "true");
    this.button.append(this.sign);
    this.editButton = button("edit", () => (this.editor ? this.leave() : this.edit()));
    this.restoreButton = button("restore", () => this.restore());
    this.more = button("more", () => this.page.menu(this));
    this.more.setAttribute("aria-haspopup", "menu");
    this.more.setAttribute("aria-label", words.more_label);
    this.cell.addEventListener("keydown", (event) => this.key(event));
    this.code.addEventListener("click", ({ target }) => {
      const other = target.closest("button, a") || !getSelection().isCollapsed; // copies, leads away, or selects
      if (this.page.started && !other && !this.editor) this.edit();
    });
  }

  /* Show the buttons that need a running Python. */
  start() {
    this.editButton.hidden = this.more.hidden = false;
  }

  /* Run on Ctrl+Enter; run and go to the next cell on Shift+Enter. An editor handles these keys itself. */
  key(event) {
    if (event.key !== "Enter" || event.defaultPrevented || !(event.shiftKey || event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (event.shiftKey) this.page.runNext(this);
    else this.page.press(this.id);
  }

  async edit() {
    if (!this.editor) {
      const createEditor = await this.page.editors().catch((error) => this.page.sayNoEditor(error));
      if (!createEditor || this.editor) return this.editor?.focus();
      const parent = element("div", { className: "run-editor highlight" });
      this.code.after(parent);
      this.code.hidden = true;
      this.editor = createEditor({
        parent,
        doc: this.text,
        label: this.page.words.editor,
        dark: document.documentElement.dataset.theme === "dark",
        onChange: () => this.write(this.editor?.text() ?? this.text),
        onRun: () => this.page.press(this.id),
        onRunNext: () => this.page.runNext(this),
        onLeave: () => this.button.focus(),
      });
      this.editor.parent = parent;
      this.write(this.editor.text()); // it indents by spaces only
      this.editButton.textContent = this.page.words.leave;
    }
    this.editor.focus();
  }

  /* Close the editor and show the code as the page shows code. */
  leave() {
    if (!this.editor) return;
    this.write(this.editor.text());
    this.editor.destroy();
    this.editor.parent.remove();
    this.editor = null;
    this.code.hidden = false;
    this.editButton.textContent = this.page.words.edit;
    this.show();
  }

  /* Change the code. */
  write(text) {
    if (text === this.text) return;
    this.text = text;
    this.unsaved = true;
    this.restoreButton.hidden = !this.changed;
    this.input.classList.toggle("run-changed", this.changed);
    this.page.storage.storeSoon();
  }

  /* Show the changed code, or the book's. */
  show() {
    const pre = this.code.querySelector("pre");
    this.bookCode ??= [...pre.childNodes];
    pre.replaceChildren(...(this.changed ? coloured(this.text) : this.bookCode));
  }

  restore() {
    const focused = this.cell.contains(document.activeElement);
    this.leave();
    this.write(this.source);
    this.show();
    if (focused) this.button.focus();
    this.page.say("restored");
  }

  /* Set the state: new, waiting, running, done or failed. */
  mark(state) {
    const { words } = this.page;
    this.state = state;
    this.cell.dataset.run = state;
    const busy = state === "running";
    this.label.textContent = busy ? words.stop : words[this.kind ?? "run"];
    this.sign.textContent = { waiting: "…", done: "✓", failed: "✗" }[state] ?? "";
    const spoken = { waiting: words.waits, done: words.ran, failed: words.failed }[state];
    if (spoken) this.button.setAttribute("aria-label", `${this.label.textContent} (${spoken})`);
    else this.button.removeAttribute("aria-label");
    this.cell.setAttribute("aria-busy", busy);
  }

  /* Return the receiver of a run's outputs. The old output stays until the first new one, so that the page does not jump. */
  receive() {
    const place = element("div", { className: "cell_output run-output" });
    const outputs = new Outputs(place, {
      alt: this.changed ? this.page.words.drawn : this.alt,
      words: this.page.words,
      figure: this.page.figure,
    });
    const last = this.yours;
    let inserted = false;
    const insert = () => {
      if (inserted) return;
      inserted = true;
      if (last) last.replaceWith(place);
      else (this.stored ?? this.input).after(place);
      this.yours = place;
      this.showYours(true);
    };
    return {
      add: (output) => {
        outputs.add(output);
        if (!outputs.empty) insert();
      },
      end: () => {
        if (outputs.empty && (this.stored || last)) insert(); // this run has no output
      },
    };
  }

  /* Show the reader's output, or the book's. */
  showYours(yes) {
    const { words } = this.page;
    this.yours.hidden = !yes;
    if (this.stored) this.stored.hidden = yes;
    this.under?.remove();
    if (!yes || this.yours.childElementCount || this.stored) {
      const text = element("span", {
        textContent: words[yes ? (this.older ? "older" : "yours") : "books"],
        className: this.older ? "run-older" : "",
      });
      this.under = element("div", { className: "run-under" }, text);
      if (this.stored) {
        const button = element("button", { type: "button", textContent: words[yes ? "show_books" : "show_yours"] });
        button.addEventListener("click", () => {
          this.showYours(!yes);
          this.under.querySelector("button").focus();
        });
        this.under.append(button);
      }
      this.input.parentElement.append(this.under); // in the gap below, so that nothing moves
    }
  }

  /* Show whether a cell above has changed since this one ran. */
  setOlder(older) {
    if (this.older === older) return;
    this.older = older;
    if (this.under && !this.yours.hidden) this.showYours(true);
  }

  /* Show the book's output again and delete the reader's. */
  withdraw() {
    this.yours?.remove();
    this.under?.remove();
    this.yours = this.under = null;
    if (this.stored) this.stored.hidden = false;
  }
}
