"""Class lists of Canvas and Moodle: matching submissions to students, and writing grades.

The files have the documented forms.
"""

import csv
import io
import os
import unicodedata
import zipfile
from pathlib import PurePosixPath

import pytest
from bs4 import BeautifulSoup

from assignments.lms import course as lms_course
from assignments.lms import csv_file, roster, upload
from assignments.read import folders
from assignments.read.names import page_name
from assignments.report import pages
from assignments.report.all_reports import write_reports
from companion.check.engine import messages
from tests.assignments.grading import result

pytestmark = pytest.mark.usefixtures("no_gradebook")
CANVAS = """\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Homework 3: LSTM (777),LSTM parameters (778),Quiz (779),Final Score\r
,,,,,Manual Posting,,,\r
    Points Possible,,,,,10.00,4.00,5.00,(read only)\r
"Lovelace, Ada",101,S1,ada.l,"Mo, A",,1.00,2.00,12\r
"Hopper, Grace",102,S2,grace@uni.example,A,EX,,,\r
"Nuñez, José",103,S3,jose,A,7.00,,,\r
"Nunez, Jose",104,S4,jose2,A,,,,\r
"山田, 太郎",105,S5,yamada,A,,,,\r
"김, 하늘",106,S6,kim,A,,,,\r
"=cmd|' /C calc'!A0",107,S7,-cmd,A,,,,\r
"O'Brien-Łuk, Seán",108,S8,obrien,A,,,,\r
"かとう, あい",109,S9,kato,A,,,,\r
"がとう, あい",110,S10,gato,A,,,,\r
"Student, Test",999,,0af3,A,,,,\r
"""  # noqa: E501
WORKSHEET = """Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed","Last modified (submission)","Online text","Last modified (grade)","Feedback comments"
"Participant 51","Ada Lovelace",ada@uni.example,"Submitted for grading",,"100.00",Yes,"Monday, 5 October 2026, 11:55 PM","<p>a ""b""
c</p>",-,
"Participant 52","Grace Hopper",grace@uni.example,"Submitted for grading","12.00","100.00",Yes,"Wednesday, 7 October 2026, 3:00 AM",,-,"Well done."
"Participant 53","=Kim, Ha_neul/..",kim@uni.example,"No submission",,"100.00",Yes,-,,-,
"Participant 54",山田　太郎,ada@other.example,"No submission",,"100.00",No,-,,-,
"""  # noqa: E501
GRADER = """First name,Last name,ID number,Institution,Department,Email address,Assignment: LSTM (Real),Course total (Real)
Ada,Lovelace,S1,,,ada@uni.example,-,-
Grace,Hopper,S2,,,grace@uni.example,-,-
"""  # noqa: E501


@pytest.fixture
def listed(tmp_path):
    def read_roster(text):
        (tmp_path / "class.csv").write_bytes(text.encode())
        return roster.read(tmp_path / "class.csv")

    return read_roster


def made_up(student, points=1.5, stretch=0, remarks=(), **more):
    graded = result(student, points, **more)
    if stretch:
        graded["verdicts"].append(
            graded["verdicts"][0] | {"question": "one_bias", "points": stretch, "most": stretch, "stretch": True}
        )
    return graded | {"remarks": [*remarks]}


def graded(folder, text, entries, lines_printed=None, **more):
    """Grade made-up submissions, and return the output folder and the course.

    entries: {file name: arguments of `made_up`, or None}.
    """
    (folder / "sent").mkdir()
    for entry in entries:
        (folder / "sent" / entry).write_text("{}")
    (folder / "class.csv").write_bytes(text.encode())
    paths = folders.students(folder / "sent")
    course = lms_course.Course(paths, class_list=folder / "class.csv", **more)
    for subfolder in ("feedback", "review"):
        (folder / "grades" / subfolder).mkdir(parents=True)
    results = [made_up(name, **(entries[path.name] or {})) for name, path in paths.items()]
    course.record_times(folder / "grades", {result["student"]: result for result in results})
    lines = [] if lines_printed is None else lines_printed
    write_reports(folder / "grades", results, lines.append, course)
    return folder / "grades", course


def table(path):
    return list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))


# Matching

