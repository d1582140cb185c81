/* The browser's part of the search: splits queries like index.py, which inserts the patterns, and ranks the pages. It
 * replaces some functions of Sphinx's search, which loads it last; the page and the index are Sphinx's. sections.js
 * follows. */

const unrolled = { patterns: PATTERNS, camel: CAMEL, query: "", terms: null, stemmed: new Map() };
unrolled.forms = FORMS.map(([form, ending]) => [new RegExp(form, "gu"), `$1${ending}`]);
const [samePattern, sameWords] = SAME_WORDS;
unrolled.same = [new RegExp(samePattern, "gu"), (found) => sameWords[found.replace(/\s/g, "")]];

/* Return a text with the words of the book in place of others that mean the same, each in one form. */
unrolled.clean = (text) =>
  [unrolled.same, ...unrolled.forms].reduce((s, [form, word]) => s.replace(form, word), text.normalize("NFKC"));

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
      const pairs = Array.from({ length: word.length - 1 }, (_, i) => word.slice(i, i + 2));
      return [...pairs, ...(word.match(new RegExp(unrolled.patterns.noun, "gu")) || [])];
    })
    .filter((word) => !skip.test(word));
};

// Words around what is searched for, in questions.
unrolled.questions = new RegExp(
  "とは何|とは|何ですか|ですか|ますか|やり方|使い方|決め方|書き方|方法|意味|役割|仕組み|理由|教えて|について|" +
    "무엇인가요?|뭐예요|뭐가|뭔가요|뭔지|어떻게|언제|하는 일|(?:하는 |쓰는 )?법(?![가-힣])|(?:하는 )?방법|역할|의미|이유|(?<![가-힣])왜(?![가-힣])|(?:인|하|되|좋|있)나요|" +
    "怎么办|怎么|如何|(?:是)?什么意思|是什么|什么是|为什么|的?作用|原理",
  "gu",
);

// Words around a message, which thousands of messages have.
unrolled.noise = /\b(?:[A-Z]\w*(?:Error|Warning|Exception)\b:?|(?:py)?torch\b(?!\.))/gi;

/* Return a word as it is in the index. */
unrolled.stem = (word) => {
  unrolled.stemmer ||= new Stemmer();
  if (!unrolled.stemmed.has(word)) unrolled.stemmed.set(word, unrolled.stemmer.stemWord(word));
  return unrolled.stemmed.get(word);
};

/* Return the words of a text as they are in the index. */
unrolled.stems = (text) =>
  splitQuery(text)
    .filter((word) => !stopwords.includes(word))
    .map(unrolled.stem);

