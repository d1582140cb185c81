"""Answers to the question `gru_backward`."""

import torch

from tests.check.answers import Program
from tests.check.answers.gru.gru_step import STEP
from tests.check.answers.gru.pairs import program

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

RIGHT = {
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
    "in float32": "lambda *given: gru_backward(*(tensor.float() for tensor in given))",
}  # fmt: skip


def by_autograd(*given):
    *given, grad = (tensor.clone().requires_grad_() for tensor in given)
    return torch.autograd.grad(Program(STEP).answer()(*given), given, grad)


PROGRAM = program("gru_backward", BACKWARD, BACKWARD_WRONG, [("library_layer", by_autograd)], RIGHT)  # fmt: skip
