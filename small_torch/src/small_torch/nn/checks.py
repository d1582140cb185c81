"""Checks that several layers share, and nodes of operations that are made of others."""

from ..messages import refuse
from ..tape import check_saved


def check_fractions(kernel, tensor):
    """Raise NotImplementedError for other types than fractions. kernel: torch's name of the function that computes."""
    wrong = tensor.dtype.kind != 2 and (kernel, tensor.dtype.kind) != ("silu_cpu", 3)
    refuse(wrong, "kernel", kernel, tensor.dtype.title)


def check_indices(function, tensor):
    """Raise RuntimeError for indices of another type than int64 and int32."""
    kind = "CPUBoolType" if tensor.dtype.title == "Bool" else tensor.type()
    refuse(tensor.dtype.name not in ("int64", "int32"), "index type", kind, function)


def as_operation(out, name, *needed):
    """Make the last of several recorded operations look like a single one, which torch has under this name.

    needed: tensors (or None) that torch keeps for the backward pass, which must not change in place.
    """
    node = out._grad_fn
    if node is not None:
        node.title = name
        needed = [tensor for tensor in needed if tensor is not None]
        for tensor in needed:
            check_saved(tensor)
        node.saved = [*node.saved, *((tensor, tensor._changes[0]) for tensor in needed)]
    return out
