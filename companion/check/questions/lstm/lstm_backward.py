"""Question `lstm_backward`: gradients of one step by hand."""

import torch

from companion.check.engine.library_layers import AUTOGRAD, RECURRENT
from companion.check.engine.probe import Probe
from companion.check.engine.question import Question
from companion.check.engine.run_answer import Function
from companion.check.questions.lstm.step import ORDERS
from companion.check.questions.weights import WEIGHTS, weights

GRADIENTS = tuple(f"grad_{name}" for name in ("x", "h", "c", *WEIGHTS))
BACKWARD_MISTAKES = {
    "sigmoid_slope_missing": "",
    "tanh_slope_missing_on_g": "",
    "tanh_slope_missing_on_c": "",
    "tanh_slope_at_c": "",
    "grad_c_ignored": "forget_bias#gradient-path",
    "grad_h_not_through_c": "forget_bias#gradient-path",
    "forget_gate_missing_on_way_back": "forget_bias#gradient-path",
    "new_c_for_old_c": "",
    "new_h_for_old_h": "",
    "tanh_missing_in_grad_o": "lstm#output-gate",
    "i_and_g_exchanged": "lstm#cell-state",
    "bias_gradient_halved": "lstm#two-biases",
    "sigmoid_slope_on_g": "",
    "tanh_slope_on_gates": "",
    "bias_gradient_not_summed": "",
    "bias_gradient_averaged": "",
    "gradient_averaged": "",
    "weight_gradient_transposed": "",
    "gradients_in_other_order": "",
} | dict.fromkeys(ORDERS, "lstm#wrong-order")


def backward_truth(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, grad_h, grad_c):
    with torch.enable_grad():
        inputs = [tensor.detach().requires_grad_() for tensor in (x, h, c, weight_ih, weight_hh, bias_ih, bias_hh)]
        x, h, c, *weights = inputs
        states = torch.lstm_cell(x, (h, c), *weights)
        return torch.autograd.grad(states, inputs, (grad_h, grad_c))


def backward_reference(mistakes):
    def lstm_backward(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, grad_h, grad_c):
        a_i, a_f, a_g, a_o = (x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh).chunk(4, dim=-1)
        i, f, g, o = a_i.sigmoid(), a_f.sigmoid(), a_g.tanh(), a_o.sigmoid()
        new_c = f * c + i * g
        squashed = new_c.tanh()

        slope = 1 - (new_c if "tanh_slope_at_c" in mistakes else squashed) ** 2
        if "tanh_slope_missing_on_c" in mistakes:
            slope = torch.ones_like(slope)
        d_c = grad_c * ("grad_c_ignored" not in mistakes)
        d_c = d_c + grad_h * o * slope * ("grad_h_not_through_c" not in mistakes)
        d = {
            "i": d_c * (i if "i_and_g_exchanged" in mistakes else g),
            "f": d_c * (new_c if "new_c_for_old_c" in mistakes else c),
            "g": d_c * (g if "i_and_g_exchanged" in mistakes else i),
            "o": grad_h * (new_c if "tanh_missing_in_grad_o" in mistakes else squashed),
        }
        if "tanh_slope_on_gates" in mistakes:
            d |= {name: d[name] * (1 - gate**2) for name, gate in (("i", i), ("f", f), ("o", o))}
        elif "sigmoid_slope_missing" not in mistakes:
            d |= {name: d[name] * gate * (1 - gate) for name, gate in (("i", i), ("f", f), ("o", o))}
        if "tanh_slope_missing_on_g" not in mistakes:
            d["g"] = d["g"] * (g * (1 - g) if "sigmoid_slope_on_g" in mistakes else 1 - g**2)
        order = next((ORDERS[name] for name in mistakes if name in ORDERS), "ifgo")
        d_a = torch.cat([d[gate] for gate in order], dim=-1)

        share = 1 / len(x) if "gradient_averaged" in mistakes else 1
        bias = d_a if "bias_gradient_not_summed" in mistakes else share * d_a.sum(0)
        if "bias_gradient_averaged" in mistakes:
            bias = d_a.mean(0)
        if "bias_gradient_halved" in mistakes:
            bias = bias / 2
        old_h = o * squashed if "new_h_for_old_h" in mistakes else h
        by_weight = [share * d_a.T @ x, share * d_a.T @ old_h]
        if "weight_gradient_transposed" in mistakes:
            by_weight = [gradient.T for gradient in by_weight]
        by_c = d_c if "forget_gate_missing_on_way_back" in mistakes else d_c * f
        by_states = d_a @ weight_hh, by_c
        if "gradients_in_other_order" in mistakes:
            by_states = by_states[::-1]
        return d_a @ weight_ih, *by_states, *by_weight, bias, bias

    return lstm_backward


def backward_probes(draw):
    def probe(name, draw, batch, inputs, hidden):
        states = {name: draw(batch, hidden) for name in ("h", "c")}
        tensors = {"x": draw(batch, inputs)} | states | weights(draw, inputs, hidden, gates=4)
        return Probe(name, tensors | {name: draw(batch, hidden) for name in ("grad_h", "grad_c")}, gradients=None)

    return [
        probe("one_number", draw.few, 1, 1, 1),
        probe("batch_1", draw.few, 1, 3, 2),
        probe("several", draw, 3, 4, 5),
    ]


QUESTION = Question(
    name="lstm_backward",
    assignment="lstm",
    task=5,
    points=3,
    place="forget_bias#gradient-path",
    call=Function(("x", "h", "c", *WEIGHTS, "grad_h", "grad_c"), GRADIENTS),
    truth=backward_truth,
    reference=backward_reference,
    mistakes=BACKWARD_MISTAKES,
    probes=backward_probes,
    exclusive=(
        frozenset(ORDERS),
        frozenset({"tanh_slope_missing_on_c", "tanh_slope_at_c", "grad_h_not_through_c"}),
        frozenset({"gradient_averaged", "bias_gradient_not_summed", "bias_gradient_averaged"}),
        frozenset({"tanh_slope_on_gates", "sigmoid_slope_missing"}),
        frozenset({"sigmoid_slope_on_g", "tanh_slope_missing_on_g"}),
    ),
    axes={
        **dict.fromkeys(("grad_h", "grad_c"), ("batch", "unit")),
        **dict.fromkeys(("grad_weight_ih", "grad_weight_hh"), ("row", "feature")),
        **dict.fromkeys(("grad_bias_ih", "grad_bias_hh"), ("row",)),
        "grad_x": ("batch", "feature"),
    },
    forbidden=RECURRENT | AUTOGRAD,
    stretch=True,
)
