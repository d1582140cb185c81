"""Question `padding_and_causal_mask`: hide padding and later steps. Variants: what True means, and the padded side."""

import torch

from companion.check.engine.library_layers import ATTENTION
from companion.check.engine.probe import Probe
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import Function


def padding_and_causal_mask_reference(lengths, size):
    place = torch.arange(size)
    query, key, ends = place[:, None], place[None], lengths[:, None, None]
    from_edge = key
    causal = key <= query
    padding = from_edge < ends
    visible = causal & padding
    mask = visible
    return mask


MASK, CAUSAL, BOTH = "attention#mask", "transformer#block", "causal & padding"
INSIDE, ENDS = "from_edge < ends", "lengths[:, None, None]"
HIDDEN, IN_FRONT = ("mask = visible", "mask = ~visible"), ("from_edge = key", "from_edge = size - 1 - key")
MISTAKES = {
    "causal_mask_missing": (CAUSAL, "key <= query", "key <= query + size"),
    "padding_mask_missing": (MASK, INSIDE, "from_edge < ends + size"),
    "masks_joined_by_or": (MASK, BOTH, "causal | padding"),
    "causal_mask_turned": (CAUSAL, "key <= query", "key >= query"),
    "causal_mask_inverted": (CAUSAL, "key <= query", "key > query"),
    "padding_mask_inverted": (MASK, INSIDE, "from_edge >= ends"),
    "own_step_hidden": (CAUSAL, "key <= query", "key < query"),
    "next_step_visible": (CAUSAL, "key <= query", "key <= query + 1"),
    "first_padding_visible": (MASK, INSIDE, "from_edge <= ends"),
    "key_beside_padding_hidden": (MASK, INSIDE, "from_edge < ends - 1"),
    "padding_on_queries": (MASK, INSIDE, "from_edge.T < ends"),
    "longest_length_for_all": (MASK, ENDS, "lengths.amax().expand(len(lengths), 1, 1)"),
    "shortest_length_for_all": (MASK, ENDS, "lengths.amin().expand(len(lengths), 1, 1)"),
    "mask_transposed": ("attention#soft", "return mask", "return mask.transpose(1, 2)"),
    "size_from_longest": (MASK, "torch.arange(size)", "torch.arange(size := int(lengths.amax()))"),
    "mask_without_batch": (MASK, BOTH, "causal"),
    "mask_without_queries": (CAUSAL, BOTH, "padding[:, 0]"),
    "mask_with_head_axis": (MASK, BOTH, "(causal & padding)[:, None]"),
    "mask_to_be_added": (
        "attention#two-conventions", "return mask",
        "return torch.zeros(mask.shape).masked_fill(~visible, -torch.inf)",
    ),
    "mask_to_be_added~turned": ("", "return mask", "return torch.zeros(mask.shape).masked_fill(visible, -torch.inf)"),
    "mask_to_be_added~large": ("", "return mask", "return torch.zeros(mask.shape).masked_fill(~visible, -1e9)"),
    "masks_added": (
        MASK, "return mask", "return causal.long() + padding if mask is visible else (~causal).long() + ~padding",
    ),
}  # fmt: skip


def truth(lengths, size):
    def row(length, query):
        return [key < length and key <= query for key in range(size)]

    return torch.tensor([[row(length, query) for query in range(size)] for length in lengths.tolist()])


def probes(draw):
    def probe(name, size, *lengths):
        lengths = torch.tensor(lengths)[draw(len(lengths)).argsort()]
        return Probe(name, {"lengths": lengths}, {"size": size}, gradients=None)

    some = int(draw.whole(3, 1))
    return [
        probe("batch_1", 4, 2),
        probe("batch_1", 5 + some, 2 + some),
        probe("nothing_padded", 3, 3, 3),
        probe("longest_fills", 5, 5, 2, 3),
        probe("several", 7, 4, 1, 2, 6),
    ]


QUESTION = generate_question(
    padding_and_causal_mask_reference,
    MISTAKES,
    variants={
        "mask_true_may_look": (),
        "mask_true_is_hidden": HIDDEN,
        "mask_true_may_look_padding_in_front": IN_FRONT,
        "mask_true_is_hidden_padding_in_front": (*HIDDEN, *IN_FRONT),
    },
    truth=truth,
    by_torch=False,
    name="padding_and_causal_mask",
    assignment="attention",
    task=1,
    points=2,
    place=MASK,
    call=Function(("lengths", "size"), "mask"),
    probes=probes,
    axes={"mask": ("sequence", "query", "key")},
    forbidden=ATTENTION,
)
