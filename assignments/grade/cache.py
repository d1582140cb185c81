"""Cache of graded submissions: one JSON file per student in `done/`, valid as long as its digest matches."""

import functools
import hashlib
import json
import os
import secrets
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from assignments.grade import judge
from assignments.own import stored
from assignments.read import folders
from assignments.read.names import page_name
from assignments.words import words
from companion.check.engine.question import all_questions

ROOT = Path(__file__).resolve().parents[2]


def write_atomically(path, content):
    """Write a text or bytes to a file atomically, also when several processes write to it at once."""
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        part.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "replace"))
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def cache_key(file_digests, settings):
    """Return a hash of everything that a grade depends on: the submitted files and the grader's settings."""
    return hashlib.sha256(json.dumps([file_digests, settings]).encode()).hexdigest()


def hash_files(path, read=lambda file, block: None):
    """Return a hash of the names, sizes and contents of a submission's files.

    read: is called with each block of a file that is read, so that nothing has to open the file again.
    """
    digest = hashlib.sha256()
    files = folders.files(path)[0]
    contents_read = folders.readable_files(files)[1]
    for file in files:
        digest.update(file.name.encode("utf-8", "surrogateescape"))
        try:
            size = file.stat().st_size
            digest.update(str(size).encode())
            if file not in contents_read:  # too many or too large: grading skips it, too
                continue
            with open(file, "rb") as stream:
                while block := stream.read(2**20):
                    digest.update(block)
                    read(file, block)
        except OSError:
            digest.update(b"unreadable")
    return digest.hexdigest()


def hash_sources():
    """Return a hash of the grader's and the checker's source, and of own questions: another version grades again."""
    return hash_project() + stored.hash_files()


@functools.cache
def hash_project():
    """Return a hash of the grader's and the checker's source."""
    digest = hashlib.sha256()
    for file in sorted([*(ROOT / "assignments").rglob("*.py"), *(ROOT / "companion" / "check").rglob("*.py")]):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def read_entries(path):
    """Return the cached results of one student, the latest batch last; empty if the file is missing or damaged.

    The form is {batch: {"digest", "complete", "graded", ...}}.
    """
    try:
        batches = json.loads(path.read_text(encoding="utf-8"))["batches"]
        return {key: entry for key, entry in batches.items() if entry["graded"]["verdicts"] is not None}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def merge_batches(results):
    """Merge one student's results from several batches, oldest first.

    If an assignment was graded more than once, the latest result counts.
    """
    merged, seen = [], set()
    for result in reversed(results):
        verdicts = [verdict for verdict in result["verdicts"] if verdict["assignment"] not in seen]
        seen.update(result["assignments"])
        if verdicts or not merged:
            merged.insert(0, result | {"verdicts": verdicts})
    return merged[-1] | {
        "assignments": [*dict.fromkeys(verdict["assignment"] for result in merged for verdict in result["verdicts"])],
        "verdicts": [verdict for result in merged for verdict in result["verdicts"]],
        "remarks": [
            list(pair) for pair in dict.fromkeys(tuple(pair) for result in merged for pair in result["remarks"])
        ],
    }


def read_rosters(output):
    """Return {batch: its students}, empty if batches.json is missing or damaged."""
    try:
        rosters = json.loads((output / "batches.json").read_text(encoding="utf-8"))
        return rosters if isinstance(rosters, dict) else {}
    except (OSError, ValueError):
        return {}


def add_batch(graded, batch):
    """Return a result with the number of its batch and the time its files were saved in each verdict."""
    sent = graded.get("sent", 0)
    return graded | {"verdicts": [verdict | {"batch": batch, "sent": sent} for verdict in graded["verdicts"]]}


def read_results(output, rosters):
    """Return the merged results of all students. rosters: {batch: its students}."""
    results, order = [], [*rosters]
    for student in sorted({student for roster in rosters.values() for student in roster}):
        batches = read_entries(output / "done" / f"{page_name(student)}.json")
        mine = [
            add_batch(entry["graded"], order.index(key) + 1)
            for key, entry in batches.items()
            if student in rosters.get(key, ())
        ]
        results += [merge_batches(mine)] if mine else []
    return results


def most_common_assignment(all_graded):
    """Return the assignment that most submissions answer, as a tuple of one name, or () if there is none."""
    votes = Counter(name for graded in all_graded for name in graded["assignments"])
    return tuple(name for name, _ in votes.most_common(1))


def assume_assignments(result, assignments):
    """Return the result of a submission whose assignment is unknown, scored as one for `assignments`."""
    grader_stopped = ["grader_stopped", ""] in map(list, result["remarks"])
    return unanswered_result(
        result["student"], assignments, result["language"], result["remarks"],
        "not_graded" if grader_stopped else "no_answer",
    )  # fmt: skip


def unanswered_result(student, assignments, language, remarks, mistake):
    """Return the result of a submission of which no question was run: each question gets this mistake."""
    own_words = words(language)
    verdicts = [
        asdict(judge.fail(judge.new_verdict(question), mistake, own_words)) | {"assignment": definition.assignment}
        for question, definition in all_questions().items()
        if definition.assignment in assignments
    ]
    return {
        "student": student, "language": language, "assignments": list(assignments), "remarks": remarks,
        "verdicts": verdicts, "seeds": {}, "seconds": 0.0,
    }  # fmt: skip
