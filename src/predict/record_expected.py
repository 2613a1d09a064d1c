#!/usr/bin/env python3
"""Records how long ops take on this GPU, as points for `ridge predict --expected-file`.

Each point is one op call with random shapes. It runs with a cold second-level cache (a large buffer is written before each
call) and with a warm one (the call is repeated), and its time is the sum of its kernels' records in a profile: many points
share one profile, so that thousands take minutes, and the host's time is in none of them. One JSON line a point, written as
soon as its profile is read:

  {"op", "shapes", "dtypes", "strides", "concrete", "tf32", "warm_ns", "cold_ns", "kernels": [{name, op, warm_ns, cold_ns, grid}]}

    python record_expected.py --out DIR [--seconds 240] [--seed 1] [--points 7000] [--score 1300]

writes DIR/points.jsonl.gz (the table), DIR/score.jsonl.gz (other shapes, by another seed: for scoring only),
DIR/models.jsonl.gz (the ops of whole models, each with how often it is called: scoring too), DIR/compiled.jsonl.gz (functions
compiled by Inductor) and DIR/compiled.tar.gz (their traces and the sources of their kernels).
Needs PyTorch 2.6 or newer and one GPU with 24 GB or more.
"""
import argparse
import bisect
import fcntl
import glob
import gzip
import json
import math
import os
import random
import subprocess
import sys
import tarfile
import tempfile
import time

import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils._python_dispatch import TorchDispatchMode

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


# ---- The points. Each returns a function that makes one op call. ----------------------------------------------------------

def product_sizes(d, dtype):
    limit = 1.5e11 if dtype == FP32 else 2e12
    for _ in range(50):
        kind = d.r.random()
        if kind < 0.25:  # a layer of a model: tokens times widths
            m = d.size(1, 32768)
            k, n = d.of(512, 768, 1024, 1280, 2048, 3072, 4096, 5120, 6144, 8192, 11008, 14336, 28672), d.of(
                512, 768, 1024, 2048, 2304, 3072, 4096, 5120, 6144, 8192, 11008, 12288, 14336, 28672, 32000, 50257, 128256)
            if LIMIT < 1:
                k, n = 64, 128
        elif kind < 0.35:  # few rows: decoding
            m, k, n = d.size(1, 64), d.size(256, 16384), d.size(256, 32768)
        else:
            m, k, n = d.size(1, 16384), d.size(8, 16384), d.size(8, 16384)
        if 2.0 * m * n * k <= limit:
            return m, n, k
    raise Skip("large")


def matrix(d, m, k, dtype, transposed):
    return make((k, m), dtype).t() if transposed else make((m, k), dtype)


def tf32_of(d, dtype):
    return dtype == FP32 and d.yes(0.5)


def p_mm(d):
    dtype = d.float()
    m, n, k = product_sizes(d, dtype)
    a, b = matrix(d, m, k, dtype, d.yes(0.25)), matrix(d, k, n, dtype, d.yes(0.5))
    return lambda: torch.mm(a, b), tf32_of(d, dtype)


def p_addmm(d):
    dtype = d.float()
    m, n, k = product_sizes(d, dtype)
    a, b, bias = matrix(d, m, k, dtype, d.yes(0.1)), matrix(d, k, n, dtype, d.yes(0.8)), make((n,), dtype)
    return lambda: torch.addmm(bias, a, b), tf32_of(d, dtype)


def p_linear(d):
    dtype = d.float()
    m, n, k = product_sizes(d, dtype)
    b = d.of(1, 1, 2, 4, 8)
    a = make((m, k) if b == 1 or m % b else (b, m // b, k), dtype)
    w, bias = make((n, k), dtype), make((n,), dtype) if d.yes() else None
    return lambda: F.linear(a, w, bias), tf32_of(d, dtype)


def p_bmm(d):
    dtype = d.float()
    b = d.size(2, 512)
    for _ in range(50):
        m, n, k = d.size(1, 4096), d.size(1, 4096), d.size(8, 2048)
        if 2.0 * b * m * n * k < (1.5e11 if dtype == FP32 else 1e12) and b * max(m * n, m * k, k * n) < 4e8:
            break
    else:
        raise Skip("large")
    x = make((b, k, m), dtype).transpose(1, 2) if d.yes(0.25) else make((b, m, k), dtype)
    y = make((b, n, k), dtype).transpose(1, 2) if d.yes(0.5) else make((b, k, n), dtype)
    if d.yes(0.2):
        c = make((b, m, n), dtype)
        return lambda: torch.baddbmm(c, x, y), tf32_of(d, dtype)
    return lambda: torch.bmm(x, y), tf32_of(d, dtype)


def p_scaled_mm(d):
    m, n, k = product_sizes(d, BF)
    n, k = max(16, n // 16 * 16), max(16, k // 16 * 16)
    rows = d.yes(0.4)
    a, b = make((m, k), torch.float8_e4m3fn), make((n, k), torch.float8_e4m3fn).t()
    sa = torch.ones((m, 1) if rows else (), device=DEVICE)
    sb = torch.ones((1, n) if rows else (), device=DEVICE)
    fast = d.yes()
    return lambda: torch._scaled_mm(a, b, sa, sb, out_dtype=BF, use_fast_accum=fast)


def p_mv(d):
    dtype, m, k = d.float(), d.size(16, 32768), d.size(16, 16384)
    a = make((m, k), dtype)
    x = make((k,), dtype)
    return d.of(lambda: torch.mv(a, x), lambda: torch.dot(x, x))


def attention_inputs(d, dtype, short=False):
    for _ in range(50):
        b, h = d.size(1, 64), d.of(1, 2, 4, 8, 12, 16, 20, 32, 40, 64)
        group = d.of(1, 1, 1, 2, 4, 8)
        e = d.of(32, 40, 64, 64, 64, 80, 96, 128, 128, 128, 256)
        sq = d.size(1, 8192)
        sk = sq if d.yes(0.7) else d.size(1, 16384)
        if d.yes(0.1):
            sq = 1
        if h % group or 4.0 * b * h * sq * sk * e > (1e11 if short else 1e12) or b * h * max(sq, sk) * e > 3e8:
            continue
        if short and 1.0 * b * h * sq * sk > 5e8:
            continue
        layout = d.of(0, 0, 1)

        def tensor(heads, s):
            if layout:  # as a model has it: [b, s, h, e] turned
                return make((b, s, heads, e), dtype).transpose(1, 2)
            return make((b, heads, s, e), dtype)
        return tensor(h, sq), tensor(h // group, sk), tensor(h // group, sk), group > 1, d.yes() and sq == sk
    raise Skip("large")


def equal_heads(q, k, v):
    g = q.shape[1] // k.shape[1]
    return q, k.repeat_interleave(g, 1), v.repeat_interleave(g, 1)


def p_sdpa(d):
    """The op that a program calls: it chooses its kernels itself."""
    dtype = d.of(BF, BF, HALF, FP32)
    q, k, v, gqa, causal = attention_inputs(d, dtype, short=dtype == FP32)
    return lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=gqa)


def p_flash(d):
    q, k, v, gqa, causal = attention_inputs(d, d.half())
    return lambda: aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal, False)


def p_flash_backward(d):
    q, k, v, gqa, causal = attention_inputs(d, d.half())
    q, k, v = equal_heads(q, k, v)
    o, lse, cq, ck, mq, mk, seed, unused, _ = aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal, False)
    g = torch.randn_like(o)
    return lambda: aten._scaled_dot_product_flash_attention_backward(g, q, k, v, o, lse, cq, ck, mq, mk, 0.0, causal, seed,
                                                                     unused)


def p_efficient(d):
    dtype = d.of(BF, HALF, FP32)
    q, k, v, gqa, causal = attention_inputs(d, dtype, short=dtype == FP32)
    q, k, v = equal_heads(q, k, v)
    bias = None
    if d.yes(0.25) and k.shape[2] % 8 == 0 and q.shape[0] * q.shape[1] * q.shape[2] * k.shape[2] < 5e8:
        bias = make((q.shape[0], q.shape[1], q.shape[2], k.shape[2]), dtype)
        causal = False
    return lambda: aten._scaled_dot_product_efficient_attention(q, k, v, bias, False, 0.0, causal)


def p_efficient_backward(d):
    dtype = d.of(BF, HALF, FP32)
    q, k, v, gqa, causal = attention_inputs(d, dtype, short=dtype == FP32)
    q, k, v = equal_heads(q, k, v)
    o, lse, seed, offset = aten._scaled_dot_product_efficient_attention(q, k, v, None, True, 0.0, causal)
    g = torch.randn_like(o)
    return lambda: aten._scaled_dot_product_efficient_attention_backward(g, q, k, v, None, o, lse, seed, offset, 0.0,
                                                                         [True, True, True, False], causal)


def p_cudnn_attention(d):
    q, k, v, gqa, causal = attention_inputs(d, d.half())
    return lambda: aten._scaled_dot_product_cudnn_attention(q, k, v, None, False, 0.0, causal, False)


def p_cudnn_attention_backward(d):
    q, k, v, gqa, causal = attention_inputs(d, d.half())
    q, k, v = equal_heads(q, k, v)
    o, lse, cq, ck, mq, mk, seed, offset, _ = aten._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, causal, False)
    g = torch.randn_like(o)
    return lambda: aten._scaled_dot_product_cudnn_attention_backward(g, q, k, v, o, lse, seed, offset, None, cq, ck, mq, mk,
                                                                     0.0, causal)


