"""Definition of a question, its bank of mistakes, and the list of all questions.

A question is `QUESTION` in a file of its own, `questions/<assignment>/<question>.py`. `generate_question` of
question_from_edits.py makes it from a right answer and changes to its lines. Where that is not enough, write a
`Question` with a reference that has switches. Its fields:

- `call`: calls an answer on a probe. `Function(...)` or `Module(...)` of run_answer.py, or, where neither fits, a
  function `call(answer, probe, outcome)` that puts float64 tensors into `outcome.values` by name (`probe.named`,
  `values` and `gradients` help), and raises `Unfit` if the result has the wrong form. It runs in the process of the
  answer, so it must not contain the truth.
- `truth`: torch's own answer to the question, a function or class in the form asked for. It defines what is right.
- `reference(mistakes)`: the answer in the form asked for that makes the mistakes in the set `mistakes`; with an empty
  set it equals torch. It is ONE implementation with switches, written as the equations are, so that pairs of mistakes
  need no extra code. Its name contains `reference`: an answer that calls it is recognised by that.
- `mistakes`: each switch's name, and the place in the book that explains it ("" for the question's place). The words
  of each, in one line and as advice, are in words/<language>.toml under [mistakes.<name>]; a name means the same in all
  questions, and has words once. They are ordered by plausibility: the first that fits is reported.
  The same mistake made in another way, with other numbers, is a switch `name~variant` after that of `name`: it is
  reported as `name`, and needs no words or place of its own.
- `exclusive`: sets of names of which only one at a time makes sense, such as the orders of the gates.
- `probes(draw)`: a list of `Probe`s, the smallest first. `draw(*shape)` draws from U(-1, 1), `draw.few(*shape)` the
  same with one decimal, for the tiny probes: the smallest probe on which an answer is wrong is shown to the student.
  All sizes differ (batch, input, hidden, steps), states are not zero, gradients are asked for. Each probe
  distinguishes some mistakes; they are few and small, because a check takes two seconds at most. A probe's name is a
  key of the words' [traits] if "right if …" can be said of it; several probes may have one name. It is said if exactly
  the right probes have the trait: by their name, or by a function in TRAITS of diagnosis.py. In `batch_1` only the
  batch is 1, in `one_number` every size is; they identify an answer that works for one sequence only. An option or a
  result whose name is not code has words in [options] or [values].
- `axes`: for each result the names of its axes, for "from step 2, unit 1 on": keys of the words' [axes].
- `forbidden`: the operations of torch that would be the answer itself: `RECURRENT` (the default) or `EMBEDDING`, with
  `| AUTOGRAD` where gradients are asked for by hand.
- `answer`: the name of the function or class asked for, if it differs from the question's.
- `layers_made`: False where even making a library's layer, without running it, would give the answer away.
- `stretch`: True if its points are extra.
- `by_torch`: False where torch has no such thing, and `truth` is a plain computation.
- `task`: its number in the assignment.
- `training_goal`: for a trained question, the score that the network has to reach: see trained_network.py.

The general mistakes of finding.py (an exception, None, a wrong shape, in-place changes, no gradient, parameters under
other names, a library's layer …) need no switches. A switch may also raise an error or return a wrong form: two errors
agree if their types do.

tests/check/test_questions.py checks each question: the truth is right, the reference with no mistakes is right, all
mistakes are wrong and pairwise different. tests/check/test_words.py checks that each mistake has words.
"""

import hashlib
import pkgutil
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from importlib import import_module
from itertools import combinations

import torch

from companion.check.engine.library_layers import RECURRENT
from companion.check.engine.probe import Outcome
from companion.check.engine.run_answer import observe

ASSIGNMENTS = (
    "embedding",
    "rnn",
    "training",
    "lstm",
    "lstm_parameters",
    "gru",
    "language_model",
    "attention",
    "series",
    "recurrence_today",
)
ADDED: dict = {}  # questions by name that are not in this package: companion/check/own reads them from files


