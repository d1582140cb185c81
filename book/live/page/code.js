/* Python in the colours of the book, and text in terminal colours, for code and outputs made after the build. */

const KEYWORDS = new Set(
  `and as assert async await break class continue def del elif else except finally for from global if import in is lambda
   nonlocal not or pass raise return try while with yield`.split(/\s+/),
);
const CLASSES = {
  True: "kc",
  False: "kc",
  None: "kc",
  in: "ow",
  is: "ow",
  and: "ow",
  or: "ow",
  not: "ow",
  from: "kn",
  import: "kn",
  self: "bp",
};
const BUILT_IN = new Set(
  `abs all any bool dict enumerate float int isinstance iter len list map max min next print range repr reversed round set
   sorted str sum super tuple type zip ValueError TypeError RuntimeError KeyError IndexError NotImplementedError`.split(
    /\s+/,
  ),
);
const STRING = /(?:\b[rbfu]{1,2})?(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)/;
const TOKEN = new RegExp(
  `(#.*)|(${STRING.source})|(\\b\\d[\\w.]*)|([\\p{L}_][\\p{L}\\d_]*)|([-+*/%@&|^~<>=!]+)`,
  "giu",
);

/* Return the class of Pygments for a token, or "" for plain text. */
const kind = ([_text, comment, string, number, name, sign], before) => {
  if (comment) return "c1";
  if (string) return "s2";
  if (number) return number.includes(".") ? "mf" : "mi";
  if (sign) return "o";
  if (before === "def") return "nf";
  if (before === "class") return "nc";
  return CLASSES[name] ?? (KEYWORDS.has(name) ? "k" : BUILT_IN.has(name) ? "nb" : "");
};

/* Return nodes that show Python code in colours. */
export const coloured = (code) => {
  const nodes = [];
  let end = 0,
    before = "";
  for (const token of code.matchAll(TOKEN)) {
    const type = kind(token, before);
    before = token[0];
    if (!type) continue;
    nodes.push(code.slice(end, token.index), element("span", { className: type }, token[0]));
    end = token.index + token[0].length;
  }
  return [...nodes, code.slice(end)];
};

const ANSI = /\x1b\[([\d;]*)([A-Za-z])/;
const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/* Return nodes that show text with terminal colours such as ESC [ 1 ; 31 m. */
export const terminal = (text) => {
  const nodes = [],
    style = new Set();
  const [first, ...parts] = text.split(new RegExp(ANSI, "g"));
  nodes.push(first);
  for (let k = 0; k < parts.length; k += 3) {
    for (const code of parts[k + 1] === "m" ? parts[k].split(";").map(Number) : []) {
      if (code === 0) style.clear();
      if (code === 1) style.add("bold");
      if (code >= 30 && code <= 39) for (const colour of COLOURS) style.delete(colour);
      if (code >= 30 && code <= 37) style.add(COLOURS[code - 30]);
    }
    const piece = parts[k + 2];
    nodes.push(
      style.size ? element("span", { className: [...style].map((name) => `ansi-${name}`).join(" ") }, piece) : piece,
    );
  }
  return nodes.filter((node) => node !== "");
};

/* Return an element with these properties and children. */
export const element = (name, properties = {}, ...children) => {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
};
