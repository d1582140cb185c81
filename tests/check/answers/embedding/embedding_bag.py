"""Answers to the question `embedding_bag`."""

from torch import nn
from torch.nn import functional as F

from tests.check.answers import Program

BAG = """
def embedding_bag(weight, indices, offsets):
    ends = offsets.tolist()[1:] + [len(indices)]
    means = []
    for start, end in zip(offsets.tolist(), ends):
        bag = weight[indices[start:end]]
        means.append(bag.sum(0) / max(len(bag), 1))
    return torch.stack(means)
"""
MEAN, PIECE = "bag.sum(0) / max(len(bag), 1)", "indices[start:end]"
BAG_WRONG = {
    "bag_summed": [(MEAN, "bag.sum(0)")],
    "bag_largest": [(MEAN, "bag.max(0).values if len(bag) else torch.zeros(weight.shape[1])")],
    "last_bag_missing": [(" + [len(indices)]", "")],
    "empty_bag_not_a_number": [(MEAN, "bag.mean(0)")],
    "empty_bag_left_out": [("means.append", "if len(bag) > 0: means.append")],
    "offsets_as_lengths": [("for start, end in zip(offsets.tolist(), ends)",
    "for piece in indices.split(offsets.tolist())"), (PIECE, "piece")],
    "last_index_left_out": [("[len(indices)]", "[-1]")],
    "bag_end_included": [(PIECE, "indices[start : end + 1]")],
    "bag_end_too_early": [(PIECE, "indices[start : max(end - 1, 0)]")],
    "bag_start_too_late": [(PIECE, "indices[start + 1 : end]")],
    "bags_begin_at_zero": [("means = []", "means, sums = [], weight[indices].cumsum(0)"), (MEAN,
    "sums[end - 1] / end")],
    "divided_by_bags": [("max(len(bag), 1)", "len(offsets)")],
    "divided_by_places": [("max(len(bag), 1)", "len(indices)")],
    "repeats_counted_once": [(PIECE, f"{PIECE}.unique()")],
    "counts_from_one": [(PIECE, f"{PIECE} - 1")],
    "one_too_far": [(PIECE, f"{PIECE} + 1")],
    "return_in_the_loop": [(f"{MEAN})", f"{MEAN})\n        return torch.stack(means)")],
}  # fmt: skip
BAG_WRONG_AS_WELL = [
    ("bag_end_included", [(PIECE, "indices[start : end + 1 if end > start else end]")]),
    ("library_layer", lambda weight, indices, offsets: F.embedding_bag(indices, weight, offsets)),
    ("library_layer", lambda weight, indices, offsets: nn.EmbeddingBag.from_pretrained(weight)(indices, offsets)),
]
BAG_RIGHT = {
    "index_add": (
        """
        def embedding_bag(weight, indices, offsets):
            which = torch.searchsorted(offsets, torch.arange(len(indices)), right=True) - 1
            sums = torch.zeros(len(offsets), weight.shape[1]).index_add(0, which, weight[indices])
            return sums / torch.bincount(which, minlength=len(offsets)).clamp(min=1).unsqueeze(1)
    """
    ),
    "means that are no numbers, mended": (
        """
        def embedding_bag(weight, indices, offsets):
            means = [weight[bag].mean(0).nan_to_num() for bag in torch.tensor_split(indices, offsets[1:])]
            return torch.stack(means)
    """
    ),
}

PROGRAM = Program(BAG, BAG_WRONG, BAG_WRONG_AS_WELL, BAG_RIGHT, pairs=[
    ("bag_summed", "last_bag_missing"),
    ("empty_bag_not_a_number", "counts_from_one"),
    ("last_index_left_out", "empty_bag_not_a_number"),
    ("bag_summed", "bag_end_included"),
])  # fmt: skip
