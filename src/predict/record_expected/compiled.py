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
