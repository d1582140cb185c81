"""Products of matrices."""

import math

import numpy as np

from .arithmetic import conj
from .elementwise import Formula, quiet, record_formula
from .joining import stack
from .products import product
from .shapes import movedim, reshape, transpose, unsqueeze
from .tape import rename_node
from .tensor import Tensor, record


def check_same_type(first, second):
    """Raise torch's RuntimeError for two types."""
    if first._array.dtype != second._array.dtype:
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {first.dtype.c_name} != {second.dtype.c_name}"
        )


def matmul(input, other):
    """Return the product of matrices (stacked along the other axes), of matrix and vector, or of two vectors."""
    if not isinstance(other, Tensor):
        raise TypeError(f"matmul(): argument 'other' (position 1) must be Tensor, not {type(other).__name__}")
    a, b = input, other
    if not a.ndim or not b.ndim:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {a.ndim}D and {b.ndim}D")
    x, y = a._array, b._array
    if not (x.ndim == y.ndim == 2 and x.shape[1] == y.shape[0] and x.dtype == y.dtype):
        check_matrices(a, b)
    if x.ndim > 2 and y.ndim <= 2 and x.flags.c_contiguous:  # one large product instead of many small ones
        shape = x.shape[:-1] + y.shape[1:]
        array = quiet.run(product, x.reshape(math.prod(x.shape[:-1]), x.shape[-1]), y).reshape(shape)
    else:
        array = quiet.run(product, x, y)
    return record_formula(MATMUL.get((x.ndim, y.ndim)) or MATMUL[min(y.ndim, 3)], array, a, b)


def check_matrices(a, b):
    """Raise torch's error if two tensors with axes cannot be multiplied."""
    differ = a._array.dtype != b._array.dtype
    if differ and a.ndim == b.ndim == 1:
        raise RuntimeError(
            f"dot : expected both vectors to have same dtype, but found {a.dtype.title} and {b.dtype.title}"
        )
    if a._array.shape[-1] != b._array.shape[-2 if b.ndim > 1 else 0]:
        raise shape_error(a._array.shape, b._array.shape)
    if differ and b.ndim == 1:
        names = f"{b.dtype.title}, {a.dtype.title}, and {b.dtype.title}"
        raise RuntimeError(f"addmv input tensors must have the same dtype, but got {names}")
    check_same_type(a, b)
    for back, (m, n) in enumerate(zip(a._array.shape[-3::-1], b._array.shape[-3::-1])):
        if m != n and 1 not in (m, n):
            dim = max(a.ndim, b.ndim) - 3 - back
            raise RuntimeError(
                f"The size of tensor a ({m}) must match the size of tensor b ({n}) at non-singleton dimension {dim}"
            )


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
    return x if x.ndim == 2 else x.reshape(-1, x.shape[-1])


def way_to_matrix(g, a):
    """Return the gradient of one matrix by which all matrices of the first factor were multiplied."""
    return times(rows(a).mT, rows(g))


# By the numbers of axes; otherwise by those of the second factor.
MATMUL = {
    axes: Formula(title, way_to_first, way_to_second)
    for axes, title in {
        (1, 1): "Dot",
        (2, 1): "Mv",
        (1, 2): "Squeeze.4",
        (2, 2): "Mm",
        1: "UnsafeView",
        3: "UnsafeView",
    }.items()
} | {2: Formula("UnsafeView", way_to_first, way_to_matrix)}
LINEAR = {
    is_matrix: Formula("Addmm" if is_matrix else "View", times, lambda g, a: times(rows(g).mT, rows(a)), lambda g: g)
    for is_matrix in (True, False)
}


def linear(input, weight, bias):
    """Return x Wᵀ + b of tensors whose shapes and types fit."""
    x, shape = input._array, (*input._array.shape[:-1], len(weight._array))
    array = quiet.run(add_product, rows(x), weight._array.T, bias._array).reshape(shape)
    return record_formula(LINEAR[x.ndim == 2], array, input, weight, bias)


def add_product(x, y, bias):
    out = product(x, y)
    out += bias
    return out


def shape_error(a, b):
    """Return torch's error for matrices whose shapes do not fit."""
    if len(a) == 1 and len(b) == 1:
        return RuntimeError(f"inconsistent tensor size, expected tensor [{a[0]}] and src [{b[0]}] to have the same number of elements, but got {a[0]} and {b[0]} elements respectively")  # fmt: skip # noqa: E501
    if len(b) == 1:
        return RuntimeError(
            f"size mismatch, got input ({math.prod(a[:-1])}), mat ({math.prod(a[:-1])}x{a[-1]}), vec ({b[0]})"
        )
    if len(a) > 2 and len(b) > 2:
        batch = math.prod(np.broadcast_shapes(a[:-2], b[:-2]))
        return RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{batch}, {a[-1]}] but got: [{batch},"
            f" {b[-2]}]."
        )
    a = (1, a[0]) if len(a) == 1 else (math.prod(a[:-1]), a[-1])
    return RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({a[0]}x{a[1]} and {b[-2]}x{b[-1]})")


def transpose_matrices(x):
    """Transpose each matrix: `mT`."""
    if x.ndim == 1:
        raise RuntimeError("tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return transpose(x, -2, -1) if x.ndim else x


def adjoint(x):
    """Transpose each matrix and conjugate its numbers."""
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
            f"Expected size for first two dimensions of batch2 tensor to be: [{input._array.shape[0]},"
            f" {input._array.shape[2]}] but got: [{mat2._array.shape[0]}, {mat2._array.shape[1]}]."
        )
    return rename_node(matmul(input, mat2), "Bmm")


def mv(input, vec):
    if input.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {input.ndim}, {vec.ndim}")
    return matmul(input, vec)


