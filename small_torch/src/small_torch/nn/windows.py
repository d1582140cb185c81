"""Convolutions and pools along one axis: functions of all windows of a signal."""

import numpy as np

from ..absent import EXPLANATION
from ..indexing import getitem
from ..joining import cat
from ..memory import contiguous
from ..messages import error, refuse
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
    refuse(not all(a + n + b >= 0 for (a, b), n in zip(widths, input.shape)), "negative padding")
    if min(pad, default=0) < 0:
        input = getitem(input, tuple(slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(widths, input.shape)))
        widths = [(max(a, 0), max(b, 0)) for a, b in widths]
    inside = tuple(slice(a, a + n) for (a, _), n in zip(widths, input.shape))
    fill = scalar_array(check_fill(0 if value is None else value, input.dtype), input.dtype)
    array = np.pad(contiguous(input._array), widths, constant_values=fill)
    return record(array, "ConstantPadNd", (input,), lambda g: getitem(g, inside))


def single_numbers(text, **options):
    """Return the options' numbers, of which each may be in a tuple.

    text: torch's, for longer tuples, with {name}, {value} and {n}.
    """
    for name, value in options.items():
        if isinstance(value, tuple | list):
            refuse(len(value) != 1, text.format(name=name, value=list(value), n=len(value)))
            options[name] = value[0]
    return options.values()


