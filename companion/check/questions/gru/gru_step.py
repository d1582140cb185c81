"""One step of a GRU. Variants: in which order the rows of the gates stand in the weights."""

import torch

from companion.check.running import Function, Probe
from companion.check.written import written

WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def gru_step_reference(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    from_x = x @ weight_ih.T + bias_ih
    from_h = h @ weight_hh.T + bias_hh
    r_x, z_x, n_x = from_x.chunk(3, dim=-1)
    r_h, z_h, n_h = from_h.chunk(3, dim=-1)
    r = torch.sigmoid(r_x + r_h)
    z = torch.sigmoid(z_x + z_h)
    n = torch.tanh(n_x + r * n_h)
    return (1 - z) * n + z * h


MISTAKES = {
    "update_gate_inverted": ("gru#four-equations", "(1 - z) * n + z * h", "z * n + (1 - z) * h"),
}


def truth(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    return torch.gru_cell(x, h, weight_ih, weight_hh, bias_ih, bias_hh)


def probes(draw):
    def probe(name, draw, batch, inputs, hidden):
        shapes = {"weight_ih": (inputs,), "weight_hh": (hidden,), "bias_ih": (), "bias_hh": ()}
        weights = {one: draw(3 * hidden, *shape) for one, shape in shapes.items()}
        tensors = {"x": draw(batch, inputs), "h": draw(batch, hidden)} | weights
        return Probe(name, tensors, gradients=tuple(tensors))

    return [probe("one_number", draw.few, 1, 1, 1), probe("batch_1", draw.few, 1, 3, 2), probe("several", draw, 3, 4, 5)]


QUESTION = written(
    gru_step_reference,
    MISTAKES,
    variants={
        "gates_r_z_n": (),
        "gates_z_r_n": ("r_x, z_x, n_x = from_x", "z_x, r_x, n_x = from_x", "r_h, z_h, n_h = from_h", "z_h, r_h, n_h = from_h"),
    },
    truth=truth,
    name="gru_step",
    assignment="gru",
    task=1,
    points=2,
    place="gru#four-equations",
    call=Function(("x", "h", *WEIGHTS), "h_new"),
    probes=probes,
    axes={"h_new": ("batch", "unit"), "h": ("batch", "unit"), "x": ("batch", "feature")},
)
