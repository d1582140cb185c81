/* The outputs of a cell: show Jupyter's messages, one after another while the cell runs. */

import { element, terminal } from "./code.js";
import { markdown } from "./markdown.js";
import { picture } from "./picture.js";

const MAX_CHARACTERS = 100_000,
  MAX_LINES = 2_000,
  MAX_OUTPUTS = 200;
const RULE = /^(\x1b\[[\d;]*m)*-{9,}(\x1b\[[\d;]*m)*\n/; // IPython's line of dashes, too long for a phone
const FIGURE = "application/vnd.unrolled.figure+json";

/* Return an element of text like those of the stored outputs. */
const textOutput = (kind, nodes) =>
  element(
    "div",
    { className: `output ${kind} highlight-myst-ansi notranslate` },
    element("div", { className: "highlight" }, element("pre", {}, ...nodes)),
  );

const joinLines = (value) => (Array.isArray(value) ? value.join("") : `${value}`);

/* Return an element of HTML from the reader's code, without scripts and with styles limited to it. */
const htmlOutput = (source) => {
  const parsed = new DOMParser().parseFromString(source, "text/html");
  for (const node of parsed.querySelectorAll("script, link, meta, base, iframe, object, embed")) node.remove();
  for (const style of parsed.querySelectorAll("style")) style.textContent = `@scope { ${style.textContent} }`;
  const styles = [...parsed.head.querySelectorAll("style")];
  const shown = element("div", { className: "output text_html" }, ...styles, ...parsed.body.childNodes);
  for (const table of shown.querySelectorAll("table")) {
    const frame = element("div", { className: "table" });
    table.replaceWith(frame);
    frame.append(table);
  }
  return shown;
};

export class Outputs {
  /* place: an empty element. alt: description of pictures. words: of the interface. figure(place, data): shows a figure. */
  constructor(place, { alt, words, figure }) {
    Object.assign(this, { place, alt, words, figure });
    this.clear();
  }

  clear() {
    this.place.replaceChildren();
    this.named = new Map(); // display_id → output that can be replaced
    this.stream = null;
    this.count = this.characters = this.lines = this.omitted = 0;
    this.note = null;
    this.waiting = false;
  }

  get empty() {
    return this.place.childElementCount === 0;
  }

  add(output) {
    if (output.output_type === "clear_output") {
      this.waiting = true; // clear when the next output comes, so that the page does not jump
      return;
    }
    if (this.waiting) this.clear();
    const name = output.transient?.display_id;
    if (output.output_type === "update_display_data") return this.replace(name, output);
    if (output.output_type === "stream") return this.print(output.name, joinLines(output.text));
    this.stream = null;
    if (++this.count > MAX_OUTPUTS) return this.omit(1);
    const node =
      output.output_type === "error" ? this.error(output) : this.render(output.data ?? {}, output.metadata ?? {});
    if (name) this.named.set(name, node);
    this.place.append(node);
  }

  /* Replace the output with this display_id, for example a progress bar. */
  replace(name, { data = {}, metadata = {} }) {
    const last = this.named.get(name);
    if (!last) return;
    const node = this.render(data, metadata);
    last.replaceWith(node);
    this.named.set(name, node);
  }

  /* Append printed text. Beyond the limits lines are only counted, because a million of them would block the page. */
  print(name, text) {
    const count = text.split(/(?<=\n)/).length;
    if (this.omitted) return this.omit(count);
    const lines = text
      .slice(0, MAX_CHARACTERS - this.characters)
      .split(/(?<=\n)/)
      .slice(0, MAX_LINES - this.lines);
    const kept = lines.join("");
    this.characters += kept.length;
    this.lines += kept.split("\n").length - 1;
    if (this.stream?.name !== name) {
      const block = textOutput(`stream ${name}`, []);
      this.place.append(block);
      this.stream = { name, block, pre: block.querySelector("pre"), text: "", drawing: false };
    }
    const stream = this.stream;
    stream.text = (stream.text + kept).replace(/[^\n]*\r(?!\n)(?=.)/g, ""); // drop what a carriage return overwrites
    if (!stream.drawing) {
      stream.drawing = true;
      requestAnimationFrame(() => {
        stream.drawing = false;
        stream.pre.replaceChildren(...terminal(stream.text));
        stream.block.classList.toggle("no-columns", !stream.text.trimEnd().includes("\n"));
      });
    }
    if (kept.length < text.length) this.omit(Math.max(1, count - lines.length));
  }

  /* Count omitted lines or outputs, and say how many there are. */
  omit(count) {
    this.omitted += count;
    if (!this.note) this.place.append((this.note = element("p", { className: "run-cut" })));
    this.note.textContent = this.words.cut.replace(
      "{lines}",
      this.omitted.toLocaleString(document.documentElement.lang),
    );
  }

  render(data, metadata) {
    const text = (type) => (type in data ? joinLines(data[type]) : null);
    if (FIGURE in data) {
      const place = element("div");
      this.figure(place, data[FIGURE]).catch((error) =>
        place.replaceWith(textOutput("text_plain", [`${text("text/plain") ?? ""}\n${error.message}`])),
      );
      return place;
    }
    if ("text/html" in data) return htmlOutput(text("text/html"));
    const alt = metadata.alt ?? this.alt;
    const drawing = "image/svg+xml" in data && picture(text("image/svg+xml"), alt);
    if (drawing) return element("div", { className: "output image_svg" }, drawing);
    for (const type of ["image/png", "image/jpeg", "image/gif", "image/webp"])
      if (type in data)
        return element(
          "div",
          { className: "output image" },
          element("img", { src: `data:${type};base64,${text(type).trim()}`, alt }),
        );
    if ("text/markdown" in data)
      return element("div", { className: "output text_markdown" }, ...markdown(text("text/markdown")));
    const plain = text("text/plain") ?? text("application/json") ?? "";
    return textOutput(plain.includes("\n") ? "text_plain" : "text_plain no-columns", terminal(plain));
  }

  error({ ename, evalue, traceback = [] }) {
    const lines = (traceback.length ? traceback.join("\n") : `${ename}: ${evalue}`).replace(RULE, "");
    return textOutput("traceback error", terminal(lines));
  }
}
