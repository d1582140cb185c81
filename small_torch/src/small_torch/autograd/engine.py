"""The backward pass: carry gradients over the tape's nodes, from the newest to the oldest."""

import numpy as np

from ..absent import EXPLANATION
from ..messages import error
from ..tape import edge_of, set_grad_enabled
from ..tensor import Tensor, wrap
from .profiler_legacy import note


def walk(roots, gradients, targets=None, retain_graph=False, create_graph=False):
    """Carry gradients from the roots backwards; return those of the targets, if there are any.

    A target that is not reached gets None. Nodes are visited from the last one made to the first, so that all gradients
    that flow into a node have arrived before its rule runs.
    """
    note("autograd::engine::evaluate_function")
    arrived = {}  # node → gradients of its outputs so far; id of a leaf → its gradient
    target_gradients = {}
    for target in targets or ():
        edge = edge_of(target)
        target_gradients[edge_key(edge)] = None

    def add_gradient(edge, gradient):
        if type(edge) is not tuple:
            before = arrived.get(id(edge))
            arrived[id(edge)] = gradient if before is None else add(before, gradient)
            return
        node, output = edge
        slots = arrived.get(node)
        if slots is None:
            slots = arrived[node] = [None] * node.outputs
        before = slots[output]
        slots[output] = gradient if before is None else add(before, gradient)

    def add(first, second):
        if create_graph or not type(first) is type(second) is Tensor:
            return first + second
        return wrap(first._array + second._array)

    def finish(leaf):
        """Use a leaf's gradient, to which no other node will add."""
        gradient = arrived.pop(id(leaf), None)
        if gradient is None or not leaf._requires_grad:
            return
        if leaf._hooks:
            gradient = call_hooks(leaf._hooks, gradient)
        if targets is None:
            add_to_leaf(leaf, gradient, create_graph)
        elif id(leaf) in target_gradients:
            target_gradients[id(leaf)] = gradient

    reached, leaves, todo = set(), {}, [edge_of(root) for root in roots]
    waiting = {}  # id of a leaf → number of edges to it over which no gradient has come
    while todo:
        edge = todo.pop()
        if type(edge) is tuple:
            if edge[0] not in reached:
                reached.add(edge[0])
                todo += edge[0].edges
        elif edge is not None:
            leaves[id(edge)] = edge
            waiting[id(edge)] = waiting.get(id(edge), 0) + 1
    order = sorted(reached, key=lambda node: node.number)
    if targets is not None:  # keep only the nodes on a path to a target
        ends, on_path = {edge[0] for edge in map(edge_of, targets) if isinstance(edge, tuple)}, set()
        for node in order:
            if any(
                edge[0] in on_path or edge[0] in ends if isinstance(edge, tuple) else id(edge) in target_gradients
                for edge in node.edges
            ):
                on_path.add(node)
        order = [node for node in order if node in on_path or node in ends]
    with set_grad_enabled(create_graph), np.errstate(all="ignore"):
        for root, gradient in zip(roots, gradients):
            add_gradient(edge_of(root), gradient)
        for node in reversed(order):
            output_gradients = arrived.pop(node, None)
            if output_gradients is None:
                continue
            for output, hooks in node.hooks.items():
                if output_gradients[output] is not None:
                    output_gradients[output] = call_hooks(hooks, output_gradients[output])
            for output, reference in (node.retained or {}).items():
                tensor, gradient = reference(), output_gradients[output]
                if tensor is not None and tensor._grad_fn is node and gradient is not None:
                    tensor._grad = gradient if tensor._grad is None else tensor._grad + gradient
            if targets is not None:
                for output in range(node.outputs):
                    if (node, output) in target_gradients:
                        target_gradients[node, output] = output_gradients[output]
                if node not in on_path:
                    continue
            if node.outputs > 1:
                output_gradients = [zeros_of(node, i) if g is None else g for i, g in enumerate(output_gradients)]
            for edge, gradient in zip(node.edges, node.gradients(output_gradients)):
                if edge is None:
                    continue
                if gradient is not None:
                    add_gradient(edge, gradient)
                if type(edge) is not tuple:
                    waiting[id(edge)] -= 1
                    if not waiting[id(edge)]:  # as soon as possible, as torch does: hooks may print, rules may fail
                        finish(edge)
            if not retain_graph and node.saved:
                node.rule, node.saved = None, ()
        for leaf in leaves.values():
            finish(leaf)
    if targets is not None:
        return [target_gradients[edge_key(edge_of(target))] for target in targets]


