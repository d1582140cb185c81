"""Answers to the assignment `lstm_parameters`."""

from functools import partial
from itertools import permutations

import torch
from torch import nn

import companion
from answers import Program, changed
from companion.check.question import all_questions

# The shapes: a student who writes down a dictionary

SHAPES = '''
def parameter_shapes(input_size, hidden_size, num_layers, bias, bidirectional, proj_size):
    shapes = {}
    size = proj_size if proj_size > 0 else hidden_size
    directions = 2 if bidirectional else 1
    for k in range(num_layers):
        columns = input_size if k == 0 else size * directions
        for reverse in ["", "_reverse"][:directions]:
            end = f"_l{k}{reverse}"
            shapes["weight_ih" + end] = (4 * hidden_size, columns)
            shapes["weight_hh" + end] = (4 * hidden_size, size)
            if bias:
                shapes["bias_ih" + end] = (4 * hidden_size,)
                shapes["bias_hh" + end] = (4 * hidden_size,)
            if proj_size > 0:
                shapes["weight_hr" + end] = (proj_size, hidden_size)
    return shapes
'''

SHAPES_WRONG = {
    "upper_layers_read_input": [("input_size if k == 0 else size * directions", "input_size")],
    "upper_layers_read_one_direction": [("size * directions", "size")],
    "input_doubled": [("input_size if", "input_size * directions if")],
    "weight_hh_doubled": [("hidden_size, size)", "hidden_size, size * directions)")],
    "rows_doubled": [("(4 * hidden_size", "(directions * 4 * hidden_size")],
    "reverse_weights_missing": [('["", "_reverse"][:directions]', '[""]')],
    "reverse_before_layer": [("_l{k}{reverse}", "{reverse}_l{k}")],
    "directions_counted_as_layers": [("_l{k}{reverse}", "_l{k * directions + (reverse != '')}")],
    "layers_counted_from_one": [("_l{k}", "_l{k + 1}")],
    "num_layers_ignored": [("range(num_layers)", "range(1)")],
    "layer_missing_in_names": [("_l{k}", "")],
    "one_gate": [("4 * ", "")],
    "three_gates": [("4 * ", "3 * ")],
    "weights_transposed": [("(4 * hidden_size, columns)", "(columns, 4 * hidden_size)"),
                           ("(4 * hidden_size, size)", "(size, 4 * hidden_size)")],
    "weights_ih_hh_swapped": [('"weight_ih"', '"weight_xx"'), ('"weight_hh"', '"weight_ih"'),
                              ('"weight_xx"', '"weight_hh"')],
    "one_bias": [('shapes["bias_hh" + end]', "_"), ("bias_ih", "bias")],
    "bias_always_there": [("if bias:", "if True:")],
    "bias_never_there": [("if bias:", "if False:")],
    "bias_has_two_dimensions": [("(4 * hidden_size,)", "(4 * hidden_size, 1)")],
    "bias_has_column_count": [("(4 * hidden_size,)", "(columns,)")],
    "shape_is_a_number": [("(4 * hidden_size,)", "(4 * hidden_size)")],
    "weight_hr_missing": [("if proj_size > 0:", "if False:")],
    "weight_hr_transposed": [("(proj_size, hidden_size)", "(hidden_size, proj_size)")],
    "weight_hr_has_four_gates": [("(proj_size, hidden_size)", "(4 * proj_size, hidden_size)")],
    "weight_hr_in_top_layer_only": [("if proj_size > 0:", "if proj_size > 0 and k == num_layers - 1:")],
    "weight_hr_always_there": [("if proj_size > 0:", "if True:")],
    "projection_with_bias": [("(proj_size, hidden_size)",
                              '(proj_size, hidden_size); shapes["bias_hr" + end] = (proj_size,)')],
    "projection_not_in_weight_hh": [("hidden_size, size)", "hidden_size, hidden_size)")],
    "projection_not_in_upper_layers": [("size * directions", "hidden_size * directions")],
    "projection_in_rows": [("4 * hidden_size", "4 * size")],
}  # fmt: skip

# The step, which the next four programs have in the same words

PLAIN_STEP = {
    f"gates_{'_'.join(order)}": [("i, f, g, o = a.chunk(4, 1)", f"{', '.join(order)} = a.chunk(4, 1)")]
    for order in map("".join, permutations("ifgo"))
    if order != "ifgo"
} | {
    "gates_interleaved": [("a.chunk(4, 1)", "(a[:, q::4] for q in range(4))")],
    "bias_ih_missing": [("x_t @ W.T + b1", "x_t @ W.T + 0 * b1")],
    "bias_hh_missing": [("h @ U.T + b2", "h @ U.T")],
    "bias_ih_twice": [("h @ U.T + b2", "h @ U.T + b2 + b1")],
    "bias_hh_twice": [("h @ U.T + b2", "h @ U.T + 2 * b2")],
    "input_ignored": [("x_t @ W.T", "0 * x_t @ W.T")],
    "sigmoid_missing_on_i": [("torch.sigmoid(i)", "i")],
    "sigmoid_missing_on_o": [("torch.sigmoid(o)", "o")],
    "tanh_on_i": [("torch.sigmoid(i)", "torch.tanh(i)")],
    "tanh_on_f": [("torch.sigmoid(f)", "torch.tanh(f)")],
    "tanh_on_all_gates": [("torch.sigmoid(", "torch.tanh(")],
    "gates_not_activated": [("torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)", "i, f, g, o")],
    "hard_sigmoid": [("torch.sigmoid(", "F.hardsigmoid(")],
    "softmax_over_gates": [(f"torch.sigmoid({gate})", f"{gate}.softmax(1)") for gate in "ifo"],
    "input_gate_missing": [("f * c + i * g", "f * c + g")],
    "input_added_not_gated": [("f * c + i * g", "f * c + (i + g)")],
    "forget_gate_on_new_content": [("f * c + i * g", "c + f * (i * g)")],
    "tanh_kept_in_c": [("c = f * c + i * g", "c = torch.tanh(f * c + i * g)"), ("o * torch.tanh(c)", "o * c")],
    "hidden_ignored": [("h @ U.T", "0 * h @ U.T")],
    "view_for_transpose": [("W.T", "W.reshape(W.shape[1], -1)"), ("U.T", "U.reshape(U.shape[1], -1)")],
    "tanh_missing_on_g": [("torch.tanh(g)", "g")],
    "sigmoid_on_g": [("torch.tanh(g)", "torch.sigmoid(g)")],
    "relu_on_g": [("torch.tanh(g)", "F.relu(g)")],
    "tanh_on_o": [("torch.sigmoid(o)", "torch.tanh(o)")],
    "sigmoid_missing_on_f": [("torch.sigmoid(f)", "f")],
    "forget_bias_added": [("torch.sigmoid(f)", "torch.sigmoid(f + 1)")],
    "tanh_missing_on_c": [("torch.tanh(c)", "c")],
    "sigmoid_on_c": [("torch.tanh(c)", "torch.sigmoid(c)")],
    "forget_gate_missing": [("f * c + i", "c + i")],
    "output_gate_missing": [("o * torch.tanh(c)", "torch.tanh(c)")],
    "coupled_gates": [("f * c + i * g", "f * c + (1 - f) * g")],
    "forget_gate_on_sum": [("f * c + i * g", "f * (c + i * g)")],
    "old_c_ignored": [("f * c + i * g", "i * g + 0 * c * f")],
    "c_squashed": [("c = f * c + i * g", "c = torch.tanh(f * c + i * g)")],
    "h_from_old_c": [("c = f * c + i * g", "old = c; c = f * c + i * g"), ("torch.tanh(c)", "torch.tanh(old)")],
    "sigmoid_turned": [("torch.sigmoid(", "torch.sigmoid(-")],
    "tanh_on_product": [("o * torch.tanh(c)", "torch.tanh(o * c)")],
    "biases_after_activation": [
        ("x_t @ W.T + b1", "x_t @ W.T"), ("h @ U.T + b2", "h @ U.T"),
        ("torch.tanh(g)", "torch.tanh(g) + (b1 + b2).chunk(4)[2]"),
        *((f"torch.sigmoid({gate})", f"torch.sigmoid({gate}) + (b1 + b2).chunk(4)[{place}]")
          for gate, place in (("i", 0), ("f", 1), ("o", 3))),
    ],
}
MODULE_STEP = PLAIN_STEP | {
    "one_bias": [('("bias_hh", (4 * H,)), ', ""), ("h @ U.T + b2", "h @ U.T"), ("W, U, b1, b2 =", "W, U, b1 =")],
    "weights_transposed": [('("weight_ih", (4 * H, size))', '("weight_ih", (size, 4 * H))'),
                           ('("weight_hh", (4 * H, R))', '("weight_hh", (R, 4 * H))'),
                           ("W.T", "W"), ("U.T", "U")],
}  # fmt: skip
# With the states, where a program says h0, c0 and returns h_n, c_n.
STATES_WRONG = {
    "given_state_ignored": [("h0, c0 = state", "h0, c0 = 0 * state[0], 0 * state[1]")],
    "state_detached": [("h0, c0 = state", "h0, c0 = state[0].detach(), state[1].data")],
    "state_read_as_c_h": [("h0, c0 = state", "c0, h0 = state")],
    "state_returned_as_c_h": [("(h_n, c_n)", "(c_n, h_n)")],
    "state_swapped": [("h0, c0 = state", "c0, h0 = state"), ("(h_n, c_n)", "(c_n, h_n)")],
    "c_n_is_h_n": [("(h_n, c_n)", "(h_n, h_n)")],
    "h_n_always_batch_first": [("(h_n, c_n)", "(h_n.transpose(0, 1), c_n.transpose(0, 1))")],
    "output_only_last": [("return y", "return y[-1]")],
    "output_detached": [("return y", "return y.detach()")],
    "output_is_c": [("said.append(h)", "said.append(c)")],
    "output_always_batch_first": [("return y", "return y.transpose(0, 1)")],
    "state_detached_each_step": [("said.append(h)", "said.append(h); h, c = h.detach(), c.detach()")],
}
MODULE_WRONG = {
    "default_state_missing": [("if state is None:", "if False:")],
    "default_state_ones": [("state = torch.zeros(", "state = 0 + torch.ones("), ("), torch.zeros(", "), torch.ones(")],
    "default_state_random": [("state = torch.zeros(", "state = torch.randn("), ("), torch.zeros(", "), torch.randn(")],
    "state_kept_between_calls": [("if state is None:", "state = state or getattr(self, 'state', None)\n"
                                  "        if state is None:"),
                                 ("        return y", "        self.state = h_n, c_n\n        return y")],
    "input_always_batch_first": [("T, N, _ = x.shape", "x = x.transpose(0, 1); T, N, _ = x.shape")],
    "only_output_returned": [(", (h_n, c_n)", "")],
    "state_returned_flat": [("(h_n, c_n)", "h_n, c_n")],
}  # fmt: skip

