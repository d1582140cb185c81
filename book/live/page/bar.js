/* The bar at the bottom of the window: it asks before anything is loaded, and shows progress and what Python does. */

import { element } from "./code.js";
import { inline } from "./markdown.js";

export class Bar {
  /* words: key → words of the interface. actions: name → function that its button calls. */
  constructor(words, actions) {
    Object.assign(this, { words, actions });
    this.text = element("p", { className: "run-said" });
    this.text.setAttribute("role", "status");
    this.track = element("div", { className: "run-track", hidden: true }, element("div"));
    this.track.setAttribute("role", "progressbar");
    this.track.setAttribute("aria-label", words.loading_label);
    this.buttons = element("div", { className: "run-choices" });
    this.place = element("section", { className: "run-bar" }, this.text, this.track, this.buttons);
    this.place.setAttribute("aria-label", "Python");
    document.body.append(this.place);
    document.documentElement.classList.add("run-open");
    const { style } = document.documentElement;
    this.watch = new ResizeObserver(() => style.setProperty("--run-bar", `${this.place.offsetHeight}px`));
    this.watch.observe(this.place); // so that the end of the page can be scrolled above the bar
  }

  close() {
    this.watch.disconnect();
    this.place.remove();
    document.documentElement.classList.remove("run-open");
  }

  /* Show a line of Markdown and buttons for these actions. */
  say(text, ...names) {
    if (this.shown !== text) this.text.replaceChildren(...inline(text));
    this.shown = text;
    this.track.hidden = true;
    if (`${names}` === this.names) return;
    this.names = `${names}`;
    const focused = this.buttons.contains(document.activeElement);
    this.buttons.replaceChildren(
      ...names.map((name) => {
        const button = element("button", { type: "button", textContent: this.words[name] });
        button.addEventListener("click", this.actions[name]);
        return button;
      }),
    );
    if (focused) this.buttons.firstChild?.focus();
  }

  /* Show how much is loaded, from 0 to 1. */
  progress(part) {
    this.track.hidden = false;
    this.track.setAttribute("aria-valuenow", Math.round(100 * part));
    this.track.firstChild.style.width = `${100 * part}%`;
  }

  focus() {
    this.buttons.firstChild?.focus();
  }
}
