"""Draw random probes (test inputs) for the questions about networks."""

import torch

from companion.check.engine.probe import Probe
from companion.check.questions.lstm_parameters.parameter_shapes import SHAPE_OPTIONS, parameter_shapes_reference


def network_tensors(draw, steps, batch, options, state=True):
    """Return input, states and parameters of a layer with these options, and the parameters' names."""
    sizes = {"num_layers": 1, "bias": True, "bidirectional": False, "proj_size": 0} | options
    shapes = parameter_shapes_reference(frozenset())(*(sizes[name] for name in SHAPE_OPTIONS))
    rows, hidden = sizes["num_layers"] * (1 + sizes["bidirectional"]), sizes["hidden_size"]
    outer = (batch, steps) if options.get("batch_first") else (steps, batch)
    tensors = {"input": draw(*outer, sizes["input_size"])}
    if state:
        tensors |= {"h_0": draw(rows, batch, sizes["proj_size"] or hidden), "c_0": draw(rows, batch, hidden)}
    # products of numbers with one decimal have two: with a third, no sum is 0, where the slope of a relu is undefined
    more = {name: 0.005 for name in shapes if name.startswith("bias_ih")}
    return tensors, {name: draw(*shape) + more.get(name, 0) for name, shape in shapes.items()}


def network_probe(name, draw, steps, batch, options, state=True, calls=1, lengths=None):
    tensors, parameters = network_tensors(draw, steps, batch, options, state)
    gradients = tuple(tensors)
    if lengths:
        tensors["lengths"] = torch.tensor(lengths)
    return Probe(name, tensors | parameters, options, tuple(parameters), gradients, calls)


def dropout_probes(draw):
    """Return probes for dropout between two layers, with enough rows that rare results occur."""

    def positive(*shape):
        """Return positive numbers of similar size: each dropped number visibly reduces all results."""
        return 0.5 + 0.3 * draw(*shape)

    def probe(name, steps, hidden, dropout, training=True, drawn=1, rows=160):
        # with one feature and several units einsum would broadcast a weight where `@` raises an error
        options = sizes(2 * hidden - 1, hidden, num_layers=2, dropout=dropout)
        tensors, parameters = network_tensors(positive, steps, 1, options)
        options |= {"training": training, "drawn": drawn, "rows": rows}
        return Probe(name, tensors | parameters, options, tuple(parameters), None)

    return [
        probe("dropout", 1, 1, 0.5, drawn=12, rows=4),  # one mask for the batch
        probe("dropout", 2, 1, 0.5),  # from step to step
        probe("dropout", 1, 2, 0.5),  # from unit to unit
        probe("dropout", 1, 1, 0.25),  # p and 1 - p
        probe("evaluation", 1, 1, 0.25, training=False, drawn=2),
    ]


def sizes(inputs, hidden, **more):
    return {"input_size": inputs, "hidden_size": hidden} | more


AXES = {
    "input": ("step", "batch", "feature"),
    "output": ("step", "batch", "unit"),
    **dict.fromkeys(("h_n", "c_n", "h_0", "c_0"), ("layer", "batch", "unit")),
}
RESULTS = ("output", ("h_n", "c_n"))
