"""Prepare the operands of an operation, and raise torch's errors where they do not fit."""

import itertools

import numpy as np

from . import dtypes
from .messages import error, refuse
from .nested import check_range
from .tape import recording
from .tensor import Tensor, wrap

KINDS = (bool, int, float, complex)


# Operations that lack types of numbers: kinds of numpy's types, and torch's kernel.
MISSING = """
abs b abs_cpu | addcmul b addcmul_cpu_out | atan2 c atan2_cpu | ceil b ceil_vml_cpu | cummax c cummax_cpu
div_floor bc div_floor_cpu | div_trunc bc div_trunc_cpu | erf c erf_vml_cpu | floor b floor_vml_cpu
floor_divide bc div_floor_cpu | ge c ge_cpu | gt c gt_cpu | le c le_cpu | lt c lt_cpu | lerp biu lerp_kernel_scalar
logcumsumexp biu logcumsumexp_out_cpu | pow b pow | remainder bc remainder_cpu | round bc round_vml_cpu
round_decimals biuc round_cpu | trunc b trunc_vml_cpu | bitwise_and fc bitwise_and_cpu | bitwise_or fc bitwise_or_cpu
bitwise_xor fc bitwise_xor_cpu | lshift bfc lshift_cpu | rshift bfc rshift_cpu | logsigmoid biu log_sigmoid_cpu
mode c mode_cpu | median bc median_cpu | median_along bc median_out | unique c unique | unique_dim c unique_dim
bincount bfc bincount_cpu | repeat_interleave bfcu repeat_interleave_cpu | aminmax c aminmax_cpu
amax c max_values_cpu | amin c min_values_cpu | max_all c max_all | min_all c min_all
"""
NO_BOOL = (
    "{}, the `-` operator, {} a bool tensor is not supported. If you are trying to invert a mask, use the `~` or"
    " `logical_not()` operator instead."
)
NO_SIGN = "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead."
NO_MEAN = "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: %s"
NO_NORM = "linalg.vector_norm: Expected a floating point or complex tensor as input. Got %s"
REFUSED = {
    (name, kind): (NotImplementedError, f"\"{kernel}\" not implemented for '%s'")
    for name, kinds, kernel in map(str.split, MISSING.replace("\n", "|").strip("|").split("|"))
    for kind in kinds
} | {
    (name, kind): (error, text.replace("NAME", name))
    for names, kinds, error, text in (
        ("ceil floor trunc", "c", NotImplementedError, "NAME is not supported for complex inputs"),
        ("clamp relu", "c", NotImplementedError, "clamp is not supported for complex types"),
        ("relu", "b", RuntimeError, "Boolean inputs not supported for relu"),
        ("maximum minimum", "c", RuntimeError, "NAME not implemented for complex tensors."),
        ("positive", "b", RuntimeError, "The `+` operator, on a bool tensor is not supported."),
        ("neg", "b", RuntimeError, NO_BOOL.format("Negation", "on")),
        ("sign", "c", NotImplementedError, NO_SIGN),
        ("logcumsumexp", "c", NotImplementedError, "small_torch has no logcumsumexp of complex numbers"),
        ("sort", "c", RuntimeError, " Sort does not support complex dtypes on CPU"),
        ("topk", "b", RuntimeError, "topk does not support bool dtypes on CPU"),
        ("topk", "c", RuntimeError, " topk does not support complex dtypes on CPU"),
        ("nansum", "c", RuntimeError, "nansum on CPU does not support complex inputs"),
        ("mean", "biu", RuntimeError, NO_MEAN),
        ("var", "biu", RuntimeError, "std and var only support floating point and complex dtypes"),
        ("vector_norm", "biu", RuntimeError, NO_NORM),
        ("max min argmax argmin", "c", RuntimeError, "NAME(): does not support complex input"),
        ("argmax argmin", "b", RuntimeError, "NAME(): does not support bool input"),
    )
    for name in names.split()
    for kind in kinds
}


def refused_kinds(name):
    """Return the kinds of numpy's types that an operation refuses, as one string."""
    return "".join(kind for operation, kind in REFUSED if operation == name)


def refuse_type(name, x, other=None):
    """Raise torch's error if an operation lacks the type of its tensors, whose shapes must fit."""
    if (name, x._array.dtype.kind) in REFUSED:
        if other is not None and cannot_broadcast(x, other):
            raise broadcast_error(x, other)
        error, text = REFUSED[name, x._array.dtype.kind]
        raise error(text.replace("%s", x.dtype.title))


def operands(first, second):
    """Return two tensors of one type from an operation's operands: tensors or Python numbers."""
    if isinstance(first, Tensor) and isinstance(second, Tensor):
        if first._array.dtype == second._array.dtype:
            return first, second
    else:
        first, second = (x if isinstance(x, Tensor) else check_number(x) for x in (first, second))
    dtype = result_type(first, second)
    return as_operand(first, dtype), as_operand(second, dtype)


