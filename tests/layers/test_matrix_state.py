"""Tests of matrix states: loop, chunks and parallel form are equal, and reads return what was written.

The layers are tested in `test_matrix_layers.py`.
"""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from companion.layers.matrix_state import chunks, loop
from companion.layers.mlstm import stabilised
from tests.layers.torch_comparison import examples, randn

float64 = {"dtype": torch.float64}


def close(ours, theirs):
    """Check that tensors are within 1e-10, relative to the largest number where that is above 1."""
    for mine, other in zip(ours, theirs, strict=True):
        scale = max(1.0, other.detach().abs().max().item()) if other.numel() else 1.0
        torch.testing.assert_close(mine, other, rtol=0, atol=1e-10 * scale)


def with_gradients(run, *inputs):
    """Return a function's results, a list of tensors, and the gradient of each input."""
    leaves = [x.detach().clone().requires_grad_() for x in inputs]
    results = run(*leaves)
    generator = torch.Generator(results[0].device).manual_seed(1)
    loss = sum((r * torch.randn(r.shape, generator=generator, device=r.device, **float64)).sum() for r in results)
    return [*(r.detach() for r in results), *torch.autograd.grad(loss, leaves)]


shapes = st.lists(st.integers(1, 2), max_size=2)


@settings(max_examples=examples(40))
@given(
    st.integers(1, 12), shapes, st.integers(1, 4), st.integers(1, 3), st.integers(1, 13), st.booleans(), st.booleans(),
    st.booleans(), st.booleans(),
    st.sampled_from([0, 1e-9, 1e-2, 1, 30, 1000]), st.integers(0, 99),
)  # fmt: skip
def test_loop_chunks_and_parallel_form_are_equal(
    T, shape, K, V, size, corrects, unit, begins_at_zeros, per_key, forgets, seed
):
    """Check outputs, state and gradients, for α from 1 to e^-1000, β from 0 to 2, and keys of any length."""
    torch.manual_seed(seed)
    q, k, v = randn(T, *shape, K), randn(T, *shape, K), randn(T, *shape, V)
    k = F.normalize(k, dim=-1) if unit else k
    log_alpha = -forgets * torch.rand(T, *shape, *([K] if per_key else []), **float64)
    beta = 2 * torch.rand(T, *shape, **float64)
    beta[torch.rand(T) < 0.2] = 2 * torch.randint(2, (), **float64)  # a step that writes nothing, or reflects
    S = torch.zeros(*shape, V, K, **float64) if begins_at_zeros else randn(*shape, V, K)
    inputs = q, k, v, log_alpha, beta, S
    expected = with_gradients(lambda *xs: loop(*xs, corrects), *inputs)
    assert expected[0].shape == (T, *shape, V) and expected[1].shape == S.shape
    for length, at_once in ((size, False), (size, True), (T, False)):
        close(with_gradients(lambda *xs: chunks(*xs, corrects, length, at_once), *inputs), expected)
    close(chunks(*inputs, corrects), expected[:2])


def start(T, K, V, alpha=1.0, beta=1.0):
    """Return constant gates, and a state of zeros."""
    return torch.full((T,), alpha, **float64).log(), torch.full((T,), beta, **float64), torch.zeros(V, K, **float64)


@pytest.mark.parametrize("corrects", [False, True])
@pytest.mark.parametrize("way", [loop, chunks])
def test_gates_for_features_of_the_key_multiply_columns(way, corrects):
    """Compare with the equation, S Diag( α ) in place of α S, and equal gates with one gate."""
    torch.manual_seed(0)
    q, k, v, log_alpha, S = (
        randn(40, 3),
        F.normalize(randn(40, 3), dim=-1),
        randn(40, 2),
        -randn(40, 3).abs(),
        randn(2, 3),
    )
    beta, outputs, after = torch.rand(40, **float64), [], S
    for t in range(40):
        after = after @ torch.diag(log_alpha[t].exp())
        after = after + beta[t] * torch.outer(v[t] - after @ k[t] if corrects else v[t], k[t])
        outputs.append(after @ q[t])
    close(way(q, k, v, log_alpha, beta, S, corrects), [torch.stack(outputs), after])
    one = log_alpha[:, :1]
    close(way(q, k, v, one.expand(40, 3), beta, S, corrects), way(q, k, v, one[:, 0], beta, S, corrects))


