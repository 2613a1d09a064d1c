"""Whole models as they are run when nothing is wrong: the healthy programs of fourth_programs.py.

Fields and layers are others than those of the sets before. About half are compiled. One that runs eagerly says by `formed` what torch.compile would
be given: its compiled form is measured too (steps alone), so that what a finding claims of it can be held against what compiling brings.
HEALTHY: {name: maker}; EAGER: the names of those that have a compiled form. The three named small_ are too small for the device.
"""
import math, os, sys
import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from program_parts import BF, D, DRY, HALF_HERE, S, autocast, built, compiled, draw, formed, inference, last, noise, replayed, training


class Attend(nn.Module):
    def __init__(self, d, heads, causal=False):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.q, self.kv, self.out = nn.Linear(d, d), nn.Linear(d, 2 * d), nn.Linear(d, d)

    def forward(self, x, memory=None, mask=None):
        b, t, d = x.shape
        source = x if memory is None else memory
        q = self.q(x).view(b, t, self.heads, -1).transpose(1, 2)
        k, v = self.kv(source).view(b, source.shape[1], 2, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    def __init__(self, d, heads, causal=False, across=False, wide=4):
        super().__init__()
        self.n1, self.attend = nn.LayerNorm(d), Attend(d, heads, causal)
        self.n2, self.up, self.down = nn.LayerNorm(d), nn.Linear(d, wide * d), nn.Linear(wide * d, d)
        if across:
            self.n3, self.across = nn.LayerNorm(d), Attend(d, heads)

    def forward(self, x, memory=None):
        x = x + self.attend(self.n1(x))
        if memory is not None:
            x = x + self.across(self.n3(x), memory)
        return x + self.down(F.gelu(self.up(self.n2(x))))


# What a customer looks at next: a causal transformer over what was looked at, against items drawn at random.
class Sessions(nn.Module):
    def __init__(self, items, d, heads, layers, length):
        super().__init__()
        self.items, self.places = nn.Embedding(items, d), nn.Parameter(torch.randn(length, d) * 0.02)
        self.layers, self.norm = nn.ModuleList([Block(d, heads, causal=True) for _ in range(layers)]), nn.LayerNorm(d)

    def forward(self, seen, following, others):
        x = self.items(seen) + self.places
        for layer in self.layers:
            x = layer(x)
        x = self.norm(x)
        right = (x * self.items(following)).sum(-1)
        wrong = x @ self.items(others).t()
        return F.softplus(-right.float()).mean() + F.softplus(wrong.float()).mean()


def sessions_train():
    items, length, batch = S(200000, 50), S(200, 6), S(192, 2)
    m = built(lambda: Sessions(items, S(256, 16), S(4, 2), S(3, 1), length))
    f = compiled(m)
    seen, following, others = draw(items, batch, length), draw(items, batch, length), draw(items, S(256, 5))
    return training(m, lambda: f(seen, following, others))


# Embeddings of proteins.
class Residues(nn.Module):
    def __init__(self, d, heads, layers, length):
        super().__init__()
        self.letters, self.places = nn.Embedding(33, d), nn.Embedding(length, d)
        self.layers, self.norm, self.head = nn.ModuleList([Block(d, heads) for _ in range(layers)]), nn.LayerNorm(d), nn.Linear(d, 40)

    def forward(self, ids):
        x = self.letters(ids) + self.places.weight
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def residues_infer():
    length = S(512, 8)
    m = built(lambda: Residues(S(1280, 16), S(20, 2), S(6, 1), length), BF).eval()
    return inference(formed(m), draw(33, S(24, 2), length))


# Training of a diffusion model's convolutions, steered by the time.
class TimedResidual(nn.Module):
    def __init__(self, i, o, t):
        super().__init__()
        self.n1, self.c1, self.time = nn.GroupNorm(8, i), nn.Conv2d(i, o, 3, padding=1), nn.Linear(t, o)
        self.n2, self.c2 = nn.GroupNorm(8, o), nn.Conv2d(o, o, 3, padding=1)
        self.short = nn.Conv2d(i, o, 1) if i != o else nn.Identity()

    def forward(self, x, t):
        h = self.c1(F.silu(self.n1(x))) + self.time(t)[:, :, None, None]
        return self.short(x) + self.c2(F.silu(self.n2(h)))


class NoiseNet(nn.Module):
    def __init__(self, c, t):
        super().__init__()
        self.time, self.enter = nn.Sequential(nn.Linear(t, t), nn.SiLU(), nn.Linear(t, t), nn.SiLU()), nn.Conv2d(4, c, 3, padding=1)
        self.a, self.b = TimedResidual(c, c, t), TimedResidual(c, 2 * c, t)
        self.mid, self.back, self.out = TimedResidual(2 * c, 2 * c, t), TimedResidual(3 * c, c, t), nn.Conv2d(c, 4, 3, padding=1)

    def forward(self, x, t):
        t = self.time(t)
        a = self.a(self.enter(x), t)
        b = self.mid(self.b(F.avg_pool2d(a, 2), t), t)
        return self.out(self.back(torch.cat([F.interpolate(b, scale_factor=2.0), a], 1), t))


def noise_train():
    t, side, batch = S(256, 8), S(64, 8), S(32, 2)
    m = last(built(lambda: NoiseNet(S(128, 8), t)))
    f = compiled(m)
    x, times, goal = last(noise(batch, 4, side, side)), noise(batch, t), last(noise(batch, 4, side, side))
    return training(m, lambda: F.mse_loss(f(x, times).float(), goal))


# A scene learnt from its photographs: positions in waves, a perceptron, the colours added up along each ray.
class Scene(nn.Module):
    def __init__(self, wide, waves):
        super().__init__()
        self.register_buffer("waves", 2.0 ** torch.arange(waves) * math.pi)
        self.layers = nn.ModuleList([nn.Linear(6 * waves if i == 0 else wide, wide) for i in range(5)])
        self.density, self.colour = nn.Linear(wide, 1), nn.Linear(wide, 3)

    def forward(self, places, gaps):
        angle = (places[..., None] * self.waves).flatten(-2)
        h = torch.cat([angle.sin(), angle.cos()], -1)
        for layer in self.layers:
            h = F.relu(layer(h))
        opaque = 1 - torch.exp(-F.softplus(self.density(h).float()).squeeze(-1) * gaps)
        through = torch.exp(torch.cumsum(torch.log(1 - opaque + 1e-6), -1))
        weights = opaque * torch.cat([torch.ones_like(through[:, :1]), through[:, :-1]], -1)
        return (weights[..., None] * torch.sigmoid(self.colour(h).float())).sum(1)


def scene_train():
    rays, samples = S(4096, 6), S(96, 5)
    m = built(lambda: Scene(S(256, 16), S(10, 3)))
    f = compiled(m)
    places, gaps, seen = torch.rand(rays, samples, 3, device=D), torch.rand(rays, samples, device=D) * 0.1, torch.rand(rays, 3, device=D)
    return training(m, lambda: F.mse_loss(f(places, gaps), seen))


# Pairs of residues: what goes by a third one, as products over it, and a transition.
class Triangle(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.n1, self.both, self.gates, self.n2, self.out, self.gate = nn.LayerNorm(c), nn.Linear(c, 2 * c), nn.Linear(c, 2 * c), nn.LayerNorm(c), nn.Linear(c, c), nn.Linear(c, c)
        self.n3, self.up, self.down = nn.LayerNorm(c), nn.Linear(c, 4 * c), nn.Linear(4 * c, c)

    def forward(self, z):
        h = self.n1(z)
        a, b = (self.both(h) * torch.sigmoid(self.gates(h))).chunk(2, -1)
        y = torch.einsum("bikc,bjkc->bijc", a, b)
        z = z + torch.sigmoid(self.gate(h)) * self.out(self.n2(y))
        return z + self.down(F.relu(self.up(self.n3(z))))


def triangle_infer():
    c, n = S(128, 8), S(320, 6)
    f = compiled(built(lambda: nn.Sequential(*[Triangle(c) for _ in range(S(3, 1))]), BF).eval())
    return inference(f, noise(1, n, n, c, dtype=BF))


# Load of a power grid: each series alone, cut into patches.
class Patches(nn.Module):
    def __init__(self, patch, patches, d, heads, layers, ahead):
        super().__init__()
        self.patch, self.enter, self.places = patch, nn.Linear(patch, d), nn.Parameter(torch.randn(patches, d) * 0.02)
        self.layers, self.head = nn.ModuleList([Block(d, heads, wide=2) for _ in range(layers)]), nn.Linear(patches * d, ahead)

    def forward(self, series):
        mean, spread = series.mean(-1, keepdim=True), series.std(-1, keepdim=True) + 1e-5
        x = self.enter(((series - mean) / spread).unfold(-1, self.patch, self.patch)) + self.places
        for layer in self.layers:
            x = layer(x)
        return self.head(x.flatten(1)).float() * spread + mean


def patches_train():
    patch, patches, rows, ahead = S(16, 4), S(64, 3), S(1344, 4), S(96, 2)
    m = built(lambda: Patches(patch, patches, S(256, 16), S(8, 2), S(3, 1), ahead))
    f = compiled(m)
    x, y = noise(rows, patch * patches), noise(rows, ahead)
    return training(m, lambda: F.mse_loss(f(x), y))


# Small pictures: wide residual layers, norm and activation ahead of each convolution.
class WideUnit(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.n1, self.c1, self.n2, self.c2 = nn.BatchNorm2d(i), nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o), nn.Conv2d(o, o, 3, 1, 1, bias=False)
        self.short = nn.Conv2d(i, o, 1, stride, bias=False) if i != o or stride > 1 else nn.Identity()

    def forward(self, x):
        h = F.relu(self.n1(x))
        return self.short(x) + self.c2(F.relu(self.n2(self.c1(h))))


def wide_train():
    c, batch, side = S(160, 8), S(384, 2), S(32, 8)
    m = last(built(lambda: nn.Sequential(nn.Conv2d(3, c, 3, padding=1), WideUnit(c, c, 1), WideUnit(c, 2 * c, 2), WideUnit(2 * c, 2 * c, 1), WideUnit(2 * c, 4 * c, 2),
                                         nn.BatchNorm2d(4 * c), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * c, 100))))
    f, x, y = formed(m), last(noise(batch, 3, side, side)), draw(100, batch)
    optimizer = torch.optim.SGD(m.parameters(), lr=1e-3, momentum=0.9, nesterov=True, fused=True)
    return training(m, lambda: F.cross_entropy(f(x).float(), y), optimizer)


# Points of a body: two resolutions beside each other that exchange; norms are folded into the convolutions.
class Exchange(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.high, self.low = nn.Conv2d(c, c, 3, padding=1), nn.Conv2d(2 * c, 2 * c, 3, padding=1)
        self.down, self.up = nn.Conv2d(c, 2 * c, 3, 2, 1), nn.Conv2d(2 * c, c, 1)

    def forward(self, h, l):
        h, l = h + F.relu_(self.high(h)), l + F.relu_(self.low(l))
        return F.relu_(h + F.interpolate(self.up(l), scale_factor=2.0)), F.relu_(l + self.down(h))


class Body(nn.Module):
    def __init__(self, c, stages):
        super().__init__()
        self.enter, self.lower = nn.Sequential(nn.Conv2d(3, c, 3, 2, 1), nn.ReLU(), nn.Conv2d(c, c, 3, 2, 1), nn.ReLU()), nn.Conv2d(c, 2 * c, 3, 2, 1)
        self.stages, self.head = nn.ModuleList([Exchange(c) for _ in range(stages)]), nn.Conv2d(c, 17, 1)

    def forward(self, x):
        h = self.enter(x)
        l = self.lower(h)
        for stage in self.stages:
            h, l = stage(h, l)
        return self.head(h)


def body_infer():
    m = last(built(lambda: Body(S(96, 8), S(5, 1)), HALF_HERE)).eval()
    return inference(formed(m), last(noise(S(64, 2), 3, S(256, 16), S(192, 16), dtype=HALF_HERE)))


# Citations: attention along edges, its softmax over those that arrive at a node.
class EdgeAttention(nn.Module):
    def __init__(self, i, heads, e):
        super().__init__()
        self.heads, self.e, self.lift = heads, e, nn.Linear(i, heads * e, bias=False)
        self.left, self.right = nn.Parameter(torch.randn(heads, e) * 0.1), nn.Parameter(torch.randn(heads, e) * 0.1)

    def forward(self, x, source, target):
        n = x.shape[0]
        h = self.lift(x).view(n, self.heads, self.e)
        score = F.leaky_relu((h * self.left).sum(-1).index_select(0, source) + (h * self.right).sum(-1).index_select(0, target), 0.2)
        weight = torch.exp(score - score.detach().amax(0))
        total = torch.zeros(n, self.heads, device=x.device).index_add(0, target, weight)
        sent = h.index_select(0, source) * (weight / total.index_select(0, target).clamp(min=1e-9))[..., None]
        return torch.zeros_like(h).index_add(0, target, sent).flatten(1)


def citations_train():
    nodes, edges, d, classes = S(60000, 30), S(500000, 90), S(256, 8), S(40, 4)
    m = built(lambda: nn.ModuleList([EdgeAttention(d, S(4, 2), S(64, 4)), EdgeAttention(S(4, 2) * S(64, 4), S(4, 2), S(64, 4)), nn.Linear(S(4, 2) * S(64, 4), classes)]))
    x, y, source, target = noise(nodes, d), draw(classes, nodes), draw(nodes, edges), draw(nodes, edges).sort().values

    def loss(x, y, source, target):
        h = F.elu(m[0](x, source, target))
        return F.cross_entropy(m[2](F.elu(m[1](h, source, target))), y)
    f = compiled(loss)
    return training(m, lambda: f(x, y, source, target), cast=False)


# Which advertisement: features crossed with themselves layer by layer, a perceptron beside.
class Crossing(nn.Module):
    def __init__(self, rows, features, e, dense, layers, wide):
        super().__init__()
        d = features * e + dense
        self.table, self.cross = nn.Embedding(rows, e), nn.ModuleList([nn.Linear(d, d) for _ in range(layers)])
        self.deep = nn.Sequential(nn.Linear(d, wide), nn.ReLU(), nn.Linear(wide, wide), nn.ReLU())
        self.out = nn.Linear(d + wide, 1)

    def forward(self, ids, dense):
        x0 = torch.cat([self.table(ids).flatten(1), dense], 1)
        x = x0
        for layer in self.cross:
            x = torch.addcmul(x, x0, layer(x))
        return self.out(torch.cat([x, self.deep(x0)], 1))


def crossing_train():
    rows, features, e, batch = S(300000, 60), S(26, 3), S(64, 4), S(32768, 4)
    m = built(lambda: Crossing(rows, features, e, S(64, 4), S(3, 2), S(2048, 16)))
    f = formed(m)
    ids, dense, y = draw(rows, batch, features), torch.rand(batch, S(64, 4), device=D), torch.rand(batch, 1, device=D).round()
    return training(m, lambda: F.binary_cross_entropy_with_logits(f(ids, dense).float(), y))


# Speech into text of another language: convolutions over frames, an encoder, a decoder.
class SpeechTranslator(nn.Module):
    def __init__(self, words, d, heads, deep):
        super().__init__()
        self.c1, self.c2 = nn.Conv1d(80, d, 5, 2, 2), nn.Conv1d(d // 2, 2 * d, 5, 2, 2)
        self.encoder, self.decoder = nn.ModuleList([Block(d, heads) for _ in range(deep)]), nn.ModuleList([Block(d, heads, causal=True, across=True) for _ in range(deep)])
        self.embed, self.n1, self.n2 = nn.Embedding(words, d), nn.LayerNorm(d), nn.LayerNorm(d)

    def forward(self, frames, ids):
        x = F.glu(self.c2(F.glu(self.c1(frames), 1)), 1).transpose(1, 2)
        for layer in self.encoder:
            x = layer(x)
        x, y = self.n1(x), self.embed(ids)
        for layer in self.decoder:
            y = layer(y, x)
        return F.linear(self.n2(y), self.embed.weight)


def speech_translation_train():
    words, batch, length = S(10240, 40), S(48, 2), S(128, 5)
    m = built(lambda: SpeechTranslator(words, S(1024, 16), S(16, 2), S(3, 1)))
    f = formed(m)
    frames, ids, labels = noise(batch, 80, S(1600, 24)), draw(words, batch, length), draw(words, batch * length)
    return training(m, lambda: F.cross_entropy(f(frames, ids).flatten(0, 1).float(), labels, label_smoothing=0.1))


# The next token of 64 chats, their keys and values in place, compiled with CUDA graphs.
class HeldLayer(nn.Module):
    def __init__(self, d, heads, rows, room):
        super().__init__()
        self.heads, self.n1, self.n2 = heads, nn.RMSNorm(d), nn.RMSNorm(d)
        self.qkv, self.out, self.both, self.down = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False), nn.Linear(d, 6 * d, bias=False), nn.Linear(3 * d, d, bias=False)
        self.register_buffer("keys", torch.zeros(rows, heads, room, d // heads))
        self.register_buffer("values", torch.zeros(rows, heads, room, d // heads))

    def forward(self, x, at, mask):
        b, _, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, 1, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        self.keys.index_copy_(2, at, k)
        self.values.index_copy_(2, at, v)
        x = x + self.out(F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=mask).transpose(1, 2).reshape(b, 1, d))
        a, g = self.both(self.n2(x)).chunk(2, -1)
        return x + self.down(F.silu(g) * a)


class Held(nn.Module):
    def __init__(self, words, d, heads, rows, room, layers):
        super().__init__()
        self.embed, self.layers = nn.Embedding(words, d), nn.ModuleList([HeldLayer(d, heads, rows, room) for _ in range(layers)])
        self.norm, self.head = nn.RMSNorm(d), nn.Linear(d, words, bias=False)

    def forward(self, ids, at, mask):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x, at, mask)
        return self.head(self.norm(x))


def chats_decode():
    words, rows, room = S(32000, 40), S(64, 2), S(1024, 6)
    f = compiled(built(lambda: Held(words, S(2048, 16), S(16, 2), rows, room, S(4, 1)), BF).eval(), mode="reduce-overhead")
    ids, at = draw(words, rows, 1), torch.tensor([room // 2], device=D)
    mask = (torch.arange(room, device=D) <= room // 2)[None, None, None]

    @torch.no_grad()
    def step():
        return f(ids, at, mask).argmax(-1)
    return step


# Plants: attention inside windows that move by half of one from layer to layer.
class WindowLayer(nn.Module):
    def __init__(self, d, heads, side, window, moved):
        super().__init__()
        self.side, self.window, self.moved, self.heads = side, window, moved, heads
        self.n1, self.qkv, self.out, self.n2, self.up, self.down = nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d), nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
        self.bias = nn.Parameter(torch.randn(1, heads, window ** 2, window ** 2) * 0.02)

    def forward(self, x):
        b, s, w = x.shape[0], self.side, self.window
        h = self.n1(x)
        if self.moved:
            h = torch.roll(h, (-(w // 2), -(w // 2)), (1, 2))
        h = h.view(b, s // w, w, s // w, w, -1).permute(0, 1, 3, 2, 4, 5).reshape(-1, w * w, h.shape[-1])
        q, k, v = self.qkv(h).view(h.shape[0], w * w, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.bias.expand(h.shape[0], -1, -1, -1)).transpose(1, 2).reshape(h.shape)
        y = self.out(y).view(b, s // w, s // w, w, w, -1).permute(0, 1, 3, 2, 4, 5).reshape(x.shape)
        if self.moved:
            y = torch.roll(y, (w // 2, w // 2), (1, 2))
        x = x + y
        return x + self.down(F.gelu(self.up(self.n2(x))))


class Plants(nn.Module):
    def __init__(self, d, heads, side, window, layers):
        super().__init__()
        self.enter = nn.Conv2d(3, d, 4, 4)
        self.layers, self.head = nn.ModuleList([WindowLayer(d, heads, side // 4, window, i % 2 == 1) for i in range(layers)]), nn.Linear(d, 500)

    def forward(self, x):
        x = self.enter(x).permute(0, 2, 3, 1)
        for layer in self.layers:
            x = layer(x)
        return self.head(x.mean((1, 2)))


def plants_infer():
    side = S(256, 32)
    f = compiled(built(lambda: Plants(S(192, 16), S(6, 2), side, S(8, 4), S(4, 2)), HALF_HERE).eval())
    return inference(f, noise(S(32, 2), 3, side, side, dtype=HALF_HERE))


# What people do in a video: space and time convolved in turn.
def video_unit(i, o, stride):
    return nn.Sequential(nn.Conv3d(i, o, (1, 3, 3), (1, stride, stride), (0, 1, 1), bias=False), nn.BatchNorm3d(o), nn.ReLU(inplace=True),
                         nn.Conv3d(o, o, (3, 1, 1), 1, (1, 0, 0), bias=False), nn.BatchNorm3d(o), nn.ReLU(inplace=True))


def video_train():
    c, batch, side, deep = S(64, 8), S(16, 2), S(112, 16), torch.channels_last_3d
    m = built(lambda: nn.Sequential(video_unit(3, c, 2), video_unit(c, c, 1), video_unit(c, 2 * c, 2), video_unit(2 * c, 4 * c, 2), nn.AdaptiveAvgPool3d(1), nn.Flatten(),
                                    nn.Linear(4 * c, 400))).to(memory_format=deep)
    f, x, y = formed(m), noise(batch, 3, S(16, 4), side, side).to(memory_format=deep), draw(400, batch)
    return training(m, lambda: F.cross_entropy(f(x).float(), y), torch.optim.SGD(m.parameters(), lr=1e-3, momentum=0.9, fused=True))


# Pictures and their captions, drawn together.
class Captions(nn.Module):
    def __init__(self, words, d, heads, deep, side, length):
        super().__init__()
        self.patch, self.places = nn.Conv2d(3, d, 16, 16), nn.Parameter(torch.randn((side // 16) ** 2, d) * 0.02)
        self.words, self.order = nn.Embedding(words, d), nn.Parameter(torch.randn(length, d) * 0.02)
        self.see, self.read = nn.ModuleList([Block(d, heads) for _ in range(deep)]), nn.ModuleList([Block(d, heads, causal=True) for _ in range(deep)])
        self.scale = nn.Parameter(torch.tensor(2.6))

    def forward(self, pictures, ids):
        x, y = self.patch(pictures).flatten(2).transpose(1, 2) + self.places, self.words(ids) + self.order
        for layer in self.see:
            x = layer(x)
        for layer in self.read:
            y = layer(y)
        x, y = F.normalize(x.mean(1).float(), dim=-1), F.normalize(y[:, -1].float(), dim=-1)
        return self.scale.exp() * x @ y.t()


def captions_train():
    words, batch, length, side = S(32000, 40), S(128, 3), S(77, 5), S(224, 32)
    m = built(lambda: Captions(words, S(512, 16), S(8, 2), S(2, 1), side, length))
    f, pictures, ids, own = compiled(m), noise(batch, 3, side, side), draw(words, batch, length), torch.arange(batch, device=D)

    def loss_of():
        alike = f(pictures, ids)
        return (F.cross_entropy(alike, own) + F.cross_entropy(alike.t(), own)) / 2
    return training(m, loss_of)


# A voice from its spectrum: widened step by step, dilated convolutions between.
class Voice(nn.Module):
    def __init__(self, c, steps):
        super().__init__()
        self.enter = nn.Conv1d(80, c, 7, padding=3)
        self.wider = nn.ModuleList([nn.ConvTranspose1d(c >> i, c >> (i + 1), 2 * s, s, s // 2) for i, s in enumerate(steps)])
        self.convs = nn.ModuleList([nn.ModuleList([nn.Conv1d(c >> (i + 1), c >> (i + 1), 7, dilation=k, padding=3 * k) for k in (1, 3)]) for i in range(len(steps))])
        self.leave = nn.Conv1d(c >> len(steps), 1, 7, padding=3)

    def forward(self, x):
        x = self.enter(x)
        for wider, convs in zip(self.wider, self.convs):
            x = wider(F.leaky_relu(x, 0.1))
            for conv in convs:
                x = x + conv(F.leaky_relu(x, 0.1))
        return torch.tanh(self.leave(F.leaky_relu(x)))


def voice_infer():
    f = compiled(built(lambda: Voice(S(512, 16), (8, 8, 4)), HALF_HERE).eval())
    return inference(f, noise(S(16, 1), 80, S(200, 6), dtype=HALF_HERE))


# Textures by two networks against each other.
def textures_train():
    c, batch, side, z = S(64, 8), S(256, 2), S(64, 16), S(128, 8)
    small = side // 8
    make = built(lambda: nn.Sequential(nn.Linear(z, 8 * c * small * small), nn.Unflatten(1, (8 * c, small, small)), nn.ReLU(),
                                       *[layer for i in range(3) for layer in (nn.Upsample(scale_factor=2), nn.Conv2d(8 * c >> i, 4 * c >> i, 3, padding=1), nn.LeakyReLU(0.2, inplace=True))],
                                       nn.Conv2d(c, 3, 3, padding=1), nn.Tanh()))
    judge = built(lambda: nn.Sequential(nn.Conv2d(3, c, 3, padding=1), nn.LeakyReLU(0.2, inplace=True),
                                        *[layer for i in range(3) for layer in (nn.Conv2d(c << i, c << (i + 1), 4, 2, 1), nn.LeakyReLU(0.2, inplace=True))], nn.Flatten(), nn.Linear(8 * c * small * small, 1)))
    make, judge = last(make), last(judge)
    g, d = formed(make), formed(judge)
    first, second = torch.optim.Adam(make.parameters(), lr=1e-4, betas=(0.0, 0.99), fused=True), torch.optim.Adam(judge.parameters(), lr=1e-4, betas=(0.0, 0.99), fused=True)
    real, seed = last(torch.rand(batch, 3, side, side, device=D)), noise(batch, z)

    def step():
        second.zero_grad(set_to_none=True)
        with autocast():
            fake = g(seed)
            loss = F.relu(1 - d(real).float()).mean() + F.relu(1 + d(fake.detach()).float()).mean()
        loss.backward()
        second.step()
        first.zero_grad(set_to_none=True)
        with autocast():
            own = -d(fake).float().mean()
        own.backward()
        first.step()
        return torch.stack([loss.detach(), own.detach() + 1])
    return step


# Birds from photographs that workers cut out of larger ones, bytes until they are on the device.
class Photographs(torch.utils.data.Dataset):
    def __init__(self, count, side, cut):
        self.cut, self.all = cut, torch.from_numpy(np.random.default_rng(0).integers(0, 256, (count, 3, side, side), dtype=np.uint8))

    def __len__(self):
        return 1000000

    def __getitem__(self, i):
        image = self.all[i % len(self.all)]
        y, x = (i * 7) % (image.shape[1] - self.cut), (i * 13) % (image.shape[2] - self.cut)
        image = image[:, y:y + self.cut, x:x + self.cut]
        return image.flip(-1) if i % 2 else image, i % 200


def birds_loaded():
    cut, batch, c = S(160, 16), S(96, 2), S(96, 8)
    batches = iter(torch.utils.data.DataLoader(Photographs(S(256, 4), cut + 32, cut), batch_size=batch, num_workers=S(8, 1), persistent_workers=True, prefetch_factor=4, pin_memory=not DRY))
    conv = lambda i, o, s: nn.Sequential(nn.Conv2d(i, o, 3, s, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))
    m = last(built(lambda: nn.Sequential(conv(3, c, 1), conv(c, c, 2), conv(c, 2 * c, 1), conv(2 * c, 2 * c, 2), conv(2 * c, 4 * c, 1), conv(4 * c, 4 * c, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                                         nn.Linear(4 * c, 200))))
    f, optimizer = formed(m), torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True)

    def step():
        x, y = next(batches)
        x, y = x.to(D, non_blocking=True), y.to(D, non_blocking=True)
        optimizer.zero_grad(set_to_none=True)
        with autocast():
            x = x.to(BF, memory_format=torch.channels_last).mul_(1 / 128).sub_(1.0)
            loss = F.cross_entropy(f(x).float(), y)
        loss.backward()
        optimizer.step()
        return loss.detach()
    return step


# Language: keys and values from one narrow latent, gated perceptrons.
class Latent(nn.Module):
    def __init__(self, d, heads, narrow):
        super().__init__()
        self.heads, self.n1, self.n2, self.nk = heads, nn.RMSNorm(d), nn.RMSNorm(d), nn.RMSNorm(narrow)
        self.q, self.squeeze, self.widen, self.out = nn.Linear(d, d, bias=False), nn.Linear(d, narrow, bias=False), nn.Linear(narrow, 2 * d, bias=False), nn.Linear(d, d, bias=False)
        self.gate, self.up, self.down = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, 3 * d, bias=False), nn.Linear(3 * d, d, bias=False)

    def forward(self, x):
        b, t, d = x.shape
        h = self.n1(x)
        q = self.q(h).view(b, t, self.heads, -1).transpose(1, 2)
        k, v = self.widen(self.nk(self.squeeze(h))).view(b, t, 2, self.heads, -1).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, d))
        h = self.n2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class LatentWords(nn.Module):
    def __init__(self, words, d, heads, narrow, layers):
        super().__init__()
        self.embed, self.layers = nn.Embedding(words, d), nn.ModuleList([Latent(d, heads, narrow) for _ in range(layers)])
        self.norm, self.head = nn.RMSNorm(d), nn.Linear(d, words, bias=False)

    def forward(self, ids, labels):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return F.cross_entropy(self.head(self.norm(x)).flatten(0, 1).float(), labels)


def latent_train():
    words, length, batch = S(24576, 40), S(1024, 8), S(8, 2)
    m = built(lambda: LatentWords(words, S(1280, 16), S(10, 2), S(320, 8), S(2, 1)))
    f, ids, labels = compiled(m), draw(words, batch, length), draw(words, batch * length)
    return training(m, lambda: f(ids, labels))


def small_names_infer():
    m = built(lambda: nn.Sequential(nn.Embedding(S(5000, 30), S(128, 8)), *[Block(S(128, 8), S(4, 2)) for _ in range(S(3, 1))], nn.Linear(S(128, 8), 9)), HALF_HERE).eval()
    f, ids = compiled(m, mode="reduce-overhead"), draw(S(5000, 30), 4, S(48, 6))

    @torch.no_grad()
    def step():
        return f(ids).argmax(-1)
    return step


class Demand(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.over, self.head = nn.GRU(12, d, batch_first=True), nn.Linear(d, 7)

    def forward(self, x):
        return self.head(self.over(x)[0][:, -1])


def small_demand_train():
    m = built(lambda: Demand(S(128, 8)))
    f, x, y = formed(m), noise(S(256, 4), S(28, 4), 12), noise(S(256, 4), 7)
    return training(m, lambda: F.l1_loss(f(x), y), torch.optim.Adam(m.parameters(), lr=1e-4, fused=True), cast=False)


def small_games_replay():
    c, batch = S(32, 4), S(64, 2)
    m = last(built(lambda: nn.Sequential(nn.Conv2d(4, c, 8, 4), nn.ReLU(), nn.Conv2d(c, 2 * c, 4, 2), nn.ReLU(), nn.Conv2d(2 * c, 2 * c, 3), nn.ReLU(), nn.Flatten(), nn.Linear(2 * c * 49, S(512, 16)), nn.ReLU(),
                                         nn.Linear(S(512, 16), 18)), HALF_HERE)).eval()
    x = last(noise(batch, 4, 84, 84, dtype=HALF_HERE))

    def infer():
        with torch.no_grad():
            return m(x).argmax(-1)
    return replayed(infer)


HEALTHY = dict(
    sessions_train=sessions_train, residues_infer=residues_infer, wide_train=wide_train, triangle_infer=triangle_infer, crossing_train=crossing_train, noise_train=noise_train,
    small_demand_train=small_demand_train, body_infer=body_infer, scene_train=scene_train, speech_translation_train=speech_translation_train, chats_decode=chats_decode,
    patches_train=patches_train, video_train=video_train, small_names_infer=small_names_infer, textures_train=textures_train, plants_infer=plants_infer, captions_train=captions_train,
    birds_loaded=birds_loaded, citations_train=citations_train, voice_infer=voice_infer, small_games_replay=small_games_replay, latent_train=latent_train)
EAGER = ["residues_infer", "wide_train", "crossing_train", "small_demand_train", "body_infer", "speech_translation_train", "video_train", "textures_train", "birds_loaded"]
