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
    seeds = {}

    @classmethod
    def begin(cls, hidden, mothers, seeds):
        on_ending(signal.SIG_IGN)  # it is the main process that takes them
        end_with_parent()  # who ends the main process, ends this one
        limit_own_memory(MEMORY)
        torch.set_num_threads(1)
        cls.worker, cls.seeds = pool.Worker(hidden, mothers), seeds

    @classmethod
    def grade(cls, student, path, wanted, language, limits, seeds, names, parts, shown=True, stays=()):
        """What is stored of a submission, at last; before it, what of it is at hand: ("", None) while it is read, then
        the name of each question with None, and with its part when that is there.

        seeds: those of an earlier grading, if it is to be repeated; shown: whether the numbers are then kept as well.
        names: of all students, if each is held to variants of their own. parts: those of questions that are not asked
        again;
        stays: of these the ones that were stored long ago.
        """
        begin, parts = time.monotonic(), dict(parts)
        yield "", None
        sent = answers.submission(student, path, wanted)
        if not sent.answers:
            sent.remarks.append(("no_assignment", ""))
        questions = [one for one in all_questions().values() if one.assignment in (list(wanted) or sent.assignments)]
        name, remark = student_name.asked_as(student, sent.name, names, questions)
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
                verdict = judge.failed(judge.blank(question), "time_limit", said, limits["seconds"])
                parts[question] = asdict(verdict) | {"assignment": asked.assignment}, None, None
            if question not in parts:
                yield question, None
                seed = (seeds or {}).get(question, cls.seeds[question])
                numbers = {} if shown and seeds is not None else None
                answer = sent.answers.get(question)
                try:
                    verdict = judge.grade(
                        cls.worker, question, answer, seed, graded["language"], said, limits, numbers, name
                    )  # fmt: skip
                except Exception:  # whatever it is, the other questions are graded
                    traceback.print_exc()
                    verdict = judge.failed(judge.blank(question), "not_graded", said)
                parts[question] = asdict(verdict) | {"assignment": asked.assignment}, seed, numbers
                yield question, parts[question]
            if parts[question] is None:  # it ended this process whenever it was asked
                verdict = judge.failed(judge.blank(question), "not_graded", said)
                parts[question] = asdict(verdict) | {"assignment": asked.assignment}, None, None
                sent.remarks += [] if ("grader_stopped", "") in sent.remarks else [("grader_stopped", "")]
            verdict, seed, numbers = parts[question]
            if "time_limit" in verdict["mistakes"]:  # what holds up one question need not hold up the batch in all
                limits = limits | {key: max(2, limits[key] // 3) for key in ("seconds", "wall")}
            about = f"{question}, own code"  # a part of its own: what ends this process here takes no point away
            asks = limits.get("own_code") and question not in stays
            if asks and not verdict["mistakes"] and seed is not None and about not in parts:
                yield about, None
                parts[about] = oral_questions.asked(cls.worker, question, sent.answers[question], seed, name)
                yield about, parts[about]
            verdict["own_code"] = parts.get(about) or verdict.get("own_code", [])
            graded["verdicts"].append(verdict | review.beside(sent, question, verdict, graded["language"], name))
            if seed is not None:
                graded["seeds"][question] = seed
            if numbers:
                graded["numbers"][question] = review.compared(numbers)
        yield "", None
        carried_errors.follow_through(
            graded["verdicts"], sent.answers, said, cls.worker, graded["seeds"], limits, name, stays
        )
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
