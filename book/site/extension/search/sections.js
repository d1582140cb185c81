/* Reads the found pages: chooses the sections that a result leads to, and shows the results with excerpts. */

Object.assign(unrolled, {
  // neither prose nor code: buttons, drawings, formulas, links to headings, questions
  skipped: `.headerlink, .sig, .section-number, .begin, .math-display, .unrolled-figure, .quiz, .quiz-key, .guess, .guesses,
    .again, annotation, button, figure, form, nav, script, style, summary, svg`,
  block: "h1, h2, h3, h4, h5, p, li, dt, dd, td, th, pre",
  minor: /^(exercise|solution|further-reading|can-do)/, // sections that explain come before these
  factors: { heading: 6, bold: 2, prose: 1, cells: 1, code: 0.3 }, // what a word counts for
  formula: "\uFFFC", // stands for a formula in a text
  near: 16, // rows below its heading at which text is still on the heading's screen
});

/* Return about how many rows of a page a block takes, or an element that is not searched. */
unrolled.rows = (text, isCode) => 1 + (isCode ? text.trim().split("\n").length * 0.75 : Math.ceil(text.length / 85));

/* Split a page into places: an anchor, and what follows it. A place has blocks of text: { kind, text, formulas }. */
unrolled.places = (html) => {
  const page = new DOMParser().parseFromString(html, "text/html");
  const article = page.querySelector("article");
  const replaceByRows = (element, rows) => element.replaceWith(Object.assign(page.createElement("hr"), { rows }));
  for (const element of article.querySelectorAll(unrolled.skipped))
    if (element.matches("figure, .unrolled-figure, .math-display, .quiz"))
      replaceByRows(element, element.matches(".math-display") ? 3 : 12);
    else element.remove();
  // Outputs are numbers, and text that a network generated. Only messages of errors and warnings are searched for.
  for (const output of article.querySelectorAll(".cell_output"))
    if (!/Error|Warning/.test(output.textContent))
      replaceByRows(output, output.querySelector("img, hr") ? 12 : unrolled.rows(output.textContent, true));
  for (const math of article.querySelectorAll("math"))
    math.replaceWith(Object.assign(page.createTextNode(unrolled.formula), { math }));

  const places = [];
  let [place, block] = [null, null];
  const walker = page.createTreeWalker(article, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.nodeType === Node.ELEMENT_NODE) {
      if (place) place.rows += node.rows ?? 0;
      if (!node.matches(".place") && place) continue;
      place = { anchor: node.id, section: node.closest("section"), blocks: [], counts: new Map(), rows: 0 };
      places.push(place);
      continue;
    }
    const element = node.parentElement.closest(unrolled.block);
    if (!element) continue;
    if (block?.element !== element || !place.blocks.includes(block)) {
      const kind = { H: "heading", P: "prose", T: "cells" }[element.tagName[0]] || "prose";
      block = { element, kind: element.tagName === "PRE" ? "code" : kind, text: "", formulas: [] };
      if (element.closest("td, th")) block.kind = "cells";
      place.blocks.push(block);
    }
    block.text += node.data.replace(/\u2060/g, ""); // see keep_particles in theme.py
    if (node.math) block.formulas.push(node.math);
    if (block.kind === "prose" && node.parentElement.closest("strong")) unrolled.count(place, node.data, "bold");
  }
  for (const place of places)
    for (const { text, kind } of place.blocks) {
      unrolled.count(place, text, kind);
      place.rows += kind === "cells" ? text.length / 85 : unrolled.rows(text, kind === "code");
    }
  return places;
};

unrolled.count = (place, text, kind) => {
  const stems = unrolled.stems(text);
  const add = (word) => place.counts.set(word, (place.counts.get(word) || 0) + unrolled.factors[kind]);
  stems.forEach((stem, i) => {
    add(stem);
    if (i) add(`${stems[i - 1]} ${stem}`);
  });
};

/* Return how often a place has a word, as lookUp in search.js: as a part of others if it is not one itself. */
unrolled.occurrences = ({ counts }, word) => {
  if (counts.has(word)) return counts.get(word);
  if (unrolled.terms.has(word) || (word.length < 3 && !(unrolled.isCJK(word) && word.length === 1))) return 0;
  return [...counts].reduce((sum, [stem, count]) => sum + (stem.includes(word) ? count / 2 : 0), 0);
};

/* Split the places of a page into sections, each with its places. */
unrolled.toSections = (places, page) => {
  const sections = [];
  for (const place of places) {
    if (sections.at(-1)?.element !== place.section)
      sections.push({ page, element: place.section, anchor: place.anchor, places: [], first: !sections.length });
    sections.at(-1).places.push(place);
  }
  for (const section of sections) {
    section.heading = section.element?.querySelector(":scope > :is(h1, h2, h3, h4, h5)");
    for (const place of section.places) place.length = place.blocks.reduce((sum, { text }) => sum + text.length, 0);
    section.length = section.places.reduce((sum, { length }) => sum + length, 0);
  }
  return sections;
};

/* Return the place of a section that a result leads to: the one that has most of the query. That is the heading if the
 * place is near it, and text, not the code below it. */
