"""Answers to the assignment `gru`."""

from itertools import permutations

import torch
from torch import nn

import companion
from companion.check.engine.question import all_questions
from tests.check.answers import Program, changed, drawn_pairs

STEP = """
def gru_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    H = h.shape[1]
    gi = F.linear(x, weight_ih, bias_ih)
    gh = F.linear(h, weight_hh, bias_hh)
    i_r, i_z, i_n = gi[:, :H], gi[:, H:2*H], gi[:, 2*H:]
    h_r, h_z, h_n = gh[:, :H], gh[:, H:2*H], gh[:, 2*H:]
    reset = torch.sigmoid(i_r + h_r)
    update = torch.sigmoid(i_z + h_z)
    new = torch.tanh(i_n + reset * h_n)
    hy = new + update * (h - new)
    return hy
"""
CUT_I, CUT_H = "i_r, i_z, i_n = gi[", "h_r, h_z, h_n = gh["
READ, MIX, W_HN = "i_n + reset * h_n", "new + update * (h - new)", "F.linear(h, weight_hh[2*H:])"


def cut(order):
    """Takes the rows in this order."""
    return [(one, f"{part}_{f', {part}_'.join(order)} = g{part}[") for one, part in ((CUT_I, "i"), (CUT_H, "h"))]


STEP_WRONG = {
    "update_gate_inverted": [(MIX, "(1 - update) * h + update * new")],
    "reset_before_product": [(READ, "i_n + F.linear(reset * h, weight_hh[2*H:], bias_hh[2*H:])")],
    "reset_gate_missing": [(READ, "i_n + h_n")],
    "reset_gate_on_input": [(READ, "reset * (i_n + h_n)")],
    "reset_gate_inverted": [(READ, "i_n + h_n - reset * h_n")],
    "candidate_reads_by_z": [(READ, "i_n + update * h_n")],
    "candidate_without_state": [(READ, "i_n")],
    "candidate_bias_outside": [(READ, f"i_n + bias_hh[2*H:] + reset * {W_HN}")],
    "candidate_biases_inside": [("F.linear(x, weight_ih, bias_ih)", "F.linear(x, weight_ih)"),
                                ("i_r + h_r", "i_r + h_r + bias_ih[:H]"), ("i_z + h_z", "i_z + h_z + bias_ih[H:2*H]"),
                                (READ, "i_n + reset * (h_n + bias_ih[2*H:])")],
    "candidate_bias_missing": [(READ, f"i_n + reset * {W_HN}")],
    "recurrent_weights_missing": [(READ, "i_n + reset * h")],
    "sigmoid_on_candidate": [(f"torch.tanh({READ})", f"torch.sigmoid({READ})")],
    "tanh_missing_on_candidate": [(f"torch.tanh({READ})", READ)],
    "relu_on_candidate": [(f"torch.tanh({READ})", f"F.relu({READ})")],
    "tanh_on_input_only": [(READ, "i_n) + (reset * h_n")],
    "tanh_on_gate": [("torch.sigmoid(", "torch.tanh(")],
    "sigmoid_missing_on_gate": [("torch.sigmoid(i_z + h_z)", "i_z + h_z")],
    "hard_sigmoid": [("torch.sigmoid", "F.hardsigmoid")],
    "gates_without_state": [("i_r + h_r", "i_r"), ("i_z + h_z", "i_z")],
    "old_content_lost": [(MIX, "new - update * new")],
    "old_content_not_gated": [(MIX, "h + (1 - update) * new")],
    "new_content_not_gated": [(MIX, "new + update * h")],
    "old_and_new_share_alike": [(MIX, "update * (h + new)")],
    "state_mixed_by_r": [(MIX, "new + reset * (h - new)")],
    "reset_state_mixed": [("    new =", "    h = reset * h\n    new =")],
    "mixture_squashed": [(MIX, f"F.tanh({MIX})")],
    "bias_ih_missing": [("F.linear(x, weight_ih, bias_ih)", "F.linear(x, weight_ih)")],
    "bias_hh_missing": [("F.linear(h, weight_hh, bias_hh)", "F.linear(h, weight_hh)")],
    "view_for_transpose": [("F.linear(x, weight_ih, bias_ih)", "x.mm(weight_ih.view(x.size(1), -1)) + bias_ih"),
                           ("F.linear(h, weight_hh, bias_hh)", "h.mm(weight_hh.view(H, -1)) + bias_hh")],
    "recurrent_weights_transposed": [
        ("F.linear(h, weight_hh, bias_hh)",
         "bias_hh + torch.hstack([h @ weight_hh[k:k+H] for k in range(0, 3 * H, H)])")],
    "rows_interleaved": [("gi[:, :H], gi[:, H:2*H], gi[:, 2*H:]", "gi[:, 0::3], gi[:, 1::3], gi[:, 2::3]"),
                         ("gh[:, :H], gh[:, H:2*H], gh[:, 2*H:]", "gh[:, 0::3], gh[:, 1::3], gh[:, 2::3]")],
}  # fmt: skip