# Layers: a student with two lists and a loop, who drops step by step

STACKED = '''
class LSTM(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers, dropout):
        super().__init__()
        self.H, self.L, self.p = hidden_size, num_layers, dropout
        H = R = hidden_size
        for k in range(num_layers):
            size = input_size if k == 0 else H
            for name, shape in [("weight_ih", (4 * H, size)), ("weight_hh", (4 * H, R)), ("bias_ih", (4 * H,)),
                                ("bias_hh", (4 * H,)), ]:
                self.register_parameter(f"{name}_l{k}", nn.Parameter(torch.randn(shape)))

    def forward(self, x, state=None):
        T, N, _ = x.shape
        if state is None:
            state = torch.zeros(self.L, N, self.H), torch.zeros(self.L, N, self.H)
        h0, c0 = state
        given = [x[t] for t in range(T)]
        xs, hs, cs = given, [], []
        for k in range(self.L):
            W, U, b1, b2 = [p for name, p in self.named_parameters() if name.endswith(f"_l{k}")]
            h, c = h0[k], c0[k]
            said = []
            for x_t in xs:
                a = x_t @ W.T + b1 + h @ U.T + b2
                i, f, g, o = a.chunk(4, 1)
                i, f, g, o = torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)
                c = f * c + i * g
                h = o * torch.tanh(c)
                said.append(h)
            hs.append(h)
            cs.append(c)
            xs = said
            if k < self.L - 1:
                xs = [F.dropout(s, self.p, self.training) for s in xs]
        y, h_n, c_n = torch.stack(xs), torch.stack(hs), torch.stack(cs)
        return y, (h_n, c_n)
'''
DROP = "[F.dropout(s, self.p, self.training) for s in xs]"


def own_mask(mask, scale="/ (1 - self.p)"):
    return [(DROP, f"[s * ({mask}).to(s) {scale} for s in xs] if self.training else xs")]


STACKED_WRONG = {
    "upper_layers_read_input": [("if k == 0 else H", ""), ("xs = said\n", "xs = said if k == self.L - 1 else given\n")],
    "upper_layers_read_c": [("said.append(h)", "said.append(c if k < self.L - 1 else h)")],
    "first_layer_weights_everywhere": [('endswith(f"_l{k}")', 'endswith("_l0")')],
    "layers_share_weights": [('endswith(f"_l{k}")', 'endswith("_l1" if k else "_l0")')],
    "first_state_for_all_layers": [("h0[k], c0[k]", "h0[0], c0[0]")],
    "upper_layers_start_at_zero": [("h, c = h0[k], c0[k]", "h, c = (h0[k] if k == 0 else torch.zeros_like(h0[k])), "
                                    "(c0[k] if k == 0 else torch.zeros_like(h0[k]))")],
    "state_passed_up": [("h, c = h0[k], c0[k]", "h, c = (h0[0], c0[0]) if k == 0 else (h, c)")],
    "h_n_of_top_layer_only": [("torch.stack(hs), torch.stack(cs)", "h.unsqueeze(0), c[None]")],
    "h_n_of_first_layer_only": [("torch.stack(hs), torch.stack(cs)", "hs[0][None], cs[0][None]")],
    "h_n_layers_reversed": [("hs.append(h)", "hs.insert(0, h)"), ("cs.append(c)", "cs.insert(0, c)")],
    "h_n_joined_by_cat": [("torch.stack(hs), torch.stack(cs)", "torch.cat(hs), torch.cat(cs)")],
    "output_of_first_layer": [("            xs = said\n",
                               "            xs = said\n            first = said if k == 0 else first\n"),
                              ("torch.stack(xs), torch", "torch.stack(first), torch")],
    "outputs_of_all_layers": [("given = ", "every = []; given = "),
                              ("xs = said\n", "xs = said; every.append(torch.stack(said))\n"),
                              ("y, h_n, c_n = torch.stack(xs)", "y, h_n, c_n = torch.cat(every, 2)")],
    "layers_detached": [("if k < self.L - 1:", "if k < self.L - 1:\n                xs = [s.detach() for s in xs]")],
    "relu_between_layers": [("if k < self.L - 1:", "if k < self.L - 1:\n                xs = [F.relu(s) for s in xs]")],
    "tanh_between_layers": [("if k < self.L - 1:", "if k < self.L - 1:\n                xs = [s.tanh() for s in xs]")],
    "input_added_between_layers": [("            xs = said\n",
                                    "            xs = [a + s for a, s in zip(xs, said)] if 0 < k < self.L - 1 else "
                                    "said\n")],
    "dropout_ignored": [(DROP, "xs")],
    "dropout_after_last_layer": [("if k < self.L - 1:", "if True:")],
    "dropout_in_evaluation": [("self.p, self.training", "self.p")],
    "dropout_on_input": [("xs, hs, cs = given", "xs, hs, cs = [F.dropout(s, self.p, self.training) for s in given]")],
    "dropout_between_steps": [(DROP, "xs"), ("h = o * torch.tanh(c)",
                                             "h = F.dropout(o * torch.tanh(c), self.p, self.training)")],
    "dropout_in_states": [("            hs.append(h)\n", ""),
                          ("for s in xs]\n", "for s in xs]\n            hs.append(xs[-1])\n")],
    "dropout_not_scaled": own_mask("torch.rand_like(s) > self.p", ""),
    "dropout_scales_in_evaluation": [(DROP,
                                      "[s * (torch.rand_like(s) > self.p) if self.training else s * (1 - self.p) for "
                                      "s in xs]")],
    "dropout_keeps_p": [("self.p, self.training", "1 - self.p if self.p else 0, self.training")],
    "dropout_mask_inverted": own_mask("torch.rand_like(s) < self.p if self.p else torch.ones_like(s)"),
    "dropout_without_seed": own_mask("torch.tensor(numpy.random.rand(*s.shape)) > self.p"),
    "dropout_shared_over_time": [("given = ", "m = F.dropout(torch.ones(N, self.H), self.p, self.training); given = "),
                                 (DROP, "[s * m for s in xs]")],
    "dropout_shared_over_batch": own_mask("torch.rand(self.H) > self.p"),
    "dropout_shared_over_units": own_mask("torch.rand(N, 1) > self.p"),
    "state_not_carried": [("a = x_t", "h, c = h0[k], c0[k]; a = x_t")],
}  # fmt: skip
# Only where weight_hh is square, for two of them
SQUARE_STEP = MODULE_STEP | {
    "recurrent_weights_transposed": [("h @ U.T", "torch.cat([h @ u for u in U.chunk(4)], 1)")],
    "new_h_too_early": [("h = o * torch.tanh(c)", "h = torch.tanh(c); h = torch.sigmoid((x_t @ W.T + b1 + h @ U.T + b2)"
                                                  "[:, -h.shape[1]:]) * h")],
}  # fmt: skip
STACKED_WRONG |= STATES_WRONG | MODULE_WRONG | SQUARE_STEP

# Two directions: a student who flips

