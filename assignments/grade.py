"""From a folder of submissions to grades: python assignments/grade.py SUBMISSIONS --output grades/

SUBMISSIONS holds a folder or a notebook for each student, named as the student. What is written:

    grades/grades.csv          student, question, points, mistake
    grades/gradebook.db        nbgrader's gradebook
    grades/summary.html        for the instructor
    grades/feedback/*.html     a page for each student, in the language of the assignment
    grades/review/*.html       the same for the instructor, with the student's code
    grades/questions.html      with --own-code: for the instructor, questions about each student's own code, with answers
    grades/sheets.html         the same without answers, to be printed and handed out
    grades/appeals.html        for the instructor: those graded --again
    grades/changes.html        for the instructor, and .csv: whose points changed since the same files were graded before
    grades/similar.html        for the instructor, with --similar: pairs of submissions that are alike
    grades/done/*.json         what is graded so far: an interrupted batch continues with the next submission
    grades/batches.json        the students of each batch
    grades/parts/*.json        what each --part has seen and done, for join.py
    grades/appeals/*.json      of those graded --again: every probe, what is right on it, and what the answer gave,
                               which their pages in review/ show
    grades/canvas.csv          with --roster: the class list as it came, and the grades filled in
    grades/moodle.csv          the same for Moodle, and with it
    grades/moodle_feedback.zip the students' pages as Moodle takes them
    grades/term.json           with --dates: when each submission was sent

Several batches, of one assignment each, may go to one output folder: the latest that graded an assignment counts.
A score that was given by hand in the gradebook stays, and all pages show it, however often the batch is run.
--again STUDENT repeats a grading with the probes that it was done with; with --fresh it draws new ones.
--question NAME does so for one question of all students, and leaves everything else as it is stored.
--part 3/16 grades the third of sixteen shares of the students, on whatever machine; join.py makes pages of all of them.
"""

import argparse
import hashlib
import json
import os
import re
import secrets
import signal
import sys
import time
import traceback
import unicodedata
from collections import Counter, deque
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from functools import cache
from multiprocessing import get_context
from multiprocessing.connection import wait
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import identity  # noqa: E402  (its folder is on the path only now)
import isolation  # noqa: E402
import own_pages  # noqa: E402
import pages  # noqa: E402
import reading  # noqa: E402
import regrade  # noqa: E402
import review  # noqa: E402
import similarity  # noqa: E402
import spread  # noqa: E402
import summary  # noqa: E402
import term as terms  # noqa: E402

from companion.check import saying  # noqa: E402


PATIENCE = 240  # seconds until a grading process has to say something, beside the four times that it asks at most
MEMORY = 2048  # megabytes that a grading process may take for what students send, beyond torch's own