@dataclass(frozen=True, eq=False)
class Question:
    """A question of an assignment. The top of this file explains its fields."""

    name: str
    assignment: str
    points: int
    place: str  # page#cell in the book, such as lstm#six-equations
    call: Callable | None  # None for an own question whose file is not at hand
    truth: Callable | None  # like `reference` and `probes`, None for a trained question
    reference: Callable | None
    mistakes: dict
    probes: Callable | None
    exclusive: tuple = ()
    axes: dict = field(default_factory=dict)
    forbidden: frozenset = RECURRENT
    stretch: bool = False  # its points are extra
    answer: str = ""
    layers_made: bool = True
    by_torch: bool = True  # torch has what is asked for
    task: int = 0
    clash: Callable | None = None  # takes names; True if these mistakes change the same piece of code
    variant: str | None = None  # the name of this variant, if the question has several
    right: str = ""  # the code of a right answer, for a generated question
    variants: dict = field(default_factory=dict)  # all variants by name; students without a name get the first
    training_goal: object = None

    @property
    def asks_for(self):
        """Name that the answer is asked to have."""
        return self.answer or self.name

    @property
    def names(self):
        """Names of the mistakes, without `name~variant`."""
        return [name for name in self.mistakes if "~" not in name]

    def allows(self, mistakes):
        """Return True if these mistakes can be made together. A mistake excludes its own `name~variant`."""
        names = {plain(name) for name in mistakes}
        if len(names) < len(mistakes):
            return False
        if self.clash and self.clash(mistakes):
            return False
        return all(len(group & names) < 2 for group in self.exclusive)

    def asked_of(self, student):
        """Return the variant for a student's name or number; without one, the first."""
        if not self.variants or not (key := name_key(student)):
            return self
        number = int.from_bytes(hashlib.sha256(f"{self.name}:{key}".encode()).digest()[:8])
        return [*self.variants.values()][number % len(self.variants)]


def name_key(student):
    """Return a student's name or number without differences of case, width or blanks."""
    return "".join(unicodedata.normalize("NFKC", str(student or "")).casefold().split())


def plain(name):
    """Return a mistake's name without its `~variant`."""
    return name.split("~")[0]


class Draw:
    """Source of the random numbers in the probes."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)

    def __call__(self, *shape):
        """Return float64 numbers from U(-1, 1)."""
        return torch.rand(shape, generator=self.generator, dtype=torch.float64) * 2 - 1

    def few(self, *shape):
        """Return numbers with one decimal and not near zero: ±0.2 … ±0.9."""
        size = torch.randint(2, 10, shape, generator=self.generator)
        sign = torch.randint(0, 2, shape, generator=self.generator) * 2 - 1
        return (size * sign).double() / 10

    def whole(self, high, *shape):
        """Return integers from 0 to high - 1."""
        return torch.randint(high, shape, generator=self.generator)


class Bank:
    """A question's probes for one seed, the expected outcomes, and a cache of the outcomes of sets of mistakes."""

    def __init__(self, question, seed):
        self.question = question
        self.probes = question.probes(Draw(seed))
        self.expected = [observe(question.call, question.truth, probe) for probe in self.probes]
        self.outcomes = {}

    def outcome(self, mistakes, number) -> Outcome:
        """Return the outcome of the reference with these mistakes on probe `number`."""
        key = mistakes, number
        if key not in self.outcomes:
            question = self.question
            self.outcomes[key] = observe(question.call, question.reference(mistakes), self.probes[number])
        return self.outcomes[key]

    def quick_outcome(self, mistakes, number) -> Outcome:
        """Return the outcome without gradients, which takes half the time."""
        if (mistakes, number) in self.outcomes or self.probes[number].gradients is None:
            return self.outcome(mistakes, number)
        key = mistakes, number, "quick"
        if key in self.outcomes:
            return self.outcomes[key]
        question, probe = self.question, replace(self.probes[number], gradients=None)
        outcome = observe(question.call, question.reference(mistakes), probe)
        if len(mistakes) < 3:  # there are too many triples to keep them
            self.outcomes[key] = outcome
        return outcome

    def singles(self):
        """Return all sets of one mistake."""
        return [frozenset([name]) for name in self.question.mistakes]

    def pairs(self):
        """Return all sets of two mistakes that can be made together."""
        pairs = (frozenset(pair) for pair in combinations(self.question.mistakes, 2))
        return [pair for pair in pairs if self.question.allows(pair)]

    def extended(self, pairs):
        """Return all triples of mistakes that contain one of these pairs and can be made together."""
        triples = dict.fromkeys(pair | {name} for pair in pairs for name in self.question.mistakes if name not in pair)
        return [triple for triple in triples if self.question.allows(triple)]


def questions_in(assignment):
    """Return an assignment's questions, from all files in its folder, in the order of the tasks."""
    folder = import_module(f"companion.check.questions.{assignment}")
    modules = [import_module(f"{folder.__name__}.{file.name}") for file in pkgutil.iter_modules(folder.__path__)]
    questions = [module.QUESTION for module in modules if hasattr(module, "QUESTION")]
    return sorted(questions, key=lambda question: question.task)


@cache
def all_questions():
    """Return all questions by name, in the order of the assignments; those of `add_questions` come last."""
    return {question.name: question for assignment in ASSIGNMENTS for question in questions_in(assignment)} | ADDED


def add_questions(questions):
    """Add questions that are not in this package, or replace those that were added under the same names."""
    ADDED.update({question.name: question for question in questions})
    all_questions.cache_clear()
    bank.cache_clear()


@lru_cache(maxsize=64)
def bank(name, seed, variant=None):
    """Return the bank of a question, or of one of its variants, for a seed."""
    question = all_questions()[name]
    return Bank(question.variants[variant] if variant else question, seed)
