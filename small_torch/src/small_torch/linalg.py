"""What linear algebra asks of matrices: `torch.linalg`."""

import math

import numpy as np

from .absent import absent
from .matrices import adjoint
from .reductions import pair
from .shapes import transpose, tril, triu, unsqueeze
from .tape import fit, recording
from .tensor import Tensor, record

SVD = pair("linalg_svd", ("U", "S", "Vh"))
QR = pair("linalg_qr", ("Q", "R"))
LSTSQ = pair("linalg_lstsq", ("solution", "residuals", "rank", "singular_values"))


class LinAlgError(RuntimeError):
    """A matrix with which this cannot be done."""


def singular(A, name):
    """What torch says of a matrix that has no inverse: the place of the first zero that elimination meets."""
    A = A.reshape(-1, *A.shape[-2:])
    which = next((i for i, one in enumerate(A) if np.linalg.matrix_rank(one) < len(one)), 0)
    batch, A = f"(Batch element {which}): " if len(A) > 1 else "", A[which].copy()
    for k in range(len(A)):
        best = k + np.abs(A[k:, k]).argmax()
        A[[k, best]] = A[[best, k]]
        if A[k, k] == 0:
            break
        A[k + 1 :] -= A[k + 1 :, k : k + 1] / A[k, k] * A[k]
    said = {
        "inv": f"linalg.inv: {batch}The diagonal element {k + 1} is zero, the inversion could not be completed",
        "solve": f"torch.linalg.solve: {batch}The solver failed",
    }
    return LinAlgError(f"{said[name]} because the input matrix is singular.")


def without_gradient(what):
    """A rule for what small_torch computes, but cannot differentiate: better than a wrong gradient."""

    def rule(*gradients):
        raise NotImplementedError(f"small_torch has no gradient of {what}")

    return rule


def of_matrices(A, name):
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
    """Frobenius' norm, the largest singular value (2), their sum ("nuc"), the largest sum of a column (1) or row
    (inf)."""
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
    of_matrices(A, "svd")
    U, S, Vh = np.linalg.svd(A._array, full_matrices)
    U, Vh = (record(one, "LinalgSvd", (A,), without_gradient("svd's vectors")) for one in (U, Vh))
    return SVD(U, svdvals(A) if A.requires_grad else Tensor(S), Vh)


def svdvals(A):
    of_matrices(A, "svd")
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
    return QR(*(record(one, "LinalgQr", (A,), rule) for one in np.linalg.qr(A._array, mode)))


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
        raise singular(A._array, "inv") from None
    return record(array, "LinalgInvEx", (A,), lambda g: -(transpose(inv(A), -2, -1) @ g @ transpose(inv(A), -2, -1)),
    [A])  # fmt: skip


def solve(A, B):
    """X with A X = B."""
    try:
        return _solved(A, B, np.linalg.solve, solve, lambda g: g)
    except np.linalg.LinAlgError:
        raise singular(A._array, "solve") from None
    except ValueError:
        rows, columns = B.shape[-2:] if B.ndim > 1 else (*B.shape, 1)
        raise RuntimeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation AX = B ({A.shape[-2]}x{A.shape[-1]} and"
            f" {rows}x{columns})"
        ) from None


def solve_triangular(A, B, *, upper, left=True, unitriangular=False):
    """X with A X = B (left) or X A = B, where only one triangle of A is looked at."""
    if not left:
        out = solve_triangular(transpose(A, -2, -1), transpose(B, -2, -1), upper=not upper, unitriangular=unitriangular)
        return transpose(out, -2, -1)
    part = triu if upper else tril

    def numbers(a, b):
        a = np.triu(a) if upper else np.tril(a)
        if unitriangular:
            a = a - a * np.eye(a.shape[-1], dtype=a.dtype) + np.eye(a.shape[-1], dtype=a.dtype)
        return np.linalg.solve(a, b)

    def again(A, B):
        return solve_triangular(A, B, upper=not upper, unitriangular=unitriangular)

    keep = (lambda g: part(g, 1 if upper else -1)) if unitriangular else part
    return _solved(A, B, numbers, again, keep)


def _solved(A, B, numbers, again, keep):
    vector = B.ndim == 1
    wide = unsqueeze(B, -1) if vector else B
    shape = np.broadcast_shapes(A._array.shape[:-2], wide._array.shape[:-2])
    array = numbers(
        np.broadcast_to(A._array, shape + A._array.shape[-2:]),
        np.broadcast_to(wide._array, shape + wide._array.shape[-2:]),
    )

    def rule(g):
        gB = again(adjoint(A), g)
        X = _solved(A, wide, numbers, again, keep) if A._requires_grad or wide._requires_grad else Tensor(array)
        return fit(keep(-(gB @ adjoint(X))), A._array.shape), fit(gB, wide._array.shape)

    out = record(array, "LinalgSolve", (A, wide), rule, [A])
    return out.squeeze(-1) if vector else out


def lstsq(A, B, rcond=None, *, driver=None):
    """The X that brings A X nearest to B."""
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
