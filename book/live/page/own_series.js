/* The reader's own series: takes a file, lets Python compare forecasts for it, and shows what wins. */

import { element } from "./code.js";
import { markdown } from "./markdown.js";
import { saveFile } from "./notebook.js";
import { Outputs } from "./outputs.js";
import { picture } from "./picture.js";

const MIME = "application/vnd.unrolled.series+json", // of the messages of companion/learning/own_series/page.py
  MAX_BYTES = 20e6;
const COLUMNS = { value: "series_value", time: "series_time", machine: "series_machine" }; // what a column is for → word

/* The page runs it as it runs a cell: it has code, a state, and a receiver of outputs. */
export class OwnSeries {
  /* input: the element by which the reader chooses a file. */
  constructor(input, page) {
    Object.assign(this, { page, id: "own-series", says: "series_runs", state: "new", ranText: null, button: input });
    this.place = input.parentElement;
    this.status = this.place.querySelector("[role=status]");
    const { words } = page;
    this.stop = element("button", { type: "button", hidden: true, textContent: words.stop });
    this.stop.addEventListener("click", () => page.stop());
    this.choices = element("div", { className: "own-choices", hidden: true });
    this.answer = element("div", { className: "own-answer" });
    this.read = element("div", { className: "own-read" });
    this.place.append(this.stop, this.choices, this.answer, this.read);
    input.addEventListener("click", () => (input.value = "")); // so that the same file can be chosen again
  }

  /* Take a file and compare forecasts for it. */
  async take(file) {
    if (!file) return;
    const { words } = this.page;
    this.end();
    this.choices.hidden = true;
    this.file = null;
    this.shown = {}; // what Python has said of the columns
    if (file.size > MAX_BYTES) return this.say(words.series_large);
    try {
      this.file = { name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) };
    } catch {
      return this.say(words.series_unread);
    }
    this.chosen = {};
    this.compare();
  }

  /* Stop the comparison that runs, and remove what it has shown. */
  end() {
    if (this.state === "running") this.page.stop();
    this.clear();
  }

  /* Let Python compare forecasts, with the columns that the reader has chosen. */
  compare() {
    const { page, file, chosen } = this;
    if (page.refused()) return;
    this.end();
    const columns = Object.entries(chosen).map(([name, column]) => `, ${name}=${JSON.stringify(column)}`);
    this.text = `from companion.learning.own_series.page import show\nshow(${JSON.stringify(file.name)}${columns.join("")})`;
    page.pressed = this;
    const asks = page.phase === "new" || page.phase === "failed";
    page.enqueue([this]);
    if (asks) this.say(page.words.series_asks);
  }

  /* Give Python the file; it forgets its files when it starts anew. */
  prepare(kernel) {
    kernel.write(this.file.name, this.file.bytes);
  }

  say(text, problem = false) {
    this.status.textContent = text;
    this.status.classList.toggle("own-problem", problem);
  }

  clear() {
    this.answer.replaceChildren();
    this.read.replaceChildren();
  }

  /* Set the state: new, waiting, running, done or failed. */
  mark(state) {
    const { words } = this.page;
    this.state = state;
    this.place.dataset.run = state;
    this.place.setAttribute("aria-busy", state === "running");
    this.stop.hidden = state !== "waiting" && state !== "running";
    if (state === "done" && this.problem) return;
    const said = { waiting: words.series_waits, running: words.series_runs, done: words.series_done };
    this.say(said[state] ?? (state === "failed" ? words.failed : ""), state === "failed");
  }

  /* Forget that it waits or runs: Python ends, or the reader does not want it. */
  forget() {
    if (this.state === "done" || this.state === "failed") return;
    this.mark("new");
    if (this.file) this.say(this.page.words.series_stopped);
  }

  /* Return the receiver of a run's outputs. */
  receive() {
    const { words } = this.page,
      place = element("div");
    this.problem = null;
    this.clear();
    this.answer.append(place);
    const outputs = new Outputs(place, { alt: words.series_picture, words });
    return {
      add: (output) => (output.data?.[MIME] ? this.show(output.data[MIME]) : outputs.add(output)),
      end() {},
    };
  }

  /* Show what Python says about the file. */
  show(message) {
    const { words } = this.page;
    if (message.columns) this.showChoices(message);
    if (message.said) this.read.replaceChildren(...markdown(message.said));
    if (message.progress) this.say(message.progress);
    if (message.problem) this.say((this.problem = message.problem), true);
    if (!message.table) return;
    const save = element("button", { type: "button", textContent: words.series_notebook });
    save.addEventListener("click", () => saveFile(message.notebook, message.name));
    this.answer.append(...markdown(message.table), picture(message.picture, words.series_picture), save);
  }

  /* Show the columns of the file, for the reader to choose others. A file without columns has no choices.
   * If there was a problem, the columns that were read before stay. */
  showChoices({ columns, problem, ...columnsRead }) {
    if (!problem) this.shown = columnsRead;
    const { words } = this.page,
      present = { ...this.shown, ...this.chosen },
      focused = this.choices.contains(document.activeElement) && document.activeElement.name;
    this.choices.hidden = columns.length === 0;
    this.choices.replaceChildren(
      ...Object.entries(COLUMNS).map(([name, word]) => {
        const select = element("select", { name });
        if (name !== "value") select.append(new Option(words.series_none, ""));
        select.append(...columns.map((column) => new Option(column, column)));
        select.value = present[name] ?? "";
        select.addEventListener("change", () => this.choose(name, select.value, present.value));
        return element("label", {}, element("span", { textContent: words[word] }), select);
      }),
    );
    if (focused) this.choices.querySelector(`[name=${focused}]`).focus();
  }

  /* Read a column for another purpose. The values stay those that are shown, unless their column is the one chosen. */
  choose(name, column, value) {
    this.chosen = { value, ...this.chosen, [name]: column };
    for (const other of Object.keys(COLUMNS))
      if (other !== name && this.chosen[other] === column && column) delete this.chosen[other];
    if (!this.chosen.value) delete this.chosen.value;
    this.compare();
  }
}