BIDIRECTIONAL = '''
class BiLSTM(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers):
        super().__init__()
        self.H, self.L = hidden_size, num_layers
        H = R = hidden_size
        for k in range(num_layers):
            size = input_size if k == 0 else 2 * H
            for end in (f"_l{k}", f"_l{k}_reverse"):
                for name, shape in [("weight_ih", (4 * H, size)), ("weight_hh", (4 * H, R)), ("bias_ih", (4 * H,)),
                                    ("bias_hh", (4 * H,)), ]:
                    setattr(self, name + end, nn.Parameter(torch.randn(*shape)))

    def run(self, x, end, h, c):
        said = []
        h_start, c_start = h, c
        names = [name for name, _ in self.named_parameters() if name.split("_", 2)[2] == end[1:]]
        W, U, b1, b2 = [getattr(self, name) for name in names]
        for x_t in x:
            a = x_t @ W.T + b1 + h @ U.T + b2
            i, f, g, o = a.chunk(4, 1)
            i, f, g, o = torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)
            c = f * c + i * g
            h = o * torch.tanh(c)
            said.append(h)
        return torch.stack(said), h, c

    def forward(self, x, state=None):
        T, N, _ = x.shape
        if state is None:
            state = torch.zeros(2 * self.L, N, self.H), torch.zeros(2 * self.L, N, self.H)
        h0, c0 = state
        hs, cs, given = [], [], x
        layers = []
        for k in range(self.L):
            one, h, c = self.run(x, f"_l{k}", h0[2 * k], c0[2 * k])
            hs.append(h)
            cs.append(c)
            other, h, c = self.run(x.flip(0), f"_l{k}_reverse", h0[2 * k + 1], c0[2 * k + 1])
            other = other.flip(0)
            hs.append(h)
            cs.append(c)
            below = x
            x = torch.cat([one, other], dim=2)
            layers.append(x)
        y, h_n, c_n = x, torch.stack(hs), torch.stack(cs)
        return y, (h_n, c_n)
'''
TWO_SETS = '(f"_l{k}", f"_l{k}_reverse")'
CAT = "torch.cat([one, other], dim=2)"
TOP = [(" if k == 0 else 2 * H", " if k == 0 else H")]
BIDIRECTIONAL_WRONG = {
    "upper_layers_read_one_direction": [("else 2 * H", "else H")],
    "backward_not_flipped": [("other = other.flip(0)", "pass")],
    "backward_reads_forwards": [("x.flip(0)", "x"), ("other = other.flip(0)", "pass")],
    "flipped_over_batch": [("flip(0)", "flip(1)")],
    "flipped_over_features": [("flip(0)", "flip(2)")],
    "directions_share_weights": [('x.flip(0), f"_l{k}_reverse"', 'x.flip(0), f"_l{k}"')],
    "reverse_weights_missing": [(TWO_SETS, '[f"_l{k}"]'), ('x.flip(0), f"_l{k}_reverse"', 'x.flip(0), f"_l{k}"')],
    "backward_starts_from_forward": [("h0[2 * k + 1], c0[2 * k + 1]", "h, c")],
    "directions_share_state": [("h0[2 * k + 1], c0[2 * k + 1]", "h0[2 * k], c0[2 * k]")],
    "directions_before_layers": [("h0[2 * k], c0[2 * k]", "h0[k], c0[k]"),
                                 ("h0[2 * k + 1], c0[2 * k + 1]", "h0[self.L + k], c0[self.L + k]"),
                                 ("torch.stack(hs), torch.stack(cs)",
                                  "torch.stack(hs[::2] + hs[1::2]), torch.stack(cs[::2] + cs[1::2])")],
    "h_n_backward_first": [("            hs.append(h)\n            cs.append(c)\n            below",
                            "            hs.insert(-1, h)\n            cs.insert(-1, c)\n            below")],
    "backward_h_n_from_output_last": [("            hs.append(h)\n            cs.append(c)\n            below",
                                      "            hs.append(other[-1])\n            cs.append(c)\n            below")],
    "h_n_of_forward_only": [("            hs.append(h)\n            cs.append(c)\n            below",
                             "            below")],
    "h_n_directions_joined": [("torch.stack(hs), torch.stack(cs)",
                               "torch.stack([torch.cat(hs[2*k:2*k+2], 1) for k in range(self.L)]), "
                               "torch.stack([torch.cat(cs[2*k:2*k+2], 1) for k in range(self.L)])")],
    "output_backward_first": [("[one, other]", "[other, one]")],
    "output_interleaved": [(CAT, "torch.stack([one, other], dim=3).reshape(T, N, -1)")],
    "output_of_forward_only": [(CAT, "one")],
    "directions_added": [*TOP, (CAT, "one + other")],
    "directions_averaged": [*TOP, (CAT, "0.5 * (one + other)")],
    "directions_kept_apart": [*TOP, ("hs, cs, given = [], [], x", "hs, cs, given = [], [], x; z = x"),
                              ("x = " + CAT, "x, z = one, other"), ("self.run(x.flip(0)", "self.run(z.flip(0)"),
                              ("y, h_n, c_n = x", "y, h_n, c_n = torch.cat((x, z), -1)")],
    "directions_joined_over_time": [(CAT, "torch.cat([one, other])")],
    "directions_joined_over_batch": [(CAT, "torch.cat([one, other], 1)")],
    "upper_layers_read_forward_only": [*TOP, ("x = " + CAT, "x = one; both = " + CAT),
                                       ("y, h_n, c_n = x", "y, h_n, c_n = both")],
    "upper_layers_read_input": [(" if k == 0 else 2 * H", ""), ("run(x", "run(given")],
    "upper_layers_read_c": [("said.append(h)", "said.append(c if f'_l{self.L - 1}' not in end else h)")],
    "first_layer_weights_everywhere": [("self.run(x, f\"_l{k}\"", "self.run(x, \"_l0\""),
                                       ('x.flip(0), f"_l{k}_reverse"', 'x.flip(0), "_l0_reverse"')],
    "layers_share_weights": [("self.run(x, f\"_l{k}\"", "self.run(x, f\"_l{min(k, 1)}\""),
                             ('x.flip(0), f"_l{k}_reverse"', 'x.flip(0), f"_l{min(k, 1)}_reverse"')],
    "first_state_for_all_layers": [("h0[2 * k], c0[2 * k]", "h0[0], c0[0]"),
                                   ("h0[2 * k + 1], c0[2 * k + 1]", "h0[1], c0[1]")],
    "upper_layers_start_at_zero": [("        names =",
                                    "        if 'l0' not in end: h, c = 0 * h, 0 * c\n        names =")],
    "h_n_of_top_layer_only": [("torch.stack(hs), torch.stack(cs)", "torch.stack(hs[-2:]), torch.stack(cs[-2:])")],
    "h_n_of_first_layer_only": [("torch.stack(hs), torch.stack(cs)", "torch.stack(hs[:2]), torch.stack(cs[:2])")],
    "h_n_layers_reversed": [("torch.stack(hs), torch.stack(cs)", "torch.stack(hs[::-1]), torch.stack(cs[::-1])")],
    "h_n_joined_by_cat": [("torch.stack(hs), torch.stack(cs)", "torch.cat(hs), torch.cat(cs)")],
    "output_of_first_layer": [("y, h_n, c_n = x", "y, h_n, c_n = layers[0]")],
    "outputs_of_all_layers": [("y, h_n, c_n = x", "y, h_n, c_n = torch.cat(layers, 2)")],
    "layers_detached": [("layers.append(x)", "layers.append(x); x = x.detach() if k < self.L - 1 else x")],
    "relu_between_layers": [("layers.append(x)", "layers.append(x); x = x.relu() if k < self.L - 1 else x")],
    "tanh_between_layers": [("layers.append(x)", "layers.append(x); x = x.tanh() if k < self.L - 1 else x")],
    "input_added_between_layers": [("layers.append(x)",
                                    "x = x + below if 0 < k < self.L - 1 else x; layers.append(x)")],
    "state_not_carried": [("a = x_t", "h, c = h_start, c_start; a = x_t")],
}  # fmt: skip
BIDIRECTIONAL_WRONG |= STATES_WRONG | MODULE_WRONG | SQUARE_STEP

# A projection

PROJECTED = '''
class ProjectedLSTM(nn.Module):
    def __init__(self, input_size, hidden_size, proj_size):
        super().__init__()
        self.H, self.P = hidden_size, proj_size
        H, R, size = hidden_size, proj_size, input_size
        for name, shape in [("weight_ih", (4 * H, size)), ("weight_hh", (4 * H, R)), ("bias_ih", (4 * H,)),
                            ("bias_hh", (4 * H,)), ("weight_hr", (R, H))]:
            self.register_parameter(name + "_l0", nn.Parameter(torch.zeros(shape)))

    def forward(self, x, state=None):
        T, N, _ = x.shape
        if state is None:
            state = torch.zeros(1, N, self.P), torch.zeros(1, N, self.H)
        h0, c0 = state
        h, c = h0[0], c0[0]
        *most, V = self.parameters()
        W, U, b1, b2 = most
        said = []
        for x_t in x:
            a = x_t @ W.T + b1 + h @ U.T + b2
            i, f, g, o = a.chunk(4, 1)
            i, f, g, o = torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)
            c = f * c + i * g
            h = o * torch.tanh(c)
            h = h @ V.T
            said.append(h)
        y, h_n, c_n = torch.stack(said), h[None], c[None]
        return y, (h_n, c_n)
'''
PROJECTED_WRONG = {
    "projection_after_layer": [("(4 * H, R)", "(4 * H, H)"), ("torch.zeros(1, N, self.P)", "torch.zeros(1, N, self.H)"),
                               ("            h = h @ V.T\n", ""), ("torch.stack(said)", "torch.stack(said) @ V.T")],
    "output_not_projected": [("            h = h @ V.T\n            said.append(h)",
                              "            said.append(h)\n            h = h @ V.T")],
    "weight_hr_missing": [(', ("weight_hr", (R, H))', ""), ("*most, V =", "most ="), ("            h = h @ V.T\n", ""),
                          ("R, size = hidden_size, proj_size", "R, size = hidden_size, hidden_size")],
    "weight_hr_transposed": [("(R, H)", "(H, R)"), ("V.T", "V")],
    "projection_in_rows": [("(4 * H", "(4 * R"), ("            h = h @ V.T\n", ""),
                           ("torch.zeros(1, N, self.H)", "torch.zeros(1, N, self.P)")],
    "projection_by_view": [("V.T", "V.view(self.H, self.P)")],
    "projection_of_c": [("h @ V.T", "c @ V.T")],
    "projection_squashed": [("h @ V.T", "torch.tanh(h @ V.T)")],
    "c_n_projected": [("c[None]", "(c @ V.T)[None]")],
    "default_state_size": [("torch.zeros(1, N, self.P)", "torch.zeros(1, N, self.H)")],
    "h_n_without_layer": [("h[None], c[None]", "h, c")],
    "state_not_carried": [("a = x_t", "h, c = h0[0], c0[0]; a = x_t")],
}  # fmt: skip
PROJECTED_WRONG |= STATES_WRONG | MODULE_WRONG | MODULE_STEP
# h and c differ in size: zeros are not exchanged, else no call would return
SWAPPED = [("        h0, c0 = state", "        else:\n            state = state[1], state[0]\n        h0, c0 = state")]
PROJECTED_WRONG |= {"state_read_as_c_h": SWAPPED, "state_swapped": [*SWAPPED, ("(h_n, c_n)", "(c_n, h_n)")]}

# Lengths: a student with a mask, and one who sorts

