# ---- Shapes as models have them: round widths, usual images and token counts ----------------------------------------------------

WIDTHS = (16, 24, 32, 40, 48, 64, 80, 96, 112, 128, 160, 192, 240, 256, 320, 384, 480, 512, 576, 640, 768, 960, 1024, 1280, 1536, 1920, 2048)
SIDES = (4, 7, 8, 12, 14, 16, 20, 24, 28, 32, 38, 40, 48, 56, 64, 75, 80, 96, 112, 128, 160, 192, 224, 256, 512)


def usual_width(d):
    return d.of(*WIDTHS, 64, 64, 128, 128, 256, 256, 512, 512, 1024, 320, 640, 1280, 2048)


def model_convolution(d):
    """(channels, channels made, side, window, stride, padding, groups, transposed, dims) of a layer."""
    kind = d.of(*["plain"] * 14, *["point"] * 8, *["half"] * 4, "stem", "stem", "patch", "patch", "depthwise", "depthwise", "grouped", "up",
                "line", "line", "volume")
    side, c, k = d.of(*SIDES), usual_width(d), usual_width(d)
    if d.yes(0.45):
        k = c
    if kind == "plain":
        f = d.of(3, 3, 3, 3, 3, 5)
        return c, k, side, f, 1, f // 2, 1, False, 2
    if kind == "point":
        return c, d.of(k, 4 * c, max(8, c // 4), 2 * c), side, 1, d.of(1, 1, 1, 1, 2), 0, 1, False, 2
    if kind == "half":
        f = d.of(3, 3, 3, 1)
        return c, d.of(k, 2 * c), side, f, 2, f // 2, 1, False, 2
    if kind == "stem":
        f, s = d.of((7, 2), (3, 2), (3, 1), (3, 1), (4, 4))
        return d.of(1, 3, 3, 3, 4, 4), d.of(16, 32, 64, 64, 96, 128, 192, 320), d.of(32, 64, 96, 128, 224, 224, 256, 512), f, s, 0 if f == 4 else f // 2, 1, False, 2
    if kind == "patch":
        f = d.of(2, 2, 2, 4, 14, 16)
        return (c if f == 2 else 3), d.of(k, 2 * c, 768, 1024), (side // 2 * 2 if f == 2 else d.of(224, 256, 384)), f, f, 0, 1, False, 2
    if kind == "depthwise":
        f = d.of(3, 3, 5, 7, 7)
        return c, c, side, f, d.of(1, 1, 1, 2), f // 2, c, False, 2
    if kind == "grouped":
        g = d.of(2, 4, 8, 16, 32, 32)
        return max(1, c // g) * g, max(1, c // g) * g, side, 3, d.of(1, 1, 2), 1, g, False, 2
    if kind == "up":
        f = d.of(2, 4, 3)
        return c, d.of(k, max(8, c // 2)), min(side, 128), f, 2, (f - 1) // 2, 1, True, 2
    if kind == "line":
        f = d.of(1, 3, 3, 5, 7, 31)
        return c, (c if f == 31 else k), d.of(100, 128, 250, 500, 512, 1024, 1500, 2048, 3000, 8192, 16000), f, d.of(1, 1, 1, 2), f // 2, (c if f == 31 else 1), False, 1
    return d.of(16, 32, 64, 128, 256), d.of(16, 32, 64, 128, 256), d.of(8, 16, 28, 32, 48), 3, d.of(1, 1, 2), 1, 1, False, 3


def model_layer(d):
    for _ in range(100):
        c, k, side, f, stride, pad, groups, transposed, dims = model_convolution(d)
        dtype = d.of(BF, BF, BF, HALF, HALF, FP32, FP32, FP32)
        n = d.of(1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 32, 32, 64, 64, 128, 256)
        out = (side - 1) * stride - 2 * pad + f if transposed else (side + 2 * pad - f) // stride + 1
        flops = 2.0 * n * (side if transposed else out) ** dims * c * k // groups * f ** dims
        if out < 1 or flops > (2e11 if dtype == FP32 or groups > 1 else 8e11) or n * max(c * side ** dims, k * out ** dims) > 3e8:
            continue
        form = {1: torch.contiguous_format, 2: torch.channels_last, 3: torch.channels_last_3d}[dims] if d.yes() else torch.contiguous_format
        x = make([n, c] + [side] * dims, dtype).contiguous(memory_format=form)
        w = make([c, k // groups] + [f] * dims if transposed else [k, c // groups] + [f] * dims, dtype).contiguous(memory_format=form)
        bias = make((k,), dtype) if d.yes(0.4) else None
        return x, w, bias, [stride] * dims, [pad] * dims, [1] * dims, transposed, [0] * dims, groups, dtype == FP32 and d.yes(0.85)
    raise Skip("large")


def p_model_convolution(d):
    x, w, bias, *more, tf32 = model_layer(d)
    return lambda: aten.convolution(x, w, bias, *more), tf32


def p_model_convolution_backward(d):
    x, w, bias, *more, tf32 = model_layer(d)
    g = torch.randn_like(aten.convolution(x, w, None, *more))
    first = x.shape[1] <= 4
    mask = [not first and not d.yes(0.12), True, bias is not None] if not d.yes(0.12) else [True, False, bias is not None]
    sizes = list(bias.shape) if bias is not None else [0]
    return lambda: aten.convolution_backward(g, x, w, sizes, *more, mask), tf32


def p_model_norm(d):
    kind = d.of("batch", "batch", "batch", "group", "group", "layer", "layer", "rms")
    dtype, back = d.of(BF, BF, HALF, FP32, FP32), d.yes()
    if kind in ("layer", "rms"):
        count = d.of(1, 2, 4, 8, 16, 32, 64) * d.of(1, 77, 128, 197, 256, 512, 1024, 1500, 2048, 4096)
        width = d.of(384, 512, 768, 1024, 1280, 1536, 2048, 3072, 4096, 5120, 8192)
        if count * width > 3e8:
            raise Skip("large")
        return (rms_norm if kind == "rms" else layer_norm)(make((count, width), dtype), back)
    n, c, side = d.of(1, 2, 4, 8, 16, 32, 64, 128, 256), usual_width(d), d.of(*SIDES)
    if n * c * side * side > 2e8:
        raise Skip("large")
    x = make((n, c, side, side), dtype)
    x = x.contiguous(memory_format=torch.channels_last) if d.yes() else x
    if kind == "group":
        return group_norm(x, d.of(1, 8, 16, 32, 32, 32, 32), back)
    return batch_norm(x, d.of("cudnn_backward", "backward") if back else d.of("op_train", "op_train", "op"))


def p_model_attention(d):
    for _ in range(50):
        b, h, e = d.of(1, 2, 4, 8, 16, 32, 64), d.of(6, 8, 12, 12, 16, 16, 20, 24, 32, 32, 40), d.of(64, 64, 64, 80, 96, 128, 128)
        sk = d.of(64, 77, 128, 197, 256, 257, 384, 512, 577, 1024, 1024, 1500, 2048, 2048, 4096, 8192)
        sq = d.of(*[sk] * 6, 1, 1, 64, 1024)
        group = d.of(1, 1, 1, 4, 8)
        if h % group or 4.0 * b * h * sq * sk * e > 1.5e12 or b * h * max(sq, sk) * e > 3e8:
            continue
        causal = d.yes() and sq == sk
        q, k, v = heads(b, h, group, sq, sk, e, d.half(), apart=d.yes(0.3))
        kind = d.of("sdpa", "sdpa", flash, cudnn, flash_backward, flash_backward, cudnn_backward)
        if kind == "sdpa":
            return lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=group > 1)
        return kind(q, k, v, causal)
    raise Skip("large")


def p_model_product(d):
    """A layer's product, and the two of its backward."""
    dtype = d.of(BF, BF, BF, HALF, FP32)
    for _ in range(50):
        tokens = d.of(1, 2, 4, 8, 16, 32, 64) * d.of(1, 32, 64, 77, 128, 197, 256, 512, 1024, 2048, 4096)
        width = d.of(256, 384, 512, 640, 768, 1024, 1024, 1280, 1536, 2048, 2560, 3072, 4096, 4096, 5120, 8192)
        made = d.of(width, width, 3 * width, 4 * width, 4 * width, width // 4, int(2.75 * width), int(3.5 * width), 1000, 30522, 32000, 50257, 50304, 128256)
        if 2.0 * tokens * width * made > (2e11 if dtype == FP32 else 3e12):
            continue
        kind = d.of("forward", "linear", "linear", "input", "weight", "bias")
        tf32 = dtype == FP32 and d.yes(0.7)
        x, w, g = (lambda: make((tokens, width), dtype)), (lambda: make((made, width), dtype)), (lambda: make((tokens, made), dtype))
        if kind in ("forward", "linear", "bias"):
            a, b = x(), w()
            if kind == "forward":
                return lambda: torch.mm(a, b.t()), tf32
            bias = make((made,), dtype) if d.yes() or kind == "bias" else None
            if kind == "bias":
                return lambda: torch.addmm(bias, a, b.t()), tf32
            return lambda: F.linear(a, b, bias), tf32
        if kind == "input":
            a, b = g(), w()
            return lambda: torch.mm(a, b), tf32
        a, b = g(), x()
        return lambda: torch.mm(a.t(), b), tf32
    raise Skip("large")


def p_model_move(d):
    """What stands between the layers of a model."""
    kind = d.of("cat", "cat", "cat", "stack", "turn", "turn", "cast", "cast", "cast", "nll", "max", "average", "nearest", "embedding", "embedding", "embedding",
                "columns", "columns", "softmax", "clip")
    dtype = d.of(BF, BF, HALF, FP32)
    b, s, h, e = d.of(1, 2, 4, 8, 16, 32, 64), d.of(1, 77, 128, 197, 256, 512, 1024, 1500, 2048, 4096), d.of(1, 8, 12, 16, 32), d.of(64, 128)
    if b * s * h * e > 1e8:
        raise Skip("large")
    rows, width = b * s, d.of(256, 384, 512, 768, 1024, 1280, 2048, 2816, 3072, 4096, 14336, 32000, 50257)
    if kind == "cat":  # a cache and its new row, skips of a U-Net, rotary halves, heads: parts that differ
        how = d.of("cache", "cache", "channels", "channels", "halves", "rows", "last")
        if how == "cache":
            xs, dim = [make((b, h, s, e), dtype), make((b, h, d.of(1, 1, 1, 8, 64), e), dtype)], 2
        elif how == "channels":
            n, c, c2, side = d.of(1, 2, 4, 8, 16), usual_width(d), usual_width(d), d.of(*SIDES)
            if n * (c + c2) * side * side > 1e8:
                raise Skip("large")
            last = d.yes()
            xs, dim = [make((n, k, side, side), dtype) for k in (c, c2)], 1
            xs = [x.contiguous(memory_format=torch.channels_last) for x in xs] if last else xs
        elif how == "halves":
            x = make((b, h, s, e), dtype)
            xs, dim = [x[..., e // 2:], x[..., :e // 2]], -1
        elif how == "rows":
            xs, dim = [make((d.size(1, 4096), min(width, 4096)), dtype) for _ in range(d.of(2, 2, 3, 8, 26))], 0
        else:
            rows = min(rows, 65536)
            xs, dim = [make((rows, d.of(16, 64, 128, 100, 13, 256)), dtype) for _ in range(d.of(2, 3, 8, 27))], 1
        return lambda: torch.cat(xs, dim), False, {"item": str(dtype)}
    if kind == "stack":
        xs = [make((b, s, h * e), dtype) for _ in range(d.of(2, 3, 4))]
        dim = d.of(0, 1, -1)
        return lambda: torch.stack(xs, dim), False, {"item": str(dtype)}
    if kind == "turn":
        x = make((b, s, h, e), dtype).transpose(1, 2) if d.yes() else make((b, h, s, e), dtype).transpose(1, 2)
        if d.yes(0.3):
            n, c, side = d.of(1, 2, 4, 8, 16, 32), usual_width(d), d.of(*SIDES)
            if n * c * side * side > 1e8:
                raise Skip("large")
            x = make((n, c, side, side), dtype).contiguous(memory_format=torch.channels_last)
            if d.yes(0.3):
                y = x.contiguous()
                return lambda: aten.clone(y, memory_format=torch.channels_last)
        return lambda: aten.clone(x, memory_format=torch.contiguous_format)
    if rows * width > 2.5e8:
        raise Skip("large")
    if kind == "cast":
        x, other = make((rows, width), dtype), FP32 if dtype != FP32 else d.half()
        return lambda: aten._to_copy(x, dtype=other)
    if kind == "columns":
        x = make((rows, width), dtype)
        return lambda: torch.sum(x, [0], True)
    if kind == "softmax":
        x = make((rows, width), FP32)
        g = torch.randn_like(x)
        return d.of(lambda: aten._log_softmax(x, 1, False), lambda: aten._log_softmax_backward_data(g, x, 1, FP32))
    if kind == "clip":
        xs = [make((d.size(64, 4e6),), FP32) for _ in range(d.of(8, 30, 100))]
        return lambda: torch._foreach_norm(xs), False, {"sizes": [x.numel() for x in xs], "item": str(FP32)}
    if kind == "nll":
        x, t = make((rows, width), FP32), make((rows,), torch.int64, width)
        _, weight = aten.nll_loss_forward(x, t, None, 1, -100)
        g = torch.ones((), device=DEVICE)
        return lambda: aten.nll_loss_backward(g, x, t, None, 1, -100, weight)
    if kind == "embedding":
        table_rows, width, picks = d.of(1000, 10000, 32000, 50257, 100000, 128256, 1000000), d.of(16, 32, 64, 128, 384, 768, 1024, 4096), min(rows * d.of(1, 1, 26), 500000)
        if table_rows * width > 5e8 or picks * width > 1.5e8:
            raise Skip("large")
        ids = make((picks,), torch.int64, table_rows)
        if d.yes(0.35):
            table = make((table_rows, width), dtype)
            return lambda: F.embedding(ids, table)
        g = make((picks, width), dtype)
        return lambda: aten.embedding_dense_backward(g, ids, table_rows, -1, False)
    n, c, side = d.of(1, 2, 4, 8, 16, 32, 64), usual_width(d), d.of(7, 8, 14, 16, 28, 32, 56, 64, 112, 128)
    if n * c * side * side > 6e7:
        raise Skip("large")
    x = make((n, c, side, side), dtype)
    x = x.contiguous(memory_format=torch.channels_last) if d.yes() else x
    if kind == "max":
        k, s, p = d.of((3, 2, 1), (2, 2, 0))
        if d.yes(0.6):
            return lambda: F.max_pool2d(x, k, s, p)
        o, ids = aten.max_pool2d_with_indices(x, [k, k], [s, s], [p, p], [1, 1], False)
        g = torch.randn_like(o)
        return lambda: aten.max_pool2d_with_indices_backward(g, x, [k, k], [s, s], [p, p], [1, 1], False, ids)
    if kind == "average":
        if d.yes(0.6):
            return lambda: F.adaptive_avg_pool2d(x, 1)
        g = make((n, c, 1, 1), dtype)
        return lambda: aten._adaptive_avg_pool2d_backward(g, x)
    if d.yes(0.6):
        return lambda: aten.upsample_nearest2d(x, [2 * side, 2 * side])
    g = make((n, c, 2 * side, 2 * side), dtype).contiguous(memory_format=torch.channels_last if d.yes() else torch.contiguous_format)
    return lambda: aten.upsample_nearest2d_backward(g, [2 * side, 2 * side], [n, c, side, side])
