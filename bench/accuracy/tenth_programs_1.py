"""The first part of a tenth set of programs that no rule was read from: pairs with one fault and without it, and healthy ones. Only scored.

PROGRAMS is what recording.py records, in this order (variety first, so that a run cut short has some of everything). FAULTS says what was planted
in each pair. The mended half follows the advice that docs/findings.md gives for the finding, to the letter, and changes nothing else. A step returns
what it computed, so that a pair can be compared. COMPILED: what has something to compile. Medicine, chemistry and drugs, language models and their
fine-tuning, farming, satellites and maps, insurance, sport.
"""
import logging, math, os, sys
import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from program_parts import BF, D, DRY, HALF_HERE, S, autocast, built, compiled, draw, inference, last, noise, pinned, replayed, training
from program_parts import pair, in_turns

SETS = [["shapes", "plain"], ["shapes", "stack"], ["memory", "shapes_stack"], ["plain", "shapes"], ["shapes", "modules"], ["stack", "shapes"]]


def options(index):
    return SETS[index % len(SETS)]


# ---- Layers that several programs have ----------------------------------------------------------------------------------------


class Rms(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))

    def forward(self, x):
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight.to(x.dtype) * h.to(x.dtype)


def rotary(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


def plain(i, o):
    return nn.Linear(i, o, bias=False)


class Llama(nn.Module):
    """A layer of a language model; with a mask its attention is written by hand."""

    def __init__(self, d, heads, groups, wide, linear=plain, causal=True):
        super().__init__()
        self.size, self.times, self.causal, self.n1, self.n2 = d // heads, heads // groups, causal, Rms(d), Rms(d)
        self.q, self.k, self.v, self.out = linear(d, d), linear(d, groups * self.size), linear(d, groups * self.size), linear(d, d)
        self.gate, self.up, self.down = linear(d, wide), linear(d, wide), linear(wide, d)

    def forward(self, x, cos, sin, mask=None):
        h = self.n1(x)
        q, k, v = (part(h).unflatten(-1, (-1, self.size)).transpose(1, 2) for part in (self.q, self.k, self.v))
        q, k = rotary(q, cos, sin), rotary(k, cos, sin)
        if self.times > 1:
            k, v = (a[:, :, None].expand(-1, -1, self.times, -1, -1).flatten(1, 2) for a in (k, v))
        if mask is None:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        else:
            weights = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.size) + mask
            y = torch.matmul(F.softmax(weights, dim=-1, dtype=torch.float32).to(q.dtype), v)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        h = self.n2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Decoder(nn.Module):
    def __init__(self, words, d, heads, groups, wide, layers, length, **more):
        super().__init__()
        self.embed, self.norm, self.head = nn.Embedding(words, d), Rms(d), plain(d, words)
        self.layers = nn.ModuleList([Llama(d, heads, groups, wide, **more) for _ in range(layers)])
        size = d // heads
        angle = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, size, 2) / size).repeat(2)
        self.register_buffer("cos", angle.cos())
        self.register_buffer("sin", angle.sin())

    def forward(self, ids, mask=None):
        x = self.embed(ids)
        cos, sin = self.cos.to(x.dtype), self.sin.to(x.dtype)
        for layer in self.layers:
            x = layer(x, cos, sin, mask)
        return self.norm(x)


def word_loss(m):
    return lambda ids, labels: F.cross_entropy(m.head(m(ids)).flatten(0, 1).float(), labels)


