"""Test builds of a small made-up edition: formulas, pictures, outputs, links and warnings."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urljoin, urlparse

import pytest
from fontTools.ttLib import TTFont
from nbformat.v4 import new_markdown_cell

from book.site.extension.figures.pictures import PALE, inline
from book.site.extension.mathematics.formulas import MARKS, to_mathml
from tests.project.paths import ROOT, soup
from tests.site.small_book import FIGURE, INDEX, build, copy_edition, copy_shared, svg_cell, write_chapter, write_table


@pytest.fixture(scope="module")
def pristine(tmp_path_factory):
    """Return a tree with the real configuration and extension and a small edition, built."""
    tree = tmp_path_factory.mktemp("site") / "tree"
    copy_shared(tree)
    write_table(tree)
    copy_edition(tree, "en")
    (tree / "book/en/index.md").write_text(INDEX, encoding="utf-8")
    (tree / "book/drawn.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="9"><path id="p1" d="M0 0h9"/></svg>'
    )
    write_chapter(tree)
    assert build(tree) == (0, "")
    return tree


@pytest.fixture
def tree(pristine, tmp_path):
    """Return a copy of the tree that a test may change."""
    return shutil.copytree(pristine, tmp_path / "tree")


@pytest.fixture(scope="module")
def page(pristine):
    return soup(pristine / "_build/html/en/chapter.html")


def test_a_site_whose_cells_cannot_run_is_refused_with_live(pristine):
    """Check that --live fails before anything is built: _build/live is missing in the tree."""
    before = (pristine / "_build/html/index.html").stat().st_mtime_ns
    status, errors = build(pristine, "--live")
    assert status == 1 and "no _build/live: fetch it with `python -m book.live.fetch`" in errors
    assert (pristine / "_build/html/index.html").stat().st_mtime_ns == before


def test_formulas_are_mathml(page):
    displayed = page.select_one("#equation-step math[display=block]")
    assert displayed.find("mtable")
    assert r"\tanh(W_{ih} x_t)" in displayed.find("annotation", encoding="application/x-tex").text
    assert page.select_one("#equation-step .eqno").text.startswith("(1.1)")
    assert page.select_one("p > .math-inline > math msub")
    assert page.select_one(".math-inline").text.endswith("}^D.")  # no line begins with the full stop
    assert "\\(" not in page.text and "MathJax" not in str(page)


@pytest.mark.parametrize(
    "tex",
    [
        r"\odot \sigma \tanh \partial \approx \lt \mid \lVert x \rVert",
        r"\operatorname{softmax}(x) \underbrace{4H}_{\text{gates}} \tilde{c}_t \hat{y} \bar{x}",
        r"\frac{a}{b} \prod_{t=1}^T \sum_t W_{ii} \in \mathbb{R}^{4H \times D}",
        r"\begin{cases} x & x > 0 \\ 0 & \text{otherwise} \end{cases}",
        r"\begin{pmatrix} a \\ b \end{pmatrix} \begin{bmatrix} a & b \end{bmatrix}",
        r"\begin{array}{lr} a & b \end{array}",
        r"\mathrm{new} \mathbf{W} \boldsymbol{\theta} \mathcal{L} \lfloor n/2 \rfloor",
    ],
)
def test_notation_of_the_chapters_becomes_mathml(tex):
    assert "merror" not in to_mathml(tex, display=True)


@pytest.mark.parametrize("tex", [r"\nosuch", r"\frac{a", r"a & b", r"\begin{aligned} a", r"a}", r"\left( a"])
def test_wrong_formulas_are_rejected(tex):
    with pytest.raises(ValueError, match="ParseError"):
        to_mathml(tex)


def test_mathml_has_no_attributes_that_browsers_ignore():
    """Check that columnalign and mathvariant are replaced by CSS and by Unicode letters."""
    table = to_mathml(r"\begin{aligned} a &= b \\ c &= d \end{aligned}", display=True)
    cells = re.findall(r'<mtd style="text-align:(\w+)', table)
    assert cells == ["right", "left"] * 2 and "columnalign" not in table
    letters = to_mathml(r"\mathbb{R}\mathcal{N}\mathbf{W}\boldsymbol{\theta}")
    assert all(f">{letter}<" in letters for letter in "ℝ𝒩𝐖𝜽") and "mathvariant" not in letters


def test_font_of_the_formulas(pristine):
    path = pristine / "_build/html/en/_static/math.woff2"
    assert path.stat().st_size < 60_000
    with TTFont(path) as font:
        assert "MATH" in font  # stretches brackets
        assert set(map(ord, "aW∑⊙ℎ𝑊𝜎ℝ𝒩")) <= set(font.getBestCmap())
        assert "Open Font License" in font["name"].getDebugName(13)
    assert 'url("_static/math.woff2")' in (path.parent.parent / "index.html").read_text(encoding="utf-8")


def test_pictures_are_part_of_the_page(page):
    pictures = page.select("svg.picture")
    assert [svg["aria-label"] for svg in pictures] == ["A drawn line", "First picture", "Second picture"]
    assert all(svg["role"] == "img" for svg in pictures)
    assert not page.select("article img")
    ids = [element["id"] for element in page.select("[id]")]
    assert len(ids) == len(set(ids))
    used = set(re.findall(r'(?:url\(|href=")#([^")]+)', "".join(map(str, pictures))))
    assert used and used <= set(ids)


def test_wide_pictures_can_be_enlarged(tree):
    cell = svg_cell("A wide picture")
    cell.outputs[0].data["image/svg+xml"] = FIGURE.replace('width="72pt"', 'width="720pt"')
    write_chapter(tree, cell, svg_cell("A narrow picture"))
    assert build(tree) == (0, "")
    buttons = soup(tree / "_build/html/en/chapter.html").select(".picture-frame:has(svg.picture) + .enlarge")
    assert [button["aria-label"] for button in buttons] == ["Enlarge the picture"]
    assert buttons[0].previous_sibling.svg["aria-label"] == "A wide picture"


def test_a_picture_can_light_a_part(tree):
    (tree / "book/parts.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="9">'
        '<path id="a" data-lit="a" d="M0 0h9"/><path id="b" data-lit="b" d="M1 1h9"/></svg>'
    )
    write_chapter(tree, new_markdown_cell("![All](../parts.svg) ![One](../parts.svg#a)"))
    assert build(tree) == (0, "")
    pictures = soup(tree / "_build/html/en/chapter.html").select("svg.picture")[-2:]
    assert [svg["aria-label"] for svg in pictures] == ["All", "One"]
    assert [[path.get("opacity") for path in svg.select("path")] for svg in pictures] == [[None] * 2, [None, PALE]]


def test_pictures_follow_the_theme():
    svg = inline(FIGURE, "pic", 'Says "hello"')
    assert not re.search("#ffffff|#1f2328|#d0d7de|metadata|DOCTYPE|xml version", svg, re.I)
    assert "#2f7fc1" in svg and "stroke: currentColor" in svg and "var(--unrolled-grid)" in svg
    assert svg.count("var(--unrolled-paper)") == 1  # only the legend's; the figure's background is removed
    assert "#pic { *{stroke-linejoin: round} }" in svg  # limited to this picture
    assert "max-width:96px" in svg and 'viewBox="0 0 72 36"' in svg
    assert 'aria-label="Says &quot;hello&quot;"' in svg


def test_outputs_are_tables_and_code(page):
    cells = page.select("div.cell_output")
    assert cells[-1].select_one("table td math")
    assert cells[-1].select_one(".highlight-python .k").text == "def"
    assert "<Markdown>" not in page.text and "<Figure>" not in page.text
    assert all(
        output.text.strip() for output in cells[-1].select(".output")
    )  # the empty output of the progress bar is removed


def test_pages_load_nothing_from_other_sites(pristine):
    site = pristine / "_build/html"
    pages = list(site.rglob("*.html"))
    assert len(pages) > 4
    for path in pages:
        for element in soup(path).select("[src], [srcset], link[href], form[action]"):
            for key in ("src", "srcset", "href", "action"):
                url = urlparse(element.get(key, ""))
                assert not url.netloc and url.scheme in ("", "data"), f"{path.name}: {element}"
        assert not re.search(r"unpkg|jsdelivr|cdnjs|googleapis|thebe", path.read_text(encoding="utf-8")), path.name
    for path in site.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*['\"]?(https?:)?//", path.read_text(encoding="utf-8")), path.name


def test_links_and_files_of_pages_exist(pristine):
    site = pristine / "_build/html"
    for name in ("index.html", "en/index.html", "en/chapter.html"):
        for element in soup(site / name).select("a[href], [src], link[href]"):
            target = urlparse(urljoin(name, element.get("href") or element.get("src")))
            if not target.scheme and target.path:
                assert (site / target.path).is_file(), f"{name}: {element}"


@pytest.mark.heavy
def test_jupyter_book_builds_the_same_chapter(tree, page):
    jupyter_book = Path(sys.executable).with_name("jupyter-book")
    command = [jupyter_book, "build", ".", "-W", "--keep-going", "-n"]
    process = subprocess.run(command, cwd=tree, capture_output=True, text=True, encoding="utf-8")
    assert process.returncode == 0, process.stderr
    article = soup(tree / "_build/html/book/en/chapter.html").article
    assert article.text == page.article.text
    assert len(article.select("svg.picture")) == len(page.select("svg.picture"))


@pytest.mark.parametrize(
    ("cells", "warning"),
    [
        ([new_markdown_cell(r"Here $\nosuch{x}$ is wrong")], r"Undefined control sequence: \nosuch"),
        pytest.param([svg_cell(None)], "picture without a description", marks=pytest.mark.heavy),
        ([new_markdown_cell("![A part](../drawn.svg#nothing)")], "drawn.svg: no part 'nothing'"),
        pytest.param([new_markdown_cell("[](nowhere.ipynb)")], "nowhere.ipynb", marks=pytest.mark.heavy),
    ],
)
def test_a_warning_fails_the_build_and_keeps_the_old_site(tree, cells, warning):
    before = (tree / "_build/html/en/chapter.html").read_bytes()
    write_chapter(tree, *cells)
    for _attempt in range(2):  # Sphinx itself does not repeat warnings
        status, errors = build(tree)
        assert status == 1
        assert warning in errors and "build.py: failed: en" in errors
    assert (tree / "_build/html/en/chapter.html").read_bytes() == before


def test_removed_pages_are_deleted_from_the_site(tree):
    (tree / "book/en/chapter.ipynb").unlink()
    (tree / "book/en/other.md").write_text("# Other\n\n$$x$$ (step)\n", encoding="utf-8")
    for name, old, new in (
        ("_toc.yml", "en/chapter", "en/other"),
        ("book/en/index.md", "chapter.ipynb", "other.md"),
    ):
        text = (tree / name).read_text(encoding="utf-8")
        assert old in text
        (tree / name).write_text(text.replace(old, new), encoding="utf-8")
    (tree / "_build/html/zh").mkdir()
    assert build(tree) == (0, "")
    assert (tree / "_build/html/en/other.html").is_file()
    assert not (tree / "_build/html/en/chapter.html").exists()
    assert not (tree / "_build/html/zh").exists()


@pytest.mark.heavy
def test_building_again_keeps_the_search_index(tree):
    """Build without a change, when Sphinx writes no index, and with a changed page, when it updates the entries."""
    index, before = tree / "_build/html/en/searchindex.js", (tree / "_build/html/en/searchindex.js").read_bytes()
    for change in ("", "\n"):
        page = tree / "book/en/index.md"
        page.write_text(page.read_text(encoding="utf-8") + change, encoding="utf-8")
        assert build(tree) == (0, "")
        assert index.read_bytes() == before


def test_requirements_are_pinned_and_name_no_host():
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    assert "-e ." in lines
    loose = [line for line in lines if not line.startswith("-e .") and not re.match(r"[\w.-]+==[\w.]+( ;| +#|$)", line)]
    assert loose == []
    assert "://" not in text and "nvidia" not in text


@pytest.mark.parametrize(
    ("after", "marks"),
    [
        (", and", ","),
        ("。", "。"),
        ("는 값", "는"),
        ("입니다. 다", "입니다."),
        ("로, 다", "로,"),
        (" x", ""),
        ("(a)", ""),
    ],
)
def test_marks_after_a_formula(after, marks):
    match = MARKS.match(after)
    assert (match[0] if match else "") == marks
