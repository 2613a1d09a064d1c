"""A tenth set of programs that no rule was read from, part four: serving of language models, shops, documents, materials, energy, 3D, education. Only scored.

PROGRAMS is what recording.py records, in this order (variety first, so that a run cut short has some of everything). FAULTS says what was planted in
each pair: the mended half follows the advice that docs/findings.md gives for that finding, to the letter, and changes nothing else. A step returns
what it computed, so that a pair can be compared. COMPILED: what has something to compile, what takes longest first.
"""
import logging, math, os, sys
import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from program_parts import BF, D, DRY, HALF_HERE, S, autocast, built, compiled, draw, inference, last, noise, pinned, replayed, training
from program_parts import pair, in_turns

SETS = [["shapes", "plain"], ["shapes", "stack"], ["memory", "shapes_stack"], ["plain", "shapes"], ["shapes", "modules"], ["stack", "shapes"]]
log = logging.getLogger("scripts")


def options(index):
    return SETS[index % len(SETS)]


# ---- Layers that several programs share -----------------------------------------------------------------------------------------


class Attend(nn.Module):
    """Attention of many heads, by the library's kernel or written out; `later` is what nobody may look at."""

    def __init__(self, d, heads, by_hand=False):
        super().__init__()
        self.heads, self.by_hand, self.qkv, self.out = heads, by_hand, nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, bias=None, later=None):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        if self.by_hand:
            scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
            if bias is not None:
                scores = scores + bias
            if later is not None:
                scores = scores.masked_fill(later, float("-inf"))
            y = scores.softmax(-1) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, is_causal=later is not None)
        return self.out(y.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, d, heads, by_hand=False):
        super().__init__()
        self.n1, self.n2, self.look = nn.LayerNorm(d), nn.LayerNorm(d), Attend(d, heads, by_hand)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x, bias=None, later=None):
        x = x + self.look(self.n1(x), bias, later)
        return x + self.mlp(self.n2(x))


def blocks(d, heads, layers, by_hand=False):
    return nn.ModuleList([Block(d, heads, by_hand) for _ in range(layers)])


def through(layers, x, bias=None, later=None):
    for layer in layers:
        x = layer(x, bias, later)
    return x


def later_than(t):
    return torch.ones(t, t, dtype=torch.bool, device=D).triu(1)


class Gated(nn.Module):
    """The perceptron of a language model, half of which gates the other."""

    def __init__(self, d, wide, act=F.silu):
        super().__init__()
        self.act, self.up, self.down = act, nn.Linear(d, 2 * wide, bias=False), nn.Linear(wide, d, bias=False)

    def forward(self, x):
        a, b = self.up(x).chunk(2, -1)
        return self.down(self.act(a) * b)


