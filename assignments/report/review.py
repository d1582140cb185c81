"""The instructor's pages of each student: the code beside its verdicts, and the numbers of an appeal.

`for_reviewers` and `compare_numbers` choose what is stored for these pages during grading, and limit the size of what
comes from the student. Nothing here decides points.
"""

import html
import json
import traceback

from assignments.grade import carried_errors
from assignments.read import answers, folders, notebooks, student_name
from assignments.report import comments, pages
from assignments.report.oral import pages as oral_pages
from assignments.sandbox import protocol
from companion.check.engine import messages
from companion.check.engine.question import all_questions

CELLS, LINES, LETTERS = 4, 120, 200  # of an answer's code: cells, lines per cell, letters per line
NUMBERS, STORED, PROBES, FEW = 64, 1000, 30, 4  # numbers of a value on the page and stored; probes; names in a line
MAX_APPEAL_BYTES = 64 * 2**20


# During grading


def for_reviewers(submission, question, verdict, language, student):
    """Return what the instructor sees beside a verdict: the answer's code, reasons to look at it, its variant.

    Points never depend on it.
    """
    try:
        variant = all_questions()[question].asked_of(student).variant
        return {
            "code": answer_code(submission, question, verdict, language),
            "look": reasons_to_look(submission, question, verdict, language),
            "variant": variant,
            "source": answer_hash(submission, question),
        }
    except Exception:  # an error here must not stop the grading
        traceback.print_exc()
        return {}


def answer_code(submission, question, verdict, language):
    """Return the cells of an answer; of a wrong one also helpers, and the cell of the line that the finding names."""
    answer = submission.answers.get(question)
    if answer is None:
        return []
    copies = [answer, answer.other] if answer.other else [answer]
    sources = {(copy.file, number): source for copy in reversed(copies) for number, source in copy.cells}
    sources |= {(path, 0): source for path, source in answer.modules.items()}
    lines_of_text = {line for paragraph in verdict["paragraphs"] for line in paragraph.split("\n")}
    line_said = messages.words(language)["results"]["line"]
    named = {
        location: [
            number for number, line in enumerate(cell_lines(source), 1)
            if line.strip() and line_said.format(line=number, code=protocol.parse_text(line.strip())) in lines_of_text
        ]
        for location, source in sources.items()
    }  # fmt: skip
    own_cells = [(copy.file, copy.cell) for copy in copies]
    shown = own_cells + [location for location in sources if named[location]] if verdict["mistakes"] else own_cells
    names_used = carried_errors.names_used(answer)
    others = {(other.file, other.cell) for other in submission.answers.values()}
    defined = {(book.path.name, cell.number): cell.defined for book in submission.notebooks for cell in book.cells}
    helpers = [place for place in sources if place not in others and names_used & defined.get(place, frozenset())]
    kept = [location for location in dict.fromkeys(shown + helpers) if location in sources][:CELLS]
    # helpers of a right answer are not shown, but compared for similarity
    hidden = set() if verdict["mistakes"] else {*kept} - {*shown}
    aside = {location: {"aside": True} for location in hidden}
    return [cell_excerpt(*place, sources[place], named[place]) | aside.get(place, {}) for place in kept]


def answer_hash(submission, question):
    """Return a hash of an answer's own cells, which tells whether a comment was written for this answer."""
    answer = submission.answers.get(question)
    copies = [copy for copy in (answer, answer and answer.other) if copy]
    own = [source for copy in copies for number, source in copy.cells if number == copy.cell]
    return comments.hash_source("\n".join(own)) if own else ""


def cell_lines(source):
    return source[: notebooks.LONG_CELL].split("\n")


