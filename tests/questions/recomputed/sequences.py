"""Right answers of the questions about *Sequences of different lengths*, computed by torch."""

import torch
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence, pad_sequence

from companion.learning.classifier import mean_over_time as masked_mean


def steps_saved(lengths, longest, packed):
    sequences = [torch.zeros(length) for length in lengths]
    padded, data = pad_sequence(sequences), pack_sequence(sequences, enforce_sorted=False).data
    assert (len(padded), len(data)) == (longest, packed)
    return padded.numel() - len(data)


def mean_over_time(length, steps, outputs):
    sequences = [outputs[:, None], torch.ones(steps, 1, dtype=torch.float64)]
    padded, lengths = pad_packed_sequence(pack_sequence(sequences, enforce_sorted=False))
    assert lengths.tolist() == [length, steps]
    return masked_mean(padded, lengths)[0].item()
