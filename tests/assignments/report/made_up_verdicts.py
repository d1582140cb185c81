"""Verdicts on wrong answers to `gates`, for tests of pages."""

from functools import cache

import torch

from companion.check.engine.diagnosis import diagnose
from companion.check.engine.question import all_questions, bank
from companion.check.engine.run_answer import observe


@cache
def finding_of(answer, question):
    """Return the finding on an answer; cached, since a diagnosis takes a second."""
    definition, probe_set = all_questions()[question], bank(question, 5)
    return diagnose(probe_set, [observe(definition.call, answer, probe) for probe in probe_set.probes])


def raises(*_):
    raise ValueError("<b>no</b> " + "x" * 100)


def nearly(*arguments):
    i, f, g, o = all_questions()["gates"].truth(*arguments)
    return i, f, g, o + torch.linspace(0.1, 0.2, o.numel()).reshape(o.shape)


def judged_only(student, *verdicts, language="en"):
    return {
        "student": student,
        "language": language,
        "assignments": ["lstm"],
        "remarks": [],
        "seeds": {},
        "verdicts": [*verdicts],
    }
