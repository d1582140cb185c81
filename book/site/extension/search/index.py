"""Search index for all languages, with one rule for splitting text.

Sphinx would need a dictionary to split Chinese or Japanese into words, and does not split queries at all. Here a run of
Chinese, Japanese or Korean characters becomes all pairs of neighbouring characters, on pages and in queries: 梯度下降
becomes 梯度, 度下, 下降. So a compound finds its parts, a part its compounds, and 상태 finds 상태를. Before
that, words.yml gives the book's word for others, and all forms of a word become one: 窓 is ウィンドウ, 選び is 選ぶ.
A name such as `weight_ih_l0` or `nn.LSTMCell` is indexed as a whole and in parts. search.js splits queries in the same
way in the browser, and ranks the pages by the weights of the words. sections.js reads the found pages and chooses a
section of each. The index also has names of places: the terms of the glossary, and synonyms.
"""

import json
import math
import re
import unicodedata
from collections import Counter
from functools import cache
from importlib import import_module
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.search import SearchLanguage, js_index, languages
from sphinx.search.en import SearchEnglish

from book.editions import ORIGINAL
from book.site.extension.glossary import TERMS, load
from book.site.extension.interface_words import edition_of
from book.site.extension.reference import docstrings

# Regular expressions that mean the same in Python and JavaScript; search.js gets these strings.
CJK = "々〆ぁ-ゖァ-ヺー-ヾ㐀-䶿一-鿿가-힣"
LATIN = "A-Za-z0-9_À-ÖØ-öø-ɏͰ-Ͽ"
PATTERNS = {
    "word": f"[{CJK}]+|[{LATIN}]+(?:\\.[{LATIN}]+)*",
    "cjk": f"^[{CJK}]",
    # between the words
    "grammar": "^[ぁ-ゖー]+$|[をのはにでとも的了是吗呢么]|^が|[ァ-ヺー]が|^[ぁ-ゖ][々㐀-鿿]|"
    "^[은는이가을를의와과도로和与]$|"
    "^(?:이랑|에서|에는|으로|까지|부터|처럼|보다|이란|하고|하기|하는|하면|되는|합니|됩니|습니|입니|니다|어요|아요|해요|나요)$",
    "number": "^[0-9]",  # also .2f and 3x
    # a noun of one character, whose pairs all have a particle: 層 in 層の数
    "noun": "(?<![々㐀-鿿])[々㐀-鿿](?=[をのはにでとがもなやァ-ヺ]|$)",
}
# What one word has in several forms, and what is written instead in all of them.
FORMS = (
    ("([ァ-ヺー][ァ-ヺ])ー(?![ァ-ヺー])", ""),  # パラメーター is also written パラメータ
    # The row of the kana after a verb's last kanji tells the verb: 選ぶ becomes 選び, 選べ; but 重み is not 重ね.
    *(
        (f"([々㐀-鿿])[{row}]", row[0])
        for row in "うえおい くかきけこ ぐぎげご すさしせそ つたちて ぶばびべぼ むまみめ るらりれろ".split()
    ),
    # 학습 becomes 학습하는, 학습됩니다; 상태 becomes 상태를, 상태에서; 층 becomes 층을
    (
        "([가-힣][가-힣])(?:[하되](?:[기는면고지며]|려면|나요)?|시키[기는면고]|[합됩]니다|[해돼][요서야]?|[한된]다|[한된할될])"
        "(?![가-힣])",
        "",
    ),
    (
        "([가-힣][가-힣])(?:에서|에게|한테|으로|부터|까지|처럼|보다|마다|하고|이나)?(?:이란|이랑|[란랑은는이가을를의와과도로에만])?"
        "(?![가-힣])",
        "",
    ),
    ("(?<![가-힣])([가-힣])(?:[을를은는]|에서|에는|으로|부터)(?![가-힣])", ""),
)
CAMEL = ("([a-z0-9])([A-Z])", "([A-Z])([A-Z][a-z][a-z])")  # where a new word begins in a name

# Words of questions, which are ignored in addition to the stop words of Sphinx.
QUESTION_WORDS = """about an can do does example explained from has have how i me my of on or our out pytorch should
too tutorial vs we what when where which who why you your""".split()

