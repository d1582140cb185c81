"""Checks that several layers share."""

from ..messages import refuse


def check_fractions(kernel, tensor):
    """Raise NotImplementedError for other types than fractions. kernel: torch's name of the function that computes."""
    wrong = tensor.dtype.kind != 2 and (kernel, tensor.dtype.kind) != ("silu_cpu", 3)
    refuse(wrong, "kernel", kernel, tensor.dtype.title)


def check_indices(function, tensor):
    """Raise RuntimeError for indices of another type than int64 and int32."""
    kind = "CPUBoolType" if tensor.dtype.title == "Bool" else tensor.type()
    refuse(tensor.dtype.name not in ("int64", "int32"), "index type", kind, function)