def on_ending(action):
    """What to do at a Ctrl-C, when the system shuts down, and when the terminal is closed."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has not all of them
        if number and signal.getsignal(number) != signal.SIG_IGN:  # as `nohup` has it
            signal.signal(number, action)


# One submission, in one of the grading processes


class Grader:
    """One of the processes that grade. It holds the truth and the marks, and a worker for students' code."""

    worker = None
    seeds = {}

    @classmethod
    def begin(cls, hidden, mothers, seeds):
        import torch

        import asking

        on_ending(signal.SIG_IGN)  # it is the main process that takes them
        isolation.end_with_parent()  # who ends the main process, ends this one
        isolation.limit_own_memory(MEMORY)
        torch.set_num_threads(1)
        cls.worker, cls.seeds = asking.Worker(hidden, mothers), seeds

    @classmethod
    def grade(cls, student, path, wanted, language, limits, seeds, names, parts, shown=True, stays=()):
        """What is stored of a submission, at last; before it, what of it is at hand: ("", None) while it is read, then the
        name of each question with None, and with its part when that is there.

        seeds: those of an earlier grading, if it is to be repeated; shown: whether the numbers are then kept as well. names:
        of all students, if each is held to variants of their own. parts: those of questions that are not asked again;
        stays: of these the ones that were stored long ago.
        """
        import asking
        import own_code

        begin, parts = time.monotonic(), dict(parts)
        yield "", None
        sent = reading.submission(student, path, wanted)
        if not sent.answers:
            sent.remarks.append(("no_assignment", ""))
        questions = [one for one in reading.all_questions().values() if one.assignment in (list(wanted) or sent.assignments)]
        name, remark = identity.asked_as(student, sent.name, names, questions)
        sent.remarks += [remark] if remark else []
        graded = {
            "student": student, "language": language or sent.language, "remarks": sent.remarks, "verdicts": [],
            "assignments": list(wanted) or sent.assignments, "seeds": {}, "numbers": {},
            "sent": max((one.time for one in sent.notebooks), default=0),
        }  # fmt: skip
        said = pages.words(graded["language"])
        end = begin + 2 * len(questions) * limits["wall"]  # twice what each may take
        for asked in questions:
            question = asked.name
            if question not in parts and time.monotonic() > end:
                sent.remarks += [] if ("too_slow", "") in sent.remarks else [("too_slow", "")]
                verdict = asking.failed(asking.blank(question), "time_limit", said, limits["seconds"])
                parts[question] = asdict(verdict) | {"assignment": asked.assignment}, None, None
            if question not in parts:
                yield question, None
                seed = (seeds or {}).get(question, cls.seeds[question])
                numbers = {} if shown and seeds is not None else None
                answer = sent.answers.get(question)
                try:
                    verdict = asking.grade(
                        cls.worker, question, answer, seed, graded["language"], said, limits, numbers, name
                    )  # fmt: skip
                except Exception:  # whatever it is, the other questions are graded
                    traceback.print_exc()
                    verdict = asking.failed(asking.blank(question), "not_graded", said)
                parts[question] = asdict(verdict) | {"assignment": asked.assignment}, seed, numbers
                yield question, parts[question]
            if parts[question] is None:  # it ended this process whenever it was asked
                verdict = asking.failed(asking.blank(question), "not_graded", said)
                parts[question] = asdict(verdict) | {"assignment": asked.assignment}, None, None
                sent.remarks += [] if ("grader_stopped", "") in sent.remarks else [("grader_stopped", "")]
            verdict, seed, numbers = parts[question]
            if "time_limit" in verdict["mistakes"]:  # what holds up one question need not hold up the batch in all
                limits = limits | {key: max(2, limits[key] // 3) for key in ("seconds", "wall")}
            about = f"{question}, own code"  # a part of its own: what ends this process here takes no point away
            asks = limits.get("own_code") and question not in stays
            if asks and not verdict["mistakes"] and seed is not None and about not in parts:
                yield about, None
                parts[about] = own_code.asked(cls.worker, question, sent.answers[question], seed, name)
                yield about, parts[about]
            verdict["own_code"] = parts.get(about) or verdict.get("own_code", [])
            graded["verdicts"].append(verdict | review.beside(sent, question, verdict, graded["language"], name))
            if seed is not None:
                graded["seeds"][question] = seed
            if numbers:
                graded["numbers"][question] = review.compared(numbers)
        yield "", None
        asking.follow_through(graded["verdicts"], sent.answers, said, cls.worker, graded["seeds"], limits, name, stays)
        yield "", graded | {"seconds": time.monotonic() - begin}


def serve(line, *started):
    """What a grading process does: it takes a submission from the line, and says what `Grader.grade` does."""
    Grader.begin(*started)
    try:
        while True:
            for part in Grader.grade(*line.recv()):
                line.send(part)
    except EOFError:  # the main process is gone
        pass


class Grading:
    """A grading process, for the main one. On Linux it is forked, with all that it needs in memory; torch has no threads
    there yet, as nothing was computed."""

    def __init__(self, *started):
        context = get_context("fork" if isolation.LINUX else "spawn")
        self.line, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, *started), daemon=True)
        self.process.start()
        theirs.close()

    def ask(self, *asked):
        try:
            self.line.send(asked)
        except OSError:  # it is gone, and `said` says so
            pass

    def said(self):
        """What it says next; None if it is gone."""
        try:
            return self.line.recv()
        except (EOFError, OSError):
            return None

    def close(self):
        self.process.kill()
        self.process.join()
        self.line.close()


# The batch


def digest(files, settings):
    """Of all that decides a grade: the files, what was asked for, and who asks."""
    return hashlib.sha256(json.dumps([files, settings]).encode()).hexdigest()


def files_digest(path):
    found = hashlib.sha256()
    files = reading.files(path)[0]
    room = reading.looked_at(files)[1]
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
    for file in sorted([*HERE.glob("*.py"), *(HERE.parent / "companion" / "check").rglob("*.py")]):
        found.update(file.read_bytes())
    return found.hexdigest()