LAYER = """
class GRU(nn.Module):
    def __init__(self, input_size, hidden_size):
        super(GRU, self).__init__()
        self.input_size, self.hidden_size = input_size, hidden_size
        self.weight_ih_l0 = nn.Parameter(torch.zeros(3 * hidden_size, input_size))
        self.weight_hh_l0 = nn.Parameter(torch.zeros(3 * hidden_size, hidden_size))
        self.bias_ih_l0 = nn.Parameter(torch.zeros(3 * hidden_size))
        self.bias_hh_l0 = nn.Parameter(torch.zeros(3 * hidden_size))
        self.state = None

    def forward(self, input, h_0=None):
        T, N, _ = input.shape
        if h_0 is None:
            h_0 = torch.zeros(1, N, self.hidden_size)
        h = h_0.squeeze(0)
        steps = []
        for t in range(T):
            h = gru_step(input[t], h, self.weight_ih_l0, self.weight_hh_l0, self.bias_ih_l0, self.bias_hh_l0)
            steps += [h]
        out = torch.cat([s[None] for s in steps])
        return out, h[None]
"""
FIRST, TIMES, LAST, KEEP = "h = h_0.squeeze(0)", "range(T)", "h[None]", "steps += [h]"
OUT = "torch.cat([s[None] for s in steps])"
ZEROS, NEXT = "torch.zeros(1, N, self.hidden_size)", "gru_step(input[t], h, "
SWAPPED = [("T, N, _", "N, T, _"), ("input[t]", "input[:, t]")]
LAYER_WRONG = {
    "h_n_without_layer": [(LAST, "h")],
    "only_output_returned": [(f"return out, {LAST}", "return out")],
    "results_swapped": [(f"return out, {LAST}", f"return {LAST}, out")],
    "state_is_a_pair": [(f"return out, {LAST}", f"return out, ({LAST}, {LAST})")],
    "state_read_as_pair": [(f"h_0 = {ZEROS}", "h_0 = (torch.zeros(N, self.hidden_size),) * 2"), (FIRST, "h, c = h_0")],
    "output_only_last": [(OUT, "steps[-1]")],
    "output_concatenated": [(OUT, "torch.cat(steps)")],
    "output_not_stacked": [(OUT, "steps")],
    "output_always_batch_first": [(OUT, "torch.stack(steps, 1)")],
    "input_always_batch_first": SWAPPED,
    "all_batch_first": [*SWAPPED, (OUT, "torch.stack(steps, dim=1)")],
    "h_n_always_batch_first": [(LAST, "h.unsqueeze(1)")],
    "h_n_is_output": [(LAST, "out")],
    "h_n_is_h_0": [(LAST, "h_0")],
    "h_n_from_last_row": [(LAST, "out[:, -1, :]")],
    "h_n_from_first_step": [(LAST, "out[0:1]")],
    "layer_in_output": [(FIRST, "h = h_0"), ("return out, h[None]", "return out, h"),
                        ("H = h.shape[1]", "H = h.shape[-1]"), ("[:, :H]", "[..., :H]"), ("[:, H:2*H]", "[..., H:2*H]"),
                        ("[:, 2*H:]", "[..., 2*H:]")],
    "state_not_carried": [(NEXT, "gru_step(input[t], h_0[0], ")],
    "given_state_ignored": [("if h_0 is None:", "if True:")],
    "first_input_only": [("input[t]", "input[0]")],
    "first_step_missing": [(TIMES, "range(1, T)")],
    "last_step_missing": [(TIMES, "range(T - 1)")],
    "time_reversed": [(TIMES, "reversed(range(T))")],
    "output_reversed": [(KEEP, "steps.insert(0, h)")],
    "output_one_early": [(KEEP, ""), ("            h = gru", "            steps.append(h)\n            h = gru")],
    "output_with_h_0": [("steps = []", "steps = [h]")],
    "one_bias": [("        self.bias_hh_l0 = nn.Parameter(torch.zeros(3 * hidden_size))\n", ""),
                 ("self.bias_hh_l0)", "torch.zeros(3 * self.hidden_size))")],
    "no_bias": [("        self.bias_hh_l0 = nn.Parameter(torch.zeros(3 * hidden_size))\n", ""),
                ("        self.bias_ih_l0 = nn.Parameter(torch.zeros(3 * hidden_size))\n", ""),
                ("self.bias_ih_l0, self.bias_hh_l0)", "0 * self.weight_hh_l0[:, 0], 0 * self.weight_hh_l0[:, 0])")],
    "weights_transposed": [("3 * hidden_size, input_size", "input_size, 3 * hidden_size"),
                           ("3 * hidden_size, hidden_size", "hidden_size, 3 * hidden_size"),
                           ("self.weight_ih_l0, self.weight_hh_l0", "self.weight_ih_l0.t(), self.weight_hh_l0.t()")],
    "default_state_missing": [("        if h_0 is None:\n            h_0 = torch.zeros(1, N, self.hidden_size)\n", ""),
                              (FIRST, "h = h_0[0]")],
    "default_state_ones": [(ZEROS, "input.new_ones(1, N, self.hidden_size)")],
    "default_state_random": [("torch.zeros(1, N", "torch.randn(1, N")],
    "state_kept_between_calls": [(ZEROS, f"{ZEROS} if self.state is None else self.state"),
                                 ("        return", "        self.state = h[None]\n        return")],
    "state_detached_each_step": [(NEXT, "gru_step(input[t], h.data, ")],
    "output_detached": [(KEEP, "steps += [h.detach()]")],
    "h_n_detached": [(LAST, "h[None].detach()")],
    "h_0_detached": [(FIRST, "h = h_0.squeeze(0).data")],
    "not_torchs_order": cut("nzr"),
} | STEP_WRONG  # fmt: skip

