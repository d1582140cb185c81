// Scripts of every page: colours, keys, layout in steps, where the reader stopped, offline reading, marks on search results,
// tables that scroll by keys.
(() => {
  const root = document.documentElement,
    modes = ["auto", "light", "dark"];

  // What the browser stores for the site. If it stores nothing, choices last as long as the page.
  const stored = (name) => {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  };
  const store = (name, value) => {
    try {
      localStorage.setItem(name, value);
    } catch {}
  };

  // Scroll the list of chapters to the open one, also when it appears as a menu.
  const chapters = document.getElementById("chapters");
  const showCurrent = () => {
    const link = chapters.querySelector(".current > a");
    if (link) chapters.scrollTop = link.offsetTop - chapters.clientHeight / 2;
  };
  showCurrent();
  chapters.addEventListener("toggle", showCurrent);

  const button = document.getElementById("mode");
  button.addEventListener("click", () => {
    store("mode", modes[(modes.indexOf(root.dataset.mode) + 1) % modes.length]);
    dispatchEvent(new Event("mode"));
  });

  // / and Ctrl+K lead to the search, ← and → turn pages. The search page can switch this off: programs that turn speech into
  // keys may press them by mistake (WCAG 2.1.4).
  const keySwitch = document.getElementById("keys");
  const usesKeys = () => stored("keys") !== "off";
  if (keySwitch) keySwitch.checked = usesKeys();
  keySwitch?.addEventListener("change", () => store("keys", keySwitch.checked ? "on" : "off"));
  const typed =
    "input:not([type=checkbox], [type=radio], [type=range], [type=button]), textarea, select, [contenteditable]";
  const movedByArrows = `${typed}, input, .cell, figure, details, dialog, [popover], audio, video, iframe`;
  const scrolls = (box) =>
    box.scrollWidth > box.clientWidth + 1 && (box === root || /auto|scroll/.test(getComputedStyle(box).overflowX));
  const scrollsAround = (box) => box && (scrolls(box) || scrollsAround(box.parentElement));
  const goToSearch = () => {
    const field = document.querySelector("[name=q]");
    if (!field.checkVisibility()) field.closest("[popover]").showPopover(); // on a narrow screen
    field.focus();
    field.select();
  };
  addEventListener("keydown", (event) => {
    const { key, target, ctrlKey, metaKey, altKey, shiftKey } = event;
    const modified = ctrlKey || metaKey || altKey;
    if (event.defaultPrevented || event.repeat || event.isComposing || !usesKeys()) return;
    if (document.querySelector("dialog[open]")) return;
    if ((key === "/" && !modified) || (key === "k" && ctrlKey !== metaKey && !altKey && !shiftKey)) {
      if (target.closest(typed)) return;
      event.preventDefault();
      goToSearch();
      return;
    }
    const link = { ArrowLeft: "a[rel=prev]", ArrowRight: "a[rel=next]" }[key];
    if (!link || modified || shiftKey || target.closest(movedByArrows) || scrollsAround(target)) return;
    // A menu is open, text is selected, or the page is enlarged by two fingers and moves under the arrows.
    if (document.querySelector(":popover-open") || !getSelection().isCollapsed || visualViewport?.scale > 1) return;
    document.querySelector(link)?.click();
  });

  // Close a popover when one of its links, which lead to places on this page, is clicked.
  for (const menu of document.querySelectorAll("[popover]"))
    menu.addEventListener("click", (event) => {
      if (event.target.closest("a") && menu.matches(":popover-open")) menu.hidePopover();
    });

  // At first only the visible part is laid out (see the head). The rest follows section by section when the reader begins
  // to read, or all at once when a place on the page is asked for, because that place would otherwise move.
  const idle = window.requestIdleCallback ?? ((call) => setTimeout(call, 50));
  const sections = "steps" in root.dataset ? [...document.querySelectorAll("article > section > section")] : [];
  // Until then a section is at least as high as its text, so that nothing in it lies over the next one. A Chinese character,
  // which is wide, has three bytes.
  for (const section of sections) {
    const { length } = new TextEncoder().encode(section.textContent);
    section.style.containIntrinsicHeight = `auto ${960 + (500 * length) / Math.min(innerWidth, 750)}px`;
  }
  const layOutAll = () => root.removeAttribute("data-steps");
  const step = () => {
    sections.shift()?.classList.add("laid");
    if (sections.length) idle(step);
    else layOutAll();
  };
  // Browsers may restore the scroll position early; wait until later scripts listen to the event, too.
  const loaded = new Promise((done) => addEventListener("DOMContentLoaded", done));
  const events = ["scroll", "keydown", "pointerdown"];
  const begin = () => {
    for (const name of events) removeEventListener(name, begin, true);
    loaded.then(() => dispatchEvent(new Event("begin")));
  };
  for (const name of events) addEventListener(name, begin, { capture: true, passive: true });
  addEventListener("begin", () => idle(step));
  addEventListener(
    "click",
    (event) => {
      if (event.target.closest("a")?.hash) layOutAll();
    },
    true,
  );
  addEventListener("hashchange", () => {
    if (!("steps" in root.dataset)) return;
    layOutAll();
    document.querySelector(":target")?.scrollIntoView();
  });

  // Elements that scroll can be reached by the Tab key.
  const sizes = new ResizeObserver((entries) => {
    for (const { target } of entries)
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
  });
  for (const box of document.querySelectorAll(".table, .text pre, .math-scroll, .picture-frame")) sizes.observe(box);

  // On a phone, a wide drawing is enlarged by a press on it, too.
  for (const frame of document.querySelectorAll(".picture-frame:has(+ .enlarge)"))
    frame.addEventListener("click", () => {
      if (frame.nextSibling.checkVisibility()) frame.nextSibling.checked = true;
    });

  // A chapter that is read stores where the reader leaves it, and the front page leads back. The browser sends this to
  // nobody. A chapter counts as read when the reader has scrolled, which an input precedes, or has seen it for a while.
  const WHILE = 20_000; // milliseconds
  let [acted, read, clock] = [false, false, null];
  const above = (selector) =>
    [...document.querySelectorAll(selector)].findLast((place) => place.getBoundingClientRect().top < innerHeight / 4);
  const leave = () => {
    const name = location.pathname.split("/").at(-1);
    const heading = above("article h2")?.textContent.replace("¶", "");
    store(
      "stopped",
      JSON.stringify({ name, place: above("article .place")?.id, heading, edition: root.dataset.edition }),
    );
  };
  const watch = () => {
    clearTimeout(clock);
    if (document.hidden) return read && leave();
    [acted, read] = [false, false];
    clock = setTimeout(() => (read = true), WHILE);
  };
  if (document.querySelector(".begin")) {
    for (const name of ["wheel", "touchmove", "keydown", "pointerdown"])
      addEventListener(name, () => (acted = true), { capture: true, passive: true });
    addEventListener("scroll", () => (read ||= acted), { passive: true });
    addEventListener("pagehide", () => read && leave());
    document.addEventListener("visibilitychange", watch);
    watch();
  }
  const line = document.querySelector(".resume");
  const resume = () => {
    const { name, place, heading, edition } = JSON.parse(stored("stopped") ?? "{}");
    const chapter = [...document.querySelectorAll("#chapters a")].find((link) => link.getAttribute("href") === name);
    const [link, title] = [line.querySelector("a"), chapter?.textContent];
    line.hidden = !chapter;
    link.href = `${name}#${place ?? ""}`;
    line.querySelector(".facts").textContent =
      heading && edition === root.dataset.edition ? `${title} › ${heading}` : title;
  };
  line?.querySelector("button").addEventListener("click", () => {
    try {
      localStorage.removeItem("stopped");
    } catch {}
    line.hidden = true;
    document.querySelector(".start .first a").focus();
  });
  if (line) addEventListener("pageshow", resume); // also when the reader goes back

  // When the reader begins to read, the service worker stores the edition for offline use; files need none.
  const { worker, edition } = root.dataset;
  if (worker && navigator.serviceWorker && location.protocol !== "file:")
    addEventListener("begin", async () => {
      const registration = await navigator.serviceWorker.register(worker).catch(() => null);
      if (!registration || navigator.connection?.saveData) return;
      (await navigator.serviceWorker.ready).active.postMessage(edition);
    });

  // Sphinx's scripts mark the searched words. The search page has them; other pages load them if opened from results.
  const marks = stored("sphinx_highlight_terms") || new URLSearchParams(location.search).has("highlight");
  if (marks && !document.querySelector('script[src*="sphinx_highlight"]'))
    for (const name of root.dataset.highlight.split(" ")) {
      const script = document.createElement("script");
      script.src = `${root.dataset.content_root}_static/${name}`;
      script.async = false; // run them in order
      document.head.append(script);
    }
})();
