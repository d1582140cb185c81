"""The questions about one's own code on pages: on the student's without answers, on the instructor's with them, and on
sheets to be printed, one for each student, both ways.

The lines are the student's: they are shown as text, in bounds that questions.py has seen to.
"""

import html

from assignments.report import pages
from companion.check.engine import messages

LETTERS = "ABCDEFGHIJ"


def below(verdict, language, answers=False):
    """What stands below a verdict; "" if nothing was asked."""
    own = pages.words(language)["own_code"]
    said = asked(verdict, language, answers)
    return f'<h3>{own["title"]}</h3><p class="quiet">{pages.inline(own["about"])}</p>{said}' if said else ""


def asked(verdict, language, answers):
    """The questions about an answer; "" if there are none."""
    questions = verdict.get("own_code")
    if not questions:
        return ""
    own = pages.words(language)["own_code"]
    items = "".join(f"<li>{one_asked(one, own, language, answers)}</li>" for one in questions)
    gradients = any(is_gradient(option[1]) for one in questions for option in one["options"] if option[0] == "name")
    more = f'<p class="quiet">{pages.inline(own["gradients"])}</p>' if gradients else ""
    return f'<ol class="own">{items}</ol>{more}'


def one_asked(one, own, language, answers):
    line = {"cell": one["cell"], "line": one["line"]}
    lead = own["changed" if one["new"] else "dropped"].format(**line)
    new = f"<ins>{html.escape(one['new'])}</ins>" if one["new"] else ""
    shown = f"<pre><code><del>{html.escape(one['old'])}</del>{new}</code></pre>"
    # the name is put in afterwards: it may have signs that are Markdown's
    sentence = pages.inline(own[one["kind"]]).replace("{name}", html.escape(one["name"]))
    given = f"<p>{own['input']} {described(one['input'], own)}</p>" if one["input"] else ""
    options = "".join(f"<li>{option(kind, more, own, language)}</li>" for kind, *more in one["options"])
    right = ", ".join(LETTERS[place] for place in one["answer"])
    answer = f'<p class="answer"><strong>{own["answer"]} {right}</strong></p>' if answers else ""
    return f"<p>{lead}</p>{shown}<p><strong>{sentence}</strong></p>{given}<ol>{options}</ol>{answer}"


def option(kind, more, own, language):
    if kind == "value":
        return f"<code>{html.escape(more[0])}</code>"
    if kind == "input":
        return described(more[0], own)
    if kind == "name":
        return named(more[0], language)
    if kind == "shape":
        name, shape = more
        return (
            pages.inline(own["shape"])
            .replace("{name}", html.escape(name))
            .replace("{shape}", "×".join(map(str, shape)) or "1")
        )
    if kind == "error":
        return pages.inline(own["error"].format(type=more[0]))
    return pages.inline(own[kind])


def is_gradient(name):
    return name.startswith("grad of ")


def named(name, language):
    """A result, or a gradient, as the checker says it."""
    if not is_gradient(name):
        return f"<code>{html.escape(name)}</code>"
    said = pages.inline(messages.words(language)["results"]["gradient"])
    return said.replace("{name}", html.escape(name.removeprefix("grad of ")))


def described(given, own):
    """What goes in: numbers, or a shape."""
    texts = []
    for one in given:
        if "calls" in one:
            texts.append(own["calls"].format(count=one["calls"]))
            continue
        name, shape = html.escape(one["name"]), "×".join(map(str, one.get("shape", ())))
        if one["numbers"]:
            texts.append(f"<code>{name} = {html.escape(one['numbers'])}</code>")
        else:
            texts.append(f"<code>{name}</code> {shape}{' (' + own['zeros'] + ')' if one['zeros'] else ''}")
    return ", ".join(texts)


def sheets(all_graded, language, answers):
    """A page of sheets, each of one student in the student's language; "" if nobody is asked anything."""
    own, body = pages.words(language)["own_code"], []
    for one in all_graded:
        mine = [verdict for verdict in one["verdicts"] if verdict.get("own_code")]
        if mine:
            theirs = pages.words(one["language"])
            parts = [
                f"<h3><code>{verdict['question']}</code></h3>{asked(verdict, one['language'], answers)}"
                for verdict in mine
            ]
            head = f"<h2>{html.escape(one['student'])}</h2><p>{theirs['own_code']['title']}</p>"
            body.append(f'<section class="sheet" lang="{theirs["page"]["html"]}">{head}{"".join(parts)}</section>')
    if not body:
        return ""
    other = ("sheets.html", own["without"]) if answers else ("questions.html", own["with"])
    summary = f'<a href="summary.html">{pages.words(language)["instructor"]["summary"]}</a>'
    title = f"{own['title']}, {own['with']}" if answers else own["title"]
    note = f'<p class="quiet">{own["for_you"]}</p>' if answers else ""
    head = f'<nav><p>{summary} · <a href="{other[0]}">{other[1]}</a></p><h1>{title}</h1>{note}</nav>'
    return pages.page(language, title, "\n".join([head, *body]))
