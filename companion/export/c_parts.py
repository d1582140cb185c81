"""The parts and weights of a model that is written for another program, with errors for what cannot be written."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from companion.export.checks import check_sizes
from companion.layers.embedding import Embedding
from companion.layers.gru import GRUStep
from companion.layers.lstm import LSTMStep
from companion.layers.minimal import MinGRUStep
from companion.layers.recurrent import RNNBase

LARGEST = 127  # of the numbers of int8, with either sign


class Network(NamedTuple):
    """A model's parts. kind: "LSTM", "GRU" or "MinGRU". reads: "table", "one-hot" or "numbers"."""

    kind: str
    reads: str
    embedding: Any
    recurrent: Any
    linear: Any


def parts_of(model: Any) -> Network:
    """Return the parts of a model; ValueError, by name, for what `to_c` cannot write."""
    if missing := [name for name in ("embedding", "recurrent", "linear") if not hasattr(model, name)]:
        raise ValueError(
            f"a {type(model).__name__} has no {', no '.join(missing)}: the model needs the parts embedding, recurrent "
            "and linear of a SequenceModel"
        )
    embedding, recurrent, linear = model.embedding, model.recurrent, model.linear
    kind, reads = kind_of(recurrent), reads_of(embedding)
    for option in ("bidirectional", "proj_size"):
        if value := getattr(recurrent, option, None):
            raise ValueError(f"a layer with {option}={value} cannot be written as C: make it without {option}")
    check_sizes(embedding, recurrent, linear)
    return Network(kind, reads, embedding, recurrent, linear)


def kind_of(layer: Any) -> str:
    """Return "LSTM", "GRU" or "MinGRU"; ValueError for another layer."""
    if isinstance(layer, RNNBase):
        # the step decides: a subclass may have another one
        for kind, step in (("LSTM", LSTMStep), ("GRU", GRUStep), ("MinGRU", MinGRUStep)):
            if type(layer._step) is step:
                return kind
    for kind in ("LSTM", "GRU"):
        if isinstance(layer, getattr(nn, kind)):
            return kind
    raise ValueError(f"recurrent must be an LSTM, a GRU or a MinGRU, not {type(layer).__name__}")


def reads_of(embedding: Any) -> str:
    """Return "table", "one-hot" or "numbers"; ValueError for another embedding."""
    if isinstance(embedding, nn.Embedding | Embedding):
        if embedding.max_norm is not None:
            raise ValueError(
                f"an embedding with max_norm={embedding.max_norm} changes its rows when it reads them: look all of "
                "them up once, then set max_norm = None"
            )
        return "table"
    # its class is in companion.learning, which this package does not import
    if type(embedding).__name__ == "OneHot":
        return "one-hot"
    if isinstance(embedding, nn.Identity):
        return "numbers"
    raise ValueError(f"embedding must be an Embedding, OneHot or nn.Identity, not {type(embedding).__name__}")


def parameters(network: Network) -> Iterator[tuple[Any, str]]:
    """Yield (module, name) for each parameter that the network has, in the order of the model."""
    if network.reads == "table":
        yield network.embedding, "weight"
    for layer in range(network.recurrent.num_layers):
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            if getattr(network.recurrent, f"{name}_l{layer}", None) is not None:
                yield network.recurrent, f"{name}_l{layer}"
    yield network.linear, "weight"
    if network.linear.bias is not None:
        yield network.linear, "bias"


def weights_of(network: Network) -> dict[str, Tensor]:
    """Return name in C → float32 tensor, with the two biases of an LSTM's layer as one; ValueError for nan and inf."""
    weights: dict[str, Tensor] = {}
    for module, name in parameters(network):
        part = next(part for part in ("embedding", "recurrent", "linear") if module is getattr(network, part))
        weight = getattr(module, name).detach().cpu().float()
        stored = name if part == "recurrent" else f"{part}_{name}"
        if network.kind == "LSTM" and name.startswith("bias_hh"):
            # a_t has the sum of both
            weight = weights.pop(name.replace("hh", "ih")) + weight
            stored = name.replace("_hh", "")
        if not weight.isfinite().all():
            raise ValueError(f"{part}.{name} has numbers that float32 cannot hold: infinite ones, or nan")
        weights[stored] = weight
    return weights


def to_int8(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Return (numbers, scales) so that `numbers * scales[:, None]` is nearly `weight`.

    weight: float32 (rows, columns). numbers: integers from -127 to 127, (rows, columns). scales: float32 (rows); 0 for
    a row of zeros.
    """
    # s_j = max_k |w_jk| / 127
    scales = weight.abs().amax(dim=1) / LARGEST
    # q_jk = round( w_jk / s_j )
    numbers = (weight / torch.where(scales > 0, scales, 1)[:, None]).round().clamp(-LARGEST, LARGEST)
    return numbers, scales