COUPLED = """
def coupled_lstm_step(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh):
    sums = torch.cat([x, h], dim=1) @ torch.cat([weight_ih, weight_hh], dim=1).T + (bias_ih + bias_hh)
    n = c.size(1)
    gate = sums[:, 0:n].sigmoid()
    cand = sums[:, n:2*n].tanh()
    out = sums[:, 2*n:3*n].sigmoid()
    cell = gate * c + (1 - gate) * cand
    return out * cell.tanh(), cell
"""
MIXED, SAID = "gate * c + (1 - gate) * cand", "return out * cell.tanh(), cell"
THIRDS = ["0:n", "n:2*n", "2*n:3*n"]


def thirds(order):
    """Takes the rows of gate, candidate and output gate in this order."""
    places = [(f"[:, {one}]", f"[:: , {THIRDS[order.index(name)]}]") for one, name in zip(THIRDS, "ugo")]
    return [*places, ("[:: ,", "[:,")]


IN_TURN = [*((f"[:, {one}]", f"[:, {k}::3]") for k, one in enumerate(THIRDS))]
BY_HAND = "torch.cat([x, h], dim=1) @ torch.cat([weight_ih, weight_hh], dim=1).T"
LSTM_WRONG = {  # of both LSTMs
    "old_c_returned": [(SAID, "return out * cell.tanh(), c")],
    "state_returned_as_c_h": [(SAID, "return cell, out * cell.tanh()")],
    "only_h_returned": [(SAID, "return out * cell.tanh()")],
    "state_returned_nested": [(SAID, "h = out * cell.tanh()\n    return h, (h, cell)")],
    "tanh_missing_on_c": [("out * cell.tanh()", "out * cell")],
    "sigmoid_on_c": [("out * cell.tanh()", "out * cell.sigmoid()")],
    "tanh_on_product": [("out * cell.tanh()", "torch.tanh(out * cell)")],
    "h_from_old_c": [("out * cell.tanh()", "out * c.tanh()")],
    "output_gate_missing": [("out * cell.tanh()", "cell.tanh()")],
    "tanh_kept_in_c": [(SAID, "cell = cell.tanh()\n    return out * cell, cell")],
    "bias_ih_missing": [("(bias_ih + bias_hh)", "bias_hh")],
    "bias_hh_missing": [("(bias_ih + bias_hh)", "bias_ih")],
    "hidden_ignored": [(BY_HAND, "x @ weight_ih.T")],
    "view_for_transpose": [(BY_HAND, "x @ weight_ih.view(x.size(1), -1) + h @ weight_hh.view(h.size(1), -1)")],
    "recurrent_weights_transposed": [
        (BY_HAND, "x @ weight_ih.T + torch.hstack([h @ w for w in weight_hh.split(h.size(1))])")],
    "state_detached": [("    sums", "    h, c = h.data, c.data\n    sums")],
    "sigmoid_on_g": [("cand = sums[:, n:2*n].tanh()", "cand = sums[:, n:2*n].sigmoid()")],
    "tanh_missing_on_g": [("cand = sums[:, n:2*n].tanh()", "cand = sums[:, n:2*n]")],
    "relu_on_g": [("cand = sums[:, n:2*n].tanh()", "cand = F.relu(sums[:, n:2*n])")],
}  # fmt: skip
COUPLED_WRONG = {
    "variant_u_writes_u_g_o": [(MIXED, "(1 - gate) * c + gate * cand")],
    "variant_u_keeps_g_o_u": thirds("gou"),
    "variant_u_writes_g_o_u": [(MIXED, "c + gate * (cand - c)"), *thirds("gou")],
    "old_and_new_share_alike": [(MIXED, "gate * (c + cand)")],
    "new_content_not_gated": [(MIXED, "gate * c + cand")],
    "old_content_not_gated": [(MIXED, "c + (1 - gate) * cand")],
    "old_content_lost": [(MIXED, "(1 - gate) * cand")],
    "output_gate_writes": [(MIXED, "gate * c + out * cand")],
    "old_h_for_old_c": [(MIXED, "gate * h + (1 - gate) * cand")],
    "mixture_squashed": [(MIXED, f"torch.tanh({MIXED})")],
    "sigmoid_missing_on_gate": [("gate = sums[:, 0:n].sigmoid()", "gate = sums[:, 0:n]")],
    "tanh_on_gate": [("gate = sums[:, 0:n].sigmoid()", "gate = sums[:, 0:n].tanh()")],
    "sigmoid_missing_on_o": [("sums[:, 2*n:3*n].sigmoid()", "sums[:, 2*n:3*n]")],
    "tanh_on_o": [("sums[:, 2*n:3*n].sigmoid()", "sums[:, 2*n:3*n].tanh()")],
    "hard_sigmoid": [("gate = sums[:, 0:n].sigmoid()", "gate = F.hardsigmoid(sums[:, 0:n])"),
                     ("sums[:, 2*n:3*n].sigmoid()", "F.hardsigmoid(sums[:, 2*n:3*n])")],
    "rows_interleaved": IN_TURN,
    "rows_in_no_order_asked": thirds("oug"),
    "c_detached": [("gate * c +", "gate * c.detach() +")],
} | LSTM_WRONG  # fmt: skip

