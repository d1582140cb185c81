// Puts a button at each cell. The first click loads running.js, which runs cells; if the reader has changed this page's
// code before, it is loaded at the first scroll, key or click. The build replaces "WORDS", "STYLE" and VERSION.
(() => {
  const words = "WORDS",
    script = document.currentScript,
    { slow = "", elsewhere = "" } = script.dataset;
  const marked = { slow: slow.split(" "), elsewhere: elsewhere.split(" ") };
  const style = document.createElement("style");
  style.textContent = "STYLE";
  document.head.append(style);

  const rows = [];
  let loaded = false;
  for (const input of document.querySelectorAll(".cell_input")) {
    const cell = input.closest(".cell"),
      id = cell.previousElementSibling?.id;
    if (!id) continue;
    const row = document.createElement("div"),
      button = document.createElement("button");
    const kind = Object.keys(marked).find((name) => marked[name].includes(id));
    row.className = "run-row";
    button.innerHTML = '<svg viewBox="0 0 12 12" aria-hidden="true"><path d="M2.5 1v10l8-5z"/></svg><span></span>';
    const name = words[kind ?? "run"],
      label = (text) => (button.querySelector("span").textContent = text);
    label(name);
    button.addEventListener("click", () => {
      if (!loaded) label(`${name} …`);
      load().then(
        (page) => {
          if (!loaded) label(name);
          loaded = true;
          page.press(id);
        },
        () => label(words.unloaded),
      );
    });
    row.append(button);
    input.prepend(row);
    rows.push({ id, cell, input, row, button, kind });
  }
  if (!rows.length) return;
  const actions = { ".hand-in button": "handIn", ".run-page": "runPage" };
  for (const [buttons, action] of Object.entries(actions))
    for (const button of document.querySelectorAll(buttons)) {
      const { textContent } = button;
      button.addEventListener("click", () =>
        load()
          .then((page) => {
            button.textContent = textContent;
            return page[action](button);
          })
          .catch(() => (button.textContent = words.unloaded)),
      );
    }

  const chosen = document.querySelector(".own-series input"); // where the reader may choose a file
  if (chosen) {
    const panel = chosen.parentElement,
      take = () =>
        load()
          .then((page) => page.takeFile(chosen))
          .catch(() => (panel.querySelector("[role=status]").textContent = words.unloaded));
    const carriesFile = (event) => event.dataTransfer?.types.includes("Files");
    panel.hidden = false;
    chosen.addEventListener("change", take);
    addEventListener("dragover", (event) => carriesFile(event) && event.preventDefault());
    addEventListener("drop", (event) => {
      if (!carriesFile(event)) return;
      event.preventDefault(); // otherwise the browser would leave the page to show the file
      chosen.files = event.dataTransfer.files;
      if (chosen.files.length) take();
    });
  }

  // A classic script, which also loads on pages opened as files: there it says why nothing runs.
  let loading = null,
    tries = 0;
  const load = () =>
    (loading ??= new Promise((resolve, reject) => {
      const file = document.createElement("script");
      file.src = new URL(`running.js?v=VERSION${tries ? `&try=${tries}` : ""}`, script.src);
      file.onload = resolve;
      file.onerror = reject;
      setTimeout(reject, 60_000);
      document.head.append(file);
    })
      .then(() => window.unrolledRunning(rows, script.src).prepared)
      .catch((error) => {
        loading = null; // the next click tries again, past a copy that a cache has
        tries++;
        throw error;
      }));
  const key = `code:${location.pathname}`;
  try {
    if (localStorage.getItem(key)) addEventListener("begin", () => load().catch(() => {}), { once: true });
  } catch {} // private browsing: nothing is stored
})();
