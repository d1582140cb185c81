"""Question `scan_backward`: the gradients of the scan by hand, from the last step to the first."""

import torch

from companion.check.engine.library_layers import AUTOGRAD, RECURRENT, SCAN
from companion.check.engine.probe import Probe
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import Function


def scan_backward_reference(a, b, h_0, grad_h):
    T, h, before = len(a), h_0, []
    for a_t, b_t in zip(a, b):
        before.append(h)
        h = a_t * h + b_t
    grad_a, grad_b, later = [], [], torch.zeros_like(h_0)
    for t in reversed(range(T)):
        delta = grad_h[t] + later
        grad_a.append(delta * before[t])
        grad_b.append(delta)
        later = a[t] * delta
    grad_h_0 = later
    return torch.stack(grad_a[::-1]), torch.stack(grad_b[::-1]), grad_h_0


PLACE, LONG = "without_waiting#backwards-same", "without_waiting#exercises"
SUM, BACK, FOR_A, FOR_B, LAST = (
    "delta = grad_h[t] + later", "later = a[t] * delta", "delta * before[t]", "grad_b.append(delta)",
    "grad_h_0 = later")  # fmt: skip
FORWARD = "before.append(h)\n        h = a_t * h + b_t"
STACK_A, STACK_B = "torch.stack(grad_a[::-1])", "torch.stack(grad_b[::-1])"
RESULT = f"return {STACK_A}, {STACK_B}, grad_h_0"
PRODUCTS = "P = a.cumprod(0)"
# Both compute all states, or all of delta, at once, from quotients of products of a.
STATES_BY_PRODUCTS = f"{PRODUCTS}; all_h = P * (h_0 + (b / P).cumsum(0)); before = [h_0, *all_h[:-1]]"
DELTA_BY_PRODUCTS = f"{PRODUCTS}; delta = ((P * grad_h)[t:] / P[t]).sum(0)"
INITIAL = "grad_a, grad_b, later ="
MISTAKES = {
    "factor_of_own_step": (PLACE, SUM, "delta = grad_h[t] + a[t] * later", BACK, "later = delta"),
    "factor_of_own_step~h_0_as_well": (
        "", SUM, "delta = grad_h[t] + a[t] * later", BACK, "later = delta", LAST, "grad_h_0 = a[0] * delta"),
    "factor_missing_on_way_back": (PLACE, BACK, "later = delta"),
    "factor_missing_on_way_back~not_in_h_0": ("", BACK, "later = delta", LAST, "grad_h_0 = a[0] * delta"),
    "state_after_step_in_gradient": (PLACE, FORWARD, "h = a_t * h + b_t\n        before.append(h)"),
    "first_state_left_out": (PLACE, FOR_A, "delta * (before[t] if t else torch.zeros_like(h_0))"),
    "given_state_ignored": ("without_waiting#linear", "h, before = len(a), h_0, []",
                            "h, before = len(a), torch.zeros_like(h_0), []"),
    "later_steps_missing": (PLACE, SUM, "delta = grad_h[t]"),
    "gradient_one_step_back_only": (PLACE, BACK, "later = a[t] * grad_h[t]"),
    "gradient_of_last_state_only": (PLACE, SUM, "delta = (grad_h[t] if t == T - 1 else 0) + later"),
    "gradient_multiplied_by_later": (PLACE, SUM, "delta = grad_h[t] * (later if t < T - 1 else 1)"),
    "loop_stops_early": (
        PLACE, "reversed(range(T))", "reversed(range(1, T))",
        STACK_A, "torch.stack([*grad_a, torch.zeros_like(h_0)][::-1])",
        STACK_B, "torch.stack([*grad_b, torch.zeros_like(h_0)][::-1])"),
    "loop_stops_early~lists": ("", "reversed(range(T))", "reversed(range(1, T))"),
    "time_not_reversed": (
        PLACE, "reversed(range(T))", "range(T)", STACK_A, "torch.stack(grad_a)", STACK_B, "torch.stack(grad_b)"),
    "gradients_left_reversed": (PLACE, STACK_A, "torch.stack(grad_a)", STACK_B, "torch.stack(grad_b)"),
    "gradients_left_reversed~a": ("", STACK_A, "torch.stack(grad_a)"),
    "gradients_left_reversed~b": ("", STACK_B, "torch.stack(grad_b)"),
    "state_missing_in_grad_a": (PLACE, FOR_A, "delta"),
    "b_for_state_in_grad_a": (PLACE, FOR_A, "delta * b[t]"),
    "grad_a_from_own_step": (PLACE, FOR_A, "grad_h[t] * before[t]"),
    "grad_b_from_own_step": (PLACE, FOR_B, "grad_b.append(grad_h[t])"),
    "factor_in_grad_b": (PLACE, FOR_B, "grad_b.append(a[t] * delta)"),
    "factor_missing_in_grad_h_0": (PLACE, LAST, "grad_h_0 = delta"),
    "grad_h_0_zero": (PLACE, LAST, "grad_h_0 = torch.zeros_like(h_0)"),
    "grad_h_0_from_first_step": (PLACE, LAST, "grad_h_0 = a[0] * grad_h[0]"),
    "old_state_by_division": (LONG, FOR_A, "delta * (a[t] * before[t] / a[t])"),
    "divided_by_products": (LONG, SUM, DELTA_BY_PRODUCTS),
    "divided_by_products~forwards": ("", INITIAL, f"{STATES_BY_PRODUCTS}; {INITIAL}"),
    "gradient_negated": (PLACE, RESULT, f"return -{STACK_A}, -{STACK_B}, -grad_h_0"),
    "sequences_averaged": (
        PLACE, RESULT, f"return {STACK_A} / len(h_0), {STACK_B} / len(h_0), grad_h_0 / len(h_0)"),
    "gradients_of_a_and_b_exchanged": (PLACE, RESULT, f"return {STACK_B}, {STACK_A}, grad_h_0"),
}  # fmt: skip


