"""The instructor's summary: what to look at first, which questions, which mistakes, when, and all students.

It is made for a class of 300: names are folded behind their number, tables sort, the list of students has a filter, and
arrows lead through a table's rows.
"""

import html
import time
from collections import Counter

from assignments.report import pages
from companion.check.engine import messages

# What ends an answer from outside: it may be right.
ENDED = "time_limit", "memory_limit", "too_many_numbers", "stopped_early", "crashed", "not_an_answer", "not_graded"
UNANSWERED = {"no_answer", "not_written"}
FEW = 3  # that many names are not folded
GROUPS, LEAST = 5, 10  # of students, by when they sent their work; fewer students are not told apart
# Other pages of the instructor's: {file: where its title stands among the words}
WAYS = {
    "appeals.html": ("instructor", "appeals"), "changes.html": ("changes", "title"), "similar.html": ("similar",
    "title"),
    "questions.html": ("own_code", "title"),
}  # fmt: skip
STYLE = """
.share { width: 7rem; height: .8rem; vertical-align: -.1rem; background: light-dark(#d9dee3, #3a3f47); }
.some { fill: light-dark(#8fb8d0, #4a7389); } label { display: block; margin-bottom: .6rem; } td p { margin: 0; }
#everyone td:not(:first-child) { white-space: nowrap; } @media print { #everyone th, td code { overflow-wrap: anywhere; } .share { width: 4rem; } }
input { font: inherit; color: inherit; background: inherit; border: 1px solid light-dark(#767c84, #8d949d); border-radius: 4px; padding: .2rem .5rem; max-width: 100%; }
"""  # noqa: E501
# Rows without what is typed are hidden; the arrows go to the next row's link or fold.
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


