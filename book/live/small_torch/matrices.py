"""Products of matrices, and what linear algebra asks of them."""

import math

import numpy as np

from .absent import Absent
from .autograd import record, recording, titled
from .pointwise import fit
from .products import product
from .shapes import flatten, movedim, reshape, transpose, tril, triu, unsqueeze
from .tensor import Tensor


def same_type(first, second):
    if first._array.dtype != second._array.dtype:
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {first.dtype.in_c} != {second.dtype.in_c}"
        )


def matmul(input, other):
    """The product of matrices, stacked along the axes before the last two; of a vector with a matrix; of two vectors."""
    if not isinstance(other, Tensor):
        raise TypeError(f"matmul(): argument 'other' (position 1) must be Tensor, not {type(other).__name__}")
    a, b = input, other
    if not a.ndim or not b.ndim:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {a.ndim}D and {b.ndim}D")
    inner = b._array.shape[-2] if b.ndim > 1 else b._array.shape[0]
    if a._array.shape[-1] != inner:
        raise unfit(a._array.shape, b._array.shape)
    if a._array.dtype != b._array.dtype and b.ndim == 1:
        if a.ndim == 1:
            raise RuntimeError(f"dot : expected both vectors to have same dtype, but found {a.dtype.title} and {b.dtype.title}")
        names = f"{b.dtype.title}, {a.dtype.title}, and {b.dtype.title}"
        raise RuntimeError(f"addmv input tensors must have the same dtype, but got {names}")
    same_type(a, b)
    for back, (m, n) in enumerate(zip(a._array.shape[-3::-1], b._array.shape[-3::-1])):
        if m != n and 1 not in (m, n):
            place = max(a.ndim, b.ndim) - 3 - back
            raise RuntimeError(f"The size of tensor a ({m}) must match the size of tensor b ({n}) at non-singleton dimension {place}")
    if a.ndim > 2 and b.ndim <= 2 and a._array.flags.c_contiguous:  # one large product instead of many small ones
        shape = a._array.shape
        array = product(a._array.reshape(math.prod(shape[:-1]), shape[-1]), b._array).reshape(shape[:-1] + b._array.shape[1:])
    else:
        array = product(a._array, b._array)

    def rule(g):
        if a.ndim == 1 and b.ndim == 1:
            return g * b, g * a
        wide_a = unsqueeze(a, 0) if a.ndim == 1 else a
        wide_b = unsqueeze(b, 1) if b.ndim == 1 else b
        g = unsqueeze(g, -2) if a.ndim == 1 else unsqueeze(g, -1) if b.ndim == 1 else g
        ga = gb = None
        if a._requires_grad:
            ga = reshape(fit(matmul(g, adjoint(wide_b)), wide_a._array.shape), *a.shape)
        if b._requires_grad:
            if wide_b.ndim == 2 and wide_a.ndim > 2:
                gb = matmul(adjoint(flatten(wide_a, 0, -2)), flatten(g, 0, -2))
            else:
                gb = fit(matmul(adjoint(wide_a), g), wide_b._array.shape)
            gb = reshape(gb, *b.shape)
        return ga, gb

    saved = [one for one, need in ((b, a), (a, b)) if need._requires_grad]
    return record(array, NAMES.get((a.ndim, b.ndim), "UnsafeView"), (a, b), rule, saved)


NAMES = {(1, 1): "Dot", (2, 1): "Mv", (1, 2): "Squeeze.4", (2, 2): "Mm"}  # by how many axes the two have


def unfit(a, b):
    """What torch says of matrices that do not fit."""
    if len(a) == 1 and len(b) == 1:
        return RuntimeError(f"inconsistent tensor size, expected tensor [{a[0]}] and src [{b[0]}] to have the same number of elements, but got {a[0]} and {b[0]} elements respectively")  # fmt: skip
    if len(b) == 1:
        return RuntimeError(f"size mismatch, got input ({math.prod(a[:-1])}), mat ({math.prod(a[:-1])}x{a[-1]}), vec ({b[0]})")
    if len(a) > 2 and len(b) > 2:
        batch = math.prod(np.broadcast_shapes(a[:-2], b[:-2]))
        return RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{batch}, {a[-1]}] but got: [{batch}, {b[-2]}]."
        )
    a = (1, a[0]) if len(a) == 1 else (math.prod(a[:-1]), a[-1])
    return RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({a[0]}x{a[1]} and {b[-2]}x{b[-1]})")


