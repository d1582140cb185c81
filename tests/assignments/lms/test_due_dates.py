"""Due dates: when a submission was sent, the deduction for lateness, and the reports about both."""

import csv
import json
import os
import re
import sys
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from bs4 import BeautifulSoup

from assignments import cli
from assignments.batch import Batch
from assignments.lms import course as lms_course
from assignments.lms import due_dates, submission_times
from assignments.read import folders
from assignments.report import pages
from assignments.submission import Grader
from companion.check.engine import messages
from tests.assignments.grading import put, result

NAMES = "embedding", "rnn", "lstm"
BERLIN = ZoneInfo("Europe/Berlin")
PLAIN = 'zone = "Europe/Berlin"\n[due]\nlstm = 2026-10-05T23:59:00\nrnn = "2026-10-12 23:59"\nembedding = 2026-10-01\n'
DUE = datetime(2026, 10, 5, 23, 59, tzinfo=BERLIN)


@pytest.fixture
def rules(tmp_path):
    def made(text, find=lambda name: name):
        (tmp_path / "course.toml").write_text(text, encoding="utf-8")
        return due_dates.read(tmp_path / "course.toml", NAMES, find)

    return made


def item(sent, before=8.0, who="ada", assignment="lstm", source="times", mark=None):
    return {
        "entry": who,
        "who": who,
        "assignment": assignment,
        "before": before,
        "sent": sent,
        "source": source,
        "mark": mark,
    }


def after(late, rules, **more):
    (item_after,) = due_dates.apply_rules(rules, [item(DUE + late, **more)])
    return item_after["after"], item_after["days"], item_after["why"]


# Deductions

DAY, HOUR, MINUTE = timedelta(days=1), timedelta(hours=1), timedelta(minutes=1)
PERCENT = "[late]\npercent = 10\ngrace = 15\nfloor = 50\nlast = 7\n"
COSTS = [
    (-HOUR, 8.0, 0, "in_time"), (0 * HOUR, 8.0, 0, "in_time"), (15 * MINUTE, 8.0, 0, "grace"), (16 * MINUTE, 7.2, 1,
    "percent"),
    (DAY, 7.2, 1, "percent"), (DAY + MINUTE, 6.4, 2, "percent"), (DAY + 3 * HOUR, 6.4, 2, "percent"), (5 * DAY, 4.0, 5,
    "percent"),
    (6 * DAY, 4.0, 6, "floor"), (7 * DAY, 4.0, 7, "floor"), (7 * DAY + MINUTE, 0.0, 8, "last"), (900 * DAY, 0.0, 900,
    "last"),
]  # fmt: skip


@pytest.mark.parametrize("late, points, days, why", COSTS)
def test_percentage_per_day_begun(rules, late, points, days, why):
    assert after(late, rules(PLAIN + PERCENT)) == (points, days, why)


def test_points_without_rule_and_lower_bound(rules):
    assert after(30 * DAY, rules(PLAIN)) == (8.0, 30, "no_rule")
    assert after(30 * DAY, rules(PLAIN + "[late]\npercent = 30\n")) == (0.0, 30, "percent")


def test_days_follow_the_calendar_of_the_time_zone(rules):
    """Use the night of October 25, which has one more hour in Berlin."""
    due = datetime(2026, 10, 24, 23, 59, tzinfo=BERLIN)
    a_day_later = datetime(2026, 10, 25, 22, 59, tzinfo=UTC)  # 23:59 there, 25 hours later
    assert a_day_later - due.astimezone(UTC) == 25 * HOUR
    assert due_dates.days_begun(a_day_later.astimezone(BERLIN), due) == 1
    assert due_dates.days_begun((a_day_later + MINUTE).astimezone(BERLIN), due) == 2
    assert rules(PLAIN).due["lstm"] == datetime(2026, 10, 5, 21, 59, tzinfo=UTC)
    assert rules(PLAIN.replace("23:59:00", "23:59:00+09:00")).due["lstm"] == datetime(2026, 10, 5, 14, 59, tzinfo=UTC)
    assert rules(PLAIN).due["embedding"] == datetime(2026, 10, 1, 23, 59, 59, tzinfo=BERLIN)


