"""Hooks of modules: functions that a call of a module calls before, after, and in the backward pass."""

import warnings

from ..messages import refuse
from ..tape import RemovableHandle, recording
from ..tensor import Tensor, record_many


def add_hook(hooks, hook, first):
    """Add a hook behind the others, or before them; return its handle."""
    others = dict(hooks)
    handle = RemovableHandle(hooks, hook)
    for number in others if first else ():
        hooks[number] = hooks.pop(number)
    return handle


def as_tuple(value):
    """Return a tuple as it is, another value in a tuple."""
    return value if isinstance(value, tuple) else (value,)


def call_with_hooks(module, args, kwargs):
    """Call a module's hooks and its `forward`; return the result."""
    for hook, with_kwargs in [*module._forward_pre_hooks.values()]:
        changed = hook(module, args, kwargs) if with_kwargs else hook(module, args)
        if changed is not None and with_kwargs:
            refuse(not isinstance(changed, tuple) or len(changed) != 2, "forward pre-hook", changed)
            args, kwargs = changed
        elif changed is not None:
            args = as_tuple(changed)
    backward = BackwardHooks(module, args) if module._backward_hooks and recording[0] else None
    result = module.forward(*(backward.args if backward else args), **kwargs)
    for hook, with_kwargs in [*module._forward_hooks.values()]:
        changed = hook(module, args, kwargs, result) if with_kwargs else hook(module, args, result)
        result = result if changed is None else changed
    return backward.watch_outputs(result) if backward else result


class BackwardHooks:
    """A module's backward hooks in one call. Its inputs and outputs pass through nodes of their own.

    The node of the outputs keeps their gradients; the node of the inputs gives both to the hooks.
    """

    def __init__(self, module, args):
        self.module, self.hooks, self.count = module, [*module._backward_hooks.values()], len(args)
        self.watches_inputs = any(isinstance(x, Tensor) and x.requires_grad for x in args)
        self.args = pass_through(args, self.call) if self.watches_inputs else args

    def watch_outputs(self, result):
        """Return a module's result, a tensor or a tuple of tensors, with the node that keeps its gradients."""
        if not isinstance(result, Tensor | tuple):
            return result
        outputs = pass_through(as_tuple(result), self.keep)
        return outputs if isinstance(result, tuple) else outputs[0]

    def keep(self, grad_output):
        self.grad_output = grad_output
        if not self.watches_inputs:
            warnings.warn(
                "Full backward hook is firing when gradients are computed with respect to module outputs since no"
                " inputs require gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
                "#torch.nn.Module.register_full_backward_hook for more details.",
                stacklevel=5,
            )
            self.call((None,) * self.count)
        return grad_output

    def call(self, grad_input):
        """Call the hooks; return the gradients of the inputs, which each hook may change."""
        for hook in self.hooks:
            changed = hook(self.module, grad_input, self.grad_output)
            if changed is not None:
                grad_input, count = as_tuple(changed), len(grad_input)
                refuse(len(grad_input) != count, "backward hook", len(grad_input), count)
        return grad_input


def pass_through(values, rule):
    """Return the values of a tuple; the gradients of its tensors go through `rule`, with None for other values."""
    places = [place for place, value in enumerate(values) if isinstance(value, Tensor)]
    tensors = [values[place] for place in places]

    def back(*gradients):
        by_place = dict(zip(places, gradients))
        changed = rule(tuple(by_place.get(place) for place in range(len(values))))
        return [changed[place] for place in places]

    passed = record_many([x._array for x in tensors], "BackwardHookFunction", tensors, back)
    by_place = dict(zip(places, passed))
    return tuple(by_place.get(place, value) for place, value in enumerate(values))
