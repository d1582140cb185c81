"""`torch.utils`: data sets and batches."""

from . import data  # noqa: F401
