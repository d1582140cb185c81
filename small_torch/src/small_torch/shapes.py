"""The same numbers in another shape or order: views, indexing, joining and taking apart."""

import builtins
import functools
import math
import operator

import numpy as np

from . import dtypes
from .autograd import record, record_many, titled
from .pointwise import fails, fit
from .tensor import Tensor, axis, broadcast_error, view_of


def dims(given):
    """Numbers as torch takes them: `f(2, 3)`, `f((2, 3))`, `f(torch.Size([2, 3]))`."""
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        given = given[0]
    try:
        return tuple(map(operator.index, given))
    except (TypeError, ValueError, RuntimeError):  # a float, or a tensor of several numbers
        kinds = ", ".join(type(one).__name__ for one in given)
        raise TypeError(f"argument 'size' (position 1) must be tuple of ints, not ({kinds})") from None


def full_shape(shape, array, function="view"):
    """A shape without −1."""
    if shape.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    known = math.prod([one for one in shape if one != -1])
    wrong = RuntimeError(f"shape '{list(shape)}' is invalid for input of size {array.size}")
    if -1 in shape:
        if known == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension size"
                " -1 can be any value and is ambiguous"
            )
        if array.size % known:
            raise wrong
        shape = tuple(array.size // known if one == -1 else one for one in shape)
    elif known != array.size:
        raise wrong
    return shape


def as_view(array, shape):
    """The numpy view of another shape, or None if there is none."""
    out = array.reshape(shape)
    return out if not array.size or np.may_share_memory(out, array) else None


def view(input, *shape, dtype=None):
    """The same numbers in another shape; RuntimeError where they would have to be copied."""
    if len(shape) == 1 and isinstance(shape[0], dtypes.dtype):
        return Tensor(input._array.view(shape[0].np))
    shape = full_shape(dims(shape), input._array)
    out = as_view(input._array, shape)
    if out is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two"
            " contiguous subspaces). Use .reshape(...) instead."
        )
    return reshaped(input, out, shape, "View")


def reshape(input, *shape):
    """The same numbers in another shape: a view where that can be."""
    shape = full_shape(dims(shape), input._array)
    out = input._array.reshape(shape)
    if not input._array.size or np.may_share_memory(out, input._array):
        return reshaped(input, out, shape, "View")
    before = input._array.shape
    return record(out, "UnsafeView", (input,), lambda g: reshape(g, before))


def reshaped(input, array, shape, name):
    before = input._array.shape
    return view_of(input, array, name, lambda g: reshape(g, before), lambda base: reshape(base, shape))


def view_as(input, other):
    return view(input, other.shape)


def flatten(input, start_dim=0, end_dim=-1):
    """The axes from start_dim to end_dim as one."""
    if not input.ndim:
        return reshape(input, 1)
    first, last = axis(start_dim, input.ndim), axis(end_dim, input.ndim)
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    shape = input._array.shape
    if first == last:
        return input
    return reshape(input, *shape[:first], int(np.prod(shape[first : last + 1], dtype=np.int64)), *shape[last + 1 :])


def ravel(input):
    return reshape(input, -1)


def unflatten(input, dim, sizes):
    """One axis as several."""
    dim, shape = axis(dim, input.ndim), input._array.shape
    sizes = tuple(sizes)
    known = int(np.prod([one for one in sizes if one != -1], dtype=np.int64))
    if -1 in sizes and known and shape[dim] % known == 0:
        sizes = tuple(shape[dim] // known if one == -1 else one for one in sizes)
    if int(np.prod(sizes, dtype=np.int64)) != shape[dim]:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({shape[dim]}) in the"
            " input tensor"
        )
    return view(input, *shape[:dim], *sizes, *shape[dim + 1 :])


def transpose(input, dim0, dim1):
    """Two axes exchanged."""
    dim0, dim1 = axis(dim0, input.ndim), axis(dim1, input.ndim)
    if not input.ndim:
        return view_of(input, input._array[...], "Transpose", lambda g: g, lambda base: base)
    return view_of(
        input, np.swapaxes(input._array, dim0, dim1), "Transpose",
        lambda g: transpose(g, dim0, dim1), lambda base: transpose(base, dim0, dim1),
    )  # fmt: skip


