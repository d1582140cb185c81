"""A trained reader turns a number in words into digits, and shows where it looks."""

from functools import cache

from traitlets import Bool, Dict, Int, TraitError, Unicode, default, validate

from companion.figures.figure import Figure, script
from companion.learning.numeral_readers import KINDS, load_reader, path_of
from companion.learning.numerals import LANGUAGES, in_words, split
from companion.learning.search import greedy

NUMBER = 412_007  # as in the chapter
EXAMPLES = (7_012_400, 300_000_045, 813_266_118, 566_661_373, 4_000_000_001)  # the last is longer than any it learned from
MOST = 30  # words
LONGEST = 13  # digits that are written at most

reader_of = cache(load_reader)


class Attention(Figure):
    """Encoder and decoder with attention, and without: what they write, step by step, and where they look.

    text: a number in words of the language, 1 to 30 of them. step: how many signs are shown, 0 to 14. attend: with
    attention, or with the encoder's last state alone. A language without a reader gets the English one.
    """

    _esm = script("attention")
    text = Unicode().tag(sync=True)
    step = Int(LONGEST + 1, min=0, max=LONGEST + 1).tag(sync=True)
    attend = Bool(True).tag(sync=True)
    reader = Dict(read_only=True).tag(sync=True)  # what the page knows before it has the weights
    moved = ("text", "step", "attend")

    def __init__(self, language="en", **values):
        super().__init__(language, **values)
        self.set_trait("reader", self._reader())
        self.answer({f"readers/{language}.safetensors": path_of(language) for language in LANGUAGES})

    def written(self, attend=None):
        """What is written of the text: a `companion.learning.search.Found`. attend: as the figure has it if None."""
        model, task = reader_of(self._own, KINDS[0] if (self.attend if attend is None else attend) else KINDS[1])
        words = task.encode(self.text)
        (found,) = greedy(model, words[:, None], words.new_tensor([len(words)]), LONGEST)
        return found

    def digits(self, attend=None):
        """The same as a string."""
        return reader_of(self._own)[1].decode(self.written(attend).sequence)

    @property
    def _own(self):
        return self.language if self.language in LANGUAGES else "en"

    def _reader(self):
        """Its file and bytes, examples, and what both kinds write of the text as it is now."""
        path = path_of(self._own)
        between = " " if self._own == "en" else ""
        known = {
            "file": f"readers/{path.name}", "bytes": path.stat().st_size, "spaced": self._own == "en",
            "text": self.text, "words": split(self.text, self._own), "most": MOST, "longest": LONGEST,
            "examples": [between.join(in_words(number, self._own)) for number in (NUMBER, *EXAMPLES)],
        }  # fmt: skip
        for attend, kind in zip((True, False), KINDS, strict=True):
            found = self.written(attend)
            known[kind] = {"signs": [*found.sequence, 0], "p": [round(p, 4) for p in found.p]}
            if attend:
                known[kind]["weights"] = [[round(a, 3) for a in row] for row in found.weights.tolist()]
        return known

    @default("text")
    def _text(self):
        return (" " if self._own == "en" else "").join(in_words(NUMBER, self._own))

    @validate("text")
    def _is_known(self, proposal):
        try:
            count = len(reader_of(self._own)[1].encode(proposal["value"]))
        except ValueError as error:
            raise TraitError(f"text: {error}") from None
        if count > MOST:
            raise TraitError(f"text has {count} words; at most {MOST} are allowed")
        return proposal["value"]
