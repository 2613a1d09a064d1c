"""Two ranks over gloo: under torchrun, or spawned by itself (--spawn)."""

import sys

import torch
import torch.distributed as distributed
import torch.multiprocessing as multiprocessing
from torch import nn


def train(rank=None, store=None):
    torch.set_num_threads(1)
    if rank is None:
        distributed.init_process_group("gloo")
    else:
        distributed.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=2)
    model = nn.parallel.DistributedDataParallel(nn.Linear(8, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(12):
        optimizer.zero_grad()
        model(torch.randn(4, 8)).sum().backward()
        optimizer.step()
    distributed.barrier()


if __name__ == "__main__":
    if "--spawn" in sys.argv:
        multiprocessing.spawn(train, args=(sys.argv[-1],), nprocs=2)
    else:
        train()
