"""Save tensors to a file and load them."""

import json
import struct

from . import TYPES, safe_open


def save_file(tensors, filename, metadata=None):
    """Write name → tensor to a file. metadata: name → text."""
    names = {array: name for name, array in TYPES.items()}
    table, parts, begin = {"__metadata__": metadata} if metadata else {}, [], 0
    for name, tensor in tensors.items():
        data = tensor.detach().contiguous().numpy().tobytes()
        table[name] = {
            "dtype": names[tensor.dtype.name],
            "shape": list(tensor.shape),
            "data_offsets": [begin, begin + len(data)],
        }
        begin += len(data)
        parts.append(data)
    head = json.dumps(table).encode()
    head += b" " * (-len(head) % 8)
    with open(filename, "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head + b"".join(parts))


def load_file(filename, device="cpu"):
    """Return name → tensor of all tensors in a file."""
    with safe_open(filename) as file:
        return {name: file.get_tensor(name) for name in file.keys()}
