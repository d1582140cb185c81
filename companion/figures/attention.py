"""A trained reader turns a number in words into digits, and shows which words it looks at for each."""

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

# The first stands there at the beginning. Then a short one, one with zeros where the reader without attention goes
# wrong, one with none, and one that is longer than any that the readers learned from.
EXAMPLES = {language: [412007, 305, zeros, 987654321, 1234567890] for language, zeros in zip(
    LANGUAGES, (700800009, 600030015, 90000400, 300405006), strict=True
)}  # fmt: skip
MOST = 25  # words
LONGEST = 12  # digits

reader_of = cache(load_reader)


class Written(NamedTuple):
    """digits: what was written, a string. p: the probability of each digit and of the end, (T). weights: (T, S), or
    None."""

    digits: str
    p: Tensor
    weights: Tensor | None


class Attention(Loading):
    """The reader of numerals of a language, with attention and without.

    text: a number in words, 1 to 25 of those that the reader knows. attention: whether the reader with attention is
    shown, or the one that has only the encoder's last state. t: how many steps are shown, 1 to 13; there may be fewer.
    A language without a reader gets the English one.
    """

    _esm = script("attention")
    files = {f"readers/{language}.safetensors": path_of(language) for language in LANGUAGES}
    text = Unicode().tag(sync=True)
    attention = Bool(True).tag(sync=True)
    t = Int(LONGEST + 1, min=1, max=LONGEST + 1).tag(sync=True)
    reader = Dict(read_only=True).tag(sync=True)  # what the page knows before it has the weights
    moved = ("text", "attention", "t")

    def __init__(self, language: str = "en", **values: Any) -> None:
        super().__init__(language, **values)
        self.set_trait("reader", self._reader())

    def words_read(self, text: str | None = None) -> list[str]:
        """The words of the text, or of another one, as the encoder reads them: a list."""
        return split(unicodedata.normalize("NFC", self.text if text is None else text), self._own)

    def written(self, text: str | None = None, attention: bool | None = None) -> Written:
        """What is written for the text, or for another one, as `Written`: the likeliest sign at each step."""
        kind = KINDS[0] if (self.attention if attention is None else attention) else KINDS[1]
        return write(self._own, kind, tuple(self.words_read(text)))

    @property
    def _own(self):
        return self.language if self.language in LANGUAGES else "en"

    def _reader(self):
        """Its file and bytes; the examples, and what is written for them and for the text as it is now."""
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
    def _is_known(self, proposal):
        text = unicodedata.normalize("NFC", proposal["value"])
        words, (_, task) = self.words_read(text), reader_of(self._own)
        if not 1 <= len(words) <= MOST:
            raise TraitError(f"text must have 1 to {MOST} words, not {len(words)}")
        try:
            task.encode(words)
        except ValueError as error:
            raise TraitError(f"text: {error}") from None
        return text


def example_of(number: int, language: str) -> str:
    """A number in words, as one would type it."""
    return (" " if language == "en" else "").join(in_words(number, language))


@lru_cache(maxsize=100)
def write(language: str, kind: str, words: tuple[str, ...]) -> Written:
    """The likeliest sign at each step, as `companion.learning.search.greedy` writes, and how likely it was."""
    model, task = reader_of(language, kind)
    source = task.encode(list(words))[:, None]
    (found,) = greedy(model, source, torch.tensor([len(source)]), LONGEST)
    return Written(task.decode(found.sequence), torch.tensor(found.p, dtype=torch.float64), found.weights)


def rows(written: Written) -> list[dict[str, Any]]:
    """What was written as the script has it: its signs, the end as 0; probabilities and weights with five digits."""
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
