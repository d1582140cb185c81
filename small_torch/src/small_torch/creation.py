"""Create tensors: from Python's numbers, filled, in order, random."""

import builtins

import numpy as np

from . import dtypes
from .dtypes import cast_array
from .elementwise import floating, masked
from .elementwise import zeros as zero_gradient
from .operands import broadcast_error, refuse_keywords
from .random import default_generator
from .shapes import parse_sizes
from .tape import fit, recording
from .tensor import Tensor, record


def new(array, requires_grad=False, device=None):
    """Return a tensor of an array, on a device."""
    out = Tensor(array)
    if device is not None:
        out.device = dtypes.parse_device(device)
    if requires_grad:
        if out.dtype.kind < 2:
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        out.requires_grad = True
    return out


def numpy_type(dtype):
    """Return the numpy type of a dtype; the default dtype's for None."""
    return (dtypes.parse_dtype(dtype) or dtypes.default[0]).np


def to_numpy(data):
    """Return the numbers of a tensor, or of nested lists, as a numpy array; anything else as it is."""
    if isinstance(data, Tensor):
        return data._array
    if isinstance(data, (list, tuple)):
        if contains_tensor(data):
            if builtins.any(isinstance(x, Tensor) and x.numel() != 1 for x in data):
                raise ValueError("only one element tensors can be converted to Python scalars")
            return np.asarray([x._array.reshape(()) if isinstance(x, Tensor) else to_numpy(x) for x in data])
        try:
            return np.asarray(data)
        except ValueError:
            lengths = [len(item) if isinstance(item, (list, tuple)) else 1 for item in data]
            wrong = next((length for length in lengths if length != lengths[0]), lengths[0])
            raise ValueError(f"expected sequence of length {lengths[0]} at dim 1 (got {wrong})") from None
    return data


def contains_tensor(data):
    """Return True if nested lists contain a tensor."""
    return builtins.any(
        isinstance(item, Tensor) or isinstance(item, (list, tuple)) and contains_tensor(item) for item in data
    )


def data_array(data, dtype):
    """Return data as a new array; raise torch's errors for data that are not numbers."""
    dtype = dtypes.parse_dtype(dtype)
    source = to_numpy(data)
    if isinstance(source, (np.ndarray, np.generic)) and not isinstance(data, (list, tuple)):
        return cast_array(np.array(source), dtype) if dtype else np.array(source)
    array = np.asarray(source)
    if array.dtype == np.uint64:
        raise ValueError("Overflow when unpacking long long")
    if array.dtype == object or array.dtype.kind in "US":
        first = array.reshape(-1)[0] if array.size else None
        if isinstance(first, str):
            if array.ndim:
                raise ValueError("too many dimensions 'str'")
            raise TypeError("new(): invalid data type 'str'")
        if first is None or not isinstance(first, (int, float)):
            raise RuntimeError(f"Could not infer dtype of {type(first).__name__}")
        raise RuntimeError("Overflow when unpacking long long")
    if dtype is None and not contains_tensor([data]):
        if not array.size:
            return array.astype(dtypes.default[0].np)
        if array.dtype.kind == "f":
            array = array.astype(dtypes.default[0].np)
        elif array.dtype.kind == "c":
            array = array.astype(dtypes.default[0].to_complex().np)
    return np.array(cast_array(array, dtype) if dtype else array)


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """Return a tensor of data: a copy."""
    return new(data_array(data, dtype), requires_grad, device)


def as_tensor(data, dtype=None, device=None):
    """Return a tensor of data, which shares their memory where possible."""
    if isinstance(data, Tensor):
        return data.to(device=device, dtype=dtype)
    if isinstance(data, np.ndarray):
        out = Tensor(data)
        dtypes.from_array(data)
        return out if dtype is None else out.to(dtype)
    return tensor(data, dtype=dtype, device=device)


asarray = as_tensor


def from_numpy(ndarray):
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    dtypes.from_array(ndarray)
    return Tensor(ndarray)


def filled(size, value, dtype, requires_grad, device):
    return new(np.full(size, value, numpy_type(dtype)), requires_grad, device)


def check_sizes(size, name):
    """Return sizes as a tuple; raise torch's errors for sizes that are not whole or negative."""
    if builtins.any(isinstance(length, (str, float)) for length in size):
        wrong = next(type(length).__name__ for length in size if isinstance(length, (str, float)))
        raise TypeError(f"{name}(): argument 'size' (position 1) must be tuple of ints, not {wrong}")
    lengths = parse_sizes(size)
    if builtins.any(length < 0 for length in lengths):
        raise RuntimeError(f"{name}: Dimension size must be non-negative.")
    return lengths


def zeros(*size, dtype=None, device=None, requires_grad=False, out=None):
    return new(np.zeros(check_sizes(size, "zeros"), numpy_type(dtype)), requires_grad, device)


def ones(*size, dtype=None, device=None, requires_grad=False, out=None):
    return new(np.ones(check_sizes(size, "ones"), numpy_type(dtype)), requires_grad, device)


