"""Whole models as they are run when nothing is wrong: the healthy programs of fifth_programs.py.

Fields and layers are others than those of the sets before. About half are compiled. One that runs eagerly says by `formed` what torch.compile would
be given: its compiled form is measured too (steps alone). HEALTHY: {name: maker}; EAGER: the names of those that have a compiled form. The three
named small_ are too small for the device.
"""
import math, os, sys
import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from program_parts import BF, D, DRY, HALF_HERE, S, autocast, built, compiled, draw, formed, inference, last, noise, replayed, training


class Heads(nn.Module):
    """Attention by the library's kernel: of a sequence to itself, or to another."""

    def __init__(self, d, heads, other=None, causal=False):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.q, self.k, self.v, self.out = nn.Linear(d, d), nn.Linear(other or d, d), nn.Linear(other or d, d), nn.Linear(d, d)

    def forward(self, x, y=None, mask=None):
        y = x if y is None else y
        split = lambda a: a.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        a = F.scaled_dot_product_attention(split(self.q(x)), split(self.k(y)), split(self.v(y)), attn_mask=mask, is_causal=self.causal)
        return self.out(a.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, d, heads, wide=4, other=None, causal=False):
        super().__init__()
        self.before, self.attend, self.between = nn.LayerNorm(d), Heads(d, heads, other, causal), nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, wide * d), nn.GELU(), nn.Linear(wide * d, d))

    def forward(self, x, y=None, mask=None):
        x = x + self.attend(self.before(x), y, mask)
        return x + self.mlp(self.between(x))


