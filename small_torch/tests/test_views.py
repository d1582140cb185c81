"""Views, indices and memory: what shares numbers with what, and where results lie, as in torch."""

import numpy as np  # noqa: F401  for the rows
import pytest

from both_torches import agree, compile_row, numbers, split_rows


def result(t, *shape):
    """Return a tensor that a graph leads to, and its leaf."""
    leaf = numbers(t, *shape, grad=True)
    return leaf, leaf * 1


def change_view(t, view, change, shape=(4, 3)):
    """Change a view of a result in place; return what is then seen, and the gradient of the leaf."""
    leaf, x = result(t, *shape)
    v = view(x)
    w = v.detach()[..., :1]
    change(v)
    (x * x).sum().backward()
    return [x, v, w, leaf.grad, x._base is None]


def change_base(t, view, shape=(4, 3)):
    """Change a result in place, and use a view that was made before."""
    leaf, x = result(t, *shape)
    v = view(x)
    x.mul_(2)
    (v * v).sum().backward()
    return [v, leaf.grad]


def require_later(t, *shape):
    """Return which views require a gradient after their base does."""
    x = t.zeros(shape)
    views = [x[0], x.T, x[0][:1], x.detach(), x.clone()]
    x.requires_grad_()
    return [v.requires_grad for v in views]


def add_to_zeros(t):
    """Add a parameter to a part of zeros, which another view shares."""
    w, x = numbers(t, 2, grad=True), numbers(t, 3, 2)
    v = x[1:]
    x[1].add_(w)
    v.sum().backward()
    return [x.requires_grad, v.requires_grad, w.grad]


def in_no_grad(t, change):
    leaf, x = result(t, 4, 3)
    with t.no_grad():
        v = x[0]
    return v.requires_grad, v.is_leaf, change(x, v)


def assigned(t, index, value, shape=(2, 3, 4)):
    x = t.zeros(shape)
    x[index] = value
    return x


def with_graph(t, x, index, value):
    """Assign where a gradient flows; return the gradients of both sides."""
    (leaf, x), (number, value) = result(t, *x), result(t, *value)
    x[index] = value
    (x * x).sum().backward()
    return [x, leaf.grad, number.grad]


def strides(t, *operations):
    """Return how results of a permuted, an expanded and a sliced tensor lie in memory."""
    x = t.arange(24.0).view(4, 2, 3)
    inputs = x.permute(1, 2, 0), x[0].T.expand(2, 3, 2), x[::2, :, ::2], x.transpose(0, 1)
    return [operation(x).stride() for operation in operations for x in inputs]


