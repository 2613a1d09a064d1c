"""A seventh set of programs that no rule was read from: pairs with one fault and without it, and healthy ones. Only scored.

PROGRAMS is what recording.py records, in this order (variety first, so that a run cut short has some of everything). planted.json says what was
planted in each pair. The mended half follows the advice that docs/findings.md gives for the finding, to the letter, and changes nothing else. A step
returns what it computed, so that a pair can be compared. COMPILED: what has something to compile; FORMS: compiled forms of what runs eagerly and
keeps the device busy (mended halves and healthy programs), of which only the step is measured. The healthy programs are in seventh_healthy.py.
"""
import concurrent.futures, math, os, sys
import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from seventh_healthy import EAGER, HEALTHY, Encoder, encoders, normed
from sixth_healthy import Basic, Bottle, pictures
from program_parts import BF, D, DRY, HALF_HERE, S, autocast, built, compiled, compiled_form, draw, formed, inference, last, noise, pinned, replayed, training, pair, in_turns

SETS = [["shapes", "plain"], ["shapes", "stack"], ["memory", "shapes_stack"], ["plain", "shapes"], ["shapes", "modules"], ["stack", "shapes"]]


def options(index):
    return SETS[index % len(SETS)]


# ---- The host waits for the device: the value is kept there -------------------------------------------------------------------


# Potholes in a road, a model judged: hits and misses of each kind fetched as they are counted, or added up on the device.
def potholes_iou(fetched):
    def make():
        c, kinds, batch, side = S(64, 8), S(12, 3), S(16, 2), S(384, 16)
        block = lambda i, o: nn.Sequential(nn.Conv2d(i, o, 3, 1, 1), nn.ReLU(inplace=True))
        inner = lambda: [nn.MaxPool2d(2), block(c, 2 * c), block(2 * c, 2 * c), nn.Upsample(scale_factor=2.0), block(2 * c, c)]
        m = last(built(lambda: nn.Sequential(block(3, c), block(c, c), *inner(), nn.Conv2d(c, kinds, 1)), HALF_HERE)).eval()
        x, y = last(noise(batch, 3, side, side, dtype=HALF_HERE)), draw(kinds, batch, side, side)
        both, either = [0.0] * kinds, [0.0] * kinds

        @torch.no_grad()
        def step():
            told = m(x).argmax(1)
            for kind in range(kinds):
                a, b = told == kind, y == kind
                hit, all_of = (a & b).sum(), (a | b).sum()
                both[kind] += hit.item() if fetched else hit
                either[kind] += all_of.item() if fetched else all_of
            return told
        return step
    return make


# Perfumes by what a spectrometer says, latent numbers at five levels: how much each of them counts follows what it costs, as a number of Python's or on the device.
class Level(nn.Module):
    def __init__(self, d, latent):
        super().__init__()
        part = lambda i: nn.Sequential(nn.Linear(i, d), nn.LayerNorm(d), nn.SiLU(), nn.Linear(d, d))
        self.read, self.two, self.write = part(d), nn.Linear(d, 2 * latent), part(latent)

    def forward(self, x):
        h = x + self.read(x)
        mean, spread = self.two(h).float().chunk(2, -1)
        h = h + self.write(mean + torch.randn_like(mean) * (0.5 * spread).exp())
        return h, 0.5 * (mean ** 2 + spread.exp() - 1 - spread).mean()


