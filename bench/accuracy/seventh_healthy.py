"""Whole models in which nothing is left to mend: the healthy programs of seventh_programs.py.

Compiled or captured, in narrow types or TF32, channels last, with fused optimizers and attention, sizes that suit tensor cores, and data on the device.
The two of EAGER run as they are: products and attention are nearly all of their time; their compiled form is measured too. HEALTHY: {name: maker}.
"""
import os, sys
import torch, torch.nn as nn, torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from sixth_healthy import Encoder, angles, encoders, learning, normed, turned
from program_parts import BF, D, HALF_HERE, S, built, compiled, draw, formed, inference, last, noise, replayed, training


# Novels in many languages: a language model whose attention and perceptron read the same norm, trained.
class Beside(nn.Module):
    def __init__(self, d, heads, wide):
        super().__init__()
        self.d, self.heads, self.norm = d, heads, nn.RMSNorm(d)
        self.enter, self.out, self.down = nn.Linear(d, 3 * d + wide, bias=False), nn.Linear(d, d, bias=False), nn.Linear(wide, d, bias=False)

    def forward(self, x, cos, sin):
        q, k, v, h = self.enter(self.norm(x)).split([self.d, self.d, self.d, self.enter.out_features - 3 * self.d], -1)
        q, k, v = (a.unflatten(-1, (self.heads, -1)).transpose(1, 2) for a in (q, k, v))
        y = F.scaled_dot_product_attention(turned(q, cos, sin), turned(k, cos, sin), v, is_causal=True)
        return x + self.out(y.transpose(1, 2).flatten(2)) + self.down(F.gelu(h))


class Novels(nn.Module):
    def __init__(self, words, d, heads, layers, length):
        super().__init__()
        self.embed, self.norm, self.head = nn.Embedding(words, d), nn.RMSNorm(d), nn.Linear(d, words, bias=False)
        self.layers = nn.ModuleList([Beside(d, heads, 4 * d) for _ in range(layers)])
        cos, sin = angles(length, d // heads)
        self.register_buffer("cos", cos)
        self.register_buffer("sin", sin)

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        return self.head(self.norm(x))


def novels_train():
    words, t, b = S(16384, 40), S(1024, 8), S(8, 2)
    m = built(lambda: Novels(words, S(1024, 16), S(16, 2), S(4, 1), t))
    return learning(m, lambda ids, labels: F.cross_entropy(m(ids).flatten(0, 1).float(), labels), draw(words, b, t), draw(words, b * t))


# Mosses in photographs, trained: a wide, a narrow and no convolution added up.
class Three(nn.Module):
    def __init__(self, i, o, stride=1):
        super().__init__()
        self.wide, self.narrow, self.own = normed(i, o, 3, stride), normed(i, o, 1, stride), nn.BatchNorm2d(o) if i == o and stride == 1 else None

    def forward(self, x):
        y = self.wide(x) + self.narrow(x)
        return F.relu(y if self.own is None else y + self.own(x))


def moss_train():
    c, batch, side = S(64, 8), S(256, 2), S(224, 32)
    stages = [layer for i, o in ((c, 2 * c), (2 * c, 4 * c), (4 * c, 8 * c)) for layer in (Three(i, o, 2), Three(o, o))]
    m = last(nn.Sequential(nn.Conv2d(8, c, 4, 4), nn.ReLU(), Three(c, c), *stages, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8 * c, 64)).to(D))
    return learning(m, lambda x, y: F.cross_entropy(m(x).float(), y), last(noise(batch, 8, side, side)), draw(64, batch))


