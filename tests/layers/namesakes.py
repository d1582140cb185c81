"""A scratch class and its namesake in torch: what both do with the same arguments."""

import os
import warnings

import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence

import companion

LAYERS = ["RNN", "LSTM", "GRU"]
CELLS = ["RNNCell", "LSTMCell", "GRUCell"]
RECURRENT = LAYERS + CELLS
ALL = [*RECURRENT, "Embedding"]
float64 = {"dtype": torch.float64}


def examples(number):
    """How many configurations a test draws: so many, and forty times as many in `make fuzz`."""
    return number * (40 if "FUZZ" in os.environ else 1)


def pair(name, *args, seed=0, **kwargs):
    """The scratch module and torch's, each made after the same seed."""
    modules = []
    for source in (companion, nn):
        torch.manual_seed(seed)
        modules.append(getattr(source, name)(*args, **kwargs))
    return modules


def flat(result):
    """The tensors in what a module returns, one after another."""
    if isinstance(result, PackedSequence):
        return [result.data]
    return [result] if isinstance(result, torch.Tensor) else [t for part in result for t in flat(part)]


def outcome(act, *args, **kwargs):
    """What a call comes to: its error's type and text or None, and the warnings on the way."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        error = None
        try:
            act(*args, **kwargs)
        except Exception as e:  # whatever it is, it is compared
            # torch adds C++ frames under the message when it is asked to be verbose
            error = type(e), str(e).split("\nException raised from")[0]
    return error, [(w.category, str(w.message)) for w in caught]


def agree(result, dtype):
    """Whether a comparison is below its bounds. A float32 sum whose terms cancel may keep their rounding."""
    return all(row.ok or (dtype == torch.float32 and row.difference < 1e-6) for row in result)


def close(ours, theirs, dtype=torch.float64):
    """Hold the tensors of a result to another's, relative to the largest number where that is above 1."""
    bound = 1e-10 if dtype == torch.float64 else 1e-5
    for a, b in zip(flat(ours), flat(theirs), strict=True):
        largest = max(1.0, b.abs().max().item()) if b.numel() else 1.0
        torch.testing.assert_close(a, b, rtol=0, atol=bound * largest)


def near(ours, theirs):
    """Hold tensors to others: each number may be 1e-10 away."""
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-10)


def randn(*shape, dtype=torch.float64):
    """Draw in float64 whatever the type, so that all types begin with the same numbers."""
    return torch.randn(shape, dtype=torch.float64).to(dtype)
