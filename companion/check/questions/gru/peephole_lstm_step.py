"""Question `peephole_lstm_step`: an LSTM's step whose gates also read the cell state."""

import torch

from companion.check.engine.probe import Probe
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import Function
from companion.check.questions.gru.coupled_lstm_step import AXES, SHARED
from companion.check.questions.lstm.step import ORDERS
from companion.check.questions.weights import WEIGHTS, weights

PEEPHOLES = ("weight_ci", "weight_cf", "weight_co")


def peephole_lstm_step_reference(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, weight_ci, weight_cf, weight_co):
    a = x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh
    a_i, a_f, a_g, a_o = a.chunk(4, dim=-1)
    i = torch.sigmoid(a_i + weight_ci * c)
    f = torch.sigmoid(a_f + weight_cf * c)
    g = torch.tanh(a_g)
    c_new = f * c + i * g
    o = torch.sigmoid(a_o + weight_co * c_new)
    h_new = o * torch.tanh(c_new)
    return h_new, c_new


HERE, CUT, NEW = "changing_the_cell#peepholes", "a_i, a_f, a_g, a_o = ", "f * c + i * g"
I, F, O = (f"weight_c{gate} * c" for gate in "ifo")  # noqa: E741
O = O + "_new"  # noqa: E741


def each(new):
    """Return the changes that replace all three peepholes by `new`, with W for the weight and C for the state."""
    states = zip((I, F, O), PEEPHOLES, ("c", "c", "c_new"))
    return [text for old, weight, state in states for text in (old, new.replace("W", weight).replace("C", state))]


MISTAKES = {
    "output_peephole_reads_old_c": (HERE, O, "weight_co * c"),
    "peephole_missing": (HERE, f" + {I}", "", f" + {F}", "", f" + {O}", ""),
    "peephole_missing~i": ("", f" + {I}", ""),
    "peephole_missing~f": ("", f" + {F}", ""),
    "peephole_missing~o": ("", f" + {O}", ""),
    "peepholes_exchanged": (HERE, I, "weight_cf * c", F, "weight_ci * c"),
    "peepholes_exchanged~f_o": ("", F, "weight_co * c", O, "weight_cf * c_new"),
    "peepholes_exchanged~i_o": ("", I, "weight_co * c", O, "weight_ci * c_new"),
    "peepholes_read_h": (HERE, I, "weight_ci * h", F, "weight_cf * h", O, "weight_co * h"),
    "peepholes_read_h~i_f": ("", I, "weight_ci * h", F, "weight_cf * h"),
    "peepholes_read_tanh_of_c": (HERE, *each("W * torch.tanh(C)")),
    "peepholes_read_tanh_of_c~o": ("", O, "weight_co * torch.tanh(c_new)"),
    "peepholes_mix_units": (HERE, *each("(W * C).sum(-1, keepdim=True)")),
    "peepholes_outside_sigmoid": (
        HERE, f"a_i + {I})", f"a_i) + {I}", f"a_f + {F})", f"a_f) + {F}", f"a_o + {O})", f"a_o) + {O}"),
    "peephole_on_candidate": (HERE, "torch.tanh(a_g)", "torch.tanh(a_g + weight_ci * c)"),
    "peepholes_detached": ("forget_bias#gradient-path", *each("W * C.detach()")),
    "sigmoid_missing_on_i": ("lstm#input-gate", f"torch.sigmoid(a_i + {I})", f"(a_i + {I})"),
    "sigmoid_missing_on_f": ("lstm#forget-gate", f"torch.sigmoid(a_f + {F})", f"(a_f + {F})"),
    "sigmoid_missing_on_o": ("lstm#output-gate", f"torch.sigmoid(a_o + {O})", f"(a_o + {O})"),
    "forget_gate_missing": ("lstm#cell-state", NEW, "c + i * g"),
    "input_gate_missing": ("lstm#cell-state", NEW, "f * c + g"),
    "coupled_gates": (HERE, NEW, "f * c + (1 - f) * g"),
    "forget_gate_on_sum": ("lstm#cell-state", NEW, "f * (c + i * g)"),
    "forget_gate_on_new_content": ("lstm#cell-state", NEW, "c + f * i * g"),
    "old_c_ignored": ("lstm#cell-state", NEW, "i * g"),
    "input_added_not_gated": ("lstm#cell-state", NEW, "f * c + i + g"),
    "c_squashed": ("lstm#cell-state", NEW, "torch.tanh(f * c + i * g)"),
    "gates_interleaved": ("lstm#one-product", "a.chunk(4, dim=-1)", "a.unflatten(-1, (-1, 4)).unbind(-1)"),
    "recurrent_weights_transposed": (
        "lstm#one-product", "h @ weight_hh.T", "torch.cat([h @ part for part in weight_hh.chunk(4)], dim=-1)"),
} | SHARED  # fmt: skip
MISTAKES |= {name: ("lstm#wrong-order", CUT, f"a_{', a_'.join(order)} = ") for name, order in ORDERS.items()}


def truth(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh, *peepholes):
    """Return the step of torch's cell, which reads c in addition to x; only a unit's own c has a weight."""

    def cell(*read):
        zero = torch.zeros_like(weight_hh[: c.shape[1]])
        i, f, o = map(torch.diag, peepholes)
        seen = torch.cat([torch.cat([i, f, zero, zero]), torch.cat([zero, zero, zero, o])], dim=1)
        beside = torch.cat([x, *read], dim=1), (h, c), torch.cat([weight_ih, seen], dim=1)
        return torch.lstm_cell(*beside, weight_hh, bias_ih, bias_hh)

    return cell(c, cell(c, c)[1])  # only the output gate reads the new c


def probes(draw):
    def probe(name, draw, batch, inputs, hidden, calls=1):
        tensors = {"x": draw(batch, inputs), "h": draw(batch, hidden), "c": 2 * draw(batch, hidden)}
        tensors |= weights(draw, inputs, hidden, gates=4) | {weight: draw(hidden) for weight in PEEPHOLES}
        return Probe(name, tensors, gradients=tuple(tensors), calls=calls)

    return [
        probe("one_number", draw.few, 1, 1, 1),
        probe("batch_1", draw.few, 1, 3, 2),
        probe("several", draw, 3, 4, 5),
        probe("several", draw, 2, 6, 3, calls=2),
    ]


QUESTION = generate_question(
    peephole_lstm_step_reference,
    MISTAKES,
    truth=truth,
    by_torch=False,
    name="peephole_lstm_step",
    assignment="gru",
    task=4,
    points=3,
    place=HERE,
    call=Function(("x", "h", "c", *WEIGHTS, *PEEPHOLES), ("h_new", "c_new")),
    probes=probes,
    axes=AXES,
)
