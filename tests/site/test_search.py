"""The search of each edition, asked in a browser what a student would ask: tests/site/queries."""

import gzip
import json
import re
from urllib.parse import quote

import nbformat
import pytest
import quickjs
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from book.editions import finished
from book.site.extension.glossary import load
from book.site.extension.search.index import SYNONYMS, Search, search_class, split
from tests.project.paths import ROOT
from tests.site.browsing import opened

FINISHED = [edition.language for edition in finished()]


def read_queries(name):
    """Return the pairs of a query and its page in a file of tests/site/queries."""
    pages = yaml.safe_load((ROOT / f"tests/site/queries/{name}.yml").read_text(encoding="utf-8"))
    return [(query, page) for page, queries in pages.items() for query in queries]


QUERIES = {language: read_queries("all") + read_queries(language) for language in FINISHED}

# Sphinx's search, without drawing its results: [page, address within it], the best first.
ASK = """queries => queries.map(query => Search._performSearch(...Search._parseQuery(query))
    .reverse().map(([page, title, anchor]) => [page, anchor]))"""

(PHRASES,) = [
    {language: term[language][0] for language in FINISHED} for term in load() if term["en"][0] == "forget gate"
]


def test_a_language_of_sphinxs_is_searched_by_its_own_stems():
    """As long as it is written in letters that need not be cut; one that Sphinx does not know takes the English
    ones."""
    stems = {language: search_class(language)({}) for language in ("es", "en", "ja", "zh", "eo")}
    assert stems["es"].stem("redes") == stems["es"].stem("red") and not stems["es"].word_filter("nosotros")
    assert all(stems[language].stem("redes") == stems["en"].stem("redes") for language in ("ja", "zh", "eo"))
    assert all(one.split("隐状态") == ["隐状", "状态"] for one in stems.values())


@pytest.fixture(scope="module")
def in_javascript():
    """splitQuery of search.js."""
    context = quickjs.Context()
    context.eval("var Search = {}, DOCUMENTATION_OPTIONS = {}, location = {}")
    context.eval(Search.js_splitter_code)
    context.eval("var splitToJson = (text) => JSON.stringify(splitQuery(text))")
    return lambda text: json.loads(context.get("splitToJson")(text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("梯度下降", "梯度 度下 下降"),
        ("隐状态的形状是什么？", "隐状 状态 形状"),
        ("忘却ゲートとは", "忘却 却ゲ ゲー ート トと"),
        ("パラメーター", "パラ ラメ メー ータ"),
        ("상태에서는 셀", "상태 셀"),
        ("은닉 상태를", "은닉 상태"),
        ("GRU와 LSTM", "gru lstm"),
        ("nn.LSTMCell", "nn.lstmcell nn lstm cell"),
        ("weight_ih_l0", "weight_ih_l0 weight ih l0"),
        ("h_n 1e-3 ＬＳＴＭ", "h_n lstm"),
        ("RNNs, don't", "rnns don t"),
    ],
)
def test_split(in_javascript, text, words):
    assert split(text) == in_javascript(text) == words.split()


@settings(max_examples=300)
@given(
    st.text(
        st.sampled_from(list("aZ1_. -'É々のをがーパア亜状态態的是상태를은에서이란ｱＡ①ﬁσΣ\u3099\U0001f600")), max_size=12
    )
)
def test_python_and_javascript_split_alike(in_javascript, text):
    assert split(text) == in_javascript(text)


@pytest.mark.heavy
def test_pages_are_split_alike(in_javascript):
    for path in ROOT.glob("book/*/*.ipynb"):
        for cell in nbformat.read(path, 4).cells:
            assert split(cell.source) == in_javascript(cell.source)


def test_synonyms_name_pages_and_languages():
    pages = {path.stem for path in ROOT.glob("book/en/*.*")}
    assert SYNONYMS.keys() <= pages
    assert all(languages.keys() == QUERIES.keys() for languages in SYNONYMS.values())


def test_every_edition_has_forty_queries():
    pages = {path.stem for path in ROOT.glob("book/en/*.*")}
    for language, queries in QUERIES.items():
        assert len(dict(queries)) >= 40, language
        assert {page for _, page in queries} <= pages


def held(language, quick):
    return pytest.param(language, marks=() if quick else pytest.mark.heavy)


@pytest.mark.parametrize("language", [held(language, language in ("en", "ja")) for language in FINISHED])
def test_queries_find_their_chapters(browser, address, language):
    queries = QUERIES[language]
    with opened(browser, f"{address}/{language}/search.html") as page:
        answers = page.evaluate(ASK, [query for query, _ in queries])
    missed = {
        query: [wanted, *(f"{name}{anchor}" for name, anchor in found[:4])]
        for (query, wanted), found in zip(queries, answers, strict=True)
        if wanted not in [name for name, _ in found[:3]]
    }
    assert not missed, json.dumps(missed, ensure_ascii=False)


@pytest.mark.parametrize("language", [held(language, language == "ja") for language in FINISHED])
def test_results_show_and_mark_what_was_asked(browser, address, language):
    phrase = PHRASES[language]
    with opened(browser, f"{address}/{language}/search.html?q={quote(phrase)}") as page:
        mark = page.locator("ul.search p.context .highlighted").get_by_text(phrase, exact=True).first
        mark.wait_for()
        page.locator("ul.search a").first.click()
        page.wait_for_url("**/lstm.html*")
        page.locator("article .highlighted").first.wait_for()


@pytest.mark.parametrize("language", [held(language, language == "zh") for language in FINISHED])
def test_results_from_a_file(browser, site, language):
    """Without summaries, which a file may not read, and without an error."""
    with opened(browser, f"{site.as_uri()}/{language}/search.html?q={quote(PHRASES[language])}") as page:
        page.locator("p.search-summary:not(:empty)").wait_for()  # how many were found, said when all are listed
        assert page.locator("p.context").count() == 0
        assert page.locator("ul.search a").first.get_attribute("href").startswith("lstm.html")


def test_only_the_search_page_loads_the_search(site):
    for path in site.glob("*/*.html"):
        assert ("searchindex.js" in path.read_text(encoding="utf-8")) == (path.name == "search.html"), path


def test_index_is_small(site):
    """What a phone loads for the first search is less than half of what all pages say, both compressed."""
    for path in site.glob("*/searchindex.js"):
        pages = (page.read_text(encoding="utf-8") for page in path.parent.glob("*.html"))
        said = "".join(re.sub(r"(?s)<(script|style)\b.*?</\1>|<[^>]*>", "", page) for page in pages)
        assert len(gzip.compress(path.read_bytes())) < len(gzip.compress(said.encode())) / 2, path
