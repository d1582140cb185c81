"""Question `embedding_bag`: the mean of the rows of each bag."""

import torch
from torch import nn

from companion.check.engine.probe import Probe
from companion.check.engine.question import Question
from companion.check.engine.run_answer import Function
from companion.check.questions.embedding.indices import INDEX_EXCLUSIVE, LOOK_UP, balanced_indices, read_reference

BAG_MISTAKES = {
    "bag_summed": "",
    "bag_largest": "",
    "last_bag_missing": "",
    "empty_bag_not_a_number": "",
    "empty_bag_left_out": "",
    "offsets_as_lengths": "",
    "last_index_left_out": "",
    "bag_end_included": "",
    "bag_end_included~empty_kept": "",
    "bag_end_too_early": "",
    "bag_start_too_late": "",
    "bags_begin_at_zero": "",
    "divided_by_bags": "",
    "divided_by_places": "",
    "repeats_counted_once": "embedding#one-hot-rows",
    "counts_from_one": "embedding#from-text-to-indices",
    "one_too_far": "embedding#from-text-to-indices",
    "return_in_the_loop": "",
}


def embedding_bag_reference(mistakes):
    def mean(rows, bags, places):
        if "bag_largest" in mistakes:
            return rows.amax(0)
        total = rows.sum(0)
        if "bag_summed" in mistakes:
            return total
        if "divided_by_bags" in mistakes:
            return total / bags
        return total / (places if "divided_by_places" in mistakes else len(rows))

    def embedding_bag(weight, indices, offsets):
        places, starts = len(indices), offsets.tolist()
        ends = [*starts[1:], places - ("last_index_left_out" in mistakes)]
        if "offsets_as_lengths" in mistakes:
            ends = offsets.cumsum(0).tolist()
            starts = [0, *ends[:-1]]
        if "bags_begin_at_zero" in mistakes:
            starts = [0] * len(starts)
        bags = []
        for start, end in zip(starts, ends):
            start += "bag_start_too_late" in mistakes
            empty = end <= start
            end += ("bag_end_included" in mistakes) - ("bag_end_too_early" in mistakes)
            end += "bag_end_included~empty_kept" in mistakes and not empty
            read = read_reference(mistakes, indices[start:end])
            if "repeats_counted_once" in mistakes:
                read = read.unique()
            if len(read):
                bags.append(mean(weight[read], len(offsets), places))
            elif "empty_bag_left_out" not in mistakes:
                nothing = torch.nan if "empty_bag_not_a_number" in mistakes else 0.0
                bags.append(weight.new_full(weight.shape[1:], nothing))
        if "last_bag_missing" in mistakes:
            bags = bags[:-1]
        if "return_in_the_loop" in mistakes:
            bags = bags[:1]
        return torch.stack(bags)

    return embedding_bag


def call_bag(answer, probe, outcome):
    """Call like `Function`, but drop the gradient if a result is NaN: it would depend on how the NaN arose."""
    call = Function(("weight", "indices", "offsets"), "bags")
    call(answer, probe, outcome)
    if outcome.values["bags"].isnan().any():
        outcome.values.pop("grad of weight", None)


def bag_probes(draw):
    # Of six indices, 0 to 3, two occur twice, which shows answers that count repeats once. The offsets, taken for
    # lengths, add up to the number of indices, so that this mistake raises no error.
    def probe(name, weight, *lengths):
        indices = torch.cat([balanced_indices(draw, 4, length) for length in lengths])
        offsets = torch.tensor([0, *lengths[:-1]]).cumsum(0)
        return Probe(name, {"weight": weight, "indices": indices, "offsets": offsets}, gradients=("weight",))

    # like draw.few, but a column has no two equal numbers, which could both be the largest
    few = draw.few(4, 2).sign() * (2 + draw(8, 2).argsort(0)[:4]) / 10
    return [
        probe("no_empty_bag", few, 1, 2, 1),
        probe("no_empty_bag", draw(5, 3), 2, 6, 2),
        probe("empty_bag", draw(4, 3), 2, 0, 2),
        probe("empty_bag", draw(5, 2), 3, 0),
    ]


QUESTION = Question(
    name="embedding_bag",
    assignment="embedding",
    task=5,
    points=3,
    place="embedding#look-up-equation",
    call=call_bag,
    truth=lambda weight, indices, offsets: nn.functional.embedding_bag(indices, weight, offsets, mode="mean"),
    reference=embedding_bag_reference,
    mistakes=BAG_MISTAKES,
    probes=bag_probes,
    exclusive=(
        *INDEX_EXCLUSIVE,
        frozenset({"bag_summed", "bag_largest", "divided_by_bags", "divided_by_places"}),
        frozenset({"bag_largest", "repeats_counted_once"}),
        frozenset({"empty_bag_not_a_number", "empty_bag_left_out"}),
        frozenset({"bag_end_included", "bag_end_too_early", "last_index_left_out", "offsets_as_lengths"}),
        frozenset({"bag_start_too_late", "bags_begin_at_zero"}),
        frozenset({"last_bag_missing", "return_in_the_loop", "last_index_left_out"}),
        *(
            frozenset({one, other})
            for one in ("empty_bag_not_a_number", "empty_bag_left_out")
            for other in ("return_in_the_loop", "bags_begin_at_zero")
        ),
    ),
    axes={"bags": ("bag", "column"), "weight": ("row", "column")},
    forbidden=LOOK_UP,
    stretch=True,
)
