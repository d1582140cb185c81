"""Linear algebra: `torch.linalg`."""

import math
from functools import partial

import numpy as np

from . import matrices
from .absent import EXPLANATION
from .arguments import Number, check_argument
from .elementwise import Formula, alias, record_formula, zeros
from .joining import stack
from .matrices import adjoint
from .memory import in_columns
from .messages import error, refuse
from .random import not_implemented
from .rearranging import clone
from .reductions import return_type
from .shapes import movedim, transpose, unsqueeze
from .tape import recording, rename_node
from .tensor import Tensor, record

SVD = return_type("linalg_svd", ("U", "S", "Vh"))
LEGACY_SVD = return_type("svd", ("U", "S", "V"))
QR = return_type("linalg_qr", ("Q", "R"))
LSTSQ = return_type("linalg_lstsq", ("solution", "residuals", "rank", "singular_values"))
cross = partial(matrices.cross, dim=-1)


class _LinAlgError(RuntimeError):
    """Error for a matrix that does not allow the operation, such as a singular one."""

    __module__ = "torch._C"


LinAlgError = _LinAlgError


def compute(name, function, *arrays):
    """Return the result of numpy's function; raise LinAlgError for a singular matrix."""
    try:
        return function(*arrays)
    except np.linalg.LinAlgError:
        raise LinAlgError(f"{name}: The solver failed because the input matrix is singular.") from None


def record_without_gradient(array, name, *inputs):
    """Return an operation's result as a tensor, whose gradient raises NotImplementedError."""

    def rule(*gradients):
        raise NotImplementedError(f"small_torch has no gradient of {name}")

    return record(array, name, inputs, rule)


def check_matrices(A, name, square=False, letter="A"):
    """Raise torch's error for what is no matrix, or not square, or not of floats."""
    refuse(A.ndim < 2, "linalg.{}: The input tensor {} must have at least 2 dimensions.", name, letter)
    rows, columns = A._array.shape[-2:]
    refuse(square and rows != columns, "square matrices", name, rows, columns)
    if A.dtype.kind < 2 and name != "matrix_power":
        raise RuntimeError(f"linalg.{name}: Expected a floating point or complex tensor as input. Got {A.dtype.title}")
    if A.dtype.name == "float16" and name not in ("matrix_power", "matrix_norm"):
        kind = RuntimeError if name == "inv" else NotImplementedError
        raise kind(f"linalg.{name}: Low precision dtypes not supported. Got Half")


def norm(A, ord=None, dim=None, keepdim=False, *, dtype=None):
    dims = [dim] if isinstance(dim, int) else dim
    refuse(dims is None and ord is not None and A.ndim not in (1, 2), "norm without dim", A.ndim)
    wrong = dims is not None and len(dims) not in (1, 2)
    refuse(wrong, "linalg.norm: If dim is specified, it must be of length 1 or 2. Got {}", list(dims or []))
    if isinstance(ord, str) or ord is not None and (A.ndim if dims is None else len(dims)) == 2:
        return matrix_norm(A, ord, (-2, -1) if dims is None else dims, keepdim, dtype=dtype)
    return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    check_argument("linalg_vector_norm", "ord", ord, Number, 2)
    return x.norm(ord, dim, keepdim, dtype=dtype)


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    """Return the norm of each matrix.

    ord: "fro" (Frobenius), 2 (the largest singular value), -2 (the smallest), "nuc" (their sum), 1 or inf (the largest
    sum of a column or row), -1 or -inf (the smallest).
    """
    A = A if dtype is None else A.to(dtype)
    check_matrices(A, "matrix_norm")
    known = ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)
    refuse(ord not in known, f"linalg.matrix_norm: Order {ord} not supported.")
    refuse(len(dim) != 2, "linalg.matrix_norm: dim must be a 2-tuple. Got {}", " ".join(map(str, dim)))
    low = A.dtype.name == "float16" and ord in ("nuc", 2, -2)
    refuse(low, "linalg.matrix_norm: Low precision dtypes not supported. Got Half")
    A = movedim(A, list(dim), [-2, -1])
    if ord == "fro":
        out = A.norm(2, (-2, -1))
    elif ord == "nuc":
        out = svdvals(A).sum(-1)
    else:
        values = svdvals(A) if abs(ord) == 2 else A.abs().sum(-2 if abs(ord) == 1 else -1)
        if ord > 0 and not values._array.shape[-1]:  # the largest of no numbers
            out = values.detach().sum(-1)
        else:
            out = values.amax(-1) if ord > 0 else values.amin(-1)
    return movedim(out[..., None, None], [-2, -1], list(dim)) if keepdim else out


