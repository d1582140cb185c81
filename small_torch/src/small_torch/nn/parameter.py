"""Parameters, and what is done with them outside of modules."""

from ..creation import empty
from ..tensor import Tensor


class Parameter(Tensor):
    """A tensor that is to learn: a module that gets one for an attribute counts it among its parameters.

    data: its numbers, which are not copied. requires_grad: whether it learns.
    """

    def __init__(self, data=None, requires_grad=True):
        data = empty(0) if data is None else data
        if requires_grad and not (data.is_floating_point() or data.is_complex()):
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        super().__init__(data._array)
        self._version, self.device, self.requires_grad = data._version, data.device, requires_grad

    def __deepcopy__(self, memo):
        memo[id(self)] = copied = Parameter(self.detach().clone(), self.requires_grad)
        return copied

    def __repr__(self):
        return "Parameter containing:\n" + super().__repr__()


def typename(thing):
    """What torch calls a thing's type in its messages."""
    if isinstance(thing, Tensor):
        return thing.type()
    kind = thing if isinstance(thing, type) else type(thing)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def forget_gradients(parameters, set_to_none):
    """Make gradients None, or else zeros."""
    for parameter in parameters:
        if set_to_none:
            parameter.grad = None
        elif parameter.grad is not None:
            parameter.grad = parameter.grad.detach()
            parameter.grad.zero_()
