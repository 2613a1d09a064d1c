"""A script as `ridge replay` writes them: one product."""

import torch

CALL = {
    "kernel": "nvjet_tst_128x64",
    "op": "aten::mm",
    "shapes": [[64, 32], [32, 16]],
    "strides": [[32, 1], [16, 1]],
    "dtypes": ["float", "float"],
    "grid": [1, 1, 1],
    "block": [128, 1, 1],
    "device": "NVIDIA H200",
    "trace_ns": 2300,
    "count": 12,
    "launches": [{"name": "nvjet_tst_128x64", "grid": [1, 1, 1], "block": [128, 1, 1]}],
    "source": None,
}


def make_inputs(device="cuda", seed=0):
    torch.manual_seed(seed)
    return [torch.randn(64, 32, device=device), torch.randn(32, 16, device=device)]


def run(inputs):
    return torch.ops.aten.mm.default(*inputs)
