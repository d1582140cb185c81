"""Question `gru_backward`: the gradients of one step of a GRU, by hand."""

import torch

from companion.check.engine.library_layers import AUTOGRAD, RECURRENT
from companion.check.engine.probe import Probe
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import Function
from companion.check.questions.weights import WEIGHTS, weights


def gru_backward_reference(x, h, weight_ih, weight_hh, bias_ih, bias_hh, grad_h_new):
    a_r, a_z, a_n = (x @ weight_ih.T + bias_ih).chunk(3, dim=-1)
    u_r, u_z, u_n = (h @ weight_hh.T + bias_hh).chunk(3, dim=-1)
    r = torch.sigmoid(a_r + u_r)
    z = torch.sigmoid(a_z + u_z)
    n = torch.tanh(a_n + r * u_n)

    d_n = grad_h_new * (1 - z)
    d_z = grad_h_new * (h - n)
    s_n = d_n * (1 - n**2)
    d_r = s_n * u_n
    s_r = d_r * r * (1 - r)
    s_z = d_z * z * (1 - z)
    d_a = torch.cat([s_r, s_z, s_n], dim=-1)
    d_u = torch.cat([s_r, s_z, s_n * r], dim=-1)
    grad_x = d_a @ weight_ih
    grad_h = d_u @ weight_hh + grad_h_new * z
    grad_weights = d_a.T @ x, d_u.T @ h
    grad_biases = d_a.sum(0), d_u.sum(0)
    return grad_x, grad_h, *grad_weights, *grad_biases


HERE, BIASES, RESET = "gru#four-equations", "gru#biases-differ", "gru#where-r-stands"
SLOPE_R, SLOPE_Z = "d_r * r * (1 - r)", "d_z * z * (1 - z)"
D_N, D_Z, SLOPE = "d_n = grad_h_new * (1 - z)", "grad_h_new * (h - n)", "d_n * (1 - n**2)"
GRAD_H, WEIGHTS_BACK, BIASES_BACK = "d_u @ weight_hh + grad_h_new * z", "d_a.T @ x, d_u.T @ h", "d_a.sum(0), d_u.sum(0)"


OTHERS = "nzr", "nrz", "rnz", "znr"  # orders of the rows besides torch's and zrn, the best known other one


def rows(order, both=True):
    """Return the changes that concatenate the rows in another order, and cut them in that order."""
    r, z, n = order
    new = f"[s_{r}, s_{z}, s_{n}]"
    back = ["[s_r, s_z, s_n]", new, "[s_r, s_z, s_n * r]", new.replace("s_n", "s_n * r")]
    cut = [
        text for part in "au" for text in (f"{part}_r, {part}_z, {part}_n =", f"{part}_{r}, {part}_{z}, {part}_{n} =")
    ]
    return [*back, *(cut if both else ())]


