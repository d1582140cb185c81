"""Answers to the assignment `lstm`, made of the same lines as those to `lstm_parameters`.

The other right programs are those of tests/check/lstm_answers.py, which the grader's tests share.
"""

from itertools import permutations

import torch
from torch import nn

import companion
from companion.check.engine.question import all_questions
from tests.check.answers import Program, changed, drawn_pairs
from tests.check.lstm_answers import CELL_HEAD, CELLS, SOURCES

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

# With the states, where a program says h0, c0 and returns h_n, c_n
STATES_WRONG = {
    "state_detached": [("h0, c0 = state", "h0, c0 = state[0].detach(), state[1].data")],
    "state_read_as_c_h": [("h0, c0 = state", "c0, h0 = state")],
    "state_returned_as_c_h": [("(h_n, c_n)", "(c_n, h_n)")],
    "state_swapped": [("h0, c0 = state", "c0, h0 = state"), ("(h_n, c_n)", "(c_n, h_n)")],
}
DEFAULTS_WRONG = {
    "default_state_missing": [("if state is None:", "if False:")],
    "default_state_ones": [("torch.zeros(", "torch.ones(")],
    "default_state_random": [("torch.zeros(", "torch.randn(")],
    "state_kept_between_calls": [
        ("if state is None:", "state = state or getattr(self, 'state', None)\n        if state is None:"),
        ("        return", "        self.state = h_n, c_n\n        return"),
    ],
}
DEFAULTS_OTHERWISE = [
    ("default_state_random", [("torch.zeros(", "torch.rand(")]),
    ("state_kept_between_calls", [
        DEFAULTS_WRONG["state_kept_between_calls"][0],
        ("        return", "        self.state = h_n.detach(), c_n.detach()\n        return"),
    ]),
]  # fmt: skip

CELL = (
    STEP
    + """
class LSTMCell(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        H = self.H = hidden_size
        self.weight_ih = nn.Parameter(torch.randn(4 * H, input_size))
        self.weight_hh = nn.Parameter(torch.randn(4 * H, H))
        self.bias_ih = nn.Parameter(torch.randn(4 * H))
        self.bias_hh = nn.Parameter(torch.randn(4 * H))

    def forward(self, x, state=None):
        if state is None:
            state = torch.zeros(len(x), self.H), torch.zeros(len(x), self.H)
        h0, c0 = state
        h_n, c_n = step(x, h0, c0, *self.parameters())
        return (h_n, c_n)
"""
)
CELL_WRONG = STEP_WRONG | STATES_WRONG | DEFAULTS_WRONG | {
    "old_c_returned": [("(h_n, c_n)", "(h_n, c0)")],
    "only_h_returned": [("(h_n, c_n)", "h_n")],
    "state_returned_nested": [("(h_n, c_n)", "h_n, (h_n, c_n)")],
    "c_detached": [("f * c + i", "f * c.data + i")],
    "one_bias": [
        ("        self.bias_hh = nn.Parameter(torch.randn(4 * H))\n", ""), ("*self.parameters()",
        "*self.parameters(), 0"),
    ],
    "weights_transposed": [
        ("(4 * H, input_size)", "(input_size, 4 * H)"), ("(4 * H, H)", "(H, 4 * H)"), ("W.T", "W"), ("U.T", "U"),
    ],
}  # fmt: skip

