"""Question `one_hot`: one-hot vectors of indices."""

import torch
from torch import nn

from companion.check.engine.library_layers import EMBEDDING
from companion.check.engine.probe import Probe, named, plain
from companion.check.engine.question import Question
from companion.check.engine.run_answer import note_changes
from companion.check.questions.embedding.indices import (
    INDEX_EXCLUSIVE,
    INDEX_MISTAKES,
    AnyShape,
    balanced_indices,
    looped_reference,
    read_reference,
)

ONE_HOT_MISTAKES = INDEX_MISTAKES | {
    "size_from_indices": "embedding#sizes",
    "one_column_too_many": "embedding#sizes",
    "integers_returned": "embedding#one-row-of-w",
    "index_zero_left_out": "embedding#from-text-to-indices",
    "one_vector_per_row": "embedding#any-shape",
    "one_vector_for_all": "embedding#one-hot-rows",
    "vocabulary_axis_first": "embedding#any-shape",
    "index_for_one": "embedding#no-order",
    "ones_and_zeros_swapped": "",
    "ones_up_to_index": "embedding#no-order",
    "last_place_left_out": "",
}


def one_hot_reference(mistakes):
    def one_hot(indices, num_embeddings):
        read, size = read_reference(mistakes, indices), num_embeddings
        if "size_from_indices" in mistakes:
            size = int(indices.max()) + 1
        if "one_column_too_many" in mistakes:
            size += 1
        marks = torch.eye(size)[read]
        if "ones_up_to_index" in mistakes:
            marks = (torch.arange(size) <= read[..., None]).double()
        if "index_zero_left_out" in mistakes:
            marks = marks.roll(-1, -1) * (indices > 0)[..., None]
        if "ones_and_zeros_swapped" in mistakes:
            marks = 1 - marks
        if "index_for_one" in mistakes:
            marks = marks * indices[..., None]
        marks = marks * looped_reference(mistakes, indices)[..., None]
        if "one_vector_for_all" in mistakes:
            marks = marks.reshape(-1, size).amax(0)
        if "one_vector_per_row" in mistakes and indices.dim() > 1:
            marks = marks.amax(-2)
        if "shape_of_indices_lost" in mistakes:
            marks = marks.reshape(-1, size)
        if "vocabulary_axis_first" in mistakes:
            marks = marks.movedim(-1, 0)
        return marks.long() if "integers_returned" in mistakes else marks

    return one_hot


def call_one_hot(answer, probe, outcome):
    """Call the answer, and record if the vectors are floating-point, as a product with a matrix needs."""
    indices = probe.tensors["indices"].clone()
    returned = named(answer(indices, probe.options["num_embeddings"]), "one_hot")
    note_changes({"indices": probe.tensors["indices"]}, {"indices": indices}, outcome)
    outcome.values["one_hot"] = plain(returned["one_hot"])
    outcome.values["one_hot.is_floating_point()"] = torch.tensor(float(returned["one_hot"].is_floating_point()))


def one_hot_probes(draw):
    def probe(name, size, indices):
        return Probe(name, {"indices": indices}, {"num_embeddings": size})

    return [
        probe("no_repeats", 3, balanced_indices(draw, 2, 2)),
        probe("flat", 5, balanced_indices(draw, 4, 7)),
        probe("two_dimensions", 6, balanced_indices(draw, 4, 2, 3)),
        probe("two_dimensions", 5, balanced_indices(draw, 3, 4, 2)),
    ]


QUESTION = Question(
    name="one_hot",
    assignment="embedding",
    task=1,
    points=1,
    place="embedding#one-hot",
    call=AnyShape(call_one_hot),
    truth=lambda indices, num_embeddings: nn.functional.one_hot(indices, num_embeddings).double(),
    reference=one_hot_reference,
    mistakes=ONE_HOT_MISTAKES,
    probes=one_hot_probes,
    exclusive=(
        *INDEX_EXCLUSIVE,
        frozenset({"counts_from_one", "one_too_far", "index_zero_left_out"}),
        frozenset({"ones_up_to_index", "index_for_one", "index_zero_left_out"}),
        frozenset({"one_vector_for_all", "one_vector_per_row", "shape_of_indices_lost", "flat_indices_only"}),
        frozenset({"one_vector_for_all", "vocabulary_axis_first"}),
    ),
    axes={"one_hot": ("place", "column")},
    forbidden=EMBEDDING,
)
