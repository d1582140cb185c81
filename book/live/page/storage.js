/* Stores the reader's code in the browser, and takes over what another tab with the same page stores. */

import { element } from "./code.js";

export class Storage {
  constructor(words) {
    this.words = words;
    this.key = `code:${location.pathname}`;
    this.cells = [];
    this.notices = new Map();
  }

  /* Restore the code of an earlier visit, and store changes from now on. */
  restore(cells) {
    this.cells = cells;
    this.update();
    addEventListener("pagehide", () => this.store());
    addEventListener("pageshow", ({ persisted }) => persisted && this.update());
    addEventListener("storage", ({ key }) => (key === this.key || key === null) && this.update());
  }

  read() {
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
    const changed = this.cells.filter((cell) => cell.unsaved);
    if (!changed.length) return;
    const stored = this.read(); // read again, because another tab may have written
    for (const cell of changed) {
      cell.unsaved = false;
      cell.kept = cell.text; // what this tab has stored
      if (cell.changed) stored[cell.id] = cell.text;
      else delete stored[cell.id];
    }
    try {
      if (Object.keys(stored).length) localStorage.setItem(this.key, JSON.stringify(stored));
      else localStorage.removeItem(this.key);
    } catch {
      this.warn(changed[0]);
    }
  }

  /* Show the stored code in all cells that this tab has not changed, and ask about the others. */
  update() {
    const stored = this.read();
    for (const cell of this.cells) {
      const text = stored[cell.id] ?? cell.source;
      if (text === cell.text) this.notify(cell);
      else if (cell.unsaved || cell.kept !== undefined) this.askWhich(cell, text);
      else this.take(cell, text);
    }
  }

  take(cell, text) {
    cell.write(text);
    cell.unsaved = false;
    cell.kept = undefined;
    cell.editor?.setText(text);
    cell.show();
  }

  askWhich(cell, text) {
    this.notify(cell, "two_tabs", {
      take_other: () => this.take(cell, text),
      keep_mine: () => {
        cell.unsaved = true;
        this.store();
      },
    });
  }

  /* Say once that the browser stores nothing. */
  warn(cell) {
    if (!this.warned) this.notify(cell, "unstored", { close: () => {} });
    this.warned = true;
  }

  /* Show a sentence and buttons below a cell's code, in place of an earlier one; without a sentence, remove that. */
  notify(cell, sentence, actions = {}) {
    this.notices.get(cell)?.remove();
    if (!sentence) return;
    const notice = element("p", { className: "run-notice" }, element("span", { textContent: this.words[sentence] }));
    notice.setAttribute("role", "status");
    for (const [name, action] of Object.entries(actions)) {
      const button = element("button", { type: "button", textContent: this.words[name] });
      button.addEventListener("click", () => {
        this.notify(cell);
        action();
        cell.button.focus();
      });
      notice.append(button);
    }
    this.notices.set(cell, notice);
    cell.input.append(notice);
  }
}
