/* HTML and SVG elements of the figures: labels, arrows, and squares coloured by value. controls.js has the controls.
 * Drawings need no style sheet, so that they also work as SVG files on pages without scripts. */

/* As in companion.page.pictures: blue below zero, orange above. Legible on white and on black. */
export const BLUE = "#2f7fc1";
export const ORANGE = "#d9731a";
export const GREEN = "#2f9460";
export const PURPLE = "#8e63c7";
export const ON_COLOUR = "#000"; // numbers on a square of full colour

/* ---- Elements ---- */

const build = (element, attributes, children) => {
  change(element, attributes);
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
};

/* Set attributes. A name that begins with "on" adds a listener; null and false remove the attribute. */
export const change = (element, attributes) => {
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === null || value === undefined || value === false) element.removeAttribute(name);
    else if (element.getAttribute(name) !== `${value}`) element.setAttribute(name, value === true ? "" : value);
};

export const html = (tag, attributes = {}, ...children) => build(document.createElement(tag), attributes, children);

export const svg = (tag, attributes = {}, ...children) =>
  build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/* Replace the content of an element by words or elements. Equal words are left alone. */
export const setContent = (element, ...content) => {
  if (content.length === 1 && typeof content[0] === "string") {
    if (element.textContent !== content[0]) element.textContent = content[0];
  } else element.replaceChildren(...content);
};

/* ---- Words, numbers, symbols ---- */

/* "step {t} of {T}" with { t: 3, T: 20 } */
export const fill = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (_, name) => values[name]);

/* A number with this many decimals, and a true minus sign. */
export const fixed = (value, digits = 2) => {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
};

/* A number with this many significant digits, small and large ones with a power of ten: 0.012, "1.2·10⁻⁵". */
export const brief = (value, digits = 2) => {
  const [factor, power] = value
    .toExponential(digits - 1)
    .split("e")
    .map(Number);
  const raised = [...`${power}`].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit] ?? "⁻").join("");
  const plain = value === 0 || (power >= -4 && power < 4);
  return (plain ? `${Number(value.toPrecision(digits))}` : `${factor}·10${raised}`).replace("-", "−");
};

/* Split "W_{ih} x_t" into [text, subscript] pairs. */
const pieces = (notation) =>
  [...notation.matchAll(/([^_]+)(?:_(?:\{([^}]*)\}|(.)))?/gu)].map(([, text, braced = "", single = ""]) => [
    text,
    (braced || single).replace("-", "−"), // "[-1]" in the text is Python and keeps its hyphen
  ]);

/* A symbol of a formula as HTML, in italics, with subscripts. */
export const symbol = (notation) =>
  html("var", {}, ...pieces(notation).flatMap(([text, sub]) => [text, sub && html("sub", {}, sub)]));

/* A symbol of a formula as SVG <text>: words and digits upright, single Latin and Greek letters in italics. */
export const label = (x, y, notation, attributes = {}) =>
  svg(
    "text",
    {
      x,
      y,
      "font-size": 13,
      fill: "currentColor",
      "text-anchor": "middle",
      "dominant-baseline": "central",
      ...attributes,
    },
    ...pieces(notation).flatMap(([text, sub]) => [
      ...(text.match(/[\p{L}\p{M}]+|[^\p{L}\p{M}]+/gu) || []).map((part) =>
        svg("tspan", /^[\p{Script=Latin}\p{Script=Greek}]$/u.test(part) ? { "font-style": "italic" } : {}, part),
      ),
      sub && svg("tspan", { dy: "0.35em", "font-size": "75%" }, sub),
      sub && svg("tspan", { dy: "-0.26em" }, "\u200b"), // back to the line; dy scales with this font size
    ]),
  );

/* An SVG <text> that is upright even if it is a single letter. */
export const upright = (x, y, text, attributes = {}) => {
  const middle = { "text-anchor": "middle", "dominant-baseline": "central" };
  return svg("text", { x, y, "font-size": 14, fill: "currentColor", ...middle, ...attributes }, text);
};

/* ---- Drawing ---- */

/* The <svg> of a figure. width, height: in its own units; on a phone a unit is a little less than a pixel. */
export const drawing = (words, width, height, ...children) =>
  svg(
    "svg",
    { class: "drawing", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words.description },
    ...children,
  );

/* The point of a drawing under the pointer, in units of the drawing. */
export const pointIn = (drawing, { clientX, clientY }) => {
  const { left, top, width } = drawing.getBoundingClientRect();
  const unit = (drawing.viewBox?.baseVal.width ?? width) / width; // a text has values, too, in pixels
  return [(clientX - left) * unit, (clientY - top) * unit];
};

