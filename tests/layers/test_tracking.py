"""Test sLSTM, several delta steps for each input, and rotations: equal to plain loops, in any portions."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from companion import DeltaNet
from companion.bench.check import check
from companion.layers import matrix_state
from companion.layers.slstm import SLSTM
from companion.layers.tracking import DeltaProduct, RotaryLinearAttention
from companion.proof import compare
from tests.layers.portions import assert_close, check_packed, check_portions

float64 = {"dtype": torch.float64}
LAYERS = {
    "sLSTM": lambda *sizes, **options: SLSTM(*sizes, 2, **options),
    "one step": lambda *sizes, **options: DeltaProduct(*sizes, 2, 1, **options),
    "three steps": lambda *sizes, **options: DeltaProduct(*sizes, 2, 3, **options),
    "rotations": lambda *sizes, **options: RotaryLinearAttention(*sizes, 2, **options),
}
layers = pytest.mark.parametrize("make", LAYERS.values(), ids=LAYERS)


@layers
@settings(max_examples=20)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(0, 99))
def test_portions_and_packed_batches(make, lengths, seed):
    """Check that portions equal one call, and that each packed sequence equals itself alone, from random states."""
    torch.manual_seed(seed)
    layer = make(3, 8, **float64)
    check_portions(layer, lengths, len(lengths))
    check_packed(layer, lengths)


@layers
def test_they_are_layers_for_the_bench(make):
    assert check(make) < 1e-3


def test_slstm_equals_its_equations():
    """Compare with a loop without the stabiliser, over single vectors, from a random state with m = 0."""
    torch.manual_seed(0)
    layer, x = SLSTM(3, 6, 2, **float64), torch.randn(12, 3, **float64)
    h, c, n = torch.randn(6, **float64), torch.randn(6, **float64), torch.rand(6, **float64) + 1
    output, after = layer(x, (h, c, n, torch.zeros(6, **float64)))
    R = [torch.block_diag(*heads) for heads in layer.weight_hh_l0]
    expected = []
    for x_t in x:
        sums = (layer.weight_ih_l0 @ x_t + layer.bias_ih_l0).split(6)
        z, i, f, o = (part + matrix @ h for part, matrix in zip(sums, R, strict=True))
        c = f.sigmoid() * c + i.exp() * z.tanh()
        n = f.sigmoid() * n + i.exp()
        h = o.sigmoid() * c / n
        expected.append(h)
    scale = after[3].exp()
    assert_close([output, after[0], after[1] * scale, after[2] * scale], [torch.stack(expected), h, c, n])


def test_slstm_does_not_overflow_and_refuses_odd_heads():
    layer = SLSTM(2, 4)
    with torch.no_grad():
        layer.bias_ih_l0[4:8] = 1000.0
    output, state = layer(torch.randn(50, 1, 2))
    assert output.isfinite().all() and all(s.isfinite().all() for s in state)
    assert layer.bias_ih_l0[8:12].tolist() == [3, 4, 5, 6]
    with pytest.raises(ValueError, match="hidden_size must be a multiple of num_heads, got 4 and 3"):
        SLSTM(2, 4, 3)
    assert repr(SLSTM(2, 4, 2)) == "SLSTM(2, 4, num_heads=2)"


def test_one_delta_step_is_the_delta_rule():
    torch.manual_seed(0)
    product, rule = DeltaProduct(3, 8, 2, 1, most=2.0, **float64), DeltaNet(3, 8, 2, most=2.0, **float64)
    rule.load_state_dict(product.state_dict())
    assert compare(product, rule, torch.randn(9, 2, 3, **float64)).ok


def test_several_delta_steps_follow_one_another():
    """Compare with a loop of three rank-one updates before each reading."""
    torch.manual_seed(0)
    layer, x = DeltaProduct(3, 4, 1, 3, **float64), torch.randn(7, 1, 3, **float64)
    sums = x @ layer.weight_ih_l0.T + layer.bias_ih_l0
    S, expected = torch.zeros(4, 4, **float64), []
    for q, k, v, beta in zip(*(part[:, 0] for part in sums.split(layer.rows(), dim=-1)), strict=True):
        for k_j, v_j, b_j in zip(k.split(4), v.split(4), beta, strict=True):
            k_j = k_j / k_j.norm()
            S = S + 2 * b_j.sigmoid() * torch.outer(v_j - S @ k_j, k_j)
        expected.append(S @ (q / q.norm()))
    output, after = layer(x)
    assert_close([output[:, 0], after[0, 0]], [torch.stack(expected), S])
    layer.way = matrix_state.loop
    assert_close([layer(x)[0]], [output])


def test_two_reflections_turn_a_plane():
    """Check that two steps with β = 2 and keys at 45° turn what is stored by 90°, and that one step cannot."""
    keys = torch.tensor([[1.0, 0.0], [math.sqrt(0.5), math.sqrt(0.5)]], **float64)
    reflections = [torch.eye(2, **float64) - 2 * torch.outer(key, key) for key in keys]
    turn = torch.tensor([[0.0, -1], [1, 0]], **float64)
    assert_close([reflections[0] @ reflections[1]], [turn.T])
    assert {round(torch.linalg.det(one).item()) for one in reflections} == {-1} and torch.linalg.det(turn) == 1


def test_turned_keys_equal_a_turned_state():
    """Compare with a loop that turns the state's columns at each step, and reads by the query as it is."""
    torch.manual_seed(0)
    layer, x = RotaryLinearAttention(3, 4, **float64), torch.randn(9, 1, 3, **float64)
    sums = x @ layer.weight_ih_l0.T + layer.bias_ih_l0
    S, expected = torch.zeros(4, 4, **float64), []
    for q, k, v, alpha, angle in zip(*(part[:, 0] for part in sums.split(layer.rows(), dim=-1)), strict=True):
        cos, sin = (math.pi * angle.tanh()).cos(), (math.pi * angle.tanh()).sin()
        # a query turned by φ_t reads a key turned by φ_s as one turned by φ_t - φ_s reads the key itself
        back = torch.block_diag(*(torch.stack([torch.stack([c, s]), torch.stack([-s, c])]) for c, s in zip(cos, sin)))
        S = alpha.sigmoid() * S @ back.T + torch.outer(v, k / k.norm())
        expected.append(S @ (q / q.norm()))
    assert_close([layer(x)[0][:, 0]], [torch.stack(expected)])
    with pytest.raises(ValueError, match="an even multiple of num_heads, got 6 and 2"):
        RotaryLinearAttention(3, 6, 2)


def test_wrong_numbers_of_steps_are_refused():
    with pytest.raises(ValueError, match="num_steps must be 1 or more, got 0"):
        DeltaProduct(3, 4, num_steps=0)
    assert repr(DeltaProduct(3, 4)) == "DeltaProduct(3, 4, most=2.0, num_steps=2)"