PEEPHOLE = """
def peephole_lstm_step(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, weight_ci, weight_cf, weight_co):
    sums = torch.cat([x, h], dim=1) @ torch.cat([weight_ih, weight_hh], dim=1).T + (bias_ih + bias_hh)
    n = c.size(1)
    s_i, s_f, s_g, s_o = (sums[:, k * n : (k + 1) * n] for k in range(4))
    inp = (s_i + c * weight_ci).sigmoid()
    forget = (s_f + c * weight_cf).sigmoid()
    cand = s_g.tanh()
    cell = forget * c + inp * cand
    out = (s_o + cell * weight_co).sigmoid()
    return out * cell.tanh(), cell
"""
CELL, QUARTERS = "forget * c + inp * cand", "s_i, s_f, s_g, s_o ="
SEEN = ["c * weight_ci", "c * weight_cf", "cell * weight_co"]
PEEPHOLE_WRONG = LSTM_WRONG | {
    "sigmoid_on_g": [("s_g.tanh()", "s_g.sigmoid()")],
    "tanh_missing_on_g": [("s_g.tanh()", "s_g")],
    "relu_on_g": [("s_g.tanh()", "s_g.relu()")],
    "output_peephole_reads_old_c": [("cell * weight_co", "c * weight_co")],
    "peephole_missing": [(" + cell * weight_co", "")],
    "peepholes_exchanged": [("weight_cf)", "weight_)"), ("weight_ci)", "weight_cf)"), ("weight_)", "weight_ci)")],
    "peepholes_read_h": [(one, "h *" + one.partition("*")[2]) for one in SEEN],
    "peepholes_read_tanh_of_c": [(one, one.replace(" *", ".tanh() *")) for one in SEEN],
    "peepholes_mix_units": [(one, one.replace(" *", " @") + "[:, None]") for one in SEEN],
    "peepholes_outside_sigmoid": [(f" + {one}).sigmoid()", f").sigmoid() + {one}") for one in SEEN],
    "peephole_on_candidate": [("s_g.tanh()", "(s_g + c * weight_ci).tanh()")],
    "peepholes_detached": [(one, one.replace(" *", ".detach() *")) for one in SEEN],
    "sigmoid_missing_on_i": [("weight_ci).sigmoid()", "weight_ci)")],
    "sigmoid_missing_on_f": [("weight_cf).sigmoid()", "weight_cf)")],
    "sigmoid_missing_on_o": [("weight_co).sigmoid()", "weight_co)")],
    "forget_gate_missing": [(CELL, "c + inp * cand")],
    "input_gate_missing": [(CELL, "forget * c + cand")],
    "coupled_gates": [(CELL, "forget * c + (1 - forget) * cand")],
    "forget_gate_on_sum": [(CELL, "forget * (c + inp * cand)")],
    "forget_gate_on_new_content": [(CELL, "c + forget * inp * cand")],
    "old_c_ignored": [(CELL, "inp * cand")],
    "input_added_not_gated": [(CELL, "forget * c + inp + cand")],
    "c_squashed": [(CELL, f"torch.tanh({CELL})")],
    "gates_interleaved": [("sums[:, k * n : (k + 1) * n]", "sums[:, k::4]")],
} | {f"gates_{'_'.join(order)}": [(QUARTERS, f"s_{', s_'.join(order)} =")]
     for order in permutations("ifgo") if order != tuple("ifgo")}  # fmt: skip

