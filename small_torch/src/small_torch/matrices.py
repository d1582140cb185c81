"""Products of matrices."""

import math

import numpy as np

from .arithmetic import check_factor, conj
from .elementwise import Formula, quiet, record_formula
from .joining import stack
from .messages import error, refuse
from .random import not_implemented
from .shapes import movedim, permute, reshape, transpose, unsqueeze, view
from .tape import rename_node
from .tensor import Tensor, axis, record

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
    in_order = a.flags.c_contiguous and b.flags.f_contiguous
    if PLAIN and not in_order and a.ndim > 1 and b.ndim > 1 and a.size * b.shape[-1] >= SMALL:
        return np.einsum("...ij,...jk->...ik", a, b)
    return a @ b


def check_same_type(first, second):
    """Raise torch's RuntimeError for two types."""
    refuse(first.dtype is not second.dtype, "matrix types", first.dtype.c_name, second.dtype.c_name)


def matmul(input, other: Tensor):
    """Return the product of matrices (stacked along the other axes), of matrix and vector, or of two vectors."""
    a, b = input, other
    if not a.ndim or not b.ndim:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {a.ndim}D and {b.ndim}D")
    x, y = a._array, b._array
    if not (x.ndim == y.ndim == 2 and x.shape[1] == y.shape[0] and x.dtype == y.dtype):
        check_matrices(a, b)
    if x.ndim > 2 and y.ndim <= 2 and x.flags.c_contiguous:  # one large product instead of many small ones
        array = quiet.run(product, rows(x), y).reshape(x.shape[:-1] + y.shape[1:])
    else:
        array = quiet.run(product, x, y)
    return record_formula(MATMUL.get((x.ndim, y.ndim)) or MATMUL[min(y.ndim, 3)], array, a, b)


def check_matrices(a, b):
    """Raise torch's error if two tensors with axes cannot be multiplied."""
    differ = a.dtype is not b.dtype
    refuse(differ and a.ndim == b.ndim == 1, "dot types", a.dtype.title, b.dtype.title)
    if a._array.shape[-1] != b._array.shape[-2 if b.ndim > 1 else 0]:
        raise shape_error(a._array.shape, b._array.shape)
    refuse(differ and b.ndim == 1, "vector types", b.dtype.title, a.dtype.title, b.dtype.title)
    check_same_type(a, b)
    for back, (m, n) in enumerate(zip(a._array.shape[-3::-1], b._array.shape[-3::-1])):
        refuse(m != n and 1 not in (m, n), "broadcast", m, n, max(a.ndim, b.ndim) - 3 - back)


def shape_error(a, b):
    """Return torch's error for matrices whose shapes do not fit."""
    if len(a) == len(b) == 1:
        return error("vector sizes", a[0], b[0], a[0], b[0])
    if len(b) == 1:
        m = math.prod(a[:-1])
        return RuntimeError(f"size mismatch, got input ({m}), mat ({m}x{a[-1]}), vec ({b[0]})")
    if len(a) > 2 and len(b) > 2:
        batch = math.prod(np.broadcast_shapes(a[:-2], b[:-2]))
        return error("batches of matrices", batch, a[-1], batch, b[-2])
    return error("product sizes", f"{math.prod(a[:-1])}x{a[-1]} and {b[-2]}x{b[-1]}")


# Ways back, for arrays and tensors


def times(a, b):
    return matmul(a, b) if isinstance(a, Tensor) else product(a, b)


def way_to_first(g, b):
    """Return the gradient of the first factor."""
    if b.ndim == 1:
        return g[..., None] * b
    return times(b, g[..., None])[..., 0] if g.ndim < b.ndim else times(g, b.mT)


def way_to_second(g, a):
    """Return the gradient of the second factor."""
    if a.ndim == 1:
        return a[:, None] * g[..., None, :] if g.ndim else a * g
    if g.ndim < a.ndim:
        return times(rows(a).mT, g.reshape(-1))
    return times(a.mT, g)


def rows(x):
    return x if x.ndim == 2 else x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


def way_to_matrix(g, a):
    """Return the gradient of one matrix by which all matrices of the first factor were multiplied."""
    return times(rows(a).mT, rows(g))


