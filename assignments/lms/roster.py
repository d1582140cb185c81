"""The class list, as Canvas and Moodle export it, and whose an entry among the submissions is.

Nobody is guessed. What may be two students' is nobody's, and is listed; so is what is no one's.
"""

import re
import unicodedata
from dataclasses import dataclass, field
from difflib import get_close_matches

from assignments.lms import csv_file
from companion.check.engine.question import all_questions

# How the systems name the files that they give an instructor. Canvas: `lovelaceada_LATE_12345_67890_lstm`, with the
# numbers of the student and of the file, or `…_12345_text`. Moodle: `Ada Lovelace_123456_assignsubmission_file_`, with
# the participant's number, and the file's name if all are in one folder.
CANVAS = re.compile(r"(?P<name>[^\W_]\w*?)_(?P<late>LATE_)?(?P<number>\d+)_(?:\d+(?:_.*)?|text|link)", re.DOTALL)
MOODLE = re.compile(r"(?P<name>[^_]*)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)(?:_.*)?", re.DOTALL)
VOICED = "\u3099\u309a"  # か is not が
LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "þ": "th", "ı": "i"})
MANY = 12  # words of a name whose order may be another
HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}  # of a letter that is not seen, or turns a line around


@dataclass
class Student:
    row: int
    name: str
    number: str  # the system's own, which it puts into names of files
    ids: list  # other numbers, logins, addresses


@dataclass
class Roster:
    """system: `canvas` or `moodle`. kind: `gradebook`, Moodle's `worksheet`, or a `list`. columns: {folded head:
    number}"""

    path: str
    system: str
    kind: str
    table: csv_file.Sheet
    columns: dict
    students: list
    named: dict = field(default_factory=dict)  # {a form of a name, an id: {students' places}}

    def cell(self, student, head):
        return self.table.cell(self.students[student].row, self.columns.get(head))


def label(student):
    """A name beside others that may be the same."""
    ids = [one for one in student.ids if one and one != student.name]
    return f"{student.name} ({seen(ids[0])})" if ids else student.name


def seen(text):
    """A name as it is shown: without letters that hide, turn lines around or end them."""
    kept = (" " if one.isspace() else one for one in text if one.isspace() or unicodedata.category(one) not in HIDDEN)
    return " ".join("".join(kept).split())


def folded(text, marks=False):
    """A text of which case, width, hidden letters and the marks above letters make no difference. marks: but these."""
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", seen(text)).casefold()).translate(LETTERS)
    kept = (one for one in text if marks or one in VOICED or unicodedata.category(one) != "Mn")
    return unicodedata.normalize("NFC", "".join(kept))


def forms(text, turned=True, marks=False):
    """What a name may be written as: its words in their order or, turned, in any that begins elsewhere; and sorted."""
    words = re.findall(r"[^\W_]+", folded(text, marks))[:MANY]
    starts = range(len(words)) if turned else range(min(1, len(words)))
    return {"".join(words[start:] + words[:start]) for start in starts} | (
        {" ".join(sorted(words))} if words else set()
    )


def plain(head):
    return " ".join(folded(head).split())


def read(path):
    """The class list of a file. ValueError if it is in none of the forms."""
    table = csv_file.read(path)
    columns = {}
    for place, head in enumerate(table.rows[0]):
        columns.setdefault(plain(head), place)
    canvas = ("student" in columns or {"lastname", "firstname"} <= columns.keys()) and {
        "id",
        "section",
    } <= columns.keys()
    names = "full name" in columns or "first name" in columns and {"last name", "surname"} & columns.keys()
    if canvas:
        system, kind = "canvas", "gradebook"
    elif {"identifier", "grade"} <= columns.keys():
        system, kind = "moodle", "worksheet"
    elif names:
        system, kind = "moodle", "list"
    else:
        raise ValueError(
            f"{path} is no class list that is known: its columns are {', '.join(map(seen, table.rows[0][:12]))}. "
            "Take Canvas's export of the gradebook, or Moodle's grading worksheet, grades or participants, in English."
        )
    roster = Roster(str(path), system, kind, table, columns, [])
    for row in range(1, len(table.rows)):
        student = student_of(roster, row)
        if student:
            roster.students.append(student)
    if not roster.students:
        raise ValueError(f"{path} has no students")
    for place, student in enumerate(roster.students):
        known = forms(student.name) | {key for one in student.ids for key in (plain(one), plain(one.split("@")[0]))}
        for key in known - {""}:
            roster.named.setdefault(key, set()).add(place)
    return roster


