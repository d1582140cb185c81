"""The instructor's own pages: each student's code beside what was found, and what came of an appeal.

`beside` and `compared` choose, where a submission is graded, what is stored for them. They have a bound for all that is
the student's. Nothing here decides points.
"""

import html
import json
import traceback
from functools import cache

from assignments.grade import carried_errors
from assignments.read import answers, folders, notebooks
from assignments.report import pages
from assignments.report.oral import pages as oral_pages
from assignments.sandbox import protocol
from companion.check.engine import messages
from companion.check.engine.question import all_questions

CELLS, LINES, LETTERS = 4, 120, 200  # of an answer's code: cells, lines of one, letters of a line
NUMBERS, STORED, PROBES, FEW = 64, 1000, 30, 4  # of a value on the page and in its file; probes; names in a line
LARGEST = 64 * 2**20  # bytes of an appeal's file that are read


# Where a submission is graded


def beside(sent, question, verdict, language, student):
    """What is stored with a verdict: the answer's code, why to look at it, and which variant was asked of the student
    of this name. A grade does not hang on it."""
    try:
        variant = all_questions()[question].asked_of(student).variant
        return {
            "code": code_of(sent, question, verdict, language),
            "look": odd(sent, question, verdict),
            "variant": variant,
        }
    except Exception:  # whatever it is: the answer is graded all the same
        traceback.print_exc()
        return {}


def code_of(sent, question, verdict, language):
    """The cells with an answer, and if it is wrong also those with the line that the finding names and its helpers."""
    answer = sent.answers.get(question)
    if answer is None:
        return []
    both = [answer, answer.other] if answer.other else [answer]
    sources = {(one.file, number): source for one in reversed(both) for number, source in one.cells}
    sources |= {(path, 0): source for path, source in answer.modules.items()}
    told = {line for paragraph in verdict["paragraphs"] for line in paragraph.split("\n")}
    line_said = messages.words(language)["results"]["line"]
    named = {
        place: [number for number, line in enumerate(lines_of(source), 1)
                if line.strip() and line_said.format(line=number, code=protocol.parse_text(line.strip())) in told]
        for place, source in sources.items()
    }  # fmt: skip
    mine = [(one.file, one.cell) for one in both]
    shown = mine + [place for place in sources if named[place]] if verdict["mistakes"] else mine
    used = carried_errors.names_used(answer)
    others = {(one.file, one.cell) for one in sent.answers.values()}
    defined = {(one.path.name, cell.number): cell.defined for one in sent.notebooks for cell in one.cells}
    helpers = [place for place in sources if place not in others and used & defined.get(place, frozenset())]
    kept = [place for place in dict.fromkeys(shown + helpers) if place in sources][:CELLS]
    # nobody reads the helpers of a right answer, but they may be another's
    aside = set() if verdict["mistakes"] else {*kept} - {*shown}
    return [piece(*place, sources[place], named[place]) | ({"aside": True} if place in aside else {}) for place in kept]


def lines_of(source):
    return source[: notebooks.LONG_CELL].split("\n")


