"""Answers to the question `gru_step`."""

import torch

from tests.check.answers.gru.pairs import program

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
    """Return edits that take the rows in this order."""
    return [(text, f"{part}_{f', {part}_'.join(order)} = g{part}[") for text, part in ((CUT_I, "i"), (CUT_H, "h"))]


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

STEP_WRONG_ALONE = STEP_WRONG | {
    "variant_gates_z_r_n": cut("zrn"), "variant_gates_n_z_r": cut("nzr"), "rows_in_no_order_asked": cut("znr"),
    "state_detached": [("    H =", "    h = h.detach()\n    H =")],
    "state_in_tuple": [("return hy", "return hy, hy")],
}  # fmt: skip

RIGHT = {
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
}  # fmt: skip

PROGRAM = program("gru_step", STEP, STEP_WRONG_ALONE, [
    ("library_layer", lambda *given: torch.gru_cell(*given)),
    ("single_batch_only", [("F.linear(x, weight_ih, bias_ih)",
    "(weight_ih @ x.view(weight_ih.shape[1]) + bias_ih)[None]")]),
], RIGHT)  # fmt: skip
