"""Tests of grading one question again for all students, and of the report on changed points."""

import csv
import json

import pytest
from bs4 import BeautifulSoup

from assignments.batch import Batch
from assignments.grade import cache, carried_errors
from assignments.grade import judge as answer_judge
from assignments.read import answers
from assignments.report import grade_tables, pages, point_changes
from companion.check.engine.question import all_questions
from tests.assignments.grading import notebook, put, rows
from tests.check.lstm_answers import GATES, ONE_BIAS

WRONG = GATES.replace("torch.sigmoid(a[:, :H])", "torch.tanh(a[:, :H])")


def batch(folder, **more):
    return Batch(folder / "sent", folder / "grades", ("lstm",), say=lambda text: None, **more)


def entry(made, student):
    return cache.read_entries(made.done(student))[made.key]


def change_verdict(made, student, question, **changes):
    """Change a stored verdict, as if an older checker had given it."""
    path = made.done(student)
    content = json.loads(path.read_text(encoding="utf-8"))
    for verdict in content["batches"][made.key]["graded"]["verdicts"]:
        if verdict["question"] == question:
            verdict.update(changes)
    path.write_text(json.dumps(content), encoding="utf-8")


@pytest.fixture
def judged_by_text(in_process, no_gradebook, monkeypatch):
    """Judge answers by their text in this process, since these tests are about stored verdicts."""

    def judge(worker, question, answer, seed, language, words, limits, numbers=None, student=""):
        verdict = answer_judge.new_verdict(question)
        if answer is None or not answer.written:
            return answer_judge.fail(verdict, "no_answer", words)
        if numbers is not None:
            numbers["probes"] = []
        verdict.mistakes = ["tanh_on_i"] * ("torch.tanh(a[:, :H])" in dict(answer.cells)[answer.cell])
        verdict.points = 0.0 if verdict.mistakes else float(all_questions()[question].points)
        return verdict

    monkeypatch.setattr(answer_judge, "grade", judge)


@pytest.fixture
def graded(tmp_path, judged_by_text):
    """Grade two students, and change some stored verdicts."""
    for student, source in (("ada", GATES), ("bo", WRONG)):
        put(tmp_path / "sent", student, "lstm.ipynb", notebook({"gates": source, "one_bias": ONE_BIAS}))
    first_batch = batch(tmp_path)
    first_batch.grade(workers=1)
    change_verdict(first_batch, "ada", "gates", points=0.0, mistakes=["wrong_values"])
    change_verdict(first_batch, "ada", "one_bias", points=0.25, mistakes=["bias_lost"])
    return tmp_path


def changes(folder):
    with open(folder / "grades" / "changes.csv", encoding="utf-8-sig", newline="") as file:
        rows_read = [tuple(row) for row in csv.reader(file)][1:]
    page = BeautifulSoup((folder / "grades" / "changes.html").read_text(encoding="utf-8"), "html.parser")
    counts = {row.td.text: [int(cell.text) for cell in row.select("td")[1:]] for row in page.table.select("tbody tr")}
    return rows_read, counts, page


ADA = ("ada", "gates", "0", "2", "wrong_values", "")


def test_one_question_is_graded_again_and_the_rest_stays(graded, monkeypatch):
    assert not (graded / "grades" / "changes.html").exists()
    seeds = entry(batch(graded), "ada")["graded"]["seeds"]
    monkeypatch.setattr(cache, "hash_sources", lambda: "another checker")
    regrading = batch(graded, questions=["gates"])
    assert regrading.todo == ["ada", "bo"]
    regrading.grade(workers=1)
    changed_rows, counts, page = changes(graded)
    assert changed_rows == [ADA] and counts == {"gates": [0, 1, 0, 1]} and "gates" in page.p.text
    assert "one_bias" not in page.text and page.select_one("tbody a[href='review/ada.html#gates']")
    assert rows(graded / "grades")["ada", "one_bias"] == (0.25, "bias_lost")
    assert entry(regrading, "ada")["graded"]["seeds"] == seeds
    assert 'href="changes.html"' in (graded / "grades" / "summary.html").read_text(encoding="utf-8")
    # the same again, and what is graded every day, have nothing to do, and take nothing from the page
    for more in ({"questions": ["gates"]}, {}):
        repeated = batch(graded, **more)
        assert repeated.todo == []
        repeated.grade(workers=1)
        assert changes(graded)[0] == [ADA]
    fresh = batch(graded, questions=["gates"], fresh=True)
    fresh.grade(workers=1)
    assert entry(fresh, "ada")["graded"]["seeds"]["gates"] != seeds["gates"]
    assert entry(fresh, "ada")["graded"]["seeds"]["one_bias"] == seeds["one_bias"]
    assert batch(graded, questions=["gates"], fresh=True).todo == ["ada", "bo"]  # a new run


