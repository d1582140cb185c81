"""Record operations on a tape, so that gradients can be computed.

Each operation on tensors that require a gradient leaves a `Node`: the nodes that its inputs came from, and a rule that
turns a gradient of its output into gradients of its inputs. `autograd.engine` walks the nodes from the last one made to
the first. Rules are written with operations on tensors: with `create_graph` they leave nodes as well.

This package does not import `companion`, which the book's pages prove equal to this torch.
"""

import contextlib
import functools
import inspect
import itertools
import math
import weakref

import numpy as np

from .absent import EXPLANATION
from .dtypes import BY_NUMPY_TYPE
from .messages import error, refuse

recording = [True]  # whether operations leave nodes; False within no_grad, None within inference_mode
transforming = [False]  # whether `func.grad` takes gradients: torch has another way back for products then
anomalies = [False]  # whether the backward pass checks for NaN
count = itertools.count()  # nodes are numbered in the order of creation: inputs come before outputs

ODD_NAMES = {"Copy": "CopyBackwards", "CopySlices": "CopySlices"}


def axes_to_sum(from_shape, to_shape):
    """Return the axes along which broadcasting repeated an array of `to_shape`."""
    front = len(from_shape) - len(to_shape)
    return (*range(front), *(front + i for i, n in enumerate(to_shape) if n == 1 and from_shape[front + i] != 1))


def fit(g, shape):
    """Sum a gradient over the axes that broadcasting repeated."""
    if g._array.shape == shape:
        return g
    axes = axes_to_sum(g._array.shape, shape)
    g = g.sum(axes, keepdim=True) if axes else g
    return g.reshape(shape) if g.ndim > len(shape) else g


class Node:
    """One recorded operation.

    edges: where the gradient of each input goes: (node, number of its output), or None. inputs: shape and type of each
    input, which its gradient gets, too. rule: a function of one gradient for each output that returns one for each
    input. saved: (tensor, version) of the tensors that the rule needs unchanged.
    """

    retained = {}  # number of an output → weak reference to the tensor that keeps its gradient
    takes_none = False  # whether the rule takes None for an output without a gradient

    def __init__(self, name, inputs, rule, saved=(), outputs=1):
        # edges first, since they may make nodes of views
        self.edges = [edge_of(tensor) if tensor._requires_grad else None for tensor in inputs]
        self.title, self.rule, self.number, self.outputs = name, rule, next(count), outputs
        self.inputs = [(tensor._array.shape, tensor._array.dtype) for tensor in inputs]
        self.saved = [(tensor, tensor._changes[0]) for tensor in saved]
        for tensor in saved:
            check_saved(tensor)
        self.shapes, self.hooks = [None] * outputs, {}

    def __getattr__(self, name):  # Python calls it only for missing attributes
        raise AttributeError(f"{name} of {self.name()} {EXPLANATION}")

    def name(self):
        return self.name_of(0 if isinstance(self.title, str) else 1)

    def name_of(self, output):
        title = self.title if isinstance(self.title, str) else self.title[output]
        if title in ODD_NAMES:
            return ODD_NAMES[title]
        title, _, number = title.partition(".")  # torch numbers variants: Sum of all, and Sum.1 along axes
        return f"{title}Backward{number or 0}"

    def __repr__(self):
        return f"<{self.name()} object at {id(self):#x}>"

    @property
    def next_functions(self):
        return tuple((None, 0) if edge is None else edge for edge in self.edges)

    def gradients(self, output_gradients):
        """Return the gradients of the inputs, from those of the outputs: a list in which None stands for zeros."""
        if self.rule is None:
            raise error("freed")
        for tensor, version in self.saved:
            if tensor._changes[0] != version:
                raise changed_error(tensor, version)
        gradients = self.rule(*output_gradients)
        gradients = gradients if isinstance(gradients, (tuple, list)) else (gradients,)
        if anomalies[0]:
            check_nan(self, gradients)
        pairs = enumerate(zip(self.edges, gradients))
        return [None if edge is None else self.fit_gradient(index, gradient) for index, (edge, gradient) in pairs]

    def fit_gradient(self, index, gradient):
        """Return a gradient in its input's shape and type: summed over axes along which the input was repeated."""
        if gradient is None or index >= len(self.inputs):
            return gradient
        (shape, dtype), found = self.inputs[index], gradient._array.shape
        if found != shape:
            wrong = len(found) < len(shape) or any(n not in (1, m) for n, m in zip(shape[::-1], found[::-1]))
            refuse(wrong, "gradient shape", self.name(), index, list(found), list(shape))
            gradient = fit(gradient, shape)
        if gradient._array.dtype == dtype:
            return gradient
        return (gradient.real if dtype.kind == "f" else gradient).to(BY_NUMPY_TYPE[dtype])

    def free(self):
        """Forget what the rule needs; without saved tensors it may run again."""
        if self.saved:
            self.rule, self.saved = None, ()


class Accumulate:
    """The end of the backward pass at a leaf, whose `grad` it adds to."""

    edges, next_functions, outputs, retained, number = (), (), 1, {}, math.inf

    def __init__(self, leaf):
        self.variable = leaf

    @property
    def hooks(self):
        return {0: self.variable._hooks} if self.variable._hooks else {}

    def name(self):
        return "torch::autograd::AccumulateGrad"

    def __repr__(self):
        return f"<AccumulateGrad object at {id(self):#x}>"


