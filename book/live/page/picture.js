/* A drawing that a cell made, as a part of the page: in the page's ink and on its paper, as the stored ones are
 * (book/site/extension/figures/pictures.py does the same when the page is built). */

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
  const found = /^([\d.]+)\s*([a-z]*)$/.exec(length ?? "");
  return found && found[2] in PIXELS ? found[1] * PIXELS[found[2]] : null;
};

/* matplotlib's white rectangle behind a figure or its axes; a legend's has an outline */
const isBackground = (path) => {
  const style = path.getAttribute("style") ?? "";
  return style.includes("fill: #ffffff") && !style.replace("stroke: none", "").includes("stroke:");
};

/* An SVG document as an element; nothing if it is none. Its ids become its own. */
export const picture = (source, alt) => {
  const root = document.adoptNode(new DOMParser().parseFromString(source, "image/svg+xml").documentElement);
  if (root.localName !== "svg" || root.querySelector("parsererror")) return null;
  const name = `run-svg${++drawn}`,
    [width, height] = ["width", "height"].map((side) => pixels(root.getAttribute(side)));
  for (const side of ["width", "height"]) root.removeAttribute(side);
  if (!root.hasAttribute("viewBox")) root.setAttribute("viewBox", `0 0 ${width ?? 300} ${height ?? 150}`);
  for (const one of root.querySelectorAll(UNUSED)) one.remove();
  for (const one of root.querySelectorAll('[id^="patch_"] > *')) if (isBackground(one)) one.remove();
  const ids = new Set([...root.querySelectorAll("[id]")].map((one) => one.id));
  const own = (value) =>
    recolour(value).replace(/url\(#([^)]+)\)/g, (whole, id) => (ids.has(id) ? `url(#${name}-${id})` : whole));
  for (const one of [root, ...root.querySelectorAll("*")]) {
    if (one.localName === "style") one.textContent = `#${name} { ${own(one.textContent)} }`;
    for (const { name: key, value } of [...one.attributes]) {
      if (key === "id") one.id = `${name}-${value}`;
      else if (/^(xlink:)?href$/.test(key) && ids.has(value.slice(1))) {
        one.removeAttribute(key);
        one.setAttribute("href", `#${name}-${value.slice(1)}`);
      } else if (!key.startsWith("xmlns")) one.setAttribute(key, own(value));
    }
  }
  root.id = name;
  root.setAttribute("class", "picture");
  root.setAttribute("role", "img");
  root.setAttribute("aria-label", alt);
  if (!root.hasAttribute("fill")) root.setAttribute("fill", "currentColor");
  const natural = width ?? root.viewBox.baseVal.width;
  root.style.maxWidth = `${Math.round(natural)}px`;
  if (natural <= 320) root.style.minWidth = 0;
  return root;
};
