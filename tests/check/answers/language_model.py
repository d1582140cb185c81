"""Answers to the assignment `language_model`. Those that train a network are in test_reach.py."""

from companion.check.engine.question import all_questions
from tests.check.answers import Program

PERPLEXITY = """
def perplexity(logits, targets, mask):
    V = logits.shape[-1]
    losses = F.cross_entropy(logits.reshape(-1, V), targets.reshape(-1), reduction="none")
    mask = mask.reshape(-1)
    loss = losses[mask].sum() / mask.sum()
    return torch.exp(loss)
"""
LOSS, RETURN, CE = (
    "losses[mask].sum() / mask.sum()",
    "torch.exp(loss)",
    'F.cross_entropy(logits.reshape(-1, V), targets.reshape(-1), reduction="none")',
)
ROWS = [("mask = mask.reshape(-1)", "losses = losses.reshape(mask.shape)")]
PERPLEXITY_WRONG = {
    "exp_missing": [(RETURN, "loss")],
    "base_two": [(RETURN, "torch.exp2(loss)")],
    "bits_returned": [(RETURN, "loss / torch.log(torch.tensor(2.0))")],
    "padding_counted": [(LOSS, "losses.mean()")],
    "masked_count_as_zero": [(LOSS, "(losses * mask).mean()")],
    "padding_alone_counted": [(LOSS, "losses[mask == False].mean()")],
    "mean_of_exponentials": [(RETURN, "losses[mask].exp().mean()")],
    "mean_of_rows": [*ROWS, (LOSS, "((losses * mask).sum(1) / mask.sum(1)).mean()")],
    "sum_for_mean": [(LOSS, "losses[mask].sum()")],
    "sum_over_rows": [(LOSS, "losses[mask].sum() / logits.size(0)")],
    "sum_over_steps": [(LOSS, "losses[mask].sum() / logits.size(1)")],
    "logits_for_log_probabilities": [(CE, "F.nll_loss(logits.reshape(-1, V), targets.reshape(-1), reduction='none')")],
    "softmax_twice": [("logits.reshape(-1, V)", "F.softmax(logits, dim=2).reshape(-1, V)")],
    "log_missing": [(CE, "-F.softmax(logits, 2).gather(2, targets[..., None]).reshape(-1)")],
    "axes_not_swapped": [(CE, "F.cross_entropy(logits.view(len(mask), V, -1), targets, reduction='none').flatten()")],
    "index_0_not_counted": [(LOSS, "losses[mask & (targets.reshape(-1) != 0)].mean()")],
    "softmax_over_steps": [(CE, "-F.log_softmax(logits, 1).gather(2, targets[..., None]).reshape(-1)")],
    "softmax_over_rows": [(CE, "-F.log_softmax(logits, 0).gather(2, targets[..., None]).reshape(-1)")],
    "sign_missing": [(RETURN, "torch.exp(-loss)")],
    "surprise_of_likeliest": [(CE, "-F.log_softmax(logits, -1).max(-1).values.reshape(-1)")],
    "targets_shifted_again": [
        ("    V =", "    logits, targets, mask = logits[:, :-1], targets[:, 1:], mask[:, :-1]\n    V ="),
    ],
    "last_step_only": [
        ("    V =", "    logits, targets, mask = logits[:, -1:], targets[:, -1:], mask[:, -1:]\n    V =")
    ],
    "first_row_only": [("    V =", "    logits, targets, mask = logits[:1], targets[:1], mask[:1]\n    V =")],
    "divided_by_vocabulary": [(RETURN, "torch.exp(loss) / V")],
}
PERPLEXITY_RIGHT = [
    "def perplexity(logits, targets, mask):\n    return F.cross_entropy(logits[mask], targets[mask]).exp().item()",
    [(RETURN, "torch.exp(loss).reshape(1)")],
    [(RETURN, "numpy.exp(loss.numpy())")],
]

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