def empty(*size, dtype=None, device=None, requires_grad=False, out=None, memory_format=None, pin_memory=False):
    return new(np.zeros(parse_sizes(size), numpy_type(dtype)), requires_grad, device)


def full(size, fill_value, *, dtype=None, device=None, requires_grad=False):
    fill_value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    return filled(tuple(size), fill_value, dtype or dtypes.from_number(fill_value), requires_grad, device)


def like(fill):
    """Make `zeros_like` and its relatives. fill: the number, None if the caller gives it."""

    def made_like(input, *value, dtype=None, device=None, requires_grad=False, memory_format=None, fill_value=None):
        value = fill if fill is not None else value[0] if value else fill_value
        return new(
            np.full(input._array.shape, value, (dtypes.parse_dtype(dtype) or input.dtype).np),
            requires_grad,
            device or input.device,
        )

    return made_like


zeros_like, ones_like, empty_like, full_like = like(0), like(1), like(0), like(None)


def arange(start, end=None, step=1, *, dtype=None, device=None, requires_grad=False):
    """Return numbers from start (0) to below end, in equal steps."""
    start, end = (0, start) if end is None else (start, end)
    start, end, step = (x.item() if isinstance(x, Tensor) else x for x in (start, end, step))
    if dtype is None:
        integers = builtins.all(isinstance(x, (int, np.integer)) for x in (start, end, step))
        dtype = dtypes.int64 if integers else dtypes.default[0]
    dtype = dtypes.parse_dtype(dtype)
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    count = int(np.ceil((end - start) / step))
    if dtype.kind < 2:
        return new(
            np.arange(count, dtype=np.int64).astype(dtype.np) * dtype.np.type(step) + dtype.np.type(start),
            False,
            device,
        )
    array = multiply_add(np.float64(start), np.float64(step), np.arange(count))
    return new(array.astype(dtype.np), requires_grad, device)


def linspace(start, end, steps, *, dtype=None, device=None, requires_grad=False):
    """Return equally spaced numbers from start to end; counted from both ends, as torch does."""
    kind = numpy_type(dtype).type
    if steps == 1:
        return new(np.asarray([start], kind), requires_grad, device)
    start, end = kind(start), kind(end)
    step, i = (end - start) / kind(steps - 1) if steps > 1 else kind(0), np.arange(steps)
    array = np.where(i < steps // 2, multiply_add(start, step, i), multiply_add(end, -step, steps - 1 - i))
    return new(array.astype(kind), requires_grad, device)


def multiply_add(start, step, i):
    """Return start + step · i, for integers i, rounded once, as fused multiply-add instructions do.

    So the middle of −1 … 1 is not always 0.
    """
    if not isinstance(step, np.float64):
        return np.float64(start) + np.float64(step) * i
    # split step into two numbers with half the digits each, whose products with integers are exact
    large = step * 134217729.0
    high = large - (large - step)
    product = step * i
    lost = (high * i - product) + (step - high) * i
    total = start + product
    part = total - start
    return total + ((start - (total - part)) + (product - part) + lost)


def eye(n, m=None, *, dtype=None, device=None, requires_grad=False):
    return new(np.eye(n, m, dtype=numpy_type(dtype)), requires_grad, device)


def complex(real, imag):
    array = np.empty(
        np.broadcast_shapes(real._array.shape, imag._array.shape), np.result_type(real._array, np.complex64)
    )
    array.real, array.imag = real._array, imag._array
    return record(
        array, "Complex", (real, imag), lambda g: (fit(g.real, real._array.shape), fit(g.imag, imag._array.shape))
    )


# Random numbers


def manual_seed(seed):
    """Restart the random numbers: the same seed gives the same numbers as torch."""
    if not -(2**63) <= int(seed) < 2**64:
        raise ValueError("Overflow when unpacking long long")
    return default_generator.manual_seed(int(seed))


def initial_seed():
    return default_generator.initial_seed()


def get_rng_state():
    return Tensor(default_generator.get_state())


def set_rng_state(new_state):
    default_generator.set_state(getattr(new_state, "_array", new_state))


def rand(*size, generator=None, dtype=None, device=None, requires_grad=False):
    """Draw uniform numbers in [0, 1)."""
    return new(
        (generator or default_generator).rand(check_sizes(size, "rand"), numpy_type(dtype)), requires_grad, device
    )


def randn(*size, generator=None, dtype=None, device=None, requires_grad=False):
    """Draw normal numbers with mean 0 and variance 1."""
    return new(
        (generator or default_generator).randn(check_sizes(size, "randn"), numpy_type(dtype)), requires_grad, device
    )


def randint(low, high=None, size=None, *, generator=None, dtype=None, device=None, requires_grad=False):
    """Draw integers from low (0) to below high."""
    if size is None:
        low, high, size = 0, low, high
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"randint(): argument 'size' (position 2) must be tuple of ints, not {type(size).__name__}")
    array = (generator or default_generator).randint(int(low), int(high), parse_sizes((size,)))
    return new(array.astype((dtypes.parse_dtype(dtype) or dtypes.int64).np), requires_grad, device)