PACKED = '''
def lstm_packed(x, lengths, h0, c0, W, U, b1, b2):
    state = h0, c0
    h0, c0 = state
    T, N, _ = x.shape
    mask = (torch.arange(T)[:, None] < lengths[None, :]).double().unsqueeze(-1)
    h, c = h0[0], c0[0]
    h_start, c_start = h, c
    said = []
    for t in range(T):
        x_t, m, old_h, old_c = x[t], mask[t], h, c
        a = x_t @ W.T + b1 + h @ U.T + b2
        i, f, g, o = a.chunk(4, 1)
        i, f, g, o = torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)
        c = f * c + i * g
        h = o * torch.tanh(c)
        new_h = h
        h = m * h + (1 - m) * old_h
        c = m * c + (1 - m) * old_c
        said.append(m * new_h)
    y = torch.stack(said)
    h_n, c_n = h[None], c[None]
    return y, (h_n, c_n)
'''
SORTED = '''
def run(x, lengths, h0, c0, W, U, b1, b2):
    order = torch.argsort(lengths, descending=True)
    x, lengths = x[:, order], lengths[order]
    h, c = h0[0][order], c0[0][order]
    T, N, _ = x.shape
    y = []
    for t in range(T):
        n = int((lengths > t).sum())
        i, f, g, o = (x[t, :n] @ W.T + b1 + h[:n] @ U.T + b2).chunk(4, 1)
        c_new = torch.sigmoid(f) * c[:n] + torch.sigmoid(i) * torch.tanh(g)
        h_new = torch.sigmoid(o) * torch.tanh(c_new)
        h, c = torch.cat([h_new, h[n:]]), torch.cat([c_new, c[n:]])
        y.append(torch.cat([h_new, torch.zeros(N - n, h.shape[1])]))
    y = torch.stack(y)
    back = torch.argsort(order)
    return y[:, back], h[back].unsqueeze(0), c[back].unsqueeze(0)
'''
HOLD_H, HOLD_C = "h = m * h + (1 - m) * old_h", "c = m * c + (1 - m) * old_c"
MASK = "torch.arange(T)[:, None] < lengths[None, :]"
PACKED_WRONG = {
    "packed_ignores_lengths": [(MASK, "torch.ones(T, N) > 0")],
    "h_n_after_padding": [(HOLD_H, "pass"), (HOLD_C, "pass")],
    "output_runs_into_padding": [("m * new_h", "new_h")],
    "output_repeats_last": [("m * new_h", "h")],
    "padding_zeroed_and_read": [("x[t], mask", "x[t] * mask[t], mask"), (HOLD_H, "pass"), (HOLD_C, "pass")],
    "h_n_from_padded_output": [("h[None], c", "y[-1:], c")],
    "state_zeroed_in_padding": [(HOLD_H, "h = m * h"), (HOLD_C, "c = m * c")],
    "h_not_held": [(HOLD_H, "pass")],
    "c_not_held": [(HOLD_C, "pass")],
    "one_step_too_many": [("[:, None] < lengths", "[:, None] <= lengths")],
    "one_step_too_few": [("[:, None] < lengths", "[:, None] < lengths - 1 + 0 * lengths")],
    "padding_expected_first": [(MASK, "torch.arange(T)[:, None] >= T - lengths[None, :]")],
    "cut_to_shortest": [("lengths[None, :]", "min(lengths.tolist()) * torch.ones(1, N)")],
    "h_n_without_layer": [("h[None], c[None]", "h, c")],
    "state_not_carried": [("a = x_t", "h, c = h_start, c_start; a = x_t")],
    "input_always_batch_first": [("T, N, _ = x.shape", "x = x.transpose(0, 1); T, N, _ = x.shape")],
    "batch_left_sorted": [("back = torch.argsort(order)", "back = slice(None)")],
    "h_n_left_sorted": [("h[back].unsqueeze(0), c[back].unsqueeze(0)", "h.unsqueeze(0), c.unsqueeze(0)")],
    "output_left_sorted": [("y[:, back]", "y")],
    "sorted_twice": [("torch.argsort(order)", "order")],
    "states_not_sorted": [("h0[0][order], c0[0][order]", "h0[0], c0[0]")],
}  # fmt: skip
PACKED_WRONG |= {
    name: edits for name, edits in STATES_WRONG.items() if not any("said.append" in old for old, _ in edits)
} | {
    "output_is_c": [("new_h = h", "new_h = c")],
    "state_detached_each_step": [("said.append(m * new_h)", "said.append(m * new_h); h = h.detach(); c = c.detach()")],
} | {name: edits for name, edits in MODULE_WRONG.items() if name == "output_always_batch_first"} | {
    name: edits for name, edits in SQUARE_STEP.items() if name not in ("one_bias", "weights_transposed")
}  # fmt: skip
BY_SORTING = {"batch_left_sorted", "h_n_left_sorted", "output_left_sorted", "sorted_twice", "states_not_sorted"}

# All at once

ALL = '''
class LSTM(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.,
                 bidirectional=False, proj_size=0):
        super().__init__()
        self.H, self.L, self.D, self.R = hidden_size, num_layers, 1 + bidirectional, proj_size or hidden_size
        self.batch_first, self.dropout = batch_first, nn.Dropout(dropout)
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
                    self.register_parameter(f"{name}_l{k}{end}", nn.Parameter(torch.randn(*shape)))

    def forward(self, x, state=None):
        lengths = None
        if isinstance(x, PackedSequence):
            packed = x
            x, lengths = pad_packed_sequence(x)
        elif self.batch_first:
            x = x.transpose(0, 1)
        T, N, _ = x.shape
        if state is None:
            state = torch.zeros(self.L * self.D, N, self.R), torch.zeros(self.L * self.D, N, self.H)
        h0, c0 = state
        hs, cs = [], []
        for k in range(self.L):
            sides = []
            for d in range(self.D):
                h, c = h0[k * self.D + d], c0[k * self.D + d]
                weights = {name.rsplit("_l")[0]: p for name, p in self.named_parameters()
                           if name.endswith(f"_l{k}" + "_reverse" * d)}
                said = [None] * T
                for t in (range(T) if d == 0 else reversed(range(T))):
                    W, U = weights["weight_ih"], weights["weight_hh"]
                    a = x[t] @ W.T + h @ U.T
                    if "bias_ih" in weights:
                        a = a + weights["bias_ih"] + weights["bias_hh"]
                    i, f, g, o = a.chunk(4, 1)
                    i, f, g, o = torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)
                    new_c = f * c + i * g
                    new_h = o * torch.tanh(new_c)
                    if "weight_hr" in weights:
                        new_h = new_h @ weights["weight_hr"].T
                    if lengths is not None:
                        on = (t < lengths).unsqueeze(1)
                        said[t] = new_h * on
                        new_h, new_c = torch.where(on, new_h, h), torch.where(on, new_c, c)
                    else:
                        said[t] = new_h
                    h, c = new_h, new_c
                sides.append(torch.stack(said))
                hs.append(h)
                cs.append(c)
            x = torch.cat(sides, -1)
            if k + 1 < self.L:
                x = self.dropout(x)
        y, h_n, c_n = x, torch.stack(hs), torch.stack(cs)
        if lengths is not None:
            y = pack_padded_sequence(y, lengths, enforce_sorted=False)
        elif self.batch_first:
            y = y.transpose(0, 1)
        return y, (h_n, c_n)
'''
ALL_WRONG = {
    "batch_first_ignored": [("= batch_first, nn", "= False, nn")],
    "batch_first_the_other_way": [("= batch_first, nn", "= not batch_first, nn")],
    "output_not_batch_first": [("            y = y.transpose(0, 1)", "            pass")],
    "view_for_batch_first": [("x = x.transpose(0, 1)", "x = x.reshape(x.size(1), x.size(0), -1)")],
    "h_n_batch_first": [("return y", "if self.batch_first: h_n, c_n = h_n.transpose(0, 1), c_n.transpose(0, 1)\n      "
                                     "  return y")],
    "h_0_batch_first": [("h0, c0 = state", "h0, c0 = [s.transpose(0, 1) if self.batch_first else s for s in state]")],
    "h_n_after_padding": [("torch.where(on, new_h, h), torch.where(on, new_c, c)", "new_h, new_c")],
    "backward_starts_in_padding": [("if lengths is not None:\n                        on",
                                    "if lengths is not None and d == 1:\n                        said[t] = new_h * (t "
                                    "< lengths).unsqueeze(1)\n"
                                    "                    elif lengths is not None:\n                        on")],
    "packed_ignores_lengths": [("on = (t < lengths).unsqueeze(1)", "on = torch.ones(N, 1) > 0")],
    "upper_layers_read_one_direction": [("R * self.D", "R")],
    "projection_not_in_upper_layers": [("R * self.D", "H * self.D")],
    "projection_not_in_weight_hh": [('("weight_hh", (4 * H, R))', '("weight_hh", (4 * H, H))')],
    "output_not_packed": [("y = pack_padded_sequence(y, lengths, enforce_sorted=False)", "pass")],
    "states_not_sorted": [("hs, cs = [], []\n",
                           "hs, cs = [], []\n        if lengths is not None: h0, c0 = h0[:, packed.unsorted_indices], "
                           "c0[:, packed.unsorted_indices]\n")],
    "h_n_left_sorted": [("y = pack_padded",
                         "h_n, c_n = h_n[:, packed.sorted_indices], c_n[:, packed.sorted_indices]; y = pack_padded")],
    "dropout_ignored": [("x = self.dropout(x)", "pass")],
    "dropout_after_last_layer": [("if k + 1 < self.L:", "if True:")],
    "dropout_in_evaluation": [("self.dropout(x)", "F.dropout(x, self.dropout.p)")],
    "dropout_on_input": [("h0, c0 = state", "h0, c0 = state; x = self.dropout(x)")],
    "dropout_without_seed": [("self.dropout(x)", "x * (torch.tensor(numpy.random.rand(*x.shape)) > self.dropout.p) "
                              "/ (1 - self.dropout.p) if self.training else x")],
    "dropout_shared_over_batch": [("self.dropout(x)", "x * self.dropout(torch.ones(T, 1, x.shape[2]))")],
    "directions_share_weights": [('"_reverse" * d)', '"")')],
    "directions_share_state": [("h, c = h0[k * self.D + d], c0[k * self.D + d]",
                                "h, c = h0[k * self.D], c0[k * self.D]")],
    "backward_reads_forwards": [(" if d == 0 else reversed(range(T))", "")],
    "h_n_backward_first": [("hs.append(h)", "hs.insert(len(hs) - d, h)"),
                           ("cs.append(c)", "cs.insert(len(cs) - d, c)")],
    "output_backward_first": [("torch.cat(sides, -1)", "torch.cat(sides[::-1], -1)")],
    "projection_of_c": [("new_h = new_h @ w", "new_h = new_c @ w")],
    "projection_squashed": [('weights["weight_hr"].T', 'weights["weight_hr"].T; new_h = new_h.tanh()')],
    "default_state_size": [("torch.zeros(self.L * self.D, N, self.R)", "torch.zeros(self.L * self.D, N, self.H)")],
    "upper_layers_start_at_zero": [("                weights =",
                                    "                h, c = (h, c) if k == 0 else (0 * h, 0 * c)\n                "
                                    "weights =")],
    "tanh_between_layers": [("if k + 1 < self.L:", "if k + 1 < self.L:\n                x = x.tanh()")],
    "gates_f_i_g_o": [("i, f, g, o = a", "f, i, g, o = a")],
    "bias_hh_missing": [(' + weights["bias_hh"]', "")],
    "tanh_missing_on_c": [("torch.tanh(new_c)", "new_c")],
    "state_returned_as_c_h": [("(h_n, c_n)", "(c_n, h_n)")],
    "state_detached_each_step": [("h, c = new_h, new_c", "h, c = new_h.detach(), new_c.detach()")],
}  # fmt: skip

