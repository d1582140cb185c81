"""Question `beam_search`: beam search with a model of a few states, whose tables give probabilities and next states."""

import math  # noqa: F401 (two mistakes below use it)

import torch

from companion.check.engine.library_layers import ATTENTION
from companion.check.engine.probe import Probe, Unfit, form
from companion.check.engine.question import Draw
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import seed

FORM = "[(sequence, log_p), …]"


def call(answer, probe, outcome):
    """Call an answer. Sequences may be lists, tuples or tensors; log_p numbers or tensors of one number.

    Shorter sequences are padded with −1.
    """
    log_p, after = probe.tensors["log_p"], probe.tensors["after"]

    def step(sign, state):
        state = int(after[int(state), int(sign)])
        return log_p[state].clone(), state

    seed()
    returned = answer(step, *(probe.options[name] for name in ("state", "start", "end", "width", "most")))
    if returned is None:
        raise Unfit("returns_none", name=FORM)
    try:
        returned = [*returned] if not isinstance(returned, torch.Tensor | dict | str) else 0
        sequences = [([int(sign) for sign in signs], float(total)) for signs, total in returned]
    except (TypeError, ValueError, RuntimeError):
        raise Unfit("wrong_form", name=FORM, got=form(returned)) from None
    longest = max([probe.options["most"], *(len(signs) for signs, _ in sequences)])
    rows = [signs + [-1] * (longest - len(signs)) for signs, _ in sequences]
    outcome.values["sequences"] = torch.tensor(rows, dtype=torch.float64).reshape(len(rows), longest)
    outcome.values["log_p"] = torch.tensor([total for _, total in sequences], dtype=torch.float64)


def beam_search_reference(step, state, start, end, width, most):
    def cost(one):
        return -one[1]

    beam = [([], 0.0, start, state)]
    for _ in range(most):
        ended = [one for one in beam if one[0][-1:] == [end]]
        longer = []
        for signs, total, last, at in beam:
            if signs[-1:] == [end]:
                continue
            log_p, after = step(last, at)
            for sign, more in enumerate(log_p.tolist()):
                longer.append(([*signs, sign], total + more, sign, after))
        beam = sorted(ended + longer, key=cost)[:width]
    found = [(signs, total) for signs, total, *_ in sorted(beam, key=cost)]
    return found


PLACE = "attention#search"
CUT = "key=cost)[:width]"
LAST = "sorted(beam, key=cost)]"
SEQUENCE, TOTAL = "[(signs,", " total) for"
SIGNS = "enumerate(log_p.tolist())"
BEST = "sorted(enumerate(log_p.tolist()), key=lambda one: -one[1])"
KEPT, RETURN, LAST_CUT = f"sorted(ended + longer, {CUT}", "return found", "sorted(beam, key=cost)[:width]]"
STOP = f"{KEPT}\n        if {{}}:\n            break"
MISTAKES = {
    "greedy_search": (PLACE, CUT, "key=cost)[:1]"),
    "width_for_each_beginning": (PLACE, CUT, "key=cost)", SIGNS, f"{BEST}[:width]", LAST, LAST_CUT),
    "one_for_each_beginning": (PLACE, SIGNS, f"{BEST}[: 1 if signs else width]"),
    "all_sequences_kept": (PLACE, CUT, "key=cost)", LAST, LAST_CUT),
    "probabilities_returned": (PLACE, TOTAL, " math.exp(total)) for"),
    "probabilities_added": (PLACE, "total + more", "total + math.exp(more)"),
    "only_last_log_p": (PLACE, "total + more", "more"),
    "end_not_counted": (PLACE, "total + more", "total + more * (sign != end)"),
    "divided_by_length": (PLACE, TOTAL, " total / len(signs)) for"),
    "divided_by_length~ranked": ("", "return -one[1]", "return -one[1] / len(one[0])"),
    "divided_by_length~at_the_end": ("", LAST, "sorted(beam, key=lambda one: -one[1] / len(one[0]))]"),
    "divided_by_length~both": (
        "", "return -one[1]", "return -one[1] / len(one[0])", TOTAL, " total / len(signs)) for",
    ),
    "divided_by_length~and_order": (
        "", TOTAL, " total / len(signs)) for", LAST, "sorted(beam, key=lambda one: -one[1] / len(one[0]))]",
    ),
    "finished_go_on": (PLACE, "signs[-1:] == [end]", "False", "ended + longer", "longer"),
    "finished_dropped": (PLACE, "ended + longer", "longer"),
    "finished_beside_the_beam": (PLACE, KEPT, f"ended + sorted(longer, {CUT}", LAST, LAST_CUT),
    "finished_beside_the_beam~returned": ("", KEPT, f"ended + sorted(longer, {CUT}"),
    "finished_beside_the_beam~their_place_kept": (
        "", KEPT, "ended + sorted(longer, key=cost)[: max(width - len(ended), 0)]", LAST, LAST_CUT,
    ),
    "finished_beside_the_beam~always_full": (
        "", KEPT,
        "ended + [one for one in longer if one[2] == end] + sorted([one for one in longer if one[2] != end], key=cost)[:width]",  # noqa: E501
        LAST, LAST_CUT,
    ),
    "finished_beside_the_beam~until_full": (
        "", f"beam = {KEPT}",
        "best = sorted(longer, key=cost)\n        going = [one[2] != end for one in best]\n"
        "        beam = ended + [one for place, one in enumerate(best) if sum(going[:place]) < width]",
        LAST, LAST_CUT,
    ),
    "finished_repeated": (PLACE, "ended + longer", "ended * len(step(start, state)[0]) + longer"),
    "end_repeated": (PLACE, "ended = [one for", "ended = [([*one[0], end], *one[1:]) for"),
    "stops_at_first_end": (PLACE, KEPT, STOP.format("beam[0][0][-1] == end")),
    "stops_at_first_end~any": ("", KEPT, STOP.format("any(one[0][-1] == end for one in beam)")),
    "unfinished_left_out": (PLACE, LAST, "sorted(beam, key=cost) if signs[-1] == end]"),
    "only_best_returned": (PLACE, RETURN, "return found[:1]"),
    "only_best_returned~alone": ("", RETURN, "return found[0]"),
    "start_in_sequence": (PLACE, SEQUENCE, "[([start, *signs],"),
    "end_left_out": (PLACE, SEQUENCE, "[([one for one in signs if one != end],"),
    "start_taken_for_end": (PLACE, "one[0][-1:] == [end]", "one[2] == end", "signs[-1:] == [end]", "last == end"),
    "worst_first": (PLACE, RETURN, "return found[::-1]"),
    "worst_kept": (PLACE, "return -one[1]", "return one[1]"),
    "search_one_step_too_long": (PLACE, "range(most)", "range(most + 1)"),
    "search_one_step_too_short": (PLACE, "range(most)", "range(most - 1)"),
    "most_ignored": (PLACE, "range(most)", "range(15)"),
    "state_not_carried": (PLACE, "sign, after))", "sign, at))"),
    "one_state_for_all": (
        PLACE, "last, at in beam", "last, _ in beam", "log_p, after = step(last, at)",
        "log_p, state = step(last, state)",
        "sign, after))", "sign, None))",
    ),
    "states_left_in_place": (
        PLACE, "longer = []", "longer, states = [], []", "continue", "states.append(at)\n                continue",
        "step(last, at)", "step(last, at)\n            states.append(after)",
        KEPT,
        f"{KEPT}\n        beam = [(*one[:3], states[min(place, len(states) - 1)]) for place, one in enumerate(beam)]",
    ),
    "start_read_at_each_step": (PLACE, "step(last, at)", "step(start, at)"),
}  # fmt: skip