def perfumes_weight(fetched):
    def make():
        rows, seen, d, levels = S(6144, 6), S(1024, 16), S(1024, 16), S(5, 2)
        m = built(lambda: nn.ModuleList([nn.Linear(seen, d), *[Level(d, S(64, 4)) for _ in range(levels)], nn.Linear(d, seen)]))
        optimizer, x = torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True), noise(rows, seen)
        weights = [0.1 if fetched else torch.full((), 0.1, device=D) for _ in range(levels)]

        def step():
            optimizer.zero_grad(set_to_none=True)
            loss = 0.0
            with autocast():
                h = m[0](x)
                for i in range(levels):
                    h, cost = m[1 + i](h)
                    if fetched:
                        weights[i] *= 1.01 if cost.item() > 0.02 else 0.99
                    else:
                        weights[i] = weights[i] * torch.where(cost.detach() > 0.02, 1.01, 0.99)
                    loss = loss + weights[i] * cost
                loss = loss + F.mse_loss(m[-1](h).float(), x)
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# Groundwater between wells by a Gaussian process: conjugate gradients whose two numbers a round are fetched, or stay on the device.
def groundwater_solve(fetched):
    def make():
        wells, rounds = S(7168, 24), S(20, 3)
        places, levels = torch.rand(wells, 2, device=D) * 10, noise(wells)
        near = torch.exp(-torch.cdist(places, places)) + 0.5 * torch.eye(wells, device=D)

        @torch.no_grad()
        def step():
            x, left = torch.zeros_like(levels), levels.clone()
            way, size = left, left @ left
            for _ in range(rounds):
                sent = near @ way
                far = size / (way @ sent)
                if fetched:
                    far = far.item()
                x, left = x + far * way, left - far * sent
                after = left @ left
                turn = after / size
                if fetched:
                    turn = turn.item()
                way, size = left + turn * way, after
            return x
        return step
    return make


# ---- Many launches: captured in a CUDA graph ----------------------------------------------------------------------------------


# Lifts sent to the floors of a tower, an actor and two critics that learn by turns: op by op, or the whole step captured.
def lifts_critics(captured):
    def make():
        rows, seen, acts, d = S(1024, 6), S(48, 5), S(8, 2), S(256, 8)
        net = lambda i, o: nn.Sequential(nn.Linear(i, d), nn.ReLU(), nn.Linear(d, d), nn.ReLU(), nn.Linear(d, o))
        own = built(lambda: nn.ModuleList([net(seen, acts), net(seen + acts, 1), net(seen + acts, 1)]))
        slow = built(lambda: nn.ModuleList([net(seen, acts), net(seen + acts, 1), net(seen + acts, 1)])).requires_grad_(False)
        judging, acting = (torch.optim.Adam(part.parameters(), lr=1e-5, fused=True, capturable=True) for part in (own[1:], own[0]))
        before, done, after, gain = noise(rows, seen), torch.rand(rows, acts, device=D), noise(rows, seen), noise(rows, 1)
        both = lambda a, b: torch.cat([a, b], -1)

        def step():
            with torch.no_grad():
                then = both(after, torch.tanh(slow[0](after)))
                goal = gain + 0.99 * torch.minimum(slow[1](then), slow[2](then))
            judging.zero_grad(set_to_none=True)
            now = both(before, done)
            loss = F.mse_loss(own[1](now), goal) + F.mse_loss(own[2](now), goal)
            loss.backward()
            judging.step()
            acting.zero_grad(set_to_none=True)
            (-own[1](both(before, torch.tanh(own[0](before)))).mean()).backward()
            acting.step()
            with torch.no_grad():
                torch._foreach_lerp_(list(slow.parameters()), list(own.parameters()), 0.005)
            return loss.detach()
        return replayed(step) if captured else step
    return make