def of_entries(names):
    """Where there is no class list, those who sent something stand for it: one for each number that a system gave."""
    found = Roster("", "", "", None, {}, [])
    for name in names:
        system = MOODLE.fullmatch(name) or CANVAS.fullmatch(name)
        called, number = (system["name"], system["number"]) if system else (name, "")
        places = found.named.get(number) or {len(found.students)}
        if len(found.students) in places:
            found.students.append(Student(0, seen(called), "", [number]))
        for key in {*forms(called), plain(name), number} - {""}:
            found.named.setdefault(key, set()).update(places)
    return found


def student_of(roster, row):
    """The student of a row, or None: there are rows about points and about what is hidden."""
    cells = {head: roster.table.cell(row, place).strip() for head, place in roster.columns.items()}
    if roster.system == "canvas":
        name = cells.get("student") or f"{cells.get('lastname', '')}, {cells.get('firstname', '')}".strip(", ")
        name = name[2:-1] if name.startswith('="') and name.endswith('"') else name  # so it keeps a name from computing
        if not name or name.lower().startswith("points possible") or not (cells["id"] or cells.get("sis login id")):
            return None
        return Student(row, seen(name), cells["id"], [cells["id"], *(cells.get(one, "") for one in (
            "sis user id", "sis login id", "integration id"))])  # fmt: skip
    both = f"{cells.get('first name', '')} {cells.get('last name') or cells.get('surname') or ''}"
    number = re.search(r"\d+$", cells.get("identifier", ""))
    name = cells.get("full name") or both.strip() or cells.get("identifier", "")
    if not name:
        return None
    ids = [cells.get(one, "") for one in ("identifier", "email address", "id number", "username")]
    return Student(row, seen(name), number[0] if number else "", ids)


def is_test(student):
    """Canvas has one for trying things out."""
    return plain(student.name) in ("student, test", "test student")


def whose(roster, entry):
    """The places of the students that an entry may be of: one, if it is certain."""
    if not roster.system:  # it is made of entries
        return by_name(roster, entry)
    system = MOODLE.fullmatch(entry)
    if system and any(one.number for one in roster.students):
        if roster.system == "moodle":
            return [place for place, one in enumerate(roster.students) if one.number == system["number"]]
    elif system is None and roster.system == "canvas":
        system = CANVAS.fullmatch(entry)
        if system:
            return [place for place, one in enumerate(roster.students) if one.number == system["number"]]
    name = system["name"] if system else entry
    return by_name(roster, name) or by_name(roster, without_more(name))


def by_name(roster, name):
    places = set().union(*(roster.named.get(key, ()) for key in forms(name, turned=False) | {plain(name)}))
    marked = forms(name, turned=False, marks=True)
    if len(places) > 1 and not marked & forms(name, turned=False):  # it has marks, and they tell whose it is
        exact = {place for place in places if marked & forms(roster.students[place].name, marks=True)}
        places = exact if len(exact) == 1 else places
    return sorted(places)


def without_more(name):
    """A name without what is often written beside it: the assignment, and a number of a copy."""
    name = re.sub(r"\s*\(\d{1,3}\)\s*$", "", name)
    more = {word for one in all_questions().values() for word in one.assignment.split("_")} | {"late"}
    return " ".join(word for word in re.split(r"[\s_]+|\s-\s", name) if folded(word) not in more)


def near(roster, entry):
    """Names in the list that are like an entry's, for whoever looks."""
    names = {plain(one.name): one.name for one in roster.students}
    return [names[key] for key in get_close_matches(plain(entry), names, n=2, cutoff=0.75)]


def entry_name(path):
    """What an entry is called, letter by letter: a file without its ending."""
    return path.name if path.is_dir() else path.stem
