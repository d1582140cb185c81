"""Test a site of several small made-up editions: the interface of each, and the links between them."""

import json
import re
import shutil

import nbformat
import pytest
import quickjs
import yaml
from bs4 import NavigableString
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from book.editions import read
from book.site.extension.interface_words import IN_SCRIPTS
from tests.project.paths import ROOT, soup
from tests.site.small_book import build, copy_edition, copy_shared, svg_cell, write_table

TAGS = {"en": "en", "eo": "eo", "ja": "ja", "ko": "ko", "zh": "zh-Hans"}
TRANSLATED = ["ja", "ko", "zh"]
PAGES = ["index", "chapter", "genindex", "search"]
# A draft with one page, in a language that Sphinx knows and the repository lacks.
ESPERANTO = {
    "name": "Esperanto", "sphinx": "eo", "html": "eo", "about": "Retoj.", "words": {"Languages": "Lingvoj",
    "draft": "malneto"}, "drafts": "all",
}  # fmt: skip
# language → title, heading, text
TEXTS = {
    "en": ("Chapter", "What is kept", "Here is the text."),
    "ja": ("章", "何を残すか", "ここに文章があります。"),
    "ko": ("장", "무엇을 남기는가", "여기에 글이 있습니다."),
    "zh": ("章", "保留什么", "这里是正文。"),
}
NAMES = {"en": "English", "eo": "Esperanto (malneto)", "ja": "日本語", "ko": "한국어", "zh": "简体中文"}
MAY_STAY = {
    "CC",
    "BY",
    "MIT",
    "Unrolled",
    "PDF",
    "JavaScript",
    "JupyterLab",
    "notebook",
    "Ctrl",
    "ipynb",
    "md",
    "pdf",
    "English",
    "PyTorch",
    "RNN",
    "LSTM",
    "GRU",
}


def write_edition(tree, language):
    title, heading, text = TEXTS[language]
    folder = tree / "book" / language
    folder.mkdir(parents=True, exist_ok=True)
    copy_edition(tree, language)
    (folder / "index.md").write_text(f"# Unrolled\n\n## {heading}\n\n{text}\n", encoding="utf-8")
    dropdown = f":::{{admonition}} {title}\n:class: dropdown\n{text}\n:::"
    figure = f":::{{figure}} ../drawn.svg\n:alt: {text}\n\n{text}\n:::"
    fold = new_code_cell("1", id="solution-fold", metadata={"tags": ["hide-cell"]})
    drawn = svg_cell(text)
    drawn.id = "drawn"
    cells = [
        new_markdown_cell(f"# {title}\n\n{text}\n\n{text}", id="title"),
        new_code_cell("0", id="imports"),
        new_markdown_cell(f"(by-hand)=\n## {heading}\n\n{text}", id="kept"),
        new_markdown_cell(f"{text}\n\n$$x$$ (step)\n\n### {heading}\n\n{text}", id="equation"),
        new_markdown_cell(f"{dropdown}\n\n{figure}", id="dropdown"),
        drawn,
        new_markdown_cell(f"## {heading}\n\n*{heading}* *Unrolled*\n\n| {title} |\n|--|\n| 1 |", id="once-more"),
        fold,
    ]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(new_notebook(cells=cells, metadata=metadata), folder / "chapter.ipynb")


