"""One question: sends the answer's cells and probes to a process of their own, and judges what comes back.

All that decides points is here: probes, what is right on them, the known mistakes.
"""

import hashlib
import re
import secrets
from dataclasses import dataclass, field
from functools import lru_cache

from assignments.sandbox.call_source import portable_call
from assignments.sandbox.pool import Worker
from assignments.sandbox.protocol import parse_outcomes, split_protections
from companion.check.engine import messages, trained_network
from companion.check.engine.diagnosis import alike, diagnose
from companion.check.engine.finding import Finding
from companion.check.engine.library_layers import AUTOGRAD, RECURRENT
from companion.check.engine.probe import Outcome
from companion.check.engine.question import all_questions, bank


def lasting(seconds):
    """Limits: so many seconds of the processor, and by the clock three times as many."""
    return {"seconds": seconds, "wall": 3 * seconds}


# Of a question: its time, and megabytes of memory beyond torch's own and of files.
LIMITS = lasting(10) | {"memory": 1024, "disk": 64}
OUT_OF_MEMORY = re.compile(r"^MemoryError|can't allocate memory|not enough memory")
NO_FILE = re.compile(r"No such file or directory: '([^'`\n]{1,100})'$")
LEFT_OUT = re.compile(r" \(line \d+\)$")  # as notebooks.py says it of what is no Python
NO_MODULE = re.compile(r"No module named '([\w.]{1,100})'")
REFUSED = "a library's own layer"  # the worker's words for it
AUTOGRAD_REFUSED = re.compile(r"does not require grad|appears to not have been used in the graph")
ENDED = {"time": "time_limit", "memory": "memory_limit", "output": "too_many_numbers", "quit": "stopped_early"}
STOPPED = {*ENDED.values(), "crashed"}  # mistakes of what did not come to an end by itself


@dataclass
class Verdict:
    """What is said of one answer. mistakes: names; none if it is right. paragraphs: Markdown, for the student."""

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
        """Of the points."""
        return self.points / self.most


def fresh_seed():
    return secrets.randbits(62)


def blank(question):
    """The verdict on the question of this name before anything is known."""
    asked = all_questions()[question]
    return Verdict(question, 0.0, asked.points, [], [], stretch=asked.stretch)


def grade(worker, question, answer, seed, language, words, limits=LIMITS, numbers=None, student=""):
    """The verdict on an answer (reading.Answer, or None) to the question of this name.

    What the answer needs is run first, and if it is right, nothing else: what is tried out around it costs nothing. If
    it is not right, and something else was left out that might matter, all of the notebook is run, and the better
    counts. words: the grader's own. numbers: a dictionary that probes and all that came of them are to be put into.
    student: the name or number by which a question that has variants was put.
    """
    asked = all_questions()[question].asked_of(student)
    if asked.training_goal:  # more where more is given to all questions, as on a slow machine
        limits = limits | lasting(round(asked.training_goal.seconds * max(1, limits["seconds"] / LIMITS["seconds"])))
    if answer is None or not answer.cells:
        return failed(blank(question), "no_answer", words)
    verdict, shown = best_of(worker, asked, answer, seed, language, words, limits)
    if answer.other is not None:
        # below is a better copy, or something tried out: who can say which was meant?
        cell = answer.cell
        if not verdict.ok:
            again, more = best_of(worker, asked, answer.other, seed, language, words, limits)
            if again.points > verdict.points:
                verdict, shown, cell = again, more, answer.other.cell
        verdict.remarks.append(words["page"]["several_cells"].format(cell=cell))
    if numbers is not None and shown:
        numbers["probes"] = shown
    return verdict


def best_of(worker, asked, answer, seed, language, words, limits):
    """The verdict on an answer, and what is shown to whoever appeals. A network may be trained on two draws."""

    def run(seed):
        return on_draw(worker, asked, answer, seed, language, words, limits)

    runs = trained_network.attempts(run, seed) if asked.training_goal else [run(seed)]
    verdict, shown = trained_network.best_attempt(runs)
    verdict.seconds = round(sum(one.seconds for one, _ in runs), 2)
    return verdict, shown


