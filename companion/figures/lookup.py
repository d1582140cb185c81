"""A table that is read by index, and the rows that a step of training moves."""

import math

import torch
from traitlets import Int, List, TraitError, Unicode, default, validate

from companion.figures.figure import Figure, Number, script, words
from companion.layers.embedding import Embedding

PADDING = "·"  # the character of index 0
PLACES = 8  # a text is filled up to so many
FURTHEST = 99.9  # the largest number that the table takes: the drawing has no room for more


class Lookup(Figure):
    """A table W with a row of 3 numbers for each character, and a text of up to 8 characters that is read from it.

    text: what is looked up; characters that have no row are skipped, and padding, index 0, fills it up to 8 places.
    place: the place k whose row is shown, 0 to 7. padding_idx: 0, or None if the padding row is to learn like any
    other. weight: the table, (len(vocabulary), 3), numbers from -99.9 to 99.9. last_step: by how much the last step
    moved each row, 0 for a row that it left alone. A step is one of gradient descent with lr 0.5, and the loss is the
    sum of all numbers that the 8 places read.
    """

    _esm = script("lookup")
    text = Unicode().tag(sync=True)
    place = Int(2, min=0, max=PLACES - 1).tag(sync=True)
    padding_idx = Int(0, min=0, max=0, allow_none=True).tag(sync=True)
    weight = List(List(Number(), minlen=3, maxlen=3)).tag(sync=True)
    last_step = List(Number()).tag(sync=True)
    moved = ("text", "place", "padding_idx", "weight", "last_step")

    @property
    def vocabulary(self) -> list[str]:
        """The characters in the order of their indices, padding first."""
        return [PADDING, *words(self.language, self.name)["letters"]]

    @property
    def indices(self) -> list[int]:
        """What the 8 places read."""
        known = [self.vocabulary.index(one) for one in self.text if one in self.vocabulary]
        return (known + PLACES * [0])[:PLACES]

    def layer(self) -> Embedding:
        """A `companion.Embedding` in float64 with the table and the padding_idx that the figure has now."""
        weight = torch.tensor(self.weight, dtype=torch.float64)
        return Embedding.from_pretrained(weight, freeze=False, padding_idx=self.padding_idx)

    @default("text")
    def _text(self):
        return words(self.language, self.name)["text"]

    @default("weight")
    def _weight(self):
        # as a layer is made: the row of padding_idx starts as zeros
        rows = [[(10 * i + n) / 10 for n in (1, 2, 3)] for i in range(len(self.vocabulary))]
        return rows if self.padding_idx is None else [[0.0, 0.0, 0.0], *rows[1:]]

    @default("last_step")
    def _last_step(self):
        return [0.0] * len(self.vocabulary)

    @validate("text")
    def _short(self, proposal):
        if len(proposal.value) > PLACES:
            raise TraitError(f"text has {len(proposal.value)} characters, it should have at most {PLACES}")
        return proposal.value

    @validate("padding_idx")
    def _index(self, proposal):
        if isinstance(proposal.value, bool):  # False is 0 for Python, and would switch it on
            raise TraitError(f"padding_idx should be 0 or None, not {proposal.value}")
        return proposal.value

    @validate("weight", "last_step")
    def _rows(self, proposal):
        name, values = proposal.trait.name, proposal.value
        if len(values) != len(self.vocabulary):
            raise TraitError(
                f"{name} has {len(values)} rows, it should have {len(self.vocabulary)}, one for each character"
            )
        numbers = values if name == "last_step" else sum(values, [])
        if not all(math.isfinite(number) and abs(number) <= FURTHEST for number in numbers):
            raise TraitError(f"{name} should have numbers from -{FURTHEST} to {FURTHEST}")
        return values
