"""Sparse tensors, which store only rows that are not zero: gradients of an embedding's table."""

import re

import numpy as np

from .absent import EXPLANATION
from .arguments import refuse_keywords
from .creation import as_tensor
from .dtypes import int64
from .indexing import add_rows
from .messages import refuse
from .tensor import Tensor


class SparseTensor(Tensor):
    """Values and their indices: (axes, n) and (n, …)."""

    is_sparse, layout = True, "torch.sparse_coo"

    def __init__(self, indices, values, size, coalesced=False):
        self.places, self.entries, self.full_size, self.coalesced = indices, values, tuple(size), coalesced
        Tensor.__init__(self, self.dense())

    def dense(self):
        out = np.zeros(self.full_size, self.entries._array.dtype)
        if len(self.places._array) == 1:
            add_rows(out, self.places._array[0], self.entries._array)
        else:
            np.add.at(out, tuple(self.places._array), self.entries._array)
        return out

    def to_dense(self):
        return Tensor(self.dense())

    def coalesce(self):
        """Return a tensor with each index once, in order; values of equal indices are summed."""
        unique_places, inverse = np.unique(self.places._array, axis=1, return_inverse=True)
        values = np.zeros((unique_places.shape[1], *self.entries._array.shape[1:]), self.entries._array.dtype)
        np.add.at(values, inverse.reshape(-1), self.entries._array)
        return SparseTensor(Tensor(unique_places), Tensor(values), self.full_size, True)

    def is_coalesced(self):
        return self.coalesced

    def indices(self):
        refuse(not self.coalesced, "Cannot get indices on an uncoalesced tensor, please call .coalesce() first")
        return self.places

    def values(self):
        refuse(not self.coalesced, "Cannot get values on an uncoalesced tensor, please call .coalesce() first")
        return self.entries

    def _nnz(self):
        return self.entries._array.shape[0]

    def clone(self, *, memory_format=None, **unknown):
        refuse_keywords("clone", unknown)
        return SparseTensor(self.places, self.entries.clone(), self.full_size, self.coalesced)

    def add_sparse(self, other):
        """Return the sum: the values of both tensors, each at its index."""
        places = np.concatenate([self.places._array, other.places._array], 1)
        return SparseTensor(
            Tensor(places), Tensor(np.concatenate([self.entries._array, other.entries._array])), self.full_size
        )

    def __repr__(self):
        entries, dtype = re.fullmatch(r"(?s)(.*?)(,\s+dtype=[\w.]+)?\)", repr(self.entries)).groups("")
        entries, dtype = entries + ")", ", " + dtype.strip(", \n") if dtype else ""
        indices, values = (
            f"{name}={text.replace(chr(10), chr(10) + ' ' * (len(name) + 8))}"
            for name, text in (("indices", repr(self.places)), ("values", entries))
        )
        size = f"size={self.full_size}, nnz={self._nnz()}{dtype}, layout=torch.sparse_coo"
        return f"tensor({indices},\n       {values},\n       {size})"


def sparse_coo_tensor(
    indices=None,
    values=None,
    size=None,
    *,
    dtype=None,
    device=None,
    requires_grad=False,
    is_coalesced=False,
    check_invariants=None,
):
    """Return a sparse tensor: of indices (axes, n) and values (n, …), or of zeros in a size."""
    if values is None:
        size = indices if size is None else size
        indices, values = np.zeros((len(size), 0), np.int64), []
    indices, values = as_tensor(indices, int64), as_tensor(values, dtype)
    if requires_grad or values.requires_grad:
        raise NotImplementedError(f"A gradient of sparse_coo_tensor() {EXPLANATION}")
    axes, count = indices._array.shape
    if size is None:
        size = (*(indices._array.max(1) + 1).tolist(), *values.shape[1:])
    refuse(count != len(values._array), "sparse values", count, len(values._array))
    refuse(len(size) != axes + values.ndim - 1, "sparse size", len(size), axes, values.ndim - 1)
    return SparseTensor(indices, values, size, bool(is_coalesced))
