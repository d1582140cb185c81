/* ---- The controls that the kit has not ---- */
import { change, fill, html, say, symbol } from "./kit.js";
import { button } from "./controls.js";
import { LONGEST, MOST, TENSORS } from "./shapes_parameters.js";

/* Lengths of sequences, typed with commas between them. */
export const lengthsBox = (model, words) => {
  const list = /^\s*\d+([,\s、，]+\d+)*[,\s、，]*$/;
  const read = (typed) => (list.test(typed) ? typed.match(/\d+/g).map(Number) : null);
  const valid = (these) => these && these.length <= MOST && these.every((length) => length <= LONGEST);
  const same = (these) => these && these.join() === model.get("lengths").join();
  const mark = (wrong) => {
    change(input, { "aria-invalid": wrong ? "true" : null });
    change(hint, { hidden: !wrong });
  };
  const take = () => {
    const typed = read(input.value);
    if (valid(typed)) {
      model.set("lengths", typed);
      model.save_changes();
    }
    mark(!valid(typed) && input.value.trim() !== "");
  };
  const follow = () => {
    if (!same(read(input.value))) input.value = model.get("lengths").join(", ");
    mark(false);
  };
  const leave = () => {
    input.value = model.get("lengths").join(", ");
    mark(false);
  };
  const input = html("input", { type: "text", autocomplete: "off", maxlength: 60, oninput: take, onblur: leave });
  const hint = html("span", { hidden: true }, fill(words.lengths_typed, { most: MOST, longest: LONGEST }));
  model.on("change:lengths", follow);
  follow();
  const name = html("span", {}, html("code", {}, "lengths"), " ", symbol("T"));
  return html("div", {}, html("label", { class: "control textbox" }, name, input), hint);
};

/* The weights that there are, to choose one. The list follows the network. */
export const weightChoice = (words, mark) => {
  const select = html("select", { class: "wide", "aria-label": words.weight, onchange: () => mark(select.value) });
  let listed = null;
  return {
    element: select,
    set(weights, marked) {
      const names = weights.map(([name]) => name);
      if (marked && !TENSORS.includes(marked) && !names.includes(marked)) names.push(marked);
      if (names.join() !== listed) {
        listed = names.join();
        select.replaceChildren(...["", ...names].map((name) => html("option", { value: name }, name || words.weight)));
      }
      select.value = TENSORS.includes(marked) ? "" : marked;
    },
  };
};

/* Python in a box, with a button that copies it. Where a page may not copy, it selects. */
export const copyBox = (words) => {
  const text = html("code");
  const box = html("pre", { tabindex: 0, role: "region", "aria-label": words.code }, text);
  const done = html("span", { role: "status" });
  const copy = async () => {
    let copied = true;
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      getSelection().selectAllChildren(text);
      copied = document.execCommand("copy");
    }
    say(done, copied ? words.copied : words.selected);
  };
  return {
    element: html(
      "div",
      { class: "python" },
      html("div", { class: "strip" }, html("strong", {}, words.code), button(words.copy, copy), done),
      box,
    ),
    set(lines) {
      if (text.textContent === lines) return;
      say(text, lines);
      say(done, "");
    },
  };
};
