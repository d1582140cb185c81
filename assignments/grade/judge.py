"""Grade one answer: run it in the sandbox on probes, and compare its outputs with the reference.

Everything that decides points is here and never enters the sandbox: probes, expected outputs, known mistakes.
"""

import hashlib
import re
import secrets
from dataclasses import dataclass, field
from functools import lru_cache

from assignments.grade.training_steps import time_limit_advice
from assignments.read.retries import retries
from assignments.sandbox.call_source import portable_call
from assignments.sandbox.pool import Worker
from assignments.sandbox.protocol import parse_outcomes, split_protections
from companion.check.engine import messages, trained_network
from companion.check.engine.diagnosis import alike, diagnose
from companion.check.engine.finding import NO_ANSWER, Finding
from companion.check.engine.library_layers import AUTOGRAD, RECURRENT
from companion.check.engine.probe import Outcome
from companion.check.engine.question import all_questions, bank


def time_limits(seconds):
    """Return time limits: processor seconds, and three times as many by the clock."""
    return {"seconds": seconds, "wall": 3 * seconds}


# Limits of a question: its time, megabytes of memory beyond torch's own, and megabytes of files.
LIMITS = time_limits(10) | {"memory": 1024, "disk": 64}
SEARCH = 1.2  # processor seconds of the search for several mistakes, on a machine where LIMITS hold as they are
OUT_OF_MEMORY = re.compile(r"^MemoryError|can't allocate memory|not enough memory")
NO_FILE = re.compile(r"No such file or directory: '([^'`\n]{1,100})'$")
NOT_PYTHON = re.compile(r" \(line \d+\)$")  # the end of notebooks.py's message about a line that is not Python
NO_MODULE = re.compile(r"No module named '([\w.]{1,100})'")
REFUSED = "a library's own layer"  # part of the worker's error message
AUTOGRAD_REFUSED = re.compile(r"does not require grad|appears to not have been used in the graph")
ENDED = {"time": "time_limit", "memory": "memory_limit", "output": "too_many_numbers", "quit": "stopped_early"}
FORGED = ValueError, RecursionError, KeyError, TypeError, AttributeError  # raised by a message that is no outcome
FAILED = {"no_answer", "not_written", "raises_error", *NO_ANSWER}  # mistakes of answers that return nothing
STOPPED = {*ENDED.values(), "crashed"}  # mistakes of runs that were stopped from outside


@dataclass
class Verdict:
    """The verdict on one answer.

    mistakes: names, empty if the answer is right. paragraphs: Markdown for the student. walls: the sandbox's
    protections that held.
    """

    question: str
    points: float
    most: int
    mistakes: list
    paragraphs: list
    seconds: float = 0.0
    stretch: bool = False
    remarks: list = field(default_factory=list)
    walls: list = field(default_factory=list)

    @property
    def ok(self):
        return not self.mistakes

    @property
    def share(self):
        """Return the share of the points."""
        return self.points / self.most


def draw_seed():
    """Return a random seed for probes."""
    return secrets.randbits(62)


def new_verdict(question):
    """Return an empty verdict on the question of this name."""
    definition = all_questions()[question]
    return Verdict(question, 0.0, definition.points, [], [], stretch=definition.stretch)


