"""Answers to the assignment `lstm`. The right programs are those of tests/lstm_answers.py, which the grader's tests share."""

from itertools import permutations

import torch
from torch import nn

import companion
from answers import Program, changed, drawn_pairs
from companion.check.question import all_questions
from lstm_answers import CELL, CELL_HEAD, CELLS, SOURCES


def orders(edit):
    """An edit for each order of the gates that is not torch's."""
    wrong = [order for order in permutations("ifgo") if "".join(order) != "ifgo"]
    return {f"gates_{'_'.join(order)}": edit(order) for order in wrong}


def slices(order):
    """The gates are cut from `a` in this order."""
    pieces = ["[:, :H]", "[:, H:2*H]", "[:, 2*H:3*H]", "[:, 3*H:]"]
    marks = [(f"a{piece}", f"a<{gate}>") for piece, gate in zip(pieces, "ifgo")]
    return [*marks, *((f"a<{gate}>", f"a{piece}") for piece, gate in zip(pieces, order))]


CELL_SUM = "F.linear(x, self.weight_ih, self.bias_ih) + F.linear(h, self.weight_hh, self.bias_hh)"
CELL_DEFAULT = """h = torch.zeros(x.shape[0], self.hidden_size)
            c = torch.zeros(x.shape[0], self.hidden_size)"""
LAYER_DEFAULT = CELL_DEFAULT.replace("x.shape[0]", "N")
LAYER_SUM = "x @ self.weight_ih_l0.t() + self.bias_ih_l0 + h @ self.weight_hh_l0.t() + self.bias_hh_l0"
LAYER_STEP = """h, c = self.step(input[t], h, c)
            outputs.append(h)"""
RETURN = "return output, (h_n, c_n)"
STEP_CELL, STEP_LAYER = ("c_next = f * c + i * g", "c = f * c + i * g")

