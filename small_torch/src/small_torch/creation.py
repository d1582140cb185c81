"""Create tensors: from Python's numbers, filled, in order."""

import functools
import math
import operator
import warnings

import numpy as np

from . import dtypes
from .arguments import Number, Operand, Sizes, check_argument, parse_size
from .dtypes import cast_array
from .elementwise import Formula, compute, masked, record_formula
from .elementwise import zeros as zero_gradient
from .in_place import give_to
from .indexing import PLACES
from .memory import arrange, check_memory, contiguous, has_repeats, make_in_order
from .messages import refuse
from .nested import nested_array
from .operands import broadcast_error, check_fill, complex_type, scalar_array, tensor_from_number
from .random import multiply_add, not_implemented
from .tape import fit
from .tensor import Tensor, record


def new(array, requires_grad=False, device=None):
    """Return a tensor of an array, on a device."""
    out = Tensor(array)
    out.device = dtypes.parse_device(device)
    if requires_grad:
        refuse(out.dtype.kind < 2, "gradient of integers")
        out.requires_grad = True
    return out


def factory(make, name=None):
    """Turn a function that returns an array into one of torch, which returns a tensor.

    The function has torch's arguments but for those that all such functions share; its `dtype` is None, or a dtype.
    """
    name = name or make.__name__

    @functools.wraps(make)
    def create(
        *arguments, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None, **options
    ):
        array = make(*arguments, dtype=dtypes.parse_dtype(dtype, name), **options)
        check_argument(name, "requires_grad", requires_grad, bool)
        tensor = new(array, requires_grad, device)
        return tensor if out is None else give_to(out, tensor, name)

    make.__name__ = make.__qualname__ = create.__name__ = name
    return create


def default_np(dtype):
    """Return the numpy type of a dtype; the default dtype's for None."""
    return (dtype or dtypes.default[0]).np


# From Python's numbers


def data_array(data, dtype):
    """Return data as a new array; raise torch's errors for data that are not numbers."""
    if isinstance(data, Tensor):
        array = contiguous(data._array) if has_repeats(data._array) else data._array
    elif isinstance(data, (np.ndarray, np.generic)):
        array = check_array(np.asarray(data))
    else:
        return np.array(nested_array(data, dtype))
    return np.array(cast_array(array, dtype) if dtype else array)


def check_array(array):
    """Return an array; raise torch's error if it runs backwards in memory, or has a type that torch lacks."""
    dtypes.from_array(array)
    refuse(min(array.strides, default=0) < 0, "negative strides", " ")
    return array


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """Return a tensor of data: a copy."""
    if isinstance(data, Tensor):
        warn_of_copy("torch.tensor")
    check_argument("tensor", "requires_grad", requires_grad, bool)
    return new(data_array(data, dtypes.parse_dtype(dtype, "tensor")), requires_grad, device)


def warn_of_copy(name):
    warnings.warn(
        "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or"
        f" sourceTensor.detach().clone().requires_grad_(True), rather than {name}(sourceTensor).",
        stacklevel=3,
    )


def as_tensor(data, dtype=None, device=None):
    """Return a tensor of data, which shares their memory where possible."""
    if isinstance(data, np.ndarray):
        data = from_numpy(data)
    if isinstance(data, Tensor):
        return data.to(device=device, dtype=dtype)
    return new(data_array(data, dtypes.parse_dtype(dtype, "as_tensor")), False, device)


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """Return a tensor of data, which shares their memory where possible; a copy if `copy` is True."""
    out = as_tensor(obj, dtype, device)
    if copy:
        out = out.clone()
    return out.requires_grad_() if requires_grad else out


def from_numpy(ndarray):
    refuse(not isinstance(ndarray, np.ndarray), "expected np.ndarray (got {})", type(ndarray).__name__, kind=TypeError)
    return Tensor(check_array(ndarray))


# Filled


def sized(name, value):
    """Make `zeros` and its relatives."""

    def make(*arguments, dtype, size=None, memory_format=None):
        shape = check_lengths(parse_size(arguments if size is None else (size,), name), name)
        return np.full(shape, value, default_np(dtype))

    return factory(make, name)


def check_lengths(shape, name=""):
    """Return a shape; raise RuntimeError if it has a negative length."""
    for length in shape:
        refuse(length < 0 and name == "zeros", "zeros: Dimension size must be non-negative.")
        refuse(length < 0, f"Trying to create tensor with negative dimension {length}: {list(shape)}")
    return shape


