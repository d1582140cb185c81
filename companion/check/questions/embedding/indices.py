"""What goes wrong with indices of any shape, in all questions about them."""

from dataclasses import dataclass

import torch

from companion.check.engine.library_layers import COMPANION, EMBEDDING
from companion.check.engine.probe import Unfit

# Except in its own question torch's one_hot is a way to the answer and not the answer: the book says so itself.
LOOK_UP = EMBEDDING - {"aten::one_hot"}


class SeveralDimensions(Exception):
    """Whatever an answer stopped with at indices of more than one dimension."""


class NoSuchArgument(Exception):
    """An answer was not even entered, because it does not take `padding_idx`."""


@dataclass(frozen=True)
class AnyShape:
    """Calls as `call` does, and gives errors that are known mistakes one type each, so that they have a name.

    The many ways to write a loop over a flat list stop with as many types of errors at a batch. And a TypeError is
    raised by much else than a missing argument.
    """

    call: object

    def __call__(self, answer, probe, outcome):
        try:
            self.call(answer, probe, outcome)
        except (Unfit, NotImplementedError):  # the latter: not written yet, in any shape
            raise
        except Exception as error:
            known = None
            if "padding_idx" in probe.options and isinstance(error, TypeError) and not entered(error):
                known = NoSuchArgument
            elif probe.tensors["indices"].dim() > 1:
                known = SeveralDimensions
            if known is None:
                raise
            raise known(f"{type(error).__name__}: {error}").with_traceback(error.__traceback__) from None


def entered(error):
    """Whether an error comes from inside an answer, and not from the line that calls it."""
    place = error.__traceback__
    while place.tb_next:
        place = place.tb_next
    return not place.tb_frame.f_code.co_filename.startswith(str(COMPANION / "check"))


def spread(draw, high, *shape):
    """Indices of this shape in a random order, in which all from 0 to high - 1 occur equally often, or nearly so.

    The tables of the probes have more rows than that: so who reads one row too far ends in no error, of which there
    would be as many types as there are ways to read.
    """
    count = torch.Size(shape).numel()
    return (draw(count).argsort() % high).reshape(shape)


def first(index, indices):
    """The same indices with this one first, so that even a loop that ends too early meets it."""
    at = int((indices == index).nonzero()[0])
    indices[[0, at]] = indices[[at, 0]]
    return indices


def read_reference(mistakes, indices):
    """The indices that are read instead of `indices`."""
    if "flat_indices_only" in mistakes and indices.dim() > 1:
        raise SeveralDimensions
    return indices + int("one_too_far" in mistakes) - int("counts_from_one" in mistakes)


def looped_reference(mistakes, indices):
    """Which places a loop has reached, as numbers 1 or 0 of the shape of the indices."""
    reached = torch.ones(indices.numel())
    if "return_in_the_loop" in mistakes:
        reached[1:] = 0
    if "last_place_left_out" in mistakes:
        reached[-1] = 0
    return reached.reshape(indices.shape)


INDEX_MISTAKES = {
    "counts_from_one": "embedding#from-text-to-indices",
    "one_too_far": "embedding#from-text-to-indices",
    "flat_indices_only": "embedding#any-shape",
    "shape_of_indices_lost": "embedding#any-shape",
    "return_in_the_loop": "",
}
INDEX_EXCLUSIVE = (
    frozenset({"counts_from_one", "one_too_far"}),
    frozenset({"return_in_the_loop", "last_place_left_out"}),
    frozenset({"size_from_indices", "one_column_too_many"}),
)
