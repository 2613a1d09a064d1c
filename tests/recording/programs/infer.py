"""A program without an optimizer: calls its model until it has run for long enough."""

import time

import torch
from torch import nn

torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
call = nn.Module.__call__
calls, end = 0, time.monotonic() + 2.0
with torch.no_grad():
    while time.monotonic() < end:
        model(torch.randn(4, 8))
        calls += 1
        time.sleep(0.005)
print("restored", nn.Module.__call__ is call)
