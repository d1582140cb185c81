"""Save tensors in files and load them. Only small_torch reads these files."""

import pickle
from collections import OrderedDict

import numpy as np

from . import dtypes
from .nn.parameter import Parameter
from .tensor import Tensor

ALLOWED_GLOBALS = {("collections", "OrderedDict"): OrderedDict}


class Writer(pickle.Pickler):
    """Pickler that stores a tensor as its type, shape and bytes."""

    def persistent_id(self, obj):
        if isinstance(obj, Tensor):
            numbers = (obj.dtype.name, tuple(obj.shape), obj._array.tobytes())
            return "tensor", id(obj), isinstance(obj, Parameter), obj.requires_grad, *numbers
        if isinstance(obj, dtypes.dtype):
            return "dtype", obj.name
        return ("size", tuple(obj)) if isinstance(obj, dtypes.Size) else None


class Reader(pickle.Unpickler):
    """Unpickler for files of `Writer`; with weights_only it refuses all other classes and functions."""

    def __init__(self, file, weights_only):
        super().__init__(file)
        self.weights_only, self.tensors = weights_only, {}

    def persistent_load(self, identifier):
        kind, *rest = identifier
        if kind != "tensor":
            return dtypes.find(*rest) if kind == "dtype" else dtypes.Size(*rest)
        number, is_parameter, requires_grad, name, shape, numbers = rest
        if number not in self.tensors:  # a tensor stored twice is loaded as one object
            array = np.frombuffer(numbers, dtypes.find(name).np).reshape(shape).copy()
            tensor = Tensor(array)
            self.tensors[number] = Parameter(tensor, requires_grad) if is_parameter else tensor
            self.tensors[number].requires_grad = requires_grad
        return self.tensors[number]

    def find_class(self, module, name):
        if not self.weights_only:
            return super().find_class(module, name)
        if (module, name) not in ALLOWED_GLOBALS:
            raise pickle.UnpicklingError(
                f"Weights only load failed. Unsupported global: GLOBAL {module}.{name} was not an allowed global by"
                " default."
            )
        return ALLOWED_GLOBALS[module, name]


def save(obj, f):
    """Write tensors, and objects that hold them, into a file: a path or an object with `write`."""
    if hasattr(f, "write"):
        Writer(f, protocol=4).dump(obj)
        return
    with open(f, "wb") as file:
        Writer(file, protocol=4).dump(obj)


def load(f, map_location=None, *, weights_only=True):
    """Read a file of `save`.

    With weights_only, raise pickle.UnpicklingError for anything but tensors, numbers, texts and containers of them;
    turn it off only for trusted files.
    """
    if hasattr(f, "read"):
        return Reader(f, weights_only).load()
    with open(f, "rb") as file:
        return Reader(file, weights_only).load()