# How long signals take through a circuit: gates tell the gates behind them; op by op, or captured.
class Gated(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm, self.four, self.edge, self.edge_norm = nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.Linear(d, d), nn.LayerNorm(d)

    def forward(self, x, e, a, b):
        own, sent, left, right = self.four(self.norm(x)).chunk(4, -1)
        e = e + F.relu(self.edge_norm(self.edge(e) + left[a] + right[b]))
        gate = torch.sigmoid(e)
        total = torch.zeros_like(x).index_add(0, b, gate * sent[a])
        weight = torch.zeros_like(x).index_add(0, b, gate)
        return x + F.relu(own + total / (weight + 1e-3)), e


class Circuit(nn.Module):
    def __init__(self, seen, d, layers):
        super().__init__()
        self.enter, self.wires, self.layers, self.head = nn.Linear(seen, d), nn.Linear(4, d), nn.ModuleList([Gated(d) for _ in range(layers)]), nn.Linear(d, 1)

    def forward(self, x, e, a, b):
        x, e = self.enter(x), self.wires(e)
        for layer in self.layers:
            x, e = layer(x, e, a, b)
        return self.head(x)


def circuits_graph(captured):
    def make():
        gates, wires = S(6000, 12), S(18000, 30)
        m = built(lambda: Circuit(S(16, 4), S(128, 8), S(6, 2))).eval()
        step = inference(m, noise(gates, S(16, 4)), noise(wires, 4), draw(gates, wires), draw(gates, wires))
        return replayed(step) if captured else step
    return make


# Faults in leather, a model for a camera's own chip in training: op by op, or the whole step captured.
class Inverted(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        deep = nn.Sequential(nn.Conv2d(4 * i, 4 * i, 3, stride, 1, groups=4 * i, bias=False), nn.BatchNorm2d(4 * i))
        self.same, self.parts = i == o and stride == 1, nn.Sequential(normed(i, 4 * i), nn.ReLU6(), deep, nn.ReLU6(), normed(4 * i, o))

    def forward(self, x):
        return x + self.parts(x) if self.same else self.parts(x)


def leather_mobile(captured):
    def make():
        c, batch, side = S(32, 8), S(8, 2), S(192, 16)
        blocks = [part for i, o in ((c, c), (c, 2 * c), (2 * c, 3 * c), (3 * c, 4 * c)) for part in (Inverted(i, o, 1 if i == o else 2), Inverted(o, o, 1))]
        m = last(nn.Sequential(normed(3, c, 3, 2), nn.ReLU6(), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * c, 6)).to(D))
        x, y = last(noise(batch, 3, side, side)), draw(6, batch)
        step = training(m, lambda: F.cross_entropy(m(x).float(), y), torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True, capturable=True))
        return replayed(step) if captured else step
    return make


# ---- The optimizer: fused=True ------------------------------------------------------------------------------------------------


# Knitting patterns stitch by stitch: Adam with amsgrad as it comes, or fused.
class Knitting(nn.Module):
    def __init__(self, words, d, heads, layers, length):
        super().__init__()
        self.embed, self.places, self.layers, self.head = nn.Embedding(words, d), nn.Parameter(torch.randn(length, d) * 0.02), encoders(d, heads, layers), nn.Linear(d, words)

    def forward(self, ids):
        return self.head(self.layers(self.embed(ids) + self.places))


def knitting_amsgrad(as_it_comes):
    def make():
        words, t, batch = S(20000, 30), S(128, 5), S(16, 2)
        m = built(lambda: Knitting(words, S(768, 16), S(12, 2), S(6, 1), t))
        f, ids, labels = formed(m), draw(words, batch, t), draw(words, batch * t)
        optimizer = torch.optim.Adam(m.parameters(), lr=1e-5, amsgrad=True, **({} if as_it_comes else dict(fused=True)))
        return training(m, lambda: F.cross_entropy(f(ids).flatten(0, 1).float(), labels), optimizer)
    return make


# Mosaics put in order of age: SGD with momentum as it comes, or fused.
def mosaics_sgd(as_it_comes):
    def make():
        batch, side = S(64, 2), S(224, 32)
        m = last(built(lambda: pictures(Basic, S(96, 8), S((2, 3, 3, 2), (1, 1)), 3, 20)))
        f, x, y = formed(m), last(noise(batch, 3, side, side)), draw(20, batch)
        optimizer = torch.optim.SGD(m.parameters(), lr=1e-4, momentum=0.9, weight_decay=1e-4, **({} if as_it_comes else dict(fused=True)))
        return training(m, lambda: F.cross_entropy(f(x).float(), y), optimizer)
    return make


# ---- Chains of pointwise kernels: torch.compile around what holds them ----------------------------------------------------------


# Four million nerve cells and the currents through them, a few moments: written out, in eager mode or compiled.
def currents(v, m, h, n, put_in):
    am, bm = 0.1 * (v + 40) / (1 - torch.exp(-(v + 40) / 10)), 4 * torch.exp(-(v + 65) / 18)
    ah, bh = 0.07 * torch.exp(-(v + 65) / 20), 1 / (1 + torch.exp(-(v + 35) / 10))
    an, bn = 0.01 * (v + 55) / (1 - torch.exp(-(v + 55) / 10)), 0.125 * torch.exp(-(v + 65) / 80)
    m, h, n = m + 0.01 * (am * (1 - m) - bm * m), h + 0.01 * (ah * (1 - h) - bh * h), n + 0.01 * (an * (1 - n) - bn * n)
    flow = 120 * m ** 3 * h * (v - 50) + 36 * n ** 4 * (v + 77) + 0.3 * (v + 54.387)
    return v + 0.01 * (put_in - flow), m, h, n


