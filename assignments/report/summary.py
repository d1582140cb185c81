"""The instructor's summary of a class: what to check first, questions, frequent mistakes, times, and all students.

It is made for classes of 300: names are folded, tables can be sorted, the list of students has a filter, and arrow keys
move through the rows of a table.
"""

import html
import itertools
import time
from collections import Counter

from assignments.report import pages
from assignments.report.pages import format_number
from companion.check.engine import messages
from companion.check.engine.question import all_questions

# Mistakes of runs that were stopped from outside: the answer may be right.
ENDED = "time_limit", "memory_limit", "too_many_numbers", "stopped_early", "crashed", "not_an_answer", "not_graded"
UNANSWERED = {"no_answer", "not_written"}
FEW = 3  # names up to this number are not folded
GROUPS, LEAST = 5, 10  # groups of students by time of submission, from this number of students on
# The instructor's other pages: {file: keys of its title in the words}
OTHER_PAGES = {
    "appeals.html": ("instructor", "appeals"), "changes.html": ("changes", "title"), "similar.html": ("similar",
    "title"),
    "questions.html": ("own_code", "title"),
}  # fmt: skip
STYLE = """
.share { width: 7rem; height: .8rem; vertical-align: -.1rem; background: light-dark(#d9dee3, #3a3f47); }
.some { fill: light-dark(#8fb8d0, #4a7389); } label { display: block; margin-bottom: .6rem; } td p { margin: 0; }
#everyone td:not(:first-child) { white-space: nowrap; } @media print { #everyone th, td code { overflow-wrap: anywhere; } #everyone table { font-size: .62rem; } #everyone td { padding-right: .15rem; } #everyone td:last-child { white-space: normal; } .share { width: 4rem; } }
input { font: inherit; color: inherit; background: inherit; border: 1px solid light-dark(#767c84, #8d949d); border-radius: 4px; padding: .2rem .5rem; max-width: 100%; }
"""  # noqa: E501
# The filter hides rows without the typed text; arrow keys move to the next row's link or fold.
KEYS = """
const field = document.querySelector("input"), said = document.querySelector("output");
const all = [...document.querySelectorAll("#everyone tbody tr")];
field.addEventListener("input", () => {
  const wanted = field.value.trim().toLowerCase();
  for (const row of all) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  const shown = all.filter((row) => !row.hidden).length;
  said.textContent = wanted ? said.dataset.said.replace("{shown}", shown).replace("{all}", all.length) : "";
});
document.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], row = event.target.closest("tbody tr");
  if (!step || !row && event.target !== field) return;
  const body = row ? row.parentElement : document.querySelector("#everyone tbody");
  const rows = [...body.rows].filter((one) => !one.hidden && one.querySelector("a, summary"));
  const next = rows[row ? rows.indexOf(row) + step : step > 0 ? 0 : -1];
  if (next) {
    event.preventDefault();
    next.querySelector("a, summary").focus();
  }
});
"""


