"""Test the search of each edition in a browser with queries of students, which are in tests/site/queries."""

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
from playwright.sync_api import expect

from book.editions import finished, public_names
from book.site.extension.glossary import load
from book.site.extension.search.index import SYNONYMS, Search, search_class, split
from tests.project.paths import ROOT
from tests.site.browsing import opened

FINISHED = [edition.language for edition in finished()]
LABELS = {edition.language: edition.words.get("Show the solution", "Show the solution") for edition in finished()}


class UniqueKeys(yaml.SafeLoader):
    """Load YAML, and refuse a key that comes twice in a mapping: the second would replace the first."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value]
        assert len({*keys}) == len(keys), f"twice: {max(keys, key=keys.count)}, after line {node.start_mark.line}"
        return super().construct_mapping(node, deep)


def load_queries(name):
    """Return a file of tests/site/queries."""
    return yaml.load((ROOT / f"tests/site/queries/{name}.yml").read_text(encoding="utf-8"), UniqueKeys)


def read_queries(name):
    """Return the pairs of a query and its page in a file of tests/site/queries."""
    return [(query, page) for page, queries in load_queries(name).items() for query in queries]


SECTION_QUERIES = load_queries("sections")
QUERIES = {language: read_queries("all") + read_queries(language) for language in FINISHED}

# Runs the search without showing the results; returns [page, anchor of its section, excerpt] for each, best first.
SEARCH = """async queries => {
    const found = [];
    for (const query of queries) {
        const results = await unrolled.search(query);
        found.push(results.map(({ 0: page, sections: [section] }) =>
            [page, section?.anchor ?? "", section ? unrolled.summarize(section).textContent : ""]));
    }
    return found;
}"""
LANDINGS = {  # query → page and place that its first result leads to
    "RuntimeError: Expected hidden[0] size (2, 3, 20), got [2, 4, 20]": "complaints#hidden-size",  # not its cell
    "RuntimeError: mat1 and mat2 must have the same dtype": "complaints#types--2",
    "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor": "complaints#lengths",
    "Target 5 is out of bounds": "complaints#targets",
    "too many values to unpack": "complaints#state-tuple",
    "do I need to pass h_0, zeros each batch?": "carried_state#where-state-begins",
    "pytorch lstm input shape batch_first": "lstm_parameters#batch-first",
    "last hidden state of a bidirectional lstm": "lstm_parameters#where-h-n-sits",
}
# Runs the search; returns where the first result of each query leads, and what it marks.
LAND = """async queries => {
    const found = {};
    for (const query of queries) {
        const [{ 0: page, sections: [section] }] = await unrolled.search(query);
        found[query] = `${page}#${section.place.anchor}`;
    }
    return [found, unrolled.pieces("h 1 2D mat1", () => true), Search._parseQuery("ValueError")[0]];
}"""
SEEN = """() => [...document.querySelectorAll("article .highlighted")].some(mark => {
    const { top, bottom } = mark.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
})"""

(PHRASES,) = [
    {language: term[language][0] for language in FINISHED} for term in load() if term["en"][0] == "input gate"
]


def test_languages_use_the_stemmer_of_sphinx_or_the_english_one():
    """Check that CJK and languages unknown to Sphinx use the English stemmer."""
    stems = {language: search_class(language)({}) for language in ("es", "en", "ja", "zh", "eo")}
    assert stems["es"].stem("redes") == stems["es"].stem("red") and not stems["es"].word_filter("nosotros")
    assert all(stems[language].stem("redes") == stems["en"].stem("redes") for language in ("ja", "zh", "eo"))
    assert all(search.split("隐状态") == ["隐状", "状态"] for search in stems.values())


@pytest.fixture(scope="module")
def in_javascript():
    """Return splitQuery of search.js as a Python function."""
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
        ("忘却ゲートとは", "忘却 却ゲ ゲー ート"),
        ("パラメーター", "パラ ラメ メー ータ"),
        ("層の数を選び、重ねる", "選ぶ 層 数 重ね"),
        ("窓", "ウィ ィン ンド ドウ"),
        ("ドロップアウト層", "dropout 層"),
        ("상태에서는 셀", "상태 셀"),
        ("층을 학습하는", "계층 학습"),
        ("모양이", "형상"),
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
        st.sampled_from(
            list("aZ1_. -'É々のをがーパア亜状态態的窓層選び是상태를은에서이란하는층모양ｱＡ①ﬁσΣ\u3099\U0001f600")
        ),
        max_size=12,
    )
)
def test_python_and_javascript_split_alike(in_javascript, text):
    assert split(text) == in_javascript(text)


@pytest.mark.heavy
def test_python_and_javascript_split_all_chapters_alike(in_javascript):
    for path in ROOT.glob("book/*/*.ipynb"):
        for cell in nbformat.read(path, 4).cells:
            assert split(cell.source) == in_javascript(cell.source)


def test_synonyms_name_pages_and_languages():
    pages = {path.stem for path in ROOT.glob("book/en/*.*")}
    anchors = {
        f"{path.stem}#{cell.id}" for path in ROOT.glob("book/en/*.ipynb") for cell in nbformat.read(path, 4).cells
    }
    assert SYNONYMS.keys() <= pages | anchors
    assert all(languages.keys() == QUERIES.keys() for languages in SYNONYMS.values())


def test_every_edition_has_forty_queries():
    pages = {path.stem for path in ROOT.glob("book/en/*.*")} | {f"reference_{name}" for name in public_names()}
    for language, queries in QUERIES.items():
        assert len(dict(queries)) >= 40, language
        assert {page for _, page in queries} <= pages


def language_case(language, quick):
    return pytest.param(language, marks=() if quick else pytest.mark.heavy)


@pytest.mark.parametrize("language", [language_case(language, language in ("en", "ja")) for language in FINISHED])
def test_queries_find_their_chapters(browser, address, language):
    queries = QUERIES[language]
    with opened(browser, f"{address}/{language}/search.html") as page:
        results = page.evaluate(SEARCH, [query for query, _ in queries])
    missed = {
        query: [wanted, *(f"{name}#{anchor}" for name, anchor, _ in pages[:4])]
        for (query, wanted), pages in zip(queries, results, strict=True)
        if wanted not in [name for name, *_ in pages[:3]]
    }
    assert not missed, json.dumps(missed, ensure_ascii=False)


@pytest.mark.parametrize("language", [language_case(language, language in ("en", "ja")) for language in FINISHED])
def test_queries_find_their_sections(browser, address, language):
    """Check each query's page and section, and that excerpts are prose."""
    places = SECTION_QUERIES[language]
    queries = [(query, *place.split("#")) for place, queries in places.items() for query in queries]
    with opened(browser, f"{address}/{language}/search.html") as page:
        results = page.evaluate(SEARCH, [query for query, *_ in queries])
    missed, not_prose = {}, []
    for (query, wanted, sections), pages in zip(queries, results, strict=True):
        found = {name: (anchor, excerpt) for name, anchor, excerpt in pages[:3]}
        anchor, excerpt = found.get(wanted, ("", ""))
        if anchor.partition("--")[0] not in sections.split():
            missed[query] = [wanted, sections, found]
        if not excerpt or re.search(r"[\\¶\n]|\b_?\{", excerpt) or LABELS[language] in excerpt:
            not_prose.append(excerpt)
    assert not missed, json.dumps(missed, ensure_ascii=False)
    assert not not_prose, not_prose