/* A square (or rectangle) in the colour of a value, with its number: `set(value, { faded, shown })`.
 * limit: the value that gets the full colour. digits: decimals; null draws no number. name: a symbol, "h_t"; the square
 * then tells a pointer its value (pointer.js). `set` may give another limit and name. text: formats a value, as `fixed`. */
export const square = (x, y, width, height = width, options = {}) => {
  const { limit = 1, digits = 2, size = 12, name = null, text = fixed } = options;
  const ground = svg("rect", { x, y, width, height, rx: 2, stroke: "currentColor", "stroke-opacity": 0.3 });
  const number = label(x + width / 2, y + height / 2, " ", { "font-size": size });
  const element = svg("g", {}, ground, digits === null ? null : number);
  return {
    element,
    set(value, { faded = false, shown = true, limit: full = limit, name: said = name } = {}) {
      if (said) change(element, { "data-said": shown ? `${said} = ${text(value, 4)}` : null });
      const strength = (Number.isFinite(value) ? Math.min(Math.abs(value) / full, 1) : 1) * (faded ? 0.15 : 1);
      change(ground, {
        fill: value < 0 ? BLUE : ORANGE,
        "fill-opacity": shown ? strength.toFixed(3) : 0,
      });
      if (digits === null) return;
      setContent(number, shown ? text(value, digits) : " ");
      // on a dark page, black has more contrast than white on strong colours
      change(number, {
        fill: strength > (value < 0 ? 0.95 : 0.8) ? ON_COLOUR : "currentColor",
        opacity: faded ? 0.65 : null,
      });
    },
  };
};

/* A matrix of squares: `set(rows of values, (r, c) => options of a square)`. options.name may be a function of r and c. */
export const squares = (x, y, rows, columns, width, height = width, options = {}) => {
  const grid = Array.from({ length: rows }, (_, r) =>
    Array.from({ length: columns }, (_, c) => {
      const name = typeof options.name === "function" ? options.name(r, c) : options.name;
      return square(x + c * width, y + r * height, width, height, { ...options, name });
    }),
  );
  return {
    element: svg(
      "g",
      {},
      grid.flat().map((cell) => cell.element),
    ),
    set(values, optionsOf = () => ({})) {
      grid.forEach((row, r) => row.forEach((cell, c) => cell.set(values[r][c], optionsOf(r, c))));
    },
  };
};

const LEVELS = 20; // of opacity: finer steps cannot be seen in squares this small

/* Many small squares, a row for each unit and a column for each step: `set(columns, limit)`. Squares of equal opacity
 * share one path, which is quick to draw. colours: of values below and above zero. */
export const mosaic = (x, y, width, height, colours = [BLUE, ORANGE]) => {
  const path = (colour) => (_, level) =>
    svg("path", { fill: colour, "fill-opacity": ((level + 1) / LEVELS).toFixed(2) });
  const paths = colours.map((colour) => Array.from({ length: LEVELS }, path(colour)));
  return {
    element: svg("g", { "shape-rendering": "crispEdges" }, paths),
    set(columns, limit, columnWidth = width) {
      const d = paths.map((levels) => levels.map(() => ""));
      // a little wider, so that rounding leaves no gaps
      const across = columnWidth === width ? width : (columnWidth + 0.1).toFixed(1);
      columns.forEach((column, k) =>
        column.forEach((value, unit) => {
          const level = Math.round(Math.min(Math.abs(value) / limit, 1) * LEVELS) - 1;
          if (level < 0) return;
          d[value < 0 ? 0 : 1][level] +=
            `M${(x + k * columnWidth).toFixed(1)} ${y + unit * height}h${across}v${height}h-${across}z`;
        }),
      );
      paths.forEach((levels, sign) => levels.forEach((path, level) => change(path, { d: d[sign][level] })));
    },
  };
};

/* An arrow along points, "x,y x,y …". */
export const arrow = (path, attributes = {}) => {
  const points = path.split(" ").map((point) => point.split(",").map(Number));
  const [[x_0, y_0], [x, y]] = points.slice(-2);
  const length = Math.hypot(x - x_0, y - y_0);
  const [dx, dy] = [(x - x_0) / length, (y - y_0) / length];
  const base = [x - 6 * dx, y - 6 * dy];
  const corner = (side) => `${base[0] + side * 3 * dy},${base[1] - side * 3 * dx}`;
  const along = [...points.slice(0, -1), base].map((point) => point.join(",")).join(" ");
  return svg(
    "g",
    { stroke: "currentColor", fill: "none", "stroke-width": 1.2, ...attributes },
    svg("polyline", { points: along }),
    svg("polygon", { points: `${x},${y} ${corner(1)} ${corner(-1)}`, fill: "currentColor", stroke: "none" }),
  );
};