BACKWARD = """
def gru_backward(x, h, weight_ih, weight_hh, bias_ih, bias_hh, grad_h_new):
    H = h.shape[1]
    gi, gh = x @ weight_ih.T + bias_ih, h @ weight_hh.T + bias_hh
    i_r, i_z, i_n = gi.split(H, 1)
    h_r, h_z, h_n = gh.split(H, 1)
    r, z = (i_r + h_r).sigmoid(), (i_z + h_z).sigmoid()
    n = (i_n + r * h_n).tanh()
    hy = n - z * n + z * h
    dh = grad_h_new * z
    dn = grad_h_new - grad_h_new * z
    dz = grad_h_new * h - grad_h_new * n
    dn_in = (1 - n * n) * dn
    dr = dn_in * h_n
    dr_in = dr * (r - r * r)
    dz_in = dz * (z - z * z)
    dgi = torch.zeros_like(gi)
    dgi[:, :H], dgi[:, H:2*H], dgi[:, 2*H:] = dr_in, dz_in, dn_in
    dgh = torch.zeros_like(gh)
    dgh[:, :H], dgh[:, H:2*H], dgh[:, 2*H:] = dr_in, dz_in, r * dn_in
    dh = dh + dgh @ weight_hh
    return dgi @ weight_ih, dh, dgi.T @ x, dgh.T @ h, dgi.sum(dim=0), dgh.sum(dim=0)
"""
D_N, D_Z = "grad_h_new - grad_h_new * z", "grad_h_new * h - grad_h_new * n"
BOTH_BIASES, BOTH_WEIGHTS = "dgi.sum(dim=0), dgh.sum(dim=0)", "dgi.T @ x, dgh.T @ h"
TURNED = [
    ("= dr_in, dz_in, dn_in", "= dz_in, dr_in, dn_in"),
    ("= dr_in, dz_in, r * dn_in", "= dz_in, dr_in, r * dn_in"),
]
BACKWARD_WRONG = {
    "reset_gate_missing_on_way_back": [("r * dn_in", "dn_in")],
    "biases_have_one_gradient": [(BOTH_BIASES, "dgi.sum(dim=0), dgi.sum(dim=0)")],
    "reset_gate_on_way_to_input": [("dz_in, dn_in", "dz_in, dn_in * r")],
    "direct_way_missing": [("dh + dgh @ weight_hh", "dgh @ weight_hh")],
    "direct_way_by_other_share": [("dh = grad_h_new * z", "dh = grad_h_new * (1 - z)")],
    "direct_way_only": [("    dh = dh + dgh @ weight_hh\n", "")],
    "way_through_gates_missing": [("dgh @ weight_hh", "dgh[:, 2*H:] @ weight_hh[2*H:]")],
    "update_gate_inverted": [("dh = grad_h_new * z", "dh = grad_h_new * (1 - z)"), (D_N, "grad_h_new * z"),
                             (D_Z, "grad_h_new * (n - h)")],
    "grad_n_by_other_share": [(D_N, "grad_h_new * z")],
    "grad_z_by_other_factor": [(D_Z, "grad_h_new * h")],
    "grad_z_missing": [("= dr_in, dz_in, ", "= dr_in, 0, ")],
    "grad_r_by_other_factor": [("dn_in * h_n", "dn_in * h")],
    "grad_r_without_slope_of_n": [("dr = dn_in * h_n", "dr = dn * h_n")],
    "grad_r_missing": [("= dr_in, ", "= 0, ")],
    "candidate_slope_missing": [("(1 - n * n) * dn", "dn")],
    "candidate_slope_other": [("(1 - n * n) * dn", "n * (1 - n) * dn")],
    "gate_slope_missing": [("dr * (r - r * r)", "dr"), ("dz * (z - z * z)", "dz")],
    "gate_slope_of_tanh": [("r - r * r", "1 - r * r"), ("z - z * z", "1 - z * z")],
    "new_h_for_old_h": [("dgh.T @ h", "dgh.T @ hy")],
    "bias_gradient_not_summed": [(BOTH_BIASES, "dgi, dgh")],
    "gradient_averaged": [(BOTH_BIASES, "dgi.mean(0), dgh.mean(0)"),
                          (BOTH_WEIGHTS, "dgi.T @ x / len(x), dgh.T @ h / len(h)")],
    "bias_gradient_averaged": [(BOTH_BIASES, "dgi.mean(0), dgh.mean(0)")],
    "weight_gradient_transposed": [(BOTH_WEIGHTS, "x.T @ dgi, h.T @ dgh")],
    "gradient_rows_in_other_order": TURNED,
    "not_torchs_order": [*TURNED, ("i_r, i_z, i_n", "i_z, i_r, i_n"), ("h_r, h_z, h_n", "h_z, h_r, h_n")],
}  # fmt: skip