def test_results_lead_to_the_answer(browser, address):
    """Check that results lead to a near heading, that short words are not marked, and that an error's name is found."""
    with opened(browser, f"{address}/en/search.html") as page:
        assert page.evaluate(LAND, list(LANDINGS)) == [LANDINGS, ["mat1"], "ValueError"]


@pytest.mark.parametrize("language", [language_case(language, language == "ja") for language in FINISHED])
def test_results_mark_the_query(browser, address, language):
    phrase = PHRASES[language]
    with opened(browser, f"{address}/{language}/search.html?q={quote(phrase)}") as page:
        mark = page.locator("ul.search p.context .highlighted").get_by_text(phrase, exact=True).first
        mark.wait_for()
        page.locator("ul.search a").first.click()
        page.wait_for_url("**/lstm.html#input-gate")
        page.locator("article .highlighted").first.wait_for()
        assert page.evaluate(SEEN)
        page.goto(f"{address}/{language}/lstm.html?highlight=lstm")  # a word in the titles of chapters
        page.locator("article .highlighted").first.wait_for()
        assert page.locator("nav .highlighted").count() == 0


@pytest.mark.parametrize("language", [language_case(language, language == "zh") for language in FINISHED])
def test_search_works_on_pages_opened_as_files(browser, site, language):
    """Check that there are results without summaries, which need other files, and no error."""
    with opened(browser, f"{site.as_uri()}/{language}/search.html?q={quote(PHRASES[language])}") as page:
        page.locator("p.search-summary:not(:empty)").wait_for()  # the number of results, shown when all are listed
        assert page.locator("p.context").count() == 0
        assert page.locator("ul.search a").first.get_attribute("href") == "lstm.html#input-gate"


