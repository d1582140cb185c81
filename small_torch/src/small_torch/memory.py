"""How the numbers of arrays lie in memory: their order, and what they share."""

import numpy as np

SHARED = (
    "unsupported operation: {} refer{} to a single memory location. Please clone() the tensor before performing the"
    " operation."
)


def contiguous(array):
    """Return an array whose numbers lie row by row: itself, or a copy."""
    array = np.asarray(array, order="C")
    return array.reshape(-1).reshape(array.shape) if 1 in array.shape and array.ndim > 1 else array


def is_in_rows(array):
    """Return True if each axis of an array has a larger stride than the next one, as the parts of rows have."""
    steps = array.strides
    return steps[-1] > 0 and all(before > step for before, step in zip(steps, steps[1:]))


def in_columns(array):
    """Return matrices whose numbers lie column by column, as torch's linear algebra returns them."""
    return contiguous(array.swapaxes(-2, -1)).swapaxes(-2, -1)


def copy_array(array):
    """Return a copy whose axes lie in memory in the same order, without gaps."""
    return array.copy() if array.flags.c_contiguous else arrange(array.copy(), array.strides)


def memory_order(shape, *strides):
    """Return axes from the outermost in memory to the innermost, in torch's order, given the strides of operands.

    Of two axes that one is the inner one which has the smaller stride in the first operand that has both.
    """

    def compare(i, j):
        for steps in strides:
            if steps[i] and steps[j] and (steps[i] != steps[j] or shape[i] > shape[j]):
                return 1 if steps[i] >= steps[j] else -1
        return 0

    order = list(range(len(shape)))[::-1]  # from the innermost axis on
    for i in range(1, len(shape)):
        at = i
        for before in reversed(range(i)):
            decision = compare(order[before], order[at])
            if decision > 0:
                order[before], order[at] = order[at], order[before]
                at = before
            elif decision < 0:
                break
    return order[::-1]


def arrange(array, *strides):
    """Return an array in torch's order of axes, given the strides of the operands that it was computed from."""
    order = memory_order(array.shape, *strides)
    return contiguous(array.transpose(order)).transpose(np.argsort(order))


def make_in_order(like, make):
    """Return an array with the shape of another one and its order in memory, made by a function of a shape."""
    if like.flags.c_contiguous:
        return make(like.shape)
    order = memory_order(like.shape, like.strides)
    return make(tuple(like.shape[axis] for axis in order)).transpose(np.argsort(order))


def has_repeats(array):
    """Return True if an axis repeats the same numbers."""
    return 0 in array.strides and array.size and any(n > 1 and not step for n, step in zip(array.shape, array.strides))


def check_memory(target, *sources, whole=False, may_repeat=False):
    """Raise RuntimeError if places of a written array share memory with each other or with places of the sources.

    whole: also if a source is the array itself. may_repeat: whether places of the array may share memory.
    """
    if not may_repeat and has_repeats(target):
        raise RuntimeError(SHARED.format("more than one element of the written-to tensor", "s"))
    for source in sources:
        same = source is target or places_of(source) == places_of(target)
        shared = whole if same else is_dense(target) and is_dense(source)
        if shared and (source is target or np.may_share_memory(source, target)):
            raise RuntimeError(SHARED.format("some elements of the input tensor and the written-to tensor", ""))


def places_of(array):
    """Return where an array's numbers are: equal if two arrays have the same numbers in the same order."""
    axes = [(n, step) for n, step in zip(array.shape, array.strides) if n != 1]
    return array.__array_interface__["data"][0], axes


def is_dense(array):
    """Return True if an array's numbers fill a part of memory without gaps or overlaps."""
    if array.flags.c_contiguous:
        return True
    length = array.itemsize
    for step, n in sorted(zip(array.strides, array.shape)):
        if n > 1 and step != length:
            return False
        length *= n
    return True


def overlaps_itself(array):
    """Return True for windows that share numbers: a step along an axis is within those along shorter ones."""
    length = 0
    for step, n in sorted(zip(array.strides, array.shape)):
        if n > 1 and 0 < step <= length:
            return True
        length += (n - 1) * step
    return False
