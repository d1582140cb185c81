"""Change the shape or the order of the axes: mostly views."""

import functools
import math

import numpy as np

from . import dtypes
from .arguments import Sizes, check_argument, check_elements, parse_size, refuse_keywords
from .messages import error, refuse, warn_once
from .operands import broadcast_error, tensor_type
from .tape import fit, rename_node
from .tensor import Tensor, axis, record
from .views import view_row

OF_NO_MATRIX = (
    "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw an"
    " error in a future release. Consider `x.mT` to transpose batches of matrices or `x.permute(*torch.arange(x.ndim -"
    " 1, -1, -1))` to reverse the dimensions of a tensor."
)


def takes_sizes(operation):
    """Decorate an operation on a tensor and a tuple of integers, so that it takes them in all of torch's forms.

    The attribute `strict` is the form of functions, which take only a tuple.
    """
    name, title = operation.__code__.co_varnames[1], operation.__name__.removesuffix("_to_shape")

    @functools.wraps(operation)
    def call(input, *sizes, **named):
        if name in named and not sizes:
            sizes = (named.pop(name),)
        refuse_keywords(title, named)
        return operation(input, parse_size(sizes, title, name))

    @functools.wraps(operation)
    def strict(input, *sizes, **named):
        if len(sizes) + len(named) != 1 or named.keys() - {name}:
            return operation(input, *sizes, **named)  # raises TypeError
        check_argument(title, name, named.get(name, *sizes), Sizes, 2)
        return call(input, *sizes, **named)

    call.strict = strict
    return call


def check_dims(dims, ndim):
    """Return axes counted from the front; raise RuntimeError if one is named twice."""
    axes = [axis(d, ndim) for d in ((dims,) if isinstance(dims, (int, np.integer)) else dims)]
    for d in axes:
        refuse(axes.count(d) > 1, f"dim {d} appears multiple times in the list of dims")
    return axes