def test_a_first_query_of_an_unknown_word_ends(browser, address):
    """Check that a word which is neither in the book nor like one that is finds nothing, and says so."""
    with opened(browser, f"{address}/en/search.html?q=xylophonist") as page:
        expect(page.locator(".search-summary")).to_contain_text("did not match")


def test_keys_lead_to_the_search_and_turn_pages(browser, address):
    with opened(browser, f"{address}/en/rnn.html", viewport={"width": 1280, "height": 800}) as page:
        field = page.locator("[name=q]")

        def is_on(name):
            page.wait_for_load_state()
            return page.url.partition("#")[0].endswith(f"/{name}.html")

        page.keyboard.press("/")
        expect(field).to_be_focused()
        page.keyboard.type("a/b")
        page.keyboard.press("ArrowLeft")
        expect(field).to_have_value("a/b")
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("Control+k")
        expect(field).to_be_focused()
        page.evaluate("document.activeElement.blur()")
        for keys in ("Shift+ArrowRight", "Control+ArrowRight"):
            page.keyboard.press(keys)
        assert is_on("rnn")
        page.keyboard.press("ArrowRight")
        page.wait_for_url("**/surprise.html")
        page.keyboard.press("ArrowLeft")
        page.wait_for_url("**/rnn.html")
        page.goto(f"{address}/en/through_time.html")
        page.locator("figure input[type=range]").first.focus()
        page.keyboard.press("ArrowRight")
        assert is_on("through_time")

        page.set_viewport_size({"width": 320, "height": 600})
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("/")
        expect(field).to_be_focused()
        page.keyboard.press("Escape")
        expect(field).to_be_hidden()  # the menu closes
        expect(field).not_to_be_focused()  # one frame later
        page.keyboard.press("ArrowLeft")
        page.wait_for_url("**/step_sizes.html")

        page.goto(f"{address}/en/glossary.html")
        page.locator(".table[tabindex]").focus()  # it scrolls
        page.keyboard.press("ArrowLeft")
        assert is_on("glossary")

        page.goto(f"{address}/en/search.html")
        page.locator("#keys").uncheck()
        page.keyboard.press("/")
        expect(field).not_to_be_focused()
        page.goto(f"{address}/en/rnn.html")
        page.keyboard.press("ArrowRight")
        assert is_on("rnn")


def test_only_the_search_page_loads_the_search(site):
    for path in site.glob("*/*.html"):
        assert ("searchindex.js" in path.read_text(encoding="utf-8")) == (path.name == "search.html"), path


def test_index_is_small(site):
    """Check that the compressed index has less than half the size of the compressed text of all pages."""
    for path in site.glob("*/searchindex.js"):
        pages = (page.read_text(encoding="utf-8") for page in path.parent.glob("*.html"))
        text = "".join(re.sub(r"(?s)<(script|style)\b.*?</\1>|<[^>]*>", "", page) for page in pages)
        assert len(gzip.compress(path.read_bytes())) < len(gzip.compress(text.encode())) / 2, path
