"""Tests of Newton's method, which solves a nonlinear recurrence for all time steps at once."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.func import vmap

import companion
from companion.layers.newton import newton, solve
from companion.layers.scan import loop, pairs
from tests.layers.torch_comparison import examples

float64 = {"dtype": torch.float64}


def solved(kind, T, B, scale, iterations, diagonal=False, seed=0):
    """Return the layer's output, and the iterates, each (T, B, hidden_size)."""
    torch.manual_seed(seed)
    layer, x = getattr(companion, kind)(3, 4, **float64), torch.randn(T, B, 3, **float64)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.mul_(scale)
        return layer(x)[0], list(solve(layer, x, iterations, diagonal))


@settings(max_examples=examples(25))
@given(
    st.sampled_from(["RNN", "GRU", "LSTM"]),
    st.integers(1, 24),
    st.integers(1, 3),
    st.sampled_from([1, 2]),
    st.booleans(),
    st.integers(0, 99),
)
def test_after_k_iterations_k_states_are_exact(kind, T, B, scale, diagonal, seed):
    """Check that T iterations always suffice."""
    output, iterates = solved(kind, T, B, scale, T, diagonal, seed)
    assert len(iterates) == T
    for k, h in enumerate(iterates, 1):
        torch.testing.assert_close(h[:k], output[:k], rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_new_layers_need_few_iterations(kind):
    """Check 500 steps: each iteration about squares the error.

    The diagonal alone is slower, and converges for gated layers.
    """
    output, iterates = solved(kind, 500, 2, 1, 6)
    errors = [(h - output).abs().max().item() for h in iterates]
    assert errors[-1] < 1e-10 and errors[2] < 20 * errors[1] ** 2
    if kind != "RNN":
        output, iterates = solved(kind, 500, 2, 1, 40, diagonal=True)
        errors = [(h - output).abs().max().item() for h in iterates]
        assert errors[3] > 1e-4 and errors[-1] < 1e-8


def test_large_weights_converge_late():
    output, iterates = solved("LSTM", 60, 1, 20, 60)
    errors = [(h - output).abs().max().item() for h in iterates]
    assert errors[9] > 1 and errors[-1] < 1e-8


def test_any_function_from_any_state():
    """Check another function with its gradients, the device, and the scan of matrices against the loop."""
    torch.manual_seed(0)
    W, x, h_0 = leaves = torch.randn(3, 3, **float64) / 2, torch.randn(9, 2, 3, **float64), torch.randn(2, 3, **float64)
    for leaf in leaves:
        leaf.requires_grad_()
    f = lambda h, x: torch.sin(W @ h + x)  # noqa: E731
    expected, h = [], h_0
    for x_t in x:
        h = vmap(f)(h, x_t)
        expected.append(h)
    with torch.device("meta"):
        *_, solution = newton(f, x, h_0, 9)
    for ours, theirs in zip(
        *([h, *torch.autograd.grad(h.sin().sum(), leaves)] for h in (solution, torch.stack(expected))), strict=True
    ):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-10)
    for T in (1, 2, 7, 8):
        a, b, start = (
            torch.randn(T, 2, 3, 3, **float64),
            torch.randn(T, 2, 3, 1, **float64),
            torch.randn(2, 3, 1, **float64),
        )
        torch.testing.assert_close(
            pairs(a, b, start, torch.matmul), loop(a, b, start, torch.matmul), rtol=1e-10, atol=1e-10
        )


def test_wrong_layers_and_inputs_are_refused():
    x = torch.randn(5, 2, 3)
    options = {"num_layers": 2}, {"bidirectional": True}, {"proj_size": 2}, {"batch_first": True}
    for layer in (*(companion.LSTM(3, 4, **option) for option in options), torch.nn.LSTM(3, 4)):
        with pytest.raises(ValueError, match="one layer in one direction"):
            next(solve(layer, x, 1))
    with pytest.raises(ValueError, match=r"input must be \(time steps, batch, 3\), got \(5, 2, 4\)"):
        next(solve(companion.GRU(3, 4), torch.randn(5, 2, 4), 1))
    with pytest.raises(ValueError, match="input must be"):
        next(solve(companion.GRU(3, 4), x[0], 1))
