"""Small programs by which what recording costs is priced: each dwells on one sort of host work. Read for calibration."""
import torch, torch.nn as nn, torch.nn.functional as F

D = "cuda"
ALL = ["plain", "shapes", "memory", "stack", "shapes_stack", "modules"]


def options(index):
    return ALL


def pointwise():
    x = torch.randn(1000, device=D)
    def step():
        y = x
        for _ in range(100):
            y = y + 1.0
    return step


def ternary():
    x, y, z = (torch.randn(1000, device=D) for _ in range(3))
    def step():
        for _ in range(100):
            torch.addcmul(x, y, z)
    return step


def products():
    ws = [torch.randn(64, 64, device=D) for _ in range(80)]
    x = torch.randn(64, 64, device=D)
    def step():
        y = x
        for w in ws:
            y = y @ w
    return step


def lists():
    xs = [torch.randn(100, device=D) for _ in range(60)]
    def step():
        for _ in range(20):
            torch.cat(xs)
            torch._foreach_add(xs, 1.0)
    return step


def views():
    x = torch.randn(64, 64, device=D)
    def step():
        for _ in range(60):
            x.view(8, 8, 64).transpose(0, 1).unsqueeze(0)[0, :, 1].expand(8, 64)
        x + 1
    return step


def modules():
    m = nn.Sequential(*[nn.Sequential(nn.Linear(64, 64), nn.LayerNorm(64), nn.ReLU()) for _ in range(20)]).to(D)
    x = torch.randn(8, 64, device=D)
    def step():
        with torch.no_grad():
            m(x)
    return step


def training():
    m = nn.Sequential(*[l for _ in range(12) for l in (nn.Linear(64, 64), nn.ReLU())]).to(D)
    o = torch.optim.SGD(m.parameters(), lr=1e-3)
    x, y = torch.randn(8, 64, device=D), torch.randn(8, 64, device=D)
    def step():
        o.zero_grad()
        F.mse_loss(m(x), y).backward()
        o.step()
    return step


def adam_loop():
    ps = [nn.Parameter(torch.randn(50, device=D)) for _ in range(40)]
    for p in ps:
        p.grad = torch.randn_like(p)
    o = torch.optim.Adam(ps, foreach=False)
    return lambda: o.step()


def compiled(kernels):
    def make():
        def f(x, ys):
            for y in ys:
                x = (x.softmax(-1) + y).sum(0, keepdim=True) * y
            return x
        g = torch.compile(f)
        x, ys = torch.randn(128, 256, device=D), [torch.randn(128, 256, device=D) for _ in range(kernels)]
        return lambda: g(x, ys)
    return make


def compiled_training():
    m = nn.Sequential(*[l for _ in range(4) for l in (nn.Linear(128, 128), nn.GELU(), nn.LayerNorm(128))]).to(D)
    f = torch.compile(m)
    x = torch.randn(32, 128, device=D)
    def step():
        m.zero_grad()
        f(x).sum().backward()
    return step


def many_regions():
    @torch.compile
    def f(x):
        return torch.sin(x) * 2
    x = torch.randn(1000, device=D)
    def step():
        for _ in range(20):
            f(x)
    return step


def replayed():
    m = nn.Sequential(*[nn.Linear(256, 256) for _ in range(60)]).to(D).eval()
    x = torch.randn(64, 256, device=D)
    with torch.no_grad():
        s = torch.cuda.Stream()
        with torch.cuda.stream(s):
            for _ in range(3):
                m(x)
        torch.cuda.synchronize()
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            m(x)
    def step():
        for _ in range(3):
            g.replay()
    return step


def annotated():
    x = torch.randn(1000, device=D)
    def step():
        for i in range(60):
            with torch.profiler.record_function("part"):
                x + 1
    return step


def frames():
    x = torch.randn(1000, device=D)
    def deep(n):
        return x if n == 0 else deep(n - 1)
    def step():
        for _ in range(40):
            deep(10)
            [float(v) for v in ("1", "2", "3")]
            x + 1
    return step


def copies():
    h = torch.randn(1000)
    p = torch.randn(1000).pin_memory()
    d = torch.randn(1000, device=D)
    def step():
        for _ in range(20):
            h.to(D)
            p.to(D, non_blocking=True)
            d.copy_(p)
    return step


def items():
    x = torch.randn(1000, device=D)
    def step():
        for _ in range(30):
            (x + 1).sum().item()
    return step


def allocations():
    def step():
        for _ in range(60):
            torch.empty(1000, device=D)
            torch.empty(1000)
    return step


def streams():
    a, b = torch.cuda.Stream(), torch.cuda.Stream()
    x = torch.randn(1000, device=D)
    def step():
        for _ in range(20):
            with torch.cuda.stream(a):
                x + 1
            b.wait_stream(a)
            with torch.cuda.stream(b):
                x + 2
            torch.cuda.current_stream().wait_stream(b)
    return step


def busy():
    a = torch.randn(4096, 4096, device=D, dtype=torch.bfloat16)
    def step():
        for _ in range(20):
            a @ a
    return step


PROGRAMS = dict(pointwise=pointwise, ternary=ternary, products=products, lists=lists, views=views, modules=modules, training=training,
                adam_loop=adam_loop, compiled1=compiled(1), compiled8=compiled(8), compiled24=compiled(24), compiled_training=compiled_training,
                many_regions=many_regions, replayed=replayed, annotated=annotated, frames=frames, copies=copies, items=items,
                allocations=allocations, streams=streams, busy=busy)
