"""Question `rnn_backward`: gradients through time by hand."""

import torch

from companion.check.engine.library_layers import AUTOGRAD, RECURRENT
from companion.check.engine.probe import Probe
from companion.check.engine.question import Question
from companion.check.engine.run_answer import Function
from companion.check.questions.rnn.rnn import rnn_truth
from companion.check.questions.weights import WEIGHTS, weights

GRADIENTS = tuple(f"grad_{name}" for name in ("input", "h_0", *WEIGHTS))
BACKWARD_MISTAKES = {
    "tanh_slope_missing": "through_time#by-hand",
    "future_ignored": "through_time#through-time",
    "future_ignored~but_grad_h_n": "",
    "input_gradient_reversed": "through_time#by-hand",
    "new_h_for_old_h": "through_time#by-hand",
    "recurrent_weights_transposed_on_way_back": "through_time#by-hand",
    "tanh_slope_at_old_h": "through_time#by-hand",
    "tanh_slope_not_squared": "through_time#by-hand",
    "tanh_slope_at_sum": "through_time#by-hand",
    "sigmoid_slope": "through_time#by-hand",
    "tanh_slope_missing_on_way_back": "through_time#long-chains",
    "tanh_slope_missing_for_future": "through_time#by-hand",
    "recurrent_weights_missing_on_way_back": "through_time#long-chains",
    "one_step_back_only": "vanishing#truncation",
    "time_not_reversed": "through_time#by-hand-said",
    "grad_h_n_ignored": "rnn#two-results",
    "grad_output_last_only": "through_time#through-time",
    "gradient_overwritten": "through_time#by-hand",
    "h_0_missing_in_gradient": "through_time#by-hand",
    "h_0_gradient_missing": "through_time#long-chains",
    "h_0_gradient_without_weights": "through_time#long-chains",
    "h_0_gradient_without_layer": "rnn#h-n-has-layers",
    "bias_gradient_halved": "rnn#equation",
    "one_bias_gradient": "rnn#equation",
    "bias_gradient_not_summed": "through_time#by-hand",
    "gradient_averaged": "through_time#by-hand",
    "gradient_averaged_over_time": "through_time#by-hand",
    "weight_gradient_transposed": "through_time#by-hand",
    "weight_gradient_transposed~hh": "",
}


def backward_reference(mistakes):
    def rnn_backward(input, h_0, weight_ih, weight_hh, bias_ih, bias_hh, grad_output, grad_h_n):
        sums, h = [], [h_0[0]]
        for x_t in input:
            sums.append(x_t @ weight_ih.T + bias_ih + h[-1] @ weight_hh.T + bias_hh)
            h.append(sums[-1].tanh())

        from_future = grad_h_n[0] * ("grad_h_n_ignored" not in mistakes)
        steps = list(range(len(input)))
        steps = steps if "time_not_reversed" in mistakes else steps[::-1]
        d_as = [None] * len(steps)
        for t in steps:
            from_output = grad_output[t] * ("grad_output_last_only" not in mistakes or t == len(steps) - 1)
            last = t == len(steps) - 1
            cut = "future_ignored" in mistakes or "future_ignored~but_grad_h_n" in mistakes and not last
            after = 0 * from_future if cut else from_future
            slope = slope_reference(mistakes, h[t], h[t + 1], sums[t])
            d_as[t] = from_output * slope + after * (1 if "tanh_slope_missing_for_future" in mistakes else slope)
            back = d_as[t]
            if "tanh_slope_missing_on_way_back" in mistakes:
                back = from_output + after
            if "one_step_back_only" in mistakes:
                back = from_output * slope
            if "recurrent_weights_missing_on_way_back" in mistakes:
                from_future = back
            else:
                from_future = back @ (
                    weight_hh.T if "recurrent_weights_transposed_on_way_back" in mistakes else weight_hh
                )

        by_h = from_future
        if "h_0_gradient_missing" in mistakes:
            by_h = torch.zeros_like(by_h)
        if "h_0_gradient_without_weights" in mistakes:
            by_h = d_as[0]
        if "h_0_gradient_without_layer" not in mistakes:
            by_h = by_h[None]
        by_input = torch.stack([d_a @ weight_ih for d_a in d_as])
        if "input_gradient_reversed" in mistakes:
            by_input = by_input.flip(0)
        return by_input, by_h, *weights_back_reference(mistakes, input, h, d_as, steps)

    return rnn_backward


