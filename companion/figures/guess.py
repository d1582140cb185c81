"""Figure of Shannon's game: guess the next character, against n-gram counts and a trained LSTM.

Source: Shannon, Prediction and Entropy of Printed English, 1951.
"""

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

MOST = 5  # tries; a character that is not found within them is shown, and counts as MOST + 1
ORDERS = (1, 3, 5)
PLAYERS = (*(f"n = {order}" for order in ORDERS), "LSTM")
CHOICES = 6  # one of them is right
PASSAGES = 3
GIVEN = {"en": 45, "ja": 25, "ko": 35, "zh": 25}  # number of characters shown at the start
GUESSED = (45, 60)  # least and most characters to guess, so that a passage can end with a sentence
LONGEST = 200
# Of the held-out text: the index of the first passage, a typical one, and the share of characters that each player has
# right at once, in per cent. A test computes both.
TYPICAL = {"en": 4, "ja": 3, "ko": 5, "zh": 0}
AT_ONCE = {"en": (33, 58, 63, 62), "ja": (36, 50, 50, 47), "ko": (44, 57, 58, 55), "zh": (27, 37, 37, 37)}
CHOOSING = ("ja", "ko", "zh")  # hundreds of characters, which not every keyboard has
SENTENCE = re.compile(r"[.!?。！？][”’」』]* ?")


def held_out_text(language: str) -> str:
    """Return the last tenth of a language's text, on which no player was trained."""
    vocabulary = writer_of(language)[1]
    return vocabulary.decode(split(vocabulary.encode(load_text(language)))[1])


def pieces(language: str) -> list[str]:
    """Return the pieces of the held-out text that begin and end with a sentence and have the length of a passage."""
    least, most = (GIVEN[language] + guessed for guessed in GUESSED)
    fitting: list[str] = []
    for line in held_out_text(language).split("\n")[1:]:  # the first line is cut off
        ends = [end.end() for end in SENTENCE.finditer(line)]
        parts = (line[start:end].rstrip() for start in [0, *ends] for end in ends)
        fitting += [part for part in parts if least <= len(part) <= most][:1]
    return fitting