def conv1d(input: Tensor, weight: Tensor, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Convolve along the last axis. input: (N, C, L) or (C, L), weight: (C_out, C / groups, k)."""
    sizes = list(input.shape)
    refuse(len(sizes) not in (2, 3), "convolution input", sizes)
    stride, padding, dilation = single_numbers(
        "expected {name} to be a single integer value or a list of 1 values to match the convolution dimensions, but"
        " got {name}={value}",
        stride=stride,
        padding=padding,
        dilation=dilation,
    )
    x = input if input.ndim == 3 else input.unsqueeze(0)
    if isinstance(padding, str):
        refuse(padding not in ("same", "valid"), "Invalid padding string: '{}'", padding)
        same = padding == "same"
        refuse(not (not same or stride == 1), "padding='same' is not supported for strided convolutions")
        total = dilation * (weight.size(-1) - 1) if same else 0
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
    refuse(n < 3, "weight should have at least three dimensions")
    refuse(n != 3, "convolution axes", n, n, sizes, list(x.shape))
    refuse(stride <= 0, "non-positive stride is not supported")
    refuse(padding < 0, "negative padding is not supported")
    refuse(dilation <= 0, "non-positive dilation is not supported")
    refuse(groups <= 0, "non-positive groups is not supported")
    refuse(sizes[0] % groups != 0, "convolution groups", given, groups, sizes)
    refuse(
        x.size(1) != sizes[1] * groups,
        "convolution channels",
        given,
        sizes,
        list(x.shape),
        sizes[1] * groups,
        x.size(1),
    )
    padded, kernel = x.size(2) + 2 * padding, dilation * (sizes[2] - 1) + 1
    refuse(padded < kernel, "convolution kernel", padded, kernel)
    if bias is not None:
        refuse(bias.shape != (sizes[0],), "convolution bias", sizes, sizes[0], list(bias.shape))
        types = f"({x.dtype.c_name}) and bias type ({bias.dtype.c_name})"
        refuse(bias.dtype is not x.dtype, "Input type {} should be the same", types)
    refuse(weight.dtype is not x.dtype, "expected scalar type {} but found {}", x.dtype.title, weight.dtype.title)


def window_places(length, size, stride, padding, dilation, ceil_mode):
    """Return the places of all windows of an axis, counted without its padding: (windows, size).

    ceil_mode: also the last window that begins inside and ends outside.
    """
    free = length + 2 * padding - dilation * (size - 1) - 1
    count = (-(-free // stride) if ceil_mode else free // stride) + 1
    count -= ceil_mode and (count - 1) * stride >= length + padding
    return np.arange(count)[:, None] * stride - padding + np.arange(size) * dilation


def max_pool1d(input: Tensor, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """Return the maximum of each window of the last axis: (N, C, L) or (C, L); with return_indices its place, too."""
    sizes = list(input.shape)
    refuse(not (len(sizes) in (2, 3) and 0 not in sizes[-2:]), "max pool input", sizes)
    text = "max_pool1d() {name} must be an int, list of ints or tuple of ints of size 1 but got size {n}"
    stride = kernel_size if stride is None else stride
    size, stride, padding, dilation = single_numbers(
        text, kernel_size=kernel_size, stride=stride, padding=padding, dilation=dilation
    )
    for name, value in zip(("kernel_size", "stride", "dilation"), (size, stride, dilation)):
        refuse(value <= 0, "max_pool1d() {} must be greater than zero, but got {}", name, value)
    refuse(padding < 0, "max_pool1d() padding must be non-negative, but got {}", padding)
    refuse(padding > size // 2, "max pool padding", padding, size)
    places, length = window_places(sizes[-1], size, stride, padding, dilation, ceil_mode), sizes[-1]
    refuse(len(places) <= 0, "max_pool1d() Invalid computed output size: 0")
    check_fractions("max_pool1d_impl", input)
    inside = (places >= 0) & (places < length)
    numbers = np.where(inside, input._array[..., places.clip(0, length - 1)], -np.inf)
    index = np.take_along_axis(np.broadcast_to(places, numbers.shape), numbers.argmax(-1)[..., None], -1)[..., 0]
    out = rename_node(input.gather(-1, Tensor(index)), "MaxPool2DWithIndices" if return_indices else "Squeeze.1", input)
    return (out, Tensor(index)) if return_indices else out


def avg_pool1d(input: Tensor, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    """Return the mean of each window of the last axis: (N, C, L) or (C, L).

    count_include_pad: zeros of the padding count.
    """
    sizes = check_axes("avg_pool1d", input)
    size, stride, padding = single_numbers(
        "avg_pool1d() argument '{name}' should contain one int (got {n})",
        kernel_size=kernel_size,
        stride=kernel_size if stride in (None, ()) else stride,
        padding=padding,
    )
    refuse(stride == 0, "stride should not be zero")
    refuse(padding < 0, "pad must be non-negative, but got pad: {}", padding)
    refuse(padding > size // 2, "average pool padding", padding, size)
    *_, channels, length = sizes
    refuse(length <= 0, "average pool input", [*sizes[:-1], 1, length])
    places = window_places(length, size, stride, padding, 1, ceil_mode)
    refuse(len(places) <= 0, "average pool output", channels, length, channels)
    if input.dtype.title == "Bool":
        check_fractions("avg_pool2d", input)
    inside = (places >= 0) & (places < length)
    counts = (places < length + padding).sum(1) if count_include_pad else inside.sum(1)
    return means_of_windows(input, places, inside, counts)


def adaptive_avg_pool1d(input: Tensor, output_size):
    """Return the means of output_size windows that cover the last axis evenly: (N, C, L) or (C, L)."""
    *_, length = check_axes("adaptive_avg_pool1d", input)
    (size,) = single_numbers("output_size must have one element", output_size=output_size)
    if not isinstance(size, int):
        kind = type(size).__name__
        raise error("pool output type", kind)
    refuse(size < 0, "pool output", size)
    check_fractions("adaptive_avg_pool2d", input)
    starts, ends = np.arange(size) * length // max(size, 1), -(-np.arange(1, size + 1) * length // max(size, 1))
    places = starts[:, None] + np.arange((ends - starts).max(initial=0))
    return means_of_windows(input, places, places < ends[:, None], ends - starts)


def check_axes(name, input):
    """Return the shape of a tensor of two or three axes, as a list."""
    refuse(input.ndim not in (2, 3), "pool axes", input.ndim, name)
    return list(input.shape)


def means_of_windows(input, places, inside, counts):
    """Return the sum of each window, of its places that are inside, divided by its count."""
    numbers = input[..., Tensor(places.clip(0, input.size(-1) - 1))]
    sums, counts = numbers.masked_fill(Tensor(~inside), 0).sum(-1), Tensor(counts.astype(input._array.dtype))
    out = sums / counts if input.dtype.kind > 1 else sums.div(counts, rounding_mode="trunc")
    return rename_node(out.contiguous(), "Squeeze.1", input)
