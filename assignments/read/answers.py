"""From what was sent to the cells with the answers.

Nothing here runs a student's code, and nothing raises an error because of what is in a file.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from assignments.read import folders
from assignments.read.notebooks import LONG, MODULE, Notebook, notebooks_of
from assignments.read.student_name import declared
from companion.check.engine import messages
from companion.check.engine.question import all_questions

MODULES = 2**20  # bytes of the modules that are handed on
TOGETHER = 2  # seconds: files whose times are not further apart have one time, as after unzipping
SPEAKS = re.compile(r"\bcheck\([^()\n]{0,200}\blang\s*=\s*['\"](\w+)['\"]")


@dataclass
class Answer:
    """To one question. cells: number and source, in order. names: what it may be called."""

    cells: list
    names: list
    written: bool
    file: str = ""
    cell: int = 0  # the number of the one with the answer
    other: object = None  # an Answer below it, by the same name
    modules: dict = field(default_factory=dict)  # the student's own, by path


@dataclass
class Submission:
    student: str
    files: list
    notebooks: list
    answers: dict
    assignments: list
    language: str
    remarks: list  # (key, file)
    name: str = ""  # of the student, as the notebook says it


def name_of(question):
    return all_questions()[question].asks_for


def answers(notebook, questions):
    """The answers of a notebook to these questions, {question: Answer}."""
    found = {}
    for question in questions:
        place, names = anchor(notebook, question, questions)
        if place is not None:
            found[question] = made(notebook, place, names)
            below = one_below(notebook.cells, place, question, names, questions)
            if below is not None:
                found[question].other = made(notebook, below, names)
    return found


def made(notebook, place, names):
    cell = notebook.cells[place]
    written = not cell.unwritten(names)
    return Answer(plan(notebook.cells, place), names, written, notebook.path.name, cell.number)


def one_below(cells, place, question, names, questions):
    """The last written definition below an answer, which may be a better copy of it, or something tried out."""
    if sum(name_of(one) == name_of(question) for one in questions) > 1:
        return None
    mine = cells[place].defined & set(names)
    below = [
        number for number in range(place + 1, len(cells))
        if cells[number].defined & mine and cells[number].id not in questions
        and cells[number].source != cells[place].source and not cells[number].unwritten(names)
    ]  # fmt: skip
    return below[-1] if below else None


def anchor(notebook, question, questions):
    """The place of the cell with the answer, and the names that the answer may have."""
    cells, wanted = notebook.cells, name_of(question)
    checked = [(number, cell.checks[question]) for number, cell in enumerate(cells) if question in cell.checks]
    names = [*dict.fromkeys([name for _, name in reversed(checked) if "." not in name] + [wanted])]

    def best(places):
        """The last one that is written; if none is, the last."""
        written = [place for place in places if not cells[place].unwritten(names)]
        return (written or places or [None])[-1]

    def defining(name, places):
        return [place for place in places if name in cells[place].defined | cells[place].bound]

    everywhere = range(len(cells))
    by_id = [place for place in everywhere if cells[place].id == question]
    if by_id:
        place = best([one for one in by_id if cells[one].defined | cells[one].bound] or by_id)
        mine = cells[place].defined
        elsewhere = [one for one in defining(wanted, everywhere) if not cells[one].unwritten(names)]
        if elsewhere and cells[place].unwritten(names):  # it was left as it was, and answered in a new cell
            mine_too = [one for one in elsewhere if wanted in cells[one].defined and cells[one].id not in questions]
            if mine_too or sum(name_of(one) == wanted for one in questions) == 1:
                return (mine_too or elsewhere)[-1], names
        if not mine & set(names) and len(mine) == 1 and not elsewhere:
            names = [*mine, *names]
        if mine & set(names) or cells[place].bound & set(names) or not defining(wanted, everywhere):
            return place, names
    if checked:
        end = checked[-1][0]
        for name in names:
            places = defining(name, range(end + 1))
            if places:
                return best(places), names
    sharing = [one for one in questions if name_of(one) == wanted]
    places = defining(wanted, everywhere)
    if len(sharing) > 1 and places:
        # several questions ask for this name: theirs are the cells in their order
        others = {anchor_by_sign(cells, one) for one in sharing if one != question} - {None}
        places = [place for place in places if place not in others] or []
        rank = sharing.index(question)
        if len(places) > 1 and len(places) == len(sharing):
            return places[rank], [wanted]
        if len(places) > 1 or rank == 0:
            return best(places), [wanted]
        return None, [wanted]
    return best(places), names


def anchor_by_sign(cells, question):
    """A cell that says itself that it answers this question."""
    return next((place for place, cell in enumerate(cells) if cell.id == question), None)


def plan(cells, place):
    """Cells to run for the answer at this place: all but later ones that define again what was defined until here.

    What is tried out below an answer may take its name, as `rnn = nn.RNN(3, 4)` does.
    """
    before = frozenset().union(*(cell.defined for cell in cells[: place + 1]))
    run = [cell for number, cell in enumerate(cells) if number <= place or not (cell.defined | cell.bound) & before]
    return [[cell.number, cell.source] for cell in run]


def assignments_of(notebook):
    """The assignments that a notebook is about, and those of which it has something.

    By its cells' names, its checks and what it defines it is about one, and about each other of whose questions it has
    the most.
    """
    votes, there = {}, {}
    for question, asked in all_questions().items():
        for cell in notebook.cells:
            sure = 3 * (cell.id == question) + 2 * (question in cell.checks)
            points = sure + (name_of(question) in cell.defined)
            votes[asked.assignment] = votes.get(asked.assignment, 0) + points
            if sure:
                there.setdefault(asked.assignment, set()).add(question)
    best = max(votes, key=votes.get, default=None)
    if not best or not votes[best]:
        return [], []
    asked = Counter(one.assignment for one in all_questions().values())
    about = [one for one in votes if one == best or 2 * len(there.get(one, ())) > asked[one]]
    return about, [one for one in there if one not in about]


def language_of(notebooks):
    """The language that a notebook's checks are told to speak; without it that of its text, by its letters."""
    told = Counter(name for one in notebooks for cell in one.cells for name in SPEAKS.findall(cell.source))
    if spoken := [name for name in messages.languages() if name in told]:
        return max(spoken, key=told.get)
    text = "".join(one.text for one in notebooks) or "".join(cell.source for one in notebooks for cell in one.cells)
    counts = {"ko": 0, "ja": 0, "zh": 0, "en": 0}
    for letter in text[:200_000]:
        if letter.isascii():
            counts["en"] += letter.isalpha()
            continue
        name = unicodedata.name(letter, "")
        if name.startswith("HANGUL"):
            counts["ko"] += 1
        elif name.startswith(("HIRAGANA", "KATAKANA")):
            counts["ja"] += 1
        elif name.startswith("CJK"):
            counts["zh"] += 1
    east = counts["ko"] + counts["ja"] + counts["zh"]
    if east * 10 < counts["en"]:
        return "en"
    if counts["ja"] * 10 > east:
        return "ja"
    return "ko" if counts["ko"] * 2 > east else "zh" if east else "en"


