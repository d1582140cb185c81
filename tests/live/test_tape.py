"""What the small torch remembers for the way back is gone with the last tensor that needs it, and waits for no collector.

A ring of references would stay until Python looks for such rings: a page's memory would fill, and much time would go there.
"""

import gc
import weakref

import pytest
import small_torch
from small_torch import nn
from small_torch.autograd import walk

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
    gc.collect()
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
