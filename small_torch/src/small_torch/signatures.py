"""Torch's errors for arguments that are missing, too many, unknown, or of a wrong type.

The annotations of an operation's parameters say what they take. They are read only after a call has failed.
"""

import inspect

import numpy as np

from .tensor import Tensor

# other names that torch takes, too
ALIASES = {"axis": "dim", "keepdims": "keepdim", "split_size": "split_size_or_sections"}


def checked(operation, is_method):
    """Return an operation whose errors are torch's where its arguments are to blame."""

    def call(*arguments, **options):
        try:
            return operation(*arguments, **options)
        except Exception as error:
            named = {ALIASES.get(name, name): value for name, value in options.items()}
            if isinstance(error, TypeError) and named.keys() - options.keys():
                return call(*arguments, **named)
            plain = inspect.unwrap(operation, stop=lambda function: hasattr(function, "strict"))
            problem = find_problem(plain, arguments, options, is_method)
            if problem is None:
                raise
        raise TypeError(problem)

    call.__name__, call.__qualname__, call.__doc__ = operation.__name__, operation.__name__, operation.__doc__
    call.__wrapped__ = operation
    return call


def find_problem(operation, arguments, options, is_method):
    """Return torch's words for what is wrong with the arguments, or None."""
    title, parameters = operation.__name__, inspect.signature(operation, follow_wrapped=False).parameters
    if any(parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) for parameter in parameters.values()):
        return None
    positional = [name for name, parameter in parameters.items() if parameter.kind is not parameter.KEYWORD_ONLY]
    if len(arguments) > len(positional):
        takes, given = len(positional) - is_method, len(arguments) - is_method
        least = sum(parameters[name].default is inspect.Parameter.empty for name in positional) - is_method
        takes = takes if least == takes else f"from {least} to {takes}"
        were = "was" if given == 1 else "were"
        return f"{title}() takes {takes} positional argument{'s' * (takes != 1)} but {given} {were} given"
    values = dict(zip(positional, arguments)) | options
    missing = [
        name for name in positional if name not in values and parameters[name].default is inspect.Parameter.empty
    ]
    if missing:
        names = ", ".join(f'"{name}"' for name in missing)
        return f"{title}() missing {len(missing)} required positional arguments: {names}"
    for name in options:
        if name not in parameters:
            return f"{title}() got an unexpected keyword argument {name!r}"
    for at, (name, value) in enumerate(values.items()):
        kind = Tensor if name == "input" else parameters[name].annotation
        if kind is not inspect.Parameter.empty and value is not parameters[name].default and not is_a(value, kind):
            position = "" if name in options else f" (position {at + 1 - is_method})"
            return f"{title}(): argument {name!r}{position} must be {kind.__name__}, not {type(value).__name__}"
    return None


def is_a(value, kind):
    """Return True if torch takes a value for a parameter of this kind."""
    if kind is int:
        is_number = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        return is_number or isinstance(value, Tensor) and not value.ndim and value.dtype.kind == 1
    return isinstance(value, kind)
