"""The page of an assignment, as a student has it: answers are written and checked there, and saved as a notebook.

A stand-in for Python (tests/live/fake) answers in all but the last test; what the checker says is in test_checker.py.
"""

import json
import shutil
from pathlib import Path

import editions
import nbformat
import pytest
from browsing import accessible, begin, opened
from sampling import chosen
from whole_site import serving

from companion.check.question import ASSIGNMENTS
from live import offering, parts

FAKE = Path(__file__).parent / "fake"
PAGE = "assignment_rnn"
SPOKEN = [edition.language for edition in editions.editions()]


def laid_out(site, folder):
    """A folder with this page in each language, without what runs cells."""
    for language in SPOKEN:
        for name in ("_static", "assignments"):
            shutil.copytree(site / language / name, folder / language / name)
        shutil.copy(site / language / f"{PAGE}.html", folder / language)
    return folder


@pytest.fixture(scope="module")
def practice(site, tmp_path_factory):
    folder = laid_out(site, tmp_path_factory.mktemp("practice"))
    shutil.copytree(FAKE, folder / "live")
    offering.offer(folder, editions.editions())
    with serving(folder) as (address, _):
        yield address


def test_answers_are_saved_as_the_notebook_that_was_given_out(browser, practice, site):
    """Cell by cell, by their ids; all else is as it was. Nothing but the site's own files is asked for, and nothing sent."""
    answer = 'def rnn_step(x, h):\n    print("数")\n'
    with browser.new_context(service_workers="block") as context:
        context.add_init_script("navigator.serviceWorker.register = async () => {}")
        with opened(context, f"{practice}/en/{PAGE}.html") as page:
            begin(page)
            asked = []
            page.on("request", lambda request: asked.append((request.method, request.url.removeprefix(practice))))
            cells = page.locator(".cell:has(.run-row)")

            def cell(name):
                return page.locator(f"#{name} + .cell")

            cell("rnn_step").get_by_role("button", name="Run").click()
            page.locator(".run-bar").get_by_role("button", name="Load and run").click()
            page.locator(".run-said", has_text="ready").wait_for()
            assert "`" not in page.locator(".run-honest").inner_text() and "check here compares" in page.locator(".run-honest").inner_text()
            cell("rnn_step").get_by_role("button", name="Edit").click()
            cell("rnn_step").locator("textarea").fill(answer)
            with page.expect_download() as download:
                page.locator(".hand-in button").first.click()
            saved = nbformat.read(download.value.path(), as_version=4)
            nbformat.validate(saved)
            given = nbformat.read(site / f"en/assignments/{download.value.suggested_filename}", as_version=4)
            shown = cells.evaluate_all("all => all.map(one => one.previousElementSibling.id)")
            assert shown == [one.id for one in given.cells if one.cell_type == "code"]
            for one in given.cells:
                one.source = answer if one.id == "rnn_step" else one.source
            assert saved == given
            assert {method for method, _ in asked} == {"GET"} and all(url.startswith("/") for _, url in asked if not url.startswith("blob:"))

            # what is checked above changes nothing below
            page.evaluate("asked.splice(0)")
            cell("rnn-check").get_by_role("button", name="Run").click()
            page.wait_for_function("document.querySelector('#rnn-check + .cell').dataset.run === 'done'")
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
        said = offering.words(language)
        assert page.locator(".practice").inner_text() == said["practice"]
        assert page.locator(".hand-in button").all_inner_texts() == [said["hand_in"]] * 2
        if language == editions.ORIGINAL:
            accessible(page)


def test_a_site_that_runs_nothing_has_the_notebook_to_download(site, tmp_path):
    """As after a build without what runs cells, also of a site that had it before."""
    folder = laid_out(site, tmp_path)
    page = folder / f"en/{PAGE}.html"
    offering.offer(folder, editions.editions())
    before = page.read_text(encoding="utf-8")
    assert 'href="assignments/rnn.ipynb" download' in before
    assert not [one for one in ("<button type", "run.js") if one in before]
    shutil.copytree(FAKE, folder / "live")
    offering.offer(folder, editions.editions())
    assert page.read_text(encoding="utf-8").count("data-notebook") == 2
    shutil.rmtree(folder / "live")
    offering.offer(folder, editions.editions())
    assert page.read_text(encoding="utf-8") == before


def test_every_edition_has_its_assignments_as_pages(site):
    for edition in editions.editions():
        listed = (site / edition.language / "assignments.html").read_text(encoding="utf-8")
        assert len(edition.assignments) == len(ASSIGNMENTS)
        for name, source in edition.assignments.items():
            assert f'href="{name}.html"' in listed and f'href="assignments/{source.name}"' in listed
            cells = json.loads((site / edition.language / "assignments" / source.name).read_text(encoding="utf-8"))["cells"]
            assert "BEGIN SOLUTION" not in json.dumps(cells)
            page = (site / edition.language / f"{name}.html").read_text(encoding="utf-8")
            assert all(f'id="{cell["id"]}"' in page for cell in cells if cell["cell_type"] == "code")


@pytest.mark.heavy
def test_the_checker_speaks_to_students_on_the_page(browser, live_parts, site, tmp_path):
    """With the Python that they get: solutions are right, and two mistakes at once are named. test_checker.py has all languages."""
    language = "ko"
    folder = laid_out(site, tmp_path)
    parts.pack(folder)
    offering.offer(folder, editions.editions())
    said = offering.words(language)
    cells = nbformat.read(editions.ASSIGNMENTS / language / "rnn.ipynb", as_version=4).cells
    answers = {cell.id: cell.source for cell in cells}
    praise = next(cell.outputs[0].data["text/plain"] for cell in cells if cell.id == "rnn-step-check")
    wrong = answers["rnn_step"].replace("tanh(", "sigmoid(").replace(" + bias_hh", "")
    with serving(folder) as (address, _), browser.new_context(service_workers="block") as context, context.new_page() as page:
        page.set_default_timeout(60_000)
        page.goto(f"{address}/{language}/{PAGE}.html")
        begin(page)

        def told(answer):
            cell, check = page.locator("#rnn_step + .cell"), page.locator("#rnn-step-check + .cell")
            if not cell.locator("[role=textbox]").count():
                cell.get_by_role("button", name=said["edit"]).click()
            cell.locator("[role=textbox]").press("ControlOrMeta+a")
            page.keyboard.insert_text(answer)
            check.locator(".run-row button").first.click()
            page.wait_for_function("!document.querySelector('[data-run=waiting], [data-run=running]')")
            return check.locator(".run-output").inner_text()

        page.locator("#imports + .cell .run-row button").first.click()
        page.locator(".run-bar").get_by_role("button", name=said["load"]).click()
        page.wait_for_selector("[data-run=done]")
        first = told(wrong)
        assert "bias_hh_missing" in first and "sigmoid_for_tanh" in first
        assert told(answers["rnn_step"]).strip() == praise.replace("`", "")
