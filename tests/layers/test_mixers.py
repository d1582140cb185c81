"""Test the layers of released models: equal to what transformers computes, and to themselves in any portions."""

import copy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.bench.check import check
from companion.layers import matrix_state, mixer
from companion.layers.blocks import Blocks
from companion.layers.delta_mixer import DeltaMixer, KimiMixer
from companion.layers.embedding import Embedding
from companion.layers.griffin_mixer import GriffinMixer
from companion.layers.mamba_mixer import Mamba2Mixer, MambaMixer
from companion.layers.mlstm_mixer import MLSTMMixer
from companion.layers.released import load_released, released_weights
from companion.learning.sequence_model import SequenceModel
from companion.proof import compare
from tests.layers.portions import assert_close, check_packed, check_portions
from tests.layers.released_cases import MIXERS, fixed_case, float64, stored_output
from tests.layers.test_at_once import at_once, operations, random_input

KINDS = DeltaMixer, KimiMixer, MambaMixer, Mamba2Mixer, MLSTMMixer, GriffinMixer
MATRIX = DeltaMixer, KimiMixer, Mamba2Mixer, MLSTMMixer
kinds = pytest.mark.parametrize("kind", KINDS)


def random_layer(kind, **options):
    """Return a layer whose norms and biases are random, too."""
    layer = kind(3, 8, 2, **options, **float64)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return layer


@pytest.mark.parametrize("kind", MIXERS)
def test_outputs_are_those_of_transformers(kind):
    layer, x = fixed_case(kind)
    torch.testing.assert_close(layer(x)[0], stored_output(kind), rtol=1e-10, atol=1e-10)


@kinds
@settings(max_examples=20)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=5), st.integers(1, 3), st.integers(0, 99))
def test_portions_equal_one_call(kind, lengths, batch, seed):
    torch.manual_seed(seed)
    check_portions(random_layer(kind), lengths, batch)


@kinds
@settings(max_examples=20)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=4), st.integers(0, 99))
def test_packed_sequences_equal_each_alone(kind, lengths, seed):
    """Check outputs and states, from random states, of sequences that are shorter than the convolution, too."""
    torch.manual_seed(seed)
    check_packed(random_layer(kind), lengths)


@pytest.mark.parametrize("kind", MATRIX)
@pytest.mark.parametrize("way", [at_once, matrix_state.chunks])
def test_chunks_equal_the_loop(kind, way):
    """Check outputs, states and all gradients."""
    torch.manual_seed(0)
    layer = random_layer(kind)
    plain = copy.deepcopy(layer)
    layer.way, plain.way = way, matrix_state.loop
    comparison = compare(layer, plain, torch.randn(150, 2, 3, **float64))
    assert comparison.ok and len(comparison) > 8, comparison


@pytest.mark.parametrize(("kind", "most"), [*((kind, 480) for kind in MATRIX), (MambaMixer, 150), (GriffinMixer, 150)])
@pytest.mark.parametrize("packed", [False, True])
def test_operations_hardly_grow_with_the_length(kind, most, packed):
    layer = kind(16, 16, 2)
    layer.way = at_once
    shorter, longer = (operations(layer, random_input(T, 16, packed)) for T in (1024, 4096))
    assert longer - shorter <= most


@kinds
def test_the_convolution_sees_four_steps(kind):
    """Check by gradients that it depends on the steps t - 3 to t, and that no layer depends on later ones."""
    x = torch.randn(9, 1, 5, requires_grad=True, **float64)
    y, _ = mixer.short_convolution(x, torch.rand(5, 1, 4, **float64), None, torch.zeros(1, 5, 3, **float64))
    (gradient,) = torch.autograd.grad(y[6].sum(), x)
    assert gradient.abs().sum((1, 2)).gt(0).tolist() == [False, False, False, True, True, True, True, False, False]
    layer, x = random_layer(kind), torch.randn(9, 1, 3, requires_grad=True, **float64)
    (gradient,) = torch.autograd.grad(layer(x)[0][4].sum(), x)
    assert gradient.abs().sum((1, 2)).gt(0).tolist() == [True] * 5 + [False] * 4