def slope_reference(mistakes, old, new, a):
    if "tanh_slope_missing" in mistakes:
        return torch.ones_like(new)
    if "tanh_slope_at_old_h" in mistakes:
        return 1 - old**2
    if "tanh_slope_not_squared" in mistakes:
        return 1 - new
    if "tanh_slope_at_sum" in mistakes:
        return 1 - a**2
    return new * (1 - new) if "sigmoid_slope" in mistakes else 1 - new**2


def weights_back_reference(mistakes, input, h, d_as, steps):
    """Return the gradients of weights and biases."""
    old = h[1:] if "new_h_for_old_h" in mistakes else h[:-1]
    if "h_0_missing_in_gradient" in mistakes:
        old = [0 * old[0], *old[1:]]
    steps = steps[-1:] if "gradient_overwritten" in mistakes else steps
    share = 1
    if "gradient_averaged" in mistakes:
        share = share / input.shape[1]
    if "gradient_averaged_over_time" in mistakes:
        share = share / len(input)
    by_ih = share * sum(d_as[t].T @ input[t] for t in steps)
    by_hh = share * sum(d_as[t].T @ old[t] for t in steps)
    bias = share * sum(d_as[t] if "bias_gradient_not_summed" in mistakes else d_as[t].sum(0) for t in steps)
    if "bias_gradient_halved" in mistakes:
        bias = bias / 2
    if "weight_gradient_transposed" in mistakes:
        by_ih = by_ih.T
    if mistakes & {"weight_gradient_transposed", "weight_gradient_transposed~hh"}:
        by_hh = by_hh.T
    return (by_ih, by_hh, bias) if "one_bias_gradient" in mistakes else (by_ih, by_hh, bias, bias)


def backward_truth(input, h_0, weight_ih, weight_hh, bias_ih, bias_hh, grad_output, grad_h_n):
    with torch.enable_grad():
        inputs = [tensor.detach().requires_grad_() for tensor in (input, h_0, weight_ih, weight_hh, bias_ih, bias_hh)]
        return torch.autograd.grad(rnn_truth(*inputs), inputs, (grad_output, grad_h_n))


def backward_probes(draw):
    def probe(name, draw, steps, batch, inputs, hidden):
        tensors = {"input": draw(steps, batch, inputs), "h_0": draw(1, batch, hidden)} | weights(draw, inputs, hidden)
        grads = {"grad_output": draw(steps, batch, hidden), "grad_h_n": draw(1, batch, hidden)}
        return Probe(name, tensors | grads, gradients=None)

    return [
        # the smallest probe has two steps: with one, most mistakes would have no effect
        probe("two_steps", draw.few, 2, 1, 1, 1),
        probe("batch_1", draw.few, 2, 1, 3, 2),
        probe("one_step", draw.few, 1, 2, 1, 3),
        probe("several", draw, 4, 3, 2, 5),
    ]


QUESTION = Question(
    name="rnn_backward",
    assignment="rnn",
    task=5,
    points=3,
    place="through_time#by-hand",
    call=Function(("input", "h_0", *WEIGHTS, "grad_output", "grad_h_n"), GRADIENTS),
    truth=backward_truth,
    reference=backward_reference,
    mistakes=BACKWARD_MISTAKES,
    probes=backward_probes,
    exclusive=(
        frozenset(
            {
                "tanh_slope_missing",
                "tanh_slope_at_old_h",
                "tanh_slope_not_squared",
                "tanh_slope_at_sum",
                "sigmoid_slope",
            }
        ),
        frozenset(
            {
                "tanh_slope_missing",
                "future_ignored",
                "tanh_slope_missing_on_way_back",
                "tanh_slope_missing_for_future",
                "one_step_back_only",
            }
        ),
        frozenset({"recurrent_weights_transposed_on_way_back", "recurrent_weights_missing_on_way_back"}),
        frozenset({"future_ignored", "grad_h_n_ignored"}),
        frozenset({"h_0_gradient_missing", "h_0_gradient_without_weights", "recurrent_weights_missing_on_way_back"}),
        frozenset({"new_h_for_old_h", "h_0_missing_in_gradient"}),
        frozenset({"gradient_averaged", "bias_gradient_not_summed"}),
        frozenset({"bias_gradient_halved", "one_bias_gradient"}),
    ),
    axes={
        "grad_input": ("step", "batch", "feature"),
        "grad_h_0": ("layer", "batch", "unit"),
        **dict.fromkeys(("grad_weight_ih", "grad_weight_hh"), ("row", "feature")),
        **dict.fromkeys(("grad_bias_ih", "grad_bias_hh"), ("row",)),
    },
    forbidden=RECURRENT | AUTOGRAD,
    stretch=True,
)