def write_tree(tree, *languages):
    copy_shared(tree)
    write_table(tree)
    (tree / "book/drawn.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="9"><path d="M0 0h9"/></svg>'
    )
    for language in languages:
        write_edition(tree, language)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build four editions, a draft of one page, and a folder with an edition.yml but no page."""
    tree = tmp_path_factory.mktemp("editions") / "tree"
    write_tree(tree, *TEXTS)
    for language in ("eo", "fr"):
        (tree / "book" / language).mkdir()
        (tree / "book" / language / "edition.yml").write_text(yaml.safe_dump(ESPERANTO), encoding="utf-8")
    text = "# Unrolled\n\nTeksto: [la ĉapitro](chapter.ipynb), [ĝia fino](chapter.ipynb#kept).\n"
    (tree / "book/eo/index.md").write_text(text, encoding="utf-8")
    assert build(tree) == (0, "")
    return tree / "_build/html"


def words(page):
    """Return the texts of a page for eyes and screen readers, without code, formulas and names of editions."""
    for element in page.select("script, style, pre, code, math, .math, svg title, .languages a, head link"):
        element.decompose()
    attributes = [element.get(key) for key in ("title", "aria-label", "placeholder", "alt", "data-tooltip")
             for element in page.select(f"[{key}]")]  # fmt: skip
    return attributes + [text for text in page.find_all(string=True) if type(text) is NavigableString]


@pytest.mark.parametrize("language", TRANSLATED)
@pytest.mark.parametrize("name", PAGES)
def test_interface_is_translated(site, language, name):
    english = [text.strip() for text in words(soup(site / language / f"{name}.html"))
               if set(re.findall("[A-Za-z]{2,}", text)) - MAY_STAY]  # fmt: skip
    assert english == []


@pytest.mark.parametrize("language", ["en", "eo", *TRANSLATED])
def test_no_edition_has_characters_of_another_language(site, language):
    scripts = {"ja": "[\u3041-\u30ff]", "ko": "[\uac00-\ud7a3]"}
    text = " ".join(words(soup(site / language / "index.html")))
    assert [other for other, characters in scripts.items() if re.search(characters, text)] == [language] * (
        language in scripts
    )
    assert bool(re.search("[\u4e00-\u9fff]", text)) == (language in ("ja", "zh"))


@pytest.mark.parametrize("language", TRANSLATED)
def test_only_words_in_the_editions_letters_have_emphasis_dots(browser, site, language):
    """Check also that emphasis is not bold, and that lines of a model's text may end anywhere."""
    style = "element => [element.textContent, (s => [s.textEmphasisStyle, s.fontWeight])(getComputedStyle(element))]"
    prose = "(p => (p.className = 'prose', getComputedStyle(p).wordBreak))(document.querySelector('.text p'))"
    with browser.new_page() as page:
        page.goto((site / language / "chapter.html").as_uri())
        styles = page.evaluate(f"[...document.querySelectorAll('.text em')].map({style})")
        assert page.evaluate(prose) == "normal"
    assert styles == [[TEXTS[language][1], ["dot", "400"]], ["Unrolled", ["none", "400"]]]


@pytest.mark.parametrize("language", TRANSLATED)
def test_scripts_are_translated(site, language):
    static = site / language / "_static"
    for name, phrases in IN_SCRIPTS.items():
        script = (static / name).read_text(encoding="utf-8")
        ours = read(ROOT / "book" / language).words
        for phrase in phrases:
            assert f"'{phrase}'" not in script and f'"{phrase}"' not in script
            assert json.dumps(ours[phrase], ensure_ascii=False) in script
    page = quickjs.Context()
    page.eval(
        "var Documentation = {TRANSLATIONS: {}, addTranslations(c) { Object.assign(this.TRANSLATIONS, c.messages) }}"
    )
    page.eval((static / "translations.js").read_text(encoding="utf-8"))
    translations = json.loads(page.eval("JSON.stringify(Documentation.TRANSLATIONS)"))
    scripts = "".join((static / name).read_text(encoding="utf-8") for name in ("searchtools.js", "sphinx_highlight.js"))
    phrases = re.findall(r'\b_\(\s*"([^"]{6,})"', scripts)
    assert len(phrases) >= 4
    phrases += ["Search finished, found ${resultCount} page(s) matching the search query."]
    phrases += [phrase for phrase in translations if phrase.startswith("Your search did not match")]
    assert [phrase for phrase in phrases if not re.search("[^\\x00-\\xff]", translations.get(phrase, ""))] == []


def test_scripts_of_the_english_edition_are_intact(site):
    script = (site / "en/_static/copybutton.js").read_text(encoding="utf-8")
    assert '"Copy to clipboard"' in script
    page = quickjs.Context()
    page.eval("var Documentation = {TRANSLATIONS: {}}")
    page.eval((site / "en/_static/translations.js").read_text(encoding="utf-8"))
    assert json.loads(page.eval("JSON.stringify(Documentation.TRANSLATIONS)")) == read(ROOT / "book/en").words


@pytest.mark.parametrize("language", ["en", *TRANSLATED])
def test_words_of_an_edition(language):
    """Check that no translation is empty, and that placeholders are the same."""
    for english, translated in read(ROOT / "book" / language).words.items():
        assert translated.strip()
        marks = r"%\(\w+\)s|\$\{\w+\}"
        assert re.findall(marks, english) == re.findall(marks, translated)


@pytest.mark.parametrize("language", TAGS)
@pytest.mark.parametrize("name", PAGES)
def test_language_and_alternates(site, language, name):
    if not (site / language / f"{name}.html").exists():
        assert (language, name) == ("eo", "chapter")
        return
    page = soup(site / language / f"{name}.html")
    assert page.html["lang"] == TAGS[language]
    links = {link["hreflang"]: link["href"] for link in page.select("head link[rel=alternate]")}
    expected = {tag: f"../{other}/{name}.html" for other, tag in TAGS.items() if other != "eo"}
    assert links == expected | {"x-default": f"../en/{name}.html"}
    assert all((site / language / href).is_file() for href in links.values())


