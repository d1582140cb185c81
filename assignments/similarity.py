"""Pairs of submissions that are more alike than the assignment makes them: grades/similar.html, with --similar.

What is compared is the code that is stored with the grades (review.py bounds it). A run of 25 signs counts, with each name
for one sign and without spaces and comments, as copydetect makes them: so new names, other comments and another order
hide nothing. Left out is what the assignment hands out, its solutions, the book's own code, and what many write.

It says where to look, and decides nothing. All is read here, and nothing leaves the machine.
"""

import html
import itertools
import json
import re
import time
from collections import Counter
from pathlib import Path

import pages
import reading
import review

from companion.check.question import all_questions

ROOT = Path(__file__).resolve().parents[1]
RUN = 25  # signs: about a line and a half
MANY = 10  # what more students than these write is the assignment's own; in a small class, than a sixth of all
WHOLE, ONE, LEAST = 0.5, 0.8, 150  # shares of an assignment and of one question that make a pair, and how many runs it takes
PAIRS, AROUND = 40, 2  # pairs that are shown; lines around a passage
SOLUTION = re.compile(r"^( *)### BEGIN SOLUTION.*?### END SOLUTION", re.DOTALL | re.MULTILINE)
DEFINES = re.compile(r"(?:async )?(?:def|class) +(\w+)")
STYLE = """
.pair { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 1rem; } .pair h4 { margin: 0; }
@media (max-width: 45rem) { .pair { grid-template-columns: minmax(0, 1fr); } }
"""


class Piece:
    """A function, a class or what else stands in a cell. runs: the hash of what begins at each of its signs; lines: on
    which line each sign stands."""

    def __init__(self, question, cell):
        self.question, self.cell = question, cell
        blank = next((n for n, line in enumerate(cell["lines"]) if line.strip()), 0)
        text, self.lines = signs("\n".join(cell["lines"][blank:]))
        self.lines = self.lines + blank
        self.runs = runs(text)


def signs(code):
    """Code with a sign for each name, without spaces and comments, and the line of each sign.

    Pygments, of which copydetect has this, ends at any text in bounded time.
    """
    import numpy
    from copydetect.utils import filter_code

    text, taken = filter_code(code + "\n", "answer.py", "python")
    # how much was taken away before a sign: that of the first place from there on where something is taken away
    first = numpy.searchsorted(taken[:, 0], numpy.arange(len(text)))
    before = numpy.maximum.accumulate(taken[:, 1])  # that of a class's name is too small
    places = numpy.arange(len(text)) + numpy.append(before, len(code) + 1 - len(text))[first]
    ends = numpy.array([place for place, letter in enumerate(code) if letter == "\n"], dtype=int)
    return text, numpy.searchsorted(ends, places)


def runs(text):
    from copydetect.utils import hashed_kgrams

    return hashed_kgrams(text, RUN).tolist()


def handed_out(assignment):
    """The runs of an assignment, as it is handed out and with its solutions; its code is the same in all languages."""
    file = ROOT / "assignments" / "source" / "en" / f"{assignment}.ipynb"
    cells = code_cells(file) if file.is_file() else []
    cells += [SOLUTION.sub(r"\1raise NotImplementedError()", one) for one in cells]
    return {run for one in cells for run in runs(signs(one)[0])}


def in_the_book():
    """Those of the book's chapters, where they are at hand, and of the layers that it shows."""
    codes = [file.read_text(encoding="utf-8") for file in sorted((ROOT / "companion" / "layers").glob("*.py"))]
    codes += [one for file in sorted((ROOT / "book" / "en").glob("*.ipynb")) for one in code_cells(file)]
    return {run for one in codes for run in runs(signs(one)[0])}


def code_cells(file):
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    return ["".join(one["source"]) for one in cells if one["cell_type"] == "code"]


def pairs(all_graded):
    """The pairs of all assignments, what is most alike first: dictionaries with `students`, `assignment`, `numbers`, `pieces`, `both`."""
    book, found = None, []
    for assignment in dict.fromkeys(name for one in all_graded for name in one["assignments"]):
        written = {one["student"]: pieces(one, assignment) for one in all_graded}
        written = {student: there for student, there in written.items() if any(piece.runs for piece in there)}
        if len(written) > 1:
            book = in_the_book() if book is None else book
            found += [one | {"assignment": assignment} for one in alike(written, book | handed_out(assignment))]
    return sorted(found, key=lambda one: (-one["score"], one["students"]))


def pieces(graded, assignment):
    """What a student's answers are made of, each once: its functions and classes, and what stands above them."""
    mine = [one for one in graded["verdicts"] if one["assignment"] == assignment]
    asked = {reading.name_of(one["question"]): one["question"] for one in mine if one["question"] in all_questions()}
    there = {}
    for verdict in mine:
        for cell in verdict.get("code", ()):
            there.setdefault((cell["file"], cell["cell"]), (verdict["question"], cell))
    found = []
    for question, cell in there.values():
        lines = cell["lines"]
        starts = [place for place, line in enumerate(lines) if place and DEFINES.match(line)]
        for start, end in itertools.pairwise([0, *starts, len(lines)]):
            name = DEFINES.match(lines[start]) if lines else None
            part = cell | {"first": cell["first"] + start, "lines": lines[start:end]}
            found.append(Piece(asked.get(name and name[1], question), part))
    return found


