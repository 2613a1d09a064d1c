"""A sixth set of programs that no rule was read from: pairs with one fault and without it, and healthy ones. Only scored.

PROGRAMS is what recording.py records, in this order (variety first, so that a run cut short has some of everything). planted.json says what was
planted in each pair. Unlike in the sets before, the mended half follows the advice that docs/findings.md gives for the finding, to the letter, and
changes nothing else. A step returns what it computed, so that a pair can be compared. COMPILED: what has something to compile. No compiled forms are
measured (FORMS is empty). The healthy programs are in sixth_healthy.py.
"""
import concurrent.futures, logging, math, os, sys, zlib
import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from sixth_healthy import HEALTHY, Basic, Bottle, Encoder, encoders, normed, pictures
from program_parts import BF, D, DRY, HALF_HERE, S, autocast, built, compiled, draw, inference, last, noise, pinned, replayed, training, pair, in_turns

SETS = [["shapes", "plain"], ["plain", "shapes_stack"], ["memory", "plain"], ["shapes", "stack"], ["plain", "modules"], ["stack", "shapes"], ["memory", "shapes_stack"]]


def options(index):
    return SETS[index % len(SETS)]


# ---- The host waits for the device: the value is kept there -------------------------------------------------------------------


# Minerals in thin sections, trained: the loss and the hits of each step fetched for the log, or added up on the device.
def minerals_log(fetched):
    def make():
        batch, side, seen = S(64, 2), S(256, 32), dict(loss=0.0, hits=0.0)
        m = last(built(lambda: pictures(Basic, S(128, 8), S((2, 2, 2), (1, 1)), 3, S(40, 3))))
        optimizer, x, y = torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True), last(noise(batch, 3, side, side)), draw(S(40, 3), batch)

        def step():
            optimizer.zero_grad(set_to_none=True)
            with autocast():
                logits = m(x)
                loss = F.cross_entropy(logits.float(), y)
            loss.backward()
            optimizer.step()
            hits = (logits.argmax(1) == y).sum()
            seen["loss"] += loss.item() if fetched else loss.detach()
            seen["hits"] += hits.item() if fetched else hits
            return loss.detach()
        return step
    return make


# Horses told apart by their coats: the hardest pair of each found by boolean indices, or by values that are filled in.
def horses_mining(indexed):
    def make():
        each, kinds = 4, S(32, 3)
        batch, tall, wide = kinds * each, S(256, 32), S(128, 32)
        m = last(built(lambda: nn.Sequential(pictures(Basic, S(64, 8), S((1, 1, 1, 1), (1, 1)), 3, S(256, 8)))))
        who = torch.arange(kinds, device=D).repeat_interleave(each)
        same, x = who[:, None] == who[None], last(noise(batch, 3, tall, wide))

        def loss_of():
            e = F.normalize(m(x).float(), dim=-1)
            apart = (2 - 2 * e @ e.t()).clamp(min=1e-6).sqrt()
            if indexed:
                far, near = apart[same].view(batch, -1).amax(1), apart[~same].view(batch, -1).amin(1)
            else:
                far, near = apart.masked_fill(~same, -1.0).amax(1), apart.masked_fill(same, 9.0).amin(1)
            loss = F.relu(far - near + 0.3)
            if indexed:
                return loss[loss > 0].mean()
            return loss.sum() / (loss > 0).sum()
        return training(m, loss_of, torch.optim.AdamW(m.parameters(), lr=1e-7, fused=True))  # so small that hard pairs stay hard
    return make


# Waves of the brain as codes: each of eight books asserts that all it was given are numbers, or what they say is kept on the device.
class Brain(nn.Module):
    def __init__(self, seen, d, books, codes, asserts):
        super().__init__()
        self.asserts, self.books = asserts, nn.ParameterList([nn.Parameter(torch.randn(codes, d)) for _ in range(books)])
        self.enter = nn.Sequential(nn.Conv1d(seen, d, 8, 4, 2), nn.GELU(), nn.Conv1d(d, d, 8, 4, 2), nn.GELU(), nn.Conv1d(d, d, 3, 1, 1))
        self.register_buffer("wrong", torch.zeros((), dtype=torch.bool))

    def forward(self, x):
        h, out = self.enter(x).transpose(1, 2).flatten(0, 1), []
        for book in self.books:
            wrong = ~torch.isfinite(h).all()
            if self.asserts:
                assert not wrong, "no numbers"
            else:
                self.wrong |= wrong
            code = ((book * book).sum(-1) - 2 * h @ book.t()).argmin(-1)
            out.append(code)
            h = h - F.embedding(code, book)
        return torch.stack(out, -1)


def brain_codes(asserts):
    def make():
        m = built(lambda: Brain(S(32, 4), S(256, 8), S(8, 3), S(1024, 12), asserts)).eval()
        return inference(m, noise(S(24, 2), S(32, 4), S(4096, 64)))
    return make


