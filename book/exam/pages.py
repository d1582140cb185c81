"""HTML of an exam: the students' papers, the key, and sheets of answers to hand back."""

from html import escape

from pygments.formatters import HtmlFormatter

from book.editions import BOOK, read
from book.questions.markup import blocks, inline
from book.questions.parts import interface
from book.questions.places import heading_of

LETTERS = "ABCD"
STYLE = """
@page { size: %s; margin: 16mm 16mm 20mm; @bottom-left { font: 9pt sans-serif; } @bottom-right { content: counter(page) " / " counter(pages); font: 9pt sans-serif; } }
:root { color-scheme: light; } body { font: 10.5pt/1.45 system-ui, sans-serif; max-width: 46rem; margin: 0 auto; color: #000; background: #fff; }
h1 { font-size: 15pt; margin: 0 0 .5rem; } h2 { font-size: 11pt; margin: 0; break-after: avoid; }
.paper + .paper { break-before: page; }
.work { height: 16mm; } .wrong ol { list-style: decimal; }
header { display: flex; flex-wrap: wrap; gap: .25rem 2rem; padding-bottom: .5rem; border-bottom: 1px solid #000; }
header p { margin: 0; } header .name { flex: 1 1 14rem; }
section { margin: 1rem 0; break-inside: avoid; } section > header { border: 0; padding: 0; justify-content: space-between; }
p { margin: .35rem 0; } ol { list-style: upper-alpha; margin: .35rem 0; padding-left: 1.75rem; } li { margin: .2rem 0; }
pre, code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .92em; } pre { margin: .35rem 0; padding: .4rem .6rem; border: 1px solid #999; white-space: pre-wrap; overflow-wrap: anywhere; }
.blank { display: inline-block; width: 12rem; border-bottom: 1px solid #000; } .quiet { color: #444; font-size: .9em; }
table { border-collapse: collapse; } th, td { border: 1px solid #999; padding: .15rem .4rem; text-align: center; } thead { display: table-header-group; } tr { break-inside: avoid; }
@media screen { body { padding: 1rem; } }
"""  # noqa: E501


def document(body, language, paper, title, more=""):
    """Return a whole HTML page. paper: A4 or Letter. more: further styles."""
    style = STYLE % paper + HtmlFormatter(style="bw").get_style_defs(".highlight") + more
    return (
        f'<!DOCTYPE html><html lang="{read(BOOK / language).html}"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title>"
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{style}</style></head>'
        f"<body>{body}</body></html>"
    )


def label(papers, words):
    """Return a style that puts number and name of a paper below each of its pages, if it is the only one."""
    if len(papers) > 1:
        return ""
    text = paper_heading(papers[0], words["paper"]).replace("\\", r"\5c ").replace('"', r"\22 ").replace("<", r"\3c ")
    return f'@page {{ @bottom-left {{ content: "{text}" }} }}'


def exam(papers, points, language, paper, title, minutes=None):
    """Return the HTML of papers. points: kind of a question → its points."""
    words = interface(language)
    title = title or words["exam"]
    time = f"{words['time'].format(minutes=minutes)} " if minutes else ""
    body = ""
    for one in papers:
        sections = "".join(
            question_section(number, question, points, words) for number, question in enumerate(one.questions, start=1)
        )
        name = escape(one.name) or '<span class="blank"></span>'
        score = words["score"].format(score=f"____ / {one.points}")
        body += (
            f'<div class="paper"><h1>{escape(title)}</h1>'
            f'<header><p class="name">{words["name"].format(name=name)}</p>'
            f"<p>{words['paper'].format(number=one.number)}</p><p>{score}</p></header>"
            f'<p class="quiet">{time}{words["instructions"]}</p>{sections}</div>'
        )
    return document(body, language, paper, title, label(papers, words))


