"""Argument checks that raise torch's own error messages, so that readers can search for them.

All checks run before anything is computed. Each function raises the type and the text that torch's counterpart raises,
in the same order, so that of two mistakes the same one is reported.
"""

import numbers
import warnings
from typing import Any

import torch
from torch import Tensor

from companion.layers.types import State

# The names of types in errors of a product with a bias (addmm), and without one (mm).
DTYPE_NAMES = {
    torch.float32: ("Float", "float"), torch.float64: ("Double", "double"),
    torch.float16: ("Half", "c10::Half"), torch.bfloat16: ("BFloat16", "c10::BFloat16"),
    torch.int64: ("Long", "long int"), torch.int32: ("Int", "int"), torch.int16: ("Short", "short int"),
    torch.int8: ("Char", "signed char"), torch.uint8: ("Byte", "unsigned char"), torch.bool: ("Bool", "bool"),
    torch.complex64: ("ComplexFloat", "c10::complex<float>"),
    torch.complex128: ("ComplexDouble", "c10::complex<double>"),
}  # fmt: skip


def autocast_dtype(tensor: Tensor) -> torch.dtype | None:
    """Return the type in which autocast computes on the tensor's device, or None if autocast is off."""
    device = tensor.device.type
    if device != "meta" and torch.is_autocast_enabled(device):
        return torch.get_autocast_dtype(device)
    return None


def layer_arguments(input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size):
    """Check the constructor's arguments of a recurrent layer."""
    if not isinstance(dropout, numbers.Number) or not 0 <= dropout <= 1 or isinstance(dropout, bool):
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
            f"num_layers greater than 1, but got dropout={dropout} and num_layers={num_layers}",
            stacklevel=4,  # the line that constructs the layer
        )
    for name, value, kind in (
        ("bias", bias, bool),
        ("batch_first", batch_first, bool),
        ("input_size", input_size, int),
        ("hidden_size", hidden_size, int),
    ):
        if not isinstance(value, kind):
            raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
        if kind is int and value <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


def integers(**arguments: Any) -> None:
    """Check that sizes are integers, for example not 64 / 2."""
    for name, value in arguments.items():
        if not isinstance(value, numbers.Integral) or isinstance(value, bool):
            raise TypeError(f"{name} should be of type int, got: {type(value).__name__}")


def multiple(**sizes: int) -> None:
    """Check that two sizes are integers, and that the first is a multiple of the second, which must be 1 or more."""
    integers(**sizes)
    (name, size), (other, part) = sizes.items()
    if part < 1 or size % part:
        raise ValueError(f"{name} must be a multiple of {other}, got {size} and {part}")


def no_projection(options: dict[str, Any]) -> None:
    """Raise ValueError if a layer other than an LSTM gets `proj_size`."""
    if "proj_size" in options:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


def layer_dimensions(name: str, input: Tensor, hx: Any, is_pair: bool) -> bool:
    """Check the number of dimensions of a layer's input and state, and return True if the input is batched."""
    if input.dim() not in (2, 3):
        # only RNN's message has the word "tensor" in torch
        got = f"{input.dim()}D tensor" if name == "RNN" else f"{input.dim()}D"
        raise ValueError(f"{name}: Expected input to be 2D or 3D, got {got} instead")
    dim = input.dim()
    kind = "batched" if dim == 3 else "unbatched"
    if hx is None:
        pass
    elif is_pair:
        if hx[0].dim() != dim or hx[1].dim() != dim:
            raise RuntimeError(
                f"For {kind} {dim}-D input, hx and cx should also be {dim}-D "
                f"but got ({hx[0].dim()}-D, {hx[1].dim()}-D) tensors"
            )
    elif hx.dim() != dim:
        raise RuntimeError(f"For {kind} {dim}-D input, hx should also be {dim}-D but got {hx.dim()}-D tensor")
    return dim == 3


def layer_input(input: Tensor, input_size: int, weight: Tensor, expected_dim: int) -> None:
    """Check the type, number of dimensions and last size of a layer's input."""
    if input.dtype != weight.dtype and autocast_dtype(input) is None:
        raise ValueError(
            f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
            f"Convert input: input.to({weight.dtype}), or convert model: model.to({input.dtype})"
        )
    if input.dim() != expected_dim:
        raise RuntimeError(f"input must have {expected_dim} dimensions, got {input.dim()}")
    if input.size(-1) != input_size:
        raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {input_size}, got {input.size(-1)}")


