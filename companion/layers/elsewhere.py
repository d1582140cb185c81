"""Conversion of recurrent layers' weights from and to ONNX and Keras, which order the gates differently.

H is the hidden_size. A layer is one layer of one direction, as `nn.LSTM(input_size, H)`; its kind is "RNN", "LSTM" or
"GRU".
"""

from typing import Any

import torch
from torch import Tensor

# the order in which each library stacks the gates, in torch's letters
TORCH = {"RNN": "h", "LSTM": "ifgo", "GRU": "rzn"}
KERAS = {"RNN": "h", "LSTM": "ifgo", "GRU": "zrn"}
ONNX = {"RNN": "h", "LSTM": "iofg", "GRU": "zrn"}

NAMES = "weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"


def reordered(rows: Tensor, of: str, to: str) -> Tensor:
    """Return the rows of all gates, (gates * H, …), moved from the order `of` to the order `to`.

    An order is a string of the gates' letters.
    """
    gates = dict(zip(of, rows.chunk(len(of)), strict=True))
    return torch.cat([gates[letter] for letter in to])


def from_onnx(kind, W, R, B):
    """Return the state_dict of a torch layer, from the weights of ONNX's operator of this kind.

    W: (1, gates * H, input_size). R: (1, gates * H, H). B: (1, 2 * gates * H), the bias of W and then that of R. A GRU
    must have been made with `linear_before_reset` = 1, which is how torch computes it.
    """
    W, R, B = arrays(kind, ONNX, ("W", 3, W), ("R", 3, R), ("B", 2, B))
    both = [W[0], R[0], *B[0].chunk(2)]
    check_rows(kind, *both)
    rows = [reordered(one, ONNX[kind], TORCH[kind]) for one in both]
    return dict(zip(NAMES, rows, strict=True))


def to_onnx(layer: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Return W, R and B of ONNX's operators, from a layer of the companion or of torch.nn."""
    kind = kind_of(layer)
    W, R, b_ih, b_hh = (reordered(rows.detach(), TORCH[kind], ONNX[kind]) for rows in layer.all_weights[0])
    return W[None], R[None], torch.cat([b_ih, b_hh])[None]


def from_keras(kind: str, kernel: Any, recurrent_kernel: Any, bias: Any) -> dict[str, Tensor]:
    """Return the state_dict of a torch layer, from `layer.get_weights()` of Keras's SimpleRNN, LSTM or GRU.

    kernel: (input_size, gates * H). recurrent_kernel: (H, gates * H). bias: (gates * H), for a GRU (2, gates * H).
    ValueError for a GRU without `reset_after`: it applies the reset gate before the product, which torch cannot
    compute; and for CuDNNLSTM and CuDNNGRU of Keras 2, whose weights are laid out differently.
    """
    check_keras_bias(kind, torch.as_tensor(kernel), torch.as_tensor(bias))
    biases = 2 if kind == "GRU" else 1
    W, R, B = arrays(
        kind, KERAS, ("kernel", 2, kernel), ("recurrent_kernel", 2, recurrent_kernel), ("bias", biases, bias)
    )
    b_ih, b_hh = B if kind == "GRU" else (B, torch.zeros_like(B))
    check_rows(kind, W.T, R.T, b_ih, b_hh)
    rows = [reordered(tensor, KERAS[kind], TORCH[kind]) for tensor in (W.T, R.T, b_ih, b_hh)]
    return dict(zip(NAMES, rows, strict=True))


def to_keras(layer: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Return kernel, recurrent_kernel and bias for Keras's `set_weights`.

    layer: of the companion or of torch.nn.
    """
    kind = kind_of(layer)
    W, R, b_ih, b_hh = (reordered(rows.detach(), TORCH[kind], KERAS[kind]) for rows in layer.all_weights[0])
    return W.T.contiguous(), R.T.contiguous(), torch.stack([b_ih, b_hh]) if kind == "GRU" else b_ih + b_hh


def kind_of(layer: Any) -> str:
    """Return the kind of a layer; ValueError if the other libraries have no counterpart of it."""
    kind = {"RNN_TANH": "RNN"}.get(layer.mode, layer.mode)
    is_single = layer.num_layers == 1 and not layer.bidirectional and not layer.proj_size
    if kind not in TORCH or not is_single or not layer.bias:
        raise ValueError(f"only one layer in one direction, with biases, tanh and no projection, not {layer}")
    return kind


def arrays(kind: str, orders: dict[str, str], *named: tuple[str, int, Any]) -> list[Tensor]:
    """Return the arrays as tensors; ValueError for an unknown kind or a wrong number of dimensions."""
    if kind not in orders:
        raise ValueError(f"kind must be one of {', '.join(orders)}, not {kind!r}")
    tensors = []
    for name, dimensions, array in named:
        tensor = torch.as_tensor(array)
        if tensor.dim() != dimensions:
            raise ValueError(
                f"{name} of a layer {kind} has {dimensions} dimensions, not {tensor.dim()}: {tuple(tensor.shape)}"
            )
        if dimensions == 3 and len(tensor) != 1:
            raise ValueError(f"{name} has {len(tensor)} directions: convert one at a time")
        tensors.append(tensor)
    return tensors


def check_keras_bias(kind: str, kernel: Tensor, bias: Tensor) -> None:
    """Raise ValueError if the shape of the bias is that of another kind of layer in Keras."""
    if kind in ("LSTM", "GRU") and bias.shape == (2 * kernel.shape[-1],):
        raise ValueError(
            f"a bias of {len(bias)} numbers, two for each of the kernel's {kernel.shape[-1]} columns, is that of"
            f" CuDNN{kind}, whose weights are laid out differently. In Keras 2, load the file into a model with {kind}"
            f"{'(reset_after=True)' if kind == 'GRU' else ''}, which converts them, and take that layer's get_weights()"
        )
    if kind == "GRU" and bias.dim() == 1:
        raise ValueError(
            f"bias of a layer GRU has 2 dimensions, not 1: {tuple(bias.shape)}. The layer was made without reset_after:"
            " it applies the reset gate before the product, which torch cannot compute"
        )


def check_rows(kind: str, W: Tensor, R: Tensor, b_ih: Tensor, b_hh: Tensor) -> None:
    """Raise ValueError if one of the four tensors does not have the rows of all gates."""
    H, gates = R.shape[1], len(TORCH[kind])
    for name, rows in (("input weights", W), ("recurrent weights", R), ("first bias", b_ih), ("second bias", b_hh)):
        if len(rows) != gates * H:
            raise ValueError(
                f"the {name} have {len(rows)} rows of gates; a layer {kind} with H = {H} has {gates} · {H} ="
                f" {gates * H}"
            )
