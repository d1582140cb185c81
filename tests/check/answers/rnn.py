"""Answers to the assignment `rnn`."""

import torch
from torch import nn

import companion
from companion.check.engine.question import all_questions
from tests.check.answers import Program, changed

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

CELL = (
    STEP
    + """
class RNNCell(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.last = None
        self.weight_ih = nn.Parameter(torch.randn(hidden_size, input_size))
        self.weight_hh = nn.Parameter(torch.randn(hidden_size, hidden_size))
        self.bias_ih = nn.Parameter(torch.zeros(hidden_size))
        self.bias_hh = nn.Parameter(torch.zeros(hidden_size))

    def forward(self, x, h=None):
        if h is None:
            h = torch.zeros(x.size(0), self.hidden_size)
        new = rnn_step(x, h, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return new
"""
)
MADE_IH, MADE_HH = (f"        self.bias_{side} = nn.Parameter(torch.zeros(hidden_size))\n" for side in ("ih", "hh"))
BIASES, ZEROS = "self.bias_ih, self.bias_hh)", "h = torch.zeros(x.size(0), self.hidden_size)"
DEFAULT = f"        if h is None:\n            {ZEROS}\n"
IH_TRANSPOSED = [
    ("torch.randn(hidden_size, input_size)", "torch.randn(input_size, hidden_size)"),
    ("weight_ih.T", "weight_ih"),
]
CELL_WRONG = STEP_WRONG | {
    "one_bias": [(MADE_HH, ""), (BIASES, "self.bias_ih, 0)")],
    "no_bias": [(MADE_HH, ""), (MADE_IH, ""), (BIASES, "0, 0)")],
    "weights_transposed": [*IH_TRANSPOSED, ("weight_hh.T", "weight_hh")],
    "default_state_missing": [("h=None", "h"), (DEFAULT, "")],
    "default_state_ones": [("torch.zeros(x", "torch.ones(x")],
    "default_state_random": [("torch.zeros(x", "torch.randn(x")],
    "state_kept_between_calls": [
        (ZEROS, f"{ZEROS} if self.last is None else self.last"),
        ("return new", "self.last = new\n        return new"),
    ],
}

RNN = (
    STEP
    + """
def rnn(input, h_0, weight_ih, weight_hh, bias_ih, bias_hh):
    T, N, I = input.shape
    h = h_0[0]
    outputs = []
    for t in range(T):
        h = rnn_step(input[t], h, weight_ih, weight_hh, bias_ih, bias_hh)
        outputs.append(h)
    output = torch.stack(outputs)
    h_n = h.unsqueeze(0)
    return output, h_n
"""
)
NEXT = "rnn_step(input[t], h, "
RNN_WRONG = {name: edits for name, edits in STEP_WRONG.items() if name not in ("state_detached", "state_in_tuple")} | {
    "output_always_batch_first": [("torch.stack(outputs)", "torch.stack(outputs, dim=1)")],
    "input_always_batch_first": [("T, N, I", "N, T, I"), ("input[t]", "input[:, t]")],
    "all_batch_first": [("T, N, I", "N, T, I"), ("input[t]", "input[:, t]"), ("stack(outputs)", "stack(outputs, 1)")],
    "h_n_without_layer": [("h.unsqueeze(0)", "h")],
    "h_n_always_batch_first": [("h.unsqueeze(0)", "h.unsqueeze(1)")],
    "h_n_from_last_row": [("h.unsqueeze(0)", "output[:, -1]")],
    "h_n_is_output": [("h.unsqueeze(0)", "output")],
    "h_n_is_h_0": [("h.unsqueeze(0)", "h_0")],
    "h_n_from_first_step": [("h.unsqueeze(0)", "output[:1]")],
    "layer_in_output": [("h_0[0]", "h_0"), ("h.unsqueeze(0)", "h")],
    "output_concatenated": [("torch.stack", "torch.cat")],
    "output_not_stacked": [("torch.stack(outputs)", "outputs")],
    "output_only_last": [("return output,", "return output[-1],")],
    "only_output_returned": [("return output, h_n", "return output")],
    "results_swapped": [("return output, h_n", "return h_n, output")],
    "state_not_carried": [(NEXT, "rnn_step(input[t], h_0[0], ")],
    "given_state_ignored": [("h = h_0[0]", "h = torch.zeros(N, weight_hh.shape[0])")],
    "first_input_only": [("input[t]", "input[0]")],
    "last_step_missing": [("range(T)", "range(T - 1)")],
    "first_step_missing": [("range(T)", "range(1, T)")],
    "time_reversed": [("range(T)", "range(T - 1, -1, -1)")],
    "output_reversed": [("outputs.append(h)", "outputs.insert(0, h)")],
    "output_one_early": [
        ("        outputs.append(h)\n", ""), ("        h = rnn", "        outputs.append(h)\n        h = rnn"),
    ],
    "output_with_h_0": [("outputs = []", "outputs = [h]")],
    "tanh_not_in_state": [(SUM, "from_x + from_h"), ("append(h)", "append(torch.tanh(h))")],
    "state_detached_each_step": [(NEXT, "rnn_step(input[t], h.detach(), ")],
    "output_detached": [("append(h)", "append(h.detach())")],
    "h_n_detached": [("h.unsqueeze(0)", "h.unsqueeze(0).detach()")],
    "h_0_detached": [("h_0[0]", "h_0[0].clone().detach()")],
}  # fmt: skip