/* Return the longest pieces of a query that `has` accepts, to be marked on a page. */
unrolled.pieces = (query, has) => {
  const pieces = new Set();
  for (const word of unrolled.words(query.toLowerCase())) {
    if (!unrolled.isCJK(word)) {
      const stem = unrolled.stem(word);
      if (word.length < 2 || stopwords.includes(word) || !splitQuery(word).length) continue;
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

/* Return the headings and the names of places as a list of {name, page, anchor}; `heading` tells which they are. rank adds
 * how much each is like the query. */
unrolled.names = () => {
  const { alltitles, names } = Search._index;
  unrolled.allNames ||= [alltitles, names].flatMap((titles) =>
    Object.entries(titles).flatMap(([name, places]) =>
      places.map(([page, anchor]) => ({ name, page, anchor: anchor || "", heading: titles === alltitles })),
    ),
  );
  return unrolled.allNames;
};

/* Return the word of the index that a word of letters which is not in it may stand for: gradiant, forgetgate. */
unrolled.correct = (word) => {
  const { terms } = unrolled;
  if (
    word.length < 5 ||
    unrolled.isCJK(word) ||
    /[._]/.test(word) ||
    [...terms.keys()].some((term) => term.includes(word))
  )
    return [word];
  const near = (term) =>
    Math.abs(term.length - word.length) < 3 &&
    term[0] === word[0] &&
    unrolled.distance(term, word) <= (word.length < 8 ? 1 : 2);
  const found = [...terms.keys()]
    .filter(near)
    .sort(
      (a, b) => unrolled.distance(a, word) - unrolled.distance(b, word) || terms.get(b).length - terms.get(a).length,
    );
  if (found.length) return [found[0]];
  for (let i = 3; i < word.length - 2; i++) {
    const parts = [word.slice(0, i), word.slice(i)].map(unrolled.stem);
    if (parts.every((part) => terms.has(part))) return parts;
  }
  return [word];
};

/* Return how many letters have to be changed, added, left out or exchanged to make one word of the other. */
unrolled.distance = (a, b) => {
  let [before, last] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(last[j] + 1, next[j - 1] + 1, last[j - 1] + (a[i - 1] !== b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        next[j] = Math.min(next[j], before[j - 2] + 1);
    }
    [before, last] = [last, next];
  }
  return last[b.length];
};

/* Return how much a pair of characters counts: the pairs of a long word in katakana or Hangul together count for two words. */
unrolled.importance = (pair) => {
  const run = (unrolled.clean(unrolled.query).match(/[ァ-ヺー]+|[가-힣]+/gu) || []).find((run) => run.includes(pair));
  return run ? Math.min(1, 2 / (run.length - 1)) : 1;
};

/* Return how much a name of a place is like the query, from 0 to 1: 1 if it contains the query or has the same words. Rare
 * words count more. Spaces do not matter: their use varies in Korean. */
unrolled.likeness = (name) => {
  const squeeze = (text) =>
    unrolled
      .clean(text)
      .toLowerCase()
      .replace(/[\s`]+/g, "");
  name.squeezed ??= squeeze(name.name);
  name.stems ??= new Set(unrolled.stems(name.name));
  if (name.squeezed.includes(squeeze(unrolled.query))) return 1;
  const length = unrolled.size();
  const weigh = (words) =>
    words.reduce((sum, word) => sum + Math.log(1 + length / new Set([unrolled.terms.get(word) ?? 0].flat()).size), 0);
  const common = weigh([...name.stems].filter((stem) => unrolled.searched.has(stem)));
  return common && (2 * common) / (weigh([...name.stems]) + weigh([...unrolled.searched]));
};

/* Return the number of pages that are ranked: all but those of the reference. */
unrolled.size = () => {
  unrolled.ranked ||= Search._index.docnames.filter((name) => !/(^|\/)reference(_|$)/.test(name)).length;
  return unrolled.ranked;
};

/* Return a map from the words of a query to their rarity. A pair of CJK characters between two others may join two words:
 * 配爆 in 勾配爆発. It counts for no more than its neighbours. */
unrolled.rarities = (words, weights) => {
  const own = (word) => {
    const { size } = weights.get(word) || unrolled.lookUp(word);
    return size ? unrolled.importance(word) * Math.log(1 + unrolled.size() / size) : 0;
  };
  const rarities = new Map([...words].map((word) => [word, own(word)]));
  for (const run of unrolled.words(unrolled.query).filter(unrolled.isCJK))
    for (let i = 1; i + 3 <= run.length; i++) {
      const pair = run.slice(i, i + 2);
      const [before, after] = [own(run.slice(i - 1, i + 1)), own(run.slice(i + 1, i + 3))];
      if (before && after && rarities.has(pair)) rarities.set(pair, Math.min(rarities.get(pair), before, after));
    }
  return rarities;
};

/* Return the pages of the reference that have every word of a query, at most three, and whether the query is the name of the
 * first: "name", or "companion.name". */
unrolled.inReference = (searchTerms) => {
  const { docnames, reference } = Search._index;
  const nameOf = (page) => docnames[page].replace(/.*reference_/, "").toLowerCase();
  const asked = unrolled.query.toLowerCase().replace(/\(.*\)$/, "");
  const name = asked.replace(/^companion\./, "");
  const lists = [...searchTerms].map((word) => (Object.hasOwn(reference, word) ? reference[word] : []));
  const pages = (lists[0] ?? []).filter((page) => lists.every((list) => list.includes(page)));
  const likeness = (page) => (nameOf(page) === name ? 2 : nameOf(page).includes(name) ? 1 : 0);
  pages.sort((a, b) => likeness(b) - likeness(a));
  return { pages: pages.slice(0, 3), named: pages.some((page) => nameOf(page) === name), whole: asked !== name };
};

unrolled.asking = /^(assignment|index$|asked|glossary)/;
unrolled.forTeachers = /^(about|teaching|grading|project|own_question)$/;

/* Rank the pages. Sphinx would count each word once and sort equal pages by name. Here rare words count more, and so do
 * pages with a high weight for a word. Words that are on no page are ignored. A page is left out if it has at most 0.25
 * of the words (weighted by rarity) that the best page has. */
unrolled.rank = (searchTerms) => {
  const { docnames, terms } = Search._index;
  unrolled.terms ||= new Map(Object.entries(terms));
  const rank = (words) => {
    const pages = docnames.map((_, page) => ({ page, has: 0, score: 0 }));
    const weights = new Map([...words].map((word) => [word, unrolled.lookUp(word)]));
    unrolled.rarities(words, weights).forEach((rarity, word) =>
      weights.get(word).forEach((weight, page) => {
        pages[page].has += rarity;
        pages[page].score += rarity * weight;
      }),
    );
    unrolled.searched = new Set(words);
    return pages.filter((page) => page.score);
  };
  let pages = rank(new Set([...searchTerms].flatMap(unrolled.correct)));
  // 埋込 and 埋め込み have no pair of characters in common, but single ones
  if (!pages.length) pages = rank(new Set([...searchTerms].filter(unrolled.isCJK).join("")));
  const most = Math.max(...pages.map((page) => page.has));
  for (const page of pages) page.score *= (page.has / most) ** 2;
  unrolled.bestNames = new Map(); // of each page, the name that is most like the query
  for (const name of unrolled.names()) {
    const best = unrolled.bestNames.get(name.page);
    name.likeness = unrolled.likeness(name);
    if (!best || best.likeness < name.likeness) unrolled.bestNames.set(name.page, name);
  }
  for (const page of pages) {
    const likeness = unrolled.bestNames.get(page.page)?.likeness ?? 0;
    page.score *= 1 + 0.5 * likeness ** 3;
    if (likeness === 1) continue;
    if (unrolled.asking.test(docnames[page.page])) page.score *= 0.3; // chapters explain
    if (unrolled.forTeachers.test(docnames[page.page])) page.score *= 0.1; // these pages name all topics, too
  }
  return pages.filter((page) => page.has > 0.25 * most).sort((a, b) => b.score - a.score);
};

/* Return the results in the form of Sphinx, the worst first. The anchor is that of the heading or name most like the query:
 * a page opened as a file cannot read other pages. */
Search._performSearch = (_query, searchTerms) => {
  const { docnames, titles, filenames } = Search._index;
  return unrolled
    .rank(searchTerms)
    .map(({ page, score }) => {
      const name = unrolled.bestNames.get(page);
      const [anchor, heading] =
        name?.anchor && name.likeness > 0.5 ? [`#${name.anchor}`, name.heading && name.name] : ["", null];
      return [docnames[page], titles[page], anchor, heading || null, score, filenames[page]];
    })
    .reverse();
};

unrolled.parseQuery = Search._parseQuery;
Search._parseQuery = (query) => {
  const whole = query
    .normalize("NFKC")
    .replace(/[?!。\s]+$/, "")
    .trim();
  const asked = whole.replace(unrolled.questions, " ").trim();
  const message = asked.replace(unrolled.noise, " ").replace(/\s+/g, " ").trim();
  unrolled.query = [message, asked].find((text) => unrolled.stems(text).length) ?? whole;
  const [, searchTerms, excludedTerms, , objectTerms] = unrolled.parseQuery(unrolled.query);
  // mark pieces whose words are all in the index on the page that the reader opens
  const terms = Search._index.terms;
  const inIndex = (piece) => splitQuery(piece).every((word) => Object.hasOwn(terms, unrolled.stem(word)));
  const marks = unrolled.pieces(unrolled.query, inIndex);
  localStorage.setItem("sphinx_highlight_terms", marks.join(" "));
  return [unrolled.query, searchTerms, excludedTerms, new Set(marks), objectTerms];
};
