/* Stand-in for the editor: a textarea with the same keys. */

export const createEditor = ({ parent, doc, label, onChange, onRun, onRunNext, onLeave }) => {
  const field = document.createElement("textarea");
  field.value = doc;
  field.rows = doc.split("\n").length;
  field.style.width = "100%";
  field.setAttribute("aria-label", label);
  field.addEventListener("input", () => onChange());
  field.addEventListener("keydown", (event) => {
    const action =
      event.key === "Escape"
        ? onLeave
        : event.key !== "Enter"
          ? null
          : event.shiftKey
            ? onRunNext
            : event.ctrlKey
              ? onRun
              : null;
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  });
  parent.append(field);
  return {
    text: () => field.value,
    setText: (text) => (field.value = text),
    focus: () => field.focus(),
    destroy: () => field.remove(),
  };
};