WHOSE = {
    "lovelaceada_101_5_lstm": "Lovelace, Ada", "lovelaceada_LATE_101_5_102_6_x": "Lovelace, Ada",
    "x_101_text": "Lovelace, Ada",
    "ada.l": "Lovelace, Ada", "ADA.L": "Lovelace, Ada", "s1": "Lovelace, Ada", "101": "Lovelace, Ada",
    "grace": "Hopper, Grace",
    "grace@uni.example": "Hopper, Grace", "Ada Lovelace": "Lovelace, Ada", "lovelace_ada": "Lovelace, Ada",
    "lovelaceada": "Lovelace, Ada", "ADALOVELACE": "Lovelace, Ada", "Ada Lovelace - lstm (2)": "Lovelace, Ada",
    "Ada\u202e Love\u200blace": "Lovelace, Ada", "Ａｄａ　Ｌｏｖｅｌａｃｅ": "Lovelace, Ada",
    "José Nuñez": "Nuñez, José", unicodedata.normalize("NFD", "nuñez josé"): "Nuñez, José", "Jose Nunez": None,
    "山田太郎": "山田, 太郎", "太郎 山田": "山田, 太郎", unicodedata.normalize("NFD", "김하늘"): "김, 하늘",
    "sean obrien luk": "O'Brien-Łuk, Seán", "あいかとう": "かとう, あい", unicodedata.normalize("NFD",
    "がとう あい"): "がとう, あい",
    "Ada": None, "Lovelace": None, "lovelaceada_5_101_lstm": None, "lovelaceada_1_5_lstm": None, "": None, "...": None,
    "Student": None,
    "Ada Lovelace_51_assignsubmission_file_": "Lovelace, Ada",
}  # fmt: skip


@pytest.mark.parametrize("entry", WHOSE)
def test_submission_belongs_to_a_student_if_certain(listed, entry):
    roster_read = listed(CANVAS)
    names = [roster_read.students[index].name for index in roster.find_students(roster_read, entry)]
    assert names == ([WHOSE[entry]] if WHOSE[entry] else names) and (len(names) != 1 or WHOSE[entry])


def test_moodles_number_decides_and_shared_logins_do_not(listed):
    class_list = listed(WORKSHEET)
    names_of = lambda entry: [class_list.students[index].name for index in roster.find_students(class_list, entry)]  # noqa: E731
    assert (
        names_of("Grace Hopper_51_assignsubmission_file_")
        == names_of("Participant 51_51_assignsubmission_file")
        == ["Ada Lovelace"]
    )
    assert names_of("X_51_assignsubmission_file_52_assignsubmission_file_lstm") == ["Ada Lovelace"]
    assert names_of("Ada Lovelace_99_assignsubmission_file_") == []
    assert names_of("ada") == ["Ada Lovelace", "山田 太郎"] and names_of("ada@other.example") == names_of(
        "山田太郎"
    ) == ["山田 太郎"]
    class_list = listed('Identifier,Status,Grade\n"Participant 51",-,\n')  # without names
    assert names_of("Participant 51_51_assignsubmission_file_") == names_of("participant 51") == ["Participant 51"]
    class_list = listed(GRADER)  # without numbers of participants
    assert (
        names_of("Ada Lovelace_99_assignsubmission_file_")
        == names_of("Lovelace Ada")
        == names_of("S1")
        == ["Ada Lovelace"]
    )


def test_uncertain_submissions_are_listed_without_grade(tmp_path):
    lines = []
    entries = {"lovelaceada_101_5_lstm.ipynb": None, "lovelaceada_101_6_lstm.ipynb": None, "Jose Nunez.ipynb": None,
               "nobody.ipynb": None, "kim.ipynb": None, "김하늘.pdf": {"remarks": [["no_assignment", ""]]},
               "Hoper Grace.ipynb": None}  # fmt: skip
    output, course = graded(tmp_path, CANVAS, entries, lines, columns=["777"])
    grades = {row[0]: row[5] for row in table(output / "canvas.csv")[3:]}
    assert grades == {row[0]: row[5] for row in csv.reader(io.StringIO(CANVAS[1:])) if row[1].isdigit()} | {
        "김, 하늘": "7.5"
    }
    page = BeautifulSoup((output / "summary.html").read_text("utf-8"), "html.parser")
    rows = {
        tuple(cell.text for cell in row.select("td"))
        for row in page.select("#roster ~ div.table")[0].select("tbody tr")
    }
    texts = pages.words("en")["roster"]
    assert {("nobody", texts["nobody"], ""), ("Hoper Grace", texts["nobody"], "Hopper, Grace")} <= rows
    assert ("Jose Nunez", texts["ambiguous"], "Nuñez, José (103); Nunez, Jose (104)") in rows
    assert ("lovelaceada_101_5_lstm, lovelaceada_101_6_lstm", texts["twice"], "Lovelace, Ada; lstm") in rows
    assert ("김하늘", texts["beside"], "김, 하늘; lstm") in rows
    missing = {name for name, reason, _ in rows if reason == texts["missing"]}
    assert missing == {
        "Hopper, Grace",
        "山田, 太郎",
        "=cmd|' /C calc'!A0",
        "O'Brien-Łuk, Seán",
        "かとう, あい",
        "がとう, あい",
    }
    assert page.select('#roster ~ div.table a[href="review/nobody.html"]')
    assert "<p>Student: Lovelace, Ada</p>" in (
        output / "feedback" / f"{page_name('lovelaceada_101_5_lstm')}.html"
    ).read_text("utf-8")
    printed = "\n".join(lines)
    assert all(name in printed and reason in printed for name, reason, _ in rows) and course.failed is None


