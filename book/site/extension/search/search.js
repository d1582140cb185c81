/* The browser's part of the search: splits queries like index.py, which inserts the patterns, and ranks the pages. It
 * replaces some functions of Sphinx's search, which loads it last; the page, the index and the headings are Sphinx's. */

const unrolled = { patterns: PATTERNS, endings: ENDINGS, camel: CAMEL, query: "", terms: null };

unrolled.clean = (text) =>
  unrolled.endings.reduce((s, ending) => s.replace(new RegExp(ending, "gu"), "$1"), text.normalize("NFKC"));

unrolled.words = (text) => unrolled.clean(text).match(new RegExp(unrolled.patterns.word, "gu")) || [];

unrolled.isCJK = (word) => new RegExp(unrolled.patterns.cjk, "u").test(word);

unrolled.splitName = (name) => {
  const spaced = unrolled.camel.reduce((s, boundary) => s.replace(new RegExp(boundary, "g"), "$1 $2"), name);
  const parts = spaced
    .toLowerCase()
    .split(/[ ._]+/)
    .filter((part) => part.length > 1);
  const whole = name.toLowerCase().replace(/^_+|_+$/g, "");
  return whole ? [whole, ...parts.filter((part) => part !== whole)] : [];
};

var splitQuery = (text) => {
  const skip = new RegExp(`${unrolled.patterns.grammar}|${unrolled.patterns.number}`, "u");
  return unrolled
    .words(text)
    .flatMap((word) => {
      if (!unrolled.isCJK(word)) return unrolled.splitName(word);
      if (word.length === 1) return [word];
      return Array.from({ length: word.length - 1 }, (_, i) => word.slice(i, i + 2));
    })
    .filter((word) => !skip.test(word));
};

/* Return the longest pieces of a query that `has` accepts, to be marked on a page. */
unrolled.pieces = (query, has) => {
  const stemmer = new Stemmer();
  const pieces = new Set();
  for (const word of unrolled.words(query.toLowerCase())) {
    if (!unrolled.isCJK(word)) {
      const stem = stemmer.stemWord(word);
      if (stopwords.includes(word)) continue;
      if (has(word)) pieces.add(word);
      else if (stem.length > 2 && has(stem)) pieces.add(stem);
      continue;
    }
    for (let start = 0; start < word.length; ) {
      let end = word.length;
      while (end > start && !has(word.slice(start, end))) end--;
      const piece = word.slice(start, end);
      if (splitQuery(piece).length && (piece.length > 1 || word.length === 1)) pieces.add(piece);
      start = Math.max(end, start + 1);
    }
  }
  return [...pieces].sort((a, b) => b.length - a.length);
};

/* Return a map from the number of a page to its weight for a word. A word of letters that is not in the index, or a single
 * CJK character, may be a part of other words; it then has half their weight. */
unrolled.lookUp = (word) => {
  const weights = new Map();
  const add = (pages, factor) => {
    const own = new Map();
    for (const page of [pages].flat()) own.set(page, (own.get(page) || 0) + factor);
    own.forEach((weight, page) => weights.set(page, Math.max(weight, weights.get(page) || 0)));
  };
  if (unrolled.terms.has(word)) add(unrolled.terms.get(word), 1);
  else if (word.length > 2 || (unrolled.isCJK(word) && word.length === 1))
    unrolled.terms.forEach((pages, term) => term.includes(word) && add(pages, 0.5));
  return weights;
};