# Weights of a word by its place: a chapter's title says best what it is about, and bold words are those it explains.
TEXT, BOLD, HEADING, TITLE = 1, 5, 5, 25
SPHINX_LANGUAGES = dict(languages)
SYNONYMS, WORDS = (
    yaml.safe_load(Path(__file__).with_name(name).read_text(encoding="utf-8")) for name in ("synonyms.yml", "words.yml")
)


def pattern_of(word):
    """Return a pattern for a word of words.yml. A very short word may be a part of others, so it has to stand alone."""
    pattern = r"\s*".join(word.split())
    for script, most in (("ァ-ヺー", 2), ("々㐀-鿿", 1), ("가-힣", 1)):
        if re.fullmatch(f"[{script}]{{1,{most}}}", word):
            end = "(?=[은는이가을를의과와도로]?(?![가-힣]))" if script == "가-힣" else f"(?![{script}])"
            return f"(?<![{script}]){pattern}{end}"
    return pattern


# A name stays apart from the word after it: Transformerとは becomes Transformer とは.
SAME = {
    "".join(word.split()): f" {term} " if re.search("[A-Za-z]", term) else term
    for term, words in WORDS.items()
    for word in words
}
SAME_PATTERN = "|".join(map(pattern_of, sorted(sum(WORDS.values(), []), key=len, reverse=True)))


def split(text):
    """Return the words by which `text` is found, without grammatical words."""
    words = []
    text = unicodedata.normalize("NFKC", text)
    text = re.sub(SAME_PATTERN, lambda found: SAME["".join(found[0].split())], text)
    for form, ending in FORMS:
        text = re.sub(form, rf"\1{ending}", text)
    for word in re.findall(PATTERNS["word"], text):
        words += split_word(word)
    return words


@cache  # most words occur many times
def split_word(word):
    """Return the parts by which a word is found: pairs of CJK characters, or a name and its parts."""
    if re.search(PATTERNS["cjk"], word):
        parts = [word[i : i + 2] for i in range(len(word) - 1)] or [word]
        parts += re.findall(PATTERNS["noun"], word) if len(word) > 1 else []
    else:
        parts = split_name(word)
    return tuple(part for part in parts if not re.search(f"{PATTERNS['grammar']}|{PATTERNS['number']}", part))


def split_name(name):
    """Return a name in lower case and, if it has several parts, each part of at least two letters."""
    spaced = name
    for boundary in CAMEL:
        spaced = re.sub(boundary, r"\1 \2", spaced)
    parts = [part for part in re.split("[ ._]+", spaced.lower()) if len(part) > 1]
    whole = name.lower().strip("_")
    return [whole, *(part for part in parts if part != whole)] if whole else []


class Search(SearchLanguage):
    """A language of Sphinx's search that splits text as `split` does."""

    js_splitter_code = (
        "".join(Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("search.js", "sections.js"))
        .replace("PATTERNS", json.dumps(PATTERNS, ensure_ascii=False))
        .replace("FORMS", json.dumps(FORMS, ensure_ascii=False))
        .replace("SAME_WORDS", json.dumps([SAME_PATTERN, SAME], ensure_ascii=False))
        .replace("CAMEL", json.dumps(CAMEL))
    )

    def split(self, input):
        return split(input)

    def stem(self, word, stems={}):  # noqa: B006  (a cache for all searches)
        if word not in stems:
            stems[word] = super().stem(word)
        return stems[word]

    def word_filter(self, word):
        return word not in self.stopwords


def search_class(language):
    """Return the search class for a language, by Sphinx's name for it, with Sphinx's stemmer and stop words if any.

    Chinese and Japanese use the English ones, which leave CJK as it is: Sphinx's own would split it differently.
    """
    base = SearchEnglish if language in ("ja", "zh") else SPHINX_LANGUAGES.get(language, SearchEnglish)
    if isinstance(base, str):
        module, _, name = base.rpartition(".")
        base = getattr(import_module(module), name)
    return type("Search", (Search, base), {"stopwords": SearchEnglish.stopwords | base.stopwords | set(QUESTION_WORDS)})