# Files for upload


def test_canvas_file_changes_only_in_its_grades(tmp_path):
    entries = {
        "lovelaceada_101_5_lstm.ipynb": {"stretch": 0.5},
        "grace.ipynb": None,
        "-cmd.ipynb": None,
        "yamada.ipynb": {"points": 0},
    }
    lines = []
    output, _ = graded(tmp_path, CANVAS, entries, lines, columns=["Homework 3: LSTM (777)"])
    wanted = (
        CANVAS.replace('A",,1.00', 'A",10,1.00').replace("-cmd,A,,", "-cmd,A,7.5,").replace("yamada,A,,", "yamada,A,0,")
    )
    assert (output / "canvas.csv").read_bytes() == wanted.encode()
    assert "lstm: 2 points here are 10 in the class list. Grades are scaled to that." in lines
    assert "Hopper, Grace: what stands in the class list stays there (EX)." in lines
    assert not list(output.glob("moodle*"))


def test_separators_line_ends_and_short_rows_stay(tmp_path):
    text = (
        "LastName;FirstName;ID;Section;LSTM (7);X (8)\n    Points"
        ' Possible;;;;3,00;1\nLovelace;Ada;101;"A;\n""B""";"";\nHopper;Grace;102;A\n'
    )
    output, _ = graded(tmp_path, text, {"101.ipynb": None, "Grace Hopper.ipynb": {"points": 1, "most": 3}})
    wanted = text.replace('""B""";"";', '""B""";"2,25";').replace("102;A", "102;A;1")
    assert (output / "canvas.csv").read_bytes() == wanted.encode()
    table = csv_file.read(tmp_path / "class.csv")
    table.filled |= {(3, 5): "y", (3, 4): "a;b"}
    assert table.to_bytes().decode().endswith('102;A;"a;b";y\n')


def test_moodle_worksheet_and_feedback_files(tmp_path):
    entries = {
        "Ada Lovelace_51_assignsubmission_file_lstm.ipynb": {"points": 2, "stretch": 1},
        "Grace Hopper.ipynb": {"language": "ja"},
        "kim.ipynb": None, "山田　太郎.ipynb": None,
    }  # fmt: skip
    lines = []
    output, _ = graded(tmp_path, WORKSHEET, entries, lines)
    wanted = WORKSHEET.replace("grading\",,\"100", "grading\",100,\"100").replace("12.00", "75").replace(
        'c</p>",-,', 'c</p>",-,"lstm: 2 of 2 points, and 1 for stretch questions"').replace(
        'kim@uni.example,"No submission",,', 'kim@uni.example,"No submission",75,')  # fmt: skip
    rows, text = wanted.splitlines(keepends=True), (output / "moodle.csv").read_text("utf-8").splitlines(keepends=True)
    assert rows[:4] + rows[5:] == text[:4] + text[5:] and text[4] == rows[4].rstrip() + "lstm: 1.5 of 2 points\n"
    assert "Ada Lovelace: 150 points are more than Moodle takes. 100 are written." in lines
    assert "Grace Hopper: the comment that stands in the class list stays there." in lines
    with zipfile.ZipFile(output / "moodle_feedback.zip") as archive:
        names = archive.namelist()
        page = archive.read("Grace Hopper_52_assignsubmission_file_/lstm-feedback.html").decode()
    assert (
        page == (output / "feedback" / f"{page_name('Grace Hopper')}.html").read_text("utf-8") and 'lang="ja"' in page
    )
    assert names == [
        "Ada Lovelace_51_assignsubmission_file_/lstm-feedback.html",
        "Grace Hopper_52_assignsubmission_file_/lstm-feedback.html",
        "=Kim, Ha neul_53_assignsubmission_file_/lstm-feedback.html",
        "山田 太郎_54_assignsubmission_file_/lstm-feedback.html",
    ]  # fmt: skip