# What a program takes for an option, and Windows for a device, whatever stands behind the point.
TAKEN = re.compile(r"-|(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)")


def page_name(student):
    """A file's name that is no one else's, whatever the student's is made of, also where case makes no difference.

    What is not plain gets a mark, so long that nobody finds another name of the same; and so does what looks marked.
    """
    plain = re.sub(r"[^a-z0-9_.-]", "_", student.lower()).strip(".")[:60]
    if plain == student and not re.search(r"-[0-9a-f]{16}$", plain) and not TAKEN.match(plain):
        return plain
    plain = f"_{plain}" if TAKEN.match(plain) else plain
    return f"{plain}-{hashlib.sha256(student.encode('utf-8', 'replace')).hexdigest()[:16]}"


def store(path, text):
    """Writes a file whole or not at all, also where two do so at once."""
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        part.write_text(text, encoding="utf-8", errors="replace")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


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


def all_stored(output, rosters):
    """What is stored of all students. rosters: {batch: its students}.

    What the part of a batch could not tell is taken here for what most sent in all of it.
    """
    stored, by_batch = {}, {}
    for student in sorted({student for roster in rosters.values() for student in roster}):
        batches = stored_in(output / "done" / f"{page_name(student)}.json")
        mine = {key: one["graded"] for key, one in batches.items() if student in rosters.get(key, ())}
        stored[student] = {key: summary.dated(one, [*rosters].index(key) + 1) for key, one in mine.items()}
        for key, one in stored[student].items():
            by_batch.setdefault(key, []).append(one)
    usual, found = {key: most_sent(results) for key, results in by_batch.items()}, []
    for batches in stored.values():
        results = [one if one["assignments"] else told(one, usual[key]) for key, one in batches.items()]
        found += [joined(results)] if results else []
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
    import asking

    said = pages.words(language)
    verdicts = [
        asdict(asking.failed(asking.blank(question), mistake, said)) | {"assignment": asked.assignment}
        for question, asked in reading.all_questions().items()
        if asked.assignment in assignments
    ]
    return {
        "student": student, "language": language, "assignments": list(assignments), "remarks": remarks,
        "verdicts": verdicts, "seeds": {}, "seconds": 0.0,
    }  # fmt: skip


@dataclass
class Job:
    """A submission that is graded. parts: what is there of it, by question; None of one that is not asked again."""

    student: str
    patience: float
    parts: dict = field(default_factory=dict)
    ends: Counter = field(default_factory=Counter)  # how often a grading process ended, by the question that it was at
    at: str = ""
    grading: object = None
    end: float = 0.0  # of the patience with it

    def begun(self, grading):
        self.grading, self.at = grading, ""
        self.wait()
        return self

    def wait(self):
        self.end = time.monotonic() + self.patience

    def take(self, question, part):
        """What a grading process says. Returns what is to be stored, if that is it."""
        self.wait()
        self.at = question
        if question and part is not None:
            self.parts[question] = part
        return None if question else part

    def ended(self):
        """Whether it is to go on, in another process."""
        self.ends[self.at] += 1
        if self.ends[self.at] > 1:
            if not self.at:
                return False
            self.parts[self.at] = None
        return True