@pytest.mark.parametrize("more", [{"questions": ["gates"]}, {"questions": ["gates"], "fresh": True}, {}])
def test_interrupted_regrading_loses_no_change(graded, monkeypatch, more):
    """Check that changed points stay in the report, and that nobody is graded twice."""
    monkeypatch.setattr(cache, "hash_sources", lambda: "another checker")
    keep, regrading = Batch.keep, batch(graded, **more)

    def keep_and_interrupt(batch, student, *rest):
        keep(batch, student, *rest)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Batch, "keep", keep_and_interrupt)
        with pytest.raises(KeyboardInterrupt):
            regrading.grade(workers=1)
    assert changes(graded)[0][0] == ADA
    regrading = batch(graded, **more)
    assert regrading.todo == ["bo"]
    regrading.grade(workers=1)
    changed_rows, counts, _ = changes(graded)
    assert changed_rows[0] == ADA and counts["gates"] == [0, 1, 0, 1]
    path = regrading.done("ada")  # after a crash of the grader: grade again, and keep the old points
    path.write_text(path.read_text(encoding="utf-8").replace('"complete": true', '"complete": false'), encoding="utf-8")
    if not more.get("fresh"):
        regrading = batch(graded, **more)
        assert regrading.todo == ["ada"]
        regrading.grade(workers=1)
        assert changes(graded)[0][0] == ADA


def test_unchanged_verdicts_get_no_credit_or_remark():
    answer = answers.Answer(
        [[1, GATES], [2, "class LSTMCell:\n    def forward(self, *all):\n        return gates(*all)"]],
        ["LSTMCell"],
        True,
    )
    for unchanged, remarks in ((), 1), (["lstm_cell"], 0):
        verdicts = [
            {"question": name, "points": 0.0, "mistakes": [wrong], "remarks": [], "assignment": "lstm"}
            for name, wrong in (("gates", "tanh_on_i"), ("lstm_cell", "raises_error"))
        ]
        carried_errors.credit(verdicts, {"lstm_cell": answer}, pages.words("en"), None, {}, unchanged=unchanged)
        assert len(verdicts[1]["remarks"]) == remarks


def test_changed_grader_reports_changed_points(graded, monkeypatch):
    """Check that all are graded again; students with new files are not compared."""
    put(graded / "sent", "bo", "lstm.ipynb", notebook({"gates": GATES, "one_bias": ONE_BIAS}))
    monkeypatch.setattr(cache, "hash_sources", lambda: "another checker")
    regrading = batch(graded)
    assert regrading.todo == ["ada", "bo"]
    regrading.grade(workers=1)
    changed_rows, counts, page = changes(graded)
    assert changed_rows == [ADA, ("ada", "one_bias", "0.25", "2", "bias_lost", "")]
    assert (
        counts["lstm_cell"] == [0, 0, 0, 1]
        and "Everything was graded anew" in page.text
        and "older version" not in page.text
    )


@pytest.mark.parametrize("questions", [["gates"], []])
def test_new_submission_is_graded_completely(graded, questions):
    put(graded / "sent", "ada", "lstm.ipynb", notebook({"gates": WRONG, "one_bias": ONE_BIAS}))
    regrading = batch(graded, questions=questions)
    assert regrading.todo == (["ada", "bo"] if questions else ["ada"])
    regrading.grade(workers=1)
    points = rows(graded / "grades")
    assert points["ada", "gates"][0] == 0 and points["ada", "one_bias"] == (2, "")
    assert not questions or changes(graded)[0] == []


def test_points_by_hand_and_appeals_stay(graded, monkeypatch):
    regrading = batch(graded, again=["bo"])
    regrading.grade(workers=1)
    shown = (graded / "grades" / "appeals" / "bo.json").read_text(encoding="utf-8")
    monkeypatch.setattr(grade_tables, "write_gradebook", lambda *_: {("ada", "gates"): 1.5})
    batch(graded, questions=["gates"]).grade(workers=1)
    assert rows(graded / "grades")["ada", "gates"][0] == 1.5
    changed_rows, _, page = changes(graded)
    assert changed_rows == [ADA] and "given by hand: 1.5" in page.text
    now = json.loads((graded / "grades" / "appeals" / "bo.json").read_text(encoding="utf-8"))
    assert set(now) == set(json.loads(shown)) - {"gates"}  # its numbers explain the points of another grading


def test_names_and_formulas_are_escaped():
    graded = {"verdicts": [{"question": "gates", "points": 1.0, "mistakes": ["<b>"]}]}
    entries = [("=<b>a</b>", {"before": {"gates": [2.0, []]}, "graded": graded, "known": False})]
    assert "'=<b>a</b>,gates,2,1,,<b>" in point_changes.csv_table(entries)
    run = {"questions": [], "fresh": False}
    page = BeautifulSoup(point_changes.page(entries, run, {"=<b>a</b>": "a.html"}, {}, "ja"), "html.parser")
    assert not page.select("b") and "=<b>a</b>" in page.text and page.html["lang"] == "ja"
