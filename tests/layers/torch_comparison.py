"""Comparison of a scratch class with torch's class of the same name."""

import os
import re
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
# On a graphics card torch's layers call cuDNN, which draws other dropout masks, and has neither second derivatives nor
# gradients in evaluation. A test of these compares with torch's own programs for the card.
without_cudnn = torch.backends.cudnn.flags(enabled=False)


def examples(number):
    """Return how many configurations a test draws: `number`, and forty times as many in `make fuzz`."""
    return number * (40 if "FUZZ" in os.environ else 1)


def pair(name, *args, seed=0, **kwargs):
    """Return the scratch module and torch's, each made after the same seed."""
    modules = []
    for source in (companion, nn):
        torch.manual_seed(seed)
        modules.append(getattr(source, name)(*args, **kwargs))
    return modules


def flat(result):
    """Return the tensors in a module's result, in order."""
    if isinstance(result, PackedSequence):
        return [result.data]
    return [result] if isinstance(result, torch.Tensor) else [t for part in result for t in flat(part)]


def outcome(act, *args, **kwargs):
    """Return a call's error, (type, text) or None, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        error = None
        try:
            act(*args, **kwargs)
        except Exception as e:  # every type of error is compared
            # torch can append C++ frames to the message, and on a graphics card name the kernel's argument
            text = re.split(r"\nException raised from| \(when checking argument in method", str(e))[0]
            error = type(e), re.sub(r"but got \w+ is on", "but got one on", text)
    return error, [(w.category, str(w.message)) for w in caught]


def compiled(module):
    """Return a compiled module as a function. It runs without the default device of `--device`.

    With one, torch 2.13 does not compile `unflatten`.
    """
    torch._dynamo.reset()
    run = torch.compile(module, backend="eager", fullgraph=True)

    def call(*arguments):
        device = torch.get_default_device()
        torch.set_default_device(None)
        try:
            return run(*arguments)
        finally:
            if device.type != "cpu":
                torch.set_default_device(device)

    return call


def agree(result, dtype):
    """Return True if a comparison is within its bounds, or within 1e-6 in float32, where terms of a sum may cancel."""
    return all(row.ok or (dtype == torch.float32 and row.difference < 1e-6) for row in result)


def close(ours, theirs, dtype=torch.float64):
    """Check that the tensors of two results are close, relative to the largest number where that is above 1."""
    bound = 1e-10 if dtype == torch.float64 else 1e-5
    for a, b in zip(flat(ours), flat(theirs), strict=True):
        largest = max(1.0, b.abs().max().item()) if b.numel() else 1.0
        torch.testing.assert_close(a, b, rtol=0, atol=bound * largest)


def near(ours, theirs):
    """Check that each number is within 1e-10 of the other's."""
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-10)


def randn(*shape, dtype=torch.float64):
    """Draw in float64 whatever the type, so that all types begin with the same numbers."""
    return torch.randn(shape, dtype=torch.float64).to(dtype)
