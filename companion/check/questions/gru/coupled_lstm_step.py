"""Question `coupled_lstm_step`: one gate for keeping and writing. Variants: which of both it gives, and its rows."""

import torch

from companion.check.engine.probe import Probe
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import Function
from companion.check.questions.weights import WEIGHTS, weights


def coupled_lstm_step_reference(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh):
    a = x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh
    a_u, a_g, a_o = a.chunk(3, dim=-1)
    u = torch.sigmoid(a_u)
    g = torch.tanh(a_g)
    o = torch.sigmoid(a_o)
    keep, write = u, 1 - u
    c_new = keep * c + write * g
    h_new = o * torch.tanh(c_new)
    return h_new, c_new


CUT, ROWS, SHARES, NEW = "a_u, a_g, a_o = a", "    u = ", "keep, write = u, 1 - u", "keep * c + write * g"
WRITES, LAST = (SHARES, "keep, write = 1 - u, u"), (CUT, "a_g, a_o, a_u = a")
H_NEW, RETURNED, HERE = "o * torch.tanh(c_new)", "return h_new, c_new", "changing_the_cell#coupled"


def in_order(names):
    """Return changes that take the rows in this order, in any variant."""
    return ROWS, f"    a_{', a_'.join(names)} = a.chunk(3, dim=-1)\n{ROWS}"


# Mistakes in an LSTM's step, shared with the one with peepholes.
SHARED = {
    "tanh_missing_on_g": ("lstm#input-gate", "torch.tanh(a_g)", "a_g"),
    "sigmoid_on_g": ("lstm#input-gate", "torch.tanh(a_g)", "torch.sigmoid(a_g)"),
    "relu_on_g": ("lstm#input-gate", "torch.tanh(a_g)", "torch.relu(a_g)"),
    "tanh_missing_on_c": ("lstm#output-gate", H_NEW, "o * c_new"),
    "sigmoid_on_c": ("lstm#output-gate", H_NEW, "o * torch.sigmoid(c_new)"),
    "tanh_on_product": ("lstm#output-gate", H_NEW, "torch.tanh(o * c_new)"),
    "h_from_old_c": ("lstm#output-gate", H_NEW, "o * torch.tanh(c)"),
    "output_gate_missing": ("lstm#output-gate", H_NEW, "torch.tanh(c_new)"),
    "tanh_kept_in_c": ("lstm#output-gate", H_NEW, "o * torch.tanh(c_new)\n    c_new = torch.tanh(c_new)"),
    "old_c_returned": ("lstm#cell-state", RETURNED, "return h_new, c"),
    "state_returned_as_c_h": ("lstm#state-order", RETURNED, "return c_new, h_new"),
    "only_h_returned": ("lstm#output-gate", RETURNED, "return h_new"),
    "state_returned_nested": ("lstm#output-gate", RETURNED, "return h_new, (h_new, c_new)"),
    "bias_ih_missing": ("lstm#two-biases", " + bias_ih", ""),
    "bias_hh_missing": ("lstm#two-biases", " + bias_hh", ""),
    "hidden_ignored": ("lstm#six-equations", " + h @ weight_hh.T", ""),
    "view_for_transpose": ("lstm#one-product", "weight_ih.T", "weight_ih.reshape(weight_ih.T.shape)",
                           "weight_hh.T", "weight_hh.reshape(weight_hh.T.shape)"),
    "state_detached": ("forget_bias#gradient-path", "    a = x", "    h, c = h.detach(), c.detach()\n    a = x"),
    "state_detached~h": ("", "h @ weight_hh.T", "h.detach() @ weight_hh.T"),
}  # fmt: skip
MISTAKES = {
    "old_and_new_share_alike": (HERE, NEW, "u * c + u * g"),
    "new_content_not_gated": (HERE, NEW, "keep * c + g"),
    "old_content_not_gated": (HERE, NEW, "c + write * g"),
    "old_content_lost": (HERE, NEW, "write * g"),
    "output_gate_writes": (HERE, SHARES, "keep, write = u, o"),
    "output_gate_writes~alone": ("", SHARES, "keep, write = 1 - o, o"),
    "output_gate_writes~keeps": ("", SHARES, "keep, write = o, 1 - o"),
    "old_h_for_old_c": (HERE, NEW, "keep * h + write * g"),
    "mixture_squashed": ("changing_the_cell#coupled-for", NEW, "torch.tanh(keep * c + write * g)"),
    "sigmoid_missing_on_gate": (HERE, "torch.sigmoid(a_u)", "a_u"),
    "tanh_on_gate": (HERE, "torch.sigmoid(a_u)", "torch.tanh(a_u)"),
    "sigmoid_missing_on_o": ("lstm#output-gate", "torch.sigmoid(a_o)", "a_o"),
    "tanh_on_o": ("lstm#output-gate", "torch.sigmoid(a_o)", "torch.tanh(a_o)"),
    "hard_sigmoid": ("lstm#by-hand", "torch.sigmoid(a_u)", "(a_u / 6 + 0.5).clamp(0, 1)",
                     "torch.sigmoid(a_o)", "(a_o / 6 + 0.5).clamp(0, 1)"),
    "rows_interleaved": (HERE, ROWS, f"    {CUT.replace('= a', '= a.unflatten(-1, (-1, 3)).unbind(-1)')}\n{ROWS}"),
    "recurrent_weights_transposed": (
        "lstm#one-product", "h @ weight_hh.T", "torch.cat([h @ part for part in weight_hh.chunk(3)], dim=-1)"),
    "c_detached": ("forget_bias#gradient-path", NEW, "keep * c.detach() + write * g"),
    "rows_in_no_order_asked": (HERE, *in_order("uog")),
} | {f"rows_in_no_order_asked~{order}": ("", *in_order(order)) for order in ("guo", "oug", "ogu")} | SHARED  # fmt: skip


def truth(x, h, c, *weights):
    """Return the step of torch's cell, whose input gate has the negated rows of the other gate: 1 - σ(a) = σ(-a)."""
    parts = [weight.chunk(3) for weight in weights]
    return torch.lstm_cell(x, (h, c), *(torch.cat([-u, u, g, o]) for u, g, o in parts))


def probes(draw):
    def probe(name, draw, batch, inputs, hidden, calls=1):
        tensors = {"x": draw(batch, inputs), "h": draw(batch, hidden), "c": draw(batch, hidden)}
        tensors |= weights(draw, inputs, hidden, gates=3)
        return Probe(name, tensors, gradients=tuple(tensors), calls=calls)

    return [
        probe("one_number", draw.few, 1, 1, 1),
        probe("batch_1", draw.few, 1, 3, 2),
        probe("several", draw, 3, 4, 5),
        probe("several", draw, 2, 6, 3, calls=2),
    ]


AXES = dict.fromkeys(("h", "c", "h_new", "c_new"), ("batch", "unit")) | {"x": ("batch", "feature")}
QUESTION = generate_question(
    coupled_lstm_step_reference,
    MISTAKES,
    variants={"u_keeps_u_g_o": (), "u_writes_u_g_o": WRITES, "u_keeps_g_o_u": LAST, "u_writes_g_o_u": WRITES + LAST},
    truth=truth,
    by_torch=False,
    name="coupled_lstm_step",
    assignment="gru",
    task=3,
    points=2,
    place=HERE,
    call=Function(("x", "h", "c", *WEIGHTS), ("h_new", "c_new")),
    probes=probes,
    axes=AXES,
)