# Cells of one tissue moved onto another's: each round asks how much changed, to stop early, or keeps it for later.
def tissue_transport(asks):
    def make():
        n, m, rounds = S(3072, 12), S(2560, 10), S(16, 3)
        a, b = noise(n, 32), noise(m, 32)
        costs = torch.cdist(a, b) / 8.0
        eps, la, lb = 0.1, -math.log(n), -math.log(m)

        @torch.no_grad()
        def step():
            u, v, changes = torch.zeros(n, device=D), torch.zeros(m, device=D), []
            for _ in range(rounds):
                before = u
                u = eps * (la - torch.logsumexp((v[None] - costs) / eps, 1))
                v = eps * (lb - torch.logsumexp((u[:, None] - costs) / eps, 0))
                change = (u - before).abs().max()
                if asks:
                    if change.item() < 1e-12:
                        break
                else:
                    changes.append(change)
            return torch.cat([u, v])
        return step
    return make


# ---- Many launches: captured in a CUDA graph, or by mode="reduce-overhead" ----------------------------------------------------


# Heat in a battery's cell: a network learns an equation by its second derivatives; op by op, or the whole step captured.
def battery_heat(captured):
    def make():
        d, points = S(128, 8), S(8192, 12)
        layers = lambda: [part for _ in range(S(5, 1)) for part in (nn.Linear(d, d), nn.Tanh())]
        m = built(lambda: nn.Sequential(nn.Linear(3, d), nn.Tanh(), *layers(), nn.Linear(d, 1)))
        places, heated, edge = torch.rand(points, 3, device=D), noise(points, 1), torch.rand(points // 4, 3, device=D)

        def loss_of():
            at = places.detach().requires_grad_()
            first, = torch.autograd.grad(m(at).sum(), at, create_graph=True)
            xx, = torch.autograd.grad(first[:, 0].sum(), at, create_graph=True)
            yy, = torch.autograd.grad(first[:, 1].sum(), at, create_graph=True)
            rest = first[:, 2:] - 0.1 * (xx[:, :1] + yy[:, 1:2]) - heated
            return rest.square().mean() + 10.0 * m(edge).square().mean()
        step = training(m, loss_of, torch.optim.Adam(m.parameters(), lr=1e-5, fused=True, capturable=True), cast=False)
        return replayed(step) if captured else step
    return make


# The water level of a harbour a day ahead, a small transformer in training: op by op, or the whole step captured.
class Harbour(nn.Module):
    def __init__(self, seen, d, heads, layers, ahead):
        super().__init__()
        self.enter, self.layers, self.out = nn.Linear(seen, d), encoders(d, heads, layers), nn.Linear(d, ahead)

    def forward(self, x):
        return self.out(self.layers(self.enter(x)).mean(1))


def harbour_replay(captured):
    def make():
        batch, t, seen, ahead = S(16, 2), S(192, 5), S(16, 4), S(24, 3)
        m = built(lambda: Harbour(seen, S(384, 16), S(6, 2), S(4, 1), ahead))
        x, y = noise(batch, t, seen), noise(batch, ahead)
        step = training(m, lambda: F.mse_loss(m(x).float(), y), torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True, capturable=True))
        return replayed(step) if captured else step
    return make


# Positions of chess judged for a search, eight at a time: eager, or compiled with mode="reduce-overhead".
class Judge(nn.Module):
    def __init__(self, c, blocks):
        super().__init__()
        self.enter, self.blocks = nn.Sequential(normed(16, c, 3), nn.ReLU()), nn.Sequential(*[Basic(c, c) for _ in range(blocks)])
        self.moves, self.value = nn.Conv2d(c, 72, 1), nn.Sequential(normed(c, 8), nn.ReLU(), nn.Flatten(), nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x):
        h = self.blocks(self.enter(x))
        return torch.cat([self.moves(h).flatten(1), torch.tanh(self.value(h))], -1)


def chess_overhead(eager):
    def make():
        m = built(lambda: Judge(S(128, 8), S(8, 1)), HALF_HERE).eval()
        f, x = m if eager else compiled(m, mode="reduce-overhead"), noise(8, 16, 8, 8, dtype=HALF_HERE)

        @torch.no_grad()
        def step():
            return f(x).clone()
        return step
    return make


# ---- The optimizer: fused=True ------------------------------------------------------------------------------------------------


# Insurance claims by a transformer over columns: AdamW as it comes, or fused.
class Columns(nn.Module):
    def __init__(self, columns, d, heads, layers):
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.randn(columns, d)), nn.Parameter(torch.randn(columns, d))
        self.layers, self.head = encoders(d, heads, layers, 2), nn.Linear(d, 1)

    def forward(self, x):
        return self.head(self.layers(x.unsqueeze(-1) * self.scale + self.shift).mean(1))


def claims_adamw(as_it_comes):
    def make():
        batch, columns = S(192, 3), S(32, 4)
        m = built(lambda: Columns(columns, S(256, 16), S(8, 2), S(6, 1)))
        x, y = noise(batch, columns), torch.rand(batch, 1, device=D)
        optimizer = torch.optim.AdamW(m.parameters(), lr=1e-5, weight_decay=0.01, **({} if as_it_comes else dict(fused=True)))
        return training(m, lambda: F.mse_loss(m(x).float(), y), optimizer)
    return make