def nerves_currents(eager):
    def make():
        cells = S(1 << 22, 50)
        f = currents if eager else compiled(currents)
        first, put_in = (-65 + noise(cells), *(torch.rand(cells, device=D) for _ in range(3))), 10 * torch.rand(cells, device=D)

        @torch.no_grad()
        def step():
            state = first
            for _ in range(S(10, 3)):
                state = f(*state, put_in)
            return state[0]
        return step
    return make


# Where lightning strikes next, told as a mixture of bells: its likelihood written out, in eager mode or compiled.
def likelihood(told, goal):
    weight, mx, my, sx, sy, lean = told.float().chunk(6, -1)
    lean = 0.95 * torch.tanh(lean)
    sx, sy = F.softplus(sx) + 1e-3, F.softplus(sy) + 1e-3
    x, y = (goal[:, :1] - mx) / sx, (goal[:, 1:] - my) / sy
    rest = 1 - lean ** 2
    inner = -(x ** 2 + y ** 2 - 2 * lean * x * y) / (2 * rest) - torch.log(2 * math.pi * sx * sy * torch.sqrt(rest))
    return -torch.logsumexp(F.log_softmax(weight, -1) + inner, -1).mean()


def lightning_mixture(eager):
    def make():
        rows, d, bells = S(65536, 6), S(1024, 16), S(32, 3)
        m = built(lambda: nn.Sequential(nn.Linear(64, d), nn.GELU(), nn.Linear(d, d), nn.GELU(), nn.Linear(d, d), nn.GELU(), nn.Linear(d, 6 * bells)))
        f, x, goal = likelihood if eager else compiled(likelihood), noise(rows, 64), noise(rows, 2)

        def loss_of():
            with autocast():
                told = m(x)
            return f(told, goal)
        return training(m, loss_of, cast=False)
    return make


# Subtitles, are they in time: layers in which one half gates the other across places; eager, or the model compiled.
class Gating(nn.Module):
    def __init__(self, places, d, wide):
        super().__init__()
        self.norm, self.up, self.gate_norm, self.across, self.down = nn.LayerNorm(d), nn.Linear(d, 2 * wide), nn.LayerNorm(wide), nn.Linear(places, places), nn.Linear(wide, d)

    def forward(self, x):
        a, b = F.gelu(self.up(self.norm(x))).chunk(2, -1)
        b = self.across(self.gate_norm(b).transpose(1, 2)).transpose(1, 2)
        return x + self.down(a * b)


def subtitles_gating(eager):
    def make():
        places, d = S(256, 6), S(768, 16)
        m = built(lambda: nn.Sequential(*[Gating(places, d, S(1536, 24)) for _ in range(S(5, 1))], nn.LayerNorm(d), nn.Linear(d, S(16, 4))), BF).eval()
        return inference(m if eager else compiled(m), noise(S(48, 2), places, d, dtype=BF))
    return make


# ---- Attention by hand: scaled_dot_product_attention --------------------------------------------------------------------------


# Sherds of pottery as clouds of points, a few hundred latent vectors ask them: by einsum and softmax, or by the library's kernel.
class Sherd(nn.Module):
    def __init__(self, seen, d, heads, by_hand):
        super().__init__()
        self.heads, self.by_hand, self.n1, self.n2 = heads, by_hand, nn.LayerNorm(d), nn.LayerNorm(d)
        self.q, self.both, self.out = nn.Linear(d, d), nn.Linear(seen, 2 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x, points):
        q = self.q(self.n1(x)).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        k, v = self.both(points).unflatten(-1, (2, self.heads, -1)).permute(2, 0, 3, 1, 4)
        if self.by_hand:
            weights = torch.einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5
            y = torch.einsum("bhij,bhjd->bhid", weights.softmax(dim=-1), v)
        else:
            y = F.scaled_dot_product_attention(q, k, v)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.mlp(self.n2(x))


