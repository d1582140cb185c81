"""A tensor of which only what is not zero is kept: here only the gradient of an embedding's table is one."""

import numpy as np

from .indexing import add_rows
from .operands import refuse_keywords
from .tensor import Tensor


class SparseTensor(Tensor):
    """Values, and the indices where they stand: (axes, n) and (n, …)."""

    is_sparse, layout = True, "torch.sparse_coo"

    def __init__(self, indices, values, size, coalesced=False):
        self.at, self.kept, self.of, self.coalesced = indices, values, tuple(size), coalesced
        Tensor.__init__(self, self.dense())

    def dense(self):
        out = np.zeros(self.of, self.kept._array.dtype)
        if len(self.at._array) == 1:
            add_rows(out, self.at._array[0], self.kept._array)
        else:
            np.add.at(out, tuple(self.at._array), self.kept._array)
        return out

    def to_dense(self):
        return Tensor(self.dense())

    def coalesce(self):
        """Each index once, in order; the values of equal ones are summed."""
        places, inverse = np.unique(self.at._array, axis=1, return_inverse=True)
        values = np.zeros((places.shape[1], *self.kept._array.shape[1:]), self.kept._array.dtype)
        np.add.at(values, inverse.reshape(-1), self.kept._array)
        return SparseTensor(Tensor(places), Tensor(values), self.of, True)

    def is_coalesced(self):
        return self.coalesced

    def indices(self):
        if not self.coalesced:
            raise RuntimeError("Cannot get indices on an uncoalesced tensor, please call .coalesce() first")
        return self.at

    def values(self):
        if not self.coalesced:
            raise RuntimeError("Cannot get values on an uncoalesced tensor, please call .coalesce() first")
        return self.kept

    def _nnz(self):
        return self.kept._array.shape[0]

    def clone(self, *, memory_format=None, **unknown):
        refuse_keywords("clone", unknown)
        return SparseTensor(self.at, self.kept.clone(), self.of, self.coalesced)

    def and_also(self, other):
        """The sum: the values of both, each at its place."""
        places = np.concatenate([self.at._array, other.at._array], 1)
        return SparseTensor(Tensor(places), Tensor(np.concatenate([self.kept._array, other.kept._array])), self.of)

    def __repr__(self):
        inside = ",\n       ".join(
            [
                f"indices={self.at!r}",
                f"values={self.kept!r}",
                f"size={self.of}, nnz={self._nnz()}, layout=torch.sparse_coo",
            ]
        )
        return f"tensor({inside})"


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
    if size is None:
        size = (*(indices._array.max(1) + 1).tolist(), *values.shape[1:])
    return SparseTensor(indices, values if dtype is None else values.to(dtype), size, bool(is_coalesced))
