"""Make elementwise operations from rows: a name, numpy's function, and a way back for each input.

A way back turns the gradient of the result, `g`, into the gradient of one input. The names of its other parameters say
what the backward pass needs: `a`, `b` and `c` are the inputs, `y` is the result. Only these are kept, and changing one
of them in place before the backward pass is an error. Complex numbers come as their conjugates.

The same ways run on arrays, which is fast, and on tensors, if the gradient is to be differentiated again. So they use
operators, and functions of this file that take both.
"""

import contextvars
import threading
from itertools import zip_longest

import numpy as np

from . import dtypes
from .arguments import Operand
from .memory import arrange, is_in_rows
from .messages import error
from .operands import broadcast_error, operands, refuse_type, refused_kinds
from .tape import FixedVersion, Node, anomalies, axes_to_sum, changed_error, check_nan, check_saved, recording
from .tensor import Tensor, record, wrap

PLACES = {"a": 0, "b": 1, "c": 2, "y": -1}  # of the tensors that a way back may name


class _Quiet(threading.local):
    """A context for each thread in which numpy does not warn: faster than `np.errstate`."""

    def __init__(self):
        context = contextvars.Context()
        context.run(np.seterr, all="ignore")
        self.run = context.run


quiet = _Quiet()


class Formula:
    """The title and the ways back of an operation.

    conjugate: whether ways get conjugates of complex numbers. on_arrays: whether the ways also work on arrays.
    """

    def __init__(self, title, *ways, conjugate=True, on_arrays=True):
        self.title, self.conjugate, self.on_arrays, self.ways = title, conjugate, on_arrays, []
        for way in ways:
            parameters = way.__code__.co_varnames[1 : way.__code__.co_argcount]
            self.ways.append((way, [PLACES[name] for name in parameters]))


class FormulaNode(Node):
    """A recorded operation with a formula. places: which inputs the saved tensors are, in order; −1 is the result.

    The node must not hold the result itself, which holds the node: neither would be freed.
    """

    def __init__(self, formula, inputs, out):
        super().__init__(formula.title, inputs, formula)
        self.places = []
        for edge, (_, places) in zip(self.edges, formula.ways):
            for place in places:
                if (edge is not None or place < 0) and place not in self.places:
                    self.places.append(place)
                    tensor = inputs[place] if place >= 0 else alias(out)
                    check_saved(tensor)
                    self.saved.append((tensor, tensor._changes[0]))

    def move_result(self, tensor):
        """Let the backward pass find the result in a tensor that has taken its numbers."""
        if -1 in self.places:
            self.saved[self.places.index(-1)] = alias(tensor), tensor._changes[0]

    def gradients(self, output_gradients):
        g, formula = output_gradients[0], self.rule
        if formula is None:
            raise error("freed")
        on_tensors = recording[0] or not formula.on_arrays
        values, gradients = {}, []
        for place, (tensor, version) in zip_longest(self.places, self.saved):
            if tensor._changes[0] != version:
                raise changed_error(tensor, version, self.title.replace(".", "") if place == -1 else None)
            if place is None:  # kept only to be checked
                continue
            value = tensor._array if not on_tensors else tensor if place >= 0 else self.result(tensor)
            values[place] = value.conj() if formula.conjugate and tensor._array.dtype.kind == "c" else value
        g = g if on_tensors else g._array
        for index, (way, places) in enumerate(formula.ways):
            gradient = None
            if self.edges[index] is not None:
                gradient = way(g, *[values[place] for place in places])
                gradient = gradient if on_tensors else wrap_fitted(gradient, *self.inputs[index])
                gradient = self.fit_gradient(index, gradient)
            gradients.append(gradient)
        if anomalies[0]:
            check_nan(self, gradients)
        return gradients

    def result(self, saved):
        """Return the result as a tensor with this node."""
        y = alias(saved)
        y._grad_fn, y._requires_grad = self, True
        return y


def alias(tensor):
    """Return a tensor with the same numbers and version."""
    out = wrap(tensor._array)
    out._changes = tensor._changes
    return out


def wrap_fitted(array, shape, dtype):
    """Return an array as a tensor of this type, summed over axes along which the shape was repeated."""
    if array.shape != shape:
        array = array.sum(axes_to_sum(array.shape, shape), keepdims=True).reshape(shape)
    if array.dtype != dtype:
        array = (array.real if dtype.kind == "f" else array).astype(dtype)
    return wrap(array)