def test_late_days_are_used_in_the_order_of_due_dates(rules):
    late = rules(PLAIN + "[late]\ndays = 3\n")
    due = late.due
    items = [
        item(due["rnn"] + DAY, assignment="rnn"), item(due["lstm"] + 2 * DAY + HOUR), item(due["embedding"] + HOUR,
        assignment="embedding"),
        item(due["rnn"] + 3 * DAY, assignment="rnn", who="bo"),
    ]  # fmt: skip
    applied = due_dates.apply_rules(late, items)
    outcomes = [
        (item_after["assignment"], item_after["after"], item_after["days"], item_after["why"], item_after["left"])
        for item_after in applied
    ]
    # embedding uses one of three days; lstm would need three, and so uses none; rnn uses one
    assert outcomes == [("rnn", 8.0, 1, "days_used", 1), ("lstm", 0.0, 3, "days_short", 2), ("embedding", 8.0, 1,
    "days_used", 2),
                    ("rnn", 8.0, 3, "days_used", 0)]  # fmt: skip


def test_two_submissions_of_an_assignment_use_its_days_once(rules):
    late = rules(PLAIN + "[late]\ndays = 3\n")
    applied = due_dates.apply_rules(late, [item(DUE + 2 * DAY), item(DUE + 2 * DAY) | {"entry": "ada 2"}])
    assert [(item_after["after"], item_after["left"]) for item_after in applied] == [(8.0, 1), (8.0, 1)]


def test_extension_is_for_one_student(rules):
    late = rules(PLAIN + PERCENT + "[extensions.ada]\nlstm = 2026-10-07T23:59:00\n")
    assert after(2 * DAY, late) == (8.0, 0, "in_time") and after(2 * DAY, late, who="bo") == (6.4, 2, "percent")
    assert after(2 * DAY + HOUR, late) == (7.2, 1, "percent")


# Sources of times


def test_order_of_sources_lms_table_files():
    listed, file = DUE + HOUR, DUE + DAY

    def sent(name, worksheet="", listed=listed, file=file):
        return submission_times.find_submission_time(name, worksheet, listed, file, BERLIN)

    assert sent("a_1_2_x", "Monday, 5 October 2026, 11:55 PM") == (DUE - 4 * MINUTE, "worksheet", False)
    assert sent("a_1_2_x") == (None, "mark", False)
    assert sent("a_LATE_1_2_x") == (listed, "times", True) and sent("a_LATE_1_2_x", listed=None) == (
        file,
        "files",
        True,
    )
    assert sent("a", "-") == (listed, "times", None) and sent("a", listed=None, file=None) == (None, "nothing", None)


WRITTEN = {
    "Monday, 5 October 2026, 11:55 PM": (5, 23, 55), "Monday, October 5, 2026, 12:05\u202fAM": (5, 0, 5),
    "5 October 2026, 14:30": (5, 14, 30), "-": None, "": None, "Monday, 45 October 2026, 11:55 PM": None,
    "5 Okt 2026, 14:30": None,
}  # fmt: skip


@pytest.mark.parametrize("text", WRITTEN)
def test_times_of_moodles_worksheet(text):
    moment, wanted = submission_times.parse_worksheet_time(text, BERLIN), WRITTEN[text]
    assert moment == (wanted and datetime(2026, 10, *wanted, tzinfo=BERLIN))


def test_unknown_time_costs_nothing(rules):
    late = rules(PLAIN + PERCENT)
    whys = {(None, False): "in_time", (None, True): "late_unknown", (None, None): "unknown"}
    for (sent, mark), why in whys.items():
        (item_after,) = due_dates.apply_rules(late, [item(sent, mark=mark)])
        assert (item_after["after"], item_after["why"]) == (8.0, why) and (item_after["late"] is None) == (
            why != "in_time"
        )
    (item_after,) = due_dates.apply_rules(
        late, [item(DUE - HOUR, source="files", mark=True)]
    )  # the file's time contradicts the mark
    assert item_after["why"] == "late_unknown"