def edge_of(tensor):
    """Return where a tensor's gradient goes: (node, number of its output), or None."""
    if not tensor._requires_grad:
        return None
    node = tensor._grad_fn if tensor._base is None else tensor.grad_fn
    if node is not None:
        return node, tensor._output
    if tensor._base is not None and tensor._base._requires_grad:
        return None  # a view that only its base's flag lets require a gradient has no end for it
    node = tensor._end and tensor._end()
    if node is None:
        node = Accumulate(tensor)
        tensor._end = weakref.ref(node)
    return node, 0


class FixedVersion(list):
    """The version of a tensor that was computed within inference_mode; changing it elsewhere is an error."""

    def __setitem__(self, index, version):
        refuse(recording[0] is not None, "inference change")


class DetachedVersion(list):
    """The version of a tensor after `detach_`."""


def check_saved(tensor):
    """Raise RuntimeError for a tensor that was computed within inference_mode."""
    refuse(type(tensor._changes) is FixedVersion, "inference")


def changed_error(tensor, version, made_by=None):
    """Return the error for a tensor that was changed after the backward pass was recorded. made_by: its operation."""
    if type(tensor._changes) is DetachedVersion:
        return error("detached")
    source = made_by or getattr(tensor, "_made_by", None)
    source = source or (tensor._grad_fn and tensor._grad_fn.name().replace("Backward0", "").replace("Backward", ""))
    if tensor._base is not None and source:
        source = "AsStrided"  # torch's name for a view whose base was changed
    source = "torch::autograd::CopySlices" if source == "CopySlices" else source
    kind = "CPUBoolType" if tensor.dtype.title == "Bool" else f"torch.{tensor.dtype.title}Tensor"
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{kind} {list(tensor.shape)}]"
        + (f", which is output {tensor._output} of {source}," if source else "")
        + f" is at version {tensor._changes[0]}; expected version {version} instead. Hint: enable anomaly detection to "
        "find the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, "
        "check_nan=False)."
    )


def check_nan(node, gradients):
    """Raise RuntimeError if a gradient has NaN."""
    for place, gradient in enumerate(gradients):
        if gradient is not None and np.isnan(gradient._array).any():
            raise RuntimeError(f"Function '{node.name()}' returned nan values in its {place}th output.")


class _Setting(contextlib.ContextDecorator):
    """A value that a call sets for good, and a `with` or decorated function for its duration."""

    def __init__(self, place, value):
        self.place, self.value, self.before = place, value, place[0]
        place[0] = value

    def __call__(self, function):
        self.place[0] = self.before
        return super().__call__(function)

    def __enter__(self):
        self.place[0] = self.value

    def __exit__(self, *error):
        self.place[0] = self.before


def rename_node(out, name, *needed):
    """Give the result of several operations the name of torch's single operation.

    needed: tensors, or None, that torch keeps for the backward pass, which must not change in place.
    """
    if out._grad_fn is not None:
        out._grad_fn.title = name
        for tensor in needed:
            if tensor is not None:
                check_saved(tensor)
                out._grad_fn.saved.append((tensor, tensor._changes[0]))
    return out


class set_grad_enabled(_Setting):
    """Set whether operations leave nodes: as a call, in a `with`, or as a decorator."""

    def __init__(self, mode):
        super().__init__(recording, bool(mode))


class set_detect_anomaly(_Setting):
    """Set whether the backward pass raises an error at NaN: as a call, or in a `with`."""

    def __init__(self, mode, check_nan=True):
        super().__init__(anomalies, bool(mode and check_nan))


detect_anomaly = functools.partial(set_detect_anomaly, True)


class _Mode(contextlib.ContextDecorator):
    mode = True

    def __new__(cls, function=None):
        mode = super().__new__(cls)
        mode.stack = []  # one object may be entered within itself
        return mode if function is None else mode(function)

    def _recreate_cm(self):
        return type(self)()

    def __call__(self, function):
        if not inspect.isgeneratorfunction(function):
            return super().__call__(function)

        @functools.wraps(function)
        def resume(*arguments, **options):  # the generator's body runs later, in steps
            generator = function(*arguments, **options)
            while True:
                with type(self)():
                    try:
                        value = next(generator)
                    except StopIteration as end:
                        return end.value
                yield value

        return resume

    def __enter__(self):
        self.stack.append(recording[0])
        recording[0] = self.mode

    def __exit__(self, *error):
        recording[0] = self.stack.pop()


class no_grad(_Mode):
    """Context manager and decorator in which operations leave no nodes."""

    mode = False


class enable_grad(_Mode):
    """Context manager and decorator in which operations leave nodes, even within no_grad."""


class inference_mode(_Mode):
    """Context manager and decorator for good: what operations return within it cannot be saved for a backward pass."""

    mode = None


def is_grad_enabled():
    return bool(recording[0])


class RemovableHandle:
    """A registered hook, which `remove` takes away."""

    def __init__(self, hooks, hook):
        self.hooks, self.number = hooks, max(hooks, default=-1) + 1
        hooks[self.number] = hook

    def remove(self):
        self.hooks.pop(self.number, None)