def record_formula(formula, array, *inputs):
    """Return an operation's result as a tensor, with a node if an input requires a gradient."""
    out = wrap(array)
    if recording[0]:
        for tensor in inputs:
            if tensor._requires_grad:
                out._grad_fn, out._requires_grad = FormulaNode(formula, inputs, out), True
                break
    elif recording[0] is None:
        out._changes = FixedVersion([0])
    return out


def compute(function, *tensors):
    """Apply numpy's function to tensors; raise torch's error if their shapes do not broadcast."""
    arrays = [tensor._array for tensor in tensors]
    try:
        out = quiet.run(function, *arrays)
    except ValueError:
        raise broadcast_error(*tensors) from None
    first = arrays[0]
    if first.flags.c_contiguous or out.ndim < 2 or is_in_rows(first) and first.shape == out.shape:
        return out
    return arrange(out, *(np.broadcast_to(array, out.shape).strides for array in arrays))


def unary(name, function, way, *, convert=True, title=None, conjugate=True):
    """Make an operation of one tensor. convert: whether integers become floating-point numbers."""
    formula, refused = Formula(title or name.title(), way, conjugate=conjugate), refused_kinds(name)

    def operation(input):
        x = floating(input) if convert else input
        if x._array.dtype.kind in refused:
            refuse_type(name, x)
        array = quiet.run(function, x._array)
        if 0 in x._array.strides and array.ndim > 1:  # numpy takes the axis of repeated numbers for the innermost
            array = arrange(array, x._array.strides)
        return record_formula(formula, array, x)

    operation.function = function
    return set_name(name, operation)


def binary(name, function, *ways, convert=False, title=None, numbers=True, on_complex=None):
    """Make an operation of two tensors, or of a tensor and a number (unless not `numbers`).

    on_complex: the function of complex numbers, if it is another one.
    """
    formula, refused = Formula(title or name.title(), *ways), refused_kinds(name)

    def operation(input, other):
        if not numbers and not isinstance(other, Tensor):
            raise TypeError("two tensors are needed")
        a, b = operands(input, other)
        kind = a._array.dtype.kind
        if convert and kind not in "fc":
            a, b = floating(a), floating(b)
        if kind in refused:
            refuse_type(name, a, b)
        if kind == "c":
            return record_formula(formula, compute(on_complex or function, a, b), a, b)
        if kind != "f" or a._array.itemsize > 2 or name == "remainder":
            return record_formula(formula, compute(function, a, b), a, b)
        # float16: a number, or a second tensor without axes, may be too large for the type
        a = a if isinstance(input, Tensor) or name == "floor_divide" else wrap(np.asarray(input, np.float32))
        if not isinstance(other, Tensor) or not (other.ndim or other._requires_grad):
            b = wrap(np.asarray(getattr(other, "_array", other), np.float32))
        return record_formula(formula, quiet.run(compute(function, a, b).astype, np.float16), a, b)

    operation.__annotations__["other"] = Operand if numbers else Tensor
    operation.function = function
    return set_name(name, operation)


def set_name(name, operation):
    """Set the name of an operation that a function has made."""
    operation.__name__ = operation.__qualname__ = name
    return operation


def floating(x):
    """Return a tensor in a floating-point or complex type."""
    return x if x._array.dtype.kind in "fc" else x.to(dtypes.default[0])


# For arrays and tensors


def apply(operation, *values):
    """Apply an operation to tensors, or its numpy function to arrays."""
    return (operation if isinstance(values[0], Tensor) else operation.function)(*values)


def zeros(g):
    """Return zeros in the shape of a gradient."""
    return Tensor(np.zeros_like(g._array)) if isinstance(g, Tensor) else np.zeros_like(g)


def masked(g, mask):
    """Return a gradient with zeros where the mask is set, also in place of infinities and NaN."""
    mask = getattr(mask, "_array", mask)
    if not isinstance(g, Tensor):
        return np.where(mask, g.dtype.type(0), g)
    return record(np.where(mask, g._array.dtype.type(0), g._array), "MaskedFill", (g,), lambda h: masked(h, mask))
