"""An eighth set of programs that no rule was read from: pairs with one fault and without it, and healthy ones. Only scored.

PROGRAMS is what recording.py records, in this order (variety first, so that a run cut short has some of everything). planted.json says what was
planted in each pair. The mended half follows the advice that docs/findings.md gives for the finding, to the letter, and changes nothing else. A step
returns what it computed, so that a pair can be compared. COMPILED: what has something to compile; FORMS: compiled forms of what runs eagerly and
keeps the device busy (mended halves and healthy programs), of which only the step is measured. The healthy programs are in eighth_healthy.py.
"""
import math, os, sys, zlib
import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from eighth_healthy import EAGER, HEALTHY, Encoder, encoders
from sixth_healthy import Basic, normed, pictures
from program_parts import BF, D, DRY, HALF_HERE, S, autocast, built, compiled, compiled_form, draw, formed, inference, last, noise, pinned, replayed, training, pair, in_turns

SETS = [["shapes", "plain"], ["shapes", "stack"], ["memory", "shapes_stack"], ["plain", "shapes"], ["shapes", "modules"], ["stack", "shapes"]]


def options(index):
    return SETS[index % len(SETS)]


# ---- The host waits for the device: the value is kept there -------------------------------------------------------------------


# Recipes written for 64 people at once, word by word: behind each word it is asked whether all are done, to stop early, or not.
class Writing(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.n1, self.n2, self.qkv, self.out = heads, nn.RMSNorm(d), nn.RMSNorm(d), nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x, keys, values, at, seen):
        q, k, v = self.qkv(self.n1(x)).unflatten(-1, (3, self.heads, 1, -1)).unbind(1)
        keys.index_copy_(2, at, k)
        values.index_copy_(2, at, v)
        x = x + self.out(F.scaled_dot_product_attention(q, keys, values, attn_mask=seen).flatten(1))
        return x + self.mlp(self.n2(x))


