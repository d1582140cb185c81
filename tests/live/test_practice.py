"""Test the page of an assignment: students write and check answers there, and save them as a notebook.

Cells run on a stand-in for Python (tests/live/fake); test_checker.py and test_python_on_page.py test the checker.
"""

import json
import re
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
from tests.site.whole_site import serve

FAKE = Path(__file__).parent / "fake"
PAGE = "assignment_rnn"
LANGUAGES = [edition.language for edition in editions.editions()]


def copy_pages(site, folder):
    """Copy the page in each language into a folder, without the parts that run cells."""
    for language in LANGUAGES:
        for name in ("_static", "assignments"):
            shutil.copytree(site / language / name, folder / language / name)
        shutil.copy(site / language / f"{PAGE}.html", folder / language)
    return folder


@pytest.fixture(scope="module")
def practice_address(site, tmp_path_factory):
    folder = copy_pages(site, tmp_path_factory.mktemp("practice"))
    shutil.copytree(FAKE, folder / "live")
    page_scripts.add_scripts(folder, editions.editions())
    with serve(folder) as (address, _):
        yield address


def test_saved_notebook_is_the_student_version_with_the_answers(browser, practice_address, site):
    """Check also that the page requests only the site's files, sends nothing, and restores answers after a reload."""
    answer = 'def rnn_step(x, h):\n    print("数")\n'
    with browser.new_context(service_workers="block") as context:
        context.add_init_script("navigator.serviceWorker.register = async () => {}")
        with opened(context, f"{practice_address}/en/{PAGE}.html") as page:
            begin(page)
            requests = []
            page.on(
                "request", lambda request: requests.append((request.method, request.url.removeprefix(practice_address)))
            )
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
            student_version = nbformat.read(site / f"en/assignments/{download.value.suggested_filename}", as_version=4)
            shown = page.locator(".cell:has(.run-row)").evaluate_all(
                "cells => cells.map(cell => cell.previousElementSibling.id)"
            )
            assert shown == [cell.id for cell in student_version.cells if cell.cell_type == "code"]
            for cell in student_version.cells:
                cell.source = answer if cell.id == "rnn_step" else cell.source
            assert saved == student_version
            assert {method for method, _ in requests} == {"GET"} and all(
                url.startswith("/") for _, url in requests if not url.startswith("blob:")
            )

            # checks above need not run before this one
            page.evaluate("asked.splice(0)")
            book.run("rnn-check")
            book.done()
            ran = [call.removeprefix("run ") for call in page.evaluate("asked") if call.startswith("run ")]
            assert "rnn_step" in ran and ran[-1] == "rnn-check" and not {"rnn-step-check", "rnn-cell-check"} & {*ran}

            page.reload()  # the answer is restored and can be saved before anything runs
            begin(page)
            page.locator("#rnn_step + .cell pre", has_text="数").wait_for()
            with page.expect_download() as download:
                page.locator(".hand-in button").last.click()
            assert nbformat.read(download.value.path(), as_version=4) == student_version
            assert not page.evaluate("window.asked")


@pytest.mark.parametrize("language", chosen(LANGUAGES, "ko"))
def test_note_and_buttons_of_an_assignment_are_translated(practice_address, browser, language):
    with opened(browser, f"{practice_address}/{language}/{PAGE}.html") as page:
        translated = page_scripts.words(language)
        assert page.locator(".practice").inner_text() == translated["practice"]
        assert page.locator(".hand-in button").all_inner_texts() == [translated["hand_in"]] * 2
        if language == editions.ORIGINAL:
            accessible(page)


def test_pages_of_a_site_without_live_parts_have_no_scripts(site, tmp_path):
    """Check that add_scripts changes nothing without live/, and removes what it has added if live/ is deleted."""
    folder = copy_pages(site, tmp_path)
    names = PAGE, "first_network", "index"
    paths = assignment, chapter, front_page = [folder / f"en/{name}.html" for name in names]
    for path in paths:
        shutil.copy(site / "en" / path.name, path)
    page_scripts.add_scripts(folder, editions.editions())
    built = [path.read_text(encoding="utf-8") for path in paths]
    before = built[0]
    assert not [text for text in ("Run this page", "run.js") if text in built[1]] and "#ten-lines" not in built[2]
    assert "How to run the notebook" in built[1]
    assert 'href="assignments/rnn.ipynb" download' in before
    assert not [text for text in ("<button type", "run.js") if text in before]
    shutil.copytree(FAKE, folder / "live")
    page_scripts.add_scripts(folder, editions.editions())
    assert assignment.read_text(encoding="utf-8").count("data-notebook") == 2
    runs = chapter.read_text(encoding="utf-8")
    assert runs.count("_static/live/run.js") == 1 and len(runs) < len(built[1]) + 250
    assert runs.count("Run this page") == 1 and "Run this page" not in assignment.read_text(encoding="utf-8")
    link = re.search(r'<a href="(\w+)\.html#([\w-]+)">Begin', front_page.read_text(encoding="utf-8"))
    assert link[1] == "first_network" and f'id="{link[2]}"' in runs
    shutil.rmtree(folder / "live")
    page_scripts.add_scripts(folder, editions.editions())
    assert [path.read_text(encoding="utf-8") for path in paths] == built


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
