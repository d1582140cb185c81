"""Jacobian and Hessian matrices, computed row by row."""

from ..creation import zeros_like
from ..joining import stack
from ..messages import refuse
from ..tape import enable_grad
from ..tensor import Tensor
from .engine import grad


def check_tensors(tensors, kind, function):
    """Return a tensor or tuple of tensors as a tuple; raise torch's TypeError for anything else."""
    if isinstance(tensors, Tensor):
        return (tensors,)
    if not isinstance(tensors, tuple):
        given = "given inputs" if kind == "inputs" else "given outputs of the user-provided function"
        raise TypeError(
            f"The {kind if kind == 'inputs' else 'outputs of the user-provided function'} given to {function} must be"
            f" either a Tensor or a tuple of Tensors but the {given} has type {type(tensors)}."
        )
    return tensors


def run(func, inputs, create_graph, function):
    """Return new leaves in place of the inputs, and what the function makes of them: two tuples.

    With create_graph, inputs with a graph keep it.
    """
    xs = check_tensors(inputs, "inputs", function)
    xs = tuple(x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in xs)
    return xs, func(*xs)


def gradients(outputs, xs, vectors, create_graph):
    """Return the gradients for the inputs, zeros where there is none."""
    if not any(y.requires_grad for y in outputs):
        return tuple(zeros_like(x) for x in xs)
    return grad(outputs, xs, vectors, retain_graph=True, create_graph=create_graph, materialize_grads=True)


def detached(tensors, create_graph, like):
    """Return a tuple of tensors without a graph (with create_graph: as they are), or one if `like` is one."""
    tensors = tuple(tensors) if create_graph else tuple(x.detach() for x in tensors)
    return tensors if isinstance(like, tuple) else tensors[0]


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False):
    """Return ∂ func(inputs) / ∂ inputs.

    Its shape is the output's followed by the input's; with several inputs or outputs it is a tuple (of tuples).
    """
    with enable_grad():
        xs, returned = run(func, inputs, create_graph, "jacobian")
        outputs = check_tensors(returned, "outputs", "jacobian")
        jacobians = []
        for number, output in enumerate(outputs):
            refuse(strict and not output.requires_grad, "strict jacobian", number)
            rows = [gradients((y,), xs, None, create_graph) for y in output.reshape(-1)]
            if not rows and vectorize:
                jacobians.append(detached([output.new_zeros(output.shape + x.shape) for x in xs], False, inputs))
                continue
            columns = zip(*rows) if rows else [()] * len(xs)
            by_input = [stack(list(column)).reshape(output.shape + x.shape) for column, x in zip(columns, xs)]
            jacobians.append(detached(by_input, create_graph, inputs))
    return tuple(jacobians) if isinstance(returned, tuple) else jacobians[0]


def check_single(value, function):
    """Raise torch's RuntimeError for a value that is not a single number."""
    if value.numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {function} should contain a single element")


def hessian(
    func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"
):  # fmt: skip
    """Return the second derivatives of a function whose value is a single number: a tuple of tuples for a tuple."""

    def value(*xs):
        y = func(*xs)
        check_single(y, "hessian")
        return y.reshape(())

    def first_derivatives(*xs):
        return jacobian(value, xs if isinstance(inputs, tuple) else xs[0], create_graph=True)

    return jacobian(first_derivatives, inputs, create_graph=create_graph)
