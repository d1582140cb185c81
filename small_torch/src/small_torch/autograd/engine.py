"""The backward pass: carry gradients over the tape's nodes, from the newest to the oldest."""

import operator
from itertools import zip_longest

import numpy as np

from ..absent import EXPLANATION
from ..messages import error, refuse
from ..tape import Accumulate, edge_of, set_grad_enabled
from ..tensor import Tensor, wrap
from .profiler_legacy import note

get_number = operator.attrgetter("number")


def walk(roots, gradients, targets=None, retain_graph=None, create_graph=False):
    """Carry gradients from the roots backwards; return those of the targets, or without targets add to the leaves.

    A target that is not reached gets None. Nodes are visited from the last one made to the first, so that all gradients
    that flow into a node have arrived before its rule runs; leaves as soon as possible, as in torch.
    """
    note("autograd::engine::evaluate_function")
    retain_graph = create_graph if retain_graph is None else retain_graph
    starts, ends = [edge_of(root) for root in roots], [edge_of(target) for target in targets or ()]
    waiting = count_edges(dict.fromkeys(edge[0] for edge in starts if edge))  # two roots may be results of one node
    found, end_nodes = dict.fromkeys(ends), {edge[0] for edge in ends if edge}
    on_path = None if targets is None else find_path(waiting, end_nodes)  # nodes whose rules must run
    arrived = {}  # node → gradients of its outputs so far

    def add(edge, gradient):
        node, output = edge
        slots = arrived.get(node)
        if slots is None:
            slots = arrived[node] = [None] * node.outputs
        before = slots[output]
        if before is not None and (create_graph or not type(before) is type(gradient) is Tensor):
            gradient = before + gradient
        elif before is not None:
            gradient = wrap(before._array + gradient._array)
        slots[output] = gradient

    with set_grad_enabled(create_graph), np.errstate(all="ignore"):
        for edge, gradient in zip(starts, gradients):
            if edge is not None:
                add(edge, gradient)
        todo = sorted((node for node, edges in waiting.items() if node.edges or not edges), key=get_number)
        while todo:
            node, leaves = todo.pop(), []
            slots, input_gradients = arrived.pop(node, None), ()
            leaf = node.variable if type(node) is Accumulate else None
            runs = targets is None or node in on_path
            if slots is not None and (runs or node in end_nodes) and (leaf is None or leaf._requires_grad):
                if node.hooks or node.retained:
                    call_hooks(node, slots)
                if end_nodes:
                    found.update(((node, i), gradient) for i, gradient in enumerate(slots) if (node, i) in found)
                if runs and leaf is not None:
                    add_to_leaf(leaf, slots[0], create_graph)
                elif runs:
                    filled = slots if node.outputs == 1 or node.takes_none else fill(node, slots)
                    input_gradients = node.gradients(filled)
                    if not retain_graph:
                        node.free()
            for edge, gradient in zip_longest(node.edges, input_gradients):
                if edge is None:
                    continue
                if gradient is not None:
                    add(edge, gradient)
                if type(edge[0]) is Accumulate:
                    waiting[edge[0]] -= 1
                    if not waiting[edge[0]]:
                        leaves.append(edge[0])
            todo += reversed(leaves)
    return [found[edge] for edge in ends]


def count_edges(nodes):
    """Return all nodes that some nodes lead to, with the number of edges to each."""
    todo = list(nodes)
    counts = dict.fromkeys(todo, 0)
    while todo:
        for edge in todo.pop().edges:
            if edge is not None:
                node = edge[0]
                if node not in counts:
                    counts[node] = 0
                    todo.append(node)
                counts[node] += 1
    return counts


def find_path(nodes, ends):
    """Return the nodes that lead to some ends."""
    path = set()
    for node in sorted(nodes, key=get_number):
        if any(edge is not None and (edge[0] in path or edge[0] in ends) for edge in node.edges):
            path.add(node)
    return path


def fill(node, slots):
    """Return the gradients of a node's outputs with zeros in place of None."""
    return [Tensor(np.zeros(*node.shapes[i])) if g is None else g for i, g in enumerate(slots)]


def call_hooks(node, slots):
    """Let hooks change the gradients of a node's outputs, and keep those that are retained."""
    for output, hooks in node.hooks.items():
        for hook in list(hooks.values()):
            changed = None if slots[output] is None else hook(slots[output])
            if changed is not None:
                check_changed(hook, slots[output], changed)
                slots[output] = changed
    for output, reference in node.retained.items():
        tensor, gradient = reference(), slots[output]
        if tensor is not None and tensor._grad_fn is node and gradient is not None:
            tensor._grad = gradient if tensor._grad is None else tensor._grad + gradient


def check_changed(hook, gradient, changed):
    """Raise torch's error if a hook has returned what cannot stand for a gradient."""
    name, kind = getattr(hook, "__name__", hook), type(changed).__name__
    refuse(not isinstance(changed, Tensor), "expected Variable, but hook returned '{}'", kind, kind=TypeError)
    refuse(changed.shape != gradient.shape, "hook '{}' has changed the size of value", name)
    kinds = gradient.type(), changed.type()
    refuse(kinds[0] != kinds[1], "hook '{}' has changed the type of value (was {} got {})", name, *kinds)


def add_to_leaf(leaf, gradient, create_graph):
    """Add a gradient to `leaf.grad`."""
    if gradient.is_sparse and (leaf._grad is None or leaf._grad.is_sparse):
        leaf._grad = gradient.clone() if leaf._grad is None else leaf._grad.add_sparse(gradient)
    elif leaf._grad is None and create_graph:
        leaf._grad = gradient.clone()
    elif leaf._grad is None:
        # A copy in the leaf's order: the same gradient may have flowed into several leaves.
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
    text = "element {} of tensors does not require grad and does not have a grad_fn"
    for number, (output, gradient) in enumerate(zip(outputs, grad_outputs)):
        refuse(not output.requires_grad, text, number)
        if gradient is None:
            refuse(output.numel() != 1, "grad can be implicitly created only for scalar outputs")
            refuse(output.is_complex(), "complex gradient", output.dtype)
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
    gradients = first_gradients(tensors, grad_tensors)
    if inputs is not None:
        inputs = as_tuple(inputs)
        refuse(not inputs, "`inputs` argument to `backward()` cannot be empty.")
        no_gradient = not all(leaf.requires_grad for leaf in inputs)
        refuse(no_gradient, "can't retain_grad on Tensor that has requires_grad=False")
    for leaf, gradient in zip(inputs or (), walk(tensors, gradients, inputs, retain_graph, create_graph)):
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
    refuse(materialize_grads and allow_unused is False, "unused zeros")
    text = f"grad(): argument 'is_grads_batched' {EXPLANATION}"
    refuse(is_grads_batched, text, kind=NotImplementedError)
    refuse(not inputs and outputs, "`inputs` argument to `grad()` cannot be empty.")
    no_gradient = not all(tensor.requires_grad for tensor in inputs)
    refuse(no_gradient, "One of the differentiated Tensors does not require grad")
    gradients = walk(outputs, first_gradients(outputs, grad_outputs), inputs, retain_graph, create_graph)
    if materialize_grads:
        gradients = [Tensor(np.zeros_like(x._array)) if g is None else g for x, g in zip(inputs, gradients)]
    elif not allow_unused and None in gradients:
        raise error("unused input", gradients.index(None))
    return tuple(gradients)
