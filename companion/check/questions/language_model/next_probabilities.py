"""Question `next_probabilities`: temperature, top-k, top-p. Variants: the first cut, and the side of the edge."""

import torch

from companion.check.engine.probe import Probe
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import Function


def next_probabilities_reference(logits, temperature, top_k, top_p):
    def likeliest(p):
        k = len(p) if top_k is None else min(top_k, len(p))
        edge = p.sort(descending=True).values[k - 1]
        return torch.where(p >= edge, p, 0.0)

    def nucleus(p):
        if top_p is None:
            return p
        sizes, order = p.sort(descending=True)
        reached = sizes.cumsum(0) - sizes < top_p
        reached[0] = True
        return torch.zeros_like(p).scatter(0, order[reached], sizes[reached])

    scaled = logits / temperature
    p = torch.softmax(scaled, dim=-1)
    for cut in (likeliest, nucleus):
        p = cut(p)
        p = p / p.sum()
    return p


HEAT, CUT, WRITING = "language_model#temperature", "language_model#top-p-said", "language_model#choosing"
SOFT, SORT, KEPT, CUTS = (
    "torch.softmax(scaled, dim=-1)",
    "sizes, order = p.sort(descending=True)",
    "min(top_k, len(p))",
    "(likeliest, nucleus)",
)
PUT, RENEW, SCALED = (
    "torch.zeros_like(p).scatter(0, order[reached], sizes[reached])",
    "p = p / p.sum()",
    "logits / temperature",
)
END = f"{RENEW}\n    return p"
EDGE, LEAST = "reached = sizes.cumsum(0) - sizes < top_p", "torch.where(p >= edge, p, 0.0)"
DONE = "(top_p if cut is nucleus else top_k) is not None"  # many answers renormalise only if they cut
MISTAKES = {
    "temperature_ignored": (HEAT, SCALED, "logits"),
    "temperature_multiplied": (HEAT, SCALED, "logits * temperature"),
    "temperature_squared": (HEAT, SCALED, "logits / temperature**2"),
    "temperature_after_softmax": (HEAT, SOFT, "torch.softmax(torch.softmax(logits, dim=-1) / temperature, dim=-1)"),
    "temperature_after_cuts": (HEAT, SCALED, "logits", END,
    f"{RENEW}\n    p = p ** (1 / temperature)\n    return p / p.sum()"),
    "logits_for_probabilities": ("surprise#loss", SOFT, "scaled"),
    "softmax_twice": ("surprise#loss", SOFT, "torch.softmax(torch.softmax(scaled, dim=-1), dim=-1)"),
    "log_probabilities_returned": ("surprise#loss", END, f"{RENEW}\n    return p.log()"),
    "top_k_ignored": (WRITING, KEPT, "len(p)"),
    "top_p_ignored": (CUT, "if top_p is None:", "if True:"),
    "one_more_than_k": (WRITING, KEPT, "min(top_k + 1, len(p))"),
    "one_less_than_k": (WRITING, KEPT, "max(min(top_k - 1, len(p)), 1)"),
    "least_likely_kept": (WRITING, ".sort(descending=True).values[k - 1]", ".sort().values[k - 1]", LEAST,
    "torch.where(p <= edge, p, 0.0)"),
    "first_k_kept": (WRITING, LEAST, "torch.where(torch.arange(len(p)) < k, p, 0.0)"),
    "k_too_large_stops": (WRITING, KEPT, "len(p.topk(top_k).values)"),
    "k_too_large_stops~index": ("", KEPT, "top_k"),
    "not_renewed": (WRITING, RENEW, "pass"),
    "softmax_for_renewing": (WRITING, RENEW, "p = torch.softmax(p, dim=-1)"),
    "softmax_for_renewing~after_a_cut": ("", RENEW, f"p = torch.softmax(p, dim=-1) if {DONE} else p"),
    "softmax_for_renewing~kept": ("", RENEW,
    "p = torch.where(p > 0, torch.exp(p), 0.0) / torch.where(p > 0, torch.exp(p), 0.0).sum()"),
    "cut_logits_are_zero": (WRITING, RENEW, "p = torch.softmax(torch.where(p > 0, scaled, 0.0), dim=-1)"),
    "cut_logits_are_zero~after_a_cut": ("", RENEW,
    f"p = torch.softmax(torch.where(p > 0, scaled, 0.0), dim=-1) if {DONE} else p"),
    "not_sorted_for_top_p": (CUT, SORT, "sizes, order = p, torch.arange(len(p))"),
    "sorted_upwards": (CUT, SORT, "sizes, order = p.sort()"),
    "order_not_undone": (CUT, PUT, "sizes * reached"),
    "order_taken_again": (CUT, PUT, "(sizes * reached)[order]"),
    "order_taken_again~always": ("", END,
    f"{RENEW}\n    return p.sort(descending=True).values[logits.argsort(descending=True)]"),
    "top_p_for_each": (CUT, EDGE, "reached = sizes >= top_p"),
    "top_p_for_each~of_rest": ("", EDGE, "reached = sizes >= 1 - top_p"),
    "top_p_of_logits": (CUT, "sizes.cumsum(0) - sizes <", "logits.sort(descending=True).values.cumsum(0) <"),
    "likeliest_only": ("language_model#greedy-said", END, f"{RENEW}\n    return (p == p.max()).double()"),
}  # fmt: skip


def truth(logits, temperature, top_k, top_p):
    weights = (logits / temperature).exp().tolist()
    p = {place: weight / sum(weights) for place, weight in enumerate(weights)}
    best = sorted(p, key=p.get, reverse=True)[: len(p) if top_k is None else top_k]
    total, kept, reached = sum(map(p.get, best)), [], 0.0
    for place in best:
        if top_p is not None and kept and reached >= top_p:
            break
        kept.append(place)
        reached += p[place] / total
    kept_sum = sum(map(p.get, kept))
    return torch.tensor([p[place] / kept_sum if place in kept else 0.0 for place in p], dtype=torch.float64)


def probes(draw):
    # random steps of at least half a unit: no two logits are equal, and each sum is far from its edge
    def probe(name, count, temperature, top_k, top_p):
        steps = 0.7 * torch.arange(count) + 0.05 * draw(count)
        return Probe(
            name,
            {"logits": steps[draw(count).argsort()]},
            {"temperature": temperature, "top_k": top_k, "top_p": top_p},
            gradients=None,
        )

    return [
        probe("no_cut", 3, 0.5, None, None),
        probe("top_k_alone", 4, 2.0, 2, None),
        probe("top_p_alone", 5, 1.6, None, 0.8),
        probe("top_k_large", 4, 1.3, 9, 0.6),
        probe("several", 7, 2.5, 5, 0.75),
        probe("several", 8, 3.0, 6, 0.55),
        probe("top_p_small", 6, 0.9, 4, 0.1),
    ]


BELOW = (EDGE, "reached = sizes.cumsum(0) <= top_p")
FIRST = (CUTS, "(nucleus, likeliest)")
QUESTION = generate_question(
    next_probabilities_reference, MISTAKES,
    variants={"top_k_then_top_p": (), "top_p_then_top_k": FIRST, "top_k_then_below_top_p": BELOW,
    "below_top_p_then_top_k": (*FIRST, *BELOW)},
    truth=truth, by_torch=False, name="next_probabilities", assignment="language_model", task=2, points=3,
    place=WRITING,
    call=Function(("logits", "temperature", "top_k", "top_p"), "p"), probes=probes, axes={"p": ("entry",),
    "logits": ("entry",)},
)  # fmt: skip