swapaxes = transpose


def t(input):
    """A matrix transposed."""
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    if input.ndim < 2:
        return view_of(input, input._array[...], "T", lambda g: g, lambda base: base[...])
    return view_of(input, input._array.T, "T", t, t)


def permute(input, *dims_):
    """The axes in another order."""
    order = dims(dims_)
    order = tuple(axis(one, input.ndim) for one in order) if len(order) == input.ndim else order
    if sorted(order) != list(range(input.ndim)):
        if len(set(order)) < len(order) == input.ndim:
            raise RuntimeError("permute(): duplicate dims are not allowed.")
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired"
            f" ordering of dimensions i.e. input.dim() = {input.ndim} is not equal to len(dims) = {len(order)}"
        )
    back = tuple(int(one) for one in np.argsort(order))
    return view_of(
        input, input._array.transpose(order), "Permute", lambda g: permute(g, back), lambda base: permute(base, order)
    )


def movedim(input, source, destination):
    """Some axes at other places."""
    source = [source] if isinstance(source, int) else list(source)
    destination = [destination] if isinstance(destination, int) else list(destination)
    source = [axis(one, input.ndim) for one in source]
    destination = [axis(one, input.ndim) for one in destination]
    rest = iter(one for one in range(input.ndim) if one not in source)
    return permute(input, [source[destination.index(i)] if i in destination else next(rest) for i in range(input.ndim)])


def squeeze(input, dim=None):
    """Without axes of length 1: all such, or those named."""
    shape = input._array.shape
    wanted = (
        range(input.ndim)
        if dim is None
        else [axis(one, input.ndim) for one in ((dim,) if isinstance(dim, int) else dim)]
    )
    kept = tuple(n for i, n in enumerate(shape) if not (i in wanted and n == 1))
    return view_of(
        input,
        input._array.reshape(kept),
        f"Squeeze.{0 if dim is None else 1 if isinstance(dim, int) else 2}",
        lambda g: reshape(g, shape),
        lambda base: squeeze(base, dim),
    )


def unsqueeze(input, dim):
    """With an axis of length 1 more."""
    dim = axis(dim, input.ndim + 1)
    return view_of(
        input,
        np.expand_dims(input._array, dim),
        "Unsqueeze",
        lambda g: squeeze(g, dim),
        lambda base: unsqueeze(base, dim),
    )


def expand(input, *sizes):
    """Axes of length 1 repeated, without a copy."""
    before, sizes = input._array.shape, dims(sizes)
    front = len(sizes) - len(before)
    if front < 0:
        raise RuntimeError(
            f"expand(torch.{input.dtype.title}Tensor{{{list(before)}}}, size={list(sizes)}): the number of sizes"
            f" provided ({len(sizes)}) must be greater or equal to the number of dimensions in the tensor"
            f" ({len(before)})"
        )
    shape = tuple(before[i - front] if one == -1 else one for i, one in enumerate(sizes))
    for i, (old, new) in enumerate(zip(before, shape[front:])):
        if old not in (1, new):
            raise RuntimeError(
                f"The expanded size of the tensor ({new}) must match the existing size ({old}) at non-singleton"
                f" dimension {i + front}.  Target sizes: {list(shape)}.  Tensor sizes: {list(before)}"
            )
    array = np.broadcast_to(input._array, shape)
    array.flags.writeable = input._array.flags.writeable
    return view_of(input, array, "Expand", lambda g: fit(g, before), lambda base: expand(base, shape))


def expand_as(input, other):
    return expand(input, other.shape)


def broadcast_to(input, size):
    return expand(input, size)


def broadcast_tensors(*tensors):
    try:
        shape = np.broadcast_shapes(*(one._array.shape for one in tensors))
    except ValueError:
        raise broadcast_error(*next((a, b) for a in tensors for b in tensors if fails(a, b))) from None
    return tuple(expand(one, shape) for one in tensors)


