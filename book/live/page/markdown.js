/* Turn the Markdown of outputs into nodes: paragraphs, lists, tables, code. Anything else is shown as it is written. */

import { coloured, element } from "./code.js";

const INLINE = /(`+)(.+?)\1(?!`)|\*\*(.+?)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^)\s]+)\)|\\([^\w\s])| {2,}\n/g;

/* Return nodes for Markdown within a line. */
export const inline = (text) => {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, , code, strong, em, link, target, escaped] = match;
    nodes.push(text.slice(end, match.index));
    end = match.index + whole.length;
    if (code) nodes.push(element("code", {}, code));
    else if (strong) nodes.push(element("strong", {}, ...inline(strong)));
    else if (em) nodes.push(element("em", {}, ...inline(em)));
    else if (link)
      nodes.push(/^(https?:|#|[\w.-]+\.html)/.test(target) ? element("a", { href: target }, ...inline(link)) : whole);
    else nodes.push(escaped ?? element("br"));
  }
  return [...nodes, text.slice(end)];
};

const cells = (line) =>
  line
    .trim()
    .replace(/^\||\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));

const table = ([head, rule, ...rows]) => {
  const sides = cells(rule).map((dashes) =>
    /^:?-+:$/.test(dashes) ? (dashes[0] === ":" ? "text-center" : "text-right") : "text-left",
  );
  const row = (line, name) =>
    element("tr", {}, ...cells(line).map((cell, k) => element(name, { className: sides[k] ?? "" }, ...inline(cell))));
  const body = element("tbody", {}, ...rows.map((line) => row(line, "td")));
  return element("div", { className: "table" }, element("table", {}, element("thead", {}, row(head, "th")), body));
};

const list = (lines) => {
  const items = [];
  for (const line of lines) {
    const item = /^(?:[-*+]|\d+[.)])\s+(.*)/.exec(line);
    if (item) items.push(item[1]);
    else items[items.length - 1] += `\n${line.trim()}`;
  }
  return element(/^\d/.test(lines[0]) ? "ol" : "ul", {}, ...items.map((item) => element("li", {}, ...inline(item))));
};

/* Return nodes for a text. */
export const markdown = (text) => {
  const nodes = [],
    lines = text.replaceAll("\r\n", "\n").split("\n");
  const take = (good) => {
    const taken = [];
    while (lines.length && good(lines[0], taken.length)) taken.push(lines.shift());
    return taken;
  };
  while (lines.length) {
    const [line, next = ""] = lines;
    if (!line.trim()) lines.shift();
    else if (line.startsWith("```")) {
      const [mark] = /^`+/.exec(lines.shift());
      const code = take((line) => !line.startsWith(mark)).join("\n");
      lines.shift();
      const shown = /python|^`+\s*py\b/.test(line) ? coloured(code) : [code];
      nodes.push(
        element(
          "div",
          { className: "highlight-python notranslate" },
          element("div", { className: "highlight" }, element("pre", {}, ...shown)),
        ),
      );
    } else if (line.includes("|") && /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/.test(next) && next.includes("-"))
      nodes.push(table(take((row) => row.includes("|"))));
    else if (/^(?:[-*+]|\d+[.)])\s/.test(line))
      nodes.push(list(take((item, k) => k === 0 || /^(?:[-*+]|\d+[.)]|\s)\s*\S/.test(item))));
    else if (/^#{1,6}\s/.test(line))
      nodes.push(element("p", {}, element("strong", {}, ...inline(lines.shift().replace(/^#+\s+/, "")))));
    else if (line.startsWith(">"))
      nodes.push(
        element(
          "blockquote",
          {},
          ...markdown(
            take((quoted) => quoted.startsWith(">"))
              .map((quoted) => quoted.replace(/^> ?/, ""))
              .join("\n"),
          ),
        ),
      );
    else
      nodes.push(
        element(
          "p",
          {},
          ...inline(
            take((text, k) => text.trim() && (k === 0 || !/^(?:```|[-*+]\s|>|#{1,6}\s)/.test(text))).join("\n"),
          ),
        ),
      );
  }
  return nodes;
};