# By the numbers of axes; otherwise by those of the second factor.
TITLES = {(1, 1): "Dot", (2, 1): "Mv", (1, 2): "Squeeze.4", (2, 2): "Mm", 1: "UnsafeView", 3: "UnsafeView"}
MATMUL = {axes: Formula(title, way_to_first, way_to_second) for axes, title in TITLES.items()}
MATMUL[2] = Formula("UnsafeView", way_to_first, way_to_matrix)
LINEAR = {
    is_matrix: Formula("Addmm" if is_matrix else "View", times, lambda g, a: times(rows(g).mT, rows(a)), lambda g: g)
    for is_matrix in (True, False)
}


def linear(input, weight, bias):
    """Return x Wᵀ + b of tensors whose shapes and types fit."""
    x, shape = input._array, (*input._array.shape[:-1], len(weight._array))
    array = quiet.run(product, rows(x), weight._array.T)
    quiet.run(np.add, array, bias._array, array)
    return record_formula(LINEAR[x.ndim == 2], array.reshape(shape), input, weight, bias)


def transpose_matrices(x):
    """Transpose each matrix: `mT`."""
    refuse(x.ndim == 1, "tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return transpose(x, -2, -1) if x.ndim else x


def adjoint(x):
    """Transpose each matrix and conjugate its numbers."""
    return conj(transpose(x, -2, -1))


def mm(input, mat2: Tensor):
    refuse(input.ndim != 2, "self must be a matrix")
    refuse(mat2.ndim != 2, "mat2 must be a matrix")
    return matmul(input, mat2)


def bmm(input, mat2: Tensor):
    refuse(input.ndim != 3 or mat2.ndim != 3, "batch{} must be a 3D tensor", 1 + (input.ndim == 3))
    (batch, _, n), (mat_batch, m, _) = input._array.shape, mat2._array.shape
    refuse((batch, n) != (mat_batch, m), "batches of matrices", batch, n, mat_batch, m)
    types = (input.dtype.title, mat2.dtype.title)
    refuse(input.dtype is not mat2.dtype, "expected scalar type {} but found {}", *types)
    return rename_node(matmul(input, mat2), "Bmm")


def mv(input, vec: Tensor):
    refuse(input.ndim != 2 or vec.ndim != 1, "vector + matrix @ vector expected, got 1, {}, {}", input.ndim, vec.ndim)
    return matmul(input, vec)


def dot(input, tensor: Tensor):
    """Return the sum of the products of two vectors."""
    wrong = input.ndim != 1 or tensor.ndim != 1
    refuse(wrong, "1D tensors expected, but got {}D and {}D tensors", input.ndim, tensor.ndim)
    return matmul(input, tensor)


def outer(input, vec2: Tensor):
    for name, x in (("self", input), ("vec2", vec2)):
        refuse(x.ndim != 1, "outer: Expected 1-D argument {}, but got {}-D", name, x.ndim)
    return unsqueeze(input, 1) * unsqueeze(vec2, 0)


def addmm(input, mat1: Tensor, mat2: Tensor, *, beta=1, alpha=1):
    """Return beta · input + alpha · mat1 @ mat2."""
    for name, x in (("self", input), ("mat1", mat1)):
        refuse(x.dtype is not mat2.dtype, "product types", name, x.dtype.title, mat2.dtype.title)
    for name, x in (("mat1", mat1), ("mat2", mat2)):
        refuse(x.ndim != 2, "{} must be a matrix, got {}-D tensor", name, x.ndim)
    out = matmul(mat1, mat2)
    input = input.expand(out.shape)
    alpha, beta = (check_factor(value, input.dtype) for value in (alpha, beta))
    out = out if alpha == 1 else out * alpha
    if not beta:  # then numbers of the input do not matter, not even NaN
        return record(out._array, "Addmm", (out, input), lambda g: (g, g * 0))
    return rename_node(out + (input if beta == 1 else input * beta), "Addmm")


def baddbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """Return beta · input + alpha · batch1 @ batch2, for batches of matrices."""
    out = bmm(batch1, batch2)
    alpha, beta = (check_factor(value, input.dtype) for value in (alpha, beta))
    out = out if alpha == 1 else out * alpha
    return rename_node(out + (input if beta == 1 else input * beta) if beta else out, "Baddbmm")


def tensordot(a, b, dims=2):
    """Return the sums of products over axes of two tensors: the last of a and the first of b, or two lists."""
    dims = (range(-dims, 0), range(dims)) if isinstance(dims, int) else dims
    for i, j in zip(*dims):
        m, n = a._array.shape[axis(i, a.ndim)], b._array.shape[axis(j, b.ndim)]
        refuse(m != n, "contracted sizes", m, i, n, j)
    first, second = ([axis(dim, x.ndim) for dim in axes] for axes, x in zip(dims, (a, b)))
    rows, columns = ([dim for dim in range(x.ndim) if dim not in axes] for axes, x in ((first, a), (second, b)))
    shape = [a._array.shape[dim] for dim in rows] + [b._array.shape[dim] for dim in columns]
    count = math.prod(a._array.shape[dim] for dim in first)
    left = reshape(permute(a, (*rows, *first)), math.prod(shape[: len(rows)]), count)
    right = reshape(permute(b, (*second, *columns)), count, math.prod(shape[len(rows) :]))
    return reshape(mm(left, right), shape)


def cross(input, other, dim=None):
    """Return the cross products of vectors along an axis; by default along the first axis of length 3."""
    if dim is None:
        refuse(3 not in input._array.shape, "no dimension of size 3 in input")
        dim = input._array.shape.index(3)
    refuse(input.ndim != other.ndim, "linalg.cross: inputs must have the same number of dimensions.")
    m, n = (x._array.shape[axis(dim, x.ndim)] for x in (input, other))
    refuse(m != 3 or n != 3, "linalg.cross: inputs dimension {} must have length 3. Got {} and {}", dim, m, n)
    check_same_type(input, other)
    a, b = movedim(input, dim, 0), movedim(other, dim, 0)
    return stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], dim)


