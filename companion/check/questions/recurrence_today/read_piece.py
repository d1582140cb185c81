"""Question `read_piece`: a layer that reads a stream in pieces of any length, with the same results as in one go."""

import torch

from companion.check.engine.probe import Probe, Unfit, gradients, named, values
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import inputs_of, note_changes, seed

RESULTS = ("output", "before", "h")
MOST = 6  # pieces of a probe


def call(answer, probe, outcome):
    """Call an answer on each piece, with the state that it returned for the piece before.

    A state of another shape ends the stream: what an answer does with it depends on how it is written.
    """
    tensors = inputs_of(probe, probe.gradients or ())
    whole, before, h, weight, a = (tensors[name].clone() for name in ("x", "before", "h", "weight", "a"))
    shapes, outputs = {"before": before.shape, "h": h.shape}, []
    seed()
    for x in whole.split(probe.options["lengths"]):
        given = {"x": x, "before": before, "h": h, "weight": weight, "a": a}
        passed = {name: tensor.clone() for name, tensor in given.items()}
        output, before, h = named(answer(*passed.values()), RESULTS).values()
        note_changes(given, passed, outcome)
        outputs.append(output)
        results = {"before": before, "h": h}
        results |= {f"output of piece {number}": output for number, output in enumerate(outputs)}
        for name, shape in shapes.items():
            if results[name].shape != shape:
                ended = {key: result for key, result in results.items() if key not in shapes or key == name}
                raise Unfit("wrong_shape", values(ended), name=name, got=str(tuple(results[name].shape)))
    outcome.values |= values(results)
    outcome.values |= gradients(results, {name: tensors[name] for name in probe.gradients or ()})


def read_piece_reference(x, before, h, weight, a):
    L, W = len(x), weight.size(1)
    inputs = torch.cat([before, x])
    output = []
    for t in range(L):
        u = (weight.T[:, None] * inputs[t : t + W]).sum(0)
        h = a * h + u
        output.append(h)
    output = torch.stack([*output, h])[:-1]
    kept = inputs[L:]
    return output, kept, h


CONVOLUTION, STATE, PIECES = "released#convolution", "released#convolution-state", "released#pieces"
KEPT, WINDOW, SUM, STEP = (
    "inputs[L:]",
    "inputs[t : t + W]",
    "(weight.T[:, None] * inputs[t : t + W]).sum(0)",
    "a * h + u",
)
BEGIN, INPUTS, STACK = "output = []", "torch.cat([before, x])", "torch.stack([*output, h])[:-1]"
RESULT, APPEND = "return output, kept, h", "h = a * h + u\n        output.append(h)"


def by_products(x, before, h, weight, a):
    """Read a piece without a loop, by quotients of powers of a."""
    L, W = len(x), weight.size(1)
    inputs = torch.cat([before, x])
    u = sum(weight[:, j] * inputs[j : j + L] for j in range(W))
    P = a ** torch.arange(1, L + 1, dtype=a.dtype)[:, None, None]
    output = P * (h + (u / P).cumsum(0))
    return output, inputs[L:], output[-1] if L else h