def grade(worker, name, answer, seed, language, words, limits=LIMITS, numbers=None, student=""):
    """Return the verdict on an answer (answers.Answer, or None) to the question called `name`.

    Only the cells that the answer needs are run first; if the answer is right, errors elsewhere in the notebook cost
    nothing. If it is wrong and cells that were left out might matter, the whole notebook is run, and the better verdict
    counts. words: the grader's words. numbers: a dictionary that receives the probes and all outcomes. student: the
    name or number that selects the question's variant.
    """
    question = all_questions()[name].asked_of(student)
    if question.training_goal:  # scaled like the limits of all questions, for slow machines
        limits = limits | time_limits(
            round(question.training_goal.seconds * max(1, limits["seconds"] / LIMITS["seconds"]))
        )
    if answer is None or not answer.cells:
        return fail(new_verdict(name), "no_answer", words)
    verdict, shown = best_verdict(worker, question, answer, seed, language, words, limits)
    cell = answer.cell
    if answer.other is not None and not verdict.ok:
        # the notebook defines the answer twice, and either may be the intended one
        second, second_shown = best_verdict(worker, question, answer.other, seed, language, words, limits)
        if second.points > verdict.points:
            verdict, shown, cell = second, second_shown, answer.other.cell
    for form in retries(answer, name) if may_be_right_otherwise(question, verdict) else ():
        second, second_shown = best_verdict(worker, question, form, seed, language, words, limits)
        if rank(second) > rank(verdict):
            verdict, shown = second, second_shown
        if verdict.ok:
            break
    if answer.other is not None:
        verdict.remarks.append(words["page"]["several_cells"].format(cell=cell))
    if numbers is not None and shown:
        numbers["probes"] = shown
    return verdict


def may_be_right_otherwise(question, verdict):
    """Return whether to run a wrong answer in another form. Training again, or reaching a limit again, takes long."""
    trained = question.training_goal and FAILED.isdisjoint(verdict.mistakes)
    return not verdict.ok and not trained and STOPPED.isdisjoint(verdict.mistakes)


def rank(verdict):
    """Return a sort key of verdicts on forms of one answer: points, and a mistake rather than none that is known."""
    return verdict.points, FAILED.isdisjoint(verdict.mistakes)


def best_verdict(worker, question, answer, seed, language, words, limits):
    """Return the better verdict of one or two runs, and its outcomes for an appeal.

    A question about a trained network may draw a second seed.
    """

    def run(seed):
        return judge_on_seed(worker, question, answer, seed, language, words, limits)

    runs = trained_network.attempts(run, seed) if question.training_goal else [run(seed)]
    verdict, shown = trained_network.best_attempt(runs)
    verdict.seconds = round(sum(run_verdict.seconds for run_verdict, _ in runs), 2)
    return verdict, shown


