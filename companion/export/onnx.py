"""A trained network as an ONNX file, written operator by operator: sequences of any length, batches of any size.

ONNX has operators for whole layers: LSTM, GRU and RNN. A minimal layer becomes its equations, with the operator Scan
for h_t = a_t ⊙ h_{t-1} + b_t. No example is traced, so T and B stay free, and one file runs whole sequences and single
steps.

Shapes: T time steps, B sequences in a batch, L layers, D directions (2 if bidirectional, else 1), H = hidden_size.
"""

from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from companion.export.checks import check_path, check_sizes
from companion.export.onnx_graph import Graph
from companion.layers import elsewhere
from companion.layers.embedding import Embedding
from companion.layers.gru import GRUStep
from companion.layers.lstm import LSTMStep
from companion.layers.minimal import LogMinGRUStep, MinGRUStep, MinLSTMStep
from companion.layers.recurrent import RNNBase
from companion.layers.rnn import ElmanStep

STEPS = {
    ElmanStep: "RNN", LSTMStep: "LSTM", GRUStep: "GRU",
    MinGRUStep: "MinGRU", LogMinGRUStep: "LogMinGRU", MinLSTMStep: "MinLSTM",
}  # fmt: skip


class Network(NamedTuple):
    """A model's parts. kind: a value of `STEPS`. embedding and linear: None where the model has none."""

    kind: str
    embedding: Any
    recurrent: Any
    linear: Any


def to_onnx(model: nn.Module, path: str | Path, *, lengths: bool = False) -> None:
    """Write a trained network, in evaluation, as an ONNX file that computes in float32.

    model: a layer, or a model with the parts `embedding`, `recurrent` and `linear`, such as `SequenceModel`. The layer:
    an `RNN`, `LSTM` or `GRU` of the companion or of torch, a `MinGRU`, `LogMinGRU` or `MinLSTM`. `embedding`: an
    `Embedding` or `nn.Embedding`, `OneHot`, or `nn.Identity()`. path: the file, such as network.onnx; an older one is
    overwritten. lengths: let the network read the lengths of padded sequences.

    Shapes: the file reads `inputs`, (T, B, input_size), or indices (T, B), int64; with `batch_first` B comes before T.
    It reads `h_0`, and for an LSTM `c_0`, (L * D, B, H): zeros to begin with, and later what the last call returned.
    With `lengths` it also reads `lengths` (B), int64, from 1 to T. It returns `output`, (T, B, D * H), or (T, B,
    num_outputs) of `linear`, laid out like `inputs`; and `h_n`, for an LSTM also `c_n`, (L * D, B, H). With `lengths`
    the states are those at each sequence's end, and the outputs after it are 0 in front of `linear`.

    Note: Only the three parts are written. What a model computes between them is not in the file. A negative index is
    counted from the table's end, as in Python; torch refuses it.

    ModuleNotFoundError without the package onnx. ValueError for another layer, a projection, an embedding with
    `max_norm`, another part, sizes that do not fit, weights that float32 cannot hold, and for a folder;
    FileNotFoundError if the file's folder is missing. Nothing is written then.
    """
    onnx = imported()
    network, path = parts_of(model), Path(path)
    check_path(path, "network.onnx")
    graph = Graph(onnx)
    write_network(graph, network, lengths)
    onnx.save(graph.model(type(model).__name__), path)


def imported() -> ModuleType:
    """Return the package onnx; ModuleNotFoundError, with the command that installs it, if it is missing."""
    try:
        import onnx
    except ModuleNotFoundError as error:
        message = f'{error.name} is not installed. to_onnx needs it: pip install "unrolled[onnx]"'
        raise ModuleNotFoundError(message, name=error.name) from error
    return onnx


def parts_of(model: Any) -> Network:
    """Return the parts of a model; ValueError, by name, for what `to_onnx` cannot write."""
    names = "embedding", "recurrent", "linear"
    missing = [name for name in names if not hasattr(model, name)]
    if missing and len(missing) < len(names):
        raise ValueError(
            f"a {type(model).__name__} has no {', no '.join(missing)}: give a layer, or a model with the parts "
            "embedding, recurrent and linear"
        )
    embedding, layer, linear = (None, model, None) if missing else (getattr(model, name) for name in names)
    kind = kind_of(layer)
    if layer.proj_size:
        raise ValueError(f"a layer with proj_size={layer.proj_size} cannot be written: the LSTM of ONNX has none")
    if not missing:
        check_embedding(embedding)
        check_sizes(embedding, layer, linear)
    for name, parameter in model.named_parameters():
        if not parameter.detach().float().isfinite().all():
            raise ValueError(f"{name} has numbers that float32 cannot hold: infinite ones, or nan")
    return Network(kind, None if isinstance(embedding, nn.Identity) else embedding, layer, linear)


