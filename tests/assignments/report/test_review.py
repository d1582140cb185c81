"""The pages that only the instructor sees: code beside what was found, and appeals."""

from dataclasses import asdict

import pytest
from bs4 import BeautifulSoup

from assignments.batch import Batch
from assignments.grade import judge
from assignments.read import answers
from assignments.report import pages, review, summary
from assignments.sandbox import protocol
from companion.check.engine import messages
from companion.check.engine.question import all_questions, bank
from companion.check.engine.run_answer import observe
from tests.assignments.grading import IMPORTS, cell, notebook, put
from tests.assignments.report.made_up_verdicts import finding_of, judged_only, nearly, raises

LINES = [IMPORTS, "def helper(a):\n    return a * 2", "def other():\n    return 1", "", "check('gates', gates)"]
ASKED_CODE = "def gates(x, h, *w):\n\ta = '<script>' # \u202e`b`\n    return helper(a)"


def sent_by(folder, code=ASKED_CODE, outputs=(), more=()):
    """A submission of some cells, the fourth of which answers."""
    book = notebook({})
    book["cells"] = [cell(one) for one in (*LINES[:3], code, LINES[4], *more)]
    book["cells"][3]["metadata"] = {"nbgrader": {"grade_id": "gates"}}
    book["cells"][4]["outputs"] = list(outputs)
    put(folder, "ada", "lstm.ipynb", book)
    return answers.read_submission("ada", folder / "ada")


def judged_so(*mistakes, line=""):
    return judge.Verdict("gates", 0.0, 2, list(mistakes), ["**It raises.**\n`ValueError`\n" + line], walls=["time"])


def reviewed(submission, verdict, language="en"):
    beside = review.beside(submission, "gates", asdict(verdict), language, "ada")
    graded = judged_only("ada", asdict(verdict) | {"assignment": "lstm"} | beside, language=language)
    made = review.page(graded, {"ada": "ada.html", "bo": "bo.html"}, (None, "bo"), {})
    return BeautifulSoup(made, "html.parser"), graded


def test_code_stands_beside_what_was_found_with_the_line_marked(tmp_path):
    """The answer's cell and the helpers that it uses, open, as text, with its letters shown that would deceive."""
    code = ASKED_CODE.replace("\t", "    ")
    line = messages.words("ja")["results"]["line"].format(line=2, code="a = '<script>' #  'b'")
    page, _ = reviewed(sent_by(tmp_path, code), judged_so("raises_error", line=line), "ja")
    assert page.html["lang"] == "ja" and not page.find("script")
    cells = page.select("#gates details[open] pre")
    assert [one.text for one in cells] == [code.replace("\u202e", r"\u202e"), LINES[1]]
    assert [one.text for one in page.select("pre mark")] == [r"    a = '<script>' # \u202e`b`"]
    right, _ = reviewed(sent_by(tmp_path, code), judged_so())
    assert len(right.select("pre")) == 1  # nobody looks for the helpers of a right answer
    assert {one["href"] for one in page.select("nav a")} == {"../feedback/ada.html", "../summary.html", "bo.html"}


def test_long_code_has_a_bound_and_shows_the_line_that_is_named(tmp_path):
    code = "def gates(x, h, *w):\n" + "\n".join(f"    a = {number}{' ' * 300}# x" for number in range(200))
    line = messages.words("en")["results"]["line"].format(
        line=171, code=protocol.parse_text(code.split("\n")[170].strip())
    )
    page, graded = reviewed(sent_by(tmp_path, code), judged_so("raises_error", line=line))
    assert page.select_one("pre mark").text.startswith("    a = 169 ")
    assert f"{201 - review.LINES} more lines" in page.text and len(page.text) < review.LINES * review.LETTERS * 1.2
    assert len(str(graded)) < review.LINES * review.LETTERS * 1.2  # what is stored has the bound, too


