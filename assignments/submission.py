"""Grade one submission, from its files to its result, in a grading process.

There is one grading process for each processor. It grades one submission at a time, and starts a worker for students'
code.
"""

import contextlib
import signal
import time
import traceback
from dataclasses import asdict
from multiprocessing import get_context

import torch

from assignments.grade import carried_errors, judge
from assignments.grade.calibration import CalibratedWorker, Calibration
from assignments.own import stored
from assignments.read import answers, folders, student_name
from assignments.report import pages, review
from assignments.report.oral import questions as oral_questions
from assignments.sandbox import pool
from assignments.sandbox.isolation import end_with_parent
from assignments.sandbox.limits import limit_own_memory
from assignments.sandbox.system_calls import LINUX
from companion.check.engine.question import all_questions

MEMORY = 2048  # megabytes of a grading process for students' data, beyond torch's own


def on_termination(action):
    """Set what happens at Ctrl-C, at a shutdown, and when the terminal is closed."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal_number = getattr(signal, name, None)  # Windows lacks some of them
        if signal_number and signal.getsignal(signal_number) != signal.SIG_IGN:  # ignored under `nohup`
            signal.signal(signal_number, action)


class Grader:
    """A grading process. It holds the expected outputs and the points, and a worker for students' code."""

    worker = None
    seeds: dict[str, int] = {}
    calibration = Calibration()

    @classmethod
    def begin(cls, hidden, mothers, seeds, calibration):
        on_termination(signal.SIG_IGN)  # the main process handles them
        stored.use_environment()
        end_with_parent()
        limit_own_memory(MEMORY)
        torch.set_num_threads(1)
        cls.worker, cls.seeds = CalibratedWorker(pool.Worker(hidden, mothers), calibration), seeds
        cls.calibration = calibration

    @classmethod
    def grade(cls, *arguments):
        """Grade a submission step by step; yield its progress, and at last its result.

        Yields ("", None) while the files are read, (question, None) when a question starts, (question, part) when it is
        done, and at last ("", result). arguments: those of `Submission` after the first two.
        """
        submission = Submission(cls.worker, cls.seeds, *arguments)
        yield "", None
        submission.read()  # the files: notebooks, answers, the student's name
        for question in submission.questions:
            yield from submission.ask(question)  # run the answer in the sandbox, and judge it
            yield from submission.ask_about_own_code(question)  # if it is right, run changed copies of it
            submission.keep(question)  # with the code and the numbers for a reviewer
        yield "", None
        submission.credit_carried_errors()  # restore points lost by earlier mistakes
        yield "", submission.result()


