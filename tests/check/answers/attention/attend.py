"""Answers to the question `attend`."""

from tests.check.answers import Program

ATTEND = """
def attend(query, key, value, mask):
    d = query.shape[2]
    scores = torch.bmm(query, key.transpose(1, 2)) / math.sqrt(d)
    scores = torch.where(mask, scores, torch.tensor(-1e30))
    weights = F.softmax(scores, dim=2)
    weights = weights * mask.any(dim=2, keepdim=True)
    mixture = torch.bmm(weights, value)
    return mixture, weights
"""
ROOT = "/ math.sqrt(d)"
SOFTMAX = "F.softmax(scores, dim=2)"
ZEROED = "weights * mask.any(dim=2, keepdim=True)"
WHERE = "torch.where(mask, scores, torch.tensor(-1e30))"
ATTEND_WRONG = {
    "scale_missing": [(ROOT, "")],
    "scale_without_root": [(ROOT, "* (1 / d)")],
    "scale_multiplied": [(ROOT, "* d**0.5")],
    "scaled_by_number_of_keys": [("query.shape[2]", "key.shape[1]")],
    "scaled_by_number_of_queries": [("query.shape[2]", "query.shape[-2]")],
    "scaled_by_value_size": [("query.shape[2]", "value.shape[2]")],
    "scaled_after_softmax": [(ROOT, ""), (SOFTMAX, f"{SOFTMAX} {ROOT}")],
    "softmax_over_queries": [
        (SOFTMAX, "F.softmax(torch.where(mask, scores, -torch.inf), dim=1)"),
        (ZEROED, "weights.nan_to_num(0)"),
    ],
    "softmax_over_batch": [(SOFTMAX, "torch.where(mask, scores, -torch.inf).softmax(0)"), (ZEROED, "weights")],
    "softmax_missing": [(SOFTMAX, "scores * mask")],
    "mask_inverted": [(WHERE, "scores.masked_fill(mask, -1e9)"), ("mask.any(dim=2", "(mask == False).any(dim=2")],
    "mask_ignored": [(WHERE, "scores")],
    "hidden_scores_zero": [(WHERE, "scores * mask")],
    "hidden_after_softmax": [(WHERE, "scores"), (ZEROED, "weights * mask")],
    "hidden_row_looks": [(WHERE, "scores - 1e8 * ~mask"), (ZEROED, "weights")],
    "hidden_row_not_a_number": [("-1e30", "-math.inf"), (ZEROED, "weights")],
    "hidden_row_gradient_not_a_number": [
        (WHERE, "scores + torch.log(mask.double())"),
        (ZEROED, "weights.nan_to_num()"),
    ],
    "hidden_row_weights_left": [
        (ZEROED, "weights"),
        ("bmm(weights, value)", "bmm(weights, value) * mask.any(2)[..., None]"),
    ],
    "causal_on_top": [("    scores = torch.where", "    mask = torch.tril(mask)\n    scores = torch.where")],
    "mask_transposed": [
        ("torch.where(mask", "torch.where(mask.transpose(1, 2)"),
        ("mask.any(dim=2", "mask.mT.any(dim=2"),
    ],
    "keys_reshaped": [("key.transpose(1, 2)", "key.view(key.shape[0], key.shape[2], key.shape[1])")],
    "keys_mixed_for_values": [("bmm(weights, value)", "bmm(weights, key)")],
    "scores_returned_for_weights": [
        ("    scores = torch.where", "    before = scores\n    scores = torch.where"),
        ("mixture, weights", "mixture, before"),
    ],
    "weights_returned_first": [("mixture, weights", "weights, mixture")],
    "weights_not_returned": [("return mixture, weights", "return mixture")],
}
MEAN = (ZEROED, "weights")

VARIANTS = {"hidden_row_zeros": [], "hidden_row_mean": [MEAN]}  # fmt: skip

RIGHT = {
    "in a list": [("return mixture, weights", "return [mixture, weights]")],
    "in float32": "lambda *given: [one.double() for one in attend(*(one.float() for one in given[:3]), given[3])]",
    "exponentials": (
        """
        def attend(query, key, value, mask):
            e = torch.exp(query @ key.mT * query.shape[-1] ** -0.5) * mask
            weights = e / e.sum(-1, keepdim=True).clamp(min=1e-12)
            return weights @ value, weights
    """
    ),
    "vmap": (
        """
        def attend(query, key, value, mask):
            def one(q, k, v, m):
                a = torch.where(m, k @ q / len(q) ** 0.5, -1e9).softmax(0) * m
                return a @ v, a
            return torch.vmap(torch.vmap(one, in_dims=(0, None, None, 0)))(query, key, value, mask)
    """
    ),
}

PROGRAM = Program(ATTEND, ATTEND_WRONG, also_wrong=[
    ("softmax_over_queries", [(SOFTMAX, "F.softmax(scores, dim=1)"), (ZEROED, "weights")]),
], also_right=RIGHT, pairs=[
    ("scale_missing", "hidden_row_not_a_number"),
    ("scale_without_root", "weights_returned_first"),
    ("hidden_scores_zero", "keys_reshaped"),
], variants=VARIANTS)  # fmt: skip