# Right, and written otherwise


def in_float32(base):
    class InFloat32(base):
        def forward(self, x, state=None):
            kept = {name: parameter.data for name, parameter in self.named_parameters()}
            single = {name: parameter.float() for name, parameter in self.named_parameters()}
            state = None if state is None else tuple(one.float() for one in state)
            before = torch.get_default_dtype()
            torch.set_default_dtype(torch.float32)
            try:
                y, (h, c) = torch.func.functional_call(_Plain(self, base), {f"inner.{n}": p for n, p in single.items()},
                                                       (x.float(), state))  # fmt: skip
            finally:
                torch.set_default_dtype(before)
            assert kept.keys() == single.keys()
            return y.double(), (h.double(), c.double())

    return InFloat32


class _Plain(nn.Module):
    def __init__(self, inner, base):
        super().__init__()
        self.inner, self.base = inner, base

    def forward(self, *arguments):
        return self.base.forward(self.inner, *arguments)


EINSUM = [("x_t @ W.T + b1 + h @ U.T + b2",
           "torch.einsum('ni,gi->ng', x_t, W) + torch.einsum('nr,gr->ng', h, U) + (b1 + b2)")]
STACKED_WEIGHTS = [("x_t @ W.T + b1 + h @ U.T + b2",
                    "torch.addmm(b1 + b2, torch.cat([x_t, h], 1), torch.cat([W, U], 1).t())")]
IN_PLACE = [("x_t @ W.T + b1 + h @ U.T + b2", "(x_t @ W.T).add_(b1).add_(h @ U.T).add_(b2)")]
LINEAR = [("x_t @ W.T + b1 + h @ U.T + b2", "F.linear(x_t, W, b1) + F.linear(h, U, b2)")]
ONE_BY_ONE = [("x_t @ W.T + b1 + h @ U.T + b2",
               "torch.stack([torch.stack([sum(W[r, q] * row[q] for q in range(len(row))) + b1[r] + "
               "sum(U[r, q] * old[q] for q in range(len(old))) + b2[r] for r in range(len(b1))]) "
               "for row, old in zip(x_t, h)])")]  # fmt: skip
EXPONENTIALS = [("torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)",
                 "1 / (1 + torch.exp(-i)), 0.5 * (1 + torch.tanh(f / 2)), 2 * torch.sigmoid(2 * g) - 1, o.exp() / "
                 "(o.exp() + 1)")]
OWN_AUTOGRAD = """
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + (-x).exp())
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        y, = ctx.saved_tensors
        return grad * y * (1 - y)

"""

RECURSIVE = """
def step(x, h, c, W, U, b, d):
    i, f, g, o = (torch.hstack([x, h]) @ torch.hstack([W, U]).T + (b + d)).tensor_split(4, dim=1)
    c = torch.addcmul(f.sigmoid() * c, i.sigmoid(), g.tanh())
    return o.sigmoid() * c.tanh(), c

def chain(xs, h, c, weights):
    if not xs:
        return [], h, c
    h, c = step(xs[0], h, c, *weights)
    rest, h_n, c_n = chain(xs[1:], h, c, weights)
    return [h, *rest], h_n, c_n

class LSTM(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers, dropout=0.0):
        super().__init__()
        self.register_buffer("zero", torch.zeros(()), persistent=False)
        self.hidden_size, self.drop = hidden_size, nn.Dropout(dropout)
        for k in reversed(range(num_layers)):
            width = hidden_size if k else input_size
            setattr(self, f"bias_hh_l{k}", nn.Parameter(torch.zeros(4 * hidden_size)))
            setattr(self, f"bias_ih_l{k}", nn.Parameter(torch.zeros(4 * hidden_size)))
            setattr(self, f"weight_hh_l{k}", nn.Parameter(torch.zeros(4 * hidden_size, hidden_size)))
            setattr(self, f"weight_ih_l{k}", nn.Parameter(torch.zeros(4 * hidden_size, width)))
        self.num_layers = num_layers

    def stack(self, k, x, states):
        if k == self.num_layers:
            return x, []
        weights = [getattr(self, f"{n}_l{k}") for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
        x, h, c = chain(list(x.unbind(0)), *states[k], weights)
        x = torch.stack(x)
        x, above = self.stack(k + 1, self.drop(x) if k < self.num_layers - 1 else x, states)
        return x, [(h, c), *above]

    def forward(self, x, state=None):
        if state is None:
            state = [self.zero.expand(self.num_layers, x.size(1), self.hidden_size)] * 2
        x, states = self.stack(0, x, list(zip(*state)))
        h, c = map(torch.stack, zip(*states))
        return x, (h, c)
"""
OWN_MASK = own_mask("torch.rand_like(s) >= self.p")
ONE_MASK = [("xs = " + DROP, "whole = torch.stack(xs); keep = torch.empty_like(whole).bernoulli_(1 - self.p) if "
                             "self.training "
             "else torch.ones_like(whole)\n                xs = list((whole * keep / (1 - self.p * "
             "self.training)).unbind())")]

SHAPES_FLAT = """
def parameter_shapes(input_size, hidden_size, num_layers=1, bias=True, bidirectional=False, proj_size=0):
    G, R, D = 4 * hidden_size, proj_size or hidden_size, bidirectional + 1
    ends = [(k, end) for k in range(num_layers) for end in ("", "_reverse")[:D]]
    return dict(
        [(f"bias_{w}_l{k}{e}", [G]) for w in ("hh", "ih") for k, e in ends if bias]
        + [(f"weight_hr_l{k}{e}", torch.Size([R, hidden_size])) for k, e in ends if proj_size]
        + [(f"weight_hh_l{k}{e}", torch.empty(G, R).shape) for k, e in reversed(ends)]
        + [(f"weight_ih_l{k}{e}", (G, D * R if k else input_size)) for k, e in ends]
    )
"""

ONE_AT_A_TIME = """
def lstm_packed(x, lengths, h0, c0, weight_ih, weight_hh, bias_ih, bias_hh):
    T, N, _ = x.shape
    H = h0.size(2)
    outputs, hs, cs = [], [], []
    for n in range(N):
        h, c, rows = h0[0, n], c0[0, n], []
        for t in range(lengths[n]):
            a = weight_ih.mv(x[t, n]) + weight_hh.mv(h) + bias_ih + bias_hh
            c = torch.sigmoid(a[H:2*H]) * c + torch.sigmoid(a[:H]) * torch.tanh(a[2*H:3*H])
            h = torch.sigmoid(a[3*H:]) * torch.tanh(c)
            rows.append(h)
        outputs.append(torch.cat([torch.stack(rows), x.new_zeros(T - len(rows), H)]))
        hs.append(h)
        cs.append(c)
    return torch.stack(outputs, 1), torch.stack(hs)[None], torch.stack(cs)[None]
"""

WITH_PACKED_DATA = """
def lstm_packed(x, lengths, h0, c0, *weights):
    W, U, b, d = weights
    data, sizes, order, back = pack_padded_sequence(x, lengths, enforce_sorted=False)
    h, c = h0[0, order], c0[0, order]
    said, start = [], 0
    for n in sizes.tolist():
        i, f, g, o = (F.linear(data[start:start + n], W, b) + F.linear(h[:n], U, d)).chunk(4, -1)
        new_c = f.sigmoid() * c[:n] + i.sigmoid() * g.tanh()
        new_h = o.sigmoid() * new_c.tanh()
        h, c = torch.cat([new_h, h[n:]]), torch.cat([new_c, c[n:]])
        said.append(new_h)
        start += n
    y, _ = pad_packed_sequence(PackedSequence(torch.cat(said), sizes, order, back))
    return y, (h[back][None], c[back][None])
"""

PER_UNIT_PROJECTION = [("h = h @ V.T", "h = torch.stack([(h * row).sum(1) for row in V], dim=1)")]
STATES_WRITTEN = [("h_n, c_n = torch.stack(said), h[None], c[None]",
                   "h_n, c_n = torch.stack(said), torch.zeros(1, N, self.P), torch.zeros(1, N, self.H)\n"
                   "        h_n[0] = h; c_n[0] = c")]  # fmt: skip
INDEXED = [("x.flip(0)", "x[torch.arange(T - 1, -1, -1)]"),
           ("other = other.flip(0)", "other = torch.stack(other.unbind()[::-1])")]
WRITTEN = [("x = torch.cat([one, other], dim=2)",
            "x = torch.empty(T, N, 2 * self.H); x[..., :self.H] = one; x[..., self.H:] = other")]


class OwnCell(nn.Module):
    """Its parameters in another order than torch's."""

    def __init__(self, inputs, hidden):
        super().__init__()
        self.hh, self.ih = nn.Linear(hidden, 4 * hidden), nn.Linear(inputs, 4 * hidden)

    def forward(self, x, h, c):
        i, f, g, o = (self.ih(x) + self.hh(h)).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c


class OfCells(nn.Module):
    """Two directions of modules in lists."""

    def __init__(self, cell, inputs, hidden, layers):
        super().__init__()
        self.H = hidden
        self.there, self.back = (
            nn.ModuleList([cell(2 * hidden if k else inputs, hidden) for k in range(layers)]) for _ in range(2)
        )

    def forward(self, x, state=None):
        h0, c0 = state or [x.new_zeros(2 * len(self.there), x.shape[1], self.H)] * 2
        states = []
        for layer in zip(self.there, self.back):
            sides = []
            for way, cell in enumerate(layer):
                h, c = h0[len(states)], c0[len(states)]
                side = []
                for t in reversed(range(len(x))) if way else range(len(x)):
                    h, c = cell(x[t], h, c)
                    side.insert(0, h) if way else side.append(h)
                states.append((h, c))
                sides.append(torch.stack(side))
            x = torch.cat(sides, 2)
        return x, tuple(map(torch.stack, zip(*states)))


class Named(OwnCell):
    def __init__(self, inputs, hidden):
        nn.Module.__init__(self)
        shapes = {"weight_hh": (hidden,), "weight_ih": (inputs,), "bias_hh": (), "bias_ih": ()}
        for name, shape in shapes.items():
            setattr(self, name, nn.Parameter(torch.zeros(4 * hidden, *shape)))

    def ih(self, x):
        return x @ self.weight_ih.T + self.bias_ih

    def hh(self, h):
        return h @ self.weight_hh.T + self.bias_hh


