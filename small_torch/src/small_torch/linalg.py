"""Linear algebra: `torch.linalg`."""

import math
from functools import partial

import numpy as np

from . import matrices
from .absent import EXPLANATION
from .arguments import Number, check_argument
from .elementwise import zeros
from .matrices import adjoint
from .memory import in_columns
from .messages import error, refuse
from .random import not_implemented
from .rearranging import clone, tril, triu
from .reductions import return_type
from .shapes import movedim, reshape, transpose, unsqueeze
from .tape import fit, recording
from .tensor import Tensor, record

SVD = return_type("linalg_svd", ("U", "S", "Vh"))
LEGACY_SVD = return_type("svd", ("U", "S", "V"))
QR = return_type("linalg_qr", ("Q", "R"))
LSTSQ = return_type("linalg_lstsq", ("solution", "residuals", "rank", "singular_values"))


class LinAlgError(RuntimeError):
    """Error for a matrix that does not allow the operation, such as a singular one."""


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"
LinAlgError.__module__ = "torch._C"
cross = partial(matrices.cross, dim=-1)


def first_zero(A):
    """Return the place on the diagonal of the first zero that elimination meets, 0 if there is none."""
    A = A.copy()
    for k in range(len(A)):
        pivot = k + np.abs(A[k:, k]).argmax()
        A[[k, pivot]] = A[[pivot, k]]
        if A[k, k] == 0:
            return k + 1
        A[k + 1 :] -= A[k + 1 :, k : k + 1] / A[k, k] * A[k]
    return 0


def singular_error(A, name):
    """Return torch's error for a singular matrix, with the place of its first zero."""
    zeros_ = [first_zero(matrix) for matrix in A.reshape(-1, *A.shape[-2:])]
    first = next((number for number, place in enumerate(zeros_) if place), 0)
    batch = f"(Batch element {first}): " if len(zeros_) > 1 else ""
    messages = {
        "inv": f"linalg.inv: {batch}The diagonal element {zeros_[first]} is zero, the inversion could not be completed",
        "solve": f"torch.linalg.solve: {batch}The solver failed",
    }
    return LinAlgError(f"{messages[name]} because the input matrix is singular.")


def without_gradient(operation):
    """Make a gradient rule that raises NotImplementedError."""

    def rule(*gradients):
        raise NotImplementedError(f"small_torch has no gradient of {operation}")

    return rule


def check_matrices(A, name, square=False, letter="A"):
    """Raise torch's RuntimeError for what is no matrix, or not square, or not of floats."""
    refuse(A.ndim < 2, "linalg.{}: The input tensor {} must have at least 2 dimensions.", name, letter)
    rows, columns = A._array.shape[-2:]
    refuse(square and rows != columns, "square matrices", name, rows, columns)
    if A.dtype.kind < 2 and name != "matrix_power":
        raise RuntimeError(f"linalg.{name}: Expected a floating point or complex tensor as input. Got {A.dtype.title}")
    if A.dtype.name == "float16" and name in OF_LAPACK:
        raise not_implemented(OF_LAPACK[name], A._array.dtype)
    if A.dtype.name == "float16" and name not in ("matrix_power", "matrix_norm"):
        raise RuntimeError(f"linalg.{name}: Low precision dtypes not supported. Got Half")


# The names in torch's errors of functions that compute in half precision nowhere.
OF_LAPACK = {
    "qr": "geqrf_cpu", "svd": "linalg_svd_cpu", "eigvals": "linalg_eig_out_cpu", "det": "lu_cpu", "solve": "lu_cpu"
}  # fmt: skip


def norm(A, ord=None, dim=None, keepdim=False, *, dtype=None):
    dims = [dim] if isinstance(dim, int) else dim
    if isinstance(ord, str) or ord is not None and (A.ndim if dims is None else len(dims)) == 2:
        return matrix_norm(A, ord, (-2, -1) if dims is None else dims, keepdim, dtype=dtype)
    refuse(ord is not None and dims is None and A.ndim > 2, "norm without dim", A.ndim)
    return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    check_argument("linalg_vector_norm", "ord", ord, Number, 2)
    x = x if dtype is None else x.to(dtype)
    out = x.norm(ord, dim, keepdim)
    return reshape(out, (1,) * x.ndim) if dim is None and keepdim else out


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    """Return the norm of each matrix.

    ord: "fro" (Frobenius), 2 (the largest singular value), -2 (the smallest), "nuc" (their sum), 1 or inf (the largest
    sum of a column or row), -1 or -inf (the smallest).
    """
    A = A if dtype is None else A.to(dtype)
    check_matrices(A, "matrix_norm")
    low = A.dtype.name == "float16" and ord in ("nuc", 2, -2)
    refuse(low, "linalg.matrix_norm: Low precision dtypes not supported. Got Half")
    if ord not in ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    A = movedim(A, list(dim), [-2, -1])
    if ord == "fro":
        out = A.norm(2, (-2, -1))
    elif ord in ("nuc", 2, -2):
        S = svdvals(A)
        S = S if S._array.shape[-1] else S.sum(-1, keepdim=True)
        out = S.sum(-1) if ord == "nuc" else S.amax(-1) if ord == 2 else S.amin(-1)
    else:
        sums = A.abs().sum(-2 if abs(ord) == 1 else -1)
        out = sums.sum(-1) if ord > 0 and not sums._array.shape[-1] else sums.amax(-1) if ord > 0 else sums.amin(-1)
    return movedim(out[..., None, None], [-2, -1], list(dim)) if keepdim else out


