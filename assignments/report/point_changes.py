"""Changes of points when the same files are graded again: the old points, and grades/changes.html and .csv.

The old points and mistakes are stored with the new ones in the student's cache file, so an interruption loses nothing.
The same command continues an interrupted run under its id.
"""

import csv
import hashlib
import html
import io
import json
import secrets

from assignments.report import grade_tables, pages
from assignments.report.pages import format_number

FILE = "changes.json"


def read_run(output):
    """Return the run that changes.html reports; empty if there is none."""
    try:
        run = json.loads((output / FILE).read_text(encoding="utf-8"))
        return run if isinstance(run, dict) else {}
    except (OSError, ValueError, RecursionError):
        return {}


def start_run(output, key, questions, fresh, settings):
    """Return a new run, or the last one for the same request unless `fresh` asks for another and it is finished.

    New probes are drawn again only after the run that asked for them is finished. key: of the batch. settings:
    everything else that a grade depends on.
    """
    request = [key, sorted(questions), fresh, settings]
    request = hashlib.sha256(json.dumps(request).encode()).hexdigest()[:16]
    last_run = read_run(output)
    if last_run.get("asked") == request and not (fresh and last_run.get("finished")):
        return last_run
    return {
        "asked": request,
        "id": secrets.token_hex(8),
        "questions": sorted(questions),
        "fresh": fresh,
        "finished": False,
    }


def unchanged_verdicts(last, run, files):
    """Return what need not be graded again: {question: (verdict, seed, None)}, or None if everything must."""
    if not run["questions"] or not last or not last["complete"] or last.get("files") != files:
        return None
    in_this_run, graded = last.get("run") == run["id"], last["graded"]
    return {
        verdict["question"]: (verdict, graded["seeds"].get(verdict["question"]), None)
        for verdict in graded["verdicts"] if in_this_run or verdict["question"] not in run["questions"]
    }  # fmt: skip


def old_points(last, run, now, appealed=False):
    """Return what is stored beside a new result: the old points and mistakes, if the same files were graded.

    Changes by an appeal are shown on the page of appeals instead.
    """
    if not last or last.get("files", now["files"]) != now["files"]:
        return {}
    same_run = last.get("run") == run["id"] or not run["questions"] and last["digest"] == now["digest"]
    if same_run or appealed:
        return {key: last[key] for key in ("run", "before", "known") if key in last}
    old_verdicts = {
        verdict["question"]: [verdict["points"], verdict["mistakes"]] for verdict in last["graded"]["verdicts"]
    }
    return {"run": run["id"], "before": old_verdicts, "known": "files" in last}


def compared_rows(entries):
    """Return (student, question, old points, old mistakes, points, mistakes) of everything compared."""
    return [
        (student, verdict["question"], *entry["before"][verdict["question"]], verdict["points"], verdict["mistakes"])
        for student, entry in entries for verdict in entry["graded"]["verdicts"]
        if verdict["question"] in entry["before"]
    ]  # fmt: skip


def direction(row):
    """Return the key of the words that describe a row: more, less, same or other."""
    _, _, old, old_mistakes, new, new_mistakes = row
    return "more" if new > old else "less" if new < old else "same" if old_mistakes == new_mistakes else "other"


def csv_table(entries):
    """Return the changed rows as CSV."""
    file = io.StringIO()
    file.write("\ufeff")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("student", "question", "points_before", "points", "mistakes_before", "mistakes"))
    for row in compared_rows(entries):
        if direction(row) != "same":
            student, question, old_points, old_mistakes, new_points, new_mistakes = row
            points = format_number(old_points), format_number(new_points)
            cells = *points, " ".join(old_mistakes), " ".join(new_mistakes)
            writer.writerow((grade_tables.escape_formula(student), question, *cells))
    return file.getvalue()


def code(name):
    return f"<code>{html.escape(name)}</code>"


def page(entries, run, names, by_hand, language):
    """Return changes.html.

    entries: (student, cache entry). names: {student: page}. by_hand: {(student, question): points}.
    """
    words = pages.words(language)
    texts, labels = words["changes"], words["instructor"]
    key = "all" if not run["questions"] else "questions_fresh" if run["fresh"] else "questions"
    about = [texts[key].format(questions=", ".join(f"`{question}`" for question in run["questions"]))]
    about += [] if all(entry["known"] for _, entry in entries) else [texts["unknown"]]
    compared, kinds = compared_rows(entries), ("less", "more", "other", "same")
    changed = sorted(
        (row for row in compared if direction(row) != "same"),
        key=lambda row: (kinds.index(direction(row)), row[1], row[0]),
    )
    counts = {}
    for row in compared:
        counts.setdefault(row[1], dict.fromkeys(kinds, 0))[direction(row)] += 1
    # the questions graded again, and others only if a verdict changed
    shown = {*run["questions"]} if run["questions"] else {*counts}
    shown |= {row[1] for row in changed}
    body = [f"<h1>{texts['title']}</h1>", f'<nav><a href="summary.html">{labels["summary"]}</a></nav>']
    body += map(pages.render_markdown, about)
    heads = [labels["question"], *(texts[key] for key in kinds)]
    body.append(
        pages.table(heads, [(code(question), *counts[question].values()) for question in counts if question in shown])
    )
    if not changed:
        body.append(f"<p>{texts['nobody']}</p>")
    lines = []
    for student, question, old_points, old_mistakes, new_points, new_mistakes in changed:
        points = format_number(new_points)
        if (student, question) in by_hand:
            points += f" ({labels['by_hand']}: {format_number(by_hand[student, question])})"
        link = f'<a href="review/{html.escape(names[student])}#{question}">{html.escape(student)}</a>'
        mistakes = [", ".join(map(code, group)) or "–" for group in (old_mistakes, new_mistakes)]
        lines.append((link, code(question), format_number(old_points), points, *mistakes))
    keys = "points_before", "points_after", "mistakes_before", "mistakes_after"
    heads = [labels["student"], labels["question"], *(texts[key] for key in keys)]
    body += [pages.table(heads, lines)] if lines else []
    return pages.page(language, texts["title"], "\n".join(body), pages.SORT, wide=True)