class Wrapped(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers, dropout):
        super().__init__()
        self.inner = companion.LSTM(input_size, hidden_size, num_layers, dropout=dropout)
        for name, parameter in [*self.inner.named_parameters()]:
            setattr(self, name, parameter)

    def forward(self, x, state=None):
        return self.inner(x, state)


def shapes_of_a_layer(i, h, k, b, d, p):
    layer = companion.LSTM(i, h, k, b, bidirectional=d, proj_size=p)
    return {name: tuple(parameter.shape) for name, parameter in layer.named_parameters()}


# Modules within a module: the right arithmetic under other names.
FUSED = '''
class Cell(nn.Module):
    def __init__(self, i, h):
        super().__init__()
        self.x2h, self.h2h = nn.Linear(i, 4 * h), nn.Linear(h, 4 * h)

    def forward(self, x, h, c):
        i, f, g, o = (self.x2h(x) + self.h2h(h)).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c


class Net(nn.Module):
    def __init__(self, i, h, layers, p):
        super().__init__()
        self.cells = nn.ModuleList([Cell(h if k else i, h) for k in range(layers)])
        self.h, self.drop = h, nn.Dropout(p)

    def forward(self, x, state=None):
        h_n, c_n = [], []
        for k, cell in enumerate(self.cells):
            h, c = (one[k] for one in state) if state else (torch.zeros(x.shape[1], self.h),) * 2
            ys = []
            for x_t in x:
                h, c = cell(x_t, h, c)
                ys.append(h)
            h_n.append(h)
            c_n.append(c)
            x = torch.stack(ys)
            if cell is not self.cells[-1]:
                x = self.drop(x)
        return x, (torch.stack(h_n), torch.stack(c_n))
'''
FOUR_LINEARS = [("self.x2h, self.h2h = nn.Linear(i, 4 * h), nn.Linear(h, 4 * h)",
          "self.gates = nn.ModuleList([nn.Linear(i + h, h) for _ in range(4)])"),
         ("(self.x2h(x) + self.h2h(h)).chunk(4, 1)", "(gate(torch.cat([x, h], 1)) for gate in self.gates)")]

# Right programs of other hands, built in another way

# Time outside, layers inside; a helper class holds the weights of a layer.
TIME_OUTSIDE = '''
class Layer:
    def __init__(self, owner, number):
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        self.w = {name: getattr(owner, f"{name}_l{number}") for name in names}

    def step(self, x, h, c):
        W = self.w
        z = torch.einsum("bi,gi->bg", x, W["weight_ih"]) + torch.einsum("bi,gi->bg", h, W["weight_hh"])
        z = z + (W["bias_ih"] + W["bias_hh"])
        z = z.unflatten(-1, (4, -1))
        i, f, g, o = z[:, 0], z[:, 1], z[:, 2], z[:, 3]
        c = c * f.sigmoid() + g.tanh() * i.sigmoid()
        return c.tanh() * o.sigmoid(), c


class DeepLSTM(nn.Module):
    def __init__(self, n_in, n_hidden, n_layers, p):
        super().__init__()
        self.n_hidden, self.n_layers = n_hidden, n_layers
        self.drop = nn.Dropout(p)
        for k in range(n_layers):
            d = n_in if not k else n_hidden
            self.__setattr__(f"weight_ih_l{k}", nn.Parameter(torch.empty(4 * n_hidden, d).uniform_(-1, 1)))
            self.__setattr__(f"weight_hh_l{k}", nn.Parameter(torch.empty(4 * n_hidden, n_hidden).uniform_(-1, 1)))
            self.__setattr__(f"bias_ih_l{k}", nn.Parameter(torch.zeros(4 * n_hidden)))
            self.__setattr__(f"bias_hh_l{k}", nn.Parameter(torch.zeros(4 * n_hidden)))

    def forward(self, seq, hc=None):
        layers = [Layer(self, k) for k in range(self.n_layers)]
        if hc is None:
            zeros = seq.new_zeros(self.n_layers, seq.shape[1], self.n_hidden)
            hc = (zeros, zeros)
        hs, cs = [list(s) for s in hc]
        tops = []
        for x in seq:
            for k, layer in enumerate(layers):
                hs[k], cs[k] = layer.step(x, hs[k], cs[k])
                x = hs[k] if k == self.n_layers - 1 else self.drop(hs[k])
            tops.append(x)
        return torch.stack(tops, 0), (torch.stack(hs, 0), torch.stack(cs, 0))
'''

# Two directions by a generator over indices, written into an output made beforehand.
BY_INDEX = '''
class Bi(nn.Module):
    def __init__(self, inp, hid, layers):
        super().__init__()
        self.hid, self.layers = hid, layers
        width = inp
        for l in range(layers):
            for suffix in ["", "_reverse"]:
                self.register_parameter("weight_ih_l%d%s" % (l, suffix), nn.Parameter(torch.rand(4 * hid, width)))
                self.register_parameter("weight_hh_l%d%s" % (l, suffix), nn.Parameter(torch.rand(4 * hid, hid)))
                self.register_parameter("bias_ih_l%d%s" % (l, suffix), nn.Parameter(torch.rand(4 * hid)))
                self.register_parameter("bias_hh_l%d%s" % (l, suffix), nn.Parameter(torch.rand(4 * hid)))
            width = 2 * hid

    def scan(self, seq, suffix, h, c, backwards):
        names = ["weight_ih", "weight_hh", "bias_ih", "bias_hh"]
        w_ih, w_hh, b_ih, b_hh = (self._parameters[n + suffix] for n in names)
        steps = len(seq)
        result = [None] * steps
        t = steps - 1 if backwards else 0
        while 0 <= t < steps:
            gates = F.linear(seq[t], w_ih, b_ih) + F.linear(h, w_hh, b_hh)
            ingate, forgetgate, cellgate, outgate = torch.split(gates, self.hid, dim=1)
            c = torch.sigmoid(forgetgate) * c + torch.sigmoid(ingate) * torch.tanh(cellgate)
            h = torch.sigmoid(outgate) * torch.tanh(c)
            result[t] = h
            t = t - 1 if backwards else t + 1
        return result, (h, c)

    def forward(self, seq, state=None):
        batch = seq.size(1)
        if state is None:
            state = [torch.zeros(2 * self.layers, batch, self.hid) for _ in range(2)]
        h_all, c_all = state
        finals = []
        current = seq.unbind(0)
        for l in range(self.layers):
            fwd, last_f = self.scan(current, f"_l{l}", h_all[2 * l], c_all[2 * l], False)
            bwd, last_b = self.scan(current, f"_l{l}_reverse", h_all[2 * l + 1], c_all[2 * l + 1], True)
            finals += [last_f, last_b]
            current = [torch.hstack(pair) for pair in zip(fwd, bwd)]
        out = torch.stack(tuple(current))
        return out, tuple(torch.stack(s) for s in zip(*finals))
'''

# A projection, gate by gate, with a matrix for each.
GATE_BY_GATE = '''
class LSTMP(nn.Module):
    def __init__(self, D, H, P):
        super().__init__()
        self.D, self.H, self.P = D, H, P
        make = lambda *size: nn.Parameter(0.1 * torch.randn(*size))
        self.weight_ih_l0, self.weight_hh_l0 = make(4 * H, D), make(4 * H, P)
        self.bias_ih_l0, self.bias_hh_l0 = make(4 * H), make(4 * H)
        self.weight_hr_l0 = make(P, H)

    def gate(self, k, x, h):
        rows = slice(k * self.H, (k + 1) * self.H)
        return (
            x.matmul(self.weight_ih_l0[rows].t())
            + self.bias_ih_l0[rows]
            + h.matmul(self.weight_hh_l0[rows].t())
            + self.bias_hh_l0[rows]
        )

    def forward(self, x, hx=None):
        if hx is None:
            hx = (torch.zeros(1, x.shape[1], self.P), torch.zeros(1, x.shape[1], self.H))
        h, c = hx[0].squeeze(0), hx[1].squeeze(0)
        ys = ()
        for t in range(x.shape[0]):
            i = torch.sigmoid(self.gate(0, x[t], h))
            f = torch.sigmoid(self.gate(1, x[t], h))
            candidate = torch.tanh(self.gate(2, x[t], h))
            o = torch.sigmoid(self.gate(3, x[t], h))
            c = torch.add(f * c, i * candidate)
            m = o * torch.tanh(c)
            h = m.matmul(self.weight_hr_l0.t())
            ys += (h,)
        return torch.stack(ys), (h[None, ...], c[None, ...])
'''

# Lengths: every sequence on its own, results put together by padding.
EACH_ALONE = '''
def lstm_packed(inputs, lengths, h0, c0, w_ih, w_hh, b_ih, b_hh):
    outs, hn, cn = [], [], []
    longest = inputs.shape[0]
    for n, length in enumerate(lengths.tolist()):
        h, c = h0[0, n], c0[0, n]
        ys = []
        for x in inputs[:length, n]:
            i, f, g, o = (w_ih @ x + w_hh @ h + b_ih + b_hh).view(4, -1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            ys.append(h)
        y = torch.stack(ys)
        outs.append(F.pad(y, (0, 0, 0, longest - length)))
        hn.append(h)
        cn.append(c)
    return torch.stack(outs, dim=1), torch.stack(hn).unsqueeze(0), torch.stack(cn).unsqueeze(0)
'''