def repeat(input, *sizes):
    """Copies side by side, so many along each axis."""
    sizes = dims(sizes)
    if len(sizes) < input.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    shape = (1,) * (len(sizes) - input.ndim) + input._array.shape

    def rule(g):
        parted = reshape(g, *(one for pair in zip(sizes, shape) for one in pair))
        return reshape(parted.sum(tuple(range(0, 2 * len(sizes), 2))) if sizes else parted, input._array.shape)

    return record(np.tile(input._array, sizes), "Repeat", (input,), rule)


def repeat_interleave(input, repeats, dim=None):
    """Each element repeated, where it stands."""
    if dim is None:
        input, dim = flatten(input), 0
    times, n = repeats._array.astype(np.intp) if isinstance(repeats, Tensor) else repeats, input._array.shape[dim]
    if np.size(times) not in (1, n):
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {np.size(times)} and"
            f" input.size({dim}) = {n}"
        )
    index = np.repeat(np.arange(n), times)
    out = index_select(input, dim, Tensor(index))
    return out if isinstance(repeats, Tensor) else titled(out, "View")


def tile(input, *sizes):
    sizes = dims(sizes)
    return repeat(input, (1,) * (input.ndim - len(sizes)) + sizes)


def contiguous(input, memory_format=None):
    """In the order in which it would be written down: a copy, if need be."""
    return input if input._array.flags.c_contiguous else clone(input, memory_format="contiguous")


def clone(input, *, memory_format=None):
    """A copy, through which gradients flow."""
    array = input._array.copy(order="K" if memory_format is None else "C")
    if 0 in input._array.strides and input._array.size > 1 and memory_format is None:
        array = np.ascontiguousarray(array)
    out = record(array, "Clone", (input,), lambda g: g)
    out.device = input.device
    return out


def alias(input):
    return view_of(input, input._array[...], "Alias", lambda g: g, alias)


def diagonal(input, offset=0, dim1=0, dim2=1):
    """The diagonals of matrices, as the last axis."""
    shape = input._array.shape
    array = np.diagonal(input._array, offset, dim1, dim2)
    array.flags.writeable = input._array.flags.writeable

    def rule(g):
        out = np.zeros(shape, g._array.dtype)
        place = np.diagonal(out, offset, dim1, dim2)
        place.flags.writeable = True
        place[...] = g._array
        return record(out, "Diag", (g,), lambda h: diagonal(h, offset, dim1, dim2))

    return view_of(input, array, "Diagonal", rule, lambda base: diagonal(base, offset, dim1, dim2))


def diag(input, diagonal_=0):
    """A matrix's diagonal; or the matrix with this diagonal."""
    if input.ndim == 2:
        return diagonal(input, diagonal_)
    return diag_embed(input, diagonal_)


def diag_embed(input, offset=0):
    n = input._array.shape[-1] + builtins.abs(offset)
    out = np.zeros((*input._array.shape[:-1], n, n), input._array.dtype)
    place = np.diagonal(out, offset, -2, -1)
    place.flags.writeable = True
    place[...] = input._array
    return record(out, "DiagEmbed", (input,), lambda g: diagonal(g, offset, -2, -1))


def unfold(input, dimension, size, step):
    """All windows of one axis, as a last axis."""
    dim, shape = axis(dimension, input.ndim), input._array.shape
    if size > (shape[dim] if shape else 1):
        raise RuntimeError(f"maximum size for tensor at dimension {dim} is {shape[dim]} but size is {size}")
    windows = np.lib.stride_tricks.sliding_window_view(input._array, size, dim, writeable=True)
    array = windows[(slice(None),) * dim + (slice(None, None, step),)]

    def rule(g):
        out = Tensor(np.zeros(shape, g._array.dtype))
        place = np.moveaxis(out._array, dim, 0)
        starts = np.arange(array.shape[dim]) * step
        rows = np.moveaxis(g._array, dim, 0)
        for offset in range(size):
            np.add.at(place, starts + offset, rows[..., offset])
        return record(out._array, "UnfoldBackward", (g,), lambda h: unfold(h, dim, size, step))

    return view_of(input, array, "Unfold", rule, lambda base: unfold(base, dimension, size, step))


# Taking apart and joining


def has_axes(input, otherwise):
    if not input.ndim:
        raise RuntimeError(otherwise)


def select(input, dim, index):
    """What stands at one place of an axis."""
    return getitem(input, (slice(None),) * axis(dim, input.ndim) + (int(index),))


