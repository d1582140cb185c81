"""Run the same program on torch and on small_torch: `agree` asserts that both do the same."""

import inspect
import re
import warnings
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import torch

import small_torch
from small_torch.messages import UNLIKE

TENSORS = torch.Tensor | small_torch.Tensor
MODULES = torch.nn.Module | small_torch.nn.Module
FLOATS = {"float64": 1e-12, "float32": 2e-6}  # tolerances of layers' numbers


class Refused(NamedTuple):
    """An error in place of a value."""

    type: str
    text: str


def numbers(t, *shape, seed=0, dtype="float64", grad=False):
    """Return a tensor with numbers that are the same for both torches."""
    array = np.random.default_rng([seed, *shape]).standard_normal(shape)
    return t.tensor(array.tolist(), dtype=getattr(t, dtype)).reshape(shape).requires_grad_(grad)


def outcome(program, t):
    """Return the value of `program(t)`, or its error's type and text; and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = program(t)
        except Exception as error:  # noqa: BLE001  both must raise the same error
            text = str(error).partition("\nException raised from")[0]
            value = Refused(type(error).__name__, text)
    # torch warns once per process that its fused float32 LSTM has no projections, and that lists of arrays are slow
    warnings_ = [f"{warning.category.__name__}: {warning.message}" for warning in caught]
    once = ("oneDNN", "extremely slow", "Sparse invariant")
    return value, [text for text in warnings_ if not any(words in text for words in once)]


def assert_same(theirs, ours, tolerance):
    """Assert that two results are the same, numbers up to a tolerance (relative to the largest, at least 1).

    Errors have the same text, unless theirs is rare.
    """
    if isinstance(ours, Refused) and UNLIKE in ours.text:
        assert theirs.type == ours.type
    elif isinstance(theirs, Refused) or isinstance(ours, Refused):
        assert theirs == ours
    elif isinstance(theirs, TENSORS):
        assert str(theirs.dtype) == str(ours.dtype)
        assert tuple(theirs.shape) == tuple(ours.shape)
        assert theirs.requires_grad == ours.requires_grad
        theirs, ours = (x.detach().to_dense() if x.is_sparse else x.detach() for x in (theirs, ours))
        assert_close(np.array(theirs.tolist()), np.array(ours.tolist()), tolerance)
    elif isinstance(theirs, MODULES):
        assert repr(theirs) == repr(ours)
        assert_same(dict(theirs.named_parameters()), dict(ours.named_parameters()), tolerance)
        assert_same(dict(theirs.named_buffers()), dict(ours.named_buffers()), tolerance)
    elif isinstance(theirs, Mapping):
        assert [*theirs] == [*ours]
        for name in theirs:
            assert_same(theirs[name], ours[name], tolerance)
    elif isinstance(theirs, tuple | list):
        assert type(theirs).__name__ == type(ours).__name__
        assert len(theirs) == len(ours)
        for their_part, our_part in zip(theirs, ours, strict=True):
            assert_same(their_part, our_part, tolerance)
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
    """Assert that a program gives the same on both torches: values, errors with their texts, warnings."""
    (theirs, their_warnings), (ours, our_warnings) = outcome(program, torch), outcome(program, small_torch)
    assert_same(theirs, ours, tolerance)
    assert our_warnings == their_warnings
    return theirs


def on_both(tolerance=1e-12):
    """Turn a program, a function of a torch and arguments, into a test that both torches agree.

    tolerance: as for `agree`; or a dictionary of one for each value of the argument `dtype`.
    """

    def decorate(program):
        def test(*values, **options):
            arguments = test.__signature__.bind(*values, **options).arguments
            bound = tolerance[arguments["dtype"]] if isinstance(tolerance, dict) else tolerance
            agree(lambda t: program(t, **arguments), bound)

        _, *others = inspect.signature(program).parameters.values()
        test.__name__, test.__doc__, test.__signature__ = program.__name__, program.__doc__, inspect.Signature(others)
        return test

    return decorate


def split_rows(table):
    """Return the rows of a table of programs: expressions, each on a line of its own or between " | "."""
    return [row.strip() for row in re.split(r"\s\|\s(?![^()]*\))|\n", table) if row.strip()]


def compile_row(row, **names):
    """Return a row as a program of a torch `t`, which may use `names` and parts of `t`."""
    code = compile(row, row, "eval")

    def program(t):
        parts = {"nn": t.nn, "F": t.nn.functional, "init": t.nn.init, "utils": t.nn.utils, "rnn": t.nn.utils.rnn}
        parts |= {"optim": t.optim, "lr_scheduler": t.optim.lr_scheduler}
        return eval(code, names | parts | {"t": t, "zeros": t.zeros, "numbers": partial(numbers, t)})

    return program


def gradients(t, module, outputs, inputs):
    """Return the gradients of all parameters and inputs, of a weighted sum of all outputs."""
    outputs = [y for y in tensors_in(outputs) if y.requires_grad]
    loss = sum((y * numbers(t, *y.shape, seed=7, dtype=str(y.dtype).split(".")[1])).sum() for y in outputs)
    loss.backward()
    grads = {name: parameter.grad for name, parameter in module.named_parameters()}
    return grads | {f"input {k}": x.grad for k, x in enumerate(tensors_in(inputs)) if x.requires_grad}


def tensors_in(nested):
    """Return the tensors in nested tuples."""
    if isinstance(nested, TENSORS):
        return [nested]
    return [tensor for part in nested if part is not None for tensor in tensors_in(part)]


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
