"""Test which parts of a page's cells are on slides."""

import pytest

from book.slides.cells import Page

PAGE = """<article class="text"><section id="title" class="place"><h1>1. Chapter<a class="headerlink">¶</a></h1>
<div class="begin">5 minutes</div><blockquote><p>In short</p></blockquote><p>Why? See <a href="gru.html">GRU</a> and
<a href="https://example.org/">a paper</a>.</p><p>Because.</p>
<section id="sum" class="place"><h2>Sum</h2><p><svg class="picture" id="svg1"></svg></p><p>First.</p><p>Second.</p>
<div class="math-display">f</div><ul><li>Item</li></ul><div class="quiz">Which?</div>
<span id="own" class="place"></span><p>Own cell.</p>
<span id="code" class="place"></span><div class="cell"><div class="cell_input">1 + 2</div><div class="cell_output"><div
class="output">3</div></div></div>
<span id="plot" class="place"></span><div class="cell"><div class="cell_input">plot()</div><div class="cell_output">
<div class="output">seen</div><span class="picture-frame"><svg class="picture"></svg></span></div></div>
<span id="figure" class="place"></span><div class="cell"><div class="cell_input">Gates()</div><div class="cell_output">
<div data-figure="gates"><figure><svg class="picture"></svg></figure></div></div></div>
<section id="sum--2" class="place"><h3>Inner</h3><p>Same cell, further down.</p></section></section></section>
</article>"""
IDS = ["title", "imports", "sum", "own", "code", "plot", "figure"]


@pytest.fixture
def page():
    return Page(PAGE, IDS)


def kinds(page, cell, part=""):
    """Return what a slide shows of a cell: the text, or the tag of a picture."""
    from bs4 import BeautifulSoup

    shown = []
    for html, sight in page.shown(cell, part):
        element = BeautifulSoup(html, "html.parser")
        shown.append(next(element.children).name if sight else " ".join(element.get_text(" ").split()))
    return shown


def test_of_a_text_a_slide_shows_the_first_paragraph_and_what_is_no_paragraph(page):
    assert kinds(page, "title") == ["Why? See GRU and a paper ."]
    assert kinds(page, "sum") == ["svg", "First.", "f", "Item"]
    assert kinds(page, "own") == ["Own cell."]
    assert kinds(page, "imports") == []


def test_of_code_a_slide_shows_code_and_output_but_of_a_picture_only_the_picture(page):
    assert kinds(page, "code") == ["1 + 2 3"]
    assert kinds(page, "plot") == ["seen", "svg"]
    assert kinds(page, "figure") == ["div"]


@pytest.mark.parametrize("part, shown", [("code", "1 + 2"), ("output", "3")])
def test_a_mark_can_choose_code_or_output(page, part, shown):
    assert kinds(page, "code", part) == [shown]


def test_a_mark_can_choose_the_code_of_a_picture(page):
    assert kinds(page, "plot", "code") == ["plot()"]


def test_notes_have_the_whole_text_without_pictures_and_questions(page):
    text = page.text("sum")
    assert "First." in text and "Second." in text and "further down" in text
    assert "svg" not in text and "Which?" not in text


def test_titles_are_the_headings_above_the_cells(page):
    assert page.title == "1. Chapter"
    assert [page.headings[cell] for cell in ("sum", "code", "figure")] == ["Sum"] * 3


def test_only_links_to_other_sites_remain(page):
    html = page.text("title")
    assert 'href="https://example.org/"' in html
    assert "gru.html" not in html