def angles(length, size, dtype):
    turn = torch.outer(torch.arange(length, device=D).float(), 10000.0 ** -torch.linspace(0, 1, size // 2, device=D))
    return turn.cos().to(dtype), turn.sin().to(dtype)


def turned(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class Cached(nn.Module):
    """A layer of a language model that keeps the keys and values of what it has read."""

    def __init__(self, d, heads, mlp):
        super().__init__()
        self.size, self.n1, self.n2, self.mlp = d // heads, nn.RMSNorm(d), nn.RMSNorm(d), mlp
        self.qkv, self.out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False)

    def forward(self, x, cos, sin, seen, rows, keys, values):
        q, k, v = self.qkv(self.n1(x)).unflatten(-1, (3, -1, self.size)).permute(2, 0, 3, 1, 4)
        keys.index_copy_(2, rows, turned(k, cos, sin))
        values.index_copy_(2, rows, v)
        y = F.scaled_dot_product_attention(turned(q, cos, sin), keys, values, attn_mask=seen)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.mlp(self.n2(x))


class Speaking(nn.Module):
    """A language model in service: reads what is new at its place, returns hidden states."""

    def __init__(self, words, d, heads, layers, length, mlp):
        super().__init__()
        self.embed, self.norm, self.head = nn.Embedding(words, d), nn.RMSNorm(d), nn.Linear(d, words, bias=False)
        self.layers = nn.ModuleList([Cached(d, heads, mlp()) for _ in range(layers)])
        self.cos, self.sin = angles(length, d // heads, BF)
        self.places = torch.arange(length, device=D)

    def forward(self, ids, at, kept):
        rows = at + self.places[:ids.shape[1]]
        cos, sin, seen = self.cos[rows], self.sin[rows], self.places <= rows.unsqueeze(1)
        x = self.embed(ids)
        for layer, (keys, values) in zip(self.layers, kept):
            x = layer(x, cos, sin, seen, rows, keys, values)
        return self.norm(x)


def caches(layers, batch, heads, length, size):
    return [(noise(batch, heads, length, size, dtype=BF), noise(batch, heads, length, size, dtype=BF)) for _ in range(layers)]


# ---- Chains of pointwise kernels: torch.compile around what holds them ----------------------------------------------------------


# A kettle from photographs, its radiance along rays learned by a small perceptron: encoding, compositing and loss eager, or all of it compiled.
class Radiance(nn.Module):
    def __init__(self, bands, d):
        super().__init__()
        self.register_buffer("bands", math.pi * 2.0 ** torch.arange(bands))
        seen = 3 + 6 * bands
        self.low = nn.Sequential(nn.Linear(seen, d), nn.ReLU(), nn.Linear(d, d), nn.ReLU(), nn.Linear(d, d), nn.ReLU(), nn.Linear(d, d), nn.ReLU())
        self.thick, self.shade = nn.Linear(d, 1), nn.Sequential(nn.Linear(d + 3, d // 2), nn.ReLU(), nn.Linear(d // 2, 3))

    def forward(self, start, way, depth):
        at = start.unsqueeze(1) + way.unsqueeze(1) * depth.unsqueeze(-1)
        waves = (at.unsqueeze(-1) * self.bands).flatten(2)
        h = self.low(torch.cat([at, waves.sin(), waves.cos()], -1))
        thick = F.softplus(self.thick(h).squeeze(-1).float() - 1)
        shade = torch.sigmoid(self.shade(torch.cat([h, way.unsqueeze(1).expand_as(at)], -1)).float())
        gap = torch.cat([depth[:, 1:] - depth[:, :-1], torch.full_like(depth[:, :1], 0.1)], 1)
        dense = thick * gap
        share = (1 - torch.exp(-dense)) * torch.exp(dense - dense.cumsum(1))
        return (share.unsqueeze(-1) * shade).sum(1) + (1 - share.sum(1, keepdim=True)), share


def kettle_radiance(eager):
    def make():
        rays, places = S(4096, 5), S(64, 4)
        m = built(lambda: Radiance(S(10, 2), S(256, 8)))
        start, way, colour = noise(rays, 3), F.normalize(noise(rays, 3), dim=-1), torch.rand(rays, 3, device=D)
        depth = torch.linspace(0.5, 3.5, places, device=D) + torch.rand(rays, places, device=D) * (3 / places)

        def loss(start, way, depth, colour):
            told, share = m(start, way, depth)
            filled = share.sum(1).clamp(1e-4, 1 - 1e-4)
            clear = -(filled * filled.log() + (1 - filled) * (1 - filled).log()).mean()
            return F.mse_loss(told, colour) + 1e-3 * clear
        f = loss if eager else compiled(loss)
        return training(m, lambda: f(start, way, depth, colour))
    return make


# An alloy that freezes into dendrites, phase and temperature on a grid by Kobayashi's equations: written out in eager mode, or compiled.
def freeze(phase, heat, dt=1e-4, h=0.03, deep=0.01, lean=0.02, folds=6.0, slow=3e-4, latent=1.8):
    dx, dy = ((torch.roll(phase, -1, k) - torch.roll(phase, 1, k)) / (2 * h) for k in (0, 1))
    turn = torch.atan2(dy, dx)
    eps, bent = deep * (1 + lean * torch.cos(folds * turn)), -deep * lean * folds * torch.sin(folds * turn)
    across, along = eps * bent * dy, eps * bent * dx
    first = (torch.roll(across, -1, 0) - torch.roll(across, 1, 0)) / (2 * h)
    second = (torch.roll(along, -1, 1) - torch.roll(along, 1, 1)) / (2 * h)
    near = lambda f: (sum(torch.roll(f, s, k) for s in (1, -1) for k in (0, 1)) - 4 * f) / h ** 2
    drive = 0.9 / math.pi * torch.atan(10 * (1 - heat))
    change = (first - second + eps ** 2 * near(phase) + phase * (1 - phase) * (phase - 0.5 + drive)) * (dt / slow)
    return phase + change, heat + dt * near(heat) + latent * change


def dendrite_phase(eager):
    def make():
        side = S(2048, 24)
        f = freeze if eager else compiled(freeze)
        y, x = torch.meshgrid(*[torch.arange(side, device=D) - side / 2] * 2, indexing="ij")
        phase, heat = ((x ** 2 + y ** 2).sqrt() < side / 8).float(), torch.zeros(side, side, device=D)

        @torch.no_grad()
        def step():
            a, b = phase, heat
            for _ in range(S(4, 2)):
                a, b = f(a, b)
            return a
        return step
    return make


# Replies of a language model drawn for many requests at once, with penalties, a temperature each and min-p: eager, or compiled; the head is a product.
def choose(logits, counts, repeat, often, present, heat, least, race):
    logits, seen = logits.float(), counts > 0
    logits = torch.where(seen, torch.where(logits > 0, logits / repeat, logits * repeat), logits)
    logits = (logits - often * counts - present * seen) / heat
    p = logits.softmax(-1)
    p = p.masked_fill(p < least * p.amax(-1, keepdim=True), 0.0)
    token = (p / race).argmax(-1, keepdim=True)
    return token, p.gather(-1, token) / p.sum(-1, keepdim=True)


def replies_sampled(eager):
    def make():
        asked, words, d = S(128, 4), S(128256, 50), S(4096, 16)
        f, head = choose if eager else compiled(choose), built(lambda: nn.Linear(d, words, bias=False), BF)
        h, counts, one = noise(asked, d, dtype=BF), torch.zeros(asked, words, dtype=torch.int32, device=D), torch.ones(asked, 1, dtype=torch.int32, device=D)
        limits = ((1, 0.3), (0, 0.5), (0, 0.5), (0.5, 0.7), (0.02, 0.08))
        repeat, often, present, heat, least = (low + wide * torch.rand(asked, 1, device=D) for low, wide in limits)

        @torch.no_grad()
        def step():
            race = torch.empty(asked, words, device=D).exponential_()
            token, p = f(head(h), counts, repeat, often, present, heat, least, race)
            counts.scatter_add_(1, token, one)
            return p
        return step
    return make


# What goes into a basket: crossed features, experts and gates for clicks, baskets and orders, trained; eager, or the model with its loss compiled.
class Baskets(nn.Module):
    def __init__(self, fields, rows, d, dense, crosses, experts, wide, tasks):
        super().__init__()
        width = fields * d + dense
        self.embed, self.dense = nn.Embedding(fields * rows, d), nn.BatchNorm1d(dense)
        self.register_buffer("starts", torch.arange(fields) * rows)
        self.crosses = nn.ModuleList([nn.Linear(width, width) for _ in range(crosses)])
        self.first = nn.Parameter(torch.randn(experts, width, wide) / width ** 0.5)
        self.second = nn.Parameter(torch.randn(experts, wide, wide // 2) / wide ** 0.5)
        self.gates, self.tasks, self.experts = nn.Linear(width, tasks * experts), tasks, experts
        self.heads = nn.ModuleList([nn.Sequential(nn.Linear(wide // 2, 64), nn.LayerNorm(64), nn.SiLU(), nn.Linear(64, 1)) for _ in range(tasks)])

    def forward(self, ids, dense):
        first = x = torch.cat([self.embed(ids + self.starts).flatten(1), self.dense(torch.log1p(dense))], 1)
        for cross in self.crosses:
            x = first * cross(x) + x
        told = F.relu(torch.einsum("bei,eio->beo", F.relu(torch.einsum("bi,eio->beo", x, self.first)), self.second))
        gates = self.gates(x).unflatten(-1, (self.tasks, self.experts)).softmax(-1)
        mixed = torch.einsum("bte,beo->bto", gates.to(told.dtype), told)
        return [head(mixed[:, i]).squeeze(-1).float() for i, head in enumerate(self.heads)]


def basket_crosses(eager):
    def make():
        seen, fields, rows, dense = S(16384, 12), S(26, 4), S(16384, 20), S(32, 4)
        m = built(lambda: Baskets(fields, rows, S(32, 4), dense, S(3, 1), S(6, 2), S(512, 8), 3))
        ids, numbers, labels = draw(rows, seen, fields), torch.rand(seen, dense, device=D) * 100, draw(2, 3, seen).float()

        def loss(ids, numbers, labels):
            click, basket, order = (F.logsigmoid(a) for a in m(ids, numbers))
            total = 0.0
            for y, logp in zip(labels, (click, click + basket, click + basket + order)):
                total = total - (y * logp + (1 - y) * torch.log1p(-torch.exp(logp).clamp(max=1 - 1e-6))).mean()
            return total
        f = loss if eager else compiled(loss)
        return training(m, lambda: f(ids, numbers, labels))
    return make


# Deeds of a land register read whole, bfloat16: wide layers with gated perceptrons and scaled branches; eager, or the model compiled.
class Scaled(nn.Module):
    def __init__(self, d, heads, wide):
        super().__init__()
        self.n1, self.n2, self.look, self.mlp = nn.LayerNorm(d), nn.LayerNorm(d), Attend(d, heads), Gated(d, wide, F.gelu)
        self.one, self.two = nn.Parameter(torch.full((d,), 0.1)), nn.Parameter(torch.full((d,), 0.1))

    def forward(self, x):
        x = x + self.one * self.look(self.n1(x))
        return x + self.two * self.mlp(self.n2(x))


def deeds_reader(eager):
    def make():
        d = S(2048, 16)
        m = built(lambda: nn.Sequential(*[Scaled(d, S(16, 2), S(5632, 24)) for _ in range(S(4, 1))], nn.LayerNorm(d), nn.Linear(d, S(64, 4))), BF).eval()
        return inference(m if eager else compiled(m), noise(S(8, 2), S(1024, 6), d, dtype=BF))
    return make


# ---- The host waits for the device: the value is kept there -------------------------------------------------------------------


# A language model with heads that guess ahead, captured in a graph: how many guesses were right is fetched after each round, or stays on the device.
class Guessing(nn.Module):
    def __init__(self, words, d, heads, layers, length, ahead):
        super().__init__()
        self.speak = Speaking(words, d, heads, layers, length, lambda: Gated(d, 3 * d))
        self.guess = nn.ModuleList([nn.Linear(d, d) for _ in range(ahead)])

    def forward(self, ids, at, kept):
        x = self.speak(ids, at, kept)[0]
        return torch.stack([self.speak.head(h).argmax(-1) for h in (x, *(x + F.silu(guess(x)) for guess in self.guess))])


def medusa_accepts(fetched):
    def make():
        words, d, heads, layers, length, ahead, start = S(32000, 40), S(2048, 16), S(16, 2), S(4, 1), S(2048, 32), 4, S(900, 8)
        m = built(lambda: Guessing(words, d, heads, layers, length, ahead), BF).eval()
        kept, first, at = caches(layers, 1, heads, length, d // heads), draw(words, 1, ahead + 1), torch.full((1,), start, device=D)
        ids = first.clone()
        with torch.no_grad():
            f = replayed(lambda: m(ids, at, kept))

        @torch.no_grad()
        def step():
            ids.copy_(first)
            at.fill_(start)
            for _ in range(S(16, 3)):
                told = f()
                right = (ids[0, 1:] == told[0, :-1]).long().cumprod(0).sum(0, keepdim=True)
                if fetched:
                    right = right.item()
                    ids.copy_(told[:, right:right + 1].T)
                else:
                    ids.copy_(told.index_select(1, right).T)
                at.add_(right + 1)
            return ids
        return step
    return make


# What pupils will answer next, in training: norm of the gradients and loss fetched in each step, to clip and to report, or kept on the device.
class Pupils(nn.Module):
    def __init__(self, tasks, d, heads, layers, length):
        super().__init__()
        self.tasks, self.asked, self.done = tasks, nn.Embedding(tasks, d), nn.Embedding(2 * tasks, d)
        self.places = nn.Parameter(torch.randn(length, d) * 0.02)
        self.layers, self.norm, self.head = blocks(d, heads, layers), nn.LayerNorm(d), nn.Linear(d, 1)
        self.later = later_than(length)

    def forward(self, tasks, right):
        done = F.pad(self.done(tasks + self.tasks * right)[:, :-1], (0, 0, 1, 0))
        x = through(self.layers, done + self.asked(tasks) + self.places, later=self.later)
        return self.head(self.norm(x)).squeeze(-1)


def pupils_tracing(fetched):
    def make():
        tasks, t, batch = S(2000, 20), S(200, 6), S(96, 3)
        m = built(lambda: Pupils(tasks, S(256, 8), S(8, 2), S(4, 1), t))
        optimizer, asked, right, report = torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True), draw(tasks, batch, t), draw(2, batch, t), [0.0]

        def step():
            optimizer.zero_grad(set_to_none=True)
            with autocast():
                loss = F.binary_cross_entropy_with_logits(m(asked, right).float(), right.float())
            loss.backward()
            grads = [p.grad for p in m.parameters() if p.grad is not None]
            norm = torch.nn.utils.get_total_norm(grads)
            if fetched:
                norm = norm.item()
                torch._foreach_mul_(grads, min(1.0, 0.5 / (norm + 1e-6)))
            else:
                torch._foreach_mul_(grads, (0.5 / (norm + 1e-6)).clamp(max=1.0))
            optimizer.step()
            report[0] = 0.98 * report[0] + 0.02 * (loss.item() if fetched else loss.detach())
            return loss.detach()
        return step
    return make


# Reserves of power plants for many weathers at once, a quadratic program by ADMM: residuals fetched in each round to set its weight, or compared on the device.
def reserves_admm(fetched):
    def make():
        plants, weathers, rounds = S(8192, 24), S(64, 3), S(25, 4)
        mirror = lambda v: torch.eye(plants, device=D) - 2 * torch.outer(v, v) / (v @ v)
        ways, cost = mirror(noise(plants)) @ mirror(noise(plants)), 0.1 + torch.rand(plants, 1, device=D)
        price, low = noise(plants, weathers), -torch.rand(plants, weathers, device=D)
        high = low + torch.rand(plants, weathers, device=D)

        @torch.no_grad()
        def step():
            z, u = torch.zeros_like(price), torch.zeros_like(price)
            weight = 0.2 if fetched else torch.full((), 0.2, device=D)
            for _ in range(rounds):
                x = ways @ (ways.T @ (weight * (z - u) - price) / (cost + weight))
                old, z = z, torch.clamp(x + u, low, high)
                u = u + x - z
                off, moved = (x - z).norm(), weight * (z - old).norm()
                if fetched:
                    off, moved = off.item(), moved.item()
                    grow = 2.0 if off > 5 * moved else 0.5 if moved > 5 * off else 1.0
                else:
                    grow = torch.where(off > 5 * moved, 2.0, torch.where(moved > 5 * off, 0.5, 1.0))
                weight, u = weight * grow, u / grow
            return z
        return step
    return make


# ---- Many launches: captured in a CUDA graph ----------------------------------------------------------------------------------


# One token for each of sixteen chats by a mixture of experts: op by op, or captured.
class Mixture(nn.Module):
    def __init__(self, d, wide, experts, top):
        super().__init__()
        self.top, self.gate = top, nn.Linear(d, experts, bias=False)
        self.up, self.down = nn.Parameter(torch.randn(experts, d, 2 * wide) / d ** 0.5), nn.Parameter(torch.randn(experts, wide, d) / wide ** 0.5)

    def forward(self, x):
        weight, which = self.gate(x).float().softmax(-1).topk(self.top, -1)
        share = torch.zeros(*x.shape[:-1], len(self.up), device=x.device).scatter(-1, which, weight / weight.sum(-1, keepdim=True))
        a, b = torch.einsum("btd,edf->ebtf", x, self.up).chunk(2, -1)
        y = torch.einsum("ebtf,efd->ebtd", F.silu(a) * b, self.down)
        return (y * share.to(x.dtype).permute(2, 0, 1).unsqueeze(-1)).sum(0)


def mixture_decode(captured):
    def make():
        words, d, heads, layers, length, batch = S(32000, 40), S(1024, 16), S(16, 2), S(6, 2), S(1024, 16), S(16, 2)
        m = built(lambda: Speaking(words, d, heads, layers, length, lambda: Mixture(d, S(768, 8), S(8, 4), 2)), BF).eval()
        kept, ids, at = caches(layers, batch, heads, length, d // heads), draw(words, batch, 1), torch.full((1,), length - 4, device=D)
        step = inference(lambda: m.head(m(ids, at, kept))[:, -1].float())
        return replayed(step) if captured else step
    return make


# Tomorrow's peaks of a grid, asked by a control room: a small model of gates and attention, compiled as it is, or with mode="reduce-overhead".
class Gate(nn.Module):
    def __init__(self, i, d, o):
        super().__init__()
        self.a, self.b, self.gate, self.skip, self.norm = nn.Linear(i, d), nn.Linear(d, d), nn.Linear(d, 2 * o), nn.Linear(i, o), nn.LayerNorm(o)

    def forward(self, x):
        return self.norm(self.skip(x) + F.glu(self.gate(self.b(F.elu(self.a(x)))), -1))


class Peaks(nn.Module):
    def __init__(self, seen, d, heads, layers, length):
        super().__init__()
        self.each, self.weigh = nn.ModuleList([Gate(4, d, d) for _ in range(seen)]), Gate(4 * seen, d, seen)
        self.layers, self.end, self.head, self.later = blocks(d, heads, layers), Gate(d, d, d), nn.Linear(d, 3), later_than(length)

    def forward(self, x):
        told = torch.stack([gate(x[:, :, i]) for i, gate in enumerate(self.each)], -1)
        x = (told * self.weigh(x.flatten(2)).softmax(-1).unsqueeze(2)).sum(-1)
        return self.head(self.end(through(self.layers, x, later=self.later)))[:, -24:]


def peaks_forecast(captured):
    def make():
        seen, t = S(6, 2), S(192, 30)
        m = built(lambda: Peaks(seen, S(128, 8), S(4, 2), S(3, 1), t)).eval()
        return inference(compiled(m, mode="reduce-overhead") if captured else compiled(m), noise(S(16, 2), t, seen, 4))
    return make


# ---- The optimizer: fused=True ------------------------------------------------------------------------------------------------


# Essays scored by an encoder that is tuned further, each layer with a rate of its own: AdamW over many groups as it comes, or fused.
class Essays(nn.Module):
    def __init__(self, words, d, heads, layers, length, marks):
        super().__init__()
        self.embed, self.places, self.first = nn.Embedding(words, d), nn.Parameter(torch.randn(length, d) * 0.02), nn.LayerNorm(d)
        self.layers, self.pool, self.head = blocks(d, heads, layers), nn.Sequential(nn.Linear(d, d), nn.Tanh()), nn.Linear(d, marks)

    def forward(self, ids):
        return self.head(self.pool(through(self.layers, self.first(self.embed(ids) + self.places))[:, 0]))


def groups_of(m, rate, less=0.9):
    """Lower layers learn more slowly; biases and norms decay by nothing."""
    groups, parts = [], [m.embed, m.first, *m.layers, m.pool, m.head]
    for depth, part in enumerate(reversed(parts)):
        flat = [p for p in part.parameters() if p.ndim < 2]
        full = [p for p in part.parameters() if p.ndim > 1]
        groups += [dict(params=ps, lr=rate * less ** depth, weight_decay=decay) for ps, decay in ((full, 0.01), (flat, 0.0)) if ps]
    return groups + [dict(params=[m.places], lr=rate * less ** len(parts), weight_decay=0.0)]


def essays_groups(as_it_comes):
    def make():
        words, t, batch, marks = S(30528, 40), S(384, 6), S(16, 2), S(8, 4)
        m = built(lambda: Essays(words, S(768, 16), S(12, 2), S(6, 1), t, marks))
        ids, marked = draw(words, batch, t), (torch.arange(marks, device=D) < draw(marks, batch).unsqueeze(1)).float()
        optimizer = torch.optim.AdamW(groups_of(m, 1e-5), **({} if as_it_comes else dict(fused=True)))
        return training(m, lambda: F.binary_cross_entropy_with_logits(m(ids).float(), marked), optimizer)
    return make


# How far points are from a scanned figure's surface, tables of features found by hashing and a small perceptron, compiled: Adam as it comes, or fused.
class Hashed(nn.Module):
    def __init__(self, levels, size, features, d):
        super().__init__()
        self.size, self.table = size, nn.Parameter((torch.rand(levels * size, features) - 0.5) * 0.2)
        self.register_buffer("scales", torch.floor(16 * 1.4 ** torch.arange(levels)))
        self.register_buffer("starts", torch.arange(levels) * size)
        self.register_buffer("corners", torch.tensor([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)]))
        self.net = nn.Sequential(nn.Linear(levels * features, d), nn.ReLU(), nn.Linear(d, d), nn.ReLU(), nn.Linear(d, 1))

    def forward(self, x):
        at = x.unsqueeze(1) * self.scales.unsqueeze(1)
        low = at.floor()
        part, (a, b, c) = (at - low).unsqueeze(2), (low.long().unsqueeze(2) + self.corners).unbind(-1)
        rows = (a ^ (b * 2654435761) ^ (c * 805459861)) % self.size + self.starts.unsqueeze(1)
        weight = torch.where(self.corners == 1, part, 1 - part).prod(-1)
        return self.net((F.embedding(rows, self.table) * weight.unsqueeze(-1)).sum(2).flatten(1))


def grids_hashed(as_it_comes):
    def make():
        rows, levels = S(98304, 12), S(16, 2)
        m = built(lambda: Hashed(levels, S(1 << 20, 64), 2, S(64, 8)))
        x = torch.rand(rows, 3, device=D)
        y = (x - 0.5).norm(dim=-1, keepdim=True) - 0.3
        f = compiled(lambda x, y: ((m(x) - y).abs() / (y.abs() + 0.01)).mean())
        optimizer = torch.optim.Adam(m.parameters(), lr=1e-5, betas=(0.9, 0.99), eps=1e-15, **({} if as_it_comes else dict(fused=True)))
        return training(m, lambda: f(x, y), optimizer, cast=False)
    return make


# ---- Input: workers and pinned memory -------------------------------------------------------------------------------------------


def fed(m, dataset, batch, loss_of, workers, pin):
    """Training from a data loader."""
    more = dict(num_workers=S(workers, 1), persistent_workers=True, prefetch_factor=2, pin_memory=pin and not DRY) if workers else {}
    batches, optimizer = iter(torch.utils.data.DataLoader(dataset, batch_size=batch, **more)), torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True)

    def step():
        x, y = (t.to(D, non_blocking=True) for t in next(batches))
        optimizer.zero_grad(set_to_none=True)
        with autocast():
            loss = loss_of(m(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()
    return step


# Lines of handwriting, letters put on paper, bent, slanted and soiled for each item, read by convolutions and LSTMs: in the process itself, or by workers.
class Handwriting(torch.utils.data.Dataset):
    def __init__(self, high, wide, letters, kinds):
        rng = np.random.default_rng(41)
        self.letters, self.shapes = letters, (rng.random((kinds, high, wide // letters)) > 0.7).astype(np.float32)
        self.y, self.x = np.mgrid[:high, :wide // letters * letters].astype(np.float32)

    def __len__(self):
        return 1000000

    def __getitem__(self, i):
        rng = np.random.default_rng(i)
        text = rng.integers(1, len(self.shapes), self.letters)
        ink, (high, wide) = np.concatenate(list(self.shapes[text]), 1), self.x.shape
        slant, bend, phase = rng.normal(0, 0.2), rng.normal(0, 2.0), rng.uniform(0, 6.28)
        x = np.clip(self.x + np.float32(slant) * (self.y - high / 2), 0, wide - 1.001)
        y = np.clip(self.y + (bend * np.sin(self.x[0] / 60 + phase)).astype(np.float32), 0, high - 1.001)
        x0, y0 = x.astype(np.int32), y.astype(np.int32)
        (fx, fy), at = (x - x0.astype(np.float32), y - y0.astype(np.float32)), y0 * wide + x0
        a, b, c, d = (ink.ravel().take(at + more) for more in (0, 1, wide, wide + 1))
        bent = (1 - fy) * ((1 - fx) * a + fx * b) + fy * ((1 - fx) * c + fx * d)
        page = (0.9 + 0.05 * rng.standard_normal(bent.shape, np.float32)) * (1 - rng.uniform(0.6, 0.95) * bent)
        page[:, 1:-1] = 0.25 * page[:, :-2] + 0.5 * page[:, 1:-1] + 0.25 * page[:, 2:]
        return torch.from_numpy(((page - page.mean()) / page.std()).astype(np.float32)[None]), torch.from_numpy(text)


class Reading(nn.Module):
    def __init__(self, high, c, d, kinds):
        super().__init__()
        block = lambda i, o, pool: nn.Sequential(nn.Conv2d(i, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True), nn.MaxPool2d(pool))
        self.enter = nn.Sequential(block(1, c, 2), block(c, 2 * c, 2), block(2 * c, 4 * c, (2, 1)), block(4 * c, 4 * c, (2, 1)))
        self.pass_on, self.lstm, self.head = nn.Linear(4 * c * (high // 16), d), nn.LSTM(d, d, 2, batch_first=True, bidirectional=True), nn.Linear(2 * d, kinds)

    def forward(self, x):
        h = self.enter(x.to(memory_format=torch.channels_last)).permute(0, 3, 1, 2).flatten(2)
        return self.head(self.lstm(self.pass_on(h))[0])


def handwriting_loader(workers):
    def make():
        high, wide, letters, kinds, batch = S(64, 16), S(512, 64), S(16, 4), S(96, 8), S(12, 2)
        m = last(built(lambda: Reading(high, S(64, 4), S(384, 8), kinds)))

        def loss_of(told, text):
            chances = told.float().log_softmax(-1).transpose(0, 1)
            return F.ctc_loss(chances, text, (chances.shape[0],) * batch, (letters,) * batch, zero_infinity=True)
        return fed(m, Handwriting(high, wide, letters, kinds), batch, loss_of, workers, workers > 0)
    return make


# Shapes out of a catalogue of meshes, points drawn on their faces and a few far from each other found: by two workers, or by twelve and with pinned memory.
class Surfaces(torch.utils.data.Dataset):
    def __init__(self, shapes, corners, faces, points, far):
        rng = np.random.default_rng(42)
        self.points, self.far, self.faces = points, far, rng.integers(0, corners, (shapes, faces, 3))
        round_ = rng.standard_normal((shapes, corners, 3))
        self.corners = (round_ / np.linalg.norm(round_, axis=-1, keepdims=True) * rng.uniform(0.5, 1, (shapes, 1, 3))).astype(np.float32)

    def __len__(self):
        return 1000000

    def __getitem__(self, i):
        rng, which = np.random.default_rng(i), i % len(self.faces)
        a, b, c = self.corners[which][self.faces[which]].transpose(1, 0, 2)
        size = np.linalg.norm(np.cross(b - a, c - a), axis=1)
        picked = rng.choice(len(size), self.points, p=size / size.sum())
        u, v = rng.random((2, self.points, 1))
        u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
        x = a[picked] + u * (b - a)[picked] + v * (c - a)[picked]
        x = (x - x.mean(0)) / np.abs(x).max()
        turn = rng.uniform(0, 6.28)
        x = x @ np.array([[np.cos(turn), 0, np.sin(turn)], [0, 1, 0], [-np.sin(turn), 0, np.cos(turn)]]) + rng.normal(0, 0.01, x.shape)
        first, away = [0], np.full(self.points, np.inf)
        for _ in range(self.far - 1):
            apart = x - x[first[-1]]
            away = np.minimum(away, np.einsum("pk,pk->p", apart, apart))
            first.append(int(away.argmax()))
        return torch.from_numpy(np.concatenate([x[first], np.delete(x, first, 0)]).astype(np.float32)), which % 40


class Shapes(nn.Module):
    def __init__(self, far, near, d, heads, layers, kinds):
        super().__init__()
        self.far, self.near, self.layers, self.head = far, near, blocks(d, heads, layers), nn.Sequential(nn.LayerNorm(d), nn.Linear(d, kinds))
        two = lambda i, mid: nn.Sequential(nn.Linear(i, mid), nn.GELU(), nn.Linear(mid, d))
        self.each, self.both, self.place = two(3, d // 2), two(2 * d, d), two(3, d)

    def forward(self, x):
        middle = x[:, :self.far]
        near = torch.cdist(middle, x).topk(self.near, -1, largest=False)[1]
        patch = x.gather(1, near.flatten(1).unsqueeze(-1).expand(-1, -1, 3)).unflatten(1, (self.far, self.near)) - middle.unsqueeze(2)
        h = self.each(patch)
        h = self.both(torch.cat([h, h.amax(2, keepdim=True).expand_as(h)], -1)).amax(2)
        return self.head(through(self.layers, h + self.place(middle)).mean(1))


def shapes_workers(workers):
    def make():
        points, far, batch = S(1024, 40), S(64, 6), S(20, 3)
        m = built(lambda: Shapes(far, S(32, 4), S(384, 16), S(6, 2), S(5, 1), 40))
        dataset = Surfaces(S(64, 4), S(1000, 40), S(2000, 60), points, far)
        return fed(m, dataset, batch, lambda told, y: F.cross_entropy(told.float(), y), workers, workers > 2)
    return make


# ---- Attention by hand: scaled_dot_product_attention --------------------------------------------------------------------------


# Ledgers with the boxes of their words, attention that is biased by how far they lie apart in both directions, bfloat16: written out, or the library's kernel.
class Ledgers(nn.Module):
    def __init__(self, words, d, heads, layers, spans, by_hand):
        super().__init__()
        self.spans, self.embed, self.x, self.y = spans, nn.Embedding(words, d), nn.Embedding(1024, d), nn.Embedding(1024, d)
        self.across, self.down, self.norm = nn.Embedding(2 * spans + 1, heads), nn.Embedding(2 * spans + 1, heads), nn.LayerNorm(d)
        self.layers, self.head = blocks(d, heads, layers, by_hand), nn.Linear(d, 16)

    def forward(self, ids, x, y):
        apart = lambda p: ((p.unsqueeze(1) - p.unsqueeze(2)) // 16).clamp(-self.spans, self.spans) + self.spans
        bias = (self.across(apart(x)) + self.down(apart(y))).permute(0, 3, 1, 2).contiguous()
        return self.head(through(self.layers, self.norm(self.embed(ids) + self.x(x) + self.y(y)), bias))


def ledgers_boxes(by_hand):
    def make():
        words, t, batch = S(50304, 40), S(512, 6), S(12, 2)
        m = built(lambda: Ledgers(words, S(768, 16), S(12, 2), S(6, 2), S(32, 4), by_hand), BF).eval()
        return inference(m, draw(words, batch, t), draw(1024, batch, t), draw(1024, batch, t))
    return make


# What somebody puts on a wish list next, from what they looked at before, trained in float32 with TF32: attention written out, or the library's kernel.
class Wishes(nn.Module):
    def __init__(self, things, d, heads, layers, length, by_hand):
        super().__init__()
        self.embed, self.places, self.later = nn.Embedding(things, d), nn.Parameter(torch.randn(length, d) * 0.02), later_than(length)
        self.layers, self.norm = blocks(d, heads, layers, by_hand), nn.LayerNorm(d)

    def forward(self, seen, next_, others):
        x = self.norm(through(self.layers, self.embed(seen) * self.embed.weight.shape[1] ** 0.5 + self.places, later=self.later))
        return (x * self.embed(next_)).sum(-1), (x * self.embed(others)).sum(-1)


def wishlist_attention(by_hand):
    def make():
        things, t, batch = S(60000, 50), S(200, 6), S(256, 3)
        m = built(lambda: Wishes(things, S(128, 8), S(4, 2), S(2, 1), t, by_hand))
        seen, next_, others = (draw(things, batch, t) for _ in range(3))

        def loss_of():
            liked, other = m(seen, next_, others)
            return -(F.logsigmoid(liked) + F.logsigmoid(-other)).mean()
        return training(m, loss_of, cast=False)
    return make


# ---- Casts of weights: once ---------------------------------------------------------------------------------------------------


# The best of a shop's catalogue for each visitor: the vectors of all things, kept in float32, are cast for each request, or once when they are loaded.
def catalogue_topk(cast_each):
    def make():
        things, d, batch, t = S(600000, 60), S(256, 16), S(128, 3), S(64, 5)
        items, looks = noise(things, d) / d ** 0.5, built(lambda: blocks(d, S(8, 2), S(3, 1)), BF).eval()
        if not cast_each:
            items = items.to(BF)
        visits, later = draw(things, batch, t), later_than(t)

        @torch.no_grad()
        def step():
            seen = items[visits].to(BF)
            who = through(looks, seen, later=later)[:, -1]
            return (who @ items.to(BF).T).topk(S(100, 5), -1)[0]
        return step
    return make


# Sums worked out by a model that passes through the same two layers again and again, in training: weights cast in each pass, or once before the loop.
class Looped(nn.Module):
    def __init__(self, words, d, heads, layers, passes, cast_each):
        super().__init__()
        self.heads, self.passes, self.cast_each, self.embed, self.head = heads, passes, cast_each, nn.Embedding(words, d), nn.Linear(d, words, bias=False)
        sizes = [(2 * d, d), (3 * d, d), (d, d), (4 * d, d), (d, 4 * d)]
        self.weights = nn.ParameterList([nn.Parameter(torch.randn(o, i) * 0.7 / i ** 0.5) for o, i in sizes[:1] + sizes[1:] * layers])

    def forward(self, ids):
        first = self.embed(ids).to(BF)
        weights = list(self.weights)
        if not self.cast_each:
            weights = [w.to(BF) for w in weights]
        linear = lambda x, w: F.linear(x, w.to(x.dtype))
        norm = lambda x: F.rms_norm(x, x.shape[-1:])
        x = first
        for _ in range(self.passes):
            gate, hold = linear(norm(x), weights[0]).chunk(2, -1)
            x = x + torch.sigmoid(gate) * (first - hold)
            for i in range(1, len(weights), 4):
                q, k, v = linear(norm(x), weights[i]).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
                y = F.scaled_dot_product_attention(norm(q), norm(k), v, is_causal=True)
                x = x + linear(y.transpose(1, 2).flatten(2), weights[i + 1])
                x = x + linear(F.relu(linear(norm(x), weights[i + 2])).square(), weights[i + 3])
        return F.linear(norm(x).float(), self.head.weight)


def sums_looped(cast_each):
    def make():
        words, t, batch = S(256, 20), S(256, 6), S(8, 2)
        m = built(lambda: Looped(words, S(1024, 16), S(16, 2), S(2, 1), S(6, 2), cast_each))
        ids, labels = draw(words, batch, t), draw(words, batch * t)
        return training(m, lambda: F.cross_entropy(m(ids).flatten(0, 1), labels), cast=False)
    return make


# ---- Copies and memory ----------------------------------------------------------------------------------------------------------


# Gusts at wind farms told from forecasts of the weather around them, half precision on the host: sent from ordinary memory, or from pinned memory.
class Gusts(nn.Module):
    def __init__(self, seen, c, farms, parts):
        super().__init__()
        block = lambda i, o, s: nn.Sequential(nn.Conv2d(i, o, 3, s, 1, bias=False), nn.BatchNorm2d(o), nn.SiLU(inplace=True))
        self.mean, self.spread = (nn.Parameter(torch.full((seen, 1, 1), value), requires_grad=False) for value in (0.1, 1.1))
        self.enter = nn.Sequential(*[part for i, o in ((seen, c), (c, 2 * c), (2 * c, 4 * c)) for part in (block(i, o, 2), block(o, o, 1))])
        self.head, self.parts = nn.Linear(4 * c, farms * parts), parts

    def forward(self, x):
        h = self.enter(last((x.float() - self.mean) / self.spread))
        return self.head(h.mean((2, 3))).unflatten(-1, (-1, self.parts))


def gusts_upload(ordinary):
    def make():
        batch, seen, side, farms, turn = S(64, 2), S(24, 4), S(128, 16), S(48, 4), [0]
        m, parts = last(built(lambda: Gusts(seen, S(160, 8), farms, 5))), torch.linspace(0.1, 0.9, 5, device=D)
        optimizer = torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True)
        batches = [(torch.randn(batch, seen, side, side).half(), torch.rand(batch, farms, 1)) for _ in range(2)]
        if not ordinary:
            batches = [tuple(pinned(t) for t in both) for both in batches]

        def step():
            turn[0] = (turn[0] + 1) % 2
            x, y = (t.to(D, non_blocking=True) for t in batches[turn[0]])
            optimizer.zero_grad(set_to_none=True)
            with autocast():
                off = y - m(x).float()
                loss = torch.maximum(parts * off, (parts - 1) * off).mean()
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# Surfaces of furniture learned as distances, a code for each piece: memory given back to the driver behind each step of training, or kept.
class Furniture(nn.Module):
    def __init__(self, pieces, code, d, layers):
        super().__init__()
        self.codes, self.first = nn.Embedding(pieces, code), nn.Linear(code + 3, d)
        self.low, self.high = (nn.ModuleList([nn.Linear(d, d) for _ in range(layers)]) for _ in range(2))
        self.again, self.out = nn.Linear(d + code + 3, d), nn.Linear(d, 1)

    def forward(self, which, at):
        seen = torch.cat([self.codes(which).unsqueeze(1).expand(-1, at.shape[1], -1), at], -1)
        x = F.relu(self.first(seen))
        for layer in self.low:
            x = F.relu(layer(x))
        x = F.relu(self.again(torch.cat([x, seen], -1)))
        for layer in self.high:
            x = F.relu(layer(x))
        return torch.tanh(self.out(x)).squeeze(-1)


def surfaces_emptied(empty):
    def make():
        pieces, batch, places = S(512, 6), S(24, 2), S(8192, 12)
        m = built(lambda: Furniture(pieces, S(253, 5), S(512, 8), 2))
        which, at, goal = draw(pieces, batch), noise(batch, places, 3), 0.1 * noise(batch, places)

        def loss_of():
            told = m(which, at).float()
            return F.l1_loss(told.clamp(-0.1, 0.1), goal.clamp(-0.1, 0.1)) + 1e-4 * m.codes(which).float().square().sum(-1).mean()
        learn = training(m, loss_of)

        def step():
            loss = learn()
            if empty and not DRY:
                torch.cuda.empty_cache()
            return loss
        return step
    return make


# ---- Compiled code that is left and entered again -----------------------------------------------------------------------------


# Scripts of many languages told apart in pictures of words, compiled: each part tells the log what it made, or the lines are taken out.
class Scripts(nn.Module):
    def __init__(self, seen, d, heads, layers, kinds, telling):
        super().__init__()
        self.telling, self.enter, self.norm, self.mix = telling, nn.Linear(seen, d), nn.LayerNorm(d), nn.Conv1d(d, d, 5, 1, 2, groups=d)
        self.low, self.high, self.asks, self.head = blocks(d, heads, layers), blocks(d, heads, layers), nn.Linear(d, 1), nn.Linear(d, kinds)

    def tell(self, what, x):
        if self.telling:
            log.debug("%s: %s %s", what, tuple(x.shape), x.dtype)

    def forward(self, x):
        x = self.enter(x)
        x = self.norm(x + F.gelu(self.mix(x.transpose(1, 2)).transpose(1, 2)))
        self.tell("columns", x)
        x = through(self.low, x)
        self.tell("lower layers", x)
        x = through(self.high, x)
        self.tell("upper layers", x)
        x = (self.asks(x).softmax(1) * x).sum(1)
        self.tell("words", x)
        return self.head(x)


def scripts_logged(telling):
    def make():
        seen, t = S(128, 8), S(160, 6)
        f = compiled(built(lambda: Scripts(seen, S(512, 16), S(8, 2), S(2, 1), S(48, 4), telling), BF).eval())
        return inference(f, noise(S(24, 2), t, seen, dtype=BF))
    return make


# A machine watched by sensors of which some are silent, compiled, trained: what is missing is filled in only where something is, or always.
class Filled(nn.Module):
    def __init__(self, d, heads, asking):
        super().__init__()
        self.asking, self.block, self.silent = asking, Block(d, heads), nn.Parameter(torch.randn(d) * 0.02)

    def forward(self, x, missing):
        if not self.asking or missing.any():
            x = torch.where(missing, self.silent.to(x.dtype), x)
        return self.block(x)


class Machine(nn.Module):
    def __init__(self, seen, d, heads, layers, asking):
        super().__init__()
        self.enter, self.layers, self.head = nn.Linear(seen, d), nn.ModuleList([Filled(d, heads, asking) for _ in range(layers)]), nn.Linear(d, seen)

    def forward(self, x, missing):
        h = self.enter(x)
        for layer in self.layers:
            h = layer(h, missing)
        return self.head(h)


def sensors_missing(asking):
    def make():
        seen, t, batch = S(64, 4), S(256, 6), S(48, 2)
        m, x, missing = built(lambda: Machine(seen, S(384, 8), S(6, 2), S(3, 2), asking)), noise(batch, t, seen), torch.rand(batch, t, 1, device=D) < 0.1
        f = compiled(m)
        return training(m, lambda: F.mse_loss(f(x, missing).float(), x))
    return make


# ---- What is done one by one or again -------------------------------------------------------------------------------------------


# Laminates of carbon fibre designed by a net that gives each ply its angle: stiffness summed in a loop over plies, or in one product.
def stiffness(angle, parts):
    """Of plies turned by an angle: the six numbers of a ply by its invariants."""
    return torch.stack([torch.ones_like(angle), torch.cos(2 * angle), torch.cos(4 * angle), torch.sin(2 * angle), torch.sin(4 * angle)], -1) @ parts


def laminates_plies(one_by_one):
    def make():
        designs, asked, d, plies = S(8192, 6), S(32, 4), S(2048, 8), S(32, 4)
        m = built(lambda: nn.Sequential(nn.Linear(asked, d), nn.SiLU(), nn.Linear(d, d), nn.SiLU(), nn.Linear(d, d), nn.SiLU(), nn.Linear(d, plies)))
        u1, u2, u3, u4, u5 = 76.4, 85.7, 19.7, 22.6, 26.9
        parts = [[u1, u4, u1, u5, 0, 0], [u2, 0, -u2, 0, 0, 0], [u3, -u3, u3, -u3, 0, 0], [0, 0, 0, 0, u2 / 2, u2 / 2], [0, 0, 0, 0, u3, -u3]]
        parts = torch.tensor(parts, device=D)
        z = [i / plies - 0.5 for i in range(plies + 1)]
        high = [[(b ** n - a ** n) / n for n in (1, 2, 3)] for a, b in zip(z, z[1:])]
        weights, x, goal = torch.tensor(high, device=D), noise(designs, asked), 40 + 20 * noise(designs, 6)

        def loss_of():
            with autocast():
                angle = m(x)
            angle = math.pi / 2 * torch.tanh(angle.float())
            if one_by_one:
                along = both = bend = 0.0
                for ply, (first, second, third) in enumerate(high):
                    q = stiffness(angle[:, ply], parts)
                    along, both, bend = along + first * q, both + second * q, bend + third * q
            else:
                along, both, bend = torch.einsum("bpk,pn->nbk", stiffness(angle, parts), weights).unbind(0)
            load = bend[:, 0] + 2 * (bend[:, 1] + 2 * bend[:, 3]) + bend[:, 2]
            return F.mse_loss(along, goal) / 400 + both.square().mean() - 0.1 * load.mean()
        return training(m, loss_of, cast=False)
    return make


# Views of a statue on a turntable out of a field of light: rays and shading of the lens made for each picture, or once for the camera.
def camera(high, wide, far):
    y, x = torch.meshgrid(torch.linspace(1, -1, high, device=D), torch.linspace(-wide / high, wide / high, wide, device=D), indexing="ij")
    way = F.normalize(torch.stack([x, y, torch.full_like(x, -far)], -1).flatten(0, 1), dim=-1)
    out = (x ** 2 + y ** 2).flatten().unsqueeze(-1)
    return way, 1 - 0.22 * out + 0.03 * out ** 2


def lightfield_rays(each_time):
    def make():
        high, wide, d, views, turn = S(832, 12), S(1024, 16), S(128, 8), 16, [0]
        m = built(lambda: nn.Sequential(nn.Linear(8, d), *[part for _ in range(S(3, 1)) for part in (nn.ReLU(), nn.Linear(d, d))], nn.ReLU(), nn.Linear(d, 4)), BF)
        angle, zero, one = torch.linspace(0, 6, views, device=D), torch.zeros(views, device=D), torch.ones(views, device=D)
        poses = torch.stack([angle.cos(), zero, angle.sin(), zero, one, zero, -angle.sin(), zero, angle.cos()], -1).unflatten(-1, (3, 3))
        places = 2.5 * torch.stack([angle.sin(), zero + 0.3, angle.cos()], -1)
        kept = None if each_time else camera(high, wide, 1.8)

        @torch.no_grad()
        def step():
            turn[0] = (turn[0] + 1) % views
            way, shade = camera(high, wide, 1.8) if each_time else kept
            way = way @ poses[turn[0]].T
            moment = torch.linalg.cross(places[turn[0]].expand_as(way), way)
            told = m(F.pad(torch.cat([way, moment], -1), (0, 2)).to(BF)).float()
            return (torch.sigmoid(told[:, :3]) * shade).unflatten(0, (high, wide))
        return step
    return make


# ---- Healthy ------------------------------------------------------------------------------------------------------------------


# Briefs read by a language model before it answers, bfloat16, compiled: grouped heads, gated perceptrons.
class Brief(nn.Module):
    def __init__(self, d, heads, kept, wide):
        super().__init__()
        self.sizes, self.size, self.n1, self.n2, self.mlp = (heads, kept, kept), d // heads, nn.RMSNorm(d), nn.RMSNorm(d), Gated(d, wide)
        self.qkv, self.out = nn.Linear(d, sum(self.sizes) * self.size, bias=False), nn.Linear(d, d, bias=False)

    def forward(self, x, cos, sin):
        q, k, v = self.qkv(self.n1(x)).unflatten(-1, (-1, self.size)).transpose(1, 2).split(self.sizes, 1)
        y = F.scaled_dot_product_attention(turned(q, cos, sin), turned(k, cos, sin), v, is_causal=True, enable_gqa=True)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.mlp(self.n2(x))


class Briefs(nn.Module):
    def __init__(self, words, d, heads, kept, wide, layers):
        super().__init__()
        self.embed, self.norm, self.head = nn.Embedding(words, d), nn.RMSNorm(d), nn.Linear(d, words, bias=False)
        self.layers = nn.ModuleList([Brief(d, heads, kept, wide) for _ in range(layers)])

    def forward(self, ids, cos, sin):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.head(self.norm(x[:, -1]))


def briefs_prefill():
    words, d, t, heads = S(32000, 40), S(2048, 16), S(2048, 6), S(16, 2)
    m = built(lambda: Briefs(words, d, heads, S(4, 1), S(5632, 24), S(5, 1)), BF).eval()
    return inference(compiled(m), draw(words, S(4, 2), t), *angles(t, d // heads, BF))


# Loads of a region's houses told from patches of what they used before, trained: compiled with its loss, autocast, fused optimizer.
class Tariffs(nn.Module):
    def __init__(self, patch, places, d, heads, layers, ahead):
        super().__init__()
        self.enter, self.places, self.layers = nn.Linear(patch, d), nn.Parameter(torch.randn(places, d) * 0.02), blocks(d, heads, layers)
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, ahead)

    def forward(self, x):
        mean, spread = x.mean((1, 2), keepdim=True), x.std((1, 2), keepdim=True) + 1e-4
        told = self.head(self.norm(through(self.layers, self.enter((x - mean) / spread) + self.places)))
        return told.float() * spread + mean


def tariffs_train():
    batch, places, patch, ahead = S(96, 2), S(256, 6), S(32, 4), S(96, 4)
    m = built(lambda: Tariffs(patch, places, S(1024, 16), S(16, 2), S(4, 1), ahead))
    x, y = noise(batch, places, patch), noise(batch, places, ahead)
    f = compiled(lambda x, y: F.huber_loss(m(x), y))
    return training(m, lambda: f(x, y))


# Facets of objects in a shop's pictures, half precision, compiled, channels last: convolutions with norms that are folded into what stands around them.
class Facet(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        normed = lambda i, o, k, s=1: nn.Sequential(nn.Conv2d(i, o, k, s, k // 2, bias=False), nn.BatchNorm2d(o))
        self.parts = nn.Sequential(normed(i, o // 2, 1), nn.ReLU(), normed(o // 2, o // 2, 3, stride), nn.ReLU(), normed(o // 2, o, 1))
        self.short = nn.Identity() if i == o and stride == 1 else normed(i, o, 1, stride)

    def forward(self, x):
        return F.relu(self.parts(x) + self.short(x))


def facets_infer():
    c, batch, side = S(128, 8), S(192, 2), S(192, 16)
    layers = lambda: [part for i, o, s in ((c, 2 * c, 1), (2 * c, 4 * c, 2), (4 * c, 8 * c, 2)) for part in (Facet(i, o, s), Facet(o, o, 1))]
    whole = lambda: nn.Sequential(nn.Conv2d(8, c, 4, 4), nn.ReLU(), *layers(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8 * c, 64))
    return inference(compiled(last(built(whole, HALF_HERE)).eval()), last(noise(batch, 8, side, side, dtype=HALF_HERE)))


HEALTHY = dict(tariffs_train=tariffs_train, facets_infer=facets_infer, briefs_prefill=briefs_prefill)
PAIRS = dict(
    kettle_radiance=pair(kettle_radiance, True, False), medusa_accepts=pair(medusa_accepts, True, False), essays_groups=pair(essays_groups, True, False),
    handwriting_loader=pair(handwriting_loader, 0, 10), ledgers_boxes=pair(ledgers_boxes, True, False), sums_looped=pair(sums_looped, True, False),
    mixture_decode=pair(mixture_decode, False, True), scripts_logged=pair(scripts_logged, True, False), basket_crosses=pair(basket_crosses, True, False),
    gusts_upload=pair(gusts_upload, True, False), laminates_plies=pair(laminates_plies, True, False), reserves_admm=pair(reserves_admm, True, False),
    dendrite_phase=pair(dendrite_phase, True, False), surfaces_emptied=pair(surfaces_emptied, True, False), lightfield_rays=pair(lightfield_rays, True, False),
    catalogue_topk=pair(catalogue_topk, True, False), replies_sampled=pair(replies_sampled, True, False), peaks_forecast=pair(peaks_forecast, False, True),
    shapes_workers=pair(shapes_workers, 2, 12), wishlist_attention=pair(wishlist_attention, True, False), sensors_missing=pair(sensors_missing, True, False),
    grids_hashed=pair(grids_hashed, True, False), pupils_tracing=pair(pupils_tracing, True, False), deeds_reader=pair(deeds_reader, True, False))
FAULTS = dict(
    kettle_radiance="unfused_pointwise", medusa_accepts="host_sync", essays_groups="optimizer_not_fused", handwriting_loader="dataloader",
    ledgers_boxes="unfused_attention", sums_looped="repeated_casts", mixture_decode="launch_bound", scripts_logged="graph_breaks",
    basket_crosses="unfused_pointwise", gusts_upload="pageable_copy", laminates_plies="tiny_kernels", reserves_admm="host_sync",
    dendrite_phase="unfused_pointwise", surfaces_emptied="allocator", lightfield_rays="remade_constants", catalogue_topk="repeated_casts",
    replies_sampled="unfused_pointwise", peaks_forecast="launch_bound", shapes_workers="dataloader", wishlist_attention="unfused_attention",
    sensors_missing="graph_breaks", grids_hashed="optimizer_not_fused", pupils_tracing="host_sync", deeds_reader="unfused_pointwise")
PROGRAMS = in_turns(PAIRS, HEALTHY)
COMPILED = ["sensors_missing", "kettle_radiance", "basket_crosses", "tariffs_train", "scripts_logged", "peaks_forecast", "briefs_prefill", "grids_hashed", "deeds_reader",
            "facets_infer", "dendrite_phase", "replies_sampled"]  # what takes longest first
FORMS = {}
