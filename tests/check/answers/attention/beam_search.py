"""Answers to the question `beam_search`."""

from functools import partial

import torch

from tests.check.answers import Program

BEAM = """
def beam_search(step, state, start, end, width, most):
    sequences, scores, states = [[start]], [0.0], [state]
    for t in range(most):
        candidates = []
        for i, seq in enumerate(sequences):
            if len(seq) > 1 and seq[-1] == end:
                candidates.append((scores[i], seq, states[i]))
                continue
            log_p, new_state = step(seq[-1], states[i])
            for sign in range(len(log_p)):
                candidates.append((scores[i] + log_p[sign].item(), seq + [sign], new_state))
        candidates.sort(key=lambda one: one[0], reverse=True)
        candidates = candidates[:width]
        scores, sequences, states = (list(column) for column in zip(*candidates))
        if all(len(seq) > 1 and seq[-1] == end for seq in sequences):
            break
    return [(seq[1:], score) for seq, score in zip(sequences, scores)]
"""
SUM = "scores[i] + log_p[sign].item()"
CUT = "candidates = candidates[:width]"
KEEP = "candidates.append((scores[i], seq, states[i]))"
LOOP = "for sign in range(len(log_p)):"
RETURN = "return [(seq[1:], score) for seq, score in zip(sequences, scores)]"
ENDS = "len(seq) > 1 and seq[-1] == end:"
ALL = "[(one[1][1:], one[0]) for one in sorted({}, key=lambda one: -one[0])[:width]]"
BEAM_WRONG = {
    "greedy_search": [(CUT, "candidates = [max(candidates, key=lambda one: one[0])]")],
    "width_for_each_beginning": [
        (LOOP, "for sign in log_p.topk(min(width, len(log_p))).indices.tolist():"), (CUT, ""),
        (RETURN, RETURN + "[:width]"),
    ],
    "one_for_each_beginning": [(LOOP, "for sign in log_p.topk(1 if t else min(width, len(log_p))).indices.tolist():")],
    "all_sequences_kept": [(CUT, ""), (RETURN, RETURN + "[:width]")],
    "probabilities_returned": [("(seq[1:], score)", "(seq[1:], math.exp(score))")],
    "probabilities_added": [("log_p[sign].item()", "log_p[sign].exp().item()")],
    "only_last_log_p": [(SUM, "float(log_p[sign])")],
    "end_not_counted": [(SUM, "scores[i] + (0 if sign == end else log_p[sign].item())")],
    "divided_by_length": [(" score) for", " score / (len(seq) - 1)) for")],
    "finished_go_on": [
        ("if " + ENDS, "if False:"), ("if all(len(seq) > 1 and seq[-1] == end for seq in sequences)", "if False"),
    ],
    "finished_dropped": [
        (KEEP, "pass"),
        ("        candidates.sort", "        if not candidates:\n            return []\n        candidates.sort"),
    ],
    "finished_beside_the_beam": [
        ("[0.0], [state]", "[0.0], [state]\n    done = []"), (KEEP, ""), (CUT,
        CUT + "\n        done += [one for one in candidates if one[1][-1] == end]\n"
         "        candidates = [one for one in candidates if one[1][-1] != end]\n        if not candidates:\n            break"),  # noqa: E501
        (RETURN, "done += [one for one in candidates if one not in done]\n    return " + ALL.format("done")),
    ],
    "finished_repeated": [
        (KEEP, KEEP.replace("append", "extend").replace("((", "([(").replace("))", ")] * len(step(start, state)[0]))")),
    ],
    "end_repeated": [
        (KEEP, "candidates.append((scores[i], seq + [end], states[i]))"),
        ("all(len(seq) > 1 and seq[-1] == end for seq in sequences)", "t == most"),
    ],
    "stops_at_first_end": [("if all(", "if any(")],
    "unfinished_left_out": [("zip(sequences, scores)]", "zip(sequences, scores) if seq[-1] == end]")],
    "only_best_returned": [
        (RETURN,
        "best = max(range(len(scores)), key=lambda i: scores[i])\n    return [(sequences[best][1:], scores[best])]"),
    ],
    "start_in_sequence": [("(seq[1:],", "(seq,")],
    "end_left_out": [("(seq[1:], score)", "(seq[1:-1] if seq[-1] == end else seq[1:], score)")],
    "start_taken_for_end": [("len(seq) > 1 and ", "")],
    "worst_first": [("zip(sequences, scores)]", "zip(sequences[::-1], scores[::-1])]")],
    "worst_kept": [(", reverse=True", "")],
    "search_one_step_too_long": [("range(most)", "range(0, most + 1)")],
    "search_one_step_too_short": [("range(most)", "range(1, most)")],
    "most_ignored": [("for t in range(most):", "while True:")],
    "state_not_carried": [("seq + [sign], new_state", "seq + [sign], state")],
    "one_state_for_all": [
        ("log_p, new_state = step(seq[-1], states[i])", "log_p, state = step(seq[-1], state)"),
        ("seq + [sign], new_state", "seq + [sign], None"),
    ],
    "states_left_in_place": [
        ("candidates = []", "candidates, kept = [], []"), (KEEP, KEEP + "\n                kept.append(states[i])"),
        ("step(seq[-1], states[i])", "step(seq[-1], states[i])\n            kept.append(new_state)"),
        ("zip(*candidates))",
        "zip(*candidates))\n        states = [kept[min(i, len(kept) - 1)] for i in range(len(states))]"),
    ],
    "start_read_at_each_step": [("step(seq[-1],", "step(start,")],
}  # fmt: skip

