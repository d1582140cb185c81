"""Sums of products that an equation of letters describes, by the operations that torch makes of them."""

import math
import string

from .arguments import type_name
from .matrices import bmm
from .shapes import permute, reshape, unsqueeze
from .tensor import Tensor


def einsum(equation, *operands):
    """Return the sums of products that an equation of letters describes."""
    if not isinstance(equation, str):
        raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not {type_name(equation)}")
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    for place, x in enumerate(operands):
        if not isinstance(x, Tensor):
            raise TypeError(f"expected Tensor as element {place} in argument 1, but got {type_name(x)}")
    terms, output = parse_equation(equation.replace(" ", ""), operands)
    check_letters(terms, output, operands)
    summed = sorted({letter for term in terms for letter in term if letter not in output})
    letters = [*output, *summed]
    aligned = [align(x, term, letters) for term, x in zip(terms, operands)]
    out = aligned[0]
    for place, x in enumerate(aligned[1:], 1):
        # sum over letters that no later operand has
        later = {letter for term in terms[place + 1 :] for letter in term}
        out = sum_product(out, x, [dim for dim in range(len(output), len(letters)) if letters[dim] not in later])
    dims = [*range(len(output), len(letters))]
    if len(aligned) == 1 and dims:
        return out.sum(dims)
    return reshape(out, *out._array.shape[: len(output)]) if dims else out


def align(x, term, letters):
    """Return an operand with an axis for each of the letters, of length 1 for those that its term lacks."""
    for letter in dict.fromkeys(term):
        while term.count(letter) > 1:
            first = term.index(letter)
            second = term.index(letter, first + 1)
            x = x.diagonal(0, first, second)  # the diagonal becomes the last axis
            term = [other for place, other in enumerate(term) if place not in (first, second)] + [letter]
    x = permute(x, *(term.index(letter) for letter in letters if letter in term))
    for dim, letter in enumerate(letters):
        if letter not in term:
            x = unsqueeze(x, dim)
    return x


def sum_product(a, b, dims):
    """Return the sum over `dims` of the product of two tensors, each summed axis with length 1."""
    m, n = a._array.shape, b._array.shape
    for dim in dims:
        if m[dim] == 1 or n[dim] == 1:
            a = a.sum(dim, keepdim=True) if m[dim] != 1 else a
            b = b.sum(dim, keepdim=True) if n[dim] != 1 else b
    dims = [dim for dim in dims if m[dim] != 1 and n[dim] != 1]
    if not dims:
        return a * b
    # axes of both, of the first only and of the second only: batches, rows and columns of a product of matrices
    m, n, rest = a._array.shape, b._array.shape, [dim for dim in range(a.ndim) if dim not in dims]
    both = [dim for dim in rest if m[dim] != 1 and n[dim] != 1]
    rows = [dim for dim in rest if dim not in both and n[dim] == 1]
    columns = [dim for dim in rest if dim not in both and n[dim] != 1]

    def merge(x, *groups):
        shape = x._array.shape
        sizes = [[shape[dim] for dim in group] for group in groups]
        merged = permute(x, *(dim for dim in range(x.ndim) if dim not in sum(groups, [])), *sum(groups, []))
        return reshape(merged, *map(math.prod, sizes))

    out = bmm(merge(a, both, rows, dims), merge(b, both, dims, columns))
    order = [*both, *rows, *dims, *columns]
    sizes = [1 if dim in dims else max(m[dim], n[dim]) if 0 not in (m[dim], n[dim]) else 0 for dim in order]
    return permute(reshape(out, *sizes), *(order.index(dim) for dim in range(len(order))))


def parse_equation(equation, operands):
    """Return the letters of each operand and of the result, with letters in place of `...`."""
    inputs, arrow, output = equation.partition("->")
    for place, letter in enumerate(equation.replace("->", "  ").replace("...", "   ")):
        if letter not in string.ascii_letters + ", ":
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {place} in the equation string, subscripts must be in"
                " [a-zA-Z]"
            )
    terms = inputs.split(",")
    if len(terms) != len(operands):
        more = "more operands were provided than specified in the equation"
        fewer = "fewer operands were provided than specified in the equation"
        raise RuntimeError(f"einsum(): {fewer if len(operands) < len(terms) else more}")
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
        if len(term) != x.ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(term)}) does not match the number of"
                f" dimensions ({x.ndim}) for operand {i} and no ellipsis was given"
            )
        for letter, n in zip(term, x._array.shape):
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
        if output.count(letter) > 1:
            raise RuntimeError(f"einsum(): output subscript {letter} appears more than once in the output")