def question_section(number, question, points, words):
    """Return a question on a paper: with choices, or with a line for a number."""
    if question.kind == "number":
        answer = f'<div class="work"></div><p>{words["answer"]} <span class="blank"></span></p>'
    else:
        answer = f"<ol>{''.join(f'<li>{inline(choice.text)}</li>' for choice in question.choices)}</ol>"
    return f"<section>{heading(number, question, points, words)}{blocks(question.ask)}{answer}</section>"


def heading(number, question, points, words):
    return (
        f"<header><h2>{words['question'].format(number=number)}</h2>"
        f'<p class="quiet">{words["points"].format(points=points[question.kind])}</p></header>'
    )


def right_answer(question):
    """Return the letter of the right choice, or the right number as HTML."""
    if question.kind == "number":
        return inline(question.right.text)
    return LETTERS[question.choices.index(question.right)]


def key(papers, points, language, paper, title):
    """Return the HTML of the key: a table with a row for each paper, then the known wrong numbers of each paper."""
    words = interface(language)
    title = words["key_title"].format(title=title or words["exam"])
    questions = papers[0].questions
    numbers = "".join(f"<th>{number}</th>" for number in range(1, len(questions) + 1))
    values = "".join(f"<td>{points[question.kind]}</td>" for question in questions)
    rows = "".join(
        f"<tr><th>{one.number}</th><td>{escape(one.name)}</td>"
        + "".join(f"<td>{right_answer(question)}</td>" for question in one.questions)
        + "<td></td></tr>"
        for one in papers
    )
    table = (
        f"<table><thead><tr><th></th><th></th>{numbers}<th>{words['total']}</th></tr><tr><th></th>"
        f"<th>{words['points_head']}</th>{values}<td>{papers[0].points}</td></tr></thead><tbody>{rows}</tbody></table>"
    )
    body = f"<h1>{escape(title)}</h1><p>{words['key_hint']}</p>{table}<h1>{words['known']}</h1>"
    for one in papers:
        items = "".join(
            f'<li value="{number}"><b>{right_answer(question)}</b><p class="quiet">{wrong_numbers(question)}</p></li>'
            for number, question in enumerate(one.questions, start=1)
            if question.kind == "number"
        )
        body += (
            f'<section class="wrong"><h2>{escape(paper_heading(one, words["paper"]))}</h2><ol>{items}</ol></section>'
        )
    return document(body, language, paper, title)


def wrong_numbers(question):
    """Return the known wrong answers to a question with numbers, with the mistake behind each."""
    return "<br>".join(f"<b>{inline(choice.text)}</b> {inline(choice.said)}" for choice in question.known)


def paper_heading(one, template):
    """Return a heading with the number of a paper and the student's name."""
    return " · ".join(filter(None, [template.format(number=one.number), one.name]))


def answers(papers, points, language, paper, title):
    """Return the HTML of a sheet of answers for each student, to hand back: each answer with its reason and place."""
    words, body = interface(language), ""
    title = title or words["exam"]
    for one in papers:
        sections = "".join(
            answer_section(number, question, points, language) for number, question in enumerate(one.questions, start=1)
        )
        body += f'<div class="paper"><h1>{escape(paper_heading(one, words["answers_of"]))}</h1>{sections}</div>'
    return document(body, language, paper, title, label(papers, words))


def answer_section(number, question, points, language):
    """Return the right answer with its reason, and the mistakes behind the others."""
    words, wrong = interface(language), ""
    for letter, choice in zip(LETTERS, question.choices):
        if not choice.right:
            label = inline(choice.text) if question.kind == "number" else letter
            wrong += f"<li><b>{label}</b>: {inline(choice.said)}</li>"
    return (
        f"<section>{heading(number, question, points, words)}"
        f"<p><b>{right_answer(question)}</b> {inline(question.right.said)}</p>"
        f'<p class="quiet">{words["mistakes"]}</p><ul class="quiet">{wrong}</ul>'
        f'<p class="quiet">{escape(heading_of(question.place, language))}</p></section>'
    )
