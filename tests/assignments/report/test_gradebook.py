"""The gradebook accepts every name, and keeps points and comments given by hand."""

import pytest
from bs4 import BeautifulSoup

from assignments.report import comments, grade_tables, pages, summary
from assignments.report.all_reports import write_reports
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
def test_comments_in_the_gradebook_are_shown_and_stay(tmp_path):
    """Check one on an answer that changes, one that is taken back, and comments.csv beside the gradebook."""
    nbgrader = pytest.importorskip("nbgrader.api")
    for folder in ("feedback", "review"):
        (tmp_path / folder).mkdir()

    def write(source="a", language="en"):
        graded = [half(student, language=language) for student in ("ada", "bo")]
        for entry in graded:
            entry["verdicts"][0]["source"] = source
        lines = []
        write_reports(tmp_path, graded, lines.append)
        pages_read = [(tmp_path / folder / "ada.html").read_text("utf-8") for folder in ("feedback", "review")]
        parts = [BeautifulSoup(text, "html.parser").select_one("h2 ~ .comment") for text in pages_read]
        assert str(parts[0]) == str(parts[1]) and "by hand" not in (tmp_path / "feedback/bo.html").read_text("utf-8")
        return lines, parts[0] and (parts[0].strong.text, parts[0].select_one(".said").text)

    assert write() == ([], None)
    with nbgrader.Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        book.find_comment("gates", "lstm", "lstm", "ada").manual_comment = "Said by hand\n<b>"
        book.db.commit()
    label = pages.words("ja")["page"]
    assert write(language="ja")[1] == (label["comment"], "Said by hand\n<b>") == write(language="ja")[1]
    assert write("b", "ja")[1] == (label["comment_earlier"], "Said by hand\n<b>") == write("b", "ja")[1]
    row = comments.Comment(["ada"], "Ada", "lstm", "gates", "By the file", 1.0, line=2)
    comments.store(tmp_path, "comments.csv", [row])
    lines, shown = write("b")
    assert shown == ("Comment by your instructor", "By the file")
    assert "ada, gates: the comment in comments.csv is shown, and not the one in the gradebook." in lines
    comments.store(tmp_path, "comments.csv", [])
    with nbgrader.Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        book.find_comment("gates", "lstm", "lstm", "ada").manual_comment = ""
        book.find_grade("gates-points", "lstm", "lstm", "ada").manual_score = 2
        book.db.commit()
    assert write("b")[1] is None
    comments.store(tmp_path, "comments.csv", [comments.Comment(["ada"], "Ada", "lstm", "gates", "", 1.0, line=2)])
    lines, _ = write("b")
    assert "ada, gates: the 1 points in comments.csv count, and not the 2 in the gradebook." in lines
    assert "ada,gates,1," in (tmp_path / "grades.csv").read_text("utf-8")
    with nbgrader.Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        assert {comment.name for comment in book.db.query(nbgrader.Comment)} == {"gates"}


@pytest.mark.heavy
def test_question_added_later_is_in_the_gradebook(tmp_path):
    nbgrader = pytest.importorskip("nbgrader.api")
    grade_tables.write_gradebook(tmp_path / "gradebook.db", [half("ada")])
    more = half("ada")
    more["verdicts"] += [more["verdicts"][0] | {"question": "lstm_cell", "points": 1}]
    grade_tables.write_gradebook(tmp_path / "gradebook.db", [more])
    with nbgrader.Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        assert book.find_submission("lstm", "ada").score == 2.5
        assert book.find_comment("lstm_cell", "lstm", "lstm", "ada").manual_comment is None