def svd(A, full_matrices=True):
    check_matrices(A, "svd")
    U, S, Vh = np.linalg.svd(A._array, full_matrices)
    U, Vh = (record_without_gradient(in_columns(vectors), "LinalgSvd", A) for vectors in (U, Vh))
    return SVD(U, svdvals(A) if A.requires_grad else Tensor(S), Vh)


def svdvals(A):
    check_matrices(A, "svd")
    U, S, Vh = np.linalg.svd(A._array, full_matrices=False)
    U, S, Vh = Tensor(U), np.ascontiguousarray(S), Tensor(Vh)

    def way(g, y):
        refuse(recording[0], "small_torch has no second derivative of singular values", kind=NotImplementedError)
        return (U * unsqueeze(g, -2)) @ Vh

    return record_formula(Formula("LinalgSvd", way, on_arrays=False), S, A)


def legacy_svd(input, some=True, compute_uv=True):
    """Return U, S and V with A = U S Vᴴ: `torch.svd`."""
    U, S, Vh = svd(input, not some)
    return LEGACY_SVD(U, S, adjoint(Vh))


def eigvals(A):
    check_matrices(A, "eigvals", square=True)
    values = np.linalg.eigvals(A._array).astype(A.dtype.to_complex().np)
    return record_without_gradient(values, "LinalgEig", A)


QR_MODE = "qr received unrecognized mode '{}' but expected one of 'reduced' (default), 'r', or 'complete'"


def qr(A, mode="reduced"):
    check_matrices(A, "qr")
    refuse(mode not in ("reduced", "complete", "r"), QR_MODE, mode)
    factors = np.linalg.qr(A._array, mode)
    factors = (np.zeros(0, factors.dtype), factors) if mode == "r" else factors
    factors = [in_columns(factor) if factor.ndim > 1 else factor for factor in factors]
    return QR(*(record_without_gradient(factor, "LinalgQr", A) for factor in factors))


def check_floats(A, name):
    """Raise torch's RuntimeError for what is no matrix, or not of floats in at least single precision."""
    refuse(A.ndim < 2, "torch.linalg.{}: The input tensor input must have at least 2 dimensions.", name)
    is_low = A.dtype.kind < 2 or A.dtype.name == "float16"
    refuse(is_low, "This function doesn't handle types other than float and double")


def matrix_rank(A, tol=None, hermitian=False):
    check_floats(A, "matrix_rank")
    return Tensor(np.asarray(np.linalg.matrix_rank(A._array, tol, hermitian), np.int64))


def det(A):
    check_matrices(A, "det", square=True)
    is_nan = np.isnan(A._array).any((-2, -1))  # numpy may have 0
    return record_formula(DET, np.where(is_nan, A._array.dtype.type(math.nan), np.linalg.det(A._array)), A)


def det_back(g, a, y):
    try:
        return g[..., None, None] * y[..., None, None] * transpose(inv(a), -2, -1)
    except LinAlgError:  # zero, as torch has it
        return zeros(a)


DET = Formula("LinalgDet", det_back, on_arrays=False)
INV = Formula("LinalgInvEx", lambda g, y: -(y.mT @ g @ y.mT))


def inv(A):
    check_matrices(A, "inv", square=True)
    is_nan = np.isnan(A._array).any((-2, -1), keepdims=True)
    array = np.where(is_nan, np.eye(A._array.shape[-1], dtype=A._array.dtype), A._array)
    array = np.where(is_nan, array.dtype.type(math.nan), compute("linalg.inv", np.linalg.inv, array))
    return record_formula(INV, in_columns(array), A)


def inverse(input):
    return inv(input)


def check_equation(A, B, name, left=True):
    """Raise torch's RuntimeError for matrices that do not fit in A X = B, or in X A = B."""
    check_matrices(A, name, square=True)
    refuse(A.dtype is not B.dtype, "equation types", name, A.dtype.title, B.dtype.title)
    rows, columns = B._array.shape[-2:] if B.ndim > 1 else (*B._array.shape, 1)
    if A._array.shape[-1] != (rows if left else columns):
        raise error("equation shapes", name, "AX" if left else "XA", A.shape[-2], A.shape[-1], rows, columns)


def broadcast_batches(A, B):
    """Return two stacks of matrices with the same axes before those of the matrices."""
    shape = np.broadcast_shapes(A._array.shape[:-2], B._array.shape[:-2])
    return (x.expand(shape + x._array.shape[-2:]) for x in (A, B))


