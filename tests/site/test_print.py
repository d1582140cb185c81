"""Test what pages look like on paper: in light colours, whole, without controls, and without nearly empty pages."""

import io

import pypdf
import pytest

from book import editions
from tests.project.paths import ROOT
from tests.site.browsing import begin, opened

# All editions have the same structure and colours: every English page, and of the others those with long lines.
PAGES = [
    f"{edition.language}/{name}"
    for edition in editions.editions()
    for name in sorted(edition.pages - edition.reference.keys())
    if edition.language == editions.ORIGINAL or name in {"lstm", "language_model", "search"}
]
SAMPLE = "en/rnn"  # for `make test`
A4, LETTER = 673, 695  # widths of the text in CSS pixels, between margins of 16 mm
# What the editor, outputs and messages of a running cell look like; their styles are loaded with the first run.
RUN = """<div class="cell" data-run="failed"><div class="cell_input run-changed">
<div class="run-editor highlight"><div class="cm-editor"><div class="cm-scroller"><div class="cm-content">
<div class="cm-line">LINE</div></div></div></div></div></div><div class="cell_output run-output">
<div class="output stream highlight"><div class="highlight"><pre>LINE <b class="ansi-red">a</b>
<b class="ansi-green">b</b> <b class="ansi-yellow">c</b> <b class="ansi-magenta">d</b></pre></div></div>
<div class="output error"><pre>LINE</pre></div></div></div>""".replace("LINE", "<span class='c1'>LINE</span>" * 60)
# Returns the colours of all elements, as the browser computes them.
COLOURS = """() => [...document.querySelectorAll("*")].map(element => {
    const style = getComputedStyle(element);
    return [element.tagName, element.className.baseVal ?? element.className, style.colorScheme, style.color, style.backgroundColor, style.backgroundImage,
        style.fill, style.stroke, style.borderTopColor, style.borderLeftColor].join(" | ");
})"""  # noqa: E501
# Returns the elements that extend beyond the page, or that hide a part of their content.
CUT = """() => [...document.querySelectorAll("article *")].filter(element => {
    const box = element.getBoundingClientRect(), style = getComputedStyle(element);
    if (!element.checkVisibility() || !box.width || style.clipPath !== "none" || element.closest("svg svg, defs")) return false;
    const hides = axis => /auto|scroll|hidden|clip/.test(style[`overflow${axis}`]);
    return box.right > document.documentElement.clientWidth + 1
        || (hides("X") && element.scrollWidth > element.clientWidth + 1)
        || (hides("Y") && element.scrollHeight > element.clientHeight + 1);
}).map(element => element.outerHTML.slice(0, 120))"""  # noqa: E501
# Returns the controls that are seen, and the folded texts that are not.
CONTROLS = """() => [...document.querySelectorAll(
    "nav, header, form, .begin, .run-row, .run-bar, .enlarge, .copybtn, button:not([aria-pressed=true]), [type=range],"
    + ".hide > summary > *")]
    .filter(element => element.checkVisibility()).map(element => element.outerHTML.slice(0, 120))"""
FOLDED = """() => [...document.querySelectorAll("article details:not(.begin *) > :not(summary)")]
    .filter(element => !element.checkVisibility() || !element.getBoundingClientRect().height)
    .filter(element => getComputedStyle(element).display !== "none" && element.textContent.trim() && !element.closest("[hidden]"))
    .filter(element => element.closest(".unrolled-figure")?.checkVisibility() !== false)  // else its picture is printed
    .map(element => element.outerHTML.slice(0, 120))"""  # noqa: E501


def on_paper(page, scheme):
    """Print in Chromium's simulation, in light or dark mode."""
    page.emulate_media(media="print", color_scheme=scheme)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == SAMPLE else pytest.mark.heavy) for name in PAGES]
)
def test_page_is_printed_whole_and_in_light_colours(browser, address, name):
    """Compare the colours in dark and light mode, with an open editor and outputs of the reader's own."""
    address = f"{address}/{name}.html?q=gate"
    with opened(browser, address, color_scheme="light", reduced_motion="reduce") as page:  # figures rest
        begin(page)
        if name.endswith("search"):
            page.wait_for_function("document.querySelectorAll('#search-results li').length > 9")
        for figure in page.locator("[data-figure]").all():
            figure.locator("figure[lang] svg.drawing").first.wait_for()
        page.add_style_tag(path=ROOT / "book/live/page/running.css")
        page.evaluate("html => document.querySelector('article').insertAdjacentHTML('beforeend', html)", RUN)
        on_paper(page, "light")
        light = page.evaluate(COLOURS)
        on_paper(page, "dark")
        page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
        differ = [dark for dark, expected in zip(page.evaluate(COLOURS), light) if dark != expected]
        assert differ == []
        for width in (A4, LETTER):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(CUT) == []
        assert page.locator("article li").first.is_visible() or not name.endswith("search")
        assert page.evaluate(CONTROLS) == []
        assert page.evaluate(FOLDED) == []


@pytest.mark.parametrize("name", ["index", "404"])
def test_pages_of_the_root_are_printed_in_light_colours(browser, address, name):
    with opened(browser, f"{address}/{name}.html?", locale="xx") as page:
        on_paper(page, "light")
        light = page.evaluate(COLOURS)
        on_paper(page, "dark")
        assert page.evaluate(COLOURS) == light


def lowest_points(pdf):
    """Return for each page of a PDF how far its text and drawings reach down, as a share of the page's height."""
    shares = []
    for page in pypdf.PdfReader(io.BytesIO(pdf)).pages:
        low = height = float(page.mediabox.height)

        def note(x, y, *matrices):
            nonlocal low
            for a, b, c, d, e, f in matrices:
                x, y = a * x + c * y + e, b * x + d * y + f
            if 0 < y < height:
                low = min(low, y)

        def operand(operator, operands, cm, tm):
            if operator in (b"m", b"l"):
                note(*map(float, operands), cm)

        def text(text, cm, tm, font, size):
            if text.strip():
                note(0, 0, tm, cm)

        page.extract_text(visitor_operand_before=operand, visitor_text=text)
        shares.append(1 - low / height)
    return shares


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["en/lstm", "ja/lstm", "en/glossary", "en/complaints", "zh/training"])
def test_no_printed_page_is_nearly_empty(browser, address, name):
    with opened(browser, f"{address}/{name}.html", color_scheme="dark") as page:
        shares = lowest_points(page.pdf(format="A4", prefer_css_page_size=True))
    assert len(shares) > 4
    assert [(number, share) for number, share in enumerate(shares[:-1], start=1) if share < 0.4] == []
