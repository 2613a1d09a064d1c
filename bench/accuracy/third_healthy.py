"""Whole models as they are run when nothing is wrong: the healthy programs of third_programs.py.

What is mostly products, convolutions and attention runs eagerly; what has much between them is compiled. HEALTHY: {name: maker}. The three
named small_ are too small for the device: of them only the step without the profiler is asked.
"""
import os, sys
import torch, torch.nn as nn, torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from program_parts import BF, D, DRY, HALF, S, autocast, compiled, inference, last, replayed, training


def feed_forward(d, wide=None):
    return nn.Sequential(nn.LayerNorm(d), nn.Linear(d, wide or 4 * d), nn.GELU(), nn.Linear(wide or 4 * d, d))


class SelfAttention(nn.Module):
    def __init__(self, d, heads, causal=False, dropout=0.0):
        super().__init__()
        self.heads, self.causal, self.dropout = heads, causal, dropout
        self.norm, self.qkv, self.out = nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal, dropout_p=self.dropout if self.training else 0.0)
        return self.out(y.transpose(1, 2).reshape(b, t, d))


# Image classification: patches, a class token, learnt positions, blocks before their norms.
class Vision(nn.Module):
    def __init__(self, d, heads, layers, side, patch):
        super().__init__()
        self.patch = nn.Conv2d(3, d, patch, patch)
        self.token, self.position = nn.Parameter(torch.zeros(1, 1, d)), nn.Parameter(torch.randn(1, (side // patch) ** 2 + 1, d) * 0.02)
        self.attend = nn.ModuleList([SelfAttention(d, heads) for _ in range(layers)])
        self.feed = nn.ModuleList([feed_forward(d) for _ in range(layers)])
        self.head = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 1000))

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1).to(x.dtype), x], 1) + self.position
        for attend, feed in zip(self.attend, self.feed):
            x = x + attend(x)
            x = x + feed(x)
        return self.head(x[:, 0])


def vit_large_infer():
    m = Vision(S(1024, 16), S(16, 2), S(6, 1), S(224, 32), 16).to(D, BF).eval()
    return inference(m, torch.randn(S(96, 2), 3, S(224, 32), S(224, 32), device=D, dtype=BF))


