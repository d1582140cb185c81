"""Comments by hand in comments.csv: what is refused, whom a row is about, and the whole command from row to page."""

import csv
import io
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from assignments import cli, forget
from assignments.lms import comments
from assignments.lms.course import Course
from assignments.read import folders
from assignments.read.names import page_name
from assignments.report import comments as stored_comments
from assignments.submission import Grader
from tests.assignments.grading import notebook, put, result, rows
from tests.assignments.lms.test_roster import CANVAS, WORKSHEET
from tests.check.lstm_answers import GATES

HEADS = "student,question,comment\n"
ENTRIES = ["ada", "lovelaceada_101_5_lstm", "lovelaceada_101_6_rnn", "kim", "kim (2)", "nobody"]
SENT = {"ada": ["lstm"], "lovelaceada_101_5_lstm": ["lstm"], "lovelaceada_101_6_rnn": ["rnn"], "nobody": []}


@pytest.fixture
def read(tmp_path):
    """Return a function that reads comments about a class, with or without its class list."""
    for entry in ENTRIES:
        put(tmp_path / "sent", entry, "lstm.ipynb", "{}")
    (tmp_path / "class.csv").write_bytes(CANVAS.encode())

    def run(text, class_list=False, stored=(), entries=ENTRIES):
        (tmp_path / "comments.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
        paths = {name: path for name, path in folders.students(tmp_path / "sent").items() if name in entries}
        course = Course(paths, class_list=tmp_path / "class.csv" if class_list else None)
        return comments.read(
            tmp_path / "comments.csv", course, stored, lambda entries: {entry: SENT.get(entry, []) for entry in entries}
        )

    return run


REFUSED = {
    HEADS + "ada,gates,a\nadda,gates,b\n": "line 3: there is no student adda among the submissions.* ada",
    HEADS + "kim,gates,a\n": None,
    HEADS + "ada,gatez,a\n": "line 2: there is no question gatez. Is it one of these. gates",
    HEADS + "ada,rnn_step,a\n": "line 2: rnn_step is a question of rnn, and ada has sent lstm",
    HEADS + "ada,gates,a\nada,lstm_cell,b\n\nada,gates,c\n": "line 5: line 2 has a comment on gates of ada already",
    HEADS + "ada,gates,\nada,gates,\n": "line 3: line 2 has a comment on gates of ada already",
    HEADS + "ada,,a\nada,,b\n": "line 3: line 2 has a comment on the whole submission of ada already",
    "student,question\nada,gates\n": "line 1: the column comment is missing. .* begins like this",
    "student,comment\nada,a\n": "line 1: the column question is missing",
    "question,comment\ngates,a\n": "line 1: the column student is missing",
    "student,question,comment,mark\nada,gates,a,1\n": "line 1: there is no column “mark”",
    "student,question,comment,Comment\nada,gates,a,b\n": "line 1: there are two columns comment",
    HEADS.encode() + b"ada,gates,ok\nada,lstm,\xe9\n": "line 3, is not in UTF-8",
    HEADS.encode("utf-16"): "line 1, is not in UTF-8",
    HEADS + "ada,gates,Gut gel\ufffdst\n": "line 2: letters of “Gut gel.st” are lost",
    HEADS + "ada,gates,Good, but look at g\n": "line 2: there are 4 cells, and the first line has 3",
    HEADS + 'ada,gates,"Good\nada,lstm,x\n': "line 2: the quotes around .* are not closed",
    HEADS + ",gates,a\n": "line 2: there is no student",
    "student,question,comment,points\nada,gates,a,2.5\n": "line 2: '2.5' is no number of points from 0 to 2",
    "student,question,comment,points\nada,gates,a,-1\n": "line 2: '-1' is no number",
    "student,question,comment,points\nada,gates,a,nan\n": "line 2: 'nan' is no number",
    "student,question,comment,points\nada,,a,1\n": "line 2: points are for a question",
    "student,question,comment,assignment\nada,gates,a,rnn\n": "line 2: gates is a question of lstm, and not of rnn",
    "student,question,comment,assignment\nada,,a,rnn\n": "line 2: this is about rnn, and ada has sent lstm",
    "student,question,comment,assignment\nada,,a,lsmt\n": "line 2: there is no assignment lsmt.* lstm",
    HEADS + "101,,a\n": "line 2: 101 has sent lstm and rnn. A column “assignment” says which",
}  # fmt: skip


@pytest.mark.parametrize("text", [text for text in REFUSED if REFUSED[text]], ids=range(len(REFUSED) - 1))
def test_what_is_not_understood_is_refused_with_its_line(read, text):
    with pytest.raises(ValueError, match=r"comments\.csv, " + REFUSED[text]):
        read(text)


def test_students_of_the_class_list_are_found_by_every_name(read):
    for name in ("Ada Lovelace", "ada.l", "S1", "101", "lovelaceada_101_5_lstm", "lovelaceada_101_9_lstm", "ADA.L"):
        (comment,) = read(HEADS + f"{name},gates,a\n", class_list=True)
        # an entry that is nobody's in the class list stays out
        assert comment.entries == ["lovelaceada_101_5_lstm", "lovelaceada_101_6_rnn"], name
    for name, error in (("Hopper, Grace", "has sent nothing"), ("Jose Nunez", "this may be .*103.*104"),
                        ("Hoper, Grace", r"no student Hoper, Grace in .*class\.csv.*Hopper, Grace")):  # fmt: skip
        with pytest.raises(ValueError, match=f"line 2: .*{error}"):
            read(HEADS + f'"{name}",gates,a\n', class_list=True)
    # one student by two names
    with pytest.raises(ValueError, match="line 3: line 2 has a comment on gates of 101 already"):
        read(HEADS + "S1,gates,a\n101,gates,b\n", class_list=True)


def test_names_of_earlier_submissions_lead_to_those_of_now(read):
    """Check Canvas, where each submission has a name of its own, and a student of another batch."""
    new = {"entries": ["lovelaceada_101_6_rnn"], "stored": ["lovelaceada_101_5_lstm", "grace"]}
    for name in ("lovelaceada_101_5_lstm", "lovelaceada_101_4_x", "101", "lovelaceada"):
        (comment,) = read(HEADS + f"{name},gates,a\n", **new)
        assert comment.entries == ["lovelaceada_101_6_rnn", "lovelaceada_101_5_lstm"]
    assert read(HEADS + "grace,gates,a\n", **new)[0].entries == ["grace"]


def test_rows_are_read_as_they_are_meant(read):
    text = (
        'Question;Student;Points;COMMENT\r\ngates;ada;1,5;"One; “two”\r\n  and ""three"""\r\n'
        ";ada;;All in all\r\n;;;\r\nlstm;ada;;\r\nlstm_cell;ada;0;\r\n"
    )
    found = [(comment.question, comment.points, comment.text, comment.line) for comment in read(text)]
    assert found == [("gates", 1.5, 'One; “two”\n  and "three"', 2), ("", None, "All in all", 4),
                     ("lstm_cell", 0, "", 7)]  # fmt: skip
    assert [comment.assignment for comment in read(text)] == ["lstm"] * 3
    # of a submission without any answer nobody knows the assignment
    assert [comment.assignment for comment in read(HEADS + "nobody,gates,a\nnobody,,b\n")] == ["lstm", ""]


# From the row to the page


@pytest.fixture
def grade(tmp_path, monkeypatch, in_process, no_gradebook, capsys):
    """Return a function that writes comments.csv and runs the command, and returns what it printed.

    Each answer is what is in the student's file.
    """

    def judged(student, path, *_):
        graded = result(student)
        source = stored_comments.hash_source((path / "lstm.ipynb").read_text(encoding="utf-8"))
        graded["verdicts"] = [graded["verdicts"][0] | {"source": source}]
        return iter([("", graded)])

    monkeypatch.setattr(Grader, "grade", judged)
    for student in ("ada", "bo"):
        put(tmp_path / "sent", student, "lstm.ipynb", notebook({"gates": GATES}))
    monkeypatch.chdir(tmp_path)

    def run(text=None, *options):
        if text is not None:
            (tmp_path / "comments.csv").write_text(text, encoding="utf-8")
            options = ("--comments", "comments.csv", *options)
        monkeypatch.setattr(sys, "argv", ["grade", "sent", "--assignment", "lstm", "--workers", "1", *options])
        cli.main()
        return capsys.readouterr().out

    return run


def shown(student="ada", folder="feedback"):
    """Return the comments on a student's page: (label, text)."""
    with open(f"grades/{folder}/{page_name(student)}.html", encoding="utf-8") as file:
        page = BeautifulSoup(file.read(), "html.parser")
    return [(part.strong.text, part.select_one(".said").text) for part in page.select(".comment")]


LABEL, EARLIER = "Comment by your instructor", "Comment by your instructor, written for an earlier answer"
TEXT = 'student,question,comment\nada,gates,"Look <b>here</b>:\n    i, f & g"\n'


@pytest.mark.parametrize("again", [(), ("--again", "ada"), ("--question", "gates"), ("--question", "gates", "--fresh")])
def test_a_comment_survives_until_it_is_removed(grade, again):
    """Check runs with the file, without it, and with another one."""
    grade()
    assert shown() == []
    assert "comments.csv: 1 comment\n" in grade(TEXT)
    wanted = [(LABEL, "Look <b>here</b>:\n    i, f & g")]
    for options in ((TEXT, *again), (None, *again), (None,)):
        grade(*options)
        assert shown() == shown(folder="review") == wanted and shown("bo") == []
    grade(TEXT.replace("ada", "bo"))
    assert shown() == [] and shown("bo") == wanted
    grade(HEADS)
    assert shown("bo") == shown(folder="review") == []


def test_a_comment_on_an_earlier_answer_says_so(grade, tmp_path):
    """Check a comment that comes with the new answer, too: it was written before the answer was graded."""
    grade()
    put(tmp_path / "sent", "ada", "lstm.ipynb", notebook({"gates": GATES + "# other"}))
    for _ in range(2):
        grade(TEXT)
        assert [label for label, _ in shown()] == [EARLIER] == [label for label, _ in shown(folder="review")]
        with open("grades/summary.html", encoding="utf-8") as file:
            assert "were written for an earlier answer" in file.read()
    grade(TEXT.replace("here", "there"))  # another comment is about what is there now
    assert [label for label, _ in shown()] == [LABEL]
    put(tmp_path / "sent", "ada", "lstm.ipynb", notebook({"gates": GATES + "# third"}))
    grade()
    assert [label for label, _ in shown()] == [EARLIER]
    put(tmp_path / "sent", "ada", "lstm.ipynb", notebook({"gates": GATES + "# other"}))
    grade()
    assert [label for label, _ in shown()] == [LABEL]
    put(tmp_path / "sent", "bo", "lstm.ipynb", notebook({"gates": GATES}, text="Another text"))
    grade(HEADS + "bo,,All in all\n")
    assert shown("bo")[0][1] == "All in all"


def test_a_comment_follows_a_student_of_canvas_to_the_next_submission(grade, tmp_path):
    """Check a run without the file, after which the student has another submission, and forgetting the student."""
    second = "lovelaceada_101_600_lstm"
    folder = tmp_path / "sent" / "lovelaceada_101_500_lstm"
    (tmp_path / "sent" / "ada").rename(folder)
    printed = grade(HEADS + f"{folder.name},gates,See me\nlovelaceada,,All in all\nbo,gates,x\n")
    assert "comments.csv: 3 comments are shown." in printed
    put(folder, "", "lstm.ipynb", notebook({"gates": GATES + "# other"}))
    folder.rename(tmp_path / "sent" / second)
    for options in ((), ("--comments", "comments.csv")):
        assert "comments.csv: 3 comments are shown." in grade(None, *options)
        assert [label for label, _ in shown(second)] == [EARLIER, EARLIER]
        assert [text for _, text in shown(second)] == ["All in all", "See me"]
    forget.forget(tmp_path / "grades", second, print)
    text = (tmp_path / "grades" / "comments.json").read_text("utf-8")
    assert "lovelaceada" not in text and [text for _, text in shown("bo")] == ["x"]


def test_points_in_the_file_count_and_go_with_it(grade):
    grade("student,question,comment,points\nada,gates,Half,1\nbo,gates,,0.5\n")
    assert rows_of() == {"ada": 1, "bo": 0.5} and [text for _, text in shown()] == ["Half"] and shown("bo") == []
    with open("grades/feedback/bo.html", encoding="utf-8") as file:
        assert "0.5 / 2 (given by your instructor)" in file.read()
    grade()
    assert rows_of() == {"ada": 1, "bo": 0.5}
    grade("student,question,comment,points\nada,gates,Half,\n")
    assert rows_of() == {"ada": 2, "bo": 2}


def rows_of():
    return {student: points for (student, _), (points, _) in rows(Path("grades")).items()}


def test_a_row_that_is_refused_stops_all_grading(grade, tmp_path, capsys):
    """Check the question of another assignment, which only the submission tells, too."""
    for row, reason in (("ada,rnn_step,a", "rnn_step is a question of rnn, and ada has sent lstm"),
                        ("eve,gates,a", "there is no student eve among the submissions")):  # fmt: skip
        with pytest.raises(SystemExit) as end:
            grade(HEADS + row)
        assert end.value.code == 2 and f"comments.csv, line 2: {reason}" in " ".join(capsys.readouterr().err.split())
        assert not (tmp_path / "grades").exists()
    assert "Nothing was written" in grade(TEXT, "--dry-run") and not (tmp_path / "grades").exists()


def test_the_review_page_gives_the_row_to_add(grade):
    """Add each row that the page gives, completed: it comments on what stands beside it."""
    grade()
    with open("grades/review/ada.html", encoding="utf-8") as file:
        page = BeautifulSoup(file.read(), "html.parser")
    lines = [code.text for code in page.select("details code.said")]
    assert len(lines) == 2 and all(line.endswith('""') for line in lines)
    assert page.select_one("#gates details code.said").text == lines[1]
    grade(HEADS + "\n".join(lines))
    assert shown() == []
    grade(HEADS + "\n".join(line[:-1] + f'Say {number}"' for number, line in enumerate(lines)))
    assert shown() == [(LABEL, "Say 0"), (LABEL, "Say 1")]
    with open("grades/feedback/ada.html", encoding="utf-8") as file:
        assert "comments.csv" not in file.read()


@pytest.mark.parametrize("name", ['O"Brien, Ada', "two\nlines", "=1+1", "<b>", "김하늘"])
def test_the_row_to_add_is_read_back(name):
    (row,) = csv.reader(io.StringIO(stored_comments.line_to_add(name, "gates"), newline=""))
    assert row == [name, "gates", ""]


def test_comments_reach_moodles_worksheet(grade, tmp_path):
    """Check that letters of HTML are text there, that lines stay, and that the next run begins anew."""
    (tmp_path / "sent" / "ada").rename(tmp_path / "sent" / "Ada Lovelace")
    text = HEADS + 'Ada Lovelace,gates,"a < b\n= 1"\nAda Lovelace,,"All, in ""all"""\n'
    class_list = WORKSHEET.encode()
    for _ in range(2):
        (tmp_path / "class.csv").write_bytes(class_list)
        grade(text, "--roster", "class.csv")
        class_list = (tmp_path / "grades" / "moodle.csv").read_bytes()
        cell = list(csv.reader(io.StringIO(class_list.decode("utf-8-sig"), newline="")))[1][10]
        wanted = '<p>All, in "all"</p><p><code>gates</code>: a &lt; b<br>= 1</p>'
        assert cell == "lstm: 2 of 2 points" + wanted