def convolution(d):
    dtype = d.float()
    for _ in range(80):
        dims = d.of(1, *[2] * 10, 3)
        kind = d.of(*["plain"] * 8, "depthwise", "grouped", "transposed")
        n, c = d.size(1, 256), d.size(3, 2048) if d.yes(0.7) else d.of(3, 64, 128, 256, 512, 1024)
        k = d.size(8, 2048) if d.yes(0.6) else d.of(64, 128, 256, 512, 1024, 2048)
        side = d.size(4, {1: 8192, 2: 256, 3: 48}[dims]) if d.yes(0.6) else {1: 1024, 2: d.of(7, 14, 28, 56, 112, 224), 3: 16}[dims]
        f = d.of(1, 1, 3, 3, 3, 5, 7)
        stride, dilation = d.of(1, 1, 1, 2), d.of(1, 1, 1, 1, 1, 2)
        groups = 1
        if kind == "depthwise":
            k = groups = c
        elif kind == "grouped":
            groups = d.of(2, 4, 8, 32)
            c, k = max(1, c // groups) * groups, max(1, k // groups) * groups
        pad = f // 2 * dilation if d.yes(0.8) else 0
        transposed = kind == "transposed"
        out = (side - 1) * stride - 2 * pad + dilation * (f - 1) + 1 if transposed else (side + 2 * pad - dilation * (f - 1) - 1) // stride + 1
        if out < 1:
            continue
        flops = 2.0 * n * (side if transposed else out) ** dims * c * k // groups * f ** dims
        if flops > (1e11 if dtype == FP32 or groups > 1 else 5e11) or n * max(c * side ** dims, k * out ** dims) > 2e8:
            continue
        last = d.yes(0.5) and dims > 1
        form = {2: torch.channels_last, 3: torch.channels_last_3d}[dims] if last else torch.contiguous_format
        x = make([n, c] + [side] * dims, dtype).contiguous(memory_format=form)
        w = make([c, k // groups] + [f] * dims if transposed else [k, c // groups] + [f] * dims, dtype).contiguous(memory_format=form)
        bias = make((k,), dtype) if d.yes(0.4) else None
        return dtype, x, w, bias, [stride] * dims, [pad] * dims, [dilation] * dims, transposed, groups, dims
    raise Skip("large")


def p_convolution(d):
    dtype, x, w, bias, stride, pad, dilation, transposed, groups, dims = convolution(d)
    tf32 = dtype == FP32 and d.yes(0.7)
    if transposed or d.yes():
        return lambda: aten.convolution(x, w, bias, stride, pad, dilation, transposed, [0] * dims, groups), tf32
    f = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}[dims]
    return lambda: f(x, w, bias, stride, pad, dilation, groups), tf32


def p_convolution_backward(d):
    dtype, x, w, bias, stride, pad, dilation, transposed, groups, dims = convolution(d)
    o = aten.convolution(x, w, None, stride, pad, dilation, transposed, [0] * dims, groups)
    g = torch.randn_like(o)
    mask = d.of([True, True, False], [True, True, False], [False, True, False], [True, False, False])
    if bias is not None:
        mask = mask[:2] + [True]
    sizes = list(bias.shape) if bias is not None else [0]
    return (lambda: aten.convolution_backward(g, x, w, sizes, stride, pad, dilation, transposed, [0] * dims, groups, mask),
            dtype == FP32 and d.yes(0.7))


def rows(d, dtype, wide=65536):
    n = d.elements(512, 1.5e8)
    width = d.size(16, wide) if d.yes(0.6) else d.of(64, 128, 256, 512, 768, 1024, 2048, 4096, 8192)
    return make((max(1, int(n / width)), width), dtype)


def p_layer_norm(d):
    dtype = d.float()
    x = rows(d, dtype, 16384)
    w, b = (make(x.shape[1:], dtype), make(x.shape[1:], dtype)) if d.yes(0.85) else (None, None)
    if d.yes():
        return lambda: aten.native_layer_norm(x, [x.shape[1]], w, b, 1e-5)
    return lambda: F.layer_norm(x, [x.shape[1]], w, b)


def p_layer_norm_backward(d):
    dtype = d.float()
    x = rows(d, dtype, 16384)
    w, b = make(x.shape[1:], dtype), make(x.shape[1:], dtype)
    _, mean, rstd = aten.native_layer_norm(x, [x.shape[1]], w, b, 1e-5)
    g = torch.randn_like(x)
    return lambda: aten.native_layer_norm_backward(g, x, [x.shape[1]], mean, rstd, w, b, [True, True, True])


def p_rms_norm(d):
    dtype = d.float()
    x = rows(d, dtype, 16384)
    w = make(x.shape[1:], dtype)
    if d.yes(0.6):
        return lambda: aten._fused_rms_norm(x, [x.shape[1]], w, 1e-5)
    _, rstd = aten._fused_rms_norm(x, [x.shape[1]], w, 1e-5)
    g = torch.randn_like(x)
    return lambda: aten._fused_rms_norm_backward(g, x, [x.shape[1]], rstd, w, [True, True])


def images(d, dtype, high=1.2e8):
    n = d.elements(4096, high)
    c = d.size(1, 2048)
    side = d.size(1, 256)
    x = make((max(1, int(n / (c * side * side))), c, side, side), dtype)
    if x.numel() > 3e8:
        raise Skip("large")
    return x.contiguous(memory_format=torch.channels_last) if d.yes(0.4) else x


def p_group_norm(d):
    dtype = d.float()
    x = images(d, dtype)
    n, c, h, _ = x.shape
    group = d.of(1, 8, 16, 32, 32)
    if c % group:
        raise Skip("groups")
    w, b = make((c,), dtype), make((c,), dtype)
    if d.yes(0.6):
        return d.of(lambda: aten.native_group_norm(x, w, b, n, c, h * h, group, 1e-5), lambda: F.group_norm(x, group, w, b))
    x = x.contiguous()
    _, mean, rstd = aten.native_group_norm(x, w, b, n, c, h * h, group, 1e-5)
    g = torch.randn_like(x)
    return lambda: aten.native_group_norm_backward(g, x, mean, rstd, w, n, c, h * h, group, [True, True, True])


def p_batch_norm(d):
    dtype = d.float()
    x = images(d, dtype)
    c = x.shape[1]
    w, b, mean, var = (torch.ones(c, device=DEVICE) for _ in range(4))
    kind = d.of("train", "eval", "cudnn", "backward", "backward", "op")
    if kind == "op":
        training = d.yes()
        return lambda: F.batch_norm(x, mean, var, w, b, training)
    if kind in ("train", "eval"):
        return lambda: aten.native_batch_norm(x, w, b, mean, var, kind == "train", 0.1, 1e-5)
    if kind == "cudnn":
        return lambda: aten.cudnn_batch_norm(x, w, b, mean, var, True, 0.1, 1e-5)
    g = torch.randn_like(x)
    if d.yes():
        _, m, v, reserve = aten.cudnn_batch_norm(x, w, b, mean, var, True, 0.1, 1e-5)
        return lambda: aten.cudnn_batch_norm_backward(x, g, w, mean, var, m, v, 1e-5, reserve)
    _, m, v = aten.native_batch_norm(x, w, b, mean, var, True, 0.1, 1e-5)
    return lambda: aten.native_batch_norm_backward(g, x, w, mean, var, m, v, True, 1e-5, [True, True, True])


def p_softmax(d):
    dtype = d.float()
    x = rows(d, dtype, 131072)
    dim = -1
    if d.yes(0.3):
        b = d.of(1, 2, 4, 8)
        if x.shape[0] % b == 0:
            x = x.view(b, -1, x.shape[1])
    if d.yes(0.1):
        dim = 0
    f, back = d.of((aten._softmax, aten._softmax_backward_data), (aten._log_softmax, aten._log_softmax_backward_data))
    if d.yes(0.4):
        o, g = f(x, dim, False), torch.randn_like(x)
        return lambda: back(g, o, dim, dtype)
    if d.yes(0.3):
        return lambda: torch.softmax(x, dim)
    return lambda: f(x, dim, False)


def p_reduction(d):
    dtype = d.float()
    x = make(d.shape(d.elements(256, 2e8)), dtype)
    dim = d.of([x.dim() - 1], [x.dim() - 1], [0], [d.r.randrange(x.dim())], list(range(x.dim())))
    keep = d.yes(0.3)
    name = d.of("sum", "sum", "sum", "mean", "mean", "amax", "amin", "var", "norm", "argmax", "prod", "any", "max", "logsumexp", "std",
                "cast")
    if name in ("argmax", "prod", "max"):
        f = {"argmax": torch.argmax, "prod": torch.prod, "max": torch.max}[name]
        return lambda: f(x, dim[0], keep)
    if name == "norm":
        return lambda: aten.linalg_vector_norm(x, 2, dim, keep)
    if name == "any":
        y = x > 0
        return lambda: torch.any(y, dim[0], keep)
    if name == "cast":
        return lambda: torch.sum(x, dim, keep, dtype=FP32)
    if name in ("var", "std"):
        f = getattr(torch, name)
        return lambda: f(x, dim, keepdim=keep)
    f = getattr(torch, name)
    return lambda: f(x, dim, keep)


UNARY = ["relu", "gelu", "silu", "sigmoid", "tanh", "exp", "neg", "abs", "sqrt", "rsqrt", "cos", "sin", "log", "square", "erf",
         "reciprocal", "isfinite", "logical_not", "round", "softplus", "mish", "leaky_relu", "hardswish", "elu"]
BINARY = ["add", "add", "mul", "mul", "sub", "div", "maximum", "minimum", "pow", "gt", "eq", "lt", "atan2"]
BACKWARD = ["gelu_backward", "silu_backward", "tanh_backward", "sigmoid_backward", "threshold_backward", "native_dropout_backward"]


def layout(d, x):
    """The same sizes, walked in another order."""
    if x.dim() < 2 or d.yes(0.65):
        return x
    kind = d.of("t", "t", "slice", "last")
    if kind == "last" and x.dim() == 4:
        return x.contiguous(memory_format=torch.channels_last)
    if kind == "slice":
        wide = list(x.shape)
        wide[-1] *= 2
        return make(wide, x.dtype)[..., :x.shape[-1]]
    order = list(range(x.dim()))
    a, b = d.r.sample(order, 2)
    order[a], order[b] = order[b], order[a]
    turned = [x.shape[i] for i in order]
    return make(turned, x.dtype).permute(order)


def narrower(d, shape):
    """What broadcasts to this shape."""
    return d.of(shape[-1:], [1] * (len(shape) - 1) + shape[-1:], shape[:-1] + [1], [s if d.yes() else 1 for s in shape])


def p_pointwise(d):
    dtype = d.float()
    shape = d.shape(d.elements(128, 2.5e8))
    kind = d.r.random()
    x = layout(d, make(shape, dtype))
    if kind < 0.3:
        name = d.of(*UNARY)
        f = getattr(torch, name, None) or getattr(F, name)
        if name in ("relu", "sqrt", "exp", "neg") and d.yes(0.2):
            g = getattr(aten, name + "_")
            return lambda: g(x)
        return lambda: f(x)
    if kind < 0.6:
        f = getattr(torch, d.of(*BINARY))
        y = layout(d, make(shape, dtype if d.yes(0.9) else FP32)) if d.yes(0.6) else make(narrower(d, shape), dtype)
        return lambda: f(x, y)
    if kind < 0.7:
        value = 1.7
        f = d.of(lambda: torch.add(x, value), lambda: torch.mul(x, value), lambda: torch.pow(x, 2), lambda: torch.clamp(x, -1, 1),
                 lambda: torch.pow(x, 3.0), lambda: torch.clamp_min(x, 0.0), lambda: torch.div(x, value), lambda: torch.rsub(x, 1.0))
        return f
    if kind < 0.8:
        name = d.of(*BACKWARD)
        g, f = make(shape, dtype), getattr(aten, name)
        if name == "threshold_backward":
            return lambda: f(g, x, 0)
        if name == "native_dropout_backward":
            mask = make(shape, torch.bool)
            return lambda: f(g, mask, 1.1)
        return lambda: f(g, x)
    if kind < 0.88:
        f = d.of("where", "masked_fill", "addcmul", "addcdiv", "lerp", "dropout", "dropout", "tril", "glu")
        if f == "where":
            m = make(shape if d.yes() else narrower(d, shape), torch.bool)
            return lambda: torch.where(m, x, x)
        if f == "masked_fill":
            m = make(shape if d.yes() else narrower(d, shape), torch.bool)
            return lambda: torch.masked_fill(x, m, -1.0)
        if f == "dropout":
            return lambda: aten.native_dropout(x, 0.1, True)
        if f == "tril":
            if x.dim() < 2:
                raise Skip("dims")
            return lambda: torch.tril(x)
        if f == "glu":
            if shape[-1] % 2:
                raise Skip("odd")
            return lambda: F.glu(x)
        y, z = make(shape, dtype), make(shape, dtype)
        if f == "lerp":
            return lambda: torch.lerp(x, y, 0.3)
        g = getattr(torch, f)
        return lambda: g(x, y, z)
    other = d.of(BF, HALF, FP32, torch.int64, torch.int32, torch.bool) if d.yes(0.3) else (FP32 if dtype != FP32 else d.half())
    return lambda: aten._to_copy(x, dtype=other)


def p_copy(d):
    dtype = d.of(BF, BF, HALF, FP32, FP32, torch.int64, torch.uint8)
    shape = d.shape(d.elements(128, 3e8), d.of(1, 2, 3, 4, 4))
    kind = d.of("copy", "clone", "turn", "turn", "turn", "cat", "cat", "stack", "fill", "zero", "zeros", "random", "random", "cast", "expand",
                "pad", "roll", "flip", "arange")
    if kind in ("copy", "cast"):
        x = layout(d, make(shape, dtype))
        y = torch.empty(shape, device=DEVICE, dtype=dtype if kind == "copy" else d.of(BF, FP32))
        return lambda: y.copy_(x)
    if kind == "clone":
        x = make(shape, dtype)
        return lambda: x.clone()
    if kind == "turn":
        order = list(range(len(shape)))
        d.r.shuffle(order)
        x = make(shape, dtype).permute(order)
        if x.is_contiguous():
            raise Skip("dense")
        return lambda: aten.clone(x, memory_format=torch.contiguous_format)
    if kind in ("cat", "stack"):
        parts = d.size(2, 12)
        shape = d.shape(d.elements(128, 2e8) / parts, d.of(2, 3, 4))
        xs = [make(shape, dtype) for _ in range(parts)]
        dim = d.r.randrange(len(shape))
        f = torch.cat if kind == "cat" else torch.stack
        return lambda: f(xs, dim), False, {"item": str(dtype)}
    if kind == "fill":
        x = layout(d, make(shape, dtype))
        return lambda: x.fill_(1)
    if kind == "zero":
        x = make(shape, dtype)
        return lambda: x.zero_()
    if kind == "zeros":
        return d.of(lambda: torch.zeros(shape, device=DEVICE, dtype=dtype), lambda: torch.full(shape, 2, device=DEVICE, dtype=dtype))
    if kind == "arange":
        n = math.prod(shape)
        return lambda: torch.arange(n, device=DEVICE)
    x = make(shape, d.float())
    if kind == "random":
        return d.of(lambda: x.normal_(), lambda: x.uniform_(), lambda: x.bernoulli_(0.5), lambda: x.random_(), lambda: x.exponential_(),
                    lambda: torch.randn(shape, device=DEVICE), lambda: torch.rand(shape, device=DEVICE))
    if kind == "expand":
        y = make(narrower(d, shape), x.dtype).expand(shape)
        return lambda: aten.clone(y, memory_format=torch.contiguous_format)
    if kind == "pad":
        value = d.size(1, 8)
        return lambda: F.pad(x, (value, value))
    if kind == "roll":
        return lambda: torch.roll(x, 1, 0)
    return lambda: torch.flip(x, (0,))


def p_gather(d):
    dtype = d.float()
    width = d.size(4, 8192) if d.yes() else d.of(64, 128, 256, 512, 768, 1024, 2048, 4096)
    table_rows = d.size(16, 200000)
    if table_rows * width > 4e8:
        raise Skip("large")
    picks = max(1, min(int(d.elements(256, 1.5e8) / width), 4000000))
    table, index = make((table_rows, width), dtype), make((picks,), torch.int64, table_rows)
    kind = d.of("embedding", "embedding", "embedding_backward", "embedding_backward", "index_select", "index", "index", "gather",
                "gather", "scatter_add", "scatter", "index_add", "index_put", "index_put_accumulate", "one", "index_copy", "repeat")
    if kind == "embedding":
        ids = index.view(d.of(1, 2, 4), -1) if picks % 4 == 0 else index
        return lambda: F.embedding(ids, table)
    if kind == "embedding_backward":
        g = make((picks, width), dtype)
        return lambda: aten.embedding_dense_backward(g, index, table_rows, -1, False)
    if kind == "index_select":
        return lambda: torch.index_select(table, 0, index)
    if kind == "index":
        return lambda: aten.index(table, [index]), False, {"sizes": [picks], "item": "torch.int64"}
    if kind == "repeat":
        x = make((max(1, picks // 4), width), dtype)
        return lambda: x.repeat_interleave(4, 0)
    if kind == "one":
        x = make((picks, 1000), dtype)
        one = make((picks, 1), torch.int64, 1000)
        return lambda: torch.gather(x, 1, one)
    source = make((picks, width), dtype)
    if kind in ("index_add", "index_put", "index_put_accumulate", "index_copy"):
        if kind == "index_put_accumulate" and picks * width > 3e7:
            raise Skip("slow")
        return {"index_add": lambda: table.index_add_(0, index, source),
                "index_copy": lambda: table.index_copy_(0, index, source),
                "index_put": lambda: aten.index_put_(table, [index], source, False),
                "index_put_accumulate": lambda: aten.index_put_(table, [index], source, True)}[kind], False, {"sizes": [picks],
                                                                                                         "item": "torch.int64"}
    wide = make((picks, width), torch.int64, table_rows)
    if kind == "gather":
        return lambda: torch.gather(table, 0, wide)
    if kind == "scatter":
        return lambda: table.scatter_(0, wide, source)
    return lambda: table.scatter_add_(0, wide, source)


def p_sort(d):
    dtype = d.float()
    kind = d.of("sort", "sort", "topk", "topk", "topk", "cumsum", "cumsum", "argsort", "nonzero", "bincount", "searchsorted", "multinomial",
                "kthvalue", "unique", "fft")
    n = d.elements(256, 3e7)
    width = d.size(8, 131072)
    x = make((max(1, int(n / width)), width), dtype)
    if kind == "sort":
        return lambda: torch.sort(x, -1)
    if kind == "argsort":
        ids = make((int(n) + 1,), torch.int64, 256)
        return lambda: torch.argsort(ids)
    if kind == "topk":
        k = min(width, d.of(1, 2, 4, 8, 16, 50, 64, 128))
        return lambda: torch.topk(x, k, -1)
    if kind == "kthvalue":
        return lambda: torch.kthvalue(x, 1, -1)
    if kind == "cumsum":
        dim = d.of(-1, -1, 0)
        return lambda: torch.cumsum(x, dim)
    if kind == "nonzero":
        y = x > 1
        return lambda: torch.nonzero(y)
    if kind == "bincount":
        ids = make((int(n) + 1,), torch.int64, 512)
        return lambda: torch.bincount(ids, minlength=512)
    if kind == "unique":
        ids = make((int(n) + 1,), torch.int64, 4096)
        return lambda: torch.unique(ids)
    if kind == "fft":
        y = x.float()
        return lambda: torch.fft.rfft(y)
    if kind == "multinomial":
        p = torch.rand((min(x.shape[0], 512), min(width, 50000)), device=DEVICE)
        return lambda: torch.multinomial(p, 1)
    edges = torch.linspace(-3, 3, 1024, device=DEVICE, dtype=dtype)
    return lambda: torch.searchsorted(edges, x)


def p_optimizer(d):
    dtype = d.of(FP32, FP32, BF)
    count = d.size(1, 200)
    total = d.elements(4096, 1.5e8)
    sizes = [max(1, int(total / count * math.exp(d.r.uniform(-2, 1)))) for _ in range(count)]
    if d.yes(0.5):
        sizes = [max(64, s // 64 * 64) for s in sizes]

    def lists(n):
        return [[make((s,), dtype).abs_() for s in sizes] for _ in range(n)]
    told = {"sizes": sizes, "item": str(dtype)}  # a trace leaves long lists out
    kind = d.of("adamw", "adamw", "adamw", "adam", "sgd", "add", "add_list", "mul", "lerp", "addcmul", "addcdiv", "sqrt", "norm", "copy",
                "zero")
    if kind in ("adamw", "adam"):
        p, g, a, b = lists(4)
        steps = [torch.ones((), device=DEVICE) for _ in sizes]
        f = aten._fused_adamw_ if kind == "adamw" else aten._fused_adam_
        return (lambda: f(p, g, a, b, [], steps, lr=1e-3, beta1=0.9, beta2=0.95, weight_decay=0.1, eps=1e-8, amsgrad=False,
                          maximize=False)), False, told
    if kind == "sgd":
        p, g, m = lists(3)
        return (lambda: aten._fused_sgd_(p, g, m, weight_decay=0.0, momentum=0.9, lr=0.1, dampening=0.0, nesterov=False,
                                         maximize=False, is_first_step=False)), False, told
    a, b, c = lists(3)
    return {"add": lambda: torch._foreach_add_(a, 0.1), "add_list": lambda: torch._foreach_add_(a, b, alpha=0.5),
            "mul": lambda: torch._foreach_mul_(a, 0.999), "lerp": lambda: torch._foreach_lerp_(a, b, 0.1),
            "addcmul": lambda: torch._foreach_addcmul_(a, b, c, 0.1), "addcdiv": lambda: torch._foreach_addcdiv_(a, b, c, 0.1),
            "sqrt": lambda: torch._foreach_sqrt(a), "norm": lambda: torch._foreach_norm(a), "copy": lambda: torch._foreach_copy_(a, b),
            "zero": lambda: torch._foreach_zero_(a)}[kind], False, told


def p_loss(d):
    dtype = d.float()
    x = rows(d, dtype, 131072)
    target = make(x.shape[:1], torch.int64, x.shape[1])
    kind = d.of("cross", "cross", "nll", "nll_backward", "nll_backward", "mse", "mse_backward", "bce", "smooth", "l1", "nll2d")
    if kind == "cross":
        return lambda: F.cross_entropy(x, target)
    if kind == "nll2d":
        c, side = d.size(2, 64), d.size(8, 256)
        n = max(1, int(d.elements(1e4, 3e7) / (c * side * side)))
        y, t = make((n, c, side, side), dtype), make((n, side, side), torch.int64, c)
        return lambda: aten.nll_loss2d_forward(y, t, None, 1, -100)
    if kind == "nll":
        return lambda: aten.nll_loss_forward(x, target, None, 1, -100)
    if kind == "nll_backward":
        _, weight = aten.nll_loss_forward(x, target, None, 1, -100)
        g = torch.ones((), device=DEVICE, dtype=dtype)
        return lambda: aten.nll_loss_backward(g, x, target, None, 1, -100, weight)
    y = torch.rand_like(x)
    if kind == "mse_backward":
        g = torch.ones((), device=DEVICE, dtype=dtype)
        return lambda: aten.mse_loss_backward(g, x, y, 1)
    f = {"mse": F.mse_loss, "bce": F.binary_cross_entropy_with_logits, "smooth": F.smooth_l1_loss, "l1": F.l1_loss}[kind]
    return lambda: f(x, y)


def p_pooling(d):
    dtype = d.float()
    x = images(d, dtype, 6e7)
    k, s = d.of((2, 2), (3, 2), (3, 1))
    if x.shape[2] <= k:
        raise Skip("small")
    kind = d.of("max", "max", "avg", "max_backward", "avg_backward", "adaptive", "adaptive", "adaptive_backward", "nearest", "bilinear",
                "nearest_backward", "bilinear_backward", "unfold", "pixel")
    two, h = [2 * x.shape[2], 2 * x.shape[3]], list(x.shape)
    if kind.startswith(("nearest", "bilinear")) and x.numel() > 3e7:
        raise Skip("large")
    if kind == "max":
        return lambda: F.max_pool2d(x, k, s, k // 2)
    if kind == "avg":
        return lambda: F.avg_pool2d(x, k, s, k // 2)
    if kind == "max_backward":
        o, ids = aten.max_pool2d_with_indices(x, [k, k], [s, s], [k // 2] * 2, [1, 1], False)
        g = torch.randn_like(o)
        return lambda: aten.max_pool2d_with_indices_backward(g, x, [k, k], [s, s], [k // 2] * 2, [1, 1], False, ids)
    if kind == "avg_backward":
        g = torch.randn_like(aten.avg_pool2d(x, [k, k], [s, s]))
        return lambda: aten.avg_pool2d_backward(g, x, [k, k], [s, s], [0, 0], False, True, None)
    if kind == "adaptive":
        side = d.of(1, 1, 7)
        return lambda: F.adaptive_avg_pool2d(x, side)
    if kind == "adaptive_backward":
        g = make((h[0], h[1], 1, 1), dtype)
        return lambda: aten._adaptive_avg_pool2d_backward(g, x)
    if kind == "nearest":
        return lambda: aten.upsample_nearest2d(x, two)
    if kind == "bilinear":
        return lambda: aten.upsample_bilinear2d(x, two, False)
    if kind == "unfold":
        if x.numel() > 1e7:
            raise Skip("large")
        return lambda: F.unfold(x, 3)
    if kind == "pixel":
        y = make((h[0], h[1] * 4, h[2], h[3]), dtype)
        return lambda: F.pixel_shuffle(y, 2)
    g = make((h[0], h[1], *two), dtype)
    if kind == "nearest_backward":
        return lambda: aten.upsample_nearest2d_backward(g, two, h)
    return lambda: aten.upsample_bilinear2d_backward(g, two, h, False)


# What carries the time of models has the most points.
MAKERS = [(p_mm, 9), (p_addmm, 5), (p_linear, 7), (p_bmm, 6), (p_scaled_mm, 4), (p_mv, 1),
          (p_sdpa, 4), (p_flash, 3), (p_flash_backward, 3.5), (p_efficient, 2), (p_efficient_backward, 2), (p_cudnn_attention, 1),
          (p_cudnn_attention_backward, 0.7), (p_convolution, 6), (p_convolution_backward, 6), (p_layer_norm, 2.5),
          (p_layer_norm_backward, 2.5), (p_rms_norm, 2), (p_group_norm, 2.5), (p_batch_norm, 4), (p_softmax, 4), (p_reduction, 7),
          (p_pointwise, 14), (p_copy, 8), (p_gather, 7), (p_sort, 4), (p_optimizer, 4), (p_loss, 4), (p_pooling, 5)]


# ---- Whole models: every op of a step, with how often it is called -------------------------------------------------------

class Collector(TorchDispatchMode):
    """The distinct calls of a program, made again from their shapes; integers keep their values."""

    def __init__(self):
        super().__init__()
        self.calls = {}

    @staticmethod
    def text(x):
        if isinstance(x, torch.Tensor):
            return (tuple(x.shape), tuple(x.stride()), x.dtype)
        return tuple(map(Collector.text, x)) if isinstance(x, (list, tuple)) else str(x)

    @staticmethod
    def keep(x):
        if isinstance(x, torch.Tensor):
            if not x.is_cuda or not x.dtype.is_floating_point:
                return x.detach().clone()
            return ("tensor", tuple(x.shape), tuple(x.stride()), x.dtype)
        return [Collector.keep(y) for y in x] if isinstance(x, (list, tuple)) else x

    @staticmethod
    def remake(x):
        if isinstance(x, tuple) and x and x[0] == "tensor":
            y = torch.empty_strided(x[1], x[2], dtype=x[3], device=DEVICE)
            return y.normal_().abs_() if x[3] in (BF, HALF, FP32) else y.zero_()
        return [Collector.remake(y) for y in x] if isinstance(x, list) else x

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        if not func.is_view and "empty" not in str(func) and "_local_scalar" not in str(func):
            key = (str(func), self.text(args), self.text(list(kwargs.values())))
            if key in self.calls:
                self.calls[key][3] += 1
            else:
                self.calls[key] = [func, self.keep(args), {k: self.keep(v) for k, v in kwargs.items()}, 1]
        return out


class Attention(torch.nn.Module):
    def __init__(self, width, heads, groups=1, causal=True):
        super().__init__()
        self.h, self.g, self.e, self.causal = heads, groups, width // heads, causal
        self.qkv = torch.nn.Linear(width, width + 2 * width // groups, bias=False)
        self.out = torch.nn.Linear(width, width, bias=False)

    def forward(self, x, cache=None):
        b, s, w = x.shape
        q, k, v = self.qkv(x).split([w, w // self.g, w // self.g], -1)
        q = q.view(b, s, self.h, self.e).transpose(1, 2)
        k, v = (t.view(b, s, self.h // self.g, self.e).transpose(1, 2) for t in (k, v))
        if cache is not None:
            k, v = torch.cat([cache, k], 2), torch.cat([cache, v], 2)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal and cache is None, enable_gqa=self.g > 1)
        return self.out(o.transpose(1, 2).reshape(b, s, w))


class Llama(torch.nn.Module):
    def __init__(self, width, inner, heads, groups, layers, vocabulary):
        super().__init__()
        nn = torch.nn
        self.embed, self.head = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary, bias=False)
        self.blocks = nn.ModuleList([nn.ModuleList([nn.RMSNorm(width), Attention(width, heads, groups), nn.RMSNorm(width),
                                                    nn.Linear(width, inner, bias=False), nn.Linear(width, inner, bias=False),
                                                    nn.Linear(inner, width, bias=False)]) for _ in range(layers)])
        self.norm = nn.RMSNorm(width)

    def forward(self, ids, cache=None):
        x = self.embed(ids)
        for n1, attention, n2, gate, up, down in self.blocks:
            x = x + attention(n1(x), cache)
            y = n2(x)
            x = x + down(F.silu(gate(y)) * up(y))
        return self.head(self.norm(x))


class Bottleneck(torch.nn.Module):
    def __init__(self, c, mid, out, stride):
        super().__init__()
        nn = torch.nn
        self.body = nn.Sequential(nn.Conv2d(c, mid, 1, bias=False), nn.BatchNorm2d(mid), nn.ReLU(),
                                  nn.Conv2d(mid, mid, 3, stride, 1, bias=False), nn.BatchNorm2d(mid), nn.ReLU(),
                                  nn.Conv2d(mid, out, 1, bias=False), nn.BatchNorm2d(out))
        self.short = None if c == out and stride == 1 else nn.Sequential(nn.Conv2d(c, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        return F.relu(self.body(x) + (x if self.short is None else self.short(x)))


def resnet():
    nn, layers, c = torch.nn, [], 64
    for mid, count in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for i in range(count):
            layers.append(Bottleneck(c, mid, 4 * mid, 2 if i == 0 and mid > 64 else 1))
            c = 4 * mid
    return nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1), *layers,
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


class UNetBlock(torch.nn.Module):
    def __init__(self, c, out):
        super().__init__()
        nn = torch.nn
        self.a = nn.Sequential(nn.GroupNorm(32, c), nn.SiLU(), nn.Conv2d(c, out, 3, 1, 1))
        self.b = nn.Sequential(nn.GroupNorm(32, out), nn.SiLU(), nn.Conv2d(out, out, 3, 1, 1))
        self.short = nn.Conv2d(c, out, 1) if c != out else nn.Identity()

    def forward(self, x):
        return self.short(x) + self.b(self.a(x))


def unet():
    nn = torch.nn
    return nn.Sequential(nn.Conv2d(4, 320, 3, 1, 1), UNetBlock(320, 320), nn.Conv2d(320, 320, 3, 2, 1), UNetBlock(320, 640),
                         nn.Conv2d(640, 640, 3, 2, 1), UNetBlock(640, 1280), nn.Upsample(scale_factor=2), UNetBlock(1280, 640),
                         nn.Upsample(scale_factor=2), UNetBlock(640, 320), nn.GroupNorm(32, 320), nn.SiLU(), nn.Conv2d(320, 4, 3, 1, 1))


def encoder(width, heads, inner, layers):
    return torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(width, heads, inner, 0.1, "gelu", batch_first=True), layers)


def convnext():
    nn, layers = torch.nn, [torch.nn.Conv2d(3, 96, 4, 4)]
    for a, b in ((96, 192), (192, 384), (384, 768)):
        layers += [nn.Conv2d(a, a, 7, 1, 3, groups=a), nn.GroupNorm(1, a), nn.Conv2d(a, 4 * a, 1), nn.GELU(), nn.Conv2d(4 * a, a, 1),
                   nn.Conv2d(a, b, 2, 2)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(768, 1000))


def train(model, x, loss, cast=None, fused=True):
    model = model.to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=fused, foreach=None if fused else True)

    def step():
        with torch.autocast("cuda", cast or BF, enabled=cast is not None):
            value = loss(model(x))
        value.backward()
        optimizer.step()
        optimizer.zero_grad()
    return step


def infer(model, x, dtype, **more):
    model = model.to(DEVICE, dtype).eval()

    def step():
        with torch.no_grad():
            model(x, **more)
    return step


def models():
    last = torch.channels_last
    ids = lambda b, s: make((b, s), torch.int64, 32000)
    target = lambda n, c: make((n,), torch.int64, c)
    bert, small = target(32 * 128, 1024), target(32, 1000)
    words = target(4 * 1024, 32000)
    cross = lambda t: (lambda y: F.cross_entropy(y.reshape(-1, y.shape[-1]).float(), t))
    yield "llama_prefill", lambda: infer(Llama(4096, 14336, 32, 4, 2, 32000), ids(2, 2048), BF)
    yield "llama_decode", lambda: infer(Llama(4096, 14336, 32, 4, 2, 32000), ids(16, 1), BF, cache=make((16, 8, 1500, 128), BF))
    yield "llama_train", lambda: train(Llama(1024, 2816, 16, 1, 3, 32000).to(BF), ids(4, 1024), cross(words))
    yield "bert_train", lambda: train(encoder(1024, 16, 4096, 3), make((32, 128, 1024), FP32), cross(bert), BF)
    yield "vit_infer", lambda: infer(encoder(768, 12, 3072, 4), make((32, 197, 768), HALF), HALF)
    yield "resnet50_train", lambda: train(resnet().to(memory_format=last), make((32, 3, 224, 224), FP32).contiguous(memory_format=last),
                                          cross(small), BF, fused=False)
    yield "resnet50_infer_fp32", lambda: infer(resnet(), make((8, 3, 224, 224), FP32), FP32)
    yield "unet_infer", lambda: infer(unet().to(memory_format=last), make((4, 4, 64, 64), HALF).contiguous(memory_format=last), HALF)
    yield "unet_train", lambda: train(unet(), make((2, 4, 64, 64), FP32), lambda y: y.float().square().mean(), HALF)
    yield "convnext_train", lambda: train(convnext(), make((32, 3, 224, 224), FP32), cross(small), BF)


# ---- Kernels that Inductor generates ---------------------------------------------------------------------------------------

def compiled_cases(d):
    """Functions that become one kernel, or few; shapes are drawn anew for each."""
    def shape2(high=1e8):
        x = rows(d, BF, 32768).shape
        return x if math.prod(x) < high else (x[0] // 4 + 1, x[1])

    def bias_gelu():
        dtype, (r, c) = d.float(), shape2()
        return lambda x, b: F.gelu(x + b), (make((r, c), dtype), make((c,), dtype))

    def chain():
        dtype, s = d.float(), shape2()
        return lambda x, y, z: torch.sigmoid(x) * y + z.tanh() * 0.5, tuple(make(s, dtype) for _ in range(3))

    def swiglu():
        dtype, s = d.half(), shape2()
        return lambda x, y: F.silu(x) * y, tuple(make(s, dtype) for _ in range(2))

    def cast():
        s = shape2()
        return lambda x: x.float() * 2, (make(s, BF),)

    def turn():
        dtype, s = d.float(), shape2()
        return lambda x, y: x.t() + y, (make(s, dtype), make(s[::-1], dtype))

    def layer_norm():
        dtype, (r, c) = d.float(), shape2()
        return lambda x, y, w, b: F.layer_norm(x + y, (c,), w, b), (make((r, c), dtype), make((r, c), dtype), make((c,), dtype), make((c,), dtype))

    def rms_norm():
        dtype, (r, c) = d.half(), shape2()
        return lambda x, w: F.rms_norm(x, (c,), w), (make((r, c), dtype), make((c,), dtype))

    def softmax():
        dtype, s = d.float(), shape2()
        return lambda x: torch.softmax(x * 0.5, -1), (make(s, dtype),)

    def total():
        dtype, s = d.float(), shape2()
        return lambda x, y: (x * y).sum(), (make(s, dtype), make(s, dtype))

    def columns():
        dtype, s = d.float(), shape2()
        return lambda x, y: (x * y).sum(0), (make(s, dtype), make(s, dtype))

    def row_sums():
        dtype, s = d.float(), shape2()
        return lambda x: x.float().square().mean(-1), (make(s, dtype),)

    def cross():
        dtype, (r, c) = d.half(), shape2()
        return lambda x, t: F.cross_entropy(x.float(), t), (make((r, c), dtype), make((r,), torch.int64, c))

    def embed():
        c, n, r = d.size(64, 4096), d.size(100, 50000), d.size(16, 30000)
        return lambda i, w, p: F.embedding(i, w) + p, (make((r,), torch.int64, n), make((n, c), BF), make((r, c), BF))

    def rope():
        b, h, s, e = d.size(1, 16), d.of(8, 16, 32), d.size(16, 2048), d.of(64, 128)
        return (lambda x, c, s_: x * c + torch.cat([-x[..., e // 2:], x[..., :e // 2]], -1) * s_,
                (make((b, h, s, e), BF), make((s, e), BF), make((s, e), BF)))

    def images_norm():
        x = images(d, BF, 4e7)
        c = x.shape[1]
        return (lambda x, m, v: F.relu((x - m[:, None, None]) * v[:, None, None]), (x, make((c,), FP32), make((c,), FP32)))

    def dropout():
        dtype, s = d.half(), shape2()
        return lambda x, y: F.dropout(x, 0.1) + y, (make(s, dtype), make(s, dtype))

    def gelu_grad():
        dtype, s = d.half(), shape2()
        return lambda g, x: g * (0.5 * (1 + torch.erf(x * 0.7)) + x * torch.exp(-x * x * 0.5) * 0.4), (make(s, dtype), make(s, dtype))

    def small():
        n = d.size(1, 100000)
        return lambda x, y: torch.relu(x + y), (make((n,), FP32), make((n,), FP32))
    return [bias_gelu, chain, swiglu, cast, turn, layer_norm, rms_norm, softmax, total, columns, row_sums, cross, embed, rope, images_norm,
            dropout, gelu_grad, small]


# ---- Measuring ---------------------------------------------------------------------------------------------------------------

REPEATS = 3


class Recorder:
    def __init__(self, folder):
        self.folder = folder
        self.flush = torch.empty(int(256e6 if LIMIT == 1 else 1e4), dtype=torch.int8, device=DEVICE)
        self.failed = {}

    def run(self, key, call, tf32):
        """Inside a profile: the calls of one point, under annotations that carry its key."""
        torch.backends.cuda.matmul.allow_tf32 = tf32
        torch.backends.cudnn.allow_tf32 = tf32
        call()
        torch.cuda.synchronize()
        began = time.time()
        call()
        torch.cuda.synchronize()
        if time.time() - began > 0.04:
            raise Skip("slow")
        for _ in range(REPEATS):
            self.flush.zero_()
            with record_function("point:%d:c" % key):
                call()
        call()
        for _ in range(REPEATS):
            with record_function("point:%d:w" % key):
                call()

    def points(self, out, makes, deadline, keep_trace=None):
        """makes: functions that return (call, tf32, about the point). One profile for all of them."""
        about, n = [], 0
        gc_limit = 30e9
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True) as prof:
            for m in makes:
                if time.time() > deadline:
                    break
                try:
                    call, tf32, what = m()
                    about.append(dict(what, tf32=tf32))
                    n += 1
                    self.run(n - 1, call, tf32)
                except Skip:
                    pass
                except Exception as e:  # a shape that the op or its library refuses: said at the end, the sweep goes on
                    text = "%s: %s" % (type(e).__name__, str(e).split("\n")[0][:150])
                    if "CUDA error" in text or "unspecified launch" in text:  # nothing runs after it in this process
                        print("lost the device:", about[-1:], text, flush=True)
                        os._exit(3)
                    self.failed[text] = self.failed.get(text, 0) + 1
                call = None
                if torch.cuda.memory_reserved() > gc_limit:
                    torch.cuda.empty_cache()
            torch.cuda.synchronize()
        if not n:
            return 0
        path = tempfile.mktemp(suffix=".json")
        prof.export_chrome_trace(path)
        del prof
        if keep_trace:
            with open(path, "rb") as f, gzip.open(keep_trace, "wb", 6) as g:
                g.write(f.read())
        with open(path) as f:
            events = json.load(f)["traceEvents"]
        os.remove(path)
        lines = [json.dumps(line, separators=(",", ":")) + "\n" for line in read_points(events, about)]
        with gzip.open(os.path.join(self.folder, out + ".jsonl.gz"), "at", 6) as f:  # a member of its own: whole after an early end
            f.write("".join(lines))
        return len(lines)


def median(xs):
    xs = sorted(xs)
    return xs[len(xs) // 2] if len(xs) % 2 else (xs[len(xs) // 2 - 1] + xs[len(xs) // 2]) / 2


def read_points(events, about):
    """The lines of a profile: kernels by the correlation of their launches, launches by the annotation they stand in."""
    device, launches, ops, marks = {}, {}, {}, []
    for e in events:
        cat, args = e.get("cat"), e.get("args", {})
        if cat in ("kernel", "gpu_memcpy", "gpu_memset"):
            device[args.get("correlation")] = e
        elif cat in ("cuda_runtime", "cuda_driver"):
            launches.setdefault(e["tid"], []).append((e["ts"], args.get("correlation")))
        elif cat == "cpu_op":
            ops.setdefault(e["tid"], []).append((e["ts"], -e["dur"], e))
        elif cat == "user_annotation" and e["name"].startswith("point:"):
            marks.append(e)
    for by_thread in (launches, ops):
        for v in by_thread.values():
            v.sort(key=lambda x: x[:2])
    points = {}
    for mark in marks:
        _, key, phase = mark["name"].split(":")
        mine = launches.get(mark["tid"], [])
        begin, end = mark["ts"], mark["ts"] + mark["dur"]
        found = []
        for ts, correlation in mine[bisect.bisect_left(mine, (begin,)):]:
            if ts > end:
                break
            if correlation in device:
                found.append((ts, device[correlation]))
        points.setdefault(int(key), {"c": [], "w": []})[phase].append((mark, found))
    for key, phases in sorted(points.items()):
        if len(phases["w"]) < REPEATS or not phases["w"][0][1]:
            continue
        names = [k["name"] for _, k in phases["w"][-1][1]]
        runs = {p: [found for _, found in phases[p] if [k["name"] for _, k in found] == names] for p in "cw"}
        if not runs["c"] or not runs["w"]:
            continue
        mark, found = phases["w"][-1]
        begin, end = mark["ts"], mark["ts"] + mark["dur"]
        mine = ops.get(mark["tid"], [])
        nested = []
        for ts, _, e in mine[bisect.bisect_left(mine, (begin, -1e18)):]:
            if ts > end:
                break
            nested.append(e)

        def around(ts):
            return [e for e in nested if e["ts"] <= ts <= e["ts"] + e["dur"]]

        def call_of(e):
            a = e.get("args", {})
            line = {"op": e["name"], "shapes": a.get("Input Dims"), "dtypes": a.get("Input type"), "strides": a.get("Input Strides"),
                    "concrete": a.get("Concrete Inputs")}
            for k in ("kernel_file", "kernel_backend", "grid", "num_warps", "num_stages", "kernel_hash", "kernel_kwargs"):
                if k in a:
                    line[k] = a[k]
            return line
        line, kernels, inner = {}, [], {}
        for i, (ts, k) in enumerate(found):
            chain = around(ts)
            if chain and not line:
                line = call_of(chain[0])
            if chain and chain[-1] is not chain[0]:
                inner.setdefault(id(chain[-1]), call_of(chain[-1]))
            times = {p: median([run[i][1]["dur"] for run in runs[p]]) * 1000 for p in "cw"}
            args = k.get("args", {})
            kernels.append({"name": k["name"], "op": chain[-1]["name"] if chain else None, "warm_ns": round(times["w"]),
                            "cold_ns": round(times["c"]), "grid": args.get("grid"), "block": args.get("block"),
                            "bytes": args.get("bytes")})
        whole = {p: median([sum(k["dur"] for _, k in run) for run in runs[p]]) * 1000 for p in "cw"}
        line.update(about[key])
        line.update(warm_ns=round(whole["w"]), cold_ns=round(whole["c"]), kernels=kernels)
        if inner:
            line["inner"] = list(inner.values())[:8]
        yield line


def point_maker(maker, draw):
    def f():
        for _ in range(20):
            try:
                made = maker(draw)
            except Skip:
                continue
            call, tf32, more = (made + ({},))[:3] if isinstance(made, tuple) else (made, False, {})
            return call, tf32, dict(more, maker=maker.__name__[2:])
        raise Skip("no shape")
    return f


def sweep(seed, count, batch, only=""):
    """Batches of points, all families in each, by turns until `count`. only: "mm=2,bmm=1", families and their weights."""
    draw = Draw(seed)
    makers = MAKERS
    if only:
        weights = dict(x.split("=") for x in only.split(","))
        makers = [(m, float(weights[m.__name__[2:]])) for m, _ in MAKERS if m.__name__[2:] in weights]
    order = [m for m, w in makers for _ in range(max(0, round(count * w / sum(w for _, w in makers))))]
    draw.r.shuffle(order)
    for i in range(0, len(order), batch):
        yield [point_maker(m, draw) for m in order[i:i + batch]]


def compile_worker(a, cache):
    """Compiles until told, then measures while no other worker does."""
    recorder, number, group, i = Recorder(a.out), a.worker, [], 0
    torch._dynamo.config.recompile_limit = 10000
    while time.time() < a.until:
        draw = Draw(a.seed * 100003 + number * 1009 + i)
        cases = compiled_cases(draw)
        case = cases[(i + number) % len(cases)]
        i += 1
        try:
            f, inputs = case()
            torch._dynamo.reset()
            g = torch.compile(f, dynamic=False)
            with torch.no_grad():
                g(*inputs)

            def ready(g=g, inputs=inputs, what=case.__name__):
                def call():
                    with torch.no_grad():
                        g(*inputs)
                return call, False, {"case": what}
            group.append(ready)
        except Skip:
            pass
        except Exception as e:
            print(case.__name__, type(e).__name__, str(e).split("\n")[0][:200], flush=True)
    torch.cuda.synchronize()
    time.sleep(max(0, a.until + 3 - time.time()))  # a compilation may have ended late
    with open(os.path.join(cache, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Every fifth worker is for scoring.
        n = recorder.points("compiled_score" if number % 5 == 4 else "compiled", group, time.time() + 30,
                            keep_trace=os.path.join(cache, "trace_%02d.json.gz" % number))
        print("worker", number, "compiled", len(group), "points", n, recorder.failed, flush=True)


def count_lines(path):
    try:
        with gzip.open(path, "rt") as f:
            return sum(1 for _ in f)
    except OSError:
        return 0


def sweep_all(a, log):
    """The table and the score set by turns, so that an early end leaves both covered; then the models."""
    recorder = Recorder(a.out)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):  # the first profile loads CUPTI
        torch.mm(make((64, 64)), make((64, 64)))
    log("ready")
    have = {n: count_lines(os.path.join(a.out, n + ".jsonl.gz")) for n in ("points", "score")}
    sources = {"points": sweep(a.seed, a.points - have["points"], a.batch, a.only),
               "score": sweep(a.seed + 1000003, a.score - have["score"], a.batch, a.only)}
    turn = 2
    while sources and time.time() < a.sweep_until:
        name = "score" if turn % 6 == 3 and "score" in sources or "points" not in sources else "points"
        turn += 1
        makes = next(sources[name], None)
        if makes is None:
            del sources[name]
            continue
        have[name] += recorder.points(name, makes, a.sweep_until)
        log(have)
    done = set()
    if have["points"] and os.path.exists(os.path.join(a.out, "models.jsonl.gz")):
        with gzip.open(os.path.join(a.out, "models.jsonl.gz"), "rt") as f:
            done = {json.loads(line)["model"] for line in f}
    for name, build in models():
        if a.no_models or name in done or time.time() > a.until:
            continue
        try:
            torch.backends.cuda.matmul.allow_tf32 = False
            torch.backends.cudnn.allow_tf32 = True
            step = build()
            step()
            with Collector() as seen:
                step()
            step = None
            torch.cuda.synchronize()

            def remade(func, args, kwargs, count):
                def f():
                    x, k = Collector.remake(args), {n: Collector.remake(v) for n, v in kwargs.items()}
                    lists = [y for y in x if isinstance(y, list) and y and isinstance(y[0], torch.Tensor)]
                    told = {"sizes": [t.numel() for t in lists[0]], "item": str(lists[0][0].dtype)} if lists else {}
                    return lambda: func(*x, **k), name.endswith("fp32"), dict(told, model=name, count=count)
                return f
            n = recorder.points("models", [remade(*c) for c in seen.calls.values()], a.until)
            log(name, len(seen.calls), "calls", n, "points")
        except Exception as e:
            log(name, type(e).__name__, str(e).split("\n")[0][:200])
        step = seen = None
        torch.cuda.empty_cache()
    for text, n in sorted(recorder.failed.items(), key=lambda x: -x[1])[:40]:
        log("refused", n, text)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--out", default=os.environ.get("OUT", "."))
    p.add_argument("--seconds", type=float, default=240)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--points", type=int, default=7000)
    p.add_argument("--score", type=int, default=1300)
    p.add_argument("--batch", type=int, default=220)
    p.add_argument("--no-compiled", action="store_true")
    p.add_argument("--no-models", action="store_true")
    p.add_argument("--only", default="", help="families and their weights, such as mm=2,convolution=1; default all")
    p.add_argument("--workers", type=int, default=10)
    for hidden in ("--until", "--sweep-until"):
        p.add_argument(hidden, type=float, default=0, help=argparse.SUPPRESS)
    p.add_argument("--worker", type=int, default=None, help=argparse.SUPPRESS)
    p.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    a = p.parse_args()
    start = time.time()
    log = lambda *x: print("%6.1f" % (time.time() - start), *x, flush=True)
    os.makedirs(a.out, exist_ok=True)
    torch.manual_seed(a.seed)
    if a.worker is not None:
        return compile_worker(a, os.environ["TORCHINDUCTOR_CACHE_DIR"])
    if a.child:
        return sweep_all(a, log)
    props = torch.cuda.get_device_properties(0)
    with open(os.path.join(a.out, "device.json"), "w") as f:
        json.dump({"device": props.name, "multiprocessors": props.multi_processor_count, "memory": props.total_memory,
                   "torch": torch.__version__, "cuda": torch.version.cuda, "seed": a.seed}, f)
    # A process of its own: a library that breaks on a shape ends it, and the next goes on with other shapes.
    here = [sys.executable, os.path.abspath(__file__), "--out", a.out, "--batch", str(a.batch), "--only", a.only]
    compiled = 0 if a.no_compiled else max(45, 0.3 * a.seconds)
    until = start + a.seconds - compiled
    for attempt in range(6):
        if until - time.time() < 20:
            break
        more = ["--child", "--seed", str(a.seed + 31 * attempt), "--points", str(a.points), "--score", str(a.score), "--until", str(until),
                "--sweep-until", str(until - (0 if a.no_models else 0.16 * a.seconds))] + (["--no-models"] if a.no_models else [])
        code = subprocess.call(here + more)
        if code == 0:
            break
        log("the sweep ended with", code)
    if not a.no_compiled:
        cache = tempfile.mkdtemp()
        env = dict(os.environ, TORCHINDUCTOR_CACHE_DIR=cache, TORCHINDUCTOR_COMPILE_THREADS="2")
        stop = max(time.time() + 25, start + a.seconds - 4 * a.workers)
        children = [subprocess.Popen(here + ["--worker", str(i), "--seed", str(a.seed), "--until", str(stop)], env=env)
                    for i in range(a.workers)]
        for c in children:
            c.wait()
        with tarfile.open(os.path.join(a.out, "compiled.tar.gz"), "w:gz") as t:
            for path in glob.glob(os.path.join(cache, "**", "*"), recursive=True):
                if path.endswith((".py", ".json.gz")) and os.path.getsize(path) < 2e6:
                    t.add(path, os.path.relpath(path, cache))
    log("done")


if __name__ == "__main__":
    main()
