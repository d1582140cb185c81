"""Gradients by a tape. Each operation on tensors that require a gradient leaves a `Node`: from which nodes its inputs
came, and how a gradient of its output becomes gradients of its inputs. `backward` walks the nodes from the last one
made to the first. That is all; the rest of this file is how torch lets one ask for it, and the mistakes it warns of.

A node's rule is written with operations on tensors. So a gradient can itself be differentiated: with `create_graph`,
the rules leave nodes as well.
"""

import contextlib
import functools
import itertools

import numpy as np

from . import profiler_legacy
from .profiler_legacy import _disable_profiler_legacy, _enable_profiler_legacy  # noqa: F401

recording = [True]  # whether operations leave nodes: no_grad says no
anomalies = [False]  # whether the way back looks for what is no number
ODD_NAMES = {"Copy": "CopyBackwards", "CopySlices": "CopySlices"}
count = itertools.count()  # nodes are numbered as they are made: an input's number is below its output's


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
        from ..pointwise import fit

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


def record(array, name, inputs, rule, saved=()):
    """The tensor of an operation's result, which remembers where it came from if one of the inputs requires a
    gradient."""
    out = Tensor(array)
    if recording[0]:
        for one in inputs:
            if one._requires_grad:
                out._grad_fn, out._requires_grad = Node(name, inputs, rule, saved), True
                break
    return out


def titled(out, name):
    """A result of several operations under the name of the one that it is for torch."""
    if out._grad_fn is not None:
        out._grad_fn.title = name
    return out


def record_many(arrays, name, inputs, rule, saved=(), differentiable=None):
    """The same for an operation with several results: its rule takes a gradient for each, zeros where there is none."""
    outs = [Tensor(array) for array in arrays]
    if recording[0] and any(one._requires_grad for one in inputs):
        node = Node(name, inputs, rule, saved, len(outs))
        for number, out in enumerate(outs):
            if out.dtype.kind >= 2 and (differentiable is None or differentiable[number]):
                out._grad_fn, out._requires_grad, out._output = node, True, number
            node.shapes[number] = out._array.shape, out._array.dtype
    return outs


def walk(roots, gradients, targets=None, keep=False, create_graph=False):
    """Carry gradients from the roots backwards. With targets, only to these: return theirs, None for what is not
    reached.

    Nodes are visited from the last one made to the first: then all that flows into one has arrived before it is asked.
    """
    profiler_legacy.note("autograd::engine::evaluate_function")
    arrived = {}  # node → gradients of its outputs so far; leaf's id → its gradient
    wanted = {}
    for target in targets or ():
        to = edge(target)
        wanted[key(to)] = None

    def arrive(to, gradient):
        if not isinstance(to, tuple):
            arrived[id(to)] = gradient if id(to) not in arrived else arrived[id(to)] + gradient
            return
        node, output = to
        slots = arrived.setdefault(node, [None] * node.outputs)
        slots[output] = gradient if slots[output] is None else slots[output] + gradient

    reached, leaves, todo = set(), {}, [edge(root) for root in roots]
    while todo:
        to = todo.pop()
        if isinstance(to, tuple):
            if to[0] not in reached:
                reached.add(to[0])
                todo += to[0].edges
        elif to is not None:
            leaves[id(to)] = to
    order = sorted(reached, key=lambda node: node.number)
    if targets is not None:  # of all nodes only those from which a way leads to a target
        ends, leading = {to[0] for to in map(edge, targets) if isinstance(to, tuple)}, set()
        for node in order:
            if any(
                to[0] in leading or to[0] in ends if isinstance(to, tuple) else id(to) in wanted for to in node.edges
            ):
                leading.add(node)
        order = [node for node in order if node in leading or node in ends]
    with set_grad_enabled(create_graph):
        for root, gradient in zip(roots, gradients):
            arrive(edge(root), gradient)
        for node in reversed(order):
            given = arrived.pop(node, None)
            if given is None:
                continue
            for output, hooks in node.hooks.items():
                if given[output] is not None:
                    for hook in list(hooks.values()):
                        changed = hook(given[output])
                        given[output] = given[output] if changed is None else changed
            for output in range(node.outputs):
                if (node, output) in wanted:
                    wanted[node, output] = given[output]
            if targets is not None and node not in leading:
                continue
            if node.outputs > 1:
                given = [zeros_of(node, i) if one is None else one for i, one in enumerate(given)]
            for to, gradient in zip(node.edges, node.gradients(given)):
                if to is not None and gradient is not None:
                    arrive(to, gradient)
            if not keep and node.saved:
                node.rule, node.saved = None, ()
        for leaf in leaves.values():
            gradient = arrived.get(id(leaf))
            if gradient is None:
                continue
            for hook in list((leaf._hooks or {}).values()):
                changed = hook(gradient)
                gradient = gradient if changed is None else changed
            if targets is None:
                add_to_leaf(leaf, gradient, create_graph)
            elif id(leaf) in wanted:
                wanted[id(leaf)] = gradient
    if targets is not None:
        return [wanted[key(edge(target))] for target in targets]


def key(to):
    """What a place on the way back is known by."""
    return to if isinstance(to, tuple) else id(to)


def zeros_of(node, output):
    return Tensor(np.zeros(*node.shapes[output]))


def add_to_leaf(leaf, gradient, create_graph):
    if gradient.is_sparse and (leaf.grad is None or leaf.grad.is_sparse):
        leaf.grad = gradient.clone() if leaf.grad is None else leaf.grad.and_also(gradient)
    elif leaf.grad is None:
        # A copy: the same gradient may have flowed into several leaves.
        leaf.grad = gradient.clone() if create_graph else Tensor(np.array(gradient._array, order="K"))
    elif create_graph:
        leaf.grad = leaf.grad + gradient
    else:
        leaf.grad._array += gradient._array
        leaf.grad._version[0] += 1