class Sherds(nn.Module):
    def __init__(self, seen, d, heads, latents, layers, by_hand):
        super().__init__()
        self.latents, self.layers = nn.Parameter(torch.randn(latents, d)), nn.ModuleList([Sherd(seen, d, heads, by_hand) for _ in range(layers)])

    def forward(self, points):
        x = self.latents.expand(points.shape[0], -1, -1)
        for layer in self.layers:
            x = layer(x, points)
        return x.mean(1)


def sherds_attention(by_hand):
    def make():
        seen = S(256, 8)
        m = built(lambda: Sherds(seen, S(512, 16), S(8, 2), S(256, 4), S(4, 2), by_hand), BF).eval()
        return inference(formed(m), noise(S(8, 2), S(8192, 12), seen, dtype=BF))
    return make


# ---- Input: workers, pinned memory, the next request ahead ----------------------------------------------------------------------


# Tremors of the earth, records cut out, filtered and scaled: by the training process itself, or by workers and with pinned memory.
class Tremors(torch.utils.data.Dataset):
    def __init__(self, count, long, cut):
        self.cut, self.all = cut, np.random.default_rng(8).standard_normal((count, 3, long), dtype=np.float32)

    def __len__(self):
        return 1000000

    def __getitem__(self, i):
        rng, record = np.random.default_rng(i), self.all[i % len(self.all)]
        at = int(rng.integers(0, record.shape[1] - self.cut))
        waves = np.fft.rfft(record[:, at:at + self.cut], axis=1)
        rate = np.linspace(0, 1, waves.shape[1])
        waves *= 1 / (1 + (rate / rng.uniform(0.3, 0.8)) ** 8) * (1 - np.exp(-rate * 200))
        out = np.fft.irfft(waves, self.cut, axis=1)
        out = (out - out.mean(1, keepdims=True)) / (np.abs(out).max(1, keepdims=True) + 1e-6)
        return torch.from_numpy(out.astype(np.float32)), i % 4


class Quake(nn.Module):
    def __init__(self, c, d, heads, layers):
        super().__init__()
        conv = lambda i, o: nn.Sequential(nn.Conv1d(i, o, 7, 4, 3), nn.GELU())
        self.enter, self.layers, self.head = nn.Sequential(conv(3, c), conv(c, 2 * c), conv(2 * c, d)), encoders(d, heads, layers), nn.Linear(d, 4)

    def forward(self, x):
        return self.head(self.layers(self.enter(x).transpose(1, 2)).mean(1))


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


def tremors_loader(workers):
    def make():
        cut = S(12288, 256)
        m = built(lambda: Quake(S(64, 8), S(384, 16), S(6, 2), S(3, 1)))
        more = dict(num_workers=S(workers, 1), persistent_workers=True, prefetch_factor=2, pin_memory=not DRY) if workers else {}
        return fed(m, Tremors(S(64, 4), 2 * cut, cut), S(16, 2), **more)
    return make


# Who is a friend of whom, neighbours of neighbours drawn for each person: by two workers, or by ten and with pinned memory.
class Friends(torch.utils.data.Dataset):
    def __init__(self, people, each):
        rng = np.random.default_rng(9)
        self.each, self.of = each, [rng.integers(0, people, int(n)) for n in rng.integers(each, 60, people)]

    def __len__(self):
        return 1000000

    def __getitem__(self, i):
        rng, own = np.random.default_rng(i), i % len(self.of)
        near = rng.choice(self.of[own], self.each)
        far = np.stack([rng.choice(self.of[j], self.each) for j in near])
        return torch.from_numpy(np.concatenate([[own], near, far.ravel()])), i % 16


