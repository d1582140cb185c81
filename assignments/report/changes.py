"""Who has other points after a grading than before it, though the same files were graded: grades/changes.html and .csv.

With --question a question is graded anew, and everything else stays as it is stored. Where the grader itself has
changed, or its limits, all is graded anew. In both cases the points and mistakes of before are kept with the new ones,
in one file of the student, so that an interruption takes nothing away. A run goes on until it is finished, under one
name.
"""

import csv
import hashlib
import html
import io
import json
import secrets

from assignments.report import pages

FILE = "changes.json"


def stored(output):
    """The run of which changes.html tells."""
    try:
        said = json.loads((output / FILE).read_text(encoding="utf-8"))
        return said if isinstance(said, dict) else {}
    except (OSError, ValueError, RecursionError):
        return {}


def begun(output, key, questions, fresh, settings):
    """A run, or the one that was interrupted. New probes are drawn again only when those that were asked for are there.

    key: of the batch; settings: what else decides a grade.
    """
    asked = [key, sorted(questions), fresh, settings]
    asked = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:16]
    last = stored(output)
    if last.get("asked") == asked and not (fresh and last.get("finished")):
        return last
    return {
        "asked": asked,
        "id": secrets.token_hex(8),
        "questions": sorted(questions),
        "fresh": fresh,
        "finished": False,
    }


def stays(last, run, files):
    """What need not be graded when only some questions are: None if all of it must, else {question: verdict and
    seed}."""
    if not run["questions"] or not last or not last["complete"] or last.get("files") != files:
        return None
    done, graded = last.get("run") == run["id"], last["graded"]
    return {
        one["question"]: (one, graded["seeds"].get(one["question"]), None)
        for one in graded["verdicts"] if done or one["question"] not in run["questions"]
    }  # fmt: skip


def before(last, run, now, appealed=False):
    """What is stored beside a new result: the points and mistakes of before, if it was the same files that were graded.
    What an appeal changes stands on its own page."""
    if not last or last.get("files", now["files"]) != now["files"]:
        return {}
    going_on = last.get("run") == run["id"] or not run["questions"] and last["digest"] == now["digest"]
    if going_on or appealed:
        return {key: last[key] for key in ("run", "before", "known") if key in last}
    told = {one["question"]: [one["points"], one["mistakes"]] for one in last["graded"]["verdicts"]}
    return {"run": run["id"], "before": told, "known": "files" in last}


def rows(entries):
    """(student, question, points before, mistakes before, points, mistakes) of all that was compared."""
    return [
        (student, one["question"], *entry["before"][one["question"]], one["points"], one["mistakes"])
        for student, entry in entries for one in entry["graded"]["verdicts"] if one["question"] in entry["before"]
    ]  # fmt: skip


def kind(row):
    """Which of the words says what became of it."""
    _, _, points, mistakes, now, found = row
    return "more" if now > points else "less" if now < points else "same" if mistakes == found else "other"


def table(entries):
    """Who changed, as text."""
    file = io.StringIO()
    file.write("\ufeff")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("student", "question", "points_before", "points", "mistakes_before", "mistakes"))
    for row in rows(entries):
        if kind(row) != "same":
            student, question, points, mistakes, now, found = row
            told = pages.number(points), pages.number(now), " ".join(mistakes), " ".join(found)
            writer.writerow((pages.cell(student), question, *told))
    return file.getvalue()


def page(entries, run, names, by_hand, language):
    """entries: (student, what is stored); names: of each student's page; by_hand: points of (student, question)."""
    words = pages.words(language)
    said, own = words["changes"], words["instructor"]
    key = "all" if not run["questions"] else "questions_fresh" if run["fresh"] else "questions"
    about = [said[key].format(questions=", ".join(f"`{one}`" for one in run["questions"]))]
    about += [] if all(entry["known"] for _, entry in entries) else [said["unknown"]]
    compared, kinds = rows(entries), ("less", "more", "other", "same")
    changed = sorted(
        (row for row in compared if kind(row) != "same"), key=lambda row: (kinds.index(kind(row)), row[1], row[0])
    )
    counts = {}
    for row in compared:
        counts.setdefault(row[1], dict.fromkeys(kinds, 0))[kind(row)] += 1
    # those that were asked for, and others only where something became of them
    shown = [
        one
        for one in counts
        if one in run["questions"]
        or not run["questions"]
        or any(kind(row) != "same" and row[1] == one for row in compared)
    ]
    body = [
        f"<h1>{said['title']}</h1>",
        f'<nav><a href="summary.html">{own["summary"]}</a></nav>',
        *map(pages.marked, about),
    ]
    heads = [own["question"], *(said[one] for one in kinds)]
    body.append(pages.table(heads, [(f"<code>{one}</code>", *counts[one].values()) for one in shown]))
    if not changed:
        body.append(f"<p>{said['nobody']}</p>")
    lines = []
    for student, question, points, mistakes, now, found in changed:
        hand = (
            f" ({own['by_hand']}: {pages.number(by_hand[student, question])})" if (student, question) in by_hand else ""
        )
        link = f'<a href="review/{html.escape(names[student])}#{question}">{html.escape(student)}</a>'
        lists = [", ".join(f"<code>{html.escape(one)}</code>" for one in ones) or "–" for ones in (mistakes, found)]
        lines.append((link, f"<code>{question}</code>", pages.number(points), f"{pages.number(now)}{hand}", *lists))
    heads = [
        own["student"],
        own["question"],
        *(said[one] for one in ("points_before", "points_after", "mistakes_before", "mistakes_after")),
    ]
    body += [pages.table(heads, lines)] if lines else []
    return pages.page(language, said["title"], "\n".join(body), pages.SORT, wide=True)
