"""Right answers of the questions about *Training*, computed by torch."""

import torch
from torch.nn import functional as F


def first_loss(size):
    return F.cross_entropy(torch.zeros(1, size, dtype=torch.float64), torch.tensor([0])).item()


def loss_of_held_out_text(long, short, first, second):
    losses = torch.cat([torch.full((n,), loss, dtype=torch.float64) for n, loss in ((long, first), (short, second))])
    return losses.mean().item()