class Sampled(nn.Module):
    def __init__(self, people, d, each):
        super().__init__()
        self.each, self.embed, self.head = each, nn.Embedding(people, d), nn.Linear(d, 16)
        self.first, self.second = nn.Linear(2 * d, d), nn.Linear(2 * d, d)

    def forward(self, ids):
        own, near, far = self.embed(ids).split([1, self.each, self.each ** 2], 1)
        near_all = F.relu(self.first(torch.cat([near, far.unflatten(1, (self.each, self.each)).mean(2)], -1)))
        own_all = F.relu(self.first(torch.cat([own[:, 0], near.mean(1)], -1)))
        return self.head(F.relu(self.second(torch.cat([own_all, near_all.mean(1)], -1))))


def friends_workers(workers):
    def make():
        people, each = S(20000, 40), S(16, 3)
        more = dict(num_workers=S(workers, 1), persistent_workers=True, prefetch_factor=2, pin_memory=workers > 2 and not DRY)
        return fed(built(lambda: Sampled(people, S(256, 8), each)), Friends(people, each), S(40, 3), **more)
    return make


# What a laser sees from a tram: points put into cells by NumPy ahead of each request, or by a thread while the request before runs.
def cells_of(points, sizes):
    at = np.floor((points[:, :3] + 1) * (np.array(sizes) / 2)).astype(np.int64).clip(0, np.array(sizes) - 1)
    keys, which = np.unique((at[:, 0] * sizes[1] + at[:, 1]) * sizes[2] + at[:, 2], return_inverse=True)
    image, count = np.zeros((sizes[2], sizes[0] * sizes[1]), np.float32), np.bincount(which, minlength=len(keys))
    image[keys % sizes[2], keys // sizes[2]] = np.bincount(which, points[:, 3], len(keys)) / count
    return torch.from_numpy(image.reshape(1, sizes[2], sizes[0], sizes[1]))


def tram_ahead(at_once):
    def make():
        sizes, points, c, turn = S((256, 256, 16), (16, 16, 4)), S(16000, 60), S(256, 8), [0]
        scans = np.random.default_rng(10).uniform(-1, 1, (8, points, 4)).astype(np.float32)
        block = lambda c: nn.Sequential(nn.Conv2d(c, c, 3, padding=1), nn.ReLU(inplace=True))
        m = last(built(lambda: nn.Sequential(nn.Conv2d(sizes[2], c, 3, padding=1), *[block(c) for _ in range(S(10, 1))], nn.Conv2d(c, 16, 1)), HALF_HERE)).eval()

        def prepare():
            turn[0] = (turn[0] + 1) % 8
            return pinned(cells_of(scans[turn[0]], sizes))
        thread = None if at_once else concurrent.futures.ThreadPoolExecutor(1)
        ahead = [] if at_once else [thread.submit(prepare)]

        @torch.no_grad()
        def step():
            if at_once:
                x = prepare()
            else:
                x = ahead.pop().result()
                ahead.append(thread.submit(prepare))
            return m(last(x.to(D, non_blocking=True).to(HALF_HERE)))
        return step
    return make


# ---- Copies: pinned memory ----------------------------------------------------------------------------------------------------


# Pipes of a sewer from inside, trained: pictures sent by non_blocking=True, from ordinary memory or from pinned memory.
def sewer_upload(ordinary):
    def make():
        batch, side, turn = S(64, 2), S(384, 32), [0]
        m = last(built(lambda: pictures(Bottle, S(128, 16), S((2, 2, 2), (1, 1)), 3, 14)))
        f, optimizer = formed(m), torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True)
        batches = [(torch.randint(0, 256, (batch, side, side, 3), dtype=torch.uint8), torch.randint(0, 14, (batch,))) for _ in range(2)]
        if not ordinary:
            batches = [tuple(pinned(t) for t in both) for both in batches]

        def step():
            turn[0] = (turn[0] + 1) % 2
            x, y = (t.to(D, non_blocking=True) for t in batches[turn[0]])
            optimizer.zero_grad(set_to_none=True)
            with autocast():
                loss = F.cross_entropy(f(x.permute(0, 3, 1, 2).float() / 255).float(), y)
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# Statutes read by a model whose wide layers stay with the host and are sent when they are needed: from ordinary memory, or from pinned memory.
def statutes_offload(ordinary):
    def make():
        d, wide, layers = S(1536, 16), S(6144, 32), S(3, 2)
        kept = [(torch.randn(wide, d) / d ** 0.5, torch.randn(d, wide) / wide ** 0.5) for _ in range(layers)]
        kept = [tuple(w.to(BF) if ordinary else pinned(w.to(BF)) for w in two) for two in kept]
        looks, x = built(lambda: encoders(d, S(12, 2), layers, 1), BF).eval(), noise(1, S(2048, 6), d, dtype=BF)

        @torch.no_grad()
        def step():
            h = x
            for look, (up, down) in zip(looks, kept):
                h = look(h)
                up, down = up.to(D, non_blocking=True), down.to(D, non_blocking=True)
                h = h + F.linear(F.gelu(F.linear(h, up)), down)
            return h
        return step
    return make


