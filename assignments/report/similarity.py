"""Pairs of submissions that are more alike than the assignment makes them: grades/similar.html, with --similar.

copydetect compares the code that is stored with the grades (review.py bounds it). It puts one sign for each name, drops
spaces and comments, and takes each run of 25 signs as a fingerprint: so new names, other comments and another order
hide nothing. Left out is what the assignment hands out, its solutions, the book's own code, and what many write.

The page says where to look, and decides nothing. Nothing leaves the machine.
"""

import html
import io
import itertools
import json
import re
import time
from collections import Counter
from functools import cache
from pathlib import Path

from assignments.read import answers
from assignments.report import pages, review
from companion.check.engine.question import all_questions

ROOT = Path(__file__).resolve().parents[2]
RUN = 25  # signs: about a line and a half
MANY = 10  # what more students than these write is the assignment's own; in a small class, than a sixth of all
WHOLE, ONE, LEAST = (
    0.5,
    0.8,
    175,
)  # shares of an assignment and of one question that make a pair, and how many signs it takes
PAIRS, AROUND = 40, 2  # pairs that are shown; lines around a passage
SOLUTION = re.compile(r"^( *)### BEGIN SOLUTION.*?### END SOLUTION", re.DOTALL | re.MULTILINE)
DEFINES = re.compile(r"(?:async )?(?:def|class) +(\w+)")
STYLE = """
.pair { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 1rem; } .pair h4 { margin: 0; }
@media (max-width: 45rem) { .pair { grid-template-columns: minmax(0, 1fr); } }
"""
HEAD = "#\n"  # without it, Pygments drops blank lines at the beginning, and places are wrong


def fingerprint(code, boilerplate=()):
    from copydetect import CodeFingerprint

    return CodeFingerprint("answer.py", RUN, 1, boilerplate, language="python", fp=io.StringIO(HEAD + code + "\n"))


def handed_out(assignment):
    """Return the fingerprints of an assignment, with and without its solutions; its code is the same in all
    languages."""
    file = ROOT / "assignments" / "source" / "en" / f"{assignment}.ipynb"
    cells = code_cells(file) if file.is_file() else []
    cells += [SOLUTION.sub(r"\1raise NotImplementedError()", one) for one in cells]
    return set().union(*(fingerprint(one).hashes for one in cells))


def in_the_book():
    """Return the fingerprints of the book's chapters, if they are here, and of the layers that it shows."""
    codes = [file.read_text(encoding="utf-8") for file in sorted((ROOT / "companion" / "layers").glob("*.py"))]
    codes += [one for file in sorted((ROOT / "book" / "en").glob("*.ipynb")) for one in code_cells(file)]
    return set().union(*(fingerprint(one).hashes for one in codes))


def code_cells(file):
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    return ["".join(one["source"]) for one in cells if one["cell_type"] == "code"]


def pairs(all_graded):
    """Return the pairs of all assignments, the most alike first: dictionaries with `students`, `assignment`, `score`,
    and {question: (shares of both, passages of both)} as `found`, where "" stands for all questions."""
    book, found = None, []
    for assignment in dict.fromkeys(name for one in all_graded for name in one["assignments"]):
        written = {one["student"]: pieces(one, assignment) for one in all_graded}
        written = {student: there for student, there in written.items() if there}
        if len(written) > 1:
            book = in_the_book() if book is None else book
            found += [one | {"assignment": assignment} for one in alike(written, book | handed_out(assignment))]
    return sorted(found, key=lambda one: (-one["score"], one["students"]))


def pieces(graded, assignment):
    """Return a student's functions and classes by question, each as a cell. "" has all of them."""
    mine = [one for one in graded["verdicts"] if one["assignment"] == assignment]
    asked = {answers.name_of(one["question"]): one["question"] for one in mine if one["question"] in all_questions()}
    there, found = {}, {}
    for verdict in mine:
        for cell in verdict.get("code", ()):
            there.setdefault((cell["file"], cell["cell"]), (verdict["question"], cell))
    for question, cell in there.values():
        lines = cell["lines"]
        starts = [place for place, line in enumerate(lines) if place and DEFINES.match(line)]
        for start, end in itertools.pairwise([0, *starts, len(lines)]):
            name = DEFINES.match(lines[start]) if lines else None
            part = cell | {"first": cell["first"] + start, "lines": lines[start:end]}
            for key in ("", asked.get(name and name[1], question)):
                found.setdefault(key, []).append(part)
    return found


