"""HTML of the grader's pages, and the page of a student."""

import base64
import hashlib
import html
from functools import cache

from markdown_it import MarkdownIt

from assignments.report import comments
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
.comment { border-left: .25rem solid var(--bar); padding-left: .8rem; margin: 1rem 0; } .comment p { margin: .2rem 0; }
.said { white-space: pre-wrap; }
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

# A click on a table's head sorts its rows by that column, numerically if cells begin with a number.
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


MAX_NAMES = 10  # of files on a page


def format_number(points):
    return f"{points:g}"


@cache
def renderer():
    """Return a renderer of Markdown that allows code, bold, lists, and links to the book's own site, no other."""
    sites = tuple({messages.places(language)["site"] for language in messages.languages(messages.PLACES)} - {""})
    markdown = MarkdownIt("zero", {"html": False, "breaks": True})
    markdown.validateLink = lambda address: address.startswith(sites)
    return markdown.enable(["backticks", "emphasis", "link", "list", "newline"])


def render_markdown(paragraph):
    """Return the checker's Markdown as HTML. Much of it is the student's text."""
    return renderer().render(paragraph)


def render_inline(text):
    """Return a line of Markdown as HTML, without a paragraph around it."""
    return renderer().renderInline(text)


def page(language, title, body, script="", wide=False, style=""):
    """Return a whole page, which loads nothing and runs only `script`."""
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


def sum_points(verdicts):
    """Return points, the maximum, and points of stretch questions; all pages use this sum."""
    required = [verdict for verdict in verdicts if not verdict["stretch"]]
    extra = sum(verdict["points"] for verdict in verdicts if verdict["stretch"])
    return sum(verdict["points"] for verdict in required), sum(verdict["most"] for verdict in required), extra


def format_total(verdicts, texts):
    points, most, extra = sum_points(verdicts)
    key = "with_stretch" if extra else "total"
    return texts[key].format(points=format_number(points), most=format_number(most), extra=format_number(extra))


def student_page(graded, below=lambda verdict, language: ""):
    """Return a student's page. graded: the student's result. below: function that adds HTML below a verdict."""
    language = graded["language"]
    texts = words(language)
    title = texts["page"]["title"].format(assignment=", ".join(graded["assignments"]))
    body = [
        f"<h1>{html.escape(title)}</h1>",
        f"<p>{texts['page']['student']}: {html.escape(graded.get('called', graded['student']))}</p>",
    ]
    body += points_and_remarks(graded, texts)
    together = [
        verdict for verdict in graded["verdicts"]
        if verdict["mistakes"] == ["no_answer"] and not verdict["remarks"]
        and not verdict.get("by_hand") and not verdict.get("comment")
    ]  # fmt: skip
    together = together if len(together) > 1 else []
    body += [
        question_section(verdict, texts["page"]) + below(verdict, language)
        for verdict in graded["verdicts"]
        if verdict not in together
    ]
    body += [questions_together(together, texts["page"])] if together else []
    protections = next((verdict["walls"] for verdict in graded["verdicts"] if verdict["walls"]), [])
    if protections:
        held = " · ".join(texts["walls"][protection] for protection in texts["walls"] if protection in protections)
        body.append(f'<h2>{texts["page"]["walls"]}</h2><p class="quiet">{held}</p>')
    body.append(f'<p class="quiet">{texts["page"]["graded_at"]}</p>')
    return page(language, title, "\n".join(body))


def points_and_remarks(graded, texts):
    """Return the points, the note on lateness, comments on whole submissions, and the remarks about files."""
    body = [f"<p><strong>{format_total(graded['verdicts'], texts['page'])}</strong></p>", graded.get("told", "")]
    for assignment, comment in graded.get("comments", {}).items():
        about = f" <code>{html.escape(assignment)}</code>" if len(graded["assignments"]) > 1 else ""
        body.append(comments.section(comment, texts["page"], about))
    if graded["remarks"]:
        items = [
            f"<li>{render_inline(text)}{' <code>' * bool(files)}{'</code>, <code>'.join(map(html.escape, files))}"
            f"{'</code>' * bool(files)}{more}</li>"
            for text, files, more in remark_lines(graded["remarks"], texts)
        ]
        body.append(f"<h2>{texts['page']['remarks']}</h2><ul>{''.join(items)}</ul>")
    return body


def remark_lines(remarks, texts):
    """Return (text, files, text about other files) for each kind of remark, with at most MAX_NAMES files in all."""
    files_of, left = {}, MAX_NAMES
    for key, file in remarks:
        files_of.setdefault(key, []).extend([file] if file else [])
    lines = []
    for key, files in files_of.items():
        shown, others = files[:left], len(files[left:])
        left -= len(shown)
        more = f" {texts['page']['and_others'].format(count=others)}" if others else ""
        lines.append((texts["remarks"].get(key, key), shown, more))
    return lines


def question_section(verdict, texts):
    """Return the section of a question."""
    extra = "".join(f" ({texts[key]})" for key in ("stretch", "by_hand") if verdict.get(key))
    head = f"<h2><code>{verdict['question']}</code> {format_number(verdict['points'])} / {verdict['most']}{extra}</h2>"
    remarks = [f'<div class="quiet">{render_markdown(remark)}</div>' for remark in verdict["remarks"]]
    comment = comments.section(verdict.get("comment"), texts)
    return "\n".join([head, *map(render_markdown, verdict["paragraphs"]), *remarks, comment])


def questions_together(verdicts, texts):
    """Return one section for several questions to which the same applies."""
    heads = [
        f"<code>{verdict['question']}</code> {format_number(verdict['points'])} / {verdict['most']}"
        + (f" ({texts['stretch']})" if verdict["stretch"] else "")
        for verdict in verdicts
    ]
    return "\n".join([f"<h2>{' · '.join(heads)}</h2>", *map(render_markdown, verdicts[0]["paragraphs"])])


def table(heads, rows, label="", sorts=True):
    """Return a table that can be sorted by its columns.

    heads: text. rows: HTML. label: the table's name for screen readers, if the heads do not tell.
    """
    tag, button = ('th aria-sort="none"', '<button type="button">{}</button>') if sorts else ("th", "{}")
    head = "".join(f"<{tag}>{button.format(html.escape(head_text))}</th>" for head_text in heads)
    lines = ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows]
    inside = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    return (
        '<div class="table" tabindex="0" role="group"'
        f' aria-label="{html.escape(label or ", ".join(heads))}">{inside}</div>'
    )