def check_distances(name, p, **tensors):
    """Raise torch's errors for what are no rows of fractions, or for a negative order."""
    for title, x in tensors.items():
        refuse(x.ndim < 2, "{} only supports at least 2D tensors, {} got: {}D", name, title, x.ndim)
        refuse(x.dtype.kind != 2, "{} only supports floating-point dtypes, {} got: {}", name, title, x.dtype.title)
        if x.dtype.name == "float16":
            raise not_implemented(name, x._array.dtype)
    refuse(p < 0, "{} only supports non-negative p values", name)


def cdist(x1, x2, p=2.0):
    """Return the distances between each row of x1 and each row of x2."""
    check_distances("cdist", p, X1=x1, X2=x2)
    m, n = x1._array.shape[-1], x2._array.shape[-1]
    refuse(m != n, "X1 and X2 must have the same number of columns. X1: {} X2: {}", m, n)
    check_same_type(x1, x2)
    return rename_node((unsqueeze(x1, -2) - unsqueeze(x2, -3)).norm(p, -1), "Cdist")


def pdist(input, p=2.0):
    """Return the distances between each row and each later row."""
    refuse(input.ndim != 2, "pdist only supports 2D tensors, got: {}D", input.ndim)
    check_distances("pdist", p, input=input)
    first, second = np.triu_indices(input._array.shape[0], 1)
    return (input[Tensor(first)] - input[Tensor(second)]).norm(p, -1)


def trace(input):
    if input.dtype.kind == 0:
        raise not_implemented("trace", input._array.dtype)
    refuse(input.ndim != 2, "trace: expected a matrix, but got tensor with dim {}", input.ndim)
    return rename_node(input.diagonal().sum(), "Trace")


def kron(input, other):
    """Return the products of each number of `input` with all of `other`, side by side."""
    n = max(input.ndim, other.ndim)
    a, b = ((1,) * (n - x.ndim) + x._array.shape for x in (input, other))
    first = reshape(input, tuple(size for m in a for size in (m, 1)))
    second = reshape(other, tuple(size for m in b for size in (1, m)))
    return view(first * second, tuple(i * j for i, j in zip(a, b)))
