"""Search for readers of all languages, by one rule.

Sphinx would need a dictionary to cut Chinese or Japanese into words, and does not cut a query at all. Here a run of
Chinese, Japanese or Korean characters becomes all its pairs of neighbours, on a page and in a query alike:
梯度下降 is 梯度, 度下, 下降. So a compound finds its parts, a part its compounds, and 상태 finds 상태를.
A name such as `weight_ih_l0` or `nn.LSTMCell` counts as a whole and as its parts. search.js does the same in the
browser, and sorts the pages by how much each has to say.
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

from book.site.extension.words import edition_of

# The rule, in what Python's and JavaScript's regular expressions have in common. search.js gets these very strings.
CJK = "々〆ぁ-ゖァ-ヺー-ヾ㐀-䶿一-鿿가-힣"
LATIN = "A-Za-z0-9_À-ÖØ-öø-ɏͰ-Ͽ"
PATTERNS = {
    "word": f"[{CJK}]+|[{LATIN}]+(?:\\.[{LATIN}]+)*",
    "cjk": f"^[{CJK}]",
    "grammar": "^[ぁ-ゖー]+$|[をのは的了是吗呢么]|^[은는이가을를의와과도로和与]$",  # between the words
    "number": "^[0-9]",  # also .2f and 3x
}
# Endings that are left away first, for they differ where the word is the same: パラメーター is also written パラメータ,
# and 상태 is also 상태를, 상태에서.
ENDINGS = (
    "([ァ-ヺー][ァ-ヺ])ー(?![ァ-ヺー])",
    "([가-힣][가-힣])(?:에서|에게|으로|부터|까지)?(?:이란|[란은는이가을를의와과도로에])?(?![가-힣])",
)
CAMEL = ("([a-z0-9])([A-Z])", "([A-Z])([A-Z][a-z][a-z])")  # where a name goes on with a new word

# Questions are made of these. What Sphinx has already are the words that stand in every sentence.
QUESTIONS = """about an can do does from has have how i me my of on or our out vs we what when where which who
why you your""".split()

# How much a word counts, by where it stands: a chapter's name says best what it is about, bold is what it explains.
TEXT, BOLD, HEADING, NAME = 1, 5, 5, 25
SPHINXS = dict(languages)
SYNONYMS = yaml.safe_load(Path(__file__).with_name("synonyms.yml").read_text(encoding="utf-8"))


def split(text):
    """Return the words by which `text` is found, without what stands in every sentence."""
    words = []
    text = unicodedata.normalize("NFKC", text)
    for ending in ENDINGS:
        text = re.sub(ending, r"\1", text)
    for word in re.findall(PATTERNS["word"], text):
        words += split_word(word)
    return words


@cache  # a book says most words many times
def split_word(word):
    """Return the parts of a word by which it is found: pairs of Chinese and Japanese signs, or a name and its parts."""
    if re.search(PATTERNS["cjk"], word):
        parts = [word[i : i + 2] for i in range(len(word) - 1)] or [word]
    else:
        parts = split_name(word)
    return tuple(part for part in parts if not re.search(f"{PATTERNS['grammar']}|{PATTERNS['number']}", part))


def split_name(name):
    """Return a name as a whole and, if it has several parts, each of more than a letter, all in lower case."""
    spaced = name
    for boundary in CAMEL:
        spaced = re.sub(boundary, r"\1 \2", spaced)
    parts = [part for part in re.split("[ ._]+", spaced.lower()) if len(part) > 1]
    whole = name.lower().strip("_")
    return [whole, *(part for part in parts if part != whole)] if whole else []


class Search(SearchLanguage):
    """A language of Sphinx's search with our way to split."""

    js_splitter_code = (
        (Path(__file__).with_name("search.js"))
        .read_text(encoding="utf-8")
        .replace("PATTERNS", json.dumps(PATTERNS, ensure_ascii=False))
        .replace("ENDINGS", json.dumps(ENDINGS, ensure_ascii=False))
        .replace("CAMEL", json.dumps(CAMEL))
    )

    def split(self, input):
        return split(input)

    def stem(self, word, known={}):  # noqa: B006  (a cache for all searches)
        if word not in known:
            known[word] = super().stem(word)
        return known[word]

    def word_filter(self, word):
        return word not in self.stopwords