HOSTILE = ["../../etc/passwd", "..", "/abs", "C:\\x", "a\0b", "~a", ".hidden", "a_9_assignsubmission_file_",
"\u202efdp.exe",
           "<script>alert(1)</script>", "a\nb", "x" * 300, "CON", ""]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_names_lead_to_no_other_folder_or_student(name):
    with zipfile.ZipFile(io.BytesIO(upload.feedback_zip({("7", name, "lstm"): "page"}))) as archive:
        (path,) = archive.namelist()
    parts = PurePosixPath(path).parts
    assert len(parts) == 2 and not {"..", "/", "."} & {*parts} and len(path) < 150 and path.isprintable()
    info = path.split("_")  # as Moodle reads it
    assert info[1:4] == ["7", "assignsubmission", "file"] and parts[1] == "lstm-feedback.html"
    assert info[0][:1] not in ("", "~", ".")


def test_names_are_escaped_on_the_summary(tmp_path):
    text = CANVAS.replace("山田, 太郎", "<img src=x onerror=alert(1)>\u202e").replace(
        "かとう, あい", "<img src=x onerror=alert(1)>"
    )
    entries = {"<b>x.ipynb" if os.name == "posix" else "b.ipynb": None, "img src x onerror alert 1.ipynb": None}
    output, _ = graded(tmp_path, text.replace("がとう, あい", "<i>"), entries, columns=["777"])
    page = BeautifulSoup((output / "summary.html").read_text("utf-8"), "html.parser")
    assert not page.select("img, main b, main i") and page.text.count("<img") == 2 and "<i>" in page.text
    assert "<img src=x onerror=alert(1)>" in page.text and "\u202e" not in page.text


def test_comments_are_no_formulas_and_old_cells_stay(listed):
    roster_read = listed(WORKSHEET.replace("Ada Lovelace", "=1+1"))
    upload.fill_grades(roster_read, 4, {0: (1, 2)}, {0: "1 point; =1+1"}, "lstm")
    row = next(csv.reader(io.StringIO(roster_read.table.to_bytes().decode().split("\n", 1)[1], newline="")))
    assert row[1] == "=1+1" and row[10] == "lstm: 1 point;' =1+1"


# Columns, and other files


def test_column_is_given_or_certain(listed):
    heads = "Student,ID,Section,{}\n    Points Possible,,,{}\nA,1,S,\n"
    column_of = lambda columns, assignment, wanted=None: upload.find_column(  # noqa: E731
        listed(heads.format(",".join(columns), ",".join("1" for _ in columns))), assignment, wanted
    )
    two = ["LSTM (7)", "LSTM parameters (8)"]
    assert column_of(two, "lstm") == 3 and column_of(two, "lstm_parameters") == 4 and column_of(two, "rnn", "8") == 4
    assert column_of(["Week 3 (7)"], "rnn") == 3 and column_of(["課題LSTM (7)", "課題RNN (8)"], "rnn") == 4
    assert column_of(two, "lstm", "lstm parameters") == 4
    for columns, assignment, wanted in ((two, "rnn", None), (["LSTM a (7)", "LSTM b (8)"], "lstm", None), (two, "lstm",
    "LSTM (9)"),
                                       (["LSTM (7)"], "rnn", None), (two[1:], "lstm", None)):  # fmt: skip
        with pytest.raises(ValueError) as error:
            column_of(columns, assignment, wanted)
        assert all(head in str(error.value) for head in columns)


def test_read_only_columns_are_no_choice(listed):
    assert [*upload.grade_columns(listed(CANVAS))] == ["Homework 3: LSTM (777)", "LSTM parameters (778)", "Quiz (779)"]
    closed = CANVAS.replace(",5.00,(read", ",(read only),(read")
    assert [*upload.grade_columns(listed(closed))] == ["Homework 3: LSTM (777)", "LSTM parameters (778)"]
    assert [*upload.grade_columns(listed(GRADER))] == ["Assignment: LSTM (Real)"]


