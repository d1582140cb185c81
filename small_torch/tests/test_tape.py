"""The way back: what changes on it, what is refused, as in torch, and that nothing of it stays.

What small_torch remembers is gone with the last tensor that needs it, and waits for no collector. A ring of
references would stay until Python looks for such rings: a page's memory would fill, and much time would go there.
"""

import gc
import warnings
import weakref

import pytest

import small_torch
from both_torches import agree, numbers, program_of, rows_of
from small_torch import nn
from small_torch.autograd.engine import walk

GRAPHS = {
    "functions": lambda x: (x.sigmoid() * x.tanh() + x.exp().sqrt()).log(),
    "pieces": lambda x: sum(piece * piece for piece in x.chunk(3, dim=1)),
    "views": lambda x: x.t()[1:].reshape(2, 4).unbind(0)[1],
    "joined": lambda x: small_torch.cat([x, small_torch.stack([x, x]).mean(0)]),
    "largest": lambda x: x.max(dim=1).values,
    "in place": lambda x: (2 * x).add_(x).mul_(3),
    "a layer": lambda x: nn.GRU(3, 2)(x)[0],
    "another layer": lambda x: nn.LSTM(3, 2, num_layers=2, bidirectional=True)(x)[1][1],
    "a loss": lambda x: nn.functional.cross_entropy(x, small_torch.tensor([0, 1, 2, 0])),
}


@pytest.fixture
def no_collector():
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("asked", [False, True], ids=["forgotten", "walked"])
@pytest.mark.parametrize("name", GRAPHS)
def test_graph_is_gone(name, asked, no_collector):
    x = small_torch.rand(4, 3, requires_grad=True)
    inner = 2 * x
    out = GRAPHS[name](inner)
    first = weakref.ref(inner.grad_fn)
    if asked:
        walk([out], [small_torch.ones_like(out)], keep=True)
    del inner
    assert first() is not None
    del out
    assert first() is None


def leaf(t):
    return numbers(t, 2, 3).clone().requires_grad_()


def asked(t, loss, *leaves, times=1):
    """The gradients of leaves, of a loss that is walked so many times."""
    for _ in range(times):
        loss.sum().backward()
    return [one.grad for one in leaves]


def changed_after(t, change, learns=True):
    """A tensor that the way back needs is changed before it is taken; learns: whether a gradient goes through it."""
    x = leaf(t)
    y = 2 * (x if learns else x.detach())
    loss = x * y
    change(y)
    return asked(t, loss, x)


def read_by(t, read, given, change):
    """A condition or an index by which a leaf is read is changed before the way back is taken."""
    x = leaf(t)
    y = read(x, given)
    change(given)
    return asked(t, y, x)


def stepped_after(t):
    """An optimizer changes a parameter that the way back needs."""
    w, x = leaf(t), leaf(t)
    loss = (w * x).sum()
    w.grad = t.ones_like(w)
    t.optim.SGD([w], lr=0.1).step()
    return asked(t, loss, w, x)


def hooked(t, x, *hooks):
    y = x * x
    for hook in hooks:
        y.register_hook(hook)
    x.register_hook(lambda g: g + 1)
    return asked(t, y * 3, x)


def kept(t):
    x = leaf(t)
    y = x * x
    y.retain_grad()
    loss = (3 * y).sum()
    loss.backward(retain_graph=True)
    return [*asked(t, loss, x), y.grad]


def within(t):
    """Whether nodes are left, inside and outside of what says so."""
    found = []
    with t.no_grad():
        with t.enable_grad(), t.no_grad():
            found.append(t.is_grad_enabled())
        found.append(t.is_grad_enabled())
    with t.enable_grad():
        pass
    return [*found, t.is_grad_enabled()]


def watched(t):
    """torch says as well where the node was made."""
    x = t.zeros(2, requires_grad=True)
    with warnings.catch_warnings(action="ignore"), t.autograd.set_detect_anomaly(True):
        return asked(t, x / x, x)


def shared(t):
    """One gradient for two leaves: what is done to the one does nothing to the other."""
    x, y = leaf(t), leaf(t)
    grads = asked(t, x + y, x, y)
    grads[0].zero_()
    return [*grads, *asked(t, x * x, x, y)]


# Programs of a torch, as program_of takes them.
WALKS = """
changed_after(t, lambda y: y.__setitem__(0, 1.0)) | changed_after(t, lambda y: y.__setitem__(0, 1.0), learns=False)
changed_after(t, lambda y: y[0].mul_(2)) | changed_after(t, lambda y: y.detach().zero_())
changed_after(t, lambda y: y.data.zero_())
read_by(t, lambda x, k: t.where(k, x, 0.0), t.tensor([[True], [False]]), lambda k: k.logical_not_())
read_by(t, lambda x, i: x[i], t.tensor([0]), lambda i: i.add_(1)) | stepped_after(t)
hooked(t, leaf(t), lambda g: g * 2, lambda g: None) | kept(t) | asked(t, leaf(t).exp(), times=2)
asked(t, (x := leaf(t)) + x, x, times=2) | within(t) | watched(t) | shared(t) | asked(t, leaf(t).exp().add_(1))
asked(t, leaf(t).tanh().mul_(2)) | leaf(t).numpy() | leaf(t).add_(1) | leaf(t)[0].add_(1) | numbers(2, 3, grad=True).add_(1)
numbers(2, 3, grad=True)[0].add_(1) | leaf(t).__setitem__(0, 1.0) | t.ones(1, 3).expand(2, 3).add_(1)
[t.tensor(2.0, dtype=t.float64) * t.ones(2), t.tensor(2) * t.ones(2, dtype=t.int32)]
"""  # noqa: E501


@pytest.mark.parametrize("row", rows_of(WALKS))
def test_walk(row):
    agree(program_of(row, **globals()))