WINDOWS = """
def read_in_windows(cell, input, h, size):
    T = input.shape[0]
    states = []
    for start in range(0, T, size):
        window = input[start:start + size]
        h = h.detach()
        for x in window:
            h = cell(x, h)
        states.append(h)
    return states
"""
IN_STEPS = """
def read_in_windows(cell, input, h, size):
    states = []
    for t in range(len(input)):
        if t % size == 0:
            h = h.detach()
        h = cell(input[t], h)
        if (t + 1) % size == 0 or t + 1 == len(input):
            states.append(h)
    return states
"""
CUT = "        h = h.detach()\n"
CUT_BEFORE = IN_STEPS[IN_STEPS.index("        if t %") : IN_STEPS.index("        h = cell")]
KEPT_AFTER = IN_STEPS[IN_STEPS.index("        if (t") : IN_STEPS.index("    return")]
WINDOWS_WRONG = {
    "state_not_cut": [(CUT, "")],
    "state_detached_each_step": [("h = cell(x, h)", "h = cell(x, h.detach())")],
    "states_detached": [(CUT, ""), ("        states.append(h)", "        h = h.detach()\n        states.append(h)")],
    "state_not_carried": [
        ("        h = h.detach()\n", "        state = h.detach()\n"),
        ("h = cell(x, h)", "state = cell(x, state)"),
        ("append(h)", "append(state)"),
    ],
    "last_window_dropped": [("range(0, T, size)", "range(0, T - T % size, size)")],
    "size_as_number_of_windows": [
        ("start in range(0, T, size)", "window in input.chunk(size)"),
        ("        window = input[start:start + size]\n", ""),
    ],
    "states_of_all_steps": [("        states.append(h)", "            states.append(h)")],
    "only_last_state": [("return states", "return [h]")],
    "outputs_of_windows": [
        ("        for x", "        outputs = []\n        for x"),
        ("h = cell(x, h)", "h = cell(x, h)\n            outputs.append(h)"),
        ("states.append(h)", "states.append(torch.stack(outputs))"),
    ],
    "state_before_window": [("        states.append(h)\n", ""), (CUT, CUT + "        states.append(h)\n")],
    "first_state_in_list": [("states = []", "states = [h]")],
    "windows_end_one_late": [("start + size]", "start + size + 1]")],
    "windows_begin_one_late": [
        (
            WINDOWS,
            changed(
                IN_STEPS,
                (CUT_BEFORE, ""),
                (KEPT_AFTER, "        if t % size == 0:\n            states.append(h)\n            h = h.detach()\n"),
            ),
        )
    ],
    "windows_end_one_early": [("start + size]", "start + size - 1]")],
    "windows_overlap": [("range(0, T, size)", "range(T - size + 1)")],
    "last_window_padded": [
        (
            "        h = h.detach()\n",
            (
                "        zeros = torch.zeros(size - len(window), *window.shape[1:])\n"
                "        window = torch.cat([window, zeros])\n        h = h.detach()\n"
            ),
        )
    ],
    "first_window_missing": [("range(0, T, size)", "range(size, T, size)")],
    "windows_reversed": [("range(0, T, size)", "reversed(range(0, T, size))")],
    "time_in_second_dimension": [
        ("input.shape[0]", "input.shape[1]"),
        ("input[start:start + size]", "input[:, start:start + size].transpose(0, 1)"),
    ],
    "earlier_windows_without_gradient": [
        (
            "            h = cell(x, h)",
            "            with torch.set_grad_enabled(start + size >= T):\n                h = cell(x, h)",
        )
    ],
    "input_detached": [("in window", "in window.detach()")],
}

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

