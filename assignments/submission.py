"""One submission, from its files to what is stored of it, in one of the processes that grade.

There are as many as processors. Each has one submission at a time, and starts a worker for students' code.
"""

import contextlib
import signal
import time
import traceback
from dataclasses import asdict
from multiprocessing import get_context

import torch

from assignments.grade import carried_errors, judge
from assignments.read import answers, student_name
from assignments.report import pages, review
from assignments.report.oral import questions as oral_questions
from assignments.sandbox import pool
from assignments.sandbox.isolation import end_with_parent
from assignments.sandbox.limits import limit_own_memory
from assignments.sandbox.system_calls import LINUX
from companion.check.engine.question import all_questions

MEMORY = 2048  # megabytes that a grading process may take for what students send, beyond torch's own


def on_ending(action):
    """What to do at a Ctrl-C, when the system shuts down, and when the terminal is closed."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has not all of them
        if number and signal.getsignal(number) != signal.SIG_IGN:  # as `nohup` has it
            signal.signal(number, action)


class Grader:
    """One of the processes that grade. It holds the truth and the marks, and a worker for students' code."""

    worker = None
    seeds: dict[str, int] = {}

    @classmethod
    def begin(cls, hidden, mothers, seeds):
        on_ending(signal.SIG_IGN)  # it is the main process that takes them
        end_with_parent()  # who ends the main process, ends this one
        limit_own_memory(MEMORY)
        torch.set_num_threads(1)
        cls.worker, cls.seeds = pool.Worker(hidden, mothers), seeds

    @classmethod
    def grade(cls, *asked):
        """Grade a submission step by step, and yield what is at hand; last of all what is stored of the submission.

        Before it comes ("", None) while the files are read, then the name of each question with None, and with its part
        when that is there. asked: the arguments of `Submission` after the first two.
        """
        submission = Submission(cls.worker, cls.seeds, *asked)
        yield "", None
        submission.read()  # the files: notebooks, answers, the student's name
        for question in submission.questions:
            yield from submission.ask(question)  # run the answer in the sandbox, and judge it
            yield from submission.ask_about_own_code(question)  # if it is right, run changes of it
            submission.keep(question)  # with the code and the numbers that a reviewer wants to see
        yield "", None
        submission.follow_carried_errors()  # give back the points that an earlier mistake took away
        yield "", submission.result()


class Submission:
    """One submission while it is graded. `Grader.grade` takes its steps.

    seeds: those of an earlier grading, if it is to be repeated; shown: whether the numbers are then kept as well.
    names: of all students, if each is held to variants of their own. parts: those of questions that are not asked
    again; stays: of these the ones that were stored long ago. drawn: the seeds of questions without an earlier one.
    """

    def __init__(
        self, worker, drawn, student, path, wanted, language, limits, seeds, names, parts, shown=True, stays=()
    ):
        self.begin = time.monotonic()
        self.worker, self.drawn, self.seeds, self.stays = worker, drawn, seeds or {}, stays
        self.student, self.path, self.wanted, self.language, self.names = student, path, wanted, language, names
        self.limits, self.parts, self.kept = limits, dict(parts), shown and seeds is not None

    def read(self):
        """Read the files, and find out which questions they answer and in what language the result is written."""
        sent = self.sent = answers.read_submission(self.student, self.path, self.wanted)
        if not sent.answers:
            sent.remarks.append(("no_assignment", ""))
        assignments = list(self.wanted) or sent.assignments
        self.questions = [one for one in all_questions().values() if one.assignment in assignments]
        self.name, remark = student_name.name_for_variants(self.student, sent.name, self.names, self.questions)
        sent.remarks += [remark] if remark else []
        self.language = self.language or sent.language
        self.graded = {
            "student": self.student, "language": self.language, "remarks": sent.remarks, "verdicts": [],
            "assignments": assignments, "seeds": {}, "numbers": {},
            "sent": max((one.time for one in sent.notebooks), default=0),
        }  # fmt: skip
        self.words = pages.words(self.language)
        self.end = self.begin + 2 * len(self.questions) * self.limits["wall"]  # twice what each may take

    def ask(self, asked):
        """Run the answer to a question and judge it, unless its part is there."""
        question = asked.name
        if question not in self.parts and time.monotonic() > self.end:
            self.fail(asked, "time_limit", "too_slow", self.limits["seconds"])
        if question not in self.parts:
            yield question, None
            seed = self.seeds.get(question, self.drawn[question])
            numbers = {} if self.kept else None
            answer = self.sent.answers.get(question)
            try:
                verdict = judge.grade(
                    self.worker, question, answer, seed, self.language, self.words, self.limits, numbers, self.name
                )
            except Exception:  # whatever it is, the other questions are graded
                traceback.print_exc()
                verdict = judge.failed(judge.blank(question), "not_graded", self.words)
            self.parts[question] = asdict(verdict) | {"assignment": asked.assignment}, seed, numbers
            yield question, self.parts[question]
        if self.parts[question] is None:  # it ended this process whenever it was asked
            self.fail(asked, "not_graded", "grader_stopped")
        if "time_limit" in self.parts[question][0]["mistakes"]:  # what holds up one question need not hold up all
            self.limits = self.limits | {key: max(2, self.limits[key] // 3) for key in ("seconds", "wall")}

    def fail(self, asked, mistake, remark, *values):
        """Give no points to a question that could not be asked, and remark it once."""
        verdict = judge.failed(judge.blank(asked.name), mistake, self.words, *values)
        self.parts[asked.name] = asdict(verdict) | {"assignment": asked.assignment}, None, None
        self.sent.remarks += [] if (remark, "") in self.sent.remarks else [(remark, "")]

    def ask_about_own_code(self, asked):
        """Make questions about the code of a right answer, unless they are there."""
        question = asked.name
        verdict, seed, _ = self.parts[question]
        about = f"{question}, own code"  # a part of its own: what ends this process here takes no point away
        asks = self.limits.get("own_code") and question not in self.stays
        if asks and not verdict["mistakes"] and seed is not None and about not in self.parts:
            yield about, None
            self.parts[about] = oral_questions.asked(
                self.worker, question, self.sent.answers[question], seed, self.name
            )
            yield about, self.parts[about]
        verdict["own_code"] = self.parts.get(about) or verdict.get("own_code", [])

    def keep(self, asked):
        """Put the verdict on a question into the result."""
        verdict, seed, numbers = self.parts[asked.name]
        beside = review.beside(self.sent, asked.name, verdict, self.language, self.name)
        self.graded["verdicts"].append(verdict | beside)
        if seed is not None:
            self.graded["seeds"][asked.name] = seed
        if numbers:
            self.graded["numbers"][asked.name] = review.compared(numbers)

    def follow_carried_errors(self):
        """Pay answers that are wrong only by the mistakes of earlier ones that they use."""
        carried_errors.follow_through(
            self.graded["verdicts"], self.sent.answers, self.words, self.worker, self.graded["seeds"], self.limits,
            self.name, self.stays,
        )  # fmt: skip

    def result(self):
        """Return what is stored of the submission."""
        return self.graded | {"seconds": time.monotonic() - self.begin}


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
    """A grading process, for the main one. On Linux it is forked, with all that it needs in memory; torch has no
    threads there yet, as nothing was computed."""

    def __init__(self, *started):
        context = get_context("fork" if LINUX else "spawn")
        self.line, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, *started), daemon=True)
        self.process.start()
        theirs.close()

    def ask(self, *asked):
        with contextlib.suppress(OSError):  # it is gone, and `said` says so
            self.line.send(asked)

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