def narrow(input, dim, start, length):
    """A piece of an axis."""
    has_axes(input, "narrow() cannot be applied to a 0-dim tensor.")
    dim = axis(dim, input.ndim)
    n = input._array.shape[dim]
    if not -n <= start <= n:
        raise IndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got {int(start)})")
    start = int(start) if start >= 0 else n + int(start)
    if start + length > n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return getitem(input, (slice(None),) * dim + (slice(start, start + int(length)),))


def unbind(input, dim=0):
    """All that stands along an axis, one by one."""
    dim = axis(dim, input.ndim)
    index = (slice(None),) * dim
    return several(input, [(*index, i) for i in range(input._array.shape[dim])], "Unbind", lambda gs: stack(gs, dim))


def split(input, split_size_or_sections, dim=0):
    """An axis in pieces: of one length, the last one maybe shorter, or of the lengths given."""
    has_axes(input, "split expects at least a 1-dimensional tensor")
    dim = axis(dim, input.ndim)
    n, sizes = input._array.shape[dim], split_size_or_sections
    equal = isinstance(sizes, (int, np.integer))
    if equal:
        sizes = [builtins.min(sizes, n - at) for at in range(0, builtins.max(n, 1), builtins.max(sizes, 1))]
    elif sum(sizes) != n:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at dimension {dim}), but"
            f" got split_sizes={list(sizes)}"
        )
    ends = np.cumsum(sizes).tolist()
    pieces = [(slice(None),) * dim + (slice(end - size, end),) for size, end in zip(sizes, ends)]
    return several(input, pieces, "Split" if equal else "SplitWithSizes", lambda gs: cat(gs, dim))


def several(input, indices, name, rule):
    """Several views at once. Their gradients come back together."""
    arrays = [input._array[(*index, Ellipsis)] for index in indices]
    outs = record_many(arrays, name, (input,), lambda *gs: rule(list(gs))) if arrays else []
    for out, index in zip(outs, indices):
        out._version, out._base, out._seen = input._version, input, input._version[0]
        out._replay = lambda base, index=index: getitem(base, index)
    return tuple(outs)


def chunk(input, chunks, dim=0):
    """An axis in so many pieces."""
    has_axes(input, "chunk expects at least a 1-dimensional tensor")
    n = input._array.shape[axis(dim, input.ndim)]
    return split(input, -(-n // chunks) or [0] * chunks, dim)


def common(tensors):
    dtype = tensors[0].dtype
    if all(one._array.dtype == tensors[0]._array.dtype for one in tensors):
        return list(tensors)
    for one in tensors:
        dtype = dtypes.promoted(dtype, one.dtype)
    return [one.to(dtype) for one in tensors]


def several_of(tensors, name):
    """A list of them, not a tensor of which one would take the rows."""
    if isinstance(tensors, Tensor):
        raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor")
    return list(tensors)


def cat(tensors, dim=0):
    """Tensors one after the other along an axis that they have."""
    tensors = several_of(tensors, "cat")
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    if any(not isinstance(one, Tensor) for one in tensors):
        number, wrong = next((i, one) for i, one in enumerate(tensors) if not isinstance(one, Tensor))
        raise TypeError(f"expected Tensor as element {number} in argument 0, but got {type(wrong).__name__}")
    if any(not one.ndim for one in tensors):
        number = next(i for i, one in enumerate(tensors) if not one.ndim)
        raise RuntimeError(f"zero-dimensional tensor (at position {number}) cannot be concatenated")
    tensors = common(tensors)
    given = [one for one in tensors if one._array.shape != (0,)] or tensors[:1]
    at = axis(dim, given[0].ndim)
    for number, one in enumerate(given):
        if one.ndim != given[0].ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {given[0].ndim} and {one.ndim}")
        for i, (a, b) in enumerate(zip(given[0]._array.shape, one._array.shape)):
            if i != at and a != b:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {at}. Expected size {a} but got size {b} for"
                    f" tensor number {number} in the list."
                )
    sizes = [one._array.shape[at] for one in given]
    return record(
        np.concatenate([one._array for one in given], at),
        "Cat",
        given,
        lambda g: split(g, sizes, at) if len(sizes) > 1 else (g,),
    )


concat = concatenate = cat


def stack(tensors, dim=0):
    """Tensors of one shape along a new axis."""
    tensors = several_of(tensors, "stack")
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    for number, one in enumerate(tensors):
        if not isinstance(one, Tensor):
            raise TypeError(f"expected Tensor as element {number} in argument 0, but got {type(one).__name__}")
        if one._array.shape != tensors[0]._array.shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry 0 and"
                f" {list(one.shape)} at entry {number}"
            )
    tensors = common(tensors)
    at = axis(dim, tensors[0].ndim + 1)
    return record(np.stack([one._array for one in tensors], at), "Stack", tensors, lambda g: unbind(g, at))


