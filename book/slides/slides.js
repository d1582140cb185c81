// Scripts of all decks: colours, the size of what each slide shows, and the keys of figures.

// The colours are those of the system, or of the address (?theme=dark), until the key D changes them.
(() => {
  const chosen = new URLSearchParams(location.search).get("theme"),
    dark = matchMedia("(prefers-color-scheme: dark)");
  document.documentElement.dataset.theme = chosen ?? (dark.matches ? "dark" : "light");
})();

// Sizes of words and of pictures as factors of those on pages, from the smallest that can still be read to the largest.
const grid = (from, to) => Array.from({ length: Math.round((to - from) / 0.05) + 1 }, (_, k) => from + 0.05 * k),
  SIZES = { "--words": grid(1.05, 1.8), "--sights": grid(0.75, 2.2) },
  GAP = 20; // pixels between words and pictures, as in slides.css

const heightOf = (element) => element.getBoundingClientRect().height;

// Return whether a part of a slide has this height at most, and nothing in it has to scroll.
const fits = (part, height) =>
  heightOf(part) <= height + 0.5 &&
  [part, ...part.querySelectorAll("pre, .table, .math-scroll, .picture-frame")].every(
    (element) => element.scrollWidth <= element.clientWidth + 1,
  );

// Return the last of these values for which a condition holds, or the first value. It holds for all values up to one.
const last = (values, holds) => {
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(values[middle])) low = middle;
    else high = middle - 1;
  }
  return values[low];
};

// Set the largest size at which a part fits; return it, or 0 if the part does not fit.
const enlarge = (part, name, height) => {
  const set = (size) => part.style.setProperty(name, size);
  const size = last(SIZES[name], (value) => {
    set(value);
    return fits(part, height);
  });
  set(size);
  return fits(part, height) && size;
};

// Enlarge pictures as far as they fit into this height; return their size. The width of the slide can limit it, too.
const enlargeSights = (sights, height) => {
  const size = enlarge(sights, "--sights", height),
    pictures = [...sights.querySelectorAll("svg.picture:not([data-figure] *)")];
  return Math.min(size, ...pictures.map((svg) => svg.getBoundingClientRect().width / parseFloat(svg.style.maxWidth)));
};

// Words of this size above pictures; return the size of the pictures, 0 if they do not fit.
const stack = (words, sights, size, height) => {
  words.style.setProperty("--words", size);
  return fits(words, height) && enlargeSights(sights, height - GAP - heightOf(words));
};

// Set sizes in one arrangement of words and pictures; return how well they can be read, 0 if they do not fit. Pictures
// need less: they have few letters, and those of drawings are large.
const arrange = (content, words, sights, beside) => {
  content.classList.toggle("beside", beside);
  const height = heightOf(content);
  if (beside) return Math.min(enlarge(words, "--words", height), 1.25 * enlargeSights(sights, height));
  const size = last(SIZES["--words"], (value) => 1.25 * stack(words, sights, value, height) >= value);
  return Math.min(size, 1.25 * stack(words, sights, size, height));
};

// Choose the arrangement and the sizes of a slide.
const fit = (section) => {
  const content = section.querySelector(".content"),
    [words, sights] = [".words", ".sights"].map((name) => content.querySelector(name));
  if (!words || !sights) {
    enlarge(words ?? sights, words ? "--words" : "--sights", heightOf(content));
    return;
  }
  const below = arrange(content, words, sights, false);
  if (arrange(content, words, sights, true) < 1.05 * below) arrange(content, words, sights, false);
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