WRONG = {
    "gates": orders(slices)
    | {
        "gates_interleaved": [
            ("a[:, :H]", "a[:, 0::4]"),
            ("a[:, H:2*H]", "a[:, 1::4]"),
            ("a[:, 2*H:3*H]", "a[:, 2::4]"),
            ("a[:, 3*H:]", "a[:, 3::4]"),
        ],
        "hidden_ignored": [(" + h @ weight_hh.T", "")],
        "input_ignored": [("x @ weight_ih.T + ", "")],
        "bias_ih_missing": [(" + bias_ih +", " +")],
        "bias_hh_missing": [(".T + bias_hh\n", ".T\n")],
        "bias_ih_twice": [("+ bias_ih +", "+ 2 * bias_ih +")],
        "bias_hh_twice": [("+ bias_hh\n", "+ bias_hh + bias_hh\n")],
        "recurrent_weights_transposed": [
            ("h @ weight_hh.T", "torch.cat([torch.mm(h, w) for w in (weight_hh[:H], weight_hh[H:2*H],"
                                " weight_hh[2*H:3*H], weight_hh[3*H:])], 1)"),
        ],
        "view_for_transpose": [
            ("weight_ih.T", "weight_ih.reshape(-1, 4 * H)"),
            ("weight_hh.T", "weight_hh.view(H, 4 * H)"),
        ],
        "tanh_missing_on_g": [("g = torch.tanh(a[:, 2*H:3*H])", "g = a[:, 2*H:3*H]")],
        "sigmoid_on_g": [("g = torch.tanh", "g = torch.sigmoid")],
        "relu_on_g": [("g = torch.tanh", "g = torch.relu")],
        "sigmoid_missing_on_i": [("torch.sigmoid(a[:, :H])", "a[:, :H]")],
        "sigmoid_missing_on_f": [("torch.sigmoid(a[:, H:2*H])", "a[:, H:2*H]")],
        "sigmoid_missing_on_o": [("torch.sigmoid(a[:, 3*H:])", "a[:, 3*H:]")],
        "tanh_on_i": [("i = torch.sigmoid", "i = torch.tanh")],
        "tanh_on_f": [("f = torch.sigmoid", "f = torch.tanh")],
        "tanh_on_o": [("o = torch.sigmoid", "o = torch.tanh")],
        "tanh_on_all_gates": [("torch.sigmoid", "torch.tanh")],
        "gates_not_activated": [("torch.sigmoid", ""), ("torch.tanh", "")],
        "hard_sigmoid": [("torch.sigmoid", "F.hardsigmoid")],
        "softmax_over_gates": [("torch.sigmoid(a[:, :H])", "torch.softmax(a[:, :H], 1)"),
                               ("torch.sigmoid(a[:, H:2*H])", "torch.softmax(a[:, H:2*H], 1)"),
                               ("torch.sigmoid(a[:, 3*H:])", "torch.softmax(a[:, 3*H:], 1)")],
        "forget_bias_added": [("a[:, H:2*H])", "a[:, H:2*H] + 1.0)")],
        "biases_after_activation": [
            (" + bias_ih + h", " + h"), (".T + bias_hh", ".T\n    b = bias_ih + bias_hh"),
            ("a[:, :H])", "a[:, :H]) + b[:H]"), ("a[:, H:2*H])", "a[:, H:2*H]) + b[H:2*H]"),
            ("a[:, 2*H:3*H])", "a[:, 2*H:3*H]) + b[2*H:3*H]"), ("a[:, 3*H:])", "a[:, 3*H:]) + b[3*H:]"),
        ],
        "sigmoid_turned": [("torch.sigmoid(", "1 / (1 + torch.exp("), (":H])\n    f", ":H]))\n    f"),
                           ("H:2*H])\n", "H:2*H]))\n"), ("3*H:])\n", "3*H:]))\n")],
        "gates_returned_in_other_order": [("return i, f, g, o", "return i, f, o, g")],
    },
    "lstm_cell": orders(lambda order: [("i, f, g, o = a.chunk", f"{', '.join(order)} = a.chunk")])
    | {
        "gates_interleaved": [("a.chunk(4, dim=1)", "a.view(-1, self.hidden_size, 4).unbind(2)")],
        "hidden_ignored": [(" + F.linear(h, self.weight_hh, self.bias_hh)", " + self.bias_hh")],
        "input_ignored": [("F.linear(x, self.weight_ih, self.bias_ih)", "self.bias_ih")],
        "bias_ih_missing": [("self.weight_ih, self.bias_ih)", "self.weight_ih)")],
        "bias_hh_missing": [("self.weight_hh, self.bias_hh)", "self.weight_hh)")],
        "bias_ih_twice": [(CELL_SUM, CELL_SUM + " + self.bias_ih")],
        "bias_hh_twice": [(CELL_SUM, CELL_SUM + " + self.bias_hh")],
        "recurrent_weights_transposed": [
            ("F.linear(h, self.weight_hh, self.bias_hh)",
             "torch.cat([h @ w for w in self.weight_hh.chunk(4)], 1) + self.bias_hh"),
        ],
        "view_for_transpose": [
            (CELL_SUM, "x @ self.weight_ih.view(self.input_size, -1) + self.bias_ih"
                       " + h @ self.weight_hh.view(self.hidden_size, -1) + self.bias_hh"),
        ],
        "tanh_missing_on_g": [("        g = torch.tanh(g)\n", "")],
        "sigmoid_on_g": [("g = torch.tanh(g)", "g = torch.sigmoid(g)")],
        "relu_on_g": [("g = torch.tanh(g)", "g = g.clamp(min=0)")],
        "sigmoid_missing_on_i": [("        i = torch.sigmoid(i)\n", "")],
        "sigmoid_missing_on_f": [("        f = torch.sigmoid(f)\n", "")],
        "sigmoid_missing_on_o": [("        o = torch.sigmoid(o)\n", "")],
        "tanh_on_i": [("i = torch.sigmoid(i)", "i = i.tanh()")],
        "tanh_on_f": [("f = torch.sigmoid(f)", "f = f.tanh()")],
        "tanh_on_o": [("o = torch.sigmoid(o)", "o = o.tanh()")],
        "tanh_on_all_gates": [("torch.sigmoid", "torch.tanh")],
        "gates_not_activated": [("torch.sigmoid", ""), ("g = torch.tanh(g)", "g = g")],
        "hard_sigmoid": [("torch.sigmoid", "nn.Hardsigmoid()")],
        "softmax_over_gates": [("torch.sigmoid(i)", "i.softmax(1)"), ("torch.sigmoid(f)", "f.softmax(1)"),
                               ("torch.sigmoid(o)", "o.softmax(1)")],
        "forget_bias_added": [("torch.sigmoid(f)", "torch.sigmoid(f + 1)")],
        "biases_after_activation": [
            (CELL_SUM, "F.linear(x, self.weight_ih) + F.linear(h, self.weight_hh)\n"
                       "        b_i, b_f, b_g, b_o = (self.bias_ih + self.bias_hh).chunk(4)"),
            *((f"torch.sigmoid({gate})", f"torch.sigmoid({gate}) + b_{gate}") for gate in "ifo"),
            ("torch.tanh(g)", "torch.tanh(g) + b_g"),
        ],
        "sigmoid_turned": [("torch.sigmoid(", "torch.sigmoid(-")],
        "tanh_on_product": [("o * torch.tanh(c_next)", "torch.tanh(o * c_next)")],
        "state_returned_nested": [("return h_next, c_next", "return h_next, (h_next, c_next)")],
        "tanh_missing_on_c": [("o * torch.tanh(c_next)", "o * c_next")],
        "sigmoid_on_c": [("o * torch.tanh(c_next)", "o * torch.sigmoid(c_next)")],
        "c_squashed": [(STEP_CELL, "c_next = torch.tanh(f * c + i * g)")],
        "tanh_kept_in_c": [("h_next = o * torch.tanh(c_next)",
                            "c_next = torch.tanh(c_next)\n        h_next = o * c_next")],
        "h_from_old_c": [("torch.tanh(c_next)", "torch.tanh(c)")],
        "new_h_too_early": [
            ("h_next = o * torch.tanh(c_next)",
             "h = torch.tanh(c_next)\n"
             f"        o = torch.sigmoid(({CELL_SUM}).chunk(4, 1)[3])\n"
             "        h_next = o * h"),
        ],
        "forget_gate_missing": [(STEP_CELL, "c_next = c + i * g")],
        "input_gate_missing": [(STEP_CELL, "c_next = f * c + g")],
        "output_gate_missing": [("o * torch.tanh(c_next)", "torch.tanh(c_next)")],
        "coupled_gates": [(STEP_CELL, "c_next = f * c + (1 - f) * g")],
        "forget_gate_on_sum": [(STEP_CELL, "c_next = f * (c + i * g)")],
        "forget_gate_on_new_content": [(STEP_CELL, "c_next = c + f * i * g")],
        "old_c_ignored": [(STEP_CELL, "c_next = i * g")],
        "input_added_not_gated": [(STEP_CELL, "c_next = f * c + (i + g)")],
        "old_c_returned": [("return h_next, c_next", "return h_next, c")],
        "only_h_returned": [("return h_next, c_next", "return h_next")],
        "c_detached": [("f * c + i", "f * c.data + i")],
        "state_swapped": [("h, c = state", "c, h = state"), ("return h_next, c_next", "return c_next, h_next")],
        "state_read_as_c_h": [("h, c = state", "c, h = state")],
        "state_returned_as_c_h": [("return h_next, c_next", "return c_next, h_next")],
        "one_bias": [("        self.bias_hh = nn.Parameter(torch.zeros(4 * hidden_size))\n", ""),
                     ("self.weight_hh, self.bias_hh", "self.weight_hh"), ("bias_ih", "bias")],
        "weights_transposed": [("torch.empty(4 * hidden_size, input_size)", "torch.empty(input_size, 4 * hidden_size)"),
                               ("torch.empty(4 * hidden_size, hidden_size)",
                                "torch.empty(hidden_size, 4 * hidden_size)"),
                               (CELL_SUM, "x @ self.weight_ih + self.bias_ih + h @ self.weight_hh + self.bias_hh")],
        "state_detached": [("h, c = state", "h, c = [s.detach() for s in state]")],
        "default_state_missing": [(f"if state is None:\n            {CELL_DEFAULT}\n        else:\n            ", "")],
        "default_state_ones": [("torch.zeros(x.shape", "torch.ones(x.shape")],
        "default_state_random": [("torch.zeros(x.shape", "torch.randn(x.shape")],
        "state_kept_between_calls": [
            ("self.hidden_size = hidden_size", "self.hidden_size = hidden_size\n        self.h = None"),
            ("if state is None:", "if state is None and self.h is not None:\n"
                                  "            h, c = self.h, self.c\n        elif state is None:"),
            ("        return h", "        self.h, self.c = h_next, c_next\n        return h"),
        ],
    },
    "lstm": orders(lambda order: [("i, f, g, o = torch.split", f"{', '.join(order)} = torch.split")])
    | {
        "gates_interleaved": [("torch.split(a, self.hidden_size, dim=-1)",
                               "a[:, 0::4], a[:, 1::4], a[:, 2::4], a[:, 3::4]")],
        "hidden_ignored": [(" + h @ self.weight_hh_l0.t()", "")],
        "input_ignored": [("x @ self.weight_ih_l0.t() + ", "")],
        "bias_ih_missing": [(" + self.bias_ih_l0", "")],
        "bias_hh_missing": [(" + self.bias_hh_l0", "")],
        "bias_ih_twice": [("+ self.bias_ih_l0", "+ self.bias_ih_l0 * 2")],
        "bias_hh_twice": [("+ self.bias_hh_l0", "+ self.bias_hh_l0 * 2")],
        "recurrent_weights_transposed": [
            ("h @ self.weight_hh_l0.t()",
             "torch.einsum('nk,gkj->ngj', h, self.weight_hh_l0.view(4, self.hidden_size, -1)).flatten(1)"),
        ],
        "view_for_transpose": [("weight_ih_l0.t()", "weight_ih_l0.view(x.shape[-1], -1)"),
                               ("weight_hh_l0.t()", "weight_hh_l0.view(self.hidden_size, -1)")],
        "tanh_missing_on_g": [("        g = g.tanh()\n", "")],
        "sigmoid_on_g": [("g = g.tanh()", "g = g.sigmoid()")],
        "relu_on_g": [("g = g.tanh()", "g = F.relu(g)")],
        "sigmoid_missing_on_i": [("        i = i.sigmoid()\n", "")],
        "sigmoid_missing_on_f": [("        f = f.sigmoid()\n", "")],
        "sigmoid_missing_on_o": [("        o = o.sigmoid()\n", "")],
        "tanh_on_i": [("i = i.sigmoid()", "i = i.tanh()")],
        "tanh_on_f": [("f = f.sigmoid()", "f = f.tanh()")],
        "tanh_on_o": [("o = o.sigmoid()", "o = o.tanh()")],
        "tanh_on_all_gates": [("sigmoid", "tanh")],
        "gates_not_activated": [(".sigmoid()", ""), ("g = g.tanh()", "g = g")],
        "hard_sigmoid": [(f"{gate} = {gate}.sigmoid()", f"{gate} = F.hardsigmoid({gate})") for gate in "ifo"],
        "softmax_over_gates": [("sigmoid()", "softmax(-1)")],
        "forget_bias_added": [("f = f.sigmoid()", "f = (f + 1).sigmoid()")],
        "biases_after_activation": [
            (" + self.bias_ih_l0", ""),
            (" + self.bias_hh_l0", "\n        b = (self.bias_ih_l0 + self.bias_hh_l0).view(4, -1)"),
            *((f"{gate}.sigmoid()", f"{gate}.sigmoid() + b[{'ifgo'.index(gate)}]") for gate in "ifo"),
            ("g.tanh()", "g.tanh() + b[2]"),
        ],
        "sigmoid_turned": [("i = i.sigmoid()", "i = 1 / (1 + i.exp())"), ("f = f.sigmoid()", "f = 1 / (1 + f.exp())"),
                           ("o = o.sigmoid()", "o = 1 / (1 + o.exp())")],
        "tanh_on_product": [("h = o * c.tanh()", "h = torch.tanh(o * c)")],
        "batch_first_by_default": [("batch_first=False", "batch_first=True")],
        "h_n_all_steps": [(LAYER_STEP, LAYER_STEP + "\n            cells.append(c)"),
                          ("outputs = []", "outputs, cells = [], []"),
                          ("h.unsqueeze(0), c.unsqueeze(0)", "output, torch.stack(cells)")],
        "tanh_missing_on_c": [("o * c.tanh()", "o * c")],
        "sigmoid_on_c": [("o * c.tanh()", "o * c.sigmoid()")],
        "c_squashed": [(STEP_LAYER, "c = (f * c + i * g).tanh()")],
        "tanh_kept_in_c": [("h = o * c.tanh()", "c = c.tanh()\n        h = o * c")],
        "h_from_old_c": [(STEP_LAYER, "c, c_old = f * c + i * g, c"), ("o * c.tanh()", "o * c_old.tanh()")],
        "new_h_too_early": [("h = o * c.tanh()", f"h = c.tanh()\n        a = {LAYER_SUM}\n"
                                                 "        h = h * a[:, -self.hidden_size:].sigmoid()")],
        "forget_gate_missing": [(STEP_LAYER, "c = c + i * g")],
        "input_gate_missing": [(STEP_LAYER, "c = f * c + g")],
        "output_gate_missing": [("h = o * c.tanh()", "h = c.tanh()")],
        "coupled_gates": [(STEP_LAYER, "c = f * c + (1 - f) * g")],
        "forget_gate_on_sum": [(STEP_LAYER, "c = f * (c + i * g)")],
        "forget_gate_on_new_content": [(STEP_LAYER, "c = c + f * i * g")],
        "old_c_ignored": [(STEP_LAYER, "c = i * g")],
        "input_added_not_gated": [(STEP_LAYER, "c = f * c + i + g")],
        "state_swapped": [("h, c = state[0][0], state[1][0]", "c, h = state[0][0], state[1][0]"),
                          ("(h_n, c_n)", "(c_n, h_n)")],
        "state_read_as_c_h": [("state[0][0], state[1][0]", "state[1][0], state[0][0]")],
        "state_returned_as_c_h": [(RETURN, "return output, (c_n, h_n)")],
        "one_bias": [("        self.bias_hh_l0 = nn.Parameter(torch.randn(4 * hidden_size))\n", ""),
                     (" + self.bias_hh_l0", "")],
        "weights_transposed": [("randn(4 * hidden_size, input_size)", "randn(input_size, 4 * hidden_size)"),
                               ("randn(4 * hidden_size, hidden_size)", "randn(hidden_size, 4 * hidden_size)"),
                               ("_l0.t()", "_l0")],
        "state_detached": [("state[0][0], state[1][0]", "state[0][0].detach(), state[1][0].detach()")],
        "default_state_missing": [(f"if state is None:\n            {LAYER_DEFAULT}\n        else:\n            ", "")],
        "default_state_ones": [("torch.zeros", "torch.ones")],
        "default_state_random": [("torch.zeros", "torch.randn")],
        "state_kept_between_calls": [
            ("self.batch_first = batch_first", "self.batch_first = batch_first\n        self.state = None"),
            ("if state is None:", "state = state or self.state\n        if state is None:"),
            ("        return output", "        self.state = (h_n, c_n)\n        return output"),
        ],
        "state_not_carried": [(LAYER_STEP, "h_t, c_t = self.step(input[t], h, c)\n            outputs.append(h_t)"),
                              ("h_n, c_n = h.unsqueeze(0), c.unsqueeze(0)", "h_n, c_n = h_t[None], c_t[None]")],
        "c_not_carried": [(LAYER_STEP, "h, c_t = self.step(input[t], h, c)\n            outputs.append(h)"),
                          ("c.unsqueeze(0)", "c_t.unsqueeze(0)")],
        "h_not_carried": [(LAYER_STEP, "h_t, c = self.step(input[t], h, c)\n            outputs.append(h_t)"),
                          ("h.unsqueeze(0)", "h_t.unsqueeze(0)")],
        "given_state_ignored": [("if state is None:", "if True:")],
        "first_input_only": [("input[t]", "input[0]")],
        "last_step_missing": [("range(T)", "range(T - 1)")],
        "first_step_missing": [("range(T)", "range(1, T)")],
        "time_reversed": [("range(T)", "reversed(range(T))")],
        "output_is_c": [("outputs.append(h)", "outputs.append(c)")],
        "output_one_early": [(LAYER_STEP, "outputs.append(h)\n            h, c = self.step(input[t], h, c)")],
        "output_only_last": [("torch.stack(outputs)", "outputs[-1]"), ("output = output.transpose(0, 1)", "pass")],
        "output_concatenated": [("torch.stack(outputs)", "torch.cat(outputs)"),
                                ("output = output.transpose(0, 1)", "pass")],
        "output_always_batch_first": [("torch.stack(outputs)", "torch.stack(outputs, 1)"),
                                      ("output = output.transpose(0, 1)", "pass")],
        "input_always_batch_first": [("if self.batch_first:\n            input =", "if True:\n            input =")],
        "batch_first_missing": [(", batch_first=False", ""), ("= batch_first", "= False")],
        "batch_first_ignored": [("= batch_first", "= False")],
        "batch_first_the_other_way": [("if self.batch_first", "if not self.batch_first")],
        "output_not_batch_first": [("output = output.transpose(0, 1)", "pass")],
        "view_for_batch_first": [("input = input.transpose(0, 1)",
                                  "input = input.reshape(input.shape[1], input.shape[0], -1)")],
        "h_n_batch_first": [(RETURN, "if self.batch_first:\n"
                                     "            h_n, c_n = h_n.transpose(0, 1), c_n.transpose(0, 1)\n"
                                     f"        {RETURN}")],
        "h_n_always_batch_first": [(RETURN, "return output, (h_n.transpose(0, 1), c_n.transpose(0, 1))")],
        "layer_in_output": [("state[0][0], state[1][0]", "state"), ("torch.zeros(N", "torch.zeros(1, N"),
                            (".unsqueeze(0)", "")],
        "h_0_batch_first": [("h, c = state[0][0], state[1][0]",
                             "h, c = [s[:, 0] if self.batch_first else s[0] for s in state]")],
        "h_n_from_output_last": [(RETURN, "return output, (output[-1].unsqueeze(0), c_n)")],
        "h_n_without_layer": [(".unsqueeze(0)", "")],
        "c_n_is_h_n": [(RETURN, "return output, (h_n, h_n)")],
        "state_returned_flat": [(RETURN, "return output, h_n, c_n")],
        "only_output_returned": [(RETURN, "return output")],
        "state_detached_each_step": [("self.step(input[t], h, c)\n            outputs.append(h)",
                                      "self.step(input[t], h, c)\n            outputs.append(h)\n"
                                      "            h, c = h.detach(), c.detach()")],
        "c_detached_each_step": [("outputs.append(h)", "outputs.append(h)\n            c = c.detach()")],
        "output_detached": [("outputs.append(h)", "outputs.append(h.detach())")],
    },
    "one_bias": orders(lambda order: [("[1, 0, 2, 3]", str(["figo".index(gate) for gate in order]))])
    | {
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
    "lstm_backward": orders(
        lambda order: [
            ("di * i * (1 - i), df * f * (1 - f), dg * (1 - g * g), do * o * (1 - o)", "I, F, G, O"),
            ("    da =", "    I, F = di * i * (1 - i), df * f * (1 - f)\n"
                         "    G, O = dg * (1 - g * g), do * o * (1 - o)\n    da ="),
            ("[I, F, G, O]", f"[{', '.join(order).upper()}]"),
        ]
    )
    | {
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
# Two take the gates for torch's, whatever the order; the third's program swaps only a state that is given.
APART = {"new_h_too_early", "biases_after_activation", "default_state_random"}

LAYERS = {
    "a tensor written step by step": [
        ("outputs = []", "output = torch.zeros(T, N, self.hidden_size)"),
        ("outputs.append(h)", "output[t] = h"),
        ("        output = torch.stack(outputs)\n", ""),
    ],
    "recursion": [
        ("for t in range(T):\n            h, c = self.step(input[t], h, c)\n            outputs.append(h)",
         "def go(t, h, c):\n            if t == T:\n                return h, c\n"
         "            h, c = self.step(input[t], h, c)\n            outputs.append(h)\n"
         "            return go(t + 1, h, c)\n"
         "        h, c = go(0, h, c)"),
    ],
    "batch-first inside": [
        ("input = input.transpose(0, 1)", "pass"),
        ("T, N, _ = input.shape",
         "input = input if self.batch_first else input.permute(1, 0, 2)\n        N, T, _ = input.shape"),
        ("input[t]", "input[:, t, :]"),
        ("torch.stack(outputs)", "torch.stack(outputs, dim=1)"),
        ("if self.batch_first:\n            output = ", "if not self.batch_first:\n            output = "),
    ],
    "all inputs at once": [
        ("for t in range(T):", "ahead = input @ self.weight_ih_l0.T + self.bias_ih_l0\n        for t in range(T):"),
        ("self.step(input[t]", "self.step(ahead[t]"),
        ("x @ self.weight_ih_l0.t() + self.bias_ih_l0", "x"),
    ],
}  # fmt: skip


class Multiply(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x @ w.T

    @staticmethod
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        return grad @ w, grad.T @ x


def gates_by_autograd_functions(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    a = Multiply.apply(x, weight_ih) + Multiply.apply(h, weight_hh) + bias_ih + bias_hh
    i, f, g, o = a.chunk(4, 1)
    return [i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()]


class OfTorchsWeights(nn.LSTMCell):
    """A layer of torch that only gives its first weights."""

    def forward(self, x, state=None):
        h, c = state or (torch.zeros(len(x), self.hidden_size),) * 2
        i, f, g, o = (x @ self.weight_ih.T + self.bias_ih + h @ self.weight_hh.T + self.bias_hh).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c


# A layer that hides a cell of its own has other names.
HIDDEN_CELL = CELL.replace("LSTMCell", "Cell") + '''
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
'''


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


def program(question, also_wrong=(), also_right=()):
    source, wrong = SOURCES[question], WRONG[question]
    apart = {name: edits for name, edits in wrong.items() if name not in HIDES | APART}
    return Program(source, wrong, also_wrong, also_right, drawn_pairs(question, source, apart, 12))


ANSWERS = {
    "gates": program("gates", [
        ("view_for_transpose", [("weight_ih.T", "weight_ih.view(x.shape[1], 4 * H)")]),
        ("view_for_transpose", [("weight_hh.T", "weight_hh.view(H, 4 * H)")]),
        ("hard_sigmoid", [("torch.sigmoid(", "torch.clamp(0.5 + 0.2 * ("), ("H])\n    f", "H]), 0, 1)\n    f"),
                          ("2*H])\n", "2*H]), 0, 1)\n"), ("3*H:])\n", "3*H:]), 0, 1)\n")]),
        ("gates_returned_in_other_order", [("return i, f, g, o", "return f, i, o, g")]),
    ], {"autograd functions": gates_by_autograd_functions}),
    "lstm_cell": program("lstm_cell", [
        ("state_detached", [("self.weight_hh, self.bias_hh)", "self.weight_hh, self.bias_hh)"),
                            ("F.linear(h,", "F.linear(h.detach(),")]),
        ("default_state_random", [("torch.zeros(x.shape", "torch.rand(x.shape")]),
        ("one_bias", [("        self.bias_hh = nn.Parameter(torch.zeros(4 * hidden_size))\n", ""),
                      ("self.weight_hh, self.bias_hh", "self.weight_hh")]),
        ("default_state_missing", [("state=None", "state")]),
        *(("library_layer", layer) for layer in LIBRARIES.values()),
    ], {name: CELL_HEAD + body for name, body in CELLS.items()} | {
        "torch's weights": OfTorchsWeights,
    }),
    "lstm": program("lstm", [
        ("state_kept_between_calls", [
            ("self.batch_first = batch_first", "self.batch_first = batch_first\n        self.state = None"),
            ("if state is None:", "state = state or self.state\n        if state is None:"),
            ("        return output", "        self.state = (h_n.detach(), c_n.detach())\n        return output"),
        ]),
        ("first_step_missing", [("outputs = []", "outputs = [torch.zeros(N, self.hidden_size)]"),
                                ("range(T)", "range(1, T)")]),
        ("last_step_missing", [("range(T)", "range(T - 1)"), ("stack(outputs)", "stack(outputs + [0 * h])")]),
        ("time_reversed", [("range(T)", "reversed(range(T))"), ("stack(outputs)", "stack(outputs[::-1])")]),
        ("h_0_batch_first", [("state[0][0], state[1][0]", "state[0][:, 0], state[1][:, 0]")]),
        ("layer_in_output", [("state[0][0], state[1][0]", "state"), ("torch.zeros(N", "torch.zeros(1, N")]),
        ("given_state_ignored", [("state[0][0], state[1][0]", "state[0][0], torch.zeros(N, self.hidden_size)")]),
        ("given_state_ignored", [("state[0][0], state[1][0]", "torch.zeros(N, self.hidden_size), state[1][0]")]),
        ("state_detached_each_step", [("(input[t], h, c)", "(input[t], h.detach(), c.detach())")]),
        ("c_detached_each_step", [("self.step(input[t], h, c)", "self.step(input[t], h, c.detach())")]),
        ("h_n_from_output_last", [("h.unsqueeze(0), c.unsqueeze(0)", "None, c.unsqueeze(0)"),
                                  ("(h_n, c_n)", "(output[-1][None], c_n)")]),
        ("parameter_names", HIDDEN_CELL),
        (("parameter_names", "gates_f_i_g_o"), changed(HIDDEN_CELL, ("i, f, g, o = a", "f, i, g, o = a"))),
    ], LAYERS),
    "one_bias": program("one_bias", [
    ], [
        [('reorder(weights["b"])', 'reorder(weights["b"]) * 0.7'), ("torch.zeros(4 * H)", '0.3 * reorder(weights["b"])')],
    ]),
    "lstm_backward": program("lstm_backward", [
        ("sigmoid_slope_missing", [("di * i * (1 - i)", "di"), ("df * f * (1 - f)", "df"),
                                   ("do * o * (1 - o)", "do")]),
        ("library_layer", by_autograd),
    ], []),
}  # fmt: skip
