/* What the figures share: elements, and squares in the colours of values. controls.js has what is bound to the model. A
 * drawing looks as its attributes say, without a style sheet: so its picture can stand alone, where no script runs. */

/* As in companion.page.pictures: blue below zero and orange above. Legible on white and on black. */
export const BLUE = "#2f7fc1";
export const ORANGE = "#d9731a";
export const GREEN = "#2f9460";
export const PURPLE = "#8e63c7";
export const RED = "#d1495b";
export const ON_COLOUR = "#000"; // numbers on a square of full colour

/* ---- Elements ---- */

const furnish = (element, attributes, children) => {
  change(element, attributes);
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
};

/* Attributes as given; those that begin with "on" are listeners, null and false take an attribute away. */
export const change = (element, attributes) => {
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === null || value === undefined || value === false) element.removeAttribute(name);
    else if (element.getAttribute(name) !== `${value}`) element.setAttribute(name, value === true ? "" : value);
};

export const html = (tag, attributes = {}, ...children) => furnish(document.createElement(tag), attributes, children);

export const svg = (tag, attributes = {}, ...children) =>
  furnish(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/* Put words or elements in place of what an element has, if they are others. */
export const say = (element, ...content) => {
  if (content.length === 1 && typeof content[0] === "string") {
    if (element.textContent !== content[0]) element.textContent = content[0];
  } else element.replaceChildren(...content);
};

/* ---- Words, numbers, symbols ---- */

/* "step {t} of {T}" with { t: 3, T: 20 } */
export const fill = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (_, name) => values[name]);

/* A number with so many digits after the point, and a true minus. */
export const fixed = (value, digits = 2) => {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
};

/* "W_{ih} x_t" in pieces: [text, subscript] */
const pieces = (notation) =>
  [...notation.matchAll(/([^_]+)(?:_(?:\{([^}]*)\}|(.)))?/gu)].map(([, text, many = "", one = ""]) => [
    text,
    (many || one).replace("-", "−"), // "[-1]" elsewhere is Python's
  ]);

/* A symbol of a formula for a page's text: the letters slanted, the subscripts low. */
export const symbol = (notation) =>
  html("var", {}, ...pieces(notation).flatMap(([text, sub]) => [text, sub && html("sub", {}, sub)]));

/* The same in a drawing, as a <text>. Words and digits stand upright, single letters slanted. */
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
        svg("tspan", /^\p{L}$/u.test(part) ? { "font-style": "italic" } : {}, part),
      ),
      sub && svg("tspan", { dy: "0.35em", "font-size": "75%" }, sub),
      sub && svg("tspan", { dy: "-0.26em" }, "\u200b"), // back up: dy is of this size, not of the subscript's
    ]),
  );

/* ---- Drawing ---- */

/* The drawing of a figure. width, height: of its own coordinates; on a phone one unit is a little under a pixel. */
export const drawing = (words, width, height, ...children) =>
  svg(
    "svg",
    { class: "drawing", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words.description },
    ...children,
  );

/* A square (or rectangle) on the colour of a value, with its number: `set(value, { faded, shown })`.
 * limit: the value that gets the full colour. digits: null draws no number. */
export const square = (x, y, width, height = width, { limit = 1, digits = 2, size = 12 } = {}) => {
  const ground = svg("rect", { x, y, width, height, rx: 2, stroke: "currentColor", "stroke-opacity": 0.3 });
  const number = label(x + width / 2, y + height / 2, " ", { "font-size": size });
  return {
    element: svg("g", {}, ground, digits === null ? null : number),
    set(value, { faded = false, shown = true } = {}) {
      const strength = (Number.isFinite(value) ? Math.min(Math.abs(value) / limit, 1) : 1) * (faded ? 0.15 : 1);
      change(ground, {
        fill: value < 0 ? BLUE : ORANGE,
        "fill-opacity": shown ? strength.toFixed(3) : 0,
      });
      if (digits === null) return;
      say(number, shown ? fixed(value, digits) : " ");
      // where a white letter would have less contrast than a black one, on a dark page
      change(number, {
        fill: strength > (value < 0 ? 0.95 : 0.8) ? ON_COLOUR : "currentColor",
        opacity: faded ? 0.45 : null,
      });
    },
  };
};

/* A matrix of squares: `set(rows of values, r => options of a row)`. */
export const squares = (x, y, rows, columns, width, height = width, options = {}) => {
  const grid = Array.from({ length: rows }, (_, r) =>
    Array.from({ length: columns }, (_, c) => square(x + c * width, y + r * height, width, height, options)),
  );
  return {
    element: svg(
      "g",
      {},
      grid.flat().map((one) => one.element),
    ),
    set(values, of = () => ({})) {
      grid.forEach((row, r) => row.forEach((one, c) => one.set(values[r][c], of(r, c))));
    },
  };
};

const LEVELS = 20; // of a colour's strength: finer than the eye tells apart in squares this small

/* Many small squares, a row for each unit and a column for each step: `set(columns, limit)`. All squares of one strength are
 * one path: few to change, quick to draw. */
export const mosaic = (x, y, width, height) => {
  const path = (colour) => (_, level) =>
    svg("path", { fill: colour, "fill-opacity": ((level + 1) / LEVELS).toFixed(2) });
  const paths = [BLUE, ORANGE].map((colour) => Array.from({ length: LEVELS }, path(colour)));
  return {
    element: svg("g", { "shape-rendering": "crispEdges" }, paths),
    set(columns, limit, wide = width) {
      const d = paths.map((levels) => levels.map(() => ""));
      const across = wide === width ? wide : (wide + 0.1).toFixed(1); // no gap where a column's edge is rounded
      columns.forEach((column, k) =>
        column.forEach((value, unit) => {
          const level = Math.round(Math.min(Math.abs(value) / limit, 1) * LEVELS) - 1;
          if (level < 0) return;
          d[value < 0 ? 0 : 1][level] +=
            `M${(x + k * wide).toFixed(1)} ${y + unit * height}h${across}v${height}h-${across}z`;
        }),
      );
      paths.forEach((levels, sign) => levels.forEach((one, level) => change(one, { d: d[sign][level] })));
    },
  };
};

/* A line through points [x, y], with a head at its end. */
export const arrow = (points, attributes = {}) => {
  const [[x_0, y_0], [x, y]] = points.slice(-2);
  const length = Math.hypot(x - x_0, y - y_0);
  const [dx, dy] = [(x - x_0) / length, (y - y_0) / length];
  const back = [x - 6 * dx, y - 6 * dy];
  const corner = (side) => `${back[0] + side * 3 * dy},${back[1] - side * 3 * dx}`;
  const along = [...points.slice(0, -1), back].map((point) => point.join(",")).join(" ");
  return svg(
    "g",
    { stroke: "currentColor", fill: "none", "stroke-width": 1.2, ...attributes },
    svg("polyline", { points: along }),
    svg("polygon", { points: `${x},${y} ${corner(1)} ${corner(-1)}`, fill: "currentColor", stroke: "none" }),
  );
};
