"""The pages that only the instructor sees: code beside what was found, and appeals."""

from dataclasses import asdict

import pytest
from bs4 import BeautifulSoup

from assignments.batch import Batch
from assignments.grade import judge
from assignments.read import answers, notebooks
from assignments.report import pages, review, summary
from assignments.sandbox import protocol
from companion.check.engine import finding, messages
from companion.check.engine.question import all_questions, bank
from companion.check.engine.run_answer import observe
from tests.assignments.grading import IMPORTS, cell, notebook, put
from tests.assignments.report.made_up_verdicts import finding_of, judged_only, nearly, raises
from tests.project.paths import ROOT

LINES = [IMPORTS, "def helper(a):\n    return a * 2", "def other():\n    return 1", "", "check('gates', gates)"]
ASKED_CODE = "def gates(x, h, *w):\n\ta = '<script>' # \u202e`b`\n    return helper(a)"


def submission_of(folder, code=ASKED_CODE, outputs=(), more=()):
    """Return a submission of some cells, of which the fourth is the answer."""
    book = notebook({})
    book["cells"] = [cell(source) for source in (*LINES[:3], code, LINES[4], *more)]
    book["cells"][3]["metadata"] = {"nbgrader": {"grade_id": "gates"}}
    book["cells"][4]["outputs"] = list(outputs)
    put(folder, "ada", "lstm.ipynb", book)
    return answers.read_submission("ada", folder / "ada")


def judged_so(*mistakes, line=""):
    return judge.Verdict("gates", 0.0, 2, list(mistakes), ["**It raises.**\n`ValueError`\n" + line], walls=["time"])


def reviewed(submission, verdict, language="en"):
    beside = review.for_reviewers(submission, "gates", asdict(verdict), language, "ada")
    graded = judged_only("ada", asdict(verdict) | {"assignment": "lstm"} | beside, language=language)
    made = review.page(graded, {"ada": "ada.html", "bo": "bo.html"}, (None, "bo"), {})
    return BeautifulSoup(made, "html.parser"), graded


def test_review_shows_code_with_the_named_line_marked(tmp_path):
    """Check the answer's cell and its helpers: open, as text, with deceptive letters made visible."""
    code = ASKED_CODE.replace("\t", "    ")
    line = messages.words("ja")["results"]["line"].format(line=2, code="a = '<script>' #  'b'")
    page, _ = reviewed(submission_of(tmp_path, code), judged_so("raises_error", line=line), "ja")
    assert page.html["lang"] == "ja" and not page.find("script")
    cells = page.select("#gates details[open] pre")
    assert [element.text for element in cells] == [code.replace("\u202e", r"\u202e"), LINES[1]]
    assert [element.text for element in page.select("pre mark")] == [r"    a = '<script>' # \u202e`b`"]
    right, _ = reviewed(submission_of(tmp_path, code), judged_so())
    assert len(right.select("pre")) == 1  # nobody looks for the helpers of a right answer
    assert {element["href"] for element in page.select("nav a")} == {
        "../feedback/ada.html",
        "../summary.html",
        "bo.html",
    }


def test_long_code_is_cut_around_the_named_line(tmp_path):
    code = "def gates(x, h, *w):\n" + "\n".join(f"    a = {number}{' ' * 300}# x" for number in range(200))
    line = messages.words("en")["results"]["line"].format(
        line=171, code=protocol.parse_text(code.split("\n")[170].strip())
    )
    page, graded = reviewed(submission_of(tmp_path, code), judged_so("raises_error", line=line))
    assert page.select_one("pre mark").text.startswith("    a = 169 ")
    assert f"{201 - review.LINES} more lines" in page.text and len(page.text) < review.LINES * review.LETTERS * 1.2
    assert len(str(graded)) < review.LINES * review.LETTERS * 1.2  # what is stored has the bound, too


@pytest.mark.parametrize("language", messages.languages())
def test_answer_that_its_check_called_right_is_listed(tmp_path, language):
    """Check also answers that count as not written but look written."""
    asked, probed = all_questions()["gates"], bank("gates", 5)
    shown = messages.as_text(
        messages.FindingText(asked, probed, finding_of(asked.truth, "gates"), language).paragraphs()[0]
    )
    labels = pages.words(language)["instructor"]

    spaced = ASKED_CODE.replace("\t", "    ")

    def looked_at(*more, code=spaced):
        page, graded = reviewed(submission_of(tmp_path, code, *more), judged_so("not_written"), language)
        whys = [why for _, why, where in summary.Summary([graded], {"ada": "ada.html"}, language).rows_to_check()]
        assert all(
            BeautifulSoup(why, "html.parser").text in page.text
            for why in whys
            if why != pages.render_inline(labels["no_point"])
        )
        return whys

    odd = [
        {"output_type": "execute_result", "data": {"text/plain": [shown]}},
        3,
        {"data": {"text/plain": {}}},
        {"text": None},
    ]
    right, written, nothing = (pages.render_inline(labels[key]) for key in ("checked_right", "written", "no_point"))
    assert looked_at(odd) == [right, written, nothing]
    stub = "def gates(x, h, *w):\n    raise NotImplementedError()"
    assert looked_at([], code=stub) == [nothing]
    assert looked_at([], [stub.replace("raise NotImplementedError()", "return 1")], code=stub) == [written, nothing]