def truth(step, state, start, end, width, most):
    def log_p(signs):
        """Return the log-probability of a sequence, read from its start."""
        total, at, last = 0.0, state, start
        for sign in signs:
            row, at = step(last, at)
            total, last = total + float(row[sign]), sign
        return total

    count, kept = len(step(start, state)[0]), {()}
    for _ in range(most):
        going = {sequence for sequence in kept if end not in sequence}
        longer = kept - going | {(*sequence, sign) for sequence in going for sign in range(count)}
        kept = {*sorted(longer, key=log_p, reverse=True)[:width]}
    return [([*sequence], log_p(sequence)) for sequence in sorted(kept, key=log_p, reverse=True)]


def probe(name, draw, base, signs, width, most, one_sign=False):
    """Return the tables of a model with a state for each path through a tree: no two sequences have the same sum.

    Below the tree the end sign is likely. base: seed of the logits, which are varied only slightly, and whose signs
    are shuffled: most random logits would not distinguish the mistakes. one_sign: start and end are the same sign.
    """
    inner, whole = (sum(signs**depth for depth in range(deep)) for deep in (most, most + 1))
    count, drawn, order = whole + 2, Draw(base), draw(signs).argsort()
    after = torch.full((count, signs), count - 1)
    after[:inner], after[inner:whole] = torch.arange(1, whole).reshape(inner, signs), whole
    sure = torch.tensor([1.0, 5.0])[drawn.whole(2, count, 1)]  # after a less likely sign, the next may be certain
    logits = sure * drawn(count, signs) + 0.02 * draw(count, signs)
    logits[whole:] = draw(2, signs)
    logits[whole:, 1] += 4
    start, end = order.argsort()[:2].tolist()
    options = {"state": 0, "start": end if one_sign else start, "end": end, "width": width, "most": most}
    tensors = {"log_p": torch.log_softmax(logits, dim=1)[:, order], "after": after[:, order]}
    return Probe(name, tensors, options, gradients=None)


def probes(draw):
    return [
        probe("one_step", draw, 0, 3, 2, 1),
        probe("wide", draw, 0, 2, 4, 3),
        probe("several", draw, 27, 4, 2, 4),
        probe("several", draw, 5, 3, 3, 5),
        probe("start_is_end", draw, 32, 4, 3, 4, one_sign=True),
    ]


QUESTION = generate_question(
    beam_search_reference,
    MISTAKES,
    truth=truth,
    by_torch=False,
    name="beam_search",
    assignment="attention",
    task=4,
    points=3,
    place=PLACE,
    call=call,
    probes=probes,
    # together these would keep an exponential number of sequences
    exclusive=(
        frozenset({"all_sequences_kept", "width_for_each_beginning", "most_ignored"}),
        frozenset({"all_sequences_kept", "width_for_each_beginning", "finished_repeated"}),
    ),
    axes={"sequences": ("rank", "sign"), "log_p": ("rank",)},
    forbidden=ATTENTION,
)
