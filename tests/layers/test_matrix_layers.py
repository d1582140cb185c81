"""Tests of layers with a matrix state: equations, pieces, overflow, use as a module, errors."""

import copy
import math
import pickle

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd import gradcheck, gradgradcheck
from torch.func import functional_call, grad, vmap
from torch.nn import functional as F

from companion import MLSTM, DeltaNet, GatedDeltaNet, GatedLinearAttention, LinearAttention
from companion.layers.mlstm import stabilised
from tests.layers.torch_comparison import examples, flat, randn

float64 = {"dtype": torch.float64}
KINDS = {
    "linear": (LinearAttention, {}),
    "gated": (GatedLinearAttention, {}),
    "gated by head": (GatedLinearAttention, {"per_key": False}),
    "delta": (DeltaNet, {}),
    "delta to 2": (DeltaNet, {"most": 2}),
    "gated delta": (GatedDeltaNet, {}),
    "gated delta to 2": (GatedDeltaNet, {"most": 2}),
    "mlstm": (MLSTM, {}),
}
kinds = pytest.mark.parametrize(("kind", "more"), KINDS.values(), ids=KINDS)


def close(ours, theirs, atol=1e-10):
    """Check that tensors are within `atol`, relative to the largest number where that is above 1."""
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other, rtol=0, atol=atol * max(1.0, other.detach().abs().max().item()))


def state_of(layer, B=None):
    """Return a random state in the layer's form."""
    state = tuple(randn(*(() if B is None else (B,)), *shape) for shape in layer.state_shapes())
    return state if len(state) > 1 else state[0]


def σ(x):
    return 1 / (1 + (-x).exp())


