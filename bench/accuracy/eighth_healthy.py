"""Whole models in which nothing is left to mend: the healthy programs of eighth_programs.py.

Compiled or captured, in narrow types, channels last, with fused optimizers and attention, sizes that suit tensor cores, and data on the device.
The one of EAGER runs as it is: products are nearly all of its time; its compiled form is measured too. HEALTHY: {name: maker}.
"""
import os, sys
import torch, torch.nn as nn, torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from sixth_healthy import Encoder, angles, encoders, learning, turned
from program_parts import BF, D, HALF_HERE, S, built, compiled, draw, formed, inference, last, noise, replayed


# Cookery books, a language model as fast ones are written: norms over queries and keys, squared activations, no weights in the norms; trained.
class Kitchen(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False)
        self.up, self.down = nn.Linear(d, 4 * d, bias=False), nn.Linear(4 * d, d, bias=False)

    def forward(self, x, cos, sin):
        norm = lambda a: F.rms_norm(a, (a.shape[-1],))
        q, k, v = self.qkv(norm(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(turned(norm(q), cos, sin).to(v.dtype), turned(norm(k), cos, sin).to(v.dtype), v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.down(F.relu(self.up(norm(x))).square())


class Cookery(nn.Module):
    def __init__(self, words, d, heads, layers, length):
        super().__init__()
        self.embed, self.head, self.layers = nn.Embedding(words, d), nn.Linear(d, words, bias=False), nn.ModuleList([Kitchen(d, heads) for _ in range(layers)])
        cos, sin = angles(length, d // heads)
        self.register_buffer("cos", cos)
        self.register_buffer("sin", sin)

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        return self.head(F.rms_norm(x, (x.shape[-1],)))


def cookery_train():
    words, t, b = S(12288, 40), S(2048, 8), S(6, 2)
    m = built(lambda: Cookery(words, S(1280, 16), S(10, 2), S(4, 1), t))
    return learning(m, lambda ids, labels: F.cross_entropy(m(ids).flatten(0, 1).float(), labels), draw(words, b, t), draw(words, b * t))


# A skater between two moments of a film, half precision: both pictures folded to small ones with many channels, and unfolded behind.
class Glide(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a, self.b, self.gain = nn.Conv2d(c, c, 3, 1, 1), nn.Conv2d(c, c, 3, 1, 1), nn.Parameter(torch.full((c, 1, 1), 0.1))

    def forward(self, x):
        return x + self.gain * self.b(F.silu(self.a(x)))


def skater_between():
    side = S(512, 16)
    seen = lambda: last(noise(S(8, 1), 4, side, side, dtype=HALF_HERE))
    c, blocks = S(256, 8), S(8, 1)
    parts = lambda: [nn.Conv2d(8, c, 4, 4), *[Glide(c) for _ in range(blocks)], nn.Conv2d(c, 64, 3, 1, 1), nn.PixelShuffle(4)]
    m = last(built(lambda: nn.Sequential(*parts()), HALF_HERE)).eval()

    def between(before, after):
        share = m(torch.cat([before, after], 1))
        return torch.sigmoid(share) * before + torch.sigmoid(-share) * after
    return inference(compiled(between), seen(), seen())


# Directions of an update made orthogonal, four large weights at a time, eager: five rounds of three products each.
def orthogonal(x):
    x = x / (x.float().norm(dim=(-2, -1), keepdim=True) + 1e-6).to(x.dtype)
    for _ in range(5):
        inner = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(inner, inner, inner, beta=-4.775, alpha=2.0315), x, beta=3.4445)
    return x


def updates_orthogonal():
    return inference(formed(orthogonal), noise(S(4, 2), S(4096, 12), S(4096, 16), dtype=BF))


# Marbled paper from a latent picture, half precision: what draws the picture, doubled three times.
class Marbling(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.n1, self.n2, self.a, self.b = nn.GroupNorm(8, i), nn.GroupNorm(8, o), nn.Conv2d(i, o, 3, 1, 1), nn.Conv2d(o, o, 3, 1, 1)
        self.short = nn.Conv2d(i, o, 1) if i != o else nn.Identity()

    def forward(self, x):
        return self.short(x) + self.b(F.silu(self.n2(self.a(F.silu(self.n1(x))))))


def marbled_decode():
    c = S(512, 32)
    up = lambda c: nn.Sequential(nn.Upsample(scale_factor=2.0), nn.Conv2d(c, c, 3, 1, 1))
    parts = lambda: [nn.Conv2d(8, c, 3, 1, 1), Marbling(c, c), up(c), Marbling(c, c // 2), up(c // 2), Marbling(c // 2, c // 4), up(c // 4), nn.Conv2d(c // 4, 8, 3, 1, 1)]
    m = last(built(lambda: nn.Sequential(*parts()), HALF_HERE)).eval()
    return inference(compiled(m), last(noise(S(4, 1), 8, S(64, 4), S(64, 4), dtype=HALF_HERE)))


# What was found in an archive put in order: question and page read together, with CUDA graphs by the compiler.
class Archive(nn.Module):
    def __init__(self, words, d, heads, layers, length):
        super().__init__()
        self.embed, self.places, self.layers, self.head = nn.Embedding(words, d), nn.Parameter(torch.randn(length, d) * 0.02), encoders(d, heads, layers), nn.Linear(d, 8)

    def forward(self, ids):
        return self.head(self.layers(self.embed(ids) + self.places)[:, 0])


def archive_rerank():
    words, t = S(32768, 40), S(512, 8)
    m = built(lambda: Archive(words, S(1024, 16), S(16, 2), S(6, 1), t), BF).eval()
    return inference(compiled(m, mode="reduce-overhead"), draw(words, S(64, 2), t))


# A butler's answers, one moment of 128 chats: a wide model with its keys and values in place, compiled and captured.
class Butler(nn.Module):
    def __init__(self, d, heads, wide, batch, kept):
        super().__init__()
        self.heads, self.n1, self.n2, self.qkv, self.out = heads, nn.RMSNorm(d), nn.RMSNorm(d), nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False)
        self.up, self.down = nn.Linear(d, 2 * wide, bias=False), nn.Linear(wide, d, bias=False)
        self.register_buffer("keys", torch.randn(batch, heads, kept, d // heads))
        self.register_buffer("values", torch.randn(batch, heads, kept, d // heads))
        self.register_buffer("at", torch.tensor([kept - 1]))

    def forward(self, x):
        q, k, v = self.qkv(self.n1(x)).unflatten(-1, (3, self.heads, 1, -1)).unbind(1)
        self.keys[:, :, self.at] = k
        self.values[:, :, self.at] = v
        x = x + self.out(F.scaled_dot_product_attention(q, self.keys, self.values).flatten(1))
        a, b = self.up(self.n2(x)).chunk(2, -1)
        return x + self.down(F.silu(a) * b)


def butler_tokens():
    d, batch = S(4096, 16), S(128, 2)
    layers = lambda: [Butler(d, S(32, 2), S(14336, 24), batch, S(512, 6)) for _ in range(S(4, 1))]
    m = built(lambda: nn.Sequential(*layers(), nn.RMSNorm(d), nn.Linear(d, S(32768, 20), bias=False)), BF).eval()
    return replayed(inference(compiled(m), noise(batch, d, dtype=BF)))


# Air around a glider: points of its skin lend themselves to 64 slices, which look at each other; trained.
class Slices(nn.Module):
    def __init__(self, d, heads, slices):
        super().__init__()
        self.heads, self.n1, self.n2, self.enter, self.out = heads, nn.LayerNorm(d), nn.LayerNorm(d), nn.Linear(d, d), nn.Linear(d, d)
        self.lend, self.qkv = nn.Linear(d // heads, slices), nn.Linear(d // heads, 3 * (d // heads), bias=False)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        h = self.enter(self.n1(x)).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        share = self.lend(h).softmax(-1).to(h.dtype)
        told = share.mT @ h / (share.sum(2).unsqueeze(-1) + 1e-3).to(h.dtype)
        q, k, v = self.qkv(told).chunk(3, -1)
        h = share @ F.scaled_dot_product_attention(q, k, v)
        x = x + self.out(h.transpose(1, 2).flatten(2))
        return x + self.mlp(self.n2(x))


def glider_slices():
    d, points, b = S(512, 16), S(4096, 12), S(16, 1)
    m = built(lambda: nn.Sequential(nn.Linear(8, d), *[Slices(d, S(8, 2), S(64, 4)) for _ in range(S(4, 1))], nn.LayerNorm(d), nn.Linear(d, 8)))
    return learning(m, lambda x, y: F.mse_loss(m(x).float(), y), noise(b, points, 8), noise(b, points, 8))


# Medicines that may hold to a protein, bfloat16: each atom hears of all others by a perceptron over pairs.
class Pairwise(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm, self.a, self.b, self.mid, self.out = nn.LayerNorm(d), nn.Linear(d, d), nn.Linear(d, d, bias=False), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x, apart):
        h = self.norm(x)
        pair = F.silu(self.a(h).unsqueeze(2) + self.b(h).unsqueeze(1) + apart)
        return x + self.out(F.silu(self.mid(pair)).mean(2))


class Medicine(nn.Module):
    def __init__(self, d, layers):
        super().__init__()
        self.enter, self.layers, self.head = nn.Linear(16, d), nn.ModuleList([Pairwise(d) for _ in range(layers)]), nn.Linear(d, 8)

    def forward(self, x, apart):
        x = self.enter(x)
        for layer in self.layers:
            x = layer(x, apart)
        return self.head(x)


def medicines_pairs():
    b, atoms, d = S(64, 2), S(96, 4), S(512, 8)
    f = compiled(built(lambda: Medicine(d, S(3, 1)), BF).eval())
    return inference(f, noise(b, atoms, 16, dtype=BF), noise(b, atoms, atoms, 1, dtype=BF))


HEALTHY = dict(
    cookery_train=cookery_train, skater_between=skater_between, updates_orthogonal=updates_orthogonal, butler_tokens=butler_tokens,
    glider_slices=glider_slices, marbled_decode=marbled_decode, archive_rerank=archive_rerank, medicines_pairs=medicines_pairs)
EAGER = ["updates_orthogonal"]