def hstack(tensors):
    tensors = [one if one.ndim else one.reshape(1) for one in tensors]
    return cat(tensors, 0 if tensors[0].ndim == 1 else 1)


def vstack(tensors):
    return cat([one if one.ndim > 1 else one.reshape(1, -1) for one in tensors], 0)


def flip(input, *dims_):
    """Axes read backwards: a copy."""
    axes = tuple(axis(one, input.ndim) for one in dims(dims_))
    return record(np.flip(input._array, axes if input.ndim else ()).copy(), "Flip", (input,), lambda g: flip(g, axes))


def roll(input, shifts, dims=None):
    """Axes turned round."""
    if dims is not None:
        dims = [axis(one, input.ndim) for one in (dims if isinstance(dims, (tuple, list)) else (dims,))]
    back = tuple(-one for one in shifts) if isinstance(shifts, (tuple, list)) else -shifts
    return record(np.roll(input._array, shifts, dims), "Roll", (input,), lambda g: roll(g, back, dims))


def triangle(name, function, input, diagonal):
    if input.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")

    def rule(g):
        return triangle(name, function, g, diagonal)

    return record(function(input._array, diagonal), name.title(), (input,), rule)


def tril(input, diagonal=0):
    """The lower triangle, zeros above."""
    return triangle("tril", np.tril, input, diagonal)


def triu(input, diagonal=0):
    """The upper triangle, zeros below."""
    return triangle("triu", np.triu, input, diagonal)


# Indexing


def plain_index(index, shape):
    """An index as numpy wants it: tensors as arrays, checked as torch checks them."""
    index = index if isinstance(index, tuple) else (index,)
    found, place = [], 0
    used = sum(
        one.ndim if isinstance(one, Tensor) and one._array.dtype == bool else one is not None and one is not Ellipsis
        for one in index
    )
    if used > len(shape):
        raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
    for one in index:
        if one is Ellipsis:
            place += len(shape) - used
            found.append(one)
            continue
        if one is None or isinstance(one, (bool, np.bool_)):
            found.append(one)
            continue
        if isinstance(one, Tensor):
            one = one._array
            if one.dtype.kind in "fc":
                raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
            one = one.copy() if one.dtype == bool else one  # the mask may be changed before the way back
        elif isinstance(one, (list, range, np.ndarray)):
            one = np.asarray(one) if len(one) else np.zeros(0, np.int64)
        if isinstance(one, np.ndarray) and one.dtype == bool:
            for at, n in enumerate(one.shape):
                if n != shape[place + at]:
                    raise IndexError(
                        f"The shape of the mask {list(one.shape)} at index {at} does not match the shape of the indexed"
                        f" tensor {list(shape)} at index {place + at}"
                    )
            found.append(one)
            place += one.ndim
            continue
        n = shape[place]
        if isinstance(one, slice):
            if one.step is not None and one.step <= 0:
                raise ValueError("step must be greater than zero")
            for part in (one.start, one.stop, one.step):
                if part is not None and not hasattr(part, "__index__"):
                    raise TypeError("slice indices must be integers or None or have an __index__ method")
            one = slice(*(None if part is None else int(part) for part in (one.start, one.stop, one.step)))
        elif isinstance(one, np.ndarray) and one.ndim:
            if one.size and (one.min() < -n or one.max() >= n):
                wrong = one[(one < -n) | (one >= n)].flat[0]
                raise IndexError(f"index {wrong} is out of bounds for dimension {place} with size {n}")
        else:
            tensor = isinstance(one, np.ndarray)
            if isinstance(one, str):
                raise TypeError("new(): invalid data type 'str'")
            if not tensor and not hasattr(one, "__index__"):
                raise (IndexError if isinstance(one, float) else TypeError)(
                    "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices"
                    f" (got {type(one).__name__})"
                )
            one = int(one)
            if not -n <= one < n:
                raise IndexError(f"index {one} is out of bounds for dimension {place} with size {n}")
            if tensor:
                one = np.asarray(one)
        found.append(one)
        place += 1
    return tuple(found)