unrolled.target = ({ places }, share, rate) => {
  const better = places.filter((place) => share(place) > share(places[0]) + 1e-9);
  let at = places.indexOf(better.sort((a, b) => share(b) - share(a) || rate(b) - rate(a))[0] ?? places[0]);
  while (at && (places[at].blocks[0]?.kind ?? "code") === "code") at--;
  const above = places.slice(0, at).reduce((sum, { rows }) => sum + rows, 0);
  return places[above > unrolled.near ? at : 0];
};

/* Give each section a score: how well it has the words of the query. Sections of all found pages are compared. */
unrolled.score = (sections) => {
  const query = unrolled.stems(unrolled.query);
  const pairs = query.slice(1).map((stem, i) => `${query[i]} ${stem}`);
  const words = [...unrolled.searched, ...new Set(pairs)];
  const names = unrolled.names();
  for (const section of sections) {
    for (const place of section.places) place.hits = words.map((word) => unrolled.occurrences(place, word));
    section.hits = words.map((_, i) => section.places.reduce((sum, { hits }) => sum + hits[i], 0));
    const anchors = section.places.map(({ anchor }) => anchor);
    // a name of a cell is not that of a heading without text: the next heading of the cell has the text
    const hasText = section.places.some(({ blocks }) => blocks.some(({ kind }) => kind !== "heading"));
    const named = hasText ? anchors.map((anchor) => anchor.replace(/--\d+$/, "")) : [];
    section.likeness = 0;
    for (const name of names) {
      if (name.page !== section.page || !(name.heading ? anchors : named).includes(name.anchor)) continue;
      section.likeness = Math.max(section.likeness, name.likeness);
      if (name.heading) continue;
      const stems = unrolled.stems(name.name);
      words.forEach((word, i) => {
        if (stems.includes(word)) section.hits[i] = Math.max(section.hits[i], 3 + 3 * name.likeness);
      });
    }
  }
  const mean = sections.reduce((sum, { length }) => sum + length, 0) / sections.length;
  const rarities = words.map(
    (word, i) =>
      Math.log(1 + sections.length / (sections.filter(({ hits }) => hits[i]).length || 1)) *
      (word.includes(" ") ? 0.5 : 1) *
      unrolled.importance(word),
  );
  // The more often a word has been found, the less it adds; and it adds less in a longer text (BM25).
  const rate = ({ hits, length }) =>
    hits.reduce((sum, n, i) => sum + (rarities[i] * n * 2) / (n + 0.4 + (0.6 * length) / mean), 0);
  // how much of the query a place has, by what a number of hits counts
  const shareBy =
    (count) =>
    ({ hits }) =>
      hits.reduce((sum, n, i) => sum + (words[i].includes(" ") ? 0 : count(n) * rarities[i]), 0);
  const share = shareBy((n) => (n ? 1 : 0));
  const sure = shareBy((n) => Math.min(n, 1)); // what only code has may be there by chance
  const most = Math.max(...sections.map(share));
  for (const section of sections) {
    section.score = rate(section) * (share(section) / most) ** 1.5 * (1 + 2.5 * section.likeness ** 2);
    if (unrolled.minor.test(section.anchor)) section.score *= 0.05;
    if (section.first) section.score *= 0.5; // a page's introduction names what its sections explain
    section.place = unrolled.target(section, sure, rate);
  }
  return sections.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
};

/* Return the start and the end of about 200 characters of a text, at the beginnings of words, that have most of the marks.
 * They begin with the sentence that has the first mark, unless that is long. */
unrolled.excerpt = (text, marks) => {
  const lower = text.toLowerCase();
  let [start, most] = [0, 0];
  for (const mark of marks)
    for (let at = lower.indexOf(mark); at >= 0; at = lower.indexOf(mark, at + 1)) {
      const near = lower.slice(at, at + 170);
      const has = marks.filter((other) => near.includes(other)).join("").length;
      if (has > most || (has === most && at < start)) [start, most] = [at, has];
    }
  const before = text.slice(Math.max(start - 120, 0), start);
  const earlier = before.match(/^[^]*(?:[.!?:] |[。！？：])/)?.[0].length;
  if (earlier) start -= before.length - earlier;
  else start = start > 120 ? start - 60 : 0;
  const words = new Intl.Segmenter(document.documentElement.lang, { granularity: "word" }).segment(text);
  const wordAt = (at) => words.containing(at)?.index ?? text.length;
  return [wordAt(start), wordAt(start + 220)];
};