def layer_state(state: State, expected_shapes: list[tuple[int, ...]]) -> None:
    """Check the shapes of a layer's initial state, a tuple of tensors (num_layers * num_directions, batch, …)."""
    for k, (tensor, expected) in enumerate(zip(state, expected_shapes, strict=False)):
        if tuple(tensor.shape) != expected:
            which = "hidden" if len(expected_shapes) == 1 else f"hidden[{k}]"
            raise RuntimeError(f"Expected {which} size {expected}, got {list(tensor.shape)}")
    if len(state) != len(expected_shapes):
        raise RuntimeError("lstm expects two hidden states")


def layer_devices(input: Tensor, state: State, weight: Tensor) -> None:
    """Check that a padded layer's input, state and weights are on one device.

    A packed input is checked by the matrix product.
    """
    for what, tensors in (("hidden", state), ("parameter", [weight])):
        for tensor in tensors:
            if tensor.device != input.device:
                raise RuntimeError(
                    f"Input and {what} tensors are not at the same device, found input tensor at {input.device} "
                    f"and {what} tensor at {tensor.device}"
                )


def layer_length(length: int) -> None:
    """Check that there is at least one time step."""
    if length == 0:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")


def same_dtype(tensors: State, weight: Tensor, bias: bool) -> None:
    """Check that the tensors have the type of the weight that they are multiplied by."""
    for tensor in tensors:
        if tensor.dtype != weight.dtype and autocast_dtype(tensor) is None:
            (a, a_plain), (b, b_plain) = (DTYPE_NAMES.get(t.dtype, (str(t.dtype),) * 2) for t in (tensor, weight))
            if bias:
                raise RuntimeError(f"mat1 and mat2 must have the same dtype, but got {a} and {b}")
            raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {a_plain} != {b_plain}")


def cell_dimensions(name: str, input: Tensor, hx: Any, is_pair: bool) -> bool:
    """Check the number of dimensions of a cell's input and state, and return True if the input is batched."""
    if input.dim() not in (1, 2):
        raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")
    if hx is not None:
        for k, tensor in enumerate(hx if is_pair else (hx,)):
            if tensor.dim() not in (1, 2):
                which = f"hx[{k}]" if is_pair else "hidden"
                raise ValueError(f"{name}: Expected {which} to be 1D or 2D, got {tensor.dim()}D instead")
        if is_pair and input.dim() == 2:
            if isinstance(hx, torch.Tensor):
                raise TypeError("lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not Tensor")
            if len(hx) != 2:
                raise RuntimeError("lstm_cell expects two hidden states")
    return input.dim() == 2


def cell_sizes(input: Tensor, state: State, input_size: int, hidden_size: int) -> None:
    """Check the sizes of a cell's input (batch, input_size) and state (batch, hidden_size)."""
    if input.size(1) != input_size:
        raise RuntimeError(f"input has inconsistent input_size: got {input.size(1)} expected {input_size}")
    for k, tensor in enumerate(state):
        if tensor.dim() != 2 and torch.__version__ >= (2, 15):  # older versions report this in the next check
            raise RuntimeError(f"Expected 2D hidden{k} (batch x hidden_size), but got {tensor.dim()}D tensor")
        if tensor.size(0) != input.size(0):
            raise RuntimeError(f"Input batch size {input.size(0)} doesn't match hidden{k} batch size {tensor.size(0)}")
        if tensor.size(1) != hidden_size:
            raise RuntimeError(f"hidden{k} has inconsistent hidden_size: got {tensor.size(1)}, expected {hidden_size}")


def padding_index(padding_idx: int | None, num_embeddings: int) -> int | None:
    """Check that the table has row `padding_idx`, and return its index counted from the beginning, or None."""
    if padding_idx is None:
        return None
    if not -num_embeddings <= padding_idx < max(num_embeddings, 1):
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx + num_embeddings if padding_idx < 0 else padding_idx


def embedding_indices(indices: Tensor) -> None:
    """Check that the indices are a tensor of integers."""
    if not isinstance(indices, torch.Tensor):
        kind = type(indices).__name__
        raise TypeError(f"embedding(): argument 'indices' (position 2) must be Tensor, not {kind}")
    if indices.dtype not in (torch.int64, torch.int32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; "
            f"but got {indices.type()} instead (while checking arguments for embedding)"
        )
