"""Read class lists of Canvas and Moodle, and match submissions to their students.

Nothing is guessed: submissions that fit several students or none are listed for the instructor.
"""

import re
import unicodedata
from dataclasses import dataclass, field
from difflib import get_close_matches

from assignments.lms import csv_file
from companion.check.engine.question import all_questions

# File names in downloads of submissions. Canvas: `lovelaceada_LATE_12345_67890_lstm`, with the numbers of the student
# and of the file, or `…_12345_text`. Moodle: `Ada Lovelace_123456_assignsubmission_file_`, with
# the participant's number, and the file's name if all are in one folder.
CANVAS = re.compile(r"(?P<name>[^\W_]\w*?)_(?P<late>LATE_)?(?P<number>\d+)_(?:\d+(?:_.*)?|text|link)", re.DOTALL)
MOODLE = re.compile(r"(?P<name>[^_]*)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)(?:_.*)?", re.DOTALL)
VOICED = "\u3099\u309a"  # marks that must stay: か is not が
LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "þ": "th", "ı": "i"})
MAX_WORDS = 12  # of a name
# Unicode categories of invisible letters and marks that reverse a line
HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


@dataclass
class Student:
    """A student of the class list."""

    row: int
    name: str
    number: str  # the LMS's own, which is part of file names
    ids: list  # other numbers, logins, addresses


@dataclass
class Roster:
    """A class list.

    system: `canvas` or `moodle`. kind: `gradebook`, Moodle's `worksheet`, or a `list`. columns: {normalized head:
    number}.
    """

    path: str
    system: str
    kind: str
    table: csv_file.Sheet
    columns: dict
    students: list
    named: dict = field(default_factory=dict)  # {a spelling of a name, or an id: {students' indexes}}

    def cell(self, student, head):
        return self.table.cell(self.students[student].row, self.columns.get(head))


def distinct_label(student):
    """Return a name with a number, to tell it from others that may be the same."""
    ids = [number for number in student.ids if number and number != student.name]
    return f"{student.name} ({visible(ids[0])})" if ids else student.name


def visible(text):
    """Return a text as it is shown: without invisible letters, line ends, and marks that reverse a line."""
    text = "".join(" " if letter.isspace() else letter for letter in text)
    return " ".join("".join(letter for letter in text if unicodedata.category(letter) not in HIDDEN).split())


def fold(text, marks=False):
    """Return a text without differences of case, width and invisible letters, and of accents unless `marks`."""
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", visible(text)).casefold()).translate(LETTERS)
    kept = (letter for letter in text if marks or letter in VOICED or unicodedata.category(letter) != "Mn")
    return unicodedata.normalize("NFC", "".join(kept))


def name_forms(text, rotated=True, marks=False):
    """Return the spellings of a name that count as equal.

    They are its words in order, sorted and, if `rotated`, starting at another word.
    """
    words = re.findall(r"[^\W_]+", fold(text, marks))[:MAX_WORDS]
    starts = range(len(words)) if rotated else range(min(1, len(words)))
    return {"".join(words[start:] + words[:start]) for start in starts} | (
        {" ".join(sorted(words))} if words else set()
    )


def normalize(head):
    return " ".join(fold(head).split())


def read(path):
    """Read a class list; raise ValueError if the file has none of the known forms."""
    table = csv_file.read(path)
    columns = {}
    for column, head in enumerate(table.rows[0]):
        columns.setdefault(normalize(head), column)
    canvas = "student" in columns or {"lastname", "firstname"} <= columns.keys()
    canvas = canvas and {"id", "section"} <= columns.keys()
    names = "full name" in columns or "first name" in columns and {"last name", "surname"} & columns.keys()
    if canvas:
        system, kind = "canvas", "gradebook"
    elif {"identifier", "grade"} <= columns.keys():
        system, kind = "moodle", "worksheet"
    elif names:
        system, kind = "moodle", "list"
    else:
        raise ValueError(
            f"{path} is no class list that is known: its columns are {', '.join(map(visible, table.rows[0][:12]))}. "
            "Take Canvas's export of the gradebook, or Moodle's grading worksheet, grades or participants, in English."
        )
    roster = Roster(str(path), system, kind, table, columns, [])
    for row in range(1, len(table.rows)):
        student = parse_student(roster, row)
        if student:
            roster.students.append(student)
    if not roster.students:
        raise ValueError(f"{path} has no students")
    for index, student in enumerate(roster.students):
        keys = name_forms(student.name) | {normalize(number) for number in student.ids}
        keys |= {normalize(number.split("@")[0]) for number in student.ids}
        for key in keys - {""}:
            roster.named.setdefault(key, set()).add(index)
    return roster


