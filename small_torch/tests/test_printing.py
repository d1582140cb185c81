"""Printed tensors of small_torch, compared with torch's exactly."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import small_torch
from both_torches import agree, compile_row, on_both, outcome, split_rows

SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 0.5, 1e-5, 1e5, 123456.0, 1e-20, 3e38]
FLOATS = st.sampled_from(SPECIAL) | st.floats(-1000, 1000, width=32) | st.integers(-999, 999).map(float)
VALUES = {
    "float32": FLOATS,
    "float64": FLOATS | st.floats(allow_subnormal=False),
    "int64": st.integers(-(10**6), 10**6),
    "int32": st.integers(-9, 99),
    "bool": st.booleans(),
}
SHAPES = st.lists(st.integers(0, 5), max_size=3).map(tuple) | st.sampled_from(
    [(30,), (1001,), (40, 30), (7, 12, 13), (1, 1)]
)


@given(data=st.data(), shape=SHAPES, dtype=st.sampled_from([*VALUES]), grad=st.sampled_from(["", "leaf", "result"]))
@settings(max_examples=150)
def test_tensor(data, shape, dtype, grad):
    few = data.draw(st.lists(VALUES[dtype], min_size=1, max_size=12))
    count = math.prod(shape)
    values = (few * (count // len(few) + 1))[:count]

    def program(t):
        tensor = t.tensor(values, dtype=getattr(t, dtype)).reshape(shape)
        if grad and dtype.startswith("float"):
            tensor.requires_grad_()
            tensor = tensor * 1 if grad == "result" else tensor
        return repr(tensor)

    (theirs, _), (ours, _) = (outcome(program, t) for t in (torch, small_torch))
    assert ours == theirs


OPTIONS = [
    {"precision": 2}, {"sci_mode": True}, {"linewidth": 40}, {"threshold": 5, "edgeitems": 1}, {"threshold": 40},
    {"profile": "short"}, {"profile": "full"}, *({"linewidth": width} for width in range(38, 44)),
]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@on_both()
def test_print_options(t, options):
    t.set_printoptions(**options)
    try:
        few = [t.tensor([[1e-3, 1e3]]), t.tensor([0.5, 500.0]), t.ones(3, dtype=t.float64)]
        return [repr(tensor) for tensor in (t.arange(40.0) / 7, t.arange(24).view(2, 3, 4), *few)]
    finally:
        t.set_printoptions(profile="default")


OBJECTS = """
t.tensor(2.5) | t.tensor([1 + 2j, -0.5j]) | t.ones(2, dtype=t.float16) | t.full((2, 2), -3, dtype=t.int8) | t.zeros(2, 0) | t.zeros(0, dtype=t.int64)
f"{t.tensor(2.5):.1f} {t.tensor(3)} {t.tensor([1.0])}" | [t.ones(2), t.float64, t.Size([2, 3]), t.device("cpu")] | nn.Parameter(t.ones(2, 2))
t.ones(3).max(0) | t.ones(2, requires_grad=True).exp() | nn.Embedding(3, 2) | (t.ones(2, requires_grad=True) * 2).detach() | t.finfo(t.float32).eps
"""  # noqa: E501


@pytest.mark.parametrize("row", split_rows(OBJECTS))
def test_other_objects(row):
    agree(lambda t: repr(compile_row(row)(t)))
