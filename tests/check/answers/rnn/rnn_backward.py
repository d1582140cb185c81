"""Answers to the question `rnn_backward`."""

import torch

from tests.check.answers import Program
from tests.check.answers.rnn.rnn import RNN

BACKWARD = """
def rnn_backward(input, h_0, weight_ih, weight_hh, bias_ih, bias_hh, grad_output, grad_h_n):
    T, N, I = input.shape
    h = [h_0[0]]
    a = []
    for x in input:
        a.append(x @ weight_ih.T + bias_ih + h[-1] @ weight_hh.T + bias_hh)
        h.append(torch.tanh(a[-1]))
    grad_input = torch.zeros_like(input)
    d_W_ih, d_W_hh = torch.zeros_like(weight_ih), torch.zeros_like(weight_hh)
    d_b = torch.zeros_like(bias_ih)
    from_future = grad_h_n[0]
    for t in reversed(range(T)):
        d_h = grad_output[t] + from_future
        d_a = d_h * (1 - h[t + 1] ** 2)
        grad_input[t] = d_a @ weight_ih
        d_W_ih += d_a.T @ input[t]
        d_W_hh += d_a.T @ h[t]
        d_b += d_a.sum(0)
        from_future = d_a @ weight_hh
    grad_h_0 = from_future.unsqueeze(0)
    return grad_input, grad_h_0, d_W_ih, d_W_hh, d_b, d_b
"""
BACKWARD_WRONG = {
    "tanh_slope_missing": [("d_h * (1 - h[t + 1] ** 2)", "d_h")],
    "future_ignored": [("grad_output[t] + from_future", "grad_output[t]")],
    "input_gradient_reversed": [
        ("grad_input = torch.zeros_like(input)", "grad_input = []"),
        ("grad_input[t] = d_a @ weight_ih", "grad_input.append(d_a @ weight_ih)"),
        ("return grad_input", "return torch.stack(grad_input)"),
    ],
    "new_h_for_old_h": [("d_a.T @ h[t]", "d_a.T @ h[t + 1]")],
    "recurrent_weights_transposed_on_way_back": [("from_future = d_a @ weight_hh", "from_future = d_a @ weight_hh.T")],
    "tanh_slope_at_old_h": [("h[t + 1] ** 2", "h[t] ** 2")],
    "tanh_slope_not_squared": [("h[t + 1] ** 2", "h[t + 1]")],
    "tanh_slope_at_sum": [("h[t + 1] ** 2", "a[t] ** 2")],
    "sigmoid_slope": [("(1 - h[t + 1] ** 2)", "h[t + 1] * (1 - h[t + 1])")],
    "tanh_slope_missing_on_way_back": [("from_future = d_a @ weight_hh", "from_future = d_h @ weight_hh")],
    "tanh_slope_missing_for_future": [
        ("d_a = d_h * (1 - h[t + 1] ** 2)", "d_a = grad_output[t] * (1 - h[t + 1] ** 2) + from_future")
    ],
    "recurrent_weights_missing_on_way_back": [("from_future = d_a @ weight_hh", "from_future = d_a")],
    "one_step_back_only": [
        ("from_future = d_a @ weight_hh", "from_future = grad_output[t] * (1 - h[t + 1] ** 2) @ weight_hh")
    ],
    "time_not_reversed": [("reversed(range(T))", "range(T)")],
    "grad_h_n_ignored": [("grad_h_n[0]", "torch.zeros_like(h[0])")],
    "grad_output_last_only": [("grad_output[t] + from_future", "(grad_output[-1] if t == T - 1 else 0) + from_future")],
    "gradient_overwritten": [("d_W_ih +=", "d_W_ih ="), ("d_W_hh +=", "d_W_hh ="), ("d_b +=", "d_b =")],
    "h_0_missing_in_gradient": [("        d_W_hh +=", "        if t > 0: d_W_hh +=")],
    "h_0_gradient_missing": [("from_future.unsqueeze(0)", "torch.zeros_like(h_0)")],
    "h_0_gradient_without_weights": [("from_future.unsqueeze(0)", "d_a.unsqueeze(0)")],
    "h_0_gradient_without_layer": [("from_future.unsqueeze(0)", "from_future")],
    "one_bias_gradient": [("d_b, d_b", "d_b")],
    "bias_gradient_halved": [("d_b, d_b", "d_b / 2, d_b / 2")],
    "bias_gradient_not_summed": [("torch.zeros_like(bias_ih)", "0"), ("d_a.sum(0)", "d_a")],
    "gradient_averaged": [("d_W_ih, d_W_hh, d_b, d_b", "d_W_ih / N, d_W_hh / N, d_b / N, d_b / N")],
    "gradient_averaged_over_time": [("d_W_ih, d_W_hh, d_b, d_b", "*(d / T for d in (d_W_ih, d_W_hh, d_b, d_b))")],
    "weight_gradient_transposed": [
        ("d_W_ih, d_W_hh = torch.zeros_like(weight_ih), torch.zeros_like(weight_hh)", "d_W_ih = d_W_hh = 0"),
        ("d_W_ih +=", "d_W_ih = d_W_ih +"),
        ("d_a.T @ input[t]", "input[t].T @ d_a"),
        ("d_W_hh +=", "d_W_hh = d_W_hh +"),
        ("d_a.T @ h[t]", "h[t].T @ d_a"),
    ],
}
BACKWARDS = {
    "numpy": [
        (
            "    T, N, I",
            (
                "    weights = weight_ih, weight_hh, bias_ih, bias_hh\n"
                "    weight_ih, weight_hh, bias_ih, bias_hh = (one.numpy() for one in weights)\n"
                "    input, h_0, grad_output, grad_h_n = (one.numpy() for one in (input, h_0, grad_output, grad_h_n))\n"
                "    T, N, I"
            ),
        ),
        ("torch.tanh", "np.tanh"),
        ("torch.zeros_like", "np.zeros_like"),
        ("from_future.unsqueeze(0)", "from_future[None]"),
        (
            "return grad_input, grad_h_0, d_W_ih, d_W_hh, d_b, d_b",
            "return [torch.from_numpy(d) for d in (grad_input, grad_h_0, d_W_ih, d_W_hh, d_b, d_b)]",
        ),
        ("def rnn_backward", "import numpy as np\ndef rnn_backward"),
    ],
    "without gradients": [
        ("    T, N", "    torch.set_grad_enabled(False)\n    T, N"),
        ("    return", "    torch.set_grad_enabled(True)\n    return"),
    ],
}


def by_autograd(input, h_0, *rest):
    *weights, grad_output, grad_h_n = rest
    given = [tensor.clone().requires_grad_() for tensor in (input, h_0, *weights)]
    return torch.autograd.grad(Program(RNN).answer()(*given), given, (grad_output, grad_h_n))


def by_vjp(input, h_0, *rest):
    *weights, grad_output, grad_h_n = rest
    return torch.func.vjp(Program(RNN).answer(), input, h_0, *weights)[1]((grad_output, grad_h_n))


PROGRAM = Program(BACKWARD, BACKWARD_WRONG, also_wrong=[
    ("weight_gradient_transposed", [("d_a.T @ h[t]", "h[t].T @ d_a")]),
    ("library_layer", by_autograd),
    ("library_layer", by_vjp),
], also_right=BACKWARDS, pairs=[
    ("tanh_slope_missing", "bias_gradient_halved"),
    ("new_h_for_old_h", "grad_h_n_ignored"),
    ("recurrent_weights_transposed_on_way_back", "h_0_gradient_missing"),
    ("input_gradient_reversed", "gradient_averaged"),
    ("future_ignored", "h_0_gradient_without_layer"),
])  # fmt: skip