def judge_on_seed(worker, question, answer, seed, language, words, limits):
    """Return the verdict on the probes of one seed, and its outcomes: run the needed cells first, then perhaps all."""
    probe_set = draw_probes(question, seed)
    findings = findings_cache(question.name, question.variant, seed)
    runner = AnswerRunner(worker, question, probe_set, answer, language, words, findings)
    verdict, outcomes, left_out = runner.run(limits, needed=True)
    failed_run = not outcomes or any(outcome.error for outcome in outcomes)
    # training succeeded once, and training again would take as long
    trained = question.training_goal and outcomes and not failed_run
    if verdict.mistakes and not trained and (left_out == "more" or left_out == "idle" and failed_run):
        # if there are outcomes, the remaining cells seldom matter and get less time
        shorter = {key: max(2, limits[key] // 3) for key in ("seconds", "wall")} if outcomes else {}
        second, second_outcomes, _ = runner.run(limits | shorter, needed=False)
        second.seconds = round(second.seconds + verdict.seconds, 2)
        if not outcomes or second.points > verdict.points or not set(second.mistakes) & STOPPED:
            verdict, outcomes = second, second_outcomes
    return verdict, [
        {"probe": probe.to_json(), "right": expected.to_json(), "given": outcome.to_json()}
        for probe, expected, outcome in zip(probe_set.probes, probe_set.expected, outcomes)
    ]


@lru_cache(maxsize=64)
def findings_cache(question, variant, seed):
    """Return the cache of findings by digest of the outcomes.

    Finding a mistake is slow, and many students of a class make the same ones.
    """
    return {}


@dataclass
class AnswerRunner:
    """Runs one answer, once or twice, and judges its outcomes."""

    worker: Worker
    question: object
    probe_set: object
    answer: object
    language: str
    words: dict
    findings: dict

    def run(self, limits, needed):
        """Run the answer, and return the verdict, its outcomes, and the kind of cells left out.

        The kind is "", "idle" or "more", as dependencies.py defines them.
        """
        question, probe_set, answer, words = self.question, self.probe_set, self.answer, self.words
        verdict = new_verdict(question.name)
        reply = self.worker.ask(build_job(question, probe_set, answer, limits, needed))
        verdict.seconds = round(float(reply["seconds"]), 2)
        verdict.walls, text = split_protections(reply["said"])
        if not reply["ended"] and not text:
            reply["ended"] = "quit"
        if reply["ended"] == "signal 4":  # the illegal instruction that replaces a library's function
            return conclude(verdict, question, probe_set, Finding(["library_layer"]), self.language), [], ""
        if reply["ended"] == "time":
            return self.out_of_time(verdict, reply, limits), [], ""
        if reply["ended"]:
            return fail(verdict, ENDED.get(reply["ended"], "crashed"), words, reply["ended"]), [], ""
        try:
            outcomes, errors, left_out = parse_outcomes(text, len(probe_set.probes))
        except FORGED:
            return fail(verdict, "not_an_answer", words), [], ""
        for error in errors[:3]:
            not_python = NOT_PYTHON.search(error["text"])
            template = words["page"]["not_python"] if not_python else words["cell_error"]
            verdict.remarks.append(template.format(**error))
        absent = (NO_MODULE.match(error["text"]) for error in errors if error["type"] == "ModuleNotFoundError")
        lacking = {match[1] for match in absent if match}
        verdict.remarks += [words["page"]["no_module"].format(name=name) for name in sorted(lacking)[:3]]
        lacking = [NO_FILE.search(error["text"]) for error in errors if error["type"] == "FileNotFoundError"]
        lacking = {match[1] for match in lacking if match}
        verdict.remarks += [words["page"]["no_file"].format(name=name) for name in sorted(lacking)[:3]]
        if outcomes is None and any(error["cell"] == answer.cell and REFUSED in error["text"] for error in errors):
            return conclude(verdict, question, probe_set, Finding(["library_layer"]), self.language), [], ""
        if mistake := missing_answer(outcomes):
            fail(verdict, mistake, words)
            verdict.paragraphs += self.other_function(outcomes or ()) if mistake == "not_written" else []
            return verdict, outcomes or [], left_out
        timed_out = None
        for probe in probe_set.rest(outcomes) if question.training_goal else ():  # each in its own process
            job = build_job(question, probe_set, answer, limits, needed) | {"probes": [probe.to_json()]}
            reply = self.worker.ask(job)
            verdict.seconds = round(verdict.seconds + float(reply["seconds"]), 2)
            timed_out = reply if reply["ended"] == "time" else timed_out
            try:
                outcomes += parse_outcomes(split_protections(reply["said"])[1], 1)[0]
            except FORGED:  # it did not finish, or returned nothing
                outcomes.append(Outcome())
        key = hashlib.sha256(repr([outcome.to_json() for outcome in outcomes]).encode()).digest()
        if key not in self.findings:
            slowness = getattr(self.worker, "slowness", 1)
            self.findings[key] = diagnose_outcomes(probe_set, outcomes, question, slowness)
        finding = self.findings[key]
        if timed_out and finding.mistakes == ["not_learned"]:  # it learned once, and a later probe had no time for it
            return self.out_of_time(verdict, timed_out, limits), outcomes, left_out
        return conclude(verdict, question, probe_set, finding, self.language), outcomes, left_out

    def other_function(self, outcomes):
        """Return a list with the error of a function other than the one asked for, or an empty list."""
        error = next((outcome.error for outcome in outcomes if outcome.error), {})
        if error.get("function", "").split(".")[0] in ("", self.question.asks_for, *self.answer.names):
            return []
        return [messages.FindingText(self.question, self.probe_set, Finding([]), self.language).error(error)]

    def out_of_time(self, verdict, reply, limits):
        """Fill in a verdict with no points for an answer whose time was over."""
        advice = time_limit_advice(self.words["mistakes"]["time_limit"], reply, limits, self.answer)
        return fail(verdict, "time_limit", self.words, advice=advice)


def build_job(question, probe_set, answer, limits, needed):
    """Return the job for a worker; nothing in it tells the expected outputs."""
    return {
        "cells": answer.cells, "names": answer.names, "probes": [probe.to_json() for probe in probe_set.probes],
        "forbidden": sorted(question.forbidden - RECURRENT - AUTOGRAD), "autograd": question.forbidden >= AUTOGRAD,
        "layers": question.layers_made, "limits": limits, "needed": needed, "place": answer.cell,
        "question": question.name, "checked": answer.checked,
        "modules": answer.modules, **portable_call(question),
    }  # fmt: skip


def missing_answer(outcomes):
    """Return the mistake of an answer that is absent, not written or out of memory; None otherwise."""
    if outcomes is None:
        return "no_answer"
    errors = [outcome.error or {} for outcome in outcomes]
    if any(error.get("type") == "NotImplementedError" for error in errors):
        return "not_written"
    if any(OUT_OF_MEMORY.search(f"{error.get('type')}: {error.get('text')}") for error in errors):
        return "memory_limit"
    return None


def draw_probes(question, seed):
    """Return the probes of a seed and their expected outcomes."""
    return (
        trained_network.exam(question, seed) if question.training_goal else bank(question.name, seed, question.variant)
    )


def diagnose_outcomes(probe_set, outcomes, question, slowness=1):
    """Diagnose outcomes as the checker does, but accept a right answer even if it called a library's layer.

    In the worker those layers are disabled, so they cannot have computed the answer. slowness: of this machine.
    """
    error_texts = [(outcome.error or {}).get("text", "") for outcome in outcomes]
    if question.forbidden >= AUTOGRAD and any(map(AUTOGRAD_REFUSED.search, error_texts)):
        outcomes[0].notes["library"] = ["torch.autograd"]
    for outcome in outcomes:
        if REFUSED in (outcome.error or {}).get("text", ""):
            outcome.notes.setdefault("library", [outcome.error["text"].partition(":")[0]])
    libraries = [outcome.notes.pop("library", None) for outcome in outcomes]
    if any(libraries) and (question.training_goal or not all(map(alike, probe_set.expected, outcomes))):
        used = sorted({name for names in libraries for name in names or ()})
        return Finding(["library_layer"], notes={"library": used} if used else {})
    if question.training_goal:
        return trained_network.judge(probe_set, outcomes)
    return diagnose(probe_set, outcomes, **{"seconds": SEARCH * slowness} if slowness > 1 else {})


def conclude(verdict, question, probe_set, finding, language):
    """Fill in a verdict from a finding."""
    verdict.mistakes = list(finding.mistakes)
    verdict.paragraphs = write_paragraphs(question, probe_set, finding, language)
    verdict.points = round(question.points * finding.share, 2)
    if finding.ok:
        verdict.remarks = []
    return verdict


def fail(verdict, mistake, words, detail="", advice=""):
    """Fill in a verdict with no points for one of the grader's own mistakes, with its words or another advice."""
    verdict.mistakes = [mistake]
    entry = words["mistakes"][mistake]
    verdict.paragraphs = [f"**{entry['says']}** {advice or entry['advice'].format(how=detail)}\n`{mistake}`"]
    return verdict


def write_paragraphs(question, probe_set, finding, language):
    """Return the checker's text about a finding, or only names if a forged finding lacks the values for it."""
    try:
        return messages.FindingText(question, probe_set, finding, language).paragraphs()
    except (KeyError, ValueError, IndexError, RuntimeError, TypeError):
        return [f"`{name}`" for name in finding.mistakes]
