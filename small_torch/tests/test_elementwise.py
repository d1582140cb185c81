"""Operators of small_torch with operands of other types, and numpy's functions of tensors, compared with torch's."""

import numpy as np
import pytest

from both_torches import agree, split_rows

OPERATORS = "+ - * / // % ** @ == != < <= > >= & | ^ << >>".split()
OTHERS = """
    np.ones(2) np.array([1,2]) np.float32(2) np.int64(2) np.bool_(True) np.array(2.) 'a' None [1,2] 2 2.5 True 1e6
    t.tensor([2.],dtype=t.float64) t.tensor(2.,dtype=t.float64) t.tensor(3) t.ones(3) t.tensor([1.5,2.],dtype=t.float16)
""".split()
NUMPY = """
np.sqrt(x) | np.exp(x) | np.argmax(x) | np.isnan(x) | np.add(np.ones(2), x) | np.stack([x, x]) | np.where(x, x, x) | np.asarray(x)
2 in x | [1] in x | float(x) | int(x) | complex(x) | float(x.ravel()[0]) | +x | -x | ~x | abs(x) | divmod(x, 2) | list(reversed(x)) | round(x) | x.requires_grad_("yes") | x._version
"""  # noqa: E501


def run(t, row, **names):
    """Return what an expression gives for tensors given as text, with its memory order."""
    space = {"t": t, "np": np, "nan": float("nan"), "inf": float("inf")}
    for name, text in names.items():
        space[name] = eval(text, space)
    value = eval(row, space)
    if isinstance(value, np.ndarray):
        return value.dtype, value.tolist()
    return value, value.stride() if isinstance(value, t.Tensor) and value.numel() else None


@pytest.mark.parametrize("operator", OPERATORS)
def test_operands(operator):
    for x in "t.ones(2)", "t.ones(2, requires_grad=True)", "t.tensor([1, 2])", "t.tensor([True, False])":
        for y in OTHERS:
            agree(lambda t, x=x, y=y: run(t, f"x {operator} y", x=x, y=y), 1e-6)
            agree(lambda t, x=x, y=y: run(t, f"y {operator} x", x=x, y=y), 1e-6)


@pytest.mark.parametrize("row", split_rows(NUMPY))
def test_numpy_and_numbers(row):
    for x in "t.ones(2)", "t.tensor([1, 2])", "t.tensor([True, False])", "t.tensor([1j, 2.0])", "t.tensor(2.0)":
        agree(lambda t, x=x: run(t, row, x=x), 1e-6)