# Right in unusual ways

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


CELLS = {
    "parameters in another order": [
        ("        self.weight_ih = nn.Parameter(torch.randn(hidden_size, input_size))\n", ""),
        (MADE_HH, f"{MADE_HH}        self.weight_ih = nn.Parameter(torch.randn(hidden_size, input_size))\n"),
    ],
    "a buffer for the first state": [
        ("self.last = None", "self.register_buffer('zero', torch.zeros(1, hidden_size))"),
        (ZEROS, "h = self.zero.expand(len(x), -1)"),
    ],
    "call in place of forward": [("def forward", "def __call__")],
    "a module for the tanh": [("self.last = None", "self.activation = nn.Tanh()")],
    "weights of torch's own layer": [
        ("        self.last = None\n", "        start = nn.RNNCell(input_size, hidden_size)\n"),
        ("torch.randn(hidden_size, input_size)", "start.weight_ih.detach().clone()"),
    ],
}
LOOPS = {
    "written step by step": [
        ("outputs = []", "output = input.new_zeros(T, N, weight_hh.shape[0])"),
        ("outputs.append(h)", "output[t] = h"),
        ("    output = torch.stack(outputs)\n", ""),
    ],
    "with the layer's dimension": [("h_0[0]", "h_0"), ("torch.stack", "torch.cat"), ("h.unsqueeze(0)", "h")],
    "in a list": [("return output, h_n", "return [output, h_n]")],
}
READERS = {
    "in steps": [(WINDOWS, IN_STEPS)],
    "cut afterwards": [(CUT, ""), ("append(h)", "append(h)\n        h = h.detach()")],
    "cut by data": [("h.detach()", "h.data")],
    "a graph of its own": [("h.detach()", "h.detach().requires_grad_()")],
    "a tuple": [("return states", "return tuple(states)")],
    "stacked": [("return states", "return torch.stack(states)")],
    "a generator": [("    states = []\n", ""), ("states.append(h)", "yield h"), ("    return states\n", "")],
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


# What may not be an answer


def by_torchs_layer(input, h_0, *weights):
    layer = nn.RNN(input.shape[2], h_0.shape[2])
    names = [name for name, _ in layer.named_parameters()]
    return torch.func.functional_call(layer, dict(zip(names, weights)), (input, h_0))


def by_torchs_cell(cell, input, h, size):
    theirs = nn.RNNCell(cell.input_size, cell.hidden_size)
    theirs.load_state_dict(cell.state_dict())
    states = []
    for window in input.split(size):
        h = h.detach()
        for x in window:
            h = theirs(x, h)
        states.append(h)
    return states


def by_autograd(input, h_0, *rest):
    *weights, grad_output, grad_h_n = rest
    given = [one.clone().requires_grad_() for one in (input, h_0, *weights)]
    return torch.autograd.grad(Program(RNN).answer()(*given), given, (grad_output, grad_h_n))


def by_vjp(input, h_0, *rest):
    *weights, grad_output, grad_h_n = rest
    return torch.func.vjp(Program(RNN).answer(), input, h_0, *weights)[1]((grad_output, grad_h_n))


OTHER_WEIGHTS = [
    ("from_x + from_h", "torch.cat([x, h], 1) @ torch.cat([weight_hh, weight_ih], 1).T + bias_ih + bias_hh"),
]

# It works for one sequence only.
ONE_SEQUENCE = [("x @ weight_ih.T", "(weight_ih @ x.view(weight_ih.shape[1]))[None]")]

# Two nn.Linear are a right step with wrong names; what goes wrong besides is named with them.
LINEARS = """
    class RNNCell(nn.Module):
        def __init__(self, input_size, hidden_size):
            super().__init__()
            self.i2h = nn.Linear(input_size, hidden_size)
            self.h2h = nn.Linear(hidden_size, hidden_size)

        def forward(self, x, h=None):
            h = torch.zeros(len(x), self.h2h.in_features) if h is None else h
            return torch.tanh(self.i2h(x) + self.h2h(h))
"""

ANSWERS = {
    "rnn_step": Program(STEP, STEP_WRONG, also_wrong=[
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
    ]),
    "rnn_cell": Program(CELL, CELL_WRONG, also_wrong=[
        ("weights_transposed", IH_TRANSPOSED),
        ("default_state_random", [("torch.zeros(x", "torch.rand(x")]),
        ("default_state_missing", [(DEFAULT, "")]),
        ("one_bias", [(MADE_IH, ""), (BIASES, "0, self.bias)"), ("self.bias_hh =", "self.bias =")]),
        ("library_layer", nn.RNNCell),
        ("library_layer", companion.RNNCell),
        ("parameter_names", LINEARS),
        (("parameter_names", "sigmoid_for_tanh"), LINEARS.replace("torch.tanh", "torch.sigmoid")),
        (("parameter_names", "default_state_ones"), changed(LINEARS, ("i2h", "input"), ("h2h", "recurrent"), ("zeros",
        "ones"))),
    ], also_right=CELLS, pairs=[
        ("one_bias", "tanh_missing"),
        ("default_state_missing", "recurrent_weights_transposed"),
        ("default_state_random", "sigmoid_for_tanh"),
        ("weights_transposed", "tanh_on_input_only"),
        ("state_detached", "bias_ih_missing"),
    ]),
    "rnn": Program(RNN, RNN_WRONG, also_wrong=[
        ("concatenated_in_other_order", OTHER_WEIGHTS),
        ("h_n_from_last_row", [("h.unsqueeze(0)", "output[:, -1].unsqueeze(0)")]),
        ("state_detached_each_step", [("append(h)", "append(h)\n        h = h.detach()")]),
        ("state_detached_each_step", [("append(h)", "append(h)\n        h = h.data"), ("h.unsqueeze(0)",
        "output[-1:]")]),
        ("layer_in_output", [("h_0[0]", "h_0")]),
        ("last_step_missing", [("range(T)", "range(T - 1)"), ("stack(outputs)", "stack(outputs + [0 * h])")]),
        ("first_step_missing", [("range(T)", "range(1, T)"), ("stack(outputs)", "stack([0 * h] + outputs)")]),
        ("time_reversed", [("range(T)", "reversed(range(T))"), ("stack(outputs)", "stack(outputs[::-1])")]),
        ("tanh_not_in_state", [*RNN_WRONG["tanh_not_in_state"], ("h.unsqueeze", "h.tanh().unsqueeze")]),
        ("library_layer", by_torchs_layer),
        ("library_layer", lambda i, h, *w: torch.rnn_tanh(i, h, w, True, 1, 0.0, False, False, False)),
        ("library_layer", all_questions()["rnn"].truth),
        ("library_layer", all_questions()["rnn"].reference(frozenset())),
        ("single_batch_only", ONE_SEQUENCE),
    ], also_right=LOOPS, pairs=[
        ("output_always_batch_first", "h_n_without_layer"),
        ("recurrent_weights_transposed", "h_n_always_batch_first"),
        ("bias_hh_missing", "given_state_ignored"),
        ("state_detached_each_step", "tanh_missing"),
        ("results_swapped", "bias_ih_missing"),
        ("time_reversed", "h_n_is_h_0"),
        ("last_step_missing", "sigmoid_for_tanh"),
        ("output_concatenated", "h_n_without_layer"),
        ("only_output_returned", "recurrent_weights_transposed"),
    ]),
    "windows": Program(WINDOWS, WINDOWS_WRONG, also_wrong=[
        ("only_last_state", [("return states", "return h")]),
        ("state_not_carried", [(CUT, "        h = torch.zeros_like(h)\n")]),
        ("last_window_dropped", [("range(0, T, size)", "range(0, max(T // size, 1) * size, size)")]),
        ("library_layer", by_torchs_cell),
        ("returns_none", lambda cell, input, h, size: None),
        ("not_a_tensor", [("append(h)", "append(h.tolist())")]),
        ("not_a_tensor", [("append(h)", "append((h, h))")]),
    ], also_right=READERS, pairs=[
        ("state_not_cut", "last_window_dropped"),
        ("state_detached_each_step", "first_state_in_list"),
        ("last_window_dropped", "states_detached"),
        ("state_not_cut", "size_as_number_of_windows"),
    ]),
    "rnn_backward": Program(BACKWARD, BACKWARD_WRONG, also_wrong=[
        ("weight_gradient_transposed", [("d_a.T @ h[t]", "h[t].T @ d_a")]),
        ("library_layer", by_autograd),
        ("library_layer", by_vjp),
    ], also_right=BACKWARDS, pairs=[
        ("tanh_slope_missing", "bias_gradient_halved"),
        ("new_h_for_old_h", "grad_h_n_ignored"),
        ("recurrent_weights_transposed_on_way_back", "h_0_gradient_missing"),
        ("input_gradient_reversed", "gradient_averaged"),
        ("future_ignored", "h_0_gradient_without_layer"),
    ]),
}  # fmt: skip
