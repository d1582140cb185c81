"""Guess the next character, against counts and a trained writer: Shannon's game (Prediction and Entropy of Printed
English, 1951)."""

import math
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor
from traitlets import Bool, Dict, Int, List, TraitError, default, observe, validate

from companion.figures.figure import Figure, script
from companion.figures.writing import writer_of
from companion.learning.counts import Counts
from companion.learning.text import characters, load_text, normalise
from companion.learning.windows import split

MOST = 5  # tries; what is not found within them is shown, and counts as one try more
ORDERS = (1, 3, 5)
PLAYERS = (*(f"n = {order}" for order in ORDERS), "LSTM")
CHOICES = 6  # one of them is right
PASSAGES = 3
GIVEN = {"en": 45, "ja": 25, "ko": 35, "zh": 25}  # characters that are shown at first
GUESSED = (45, 60)  # how many are guessed, so that a sentence ends there
BEFORE = 19  # of the characters that are shown at first, so many have their tries in the drawing
LONGEST = 200
CHOOSING = ("ja", "ko", "zh")  # there are hundreds of characters, and not on every keyboard
SENTENCE = re.compile(r"[.!?。！？][”’」』]* ?")


def held_out_text(language: str) -> str:
    """The last tenth of a language's text, from which neither counts nor writer learned."""
    vocabulary = writer_of(language)[1]
    return vocabulary.decode(split(vocabulary.encode(load_text(language)))[1])