def transposed(x):
    """Each matrix transposed: `mT`."""
    if x.ndim == 1:
        raise RuntimeError("tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return transpose(x, -2, -1) if x.ndim else x


def adjoint(x):
    """Transposed, and conjugate."""
    from .pointwise import conj

    return conj(transpose(x, -2, -1))


def mm(input, mat2):
    if input.ndim != 2:
        raise RuntimeError("self must be a matrix")
    if mat2.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    return matmul(input, mat2)


def bmm(input, mat2):
    if input.ndim != 3 or mat2.ndim != 3:
        raise RuntimeError(f"batch{1 + (input.ndim == 3)} must be a 3D tensor")
    if input._array.shape[0] != mat2._array.shape[0]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{input._array.shape[0]}, {input._array.shape[2]}] but "
            f"got: [{mat2._array.shape[0]}, {mat2._array.shape[1]}]."
        )
    return titled(matmul(input, mat2), "Bmm")


def mv(input, vec):
    if input.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {input.ndim}, {vec.ndim}")
    return matmul(input, vec)


def dot(input, other):
    """The sum of the products, of two vectors."""
    if input.ndim != 1 or other.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {input.ndim}D and {other.ndim}D tensors")
    return matmul(input, other)


def outer(input, vec2):
    return unsqueeze(input, 1) * unsqueeze(vec2, 0)


def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    """beta · input + alpha · mat1 @ mat2"""
    product = mm(mat1, mat2)
    product = product if alpha == 1 else product * alpha
    return titled(product + (input if beta == 1 else input * beta) if beta else product, "Addmm")


def baddbmm(input, batch1, batch2, *, beta=1, alpha=1):
    product = bmm(batch1, batch2)
    product = product if alpha == 1 else product * alpha
    return titled(product + (input if beta == 1 else input * beta) if beta else product, "Baddbmm")


def einsum(equation, *operands_):
    """Products and sums, said by letters."""
    if len(operands_) == 1 and isinstance(operands_[0], (list, tuple)):
        operands_ = tuple(operands_[0])
    equation = equation.replace(" ", "")
    if "..." in equation:
        equation = spelt_out(equation, operands_)
    inputs, _, output = equation.partition("->")
    terms = inputs.split(",")
    if "->" not in equation:
        letters = inputs.replace(",", "")
        output = "".join(sorted(one for one in set(letters) if letters.count(one) == 1))
    check_letters(terms, output, operands_)
    if len(terms) == 1 and operands_[0]._array.dtype == bool and len(output) < len(inputs):  # counts
        operands_ = (operands_[0].long(),)
    array = np.einsum(f"{inputs}->{output}", *(one._array for one in operands_), optimize=len(terms) > 2)

    def rule(g):
        found = []
        for i, (term, x) in enumerate(zip(terms, operands_)):
            if not x._requires_grad:
                found.append(None)
                continue
            others = [(t, o) for j, (t, o) in enumerate(zip(terms, operands_)) if j != i]
            known = set(output).union(*(t for t, _ in others))
            reached = "".join(one for one in dict.fromkeys(term) if one in known)
            part = einsum(",".join([output, *(t for t, _ in others)]) + "->" + reached, g, *(o for _, o in others))
            if reached != term:  # what is summed over alone, or is a diagonal
                if len(set(term)) < len(term):
                    raise NotImplementedError("the small torch has no gradient of einsum for a letter twice in one term")
                for place, one in enumerate(term):
                    if one not in reached:
                        part = unsqueeze(part, place)
            found.append(part.expand(np.broadcast_shapes(part._array.shape, x._array.shape)))
        return found

    return record(np.asarray(array), "Einsum", operands_, rule, operands_)


def check_letters(terms, output, operands_):
    """RuntimeError where letters and axes do not fit."""
    if len(terms) != len(operands_):
        more = "more operands were provided than specified in the equation"
        fewer = "fewer operands were provided than specified in the equation"
        raise RuntimeError(f"einsum(): {fewer if len(operands_) < len(terms) else more}")
    sizes = {}
    for i, (term, x) in enumerate(zip(terms, operands_)):
        if len(term) != x.ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(term)}) does not match the number of dimensions ({x.ndim}) "
                f"for operand {i} and no ellipsis was given"
            )
        for place, (letter, n) in enumerate(zip(term, x._array.shape)):
            if sizes.get(letter, 1) not in (1, n) and n != 1:
                raise RuntimeError(
                    f"einsum(): subscript {letter} has size {n} for operand {i} which does not broadcast with previously seen size "
                    f"{sizes[letter]}"
                )
            sizes[letter] = n if n != 1 else sizes.get(letter, 1)
    for letter in output:
        if letter not in sizes:
            raise RuntimeError(f"einsum(): output subscript {letter} does not appear in the equation for any input operand")


