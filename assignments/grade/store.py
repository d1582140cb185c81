"""What is kept of each submission between two runs, in done/ among the results, and what of it still holds."""

import hashlib
import json
import os
import secrets
from collections import Counter
from dataclasses import asdict
from functools import cache
from pathlib import Path

from assignments.grade import judge
from assignments.read import folders
from assignments.read.names import page_name
from assignments.words import words
from companion.check.engine.question import all_questions

ROOT = Path(__file__).resolve().parents[2]


def store(path, content):
    """Write a text or bytes to a file, whole or not at all, also if another process writes to it at the same time."""
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        part.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "replace"))
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def digest(files, settings):
    """Of all that decides a grade: the files, what was asked for, and who asks."""
    return hashlib.sha256(json.dumps([files, settings]).encode()).hexdigest()


def files_digest(path):
    found = hashlib.sha256()
    files = folders.files(path)[0]
    room = folders.readable_files(files)[1]
    for file in files:
        found.update(file.name.encode("utf-8", "surrogateescape"))
        try:
            size = file.stat().st_size
            found.update(str(size).encode())
            if file not in room:  # it is not read either
                continue
            with open(file, "rb") as opened:
                while piece := opened.read(2**20):
                    found.update(piece)
        except OSError:
            found.update(b"unreadable")
    return found.hexdigest()


@cache
def sources():
    """A digest of the grader and the checker: what an older one has graded is graded anew."""
    found = hashlib.sha256()
    for file in sorted([*(ROOT / "assignments").rglob("*.py"), *(ROOT / "companion" / "check").rglob("*.py")]):
        found.update(file.read_bytes())
    return found.hexdigest()


def stored_in(path):
    """What is stored of a student: {batch: {"digest", "complete", "graded"}}, the latest batch last."""
    try:
        batches = json.loads(path.read_text(encoding="utf-8"))["batches"]
        return {key: one for key, one in batches.items() if one["graded"]["verdicts"] is not None}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def joined(results):
    """One student's results of several batches. Of an assignment that was graded twice the later counts."""
    kept, again = [], set()
    for one in reversed(results):
        verdicts = [verdict for verdict in one["verdicts"] if verdict["assignment"] not in again]
        again.update(one["assignments"])
        if verdicts or not kept:
            kept.insert(0, one | {"verdicts": verdicts})
    return kept[-1] | {
        "assignments": [*dict.fromkeys(verdict["assignment"] for one in kept for verdict in one["verdicts"])],
        "verdicts": [verdict for one in kept for verdict in one["verdicts"]],
        "remarks": [list(pair) for pair in dict.fromkeys(tuple(pair) for one in kept for pair in one["remarks"])],
    }


def rosters_in(output):
    """Return {batch: its students}, empty if batches.json is missing or damaged."""
    try:
        rosters = json.loads((output / "batches.json").read_text(encoding="utf-8"))
        return rosters if isinstance(rosters, dict) else {}
    except (OSError, ValueError):
        return {}


def dated(graded, batch):
    """What is stored of a student, each verdict with the number of its batch and when its files were saved."""
    sent = graded.get("sent", 0)
    return graded | {"verdicts": [one | {"batch": batch, "sent": sent} for one in graded["verdicts"]]}


def all_stored(output, rosters):
    """Return the stored results of all students. rosters: {batch: its students}."""
    found, order = [], [*rosters]
    for student in sorted({student for roster in rosters.values() for student in roster}):
        batches = stored_in(output / "done" / f"{page_name(student)}.json")
        mine = [
            dated(one["graded"], order.index(key) + 1)
            for key, one in batches.items()
            if student in rosters.get(key, ())
        ]
        found += [joined(mine)] if mine else []
    return found


def most_sent(all_graded):
    """The assignment of most submissions."""
    votes = Counter(name for one in all_graded for name in one["assignments"])
    return tuple(name for name, _ in votes.most_common(1))


def told(result, assignments):
    """What is stored of a submission that could not be told, if it is taken for one to these assignments."""
    stopped = ["grader_stopped", ""] in map(list, result["remarks"])
    return unanswered(
        result["student"], assignments, result["language"], result["remarks"], "not_graded" if stopped else "no_answer"
    )  # fmt: skip


def unanswered(student, assignments, language, remarks, mistake):
    """What is stored of a submission of which nothing was asked: each question has this mistake."""
    said = words(language)
    verdicts = [
        asdict(judge.failed(judge.blank(question), mistake, said)) | {"assignment": asked.assignment}
        for question, asked in all_questions().items()
        if asked.assignment in assignments
    ]
    return {
        "student": student, "language": language, "assignments": list(assignments), "remarks": remarks,
        "verdicts": verdicts, "seeds": {}, "seconds": 0.0,
    }  # fmt: skip