def day(sent):
    """A time as one reads it; a file may say it is of any time."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(sent)) if 0 < sent < 2**32 else ""


def summary(all_graded, abilities, names, language="en", ways=(), more=()):
    """The instructor's page. names: of each student's page; ways: to other pages, files of WAYS; more: other pieces,
    each an anchor, a title and HTML."""
    return Summary(all_graded, names, language, ways, more).page(abilities)


def histogram(shares):
    """How many students have which share of the points, in tenths."""
    counts = [0] * 10
    for share in shares:
        counts[min(9, int(share * 10))] += 1
    most, bars = max(counts) or 1, []
    for place, count in enumerate(counts):
        height = 80 * count / most
        x = 10 + place * 38
        bars.append(f'<rect class="bar" x="{x}" y="{95 - height:.1f}" width="32" height="{height:.1f}"/>')
        label = f'<text x="{x + 16}" y="{{}}" font-size="11" text-anchor="middle" fill="currentColor">{{}}</text>'
        bars += [label.format(90 - height, count or ""), label.format(110, f"{place * 10}%")]
    said = ", ".join(f"{place * 10}–{place * 10 + 10} %: {count}" for place, count in enumerate(counts))
    return f'<svg viewBox="0 0 400 116" role="img" aria-label="{said}">{"".join(bars)}</svg>'


def bar(whole, some=0):
    """Two shares as a bar, for what numbers beside it say."""
    first, second = 100 * whole, 100 * some
    return (
        '<svg class="share" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect class="bar"'
        f' width="{first:.1f}" height="10"/><rect class="some" x="{first:.1f}" width="{second:.1f}" height="10"/></svg>'
    )


def folded(head, inside, is_open=False):
    return f"<details{' open' * is_open}><summary>{head}</summary>{inside}</details>"


class Summary:
    def __init__(self, all_graded, names, language="en", ways=(), more=()):
        self.all_graded, self.names, self.language, self.ways, self.more = all_graded, names, language, ways, more
        self.words = pages.words(language)
        self.said = self.words["instructor"]

    def page(self, abilities):
        said, names = self.said, dict.fromkeys(name for one in self.all_graded for name in one["assignments"])
        rows = self.to_look_at()
        ways = [("#look", f"{said['look']} ({len(rows)})")] if rows else []
        ways += [(f"#{anchor}", title) for anchor, title, _ in self.more]
        ways += [(f"#{name}", name) for name in names] + [("#students", said["students"])]
        ways += [(file, self.words[table][key]) for file, (table, key) in WAYS.items() if file in self.ways]
        links = " · ".join(f'<a href="{html.escape(address)}">{html.escape(text)}</a>' for address, text in ways)
        body = [f"<h1>{said['summary']}</h1>", f"<nav>{links}</nav>"]
        body.append(f"<p>{said['submissions'].format(count=len(self.all_graded))}</p><p>{html.escape(abilities)}</p>")
        if rows:
            body.append(f'<h2 id="look">{said["look"]}</h2>' + self.look(rows))
        body += [f'<h2 id="{anchor}">{html.escape(title)}</h2>{piece}' for anchor, title, piece in self.more]
        for assignment in names:
            given = [
                (one["student"], verdict)
                for one in self.all_graded
                for verdict in one["verdicts"]
                if verdict["assignment"] == assignment
            ]
            body.append(f'<h2 id="{html.escape(assignment)}">{html.escape(assignment)}</h2>')
            body += [
                self.distribution(given),
                self.questions(given),
                self.frequent(given),
                self.over_time(given),
                self.slowest(given),
            ]
        body.append(self.students(names))
        script = pages.SORT + KEYS
        return pages.page(self.language, said["summary"], "\n".join(body), script, wide=True, style=STYLE)

    def table(self, heads, rows, label=""):
        return pages.table([self.said.get(key, key) for key in heads], rows, label)

    def link(self, student, question="", by_name=False):
        """To where the instructor sees what the student wrote: the name of the question, or the student's."""
        text = f"<code>{question}</code>" if question and not by_name else html.escape(student)
        return f'<a href="review/{html.escape(self.names[student])}{"#" * bool(question)}{question}">{text}</a>'

    def described(self, name):
        """A mistake's one-line description, the checker's or the grader's."""
        own = self.words["mistakes"].get(name)
        try:
            return pages.marked((own or messages.of_mistake(name, self.language))["says"])
        except KeyError:
            return ""

    def to_look_at(self):
        """What an instructor had better see, what is most likely the grader's fault first: answers that may be right,
        no point at all, answers that something ended, and odd files. A reason is said once of a student."""
        rows = {}

        def add(rank, student, why, where):
            rows.setdefault((rank, why, student), []).append(where)

        for one in self.all_graded:
            who = one["student"]
            for assignment in one["assignments"]:
                if not any(verdict["points"] for verdict in one["verdicts"] if verdict["assignment"] == assignment):
                    add(1, who, self.said["no_point"], html.escape(assignment))
            for verdict in one["verdicts"]:
                where = self.link(who, verdict["question"])
                for key, _ in verdict.get("look", ()):
                    add(0, who, self.said[key], where)
                for name in ENDED:
                    if name in verdict["mistakes"]:
                        add(2, who, self.words["mistakes"][name]["says"], where)
            for key, file in one["remarks"]:
                add(3, who, self.words["remarks"].get(key, key), html.escape(file))
        ranked = sorted(rows.items(), key=lambda row: row[0][0])
        return [(self.link(who), pages.inline(why), ", ".join(where)) for (_, why, who), where in ranked]

    def look(self, rows):
        """Each reason once, with those whom it is about."""
        reasons = {}
        for who, why, where in rows:
            reasons.setdefault(why, []).append(f"{who}: {where}" if where else who)
        lines = []
        for why, who in reasons.items():
            few = len(who) <= FEW
            lines.append((len(who), why, "<br>".join(who) if few else folded(self.said["students"], "<br>".join(who))))
        return self.table(("count", "why", "who"), lines, self.said["look"])

    # Pieces of it. given: (student, verdict) of one assignment

    def distribution(self, given):
        sums = [pages.marks(verdicts) for verdicts in self.by_student(given).values()]
        return f"<h3>{self.said['distribution']}</h3>{histogram([points / (most or 1) for points, most, _ in sums])}"

    def by_student(self, given):
        found = {}
        for student, verdict in given:
            found.setdefault(student, []).append(verdict)
        return found

    def questions(self, given):
        rows = []
        for question in dict.fromkeys(verdict["question"] for _, verdict in given):
            mine = [verdict for _, verdict in given if verdict["question"] == question]
            right = sum(not verdict["mistakes"] for verdict in mine)
            part = sum(bool(verdict["mistakes"] and verdict["points"]) for verdict in mine)
            nothing = sum(bool(UNANSWERED & {*verdict["mistakes"]}) and not verdict["points"] for verdict in mine)
            mean = sum(verdict["points"] for verdict in mine) / len(mine)
            drawn = f"{right} / {len(mine)} {bar(right / len(mine), part / len(mine))}"
            counts = part, len(mine) - right - part - nothing, nothing
            rows.append((f"<code>{question}</code>", drawn, *counts, f"{mean:.2f} / {mine[0]['most']}", self.top(mine)))
        heads = "question", "right", "part", "wrong", "unanswered", "mean", "top_mistake"
        return f"<h3>{self.said['questions']}</h3>" + self.table(heads, rows)

    def top(self, verdicts):
        counts = Counter(name for verdict in verdicts for name in verdict["mistakes"] if name not in UNANSWERED)
        return ", ".join(f"<code>{html.escape(name)}</code> ({count})" for name, count in counts.most_common(1))

    def frequent(self, given):
        """Each mistake once, with those who made it and where."""
        made = {}
        for student, verdict in given:
            for name in verdict["mistakes"]:
                made.setdefault(name, {}).setdefault(verdict["question"], []).append(student)
        counts = Counter(
            {name: len({one for students in where.values() for one in students}) for name, where in made.items()}
        )
        rows = []
        for name, count in counts.most_common(20):
            who = [
                folded(
                    f"<code>{question}</code>: {len(students)}",
                    ", ".join(self.link(one, question, by_name=True) for one in students),
                )
                for question, students in made[name].items()
            ]
            rows.append((count, f"<code>{html.escape(name)}</code>{self.described(name)}", "".join(who)))
        return f"<h3>{self.said['frequent']}</h3>" + self.table(("count", "finding", "who"), rows) if rows else ""

    def over_time(self, given):
        """Batches, if there are several, and those who sent their work earlier and later, as many in each group."""
        by_student = self.by_student(given)
        batches, sent = {}, sorted((verdicts[0].get("sent", 0), student) for student, verdicts in by_student.items())
        for student, verdicts in by_student.items():
            batches.setdefault(verdicts[0].get("batch", 1), []).append(student)
        groups = (
            [(self.said["batch"].format(number=one), batches[one]) for one in sorted(batches)]
            if len(batches) > 1
            else []
        )
        sent = [one for one in sent if day(one[0])]
        if len(sent) >= LEAST and day(sent[0][0]) != day(sent[-1][0]):
            size = len(sent) / GROUPS
            for number in range(GROUPS):
                mine = sent[round(number * size) : round((number + 1) * size)]
                groups.append((f"{day(mine[0][0])} – {day(mine[-1][0])}", [student for _, student in mine]))
        rows = []
        for name, students in groups:
            sums = [pages.marks(by_student[one]) for one in students]
            share = sum(points / (most or 1) for points, most, _ in sums) / len(sums)
            top = self.top([verdict for one in students for verdict in by_student[one]])
            rows.append((name, len(students), f"{100 * share:.0f} % {bar(min(1, share))}", top))
        return (
            f"<h3>{self.said['over_time']}</h3>" + self.table(("sent", "count", "share", "top_mistake"), rows)
            if rows
            else ""
        )

    def slowest(self, given):
        rows = [
            (f"{verdict['seconds']:.1f} s", self.link(student), self.link(student, verdict["question"]))
            for student, verdict in sorted(given, key=lambda pair: -pair[1]["seconds"])[:10]
        ]
        return f"<h3>{self.said['slowest']}</h3>" + self.table(("time", "student", "question"), rows)

    def students(self, assignments):
        """All of them, with their points in each assignment, and when they sent the last."""
        rows = []
        for one in self.all_graded:
            sums = [
                pages.marks([verdict for verdict in one["verdicts"] if verdict["assignment"] == name])
                for name in assignments
            ]
            points = [f"{pages.number(got)} / {pages.number(most)}" if most else "–" for got, most, _ in sums]
            by_hand = [f"<code>{verdict['question']}</code>" for verdict in one["verdicts"] if verdict.get("by_hand")]
            sent = day(max((verdict.get("sent", 0) for verdict in one["verdicts"]), default=0))
            extra = pages.number(sum(extra for *_, extra in sums))
            rows.append((self.link(one["student"]), *points, extra, ", ".join(by_hand), sent))
        heads = ("student", *(assignments if len(assignments) > 1 else ["points"]), "stretch", "by_hand", "sent")
        field = f'<label>{self.said["filter"]} <input type="search" autocomplete="off"></label>'
        shown = f'<output class="quiet" data-said="{html.escape(self.said["filtered"])}"></output>'
        table = f'<div id="everyone">{self.table(heads, rows)}</div>'
        return f'<h2 id="students">{self.said["students"]}</h2><div class="screen">{field}{shown}</div>{table}'
