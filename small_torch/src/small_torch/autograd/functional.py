"""Jacobian and Hessian matrices, computed row by row, and their products with vectors."""

from ..creation import ones_like, zeros_like
from ..joining import stack
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
            if strict and not output.requires_grad:
                raise RuntimeError(
                    f"Output {number} of the user-provided function does not require gradients. The outputs must be"
                    " computed in a differentiable manner from the input when running in strict mode."
                )
            rows = [gradients((y,), xs, None, create_graph) for y in output.reshape(-1)]
            by_input = [stack(list(column)).reshape(output.shape + x.shape) for column, x in zip(zip(*rows), xs)]
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


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """Return the function's value, and the product of the vector v and the Jacobian."""
    with enable_grad():
        xs, returned = run(func, inputs, create_graph, "vjp")
        outputs = check_tensors(returned, "outputs", "vjp")
        if v is None and (len(outputs) > 1 or outputs[0].numel() != 1):
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single Tensor with a single"
                " element."
            )
        vectors = (ones_like(outputs[0]),) if v is None else check_tensors(v, "inputs", "vjp")
        products = gradients(outputs, xs, vectors, create_graph)
    return detached(outputs, create_graph, returned), detached(products, create_graph, inputs)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """Return the function's value, and the product of the Jacobian and the vector v."""
    with enable_grad():
        xs, returned = run(func, inputs, create_graph, "jvp")
        outputs = check_tensors(returned, "outputs", "jvp")
        vectors = (ones_like(xs[0]),) if v is None else check_tensors(v, "inputs", "jvp")
        # the gradient is linear in u: its derivative for u, times v, is the Jacobian times v
        us = tuple(zeros_like(y).requires_grad_() for y in outputs)
        products = gradients(gradients(outputs, xs, us, True), us, vectors, create_graph)
    return detached(outputs, create_graph, returned), detached(products, create_graph, returned)


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """Return the value of a function, a single number, and the product of the vector v and the Hessian."""
    with enable_grad():
        xs, value = run(func, inputs, create_graph, "vhp")
        check_single(value, "vhp")
        vectors = (ones_like(xs[0]),) if v is None else check_tensors(v, "inputs", "vhp")
        products = gradients(gradients((value,), xs, None, True), xs, vectors, create_graph)
    return detached((value,), create_graph, value), detached(products, create_graph, inputs)


hvp = vhp  # the Hessian is symmetric