def cell_excerpt(file, cell, source, named):
    """Return a cell as it is stored: its first lines, or those around the line that the finding names."""
    lines = cell_lines(source.rstrip())
    first = max(0, min(named[0] - LINES // 2, len(lines) - LINES)) if named else 0
    kept = [folders.printable(line.expandtabs(4)) for line in lines[first : first + LINES]]
    kept = [line if len(line) <= LETTERS else line[:LETTERS] + "…" for line in kept]
    count = source.rstrip().count("\n") + 1
    return {"file": file, "cell": cell, "first": first + 1, "lines": kept, "named": named, "all": count}


def reasons_to_look(submission, question, verdict, language="en"):
    """Return reasons for the instructor to look at a verdict: [key of the words' [instructor], location]."""
    reasons = []
    if not verdict["mistakes"]:
        return reasons
    outputs = [notebook.check_output for notebook in submission.notebooks]
    if any(sentence in output for sentence in messages.right_sentences(question) for output in outputs):
        reasons.append(["checked_right", ""])
    if submission.name_unknown and (variant := student_name.variant_answered(verdict["mistakes"])):
        reasons.append(["name_unknown", messages.of_variant(variant, language)])
    if {"not_written", "no_answer"} & set(verdict["mistakes"]):
        answer, name = submission.answers.get(question), answers.name_of(question)
        names = {*(answer.names if answer else ()), name}
        shared = sum(answers.name_of(other) == name for other in all_questions()) > 1
        places = [
            f"{notebook.path.name}: {cell.number}" for notebook in submission.notebooks for cell in notebook.cells
            if cell.defined & names and not cell.unwritten(names) and not (shared and cell.id != question)
        ]  # fmt: skip
        reasons += [["written", "; ".join(places[:3])]] if places else []
    return reasons


def compare_numbers(numbers):
    """Add the names of wrong values on each probe to an appeal's numbers; None for a probe that is right."""
    from companion.check.engine.diagnosis import alike, wrong_values
    from companion.check.engine.probe import Outcome

    wrong = []
    for entry in numbers["probes"]:
        expected, outcome = Outcome.from_json(entry["right"]), Outcome.from_json(entry["given"])
        wrong.append(None if alike(expected, outcome) else wrong_values(expected, outcome))
        for value in entry["given"]["values"].values():
            del value["numbers"][STORED:]
    return numbers | {"wrong": wrong}


# The pages


def read_appeal(path):
    """Return the stored numbers of an appeal, {question: numbers}; empty if there was none."""
    try:
        if path.stat().st_size > MAX_APPEAL_BYTES:
            return {}
        numbers = json.loads(path.read_text(encoding="utf-8"))
        return numbers if isinstance(numbers, dict) else {}
    except (OSError, ValueError, RecursionError):
        return {}


def page(graded, names, around, numbers):
    """Return a student's page for the instructor.

    names: {student: page}. around: the students before and after, or None. numbers: those of an appeal.
    """
    texts = pages.words(graded["language"])
    labels = texts["instructor"]
    title = labels["title"].format(student=graded["student"])
    targets = [(f"../feedback/{names[graded['student']]}", labels["feedback"]), ("../summary.html", labels["summary"])]
    for key, student in zip(("previous", "next"), around):
        targets += [(names[student], labels[key].format(student=student))] if student else []
    links = " · ".join(f'<a href="{html.escape(address)}">{html.escape(text)}</a>' for address, text in targets)
    body = [f"<h1>{html.escape(title)}</h1>", f"<nav>{links}</nav>"]
    body.append(f'<div class="quiet">{pages.render_markdown(labels["yours"])}</div>')
    body += pages.points_and_remarks(graded, texts)
    body.append(comment_fold(graded["student"], "", labels))
    for verdict in graded["verdicts"]:
        reasons = [
            f"<p><strong>{pages.render_inline(labels[key])}</strong> {html.escape(location)}</p>"
            for key, location in verdict.get("look", ())
        ]
        body.append(f'<section id="{verdict["question"]}">')
        shown = [cell for cell in verdict.get("code", ()) if not cell.get("aside")]
        body += [pages.question_section(verdict, texts["page"]), *reasons]
        body.append(comment_fold(graded["student"], verdict["question"], labels))
        body += [code_html(cell, verdict["question"], labels) for cell in shown]
        body.append(solution_html(verdict, graded["language"]))
        body.append(oral_pages.below(verdict, graded["language"], with_answers=True))
        if verdict["question"] in numbers:
            body.append(probes_html(numbers[verdict["question"]], verdict, graded["language"]))
        body.append("</section>")
    return pages.page(graded["language"], title, "\n".join(body), wide=True)


def comment_fold(student, question, labels):
    """Return the row of comments.csv that comments on an answer or, without a question, the submission, folded."""
    label = labels["to_comment" if question else "to_comment_whole"]
    row = html.escape(comments.line_to_add(student, question))
    how = pages.render_inline(labels["how_to_comment"])
    return (
        f'<details class="quiet screen"><summary>{html.escape(label)}</summary><p>{how}</p>'
        f'<p><code class="said">{row}</code></p></details>'
    )


def solution_html(verdict, language):
    """Return the variant of the question, and below a wrong answer a right one, folded."""
    labels, question = pages.words(language)["instructor"], all_questions()[verdict["question"]]
    parts, variant = [], verdict.get("variant")
    if variant in question.variants:
        question = question.variants[variant]
        parts.append(pages.render_markdown(labels["variant"].format(variant=messages.of_variant(variant, language))))
    if verdict["mistakes"] and verdict.get("code") and question.right and variant == question.variant:
        label = html.escape(f"{question.name}, {labels['solution']}")
        lines = "\n".join(f"<span>{html.escape(line)}</span>" for line in question.right.strip().split("\n"))
        parts.append(f'<details class="solution"><summary>{labels["solution"]}</summary>'
                    f'<pre tabindex="0" role="group" aria-label="{label}" style="counter-reset: line"><code>{lines}</code></pre></details>')  # fmt: skip # noqa: E501
    return "\n".join(parts)


def code_html(cell, question, labels):
    """Return a cell's code with line numbers, unfolded."""
    marked, lines = set(cell["named"]), []
    for number, line in enumerate(cell["lines"], cell["first"]):
        tag = "mark" if number in marked else "span"
        lines.append(f"<{tag}>{html.escape(line)}</{tag}>")
    missing = cell["all"] - len(lines)
    note = f'<p class="quiet">{labels["cut"].format(count=missing)}</p>' if missing > 0 else ""
    head = labels["cell"].format(cell=cell["cell"], file=cell["file"]) if cell["cell"] else cell["file"]
    text = "\n".join(lines)
    return (
        f"<details open><summary>{html.escape(head)}</summary>"
        f'<pre tabindex="0" role="group" aria-label="{html.escape(question)}, {html.escape(head)}"'
        f' style="counter-reset: line {cell["first"] - 1}"><code>{text}</code></pre>{note}</details>'
    )


def probes_html(numbers, verdict, language):
    """Return inputs, expected and actual outputs, one fold a probe; the first wrong one is open."""
    labels, wrong = pages.words(language)["instructor"], numbers.get("wrong", [])
    body = [f"<h3>{labels['appeal']}</h3>"]
    if numbers.get("before", verdict["points"]) != verdict["points"]:
        points = {"before": pages.format_number(numbers["before"]), "now": pages.format_number(verdict["points"])}
        body.append(f"<p>{labels['points_before'].format(**points)}</p>")
    first_place = first_wrong(numbers)
    for position, entry in enumerate(numbers["probes"][:PROBES]):
        names = wrong[position] if position < len(wrong) else None
        result = labels["is_right"]
        if names is not None:
            result = labels["is_wrong"].format(values=summarize_errors(entry, names))
        head = f"<code>{html.escape(entry['probe']['name'])}</code>: {html.escape(result)}"
        fold = "<details open>" if position == first_place else "<details>"
        body.append(
            f"{fold}<summary>{head}</summary>{probe_html(entry, names or (), verdict['question'], language)}</details>"
        )
    return "\n".join(body)


def summarize_errors(entry, names):
    """Return in a few words what is wrong on a probe: the error, or results, or gradients if these are right."""
    if error := entry["given"]["error"]:
        return error.get("type", error["kind"])
    results = [name for name in names if "grad of " not in name] or names
    return ", ".join(results[:FEW]) + " …" * (len(results) > FEW) or ", ".join(entry["given"]["notes"])


def first_wrong(numbers):
    """Return the number of the first probe on which an answer is wrong, or None."""
    return next((position for position, names in enumerate(numbers.get("wrong", ())) if names is not None), None)


def probe_html(entry, wrong, question, language):
    from companion.check.engine.finding import Finding

    labels, outcome = pages.words(language)["instructor"], entry["given"]
    options = [(name, html.escape(str(value))) for name, value in entry["probe"]["options"].items()]
    inputs = options + [(name, value_html(value)) for name, value in entry["probe"]["tensors"].items()]
    writer = messages.FindingText(None, None, Finding([], notes=outcome["notes"]), language)
    remarks = writer.notes() + ([writer.error(outcome["error"])] if outcome["error"] else [])
    rows = []
    for name in dict.fromkeys([*entry["right"]["values"], *outcome["values"]]):
        expected, actual = entry["right"]["values"].get(name), outcome["values"].get(name)
        cells = value_html(expected), value_html(actual, expected if name in wrong else None)
        rows.append((f"<code>{html.escape(name)}</code>", *cells))
    label = f"{question}, {entry['probe']['name']}"
    tables = [
        pages.table((labels["asked"], labels["number"]), [(f"<code>{html.escape(name)}</code>", value) for name,
        value in inputs],
                    f"{label}: {labels['asked']}", sorts=False),
        pages.table((labels["value"], labels["right"], labels["given"]), rows,
                    f"{label}: {labels['value']}", sorts=False),
    ]  # fmt: skip
    return "\n".join([*map(pages.render_markdown, remarks), *tables])


def value_html(value, expected=None):
    """Return a value's numbers, one row a line.

    expected: the right value, if this one is wrong; numbers that differ are marked.
    """
    if value is None:
        return "–"
    shape, numbers = value["shape"], value["numbers"]
    target = expected["numbers"] if expected and expected["shape"] == shape else None
    equal_digits = target and all(f"{a:.6g}" == f"{b:.6g}" for a, b in zip(numbers, target))
    texts = []
    for position, number in enumerate(numbers[:NUMBERS]):
        text = f"{number:.12g}" if equal_digits else f"{number:.6g}"
        same = not target or position >= len(target)
        same = same or (number == target[position] if equal_digits else text == f"{target[position]:.6g}")
        texts.append(text if same else f"<mark>{text}</mark>")
    width = shape[-1] if shape and shape[-1] > 1 else len(texts)
    rows = [" ".join(texts[start : start + width]) for start in range(0, len(texts), max(1, width))]
    more = " …" if len(numbers) > NUMBERS else ""
    return (
        f'<span class="shape">{"×".join(map(str, shape))}</span> '
        + "<br>".join(f"<code>{row}</code>" for row in rows)
        + more
    )


def appeals_page(appealed, names, language="en"):
    """Return the page of all appeals. appealed: (a student's result, numbers of the appeal)."""
    labels, rows = pages.words(language)["instructor"], []
    for graded, numbers in appealed:
        for verdict in graded["verdicts"]:
            if (entry := numbers.get(verdict["question"])) is None:
                continue
            first = first_wrong(entry)
            location = ("–", "–")
            if first is not None:
                first_entry = entry["probes"][first]
                location = (
                    f"<code>{html.escape(first_entry['probe']['name'])}</code>",
                    html.escape(summarize_errors(first_entry, entry["wrong"][first])),
                )
            rows.append((
                html.escape(graded["student"]),
                f'<a href="review/{names[graded["student"]]}#{verdict["question"]}">{verdict["question"]}</a>',
                f"{pages.format_number(verdict['points'])} / {verdict['most']}",
                pages.format_number(entry["before"]) if "before" in entry else "–",
                " ".join(f"<code>{html.escape(name)}</code>" for name in verdict["mistakes"]) or "–",
                *location,
            ))  # fmt: skip
    keys = "student", "question", "points", "before", "finding", "first_wrong", "wrong_there"
    heads = [labels[key] for key in keys]
    body = [f"<h1>{labels['appeals']}</h1>", f'<nav><a href="summary.html">{labels["summary"]}</a></nav>']
    rows.sort(key=lambda row: row[4] == "–")  # right answers come last
    body += [pages.render_markdown(labels["about_appeals"]), pages.table(heads, rows)]
    return pages.page(language, labels["appeals"], "\n".join(body), pages.SORT, wide=True)
