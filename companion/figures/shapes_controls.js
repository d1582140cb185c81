/* Controls of the figure shapes.js: a box for lengths, a list of weights, and a box of code to copy. */
import { change, fill, html, setContent, symbol } from "./elements.js";
import { copyButton } from "./controls.js";
import { LONGEST, MOST, TENSORS } from "./shapes_parameters.js";

/* A box for lengths of sequences, separated by commas. */
export const lengthsBox = (model, words) => {
  const list = /^\s*\d+([,\s、，]+\d+)*[,\s、，]*$/;
  const read = (typed) => (list.test(typed) ? typed.match(/\d+/g).map(Number) : null);
  const valid = (lengths) => lengths && lengths.length <= MOST && lengths.every((length) => length <= LONGEST);
  const same = (lengths) => lengths && lengths.join() === model.get("lengths").join();
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

/* A list of the network's weights, to choose one. */
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

/* A box of code with a button that copies it. */
export const copyBox = (words) => {
  const text = html("code");
  const box = html("pre", { tabindex: 0, role: "region", "aria-label": words.code }, text);
  return {
    element: html(
      "div",
      { class: "python" },
      html(
        "div",
        { class: "strip" },
        html("strong", {}, words.code),
        copyButton(words.copy, words, () => text.textContent),
      ),
      box,
    ),
    set(lines) {
      setContent(text, lines);
    },
  };
};
