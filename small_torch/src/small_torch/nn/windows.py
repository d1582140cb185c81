"""Convolutions and pools along one axis: functions of all windows of a signal."""

import numpy as np

from ..indexing import getitem
from ..joining import cat
from ..tensor import Tensor, record
from .checks import as_operation, check_fractions, check_tensors, require


def pad(input, pad, mode="constant", value=None):
    """Add numbers at the ends. pad: (left, right) of the last axis, then of the one before, …."""
    if not isinstance(pad, tuple | list):
        raise TypeError(f"pad(): argument 'pad' (position 2) must be tuple of ints, not {type(pad).__name__}")
    require(len(pad) % 2 == 0, "Padding length must be divisible by 2")
    require(
        len(pad) <= 2 * input.ndim,
        "Padding length should be less than or equal to two times the input dimension but got padding length"
        f" {len(pad)} and input of dimension {input.ndim}",
    )
    modes = ("constant", "reflect", "replicate", "circular")
    require(mode in modes, f"Unrecognised padding mode {mode}", NotImplementedError)
    if mode != "constant":
        if len(pad) != 2 or input.ndim not in (2, 3):
            raise NotImplementedError(f"pad with mode={mode!r} is in small_torch only for the last axis")
        return input.index_select(-1, Tensor(padded_places(input, tuple(pad), mode)))
    if not pad:
        return input.clone()
    widths = [(0, 0)] * (input.ndim - len(pad) // 2) + [(pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)]
    require(all(a + n + b >= 0 for (a, b), n in zip(widths, input.shape)), "narrow(): length must be non-negative.")
    if min(pad, default=0) < 0:
        input = getitem(input, tuple(slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(widths, input.shape)))
        widths = [(max(a, 0), max(b, 0)) for a, b in widths]
    inside = tuple(slice(a, a + n) for (a, _), n in zip(widths, input.shape))
    fill = np.asarray(0 if value is None else value).astype(input._array.dtype)
    array = np.pad(input._array, widths, constant_values=fill)
    return record(array, "ConstantPadNd", (input,), lambda g: getitem(g, inside))


def padded_places(input, widths, mode):
    """Return the place in the last axis that each number of the padded axis comes from."""
    size = input.size(-1)
    require(mode != "circular" or max(widths) <= size, "Padding value causes wrapping around more than once.")
    require(
        mode != "reflect" or max(widths) < size,
        "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding"
        f" {widths} at dimension {input.ndim - 1} of input {list(input.shape)}",
    )
    return np.pad(np.arange(size), widths, mode={"replicate": "edge", "circular": "wrap"}.get(mode, mode))


def single_numbers(error, **options):
    """Return the options' numbers, of which each may be in a tuple.

    error: torch's text for longer tuples, with {name}, {value} and {n}.
    """
    for name, value in options.items():
        if isinstance(value, tuple | list):
            require(len(value) == 1, error.format(name=name, value=list(value), n=len(value)))
            options[name] = value[0]
    return options.values()


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Convolve along the last axis. input: (N, C, L) or (C, L), weight: (C_out, C / groups, k)."""
    check_tensors("conv1d", input=input, weight=weight)
    sizes = list(input.shape)
    require(
        len(sizes) in (2, 3),
        f"Expected 2D (unbatched) or 3D (batched) input to conv1d, but got input of size: {sizes}",
    )
    stride, padding, dilation = single_numbers(
        "expected {name} to be a single integer value or a list of 1 values to match the convolution dimensions, but"
        " got {name}={value}",
        stride=stride,
        padding=padding,
        dilation=dilation,
    )
    x = input if input.ndim == 3 else input.unsqueeze(0)
    if isinstance(padding, str):
        require(padding in ("same", "valid"), f"Invalid padding string: '{padding}'")
        same = padding == "same"
        require(not same or stride == 1, "padding='same' is not supported for strided convolutions")
        total = dilation * (weight.size(-1) - 1) if same else 0
        x, padding = pad(x, (total // 2, total - total // 2)), 0
    check_convolution(x, weight, bias, stride, padding, dilation, groups)
    x = pad(x, (padding, padding)) if padding else x
    windows = x.unfold(-1, dilation * (weight.size(-1) - 1) + 1, stride)[..., ::dilation]  # (N, C, L', k)
    parts = zip(windows.chunk(groups, 1), weight.chunk(groups, 0))
    out = [(x_part.transpose(1, 2).flatten(2) @ w_part.flatten(1).t()).transpose(1, 2) for x_part, w_part in parts]
    out = cat(out, 1) if groups > 1 else out[0].contiguous()
    out = as_operation(out if bias is None else out + bias[:, None], "Convolution", input, weight)
    return out if input.ndim == 3 else out.squeeze(0)


def check_convolution(x, weight, bias, stride, padding, dilation, groups):
    """Raise torch's errors for the arguments of a convolution; x: (N, C, L)."""
    n, sizes, given = weight.ndim, list(weight.shape), f"Given groups={groups},"
    require(n >= 3, "weight should have at least three dimensions")
    require(
        n == 3,
        f"Expected {n}-dimensional input for {n}-dimensional weight {sizes}, but got 3-dimensional input of size"
        f" {list(x.shape)} instead",
    )
    require(stride > 0, "non-positive stride is not supported")
    require(padding >= 0, "negative padding is not supported")
    require(dilation > 0, "non-positive dilation is not supported")
    require(groups > 0, "non-positive groups is not supported")
    require(
        sizes[0] % groups == 0,
        f"{given} expected weight to be divisible by {groups} at dimension 0, but got weight of size [{sizes}] instead",
    )
    require(
        x.size(1) == sizes[1] * groups,
        f"{given} weight of size {sizes}, expected input{list(x.shape)} to have {sizes[1] * groups} channels, but got"
        f" {x.size(1)} channels instead",
    )
    padded, kernel = x.size(2) + 2 * padding, dilation * (sizes[2] - 1) + 1
    require(
        padded >= kernel,
        f"Calculated padded input size per channel: ({padded}). Kernel size: ({kernel}). Kernel size can't be greater"
        " than actual input size",
    )
    if bias is not None:
        require(
            bias.shape == (sizes[0],),
            f"Given weight of size {sizes}, expected bias to be 1-dimensional with {sizes[0]} elements, but got bias of"
            f" size {list(bias.shape)} instead",
        )
        types = f"({x.dtype.c_name}) and bias type ({bias.dtype.c_name})"
        require(bias.dtype is x.dtype, f"Input type {types} should be the same")
    require(weight.dtype is x.dtype, f"expected scalar type {x.dtype.title} but found {weight.dtype.title}")


def window_places(length, size, stride, padding, dilation, ceil_mode):
    """Return the places of all windows of an axis, counted without its padding: (windows, size).

    ceil_mode: also the last window that begins inside and ends outside.
    """
    free = length + 2 * padding - dilation * (size - 1) - 1
    count = (-(-free // stride) if ceil_mode else free // stride) + 1
    count -= ceil_mode and (count - 1) * stride >= length + padding
    return np.arange(count)[:, None] * stride - padding + np.arange(size) * dilation


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """Return the maximum of each window of the last axis: (N, C, L) or (C, L); with return_indices its place, too."""
    check_tensors("max_pool1d", input=input)
    sizes = list(input.shape)
    require(
        len(sizes) in (2, 3) and 0 not in sizes[-2:],
        f"max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:{sizes}",
    )
    text = "max_pool1d() {name} must be an int, list of ints or tuple of ints of size 1 but got size {n}"
    stride = kernel_size if stride is None else stride
    size, stride, padding, dilation = single_numbers(
        text, kernel_size=kernel_size, stride=stride, padding=padding, dilation=dilation
    )
    for name, value in zip(("kernel_size", "stride", "dilation"), (size, stride, dilation)):
        require(value > 0, f"max_pool1d() {name} must be greater than zero, but got {value}")
    require(padding >= 0, f"max_pool1d() padding must be non-negative, but got {padding}")
    require(
        padding <= size // 2,
        f"max_pool1d() padding should be at most half of kernel size, but got padding={padding} and kernel_size={size}",
    )
    places, length = window_places(sizes[-1], size, stride, padding, dilation, ceil_mode), sizes[-1]
    require(len(places) > 0, "max_pool1d() Invalid computed output size: 0")
    check_fractions("max_pool1d_impl", input)
    inside = (places >= 0) & (places < length)
    numbers = np.where(inside, input._array[..., places.clip(0, length - 1)], -np.inf)
    index = np.take_along_axis(np.broadcast_to(places, numbers.shape), numbers.argmax(-1)[..., None], -1)[..., 0]
    out = as_operation(
        input.gather(-1, Tensor(index)), "MaxPool2DWithIndices" if return_indices else "Squeeze.1", input
    )
    return (out, Tensor(index)) if return_indices else out


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
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
    require(stride != 0, "stride should not be zero")
    require(padding >= 0, f"pad must be non-negative, but got pad: {padding}")
    require(
        padding <= size // 2,
        f"pad should be at most half of effective kernel size, but got pad={padding}, kernel_size={size} and"
        " dilation=1",
    )
    *_, channels, length = sizes
    require(
        length > 0,
        "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:"
        f"{[*sizes[:-1], 1, length]}",
    )
    places = window_places(length, size, stride, padding, 1, ceil_mode)
    require(
        len(places) > 0,
        f"Given input size: ({channels}x1x{length}). Calculated output size: ({channels}x1x0). Output size is too"
        " small",
    )
    if input.dtype.title == "Bool":
        check_fractions("avg_pool2d", input)
    inside = (places >= 0) & (places < length)
    counts = (places < length + padding).sum(1) if count_include_pad else inside.sum(1)
    return means_of_windows(input, places, inside, counts)


def adaptive_avg_pool1d(input, output_size):
    """Return the means of output_size windows that cover the last axis evenly: (N, C, L) or (C, L)."""
    *_, length = check_axes("adaptive_avg_pool1d", input)
    (size,) = single_numbers("output_size must have one element", output_size=output_size)
    if not isinstance(size, int):
        kind = type(size).__name__
        raise TypeError(f"adaptive_avg_pool1d(): argument 'output_size' (position 2) must be tuple of ints, not {kind}")
    require(
        size >= 0,
        f"adaptive_avg_pool2d: elements of output_size must be greater than or equal to 0 but received {{1, {size}}}",
    )
    check_fractions("adaptive_avg_pool2d", input)
    starts, ends = np.arange(size) * length // max(size, 1), -(-np.arange(1, size + 1) * length // max(size, 1))
    places = starts[:, None] + np.arange((ends - starts).max(initial=0))
    return means_of_windows(input, places, places < ends[:, None], ends - starts)


def check_axes(name, input):
    """Return the shape of a tensor of two or three axes, as a list."""
    check_tensors(name, input=input)
    require(
        input.ndim in (2, 3),
        f"Expected 2 to 3 dimensions, but got {input.ndim}-dimensional tensor for argument #1 'self' (while checking"
        f" arguments for {name})",
    )
    return list(input.shape)


def means_of_windows(input, places, inside, counts):
    """Return the sum of each window, of its places that are inside, divided by its count."""
    numbers = input[..., Tensor(places.clip(0, input.size(-1) - 1))]
    sums, counts = numbers.masked_fill(Tensor(~inside), 0).sum(-1), Tensor(counts.astype(input._array.dtype))
    out = sums / counts if input.dtype.kind > 1 else sums.div(counts, rounding_mode="trunc")
    return as_operation(out.contiguous(), "Squeeze.1", input)
