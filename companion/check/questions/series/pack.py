"""Question `pack`: the rows of a packed batch, and how many of them belong to each step."""

import torch
from torch.nn.utils.rnn import pack_padded_sequence

from companion.check.engine.probe import Probe
from companion.check.engine.question_from_edits import generate_question
from companion.check.questions.series import Results


def pack_reference(padded, lengths):
    order = lengths.argsort(descending=True)
    longest = int(lengths.max())
    rows, sizes = [], []
    for t in range(longest):
        here = [b for b in order.tolist() if t < lengths[b]]
        rows.append(padded[t, here])
        sizes.append(len(here))
    data = torch.cat(rows)
    batch_sizes = torch.tensor(sizes)
    return data, batch_sizes, order


HERE, PADDED, SAID = "sequences#packing", "sequences#padding", "sequences#packing-said"
HELD = "[b for b in order.tolist() if t < lengths[b]]"
ORDER, LONGEST, ROW, IN_TURN = (
    "lengths.argsort(descending=True)",
    "int(lengths.max())",
    "padded[t, here]",
    "order.tolist()",
)
DATA, SIZES, SIZE, RETURNED = "torch.cat(rows)", "torch.tensor(sizes)", "len(here)", "return data, batch_sizes, order"
MISTAKES = {
    "packed_by_sequence": (HERE, DATA, "torch.cat([padded[: lengths[b], b] for b in order.tolist()])"),
    "packed_by_sequence~as_given": ("", DATA, "torch.cat([padded[:length, b] for b, length in enumerate(lengths)])"),
    "columns_not_sorted": ("sequences#exercise-bug", ROW, "padded[t, : len(here)]"),
    "lengths_not_sorted": ("sequences#exercise-bug", HELD, "[b for b, n in zip(order.tolist(), lengths) if t < n]"),
    "packed_without_sorting": (HERE, ORDER, "torch.arange(len(lengths))"),
    "packed_without_sorting~order_right": ("", IN_TURN, "range(len(lengths))"),
    "shortest_first": (HERE, ORDER, "lengths.argsort()"),
    "order_inverted": ("sequences#exercise-bug", RETURNED, "return data, batch_sizes, order.argsort()"),
    "order_not_used": (SAID, RETURNED, "return data, batch_sizes, torch.arange(len(lengths))"),
    "order_before_batch_sizes": (HERE, RETURNED, "return data, order, batch_sizes"),
    "lengths_for_order": (SAID, RETURNED, "return data, batch_sizes, lengths[order]"),
    "lengths_for_batch_sizes": (HERE, SIZES, "lengths[order]"),
    "lengths_for_batch_sizes~as_given": ("", SIZES, "lengths"),
    "padding_packed": (HERE, "if t < lengths[b]", ""),
    "padding_packed~all_steps": ("", "if t < lengths[b]", "", LONGEST, "len(padded)"),
    "padding_packed~sizes_right": ("", ROW, "padded[t, order]"),
    "empty_steps_packed": (HERE, LONGEST, "len(padded)"),
    "last_step_not_packed": (HERE, LONGEST, "int(lengths.max()) - 1"),
    "return_in_the_loop": (HERE, "range(longest)", "range(1)"),
    "one_step_too_many": (PADDED, "t < lengths[b]", "t <= lengths[b]"),
    "one_step_too_few": (PADDED, "t < lengths[b]", "t < lengths[b] - 1"),
    "cut_to_shortest": (PADDED, LONGEST, "int(lengths.min())"),
    "padding_expected_first": (
        PADDED, ROW, "torch.stack([padded[len(padded) - lengths[b] + t, b] for b in here])"),
    "padded_read_batch_first": (SAID, ROW, "padded[here, t]"),
    "batch_sizes_added_up": (HERE, SIZES, "torch.tensor(sizes).cumsum(0)"),
    "ended_sequences_counted": (HERE, SIZE, "len(lengths) - len(here)"),
    "first_step_not_packed": (HERE, "range(longest)", "range(1, longest)"),
    "steps_packed_backwards": (HERE, "range(longest)", "reversed(range(longest))"),
}  # fmt: skip


def truth(padded, lengths):
    packed = pack_padded_sequence(padded, lengths, enforce_sorted=False)
    return packed.data, packed.batch_sizes, packed.sorted_indices


def probes(draw):
    def probe(name, draw, steps, features, *lengths):
        tensors = {"padded": draw(steps, len(lengths), features), "lengths": torch.tensor(lengths)}
        return Probe(name, tensors, gradients=("padded",))

    # sorting by length is not its own inverse here, so that undoing it wrongly makes a difference
    several = ([1, 4, 2, 3], [2, 4, 3, 1], [1, 3, 4, 2], [3, 4, 1, 2])[int(draw.whole(4))]
    return [
        probe("two_sequences", draw.few, 2, 1, 1, 2),
        probe("batch_1", draw.few, 3, 2, 3),
        probe("several", draw, 7, 2, 3, 2, 6),  # the first is not the shortest
        probe("several", draw, 4, 3, *several),
    ]


QUESTION = generate_question(
    pack_reference,
    MISTAKES,
    truth=truth,
    name="pack",
    assignment="series",
    task=1,
    points=3,
    place=HERE,
    call=Results(("padded", "lengths"), ("data", "batch_sizes", "order")),
    probes=probes,
    axes={
        "data": ("row", "feature"), "batch_sizes": ("step",), "order": ("place",),
        "padded": ("step", "batch", "feature"), "lengths": ("batch",),
    },
    forbidden=frozenset({"aten::_pack_padded_sequence"}),
)  # fmt: skip
