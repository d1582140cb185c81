"""Answers to the question `padding_and_causal_mask`."""

from tests.check.answers import Program

MASK = """
def padding_and_causal_mask(lengths, size):
    causal = torch.tril(torch.ones(size, size)).bool()
    steps = torch.arange(size).repeat(len(lengths), 1)
    padding = steps < lengths.unsqueeze(1)
    return causal.unsqueeze(0) & padding.unsqueeze(1)
"""
BOTH = "causal.unsqueeze(0) & padding.unsqueeze(1)"
TRIL = "torch.tril(torch.ones(size, size))"
INSIDE = "steps < lengths.unsqueeze(1)"
MASK_WRONG = {
    "causal_mask_missing": [(BOTH, "padding.unsqueeze(1).expand(-1, size, -1)")],
    "padding_mask_missing": [(BOTH, "causal.expand(len(lengths), -1, -1)")],
    "masks_joined_by_or": [(" & ", " | ")],
    "causal_mask_turned": [("torch.tril", "torch.triu")],
    "causal_mask_inverted": [(TRIL, "torch.triu(torch.ones(size, size), diagonal=1)")],
    "padding_mask_inverted": [(INSIDE, "steps >= lengths[:, None]")],
    "own_step_hidden": [(TRIL, "torch.tril(torch.ones(size, size), diagonal=-1)")],
    "next_step_visible": [(TRIL, "torch.tril(torch.ones(size, size), diagonal=1)")],
    "first_padding_visible": [("steps < l", "steps <= l")],
    "key_beside_padding_hidden": [(INSIDE, "steps < lengths.unsqueeze(1) - 1")],
    "padding_on_queries": [("padding.unsqueeze(1)", "padding.unsqueeze(2)")],
    "longest_length_for_all": [(INSIDE, "steps < lengths.max()")],
    "shortest_length_for_all": [(INSIDE, "steps < min(lengths)")],
    "mask_transposed": [(BOTH, f"({BOTH}).mT")],
    "size_from_longest": [("    causal", "    size = max(lengths)\n    causal")],
    "mask_without_batch": [(BOTH, "causal")],
    "mask_without_queries": [(BOTH, "padding")],
    "mask_with_head_axis": [(BOTH, "causal[None, None] & padding[:, None, None]")],
    "mask_to_be_added": [(BOTH, f"(1 - ({BOTH}).float()).masked_fill(~({BOTH}), float('-inf'))")],
    "masks_added": [(BOTH, BOTH.replace("&", "* 1 +") + " * 1")],
}

HIDDEN = (f"return {BOTH}", f"return ~({BOTH})")
FRONT = ("steps < l", "size - 1 - steps < l")

VARIANTS = {
    "mask_true_may_look": [], "mask_true_is_hidden": [HIDDEN], "mask_true_may_look_padding_in_front": [FRONT],
    "mask_true_is_hidden_padding_in_front": [HIDDEN, FRONT],
}  # fmt: skip

RIGHT = {
    "ones and zeros": [(BOTH, f"({BOTH}).long()")],
}

PROGRAM = Program(MASK, MASK_WRONG, also_right=RIGHT, pairs=[
    ("own_step_hidden", "first_padding_visible"),
    ("causal_mask_turned", "longest_length_for_all"),
], variants=VARIANTS)  # fmt: skip