# A layer, or several, with all options of torch's
RUN = (
    STEP
    + """
def run(x, h, c, on, W, U, b1, b2, V=0):
    h_start, c_start = h, c
    said = []
    for t in range(len(x)):
        old_h, old_c = h, c
        h, c = step(x[t], h, c, W, U, b1, b2)
        if torch.is_tensor(V):
            h = h @ V.T
        said.append(h * on[t])
        h, c = torch.where(on[t], h, old_h), torch.where(on[t], c, old_c)
    return torch.stack(said), h, c
"""
)
NETWORK = (
    RUN
    + """
class LSTM(nn.Module):
    def __init__(self, input_size, hidden_size, OPTIONS):
        super().__init__()
        self.H, self.L, self.D, self.R = hidden_size, num_layers, 1 + bidirectional, proj_size or hidden_size
        self.batch_first, self.p = batch_first, dropout
        H, R = self.H, self.R
        for k in range(num_layers):
            size = input_size if k == 0 else R * self.D
            for end in ["", "_reverse"][:self.D]:
                shapes = [("weight_ih", (4 * H, size)), ("weight_hh", (4 * H, R))]
                if bias:
                    shapes += [("bias_ih", (4 * H,)), ("bias_hh", (4 * H,)), ]
                if proj_size:
                    shapes += [("weight_hr", (R, H))]
                for name, shape in shapes:
                    self.register_parameter(f"{name}_l{k}{end}", nn.Parameter(torch.randn(shape)))

    def forward(self, x, state=None):
        packed = x if isinstance(x, PackedSequence) else None
        if packed:
            x, lengths = pad_packed_sequence(x)
        elif self.batch_first:
            x = x.transpose(0, 1)
        T, N, _ = x.shape
        on = torch.arange(T)[:, None, None] < (lengths[:, None] if packed else T)
        if state is None:
            state = torch.zeros(self.L * self.D, N, self.R), torch.zeros(self.L * self.D, N, self.H)
        h0, c0 = state
        hs, cs, layers, given = [], [], [], x
        for k in range(self.L):
            sides = []
            for d in range(self.D):
                turn = (lambda z: z.flip(0)) if d else (lambda z: z)
                h, c = h0[k * self.D + d], c0[k * self.D + d]
                end = f"_l{k}" + "_reverse" * d
                weights = {name.split("_l")[0]: p for name, p in self.named_parameters() if name.endswith(end)}
                names = ["weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr"]
                side, h, c = run(turn(x), h, c, turn(on), *[weights.get(name, 0) for name in names])
                sides.append(turn(side))
                hs.append(h)
                cs.append(c)
            x = torch.cat(sides, -1)
            layers.append(x)
            if k + 1 < self.L:
                x = F.dropout(x, self.p, self.training)
        y, h_n, c_n = x, torch.stack(hs), torch.stack(cs)
        if packed:
            y = pack_padded_sequence(y, lengths, enforce_sorted=False)
        elif self.batch_first:
            y = y.transpose(0, 1)
        return y, (h_n, c_n)
"""
)
OPTIONS = {"num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0, "bidirectional": False, "proj_size": 0}


def network(*asked, **others):
    """Return the program of a layer that is always made with the options `asked`, and has defaults for the others."""
    defaults = [f"{name}={value}" for name, value in (OPTIONS | others).items() if name not in asked]
    return changed(NETWORK, ("OPTIONS", ", ".join([*asked, *defaults])))


SAY, STEPS, START = "said.append(h * on[t])", "range(len(x))", "h, c = h0[k * self.D + d], c0[k * self.D + d]"
HOLD = "h, c = torch.where(on[t], h, old_h), torch.where(on[t], c, old_c)"
LAST, TOP, BACK = "torch.stack(hs), torch.stack(cs)", "y, h_n, c_n = x", ("y = y.transpose(0, 1)", "pass")
# In a loop over time, and in what comes of it
LOOP_WRONG = STATES_WRONG | {
    "given_state_ignored": [("h0, c0 = state", "h0, c0 = 0 * state[0], 0 * state[1]")],
    "c_n_is_h_n": [("(h_n, c_n)", "(h_n, h_n)")],
    "h_n_always_batch_first": [("(h_n, c_n)", "(h_n.transpose(0, 1), c_n.transpose(0, 1))")],
    "state_not_carried": [("step(x[t], h, c,", "step(x[t], h_start, c_start,")],
    "output_only_last": [(TOP, f"{TOP}[-1]")],
    "output_always_batch_first": [(TOP, f"{TOP}.transpose(0, 1)")],
    "output_detached": [("return y", "return y.detach()")],
    "output_is_c": [(SAY, "said.append(c * on[t])")],
    "state_detached_each_step": [(HOLD, f"{HOLD}; h, c = h.detach(), c.detach()")],
}
NETWORK_WRONG = LOOP_WRONG | DEFAULTS_WRONG | {
    "input_always_batch_first": [("T, N, _ = x.shape", "x = x.transpose(0, 1); T, N, _ = x.shape")],
    "only_output_returned": [(", (h_n, c_n)", "")],
    "state_returned_flat": [("(h_n, c_n)", "h_n, c_n")],
    "h_n_without_layer": [(LAST, "h, c")],
    "one_bias": [('("bias_hh", (4 * H,)), ', "")],
    "weights_transposed": [("(4 * H, size)", "(size, 4 * H)"), ("(4 * H, R)", "(R, 4 * H)"), ("W.T", "W"), ("U.T",
    "U")],
}  # fmt: skip
BATCH_FIRST_WRONG = {
    "batch_first_ignored": [("= batch_first, dropout", "= False, dropout")],
    "batch_first_the_other_way": [("= batch_first, dropout", "= not batch_first, dropout")],
    "output_not_batch_first": [BACK],
    "view_for_batch_first": [(" x = x.transpose(0, 1)", " x = x.reshape(x.size(1), x.size(0), -1)")],
    "h_n_batch_first": [
        ("return y", "if self.batch_first: h_n, c_n = h_n.transpose(0, 1), c_n.transpose(0, 1)\n        return y"),
    ],
    "h_0_batch_first": [("h0, c0 = state", "h0, c0 = [s.transpose(0, 1) if self.batch_first else s for s in state]")],
}
LAYER_IN_OUTPUT = [(START, "h, c = h0, c0"), ("a.chunk(4, 1)", "a.chunk(4, -1)")]
LAYER_WRONG = STEP_WRONG | NETWORK_WRONG | BATCH_FIRST_WRONG | {
    "batch_first_missing": [(", batch_first=False", ""), ("= batch_first, dropout", "= False, dropout")],
    "batch_first_by_default": [("batch_first=False", "batch_first=True")],
    "input_always_batch_first": [("elif self.batch_first:\n            x =", "else:\n            x =")],
    "output_always_batch_first": [(TOP, f"{TOP}.transpose(0, 1)"), BACK],
    "output_only_last": [(TOP, f"{TOP}[-1]"), BACK],
    "output_concatenated": [(TOP, f"{TOP}.flatten(0, 1)"), BACK],
    "output_one_early": [(SAY, "said.append(old_h)")],
    "h_n_all_steps": [
        ("said = []", "said, kept = [], []"), (SAY, f"{SAY}; kept.append(c)"),
        ("return torch.stack(said), h, c", "return torch.stack(said), torch.stack(said), torch.stack(kept)"), (LAST,
        "h, c"),
    ],
    "h_n_from_output_last": [("(h_n, c_n)", "(y[-1].unsqueeze(0), c_n)")],
    "layer_in_output": [*LAYER_IN_OUTPUT, (LAST, "h, c")],
    "c_not_carried": [("step(x[t], h, c,", "step(x[t], h, c_start,")],
    "h_not_carried": [("step(x[t], h, c,", "step(x[t], h_start, c,")],
    "first_input_only": [("step(x[t]", "step(x[0]")],
    "last_step_missing": [(STEPS, "range(len(x) - 1)")],
    "first_step_missing": [(STEPS, "range(1, len(x))")],
    "time_reversed": [(STEPS, "reversed(range(len(x)))")],
    "c_detached_each_step": [(SAY, f"{SAY}; c = c.detach()")],
}  # fmt: skip

WRONG = {
    "gates": GATES_WRONG | {"gates_returned_in_other_order": [("return i, f, g, o", "return i, f, o, g")]},
    "lstm_cell": CELL_WRONG,
    "lstm": LAYER_WRONG,
    "one_bias": {name: [("[1, 0, 2, 3]", str(["figo".index(gate) for gate in order]))] for name,
    order in ORDERS.items()} | {
        "weight_ih_order_kept": [('reorder(weights["W"])', 'weights["W"]')],
        "weight_hh_order_kept": [('reorder(weights["U"])', 'weights["U"]')],
        "bias_order_kept": [('reorder(weights["b"])', 'weights["b"]')],
        "bias_loaded_twice": [("torch.zeros(4 * H)", 'reorder(weights["b"])')],
        "bias_lost": [('reorder(weights["b"])', "torch.zeros(4 * H)")],
        "one_bias": [('    new["bias_hh_l0"] = torch.zeros(4 * H)\n', "")],
        "layer_missing_in_names": [("_l0", "")],
        "weights_transposed": [('reorder(weights["W"])', 'reorder(weights["W"]).T'),
                               ('reorder(weights["U"])', 'reorder(weights["U"]).T')],
        "gates_interleaved": [("w[k * H:(k + 1) * H]", "w[k::4]")],
        "matrices_swapped": [('"W"', '"X"'), ('"U"', '"W"'), ('"X"', '"U"')],
    },
    "lstm_backward": {
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
    },
}  # fmt: skip

# What hides another mistake, or is another word for it. With an exchange of i and g it is the orders that are equal:
# both have the same function, or neither acts on c alone.
HIDES = {
    "only_h_returned", "old_c_returned", "default_state_missing", "forget_gate_missing", "input_gate_missing",
    "output_gate_missing", "coupled_gates", "old_c_ignored", "hidden_ignored", "input_ignored", "softmax_over_gates",
    "state_detached", "c_squashed", "forget_gate_on_new_content", "sigmoid_on_g", "tanh_on_i", "tanh_on_all_gates",
    "gates_not_activated", "tanh_missing_on_g", "gates_returned_in_other_order", "state_returned_nested",
}  # fmt: skip
# Two take the gates for torch's, whatever the order; beside the third, the bank swaps only a state that is given.
APART = {"new_h_too_early", "biases_after_activation", "default_state_random"}


class OfTorchsWeights(nn.LSTMCell):
    """A layer of torch that only gives its first weights."""

    def forward(self, x, state=None):
        h, c = state or (torch.zeros(len(x), self.hidden_size),) * 2
        i, f, g, o = (x @ self.weight_ih.T + self.bias_ih + h @ self.weight_hh.T + self.bias_hh).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c


# A layer that hides a cell of its own has other names.
HIDDEN_CELL = (
    CELL.replace("LSTMCell", "Cell")
    + """
class LSTM(nn.Module):
    def __init__(self, input_size, hidden_size, batch_first=False):
        super().__init__()
        self.cell, self.batch_first = Cell(input_size, hidden_size), batch_first

    def forward(self, input, state=None):
        input = input.transpose(0, 1) if self.batch_first else input
        state = state and (state[0][0], state[1][0])
        output = []
        for x in input:
            state = self.cell(x, state)
            output.append(state[0])
        return torch.stack(output, int(self.batch_first)), (state[0][None], state[1][None])
"""
)


# What may not be an answer


def through(function):
    class LSTMCell(nn.Module):
        def __init__(self, input_size, hidden_size):
            super().__init__()
            for name, parameter in nn.LSTMCell(input_size, hidden_size).named_parameters():
                setattr(self, name, parameter)

        def forward(self, x, state=None):
            zeros = x.new_zeros(len(x), self.weight_hh.shape[1])
            return function(x, state or (zeros, zeros), [self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh])

    return LSTMCell


class Inherited(nn.LSTMCell):
    pass


class Hidden(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        layer = nn.LSTM(*sizes)
        for name, parameter in layer.named_parameters():
            setattr(self, name.removesuffix("_l0"), parameter)
        self.run = layer.forward

    def forward(self, x, state=None):
        states = state and tuple(one.unsqueeze(0) for one in state)
        return tuple(one[0] for one in self.run(x.unsqueeze(0), states)[1])


LIBRARIES = {
    "nn.LSTMCell": nn.LSTMCell,
    "inherited": Inherited,
    "nn.LSTM inside": Hidden,
    "torch.lstm_cell": through(lambda x, state, weights: torch.lstm_cell(x, state, *weights)),
    "torch._VF": through(lambda x, state, weights: torch._VF.lstm_cell(x, state, *weights)),
    "torch.ops": through(lambda x, state, weights: torch.ops.aten.lstm_cell.default(x, state, *weights)),
    "scripted": lambda *sizes: torch.jit.script(nn.LSTMCell(*sizes)),
    "the companion's": companion.LSTMCell,
    "the companion's step": through(
        lambda x, state, weights: companion.layers.lstm.LSTMStep().step(
            companion.layers.step.affine(x, weights[0], weights[2] + weights[3]), state,
            type("W", (), {"hh": weights[1], "hr": None}),
        )
    ),
    "the reference": all_questions()["lstm_cell"].reference(frozenset()),
}  # fmt: skip


def by_autograd(x, h, c, *rest):
    *weights, grad_h, grad_c = rest
    given = [one.clone().requires_grad_() for one in (x, h, c, *weights)]
    i, f, g, o = (given[0] @ given[3].T + given[5] + given[1] @ given[4].T + given[6]).chunk(4, 1)
    new = f.sigmoid() * given[2] + i.sigmoid() * g.tanh()
    return torch.autograd.grad((o.sigmoid() * new.tanh(), new), given, (grad_h, grad_c))


SOURCE = SOURCES | {"gates": GATES, "lstm_cell": CELL, "lstm": network()}


def program(question, also_wrong=(), also_right=()):
    source, wrong = SOURCE[question], WRONG[question]
    apart = {name: edits for name, edits in wrong.items() if name not in HIDES | APART}
    return Program(source, wrong, also_wrong, also_right, drawn_pairs(question, source, apart, 12))


ANSWERS = {
    "gates": program("gates", [
        ("view_for_transpose", [("W.T", "W.view(W.shape[1], -1)")]),
        ("view_for_transpose", [("U.T", "U.view(U.shape[1], -1)")]),
        ("hard_sigmoid", [(f"torch.sigmoid({gate})", f"torch.clamp(0.5 + 0.2 * {gate}, 0, 1)") for gate in "ifo"]),
        ("gates_returned_in_other_order", [("return i, f, g, o", "return f, i, o, g")]),
    ], {"another program": SOURCES["gates"]}),
    "lstm_cell": program("lstm_cell", [
        *DEFAULTS_OTHERWISE,
        ("state_detached", [("h0, c0 = state", "h0, c0 = state[0].detach(), state[1]")]),
        ("default_state_missing", [("state=None", "state")]),
        ("one_bias", [*CELL_WRONG["one_bias"], ("bias_ih", "bias")]),
        *(("library_layer", layer) for layer in LIBRARIES.values()),
    ], {name: CELL_HEAD + body for name, body in CELLS.items()} | {
        "another program": SOURCES["lstm_cell"],
        "torch's weights": OfTorchsWeights,
    }),
    "lstm": program("lstm", [
        *DEFAULTS_OTHERWISE,
        ("first_step_missing", [("said = []", "said = [0 * h]"), (STEPS, "range(1, len(x))")]),
        ("last_step_missing", [(STEPS, "range(len(x) - 1)"), ("stack(said)", "stack(said + [0 * h])")]),
        ("time_reversed", [(STEPS, "reversed(range(len(x)))"), ("stack(said)", "stack(said[::-1])")]),
        ("h_0_batch_first", [("h0, c0 = state", "h0, c0 = [s.transpose(0, 1) for s in state]")]),
        ("layer_in_output", LAYER_IN_OUTPUT),
        ("given_state_ignored", [("h0, c0 = state", "h0, c0 = state[0], 0 * state[1]")]),
        ("given_state_ignored", [("h0, c0 = state", "h0, c0 = 0 * state[0], state[1]")]),
        ("state_detached_each_step", [("step(x[t], h, c,", "step(x[t], h.detach(), c.detach(),")]),
        ("c_detached_each_step", [("step(x[t], h, c,", "step(x[t], h, c.detach(),")]),
        ("parameter_names", HIDDEN_CELL),
        (("parameter_names", "gates_f_i_g_o"), changed(HIDDEN_CELL, ("i, f, g, o = a", "f, i, g, o = a"))),
    ], {
        "another program": SOURCES["lstm"],
        "a tensor written step by step": [
            ("said = []", "said = torch.zeros(*x.shape[:2], h.shape[1])"), (SAY, "said[t] = h"), ("torch.stack(said)",
            "said"),
        ],
    }),
    "one_bias": program("one_bias", [], [
        [('reorder(weights["b"])', 'reorder(weights["b"]) * 0.7'), ("torch.zeros(4 * H)",
        '0.3 * reorder(weights["b"])')],
    ]),
    "lstm_backward": program("lstm_backward", [("library_layer", by_autograd)]),
}  # fmt: skip
