"""Sparse tensors, which store only rows that are not zero: gradients of an embedding's table."""

import re

import numpy as np

from .absent import EXPLANATION
from .creation import as_tensor
from .dtypes import int64
from .indexing import add_rows
from .messages import refuse
from .tensor import Tensor

UNCOALESCED = "Cannot get {} on an uncoalesced tensor, please call .coalesce() first"


class SparseTensor(Tensor):
    """Values and their indices: (axes, n) and (n, …)."""

    is_sparse, layout = True, "torch.sparse_coo"

    def __init__(self, indices, values, size, coalesced=False):
        self.places, self.entries, self.full_size, self.coalesced = indices, values, tuple(size), coalesced
        Tensor.__init__(self, self.to_dense()._array)

    def to_dense(self):
        out, places = np.zeros(self.full_size, self.entries._array.dtype), self.places._array
        if len(places) == 1:
            add_rows(out, places[0], self.entries._array)
        else:
            np.add.at(out, tuple(places), self.entries._array)
        return Tensor(out)

    def coalesce(self):
        """Return a tensor with each index once, in order; values of equal indices are summed."""
        unique_places, inverse = np.unique(self.places._array, axis=1, return_inverse=True)
        values = np.zeros((unique_places.shape[1], *self.entries.shape[1:]), self.entries._array.dtype)
        np.add.at(values, inverse.reshape(-1), self.entries._array)
        return SparseTensor(Tensor(unique_places), Tensor(values), self.full_size, True)

    def is_coalesced(self):
        return self.coalesced

    def indices(self):
        refuse(not self.coalesced, UNCOALESCED, "indices")
        return self.places

    def values(self):
        refuse(not self.coalesced, UNCOALESCED, "values")
        return self.entries

    def _nnz(self):
        return len(self.entries)

    def clone(self, *, memory_format=None):
        return SparseTensor(self.places, self.entries.clone(), self.full_size, self.coalesced)

    def add_sparse(self, other):
        """Return the sum: the values of both tensors, each at its index."""
        places = np.concatenate([self.places._array, other.places._array], 1)
        entries = np.concatenate([self.entries._array, other.entries._array])
        return SparseTensor(Tensor(places), Tensor(entries), self.full_size)

    def __repr__(self):
        entries, dtype = re.fullmatch(r"(?s)(.*?)(?:,\s+(dtype=[\w.]+))?\)", repr(self.entries)).groups("")
        parts = [
            f"{name}={text}".replace("\n", "\n" + " " * (len(name) + 8))
            for name, text in (("indices", repr(self.places)), ("values", entries + ")"))
        ]
        end = [f"size={self.full_size}", f"nnz={self._nnz()}", dtype, "layout=torch.sparse_coo"]
        return "tensor({})".format(",\n       ".join([*parts, ", ".join(filter(None, end))]))


def sparse_coo_tensor(
    indices,
    values,
    size=None,
    *,
    dtype=None,
    device=None,
    requires_grad=False,
    is_coalesced=False,
    check_invariants=None,
):
    """Return a sparse tensor of indices (axes, n) and values (n, …)."""
    indices, values = as_tensor(indices, int64), as_tensor(values, dtype)
    if requires_grad or values.requires_grad:
        raise NotImplementedError(f"A gradient of sparse_coo_tensor() {EXPLANATION}")
    axes, count = indices.shape
    if size is None:
        size = (*(indices._array.max(1) + 1).tolist(), *values.shape[1:])
    refuse(count != len(values), "sparse values", count, len(values))
    refuse(len(size) != axes + values.ndim - 1, "sparse size", len(size), axes, values.ndim - 1)
    return SparseTensor(indices, values, size, bool(is_coalesced))