def filled(shape, value, dtype):
    """Return an array of a number, which must fit its type; a single one becomes infinite in float16, as in torch."""
    single = dtype is dtypes.float16 and math.prod(shape) == 1 and isinstance(value, float)
    return np.full(shape, scalar_array(value, dtype) if single else check_fill(value, dtype), dtype.np)


zeros, ones, empty = sized("zeros", 0), sized("ones", 1), sized("empty", 0)


@factory
def full(size: Sizes, fill_value: Number, *, dtype):
    check_argument("full", "size", size, Sizes, 1)
    if dtype is None:
        dtype = fill_value.dtype if isinstance(fill_value, Tensor) else dtypes.from_number(fill_value)
    return filled(check_lengths(parse_size((size,), "full")), fill_value, dtype)


def like(name, fill):
    """Make `zeros_like` and its relatives. fill: the number, None if the caller gives it."""

    def make(input: Tensor, fill_value: Number = fill, *, dtype, memory_format=None):
        if memory_format == "torch.contiguous_format":
            return filled(input._array.shape, fill_value, dtype or input.dtype)
        return make_in_order(input._array, lambda shape: filled(shape, fill_value, dtype or input.dtype))

    made = factory(make, name)

    @functools.wraps(make)
    def create(input, *arguments, device=None, **options):
        return made(input, *arguments, device=device or getattr(input, "device", None), **options)

    return create


zeros_like, ones_like, empty_like = like("zeros_like", 0), like("ones_like", 1), like("empty_like", 0)
full_like = like("full_like", None)


@factory
def arange(*arguments, dtype, start=0, end=None, step=1):
    """Return numbers from start (0) to below end, in equal steps."""
    if len(arguments) == 1:
        (end,) = arguments
    else:
        start, end, step, *_ = *arguments, *(start, end, step)[len(arguments) :]
    for name, value in {"end": end, "start": start, "step": step}.items():
        check_argument("arange", name, value, Number)
    start, end, step = (x.item() if isinstance(x, Tensor) else x for x in (start, end, step))
    if dtype is None:
        integers = all(isinstance(x, (int, np.integer)) for x in (start, end, step))
        dtype = dtypes.int64 if integers else dtypes.default[0]
    if dtype.kind in (0, 3):
        raise not_implemented("arange_cpu", dtype.np)
    is_complex = any(isinstance(x, complex) for x in (start, end, step))
    refuse(is_complex or not (np.isfinite(start) and np.isfinite(end)), "unsupported range: {} -> {}", start, end)
    if dtype is dtypes.int64:  # torch drops the fractions of each number first
        start, end, step = int(start), int(end), int(step)
    refuse(step == 0, "step must be nonzero")
    refuse((end - start) * step < 0, "upper bound and lower bound inconsistent with step sign")
    count = int(np.ceil((end - start) / step))
    if dtype.kind < 2:
        kind = dtype.np.type
        return np.arange(count, dtype=np.int64).astype(dtype.np) * kind(step) + kind(start)
    return multiply_add(np.arange(count), np.float64(step), np.float64(start)).astype(dtype.np)


