"""The backward pass: changes before it, errors as in torch, and freed memory.

A graph must be freed with the last tensor that needs it, without the garbage collector. A reference cycle would stay
until Python searches for cycles: a page's memory would fill, and the searches would take much time.
"""

import gc
import weakref

import pytest

import small_torch
from both_torches import agree, compile_row, numbers, split_rows
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


@pytest.mark.parametrize("backward", [False, True], ids=["deleted", "after backward"])
@pytest.mark.parametrize("name", GRAPHS)
def test_graph_is_freed(name, backward, no_collector):
    x = small_torch.rand(4, 3, requires_grad=True)
    inner = 2 * x
    out = GRAPHS[name](inner)
    first = weakref.ref(inner.grad_fn)
    if backward:
        walk([out], [small_torch.ones_like(out)], retain_graph=True)
    del inner
    assert first() is not None
    del out
    assert first() is None


def leaf(t):
    return numbers(t, 2, 3).clone().requires_grad_()


def run_backward(t, loss, *leaves, times=1):
    """Return the gradients of leaves after so many backward passes of a loss."""
    for _ in range(times):
        loss.sum().backward()
    return [leaf.grad for leaf in leaves]


def change_before_backward(t, change, learns=True):
    """Change a tensor that the backward pass needs. learns: whether a gradient goes through it."""
    x = leaf(t)
    y = 2 * (x if learns else x.detach())
    loss = x * y
    change(y)
    return run_backward(t, loss, x)


def change_index_before_backward(t, read, index, change):
    """Change a condition or an index, by which a leaf is read, before the backward pass."""
    x = leaf(t)
    y = read(x, index)
    change(index)
    return run_backward(t, y, x)


def step_before_backward(t):
    """Step an optimizer on a parameter that the backward pass needs."""
    w, x = leaf(t), leaf(t)
    loss = (w * x).sum()
    w.grad = t.ones_like(w)
    t.optim.SGD([w], lr=0.1).step()
    return run_backward(t, loss, w, x)


def grad_modes(t):
    """Return whether nodes are recorded, inside and outside of the modes."""
    modes = []
    with t.no_grad():
        with t.enable_grad(), t.no_grad():
            modes.append(t.is_grad_enabled())
        modes.append(t.is_grad_enabled())
    t.set_grad_enabled(False)(lambda: modes.append(t.is_grad_enabled()))()
    with t.enable_grad():
        pass
    return [*modes, t.is_grad_enabled()]


def with_shared_gradient(t):
    """Check that two leaves with one gradient do not share its memory."""
    x, y = leaf(t), leaf(t)
    grads = run_backward(t, x + y, x, y)
    grads[0].zero_()
    return [*grads, *run_backward(t, x * x, x, y)]


def infer(t):
    """Return a tensor that was computed within inference_mode."""
    with t.inference_mode():
        return leaf(t) * 2


def detach_before_backward(t):
    y = leaf(t).sin()
    z = y * y
    y.detach_()
    return run_backward(t, z)


def set_at(x, index, value):
    x[index] = value
    return x


