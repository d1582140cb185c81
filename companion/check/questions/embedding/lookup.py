"""Question `lookup`: the rows of a table by index."""

import torch
from torch import nn

from companion.check.engine.probe import Probe
from companion.check.engine.question import Question
from companion.check.engine.run_answer import Function
from companion.check.questions.embedding.indices import (
    INDEX_EXCLUSIVE,
    INDEX_MISTAKES,
    LOOK_UP,
    AnyShape,
    balanced_indices,
    read_reference,
)

LOOKUP_MISTAKES = INDEX_MISTAKES | {
    "columns_read": "embedding#one-row-of-w",
    "table_turned": "embedding#one-row-of-w",
    "embedding_dim_first": "embedding#any-shape",
    "places_summed": "embedding#any-shape",
    "places_averaged": "embedding#any-shape",
    "first_column_only": "embedding#one-row-of-w",
    "first_column_only~number": "",
    "one_vector_per_row": "embedding#any-shape",
    "repeats_left_out": "embedding#one-hot-rows",
    "rows_scaled": "",
}
LOOKUP_EXCLUSIVE = (
    *INDEX_EXCLUSIVE,
    frozenset({"columns_read", "table_turned", "first_column_only"}),
    frozenset({"columns_read", "embedding_dim_first"}),
    frozenset({"places_summed", "places_averaged", "shape_of_indices_lost", "repeats_left_out", "return_in_the_loop"}),
    frozenset({"one_vector_per_row", "places_summed", "places_averaged", "repeats_left_out", "return_in_the_loop"}),
    frozenset({"flat_indices_only", "shape_of_indices_lost", "one_vector_per_row"}),
)


def rows_reference(mistakes, table, indices):
    """Return the rows that are read; `table` has the right shape."""
    read = read_reference(mistakes, indices)
    if "return_in_the_loop" in mistakes:
        read = read[:1]
    if "repeats_left_out" in mistakes:
        read = read.unique()
    table = table.T if mistakes & {"columns_read", "table_turned"} else table
    rows = table[read]
    if "one_vector_per_row" in mistakes and indices.dim() > 1:
        rows = torch.eye(len(table))[read].amax(-2) @ table
    if "rows_scaled" in mistakes:
        rows = rows * rows.shape[-1] ** 0.5
    if "first_column_only" in mistakes:
        rows = rows[..., :1]
    return rows[..., 0] if "first_column_only~number" in mistakes else rows


def arranged_reference(mistakes, rows):
    """Return the rows in the shape of the result."""
    if "places_summed" in mistakes:
        rows = rows.sum(-2)
    if "places_averaged" in mistakes:
        rows = rows.mean(-2)
    if "shape_of_indices_lost" in mistakes:
        rows = rows.reshape(-1, rows.shape[-1])
    return rows.movedim(-1, 0) if mistakes & {"columns_read", "embedding_dim_first"} else rows


def lookup_reference(mistakes):
    def lookup(weight, indices):
        return arranged_reference(mistakes, rows_reference(mistakes, weight, indices))

    return lookup


def lookup_probes(draw):
    # fewer rows than columns: an answer that reads columns finds one for each index, and is recognised by its result
    def probe(name, draw, rows, columns, indices):
        return Probe(name, {"weight": draw(rows, columns), "indices": indices}, gradients=("weight",))

    return [
        probe("no_repeats", draw.few, 3, 4, balanced_indices(draw, 2, 2)),
        probe("flat", draw, 5, 6, balanced_indices(draw, 4, 7)),
        probe("two_dimensions", draw, 5, 7, balanced_indices(draw, 4, 2, 3)),
    ]


QUESTION = Question(
    name="lookup",
    assignment="embedding",
    task=2,
    points=2,
    place="embedding#look-up-equation",
    call=AnyShape(Function(("weight", "indices"), "rows")),
    truth=lambda weight, indices: nn.functional.embedding(indices, weight),
    reference=lookup_reference,
    mistakes=LOOKUP_MISTAKES,
    probes=lookup_probes,
    exclusive=LOOKUP_EXCLUSIVE,
    axes={"rows": ("place", "column"), "weight": ("row", "column")},
    forbidden=LOOK_UP,
)
