"""Parameters, and functions of them outside of modules."""

from ..creation import empty
from ..messages import refuse
from ..tensor import Tensor


class Parameter(Tensor):
    """A tensor to be trained: a module lists its attributes of this type among its parameters.

    data: its numbers, which are not copied.
    """

    def __init__(self, data=None, requires_grad=True):
        data = (empty(0) if data is None else data).detach()
        refuse(requires_grad and data.dtype.kind < 2, "gradient of integers")
        super().__init__(data._array)
        self._changes, self.device, self.requires_grad = data._changes, data.device, requires_grad

    def __deepcopy__(self, memo):
        memo[id(self)] = copied = Parameter(self.detach().clone(), self.requires_grad)
        return copied

    def __repr__(self):
        return "Parameter containing:\n" + super().__repr__()


def type_name(obj, /):
    """Return the name of an object's type in torch's messages."""
    if isinstance(obj, Tensor):
        return obj.type()
    kind = obj if isinstance(obj, type) else type(obj)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def reset_gradients(parameters, set_to_none):
    """Set gradients to None, or else to zeros."""
    for parameter in parameters:
        if set_to_none:
            parameter.grad = None
        elif parameter.grad is not None:
            parameter.grad = parameter.grad.detach()
            parameter.grad.zero_()


def add_parameters(module, device, dtype, **shapes):
    """Add an empty parameter of each shape to a module, under the shape's name; None for None."""
    for name, shape in shapes.items():
        parameter = None if shape is None else Parameter(empty(shape, device=device, dtype=dtype))
        module.register_parameter(name, parameter)


def show_changed(module, **defaults):
    """Return the text of a module's attributes that differ from their defaults: ", name=value, …"."""
    values = {name: getattr(module, name) for name in defaults}
    return "".join(f", {name}={value}" for name, value in values.items() if value != defaults[name])
