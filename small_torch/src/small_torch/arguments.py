"""Check arguments as torch does, with its errors."""

import functools
import inspect

import numpy as np

from .tensor import Tensor

NUMBERS = (int, float, complex, np.number, np.bool_)
# Torch's name of a kind of argument, and the types that fit. A tensor without axes fits wherever a number does.
KINDS = {
    "Tensor": Tensor,
    "int": (int, np.integer),
    "float": (int, float, np.number),
    "Number": NUMBERS,
    "tuple of ints": (tuple, list),
}


def type_name(value):
    """Return the name of a value's type in torch's messages."""
    kind = type(value)
    return f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__


def fits(value, kind):
    """Return True if torch takes this value for an argument of this kind."""
    return isinstance(value, KINDS[kind]) or kind != "Tensor" and isinstance(value, Tensor) and not value.ndim


def check_argument(name, parameter, value, kind, position=None):
    """Raise torch's TypeError if a function does not take this value. position: counted from 0, None for a keyword."""
    if not fits(value, kind):
        place = "" if position is None else f" (position {position + 1})"
        raise TypeError(f"{name}(): argument {parameter!r}{place} must be {kind}, not {type_name(value)}")


def checked(skip=0, **kinds):
    """Decorate a function so that its arguments have these kinds, or torch's TypeError is raised.

    skip: the number of arguments that torch does not count, such as the tensor of a method.
    """

    def decorate(function):
        parameters = inspect.signature(function).parameters.values()
        names = [parameter.name for parameter in parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
        defaults = {parameter.name: parameter.default for parameter in parameters}
        name = function.__name__

        @functools.wraps(function)
        def call(*arguments, **options):
            for position, (parameter, value) in enumerate(zip(names, arguments), -skip):
                if parameter in kinds and value is not defaults[parameter]:
                    check_argument(name, parameter, value, kinds[parameter], position)
            for parameter, value in options.items():
                if parameter in kinds and value is not defaults[parameter]:
                    check_argument(name, parameter, value, kinds[parameter])
            return function(*arguments, **options)

        return call

    return decorate


def parse_size(size, name):
    """Return sizes, `f(2, 3)` or `f((2, 3))`, as a tuple; raise torch's errors for what is not a size."""
    if not size:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    if len(size) > 1 and isinstance(size[0], (tuple, list)):
        raise TypeError(f"{name}() takes 1 positional argument but {len(size)} were given")
    if all(type(length) is int and length >= 0 for length in size) and type(size) is tuple:
        return size
    single = len(size) == 1
    lengths = size[0] if single and isinstance(size[0], (tuple, list)) else size
    for place, length in enumerate(lengths):
        if not fits(length, "int") or single and length is True:
            kind = type_name(length)
            if lengths is size and not place:
                reason = f" (position 1) must be tuple of ints, not {kind}"
            elif not place:
                reason = f" (position 1) must be tuple of ints, but found element of type {kind} at pos 0"
            else:
                error = f"type must be tuple of ints,but got {kind}"
                reason = f' failed to unpack the object at pos {place + 1} with error "{error}"'
            raise TypeError(f"{name}(): argument 'size'{reason}")
    lengths = tuple(map(int, lengths))
    if min(lengths, default=0) < 0:
        negative = next(length for length in lengths if length < 0)
        error = f"Trying to create tensor with negative dimension {negative}: {list(lengths)}"
        raise RuntimeError("zeros: Dimension size must be non-negative." if name == "zeros" else error)
    return lengths


def memory_order(array):
    """Return an array's axes from the outermost in memory to the innermost, as torch orders them.

    An axis along which numbers are repeated keeps its place between its neighbours.
    """
    if array.flags.c_contiguous:
        return range(array.ndim)
    order = [*range(array.ndim)]  # an insertion sort, from the last axis on
    for start in range(array.ndim - 2, -1, -1):
        place = start
        for other in range(start + 1, array.ndim):
            outer, inner = array.strides[order[place]], array.strides[order[other]]
            if outer and inner:
                if outer > inner or outer == inner and array.shape[order[place]] >= array.shape[order[other]]:
                    break
                order[place], order[other], place = order[other], order[place], other
    return order


def make_in_order(like, make):
    """Return an array with the shape of another one and its order in memory, made by a function of a shape."""
    order = memory_order(like)
    return make(tuple(like.shape[axis] for axis in order)).transpose(np.argsort(order))


def give_to(out, result, name):
    """Give a result to the tensor `out`, which takes the result's shape, as one change in place."""
    if result.requires_grad or out.requires_grad:
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the"
            " arguments requires grad."
        )
    if result.dtype.kind > out.dtype.kind:
        raise RuntimeError(
            f"result type {result.dtype.title} can't be cast to the desired output type {out.dtype.title}"
        )
    if out.shape != result.shape:
        memory = out._array.reshape(-1)
        large = out._array.flags.c_contiguous and memory.size >= result.numel()
        out._array = (memory[: result.numel()] if large else np.empty(result.numel(), memory.dtype)).reshape(
            result.shape
        )
    return out._assign(result)
