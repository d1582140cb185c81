"""Checks of arguments that functions of `nn` share, with torch's errors."""

from ..tensor import Tensor


def check_tensors(name, *optional, **arguments):
    """Raise TypeError for the first argument that is not a tensor. optional: names of those that may be None."""
    for position, (argument, value) in enumerate(arguments.items(), 1):
        if not isinstance(value, Tensor) and not (value is None and argument in optional):
            raise TypeError(
                f"{name}(): argument '{argument}' (position {position}) must be Tensor, not {type(value).__name__}"
            )


def check_fractions(kernel, tensor):
    """Raise NotImplementedError for integers and bools. kernel: torch's name of the function that computes."""
    if tensor.dtype.kind < 2:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{tensor.dtype.title}'")


def check_indices(function, tensor):
    """Raise RuntimeError for indices of another type than int64 and int32."""
    if tensor.dtype.name not in ("int64", "int32"):
        kind = "CPUBoolType" if tensor.dtype.title == "Bool" else tensor.type()
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{kind} instead (while checking arguments for {function})"
        )


def as_operation(out, name, *needed):
    """Make the last of several recorded operations look like a single one, which torch has under this name.

    needed: tensors that torch keeps for the backward pass, which must not change in place.
    """
    node = out._grad_fn
    if node is not None:
        node.title = name
        node.saved = [*node.saved, *((tensor, tensor._version[0]) for tensor in needed if tensor is not None)]
    return out


def require(condition, text, error=RuntimeError):
    """Raise an error with torch's text unless the condition holds."""
    if not condition:
        raise error(text)