def spelt_out(equation, operands_):
    inputs, arrow, output = equation.partition("->")
    free = [one for one in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if one not in equation]
    terms, longest = [], 0
    for term, x in zip(inputs.split(","), operands_):
        n = x.ndim - len(term.replace("...", ""))
        longest = max(longest, n)
        terms.append((term, n))
    letters = "".join(free[:longest])
    spelt = ",".join(term.replace("...", letters[longest - n :] if n else "") for term, n in terms)
    if not arrow:
        once = [one for one in sorted(set(inputs) - set(".,")) if inputs.count(one) == 1]
        output = "..." + "".join(once)
    return f"{spelt}->{output.replace('...', letters)}"


def cross(input, other, dim=-1):
    m, n = input._array.shape[dim], other._array.shape[dim]
    if m != 3 or n != 3:
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {m} and {n}")
    a, b = movedim(input, dim, 0), movedim(other, dim, 0)
    from .shapes import stack

    return stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], dim)


def cdist(x1, x2, p=2.0):
    """Distances of each row to each row."""
    for name, one in (("X1", x1), ("X2", x2)):
        if one.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {one.ndim}D")
    m, n = x1._array.shape[-1], x2._array.shape[-1]
    if m != n:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {m} X2: {n}")
    return titled((unsqueeze(x1, -2) - unsqueeze(x2, -3)).norm(p, -1), "Cdist")


def pdist(input, p=2.0):
    """Distances of each row to each later row."""
    first, second = np.triu_indices(input._array.shape[0], 1)
    return (input[Tensor(first)] - input[Tensor(second)]).norm(p, -1)


def trace(input):
    return titled(input.diagonal().sum(), "Trace")


def kron(input, other):
    n = max(input.ndim, other.ndim)
    a, b = ((1,) * (n - one.ndim) + one._array.shape for one in (input, other))
    parted = [reshape(one, *[size for pair in (zip(shape, (1,) * n) if one is input else zip((1,) * n, shape)) for size in pair])
              for one, shape in ((input, a), (other, b))]
    return reshape(parted[0] * parted[1], *(i * j for i, j in zip(a, b)))


class _LinAlgError(RuntimeError):
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
    return _LinAlgError(f"{said[name]} because the input matrix is singular.")


def without_gradient(what):
    """A rule for what the small torch computes, but cannot differentiate: better than a wrong gradient."""

    def rule(*gradients):
        raise NotImplementedError(f"the small torch of the pages has no gradient of {what}")

    return rule


def of_matrices(A, name):
    if A.ndim < 2:
        raise RuntimeError(f"linalg.{name}: input should have at least 2 dimensions, but has {A.ndim} dimensions instead")


