"""Jacobian and Hessian matrices, computed row by row."""

from ..creation import zeros_like
from ..joining import stack
from ..tape import enable_grad
from .engine import grad


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False):
    """Return ∂ func(inputs) / ∂ inputs.

    Its shape is the output's followed by the input's; with several inputs or outputs it is a tuple (of tuples).
    """
    single = not isinstance(inputs, tuple)
    xs = (inputs,) if single else inputs
    with enable_grad():
        xs = tuple(x if create_graph and x.requires_grad else x.detach().requires_grad_() for x in xs)
        outputs = func(*xs)
        single_output = not isinstance(outputs, tuple)
        jacobians = []
        for output in (outputs,) if single_output else outputs:
            rows = []
            for y in output.reshape(-1):
                if y.requires_grad:
                    row = grad(y, xs, retain_graph=True, create_graph=create_graph, allow_unused=True)
                else:
                    row = [None] * len(xs)
                rows.append([zeros_like(x) if g is None else g for g, x in zip(row, xs)])
            by_input = [stack(list(column)).reshape(output.shape + x.shape) for column, x in zip(zip(*rows), xs)]
            jacobians.append(by_input[0] if single else tuple(by_input))
    if not create_graph:
        jacobians = [J.detach() if single else tuple(part.detach() for part in J) for J in jacobians]
    return jacobians[0] if single_output else tuple(jacobians)


def hessian(func, inputs, create_graph=False):
    """Return the second derivatives of a function of one tensor whose value is a single number."""
    return jacobian(lambda x: jacobian(func, x, create_graph=True), inputs, create_graph=create_graph)