SOLVE = Formula("LinalgSolveEx", lambda g, a, y: -(solve(a.mT, g) @ y.mT), lambda g, a: solve(a.mT, g), on_arrays=False)


def solve(A, B, *, left=True):
    """Return X with A X = B (left) or X A = B. B: matrices, or vectors if its shape is that of rows of A."""
    vector = B.ndim == 1 or B.ndim == A.ndim - 1 and B.shape == A.shape[:-1]
    matrix = unsqueeze(B, -1) if vector else B
    check_equation(A, matrix, "solve", left)
    if not left:
        return transpose(solve(transpose(A, -2, -1), transpose(B, -2, -1)), -2, -1)
    arrays = (x._array for x in broadcast_batches(A.detach(), matrix.detach()))
    array = compute("torch.linalg.solve", np.linalg.solve, *arrays)
    out = record_formula(SOLVE, in_columns(array), A, matrix)
    return out.squeeze(-1) if vector else out


def solve_triangular(A, B, *, upper, left=True, unitriangular=False):
    """Return X with A X = B (left) or X A = B, reading only one triangle of A."""
    if A.dtype.kind < 2 or A.dtype.name == "float16":
        raise not_implemented("triangular_solve_cpu", A._array.dtype)
    B = B.to(A.dtype)
    check_matrices(B, "solve_triangular", letter="B")
    check_equation(A, B, "solve_triangular", left)
    a, b = broadcast_batches(*(x if left else transpose(x, -2, -1) for x in (A, B)))
    n, solved, from_below = A._array.shape[-1], [], bool(upper) == bool(left)
    for k in range(n)[:: -1 if from_below else 1]:
        row = b[..., k, :]
        if solved:
            factors = a[..., k, None, k + 1 :] if from_below else a[..., k, None, :k]
            row = row - (factors @ stack(solved, -2))[..., 0, :]
        row = row if unitriangular else row / a[..., k, k, None]
        solved = [row, *solved] if from_below else [*solved, row]
    X = stack(solved, -2) if solved else b
    X = X if left else transpose(X, -2, -1)
    out = record(in_columns(X._array), "LinalgSolveTriangular", (X, A, B), lambda g: (g, None, None), [A])
    return rename_node(out, "LinalgSolveTriangular", alias(out))


def lstsq(A, B, rcond=None, *, driver=None):
    """Return the least-squares solution X of A X = B. driver: "gelsd" also gives residuals and singular values."""
    wrong = driver not in (None, "gels", "gelsy", "gelsd", "gelss")
    refuse(wrong, "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    refuse(driver in ("gels", "gelss"), f"linalg.lstsq with {driver} {EXPLANATION}", kind=NotImplementedError)
    refuse(A.ndim > 2, f"linalg.lstsq of several matrices {EXPLANATION}", kind=NotImplementedError)
    check_floats(A, "lstsq")
    refuse(A.dtype is not B.dtype, "torch.linalg.lstsq: Expected input and other to have the same dtype")
    wrong = len(A._array) != len(B._array)
    refuse(wrong, "torch.linalg.lstsq: input.size(-2) should match other.size({})", -min(B.ndim, 2))
    solution, residuals, rank, values = np.linalg.lstsq(A._array, B._array, rcond=rcond)
    # torch's lies, column by column, where it has put the numbers of B
    place = np.zeros((*B._array.shape[1:], max(A._array.shape)), solution.dtype)[..., : len(solution)].T
    place[...] = solution
    if driver != "gelsd":  # torch's default method
        residuals = values = np.zeros(0, A._array.dtype)
    solution, residuals = (record_without_gradient(array, "LinalgLstsq", A, B) for array in (place, residuals))
    return LSTSQ(solution, residuals, Tensor(np.asarray(rank, np.int64)), Tensor(values.copy()))


def matrix_power(A, n):
    check_matrices(A, "matrix_power", square=True)
    if n < 0:
        return inv(A) if n == -1 else matrix_power(inv(A), -n)
    if n == 0:
        identity = np.broadcast_to(np.eye(A._array.shape[-1], dtype=A._array.dtype), A._array.shape).copy()
        return record(identity, "Copy", (A,), zeros)
    if n == 1:
        return clone(A, memory_format="torch.contiguous_format")
    if n == 3:
        return A @ A @ A
    out, power = None, A  # by squares, as in torch
    while n:
        n, is_odd = divmod(n, 2)
        if is_odd:
            out = power if out is None else out @ power
        if n:
            power = power @ power
    return out
