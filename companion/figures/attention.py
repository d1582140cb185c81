"""Figure of a trained network that translates a number in words into digits, and its attention weights."""

import unicodedata
from functools import cache, lru_cache
from typing import Any, NamedTuple

import torch
from torch import Tensor
from traitlets import Bool, Dict, Int, TraitError, Unicode, default, validate

from companion.figures.figure import Loading, script
from companion.learning.numeral_readers import KINDS, load_reader, path_of
from companion.learning.numerals import LANGUAGES, in_words, split
from companion.learning.search import greedy

# The initial number; a short one; one with zeros, which the network without attention gets wrong; one without zeros;
# and one that is longer than any in the training data.
EXAMPLES = {language: [412007, 305, zeros, 987654321, 1234567890] for language, zeros in zip(
    LANGUAGES, (700800009, 600030015, 90000400, 300405006), strict=True
)}  # fmt: skip
MAX_WORDS = 25
MAX_DIGITS = 12

reader_of = cache(load_reader)


class Written(NamedTuple):
    """An output of the network.

    digits: a string. p: probabilities of each digit and of the end, (T). weights: of the attention, (T, S), or None.
    """

    digits: str
    p: Tensor
    weights: Tensor | None


class Attention(Loading):
    """A network that reads numerals of a language, with attention and without.

    text: a number in words, 1 to 25 words of the vocabulary. attention: whether the network with attention is
    shown, or the one that has only the encoder's last state. t: how many steps are shown at most, 1 to 13.
    A language without a network gets the English one.
    """

    _esm = script("attention")
    files = {f"readers/{language}.safetensors": path_of(language) for language in LANGUAGES}
    text = Unicode().tag(sync=True)
    attention = Bool(True).tag(sync=True)
    t = Int(MAX_DIGITS + 1, min=1, max=MAX_DIGITS + 1).tag(sync=True)
    reader = Dict(read_only=True).tag(sync=True)  # what the page shows before it has the weights
    settings = ("text", "attention", "t")

    def __init__(self, language: str = "en", **values: Any) -> None:
        super().__init__(language, **values)
        self.set_trait("reader", self._reader())

    def words_read(self, text: str | None = None) -> list[str]:
        """Return the words of a text, by default the figure's, as the encoder reads them."""
        return split(unicodedata.normalize("NFC", self.text if text is None else text), self._own)

    def written(self, text: str | None = None, attention: bool | None = None) -> Written:
        """Return the greedy output for a text, by default the figure's: the likeliest sign at each step."""
        kind = KINDS[0] if (self.attention if attention is None else attention) else KINDS[1]
        return write(self._own, kind, tuple(self.words_read(text)))

    @property
    def _own(self):
        return self.language if self.language in LANGUAGES else "en"

    def _reader(self):
        """Return file name, size, examples, and the outputs for the examples and the current text."""
        path, texts = path_of(self._own), {example_of(number, self._own): number for number in EXAMPLES[self._own]}
        return {
            "file": f"readers/{path.name}", "bytes": path.stat().st_size, "language": self._own,
            "examples": [[number, text] for text, number in texts.items()],
            "known": [
                {"text": text, "words": self.words_read(text), **{kind: rows(self.written(text,
                kind == KINDS[0])) for kind in KINDS}}
                for text in dict.fromkeys([self.text, *texts])
            ],
        }  # fmt: skip

    @default("text")
    def _text(self):
        return example_of(EXAMPLES[self._own][0], self._own)

    @validate("text")
    def _check_text(self, proposal):
        text = unicodedata.normalize("NFC", proposal["value"])
        words, (_, task) = self.words_read(text), reader_of(self._own)
        if not 1 <= len(words) <= MAX_WORDS:
            raise TraitError(f"text must have 1 to {MAX_WORDS} words, not {len(words)}")
        try:
            task.encode(words)
        except ValueError as error:
            raise TraitError(f"text: {error}") from None
        return text


def example_of(number: int, language: str) -> str:
    """Return a number in words, as a reader types it."""
    return (" " if language == "en" else "").join(in_words(number, language))


@lru_cache(maxsize=100)
def write(language: str, kind: str, words: tuple[str, ...]) -> Written:
    """Return the greedy output for these words, with probabilities and attention weights."""
    model, task = reader_of(language, kind)
    source = task.encode(list(words))[:, None]
    (output,) = greedy(model, source, torch.tensor([len(source)]), MAX_DIGITS)
    return Written(task.decode(output.sequence), torch.tensor(output.p, dtype=torch.float64), output.weights)


def rows(written: Written) -> list[dict[str, Any]]:
    """Return an output as the script takes it: a row for each sign (the end is 0), rounded to five digits."""
    rounded = lambda values: [round(value, 5) for value in values]  # noqa: E731
    return [
        {
            "index": index,
            "p": p,
            **({} if written.weights is None else {"weights": rounded(written.weights[k].tolist())}),
        }
        for k, (index, p) in enumerate(
            zip([*(1 + int(digit) for digit in written.digits), 0], rounded(written.p.tolist()), strict=True)
        )
    ]
