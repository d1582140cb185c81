"""Answers to the question `rnn_step`."""

import torch

from tests.check.answers import Program

STEP = """
def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    from_x = x @ weight_ih.T + bias_ih
    from_h = h @ weight_hh.T + bias_hh
    h_new = torch.tanh(from_x + from_h)
    return h_new
"""
SUM = "torch.tanh(from_x + from_h)"
STEP_WRONG = {
    "tanh_missing": [(SUM, "from_x + from_h")],
    "recurrent_weights_transposed": [("h @ weight_hh.T", "torch.mm(h, weight_hh)")],
    "view_for_transpose": [
        ("weight_ih.T", "weight_ih.view(x.size(1), -1)"),
        ("weight_hh.T", "weight_hh.view(h.size(1), -1)"),
    ],
    "bias_ih_missing": [(" + bias_ih", "")],
    "bias_hh_missing": [(" + bias_hh", "")],
    "bias_ih_twice": [("+ bias_hh", "+ bias_hh + bias_ih")],
    "bias_hh_twice": [("+ bias_ih", "+ bias_ih + bias_hh")],
    "hidden_ignored": [("h @ weight_hh.T + bias_hh", "bias_hh")],
    "input_ignored": [("x @ weight_ih.T + bias_ih", "bias_ih")],
    "sigmoid_for_tanh": [(SUM, "1 / (1 + torch.exp(-from_x - from_h))")],
    "relu_for_tanh": [(SUM, "F.relu(from_x + from_h)")],
    "concatenated_in_other_order": [
        (SUM, "torch.tanh(torch.hstack([h, x]) @ torch.hstack([weight_ih, weight_hh]).T + bias_ih + bias_hh)")
    ],
    "tanh_on_each_part": [(SUM, "from_x.tanh() + from_h.tanh()")],
    "tanh_on_input_only": [(SUM, "torch.tanh(from_x) + from_h")],
    "tanh_on_hidden_only": [(SUM, "from_x + torch.tanh(from_h)")],
    "biases_after_tanh": [(" + bias_ih", ""), (" + bias_hh", ""), (SUM, SUM + " + bias_ih + bias_hh")],
    "tanh_twice": [(SUM, f"torch.tanh({SUM})")],
    "tanh_by_sigmoid": [(SUM, "2 * torch.sigmoid(from_x + from_h) - 1")],
    "hard_tanh": [(SUM, "F.hardtanh(from_x + from_h)")],
    "softmax_for_tanh": [(SUM, "F.softmax(from_x + from_h, dim=1)")],
    "parts_multiplied": [("from_x + from_h", "from_x * from_h")],
    "recurrent_weights_missing": [("h @ weight_hh.T", "h")],
    "old_h_added": [("return h_new", "return h + h_new")],
    "state_detached": [("h @ weight_hh.T", "h.data @ weight_hh.T")],
    "weights_detached": [
        ("    from_x =", "    weight_ih, weight_hh = weight_ih.data, weight_hh.data\n    from_x ="),
        ("+ bias_ih", "+ bias_ih.data"),
        ("+ bias_hh", "+ bias_hh.data"),
    ],
    "input_detached": [("x @ weight_ih.T", "torch.tensor(x.tolist()) @ weight_ih.T")],
    "state_in_tuple": [("return h_new", "return h_new, h_new")],
}

STEPS = {
    "einsum": (
        "lambda x, h, w, u, b, d: (torch.einsum('ni,hi->nh', x, w) + torch.einsum('nj,hj->nh', h, u) + b + d).tanh()"
    ),
    "float32": "lambda *all: rnn_step(*(one.float() for one in all)).double()",
    "vmap": "lambda x, h, *w: torch.func.vmap(lambda a, b: torch.tanh(w[0] @ a + w[1] @ b + w[2] + w[3]))(x, h)",
    "in place": "lambda x, h, w, u, b, d: torch.addmm(b, x, w.T).addmm_(h, u.T).add_(d).tanh_()",
}


class Elman(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, h, w, u, b, d):
        new = torch.tanh(x @ w.T + h @ u.T + b + d)
        ctx.save_for_backward(x, h, w, u, new)
        return new

    @staticmethod
    def backward(ctx, grad):
        x, h, w, u, new = ctx.saved_tensors
        a = grad * (1 - new * new)
        return a @ w, a @ u, a.t() @ x, a.t() @ h, a.sum(0), a.sum(0)


OTHER_WEIGHTS = [
    ("from_x + from_h", "torch.cat([x, h], 1) @ torch.cat([weight_hh, weight_ih], 1).T + bias_ih + bias_hh"),
]

# works for one sequence only
ONE_SEQUENCE = [("x @ weight_ih.T", "(weight_ih @ x.view(weight_ih.shape[1]))[None]")]

PROGRAM = Program(STEP, STEP_WRONG, also_wrong=[
    ("view_for_transpose", [("weight_ih.T", "weight_ih.reshape(x.shape[1], h.shape[1])")]),
    ("concatenated_in_other_order", OTHER_WEIGHTS),
    ("biases_after_tanh", [("+ bias_ih", ""), ("return h_new", "return h_new + bias_ih")]),
    ("biases_after_tanh", [("+ bias_hh", ""), ("return h_new", "return h_new + bias_hh")]),
    ("library_layer", lambda *given: torch.rnn_tanh_cell(*given)),
    ("library_layer", lambda *given: torch._VF.rnn_tanh_cell(*given)),
    ("library_layer", lambda *given: torch.ops.aten.rnn_tanh_cell(*given)),
    ("single_batch_only", ONE_SEQUENCE),
], also_right=STEPS | {"an autograd function": Elman.apply}, pairs=[
    ("bias_hh_missing", "tanh_missing"),
    ("recurrent_weights_transposed", "bias_ih_missing"),
    ("sigmoid_for_tanh", "recurrent_weights_missing"),
    ("relu_for_tanh", "bias_hh_twice"),
    ("old_h_added", "recurrent_weights_transposed"),
])  # fmt: skip