def roster_of_submissions(names):
    """Return a stand-in for a class list, made of the submissions: one student per number that the LMS gave."""
    roster = Roster("", "", "", None, {}, [])
    for name in names:
        system = MOODLE.fullmatch(name) or CANVAS.fullmatch(name)
        name_part, number = (system["name"], system["number"]) if system else (name, "")
        students = roster.named.get(number) or {len(roster.students)}
        if len(roster.students) in students:
            roster.students.append(Student(0, visible(name_part), "", [number]))
        for key in {*name_forms(name_part), normalize(name), number} - {""}:
            roster.named.setdefault(key, set()).update(students)
    return roster


def parse_student(roster, row):
    """Return the student of a row, or None for rows about points or hidden columns."""
    cells = {head: roster.table.cell(row, column).strip() for head, column in roster.columns.items()}
    if roster.system == "canvas":
        name = cells.get("student") or f"{cells.get('lastname', '')}, {cells.get('firstname', '')}".strip(", ")
        # Canvas writes ="…" to protect names from being read as formulas
        name = name[2:-1] if name.startswith('="') and name.endswith('"') else name
        if not name or name.lower().startswith("points possible") or not (cells["id"] or cells.get("sis login id")):
            return None
        return Student(row, visible(name), cells["id"], [cells["id"], *(cells.get(head, "") for head in (
            "sis user id", "sis login id", "integration id"))])  # fmt: skip
    full_name = f"{cells.get('first name', '')} {cells.get('last name') or cells.get('surname') or ''}"
    number = re.search(r"\d+$", cells.get("identifier", ""))
    name = cells.get("full name") or full_name.strip() or cells.get("identifier", "")
    if not name:
        return None
    ids = [cells.get(head, "") for head in ("identifier", "email address", "id number", "username")]
    return Student(row, visible(name), number[0] if number else "", ids)


def is_test_student(student):
    """Return whether this is Canvas's test student."""
    return normalize(student.name) in ("student, test", "test student")


def find_students(roster, entry):
    """Return the indexes of the students that a submission may belong to; a single one if that is certain."""
    if not roster.system:  # made by roster_of_submissions
        return find_by_name(roster, entry)
    system = MOODLE.fullmatch(entry)
    if system and any(student.number for student in roster.students):
        if roster.system == "moodle":
            return [index for index, student in enumerate(roster.students) if student.number == system["number"]]
    elif system is None and roster.system == "canvas":
        system = CANVAS.fullmatch(entry)
        if system:
            return [index for index, student in enumerate(roster.students) if student.number == system["number"]]
    name = system["name"] if system else entry
    return find_by_name(roster, name) or find_by_name(roster, without_extras(name))


def find_by_name(roster, name):
    students = set().union(*(roster.named.get(key, ()) for key in name_forms(name, rotated=False) | {normalize(name)}))
    accented = name_forms(name, rotated=False, marks=True)
    if len(students) > 1 and not accented & name_forms(name, rotated=False):  # let accents decide
        exact = {index for index in students if accented & name_forms(roster.students[index].name, marks=True)}
        students = exact if len(exact) == 1 else students
    return sorted(students)


def without_extras(name):
    """Return a name without words that are often added: the assignment, and the number of a copy."""
    name = re.sub(r"\s*\(\d{1,3}\)\s*$", "", name)
    extra = {word for question in all_questions().values() for word in question.assignment.split("_")} | {"late"}
    return " ".join(word for word in re.split(r"[\s_]+|\s-\s", name) if fold(word) not in extra)


def similar_names(roster, entry):
    """Return names in the list that are similar to a submission's name."""
    names = {normalize(student.name): student.name for student in roster.students}
    return [names[key] for key in get_close_matches(normalize(entry), names, n=2, cutoff=0.75)]


def entry_name(path):
    """Return the name of a submission; a file is named without its ending."""
    return path.name if path.is_dir() else path.stem
