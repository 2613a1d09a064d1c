"""Whole models in which nothing is left to mend: the healthy programs of sixth_programs.py.

All usual advice is followed already: compiled or captured, narrow types or TF32, channels last, fused optimizer and attention, sizes that suit tensor
cores, data on the device; each is large enough that the device decides its step. Fields are others than those of the sets before. HEALTHY: {name: maker}.
"""
import os, sys
import torch, torch.nn as nn, torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from program_parts import BF, D, HALF_HERE, S, built, compiled, draw, inference, last, noise, replayed, training


def learning(m, loss_of, *inputs):
    """A step of training, model and loss compiled as one."""
    f = compiled(loss_of)
    return training(m, lambda: f(*inputs))


def turned(x, cos, sin):
    a, b = x.chunk(2, -1)
    cos, sin = cos.to(x.dtype), sin.to(x.dtype)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


def angles(length, e):
    angle = torch.outer(torch.arange(length).float(), 10000.0 ** (-torch.arange(e // 2) / (e // 2)))
    return angle.cos(), angle.sin()


class Attend(nn.Module):
    """Attention by the library's kernel; keys and values may be shared by groups of heads, places may be told by turning."""

    def __init__(self, d, heads, shared=None, causal=False, bias=True):
        super().__init__()
        self.heads, self.shared, self.causal = heads, shared or heads, causal
        self.q, self.both, self.out = nn.Linear(d, d, bias=bias), nn.Linear(d, 2 * self.shared * (d // heads), bias=bias), nn.Linear(d, d, bias=bias)

    def forward(self, x, turn=None):
        q = self.q(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        k, v = self.both(x).unflatten(-1, (2, self.shared, -1)).unbind(2)
        k, v = k.transpose(1, 2), v.transpose(1, 2)
        if turn is not None:
            q, k = turned(q, *turn), turned(k, *turn)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal, enable_gqa=self.shared != self.heads)
        return self.out(y.transpose(1, 2).flatten(2))


class Encoder(nn.Module):
    def __init__(self, d, heads, wide=4):
        super().__init__()
        self.n1, self.attend, self.n2 = nn.LayerNorm(d), Attend(d, heads), nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, wide * d), nn.GELU(), nn.Linear(wide * d, d))

    def forward(self, x):
        x = x + self.attend(self.n1(x))
        return x + self.mlp(self.n2(x))


def encoders(d, heads, layers, wide=4):
    return nn.Sequential(*[Encoder(d, heads, wide) for _ in range(layers)])


class Decoder(nn.Module):
    def __init__(self, d, heads, wide, shared=None):
        super().__init__()
        self.n1, self.attend, self.n2 = nn.RMSNorm(d), Attend(d, heads, shared, True, False), nn.RMSNorm(d)
        self.both, self.down = nn.Linear(d, 2 * wide, bias=False), nn.Linear(wide, d, bias=False)

    def forward(self, x, turn):
        x = x + self.attend(self.n1(x), turn)
        a, g = self.both(self.n2(x)).chunk(2, -1)
        return x + self.down(F.silu(a) * g)


# A school's tutor: a language model, trained.
class Tutor(nn.Module):
    def __init__(self, words, d, heads, wide, layers, length, shared=None, only_last=False):
        super().__init__()
        self.only_last, self.embed, self.norm, self.head = only_last, nn.Embedding(words, d), nn.RMSNorm(d), nn.Linear(d, words, bias=False)
        self.layers = nn.ModuleList([Decoder(d, heads, wide, shared) for _ in range(layers)])
        cos, sin = angles(length, d // heads)
        self.register_buffer("cos", cos)
        self.register_buffer("sin", sin)

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x, (self.cos, self.sin))
        return self.head(self.norm(x[:, -1:] if self.only_last else x))


def tutor_train():
    words, t, b = S(32768, 40), S(1024, 8), S(8, 2)
    m = built(lambda: Tutor(words, S(1024, 16), S(16, 2), S(2816, 24), S(5, 1), t))
    return learning(m, lambda ids, labels: F.cross_entropy(m(ids).flatten(0, 1).float(), labels), draw(words, b, t), draw(words, b * t))


# Notes of a meeting read by a chat model, bfloat16: the prompt alone, keys shared by groups of heads.
def notes_prefill():
    words, t = S(32768, 40), S(2048, 8)
    m = built(lambda: Tutor(words, S(2048, 16), S(16, 4), S(5632, 24), S(4, 1), t, S(4, 2), True), BF).eval()
    return inference(compiled(m), draw(words, S(4, 2), t))


# Panes of glass looked at for bubbles: residual convolutions, norms folded in, half precision.
class Folded(nn.Module):
    def __init__(self, i, o, stride=1):
        super().__init__()
        self.a, self.b = nn.Conv2d(i, o, 3, stride, 1), nn.Conv2d(o, o, 3, 1, 1)
        self.short = nn.Conv2d(i, o, 1, stride) if i != o or stride > 1 else nn.Identity()

    def forward(self, x):
        return F.relu(self.short(x) + self.b(F.relu(self.a(x))))


def glass(c, classes):
    return nn.Sequential(nn.Conv2d(8, c, 4, 4), nn.ReLU(), Folded(c, c), Folded(c, c), Folded(c, 2 * c, 2), Folded(2 * c, 2 * c),
                         Folded(2 * c, 4 * c, 2), Folded(4 * c, 4 * c), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * c, classes))


def glass_infer():
    m = last(built(lambda: glass(S(128, 8), S(16, 3)), HALF_HERE)).eval()
    return inference(compiled(m), last(noise(S(128, 2), 8, S(256, 32), S(256, 32), dtype=HALF_HERE)))


# Meteors in pictures of the sky, trained: narrow, convolved, wide again.
def normed(i, o, k=1, stride=1):
    return nn.Sequential(nn.Conv2d(i, o, k, stride, k // 2, bias=False), nn.BatchNorm2d(o))


class Bottle(nn.Module):
    def __init__(self, i, o, stride=1):
        super().__init__()
        self.a, self.b, self.c = normed(i, o // 4), normed(o // 4, o // 4, 3, stride), normed(o // 4, o)
        self.short = normed(i, o, 1, stride) if i != o or stride > 1 else nn.Identity()

    def forward(self, x):
        return F.relu(self.short(x) + self.c(F.relu(self.b(F.relu(self.a(x))))))


class Basic(nn.Module):
    def __init__(self, i, o, stride=1):
        super().__init__()
        self.a, self.b = normed(i, o, 3, stride), normed(o, o, 3)
        self.short = normed(i, o, 1, stride) if i != o or stride > 1 else nn.Identity()

    def forward(self, x):
        return F.relu(self.short(x) + self.b(F.relu(self.a(x))))


def pictures(block, c, depths, seen, classes):
    """Stages of blocks, each twice as wide and half as large as the one before."""
    parts, i = [nn.Conv2d(seen, c, 4, 4, bias=False), nn.BatchNorm2d(c), nn.ReLU()], c
    for stage, depth in enumerate(depths):
        for n in range(depth):
            parts.append(block(i, c << stage, 2 if stage and not n else 1))
            i = c << stage
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(i, classes))


def meteors_train():
    batch, side = S(128, 2), S(256, 32)
    m = last(built(lambda: pictures(Bottle, S(256, 16), S((2, 2, 2), (1, 1)), 8, S(24, 3))))
    return learning(m, lambda x, y: F.cross_entropy(m(x).float(), y), last(noise(batch, 8, side, side)), draw(S(24, 3), batch))


# Slides of a pathologist, bfloat16: tiles as patches, one answer for each tile.
class Slides(nn.Module):
    def __init__(self, d, heads, layers, side, patch, classes):
        super().__init__()
        self.patch, self.places = nn.Conv2d(3, d, patch, patch), nn.Parameter(torch.randn((side // patch) ** 2, d) * 0.02)
        self.layers, self.norm, self.head = encoders(d, heads, layers), nn.LayerNorm(d), nn.Linear(d, classes)

    def forward(self, x):
        x = self.layers(self.patch(x).flatten(2).transpose(1, 2) + self.places)
        return self.head(self.norm(x.mean(1)))


def slides_infer():
    side = S(256, 32)
    m = built(lambda: Slides(S(1024, 16), S(16, 2), S(6, 1), side, 16, S(32, 3)), BF).eval()
    return inference(compiled(m), noise(S(80, 2), 3, side, side, dtype=BF))


# Harvest from soil and weather, trained with TF32: wide perceptrons, compiled, the whole step captured.
class Wider(nn.Module):
    def __init__(self, d, wide):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(d), nn.Linear(d, wide), nn.Linear(wide, d)

    def forward(self, x):
        return x + self.down(F.relu(self.up(self.norm(x))))


def harvest(seen, d, wide, blocks):
    return nn.Sequential(nn.Linear(seen, d), *[Wider(d, wide) for _ in range(blocks)], nn.Linear(d, 8))


def harvest_replay():
    rows, seen = S(8192, 4), S(512, 8)
    m = built(lambda: harvest(seen, S(2048, 16), S(4096, 32), S(3, 1)))
    f, x, y = compiled(lambda x, y: F.mse_loss(m(x), y)), noise(rows, seen), noise(rows, 8)
    return replayed(training(m, lambda: f(x, y), torch.optim.Adam(m.parameters(), lr=1e-5, fused=True, capturable=True), cast=False))


# Questions to a library's desk as vectors, with CUDA graphs by the compiler.
class Questions(nn.Module):
    def __init__(self, words, d, heads, layers, length):
        super().__init__()
        self.embed, self.places, self.layers, self.norm = nn.Embedding(words, d), nn.Embedding(length, d), encoders(d, heads, layers), nn.LayerNorm(d)

    def forward(self, ids):
        return F.normalize(self.norm(self.layers(self.embed(ids) + self.places.weight)).mean(1), dim=-1)


def questions_overhead():
    words, t = S(32768, 40), S(256, 6)
    f, ids = compiled(built(lambda: Questions(words, S(768, 16), S(12, 2), S(8, 1), t), BF).eval(), mode="reduce-overhead"), draw(words, S(64, 2), t)

    @torch.no_grad()
    def step():
        return f(ids).clone()
    return step


# Clouds in infrared, trained: down by strides, up by nearest neighbours, joined across.
class Clouds(nn.Module):
    def __init__(self, c, classes):
        super().__init__()
        two = lambda i, o, stride=1: nn.Sequential(normed(i, o, 3, stride), nn.ReLU(), normed(o, o, 3), nn.ReLU())
        self.a, self.b, self.c, self.d = two(8, c), two(c, 2 * c, 2), two(2 * c, 4 * c, 2), two(4 * c, 4 * c, 2)
        self.up, self.out = nn.ModuleList([two(8 * c, 2 * c), two(4 * c, c), two(2 * c, c)]), nn.Conv2d(c, classes, 1)

    def forward(self, x):
        a = self.a(x)
        b = self.b(a)
        c = self.c(b)
        h = self.d(c)
        for up, beside in zip(self.up, (c, b, a)):
            h = up(torch.cat([F.interpolate(h, scale_factor=2.0), beside], 1))
        return self.out(h)


def clouds_train():
    batch, side, classes = S(16, 2), S(256, 16), 8
    m = last(built(lambda: Clouds(S(64, 8), classes)))
    return learning(m, lambda x, y: F.cross_entropy(m(x).float(), y), last(noise(batch, 8, side, side)), draw(classes, batch, side, side))


# One step of denoising for an animated film: layers steered by the time.
class Steered(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.n1, self.n2, self.attend = nn.LayerNorm(d, elementwise_affine=False), nn.LayerNorm(d, elementwise_affine=False), Attend(d, heads)
        self.mlp, self.steer = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(approximate="tanh"), nn.Linear(4 * d, d)), nn.Linear(d, 6 * d)

    def forward(self, x, time):
        a, b, c, e, g, h = self.steer(F.silu(time)).unsqueeze(1).chunk(6, -1)
        x = x + c * self.attend(self.n1(x) * (1 + a) + b)
        return x + h * self.mlp(self.n2(x) * (1 + e) + g)


class Film(nn.Module):
    def __init__(self, seen, d, heads, layers):
        super().__init__()
        self.enter, self.layers, self.out = nn.Linear(seen, d), nn.ModuleList([Steered(d, heads) for _ in range(layers)]), nn.Linear(d, seen)

    def forward(self, x, time):
        x = self.enter(x)
        for layer in self.layers:
            x = layer(x, time)
        return self.out(x)


def animated_infer():
    b, d, seen = S(12, 2), S(1024, 16), S(64, 8)
    f = compiled(built(lambda: Film(seen, d, S(16, 2), S(6, 1)), BF).eval())
    return inference(f, noise(b, S(1024, 6), seen, dtype=BF), noise(b, d, dtype=BF))


# Museum pieces and their descriptions, drawn together; what other models saw in both is given.
class Tower(nn.Module):
    def __init__(self, seen, d, heads, layers, out):
        super().__init__()
        self.enter, self.layers, self.out = nn.Linear(seen, d), encoders(d, heads, layers), nn.Linear(d, out)

    def forward(self, x):
        return F.normalize(self.out(self.layers(self.enter(x)).mean(1)).float(), dim=-1)


def museum_train():
    b, seen = S(256, 4), S(512, 8)
    tower = lambda: Tower(seen, S(768, 16), S(12, 2), S(3, 1), S(512, 8))
    m = built(lambda: nn.ModuleList([tower(), tower()]))
    x, y, own = noise(b, S(64, 5), seen), noise(b, S(64, 5), seen), torch.arange(b, device=D)

    def loss(x, y):
        alike = (m[0](x) @ m[1](y).t()).float() * 14.0
        return F.cross_entropy(alike, own) + F.cross_entropy(alike.t(), own)
    return learning(m, loss, x, y)


# Phones from speech, frame by frame, trained.
def phones(seen, d, heads, layers, out):
    return nn.Sequential(nn.Linear(seen, d), encoders(d, heads, layers), nn.LayerNorm(d), nn.Linear(d, out))


def phones_train():
    b, t, out = S(32, 2), S(768, 6), S(64, 5)
    m = built(lambda: phones(S(128, 8), S(512, 16), S(8, 2), S(5, 1), out))
    return learning(m, lambda x, y: F.cross_entropy(m(x).flatten(0, 1).float(), y), noise(b, t, S(128, 8)), draw(out, b * t))


# How hard an alloy is, bfloat16: atoms ask their nearest ones.
class Asked(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm, self.own, self.other, self.mid, self.down = nn.LayerNorm(d), nn.Linear(d, 2 * d), nn.Linear(d, 2 * d, bias=False), nn.Linear(2 * d, d), nn.Linear(d, d)

    def forward(self, x, near):
        h = self.norm(x)
        sent = F.silu(self.own(h).unsqueeze(1) + self.other(h)[near])
        return x + self.down(F.silu(self.mid(sent)).sum(1))


class Alloys(nn.Module):
    def __init__(self, kinds, d, layers):
        super().__init__()
        self.embed, self.layers, self.head = nn.Embedding(kinds, d), nn.ModuleList([Asked(d) for _ in range(layers)]), nn.Linear(d, 8)

    def forward(self, kinds, near):
        x = self.embed(kinds)
        for layer in self.layers:
            x = layer(x, near)
        return self.head(x)


def alloys_infer():
    atoms = S(60000, 20)
    f = compiled(built(lambda: Alloys(S(64, 5), S(128, 8), S(4, 2)), BF).eval())
    return inference(f, draw(S(64, 5), atoms), draw(atoms, atoms, S(32, 3)))


HEALTHY = dict(
    tutor_train=tutor_train, glass_infer=glass_infer, clouds_train=clouds_train, slides_infer=slides_infer, harvest_replay=harvest_replay,
    alloys_infer=alloys_infer, meteors_train=meteors_train, notes_prefill=notes_prefill, phones_train=phones_train, questions_overhead=questions_overhead,
    museum_train=museum_train, animated_infer=animated_infer)