def infer_shape(shape, size):
    """Replace −1 in a shape by the length that fits; raise torch's error if none does."""
    if math.prod(shape) == size and (not shape or min(shape) >= 0):
        return shape
    refuse(shape.count(-1) > 1, "only one dimension can be inferred")
    product = math.prod([n for n in shape if n != -1])
    if -1 not in shape or min(shape) < -1 or not product or size % product:
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {size}")
    return tuple(size // product if n == -1 else n for n in shape)


def expand_array(array, shape):
    """Return numpy's view of an array in which axes of length 1 are repeated; it may be written to."""
    if array.shape == shape:
        return array[...]
    out = np.broadcast_to(array, shape)
    out.flags.writeable = array.flags.writeable
    return out


def add_axis(array, dim):
    """Return numpy's view with a new axis."""
    return array[(slice(None),) * dim + (None, ...)]


def diagonal_array(array, offset, dim1, dim2):
    """Return numpy's diagonal, which may be written to."""
    out = np.diagonal(array, offset, dim1, dim2)
    out.flags.writeable = array.flags.writeable
    return out


def windows_array(array, dim, size, step):
    """Return numpy's view of all windows of one axis."""
    if not array.ndim:
        return array.reshape(1)[:size]
    windows = np.lib.stride_tricks.sliding_window_view(array, size, dim, writeable=True)
    return windows[(slice(None),) * dim + (slice(None, None, step),)]


def add_windows(g, shape, *arguments):
    """Return zeros to which the windows of a gradient are added."""
    out, places = np.zeros(shape, g._array.dtype), np.arange(math.prod(shape)).reshape(shape)
    np.add.at(out.reshape(-1), windows_array(places, *arguments), g._array)
    return record(out, "UnfoldBackward", (g,), lambda h: windows(h, *arguments))


# Views: numpy's function, and the way back of the gradient.
reshaped = view_row("View", np.reshape, lambda g, shape, new: reshape(g, shape))
alias = view_row("Alias", lambda array: array[...], lambda g, shape: g)
swapped = view_row("Transpose", np.swapaxes, lambda g, shape, dim0, dim1: swapped(g, dim0, dim1))
flipped_over = view_row("T", np.transpose, lambda g, shape: flipped_over(g))
permuted = view_row("Permute", np.transpose, lambda g, shape, order: permuted(g, np.argsort(order)))
squeezed = view_row("Squeeze", np.squeeze, lambda g, shape, axes: reshape(g, shape))
unsqueezed = view_row("Unsqueeze", add_axis, lambda g, shape, dim: squeezed(g, (dim,)))
expanded = view_row("Expand", expand_array, lambda g, shape, new: fit(g, shape))
diagonals = view_row("Diagonal", diagonal_array)
windows = view_row("Unfold", windows_array, add_windows)


@takes_sizes
def view_to_shape(input, size):
    shape = infer_shape(size, input._array.size)
    refuse(not can_view(input._array, shape), "view strides")
    return reshaped(input, shape)


def can_view(array, shape):
    """Return True if numpy changes the shape without a copy."""
    return array.flags.c_contiguous or not array.size or np.may_share_memory(array.reshape(shape), array)


def view(input, *shape, **named):
    """Return a view of another shape, or of the same memory in another type.

    Raise RuntimeError where the numbers would have to be copied.
    """
    dtype = named.pop("dtype", None) if not shape else shape[0] if isinstance(shape[0], dtypes.dtype) else None
    if dtype is None:
        return view_to_shape(input, *shape, **named)
    refuse_keywords("view", named)
    return view_type(input, dtype)


def view_type(input, dtype):
    """Return the bytes of a tensor as numbers of another type."""
    size, ratio, array = dtype.itemsize, dtype.itemsize / input.itemsize, input._array
    if ratio != 1:
        names = f"{input.dtype.title} as {dtype.title} (different element sizes)"
        refuse(not input.ndim, f"self.dim() cannot be 0 to view {names}")
        text = f"self.size(-1) must be divisible by {ratio:g} to view {names}, but got {input.shape[-1]}"
        refuse(array.shape[-1] * array.itemsize % size, text)
        plain = not array.size and not array.strides[-1]  # numpy's strides are 0 for a new axis, or without numbers
        *steps, last = (step * array.itemsize for step in input.stride()) if plain else array.strides
        wrong = last != array.itemsize or any(place % size for place in (input.data_ptr(), *steps))
        refuse(wrong, f"small_torch cannot view {names}: the strides and the offset of self do not fit")
    out = Tensor(array.view(dtype.np))
    out._changes = input._changes
    return out


@takes_sizes
def reshape(input, shape):
    """Return the same numbers in another shape: a view where possible."""
    shape, before = infer_shape(shape, input._array.size), input._array.shape
    if can_view(input._array, shape):
        return reshaped(input, shape)
    return record(input._array.reshape(shape), "UnsafeView", (input,), lambda g: reshape(g, before))


def view_as(input, other):
    return view(input, other.shape)


def flatten(input, start_dim=0, end_dim=-1):
    """Merge the axes from start_dim to end_dim into one."""
    first, last = axis(start_dim, input.ndim), axis(end_dim, input.ndim)
    refuse(first > last, "flatten() has invalid args: start_dim cannot come after end_dim")
    shape = input._array.shape
    if shape and first == last:
        return input
    return reshape(input, (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :]))


def unflatten(input, dim, sizes):
    """Split one axis into several."""
    dim, shape = axis(dim, input.ndim), input._array.shape
    refuse(not shape or not sizes, "unflatten needs an axis, and sizes")
    return view(input, *shape[:dim], *infer_shape(tuple(sizes), shape[dim]), *shape[dim + 1 :])


def transpose(input, dim0: int, dim1: int):
    """Exchange two axes."""
    dim0, dim1 = axis(dim0, input.ndim), axis(dim1, input.ndim)
    return swapped(input, dim0, dim1) if input.ndim else alias(input)