def dot(input, other):
    """Return the sum of the products of two vectors."""
    if input.ndim != 1 or other.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {input.ndim}D and {other.ndim}D tensors")
    return matmul(input, other)


def outer(input, vec2):
    return unsqueeze(input, 1) * unsqueeze(vec2, 0)


def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    """Return beta · input + alpha · mat1 @ mat2."""
    product = mm(mat1, mat2)
    product = product if alpha == 1 else product * alpha
    return rename_node(product + (input if beta == 1 else input * beta) if beta else product, "Addmm")


def einsum(equation, *operands_):
    """Return the sums of products that an equation of letters describes."""
    if len(operands_) == 1 and isinstance(operands_[0], (list, tuple)):
        operands_ = tuple(operands_[0])
    equation = equation.replace(" ", "")
    if "..." in equation:
        equation = expand_ellipsis(equation, operands_)
    inputs, _, output = equation.partition("->")
    terms = inputs.split(",")
    if "->" not in equation:
        letters = inputs.replace(",", "")
        output = "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1))
    check_letters(terms, output, operands_)
    if len(terms) == 1 and operands_[0]._array.dtype == bool and len(output) < len(inputs):
        operands_ = (operands_[0].long(),)
    array = np.einsum(f"{inputs}->{output}", *(operand._array for operand in operands_), optimize=len(terms) > 2)

    def rule(g):
        gradients = []
        for i, (term, x) in enumerate(zip(terms, operands_)):
            if not x._requires_grad:
                gradients.append(None)
                continue
            others = [(t, o) for j, (t, o) in enumerate(zip(terms, operands_)) if j != i]
            available = set(output).union(*(t for t, _ in others))
            reached = "".join(letter for letter in dict.fromkeys(term) if letter in available)
            part = einsum(",".join([output, *(t for t, _ in others)]) + "->" + reached, g, *(o for _, o in others))
            if reached != term:  # a letter that only this term has, or a diagonal
                if len(set(term)) < len(term):
                    raise NotImplementedError("small_torch has no gradient of einsum for a letter twice in one term")
                for dim, letter in enumerate(term):
                    if letter not in reached:
                        part = unsqueeze(part, dim)
            gradients.append(part.expand(np.broadcast_shapes(part._array.shape, x._array.shape)))
        return gradients

    return record(np.asarray(array), "Einsum", operands_, rule, operands_)


def check_letters(terms, output, operands_):
    """Raise RuntimeError where letters and axes do not fit."""
    if len(terms) != len(operands_):
        more = "more operands were provided than specified in the equation"
        fewer = "fewer operands were provided than specified in the equation"
        raise RuntimeError(f"einsum(): {fewer if len(operands_) < len(terms) else more}")
    sizes = {}
    for i, (term, x) in enumerate(zip(terms, operands_)):
        if len(term) != x.ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(term)}) does not match the number of"
                f" dimensions ({x.ndim}) for operand {i} and no ellipsis was given"
            )
        for _place, (letter, n) in enumerate(zip(term, x._array.shape)):
            if sizes.get(letter, 1) not in (1, n) and n != 1:
                raise RuntimeError(
                    f"einsum(): subscript {letter} has size {n} for operand {i} which does not broadcast with"
                    f" previously seen size {sizes[letter]}"
                )
            sizes[letter] = n if n != 1 else sizes.get(letter, 1)
    for letter in output:
        if letter not in sizes:
            raise RuntimeError(
                f"einsum(): output subscript {letter} does not appear in the equation for any input operand"
            )


def expand_ellipsis(equation, operands_):
    """Replace `...` in an equation of einsum by letters."""
    inputs, arrow, output = equation.partition("->")
    free = [letter for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if letter not in equation]
    terms, longest = [], 0
    for term, x in zip(inputs.split(","), operands_):
        n = x.ndim - len(term.replace("...", ""))
        longest = max(longest, n)
        terms.append((term, n))
    letters = "".join(free[:longest])
    inputs_ = ",".join(term.replace("...", letters[longest - n :] if n else "") for term, n in terms)
    if not arrow:
        once = [letter for letter in sorted(set(inputs) - set(".,")) if inputs.count(letter) == 1]
        output = "..." + "".join(once)
    return f"{inputs_}->{output.replace('...', letters)}"


def cross(input, other, dim=-1):
    m, n = input._array.shape[dim], other._array.shape[dim]
    if m != 3 or n != 3:
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {m} and {n}")
    a, b = movedim(input, dim, 0), movedim(other, dim, 0)
    return stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], dim)


def cdist(x1, x2, p=2.0):
    """Return the distances between each row of x1 and each row of x2."""
    for name, x in (("X1", x1), ("X2", x2)):
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
    m, n = x1._array.shape[-1], x2._array.shape[-1]
    if m != n:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {m} X2: {n}")
    return rename_node((unsqueeze(x1, -2) - unsqueeze(x2, -3)).norm(p, -1), "Cdist")


def pdist(input, p=2.0):
    """Return the distances between each row and each later row."""
    first, second = np.triu_indices(input._array.shape[0], 1)
    return (input[Tensor(first)] - input[Tensor(second)]).norm(p, -1)


def trace(input):
    return rename_node(input.diagonal().sum(), "Trace")


def kron(input, other):
    n = max(input.ndim, other.ndim)
    a, b = ((1,) * (n - x.ndim) + x._array.shape for x in (input, other))
    spread = [
        reshape(x, *[size for pair in (zip(shape, (1,) * n) if x is input else zip((1,) * n, shape)) for size in pair])
        for x, shape in ((input, a), (other, b))
    ]
    return reshape(spread[0] * spread[1], *(i * j for i, j in zip(a, b)))