def first_gradients(outputs, given):
    """The gradients to begin with: ones, for which an output must be a single number."""
    given = given if isinstance(given, (tuple, list)) else [given] * len(outputs)
    found = []
    for number, (output, gradient) in enumerate(zip(outputs, given)):
        if not output.requires_grad:
            raise RuntimeError(f"element {number} of tensors does not require grad and does not have a grad_fn")
        if gradient is None:
            if output.numel() != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            gradient = Tensor(np.ones_like(output._array))
        elif gradient.shape != output.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{number}] has a shape of {gradient.shape} and output[{number}] has a "
                f"shape of {output.shape}."
            )
        found.append(gradient)
    return found


def tuple_of(tensors):
    return (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None):
    """Add to the `grad` of each leaf (of each of the inputs only, if given) the gradient of the tensors' sum."""
    tensors = tuple_of(tensors)
    keep = create_graph if retain_graph is None else retain_graph
    gradients = first_gradients(tensors, grad_tensors)
    if inputs is None:
        walk(tensors, gradients, None, keep, create_graph)
        return
    for leaf, gradient in zip(tuple_of(inputs), walk(tensors, gradients, tuple_of(inputs), keep, create_graph)):
        if gradient is not None:
            add_to_leaf(leaf, gradient, create_graph)


def grad(
    outputs,
    inputs,
    grad_outputs=None,
    retain_graph=None,
    create_graph=False,
    allow_unused=None,
    *,
    materialize_grads=False,
):
    """The gradients of the outputs' sum for the inputs, as a tuple; nobody's `grad` changes."""
    outputs, inputs = tuple_of(outputs), tuple_of(inputs)
    for one in inputs:
        if not one.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    keep = create_graph if retain_graph is None else retain_graph
    found = walk(outputs, first_gradients(outputs, grad_outputs), inputs, keep, create_graph)
    if materialize_grads:
        found = [Tensor(np.zeros_like(one._array)) if g is None else g for one, g in zip(inputs, found)]
    elif not allow_unused and any(one is None for one in found):
        place = [one is None for one in found].index(True)
        raise RuntimeError(
            f"The differentiated Tensor at index {place} appears to not have been used in the graph. Set"
            " allow_unused=True if this is the desired behavior."
        )
    return tuple(found)


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
        import inspect

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


class _Context:
    """What a Function's forward leaves for its backward."""

    saved_tensors, needs_input_grad, materialize_grads = (), (), True

    def __init__(self):
        self.never = ()

    def save_for_backward(self, *tensors):
        self.to_save = tensors

    def mark_non_differentiable(self, *tensors):
        self.never = tensors

    def mark_dirty(self, *tensors):
        pass

    def set_materialize_grads(self, value):
        self.materialize_grads = value


class Function:
    """An operation with a rule of one's own: `forward(ctx, *inputs)` and `backward(ctx, *gradients)`, called with
    `apply`."""

    @classmethod
    def apply(cls, *arguments):
        context = _Context()
        tensors = [one for one in arguments if isinstance(one, Tensor)]
        context.needs_input_grad = tuple(isinstance(one, Tensor) and one.requires_grad for one in arguments)
        separate = cls.setup_context is not Function.setup_context
        with no_grad():
            returned = cls.forward(*arguments) if separate else cls.forward(context, *arguments)
            if separate:
                cls.setup_context(context, arguments, returned)
        results = returned if isinstance(returned, tuple) else (returned,)
        to_save = getattr(context, "to_save", ())
        if not (recording[0] and any(one.requires_grad for one in tensors)):
            context.saved_tensors = to_save
            return returned

        def rule(*gradients):
            if not context.materialize_grads:
                gradients = [None if id(one) in missing else one for one in gradients]
            context.saved_tensors = tuple(saved)
            found = cls.backward(context, *gradients)
            found = found if isinstance(found, tuple) else (found,)
            if len(found) < len(arguments):
                raise RuntimeError(
                    f"function {cls.__name__}Backward returned an incorrect number of gradients (expected "
                    f"{len(arguments)}, got {len(found)})"
                )
            return [one for one, given in zip(found, arguments) if isinstance(given, Tensor)]

        missing = set()
        fresh = [Tensor(one._array) if isinstance(one, Tensor) else one for one in results]
        made = [one for one in fresh if isinstance(one, Tensor)]
        # A tensor that is an output as well as saved is the output: its gradient's gradient goes the same way.
        replaced = {id(old): new for old, new in zip(results, fresh)}
        saved = [one if one is None else replaced.get(id(one), one) for one in to_save]
        node = Node(cls.__name__, tensors, rule, [one for one in saved if one is not None], len(made))
        node.title = cls.__name__
        node.name_of = lambda output: f"{cls.__name__}Backward"
        never = {id(one) for one in context.never}
        for number, (old, new) in enumerate(zip([one for one in results if isinstance(one, Tensor)], made)):
            node.shapes[number] = new._array.shape, new._array.dtype
            if new.dtype.kind >= 2 and id(old) not in never:
                new._grad_fn, new._requires_grad, new._output = node, True, number
        return tuple(fresh) if isinstance(returned, tuple) else fresh[0]

    @staticmethod
    def forward(*arguments, **options):
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *gradients):
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )


Function.__module__ = "torch.autograd.function"


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


from ..absent import absent  # noqa: E402
from ..tensor import Tensor  # noqa: E402  the two need each other: a tensor has a backward, a node makes tensors
from . import functional  # noqa: E402, F401
from .gradcheck import GradcheckError, gradcheck  # noqa: E402, F401

__getattr__ = absent("torch.autograd")
