/* Controls of the figure shapes.js: a box for lengths, a list of tensors, and a box of code to copy. */
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
  const reset = () => {
    input.value = model.get("lengths").join(", ");
    mark(false);
  };
  const input = html("input", { type: "text", autocomplete: "off", maxlength: 60, oninput: take, onblur: reset });
  const hint = html("span", { hidden: true }, fill(words.lengths_typed, { most: MOST, longest: LONGEST }));
  model.on("change:lengths", () => same(read(input.value)) || reset());
  reset();
  const name = html("span", {}, html("code", {}, "lengths"), " ", symbol("T"));
  return html("div", {}, html("label", { class: "control textbox" }, name, input), hint);
};

/* A list of all tensors, to choose the one that is marked. */
export const tensorChoice = (words, mark) => {
  const select = html("select", { onchange: () => mark(select.value) });
  let listed = null;
  return {
    element: html("label", { class: "control choice" }, html("span", {}, words.find), select),
    set({ tensors, marked }) {
      const names = [...new Set(["", ...TENSORS, ...Object.keys(tensors), marked])];
      if (names.join() !== listed) {
        listed = names.join();
        select.replaceChildren(...names.map((name) => html("option", { value: name }, name || "—")));
      }
      select.value = marked;
    },
  };
};

/* A box of code with a button that copies it. */
export const copyBox = (words) => {
  const text = html("code");
  const box = html("pre", { tabindex: 0, role: "region", "aria-label": words.code }, text);
  const [copy, shown, said] = copyButton(words.copy, words, () => text.textContent, text);
  const strip = html("div", { class: "strip" }, copy, shown, said);
  return {
    element: html("div", { class: "python" }, strip, box),
    set(lines) {
      if (text.textContent === lines) return;
      setContent(text, lines);
      setContent(said, "");
    },
  };
};
