"""The page of an assignment, as a student has it: answers are written and checked there, and saved as a notebook.

A stand-in for Python (tests/live/fake) answers. What the checker says is in test_checker.py, and in
test_python_on_page.py.
"""

import json
import shutil
from pathlib import Path

import nbformat
import pytest

from book import editions
from book.live import page_scripts
from companion.check.engine.question import ASSIGNMENTS
from tests.live.reader import Reader
from tests.project.sampling import chosen
from tests.site.browsing import accessible, begin, opened
from tests.site.whole_site import serving

FAKE = Path(__file__).parent / "fake"
PAGE = "assignment_rnn"
SPOKEN = [edition.language for edition in editions.editions()]


def laid_out(site, folder):
    """Fill a folder with this page in each language, without what runs cells."""
    for language in SPOKEN:
        for name in ("_static", "assignments"):
            shutil.copytree(site / language / name, folder / language / name)
        shutil.copy(site / language / f"{PAGE}.html", folder / language)
    return folder


@pytest.fixture(scope="module")
def practice(site, tmp_path_factory):
    folder = laid_out(site, tmp_path_factory.mktemp("practice"))
    shutil.copytree(FAKE, folder / "live")
    page_scripts.add_scripts(folder, editions.editions())
    with serving(folder) as (address, _):
        yield address


def test_answers_are_saved_as_the_notebook_that_was_given_out(browser, practice, site):
    """Cell by cell, by their ids; all else is as it was. Nothing but the site's own files is asked for, and nothing
    sent."""
    answer = 'def rnn_step(x, h):\n    print("数")\n'
    with browser.new_context(service_workers="block") as context:
        context.add_init_script("navigator.serviceWorker.register = async () => {}")
        with opened(context, f"{practice}/en/{PAGE}.html") as page:
            begin(page)
            asked = []
            page.on("request", lambda request: asked.append((request.method, request.url.removeprefix(practice))))
            book = Reader(page, editions.ASSIGNMENTS / "en/rnn.ipynb")
            book.load("rnn_step")
            assert (
                "`" not in page.locator(".run-honest").inner_text()
                and "check here compares" in page.locator(".run-honest").inner_text()
            )
            book.write("rnn_step", answer)
            with page.expect_download() as download:
                page.locator(".hand-in button").first.click()
            saved = nbformat.read(download.value.path(), as_version=4)
            nbformat.validate(saved)
            given = nbformat.read(site / f"en/assignments/{download.value.suggested_filename}", as_version=4)
            shown = page.locator(".cell:has(.run-row)").evaluate_all(
                "all => all.map(one => one.previousElementSibling.id)"
            )
            assert shown == [one.id for one in given.cells if one.cell_type == "code"]
            for one in given.cells:
                one.source = answer if one.id == "rnn_step" else one.source
            assert saved == given
            assert {method for method, _ in asked} == {"GET"} and all(
                url.startswith("/") for _, url in asked if not url.startswith("blob:")
            )

            # what is checked above changes nothing below
            page.evaluate("asked.splice(0)")
            book.run("rnn-check")
            book.done()
            ran = [one.removeprefix("run ") for one in page.evaluate("asked") if one.startswith("run ")]
            assert "rnn_step" in ran and ran[-1] == "rnn-check" and not {"rnn-step-check", "rnn-cell-check"} & {*ran}

            page.reload()  # what was written is there again, and is saved before anything runs
            begin(page)
            page.locator("#rnn_step + .cell pre", has_text="数").wait_for()
            with page.expect_download() as download:
                page.locator(".hand-in button").last.click()
            assert nbformat.read(download.value.path(), as_version=4) == given
            assert not page.evaluate("window.asked")


@pytest.mark.parametrize("language", chosen(SPOKEN, "ko"))
def test_every_assignment_says_in_its_language_what_it_is_for(practice, browser, language):
    with opened(browser, f"{practice}/{language}/{PAGE}.html") as page:
        said = page_scripts.words(language)
        assert page.locator(".practice").inner_text() == said["practice"]
        assert page.locator(".hand-in button").all_inner_texts() == [said["hand_in"]] * 2
        if language == editions.ORIGINAL:
            accessible(page)


def test_a_site_that_runs_nothing_offers_what_it_did(site, tmp_path):
    """A chapter is as it was, an assignment has the notebook to download; also where the site ran cells before."""
    folder = laid_out(site, tmp_path)
    shutil.copy(site / "en/first_network.html", folder / "en")
    assignment, chapter = (folder / f"en/{name}.html" for name in (PAGE, "first_network"))
    built = page_scripts.fill(chapter.read_text(encoding="utf-8"), page_scripts.PLACE, "")
    page_scripts.add_scripts(folder, editions.editions())
    before = assignment.read_text(encoding="utf-8")
    assert chapter.read_text(encoding="utf-8") == built
    assert 'href="assignments/rnn.ipynb" download' in before
    assert not [one for one in ("<button type", "run.js") if one in before]
    shutil.copytree(FAKE, folder / "live")
    page_scripts.add_scripts(folder, editions.editions())
    assert assignment.read_text(encoding="utf-8").count("data-notebook") == 2
    runs = chapter.read_text(encoding="utf-8")
    assert runs.count("_static/live/run.js") == 1 and len(runs) < len(built) + 150
    shutil.rmtree(folder / "live")
    page_scripts.add_scripts(folder, editions.editions())
    assert (chapter.read_text(encoding="utf-8"), assignment.read_text(encoding="utf-8")) == (built, before)


def test_every_edition_has_its_assignments_as_pages(site):
    for edition in editions.editions():
        listed = (site / edition.language / "assignments.html").read_text(encoding="utf-8")
        assert len(edition.assignments) == len(ASSIGNMENTS)
        for name, source in edition.assignments.items():
            assert f'href="{name}.html"' in listed and f'href="assignments/{source.name}"' in listed
            cells = json.loads((site / edition.language / "assignments" / source.name).read_text(encoding="utf-8"))[
                "cells"
            ]
            assert "BEGIN SOLUTION" not in json.dumps(cells)
            page = (site / edition.language / f"{name}.html").read_text(encoding="utf-8")
            assert all(f'id="{cell["id"]}"' in page for cell in cells if cell["cell_type"] == "code")
