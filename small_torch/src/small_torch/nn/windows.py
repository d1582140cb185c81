"""Convolutions and pools along one axis: functions of all windows of a signal."""

import numpy as np

from ..absent import EXPLANATION
from ..indexing import getitem
from ..joining import cat
from ..memory import contiguous
from ..messages import refuse
from ..operands import check_fill, scalar_array
from ..tape import rename_node
from ..tensor import Tensor, record
from .checks import check_fractions


def pad(input, pad, mode="constant", value=None):
    """Add numbers at the ends. pad: (left, right) of the last axis, then of the one before, …."""
    refuse(not isinstance(pad, tuple | list), "padding type", type(pad).__name__)
    refuse(len(pad) % 2 != 0, "Padding length must be divisible by 2")
    refuse(len(pad) > 2 * input.ndim, "padding length", len(pad), input.ndim)
    refuse(mode != "constant", "pad with mode={!r} " + EXPLANATION, mode, kind=NotImplementedError)
    if not pad:
        return input.clone()
    widths = [(0, 0)] * (input.ndim - len(pad) // 2) + [(pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)]
    refuse(any(n + min(a, 0) + min(b, 0) < 0 for (a, b), n in zip(widths, input.shape)), "negative padding")
    if min(pad, default=0) < 0:
        input = getitem(input, tuple(slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(widths, input.shape)))
        widths = [(max(a, 0), max(b, 0)) for a, b in widths]
    inside = tuple(slice(a, a + n) for (a, _), n in zip(widths, input.shape))
    fill = scalar_array(check_fill(0 if value is None else value, input.dtype), input.dtype)
    array = np.pad(contiguous(input._array), widths, constant_values=fill)
    return record(array, "ConstantPadNd", (input,), lambda g: getitem(g, inside))


def single_numbers(*values):
    """Return numbers, of which each may be in a list."""
    for value in values:
        wrong = isinstance(value, tuple | list) and len(value) != 1
        refuse(wrong, "expected a single integer value or a list of 1 values, but got {}", value)
    return [value[0] if isinstance(value, tuple | list) else value for value in values]


def conv1d(input: Tensor, weight: Tensor, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Convolve along the last axis. input: (N, C, L) or (C, L), weight: (C_out, C / groups, k)."""
    refuse(input.ndim not in (2, 3), "convolution input", list(input.shape))
    stride, padding, dilation = single_numbers(stride, padding, dilation)
    x = input if input.ndim == 3 else input.unsqueeze(0)
    if isinstance(padding, str):
        refuse(padding not in ("same", "valid"), "Invalid padding string: '{}'", padding)
        refuse(padding == "same" and stride != 1, "padding='same' is not supported for strided convolutions")
        total = dilation * (weight.size(-1) - 1) if padding == "same" else 0
        x, padding = pad(x, (total // 2, total - total // 2)), 0
    check_convolution(x, weight, bias, stride, padding, dilation, groups)
    x = pad(x, (padding, padding)) if padding else x
    windows = x.unfold(-1, dilation * (weight.size(-1) - 1) + 1, stride)[..., ::dilation]  # (N, C, L', k)
    parts = zip(windows.chunk(groups, 1), weight.chunk(groups, 0))
    out = [(x_part.transpose(1, 2).flatten(2) @ w_part.flatten(1).t()).transpose(1, 2) for x_part, w_part in parts]
    out = cat(out, 1) if groups > 1 else out[0].contiguous()
    out = rename_node(out if bias is None else out + bias[:, None], "Convolution", input, weight)
    return out if input.ndim == 3 else out.squeeze(0)


def check_convolution(x, weight, bias, stride, padding, dilation, groups):
    """Raise torch's errors for the arguments of a convolution; x: (N, C, L)."""
    n, sizes, given = weight.ndim, list(weight.shape), f"Given groups={groups},"
    refuse(n != 3, "convolution axes", n, n, sizes, list(x.shape))
    for name, value in (("stride", stride), ("dilation", dilation), ("groups", groups)):
        refuse(value <= 0, "non-positive {} is not supported", name)
    refuse(padding < 0, "negative padding is not supported")
    refuse(sizes[0] % groups != 0, "convolution groups", given, groups, sizes)
    channels = sizes[1] * groups
    refuse(x.size(1) != channels, "convolution channels", given, sizes, list(x.shape), channels, x.size(1))
    if bias is not None:
        refuse(bias.shape != (sizes[0],), "convolution bias", sizes, sizes[0], list(bias.shape))
        types = f"({x.dtype.c_name}) and bias type ({bias.dtype.c_name})"
        refuse(bias.dtype is not x.dtype, "Input type {} should be the same", types)
    padded, kernel = x.size(2) + 2 * padding, dilation * (sizes[2] - 1) + 1
    refuse(padded < kernel, "convolution kernel", padded, kernel)
    refuse(weight.dtype is not x.dtype, "expected scalar type {} but found {}", x.dtype.title, weight.dtype.title)


def check_windows(name, size, stride, padding, dilation=1):
    """Raise RuntimeError for windows that no pool has."""
    for argument, value in (("kernel_size", size), ("stride", stride), ("dilation", dilation)):
        refuse(value <= 0, "{}() {} must be greater than zero, but got {}", name, argument, value)
    refuse(padding < 0, "{}() padding must be non-negative, but got {}", name, padding)
    refuse(padding > size // 2, "pool padding", name, padding, size)


def window_places(length, size, stride, padding, dilation, ceil_mode):
    """Return the places of all windows of an axis, counted without its padding: (windows, size).

    ceil_mode: also the last window that begins inside and ends outside.
    """
    free = length + 2 * padding - dilation * (size - 1) - 1
    count = (-(-free // stride) if ceil_mode else free // stride) + 1
    count -= ceil_mode and (count - 1) * stride >= length + padding
    refuse(count <= 0, "Given input size: {}. Output size is too small", length)
    return np.arange(count)[:, None] * stride - padding + np.arange(size) * dilation


def max_pool1d(input: Tensor, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """Return the maximum of each window of the last axis: (N, C, L) or (C, L); with return_indices its place, too."""
    sizes = list(input.shape)
    refuse(len(sizes) not in (2, 3) or 0 in sizes[-2:], "pool input", "max_pool1d", sizes)
    stride = kernel_size if stride is None else stride
    size, stride, padding, dilation = single_numbers(kernel_size, stride, padding, dilation)
    check_windows("max_pool1d", size, stride, padding, dilation)
    places, length = window_places(sizes[-1], size, stride, padding, dilation, ceil_mode), sizes[-1]
    check_fractions("max_pool1d_impl", input)
    inside = (places >= 0) & (places < length)
    numbers = np.where(inside, input._array[..., places.clip(0, length - 1)], -np.inf)
    index = np.take_along_axis(np.broadcast_to(places, numbers.shape), numbers.argmax(-1)[..., None], -1)[..., 0]
    name = "MaxPool2DWithIndices" if return_indices else "Squeeze.1"
    out = rename_node(input.gather(-1, Tensor(index)), name, input)
    return (out, Tensor(index)) if return_indices else out


def avg_pool1d(input: Tensor, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    """Return the mean of each window of the last axis: (N, C, L) or (C, L).

    count_include_pad: zeros of the padding count.
    """
    refuse(input.ndim not in (2, 3), "pool axes", input.ndim, "avg_pool1d")
    stride = kernel_size if stride in (None, ()) else stride
    size, stride, padding = single_numbers(kernel_size, stride, padding)
    check_windows("avg_pool1d", size, stride, padding)
    length = input.size(-1)
    refuse(length == 0, "pool input", "avg_pool1d", list(input.shape))
    places = window_places(length, size, stride, padding, 1, ceil_mode)
    if input.dtype.title == "Bool":
        check_fractions("avg_pool2d", input)
    inside = (places >= 0) & (places < length)
    counts = (places < length + padding).sum(1) if count_include_pad else inside.sum(1)
    return means_of_windows(input, places, inside, counts)


def adaptive_avg_pool1d(input: Tensor, output_size):
    """Return the means of output_size windows that cover the last axis evenly: (N, C, L) or (C, L)."""
    refuse(input.ndim not in (2, 3), "pool axes", input.ndim, "adaptive_avg_pool1d")
    length, (size,) = input.size(-1), single_numbers(output_size)
    refuse(not isinstance(size, int), "pool output type", type(size).__name__)
    refuse(size < 0, "pool output", size)
    check_fractions("adaptive_avg_pool2d", input)
    starts, ends = np.arange(size) * length // max(size, 1), -(-np.arange(1, size + 1) * length // max(size, 1))
    places = starts[:, None] + np.arange((ends - starts).max(initial=0))
    return means_of_windows(input, places, places < ends[:, None], ends - starts)


def means_of_windows(input, places, inside, counts):
    """Return the sum of each window, of its places that are inside, divided by its count."""
    numbers = input[..., Tensor(places.clip(0, input.size(-1) - 1))]
    sums, counts = numbers.masked_fill(Tensor(~inside), 0).sum(-1), Tensor(counts.astype(input._array.dtype))
    out = sums / counts if input.dtype.kind > 1 else sums.div(counts, rounding_mode="trunc")
    return rename_node(out.contiguous(), "Squeeze.1", input)
