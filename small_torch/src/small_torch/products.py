"""The product of two matrices, which is where the time goes."""

import numpy as np

# In browsers numpy has none of the libraries that multiply fast.
PLAIN = np.dtype(np.intp).itemsize == 4
SMALL = 50_000  # multiplications


def product(a, b):
    """a @ b of arrays. numpy's own loop reads b by columns; where that jumps about in memory, einsum's order is up to
    four times as quick."""
    if (
        not PLAIN
        or a.ndim < 2
        or b.ndim < 2
        or a.size * b.shape[-1] < SMALL
        or (a.flags.c_contiguous and b.flags.f_contiguous)
    ):
        return a @ b
    return np.einsum("...ij,...jk->...ik", a, b)
