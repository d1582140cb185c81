// A button at each cell. All that runs it is loaded when one is pressed for the first time, or at once if the reader has
// changed this page's code before. The build puts words, style and version in the place of their names.
(() => {
  const words = "WORDS",
    script = document.currentScript,
    { slow = "", elsewhere = "" } = script.dataset;
  const marked = { slow: slow.split(" "), elsewhere: elsewhere.split(" ") };
  const style = document.createElement("style");
  style.textContent = "STYLE";
  document.head.append(style);

  const rows = [];
  for (const input of document.querySelectorAll(".cell_input")) {
    const cell = input.closest(".cell"),
      id = cell.previousElementSibling?.id;
    if (!id) continue;
    const row = document.createElement("div"),
      button = document.createElement("button");
    const kind = Object.keys(marked).find((name) => marked[name].includes(id));
    row.className = "run-row";
    button.innerHTML = '<svg viewBox="0 0 12 12" aria-hidden="true"><path d="M2.5 1v10l8-5z"/></svg><span></span>';
    button.lastChild.textContent = words[kind ?? "run"];
    button.addEventListener("click", () =>
      load().then(
        (page) => page.press(id),
        () => (button.querySelector("span").textContent = words.unloaded),
      ),
    );
    row.append(button);
    input.prepend(row);
    rows.push({ id, cell, input, row, button, kind });
  }
  if (!rows.length) return;
  for (const button of document.querySelectorAll(".hand-in button"))
    button.addEventListener("click", () =>
      load()
        .then((page) => page.handIn(button))
        .catch(() => (button.textContent = words.unloaded)),
    );

  // A classic script: a page that is a file may load these, and must be able to say why nothing runs there.
  let loading = null;
  const load = () =>
    (loading ??= new Promise((resolve, reject) => {
      const file = document.createElement("script");
      file.src = new URL("running.js?v=VERSION", script.src);
      file.onload = () => resolve(window.unrolledRunning(rows, script.src));
      file.onerror = reject;
      document.head.append(file);
    })
      .then((page) => page.told)
      .catch((error) => {
        loading = null; // the next press tries again
        throw error;
      }));
  const key = `code:${location.pathname}`;
  try {
    if (localStorage.getItem(key)) addEventListener("begin", () => load().catch(() => {}), { once: true });
  } catch {} // private: nothing was kept
})();
