"""A trained network as one file of C99, which needs no library: one time step, in float32 or with int8 weights.

`c_source.py` has the equations of a step in C. The int8 weights are those that `quantized` gives to a model, so their
loss can be measured before there is a file.
"""

import copy
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from companion.export import c_source
from companion.export.c_file import GATES, pieces
from companion.export.c_parts import Network, parameters, parts_of, to_int8, weights_of
from companion.export.checks import check_path

ELEMENTWISE = {"LSTM": 3, "GRU": 3, "MinGRU": 2}  # products for each unit, besides those with weights


class Costs(NamedTuple):
    """Costs of a network of `to_c`, which print as one line.

    bytes: those of the weights. multiplications: those of one time step, without those inside of σ and tanh. memory:
    bytes of a `struct network_state`, which holds the state and the work space.
    """

    bytes: int
    multiplications: int
    memory: int

    def __str__(self) -> str:
        return (
            f"{self.bytes:,} bytes of weights, {self.multiplications:,} multiplications a step, "
            f"{self.memory:,} bytes of memory"
        )


def to_c(model: nn.Module, path: str | Path, *, int8: bool = False) -> Costs:
    """Write one step of a trained network as a file of C99 without libraries, and return what the network needs.

    model: a `SequenceModel`, or another model with its three parts. `embedding`: an `Embedding` or `nn.Embedding`,
    `OneHot`, or `nn.Identity()` for a network that reads numbers. `recurrent`: an `LSTM`, `GRU` or `MinGRU`, of torch
    or the companion, with any number of layers. `linear`: a linear layer. path: the file, such as network.c; an older
    one is overwritten. int8: store each row of a matrix as 8-bit numbers, which one float multiplies; biases stay
    float32.

    Shapes: one call of `network_step` in C is a call of the model, in evaluation, for one time step of one sequence. It
    reads an index for inputs (1, 1), or input_size numbers for (1, 1, input_size), and writes the num_outputs numbers
    of (1, 1, num_outputs). The caller keeps the state between two calls.

    ValueError for a model that lacks a part or has another one, for layers that are bidirectional or have a projection,
    for an embedding with `max_norm`, for weights that float32 cannot hold, and for a folder; FileNotFoundError if the
    file's folder is missing. Nothing is written then.
    """
    network = parts_of(model)
    path = Path(path)
    check_path(path, "network.c")
    weights = weights_of(network)
    costs = costs_of(network, weights, int8)
    path.write_text("\n".join(pieces(network, weights, costs, int8)), encoding="utf-8", newline="\n")
    return costs


def quantized(model: Any) -> Any:
    """Return a copy of a model whose matrices have the values that `to_c(model, path, int8=True)` stores.

    model: as in `to_c`. Its loss is that of the file with int8 weights. ValueError as in `to_c`.
    """
    weights_of(parts_of(model))  # refuses weights that are not finite
    model = copy.deepcopy(model)
    network = parts_of(model)
    with torch.no_grad():
        for module, name in parameters(network):
            weight = module.get_parameter(name)
            if weight.dim() == 2:
                numbers, scales = to_int8(weight.float())
                weight.copy_(numbers * scales[:, None])
    return model


def costs_of(network: Network, weights: dict[str, Tensor], int8: bool) -> Costs:
    """Return the bytes, multiplications and memory of a network. weights: from `weights_of`."""
    kind, reads, _, recurrent, _ = network
    units = recurrent.num_layers * recurrent.hidden_size
    numbers, scales, biases, products = 0, 0, 0, ELEMENTWISE[kind] * units
    for name, weight in weights.items():
        if weight.dim() == 1:
            biases += len(weight)
            continue
        rows, columns = weight.shape
        numbers += rows * columns
        scales += rows if int8 else 0
        # a product of each number with one of the vector, and of each sum with its scale
        each, by_scale = rows * columns, rows
        if (reads, name) == ("table", "embedding_weight"):
            each, by_scale = 0, columns  # a row is looked up, and multiplied by its scale
        elif (reads, name) == ("one-hot", "weight_ih_l0"):
            each, by_scale = 0, rows  # a column is looked up
        products += each + (by_scale if int8 else 0)
    state = len(c_source.STATES[kind]) * units
    work = (2 if kind == "GRU" else 1) * len(GATES[kind]) * recurrent.hidden_size
    work += recurrent.input_size if reads == "table" else 0
    return Costs((1 if int8 else 4) * numbers + 4 * (scales + biases), products, 4 * (state + work))
