"""Sections of the summary about a course: submissions that match no student or several, and late submissions."""

import html
from collections import Counter

from assignments.lms import due_dates, roster
from assignments.report import pages
from assignments.report.pages import format_number


def problems(course, all_graded):
    """Return problems: (key of the words' [roster], submissions, names of students)."""
    if not course.roster:
        return []
    rows, uncertain = [], set()
    for graded in all_graded:
        indexes = course.students_of(graded["student"])
        if len(indexes) != 1:
            names = [roster.distinct_label(course.roster.students[index]) for index in indexes] or roster.similar_names(
                course.roster, graded["student"]
            )
            rows.append(("ambiguous" if indexes else "nobody", [graded["student"]], names))
            uncertain |= {*indexes}
    uncertain |= {
        index
        for submission in course.paths.keys() - {graded["student"] for graded in all_graded}
        for index in course.students_of(submission)
    }
    for assignment in course.targets:
        sent, everything = (course.by_student(all_graded, assignment, with_empty) for with_empty in (False, True))
        for index, results in sent.items():
            name, counted = course.roster.students[index].name, [graded["student"] for graded in results]
            not_counted = [graded["student"] for graded in everything[index] if graded["student"] not in counted]
            rows += [("twice", counted, [name, assignment])] if len(results) > 1 else []
            rows += [("beside", not_counted, [name, assignment])] if not_counted else []
        missing = [
            student.name for index, student in enumerate(course.roster.students)
            if index not in sent and index not in uncertain and not roster.is_test_student(student)
        ]  # fmt: skip
        rows += [("missing", [name], [assignment]) for name in missing]
    return rows


def lines(course, all_graded):
    """Return the problems as lines for the terminal."""
    words = pages.words("en")["roster"]
    return [
        f"{', '.join(submissions)}: {words[key]}" + (f" ({'; '.join(about)})" if about else "")
        for key, submissions, about in problems(course, all_graded)
    ]


def sections(course, all_graded, names, language):
    """Return the sections of the summary: (anchor, title, HTML)."""
    links = {
        submission: f'<a href="review/{html.escape(name)}">{html.escape(submission)}</a>'
        for submission, name in names.items()
    }
    texts, sections = pages.words(language), []
    if course.roster:
        labels = texts["roster"]
        rows = [
            (
                ", ".join(html.escape(name) if key == "missing" else links[name] for name in submissions),
                html.escape(labels[key]),
                html.escape("; ".join(about)),
            )
            for key, submissions, about in problems(course, all_graded)
        ]
        certain = sum(len(course.students_of(graded["student"])) == 1 for graded in all_graded)
        body = f"<p>{html.escape(labels['matched'].format(count=certain, all=len(all_graded), students=len(course.roster.students)))}</p>"  # noqa: E501
        body += pages.table((labels["entry"], texts["instructor"]["why"], labels["about"]), rows) if rows else ""
        sections.append(("roster", labels["title"], body))
    if course.dates:
        sections.append(("dates", texts["dates"]["title"], lateness_table(course, texts, links)))
    if course.notes and sections:
        lines = "".join(
            f"<li>{html.escape(texts['roster'][key].format(**values))}</li>" for key, values in course.notes
        )
        sections[0] = (*sections[0][:2], sections[0][2] + f"<ul>{lines}</ul>")
    return sections


def lateness_table(course, texts, links):
    """Return the table of submissions that are late, extended or of unknown time, with source and rule."""
    labels, rows = texts["dates"], []
    for item in course.items:
        if item["why"] == "in_time" and not item["extended"]:
            continue
        cause, late = due_dates.deciding_rule(item, course.dates), item["late"]
        rule = html.escape(labels[item["why"]] if late is None else labels["head_extended"] if item["extended"] else "")
        rows.append((
            links[item["entry"]], f"<code>{item['assignment']}</code>",
            f"<code>{due_dates.format_moment(item['sent'])}</code>" if item["sent"] else "–",
            html.escape(labels[f"by_{item['source']}"]),
            "–" if late is None else f"{late.total_seconds() / 3600:.1f}", item["days"],
            f"<code>{cause[0]} = {format_number(cause[1])}</code> {rule}".strip() if cause else rule,
            format_number(item["before"]), format_number(item["after"]),
        ))  # fmt: skip
    late = sum(item["why"] != "in_time" for item in course.items)
    sources = Counter(item["source"] for item in course.items)
    lines = [labels["in_time_count"].format(count=len(course.items) - late, all=len(course.items))]
    lines += [
        f"{labels['head_source']}: "
        + " · ".join(f"{labels[f'by_{key}']} ({count})" for key, count in sources.most_common())
    ]
    rules = " · ".join(f"<code>{key} = {format_number(value)}</code>" for key, value in course.dates.late.items())
    body = "".join(f"<p>{html.escape(line)}</p>" for line in lines) + (f"<p>{rules}</p>" if rules else "")
    heads = [
        labels[f"head_{key}"] for key in ("assignment", "sent", "source", "late", "days", "rule", "before", "after")
    ]
    return body + pages.table([texts["instructor"]["student"], *heads], rows) if rows else body
