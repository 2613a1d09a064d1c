"""Programs that no rule was read from: pairs with one fault and without it, and healthy ones. Only scored."""
import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F

D = "cuda"
BF = torch.bfloat16
OTHER = ["plain", "stack", "memory", "shapes_stack"]


def options(index):
    return ["shapes", OTHER[index % len(OTHER)]]


def no_grad(f):
    def step():
        with torch.no_grad():
            f()
    return step


class Block(nn.Module):
    def __init__(s, d, h, manual=False):
        super().__init__()
        s.h, s.manual = h, manual
        s.n1, s.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        s.qkv, s.o, s.a, s.b = nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(s, x):
        b, t, d = x.shape
        q, k, v = s.qkv(s.n1(x)).view(b, t, 3, s.h, d // s.h).permute(2, 0, 3, 1, 4)
        if s.manual:
            y = ((q @ k.transpose(-1, -2)) * (d // s.h) ** -0.5).softmax(-1) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v)
        x = x + s.o(y.transpose(1, 2).reshape(b, t, d))
        return x + s.b(F.gelu(s.a(s.n2(x))))


def gated(compiled):
    def make():
        xs = [torch.randn(2048, 6144, device=D, dtype=BF) for _ in range(3)]
        def f(a, b, c):
            g = torch.sigmoid(a * 1.5 + b) * torch.tanh(c)
            return (g * a + (1 - g) * b).clamp(-3, 3) * c.abs().sqrt()
        g = torch.compile(f) if compiled else f
        return no_grad(lambda: g(*xs))
    return make


def attention(manual):
    def make():
        m = nn.Sequential(*[Block(768, 12, manual) for _ in range(4)]).to(D, BF)
        x = torch.randn(8, 1024, 768, device=D, dtype=BF)
        def step():
            m.zero_grad()
            m(x).sum().backward()
        return step
    return make


def tf32(on):
    def make():
        m = nn.Sequential(nn.Linear(2048, 8192), nn.ReLU(), nn.Linear(8192, 2048)).to(D)
        x = torch.randn(4096, 2048, device=D)
        def step():
            torch.backends.cuda.matmul.allow_tf32 = on
            m.zero_grad()
            m(x).square().mean().backward()
        return step
    return make


def vocabulary(size):
    def make():
        w = nn.Parameter(torch.randn(size, 1024, device=D, dtype=BF) * 0.02)
        m = nn.Linear(1024, 1024).to(D, BF)
        x = torch.randn(4096, 1024, device=D, dtype=BF)
        y = torch.randint(0, 50257, (4096,), device=D)
        def step():
            w.grad = None
            m.zero_grad()
            F.cross_entropy(F.linear(m(x), w), y).backward()
        return step
    return make


def metrics(sync):
    def make():
        m = nn.Sequential(*[l for _ in range(6) for l in (nn.Linear(2048, 2048), nn.ReLU())]).to(D, BF)
        o = torch.optim.SGD(m.parameters(), lr=1e-4)
        x = torch.randn(2048, 2048, device=D, dtype=BF)
        seen = []
        def step():
            o.zero_grad()
            y = x
            for l in m:
                y = l(y)
                if sync and isinstance(l, nn.ReLU):
                    seen.append(y.mean().item())
                elif isinstance(l, nn.ReLU):
                    seen.append(y.mean())
            y.square().mean().backward()
            o.step()
            seen.clear()
        return step
    return make


def clip(loop):
    def make():
        m = nn.Sequential(*[l for _ in range(16) for l in (nn.Linear(512, 512), nn.GELU())]).to(D)
        o = torch.optim.AdamW(m.parameters(), foreach=False) if loop else torch.optim.AdamW(m.parameters(), fused=True)
        x = torch.randn(256, 512, device=D)
        def step():
            o.zero_grad()
            m(x).square().mean().backward()
            o.step()
        return step
    return make


def small_batch(graphs):
    def make():
        m = nn.Sequential(*[Block(256, 4) for _ in range(6)]).to(D, BF).eval()
        f = torch.compile(m, mode="reduce-overhead") if graphs else m
        x = torch.randn(1, 64, 256, device=D, dtype=BF)
        return no_grad(lambda: f(x))
    return make


class Images(torch.utils.data.Dataset):
    def __len__(s):
        return 100000
    def __getitem__(s, i):
        a = np.random.default_rng(i).standard_normal((3, 64, 64), dtype=np.float32)
        return torch.from_numpy((a - a.mean()) / (a.std() + 1e-5)), i % 10


def loader(workers):
    def make():
        data = torch.utils.data.DataLoader(Images(), batch_size=64, num_workers=workers, persistent_workers=workers > 0, prefetch_factor=4 if workers else None,
                                           pin_memory=workers > 0)
        m = nn.Sequential(nn.Conv2d(3, 64, 3, 2, 1), nn.ReLU(), nn.Conv2d(64, 128, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10)).to(D)
        o = torch.optim.SGD(m.parameters(), lr=1e-3)
        state = iter(data)
        def step():
            x, y = next(state)
            o.zero_grad()
            F.cross_entropy(m(x.to(D, non_blocking=True)), y.to(D, non_blocking=True)).backward()
            o.step()
        return step
    return make


def upload(pinned):
    def make():
        m = nn.Sequential(nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 4096)).to(D, BF)
        x = torch.randn(4096, 4096, dtype=BF)
        x = x.pin_memory() if pinned else x
        def step():
            with torch.no_grad():
                m(x.to(D, non_blocking=pinned))
        return step
    return make


def weights(once):
    def make():
        ws = [torch.randn(1536, 1536, device=D) * 0.02 for _ in range(12)]
        halves = [w.to(BF) for w in ws]
        x = torch.randn(512, 1536, device=D, dtype=BF)
        def f():
            y = x
            for w, h in zip(ws, halves):
                y = F.relu(y @ (h if once else w.to(BF)))
        return no_grad(f)
    return make


def broken(breaks):
    def make():
        m = nn.ModuleList([nn.Linear(512, 512) for _ in range(10)]).to(D)
        def f(x):
            for l in m:
                x = F.layer_norm(F.gelu(l(x)), (512,))
                if breaks:
                    torch._dynamo.graph_break()
            return x
        g = torch.compile(f)
        x = torch.randn(128, 512, device=D)
        return no_grad(lambda: g(x))
    return make


def layout(last):
    def make():
        fmt = torch.channels_last if last else torch.contiguous_format
        m = nn.Sequential(*[l for i in range(5) for l in (nn.Conv2d(128, 128, 3, padding=1, bias=False), nn.BatchNorm2d(128), nn.ReLU())]).to(D, memory_format=fmt)
        x = torch.randn(32, 128, 56, 56, device=D).to(memory_format=fmt)
        def step():
            m.zero_grad()
            with torch.autocast("cuda", dtype=BF):
                m(x).float().mean().backward()
        return step
    return make


def emptied(each):
    def make():
        m = nn.Sequential(*[l for _ in range(4) for l in (nn.Linear(4096, 4096), nn.ReLU())]).to(D, BF)
        x = torch.randn(2048, 4096, device=D, dtype=BF)
        def step():
            m.zero_grad()
            m(x).sum().backward()
            if each:
                torch.cuda.empty_cache()
        return step
    return make


def tokenised(inside):
    def make():
        m = nn.Sequential(nn.Embedding(5000, 512), *[Block(512, 8) for _ in range(4)]).to(D, BF)
        text = ("the quick brown fox jumps over the lazy dog " * 200).split()
        def encode():
            return torch.tensor([hash(w) % 5000 for w in text[:1024]] * 4, dtype=torch.long).view(8, 512)
        ready = encode().to(D)
        return no_grad(lambda: m(encode().to(D) if inside else ready))
    return make


def padded(strided):
    def make():
        x = torch.randn(8192, 4096, device=D)
        y = x.t() if strided else x.t().contiguous()
        def f():
            for _ in range(4):
                F.softmax(y, -1)
        return no_grad(f)
    return make


def norm_by_hand(hand):
    def make():
        ps = [nn.Parameter(torch.randn(256, 256, device=D)) for _ in range(120)]
        for p in ps:
            p.grad = torch.randn_like(p)
        def step():
            if hand:
                total = torch.stack([p.grad.norm() for p in ps]).norm()
                scale = (1.0 / (total + 1e-6)).clamp(max=1.0)
                for p in ps:
                    p.grad.mul_(scale)
            else:
                nn.utils.clip_grad_norm_(ps, 1.0, foreach=True)
        return step
    return make


def stacked(graphs):
    def make():
        m = nn.Sequential(*[l for _ in range(10) for l in (nn.Linear(384, 384), nn.SiLU(), nn.LayerNorm(384))]).to(D)
        x = torch.randn(32, 384, device=D)
        if not graphs:
            return no_grad(lambda: m(x))
        with torch.no_grad():
            s = torch.cuda.Stream()
            with torch.cuda.stream(s):
                for _ in range(3):
                    m(x)
            torch.cuda.synchronize()
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):
                m(x)
        return lambda: g.replay()
    return make


def transformer_training(compiled):
    def make():
        m = nn.Sequential(*[Block(1024, 16) for _ in range(6)]).to(D)
        f = torch.compile(m) if compiled else m
        o = torch.optim.AdamW(m.parameters(), fused=True)
        x = torch.randn(8, 512, 1024, device=D)
        def step():
            o.zero_grad()
            with torch.autocast("cuda", dtype=BF):
                f(x).float().square().mean().backward()
            o.step()
        return step
    return make


def big_products():
    a = torch.randn(8192, 8192, device=D, dtype=BF)
    def f():
        y = a
        for _ in range(6):
            y = F.gelu(y @ a)
    return no_grad(f)


def lstm():
    m = nn.LSTM(256, 512, 2, batch_first=True).to(D)
    x = torch.randn(32, 100, 256, device=D)
    def step():
        m.zero_grad()
        m(x)[0].sum().backward()
    return step


def decode():
    m = nn.ModuleList([Block(1024, 16) for _ in range(8)]).to(D, BF).eval()
    x = torch.randn(16, 1, 1024, device=D, dtype=BF)
    def f():
        y = x
        for b in m:
            y = b(y)
        y[:, -1].argmax(-1)
    return no_grad(f)


def pair(maker, fault, mended):
    return {"fault": maker(fault), "mended": maker(mended)}


PROGRAMS = dict(
    gated=pair(gated, False, True), attention=pair(attention, True, False), tf32=pair(tf32, False, True), vocabulary=pair(vocabulary, 50257, 50304),
    metrics=pair(metrics, True, False), clip=pair(clip, True, False), small_batch=pair(small_batch, False, True), loader=pair(loader, 0, 8),
    upload=pair(upload, False, True), weights=pair(weights, False, True), broken=pair(broken, True, False), layout=pair(layout, False, True),
    emptied=pair(emptied, True, False), tokenised=pair(tokenised, True, False), padded=pair(padded, True, False), norm_by_hand=pair(norm_by_hand, True, False),
    stacked=pair(stacked, False, True), transformer_training=pair(transformer_training, False, True),
    big_products=big_products, lstm=lstm, decode=decode)