def submission(student, path, wanted=()):
    """All that a student sent. wanted: the assignments that were asked for; none for any."""
    found_files, closed = folders.files(path)
    remarks = [("unreadable", one.name) for one in closed]
    if len(found_files) > folders.FILES:
        remarks.append(("too_many_files", ""))
    notebooks, unpacking = [], [folders.LARGEST, folders.FILES]
    looked, room = folders.looked_at(found_files)
    for file in found_files:
        if file in looked:
            left = notebooks[-1].left if notebooks else LONG
            notebooks += (
                notebooks_of(file, left, unpacking)
                if file in room
                else [Notebook(file, remarks=["file_too_large"], left=left)]
            )
        else:
            remarks.append(("other_file", file.name))
    if unpacking[1] < 0 and ("too_many_files", "") not in remarks:
        remarks.append(("too_many_files", ""))
    used = {Path(path).name for one in notebooks for path in modules_for(one, notebooks)}
    for one in notebooks:
        remarks += [(key, one.path.name) for key in one.remarks if key != "not_a_notebook" or one.path.name not in used]
    if not found_files and not closed:
        remarks.append(("nothing_sent", ""))
    about = [(*assignments_of(one), one) for one in notebooks]
    assignments = [*dict.fromkeys(one for ones, _, _ in about for one in ones if not wanted or one in wanted)]
    # a cell of another assignment, kept as a help, must not take the place of that assignment
    touched = [(one, notebook.path.name) for _, ones, notebook in about for one in ones if one not in assignments]
    remarks += [("not_graded_too", f"{name}: {one}") for one, name in touched if not wanted]
    given = {}
    for assignment in wanted or assignments:
        questions = [name for name, asked in all_questions().items() if asked.assignment == assignment]
        answering = [one for ones, more, one in about
                     if one.cells and (assignment in ones or assignment in wanted and assignment in more)]  # fmt: skip
        found = {id(one): answers(one, questions) for one in answering}
        for notebook in ordered(answering, found):
            for question, answer in found[id(notebook)].items():
                answer.modules = modules_for(notebook, notebooks)
                # the later file counts, if the question is answered there
                if question not in given or answer.written:
                    given[question] = answer
        if len(answering) > 1:
            counting = {one.path.name: [] for one in answering}
            for name in questions:
                if name in given:
                    counting[given[name].file].append(name)
            said = "; ".join(f"{file}: {', '.join(names) or '–'}" for file, names in counting.items())
            remarks.append(("several_files", said))
    remarks = [(key, folders.printable(file)) for key, file in remarks]
    name = declared(cell.source for one in notebooks for cell in one.cells)
    return Submission(student, found_files, notebooks, given, assignments, language_of(notebooks), remarks, name)


def ordered(parsing, found):
    """Notebooks, the one that counts most last: the latest; of one time that of the highest number, as `rnn (1).ipynb`;
    of one number that with the most answers."""

    group, last, keys = 0, None, {}
    for one in sorted(parsing, key=lambda one: one.time):
        group += last is not None and one.time - last > TOGETHER
        last = one.time
        number = re.search(r"(?:\(|copy ?|[-_ ]v)(\d{1,9})\)?$", one.path.stem, re.IGNORECASE)
        written = sum(answer.written for answer in found[id(one)].values())
        keys[id(one)] = group, int(number[1]) if number else 0, written, one.path.name
    return sorted(parsing, key=lambda one: keys[id(one)])


def modules_for(notebook, notebooks):
    """The student's own modules that the cells of a notebook speak of, by their path beside it."""
    sources, size = dict(notebook.modules), 0
    for one in notebooks:
        if one is not notebook and one.path.suffix == ".py":
            here = one.path.is_relative_to(notebook.path.parent)
            path = one.path.relative_to(notebook.path.parent).as_posix() if here else one.path.name
            sources.setdefault(path, "\n".join(cell.source for cell in one.cells))
    spoken = {word for cell in notebook.cells for word in re.findall(r"\w+", cell.source)} if sources else ()
    found = {}
    for path, source in sources.items():
        size += len(source)
        if MODULE.fullmatch(path) and Path(path.split("/")[0]).stem in spoken and size <= MODULES:
            found[path] = source
    return found
