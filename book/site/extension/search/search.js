/* The browser's half of search.py, which puts the patterns in. Sphinx's search loads it last, and asks the
 * functions of Sphinx that are replaced here. What is not replaced is Sphinx's: the page, the index, the headings. */

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

/* The pieces of a query that `has` accepts, each as long as can be: what is marked on a page. */
unrolled.pieces = (query, has) => {
  const stemmer = new Stemmer();
  const found = new Set();
  for (const word of unrolled.words(query.toLowerCase())) {
    if (!unrolled.isCJK(word)) {
      const stem = stemmer.stemWord(word);
      if (stopwords.includes(word)) continue;
      if (has(word)) found.add(word);
      else if (stem.length > 2 && has(stem)) found.add(stem);
      continue;
    }
    for (let start = 0; start < word.length; ) {
      let end = word.length;
      while (end > start && !has(word.slice(start, end))) end--;
      const piece = word.slice(start, end);
      if (splitQuery(piece).length && (piece.length > 1 || word.length === 1)) found.add(piece);
      start = Math.max(end, start + 1);
    }
  }
  return [...found].sort((a, b) => b.length - a.length);
};

/* How much each page has to say about a word: a map from its number to a weight. A Latin word that stands nowhere may
 * be a part of others, and so may a single CJK character. Both weigh half. */
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

/* Does a heading say the whole query? Spaces do not matter: Korean is written with and without. */
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

/* Sphinx would count each word once, and sort equal pages by name. Here the rarer word counts more, and so does the
 * page that says it more often. A word that no page has is not asked for. A page that lacks what another has is left
 * out, unless it has most of it. */
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
  // 埋込 for 埋め込み: no pair in common, but each of its characters
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
      (Scorer.title * score) / best, // as high as a heading can score in Sphinx
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
  // marked on the page that the reader chooses: pieces whose words are all in the index
  const terms = Search._index.terms;
  const stemmer = new Stemmer();
  const known = (piece) => splitQuery(piece).every((word) => Object.hasOwn(terms, stemmer.stemWord(word)));
  const marks = unrolled.pieces(unrolled.query, known);
  localStorage.setItem("sphinx_highlight_terms", marks.join(" "));
  return [unrolled.query, searchTerms, excludedTerms, new Set(marks), objectTerms];
};

/* The part of a page, or of a section, where most of the query stands, marked. */
Search.makeSearchSummary = (html, _keywords, anchor) => {
  const page = new DOMParser().parseFromString(html, "text/html");
  const part = page.getElementById(anchor.slice(1)) || page.querySelector("article");
  if (!part) return null;
  part
    .querySelectorAll(".headerlink, .begin, h1, pre, script, style, svg, annotation")
    .forEach((element) => element.remove());
  // each begins anew
  part.querySelectorAll("dt, dd, li, p, tr, th, td").forEach((element) => element.append(" "));
  part.querySelectorAll("h2, h3, h4").forEach((element) => element.append(" · "));
  const text = part.textContent.replace(/\s+/g, " ").trim();
  const lower = text.toLowerCase();
  const query = unrolled.query.toLowerCase();
  const marks = lower.includes(query) ? [query] : unrolled.pieces(query, (piece) => lower.includes(piece));
  let [start, most] = [0, 0];
  for (const mark of marks)
    for (let at = lower.indexOf(mark); at >= 0; at = lower.indexOf(mark, at + 1)) {
      const around = lower.slice(Math.max(at - 60, 0), at + 180);
      const has = marks.filter((other) => around.includes(other)).join("").length;
      if (has > most) [start, most] = [Math.max(at - 60, 0), has];
    }
  const summary = document.createElement("p");
  summary.classList.add("context");
  const end = start + 240;
  let said = text.slice(start, end);
  // no half word at its ends
  if (start) said = `…${said.replace(/^[\p{Script=Latin}\d_’-]*[ ,.;:)]+/u, "")}`;
  if (end < text.length) said = `${said.replace(/[ (]+[\p{Script=Latin}\d_’-]*$/u, "")}…`;
  summary.textContent = said;
  marks.forEach((mark) => _highlightText(summary, mark, "highlighted"));
  return summary;
};

// A page that is a file may not read other pages: there are no summaries then.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