GENERATE = """
def generate(step, state, prompt, count, draw):
    begin = state
    for i in prompt:
        logits, state = step(i, state)
    out = []
    for n in range(count):
        i = draw(logits)
        out.append(i)
        logits, state = step(i, state)
    return out
"""
READ, WRITE, OUT, DRAWN = (
    "for i in prompt:",
    "out.append(i)\n        logits, state = step(i, state)",
    "return out",
    "i = draw(logits)",
)
GENERATE_WRONG = {
    "prompt_last_only": [("    for i in prompt:\n        logits, state = step(i, state)",
    "    logits, state = step(prompt[-1], state)")],
    "prompt_first_only": [("    for i in prompt:\n        logits, state = step(i, state)",
    "    logits, state = step(prompt[0], state)")],
    "prompt_last_missing": [(READ, "for i in prompt[: max(1, len(prompt) - 1)]:")],
    "prompt_backwards": [(READ, "for i in reversed(prompt):")],
    "prompt_state_lost": [("out = []", "out = []\n    state = begin")],
    "prompt_read_twice": [(READ, "for i in prompt + prompt:")],
    "last_read_twice": [(READ, "for i in [*prompt, prompt[-1]]:")],
    "drawn_while_reading": [(READ, "for n, i in enumerate(prompt):\n        if n: draw(logits)")],
    "prompt_in_result": [("out = []", "out = list(prompt)")],
    "last_of_prompt_in_result": [("out = []", "out = [prompt[-1]]")],
    "count_with_prompt": [("range(count)", "range(count - len(prompt))")],
    "one_too_many": [("range(count)", "range(count + 1)")],
    "one_too_few": [("range(count)", "range(1, count)")],
    "state_not_carried": [(WRITE, WRITE.replace("logits, state =", "logits, new_state ="))],
    "likeliest_taken": [(DRAWN, "i = torch.argmax(logits).item()")],
    "likeliest_read": [(WRITE, WRITE.replace("step(i", "step(logits.argmax().item()"))],
    "drawn_not_read": [(WRITE, WRITE.replace("step(i", "step(prompt[-1]"))],
    "each_read_twice": [(WRITE, WRITE + "\n        logits, state = step(i, state)")],
    "all_read_again": [(WRITE,
    "out.append(i)\n        for j in list(prompt) + out:\n            logits, state = step(j, state)")],
    "drawn_twice": [(WRITE, WRITE.replace("step(i", "step(draw(logits)"))],
    "probabilities_to_draw": [(DRAWN, "i = draw(F.softmax(logits, dim=0))")],
    "only_last_returned": [(OUT, "return [i]")],
    "backwards_returned": [("out.append(i)", "out.insert(0, i)")],
    "logits_one_late": [
        ("    out = []\n", "    out, before = [], logits\n"), (DRAWN, "i = draw(before)"),
        (WRITE, "out.append(i)\n        before = logits\n        logits, state = step(i, state)"),
    ],
}  # fmt: skip
GENERATE_RIGHT = [
    [("out.append(i)", "out.append(torch.tensor(i))")],
    [(OUT, "return torch.tensor(out)")],
    """
def generate(step, state, prompt, count, draw):
    def write():
        nonlocal state
        unread = list(prompt)
        for _ in range(count):
            while unread:
                logits, state = step(unread.pop(0), state)
            unread = [draw(logits)]
            yield unread[0]
    return tuple(write())
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
    """Return what makes the program an answer to a variant."""
    return [(CUTS, BY_P + BY_K)] * variant.startswith(("top_p", "below")) + [BELOW] * ("below" in variant)


# Cuts that are not renewed between answer another variant, number for number.
NOT_RENEWED_BETWEEN = NEXT.replace("p = q / q.sum()", "p = q / (1 if top_p else q.sum())", 1)

ANSWERS = {
    "perplexity": Program(PERPLEXITY, PERPLEXITY_WRONG, also_right=PERPLEXITY_RIGHT),
    "next_probabilities": Program(
        NEXT, NEXT_WRONG, also_right=NEXT_RIGHT, variants={name: edits_of(name) for name in VARIANTS}
    ),
    "generate": Program(GENERATE, GENERATE_WRONG, also_right=GENERATE_RIGHT),
}
