"""What the grader writes: a page for each student, grades.csv, and nbgrader's gradebook."""

import base64
import csv
import hashlib
import html
import io
import os
import re
import sys
import warnings
from functools import cache

from markdown_it import MarkdownIt

from assignments.words import words
from companion.check.engine import messages

STYLE = """
:root { color-scheme: light dark; --line: light-dark(#ccc, #555); --bar: light-dark(#2a6f97, #7cc0e8);
  background: light-dark(#fff, #16181c); color: light-dark(#1b1d20, #e6e7e9); }
a { color: light-dark(#0b57a4, #8fc7ff); }
body { font: 1rem/1.55 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
body { overflow-wrap: anywhere; } body.wide { max-width: 68rem; } .wide p { max-width: 46rem; }
h1 { font-size: 1.5rem; } h3 { font-size: 1rem; margin: 1.5rem 0 .5rem; }
h2 { font-size: 1.15rem; margin-top: 2rem; border-top: 1px solid var(--line); padding-top: 1rem; }
code { font-family: ui-monospace, monospace; background: light-dark(#eef0f2, #2a2d33); }
code { padding: 0 .2em; border-radius: 3px; }
.table { overflow-x: auto; } .table + .table { margin-top: 1rem; } table { border-collapse: collapse; min-width: 100%; }
th, td { text-align: left; padding: .25rem .8rem .25rem 0; vertical-align: top; border-bottom: 1px solid var(--line); }
th, td { overflow-wrap: normal; }
th button { font: inherit; font-weight: 650; color: inherit; background: none; border: 0; padding: 0; cursor: pointer; text-align: left; white-space: nowrap; }
th[aria-sort=ascending] button::after { content: " ▲"; } th[aria-sort=descending] button::after { content: " ▼"; }
summary { cursor: pointer; } td summary { white-space: nowrap; } .quiet { font-size: .9rem; } .bar { fill: var(--bar); } svg { max-width: 30rem; }
pre { overflow-x: auto; margin: .4rem 0 1rem; padding: .5rem 0; border: 1px solid var(--line); border-radius: 4px; }
pre code { background: none; padding: 0; } pre :is(span, mark) { counter-increment: line; }
mark { background: light-dark(#ffe08a, #6b5200); color: inherit; } td code { white-space: pre; }
pre :is(span, mark)::before { content: counter(line); display: inline-block; width: 2.6rem; margin-right: .8rem; text-align: right; color: light-dark(#5a6068, #a5abb3); }
pre mark::before { content: "→ " counter(line); color: inherit; } .shape { font-size: .85rem; display: block; }
.own pre { white-space: pre-wrap; padding: .5rem .8rem; } .own :is(del, ins) { text-decoration: none; display: block; }
.own del::before { content: "− "; } .own ins::before { content: "+ "; } .own > li { margin: 1rem 0; break-inside: avoid; }
.own ol { list-style: upper-alpha; } .own ol li { margin: .2rem 0; } .sheet h3 { break-after: avoid; }
@media print {
  :root { color-scheme: light; } body, body.wide { font-size: 10pt; max-width: none; margin: 0; padding: 0; }
  nav, .screen { display: none; } a { color: inherit; text-decoration: none; } th[aria-sort] button::after { content: none; }
  .table, pre { overflow: visible; } table { font-size: 9pt; } th button { display: contents; white-space: normal; }
  th, td { padding-right: .5rem; } td { overflow-wrap: anywhere; } td code { overflow-wrap: normal; } pre, td code { white-space: pre-wrap; }
  tr, svg { break-inside: avoid; } h1, h2, h3 { break-after: avoid; }
}
@media print { .sheet + .sheet { break-before: page; }
  .sheet { columns: 2; font-size: 8.5pt; line-height: 1.35; } .sheet h2 { margin: 0; padding: 0; border: 0; column-span: all; }
  .sheet .quiet { font-size: inherit; } .sheet ol { padding-left: 1.5rem; } .sheet :is(p, pre, ol) { margin: .25rem 0; } .sheet .own > li { margin: .6rem 0; } }
"""  # noqa: E501

# A click on a table's head sorts its rows by that column: by numbers where they begin with some, else by words.
SORT = """
for (const head of document.querySelectorAll("th[aria-sort]")) head.firstElementChild.addEventListener("click", () => {
  const up = head.getAttribute("aria-sort") !== "ascending", body = head.closest("table").tBodies[0];
  for (const other of head.parentElement.children) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  const said = (row) => row.cells[head.cellIndex].textContent.trim();
  const order = (a, b) => parseFloat(a) - parseFloat(b) || a.localeCompare(b, undefined, { numeric: true });
  body.append(...[...body.rows].sort((a, b) => (up ? 1 : -1) * order(said(a), said(b))));
});
"""