# Fabrics by their weave, bfloat16: perceptrons over places and over channels by turns.
class Woven(nn.Module):
    def __init__(self, places, d):
        super().__init__()
        two = lambda n, wide: nn.Sequential(nn.Linear(n, wide), nn.GELU(), nn.Linear(wide, n))
        self.n1, self.n2, self.across, self.along = nn.LayerNorm(d), nn.LayerNorm(d), two(places, 4 * places), two(d, 4 * d)

    def forward(self, x):
        x = x + self.across(self.n1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.along(self.n2(x))


def weave_infer():
    places, d = S(256, 6), S(768, 16)
    m = built(lambda: nn.Sequential(*[Woven(places, d) for _ in range(S(6, 1))], nn.LayerNorm(d), nn.Linear(d, S(64, 4))), BF).eval()
    return inference(compiled(m), noise(S(96, 2), places, d, dtype=BF))


# Enamel ornaments out of noise, half precision: one call of a convolutional denoiser with norms over groups and attention in the middle.
class Grouped(nn.Module):
    def __init__(self, i, o, timed):
        super().__init__()
        self.n1, self.n2, self.a, self.b = nn.GroupNorm(8, i), nn.GroupNorm(8, o), nn.Conv2d(i, o, 3, 1, 1), nn.Conv2d(o, o, 3, 1, 1)
        self.time, self.short = nn.Linear(timed, o), nn.Conv2d(i, o, 1) if i != o else nn.Identity()

    def forward(self, x, time):
        h = self.a(F.silu(self.n1(x))) + self.time(time)[:, :, None, None]
        return self.short(x) + self.b(F.silu(self.n2(h)))


class Enamel(nn.Module):
    def __init__(self, seen, c, timed, heads):
        super().__init__()
        self.enter, self.out = nn.Conv2d(seen, c, 3, 1, 1), nn.Conv2d(c, seen, 3, 1, 1)
        self.a, self.b, self.mid, self.up, self.end = (Grouped(i, o, timed) for i, o in ((c, c), (c, 2 * c), (2 * c, 2 * c), (4 * c, c), (2 * c, c)))
        self.down, self.look = nn.Conv2d(c, c, 3, 2, 1), Encoder(2 * c, heads)

    def forward(self, x, time):
        a = self.a(self.enter(x), time)
        b = self.b(self.down(a), time)
        h = self.look(b.flatten(2).transpose(1, 2)).transpose(1, 2).unflatten(2, b.shape[2:])
        h = self.up(torch.cat([self.mid(h, time), b], 1), time)
        return self.out(self.end(torch.cat([F.interpolate(h, scale_factor=2.0), a], 1), time))


def enamel_infer():
    b, side, timed = S(16, 2), S(64, 8), S(512, 8)
    f = compiled(last(built(lambda: Enamel(8, S(256, 8), timed, S(8, 2)), HALF_HERE)).eval())
    return inference(f, last(noise(b, 8, side, side, dtype=HALF_HERE)), noise(b, timed, dtype=HALF_HERE))


# Postcards with most patches hidden: a quarter is read, all are drawn; trained.
class Postcards(nn.Module):
    def __init__(self, patch, places, d, heads, layers, small, small_heads):
        super().__init__()
        self.places, self.again, self.hidden = (nn.Parameter(torch.randn(*shape) * 0.02) for shape in ((places, d), (places, small), (small,)))
        self.enter, self.out = nn.Linear(patch, d), nn.Linear(small, patch)
        self.read, self.pass_on, self.write = encoders(d, heads, layers), nn.Linear(d, small), encoders(small, small_heads, 2)

    def forward(self, x, keep, back):
        h = self.enter(x.gather(1, keep.unsqueeze(-1).expand(-1, -1, x.shape[-1]))) + self.places[keep]
        h = self.pass_on(self.read(h))
        h = torch.cat([h, self.hidden.to(h.dtype).expand(h.shape[0], x.shape[1] - h.shape[1], -1)], 1)
        return self.out(self.write(h.gather(1, back.unsqueeze(-1).expand(-1, -1, h.shape[-1])) + self.again))


def postcards_train():
    b, places, patch = S(128, 2), S(256, 8), S(768, 12)
    m, x = built(lambda: Postcards(patch, places, S(768, 16), S(12, 2), S(5, 1), S(384, 8), S(6, 2))), noise(b, places, patch)
    order = torch.rand(b, places, device=D).argsort(1)
    keep, back = order[:, :places // 4].contiguous(), order.argsort(1)
    return learning(m, lambda x, keep, back: F.mse_loss(m(x, keep, back).float(), x), x, keep, back)


# Orchestral scores, trained: a few hundred latent vectors ask all notes, then each other.
class Asking(nn.Module):
    def __init__(self, seen, d, heads, latents, layers, out):
        super().__init__()
        self.heads, self.latents, self.q, self.both, self.mix = heads, nn.Parameter(torch.randn(latents, d)), nn.Linear(d, d), nn.Linear(seen, 2 * d), nn.Linear(d, d)
        self.norm, self.layers, self.head = nn.LayerNorm(seen), encoders(d, heads, layers), nn.Linear(d, out)

    def forward(self, x):
        q = self.q(self.latents).unflatten(-1, (self.heads, -1)).transpose(0, 1).expand(x.shape[0], -1, -1, -1)
        k, v = self.both(self.norm(x)).unflatten(-1, (2, self.heads, -1)).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        return self.head(self.layers(self.latents + self.mix(y)).mean(1))


def scores_train():
    b, notes, seen = S(32, 2), S(4096, 12), S(256, 8)
    m = built(lambda: Asking(seen, S(768, 16), S(12, 2), S(256, 4), S(5, 1), S(32, 4)))
    return learning(m, lambda x, y: F.cross_entropy(m(x).float(), y), noise(b, notes, seen), draw(S(32, 4), b))


# A shoe's surface as a network of sines, with TF32: compiled, the whole step captured.
class Sine(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.layer = nn.Linear(i, o)

    def forward(self, x):
        return torch.sin(self.layer(x))


def shoe_replay():
    rows, d = S(131072, 12), S(512, 8)
    m = built(lambda: nn.Sequential(Sine(8, d), *[Sine(d, d) for _ in range(S(5, 1))], nn.Linear(d, 8)))
    f, x, y = compiled(lambda x, y: F.mse_loss(m(x), y)), noise(rows, 8), noise(rows, 8)
    return replayed(training(m, lambda: f(x, y), torch.optim.Adam(m.parameters(), lr=1e-5, fused=True, capturable=True), cast=False))


# Rocks in a quarry scanned as points, bfloat16: each point asks its neighbours for the largest answer.
class Largest(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm, self.own, self.other, self.mid, self.out = nn.LayerNorm(d), nn.Linear(d, d), nn.Linear(d, d, bias=False), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x, near):
        h = self.norm(x)
        asked = F.relu(self.other(h)[near] + self.own(h).unsqueeze(1))
        return x + self.out(self.mid(asked).amax(1))


class Quarry(nn.Module):
    def __init__(self, d, layers):
        super().__init__()
        self.enter, self.layers, self.head = nn.Linear(8, d), nn.ModuleList([Largest(d) for _ in range(layers)]), nn.Linear(d, 16)

    def forward(self, x, near):
        x = self.enter(x)
        for layer in self.layers:
            x = layer(x, near)
        return self.head(x)


def quarry_infer():
    points = S(65536, 20)
    f = compiled(built(lambda: Quarry(S(256, 8), S(4, 2)), BF).eval())
    return inference(f, noise(points, 8, dtype=BF), draw(points, points, S(16, 3)))


# Tenders read whole, eager: layers so wide that all but their products is little.
def tenders_infer():
    d = S(4096, 16)
    m = built(lambda: encoders(d, S(32, 2), S(3, 1)), BF).eval()
    return inference(formed(m), noise(S(4, 2), S(2048, 6), d, dtype=BF))


# A plant's genome in one piece, eager: attention over all of it.
class Genome(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.norm, self.qkv, self.out = heads, nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        return x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


def genome_infer():
    d = S(1024, 16)
    m = built(lambda: nn.Sequential(*[Genome(d, S(8, 2)) for _ in range(S(2, 1))]), BF).eval()
    return inference(formed(m), noise(1, S(32768, 24), d, dtype=BF))


HEALTHY = dict(
    postcards_train=postcards_train, weave_infer=weave_infer, moss_train=moss_train, tenders_infer=tenders_infer, novels_train=novels_train,
    enamel_infer=enamel_infer, shoe_replay=shoe_replay, genome_infer=genome_infer, scores_train=scores_train, quarry_infer=quarry_infer)
EAGER = ["tenders_infer", "genome_infer"]
