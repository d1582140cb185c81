"""Two processes train one LSTM: each reads half of a batch, and both get the mean of their gradients."""

import tempfile

import torch
from torch import distributed, multiprocessing, nn


def work(rank, address):
    distributed.init_process_group("gloo", address, rank=rank, world_size=2)
    torch.manual_seed(0)  # the same weights and data in both
    lstm, x = nn.LSTM(3, 4), torch.randn(50, 8, 3)
    together = nn.parallel.DistributedDataParallel(lstm)
    together(x[:, 4 * rank : 4 * rank + 4])[0].square().mean().backward()
    means = [p.grad.clone() for p in lstm.parameters()]
    lstm.zero_grad()
    lstm(x)[0].square().mean().backward()  # the whole batch
    whole = [p.grad for p in lstm.parameters()]
    same = all(map(torch.allclose, means, whole))
    print(f"process {rank}: the gradients of the whole batch: {same}")
    distributed.destroy_process_group()


if __name__ == "__main__":
    address = f"file://{tempfile.mkdtemp()}/meeting"
    multiprocessing.spawn(work, (address,), nprocs=2)