class Submission:
    """One submission while it is graded, by the steps of `Grader.grade`.

    seeds: those of an earlier grading that is to be repeated. keep_numbers: keep all outcomes then, for an appeal.
    names: all students, if each one gets variants. parts: results of questions that are not run again; unchanged: those
    among them that an earlier run stored. new_seeds: the seeds of questions without an earlier one.
    """

    def __init__(
        self,
        worker,
        new_seeds,
        student,
        path,
        wanted,
        language,
        limits,
        seeds,
        names,
        parts,
        keep_numbers=True,
        unchanged=(),
    ):
        self.begin = time.monotonic()
        self.worker, self.new_seeds, self.seeds, self.unchanged = worker, new_seeds, seeds or {}, unchanged
        self.student, self.path, self.wanted, self.language, self.names = student, path, wanted, language, names
        self.limits, self.parts, self.keep_numbers = limits, dict(parts), keep_numbers and seeds is not None

    def read(self):
        """Read the files, and find the questions that they answer and the language of the result."""
        sent = self.sent = answers.read_submission(self.student, self.path, self.wanted)
        if not sent.answers:
            sent.remarks.append(("no_assignment", ""))
        assignments = list(self.wanted) or sent.assignments
        self.questions = [question for question in all_questions().values() if question.assignment in assignments]
        self.name, remark = student_name.name_for_variants(self.student, sent.name, self.names, self.questions)
        sent.remarks += [(remark[0], folders.printable(remark[1]))] if remark else []
        self.language = self.language or sent.language
        self.graded = {
            "student": self.student, "language": self.language, "remarks": sent.remarks, "verdicts": [],
            "assignments": assignments, "seeds": {}, "numbers": {},
            "sent": max((notebook.time for notebook in sent.notebooks), default=0),
        }  # fmt: skip
        self.words = pages.words(self.language)
        self.full_limits = self.limits

    def ask(self, question):
        """Run the answer to a question and judge it, unless its part exists already."""
        name = question.name
        if name not in self.parts and self.is_late():
            self.fail(question, "time_limit", "too_slow", Grader.calibration.scale(self.limits)["seconds"])
        if name not in self.parts:
            yield name, None
            seed = self.seeds.get(name, self.new_seeds[name])
            numbers = {} if self.keep_numbers else None
            answer = self.sent.answers.get(name)
            try:
                verdict = judge.grade(
                    self.worker, name, answer, seed, self.language, self.words, self.limits, numbers, self.name
                )
            except Exception:  # an error in one question must not stop the others
                traceback.print_exc()
                verdict = judge.fail(judge.new_verdict(name), "not_graded", self.words)
            if self.sent.name_unknown and student_name.variant_answered(verdict.mistakes):
                verdict.remarks.append(self.words["page"]["name_unknown"])
            self.parts[name] = asdict(verdict) | {"assignment": question.assignment}, seed, numbers
            yield name, self.parts[name]
        if self.parts[name] is None:  # it ended the grading process each time
            self.fail(question, "not_graded", "grader_stopped")
        if "time_limit" in self.parts[name][0]["mistakes"]:  # the cause may slow every question down
            self.limits = self.limits | {key: max(2, self.limits[key] // 3) for key in ("seconds", "wall")}

    def is_late(self):
        """Return whether the submission has taken twice the time limit of each question, as this machine needs it."""
        limit = 2 * len(self.questions) * Grader.calibration.scale(self.full_limits)["wall"]
        return time.monotonic() > self.begin + limit

    def fail(self, question, mistake, remark, *values):
        """Give no points to a question that could not be run, and add the remark once."""
        verdict = judge.fail(judge.new_verdict(question.name), mistake, self.words, *values)
        self.parts[question.name] = asdict(verdict) | {"assignment": question.assignment}, None, None
        self.sent.remarks += [] if (remark, "") in self.sent.remarks else [(remark, "")]

    def ask_about_own_code(self, question):
        """Make questions about the code of a right answer, unless they exist already."""
        name = question.name
        verdict, seed, _ = self.parts[name]
        part_name = f"{name}, own code"  # its own part: a crash here costs no points
        wanted = self.limits.get("own_code") and name not in self.unchanged
        if wanted and not verdict["mistakes"] and seed is not None and part_name not in self.parts:
            yield part_name, None
            self.parts[part_name] = oral_questions.try_questions(
                self.worker, name, self.sent.answers[name], seed, self.name
            )
            yield part_name, self.parts[part_name]
        verdict["own_code"] = self.parts.get(part_name) or verdict.get("own_code", [])

    def keep(self, question):
        """Put the verdict on a question into the result."""
        verdict, seed, numbers = self.parts[question.name]
        for_reviewers = review.for_reviewers(self.sent, question.name, verdict, self.language, self.name)
        self.graded["verdicts"].append(verdict | for_reviewers)
        if seed is not None:
            self.graded["seeds"][question.name] = seed
        if numbers:
            self.graded["numbers"][question.name] = review.compare_numbers(numbers)

    def credit_carried_errors(self):
        """Credit answers that are wrong only by mistakes of earlier answers that they use."""
        carried_errors.credit(
            self.graded["verdicts"], self.sent.answers, self.words, self.worker, self.graded["seeds"], self.limits,
            self.name, self.unchanged,
        )  # fmt: skip

    def result(self):
        """Return the submission's result."""
        return self.graded | {"seconds": time.monotonic() - self.begin}


def serve(connection, *arguments):
    """Run a grading process: receive submissions, and send what `Grader.grade` yields."""
    Grader.begin(*arguments)
    try:
        while True:
            for part in Grader.grade(*connection.recv()):
                connection.send(part)
    except EOFError:  # the main process is gone
        pass


class GradingProcess:
    """A grading process, seen from the main process.

    On Linux it is forked with all modules in memory; torch has no threads yet, since nothing was computed.
    """

    serve = staticmethod(serve)

    def __init__(self, *arguments):
        context = get_context("fork" if LINUX else "spawn")
        self.connection, far_end = context.Pipe()
        self.process = context.Process(target=self.serve, args=(far_end, *arguments), daemon=True)
        self.process.start()
        far_end.close()

    def send(self, *arguments):
        with contextlib.suppress(OSError):  # the process has ended: `receive` returns None
            self.connection.send(arguments)

    def receive(self):
        """Return the next message, or None if the process has ended."""
        try:
            return self.connection.recv()
        except (EOFError, OSError):
            return None

    def close(self):
        self.process.kill()
        self.process.join()
        self.connection.close()
