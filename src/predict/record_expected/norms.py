# ---- Norms and softmax, forward and backward ---------------------------------------------------------------------------------------

def rows(d, dtype, wide=65536):
    n = d.elements(512, 1.5e8)
    width = d.size(16, wide) if d.yes(0.6) else d.of(64, 128, 256, 512, 768, 1024, 2048, 4096, 8192)
    return make((max(1, int(n / width)), width), dtype)


def layer_norm(x, backward, affine=True):
    width = x.shape[1]
    w, b = (make((width,), x.dtype), make((width,), x.dtype)) if affine else (None, None)
    if not backward:
        return lambda: aten.native_layer_norm(x, [width], w, b, 1e-5)
    _, mean, rstd = aten.native_layer_norm(x, [width], w, b, 1e-5)
    g = torch.randn_like(x)
    return lambda: aten.native_layer_norm_backward(g, x, [width], mean, rstd, w, b, [True, True, True])


def rms_norm(x, backward):
    width = x.shape[1]
    w = make((width,), x.dtype)
    if not backward:
        return lambda: aten._fused_rms_norm(x, [width], w, 1e-5)
    _, rstd = aten._fused_rms_norm(x, [width], w, 1e-5)
    g = torch.randn_like(x)
    return lambda: aten._fused_rms_norm_backward(g, x, [width], rstd, w, [True, True])


def group_norm(x, group, backward, by_name=False):
    n, c, h, _ = x.shape
    if c % group:
        raise Skip("groups")
    if backward or c == 1 or h == 1:  # layouts that cannot be told apart are refused
        x = make((n, c, h, h), x.dtype)
    w, b = make((c,), x.dtype), make((c,), x.dtype)
    if by_name and not backward:
        return lambda: F.group_norm(x, group, w, b)
    if not backward:
        return lambda: aten.native_group_norm(x, w, b, n, c, h * h, group, 1e-5)
    _, mean, rstd = aten.native_group_norm(x, w, b, n, c, h * h, group, 1e-5)
    g = torch.randn_like(x)
    return lambda: aten.native_group_norm_backward(g, x, mean, rstd, w, n, c, h * h, group, [True, True, True])


def batch_norm(x, kind):
    """kind: "train", "eval" (ATen's kernels), "op", "op_train" (the op chooses), "cudnn", "backward", "cudnn_backward"."""
    c = x.shape[1]
    w, b, mean, var = (torch.ones(c, device=DEVICE) for _ in range(4))
    if x.dtype == BF:  # cuDNN's takes weights of another type beside half precision alone
        kind = {"cudnn": "train", "cudnn_backward": "backward"}.get(kind, kind)
    if kind.startswith("op"):
        return lambda: F.batch_norm(x, mean, var, w, b, kind == "op_train")
    if kind in ("train", "eval"):
        return lambda: aten.native_batch_norm(x, w, b, mean, var, kind == "train", 0.1, 1e-5)
    if kind == "cudnn":
        return lambda: aten.cudnn_batch_norm(x, w, b, mean, var, True, 0.1, 1e-5)
    g = torch.randn_like(x)
    if kind == "cudnn_backward":
        _, m, v, reserve = aten.cudnn_batch_norm(x, w, b, mean, var, True, 0.1, 1e-5)
        return lambda: aten.cudnn_batch_norm_backward(x, g, w, mean, var, m, v, 1e-5, reserve)
    _, m, v = aten.native_batch_norm(x, w, b, mean, var, True, 0.1, 1e-5)
    return lambda: aten.native_batch_norm_backward(g, x, w, mean, var, m, v, True, 1e-5, [True, True, True])


def p_layer_norm(d):
    x, affine = rows(d, d.float(), 16384), d.yes(0.85)
    if d.yes():
        return layer_norm(x, False, affine)
    w, b = (make(x.shape[1:], x.dtype), make(x.shape[1:], x.dtype)) if affine else (None, None)
    return lambda: F.layer_norm(x, [x.shape[1]], w, b)


def p_layer_norm_backward(d):
    return layer_norm(rows(d, d.float(), 16384), True)


def p_rms_norm(d):
    return rms_norm(rows(d, d.float(), 16384), not d.yes(0.6))


def images(d, dtype, high=1.2e8):
    n = d.elements(4096, high)
    c = d.size(1, 2048)
    side = d.size(1, 256)
    x = make((max(1, int(n / (c * side * side))), c, side, side), dtype)
    if x.numel() > 3e8:
        raise Skip("large")
    return x.contiguous(memory_format=torch.channels_last) if d.yes(0.4) else x


def p_group_norm(d):
    return group_norm(images(d, d.float()), d.of(1, 8, 16, 32, 32), not d.yes(0.6), d.yes())


def p_batch_norm(d):
    return batch_norm(images(d, d.float()), d.of("train", "eval", "cudnn", "backward", "cudnn_backward", "op", "op_train"))


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
