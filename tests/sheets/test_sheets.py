"""Test all sheets: texts in every language, links, formulas, printed pages, the command and the site."""

import io
import re
import subprocess
import sys

import pypdf
import pytest
from bs4 import BeautifulSoup

from book.editions import BOOK, editions, read
from book.sheets import __main__ as command
from book.sheets import chapters, document, on_site
from book.sheets.document import PAPERS, SHEETS, make, read_words
from book.site.extension.glossary import load
from tests.project.paths import ROOT

# The package with the font of the formulas warns when it is imported.
pytestmark = pytest.mark.filterwarnings("ignore:path is deprecated:DeprecationWarning")
LANGUAGES = [
    edition.language for edition in editions() if (BOOK / "sheets/words" / f"{edition.language}.toml").exists()
]
MILLIMETRES = {"A4": (210, 297), "Letter": (215.9, 279.4)}
# Sides of paper. Chinese, Japanese and Korean need two where English needs one of small letters.
SIDES = {(name, language): 1 for name in SHEETS for language in LANGUAGES}
SIDES |= {("learning", language): 2 for language in LANGUAGES if language != "en"}
SMALLEST = 7.5  # points
KEYED = re.compile(r"`[^`]*`|\$[^$]*\$|\{\w+\}|\]\([^)]*\)")


def leaves(words, path=()):
    """Yield (path, text) for every text of a nested table."""
    if isinstance(words, str):
        yield path, words
    else:
        for key, inner in words.items() if isinstance(words, dict) else enumerate(words):
            yield from leaves(inner, (*path, key))


def soup(name, language, **options):
    return BeautifulSoup(make(name, language, **options), "html.parser")


def test_every_finished_edition_has_sheets():
    assert [edition.language for edition in editions() if not edition.draft] == LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_text_with_its_numbers_code_and_links(language):
    original, own = (dict(leaves(read_words(one))) for one in ("en", language))
    assert own.keys() == original.keys()
    for path, text in own.items():
        assert text.strip(), path
        for pattern in (r"\{\w+\}", r"`[^`]+`", r"\]\(([^)]*)\)"):
            found, wanted = (set(re.findall(pattern, one)) for one in (text, original[path]))
            if pattern.startswith("`"):  # a translation may name less code in running text, but no other
                assert found - wanted <= {"`transpose`", "`view`"}, path
            else:
                assert found == wanted, path


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_number_is_typed(language):
    """Decimals and long numbers come from the chapters. 0.6 is a temperature of the chapter that `0.6` links to."""
    for path, text in leaves(read_words(language)):
        found = re.findall(r"\d+[.,]\d+|\d{3,}", KEYED.sub(" ", text))
        assert set(found) <= ({"0.6"} if path[-2:] == ("bad_text", "test") else set()), path
    assert "(0, 0.6, 1.0, 1.5)" in chapters.source("language_model#warmer")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", SHEETS)
def test_links_lead_to_cells_of_the_edition(name, language):
    page = soup(name, language, base="../")
    links = [link["href"] for link in page.select("a[href]")]
    assert len(links) >= 5
    for link in links:
        target, _, cell = link.removeprefix("../").partition(".html")
        assert read(BOOK / language).has(target)
        assert not cell or cell[1:] in chapters.cells(language, target)
    assert not soup(name, language).select("a")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", SHEETS)
def test_a_sheet_is_one_file_with_language_title_and_formulas(name, language):
    page = soup(name, language)
    assert page.html["lang"] == read(BOOK / language).html and page.h1.get_text() == page.title.get_text()
    assert not page.select("link, script, img, iframe")
    assert all(target.startswith("data:") for target in re.findall(r'url\("?([^")]*)', page.style.string))
    if name != "learning":
        assert len(page.select("math")) > 20
    for math in page.select("math"):
        math.decompose()
    for code in page.select("code, pre"):
        code.decompose()
    text = page.main.get_text() + page.footer.get_text()
    assert not re.search(r"[$`{}]|\*\*|\]\(", text), "Markdown or a placeholder is left"


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_translations_use_the_terms(language):
    """Check terms as on the pages: an English text that uses one is translated with its word."""
    own = dict(leaves(read_words(language)))
    terms, missing = load(), []
    for path, text in leaves(read_words("en")):
        english = KEYED.sub(" ", text)
        for term in terms:
            if language not in term or not re.search(rf"\b{re.escape(term['en'][0])}s?\b", english, re.IGNORECASE):
                continue
            words = term[language] + term["forms"].get(language, [])
            if not any(word.lower() in own[path].lower() for word in words):
                missing.append((".".join(map(str, path)), term["en"][0], term[language][0]))
    assert missing == []


