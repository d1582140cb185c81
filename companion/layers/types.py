"""Types that several layers have in their signatures."""

from typing import TypeVar

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

Device = torch.device | str | int | None
State = tuple[Tensor, ...]  # what a step hands on to the next
Sequences = TypeVar("Sequences", Tensor, PackedSequence)  # the output has the input's form
