"""Class lists of Canvas and Moodle: whose a submission is, and what is written back. The files have the documented
forms."""

import csv
import io
import os
import unicodedata
import zipfile
from pathlib import PurePosixPath

import pytest
from bs4 import BeautifulSoup

from assignments.lms import csv_file, roster, upload
from assignments.lms import term as terms
from assignments.read import folders
from assignments.read.names import page_name
from assignments.report import pages
from assignments.report.results import write
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
    def made(text):
        (tmp_path / "class.csv").write_bytes(text.encode())
        return roster.read(tmp_path / "class.csv")

    return made


def made_up(student, points=1.5, stretch=0, remarks=(), **more):
    one = result(student, points, **more)
    if stretch:
        one["verdicts"].append(
            one["verdicts"][0] | {"question": "one_bias", "points": stretch, "most": stretch, "stretch": True}
        )
    return one | {"remarks": [*remarks]}


def graded(folder, text, entries, said=None, **more):
    """What is written of entries that are graded as the dictionaries say: the folder of grades, and the run's term."""
    (folder / "sent").mkdir()
    for entry in entries:
        (folder / "sent" / entry).write_text("{}")
    (folder / "class.csv").write_bytes(text.encode())
    found = folders.students(folder / "sent")
    term = terms.Term(found, class_list=folder / "class.csv", **more)
    for one in ("feedback", "review"):
        (folder / "grades" / one).mkdir(parents=True)
    results = [made_up(name, **(entries[path.name] or {})) for name, path in found.items()]
    term.note(folder / "grades", {one["student"]: one for one in results})
    lines = [] if said is None else said
    write(folder / "grades", results, lines.append, term)
    return folder / "grades", term


def table(path):
    return list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))


# Whose it is

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
def test_an_entry_is_the_students_whose_it_certainly_is(listed, entry):
    found = listed(CANVAS)
    names = [found.students[place].name for place in roster.whose(found, entry)]
    assert names == ([WHOSE[entry]] if WHOSE[entry] else names) and (len(names) != 1 or WHOSE[entry])


def test_moodles_number_decides_and_an_address_that_two_share_does_not(listed):
    found = listed(WORKSHEET)
    said = lambda entry: [found.students[place].name for place in roster.whose(found, entry)]  # noqa: E731
    assert (
        said("Grace Hopper_51_assignsubmission_file_")
        == said("Participant 51_51_assignsubmission_file")
        == ["Ada Lovelace"]
    )
    assert said("X_51_assignsubmission_file_52_assignsubmission_file_lstm") == ["Ada Lovelace"]
    assert said("Ada Lovelace_99_assignsubmission_file_") == []
    assert said("ada") == ["Ada Lovelace", "山田 太郎"] and said("ada@other.example") == said("山田太郎") == [
        "山田 太郎"
    ]
    found = listed('Identifier,Status,Grade\n"Participant 51",-,\n')  # names are hidden
    assert said("Participant 51_51_assignsubmission_file_") == said("participant 51") == ["Participant 51"]
    found = listed(GRADER)  # it has no numbers of participants
    assert said("Ada Lovelace_99_assignsubmission_file_") == said("Lovelace Ada") == said("S1") == ["Ada Lovelace"]


def test_what_is_not_certain_is_listed_and_gets_no_grade(tmp_path):
    lines = []
    entries = {"lovelaceada_101_5_lstm.ipynb": None, "lovelaceada_101_6_lstm.ipynb": None, "Jose Nunez.ipynb": None,
               "nobody.ipynb": None, "kim.ipynb": None, "김하늘.pdf": {"remarks": [["no_assignment", ""]]},
               "Hoper Grace.ipynb": None}  # fmt: skip
    output, term = graded(tmp_path, CANVAS, entries, lines, columns=["777"])
    given = {row[0]: row[5] for row in table(output / "canvas.csv")[3:]}
    assert given == {row[0]: row[5] for row in csv.reader(io.StringIO(CANVAS[1:])) if row[1].isdigit()} | {
        "김, 하늘": "7.5"
    }
    page = BeautifulSoup((output / "summary.html").read_text("utf-8"), "html.parser")
    rows = {
        tuple(cell.text for cell in row.select("td"))
        for row in page.select("#roster ~ div.table")[0].select("tbody tr")
    }
    own = pages.words("en")["roster"]
    assert {("nobody", own["nobody"], ""), ("Hoper Grace", own["nobody"], "Hopper, Grace")} <= rows
    assert ("Jose Nunez", own["ambiguous"], "Nuñez, José (103); Nunez, Jose (104)") in rows
    assert ("lovelaceada_101_5_lstm, lovelaceada_101_6_lstm", own["twice"], "Lovelace, Ada; lstm") in rows
    assert ("김하늘", own["beside"], "김, 하늘; lstm") in rows
    missing = {who for who, why, _ in rows if why == own["missing"]}
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
    said = "\n".join(lines)
    assert all(who in said and why in said for who, why, _ in rows) and term.failed is None


