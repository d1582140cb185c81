"""Answers to the question `clip_gradients`."""

from tests.check.answers import Program

CLIP = """
def clip_gradients(gradients, max_norm):
    total = 0.0
    for g in gradients:
        total = total + (g ** 2).sum().item()
    norm = math.sqrt(total)
    factor = max_norm / norm
    if factor < 1:
        for g in gradients:
            g *= factor
    return norm
"""
ROOT, SHORTEN = "norm = math.sqrt(total)", "    if factor < 1:\n        for g in gradients:\n            g *= factor\n"
CLIP_WRONG = {
    "gradients_unchanged": [("g *= factor", "g = g * factor")],
    "each_gradient_clipped_alone": [
        (
            SHORTEN,
            "    for g in gradients:\n        if g.norm() > max_norm:\n            g.div_(g.norm()).mul_(max_norm)\n",
        )
    ],
    "clipped_by_value": [(SHORTEN, "    for g in gradients:\n        torch.clip(g, -max_norm, max_norm, out=g)\n")],
    "short_gradients_lengthened": [("if factor < 1:", "if norm > 0:")],
    "clipped_when_short": [("factor < 1", "factor > 1")],
    "factor_inverted": [("max_norm / norm", "norm / max_norm"), ("factor < 1", "factor > 1")],
    "shortened_to_one": [("g *= factor", "g /= norm")],
    "root_missing": [("math.sqrt(total)", "total")],
    "norms_added": [("(g ** 2).sum().item()", "g.norm()"), ("math.sqrt(total)", "total")],
    "largest_norm_taken": [(ROOT, "norm = max(torch.linalg.vector_norm(g) for g in gradients)")],
    "norms_averaged": [(ROOT, "norm = sum(float(g.norm()) for g in gradients) / len(gradients)")],
    "norm_of_means": [(ROOT, "norm = math.sqrt(total / sum(g.numel() for g in gradients))")],
    "absolute_values_added": [("(g ** 2).sum().item()", "g.abs().sum().item()"), ("math.sqrt(total)", "total")],
    "largest_number_taken": [
        ("total = total + (g ** 2).sum().item()", "total = max(total, g.abs().max().item() ** 2)")
    ],
    "norm_of_last_only": [("total = total +", "total =")],
    "norm_of_first_only": [("for g in gradients:\n        total", "for g in gradients[:1]:\n        total")],
    "norm_measured_again": [
        ("g *= factor", "g *= max_norm / torch.cat([one.reshape(-1) for one in gradients]).norm()")
    ],
    "gradients_dropped": [("g *= factor", "g.fill_(0.0)")],
    "return_in_the_loop": [("g *= factor", "g *= factor\n            return norm")],
    "norm_after_clipping": [("return norm", "return torch.cat([g.flatten() for g in gradients]).norm()")],
    "factor_returned": [("return norm", "return factor if factor < 1 else 1")],
}
CLIP_RIGHT = [
    [("factor = max_norm / norm", "factor = max_norm / (norm + 1e-6)")],
    [
        (SHORTEN, "    torch._foreach_mul_(gradients, min(1.0, factor))\n"),
        ("return norm", "return torch.tensor([norm])"),
    ],
    [("if factor < 1:", "if norm >= max_norm:"), ("g *= factor", "g.copy_(g / norm * max_norm)")],
    [(ROOT, "norm = torch.nn.utils.get_total_norm(gradients)"), ("g *= factor", "g.data.mul_(factor)")],
    [("for g in gradients:\n            g *=", "for k in range(len(gradients)):\n            gradients[k] *=")],
]

PROGRAM = Program(CLIP, CLIP_WRONG, also_wrong=[
    ("each_gradient_clipped_alone", [
        (SHORTEN,
        "    for g in gradients:\n        norm = g.norm()\n        if norm > max_norm:\n            g *= max_norm / norm\n"),  # noqa: E501
    ]),
    ("wrong_form", "lambda g, c: [one * c for one in g]"),
    ("returns_none", "lambda g, c: None"),
], also_right=CLIP_RIGHT, pairs=[
    ("norms_added", "factor_returned"),
    ("root_missing", "short_gradients_lengthened"),
])  # fmt: skip