def recipes_stop(asked):
    def make():
        words, d, heads, batch, begun, more = S(16000, 50), S(1024, 16), S(16, 2), S(64, 3), S(376, 4), S(8, 3)
        layers, embed, norm, head = (built(f, BF) for f in (lambda: nn.ModuleList([Writing(d, heads) for _ in range(S(4, 2))]), lambda: nn.Embedding(words, d),
                                                            lambda: nn.RMSNorm(d), lambda: nn.Linear(d, words, bias=False)))
        kept = [[noise(batch, heads, begun + more, d // heads, dtype=BF) for _ in range(2)] for _ in layers]
        first, places, stop = draw(words, batch), torch.arange(begun + more, device=D), 3

        @torch.no_grad()
        def step():
            token, done, told = first, torch.zeros(batch, dtype=torch.bool, device=D), []
            for i in range(more):
                at = places[begun + i:begun + i + 1]
                x, seen = embed(token), (places <= at)[None]
                for layer, (keys, values) in zip(layers, kept):
                    x = layer(x, keys, values, at, seen)
                token = torch.where(done, stop, head(norm(x)).argmax(-1))
                told.append(token)
                done = done | (token == stop)
                if asked and done.all():
                    break
            return torch.stack(told, 1)
        return step
    return make


# The front of a house in a scan of it: the plane that most points lie on, of many tried; each is compared with the best by Python or on the device.
def facades_ransac(fetched):
    def make():
        count, tries = S(1500000, 200), S(32, 4)
        points = torch.rand(count, 3, device=D) * torch.tensor([20.0, 12.0, 0.3], device=D)
        tried = draw(count, tries, 3)

        def plane_of(three):
            a, b, c = points[three]
            across = torch.linalg.cross(b - a, c - a)
            across = across / (across.norm() + 1e-9)
            return torch.cat([across, -(across @ a).reshape(1)])

        @torch.no_grad()
        def step():
            best, plane = (0 if fetched else torch.zeros((), dtype=torch.int64, device=D)), torch.zeros(4, device=D)
            for i in range(tries):
                one = plane_of(tried[i])
                near = ((points @ one[:3] + one[3]).abs() < 0.02).sum()
                if fetched:
                    if near.item() > best:
                        best, plane = near.item(), one
                else:
                    plane = torch.where(near > best, one, plane)
                    best = torch.maximum(near, best)
            return plane
        return step
    return make


# Snow that slides down a slope, six moments: how long a moment may be follows from the fastest snow, as a number of Python's or on the device.
def avalanche_moments(fetched):
    def make():
        side, wide = S(1280, 12), 5.0
        heap = torch.linspace(-2, 2, side, device=D)
        first = 0.2 + 2 * torch.exp(-heap[:, None] ** 2 - heap[None] ** 2)
        slope = 0.3 * torch.rand(side, side, device=D)

        @torch.no_grad()
        def step():
            h, u, v = first, torch.zeros_like(first), torch.zeros_like(first)
            for _ in range(S(6, 3)):
                speed = (torch.sqrt(9.81 * h) + torch.maximum((u / h).abs(), (v / h).abs())).max()
                dt = 0.2 * wide / (speed.item() if fetched else speed)
                east = (u, u * u / h + 4.9 * h * h, u * v / h)
                north = (v, u * v / h, v * v / h + 4.9 * h * h)
                after = []
                for a, e, n in zip((h, u, v), east, north):
                    mean = 0.25 * (a.roll(1, 0) + a.roll(-1, 0) + a.roll(1, 1) + a.roll(-1, 1))
                    after.append(mean - dt / (2 * wide) * (e.roll(-1, 0) - e.roll(1, 0) + n.roll(-1, 1) - n.roll(1, 1)))
                h, u, v = after[0].clamp(min=0.01), after[1] + dt * slope, after[2]
            return h
        return step
    return make


# Attacks among the flows of a network, a residual table model in training: gradients that are no numbers are put to zero, asked one by one or masked.
class Flow(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm, self.up, self.down = nn.BatchNorm1d(d), nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def forward(self, x):
        return x + self.down(F.relu(self.up(self.norm(x))))


def flows_guarded(asked):
    def make():
        rows, d, kinds = S(16384, 6), S(512, 8), S(24, 3)
        m = built(lambda: nn.Sequential(nn.Linear(S(96, 5), d), *[Flow(d) for _ in range(S(8, 2))], nn.BatchNorm1d(d), nn.ReLU(), nn.Linear(d, kinds)))
        optimizer, x, y = torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True), noise(rows, S(96, 5)), draw(kinds, rows)

        def step():
            optimizer.zero_grad(set_to_none=True)
            with autocast():
                loss = F.cross_entropy(m(x).float(), y)
            loss.backward()
            for p in m.parameters():
                if asked:
                    if torch.isnan(p.grad).any():
                        p.grad.zero_()
                else:
                    p.grad.masked_fill_(torch.isnan(p.grad).any(), 0.0)
            optimizer.step()
            return loss.detach()
        return step
    return make


# ---- Many launches: captured in a CUDA graph ----------------------------------------------------------------------------------


# What stands on a kitchen's table, one picture at a time: three scales, boxes told from each place; op by op, or captured.
class Table(nn.Module):
    def __init__(self, c, out):
        super().__init__()
        block = lambda i, o, s=1: nn.Sequential(normed(i, o, 3, s), nn.SiLU())
        self.stem = nn.Sequential(block(3, c, 2), block(c, 2 * c, 2), block(2 * c, 2 * c))
        self.stages = nn.ModuleList([nn.Sequential(block(i, o, 2), block(o, o), block(o, o)) for i, o in ((2 * c, 4 * c), (4 * c, 4 * c), (4 * c, 8 * c))])
        self.side = nn.ModuleList([nn.Conv2d(i, 2 * c, 1) for i in (4 * c, 4 * c, 8 * c)])
        self.heads = nn.ModuleList([nn.Sequential(block(2 * c, 2 * c), nn.Conv2d(2 * c, 4 + out, 1)) for _ in range(3)])

    def forward(self, x, places, strides):
        x, scales = self.stem(x), []
        for stage in self.stages:
            x = stage(x)
            scales.append(x)
        h, told = None, []
        for scale, side, head in list(zip(scales, self.side, self.heads))[::-1]:
            h = side(scale) if h is None else side(scale) + F.interpolate(h, scale_factor=2.0)
            told.insert(0, head(h).flatten(2))
        told = torch.cat(told, 2).transpose(1, 2).float()
        reach, score = told[..., :4].exp() * strides, told[..., 4:].sigmoid().amax(-1)
        boxes = torch.cat([places - reach[..., :2], places + reach[..., 2:]], -1)
        best, which = score.topk(min(100, score.shape[1]), dim=1)
        return torch.cat([boxes.gather(1, which.unsqueeze(-1).expand(-1, -1, 4)), best.unsqueeze(-1)], -1)


def kitchen_boxes(captured):
    def make():
        c, side = S(32, 4), S(416, 64)
        m = last(built(lambda: Table(c, S(40, 3)), HALF_HERE)).eval()
        grids = [torch.stack(torch.meshgrid(*[torch.arange(side // s, device=D) * s + s / 2] * 2, indexing="xy"), -1).flatten(0, 1) for s in (8, 16, 32)]
        strides = torch.cat([torch.full((len(g), 1), float(s), device=D) for g, s in zip(grids, (8, 16, 32))])
        step = inference(m, last(noise(1, 3, side, side, dtype=HALF_HERE)), torch.cat(grids), strides)
        return replayed(step) if captured else step
    return make


# Seats sold in cinemas, a fortnight ahead from half a year: blocks that look at coarser and coarser pasts, in training; op by op, or the step captured.
class Coarser(nn.Module):
    def __init__(self, past, ahead, pool, d, layers):
        super().__init__()
        self.past, self.ahead, self.pool = past, ahead, pool
        parts = [p for _ in range(layers - 1) for p in (nn.Linear(d, d), nn.ReLU())]
        self.net = nn.Sequential(nn.Linear(past // pool, d), nn.ReLU(), *parts)
        self.back, self.on = nn.Linear(d, past // pool), nn.Linear(d, max(ahead // pool, 1))

    def forward(self, x):
        h = self.net(F.max_pool1d(x.unsqueeze(1), self.pool).squeeze(1))
        wide = lambda told, to: F.interpolate(told.unsqueeze(1), size=to, mode="linear").squeeze(1)
        return wide(self.back(h), self.past), wide(self.on(h), self.ahead)


def cinemas_seats(captured):
    def make():
        rows, past, ahead, d = S(1024, 4), S(192, 16), S(16, 8), S(512, 8)
        m = built(lambda: nn.ModuleList([Coarser(past, ahead, pool, d, 3) for pool in (8, 8, 4, 4, 2, 1)]))
        x, y = noise(rows, past), noise(rows, ahead)

        def loss_of():
            left, told = x, 0.0
            for block in m:
                back, on = block(left)
                left, told = left - back, told + on
            return F.smooth_l1_loss(told, y)
        step = training(m, loss_of, torch.optim.Adam(m.parameters(), lr=1e-5, fused=True, capturable=True), cast=False)
        return replayed(step) if captured else step
    return make


# A word that wakes a lamp, a tenth of a second of sound at a time: compiled, or compiled with mode="reduce-overhead".
class Waking(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.n1, self.n2, self.n3 = nn.LayerNorm(d), nn.LayerNorm(d), nn.LayerNorm(d)
        self.enter, self.along, self.out = nn.Linear(d, 2 * d), nn.Conv1d(d, d, 9, padding=4, groups=d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.SiLU(), nn.Linear(4 * d, d))

    def forward(self, x):
        h = F.glu(self.enter(self.n1(x)))
        h = F.silu(self.n2(self.along(h.transpose(1, 2)).transpose(1, 2)))
        x = x + self.out(h)
        return x + 0.5 * self.mlp(self.n3(x))


def lamp_wakes(graphs):
    def make():
        d, t = S(192, 8), S(100, 6)
        m = built(lambda: nn.Sequential(nn.Linear(S(80, 5), d), *[Waking(d) for _ in range(S(12, 2))], nn.Linear(d, 4)), BF).eval()
        return inference(compiled(m, mode="reduce-overhead") if graphs else compiled(m), noise(1, t, S(80, 5), dtype=BF))
    return make


# ---- The optimizer: fused=True ------------------------------------------------------------------------------------------------


# Lutes without the noise of the room, a network over waves in training: Adam tensor by tensor ("foreach needs more memory"), or fused.
class Lute(nn.Module):
    def __init__(self, c, levels, heads):
        super().__init__()
        sizes = [c << i for i in range(levels)]
        down = lambda i, o: nn.Sequential(nn.Conv1d(i, o, 8, 4, 2), nn.ReLU(), nn.Conv1d(o, 2 * o, 1), nn.GLU(1))
        up = lambda i, o: nn.Sequential(nn.Conv1d(i, 2 * i, 1), nn.GLU(1), nn.ConvTranspose1d(i, o, 8, 4, 2))
        self.down = nn.ModuleList([down(i, o) for i, o in zip([1] + sizes, sizes)])
        self.up = nn.ModuleList([up(o, i) for i, o in zip([1] + sizes, sizes)][::-1])
        self.looks = encoders(sizes[-1], heads, S(3, 1))

    def forward(self, x):
        kept = []
        for part in self.down:
            x = part(x)
            kept.append(x)
        x = self.looks(x.transpose(1, 2)).transpose(1, 2)
        for part in self.up:
            x = part(x + kept.pop())
        return x


def lutes_adam(by_tensor):
    def make():
        batch, long = S(24, 2), S(32768, 256)
        m = built(lambda: Lute(S(48, 8), S(5, 2), S(12, 2)))
        optimizer = torch.optim.Adam(m.parameters(), lr=1e-5, **(dict(foreach=False) if by_tensor else dict(fused=True)))
        x, y = noise(batch, 1, long), noise(batch, 1, long)
        return training(m, lambda: F.l1_loss(m(x).float(), y), optimizer)
    return make


# Which flight a traveller books, large tables in training: AdamW as it comes, or fused.
class Flights(nn.Module):
    def __init__(self, tables, rows, d, seen):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(rows, d) for _ in range(tables)])
        self.low = nn.Sequential(nn.Linear(seen, 512), nn.ReLU(), nn.Linear(512, d))
        self.high = nn.Sequential(nn.Linear((tables + 1) * tables // 2 + d, 1024), nn.ReLU(), nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 1))
        self.register_buffer("which", torch.triu_indices(tables + 1, tables + 1, 1))

    def forward(self, ids, x):
        low = self.low(x)
        all_of = torch.stack([low] + [table(ids[:, i]).to(low.dtype) for i, table in enumerate(self.tables)], 1)
        crossed = (all_of @ all_of.mT)[:, self.which[0], self.which[1]]
        return self.high(torch.cat([low, crossed], 1)).squeeze(1)


def flights_tables(as_it_comes):
    def make():
        tables, rows, batch, seen = S(8, 3), S(400000, 30), S(8192, 6), S(16, 4)
        m = built(lambda: Flights(tables, rows, S(64, 8), seen))
        optimizer = torch.optim.AdamW(m.parameters(), lr=1e-5, **({} if as_it_comes else dict(fused=True)))
        ids, x, y = draw(rows, batch, tables), noise(batch, seen), torch.rand(batch, device=D).round()
        return training(m, lambda: F.binary_cross_entropy_with_logits(m(ids, x).float(), y), optimizer)
    return make


# ---- Chains of pointwise kernels: torch.compile around what holds them ----------------------------------------------------------


# Gestures before an event camera, a network of spikes in training: moment by moment in eager mode, or model and loss compiled.
class Spiking(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.layer, self.fade = nn.Linear(i, o), nn.Parameter(torch.full((o,), 2.0))

    def forward(self, x):
        put_in, fade = self.layer(x), torch.sigmoid(self.fade)
        charge, told = torch.zeros_like(put_in[0]), []
        for now in put_in:
            charge = fade * charge + now
            soft = torch.sigmoid(4 * (charge - 1))
            spike = soft + ((charge > 1).to(soft.dtype) - soft).detach()
            charge = charge * (1 - spike.detach())
            told.append(spike)
        return torch.stack(told)


def gestures_spikes(eager):
    def make():
        moments, rows, seen, d, kinds = S(8, 3), S(6144, 6), S(1024, 12), S(1024, 16), S(11, 3)
        m = built(lambda: nn.Sequential(Spiking(seen, d), Spiking(d, d), Spiking(d, d), nn.Linear(d, kinds)))

        def loss_of(x, y):
            return F.cross_entropy(m(x).mean(0).float(), y)
        f, x, y = loss_of if eager else compiled(loss_of), 4 * torch.rand(moments, rows, seen, device=D), draw(kinds, rows)
        return training(m, lambda: f(x, y))
    return make


# Postage stamps squeezed and drawn again, in training: how likely each byte is under a mixture, written out; eager, or model and loss compiled.
def unlikely(told, x, k):
    weight, mean, spread = told.float().split([k, 3 * k, 3 * k], 1)
    mean, spread = mean.unflatten(1, (3, k)), spread.unflatten(1, (3, k)).clamp(min=-7.0)
    x = x.unsqueeze(2)
    off, sharp = x - mean, torch.exp(-spread)
    above, below, mid = sharp * (off + 1 / 255), sharp * (off - 1 / 255), sharp * off
    inside = torch.sigmoid(above) - torch.sigmoid(below)
    middle = torch.where(inside > 1e-5, inside.clamp(min=1e-12).log(), mid - spread - 2 * F.softplus(mid) - math.log(127.5))
    each = torch.where(x < -0.999, above - F.softplus(above), torch.where(x > 0.999, -F.softplus(below), middle))
    return -torch.logsumexp(each.sum(1) + F.log_softmax(weight, 1), 1).mean()


class Stamps(nn.Module):
    def __init__(self, c, k):
        super().__init__()
        self.enter, self.a, self.b = nn.Conv2d(3, c, 3, 2, 1), normed(c, 2 * c, 3, 2), normed(2 * c, 2 * c, 3)
        self.up, self.out = nn.ConvTranspose2d(2 * c, c, 4, 2, 1), nn.ConvTranspose2d(c, 7 * k, 4, 2, 1)

    def forward(self, x, dither):
        h = F.relu(self.b(F.relu(self.a(F.relu(self.enter(x))))))
        return self.out(F.relu(self.up(h + 0.1 * dither)))


def stamps_likelihood(eager):
    def make():
        c, k, batch, side = S(96, 8), S(8, 2), S(48, 2), S(96, 16)
        m = last(built(lambda: Stamps(c, k)))
        x = last((draw(256, batch, 3, side, side).float() - 127.5) / 127.5)
        dither = last(noise(batch, 2 * c, side // 4, side // 4))

        def loss_of(x, dither):
            return unlikely(m(x, dither), x, k)
        f = loss_of if eager else compiled(loss_of)
        return training(m, lambda: f(x, dither))
    return make


# A flag in the wind, points held together by springs, three moments: written out, in eager mode or compiled.
def fluttering(place, speed, wind):
    for _ in range(3):
        force = wind - 0.05 * speed
        for down, right, rest in ((1, 0, 1.0), (-1, 0, 1.0), (0, 1, 1.0), (0, -1, 1.0), (1, 1, 2 ** 0.5), (-1, -1, 2 ** 0.5)):
            way = torch.roll(place, (down, right), (1, 2)) - place
            far = torch.sqrt((way * way).sum(0, keepdim=True) + 1e-6)
            force = force + 40.0 * (1 - rest / far).clamp(-0.5, 0.5) * way / far
        speed = 0.999 * (speed + 0.002 * force)
        place = place + 0.002 * speed
    return place


def flags_springs(eager):
    def make():
        side = S(1536, 8)
        at = torch.arange(side, device=D).float()
        place = torch.stack([*torch.meshgrid(at, at, indexing="ij"), torch.zeros(side, side, device=D)]) + 0.05 * noise(3, side, side)
        return inference(fluttering if eager else compiled(fluttering), place, 0.1 * noise(3, side, side), torch.tensor([0.0, 0.3, 1.0], device=D).reshape(3, 1, 1))
    return make


# A cathedral as four million blurred points seen from one place: their shape on the screen and their colour, in eager mode or compiled.
def splatted(xyz, turn, size, colour, eye):
    way = xyz - eye
    way = way / way.norm(dim=-1, keepdim=True)
    x, y, z = way.unbind(-1)
    basis = [torch.full_like(x, 0.2821), -0.4886 * y, 0.4886 * z, -0.4886 * x, 1.0925 * x * y, -1.0925 * y * z, 0.3154 * (2 * z * z - x * x - y * y),
             -1.0925 * x * z, 0.5463 * (x * x - y * y)]
    seen = sum(b.unsqueeze(-1) * colour[:, i] for i, b in enumerate(basis))
    w, i, j, k = F.normalize(turn, dim=-1).unbind(-1)
    rows = ((1 - 2 * (j * j + k * k), 2 * (i * j - w * k), 2 * (i * k + w * j)), (2 * (i * j + w * k), 1 - 2 * (i * i + k * k), 2 * (j * k - w * i)),
            (2 * (i * k - w * j), 2 * (j * k + w * i), 1 - 2 * (i * i + j * j)))
    s = torch.exp(size).unbind(-1)
    scaled = [[r * s[n] for n, r in enumerate(row)] for row in rows]
    px, py, pz = xyz.unbind(-1)
    pz = pz.clamp(min=0.2)
    first = [a / pz - c * px / (pz * pz) for a, c in zip(scaled[0], scaled[2])]
    second = [b / pz - c * py / (pz * pz) for b, c in zip(scaled[1], scaled[2])]
    aa, bb, ab = sum(f * f for f in first) + 0.3, sum(g * g for g in second) + 0.3, sum(f * g for f, g in zip(first, second))
    det = (aa * bb - ab * ab).clamp(min=1e-6)
    return torch.cat([torch.clamp(seen + 0.5, min=0.0), torch.stack([bb / det, -ab / det, aa / det], -1)], -1)


def cathedral_splats(eager):
    def make():
        n = S(4000000, 40)
        inputs = noise(n, 3) + torch.tensor([0.0, 0.0, 5.0], device=D), noise(n, 4), noise(n, 3) - 2, 0.3 * noise(n, 9, 3), torch.zeros(3, device=D)
        return inference(splatted if eager else compiled(splatted), *inputs)
    return make


# How fast yeast grows on what, by learnt curves instead of weights: bells over each input; eager, or the model compiled.
class Bells(nn.Module):
    def __init__(self, i, o, bells):
        super().__init__()
        self.norm, self.base, self.curves = nn.LayerNorm(i), nn.Linear(i, o), nn.Linear(i * bells, o, bias=False)
        self.register_buffer("centres", torch.linspace(-2, 2, bells))

    def forward(self, x):
        near = (self.norm(x).unsqueeze(-1) - self.centres) * 1.75
        return self.base(F.silu(x)) + self.curves(torch.exp(-near * near).flatten(1))


def yeast_curves(eager):
    def make():
        rows, d, bells = S(16384, 6), S(512, 8), S(8, 3)
        m = built(lambda: nn.Sequential(Bells(S(128, 5), d, bells), *[Bells(d, d, bells) for _ in range(S(3, 1))], Bells(d, 8, bells)), BF).eval()
        return inference(m if eager else compiled(m), noise(rows, S(128, 5), dtype=BF))
    return make


# ---- Attention by hand: scaled_dot_product_attention --------------------------------------------------------------------------


# Currents of a sea, maps cut into windows with a learnt bias for each distance: scores written out, or given to the library's kernel.
class Sea(nn.Module):
    def __init__(self, d, heads, window, moved, by_hand):
        super().__init__()
        self.heads, self.window, self.moved, self.by_hand, self.n1, self.n2 = heads, window, moved, by_hand, nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out, self.mlp = nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))
        self.bias = nn.Parameter(torch.randn(1, heads, window ** 2, window ** 2) * 0.02)

    def forward(self, x):
        b, high, wide, d = x.shape
        w, move = self.window, self.window // 2 if self.moved else 0
        h = self.n1(x).roll((-move, -move), (1, 2)) if move else self.n1(x)
        h = h.reshape(b, high // w, w, wide // w, w, d).transpose(2, 3).reshape(-1, w * w, d)
        q, k, v = self.qkv(h).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        if self.by_hand:
            scores = q @ k.transpose(-2, -1) * (q.shape[-1] ** -0.5) + self.bias
            y = scores.softmax(-1) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.bias)
        y = self.out(y.transpose(1, 2).flatten(2)).reshape(b, high // w, wide // w, w, w, d).transpose(2, 3).reshape(b, high, wide, d)
        x = x + (y.roll((move, move), (1, 2)) if move else y)
        return x + self.mlp(self.n2(x))


def seas_windows(by_hand):
    def make():
        d, heads, window, side = S(384, 16), S(12, 2), S(8, 2), S(128, 8)
        m = built(lambda: nn.Sequential(*[Sea(d, heads, window, i % 2 == 1, by_hand) for i in range(S(4, 2))]), BF).eval()
        return inference(formed(m), noise(S(8, 2), side, side, d, dtype=BF))
    return make


# Wagons put in order in a yard, learnt from what dispatchers did: gain, sight and deed by turns; a causal mask and softmax, or the library's kernel.
class Wagon(nn.Module):
    def __init__(self, d, heads, long, by_hand):
        super().__init__()
        self.heads, self.by_hand, self.n1, self.n2 = heads, by_hand, nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out, self.mlp = nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Sequential(nn.Linear(d, 4 * d), nn.ReLU(), nn.Linear(4 * d, d))
        self.register_buffer("later", torch.ones(long, long, dtype=torch.bool).triu(1))

    def forward(self, x):
        q, k, v = self.qkv(self.n1(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        if self.by_hand:
            scores = (q @ k.transpose(-2, -1)) / math.sqrt(q.shape[-1])
            y = F.softmax(scores.masked_fill(self.later, float("-inf")), dim=-1) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.mlp(self.n2(x))


class Wagons(nn.Module):
    def __init__(self, seen, deeds, d, heads, layers, moments, by_hand):
        super().__init__()
        self.gain, self.sight, self.deed = nn.Linear(1, d), nn.Linear(seen, d), nn.Embedding(deeds, d)
        self.places, self.head = nn.Parameter(torch.randn(3 * moments, d) * 0.02), nn.Linear(d, deeds)
        self.layers = nn.Sequential(*[Wagon(d, heads, 3 * moments, by_hand) for _ in range(layers)])

    def forward(self, gain, sight, deed):
        x = torch.stack([self.gain(gain), self.sight(sight), self.deed(deed)], 2).flatten(1, 2)
        return self.head(self.layers(x + self.places)[:, 1::3])


def wagons_attention(by_hand):
    def make():
        batch, moments, seen, deeds = S(24, 2), S(256, 4), S(64, 5), S(32, 4)
        m = built(lambda: Wagons(seen, deeds, S(512, 16), S(8, 2), S(4, 2), moments, by_hand))
        f, gain, sight, deed = formed(m), noise(batch, moments, 1), noise(batch, moments, seen), draw(deeds, batch, moments)
        return training(m, lambda: F.cross_entropy(f(gain, sight, deed).flatten(0, 1).float(), deed.flatten()))
    return make


# ---- Input: workers, pinned memory, the next request ahead ----------------------------------------------------------------------


# Wind turbines about to fail: windows of their sensors with running means and ranks, by the training process itself, or by workers and with pinned memory.
class Turbines(torch.utils.data.Dataset):
    def __init__(self, sensors, long, cut):
        self.cut, self.all = cut, np.random.default_rng(11).standard_normal((sensors, long)).cumsum(1).astype(np.float32)

    def __len__(self):
        return 1000000

    def __getitem__(self, i):
        at = int(np.random.default_rng(i).integers(0, self.all.shape[1] - self.cut))
        own = self.all[:, at:at + self.cut].astype(np.float64)
        sums, squares = (np.pad(np.cumsum(a, 1), ((0, 0), (1, 0))) for a in (own, own * own))
        parts = [(own - own.mean(1, keepdims=True)) / (own.std(1, keepdims=True) + 1e-6)]
        for span in (8, 32):
            first = np.maximum(np.arange(1, self.cut + 1) - span, 0)
            count = np.arange(1, self.cut + 1) - first
            mean = (sums[:, 1:] - sums[:, first]) / count
            parts += [own - mean, np.sqrt(np.maximum((squares[:, 1:] - squares[:, first]) / count - mean * mean, 0))]
        parts.append(own.argsort(1).argsort(1) / self.cut)
        return torch.from_numpy(np.concatenate(parts).astype(np.float32)), i % 5


class Failing(nn.Module):
    def __init__(self, seen, d, heads, layers):
        super().__init__()
        self.patch, self.layers, self.head = nn.Conv1d(seen, d, 8, 4, 2), encoders(d, heads, layers), nn.Linear(d, 5)

    def forward(self, x):
        return self.head(self.layers(self.patch(x).transpose(1, 2)).mean(1))


def fed(m, dataset, batch, **more):
    """Training from a data loader."""
    batches, optimizer = iter(torch.utils.data.DataLoader(dataset, batch_size=batch, **more)), torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True)

    def step():
        x, y = (t.to(D, non_blocking=True) for t in next(batches))
        optimizer.zero_grad(set_to_none=True)
        with autocast():
            loss = F.cross_entropy(m(x).float(), y)
        loss.backward()
        optimizer.step()
        return loss.detach()
    return step


def turbines_loader(workers):
    def make():
        sensors, cut = S(16, 3), S(1024, 64)
        m = built(lambda: Failing(6 * sensors, S(512, 16), S(8, 2), S(4, 1)))
        more = dict(num_workers=S(workers, 1), persistent_workers=True, prefetch_factor=2, pin_memory=not DRY) if workers else {}
        return fed(m, Turbines(sensors, 8 * cut, cut), S(12, 2), **more)
    return make


# Fingerprints, bent as skin bends: by two workers, or by twelve and with pinned memory.
class Fingerprints(torch.utils.data.Dataset):
    def __init__(self, count, side):
        self.side, self.all = side, np.random.default_rng(12).integers(0, 256, (count, side, side)).astype(np.uint8)

    def __len__(self):
        return 1000000

    def __getitem__(self, i):
        rng, n = np.random.default_rng(i), self.side
        line, knots = np.linspace(0, 5, n), np.arange(6)
        ramp = np.maximum(1 - np.abs(line[:, None] - knots), 0)
        down, right = (ramp @ rng.normal(0, n / 40, (6, 6)) @ ramp.T for _ in range(2))
        y, x = np.clip(np.arange(n)[:, None] + down, 0, n - 1.01), np.clip(np.arange(n) + right, 0, n - 1.01)
        top, left = y.astype(np.int64), x.astype(np.int64)
        fy, fx, own = y - top, x - left, self.all[i % len(self.all)]
        bent = (own[top, left] * (1 - fx) + own[top, left + 1] * fx) * (1 - fy) + (own[top + 1, left] * (1 - fx) + own[top + 1, left + 1] * fx) * fy
        bent = (bent - bent.mean()) / (bent.std() + 1e-6) + rng.normal(0, 0.05, (n, n))
        return torch.from_numpy(bent[None].astype(np.float32)), i % 20


def fingerprints_workers(workers):
    def make():
        side = S(176, 32)
        m = last(built(lambda: pictures(Basic, S(64, 8), S((2, 2, 2), (1, 1)), 1, 20)))
        more = dict(num_workers=S(workers, 1), persistent_workers=True, prefetch_factor=2, pin_memory=workers > 2 and not DRY)
        return fed(m, Fingerprints(S(64, 4), side), S(16, 2), **more)
    return make


# Invoices read by their words and where these stand: put in reading order by Python ahead of each request, or by a process while the request before runs.
class Invoices(torch.utils.data.IterableDataset):
    def __init__(self, pages, words, known):
        rng = np.random.default_rng(13)
        self.words, self.known = words, known
        self.pages = [[(float(x), float(y), f"w{n}") for x, y, n in zip(rng.uniform(0, 600, words), rng.uniform(0, 800, words), rng.integers(0, 5000, words))]
                      for _ in range(2 * pages)]

    def __iter__(self):
        turn = 0
        while True:
            half = len(self.pages) // 2
            yield self.arranged(self.pages[turn * half:(turn + 1) * half])
            turn = 1 - turn

    def arranged(self, pages):
        ids, places = [], []
        for page in pages:
            page = sorted(page, key=lambda word: (int(word[1] / 12), word[0]))
            ids.append([zlib.crc32(text.encode()) % self.known for _, _, text in page])
            places.append([(int(x / 600 * 255), int(y / 800 * 255)) for x, y, _ in page])
        return torch.from_numpy(np.array(ids, np.int32)), torch.from_numpy(np.array(places, np.int32))


class Invoice(nn.Module):
    def __init__(self, known, d, heads, layers):
        super().__init__()
        self.embed, self.x, self.y, self.layers, self.head = nn.Embedding(known, d), nn.Embedding(256, d), nn.Embedding(256, d), encoders(d, heads, layers), nn.Linear(d, 16)

    def forward(self, ids, places):
        return self.head(self.layers(self.embed(ids) + self.x(places[..., 0]) + self.y(places[..., 1])))


def invoices_ahead(at_once):
    def make():
        requests, known = Invoices(S(6, 2), S(512, 6), S(30000, 40)), S(30000, 40)
        m = built(lambda: Invoice(known, S(1280, 16), S(20, 2), S(18, 2)), BF).eval()
        if not at_once:
            requests = torch.utils.data.DataLoader(requests, batch_size=None, num_workers=1, prefetch_factor=2, persistent_workers=True)
        coming = iter(requests)

        @torch.no_grad()
        def step():
            ids, places = (t.to(D, non_blocking=True) for t in next(coming))
            return m(ids, places).argmax(-1).cpu()  # the answer
        return step
    return make


# ---- Copies: pinned memory ----------------------------------------------------------------------------------------------------


# Ferries on a strait, a clip of a camera at a time: channels are handed on from picture to picture; frames from ordinary memory, or from pinned memory.
class Strait(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c, self.a, self.b = c, nn.Conv2d(c, c, 3, 1, 1), nn.Conv2d(c, c, 3, 1, 1)

    def forward(self, x):
        handed = torch.cat([x[:, :self.c // 8].roll(1, 0), x[:, self.c // 8:]], 1)
        return x + self.b(F.relu(self.a(handed)))


def ferries_frames(ordinary):
    def make():
        frames, high, wide, c, turn = S(16, 2), S(720, 16), S(1280, 16), S(128, 8), [0]
        m = last(built(lambda: nn.Sequential(nn.Conv2d(3, c, 8, 8), *[Strait(c) for _ in range(S(6, 1))], nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(c, 12)), HALF_HERE)).eval()
        f, clips = formed(m), [torch.randint(0, 256, (frames, high, wide, 3), dtype=torch.uint8) for _ in range(2)]
        if not ordinary:
            clips = [pinned(clip) for clip in clips]

        @torch.no_grad()
        def step():
            turn[0] = (turn[0] + 1) % 2
            x = clips[turn[0]].to(D, non_blocking=True).permute(0, 3, 1, 2)
            return f(x.to(HALF_HERE) / 255)
        return step
    return make


# ---- Products and convolutions ------------------------------------------------------------------------------------------------


# Stress in turbine blades by an operator network, trained in float32: TF32 off for products, or on.
class Blades(nn.Module):
    def __init__(self, sensors, d, out, layers):
        super().__init__()
        net = lambda i: nn.Sequential(nn.Linear(i, d), nn.Tanh(), *[p for _ in range(layers) for p in (nn.Linear(d, d), nn.Tanh())], nn.Linear(d, out))
        self.load, self.place, self.bias = net(sensors), net(4), nn.Parameter(torch.zeros(1))

    def forward(self, load, place):
        return self.load(load) @ self.place(place).T + self.bias


def blades_fp32(full):
    def make():
        loads, places, sensors = S(512, 3), S(16384, 8), S(1024, 6)
        m = built(lambda: Blades(sensors, S(1024, 16), S(512, 8), S(3, 1)))
        f, load, place, y = formed(m), noise(loads, sensors), noise(places, 4), noise(loads, places)
        step = training(m, lambda: F.mse_loss(f(load, place), y), cast=False)

        def with_precision():
            torch.set_float32_matmul_precision("highest" if full else "high")
            return step()
        return with_precision
    return make


# What somebody puts on next, of 33,333 garments, trained: as many as there are, or filled up to 33,344 of which the last are never worn.
class Wardrobe(nn.Module):
    def __init__(self, garments, d, heads, layers, long):
        super().__init__()
        self.embed, self.places, self.norm = nn.Parameter(torch.randn(garments, d) * 0.02), nn.Parameter(torch.randn(long, d) * 0.02), nn.LayerNorm(d)
        self.layers = nn.Sequential(*[Wagon(d, heads, long, False) for _ in range(layers)])

    def forward(self, ids):
        return F.linear(self.norm(self.layers(F.embedding(ids, self.embed) + self.places)), self.embed)


def wardrobe_odd(odd):
    def make():
        there, long, batch = S(33333, 1001), S(128, 5), S(48, 2)
        m = built(lambda: Wardrobe(there if odd else S(33344, 1008), S(512, 16), S(8, 2), S(2, 1), long))
        f, ids, after = formed(m), draw(there, batch, long), draw(there, batch * long)
        return training(m, lambda: F.cross_entropy(f(ids).flatten(0, 1).float(), after))
    return make


# Starlings counted, half precision: a pyramid of three scales, the same head for each; NCHW as it comes, or channels last.
class Starlings(nn.Module):
    def __init__(self, c, depth):
        super().__init__()
        stage = lambda i, o: nn.Sequential(Basic(i, o, 2), *[Basic(o, o) for _ in range(depth - 1)])
        self.stem, self.stages = nn.Sequential(nn.Conv2d(3, c, 7, 4, 3), nn.ReLU()), nn.ModuleList([stage(c, 2 * c), stage(2 * c, 4 * c), stage(4 * c, 4 * c)])
        self.side = nn.ModuleList([nn.Conv2d(i, 2 * c, 1) for i in (2 * c, 4 * c, 4 * c)])
        self.head = nn.Sequential(*[p for _ in range(3) for p in (nn.Conv2d(2 * c, 2 * c, 3, 1, 1), nn.ReLU())], nn.Conv2d(2 * c, 8, 3, 1, 1))

    def forward(self, x):
        x, scales, told, h = self.stem(x), [], [], None
        for stage in self.stages:
            x = stage(x)
            scales.append(x)
        for side, scale in list(zip(self.side, scales))[::-1]:
            h = side(scale) if h is None else side(scale) + F.interpolate(h, scale_factor=2.0)
            told.append(self.head(h).flatten(2))
        return torch.cat(told, 2)


def starlings_layout(channels_last):
    def make():
        side = S(768, 64)
        m, x = built(lambda: Starlings(S(96, 8), S(2, 1)), HALF_HERE).eval(), noise(S(32, 1), 3, side, side, dtype=HALF_HERE)
        if channels_last:
            m, x = last(m), last(x)
        return inference(formed(m), x)
    return make


# ---- What the framework does besides ------------------------------------------------------------------------------------------


# Letters of a mail room sorted by what they ask, compiled: layers change only letters not sure yet; each asks whether all are sure, to leave early, or does not.
class Exit(nn.Module):
    def __init__(self, d, heads, kinds, leaves):
        super().__init__()
        self.leaves, self.body, self.told = leaves, Encoder(d, heads), nn.Linear(d, kinds)

    def forward(self, x, sure):
        if self.leaves and sure.all():
            return x, sure
        x = torch.where(sure[:, None, None], x, self.body(x))
        return x, sure | (self.told(x.mean(1)).float().softmax(-1).amax(-1) > 0.9)


class Mail(nn.Module):
    def __init__(self, d, heads, kinds, layers, leaves):
        super().__init__()
        self.layers, self.head = nn.ModuleList([Exit(d, heads, kinds, leaves) for _ in range(layers)]), nn.Linear(d, kinds)

    def forward(self, x):
        sure = torch.zeros(x.shape[0], dtype=torch.bool, device=x.device)
        for layer in self.layers:
            x, sure = layer(x, sure)
        return self.head(x.mean(1))


def mail_exits(leaves):
    def make():
        d, kinds = S(768, 16), S(24, 4)
        f = compiled(built(lambda: Mail(d, S(12, 2), kinds, S(5, 2), leaves), BF).eval())
        return inference(f, noise(S(24, 2), S(256, 6), d, dtype=BF))
    return make


# Points of a face, trained: a map of each of 68 becomes a place, one map after the other, or all at once.
def faces_points(one_by_one):
    def make():
        points, c, batch, side = S(68, 5), S(96, 8), S(24, 2), S(256, 32)
        block = lambda i, o, s=1: nn.Sequential(normed(i, o, 3, s), nn.ReLU(inplace=True))
        inner = lambda: [block(3, c, 2), block(c, 2 * c, 2), block(2 * c, 2 * c), block(2 * c, 4 * c, 2), block(4 * c, 4 * c), nn.Upsample(scale_factor=2.0), block(4 * c, 2 * c)]
        m = last(built(lambda: nn.Sequential(*inner(), nn.Conv2d(2 * c, points, 1))))
        x, y, line = last(noise(batch, 3, side, side)), torch.rand(batch, points, 2, device=D), torch.linspace(0, 1, side // 4, device=D)

        def place_of(maps):
            share = maps.flatten(-2).float().softmax(-1).unflatten(-1, (side // 4, side // 4))
            return torch.stack([(share.sum(-2) * line).sum(-1), (share.sum(-1) * line).sum(-1)], -1)

        def loss_of():
            maps = m(x)
            if one_by_one:
                told = torch.stack([place_of(maps[:, i]) for i in range(points)], 1)
            else:
                told = place_of(maps)
            return F.smooth_l1_loss(told, y, beta=0.05)
        return training(m, loss_of)
    return make


# Hymns continued, read once, bfloat16: what distance takes off each score is made by every layer, or once by the model.
def distances(long, heads, device, dtype):
    at = torch.arange(long, device=device)
    slopes = 2.0 ** (-8.0 * torch.arange(1, heads + 1, device=device) / heads)
    far = at[:, None] - at[None]
    return torch.where(far < 0, float("-inf"), -slopes[:, None, None] * far.float()).to(dtype)[None]


class Hymn(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.n1, self.n2, self.qkv, self.out = heads, nn.LayerNorm(d), nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x, off):
        if off is None:
            off = distances(x.shape[1], self.heads, x.device, x.dtype)
        q, k, v = self.qkv(self.n1(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, attn_mask=off).transpose(1, 2).flatten(2))
        return x + self.mlp(self.n2(x))


class Hymns(nn.Module):
    def __init__(self, words, d, heads, layers, long, each):
        super().__init__()
        self.embed, self.layers, self.head = nn.Embedding(words, d), nn.ModuleList([Hymn(d, heads) for _ in range(layers)]), nn.Linear(d, words)
        self.register_buffer("off", None if each else distances(long, heads, D, BF))

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x, self.off)
        return self.head(x[:, -1])


def hymns_distances(each):
    def make():
        words, long = S(16000, 40), S(1536, 6)
        m = built(lambda: Hymns(words, S(1024, 16), S(16, 2), S(5, 2), long, each), BF).eval()
        return inference(m, draw(words, S(4, 2), long))
    return make


# Each kind once, then the others.
PAIRS = dict(
    recipes_stop=pair(recipes_stop, True, False), yeast_curves=pair(yeast_curves, True, False), seas_windows=pair(seas_windows, True, False),
    turbines_loader=pair(turbines_loader, 0, 10), blades_fp32=pair(blades_fp32, True, False), cinemas_seats=pair(cinemas_seats, False, True),
    ferries_frames=pair(ferries_frames, True, False), hymns_distances=pair(hymns_distances, True, False), lutes_adam=pair(lutes_adam, True, False),
    mail_exits=pair(mail_exits, True, False), starlings_layout=pair(starlings_layout, False, True), faces_points=pair(faces_points, True, False),
    invoices_ahead=pair(invoices_ahead, True, False), wardrobe_odd=pair(wardrobe_odd, True, False), stamps_likelihood=pair(stamps_likelihood, True, False),
    facades_ransac=pair(facades_ransac, True, False), kitchen_boxes=pair(kitchen_boxes, False, True), flights_tables=pair(flights_tables, True, False),
    fingerprints_workers=pair(fingerprints_workers, 2, 12), flags_springs=pair(flags_springs, True, False), wagons_attention=pair(wagons_attention, True, False),
    avalanche_moments=pair(avalanche_moments, True, False), gestures_spikes=pair(gestures_spikes, True, False), lamp_wakes=pair(lamp_wakes, False, True),
    flows_guarded=pair(flows_guarded, True, False), cathedral_splats=pair(cathedral_splats, True, False))


PROGRAMS = in_turns(PAIRS, HEALTHY)
COMPILED = ["gestures_spikes", "lamp_wakes", "cookery_train", "glider_slices", "archive_rerank", "butler_tokens", "stamps_likelihood", "mail_exits", "marbled_decode",
            "skater_between", "medicines_pairs", "cathedral_splats", "flags_springs", "yeast_curves"]  # what takes longest first
FORMED = ["seas_windows", "wagons_attention", "wardrobe_odd", "blades_fp32", "starlings_layout", "ferries_frames"]
FORMS = {name + ".mended": (PAIRS[name]["mended"], compiled_form(PAIRS[name]["mended"])) for name in FORMED}
FORMS |= {name: (HEALTHY[name], compiled_form(HEALTHY[name])) for name in EAGER}
