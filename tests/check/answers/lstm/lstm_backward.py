"""Answers to the question `lstm_backward`."""

import torch

from tests.check.answers.lstm.pairs import program
from tests.check.answers.lstm.step import ORDERS
from tests.check.lstm_answers import BACKWARD

WRONG = {
    name: [
        ("di * i * (1 - i), df * f * (1 - f), dg * (1 - g * g), do * o * (1 - o)", "I, F, G, O"),
        ("    da =", "    I, F = di * i * (1 - i), df * f * (1 - f)\n"
                     "    G, O = dg * (1 - g * g), do * o * (1 - o)\n    da ="),
        ("[I, F, G, O]", f"[{', '.join(order).upper()}]"),
    ]
    for name, order in ORDERS.items()
} | {
    "sigmoid_slope_missing": [("di * i * (1 - i)", "di"), ("df * f * (1 - f)", "df"), ("do * o * (1 - o)", "do")],
    "tanh_slope_missing_on_g": [("dg * (1 - g * g)", "dg")],
    "tanh_slope_missing_on_c": [("grad_h * o * (1 - t * t)", "grad_h * o")],
    "tanh_slope_at_c": [("(1 - t * t)", "(1 - c1 ** 2)")],
    "grad_c_ignored": [("dc = grad_c + ", "dc = ")],
    "grad_h_not_through_c": [("dc = grad_c + grad_h * o * (1 - t * t)", "dc = grad_c")],
    "forget_gate_missing_on_way_back": [("gc = dc * f", "gc = dc")],
    "new_c_for_old_c": [("df = dc * c", "df = dc * c1")],
    "new_h_for_old_h": [("da.T @ h", "da.T @ (o * t)")],
    "tanh_missing_in_grad_o": [("do = grad_h * t", "do = grad_h * c1")],
    "i_and_g_exchanged": [("di = dc * g", "di = dc * i"), ("dg = dc * i", "dg = dc * g")],
    "bias_gradient_halved": [("gb = da.sum(0)", "gb = da.sum(0) / 2")],
    "bias_gradient_not_summed": [("da.sum(0)", "da")],
    "gradient_averaged": [("da.sum(0)", "da.mean(0)"), ("da.T @ x", "da.T @ x / len(x)"),
                          ("da.T @ h", "da.T @ h / len(x)")],
    "weight_gradient_transposed": [("da.T @ x", "x.T @ da"), ("da.T @ h", "h.T @ da")],
    "sigmoid_slope_on_g": [("dg * (1 - g * g)", "dg * g * (1 - g)")],
    "tanh_slope_on_gates": [("di * i * (1 - i)", "di * (1 - i * i)"), ("df * f * (1 - f)", "df * (1 - f * f)"),
                            ("do * o * (1 - o)", "do * (1 - o * o)")],
    "bias_gradient_averaged": [("da.sum(0)", "da.mean(0)")],
    "gradients_in_other_order": [("return gx, gh, gc", "return gx, gc, gh")],
}  # fmt: skip


def by_autograd(x, h, c, *rest):
    *weights, grad_h, grad_c = rest
    given = [tensor.clone().requires_grad_() for tensor in (x, h, c, *weights)]
    i, f, g, o = (given[0] @ given[3].T + given[5] + given[1] @ given[4].T + given[6]).chunk(4, 1)
    new = f.sigmoid() * given[2] + i.sigmoid() * g.tanh()
    return torch.autograd.grad((o.sigmoid() * new.tanh(), new), given, (grad_h, grad_c))


PROGRAM = program("lstm_backward", BACKWARD, WRONG, [("library_layer", by_autograd)])  # fmt: skip
