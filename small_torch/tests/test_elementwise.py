"""Elementwise operations of small_torch on all types of numbers, with operands of other types, and changed in place."""

import numpy as np
import pytest

from both_torches import agree

TENSORS = """
[[-1.5, 0.25, 2.0], [0.3, -0.7, 1.0]], dtype=t.float64 | [[-1.5, 0.0, 2.0], [nan, inf, -inf]], dtype=t.float32
[[-1.5, 0.0, 2.0], [0.3, -0.7, 1.0]], dtype=t.float16 | [[-3, 0, 2], [1, 7, 5]], dtype=t.int64
[[3, 0, 2], [1, 7, 5]], dtype=t.uint8 | [[True, False, True], [True, True, False]], dtype=t.bool
[[1 + 2j, -1j, 0.5], [0.3, 1, 2 - 1j]], dtype=t.complex64
"""
TENSORS = [f"t.tensor({row.strip()})" for row in TENSORS.replace("\n", "|").split("|") if row.strip()]
VIEWS = "x", "x.T", "x[0, 0]", "x[:0]"
UNARY = """
    abs acos angle asin atan atanh ceil conj cos cosh erf exp exp2 expm1 floor isfinite isinf isnan log log10 log1p log2
    logical_not nan_to_num neg reciprocal relu round rsqrt sgn sigmoid sign sin sinh sqrt square tan tanh trunc
"""
ROWS = """
t.clamp(x, 0, 1) | t.clamp(x, max=0.5) | t.clamp(x, x * 0 + 1) | t.where(x > 0, x, 0) | t.where(x > 0, x, 0.5) | t.lerp(x, x + 1, 0.3)
t.addcmul(x, x, x, value=2) | t.addcmul(x, x, x, value=0.5) | x.masked_fill(x > 0, 2) | x.masked_fill(x > 0, 0.5) | x.masked_fill(x > 0, inf)
t.maximum(x, x * 0 + 1) | t.minimum(x, t.tensor(1.0)) | t.maximum(x, 1) | t.add(x, x, alpha=2) | t.sub(x, 1, alpha=0.5) | t.add(x, x, alpha=True)
x.cumsum(0) | x.cumprod(0) | x.cummax(0) | x.logcumsumexp(0) | x.diff(n=1, dim=0) | x.diff(0, 0) | x.softmax(0) | x.log_softmax(-1)
x.logsumexp(0) | t.div(x, 2, rounding_mode="floor") | t.div(x, 2, rounding_mode="trunc") | t.div(x, 2, rounding_mode="up") | t.round(x, decimals=1)
x ** 3 | x ** -2 | x ** 0.5 | 2 ** x | x ** x | x.eq(x) | t.isclose(x, x) | t.equal(x, x) | t.logical_and(x, x) | t.logical_or(x, 1) | t.allclose(x, 1)
"""  # noqa: E501
ROWS = [row.strip() for row in ROWS.replace("\n", "|").split(" | ") for row in row.split("|") if row.strip()]
OPERATORS = "+ - * / // % ** @ == != < <= > >= & | ^ << >>".split()
OTHERS = """
    np.ones(2) np.array([1,2]) np.float32(2) np.int64(2) np.bool_(True) np.array(2.) 'a' None [1,2] 2 2.5 True 1e6
    t.tensor([2.],dtype=t.float64) t.tensor(2.,dtype=t.float64) t.tensor(3) t.ones(3) t.tensor([1.5,2.],dtype=t.float16)
""".split()
NUMPY = """
np.sqrt(x) | np.exp(x) | np.argmax(x) | np.isnan(x) | np.add(np.ones(2), x) | np.stack([x, x]) | np.where(x, x, x) | np.asarray(x)
2 in x | [1] in x | float(x) | int(x) | complex(x) | float(x.ravel()[0]) | +x | -x | ~x | abs(x) | divmod(x, 2) | list(reversed(x)) | round(x) | x.requires_grad_("yes") | x._version
"""  # noqa: E501
NUMPY = [row.strip() for row in NUMPY.replace("\n", "|").split("|") if row.strip()]
# What small_torch has not: these operations on complex numbers.
DIFFERENT = {"x.logcumsumexp(0)", "x.cummax(0)"}


def run(t, row, **names):
    """Return what an expression gives for tensors given as text, with its memory order."""
    space = {"t": t, "np": np, "nan": float("nan"), "inf": float("inf")}
    for name, text in names.items():
        space[name] = eval(text, space)
    value = eval(row, space)
    if isinstance(value, np.ndarray):
        return value.dtype, value.tolist()
    return value, value.stride() if isinstance(value, t.Tensor) and value.numel() else None


def backward(t, row, make, change=None):
    """Return the gradient of a row's result, of which a tensor was changed in place."""
    leaf = eval(make, {"t": t, "nan": float("nan"), "inf": float("inf")}).requires_grad_()
    space = {"t": t, "x": leaf * 1, "inf": float("inf")}
    y = eval(row, space)
    y = y[0] if isinstance(y, tuple) else y
    if change is not None:
        (y if change == "y" else space["x"]).mul_(2)
    y.sum().backward()
    return leaf.grad, leaf.grad.stride()


@pytest.mark.parametrize("row", [f"t.{name}(x)" for name in UNARY.split()] + ROWS)
def test_types(row):
    for make in TENSORS:
        for view in VIEWS:
            if not ("complex" in make and any(name in row for name in DIFFERENT)):
                agree(lambda t, make=make, view=view: run(t, row, z=make, x=view.replace("x", "z")), 2e-3)


@pytest.mark.parametrize("row", [f"t.{name}(x)" for name in UNARY.split()] + ROWS)
@pytest.mark.parametrize("change", [None, "y", "x"])
def test_gradient_after_change(row, change):
    if "sgn" not in row:
        for make in TENSORS[0], TENSORS[0] + ".T":
            agree(lambda t, make=make: backward(t, row, make, change))


@pytest.mark.parametrize("operator", OPERATORS)
def test_operands(operator):
    for x in "t.ones(2)", "t.ones(2, requires_grad=True)", "t.tensor([1, 2])", "t.tensor([True, False])":
        for y in OTHERS:
            agree(lambda t, x=x, y=y: run(t, f"x {operator} y", x=x, y=y), 1e-6)
            agree(lambda t, x=x, y=y: run(t, f"y {operator} x", x=x, y=y), 1e-6)


@pytest.mark.parametrize("row", NUMPY)
def test_numpy_and_numbers(row):
    for x in "t.ones(2)", "t.tensor([1, 2])", "t.tensor([True, False])", "t.tensor([1j, 2.0])", "t.tensor(2.0)":
        agree(lambda t, x=x: run(t, row, x=x), 1e-6)
