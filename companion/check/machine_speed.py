"""Speed of this machine, so that the time limit of a trained question means the same on a slow and on a fast one."""

import time

import torch

STEPS = 10  # of the training
REFERENCE = 0.085  # seconds of the processor that these steps take where the limits hold as they are


def train_shortly():
    """Train a written-out LSTM on random numbers for a few steps, which costs what an answer's steps cost."""
    inputs, from_input, from_hidden = (torch.rand(*size) - 0.5 for size in ((64, 44, 24), (24, 96), (24, 96)))
    from_hidden.requires_grad_()
    for _ in range(STEPS):
        h = c = torch.zeros(64, 24)
        for x in inputs.unbind(1):
            i, f, g, o = (x @ from_input + h @ from_hidden).chunk(4, dim=-1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        h.sum().backward()


def measure_slowness(repeats=3):
    """Return how many times as long as on the reference machine a short training takes here, at least 1.

    The longest of a few repeats counts, since the time that is compared was taken on the same busy machine.
    """
    dtype = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with torch.random.fork_rng(devices=[]):
            return max(1.0, *(measure_once() for _ in range(repeats)))
    finally:
        torch.set_default_dtype(dtype)


def measure_once():
    """Return how many times as long as on the reference machine one short training takes here."""
    begin = time.process_time()
    train_shortly()
    return (time.process_time() - begin) / REFERENCE