class Layer(nn.Module):
    """A layer of a vision transformer and the like."""

    def __init__(self, d, heads, by_hand=False):
        super().__init__()
        self.heads, self.by_hand, self.scale, self.n1, self.n2 = heads, by_hand, (d // heads) ** -0.5, nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out, self.mlp = nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        q, k, v = self.qkv(self.n1(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        if self.by_hand:
            weights = (q * self.scale) @ k.transpose(-2, -1)
            y = weights.softmax(dim=-1) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.mlp(self.n2(x))


class Texts(nn.Module):
    """A reader of texts, of the library's layers: norms come last."""

    def __init__(self, words, d, heads, layers, length, kinds):
        super().__init__()
        self.embed, self.places, self.norm = nn.Embedding(words, d), nn.Embedding(length, d), nn.LayerNorm(d)
        self.pool, self.head = nn.Linear(d, d), nn.Linear(d, kinds)
        layer = nn.TransformerEncoderLayer(d, heads, 4 * d, 0.0, "gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)

    def forward(self, ids):
        x = self.layers(self.norm(self.embed(ids) + self.places.weight[:ids.shape[1]]))
        return self.head(torch.tanh(self.pool(x[:, 0])))


def normed(i, o, k=3, stride=1, groups=1):
    return nn.Sequential(nn.Conv2d(i, o, k, stride, k // 2, groups=groups, bias=False), nn.BatchNorm2d(o))


class Basic(nn.Module):
    def __init__(self, i, o, stride=1):
        super().__init__()
        self.a, self.b, self.short = normed(i, o, 3, stride), normed(o, o), nn.Identity() if i == o and stride == 1 else normed(i, o, 1, stride)

    def forward(self, x):
        return F.relu(self.b(F.relu(self.a(x))) + self.short(x))


def basics(seen, c, counts, patch=4):
    """Residual blocks, twice as many channels and half as many rows at each stage."""
    parts = [nn.Conv2d(seen, c, patch, patch), nn.BatchNorm2d(c), nn.ReLU(inplace=True)]
    for stage, count in enumerate(counts):
        wide = c << stage
        parts += [Basic(wide >> 1, wide, 2) if stage and not i else Basic(wide, wide) for i in range(count)]
    return nn.Sequential(*parts)


def pooled(o, kinds):
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(o, kinds))


class Inverted(nn.Module):
    """Wide, each channel by itself, weighed, narrow again."""

    def __init__(self, i, o, stride=1, k=3):
        super().__init__()
        wide = 4 * i
        self.up, self.deep, self.down, self.same = normed(i, wide, 1), normed(wide, wide, k, stride, wide), normed(wide, o, 1), i == o and stride == 1
        self.weigh = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(wide, i, 1), nn.ReLU(), nn.Conv2d(i, wide, 1), nn.Hardsigmoid())

    def forward(self, x):
        h = F.hardswish(self.deep(F.hardswish(self.up(x))))
        h = self.down(h * self.weigh(h))
        return x + h if self.same else h


def twice(i, o):
    return nn.Sequential(normed(i, o), nn.ReLU(inplace=True), normed(o, o), nn.ReLU(inplace=True))


class Unet(nn.Module):
    def __init__(self, seen, c, kinds, depth):
        super().__init__()
        self.enter, self.out, self.pool, sizes = twice(seen, c), nn.Conv2d(c, kinds, 1), nn.MaxPool2d(2), [c << i for i in range(depth + 1)]
        self.down = nn.ModuleList([twice(i, o) for i, o in zip(sizes, sizes[1:])])
        self.grow = nn.ModuleList([nn.ConvTranspose2d(o, i, 2, 2) for i, o in zip(sizes, sizes[1:])])
        self.up = nn.ModuleList([twice(o, i) for i, o in zip(sizes, sizes[1:])])

    def forward(self, x):
        kept = [self.enter(x)]
        for down in self.down:
            kept.append(down(self.pool(kept[-1])))
        x = kept.pop()
        for grow, up in zip(reversed(self.grow), reversed(self.up)):
            x = up(torch.cat([kept.pop(), grow(x)], 1))
        return self.out(x)


# ---- Chains of pointwise kernels: torch.compile around what holds them ----------------------------------------------------------


# Drugs docked into a protein's pocket by Monte Carlo, many poses at a time: the energy of a pose in eager mode, or compiled.
def docked(xyz, own, pocket, sites, bends):
    far = (xyz[:, :, None] - pocket).square().sum(-1).sqrt()
    r = far - own[:, None, 0] - sites[:, 0]
    oily = own[:, None, 1] * sites[:, 1]
    bonds = own[:, None, 2] * sites[:, 3] + own[:, None, 3] * sites[:, 2]
    energy = -0.0356 * torch.exp(-(r / 0.5) ** 2) - 0.00516 * torch.exp(-((r - 3) / 2) ** 2) + 0.840 * torch.where(r < 0, r * r, 0.0)
    energy = energy - 0.0351 * oily * (1.5 - r).clamp(0, 1) - 0.587 * bonds * (-r / 0.7).clamp(0, 1)
    return torch.where(far < 8, energy, 0.0).sum((1, 2)) / (1 + 0.0585 * bends)


def docking_energy(eager):
    def make():
        poses, atoms, places = S(256, 4), S(32, 5), S(2048, 20)
        f, first = docked if eager else compiled(docked), 4 * noise(poses, atoms, 3)
        kind = lambda n: torch.cat([1.5 + 0.5 * torch.rand(n, 1, device=D), (torch.rand(n, 3, device=D) < 0.3).float()], 1)
        own, pocket, sites, still = kind(atoms), 10 * noise(places, 3), kind(places), torch.tensor([1.0, 0, 0, 0], device=D)

        @torch.no_grad()
        def step():
            xyz, energy = first, f(first, own, pocket, sites, 6)
            for _ in range(S(4, 2)):
                way, shift = F.normalize(still + 0.1 * noise(poses, 1, 4), dim=-1), 0.3 * noise(poses, 1, 3)
                mid = xyz.mean(1, keepdim=True)
                arm, axis = xyz - mid, way[..., 1:].expand_as(xyz)
                moved = arm + 2 * torch.linalg.cross(axis, torch.linalg.cross(axis, arm) + way[..., :1] * arm) + mid + shift
                then = f(moved, own, pocket, sites, 6)
                taken = torch.rand(poses, device=D) < torch.exp((energy - then) / 0.6)
                xyz, energy = torch.where(taken[:, None, None], moved, xyz), torch.where(taken, then, energy)
            return energy
        return step
    return make


# An assistant fine-tuned on dialogues by adapters of low rank: the model with its loss in eager mode, or compiled.
class Adapted(nn.Module):
    def __init__(self, i, o, rank=16):
        super().__init__()
        self.base, self.a, self.b = plain(i, o), plain(i, rank), plain(rank, o)
        nn.init.zeros_(self.b.weight)

    def forward(self, x):
        return self.base(x) + 2 * self.b(self.a(x))


def dialogue_lora(eager):
    def make():
        words, d, t, b = S(32000, 40), S(2048, 16), S(1024, 8), S(4, 2)
        m = built(lambda: Decoder(words, d, S(16, 2), S(4, 1), S(5632, 32), S(3, 1), t, linear=Adapted), BF).requires_grad_(False)
        for part in m.modules():
            if isinstance(part, Adapted):
                for side in (part.a, part.b):
                    side.float().requires_grad_()
        loss_of, ids, labels = word_loss(m), draw(words, b, t), draw(words, b, t)
        labels[:, :t // 4] = -100
        f, labels = loss_of if eager else compiled(loss_of), labels.flatten()
        optimizer = torch.optim.AdamW([p for p in m.parameters() if p.requires_grad], lr=1e-5, fused=True)
        return training(m, lambda: f(ids, labels), optimizer)
    return make


# Premiums of car insurance, crosses of features beside a wide network, Tweedie's loss: eager, or the model with its loss compiled.
class Premiums(nn.Module):
    def __init__(self, numbers, kinds, each, d, wide):
        super().__init__()
        self.embed, self.enter = nn.Embedding(kinds, each), nn.Linear(numbers + 16 * each, d)
        self.crosses = nn.ModuleList([nn.Linear(d, d) for _ in range(3)])
        self.deep = nn.Sequential(nn.Linear(d, wide), nn.ReLU(), nn.Linear(wide, wide), nn.ReLU(), nn.Linear(wide, wide), nn.ReLU())
        self.head = nn.Linear(d + wide, 1)

    def forward(self, numbers, kinds):
        first = x = self.enter(torch.cat([numbers, self.embed(kinds).flatten(1)], 1))
        for cross in self.crosses:
            x = first * cross(x) + x
        return self.head(torch.cat([x, self.deep(first)], 1)).squeeze(1)


def tweedie(told, paid, years, p=1.5):
    told = told.float()
    unit = paid.clamp(min=1e-9) ** (2 - p) / ((1 - p) * (2 - p)) - paid * torch.exp((1 - p) * told) / (1 - p) + torch.exp((2 - p) * told) / (2 - p)
    return (2 * years * unit).sum() / years.sum()


def premiums_tweedie(eager):
    def make():
        rows, numbers, kinds = S(8192, 12), S(48, 4), S(20000, 40)
        m = built(lambda: Premiums(numbers, kinds, S(16, 2), S(1024, 16), S(4096, 32)))
        loss_of = lambda numbers, kinds, paid, years: tweedie(m(numbers, kinds), paid, years)
        f, data = loss_of if eager else compiled(loss_of), (noise(rows, numbers), draw(kinds, rows, 16))
        years, paid = torch.rand(rows, device=D) + 0.05, F.relu(noise(rows) - 1) * 3
        return training(m, lambda: f(*data, paid, years))
    return make


# Hedges and other borders of fields seen by a satellite, half precision: a network of gated residual blocks, eager or compiled.
class Weighed(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.n1, self.n2, self.a, self.b = nn.BatchNorm2d(i), nn.BatchNorm2d(o), nn.Conv2d(i, o, 3, 1, 1), nn.Conv2d(o, o, 3, 1, 1)
        self.less, self.more, self.short = nn.Linear(o, o // 4), nn.Linear(o // 4, o), nn.Conv2d(i, o, 1) if i != o else nn.Identity()

    def forward(self, x):
        h = self.b(F.silu(self.n2(self.a(F.silu(self.n1(x))))))
        gate = torch.sigmoid(self.more(F.silu(self.less(h.mean((2, 3))))))
        return self.short(x) + h * gate[:, :, None, None]


class Hedges(nn.Module):
    def __init__(self, bands, c):
        super().__init__()
        self.enter, self.out, self.pool = nn.Conv2d(bands, c, 3, 1, 1), nn.Conv2d(c, 3, 1), nn.AvgPool2d(2)
        self.a, self.b, self.mid, self.up, self.end = Weighed(c, c), Weighed(c, 2 * c), Weighed(2 * c, 2 * c), Weighed(4 * c, c), Weighed(2 * c, c)

    def forward(self, x):
        a = self.a(self.enter(x / 10000))
        b = self.b(self.pool(a))
        h = F.interpolate(self.mid(self.pool(b)), scale_factor=2.0)
        h = F.interpolate(self.up(torch.cat([h, b], 1)), scale_factor=2.0)
        field, border, inward = self.out(self.end(torch.cat([h, a], 1))).float().chunk(3, 1)
        return torch.sigmoid(field) * (1 - torch.sigmoid(border)) * F.softplus(inward)


def hedges_unet(eager):
    def make():
        m = last(built(lambda: Hedges(S(12, 4), S(64, 8)), HALF_HERE)).eval()
        x = last(3000 + 1000 * noise(S(8, 2), S(12, 4), S(256, 16), S(256, 16), dtype=HALF_HERE))
        return inference(m if eager else compiled(m), x)
    return make


# Where the players of a basketball match run next, six ways with their chances, in float32 with TF32: eager, or the model with its loss compiled.
class Players(nn.Module):
    def __init__(self, past, d, heads, layers, modes, future):
        super().__init__()
        self.modes, self.future = modes, future
        self.enter = nn.Sequential(nn.Linear(4 * past, d), nn.LayerNorm(d), nn.ReLU(), nn.Linear(d, d))
        self.layers, self.norm = nn.Sequential(*[Layer(d, heads) for _ in range(layers)]), nn.LayerNorm(d)
        self.ways, self.chance = nn.Sequential(nn.Linear(d, d), nn.GELU(), nn.Linear(d, modes * future * 4)), nn.Linear(d, modes)

    def forward(self, places):
        here = places[:, :, -1:]
        speed = F.pad(places[:, :, 1:] - places[:, :, :-1], (0, 0, 1, 0))
        h = self.norm(self.layers(self.enter(torch.cat([places - here, speed], -1).flatten(2))))
        return self.ways(h).unflatten(-1, (self.modes, self.future, 4)), self.chance(h)


def best_of(told, chance, goal):
    place, spread = told[..., :2], F.softplus(told[..., 2:]) + 0.01
    miss = (place - goal.unsqueeze(2)).abs()
    costs = (torch.log(2 * spread) + miss / spread).sum((-1, -2))
    best = miss.square().sum(-1).sqrt().mean(-1).argmin(-1)
    return costs.gather(-1, best.unsqueeze(-1)).mean() / goal.shape[-2] + F.cross_entropy(chance.flatten(0, 1), best.flatten())


def players_modes(eager):
    def make():
        scenes, men, past, future = S(2048, 3), S(11, 4), S(50, 5), S(25, 4)
        m = built(lambda: Players(past, S(256, 16), S(8, 2), S(3, 1), S(6, 2), future))
        loss_of = lambda places, goal: best_of(*m(places), goal)
        f, places, goal = loss_of if eager else compiled(loss_of), noise(scenes, men, past, 2).cumsum(2) * 0.1, noise(scenes, men, future, 2)
        return training(m, lambda: f(places, goal), cast=False)
    return make


# ---- The host waits for the device: the value is kept there -------------------------------------------------------------------


# A cluster of argon relaxed by FIRE: whether it goes downhill is asked each round by the host, or decided on the device.
def cluster_fire(fetched):
    def make():
        side, rounds = S(15, 3), S(15, 8)
        first = 1.15 * torch.cartesian_prod(*[torch.arange(side, device=D, dtype=torch.float32)] * 3) + 0.05 * noise(side ** 3, 3)
        own, start = 1e6 * torch.eye(side ** 3, device=D), [0.002, 0.1, 0] if fetched else [torch.tensor(n, device=D) for n in (0.002, 0.1, 0)]

        def forces(x):
            way = x[:, None] - x
            square = (way * way).sum(-1) + own
            near = (1 / square) ** 3
            return (((48 * near - 24) * near / square).unsqueeze(-1) * way).sum(1)

        @torch.no_grad()
        def step():
            x, v, (pace, blend, good) = first, torch.zeros_like(first), start
            for _ in range(rounds):
                f = forces(x)
                v = v + pace * f
                downhill = (f * v).sum() > 0
                steered = (1 - blend) * v + blend * f * (v.norm() / f.norm())
                if not fetched:
                    good = torch.where(downhill, good + 1, 0)
                    faster = good > 5
                    pace = torch.where(faster, (1.1 * pace).clamp(max=0.02), torch.where(downhill, pace, 0.5 * pace))
                    blend = torch.where(faster, 0.99 * blend, torch.where(downhill, blend, 0.1))
                    v = torch.where(downhill, steered, 0.0)
                elif downhill.item():
                    v, good = steered, good + 1
                    if good > 5:
                        pace, blend = min(1.1 * pace, 0.02), 0.99 * blend
                else:
                    v, pace, blend, good = torch.zeros_like(v), 0.5 * pace, 0.1, 0
                x = x + pace * v
            return x
        return step
    return make


# What a caller wants, a reader of texts fine-tuned with accumulated gradients: loss, hits and norm fetched for the log, or added up on the device.
def intents_logged(fetched):
    def make():
        words, t, b, parts, kinds = S(30000, 40), S(192, 6), S(16, 3), S(4, 2), S(150, 5)
        m = built(lambda: Texts(words, S(768, 16), S(12, 2), S(6, 1), t, kinds))
        optimizer, data = torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True), [(draw(words, b, t), draw(kinds, b)) for _ in range(parts)]
        value = (lambda x: x.item()) if fetched else (lambda x: x.detach())
        log = dict(loss=0.0, hits=0, norm=0.0)

        def step():
            optimizer.zero_grad(set_to_none=True)
            total = 0.0
            for ids, y in data:
                with autocast():
                    told = m(ids).float()
                    loss = F.cross_entropy(told, y) / parts
                loss.backward()
                total = total + loss.detach()
                log["loss"] += value(loss)
                log["hits"] += value((told.argmax(-1) == y).sum())
            log["norm"] += value(nn.utils.clip_grad_norm_(m.parameters(), 1.0))
            optimizer.step()
            return total
        return step
    return make


# An image of a knee from the coils of a magnetic resonance scanner: lengths of steps and the misfit fetched each round, or kept on the device.
def coils_steps(fetched):
    def make():
        coils, side, rounds = S(12, 2), S(384, 16), S(20, 4)
        picture = lambda *shape: torch.complex(noise(*shape), noise(*shape))
        maps, kept = picture(coils, side, side), (torch.rand(side, device=D) < 0.4).float()
        maps = maps / maps.abs().square().sum(0).sqrt()
        back, first = maps.conj().resolve_conj(), torch.zeros(side, side, dtype=torch.complex64, device=D)
        data = torch.fft.fft2(maps * picture(side, side), norm="ortho") * kept
        dot = lambda a, b: torch.vdot(a.flatten(), b.flatten()).real

        def slope(x):
            left = torch.fft.fft2(maps * x, norm="ortho") * kept - data
            down, right = x - x.roll(1, 0), x - x.roll(1, 1)
            size = torch.sqrt(down.abs() ** 2 + right.abs() ** 2 + 1e-3)
            down, right = down / size, right / size
            rough = down - down.roll(-1, 0) + right - right.roll(-1, 1)
            return (back * torch.fft.ifft2(left, norm="ortho")).sum(0) + 0.01 * rough, left

        @torch.no_grad()
        def step():
            x, (g, _), pace, misfits = first, slope(first), 0.5, []
            for _ in range(rounds):
                new = x - pace * g
                g_new, left = slope(new)
                moved, turned = new - x, g_new - g
                pace, misfit = dot(moved, moved) / dot(moved, turned).clamp(min=1e-6), left.abs().square().sum()
                if fetched:
                    pace, misfit = pace.item(), misfit.item()
                misfits.append(misfit)
                x, g = new, g_new
            return x.abs()
        return step
    return make


# ---- Many launches: captured in a CUDA graph ----------------------------------------------------------------------------------


# Energies and forces of small molecules by vectors that turn with them, trained through the forces: op by op, or the whole step captured.
class Turning(nn.Module):
    def __init__(self, d, waves):
        super().__init__()
        three = lambda i: nn.Sequential(nn.Linear(i, d), nn.SiLU(), nn.Linear(d, 3 * d))
        self.say, self.by_far, self.mix, self.update = three(d), nn.Linear(waves, 3 * d), nn.Linear(d, 2 * d, bias=False), three(2 * d)

    def forward(self, s, v, far, way, a, b):
        ds, dv, dr = (self.say(s).index_select(0, a) * self.by_far(far)).chunk(3, -1)
        s = s.index_add(0, b, ds)
        v = v.index_add(0, b, v.index_select(0, a) * dv[:, None] + dr[:, None] * way[:, :, None])
        left, right = self.mix(v).chunk(2, -1)
        x, y, z = self.update(torch.cat([s, torch.sqrt(right.square().sum(1) + 1e-8)], -1)).chunk(3, -1)
        return s + x + y * (left * right).sum(1), v + z[:, None] * left


class Potential(nn.Module):
    def __init__(self, d, waves, layers, reach=5.0):
        super().__init__()
        self.reach, self.embed, self.layers = reach, nn.Embedding(20, d), nn.ModuleList([Turning(d, waves) for _ in range(layers)])
        self.head = nn.Sequential(nn.Linear(d, d // 2), nn.SiLU(), nn.Linear(d // 2, 1))
        self.register_buffer("waves", torch.arange(1, waves + 1) * math.pi / reach)

    def forward(self, kinds, xyz, a, b):
        way = xyz.index_select(0, a) - xyz.index_select(0, b)
        far = torch.sqrt(way.square().sum(-1, keepdim=True) + 1e-6)
        waves = torch.sin(far * self.waves) / far * 0.5 * (torch.cos(far * (math.pi / self.reach)) + 1) * (far < self.reach)
        s = self.embed(kinds)
        v = torch.zeros_like(s)[:, None].expand(-1, 3, -1)
        for layer in self.layers:
            s, v = layer(s, v, waves, way / far, a, b)
        return self.head(s)


def ligands_potential(captured):
    def make():
        count, atoms = S(32, 3), S(18, 4)
        m = built(lambda: Potential(S(128, 8), S(20, 4), S(3, 2)))
        optimizer = torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True, capturable=not DRY)
        kinds, xyz, energies, pulls = draw(20, count * atoms), 1.5 * noise(count * atoms, 3), noise(count), noise(count * atoms, 3)
        one, two = (~torch.eye(atoms, dtype=torch.bool, device=D)).nonzero().unbind(1)
        a, b = ((torch.arange(count, device=D)[:, None] * atoms + side).flatten() for side in (one, two))

        def step():
            optimizer.zero_grad(set_to_none=True)
            places = xyz.detach().requires_grad_()
            told = m(kinds, places, a, b).view(count, atoms).sum(1)
            forces = -torch.autograd.grad(told.sum(), places, create_graph=True)[0]
            loss = F.mse_loss(told, energies) + 100 * F.mse_loss(forces, pulls)
            loss.backward()
            optimizer.step()
            return loss.detach()
        return replayed(step) if captured else step
    return make


# Advice to farmers told word by word, a compiled model with a cache of fixed size: compiled as it comes, or with mode="reduce-overhead".
class Cached(nn.Module):
    def __init__(self, d, heads, batch, length):
        super().__init__()
        self.heads, self.n1, self.n2, self.qkv, self.out = heads, nn.LayerNorm(d), nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))
        self.register_buffer("keys", torch.randn(batch, heads, length, d // heads))
        self.register_buffer("values", torch.randn(batch, heads, length, d // heads))

    def forward(self, x, place, mask):
        q, k, v = self.qkv(self.n1(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        self.keys.index_copy_(2, place, k)
        self.values.index_copy_(2, place, v)
        y = F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=mask)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.mlp(self.n2(x))


class Advice(nn.Module):
    def __init__(self, words, d, heads, layers, batch, length):
        super().__init__()
        self.embed, self.places, self.norm, self.head = nn.Embedding(words, d), nn.Embedding(length, d), nn.LayerNorm(d), plain(d, words)
        self.layers = nn.ModuleList([Cached(d, heads, batch, length) for _ in range(layers)])
        self.register_buffer("order", torch.arange(length))

    def forward(self, ids, place):
        x, mask = self.embed(ids) + self.places(place), (self.order <= place)[None, None, None]
        for layer in self.layers:
            x = layer(x, place, mask)
        return self.head(self.norm(x)).argmax(-1)


def advice_decode(captured):
    def make():
        words, b, length, count = S(32000, 40), S(8, 2), S(1024, 12), S(8, 3)
        m = built(lambda: Advice(words, S(1536, 16), S(12, 2), S(5, 2), b, length), BF).eval().requires_grad_(False)
        f = compiled(m, mode="reduce-overhead") if captured else compiled(m)
        first, places = draw(words, b, 1), [torch.full((1,), length // 2 + i, device=D) for i in range(count)]

        @torch.no_grad()
        def step():
            ids, told = first, []
            for place in places:
                torch.compiler.cudagraph_mark_step_begin()
                ids = f(ids, place).clone()
                told.append(ids)
            return torch.cat(told, 1)
        return step
    return make


# ---- The optimizer: fused=True ------------------------------------------------------------------------------------------------


# Letters that patients take home, read for codes of their illnesses: AdamW as it comes, or fused.
def discharge_adamw(as_it_comes):
    def make():
        words, t, b, kinds = S(30000, 40), S(256, 6), S(8, 2), S(512, 6)
        m = built(lambda: Texts(words, S(1024, 16), S(16, 2), S(7, 1), t, kinds))
        ids, y = draw(words, b, t), (torch.rand(b, kinds, device=D) < 0.05).float()
        optimizer = torch.optim.AdamW(m.parameters(), lr=1e-5, weight_decay=0.01, **({} if as_it_comes else dict(fused=True)))
        return training(m, lambda: F.binary_cross_entropy_with_logits(m(ids).float(), y), optimizer)
    return make


# Cattle told apart by their muzzles, a small network for the barn in training: Adam that goes parameter by parameter to save memory, or fused.
def cattle_adam(one_by_one):
    def make():
        b, side, c, kinds = S(48, 2), S(192, 16), S(24, 4), S(400, 5)
        stages = ((1, 1, 1, 3), (1, 2, 2, 3), (2, 2, 1, 3), (2, 4, 2, 5), (4, 4, 1, 5), (4, 4, 1, 5), (4, 8, 2, 5), (8, 8, 1, 5), (8, 8, 1, 5))
        blocks = [Inverted(i * c, o * c, stride, k) for i, o, stride, k in stages[:S(9, 3)]]
        m = last(nn.Sequential(normed(3, c, 3, 2), nn.Hardswish(), *blocks, pooled(S(8, 2) * c, kinds)).to(D))
        x, y = last(noise(b, 3, side, side)), draw(kinds, b)
        optimizer = torch.optim.Adam(m.parameters(), lr=1e-5, **(dict(foreach=False) if one_by_one else dict(fused=True)))
        return training(m, lambda: F.cross_entropy(m(x).float(), y, label_smoothing=0.1), optimizer)
    return make


# ---- Input: workers, pinned memory, the next batch ahead ------------------------------------------------------------------------


def fed(m, dataset, batch, loss_of, workers, **more):
    """Training from a data loader."""
    if workers:
        more |= dict(num_workers=S(workers, 1), persistent_workers=True, pin_memory=not DRY)
    batches, optimizer = iter(torch.utils.data.DataLoader(dataset, batch_size=batch, **more)), torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True)

    def step():
        x, y = (t.to(D, non_blocking=True) for t in next(batches))
        return training(m, lambda: loss_of(m(x).float(), y), optimizer)()
    return step


# Chests under X-rays, films cut out, evened and turned a little: by the training process itself, or by workers and with pinned memory.
class Chests(torch.utils.data.Dataset):
    def __init__(self, count, side, cut):
        self.cut, self.films = cut, np.random.default_rng(1).integers(0, 4096, (count, side, side), dtype=np.uint16)
        self.grid = np.mgrid[:cut, :cut] - (cut - 1) / 2

    def __len__(self):
        return 1000000

    def __getitem__(self, i):
        rng, cut, film = np.random.default_rng(i), self.cut, self.films[i % len(self.films)]
        top, left = rng.integers(0, film.shape[0] - cut + 1, 2)
        x = film[top:top + cut, left:left + cut]
        x = (np.cumsum(np.bincount(x.ravel(), minlength=4096)) / x.size)[x]
        angle, (down, right) = rng.uniform(-0.15, 0.15), self.grid
        y = (np.cos(angle) * down - np.sin(angle) * right + (cut - 1) / 2).clip(0, cut - 1.001)
        z = (np.sin(angle) * down + np.cos(angle) * right + (cut - 1) / 2).clip(0, cut - 1.001)
        a, b = y.astype(np.int64), z.astype(np.int64)
        y, z = y - a, z - b
        x = (1 - y) * ((1 - z) * x[a, b] + z * x[a, b + 1]) + y * ((1 - z) * x[a + 1, b] + z * x[a + 1, b + 1])
        return torch.from_numpy(((x - 0.5) / 0.29).astype(np.float32))[None], torch.from_numpy((rng.random(14) < 0.1).astype(np.float32))


def xrays_loader(workers):
    def make():
        cut, c = S(192, 16), S(128, 8)
        m = last(built(lambda: nn.Sequential(basics(1, c, S((3, 4, 6), (1, 1)), 2), pooled(S(4, 2) * c, 14))))
        return fed(m, Chests(S(64, 4), cut + S(32, 4), cut), S(8, 2), F.binary_cross_entropy_with_logits, workers)
    return make


# Crops by how fields look through the seasons, the median of the days without clouds drawn by each worker: two of them, or twelve.
class Seasons(torch.utils.data.Dataset):
    def __init__(self, count, months, bands, side):
        rng = np.random.default_rng(2)
        self.months, self.days = months, rng.integers(1, 10000, (count, 4 * months, bands, side, side), dtype=np.int16)
        self.clouds, self.crops = rng.random((count, 4 * months, 1, side, side), dtype=np.float32), rng.integers(0, 16, (count, side, side))

    def __len__(self):
        return 1000000

    def __getitem__(self, i):
        rng, own = np.random.default_rng(i), i % len(self.days)
        x = np.where(self.clouds[own] > rng.uniform(0.2, 0.6), self.days[own], np.nan).astype(np.float32)
        x = np.sort(x.reshape(self.months, 4, *x.shape[1:]), 1)
        clear = (~np.isnan(x)).sum(1, keepdims=True)
        x, y = np.nan_to_num(np.take_along_axis(x, np.maximum(clear - 1, 0) // 2, 1)[:, 0] / 10000), self.crops[own]
        turn, flip = int(rng.integers(4)), 1 if rng.random() < 0.5 else -1
        return tuple(torch.from_numpy(np.rot90(a, turn, (-2, -1))[..., ::flip].copy()) for a in (x, y))


class Yearly(nn.Module):
    """Every month by itself, weighed against the others at each place."""

    def __init__(self, bands, c, blocks, kinds):
        super().__init__()
        self.enter, self.blocks, self.weigh = nn.Conv2d(bands, c, 3, 1, 1), nn.Sequential(*[Basic(c, c) for _ in range(blocks)]), nn.Conv2d(c, 8, 1)
        self.end, self.out = twice(c, c), nn.Conv2d(c, kinds, 1)

    def forward(self, x):
        h = self.blocks(self.enter(x.flatten(0, 1).contiguous(memory_format=torch.channels_last)))
        weights = self.weigh(h).unflatten(0, x.shape[:2]).softmax(1)
        h = (h.unflatten(0, x.shape[:2]).unflatten(2, (8, -1)) * weights.unsqueeze(3)).sum(1).flatten(1, 2)
        return self.out(self.end(h))


def seasons_workers(workers):
    def make():
        months, bands, side = S(6, 2), S(4, 2), S(64, 8)
        m = last(built(lambda: Yearly(bands, S(256, 16), S(4, 1), 16)))
        return fed(m, Seasons(S(16, 3), months, bands, side), S(4, 2), F.cross_entropy, workers)
    return make


# Which attacks of a football match end in a goal, events counted out in Python before each step, or meanwhile by a process of their own.
KINDS = {kind: i for i, kind in enumerate(["pass", "carry", "duel", "cross", "shot", "clearance", "foul"])}


class Attacks(torch.utils.data.IterableDataset):
    def __init__(self, count, batch, length):
        rng, names = np.random.default_rng(3), list(KINDS)
        self.batch, self.length, self.all = batch, length, []
        for _ in range(count):
            places, times = rng.uniform((0, 0), (105, 68), (length + 1, 2)).round(1).tolist(), np.sort(rng.uniform(0, 60, length)).round(1).tolist()
            kinds, men = rng.integers(0, len(names), length).tolist(), rng.integers(0, 11, length).tolist()
            rows = zip(kinds, men, places, places[1:], times)
            self.all.append([dict(kind=names[kind], man=man, start=start, end=end, time=time) for kind, man, start, end, time in rows])

    def rows(self, events):
        rows, before, progress = [], events[0], 0.0
        for event in events[-self.length:]:
            (x, y), (to_x, to_y) = event["start"], event["end"]
            far, near = math.hypot(105 - x, 34 - y), math.hypot(105 - to_x, 34 - to_y)
            angle = math.atan2(7.32 * (105 - to_x), (105 - to_x) ** 2 + (34 - to_y) ** 2 - 13.4)
            progress = 0.9 * progress + max(0.0, far - near)
            rest = event["time"] - before["time"], event["man"] == before["man"], KINDS[event["kind"]]
            rows.append((x / 105, y / 68, to_x / 105, to_y / 68, far / 50, near / 50, angle, progress / 50, *rest))
            before = event
        return rows

    def __iter__(self):
        turn = 0
        while True:
            part = [self.all[(turn * self.batch + i) % len(self.all)] for i in range(self.batch)]
            rows = np.array([self.rows(events) for events in part], dtype=np.float32)
            yield torch.from_numpy(rows), torch.tensor([float(events[-1]["kind"] == "shot") for events in part])
            turn += 1


class Told(nn.Module):
    def __init__(self, kinds, each, d, layers):
        super().__init__()
        self.kinds, self.enter, self.layers = nn.Embedding(kinds, each), nn.Linear(10 + each, d), nn.GRU(d, d, layers, batch_first=True)
        self.head = nn.Sequential(nn.Linear(d, d), nn.ReLU(), nn.Linear(d, 1))

    def forward(self, x):
        h = torch.cat([x[..., :10], self.kinds(x[..., 10].long())], -1)
        return self.head(self.layers(F.relu(self.enter(h)))[0][:, -1]).squeeze(-1)


def possessions_ahead(at_once):
    def make():
        m, attacks = built(lambda: Told(len(KINDS), S(22, 2), S(1536, 12), S(2, 1))), Attacks(S(300, 5), S(16, 3), S(40, 6))
        if at_once:
            batches = (tuple(pinned(t) for t in both) for both in attacks)
        else:
            more = dict(num_workers=1, prefetch_factor=4, persistent_workers=True, pin_memory=not DRY)
            batches = iter(torch.utils.data.DataLoader(attacks, batch_size=None, **more))
        optimizer = torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True)

        def step():
            x, y = (t.to(D, non_blocking=True) for t in next(batches))
            return training(m, lambda: F.binary_cross_entropy_with_logits(m(x), y), optimizer, cast=False)()
        return step
    return make


# ---- Attention by hand: scaled_dot_product_attention --------------------------------------------------------------------------


# The wording of policies read by a language model, the next word asked for: products, a mask and a softmax in float32, or the library's kernel.
def wording_prefill(by_hand):
    def make():
        words, t, b = S(32000, 40), S(2048, 8), S(2, 2)
        m = built(lambda: Decoder(words, S(2048, 16), S(16, 2), S(4, 1), S(5632, 32), S(4, 1), t), BF).eval()
        mask = torch.full((t, t), torch.finfo(BF).min, dtype=BF, device=D).triu(1) if by_hand else None
        return inference(lambda ids: m.head(m(ids, mask)[:, -1]), draw(words, b, t))
    return make


# How tall the trees of an orchard are, pictures of many bands, trained: attention written out, or the library's kernel.
class Canopy(nn.Module):
    def __init__(self, bands, patch, side, d, heads, layers, by_hand):
        super().__init__()
        self.enter, self.places = nn.Conv2d(bands, d, patch, patch), nn.Parameter(0.02 * torch.randn((side // patch) ** 2, d))
        self.layers, self.norm = nn.Sequential(*[Layer(d, heads, by_hand) for _ in range(layers)]), nn.LayerNorm(d)
        self.head = nn.Linear(d, patch * patch)

    def forward(self, x):
        return self.head(self.norm(self.layers(self.enter(x).flatten(2).transpose(1, 2) + self.places)))


def canopy_attention(by_hand):
    def make():
        bands, patch, side, b = S(10, 3), S(8, 2), S(128, 8), S(64, 2)
        m = built(lambda: Canopy(bands, patch, side, S(512, 16), S(8, 2), S(5, 1), by_hand))
        x, places = noise(b, bands, side, side), (side // patch) ** 2
        tall, seen = 3 * torch.rand(b, places, patch * patch, device=D), (torch.rand(b, places, 1, device=D) < 0.3).float()
        return training(m, lambda: (F.smooth_l1_loss(m(x).float(), tall, reduction="none") * seen).sum() / seen.sum())
    return make


# ---- Types, copies, products and convolutions ---------------------------------------------------------------------------------


# Peptides judged by a language model of proteins whose weights stay in float32: cast to bfloat16 in each layer, or once when they are loaded.
class Casting(nn.Linear):
    def __init__(self, i, o):
        super().__init__(i, o, bias=False)

    def forward(self, x):
        return F.linear(x, self.weight.to(x.dtype))


def peptides_casts(cast_each):
    def make():
        letters, t, b, d, heads = S(32, 16), S(256, 6), S(8, 2), S(2048, 16), S(32, 2)
        m = built(lambda: Decoder(letters, d, heads, heads, S(5632, 32), S(5, 2), t, linear=Casting, causal=False), None if cast_each else BF).eval()

        def judged(ids):
            x = m.embed(ids).to(BF)
            cos, sin = m.cos.to(BF), m.sin.to(BF)
            for layer in m.layers:
                x = layer(x, cos, sin)
            told = F.linear(m.norm(x), m.head.weight.to(BF)).float()
            return F.log_softmax(told, -1).gather(-1, ids.unsqueeze(-1)).mean((1, 2))
        return inference(judged, draw(letters, b, t))
    return make


# Slides of biopsies, patches sent to a network that weighs them, half precision: from ordinary memory, or from pinned memory.
def biopsy_upload(ordinary):
    def make():
        b, side, c, turn = S(48, 2), S(448, 32), S(96, 8), [0]
        heads = lambda o: [nn.Sequential(nn.Linear(o, 64), nn.Tanh(), nn.Linear(64, 1)), nn.Linear(o, 5)]
        m = last(built(lambda: nn.ModuleList([basics(3, c, S((2, 2, 2), (1, 1))), *heads(S(4, 2) * c)]), HALF_HERE)).eval()
        slides = [torch.randint(0, 256, (b, side, side, 3), dtype=torch.uint8) for _ in range(2)]
        if not ordinary:
            slides = [pinned(slide) for slide in slides]
        mean, spread = (torch.tensor(three, device=D).view(3, 1, 1) for three in ((0.7, 0.55, 0.7), (0.2, 0.25, 0.2)))

        @torch.no_grad()
        def step():
            turn[0] = (turn[0] + 1) % 2
            x = slides[turn[0]].to(D, non_blocking=True).permute(0, 3, 1, 2)
            h = m[0](((x / 255 - mean) / spread).to(HALF_HERE)).mean((2, 3))
            weights = m[1](h).softmax(0)
            return m[2]((weights * h).sum(0)).float().softmax(-1)
        return step
    return make


# Heights of a landscape told from pictures of a satellite and fetched to be written to a map: to ordinary memory, or to pinned memory by turns.
def elevation_fetched(ordinary):
    def make():
        b, side, c, turn = S(6, 2), S(1024, 16), S(128, 16), [0]
        head = lambda: [nn.Conv2d(c, 16, 3, 1, 1), nn.PixelShuffle(4), nn.Softplus()]
        m = last(built(lambda: nn.Sequential(basics(4, c, (S(5, 1),)), *head()), HALF_HERE)).eval()
        x = last(noise(b, 4, side, side, dtype=HALF_HERE))
        maps = [None, None] if ordinary else [pinned(torch.empty(b, 1, side, side)) for _ in range(2)]
        there = [] if ordinary or DRY else [torch.cuda.Event() for _ in range(2)]

        @torch.no_grad()
        def step():
            turn[0] = (turn[0] + 1) % 2
            heights = 100 * m(x).float()
            if ordinary:
                maps[turn[0]] = heights.cpu()
            else:
                if there:
                    there[turn[0]].synchronize()
                maps[turn[0]].copy_(heights, non_blocking=True)
                if there:
                    there[turn[0]].record()
            return heights
        return step
    return make


# Cells of a cohort of patients by the genes they read, counts told by latent numbers, trained in float32: TF32 off for products, or on.
class Counts(nn.Module):
    def __init__(self, genes, d, latent):
        super().__init__()
        two = lambda i: nn.Sequential(nn.Linear(i, d), nn.LayerNorm(d), nn.ReLU(), nn.Linear(d, d), nn.LayerNorm(d), nn.ReLU())
        self.read, self.two, self.write = two(genes), nn.Linear(d, 2 * latent), two(latent)
        self.share, self.spread = nn.Linear(d, genes), nn.Parameter(torch.zeros(genes))

    def forward(self, x):
        mean, width = self.two(self.read(torch.log1p(x))).chunk(2, -1)
        h = self.write(mean + torch.randn_like(mean) * (0.5 * width).exp())
        rate, spread = x.sum(1, keepdim=True) * F.softmax(self.share(h), -1), self.spread.exp()
        both = torch.log(spread + rate + 1e-8)
        likely = spread * (self.spread - both) + x * (torch.log(rate + 1e-8) - both)
        likely = likely + torch.lgamma(x + spread) - torch.lgamma(spread) - torch.lgamma(x + 1)
        return (0.5 * (mean ** 2 + width.exp() - 1 - width).sum(-1) - likely.sum(-1)).mean()


def cohort_counts(full):
    def make():
        cells, genes = S(4096, 6), S(4096, 24)
        m, x = built(lambda: Counts(genes, S(1024, 16), S(32, 4))), torch.poisson(2 * torch.rand(cells, genes, device=D))
        step = training(m, lambda: m(x), cast=False)

        def with_precision():
            torch.set_float32_matmul_precision("highest" if full else "high")
            return step()
        return with_precision
    return make


# Poisons by 617 assays, told from 1613 descriptors of a molecule: sizes as they come, or padded to multiples of 8.
def assays_padded(as_they_come):
    def make():
        rows, d, seen, tasks = S(16384, 8), S(2048, 16), S(1613, 13), S(617, 7)
        block = lambda i: nn.Sequential(nn.Linear(i, d), nn.LayerNorm(d), nn.ReLU())
        m = built(lambda: nn.Sequential(*block(seen), *block(d), *block(d), nn.Linear(d, tasks)))
        x, known = noise(rows, seen), (torch.rand(rows, tasks, device=D) < 0.4).float()
        y = known * (torch.rand(rows, tasks, device=D) < 0.1)
        if not as_they_come:
            more, rest, enter, head = -seen % 8, -tasks % 8, m[0], m[-1]
            x, known, y = F.pad(x, (0, more)), F.pad(known, (0, rest)), F.pad(y, (0, rest))
            enter.weight, head.weight = nn.Parameter(F.pad(enter.weight.data, (0, more))), nn.Parameter(F.pad(head.weight.data, (0, 0, 0, rest)))
            head.bias = nn.Parameter(F.pad(head.bias.data, (0, rest)))
        return training(m, lambda: F.binary_cross_entropy_with_logits(m(x).float(), y, known, reduction="sum") / known.sum())
    return make


# Barley seen from a drone, ears and leaves and weeds coloured, trained: NCHW as it comes, or channels last.
def barley_layout(channels_last):
    def make():
        b, side, kinds = S(12, 2), S(256, 16), S(5, 3)
        m, x, y = built(lambda: Unet(S(5, 3), S(64, 8), kinds, S(3, 1))), noise(b, S(5, 3), side, side), draw(kinds, b, side, side)
        if channels_last:
            m, x = last(m), last(x)

        def loss_of():
            told = m(x).float()
            chance = told.softmax(1)
            hit = chance.gather(1, y.unsqueeze(1)).sum((1, 2, 3))
            return F.cross_entropy(told, y) + 1 - (2 * hit / (chance.square().sum((1, 2, 3)) + y[0].numel())).mean()
        return training(m, loss_of)
    return make


# ---- Graphs of the compiler ---------------------------------------------------------------------------------------------------


# Who may be insured, columns of a table as tokens, compiled: a line for the log in each layer breaks the graph, or is left out of compiled code.
log = logging.getLogger("underwriting")


class Column(nn.Module):
    def __init__(self, d, heads, wide, logged):
        super().__init__()
        self.heads, self.logged, self.n1, self.n2 = heads, logged, nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out, self.up, self.down = nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Linear(d, 2 * wide), nn.Linear(wide, d)

    def forward(self, x):
        q, k, v = self.qkv(self.n1(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        if self.logged or not torch.compiler.is_compiling():
            log.debug("attention gives %s", x.shape)
        h, gate = self.up(self.n2(x)).chunk(2, -1)
        return x + self.down(h * F.gelu(gate))


class Table(nn.Module):
    def __init__(self, numbers, columns, kinds, d, heads, wide, layers, logged):
        super().__init__()
        self.scale, self.shift, self.first = (nn.Parameter(torch.randn(n, d)) for n in (numbers, numbers, 1))
        self.embed, self.layers = nn.Embedding(columns * kinds, d), nn.ModuleList([Column(d, heads, wide, logged) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, 4)
        self.register_buffer("offsets", torch.arange(columns) * kinds)

    def forward(self, numbers, kinds):
        x = torch.cat([self.first.expand(len(numbers), -1, -1), numbers.unsqueeze(-1) * self.scale + self.shift, self.embed(kinds + self.offsets)], 1)
        for layer in self.layers:
            x = layer(x)
        return self.head(F.relu(self.norm(x[:, 0])))


def underwriting_breaks(logged):
    def make():
        rows, numbers, columns, kinds = S(192, 3), S(40, 3), S(23, 2), S(100, 5)
        f = compiled(built(lambda: Table(numbers, columns, kinds, S(384, 16), S(8, 2), S(512, 24), S(5, 2), logged), BF).eval())
        return inference(f, noise(rows, numbers, dtype=BF), draw(kinds, rows, columns))
    return make


# ---- Nothing is wrong ---------------------------------------------------------------------------------------------------------


# Ears of wheat counted in photographs, half precision: residual blocks and a map of densities, compiled.
def wheat_infer():
    c = S(96, 8)
    head = lambda: [nn.Conv2d(S(4, 2) * c, c, 3, 1, 1), nn.ReLU(inplace=True), nn.Conv2d(c, 1, 1), nn.Softplus()]
    m = last(built(lambda: nn.Sequential(*basics(3, c, S((2, 3, 3), (1, 1))), *head()), HALF_HERE)).eval()
    return inference(compiled(lambda x: m(x).float().sum((1, 2, 3))), last(noise(S(64, 2), 3, S(512, 32), S(512, 32), dtype=HALF_HERE)))


# A language model trained on guidelines for doctors: model and loss compiled, a fused optimizer.
def guidelines_train():
    words, t, b = S(16384, 40), S(1024, 8), S(16, 2)
    m = built(lambda: Decoder(words, S(1024, 16), S(8, 2), S(8, 2), S(2816, 32), S(4, 1), t))
    f, ids, labels = compiled(word_loss(m)), draw(words, b, t), draw(words, b * t)
    return training(m, lambda: f(ids, labels))


# Policies of brokers that are given up within a year, a wide network on pinned batches: model and loss compiled.
class Gate(nn.Module):
    def __init__(self, d, wide):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(d), nn.Linear(d, 2 * wide), nn.Linear(wide, d)

    def forward(self, x):
        h, gate = self.up(self.norm(x)).chunk(2, -1)
        return x + self.down(h * F.silu(gate))


def brokers_train():
    rows, seen, d, turn = S(16384, 6), S(128, 8), S(2048, 16), [0]
    m = built(lambda: nn.Sequential(nn.Linear(seen, d), *[Gate(d, S(4096, 32)) for _ in range(S(3, 1))], nn.LayerNorm(d), nn.Linear(d, 1)))
    f = compiled(lambda x, y: F.binary_cross_entropy_with_logits(m(x).float().squeeze(-1), y))
    batches = [(pinned(torch.randn(rows, seen)), pinned((torch.rand(rows) < 0.1).float())) for _ in range(4)]

    def loss_of():
        turn[0] = (turn[0] + 1) % 4
        return f(*(t.to(D, non_blocking=True) for t in batches[turn[0]]))
    return training(m, loss_of)


# Each kind once, then the others.
PAIRS = dict(
    hedges_unet=pair(hedges_unet, True, False), intents_logged=pair(intents_logged, True, False),
    ligands_potential=pair(ligands_potential, False, True), cattle_adam=pair(cattle_adam, True, False), xrays_loader=pair(xrays_loader, 0, 10),
    wording_prefill=pair(wording_prefill, True, False), peptides_casts=pair(peptides_casts, True, False),
    biopsy_upload=pair(biopsy_upload, True, False), cohort_counts=pair(cohort_counts, True, False), assays_padded=pair(assays_padded, True, False),
    barley_layout=pair(barley_layout, False, True), underwriting_breaks=pair(underwriting_breaks, True, False),
    possessions_ahead=pair(possessions_ahead, True, False), docking_energy=pair(docking_energy, True, False),
    premiums_tweedie=pair(premiums_tweedie, True, False), coils_steps=pair(coils_steps, True, False),
    advice_decode=pair(advice_decode, False, True), discharge_adamw=pair(discharge_adamw, True, False),
    seasons_workers=pair(seasons_workers, 2, 12), canopy_attention=pair(canopy_attention, True, False),
    elevation_fetched=pair(elevation_fetched, True, False), dialogue_lora=pair(dialogue_lora, True, False),
    cluster_fire=pair(cluster_fire, True, False), players_modes=pair(players_modes, True, False))
FAULTS = dict(
    hedges_unet="unfused_pointwise", intents_logged="host_sync", ligands_potential="launch_bound", cattle_adam="optimizer_not_fused",
    xrays_loader="dataloader", wording_prefill="unfused_attention", peptides_casts="repeated_casts", biopsy_upload="pageable_copy",
    cohort_counts="tf32_off", assays_padded="gemm_alignment", barley_layout="layout_transforms", underwriting_breaks="graph_breaks",
    possessions_ahead="preprocessing", docking_energy="unfused_pointwise", premiums_tweedie="unfused_pointwise", coils_steps="host_sync",
    advice_decode="launch_bound", discharge_adamw="optimizer_not_fused", seasons_workers="dataloader", canopy_attention="unfused_attention",
    elevation_fetched="pageable_copy", dialogue_lora="unfused_pointwise", cluster_fire="host_sync", players_modes="unfused_pointwise")
HEALTHY = dict(wheat_infer=wheat_infer, guidelines_train=guidelines_train, brokers_train=brokers_train)
PROGRAMS = in_turns(PAIRS, HEALTHY)
COMPILED = ["dialogue_lora", "guidelines_train", "players_modes", "hedges_unet", "advice_decode", "underwriting_breaks", "wheat_infer",
            "premiums_tweedie", "brokers_train", "docking_energy"]  # what takes longest first
FORMS = {}
