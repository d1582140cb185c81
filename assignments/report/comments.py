"""Comments by the instructor: stored in comments.json among the results, and put beside the answers on all pages.

They come from comments.csv (`lms/comments.py` reads it) and from nbgrader's gradebook. A run without comments.csv keeps
those of the last run with it. Each comment stores a hash of the answer that it was written for: where the answer has
changed since, pages say so.
"""

import csv
import hashlib
import html
import io
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from assignments.grade import cache
from assignments.read import folders

FILE = "comments.json"


@dataclass
class Comment:
    """A comment on an answer or, without a question, on a submission.

    entries: the submissions of its student. student: the name as the instructor wrote it. line: in comments.csv, 0 for
    a comment in the gradebook. about: hash of the answer that it was written for; None if no page has shown it yet.
    """

    entries: list
    student: str
    assignment: str
    question: str
    text: str
    points: float | None = None
    line: int = 0
    about: str | None = None

    def key(self, assignment):
        """Return the name of what is commented on, as `answer_hashes` has it."""
        return f"{self.assignment or assignment}:{self.question}"

    def is_on(self, submission):
        """Return whether a submission is of the comment's student: Canvas gives a new one another name."""
        owner = folders.canvas_owner(submission)
        return submission in self.entries or bool(owner) and owner in map(folders.canvas_owner, self.entries)

    def is_same(self, other):
        """Return whether another comment says the same about the same answer."""
        mine, others = (
            (comment.assignment, comment.question, comment.text, comment.points) for comment in (self, other)
        )
        return mine == others and any(map(self.is_on, other.entries))


def read(output):
    """Return what is stored: {"file", "comments", "gradebook", "seen"}; without a readable file, nothing.

    seen: {submission: its `answer_hashes`, as the pages of the last run showed it}.
    """
    stored = {"file": "", "comments": [], "gradebook": [], "seen": {}}
    try:
        stored |= json.loads((Path(output) / FILE).read_text(encoding="utf-8"))
        return stored | {key: [Comment(**entry) for entry in stored[key]] for key in ("comments", "gradebook")}
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return {"file": "", "comments": [], "gradebook": [], "seen": {}}


def write(output, stored):
    """Write what `read` returns."""
    content = stored | {key: [asdict(comment) for comment in stored[key]] for key in ("comments", "gradebook")}
    cache.write_atomically(Path(output) / FILE, json.dumps(content, ensure_ascii=False, indent=1))


def store(output, file, comments):
    """Store the comments of comments.csv in place of those that an earlier run stored."""
    stored = read(output)
    remember_answers(comments, stored["comments"])
    write(output, stored | {"file": str(Path(file).resolve()), "comments": comments})


def remember_answers(comments, earlier):
    """Take from equal earlier comments which answers they were written for."""
    for comment in comments:
        comment.about = next((other.about for other in earlier if comment.is_same(other)), None)


def answer_hashes(graded):
    """Return {"assignment:question": hash of the answer's code}, and the hash of all answers as "assignment:"."""
    hashes = {f"{verdict['assignment']}:{verdict['question']}": verdict.get("source", "")
              for verdict in graded["verdicts"]}  # fmt: skip
    for assignment in graded["assignments"]:
        sources = sorted(item for item in hashes.items() if item[0].startswith(f"{assignment}:"))
        hashes[f"{assignment}:"] = hash_source(json.dumps(sources))
    return hashes


def hash_source(source):
    """Return a hash of an answer's code."""
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def of_gradebook(texts, all_graded, earlier):
    """Return the comments in nbgrader's gradebook. texts: {(submission, question): comment}."""
    comments = [
        Comment([graded["student"]], graded["student"], verdict["assignment"], verdict["question"], text)
        for graded in all_graded
        for verdict in graded["verdicts"]
        if (text := texts.get((graded["student"], verdict["question"])))
    ]
    remember_answers(comments, earlier)
    return comments


