/* What a cell gave, as the page shows it: messages as Jupyter's, one after another while the cell runs. */

import { element, terminal } from "./code.js";
import { markdown } from "./markdown.js";
import { picture } from "./picture.js";

const MOST_SIGNS = 100_000,
  MOST_LINES = 2_000,
  MOST_OUTPUTS = 200;
const RULE = /^(\x1b\[[\d;]*m)*-{9,}(\x1b\[[\d;]*m)*\n/; // IPython's, as long as a terminal is wide: a phone breaks it
const FIGURE = "application/vnd.unrolled.figure+json";

/* Text as the stored outputs have it. */
const printed = (kind, nodes) =>
  element(
    "div",
    { className: `output ${kind} highlight-myst-ansi notranslate` },
    element("div", { className: "highlight" }, element("pre", {}, ...nodes)),
  );

const joined = (value) => (Array.isArray(value) ? value.join("") : `${value}`);

/* HTML of the reader's own. Its styles hold within it, and it brings no scripts. */
const hypertext = (source) => {
  const parsed = new DOMParser().parseFromString(source, "text/html");
  for (const one of parsed.querySelectorAll("script, link, meta, base, iframe, object, embed")) one.remove();
  for (const one of parsed.querySelectorAll("style")) one.textContent = `@scope { ${one.textContent} }`;
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
  /* place: an empty element. alt: what a picture shows. words: of the page. figure(place, data): shows a figure that answers. */
  constructor(place, { alt, words, figure }) {
    Object.assign(this, { place, alt, words, figure });
    this.clear();
  }

  clear() {
    this.place.replaceChildren();
    this.named = new Map(); // what may be shown anew, by its name
    this.stream = null;
    this.count = this.signs = this.lines = this.left = 0;
    this.note = null;
    this.waiting = false;
  }

  get empty() {
    return this.place.childElementCount === 0;
  }

  add(output) {
    if (output.output_type === "clear_output") {
      this.waiting = true; // for what comes next: clearing at once would let the page jump
      return;
    }
    if (this.waiting) this.clear();
    const name = output.transient?.display_id;
    if (output.output_type === "update_display_data") return this.renew(name, output);
    if (output.output_type === "stream") return this.print(output.name, joined(output.text));
    this.stream = null;
    if (++this.count > MOST_OUTPUTS) return this.leave(1);
    const node =
      output.output_type === "error" ? this.error(output) : this.shown(output.data ?? {}, output.metadata ?? {});
    if (name) this.named.set(name, node);
    this.place.append(node);
  }

  /* Another output in the place of one with a name, as a bar that grows. */
  renew(name, { data = {}, metadata = {} }) {
    const last = this.named.get(name);
    if (!last) return;
    const node = this.shown(data, metadata);
    last.replaceWith(node);
    this.named.set(name, node);
  }

  /* What is printed goes on where it ended. A million lines would hold up any page: all but the first are counted only. */
  print(name, text) {
    const whole = text.split(/(?<=\n)/).length;
    if (this.left) return this.leave(whole);
    const lines = text
      .slice(0, MOST_SIGNS - this.signs)
      .split(/(?<=\n)/)
      .slice(0, MOST_LINES - this.lines);
    const kept = lines.join("");
    this.signs += kept.length;
    this.lines += kept.split("\n").length - 1;
    if (this.stream?.name !== name) {
      const block = printed(`stream ${name}`, []);
      this.place.append(block);
      this.stream = { name, block, pre: block.querySelector("pre"), text: "", drawing: false };
    }
    const stream = this.stream;
    stream.text = (stream.text + kept).replace(/[^\n]*\r(?!\n)(?=.)/g, ""); // a line that is written again
    if (!stream.drawing) {
      stream.drawing = true;
      requestAnimationFrame(() => {
        stream.drawing = false;
        stream.pre.replaceChildren(...terminal(stream.text));
        stream.block.classList.toggle("no-columns", !stream.text.trimEnd().includes("\n"));
      });
    }
    if (kept.length < text.length) this.leave(Math.max(1, whole - lines.length));
  }

  /* Say how much more there was. */
  leave(more) {
    this.left += more;
    if (!this.note) this.place.append((this.note = element("p", { className: "run-cut" })));
    this.note.textContent = this.words.cut.replace("{lines}", this.left.toLocaleString(document.documentElement.lang));
  }

  shown(data, metadata) {
    const text = (type) => (type in data ? joined(data[type]) : null);
    if (FIGURE in data) {
      const place = element("div");
      this.figure(place, data[FIGURE]).catch((error) =>
        place.replaceWith(printed("text_plain", [`${text("text/plain") ?? ""}\n${error.message}`])),
      );
      return place;
    }
    if ("text/html" in data) return hypertext(text("text/html"));
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
    return printed(plain.includes("\n") ? "text_plain" : "text_plain no-columns", terminal(plain));
  }

  error({ ename, evalue, traceback = [] }) {
    const lines = (traceback.length ? traceback.join("\n") : `${ename}: ${evalue}`).replace(RULE, "");
    return printed("traceback error", terminal(lines));
  }
}
