/* The value under the mouse, pen or finger, in a small box beside it. */
import { change, html, setContent, symbol, pointIn } from "./elements.js";

const GAP = 14; // pixels between the pointer and the box: a finger must not cover it

/* Return the drawing in an element that shows values. A part of the drawing names its value in the attribute `data-said`, as
 * "h_t = 0.5". at(x, y), in units of the drawing, returns the text for places without such a part, or null. */
export const pointed = (drawing, at = () => null) => {
  const value = html("span", { class: "pointed", "aria-hidden": "true", hidden: true });
  const element = html("div", { class: "drawn" }, drawing, value);
  const hide = () => change(value, { hidden: true });
  let last = null; // the event that the value was shown for
  const show = (event, target) => {
    const said = () => target.closest("[data-said]")?.dataset.said ?? at(...pointIn(drawing, event));
    const text = drawing.contains(target) && said();
    if (!text) return hide();
    const [name, ...rest] = text.split(" = ");
    setContent(
      value,
      ...(rest.length ? [symbol(name), " = ", /_/.test(rest) ? symbol(rest.join(" = ")) : rest.join(" = ")] : [text]),
    );
    change(value, { hidden: false, style: null });
    const { left, top, width } = drawing.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    const origin = element.getBoundingClientRect(); // an SVG element has no offsetLeft
    const shift = left - origin.left + Math.max(0, Math.min(x - value.offsetWidth / 2, width - value.offsetWidth));
    const above = y - value.offsetHeight - GAP;
    change(value, { style: `left: ${shift}px; top: ${top - origin.top + (above < 0 ? y + GAP : above)}px` });
  };
  const follow = (event) => show((last = event), event.target);
  const again = () => value.hidden || show(last, document.elementFromPoint(last.clientX, last.clientY));
  new MutationObserver(again).observe(drawing, {
    subtree: true,
    childList: true,
    characterData: true,
    attributes: true,
  });
  change(drawing, {
    onpointermove: follow,
    onpointerdown: follow,
    onpointerleave: (event) => event.pointerType === "mouse" && hide(), // a finger is lifted to read the value
  });
  drawing.ownerDocument.addEventListener("pointerdown", (event) => element.contains(event.target) || hide());
  return element;
};
