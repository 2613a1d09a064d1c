# ---- Layers beside the plain ones, and tensors that lie as layers leave them ------------------------------------------------------

def other_convolution(d):
    """(batch, channels, channels made, side, window, stride, padding, groups, transposed, dims) of depthwise, grouped, transposed and one-dimensional layers."""
    kind = d.of(*["depthwise"] * 6, *["grouped"] * 5, *["up"] * 5, *["line"] * 6, "line_depthwise", "line_grouped", "line_up")
    c, k, n = usual_width(d), usual_width(d), d.of(1, 2, 4, 8, 8, 12, 16, 16, 24, 32, 32, 48, 64, 64, 96, 128)
    side, long = d.of(*SIDES), d.of(50, 100, 250, 500, 512, 800, 1000, 1024, 1500, 2000, 3000, 4000, 8000, 16000, 32000)
    if d.yes(0.2):
        side, long = d.size(4, 256), d.size(32, 32000)
    if kind == "depthwise":
        f = d.of(3, 3, 3, 5, 5, 7, 7, 9)
        c = d.of(c, c, 2 * c, 6 * min(c, 160))
        return n, c, c, side, f, d.of(1, 1, 1, 2), f // 2, c, False, 2
    if kind == "grouped":
        g, per = d.of(2, 4, 8, 16, 32, 32, 32, 64), d.of(2, 4, 4, 8, 8, 16, 16, 24, 32, 64)
        c = g * per
        return n, c, d.of(c, c, c, 2 * c), side, d.of(1, 3, 3, 3, 3, 5), d.of(1, 1, 1, 2), 1, g, False, 2
    if kind == "up":
        f, s, p = d.of((4, 2, 1), (4, 2, 1), (2, 2, 0), (2, 2, 0), (3, 2, 1), (4, 1, 0), (5, 2, 2), (8, 4, 2), (3, 1, 1))
        return n, d.of(c, c, 100, 128), d.of(k, max(8, c // 2), max(8, c // 2), 3, 1), d.of(1, 4, 4, 8, 8, 16, 16, 24, 32, 32, 48, 64, 64, 128), f, s, p, 1, True, 2
    if kind == "line_depthwise":
        f = d.of(3, 4, 7, 15, 31)
        return n, c, c, long, f, 1, f // 2, c, False, 1
    if kind == "line_grouped":
        g = d.of(4, 8, 16)
        return n, g * d.of(16, 32, 48, 64), g * d.of(16, 32, 48, 64), long, d.of(3, 41, 128), d.of(1, 1, 2, 4), 1, g, False, 1
    if kind == "line_up":
        f, s = d.of((4, 2), (8, 4), (16, 8), (20, 10))
        return n, c, max(8, c // 2), min(long, 4000), f, s, (f - s) // 2, 1, True, 1
    f, s, p = d.of((1, 1, 0), (3, 1, 1), (3, 1, 1), (3, 2, 1), (3, 2, 0), (2, 2, 0), (5, 1, 2), (7, 1, 3), (7, 1, 3), (10, 5, 0), (11, 1, 5), (16, 8, 4), (25, 4, 11))
    return n, d.of(c, c, 1, 1, 2, 80), k, long, f, s, p, 1, False, 1


def other_layer(d):
    for _ in range(200):
        n, c, k, side, f, stride, pad, groups, transposed, dims = other_convolution(d)
        dtype = d.of(BF, BF, BF, HALF, HALF, HALF, FP32, FP32, FP32)
        out = (side - 1) * stride - 2 * pad + f if transposed else (side + 2 * pad - f) // stride + 1
        flops = 2.0 * n * (side if transposed else out) ** dims * c * k // groups * f ** dims
        if out < 1 or flops > (1e11 if dtype == FP32 or groups > 1 else 4e11) or n * max(c * side ** dims, k * out ** dims) > (1.2e8 if groups > 1 else 2e8):
            continue
        if n * max(c * side ** dims, k * out ** dims) < 2e5 and d.yes(0.7):  # what carries time
            continue
        form = torch.channels_last if dims == 2 and d.yes() else torch.contiguous_format
        x = make([n, c] + [side] * dims, dtype).contiguous(memory_format=form)
        if dims == 2 and d.yes(0.12):  # weights were turned, the images come as they lay
            form = torch.channels_last
        w = make([c, k // groups] + [f] * dims if transposed else [k, c // groups] + [f] * dims, dtype).contiguous(memory_format=form)
        bias = make((k,), dtype) if d.yes(0.4) else None
        return x, w, bias, [stride] * dims, [pad] * dims, [1] * dims, transposed, [0] * dims, groups, dtype == FP32 and d.yes(0.75)
    raise Skip("large")


def p_other_convolution(d):
    x, w, bias, *more, tf32 = other_layer(d)
    return lambda: aten.convolution(x, w, bias, *more), tf32


def p_other_convolution_backward(d):
    x, w, bias, *more, tf32 = other_layer(d)
    g = torch.randn_like(aten.convolution(x, w, None, *more))
    first = x.shape[1] <= 4
    mask = [not first and not d.yes(0.1), True, bias is not None] if not d.yes(0.1) else [True, False, bias is not None]
    sizes = list(bias.shape) if bias is not None else [0]
    return lambda: aten.convolution_backward(g, x, w, sizes, *more, mask), tf32


def p_other_norm(d):
    """Batch norms of images large and small in both layouts and precisions; layer norms of what a turn has left."""
    dtype, kind = d.of(BF, HALF, HALF, FP32), d.of(*["batch"] * 7, "turned", "turned", "line")
    if kind == "turned":
        b, s, width = d.of(1, 2, 4, 8, 16, 24, 32, 64), d.of(49, 64, 128, 196, 197, 256, 512, 784, 1024, 1500, 3136), d.of(96, 128, 192, 256, 384, 512, 768, 1024, 1280)
        if b * s * width > 1.5e8:
            raise Skip("large")
        x = make((b, width, s), dtype).transpose(1, 2)
        w, bias = make((width,), dtype), make((width,), dtype)
        if d.yes():
            return lambda: aten.native_layer_norm(x, [width], w, bias, 1e-5)
        _, mean, rstd = aten.native_layer_norm(x, [width], w, bias, 1e-5)
        g = torch.randn_like(x) if d.yes() else make((b, s, width), dtype)
        return lambda: aten.native_layer_norm_backward(g, x, [width], mean, rstd, w, bias, [True, True, True])
    n, c, side = d.of(1, 2, 4, 8, 8, 12, 16, 16, 24, 32, 32, 48, 64, 64, 128), usual_width(d), d.of(*SIDES)
    shape = (n, c, d.of(100, 250, 500, 1000, 1500, 4000, 8000)) if kind == "line" else (n, c, side, side)
    if not 3e4 < math.prod(shape) < 1.5e8:
        raise Skip("size")
    x = make(shape, dtype)
    x = x.contiguous(memory_format=torch.channels_last) if kind == "batch" and d.yes() else x
    how = d.of("cudnn", "cudnn", "cudnn_backward", "cudnn_backward", "train", "backward", "op_train", "eval", "eval_half", "eval_half", "op")
    if how == "eval_half":  # a model that was turned to half precision whole
        w, b, mean, var = (torch.ones(c, device=DEVICE, dtype=dtype) for _ in range(4))
        return lambda: aten.native_batch_norm(x, w, b, mean, var, False, 0.1, 1e-5)
    return batch_norm(x, how)


def p_other_move(d):
    """Lists and pairs that do not lie alike, losses over a vocabulary, lookups' gradients, pooling's and optimizers of whole models."""
    kind = d.of("stack", "stack", "cat", "add", "add", "where", "where", "scale", "scale", "nll", "nll", "softmax", "cast", "embedding", "embedding", "embedding",
                "max_backward", "max_backward", "max", "average", "adam", "adam", "adam", "sum")
    dtype = d.of(BF, BF, HALF, FP32)
    b, s, h, e = d.of(1, 2, 4, 8, 16, 24, 32, 64), d.of(77, 128, 196, 197, 256, 512, 1024, 1500, 2048, 4096), d.of(6, 8, 12, 16, 20, 32), d.of(32, 64, 64, 80, 128)
    if b * s * h * e > 6e7:
        raise Skip("large")
    tokens = min(b * s, 16384)
    if kind in ("stack", "cat"):
        xs = [make((b, s, h, e), dtype).transpose(1, 2) if d.yes(0.85) else make((b, h, s, e), dtype) for _ in range(d.of(2, 3, 3))]
        dim = d.of(0, 0, 1, 2) if kind == "stack" else d.of(0, 1, 2, 3)
        f = torch.stack if kind == "stack" else torch.cat
        return lambda: f(xs, dim), False, {"item": str(dtype)}
    if kind in ("add", "where", "scale"):
        x, y = make((b, s, h * e), dtype), make((b, s, h * e), dtype)
        how = d.of("alike", "turned", "heads", "images", "narrow")
        if how == "turned":
            y = make((b, h * e, s), dtype).transpose(1, 2)
        elif how == "heads":
            x, y = make((b, h, s, e), dtype), make((b, s, h, e), dtype).transpose(1, 2)
        elif how == "images":
            n, c, side = d.of(1, 4, 8, 16, 32, 64), usual_width(d), d.of(*SIDES)
            if n * c * side * side > 6e7:
                raise Skip("large")
            x = make((n, c, side, side), dtype)
            y = torch.randn_like(x).contiguous(memory_format=torch.channels_last) if d.yes(0.3) else torch.randn_like(x)
        elif how == "narrow":
            y = make((b, 1, h * e), dtype) if d.yes() else make((h * e,), dtype)
        if kind == "add":
            f = d.of(torch.add, torch.mul, torch.sub)
            return lambda: f(x, y)
        if kind == "scale":
            into, f = torch.empty_like(x), d.of("mul", "mul_out", "div", "mul_", "add")
            return {"mul": lambda: aten.mul(x, 0.125), "mul_out": lambda: torch.mul(x, 0.125, out=into), "div": lambda: aten.div(x, 8.0),
                    "mul_": lambda: x.mul_(0.999), "add": lambda: aten.add(x, 1.0)}[f]
        if d.yes(0.4):  # a mask of attention
            t = min(s, 1024)
            x, m, low = make((b, h, t, t), dtype), d.of(make((t, t), torch.bool), make((b, 1, t, t), torch.bool)), torch.full((), -1e4, device=DEVICE, dtype=dtype)
            if b * h * t * t > 1e8:
                raise Skip("large")
            return d.of(lambda: torch.where(m, x, low), lambda: torch.masked_fill(x, m, -1e4))
        m, zero = make(tuple(x.shape), torch.bool), torch.zeros((), device=DEVICE, dtype=dtype)
        return d.of(lambda: torch.where(m, x, y), lambda: torch.where(m, x, zero), lambda: torch.where(m, zero, x))
    words = d.of(1000, 8192, 16000, 21841, 30522, 32000, 32001, 50257, 50304, 65024, 128256, 151936)
    if kind in ("nll", "softmax", "cast", "sum"):
        if tokens * words > 8e8:
            tokens = max(1, int(8e8 / words))
        x = make((tokens, words), FP32 if kind != "cast" else dtype)
        if kind == "cast":
            other = FP32 if dtype != FP32 else BF
            return lambda: aten._to_copy(x, dtype=other)
        if kind == "sum":
            return lambda: torch.sum(x, [0], True)
        if kind == "softmax":
            g = torch.randn_like(x) if x.numel() < 4e8 else x
            return d.of(lambda: aten._log_softmax(x, 1, False), lambda: aten._log_softmax_backward_data(g, x, 1, FP32), lambda: aten._softmax(x, 1, False))
        t = make((tokens,), torch.int64, words)
        _, weight = aten.nll_loss_forward(x, t, None, 1, -100)
        g = torch.ones((), device=DEVICE)
        return lambda: aten.nll_loss_backward(g, x, t, None, 1, -100, weight)
    if kind == "embedding":
        count, width, picks = d.of(2, 16, 512, 1024, 4096, words, words, words, 1000000), d.of(16, 64, 128, 256, 384, 512, 768, 1024, 1280, 2048, 4096), tokens
        if count * width > 6e8 or picks * width > 1e8:
            raise Skip("large")
        g, ids = make((picks, width), dtype), make((picks,), torch.int64, count)
        if count < 5000 and d.yes():  # positions: each row as often as there are sequences
            ids = torch.arange(picks, device=DEVICE) % count
        return lambda: aten.embedding_dense_backward(g, ids, count, -1, False)
    if kind == "adam":
        low = d.of(FP32, FP32, BF)
        sizes = []
        for _ in range(d.of(1, 4, 6, 12, 24, 36)):
            width = d.of(128, 256, 384, 512, 768, 1024, 1280, 2048)
            sizes += [width, width, width * width, 3 * width * width if d.yes() else width * width * 9, 4 * width, 4 * width * width][:d.of(2, 4, 6)]
        if d.yes(0.4):
            sizes.append(words * 512)
        if sum(sizes) > 4e8:
            raise Skip("large")
        p, g, m, v = ([make((n,), low).abs_() for n in sizes] for _ in range(4))
        steps = [torch.ones((), device=DEVICE) for _ in sizes]
        f = d.of(aten._fused_adamw_, aten._fused_adamw_, aten._fused_adam_)
        told = {"sizes": sizes, "item": str(low)}
        if d.yes(0.25):
            return lambda: aten._fused_sgd_(p, g, m, weight_decay=0.0, momentum=0.9, lr=0.1, dampening=0.0, nesterov=False, maximize=False, is_first_step=False), False, told
        return lambda: f(p, g, m, v, [], steps, lr=1e-3, beta1=0.9, beta2=0.95, weight_decay=0.1, eps=1e-8, amsgrad=False, maximize=False), False, told
    n, c, side = d.of(1, 4, 8, 16, 24, 32, 64), usual_width(d), d.of(*[x for x in SIDES if x > 3])
    if not 1e5 < n * c * side * side < 8e7:
        raise Skip("size")
    x = make((n, c, side, side), dtype)
    x = x.contiguous(memory_format=torch.channels_last) if d.yes() else x
    k, step, pad = d.of((3, 2, 1), (2, 2, 0), (2, 2, 0), (3, 1, 1))
    if kind == "max":
        return lambda: F.max_pool2d(x, k, step, pad)
    if kind == "average":
        return d.of(lambda: F.avg_pool2d(x, k, step, pad), lambda: F.adaptive_avg_pool2d(x, 1), lambda: torch.mean(x, [2, 3], True))
    o, ids = aten.max_pool2d_with_indices(x, [k, k], [step, step], [pad, pad], [1, 1], False)
    g = torch.randn_like(o)
    return lambda: aten.max_pool2d_with_indices_backward(g, x, [k, k], [step, step], [pad, pad], [1, 1], False, ids)


def p_vocabulary(d):
    """The product with a vocabulary and its gradients, whose sizes divide by nothing."""
    dtype, tokens, width = d.of(BF, BF, HALF, FP32), d.of(1, 8, 64, 256, 512, 1024, 2048, 4096, 4096, 8192), d.of(256, 512, 768, 1024, 1280, 1600, 2048)
    words = d.of(1000, 10003, 21841, 30522, 32001, 50257, 50257, 50265, 49407, 65537, 51865)
    if 2.0 * tokens * words * width > (3e11 if dtype == FP32 else 1e12):
        raise Skip("large")
    tf32, kind = tf32_of(d, dtype), d.of("forward", "input", "weight")
    if kind == "forward":
        a, w = make((tokens, width), dtype), make((words, width), dtype)
        return lambda: torch.mm(a, w.t()), tf32
    g = make((tokens, words), dtype)
    other = make((words, width), dtype) if kind == "input" else make((tokens, width), dtype)
    return (lambda: torch.mm(g, other)) if kind == "input" else (lambda: torch.mm(g.t(), other)), tf32