def search_of(language):
    """The class for a language, by Sphinx's name for it: its stemmer and its common words are Sphinx's, if there are
    any.

    Chinese and Japanese take the English ones, which leave CJK as it is: Sphinx's own would cut it in another way.
    """
    theirs = SearchEnglish if language in ("ja", "zh") else SPHINXS.get(language, SearchEnglish)
    if isinstance(theirs, str):
        module, _, name = theirs.rpartition(".")
        theirs = getattr(import_module(module), name)
    return type("Search", (Search, theirs), {"stopwords": SearchEnglish.stopwords | theirs.stopwords | set(QUESTIONS)})


def texts(document):
    """Yield each text of a page that a reader may search for, and how much its words count."""
    first = True
    for text in document.findall(nodes.Text):
        around = []
        node = text.parent
        while node is not None:
            around.append(node)
            node = node.parent
        if any(isinstance(node, nodes.math | nodes.math_block | nodes.comment | nodes.raw) for node in around):
            continue
        if any(is_output(node) for node in around) and not any(catches(node) for node in around):
            continue  # numbers, and what a network babbles
        if any(isinstance(node, nodes.title) for node in around):
            yield text, NAME if first else HEADING
            continue
        first = False
        yield text, BOLD if isinstance(text.parent, nodes.strong) else TEXT


def is_output(node):
    return "cell_output" in node.get("classes", ())


def catches(node):
    """Is this a cell that shows an error or a warning? A student copies its words into the search."""
    return node.get("nb_element") == "cell_code" and re.search(r"except |catch_warnings", node.astext())


def weights(document, synonyms, language):
    """Return how much a page has to say about each word, from 1: twice as often is one more."""
    counts = Counter()
    for text, weight in [*texts(document), *((synonym, HEADING) for synonym in synonyms)]:
        for word in split(text):
            stem = language.stem(word)
            if language.word_filter(word) and language.word_filter(stem):
                counts[stem] += weight
    return {word: 1 + round(math.log2(count)) for word, count in counts.items()}


def weights_of(app, name, language):
    """The weights of a page, which are kept beside what Sphinx has read of it: they take a second for a book."""
    tree = Path(app.doctreedir, f"{name}.doctree")
    kept = tree.with_suffix(".weights.json")
    if not kept.exists() or kept.stat().st_mtime_ns < tree.stat().st_mtime_ns:
        synonyms = SYNONYMS.get(name.rpartition("/")[2], {}).get(edition_of(app).language, ())
        found = weights(app.env.get_doctree(name), synonyms, language)
        kept.write_text(json.dumps(found), encoding="utf-8")
    return json.loads(kept.read_text(encoding="utf-8"))


def weigh(app, exception):
    """Write the weights into Sphinx's index: a page stands in a word's list as often as it weighs.

    Sphinx reads such an index as it reads its own, so it can still renew a single page.
    """
    indexer = getattr(app.builder, "indexer", None)  # there is none when no page has changed
    if exception or indexer is None or not isinstance(indexer.lang, Search):
        return
    path = Path(app.outdir, "searchindex.js")
    index = js_index.loads(path.read_text(encoding="utf-8"))
    terms = {}
    for number, name in enumerate(index["docnames"]):
        if name in app.env.all_docs and "nosearch" not in app.env.metadata[name]:
            for word, weight in weights_of(app, name, indexer.lang).items():
                terms.setdefault(word, []).extend([number] * weight)
    index.update(terms=terms, titleterms={})
    text = json.dumps(index, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    path.write_text(js_index.PREFIX + text + js_index.SUFFIX, encoding="utf-8")


def setup(app):
    language = edition_of(app).sphinx
    languages[language] = search_of(language)
    app.connect("build-finished", weigh)