# ---- Products and convolutions ------------------------------------------------------------------------------------------------


# Perovskites for solar cells by what they are made of, trained in float32: TF32 off for products, or on.
class Perovskites(nn.Module):
    def __init__(self, seen, d, heads, layers):
        super().__init__()
        self.enter, self.layers, self.norm, self.head = nn.Linear(seen, d), encoders(d, heads, layers), nn.LayerNorm(d), nn.Linear(d, 1)

    def forward(self, x):
        return self.head(self.norm(self.layers(self.enter(x))).mean(1))


def perovskites_fp32(full):
    def make():
        batch, parts, seen = S(384, 2), S(32, 4), S(64, 8)
        m = built(lambda: Perovskites(seen, S(512, 16), S(8, 2), S(4, 1)))
        f, x, y = formed(m), noise(batch, parts, seen), noise(batch, 1)
        step = training(m, lambda: F.mse_loss(f(x), y), cast=False)

        def with_precision():
            torch.set_float32_matmul_precision("highest" if full else "high")
            return step()
        return with_precision
    return make


# Orchards from the air made sharper, half precision: NCHW as it comes, or channels last.
class Sharper(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a, self.b = nn.Conv2d(c, c, 3, 1, 1), nn.Conv2d(c, c, 3, 1, 1)

    def forward(self, x):
        return x + 0.2 * self.b(F.leaky_relu(self.a(x), 0.1))


def orchards_layout(channels_last):
    def make():
        c, side = S(96, 8), S(256, 16)
        m = built(lambda: nn.Sequential(nn.Conv2d(4, c, 3, 1, 1), *[Sharper(c) for _ in range(S(6, 1))], nn.Conv2d(c, 16, 3, 1, 1), nn.PixelShuffle(2)), HALF_HERE).eval()
        x = noise(S(8, 2), 4, side, side, dtype=HALF_HERE)
        if channels_last:
            m, x = last(m), last(x)
        return inference(formed(m), x)
    return make


# ---- What the framework does besides ------------------------------------------------------------------------------------------


# Light curves of a telescope, compiled: what turns queries and keys is kept from the compiler ("failed once"), or compiled with the rest.
def turn_by(x, cos, sin):
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


apart = torch.compiler.disable(turn_by)


class Curve(nn.Module):
    def __init__(self, d, heads, kept_out):
        super().__init__()
        self.heads, self.turn, self.n1, self.n2, self.qkv, self.out = heads, apart if kept_out else turn_by, nn.LayerNorm(d), nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x, cos, sin):
        q, k, v = self.qkv(self.n1(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(self.turn(q, cos, sin), self.turn(k, cos, sin), v)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.n2(x))))


class Curves(nn.Module):
    def __init__(self, d, heads, layers, kept_out):
        super().__init__()
        self.layers, self.head = nn.ModuleList([Curve(d, heads, kept_out) for _ in range(layers)]), nn.Linear(d, 8)

    def forward(self, x, cos, sin):
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.head(x)