class linalg(metaclass=Absent):
    """torch.linalg"""

    LinAlgError = _LinAlgError

    @staticmethod
    def norm(A, ord=None, dim=None, keepdim=False):
        if isinstance(dim, (tuple, list)) and len(dim) == 2 or ord is not None and dim is None and A.ndim == 2:
            return linalg.matrix_norm(A, "fro" if ord is None else ord, keepdim=keepdim)
        return A.norm(2 if ord is None else ord, dim, keepdim)

    @staticmethod
    def vector_norm(x, ord=2, dim=None, keepdim=False):
        return x.norm(ord, dim, keepdim)

    @staticmethod
    def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False):
        """Frobenius' norm, the largest singular value (2), their sum ("nuc"), the largest sum of a column (1) or row (inf)."""
        if A.ndim < 2:
            raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
        if ord == "fro":
            return A.norm(2, dim, keepdim)
        if ord == 1:
            return A.abs().sum(-2).amax(-1)
        if ord == math.inf:
            return A.abs().sum(-1).amax(-1)
        S = linalg.svdvals(A)
        return S.sum(-1) if ord == "nuc" else S[..., 0] if ord == 2 else S[..., -1]

    @staticmethod
    def svd(A, full_matrices=True):
        of_matrices(A, "svd")
        U, S, Vh = np.linalg.svd(A._array, full_matrices)
        U, Vh = (record(one, "LinalgSvd", (A,), without_gradient("svd's vectors")) for one in (U, Vh))
        return linalg._SVD(U, linalg.svdvals(A) if A.requires_grad else Tensor(S), Vh)

    @staticmethod
    def svdvals(A):
        of_matrices(A, "svd")
        U, S, Vh = np.linalg.svd(A._array, full_matrices=False)
        U, Vh = Tensor(U), Tensor(Vh)

        def rule(g):
            if recording[0]:
                raise NotImplementedError("the small torch of the pages has no second derivative of singular values")
            return (U * unsqueeze(g, -2)) @ Vh

        return record(S, "LinalgSvd", (A,), rule)

    @staticmethod
    def eigvals(A):
        return record(_complex(np.linalg.eigvals(A._array)), "LinalgEig", (A,), without_gradient("eigenvalues"))

    @staticmethod
    def qr(A, mode="reduced"):
        rule = without_gradient("the QR decomposition")
        return linalg._QR(*(record(one, "LinalgQr", (A,), rule) for one in np.linalg.qr(A._array, mode)))

    @staticmethod
    def matrix_rank(A, tol=None):
        return Tensor(np.asarray(np.linalg.matrix_rank(A._array, tol), np.int64))

    @staticmethod
    def det(A):
        return record(np.asarray(np.linalg.det(A._array)), "LinalgDet", (A,), lambda g: g[..., None, None] * linalg.det(A)[..., None, None] * transpose(linalg.inv(A), -2, -1), [A])  # fmt: skip

    @staticmethod
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
        return record(array, "LinalgInvEx", (A,), lambda g: -(transpose(linalg.inv(A), -2, -1) @ g @ transpose(linalg.inv(A), -2, -1)), [A])  # fmt: skip

    @staticmethod
    def solve(A, B):
        """X with A X = B."""
        try:
            return linalg._solved(A, B, np.linalg.solve, linalg.solve, lambda g: g)
        except np.linalg.LinAlgError:
            raise singular(A._array, "solve") from None
        except ValueError:
            rows, columns = B.shape[-2:] if B.ndim > 1 else (*B.shape, 1)
            raise RuntimeError(
                f"linalg.solve: Incompatible shapes of A and B for the equation AX = B ({A.shape[-2]}x{A.shape[-1]} and {rows}x{columns})"
            ) from None

    @staticmethod
    def solve_triangular(A, B, *, upper, left=True, unitriangular=False):
        """X with A X = B (left) or X A = B, where only one triangle of A is looked at."""
        if not left:
            out = linalg.solve_triangular(
                transpose(A, -2, -1), transpose(B, -2, -1), upper=not upper, unitriangular=unitriangular
            )
            return transpose(out, -2, -1)
        part = triu if upper else tril

        def numbers(a, b):
            a = np.triu(a) if upper else np.tril(a)
            if unitriangular:
                a = a - a * np.eye(a.shape[-1], dtype=a.dtype) + np.eye(a.shape[-1], dtype=a.dtype)
            return np.linalg.solve(a, b)

        def again(A, B):
            return linalg.solve_triangular(A, B, upper=not upper, unitriangular=unitriangular)

        keep = (lambda g: part(g, 1 if upper else -1)) if unitriangular else part
        return linalg._solved(A, B, numbers, again, keep)

    @staticmethod
    def _solved(A, B, numbers, again, keep):
        vector = B.ndim == 1
        wide = unsqueeze(B, -1) if vector else B
        shape = np.broadcast_shapes(A._array.shape[:-2], wide._array.shape[:-2])
        array = numbers(np.broadcast_to(A._array, shape + A._array.shape[-2:]), np.broadcast_to(wide._array, shape + wide._array.shape[-2:]))

        def rule(g):
            gB = again(adjoint(A), g)
            X = linalg._solved(A, wide, numbers, again, keep) if A._requires_grad or wide._requires_grad else Tensor(array)
            return fit(keep(-(gB @ adjoint(X))), A._array.shape), fit(gB, wide._array.shape)

        out = record(array, "LinalgSolve", (A, wide), rule, [A])
        return out.squeeze(-1) if vector else out

    @staticmethod
    def lstsq(A, B, rcond=None, *, driver=None):
        """The X that brings A X nearest to B."""
        solution, residuals, rank, values = np.linalg.lstsq(A._array, B._array, rcond=None)
        solution = record(solution, "LinalgLstsq", (A, B), without_gradient("lstsq"))
        return linalg._LSTSQ(solution, Tensor(residuals), Tensor(np.asarray(rank)), Tensor(values))

    @staticmethod
    def matrix_power(A, n):
        if n < 0:
            return linalg.matrix_power(linalg.inv(A), -n)
        if n == 0:
            return Tensor(np.broadcast_to(np.eye(A._array.shape[-1], dtype=A._array.dtype), A._array.shape).copy())
        out = A
        for _ in range(n - 1):
            out = out @ A
        return out

def _complex(array):
    return array.astype(np.complex64 if array.dtype in (np.float32, np.complex64) else np.complex128)


def _returns(name, *fields):
    from .reductions import pair

    return pair(name, fields)


linalg._SVD = _returns("linalg_svd", "U", "S", "Vh")
linalg._QR = _returns("linalg_qr", "Q", "R")
linalg._LSTSQ = _returns("linalg_lstsq", "solution", "residuals", "rank", "singular_values")


def det(input):
    return linalg.det(input)


def inverse(input):
    return linalg.inv(input)


def matrix_power(input, n):
    return linalg.matrix_power(input, n)


