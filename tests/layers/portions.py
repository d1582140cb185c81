"""Checks that a layer reads the same in any portions, and packed sequences as each alone."""

import torch
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence

from tests.layers.torch_comparison import flat


def assert_close(ours, expected):
    """Check that tensors are equal to 1e-10."""
    for mine, other in zip(ours, expected, strict=True):
        torch.testing.assert_close(mine, other, rtol=0, atol=1e-10)


def check_portions(layer, lengths, batch):
    """Check that calls over portions of these lengths give the outputs and the state of one call."""
    x = torch.randn(sum(lengths), batch, layer.input_size, dtype=torch.float64)
    expected, end = layer(x)
    outputs, state = [], None
    for part in x.split(lengths):
        output, state = layer(part, state)
        outputs.append(output)
    assert_close([torch.cat(outputs), *flat(state)], [expected, *flat(end)])


def check_packed(layer, lengths):
    """Check that packed sequences of these lengths, from random states, give what each gives alone."""
    sequences = [torch.randn(n, layer.input_size, dtype=torch.float64) for n in lengths]
    _, before = layer(torch.randn(5, len(lengths), layer.input_size, dtype=torch.float64))
    output, after = layer(pack_sequence(sequences, enforce_sorted=False), before)
    padded, _ = pad_packed_sequence(output)
    for b, sequence in enumerate(sequences):
        own = tuple(s[b] for s in flat(before))
        alone, end = layer(sequence, own if isinstance(before, tuple) else own[0])
        assert_close([padded[: len(sequence), b], *(s[b] for s in flat(after))], [alone, *flat(end)])
