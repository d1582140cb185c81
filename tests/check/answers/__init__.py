"""Answers as students write them: a module for each question, in the folder of its assignment, with a `PROGRAM`.

They are independent of the code in companion/check/questions/. tests/check/test_answers.py runs them all. Trained
questions are in tests/check/test_trained_network.py.
"""

import math
import random
import textwrap
from collections import Counter
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import numpy
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

import companion
from companion.check.engine.question import all_questions
from tests.check.programs import changed, definitions, edits_fit, questions

# The names that an answer may use without importing them
KNOWN = {
    "torch": torch, "nn": nn, "F": F, "math": math, "numpy": numpy, "companion": companion, "Counter": Counter,
    "PackedSequence": PackedSequence, "pack_padded_sequence": pack_padded_sequence,
    "pad_packed_sequence": pad_packed_sequence,
}  # fmt: skip


@dataclass(frozen=True)
class Program:
    """A right answer to a question, and other answers made from it.

    An answer is a list of edits `(old, new)`, applied to `source` one after another; or "lambda …", which may call the
    program; or the source of another program; or a function or class. An edit fails if its old text does not occur.
    The last function or class that a source defines is the answer.
    """

    source: str
    wrong: dict = field(default_factory=dict)  # {mistake: an answer that makes it}
    also_wrong: list = field(default_factory=list)  # further wrong answers: (mistake or mistakes, answer)
    also_right: list | dict = field(default_factory=list)  # further right answers, or {what is unusual: answer}
    pairs: list = field(
        default_factory=list
    )  # two mistakes of `wrong` at once, where both are edits: (mistake, mistake)
    variants: dict = field(default_factory=dict)  # a right answer to each variant of the question: {variant: edits}
    # questions on whose answers this one builds: their programs make the mistakes that this one does not
    parts: tuple = ()

    def answer(self, edits=()):
        """Return the function or class that an answer defines."""
        if callable(edits):
            return edits
        if not isinstance(edits, str):
            source = changed(self.source, *edits)
        elif edits.startswith("lambda"):
            source = f"{self.source}\nanswer = {edits}"
        else:
            source = textwrap.dedent(edits)
        return definitions(source, (), KNOWN)[-1]


def drawn_pairs(question, source, wrong, number, left_out=lambda pair, edits: False):
    """Return random pairs of mistakes whose edits fit together. left_out(pair, edits): True to skip a pair."""
    allows, chosen, pairs = all_questions()[question].allows, random.Random(0), {}
    while len(pairs) < number:
        # edits that select gates by their places come before those that change the places
        pair = sorted(chosen.sample(sorted(wrong), 2), key=lambda name: name.startswith("gates_"))
        edits = [edit for name in pair for edit in wrong[name]]
        if allows(frozenset(pair)) and edits_fit(source, edits) and not left_out(pair, edits):
            pairs[frozenset(pair)] = tuple(pair)
    return [*pairs.values()]


def programs_of(assignment):
    """Return {question: program} of an assignment's questions that have one."""
    folder = Path(__file__).parent / assignment
    names = [name for name in questions(assignment) if (folder / f"{name}.py").is_file()]
    return {name: import_module(f"{__name__}.{assignment}.{name}").PROGRAM for name in names}
