"""Save tensors in files and load them. Only small_torch reads these files."""

import os
import pickle
from collections import Counter, OrderedDict
from contextlib import nullcontext

import numpy as np

from . import dtypes
from .messages import refuse
from .nn.parameter import Parameter
from .tensor import Tensor

ALLOWED = OrderedDict, Counter, set, complex, bytearray
ALLOWED_GLOBALS = {(kind.__module__, kind.__name__) for kind in ALLOWED}
PLAIN = {"dtype": dtypes.find, "size": dtypes.Size, "device": dtypes.device}


class Writer(pickle.Pickler):
    """Pickler that stores a tensor as its type, shape, strides, and the bytes of its memory."""

    def __init__(self, file):
        super().__init__(file, protocol=4)
        self.memories = {}  # id of an array that owns memory → the array, and its bytes

    def persistent_id(self, obj):
        if isinstance(obj, Tensor):
            array, owner = obj._array, obj._array
            while isinstance(owner.base, np.ndarray):
                owner = owner.base
            if not (owner.flags.c_contiguous or owner.flags.f_contiguous):
                array = owner = array.copy()
            _, memory = self.memories.setdefault(id(owner), (owner, owner.tobytes("A")))
            place = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
            kind = isinstance(obj, Parameter), obj.requires_grad, obj.dtype.name
            return "tensor", id(obj), *kind, array.shape, array.strides, place, memory
        if isinstance(obj, dtypes.dtype):
            return "dtype", obj.name
        if isinstance(obj, dtypes.device):
            return "device", str(obj)
        return ("size", tuple(obj)) if isinstance(obj, dtypes.Size) else None


class Reader(pickle.Unpickler):
    """Unpickler for files of `Writer`; with weights_only it refuses all other classes and functions."""

    def __init__(self, file, weights_only):
        super().__init__(file)
        self.weights_only, self.tensors, self.memories = weights_only, {}, {}

    def persistent_load(self, identifier):
        kind, *rest = identifier
        if kind != "tensor":
            return PLAIN[kind](*rest)
        number, is_parameter, requires_grad, name, shape, strides, place, memory = rest
        if number not in self.tensors:  # a tensor stored twice is loaded as one object
            _, owner = self.memories.setdefault(id(memory), (memory, np.frombuffer(memory, np.uint8).copy()))
            tensor = Tensor(np.ndarray(shape, dtypes.find(name).np, owner, place if owner.size else 0, strides))
            self.tensors[number] = Parameter(tensor, requires_grad) if is_parameter else tensor
            self.tensors[number].requires_grad = requires_grad
        return self.tensors[number]

    def find_class(self, module, name):
        if self.weights_only and (module, name) not in ALLOWED_GLOBALS:
            raise pickle.UnpicklingError(
                f"Weights only load failed: small_torch does not allow {module}.{name}. Re-running `torch.load` with"
                " `weights_only` set to `False` will likely succeed, but it can result in arbitrary code execution. Do"
                " it only if you got the file from a trusted source."
            )
        return super().find_class(module, name)


def save(obj, f):
    """Write tensors, and objects that hold them, into a file: a path or an object with `write`."""
    if not hasattr(f, "write"):
        folder = os.path.dirname(os.path.abspath(f))
        refuse(not os.path.isdir(folder), "Parent directory {} does not exist.", folder)
    with nullcontext(f) if hasattr(f, "write") else open(f, "wb") as file:
        Writer(file).dump(obj)


def load(f, map_location=None, *, weights_only=True):
    """Read a file of `save`.

    With weights_only, raise pickle.UnpicklingError for anything but tensors, numbers, texts and containers of them;
    turn it off only for trusted files.
    """
    with nullcontext(f) if hasattr(f, "read") else open(f, "rb") as file:
        return Reader(file, weights_only).load()
