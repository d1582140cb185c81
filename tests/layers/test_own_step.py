"""Tests of layers defined by a `Step` of one's own, which inherit everything else.

Two are written here as a contributor would write them, and compared with plain loops over single vectors.
"""

import copy
import itertools
import pickle

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.func import functional_call
from torch.nn.utils.rnn import pack_sequence

import companion
from companion.layers.recurrent import RNNBase, RNNCellBase
from companion.layers.step import Step, affine
from tests.layers.torch_comparison import flat

float64 = {"dtype": torch.float64}

pytestmark = pytest.mark.filterwarnings("ignore:by_hand leaves as it is")  # these steps have no equations there


class PeepholeStep(Step):
    """An LSTM whose gates depend on the cell state (Gers, Schraudolph and Schmidhuber 2002, JMLR 3)."""

    name = "Peephole"
    gates = 4
    is_pair = True

    def shapes(self, below, hidden_size, size, bias):
        peepholes = dict.fromkeys(["weight_ci", "weight_cf", "weight_co"], (hidden_size,))
        return super().shapes(below, hidden_size, size, bias) | peepholes

    def step(self, a, state, w):
        h, c = state
        a_i, a_f, a_g, a_o = affine(h, w.hh, a).chunk(4, dim=-1)
        # i and f depend on c_{t-1}
        i, f, g = torch.sigmoid(a_i + w.ci * c), torch.sigmoid(a_f + w.cf * c), torch.tanh(a_g)
        c = f * c + i * g
        # o depends on c_t
        o = torch.sigmoid(a_o + w.co * c)
        return o * torch.tanh(c), c


class Peephole(RNNBase):
    """A peephole LSTM over sequences."""

    _step = PeepholeStep()

    def __init__(self, *args, **kwargs):
        super().__init__("Peephole", *args, **kwargs)


class MinimalStep(Step):
    """One gate, which depends on the input alone; no product with the state (Feng et al. 2024, arXiv 2410.01201)."""

    name = "Minimal"

    def shapes(self, below, hidden_size, size, bias):
        return {"weight_ih": (2 * hidden_size, below), "bias_ih": (2 * hidden_size,) if bias else None}

    def ahead(self, x, w):
        return affine(x, w.ih, w.b_ih)

    def step(self, a, state, w):
        (h,) = state
        a_z, n = a.chunk(2, dim=-1)
        z = torch.sigmoid(a_z)
        return ((1 - z) * h + z * n,)


class Minimal(RNNBase):
    """A minimal gated unit over sequences."""

    _step = MinimalStep()

    def __init__(self, *args, **kwargs):
        super().__init__("Minimal", *args, **kwargs)


def peephole_loop(W, x, state):
    """Yield the states (h, c) after each x_t; W: the parameters by name, as they are stored."""
    h, c = state
    for x_t in x:
        i, f, g, o = (W["weight_ih"] @ x_t + W["weight_hh"] @ h + W.get("bias_ih", 0) + W.get("bias_hh", 0)).view(4, -1)
        i, f = (i + W["weight_ci"] * c).sigmoid(), (f + W["weight_cf"] * c).sigmoid()
        c = f * c + i * g.tanh()
        h = (o + W["weight_co"] * c).sigmoid() * c.tanh()
        yield h, c


def minimal_loop(W, x, state):
    (h,) = state
    for x_t in x:
        z, n = (W["weight_ih"] @ x_t + W.get("bias_ih", 0)).view(2, -1)
        h = (1 - z.sigmoid()) * h + z.sigmoid() * n
        yield (h,)


LOOPS = {Peephole: peephole_loop, Minimal: minimal_loop}


def plain(layer, x, start):
    """Return the output (T, D * hidden_size) and last states of one sequence.

    x: (T, features). start: tensors (L * D, hidden_size).
    """
    ends = []
    for k in range(layer.num_layers):
        outputs = []
        for ending in ["", "_reverse"][: 1 + layer.bidirectional]:
            suffix = f"_l{k}{ending}"
            W = {name.removesuffix(suffix): p for name, p in layer.named_parameters() if name.endswith(suffix)}
            turned = x.flip(0) if ending else x
            states = [*LOOPS[type(layer)](W, turned, [s[len(ends)] for s in start])]
            output = torch.stack([h for h, *_ in states])
            outputs.append(output.flip(0) if ending else output)
            ends.append(states[-1])
        x = torch.cat(outputs, -1)
    return x, [torch.stack(s) for s in zip(*ends, strict=True)]


OPTIONS = [{}, {"num_layers": 2, "bidirectional": True}, {"bias": False, "num_layers": 2}]