def test_times_of_copying_are_not_used():
    assert submission_times.are_copy_times(
        [DUE, DUE + MINUTE, None, DUE + 10 * MINUTE]
    ) and not submission_times.are_copy_times([DUE, DUE + MINUTE])
    assert not submission_times.are_copy_times([DUE, DUE + MINUTE, DUE + HOUR])


def test_table_of_times_and_its_errors(tmp_path):
    path = tmp_path / "times.csv"

    def find(name):
        if name != "ada":
            raise ValueError(f"there is no student {name}")
        return 0

    def read(text):
        path.write_text(text, encoding="utf-8")
        return submission_times.read_table(path, BERLIN, NAMES, find)

    assert read("Student,Time,Assignment\nada,2026-10-05 23:59,lstm\n\nada,2026-10-05T21:59:00Z,\n") == {
        (0, "lstm"): DUE,
        (0, ""): DUE,
    }
    heads = "student,time,assignment\n"
    for text, message in (("a,b\n", "student, time"), (heads + "ada,x,\n", "line 2: 'x' is no date"),
    (heads + "bo,2026-10-05,\n", "line 2: .*bo"),
                       (heads + 'ada,"2026-10-05\n",lstm\nada,2026-10-05,gru\n',
                       "line 4: there is no assignment gru")):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            read(text)


# Errors in the file