def getitem(input, index):
    """What stands at an index: a view, unless the index has tensors or lists."""
    shape = input._array.shape
    plain = plain_index(index, shape)
    advanced = any(
        isinstance(one, np.ndarray) and (one.ndim or one.dtype == bool) or isinstance(one, (bool, np.bool_))
        for one in plain
    )
    if advanced:
        array = input._array[plain]
        return record(array, "Index", (input,), lambda g: put_sum(g, shape, plain), numbers_of(index))
    plain = tuple(int(one) if isinstance(one, np.ndarray) else one for one in plain)
    array = input._array[plain if Ellipsis in plain else (*plain, Ellipsis)]
    return view_of(
        input, array, title_of(plain, shape),
        lambda g: put_view(g, shape, plain), lambda base: getitem(base, plain),
    )  # fmt: skip


def title_of(index, shape):
    """What torch calls the last of the steps in which it takes an index."""
    title, place = "Alias", 0
    for one in index:
        if one is Ellipsis:
            place += len(shape) - sum(other is not None for other in index) + 1
            continue
        if one is None:
            title = "Unsqueeze"
            continue
        if isinstance(one, int):
            title = "Select"
        elif len(range(*one.indices(shape[place]))) < shape[place]:
            title = "Slice"
        place += 1
    return title


def numbers_of(index):
    """The tensors of an index that the way back needs unchanged."""
    return [
        one
        for one in (index if isinstance(index, tuple) else (index,))
        if isinstance(one, Tensor) and one._array.dtype != bool
    ]


def put_view(g, shape, index):
    """Zeros, with g at the index."""
    out = np.zeros(shape, g._array.dtype)
    out[index] = g._array
    return record(out, "SliceBackward", (g,), lambda h: getitem(h, index))


def put_sum(g, shape, index):
    """Zeros, to which g is added at the index: what is named twice gets both."""
    out = np.zeros(shape, g._array.dtype)
    if len(index) == 1 and index[0].dtype != bool:
        add_rows(out, index[0], g._array)
    else:
        np.add.at(out, index, g._array)
    return record(out, "IndexBackward", (g,), lambda h: Tensor.__getitem__(h, tuple(
        Tensor(one) if isinstance(one, np.ndarray) else one for one in index
    )))  # fmt: skip


def add_rows(out, index, rows):
    """Add each row at its place along the first axis, in their order. Sorted, all rows of a place are summed at
    once."""
    index = np.where(index < 0, index + len(out), index).reshape(-1)
    if not index.size:
        return
    rows = rows.reshape(len(index), -1)
    if not len(index) or not rows.shape[1]:
        return
    order = np.argsort(index, kind="stable")
    places, begins = np.unique(index[order], return_index=True)
    out.reshape(len(out), -1)[places] += np.add.reduceat(rows[order], begins, axis=0)


def put(array, index, value, accumulate=False):
    try:
        if accumulate:
            np.add.at(array, index, value._array)
        else:
            array[index] = value._array
    except ValueError:
        there = array[index].shape
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(value.shape)} cannot be broadcast to indexing result of shape"
            f" {list(there)}"
            if any(isinstance(one, np.ndarray) for one in index)
            else (
                f"The expanded size of the tensor ({there[-1] if there else 1}) must match the existing size"
                f" ({value.shape[-1] if value.ndim else 1}) at non-singleton dimension"
                f" {builtins.max(len(there) - 1, 0)}.  Target sizes: {list(there)}.  Tensor sizes: {list(value.shape)}"
            )
        ) from None


