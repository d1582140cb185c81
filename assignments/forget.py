"""Deletes all that is kept of a student: python assignments/forget.py grades ada

Grades, feedback, review, appeals, the rows of gradebook.db and of every table, and the name in the lists of who sent
something. Then all pages are made anew. It says what it has removed, where the name still stands, and what no command
here can reach: the submission itself, copies, and what was handed out.
"""

import argparse
import html
import json
import os
import re
import sqlite3
import sys
import unicodedata
import urllib.parse
import warnings
import zipfile
from contextlib import closing
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import join  # noqa: E402  (its folder is on the path only now)
import keeping  # noqa: E402
import spread  # noqa: E402
from naming import known, page_name  # noqa: E402

KINDS = {"done": "json", "appeals": "json", "feedback": "html", "review": "html"}
# Made of everybody's, by the next run with the options that ask for them.
MADE_ANEW = "canvas.csv", "moodle.csv", "moodle_feedback.zip", "similar.html"
LARGEST = 2**28  # bytes of a file in which the name is looked for
OUT_OF_REACH = (
    "the submission itself, in the folder of submissions: delete it there, or it is graded again",
    "the output folders of parts that were joined from elsewhere: give each to this command",
    "backups, copies and printouts of this folder, and blocks of the disk that the system has not used again",
    "what was handed out or uploaded: the feedback, and grades in another system",
)


def students_in(output):
    """All that this folder knows of."""
    found = {student for roster in batches_in(output).values() for student in roster}
    found |= {student for one in spread.parts_in(output) for student in one["students"]}
    for file in (output / "done").glob("*.json"):
        found |= {one["graded"]["student"] for one in keeping.stored_in(file).values()}
    return found | students_of_gradebook(output / "gradebook.db")


def batches_in(output):
    try:
        said = json.loads((output / "batches.json").read_text(encoding="utf-8"))
        return said if isinstance(said, dict) else {}
    except (OSError, ValueError):
        return {}


def students_of_gradebook(path):
    if not path.is_file():
        return set()
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as book:
            return {name for (name,) in book.execute("SELECT id FROM student")}
    except sqlite3.Error:
        return set()


# What is deleted


def files_of(output, student):
    """The student's own files, also one that was being written when the grader was ended."""
    name = page_name(student)
    for folder, kind in KINDS.items():
        for file in sorted((output / folder).glob(f"{name}.{kind}*")) if (output / folder).is_dir() else ():
            if re.fullmatch(rf"{re.escape(name)}\.{kind}(?:\.[0-9a-f]+\.part|\.part)?", file.name):
                yield file


def out_of_lists(output, student):
    """Takes the name out of the lists of who sent something. Yields the files that had it."""
    rosters = batches_in(output)
    if any(student in roster for roster in rosters.values()):
        kept = {key: [one for one in roster if one != student] for key, roster in rosters.items()}
        keeping.store(output / "batches.json", json.dumps(kept, ensure_ascii=False, indent=1))
        yield output / "batches.json"
    for one in spread.parts_in(output):
        if student in one["students"]:
            one["students"].remove(student)
            file = spread.file_of(output, one["batch"], (one["part"], one["of"]))
            keeping.store(file, json.dumps(one, ensure_ascii=False, indent=1))
            yield file


def out_of_times(output, student):
    """Takes out when the student's work was sent. Yields the file that said so."""
    file = output / "term.json"
    try:
        noted = json.loads(file.read_text(encoding="utf-8"))
        kept = [one for one in noted if one[0] != student]
    except (OSError, ValueError, TypeError, LookupError):
        return
    if len(kept) < len(noted):
        keeping.store(file, json.dumps(kept, ensure_ascii=False))
        yield file