# What is written back


def test_canvas_gets_its_own_file_with_nothing_but_grades_changed(tmp_path):
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


def test_other_separators_line_ends_and_short_rows_stay(tmp_path):
    text = (
        "LastName;FirstName;ID;Section;LSTM (7);X (8)\n    Points"
        ' Possible;;;;3,00;1\nLovelace;Ada;101;"A;\n""B""";"";\nHopper;Grace;102;A\n'
    )
    output, _ = graded(tmp_path, text, {"101.ipynb": None, "Grace Hopper.ipynb": {"points": 1, "most": 3}})
    wanted = text.replace('""B""";"";', '""B""";"2,25";').replace("102;A", "102;A;1")
    assert (output / "canvas.csv").read_bytes() == wanted.encode()
    table = csv_file.read(tmp_path / "class.csv")
    table.filled |= {(3, 5): "y", (3, 4): "a;b"}
    assert table.written().decode().endswith('102;A;"a;b";y\n')


def test_moodle_gets_its_worksheet_and_the_pages(tmp_path):
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
def test_no_name_leads_out_of_its_folder_or_to_another_student(name):
    with zipfile.ZipFile(io.BytesIO(upload.feedback_zip({("7", name, "lstm"): "page"}))) as archive:
        (path,) = archive.namelist()
    parts = PurePosixPath(path).parts
    assert len(parts) == 2 and not {"..", "/", "."} & {*parts} and len(path) < 150 and path.isprintable()
    info = path.split("_")  # as Moodle reads it
    assert (
        info[1:4] == ["7", "assignsubmission", "file"]
        and parts[1] == "lstm-feedback.html"
        and info[0][:1] not in ("", "~", ".")
    )


def test_a_name_is_text_on_the_summary(tmp_path):
    text = CANVAS.replace("山田, 太郎", "<img src=x onerror=alert(1)>\u202e").replace(
        "かとう, あい", "<img src=x onerror=alert(1)>"
    )
    entries = {"<b>x.ipynb" if os.name == "posix" else "b.ipynb": None, "img src x onerror alert 1.ipynb": None}
    output, _ = graded(tmp_path, text.replace("がとう, あい", "<i>"), entries, columns=["777"])
    page = BeautifulSoup((output / "summary.html").read_text("utf-8"), "html.parser")
    assert (
        not page.select("img, main b, main i")
        and page.text.count("<img") == 2
        and "<i>" in page.text
        and "<img src=x onerror=alert(1)>" in page.text
        and "\u202e" not in page.text
    )


def test_no_text_of_ours_is_a_formula_and_what_came_in_stays(listed):
    found = listed(WORKSHEET.replace("Ada Lovelace", "=1+1"))
    upload.fill(found, 4, {0: (1, 2)}, {0: "1 point; =1+1"}, "lstm")
    row = next(csv.reader(io.StringIO(found.table.written().decode().split("\n", 1)[1], newline="")))
    assert row[1] == "=1+1" and row[10] == "lstm: 1 point;' =1+1"


# Which column, and what is no class list


def test_the_column_is_said_or_certain(listed):
    heads = "Student,ID,Section,{}\n    Points Possible,,,{}\nA,1,S,\n"
    place = lambda columns, assignment, asked=None: upload.column(  # noqa: E731
        listed(heads.format(",".join(columns), ",".join("1" for _ in columns))), assignment, asked
    )
    two = ["LSTM (7)", "LSTM parameters (8)"]
    assert place(two, "lstm") == 3 and place(two, "lstm_parameters") == 4 and place(two, "rnn", "8") == 4
    assert place(["Week 3 (7)"], "rnn") == 3 and place(["課題LSTM (7)", "課題RNN (8)"], "rnn") == 4
    assert place(two, "lstm", "lstm parameters") == 4
    for columns, assignment, asked in ((two, "rnn", None), (["LSTM a (7)", "LSTM b (8)"], "lstm", None), (two, "lstm",
    "LSTM (9)"),
                                       (["LSTM (7)"], "rnn", None), (two[1:], "lstm", None)):  # fmt: skip
        with pytest.raises(ValueError) as error:
            place(columns, assignment, asked)
        assert all(one in str(error.value) for one in columns)


def test_a_column_that_takes_no_grades_is_none(listed):
    assert [*upload.choices(listed(CANVAS))] == ["Homework 3: LSTM (777)", "LSTM parameters (778)", "Quiz (779)"]
    closed = CANVAS.replace(",5.00,(read", ",(read only),(read")
    assert [*upload.choices(listed(closed))] == ["Homework 3: LSTM (777)", "LSTM parameters (778)"]
    assert [*upload.choices(listed(GRADER))] == ["Assignment: LSTM (Real)"]


