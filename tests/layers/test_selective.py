"""Tests of selective state spaces, against a plain loop, and of their exact discretisation."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.func import vmap
from torch.nn import functional as F

from companion import SelectiveSSM
from companion.layers.selective import discretised
from tests.layers.torch_comparison import examples

float64 = {"dtype": torch.float64}


def by_loop(layer, x, h):
    """Compute the equations of the docstring, number by number.

    x: (T, B, input_size). h: (B, hidden_size, state_size).
    """
    A, outputs = -torch.exp(layer.A_log), []
    sizes = [layer.hidden_size] * 2 + [layer.state_size] * 2
    for x_t in x:
        sums = x_t @ layer.weight_ih_l0.T + layer.bias_ih_l0
        u, delta, B, C = sums.split(sizes, dim=-1)
        if not layer.selective:
            delta, B, C = (part.expand(len(x_t), -1) for part in layer.bias_ih_l0.split(sizes)[1:])
        delta = torch.log1p(torch.exp(delta))
        rows = []
        for b in range(len(x_t)):
            channels = [
                torch.stack(
                    [
                        torch.exp(delta[b, i] * A[i, n]) * h[b, i, n] + delta[b, i] * B[b, n] * u[b, i]
                        for n in range(layer.state_size)
                    ]
                )
                for i in range(layer.hidden_size)
            ]
            rows.append(torch.stack(channels))
        h = torch.stack(rows)
        outputs.append((h * C[:, None]).sum(-1) + layer.D * u)
    return torch.stack(outputs), h


@settings(max_examples=examples(20))
@given(
    st.integers(1, 9),
    st.integers(1, 3),
    st.integers(1, 3),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.integers(0, 99),
)
def test_scan_equals_the_loop(T, B, state_size, selective, batch_first, with_state, seed):
    """Check outputs, the last state, and every gradient."""
    torch.manual_seed(seed)
    layer = SelectiveSSM(2, 3, state_size, selective, batch_first=batch_first, **float64)
    x, h_0 = torch.randn(T, B, 2, **float64), torch.randn(B, 3, state_size, **float64)
    if not with_state:
        h_0 = torch.zeros_like(h_0)
    results = []
    for run in ("layer", "loop"):
        leaves = [x.clone().requires_grad_(), h_0.clone().requires_grad_()]
        if run == "loop":
            output, h_n = by_loop(layer, *leaves)
        else:
            start = leaves[1] if with_state else None
            output, h_n = layer(leaves[0].transpose(0, 1) if batch_first else leaves[0], start)
            output = output.transpose(0, 1) if batch_first else output
        loss = (output * torch.arange(output.numel(), **float64).view_as(output)).sum() + h_n.sin().sum()
        wanted = [leaves[0], *layer.parameters(), *([leaves[1]] if with_state else [])]
        results.append([output, h_n, *torch.autograd.grad(loss, wanted)])
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)


def test_pieces_and_single_sequences_equal_the_whole():
    torch.manual_seed(0)
    layer, x = SelectiveSSM(2, 3, 4, **float64), torch.randn(9, 2, 2, **float64)
    whole, end = layer(x)
    first, state = layer(x[:4])
    second, last = layer(x[4:], state)
    torch.testing.assert_close(torch.cat([first, second]), whole, rtol=0, atol=1e-12)
    torch.testing.assert_close(last, end, rtol=0, atol=1e-12)
    torch.testing.assert_close(vmap(lambda x: layer(x)[0], in_dims=1, out_dims=1)(x), whole, rtol=0, atol=1e-12)
    alone, alone_end = layer(x[:, 1])
    torch.testing.assert_close(alone, whole[:, 1], rtol=0, atol=1e-12)
    torch.testing.assert_close(alone_end, end[1], rtol=0, atol=1e-12)


def test_without_selection_it_is_a_convolution():
    """Compare with the kernel K_s = Σ_n C_n exp( Δ A_n )^s Δ B_n."""
    torch.manual_seed(0)
    layer, x = SelectiveSSM(2, 3, 4, selective=False, **float64), torch.randn(12, 1, 2, **float64)
    u_bias, delta, B, C = layer.bias_ih_l0.split([3, 3, 4, 4])
    u = x[:, 0] @ layer.weight_ih_l0[:3].T + u_bias
    delta = F.softplus(delta)[:, None]
    powers = torch.exp(delta * -layer.A_log.exp())[None] ** torch.arange(12.0, **float64)[:, None, None]
    kernel = (powers * delta * B * C).sum(-1)
    expected = torch.stack([sum(kernel[t - s] * u[s] for s in range(t + 1)) for t in range(12)]) + layer.D * u
    torch.testing.assert_close(layer(x)[0][:, 0], expected, rtol=0, atol=1e-12)


def test_discretisation_is_exact():
    """Compare with the matrix exponential of A and B, with its gradient, and check the limits for A → 0."""
    delta, B = (
        torch.tensor([0.01, 0.5, 3.0, 0.7, 0.7, 0.7, 0.7], **float64),
        torch.tensor([1.0, -2.0, 0.5, 3.0, 3.0, 3.0, 3.0], **float64),
    )
    A = torch.tensor([-1.0, -2.0, -0.3, 0.0, -1e-12, -1e-6, -1e-4], **float64, requires_grad=True)
    a, b = discretised(delta, A, B)
    zero = torch.zeros_like(A)
    augmented = torch.linalg.matrix_exp(
        delta[:, None, None] * torch.stack([torch.stack([A, B], -1), torch.stack([zero, zero], -1)], -2)
    )
    torch.testing.assert_close(torch.stack([a, b], -1), augmented[:, 0], rtol=1e-12, atol=1e-12)
    expected, rough = torch.autograd.grad(augmented[:, 0].sum(), A)[0], (x.float() for x in (delta, A, B))
    torch.testing.assert_close(torch.autograd.grad((a + b).sum(), A)[0], expected, rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(
        torch.autograd.grad(sum(discretised(*rough)).sum(), A)[0], expected, rtol=1e-3, atol=1e-3
    )


def test_initial_parameters_and_errors():
    torch.manual_seed(0)
    layer = SelectiveSSM(2, 500, 3)
    delta = F.softplus(layer.bias_ih_l0[500:1000])
    assert 0.000999 < delta.min() < 0.0015 and 0.096 < delta.max() < 0.1001 and 0.007 < delta.median() < 0.014
    assert torch.allclose(layer.A_log.exp(), torch.arange(1.0, 4).expand(500, 3)) and (layer.D == 1).all()
    new = [p.clone() for p in layer.parameters()]
    torch.manual_seed(0)
    layer.reset_parameters()
    assert all(torch.equal(p, q) for p, q in zip(layer.parameters(), new, strict=True))
    assert {(p.device.type, p.dtype) for p in SelectiveSSM(2, 3, device="meta", **float64).parameters()} == {
        ("meta", torch.float64)
    }
    assert repr(layer) == "SelectiveSSM(2, 500, state_size=3)"
    assert repr(SelectiveSSM(2, 5, selective=False)) == "SelectiveSSM(2, 5, state_size=16, selective=False)"
    with pytest.raises(ValueError, match="state_size must be 1 or more, got 0"):
        SelectiveSSM(2, 3, 0)
    with pytest.raises(RuntimeError, match="SelectiveSSM: Expected state"):
        layer(torch.randn(4, 2, 2), torch.zeros(2, 3, 3))
