"""Records itself with ridge.profile or ridge.trace_handler: inside.py PACKAGE FOLDER KIND."""

import sys

import torch
from torch import nn

sys.path.insert(0, sys.argv[1])
import recording  # noqa: E402

folder, kind = sys.argv[2:]
torch.set_num_threads(1)
model = nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def train():
    optimizer.zero_grad()
    model(torch.randn(4, 8)).sum().backward()
    optimizer.step()


if kind == "handler":
    cycles = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=2)
    with torch.profiler.profile(schedule=cycles, on_trace_ready=recording.trace_handler(folder)) as prof:
        for _ in range(12):
            train()
            prof.step()
else:
    options = {"block": {"steps": None}, "few": {"after": 50}, "raises": {"after": 1, "steps": 50}}.get(kind, {"after": 3, "steps": 2})
    with recording.profile(folder, **options) as prof:
        for number in range(8):
            train()
            if kind != "block":
                prof.step()
            if kind == "raises" and number == 4:
                raise RuntimeError("as planned")
    print("files", prof.files)
