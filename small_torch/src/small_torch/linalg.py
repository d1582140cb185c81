"""Linear algebra: `torch.linalg`."""

import math

import numpy as np

from .absent import absent
from .matrices import adjoint
from .rearranging import tril, triu
from .reductions import return_type
from .shapes import transpose, unsqueeze
from .tape import fit, recording
from .tensor import Tensor, record

SVD = return_type("linalg_svd", ("U", "S", "Vh"))
QR = return_type("linalg_qr", ("Q", "R"))
LSTSQ = return_type("linalg_lstsq", ("solution", "residuals", "rank", "singular_values"))


class LinAlgError(RuntimeError):
    """Error for a matrix that does not allow the operation, such as a singular one."""


def singular_error(A, name):
    """Return torch's error for a singular matrix, with the place of the first zero that elimination meets."""
    A = A.reshape(-1, *A.shape[-2:])
    first = next((i for i, matrix in enumerate(A) if np.linalg.matrix_rank(matrix) < len(matrix)), 0)
    batch, A = f"(Batch element {first}): " if len(A) > 1 else "", A[first].copy()
    for k in range(len(A)):
        pivot = k + np.abs(A[k:, k]).argmax()
        A[[k, pivot]] = A[[pivot, k]]
        if A[k, k] == 0:
            break
        A[k + 1 :] -= A[k + 1 :, k : k + 1] / A[k, k] * A[k]
    messages = {
        "inv": f"linalg.inv: {batch}The diagonal element {k + 1} is zero, the inversion could not be completed",
        "solve": f"torch.linalg.solve: {batch}The solver failed",
    }
    return LinAlgError(f"{messages[name]} because the input matrix is singular.")


def without_gradient(operation):
    """Make a gradient rule that raises NotImplementedError."""

    def rule(*gradients):
        raise NotImplementedError(f"small_torch has no gradient of {operation}")

    return rule


def check_matrices(A, name):
    """Raise torch's RuntimeError for fewer than two axes."""
    if A.ndim < 2:
        raise RuntimeError(
            f"linalg.{name}: input should have at least 2 dimensions, but has {A.ndim} dimensions instead"
        )


def norm(A, ord=None, dim=None, keepdim=False):
    if isinstance(dim, (tuple, list)) and len(dim) == 2 or ord is not None and dim is None and A.ndim == 2:
        return matrix_norm(A, "fro" if ord is None else ord, keepdim=keepdim)
    return A.norm(2 if ord is None else ord, dim, keepdim)


def vector_norm(x, ord=2, dim=None, keepdim=False):
    return x.norm(ord, dim, keepdim)


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False):
    """Return the norm of each matrix.

    ord: "fro" (Frobenius), 2 (the largest singular value), -2 (the smallest), "nuc" (their sum), 1 or inf (the largest
    sum of a column or row).
    """
    if A.ndim < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
    if ord == "fro":
        return A.norm(2, dim, keepdim)
    if ord == 1:
        return A.abs().sum(-2).amax(-1)
    if ord == math.inf:
        return A.abs().sum(-1).amax(-1)
    S = svdvals(A)
    return S.sum(-1) if ord == "nuc" else S[..., 0] if ord == 2 else S[..., -1]


def svd(A, full_matrices=True):
    check_matrices(A, "svd")
    U, S, Vh = np.linalg.svd(A._array, full_matrices)
    U, Vh = (record(vectors, "LinalgSvd", (A,), without_gradient("svd's vectors")) for vectors in (U, Vh))
    return SVD(U, svdvals(A) if A.requires_grad else Tensor(S), Vh)


def svdvals(A):
    check_matrices(A, "svd")
    U, S, Vh = np.linalg.svd(A._array, full_matrices=False)
    U, Vh = Tensor(U), Tensor(Vh)

    def rule(g):
        if recording[0]:
            raise NotImplementedError("small_torch has no second derivative of singular values")
        return (U * unsqueeze(g, -2)) @ Vh

    return record(S, "LinalgSvd", (A,), rule)


def eigvals(A):
    return record(as_complex(np.linalg.eigvals(A._array)), "LinalgEig", (A,), without_gradient("eigenvalues"))


def qr(A, mode="reduced"):
    rule = without_gradient("the QR decomposition")
    return QR(*(record(factor, "LinalgQr", (A,), rule) for factor in np.linalg.qr(A._array, mode)))


def matrix_rank(A, tol=None):
    return Tensor(np.asarray(np.linalg.matrix_rank(A._array, tol), np.int64))


