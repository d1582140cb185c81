"""New tensors and random numbers: types, and errors for wrong arguments, as torch has them."""

import numpy as np
import pytest
import torch

import small_torch
from both_torches import Refused, agree, outcome, split_rows

LISTS = """
t.tensor([np.arange(3.), np.ones(3)]) | t.tensor([np.float64(1)]) | t.tensor([np.float32(1), 2]) | t.tensor([1, 2.5, True])
t.tensor([np.int32(1), 2]) | t.tensor([t.tensor(1), 2.5]) | t.tensor([t.ones(1), t.ones(1)]) | t.tensor([t.ones(2)]) | t.tensor([[], []])
t.tensor([1, [2]]) | t.tensor([[1], 2]) | t.tensor([[1, 2], [3]]) | t.tensor([[[1], [2]], [[1], [2, 3]]]) | t.tensor([1, "a"]) | t.tensor(["a"])
t.tensor([1, None]) | t.tensor({1: 2}) | t.tensor([2**63]) | t.tensor(2**63) | t.tensor([1.0, 2**70]) | t.tensor([300], dtype=t.uint8)
t.tensor([1e10], dtype=t.int32) | t.tensor([-1], dtype=t.uint8) | t.tensor(1j, dtype=t.float32) | t.tensor(np.array(["a"]))
t.tensor(np.arange(3)[::-1]) | t.from_numpy(np.arange(3)[::-1]) | t.tensor([1], dtype="float") | t.Tensor([[1, 2], [3]]) | t.Tensor(2.5)
"""  # noqa: E501
ARGUMENTS = """
t.zeros() | t.zeros(None) | t.zeros(True) | t.zeros(-1) | t.ones(2, -1) | t.zeros(size=(2, 3))
t.full(2, 1) | t.full((2,), "a") | t.full((2,), 300, dtype=t.uint8) | t.full((2,), 1e300) | t.full((2,), 1j, dtype=t.float32) | t.eye(-1)
t.arange(end=4) | t.arange(0, 5, 1.5, dtype=t.int64) | t.arange(2.5, dtype=t.int64) | t.arange(0, float("nan")) | t.arange(2, dtype=t.bool)
t.arange(3, requires_grad=True) | t.linspace(0, 1, -1) | t.randperm(-1) | t.randperm(2.5) | t.zeros_like([1]) | t.zeros(2, foo=1)
t.zeros(2, out=t.ones(2)) | t.rand(2, dtype=t.int64) | t.arange(3).normal_() | t.arange(3).uniform_() | t.ones(2).normal_(0, -1)
t.ones(2).expand(3, 2).uniform_() | t.ones(2, requires_grad=True).uniform_()
t.bernoulli(t.arange(2)) | t.bernoulli(t.tensor([2.0])) | t.multinomial(t.arange(3), 2) | t.multinomial(t.ones(3), 0) | t.ones(2).copy_([1, 2])
t.randint(0, 300, (2,), dtype=t.uint8) | t.zeros(2, device="cuda") | t.zeros(2, device="gpu")
t.Size([2]) * 2 | (1,) + t.Size([2]) | str(t.finfo(t.float16)) | t.finfo(t.int8) | str(t.iinfo(t.int8)) | t.set_default_dtype(t.int64)
isinstance(t.ones(1), t.FloatTensor) | isinstance(t.ones(1), t.LongTensor) | t.ones(2).type(t.LongTensor) | t.ones(2).type("torch.IntTensor") | t.ones(2).type("a")
t.arange(4).index_fill(0, t.tensor([0]), float("nan")) | t.ones(2).scatter(0, t.tensor([0]), 1j) | t.full((2,), 1j, dtype=t.bool) | t.linspace(2j, 1, 3)
t.linspace(t.inf, 3j, 3) | t.tensor(1.0).index_add(0, t.tensor([0, 0]), t.ones(2))
t.linspace(0, 1j, 3, dtype=t.float64) | t.linspace(float("nan"), 1, 3, dtype=t.int64) | t.arange(2, dtype=t.complex64) | t.randn(0, dtype=t.int64)
t.rand_like(t.ones(2), requires_grad=True).requires_grad | t.bernoulli(t.arange(0)) | t.ones(2).cfloat().random_(2)
t.ones(2).floor(1) | t.ones(2).floor(wrong=1) | t.ones(2).size(wrong=1) | t.ones(2, 2).max(0).sum()
t.ones(2).scatter_add(0, t.arange(0), t.ones(2, requires_grad=True)) | t.tensor(2.0).topk(0) | t.ones(0, 2).bool().median()
t.full((2,), -1, dtype=t.uint8) | t.tensor([-1.0], dtype=t.uint8) | t.arange(2).masked_fill(t.ones(2).bool(), t.tensor(t.nan))
t.ones(2).half().index_fill(0, t.arange(1), t.tensor(1e6)) | t.ones(2).bool().clip(max=t.ones(2).bool())
t.arange(0).view(t.uint8)
t.arange(2).index_fill(0, t.arange(1), t.tensor(1.0, requires_grad=True)) | (x := t.ones(2)).index_copy_(0, t.tensor([0]), x)
"""  # noqa: E501
# Errors whose texts are rare, and not torch's
OTHER_TEXTS = """
t.ones(2).bool().clip(max=True) | t.zeros(2, 2).scatter(0, t.zeros(1, 2).long(), t.ones(2)) | t.nn.functional.pad(t.zeros(0), (-1, 1)) | t.arange(4)[::2].view(t.uint8)
t.zeros(2, dtype=t.uint8).fill_(-0.5) | t.abs(t.ones(2), out=t.ones(2).double())
t.zeros(2, 2.5) | t.zeros([[2]]) | t.zeros((2,), (3,)) | t.ones(2).uniform_(0, float("inf")) | t.randint(1.5, (2,)) | t.normal(t.zeros(2), -1.0)
t.Size([2.5]) | t.LongTensor(t.ones(1)) | t.arange(1j) | t.normal(t.zeros(1), t.tensor([float("nan")])) | t.cuda.is_available(wrong=1)
t.set_num_threads(2.5) | t.normal(t.zeros(2), t.ones(2), wrong=1) | t.bernoulli(t.ones(2, requires_grad=True), 0.5).sum().backward() | t.cuda.synchronize()
"""  # noqa: E501


@pytest.mark.parametrize("row", split_rows(LISTS + ARGUMENTS))
def test_new_tensors(row):
    agree(lambda t: eval(row, {"t": t, "np": np, "isinstance": isinstance, "str": str}), 0)


@pytest.mark.parametrize("row", split_rows(OTHER_TEXTS))
def test_types_of_errors(row):
    theirs, ours = (outcome(lambda t: eval(row, {"t": t}), t)[0] for t in (torch, small_torch))
    assert isinstance(theirs, Refused) and theirs.type == ours.type
