"""Tests of layers that compute all time steps at once, as on a graphics card: equal to the loop, in few operations."""

import functools

import pytest
import torch
from torch.nn.utils.rnn import pack_sequence

import companion
from companion import compare
from companion.layers import matrix_state
from tests.layers.test_matrix_layers import float64, kinds

MATRIX_LAYERS = ["LinearAttention", "GatedLinearAttention", "DeltaNet", "GatedDeltaNet", "MLSTM"]
at_once = functools.partial(matrix_state.chunks, at_once=True)


def random_input(T, features, packed=False, **options):
    """Return a sequence as a batch, (T, 1, features), or two packed ones of T and T - 1 steps."""
    x = torch.randn(T, 1, features, **options)
    return pack_sequence([x[:, 0], x[1:, 0]]) if packed else x


@kinds
@pytest.mark.parametrize("packed", [False, True])
def test_all_chunks_at_once_equal_the_loop(kind, more, packed):
    """Check outputs, states and gradients, from a random state, with a last chunk that is not full."""
    torch.manual_seed(0)
    layer, plain = (kind(3, 4, 2, **more, **float64) for _ in range(2))
    layer.way, plain.way = at_once, matrix_state.loop
    comparison = compare(layer, plain, random_input(150, 3, packed, **float64))
    assert comparison.ok and len(comparison) >= 6, comparison


def operations(layer, x):
    """Return how many operations torch counts, forward and backward."""
    with torch.profiler.profile() as profile:
        output, _ = layer(x)
        (output if torch.is_tensor(output) else output.data).sum().backward()
    return sum(event.count for event in profile.key_averages() if event.key.startswith("aten::"))


@pytest.mark.parametrize(
    ("name", "packed"),
    [(name, False) for name in ("MinGRU", "LogMinGRU", "MinLSTM", "SelectiveSSM", *MATRIX_LAYERS)]
    + [("MinGRU", True), ("GatedDeltaNet", True)],
)
def test_operations_hardly_grow_with_the_length(name, packed):
    """Compare 4,096 with 1,024 steps: a tree has two more rounds. One operation for each step would be 3,072 more."""
    layer = getattr(companion, name)(64, 64)
    layer.way = at_once  # other layers have only one way
    shorter, longer = (operations(layer, random_input(T, 64, packed)) for T in (1024, 4096))
    assert longer - shorter <= (480 if name in MATRIX_LAYERS else 150)


def test_chunks_are_computed_at_once_on_a_card_only(monkeypatch):
    """Check another device than the processor: "meta", which every computer has."""
    calls = []
    monkeypatch.setattr(
        matrix_state, "all_chunks", lambda inputs, *_: calls.append(inputs[0].device.type) or inputs[:2]
    )
    for device, steps in (("cpu", 70), ("meta", 64), ("meta", 70)):
        x = torch.zeros(steps, 2, device=device)
        matrix_state.chunks(x, x, x, x[:, 0], x[:, 0], torch.zeros(2, 2, device=device))
    assert calls == ["meta"]
