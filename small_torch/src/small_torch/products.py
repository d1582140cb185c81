"""The matrix product, which takes most of the time."""

import numpy as np

from .random import not_implemented

# In browsers (32 bits) numpy has no BLAS library.
PLAIN = np.dtype(np.intp).itemsize == 4
SMALL = 50_000  # multiplications
NAMES = {(1, 1): "dot", (2, 2): "addmm_impl_cpu_", (2, 1): "addmv_impl_cpu", (1, 2): "addmv_impl_cpu"}


def product(a, b):
    """Return a @ b of arrays.

    numpy's own loop reads b by columns; if these are not contiguous, einsum's order is up to four times as fast.
    """
    if a.dtype == bool and (a.ndim == b.ndim == 1 or a.size and b.size):
        raise not_implemented(NAMES.get((a.ndim, b.ndim), "bmm"), a.dtype)
    if (
        not PLAIN
        or a.ndim < 2
        or b.ndim < 2
        or a.size * b.shape[-1] < SMALL
        or (a.flags.c_contiguous and b.flags.f_contiguous)
    ):
        return a @ b
    return np.einsum("...ij,...jk->...ik", a, b)
