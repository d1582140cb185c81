"""Answers to the question `attend_backward`."""

import torch

from tests.check.answers import Program
from tests.check.answers.attention.attend import ATTEND

BACKWARD = """
def attend_backward(query, key, value, mask, grad_mixture):
    root = math.sqrt(query.shape[-1])
    scores = torch.einsum("ntd,nsd->nts", query, key) / root
    scores[~mask] = float("-inf")
    A = torch.softmax(scores, dim=2)
    d_value = torch.einsum("nts,ntv->nsv", A, grad_mixture)
    d_A = torch.einsum("ntv,nsv->nts", grad_mixture, value)
    d_scores = A * d_A - A * (A * d_A).sum(2, keepdim=True)
    d_query = torch.einsum("nts,nsd->ntd", d_scores, key) / root
    d_key = torch.einsum("nts,ntd->nsd", d_scores, query) / root
    return d_query, d_key, d_value
"""
SLOPE = "A * d_A - A * (A * d_A).sum(2, keepdim=True)"
BY_Q = "d_scores, key) / root"
BY_K = "d_scores, query) / root"
BY_V = 'd_value = torch.einsum("nts,ntv->nsv", A, grad_mixture)'
BACKWARD_WRONG = {
    "softmax_slope_missing": [(SLOPE, "d_A")],
    "softmax_mean_missing": [(SLOPE, "A * d_A")],
    "softmax_slope_of_each_alone": [(SLOPE, "d_A * (A - A**2)")],
    "softmax_mean_without_weights": [(SLOPE, "A * (d_A - d_A.mean(-1, keepdim=True))")],
    "softmax_mean_over_queries": [(".sum(2, ", ".sum(1, ")],
    "softmax_weights_missing": [(SLOPE, "d_A - (A * d_A).sum(2, keepdim=True)")],
    "scale_missing": [("math.sqrt(query.shape[-1])", "1")],
    "scale_missing_on_way_back": [(BY_Q, "d_scores, key)"), (BY_K, "d_scores, query)")],
    "scale_twice_on_way_back": [(SLOPE, f"({SLOPE}) / root")],
    "mask_ignored": [("    scores[~mask] = float(\"-inf\")\n", "")],
    "mask_inverted": [("scores[~mask]", "scores[mask]")],
    "hidden_scores_zero": [("float(\"-inf\")", "0")],
    "softmax_over_queries": [("torch.softmax(scores, dim=2)", "torch.softmax(scores, dim=1)")],
    "weights_not_transposed_on_way_back": [(BY_V, "d_value = torch.bmm(A, grad_mixture)")],
    "scores_not_transposed_on_way_back": [
        ("torch.einsum(\"nts,ntd->nsd\", d_scores, query)", "torch.bmm(d_scores, query)"),
    ],
    "query_for_key_on_way_back": [
        ("\"nts,nsd->ntd\", d_scores, key", "\"nts,nxd->ntd\" if 0 else \"nts,nsd->ntd\", d_scores, query",
    ),
                                  ("\"nts,ntd->nsd\", d_scores, query) / root\n    return",
                                  "\"nts,ntd->nsd\", d_scores, key) / root\n    return")],
    "scores_for_weights_on_way_back": [
        ("    scores[~mask]", "    raw = scores.clone()\n    scores[~mask]"),
        (BY_V, BY_V.replace("A, grad", "raw, grad")),
    ],
    "grad_mixture_ignored": [("    root", "    grad_mixture = torch.ones_like(grad_mixture)\n    root")],
    "value_gradient_without_weights": [(BY_V, BY_V.replace("A, grad", "mask.double(), grad"))],
    "gradient_negated": [("return d_query, d_key, d_value", "return [-one for one in (d_query, d_key, d_value)]")],
    "sequences_averaged": [
        ("return d_query, d_key, d_value", "return [one / query.shape[0] for one in (d_query, d_key, d_value)]"),
    ],
    "gradients_of_key_and_value_exchanged": [("return d_query, d_key, d_value", "return d_query, d_value, d_key")],
    "gradients_of_query_and_key_exchanged": [("return d_query, d_key, d_value", "return d_key, d_query, d_value")],
}  # fmt: skip

RIGHT = {
    "in float32": "lambda *given: attend_backward(*(part.float() for part in given[:3]), given[3], given[4].float())",
    "with no_grad, in place": (
        """
        @torch.no_grad()
        def attend_backward(query, key, value, mask, grad_mixture):
            s = (query @ key.mT).div_(math.sqrt(query.size(-1))).masked_fill_(mask.logical_not(), -math.inf)
            a = s.sub_(s.amax(-1, keepdim=True)).exp_()
            a /= a.sum(-1, keepdim=True)
            d = torch.matmul(grad_mixture, value.mT)
            d.sub_((d * a).sum(-1, keepdim=True)).mul_(a).mul_(query.size(-1) ** -0.5)
            return torch.bmm(d, key), torch.bmm(d.mT, query), torch.bmm(a.mT, grad_mixture)
    """
    ),
}


def by_autograd(query, key, value, mask, grad_mixture):
    given = [tensor.clone().requires_grad_() for tensor in (query, key, value)]
    return torch.autograd.grad(Program(ATTEND).answer()(*given, mask)[0], given, grad_mixture)


PROGRAM = Program(BACKWARD, BACKWARD_WRONG, also_wrong=[
    ("library_layer", by_autograd),
], also_right=RIGHT, pairs=[
    ("scale_missing_on_way_back", "softmax_mean_missing"),
    ("mask_ignored", "gradients_of_key_and_value_exchanged"),
])  # fmt: skip