# Sick leaves of vines: SGD with momentum, tensor by tensor ("foreach takes more memory"), or fused.
def vines_sgd(one_by_one):
    def make():
        batch, side = S(32, 2), S(224, 32)
        m = last(built(lambda: pictures(Bottle, S(256, 16), S((3, 4, 3, 2), (1, 1)), 3, S(12, 3))))
        x, y = last(noise(batch, 3, side, side)), draw(S(12, 3), batch)
        optimizer = torch.optim.SGD(m.parameters(), lr=1e-4, momentum=0.9, weight_decay=1e-4, nesterov=True, **(dict(foreach=False) if one_by_one else dict(fused=True)))
        return training(m, lambda: F.cross_entropy(m(x).float(), y), optimizer)
    return make


# ---- Chains of pointwise kernels: torch.compile around what holds them ----------------------------------------------------------


# Litter in a river, the head of a detector trained: overlap, distance and shape of boxes written out, in eager mode or compiled.
def boxes_loss(told, goal, real):
    x, y, w, h = told[..., 0], told[..., 1], told[..., 2].exp(), told[..., 3].exp()
    gx, gy, gw, gh = goal.unbind(-1)
    wide = (torch.minimum(x + w / 2, gx + gw / 2) - torch.maximum(x - w / 2, gx - gw / 2)).clamp(min=0)
    tall = (torch.minimum(y + h / 2, gy + gh / 2) - torch.maximum(y - h / 2, gy - gh / 2)).clamp(min=0)
    both = wide * tall
    overlap = both / (w * h + gw * gh - both + 1e-7)
    cw = torch.maximum(x + w / 2, gx + gw / 2) - torch.minimum(x - w / 2, gx - gw / 2)
    ch = torch.maximum(y + h / 2, gy + gh / 2) - torch.minimum(y - h / 2, gy - gh / 2)
    apart = ((x - gx) ** 2 + (y - gy) ** 2) / (cw ** 2 + ch ** 2 + 1e-7)
    shape = (4 / math.pi ** 2) * (torch.atan(gw / gh) - torch.atan(w / h)) ** 2
    with torch.no_grad():
        weight = shape / (1 - overlap + shape + 1e-7)
    loss = (1 - overlap + apart + weight * shape) * real
    sure = F.binary_cross_entropy_with_logits(told[..., 4], overlap.detach() * real)
    return loss.sum() / real.sum() + sure


def litter_boxes(eager):
    def make():
        batch, c, sides = S(32, 2), S(128, 8), S((80, 40, 20), (4, 2))
        m = last(built(lambda: nn.Sequential(nn.Conv2d(c, c, 3, padding=1), nn.SiLU(), nn.Conv2d(c, c, 3, padding=1), nn.SiLU(), nn.Conv2d(c, 8, 1))))
        maps, anchors = [last(noise(batch, c, side, side)) for side in sides], sum(side * side for side in sides)
        goal, real = torch.cat([noise(batch, anchors, 2), 0.1 + torch.rand(batch, anchors, 2, device=D)], -1), (torch.rand(batch, anchors, device=D) < 0.2).float()
        f = boxes_loss if eager else compiled(boxes_loss)

        def loss_of():
            with autocast():
                told = torch.cat([m(x).flatten(2) for x in maps], 2)
            return f(told.transpose(1, 2).float(), goal, real)
        return training(m, loss_of, cast=False)
    return make


