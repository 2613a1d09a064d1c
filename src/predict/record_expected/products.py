# ---- Products: layers of models, decoding, and shapes of no kind ---------------------------------------------------------------

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