def passages(language: str) -> list[str]:
    """Return PASSAGES pieces of the held-out text: a typical one, and others, far from each other."""
    fitting = pieces(language)
    apart = [k * (len(fitting) - 1) // (PASSAGES - 1) for k in range(PASSAGES)]
    return [fitting[k] for k in [*dict.fromkeys([TYPICAL[language], *apart])][:PASSAGES]]


@cache
def counts_of(language: str) -> list[Counts]:
    """Return the n-gram counts of all ORDERS, from the training part of the text."""
    vocabulary = writer_of(language)[1]
    training, _ = split(vocabulary.encode(load_text(language)))
    return [Counts(training, len(vocabulary), order) for order in ORDERS]


def fast_probabilities(counts: Counts, past: Sequence[int]) -> Tensor:
    """Return `counts.probabilities(past)` in float64, (vocab_size), faster for a large vocabulary."""
    p = torch.full((counts.vocab_size,), 1 / counts.vocab_size, dtype=torch.float64)
    for followers, total in counts.contexts(past):
        p = len(followers) * p
        p[list(followers)] += torch.tensor([*followers.values()], dtype=torch.float64)
        p /= total + len(followers)
    return p


def distributions(language: str, text: str) -> Tensor:
    """Return each player's predictions for each character but the first: float64 (players, length - 1, vocab_size)."""
    model, vocabulary = writer_of(language)
    indices = vocabulary.encode(text, strict=True)
    counted = [
        [fast_probabilities(counts, indices[max(0, k - counts.order) : k].tolist()) for k in range(1, len(indices))]
        for counts in counts_of(language)
    ]
    with torch.no_grad():
        logits, _ = model(indices[:-1, None])
    return torch.stack([*(torch.stack(rows) for rows in counted), torch.softmax(logits[:, 0], dim=1)])


def candidates(ranked: Tensor, truth: int) -> list[int]:
    """Return CHOICES indices, sorted: the right one and the likeliest others of the players in turn, the last first."""
    others = dict.fromkeys(order[k].item() for k in range(CHOICES + 1) for order in reversed(ranked))
    return sorted([truth, *[index for index in others if index not in (truth, 0)][: CHOICES - 1]])


def rank(p: Tensor, index: int) -> int:
    """Return the number of tries to find `index` by guessing the likeliest first; ties in vocabulary order."""
    return 1 + int((p > p[index]).sum()) + int((p[:index] == p[index]).sum())


@cache
def played(language: str, text: str, given: int) -> dict[str, Any]:
    """Return the players' results for a passage, as the page takes them.

    tries, among: tries among all characters and among the choices, one digit for each place. bits: -log2 p of the
    right character, choices: the candidates, likeliest: the LSTM's first choice. All from the place `given` on.
    """
    vocabulary = writer_of(language)[1]
    indices = vocabulary.encode(text, strict=True).tolist()
    p = distributions(language, text)
    tries, among, bits, choices, likeliest = [], [], [], [], ""
    for place in range(given, len(indices)):
        truth, predicted = indices[place], p[:, place - 1]
        ranked = predicted.argsort(dim=1, descending=True, stable=True)
        six = candidates(ranked, truth)
        tries.append([rank(p_k, truth) for p_k in predicted])
        among.append([rank(p_k[six], six.index(truth)) for p_k in predicted])
        bits.append([round(-math.log2(p_k[truth]), 6) for p_k in predicted])
        choices.append("".join(vocabulary.characters[index] for index in six))
        likeliest += str(six.index(int(ranked[-1, 0])))
    columns = lambda rows: [list(column) for column in zip(*rows, strict=True)]  # noqa: E731
    digits = lambda rows: ["".join(str(min(n, MOST + 1)) for n in column) for column in columns(rows)]  # noqa: E731
    return {
        "text": text, "given": given, "choices": choices, "likeliest": likeliest,
        "tries": digits(tries), "among": digits(among), "bits": columns(bits),
    }  # fmt: skip


def shannon(tries: Sequence[int], rest: int) -> float:
    """Return an upper bound of the entropy in bits, from the frequencies of the tries (Shannon 1951, section 5).

    tries: numbers from 1 to MOST + 1. rest: how many characters are left after MOST wrong ones. A character that was
    not found costs log2(rest) bits more.
    """
    shares = [tries.count(n) / len(tries) for n in range(1, MOST + 2)]
    return sum(-share * math.log2(share) for share in shares if share) + shares[-1] * math.log2(rest)


class Guess(Figure):
    """Shannon's game: the reader, n-gram counts of order 1, 3 and 5, and an LSTM guess one character after the other.

    text: your own, 20 to 200 characters of the LSTM's vocabulary; without it there are three passages of the held-out
    text. passage: which of them, from 1. choosing: whether the reader chooses among six characters instead of typing.
    tries: the reader's tries for each character so far, 1 to 5; 6 if not found, 0 if shown without a guess.
    A change of `passage` or `choosing` restarts the game. A language without an LSTM gets the English one.
    """

    _esm = script("guess")
    passage = Int(1, min=1, max=PASSAGES).tag(sync=True)
    choosing = Bool().tag(sync=True)
    tries = List(Int(min=0, max=MOST + 1)).tag(sync=True)
    game = Dict(read_only=True).tag(sync=True)
    settings = ("passage", "choosing", "tries")
    pictured = {"tries": [0] * GUESSED[0]}
    _made = False

    def __init__(self, language: str = "en", text: str = "", **values: Any) -> None:
        self.own_text = normalise(text)
        game_language = language if language in GIVEN else "en"
        vocabulary = writer_of(game_language)[1]
        if text:
            length = self._length(vocabulary)
            parts = [(self.own_text, min(GIVEN[game_language], length // 2))]
        else:
            parts = [(passage, GIVEN[game_language]) for passage in passages(game_language)]
        self._games = [played(game_language, *part) for part in parts]
        super().__init__(language, **values)
        if text:  # the question is about the passages
            self.set_trait("words", {key: value for key, value in self.words.items() if key != "question"})
        game = {"players": list(PLAYERS), "size": len(vocabulary) - 1, "language": game_language}
        game["at_once"] = list(AT_ONCE[game_language])
        self.set_trait("game", game | {"passages": self._games})
        self._made = True

    @property
    def text(self) -> str:
        """The passage as far as it has been shown."""
        return "".join(characters(self._game["text"])[: self._game["given"] + len(self.tries)])

    @property
    def bits(self) -> dict[str, float | None]:
        """The players' mean surprises in bits, over the same characters as in `standings`."""
        return {name: row[3] for name, row in self.standings().items() if name != "you"}

    def standings(self) -> dict[str, tuple[float, float, float, float | None]]:
        """Return for each player: share right at the first try, mean tries, Shannon's bound, mean -log2 p.

        The means are over the characters that the reader has guessed, or, if there are none, over those shown; without
        any, the dict is empty. Shannon's bound is for the character, or, when choosing, for which of the six.
        The last number is None for the reader ("you"), who gives no probabilities.
        """
        guessed = [k for k, n in enumerate(self.tries) if n]
        places = guessed or range(len(self.tries))
        if not places:
            return {}
        game = self._game
        all_tries = {"you": [self.tries[k] for k in guessed]} if guessed else {}
        for name, tries in zip(PLAYERS, game["among" if self.choosing else "tries"], strict=True):
            all_tries[name] = [int(tries[k]) for k in places]
        mean = lambda numbers: sum(numbers) / len(places)  # noqa: E731
        bits = {name: mean([values[k] for k in places]) for name, values in zip(PLAYERS, game["bits"], strict=True)}
        rest = CHOICES - MOST if self.choosing else self.game["size"] - MOST
        return {
            name: (mean([n == 1 for n in tries]), mean(tries), shannon(tries, rest), bits.get(name))
            for name, tries in all_tries.items()
        }

    @property
    def _game(self):
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
    def _default_choosing(self):
        return self.language in CHOOSING

    @validate("passage")
    def _check_passage(self, proposal):
        if proposal.value > len(self._games):
            raise TraitError(f"passage must be 1, not {proposal.value}: there is only your own text")
        return proposal.value

    @validate("tries")
    def _check_tries(self, proposal):
        room = len(self._game["choices"])
        if len(proposal.value) > room:
            raise TraitError(
                f"tries has {len(proposal.value)} numbers; passage {self.passage} has {room} characters to guess"
            )
        return proposal.value

    @observe("passage", "choosing")
    def _restart(self, _):
        if self._made:
            self.tries = []

    def __repr__(self) -> str:
        if not self.own_text:
            return super().__repr__()
        others = super().__repr__().removeprefix("Guess(").removesuffix(")")
        return f"Guess({', '.join([f'text={self.own_text!r}', *filter(None, [others])])})"
