"""The third part of a tenth set of programs that no rule was read from: pairs with one fault and without it, and healthy ones. Only scored.

Video and cameras, self-driving, series of finance, translation, biology, graphs of people, astronomy. PROGRAMS is what recording.py records, in
this order. FAULTS says which finding's fault the first half of a pair has; the second half follows the advice that docs/findings.md gives for it,
to the letter, and changes nothing else. A step returns what it computed, so that a pair can be compared. COMPILED: what has something to compile.
"""
import itertools, os, sys
import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from program_parts import (BF, D, DRY, HALF_HERE, S, autocast, built, compiled, draw, inference, last, noise, pinned, replayed, training, pair,
                           in_turns)

SETS = [["shapes", "plain"], ["shapes", "stack"], ["memory", "shapes_stack"], ["plain", "shapes"], ["shapes", "modules"], ["stack", "shapes"]]


def options(index):
    return SETS[index % len(SETS)]


# ---- Layers that several programs share ---------------------------------------------------------------------------------------


class Root(nn.Module):
    """A norm by the root of the mean square, as language models write it."""

    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))

    def forward(self, x):
        h = x.float()
        return (h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)).type_as(x) * self.weight


def rotated(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


class Attention(nn.Module):
    def __init__(self, d, heads, by_hand, causal, linear):
        super().__init__()
        self.heads, self.by_hand, self.causal = heads, by_hand, causal > 0
        self.q, self.kv, self.out = linear(d, d), linear(d, 2 * d), linear(d, d)
        self.register_buffer("later", torch.ones(causal, causal, dtype=torch.bool).triu(1))

    def forward(self, x, other=None, keep=None, turn=None):
        q = self.q(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        k, v = self.kv(x if other is None else other).unflatten(-1, (2, self.heads, -1)).permute(2, 0, 3, 1, 4)
        if turn is not None:
            q, k = rotated(q, *turn), rotated(k, *turn)
        if self.by_hand:
            scores = torch.matmul(q, k.transpose(-2, -1)) / q.shape[-1] ** 0.5
            if self.causal:
                scores = scores.masked_fill(self.later, float("-inf"))
            if keep is not None:
                scores = scores.masked_fill(~keep, float("-inf"))
            y = torch.matmul(scores.softmax(-1), v)
        else:
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep, is_causal=self.causal)
        return self.out(y.transpose(1, 2).flatten(2))


class Gate(nn.Module):
    def __init__(self, d, wide, linear):
        super().__init__()
        self.up, self.down = linear(d, 2 * wide), linear(wide, d)

    def forward(self, x):
        a, b = self.up(x).chunk(2, -1)
        return self.down(F.silu(a) * b)


class Layer(nn.Module):
    def __init__(self, d, heads, wide=4, norm=nn.LayerNorm, gated=False, across=False, by_hand=False, causal=0, linear=nn.Linear):
        super().__init__()
        self.n1, self.look, self.n3 = norm(d), Attention(d, heads, by_hand, causal, linear), norm(d)
        self.mlp = Gate(d, wide * d, linear) if gated else nn.Sequential(linear(d, wide * d), nn.GELU(), linear(wide * d, d))
        if across:
            self.n2, self.ask = norm(d), Attention(d, heads, by_hand, 0, linear)

    def forward(self, x, keep=None, turn=None, other=None, other_keep=None):
        x = x + self.look(self.n1(x), keep=keep, turn=turn)
        if other is not None:
            x = x + self.ask(self.n2(x), other, other_keep)
        return x + self.mlp(self.n3(x))


class Body(nn.Module):
    """Layers with rotary positions."""

    def __init__(self, d, heads, layers, length, norm=nn.LayerNorm, **more):
        super().__init__()
        self.layers, self.norm = nn.ModuleList([Layer(d, heads, norm=norm, **more) for _ in range(layers)]), norm(d)
        angle = (torch.arange(length)[:, None] / 10000 ** torch.linspace(0, 1, d // heads // 2)).repeat(1, 2)
        self.register_buffer("cos", angle.cos().to(BF))
        self.register_buffer("sin", angle.sin().to(BF))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x, turn=(self.cos, self.sin))
        return self.norm(x)


class Translator(nn.Module):
    def __init__(self, words, d, heads, layers, length, norm=nn.LayerNorm, **more):
        super().__init__()
        self.words, self.places = nn.Embedding(words, d), nn.Parameter(torch.randn(length, d) * 0.02)
        self.readers = nn.ModuleList([Layer(d, heads, norm=norm, **more) for _ in range(layers)])
        self.writers = nn.ModuleList([Layer(d, heads, norm=norm, across=True, causal=length, **more) for _ in range(layers)])
        self.n1, self.n2, self.head = norm(d), norm(d), nn.Linear(d, words, bias=False)

    def forward(self, said, told, keep):
        x, y = self.words(said) + self.places, self.words(told) + self.places
        for layer in self.readers:
            x = layer(x, keep=keep)
        x = self.n1(x)
        for layer in self.writers:
            y = layer(y, other=x, other_keep=keep)
        return self.head(self.n2(y))


def sentences(words, batch, length):
    """Two languages, where the first one's sentences end, and the words that come next."""
    ends = torch.randint(length // 2, length + 1, (batch, 1, 1, 1), device=D)
    return draw(words, batch, length), draw(words, batch, length), torch.arange(length, device=D) < ends, draw(words, batch * length)


def conv(i, o, size=3, stride=1):
    return nn.Sequential(nn.Conv2d(i, o, size, stride, size // 2, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class Bird(nn.Module):
    """Boxes out of what points tell of each cell of the ground, at two scales."""

    def __init__(self, seen, c, out):
        super().__init__()
        self.near, self.far = (nn.Sequential(conv(i, o, 3, 2), conv(o, o), conv(o, o)) for i, o in ((seen, c), (c, 2 * c)))
        self.same, self.up = conv(c, c, 1), nn.Sequential(nn.ConvTranspose2d(2 * c, c, 2, 2, bias=False), nn.BatchNorm2d(c), nn.ReLU(inplace=True))
        self.head = nn.Conv2d(2 * c, out, 1)

    def forward(self, x):
        x = self.near(x)
        return self.head(torch.cat([self.same(x), self.up(self.far(x))], 1))


class Lanes(nn.Module):
    """An encoder and a decoder of images, three scales."""

    def __init__(self, seen, c, out):
        super().__init__()
        two = lambda i, o: nn.Sequential(conv(i, o), conv(o, o))
        self.a, self.b, self.c, self.d, self.e = two(seen, c), two(c, 2 * c), two(2 * c, 4 * c), two(4 * c, 2 * c), two(2 * c, c)
        self.up1, self.up2, self.head = nn.ConvTranspose2d(4 * c, 2 * c, 2, 2), nn.ConvTranspose2d(2 * c, c, 2, 2), nn.Conv2d(c, out, 1)

    def forward(self, x):
        a = self.a(x)
        b = self.b(F.max_pool2d(a, 2))
        h = self.up1(self.c(F.max_pool2d(b, 2)))
        h = self.up2(self.d(torch.cat([h, b], 1)))
        return self.head(self.e(torch.cat([h, a], 1)))


def fed(m, cost, dataset, batch, **more):
    """Training from a data loader."""
    batches = iter(torch.utils.data.DataLoader(dataset, batch_size=batch, **more))
    optimizer = torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True)

    def step():
        x, y = (t.to(D, non_blocking=True) for t in next(batches))
        optimizer.zero_grad(set_to_none=True)
        with autocast():
            loss = cost(m(x).float(), y)
        loss.backward()
        optimizer.step()
        return loss.detach()
    return step


def workers(count, pin):
    return dict(num_workers=S(count, 1), persistent_workers=True, prefetch_factor=2, pin_memory=pin and not DRY) if count else {}


# ---- Chains of pointwise kernels: torch.compile around what holds them ----------------------------------------------------------


# Galaxies fitted by the light that Sersic's law gives them, all pixels of all of them at once: in eager mode, or the misfit compiled.
def misfit(told, image, weight, xs, ys):
    flux, size, index, ratio, angle, cx, cy = told[:, :, None, None].unbind(1)
    flux, size, index, ratio = flux.exp(), size.exp(), 0.5 + 5.5 * torch.sigmoid(index), torch.sigmoid(ratio)
    dx, dy, c, s = xs - cx, ys - cy, torch.cos(angle), torch.sin(angle)
    r = torch.sqrt((dx * c + dy * s) ** 2 + ((dy * c - dx * s) / ratio) ** 2 + 1e-3) / size
    steep = 2 * index - 1 / 3 + 0.009876 / index
    pull = (flux * torch.exp(-steep * (r ** (1 / index) - 1)) - image) * weight
    return (torch.sqrt(1 + pull ** 2) - 1).sum((1, 2)).mean()


def galaxies_fit(eager):
    def make():
        count, side = S(3072, 3), S(128, 8)
        told = torch.cat([torch.zeros(count, 1, device=D), 1.5 + 0.3 * noise(count, 1), noise(count, 3), side / 2 + noise(count, 2)], 1)
        told, image, weight = nn.Parameter(told), noise(count, side, side).abs(), 0.5 + torch.rand(count, side, side, device=D)
        xs, ys = torch.arange(side, device=D).float().view(1, 1, side), torch.arange(side, device=D).float().view(1, side, 1)
        f = misfit if eager else compiled(misfit)
        return training(None, lambda: f(told, image, weight, xs, ys), torch.optim.Adam([told], lr=1e-3, fused=True), cast=False)
    return make


# Counts of genes in single cells freed of noise by an autoencoder, zero-inflated likelihood: eager, or the model with its loss compiled.
class Counts(nn.Module):
    def __init__(self, genes, d, narrow):
        super().__init__()
        part = lambda i, o: nn.Sequential(nn.Linear(i, o), nn.BatchNorm1d(o), nn.ReLU())
        self.body = nn.Sequential(part(genes, d), part(d, narrow), part(narrow, d))
        self.mean, self.spread, self.missing = (nn.Linear(d, genes) for _ in range(3))

    def forward(self, counts, size):
        h = self.body(torch.log1p(counts / size))
        mean, theta, missing = self.mean(h).clamp(-10, 10).exp() * size, F.softplus(self.spread(h)).clamp(1e-4, 1e4), self.missing(h)
        total, log_theta, present = torch.log(theta + mean), torch.log(theta), F.softplus(-missing)
        none = F.softplus(theta * (log_theta - total) - missing) - present
        some = (theta * (log_theta - total) - missing - present + counts * (torch.log(mean + 1e-8) - total)
                + torch.lgamma(counts + theta) - torch.lgamma(theta) - torch.lgamma(counts + 1))
        return -torch.where(counts < 0.5, none, some).mean()


def cells_counts(eager):
    def make():
        cells, genes = S(2048, 6), S(8192, 20)
        m = built(lambda: Counts(genes, S(512, 8), S(64, 4)))
        counts = torch.poisson(2 * torch.rand(genes, device=D) ** 4 * (0.5 + torch.rand(cells, 1, device=D)))
        size = counts.sum(1, keepdim=True).clamp(min=1) / genes
        f = m if eager else compiled(m)
        return training(m, lambda: f(counts, size), torch.optim.Adam(m.parameters(), lr=1e-5, fused=True), cast=False)
    return make


# What shops will sell: gated residual networks choose among series, attention, quantiles; eager, or the model with its loss compiled.
class Residual(nn.Module):
    def __init__(self, i, d, o):
        super().__init__()
        self.a, self.b, self.gate, self.norm = nn.Linear(i, d), nn.Linear(d, d), nn.Linear(d, 2 * o), nn.LayerNorm(o)
        self.skip = nn.Identity() if i == o else nn.Linear(i, o)

    def forward(self, x):
        return self.norm(self.skip(x) + F.glu(self.gate(self.b(F.elu(self.a(x))))))


class Demand(nn.Module):
    def __init__(self, kinds, d, heads, length, ahead, levels):
        super().__init__()
        self.enter, self.each = nn.ModuleList([nn.Linear(1, d) for _ in range(kinds)]), nn.ModuleList([Residual(d, d, d) for _ in range(kinds)])
        self.choose, self.look, self.gate = Residual(kinds * d, d, kinds), Attention(d, heads, False, length, nn.Linear), nn.Linear(d, 2 * d)
        self.n1, self.after, self.out, self.ahead = nn.LayerNorm(d), Residual(d, d, d), nn.Linear(d, levels), ahead
        self.register_buffer("levels", torch.linspace(0.1, 0.9, levels))

    def forward(self, x, y):
        parts = [enter(x[..., i:i + 1]) for i, enter in enumerate(self.enter)]
        weight = self.choose(torch.cat(parts, -1)).softmax(-1)
        h = (torch.stack([each(part) for each, part in zip(self.each, parts)], -1) * weight.unsqueeze(-2)).sum(-1)
        h = self.after(self.n1(h + F.glu(self.gate(self.look(h)))))
        left = y.unsqueeze(-1) - self.out(h[:, -self.ahead:]).float()
        return torch.maximum(self.levels * left, (self.levels - 1) * left).mean()


def demand_quantiles(eager):
    def make():
        batch, t, ahead, kinds = S(64, 3), S(168, 8), S(24, 3), S(4, 3)
        m = built(lambda: Demand(kinds, S(128, 8), S(4, 2), t, ahead, S(8, 3)))
        f, x, y = m if eager else compiled(m), noise(batch, t, kinds), noise(batch, ahead)
        return training(m, lambda: f(x, y))
    return make


# Speeches translated, trained: norms by root mean squares, gated layers, smoothed labels; eager, or the model with its loss compiled.
def speeches_smoothed(eager):
    def make():
        words, t, batch = S(32768, 50), S(96, 6), S(64, 2)
        m = built(lambda: Translator(words, S(768, 16), S(12, 2), S(2, 1), t, Root, gated=True, wide=2))
        cost = lambda said, told, keep, goal: F.cross_entropy(m(said, told, keep).flatten(0, 1).float(), goal, label_smoothing=0.1)
        f, given = cost if eager else compiled(cost), sentences(words, batch, t)
        return training(m, lambda: f(*given))
    return make


# Where the cars around will go: lanes and tracks as tokens of wide layers, six futures with their spread, bfloat16; eager, or compiled.
class Motion(nn.Module):
    def __init__(self, seen, d, heads, layers, modes, moments):
        super().__init__()
        self.track, self.moments = nn.Sequential(nn.Linear(seen, d), nn.LayerNorm(d), nn.ReLU(), nn.Linear(d, d)), moments
        self.point = nn.Sequential(nn.Linear(8, d // 4), nn.LayerNorm(d // 4), nn.ReLU(), nn.Linear(d // 4, d // 4))
        self.layers, self.ask = nn.ModuleList([Layer(d, heads) for _ in range(layers)]), Layer(d, heads, across=True)
        self.lane, self.modes = nn.Linear(d // 4, d), nn.Parameter(torch.randn(modes, d))
        self.paths, self.chance = nn.Linear(d, moments * 5), nn.Linear(d, 1)

    def forward(self, tracks, lanes):
        x = torch.cat([self.track(tracks), self.lane(self.point(lanes).amax(2))], 1)
        for layer in self.layers:
            x = layer(x)
        h = self.ask(self.modes.expand(x.shape[0], -1, -1), other=x)
        way, spread, lean = self.paths(h).float().unflatten(-1, (self.moments, 5)).split([2, 2, 1], -1)
        chance = self.chance(h).float().softmax(1).unsqueeze(-1)
        return torch.cat([way.cumsum(2), F.softplus(spread) + 0.01, torch.tanh(lean), chance.expand_as(lean)], -1)


def motion_futures(eager):
    def make():
        scenes, cars, lanes, seen, d = S(32, 2), S(128, 3), S(384, 4), S(96, 6), S(1024, 16)
        m = built(lambda: Motion(seen, d, S(16, 2), S(4, 1), S(6, 3), S(80, 4)), BF).eval()
        return inference(m if eager else compiled(m), noise(scenes, cars, seen, dtype=BF), noise(scenes, lanes, S(20, 3), 8, dtype=BF))
    return make


# ---- The host waits for the device: the value is kept there -------------------------------------------------------------------


# Who counts in a network of followers, by rank: what silent people hold and how much has changed fetched in each round, or kept on the device.
def followers_rank(fetched):
    def make():
        people, links, rounds = S(1 << 16, 60), S(1 << 20, 300), S(30, 4)
        a = draw(people * 3 // 4, links)
        b = (a + 1 + draw(50, links)) % people
        out = torch.zeros(people, device=D).index_add_(0, a, torch.ones(links, device=D))
        share, silent = 1 / out[a], (out == 0).nonzero().flatten()
        first, sure = torch.full((people,), 1 / people, device=D), torch.ones((), dtype=torch.bool, device=D)

        @torch.no_grad()
        def step():
            x, going = first, sure
            for _ in range(rounds):
                held = x[silent].sum()
                if fetched:
                    held = held.item()
                new = 0.85 * (torch.zeros_like(x).index_add_(0, b, x[a] * share) + held / people) + 0.15 / people
                change = (new - x).abs().sum()
                if fetched:
                    x = new
                    if change.item() < 1e-6:
                        break
                else:
                    x = torch.where(going, new, x)
                    going = going & (change >= 1e-6)
            return x
        return step
    return make


# Boxes around what a lidar sees, trained: anchors that hold something picked, their number and all losses fetched; or all on the device.
def lidar_anchors(fetched):
    def make():
        kinds, side, c, batch = S(7, 3), S(384, 16), S(128, 8), S(8, 2)
        m = last(built(lambda: Bird(S(64, 8), c, 2 * (kinds + 9))))
        x, each = last(noise(batch, S(64, 8), side, side)), side * side // 2
        label = draw(kinds, batch, each) * (torch.rand(batch, each, device=D) < 0.02) + (torch.rand(batch, each, device=D) < 0.01)
        goal, turn, names, totals = noise(batch, each, 7), draw(2, batch, each), torch.arange(1, kinds + 1, device=D), [0.0, 0.0, 0.0]

        def loss_of():
            told = m(x).float().permute(0, 2, 3, 1).unflatten(-1, (2, -1)).flatten(1, 3)
            score, box, way = told.split([kinds, 7, 2], -1)
            held, right, chance = label > 0, (label.unsqueeze(-1) == names).float(), torch.sigmoid(score)
            unsure = torch.where(right > 0, 0.25 * (1 - chance) ** 2, 0.75 * chance ** 2)
            unsure = unsure * F.binary_cross_entropy_with_logits(score, right, reduction="none")
            if fetched:
                count = max(held.sum().item(), 1)
                parts = [unsure.sum() / count, F.smooth_l1_loss(box[held], goal[held], reduction="sum") / count,
                         F.cross_entropy(way[held], turn[held], reduction="sum") / count]
            else:
                count = held.sum().clamp(min=1)
                parts = [unsure.sum() / count, (F.smooth_l1_loss(box, goal, reduction="none").sum(-1) * held).sum() / count,
                         (F.cross_entropy(way.flatten(0, 1), turn.flatten(), reduction="none") * held.flatten()).sum() / count]
            for i, part in enumerate(parts):
                totals[i] += part.item() if fetched else part.detach()
            return parts[0] + 2 * parts[1] + 0.2 * parts[2]
        return training(m, loss_of)
    return make


# Pictures of one night added up, cosmic rays clipped: mean and spread of each round fetched and a stop when nothing falls out, or all on the device.
def nights_clip(fetched):
    def make():
        shots, side, rounds = S(6, 2), S(4096, 64), S(5, 3)
        raw = 300 + 40 * noise(shots, side, side) + 5000 * (torch.rand(shots, side, side, device=D) > 0.999)
        bias, flat = 100 + noise(side, side), 1 + 0.05 * noise(side, side)

        @torch.no_grad()
        def step():
            total, seen = torch.zeros_like(bias), torch.zeros_like(bias)
            for shot in raw:
                x, before = (shot - bias) / flat, None
                kept = torch.isfinite(x)
                for _ in range(rounds):
                    count = kept.sum()
                    if fetched:
                        count = count.item()
                        if count == before:
                            break
                        before = count
                    mean = torch.where(kept, x, 0).sum() / count
                    if fetched:
                        mean = mean.item()
                    away = x - mean
                    spread = (torch.where(kept, away, 0).square().sum() / count).sqrt()
                    if fetched:
                        spread = spread.item()
                    kept = kept & (away.abs() < 3 * spread)
                total += torch.where(kept, x - mean, 0)
                seen += kept
            return total / seen.clamp(min=1)
        return step
    return make


# ---- Many launches: captured in a CUDA graph ----------------------------------------------------------------------------------


# Shapes of peptides out of noise by layers that turn with them, a few rounds without chance: op by op, or captured.
class Turning(nn.Module):
    def __init__(self, d, rings):
        super().__init__()
        self.edge = nn.Sequential(nn.Linear(2 * d + rings, d), nn.SiLU(), nn.Linear(d, d), nn.SiLU())
        self.node, self.look = nn.Sequential(nn.Linear(2 * d, d), nn.SiLU(), nn.Linear(d, d)), nn.Sequential(nn.Linear(d, 1), nn.Sigmoid())
        self.move = nn.Sequential(nn.Linear(d, d), nn.SiLU(), nn.Linear(d, 1, bias=False), nn.Tanh())
        self.register_buffer("rings", torch.linspace(0, 10, rings))

    def forward(self, h, x, a, b, degree):
        way = x[a] - x[b]
        far = way.square().sum(-1, keepdim=True).add(1e-6).sqrt()
        sent = self.edge(torch.cat([h[a], h[b], torch.exp(-2 * (far - self.rings) ** 2)], -1))
        sent = sent * self.look(sent)
        x = x + torch.zeros_like(x).index_add(0, a, way / (far + 1) * self.move(sent)) / degree
        return h + self.node(torch.cat([h, torch.zeros_like(h).index_add(0, a, sent)], -1)), x


class Peptides(nn.Module):
    def __init__(self, kinds, d, layers, rounds):
        super().__init__()
        self.kinds, self.times, self.kept = nn.Embedding(kinds, d), nn.Embedding(rounds, d), np.linspace(0.05, 0.99, rounds + 1).tolist()
        self.layers = nn.ModuleList([Turning(d, 16) for _ in range(layers)])

    def forward(self, kinds, x, a, b, degree):
        for i, (now, then) in enumerate(zip(self.kept, self.kept[1:])):
            h, y = self.kinds(kinds) + self.times.weight[i], x
            for layer in self.layers:
                h, y = layer(h, y, a, b, degree)
            off = y - x
            clean = (x - (1 - now) ** 0.5 * off) / now ** 0.5
            x = then ** 0.5 * clean + (1 - then) ** 0.5 * off
        return x


def peptides_capture(captured):
    def make():
        atoms, links = S(1024, 12), S(16384, 40)
        m = built(lambda: Peptides(20, S(64, 8), S(4, 2), S(4, 2))).eval()
        a = draw(atoms, links)
        degree = torch.bincount(a, minlength=atoms).clamp(min=1).float().unsqueeze(1)
        step = inference(m, draw(20, atoms), noise(atoms, 3), a, draw(atoms, links), degree)
        return replayed(step) if captured else step
    return make


# Which way a price goes by the book of orders, causal convolutions ever wider apart, compiled, trained: as it comes, or mode="reduce-overhead".
class Apart(nn.Module):
    def __init__(self, c, apart):
        super().__init__()
        self.apart, self.two, self.out = apart, nn.Conv1d(c, 2 * c, 3, dilation=apart), nn.Conv1d(c, 2 * c, 1)

    def forward(self, x):
        a, b = self.two(F.pad(x, (2 * self.apart, 0))).chunk(2, 1)
        rest, skip = self.out(torch.tanh(a) * torch.sigmoid(b)).chunk(2, 1)
        return (x + rest) * 0.5 ** 0.5, skip


class Book(nn.Module):
    def __init__(self, levels, c, layers):
        super().__init__()
        self.norm, self.enter = nn.LayerNorm(levels), nn.Conv1d(levels, c, 1)
        self.layers = nn.ModuleList([Apart(c, 2 ** i) for i in range(layers)])
        self.head = nn.Sequential(nn.ReLU(), nn.Conv1d(c, c, 1), nn.ReLU(), nn.Conv1d(c, 4, 1))

    def forward(self, x, y):
        x, total = self.enter(self.norm(x).transpose(1, 2)), 0.0
        for layer in self.layers:
            x, skip = layer(x)
            total = total + skip
        return F.cross_entropy(self.head(total).float(), y)


def orderbook_overhead(captured):
    def make():
        batch, t, levels = S(16, 2), S(256, 12), S(40, 8)
        m = built(lambda: Book(levels, S(64, 8), S(5, 2)))
        f, x, y = compiled(m, mode="reduce-overhead") if captured else compiled(m), noise(batch, t, levels), draw(4, batch, t)
        return training(m, lambda: f(x, y))
    return make


# ---- The optimizer: fused=True ------------------------------------------------------------------------------------------------


# Enzymes read letter by letter, hidden ones guessed: AdamW as it comes, or fused.
class Enzymes(nn.Module):
    def __init__(self, letters, d, heads, layers, length):
        super().__init__()
        self.letters, self.body = nn.Embedding(letters, d), Body(d, heads, layers, length)
        self.head = nn.Sequential(nn.Linear(d, d), nn.GELU(), nn.LayerNorm(d), nn.Linear(d, letters))

    def forward(self, ids):
        return self.head(self.body(self.letters(ids)))


def enzymes_adamw(as_it_comes):
    def make():
        letters, t, batch = S(32, 12), S(512, 6), S(24, 2)
        m = built(lambda: Enzymes(letters, S(640, 16), S(10, 2), S(10, 1), t))
        ids, labels = draw(letters, batch, t), torch.where(torch.rand(batch * t, device=D) < 0.15, draw(letters, batch * t), -100)
        labels[0] = 1
        optimizer = torch.optim.AdamW(m.parameters(), lr=1e-5, weight_decay=0.01, **({} if as_it_comes else dict(fused=True)))
        return training(m, lambda: F.cross_entropy(m(ids).flatten(0, 1).float(), labels), optimizer)
    return make


# Communities in a network by vectors of all people, pairs that know each other against pairs drawn at random: Adam as it comes, or fused.
class Ties(nn.Module):
    def __init__(self, people, d):
        super().__init__()
        self.own, self.other = nn.Embedding(people, d), nn.Embedding(people, d)
        self.join = nn.Sequential(nn.Linear(d, d), nn.ReLU(), nn.Linear(d, d))
        self.own.weight.data.mul_(0.1)
        self.other.weight.data.mul_(0.1)

    def forward(self, a, b, drawn):
        x = self.own(a)
        x = x + self.join(x)
        near, far = (x * self.other(b)).sum(-1), torch.einsum("nd,nkd->nk", x, self.other(drawn))
        return -F.logsigmoid(near).mean() - F.logsigmoid(-far).mean()


def communities_adam(as_it_comes):
    def make():
        people, batch = S(400000, 60), S(8192, 8)
        m = built(lambda: Ties(people, S(128, 8)))
        a, b, drawn = draw(people, batch), draw(people, batch), draw(people, batch, S(8, 3))
        optimizer = torch.optim.Adam(m.parameters(), lr=1e-3, **({} if as_it_comes else dict(fused=True)))
        return training(m, lambda: m(a, b, drawn), optimizer, cast=False)
    return make


# ---- Input: workers, pinned memory, the next request ahead ----------------------------------------------------------------------


# What happens in broadcasts of matches: clips cut out, scaled and recoloured by the training process itself, or by workers and with pinned memory.
class Clips(torch.utils.data.Dataset):
    def __init__(self, count, frames, high, wide, side):
        self.all = np.random.default_rng(1).integers(0, 256, (count, frames, high, wide, 3), dtype=np.uint8)
        self.side, self.frames = side, frames // 2
        self.mean, self.spread = torch.tensor([110.0, 105.0, 95.0]).view(3, 1, 1), torch.tensor([58.0, 57.0, 59.0]).view(3, 1, 1)

    def __len__(self):
        return 1000000

    def __getitem__(self, i):
        rng, clip = np.random.default_rng(i), self.all[i % len(self.all)]
        high, wide = (int(rng.integers(3 * n // 5, n)) for n in clip.shape[1:3])
        at, top, left = (int(rng.integers(0, n)) for n in (self.frames, clip.shape[1] - high, clip.shape[2] - wide))
        cut = torch.from_numpy(clip[at:at + self.frames, top:top + high, left:left + wide]).permute(0, 3, 1, 2).float()
        cut = F.interpolate(cut, (self.side, self.side), mode="bilinear", align_corners=False)
        light, contrast = rng.uniform(0.7, 1.3, 2)
        cut = ((cut - cut.mean()) * contrast + 105 * light).clamp(0, 255)
        cut = ((cut if rng.random() < 0.5 else cut.flip(-1)) - self.mean) / self.spread
        return cut.transpose(0, 1).contiguous(), i % 10


class Factored(nn.Module):
    """Convolutions over places, then over time, beside a short way."""

    def __init__(self, i, o, stride):
        super().__init__()
        self.space, self.n1 = nn.Conv3d(i, o, (1, 3, 3), (1, stride, stride), (0, 1, 1), bias=False), nn.BatchNorm3d(o)
        self.time, self.n2 = nn.Conv3d(o, o, (3, 1, 1), 1, (1, 0, 0), bias=False), nn.BatchNorm3d(o)
        self.short = nn.Conv3d(i, o, 1, (1, stride, stride), bias=False)

    def forward(self, x):
        return F.relu(self.short(x) + self.n2(self.time(F.relu(self.n1(self.space(x))))))


class Matches(nn.Module):
    def __init__(self, c, kinds):
        super().__init__()
        enter = [nn.Conv3d(3, c, (3, 7, 7), (1, 2, 2), (1, 3, 3), bias=False), nn.BatchNorm3d(c), nn.ReLU()]
        blocks = [Factored(i, o, 2 if i != o else 1) for i, o in ((c, c), (c, 2 * c), (2 * c, 2 * c), (2 * c, 4 * c), (4 * c, 4 * c))]
        self.parts = nn.Sequential(*enter, *blocks, nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(4 * c, kinds))

    def forward(self, x):
        return self.parts(x.contiguous(memory_format=torch.channels_last_3d))


def broadcast_clips(count):
    def make():
        m = built(lambda: Matches(S(64, 8), 10)).to(memory_format=torch.channels_last_3d)
        return fed(m, F.cross_entropy, Clips(S(16, 2), 16, S(128, 24), S(171, 32), S(112, 16)), S(8, 2), **workers(count, True))
    return make


# How often each word of five bases stands in a stretch of a genome, read with errors: by two workers, or by ten and with pinned memory.
class Stretches(torch.utils.data.Dataset):
    def __init__(self, bases, window):
        self.bases, self.window = np.random.default_rng(2).integers(0, 4, bases, dtype=np.uint8), window
        self.ones = np.eye(4, dtype=np.float32)

    def __len__(self):
        return 1000000

    def __getitem__(self, i):
        rng = np.random.default_rng(i)
        at = int(rng.integers(0, len(self.bases) - self.window))
        piece = self.bases[at:at + self.window].copy()
        wrong = rng.random(self.window) < 0.02
        piece[wrong] = rng.integers(0, 4, int(wrong.sum()))
        if rng.random() < 0.5:
            piece = 3 - piece[::-1]
        five = sum(piece[j:self.window - 4 + j].astype(np.int64) << 2 * j for j in range(5))
        often = np.log1p(np.bincount(five, minlength=1024)).astype(np.float32)
        return torch.from_numpy(np.ascontiguousarray(self.ones[piece].T)), torch.from_numpy(often)


class Reader(nn.Module):
    def __init__(self, c, d, heads, layers, out):
        super().__init__()
        stage = lambda i, o, size: nn.Sequential(nn.Conv1d(i, o, size, padding=size // 2), nn.BatchNorm1d(o), nn.GELU(), nn.MaxPool1d(4))
        self.stages, self.head = nn.Sequential(stage(4, c, 15), stage(c, d, 5), stage(d, d, 5)), nn.Sequential(nn.LayerNorm(d), nn.Linear(d, out))
        self.layers = nn.ModuleList([Layer(d, heads) for _ in range(layers)])

    def forward(self, x):
        x = self.stages(x).transpose(1, 2)
        for layer in self.layers:
            x = layer(x)
        return self.head(x.mean(1))


def genomes_windows(count):
    def make():
        m = built(lambda: Reader(S(128, 8), S(384, 16), S(6, 2), S(3, 1), 1024))
        return fed(m, F.mse_loss, Stretches(S(4000000, 3000), S(16384, 256)), S(32, 2), **workers(count, count > 2))
    return make


# How deep the ground lies below a drone: its film held still by shifts that Fourier's transform finds, ahead of each call or by a process.
class Film(torch.utils.data.IterableDataset):
    def __init__(self, count, side, edge, window):
        self.edge, self.window = edge, np.outer(np.hanning(window), np.hanning(window)).astype(np.float32)
        self.all = np.random.default_rng(3).integers(0, 256, (count, 3, side + 2 * edge, side + 2 * edge), dtype=np.uint8)
        self.mean, self.spread = (np.array(three, np.float32).reshape(3, 1, 1) for three in ([110, 105, 95], [58, 57, 59]))

    def __iter__(self):
        before, n, edge = None, len(self.window), self.edge
        for turn in itertools.count():
            frame, shift = self.all[turn % len(self.all)], (0, 0)
            now = np.fft.rfft2(frame[:, edge:edge + n, edge:edge + n].mean(0, dtype=np.float32) * self.window)
            if before is not None:
                both = now * before.conj()
                peak = np.unravel_index(np.fft.irfft2(both / (np.abs(both) + 1e-9)).argmax(), (n, n))
                shift = [int(np.clip((p + n // 2) % n - n // 2, -edge, edge)) for p in peak]
            before = now
            top, left, side = edge + shift[0], edge + shift[1], frame.shape[1] - 2 * edge
            yield torch.from_numpy((frame[:, top:top + side, left:left + side] - self.mean) / self.spread)


def drone_film(at_once):
    def make():
        m = last(built(lambda: Lanes(3, S(128, 8), 1), HALF_HERE)).eval()
        film = Film(8, S(448, 16), S(32, 4), S(160, 8))
        ahead = dict(batch_size=None, num_workers=1, prefetch_factor=2, pin_memory=not DRY)
        frames = iter(film if at_once else torch.utils.data.DataLoader(film, **ahead))

        @torch.no_grad()
        def step():
            x = pinned(next(frames)) if at_once else next(frames)
            return F.softplus(m(last(x.to(D, non_blocking=True).to(HALF_HERE).unsqueeze(0))))
        return step
    return make


# ---- Attention by hand: scaled_dot_product_attention --------------------------------------------------------------------------


# Sermons translated, trained: attention by products, masks and softmax, or by the library's kernel.
def sermons_attention(by_hand):
    def make():
        words, t, batch = S(16384, 50), S(256, 8), S(24, 2)
        m = built(lambda: Translator(words, S(768, 16), S(12, 2), S(3, 1), t, by_hand=by_hand))
        said, told, keep, goal = sentences(words, batch, t)
        return training(m, lambda: F.cross_entropy(m(said, told, keep).flatten(0, 1).float(), goal))
    return make


# Stars told by their whole spectra, thousands of pieces each, bfloat16: attention by hand, or by the library's kernel.
class Spectra(nn.Module):
    def __init__(self, piece, d, heads, layers, length, by_hand):
        super().__init__()
        self.enter, self.body, self.head = nn.Linear(2 * piece, d), Body(d, heads, layers, length, by_hand=by_hand), nn.Linear(d, 8)

    def forward(self, flux, doubt):
        middle = flux.mean((1, 2), keepdim=True)
        x = torch.cat([flux / middle.abs().clamp(min=0.1), doubt.clamp(min=1e-3).log()], -1)
        return self.head(self.body(self.enter(x)).mean(1))


def spectra_attention(by_hand):
    def make():
        batch, t, piece = S(4, 2), S(4096, 12), S(16, 4)
        m = built(lambda: Spectra(piece, S(512, 16), S(8, 2), S(4, 2), t, by_hand), BF).eval()
        return inference(m, (1 + noise(batch, t, piece)).to(BF), torch.rand(batch, t, piece, device=D).to(BF))
    return make


# ---- Copies: pinned memory ----------------------------------------------------------------------------------------------------


# The ground around a car by its six cameras, half precision: pictures and poses sent by non_blocking=True, from ordinary or pinned memory.
class Ground(nn.Module):
    def __init__(self, c, out, cells):
        super().__init__()
        near = [conv(3, c, 5, 2), conv(c, c), conv(c, 2 * c, 3, 2), conv(2 * c, 2 * c), conv(2 * c, 2 * c)]
        self.read = nn.Sequential(*near, conv(2 * c, 4 * c, 3, 2), conv(4 * c, 4 * c), conv(4 * c, 2 * c))
        self.tell, self.cells = nn.Sequential(conv(2 * c, 2 * c), conv(2 * c, 2 * c), nn.Conv2d(2 * c, out, 1)), cells
        y, x = torch.meshgrid(torch.linspace(-50, 50, cells), torch.linspace(-50, 50, cells), indexing="ij")
        self.register_buffer("places", torch.stack([x, y, torch.zeros_like(x), torch.ones_like(x)], -1).flatten(0, 1))

    def forward(self, pictures, poses, lenses):
        h = self.read(pictures)
        seen = self.places @ (lenses @ poses[:, :3]).transpose(1, 2)
        at = seen[..., :2] / seen[..., 2:].clamp(min=0.1) * 2 - 1
        at = torch.where(seen[..., 2:] > 0.1, at, -2.0).clamp(-2, 2).unflatten(1, (self.cells, self.cells))
        return self.tell(last(F.grid_sample(h, at.to(h.dtype), align_corners=False).sum(0, keepdim=True)))


def surround_upload(ordinary):
    def make():
        high, wide, turn = S(512, 32), S(896, 48), [0]
        m = last(built(lambda: Ground(S(96, 8), S(16, 4), S(200, 8)))).eval()
        m.read.to(HALF_HERE), m.tell.to(HALF_HERE)
        given = lambda: (torch.randint(0, 256, (6, high, wide, 3), dtype=torch.uint8), torch.randn(6, 4, 4), torch.randn(6, 3, 3).abs())
        batches = [given() if ordinary else tuple(pinned(t) for t in given()) for _ in range(3)]

        @torch.no_grad()
        def step():
            turn[0] = (turn[0] + 1) % 3
            pictures, poses, lenses = (t.to(D, non_blocking=True) for t in batches[turn[0]])
            return m(pictures.permute(0, 3, 1, 2).to(HALF_HERE) / 255, poses, lenses)
        return step
    return make


# What flares up in the sky: exposures of two detectors calibrated, smoothed and searched for peaks; sent from ordinary or pinned memory.
def exposures_upload(ordinary):
    def make():
        side, turn = S(4096, 128), [0]
        given = lambda: torch.randint(0, 30000, (2, 1, side, side), dtype=torch.int16)
        exposures = [given() if ordinary else pinned(given()) for _ in range(2)]
        bias, gain = 300 + 5 * noise(2, 1, side, side), 1 + 0.02 * noise(2, 1, side, side)
        bell = torch.exp(-torch.linspace(-2, 2, 9, device=D) ** 2)
        bell, tiles = (bell / bell.sum()).view(1, 1, 1, 9), lambda x: x.unflatten(3, (-1, 64)).unflatten(2, (-1, 64))

        @torch.no_grad()
        def step():
            turn[0] = (turn[0] + 1) % 2
            x = (exposures[turn[0]].to(D, non_blocking=True).float() - bias) * gain
            x = x - F.interpolate(tiles(x).mean((3, 5)), scale_factor=64, mode="bilinear")
            x = F.conv2d(F.conv2d(x, bell, padding=(0, 4)), bell.transpose(2, 3), padding=(4, 0))
            spread = x.square().mean((2, 3), keepdim=True).sqrt()
            found = (x == F.max_pool2d(x, 5, 1, 2)) & (x > 3 * spread)
            return tiles(torch.where(found, x / spread, 0)).amax((3, 5))
        return step
    return make


# ---- Products and convolutions ------------------------------------------------------------------------------------------------


# Circles of citations told apart, trained in float32: each paper looks at all others, biased by how far they are; TF32 off, or on.
class Circles(nn.Module):
    def __init__(self, seen, d, heads, layers, far, kinds):
        super().__init__()
        self.enter, self.degrees, self.far = nn.Linear(seen, d), nn.Embedding(64, d), nn.Embedding(far, heads)
        self.layers, self.norm, self.head = nn.ModuleList([Layer(d, heads, 2) for _ in range(layers)]), nn.LayerNorm(d), nn.Linear(d, kinds)

    def forward(self, x, degree, apart):
        x, bias = self.enter(x) + self.degrees(degree), self.far(apart).permute(0, 3, 1, 2).contiguous()
        for layer in self.layers:
            x = layer(x, keep=bias)
        return self.head(self.norm(x).mean(1))


def citations_fp32(full):
    def make():
        batch, papers, seen, far, kinds = S(64, 2), S(128, 6), S(256, 8), S(24, 5), S(16, 4)
        m = built(lambda: Circles(seen, S(512, 16), S(8, 2), S(4, 1), far, kinds))
        x, y, degree, apart = noise(batch, papers, seen), draw(kinds, batch), draw(64, batch, papers), draw(far, batch, papers, papers)
        step = training(m, lambda: F.cross_entropy(m(x, degree, apart), y), cast=False)

        def with_precision():
            torch.set_float32_matmul_precision("highest" if full else "high")
            return step()
        return with_precision
    return make


# What moves all shares of a market at once, an autoencoder: as many columns as there are shares, or padded.
class Factors(nn.Module):
    def __init__(self, shares, d, narrow):
        super().__init__()
        part = lambda i, o: nn.Sequential(nn.Linear(i, o), nn.LayerNorm(o), nn.SiLU())
        self.enter, self.out, self.write = nn.Linear(shares, d), nn.Linear(d, shares), nn.Sequential(part(narrow, d), part(d, d))
        self.read = nn.Sequential(nn.SiLU(), part(d, d), nn.Linear(d, narrow))

    def forward(self, x):
        return self.out(self.write(self.read(self.enter(x))))


def equities_odd(odd):
    def make():
        days, shares = S(16384, 6), S(2515, 21)
        m, x = built(lambda: Factors(shares, S(1536, 16), S(64, 4))), noise(days, shares, dtype=BF)
        more = 0 if odd else -shares % 64
        m.enter.weight, m.out.weight = nn.Parameter(F.pad(m.enter.weight.data, (0, more))), nn.Parameter(F.pad(m.out.weight.data, (0, 0, 0, more)))
        m.out.bias, x = nn.Parameter(F.pad(m.out.bias.data, (0, more))), F.pad(x, (0, more))
        return training(m, lambda: F.mse_loss(m(x).float(), x.float(), reduction="sum") / (days * shares))
    return make


# Lanes of a road marked pixel by pixel, trained: NCHW as it comes, or channels last.
def lanes_layout(channels_last):
    def make():
        batch, high, wide, kinds = S(8, 2), S(256, 16), S(512, 24), S(8, 3)
        m, x, y = built(lambda: Lanes(3, S(64, 8), kinds)), noise(batch, 3, high, wide), draw(kinds, batch, high, wide)
        if channels_last:
            m, x = last(m), last(x)
        weights = torch.tensor([0.4] + [1.0] * (kinds - 1), device=D)
        return training(m, lambda: F.cross_entropy(m(x).float(), y, weight=weights))
    return make


# ---- What the framework does besides ------------------------------------------------------------------------------------------


# What interpreters said as vectors for search, compiled: each layer asks whether numbers overflowed and clamps them, or always clamps.
class Clamped(Layer):
    def __init__(self, d, heads, asks):
        super().__init__(d, heads, norm=Root, gated=True, wide=2)
        self.asks = asks

    def within(self, x):
        most = torch.finfo(x.dtype).max
        if self.asks:
            if torch.isinf(x).any():
                x = torch.clamp(x, -(most - 1000), most - 1000)
            return x
        most = torch.where(torch.isinf(x).any(), most - 1000, most)
        return torch.clamp(x, -most, most)

    def forward(self, x, bias):
        x = self.within(x + self.look(self.n1(x), keep=bias))
        return self.within(x + self.mlp(self.n3(x)))


class Interpreters(nn.Module):
    def __init__(self, words, d, heads, layers, length, asks):
        super().__init__()
        self.words, self.far, self.norm = nn.Embedding(words, d), nn.Embedding(32, heads), Root(d)
        self.layers = nn.ModuleList([Clamped(d, heads, asks) for _ in range(layers)])
        apart = torch.arange(length)[None, :] - torch.arange(length)[:, None]
        near = (4 * torch.log2(apart.abs().clamp(min=1).float())).long().clamp(max=15)
        self.register_buffer("apart", near + 16 * (apart > 0))

    def forward(self, ids):
        x, bias = self.words(ids), self.far(self.apart).permute(2, 0, 1).unsqueeze(0).contiguous()
        for layer in self.layers:
            x = layer(x, bias)
        return F.normalize(self.norm(x).mean(1).float(), dim=-1)


def interpreters_breaks(asks):
    def make():
        words, t = S(32128, 40), S(256, 8)
        m = built(lambda: Interpreters(words, S(768, 16), S(12, 2), S(3, 2), t, asks), HALF_HERE).eval()
        return inference(compiled(m), draw(words, S(32, 2), t))
    return make


# Sentences of a parliament read by a translator whose layers cast their weights to the type of what comes: kept in float32, or cast once.
class Casting(nn.Linear):
    def forward(self, x):
        return F.linear(x, self.weight.to(x.dtype), self.bias.to(x.dtype))


def parliament_casts(each_time):
    def make():
        words, d, t = S(32768, 50), S(2048, 16), S(64, 6)
        words, m = built(lambda: nn.Embedding(words, d), BF), built(lambda: Body(d, S(16, 2), S(5, 2), t, linear=Casting)).eval()
        for part in m.modules():
            if isinstance(part, nn.LayerNorm) or not each_time and isinstance(part, Casting):
                part.to(BF)
        ids = draw(words.num_embeddings, S(8, 2), t)
        return inference(lambda: m(words(ids) * d ** 0.5))
    return make


# ---- Nothing is left to mend ----------------------------------------------------------------------------------------------------


def learning(m, cost, *given):
    """A step of training, the model with its loss compiled."""
    f = compiled(cost)
    return training(m, lambda: f(*given))


# Films by what is done in them, cut into small boxes of pixels and time: a transformer, trained.
class Tubelets(nn.Module):
    def __init__(self, seen, d, heads, layers, length, kinds):
        super().__init__()
        self.enter, self.body, self.head = nn.Linear(seen, d), Body(d, heads, layers, length), nn.Linear(d, kinds)

    def forward(self, x):
        return self.head(self.body(self.enter(x)).mean(1))


def tubelets_train():
    b, t, seen, kinds = S(24, 2), S(1024, 6), S(1536, 12), S(64, 4)
    m = built(lambda: Tubelets(seen, S(1024, 16), S(16, 2), S(3, 1), t, kinds))
    return learning(m, lambda x, y: F.cross_entropy(m(x).float(), y), noise(b, t, seen, dtype=BF), draw(kinds, b))


# Markets told some days ahead by what patches of their series say, one model for all of them, trained: quantiles of each next patch.
class Markets(nn.Module):
    def __init__(self, patch, d, heads, layers, length, levels):
        super().__init__()
        self.enter, self.body = Gate(patch, d, nn.Linear), Body(d, heads, layers, length, Root, gated=True, wide=2, causal=length)
        self.widen, self.head, self.levels = nn.Linear(patch, d), nn.Linear(d, patch * levels), levels
        self.register_buffer("at", torch.linspace(0.1, 0.9, levels))

    def forward(self, x, y):
        told = self.head(self.body(self.widen(x + self.enter(x)))).float().unflatten(-1, (-1, self.levels))
        left = y.unsqueeze(-1) - told
        return torch.maximum(self.at * left, (self.at - 1) * left).mean()


def markets_train():
    b, t, patch = S(64, 2), S(512, 6), S(64, 8)
    m, x = built(lambda: Markets(patch, S(768, 16), S(12, 2), S(3, 1), t, S(8, 3))), noise(b, t, patch, dtype=BF)
    return learning(m, m, x, noise(b, t, patch))


# Boxes by a lidar seen from above, half precision: convolutions, channels last, compiled.
def birdview_infer():
    m = last(built(lambda: Bird(S(64, 8), S(128, 8), 32), HALF_HERE)).eval()
    return inference(compiled(m), last(noise(S(8, 2), S(64, 8), S(512, 16), S(512, 16), dtype=HALF_HERE)))


# Each kind once, then the others.
PAIRS = dict(
    galaxies_fit=pair(galaxies_fit, True, False), followers_rank=pair(followers_rank, True, False), broadcast_clips=pair(broadcast_clips, 0, 10),
    sermons_attention=pair(sermons_attention, True, False), enzymes_adamw=pair(enzymes_adamw, True, False),
    peptides_capture=pair(peptides_capture, False, True), surround_upload=pair(surround_upload, True, False),
    citations_fp32=pair(citations_fp32, True, False), equities_odd=pair(equities_odd, True, False), lanes_layout=pair(lanes_layout, False, True),
    interpreters_breaks=pair(interpreters_breaks, True, False), parliament_casts=pair(parliament_casts, True, False),
    drone_film=pair(drone_film, True, False), cells_counts=pair(cells_counts, True, False), lidar_anchors=pair(lidar_anchors, True, False),
    orderbook_overhead=pair(orderbook_overhead, False, True), communities_adam=pair(communities_adam, True, False),
    genomes_windows=pair(genomes_windows, 2, 10), spectra_attention=pair(spectra_attention, True, False),
    exposures_upload=pair(exposures_upload, True, False), demand_quantiles=pair(demand_quantiles, True, False),
    nights_clip=pair(nights_clip, True, False), speeches_smoothed=pair(speeches_smoothed, True, False),
    motion_futures=pair(motion_futures, True, False))
FAULTS = dict(
    galaxies_fit="unfused_pointwise", cells_counts="unfused_pointwise", demand_quantiles="unfused_pointwise", speeches_smoothed="unfused_pointwise",
    motion_futures="unfused_pointwise", followers_rank="host_sync", lidar_anchors="host_sync", nights_clip="host_sync",
    peptides_capture="launch_bound", orderbook_overhead="launch_bound", enzymes_adamw="optimizer_not_fused", communities_adam="optimizer_not_fused",
    broadcast_clips="dataloader", genomes_windows="dataloader", drone_film="preprocessing", sermons_attention="unfused_attention",
    spectra_attention="unfused_attention", surround_upload="pageable_copy", exposures_upload="pageable_copy", citations_fp32="tf32_off",
    equities_odd="gemm_alignment", lanes_layout="layout_transforms", interpreters_breaks="graph_breaks", parliament_casts="repeated_casts")
HEALTHY = dict(tubelets_train=tubelets_train, birdview_infer=birdview_infer, markets_train=markets_train)
PROGRAMS = in_turns(PAIRS, HEALTHY)
COMPILED = ["speeches_smoothed", "markets_train", "demand_quantiles", "tubelets_train", "orderbook_overhead", "interpreters_breaks", "motion_futures",
            "cells_counts", "birdview_infer", "galaxies_fit"]  # what takes longest first
FORMS = {}