def kind_of(layer: Any) -> str:
    """Return the layer's kind, a value of `STEPS`; ValueError for another layer."""
    # the class decides, and the class of the step: a subclass may compute something else
    if isinstance(layer, RNNBase) and type(layer._step) in STEPS:
        return STEPS[type(layer._step)]
    if type(layer) in (nn.RNN, nn.LSTM, nn.GRU):
        return type(layer).__name__
    raise ValueError(f"to_onnx writes the layers {', '.join(STEPS.values())}, not {type(layer).__name__}")


def check_embedding(embedding: Any) -> None:
    """Raise ValueError, by name, for an embedding that `to_onnx` cannot write."""
    if isinstance(embedding, nn.Embedding | Embedding):
        if embedding.max_norm is not None:
            raise ValueError(f"an embedding with max_norm={embedding.max_norm} cannot be written: it changes in use")
    elif not isinstance(embedding, nn.Identity) and type(embedding).__name__ != "OneHot":
        name = type(embedding).__name__
        raise ValueError(f"embedding must be an Embedding, OneHot or nn.Identity(), not {name}")


def write_network(graph: Graph, network: Network, lengths: bool) -> None:
    """Add a network's inputs, operators and outputs to a graph."""
    kind, embedding, layer, linear = network
    table = None if embedding is None else table_of(graph, embedding)
    x = graph.input("inputs", ["B", "T"] if layer.batch_first else ["T", "B"], layer.input_size if not table else None)
    ends = graph.input("lengths", ["B"]) if lengths else ""
    states = layer.num_layers * (2 if layer.bidirectional else 1)
    letters = "hc" if kind == "LSTM" else "h"
    start = [graph.input(f"{letter}_0", [states, "B"], layer.hidden_size) for letter in letters]

    # x_t = W_e[ i_t ]
    x = graph.add("Gather", table, x) if table else x
    x = graph.add("Transpose", x, perm=(1, 0, 2)) if layer.batch_first else x
    h, *last = write_layers(graph, kind, layer, x, start, ends)
    h = graph.add("Transpose", h, perm=(1, 0, 2)) if layer.batch_first else h
    # y_t = W_y h_t + b_y
    y = h if linear is None else affine(graph, h, linear.weight, linear.bias)

    size = layer.hidden_size * (2 if layer.bidirectional else 1) if linear is None else linear.out_features
    graph.output(y, "output", ["B", "T"] if layer.batch_first else ["T", "B"], size)
    for name, letter in zip(last, letters):
        graph.output(name, f"{letter}_n", [states, "B"], layer.hidden_size)


def table_of(graph: Graph, embedding: Any) -> str:
    """Return the name of an embedding's table, (num_embeddings, embedding_dim)."""
    if isinstance(embedding, nn.Embedding | Embedding):
        return graph.constant(embedding.weight)
    # the unit matrix, made when the file is loaded: the operator OneHot would read a wrong index as zeros
    shape = graph.constant(torch.tensor([embedding.num_embeddings] * 2))
    return graph.add("EyeLike", graph.add("ConstantOfShape", shape))


def affine(graph: Graph, x: str, weight: Tensor, bias: Tensor | None) -> str:
    """Add W x + b for the vectors in the last dimension of `x`."""
    y = graph.add("MatMul", x, graph.constant(weight.T))
    return y if bias is None else graph.add("Add", y, graph.constant(bias))


def write_layers(graph: Graph, kind: str, layer: Any, x: str, start: list[str], lengths: str) -> list[str]:
    """Add all layers, each of which reads the output of the one below; return the output and the last states.

    x: (T, B, features). start: (L * D, B, H) each. lengths: (B), or "".
    """
    write = write_operator if kind in elsewhere.ONNX else write_scans
    if lengths:
        lengths = graph.add("Cast", lengths, to=graph.int32) if write is write_operator else running(graph, x, lengths)
    directions = 2 if layer.bidirectional else 1
    before = [graph.split(state, layer.num_layers) for state in start]
    after = []
    for k in range(layer.num_layers):
        weights = layer.all_weights[k * directions : (k + 1) * directions]
        x, *last = write(graph, kind, layer, weights, x, [states[k] for states in before], lengths)
        after.append(last)
    return [x, *(graph.join(states, axis=0) for states in zip(*after))]


