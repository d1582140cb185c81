"""Find pairs of submissions that are too much alike: grades/similar.html, with --similar.

copydetect compares the code that is stored with the grades (review.py limits its size). It replaces names by one sign,
drops spaces and comments, and takes each run of 25 signs as a fingerprint, so new names, other comments and another
order hide nothing. Not compared are the assignment's own cells, its solutions, the book's code, and what many write.

The page says where to look and decides nothing. No data leaves the machine.
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
RUN = 25  # signs of a fingerprint: about a line and a half
MANY = 10  # code of more students than these is not compared; in a small class, of more than a sixth
# A pair has these shares of an assignment or of one question in common, and at least so many signs.
WHOLE, ONE, LEAST = 0.5, 0.8, 175
PAIRS, AROUND = 40, 2  # pairs shown; lines around a passage
SOLUTION = re.compile(r"^( *)### BEGIN SOLUTION.*?### END SOLUTION", re.DOTALL | re.MULTILINE)
DEFINES = re.compile(r"(?:async )?(?:def|class) +(\w+)")
STYLE = """
.pair { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 1rem; } .pair h4 { margin: 0; }
@media (max-width: 45rem) { .pair { grid-template-columns: minmax(0, 1fr); } }
"""
HEAD = "#\n"  # keeps Pygments from dropping leading blank lines, which would shift positions


def fingerprint(code, boilerplate=()):
    from copydetect import CodeFingerprint

    return CodeFingerprint("answer.py", RUN, 1, boilerplate, language="python", fp=io.StringIO(HEAD + code + "\n"))


def assignment_fingerprints(assignment):
    """Return the fingerprints of an assignment's code with and without solutions; it is the same in all languages."""
    file = ROOT / "assignments" / "source" / "en" / f"{assignment}.ipynb"
    cells = code_cells(file) if file.is_file() else []
    cells += [SOLUTION.sub(r"\1raise NotImplementedError()", cell) for cell in cells]
    return set().union(*(fingerprint(cell).hashes for cell in cells))


def book_fingerprints():
    """Return the fingerprints of the chapters, if they are installed, and of the layers that they show."""
    codes = [file.read_text(encoding="utf-8") for file in sorted((ROOT / "companion" / "layers").glob("*.py"))]
    codes += [cell for file in sorted((ROOT / "book" / "en").glob("*.ipynb")) for cell in code_cells(file)]
    return set().union(*(fingerprint(code).hashes for code in codes))


def code_cells(file):
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def pairs(all_graded):
    """Return the pairs of all assignments, the most alike first.

    Each has `students`, `assignment`, `score`, and as `matches` {question: (shares of both, passages of both)}, where
    "" stands for all questions.
    """
    book, all_pairs = None, []
    for assignment in dict.fromkeys(name for graded in all_graded for name in graded["assignments"]):
        code_of = {graded["student"]: functions_by_question(graded, assignment) for graded in all_graded}
        code_of = {student: cells for student, cells in code_of.items() if cells}
        if len(code_of) > 1:
            book = book_fingerprints() if book is None else book
            all_pairs += [
                pair | {"assignment": assignment}
                for pair in find_pairs(code_of, book | assignment_fingerprints(assignment))
            ]
    return sorted(all_pairs, key=lambda pair: (-pair["score"], pair["students"]))


def functions_by_question(graded, assignment):
    """Return a student's functions and classes by question, each as a cell; "" holds all of them."""
    verdicts = [verdict for verdict in graded["verdicts"] if verdict["assignment"] == assignment]
    questions = [verdict["question"] for verdict in verdicts if verdict["question"] in all_questions()]
    question_of = {answers.name_of(question): question for question in questions}
    cells, functions = {}, {}
    for verdict in verdicts:
        for cell in verdict.get("code", ()):
            cells.setdefault((cell["file"], cell["cell"]), (verdict["question"], cell))
    for question, cell in cells.values():
        lines = cell["lines"]
        starts = [number for number, line in enumerate(lines) if number and DEFINES.match(line)]
        for start, end in itertools.pairwise([0, *starts, len(lines)]):
            name = DEFINES.match(lines[start]) if lines else None
            part = cell | {"first": cell["first"] + start, "lines": lines[start:end]}
            for key in ("", question_of.get(name and name[1], question)):
                functions.setdefault(key, []).append(part)
    return functions


def text_of(cells, mark="\ue000"):
    """Return the code of cells. mark: a sign unique to the student, so that no run extends over two cells."""
    return f"\n{mark}\n".join("\n".join(cell["lines"]) for cell in cells)


