"""Find the cells with the answers in the files of a submission.

No function here runs a student's code or raises an error because of a file's content.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from assignments.read import folders
from assignments.read.check_calls import ANY
from assignments.read.notebooks import DATA, MAX_PARSED, MODULE, Notebook, read_file
from assignments.read.student_name import declared_name
from companion.check.engine import messages
from companion.check.engine.question import all_questions

MAX_MODULE_BYTES = 2**20  # of the student's own modules that go to the worker
SAME_TIME = 2  # seconds: files whose times differ by less count as saved at one time, as after unzipping
MAX_LISTED = 10  # files in the remark that several count
CHECK_LANGUAGE = re.compile(r"\bcheck\([^()\n]{0,200}\blang\s*=\s*['\"](\w+)['\"]")


@dataclass
class Answer:
    """Answer to one question. cells: [number, source] in order, those to run. names: names that the answer may have.

    checked: the question, if what the notebook's last call of `check` was given is the answer, before any name.
    """

    cells: list
    names: list
    written: bool
    file: str = ""
    cell: int = 0  # number of the answer's cell
    other: object = None  # an Answer of the same name in a later cell
    modules: dict = field(default_factory=dict)  # the student's own, by path
    notebook: object = None  # the Notebook
    checked: str = ""


@dataclass
class Submission:
    """Files of one student, with the answers found in them."""

    student: str
    files: list
    notebooks: list
    answers: dict
    assignments: list
    language: str
    remarks: list  # (key, file)
    name: str = ""  # of the student, as declared in a notebook
    name_unknown: bool = False  # a notebook declares a name that is computed


def name_of(question):
    """Return the name of the function or class that a question asks for."""
    return all_questions()[question].asks_for


def find_answers(notebook, questions):
    """Return {question: Answer} of a notebook."""
    answers = {}
    for question in questions:
        place, names = locate(notebook, question, questions)
        if place is not None:
            answers[question] = answer_at(notebook, place, names)
            later = later_definition(notebook.cells, place, question, names, questions)
            if later is not None:
                answers[question].other = answer_at(notebook, later, names)
    return answers


def answer_at(notebook, place, names):
    cell = notebook.cells[place]
    written = not cell.unwritten(names)
    run = cells_to_run(notebook.cells, place)
    return Answer(run, names, written, notebook.path.name, cell.number, notebook=notebook)


def later_definition(cells, place, question, names, questions):
    """Return the place of the last written definition below an answer: a better copy or an experiment."""
    if sum(name_of(other) == name_of(question) for other in questions) > 1:
        return None
    defined = cells[place].defined & {name.partition(".")[0] for name in names}
    later = [
        number for number in range(place + 1, len(cells))
        if cells[number].defined & defined and cells[number].id not in questions
        and cells[number].source != cells[place].source and not cells[number].unwritten(names)
    ]  # fmt: skip
    return later[-1] if later else None


def locate(notebook, question, questions):
    """Return the place of the cell with the answer (or None), and the names that the answer may have."""
    cells, wanted = notebook.cells, name_of(question)
    checked = [(number, cell.checks[question]) for number, cell in enumerate(cells) if question in cell.checks]
    names = [*dict.fromkeys([name for _, name in reversed(checked) if name] + [wanted])]
    roots = {name.partition(".")[0] for name in names}

    def best(places):
        """Return the last place whose cell is written; if none is, the last."""
        written = [place for place in places if not cells[place].unwritten(names)]
        return (written or places or [None])[-1]

    def defining(name, places):
        return [place for place in places if name in cells[place].defined | cells[place].bound]

    all_places = range(len(cells))
    with_id = [place for place in all_places if cells[place].id == question]
    if with_id:
        place = best([place for place in with_id if cells[place].defined | cells[place].bound] or with_id)
        defined = cells[place].defined
        written = [place for place in defining(wanted, all_places) if not cells[place].unwritten(names)]
        if written and cells[place].unwritten(names):  # the stub was left, and the answer written in a new cell
            new_cells = [at for at in written if wanted in cells[at].defined and cells[at].id not in questions]
            if new_cells or sum(name_of(other) == wanted for other in questions) == 1:
                return (new_cells or written)[-1], names
        if not defined & roots and len(defined) == 1 and not written:
            names = [*names, *defined]
        if defined & {*roots, *names} or cells[place].bound & roots or not defining(wanted, all_places):
            return place, names
    if checked:
        end = checked[-1][0]
        for name in names:
            places = defining(name.partition(".")[0], range(end + 1))
            if places:
                return best(places), names
    sharing = [other for other in questions if name_of(other) == wanted]
    places = defining(wanted, all_places)
    if len(sharing) > 1 and places:
        # several questions ask for this name: their answers are the cells in the questions' order
        taken = {cell_with_id(cells, other) for other in sharing if other != question} - {None}
        places = [place for place in places if place not in taken] or []
        rank = sharing.index(question)
        if len(places) > 1 and len(places) == len(sharing):
            return places[rank], [wanted]
        if len(places) > 1 or rank == 0:
            return best(places), [wanted]
        return None, [wanted]
    if not places:  # made and checked in ways that only running the notebook tells
        places = [number for number, cell in enumerate(cells) if {question, ANY} & cell.checks.keys()][-1:]
    return best(places), names


def cell_with_id(cells, question):
    return next((place for place, cell in enumerate(cells) if cell.id == question), None)


def cells_to_run(cells, place):
    """Return the cells to run for the answer at this place, without later ones that redefine its names.

    Experiments below an answer may take its name, as `rnn = nn.RNN(3, 4)` does.
    """
    defined = frozenset().union(*(cell.defined for cell in cells[: place + 1]))
    run = [cell for number, cell in enumerate(cells) if number <= place or not (cell.defined | cell.bound) & defined]
    return [[cell.number, cell.source] for cell in run]


def assignments_of(notebook):
    """Return the assignments that a notebook answers, and others of which it has single cells.

    It answers the assignment that its cells' ids, checks and definitions match best, and every other one of which it
    has more than half of the questions.
    """
    votes, identified = {}, {}
    for name, question in all_questions().items():
        for cell in notebook.cells:
            sure = 3 * (cell.id == name) + 2 * (name in cell.checks)
            points = sure + (name_of(name) in cell.defined)
            votes[question.assignment] = votes.get(question.assignment, 0) + points
            if sure:
                identified.setdefault(question.assignment, set()).add(name)
    best = max(votes, key=votes.get, default=None)
    if not best or not votes[best]:
        return [], []
    count = Counter(question.assignment for question in all_questions().values())
    answered = [name for name in votes if name == best or 2 * len(identified.get(name, ())) > count[name]]
    return answered, [name for name in identified if name not in answered]


def language_of(notebooks):
    """Return the language that most checks of the notebooks name; if none does, that of the text, by its letters."""
    cells = [cell for notebook in notebooks for cell in notebook.cells]
    named = Counter(name for cell in cells for name in CHECK_LANGUAGE.findall(cell.source))
    if supported := [name for name in messages.languages() if name in named]:
        return max(supported, key=named.get)
    text = "".join(notebook.text for notebook in notebooks) or "".join(cell.source for cell in cells)
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


def read_submission(student, path, wanted=()):
    """Read all files of a student. wanted: the assignments to read; all if empty."""
    files, closed = folders.files(path)
    remarks = [("unreadable", folder.name) for folder in closed]
    if len(files) > folders.MAX_FILES:
        remarks.append(("too_many_files", ""))
    if folders.students_in_archive(path):
        files, remarks = [], [("zip_of_a_class", "")]
    notebooks, unpack_left = [], [folders.MAX_BYTES, folders.MAX_FILES, folders.MAX_LISTED]
    relevant, fitting = folders.readable_files(files)
    for file in files:
        if file in relevant:
            left = notebooks[-1].left if notebooks else MAX_PARSED
            notebooks += (
                read_file(file, left, unpack_left)
                if file in fitting
                else [Notebook(file, remarks=["file_too_large"], left=left)]
            )
        else:
            remarks.append(("other_file", file.name))
    if min(unpack_left) < 0 and ("too_many_files", "") not in remarks:
        remarks.append(("too_many_files", ""))
    with_code = [notebook for notebook in notebooks if notebook.cells]
    modules = {Path(path).name for notebook in with_code for path in modules_of(notebook, notebooks)}
    for notebook in notebooks:
        name = notebook.path.name
        expected = {"not_a_notebook", "empty_file"} if name in modules else set()
        remarks += [(key, name) for key in notebook.remarks if key not in expected]
    if not files and not remarks:
        remarks.append(("nothing_sent", ""))
    contents = [(*assignments_of(notebook), notebook) for notebook in notebooks]
    assignments = [
        *dict.fromkeys(name for answered, _, _ in contents for name in answered if not wanted or name in wanted)
    ]
    # a cell kept from another assignment, as a helper, must not count as that assignment's submission
    helpers = [
        (name, notebook.path.name) for _, partial, notebook in contents for name in partial if name not in assignments
    ]
    remarks += [("not_graded_too", f"{file}: {name}") for name, file in helpers if not wanted]
    counting = {}
    for assignment in wanted or assignments:
        questions = [name for name, question in all_questions().items() if question.assignment == assignment]
        answering = [notebook for answered, partial, notebook in contents if notebook.cells
                     and (assignment in answered or assignment in wanted and assignment in partial)]  # fmt: skip
        answers = {id(notebook): find_answers(notebook, questions) for notebook in answering}
        for notebook in by_precedence(answering, answers):
            for question, answer in answers[id(notebook)].items():
                for copy in filter(None, (answer, answer.other)):
                    copy.modules = modules_of(notebook, notebooks)
                # the later file counts, if the question is answered there
                if question not in counting or answer.written:
                    counting[question] = answer
        if len(answering) > 1:
            by_file = {notebook.path.name: [] for notebook in answering}
            for name in questions:
                if name in counting:
                    by_file[counting[name].file].append(name)
            exports = {notebook.path.name for notebook in answering if notebook.is_export}
            by_file = {file: names for file, names in by_file.items() if names or file not in exports}
            files_listed = [f"{file}: {', '.join(names) or '–'}" for file, names in by_file.items()]
            listed = "; ".join([*files_listed[-MAX_LISTED:], *["…"] * (len(files_listed) > MAX_LISTED)])
            remarks += [("several_files", listed)] if len(by_file) > 1 else []
    remarks = [(key, folders.printable(file)) for key, file in remarks]
    name = declared_name(cell.source for notebook in notebooks for cell in notebook.cells)
    return Submission(student, files, notebooks, counting, assignments, language_of(notebooks), remarks, *name)


def by_precedence(notebooks, answers):
    """Sort notebooks so that the one that counts most comes last.

    An export counts less than a notebook, and the later file more than an earlier one; at the same time that with the
    higher number, as in `rnn (1).ipynb`; then that with more answers.
    """
    group, last, keys = 0, None, {}
    for notebook in sorted(notebooks, key=lambda notebook: notebook.time):
        group += last is not None and notebook.time - last > SAME_TIME
        last = notebook.time
        number = re.search(r"(?:\(|copy ?|[-_ ]v)(\d{1,9})\)?$", notebook.path.stem, re.IGNORECASE)
        written = sum(answer.written for answer in answers[id(notebook)].values())
        keys[id(notebook)] = not notebook.is_export, group, int(number[1]) if number else 0, written, notebook.path.name
    return sorted(notebooks, key=lambda notebook: keys[id(notebook)])


def modules_of(notebook, notebooks):
    """Return {path beside the notebook: text} of the student's modules and files that the notebook's cells mention."""
    sources, size = dict(notebook.modules), 0
    for other in notebooks:
        if other is not notebook and (other.path.suffix == ".py" or other.data):
            below = other.path.is_relative_to(notebook.path.parent)
            path = other.path.relative_to(notebook.path.parent).as_posix() if below else other.path.name
            sources.setdefault(path, other.data or "\n".join(cell.source for cell in other.cells))
    words = {word for cell in notebook.cells for word in re.findall(r"\w+", cell.source)} if sources else ()
    modules = {}
    for path, source in sources.items():
        size += len(source)
        is_used = MODULE.fullmatch(path) or DATA.fullmatch(path) and Path(path).stem in words
        if is_used and Path(path.split("/")[0]).stem in words and size <= MAX_MODULE_BYTES:
            modules[path] = source
    return modules
