"""A script as `ridge replay` writes them: one addition."""

import torch

CALL = {
    "kernel": "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >",
    "op": "aten::add",
    "shapes": [[1000], [1000], []],
    "strides": [[1], [1], []],
    "dtypes": ["float", "float", "Scalar"],
    "grid": [2, 1, 1],
    "block": [128, 1, 1],
    "device": "NVIDIA H200",
    "trace_ns": 1500,
    "count": 7,
    "launches": [{"name": "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >", "grid": [2, 1, 1], "block": [128, 1, 1]}],
    "source": None,
}


def make_inputs(device="cuda", seed=0):
    torch.manual_seed(seed)
    return [torch.randn(1000, device=device), torch.randn(1000, device=device)]


def run(inputs):
    return torch.ops.aten.add.Tensor(*inputs)