@kinds
def test_they_work_like_other_layers(kind):
    """Check the bench's check, a model with blocks, one step, batch_first, a sequence alone, and half precision."""
    assert check(lambda input_size, hidden_size: kind(input_size, hidden_size, 2)) < 1e-3
    torch.manual_seed(0)
    blocks = Blocks([kind(8, 8, 2, **float64) for _ in range(2)])
    model = SequenceModel(Embedding(5, 8, **float64), blocks, 5)
    indices = torch.randint(5, (7, 2))
    output, state = model(indices)
    first, state = model(indices[:-1])
    last, _ = model(indices[-1:], state)
    assert_close([torch.cat([first, last])], [output])
    layer, x = random_layer(kind), torch.randn(6, 2, 3, **float64)
    turned = random_layer(kind, batch_first=True)
    turned.load_state_dict(layer.state_dict())
    assert_close([turned(x.transpose(0, 1))[0].transpose(0, 1), layer(x[:, 0])[0]], [layer(x)[0], layer(x)[0][:, 0]])
    half = copy.deepcopy(layer).bfloat16()(x.bfloat16())[0]
    assert half.dtype == torch.bfloat16 and (half.double() - layer(x)[0]).abs().max() < 0.1
    assert repr(layer).startswith(f"{kind.__name__}(3, 8")


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (
            DeltaMixer,
            {"num_heads": 4, "num_key_heads": 3},
            "num_heads must be a multiple of num_key_heads, got 4 and 3",
        ),
        (DeltaMixer, {"num_heads": 3}, "hidden_size must be a multiple of num_heads, got 8 and 3"),
        (DeltaMixer, {"most": 3}, "most must be above 0 and at most 2"),
        (Mamba2Mixer, {"num_heads": 3, "num_groups": 2}, "num_heads must be a multiple of num_groups, got 3 and 2"),
        (MLSTMMixer, {"num_heads": 3}, "hidden_size must be a multiple of num_heads, got 8 and 3"),
        (GriffinMixer, {"num_heads": 3}, "inner_size must be a multiple of num_heads, got 8 and 3"),
    ],
)
def test_wrong_sizes_are_refused(kind, options, message):
    with pytest.raises(ValueError, match=message):
        kind(3, 8, **options)


@kinds
def test_the_start_is_as_published(kind):
    """Check the ranges of decays and gates, and that norms begin as ones and other biases as zeros."""
    torch.manual_seed(0)
    layer = kind(32, 64, 32) if kind is not MambaMixer else kind(32, 64)
    values = dict(layer.named_parameters())
    if "dt_bias" in values:
        steps = torch.nn.functional.softplus(values["dt_bias"])
        assert 0.99e-3 < steps.min() < 2e-3 and 0.05 < steps.max() < 0.101
    if kind in (DeltaMixer, KimiMixer):
        assert 0 < values["A_log"].exp().min() < 4 and 12 < values["A_log"].exp().max() < 16
    elif "A_log" in values:
        assert torch.allclose(values["A_log"].exp()[..., :3].flatten()[:3], torch.tensor([1.0, 2, 3]))
    if kind is GriffinMixer:
        a = (-8 * torch.nn.functional.softplus(values["decay"])).exp()
        assert 0.89 < a.min() < 0.92 and 0.98 < a.max() < 1
    if kind is MLSTMMixer:
        i, f = values["gate_bias"].chunk(2)
        assert i.eq(-10).all() and f[0] == 3 and f[-1] == 6
    for name, value in values.items():
        assert "norm" not in name or value.eq(1).all()
        assert name not in ("conv_bias", "bias_in", "bias_out", "bias_i", "bias_r") or value.eq(0).all()


def test_wrong_weights_are_refused_and_change_nothing():
    layer, _ = fixed_case("mamba2")
    weights, before = released_weights(layer, "mamba2"), copy.deepcopy(layer.state_dict())
    for name, weight, message in (
        ("D", None, "mamba2: D is missing"),
        ("E", torch.zeros(3), "mamba2: E is not one of its weights"),
        ("norm.weight", torch.zeros(3), r"mamba2: norm.weight is \(3,\), the layer needs \(24,\)"),
    ):
        wrong = {k: torch.zeros_like(w) for k, w in weights.items()} | {name: weight}
        with pytest.raises(ValueError, match=message):
            load_released(layer, {k: w for k, w in wrong.items() if w is not None}, "mamba2")
    assert all(torch.equal(before[name], weight) for name, weight in layer.state_dict().items())
