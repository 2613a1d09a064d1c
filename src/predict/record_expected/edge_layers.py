# ---- Layers at the edges of networks: of few channels, over volumes, of factors and rows that lie anyhow ----------------------------

def few_channels(d):
    """(batch, channels, channels made, sides, windows, strides, paddings) of the first layers of a network, and of its last."""
    few, many, n = d.of(1, 1, 2, 3, 3, 3, 3, 4, 4, 6, 8, 9, 12), d.of(8, 16, 24, 32, 32, 40, 48, 48, 64, 64, 64, 96, 96, 128, 192, 256, 640), d.of(1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 64, 96, 128, 256, 512)
    dims = d.of(1, 2, 2, 2, 2, 2, 2, 3)
    c, k = (few, many) if d.yes(0.7) else (many, few)
    if dims == 1:
        f, s = d.of((3, 1), (7, 1), (7, 1), (10, 5), (11, 1), (15, 1), (16, 8), (8, 4), (25, 4))
        return n, c, k, [d.of(2000, 4000, 8000, 16000, 30720, 40000, 65536)], [f], [s], [d.of(0, f // 2)]
    if dims == 3:
        f, p = d.of(([3, 3, 3], [1, 1, 1]), ([3, 3, 3], [1, 1, 1]), ([1, 3, 3], [0, 1, 1]), ([3, 7, 7], [1, 3, 3]), ([2, 4, 4], [0, 0, 0]), ([1, 1, 1], [0, 0, 0]), ([5, 5, 5], [2, 2, 2]))
        side = d.of(32, 48, 64, 64, 80, 96, 112, 128)
        return min(n, 16), c, k, [d.of(4, 8, 12, 16, 32, side, side), side, side], f, d.of([1, 1, 1], [1, 1, 1], [1, 2, 2], [2, 2, 2]) if f != [2, 4, 4] else f, p
    f, s, p = d.of((3, 1, 1), (3, 1, 1), (3, 1, 1), (3, 2, 1), (3, 2, 1), (7, 2, 3), (7, 2, 3), (7, 1, 3), (5, 1, 2), (4, 2, 1), (4, 4, 0), (8, 8, 0), (14, 14, 0), (16, 16, 0), (32, 32, 0), (1, 1, 0))
    side = d.of(32, 32, 40, 64, 64, 80, 96, 128, 160, 160, 192, 192, 224, 224, 256, 320, 384, 512)
    return n, c, k, [side, d.of(side, side, side, side // 2)], [f, f], [s, s], [p, p]


def edge_layer(d):
    for _ in range(300):
        n, c, k, sides, f, s, p = few_channels(d)
        if d.yes(0.2):  # of middling width over large images
            c, k = d.of(16, 24, 32, 48, 48, 64, 96), d.of(16, 24, 32, 48, 48, 64, 96)
        up = d.yes(0.1) and len(f) < 3
        dtype = d.of(BF, BF, BF, HALF, HALF, HALF, FP32)
        out = [(side - 1) * t - 2 * q + w if up else (side + 2 * q - w) // t + 1 for side, w, t, q in zip(sides, f, s, p)]
        flops = 2.0 * n * math.prod(sides if up else out) * c * k * math.prod(f)
        if min(out) < 1 or flops > 4e11 or n * max(c * math.prod(sides), k * math.prod(out)) > 2e8 or n * max(c * math.prod(sides), k * math.prod(out)) < 4e5:
            continue
        form = {3: torch.channels_last_3d, 2: torch.channels_last}.get(len(f)) if d.yes(0.55) else None
        x = make([n, c] + sides, dtype)
        w = make(([c, k] if up else [k, c]) + f, dtype)
        if form:
            x, w = x.contiguous(memory_format=form), w.contiguous(memory_format=form)
        bias = make((k,), dtype) if d.yes(0.5) else None
        return x, w, bias, s, p, [1] * len(f), up, [0] * len(f), 1, dtype == FP32 and d.yes(0.85)
    raise Skip("large")


def p_edge_convolution(d):
    x, w, bias, *more, tf32 = edge_layer(d)
    return lambda: aten.convolution(x, w, bias, *more), tf32


def p_edge_convolution_backward(d):
    x, w, bias, *more, tf32 = edge_layer(d)
    g = torch.randn_like(aten.convolution(x, w, None, *more))
    mask = [x.shape[1] > 4, True, bias is not None]
    return lambda: aten.convolution_backward(g, x, w, list(bias.shape) if bias is not None else [0], *more, mask), tf32


def p_edge_norm(d):
    """Norms of volumes in either layout, of large batches, and of very many short rows with and without gradients of weights."""
    dtype = d.of(BF, BF, HALF, FP32)
    if d.yes(0.35):
        width = d.of(32, 48, 64, 96, 128, 192, 256, 320, 384)
        x = make((d.of(16384, 32768, 49152, 65536, 76800, 131072, 196608, 262144), width), dtype)
        if x.numel() > 1e8:
            raise Skip("large")
        w, b = make((width,), dtype), make((width,), dtype)
        _, mean, rstd = aten.native_layer_norm(x, [width], w, b, 1e-5)
        g, mask = torch.randn_like(x), d.of([True, True, True], [True, True, True], [True, False, False])
        return lambda: aten.native_layer_norm_backward(g, x, [width], mean, rstd, w, b, mask)
    volume = d.yes()
    side, n, c = d.of(8, 14, 16, 20, 28, 32, 40, 56, 64, 80, 96), d.of(2, 4, 6, 8, 16, 24, 64, 128, 256), d.of(16, 24, 32, 48, 64, 96, 128, 192, 256, 384)
    shape = [n, c] + ([d.of(4, 8, 12, 16, 32)] if volume else []) + [side, side]
    if not 1e6 < math.prod(shape) < 1.5e8:
        raise Skip("size")
    x = make(shape, dtype)
    if d.yes(0.75):
        x = x.contiguous(memory_format=torch.channels_last_3d if volume else torch.channels_last)
    return batch_norm(x, d.of("train", "train", "backward", "backward", "eval", "cudnn", "cudnn", "cudnn_backward", "cudnn_backward"))


def p_edge_product(d):
    """Products of factors that a turn of heads or channels has left, and of very many rows by narrow weights."""
    dtype = d.of(BF, BF, HALF, FP32)
    tf32 = dtype == FP32 and d.yes(0.7)
    if d.yes(0.5):
        m, k, n = d.of(16384, 32768, 49152, 65536, 98304, 131072, 196608, 262144), d.of(48, 64, 96, 128, 160, 192, 256, 320, 384, 512), d.of(48, 64, 96, 128, 160, 192, 256, 320, 384, 512, 768)
        kind, x, w, g = d.of("mm", "addmm", "input", "weight"), make((m, k), dtype), make((n, k), dtype), None
        bias = make((n,), dtype)
        if kind in ("input", "weight"):
            g = make((m, n), dtype)
        return {"mm": lambda: torch.mm(x, w.t()), "addmm": lambda: torch.addmm(bias, x, w.t()), "input": lambda: torch.mm(g, w), "weight": lambda: torch.mm(g.t(), x)}[kind], tf32
    b, s, h, e = d.of(1, 1, 2, 4, 8, 16), d.of(64, 128, 192, 256, 320, 384, 512), d.of(8, 12, 16, 32, 64, 128, 192), d.of(32, 64, 64, 128)
    how = d.of("channels", "channels", "heads", "turned_heads", "dense", "scores", "scores")
    if how == "channels":  # [rows, columns, channels]: a product over a column for each channel
        x = make((s, s, 2 * h if d.yes() else h), dtype)
        left, right = x[..., :h].permute(2, 0, 1), x[..., -h:].permute(2, 1, 0)
        return d.of(lambda: torch.bmm(left, right), lambda: torch.bmm(left.transpose(1, 2), right)), tf32
    if b * h * s * max(s, e) > 1.5e8:
        raise Skip("large")
    q, k = make((b, s, h, e), dtype), make((b, s, h, e), dtype)
    q, k = q.transpose(1, 2).reshape(b * h, s, e) if how == "dense" else q.transpose(1, 2), k.transpose(1, 2)
    if how in ("dense", "scores"):
        q, k, p = make((b * h, s, e), dtype), make((b * h, s, e), dtype), make((b * h, s, s), dtype)
        return d.of(lambda: torch.bmm(q, k.transpose(1, 2)), lambda: torch.bmm(p, k), lambda: torch.bmm(p, k), lambda: torch.bmm(p.transpose(1, 2), k)), tf32
    q, k = q[0], k[0]
    return (lambda: torch.bmm(q, k.transpose(1, 2))) if how == "heads" else (lambda: torch.bmm(q.transpose(1, 2), k)), tf32


def p_edge_attention(d):
    """Attention within windows: very many short sequences."""
    dtype, n, h, s, e = d.half(), d.of(64, 128, 256, 512, 768, 1024, 1536, 1600, 2048, 4096), d.of(3, 4, 6, 8, 12, 16), d.of(16, 32, 48, 49, 49, 64, 64, 100, 128, 144, 196), d.of(32, 32, 32, 48, 64)
    if n * h * s * max(s, e) > 1.2e8:
        raise Skip("large")
    q, k, v = make((n, s, 3, h, e), dtype).permute(2, 0, 3, 1, 4).unbind(0)
    if d.yes(0.35):
        bias = make((n, h, s, (s + 7) // 8 * 8), dtype)[..., :s]
        return lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
    kind = d.of("sdpa", "flash", "flash_backward", "flash_backward", "cudnn", "cudnn_backward", "cudnn_backward")
    if kind == "sdpa":
        return lambda: F.scaled_dot_product_attention(q, k, v)
    if kind == "flash":
        return lambda: aten._scaled_dot_product_flash_attention(q, k, v)
    if kind == "cudnn":
        return lambda: aten._scaled_dot_product_cudnn_attention(q, k, v, None, True)
    f = aten._scaled_dot_product_flash_attention if kind == "flash_backward" else aten._scaled_dot_product_cudnn_attention
    o, lse, cq, ck, mq, mk, seed, offset = (f(q, k, v) if kind == "flash_backward" else f(q, k, v, None, True))[:8]
    g = torch.randn_like(o)
    if kind == "flash_backward":
        return lambda: aten._scaled_dot_product_flash_attention_backward(g, q, k, v, o, lse, cq, ck, mq, mk, 0.0, False, seed, offset)
    return lambda: aten._scaled_dot_product_cudnn_attention_backward(g, q, k, v, o, lse, seed, offset, None, cq, ck, mq, mk, 0.0, False)


def p_edge_move(d):
    """Short rows summed, caches that grow by a row, images rolled and enlarged, rows added by index, pairs of images that do not lie alike."""
    dtype = d.of(BF, HALF, FP32)
    kind = d.of("rows", "rows", "rows", "cache", "cache", "cache", "roll", "enlarge", "add_rows", "add_rows", "pick", "pair", "pair", "columns", "columns", "running")
    if kind == "rows":
        x = make((d.of(20000, 75000, 300000, 1000000, 1800000), d.of(4, 8, 16, 24, 32, 48, 64, 96, 128)), dtype)
        if x.numel() > 1.5e8:
            raise Skip("large")
        f = d.of(torch.sum, torch.mean, torch.amax)
        return lambda: f(x, -1)
    if kind == "columns":
        x = make((d.of(4096, 16384, 49152, 131072), d.of(48, 96, 128, 192, 384, 768, 1536)), dtype)
        return lambda: torch.sum(x, 0)
    if kind == "running":
        x = make((d.of(16, 256, 4096, 65536), d.of(16, 64, 256, 1024)), dtype)
        return lambda: torch.cumsum(x, -1)
    if kind == "cache":
        b, h, s, e = d.of(1, 2, 4, 8, 16, 32, 64), d.of(2, 4, 8, 16, 32), d.of(127, 256, 511, 512, 1024, 2047, 2048, 4096), d.of(64, 64, 96, 128)
        if b * h * s * e > 6e7:
            raise Skip("large")
        cache, new = make((b, h, s, e), dtype), make((b, d.of(1, 1, 1, 4), h, e), dtype).transpose(1, 2)
        if d.yes(0.25):
            cache = make((b, s, h, e), dtype).transpose(1, 2)
        return lambda: torch.cat([cache, new], 2), False, {"item": str(dtype)}
    n, side, c = d.of(4, 8, 16, 24, 32, 64), d.of(7, 14, 28, 32, 40, 56, 64, 80, 112), d.of(32, 64, 96, 128, 192, 256, 288, 384)
    if n * side * side * c > 8e7:
        raise Skip("large")
    if kind == "roll":
        x, by = make((n, side, side, c), dtype), d.of(1, 3, 4)
        return (lambda: torch.roll(x, (-by, -by), (1, 2))) if d.yes(0.7) else (lambda: torch.roll(x, by, d.of(1, 2)))
    if kind == "enlarge":
        x = make((n, c, side, side), dtype)
        x = x.contiguous(memory_format=torch.channels_last) if d.yes(0.7) else x
        return lambda: F.interpolate(x, scale_factor=2, mode="nearest")
    if kind in ("add_rows", "pick"):
        rows, picks, shape = d.of(2048, 16384, 40000, 100000), d.of(16384, 49152, 300000), d.of((64,), (128,), (384,), (6, 32), (8, 16))
        if picks * math.prod(shape) > 8e7:
            raise Skip("large")
        index = make((picks,), torch.int64, rows)
        x, y = make((rows,) + shape, FP32), make((picks,) + shape, FP32)
        return (lambda: torch.index_add(x, 0, index, y)) if kind == "add_rows" else (lambda: torch.index_select(x, 0, index))
    x, y = make((n, c, side, side), dtype), make((n, c, side, side), dtype).contiguous(memory_format=torch.channels_last)
    return d.of(lambda: torch.add(y, x), lambda: torch.mul(x, y), lambda: aten.silu_backward(y, x), lambda: aten.copy_(y, x))
