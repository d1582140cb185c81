"""A folder of submissions, graded by several processes: what is new of it, and what was graded before, whoever ends
when."""

import hashlib
import json
import os
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path

from assignments.grade import judge, store
from assignments.grade.store import stored_in
from assignments.read import folders
from assignments.read.names import page_name
from assignments.report import changes, results, review
from assignments.sandbox.pool import CAN_FORK, ForkServer
from assignments.submission import Grading
from companion.check.engine.question import all_questions

PATIENCE = 240  # seconds until a grading process has to say something, beside the four times that it asks at most


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
    """All submissions of a folder. again: students to be graded anew; questions: those to be graded anew for all;
    fresh: with other probes than before; variants: whether each student is held to the variants of their own name;
    similar: whether students' code is compared; term: what the class list and the due dates make of it."""

    def __init__(
        self, folder, output, wanted=(), language=None, limits=None, again=(), fresh=False, variants=False, say=print,
        term=None,
        questions=(), similar=False,
    ):  # fmt: skip
        self.folder = Path(folder).resolve()
        self.output, self.wanted, self.language, self.say = Path(output), tuple(wanted), language, say
        self.term = term
        self.limits = judge.LIMITS | (limits or {})
        for one in ("done", "feedback", "review", "appeals"):
            (self.output / one).mkdir(parents=True, exist_ok=True)
        os.chmod(self.output, 0o700)  # other students may have accounts here
        found = folders.students(folder)
        self.found = {name: path for name, path in found.items() if path.resolve() != self.output.resolve()}
        self.names = sorted(self.found) if variants else None
        settings = [list(self.wanted), language, self.limits, variants, store.sources()]
        self.files = {name: store.files_digest(path) for name, path in self.found.items()}
        self.digests = {name: store.digest(files, settings) for name, files in self.files.items()}
        self.seeds = {question: judge.fresh_seed() for question in all_questions()}
        self.hidden = [str(self.folder), str(self.output.resolve()), str(Path(__file__).resolve().parent)]
        self.graded, self.untold, self.repeated, self.parts, self.spoken, self.todo = {}, {}, {}, {}, {}, []
        self.again, self.similar = frozenset(again), similar
        self.key = hashlib.sha256(json.dumps([str(self.folder), *self.wanted]).encode()).hexdigest()[:8]
        self.change = changes.begun(self.output, self.key, questions, fresh and bool(questions), settings)
        self.rename()
        for student in self.found:
            self.resume(student, student in again, fresh)
        if questions and (whole := len({*self.todo} - {*self.parts})):
            say(
                f"{whole} submissions are new, have changed, or are of an older version: all their questions are"
                " graded."
            )

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

    def done(self, student):
        return self.output / "done" / f"{page_name(student)}.json"

    def resume(self, student, again, fresh):
        """Takes what is stored of a student, if it is of what is here now."""
        batches = stored_in(self.done(student))
        if again:  # whoever appeals is shown the numbers
            old = () if fresh else batches.values()
            self.repeated[student] = {key: seed for one in old for key, seed in one["graded"]["seeds"].items()}
        mine = batches.get(self.key)
        parts = changes.stays(mine, self.change, self.files[student])
        if parts is not None and not again:
            if len(parts) == len(mine["graded"]["verdicts"]):
                self.graded[student] = mine["graded"]
                batches[self.key] = mine | {"digest": self.digests[student]}
                store.store(self.done(student), json.dumps({"batches": batches}, ensure_ascii=False))
                return
            self.parts[student], self.spoken[student] = parts, mine["graded"]["language"]
            self.repeated[student] = None if fresh else mine["graded"]["seeds"]
            self.todo.append(student)
        elif mine and mine["digest"] == self.digests[student] and mine["complete"] and not again:
            self.graded[student] = mine["graded"]
        else:
            self.todo.append(student)

    def grade(self, workers=None):
        """Grades what is left. Returns what was graded, by student."""
        if self.graded:
            self.say(f"{len(self.graded)} of {len(self.found)} submissions are graded already.")
        workers = max(1, min(workers or os.cpu_count() or 1, len(self.todo) or 1))
        try:
            self.run(self.todo, workers)
            for student, result in self.untold.items():
                self.keep(student, store.told(result, self.usual()), complete=bool(self.usual()))
            if changes.stored(self.output).get("id") == self.change["id"]:
                self.tell_change(finished=True)
        finally:
            if self.term:
                self.term.note(self.output, self.graded)
            results.write(self.output, self.all_graded(), self.say, self.term, self.compared(), self.similar)
        return self.graded

    def compared(self):
        """Of whom the points of before are stored, in the run that changes.html tells of."""
        run, found = changes.stored(self.output).get("id"), []
        for file in sorted((self.output / "done").glob("*.json")) if run else ():
            found += [(one["graded"]["student"], one) for one in stored_in(file).values() if one.get("run") == run]
        return found

    def all_graded(self):
        """What is stored of all students, this batch's and those of earlier ones into the same folder."""
        rosters = store.rosters_in(self.output) | {self.key: [*self.found]}
        store.store(self.output / "batches.json", json.dumps(rosters, ensure_ascii=False, indent=1))
        return store.all_stored(self.output, rosters)

    def mother(self):
        """Of the processes for students' code, where there can be one."""
        return ForkServer(self.hidden) if CAN_FORK else None

    def run(self, group, workers):
        """Grades a group of students. Each process has one submission at a time: so it is known with which it ended.

        That one may have been its neighbour's victim. So it goes on when all others are graded, and alone, with the
        question that was asked; if that ends the process again, with the next.
        """
        waiting, alone, jobs, idle = deque(), deque(), {}, []
        waiting.extend(
            Job(student, PATIENCE + 4 * self.limits["wall"], dict(self.parts.get(student, {}))) for student in group
        )
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
        if result["assignments"]:
            self.keep(student, self.untold.pop(student), complete)

    def lose(self, student):
        """The grader itself did not come to an end with this one."""
        language = self.language or "en"
        remarks = [("grader_stopped", "")]
        self.keep(student, store.unanswered(student, self.usual(), language, remarks, "not_graded"), False)

    def usual(self):
        """The assignment of most submissions: one in which none can be told is one to this."""
        return self.wanted or store.most_sent(self.graded.values())

    def keep(self, student, result, complete=True):
        result = json.loads(json.dumps(result))
        numbers = result.pop("numbers", None) or {}
        self.graded[student] = result
        batches = stored_in(self.done(student))
        last = batches.pop(self.key, None)  # the latest is the last
        self.keep_appeal(student, result, numbers, last)
        told = {
            "digest": self.digests[student],
            "files": self.files[student],
            "complete": complete,
            "grader": store.sources(),
            "graded": result,
        }
        batches[self.key] = told | changes.before(last, self.change, told, student in self.again)
        if batches[self.key].get("run") == self.change["id"] != changes.stored(self.output).get("id"):
            self.tell_change(finished=False)
        store.store(self.done(student), json.dumps({"batches": batches}, ensure_ascii=False))
        points = " ".join(f"{one['question']} {one['points']:g}/{one['most']}" for one in result["verdicts"])
        self.say(f"[{len(self.graded)}/{len(self.found)}] {student}: {points}")

    def tell_change(self, finished):
        store.store(self.output / changes.FILE, json.dumps(self.change | {"finished": finished}))

    def keep_appeal(self, student, result, numbers, last):
        """Numbers stay with the grades that they explain: those of other assignments, too, but of no older answer."""
        path = self.output / "appeals" / f"{page_name(student)}.json"
        before = {one["question"]: one["points"] for one in last["graded"]["verdicts"]} if last else {}
        now = {question: one | {"before": before.get(question, 0)} for question, one in numbers.items()}
        graded = {one["question"] for one in result["verdicts"]} - {*self.parts.get(student, ())}
        kept = {question: one for question, one in review.appealed(path).items() if question not in graded} | now
        if kept:
            store.store(path, json.dumps(kept, indent=1))
        else:
            path.unlink(missing_ok=True)