# Source code, by linear attention: products inside chunks, the state of a chunk from the sum of all before it.
class Chunked(nn.Module):
    def __init__(self, d, heads, chunk):
        super().__init__()
        self.heads, self.chunk, self.norm, self.qkvg, self.out = heads, chunk, nn.RMSNorm(d), nn.Linear(d, 4 * d, bias=False), nn.Linear(d, d, bias=False)
        self.inner = nn.RMSNorm(d // heads)
        self.register_buffer("below", torch.ones(chunk, chunk).tril())

    def forward(self, x):
        b, t, d = x.shape
        q, k, v, g = self.qkvg(self.norm(x)).view(b, t // self.chunk, self.chunk, 4, self.heads, -1).permute(3, 0, 4, 1, 2, 5)
        q, k = F.elu(q) + 1, (F.elu(k) + 1) / self.chunk
        state = k.transpose(-1, -2) @ v
        state = torch.cumsum(state, 2) - state
        y = (q @ k.transpose(-1, -2) * self.below.to(q.dtype)) @ v + q @ state.to(q.dtype)
        y = self.inner(y) * F.silu(g)
        return x + self.out(y.permute(0, 2, 3, 1, 4).reshape(b, t, d))


class Code(nn.Module):
    def __init__(self, words, d, heads, chunk, layers):
        super().__init__()
        self.embed, self.layers = nn.Embedding(words, d), nn.ModuleList([nn.ModuleList([Chunked(d, heads, chunk), nn.Sequential(nn.RMSNorm(d), nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))]) for _ in range(layers)])
        self.norm, self.head = nn.RMSNorm(d), nn.Linear(d, words, bias=False)

    def forward(self, ids):
        x = self.embed(ids)
        for mix, mlp in self.layers:
            x = mix(x)
            x = x + mlp(x)
        return self.head(self.norm(x))


def code_train():
    words, t, b = S(16384, 40), S(2048, 8), S(6, 2)
    m = built(lambda: Code(words, S(1024, 16), S(8, 2), S(128, 4), S(3, 1)))
    f, ids, labels = compiled(m), draw(words, b, t), draw(words, b * t)
    return training(m, lambda: F.cross_entropy(f(ids).flatten(0, 1).float(), labels))


# Air around a wing: waves of each field are weighed, the higher ones dropped.
class Waves(nn.Module):
    def __init__(self, c, kept):
        super().__init__()
        self.kept, self.local = kept, nn.Conv2d(c, c, 1)
        self.low, self.high = (nn.Parameter(torch.randn(c, c, kept, kept, 2) / c) for _ in range(2))

    def forward(self, x):
        n, k = x.shape, self.kept
        waves = torch.fft.rfft2(x)
        out = torch.zeros(n[0], n[1], n[2], n[3] // 2 + 1, device=x.device, dtype=waves.dtype)
        out[:, :, :k, :k] = torch.einsum("bixy,ioxy->boxy", waves[:, :, :k, :k], torch.view_as_complex(self.low))
        out[:, :, -k:, :k] = torch.einsum("bixy,ioxy->boxy", waves[:, :, -k:, :k], torch.view_as_complex(self.high))
        return F.gelu(torch.fft.irfft2(out, s=n[2:]) + self.local(x))


def wing_train():
    c, side, batch = S(64, 4), S(128, 12), S(20, 2)
    m = built(lambda: nn.Sequential(nn.Conv2d(3, c, 1), *[Waves(c, S(16, 3)) for _ in range(S(4, 1))], nn.Conv2d(c, 1, 1)))
    f, x, y = formed(m), noise(batch, 3, side, side), noise(batch, 1, side, side)
    return training(m, lambda: F.mse_loss(f(x), y), cast=False)


# Sound as bytes: few latents look at many bytes, then at themselves.
class Latents(nn.Module):
    def __init__(self, d, heads, latents, length, deep, classes):
        super().__init__()
        self.bytes, self.places, self.latents = nn.Embedding(256, d // 2), nn.Parameter(torch.randn(length, d // 2) * 0.02), nn.Parameter(torch.randn(latents, d) * 0.02)
        self.look, self.layers, self.head = Layer(d, heads, other=d // 2), nn.ModuleList([Layer(d, heads) for _ in range(deep)]), nn.Linear(d, classes)

    def forward(self, raw):
        x = self.look(self.latents.expand(raw.shape[0], -1, -1), self.bytes(raw) + self.places)
        for layer in self.layers:
            x = layer(x)
        return self.head(x.mean(1))


def bytes_train():
    length, batch = S(4096, 12), S(24, 2)
    m = built(lambda: Latents(S(768, 16), S(12, 2), S(384, 4), length, S(4, 1), S(500, 7)))
    f, raw, y = compiled(m), draw(256, batch, length), draw(S(500, 7), batch)
    return training(m, lambda: F.cross_entropy(f(raw).float(), y))


# Parts of machines from scanned points: edges to the nearest ones, the largest answer of them.
class Near(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(2 * i, o), nn.ReLU(), nn.Linear(o, o))

    def forward(self, x, near):
        own = x.unsqueeze(1).expand(-1, near.shape[1], -1)
        other = x.index_select(0, near.flatten()).view(own.shape)
        return self.mlp(torch.cat([own, other - own], -1)).amax(1)


class Parts(nn.Module):
    def __init__(self, c, classes):
        super().__init__()
        self.enter, self.a, self.b, self.head = nn.Linear(6, c), Near(c, c), Near(c, 2 * c), nn.Linear(3 * c, classes)

    def forward(self, x, near):
        a = self.a(self.enter(x), near)
        return self.head(torch.cat([a, self.b(a, near)], -1))


def parts_train():
    points, c, classes = S(24576, 30), S(128, 8), S(50, 4)
    m = built(lambda: Parts(c, classes))
    f, x, near, y = formed(m), noise(points, 6), draw(points, points, S(20, 3)), draw(classes, points)
    return training(m, lambda: F.cross_entropy(f(x, near).float(), y))


# Which language a page is in: perceptrons over channels, gated by one over places.
class Gating(nn.Module):
    def __init__(self, d, wide, length):
        super().__init__()
        self.norm, self.up, self.inner, self.down = nn.LayerNorm(d), nn.Linear(d, wide), nn.LayerNorm(wide // 2), nn.Linear(wide // 2, d)
        self.places = nn.Conv1d(length, length, 1)

    def forward(self, x):
        u, v = F.gelu(self.up(self.norm(x))).chunk(2, -1)
        return x + self.down(u * self.places(self.inner(v)))


def pages_train():
    d, length, batch = S(512, 16), S(512, 6), S(48, 2)
    m = built(lambda: nn.Sequential(nn.Embedding(S(8192, 30), d), *[Gating(d, S(3072, 32), length) for _ in range(S(4, 1))], nn.LayerNorm(d), nn.Linear(d, S(120, 5))))
    f, ids, y = compiled(m), draw(S(8192, 30), batch, length), draw(S(120, 5), batch)
    return training(m, lambda: F.cross_entropy(f(ids).mean(1).float(), y))


# Fruit on a belt: convolutions in groups, norms folded in, half precision.
class Grouped(nn.Module):
    def __init__(self, i, o, stride, width):
        super().__init__()
        self.a, self.b, self.c = nn.Conv2d(i, o, 1), nn.Conv2d(o, o, 3, stride, 1, groups=o // width), nn.Conv2d(o, o, 1)
        self.short = nn.Conv2d(i, o, 1, stride) if i != o or stride > 1 else nn.Identity()

    def forward(self, x):
        return F.relu_(self.short(x) + self.c(F.relu_(self.b(F.relu_(self.a(x))))))


def fruit(c, width, classes):
    return nn.Sequential(nn.Conv2d(3, c // 2, 3, 2, 1), nn.ReLU(), Grouped(c // 2, c, 2, width), Grouped(c, c, 1, width), Grouped(c, 2 * c, 2, width), Grouped(2 * c, 2 * c, 1, width), Grouped(2 * c, 4 * c, 2, width),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * c, classes))


def fruit_infer():
    m = last(built(lambda: fruit(S(192, 8), S(64, 4), S(30, 3)), HALF_HERE)).eval()
    return inference(formed(m), last(noise(S(96, 2), 3, S(256, 32), S(256, 32), dtype=HALF_HERE)))


# Dictation: each frame joined with each letter so far.
class Joiner(nn.Module):
    def __init__(self, d, letters):
        super().__init__()
        self.frames, self.so_far = nn.Sequential(nn.Linear(80, d), nn.GELU(), nn.Linear(d, d)), nn.Sequential(nn.Embedding(letters, d), nn.Linear(d, d), nn.GELU(), nn.Linear(d, d))
        self.out = nn.Linear(d, letters)

    def forward(self, frames, ids):
        joined = torch.tanh(self.frames(frames).unsqueeze(2) + self.so_far(ids).unsqueeze(1))
        return self.out(joined)


def dictation_train():
    letters, batch, t, u = S(1024, 9), S(12, 2), S(160, 6), S(48, 3)
    m = built(lambda: Joiner(S(512, 16), letters))
    frames, ids = noise(batch, t, 80), draw(letters, batch, u)

    def loss(frames, ids):
        chances = F.log_softmax(m(frames, ids).float(), -1)
        nothing, letter = chances[..., 0], chances.gather(3, ids[:, None, :, None].expand(-1, t, -1, 1)).squeeze(3)
        return -torch.logaddexp(nothing, letter).mean()
    f = compiled(loss)
    return training(m, lambda: f(frames, ids))


# Old newspapers searched: each word of a question finds its best word in each article.
def articles_infer():
    questions, words, articles, long, e = S(24, 2), S(32, 3), S(2400, 5), S(160, 6), 128
    lower = built(lambda: nn.Linear(S(768, 16), e, bias=False), HALF_HERE).eval()
    asked, told = F.normalize(noise(questions, words, e, dtype=HALF_HERE), dim=-1), noise(articles, long, S(768, 16), dtype=HALF_HERE)

    def score(asked, told):
        told = F.normalize(lower(told), dim=-1)
        alike = asked.flatten(0, 1) @ told.flatten(0, 1).t()
        return alike.view(questions, words, articles, long).amax(-1).sum(1)
    return inference(formed(score), asked, told)


# A film from its latents.
class Film(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.n1, self.c1, self.n2, self.c2 = nn.GroupNorm(8, i), nn.Conv3d(i, o, 3, padding=1), nn.GroupNorm(8, o), nn.Conv3d(o, o, 3, padding=1)
        self.short = nn.Conv3d(i, o, 1) if i != o else nn.Identity()

    def forward(self, x):
        return self.short(x) + self.c2(F.silu(self.n2(self.c1(F.silu(self.n1(x))))))


def film(c):
    wider = lambda: nn.Upsample(scale_factor=(1.0, 2.0, 2.0), mode="nearest")
    return nn.Sequential(nn.Conv3d(16, 4 * c, 3, padding=1), Film(4 * c, 4 * c), wider(), Film(4 * c, 2 * c), wider(), Film(2 * c, c), nn.Conv3d(c, 3, 3, padding=1))


def film_infer():
    f = compiled(built(lambda: film(S(64, 8)), BF).eval())
    return inference(f, noise(1, 16, S(9, 3), S(30, 4), S(40, 4), dtype=BF))


# What belongs to which cell: queries look at pixels of three sizes, each draws one mask.
class CellMasks(nn.Module):
    def __init__(self, d, heads, queries):
        super().__init__()
        self.queries, self.enter = nn.Parameter(torch.randn(queries, d)), nn.Conv2d(3, d, 4, 4)
        self.smaller = nn.ModuleList([nn.Conv2d(d, d, 3, 2, 1) for _ in range(3)])
        self.look, self.talk = nn.ModuleList([Layer(d, heads) for _ in range(3)]), nn.ModuleList([Layer(d, heads) for _ in range(3)])
        self.kind, self.pen = nn.Linear(d, 5), nn.Linear(d, d)

    def forward(self, x):
        fine = self.enter(x)
        sizes, h = [], fine
        for smaller in self.smaller:
            h = F.gelu(smaller(h))
            sizes.append(h.flatten(2).transpose(1, 2))
        q = self.queries.expand(x.shape[0], -1, -1)
        for pixels, look, talk in zip(reversed(sizes), self.look, self.talk):
            q = talk(look(q, pixels))
        return torch.einsum("bqc,bchw->bqhw", self.pen(q), fine)


def cells_infer():
    m = built(lambda: CellMasks(S(256, 16), S(8, 2), S(100, 4)), BF).eval()
    return inference(formed(m), noise(S(32, 2), 3, S(512, 32), S(512, 32), dtype=BF))


# Traffic: each block explains part of the past and says its part of the future.
class Explain(nn.Module):
    def __init__(self, past, future, wide):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(past, wide), nn.ReLU(), nn.Linear(wide, wide), nn.ReLU(), nn.Linear(wide, wide), nn.ReLU())
        self.back, self.ahead = nn.Linear(wide, past), nn.Linear(wide, future)

    def forward(self, x):
        h = self.body(x)
        return x - self.back(h), self.ahead(h)


class Traffic(nn.Module):
    def __init__(self, past, future, wide, blocks):
        super().__init__()
        self.blocks = nn.ModuleList([Explain(past, future, wide) for _ in range(blocks)])

    def forward(self, x):
        total = 0
        for block in self.blocks:
            x, ahead = block(x)
            total = total + ahead
        return total


def traffic_train():
    past, future, rows = S(288, 8), S(48, 3), S(24576, 4)
    m = built(lambda: Traffic(past, future, S(1024, 16), S(5, 2)))
    f, x, y = compiled(m), noise(rows, past), noise(rows, future)
    return training(m, lambda: F.smooth_l1_loss(f(x).float(), y))


# Sleep from electrodes: causal convolutions, wider and wider apart.
class Causal(nn.Module):
    def __init__(self, c, apart):
        super().__init__()
        self.pad, self.a, self.b = 2 * apart, nn.Conv1d(c, c, 3, dilation=apart), nn.Conv1d(c, c, 3, dilation=apart)

    def forward(self, x):
        h = F.relu(self.a(F.pad(x, (self.pad, 0))))
        return F.relu(x + self.b(F.pad(h, (self.pad, 0))))


def sleep_train():
    c, t, batch = S(512, 8), S(1024, 40), S(48, 2)
    m = built(lambda: nn.Sequential(nn.Conv1d(S(12, 2), c, 1), *[Causal(c, 1 << i) for i in range(S(5, 2))], nn.Conv1d(c, 6, 1)))
    f, x, y = formed(m), noise(batch, S(12, 2), t), draw(6, batch, t)
    return training(m, lambda: F.cross_entropy(f(x).float(), y))


# Energy of crystals: a filter from each distance, what neighbours send through it added up.
class Filtered(nn.Module):
    def __init__(self, d, waves):
        super().__init__()
        self.filter, self.lift, self.out = nn.Sequential(nn.Linear(waves, d), nn.Softplus(), nn.Linear(d, d)), nn.Linear(d, d, bias=False), nn.Sequential(nn.Linear(d, d), nn.Softplus(), nn.Linear(d, d))

    def forward(self, h, waves, source, target):
        sent = self.lift(h).index_select(0, source) * self.filter(waves)
        return h + self.out(torch.zeros_like(h).index_add(0, target, sent))


class Crystal(nn.Module):
    def __init__(self, d, waves, layers):
        super().__init__()
        self.kinds, self.layers, self.head = nn.Embedding(100, d), nn.ModuleList([Filtered(d, waves) for _ in range(layers)]), nn.Linear(d, 1)
        self.register_buffer("centres", torch.linspace(0, 6, waves))

    def forward(self, kinds, distance, source, target):
        waves = torch.exp(-4.0 * (distance[:, None] - self.centres) ** 2) * (0.5 * (torch.cos(distance * (math.pi / 6)) + 1))[:, None]
        h = self.kinds(kinds)
        for layer in self.layers:
            h = layer(h, waves, source, target)
        return self.head(h).sum(0)


def crystal_infer():
    atoms, edges = S(12000, 20), S(360000, 60)
    f = compiled(built(lambda: Crystal(S(128, 8), S(64, 5), S(3, 1))).eval())
    return inference(f, draw(100, atoms), torch.rand(edges, device=D) * 6, draw(atoms, edges), draw(atoms, edges).sort().values)


# Contracts as vectors: turned queries and keys, gated perceptrons, no biases.
def turn(x, cos, sin):
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


class Turned(nn.Module):
    def __init__(self, d, heads, wide, causal=False):
        super().__init__()
        self.heads, self.causal, self.n1, self.n2 = heads, causal, nn.LayerNorm(d, bias=False), nn.LayerNorm(d, bias=False)
        self.qkv, self.out, self.both, self.down = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False), nn.Linear(d, 2 * wide, bias=False), nn.Linear(wide, d, bias=False)

    def forward(self, x, cos, sin):
        q, k, v = self.qkv(self.n1(x)).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q, k = turn(q, cos, sin), turn(k, cos, sin)
        y = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=self.causal)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        a, g = self.both(self.n2(x)).chunk(2, -1)
        return x + self.down(F.gelu(a) * g)


class Contracts(nn.Module):
    def __init__(self, words, d, heads, wide, layers, length, causal=False):
        super().__init__()
        self.embed, self.layers, self.norm = nn.Embedding(words, d), nn.ModuleList([Turned(d, heads, wide, causal) for _ in range(layers)]), nn.LayerNorm(d, bias=False)
        e = d // heads // 2
        angle = torch.outer(torch.arange(length).float(), 160000.0 ** (-torch.arange(e) / e))[:, None]
        self.register_buffer("cos", angle.cos())
        self.register_buffer("sin", angle.sin())

    def forward(self, ids):
        x = self.embed(ids)
        cos, sin = self.cos.to(x.dtype), self.sin.to(x.dtype)
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.norm(x)


def contracts_infer():
    length = S(1024, 8)
    m = built(lambda: Contracts(S(50368, 40), S(768, 16), S(12, 2), S(1152, 16), S(6, 1), length), BF).eval()
    f = compiled(m)

    @torch.no_grad()
    def step():
        return F.normalize(f(ids)[:, 0].float(), dim=-1)
    ids = draw(S(50368, 40), S(24, 2), length)
    return step


# Heat pictures made larger: residual convolutions, channels weighed, pixels shuffled.
class Weighed(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a, self.b, self.s1, self.s2 = nn.Conv2d(c, c, 3, padding=1), nn.Conv2d(c, c, 3, padding=1), nn.Conv2d(c, c // 4, 1), nn.Conv2d(c // 4, c, 1)

    def forward(self, x):
        h = self.b(F.relu(self.a(x)))
        return x + h * torch.sigmoid(self.s2(F.relu(self.s1(h.mean((2, 3), keepdim=True)))))


def heat(c, blocks):
    return nn.Sequential(nn.Conv2d(1, c, 3, padding=1), *[Weighed(c) for _ in range(blocks)], nn.Conv2d(c, 16, 3, padding=1), nn.PixelShuffle(4))


def heat_train():
    c, side, batch = S(128, 8), S(96, 8), S(24, 2)
    m = last(built(lambda: heat(c, S(5, 1))))
    f, x, y = formed(m), last(noise(batch, 1, side, side)), noise(batch, 1, 4 * side, 4 * side)
    return training(m, lambda: F.l1_loss(f(x).float(), y))


# The better of two summaries: a model against the one that it began as.
class Writer(nn.Module):
    def __init__(self, words, d, heads, wide, layers, length):
        super().__init__()
        self.body, self.head = Contracts(words, d, heads, wide, layers, length, causal=True), nn.Linear(d, words, bias=False)

    def forward(self, ids):
        logits = self.head(self.body(ids[:, :-1])).float()
        return (logits.gather(2, ids[:, 1:, None]).squeeze(2) - logits.logsumexp(-1)).sum(-1)


def summaries_train():
    words, length, batch = S(16384, 40), S(512, 8), S(4, 1)
    make = lambda: Writer(words, S(768, 16), S(12, 2), S(2048, 16), S(3, 1), length)
    own, old = built(make), built(make, BF).eval().requires_grad_(False)
    f, g, ids = compiled(own), compiled(old), draw(words, 2 * batch, length + 1)

    def loss_of():
        with torch.no_grad():
            before = g(ids).float()
        gain = 0.1 * (f(ids) - before)
        return -F.logsigmoid(gain[:batch] - gain[batch:]).mean()
    return training(own, loss_of)


# Cars that learn to merge: an update of the policy by many moments at once.
class Merge(nn.Module):
    def __init__(self, seen, d, acts):
        super().__init__()
        self.body, self.act, self.value = nn.Sequential(nn.Linear(seen, d), nn.SiLU(), nn.Linear(d, d), nn.SiLU(), nn.Linear(d, d), nn.SiLU()), nn.Linear(d, acts), nn.Linear(d, 1)

    def forward(self, x):
        h = self.body(x)
        return self.act(h), self.value(h)


def merge_train():
    rows, seen, d, acts = S(65536, 8), S(256, 6), S(1536, 16), S(32, 4)
    m = built(lambda: Merge(seen, d, acts))
    f, optimizer = formed(m), torch.optim.Adam(m.parameters(), lr=1e-5, fused=True)
    x, act, before, gain, goal = noise(rows, seen), draw(acts, rows), -torch.rand(rows, device=D) - 3, noise(rows), noise(rows)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with autocast():
            logits, value = f(x)
        chances = F.log_softmax(logits.float(), -1)
        ratio = torch.exp(chances.gather(1, act[:, None]).squeeze(1) - before)
        loss = -torch.minimum(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean() + 0.5 * F.mse_loss(value.float().squeeze(1), goal) + 0.01 * (chances.exp() * chances).sum(-1).mean()
        loss.backward()
        nn.utils.clip_grad_norm_(m.parameters(), 0.5)
        optimizer.step()
        return loss.detach()
    return step


# A gripper's next sixteen moves out of noise, trained: short convolutions steered by what is seen.
class Steered(nn.Module):
    def __init__(self, i, o, seen):
        super().__init__()
        self.a, self.b, self.n1, self.n2, self.steer = nn.Conv1d(i, o, 5, padding=2), nn.Conv1d(o, o, 5, padding=2), nn.GroupNorm(8, o), nn.GroupNorm(8, o), nn.Linear(seen, 2 * o)
        self.short = nn.Conv1d(i, o, 1) if i != o else nn.Identity()

    def forward(self, x, seen):
        scale, shift = self.steer(F.mish(seen)).unsqueeze(-1).chunk(2, 1)
        h = F.mish(self.n1(self.a(x))) * (1 + scale) + shift
        return self.short(x) + F.mish(self.n2(self.b(h)))


class Gripper(nn.Module):
    def __init__(self, moves, c, seen):
        super().__init__()
        self.a, self.b, self.mid, self.back, self.out = Steered(moves, c, seen), Steered(c, 2 * c, seen), Steered(2 * c, 2 * c, seen), Steered(3 * c, c, seen), nn.Conv1d(c, moves, 1)
        self.down, self.up = nn.Conv1d(c, c, 3, 2, 1), nn.ConvTranspose1d(2 * c, 2 * c, 4, 2, 1)

    def forward(self, x, seen):
        a = self.a(x, seen)
        b = self.mid(self.b(self.down(a), seen), seen)
        return self.out(self.back(torch.cat([self.up(b), a], 1), seen))


def gripper_train():
    moves, seen, batch = S(10, 3), S(512, 8), S(512, 2)
    m = built(lambda: Gripper(moves, S(512, 8), seen))
    f, x, cond, goal = compiled(m), noise(batch, moves, 16), noise(batch, seen), noise(batch, moves, 16)
    return training(m, lambda: F.mse_loss(f(x, cond).float(), goal))


# Hearts: leads cut by workers, pinned, sent while the device computes.
class Hearts(torch.utils.data.Dataset):
    def __init__(self, count, long, cut):
        self.cut, self.all = cut, np.random.default_rng(1).standard_normal((count, 12, long), dtype=np.float32)

    def __len__(self):
        return 5000000

    def __getitem__(self, i):
        at = (i * 37) % (self.all.shape[2] - self.cut)
        piece = self.all[i % len(self.all), :, at:at + self.cut]
        return torch.from_numpy(piece * (0.8 + 0.4 * (i % 5) / 5)), i % 5


def hearts_loaded():
    cut, batch, c = S(1024, 40), S(128, 2), S(384, 8)
    batches = iter(torch.utils.data.DataLoader(Hearts(S(200, 4), cut + S(500, 10), cut), batch_size=batch, num_workers=S(8, 1), persistent_workers=True, prefetch_factor=6, pin_memory=not DRY))
    conv = lambda i, o: nn.Sequential(nn.Conv1d(i, o, 7, 2, 3, bias=False), nn.BatchNorm1d(o), nn.ReLU())
    m = built(lambda: nn.Sequential(conv(12, c), conv(c, c), conv(c, 2 * c), conv(2 * c, 4 * c), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(4 * c, 5)))
    f, optimizer = formed(m), torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True)

    def step():
        x, y = (t.to(D, non_blocking=True) for t in next(batches))
        optimizer.zero_grad(set_to_none=True)
        with autocast():
            loss = F.cross_entropy(f(x).float(), y)
        loss.backward()
        optimizer.step()
        return loss.detach()
    return step


# Waves of an earthquake through rock, eight moments.
def shaken(now, past, speed):
    near = -205 / 36 * now
    for reach, weight in ((1, 8 / 5), (2, -1 / 5), (3, 8 / 315), (4, -1 / 560)):
        for axis in (0, 1):
            near = near + weight * (torch.roll(now, reach, axis) + torch.roll(now, -reach, axis))
    return 2 * now - past + speed * near


def quake_steps():
    tall, wide = S(3072, 12), S(4096, 14)
    f, first, speed = compiled(shaken), noise(tall, wide), 0.02 + 0.05 * torch.rand(tall, wide, device=D)

    @torch.no_grad()
    def step():
        now, past = first, first
        for _ in range(8):
            now, past = f(now, past, speed), now
        return now
    return step


class Loans(nn.Module):
    def __init__(self, rows, fields, e):
        super().__init__()
        self.table, self.one, self.deep = nn.Embedding(rows, e), nn.Embedding(rows, 1), nn.Sequential(nn.Linear(fields * e, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, ids):
        v = self.table(ids)
        pairs = 0.5 * (v.sum(1).square() - v.square().sum(1)).sum(1, keepdim=True)
        return torch.sigmoid(self.one(ids).sum(1) + pairs + self.deep(v.flatten(1)))


def small_loans_infer():
    rows, fields = S(20000, 40), S(24, 3)
    f, ids = compiled(built(lambda: Loans(rows, fields, 16)).eval(), mode="reduce-overhead"), draw(rows, 64, fields)

    @torch.no_grad()
    def step():
        return f(ids).clone()
    return step


def small_pump_train():
    d = S(96, 8)
    m = built(lambda: nn.Sequential(nn.Linear(d, 64), nn.ELU(), nn.Linear(64, 16), nn.ELU(), nn.Linear(16, 64), nn.ELU(), nn.Linear(64, d)))
    f, x = formed(m), noise(S(512, 4), d)
    return training(m, lambda: F.mse_loss(f(x), x), torch.optim.Adam(m.parameters(), lr=1e-4, fused=True), cast=False)


def small_gestures_replay():
    c = S(48, 4)
    conv = lambda i, o: nn.Sequential(nn.Conv1d(i, o, 5, 2, 2), nn.ReLU())
    m = built(lambda: nn.Sequential(conv(9, c), conv(c, 2 * c), conv(2 * c, 2 * c), nn.Flatten(), nn.Linear(2 * c * 16, 20)), HALF_HERE).eval()
    x = noise(8, 9, 128, dtype=HALF_HERE)

    def infer():
        with torch.no_grad():
            return m(x).softmax(-1)
    return replayed(infer)


HEALTHY = dict(
    code_train=code_train, fruit_infer=fruit_infer, wing_train=wing_train, contracts_infer=contracts_infer, bytes_train=bytes_train, parts_train=parts_train, small_pump_train=small_pump_train,
    crystal_infer=crystal_infer, traffic_train=traffic_train, cells_infer=cells_infer, sleep_train=sleep_train, film_infer=film_infer, merge_train=merge_train, small_loans_infer=small_loans_infer,
    dictation_train=dictation_train, articles_infer=articles_infer, heat_train=heat_train, pages_train=pages_train, hearts_loaded=hearts_loaded, quake_steps=quake_steps, gripper_train=gripper_train,
    summaries_train=summaries_train, small_gestures_replay=small_gestures_replay)
EAGER = ["fruit_infer", "wing_train", "parts_train", "small_pump_train", "cells_infer", "sleep_train", "merge_train", "articles_infer", "heat_train", "hearts_loaded"]