def svd(A, full_matrices=True):
    check_matrices(A, "svd")
    U, S, Vh = np.linalg.svd(A._array, full_matrices)
    U, Vh = (
        record(vectors, "LinalgSvd", (A,), without_gradient("svd's vectors")) for vectors in map(in_columns, (U, Vh))
    )
    return SVD(U, svdvals(A) if A.requires_grad else Tensor(S), Vh)


def svdvals(A):
    check_matrices(A, "svd")
    U, S, Vh = np.linalg.svd(A._array, full_matrices=False)
    U, S, Vh = Tensor(U), np.ascontiguousarray(S), Tensor(Vh)

    def rule(g):
        refuse(recording[0], "small_torch has no second derivative of singular values", kind=NotImplementedError)
        return (U * unsqueeze(g, -2)) @ Vh

    return record(S, "LinalgSvd", (A,), rule, [U])


def legacy_svd(input, some=True, compute_uv=True):
    """Return U, S and V with A = U S Vᴴ: `torch.svd`."""
    U, S, Vh = svd(input, not some)
    return LEGACY_SVD(U, S, adjoint(Vh))


def eigvals(A):
    check_matrices(A, "eigvals", square=True)
    values = np.linalg.eigvals(A._array).astype(A.dtype.to_complex().np)
    return record(values, "LinalgEig", (A,), without_gradient("eigenvalues"))


def qr(A, mode="reduced"):
    check_matrices(A, "qr")
    refuse(mode not in ("reduced", "complete", "r"), "qr mode", mode)
    factors = np.linalg.qr(A._array, mode)
    factors = (np.zeros(0, factors.dtype), factors) if mode == "r" else factors
    factors = [in_columns(factor) if factor.ndim > 1 else factor for factor in factors]
    return QR(*(record(factor, "LinalgQr", (A,), without_gradient("the QR decomposition")) for factor in factors))


def matrix_rank(A, tol=None, hermitian=False):
    refuse(A.ndim < 2, "torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions.")
    refuse(A.dtype.kind < 2, "This function doesn't handle types other than float and double")
    return Tensor(np.asarray(np.linalg.matrix_rank(A._array, tol, hermitian), np.int64))


def det(A):
    check_matrices(A, "det", square=True)

    def rule(g):
        try:
            return g[..., None, None] * det(A)[..., None, None] * transpose(inv(A), -2, -1)
        except LinAlgError:  # zero, as torch has it
            return zeros(A)

    return record(np.asarray(np.linalg.det(A._array)), "LinalgDet", (A,), rule, [A])


def inv(A):
    check_matrices(A, "inv", square=True)
    is_nan = np.isnan(A._array).any((-2, -1), keepdims=True)
    array = np.where(is_nan, np.eye(A._array.shape[-1], dtype=A._array.dtype), A._array)
    try:
        array = in_columns(np.where(is_nan, array.dtype.type(math.nan), np.linalg.inv(array)))
    except np.linalg.LinAlgError:
        raise singular_error(array, "inv") from None
    rule = lambda g: -(transpose(inv(A), -2, -1) @ g @ transpose(inv(A), -2, -1))  # noqa: E731
    return record(array, "LinalgInvEx", (A,), rule, [A])


def check_equation(A, B, name, left=True):
    """Raise torch's RuntimeError for matrices that do not fit in A X = B, or in X A = B."""
    check_matrices(A, name, square=True)
    refuse(A.dtype is not B.dtype, "equation types", name, A.dtype.title, B.dtype.title)
    rows, columns = B._array.shape[-2:] if B.ndim > 1 else (*B._array.shape, 1)
    if A._array.shape[-1] != (rows if left else columns):
        raise error("equation shapes", name, "AX" if left else "XA", A.shape[-2], A.shape[-1], rows, columns)


def solve(A, B, *, left=True):
    """Return X with A X = B (left) or X A = B. B: matrices, or vectors if its shape is that of rows of A."""
    vector = B.ndim == 1 or B.ndim == A.ndim - 1 and B.shape == A.shape[:-1]
    matrix = unsqueeze(B, -1) if vector else B
    check_equation(A, matrix, "solve", left)
    if not left:
        return transpose(solve(transpose(A, -2, -1), transpose(B, -2, -1)), -2, -1)
    try:
        out = _record_solution("LinalgSolveEx", A, matrix, np.linalg.solve, solve, lambda g: g)
    except np.linalg.LinAlgError:
        raise singular_error(A._array, "solve") from None
    return out.squeeze(-1) if vector else out