def as_operand(value, dtype):
    """Return a tensor or a number as a tensor of this type, which counts changes of the given tensor, too."""
    if not isinstance(value, Tensor):
        return wrap(scalar_array(value, dtype))
    if value._array.dtype == dtype.np:
        return value
    out = value.to(dtype)
    out._changes = value._changes
    return out


def scalar_array(value, dtype):
    """Return a number as an array without axes; one that overflows its type wraps around."""
    if dtype is not dtypes.float16:
        return np.asarray(value).astype(dtype.np)
    with np.errstate(over="ignore"):  # a number that is too large becomes infinite
        return np.asarray(value).astype(dtype.np)


def check_number(value):
    """Return a number as one of Python's; raise TypeError for anything else."""
    if isinstance(value, KINDS):
        return value
    if isinstance(value, np.generic):
        return float(value) if isinstance(value, np.bool_) else value.item()  # as torch takes numpy's bools
    raise TypeError(f"{type(value).__name__} is not a number")


def tensor_from_number(value):
    """Return a number as a tensor without axes; a tensor stays as it is."""
    return value if isinstance(value, Tensor) else Tensor(np.asarray(check_number(value), dtypes.from_number(value).np))


def check_fill(value, dtype):
    """Return a number to fill a tensor of this type with; raise torch's RuntimeError if the type cannot hold it."""
    value = check_number(value.item() if isinstance(value, Tensor) else value)
    if dtype.kind == 0:
        return bool(value)
    name = dtype.c_name if dtype.kind > 1 else {"int32": "int"}.get(dtype.name, dtype.name + "_t")
    error = RuntimeError(f"value cannot be converted to type {name} without overflow")
    if isinstance(value, complex) and dtype.kind < 3:
        if value.imag:
            raise error
        value = value.real
    if dtype.kind == 1:
        check_range(np.asarray(value), dtype, name)
        return np.asarray(value).astype(dtype.np)
    if dtype.kind == 2 and np.isfinite(value) and abs(value) > float(np.finfo(dtype.np).max):
        raise error
    return value


def fill_tensor(value, dtype, name):
    """Return a number, or a tensor without axes, as a tensor to fill one of this type with. name: the operation."""
    if not isinstance(value, Tensor):
        return Tensor(scalar_array(check_fill(value, dtype), dtype))
    refuse(value.ndim, "fill axes", name, value.ndim)
    wrong = value.is_complex() and dtype.kind < 3
    refuse(wrong, f"{name}(): Converting complex Scalar to non-complex type is not supported")
    refuse(value._requires_grad and dtype.kind < 2 and recording[0], f"Autograd not support dtype: {dtype.title}")
    return value


def result_type(first, second):
    """Return the dtype of an operation's result.

    Operands with axes decide, unless another is of a higher category.
    """

    (a, rank_a), (b, rank_b) = rank(first), rank(second)
    if rank_a == rank_b:
        return dtypes.promote(a, b)
    if rank_a > rank_b:
        a, b = b, a  # a counts, b only by its category
    if b.kind <= a.kind:
        return a
    return b if b.kind < 3 or a.kind < 2 else complex_type(a)


def rank(operand):
    """Return the dtype of an operand, and how little it counts."""
    return (
        (operand.dtype, 0 if operand.ndim else 1) if isinstance(operand, Tensor) else (dtypes.from_number(operand), 2)
    )


def complex_type(dtype):
    """Return the complex dtype with parts of this dtype."""
    refuse(dtype is dtypes.float16, "small_torch has no numbers of type torch.complex32", kind=TypeError)
    return dtype.to_complex()


def tensor_type(tensor):
    """Return the name of a tensor's type in torch's errors."""
    title = tensor.dtype.title
    return f"CPU{title}Type" if title == "Bool" or tensor.is_complex() else f"torch.{title}Tensor"


def broadcast_error(*tensors):
    """Return torch's error for the first two shapes that do not broadcast."""
    shapes = [tensor._array.shape for tensor in tensors]
    for a, b in itertools.combinations(shapes, 2):
        for offset in range(1, min(len(a), len(b)) + 1):
            if a[-offset] != b[-offset] and 1 not in (a[-offset], b[-offset]):
                return error("broadcast", a[-offset], b[-offset], max(len(a), len(b)) - offset)
    return RuntimeError(f"shapes {shapes} do not fit")


def cannot_broadcast(a, b):
    """Return True if the shapes of two tensors do not broadcast."""
    try:
        np.broadcast_shapes(a._array.shape, b._array.shape)
    except ValueError:
        return True