def swapaxes(input, axis0: int, axis1: int):
    """Exchange two axes, by the names that numpy gives them."""
    return transpose(input, axis0, axis1)


def t(input):
    """Transpose a matrix."""
    refuse(input.ndim > 2, f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return flipped_over(input)


def adjoint(name):
    """Make the property `H` of matrices, or `mH` of batches of matrices."""

    def get(x):
        if x.ndim == 1 or name == "H" and x.ndim > 2:
            kinds = "matrices (2-D tensors)" if name == "H" else "matrices or batches of matrices"
            raise RuntimeError(f"tensor.{name} is only supported on {kinds}. Got {x.ndim}-D tensor.")
        return (transpose(x, -2, -1) if x.ndim else x).conj()

    return get


@takes_sizes
def permute(input, dims):
    """Reorder the axes."""
    refuse(len(dims) != input.ndim, "permuted axes", input.ndim, len(dims))
    return permuted(input, tuple(check_dims(dims, input.ndim)))


def reverse_axes(x):
    """Return a tensor with all axes in reverse order: its property `T`."""
    if x.ndim != 2:
        warn_once(OF_NO_MATRIX)
    return permute(x, tuple(range(x.ndim))[::-1])


def movedim(input, source, destination):
    """Move axes to other places."""
    source, destination = check_dims(source, input.ndim), check_dims(destination, input.ndim)
    refuse(len(source) != len(destination), "movedim: source and destination have different lengths")
    rest = iter(dim for dim in range(input.ndim) if dim not in source)
    return permute(input, [source[destination.index(i)] if i in destination else next(rest) for i in range(input.ndim)])


def squeeze(input, dim=None):
    """Remove axes of length 1: all, or those named."""
    axes = range(input.ndim) if dim is None else check_dims(dim, input.ndim)
    axes = tuple(at for at in axes if input.ndim and input._array.shape[at] == 1)
    return rename_node(squeezed(input, axes), f"Squeeze.{0 if dim is None else 1 if isinstance(dim, int) else 2}")


def unsqueeze(input, dim: int):
    """Insert an axis of length 1."""
    return unsqueezed(input, axis(dim, input.ndim + 1))


@takes_sizes
def expand(input, size):
    """Repeat axes of length 1, without a copy."""
    before, front = input._array.shape, len(size) - input.ndim
    if front < 0 or -1 in size[:front]:
        raise error("expanded axes", tensor_type(input), list(before), list(size), len(size), len(before))
    before = (1,) * front + before
    shape = tuple(old if new == -1 else new for old, new in zip(before, size))
    for i in reversed(range(len(shape))):
        if before[i] not in (1, shape[i]) or shape[i] < 0:
            raise error("expanded size", size[i], before[i], i, list(size), list(before[front:]))
    return expanded(input, shape)


def expand_as(input, other):
    return expand(input, other.shape)


def broadcast_to(input, size):
    return expand(input, size)


def broadcast_tensors(*tensors):
    check_elements(tensors)
    try:
        shape = np.broadcast_shapes(*(tensor._array.shape for tensor in tensors))
    except ValueError:
        raise broadcast_error(*tensors) from None
    return tuple(tensor if tensor._array.shape == shape else expand(tensor, shape) for tensor in tensors)


def diagonal(input, offset=0, dim1=0, dim2=1):
    """Return the diagonals of matrices, as the last axis."""
    at = axis(dim1, input.ndim), axis(dim2, input.ndim)
    refuse(at[0] == at[1], f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return diagonals(input, offset, *at)


def unfold(input, dimension: int, size: int, step: int):
    """Return all windows of one axis, as a new last axis."""
    dim, n = axis(dimension, input.ndim), input._array.shape[dimension] if input.ndim else 1
    refuse(not 0 <= size <= n, "maximum size for tensor at dimension {} is {} but size is {}", dim, n, size)
    refuse(step <= 0, "step is {} but must be > 0", step)
    return windows(input, dim, size, step)


def numel(input):
    return input._array.size