@factory
def linspace(start: Number, end: Number, steps: int, *, dtype):
    """Return equally spaced numbers from start to end; counted from both ends, as torch does."""
    start, end = (x.item() if isinstance(x, Tensor) else x for x in (start, end))
    if isinstance(start, complex) or isinstance(end, complex):
        refuse(dtype and dtype.kind < 3, "linspace type")
        dtype = dtype or dtypes.default[0].to_complex()
    dtype = dtype or dtypes.default[0]
    kind, steps = dtype.np.type, operator.index(steps)
    refuse(steps < 0, "number of steps must be non-negative")
    if steps == 1:
        return np.asarray([check_fill(start, dtype)], kind)
    start, end = (kind(check_fill(x, dtype)) for x in (start, end))
    if dtype.kind == 3:
        ends = (start.real.item(), end.real.item()), (start.imag.item(), end.imag.item())
        real, imag = (linspace(*pair, steps, dtype=dtype.to_real()) for pair in ends)
        return complex_(real, imag)._array
    step, i = (end - start) / kind(steps - 1) if steps > 1 else kind(0), np.arange(steps)
    with np.errstate(all="ignore"):
        array = np.where(i < steps // 2, multiply_add(i, step, start), multiply_add(steps - 1 - i, -step, end))
        return array.astype(kind)


@factory
def logspace(start: Number, end: Number, steps: int, base: Number = 10.0, *, dtype):
    """Return powers of the base, with equally spaced exponents from start to end."""
    exponents = linspace(start, end, steps)
    wide = dtypes.complex128 if exponents.is_complex() else dtypes.float64
    exponents, dtype = linspace(start, end, steps, dtype=wide)._array, dtype or exponents.dtype
    return np.power(float(base), exponents).astype(dtype.np)


@factory
def eye(n: int, m: int = None, *, dtype):
    for name, size in (("n", n), ("m", m)):
        refuse(size is not None and size < 0, "{} must be greater or equal to 0, got {}", name, size)
    return np.eye(n, m, dtype=default_np(dtype))


def triangle_indices(name, indices):
    """Make `tril_indices` and `triu_indices`. indices: numpy's function."""

    def make(row, col, offset=0, *, dtype):
        return np.stack(indices(row, offset, col)).astype((dtype or dtypes.int64).np)

    return factory(make, name)


tril_indices = triangle_indices("tril_indices", np.tril_indices)
triu_indices = triangle_indices("triu_indices", np.triu_indices)


def complex_(real, imag):
    for part in real, imag:
        fits = part.dtype.kind == 2 and part.dtype is real.dtype
        refuse(not fits, "Expected both inputs to be Half, Float or Double tensors of one type")

    def join(a, b):
        array = np.empty(np.broadcast_shapes(a.shape, b.shape), complex_type(real.dtype).np)
        array.real, array.imag = a, b
        return arrange(array, *(np.broadcast_to(part, array.shape).strides for part in (a, b)))

    return record_formula(COMPLEX, compute(join, real, imag), real, imag)


COMPLEX = Formula("Complex", lambda g, a: g.real, lambda g, b: g.imag)


# Values in place


def fill_(tensor, value: Number):
    if not isinstance(value, Tensor):
        array = filled(tensor._array.shape, value, tensor.dtype)
        return tensor._assign(record(array, "Fill", (tensor,), zero_gradient), may_repeat=True)
    refuse(value.ndim, "fill axes", "fill_", value.ndim)
    array = np.full_like(tensor._array, value._array.astype(tensor._array.dtype))
    new = record(array, "Fill", (tensor, value), lambda g: (zero_gradient(g), g.sum()))
    return tensor._assign(new, may_repeat=True)


def zero_(tensor):
    return tensor._assign(record(np.zeros_like(tensor._array), "Zero", (tensor,), zero_gradient), may_repeat=True)


def copy_(tensor, other: Operand, non_blocking=False):
    source = tensor_from_number(other).to(tensor.dtype)
    check_memory(tensor._array, source._array)
    try:
        shape = np.broadcast_shapes(source._array.shape, tensor._array.shape)
    except ValueError:
        raise broadcast_error(tensor, source) from None
    array = np.broadcast_to(source._array, shape)
    # a separate node, since the source may be a leaf; the tensor's own gradient is zero
    rule = lambda g: (fit(g, source._array.shape), zero_gradient(g))  # noqa: E731
    return tensor._assign(record(array, "Copy", (source, tensor), rule))


def fill_diagonal_(tensor, fill_value, wrap=False):
    refuse(tensor.ndim < 2, "dimensions must larger than 1")
    refuse(tensor.ndim > 2 and len(set(tensor.shape)) > 1, "all dimensions of input must be of equal length")
    array, off_diagonal = tensor._array.copy(), np.ones(tensor._array.shape, bool)
    np.fill_diagonal(array, check_fill(fill_value, tensor.dtype), wrap)
    np.fill_diagonal(off_diagonal, False, wrap)
    return tensor._assign(record(array, "CopySlices", (tensor,), lambda g: masked(g, ~off_diagonal), PLACES))


# New tensors with the type of another tensor


def like_tensor(make):
    """Make a method that creates tensors with the type and device of its tensor, unless others are given."""

    def new(tensor, *arguments, dtype=None, device=None, **options):
        return make(*arguments, dtype=dtype or tensor.dtype, device=device or tensor.device, **options)

    new.__name__ = f"new_{make.__name__}"
    return new


def new_tensor(self, data, **options):
    """Return a tensor of data: a copy, with the type of `self` unless another is given."""
    if isinstance(data, Tensor):
        warn_of_copy("tensor.new_tensor")
        data = data._array
    return like_tensor(tensor)(self, data, **options)


new_zeros, new_ones, new_empty, new_full = map(like_tensor, (zeros, ones, empty, full))