def text_of(cells, mark="\ue000"):
    """Return the code of cells. mark: a sign of one student alone, so that no run reaches from one cell to the next."""
    return f"\n{mark}\n".join("\n".join(cell["lines"]) for cell in cells)


def alike(written, known):
    """Yield the pairs among students of one assignment. written: {student: pieces}; known: fingerprints that say
    nothing."""
    from copydetect import compare_files

    texts = {student: {key: text_of(cells, chr(0xF0000 + number)) for key, cells in there.items()}
             for number, (student, there) in enumerate(written.items())}  # fmt: skip
    own = {student: fingerprint(there[""]).hashes for student, there in texts.items()}
    counts = Counter(itertools.chain.from_iterable(own.values()))
    # what three write is never taken for everyone's: they may have it from each other
    many = max(3, min(MANY, len(written) // 6))
    known = {one for one, count in counts.items() if count > many or one in known}
    own = {student: there - known for student, there in own.items()}
    print_of = cache(lambda student, key: fingerprint(texts[student][key], [*known]))
    for first, second in itertools.combinations(written, 2):
        if len(own[first] & own[second]) < (LEAST - RUN) / 2:  # a run may stand there more than once
            continue
        compared = {
            key: compare_files(print_of(first, key), print_of(second, key))
            for key in texts[first].keys() & texts[second].keys()
        }
        compared = {key: result for key, result in compared.items() if result[0]}
        told = [
            max(shares)
            for key, (count, shares, _) in compared.items()
            if count >= LEAST and max(shares) >= (ONE if key else WHOLE)
        ]
        if told:
            found = {
                key: (shares, [passages(written[student][key], part) for student, part in zip((first, second), slices)])
                for key, (_, shares, slices) in compared.items()
            }
            yield {"students": (first, second), "score": max(told), "found": found}


def passages(cells, slices):
    """Return the lines of cells with what is alike, these marked, each cell's as a cell. slices: of their text."""
    alike, found, place = {place for start, end in slices.T.astype(int) for place in range(start, end)}, [], len(HEAD)
    for cell in cells:
        marked = []
        for number, line in enumerate(cell["lines"]):
            if 2 * len(alike.intersection(range(place, place + len(line)))) > len(line):
                marked.append(number)
            place += len(line) + 1
        place += 2  # the mark between two cells
        if marked:
            first = max(0, marked[0] - AROUND)
            named = [cell["first"] + number for number in marked]
            found.append(
                cell
                | {
                    "first": cell["first"] + first,
                    "lines": cell["lines"][first : marked[-1] + AROUND + 1],
                    "named": named,
                }
            )
    return found


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
        rows.append(
            (percents(one["found"][""]), f'<a href="#pair-{number}">{title}</a>', html.escape(one["assignment"]))
        )
    body += [pages.table(heads, rows)] if found else []
    body += [f"<p>{said['more'].format(count=len(found) - PAIRS)}</p>"] if len(found) > PAIRS else []
    body += [section(number, one, names, words) for number, one in enumerate(found[:PAIRS], 1)]
    return pages.page(language, said["title"], "\n".join(body), pages.SORT, wide=True, style=STYLE)


def percents(found):
    """Return how much of each one's own code the other has, too."""
    return " · ".join(f"{round(100 * min(1, share))} %" for share in found[0])


def section(number, one, names, words):
    """Return a pair: the passages of both, question by question."""
    title = words["similar"]["two"].format(first=one["students"][0], second=one["students"][1])
    body = [f'<h2 id="pair-{number}">{html.escape(title)}</h2>']
    body.append(f"<p>{html.escape(one['assignment'])}, {percents(one['found'][''])}</p>")
    # what went from one question's cell to another's is only found among all
    for question in sorted(key for key in one["found"] if key) or [""]:
        body.append(
            f"<h3><code>{question or one['assignment']}</code> {percents(one['found'][question])}</h3><div"
            ' class="pair">'
        )
        for student, cells in zip(one["students"], one["found"][question][1]):
            link = f'<a href="review/{html.escape(names[student])}#{question}">{html.escape(student)}</a>'
            shown = "".join(review.code(cell, f"{student}, {question}", words["instructor"]) for cell in cells)
            body.append(f"<div><h4>{link}</h4>{shown}</div>")
        body.append("</div>")
    return "\n".join(body)
