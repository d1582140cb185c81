/* Turn a cell's drawing into an element in the colours of the page, as book/site/extension/figures/pictures.py does with
 * stored drawings when the page is built. */

const UNUSED = "metadata, title, script, foreignObject";
const THEME = {
  "#1f2328": "currentColor",
  "#000000": "currentColor",
  "#ffffff": "var(--unrolled-paper)",
  "#d0d7de": "var(--unrolled-grid)",
};
const PIXELS = { "": 1, px: 1, pt: 4 / 3, in: 96, cm: 96 / 2.54, mm: 96 / 25.4 };
let drawn = 0;

const recolour = (value) => value.replace(/#[0-9a-f]{6}\b/gi, (colour) => THEME[colour.toLowerCase()] ?? colour);

const pixels = (length) => {
  const match = /^([\d.]+)\s*([a-z]*)$/.exec(length ?? "");
  return match && match[2] in PIXELS ? match[1] * PIXELS[match[2]] : null;
};

/* Whether this is matplotlib's white rectangle behind a figure or axes (that of a legend has an outline). */
const isBackground = (path) => {
  const style = path.getAttribute("style") ?? "";
  return style.includes("fill: #ffffff") && !style.replace("stroke: none", "").includes("stroke:");
};

/* Return an SVG document as an element with unique ids, or null if it is not SVG. */
export const picture = (source, alt) => {
  const root = document.adoptNode(new DOMParser().parseFromString(source, "image/svg+xml").documentElement);
  if (root.localName !== "svg" || root.querySelector("parsererror")) return null;
  const name = `run-svg${++drawn}`,
    [width, height] = ["width", "height"].map((side) => pixels(root.getAttribute(side)));
  for (const side of ["width", "height"]) root.removeAttribute(side);
  if (!root.hasAttribute("viewBox")) root.setAttribute("viewBox", `0 0 ${width ?? 300} ${height ?? 150}`);
  for (const node of root.querySelectorAll(UNUSED)) node.remove();
  for (const path of root.querySelectorAll('[id^="patch_"] > *')) if (isBackground(path)) path.remove();
  const ids = new Set([...root.querySelectorAll("[id]")].map((node) => node.id));
  const adapt = (value) =>
    recolour(value).replace(/url\(#([^)]+)\)/g, (whole, id) => (ids.has(id) ? `url(#${name}-${id})` : whole));
  for (const node of [root, ...root.querySelectorAll("*")]) {
    if (node.localName === "style") node.textContent = `#${name} { ${adapt(node.textContent)} }`;
    for (const { name: key, value } of [...node.attributes]) {
      if (key === "id") node.id = `${name}-${value}`;
      else if (/^(xlink:)?href$/.test(key) && ids.has(value.slice(1))) {
        node.removeAttribute(key);
        node.setAttribute("href", `#${name}-${value.slice(1)}`);
      } else if (!key.startsWith("xmlns")) node.setAttribute(key, adapt(value));
    }
  }
  root.id = name;
  root.setAttribute("class", "picture");
  root.setAttribute("role", "img");
  root.setAttribute("aria-label", alt);
  if (!root.hasAttribute("fill")) root.setAttribute("fill", "currentColor");
  root.style.maxWidth = `${Math.round(width ?? root.viewBox.baseVal.width)}px`;
  return root;
};