# Letters of a new typeface out of noise, one call of the model: eager, or the model compiled.
class PlainNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))

    def forward(self, x):
        y = x.float()
        return (y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * self.weight


class Typeface(nn.Module):
    def __init__(self, d, heads, wide, layers):
        super().__init__()
        self.heads = heads
        layer = lambda: dict(
            n1=PlainNorm(d), qkv=nn.Linear(d, 3 * d), nq=PlainNorm(d // heads), nk=PlainNorm(d // heads), out=nn.Linear(d, d),
            n2=PlainNorm(d), gate=nn.Linear(d, wide), up=nn.Linear(d, wide), down=nn.Linear(wide, d), steer=nn.Linear(d, 6 * d))
        self.layers = nn.ModuleList([nn.ModuleDict(layer()) for _ in range(layers)])

    def forward(self, x, time):
        for layer in self.layers:
            s1, b1, g1, s2, b2, g2 = layer["steer"](F.silu(time)).unsqueeze(1).chunk(6, -1)
            q, k, v = layer["qkv"](layer["n1"](x) * (1 + s1) + b1).unflatten(-1, (3, self.heads, -1)).unbind(2)
            y = F.scaled_dot_product_attention(layer["nq"](q).transpose(1, 2), layer["nk"](k).transpose(1, 2), v.transpose(1, 2))
            x = x + torch.tanh(g1) * layer["out"](y.transpose(1, 2).flatten(2))
            h = layer["n2"](x) * (1 + s2) + b2
            g = layer["gate"](h)
            x = x + torch.tanh(g2) * layer["down"](g * torch.sigmoid(g) * layer["up"](h))
        return x


def typeface_steps(eager):
    def make():
        d, batch, t = S(1024, 16), S(16, 2), S(512, 6)
        m = built(lambda: Typeface(d, S(16, 2), S(2816, 24), S(4, 1)), BF).eval()
        return inference(m if eager else compiled(m), noise(batch, t, d, dtype=BF), noise(batch, d, dtype=BF))
    return make


# Stars that draw each other, two moments: all pairs written out, in eager mode or compiled.
def drawn(places, mass):
    apart = places[None] - places[:, None]
    near = (apart ** 2).sum(-1) + 1e-3
    return (apart * (mass[None] * near ** -1.5)[..., None]).sum(1)


def stars_pairs(eager):
    def make():
        n = S(4096, 12)
        f, first, speed, mass = drawn if eager else compiled(drawn), noise(n, 3), 0.1 * noise(n, 3), torch.rand(n, device=D) / n

        @torch.no_grad()
        def step():
            places, moved = first, speed
            for _ in range(2):
                moved = moved + 0.01 * f(places, mass)
                places = places + 0.01 * moved
            return places
        return step
    return make


# Bicycles lent by each station, trained: layers that gate what they add; eager, or the model compiled.
class Adding(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.a, self.b, self.gate, self.norm = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, 2 * d), nn.LayerNorm(d)

    def forward(self, x):
        h = self.gate(self.b(F.elu(self.a(x))))
        a, g = h.chunk(2, -1)
        return self.norm(x + a * torch.sigmoid(g))


def bicycles_gates(eager):
    def make():
        d, rows, seen = S(512, 16), S(32768, 6), S(48, 4)
        m = built(lambda: nn.Sequential(nn.Linear(seen, d), *[Adding(d) for _ in range(S(5, 2))], nn.Linear(d, 8)))
        f, x, y = m if eager else compiled(m), noise(rows, seen), noise(rows, 8)
        return training(m, lambda: F.mse_loss(f(x).float(), y))
    return make


# ---- Attention by hand: scaled_dot_product_attention --------------------------------------------------------------------------


# Bags looked through at an airport: weights of attention in float32, or the library's kernel.
class BagLayer(nn.Module):
    def __init__(self, d, heads, by_hand):
        super().__init__()
        self.heads, self.by_hand, self.n1, self.n2, self.qkv, self.out = heads, by_hand, nn.LayerNorm(d), nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        q, k, v = self.qkv(self.n1(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        if self.by_hand:
            weights = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(q.shape[-1])
            y = torch.matmul(F.softmax(weights, dim=-1, dtype=torch.float32).to(q.dtype), v)
        else:
            y = F.scaled_dot_product_attention(q, k, v)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.mlp(self.n2(x))


def bags_attention(by_hand):
    def make():
        d, side = S(768, 16), S(448, 32)
        m = built(lambda: nn.Sequential(nn.Conv2d(3, d, 16, 16), nn.Flatten(2)), BF).eval()
        layers = built(lambda: nn.Sequential(*[BagLayer(d, S(12, 2), by_hand) for _ in range(S(4, 1))]), BF).eval()
        return inference(lambda x: layers(m(x).transpose(1, 2)), noise(S(16, 2), 3, side, side, dtype=BF))
    return make


# Jets of particles, trained: scores filled up where there is no particle, softmax, a product; or the library's kernel with that mask.
class Jet(nn.Module):
    def __init__(self, d, heads, by_hand):
        super().__init__()
        self.heads, self.by_hand, self.scale, self.n1, self.n2 = heads, by_hand, (d // heads) ** -0.5, nn.LayerNorm(d), nn.LayerNorm(d)
        self.q, self.k, self.v, self.out = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x, keep):
        split = lambda a: a.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        h = self.n1(x)
        q, k, v, mask = split(self.q(h)), split(self.k(h)), split(self.v(h)), keep[:, None, None]
        if self.by_hand:
            scores = (q @ k.transpose(-2, -1) * self.scale).masked_fill(~mask, -1e9)
            y = scores.softmax(-1) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.mlp(self.n2(x))


class Jets(nn.Module):
    def __init__(self, seen, d, heads, layers, by_hand):
        super().__init__()
        self.enter, self.layers, self.head = nn.Linear(seen, d), nn.ModuleList([Jet(d, heads, by_hand) for _ in range(layers)]), nn.Linear(d, 10)

    def forward(self, x, keep):
        x = self.enter(x)
        for layer in self.layers:
            x = layer(x, keep)
        return self.head(x.mean(1))


def jets_attention(by_hand):
    def make():
        batch, most, seen = S(256, 3), S(128, 6), S(16, 4)
        m = built(lambda: Jets(seen, S(256, 16), S(8, 2), S(4, 1), by_hand))
        keep = torch.arange(most, device=D)[None] < torch.randint(most // 3, most + 1, (batch, 1), device=D)
        x, y = noise(batch, most, seen), draw(10, batch)
        return training(m, lambda: F.cross_entropy(m(x, keep).float(), y))
    return make


# ---- Input: workers, pinned memory, the next batch ahead ----------------------------------------------------------------------


# Mushrooms, photographs cut, mirrored and made smaller: by the training process itself, or by workers.
class Mushrooms(torch.utils.data.Dataset):
    def __init__(self, count, side, cut, small):
        self.cut, self.small, self.all = cut, small, np.random.default_rng(5).integers(0, 256, (count, side, side, 3), dtype=np.uint8)

    def __len__(self):
        return 1000000

    def __getitem__(self, i):
        rng, c, s = np.random.default_rng(i), self.cut, self.small
        photo = self.all[i % len(self.all)]
        y, x = rng.integers(0, photo.shape[0] - c, 2)
        photo = photo[y:y + c, x:x + c]
        if rng.random() < 0.5:
            photo = photo[:, ::-1]
        at = np.linspace(0, c - 1.001, s)
        low, part = at.astype(np.int64), (at % 1).astype(np.float32)[:, None, None]
        rows = photo[low] * (1 - part) + photo[low + 1] * part
        part = part.transpose(1, 0, 2)
        out = (rows[:, low] * (1 - part) + rows[:, low + 1] * part) / np.float32(255)
        out = (out - out.mean()) * np.float32(rng.uniform(0.8, 1.2)) + np.float32(rng.uniform(-0.1, 0.1))
        return torch.from_numpy(np.ascontiguousarray(out.transpose(2, 0, 1), dtype=np.float32)), i % 90


def mushrooms_loader(workers):
    def make():
        cut, small, batch = S(224, 40), S(192, 32), S(16, 2)
        more = dict(num_workers=S(workers, 1), persistent_workers=True, prefetch_factor=2, pin_memory=not DRY) if workers else {}
        batches = iter(torch.utils.data.DataLoader(Mushrooms(S(32, 4), cut + S(64, 10), cut, small), batch_size=batch, **more))
        m = last(built(lambda: pictures(Basic, S(64, 8), S((2, 2, 2, 2), (1, 1)), 3, 90)))
        optimizer = torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True)

        def step():
            x, y = (t.to(D, non_blocking=True) for t in next(batches))
            optimizer.zero_grad(set_to_none=True)
            with autocast():
                loss = F.cross_entropy(m(last(x)).float(), y)
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# Patents by the parts of their words: two workers, or twelve and pinned memory.
class Patents(torch.utils.data.Dataset):
    def __init__(self, count, words, rows, long):
        rng = np.random.default_rng(6)
        some = ["".join(rng.choice(list("abcdefghilmnoprstu"), int(n))) for n in rng.integers(3, 12, 2000)]
        self.rows, self.long, self.texts = rows, long, [" ".join(some[j] for j in rng.integers(0, 2000, words)) for _ in range(count)]

    def __len__(self):
        return 1000000

    def __getitem__(self, i):
        ids = []
        for word in self.texts[i % len(self.texts)].lower().split():
            word = "<" + word + ">"
            ids += [1 + zlib.crc32(word[j:j + 4].encode()) % (self.rows - 1) for j in range(max(1, len(word) - 3))]
        ids = ids[:self.long] + [0] * (self.long - len(ids))
        return torch.tensor(ids), i % 120


class Patent(nn.Module):
    def __init__(self, rows, d, heads, layers, part):
        super().__init__()
        self.part, self.embed, self.layers, self.head = part, nn.Embedding(rows, d), encoders(d, heads, layers), nn.Linear(d, 120)

    def forward(self, ids):
        x = self.embed(ids).unflatten(1, (-1, self.part)).mean(2)
        return self.head(self.layers(x).mean(1))


def patents_workers(workers):
    def make():
        rows, long, batch = S(30000, 50), S(1536, 16), S(16, 2)
        more = dict(num_workers=S(workers, 1), persistent_workers=True, prefetch_factor=1, **({} if workers < 3 else dict(pin_memory=not DRY)))
        batches = iter(torch.utils.data.DataLoader(Patents(S(200, 4), S(300, 6), rows, long), batch_size=batch, **more))
        m = built(lambda: Patent(rows, S(384, 16), S(6, 2), S(4, 1), 8))
        optimizer = torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True)

        def step():
            ids, y = (t.to(D, non_blocking=True) for t in next(batches))
            optimizer.zero_grad(set_to_none=True)
            with autocast():
                loss = F.cross_entropy(m(ids).float(), y)
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# Frogs at night: spectra by NumPy ahead of each step, or by a thread while the step before runs.
def spectra(waves, size):
    frames = np.lib.stride_tricks.sliding_window_view(waves, size, 1)[:, ::size // 4] * np.hanning(size).astype(np.float32)
    power = np.abs(np.fft.rfft(frames, axis=-1)[..., :size // 2]).astype(np.float32)
    bands = np.log(power ** 2 + 1e-4)
    return torch.from_numpy(np.ascontiguousarray((bands - bands.mean((1, 2), keepdims=True)) / bands.std((1, 2), keepdims=True))[:, None])


def frogs_ahead(at_once):
    def make():
        batch, long, size, turn = S(4, 2), S(16000, 256), S(512, 32), [0]
        night = np.random.default_rng(7).standard_normal((batch, 4 * long), dtype=np.float32)
        m = last(built(lambda: pictures(Basic, S(128, 8), S((2, 2, 2), (1, 1)), 1, 30)))
        optimizer, y = torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True), draw(30, batch)

        def prepare():
            turn[0] = (turn[0] + 1) % 100
            at = turn[0] * long // 40
            return pinned(spectra(night[:, at:at + long], size))
        thread = None if at_once else concurrent.futures.ThreadPoolExecutor(1)
        ahead = [] if at_once else [thread.submit(prepare)]

        def step():
            if at_once:
                x = prepare()
            else:
                x = ahead.pop().result()
                ahead.append(thread.submit(prepare))
            x = last(x.to(D, non_blocking=True))
            optimizer.zero_grad(set_to_none=True)
            with autocast():
                loss = F.cross_entropy(m(x).float(), y)
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# ---- Copies: pinned memory ----------------------------------------------------------------------------------------------------


# Ores by what they reflect in 64 colours: cubes sent from ordinary memory, or from pinned memory and without waiting.
def ores_upload(ordinary):
    def make():
        batch, colours, side, c, turn = S(128, 2), S(64, 4), S(32, 8), S(256, 8), [0]
        block = lambda i, o: nn.Sequential(normed(i, o, 3), nn.ReLU())
        end = lambda: [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(c, 16)]
        m = last(built(lambda: nn.Sequential(block(colours, c), block(c, c), nn.MaxPool2d(2), block(c, c), block(c, c), *end())))
        optimizer = torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True)
        batches = [(torch.randn(batch, colours, side, side), torch.randint(0, 16, (batch,))) for _ in range(3)]
        if not ordinary:
            batches = [tuple(pinned(t) for t in both) for both in batches]

        def step():
            turn[0] = (turn[0] + 1) % 3
            x, y = (t.to(D, non_blocking=not ordinary) for t in batches[turn[0]])
            optimizer.zero_grad(set_to_none=True)
            with autocast():
                loss = F.cross_entropy(m(last(x)).float(), y)
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# Bees in their hive, heard: sound as it was stored, from ordinary memory, or pinned and without waiting.
class Bees(nn.Module):
    def __init__(self, size, c):
        super().__init__()
        self.size, self.body = size, pictures(Basic, c, S((2, 2, 2), (1, 1)), 1, 6)
        self.register_buffer("window", torch.hann_window(size))

    def forward(self, raw):
        waves = torch.stft(raw.float() / 32768, self.size, self.size // 4, window=self.window, return_complex=True)
        return self.body(last(torch.log(waves.abs() + 1e-4).to(self.body[0].weight.dtype).unsqueeze(1)))


def bees_upload(ordinary):
    def make():
        m, turn = last(built(lambda: Bees(S(512, 64), S(128, 8)))).eval(), [0]
        m.body.to(HALF_HERE)
        batches = [torch.randint(-20000, 20000, (S(64, 2), S(64000, 1024)), dtype=torch.int16) for _ in range(3)]
        if not ordinary:
            batches = [pinned(t) for t in batches]

        @torch.no_grad()
        def step():
            turn[0] = (turn[0] + 1) % 3
            return m(batches[turn[0]].to(D, non_blocking=not ordinary))
        return step
    return make


# ---- Products and convolutions ------------------------------------------------------------------------------------------------


# Blood pressure from the pulse, trained in float32: TF32 off for products and convolutions, or on for both.
def precise(full, step):
    def with_precision():
        torch.set_float32_matmul_precision("highest" if full else "high")
        torch.backends.cudnn.allow_tf32 = not full
        return step()
    return with_precision


class Pulse(nn.Module):
    def __init__(self, d, heads, layers):
        super().__init__()
        self.enter = nn.Sequential(nn.Conv1d(4, d // 2, 8, 4, 2), nn.ReLU(), nn.Conv1d(d // 2, d, 5, 2, 2), nn.ReLU(), nn.Conv1d(d, d, 5, 1, 2), nn.ReLU())
        self.layers, self.head = encoders(d, heads, layers), nn.Linear(d, 2)

    def forward(self, x):
        return self.head(self.layers(self.enter(x).transpose(1, 2)).mean(1))


def pulse_fp32(full):
    def make():
        batch = S(32, 2)
        m = built(lambda: Pulse(S(512, 16), S(8, 2), S(3, 1)))
        x, y = noise(batch, 4, S(2048, 64)), noise(batch, 2)
        return precise(full, training(m, lambda: F.mse_loss(m(x), y), cast=False))
    return make


# Light of stars, 3501 wavelengths, squeezed and restored: as many as there are, or filled up with zeros to 3520.
def starlight_odd(padded):
    def make():
        waves, d, rows = S(3501, 21), S(2048, 16), S(8192, 6)
        m = built(lambda: nn.Sequential(nn.Linear(waves, d), nn.GELU(), nn.Linear(d, S(512, 8)), nn.GELU(), nn.Linear(S(512, 8), d), nn.GELU(), nn.Linear(d, waves)))
        x = noise(rows, waves)
        if padded:
            more = -waves % S(64, 8)
            x, (first, final) = F.pad(x, (0, more)), (m[0], m[6])
            first.weight = nn.Parameter(F.pad(first.weight.data, (0, more)))
            final.weight, final.bias = nn.Parameter(F.pad(final.weight.data, (0, 0, 0, more))), nn.Parameter(F.pad(final.bias.data, (0, more)))
        return training(m, lambda: (m(x).float() - x).square().sum() / (rows * waves))
    return make


# Cracked cells of solar panels, trained: NCHW as it comes, or channels last.
def panels_layout(channels_last):
    def make():
        batch, side = S(48, 2), S(224, 32)
        m, x = built(lambda: pictures(Bottle, S(256, 16), S((2, 2, 2), (1, 1)), 3, 8)), noise(batch, 3, side, side)
        if channels_last:
            m, x = last(m), last(x)
        y = draw(8, batch)
        return training(m, lambda: F.cross_entropy(m(x).float(), y))
    return make


# ---- What the framework does besides ------------------------------------------------------------------------------------------


# Dams and what seeps through, compiled and trained: each layer writes a line into a log (at a level that is off), or does not.
log = logging.getLogger("dams")


class Dam(nn.Module):
    def __init__(self, d, heads, told):
        super().__init__()
        self.told, self.layer, self.mix = told, Encoder(d, heads), nn.Linear(d, d)

    def forward(self, x):
        x = self.layer(x)
        if self.told:
            log.debug("a layer is done")
        return x + F.silu(self.mix(x))


def dams_breaks(told):
    def make():
        d, batch, t = S(384, 16), S(24, 2), S(192, 5)
        m = built(lambda: nn.Sequential(nn.Linear(S(32, 4), d), *[Dam(d, S(6, 2), told) for _ in range(S(4, 2))], nn.Linear(d, S(32, 4))))
        f, x, y = compiled(m), noise(batch, t, S(32, 4)), noise(batch, t, S(32, 4))
        return training(m, lambda: F.mse_loss(f(x).float(), y))
    return make


# Trees in a laser's points, compiled: each layer takes the points that it trusts by a boolean index, or weighs all by zero or one.
class Trusted(nn.Module):
    def __init__(self, d, by_index):
        super().__init__()
        self.by_index, self.norm, self.trust, self.whole = by_index, nn.LayerNorm(d), nn.Linear(d, 1), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def forward(self, x):
        h = self.norm(x)
        keep = self.trust(h).squeeze(-1) > 0
        if self.by_index:
            mean = h[keep].mean(0)
        else:
            mean = (h * keep.unsqueeze(-1)).sum(0) / keep.sum()
        return x + self.down(F.silu(self.up(h))) + self.whole(mean)


class Trees(nn.Module):
    def __init__(self, d, layers, by_index):
        super().__init__()
        self.enter, self.layers, self.head = nn.Linear(8, d), nn.ModuleList([Trusted(d, by_index) for _ in range(layers)]), nn.Linear(d, 8)

    def forward(self, x):
        x = self.enter(x)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def trees_breaks(by_index):
    def make():
        f = compiled(built(lambda: Trees(S(256, 8), S(4, 4), by_index), BF).eval())
        return inference(f, noise(S(32768, 40), 8, dtype=BF))
    return make


# Dialects learnt by small matrices beside a frozen model, four small batches a step: the frozen weights cast in each, or once when loaded.
class Beside(nn.Module):
    def __init__(self, i, o, rank):
        super().__init__()
        self.base, self.a, self.b = nn.Linear(i, o), nn.Linear(i, rank, bias=False), nn.Linear(rank, o, bias=False)

    def forward(self, x):
        return self.base(x) + 2.0 * self.b(self.a(x))


class Dialect(nn.Module):
    def __init__(self, d, heads, rank):
        super().__init__()
        self.heads, self.n1, self.n2, self.qkv, self.out = heads, nn.LayerNorm(d), nn.LayerNorm(d), Beside(d, 3 * d, rank), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        q, k, v = self.qkv(self.n1(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.n2(x))))


def dialects_lora(cast_each):
    def make():
        d, t, words = S(1536, 16), S(512, 6), S(8192, 30)
        m = built(lambda: nn.Sequential(*[Dialect(d, S(12, 2), S(16, 2)) for _ in range(S(5, 1))], nn.LayerNorm(d), nn.Linear(d, words)))
        learnt = []
        for name, p in m.named_parameters():
            if ".a." in name or ".b." in name:
                learnt.append(p)
            else:
                p.requires_grad_(False)
        if not cast_each:
            for part in m.modules():
                if isinstance(part, nn.Linear) and not part.weight.requires_grad:
                    part.to(BF)
        optimizer = torch.optim.AdamW(learnt, lr=1e-5, fused=True)
        parts = [(noise(2, t, d), draw(words, 2 * t)) for _ in range(4)]

        def step():
            optimizer.zero_grad(set_to_none=True)
            total = torch.zeros((), device=D)
            for x, labels in parts:
                with autocast():
                    loss = F.cross_entropy(m(x).flatten(0, 1).float(), labels) / 4
                loss.backward()
                total += loss.detach()
            optimizer.step()
            return total
        return step
    return make


# Corals from under water, trained: memory given back after each step ("against running out"), or kept.
def corals_emptied(empty):
    def make():
        batch, side, c = S(8, 2), S(256, 16), S(64, 8)
        block = lambda i, o: nn.Sequential(normed(i, o, 3), nn.ReLU())
        inner = lambda: [nn.MaxPool2d(2), block(c, 2 * c), block(2 * c, 2 * c), nn.Upsample(scale_factor=2.0)]
        m = last(built(lambda: nn.Sequential(block(3, c), block(c, c), *inner(), block(2 * c, c), nn.Conv2d(c, 8, 1))))
        optimizer, x, y = torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True), last(noise(batch, 3, side, side)), draw(8, batch, side, side)

        def step():
            optimizer.zero_grad(set_to_none=True)
            with autocast():
                loss = F.cross_entropy(m(x).float(), y)
            loss.backward()
            optimizer.step()
            if empty and not DRY:
                torch.cuda.empty_cache()
            return loss.detach()
        return step
    return make


# Prices of houses: a layer of its own for each of forty figures, one after the other, or one product for all of them.
class Figures(nn.Module):
    def __init__(self, figures, e, d, loop):
        super().__init__()
        self.loop, self.each = loop, nn.ModuleList([nn.Linear(1, e) for _ in range(figures)])
        self.body = nn.Sequential(nn.Flatten(), nn.Linear(figures * e, d), nn.ReLU(), nn.Linear(d, d), nn.ReLU(), nn.Linear(d, 1))
        if not loop:
            self.weight = nn.Parameter(torch.stack([one.weight.data[:, 0] for one in self.each]))
            self.bias = nn.Parameter(torch.stack([one.bias.data for one in self.each]))
            del self.each

    def forward(self, x):
        if self.loop:
            h = torch.stack([F.relu(one(x[:, i:i + 1])) for i, one in enumerate(self.each)], 1)
        else:
            h = F.relu(x.unsqueeze(-1) * self.weight + self.bias)
        return self.body(h)


def houses_figures(loop):
    def make():
        rows, figures = S(4096, 5), S(40, 4)
        m = built(lambda: Figures(figures, S(32, 4), S(1024, 16), loop))
        x, y = noise(rows, figures), noise(rows, 1)
        return training(m, lambda: F.mse_loss(m(x), y), cast=False)
    return make


# Each kind once, then the others.
PAIRS = dict(
    minerals_log=pair(minerals_log, True, False), typeface_steps=pair(typeface_steps, True, False), bags_attention=pair(bags_attention, True, False),
    mushrooms_loader=pair(mushrooms_loader, 0, 10), pulse_fp32=pair(pulse_fp32, True, False), battery_heat=pair(battery_heat, False, True),
    ores_upload=pair(ores_upload, True, False), dialects_lora=pair(dialects_lora, True, False), claims_adamw=pair(claims_adamw, True, False),
    dams_breaks=pair(dams_breaks, True, False), panels_layout=pair(panels_layout, False, True), corals_emptied=pair(corals_emptied, True, False),
    starlight_odd=pair(starlight_odd, False, True), houses_figures=pair(houses_figures, True, False), frogs_ahead=pair(frogs_ahead, True, False),
    horses_mining=pair(horses_mining, True, False), stars_pairs=pair(stars_pairs, True, False), harbour_replay=pair(harbour_replay, False, True),
    vines_sgd=pair(vines_sgd, True, False), jets_attention=pair(jets_attention, True, False), patents_workers=pair(patents_workers, 2, 12),
    brain_codes=pair(brain_codes, True, False), litter_boxes=pair(litter_boxes, True, False), chess_overhead=pair(chess_overhead, True, False),
    trees_breaks=pair(trees_breaks, True, False), bees_upload=pair(bees_upload, True, False), bicycles_gates=pair(bicycles_gates, True, False),
    tissue_transport=pair(tissue_transport, True, False))


PROGRAMS = in_turns(PAIRS, HEALTHY)
COMPILED = ["tutor_train", "clouds_train", "meteors_train", "museum_train", "phones_train", "questions_overhead", "dams_breaks", "typeface_steps",
            "bicycles_gates", "chess_overhead", "glass_infer", "notes_prefill", "slides_infer", "animated_infer", "harvest_replay", "alloys_infer",
            "trees_breaks", "litter_boxes", "stars_pairs"]  # what takes longest first
FORMS = {}