def on_draw(worker, asked, answer, seed, language, words, limits):
    """As best_of, on the probes of one seed, of what the answer needs or of all its notebook."""
    probed = probed_by(asked, seed)
    judging = Judging(worker, asked, probed, answer, language, words, findings_of(asked.name, asked.variant, seed))
    verdict, outcomes, others = judging.tried(limits, needed=True)
    lost = not outcomes or any(one.error for one in outcomes)
    # a network that was trained is there: to train it once more takes as long
    trained = asked.training_goal and outcomes and not lost
    if verdict.mistakes and not trained and (others == "more" or others == "idle" and lost):
        # where the answer is there, what is left has not much time: it is not likely to matter
        less = {key: max(2, limits[key] // 3) for key in ("seconds", "wall")} if outcomes else {}
        again, more, _ = judging.tried(limits | less, needed=False)
        again.seconds = round(again.seconds + verdict.seconds, 2)
        if not outcomes or again.points > verdict.points or not set(again.mistakes) & STOPPED:
            verdict, outcomes = again, more
    return verdict, [
        {"probe": probe.to_json(), "right": right.to_json(), "given": given.to_json()}
        for probe, right, given in zip(probed.probes, probed.expected, outcomes)
    ]


@lru_cache(maxsize=64)
def findings_of(question, variant, seed):
    """What was found of outcomes, by their digest: to look for a mistake takes long, and in a class many make the
    same."""
    return {}


@dataclass
class Judging:
    """One answer, to be run once or twice."""

    worker: Worker
    asked: object
    probed: object
    answer: object
    language: str
    words: dict
    findings: dict

    def tried(self, limits, needed):
        """The verdict, the outcomes that came, and what was left out ("", "idle", "more"), as dependencies.py says."""
        asked, probed, answer, words = self.asked, self.probed, self.answer, self.words
        verdict = blank(asked.name)
        ended = self.worker.ask(job_of(asked, probed, answer, limits, needed))
        verdict.seconds = round(float(ended["seconds"]), 2)
        verdict.walls, said = split_protections(ended["said"])
        if not ended["ended"] and not said:
            ended["ended"] = "quit"
        if ended["ended"] == "signal 4":  # the instruction that stands in the place of a library's function
            return concluded(verdict, asked, probed, Finding(["library_layer"]), self.language), [], ""
        if ended["ended"]:
            how = limits["seconds"] if ended["ended"] == "time" else ended["ended"]
            return failed(verdict, ENDED.get(ended["ended"], "crashed"), words, how), [], ""
        try:
            outcomes, errors, others = parse_outcomes(said, len(probed.probes))
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
            return failed(verdict, "not_an_answer", words), [], ""
        said = [
            words["page"]["not_python"] if LEFT_OUT.search(one["text"]) else words["cell_error"] for one in errors[:3]
        ]
        verdict.remarks = [text.format(**one) for text, one in zip(said, errors)]
        absent = (NO_MODULE.match(one["text"]) for one in errors if one["type"] == "ModuleNotFoundError")
        lacking = {found[1] for found in absent if found}
        verdict.remarks += [words["page"]["no_module"].format(name=name) for name in sorted(lacking)[:3]]
        lacking = [NO_FILE.search(one["text"]) for one in errors if one["type"] == "FileNotFoundError"]
        lacking = {found[1] for found in lacking if found}
        verdict.remarks += [words["page"]["no_file"].format(name=name) for name in sorted(lacking)[:3]]
        if outcomes is None and any(one["cell"] == answer.cell and REFUSED in one["text"] for one in errors):
            return concluded(verdict, asked, probed, Finding(["library_layer"]), self.language), [], ""
        if mistake := missing(outcomes):
            return failed(verdict, mistake, words), outcomes or [], others
        late = False
        for probe in probed.rest(outcomes) if asked.training_goal else ():  # each in a process of its own
            ended = self.worker.ask(job_of(asked, probed, answer, limits, needed) | {"probes": [probe.to_json()]})
            verdict.seconds = round(verdict.seconds + float(ended["seconds"]), 2)
            late |= ended["ended"] == "time"
            try:
                outcomes += parse_outcomes(split_protections(ended["said"])[1], 1)[0]
            except (
                ValueError,
                RecursionError,
                KeyError,
                TypeError,
                AttributeError,
            ):  # it came to no end, or gave nothing
                outcomes.append(Outcome())
        key = hashlib.sha256(repr([one.to_json() for one in outcomes]).encode()).digest()
        if key not in self.findings:
            self.findings[key] = judge(probed, outcomes, asked)
        finding = self.findings[key]
        if late and finding.mistakes == ["not_learned"]:  # it was as good once, and had not the time for it again
            return failed(verdict, "time_limit", words, limits["seconds"]), outcomes, others
        return concluded(verdict, asked, probed, finding, self.language), outcomes, others


def job_of(asked, probed, answer, limits, needed):
    """What a worker is sent: nothing that tells what is right."""
    return {
        "cells": answer.cells, "names": answer.names, "probes": [probe.to_json() for probe in probed.probes],
        "forbidden": sorted(asked.forbidden - RECURRENT - AUTOGRAD), "autograd": asked.forbidden >= AUTOGRAD,
        "layers": asked.layers_made, "limits": limits, "needed": needed, "place": answer.cell,
        "modules": answer.modules, **portable_call(asked),
    }  # fmt: skip


def missing(outcomes):
    """The mistake of an answer that is not there, not written, or without the memory that it wants; or None."""
    if outcomes is None:
        return "no_answer"
    raised = [one.error or {} for one in outcomes]
    if any(one.get("type") == "NotImplementedError" for one in raised):
        return "not_written"
    if any(OUT_OF_MEMORY.search(f"{one.get('type')}: {one.get('text')}") for one in raised):
        return "memory_limit"
    return None


def probed_by(asked, seed):
    return trained_network.exam(asked, seed) if asked.training_goal else bank(asked.name, seed, asked.variant)


def judge(probed, outcomes, asked):
    """As the checker's diagnosis. But an answer that is right is so, whatever it has tried beside: no layer worked."""
    texts = [(one.error or {}).get("text", "") for one in outcomes]
    if asked.forbidden >= AUTOGRAD and any(map(AUTOGRAD_REFUSED.search, texts)):
        outcomes[0].notes["library"] = ["torch.autograd"]
    for one in outcomes:
        if REFUSED in (one.error or {}).get("text", ""):
            one.notes.setdefault("library", [one.error["text"].partition(":")[0]])
    library = [one.notes.pop("library", None) for one in outcomes]
    if any(library) and (asked.training_goal or not all(map(alike, probed.expected, outcomes))):
        ran = sorted({name for names in library for name in names or ()})
        return Finding(["library_layer"], notes={"library": ran} if ran else {})
    return trained_network.judge(probed, outcomes) if asked.training_goal else diagnose(probed, outcomes)


def concluded(verdict, asked, probed, finding, language):
    verdict.mistakes = list(finding.mistakes)
    verdict.paragraphs = paragraphs(asked, probed, finding, language)
    verdict.points = round(asked.points * finding.share, 2)
    if finding.ok:
        verdict.remarks = []
    return verdict


def failed(verdict, mistake, words, how=""):
    verdict.mistakes = [mistake]
    entry = words["mistakes"][mistake]
    verdict.paragraphs = [f"**{entry['says']}** {entry['advice'].format(how=how)}\n`{mistake}`"]
    return verdict


def paragraphs(asked, probed, finding, language):
    try:
        return messages.FindingText(asked, probed, finding, language).paragraphs()
    except (KeyError, ValueError, IndexError, RuntimeError, TypeError):  # a forged finding may lack what is to be said
        return [f"`{name}`" for name in finding.mistakes]