def index_put(input, indices, values, accumulate=False):
    """A copy with other values at an index."""
    plain = plain_index(indices, input._array.shape)
    array = input._array.copy()
    put(array, plain, values, accumulate)
    again = tuple(Tensor(one) if isinstance(one, np.ndarray) else one for one in plain)
    value_shape = values._array.shape

    def rule(g):
        kept = g
        if not accumulate:
            hole = np.ones(array.shape, g._array.dtype)
            hole[plain] = 0
            kept = g * Tensor(hole)
        at = getitem(g, again)
        while at.ndim < len(value_shape):
            at = unsqueeze(at, 0)
        return kept, fit(at, value_shape)

    return record(array, "IndexPut", (input, values), rule, numbers_of(indices))


def index_select(input, dim, index):
    """Rows (or whatever stands along an axis) by number."""
    dim = axis(dim, input.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    n = input._array.shape[dim]
    if index.numel() and (index._array.max() >= n or index._array.min() < 0):
        raise IndexError("index out of range in self")
    return titled(getitem(input, (slice(None),) * dim + (index.reshape(-1),)), "IndexSelect")


def index_add(input, dim, index, source, *, alpha=1):
    """A copy to which rows are added by number."""
    dim = axis(dim, input.ndim)
    if index.ndim > 1:
        raise IndexError(
            f"index_add_(): Index is supposed to be a vector, but got dim: {index.ndim} with type: {index.dtype.title}"
            f" and size: {list(index.shape)}"
        )
    if source.ndim and index.numel() != source._array.shape[dim]:
        raise RuntimeError(
            f"index_add_(): Number of indices ({index.numel()}) should be equal to source.size(dim): "
            f"({source._array.shape[dim]}), for dim: {dim}"
        )
    if source.dtype is not input.dtype:
        raise RuntimeError(
            f"index_add_(): self ({input.dtype.title}) and source ({source.dtype.title}) must have the same scalar type"
        )
    if source.ndim != input.ndim or slices(input, dim) != slices(source, dim):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(input.shape)} source.shape = {list(source.shape)}"
        )
    if index.numel() and (index._array.max() >= input._array.shape[dim] or index._array.min() < 0):
        raise IndexError("index out of range in self")
    array = input._array.copy()
    np.add.at(
        np.moveaxis(array, dim, 0),
        index._array,
        np.moveaxis(source._array, dim, 0) * np.asarray(alpha, source._array.dtype),
    )
    return record(array, "IndexAdd", (input, source), lambda g: (g, index_select(g, dim, index) * alpha), [index])


def slices(input, dim):
    """The shape of what stands at one place of an axis."""
    return [*input.shape[:dim], *input.shape[dim + 1 :]]


def index_copy(input, dim, index, source):
    """A copy in which rows are replaced by number."""
    dim = axis(dim, input.ndim)
    if source.ndim and input.ndim and source.ndim != input.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source"
            f" dimensionality ({source.ndim}), destination dimensionality ({input.ndim})"
        )
    if source.ndim and slices(input, dim) != slices(source, dim):
        there, here = (" ".join(map(str, slices(one, dim))) for one in (input, source))
        raise RuntimeError(
            f"index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: {there} at"
            f" dimension {dim} and source slice shape: {here} at dimension 0."
        )
    if source.ndim and index.numel() != source._array.shape[dim]:
        raise IndexError(
            f"index_copy_(): Number of indices ({index.numel()}) should be equal to source.size(dim) "
            f"({source._array.shape[dim]})"
        )
    return titled(index_put(input, (slice(None),) * dim + (index,), source), "IndexCopy")


def index_fill(input, dim, index, value):
    dim = axis(dim, input.ndim)
    return titled(
        index_put(input, (slice(None),) * dim + (index,), Tensor(np.asarray(value, input._array.dtype))), "IndexFill"
    )


def of_rows(operation):
    """An operation for which single numbers are rows of one, whether they are changed, or indices, or sent there."""

    def row(one):
        return reshape(one, 1) if isinstance(one, Tensor) and not one.ndim else one

    @functools.wraps(operation)
    def call(input, *given, **named):
        out = operation(row(input), *map(row, given), **{name: row(one) for name, one in named.items()})
        if input.ndim:
            return out
        return reshape(out, ()) if isinstance(out, Tensor) else type(out)(*(reshape(one, ()) for one in out))

    return call


