"""New tensors: from Python's numbers, filled, in order, drawn at random."""

import builtins

import numpy as np

from . import dtypes
from .arithmetic import floating
from .arithmetic import zeros as nothing
from .comparing import masked
from .dtypes import cast_array
from .operands import broadcast_error, refuse_keywords
from .random import default_generator
from .shapes import dims
from .tape import fit, recording
from .tensor import Tensor, record


def made(array, requires_grad=False, device=None):
    out = Tensor(array)
    if device is not None:
        out.device = dtypes.place(device)
    if requires_grad:
        if out.dtype.kind < 2:
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        out.requires_grad = True
    return out


def type_of(dtype):
    return (dtypes.wanted(dtype) or dtypes.default[0]).np


def plain(data):
    """What Python's nested lists and tensors hold, as numpy's."""
    if isinstance(data, Tensor):
        return data._array
    if isinstance(data, (list, tuple)):
        if any_tensor(data):
            if builtins.any(isinstance(one, Tensor) and one.numel() != 1 for one in data):
                raise ValueError("only one element tensors can be converted to Python scalars")
            return np.asarray([one._array.reshape(()) if isinstance(one, Tensor) else plain(one) for one in data])
        try:
            return np.asarray(data)
        except ValueError:
            lengths = [len(one) if isinstance(one, (list, tuple)) else 1 for one in data]
            wrong = next(one for one in lengths if one != lengths[0]) if len(set(lengths)) > 1 else lengths[0]
            raise ValueError(f"expected sequence of length {lengths[0]} at dim 1 (got {wrong})") from None
    return data


def any_tensor(data):
    return builtins.any(isinstance(one, Tensor) or isinstance(one, (list, tuple)) and any_tensor(one) for one in data)