def number(points):
    return f"{points:g}"


@cache
def renderer():
    """Markdown of code, strong words and lists, no more. A link leads to the book's own site, or is none."""
    sites = tuple({messages.places(language)["site"] for language in messages.languages(messages.PLACES)} - {""})
    markdown = MarkdownIt("zero", {"html": False, "breaks": True})
    markdown.validateLink = lambda address: address.startswith(sites)
    return markdown.enable(["backticks", "emphasis", "link", "list", "newline"])


def marked(paragraph):
    """The checker's Markdown as HTML. Much of what is in it is the student's."""
    return renderer().render(paragraph)


def inline(text):
    """A line of the words as HTML, without a paragraph around it."""
    return renderer().renderInline(text)


def page(language, title, body, script="", wide=False, style=""):
    """A whole page, which asks nothing of any other and runs no script but this one of ours."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"; script-src 'sha256-{digest}'" if script else ""
    return (
        f'<!DOCTYPE html>\n<html lang="{words(language)["page"]["html"]}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src'
        f" 'unsafe-inline'{allowed}\">"
        f"<title>{html.escape(title)}</title><style>{STYLE}{style}</style></head>"
        f'<body class="{"wide" * wide}"><main>\n{body}\n</main>'
        f"{f'<script>{script}</script>' if script else ''}</body></html>\n"
    )


def marks(verdicts):
    """Points, the most there are, and those of stretch questions on top: whatever page shows them has them from
    here."""
    plain = [one for one in verdicts if not one["stretch"]]
    extra = sum(one["points"] for one in verdicts if one["stretch"])
    return sum(one["points"] for one in plain), sum(one["most"] for one in plain), extra


def total(verdicts, said):
    points, most, extra = marks(verdicts)
    key = "with_stretch" if extra else "total"
    return said[key].format(points=number(points), most=number(most), extra=number(extra))


def feedback(graded, below=lambda verdict, language: ""):
    """A student's page. graded: what store.py stores of a student; below: what stands below a verdict."""
    language = graded["language"]
    said = words(language)
    title = said["page"]["title"].format(assignment=", ".join(graded["assignments"]))
    body = [
        f"<h1>{html.escape(title)}</h1>",
        f"<p>{said['page']['student']}: {html.escape(graded.get('called', graded['student']))}</p>",
    ]
    body += beginning(graded, said)
    body += [about_question(one, said["page"]) + below(one, language) for one in graded["verdicts"]]
    walls = next((one["walls"] for one in graded["verdicts"] if one["walls"]), [])
    if walls:
        held = " · ".join(said["walls"][one] for one in said["walls"] if one in walls)
        body.append(f'<h2>{said["page"]["walls"]}</h2><p class="quiet">{held}</p>')
    body.append(f'<p class="quiet">{said["page"]["graded_at"]}</p>')
    return page(language, title, "\n".join(body))


def beginning(graded, said):
    """The points, and what is to be said of the files."""
    body = [f"<p><strong>{total(graded['verdicts'], said['page'])}</strong></p>", graded.get("told", "")]
    if graded["remarks"]:
        items = [
            f"<li>{inline(said['remarks'].get(key, key))}{' <code>' + html.escape(file) + '</code>' if file else ''}</li>"  # noqa: E501
            for key, file in graded["remarks"]
        ]
        body.append(f"<h2>{said['page']['remarks']}</h2><ul>{''.join(items)}</ul>")
    return body


def about_question(verdict, said):
    """A question's piece of a student's page."""
    extra = "".join(f" ({said[key]})" for key in ("stretch", "by_hand") if verdict.get(key))
    head = f"<h2><code>{verdict['question']}</code> {number(verdict['points'])} / {verdict['most']}{extra}</h2>"
    remarks = [f'<div class="quiet">{marked(remark)}</div>' for remark in verdict["remarks"]]
    return "\n".join([head, *map(marked, verdict["paragraphs"]), *remarks])


def table(heads, rows, label="", sorts=True):
    """A table whose rows can be sorted: heads are words, rows are HTML. label: what it is, beside others of such
    heads."""
    tag, button = ('th aria-sort="none"', '<button type="button">{}</button>') if sorts else ("th", "{}")
    head = "".join(f"<{tag}>{button.format(html.escape(one))}</th>" for one in heads)
    lines = ["<tr>" + "".join(f"<td>{one}</td>" for one in row) + "</tr>" for row in rows]
    inside = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    return (
        '<div class="table" tabindex="0" role="group"'
        f' aria-label="{html.escape(label or ", ".join(heads))}">{inside}</div>'
    )


