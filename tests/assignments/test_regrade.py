"""One question graded anew for all, and who changes."""

import csv
import json

import pytest
from bs4 import BeautifulSoup

from assignments.batch import Batch
from assignments.grade import carried_errors, store
from assignments.grade import judge as answer_judge
from assignments.read import answers
from assignments.report import changes as point_changes
from assignments.report import pages
from companion.check.engine.question import all_questions
from tests.assignments.grading import notebook, put, rows
from tests.check.lstm_answers import GATES, ONE_BIAS

WRONG = GATES.replace("torch.sigmoid(a[:, :H])", "torch.tanh(a[:, :H])")


def batch(folder, **more):
    return Batch(folder / "sent", folder / "grades", ("lstm",), say=lambda text: None, **more)


def entry(made, student):
    return store.stored_in(made.done(student))[made.key]


def tampered(made, student, question, **changes):
    """As if an older checker had said so."""
    path = made.done(student)
    told = json.loads(path.read_text(encoding="utf-8"))
    for one in told["batches"][made.key]["graded"]["verdicts"]:
        if one["question"] == question:
            one.update(changes)
    path.write_text(json.dumps(told), encoding="utf-8")


@pytest.fixture
def told(in_process, no_gradebook, monkeypatch):
    """Answers are judged by a look at their text, in this process: what is proved here is what becomes of verdicts."""

    def judge(worker, question, answer, seed, language, said, limits, numbers=None, student=""):
        verdict = answer_judge.blank(question)
        if answer is None or not answer.written:
            return answer_judge.failed(verdict, "no_answer", said)
        if numbers is not None:
            numbers["probes"] = []
        verdict.mistakes = ["tanh_on_i"] * ("torch.tanh(a[:, :H])" in dict(answer.cells)[answer.cell])
        verdict.points = 0.0 if verdict.mistakes else float(all_questions()[question].points)
        return verdict

    monkeypatch.setattr(answer_judge, "grade", judge)


@pytest.fixture
def graded(tmp_path, told):
    """Two students' grades, of which some are not what the grader would say today."""
    for student, source in (("ada", GATES), ("bo", WRONG)):
        put(tmp_path / "sent", student, "lstm.ipynb", notebook({"gates": source, "one_bias": ONE_BIAS}))
    made = batch(tmp_path)
    made.grade(workers=1)
    tampered(made, "ada", "gates", points=0.0, mistakes=["wrong_values"])
    tampered(made, "ada", "one_bias", points=0.25, mistakes=["bias_lost"])
    return tmp_path


def changes(folder):
    with open(folder / "grades" / "changes.csv", encoding="utf-8-sig", newline="") as file:
        told = [tuple(row) for row in csv.reader(file)][1:]
    page = BeautifulSoup((folder / "grades" / "changes.html").read_text(encoding="utf-8"), "html.parser")
    counts = {row.td.text: [int(one.text) for one in row.select("td")[1:]] for row in page.table.select("tbody tr")}
    return told, counts, page


ADA = ("ada", "gates", "0", "2", "wrong_values", "")


def test_one_question_is_graded_anew_and_all_else_stays(graded, monkeypatch):
    assert not (graded / "grades" / "changes.html").exists()
    seeds = entry(batch(graded), "ada")["graded"]["seeds"]
    monkeypatch.setattr(store, "sources", lambda: "another checker")
    made = batch(graded, questions=["gates"])
    assert made.todo == ["ada", "bo"]
    made.grade(workers=1)
    told, counts, page = changes(graded)
    assert told == [ADA] and counts == {"gates": [0, 1, 0, 1]} and "gates" in page.p.text
    assert "one_bias" not in page.text and page.select_one("tbody a[href='review/ada.html#gates']")
    assert rows(graded / "grades")["ada", "one_bias"] == (0.25, "bias_lost")
    assert entry(made, "ada")["graded"]["seeds"] == seeds
    assert 'href="changes.html"' in (graded / "grades" / "summary.html").read_text(encoding="utf-8")
    # the same again, and what is graded every day, have nothing to do, and take nothing from the page
    for more in ({"questions": ["gates"]}, {}):
        again = batch(graded, **more)
        assert again.todo == []
        again.grade(workers=1)
        assert changes(graded)[0] == [ADA]
    fresh = batch(graded, questions=["gates"], fresh=True)
    fresh.grade(workers=1)
    assert entry(fresh, "ada")["graded"]["seeds"]["gates"] != seeds["gates"]
    assert entry(fresh, "ada")["graded"]["seeds"]["one_bias"] == seeds["one_bias"]
    assert batch(graded, questions=["gates"], fresh=True).todo == ["ada", "bo"]  # it was finished: others are drawn