@pytest.mark.parametrize("language", messages.languages())
def test_what_the_checks_of_all_solutions_say_is_known(language):
    """Check that each right answer's stored output is known to say so, and no output about a wrong one."""
    for file in (ROOT / "assignments/source" / language).glob("*.ipynb"):
        shown = notebooks.read_notebook(file).check_output
        asked = [question for question in all_questions() if all_questions()[question].assignment == file.stem]
        assert [name for name in asked if not any(text in shown for text in messages.right_sentences(name))] == []
    for name, asked in all_questions().items():
        reached = {"score": 0.5, "aim": 0.9, "count": 3, "numbers": 4}
        wrong = finding.Finding(["wrong_values"], reached=reached, wrong=["y"], right=["batch_1"], compared=["y", "z"])
        wrong = "\n".join(map(messages.as_text, messages.FindingText(asked, None, wrong, language).paragraphs()))
        assert not any(text in wrong for other in all_questions() for text in messages.right_sentences(other)), name


def test_appeal_page_shows_wrong_probes():
    """Check that the first wrong probe is open, differences are marked, and the list of appeals links to the page."""
    asked, probed = all_questions()["gates"], bank("gates", 5)

    def numbers_of(answer):
        shown = zip(probed.probes, probed.expected, [observe(asked.call, answer, probe) for probe in probed.probes])
        entries = [
            {"probe": probe.to_json(), "right": expected.to_json(), "given": actual.to_json()}
            for probe, expected, actual in shown
        ]
        return review.compare_numbers({"probes": entries}) | {"before": 2.0}

    appealed = []
    for answer, student in ((asked.truth, "ada"), (nearly, "bo"), (raises, "cy")):
        verdict = judge.Verdict("gates", *((2.0, 2, []) if answer is asked.truth else (0.0, 2, ["raises_error"])), [])
        graded = judged_only(student, asdict(verdict) | {"assignment": "lstm"})
        appealed.append((graded, {"gates": numbers_of(answer)}))
    names = {"ada": "a.html", "bo": "b.html", "cy": "c.html"}
    every = [
        BeautifulSoup(review.page(result, names, (None, None), numbers), "html.parser") for result, numbers in appealed
    ]
    assert not every[0].select("mark, details[open]")
    (fold,) = every[1].select("details[open]")
    assert "wrong: o" in fold.summary.text and [row.td.text for row in fold.select("tr:has(mark)")][0] == "o"
    assert "i" not in [row.td.text for row in fold.select("tr:has(mark)")]
    assert "ValueError: <b>no</b>" in every[2].select_one("details[open]").text and not every[2].select("b")
    page = BeautifulSoup(review.appeals_page(appealed, names), "html.parser")
    rows = [[cell.text for cell in row.select("td")] for row in page.select("tbody tr")]
    first = probed.probes[0].name
    assert [row[0] for row in rows] == ["bo", "cy", "ada"] and rows[2][2:] == ["2 / 2", "2", "–", "–", "–"]
    assert rows[0][2:4] == ["0 / 2", "2"] and rows[0][5:] == [first, "o"] and rows[1][6] == "ValueError"
    assert page.select_one("tbody a")["href"] == "review/b.html#gates"


def test_numbers_of_an_appeal_are_limited():
    value = {"kind": "float64", "shape": [200_000], "numbers": [0.0] * 200_000}
    entry = {
        "given": {"values": {"i": value}, "notes": {}, "error": None},
        "right": {"values": {}, "notes": {}, "error": None},
    }
    assert len(str(review.compare_numbers({"probes": [entry]}))) < 20_000
    assert len(review.value_html(value)) < 1000


def test_numbers_of_an_appeal_stay_with_their_verdicts(tmp_path):
    """Check that numbers of another assignment stay, and those of a new answer are deleted."""
    put(tmp_path / "sent", "ada", "lstm.ipynb", "")
    batch = Batch(tmp_path / "sent", tmp_path / "grades", ("lstm",), say=lambda text: None)
    path = batch.output / "appeals" / "ada.json"
    numbers = {"probes": [], "wrong": []}
    wrong = asdict(judge.Verdict("gates", 0.0, 2, ["wrong_values"], [])) | {"assignment": "lstm"}
    graded = judged_only("ada", wrong)
    batch.keep("ada", graded)
    batch.keep("ada", graded | {"numbers": {"gates": numbers}})
    assert review.read_appeal(path) == {"gates": numbers | {"before": 0.0}}
    another = {"verdicts": [wrong | {"question": "rnn_step"}]}
    batch.keep("ada", graded | another | {"numbers": {"rnn_step": numbers}})
    assert set(review.read_appeal(path)) == {"gates", "rnn_step"}
    batch.keep("ada", graded)
    assert set(review.read_appeal(path)) == {"rnn_step"}