def solve_triangular(A, B, *, upper, left=True, unitriangular=False):
    """Return X with A X = B (left) or X A = B, reading only one triangle of A."""
    if A.dtype.kind < 2 or A.dtype.name == "float16":
        raise not_implemented("triangular_solve_cpu", A._array.dtype)
    B = B.to(A.dtype)
    check_matrices(B, "solve_triangular", letter="B")
    check_equation(A, B, "solve_triangular", left)
    if not left:
        out = solve_triangular(transpose(A, -2, -1), transpose(B, -2, -1), upper=not upper, unitriangular=unitriangular)
        return transpose(out, -2, -1)
    triangle = triu if upper else tril

    def solve_arrays(a, b):
        out, n = np.zeros_like(b), a.shape[-1]
        with np.errstate(all="ignore"):
            for k in range(n)[:: -1 if upper else 1]:  # row by row; the rows that follow are still zero
                row = slice(k + 1, None) if upper else slice(k)
                rest = b[..., k, :] - (a[..., k, None, row] @ out[..., row, :])[..., 0, :]
                out[..., k, :] = rest if unitriangular else rest / a[..., k, k, None]
        return out

    def solve_adjoint(A, B):
        return solve_triangular(A, B, upper=not upper, unitriangular=unitriangular)

    mask_gradient = (lambda g: triangle(g, 1 if upper else -1)) if unitriangular else triangle
    return _record_solution("LinalgSolveTriangular", A, B, solve_arrays, solve_adjoint, mask_gradient)


def _record_solution(name, A, B, solve_arrays, solve_adjoint, mask_gradient):
    """Return X with A X = B.

    solve_arrays: solves for numpy arrays. solve_adjoint: solves Aᴴ X = B for tensors. mask_gradient: sets the gradient
    of unread numbers of A to zero.
    """
    shape = np.broadcast_shapes(A._array.shape[:-2], B._array.shape[:-2])
    array = solve_arrays(*(np.broadcast_to(x._array, shape + x._array.shape[-2:]) for x in (A, B)))

    def rule(g):
        gB = solve_adjoint(adjoint(A), g)
        needed = A._requires_grad or B._requires_grad
        X = _record_solution(name, A, B, solve_arrays, solve_adjoint, mask_gradient) if needed else Tensor(array)
        return fit(mask_gradient(-(gB @ adjoint(X))), A._array.shape), fit(gB, B._array.shape)

    out = record(in_columns(array), name, (A, B), rule, [A])
    if out._grad_fn is not None:  # torch keeps the solution, which must not change
        kept = out.detach()
        kept._made_by = name
        out._grad_fn.saved.append((kept, 0))
    return out


def lstsq(A, B, rcond=None):
    """Return the least-squares solution X of A X = B."""
    refuse(A.ndim < 2, "torch.linalg.lstsq: input must have at least 2 dimensions.")
    if A.ndim > 2:
        raise NotImplementedError(f"linalg.lstsq of several matrices {EXPLANATION}")
    if A.dtype is not B.dtype:
        raise RuntimeError(
            "torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype"
            f" {A.dtype.title} and other's dtype {B.dtype.title}"
        )
    is_low = A.dtype.kind < 2 or A.dtype.name == "float16"
    refuse(is_low, "This function doesn't handle types other than float and double")
    if len(A._array) != len(B._array):
        raise RuntimeError(f"torch.linalg.lstsq: input.size(-2) should match other.size({-min(B.ndim, 2)})")
    solution, _, rank, _ = np.linalg.lstsq(A._array, B._array, rcond=rcond)
    # torch's lies, column by column, where it has put the numbers of B
    place = np.zeros((*B._array.shape[1:], max(A._array.shape)), solution.dtype)[..., : len(solution)].T
    place[...] = solution
    solution = record(place, "LinalgLstsq", (A, B), without_gradient("lstsq"))
    empty = np.zeros(0, A._array.dtype)  # torch's default method computes no residuals, and no singular values
    residuals = record(empty, "LinalgLstsq", (A, B), without_gradient("lstsq"))
    return LSTSQ(solution, residuals, Tensor(np.asarray(rank, np.int64)), Tensor(empty.copy()))


def matrix_power(A, n):
    check_matrices(A, "matrix_power", square=True)
    if n < 0:
        return inv(A) if n == -1 else matrix_power(inv(A), -n)
    if n == 0:
        identity = np.broadcast_to(np.eye(A._array.shape[-1], dtype=A._array.dtype), A._array.shape).copy()
        return record(identity, "Copy", (A,), zeros)
    out = clone(A, memory_format="torch.contiguous_format") if n == 1 else A
    for _ in range(n - 1):
        out = out @ A
    return out


def inverse(A):
    return inv(A)
