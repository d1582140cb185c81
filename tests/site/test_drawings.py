"""Test the drawings by hand: those with parts light one part, in a notebook as on the site, and all are legible."""

import re
import xml.etree.ElementTree as ET

import pytest

from book import editions
from book.site.extension.figures.pictures import LIT, MAX_SMALL, PALE, inline
from tests.project.paths import ROOT
from tests.site.test_book import stored

FOLDER = ROOT / "book/pictures"
REFERENCE = re.compile(r"\]\(\.\./pictures/(\w+\.svg)(?:#(\w+))?\)")
PHONE = 328  # pixels: a page's width without its edges on a phone of 360 pixels
DRAWING = """<svg xmlns="http://www.w3.org/2000/svg" width="640" height="9">
<style>svg:has(:target) [data-lit] { opacity: 0.4 }</style>
<path id="a" data-lit="a" d="M1 0h9"/><path id="b" data-lit="b" d="M2 0h9"/>
<path data-lit="a b" d="M3 0h9"/><path data-lit="" d="M4 0h9"/><path d="M5 0h9"/></svg>"""


def references(language):
    """Return (page#cell, file, part or None) for each drawing that a text cell of an edition shows."""
    return [
        (f"{path.stem}#{cell.id}", file, part or None)
        for path in sorted((ROOT / "book" / language).glob("*.ipynb"))
        for cell in stored(path).cells
        if cell.cell_type == "markdown"
        for file, part in REFERENCE.findall(cell.source)
    ]


def parts(path):
    """Return the names of a drawing's parts."""
    return {name for element in ET.parse(path).iter() for name in element.get(LIT, "").split()}


WITH_PARTS = sorted(path for path in FOLDER.glob("*.svg") if parts(path))


@pytest.mark.parametrize(("part", "pale"), [(None, ""), ("a", "24"), ("b", "14")])
def test_other_parts_are_pale(part, pale):
    svg = ET.fromstring(inline(DRAWING, "pic", "Lines", part=part))
    assert {path.get("d")[1] for path in svg.iter("path") if path.get("opacity") == PALE} == {*pale}
    assert LIT not in ET.tostring(svg, encoding="unicode") and svg.find("style") is None
    assert svg.get("class") == ("picture lit" if part else "picture")
    assert svg.get("style").startswith(f"max-width:{MAX_SMALL if part else 640}px")


@pytest.mark.parametrize("part", ["c", ""])
def test_an_unknown_part_is_an_error(part):
    with pytest.raises(ValueError, match=f"no part '{part}'"):
        inline(DRAWING, "pic", "Lines", part=part)


@pytest.mark.parametrize("edition", editions.finished(), ids=lambda edition: edition.language)
def test_drawings_and_parts_that_cells_show_exist(edition):
    shown = references(edition.language)
    assert [place for place, file, part in shown if part and part not in parts(FOLDER / file)] == []
    assert {(path.name, part) for path in WITH_PARTS for part in parts(path)} <= {(f, part) for _, f, part in shown}
    assert shown == references(editions.ORIGINAL)


@pytest.mark.parametrize("path", WITH_PARTS, ids=lambda path: path.stem)
def test_a_notebook_lights_the_same_parts_as_the_site(browser, path):
    opacity = f"[...document.querySelectorAll('[{LIT}]')].map(element => getComputedStyle(element).opacity)"
    lit = [element.get(LIT).split() for element in ET.parse(path).iter() if LIT in element.attrib]
    with browser.new_page() as page:
        for part in sorted(parts(path)):
            page.goto("about:blank")
            page.goto(f"{path.as_uri()}#{part}")
            assert page.evaluate(opacity) == ["1" if part in names else PALE for names in lit], part


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.svg")), ids=lambda path: path.stem)
def test_letters_of_a_drawing_are_legible_on_a_phone(path):
    """Check drawings that cannot be enlarged, which are shown at the width of the page."""
    svg = ET.parse(path).getroot()
    width = float(svg.get("width"))
    sizes = [float(element.get("font-size")) for element in svg.iter() if element.get("font-size")]
    if width <= MAX_SMALL or any(part for _, file, part in references(editions.ORIGINAL) if file == path.name):
        assert min(sizes) * min(PHONE / width, 1) >= 10