def array_of(data, dtype):
    dtype = dtypes.wanted(dtype)
    found = plain(data)
    if isinstance(found, (np.ndarray, np.generic)) and not isinstance(data, (list, tuple)):
        return cast_array(np.array(found), dtype) if dtype else np.array(found)
    array = np.asarray(found)
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
    if dtype is None and not any_tensor([data]):
        if not array.size:
            return array.astype(dtypes.default[0].np)
        if array.dtype.kind == "f":
            array = array.astype(dtypes.default[0].np)
        elif array.dtype.kind == "c":
            array = array.astype(dtypes.default[0].to_complex().np)
    return np.array(cast_array(array, dtype) if dtype else array)


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of what is given: a copy."""
    return made(array_of(data, dtype), requires_grad, device)


def as_tensor(data, dtype=None, device=None):
    """A tensor of what is given, which shares its numbers where it can."""
    if isinstance(data, Tensor):
        return data.to(device=device, dtype=dtype)
    if isinstance(data, np.ndarray):
        out = Tensor(data)
        dtypes.of(data)
        return out if dtype is None else out.to(dtype)
    return tensor(data, dtype=dtype, device=device)


asarray = as_tensor


def from_numpy(ndarray):
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    dtypes.of(ndarray)
    return Tensor(ndarray)


def filled(size, value, dtype, requires_grad, device):
    return made(np.full(size, value, type_of(dtype)), requires_grad, device)


def lengths(size, name):
    """How long each axis is."""
    if builtins.any(isinstance(one, (str, float)) for one in size):
        wrong = next(type(one).__name__ for one in size if isinstance(one, (str, float)))
        raise TypeError(f"{name}(): argument 'size' (position 1) must be tuple of ints, not {wrong}")
    found = dims(size)
    if builtins.any(one < 0 for one in found):
        raise RuntimeError(f"{name}: Dimension size must be non-negative.")
    return found


def zeros(*size, dtype=None, device=None, requires_grad=False, out=None):
    return made(np.zeros(lengths(size, "zeros"), type_of(dtype)), requires_grad, device)


def ones(*size, dtype=None, device=None, requires_grad=False, out=None):
    return made(np.ones(lengths(size, "ones"), type_of(dtype)), requires_grad, device)


def empty(*size, dtype=None, device=None, requires_grad=False, out=None, memory_format=None, pin_memory=False):
    return made(np.zeros(dims(size), type_of(dtype)), requires_grad, device)


def full(size, fill_value, *, dtype=None, device=None, requires_grad=False):
    fill_value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    return filled(tuple(size), fill_value, dtype or dtypes.of_number(fill_value), requires_grad, device)


def like(fill):
    def made_like(input, *value, dtype=None, device=None, requires_grad=False, memory_format=None, fill_value=None):
        value = fill if fill is not None else value[0] if value else fill_value
        return made(
            np.full(input._array.shape, value, (dtypes.wanted(dtype) or input.dtype).np),
            requires_grad,
            device or input.device,
        )

    return made_like


zeros_like, ones_like, empty_like, full_like = like(0), like(1), like(0), like(None)


def arange(start, end=None, step=1, *, dtype=None, device=None, requires_grad=False):
    """Numbers from start (0), below end, step by step."""
    start, end = (0, start) if end is None else (start, end)
    start, end, step = (one.item() if isinstance(one, Tensor) else one for one in (start, end, step))
    if dtype is None:
        whole = builtins.all(isinstance(one, (int, np.integer)) for one in (start, end, step))
        dtype = dtypes.int64 if whole else dtypes.default[0]
    dtype = dtypes.wanted(dtype)
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    count = int(np.ceil((end - start) / step))
    if dtype.kind < 2:
        return made(
            np.arange(count, dtype=np.int64).astype(dtype.np) * dtype.np.type(step) + dtype.np.type(start),
            False,
            device,
        )
    array = fused(np.float64(start), np.float64(step), np.arange(count))
    return made(array.astype(dtype.np), requires_grad, device)


def linspace(start, end, steps, *, dtype=None, device=None, requires_grad=False):
    """Numbers from start to end, equally far apart; counted from both ends, as torch does."""
    kind = type_of(dtype).type
    if steps == 1:
        return made(np.asarray([start], kind), requires_grad, device)
    start, end = kind(start), kind(end)
    step, i = (end - start) / kind(steps - 1) if steps > 1 else kind(0), np.arange(steps)
    array = np.where(i < steps // 2, fused(start, step, i), fused(end, -step, steps - 1 - i))
    return made(array.astype(kind), requires_grad, device)


def fused(start, step, i):
    """start + step · i, rounded once, as processors do it: so the middle of −1 … 1 is not always 0. i: whole
    numbers."""
    if not isinstance(step, np.float64):
        return np.float64(start) + np.float64(step) * i
    # a number is the sum of two with half the digits each, and their products with whole numbers are exact
    large = step * 134217729.0
    high = large - (large - step)
    product = step * i
    lost = (high * i - product) + (step - high) * i
    total = start + product
    part = total - start
    return total + ((start - (total - part)) + (product - part) + lost)


def eye(n, m=None, *, dtype=None, device=None, requires_grad=False):
    return made(np.eye(n, m, dtype=type_of(dtype)), requires_grad, device)


def complex(real, imag):
    array = np.empty(
        np.broadcast_shapes(real._array.shape, imag._array.shape), np.result_type(real._array, np.complex64)
    )
    array.real, array.imag = real._array, imag._array
    return record(
        array, "Complex", (real, imag), lambda g: (fit(g.real, real._array.shape), fit(g.imag, imag._array.shape))
    )


# At random


def manual_seed(seed):
    """Begin the random numbers anew: the same seed gives the same numbers, torch's."""
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
    """Uniform in [0, 1)."""
    return made((generator or default_generator).rand(lengths(size, "rand"), type_of(dtype)), requires_grad, device)


def randn(*size, generator=None, dtype=None, device=None, requires_grad=False):
    """Normal, mean 0, variance 1."""
    return made((generator or default_generator).randn(lengths(size, "randn"), type_of(dtype)), requires_grad, device)


def randint(low, high=None, size=None, *, generator=None, dtype=None, device=None, requires_grad=False):
    """Whole numbers from low (0), below high."""
    if size is None:
        low, high, size = 0, low, high
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"randint(): argument 'size' (position 2) must be tuple of ints, not {type(size).__name__}")
    array = (generator or default_generator).randint(int(low), int(high), dims((size,)))
    return made(array.astype((dtypes.wanted(dtype) or dtypes.int64).np), requires_grad, device)


def randperm(n, *, generator=None, dtype=None, device=None):
    """The numbers below n in a random order."""
    return made(
        (generator or default_generator).randperm(n).astype((dtypes.wanted(dtype) or dtypes.int64).np), False, device
    )


def rand_like(input, *, generator=None, dtype=None, requires_grad=False):
    return rand(input.shape, generator=generator, dtype=dtype or input.dtype, requires_grad=requires_grad)


