"""`torch.nn`: layers, losses, initial values and functions of all parameters of a model."""

from . import functional, init, modules, utils  # noqa: F401
from .parameter import Parameter  # noqa: F401

globals().update(modules.public)