def randperm(n, *, generator=None, dtype=None, device=None):
    """Return the numbers below n in a random order."""
    return new(
        (generator or default_generator).randperm(n).astype((dtypes.parse_dtype(dtype) or dtypes.int64).np),
        False,
        device,
    )


def rand_like(input, *, generator=None, dtype=None, requires_grad=False):
    return rand(input.shape, generator=generator, dtype=dtype or input.dtype, requires_grad=requires_grad)


def randn_like(input, *, generator=None, dtype=None, requires_grad=False):
    return randn(input.shape, generator=generator, dtype=dtype or input.dtype, requires_grad=requires_grad)


def normal(mean, std, size=None, *, generator=None, dtype=None):
    g = generator or default_generator
    if size is not None:
        return Tensor(g.normal(tuple(size), mean, std, numpy_type(dtype)))
    shape = np.broadcast_shapes(getattr(mean, "shape", ()), getattr(std, "shape", ()))
    kind = (mean if isinstance(mean, Tensor) else std)._array.dtype
    return Tensor(g.normal(shape, 0, 1, kind)) * std + mean


def bernoulli(input, *, generator=None):
    """Draw 1 with the probability that `input` has at each place, 0 otherwise."""
    if not ((input._array >= 0) & (input._array <= 1)).all():
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so,"
            " please report an enhancement request to PyTorch.)"
        )
    return Tensor((generator or default_generator).bernoulli(input._array).astype(input._array.dtype))


def multinomial(input, num_samples, replacement=False, *, generator=None):
    """Draw indices with probabilities in proportion to the numbers of each row."""
    x = floating(input)._array
    if not np.isfinite(x).all() or (x < 0).any():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if (x.sum(-1) <= 0).any():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if not replacement and num_samples > x.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    return Tensor((generator or default_generator).multinomial(x, num_samples, replacement))


# Random numbers and values in place


def write(tensor, array):
    """Write an array's numbers into a tensor, as one change in place."""
    tensor._check_may_change()
    tensor._array[...] = array
    tensor._changes[0] += 1
    if recording[0] and tensor._requires_grad:
        tensor._take_graph(Tensor(tensor._array.copy()))
    return tensor


def uniform_(tensor, a=0.0, b=1.0, /, *, generator=None, **named):
    a, b = named.pop("from", a), named.pop("to", b)  # torch's names; `from` is a keyword of Python
    refuse_keywords("uniform_", named)
    return write(tensor, (generator or default_generator).uniform(tensor._array.shape, a, b, tensor._array.dtype))


def normal_(tensor, mean=0.0, std=1.0, *, generator=None):
    return write(tensor, (generator or default_generator).normal(tensor._array.shape, mean, std, tensor._array.dtype))


def random_(tensor, low=0, high=None, *, generator=None):
    low, high = (0, low or 2**63) if high is None else (low, high)
    return write(tensor, (generator or default_generator).randint(low, high, tensor._array.shape))


def bernoulli_(tensor, p=0.5, *, generator=None):
    g = generator or default_generator
    p = p._array if isinstance(p, Tensor) else p
    return write(tensor, g.bernoulli(p, tensor._array.shape))


def fill_(tensor, value):
    if isinstance(value, Tensor):
        return tensor._assign(value.expand(tensor.shape))
    array = np.full_like(tensor._array, value)
    return tensor._assign(record(array, "Fill", (tensor,), zero_gradient))


def zero_(tensor):
    array = np.zeros_like(tensor._array)
    return tensor._assign(record(array, "Zero", (tensor,), zero_gradient))


def copy_(tensor, source, non_blocking=False):
    source = (source if isinstance(source, Tensor) else as_tensor(source)).to(tensor.dtype)
    try:
        shape = np.broadcast_shapes(source._array.shape, tensor._array.shape)
    except ValueError:
        raise broadcast_error(tensor, source) from None
    array = np.broadcast_to(source._array, shape)
    # a separate node, since the source may be a leaf
    return tensor._assign(record(array, "Copy", (source,), lambda g: fit(g, source._array.shape)))


def fill_diagonal_(tensor, value):
    array = tensor._array.copy()
    np.fill_diagonal(array, value)
    off_diagonal = np.ones(array.shape, bool)
    np.fill_diagonal(off_diagonal, False)
    return tensor._assign(record(array, "CopySlices", (tensor,), lambda g: masked(g, ~off_diagonal)))


# New tensors with the type of another tensor


def like_tensor(make):
    """Make a method that creates tensors with the type and device of its tensor, unless others are given."""

    def new(tensor, *arguments, dtype=None, device=None, **options):
        return make(*arguments, dtype=dtype or tensor.dtype, device=device or tensor.device, **options)

    return new


new_tensor, new_zeros, new_ones, new_empty, new_full = map(like_tensor, (tensor, zeros, ones, empty, full))
