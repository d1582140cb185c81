"""Test the reference: a page for each public name of the package, in each edition, and the links that lead to it."""

import json
import re

import pytest
from sphinx.search import js_index

import companion
from book import editions
from book.site.extension.reference import docstrings
from book.site.extension.reference.pages import TAUGHT
from tests.project.paths import ROOT, light_soup, soup

EDITIONS = [edition for edition in editions.editions() if edition.reference]
FIELDS = "Arguments", "Shapes", "Returns", "Errors"


def fields(page, words):
    """Return heading → text of the fields of a page, by their English headings."""
    english = {words.get(name, name): name for name in FIELDS}
    found = dict.fromkeys(FIELDS, "")
    for term in page.select("article dl.field-list > dt"):
        heading = english.get(term.get_text().rstrip(":"), "other")
        found[heading] = found.get(heading, "") + term.find_next_sibling("dd").get_text()
    return found


@pytest.mark.parametrize("edition", EDITIONS, ids=lambda edition: edition.language)
def test_each_public_name_has_its_page(site, edition):
    """Check signature, arguments, shapes, errors, source and chapters of each page, and the list of pages."""
    assert [*edition.reference.values()] == companion.__all__
    listed = light_soup(site / edition.language / "reference.html").select("article dt a")
    assert sorted(link.get_text() for link in listed) == sorted(f"companion.{name}" for name in companion.__all__)
    index = js_index.loads((site / edition.language / "searchindex.js").read_text(encoding="utf-8"))
    titles = dict(zip(index["docnames"], index["titles"], strict=True))  # the links of the search's results
    for page_name, name in edition.reference.items():
        assert titles[page_name] == f"companion.{name}"
        page = light_soup(site / edition.language / f"{page_name}.html")
        article, described = page.article, page.select_one(f"[id='companion.{name}']")
        assert re.sub(r"\s", "", described.get_text()).startswith((f"companion.{name}(", f"classcompanion.{name}("))
        found = fields(page, edition.words)
        assert re.search(r"\([A-Z*\d].*\)|stay as they are", found["Shapes"] + found["Arguments"]), name
        assert re.search(r"Error|No error|warning", found["Errors"]), name
        hop = r"\b(?:as in|as for|see|errors of|else those|Any)\b"
        signatures = "".join(one.get_text() for one in page.select("dt.sig"))
        assert not re.search(hop, found["Shapes"] + found["Errors"] + signatures), name
        assert page.select_one("#chapters li.current > a.current")["href"] == "reference.html"
        arguments = {code.get_text() for code in page.select("dl.py > dd > dl > dd li code")}
        assert {*docstrings.parameters(getattr(companion, name))} <= arguments, name
        source = (
            (site / edition.language / f"{page_name}.html")
            .read_text(encoding="utf-8")
            .partition('<details class="hide"')[2]
        )
        assert re.search(rf'<span class="n[cf]">{name}</span>', source)
        links = [link["href"] for link in article.select("section > p")[0].select("a")]
        assert links == [place.replace("#", ".html#") for place in TAUGHT[name]]
        if edition.language != editions.ORIGINAL:
            assert described.find_parent("dl")["lang"] == "en" and page.select_one("dl.field-list dt[lang]")


def test_chapters_teach_the_names_that_lead_to_them():
    assert sorted(TAUGHT) == sorted(companion.__all__)
    for name, places in TAUGHT.items():
        for place in places:
            chapter, _, cell = place.partition("#")
            cell = re.sub(r"--\d+$", "", cell)
            cells = json.loads((ROOT / f"book/en/{chapter}.ipynb").read_text(encoding="utf-8"))["cells"]
            (taught,) = [one for one in cells if one["id"] == cell]
            assert re.search("^#+ ", "".join(taught["source"]), re.MULTILINE), place
            # chapters write "Gated DeltaNet", show the step of a cell, and what `compare` returns
            spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ?", name.removesuffix("Cell").replace("Comparison", "compare"))
            assert any(re.search(rf"\b{spaced}", "".join(one["source"])) for one in cells), (name, place)


def test_code_leads_to_the_reference(site):
    """Check names with the package's name, an imported one, and that a class of the chapter's own is no link."""
    for chapter, expected in (("rnn", {"companion.RNN", "compare"}), ("attention", {"scaled_dot_product_attention"})):
        blocks = soup(site / f"en/{chapter}.html").select("article pre")
        links = [link for block in blocks for link in block.select("a")]
        assert expected <= {link.get_text() for link in links}
        for link in links:
            assert link["href"] == f"reference_{link.get_text().removeprefix('companion.')}.html"
        assert all(
            len(names) == len(set(names)) for names in ([a["href"] for a in block.select("a")] for block in blocks)
        )
