"""Sums of products that an equation of letters describes, by the operations that torch makes of them."""

import math
import string

from .arguments import check_elements, type_name
from .indexing import getitem
from .matrices import bmm
from .messages import error, refuse
from .shapes import permute, reshape


def einsum(equation, *operands):
    """Return the sums of products that an equation of letters describes."""
    if not isinstance(equation, str):
        raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not {type_name(equation)}")
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    check_elements(operands, 1)
    terms, output = parse_equation(equation.replace(" ", ""), operands)
    check_letters(terms, output, operands)
    summed = sorted({letter for term in terms for letter in term if letter not in output})
    letters = [*output, *summed]
    out, *others = (align(x, term, letters) for term, x in zip(terms, operands))
    for place, x in enumerate(others, 1):
        # sum over letters that no later operand has
        later = {letter for term in terms[place + 1 :] for letter in term}
        out = sum_product(out, x, [dim for dim in range(len(output), len(letters)) if letters[dim] not in later])
    if not others and summed:
        return out.sum([*range(len(output), len(letters))])
    return reshape(out, out._array.shape[: len(output)]) if summed else out


def align(x, term, letters):
    """Return an operand with an axis for each of the letters, of length 1 for those that its term lacks."""
    for letter in dict.fromkeys(term):
        while term.count(letter) > 1:
            first = term.index(letter)
            second = term.index(letter, first + 1)
            x = x.diagonal(0, first, second)  # the diagonal becomes the last axis
            term = [other for place, other in enumerate(term) if place not in (first, second)] + [letter]
    x = permute(x, tuple(term.index(letter) for letter in letters if letter in term))
    return getitem(x, tuple(slice(None) if letter in term else None for letter in letters))


def sum_product(a, b, dims):
    """Return the sum over `dims` of the product of two tensors, each summed axis with length 1."""
    for dim in dims:
        m, n = a._array.shape[dim], b._array.shape[dim]
        a = a.sum(dim, keepdim=True) if m != 1 and n == 1 else a
        b = b.sum(dim, keepdim=True) if n != 1 and m == 1 else b
    m, n = a._array.shape, b._array.shape
    dims = [dim for dim in dims if m[dim] != 1]
    if not dims:
        return a * b
    # axes of both, of the first only and of the second only: batches, rows and columns of a product of matrices
    rest = [dim for dim in range(len(m)) if dim not in dims]
    both = [dim for dim in rest if m[dim] != 1 and n[dim] != 1]
    rows = [dim for dim in rest if dim not in both and n[dim] == 1]
    columns = [dim for dim in rest if dim not in both and n[dim] != 1]
    if columns and columns[-1] < min((dim for dim in rows if m[dim] != 1), default=0):  # then torch swaps them
        a, b, m, n, rows, columns = b, a, n, m, columns, rows

    def merge(x, others, *groups):
        order = [*others, *(dim for group in groups for dim in group)]
        return reshape(permute(x, tuple(order)), [math.prod(x._array.shape[dim] for dim in group) for group in groups])

    out = bmm(merge(a, columns, both, rows, dims), merge(b, rows, both, dims, columns))
    order = [*both, *rows, *dims, *columns]
    sizes = [1 if dim in dims else n[dim] if m[dim] == 1 else m[dim] for dim in order]
    return permute(reshape(out, sizes), tuple(order.index(dim) for dim in range(len(order))))


def parse_equation(equation, operands):
    """Return the letters of each operand and of the result, with letters in place of `...`."""
    inputs, arrow, output = equation.partition("->")
    for place, letter in enumerate(equation.replace("->", "  ").replace("...", "   ")):
        refuse(letter not in string.ascii_letters + ", ", "einsum subscript", place)
    terms = inputs.split(",")
    if len(terms) != len(operands):
        number = "fewer" if len(operands) < len(terms) else "more"
        raise RuntimeError(f"einsum(): {number} operands were provided than specified in the equation")
    if not arrow:
        plain = inputs.replace("...", "").replace(",", "")
        output = "..." * ("..." in inputs) + "".join(sorted(x for x in set(plain) if plain.count(x) == 1))
    numbers = [x.ndim - len(term.replace("...", "")) if "..." in term else 0 for term, x in zip(terms, operands)]
    hidden = [f"{number:03}" for number in range(max(numbers, default=0))]  # stand before all letters

    def letters(term, number):
        first, dots, last = term.partition("...")
        return [*first, *(hidden[len(hidden) - number :] if dots else ()), *last]

    return [letters(term, number) for term, number in zip(terms, numbers)], letters(output, len(hidden))


def check_letters(terms, output, operands):
    """Raise torch's RuntimeError where letters and axes do not fit."""
    sizes = {}
    for i, (term, x) in enumerate(zip(terms, operands)):
        refuse(len(term) != x.ndim, "einsum axes", len(term), x.ndim, i)
        own = {}
        for letter, n in zip(term, x._array.shape):
            refuse(own.setdefault(letter, n) != n, "einsum repeats", letter, i, n, own[letter])
            if sizes.get(letter, 1) not in (1, n) and n != 1:
                raise error("einsum sizes", letter, n, i, sizes[letter])
            sizes[letter] = n if n != 1 else sizes.get(letter, 1)
    for letter in output:
        refuse(letter not in sizes, "einsum output", letter)
        refuse(output.count(letter) > 1, "einsum(): output subscript {} appears more than once in the output", letter)