def telescope_breaks(kept_out):
    def make():
        d, t, heads = S(512, 16), S(384, 6), S(8, 2)
        f = compiled(built(lambda: Curves(d, heads, S(5, 2), kept_out), BF).eval())
        angle = torch.arange(t, device=D)[:, None] / 1000 ** torch.linspace(0, 1, d // heads // 2, device=D)
        return inference(f, noise(S(16, 2), t, d, dtype=BF), angle.cos().to(BF), angle.sin().to(BF))
    return make


# Weather told from one hour to the next, each hour a call under autocast: weights cast in each, or once when they are loaded.
class Hour(nn.Module):
    def __init__(self, d, wide):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(d), nn.Linear(d, wide), nn.Linear(wide, d)

    def forward(self, x):
        return x + self.down(F.silu(self.up(self.norm(x))))


def hours_casts(cast_each):
    def make():
        d = S(2048, 16)
        m = built(lambda: nn.Sequential(*[Hour(d, S(8192, 32)) for _ in range(S(3, 2))])).eval()
        if not cast_each:
            for part in m.modules():
                if isinstance(part, nn.Linear):
                    part.to(BF)
        first = noise(S(1024, 4), d)

        @torch.no_grad()
        def step():
            x = first
            for _ in range(S(6, 2)):
                with autocast():
                    x = m(x)
            return x
        return step
    return make


# Choirs split into voices, a song in three pieces: memory given back behind each piece, or kept.
def choirs_emptied(empty):
    def make():
        c, kind = S(64, 8), HALF_HERE
        block = lambda i, o, s=1: nn.Sequential(nn.Conv2d(i, o, 3, s, 1), nn.BatchNorm2d(o), nn.LeakyReLU(0.2))
        down, up = lambda: [block(2, c), block(c, 2 * c, 2), block(2 * c, 4 * c, 2), block(4 * c, 4 * c)], lambda: [nn.Upsample(scale_factor=4.0), block(4 * c, c)]
        m = last(built(lambda: nn.Sequential(*down(), *up(), nn.Conv2d(c, 8, 1), nn.Sigmoid()), kind)).eval()
        pieces = [last(noise(2, 2, S(512, 16), S(512, 16), dtype=kind)) for _ in range(3)]

        @torch.no_grad()
        def step():
            total = torch.zeros((), device=D)
            for piece in pieces:
                voices = m(piece)
                total += voices.float().mean()
                del voices
                if empty and not DRY:
                    torch.cuda.empty_cache()
            return total
        return step
    return make


# Each kind once, then the others.
PAIRS = dict(
    potholes_iou=pair(potholes_iou, True, False), subtitles_gating=pair(subtitles_gating, True, False), sherds_attention=pair(sherds_attention, True, False),
    tremors_loader=pair(tremors_loader, 0, 8), perovskites_fp32=pair(perovskites_fp32, True, False), lifts_critics=pair(lifts_critics, False, True),
    sewer_upload=pair(sewer_upload, True, False), hours_casts=pair(hours_casts, True, False), knitting_amsgrad=pair(knitting_amsgrad, True, False),
    telescope_breaks=pair(telescope_breaks, True, False), orchards_layout=pair(orchards_layout, False, True), choirs_emptied=pair(choirs_emptied, True, False),
    tram_ahead=pair(tram_ahead, True, False), groundwater_solve=pair(groundwater_solve, True, False), lightning_mixture=pair(lightning_mixture, True, False),
    circuits_graph=pair(circuits_graph, False, True), statutes_offload=pair(statutes_offload, True, False), mosaics_sgd=pair(mosaics_sgd, True, False),
    friends_workers=pair(friends_workers, 2, 10), perfumes_weight=pair(perfumes_weight, True, False), nerves_currents=pair(nerves_currents, True, False),
    leather_mobile=pair(leather_mobile, False, True))


PROGRAMS = in_turns(PAIRS, HEALTHY)
COMPILED = ["postcards_train", "scores_train", "moss_train", "novels_train", "enamel_infer", "telescope_breaks", "weave_infer", "subtitles_gating", "quarry_infer",
            "shoe_replay", "lightning_mixture", "nerves_currents"]  # what takes longest first
FORMED = ["mosaics_sgd", "knitting_amsgrad", "sewer_upload", "perovskites_fp32", "sherds_attention", "orchards_layout"]
FORMS = {name + ".mended": (PAIRS[name]["mended"], compiled_form(PAIRS[name]["mended"])) for name in FORMED}
FORMS |= {name: (HEALTHY[name], compiled_form(HEALTHY[name])) for name in EAGER}