STEP_WRONG_ALONE = STEP_WRONG | {
    "variant_gates_z_r_n": cut("zrn"), "variant_gates_n_z_r": cut("nzr"), "rows_in_no_order_asked": cut("znr"),
    "state_detached": [("    H =", "    h = h.detach()\n    H =")],
    "state_in_tuple": [("return hy", "return hy, hy")],
}  # fmt: skip

# Right, in another way
RIGHT = {
    "gru_step": {
        "row by row": """
            def gru_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
                def one(x, h):
                    a, u = (weight_ih @ x + bias_ih).view(3, -1), (weight_hh @ h + bias_hh).view(3, -1)
                    r, z = torch.sigmoid(a[:2] + u[:2])
                    return h + (1 - z) * (torch.tanh(a[2] + r * u[2]) - h)

                return torch.vmap(one)(x, h)
        """,
        "in place": [("gh = F.linear(h, weight_hh, bias_hh)", "gh = h.mm(weight_hh.t()).add_(bias_hh)")],
        "in float32": "lambda *given: gru_step(*(one.float() for one in given))",
    },
    "gru_layer": {
        "parameters registered by name, a module inside that has none": [
            (LAYER[LAYER.index("        self.weight_ih_l0") : LAYER.index("        self.state")], """\
        self.inside = nn.Identity()
        for name, shape in dict(weight_ih=(input_size,), weight_hh=(hidden_size,), bias_ih=(), bias_hh=()).items():
            self.register_parameter(f"{name}_l0", nn.Parameter(torch.randn(3 * hidden_size, *shape)))
"""),
        ],
        "an output that is filled, a buffer, a list returned": [
            ("self.state = None", "self.register_buffer('zero', torch.zeros(1))"),
            (ZEROS, "self.zero.expand(1, N, self.hidden_size)"),
            ("steps = []", "out = torch.zeros(T, N, self.hidden_size)"), (KEEP, "out[t] = h"),
            (f"        out = {OUT}\n", ""),
            ("return out, h[None]", "return [out, out[-1:]]"),
        ],
        "rows put into another order for one's own step": [
            *cut("nzr"), ("self.weight_ih_l0, self.weight_hh_l0, self.bias_ih_l0, self.bias_hh_l0)",
                          "*(torch.cat(w.chunk(3)[::-1]) for w in self.parameters()))"),
        ],
    },
    "coupled_lstm_step": {
        "by logsigmoid and lerp, a list": """
            def coupled_lstm_step(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh):
                a = F.linear(x, weight_ih, bias_ih) + F.linear(h, weight_hh, bias_hh)
                u, g, o = a.unflatten(1, (3, -1)).unbind(1)
                c = torch.lerp(g.tanh(), c, F.logsigmoid(u).exp())
                return [torch.tanh(c) * torch.sigmoid(o), c]
        """,
        "a named tuple": [
            ("def coupled", "from collections import namedtuple\n\nState = namedtuple('State', 'h c')\n\ndef coupled"),
            (SAID, "return State(out * cell.tanh(), cell)"),
        ],
    },
    "peephole_lstm_step": {
        "diagonal matrices": """
            def peephole_lstm_step(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, w_i, w_f, w_o):
                i, f, g, o = (x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh).tensor_split(4, dim=1)
                i, f = torch.sigmoid(i + c @ torch.diag(w_i)), torch.sigmoid(f + c @ torch.diag(w_f))
                c = f * c + i * torch.tanh(g)
                return torch.sigmoid(o + c @ torch.diag(w_o)) * torch.tanh(c), c
        """,
        "in float32": "lambda *given: peephole_lstm_step(*(one.float() for one in given))",
    },
    "gru_backward": {
        "gate by gate": """
            def gru_backward(x, h, weight_ih, weight_hh, bias_ih, bias_hh, grad_h_new):
                (W_r, W_z, W_n), (U_r, U_z, U_n) = weight_ih.chunk(3), weight_hh.chunk(3)
                b, d = bias_ih.chunk(3), bias_hh.chunk(3)
                r = torch.sigmoid(x @ W_r.T + b[0] + h @ U_r.T + d[0])
                z = torch.sigmoid(x @ W_z.T + b[1] + h @ U_z.T + d[1])
                u = h @ U_n.T + d[2]
                n = torch.tanh(x @ W_n.T + b[2] + r * u)
                s_n = grad_h_new * (1 - z) * (1 - n.square())
                s_r, s_z = s_n * u * r * (1 - r), grad_h_new * (h - n) * z * (1 - z)
                d_x = s_r @ W_r + s_z @ W_z + s_n @ W_n
                d_h = z * grad_h_new + s_r @ U_r + s_z @ U_z + (s_n * r) @ U_n
                by_x, by_h = (s_r, s_z, s_n), (s_r, s_z, r * s_n)
                return [d_x, d_h, torch.cat([s.T @ x for s in by_x]), torch.cat([s.T @ h for s in by_h]),
                        torch.cat([s.sum(0) for s in by_x]), torch.cat([s.sum(0) for s in by_h])]
        """,
        "under no_grad": [("def gru", "@torch.no_grad()\ndef gru")],
        "in float32": "lambda *given: gru_backward(*(one.float() for one in given))",
    },
}  # fmt: skip

