"""The instructor's summary of three hundred students."""

import io

import pytest
from bs4 import BeautifulSoup

from assignments.grade import cache
from assignments.read.names import page_name
from assignments.report import summary
from tests.assignments.report.made_up_class import made_up
from tests.site.browsing import accessible, opened


def write_summary(folder, all_graded):
    """Write the summary of a class, and return its path."""
    names = {graded["student"]: f"{page_name(graded['student'])}.html" for graded in all_graded}
    path = folder / "summary.html"
    path.write_text(summary.summary(all_graded, "", names, "en", [*summary.OTHER_PAGES]), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return write_summary(tmp_path_factory.mktemp("grades"), made_up(300))


@pytest.fixture(scope="module")
def read(made):
    return BeautifulSoup(made.read_text(encoding="utf-8"), "html.parser")


def below(page, head):
    """Return the rows of the table below a heading."""
    return [
        [cell.text.strip() for cell in row.select("td")]
        for row in page.find("h3", string=head).find_next("tbody").select("tr")
    ]


def test_summary_is_small_with_lists_of_names_folded(made, read):
    assert made.stat().st_size < 2**20 and not read.select("details[open]")
    for row in read.select("table:not(#everyone table) tbody td"):
        assert len([link for link in row.select("a") if not link.find_parent("details")]) <= 2 * summary.FEW


def test_counts_of_a_question_add_up(read):
    for _question, right, *counts, _mean, top in below(read, "Questions"):
        assert int(right.split("/")[0]) + sum(map(int, counts)) == 300 and "(" in top


def test_results_by_time_of_submission(read):
    """Check five groups of equal size beside the batches, and none if all have one time, as after unzipping."""
    rows_read = below(read, "Over time")
    assert [row[:2] for row in rows_read[:2]] == [["batch 1", "150"], ["batch 2", "150"]]
    groups = rows_read[2:]
    assert [row[1] for row in groups] == ["60"] * 5 and [row[0] for row in groups] == sorted(row[0] for row in groups)
    shares = [int(row[2].split()[0]) for row in groups]
    assert shares == sorted(shares, reverse=True)
    for sent in (0, 1_796_000_000, 1e300, -5):
        graded = [cache.add_batch(graded | {"sent": sent}, 1) for graded in made_up(12, ["rnn"])]
        assert "Over time" not in summary.summary(graded, "", {graded["student"]: "a.html" for graded in graded})


def test_list_of_students_has_a_filter_and_arrow_keys(browser, made):
    with opened(browser, made.as_uri()) as page:
        page.get_by_role("searchbox").fill("SMITH")
        shown = page.locator("#everyone tbody tr:visible").all_inner_texts()
        assert 0 < len(shown) < 300 and all("Smith" in row for row in shown)
        assert page.locator("output").inner_text() == f"{len(shown)} of 300"

        def focused():
            return page.evaluate("document.activeElement.closest('tr')?.innerText ?? document.activeElement.tagName")  # noqa: E731

        for wanted in (shown[0], shown[1], shown[0]):
            page.keyboard.press("ArrowUp" if focused() == shown[1] else "ArrowDown")
            assert focused() == wanted
        page.get_by_role("searchbox").fill("")
        assert page.locator("#everyone tbody tr:visible").count() == 300 and page.locator("output").inner_text() == ""


@pytest.mark.heavy
def test_summary_prints_completely(browser, made):
    """Check that no table is wider than the paper, links are text, and each page of a long table has its head."""
    import pypdf

    with opened(browser, made.as_uri(), viewport={"width": 690, "height": 900}) as page:
        page.emulate_media(media="print")
        assert page.evaluate(
            "[...document.querySelectorAll('.table')].every(one => one.scrollWidth <= one.clientWidth)"
        )
        link = page.locator("#everyone td a").first
        assert link.evaluate("one => getComputedStyle(one).textDecorationLine") == "none"
        assert not page.locator("nav").is_visible() and not page.get_by_role("searchbox").is_visible()
        paper = pypdf.PdfReader(io.BytesIO(page.pdf(format="A4")))
    last = ["".join(sheet.extract_text().split()) for sheet in paper.pages[-3:]]
    assert all("lstm_parameters" in sheet for sheet in last) and len(paper.pages) < 40


@pytest.mark.heavy
def test_summary_is_accessible(browser, tmp_path):
    """Check a class of fifteen and two assignments, whose page has all parts of a large one."""
    path = write_summary(tmp_path, made_up(15, ["rnn", "lstm"]))
    with opened(
        browser, path.as_uri(), viewport={"width": 360, "height": 700}, color_scheme="light", bypass_csp=True
    ) as page:
        for width in (360, 1280):
            page.set_viewport_size({"width": width, "height": 700})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            accessible(page)
        page.emulate_media(color_scheme="dark")
        accessible(page, runOnly=["color-contrast"])