WRONG = {
    "zone = ?": "line 1", PLAIN.replace("Europe/Berlin",
    "Europe/Atlantis"): "line 1, zone: there is no time zone 'Europe/Atlantis'",
    PLAIN.replace('zone = "Europe/Berlin"\n', ""): "zone: there is no time zone: ", PLAIN.replace('"Europe/Berlin"',
    "2"): "line 1, zone",
    'zone = "../../etc/passwd"\n[due]\nlstm = 2026-10-05': "there is no time zone",
    'zone = "UTC"\n': "there are no due dates", 'zone = "UTC"\ndue = 3\n': "line 2, due: this is a table",
    PLAIN + "gru = 2026-10-05\n": "line 6, due.gru: there is no assignment gru",
    PLAIN + "ltsm = 2026-10-05\n": "Is it one of these. lstm",
    PLAIN.replace("2026-10-05T23:59:00", "2026-10-05T23:59"): "line 3.*has seconds",
    PLAIN.replace("2026-10-05T23:59:00", '"soon"'): "line 3, due.lstm: 'soon' is no date",
    PLAIN.replace("2026-10-05T23:59:00", "23:59:00"): "line 3, due.lstm: .* is no date",
    PLAIN.replace("2026-10-05T23:59:00", "7"): "line 3, due.lstm: 7 is no date",
    PLAIN + "[lat]\n": "lat: there is no key lat.*late",
    PLAIN + "[late]\npercent = 10\ndays = 3\n": "line 8, late.days: there is either",
    PLAIN + "[late]\ndays = 3\nfloor = 3\n": "line 8, late.floor: a floor goes with percent",
    PLAIN + "[late]\npercent = 110\n": "line 7, late.percent: .* from 0 to 100, and not 110",
    PLAIN + "[late]\npercent = true\n": "late.percent", PLAIN + "[late]\nlast = 1.5\n": "late.last: .* whole",
    PLAIN + "[late]\ngrace = nan\n": "grace",
    PLAIN + "[late]\npercent = '10'\n": "not '10'", PLAIN + "[late]\npercents = 1\n": "no key percents",
    PLAIN + "[extensions.bo]\nlstm = 2026-10-09\n": "line 6, extensions.bo: there is no student bo",
    PLAIN + "[extensions]\nada = 2026-10-09\n": "line 7, extensions.ada: this is a table",
    PLAIN + '[extensions."ada"]\ngru = 2026-10-09\n': "line 7, extensions.ada.gru: there is no assignment",
    PLAIN + "[extensions.ada]\nlstm = 2026-10-03\n": "line 7, .*before lstm is due",
    PLAIN + "[extensions]\nada = { lstm = 2026-10-09 }\nAda = { lstm = 2026-10-10 }\n": "line 8, .*another extension",
    PLAIN + "[due]\n": "line 6|again|twice|declare",
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_errors_in_rules_name_the_line(rules, text):
    def find(name):
        if name.lower() != "ada":
            raise ValueError(f"there is no student {name}")
        return 0

    with pytest.raises(ValueError, match=WRONG[text]):
        rules(text, find)


FAULTS = {
    "--dates course.toml": "course.toml, line 6, extensions.adda: there is no student adda among the submissions; .*one of these. ada",  # noqa: E501
    "--dates none.toml": "none.toml", "--roster course.toml": "course.toml is no table",
    "--column lstm=7": "--column goes with --roster",
    "--roster class.csv --column 8": "class.csv has no column “8”. .*“Work .7.”",
    "--roster class.csv --assignment lstm": "which column .*“Work .7.”, “More .9.”",
    "--roster class.csv --dates course.toml": "there is no student adda in class.csv",
}  # fmt: skip


@pytest.mark.parametrize("asked", FAULTS)
def test_errors_are_reported_before_grading(tmp_path, monkeypatch, capsys, asked):
    put(tmp_path / "sent", "ada", "lstm.ipynb", "{}")
    (tmp_path / "course.toml").write_text(PLAIN + "[extensions.adda]\nlstm = 2026-10-09\n")
    (tmp_path / "class.csv").write_text("Student,ID,Section,Work (7),More (9)\nAda,1,S,,\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["cli.py", "sent", *asked.split()])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 2 and re.search(FAULTS[asked], capsys.readouterr().err)
    assert not (tmp_path / "grades").exists()


# Reports

WHYS = "in_time", "grace", "percent", "floor", "last", "days_used", "days_short", "no_rule", "unknown", "late_unknown"


@pytest.mark.parametrize("language", messages.languages())
def test_durations_in_words(language):
    texts = pages.words(language)["dates"]
    durations = [
        due_dates.format_duration(duration, texts)
        for duration in (DAY + 3 * HOUR, DAY + 3 * HOUR + MINUTE, 2 * HOUR + MINUTE, 59 * MINUTE + MINUTE / 2, 2 * DAY)
    ]
    if language == "en":
        assert durations == ["1 day 3 hours", "1 day 4 hours", "2 hours 1 minute", "1 hour", "2 days"]
    assert all(texts[why] for why in WHYS) and len({*durations}) == 5


@pytest.fixture
def batch(tmp_path, monkeypatch, in_process, no_gradebook):
    """Run a batch of two right answers, of which one is late, with these rules; return the students graded."""
    monkeypatch.setattr(Grader, "grade", lambda student, *_: iter([("", result(student))]))
    for name, late in (("ada", DAY + 3 * HOUR), ("bo", -HOUR)):
        os.utime(put(tmp_path / "sent", name, "lstm.ipynb", "{}"), ((DUE + late).timestamp(),) * 2)

    def run(rules):
        paths = folders.students(tmp_path / "sent")
        if rules:
            (tmp_path / "course.toml").write_text(rules)
        course = lms_course.Course(paths, ["lstm"], rules=tmp_path / "course.toml") if rules else None
        new_batch = Batch(tmp_path / "sent", tmp_path / "grades", ("lstm",), say=lambda _: None, course=course)
        todo = [*new_batch.todo]
        new_batch.grade(1)
        return todo

    return run


def test_new_dates_change_reports_but_no_cached_result(batch, tmp_path):
    output = tmp_path / "grades"
    stored = lambda: {path.name: path.read_bytes() for path in (output / "done").iterdir()}  # noqa: E731

    def row(student):
        with open(output / "grades.csv", encoding="utf-8-sig", newline="") as file:
            return next(
                entry for entry in csv.DictReader(file) if entry["student"] == student and entry["question"] == "gates"
            )

    assert batch(PLAIN + PERCENT) == ["ada", "bo"]
    before = stored()
    assert [row("ada")[key] for key in ("points", "before", "after", "late")] == ["2", "2", "1.6", "27"]
    assert [row("bo")[key] for key in ("points", "before", "after", "late")] == ["2", "2", "2", "0"]
    page = (output / "feedback" / "ada.html").read_text("utf-8")
    text = BeautifulSoup(page, "html.parser").main.text
    for line in ("It was due 2026-10-05 23:59 CEST.", "It was sent 2026-10-07 02:59 CEST (by the time of the file).",
                "It is late by 1 day 3 hours. Each day that has begun takes 10 % of the points: here 20 %.",
                "Points before: 2. Points after: 1.6."):  # fmt: skip
        assert line in text
    summary = BeautifulSoup((output / "summary.html").read_text("utf-8"), "html.parser")
    rows = [
        [cell.text for cell in row.select("td")] for row in summary.select("#dates ~ div.table")[0].select("tbody tr")
    ]
    assert rows == [
        ["ada", "lstm", "2026-10-07 02:59 CEST", "by the time of the file", "27.0", "2", "percent = 10", "2", "1.6"]
    ]
    assert "1 of 2 submissions are in time." in summary.text and "by the time of the file (2)" in summary.text
    assert summary.select('nav a[href="#dates"]') and summary.select('#dates ~ div.table a[href="review/ada.html"]')
    assert batch(PLAIN + "[late]\npercent = 50\n[extensions.ada]\nlstm = 2026-10-06T23:59:00\n") == []
    assert row("ada")["after"] == "1" and stored() == before
    assert "percent = 50 extension" in BeautifulSoup((output / "summary.html").read_text("utf-8"), "html.parser").text
    assert batch(None) == [] and "after" not in row("ada") and stored() == before
    assert "told" not in json.dumps([*map(bytes.decode, stored().values())])


def test_late_mark_counts_only_in_canvas_downloads(tmp_path):
    """Students choose file names, which must not make a submission timely."""
    (tmp_path / "course.toml").write_text(PLAIN + PERCENT)
    (tmp_path / "class.csv").write_text(
        "Student,ID,Section,LSTM (7)\n    Points Possible,,,2\nAda,1,S,\nBo,2,S,\nCy,3,S,\n"
    )
    for name in ("ada_1_2_lstm.ipynb", "bo.ipynb", "cy.ipynb"):
        (tmp_path / "sent").mkdir(exist_ok=True)
        (tmp_path / "sent" / name).write_text("{}")
        os.utime(tmp_path / "sent" / name, ((DUE + DAY).timestamp() + 3600 * len(name),) * 2)

    def source(**more):
        course = lms_course.Course(folders.students(tmp_path / "sent"), rules=tmp_path / "course.toml", **more)
        graded = {name: {"student": name, "assignments": ["lstm"]} for name in course.paths}
        course.record_times(tmp_path, graded)
        return course.sent_times["ada_1_2_lstm", "lstm"][1]

    assert source() == source(class_list=tmp_path / "class.csv") == "files"
    (tmp_path / "sent" / "bo.ipynb").rename(tmp_path / "sent" / "bo_2_3_lstm.ipynb")
    assert source(class_list=tmp_path / "class.csv") == "mark"
    for path in (tmp_path / "sent").iterdir():
        os.utime(path, (DUE.timestamp(),) * 2)
    assert source() == "nothing"  # all files were copied at once


def test_simultaneous_writes_of_times(tmp_path, monkeypatch):
    """Let a second run write just before the first one puts its file in place."""
    replace, moments = os.replace, {("ada", "lstm"): [None, "nothing", ""]}

    def write_between(*paths):
        monkeypatch.setattr(os, "replace", replace)
        lms_course.write_times(tmp_path, {("bo", "lstm"): [None, "nothing", ""]})
        replace(*paths)

    monkeypatch.setattr(os, "replace", write_between)
    lms_course.write_times(tmp_path, moments)
    assert lms_course.read_times(tmp_path) == moments and [path.name for path in tmp_path.iterdir()] == [
        lms_course.TIMES_FILE
    ]