# Layers inside have other names, and what goes wrong besides is named with them.
LINEARS = """
        self.h2h, self.x2h = nn.Linear(hidden_size, 3 * hidden_size), nn.Linear(input_size, 3 * hidden_size)
"""
OTHER_NAMES = STEP + changed(
    LAYER[: LAYER.index("        self.weight_ih_l0")] + LINEARS + LAYER[LAYER.index("    def forward") :],
    ("self.weight_ih_l0, self.weight_hh_l0, self.bias_ih_l0, self.bias_hh_l0",
     "self.x2h.weight, self.h2h.weight, self.x2h.bias, self.h2h.bias"),
)  # fmt: skip


def by_torchs_lstm(x, h, c, *weights):
    """Answer the first variant by torch's LSTM: the sum of its input gate is -u."""
    return torch.lstm_cell(
        x, (h, c), *(torch.cat([-u, u, g, o]) for u, g, o in (weight.chunk(3) for weight in weights))
    )


def by_autograd(*given):
    *given, grad = (one.clone().requires_grad_() for one in given)
    return torch.autograd.grad(Program(STEP).answer()(*given), given, grad)


def left_out(pair, edits):
    """Return whether a pair changes a text twice, or names rows by their place, which says nothing about another
    order."""
    rows = any("rows" in name or "order" in name or "variant" in name for name in pair)
    places = any("2*H" in new for _, new in edits) or {"candidate_reads_by_z", "state_mixed_by_r"} & {*pair}
    return len({old for old, _ in edits}) < len(edits) or rows and places


