"""The same program on torch and on small_torch: `agree` holds one to the other."""

import inspect
import re
import warnings
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import torch

import small_torch

TENSORS = torch.Tensor | small_torch.Tensor
MODULES = torch.nn.Module | small_torch.nn.Module
FLOATS = {"float64": 1e-12, "float32": 2e-6}  # how near the layers' numbers are to torch's


class Refused(NamedTuple):
    """An error, instead of a value."""

    type: str
    text: str


def numbers(t, *shape, seed=0, dtype="float64", grad=False):
    """A tensor of this torch, with numbers that are the same for both."""
    array = np.random.default_rng([seed, *shape]).standard_normal(shape)
    return t.tensor(array.tolist(), dtype=getattr(t, dtype)).reshape(shape).requires_grad_(grad)


def outcome(program, t):
    """What `program(t)` returns, or the type and text of its error; and what it warns of."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            value = program(t)
        except Exception as error:  # noqa: BLE001  whatever it is, both are to raise it
            text = str(error).partition("\nException raised from")[0]
            value = Refused(type(error).__name__, text)
    # torch says once a process that its fused float32 LSTM has no projections
    said = [f"{one.category.__name__}: {one.message}" for one in warned]
    return value, [text for text in said if "oneDNN" not in text]


def alike(theirs, ours, tolerance):
    """Assert that two results are the same, numbers up to a tolerance (a share of the largest, and at least of 1)."""
    if isinstance(theirs, Refused) or isinstance(ours, Refused):
        assert theirs == ours
    elif isinstance(theirs, TENSORS):
        assert str(theirs.dtype) == str(ours.dtype)
        assert tuple(theirs.shape) == tuple(ours.shape)
        assert theirs.requires_grad == ours.requires_grad
        theirs, ours = (one.detach().to_dense() if one.is_sparse else one.detach() for one in (theirs, ours))
        assert_close(np.array(theirs.tolist()), np.array(ours.tolist()), tolerance)
    elif isinstance(theirs, MODULES):
        assert repr(theirs) == repr(ours)
        alike(dict(theirs.named_parameters()), dict(ours.named_parameters()), tolerance)
        alike(dict(theirs.named_buffers()), dict(ours.named_buffers()), tolerance)
    elif isinstance(theirs, Mapping):
        assert [*theirs] == [*ours]
        for name in theirs:
            alike(theirs[name], ours[name], tolerance)
    elif isinstance(theirs, tuple | list):
        assert type(theirs).__name__ == type(ours).__name__
        assert len(theirs) == len(ours)
        for one, other in zip(theirs, ours, strict=True):
            alike(one, other, tolerance)
    elif isinstance(theirs, float):
        assert_close(np.array(theirs), np.array(ours), tolerance)
    else:
        assert theirs == ours


def assert_close(theirs, ours, tolerance):
    if tolerance == 0 or theirs.dtype.kind not in "fc":
        np.testing.assert_array_equal(ours, theirs)
    elif theirs.size:
        finite = np.abs(theirs[np.isfinite(theirs)])
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * max(1, finite.max(initial=0)))


def agree(program, tolerance=1e-12):
    """Assert that both torches do the same: values, errors with their texts, warnings."""
    (theirs, their_words), (ours, our_words) = outcome(program, torch), outcome(program, small_torch)
    alike(theirs, ours, tolerance)
    assert our_words == their_words
    return theirs


def on_both(tolerance=1e-12):
    """Make a test of a program that takes a torch and more arguments: both torches do the same with them.

    tolerance: as of `agree`; or one for each value of the argument `dtype`.
    """

    def made(program):
        def test(*values, **named):
            arguments = test.__signature__.bind(*values, **named).arguments
            bound = tolerance[arguments["dtype"]] if isinstance(tolerance, dict) else tolerance
            agree(lambda t: program(t, **arguments), bound)

        _, *others = inspect.signature(program).parameters.values()
        test.__name__, test.__doc__, test.__signature__ = program.__name__, program.__doc__, inspect.Signature(others)
        return test

    return made


def rows_of(table):
    """Return the rows of a table of programs: expressions, each on a line of its own or between " | "."""
    return [row.strip() for row in re.split(r"\s\|\s(?![^()]*\))|\n", table) if row.strip()]


def program_of(row, **names):
    """Return a row as a program of a torch `t`, which may speak of `names` and of parts of `t`."""
    code = compile(row, row, "eval")

    def program(t):
        parts = {"nn": t.nn, "F": t.nn.functional, "init": t.nn.init, "utils": t.nn.utils, "rnn": t.nn.utils.rnn}
        parts |= {"optim": t.optim, "lr_scheduler": t.optim.lr_scheduler}
        return eval(code, names | parts | {"t": t, "zeros": t.zeros, "numbers": partial(numbers, t)})

    return program


def gradients(t, module, outputs, inputs):
    """The gradients of all parameters and inputs, of a sum of all outputs in which each number counts."""
    outputs = [one for one in flat(outputs) if one.requires_grad]
    loss = sum((one * numbers(t, *one.shape, seed=7, dtype=str(one.dtype).split(".")[1])).sum() for one in outputs)
    loss.backward()
    found = {name: one.grad for name, one in module.named_parameters()}
    return found | {f"input {k}": one.grad for k, one in enumerate(flat(inputs)) if one.requires_grad}


def flat(things):
    """The tensors in nested tuples."""
    if isinstance(things, TENSORS):
        return [things]
    return [one for part in things if part is not None for one in flat(part)]


def example(t):
    """Return a module with parts, parameters and buffers of all kinds."""

    class Cell(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = t.nn.Linear(3, 2)
            self.scale = t.nn.Parameter(t.ones(2))
            self.layers = t.nn.ModuleList([t.nn.Tanh(), t.nn.Linear(2, 2), t.nn.Linear(2, 2)])
            self.register_buffer("mean", t.zeros(2))
            self.register_buffer("like", t.zeros(1), persistent=False)
            self.register_parameter("nothing", None)
            self.same = self.inner

        def forward(self, x):
            return self.scale * self.inner(x) - self.mean

    t.manual_seed(4)
    return Cell()
