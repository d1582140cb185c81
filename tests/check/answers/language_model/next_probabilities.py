"""Answers to the question `next_probabilities`."""

from companion.check.engine.question import all_questions
from tests.check.answers import Program

NEXT = """
def next_probabilities(logits, temperature, top_k, top_p):
    y = logits / temperature
    p = F.softmax(y, dim=0)
    if top_k is not None:
        k = min(top_k, len(p))
        keep = torch.topk(p, k).indices
        q = torch.zeros(len(p))
        q[keep] = p[keep]
        p = q / q.sum()
    if top_p is not None:
        order = torch.argsort(p, descending=True)
        n, total = 0, 0.0
        while total < top_p and n < len(p):
            total += p[order[n]].item()
            n += 1
        q = torch.zeros(len(p))
        q[order[:n]] = p[order[:n]]
        p = q / q.sum()
    return p
"""
KEEP, K, ORDER, FILL = (
    "torch.topk(p, k).indices",
    "min(top_k, len(p))",
    "torch.argsort(p, descending=True)",
    "q[order[:n]] = p[order[:n]]",
)
WHILE = NEXT[NEXT.index("        n, total") : NEXT.index("        q = torch.zeros(len(p))\n        q[order")]
SUM, HOT = "q / q.sum()", "logits / temperature"
NEXT_WRONG = {
    "temperature_ignored": [(HOT, "logits")],
    "temperature_multiplied": [(HOT, "temperature * logits")],
    "temperature_squared": [(HOT, "logits / temperature / temperature")],
    "temperature_after_softmax": [(HOT, "F.softmax(logits, 0) / temperature")],
    "temperature_after_cuts": [
        (HOT, "logits"),
        ("    return p", "    p = p.pow(1 / temperature)\n    return p / p.sum()"),
    ],
    "logits_for_probabilities": [("F.softmax(y, dim=0)", "y / y.sum()")],
    "softmax_twice": [("F.softmax(y, dim=0)", "F.softmax(F.softmax(y, dim=0), dim=0)")],
    "log_probabilities_returned": [("return p", "return torch.log(p)")],
    "top_k_ignored": [("if top_k is not None:", "if top_k is None and top_k:")],
    "top_p_ignored": [("if top_p is not None:", "if top_p is not None and top_p >= 1:")],
    "one_more_than_k": [(K, "min(top_k + 1, len(p))")],
    "one_less_than_k": [(K, "max(1, min(top_k, len(p)) - 1)")],
    "least_likely_kept": [(KEEP, "torch.topk(p, k, largest=False).indices")],
    "first_k_kept": [(KEEP, "torch.arange(k)")],
    "k_too_large_stops": [(K, "top_k")],
    "not_renewed": [(SUM, "q")],
    "softmax_for_renewing": [(SUM, "F.softmax(q, dim=0)")],
    "cut_logits_are_zero": [(SUM, "F.softmax(torch.where(q > 0, y, 0 * y), dim=0)")],
    "not_sorted_for_top_p": [(ORDER, "range(len(p))"), (FILL, "q[:n] = p[:n]")],
    "sorted_upwards": [(ORDER, "torch.argsort(p)")],
    "order_not_undone": [(FILL, "q[:n] = p[order[:n]]")],
    "order_taken_again": [(FILL, "q[:n] = p[order[:n]]\n        q = q[order]")],
    "top_p_for_each": [(FILL, "q = torch.where((p >= top_p) | (p == p.max()), p, q)")],
    "top_p_of_logits": [
        (WHILE, "        n = max(1, int((logits.sort(descending=True).values.cumsum(0) < top_p).sum()))\n")
    ],
    "likeliest_only": [("    return p", "    return F.one_hot(p.argmax(), len(p)).double()")],
}
NEXT_RIGHT = [
    """
def next_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    p = [math.exp(y / temperature) for y in logits.tolist()]
    ranked = sorted(range(len(p)), key=lambda i: -p[i])[:top_k]
    total = sum(p[i] for i in ranked)
    kept, mass = [], 0
    for i in ranked:
        if top_p is not None and mass >= top_p:
            break
        kept.append(i)
        mass += p[i] / total
    whole = sum(p[i] for i in kept)
    return torch.tensor([p[i] / whole if i in kept else 0 for i in range(len(p))], dtype=torch.float32)
""",
]
VARIANTS = all_questions()["next_probabilities"].variants
CUTS = NEXT[NEXT.index("    if top_k") : NEXT.index("    return p")]
BY_K, BY_P = CUTS[: CUTS.index("    if top_p")], CUTS[CUTS.index("    if top_p") :]
BELOW = (
    "        while total < top_p and n < len(p):\n",
    "        while n == 0 or n < len(p) and total + p[order[n]] <= top_p:\n",
)


def edits_of(variant):
    """Return the edits that make the program an answer to a variant."""
    return [(CUTS, BY_P + BY_K)] * variant.startswith(("top_p", "below")) + [BELOW] * ("below" in variant)


# Without renormalisation between the cuts the numbers are those of another variant.
NOT_RENEWED_BETWEEN = NEXT.replace("p = q / q.sum()", "p = q / (1 if top_p else q.sum())", 1)

PROGRAM = Program(NEXT, NEXT_WRONG, also_right=NEXT_RIGHT, variants={name: edits_of(name) for name in VARIANTS})
