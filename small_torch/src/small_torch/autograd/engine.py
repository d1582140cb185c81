"""The way back: gradients are carried over the tape's nodes, from the last one made to the first."""

import numpy as np

from ..tape import edge, set_grad_enabled
from ..tensor import Tensor
from .profiler_legacy import note


def walk(roots, gradients, targets=None, keep=False, create_graph=False):
    """Carry gradients from the roots backwards. With targets, only to these: return theirs, None for what is not
    reached.

    Nodes are visited from the last one made to the first: then all that flows into one has arrived before it is asked.
    """
    note("autograd::engine::evaluate_function")
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


def backward_of(tensor, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """Add to the `grad` of each leaf the gradient of this tensor."""
    backward(tensor, gradient, retain_graph, create_graph, inputs)


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
