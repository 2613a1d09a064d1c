# ---- Convolutions and their backward --------------------------------------------------------------------------------------------

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