ROWS = """
change_view(t, lambda x: x[1:], lambda v: v.mul_(2)) | change_view(t, lambda x: x.T[0], lambda v: v.exp_()) | change_view(t, lambda x: x[1:][:, 0], lambda v: v.zero_())
change_view(t, lambda x: x.view(2, 6)[:, ::2], lambda v: v.copy_(numbers(t, 2, 3))) | change_view(t, lambda x: x.diagonal(), lambda v: v.add_(1)) | change_view(t, lambda x: x.unsqueeze(1), lambda v: v.__setitem__((0, 0), 3.0))
change_view(t, lambda x: x.unbind(0)[1], lambda v: v.mul_(2)) | change_view(t, lambda x: x.split(2)[1], lambda v: v.__setitem__(0, 1.0)) | change_view(t, lambda x: x.chunk(2, 1)[0][0], lambda v: v.mul_(2)) | change_view(t, lambda x: x.expand(2, 4, 3), lambda v: v.add_(1))
change_base(t, lambda x: x[1:]) | change_base(t, lambda x: x.T[:1]) | change_base(t, lambda x: x.unfold(0, 2, 1)) | change_base(t, lambda x: x.unbind(1)[0]) | change_base(t, lambda x: x.expand(2, 4, 3))
require_later(t, 2, 3) | add_to_zeros(t) | in_no_grad(t, lambda x, v: v.mul_(2)) | in_no_grad(t, lambda x, v: x.mul_(2).sum() + v) | numbers(t, 3)[:1].detach_()
t.zeros(2, 3, 4)[0, :, [1, 3]].shape | t.zeros(2, 3, 4)[1:, None, 2, :, None].shape | t.zeros(2, 3, 4)[[0, 1], :, [1, 2]].shape | t.zeros(2, 3, 4)[:, t.tensor(1), [0]].shape | t.zeros(2, 3)[True].shape
t.zeros(2, 3)[0, 0, 0] | t.zeros(2, 3)[:, [5]] | t.zeros(2, 3)[[0, 1], [0, 1, 2]] | t.zeros(())[0] | t.zeros(3)[::-1] | t.zeros(3)[t.zeros(2).bool()] | t.zeros(3)[0.5] | t.zeros(3)[{}]
assigned(t, (0, slice(None), [1, 3]), t.arange(6.0).view(3, 2)) | assigned(t, (0, slice(None), [1, 3]), t.ones(2, 2)) | assigned(t, 0, t.ones(1, 1, 3, 4)) | assigned(t, 0, t.ones(2, 3, 4)) | assigned(t, [0], t.ones(1).long()) | assigned(t, 0, [1.0]) | assigned(t, 0, 1j)
with_graph(t, (2, 3), 0, (3,)) | with_graph(t, (2, 3), (slice(None), [0, 2]), (2, 1)) | with_graph(t, (2, 3), (1, [0, 2]), (2,)) | with_graph(t, (2, 3), (slice(None), 1), (1, 2))
(x := t.arange(4.0))[1:].add_(x[:-1]) | (x := t.arange(4.0))[:2].add_(x[2:]) | (x := t.arange(4.0).view(2, 2)).copy_(x.T) | (x := t.arange(3.0)).index_add_(0, t.tensor([0]), x[:1])
(x := t.zeros(3), x.unfold(0, 2, 1).add_(1))[0] | (x := numbers(t, 3, 3), t.diag(x).add_(1))[0] | (x := t.tensor(1.0), x.amax().add_(1))[0] | (x := t.arange(3.0), x.diff(0).add_(1))[0] | (x := numbers(t, 3), x.broadcast_to((3,)).add_(1))[0]
strides(t, lambda x: x.sum(0), lambda x: x.mean(-1, True), lambda x: x.amax(1), lambda x: x.max(0).values, lambda x: x.sort(0).indices, lambda x: x.any(1), lambda x: x.cumsum(0), lambda x: x.softmax(1))
strides(t, lambda x: x / 2, lambda x: x.clone(), lambda x: x.contiguous(), lambda x: x + x.contiguous(), lambda x: x.flip(0), lambda x: x.roll(1, 0), lambda x: x.repeat(1, 1, 2), lambda x: x.tril())
strides(t, lambda x: t.cat([x, x], 1), lambda x: t.stack([x, x], -1), lambda x: x[[0, 1]], lambda x: x[:, [1, 0]], lambda x: x[..., [0, 1]], lambda x: x.index_select(1, t.tensor([0])), lambda x: x[x > 3], lambda x: x.unsqueeze(-1))
t.broadcast_tensors(t.ones(1), 3) | t.cat([t.ones(1), np.ones(1)]) | t.stack([None]) | t.ones(2).index_put_((np.zeros(1),), t.ones(1)) | t.typename(t.nn.Linear(1, 1)) | t.typename(t.nn.LSTM)
x.sum(axis=0) | x.mean(0, 1) | x.transpose(0) | x.transpose(0, 1.0) | x.argmax((0, 1)) | t.reshape(x, -1) | t.flip(x, 0) | t.sum([1.0]) | x.permute() | x.reshape(2.5) | x.var(0, True, False, True) is None | x.topk(1.0) | t.permute(x, 1, 0) | t.permute(x, dims=(1, 0)) | t.flip(x, dims=[0])
t.clamp(t.ones(2), t.ones(3), t.ones(2))
"""  # noqa: E501


@pytest.mark.parametrize("row", split_rows(ROWS))
def test_views(row):
    agree(compile_row(row.replace("x.", "numbers(t, 2, 3).") if row.startswith("x.") else row, **globals()))
