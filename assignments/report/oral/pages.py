"""HTML of oral questions: without answers for students, with answers for the instructor, and sheets for printing.

The lines are the student's: they are shown as text, and questions.py limits their length.
"""

import html

from assignments.report import pages
from companion.check.engine import messages

LETTERS = "ABCDEFGHIJ"


def below(verdict, language, with_answers=False):
    """Return the section below a verdict, or "" without questions."""
    texts = pages.words(language)["own_code"]
    list_html = questions_html(verdict, language, with_answers)
    return (
        f'<h3>{texts["title"]}</h3><p class="quiet">{pages.render_inline(texts["about"])}</p>{list_html}'
        if list_html
        else ""
    )


def questions_html(verdict, language, with_answers):
    """Return the list of questions about an answer, or ""."""
    questions = verdict.get("own_code")
    if not questions:
        return ""
    texts = pages.words(language)["own_code"]
    items = "".join(f"<li>{question_html(question, texts, language, with_answers)}</li>" for question in questions)
    gradients = any(
        is_gradient(option[1]) for question in questions for option in question["options"] if option[0] == "name"
    )
    note = f'<p class="quiet">{pages.render_inline(texts["gradients"])}</p>' if gradients else ""
    return f'<ol class="own">{items}</ol>{note}'


def question_html(question, texts, language, with_answers):
    line = {"cell": question["cell"], "line": question["line"]}
    sentence_about_line = texts["changed" if question["new"] else "dropped"].format(**line)
    new = f"<ins>{html.escape(question['new'])}</ins>" if question["new"] else ""
    shown = f"<pre><code><del>{html.escape(question['old'])}</del>{new}</code></pre>"
    # the name is inserted last, since it may contain Markdown
    sentence = pages.render_inline(texts[question["kind"]]).replace("{name}", html.escape(question["name"]))
    input_html = f"<p>{texts['input']} {inputs_html(question['input'], texts)}</p>" if question["input"] else ""
    options = "".join(
        f"<li>{option_html(kind, details, texts, language)}</li>" for kind, *details in question["options"]
    )
    right = ", ".join(LETTERS[number] for number in question["answer"])
    answer = f'<p class="answer"><strong>{texts["answer"]} {right}</strong></p>' if with_answers else ""
    return (
        f"<p>{sentence_about_line}</p>{shown}<p><strong>{sentence}</strong></p>{input_html}<ol>{options}</ol>{answer}"
    )


def option_html(kind, details, texts, language):
    if kind == "value":
        return f"<code>{html.escape(details[0])}</code>"
    if kind == "input":
        return inputs_html(details[0], texts)
    if kind == "name":
        return name_html(details[0], language)
    if kind == "shape":
        name, shape = details
        return (
            pages.render_inline(texts["shape"])
            .replace("{name}", html.escape(name))
            .replace("{shape}", "×".join(map(str, shape)) or "1")
        )
    if kind == "error":
        return pages.render_inline(texts["error"].format(type=details[0]))
    return pages.render_inline(texts[kind])


def is_gradient(name):
    return name.startswith("grad of ")


def name_html(name, language):
    """Return the name of a result, or a gradient as the checker names it."""
    if not is_gradient(name):
        return f"<code>{html.escape(name)}</code>"
    text = pages.render_inline(messages.words(language)["results"]["gradient"])
    return text.replace("{name}", html.escape(name.removeprefix("grad of ")))


def inputs_html(inputs, texts):
    """Return the inputs of a question: numbers, or shapes."""
    items = []
    for item in inputs:
        if "calls" in item:
            items.append(texts["calls"].format(count=item["calls"]))
            continue
        name, shape = html.escape(item["name"]), "×".join(map(str, item.get("shape", ())))
        if item["numbers"]:
            items.append(f"<code>{name} = {html.escape(item['numbers'])}</code>")
        else:
            items.append(f"<code>{name}</code> {shape}{' (' + texts['zeros'] + ')' if item['zeros'] else ''}")
    return ", ".join(items)


def sheets(all_graded, language, with_answers):
    """Return a page with one sheet per student in the student's language, or "" without questions."""
    texts, body = pages.words(language)["own_code"], []
    for graded in all_graded:
        verdicts = [verdict for verdict in graded["verdicts"] if verdict.get("own_code")]
        if verdicts:
            student_texts = pages.words(graded["language"])
            parts = [
                f"<h3><code>{verdict['question']}</code></h3>"
                f"{questions_html(verdict, graded['language'], with_answers)}"
                for verdict in verdicts
            ]
            head = f"<h2>{html.escape(graded['student'])}</h2><p>{student_texts['own_code']['title']}</p>"
            body.append(
                f'<section class="sheet" lang="{student_texts["page"]["html"]}">{head}{"".join(parts)}</section>'
            )
    if not body:
        return ""
    other = ("sheets.html", texts["without"]) if with_answers else ("questions.html", texts["with"])
    summary = f'<a href="summary.html">{pages.words(language)["instructor"]["summary"]}</a>'
    title = f"{texts['title']}, {texts['with']}" if with_answers else texts["title"]
    note = f'<p class="quiet">{texts["for_you"]}</p>' if with_answers else ""
    head = f'<nav><p>{summary} · <a href="{other[0]}">{other[1]}</a></p><h1>{title}</h1>{note}</nav>'
    return pages.page(language, title, "\n".join([head, *body]))
