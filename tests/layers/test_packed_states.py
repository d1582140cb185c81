"""Test of packed sequences in the layers with a matrix state and in selective state spaces."""

import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence, unpack_sequence

from companion import SelectiveSSM
from tests.layers.test_matrix_layers import KINDS, close, float64, state_of
from tests.layers.torch_comparison import flat, randn


@pytest.mark.parametrize(
    ("kind", "more"),
    [*KINDS.values(), (SelectiveSSM, {}), (SelectiveSSM, {"selective": False})],
    ids=[*KINDS, "selective", "fixed"],
)
def test_packed_sequences_end_at_their_own_last_step(kind, more):
    """Compare outputs, states and gradients with each sequence alone, from any states, whatever the padding was."""
    torch.manual_seed(0)
    layer, lengths = kind(3, 4, 2, batch_first=True, **more, **float64), (5, 70, 2)
    for parameter in layer.parameters():  # gates of all strengths
        parameter.data = randn(*parameter.shape)
    padded = torch.full((3, 75, 3), torch.nan, **float64)
    sequences = [randn(n, 3).requires_grad_() for n in lengths]
    for row, sequence in zip(padded, sequences, strict=True):
        row[: len(sequence)] = sequence.detach()
    assert pack_padded_sequence(padded, lengths, True, False).data.isfinite().all()
    state = state_of(layer, 3)
    for begin in (None, state):
        results = []
        for together in (True, False):
            if together:
                packed = pack_sequence(sequences, enforce_sorted=False)
                output, after = layer(packed, begin)
                assert all(x is y for x, y in zip(output[1:], packed[1:], strict=True))
                outputs, after = unpack_sequence(output), flat(after)
            else:
                starts = [None if begin is None else [s[k] for s in flat(begin)] for k in range(3)]
                starts = [s[0] if begin is not None and len(s) == 1 else s for s in starts]
                outputs, ends = zip(*map(layer, sequences, starts), strict=True)
                after = [torch.stack(parts) for parts in zip(*map(flat, ends), strict=True)]
            loss = sum((out * out.numel()).sin().sum() for out in [*outputs, *after])
            results.append([*outputs, *after, *torch.autograd.grad(loss, [*sequences, *layer.parameters()])])
        close(*results)
    one = pack_sequence(sequences[:2], enforce_sorted=False)
    with pytest.raises(RuntimeError, match="Expected state of"):
        layer(one, state)
    with pytest.raises(ValueError, match="input is torch.float32"):
        layer(one.float())
