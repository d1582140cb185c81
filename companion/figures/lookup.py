"""Figure of an embedding table: the rows that a text reads, and the rows that a training step changes."""

import math

import torch
from traitlets import Int, List, TraitError, Unicode, default, validate

from companion.figures.figure import Figure, Number, script, words
from companion.layers.embedding import Embedding

PADDING = "·"  # the character of index 0
PLACES = 8  # length to which a text is padded
MAX_WEIGHT = 99.9  # the drawing has no room for larger numbers


class Lookup(Figure):
    """A table W with a row of 3 numbers for each character, and a text of up to 8 characters that reads it.

    text: characters without a row are skipped, and index 0 pads it to 8 places. place: the place k whose row is shown,
    0 to 7. padding_idx: 0, or None if the padding row learns like any other. weight: the table,
    (len(vocabulary), 3), numbers from -99.9 to 99.9. last_step: the change of each row in the last step. A step is
    gradient descent with lr 0.7, and the loss is the sum of all numbers that the 8 places read.
    """

    _esm = script("lookup")
    text = Unicode().tag(sync=True)
    place = Int(0, min=0, max=PLACES - 1).tag(sync=True)
    padding_idx = Int(0, min=0, max=0, allow_none=True).tag(sync=True)
    weight = List(List(Number(), minlen=3, maxlen=3)).tag(sync=True)
    last_step = List(Number()).tag(sync=True)
    pictured = {"place": 2}
    settings = ("text", "place", "padding_idx", "weight", "last_step")

    @property
    def vocabulary(self) -> list[str]:
        """The characters in the order of their indices, padding first."""
        return [PADDING, *words(self.language, self.name)["letters"]]

    @property
    def indices(self) -> list[int]:
        """The indices of the 8 places."""
        indices = [self.vocabulary.index(letter) for letter in self.text if letter in self.vocabulary]
        return (indices + PLACES * [0])[:PLACES]

    def layer(self) -> Embedding:
        """Return a `companion.Embedding` in float64 with the figure's table and padding_idx."""
        weight = torch.tensor(self.weight, dtype=torch.float64)
        return Embedding.from_pretrained(weight, freeze=False, padding_idx=self.padding_idx)

    @default("text")
    def _text(self):
        return words(self.language, self.name)["text"]

    @default("weight")
    def _weight(self):
        # as in a new nn.Embedding, the row of padding_idx starts as zeros
        rows = [[(10 * i + n) / 10 for n in (1, 2, 3)] for i in range(len(self.vocabulary))]
        return rows if self.padding_idx is None else [[0.0, 0.0, 0.0], *rows[1:]]

    @default("last_step")
    def _last_step(self):
        return [0.0] * len(self.vocabulary)

    @validate("text")
    def _check_text(self, proposal):
        if len(proposal.value) > PLACES:
            raise TraitError(f"text has {len(proposal.value)} characters, it should have at most {PLACES}")
        return proposal.value

    @validate("padding_idx")
    def _check_padding_idx(self, proposal):
        if isinstance(proposal.value, bool):  # False == 0, and would be taken for padding_idx 0
            raise TraitError(f"padding_idx should be 0 or None, not {proposal.value}")
        return proposal.value

    @validate("weight", "last_step")
    def _check_rows(self, proposal):
        name, values = proposal.trait.name, proposal.value
        if len(values) != len(self.vocabulary):
            raise TraitError(
                f"{name} has {len(values)} rows, it should have {len(self.vocabulary)}, one for each character"
            )
        numbers = values if name == "last_step" else sum(values, [])
        if not all(math.isfinite(number) and abs(number) <= MAX_WEIGHT for number in numbers):
            raise TraitError(f"{name} should have numbers from -{MAX_WEIGHT} to {MAX_WEIGHT}")
        return values