def passages(language: str) -> list[str]:
    """Pieces of the held-out text that begin and end with a sentence: PASSAGES of them, far from each other."""
    least, most = (GIVEN[language] + guessed for guessed in GUESSED)
    found: list[str] = []
    for line in held_out_text(language).split("\n")[1:]:  # the first one has no beginning
        ends = [end.end() for end in SENTENCE.finditer(line)]
        pieces = (line[start:end].rstrip() for start in [0, *ends] for end in ends)
        found += [piece for piece in pieces if least <= len(piece) <= most][:1]
    return [found[k * (len(found) - 1) // (PASSAGES - 1)] for k in range(PASSAGES)]


@cache
def counts_of(language: str) -> list[Counts]:
    """The counts of the orders that play, of the part of the text that the writer learned from."""
    vocabulary = writer_of(language)[1]
    learned_from, _ = split(vocabulary.encode(load_text(language)))
    return [Counts(learned_from, len(vocabulary), order) for order in ORDERS]


def all_at_once(counts: Counts, past: Sequence[int]) -> Tensor:
    """`counts.probabilities(past)`, for a large vocabulary in less time: float64 (vocab_size)."""
    p = torch.full((counts.vocab_size,), 1 / counts.vocab_size, dtype=torch.float64)
    for n in range(min(counts.order, len(past)) + 1):
        recent = tuple(past[len(past) - n :])
        if recent not in counts.followers:
            break
        found, total = counts.followers[recent], counts.totals[recent]
        p = len(found) * p
        p[list(found)] += torch.tensor([*found.values()], dtype=torch.float64)
        p /= total + len(found)
    return p


def distributions(language: str, text: str) -> Tensor:
    """What each player expects at each place but the first, given the text before it: float64 (players, length - 1,
    vocab_size)."""
    model, vocabulary = writer_of(language)
    indices = vocabulary.encode(text, strict=True)
    counted = [
        [all_at_once(counts, indices[max(0, k - counts.order) : k].tolist()) for k in range(1, len(indices))]
        for counts in counts_of(language)
    ]
    with torch.no_grad():
        logits, _ = model(indices[:-1, None])
    return torch.stack([*(torch.stack(one) for one in counted), torch.softmax(logits[:, 0], dim=1)])


def candidates(ranked: Tensor, truth: int) -> list[int]:
    """The right index and the others that the players expect most, in turns, the last player first. In the order of the
    vocabulary."""
    others = dict.fromkeys(order[k].item() for k in range(CHOICES + 1) for order in reversed(ranked))
    return sorted([truth, *[one for one in others if one not in (truth, 0)][: CHOICES - 1]])


def rank(p: Tensor, index: int) -> int:
    """How many tries it takes who guesses the likeliest first; of equally likely ones the first in the vocabulary."""
    return 1 + int((p > p[index]).sum()) + int((p[:index] == p[index]).sum())


@cache
def played(language: str, text: str, given: int) -> dict[str, Any]:
    """What the page knows of the players: their tries for each place, among all characters and among the candidates, a
    digit each, and -log2 p of what came. `first`: the place to which the first tries belong; bits, candidates, and
    which of them the writer holds likeliest, begin at `given`."""
    vocabulary = writer_of(language)[1]
    indices = vocabulary.encode(text, strict=True).tolist()
    p = distributions(language, text)
    first = max(1, given - BEFORE)
    tries, among, bits, choices, likeliest = [], [], [], [], ""
    for place in range(first, len(indices)):
        truth, here = indices[place], p[:, place - 1]
        ranked = here.argsort(dim=1, descending=True, stable=True)
        six = candidates(ranked, truth)
        tries.append([rank(one, truth) for one in here])
        among.append([rank(one[six], six.index(truth)) for one in here])
        if place >= given:
            bits.append([round(-math.log2(one[truth]), 6) for one in here])
            choices.append("".join(vocabulary.characters[index] for index in six))
            likeliest += str(six.index(int(ranked[-1, 0])))
    columns = lambda rows: [list(column) for column in zip(*rows, strict=True)]  # noqa: E731
    digits = lambda rows: ["".join(str(min(n, MOST + 1)) for n in column) for column in columns(rows)]  # noqa: E731
    return {
        "text": text, "given": given, "first": first, "choices": choices, "likeliest": likeliest,
        "tries": digits(tries), "among": digits(among), "bits": columns(bits),
    }  # fmt: skip


def shannon(tries: Sequence[int], rest: int) -> float:
    """Bits that tries leave at most, by how often each number of them occurs (Shannon 1951, section 5).

    tries: a list of 1 to MOST + 1. rest: how many characters are left after MOST wrong ones; one that was not found is
    one of them, and which one is told in log2(rest) bits more.
    """
    shares = [tries.count(n) / len(tries) for n in range(1, MOST + 2)]
    return sum(-share * math.log2(share) for share in shares if share) + shares[-1] * math.log2(rest)


class Guess(Figure):
    """Shannon's game: the reader, counts of order 1, 3 and 5, and the writer of the language guess one character after
    the other.

    text: of your own, 20 to 200 characters that the writer knows; without it there are three passages of the held-out
    text. passage: which of them, from 1. choosing: whether the reader chooses among six characters instead of typing
    any. tries: how many the reader needed for each character so far, 1 to 5; 6 for not found, 0 for one that was shown
    unguessed. Another passage, or another way, begins anew. A language without a writer gets the English one.
    """

    _esm = script("guess")
    passage = Int(1, min=1, max=PASSAGES).tag(sync=True)
    choosing = Bool().tag(sync=True)
    tries = List(Int(min=0, max=MOST + 1)).tag(sync=True)
    game = Dict(read_only=True).tag(sync=True)
    moved = ("passage", "choosing", "tries")
    told = ("game",)
    _made = False

    def __init__(self, language: str = "en", text: str = "", **values: Any) -> None:
        self.own_text = normalise(text)
        known = language if language in GIVEN else "en"
        vocabulary = writer_of(known)[1]
        if text:
            length = self._length(vocabulary)
            parts = [(self.own_text, min(GIVEN[known], length // 2))]
        else:
            parts = [(one, GIVEN[known]) for one in passages(known)]
        self._games = [played(known, *part) for part in parts]
        super().__init__(language, **values)
        self.set_trait(
            "game", {"players": list(PLAYERS), "size": len(vocabulary) - 1, "language": known, "passages": self._games}
        )
        self._made = True

    @property
    def text(self) -> str:
        """The passage as far as it has been shown."""
        return "".join(characters(self._here["text"])[: self._here["given"] + len(self.tries)])

    @property
    def bits(self) -> dict[str, float | None]:
        """Player → mean surprise in bits over the same characters as in `standings`."""
        return {name: one[3] for name, one in self.standings().items() if name != "you"}

    def standings(self) -> dict[str, tuple[float, float, float, float | None]]:
        """Name → (share right at the first try, mean number of tries, Shannon's bound, mean -log2 p of what came).

        The bound is of what was asked: which character, or, choosing, which of the six. All over the characters that
        the reader has guessed, or, if there are none, that were shown. The reader has given no
        probabilities: None. Nothing was guessed or shown: an empty dict.
        """
        guessed = [k for k, n in enumerate(self.tries) if n]
        places = guessed or range(len(self.tries))
        if not places:
            return {}
        here = self._here
        skipped = here["given"] - here["first"]
        all_tries = {"you": [self.tries[k] for k in guessed]} if guessed else {}
        for name, tries in zip(PLAYERS, here["among" if self.choosing else "tries"], strict=True):
            all_tries[name] = [int(tries[skipped + k]) for k in places]
        mean = lambda numbers: sum(numbers) / len(places)  # noqa: E731
        bits = {name: mean([one[k] for k in places]) for name, one in zip(PLAYERS, here["bits"], strict=True)}
        rest = CHOICES - MOST if self.choosing else self.game["size"] - MOST
        return {
            name: (mean([n == 1 for n in tries]), mean(tries), shannon(tries, rest), bits.get(name))
            for name, tries in all_tries.items()
        }

    @property
    def _here(self):
        return self._games[self.passage - 1]

    def _length(self, vocabulary):
        try:
            length = len(vocabulary.encode(self.own_text, strict=True))
        except ValueError as error:
            raise TraitError(f"text: {error}") from None
        if not 20 <= length <= LONGEST:
            raise TraitError(f"text has {length} characters; from 20 to {LONGEST} are allowed")
        return length

    @default("choosing")
    def _is_easier(self):
        return self.language in CHOOSING

    @validate("passage")
    def _is_there(self, proposal):
        if proposal.value > len(self._games):
            raise TraitError(f"passage must be 1, not {proposal.value}: there is only your own text")
        return proposal.value

    @validate("tries")
    def _have_room(self, proposal):
        room = len(self._here["choices"])
        if len(proposal.value) > room:
            raise TraitError(
                f"tries has {len(proposal.value)} numbers; passage {self.passage} has {room} characters to guess"
            )
        return proposal.value

    @observe("passage", "choosing")
    def _begin_anew(self, _):
        if self._made:
            self.tries = []

    def __repr__(self) -> str:
        if not self.own_text:
            return super().__repr__()
        rest = super().__repr__().removeprefix("Guess(").removesuffix(")")
        return f"Guess({', '.join([f'text={self.own_text!r}', *filter(None, [rest])])})"
