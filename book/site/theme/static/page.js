// What a page does by itself: colours, layout in steps, places of what was searched for, tables that scroll by keys.
(() => {
  const root = document.documentElement,
    modes = ["auto", "light", "dark"];

  const button = document.getElementById("mode");
  button.addEventListener("click", () => {
    const mode = modes[(modes.indexOf(root.dataset.mode) + 1) % modes.length];
    try {
      localStorage.setItem("mode", mode);
    } catch {} // then only this page knows
    dispatchEvent(new Event("mode"));
  });

  // A link in a popover leads to a place on this page: the popover has done its work.
  for (const menu of document.querySelectorAll("[popover]"))
    menu.addEventListener("click", (event) => {
      if (event.target.closest("a") && menu.matches(":popover-open")) menu.hidePopover();
    });

  // The frame lays out only what is seen (see the head). The rest follows, section by section, when the reader begins; all
  // of it at once when a place on the page is asked for, or that place would not be where it seems.
  const idle = window.requestIdleCallback ?? ((call) => setTimeout(call, 50));
  const sections = [...document.querySelectorAll("article > section > section")];
  const whole = () => root.removeAttribute("data-steps");
  const step = () => {
    sections.shift()?.classList.add("laid");
    if (sections.length) idle(step);
    else whole();
  };
  // A page that comes back where it was read is scrolled early: scripts behind this one are to hear of it, too.
  const others = new Promise((done) => addEventListener("DOMContentLoaded", done));
  const signs = ["scroll", "keydown", "pointerdown"];
  const begin = () => {
    for (const sign of signs) removeEventListener(sign, begin, true);
    others.then(() => dispatchEvent(new Event("begin")));
  };
  for (const sign of signs) addEventListener(sign, begin, { capture: true, passive: true });
  addEventListener("begin", () => idle(step));
  addEventListener(
    "click",
    (event) => {
      if (event.target.closest("a")?.hash) whole();
    },
    true,
  );
  addEventListener("hashchange", () => {
    if (!("steps" in root.dataset)) return;
    whole();
    document.querySelector(":target")?.scrollIntoView();
  });

  // What scrolls inside itself is a stop for the keys, too.
  const sizes = new ResizeObserver((entries) => {
    for (const { target } of entries)
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
  });
  for (const box of document.querySelectorAll(".table, .text pre, .math-scroll, .picture-frame")) sizes.observe(box);

  // Whoever begins to read may go on without a network: the site's worker keeps the edition. A file needs none.
  const { worker, edition } = root.dataset;
  if (worker && navigator.serviceWorker && location.protocol !== "file:")
    addEventListener("begin", async () => {
      const registration = await navigator.serviceWorker.register(worker).catch(() => null);
      if (!registration || navigator.connection?.saveData) return;
      (await navigator.serviceWorker.ready).active.postMessage(edition);
    });

  // Sphinx's own scripts mark what was searched for. Only a page that was found loads them.
  let found = null;
  try {
    found = localStorage.getItem("sphinx_highlight_terms");
  } catch {}
  if (found || new URLSearchParams(location.search).has("highlight"))
    for (const name of root.dataset.highlight.split(" ")) {
      const script = document.createElement("script");
      script.src = `${root.dataset.content_root}_static/${name}`;
      script.async = false; // in their order
      document.head.append(script);
    }
})();