def det(A):
    return record(np.asarray(np.linalg.det(A._array)), "LinalgDet", (A,), lambda g: g[..., None, None] * det(A)[...,
    None, None] * transpose(inv(A), -2, -1), [A])  # fmt: skip


def inv(A):
    if A.ndim < 2 or A._array.shape[-1] != A._array.shape[-2]:
        rows, columns = A._array.shape[-2:] if A.ndim > 1 else (0, 0)
        raise RuntimeError(
            "linalg.inv: The input tensor A must have at least 2 dimensions."
            if A.ndim < 2
            else f"linalg.inv: A must be batches of square matrices, but they are {rows} by {columns} matrices"
        )
    try:
        array = np.linalg.inv(A._array)
    except np.linalg.LinAlgError:
        raise singular_error(A._array, "inv") from None
    return record(array, "LinalgInvEx", (A,), lambda g: -(transpose(inv(A), -2, -1) @ g @ transpose(inv(A), -2, -1)),
    [A])  # fmt: skip


def solve(A, B):
    """Return X with A X = B."""
    try:
        return _record_solution(A, B, np.linalg.solve, solve, lambda g: g)
    except np.linalg.LinAlgError:
        raise singular_error(A._array, "solve") from None
    except ValueError:
        rows, columns = B.shape[-2:] if B.ndim > 1 else (*B.shape, 1)
        raise RuntimeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation AX = B ({A.shape[-2]}x{A.shape[-1]} and"
            f" {rows}x{columns})"
        ) from None


def solve_triangular(A, B, *, upper, left=True, unitriangular=False):
    """Return X with A X = B (left) or X A = B, reading only one triangle of A."""
    if not left:
        out = solve_triangular(transpose(A, -2, -1), transpose(B, -2, -1), upper=not upper, unitriangular=unitriangular)
        return transpose(out, -2, -1)
    triangle = triu if upper else tril

    def solve_arrays(a, b):
        a = np.triu(a) if upper else np.tril(a)
        if unitriangular:
            a = a - a * np.eye(a.shape[-1], dtype=a.dtype) + np.eye(a.shape[-1], dtype=a.dtype)
        return np.linalg.solve(a, b)

    def solve_adjoint(A, B):
        return solve_triangular(A, B, upper=not upper, unitriangular=unitriangular)

    mask_gradient = (lambda g: triangle(g, 1 if upper else -1)) if unitriangular else triangle
    return _record_solution(A, B, solve_arrays, solve_adjoint, mask_gradient)


def _record_solution(A, B, solve_arrays, solve_adjoint, mask_gradient):
    """Return X with A X = B.

    solve_arrays: solves for numpy arrays. solve_adjoint: solves Aᴴ X = B for tensors. mask_gradient: sets the gradient
    of unread numbers of A to zero.
    """
    vector = B.ndim == 1
    matrix = unsqueeze(B, -1) if vector else B
    shape = np.broadcast_shapes(A._array.shape[:-2], matrix._array.shape[:-2])
    array = solve_arrays(
        np.broadcast_to(A._array, shape + A._array.shape[-2:]),
        np.broadcast_to(matrix._array, shape + matrix._array.shape[-2:]),
    )

    def rule(g):
        gB = solve_adjoint(adjoint(A), g)
        X = (
            _record_solution(A, matrix, solve_arrays, solve_adjoint, mask_gradient)
            if A._requires_grad or matrix._requires_grad
            else Tensor(array)
        )
        return fit(mask_gradient(-(gB @ adjoint(X))), A._array.shape), fit(gB, matrix._array.shape)

    out = record(array, "LinalgSolve", (A, matrix), rule, [A])
    return out.squeeze(-1) if vector else out


def lstsq(A, B, rcond=None, *, driver=None):
    """Return the least-squares solution X of A X = B."""
    solution, residuals, rank, values = np.linalg.lstsq(A._array, B._array, rcond=None)
    solution = record(solution, "LinalgLstsq", (A, B), without_gradient("lstsq"))
    return LSTSQ(solution, Tensor(residuals), Tensor(np.asarray(rank)), Tensor(values))


def matrix_power(A, n):
    if n < 0:
        return matrix_power(inv(A), -n)
    if n == 0:
        return Tensor(np.broadcast_to(np.eye(A._array.shape[-1], dtype=A._array.dtype), A._array.shape).copy())
    out = A
    for _ in range(n - 1):
        out = out @ A
    return out


def as_complex(array):
    return array.astype(np.complex64 if array.dtype in (np.float32, np.complex64) else np.complex128)


inverse = inv
__getattr__ = absent("torch.linalg")