def write_operator(graph, kind, layer, weights, x, start, lengths):
    """Add one layer as an operator RNN, LSTM or GRU; return the output and the last states.

    weights: those of each direction. x: (T, B, features). start: (D, B, H) each. lengths: (B), int32, or "".
    """
    rows = [
        [elsewhere.reordered(rows, elsewhere.TORCH[kind], elsewhere.ONNX[kind]) for rows in direction]
        for direction in weights
    ]
    W, R = (graph.constant(torch.stack(matrices)) for matrices in zip(*(direction[:2] for direction in rows)))
    B = graph.constant(torch.stack([torch.cat(direction[2:]) for direction in rows])) if layer.bias else ""
    options = {"hidden_size": layer.hidden_size, "direction": "bidirectional" if layer.bidirectional else "forward"}
    if kind == "GRU":
        options["linear_before_reset"] = 1  # r_t ⊙ ( W_hn h_{t-1} + b_hn ), as in torch
    if layer.mode == "RNN_RELU":
        options["activations"] = ["Relu"] * len(weights)
    y, *last = graph.add(kind, x, W, R, B, lengths, *start, outputs=1 + len(start), **options)
    # (T, D, B, H) → (T, B, D * H)
    if layer.bidirectional:
        y = graph.add("Reshape", graph.add("Transpose", y, perm=(0, 2, 1, 3)), graph.constant(torch.tensor([0, 0, -1])))
    else:
        y = graph.add("Squeeze", y, graph.constant(torch.tensor([1])))
    return y, *last


def write_scans(graph, kind, layer, weights, x, start, is_running):
    """Add one minimal layer, with an operator Scan for each direction; return the output and the last state.

    weights: those of each direction. x: (T, B, features). start: (D, B, H), in a list. is_running: (T, B, 1), or "".
    """
    one = graph.constant(torch.tensor(1.0))
    zero = graph.constant(torch.tensor(0.0)) if is_running else ""
    before = graph.split(start[0], len(weights))
    outputs, ends = [], []
    for d, (weight, *bias) in enumerate(weights):
        sums = affine(graph, x, weight, *bias or [None])
        a, n = coefficients(graph, kind, graph.split(sums, len(weight) // layer.hidden_size, axis=-1))
        # h_t = a_t ⊙ h_{t-1}  +  ( 1 - a_t ) ⊙ n_t
        b = graph.add("Mul", graph.add("Sub", one, a), n)
        if is_running:  # a step after a sequence's end changes nothing
            a, b = graph.add("Where", is_running, a, one), graph.add("Where", is_running, b, zero)
        h = graph.add("Squeeze", before[d], graph.constant(torch.tensor([0])))
        end, output = graph.scan(h, a, b, layer.hidden_size, reverse=d == 1)
        outputs.append(graph.add("Where", is_running, output, zero) if is_running else output)
        ends.append(graph.add("Unsqueeze", end, graph.constant(torch.tensor([0]))))
    return graph.join(outputs, axis=-1), graph.join(ends, axis=0)


def coefficients(graph: Graph, kind: str, sums: list[str]) -> tuple[str, str]:
    """Add what a minimal layer computes ahead of its scan: the share of the old state, and the candidate.

    sums: W x_t + b, (T, B, H) for each gate, in the order of the rows.
    """
    if kind == "MinLSTM":
        i, f, n = sums
        # σ(f) / ( σ(f) + σ(i) ) = σ( log σ(f) - log σ(i) ),   with log σ(x) = -softplus(-x)
        i, f = (graph.add("Softplus", graph.add("Neg", gate)) for gate in (i, f))
        return graph.add("Sigmoid", graph.add("Sub", i, f)), n
    z, n = sums
    if kind == "LogMinGRU":
        # g(x) = x + 1/2 for x ≥ 0, and σ(x) below
        is_positive = graph.add("GreaterOrEqual", n, graph.constant(torch.tensor(0.0)))
        more = graph.add("Add", n, graph.constant(torch.tensor(0.5)))
        n = graph.add("Where", is_positive, more, graph.add("Sigmoid", n))
    return graph.add("Sigmoid", z), n


def running(graph: Graph, x: str, lengths: str) -> str:
    """Add whether each sequence is still running, (T, B, 1), for an input (T, B, features) and lengths (B)."""
    T = graph.add("Squeeze", graph.add("Shape", x, start=0, end=1))
    t = graph.add("Range", graph.constant(torch.tensor(0)), T, graph.constant(torch.tensor(1)))
    t = graph.add("Unsqueeze", t, graph.constant(torch.tensor([1, 2])))
    return graph.add("Less", t, graph.add("Unsqueeze", lengths, graph.constant(torch.tensor([0, 2]))))