class Batch:
    """All submissions of a folder, or a part of them, as (3, 16). again: students to be graded anew; questions: those to be graded anew for all; fresh:
    with other probes than before; variants: whether each student is held to the variants of their own name; similar:
    whether students' code is compared; term: what the class list and the due dates make of it."""

    def __init__(
        self, folder, output, wanted=(), language=None, limits=None, again=(), fresh=False, variants=False, say=print, term=None,
        questions=(), similar=False, part=None,
    ):  # fmt: skip
        import asking

        self.folder, self.part = Path(folder).resolve(), part
        self.output, self.wanted, self.language, self.say = Path(output), tuple(wanted), language, say
        self.term = term
        self.limits = asking.LIMITS | (limits or {})
        for one in ("done", "feedback", "review", "appeals"):
            (self.output / one).mkdir(parents=True, exist_ok=True)
        os.chmod(self.output, 0o700)  # other students may have accounts here
        found = reading.students(folder)
        found = {name: path for name, path in found.items() if path.resolve() != self.output.resolve()}
        self.roster = [*found]
        self.names = sorted(found) if variants else None
        self.found = {name: path for name, path in found.items() if not part or spread.is_in(name, part)}
        settings = [list(self.wanted), language, self.limits, variants, sources()]
        self.files = {name: files_digest(path) for name, path in self.found.items()}
        self.digests = {name: digest(files, settings) for name, files in self.files.items()}
        self.seeds = {question: asking.fresh_seed() for question in reading.all_questions()}
        self.hidden = [str(self.folder), str(self.output.resolve()), str(HERE)]
        self.graded, self.untold, self.repeated, self.parts, self.spoken, self.todo = {}, {}, {}, {}, {}, []
        self.again, self.similar = frozenset(again), similar
        self.key = hashlib.sha256(json.dumps([str(self.folder), *self.wanted]).encode()).hexdigest()[:8]
        self.change = regrade.begun(self.output, self.key, questions, fresh and bool(questions), settings)
        if part:
            self.note(ended=False)
        else:
            self.rename()
        for student in self.found:
            self.resume(student, student in again, fresh)
        if questions and (whole := len({*self.todo} - {*self.parts})):
            say(f"{whole} submissions are new, have changed, or are of an older version: all their questions are graded.")

    def rename(self):
        """What was stored under a name that `page_name` once gave takes that of today."""
        for file in (self.output / "done").glob("*.json"):
            names = {page_name(one["graded"]["student"]) for one in stored_in(file).values()}
            if len(names) != 1 or file.stem in names:
                continue
            for folder, kind in (("done", "json"), ("appeals", "json"), ("feedback", "html"), ("review", "html")):
                old = self.output / folder / f"{file.stem}.{kind}"
                new = old.with_name(f"{min(names)}.{kind}")
                if old.exists() and not new.exists():
                    os.replace(old, new)

    def note(self, ended):
        """Says for join.py how far this part is."""
        path = spread.file_of(self.output, self.key, self.part)
        path.parent.mkdir(exist_ok=True)
        said = spread.said_of(self.key, self.part, self.folder, self.wanted, self.roster, sources(), ended)
        store(path, json.dumps(said, ensure_ascii=False, indent=1))

    def done(self, student):
        return self.output / "done" / f"{page_name(student)}.json"

    def resume(self, student, again, fresh):
        """Takes what is stored of a student, if it is of what is here now."""
        batches = stored_in(self.done(student))
        if again:  # whoever appeals is shown the numbers
            old = () if fresh else batches.values()
            self.repeated[student] = {key: seed for one in old for key, seed in one["graded"]["seeds"].items()}
        mine = batches.get(self.key)
        parts = regrade.stays(mine, self.change, self.files[student])
        if parts is not None and not again:
            if len(parts) == len(mine["graded"]["verdicts"]):
                self.graded[student] = mine["graded"]
                batches[self.key] = mine | {"digest": self.digests[student]}
                store(self.done(student), json.dumps({"batches": batches}, ensure_ascii=False))
                return
            self.parts[student], self.spoken[student] = parts, mine["graded"]["language"]
            self.repeated[student] = None if fresh else mine["graded"]["seeds"]
            self.todo.append(student)
        elif mine and mine["digest"] == self.digests[student] and mine["complete"] and not again:
            self.graded[student] = mine["graded"]
            if not mine["graded"]["assignments"]:  # a part could not tell
                self.untold[student] = mine["graded"]
        else:
            self.todo.append(student)

    def grade(self, workers=None):
        """Grades what is left. Returns what was graded, by student."""
        if self.graded:
            self.say(f"{len(self.graded)} of {len(self.found)} submissions are graded already.")
        workers = max(1, min(workers or os.cpu_count() or 1, len(self.todo) or 1))
        try:
            self.run(self.todo, workers)
            if self.part:
                self.note(ended=True)
            for student, result in {} if self.part else self.untold.items():
                self.keep(student, told(result, self.usual()), complete=bool(self.usual()))
            if regrade.stored(self.output).get("id") == self.change["id"]:
                self.tell_change(finished=True)
        finally:
            if self.term:
                self.term.note(self.output, self.graded)
            if not self.part:
                write(self.output, self.all_graded(), self.say, self.term, self.compared(), self.similar)
        return self.graded

    def compared(self):
        """Of whom the points of before are stored, in the run that changes.html tells of."""
        run, found = regrade.stored(self.output).get("id"), []
        for file in sorted((self.output / "done").glob("*.json")) if run else ():
            found += [(one["graded"]["student"], one) for one in stored_in(file).values() if one.get("run") == run]
        return found

    def all_graded(self):
        """What is stored of all students, this batch's and those of earlier ones into the same folder."""
        try:
            rosters = json.loads((self.output / "batches.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            rosters = {}
        rosters[self.key] = [*self.found]
        store(self.output / "batches.json", json.dumps(rosters, ensure_ascii=False, indent=1))
        return all_stored(self.output, rosters)

    def mother(self):
        """Of the processes for students' code, where there can be one."""
        import asking

        return asking.Mother(self.hidden) if asking.FORKS else None

    def run(self, group, workers):
        """Grades a group of students. Each process has one submission at a time: so it is known with which it ended.

        That one may have been its neighbour's victim. So it goes on when all others are graded, and alone, with the
        question that was asked; if that ends the process again, with the next.
        """
        waiting, alone, jobs, idle = deque(), deque(), {}, []
        waiting.extend(Job(student, PATIENCE + 4 * self.limits["wall"], dict(self.parts.get(student, {}))) for student in group)
        mother = self.mother() if group else None
        # a quarter of a second, which each process would take for its own: torch does so when gradients are asked for
        import torch.fx.experimental.symbolic_shapes  # noqa: F401

        try:
            while waiting or alone or jobs:
                while len(jobs) < workers and (waiting or alone and not jobs):
                    job = (waiting or alone).popleft()
                    grading = idle.pop() if idle else Grading(self.hidden, mother and mother.line, self.seeds)
                    jobs[grading.line] = job.begun(grading)
                    language = self.spoken.get(job.student, self.language)
                    asked = self.wanted, language, self.limits, self.repeated.get(job.student), self.names, job.parts
                    more = job.student in self.again, [*self.parts.get(job.student, ())]
                    grading.ask(job.student, self.found[job.student], *asked, *more)
                for line in wait([*jobs], max(0, min(job.end for job in jobs.values()) - time.monotonic())):
                    job = jobs[line]
                    said = job.grading.said()
                    if said is None:
                        jobs.pop(line).grading.close()
                        if job.ended():
                            alone.append(job)
                        else:
                            self.lose(job.student)
                    elif result := job.take(*said):
                        idle.append(jobs.pop(line).grading)
                        self.take(job.student, result, None not in job.parts.values())
                for job in jobs.values():
                    if job.end < time.monotonic():  # then it is one that ended
                        job.grading.process.kill()
        finally:
            for grading in [*idle, *(job.grading for job in jobs.values())]:
                grading.close()
            if mother:
                mother.close()

    def take(self, student, result, complete):
        """Keeps what a grading process says of a student."""
        self.untold[student] = result
        if result["assignments"] or self.part:  # what most others sent is known when all parts are joined
            self.keep(student, self.untold.pop(student), complete)

    def lose(self, student):
        """The grader itself did not come to an end with this one."""
        language = self.language or "en"
        remarks, usual = [("grader_stopped", "")], () if self.part else self.usual()
        self.keep(student, unanswered(student, self.wanted or usual, language, remarks, "not_graded"), False)

    def usual(self):
        """The assignment of most submissions: one in which none can be told is one to this."""
        return self.wanted or most_sent(self.graded.values())

    def keep(self, student, result, complete=True):
        result = json.loads(json.dumps(result))
        numbers = result.pop("numbers", None) or {}
        self.graded[student] = result
        batches = stored_in(self.done(student))
        last = batches.pop(self.key, None)  # the latest is the last
        self.keep_appeal(student, result, numbers, last)
        told = {"digest": self.digests[student], "files": self.files[student], "complete": complete, "grader": sources(), "graded": result}
        batches[self.key] = told | regrade.before(last, self.change, told, student in self.again)
        if batches[self.key].get("run") == self.change["id"] != regrade.stored(self.output).get("id"):
            self.tell_change(finished=False)
        store(self.done(student), json.dumps({"batches": batches}, ensure_ascii=False))
        points = " ".join(f"{one['question']} {one['points']:g}/{one['most']}" for one in result["verdicts"])
        self.say(f"[{len(self.graded)}/{len(self.found)}] {student}: {points}")

    def tell_change(self, finished):
        store(self.output / regrade.FILE, json.dumps(self.change | {"finished": finished}))

    def keep_appeal(self, student, result, numbers, last):
        """Numbers stay with the grades that they explain: those of other assignments, too, but of no older answer."""
        path = self.output / "appeals" / f"{page_name(student)}.json"
        before = {one["question"]: one["points"] for one in last["graded"]["verdicts"]} if last else {}
        now = {question: one | {"before": before.get(question, 0)} for question, one in numbers.items()}
        graded = {one["question"] for one in result["verdicts"]} - {*self.parts.get(student, ())}
        kept = {question: one for question, one in review.appealed(path).items() if question not in graded} | now
        if kept:
            store(path, json.dumps(kept, indent=1))
        else:
            path.unlink(missing_ok=True)


def write(output, all_graded, say, term=None, compared=(), similar=False, notes=lambda language: ()):
    """All that is made of what is stored. term: what a class list and due dates make of it; compared: what regrade.py has
    kept of before; notes: what the summary is to say first, in a language."""
    names = {one["student"]: f"{page_name(one['student'])}.html" for one in all_graded}
    by_hand = {}
    try:
        by_hand = pages.gradebook((output / "gradebook.db").resolve(), all_graded)
    except ImportError:
        say("nbgrader is not installed: there is no gradebook.db. Everything else is written.")
    except Exception as error:  # another version's, or one that is open elsewhere; what else there is counts
        say(f"nbgrader's gradebook was not written: {type(error).__name__}: {error}")
    for (student, question), points in by_hand.items():
        say(f"{student}, {question}: {points:g} points were given by hand, and stay.")
    all_graded = pages.with_points_by_hand(all_graded, by_hand)
    all_graded = term.applied(all_graded) if term else all_graded
    order, appeals = [*names], []
    for place, one in enumerate(all_graded):
        numbers = review.appealed(output / "appeals" / f"{page_name(one['student'])}.json")
        appeals += [(one, numbers)] if numbers else []
        around = [order[at] if 0 <= at < len(order) else None for at in (place - 1, place + 1)]
        store(output / "feedback" / names[one["student"]], pages.feedback(one, own_pages.below))
        store(output / "review" / names[one["student"]], review.page(one, names, around, numbers))
    # in the language of most
    language = max((one["language"] for one in all_graded), key=[one["language"] for one in all_graded].count, default="en")
    made = {
        "questions.html": own_pages.sheets(all_graded, language, answers=True),
        "sheets.html": own_pages.sheets(all_graded, language, answers=False),
        "appeals.html": appeals and review.appeals(appeals, names, language),
        "changes.html": compared and regrade.page(compared, regrade.stored(output), names, by_hand, language),
        "changes.csv": compared and regrade.table(compared),
    }
    for name, text in made.items():
        if text:
            store(output / name, text)
        else:
            (output / name).unlink(missing_ok=True)
    if similar:
        try:
            store(output / "similar.html", similarity.page(all_graded, names, language))
        except ImportError:
            say("copydetect is not installed: there is no new similar.html. Everything else is written.")
    store(output / "grades.csv", pages.grades_csv(all_graded))
    more = term.write(output, all_graded, names, language, say) if term else ()
    there = [name for name in summary.WAYS if (output / name).exists()]
    said = " ".join([*notes(language), abilities(held_by(all_graded), language)])
    store(output / "summary.html", summary.summary(all_graded, said, names, language, there, more))


def held_by(all_graded):
    """The walls that held wherever something was run: another machine may have fewer."""
    walls = [set(verdict["walls"]) for one in all_graded for verdict in one["verdicts"] if verdict["walls"]]
    return set.intersection(*walls) if walls else set()


def abilities(held, language="en"):
    """What separated students' code from the rest here, and what did not."""
    words = pages.words(language)
    there = " · ".join(said for wall, said in words["walls"].items() if wall in held)
    missing = " · ".join(said for wall, said in words["walls"].items() if wall not in held)
    said = [words["instructor"][key].format(walls=walls) for key, walls in (("walls_held", there), ("walls_missing", missing)) if walls]
    return " ".join(said)


def known(asked, there, what):
    """What was asked for, as it is spelled there. ValueError with the nearest if it is not there."""
    spelled = {unicodedata.normalize("NFC", one): one for one in there}  # a Mac takes letters and their marks apart
    found = []
    for one in asked:
        if one in there:  # of two that differ in that alone, the very one
            found.append(one)
            continue
        if (name := unicodedata.normalize("NFC", one)) not in spelled:
            folded = {key.casefold(): key for key in spelled}
            near = [folded[key] for key in get_close_matches(name.casefold(), folded, n=3)] or [*spelled][:5]
            hint = f" Is it one of these? {', '.join(near)}" if near else ""
            raise ValueError(f"there is no {what} {one}.{hint}")
        found.append(spelled[name])
    return found


def positive(text):
    if (number := int(text)) < 1:
        raise ValueError
    return number


def interrupted(*_):
    """Once: what is written then is not interrupted again."""
    on_ending(signal.SIG_IGN)
    raise KeyboardInterrupt


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("submissions", help="the folder with a folder or a notebook for each student")
    parser.add_argument("--output", default="grades", help="where grades and feedback go (grades/)")
    parser.add_argument("--assignment", action="append", default=[], help="grade this assignment only; may be repeated")
    parser.add_argument("--lang", help="the language of all feedback; without it that of each notebook")
    parser.add_argument("--workers", type=positive, help="how many submissions at a time; without it one for each processor")
    parser.add_argument("--again", action="append", default=[], metavar="STUDENT", help="grade this student anew")
    parser.add_argument("--question", action="append", default=[], help="grade this question anew for all, and no other; may be repeated")
    parser.add_argument("--fresh", action="store_true", help="with --again or --question: draw new probes")
    parser.add_argument("--variants", action="store_true", help="hold each student to the variants of their own name")
    parser.add_argument("--roster", metavar="CSV", help="the class list, as Canvas or Moodle exports it")
    parser.add_argument("--column", action="append", default=[], metavar="[ASSIGNMENT=]NAME", help="the class list's column for grades")
    parser.add_argument("--dates", metavar="TOML", help="due dates, what being late costs, and extensions")
    parser.add_argument("--similar", action="store_true", help="look for pairs of submissions that are alike")
    parser.add_argument("--part", type=spread.part_of, metavar="3/16", help="grade this share of the students only; then join.py")
    parser.add_argument("--seconds", type=positive, help="processor seconds for a question (10); by the clock it has three times as many")
    parser.add_argument("--own-code", action="store_true", help="ask about each right answer what a change to it would do")
    arguments = parser.parse_args()
    if not os.path.isdir(arguments.submissions):
        parser.error(f"there is no folder {arguments.submissions}")
    if arguments.fresh and not arguments.again + arguments.question:
        parser.error("--fresh goes with --again STUDENT or --question NAME")
    if arguments.again and arguments.question:
        parser.error("--again grades all of a student, --question one question of all: ask for one of the two")
    if arguments.part and arguments.again + arguments.question:
        parser.error("--again and --question go without --part: into the folder in which the parts were joined")
    try:  # before anything is graded or written
        again = known(arguments.again, reading.students(arguments.submissions), "submission of")
        known(arguments.question, reading.all_questions(), "question")
        known(arguments.assignment, {one.assignment: None for one in reading.all_questions().values()}, "assignment")
        term = terms.of(arguments)
    except (ValueError, OSError) as error:
        parser.error(error)
    sys.stdout.reconfigure(errors="backslashreplace")  # names may have letters that a terminal has not
    for line in saying.unspoken(arguments.lang or "en"):
        print(line)
    if passed := reading.passed_over(arguments.submissions):
        print(f"Not looked at, as links are not followed and hidden entries are nobody's: {', '.join(passed[:20])}")
    limits = {"seconds": arguments.seconds, "wall": 3 * arguments.seconds} if arguments.seconds else {}
    limits |= {"own_code": True} if arguments.own_code else {}
    begin = time.monotonic()
    on_ending(interrupted)
    try:
        graded = Batch(
            arguments.submissions, arguments.output, arguments.assignment, arguments.lang, limits, again, arguments.fresh,
            arguments.variants, term=term, questions=arguments.question, similar=arguments.similar,
            part=arguments.part,
        ).grade(arguments.workers)  # fmt: skip
    except KeyboardInterrupt:
        sys.exit("Interrupted. The same command continues.")
    except OSError as error:
        sys.exit(f"{error}. What was graded until here is kept: the same command continues.")
    print(abilities(held_by(graded.values())))
    made = f"{arguments.output}/summary.html" if not arguments.part else "join.py makes pages of all parts."
    print(f"{len(graded)} submissions in {time.monotonic() - begin:.0f} s: {made}")
    for student in again:
        print(f"{student}: {arguments.output}/review/{page_name(student)}.html")
    if term and term.failed:
        sys.exit(term.failed)


if __name__ == "__main__":
    # whoever stands among the submissions would import students' files in each process that is started
    os.environ["PYTHONSAFEPATH"] = "1"
    main()
