# ---- Reductions, elementwise ops, copies -----------------------------------------------------------------------------------------

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
