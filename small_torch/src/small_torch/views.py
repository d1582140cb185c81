"""Views: tensors that share the numbers of another tensor, their base.

A view of a view has the same base. If a tensor with a graph is changed in place through a view, the base gets a node
`CopySlices`. Its other views replay their steps on the changed base when their node is needed the next time, which they
notice by the version that base and views share.
"""

import weakref
from functools import partial

import numpy as np

from .elementwise import masked
from .messages import error
from .tape import Node, recording, set_grad_enabled
from .tensor import Tensor, cpu, record, record_many


def record_views(source, arrays, name, rule, replay):
    """Record several views, whose gradients come back together. replay: makes one of them again, by its number."""
    outs = record_many(arrays, name, (source,), rule) if arrays else []
    for number, out in enumerate(outs):
        attach(out, source, partial(replay, number=number), "many views")
    return tuple(outs)


def attach(out, source, replay, limit=None):
    """Make a tensor a view. limit: the error if it is changed in place while it has a graph, or None."""
    base, limit = source, limit if recording[0] else "view without graph"
    if source._base is not None:
        base, limit, first, then = source._base, source._limit or limit, source._replay, replay

        def replay(base):
            return then(first(base))

    out._base, out._replay, out._limit = base, replay, limit
    changes = out._changes = base._changes
    out._seen = changes[0]
    if base.device is not cpu:
        out.device = base.device
    if base._requires_grad:
        out._requires_grad = True
    elif base._array.dtype.kind in "fc":  # let the base find its view, in case it requires a gradient later
        views = base._views
        if views is None:
            views = base._views = []
        elif len(views) > 63 and not len(views) & (len(views) - 1):  # at powers of two, forget those that are gone
            views[:] = [view for view in views if view() is not None]
        views.append(weakref.ref(out))


def view_row(name, view, back=None):
    """Make an operation that returns a view.

    view: numpy's function of an array and arguments. back: a function of the gradient, the input's shape and the
    arguments that returns the input's gradient; by default, zeros with the gradient in the place of the view.
    """

    def fill(g, shape, *arguments):
        out = np.zeros(shape, g._array.dtype)
        view(out, *arguments)[...] = g._array
        return record(out, name + "Backward", (g,), lambda h: operation(h, *arguments))

    back = back or fill

    def operation(input, *arguments):
        shape = input._array.shape
        out = record(view(input._array, *arguments), name, (input,), lambda g: back(g, shape, *arguments))
        attach(out, input, lambda base: operation(base, *arguments))
        return out

    return operation


def share_requirement(base):
    """Let the views of a base that requires a gradient require one, too."""
    for view in map(weakref.ref.__call__, base._views or ()):
        if view is not None:
            view._requires_grad = True
    base._views = None


def refresh(view):
    """Find the node of a view whose base was changed in place."""
    if view._grad_fn is None and not view._base._requires_grad:
        return
    check_limit(view, "its base or another view of its base has been")
    with set_grad_enabled(True):
        new = view._replay(view._base)
    if new._grad_fn is None:  # the base has no graph, though the view had one
        new._grad_fn = Node("AsStrided", (view._base,), lambda g: None)
    new._grad_fn.title = "AsStrided"
    view._grad_fn, view._output, view._seen = new._grad_fn, new._output, view._changes[0]


def check_limit(view, changed):
    """Raise RuntimeError if the view is one of several, or was made within no_grad. changed: what is changed."""
    if view._limit is not None:
        maker = view._grad_fn.name().partition("Backward")[0] if view._grad_fn else None
        raise error(view._limit if maker else "view without graph", changed, view._output, maker)


def check_may_change(tensor, *others):
    """Raise torch's error for a tensor that must not be changed in place, to numbers that come from the others."""
    if recording[0] and (tensor._requires_grad or any(other._requires_grad for other in others)):
        if tensor._base is not None:
            check_limit(tensor, "is being")
        if tensor._requires_grad and (tensor if tensor._base is None else tensor._base).grad_fn is None:
            kind = "a leaf" if tensor._base is None else "a view of a leaf"
            raise RuntimeError(f"{kind} Variable that requires grad is being used in an in-place operation.")


def take_graph(tensor, new):
    """Make `new` the origin of this tensor; if it is a view, of this part of its base."""
    if new._array.dtype != tensor._array.dtype:
        new = new.to(tensor.dtype)
    base, replay = tensor._base, tensor._replay
    if base is None:
        tensor._grad_fn, tensor._output, tensor._requires_grad = new._grad_fn, new._output, new._requires_grad
    else:
        inside = Tensor(np.zeros(base._array.shape, bool))
        with set_grad_enabled(False):
            replay(inside)._array[...] = True
        inside = inside._array
        base._grad_fn = Node("CopySlices", (base, new), lambda g: (masked(g, inside), replay(g)))
        base._grad_fn.saved = [(new, new._changes[0])]  # it cannot be used twice
        base._output, base._requires_grad = 0, True
        tensor._requires_grad = True
        if tensor.retains_grad:
            tensor.retain_grad()
        tensor = base
    if tensor.retains_grad:
        tensor.retain_grad()
    if tensor._requires_grad and tensor._views:
        share_requirement(tensor)


def change_shape(operation):
    """Return the variant of a view operation that changes the shape of its tensor, whose numbers stay."""

    def change(self, *arguments, **options):
        check_may_change(self)
        new = operation(self, *arguments, **options)
        self._array, self._grad_fn, self._output = new._array, new._grad_fn, new._output
        if self._base is not None:
            self._replay = new._replay
        self._changes[0] += 1
        self._seen = self._changes[0]
        return self

    change.__name__, change.__wrapped__ = f"{operation.__name__}_", operation
    return change


def change_windows(operation, tensor, arguments, options):
    """Change rows one after the other, where a number lies in several of them."""
    for row in np.ndindex(tensor._array.shape[:-1]):
        parts = [x.expand(tensor.shape)[row] if isinstance(x, Tensor) else x for x in (*arguments, *options.values())]
        operation(tensor[row], *parts[: len(arguments)], **dict(zip(options, parts[len(arguments) :])))
    return tensor
