"""Elementwise functions between layers, each a formula of operations on tensors."""

import inspect
import math

import numpy as np

from .. import pointwise
from ..arithmetic import zeros
from ..comparing import where
from ..messages import refuse
from ..pointwise import erf, expm1, sigmoid, tanh
from ..tape import rename_node
from ..tensor import Tensor, record
from .checks import check_fractions


def activation(name, formula, kernel=None, needs_input=True):
    """Make an activation from a formula of a tensor and options.

    name: torch's. kernel: what torch's error for integers calls it; "" if there is none. needs_input: whether torch
    keeps the input for the backward pass. If `inplace` is among the options, it writes the result into the input.
    """
    title, kernel = name.title().replace("_", ""), f"{name}_cpu" if kernel is None else kernel
    options = [*inspect.signature(formula).parameters][1:]
    place = options.index("inplace") if "inplace" in options else len(options)

    def function(input, *arguments, **keywords):
        if kernel:
            check_fractions(kernel, input)
        inplace = keywords.get("inplace", False) or any(arguments[place : place + 1])
        x = input.clone() if inplace else input
        wide = x.double() if x._array.dtype == np.float16 else x
        out = rename_node(formula(wide, *arguments, **keywords).to(x.dtype), title, *[x] * needs_input)
        return input._assign(out) if inplace else out

    for made in (formula, function):
        made.__name__ = made.__qualname__ = name
    signature = inspect.signature(formula)
    first, *rest = signature.parameters.values()
    function.__signature__ = signature.replace(parameters=[first.replace(name="input", annotation=Tensor), *rest])
    return function


def piecewise_linear(x, array, slope):
    """Record a function of x with these values and slopes. The slope has a node, too, as torch's."""
    slope = slope.astype(array.dtype)
    return record(array, "", (x,), lambda g: g * record(slope, "", (x,), zeros))


def leaky_relu_formula(x, negative_slope=0.01, inplace=False):
    array, positive = x._array, x._array > 0
    return piecewise_linear(x, np.where(positive, array, array * negative_slope), np.where(positive, 1, negative_slope))


def hardtanh_formula(x, min_val=-1.0, max_val=1.0, inplace=False):
    refuse(x.dtype.title == "Bool", "Bool inputs not supported for hardtanh")
    refuse(x.is_complex(), "clamp is not supported for complex types", kind=NotImplementedError)
    array = x._array
    limited = np.clip(array, min_val, max_val).astype(array.dtype)
    return piecewise_linear(x, limited, ~((array <= min_val) | (array >= max_val)))


def elu_formula(x, alpha=1.0, scale=1.0):
    return where(x <= 0, expm1(x.masked_fill(x > 0, 0.0)) * (alpha * scale), x * scale)


def gelu_formula(x, *, approximate="none"):
    """Return x Φ(x), with Φ the normal distribution."""
    refuse(approximate not in ("none", "tanh"), "approximate argument must be either none or tanh.")
    if approximate == "tanh":
        return 0.5 * x * (1 + tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    if x.numel() > 1 and x._array.dtype == np.float32 and x._array.flags.c_contiguous:
        x = x * Tensor(np.where(x._array == np.inf, np.float32(np.nan), np.float32(1)))  # as in torch, for this type
    return x * 0.5 * (1 + erf(x * math.sqrt(0.5)))


def softplus_formula(x, beta=1.0, threshold=20.0):
    """Return log(1 + eᵝˣ) / β; x itself where βx is above the threshold."""
    scaled = x * beta
    large = scaled > threshold
    return where(large, x, scaled.masked_fill(large, 0.0).exp().log1p() / beta)


def hardsigmoid_formula(x, inplace=False):
    return where((x > -3) & (x < 3), (x + 3) / 6, (x.detach() + 3).clamp(0, 6) / 6)


def hardswish_formula(x, inplace=False):
    return where(x <= -3, x.detach() * 0, where(x < 3, x * (x + 3) / 6, x))


SELU = (1.6732632423543772848, 1.0507009873554804934)  # such that activations keep mean 0 and variance 1

relu = activation("relu", lambda x, inplace=False: pointwise.relu(x), "", needs_input=False)
relu6 = activation("relu6", lambda x, inplace=False: hardtanh_formula(x, 0, 6), "")
leaky_relu = activation("leaky_relu", leaky_relu_formula)
elu = activation("elu", lambda x, alpha=1.0, inplace=False: elu_formula(x, alpha))
selu = activation("selu", lambda x, inplace=False: elu_formula(x, *SELU), "elu_cpu")
gelu = activation("gelu", gelu_formula, "GeluKernelImpl")
silu = activation("silu", lambda x, inplace=False: x * sigmoid(x))
mish = activation("mish", lambda x, inplace=False: x * tanh(softplus_formula(x)))
softplus = activation("softplus", softplus_formula)
softsign = activation("softsign", lambda x: x / (x.abs() + 1), "")
hardsigmoid = activation("hardsigmoid", hardsigmoid_formula)
hardswish = activation("hardswish", hardswish_formula)
logsigmoid = activation("log_sigmoid", pointwise.logsigmoid)
hardtanh = activation("hardtanh", hardtanh_formula, "")


__all__ = """
    elu gelu hardsigmoid hardswish hardtanh leaky_relu logsigmoid mish relu relu6 selu silu softplus softsign
""".split()
