"""Tensors in files: `save` and `load`. Only small_torch reads these files."""

import pickle
from collections import OrderedDict

import numpy as np

from . import dtypes
from .nn.parameter import Parameter
from .tensor import Tensor

PLAIN = {("collections", "OrderedDict"): OrderedDict}


class Writer(pickle.Pickler):
    """Writes tensors as their type, shape and bytes, and everything else as Python does."""

    def persistent_id(self, thing):
        if isinstance(thing, Tensor):
            numbers = (thing.dtype.name, tuple(thing.shape), thing._array.tobytes())
            return "tensor", id(thing), isinstance(thing, Parameter), thing.requires_grad, *numbers
        if isinstance(thing, dtypes.dtype):
            return "dtype", thing.name
        return ("size", tuple(thing)) if isinstance(thing, dtypes.Size) else None


class Reader(pickle.Unpickler):
    """Reads what `Writer` has written; with weights_only nothing that could run anything."""

    def __init__(self, file, weights_only):
        super().__init__(file)
        self.weights_only, self.tensors = weights_only, {}

    def persistent_load(self, said):
        kind, *rest = said
        if kind != "tensor":
            return dtypes.find(*rest) if kind == "dtype" else dtypes.Size(*rest)
        number, is_parameter, requires_grad, name, shape, numbers = rest
        if number not in self.tensors:  # one that stands in two places stays one
            array = np.frombuffer(numbers, dtypes.find(name).np).reshape(shape).copy()
            tensor = Tensor(array)
            self.tensors[number] = Parameter(tensor, requires_grad) if is_parameter else tensor
            self.tensors[number].requires_grad = requires_grad
        return self.tensors[number]

    def find_class(self, module, name):
        if not self.weights_only:
            return super().find_class(module, name)
        if (module, name) not in PLAIN:
            raise pickle.UnpicklingError(
                f"Weights only load failed. Unsupported global: GLOBAL {module}.{name} was not an allowed global by"
                " default."
            )
        return PLAIN[module, name]


def save(obj, f):
    """Write tensors, and what holds them, into a file: a path, or what can be written to."""
    if hasattr(f, "write"):
        Writer(f, protocol=4).dump(obj)
        return
    with open(f, "wb") as file:
        Writer(file, protocol=4).dump(obj)


def load(f, map_location=None, *, weights_only=True):
    """Read what `save` has written. pickle.UnpicklingError for a file with other things than tensors, numbers, texts
    and what holds them, unless weights_only is false; that is only for files that one trusts.
    """
    if hasattr(f, "read"):
        return Reader(f, weights_only).load()
    with open(f, "rb") as file:
        return Reader(file, weights_only).load()
