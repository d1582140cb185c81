"""Grade a folder of submissions with several processes, and continue where an earlier run stopped."""

import contextlib
import hashlib
import json
import os
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path

from assignments.grade import cache, judge
from assignments.grade.calibration import NOTABLE, Calibration
from assignments.own import stored
from assignments.read import folders
from assignments.read.names import page_name
from assignments.report import all_reports, point_changes, review
from assignments.sandbox.pool import CAN_FORK, ForkServer, Worker
from assignments.submission import GradingProcess
from companion.check.engine.question import all_questions

PATIENCE = 240  # seconds to wait for a message of a grading process, beyond its runs of an answer
RUNS = 8  # of an answer at most: four, each repeated if the machine has become slower


@dataclass
class Job:
    """A submission that is being graded.

    parts: its results so far by question; None for a question that is not run again. heard: when its process sent the
    last message.
    """

    student: str
    parts: dict = field(default_factory=dict)
    crashes: Counter = field(default_factory=Counter)  # of grading processes, by the question that was run
    current: str = ""  # question
    process: object = None
    heard: float = 0.0

    def start(self, process):
        self.process, self.current = process, ""
        self.wait()
        return self

    def wait(self):
        self.heard = time.monotonic()

    def receive(self, question, part):
        """Handle one message from the grading process; return the final result, or None if more messages follow."""
        self.wait()
        self.current = question
        if question and part is not None:
            self.parts[question] = part
        return None if question else part

    def retries_after_crash(self):
        """Record a crash, and return whether to continue in another process."""
        self.crashes[self.current] += 1
        if self.crashes[self.current] > 1:
            if not self.current:
                return False
            self.parts[self.current] = None
        return True