def alike(written, known):
    """The pairs among students of one assignment. written: {student: pieces}; known: runs that say nothing."""
    own = {student: {run for piece in there for run in piece.runs} - known for student, there in written.items()}
    # what three write is never taken for everyone's: they may have it from each other
    many = max(3, min(MANY, len(written) // 6))
    counts = Counter(itertools.chain.from_iterable(own.values()))
    own = {student: {run for run in there if counts[run] <= many} for student, there in own.items()}
    who = {}
    for student, there in own.items():
        for run in there:
            who.setdefault(run, []).append(student)
    shared = Counter(pair for students in who.values() for pair in itertools.combinations(students, 2))
    for (one, other), count in shared.items():
        if count < LEAST / 2:  # a run may stand there more than once
            continue
        both = own[one] & own[other]
        numbers = [counted(written[student], own[student], both) for student in (one, other)]
        score = max(map(telling, numbers))
        if score:
            yield {"students": (one, other), "score": score, "numbers": numbers, "pieces": (written[one], written[other]), "both": both}


def counted(pieces, own, both):
    """Of each question how many runs are a student's own, and how many of these another's, too: {question: [own, both]}."""
    found = {}
    for piece in pieces:
        numbers = found.setdefault(piece.question, [0, 0])
        numbers[0] += sum(run in own for run in piece.runs)
        numbers[1] += sum(run in both for run in piece.runs)
    return found


def share(numbers):
    return sum(both for _, both in numbers) / max(1, sum(own for own, _ in numbers))


def telling(numbers):
    """The share that makes a pair, of all or of one question; 0 if there is none, or too little of it to say anything.

    Of two students the larger counts: who adds something of their own to a copy hides nothing.
    """
    groups = [([*numbers.values()], WHOLE), *(([one], ONE) for one in numbers.values())]
    told = [share(group) for group, least in groups if sum(both for _, both in group) >= LEAST and share(group) >= least]
    return max(told, default=0)


# The page


def page(all_graded, names, language):
    """names: of each student's page."""
    words, found = pages.words(language), pairs(all_graded)
    said, own = words["similar"], words["instructor"]
    body = [f"<h1>{said['title']}</h1>", f'<nav><a href="summary.html">{own["summary"]}</a></nav>']
    body += [pages.marked(said["about"].format(many=MANY)) if found else pages.marked(said["none"])]
    made = said["made"].format(count=len(all_graded), time=time.strftime("%Y-%m-%d %H:%M"))
    body.append(f'<p class="quiet">{made}</p>')
    heads, rows = [said[key] for key in ("share", "pair", "assignment")], []
    for number, one in enumerate(found[:PAIRS], 1):
        title = html.escape(said["two"].format(first=one["students"][0], second=one["students"][1]))
        rows.append((percents(one), f'<a href="#pair-{number}">{title}</a>', html.escape(one["assignment"])))
    body += [pages.table(heads, rows)] if found else []
    body += [f"<p>{said['more'].format(count=len(found) - PAIRS)}</p>"] if len(found) > PAIRS else []
    body += [section(number, one, names, words) for number, one in enumerate(found[:PAIRS], 1)]
    return pages.page(language, said["title"], "\n".join(body), pages.SORT, wide=True, style=STYLE)


def percents(one, question=None):
    """How much of each one's own code, or of that to a question, the other has, too."""
    parts = [[numbers.get(question, (0, 0))] if question else numbers.values() for numbers in one["numbers"]]
    return " · ".join(f"{round(100 * share(part))} %" for part in parts)


def section(number, one, names, words):
    """A pair: the passages of both, question by question."""
    title = words["similar"]["two"].format(first=one["students"][0], second=one["students"][1])
    body = [f'<h2 id="pair-{number}">{html.escape(title)}</h2>']
    body.append(f"<p>{html.escape(one['assignment'])}, {percents(one)}</p>")
    for sides in opposite(*one["pieces"], one["both"]):
        question = sides[0].question
        body.append(f'<h3><code>{question}</code> {percents(one, question)}</h3><div class="pair">')
        for student, piece in zip(one["students"], sides):
            link = f'<a href="review/{html.escape(names[student])}#{piece.question}">{html.escape(student)}</a>'
            shown = review.code(passage(piece, one["both"]), f"{student}, {piece.question}", words["instructor"])
            body.append(f"<div><h4>{link}</h4>{shown}</div>")
        body.append("</div>")
    return "\n".join(body)


def opposite(mine, theirs, both):
    """Each piece with something of both beside the other's that has the most of it."""
    shared = lambda one, other: len(both & {*one.runs} & {*other.runs})  # noqa: E731
    found = [(one, max(theirs, key=lambda other: shared(one, other))) for one in mine if both & {*one.runs}]
    there = [other for _, other in found]
    found += [(max(mine, key=lambda one: shared(one, other)), other) for other in theirs if both & {*other.runs} and other not in there]
    return [sides for sides in found if all(passage(piece, both) for piece in sides)]


def passage(piece, both):
    """The lines of a cell with what is in both, these marked, as a cell; None if there are none."""
    covered, to = Counter(), 0
    for place, run in enumerate(piece.runs):
        if run in both:
            covered.update(piece.lines[max(place, to) : place + RUN].tolist())
            to = place + RUN
    there = Counter(piece.lines.tolist())
    marked = sorted(line for line, count in covered.items() if 2 * count > there[line])
    if not marked:
        return None
    first, lines = max(0, marked[0] - AROUND), piece.cell["lines"]
    start = piece.cell["first"]
    return piece.cell | {
        "first": start + first, "lines": lines[first : marked[-1] + AROUND + 1], "named": [start + line for line in marked],
    }  # fmt: skip
