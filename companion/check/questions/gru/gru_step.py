"""Question `gru_step`: one step of a GRU. Variants: the order of the gates in the weights."""

import torch

from companion.check.engine.probe import Probe
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import Function
from companion.check.questions.weights import WEIGHTS, weights


def gru_step_reference(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    R, Z, N = 0, 1, 2  # the place of the rows of each
    from_x = x @ weight_ih.T + bias_ih
    from_h = h @ weight_hh.T + bias_hh
    a = from_x.chunk(3, dim=-1)
    u = from_h.chunk(3, dim=-1)
    r = torch.sigmoid(a[R] + u[R])
    z = torch.sigmoid(a[Z] + u[Z])
    n = torch.tanh(a[N] + r * u[N])
    h_new = (1 - z) * n + z * h
    return h_new


ROWS, R_GATE, Z_GATE = "from_x = ", "torch.sigmoid(a[R] + u[R])", "torch.sigmoid(a[Z] + u[Z])"
CANDIDATE, MIXED = "torch.tanh(a[N] + r * u[N])", "(1 - z) * n + z * h"
FOUR, RESET, BIASES = "gru#four-equations", "gru#where-r-stands", "gru#biases-differ"
PRODUCT = "(h @ weight_hh.chunk(3)[N].T)"
BEFORE = "torch.tanh(a[N] + (r * h) @ weight_hh.chunk(3)[N].T + bias_hh.chunk(3)[N])"

# Mistakes in the equations, shared with the layer.
STEP_MISTAKES = {
    "update_gate_inverted": ("gru#which-one", MIXED, "z * n + (1 - z) * h"),
    "reset_before_product": (RESET, CANDIDATE, BEFORE),
    "reset_gate_missing": ("gru#hears-itself", CANDIDATE, "torch.tanh(a[N] + u[N])"),
    "reset_gate_on_input": ("gru#hears-itself", CANDIDATE, "torch.tanh(r * (a[N] + u[N]))"),
    "reset_gate_on_input~only": ("", CANDIDATE, "torch.tanh(r * a[N] + u[N])"),
    "reset_gate_inverted": ("gru#hears-itself", CANDIDATE, "torch.tanh(a[N] + (1 - r) * u[N])"),
    "candidate_reads_by_z": ("gru#hears-itself", CANDIDATE, "torch.tanh(a[N] + z * u[N])"),
    "candidate_without_state": ("gru#hears-itself", CANDIDATE, "torch.tanh(a[N])"),
    "recurrent_weights_missing": ("gru#hears-itself", CANDIDATE, "torch.tanh(a[N] + r * h)"),
    "candidate_bias_outside": (BIASES, CANDIDATE, f"torch.tanh(a[N] + r * {PRODUCT} + bias_hh.chunk(3)[N])"),
    "candidate_biases_inside": (
        BIASES, CANDIDATE, "torch.tanh(a[N] - bias_ih.chunk(3)[N] + r * (u[N] + bias_ih.chunk(3)[N]))"),
    "candidate_bias_missing": (BIASES, CANDIDATE, f"torch.tanh(a[N] + r * {PRODUCT})"),
    "sigmoid_on_candidate": (FOUR, CANDIDATE, "torch.sigmoid(a[N] + r * u[N])"),
    "tanh_missing_on_candidate": (FOUR, CANDIDATE, "a[N] + r * u[N]"),
    "relu_on_candidate": (FOUR, CANDIDATE, "torch.relu(a[N] + r * u[N])"),
    "tanh_on_input_only": (FOUR, CANDIDATE, "torch.tanh(a[N]) + r * u[N]"),
    "tanh_on_gate": (FOUR, R_GATE, "torch.tanh(a[R] + u[R])", Z_GATE, "torch.tanh(a[Z] + u[Z])"),
    "tanh_on_gate~r": ("", R_GATE, "torch.tanh(a[R] + u[R])"),
    "tanh_on_gate~z": ("", Z_GATE, "torch.tanh(a[Z] + u[Z])"),
    "sigmoid_missing_on_gate": (FOUR, R_GATE, "a[R] + u[R]", Z_GATE, "a[Z] + u[Z]"),
    "sigmoid_missing_on_gate~r": ("", R_GATE, "a[R] + u[R]"),
    "sigmoid_missing_on_gate~z": ("", Z_GATE, "a[Z] + u[Z]"),
    "hard_sigmoid": ("gru#four-equations", R_GATE, "((a[R] + u[R]) / 6 + 0.5).clamp(0, 1)",
                     Z_GATE, "((a[Z] + u[Z]) / 6 + 0.5).clamp(0, 1)"),
    "gates_without_state": (FOUR, R_GATE, "torch.sigmoid(a[R])", Z_GATE, "torch.sigmoid(a[Z])"),
    "old_content_lost": ("gru#one-state", MIXED, "(1 - z) * n"),
    "old_content_not_gated": ("gru#one-gate-for-two", MIXED, "(1 - z) * n + h"),
    "new_content_not_gated": ("gru#one-gate-for-two", MIXED, "n + z * h"),
    "old_and_new_share_alike": ("gru#one-gate-for-two", MIXED, "z * n + z * h"),
    "state_mixed_by_r": ("gru#one-gate-for-two", MIXED, "(1 - r) * n + r * h"),
    "reset_state_mixed": ("gru#one-gate-for-two", MIXED, "(1 - z) * n + z * (r * h)"),
    "mixture_squashed": ("gru#one-state", MIXED, "torch.tanh((1 - z) * n + z * h)"),
    "bias_ih_missing": (BIASES, "x @ weight_ih.T + bias_ih", "x @ weight_ih.T"),
    "bias_hh_missing": (BIASES, "h @ weight_hh.T + bias_hh", "h @ weight_hh.T"),
    "view_for_transpose": ("gru#the-step", "weight_ih.T +", "weight_ih.reshape(weight_ih.T.shape) +",
                           "weight_hh.T +", "weight_hh.reshape(weight_hh.T.shape) +"),
    "recurrent_weights_transposed": (
        "gru#the-step", "h @ weight_hh.T", "torch.cat([h @ part for part in weight_hh.chunk(3)], dim=-1)"),
    "rows_interleaved": ("gru#four-equations", "from_x.chunk(3, dim=-1)", "from_x.unflatten(-1, (-1, 3)).unbind(-1)",
                         "from_h.chunk(3, dim=-1)", "from_h.unflatten(-1, (-1, 3)).unbind(-1)"),
    "state_detached": ("gru#proof-own", ROWS, "h = h.detach()\n    from_x = "),
}  # fmt: skip


def in_order(names):
    """Return changes that take the rows in this order, in any variant."""
    return ROWS, f"{names} = 0, 1, 2\n    {ROWS}"


MISTAKES = STEP_MISTAKES | {
    "rows_in_no_order_asked": (FOUR, *in_order("R, N, Z")),
    "rows_in_no_order_asked~n_r_z": ("", *in_order("N, R, Z")),
    "rows_in_no_order_asked~z_n_r": ("", *in_order("Z, N, R")),
    "state_in_tuple": ("gru#own-layer-said", "return h_new", "return (h_new,)"),
}


def truth(x, h, *weights):
    return torch.gru_cell(x, h, *weights)


def probes(draw):
    def probe(name, draw, batch, inputs, hidden, calls=1):
        tensors = {"x": draw(batch, inputs), "h": draw(batch, hidden)} | weights(draw, inputs, hidden, gates=3)
        return Probe(name, tensors, gradients=tuple(tensors), calls=calls)

    return [
        probe("one_number", draw.few, 1, 1, 1),
        probe("batch_1", draw.few, 1, 3, 2),
        probe("several", draw, 3, 4, 5),
        probe("several", draw, 2, 6, 3, calls=2),
    ]


QUESTION = generate_question(
    gru_step_reference,
    MISTAKES,
    variants={
        "gates_r_z_n": (),
        "gates_z_r_n": ("R, Z, N = 0, 1, 2", "Z, R, N = 0, 1, 2"),
        "gates_n_z_r": ("R, Z, N = 0, 1, 2", "N, Z, R = 0, 1, 2"),
    },
    truth=truth,
    name="gru_step",
    assignment="gru",
    task=1,
    points=2,
    place=FOUR,
    call=Function(("x", "h", *WEIGHTS), "h_new"),
    probes=probes,
    axes={"h_new": ("batch", "unit"), "h": ("batch", "unit"), "x": ("batch", "feature")},
)