def along(index, dim):
    grid = list(np.indices(index._array.shape, sparse=True))
    grid[dim] = index._array
    return tuple(grid)


def checked(name, input, dim, index, src=None):
    """The axis of an operation that takes numbers by index along it; negative indices are refused, as by torch."""
    dim = axis(dim, input.ndim)
    if index.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    if not index.numel():
        return dim
    if (index.ndim or 1) != (input.ndim or 1):
        raise RuntimeError(
            f"Index tensor must have the same number of dimensions as {'input' if name == 'gather' else 'self'} tensor"
        )
    if isinstance(src, Tensor):
        if src.dtype is not input.dtype:
            raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")
        if (index.ndim or 1) != (src.ndim or 1):
            raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    a, b, c = (list(one.shape) for one in (index, input, index if not isinstance(src, Tensor) else src))
    if any(m > n for at, (m, n) in enumerate(zip(a, b)) if at != dim) or any(m > n for m, n in zip(a, c)):
        raise RuntimeError(
            f"Size does not match at dimension {next(at for at, (m, n) in enumerate(zip(a, b)) if at != dim and m > n)}"
            f" expected index {a} to be no larger than self {b} apart from dimension {dim}"
            if name == "gather"
            else f"Expected index {a} to be no larger than self {b} apart from dimension {dim}"
            + (f" and to be no larger size than src {c}" if isinstance(src, Tensor) else "")
        )
    n = input._array.shape[dim] if input.ndim else 1
    if index._array.max() >= n or index._array.min() < 0:
        wrong = index._array[(index._array >= n) | (index._array < 0)].flat[0]
        raise RuntimeError(f"index {wrong} is out of bounds for dimension {dim} with size {n}")
    return dim


def gather(input, dim, index):
    """out[i][j] = input[index[i][j]][j] (for dim 0), and so on."""
    dim = checked("gather", input, dim, index)
    shape = input._array.shape
    if not shape or not index.ndim or not index.numel():
        return titled(reshape(getitem(reshape(input, -1), reshape(index, -1)), index.shape), "Gather")
    return record(
        input._array[along(index, dim)], "Gather", (input,),
        lambda g: scatter_add(Tensor(np.zeros(shape, g._array.dtype)), dim, index, g), [index],
    )  # fmt: skip


@of_rows
def scatter(input, dim, index, src=None, *, value=None, reduce=None):
    """The opposite of gather: a copy in which src's numbers stand where the index says."""
    src = value if src is None else src
    dim = checked("scatter", input, dim, index, src)
    given = isinstance(src, Tensor)
    if not given:
        src = Tensor(np.full(index._array.shape, src, input._array.dtype))
    if reduce is not None:
        raise NotImplementedError("the small torch of the pages has no scatter with reduce")
    array = input._array.copy()
    src_here = src._array[tuple(slice(n) for n in index._array.shape)]
    place = along(index, dim)
    array[place] = src_here

    def rule(g):
        hole = np.ones(array.shape, g._array.dtype)
        hole[place] = 0
        return g * Tensor(hole), gather(g, dim, index)

    return record(array, "Scatter" if given else "Scatter.1", (input, src), rule, [index])


@of_rows
def scatter_add(input, dim, index, src):
    """A copy to which src's numbers are added where the index says."""
    dim = checked("scatter", input, dim, index, src)
    array = input._array.copy()
    np.add.at(array, along(index, dim), src._array[tuple(slice(n) for n in index._array.shape)])
    return record(array, "ScatterAdd", (input, src), lambda g: (g, gather(g, dim, index)), [index])


def masked_select(input, mask):
    out = getitem(broadcast_tensors(input, mask)[0], mask.expand(np.broadcast_shapes(input.shape, mask.shape)))
    return titled(out, "MaskedSelect")


def nonzero(input, *, as_tuple=False):
    """The indices of what is not zero, a row each."""
    if as_tuple:
        return tuple(Tensor(one) for one in np.nonzero(np.atleast_1d(input._array)))
    return Tensor(np.argwhere(input._array))


def numel(input):
    return input._array.size