def truth(a, b, h_0, grad_h):
    with torch.enable_grad():
        inputs = [tensor.detach().requires_grad_() for tensor in (a, b, h_0)]
        h, states = inputs[2], []
        for a_t, b_t in zip(*inputs[:2]):
            h = torch.addcmul(b_t, a_t, h)
            states.append(h)
        return torch.autograd.grad(torch.stack(states), inputs, grad_h)


def probes(draw):
    def probe(name, draw, T, N, D, zero=False):
        a = draw(T, N, D)
        if zero:
            a[T // 2, 0] = 0
        tensors = {"a": a, "b": draw(T, N, D), "h_0": draw(N, D), "grad_h": draw(T, N, D)}
        return Probe(name, tensors, gradients=None)

    # so many numbers that a forward pass for each runs out of time; factors near 1, so that no product becomes 0
    many = probe("several", draw, 60, 10, 40)
    many.tensors["a"] = 1 + many.tensors["a"] / 10

    return [
        probe("one_number", draw.few, 1, 1, 1),
        probe("two_steps", draw.few, 2, 1, 1),
        probe("batch_1", draw.few, 4, 1, 2),
        probe("no_zero_factor", draw, 5, 2, 3),
        probe("several", draw, 3, 4, 2),
        # a step that forgets everything
        probe("several", draw, 6, 2, 3, zero=True),
        many,
    ]


QUESTION = generate_question(
    scan_backward_reference,
    MISTAKES,
    truth=truth,
    name="scan_backward",
    assignment="recurrence_today",
    task=3,
    points=3,
    place=PLACE,
    call=Function(("a", "b", "h_0", "grad_h"), ("grad_a", "grad_b", "grad_h_0")),
    probes=probes,
    axes={
        **dict.fromkeys(("grad_a", "grad_b"), ("step", "sequence", "feature")), "grad_h_0": ("sequence", "feature"),
    },
    forbidden=RECURRENT | SCAN | AUTOGRAD,
)  # fmt: skip