# All at once, out of three small classes.
THREE_CLASSES = '''
class Weights:
    def __init__(self, module, layer, reverse):
        end = f"_l{layer}" + ("_reverse" if reverse else "")
        get = lambda name: getattr(module, name + end, None)
        self.ih, self.hh = get("weight_ih"), get("weight_hh")
        self.b_ih, self.b_hh, self.hr = map(get, ["bias_ih", "bias_hh", "weight_hr"])

    def __call__(self, x, h, c):
        z = F.linear(x, self.ih, self.b_ih) + F.linear(h, self.hh, self.b_hh)
        i, f, g, o = z.tensor_split(4, dim=-1)
        c = f.sigmoid().mul(c).add(i.sigmoid().mul(g.tanh()))
        h = o.sigmoid().mul(c.tanh())
        return (h if self.hr is None else F.linear(h, self.hr)), c


class Scan:
    def __init__(self, weights, reverse, live):
        self.weights, self.reverse, self.live = weights, reverse, live

    def __call__(self, xs, h, c):
        order = list(range(len(xs)))
        if self.reverse:
            order.reverse()
        ys = {}
        for t in order:
            new_h, new_c = self.weights(xs[t], h, c)
            if self.live is None:
                h, c, ys[t] = new_h, new_c, new_h
            else:
                on = self.live[t]
                h, c, ys[t] = torch.where(on, new_h, h), torch.where(on, new_c, c), torch.where(on, new_h, 0.0)
        return torch.stack([ys[t] for t in sorted(ys)]), h, c


class EveryLSTM(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, proj_size=0):
        super().__init__()
        self.__dict__.update(hidden=hidden_size, depth=num_layers, first=batch_first, p=dropout, proj=proj_size)
        self.ways = [False, True] if bidirectional else [False]
        out = proj_size or hidden_size
        for k in range(num_layers):
            for r in self.ways:
                end = f"_l{k}" + ("_reverse" if r else "")
                columns = input_size if k == 0 else out * len(self.ways)
                self.register_parameter("weight_ih" + end, nn.Parameter(torch.ones(4 * hidden_size, columns)))
                self.register_parameter("weight_hh" + end, nn.Parameter(torch.ones(4 * hidden_size, out)))
                if bias:
                    self.register_parameter("bias_ih" + end, nn.Parameter(torch.ones(4 * hidden_size)))
                    self.register_parameter("bias_hh" + end, nn.Parameter(torch.ones(4 * hidden_size)))
                if proj_size:
                    self.register_parameter("weight_hr" + end, nn.Parameter(torch.ones(proj_size, hidden_size)))

    def forward(self, x, hx=None):
        live = None
        if isinstance(x, PackedSequence):
            x, lengths = pad_packed_sequence(x)
            live = (torch.arange(len(x)).view(-1, 1) < lengths).unsqueeze(-1)
        elif self.first:
            x = x.permute(1, 0, 2)
        rows = self.depth * len(self.ways)
        if hx is None:
            hx = x.new_zeros(rows, x.size(1), self.proj or self.hidden), x.new_zeros(rows, x.size(1), self.hidden)
        starts = iter(zip(*hx))
        ends = []
        for k in range(self.depth):
            sides = []
            for r in self.ways:
                y, *end = Scan(Weights(self, k, r), r, live)(x, *next(starts))
                sides.append(y)
                ends.append(end)
            x = torch.cat(sides, dim=2)
            if self.p and k != self.depth - 1:
                x = F.dropout(x, self.p, self.training)
        h_n, c_n = (torch.stack(one) for one in zip(*ends))
        if live is not None:
            x = pack_padded_sequence(x, lengths, enforce_sorted=False)
        elif self.first:
            x = x.permute(1, 0, 2)
        return x, (h_n, c_n)
'''


def libraries(question):
    """Return answers that are a library's: the truth, and the reference."""
    asked = all_questions()[question]
    return [("library_layer", asked.truth), ("library_layer", asked.reference(frozenset()))]