def program(question, source, wrong, also_wrong):
    pairs = drawn_pairs(question, source, wrong, 40, left_out)
    return Program(source, wrong, also_wrong, RIGHT[question], pairs)


ANSWERS = {
    "gru_step": program("gru_step", STEP, STEP_WRONG_ALONE, [
        ("library_layer", lambda *given: torch.gru_cell(*given)),
        ("single_batch_only", [("F.linear(x, weight_ih, bias_ih)",
        "(weight_ih @ x.view(weight_ih.shape[1]) + bias_ih)[None]")]),
    ]),
    "gru_layer": program("gru_layer", STEP + LAYER, LAYER_WRONG, [
        ("library_layer", nn.GRU),
        ("library_layer", companion.GRU),
        ("library_layer", all_questions()["gru_layer"].reference(frozenset())),
        ("parameter_names", OTHER_NAMES),
        (("update_gate_inverted", "parameter_names"), changed(OTHER_NAMES, *STEP_WRONG["update_gate_inverted"])),
    ]),
    "coupled_lstm_step": program("coupled_lstm_step", COUPLED, COUPLED_WRONG, [("library_layer", by_torchs_lstm)]),
    "peephole_lstm_step": program("peephole_lstm_step", PEEPHOLE, PEEPHOLE_WRONG, [
        ("peepholes_read_h", [(one, "h *" + one.partition("*")[2]) for one in SEEN[:2]]),
        ("peepholes_read_tanh_of_c", [(SEEN[2], "cell.tanh() * weight_co")]),
        ("library_layer", all_questions()["peephole_lstm_step"].truth),
        ("library_layer", all_questions()["peephole_lstm_step"].reference(frozenset())),
    ]),
    "gru_backward": program("gru_backward", BACKWARD, BACKWARD_WRONG, [("library_layer", by_autograd)]),
}  # fmt: skip