def find_pairs(code_of, boilerplate):
    """Yield the pairs among students of one assignment.

    code_of: {student: {question: cells}}. boilerplate: fingerprints that everyone may share.
    """
    from copydetect import compare_files

    texts = {student: {key: text_of(cells, chr(0xF0000 + number)) for key, cells in cells_of.items()}
             for number, (student, cells_of) in enumerate(code_of.items())}  # fmt: skip
    hashes = {student: fingerprint(texts_of[""]).hashes for student, texts_of in texts.items()}
    counts = Counter(itertools.chain.from_iterable(hashes.values()))
    # code that three students share is always compared: they may have copied it
    many = max(3, min(MANY, len(code_of) // 6))
    boilerplate = {hash_value for hash_value, count in counts.items() if count > many or hash_value in boilerplate}
    hashes = {student: own - boilerplate for student, own in hashes.items()}
    print_of = cache(lambda student, key: fingerprint(texts[student][key], [*boilerplate]))
    for first, second in itertools.combinations(code_of, 2):
        if len(hashes[first] & hashes[second]) < (LEAST - RUN) / 2:  # a run may occur more than once
            continue
        compared = {
            key: compare_files(print_of(first, key), print_of(second, key))
            for key in texts[first].keys() & texts[second].keys()
        }
        compared = {key: result for key, result in compared.items() if result[0]}
        scores = [
            max(shares)
            for key, (count, shares, _) in compared.items()
            if count >= LEAST and max(shares) >= (ONE if key else WHOLE)
        ]
        if scores:
            matches = {
                key: (shares, [passages(code_of[student][key], part) for student, part in zip((first, second), slices)])
                for key, (_, shares, slices) in compared.items()
            }
            yield {"students": (first, second), "score": max(scores), "matches": matches}


def passages(cells, slices):
    """Return the lines of cells that are alike, with some around them, as cells.

    slices: begin and end of each run in the cells' text.
    """
    alike = {position for start, end in slices.T.astype(int) for position in range(start, end)}
    excerpts, position = [], len(HEAD)
    for cell in cells:
        marked = []
        for number, line in enumerate(cell["lines"]):
            if 2 * len(alike.intersection(range(position, position + len(line)))) > len(line):
                marked.append(number)
            position += len(line) + 1
        position += 2  # the mark between two cells
        if marked:
            first = max(0, marked[0] - AROUND)
            named = [cell["first"] + number for number in marked]
            lines = cell["lines"][first : marked[-1] + AROUND + 1]
            excerpts.append(cell | {"first": cell["first"] + first, "lines": lines, "named": named})
    return excerpts


# The page


def page(all_graded, names, language):
    """Return similar.html. names: {student: page}."""
    words, all_pairs = pages.words(language), pairs(all_graded)
    texts, labels = words["similar"], words["instructor"]
    body = [f"<h1>{texts['title']}</h1>", f'<nav><a href="summary.html">{labels["summary"]}</a></nav>']
    body += [
        pages.render_markdown(texts["about"].format(many=MANY)) if all_pairs else pages.render_markdown(texts["none"])
    ]
    made = texts["made"].format(count=len(all_graded), time=time.strftime("%Y-%m-%d %H:%M"))
    body.append(f'<p class="quiet">{made}</p>')
    heads, rows = [texts[key] for key in ("share", "pair", "assignment")], []
    for number, pair in enumerate(all_pairs[:PAIRS], 1):
        title = html.escape(texts["two"].format(first=pair["students"][0], second=pair["students"][1]))
        rows.append(
            (percents(pair["matches"][""]), f'<a href="#pair-{number}">{title}</a>', html.escape(pair["assignment"]))
        )
    body += [pages.table(heads, rows)] if all_pairs else []
    body += [f"<p>{texts['more'].format(count=len(all_pairs) - PAIRS)}</p>"] if len(all_pairs) > PAIRS else []
    body += [section(number, pair, names, words) for number, pair in enumerate(all_pairs[:PAIRS], 1)]
    return pages.page(language, texts["title"], "\n".join(body), pages.SORT, wide=True, style=STYLE)


def percents(match):
    """Return for both students how much of their own code the other has, too."""
    return " · ".join(f"{round(100 * min(1, share))} %" for share in match[0])


def section(number, pair, names, words):
    """Return the section of a pair: the passages of both, question by question."""
    title = words["similar"]["two"].format(first=pair["students"][0], second=pair["students"][1])
    body = [f'<h2 id="pair-{number}">{html.escape(title)}</h2>']
    body.append(f"<p>{html.escape(pair['assignment'])}, {percents(pair['matches'][''])}</p>")
    # code moved to another question's cell is found only under ""
    for question in sorted(key for key in pair["matches"] if key) or [""]:
        body.append(
            f"<h3><code>{question or pair['assignment']}</code> {percents(pair['matches'][question])}</h3><div"
            ' class="pair">'
        )
        for student, cells in zip(pair["students"], pair["matches"][question][1]):
            link = f'<a href="review/{html.escape(names[student])}#{question}">{html.escape(student)}</a>'
            shown = "".join(review.code_html(cell, f"{student}, {question}", words["instructor"]) for cell in cells)
            body.append(f"<div><h4>{link}</h4>{shown}</div>")
        body.append("</div>")
    return "\n".join(body)