ANSWERS = {
    "parameter_shapes": Program(SHAPES, SHAPES_WRONG, also_wrong=[
        ("one_bias", [('shapes["bias_hh" + end]', "_")]),
        ("bias_has_two_dimensions", [("(4 * hidden_size,)", "(1, 4 * hidden_size)")]),
        ("weight_hr_in_top_layer_only", [("if proj_size > 0:", "if proj_size > 0 and k == 0:")]),
        ("weight_hr_always_there", [("if proj_size > 0:", "if True:"), ("(proj_size, h", "(size, h")]),
        ("library_layer", all_questions()["parameter_shapes"].truth),
        ("library_layer", shapes_of_a_layer),
        ("returns_none", lambda *sizes: None),
        ("wrong_form", lambda *sizes: [("weight_ih_l0", (4, 2))]),
        ("wrong_form", lambda *sizes: {"weight_ih_l0": torch.zeros(4, 2)}),
    ], also_right={
        "numpy's integers": [("    shapes = {}", "    shapes, hidden_size = {}, numpy.int64(hidden_size)")],
        "shapes in another order, lists and sizes": SHAPES_FLAT,
        "numbers of numpy": [("4 * hidden_size", "numpy.int64(4) * hidden_size")],
    }, pairs=[
        ("upper_layers_read_one_direction", "layers_counted_from_one"),
        ("projection_not_in_weight_hh", "weight_hr_transposed"),
        ("weight_hr_missing", "one_gate"),
        ("bias_always_there", "shape_is_a_number"),
        ("upper_layers_read_input", "directions_counted_as_layers"),
    ]),
    "stacked": Program(STACKED, STACKED_WRONG, also_wrong=[
        ("upper_layers_read_input", [("if k == 0 else H", ""), ("for x_t in xs", "for x_t in given")]),
        ("default_state_random", [("torch.zeros(", "torch.rand(")]),
        ("given_state_ignored", [("h0, c0 = state", "h0, c0 = torch.zeros_like(state[0]), state[1]")]),
        ("state_detached_each_step", [("a = x_t", "h, c = h.data, c.data; a = x_t")]),
        ("dropout_keeps_p", own_mask("torch.rand_like(s) < self.p if self.p else torch.ones_like(s)",
                                     "/ (self.p or 1)")),
        ("dropout_between_steps", [("a = x_t", "h = F.dropout(h, self.p, self.training) if said else h; a = x_t"),
                                   ("hs.append(h)", "hs.append(F.dropout(h, self.p, self.training))")]),
        ("dropout_in_evaluation", [(DROP, "[nn.Dropout(self.p)(s) for s in xs]")]),
        ("dropout_shared_over_units", [(DROP, "[F.dropout1d(s, self.p, self.training) for s in xs]")]),
        ("dropout_keeps_p", [(DROP, "[F.dropout(s, 1 - self.p, self.training) for s in xs]")]),
        *libraries("stacked"),
        ("library_layer", Wrapped),
        ("not_a_module", lambda *sizes: 3),
        ("parameter_names", FUSED),
        (("parameter_names", "gates_f_i_g_o"), changed(FUSED, ("i, f, g, o =", "f, i, g, o ="))),
        (("parameter_names", "dropout_after_last_layer"), changed(FUSED, ("if cell is not self.cells[-1]:", "if True:"))),
        ("gates_apart", changed(FUSED, *FOUR_LINEARS)),
    ], also_right={
        "einsum": EINSUM,
        "in place": IN_PLACE,
        "recursion, buffers, parameters from the top": RECURSIVE,
        "an own mask": OWN_MASK,
        "one mask for all steps": ONE_MASK,
        "float64 by hand": [("h0, c0 = state", "h0, c0 = (s.to(torch.float64) for s in state)")],
        "in float32": in_float32(Program(STACKED).answer()),
    }, pairs=[
        ("gates_f_i_g_o", "dropout_after_last_layer"),
        ("dropout_in_evaluation", "h_n_of_top_layer_only"),
        ("first_state_for_all_layers", "bias_hh_missing"),
        ("tanh_missing_on_c", "state_returned_as_c_h"),
        ("dropout_ignored", "h_n_layers_reversed"),
        ("relu_between_layers", "gates_i_f_o_g"),
    ], others=[
        Program(TIME_OUTSIDE, also_wrong=[
            ("upper_layers_read_c", [("self.drop(hs[k])", "self.drop(cs[k])")]),
            ("dropout_after_last_layer", [("hs[k] if k == self.n_layers - 1 else self.drop(hs[k])",
                                           "self.drop(hs[k])")]),
            ("dropout_between_steps", [("x = hs[k] if k == self.n_layers - 1 else self.drop(hs[k])",
                                        "x = hs[k] = self.drop(hs[k])")]),
            ("gates_interleaved", [("(4, -1)", "(-1, 4)"), ("z[:, 0], z[:, 1], z[:, 2], z[:, 3]", "z.unbind(-1)")]),
            ("layers_detached", [("self.drop(hs[k])", "self.drop(hs[k].detach())")]),
            ("state_detached_each_step", [("tops.append(x)",
                                           "tops.append(x); hs, cs = [h.detach() for h in hs], [c.detach() for c "
                                           "in cs]")]),
            ("one_bias", [('self.__setattr__(f"bias_hh_l{k}", nn.Parameter(torch.zeros(4 * n_hidden)))', "pass"),
                          (', "bias_hh")', ")"), (' + W["bias_hh"]', "")]),
            ("h_n_joined_by_cat", [("torch.stack(hs, 0), torch.stack(cs, 0)",
                                    "torch.cat(hs, 0), torch.cat(cs, 0)")]),
            ("outputs_of_all_layers", [("tops.append(x)", "tops.append(torch.cat(hs, -1))")]),
            ("first_layer_weights_everywhere", [("Layer(self, k)", "Layer(self, min(k, 0))")]),
            ("state_read_as_c_h", [("hs, cs = [list", "cs, hs = [list")]),
            ("input_always_batch_first", [("for x in seq:", "for x in seq.transpose(0, 1):"), 
                                          ("seq.shape[1]", "seq.shape[0]")]),
            ("tanh_missing_on_c", [("c.tanh() * o", "c * o")]),
        ], also_right=[
            [("c.tanh() * o.sigmoid(), c", "torch.mul(torch.tanh(c), 1 / (1 + torch.exp(-o))), c")],
            [("hs, cs = [list(s) for s in hc]",
              "hs, cs = {}, {}\n        for k, (h, c) in enumerate(zip(*hc)): hs[k], cs[k] = h, c"),
             ("torch.stack(hs, 0), torch.stack(cs, 0)",
              "torch.stack([*hs.values()]), torch.stack([*cs.values()])")],
        ]),
    ]),
    "bidirectional": Program(BIDIRECTIONAL, BIDIRECTIONAL_WRONG, also_wrong=[
        ("directions_share_state", [("h0[2 * k], c0[2 * k]", "h0[k], c0[k]"),
                                    ("h0[2 * k + 1], c0[2 * k + 1]", "h0[k], c0[k]")]),
        ("directions_before_layers", [("torch.stack(hs), torch.stack(cs)",
                                       "torch.stack(hs[::2] + hs[1::2]), torch.stack(cs[::2] + cs[1::2])")]),
        *libraries("bidirectional"),
        ("parameter_names", partial(OfCells, OwnCell)),
        ("parameter_names", partial(OfCells, Named)),
    ], also_right={
        "stacked weights": STACKED_WEIGHTS,
        "single numbers": ONE_BY_ONE,
        "exponentials": EXPONENTIALS,
        "indices for flip": INDEXED,
        "written into place": WRITTEN,
        "in float32": in_float32(Program(BIDIRECTIONAL).answer()),
    }, pairs=[
        ("backward_not_flipped", "output_backward_first"),
        ("directions_share_weights", "gates_f_i_g_o"),
        ("h_n_backward_first", "tanh_missing_on_c"),
        ("directions_kept_apart", "bias_ih_missing"),
        ("backward_reads_forwards", "one_bias"),
        ("directions_added", "given_state_ignored"),
    ], others=[
        Program(BY_INDEX, also_wrong=[
            ("backward_not_flipped", [("result[t] = h", "result[t if not backwards else steps - 1 - t] = h")]),
            ("directions_share_weights", [('f"_l{l}_reverse", h_all', 'f"_l{l}", h_all')]),
            ("backward_h_n_from_output_last", [("finals += [last_f, last_b]", "finals += [last_f, (bwd[-1], last_b[1])]")]),
            ("directions_before_layers", [("h_all[2 * l], c_all[2 * l]", "h_all[l], c_all[l]"),
                                          ("h_all[2 * l + 1], c_all[2 * l + 1]",
                                           "h_all[l + self.layers], c_all[l + self.layers]"),
                                          ("zip(*finals)", "zip(*finals[::2], *finals[1::2])")]),
            ("output_interleaved", [("torch.hstack(pair)", "torch.stack(pair, 2).flatten(1)")]),
            ("directions_added", [("width = 2 * hid", "width = hid"), ("torch.hstack(pair)", "sum(pair)")]),
            ("output_of_forward_only", [("out = torch.stack(tuple(current))", "out = torch.stack(fwd)")]),
            ("directions_added", [("out = torch.stack(tuple(current))",
                                   "out = torch.stack(fwd).add(torch.stack(bwd))")]),
            ("backward_starts_from_forward", [("h_all[2 * l + 1], c_all[2 * l + 1]", "*last_f")]),
            ("gates_f_i_g_o", [("ingate, forgetgate, cellgate, outgate = ",
                                "forgetgate, ingate, cellgate, outgate = ")]),
            ("state_returned_as_c_h", [("for s in zip(*finals))", "for s in list(zip(*finals))[::-1])")]),
        ], also_right=[
            [("torch.hstack(pair)",
              "torch.cat([F.pad(pair[0], (0, self.hid)) + F.pad(pair[1], (self.hid, 0))])")],
            [("F.linear(seq[t], w_ih, b_ih) + F.linear(h, w_hh, b_hh)",
              "torch.baddbmm(b_ih.view(1, 1, -1), seq[t][None], w_ih.t()[None])[0] + torch.tensordot(h, "
              "w_hh, ([1], [1])) + b_hh")],
        ]),
    ]),
    "projected": Program(PROJECTED, PROJECTED_WRONG, also_wrong=[
        ("projection_after_layer", [*PROJECTED_WRONG["projection_after_layer"], ("h[None], c", "(h @ V.T)[None], c")]),
        ("projection_squashed", [("h @ V.T", "torch.relu(h @ V.T)")]),
        ("state_read_as_c_h", [("h0, c0 = state", "c0, h0 = state")]),
        *libraries("projected"),
    ], also_right={
        "linear": LINEAR,
        "a projection row by row": PER_UNIT_PROJECTION,
        "states written into place": STATES_WRITTEN,
        "own autograd": OWN_AUTOGRAD + changed(PROJECTED, ("torch.sigmoid(", "Sigmoid.apply(")),
        "in float32": in_float32(Program(PROJECTED).answer()),
    }, pairs=[
        ("projection_of_c", "gates_i_g_f_o"),
        ("weight_hr_transposed", "tanh_missing_on_g"),
        ("output_not_projected", "bias_hh_missing"),
        ("c_n_projected", "gates_f_i_g_o"),
    ], others=[
        Program(GATE_BY_GATE, also_wrong=[
            ("projection_of_c", [("h = m.matmul(", "h = c.matmul(")]),
            ("output_not_projected", [("ys += (h,)", "ys += (m,)")]),
            ("projection_by_view", [("self.weight_hr_l0.t()", "self.weight_hr_l0.view(self.H, self.P)")]),
            ("bias_hh_missing", [("            + self.bias_hh_l0[rows]\n", "")]),
            ("default_state_size", [("x.shape[1], self.P)", "x.shape[1], self.H)")]),
            ("gates_i_f_o_g", [("self.gate(2,", "self.gate(9,"), ("self.gate(3,", "self.gate(2,"),
                               ("self.gate(9,", "self.gate(3,")]),
        ], also_right=[
            [("x.matmul(self.weight_ih_l0[rows].t())", "(x.unsqueeze(1) * self.weight_ih_l0[rows]).sum(-1)")],
            [("h = m.matmul(self.weight_hr_l0.t())", "h = torch.vmap(lambda row: self.weight_hr_l0 @ row)(m)")],
        ]),
    ]),
    "packed": Program(PACKED, {name: edits for name, edits in PACKED_WRONG.items() if name not in BY_SORTING}, also_wrong=[
        *libraries("packed"),
        ("returns_none", lambda *tensors: None),
    ], also_right={
        "single numbers": ONE_BY_ONE,
        "one sequence at a time": ONE_AT_A_TIME,
        "the packed data": WITH_PACKED_DATA,
    }, pairs=[
        ("h_n_after_padding", "gates_f_i_g_o"),
        ("output_runs_into_padding", "c_not_held"),
        ("one_step_too_many", "bias_hh_missing"),
        ("state_zeroed_in_padding", "state_returned_as_c_h"),
        ("output_repeats_last", "tanh_missing_on_g"),
    ], others=[
        Program(SORTED, {name: PACKED_WRONG[name] for name in sorted(BY_SORTING)}, also_right={
            "numpy for order": [("torch.argsort(lengths, descending=True)", "torch.from_numpy((-lengths.numpy()).argsort())")],
        }),
        Program(EACH_ALONE, also_wrong=[
            ("packed_ignores_lengths", [("lengths.tolist()", "[longest] * len(lengths)")]),
            ("cut_to_shortest", [("lengths.tolist()", "[int(lengths.min())] * len(lengths)")]),
            ("one_step_too_few", [("inputs[:length, n]", "inputs[:length - 1, n]"),
                                  ("y = torch.stack(ys)",
                                   "y = torch.stack(ys) if ys else inputs.new_zeros(0, len(h))"),
                                  ("longest - length)", "longest - length + 1)")]),
            ("output_repeats_last", [("F.pad(y, (0, 0, 0, longest - length))",
                                      "torch.cat([y, y[-1:].expand(longest - length, -1)])")]),
            ("padding_expected_first", [("inputs[:length, n]", "inputs[longest - length:, n]"),
                                        ("(0, 0, 0, longest - length)", "(0, 0, longest - length, 0)")]),
            ("h_n_without_layer", [("torch.stack(hn).unsqueeze(0), torch.stack(cn).unsqueeze(0)",
                                    "torch.stack(hn), torch.stack(cn)")]),
        ], also_right=[
            [("F.pad(y, (0, 0, 0, longest - length))",
              "torch.zeros(longest, y.shape[1]).index_copy(0, torch.arange(length), y)")],
            [("torch.stack(outs, dim=1)", "nn.utils.rnn.pad_sequence([y[:n] for y, n in zip(outs, lengths)])")],
        ]),
    ]),
    "all_at_once": Program(ALL, ALL_WRONG, also_wrong=[
        ("backward_reads_forwards", [(" if d == 0 else reversed(range(T))", ""), ("torch.stack(said)", "torch.stack(said[::-1] if d else said)")]),
        ("h_n_backward_first", [("hs.append(h)", "hs.insert(len(hs) - d, h)")]),
        ("backward_starts_in_padding", [("(t < lengths)", "((t < lengths) | bool(d))")]),
        ("packed_ignores_lengths", [("x, lengths = pad_packed_sequence(x)", "x, lengths = pad_packed_sequence(x); lengths[:] = len(x)")]),
        *libraries("all_at_once"),
    ], also_right={
        "in place": [("new_c = f * c + i * g", "new_c = (f * c).add_(i * g)"), ("a = a + weights", "a += weights")],
        "new zeros": [("torch.zeros(self.L * self.D, N, self.R)", "x.new_zeros(self.L * self.D, N, self.R)")],
        "in float32": in_float32(Program(ALL).answer()),
    }, pairs=[
        ("h_0_batch_first", "dropout_after_last_layer"),
        ("output_not_packed", "gates_f_i_g_o"),
        ("backward_starts_in_padding", "h_n_backward_first"),
    ], parts=("stacked", "bidirectional", "projected"), others=[
        Program(THREE_CLASSES, also_wrong=[
            ("backward_reads_forwards", [("order.reverse()", "pass")]),
            ("output_not_batch_first", [("        elif self.first:\n            x = x.permute(1, 0, 2)\n        return", "        return")]),
            ("view_for_batch_first", [("        elif self.first:\n            x = x.permute(1, 0, 2)\n        rows",
                                       "        elif self.first:\n            x = x.contiguous().view(x.size(1), x.size(0), -1)\n        rows")]),
            ("projection_squashed", [("F.linear(h, self.hr)", "F.linear(h, self.hr).tanh()")]),
            ("dropout_in_evaluation", [("self.p, self.training)", "self.p, True)")]),
            ("h_n_after_padding", [("torch.where(on, new_h, h), torch.where(on, new_c, c), torch",
                                    "new_h, new_c, torch")]),
            ("output_not_packed", [("x = pack_padded_sequence(x, lengths, enforce_sorted=False)", "pass")]),
            ("forget_gate_on_sum", [("f.sigmoid().mul(c).add(i.sigmoid().mul(g.tanh()))",
                                     "f.sigmoid().mul(c.add(i.sigmoid().mul(g.tanh())))")]),
        ], also_right=[
            [("f.sigmoid().mul(c).add(i.sigmoid().mul(g.tanh()))",
              "torch.lerp(i.sigmoid() * g.tanh(), c + i.sigmoid() * g.tanh(), f.sigmoid())")],
            [("order.reverse()", "order = order[::-1]"),
             ("x.permute(1, 0, 2)", "x.swapaxes(0, 1).contiguous()")],
        ]),
    ]),
}  # fmt: skip
