"""Mistakes with indices of any shape, shared by all questions about indices."""

from dataclasses import dataclass

import torch

from companion.check.engine.library_layers import COMPANION, EMBEDDING
from companion.check.engine.probe import Unfit

# torch's one_hot is allowed except in its own question: the book itself uses it as a step of the look-up.
LOOK_UP = EMBEDDING - {"aten::one_hot"}


class SeveralDimensions(Exception):
    """Raised in place of any error of an answer at indices of more than one dimension."""


class NoSuchArgument(Exception):
    """Raised if an answer does not take `padding_idx`, so that its code was not entered."""


@dataclass(frozen=True)
class AnyShape:
    """Call like `call`, but raise one type of error for each known mistake that ends in an error.

    Loops over a flat list can be written in many ways, and end with different errors at a batch. A TypeError has many
    other reasons than a missing argument.
    """

    call: object

    def __call__(self, answer, probe, outcome):
        try:
            self.call(answer, probe, outcome)
        except (Unfit, NotImplementedError):  # NotImplementedError: the answer is not written yet, for any shape
            raise
        except Exception as error:
            replacement = None
            if "padding_idx" in probe.options and isinstance(error, TypeError) and not raised_inside(error):
                replacement = NoSuchArgument
            elif probe.tensors["indices"].dim() > 1:
                replacement = SeveralDimensions
            if replacement is None:
                raise
            raise replacement(f"{type(error).__name__}: {error}").with_traceback(error.__traceback__) from None


def raised_inside(error):
    """Return True if an error was raised inside an answer, and not by the line that calls it."""
    place = error.__traceback__
    while place.tb_next:
        place = place.tb_next
    return not place.tb_frame.f_code.co_filename.startswith(str(COMPANION / "check"))


def balanced_indices(draw, high, *shape):
    """Return indices of this shape in random order, in which 0 to high - 1 occur equally often, or nearly.

    The tables of the probes have more than `high` rows, so that an answer that reads one row too far raises no error:
    its type would depend on the way to read.
    """
    count = torch.Size(shape).numel()
    return (draw(count).argsort() % high).reshape(shape)


def moved_to_front(index, indices):
    """Return `indices` with `index` in the first place, so that even a loop that ends too early meets it."""
    at = int((indices == index).nonzero()[0])
    indices[[0, at]] = indices[[at, 0]]
    return indices


def read_reference(mistakes, indices):
    """Return the indices that are read instead of `indices`."""
    if "flat_indices_only" in mistakes and indices.dim() > 1:
        raise SeveralDimensions
    return indices + int("one_too_far" in mistakes) - int("counts_from_one" in mistakes)


def looped_reference(mistakes, indices):
    """Return 1.0 for each place that a loop reaches and 0.0 for the others, in the shape of the indices."""
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
