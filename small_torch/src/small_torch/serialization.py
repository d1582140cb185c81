"""Save tensors in files and load them. Only small_torch reads these files."""

import os
import pickle
from collections import Counter, OrderedDict
from contextlib import nullcontext

import numpy as np

from . import dtypes
from .messages import refuse
from .nn.parameter import Parameter
from .tensor import Tensor, rebuild_tensor


class Writer(pickle.Pickler):
    """Pickler that stores the bytes of memory that tensors share once."""

    def __init__(self, file):
        super().__init__(file, protocol=5)
        self.memories = {}  # id of an array that owns memory → the array, and its bytes

    def reducer_override(self, obj):
        if not isinstance(obj, Tensor):
            return NotImplemented
        array = owner = obj._array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if not (owner.flags.c_contiguous or owner.flags.f_contiguous):
            array = owner = array.copy()
        _, memory = self.memories.setdefault(id(owner), (owner, bytearray(owner.tobytes("A"))))
        place = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0] if array.size else 0
        layout = array.shape, obj.dtype, memory, place, array.strides
        return read_tensor, (isinstance(obj, Parameter), obj.requires_grad, *layout)


def read_tensor(is_parameter, requires_grad, shape, dtype, memory, place, strides):
    tensor = rebuild_tensor(Tensor, np.ndarray(shape, dtype.np, memory, place, strides), False)
    return Parameter(tensor, requires_grad) if is_parameter else tensor.requires_grad_(requires_grad)


class Reader(pickle.Unpickler):
    """Unpickler that finds only what tensors, and containers of them, need."""

    kinds = OrderedDict, Counter, set, complex, bytearray, read_tensor, dtypes.find, dtypes.Size, dtypes.device
    allowed = {(kind.__module__, kind.__name__) for kind in kinds}

    def find_class(self, module, name):
        if (module, name) not in self.allowed:
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
        return (Reader if weights_only else pickle.Unpickler)(file).load()