@pytest.mark.parametrize("language", TAGS)
@pytest.mark.parametrize("name", PAGES)
def test_switcher(site, language, name):
    if (language, name) == ("eo", "chapter"):
        return
    switcher = soup(site / language / f"{name}.html").select("nav.languages details")
    assert len(switcher) == 1 and not switcher[0].has_attr("open")
    links = switcher[0].select("a")
    assert [link.text for link in links] == list(NAMES.values())
    assert [link["lang"] for link in links] == [link["hreflang"] for link in links] == list(TAGS.values())
    for link, other in zip(links, TAGS, strict=True):
        lacking = (other, name) == ("eo", "chapter")
        assert link["href"] == f"../{other}/{'index' if lacking else name}.html"
        assert link.has_attr("data-same-page") != lacking
        assert (site / language / link["href"]).is_file()
        assert link.has_attr("aria-current") == (other == language)
    assert switcher[0].summary.text.strip() == NAMES[language].partition(" (")[0]


def test_a_draft_is_marked_and_links_to_english_pages(site):
    draft, other = soup(site / "eo/index.html"), soup(site / "ja/index.html")
    assert draft.select_one("article .draft") and not other.select_one(".draft")
    assert draft.select_one("meta[name=robots]")["content"] == "noindex" and not other.select_one("meta[name=robots]")
    assert [link["href"] for link in draft.select("article a[href*=chapter]")] == [
        "../en/chapter.html",
        "../en/chapter.html#kept",
    ]


def test_anchors_are_the_same_in_all_languages(site):
    for name, expected in (
        (
            "chapter",
            ["title", "imports", "kept", "equation", "equation--2", "dropdown", "drawn", "once-more", "solution-fold"],
        ),
        ("index", ["section-1", "section-2"]),
    ):
        for language in TEXTS:
            page = soup(site / language / f"{name}.html")
            assert [place["id"] for place in page.select("article .place")] == expected
            ids = [element["id"] for element in page.select("[id]")]
            assert len(ids) == len(set(ids))
            if name == "chapter":
                assert page.select_one("section#kept > h2") and page.select_one("section#kept #by-hand")
                assert page.select_one("#title #imports + div.cell") and page.select_one("section#once-more > h2")
                assert page.select_one("#equation-step")
                contents = [link["href"] for link in page.select("#sections a")]
                assert contents == ["#kept", "#equation--2", "#once-more"]
                assert len(page.select("article .section-number")) == 1  # only the chapter has a number


SWITCHING = """
var listeners = {}, stored = {}, innerHeight = 800, tops = %s;
var menu = {
  addEventListener: (kind, f) => listeners[kind] = f, contains: () => true,
  querySelectorAll: () => links, querySelector: () => ({focus() {}}),
};
var link = (same, tag) => ({
  hreflang: tag, hash: "", dataset: same ? {samePage: ""} : {}, addEventListener(kind, f) { this[kind] = f },
});
var links = [link(true, "ja"), link(false, "eo")];
var places = tops.map((top, k) => ({id: "place-" + k, getBoundingClientRect: () => ({top})}));
var document = {
  querySelector: () => menu, addEventListener() {},
  querySelectorAll: (selector) => selector === "article .place" ? places : [],
};
var localStorage = {setItem: (key, value) => stored[key] = value};
"""


@pytest.mark.parametrize(
    ("tops", "hash_"), [([90, 500, 900], ""), ([-900, -20, 600], "place-1"), ([-9, -5, -1], "place-2")]
)
def test_switcher_leads_to_the_section_being_read(site, tops, hash_):
    path = site / "en/_static/languages.js"
    assert path.stat().st_size < 2000
    page = quickjs.Context()
    page.eval(SWITCHING % json.dumps(tops))
    page.eval(path.read_text(encoding="utf-8"))
    page.eval("listeners.toggle()")
    assert page.eval("links[0].hash") == hash_
    assert page.eval("links[1].hash") == ""  # the edition lacks the page
    page.eval("links[1].click()")
    assert page.eval("stored.language") == "eo"
    assert soup(site / "en/chapter.html").select_one("script[src*='languages.js'][defer]")


