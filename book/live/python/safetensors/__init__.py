"""Stand-in for the compiled package safetensors: it reads files of a JSON table of contents and then the numbers."""

import json
import struct

import numpy
from torch import tensor as as_tensor  # not `import torch`: safetensors.torch would hide it

TYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "I64": "int64",
    "I32": "int32",
    "U8": "uint8",
    "BOOL": "bool",
}


class SafetensorError(Exception):
    """A file is not in the format of safetensors."""


class safe_open:
    """Open a file: `with safe_open(path) as file`, then `file.keys()`, `file.metadata()`, `file.get_tensor(name)`."""

    def __init__(self, filename, framework="pt", device="cpu"):
        with open(filename, "rb") as file:
            data = file.read()
        if len(data) < 8 or 8 + (length := struct.unpack("<Q", data[:8])[0]) > len(data):
            raise SafetensorError("Error while deserializing header: header too small")
        self.table = json.loads(data[8 : 8 + length])
        self.data = data[8 + length :]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def keys(self):
        return [name for name in self.table if name != "__metadata__"]

    def metadata(self):
        return self.table.get("__metadata__")

    def get_tensor(self, name):
        """Return a copy of a tensor; raise SafetensorError for an unknown name."""
        if name not in self.keys():
            raise SafetensorError(f"File does not contain tensor {name}")
        entry = self.table[name]
        begin, end = entry["data_offsets"]
        array = numpy.frombuffer(self.data[begin:end], TYPES[entry["dtype"]]).reshape(entry["shape"])
        return as_tensor(array)