def format_time(sent):
    """Return a time of day for reading, or "" if a file claims an impossible one."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(sent)) if 0 < sent < 2**32 else ""


def summary(all_graded, abilities, names, language="en", other_pages=(), sections=()):
    """Return summary.html.

    names: {student: page}. other_pages: those of OTHER_PAGES that exist. sections: further ones, (anchor, title, HTML).
    """
    return Summary(all_graded, names, language, other_pages, sections).page(abilities)


def histogram(shares):
    """Return a chart of how many students have which share of the points, in tenths."""
    counts = [0] * 10
    for share in shares:
        counts[min(9, int(share * 10))] += 1
    most, bars = max(counts) or 1, []
    for tenth, count in enumerate(counts):
        height = 80 * count / most
        x = 10 + tenth * 38
        bars.append(f'<rect class="bar" x="{x}" y="{95 - height:.1f}" width="32" height="{height:.1f}"/>')
        label = f'<text x="{x + 16}" y="{{}}" font-size="11" text-anchor="middle" fill="currentColor">{{}}</text>'
        bars += [label.format(90 - height, count or ""), label.format(110, f"{tenth * 10}%")]
    counts_text = ", ".join(f"{tenth * 10}–{tenth * 10 + 10} %: {count}" for tenth, count in enumerate(counts))
    return f'<svg viewBox="0 0 400 116" role="img" aria-label="{counts_text}">{"".join(bars)}</svg>'


def bar(share, partial_share=0):
    """Return a bar of two shares, drawn beside their numbers."""
    first, second = 100 * share, 100 * partial_share
    return (
        '<svg class="share" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect class="bar"'
        f' width="{first:.1f}" height="10"/><rect class="some" x="{first:.1f}" width="{second:.1f}" height="10"/></svg>'
    )


def fold(head, inside, is_open=False):
    return f"<details{' open' * is_open}><summary>{head}</summary>{inside}</details>"


class Summary:
    def __init__(self, all_graded, names, language="en", other_pages=(), sections=()):
        self.all_graded, self.names, self.language = all_graded, names, language
        self.other_pages, self.sections = other_pages, sections
        self.words = pages.words(language)
        self.texts = self.words["instructor"]

    def page(self, abilities):
        texts, names = self.texts, dict.fromkeys(name for graded in self.all_graded for name in graded["assignments"])
        rows = self.rows_to_check()
        targets = [("#look", f"{texts['look']} ({len(rows)})")] if rows else []
        targets += [(f"#{anchor}", title) for anchor, title, _ in self.sections]
        targets += [(f"#{name}", name) for name in names] + [("#students", texts["students"])]
        targets += [
            (file, self.words[table][key]) for file, (table, key) in OTHER_PAGES.items() if file in self.other_pages
        ]
        links = " · ".join(f'<a href="{html.escape(address)}">{html.escape(text)}</a>' for address, text in targets)
        body = [f"<h1>{texts['summary']}</h1>", f"<nav>{links}</nav>"]
        body.append(f"<p>{texts['submissions'].format(count=len(self.all_graded))}</p><p>{html.escape(abilities)}</p>")
        if rows:
            body.append(f'<h2 id="look">{texts["look"]}</h2>' + self.reasons_table(rows))
        body += [f'<h2 id="{anchor}">{html.escape(title)}</h2>{content}' for anchor, title, content in self.sections]
        for assignment in names:
            pairs = [
                (graded["student"], verdict)
                for graded in self.all_graded
                for verdict in graded["verdicts"]
                if verdict["assignment"] == assignment
            ]
            body.append(f'<h2 id="{html.escape(assignment)}">{html.escape(assignment)}</h2>')
            body += [self.distribution(pairs), self.questions(pairs), self.frequent(pairs)]
            body += [self.over_time(pairs), self.slowest(pairs)]
        body.append(self.students(names))
        script = pages.SORT + KEYS
        return pages.page(self.language, texts["summary"], "\n".join(body), script, wide=True, style=STYLE)

    def table(self, heads, rows, label=""):
        return pages.table([self.texts.get(key, key) for key in heads], rows, label)

    def link(self, student, question="", by_name=False):
        """Return a link to the student's work in review/, labelled with the question or with the student's name."""
        text = f"<code>{question}</code>" if question and not by_name else html.escape(student)
        return f'<a href="review/{html.escape(self.names[student])}{"#" * bool(question)}{question}">{text}</a>'

    def describe(self, name, questions):
        """Return the one-line description of a mistake in these questions by the checker or the grader."""
        grader_words = self.words["mistakes"].get(name)
        by_torch = any(question.by_torch for question in all_questions().values() if question.name in questions)
        try:
            return pages.render_markdown((grader_words or messages.of_mistake(name, self.language, by_torch))["says"])
        except KeyError:
            return ""

    def rows_to_check(self):
        """Return rows on what to check, most likely grading errors first.

        They are answers that may be right, submissions without a point, answers that were stopped, and odd files. Each
        reason occurs once per student.
        """
        rows = {}

        def add_row(rank, student, reason, location):
            rows.setdefault((rank, reason, student), []).append(location)

        for graded in self.all_graded:
            student = graded["student"]
            for assignment in graded["assignments"]:
                if not any(verdict["points"] for verdict in graded["verdicts"] if verdict["assignment"] == assignment):
                    add_row(1, student, self.texts["no_point"], html.escape(assignment))
            for verdict in graded["verdicts"]:
                location = self.link(student, verdict["question"])
                for key, detail in verdict.get("look", ()):
                    add_row(0, student, self.texts[key], location + f" ({html.escape(detail)})" * bool(detail))
                for name in ENDED:
                    if name in verdict["mistakes"]:
                        add_row(2, student, self.words["mistakes"][name]["says"], location)
            for key, file in graded["remarks"]:
                add_row(3, student, self.words["remarks"].get(key, key), html.escape(file))
        ranked = sorted(rows.items(), key=lambda row: row[0][0])
        return [
            (self.link(student), pages.render_inline(reason), self.first_of(location))
            for (_, reason, student), location in ranked
        ]

    def first_of(self, locations):
        """Return the first locations as one text, with the number of the others."""
        others = len(locations[pages.MAX_NAMES :])
        more = [self.words["page"]["and_others"].format(count=others)] if others else []
        return ", ".join([*locations[: pages.MAX_NAMES], *more])

    def reasons_table(self, rows):
        """Return the table of reasons, each with its students."""
        reasons = {}
        for student, reason, location in rows:
            reasons.setdefault(reason, []).append(f"{student}: {location}" if location else student)
        lines = []
        for reason, students in reasons.items():
            names = "<br>".join(students)
            lines.append(
                (len(students), reason, names if len(students) <= FEW else fold(self.texts["students"], names))
            )
        return self.table(("count", "why", "who"), lines, self.texts["look"])

    # Sections. pairs: (student, verdict) of one assignment

    def distribution(self, pairs):
        sums = [pages.sum_points(verdicts) for verdicts in self.by_student(pairs).values()]
        return f"<h3>{self.texts['distribution']}</h3>{histogram([points / (most or 1) for points, most, _ in sums])}"

    def by_student(self, pairs):
        verdicts_of = {}
        for student, verdict in pairs:
            verdicts_of.setdefault(student, []).append(verdict)
        return verdicts_of

    def questions(self, pairs):
        rows = []
        for question in dict.fromkeys(verdict["question"] for _, verdict in pairs):
            verdicts = [verdict for _, verdict in pairs if verdict["question"] == question]
            right = sum(not verdict["mistakes"] for verdict in verdicts)
            part = sum(bool(verdict["mistakes"] and verdict["points"]) for verdict in verdicts)
            wrong = [verdict["mistakes"] for verdict in verdicts if not verdict["points"]]
            unanswered = sum(bool(UNANSWERED & {*mistakes}) for mistakes in wrong)
            mean = sum(verdict["points"] for verdict in verdicts) / len(verdicts)
            right_share = f"{right} / {len(verdicts)} {bar(right / len(verdicts), part / len(verdicts))}"
            counts = part, len(verdicts) - right - part - unanswered, unanswered
            points = f"{mean:.2f} / {verdicts[0]['most']}"
            rows.append((f"<code>{question}</code>", right_share, *counts, points, self.top_mistake(verdicts)))
        heads = "question", "right", "part", "wrong", "unanswered", "mean", "top_mistake"
        return f"<h3>{self.texts['questions']}</h3>" + self.table(heads, rows)

    def top_mistake(self, verdicts):
        counts = Counter(name for verdict in verdicts for name in verdict["mistakes"] if name not in UNANSWERED)
        return ", ".join(f"<code>{html.escape(name)}</code> ({count})" for name, count in counts.most_common(1))

    def frequent(self, pairs):
        """Return the table of mistakes, each with its questions and students."""
        made = {}
        for student, verdict in pairs:
            for name in verdict["mistakes"]:
                made.setdefault(name, {}).setdefault(verdict["question"], []).append(student)
        counts = Counter({name: len({*itertools.chain(*students_of.values())}) for name, students_of in made.items()})
        rows = []
        for name, count in counts.most_common(20):
            students_html = [
                fold(
                    f"<code>{question}</code>: {len(students)}",
                    ", ".join(self.link(student, question, by_name=True) for student in students),
                )
                for question, students in made[name].items()
            ]
            rows.append(
                (count, f"<code>{html.escape(name)}</code>{self.describe(name, made[name])}", "".join(students_html))
            )
        return f"<h3>{self.texts['frequent']}</h3>" + self.table(("count", "finding", "who"), rows) if rows else ""

    def over_time(self, pairs):
        """Return results by batch, if there are several, and by time of submission in groups of equal size."""
        by_student = self.by_student(pairs)
        batches, sent = {}, sorted((verdicts[0].get("sent", 0), student) for student, verdicts in by_student.items())
        for student, verdicts in by_student.items():
            batches.setdefault(verdicts[0].get("batch", 1), []).append(student)
        groups = [(self.texts["batch"].format(number=batch), batches[batch]) for batch in sorted(batches)]
        groups = groups if len(groups) > 1 else []
        sent = [entry for entry in sent if format_time(entry[0])]
        if len(sent) >= LEAST and format_time(sent[0][0]) != format_time(sent[-1][0]):
            size = len(sent) / GROUPS
            for number in range(GROUPS):
                group = sent[round(number * size) : round((number + 1) * size)]
                times = f"{format_time(group[0][0])} – {format_time(group[-1][0])}"
                groups.append((times, [student for _, student in group]))
        rows = []
        for name, students in groups:
            sums = [pages.sum_points(by_student[student]) for student in students]
            share = sum(points / (most or 1) for points, most, _ in sums) / len(sums)
            top = self.top_mistake([verdict for student in students for verdict in by_student[student]])
            rows.append((name, len(students), f"{100 * share:.0f} % {bar(min(1, share))}", top))
        heads = "sent", "count", "share", "top_mistake"
        return f"<h3>{self.texts['over_time']}</h3>" + self.table(heads, rows) if rows else ""

    def slowest(self, pairs):
        rows = [
            (f"{verdict['seconds']:.1f} s", self.link(student), self.link(student, verdict["question"]))
            for student, verdict in sorted(pairs, key=lambda pair: -pair[1]["seconds"])[:10]
        ]
        return f"<h3>{self.texts['slowest']}</h3>" + self.table(("time", "student", "question"), rows)

    def students(self, assignments):
        """Return the table of all students: points by assignment, and when the last one was sent."""
        rows = []
        for graded in self.all_graded:
            sums = [
                pages.sum_points([verdict for verdict in graded["verdicts"] if verdict["assignment"] == name])
                for name in assignments
            ]
            points = [f"{format_number(own)} / {format_number(most)}" if most else "–" for own, most, _ in sums]
            verdicts = graded["verdicts"]
            by_hand = [f"<code>{verdict['question']}</code>" for verdict in verdicts if verdict.get("by_hand")]
            sent = format_time(max((verdict.get("sent", 0) for verdict in verdicts), default=0))
            extra = format_number(sum(extra for *_, extra in sums))
            rows.append((self.link(graded["student"]), *points, extra, ", ".join(by_hand), sent))
        heads = ("student", *(assignments if len(assignments) > 1 else ["points"]), "stretch", "by_hand", "sent")
        field = f'<label>{self.texts["filter"]} <input type="search" autocomplete="off"></label>'
        counter = f'<output class="quiet" data-said="{html.escape(self.texts["filtered"])}"></output>'
        table = f'<div id="everyone">{self.table(heads, rows)}</div>'
        return f'<h2 id="students">{self.texts["students"]}</h2><div class="screen">{field}{counter}</div>{table}'