UNTIL_FULL = """\
        going = []
        for one in candidates:
            (done if one[1][-1] == end else going).append(one)
            if len(going) == width:
                break
        candidates = going
        if not going:
            break"""

RIGHT = {
    "tensors for numbers, and tuples": (
        """
        def beam_search(step, state, start, end, width, most):
            beam = [(torch.tensor(0.0), torch.tensor([], dtype=torch.long), torch.tensor(start), state)]
            for _ in range(most):
                new = []
                for p, signs, last, s in beam:
                    if len(signs) and last == end:
                        new.append((p, signs, last, s))
                    else:
                        log_p, after = step(last, s)
                        for sign, q in enumerate(log_p):
                            new.append((p + q, torch.cat([signs, torch.tensor([sign])]), torch.tensor(sign), after))
                beam = sorted(new, key=lambda one: one[0], reverse=True)[:width]
            return tuple((signs, p) for p, signs, _, _ in beam)
    """
    ),
    "topk of each, a heap, a generator": (
        """
        import heapq
        def beam_search(step, state, start, end, width, most):
            beam = [(0.0, [start], state, False)]
            while most > 0 and not all(one[3] for one in beam):
                new = [one for one in beam if one[3]]
                for total, signs, s, done in beam:
                    if not done:
                        log_p, after = step(signs[-1], s)
                        best = log_p.topk(min(width, log_p.numel()))
                        new += [(total + q, signs + [i], after, i == end) for q, i in zip(best.values.tolist(), best.indices.tolist())]
                beam = heapq.nlargest(width, new, key=lambda one: one[0])
                most -= 1
            return ((signs[1:], total) for total, signs, *_ in beam)
    """  # noqa: E501
    ),
}


def returned(result, *given):
    return result


PROGRAM = Program(BEAM, BEAM_WRONG, also_wrong=[
    ("finished_beside_the_beam", [
        ("[0.0], [state]", "[0.0], [state]\n    done = []"), (KEEP, ""), (CUT, UNTIL_FULL.strip()),
        (RETURN, "done += going\n    return " + ALL.format("done")),
    ]),
    ("returns_none", lambda *given: None),
    *(("wrong_form", partial(returned, given)) for given in (
        [[0, 1]], ([[0, 1]], [0.5]), {"log_p": 1}, torch.ones(2, 2), "ab", [("a", 1.0)], [([0.5j], 1)], 7,
    )),
], also_right=RIGHT, pairs=[
    ("end_not_counted", "start_in_sequence"),
    ("state_not_carried", "worst_first"),
    ("start_in_sequence", "divided_by_length"),
])  # fmt: skip