MISTAKES = {
    "short_piece_shortens_memory": (STATE, KEPT, "x[-(W - 1) :] if W > 1 else x[:0]"),
    "short_piece_shortens_memory~all_for_one": ("", KEPT, "x[-(W - 1) :]"),
    "short_piece_shortens_memory~filled": ("", KEPT, "torch.cat([torch.zeros_like(before), x])[L:]"),
    "slice_from_minus_zero": (STATE, KEPT, "inputs[-(W - 1) :]"),
    "inputs_not_remembered": (STATE, KEPT, "before"),
    "inputs_not_remembered~zeros": ("", KEPT, "torch.zeros_like(before)"),
    "given_inputs_ignored": (STATE, INPUTS, "torch.cat([torch.zeros_like(before), x])"),
    "given_inputs_ignored~handed_on": (
        "", INPUTS, "torch.cat([torch.zeros_like(before), x])", KEPT, "torch.cat([before, x])[L:]"),
    "given_state_ignored": (PIECES, BEGIN, "output, h = [], torch.zeros_like(h)"),
    "state_not_carried": (PIECES, BEGIN, "output, h_0 = [], h", RESULT, "return output, kept, h_0"),
    "state_not_carried~in_piece": ("", BEGIN, "output, h_0 = [], h", STEP, "a * h_0 + u"),
    "one_input_too_many_kept": (STATE, KEPT, "inputs[max(L - 1, 0) :]"),
    "one_input_too_many_kept~from_the_end": ("", KEPT, "inputs[L - 1 :]"),
    "one_input_too_few_kept": (STATE, KEPT, "inputs[L + 1 :]"),
    "all_inputs_kept": (STATE, KEPT, "inputs"),
    "inputs_newest_first": (STATE, KEPT, "inputs[L:].flip(0)"),
    "outputs_kept_for_inputs": (STATE, KEPT, "torch.cat([before, output])[L:]"),
    "kernel_turned": (CONVOLUTION, SUM, "(weight.T.flip(0)[:, None] * inputs[t : t + W]).sum(0)"),
    "convolution_missing": (CONVOLUTION, SUM, "x[t]"),
    "newest_input_only": (CONVOLUTION, SUM, "weight[:, -1] * x[t]"),
    "newest_input_left_out": (CONVOLUTION, SUM, "(weight.T[:-1, None] * inputs[t : t + W - 1]).sum(0)"),
    "inputs_averaged": (CONVOLUTION, SUM, "(weight.T[:, None] * inputs[t : t + W]).mean(0)"),
    "factor_missing": ("without_waiting#linear", STEP, "h + u"),
    "factor_on_sum": ("without_waiting#linear", STEP, "a * (h + u)"),
    "input_gets_the_rest": ("without_waiting#linear", STEP, "a * h + (1 - a) * u"),
    "old_state_lost": ("without_waiting#linear", STEP, "u"),
    "convolution_for_output": (PIECES, APPEND, "h = a * h + u\n        output.append(u)"),
    "output_one_early": (PIECES, APPEND, "output.append(h)\n        h = a * h + u"),
    "empty_piece_stops": (PIECES, STACK, "torch.stack(output)"),
    "empty_piece_stops~last": ("", RESULT, "return output, kept, output[-1]"),
    "empty_piece_without_axes": (PIECES, STACK, "torch.stack(output) if output else torch.empty(0)"),
    "empty_piece_clears_state": (
        PIECES, RESULT, "return output, (kept if L else 0 * before), (h if L else torch.zeros_like(h))"),
    "empty_piece_clears_state~h_only": ("", RESULT, "return output, kept, (h if L else torch.zeros_like(h))"),
    "empty_piece_clears_state~inputs_only": ("", RESULT, "return output, (kept if L else 0 * before), h"),
    "only_last_output": (PIECES, STACK, "h"),
    "divided_by_products": ("without_waiting#exercises", by_products),
    "state_detached": (PIECES, RESULT, "return output, kept.detach(), h.detach()"),
    "state_detached~h": ("", RESULT, "return output, kept, h.detach()"),
    "state_detached~inputs": ("", RESULT, "return output, kept.detach(), h"),
    "states_in_other_order": (PIECES, RESULT, "return output, h, kept"),
}  # fmt: skip


def truth(x, before, h, weight, a):
    inputs = torch.cat([before, x])
    # all windows at once: (L, N, D, W)
    windows = inputs.unfold(0, weight.size(1), 1) if len(x) else x.new_zeros(*x.shape, weight.size(1))
    states = [h]
    for u in (windows * weight).sum(-1):
        states.append(torch.addcmul(u, a, states[-1]))
    return torch.stack(states)[1:], inputs[len(x) :], states[-1]


def probes(draw):
    def probe(name, draw, lengths, W, N, D, zero=False):
        a = draw(D)
        if zero:
            a[0] = 0
        tensors = {"x": draw(sum(lengths), N, D), "before": draw(W - 1, N, D), "h": draw(N, D)}
        tensors |= {"weight": draw(D, W), "a": a}
        return Probe(name, tensors, {"lengths": lengths}, gradients=tuple(tensors))

    return [
        probe("one_step_pieces", draw.few, [1, 1], 2, 1, 1),
        probe("one_piece", draw, [5], 3, 2, 4),
        probe("no_zero_factor", draw, [4, 3], 3, 2, 4),
        probe("several", draw, [1, 1, 2, 1], 4, 2, 3),
        probe("several", draw, [0, 2, 0, 3, 1, 0], 3, 3, 2),
        # without inputs to remember
        probe("one_step_pieces", draw, [1, 0, 1], 1, 2, 3),
        probe("several", draw, [3, 2], 2, 2, 3, zero=True),
    ]


QUESTION = generate_question(
    read_piece_reference,
    MISTAKES,
    truth=truth,
    by_torch=False,
    name="read_piece",
    assignment="recurrence_today",
    task=6,
    points=3,
    place=PIECES,
    call=call,
    probes=probes,
    axes={
        **{f"output of piece {number}": ("step", "sequence", "feature") for number in range(MOST)},
        **dict.fromkeys(("before", "x"), ("step", "sequence", "feature")),
        "h": ("sequence", "feature"), "weight": ("feature", "column"), "a": ("feature",),
    },
)  # fmt: skip
