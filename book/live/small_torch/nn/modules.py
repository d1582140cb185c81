"""Where torch keeps its layers: some ask for them there."""

from . import layers as dropout  # noqa: F401
