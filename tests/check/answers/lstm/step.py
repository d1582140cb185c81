"""One step of an LSTM and its mistakes, shared by answers to `lstm` and `lstm_parameters`."""

from itertools import permutations

ORDERS = {f"gates_{'_'.join(order)}": order for order in permutations("ifgo") if order != tuple("ifgo")}

GATES = """
def gates(x, h, W, U, b1, b2):
    a = x @ W.T + b1 + h @ U.T + b2
    i, f, g, o = a.chunk(4, 1)
    i, f, g, o = torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)
    return i, f, g, o
"""
GATES_WRONG = {name: [("i, f, g, o = a", f"{', '.join(order)} = a")] for name, order in ORDERS.items()} | {
    "gates_interleaved": [("a.chunk(4, 1)", "(a[:, q::4] for q in range(4))")],
    "hidden_ignored": [("h @ U.T + b2", "b2")],
    "input_ignored": [("x @ W.T + b1", "b1")],
    "bias_ih_missing": [("x @ W.T + b1", "x @ W.T")],
    "bias_hh_missing": [("h @ U.T + b2", "h @ U.T")],
    "bias_ih_twice": [("h @ U.T + b2", "h @ U.T + b2 + b1")],
    "bias_hh_twice": [("h @ U.T + b2", "h @ U.T + 2 * b2")],
    "recurrent_weights_transposed": [("h @ U.T", "torch.cat([h @ u for u in U.chunk(4)], 1)")],
    "view_for_transpose": [("W.T", "W.reshape(W.shape[1], -1)"), ("U.T", "U.reshape(U.shape[1], -1)")],
    "tanh_missing_on_g": [("torch.tanh(g)", "g")],
    "sigmoid_on_g": [("torch.tanh(g)", "torch.sigmoid(g)")],
    "relu_on_g": [("torch.tanh(g)", "F.relu(g)")],
    "sigmoid_missing_on_i": [("torch.sigmoid(i)", "i")],
    "sigmoid_missing_on_f": [("torch.sigmoid(f)", "f")],
    "sigmoid_missing_on_o": [("torch.sigmoid(o)", "o")],
    "tanh_on_i": [("torch.sigmoid(i)", "torch.tanh(i)")],
    "tanh_on_f": [("torch.sigmoid(f)", "torch.tanh(f)")],
    "tanh_on_o": [("torch.sigmoid(o)", "torch.tanh(o)")],
    "tanh_on_all_gates": [("torch.sigmoid(", "torch.tanh(")],
    "gates_not_activated": [("torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)", "i, f, g, o")],
    "hard_sigmoid": [("torch.sigmoid(", "F.hardsigmoid(")],
    "softmax_over_gates": [(f"torch.sigmoid({gate})", f"{gate}.softmax(1)") for gate in "ifo"],
    "forget_bias_added": [("torch.sigmoid(f)", "torch.sigmoid(f + 1)")],
    "biases_after_activation": [
        ("x @ W.T + b1", "x @ W.T"), ("h @ U.T + b2", "h @ U.T"),
        ("torch.tanh(g)", "torch.tanh(g) + (b1 + b2).chunk(4)[2]"),
        *((f"torch.sigmoid({gate})", f"torch.sigmoid({gate}) + (b1 + b2).chunk(4)[{place}]")
          for gate, place in (("i", 0), ("f", 1), ("o", 3))),
    ],
    "sigmoid_turned": [("torch.sigmoid(", "torch.sigmoid(-")],
}  # fmt: skip

STEP = (
    GATES
    + """
def step(x, h, c, W, U, b1, b2):
    i, f, g, o = gates(x, h, W, U, b1, b2)
    c = f * c + i * g
    h = o * torch.tanh(c)
    return h, c
"""
)
STEP_WRONG = GATES_WRONG | {
    "tanh_missing_on_c": [("torch.tanh(c)", "c")],
    "sigmoid_on_c": [("torch.tanh(c)", "torch.sigmoid(c)")],
    "tanh_on_product": [("o * torch.tanh(c)", "torch.tanh(o * c)")],
    "c_squashed": [("c = f * c + i * g", "c = torch.tanh(f * c + i * g)")],
    "tanh_kept_in_c": [("c = f * c + i * g", "c = torch.tanh(f * c + i * g)"), ("o * torch.tanh(c)", "o * c")],
    "h_from_old_c": [("c = f * c + i * g", "old = c; c = f * c + i * g"), ("torch.tanh(c)", "torch.tanh(old)")],
    "new_h_too_early": [("h = o * torch.tanh(c)", "h = torch.tanh(c); h = gates(x, h, W, U, b1, b2)[3] * h")],
    "forget_gate_missing": [("f * c + i", "c + i")],
    "input_gate_missing": [("f * c + i * g", "f * c + g")],
    "output_gate_missing": [("o * torch.tanh(c)", "torch.tanh(c)")],
    "coupled_gates": [("f * c + i * g", "f * c + (1 - f) * g")],
    "forget_gate_on_sum": [("f * c + i * g", "f * (c + i * g)")],
    "forget_gate_on_new_content": [("f * c + i * g", "c + f * (i * g)")],
    "old_c_ignored": [("f * c + i * g", "i * g")],
    "input_added_not_gated": [("f * c + i * g", "f * c + (i + g)")],
}
