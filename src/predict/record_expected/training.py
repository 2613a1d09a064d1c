# ---- Optimizers, losses, pooling -------------------------------------------------------------------------------------------------

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