def out_of_gradebook(path, student):
    """Deletes the student and all that hangs on it, and writes the file anew, so that no free page has it still.
    Returns how many rows that were."""
    if student not in students_of_gradebook(path):
        return 0
    from nbgrader.api import Gradebook

    try:
        with closing(sqlite3.connect(path)) as book:
            before = rows_in(book)
        with warnings.catch_warnings(), Gradebook(f"sqlite:///{path.resolve()}") as book:
            warnings.simplefilter("ignore")  # of nbgrader's own use of its database
            book.remove_student(student)
        with closing(sqlite3.connect(path)) as book:
            book.execute("VACUUM")
            return before - rows_in(book)
    except Exception as error:  # another version's, or one that is open elsewhere
        raise OSError(f"{path}: {type(error).__name__}: {error}") from error


def rows_in(book):
    tables = [name for (name,) in book.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return sum(book.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables)


# Where the name still stands


def spellings(student):
    """A name as files of all kinds have it, in bytes."""
    forms = {form for kind in ("NFC", "NFD") for form in (student, unicodedata.normalize(kind, student))}
    forms |= {html.escape(one) for one in forms} | {json.dumps(one)[1:-1] for one in forms} | {one.replace('"', '""') for one in forms}
    forms |= {urllib.parse.quote(one) for one in forms} | {page_name(student)}
    return re.compile(b"|".join(rb"(?<![\w-])%s(?![\w-])" % re.escape(one.encode("utf-8", "replace")) for one in sorted(forms)))


def still_named(output, student):
    """The files that have the name, or something spelled alike."""
    name = spellings(student)
    for file in sorted(output.rglob("*")):
        if not file.is_file() or file.is_symlink():
            continue
        if name.search(os.fsencode(file.relative_to(output))) or any(map(name.search, contents(file))):
            yield file


def contents(file):
    """What is in a file, and if it is a zip, in those packed in it and in their names."""
    try:
        if file.stat().st_size > LARGEST:
            return
        yield file.read_bytes()
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as archive:
                for one in archive.infolist():
                    yield one.filename.encode("utf-8", "replace")
                    yield archive.read(one) if one.file_size <= LARGEST else b""
    except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError):
        return


def forget(output, student, say=print):
    """Deletes all that is kept of a student in a folder of grades."""
    output = Path(output)
    removed = []
    if rows := out_of_gradebook(output / "gradebook.db", student):  # first: what fails here has changed nothing
        removed.append(f"{output / 'gradebook.db'}: {rows} rows")
    for file in [*files_of(output, student)]:
        file.unlink()
        removed.append(str(file))
    removed += [f"{file}: the name" for file in [*out_of_lists(output, student), *out_of_times(output, student)]]
    for file in (output / name for name in MADE_ANEW):
        if file.exists():
            file.unlink()
            removed.append(f"{file}: the next run makes it anew, if it is asked to")
    join.made(output, say)
    removed.append(f"{output / 'grades.csv'}, {output / 'summary.html'} and all pages: made anew without")
    say("Removed:")
    for one in removed:
        say(f"    {one}")
    if there := [*still_named(output, student)]:
        say("The name, or a word that is spelled alike, still stands here. Look, and delete what is of this student:")
        for one in there:
            say(f"    {one}")
    say("Out of reach:")
    for one in OUT_OF_REACH:
        say(f"    {one}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grades", help="the output folder of the grader")
    parser.add_argument("student", nargs="+", help="the name, as the summary has it")
    arguments = parser.parse_args()
    output = Path(arguments.grades)
    if not (output / "done").is_dir():
        parser.error(f"{output} is no output folder of the grader")
    sys.stdout.reconfigure(errors="backslashreplace")
    try:  # before anything is deleted
        students = known(arguments.student, dict.fromkeys(sorted(students_in(output))), "student")
    except ValueError as error:
        parser.error(error)
    try:
        for student in students:
            forget(output, student)
    except ImportError:
        sys.exit("nbgrader is not installed: gradebook.db has this student, and nothing was deleted.")
    except OSError as error:
        sys.exit(f"{error}. Not all is deleted: the same command continues.")


if __name__ == "__main__":
    main()
