"""The tape. Each operation on tensors that require a gradient leaves a `Node`: from which nodes its inputs came, and
how a gradient of its output becomes gradients of its inputs. `autograd.engine` walks the nodes from the last one made
to the first.

A node's rule is written with operations on tensors. So a gradient can itself be differentiated: with `create_graph`,
the rules leave nodes as well.

This package stays apart from `companion`: the proof on the book's pages holds `companion` to this torch, and would
compare a thing with itself if one of the two were made of the other.
"""

import contextlib
import functools
import inspect
import itertools

import numpy as np

recording = [True]  # whether operations leave nodes: no_grad says no

anomalies = [False]  # whether the way back looks for what is no number

ODD_NAMES = {"Copy": "CopyBackwards", "CopySlices": "CopySlices"}

count = itertools.count()  # nodes are numbered as they are made: an input's number is below its output's


def fit(g, shape):
    """A gradient summed over what broadcasting had repeated."""
    if g._array.shape == shape:
        return g
    front = g.ndim - len(shape)
    axes = [*range(front), *(front + i for i, n in enumerate(shape) if n == 1 and g._array.shape[front + i] != 1)]
    g = g.sum(axes, keepdim=True) if axes else g
    return g.reshape(shape) if front else g


class Node:
    """One operation, as the way back sees it.

    inputs: the tensors it was made of; edges: where their gradients go: a node and which of its outputs, a leaf, or
    None.
    rule: a function of the output's gradient (of one for each output, if there are several) that returns one for each
    input.
    saved: what the rule needs unchanged, as tensors, each with the version that it had.
    """

    def __init__(self, name, inputs, rule, saved=(), outputs=1):
        self.title, self.rule, self.number, self.outputs = name, rule, next(count), outputs
        self.edges = [edge(tensor) for tensor in inputs]
        self.inputs = [tensor._array.shape for tensor in inputs]
        self.saved = [(tensor, tensor._version[0]) for tensor in saved]
        self.shapes, self.hooks, self.metadata = [None] * outputs, {}, {}

    def name(self):
        return self.name_of(0 if isinstance(self.title, str) else 1)

    def name_of(self, output):
        title = self.title if isinstance(self.title, str) else self.title[output]
        if title in ODD_NAMES:
            return ODD_NAMES[title]
        title, _, number = title.partition(".")  # torch numbers those of one name: Sum, and Sum.1 along axes
        return f"{title}Backward{number or 0}"

    def __repr__(self):
        return f"<{self.name()} object at {id(self):#x}>"

    @property
    def next_functions(self):
        ends = (to if isinstance(to, tuple) else (None if to is None else Accumulate(to), 0) for to in self.edges)
        return tuple(ends)

    def gradients(self, given):
        """Gradients of the inputs, from those of the outputs: a list in which None stands for zeros."""
        if self.rule is None:
            raise RuntimeError(
                "Trying to backward through the graph a second time (or directly access saved tensors after they have"
                " already been freed). Saved intermediate values of the graph are freed when you call .backward() or"
                " autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or"
                " if you need to access saved tensors after calling backward."
            )
        for tensor, version in self.saved:
            if tensor._version[0] != version:
                made = getattr(tensor, "_made_by", None) or (
                    tensor._grad_fn and tensor._grad_fn.name().partition("Backward")[0]
                )
                if getattr(tensor, "_base", None) is not None and made:
                    made = "AsStrided"  # as what torch makes a view again whose numbers have changed
                made = "torch::autograd::CopySlices" if made == "CopySlices" else made
                kind = "CPUBoolType" if tensor.dtype.title == "Bool" else f"torch.{tensor.dtype.title}Tensor"
                raise RuntimeError(
                    "one of the variables needed for gradient computation has been modified by an inplace operation: "
                    f"[{kind} {list(tensor.shape)}]"
                    + (f", which is output {tensor._output} of {made}," if made else "")
                    + f" is at version {tensor._version[0]}; expected version {version} instead. Hint: enable anomaly "
                    "detection to find the operation that failed to compute its gradient, with "
                    "torch.autograd.set_detect_anomaly(True, check_nan=False)."
                )
        found = self.rule(given[0]) if self.outputs == 1 else self.rule(*given)
        found = found if isinstance(found, (tuple, list)) else (found,)
        if anomalies[0]:
            for place, one in enumerate(found):
                if one is not None and np.isnan(one._array).any():
                    raise RuntimeError(f"Function '{self.name()}' returned nan values in its {place}th output.")
        return [self.fitted(place, one) for place, one in enumerate(found)]

    def fitted(self, place, gradient):
        """A gradient in its input's shape: summed over axes along which the input was repeated."""
        if gradient is None or place >= len(self.inputs) or gradient._array.shape == self.inputs[place]:
            return gradient
        shape, got = self.inputs[place], gradient._array.shape
        behind = got[len(got) - len(shape) :]
        if len(got) < len(shape) or any(n not in (1, m) for n, m in zip(shape, behind)):
            raise RuntimeError(
                f"Function {self.name()} returned an invalid gradient at index {place} - got {list(got)} but expected"
                f" shape compatible with {list(shape)}"
            )
        return fit(gradient, shape)