def randn_like(input, *, generator=None, dtype=None, requires_grad=False):
    return randn(input.shape, generator=generator, dtype=dtype or input.dtype, requires_grad=requires_grad)


def normal(mean, std, size=None, *, generator=None, dtype=None):
    g = generator or default_generator
    if size is not None:
        return Tensor(g.normal(tuple(size), mean, std, type_of(dtype)))
    shape = np.broadcast_shapes(getattr(mean, "shape", ()), getattr(std, "shape", ()))
    kind = (mean if isinstance(mean, Tensor) else std)._array.dtype
    return Tensor(g.normal(shape, 0, 1, kind)) * std + mean


def bernoulli(input, *, generator=None):
    """1 with the probability that stands at each place, 0 otherwise."""
    if not ((input._array >= 0) & (input._array <= 1)).all():
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so,"
            " please report an enhancement request to PyTorch.)"
        )
    return Tensor((generator or default_generator).bernoulli(input._array).astype(input._array.dtype))


def multinomial(input, num_samples, replacement=False, *, generator=None):
    """Indices drawn with probabilities in proportion to the numbers of each row."""
    x = floating(input)._array
    if not np.isfinite(x).all() or (x < 0).any():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if (x.sum(-1) <= 0).any():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if not replacement and num_samples > x.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    return Tensor((generator or default_generator).multinomial(x, num_samples, replacement))


# What is drawn or filled in place


def in_place(tensor, array):
    tensor._may_change()
    tensor._array[...] = array
    tensor._version[0] += 1
    if recording[0] and tensor._requires_grad:
        tensor._remember(Tensor(tensor._array.copy()))
    return tensor


def uniform_(tensor, a=0.0, b=1.0, /, *, generator=None, **named):
    a, b = named.pop("from", a), named.pop("to", b)  # torch's names, of which Python lets no parameter be called `from`
    refuse_keywords("uniform_", named)
    return in_place(tensor, (generator or default_generator).uniform(tensor._array.shape, a, b, tensor._array.dtype))


def normal_(tensor, mean=0.0, std=1.0, *, generator=None):
    return in_place(
        tensor, (generator or default_generator).normal(tensor._array.shape, mean, std, tensor._array.dtype)
    )


def random_(tensor, low=0, high=None, *, generator=None):
    low, high = (0, low or 2**63) if high is None else (low, high)
    return in_place(tensor, (generator or default_generator).randint(low, high, tensor._array.shape))


def bernoulli_(tensor, p=0.5, *, generator=None):
    g = generator or default_generator
    p = p._array if isinstance(p, Tensor) else p
    return in_place(tensor, g.bernoulli(p, tensor._array.shape))


def fill_(tensor, value):
    if isinstance(value, Tensor):
        return tensor._become(value.expand(tensor.shape))
    array = np.full_like(tensor._array, value)
    return tensor._become(record(array, "Fill", (tensor,), nothing))


def zero_(tensor):
    array = np.zeros_like(tensor._array)
    return tensor._become(record(array, "Zero", (tensor,), nothing))


def copy_(tensor, source, non_blocking=False):
    source = (source if isinstance(source, Tensor) else as_tensor(source)).to(tensor.dtype)
    try:
        shape = np.broadcast_shapes(source._array.shape, tensor._array.shape)
    except ValueError:
        raise broadcast_error(tensor, source) from None
    array = np.broadcast_to(source._array, shape)
    # a node of its own: what is copied may be a leaf
    return tensor._become(record(array, "Copy", (source,), lambda g: fit(g, source._array.shape)))


def fill_diagonal_(tensor, value):
    array = tensor._array.copy()
    np.fill_diagonal(array, value)
    off = np.ones(array.shape, bool)
    np.fill_diagonal(off, False)
    return tensor._become(record(array, "CopySlices", (tensor,), lambda g: masked(g, ~off)))


# New tensors of a tensor's type


def of_its_type(make):
    """Make a method of a function that makes tensors: with the type and place of the method's tensor, if no others are
    asked for."""

    def new(tensor, *arguments, dtype=None, device=None, **options):
        return make(*arguments, dtype=dtype or tensor.dtype, device=device or tensor.device, **options)

    return new


new_tensor, new_zeros, new_ones, new_empty, new_full = map(of_its_type, (tensor, zeros, ones, empty, full))