# Convolutions per channel, norms and products over channels that lie last.
class Next(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.depth, self.norm, self.up, self.down = nn.Conv2d(c, c, 7, padding=3, groups=c), nn.LayerNorm(c), nn.Linear(c, 4 * c), nn.Linear(4 * c, c)

    def forward(self, x):
        y = self.norm(self.depth(x).permute(0, 2, 3, 1))
        return x + self.down(F.gelu(self.up(y))).permute(0, 3, 1, 2)


def convnext_infer():
    c, kind = S(128, 8), S(HALF, torch.float32)
    m = last(nn.Sequential(nn.Conv2d(3, c, 4, 4), Next(c), Next(c), nn.Conv2d(c, 2 * c, 2, 2), Next(2 * c), Next(2 * c), nn.Conv2d(2 * c, 4 * c, 2, 2),
                           *[Next(4 * c) for _ in range(S(4, 1))]).to(D, kind)).eval()
    return inference(m, last(torch.randn(S(64, 2), 3, S(224, 32), S(224, 32), device=D, dtype=kind)))


# Narrow, wide per channel, narrow again, with a gate over channels.
class Gated(nn.Module):
    def __init__(self, i, o, stride, kernel):
        super().__init__()
        m = 4 * i
        self.same = stride == 1 and i == o
        self.up, self.n1 = nn.Conv2d(i, m, 1, bias=False), nn.BatchNorm2d(m)
        self.depth, self.n2 = nn.Conv2d(m, m, kernel, stride, kernel // 2, groups=m, bias=False), nn.BatchNorm2d(m)
        self.squeeze, self.excite = nn.Conv2d(m, max(i // 4, 4), 1), nn.Conv2d(max(i // 4, 4), m, 1)
        self.down, self.n3 = nn.Conv2d(m, o, 1, bias=False), nn.BatchNorm2d(o)

    def forward(self, x):
        y = F.silu(self.n2(self.depth(F.silu(self.n1(self.up(x))))))
        y = y * torch.sigmoid(self.excite(F.silu(self.squeeze(y.mean((2, 3), keepdim=True)))))
        y = self.n3(self.down(y))
        return x + y if self.same else y


def mbconv_train():
    m = last(nn.Sequential(nn.Conv2d(3, 32, 3, 2, 1), Gated(32, 48, 2, 3), Gated(48, 48, 1, 3), Gated(48, 96, 2, 5), Gated(96, 96, 1, 5), nn.AdaptiveAvgPool2d(1),
                           nn.Flatten(), nn.Linear(96, 200)).to(D))
    f = compiled(m)
    x, y = last(torch.randn(S(96, 2), 3, S(224, 32), S(224, 32), device=D)), torch.randint(0, 200, (S(96, 2),), device=D)
    return training(m, lambda: F.cross_entropy(f(x).float(), y))


# Roads in aerial images: down, up by transposed convolutions, joined across.
def twice(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True),
                         nn.Conv2d(o, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class Roads(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.d1, self.d2, self.d3 = twice(3, c), twice(c, 2 * c), twice(2 * c, 4 * c)
        self.u2, self.u1 = nn.ConvTranspose2d(4 * c, 2 * c, 2, 2), nn.ConvTranspose2d(2 * c, c, 2, 2)
        self.m2, self.m1, self.out = twice(4 * c, 2 * c), twice(2 * c, c), nn.Conv2d(c, 2, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        c = self.d3(F.max_pool2d(b, 2))
        b = self.m2(torch.cat([self.u2(c), b], 1))
        return self.out(self.m1(torch.cat([self.u1(b), a], 1)))


def roads_train():
    m = last(Roads(S(64, 8)).to(D))
    x, y = last(torch.randn(S(8, 2), 3, S(256, 16), S(256, 16), device=D)), torch.randint(0, 2, (S(8, 2), S(256, 16), S(256, 16)), device=D)
    return training(m, lambda: F.cross_entropy(m(x).float(), y))


# Sound: one-dimensional convolutions, then a transformer.
class Sound(nn.Module):
    def __init__(self, c, d, heads, layers):
        super().__init__()
        sizes = ((1, c, 10, 5), (c, c, 3, 2), (c, c, 3, 2), (c, c, 3, 2), (c, c, 2, 2))
        self.convs = nn.ModuleList([nn.Conv1d(i, o, k, s) for i, o, k, s in sizes])
        self.norms = nn.ModuleList([nn.GroupNorm(8, c) for _ in sizes])
        self.enter = nn.Linear(c, d)
        self.attend = nn.ModuleList([SelfAttention(d, heads) for _ in range(layers)])
        self.feed = nn.ModuleList([feed_forward(d) for _ in range(layers)])

    def forward(self, x):
        for conv, norm in zip(self.convs, self.norms):
            x = F.gelu(norm(conv(x)))
        x = self.enter(x.transpose(1, 2))
        for attend, feed in zip(self.attend, self.feed):
            x = x + attend(x)
            x = x + feed(x)
        return x


def wav2vec_infer():
    f = compiled(Sound(S(512, 16), S(768, 16), S(12, 2), S(4, 1)).to(D, BF).eval())
    return inference(f, torch.randn(S(16, 2), 1, S(64000, 800), device=D, dtype=BF))


# Translation: an encoder and a decoder with biases by distance.
class Relative(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.norm, self.q, self.kv, self.o = nn.RMSNorm(d), nn.Linear(d, d, bias=False), nn.Linear(d, 2 * d, bias=False), nn.Linear(d, d, bias=False)

    def forward(self, x, memory=None, bias=None):
        h = self.norm(x)
        b, t, d = h.shape
        source = h if memory is None else memory
        q = self.q(h).view(b, t, self.heads, -1).transpose(1, 2)
        k, v = self.kv(source).view(b, source.shape[1], 2, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=None if bias is None else bias.to(q.dtype))
        return x + self.o(y.transpose(1, 2).reshape(b, t, d))


class Translator(nn.Module):
    def __init__(self, words, d, heads, layers, length):
        super().__init__()
        self.embed, self.heads = nn.Embedding(words, d), heads
        block = lambda n: nn.ModuleList([Relative(d, heads) for _ in range(n)] + [nn.Sequential(nn.RMSNorm(d), nn.Linear(d, 4 * d, bias=False), nn.ReLU(), nn.Linear(4 * d, d, bias=False))])
        self.encoder, self.decoder = nn.ModuleList([block(1) for _ in range(layers)]), nn.ModuleList([block(2) for _ in range(layers)])
        self.near, self.back = nn.Embedding(32, heads), nn.Embedding(32, heads)
        at = torch.arange(length)
        distance = at[None] - at[:, None]
        self.register_buffer("both", (distance.clamp(-15, 16) + 15))
        self.register_buffer("past", (-distance).clamp(0, 31))
        self.register_buffer("future", distance > 0)
        self.norm = nn.RMSNorm(d)

    def forward(self, source, target):
        x, bias = self.embed(source), self.near(self.both).permute(2, 0, 1)[None]
        for attend, feed in self.encoder:
            x = attend(x, bias=bias)
            x = x + feed(x)
        y, bias = self.embed(target), self.back(self.past).permute(2, 0, 1)[None].masked_fill(self.future, float("-inf"))
        for attend, across, feed in self.decoder:
            y = across(attend(y, bias=bias), memory=x)
            y = y + feed(y)
        return F.linear(self.norm(y), self.embed.weight)


def t5_train():
    words, length, batch = S(16384, 40), S(256, 8), S(24, 2)
    m = Translator(words, S(768, 16), S(12, 2), S(3, 1), length).to(D)
    f = compiled(m)
    source, target, labels = (torch.randint(0, words, (batch, length), device=D) for _ in range(3))
    return training(m, lambda: F.cross_entropy(f(source, target).flatten(0, 1).float(), labels.flatten()))


# Language: rotary positions, keys and values shared by groups of heads.
class Grouped(nn.Module):
    def __init__(self, d, heads, groups, wide, length):
        super().__init__()
        self.heads, self.shared, self.e = heads, heads // groups, d // heads
        self.n1, self.n2 = nn.RMSNorm(d), nn.RMSNorm(d)
        self.q, self.k, self.v, self.o = nn.Linear(d, d, bias=False), nn.Linear(d, d // groups, bias=False), nn.Linear(d, d // groups, bias=False), nn.Linear(d, d, bias=False)
        self.both, self.down = nn.Linear(d, 2 * wide, bias=False), nn.Linear(wide, d, bias=False)
        angle = torch.arange(length)[:, None] / 500000.0 ** (torch.arange(self.e // 2) / (self.e // 2))
        self.register_buffer("cos", angle.cos())
        self.register_buffer("sin", angle.sin())

    def turn(self, x):
        a, b = x[..., ::2], x[..., 1::2]
        cos, sin = self.cos.to(x.dtype), self.sin.to(x.dtype)
        return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)

    def forward(self, x):
        b, t, d = x.shape
        h = self.n1(x)
        q = self.q(h).view(b, t, self.heads, self.e).transpose(1, 2)
        k, v = (f(h).view(b, t, self.shared, self.e).transpose(1, 2) for f in (self.k, self.v))
        y = F.scaled_dot_product_attention(self.turn(q), self.turn(k), v, is_causal=True, enable_gqa=True)
        x = x + self.o(y.transpose(1, 2).reshape(b, t, d))
        a, g = self.both(self.n2(x)).chunk(2, -1)
        return x + self.down(a * F.silu(g))


class Chat(nn.Module):
    def __init__(self, words, d, heads, groups, wide, layers, length):
        super().__init__()
        self.embed = nn.Embedding(words, d)
        self.layers = nn.ModuleList([Grouped(d, heads, groups, wide, length) for _ in range(layers)])
        self.norm, self.head = nn.RMSNorm(d), nn.Linear(d, words, bias=False)

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def gqa_train():
    words, length = S(32768, 40), S(1024, 8)
    m = Chat(words, S(1536, 16), S(12, 4), S(3, 2), S(4096, 24), S(2, 1), length).to(D)
    f = compiled(m)
    ids, labels = (torch.randint(0, words, (S(4, 2), length), device=D) for _ in range(2))
    return training(m, lambda: F.cross_entropy(f(ids).flatten(0, 1).float(), labels.flatten()))


def gqa_prefill():
    words, length = S(32768, 40), S(4096, 8)
    m = Chat(words, S(4096, 16), S(32, 4), S(4, 2), S(11008, 24), S(2, 1), length).to(D, BF).eval()
    return inference(m, torch.randint(0, words, (1, length), device=D))


# A state space model: the scan in chunks, products inside a chunk and a short loop over chunks.
class Scan(nn.Module):
    def __init__(self, d, heads, state, chunk):
        super().__init__()
        self.heads, self.state, self.chunk, self.e = heads, state, chunk, 2 * d // heads
        self.norm, self.enter = nn.RMSNorm(d), nn.Linear(d, 4 * d + 2 * state + heads, bias=False)
        self.mix, self.leave = nn.Conv1d(2 * d, 2 * d, 4, padding=3, groups=2 * d), nn.Linear(2 * d, d, bias=False)
        self.decay, self.widths = nn.Parameter(torch.zeros(heads)), [2 * d, 2 * d, state, state, heads]

    def forward(self, u):
        batch, t, _ = u.shape
        z, x, b, c, dt = self.enter(self.norm(u)).split(self.widths, -1)
        x = F.silu(self.mix(x.transpose(1, 2))[..., :t].transpose(1, 2))
        n, q = t // self.chunk, self.chunk
        dt = F.softplus(dt.float())
        log = (-torch.exp(self.decay.float()) * dt).view(batch, n, q, self.heads).cumsum(2)
        x = (x.view(batch, t, self.heads, self.e) * dt[..., None].to(x.dtype)).view(batch, n, q, self.heads, self.e)
        b, c = b.view(batch, n, q, self.state), c.view(batch, n, q, self.state)
        gap = (log[:, :, :, None] - log[:, :, None]).permute(0, 1, 4, 2, 3)
        inside = torch.exp(gap.masked_fill(torch.ones(q, q, dtype=torch.bool, device=u.device).triu(1), float("-inf"))).to(x.dtype)
        scores = (c @ b.transpose(-1, -2))[:, :, None] * inside
        y = scores @ x.permute(0, 1, 3, 2, 4)
        rest = torch.exp(log[:, :, -1:] - log).to(x.dtype)
        states = torch.einsum("bnqs,bnqh,bnqhe->bnhes", b, rest, x)
        whole, held, before = torch.exp(log[:, :, -1]).to(x.dtype), torch.zeros_like(states[:, 0]), []
        for i in range(n):
            before.append(held)
            held = held * whole[:, i, :, None, None] + states[:, i]
        across = torch.einsum("bnqs,bnhes,bnqh->bnhqe", c, torch.stack(before, 1), torch.exp(log).to(x.dtype))
        y = (y + across).permute(0, 1, 3, 2, 4).reshape(batch, t, -1)
        return u + self.leave(y * F.silu(z))


def mamba_scan():
    d, length = S(1024, 8), S(2048, 16)
    f = compiled(nn.Sequential(*[Scan(d, S(32, 2), S(64, 4), S(128, 4)) for _ in range(S(2, 1))]).to(D, BF).eval())
    return inference(f, torch.randn(S(4, 2), length, d, device=D, dtype=BF))


# Clicks: one large table for all features, crossed by products, wide perceptrons.
class Clicks(nn.Module):
    def __init__(self, rows, features, d, wide):
        super().__init__()
        self.table, self.bottom = nn.Embedding(rows, d), nn.Sequential(nn.Linear(16, wide), nn.ReLU(), nn.Linear(wide, d), nn.ReLU())
        self.top = nn.Sequential(nn.Linear((features + 1) ** 2 + d, wide), nn.ReLU(), nn.Linear(wide, wide), nn.ReLU(), nn.Linear(wide, 1))

    def forward(self, dense, ids):
        first = self.bottom(dense)
        every = torch.cat([first[:, None], self.table(ids).to(first.dtype)], 1)
        return self.top(torch.cat([first, torch.bmm(every, every.transpose(1, 2)).flatten(1)], 1))


def clicks_train():
    rows, features, batch = S(400000, 60), S(23, 3), S(32768, 4)
    m = Clicks(rows, features, S(128, 8), S(2048, 16)).to(D)
    optimizer = torch.optim.SGD(m.parameters(), lr=1e-4, fused=True)
    dense, ids, y = torch.rand(batch, 16, device=D), torch.randint(0, rows, (batch, features), device=D), torch.rand(batch, 1, device=D).round()
    return training(m, lambda: F.binary_cross_entropy_with_logits(m(dense, ids).float(), y), optimizer)


# Molecules: messages along edges, added up where they arrive.
class Bonds(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.message, self.own = nn.Sequential(nn.Linear(d, 2 * d), nn.ReLU(), nn.Linear(2 * d, d)), nn.Linear(2 * d, d)

    def forward(self, h, source, target):
        sent = self.message(h.index_select(0, source))
        return F.relu(self.own(torch.cat([h, torch.zeros_like(h).index_add_(0, target, sent)], -1)))


def molecules_train():
    d, atoms, bonds = S(384, 8), S(60000, 30), S(120000, 70)
    layers = nn.ModuleList([Bonds(d) for _ in range(S(3, 1))]).to(D)
    h, y = torch.randn(atoms, d, device=D), torch.randn(atoms, d, device=D)
    source, target = torch.randint(0, atoms, (bonds,), device=D), torch.randint(0, atoms, (bonds,), device=D).sort().values

    def loss_of():
        x = h
        for layer in layers:
            x = layer(x, source, target)
        return F.mse_loss(x, y)
    return training(layers, loss_of, cast=False)


# Image classification in half precision with a scaled loss, as in the library's own example.
class Basic(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.a, self.na = nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o)
        self.b, self.nb = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o)
        self.short = nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o)) if stride > 1 or i != o else nn.Identity()

    def forward(self, x):
        return F.relu(self.short(x) + self.nb(self.b(F.relu(self.na(self.a(x))))))


def resnet34_amp():
    c, batch, side = S(64, 8), S(192, 2), S(224, 32)
    m = last(nn.Sequential(nn.Conv2d(3, c, 7, 2, 3, bias=False), nn.BatchNorm2d(c), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1), Basic(c, c, 1), Basic(c, 2 * c, 2),
                           Basic(2 * c, 2 * c, 1), Basic(2 * c, 4 * c, 2), Basic(4 * c, 4 * c, 1), Basic(4 * c, 8 * c, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                           nn.Linear(8 * c, 1000)).to(D))
    optimizer, scaler = torch.optim.SGD(m.parameters(), lr=1e-3, momentum=0.9, weight_decay=1e-4), torch.amp.GradScaler(D, enabled=not DRY)
    x, y = last(torch.randn(batch, 3, side, side, device=D)), torch.randint(0, 1000, (batch,), device=D)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with autocast(HALF):
            loss = F.cross_entropy(m(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss.detach()
    return step


# Masked words: norms behind their blocks, dropout, the library's parts.
class Cloze(nn.Module):
    def __init__(self, words, d, heads, layers, length):
        super().__init__()
        self.embed, self.position, self.norm = nn.Embedding(words, d), nn.Embedding(length, d), nn.LayerNorm(d)
        self.layers = nn.ModuleList([nn.ModuleList([SelfAttention(d, heads, dropout=0.1), feed_forward(d)]) for _ in range(layers)])
        self.drop, self.head = nn.Dropout(0.1), nn.Linear(d, words)

    def forward(self, ids):
        x = self.drop(self.norm(self.embed(ids) + self.position.weight))
        for attend, feed in self.layers:
            x = x + self.drop(attend(x))
            x = x + self.drop(feed(x))
        return self.head(x)


def bert_train():
    words, length, batch = S(30528, 40), S(384, 8), S(16, 2)
    m = Cloze(words, S(768, 16), S(12, 2), S(4, 1), length).to(D)
    f = compiled(m)
    ids, labels = (torch.randint(0, words, (batch, length), device=D) for _ in range(2))
    return training(m, lambda: F.cross_entropy(f(ids).flatten(0, 1).float(), labels.flatten()))


# A step of denoising: a transformer over patches whose norms are steered by the time.
class Steered(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(d, elementwise_affine=False), nn.LayerNorm(d, elementwise_affine=False)
        self.qkv, self.out, self.up, self.down, self.steer = nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d), nn.Linear(d, 6 * d)

    def forward(self, x, t):
        b, n, d = x.shape
        s1, c1, g1, s2, c2, g2 = self.steer(F.silu(t))[:, None].chunk(6, -1)
        q, k, v = self.qkv(self.norm1(x) * (1 + c1) + s1).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        x = x + g1 * self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, d))
        return x + g2 * self.down(F.gelu(self.up(self.norm2(x) * (1 + c2) + s2), approximate="tanh"))


class Denoise(nn.Module):
    def __init__(self, d, heads, layers, side):
        super().__init__()
        self.side, self.enter, self.leave = side, nn.Conv2d(4, d, 2, 2), nn.Linear(d, 16)
        self.layers = nn.ModuleList([Steered(d, heads) for _ in range(layers)])

    def forward(self, x, t):
        h = self.enter(x).flatten(2).transpose(1, 2)
        for layer in self.layers:
            h = layer(h, t)
        b, s = x.shape[0], self.side // 2
        noise = self.leave(h).view(b, s, s, 2, 2, 4).permute(0, 5, 1, 3, 2, 4).reshape(x.shape)
        return 1.02 * (x - 0.1 * noise)


def dit_denoise():
    d, side, batch = S(1152, 16), S(64, 8), S(8, 2)
    f = compiled(Denoise(d, S(16, 2), S(4, 1), side).to(D, BF).eval())
    return inference(f, torch.randn(batch, 4, side, side, device=D, dtype=BF), torch.randn(batch, d, device=D, dtype=BF))


# Experts of equal size, each with the tokens that chose it most: batched products.
def experts_train():
    experts, room, d, wide = S(8, 2), S(1024, 4), S(1024, 8), S(3072, 12)
    router = nn.Linear(d, experts, bias=False).to(D, BF)
    up, down = nn.Parameter(torch.randn(experts, d, wide, device=D, dtype=BF) * 0.02), nn.Parameter(torch.randn(experts, wide, d, device=D, dtype=BF) * 0.02)
    tokens, goal = torch.randn(experts * room, d, device=D, dtype=BF), torch.randn(experts * room, d, device=D, dtype=BF)
    optimizer = torch.optim.AdamW([*router.parameters(), up, down], lr=1e-5, fused=True)

    def loss_of():
        weight, chosen = router(tokens).softmax(0).topk(room, 0)
        which = chosen.t().reshape(-1)
        y = torch.bmm(F.relu(torch.bmm(tokens.index_select(0, which).view(experts, room, d), up)), down)
        y = (y * weight.t()[..., None]).view(-1, d)
        return F.mse_loss(torch.zeros_like(tokens).index_add_(0, which, y), goal)
    return training(None, loss_of, optimizer, cast=False)


# Words by a recurrent network of the vendor's library, in half precision.
def lstm_words():
    words, d, kind = S(16384, 40), S(1024, 8), S(HALF, torch.float32)
    m = nn.ModuleList([nn.Embedding(words, d), nn.LSTM(d, d, 2), nn.Linear(d, words)]).to(D, kind)
    optimizer = torch.optim.SGD(m.parameters(), lr=1e-3, fused=True)
    ids, labels = (torch.randint(0, words, (S(64, 4), S(96, 2)), device=D) for _ in range(2))

    def loss_of():
        h = m[1](m[0](ids))[0]
        return F.cross_entropy(m[2](h).flatten(0, 1).float(), labels.flatten())
    return training(m, loss_of, optimizer, cast=False)


def small_tagger_infer():
    m = Vision(S(192, 16), S(3, 2), S(8, 1), S(96, 32), 16).to(D, BF).eval()
    return inference(m, torch.randn(2, 3, S(96, 32), S(96, 32), device=D, dtype=BF))


def small_price_train():
    d = S(256, 8)
    m = nn.Sequential(nn.Linear(40, d), nn.BatchNorm1d(d), nn.ReLU(), nn.Dropout(0.2), nn.Linear(d, d), nn.BatchNorm1d(d), nn.ReLU(), nn.Linear(d, 1)).to(D)
    x, y = torch.randn(S(2048, 8), 40, device=D), torch.randn(S(2048, 8), 1, device=D)
    return training(m, lambda: F.mse_loss(m(x), y), torch.optim.Adam(m.parameters(), lr=1e-3), cast=False)


def small_voice_replay():
    c = S(96, 8)
    m = nn.Sequential(nn.Conv1d(40, c, 5, padding=2), *[layer for _ in range(S(6, 1)) for layer in (nn.Conv1d(c, c, 3, padding=1), nn.ReLU())], nn.AdaptiveAvgPool1d(1),
                      nn.Flatten(), nn.Linear(c, 12)).to(D, S(HALF, torch.float32)).eval()
    x = torch.randn(1, 40, S(101, 12), device=D, dtype=S(HALF, torch.float32))

    def infer():
        with torch.no_grad():
            return m(x)
    return replayed(infer)


HEALTHY = dict(
    gqa_train=gqa_train, resnet34_amp=resnet34_amp, convnext_infer=convnext_infer, small_price_train=small_price_train, t5_train=t5_train, clicks_train=clicks_train,
    vit_large_infer=vit_large_infer, mamba_scan=mamba_scan, mbconv_train=mbconv_train, roads_train=roads_train, small_voice_replay=small_voice_replay,
    experts_train=experts_train, wav2vec_infer=wav2vec_infer, bert_train=bert_train, gqa_prefill=gqa_prefill, dit_denoise=dit_denoise, molecules_train=molecules_train,
    lstm_words=lstm_words, small_tagger_infer=small_tagger_infer)
