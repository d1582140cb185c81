"""Sequences of different lengths: padded to one length, or packed time step by time step without padding."""

from itertools import groupby
from typing import NamedTuple

import numpy as np

from ...arguments import check_elements
from ...creation import arange, as_tensor, tensor
from ...dtypes import float32, float64, int64
from ...messages import error, refuse
from ...sorting import sort
from ...tape import rename_node
from ...tensor import Tensor

FIELDS = [(name, Tensor) for name in ("data", "batch_sizes", "sorted_indices", "unsorted_indices")]


class PackedSequence(NamedTuple("_Packed", FIELDS)):
    """All numbers of a batch of sequences, without padding.

    data: (N, *), the rows of the first time step, then those of the second, and so on. batch_sizes: (T), how many
    sequences each time step has; they are sorted by length, the longest first. sorted_indices: the caller's index of
    each sorted sequence; unsorted_indices: the inverse; None if they were sorted already.
    """

    is_cuda = False

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if batch_sizes is None:
            refuse(not (isinstance(data, list | tuple) and len(data) == 2), "packed pair")
            data, batch_sizes = data
        unsorted_indices = invert_permutation(sorted_indices) if unsorted_indices is None else unsorted_indices
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        """Return it with the data in another type or on another device."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else type(self)(data, *self[1:])

    def cpu(self):
        return self.to("cpu")

    def double(self):
        return self.to(float64)

    def float(self):
        return self.to(float32)


def invert_permutation(permutation):
    """Return the inverse of a permutation (n); None for None."""
    return None if permutation is None else permutation.argsort()


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Pack padded sequences; return a `PackedSequence`.

    input: (T, B, *), or (B, T, *) with batch_first. lengths: B numbers, in a list or a tensor. enforce_sorted: raise
    RuntimeError unless they are sorted, the longest first.
    """
    lengths = lengths.to(int64) if isinstance(lengths, Tensor) else as_tensor(lengths, dtype=int64)
    sorted_indices = None
    if not enforce_sorted:
        lengths, sorted_indices = sort(lengths, descending=True)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    refuse(lengths.dim() != 1 or lengths.device.type != "cpu", "lengths type", lengths.dim(), lengths.device)
    refuse(input.numel() == 0, "Cannot pack empty tensors.")
    input = input.transpose(0, 1) if batch_first else input
    numbers = lengths._array
    refuse(len(numbers) != input.size(1), "lengths count", len(numbers), input.size(1))
    refuse(numbers[-1] > 0 and (numbers[1:] > numbers[:-1]).any(), "lengths order")
    refuse((numbers <= 0).any(), "empty sequence")
    # the rows of the first step, then of the second, without padding
    is_real = np.arange(numbers[0])[:, None] < numbers
    rows = np.flatnonzero(is_real[: len(input)])
    data, sizes = input.flatten(0, 1).index_select(0, tensor(rows)), tensor(is_real.sum(1))
    return PackedSequence(rename_node(data, "PackPaddedSequence", sizes), sizes, sorted_indices)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """Pad packed sequences; return them, in the caller's order, and their lengths (B).

    They are (T, B, *), or (B, T, *) with batch_first; T is total_length, if given, which must not be too short.
    """
    sizes, data = np.array(sequence.batch_sizes.tolist()), sequence.data
    longest, batch = len(sizes), int(sizes[0])
    refuse(total_length is not None and total_length < longest, "total length", total_length, longest)
    begin = 0
    for size, steps in groupby(sizes.tolist()):  # torch reads the rows of equal steps together
        shape = [len([*steps]), size, *data.shape[1:]]
        refuse(begin + shape[0] * size > len(data), "packed rows", shape, data[begin:].numel())
        begin += shape[0] * size
    steps, is_real = total_length or longest, np.arange(batch) < sizes[:, None]
    padded = data.new_full((steps * batch, *data.shape[1:]), padding_value)
    padded = padded.index_copy(0, tensor(np.flatnonzero(is_real)), data).unflatten(0, (steps, batch))
    lengths = tensor(is_real.sum(0))
    padded = padded.transpose(0, 1) if batch_first else padded
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(0 if batch_first else 1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices]
    return padded, lengths


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Pad sequences (T_i, *) to the longest one; return (T, B, *), or (B, T, *) with batch_first."""
    try:
        sequences = [*sequences]
    except TypeError:
        raise error("sequences", type(sequences)) from None
    refuse(not sequences, "received an empty list of sequences")
    refuse(padding_side not in ("left", "right"), "padding side", padding_side)
    check_elements(sequences)
    longest = max(map(len, sequences))
    sizes = (len(sequences), longest) if batch_first else (longest, len(sequences))
    out = sequences[0].new_full((*sizes, *sequences[0].shape[1:]), padding_value)
    for i, sequence in enumerate(sequences):
        begin = longest - len(sequence) if padding_side == "left" else 0
        steps = slice(begin, begin + len(sequence))
        out[(i, steps) if batch_first else (steps, i)] = sequence
    return out


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """Return the list of sequences (T_i, *) of padded ones (T, B, *), or (B, T, *) with batch_first."""
    rows = padded_sequences
    if not batch_first:  # torch transposes the caller's tensor in place
        padded_sequences._check_may_change()
        rows = padded_sequences.transpose(0, 1)
        padded_sequences._array = rows._array
        padded_sequences._grad_fn, padded_sequences._output = rows._grad_fn, rows._output
    return [row[arange(len(row)) < length] for row, length in zip(rows, lengths, strict=True)]


def pack_sequence(sequences, enforce_sorted=True):
    """Pack a list of sequences (T_i, *)."""
    lengths = as_tensor([len(sequence) for sequence in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    """Return the list of sequences (T_i, *) that were packed."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences, batch_first=True), batch_first=True)