def texts(document):
    """Yield (text, weight of its words) for each text of a page that readers may search for."""
    first = True
    for text in document.findall(nodes.Text):
        ancestors = []
        node = text.parent
        while node is not None:
            ancestors.append(node)
            node = node.parent
        if any(isinstance(node, nodes.math | nodes.math_block | nodes.comment | nodes.raw) for node in ancestors):
            continue
        if any(is_output(node) for node in ancestors) and not any(shows_error(node) for node in ancestors):
            continue  # numbers, and text that a network generated
        if any(isinstance(node, nodes.title) for node in ancestors):
            yield text, TITLE if first else HEADING
            continue
        first = False
        yield text, BOLD if isinstance(text.parent, nodes.strong) else TEXT


def is_output(node):
    return "cell_output" in node.get("classes", ())


def shows_error(node):
    """Return whether a cell shows an error or a warning, whose message a student may search for."""
    return node.get("nb_element") == "cell_code" and re.search(r"except |catch_warnings", node.astext())


def place_names(language):
    """Return page → {(name, anchor): weight of its words} for a language: the glossary's terms and the synonyms.

    English terms are names in every language. The anchor is an empty string if the name is one of the whole page.
    """
    names = {}

    def add(place, words, weight):
        page, _, anchor = place.partition("#")
        for word in words:
            names.setdefault(page, {}).setdefault((word, anchor), weight)

    for place, words in SYNONYMS.items():
        add(place, words.get(language, ()), HEADING)
    for term in load():
        add(term["where"], term.get(language, ()), TEXT)  # the page has these words
        add(term["where"], term[ORIGINAL], HEADING)
    return names


def weights(document, names, language):
    """Return word → weight of the page for it: 1, and one more for each doubling of the occurrences."""
    counts = Counter()
    for text, weight in [*texts(document), *((name, weight) for (name, _), weight in names.items())]:
        for word in split(text):
            stem = language.stem(word)
            if language.word_filter(word) and language.word_filter(stem):
                counts[stem] += weight
    return {word: 1 + round(math.log2(count)) for word, count in counts.items()}


def cached_weights(app, name, names, language):
    """Return the weights of a page from a file beside its doctree, computed anew if the page or a term has changed."""
    tree = Path(app.doctreedir, f"{name}.doctree")
    cache_file = tree.with_suffix(".weights.json")
    changed = max(file.stat().st_mtime_ns for file in (tree, TERMS))
    if not cache_file.exists() or cache_file.stat().st_mtime_ns < changed:
        page_weights = weights(app.env.get_doctree(name), names, language)
        cache_file.write_text(json.dumps(page_weights), encoding="utf-8")
    return json.loads(cache_file.read_text(encoding="utf-8"))


def reference_words(app, docnames, language):
    """Return word → the numbers of the pages of the reference that have it. They follow the chapters in the results."""
    pages, words = edition_of(app).reference, {}
    for number, docname in enumerate(docnames):
        if name := pages.get(docname.rpartition("/")[2]):
            for word in sorted({language.stem(word) for word in split(docstrings.words(name))}):
                words.setdefault(word, []).append(number)
    return words


def write_weights(app, exception):
    """Write the weights into Sphinx's index: a page is listed under a word as often as its weight.

    Sphinx can read such an index as its own, so it can still update a single page.
    """
    indexer = getattr(app.builder, "indexer", None)  # None if no page has changed
    if exception or indexer is None or not isinstance(indexer.lang, Search):
        return
    path = Path(app.outdir, "searchindex.js")
    index = js_index.loads(path.read_text(encoding="utf-8"))
    terms, places = {}, {}
    all_names = place_names(edition_of(app).language)
    for number, name in enumerate(index["docnames"]):
        if name in app.env.all_docs and "nosearch" not in app.env.metadata[name]:
            names = all_names.get(name.rpartition("/")[2], {})
            for word, weight in cached_weights(app, name, names, indexer.lang).items():
                terms.setdefault(word, []).extend([number] * weight)
            for word, anchor in names:
                places.setdefault(word, []).append([number, anchor])
    reference = reference_words(app, index["docnames"], indexer.lang)
    index.update(terms=terms, titleterms={}, names=places, reference=reference)
    text = json.dumps(index, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    path.write_text(js_index.PREFIX + text + js_index.SUFFIX, encoding="utf-8")


def setup(app):
    language = edition_of(app).sphinx
    languages[language] = search_class(language)
    app.connect("build-finished", write_weights)
