"""Jacobian and Hessian matrices, computed row by row."""

from ..creation import zeros_like
from ..joining import stack
from ..messages import refuse
from ..tape import enable_grad
from ..tensor import Tensor
from .engine import grad


def as_tensors(tensors, kind):
    """Return a tensor or tuple of tensors as a tuple; raise torch's TypeError for anything else. kind: what it is."""
    if isinstance(tensors, Tensor):
        return (tensors,)
    wrong = not isinstance(tensors, tuple)
    text = "The {0} given to jacobian must be either a Tensor or a tuple of Tensors but the given {0} has type {1}."
    refuse(wrong, text, kind, type(tensors), kind=TypeError)
    return tensors


def derivatives(output, xs, create_graph, may_be_empty=False):
    """Return ∂ output / ∂ x for each x: (*output, *x). may_be_empty: whether torch takes an output without numbers."""
    rows = [gradients(y, xs, create_graph) for y in output.reshape(-1)]
    if not rows and may_be_empty:
        return [x.new_zeros(output.shape + x.shape) for x in xs]
    by_input = [stack([row[i] for row in rows]).reshape(output.shape + x.shape) for i, x in enumerate(xs)]
    return by_input if create_graph else [x.detach() for x in by_input]


def gradients(y, xs, create_graph):
    """Return the gradients of a number for some tensors, zeros where there is none."""
    if not y.requires_grad:
        return [zeros_like(x) for x in xs]
    return grad(y, xs, retain_graph=True, create_graph=create_graph, materialize_grads=True)


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False):
    """Return ∂ func(inputs) / ∂ inputs.

    Its shape is the output's followed by the input's; with several inputs or outputs it is a tuple (of tuples).
    """
    with enable_grad():
        xs = as_tensors(inputs, "inputs")
        xs = [x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in xs]
        returned = func(*xs)
        jacobians = []
        for number, output in enumerate(as_tensors(returned, "outputs of the user-provided function")):
            refuse(strict and not output.requires_grad, "strict jacobian", number)
            by_input = tuple(derivatives(output, xs, create_graph, vectorize))
            jacobians.append(by_input if isinstance(inputs, tuple) else by_input[0])
    return tuple(jacobians) if isinstance(returned, tuple) else jacobians[0]


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """Return the second derivatives of a function whose value is a single number: a tuple of tuples for a tuple."""

    def value(*xs):
        y = func(*xs)
        refuse(y.numel() != 1, "The Tensor returned by the function given to hessian should contain a single element")
        return y.reshape(())

    def first_derivatives(*xs):
        return jacobian(value, xs if isinstance(inputs, tuple) else xs[0], create_graph=True)

    return jacobian(first_derivatives, inputs, create_graph=create_graph)
