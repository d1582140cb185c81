"""The gradebook accepts every name, and keeps points given by hand."""

import pytest

from assignments.report import grade_tables, pages, summary
from tests.assignments.grading import half, result


@pytest.mark.heavy
def test_gradebook_accepts_unusual_names(tmp_path):
    nbgrader = pytest.importorskip("nbgrader.api")
    names = "山田 太郎", 'O\'Brien "x"', "two\nlines", "=cmd|' /C calc'!A0", "a" * 200, "Ada", "ada", "\u202egnp.exe"
    assert grade_tables.write_gradebook(tmp_path / "gradebook.db", [result(name) for name in names]) == {}
    with nbgrader.Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        assert {student.id for student in book.students} == {*names}


@pytest.mark.heavy
def test_points_given_by_hand_stay(tmp_path):
    nbgrader = pytest.importorskip("nbgrader.api")
    book = tmp_path / "gradebook.db"
    grade_tables.write_gradebook(book, [half("ada"), half("bo")])
    with nbgrader.Gradebook(f"sqlite:///{book}") as opened:
        opened.find_grade("gates-points", "lstm", "lstm", "ada").manual_score = 1.75
        opened.db.commit()
    for points, another_look in ((1.5, False), (0, True)):
        by_hand = grade_tables.write_gradebook(book, [half("ada", points=points), half("bo")])
        assert by_hand == {("ada", "gates"): 1.75}
        with nbgrader.Gradebook(f"sqlite:///{book}") as opened:
            grade = opened.find_grade("gates-points", "lstm", "lstm", "ada")
            assert (grade.manual_score, grade.auto_score, grade.score) == (1.75, points, 1.75)
            assert bool(grade.needs_manual_grade) is another_look
    all_graded = grade_tables.with_points_by_hand([half("ada"), half("bo")], by_hand)
    assert grade_tables.grades_csv(all_graded).splitlines()[1:] == [
        "ada,gates,1.75,gates_f_i_g_o", "bo,gates,1.5,gates_f_i_g_o",
    ]  # fmt: skip
    assert "1.75 / 2 (given by your instructor)" in pages.student_page(all_graded[0])
    assert "given by" not in pages.student_page(all_graded[1])
    made = summary.summary(all_graded, "", {"ada": "ada.html", "bo": "bo.html"})
    assert "<td>1.75 / 2</td><td>0</td><td><code>gates</code></td>" in made


@pytest.mark.heavy
def test_question_added_later_is_in_the_gradebook(tmp_path):
    nbgrader = pytest.importorskip("nbgrader.api")
    grade_tables.write_gradebook(tmp_path / "gradebook.db", [half("ada")])
    more = half("ada")
    more["verdicts"] += [more["verdicts"][0] | {"question": "lstm_cell", "points": 1}]
    grade_tables.write_gradebook(tmp_path / "gradebook.db", [more])
    with nbgrader.Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        assert book.find_submission("lstm", "ada").score == 2.5