# Tables and databases


def with_points_by_hand(all_graded, by_hand):
    """What is stored of all students, with these points instead: {(student, question): points}."""
    return [
        one | {"verdicts": [
            verdict | {"points": by_hand[key], "by_hand": True} if key in by_hand else verdict
            for verdict in one["verdicts"]
            for key in [(one["student"], verdict["question"])]
        ]}
        for one in all_graded
    ]  # fmt: skip


FORMULA = re.compile(r"""(^|[,;|\t"])(?=\s*[=+\-@\t\r\n＝＋－＠])""")


def cell(text):
    """A spreadsheet takes what begins so for a formula, in Japan also the wide letters; and where commas are decimal
    marks it splits at semicolons, so that a name has several beginnings."""
    return FORMULA.sub(r"\1'", text)


def grades_csv(all_graded):
    """The table as text."""
    file = io.StringIO()
    file.write("\ufeff")  # without this mark Excel reads names in UTF-8 as those of an old Windows
    writer = csv.writer(file, lineterminator="\n")
    dated = any("late" in one for one in all_graded)
    writer.writerow(("student", "question", "points", "mistake", *(("before", "after", "late") if dated else ())))
    for one in all_graded:
        for verdict in one["verdicts"]:
            mistakes = " ".join(verdict["mistakes"])
            row = cell(one["student"]), verdict["question"], number(verdict["points"]), mistakes
            writer.writerow((*row, *(dated_columns(one, verdict) if dated else ())))
    return file.getvalue()


def dated_columns(graded, verdict):
    """A question's points before and after what its assignment loses by being late, and by how many hours it is."""
    item, points = graded.get("late", {}).get(verdict["assignment"]), verdict["points"]
    if not item:
        return number(points), number(points), ""
    share = item["after"] / item["before"] if item["before"] else 1
    hours = "" if item["late"] is None else number(round(item["late"].total_seconds() / 3600, 2))
    return number(points), number(round(points * share, 4)), hours


def gradebook(path, all_graded):
    """Writes assignments, students and points where nbgrader keeps them. ImportError where nbgrader is not installed.

    Scores that were given by hand stay, and are returned: {(student, question): points}. Where the grader's own have
    changed since, nbgrader asks for another look.
    """
    from nbgrader.api import Grade, Gradebook, MissingEntry

    # nbgrader calls a program beside this Python, whose folder is on the path only of those who activated it
    folder = os.path.dirname(sys.executable)
    if folder not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([folder, os.environ.get("PATH", "")])
    by_hand = {}
    with warnings.catch_warnings(), Gradebook(f"sqlite:///{path}") as book:
        warnings.simplefilter("ignore")  # of nbgrader's own use of its database
        set_assignments(book, all_graded)
        for one in all_graded:
            student = one["student"]
            book.update_or_create_student(student)
            for assignment in one["assignments"]:
                book.update_or_create_submission(assignment, student)
            for verdict in one["verdicts"]:
                name, assignment = f"{verdict['question']}-points", verdict["assignment"]
                try:
                    grade = book.find_grade(name, assignment, assignment, student)
                except MissingEntry:  # the question was not there when this student's first grades were written
                    cell = book.find_grade_cell(name, assignment, assignment)
                    notebook = book.find_submission_notebook(assignment, assignment, student)
                    grade = Grade(cell_id=cell.id, notebook=notebook)
                    book.db.add(grade)
                if grade.manual_score is None:
                    grade.needs_manual_grade = False
                else:
                    by_hand[student, verdict["question"]] = grade.manual_score + (grade.extra_credit or 0)
                    grade.needs_manual_grade |= grade.auto_score not in (None, verdict["points"])
                grade.auto_score = verdict["points"]
        book.db.commit()
    return by_hand


def set_assignments(book, all_graded):
    """Each assignment with a cell of points for each of its questions."""
    verdicts = {(one["assignment"], one["question"]): one for graded in all_graded for one in graded["verdicts"]}
    for assignment in dict.fromkeys(name for one in all_graded for name in one["assignments"]):
        book.update_or_create_assignment(assignment)
        book.update_or_create_notebook(assignment, assignment)
    for (assignment, question), one in verdicts.items():
        most = 0 if one["stretch"] else one["most"]
        book.update_or_create_grade_cell(f"{question}-points", assignment, assignment, max_score=most, cell_type="code")