class Accumulate:
    """Where the way back ends: at a leaf, whose `grad` it adds to."""

    def __init__(self, leaf):
        self.variable = leaf

    next_functions = ()

    def name(self):
        return "torch::autograd::AccumulateGrad"

    def __repr__(self):
        return f"<AccumulateGrad object at {id(self):#x}>"


def edge(tensor):
    """Where a tensor's gradient goes."""
    if not tensor._requires_grad:
        return None
    node = tensor._grad_fn if tensor._base is None else tensor.grad_fn
    return tensor if node is None else (node, tensor._output)


def titled(out, name):
    """A result of several operations under the name of the one that it is for torch."""
    if out._grad_fn is not None:
        out._grad_fn.title = name
    return out


class set_grad_enabled(contextlib.ContextDecorator):
    """Whether operations leave nodes: as a call, in a `with`, or above a function."""

    def __init__(self, mode):
        self.before, self.mode = recording[0], bool(mode)
        recording[0] = self.mode

    def __enter__(self):
        recording[0] = self.mode

    def __exit__(self, *error):
        recording[0] = self.before


class _Mode(contextlib.ContextDecorator):
    mode = True

    def __new__(cls, function=None):
        made = super().__new__(cls)
        if function is None:
            return made
        made.stack = []
        return made(function)

    def __init__(self):
        self.stack = []  # one object may be entered within itself

    def _recreate_cm(self):
        return type(self)()

    def __call__(self, function):
        if inspect.isgeneratorfunction(function):  # its body runs later, piece by piece

            @functools.wraps(function)
            def pieces(*arguments, **options):
                made = function(*arguments, **options)
                while True:
                    with type(self)():
                        try:
                            one = next(made)
                        except StopIteration as end:
                            return end.value
                    yield one

            return pieces
        return super().__call__(function)

    def __enter__(self):
        self.stack.append(recording[0])
        recording[0] = self.mode

    def __exit__(self, *error):
        recording[0] = self.stack.pop()


class no_grad(_Mode):
    """Operations inside leave no nodes."""

    mode = False


class enable_grad(_Mode):
    """Operations inside leave nodes, even within no_grad."""


class inference_mode(_Mode):
    """As no_grad."""

    mode = False


def is_grad_enabled():
    return recording[0]


class set_detect_anomaly:
    """Whether the way back stops at what is no number: as a call, or in a `with`."""

    def __init__(self, mode, check_nan=True):
        self.before, anomalies[0] = anomalies[0], bool(mode and check_nan)

    def __enter__(self):
        pass

    def __exit__(self, *error):
        anomalies[0] = self.before


class detect_anomaly(set_detect_anomaly):
    def __init__(self, check_nan=True):
        super().__init__(True, check_nan)


class Handle:
    """What takes a hook away again."""

    def __init__(self, hooks, hook):
        self.hooks, self.number = hooks, max(hooks, default=-1) + 1
        hooks[self.number] = hook

    def remove(self):
        self.hooks.pop(self.number, None)
