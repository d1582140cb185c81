/* A code cell of the page: its code, which the reader may change, and its output, which may become the reader's. */

import { coloured, element } from "./code.js";
import { Outputs } from "./outputs.js";

export class Cell {
  /* row: what run.js found and made. told: id, source, alt, solution and why (nothing, "slow", …) of the cell. */
  constructor(row, told, page) {
    Object.assign(this, row, told, { page, text: told.source, state: "new" });
    this.code = this.input.querySelector("[class*='highlight-']");
    this.stored = this.cell.querySelector(".cell_output");
    this.editor = null;
    this.forget();
    this.dress();
  }

  /* Python has begun anew: nothing has run. */
  forget() {
    this.ranText = null;
    this.ranAt = this.changedAt = 0;
    if (this.state !== "new") this.mark("new");
  }

  get changed() {
    return this.text !== this.source;
  }

  get visible() {
    return this.cell.checkVisibility() && this.input.checkVisibility();
  }

  /* The buttons beside the first one, and what is said under an output. */
  dress() {
    const { words } = this.page;
    const button = (name, action) => {
      const made = element("button", { type: "button", hidden: true, textContent: words[name] });
      made.addEventListener("click", action);
      this.row.append(made);
      return made;
    };
    this.label = this.button.lastChild;
    this.sign = element("span", { className: "run-sign" });
    this.sign.setAttribute("aria-hidden", "true");
    this.button.append(this.sign);
    this.editing = button("edit", () => (this.editor ? this.leave() : this.edit()));
    this.restoring = button("restore", () => this.restore());
    this.more = button("more", () => this.page.menu(this));
    this.more.setAttribute("aria-haspopup", "menu");
    this.more.setAttribute("aria-label", words.more_label);
    this.cell.addEventListener("keydown", (event) => this.key(event));
    this.code.addEventListener("click", () => {
      if (this.page.started && getSelection().isCollapsed && !this.editor) this.edit();
    });
  }

  /* The buttons that only a page on which Python runs has. */
  start() {
    this.editing.hidden = this.more.hidden = false;
  }

  /* Shift+Enter runs and goes on, Ctrl+Enter runs; an editor sees to its own keys. */
  key(event) {
    if (event.key !== "Enter" || event.defaultPrevented || !(event.shiftKey || event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (event.shiftKey) this.page.runNext(this);
    else this.page.press(this.id);
  }

  async edit() {
    if (!this.editor) {
      const createEditor = await this.page.editors();
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
      this.editing.textContent = this.page.words.leave;
    }
    this.editor.focus();
  }

  /* Take the editor away, and show the code as the page shows code. */
  leave() {
    if (!this.editor) return;
    this.write(this.editor.text());
    this.editor.destroy();
    this.editor.parent.remove();
    this.editor = null;
    this.code.hidden = false;
    this.editing.textContent = this.page.words.edit;
    this.show();
  }

  /* The code is this now. */
  write(text) {
    if (text === this.text) return;
    this.text = text;
    this.unkept = true;
    this.restoring.hidden = !this.changed;
    this.input.classList.toggle("run-changed", this.changed);
    this.page.keep();
  }

  /* Show the code where the book's was. */
  show() {
    const pre = this.code.querySelector("pre");
    this.book ??= [...pre.childNodes];
    pre.replaceChildren(...(this.changed ? coloured(this.text) : this.book));
  }

  restore() {
    const focused = this.cell.contains(document.activeElement);
    this.leave();
    this.write(this.source);
    this.show();
    if (focused) this.button.focus();
    this.page.say("restored");
  }

  /* state: new, waiting, running, done, failed. */
  mark(state) {
    const { words } = this.page;
    this.state = state;
    this.cell.dataset.run = state;
    const busy = state === "running";
    this.label.textContent = busy ? words.stop : words[this.kind ?? "run"];
    this.sign.textContent = { waiting: "…", done: "✓", failed: "✗" }[state] ?? "";
    const said = { waiting: words.waits, done: words.ran, failed: words.failed }[state];
    if (said) this.button.setAttribute("aria-label", `${this.label.textContent} (${said})`);
    else this.button.removeAttribute("aria-label");
    this.cell.setAttribute("aria-busy", busy);
  }

  /* Where this run's outputs go. What stands there stays until the first of them comes, so that the page does not jump. */
  receive() {
    const place = element("div", { className: "cell_output run-output" });
    const outputs = new Outputs(place, {
      alt: this.changed ? this.page.words.drawn : this.alt,
      words: this.page.words,
      figure: this.page.figure,
    });
    const last = this.yours;
    let there = false;
    const arrive = () => {
      if (there) return;
      there = true;
      if (last) last.replaceWith(place);
      else (this.stored ?? this.input).after(place);
      this.yours = place;
      this.showYours(true);
    };
    return {
      add: (output) => {
        outputs.add(output);
        if (!outputs.empty) arrive();
      },
      end: () => {
        if (outputs.empty && (this.stored || last)) arrive(); // it gives nothing now
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
      this.input.parentElement.append(this.under); // in the gap below: nothing moves
    }
  }

  /* Say whether a cell above has changed since this one ran. */
  age(older) {
    if (this.older === older) return;
    this.older = older;
    if (this.under && !this.yours.hidden) this.showYours(true);
  }

  /* The book's output again. */
  withdraw() {
    this.yours?.remove();
    this.under?.remove();
    this.yours = this.under = null;
    if (this.stored) this.stored.hidden = false;
  }
}