@pytest.mark.parametrize("hand", [False, True])
@pytest.mark.parametrize("form", ["padded", "batch_first", "packed", "unbatched"])
@pytest.mark.parametrize(("kind", "options"), [*itertools.product(LOOPS, OPTIONS)])
def test_layer_equals_its_equations(kind, options, form, hand):
    """Check that outputs, states and gradients are those of the loop for each sequence."""
    torch.manual_seed(0)
    layer = companion.by_hand(kind(3, 4, batch_first=form == "batch_first", **options, **float64), hand)
    lengths = {"packed": (2, 5, 3), "unbatched": (5,)}.get(form, (5, 5, 5))
    sequences = [torch.randn(length, 3, **float64, requires_grad=True) for length in lengths]
    rows = layer.num_layers * (1 + layer.bidirectional)
    start = torch.randn(1 + (kind is Peephole), rows, len(lengths), 4, **float64, requires_grad=True)

    expected = [plain(layer, x, start[:, :, k]) for k, x in enumerate(sequences)]
    ends = [torch.stack(s, 1) for s in zip(*(states for _, states in expected), strict=True)]
    if form == "packed":
        x, output = (
            pack_sequence(sequences, enforce_sorted=False),
            pack_sequence([y for y, _ in expected], enforce_sorted=False),
        )
    elif form == "unbatched":
        (x,), output, start_here, ends = sequences, expected[0][0], start[:, :, 0], [s[:, 0] for s in ends]
    else:
        axis = 0 if form == "batch_first" else 1
        x, output = torch.stack(sequences, axis), torch.stack([y for y, _ in expected], axis)
    h = start_here if form == "unbatched" else start
    results = flat(layer(x, tuple(h) if kind is Peephole else h[0]))

    leaves = [*sequences, start, *layer.parameters()]
    gradients = []
    for tensors in (results, [*flat(output), *ends]):
        loss = sum((k + 1) * tensor.sin().sum() for k, tensor in enumerate(tensors))
        gradients.append(torch.autograd.grad(loss, leaves))
    torch.testing.assert_close([*results, *gradients[0]], [*flat(output), *ends, *gradients[1]], rtol=0, atol=1e-12)


@pytest.mark.parametrize("hand", [False, True])
@pytest.mark.parametrize("kind", LOOPS)
def test_second_derivatives(kind, hand):
    torch.manual_seed(0)
    layer = companion.by_hand(kind(2, 2, bidirectional=True, **float64), hand)
    names, parameters = zip(*layer.named_parameters(), strict=True)
    x = torch.randn(3, 2, 2, **float64, requires_grad=True)

    def run(x, *parameters):
        return tuple(flat(functional_call(layer, dict(zip(names, parameters, strict=True)), x)))

    assert gradcheck(run, (x, *parameters))
    assert gradgradcheck(run, (x, *parameters))


@pytest.mark.parametrize("kind", LOOPS)
def test_layer_is_an_ordinary_module(kind):
    layer, other = kind(3, 4, 2, **float64), kind(3, 4, 2, **float64)
    x = torch.randn(5, 2, 3, **float64)
    declared = layer._step.shapes(3, 4, 4, True)
    assert {name: tuple(p.shape) for name, p in layer.named_parameters() if name.endswith("_l0")} == {
        f"{name}_l0": shape for name, shape in declared.items()
    }
    assert [name.removesuffix("_l0") for name in layer.state_dict()][: len(declared)] == [*declared]
    assert all((p.abs() <= 0.5).all() for p in layer.parameters())
    assert not torch.equal(other(x)[0], layer(x)[0])
    other.load_state_dict(layer.state_dict(), strict=True)
    assert all(
        torch.equal(twin(x)[0], layer(x)[0])
        for twin in (other, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)))
    )
    with pytest.raises(RuntimeError, match=r"input.size\(-1\) must be equal to input_size"):
        layer(x[..., :2])
    with pytest.raises(ValueError, match=f"{kind.__name__}: Expected input to be 2D or 3D"):
        layer(x[None])


@pytest.mark.parametrize("kind", LOOPS)
def test_cell_equals_the_layer(kind):
    layer = kind(3, 4, **float64)
    cell = type("Cell", (RNNCellBase,), {"_step": kind._step})(3, 4, True, **float64)
    cell.load_state_dict({name.removesuffix("_l0"): tensor for name, tensor in layer.state_dict().items()})
    x, state = torch.randn(5, 2, 3, **float64), None
    for x_t in x:
        state = cell(x_t, state)
    torch.testing.assert_close(flat(state), [end[0] for end in flat(layer(x)[1])], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell"])
def test_subclass_attributes_may_have_any_name(name):
    """Check that a subclass may have attributes with our internal names, as one of torch's layers may."""
    taken = [
        "step",
        "ahead",
        "is_pair",
        "name",
        "num_chunks",
        "gates",
        "shapes",
        "unroll",
        "weights",
        "states",
        "layers",
    ]
    taken += ["nonlinearity"] if "RNN" not in name else []
    results = []
    for source in (companion, torch.nn):
        Subclass = type(
            "Mine", (getattr(source, name),), {word: f"my {word}" for word in taken + ["_layers", "_unroll"]}
        )
        torch.manual_seed(0)
        layer = Subclass(3, 4, **float64)
        for word in taken:
            setattr(layer, word, f"its {word}")
        torch.manual_seed(1)
        results.append(flat(layer(torch.randn(*((5, 2, 3) if "Cell" not in name else (2, 3)), **float64))))
    torch.testing.assert_close(*results, rtol=0, atol=1e-12)