MISTAKES = {
    "reset_gate_missing_on_way_back": (RESET, "s_n * r]", "s_n]"),
    "biases_have_one_gradient": (BIASES, BIASES_BACK, "d_a.sum(0), d_a.sum(0)"),
    "biases_have_one_gradient~hh": ("", BIASES_BACK, "d_u.sum(0), d_u.sum(0)"),
    "reset_gate_missing_on_way_back~weight": ("", WEIGHTS_BACK, "d_a.T @ x, d_a.T @ h"),
    "reset_gate_missing_on_way_back~h": ("", GRAD_H, "d_a @ weight_hh + grad_h_new * z"),
    "reset_gate_on_way_to_input": (RESET, "[s_r, s_z, s_n]", "[s_r, s_z, s_n * r]"),
    "direct_way_missing": (HERE, GRAD_H, "d_u @ weight_hh"),
    "direct_way_by_other_share": (HERE, GRAD_H, "d_u @ weight_hh + grad_h_new"),
    "direct_way_by_other_share~new": ("", GRAD_H, "d_u @ weight_hh + grad_h_new * (1 - z)"),
    "direct_way_only": (HERE, GRAD_H, "grad_h_new * z"),
    "way_through_gates_missing": (HERE, GRAD_H, "(s_n * r) @ weight_hh.chunk(3)[2] + grad_h_new * z"),
    "update_gate_inverted": ("gru#which-one", D_N, "d_n = grad_h_new * z", D_Z, "grad_h_new * (n - h)",
                             "grad_h_new * z\n", "grad_h_new * (1 - z)\n"),
    "grad_n_by_other_share": (HERE, D_N, "d_n = grad_h_new * z"),
    "grad_n_by_other_share~all": ("", D_N, "d_n = grad_h_new"),
    "grad_z_by_other_factor": (HERE, D_Z, "grad_h_new * (n - h)"),
    "grad_z_by_other_factor~h": ("", D_Z, "grad_h_new * h"),
    "grad_z_by_other_factor~n": ("", D_Z, "-grad_h_new * n"),
    "grad_z_missing": (HERE, D_Z, "0 * h"),
    "grad_r_by_other_factor": (RESET, "s_n * u_n", "s_n * h"),
    "grad_r_by_other_factor~bias": ("", "s_n * u_n", "s_n * (u_n - bias_hh.chunk(3)[2])"),
    "grad_r_without_slope_of_n": (HERE, "s_n * u_n", "d_n * u_n"),
    "grad_r_missing": (HERE, "s_n * u_n", "0 * h"),
    "candidate_slope_missing": (HERE, SLOPE, "d_n"),
    "candidate_slope_other": (HERE, SLOPE, "d_n * (1 - n)"),
    "candidate_slope_other~sigmoid": ("", SLOPE, "d_n * n * (1 - n)"),
    "gate_slope_missing": (HERE, SLOPE_R, "d_r", SLOPE_Z, "d_z"),
    "gate_slope_missing~r": ("", SLOPE_R, "d_r"),
    "gate_slope_missing~z": ("", SLOPE_Z, "d_z"),
    "gate_slope_of_tanh": (HERE, SLOPE_R, "d_r * (1 - r**2)", SLOPE_Z, "d_z * (1 - z**2)"),
    "new_h_for_old_h": (HERE, WEIGHTS_BACK, "d_a.T @ x, d_u.T @ ((1 - z) * n + z * h)"),
    "bias_gradient_not_summed": (BIASES, BIASES_BACK, "d_a, d_u"),
    "gradient_averaged": (
        HERE, WEIGHTS_BACK, "d_a.T @ x / len(x), d_u.T @ h / len(x)", BIASES_BACK, "d_a.mean(0), d_u.mean(0)"),
    "bias_gradient_averaged": (BIASES, BIASES_BACK, "d_a.mean(0), d_u.mean(0)"),
    "weight_gradient_transposed": (HERE, WEIGHTS_BACK, "x.T @ d_a, h.T @ d_u"),
    "gradient_rows_in_other_order": (HERE, *rows("zrn", both=False)),
    **{f"gradient_rows_in_other_order~{order}": ("", *rows(order, both=False)) for order in OTHERS},
    "not_torchs_order": (HERE, *rows("zrn")),
    **{f"not_torchs_order~{order}": ("", *rows(order)) for order in OTHERS},
}  # fmt: skip


def truth(x, h, weight_ih, weight_hh, bias_ih, bias_hh, grad_h_new):
    with torch.enable_grad():
        inputs = [tensor.detach().requires_grad_() for tensor in (x, h, weight_ih, weight_hh, bias_ih, bias_hh)]
        return torch.autograd.grad(torch.gru_cell(*inputs), inputs, grad_h_new)


def probes(draw):
    def probe(name, draw, batch, inputs, hidden):
        tensors = {"x": draw(batch, inputs), "h": draw(batch, hidden)} | weights(draw, inputs, hidden, gates=3)
        return Probe(name, tensors | {"grad_h_new": draw(batch, hidden)}, gradients=None)

    return [
        probe("one_number", draw.few, 1, 1, 1),
        probe("batch_1", draw.few, 1, 3, 2),
        probe("several", draw, 3, 4, 5),
    ]


QUESTION = generate_question(
    gru_backward_reference,
    MISTAKES,
    truth=truth,
    name="gru_backward",
    assignment="gru",
    task=5,
    points=3,
    place=HERE,
    call=Function(("x", "h", *WEIGHTS, "grad_h_new"), tuple(f"grad_{name}" for name in ("x", "h", *WEIGHTS))),
    probes=probes,
    axes={
        "grad_x": ("batch", "feature"), "grad_h": ("batch", "unit"), "grad_h_new": ("batch", "unit"),
        **dict.fromkeys(("grad_weight_ih", "grad_weight_hh"), ("row", "feature")),
        **dict.fromkeys(("grad_bias_ih", "grad_bias_hh"), ("row",)),
    },
    forbidden=RECURRENT | AUTOGRAD,
    stretch=True,
)  # fmt: skip