def by_equations(layer, x, state):
    """Run one sequence, (T, input_size), step by step and head by head, from the weights alone."""
    size, heads = layer.hidden_size // layer.num_heads, layer.num_heads
    is_mlstm = isinstance(layer, MLSTM)
    wide = 4 if is_mlstm else 3
    state, outputs = flat(state), []
    for x_t in x:
        sums = layer.weight_ih_l0 @ x_t + layer.bias_ih_l0
        wides, gates = sums[: wide * layer.hidden_size], sums[wide * layer.hidden_size :]
        read, new = [], []
        for head in range(heads):
            parts = [wides[p * layer.hidden_size + head * size :][:size] for p in range(wide)]
            per_key = isinstance(layer, GatedLinearAttention) and layer.per_key
            g = [gates[p * heads + head] for p in range(len(gates) // heads)]
            g = [gates[head * size :][:size]] if per_key else g
            if is_mlstm:
                q, k, v, o = parts
                k, i, f = k / math.sqrt(size), g[0].exp(), σ(g[1])
                C, n = f * state[0][head] + i * torch.outer(v, k), f * state[1][head] + i * k
                read.append(σ(o) * (C @ q) / (n @ q).abs().clamp(min=1))
                new.append((C, n))
            else:
                q, k, v = parts
                q, k = q / q.norm(), k / k.norm()
                alpha = σ(g[0]) if isinstance(layer, (GatedLinearAttention, GatedDeltaNet)) else 1
                S = alpha ** (1 / 16 if per_key else 1) * state[0][head]  # a gate for each column
                if isinstance(layer, DeltaNet):
                    v = layer.most * σ(g[-1]) * (v - S @ k)
                S = S + torch.outer(v, k)
                read.append(S @ q)
                new.append((S,))
        state = [torch.stack(parts) for parts in zip(*new, strict=True)]
        outputs.append(torch.cat(read))
    return torch.stack(outputs), state


@kinds
@pytest.mark.parametrize("heads", [1, 3])
def test_layer_equals_its_equations(kind, more, heads):
    """Check outputs, state and gradients, from any state.

    The mLSTM is computed without scaling: n and C are multiplied by e^m.
    """
    torch.manual_seed(0)
    layer, x = kind(4, 6, heads, **more, **float64), randn(5, 2, 4)
    state = state_of(layer, 2)
    leaves = [x.requires_grad_(), *layer.parameters()]
    output, after = layer(x, state)
    by_row = []
    for row in range(2):
        before = [part[row] for part in flat(state)]
        if kind is MLSTM:
            C, n, m = before
            before = [m.exp()[:, None, None] * C, m.exp()[:, None] * n]
        by_row.append(by_equations(layer, x[:, row], before))
    expected = torch.stack([out for out, _ in by_row], dim=1)
    ends = [torch.stack(parts) for parts in zip(*(end for _, end in by_row), strict=True)]
    if kind is MLSTM:
        C, n, m = after
        after = m.exp()[..., None, None] * C, m.exp()[..., None] * n
    close([output, *flat(after)], [expected, *ends])
    gradients = []
    for out, end in ((output, flat(after)), (expected, ends)):
        weights = torch.arange(out.numel(), **float64).view_as(out).sin()
        gradients.append(torch.autograd.grad((out * weights).sum() + sum(part.sin().sum() for part in end), leaves))
    close(*gradients)


@kinds
def test_pieces_equal_the_whole(kind, more):
    """Check more than one chunk, in a batch, for one sequence, and with the batch first."""
    torch.manual_seed(0)
    layer, x = kind(3, 4, 2, **more, **float64), randn(70, 2, 3)
    whole, end = layer(x)
    assert whole.shape == (70, 2, 4) and [s.shape for s in flat(end)] == [(2, *shape) for shape in layer.state_shapes()]
    outputs, state = [], None
    for piece in x.split([1, 66, 3]):
        output, state = layer(piece, state)
        outputs.append(output)
    close([torch.cat(outputs), *flat(state)], [whole, *flat(end)])

    outputs, state = [], None
    for piece in x[:, 1].split([2, 68]):
        output, state = layer(piece, state)
        outputs.append(output)
    close([torch.cat(outputs), *flat(state)], [whole[:, 1], *(part[1] for part in flat(end))])

    first = kind(3, 4, 2, batch_first=True, **more, **float64)
    first.load_state_dict(layer.state_dict())
    output, state = first(x.transpose(0, 1))
    close([output.transpose(0, 1), *flat(state)], [whole, *flat(end)])
    assert layer(x[:, :0])[0].shape == (70, 0, 4)


@kinds
def test_gradients_of_gradients(kind, more):
    torch.manual_seed(0)
    layer = kind(2, 2, **more, **float64).requires_grad_(False)
    inputs = [x.requires_grad_() for x in (randn(3, 1, 2), *flat(state_of(layer, 1)))]

    def run(x, *state):
        output, after = layer(x, state if len(state) > 1 else state[0])
        return output, *flat(after)

    assert gradcheck(run, inputs, fast_mode=True) and gradgradcheck(run, inputs, fast_mode=True)


# ---- mLSTM: exponentials that overflow ----


def mlstm(i=0.0, f=0.0, heads=1, **options):
    """Return an mLSTM whose gates have these biases."""
    torch.manual_seed(0)
    layer = MLSTM(3, 4, heads, **({**float64} | options))
    with torch.no_grad():
        layer.bias_ih_l0[16 : 16 + heads], layer.bias_ih_l0[16 + heads :] = i, f
    return layer


def gradients_of(layer, x, state=None):
    x = x.clone().requires_grad_()
    output, after = layer(x, state)
    return output, after, torch.autograd.grad(output.sin().sum(), [x, *layer.parameters()])


def by_logarithms(layer, x):
    """Return an mLSTM's output, computed from logarithms.

    It is a sum of v (k · q) e^(log), divided by the largest exponential at the end.
    """
    outputs, W, b = [], layer.weight_ih_l0, layer.bias_ih_l0
    parts = [(W @ x_t + b).split(layer.parts) for x_t in x]
    for t, (q, _, _, o, _, _) in enumerate(parts):
        # a value written at s has the factor e^(ĩ_s + Σ log f) at t
        logs = [
            parts[s][4] + sum(-torch.log1p((-parts[r][5]).exp()) for r in range(s + 1, t + 1)) for s in range(t + 1)
        ]
        largest = max(logs)
        weights = [(log - largest).exp() * (k @ q) / 2 for log, (_, k, *_) in zip(logs, parts, strict=False)]
        total = sum(weights).abs()
        below = torch.maximum(total, (-largest).exp())
        outputs.append(σ(o) * sum(w * p[2] for w, p in zip(weights, parts, strict=False)) / below)
    return torch.stack(outputs)


@pytest.mark.parametrize("i", [-20.0, 0.0, 800.0])
def test_overflowing_input_gates(i):
    """Check i = 800, where exp overflows float64: results are right, and gradients finite."""
    layer, x = mlstm(i=i), randn(6, 2, 3)
    output, _, gradients = gradients_of(layer, x)
    expected = torch.stack([by_logarithms(layer, x[:, row]) for row in range(2)], dim=1)
    close([output], [expected])
    assert all(g.isfinite().all() for g in gradients)
    state = [torch.zeros(1, 4, 4, **float64), torch.zeros(1, 4, **float64)]
    plain, _ = by_equations(layer, x[:, 0], state)
    assert plain.isfinite().all() == (i < 800)


@pytest.mark.parametrize(("i", "f"), [(-1000.0, -1000.0), (-1000.0, 5.0), (1000.0, -1000.0), (1000.0, 5.0)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_extreme_gates_give_finite_results(i, f, dtype):
    """Check also queries of zeros, whose denominator is e^-1000."""
    layer, x = mlstm(i, f, dtype=dtype), randn(6, 2, 3).to(dtype)
    for zeros in (False, True):
        if zeros:
            layer.weight_ih_l0.data[:4], layer.bias_ih_l0.data[:4] = 0, 0
        output, state, gradients = gradients_of(layer, x)
        assert all(tensor.isfinite().all() for tensor in (output, *state, *([] if zeros else gradients)))
        assert (output.abs().max() > 1e-30) == (i > 0 and not zeros)


@settings(max_examples=examples(20))
@given(st.floats(-5, 500), st.integers(1, 2), st.integers(0, 99))
def test_constant_on_input_gates_cancels_if_n_q_is_above_1(constant, heads, seed):
    """Check that m absorbs a common factor of C and n.

    If n · q is below 1, the factor matters, since the denominator is 1.
    """
    layers = [mlstm(12.0, 3.0, heads), mlstm(12.0 + constant, 3.0, heads)]
    torch.manual_seed(seed)
    x, (C, n, m) = randn(1, 20, 3), state_of(layers[0], 20)
    (output_1, (C_1, n_1, m_1)), (output_2, (C_2, n_2, m_2)) = (
        layer(x, (C, n, m + 12 + shift)) for layer, shift in zip(layers, (0, constant), strict=True)
    )
    close([C_2, n_2, m_2 - constant], [C_1, n_1, m_1])
    q = (x[0] @ layers[0].weight_ih_l0[:4].T + layers[0].bias_ih_l0[:4]).unflatten(-1, (heads, -1))
    log = ((n_1 * q).sum(-1).abs().log() + m_1).repeat_interleave(4 // heads, dim=-1)
    above = (log >= 0) & (log + constant >= 0)
    assert above.any()
    close([output_2[0][above]], [output_1[0][above]])


def test_m_is_only_a_scale_of_c_and_n():
    """Check that C / 5, n / 5 and m + log 5 are the same state, and the gradients of m."""
    torch.manual_seed(0)
    layer, x = mlstm(), randn(5, 2, 3)
    C, n, m = state_of(layer, 2)
    close([layer(x, (C / 5, n / 5, m + math.log(5)))[0]], [layer(x, (C, n, m))[0]])
    log_f, log_i, m_0 = (x.requires_grad_() for x in (-randn(4, 2).abs(), randn(4, 2), randn(2)))
    f, i, m = stabilised(log_f, log_i, m_0)
    # the first value keeps log i_1 + log f_2 + log f_3 + log f_4, the initial state m_0 and all log f
    for kept, expected in (
        (i[0] + f[1:].sum(0) + m[-1], ([0, 1, 1, 1], [1, 0, 0, 0], 0)),
        (f.sum(0) + m[-1], ([1] * 4, [0] * 4, 1)),
    ):
        gradients = torch.autograd.grad(kept.sum(), [log_f, log_i, m_0], retain_graph=True)
        close(
            gradients,
            [torch.tensor(x, **float64)[..., None].expand(*g.shape[:-1], 2) for x, g in zip(expected, gradients)],
        )


# ---- Use as a module, errors ----


@kinds
@pytest.mark.parametrize("autocast", [False, True])
def test_half_precision_keeps_its_digits(kind, more, autocast):
    """Compare 130 steps, and a call from their state, with float64; gates and sums over time need float32."""
    torch.manual_seed(0)
    layer, x = kind(8, 8, 2, **more), torch.randn(130, 2, 8).bfloat16()
    layer = layer if autocast else layer.bfloat16()
    exact = copy.deepcopy(layer).double()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
        output, state = layer(x)
        again, _ = layer(x[:1], state if kind is MLSTM else state.bfloat16())
    expected, state_64 = exact(x.double())
    assert {t.dtype for t in (output, again, *flat(state))} == {torch.float32 if autocast else torch.bfloat16}
    for ours, theirs in ((output, expected), (again, exact(x[:1].double(), state_64)[0])):
        errors = (ours - theirs).flatten(1).norm(dim=1) / theirs.flatten(1).norm(dim=1)
        assert errors.max() < 0.05


@kinds
def test_layer_is_an_ordinary_module(kind, more):
    layer = kind(2, 6, 3, **more, **float64)
    rows = 24 + 6 if kind is MLSTM else 18 + 3 * ("Gated" in kind.__name__) + 3 * ("Delta" in kind.__name__)
    rows += 3 * (kind is GatedLinearAttention and not more)  # 6 gates, one for each feature
    names, parameters = zip(*layer.named_parameters(), strict=True)
    assert (
        names == ("weight_ih_l0", "bias_ih_l0") and parameters[0].shape == (rows, 2) and parameters[1].shape == (rows,)
    )
    drawn = [p[:18] for p in parameters]
    assert all(p.abs().max() <= 2**-0.5 and p.abs().max() > 0.5 for p in drawn)
    assert repr(layer) == f"{kind.__name__}(2, 6, num_heads=3{''.join(f', {k}={v}' for k, v in more.items())})"
    assert repr(kind(2, 3, batch_first=True)) == f"{kind.__name__}(2, 3, batch_first=True)"
    assert {p.device.type for p in kind(2, 6, 3, **more, device="meta").parameters()} == {"meta"}
    twin, x = kind(2, 6, 3, **more, **float64), randn(4, 5, 2)
    twin.load_state_dict(layer.state_dict())
    expected = flat(layer(x))
    for other in (twin, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        close(flat(other(x)), expected, atol=0)
    with torch.device("meta"):
        close(flat(layer(x)), expected, atol=0)  # all tensors are on the input's device
        assert layer.to("meta")(torch.empty(4, 5, 2, **float64))[0].shape == (4, 5, 6)
    each = vmap(grad(lambda x: functional_call(twin, dict(twin.named_parameters()), x)[0].square().sum()), in_dims=1)(x)
    (together,) = torch.autograd.grad(twin(y := x.clone().requires_grad_())[0].square().sum(), y)
    close([each], [together.transpose(0, 1)])


def test_gates_begin_as_published():
    """Check the code of xLSTM and of Gated DeltaNet: its gates, without the input, are e^(-A Δ)."""
    torch.manual_seed(0)
    layer = MLSTM(50, 400, 100, **float64)
    (*_, i, f), (*_, weights) = layer.bias_ih_l0.split(layer.parts), layer.weight_ih_l0.split([1600, 200])
    assert (weights == 0).all() and f.equal(torch.linspace(3, 6, 100, **float64))
    assert abs(i.mean()) < 0.03 and 0.08 < i.std() < 0.12
    for kind, options in ((GatedDeltaNet, {}), (GatedLinearAttention, {"per_key": False})):
        layer = kind(3, 4000, 4000, **options, **float64)
        rates = -F.logsigmoid(layer.bias_ih_l0[12000:16000])
        assert 0 < rates.min() < 1e-4 and 1.3 < rates.max() < 1.6
        # the mean of A is 8, and that of Δ (0.1 - 0.001) / log 100
        assert abs(rates.mean() / (8 * 0.099 / math.log(100)) - 1) < 0.06
        assert abs(rates.log().mean() - (math.log(16) - 1 + math.log(0.01))) < 0.1


@kinds
def test_wrong_inputs_are_refused(kind, more):
    layer, x, name = kind(3, 4, 2, **more), torch.randn(5, 2, 3), kind.__name__
    state = layer(x)[1]
    expected = str([(2, *shape) for shape in layer.state_shapes()])
    refused = [
        (ValueError, f"{name}: Expected input to be 2D or 3D, got 4D instead", x[None]),
        (ValueError, f"{name}: input is torch.float64, the weights are torch.float32", x.double()),
        (RuntimeError, "Expected 3, got 4", torch.randn(5, 2, 4)),
        (RuntimeError, "Expected sequence length to be larger than 0", x[:0]),
        (RuntimeError, f"{name}: Expected state of {expected}, got", x, torch.zeros(1)),
        (RuntimeError, "The second argument is the state that an earlier call returned", x, [5, 3]),  # lengths
        (
            RuntimeError,
            f"{name}: Expected state of {expected}, got",
            x,
            (state, state) if kind is not MLSTM else state[:2],
        ),
        (RuntimeError, f"{name}: Expected state of {expected}, got", x, layer(x[:, 0])[1]),
    ]
    doubled = tuple(s.double() for s in flat(state))
    refused.append((ValueError, f"{name}: state is torch.float64", x, doubled if kind is MLSTM else doubled[0]))
    for error, words, *arguments in refused:
        with pytest.raises(error) as caught:
            layer(*arguments)
        assert words in str(caught.value)
    for heads, size in ((3, 4), (0, 4), (-1, 4), (5, 4)):
        with pytest.raises(ValueError, match=f"hidden_size must be a multiple of num_heads, got {size} and {heads}"):
            kind(3, size, heads)
    for argument, sizes in (("input_size", (3.0, 4)), ("hidden_size", (3, 8 / 2)), ("num_heads", (3, 4, True))):
        with pytest.raises(TypeError, match=f"{argument} should be of type int, got: "):
            kind(*sizes)
    for sizes in ((0, 4), (3, 0), (3, -2)):
        with pytest.raises(ValueError, match=f"must be 1 or more, got {sizes[0]} and {sizes[1]}"):
            kind(*sizes)
    if "most" in more:
        for most in (0, -1, 2.1, math.nan, True):  # True was meant for `batch_first`
            with pytest.raises(ValueError, match=f"most must be above 0 and at most 2, .*, got {most}"):
                kind(3, 4, most=most)