/* Return the pages with a heading that contains the whole query, without spaces, whose use varies in Korean. */
unrolled.inHeading = () => {
  const squeeze = (text) =>
    unrolled
      .clean(text)
      .toLowerCase()
      .replace(/[\s`]+/g, "");
  const wanted = squeeze(unrolled.query);
  const pages = new Set();
  for (const [title, places] of Object.entries(Search._index.alltitles))
    if (squeeze(title).includes(wanted)) places.forEach(([page]) => pages.add(page));
  return pages;
};

/* Rank the pages. Sphinx would count each word once and sort equal pages by name. Here rare words count more, and so do
 * pages with a high weight for a word. Words that are on no page are ignored. A page is left out if it has at most half
 * of the words (weighted by rarity) that the best page has. */
Search.performTermsSearch = (searchTerms) => {
  const { terms, docnames, filenames, titles } = Search._index;
  unrolled.terms ||= new Map(Object.entries(terms));
  const rank = (words) => {
    const pages = docnames.map((_, page) => ({ page, has: 0, score: 0 }));
    for (const word of words) {
      const weights = unrolled.lookUp(word);
      const rarity = Math.log(1 + docnames.length / weights.size);
      weights.forEach((weight, page) => {
        pages[page].has += rarity;
        pages[page].score += rarity * weight;
      });
    }
    return pages.filter((page) => page.score);
  };
  let pages = rank(searchTerms);
  // 埋込 and 埋め込み have no pair of characters in common, but single ones
  if (!pages.length) pages = rank(new Set([...searchTerms].filter(unrolled.isCJK).join("")));
  const most = Math.max(...pages.map((page) => page.has));
  const headings = unrolled.inHeading();
  pages.forEach((page) => (page.score *= (page.has / most) ** 2 * (headings.has(page.page) ? 1.5 : 1)));
  const best = Math.max(...pages.map((page) => page.score));
  return pages
    .filter((page) => page.has > 0.5 * most)
    .map(({ page, score }) => [
      docnames[page],
      titles[page],
      "",
      null,
      (Scorer.title * score) / best, // the maximum score of a heading in Sphinx
      filenames[page],
    ]);
};

unrolled.parseQuery = Search._parseQuery;
Search._parseQuery = (query) => {
  unrolled.query = query
    .normalize("NFKC")
    .replace(/[?!。\s]+$/, "")
    .trim();
  const [, searchTerms, excludedTerms, , objectTerms] = unrolled.parseQuery(unrolled.query);
  // mark pieces whose words are all in the index on the page that the reader opens
  const terms = Search._index.terms;
  const stemmer = new Stemmer();
  const inIndex = (piece) => splitQuery(piece).every((word) => Object.hasOwn(terms, stemmer.stemWord(word)));
  const marks = unrolled.pieces(unrolled.query, inIndex);
  localStorage.setItem("sphinx_highlight_terms", marks.join(" "));
  return [unrolled.query, searchTerms, excludedTerms, new Set(marks), objectTerms];
};

/* Return the part of a page or section that has most of the query, with the query marked. */
Search.makeSearchSummary = (html, _keywords, anchor) => {
  const page = new DOMParser().parseFromString(html, "text/html");
  const part = page.getElementById(anchor.slice(1)) || page.querySelector("article");
  if (!part) return null;
  part
    .querySelectorAll(".headerlink, .begin, h1, pre, script, style, svg, annotation")
    .forEach((element) => element.remove());
  // separate the texts of these elements
  part.querySelectorAll("dt, dd, li, p, tr, th, td").forEach((element) => element.append(" "));
  part.querySelectorAll("h2, h3, h4").forEach((element) => element.append(" · "));
  const text = part.textContent.replace(/\s+/g, " ").trim();
  const lower = text.toLowerCase();
  const query = unrolled.query.toLowerCase();
  const marks = lower.includes(query) ? [query] : unrolled.pieces(query, (piece) => lower.includes(piece));
  let [start, most] = [0, 0];
  for (const mark of marks)
    for (let at = lower.indexOf(mark); at >= 0; at = lower.indexOf(mark, at + 1)) {
      const excerpt = lower.slice(Math.max(at - 60, 0), at + 180);
      const has = marks.filter((other) => excerpt.includes(other)).join("").length;
      if (has > most) [start, most] = [Math.max(at - 60, 0), has];
    }
  const summary = document.createElement("p");
  summary.classList.add("context");
  const end = start + 240;
  let shown = text.slice(start, end);
  // remove half words at the ends
  if (start) shown = `…${shown.replace(/^[\p{Script=Latin}\d_’-]*[ ,.;:)]+/u, "")}`;
  if (end < text.length) shown = `${shown.replace(/[ (]+[\p{Script=Latin}\d_’-]*$/u, "")}…`;
  summary.textContent = shown;
  marks.forEach((mark) => _highlightText(summary, mark, "highlighted"));
  return summary;
};

// A page opened as a file cannot read other pages, so it shows no summaries.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