def piece(file, cell, source, named):
    """A cell as it is stored: its beginning, or what is around the line that is named."""
    lines = lines_of(source.rstrip())
    first = max(0, min(named[0] - LINES // 2, len(lines) - LINES)) if named else 0
    kept = [folders.printable(line.expandtabs(4)) for line in lines[first : first + LINES]]
    kept = [line if len(line) <= LETTERS else line[:LETTERS] + "…" for line in kept]
    return {
        "file": file,
        "cell": cell,
        "first": first + 1,
        "lines": kept,
        "named": named,
        "all": source.rstrip().count("\n") + 1,
    }


def odd(sent, question, verdict):
    """Why an instructor had better look: [key of the words' [instructor], place]."""
    found = []
    if not verdict["mistakes"]:
        return found
    if any(sentence in one.check_output for sentence in said_if_right(question) for one in sent.notebooks):
        found.append(["checked_right", ""])
    if {"not_written", "no_answer"} & set(verdict["mistakes"]):
        answer, name = sent.answers.get(question), answers.name_of(question)
        names = {*(answer.names if answer else ()), name}
        shared = sum(answers.name_of(one) == name for one in all_questions()) > 1
        places = [
            f"{one.path.name}: {cell.number}" for one in sent.notebooks for cell in one.cells
            if cell.defined & names and not cell.unwritten(names) and not (shared and cell.id != question)
        ]  # fmt: skip
        found += [["written", "; ".join(places[:3])]] if places else []
    return found


@cache
def said_if_right(question):
    """What the checker says of a right answer, in all languages."""
    said = [messages.words(language)["results"] for language in messages.languages()]
    return {
        messages.as_text(one[key].format(question=question))
        for one in said
        for key in ("right", "right_with_gradients")
    }


def compared(numbers):
    """The numbers of an appeal, with what is wrong on each probe: names of values, or None where nothing is."""
    from companion.check.engine.diagnosis import alike, wrong_values
    from companion.check.engine.probe import Outcome

    wrong = []
    for one in numbers["probes"]:
        right, given = Outcome.from_json(one["right"]), Outcome.from_json(one["given"])
        wrong.append(None if alike(right, given) else wrong_values(right, given))
        for value in one["given"]["values"].values():
            del value["numbers"][STORED:]
    return numbers | {"wrong": wrong}


# The pages


def appealed(path):
    """What is stored of an appeal, {question: numbers}; nothing if there was none."""
    try:
        if path.stat().st_size > LARGEST:
            return {}
        said = json.loads(path.read_text(encoding="utf-8"))
        return said if isinstance(said, dict) else {}
    except (OSError, ValueError, RecursionError):
        return {}


def page(graded, names, around, numbers):
    """A student's page for the instructor. names: of each student's page; around: the students before and after, or
    None; numbers: what is stored of an appeal."""
    said = pages.words(graded["language"])
    own = said["instructor"]
    title = own["title"].format(student=graded["student"])
    ways = [(f"../feedback/{names[graded['student']]}", own["feedback"]), ("../summary.html", own["summary"])]
    ways += [(names[one], own[key].format(student=one)) for key, one in zip(("previous", "next"), around) if one]
    links = " · ".join(f'<a href="{html.escape(address)}">{html.escape(text)}</a>' for address, text in ways)
    body = [
        f"<h1>{html.escape(title)}</h1>",
        f"<nav>{links}</nav>",
        f'<div class="quiet">{pages.marked(own["yours"])}</div>',
    ]
    body += pages.beginning(graded, said)
    for one in graded["verdicts"]:
        why = [
            f"<p><strong>{pages.inline(own[key])}</strong> {html.escape(place)}</p>"
            for key, place in one.get("look", ())
        ]
        body.append(f'<section id="{one["question"]}">')
        body += [
            pages.about_question(one, said["page"]),
            *why,
            *(code(cell, one["question"], own) for cell in one.get("code", ()) if not cell.get("aside")),
        ]
        body += [solved(one, graded["language"]), oral_pages.below(one, graded["language"], answers=True)]
        if one["question"] in numbers:
            body.append(probes(numbers[one["question"]], one, graded["language"]))
        body.append("</section>")
    return pages.page(graded["language"], title, "\n".join(body), wide=True)


def solved(verdict, language):
    """Which variant of the question was asked, and below a wrong answer a right one, folded."""
    own, asked = pages.words(language)["instructor"], all_questions()[verdict["question"]]
    said, variant = [], verdict.get("variant")
    if variant in asked.variants:
        asked = asked.variants[variant]
        said.append(pages.marked(own["variant"].format(variant=messages.of_variant(variant, language))))
    if verdict["mistakes"] and verdict.get("code") and asked.right and variant == asked.variant:
        label = html.escape(f"{asked.name}, {own['solution']}")
        lines = "\n".join(f"<span>{html.escape(line)}</span>" for line in asked.right.strip().split("\n"))
        said.append(f'<details class="solution"><summary>{own["solution"]}</summary>'
                    f'<pre tabindex="0" role="group" aria-label="{label}" style="counter-reset: line"><code>{lines}</code></pre></details>')  # fmt: skip # noqa: E501
    return "\n".join(said)


def code(cell, question, own):
    """A cell's code with its lines' numbers, folded open."""
    named, lines = set(cell["named"]), []
    for number, line in enumerate(cell["lines"], cell["first"]):
        tag = "mark" if number in named else "span"
        lines.append(f"<{tag}>{html.escape(line)}</{tag}>")
    more = cell["all"] - len(lines)
    cut = f'<p class="quiet">{own["cut"].format(count=more)}</p>' if more > 0 else ""
    head = own["cell"].format(cell=cell["cell"], file=cell["file"]) if cell["cell"] else cell["file"]
    inside = "\n".join(lines)
    return (
        f"<details open><summary>{html.escape(head)}</summary>"
        f'<pre tabindex="0" role="group" aria-label="{html.escape(question)}, {html.escape(head)}"'
        f' style="counter-reset: line {cell["first"] - 1}"><code>{inside}</code></pre>{cut}</details>'
    )


def probes(numbers, verdict, language):
    """What was asked, what is right and what was given, a probe a fold; open is the first on which it is wrong."""
    own, wrong = pages.words(language)["instructor"], numbers.get("wrong", [])
    body = [f"<h3>{own['appeal']}</h3>"]
    if numbers.get("before", verdict["points"]) != verdict["points"]:
        points = {"before": pages.number(numbers["before"]), "now": pages.number(verdict["points"])}
        body.append(f"<p>{own['points_before'].format(**points)}</p>")
    first = first_wrong(numbers)
    for place, one in enumerate(numbers["probes"][:PROBES]):
        names = wrong[place] if place < len(wrong) else None
        result = own["is_right"] if names is None else own["is_wrong"].format(values=foremost(one, names))
        head = f"<code>{html.escape(one['probe']['name'])}</code>: {html.escape(result)}"
        fold = "<details open>" if place == first else "<details>"
        body.append(
            f"{fold}<summary>{head}</summary>{probe(one, names or (), verdict['question'], language)}</details>"
        )
    return "\n".join(body)


def foremost(one, names):
    """What is wrong on a probe in a few words: the error that ended it, or results, and gradients only where these are
    right."""
    if error := one["given"]["error"]:
        return error.get("type", error["kind"])
    results = [name for name in names if "grad of " not in name] or names
    return ", ".join(results[:FEW]) + " …" * (len(results) > FEW) or ", ".join(one["given"]["notes"])


def first_wrong(numbers):
    """The number of the first probe on which an answer is wrong, or None."""
    return next((place for place, names in enumerate(numbers.get("wrong", ())) if names is not None), None)


def probe(one, wrong, question, language):
    from companion.check.engine.finding import Finding

    own, given = pages.words(language)["instructor"], one["given"]
    options = [(name, html.escape(str(value))) for name, value in one["probe"]["options"].items()]
    asked = options + [(name, shown(value)) for name, value in one["probe"]["tensors"].items()]
    sayer = messages.FindingText(None, None, Finding([], notes=given["notes"]), language)
    remarks = sayer.notes() + ([sayer.error(given["error"])] if given["error"] else [])
    rows = []
    for name in dict.fromkeys([*one["right"]["values"], *given["values"]]):
        right, got = one["right"]["values"].get(name), given["values"].get(name)
        cells = shown(right), shown(got, right if name in wrong else None)
        rows.append((f"<code>{html.escape(name)}</code>", *cells))
    label = f"{question}, {one['probe']['name']}"
    tables = [
        pages.table((own["asked"], own["number"]), [(f"<code>{html.escape(name)}</code>", value) for name,
        value in asked],
                    f"{label}: {own['asked']}", sorts=False),
        pages.table((own["value"], own["right"], own["given"]), rows, f"{label}: {own['value']}", sorts=False),
    ]  # fmt: skip
    return "\n".join([*map(pages.marked, remarks), *tables])


def shown(value, right=None):
    """A value's numbers, a row a line. right: what it should be, if it is wrong: what differs is marked."""
    if value is None:
        return "–"
    shape, numbers = value["shape"], value["numbers"]
    aim = right["numbers"] if right and right["shape"] == shape else None
    alike = aim and all(f"{a:.6g}" == f"{b:.6g}" for a, b in zip(numbers, aim))
    texts = []
    for place, one in enumerate(numbers[:NUMBERS]):
        text = f"{one:.12g}" if alike else f"{one:.6g}"
        same = not aim or place >= len(aim) or (one == aim[place] if alike else text == f"{aim[place]:.6g}")
        texts.append(text if same else f"<mark>{text}</mark>")
    width = shape[-1] if shape and shape[-1] > 1 else len(texts)
    rows = [" ".join(texts[start : start + width]) for start in range(0, len(texts), max(1, width))]
    more = " …" if len(numbers) > NUMBERS else ""
    return (
        f'<span class="shape">{"×".join(map(str, shape))}</span> '
        + "<br>".join(f"<code>{row}</code>" for row in rows)
        + more
    )


def appeals(found, names, language="en"):
    """The page of all appeals. found: (what is stored of a student, numbers of the appeal)."""
    own, rows = pages.words(language)["instructor"], []
    for graded, numbers in found:
        for verdict in graded["verdicts"]:
            if (asked := numbers.get(verdict["question"])) is None:
                continue
            first = first_wrong(asked)
            where = ("–", "–")
            if first is not None:
                at = asked["probes"][first]
                where = (
                    f"<code>{html.escape(at['probe']['name'])}</code>",
                    html.escape(foremost(at, asked["wrong"][first])),
                )
            rows.append((
                html.escape(graded["student"]),
                f'<a href="review/{names[graded["student"]]}#{verdict["question"]}">{verdict["question"]}</a>',
                f"{pages.number(verdict['points'])} / {verdict['most']}",
                pages.number(asked["before"]) if "before" in asked else "–",
                " ".join(f"<code>{html.escape(one)}</code>" for one in verdict["mistakes"]) or "–",
                *where,
            ))  # fmt: skip
    heads = [own[key] for key in ("student", "question", "points", "before", "finding", "first_wrong", "wrong_there")]
    body = [f"<h1>{own['appeals']}</h1>", f'<nav><a href="summary.html">{own["summary"]}</a></nav>']
    rows.sort(key=lambda row: row[4] == "–")  # what is right is read last
    body += [pages.marked(own["about_appeals"]), pages.table(heads, rows)]
    return pages.page(language, own["appeals"], "\n".join(body), pages.SORT, wide=True)
