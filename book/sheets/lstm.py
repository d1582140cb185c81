"""The sheet on `nn.LSTM`: its arguments, shapes, equations and numbers of parameters, and calls that go wrong."""

import inspect
import re
from math import prod

import torch
from torch import nn

from book.sheets import chapters
from book.sheets.calls import calls
from book.sheets.quotes import numbers

# Each row: tensors, and their shape. T: time, B: batch, I: input_size, H: hidden_size, L: num_layers, D: directions,
# R: proj_size, or hidden_size without; P: proj_size. k: a layer above the first.
RESULTS = {"input": "T B I", "h_0, h_n": "DL B R", "c_0, c_n": "DL B H", "output": "T B DR"}
WEIGHTS = {
    "weight_ih_l0": "4H I",
    "weight_ih_lk": "4H DR",
    "weight_hh_l0, _lk": "4H R",
    "bias_ih_l0, _lk": "4H",
    "bias_hh_l0, _lk": "4H",
    "weight_hr_l0, _lk": "P H",
}
EXAMPLES = {"nn.LSTM(10, 20, 2)": {}, "…, bidirectional=True, proj_size=5": {"bidirectional": True, "proj_size": 5}}
SIZES, STEPS, BATCH = (10, 20, 2), 5, 3
GATES = "ifgo"
FACTOR = re.compile(r"\d+|[A-Z]")


def facts(language):
    """Return what the template shows."""
    return {
        "signature": signature(),
        "arguments": arguments(),
        "tables": [shape_table(RESULTS), shape_table(WEIGHTS)],
        "examples": [*EXAMPLES],
        "equations": chapters.formula("lstm_parameters#equations"),
        "count_formula": chapters.formula("lstm_parameters#how-many"),
        "counts": counted(),
        "gates": {gate: gate_rows(number) for number, gate in enumerate(GATES)},
        "calls": calls(),
        "numbers": numbers() | {"steps": STEPS, "batch": BATCH, "torch": torch.__version__.partition("+")[0]},
    }


def arguments():
    """Return argument → its default as Python writes it, or None; those of `nn.LSTM`, which passes them on."""
    parameters = inspect.signature(nn.RNNBase.__init__).parameters.values()
    empty = inspect.Parameter.empty
    return {
        parameter.name: None if parameter.default is empty else repr(parameter.default)
        for parameter in parameters
        if parameter.name not in ("self", "mode", "device", "dtype")
    }


def signature():
    """Return the call with all defaults."""
    given = [name if default is None else f"{name}={default}" for name, default in arguments().items()]
    return f"nn.LSTM({', '.join(given)})"


def gate_rows(number):
    """Return the rows of a gate as a slice, such as H:2H."""
    first, last = ("0" if not k else f"{k}H".removeprefix("1") for k in (number, number + 1))
    return f"{first}:{last}"


def shape_table(rows):
    """Return for each row its tensors, the general shape, and that of each example, or None."""
    measured = [example_shapes(options) for options in EXAMPLES.values()]
    return [
        (names, general(shape), [shapes.get(first_name(names)) for shapes in measured]) for names, shape in rows.items()
    ]


def first_name(names):
    """Return the name of the first tensor of a row, as torch writes it for two layers."""
    return names.split(",")[0].replace("_lk", "_l1")


def general(shape):
    """Return a shape with a dot between factors: (DL, B, R) has D·L."""
    sizes = ["·".join(FACTOR.findall(size)) for size in shape.split()]
    return f"({', '.join(sizes)}{',' * (len(sizes) == 1)})"


def evaluate(shape, values):
    """Return the sizes of a shape for values of the letters."""
    return tuple(prod(int(values.get(factor, factor)) for factor in FACTOR.findall(size)) for size in shape.split())


def example_shapes(options):
    """Return tensor → shape, from torch: the input, the results and the weights of an example."""
    layer = nn.LSTM(*SIZES, **options, dtype=torch.float64)  # with float32, torch warns about projections
    x = torch.zeros(STEPS, BATCH, layer.input_size, dtype=torch.float64)
    output, (h_n, c_n) = layer(x)
    tensors = {"input": x, "output": output, "h_0": h_n, "c_0": c_n, **layer.state_dict()}
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}


def counted():
    """Return the terms of each layer of the first example, their sums, and the sum that torch counts."""
    input_size, hidden_size, layers = SIZES
    lines, total = [], 0
    for layer in range(layers):
        reads = hidden_size if layer else input_size
        count = 4 * hidden_size * (reads + hidden_size + 2)
        lines.append((layer, f"4·{hidden_size}·({reads} + {hidden_size} + 2) = {count:,}"))
        total += count
    if total != (found := sum(parameter.numel() for parameter in nn.LSTM(*SIZES).parameters())):
        raise ValueError(f"the formula counts {total} parameters of nn.LSTM{SIZES}, torch has {found}")
    return lines, f"{total:,}"