def test_wrong_words_are_refused():
    writer = document.Writer("en", "../", {"known": 1})
    assert writer.inline("**{known}** *a* `b` [c](lstm#title)") == (
        '<strong>1</strong> <em>a</em> <code>b</code> <a href="../lstm.html#title">c</a>'
    )
    assert writer.inline("[#](lstm#title)") == '<a href="../lstm.html#title"><span class="to"><b>11</b></span></a>'
    with pytest.raises(ValueError, match="name a number 'unknown'"):
        writer.inline("{unknown}")
    with pytest.raises(ValueError, match="lstm#nowhere: book/en has no such page or cell"):
        writer.inline("[](lstm#nowhere)")
    with pytest.raises(ValueError, match="link to 'https://x', which is no page#cell"):
        writer.inline("[x](https://x)")
    with pytest.raises(ValueError, match="nobody#title"):
        writer.inline("[#](nobody#title)")
    with pytest.raises(ValueError, match="complaints#silent is in no numbered chapter"):
        writer.inline("[#](complaints#silent)")


def test_a_link_without_words_has_the_number_and_the_heading_of_its_section():
    writer = document.Writer("ja", None, {})
    link = BeautifulSoup(writer.inline("[](step_sizes#learning-rates-said)"), "html.parser")
    assert link.b.get_text() == str(read(BOOK / "ja").road.index("step_sizes") + 1)
    assert chapters.section("step_sizes#learning-rates-said", "ja") in link.get_text()
    assert writer.inline("[](complaints#check-shift)") == '<span class="to"> 確認3</span>'


@pytest.fixture(scope="module")
def page(browser):
    with browser.new_page() as page:
        yield page


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", SHEETS)
def test_sheets_fit_on_the_paper(page, tmp_path, name, language):
    for paper in PAPERS:
        command.print_sheet(page, make(name, language, paper), tmp_path / "sheet.pdf")
        sides = pypdf.PdfReader(io.BytesIO((tmp_path / "sheet.pdf").read_bytes())).pages
        assert len(sides) == SIDES[name, language], paper
        size = sorted(float(length) / 72 * 25.4 for length in (sides[0].mediabox.width, sides[0].mediabox.height))
        assert size == pytest.approx(MILLIMETRES[paper], abs=0.5)
    page.emulate_media(media="print")
    assert page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)") * 0.75 >= SMALLEST
    # a page that is wider than the paper would be shrunk
    width = MILLIMETRES["Letter"][name != "lstm"] - 20
    page.set_viewport_size({"width": round(width / 25.4 * 96), "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    cells = "[...document.querySelectorAll('td, th')].filter(cell => cell.scrollWidth > cell.clientWidth + 2)"
    assert page.evaluate(f"{cells}.map(cell => cell.textContent)") == []


def test_the_command_writes_html_and_pdf(tmp_path):
    line = [sys.executable, "-m", "book.sheets", "--language", "ko", "--paper", "Letter", "--output", tmp_path / "out"]
    process = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True)
    written = {f"{name}.{end}" for name in SHEETS for end in ("html", "pdf")}
    assert {path.name for path in (tmp_path / "out").iterdir()} == written and len(process.stdout.splitlines()) == 6
    assert "size:Letter" in (tmp_path / "out/lstm.html").read_text(encoding="utf-8").replace("size: ", "size:")


def test_the_command_says_what_is_wrong_before_it_writes(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["sheets", "--output", str(tmp_path / "out")])
    monkeypatch.setattr(command, "make", lambda *_: chapters.cell("lstm#nowhere"))
    with pytest.raises(SystemExit, match="sheets: lstm#nowhere: book/en/lstm.ipynb has no cell 'nowhere'"):
        command.main()
    assert not (tmp_path / "out").exists()


def test_the_site_gets_the_sheets_of_editions_that_have_their_chapters(tmp_path, monkeypatch):
    (tmp_path / "ja").mkdir()
    edition = read(BOOK / "ja")
    on_site.write(tmp_path, [edition])
    assert {path.stem for path in (tmp_path / "ja/sheets").iterdir()} == set(SHEETS)
    assert 'href="../lstm_parameters.html#' in (tmp_path / "ja/sheets/lstm.html").read_text(encoding="utf-8")
    used = on_site.pages_used(BOOK / "sheets/words/ja.toml")
    assert {"complaints", "step_sizes", "matrix_state", "why"} <= used
    monkeypatch.setattr(type(edition), "has", lambda self, page: page != "complaints")
    assert not on_site.can_be_made(edition)