@pytest.mark.parametrize("language", messages.languages())
def test_an_answer_that_its_check_called_right_is_to_be_looked_at(tmp_path, language):
    """So is one that counts as not written, and looks written."""
    asked, probed = all_questions()["gates"], bank("gates", 5)
    text = messages.FindingText(asked, probed, finding_of(asked.truth, "gates"), language)
    shown = messages.as_text(text.paragraphs()[0])
    said = pages.words(language)["instructor"]

    spaced = ASKED_CODE.replace("\t", "    ")

    def looked_at(*more, code=spaced):
        page, graded = reviewed(sent_by(tmp_path, code, *more), judged_so("not_written"), language)
        whys = [why for _, why, where in summary.Summary([graded], {"ada": "ada.html"}, language).to_look_at()]
        assert all(
            BeautifulSoup(why, "html.parser").text in page.text for why in whys if why != pages.inline(said["no_point"])
        )
        return whys

    odd = [
        {"output_type": "execute_result", "data": {"text/plain": [shown]}},
        3,
        {"data": {"text/plain": {}}},
        {"text": None},
    ]
    right, written, nothing = (pages.inline(said[key]) for key in ("checked_right", "written", "no_point"))
    assert looked_at(odd) == [right, written, nothing]
    stub = "def gates(x, h, *w):\n    raise NotImplementedError()"
    assert looked_at([], code=stub) == [nothing]
    assert looked_at([], [stub.replace("raise NotImplementedError()", "return 1")], code=stub) == [written, nothing]


def test_an_appeal_is_a_page():
    """The first probe on which an answer is wrong is open, what differs is marked; the page of all leads there."""
    asked, probed = all_questions()["gates"], bank("gates", 5)

    def numbers_of(answer):
        shown = zip(probed.probes, probed.expected, [observe(asked.call, answer, probe) for probe in probed.probes])
        said = [
            {"probe": one.to_json(), "right": right.to_json(), "given": given.to_json()} for one, right, given in shown
        ]
        return review.compared({"probes": said}) | {"before": 2.0}

    found = []
    for answer, student in ((asked.truth, "ada"), (nearly, "bo"), (raises, "cy")):
        verdict = judge.Verdict("gates", *((2.0, 2, []) if answer is asked.truth else (0.0, 2, ["raises_error"])), [])
        graded = judged_only(student, asdict(verdict) | {"assignment": "lstm"})
        found.append((graded, {"gates": numbers_of(answer)}))
    names = {"ada": "a.html", "bo": "b.html", "cy": "c.html"}
    every = [BeautifulSoup(review.page(one, names, (None, None), numbers), "html.parser") for one, numbers in found]
    assert not every[0].select("mark, details[open]")
    (fold,) = every[1].select("details[open]")
    assert "wrong: o" in fold.summary.text and [row.td.text for row in fold.select("tr:has(mark)")][0] == "o"
    assert "i" not in [row.td.text for row in fold.select("tr:has(mark)")]
    assert "ValueError: <b>no</b>" in every[2].select_one("details[open]").text and not every[2].select("b")
    page = BeautifulSoup(review.appeals(found, names), "html.parser")
    rows = [[one.text for one in row.select("td")] for row in page.select("tbody tr")]
    first = probed.probes[0].name
    assert [row[0] for row in rows] == ["bo", "cy", "ada"] and rows[2][2:] == ["2 / 2", "2", "–", "–", "–"]
    assert rows[0][2:4] == ["0 / 2", "2"] and rows[0][5:] == [first, "o"] and rows[1][6] == "ValueError"
    assert page.select_one("tbody a")["href"] == "review/b.html#gates"


def test_an_appeals_numbers_are_bounded():
    value = {"kind": "float64", "shape": [200_000], "numbers": [0.0] * 200_000}
    one = {
        "given": {"values": {"i": value}, "notes": {}, "error": None},
        "right": {"values": {}, "notes": {}, "error": None},
    }
    assert len(str(review.compared({"probes": [one]}))) < 20_000
    assert len(review.shown(value)) < 1000


def test_an_appeals_numbers_stay_with_their_grades(tmp_path):
    """Those of another assignment stay; those of an answer that was handed in anew go."""
    put(tmp_path / "sent", "ada", "lstm.ipynb", "")
    batch = Batch(tmp_path / "sent", tmp_path / "grades", ("lstm",), say=lambda text: None)
    path = batch.output / "appeals" / "ada.json"
    one = {"probes": [], "wrong": []}
    wrong = asdict(judge.Verdict("gates", 0.0, 2, ["wrong_values"], [])) | {"assignment": "lstm"}
    graded = judged_only("ada", wrong)
    batch.keep("ada", graded)
    batch.keep("ada", graded | {"numbers": {"gates": one}})
    assert review.appealed(path) == {"gates": one | {"before": 0.0}}
    other = {"verdicts": [wrong | {"question": "rnn_step"}]}
    batch.keep("ada", graded | other | {"numbers": {"rnn_step": one}})
    assert set(review.appealed(path)) == {"gates", "rnn_step"}
    batch.keep("ada", graded)
    assert set(review.appealed(path)) == {"rnn_step"}
