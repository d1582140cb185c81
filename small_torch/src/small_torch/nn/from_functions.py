"""Activations and losses as modules, made from functions of `functional`."""

import inspect
from types import FunctionType

from ..arguments import refuse_keywords
from ..messages import error
from . import functional as F
from .loss_functions import parse_reduction
from .module import Module

OWNERS = {"MSELoss": "_Loss", "L1Loss": "_Loss", "BCELoss": "_WeightedLoss"}  # classes that torch's errors name
OLDER = ("size_average", "reduce")  # torch's older arguments of losses, which say what `reduction` says


class FunctionModule(Module):
    """Base class of modules that call a function and keep its options, tensors as buffers."""

    _function, _options = None, {}  # the function, and defaults of its options

    def __init__(self, *args, **kwargs):
        name, most = f"{OWNERS.get(type(self).__name__, type(self).__name__)}.__init__", len(self._options)
        if len(args) > most:
            takes = f"from 1 to {most + 1} positional arguments" if most else "1 positional argument"
            raise error("too many arguments", name, takes, len(args) + 1)
        refuse_keywords(name, [keyword for keyword in kwargs if keyword not in self._options])
        super().__init__()
        values = self._options | dict(zip(self._options, args)) | kwargs
        older = [values.pop(name, None) for name in OLDER]
        if older != [None, None]:
            values["reduction"] = parse_reduction("mean", *older)
        for name, value in values.items():
            (self.register_buffer if name in ("weight", "pos_weight") else self.__setattr__)(name, value)

    def _call_function(self, *inputs):
        return self._function(*inputs, **{name: getattr(self, name) for name in self._options if name not in OLDER})

    def forward(self, input):
        return self._call_function(input)

    def extra_repr(self):
        shown = {name: getattr(self, name) for name in self._options}
        return ", ".join(f"{name}={value!r}" for name, value in shown.items() if name != "inplace" or value)


class LossModule(FunctionModule):
    def forward(self, input, target):
        return self._call_function(input, target)

    def extra_repr(self):
        return ""


def as_module(name, function):
    """Make the module of a function of `functional`."""
    parameters = inspect.signature(function).parameters.values()
    options = {
        p.name: p.default for p in parameters if p.default is not p.empty and p.name not in ("_stacklevel", "dtype")
    }
    if [*options][-1:] == ["weight"]:  # a function's last argument that torch's modules lack
        del options["weight"]
    base = FunctionModule if "reduction" not in options else LossModule
    forward = FunctionType(base.forward.__code__, globals())  # a copy, whose errors name the module
    forward.__qualname__ = f"{name}.forward"
    attributes = {"_function": staticmethod(function), "_options": options, "forward": forward, "__module__": __name__}
    return type(name, (base,), attributes | {"__doc__": f"Call `functional.{function.__name__}`."})


ACTIVATIONS = """
    Tanh Sigmoid ReLU ReLU6 ELU SELU GELU SiLU Mish Softplus LogSigmoid Softsign Hardtanh Hardsigmoid Hardswish Softmax
"""
ACTIVATIONS = {name: name.lower() for name in ACTIVATIONS.split()}
ACTIVATIONS |= {"LeakyReLU": "leaky_relu", "LogSoftmax": "log_softmax"}
LOSSES = {
    "MSELoss": "mse_loss",
    "L1Loss": "l1_loss",
    "SmoothL1Loss": "smooth_l1_loss",
    "HuberLoss": "huber_loss",
    "BCELoss": "binary_cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "KLDivLoss": "kl_div",
    "NLLLoss": "nll_loss",
    "CrossEntropyLoss": "cross_entropy",
}
globals().update({name: as_module(name, getattr(F, function)) for name, function in (ACTIVATIONS | LOSSES).items()})
