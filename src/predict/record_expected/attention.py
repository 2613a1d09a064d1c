# ---- Attention: each library's kernels, forward and backward ----------------------------------------------------------------------

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
        q, k, v = heads(b, h, group, sq, sk, e, dtype, apart=d.of(True, True, False))
        return q, k, v, group > 1, d.yes() and sq == sk
    raise Skip("large")


def heads(b, h, group, sq, sk, e, dtype, apart):
    """Heads apart, or as a model has it: [b, s, h, e] turned."""
    def tensor(count, s):
        return make((b, count, s, e), dtype) if apart else make((b, s, count, e), dtype).transpose(1, 2)
    return tensor(h, sq), tensor(h // group, sk), tensor(h // group, sk)


def equal_heads(q, k, v):
    g = q.shape[1] // k.shape[1]
    return q, k.repeat_interleave(g, 1), v.repeat_interleave(g, 1)


def flash(q, k, v, causal):
    return lambda: aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal, False)


def flash_backward(q, k, v, causal):
    q, k, v = equal_heads(q, k, v)
    o, lse, cq, ck, mq, mk, seed, unused, _ = flash(q, k, v, causal)()
    g = torch.randn_like(o)
    return lambda: aten._scaled_dot_product_flash_attention_backward(g, q, k, v, o, lse, cq, ck, mq, mk, 0.0, causal, seed, unused)


def cudnn(q, k, v, causal, keep=False):
    return lambda: aten._scaled_dot_product_cudnn_attention(q, k, v, None, keep, 0.0, causal, False)


def cudnn_backward(q, k, v, causal):
    q, k, v = equal_heads(q, k, v)
    o, lse, cq, ck, mq, mk, seed, offset, _ = cudnn(q, k, v, causal, True)()
    g = torch.randn_like(o)
    return lambda: aten._scaled_dot_product_cudnn_attention_backward(g, q, k, v, o, lse, seed, offset, None, cq, ck, mq, mk, 0.0, causal)


def p_sdpa(d):
    """The op that a program calls: it chooses its kernels itself."""
    dtype = d.of(BF, BF, HALF, FP32)
    q, k, v, gqa, causal = attention_inputs(d, dtype, short=dtype == FP32)
    return lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=gqa)


def p_flash(d):
    q, k, v, _, causal = attention_inputs(d, d.half())
    return flash(q, k, v, causal)


def p_flash_backward(d):
    q, k, v, _, causal = attention_inputs(d, d.half())
    return flash_backward(q, k, v, causal)


def p_efficient(d):
    dtype = d.of(BF, HALF, FP32)
    q, k, v, _, causal = attention_inputs(d, dtype, short=dtype == FP32)
    q, k, v = equal_heads(q, k, v)
    bias = None
    if d.yes(0.25) and k.shape[2] % 8 == 0 and q.shape[0] * q.shape[1] * q.shape[2] * k.shape[2] < 5e8:
        bias = make((q.shape[0], q.shape[1], q.shape[2], k.shape[2]), dtype)
        causal = False
    return lambda: aten._scaled_dot_product_efficient_attention(q, k, v, bias, False, 0.0, causal)


def p_efficient_backward(d):
    dtype = d.of(BF, HALF, FP32)
    q, k, v, _, causal = attention_inputs(d, dtype, short=dtype == FP32)
    q, k, v = equal_heads(q, k, v)
    o, lse, seed, offset = aten._scaled_dot_product_efficient_attention(q, k, v, None, True, 0.0, causal)
    g = torch.randn_like(o)
    return lambda: aten._scaled_dot_product_efficient_attention_backward(g, q, k, v, None, o, lse, seed, offset, 0.0,
                                                                         [True, True, True, False], causal)


def p_cudnn_attention(d):
    q, k, v, _, causal = attention_inputs(d, d.half())
    return cudnn(q, k, v, causal)


def p_cudnn_attention_backward(d):
    q, k, v, _, causal = attention_inputs(d, d.half())
    return cudnn_backward(q, k, v, causal)
