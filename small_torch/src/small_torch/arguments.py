"""torch's errors for arguments that are missing, too many, unknown, or of a wrong type.

The annotations of an operation's parameters say what they take. They are read only after a call has failed, so that
calls with good arguments cost nothing.
"""

import inspect
from typing import NamedTuple

import numpy as np

from .absent import EXPLANATION, MISSING_KEYWORDS
from .tensor import Tensor

NUMBERS = (bool, int, float, complex, np.number, np.bool_)


class Kind(NamedTuple):
    """A kind of argument: torch's name, and the types that fit."""

    name: str
    types: tuple


# A tensor without axes fits wherever a number does.
Number, Operand = Kind("Number", NUMBERS), Kind("Tensor", (Tensor, *NUMBERS))
Sizes, Tensors = Kind("tuple of ints", (tuple, list)), Kind("tuple of Tensors", (tuple, list))
KINDS = {
    Tensor: Kind("Tensor", (Tensor,)),
    int: Kind("int", (int, np.integer)),
    float: Kind("float", (int, float, np.number)),
    bool: Kind("bool", (bool,)),
}

# Other names that torch takes, too; names that torch's errors give to functions; and parameters of all functions that
# create tensors.
ALIASES = {"axis": "dim", "keepdims": "keepdim", "split_size": "split_size_or_sections"}
TITLES = {"cross_entropy": "cross_entropy_loss", "nll_loss": "nll_loss_nd", "vector_norm": "linalg_vector_norm"}
OF_ALL = "out dtype device requires_grad layout pin_memory".split()


def checked(operation, is_method=False, only_types=False, fill=None):
    """Return an operation whose errors are torch's where its arguments are to blame. It may be used as a decorator.

    only_types: leave the other errors as they are, since torch's operation is written in Python. fill: fills the tensor
    `out` with the result of arguments and options, if the operation has this argument.
    """

    def call(*arguments, **options):
        try:
            if fill and "out" in options and (out := options.pop("out")) is not None:
                return fill(out, arguments, options)
            try:
                return operation(*arguments, **options)
            except TypeError:
                if all(name not in options or ALIASES[name] in options for name in ALIASES):
                    raise
                return operation(*arguments, **{ALIASES.get(name, name): value for name, value in options.items()})
        except Exception as error:
            raise explain(error, operation, arguments, options, is_method, only_types) from None

    call.__name__ = call.__qualname__ = operation.__name__
    call.__doc__, call.__module__, call.__wrapped__ = operation.__doc__, operation.__module__, operation
    return call


def explain(error, operation, arguments, options, is_method, only_types):
    """Return torch's error for wrong arguments of an operation that has failed, or the error itself."""
    plain = inspect.unwrap(operation, stop=lambda function: hasattr(function, "strict"))
    parameters = inspect.signature(plain, follow_wrapped=False).parameters
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters.values()):
        return error
    title = TITLES.get(operation.__name__, operation.__name__)
    positional = [name for name, p in parameters.items() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    values = dict(zip(positional, arguments)) | options
    if not only_types and (problem := find_problem(title, parameters, positional, arguments, values, is_method)):
        return problem
    for place, (name, value) in enumerate(values.items(), 1 - is_method):
        parameter = parameters.get(name)
        if parameter and value is not parameter.default and not fits(value, parameter.annotation):
            return wrong_type(title, name, value, parameter.annotation, None if name in options else place)
    return error


def find_problem(title, parameters, positional, arguments, values, is_method):
    """Return torch's error for missing, superfluous or unknown arguments, or None."""
    if is_method and len(parameters) == 1 and (values.keys() - {*parameters} or len(arguments) > 1):
        refused = "keyword arguments" if values.keys() - {*parameters} else f"arguments ({len(arguments) - 1} given)"
        return TypeError(f"TensorBase.{title}() takes no {refused}")
    needed = [name for name in positional if parameters[name].default is inspect.Parameter.empty]
    if len(arguments) > len(positional):
        least, most, given = (len(names) - is_method for names in (needed, positional, arguments))
        takes, were = most if least == most else f"from {least} to {most}", "was" if given == 1 else "were"
        return TypeError(f"{title}() takes {takes} positional argument{'s' * (most != 1)} but {given} {were} given")
    if missing := [name for name in needed if name not in values]:
        names = ", ".join(f'"{name}"' for name in missing)
        return TypeError(f"{title}() missing {len(missing)} required positional arguments: {names}")
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return None
    for name in values:
        if name in MISSING_KEYWORDS.get(title, "").split() and name not in parameters:
            return NotImplementedError(f"{title}(): argument {name!r} {EXPLANATION}")
        if name not in parameters and name not in OF_ALL:
            return TypeError(f"{title}() got an unexpected keyword argument {name!r}")
    return None


def fits(value, kind):
    """Return True if torch takes a value for an argument of this kind, a class or a Kind."""
    if kind is inspect.Parameter.empty:
        return True
    name, types = KINDS.get(kind, kind)
    if isinstance(value, Tensor) and name != "Tensor":
        return not value.ndim and (name in ("float", "Number") or name == "int" and value.dtype.kind == 1)
    return isinstance(value, types) and not (name == "int" and isinstance(value, bool))


def wrong_type(title, name, value, kind, place=None):
    """Return torch's TypeError for an argument. place: its number, None for a keyword."""
    position = "" if place is None else f" (position {place})"
    takes = KINDS.get(kind, kind).name
    return TypeError(f"{title}(): argument {name!r}{position} must be {takes}, not {type_name(value)}")


def check_argument(title, name, value, kind, place=None):
    """Raise torch's TypeError for a value of another kind: where nothing else would fail."""
    if not fits(value, kind):
        raise wrong_type(title, name, value, kind, place)


def check_elements(tensors, argument=0):
    """Raise torch's TypeError if one of several values is not a tensor. argument: the number of their list."""
    for place, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            text = f"expected Tensor as element {place} in argument {argument}, but got {type_name(tensor)}"
            raise TypeError(text)


def refuse_keywords(title, keywords):
    """Raise torch's TypeError for the first of some unknown keywords."""
    for keyword in keywords:
        raise TypeError(f"{title}() got an unexpected keyword argument {keyword!r}")


def type_name(value):
    """Return the name of a value's type in torch's errors."""
    kind = type(value)
    return f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__


def parse_size(sizes, title, argument="size"):
    """Return sizes, `f(2, 3)` or `f((2, 3))`, as a tuple; raise TypeError for what is not a size."""
    if {*map(type, sizes)} == {int}:
        return sizes
    if not sizes:
        raise TypeError(f'{title}() missing 1 required positional arguments: "{argument}"')
    lengths = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
    for length in lengths:
        if not fits(length, int):
            raise wrong_type(title, argument, length, Sizes, 1)
    return tuple(map(int, lengths))