/* Return a paragraph with the prose of a section around the query, which is marked. */
unrolled.summarize = (section) => {
  const query = unrolled.query.toLowerCase();
  const marksOf = (text) => (text.includes(query) ? [query] : unrolled.pieces(query, (piece) => text.includes(piece)));
  const inRow = ({ kind, element }) =>
    kind === "cells" && marksOf(element.closest("tr")?.textContent.toLowerCase() ?? "").length;
  const prose = (places) =>
    places.flatMap(({ blocks }) => blocks.filter((block) => block.kind === "prose" || inRow(block)));
  const texts = [prose(section.places.slice(section.places.indexOf(section.place))), prose(section.places)];
  const blocks = texts.find((blocks) => blocks.length) || [];
  const text = blocks
    .map(({ text, kind }) => text.trim().replace(/\s+/g, " ") + (kind === "cells" ? " ·" : ""))
    .join(" ");
  const formulas = blocks.flatMap(({ formulas }) => formulas);
  const marks = marksOf(text.toLowerCase());
  const [start, end] = unrolled.excerpt(text, marks);

  const summary = document.createElement("p");
  summary.className = "context";
  let next = text.slice(0, start).split(unrolled.formula).length - 1;
  const pieces = text.slice(start, end).trim().split(unrolled.formula);
  pieces.forEach((piece, i) => summary.append(...(i ? [formulas[next++].cloneNode(true)] : []), piece));
  if (start) summary.prepend("… ");
  if (end < text.length) summary.append(" …");
  marks.forEach((mark) => _highlightText(summary, mark, "highlighted"));
  return summary;
};

/* Read a page, once, and return its sections. */
unrolled.pages = new Map();
unrolled.read = (file, page) => {
  const read = async () => unrolled.toSections(unrolled.places(await (await fetch(file)).text()), page);
  if (!unrolled.pages.has(file)) unrolled.pages.set(file, read());
  return unrolled.pages.get(file);
};

/* Return the results in the form of Sphinx, the best first, each with its sections: at most ten pages, in the order of
 * their best sections. A page that cannot be read in time keeps its place in the index's order, without sections. */
unrolled.search = async (query) => {
  const parsed = Search._parseQuery(query);
  const results = Search._performSearch(...parsed)
    .reverse()
    .slice(0, 10);
  const numberOf = ([name]) => Search._index.docnames.indexOf(name);
  const late = new Promise((resolve) => setTimeout(resolve, 3000, []));
  const read = (result) => {
    const sections = unrolled.read(result[0] + DOCUMENTATION_OPTIONS.LINK_SUFFIX, numberOf(result));
    return Promise.race([sections.catch(() => []), late]);
  };
  const pages = DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY ? await Promise.all(results.map(read)) : [];
  const sections = unrolled.score(pages.flat());
  for (const result of results) {
    result.sections = sections.filter(({ page }) => page === numberOf(result));
    const { anchor, likeness } = unrolled.bestNames.get(numberOf(result)) || {};
    const [best] = anchor === "" && likeness === 1 ? sections : [...result.sections, ...sections]; // the page's own name
    result.score = result[4] ** 2 * (best?.score ?? 1);
  }
  results.sort((a, b) => b.score - a.score);

  // The pages of the reference: one whose name is asked for comes second, or first after "companion."; others come last.
  const { docnames, titles, filenames } = Search._index;
  const { pages: found, named, whole } = unrolled.inReference(parsed[1]);
  const reference = found.map((page) => [docnames[page], titles[page], "", null, 0, filenames[page]]);
  for (const result of reference)
    result.sections = DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY ? unrolled.score(await read(result)) : [];
  if (named) results.splice(whole ? 0 : 1, 0, reference.shift());
  return [...results, ...reference];
};

/* Show the results: the section of each page, an excerpt, and a second section. */
Search.query = async (query) => {
  const results = await unrolled.search(query);
  document.getElementById("search-progress").replaceChildren();
  const make = (tag, parent, className = "") =>
    parent.appendChild(Object.assign(document.createElement(tag), { className }));
  for (const { 0: name, 1: title, 2: anchor, 3: heading, sections } of results) {
    const [first, second] = sections;
    const item = make("li", Search.output);
    const file = name + DOCUMENTATION_OPTIONS.LINK_SUFFIX;
    const link = make("a", item);
    link.href = file + (first ? "" : anchor);
    link.innerHTML = title;
    const lead = (link, anchor, nodes) => {
      link.href = `${file}#${anchor}`;
      make("span", link, "section").append(...nodes);
    };
    if (!first) {
      if (heading) lead(link, anchor.slice(1), [heading]);
      continue;
    }
    if (first.heading?.tagName !== "H1") lead(link, first.place.anchor, [...first.heading.cloneNode(true).childNodes]);
    // The page marks what it has of the query: the index may have a word from another page, or as a synonym.
    const text = first.places.flatMap(({ blocks }) => blocks.map((block) => block.text.toLowerCase())).join(" ");
    const marks = unrolled.pieces(unrolled.query, (piece) => text.includes(piece)).join(" ");
    for (const event of ["click", "auxclick"])
      item.addEventListener(event, () => localStorage.setItem("sphinx_highlight_terms", marks));
    item.append(unrolled.summarize(first));
    if (second?.score > 0.6 * first.score && second.heading?.tagName !== "H1")
      lead(make("a", make("p", item, "more")), second.place.anchor, [...second.heading.cloneNode(true).childNodes]);
  }
  Search.status.role = "status"; // a screen reader reads it
  _finishSearch(results.length);
};

// A page opened as a file cannot read other pages, so it shows no excerpts.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