def test_no_file_is_written_where_the_column_is_not_certain(tmp_path):
    (tmp_path / "grades").mkdir()
    (tmp_path / "grades" / "canvas.csv").write_text("an older one")
    output, term = graded(tmp_path, CANVAS.replace("LSTM", "Work"), {"kim.ipynb": None})
    assert (
        "--column" in term.failed and "“Homework 3: Work (777)”" in term.failed and not (output / "canvas.csv").exists()
    )
    assert (output / "summary.html").exists()


def test_each_of_several_assignments_has_its_own_column(tmp_path):
    entries = {"kim.ipynb": None, "yamada.ipynb": {"assignment": "lstm_parameters", "points": 2}}
    output, term = graded(tmp_path, CANVAS, entries)
    wanted = CANVAS.replace("S6,kim,A,,", "S6,kim,A,7.5,").replace("yamada,A,,", "yamada,A,,4")
    assert term.failed is None and (output / "canvas.csv").read_bytes() == wanted.encode()


def test_one_column_does_not_take_two_assignments(tmp_path):
    entries = {"kim.ipynb": None, "grace.ipynb": {"assignment": "rnn"}}
    output, term = graded(tmp_path, CANVAS, entries, columns=["777"])
    assert "--column 777 takes one assignment" in term.failed and not (output / "canvas.csv").exists()
    (tmp_path / "more").mkdir()
    output, term = graded(tmp_path / "more", WORKSHEET, entries)
    assert "say which with --assignment" in term.failed and not (output / "moodle.csv").exists()


def test_a_batch_is_about_its_own_assignment_whatever_was_graded_before(tmp_path):
    output, _ = graded(tmp_path, WORKSHEET, {"ada@uni.example.ipynb": None})
    term = terms.Term(folders.students(tmp_path / "sent"), class_list=tmp_path / "class.csv")
    both = made_up("ada@uni.example", assignment="rnn", points=1)
    term.note(output, {"ada@uni.example": both})
    write(
        output,
        [both | {"assignments": ["lstm", "rnn"], "verdicts": made_up("")["verdicts"] + both["verdicts"]}],
        print,
        term,
    )
    assert term.failed is None and '"Submitted for grading",50,' in (output / "moodle.csv").read_text("utf-8")


def test_what_is_not_graded_yet_is_not_missing(tmp_path):
    lines = []
    output, term = graded(tmp_path, WORKSHEET, {"ada@uni.example.ipynb": None})
    (tmp_path / "sent" / "grace.ipynb").write_text("{}")
    term = terms.Term(folders.students(tmp_path / "sent"), class_list=tmp_path / "class.csv")
    term.note(output, {"ada@uni.example": made_up("ada@uni.example")})
    write(output, [made_up("ada@uni.example")], lines.append, term)
    assert "not all submissions are graded yet" in term.failed and not (output / "moodle.csv").exists()
    assert not any(line.startswith("Grace") for line in lines) and any("山田" in line for line in lines)


def test_a_list_without_a_column_for_grades_still_says_who_is_missing(tmp_path):
    lines = []
    text = "First name,Surname,Email address\nAda,Lovelace,ada@uni.example\nGrace,Hopper,grace@uni.example\n"
    output, term = graded(tmp_path, text, {"ada.ipynb": None}, lines)
    assert (
        term.failed is None and not list(output.glob("moodle*")) and pages.words("en")["roster"]["no_column"] in lines
    )
    assert "Grace Hopper: Nothing was sent. (lstm)" in lines


BAD = {"name,points\nada,1\n": "no class list", "ada\n": "no table", "Student,ID,Section\n": "no students",
"": "no table",
       "Student,ID,Section\n\xe9".encode("latin-1"): "UTF-8"}  # fmt: skip


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_class_list_is_said_before_anything_is_graded(tmp_path, text):
    (tmp_path / "class.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=BAD[text]):
        terms.Term({}, class_list=tmp_path / "class.csv")


def test_cells_are_read_as_a_spreadsheet_reads_them():
    for text in (CANVAS[1:], WORKSHEET, GRADER, 'a,"b,""c\r\nd",\r\n,,\n"x"y,z\n', "a,b"):
        assert csv_file.scanned(text, ",")[0] == list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("language", messages.languages())
def test_the_section_of_the_class_list_is_in_the_language_of_the_class(tmp_path, language):
    output, _ = graded(tmp_path, CANVAS, {"kim.ipynb": {"language": language}}, columns=["777"])
    page = BeautifulSoup((output / "summary.html").read_text("utf-8"), "html.parser")
    own = pages.words(language)["roster"]
    assert page.select_one("#roster").text == own["title"] and own["missing"] in page.text
