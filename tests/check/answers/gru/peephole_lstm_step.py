"""Answers to the question `peephole_lstm_step`."""

from itertools import permutations

from companion.check.engine.question import all_questions
from tests.check.answers.gru.coupled_lstm_step import LSTM_WRONG
from tests.check.answers.gru.pairs import program

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
    "peepholes_read_h": [(term, "h *" + term.partition("*")[2]) for term in SEEN],
    "peepholes_read_tanh_of_c": [(term, term.replace(" *", ".tanh() *")) for term in SEEN],
    "peepholes_mix_units": [(term, term.replace(" *", " @") + "[:, None]") for term in SEEN],
    "peepholes_outside_sigmoid": [(f" + {term}).sigmoid()", f").sigmoid() + {term}") for term in SEEN],
    "peephole_on_candidate": [("s_g.tanh()", "(s_g + c * weight_ci).tanh()")],
    "peepholes_detached": [(term, term.replace(" *", ".detach() *")) for term in SEEN],
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

RIGHT = {
    "diagonal matrices": """
        def peephole_lstm_step(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, w_i, w_f, w_o):
            i, f, g, o = (x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh).tensor_split(4, dim=1)
            i, f = torch.sigmoid(i + c @ torch.diag(w_i)), torch.sigmoid(f + c @ torch.diag(w_f))
            c = f * c + i * torch.tanh(g)
            return torch.sigmoid(o + c @ torch.diag(w_o)) * torch.tanh(c), c
    """,
    "in float32": "lambda *given: peephole_lstm_step(*(one.float() for one in given))",
}  # fmt: skip

PROGRAM = program("peephole_lstm_step", PEEPHOLE, PEEPHOLE_WRONG, [
    ("peepholes_read_h", [(term, "h *" + term.partition("*")[2]) for term in SEEN[:2]]),
    ("peepholes_read_tanh_of_c", [(SEEN[2], "cell.tanh() * weight_co")]),
    ("library_layer", all_questions()["peephole_lstm_step"].truth),
    ("library_layer", all_questions()["peephole_lstm_step"].reference(frozenset())),
], RIGHT)  # fmt: skip
