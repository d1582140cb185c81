// Scripts of all decks: colours, the size of what each slide shows, and the keys of figures.

// The colours are those of the system, or of the address (?theme=dark), until the key D changes them.
(() => {
  const chosen = new URLSearchParams(location.search).get("theme"),
    dark = matchMedia("(prefers-color-scheme: dark)");
  document.documentElement.dataset.theme = chosen ?? (dark.matches ? "dark" : "light");
})();

// Sizes of words and pictures as factors of those on pages, from the largest to the smallest that can still be read.
const WORDS = { largest: 1.8, smallest: 1.15 },
  SIGHTS = { largest: 2.2, smallest: 0.75 },
  STEP = 0.05;

// Return whether a part of a slide has this height at most, and nothing in it has to scroll.
const fits = (part, height) =>
  part.getBoundingClientRect().height <= height + 0.5 &&
  [part, ...part.querySelectorAll("pre, .table, .math-scroll, .picture-frame")].every(
    (element) => element.scrollWidth <= element.clientWidth + 1,
  );

// Set the largest size at which a part fits; return it, or the smallest if none does.
const enlarge = (part, name, { largest, smallest }, height) => {
  let size = largest;
  for (; size > smallest; size -= STEP) {
    part.style.setProperty(name, size);
    if (fits(part, height)) return size;
  }
  part.style.setProperty(name, smallest);
  return smallest;
};

// Set the sizes in one arrangement of words and pictures; return how well they can be read, 0 if they do not fit.
const arrange = (content, beside) => {
  const [words, sights] = [".words", ".sights"].map((name) => content.querySelector(name)),
    gap = beside ? 0 : 20;
  content.classList.toggle("beside", beside);
  const height = content.getBoundingClientRect().height;
  if (!words) return enlarge(sights, "--sights", SIGHTS, height);
  let best = [0];
  for (let size = enlarge(words, "--words", WORDS, height); size > WORDS.smallest - STEP; size -= STEP) {
    words.style.setProperty("--words", size);
    if (!fits(words, height)) break;
    const left = sights && enlarge(sights, "--sights", SIGHTS, beside ? height : height - gap - words.getBoundingClientRect().height);
    if (sights && !fits(sights, beside ? height : height - gap - words.getBoundingClientRect().height)) continue;
    const value = sights ? Math.min(size, 1.3 * left) : size;
    if (value > best[0] + 0.01) best = [value, size, left];
  }
  if (best[0]) {
    words.style.setProperty("--words", best[1]);
    sights?.style.setProperty("--sights", best[2]);
  }
  return best[0];
};

// Choose the arrangement and the sizes of a slide.
const fit = (section) => {
  const content = section.querySelector(".content"),
    below = arrange(content, false);
  if (!content.querySelector(".words + .sights")) return;
  if (arrange(content, true) < below * 1.05) arrange(content, false);
};

// biome-ignore lint/correctness/noUnusedVariables: the decks call it
const showSlides = async () => {
  const root = document.documentElement,
    inFigure = (element) => element?.closest("[data-figure]");
  await document.fonts.load('1em "Unrolled Math"');
  document.querySelectorAll(".slides > section").forEach(fit);
  root.classList.remove("measuring");
  await Reveal.initialize({
    width: 1280,
    height: 720,
    margin: 0,
    center: false,
    hash: true,
    transition: "none",
    slideNumber: "c/t",
    pdfSeparateFragments: false,
    pdfMaxPagesPerSlide: 1,
    keyboardCondition: () => !inFigure(document.activeElement), // keys move the figure; Escape leaves it
    plugins: [RevealNotes],
  });
  Reveal.addKeyBinding({ keyCode: 68, key: "D", description: "Light or dark" }, () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  });
  addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Escape" || !inFigure(document.activeElement)) return;
      document.activeElement.blur();
      event.stopPropagation();
    },
    true,
  );
};