# Programs for compile_row.
BACKWARD_PASSES = """
change_before_backward(t, lambda y: y.__setitem__(0, 1.0)) | change_before_backward(t, lambda y: y.__setitem__(0, 1.0), learns=False)
change_before_backward(t, lambda y: y[0].mul_(2)) | change_before_backward(t, lambda y: y.detach().zero_())
change_before_backward(t, lambda y: y.data.zero_())
change_index_before_backward(t, lambda x, k: t.where(k, x, 0.0), t.tensor([[True], [False]]), lambda k: k.logical_not_())
change_index_before_backward(t, lambda x, i: x[i], t.tensor([0]), lambda i: i.add_(1)) | step_before_backward(t)
run_backward(t, leaf(t).exp(), times=2)
run_backward(t, (x := leaf(t)) + x, x, times=2) | grad_modes(t) | with_shared_gradient(t) | run_backward(t, leaf(t).exp().add_(1))
run_backward(t, t.ones(2, 3, dtype=t.float64).mul_(x := leaf(t)), x) | run_backward(t, (x := leaf(t)).sin().logical_not_(), x)
run_backward(t, leaf(t).tanh().mul_(2)) | leaf(t).numpy() | leaf(t).add_(1) | leaf(t)[0].add_(1) | numbers(2, 3, grad=True).add_(1)
numbers(2, 3, grad=True)[0].add_(1) | leaf(t).__setitem__(0, 1.0) | t.ones(1, 3).expand(2, 3).add_(1)
run_backward(t, leaf(t)[[0, 1]], times=2) | run_backward(t, leaf(t)[leaf(t) > 0], times=2) | run_backward(t, leaf(t).max(), times=2)
run_backward(t, leaf(t).sort().values, times=2) | run_backward(t, leaf(t).index_add(0, t.tensor([0]), t.ones(1, 3, dtype=t.float64)), times=2)
run_backward(t, t.ones(3, 0, requires_grad=True).index_fill(0, t.tensor([0]), 1.0), times=2)
change_index_before_backward(t, lambda x, i: x.max(0)[0] + i * (i := x.max(0)[1]), t.tensor([0]), lambda i: i.add_(1))
infer(t).add_(1) | infer(t)[0].zero_() | infer(t)._version | infer(t).requires_grad_() | infer(t).clone().add_(1) | infer(t).names
detach_before_backward(t) | leaf(t).logical_and_(leaf(t)).detach() | run_backward(t, (y := leaf(t).exp()).sub_(y[0].detach().clone()), times=2)
run_backward(t, (y := leaf(t) * 1).index_put_((t.tensor([0]),), t.zeros((), dtype=t.float64)), times=2)
set_at(t.arange(3), 0, float("inf")) | set_at(t.arange(3), 0, 2.7) | set_at(t.ones(3), 0, 1e300) | set_at(t.arange(3).to(t.uint8), 0, 300)
set_at(x := t.arange(3), x > 0, t.tensor([1.5])) | set_at(t.arange(3), 0, t.ones((), requires_grad=True))
set_at(x := t.ones(1, 3), (-1, slice(None)), x) | t.zeros(3).bool().cumsum_(0) | t.zeros(2, 3).requires_grad_().cumsum(0, dtype=t.int64)
t.arange(2).sub(t.arange(2), alpha=3j) | t.ones(2, 3).logsumexp(()) | t.ones(0, 3).logsumexp(()) | t.arange(4).float().view(2, 2)[:, 0].unfold(0, 2, 1).add_(1)
t.lerp(t.arange(2), t.ones(2), 0.5) | t.addcmul(t.arange(2), t.ones(2), t.arange(2), value=1.5) | t.tensor([]).norm(-1) | t.tensor([2.0, -3.0]).norm(-1) | run_backward(t, (y := leaf(t).norm()).mul_(y)) | 1e6 // t.ones(2).half()
t.max(t.ones(2), 0).total | run_backward(t, (y := leaf(t).std(0)).sub_(y)) | run_backward(t, leaf(t).amin(0).mul_(2)) | run_backward(t, leaf(t).prod(0).mul_(2)) | t.zeros(4, 3)[:, :1].ravel().stride()
[t.tensor(2.0, dtype=t.float64) * t.ones(2), t.tensor(2) * t.ones(2, dtype=t.int32)]
run_backward(t, t.linalg.solve(leaf(t)[:, :2], t.ones(2, 1, dtype=t.float64)).mul_(2)) | float(t.tensor(2 + 0j)) | int(t.tensor(2 + 1j))
"""  # noqa: E501


@pytest.mark.parametrize("row", split_rows(BACKWARD_PASSES))
def test_backward_pass(row):
    agree(compile_row(row, **globals()))
