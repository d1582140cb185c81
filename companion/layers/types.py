"""Types in the signatures of several layers."""

from typing import TypeVar

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

Device = torch.device | str | int | None
State = tuple[Tensor, ...]  # the tensors that one step passes to the next
Sequences = TypeVar("Sequences", Tensor, PackedSequence)  # the output has the input's form