def test_front_page(site):
    page = soup(site / "index.html")
    assert not page.select("meta[http-equiv=refresh], script[src], link[rel=stylesheet]")
    links = page.select("main a")
    assert [link["href"] for link in links] == [f"{language}/index.html" for language in TAGS]
    assert [link["lang"] for link in links] == [link["hreflang"] for link in links] == list(TAGS.values())
    assert [f"{link.strong.text}{link.strong.next_sibling}".strip() for link in links] == list(NAMES.values())
    alternates = {link["hreflang"]: link["href"] for link in page.select("head link[rel=alternate]")}
    assert alternates == {tag: f"{language}/index.html" for language, tag in TAGS.items() if tag != "eo"} | {
        "x-default": "index.html"
    }
    assert page.select_one("meta[name=color-scheme]")["content"] == "light dark"


@pytest.mark.parametrize(
    ("languages", "chosen", "leads_to"),
    [
        (["ko-KR", "en-US"], None, "ko"),
        (["zh-CN"], None, "zh"),
        (["zh-TW", "en"], None, "zh"),
        (["fr-FR", "ja"], None, "ja"),
        (["EO"], None, None),  # a draft must be chosen
        (["EO", "ja"], None, "ja"),
        (["ja"], "eo", "eo"),
        (["fr-FR"], None, None),  # then the reader chooses
        (["ko-KR"], "ja", "ja"),
        (["ko-KR"], "zh-Hans", "zh"),
        (["ko-KR"], "gone", "ko"),
    ],
)
def test_front_page_leads_to_the_chosen_or_preferred_edition(site, languages, chosen, leads_to):
    page = quickjs.Context()
    page.eval(f"var address = null, navigator = {{languages: {json.dumps(languages)}}}")
    page.eval("var location = {replace: (url) => address = url}")
    page.eval(f"var localStorage = {{getItem: (key) => key === 'language' ? {json.dumps(chosen)} : null}}")
    page.eval(soup(site / "index.html").head.script.string)
    assert page.eval("address") == (f"{leads_to}/index.html" if leads_to else None)


def test_fonts_of_each_language():
    css = (ROOT / "book/site/theme/unrolled.css").read_text(encoding="utf-8")
    for language, font in (("ja", "Noto Sans CJK JP"), ("ko", "Noto Sans CJK KR"), ("zh", "Noto Sans CJK SC")):
        assert re.search(rf':lang\({language}\) {{ --unrolled-han: [^}}]*"{font}"', css)
    assert "url(" not in css  # the fonts of the text are the system's
    assert "line-break: strict" in css and re.search(r"html:lang\(ko\) {[^}]*word-break: keep-all", css)


@pytest.mark.heavy
def test_addresses_with_a_base(tmp_path):
    tree = tmp_path / "tree"
    write_tree(tree, "en", "ja")
    config = (tree / "_config.yml").read_text(encoding="utf-8")
    config = config.replace('baseurl: ""', "baseurl: https://example.org/book/")
    (tree / "_config.yml").write_text(config, encoding="utf-8")
    shutil.copytree(tree / "book/ja", tree / "book/ko")
    with (tree / "book/ko/edition.yml").open("a", encoding="utf-8") as file:
        file.write("html: ko\ndrafts: [chapter]\n")
    assert build(tree) == (0, "")
    addresses = re.findall(
        "<loc>https://example.org/book/(.*?)</loc>", (tree / "_build/html/sitemap.xml").read_text(encoding="utf-8")
    )
    assert addresses == [
        "en/chapter.html",
        "en/index.html",
        "ja/chapter.html",
        "ja/index.html",
        "ko/index.html",
    ]  # no draft
    page = soup(tree / "_build/html/ja/chapter.html")
    links = {link["hreflang"]: link["href"] for link in page.select("head link[rel=alternate]")}
    base = "https://example.org/book"
    assert links == {tag: f"{base}/{tag}/chapter.html" for tag in ("en", "ja")} | {
        "x-default": f"{base}/en/chapter.html"
    }
    assert page.select_one("link[rel=canonical]")["href"] == f"{base}/ja/chapter.html"
    assert [link["href"] for link in page.select(".languages a")] == [
        f"../{language}/chapter.html" for language in ("en", "ja", "ko")
    ]
    front = soup(tree / "_build/html/index.html")
    assert front.select_one("link[hreflang=x-default]")["href"] == f"{base}/index.html"
    assert front.select_one("main a")["href"] == "en/index.html"

    # an edition.yml that lacks keys
    (tree / "book/ja/edition.yml").write_text("name: 日本語\n", encoding="utf-8")
    status, errors = build(tree)
    assert status == 1 and "edition.yml" in errors and "Traceback" not in errors