class Batch:
    """All submissions of a folder.

    again: students to grade again. questions: those to grade again for all students. fresh: draw new probes for these.
    variants: give each student the variants of their own name. similar: compare students' code. course: class list and
    due dates. listed: the folder's `class_zip.Submissions`, if archives in it are unpacked. dry: only find out what is
    left to grade, and write nothing.
    """

    def __init__(
        self, folder, output, wanted=(), language=None, limits=None, again=(), fresh=False, variants=False, say=print,
        course=None,
        questions=(), similar=False, listed=None, dry=False,
    ):  # fmt: skip
        self.folder = Path(folder).resolve()
        self.output, self.wanted, self.language, self.say = Path(output), tuple(wanted), language, say
        self.course = course
        self.limits = judge.LIMITS | (limits or {})
        self.calibration = Calibration(fixed="seconds" in (limits or {}))
        self.dry = dry
        if not dry:
            self.make_folders()
        submissions = listed.paths if listed else folders.students(folder)
        output = os.path.realpath(self.output)
        self.submissions = {name: path for name, path in submissions.items() if os.path.realpath(path) != output}
        self.names = sorted(self.submissions) if variants else None
        settings = [list(self.wanted), language, self.limits, variants, cache.hash_sources()]
        declarations = stored.Declarations()
        self.files = {name: cache.hash_files(path, declarations) for name, path in self.submissions.items()}
        if own := declarations.unknown():
            say(f"These notebooks ask questions of your own ({', '.join(own)}): add QUESTIONS={' '.join(own)}")
        self.digests = {name: cache.cache_key(files, settings) for name, files in self.files.items()}
        self.seeds = {question: judge.draw_seed() for question in all_questions()}
        unpacked = [str(folder) for folder in listed.unpacked] if listed else []
        self.hidden = [str(self.folder), *unpacked, str(self.output.resolve()), str(Path(__file__).resolve().parent)]
        self.hidden += stored.hidden_files()
        self.graded, self.unassigned, self.old_seeds, self.parts, self.languages, self.todo = {}, {}, {}, {}, {}, []
        self.again, self.similar = frozenset(again), similar
        self.key = hashlib.sha256(json.dumps([str(self.folder), *self.wanted]).encode()).hexdigest()[:8]
        self.change = point_changes.start_run(self.output, self.key, questions, fresh and bool(questions), settings)
        if not dry:
            self.rename_old_files()
        for student in self.submissions:
            self.resume(student, student in again, fresh)
        if questions and (count := len({*self.todo} - {*self.parts})):
            say(
                f"{count} submissions are new, have changed, or are of an older version: all their questions are"
                " graded."
            )

    def make_folders(self):
        """Make the output folder."""
        for subfolder in ("done", "feedback", "review", "appeals"):
            (self.output / subfolder).mkdir(parents=True, exist_ok=True)
        os.chmod(self.output, 0o700)  # other students may have accounts on this machine

    def state(self, student):
        """Return whether a submission is `new`, `changed` since it was graded, `unchanged`, or graded `again`.

        A submission from Canvas has changed if another one of the same student was graded, since its name has the
        number of its file.
        """
        last = cache.read_entries(self.done(student)).get(self.key)
        if last and last["graded"]["student"] == student:
            if last.get("files", self.files[student]) != self.files[student]:
                return "changed"
            return "unchanged" if student in self.graded else "again"
        owner = folders.canvas_owner(student)
        earlier = {*cache.read_rosters(self.output).get(self.key, ())} - self.submissions.keys()
        return "changed" if owner and owner in map(folders.canvas_owner, earlier) else "new"

    def rename_old_files(self):
        """Rename files that were stored under an older version's page name."""
        for file in (self.output / "done").glob("*.json"):
            names = {page_name(entry["graded"]["student"]) for entry in cache.read_entries(file).values()}
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
        """Load a student's cached result if it is still valid; otherwise put the student on the list to grade."""
        batches = cache.read_entries(self.done(student))
        if again:  # an appeal shows the numbers of the same probes
            earlier = () if fresh else batches.values()
            self.old_seeds[student] = {key: seed for entry in earlier for key, seed in entry["graded"]["seeds"].items()}
        last = batches.get(self.key)
        parts = point_changes.unchanged_verdicts(last, self.change, self.files[student])
        if parts is not None and not again:
            if len(parts) == len(last["graded"]["verdicts"]):
                self.graded[student] = last["graded"]
                batches[self.key] = last | {"digest": self.digests[student]}
                if not self.dry:
                    cache.write_atomically(self.done(student), json.dumps({"batches": batches}, ensure_ascii=False))
                return
            self.parts[student], self.languages[student] = parts, last["graded"]["language"]
            self.old_seeds[student] = None if fresh else last["graded"]["seeds"]
            self.todo.append(student)
        elif last and last["digest"] == self.digests[student] and last["complete"] and not again:
            self.graded[student] = last["graded"]
        else:
            self.todo.append(student)

    def grade(self, workers=None):
        """Grade what is left, and return all results by student."""
        if self.graded:
            self.say(f"{len(self.graded)} of {len(self.submissions)} submissions are graded already.")
        workers = max(1, min(workers or os.cpu_count() or 1, len(self.todo) or 1))
        try:
            self.run(self.todo, workers)
            usual = self.usual_assignment()
            for student, result in self.unassigned.items():
                self.keep(student, cache.assume_assignments(result, usual), complete=bool(usual))
            if point_changes.read_run(self.output).get("id") == self.change["id"]:
                self.store_run(finished=True)
        finally:
            if self.course:
                self.course.record_times(self.output, self.graded)
            all_reports.write_reports(
                self.output, self.all_graded(), self.say, self.course, self.changed_entries(), self.similar
            )
        return self.graded

    def changed_entries(self):
        """Return (student, cache entry) of all whose old points are kept for changes.html."""
        run, entries = point_changes.read_run(self.output).get("id"), []
        for file in sorted((self.output / "done").glob("*.json")) if run else ():
            entries += [
                (entry["graded"]["student"], entry)
                for entry in cache.read_entries(file).values()
                if entry.get("run") == run
            ]
        return entries

    def all_graded(self):
        """Return the results of all students, of this batch and of earlier ones in the same output folder."""
        rosters = cache.read_rosters(self.output) | {self.key: [*self.submissions]}
        cache.write_atomically(self.output / "batches.json", json.dumps(rosters, ensure_ascii=False, indent=1))
        return cache.read_results(self.output, rosters)

    def fork_server(self):
        """Return the fork server for students' code, or None where the system cannot fork."""
        return ForkServer(self.hidden) if CAN_FORK else None

    def calibrate(self, fork_server):
        """Measure how slow this machine is, and say so if limits become longer by that."""
        worker = Worker(self.hidden, fork_server and fork_server.line)
        with contextlib.suppress(RuntimeError, OSError):  # it does not start: each question will say so
            self.calibration.measure(worker)
        worker.close()
        if max(self.calibration.factors) > NOTABLE:
            limits = self.calibration.scale(self.limits)
            self.say(
                "This machine is slower or busier than the time limits assume: an answer has"
                f" {limits['seconds']} seconds of the processor and {limits['wall']:.0f} by the clock."
            )

    def patience(self):
        """Return how many seconds to wait for a message of a grading process, as slow as this machine is now."""
        return self.calibration.clock * PATIENCE + RUNS * self.calibration.scale(self.limits)["wall"]

    def run(self, group, workers):
        """Grade a group of students.

        Each process grades one submission at a time, so a crash can be attributed. The submission may have been the
        victim of another one, though: it continues alone after all others, with the question that it was at; if the
        process crashes again, that question gets no points, and the next one is run.
        """
        waiting, suspects, jobs, idle = deque(), deque(), {}, []
        waiting.extend(Job(student, dict(self.parts.get(student, {}))) for student in group)
        fork_server = self.fork_server() if group else None
        # torch imports this for gradients; once here saves each process a quarter of a second
        import torch.fx.experimental.symbolic_shapes  # noqa: F401

        try:
            if group and not self.calibration.fixed:
                self.calibrate(fork_server)
            while waiting or suspects or jobs:
                while len(jobs) < workers and (waiting or suspects and not jobs):
                    job = (waiting or suspects).popleft()
                    new = self.hidden, fork_server and fork_server.line, self.seeds, self.calibration
                    process = idle.pop() if idle else GradingProcess(*new)
                    jobs[process.connection] = job.start(process)
                    language = self.languages.get(job.student, self.language)
                    seeds = self.old_seeds.get(job.student)
                    arguments = self.wanted, language, self.limits, seeds, self.names, job.parts
                    more = job.student in self.again, [*self.parts.get(job.student, ())]
                    process.send(job.student, self.submissions[job.student], *arguments, *more)
                longest = max(time.monotonic() - job.heard for job in jobs.values())
                for connection in wait([*jobs], max(0, self.patience() - longest)):
                    job = jobs[connection]
                    message = job.process.receive()
                    if message is None:
                        jobs.pop(connection).process.close()
                        if job.retries_after_crash():
                            suspects.append(job)
                        else:
                            self.record_crash(job.student)
                    elif result := job.receive(*message):
                        idle.append(jobs.pop(connection).process)
                        self.take(job.student, result, None not in job.parts.values())
                for job in jobs.values():
                    if time.monotonic() - job.heard > self.patience():  # the next `receive` reports it as ended
                        job.process.process.kill()
        finally:
            for process in [*idle, *(job.process for job in jobs.values())]:
                process.close()
            if fork_server:
                fork_server.close()

    def take(self, student, result, complete):
        """Keep the result of a student, or put it aside if its assignment is unknown."""
        self.unassigned[student] = result
        if result["assignments"]:
            self.keep(student, self.unassigned.pop(student), complete)

    def record_crash(self, student):
        """Record that grading this submission crashed the grading process."""
        language = self.language or "en"
        remarks = [("grader_stopped", "")]
        self.keep(
            student, cache.unanswered_result(student, self.usual_assignment(), language, remarks, "not_graded"), False
        )

    def usual_assignment(self):
        """Return the assignment of most submissions, which is assumed for those whose assignment is unknown."""
        return self.wanted or cache.most_common_assignment(self.graded.values())

    def keep(self, student, result, complete=True):
        """Store a result in the cache, with its appeal and the points of before."""
        result = json.loads(json.dumps(result))
        numbers = result.pop("numbers", None) or {}
        self.graded[student] = result
        batches = cache.read_entries(self.done(student))
        last = batches.pop(self.key, None)  # moves it to the end
        self.keep_appeal(student, result, numbers, last)
        entry = {
            "digest": self.digests[student],
            "files": self.files[student],
            "complete": complete,
            "grader": cache.hash_sources(),
            "graded": result,
        }
        batches[self.key] = entry | point_changes.old_points(last, self.change, entry, student in self.again)
        if batches[self.key].get("run") == self.change["id"] != point_changes.read_run(self.output).get("id"):
            self.store_run(finished=False)
        cache.write_atomically(self.done(student), json.dumps({"batches": batches}, ensure_ascii=False))
        verdicts = result["verdicts"]
        points = " ".join(f"{verdict['question']} {verdict['points']:g}/{verdict['most']}" for verdict in verdicts)
        self.say(f"[{len(self.graded)}/{len(self.submissions)}] {student}: {points}")

    def store_run(self, finished):
        """Write the state of the run that changes.html reports."""
        cache.write_atomically(self.output / point_changes.FILE, json.dumps(self.change | {"finished": finished}))

    def keep_appeal(self, student, result, numbers, last):
        """Store the numbers of an appeal.

        Those of other questions stay with the grades that they explain, unless the answer was graded again since.
        """
        path = self.output / "appeals" / f"{page_name(student)}.json"
        old_points = {verdict["question"]: verdict["points"] for verdict in last["graded"]["verdicts"]} if last else {}
        appealed = {question: entry | {"before": old_points.get(question, 0)} for question, entry in numbers.items()}
        graded = {verdict["question"] for verdict in result["verdicts"]} - {*self.parts.get(student, ())}
        old = review.read_appeal(path)
        entries = {question: entry for question, entry in old.items() if question not in graded} | appealed
        if entries:
            cache.write_atomically(path, json.dumps(entries, indent=1))
        else:
            path.unlink(missing_ok=True)