@pytest.mark.parametrize("alpha", [1.0, 0.8])
@pytest.mark.parametrize("way", [loop, chunks])
def test_without_delta_rule_it_is_attention_without_softmax(way, alpha):
    """Compare with ( Q Kᵀ ⊙ mask ) V; with forgetting the mask fades with the distance."""
    torch.manual_seed(0)
    q, k, v = randn(7, 3), randn(7, 3), randn(7, 2)
    steps = torch.arange(7.0, **float64)
    mask = (alpha ** (steps[:, None] - steps)).tril()
    close([way(q, k, v, *start(7, 3, 2, alpha))[0]], [(q @ k.T * mask) @ v])


@settings(max_examples=examples(20))
@given(st.integers(1, 6), st.integers(1, 3), st.booleans(), st.sampled_from([loop, chunks]), st.integers(0, 99))
def test_written_values_are_read_under_orthonormal_keys(K, V, twice, way, seed):
    """Check orthonormal keys; with the delta rule the last value counts."""
    torch.manual_seed(seed)
    keys = torch.linalg.qr(randn(K, K)).Q
    k, v = torch.cat([keys, keys[torch.randperm(K)]]) if twice else keys, randn(K * (1 + twice), V)
    last = {tuple(key.tolist()): value for key, value in zip(k, v, strict=True)}
    _, S = way(k, k, v, *start(len(k), K, V), corrects=True)
    close([S @ keys.T], [torch.stack([last[tuple(key.tolist())] for key in keys], dim=1)])
    if not twice:
        close([way(k, k, v, *start(K, K, V))[0]], [v])


@pytest.mark.parametrize("way", [loop, chunks])
def test_last_value_is_exact_from_any_state(way):
    """Check β = 1 and a key of length 1: o_t = v_t if the query is the key, for any state and forgetting."""
    torch.manual_seed(0)
    k, v = F.normalize(randn(9, 4), dim=-1), randn(9, 3)
    log_alpha, beta, _ = start(9, 4, 3, alpha=0.7)
    close([way(k, k, v, log_alpha, beta, 100 * randn(3, 4), corrects=True)[0]], [v])


@pytest.mark.parametrize("way", [loop, chunks])
def test_reflections_swap_columns(way):
    """Check β = 2, k = ( e_i - e_j ) / √2, v = 0: S ( I - 2 k kᵀ ) is a reflection, here a permutation."""
    torch.manual_seed(0)
    S, columns, units = randn(3, 5), list(range(5)), torch.eye(5, **float64)
    pairs = [(0, 1), (1, 4), (2, 0), (3, 4), (1, 4), (0, 3)]
    k = torch.stack([units[i] - units[j] for i, j in pairs]) / 2**0.5
    for i, j in pairs:
        columns[i], columns[j] = columns[j], columns[i]
    log_alpha, beta, _ = start(6, 5, 3, beta=2.0)
    close([way(k, k, torch.zeros(6, 3, **float64), log_alpha, beta, S, corrects=True)[1]], [S[:, columns]])


def test_empty_batch():
    q, v, gate, S = torch.zeros(3, 0, 2), torch.zeros(3, 0, 4), torch.zeros(3, 0), torch.zeros(0, 4, 2)
    for way in (loop, chunks):
        o, after = way(q, q, v, gate, gate, S, corrects=True)
        assert o.shape == (3, 0, 4) and after.shape == (0, 4, 2)


@settings(max_examples=examples(30))
@given(st.integers(1, 12), shapes, st.sampled_from([1, 30, 800]), st.booleans(), st.integers(0, 99))
def test_stabilised_gates(T, shape, scale, with_m, seed):
    """Check m against its recurrence, that no gate is above 1, and that scaling cancels."""
    torch.manual_seed(seed)
    log_f, log_i = F.logsigmoid(scale * randn(T, *shape)), scale * randn(T, *shape)
    m_0 = scale * randn(*shape) if with_m else torch.zeros(shape, **float64)
    f, i, m = stabilised(log_f, log_i, m_0)
    before = m_0
    for t in range(T):
        close([m[t]], [torch.maximum(log_f[t] + before, log_i[t])])
        close([f[t], i[t]], [log_f[t] + before - m[t], log_i[t] - m[t]])
        before = m[t]
    assert max(f.max(), i.max()) < 1e-9 and f.isfinite().all() and i.isfinite().all()
