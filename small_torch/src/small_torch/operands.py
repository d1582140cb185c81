"""Prepare the operands of an operation, and raise torch's errors where they do not fit."""

import numpy as np

from . import dtypes
from .messages import UNLIKE, error, refuse
from .nested import check_range
from .tape import recording
from .tensor import Tensor, wrap

KINDS = (bool, int, float, complex)

# Operations that lack types of numbers: kinds of numpy's types.
KERNELS = """
abs b | cummax c | div_floor bc | div_trunc bc | ge c | gt c | le c | lt c | remainder bc | bitwise_and fc | mode c
bitwise_or fc | bitwise_xor fc | lshift bfc | rshift bfc | median bc | bincount bfc | repeat_interleave bfcu | aminmax c
"""
VECTOR_KERNELS = "ceil b | erf c | floor b | round bc | trunc b"
NOT_IMPLEMENTED = """
addcmul b | atan2 c | ceil c | clamp c | floor c | floor_divide bc | lerp biu | logcumsumexp biuc | pow b | relu c
round_decimals biuc | sign c | trunc c | logsigmoid biu | median_along bc | unique c | unique_dim c | amax c | amin c
max_all c | min_all c
"""
NOT_SUPPORTED = """
relu b | maximum c | minimum c | positive b | neg b | sort c | topk bc | quantile biuc | nansum c | mean biu | var biu
vector_norm biu | max c | min c | argmax bc | argmin bc
"""
NO_BOOL = (
    "{}, the `-` operator, {} a bool tensor is not supported. If you are trying to invert a mask, use the `~` or"
    " `logical_not()` operator instead."
)
TEXTS = {
    "neg": NO_BOOL.format("Negation", "on"),
    "quantile": "quantile() input tensor must be either float or double dtype",
    "mean": (
        "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: {1}"
    ),
    "var": "std and var only support floating point and complex dtypes",
    "vector_norm": "linalg.vector_norm: Expected a floating point or complex tensor as input. Got {1}",
}
REFUSED = {
    (name, kind): (error, TEXTS.get(name, text))
    for table, error, text in (
        (KERNELS, NotImplementedError, "\"{}_cpu\" not implemented for '{}'"),
        (VECTOR_KERNELS, NotImplementedError, "\"{}_vml_cpu\" not implemented for '{}'"),
        (NOT_IMPLEMENTED, NotImplementedError, UNLIKE + " ({} of {})"),
        (NOT_SUPPORTED, RuntimeError, UNLIKE + " ({} of {})"),
    )
    for name, kinds in map(str.split, table.replace("\n", "|").strip("|").split("|"))
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
        raise error(text.format(name, x.dtype.title))


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
    """Return a number as an array without axes; one that overflows its type wraps around, or becomes infinite."""
    if dtype is not dtypes.float16:
        return np.asarray(value).astype(dtype.np)
    with np.errstate(over="ignore"):
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
    name = dtype.name + "_t" if dtype.kind == 1 else dtype.c_name
    if isinstance(value, complex) and dtype.kind < 3:
        refuse(value.imag, "value cannot be converted to type {} without overflow", name)
        value = value.real
    if dtype.kind == 1:
        check_range(np.asarray(value), dtype, name)
        return np.asarray(value).astype(dtype.np)
    too_large = dtype.kind == 2 and np.isfinite(value) and abs(value) > float(np.finfo(dtype.np).max)
    refuse(too_large, "value cannot be converted to type {} without overflow", name)
    return value


def fill_tensor(value, dtype, name):
    """Return a number, or a tensor without axes, as a tensor to fill one of this type with. name: the operation."""
    if not isinstance(value, Tensor):
        return Tensor(scalar_array(check_fill(value, dtype), dtype))
    refuse(value.ndim, "fill axes", name, value.ndim)
    wrong = value.is_complex() and dtype.kind < 3
    refuse(wrong, f"{name}(): Converting complex Scalar to non-complex type is not supported")
    refuse(value._requires_grad and dtype.kind < 2 and recording[0], f"Autograd not support dtype: {dtype.title}")
    check_fill(value, dtype)
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
    if isinstance(operand, Tensor):
        return operand.dtype, 0 if operand.ndim else 1
    return dtypes.from_number(operand), 2


def complex_type(dtype):
    """Return the complex dtype with parts of this dtype."""
    refuse(dtype is dtypes.float16, "small_torch has no numbers of type torch.complex32", kind=TypeError)
    return dtype.to_complex()


def tensor_type(tensor):
    """Return the name of a tensor's type in torch's errors."""
    title = tensor.dtype.title
    return f"CPU{title}Type" if title == "Bool" or tensor.is_complex() else f"torch.{title}Tensor"


def broadcast_error(first, *others):
    """Return torch's error for shapes that do not broadcast."""
    a = first._array.shape
    for other in others:
        b = other._array.shape
        for offset in range(1, min(len(a), len(b)) + 1):
            if a[-offset] != b[-offset] and 1 not in (a[-offset], b[-offset]):
                return error("broadcast", a[-offset], b[-offset], max(len(a), len(b)) - offset)
        a = np.broadcast_shapes(a, b)
    return RuntimeError("shapes do not fit")


def cannot_broadcast(a, b):
    """Return True if the shapes of two tensors do not broadcast."""
    try:
        np.broadcast_shapes(a._array.shape, b._array.shape)
    except ValueError:
        return True
