"""What a question is, and where all of them are.

How to make one --------------- A question is `QUESTION` in a file of its own, `questions/<assignment>/<question>.py`.
`written` of written.py makes it of a right answer and of changes to its lines; where that does not do, it is a
`Question` with a reference that has switches. It needs

- `call`, which calls an answer on a probe: `Function(...)` or `Module(...)` of run_answer.py, or, where neither fits, a
  function `call(answer, probe, outcome)` that puts float64 tensors into `outcome.values` by name (`probe.named`,
  `values` and `gradients` help), and raises `Unfit` if what it was given has the wrong form. It runs where the answer
  lives, so it knows no truth.
- `truth`, torch's own answer to the same question, a function or class in the form asked for. It says what is right.
- `reference(mistakes)`: the answer in the form asked for that makes the mistakes in the set `mistakes`, and with an
  empty set equals torch. ONE implementation with switches, written as the six equations are, so that two mistakes at
  once come for free. Its name has `reference` in it: by that an answer that calls it is recognised.
- `mistakes`: the bank. Each switch's name, and the place in the book that says it right ("" for the question's place).
  The words of each, in one line and as advice, are in words/<language>.toml under [mistakes.<name>]; a name means the
  same in all questions, and has words once. The order is that of plausibility: the first that fits is said.
  The same mistake made another way, with other numbers, is a switch `name~variant` after that of `name`: it is named
  `name`, and needs no words or place of its own.
- `exclusive`: sets of names of which only one at a time makes sense, such as the orders of the gates.
- `probes(draw)`: a list of `Probe`s, the smallest first. `draw(*shape)` draws from U(-1, 1), `draw.few(*shape)` the
  same with one decimal, for the tiny probes: the smallest probe on which an answer is wrong is shown to the student.
  All sizes differ (batch, input, hidden, steps), states are not zero, gradients are asked for. Each is there because
  it tells mistakes apart; few and small, because two seconds is all there is. A probe's name is a key of the words'
  [traits] if "right if …" can be said of it; several probes may have one name. In `batch_1` the batch is the only size
  that is 1, in `one_number` every size is; by these an answer is recognised that works for one sequence only.
- `axes`: for each result the names of its axes, for "from step 2, unit 1 on": keys of the words' [axes].
- `forbidden`: the operations of torch that would be the answer itself: `RECURRENT` (the default) or `EMBEDDING`, with
  `| AUTOGRAD` where gradients are asked for by hand.
- `answer`: the name that the answer is asked to have, if that is not the question's.
- `layers_made`: False where even making a library's layer, without running it, would tell the answer.
- `stretch`: whether its points are beyond those that are asked for.
- `by_torch`: False where torch has no such thing, and `truth` is a plain computation.
- `task`: its number in the assignment.
- `reach`: for a network that the answer trains, how well it has to do: trained_network.py says so.

The general mistakes of finding.py (an exception, None, a wrong shape, in-place changes, no gradient, parameters under
other names, a library's layer …) need no switches. A switch may raise an error or return a wrong form as well: two
errors agree if their types do.

tests/check/test_questions.py holds every question to this: the truth is right, the reference with no mistakes is right,
all mistakes are wrong and pairwise different; and tests/check/test_words.py, that each has words.
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

ASSIGNMENTS = ("embedding", "rnn", "training", "lstm", "lstm_parameters", "gru", "language_model", "attention")


@dataclass(frozen=True, eq=False)
class Question:
    name: str
    assignment: str
    points: int
    place: str  # page#cell in the book, such as lstm#six-equations
    call: Callable
    truth: Callable | None  # as `reference` and `probes`, None where the answer trains a network or is not called
    reference: Callable | None
    mistakes: dict
    probes: Callable | None
    exclusive: tuple = ()
    axes: dict = field(default_factory=dict)
    forbidden: frozenset = RECURRENT
    stretch: bool = False  # points beyond those that are asked for
    answer: str = ""
    layers_made: bool = True
    by_torch: bool = True  # whether torch has what is asked for
    task: int = 0
    clash: Callable | None = None  # whether mistakes are changes of the same piece of code
    variant: str | None = None  # which of the variants this is
    right: str = ""  # the code of a right answer to it, where one is written down
    variants: dict = field(default_factory=dict)  # of the question, by name; those who give no name have the first
    reach: object = None

    @property
    def asks_for(self):
        """The name that the answer is asked to have."""
        return self.answer or self.name

    @property
    def names(self):
        """The mistakes' names, variants left out."""
        return [name for name in self.mistakes if "~" not in name]

    def allows(self, mistakes):
        """Whether mistakes make sense together. A variant is excluded by what excludes its name, and by its name."""
        named, mistakes = mistakes, [plain(name) for name in mistakes]
        if len(set(mistakes)) < len(mistakes):
            return False
        if self.clash and self.clash(named):
            return False
        mistakes = set(mistakes)
        return all(len(one & mistakes) < 2 for one in self.exclusive)

    def asked_of(self, student):
        """The question as it is put to a student of this name or number. Without one it is the first variant."""
        if not self.variants or not (key := name_key(student)):
            return self
        number = int.from_bytes(hashlib.sha256(f"{self.name}:{key}".encode()).digest()[:8])
        return [*self.variants.values()][number % len(self.variants)]


