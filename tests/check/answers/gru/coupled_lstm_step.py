"""Answers to the question `coupled_lstm_step`."""

import torch

from tests.check.answers.gru.pairs import program

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
    """Return edits that take the rows of gate, candidate and output gate in this order."""
    places = [(f"[:, {third}]", f"[:: , {THIRDS[order.index(name)]}]") for third, name in zip(THIRDS, "ugo")]
    return [*places, ("[:: ,", "[:,")]


IN_TURN = [*((f"[:, {third}]", f"[:, {k}::3]") for k, third in enumerate(THIRDS))]
BY_HAND = "torch.cat([x, h], dim=1) @ torch.cat([weight_ih, weight_hh], dim=1).T"
LSTM_WRONG = {  # mistakes of both LSTMs
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

RIGHT = {
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
}  # fmt: skip


def by_torchs_lstm(x, h, c, *weights):
    """Answer the first variant by torch's LSTM: the sum of its input gate is -u."""
    return torch.lstm_cell(
        x, (h, c), *(torch.cat([-u, u, g, o]) for u, g, o in (weight.chunk(3) for weight in weights))
    )


PROGRAM = program("coupled_lstm_step", COUPLED, COUPLED_WRONG, [("library_layer", by_torchs_lstm)], RIGHT)  # fmt: skip