@pytest.mark.parametrize("more", [{"questions": ["gates"]}, {"questions": ["gates"], "fresh": True}, {}])
def test_an_interruption_takes_nothing_away(graded, monkeypatch, more):
    """Who changed before it is told after it, too; and who was graded before it is not graded again."""
    monkeypatch.setattr(store, "sources", lambda: "another checker")
    keep, made = Batch.keep, batch(graded, **more)

    def interrupted(batch, student, *rest):
        keep(batch, student, *rest)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Batch, "keep", interrupted)
        with pytest.raises(KeyboardInterrupt):
            made.grade(workers=1)
    assert changes(graded)[0][0] == ADA
    made = batch(graded, **more)
    assert made.todo == ["bo"]
    made.grade(workers=1)
    told, counts, _ = changes(graded)
    assert told[0] == ADA and counts["gates"] == [0, 1, 0, 1]
    path = made.done("ada")  # where the grader did not come to an end, it tries again, and still knows what was before
    path.write_text(path.read_text(encoding="utf-8").replace('"complete": true', '"complete": false'), encoding="utf-8")
    if not more.get("fresh"):
        made = batch(graded, **more)
        assert made.todo == ["ada"]
        made.grade(workers=1)
        assert changes(graded)[0][0] == ADA


def test_what_stays_is_not_paid_or_told_anew():
    answer = answers.Answer(
        [[1, GATES], [2, "class LSTMCell:\n    def forward(self, *all):\n        return gates(*all)"]],
        ["LSTMCell"],
        True,
    )
    for stays, remarks in ((), 1), (["lstm_cell"], 0):
        verdicts = [
            {"question": name, "points": 0.0, "mistakes": [wrong], "remarks": [], "assignment": "lstm"}
            for name, wrong in (("gates", "tanh_on_i"), ("lstm_cell", "raises_error"))
        ]
        carried_errors.follow_through(verdicts, {"lstm_cell": answer}, pages.words("en"), None, {}, stays=stays)
        assert len(verdicts[1]["remarks"]) == remarks


def test_a_changed_grader_says_who_changed(graded, monkeypatch):
    """All are graded anew then; who handed in something else meanwhile is compared with nothing."""
    put(graded / "sent", "bo", "lstm.ipynb", notebook({"gates": GATES, "one_bias": ONE_BIAS}))
    monkeypatch.setattr(store, "sources", lambda: "another checker")
    made = batch(graded)
    assert made.todo == ["ada", "bo"]
    made.grade(workers=1)
    told, counts, page = changes(graded)
    assert told == [ADA, ("ada", "one_bias", "0.25", "2", "bias_lost", "")]
    assert (
        counts["lstm_cell"] == [0, 0, 0, 1]
        and "Everything was graded anew" in page.text
        and "older version" not in page.text
    )


@pytest.mark.parametrize("questions", [["gates"], []])
def test_what_was_handed_in_anew_is_graded_whole(graded, questions):
    put(graded / "sent", "ada", "lstm.ipynb", notebook({"gates": WRONG, "one_bias": ONE_BIAS}))
    made = batch(graded, questions=questions)
    assert made.todo == (["ada", "bo"] if questions else ["ada"])
    made.grade(workers=1)
    points = rows(graded / "grades")
    assert points["ada", "gates"][0] == 0 and points["ada", "one_bias"] == (2, "")
    assert not questions or changes(graded)[0] == []


def test_points_by_hand_and_appeals_stay(graded, monkeypatch):
    made = batch(graded, again=["bo"])
    made.grade(workers=1)
    shown = (graded / "grades" / "appeals" / "bo.json").read_text(encoding="utf-8")
    monkeypatch.setattr(pages, "gradebook", lambda *_: {("ada", "gates"): 1.5})
    batch(graded, questions=["gates"]).grade(workers=1)
    assert rows(graded / "grades")["ada", "gates"][0] == 1.5
    told, _, page = changes(graded)
    assert told == [ADA] and "given by hand: 1.5" in page.text
    now = json.loads((graded / "grades" / "appeals" / "bo.json").read_text(encoding="utf-8"))
    assert set(now) == set(json.loads(shown)) - {"gates"}  # these explain another grading's points


def test_names_and_formulas_are_text():
    graded = {"verdicts": [{"question": "gates", "points": 1.0, "mistakes": ["<b>"]}]}
    entries = [("=<b>a</b>", {"before": {"gates": [2.0, []]}, "graded": graded, "known": False})]
    assert "'=<b>a</b>,gates,2,1,,<b>" in point_changes.table(entries)
    run = {"questions": [], "fresh": False}
    page = BeautifulSoup(point_changes.page(entries, run, {"=<b>a</b>": "a.html"}, {}, "ja"), "html.parser")
    assert not page.select("b") and "=<b>a</b>" in page.text and page.html["lang"] == "ja"
