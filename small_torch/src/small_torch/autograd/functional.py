"""Matrices of derivatives, a row at a time."""

from ..absent import absent
from ..creation import zeros_like
from ..joining import stack
from ..tape import enable_grad
from .engine import grad

__getattr__ = absent("torch.autograd.functional")


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False):
    """∂ func(inputs) / ∂ inputs: of shape output's + input's; of several inputs or outputs a tuple (of tuples)."""
    single = not isinstance(inputs, tuple)
    given = (inputs,) if single else inputs
    with enable_grad():
        given = tuple(one if create_graph and one.requires_grad else one.detach().requires_grad_() for one in given)
        outputs = func(*given)
        one_output = not isinstance(outputs, tuple)
        found = []
        for output in (outputs,) if one_output else outputs:
            rows = []
            for one in output.reshape(-1):
                if one.requires_grad:
                    row = grad(one, given, retain_graph=True, create_graph=create_graph, allow_unused=True)
                else:
                    row = [None] * len(given)
                rows.append([zeros_like(x) if g is None else g for g, x in zip(row, given)])
            each = [stack(list(column)).reshape(output.shape + x.shape) for column, x in zip(zip(*rows), given)]
            found.append(each[0] if single else tuple(each))
    found = found if create_graph else [one.detach() if single else tuple(x.detach() for x in one) for one in found]
    return found[0] if one_output else tuple(found)


def hessian(func, inputs, create_graph=False):
    """The second derivatives of a function of one tensor with a single number as its value."""
    return jacobian(lambda x: jacobian(func, x, create_graph=True), inputs, create_graph=create_graph)