def add(output, all_graded, by_hand, texts, say):
    """Return the results with comments, and points by hand with those of comments.csv.

    by_hand: points in the gradebook, {(submission, question): points}. texts: its comments, with the same keys. Where
    comments.csv has another comment or other points, it counts, and a line says so.
    """
    stored = read(output)
    stored["gradebook"] = of_gradebook(texts, all_graded, stored["gradebook"])
    name, placed, by_hand = Path(stored["file"]).name, set(), dict(by_hand)
    results, seen = [], {graded["student"]: answer_hashes(graded) for graded in all_graded}
    for graded in all_graded:
        found = {}
        for comment in [*stored["gradebook"], *stored["comments"]]:
            key = comment.key(next(iter(graded["assignments"]), ""))
            hashes = seen[graded["student"]]
            if key not in hashes or not comment.is_on(graded["student"]):
                continue
            placed.add(id(comment))
            if comment.about is None:
                shown = [
                    stored["seen"][entry][key] for entry in comment.entries if key in stored["seen"].get(entry, {})
                ]
                comment.about = (shown or [hashes[key]])[0]
            if comment.line:
                said_before = found.get(key), by_hand.get((graded["student"], comment.question))
                report_replaced(comment, graded["student"], name, *said_before, say)
            found[key] = comment if comment.text else found.get(key, comment)
            if comment.points is not None:
                by_hand[graded["student"], comment.question] = comment.points
        results.append(with_comments(graded, found, seen[graded["student"]]))
    for comment in stored["comments"]:
        if id(comment) not in placed:
            question = comment.question or comment.assignment
            say(f"{name}, line {comment.line}: no page of {comment.student} has {question}, so this is not shown.")
    if count := sum(id(comment) in placed for comment in stored["comments"]):
        say(f"{name}: {count} comment{'s are' if count != 1 else ' is'} shown.")
    write(output, stored | {"seen": seen})
    return results, by_hand


def report_replaced(comment, student, name, other, points, say):
    """Say that a row of comments.csv counts instead of what the gradebook has."""
    answer = f"{student}, {comment.question}"
    if other and comment.text and other.text != comment.text:
        say(f"{answer}: the comment in {name} is shown, and not the one in the gradebook.")
    if None not in (points, comment.points) and points != comment.points:
        say(f"{answer}: the {comment.points:g} points in {name} count, and not the {points:g} in the gradebook.")


def with_comments(graded, found, hashes):
    """Return a result with its comments. found: {"assignment:question": comment}."""
    shown = {
        key: {"text": comment.text, "earlier": hashes[key] != comment.about}
        for key, comment in found.items()
        if comment.text
    }
    outdated = {key for key, comment in found.items() if hashes[key] != comment.about}
    verdicts = []
    for verdict in graded["verdicts"]:
        key = f"{verdict['assignment']}:{verdict['question']}"
        verdict = verdict | ({"comment": shown[key]} if key in shown else {})
        verdicts.append(
            verdict | ({"look": [*verdict.get("look", ()), ["comment_old", ""]]} if key in outdated else {})
        )
    whole = {name: shown[f"{name}:"] for name in graded["assignments"] if f"{name}:" in shown}
    return graded | {"verdicts": verdicts} | ({"comments": whole} if whole else {})


def forget(output, student, others):
    """Delete a student's comments; return (file, spellings): where the instructor's own rows about the student are.

    others: all other submissions that are stored.
    """
    stored, spellings = read(output), {student}
    for key in ("comments", "gradebook"):
        for comment in stored[key]:
            if comment.is_on(student):
                spellings.add(comment.student)
                comment.entries = [entry for entry in comment.entries if entry in others]
        stored[key] = [comment for comment in stored[key] if comment.entries]
    stored["seen"].pop(student, None)
    if (Path(output) / FILE).exists():
        write(output, stored)
    return stored["file"], spellings


def line_to_add(student, question):
    """Return the row of comments.csv for a comment on an answer, to be completed between the quotes."""
    row = io.StringIO()
    csv.writer(row, lineterminator="\n").writerow((student, question))
    return f'{row.getvalue()[:-1]},""'


# HTML


def section(comment, texts, about=""):
    """Return a comment as HTML, or "" without one. about: HTML that names what it is about."""
    if not comment:
        return ""
    label = html.escape(texts["comment_earlier" if comment["earlier"] else "comment"])
    text = html.escape("".join(letter for letter in comment["text"] if letter in "\n\t" or ord(letter) >= 32))
    return f'<div class="comment"><p><strong>{label}</strong>{about}</p><p class="said">{text}</p></div>'