def name_key(student):
    """A student's name or number, however it is typed."""
    return "".join(unicodedata.normalize("NFKC", str(student or "")).casefold().split())


def plain(name):
    """A mistake's name without its variant."""
    return name.split("~")[0]


class Draw:
    """Draws the numbers of the probes."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)

    def __call__(self, *shape):
        return torch.rand(shape, generator=self.generator, dtype=torch.float64) * 2 - 1

    def few(self, *shape):
        """One decimal, and not near zero: ±0.2 … ±0.9."""
        size = torch.randint(2, 10, shape, generator=self.generator)
        sign = torch.randint(0, 2, shape, generator=self.generator) * 2 - 1
        return (size * sign).double() / 10

    def whole(self, high, *shape):
        """Integers from 0 to high - 1."""
        return torch.randint(high, shape, generator=self.generator)


class Bank:
    """A question's probes for one seed, with what is right on them, and what each set of mistakes makes of them."""

    def __init__(self, question, seed):
        self.question = question
        self.probes = question.probes(Draw(seed))
        self.expected = [observe(question.call, question.truth, probe) for probe in self.probes]
        self.known = {}

    def outcome(self, mistakes, number) -> Outcome:
        """Of the answer with these mistakes, on the probe of this number."""
        key = mistakes, number
        if key not in self.known:
            question = self.question
            self.known[key] = observe(question.call, question.reference(mistakes), self.probes[number])
        return self.known[key]

    def glance(self, mistakes, number) -> Outcome:
        """The same without gradients, which takes half the time."""
        if (mistakes, number) in self.known or self.probes[number].gradients is None:
            return self.outcome(mistakes, number)
        key = mistakes, number, "glance"
        if key in self.known:
            return self.known[key]
        question, probe = self.question, replace(self.probes[number], gradients=None)
        glance = observe(question.call, question.reference(mistakes), probe)
        if len(mistakes) < 3:  # there are too many triples to keep them
            self.known[key] = glance
        return glance

    def singles(self):
        return [frozenset([name]) for name in self.question.mistakes]

    def pairs(self):
        pairs = (frozenset(pair) for pair in combinations(self.question.mistakes, 2))
        return [pair for pair in pairs if self.question.allows(pair)]

    def extended(self, pairs):
        """All triples that make sense with one of these pairs in them, each once."""
        triples = dict.fromkeys(pair | {name} for pair in pairs for name in self.question.mistakes if name not in pair)
        return [triple for triple in triples if self.question.allows(triple)]


def questions_in(assignment):
    """An assignment's questions, of all files in its folder."""
    folder = import_module(f"companion.check.questions.{assignment}")
    files = [import_module(f"{folder.__name__}.{one.name}") for one in pkgutil.iter_modules(folder.__path__)]
    return sorted((file.QUESTION for file in files if hasattr(file, "QUESTION")), key=lambda question: question.task)


@cache
def all_questions():
    """All questions by name, in the order of the assignments."""
    return {question.name: question for assignment in ASSIGNMENTS for question in questions_in(assignment)}


@lru_cache(maxsize=64)
def bank(name, seed, variant=None):
    question = all_questions()[name]
    return Bank(question.variants[variant] if variant else question, seed)