def call_hooks(hooks, gradient):
    """Return a gradient as hooks change it; raise torch's errors if one returns what is no such gradient."""
    for hook in list(hooks.values()):
        changed = hook(gradient)
        if changed is None:
            continue
        if not isinstance(changed, Tensor):
            raise TypeError(f"expected Variable, but hook returned '{type(changed).__name__}'")
        name = getattr(hook, "__name__", hook)
        if changed.shape != gradient.shape:
            raise RuntimeError(f"hook '{name}' has changed the size of value")
        if changed.dtype is not gradient.dtype:
            kinds = f"was {gradient.type()} got {changed.type()}"
            raise RuntimeError(f"hook '{name}' has changed the type of value ({kinds})")
        gradient = changed
    return gradient


def edge_key(edge):
    """Return a hashable key of an edge."""
    return edge if isinstance(edge, tuple) else id(edge)


def zeros_of(node, output):
    return Tensor(np.zeros(*node.shapes[output]))


def add_to_leaf(leaf, gradient, create_graph):
    """Add a gradient to `leaf.grad`."""
    if gradient.is_sparse and (leaf._grad is None or leaf._grad.is_sparse):
        leaf._grad = gradient.clone() if leaf._grad is None else leaf._grad.add_sparse(gradient)
    elif leaf._grad is None:
        # A copy in the leaf's order: the same gradient may have flowed into several leaves.
        if create_graph:
            leaf._grad = gradient.clone()
        else:
            leaf._grad = wrap(np.empty_like(leaf._array, gradient._array.dtype))
            leaf._grad._array[...] = gradient._array
    elif create_graph:
        leaf._grad = leaf._grad + gradient
    else:
        leaf._grad._array += gradient._array
        leaf._grad._changes[0] += 1


def first_gradients(outputs, grad_outputs):
    """Return the gradients to begin with: ones by default, for which an output must be a single number."""
    grad_outputs = [None] * len(outputs) if grad_outputs is None else as_tuple(grad_outputs)
    for gradient in grad_outputs:
        if gradient is not None and not isinstance(gradient, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
    if len(grad_outputs) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(grad_outputs)} gradients")
    checked = []
    for number, (output, gradient) in enumerate(zip(outputs, grad_outputs)):
        if not output.requires_grad:
            raise RuntimeError(f"element {number} of tensors does not require grad and does not have a grad_fn")
        if gradient is None:
            if output.numel() != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            if output.is_complex():
                raise error("complex gradient", output.dtype)
            gradient = Tensor(np.ones_like(output._array))
        elif gradient.shape != output.shape:
            raise error("first gradient shape", number, gradient.shape, number, output.shape)
        checked.append(gradient)
    return checked


def as_tuple(tensors):
    return (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None):
    """Add the gradient of the tensors' sum to the `grad` of each leaf, or of each of `inputs` only."""
    tensors = as_tuple(tensors)
    retain = create_graph if retain_graph is None else retain_graph
    gradients = first_gradients(tensors, grad_tensors)
    if inputs is None:
        walk(tensors, gradients, None, retain, create_graph)
        return
    inputs = as_tuple(inputs)
    if not inputs:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    if not all(leaf.requires_grad for leaf in inputs):
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    for leaf, gradient in zip(inputs, walk(tensors, gradients, inputs, retain, create_graph)):
        if gradient is not None:
            add_to_leaf(leaf, gradient, create_graph)


def tensor_backward(tensor, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """Add the gradient of this tensor to the `grad` of each leaf."""
    backward(tensor, gradient, retain_graph, create_graph, inputs)


tensor_backward.__qualname__ = "Tensor.backward"


def grad(
    outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None,
    is_grads_batched=False, materialize_grads=False,
):  # fmt: skip
    """Return the gradients of the outputs' sum for the inputs, as a tuple; change no `grad`."""
    outputs, inputs = as_tuple(outputs), as_tuple(inputs)
    if materialize_grads and allow_unused is False:
        raise error("unused zeros")
    if is_grads_batched:
        raise NotImplementedError(f"grad(): argument 'is_grads_batched' {EXPLANATION}")
    if not inputs and outputs:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    for tensor in inputs:
        if not tensor.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    retain = create_graph if retain_graph is None else retain_graph
    gradients = walk(outputs, first_gradients(outputs, grad_outputs), inputs, retain, create_graph)
    if materialize_grads:
        gradients = [Tensor(np.zeros_like(x._array)) if g is None else g for x, g in zip(inputs, gradients)]
    elif not allow_unused and None in gradients:
        place = gradients.index(None)
        raise error("unused input", place)
    return tuple(gradients)
