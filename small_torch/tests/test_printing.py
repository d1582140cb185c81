"""Printed tensors of small_torch, compared with torch's exactly; and errors for missing names."""

import math
import operator
import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import small_torch
from both_torches import agree, on_both, outcome
from small_torch.absent import NO_EFFECT

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


@pytest.mark.parametrize(
    "program",
    [
        lambda t: repr(t.tensor(2.5)),
        lambda t: repr(t.tensor([1 + 2j, -0.5j])),
        lambda t: repr(t.ones(2, dtype=t.float16)),
        lambda t: repr(t.full((2, 2), -3, dtype=t.int8)),
        lambda t: repr([t.tensor([]), t.zeros(2, 0)]),
        lambda t: repr(t.zeros(0, dtype=t.int64)),
        lambda t: f"{t.tensor(2.5):.1f} {t.tensor(3)} {t.tensor([1.0])}",
        lambda t: repr([t.ones(2), t.float64, t.Size([2, 3]), t.device("cpu")]),
        lambda t: repr(t.nn.Parameter(t.ones(2, 2))),
        lambda t: repr(t.ones(3).max(0)),
        lambda t: repr(t.ones(2, requires_grad=True).exp()),
        lambda t: repr(t.nn.Embedding(3, 2)),
        lambda t: repr((t.ones(2, requires_grad=True) * 2).detach()),
        lambda t: repr(t.finfo(t.float32).eps),
        lambda t: t.ones(2).lu_solved,
    ],
)
def test_other_objects(program):
    agree(program)


# Names of torch that small_torch lacks: no chapter, assignment or module of the companion needs them.
ABSENT = """
    fft absolute addcdiv arctanh asinh baddbmm broadcast_shapes cartesian_prod combinations cummin fmod frac histc iinfo kthvalue
    logspace masked_scatter meshgrid nanmean negative promote_types randint_like scatter_reduce searchsorted seed std_mean svd
    take_along_dim tensor_split tensordot tril_indices triu_indices typename unique_consecutive var_mean
    cuda.amp backends.opt_einsum jit.script version.git_version autograd.gradgradcheck
    linalg.cholesky linalg.cond linalg.eig linalg.eigh linalg.eigvalsh linalg.matrix_exp linalg.pinv
    nn.Conv2d nn.GroupNorm nn.ParameterDict nn.functional.celu nn.functional.conv2d nn.init.sparse_
    optim.LBFGS optim.lr_scheduler.ExponentialLR optim.lr_scheduler.LinearLR optim.lr_scheduler.MultiStepLR
    utils.data.IterableDataset
"""  # noqa: E501
# Missing attributes: the error has torch's text, and a note says that torch may have the name.
NO_METHODS = """
    Tensor.absolute Tensor.addcdiv_ Tensor.exponential_ Tensor.fmod Tensor.get_device Tensor.is_signed
    Tensor.masked_scatter_ Tensor.ndimension Tensor.output_nr Tensor.reshape_as Tensor.set_
    Tensor.storage_offset Tensor.register_post_accumulate_grad_hook Tensor.type_as
    Module.register_backward_hook Module.set_submodule Module.share_memory
"""  # noqa: E501


@pytest.mark.parametrize("name", ABSENT.split())
def test_missing_name_refers_to_torch(name):
    getter = operator.attrgetter(name)
    getter(torch)
    with pytest.raises(AttributeError, match=rf"torch.{re.escape(name)} is not in small_torch,"):
        getter(small_torch)


@pytest.mark.parametrize("name", NO_METHODS.split())
def test_missing_method_refers_to_torch(name):
    kind, _, method = name.partition(".")

    def make(t):
        return t.ones(2) if kind == "Tensor" else getattr(t.nn, kind)()

    getattr(make(torch), method)
    with pytest.raises(AttributeError, match=f"object has no attribute '{method}'") as raised:
        getattr(make(small_torch), method)
    assert f"{method} is not in small_torch," in raised.value.__notes__[0]


@pytest.mark.parametrize("place", NO_EFFECT, ids=lambda place: place or "torch")
def test_names_without_effect_exist_in_torch(place):
    theirs, ours = (operator.attrgetter(place)(t) if place else t for t in (torch, small_torch))
    for name, value in NO_EFFECT[place].items():
        assert callable(getattr(theirs, name)) == callable(value)
        assert getattr(ours, name) is value
