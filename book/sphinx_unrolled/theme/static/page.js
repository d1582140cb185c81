// What a page does by itself: colours, places of what was searched for, tables that scroll by keys.
(() => {
  const root = document.documentElement, modes = ["auto", "light", "dark"];

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

  // What scrolls inside itself is a stop for the keys, too. Each is measured when there is nothing else to do.
  const sizes = new ResizeObserver((entries) => {
    for (const { target } of entries)
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
  });
  const boxes = [...document.querySelectorAll(".table, .text pre, .math-scroll, .picture-frame")];
  const idle = window.requestIdleCallback ?? ((call) => setTimeout(call, 200, { timeRemaining: () => 0 }));
  idle(function measure(deadline) {
    do {
      const box = boxes.shift();
      if (!box) return;
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      sizes.observe(box);
    } while (deadline.timeRemaining() > 5);
    idle(measure);
  });

  // Whoever begins to read may go on without a network: the site's worker keeps the edition. A file needs none.
  const { worker, edition } = root.dataset;
  if (worker && navigator.serviceWorker && location.protocol !== "file:")
    addEventListener("scroll", async () => {
      const registration = await navigator.serviceWorker.register(worker).catch(() => null);
      if (!registration || navigator.connection?.saveData) return;
      (await navigator.serviceWorker.ready).active.postMessage(edition);
    }, { once: true });

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