def test_no_file_is_written_if_the_column_is_uncertain(tmp_path):
    (tmp_path / "grades").mkdir()
    (tmp_path / "grades" / "canvas.csv").write_text("an older one")
    output, course = graded(tmp_path, CANVAS.replace("LSTM", "Work"), {"kim.ipynb": None})
    assert (
        "--column" in course.failed
        and "“Homework 3: Work (777)”" in course.failed
        and not (output / "canvas.csv").exists()
    )
    assert (output / "summary.html").exists()


def test_several_assignments_have_their_own_columns(tmp_path):
    entries = {"kim.ipynb": None, "yamada.ipynb": {"assignment": "lstm_parameters", "points": 2}}
    output, course = graded(tmp_path, CANVAS, entries)
    wanted = CANVAS.replace("S6,kim,A,,", "S6,kim,A,7.5,").replace("yamada,A,,", "yamada,A,,4")
    assert course.failed is None and (output / "canvas.csv").read_bytes() == wanted.encode()


def test_one_column_for_two_assignments_is_an_error(tmp_path):
    entries = {"kim.ipynb": None, "grace.ipynb": {"assignment": "rnn"}}
    output, course = graded(tmp_path, CANVAS, entries, columns=["777"])
    assert "--column 777 takes one assignment" in course.failed and not (output / "canvas.csv").exists()
    (tmp_path / "more").mkdir()
    output, course = graded(tmp_path / "more", WORKSHEET, entries)
    assert "say which with --assignment" in course.failed and not (output / "moodle.csv").exists()


def test_batch_writes_only_its_own_assignment(tmp_path):
    output, _ = graded(tmp_path, WORKSHEET, {"ada@uni.example.ipynb": None})
    course = lms_course.Course(folders.students(tmp_path / "sent"), class_list=tmp_path / "class.csv")
    both = made_up("ada@uni.example", assignment="rnn", points=1)
    course.record_times(output, {"ada@uni.example": both})
    write_reports(
        output,
        [both | {"assignments": ["lstm", "rnn"], "verdicts": made_up("")["verdicts"] + both["verdicts"]}],
        print,
        course,
    )
    assert course.failed is None and '"Submitted for grading",50,' in (output / "moodle.csv").read_text("utf-8")


def test_ungraded_submissions_are_not_missing(tmp_path):
    lines = []
    output, course = graded(tmp_path, WORKSHEET, {"ada@uni.example.ipynb": None})
    (tmp_path / "sent" / "grace.ipynb").write_text("{}")
    course = lms_course.Course(folders.students(tmp_path / "sent"), class_list=tmp_path / "class.csv")
    course.record_times(output, {"ada@uni.example": made_up("ada@uni.example")})
    write_reports(output, [made_up("ada@uni.example")], lines.append, course)
    assert "not all submissions are graded yet" in course.failed and not (output / "moodle.csv").exists()
    assert not any(line.startswith("Grace") for line in lines) and any("山田" in line for line in lines)


def test_list_without_grades_still_names_missing_students(tmp_path):
    lines = []
    text = "First name,Surname,Email address\nAda,Lovelace,ada@uni.example\nGrace,Hopper,grace@uni.example\n"
    output, course = graded(tmp_path, text, {"ada.ipynb": None}, lines)
    assert (
        course.failed is None and not list(output.glob("moodle*")) and pages.words("en")["roster"]["no_column"] in lines
    )
    assert "Grace Hopper: Nothing was sent. (lstm)" in lines


BAD = {"name,points\nada,1\n": "no class list", "ada\n": "no table", "Student,ID,Section\n": "no students",
"": "no table",
       "Student,ID,Section\n\xe9".encode("latin-1"): "UTF-8"}  # fmt: skip


@pytest.mark.parametrize("text", BAD)
def test_other_files_are_rejected_before_grading(tmp_path, text):
    (tmp_path / "class.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=BAD[text]):
        lms_course.Course({}, class_list=tmp_path / "class.csv")


def test_cells_are_read_as_by_the_csv_module():
    for text in (CANVAS[1:], WORKSHEET, GRADER, 'a,"b,""c\r\nd",\r\n,,\n"x"y,z\n', "a,b"):
        assert csv_file.scan(text, ",")[0] == list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("language", messages.languages())
def test_class_list_section_is_in_the_language_of_the_class(tmp_path, language):
    output, _ = graded(tmp_path, CANVAS, {"kim.ipynb": {"language": language}}, columns=["777"])
    page = BeautifulSoup((output / "summary.html").read_text("utf-8"), "html.parser")
    own = pages.words(language)["roster"]
    assert page.select_one("#roster").text == own["title"] and own["missing"] in page.text
