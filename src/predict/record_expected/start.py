#!/usr/bin/env python3
"""Records how long ops take on this GPU, as points for `ridge predict --expected-file`.

Each point is one op call with random shapes. It runs with a cold second-level cache (a large buffer is written before each
call) and with a warm one (the call is repeated), and its time is the sum of its kernels' records in a profile: many points
share one profile, so that thousands take minutes, and the host's time is in none of them. One JSON line a point, written as
soon as its profile is read:

  {"op", "shapes", "dtypes", "strides", "concrete", "tf32", "warm_ns", "cold_ns", "kernels": [{name, op, warm_ns, cold_ns, grid}]}

    python record_expected.py --out DIR [--seconds 240] [--seed 1] [--points 7000] [--score 1300]

writes DIR/points.jsonl.gz (the table), DIR/score.jsonl.gz (other shapes, by another seed: for scoring only),
DIR/layers.jsonl.gz (calls of drawn layers, as they stand in a step: for the table), DIR/models.jsonl.gz (the ops of whole models, each with how often it is
called: scoring too), DIR/compiled.jsonl.gz (functions
compiled by Inductor) and DIR/compiled.tar.gz (their traces and the sources of their kernels), DIR/tiles.jsonl.gz and DIR/tiles_score.jsonl.gz (products by
Triton, in each configuration of Inductor's template: for the table, and for scoring only).
Needs PyTorch 2.6 or newer and one GPU with 24 GB or more.
"""
import argparse
import bisect
import fcntl
import glob
import gzip
import json
import math
import multiprocessing
import os
import random
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zlib

import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils._python_dispatch import TorchDispatchMode

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

aten = torch.ops.aten
BF, HALF, FP32 = torch.bfloat16, torch.float16, torch.float32
DEVICE = "cuda"
LIMIT = 1.0  # sizes of tensors are scaled by it: below 1 for a trial run on a small machine
MAX_BYTES = 3e9  # of one tensor


class Skip(Exception):
    pass


class Draw:
    """Random sizes, log-uniform: odd ones, multiples of 8 and round ones."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def of(self, *choices):
        return self.r.choice(choices)

    def yes(self, share=0.5):
        return self.r.random() < share

    def size(self, low, high, odd=0.3):
        if LIMIT < 1:
            high = max(low, min(high, 64))
        n = math.exp(self.r.uniform(math.log(low), math.log(high)))
        kind = self.r.random()
        if kind < odd or n < 8:
            return max(low, int(n))
        if kind < odd + 0.35:
            return max(8, int(n / 8) * 8)
        if kind < 0.85 and n >= 64:
            return int(n / 64) * 64
        return 2 ** int(math.log2(n))

    def elements(self, low=256, high=2.5e8):
        return math.exp(self.r.uniform(math.log(low), math.log(high))) * (LIMIT if LIMIT == 1 else 1e-3)

    def shape(self, n, dims=None):
        """About n elements in `dims` dimensions."""
        dims = dims or self.of(1, 2, 2, 3, 3, 4)
        shape = []
        for _ in range(dims - 1):
            d = min(self.size(1, max(2, min(n, 8192))), max(1, int(n)))
            shape.append(d)
            n = max(1, n / d)
        shape.append(max(1, int(n) if self.yes(0.4) else int(n / 8) * 8))
        self.r.shuffle(shape)
        return shape

    def half(self):
        return self.of(BF, BF, HALF)

    def float(self):
        return self.of(BF, BF, HALF, FP32, FP32)


def make(shape, dtype=BF, high=None):
    n = math.prod(shape)
    if n * dtype.itemsize > MAX_BYTES:
        raise Skip("large")
    if dtype in (torch.int64, torch.int32, torch.uint8):
        return torch.randint(0, max(1, high or 2), shape, device=DEVICE, dtype=dtype)
    if dtype == torch.bool:
        return torch.rand(shape, device=DEVICE) < 0.5
    if dtype == torch.float8_e4m3fn:
        return torch.randn(shape, device=DEVICE, dtype=BF).to(dtype)
    return torch.randn(shape, device=DEVICE, dtype=dtype)
