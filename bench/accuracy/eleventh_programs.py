"""An eleventh set of programs that no rule was read from: pairs with one fault and without it, and healthy ones. Only scored.

Snow, whales, crystals, proteins, particles, robots, money, maps, films, music. PROGRAMS is what recording.py records, in this order. FAULTS says
which finding's fault the first half of a pair has; the second half follows the advice that docs/findings.md gives for it, to the letter, and changes
nothing else. A step returns what it computed, so that a pair can be compared. COMPILED: what has something to compile.
"""
import itertools, math, os, sys, threading
import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from program_parts import (BF, D, DRY, HALF_HERE, S, autocast, built, compiled, draw, inference, last, noise, pinned, replayed, training, pair,
                           in_turns)

SETS = [["shapes", "plain"], ["shapes", "stack"], ["memory", "shapes"], ["plain", "shapes"], ["shapes", "modules"], ["stack", "shapes"]]


def options(index):
    return SETS[index % len(SETS)]


# ---- Layers that several programs share ---------------------------------------------------------------------------------------


class Block(nn.Module):
    """Attention and two wide layers, norms before them."""

    def __init__(self, d, heads, wide=4, causal=False):
        super().__init__()
        self.n1, self.qkv, self.out, self.heads, self.causal = nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d), heads, causal
        self.n2, self.up, self.down = nn.LayerNorm(d), nn.Linear(d, wide * d), nn.Linear(wide * d, d)

    def forward(self, x):
        q, k, v = self.qkv(self.n1(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.n2(x))))


def blocks(count, *given, **more):
    return nn.Sequential(*[Block(*given, **more) for _ in range(count)])


def conv(i, o, size=3, stride=1):
    return nn.Sequential(nn.Conv2d(i, o, size, stride, size // 2, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


# ---- Chains of pointwise kernels: torch.compile around what holds them ----------------------------------------------------------


# How fast snow melts on each cell of a map: radiation, turbulent heat, rain and what is left as cold; in eager mode, or the balance compiled.
def melting(air, humid, wind, sun, cloud, rain, snow, cold, bright):
    kelvin = air + 273.15
    vapour = 611.2 * torch.exp(17.67 * air / (air + 243.5)) * humid
    sky = (0.74 + 0.0049 * vapour / 100) * (1 + 0.22 * cloud ** 2)
    long = 5.67e-8 * (sky.clamp(max=1) * kelvin ** 4 - 0.98 * 273.15 ** 4)
    surface = torch.minimum(air, torch.zeros_like(air))
    steady = 9.81 * 2 * (air - surface) / (kelvin * wind.clamp(min=0.3) ** 2)
    damped = torch.where(steady > 0, (1 - 5 * steady.clamp(0, 0.19)) ** 2, (1 - 16 * steady.clamp(-2, 0)) ** 0.75)
    moved = 0.0021 * wind * damped
    sensible = 1.29 * 1005 * moved * (air - surface)
    latent = 1.29 * 2.5e6 * 0.622 / 90000 * moved * (vapour - 611.2 * torch.exp(17.67 * surface / (surface + 243.5)))
    warm = torch.sigmoid((air - 1) * 2)
    fallen = 4180 * rain * warm * air.clamp(min=0) / 3600
    gained = sun * (1 - bright) + long + sensible + latent + fallen + 0.5
    left = cold + gained * 3600
    melt = torch.minimum(left.clamp(min=0) / 334000, snow + rain * (1 - warm))
    kept = snow + rain * (1 - warm) - melt
    older = torch.where(rain * (1 - warm) > 1, 0.85, bright - 0.008 * torch.exp(0.1 * air).clamp(max=1))
    return kept, left.clamp(max=0), older.clamp(0.4, 0.85), melt


def snow_energy(eager):
    def make():
        side = S(4096, 24)
        even = lambda low, high: low + (high - low) * torch.rand(side, side, device=D)
        given = [even(-15, 8), even(0.3, 1), even(0, 9), even(0, 600), even(0, 1), even(0, 3), even(0, 200), even(-1e5, 0), even(0.5, 0.85)]
        f = melting if eager else compiled(melting)

        @torch.no_grad()
        def step():
            kept, cold, bright, melt = f(*given)
            return torch.stack([kept.mean(), cold.mean() / 1e3, bright.mean(), melt.mean()])
        return step
    return make


# Calls of whales freed of the noise of ships, on spectra, trained: blocks steered by depth and month, two losses; eager, or the model with its loss compiled.
class OverChannels(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class Steered(nn.Module):
    def __init__(self, c, told):
        super().__init__()
        self.n1, self.c1, self.n2, self.c2 = OverChannels(c), nn.Conv2d(c, c, 3, padding=1), OverChannels(c), nn.Conv2d(c, c, 3, padding=1)
        self.steer, self.scale = nn.Linear(told, 2 * c), nn.Parameter(torch.full((c, 1, 1), 0.1))

    def forward(self, x, told):
        scale, shift = self.steer(told)[:, :, None, None].chunk(2, 1)
        h = self.c1(F.silu(self.n1(x)))
        return x + self.scale * self.c2(F.silu(self.n2(h) * (1 + scale) + shift))


class Calls(nn.Module):
    def __init__(self, c, told, count):
        super().__init__()
        self.enter, self.blocks, self.out = nn.Conv2d(2, c, 5, padding=2), nn.ModuleList([Steered(c, told) for _ in range(count)]), nn.Conv2d(c, 2, 1)

    def forward(self, x, told, clean):
        h = self.enter(torch.sign(x) * x.abs() ** 0.3)
        for block in self.blocks:
            h = block(h, told)
        mask = torch.tanh(self.out(F.silu(h))).float()
        re, im = x[:, 0] * mask[:, 0] - x[:, 1] * mask[:, 1], x[:, 0] * mask[:, 1] + x[:, 1] * mask[:, 0]
        loud, goal = (re ** 2 + im ** 2 + 1e-5).sqrt(), (clean[:, 0] ** 2 + clean[:, 1] ** 2 + 1e-5).sqrt()
        return (loud ** 0.3 - goal ** 0.3).abs().mean() + ((re - clean[:, 0]) ** 2 + (im - clean[:, 1]) ** 2).mean() + (loud.log() - goal.log()).abs().mean()


def whales_spectra(eager):
    def make():
        batch, high, wide = S(12, 2), S(256, 16), S(192, 12)
        m = last(built(lambda: Calls(S(96, 8), S(32, 4), S(4, 2))))
        f, x, clean, told = m if eager else compiled(m), last(noise(batch, 2, high, wide)), last(noise(batch, 2, high, wide)), noise(batch, S(32, 4))
        return training(m, lambda: f(x, told, clean))
    return make


# How much energy crystals hold, by what neighbours send each other through filters of their distance, trained: eager, or the model with its loss compiled.
class Filters(nn.Module):
    def __init__(self, d, rings):
        super().__init__()
        self.filter = nn.Sequential(nn.Linear(rings, d), nn.SiLU(), nn.Linear(d, d))
        self.enter, self.leave = nn.Linear(d, d, bias=False), nn.Sequential(nn.Linear(d, d), nn.SiLU(), nn.Linear(d, d))

    def forward(self, h, near, fade, a, b):
        sent = self.enter(h)[b] * self.filter(near) * fade
        return h + self.leave(torch.zeros_like(h).index_add(0, a, sent))


class Crystals(nn.Module):
    def __init__(self, kinds, d, rings, layers):
        super().__init__()
        self.kinds, self.layers = nn.Embedding(kinds, d), nn.ModuleList([Filters(d, rings) for _ in range(layers)])
        self.out = nn.Sequential(nn.Linear(d, d // 2), nn.SiLU(), nn.Linear(d // 2, 1))
        self.register_buffer("rings", torch.linspace(0, 6, rings))

    def forward(self, kinds, places, a, b, of, energy):
        far = (places[a] - places[b]).square().sum(-1, keepdim=True).add(1e-6).sqrt()
        fade = torch.where(far < 6, 0.5 * (torch.cos(far * (math.pi / 6)) + 1), 0)
        h, near = self.kinds(kinds), torch.exp(-8 * (far - self.rings) ** 2)
        for layer in self.layers:
            h = layer(h, near, fade, a, b)
        return F.huber_loss(torch.zeros_like(energy).index_add(0, of, self.out(h).squeeze(-1)), energy)


def crystals_energy(eager):
    def make():
        atoms, links, cells = S(12000, 12), S(240000, 60), S(600, 3)
        m = built(lambda: Crystals(S(90, 5), S(128, 8), S(40, 6), S(3, 2)))
        given = draw(S(90, 5), atoms), 3 * noise(atoms, 3), draw(atoms, links), draw(atoms, links), torch.arange(atoms, device=D) % cells, noise(cells)
        f = m if eager else compiled(m)
        return training(m, lambda: f(*given), cast=False)
    return make


# Which residues of a protein lie close, by triangles of pairs with gates, bfloat16: eager, or compiled.
class Triangle(nn.Module):
    def __init__(self, c, from_rows):
        super().__init__()
        self.n1, self.two, self.gates, self.n2 = nn.LayerNorm(c), nn.Linear(c, 2 * c), nn.Linear(c, 2 * c), nn.LayerNorm(c)
        self.out, self.gate = nn.Linear(c, c), nn.Linear(c, c)
        self.n3, self.up, self.down, self.from_rows = nn.LayerNorm(c), nn.Linear(c, 2 * c), nn.Linear(2 * c, c), from_rows

    def forward(self, z, known):
        x = self.n1(z)
        a, b = (self.two(x) * torch.sigmoid(self.gates(x)) * known).permute(2, 0, 1).chunk(2)
        both = a @ b.transpose(1, 2) if self.from_rows else a.transpose(1, 2) @ b
        z = z + self.out(self.n2(both.permute(1, 2, 0) / z.shape[0] ** 0.5)) * torch.sigmoid(self.gate(x))
        return z + self.down(F.relu(self.up(self.n3(z))))


class Contacts(nn.Module):
    def __init__(self, c, layers, bins):
        super().__init__()
        self.layers, self.head = nn.ModuleList([Triangle(c, i % 2 == 0) for i in range(layers)]), nn.Linear(c, bins)

    def forward(self, z, known):
        for layer in self.layers:
            z = layer(z, known)
        told = self.head(z)
        return (told + told.transpose(0, 1)).float().softmax(-1)[..., :8].sum(-1)


def residues_triangles(eager):
    def make():
        n = S(416, 10)
        m = built(lambda: Contacts(S(128, 8), S(6, 2), S(64, 10)), BF).eval()
        there = torch.arange(n, device=D) < n - n // 10
        return inference(m if eager else compiled(m), noise(n, n, S(128, 8), dtype=BF), (there[:, None] & there).to(BF).unsqueeze(-1))
    return make


# A small model of language learns from a large one's scores: softened divergence, true words, scores held small; eager, or the model with its loss compiled.
class Student(nn.Module):
    def __init__(self, words, d, heads, layers):
        super().__init__()
        self.words, self.layers = nn.Embedding(words, d), blocks(layers, d, heads, causal=True)
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, words, bias=False)

    def forward(self, ids, teacher, goal):
        told = self.head(self.norm(self.layers(self.words(ids)))).float().flatten(0, 1)
        soft, hard = F.log_softmax(told / 2, -1), F.cross_entropy(told, goal)
        wise = F.log_softmax(teacher.float() / 2, -1)
        apart = (wise.exp() * (wise - soft)).sum(-1).mean() * 4
        return 0.5 * hard + 0.5 * apart + 1e-4 * torch.logsumexp(told, -1).square().mean()


def students_distilled(eager):
    def make():
        words, t, batch = S(32000, 50), S(512, 6), S(8, 2)
        m = built(lambda: Student(words, S(640, 16), S(10, 2), S(4, 1)))
        f, ids, teacher, goal = m if eager else compiled(m), draw(words, batch, t), noise(batch * t, words, dtype=BF), draw(words, batch * t)
        return training(m, lambda: f(ids, teacher, goal))
    return make


# How likely a shower of particles is, by a flow of rational splines that steer each other, trained: eager, or the model with its loss compiled.
class Splines(nn.Module):
    def __init__(self, half, d, bins):
        super().__init__()
        self.bins, self.half = bins, half
        self.tell = nn.Sequential(nn.Linear(half, d), nn.ReLU(), nn.Linear(d, d), nn.ReLU(), nn.Linear(d, half * (3 * bins + 1)))

    def forward(self, x):
        kept, y = x.chunk(2, -1)
        wide, high, slope = self.tell(kept).unflatten(-1, (self.half, -1)).split([self.bins, self.bins, self.bins + 1], -1)
        wide, high = (1e-3 + (1 - 1e-3 * self.bins) * each.softmax(-1) for each in (wide, high))
        slope = 1e-3 + F.softplus(slope)
        left, low = (F.pad(each.cumsum(-1), (1, 0)) * 8 - 4 for each in (wide, high))
        inside = (y > -4) & (y < 4)
        at = y.clamp(-3.999, 3.999).unsqueeze(-1)
        place = (at >= left[..., 1:-1]).sum(-1, keepdim=True)
        x0, y0, w, h = left.gather(-1, place), low.gather(-1, place), 8 * wide.gather(-1, place), 8 * high.gather(-1, place)
        d0, d1, steep = slope.gather(-1, place), slope.gather(-1, place + 1), h / w
        s = (at - x0) / w
        under = steep + (d0 + d1 - 2 * steep) * s * (1 - s)
        new = y0 + h * (steep * s ** 2 + d0 * s * (1 - s)) / under
        grew = 2 * steep.log() + (d1 * s ** 2 + 2 * steep * s * (1 - s) + d0 * (1 - s) ** 2).log() - 2 * under.log()
        y = torch.where(inside, new.squeeze(-1), y)
        return torch.cat([y, kept], -1), torch.where(inside, grew.squeeze(-1), 0).sum(-1)


class Showers(nn.Module):
    def __init__(self, sizes, d, bins, layers):
        super().__init__()
        self.layers = nn.ModuleList([Splines(sizes // 2, d, bins) for _ in range(layers)])

    def forward(self, x):
        total = 0.0
        for layer in self.layers:
            x, grew = layer(x)
            total = total + grew
        return -(total - 0.5 * x.square().sum(-1) - 0.9189 * x.shape[-1]).mean()


def showers_splines(eager):
    def make():
        m = built(lambda: Showers(S(12, 4), S(192, 8), S(12, 4), S(4, 2)))
        f, x = m if eager else compiled(m), noise(S(196608, 16), S(12, 4))
        return training(m, lambda: f(x), torch.optim.Adam(m.parameters(), lr=1e-5, fused=True), cast=False)
    return make


# ---- Many launches: captured in a CUDA graph ----------------------------------------------------------------------------------


# A swarm of small robots foreseen for two seconds, each steered by a net that sees how far the others are: op by op, or captured.
class Swarm(nn.Module):
    def __init__(self, d, count):
        super().__init__()
        self.steer = nn.Sequential(nn.Linear(8, d), nn.Tanh(), nn.Linear(d, d), nn.Tanh(), nn.Linear(d, 2))
        self.register_buffer("self_far", torch.eye(count) * 1e3)

    def forward(self, place, speed, goal):
        way = place[:, None] - place[None]
        far = way.norm(dim=-1) + self.self_far
        near = torch.exp(-far)
        pushed = (way * (near / far.clamp(min=0.05)).unsqueeze(-1)).sum(1)
        along = (near @ speed) / (near.sum(1, keepdim=True) + 1e-3)
        pull = self.steer(torch.cat([goal - place, speed, pushed, along], -1)) + 0.1 * pushed
        speed = (0.95 * speed + 0.05 * pull).clamp(-1, 1)
        return place + 0.05 * speed, speed


def swarm_foreseen(captured):
    def make():
        count, rounds = S(384, 6), S(40, 3)
        m, place, goal = built(lambda: Swarm(S(64, 8), count)), 4 * noise(count, 2), 4 * noise(count, 2)
        first = torch.zeros_like(place)

        @torch.no_grad()
        def step():
            x, v, closest = place, first, []
            for _ in range(rounds):
                x, v = m(x, v, goal)
                closest.append((x - goal).norm(dim=-1).mean())
            return torch.stack(closest)
        return replayed(step) if captured else step
    return make


# Heartbeats squeezed into a few numbers by small convolutions, trained, the optimizer included: op by op, or the whole step captured.
class Beats(nn.Module):
    def __init__(self, c, narrow, t):
        super().__init__()
        down = lambda i, o: nn.Sequential(nn.Conv1d(i, o, 5, 2, 2), nn.BatchNorm1d(o), nn.ELU())
        up = lambda i, o: nn.Sequential(nn.ConvTranspose1d(i, o, 4, 2, 1), nn.BatchNorm1d(o), nn.ELU())
        self.read = nn.Sequential(down(1, c), down(c, 2 * c), down(2 * c, 4 * c), down(4 * c, 4 * c), nn.Flatten(), nn.Linear(c * t // 4, narrow))
        self.write = nn.Sequential(nn.Linear(narrow, c * t // 4), nn.Unflatten(1, (4 * c, t // 16)), up(4 * c, 4 * c), up(4 * c, 2 * c), up(2 * c, c),
                                   nn.ConvTranspose1d(c, 1, 4, 2, 1))

    def forward(self, x):
        z = self.read(x)
        return F.smooth_l1_loss(self.write(torch.tanh(z)), x) + 1e-3 * z.square().mean()


def heartbeats_capture(captured):
    def make():
        t = S(512, 32)
        m, x = built(lambda: Beats(S(16, 4), S(32, 4), t)), noise(S(128, 4), 1, t)
        step = training(m, lambda: m(x), torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True, capturable=not DRY), cast=False)
        return replayed(step) if captured else step
    return make


# Names of people and places found in short messages, compiled: as it comes, or mode="reduce-overhead".
class Names(nn.Module):
    def __init__(self, words, d, heads, layers, kinds):
        super().__init__()
        self.words, self.letters, self.near = nn.Embedding(words, d), nn.Embedding(128, d // 4), nn.Conv1d(d // 4, d, 3, padding=1)
        self.layers, self.head = blocks(layers, d, heads, 2), nn.Sequential(nn.LayerNorm(d), nn.Linear(d, kinds))

    def forward(self, ids, letters):
        seen = self.near(self.letters(letters).flatten(0, 1).transpose(1, 2)).amax(-1).unflatten(0, ids.shape)
        return self.head(self.layers(self.words(ids) + seen)).float().log_softmax(-1)


def messages_names(captured):
    def make():
        words, batch, t = S(30000, 40), S(4, 2), S(48, 5)
        m = built(lambda: Names(words, S(256, 16), S(4, 2), S(20, 2), S(17, 5)), HALF_HERE).eval()
        return inference(compiled(m, mode="reduce-overhead") if captured else compiled(m), draw(words, batch, t), draw(128, batch, t, S(12, 4)))
    return make


# ---- The host waits for the device: the value is kept there -------------------------------------------------------------------


# Gems drawn by two nets that compete, pictures changed more or less often as the judge is sure: losses and how sure it is are fetched, or stay on the device.
class Draws(nn.Sequential):
    def __init__(self, z, c):
        up = lambda i, o: [nn.ConvTranspose2d(i, o, 4, 2, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU()]
        super().__init__(nn.Linear(z, 16 * 4 * c), nn.Unflatten(1, (4 * c, 4, 4)), *up(4 * c, 4 * c), *up(4 * c, 2 * c), *up(2 * c, c),
                         nn.ConvTranspose2d(c, 3, 4, 2, 1), nn.Tanh())


class Judges(nn.Sequential):
    def __init__(self, c):
        down = lambda i, o: [nn.Conv2d(i, o, 4, 2, 1), nn.LeakyReLU(0.2)]
        super().__init__(*down(3, c), *down(c, 2 * c), *down(2 * c, 4 * c), *down(4 * c, 4 * c), nn.Flatten(), nn.Linear(16 * 4 * c, 1))


def gems_drawn(fetched):
    def make():
        batch, z, c = S(96, 3), S(128, 8), S(96, 4)
        g, judge, real = last(built(lambda: Draws(z, c))), last(built(lambda: Judges(c))), last(noise(batch, 3, 64, 64).clamp(-1, 1))
        by_g, by_judge = (torch.optim.Adam(m.parameters(), lr=1e-5, betas=(0.0, 0.99), fused=True) for m in (g, judge))
        state = {"often": 0.3 if fetched else torch.full((), 0.3, device=D), "g": 0.0, "judge": 0.0}
        z = noise(batch, z)
        chance, light = torch.rand(batch, 1, 1, 1, device=D), 1 + 0.3 * noise(batch, 1, 1, 1)

        def changed(x):
            x = torch.where(chance < state["often"], x * light, x)
            return torch.where(chance.flip(0) < state["often"], x.flip(-1), x)

        def step():
            by_judge.zero_grad(set_to_none=True)
            with autocast():
                right = judge(changed(real)).float()
                known = F.softplus(-right).mean()
            known.backward()
            sure = right.detach().sign().mean()
            if fetched:
                state["often"] = min(max(state["often"] + (0.001 if sure.item() > 0.6 else -0.001), 0.0), 1.0)
            else:
                state["often"] = (state["often"] + (sure > 0.6) * 0.002 - 0.001).clamp(0, 1)
            with autocast():
                drawn = g(z)
                seen = F.softplus(judge(changed(drawn.detach())).float()).mean()
            seen.backward()
            by_judge.step()
            state["judge"] += (known.item() + seen.item()) if fetched else known.detach() + seen.detach()
            by_g.zero_grad(set_to_none=True)
            with autocast():
                fooled = F.softplus(-judge(changed(drawn)).float()).mean()
            fooled.backward()
            by_g.step()
            state["g"] += fooled.item() if fetched else fooled.detach()
            return known.detach() + seen.detach() + fooled.detach() + state["often"]
        return step
    return make


# Paintings by who painted them, a head learns on a large model that stays: of all triplets those that count picked and counted by the host; or masked.
class Painters(nn.Module):
    def __init__(self, patch, d, heads, layers, out):
        super().__init__()
        self.enter, self.layers = nn.Conv2d(3, d, patch, patch).to(BF), blocks(layers, d, heads).to(BF)
        self.head = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, d), nn.GELU(), nn.LayerNorm(d), nn.Linear(d, out))

    def forward(self, x):
        with torch.no_grad():
            h = self.layers(self.enter(x).flatten(2).transpose(1, 2)).mean(1).float()
        return F.normalize(self.head(h), dim=-1)


def paintings_triplets(fetched):
    def make():
        batch, side, patch = S(96, 6), S(224, 8), S(16, 4)
        m, x = built(lambda: Painters(patch, S(512, 16), S(8, 2), S(6, 1), S(128, 8))), noise(batch, 3, side, side, dtype=BF)
        who = torch.arange(batch, device=D) // 3

        def loss_of():
            v = m(x)
            far = (2 - 2 * v @ v.T).clamp(min=1e-6).sqrt()
            same = who[:, None] == who
            counts = (same & ~torch.eye(batch, dtype=torch.bool, device=D))[:, :, None] & ~same[:, None, :]
            over = F.relu(far[:, :, None] - far[:, None, :] + 0.2)
            if fetched:
                over = over[counts]
                number = (over > 1e-16).sum().item()
                return over.sum() / max(number, 1)
            over = over * counts
            return over.sum() / (over > 1e-16).sum().clamp(min=1)
        return training(m.head, loss_of, cast=False)
    return make


# Seizures foreseen from a stream of currents in the head, piece by piece: an alarm is asked for after each and forgets what was; or stays on the device.
class Currents(nn.Module):
    def __init__(self, leads, c, d):
        super().__init__()
        part = lambda i, o: [nn.Conv1d(i, o, 7, 4, 3), nn.GELU()]
        self.read, self.keep, self.head = nn.Sequential(*part(leads, c), *part(c, d), *part(d, d)), nn.GRUCell(d, d), nn.Linear(d, 1)

    def forward(self, x, h):
        h = self.keep(self.read(x).mean(-1), h)
        return torch.sigmoid(6 * self.head(h)).squeeze(), h


def seizures_alarm(fetched):
    def make():
        leads, d, pieces = S(23, 4), S(1024, 8), S(24, 4)
        m, x, first = built(lambda: Currents(leads, S(512, 8), d)).eval(), noise(pieces, 1, leads, S(16384, 64)), torch.zeros(1, d, device=D)

        @torch.no_grad()
        def step():
            h, told, alarms = first, [], 0 if fetched else torch.zeros((), device=D)
            for piece in x:
                score, h = m(piece, h)
                told.append(score)
                if fetched:
                    if score.item() > 0.55:
                        alarms += 1
                        h = first
                else:
                    alarm = score > 0.55
                    alarms = alarms + alarm
                    h = torch.where(alarm, first, h)
            return torch.stack(told) + alarms / pieces
        return step
    return make


# ---- Compiled code that is left and entered again -------------------------------------------------------------------------------


# Clauses of contracts as vectors, compiled: the turn by places once kept out of what is compiled; or compiled with the rest.
def turned(x, cos, sin):
    a, b = x.float().chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1).type_as(x)


class Clause(nn.Module):
    def __init__(self, d, heads, turn):
        super().__init__()
        self.n1, self.qkv, self.out, self.heads, self.turn = nn.RMSNorm(d), nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False), heads, turn
        self.n2, self.up, self.down = nn.RMSNorm(d), nn.Linear(d, 6 * d, bias=False), nn.Linear(3 * d, d, bias=False)

    def forward(self, x, cos, sin):
        q, k, v = self.qkv(self.n1(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(self.turn(q, cos, sin), self.turn(k, cos, sin), v)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        a, b = self.up(self.n2(x)).chunk(2, -1)
        return x + self.down(F.silu(a) * b)


class Clauses(nn.Module):
    def __init__(self, words, d, heads, layers, length, turn):
        super().__init__()
        self.words, self.layers, self.norm = nn.Embedding(words, d), nn.ModuleList([Clause(d, heads, turn) for _ in range(layers)]), nn.RMSNorm(d)
        angle = torch.arange(length)[:, None] / 10000 ** torch.linspace(0, 1, d // heads // 2)
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)

    def forward(self, ids):
        x = self.words(ids)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        return F.normalize(self.norm(x).mean(1).float(), dim=-1)


def clauses_turned(kept_out):
    def make():
        words, t = S(50000, 40), S(256, 8)
        turn = torch.compiler.disable(turned) if kept_out else turned
        m = built(lambda: Clauses(words, S(768, 16), S(12, 2), S(8, 2), t, turn), BF).eval()
        return inference(compiled(m), draw(words, S(16, 2), t))
    return make


# What stands on each point of a street, a few points labelled, trained and compiled with the loss: those picked by a mask, or the others left out of the mean.
class Street(nn.Module):
    def __init__(self, d, heads, layers, near, kinds, picks):
        super().__init__()
        self.enter, self.near, self.picks = nn.Sequential(nn.Linear(6, d), nn.LayerNorm(d), nn.GELU(), nn.Linear(d, d)), near, picks
        self.layers, self.head = blocks(layers, d, heads, 2), nn.Sequential(nn.LayerNorm(d), nn.Linear(d, d), nn.GELU(), nn.Linear(d, kinds))

    def forward(self, points, labels):
        h = self.enter(points).unflatten(0, (-1, self.near))
        h = self.layers(h).flatten(0, 1)
        if self.picks:
            known = labels >= 0
            return F.cross_entropy(self.head(h[known]).float(), labels[known], label_smoothing=0.1)
        return F.cross_entropy(self.head(h).float(), labels, label_smoothing=0.1, ignore_index=-1)


def streets_labelled(picks):
    def make():
        count, kinds, near = S(16384, 24), S(20, 4), S(64, 6)
        m = built(lambda: Street(S(192, 16), S(6, 2), S(4, 1), near, kinds, picks))
        points, labels = noise(count, 6), draw(kinds, count)
        labels = torch.where(torch.rand(count, device=D) < 0.4, labels, -1)
        f = compiled(m)
        return training(m, lambda: f(points, labels))
    return make


# Answers of a help desk whose layers have adapters that another thread may change, compiled: the lock taken by each layer, or once by who calls.
class Adapted(nn.Module):
    def __init__(self, d, heads, rank, lock):
        super().__init__()
        self.block, self.norm, self.lock = Block(d, heads), nn.LayerNorm(d), lock
        self.adapter = nn.ParameterList([nn.Parameter(torch.randn(d, rank) * d ** -0.5), nn.Parameter(torch.randn(rank, d) * 0.1)])

    def current(self):
        with self.lock:
            return self.adapter[0], self.adapter[1]

    def forward(self, x):
        x = self.block(x)
        a, b = self.current() if self.lock else (self.adapter[0], self.adapter[1])
        return x + F.silu(self.norm(x) @ a) @ b


class Answers(nn.Module):
    def __init__(self, words, d, heads, layers, rank, lock):
        super().__init__()
        self.words, self.layers = nn.Embedding(words, d), nn.ModuleList([Adapted(d, heads, rank, lock) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, words)

    def forward(self, ids):
        x = self.words(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x[:, -1])).float().log_softmax(-1)


def adapters_locked(each):
    def make():
        words, lock = S(24000, 30), threading.Lock()
        m = built(lambda: Answers(words, S(512, 16), S(8, 2), S(16, 2), S(16, 2), lock if each else None), HALF_HERE).eval()
        f, ids = compiled(m), draw(words, S(8, 2), S(128, 6))

        @torch.no_grad()
        def step():
            if each:
                return f(ids)
            with lock:
                return f(ids)
        return step
    return make


# ---- Input: workers, pinned memory, the next request ahead ----------------------------------------------------------------------


def fed(m, cost, dataset, batch, count, pin):
    """Training from a data loader."""
    more = dict(num_workers=S(count, 1), persistent_workers=True, prefetch_factor=2, pin_memory=pin and not DRY) if count else {}
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


# Where glaciers end, by ten bands seen from orbit: tiles cut out, indices of snow and water added, by the training process itself; or by workers.
class Tiles(torch.utils.data.Dataset):
    def __init__(self, side, cut):
        rng = np.random.default_rng(4)
        self.scene, self.cut = rng.integers(200, 9000, (10, side, side), dtype=np.uint16), cut
        self.kinds = rng.integers(0, 4, (side // 16, side // 16)).repeat(16, 0).repeat(16, 1)

    def __len__(self):
        return 1 << 24

    def __getitem__(self, i):
        rng, n = np.random.default_rng(i), self.cut
        top, left = (int(rng.integers(0, self.scene.shape[1] - n)) for _ in range(2))
        x = self.scene[:, top:top + n, left:left + n].astype(np.float32) * 1e-4
        x = np.clip(x * rng.uniform(0.9, 1.1, (10, 1, 1)).astype(np.float32) + np.float32(rng.normal(0, 0.01)), 1e-4, 1)
        snow, water = (x[1] - x[8]) / (x[1] + x[8]), (x[1] - x[7]) / (x[1] + x[7])
        x = np.concatenate([np.sqrt(x), snow[None], water[None]])
        turn, y = int(rng.integers(0, 4)), self.kinds[top:top + n, left:left + n]
        x, y = np.rot90(x, turn, (1, 2)), np.rot90(y, turn)
        if rng.random() < 0.5:
            x, y = x[:, :, ::-1], y[:, ::-1]
        return torch.from_numpy(np.ascontiguousarray(x)), torch.from_numpy(np.ascontiguousarray(y))


class Ice(nn.Module):
    def __init__(self, seen, c, kinds):
        super().__init__()
        self.a, self.b = nn.Sequential(conv(seen, c), conv(c, c)), nn.Sequential(conv(c, 2 * c, 3, 2), conv(2 * c, 2 * c))
        self.c, self.up = nn.Sequential(conv(2 * c, 4 * c, 3, 2), conv(4 * c, 4 * c), conv(4 * c, 2 * c)), nn.ConvTranspose2d(2 * c, 2 * c, 2, 2)
        self.d, self.up2, self.out = conv(4 * c, 2 * c), nn.ConvTranspose2d(2 * c, c, 2, 2), nn.Sequential(conv(2 * c, c), nn.Conv2d(c, kinds, 1))

    def forward(self, x):
        a = self.a(last(x))
        b = self.b(a)
        h = self.d(torch.cat([self.up(self.c(b)), b], 1))
        return self.out(torch.cat([self.up2(h), a], 1))


def glaciers_loader(count):
    def make():
        return fed(last(built(lambda: Ice(12, S(96, 8), 4))), F.cross_entropy, Tiles(S(2048, 64), S(224, 16)), S(6, 2), count, True)
    return make


# Who speaks, out of voices put into rooms by their echo and among noise: by two workers, or by twelve and with pinned memory.
class Rooms(torch.utils.data.Dataset):
    def __init__(self, count, length, tail, people):
        rng = np.random.default_rng(5)
        self.voices, self.people = rng.standard_normal((count, 2 * length), dtype=np.float32), people
        fall = np.exp(-np.arange(tail, dtype=np.float32) / (tail / 6))
        self.echoes, self.noises = rng.standard_normal((16, tail), dtype=np.float32) * fall, rng.standard_normal((8, 4 * length), dtype=np.float32)
        self.length, self.window = length, 1 << (length + tail - 1).bit_length()

    def __len__(self):
        return 1 << 24

    def __getitem__(self, i):
        rng, n = np.random.default_rng(i), self.length
        at, other = int(rng.integers(0, n)), int(rng.integers(0, 3 * n))
        x = self.voices[i % len(self.voices), at:at + n]
        x = np.fft.irfft(np.fft.rfft(x, self.window) * np.fft.rfft(self.echoes[int(rng.integers(0, 16))], self.window), self.window)[:n]
        x = x / (np.sqrt((x ** 2).mean()) + 1e-6)
        near = self.noises[int(rng.integers(0, 8)), other:other + n]
        x = x + near * 10 ** (-rng.uniform(0, 20) / 20)
        x[1:] -= 0.97 * x[:-1].copy()
        return torch.from_numpy(x.astype(np.float32)), i % self.people


class Speaker(nn.Module):
    def __init__(self, d, heads, layers, hop, people):
        super().__init__()
        self.enter, self.near = nn.Conv1d(1, d, 2 * hop, hop), nn.Sequential(nn.GELU(), nn.Conv1d(d, d, 3, 2, 1), nn.GELU())
        self.layers, self.out = blocks(layers, d, heads), nn.Sequential(nn.LayerNorm(d), nn.Linear(d, people))

    def forward(self, x):
        return self.out(self.layers(self.near(self.enter(x.unsqueeze(1))).transpose(1, 2)).mean(1))


def rooms_workers(count):
    def make():
        m = built(lambda: Speaker(S(768, 16), S(12, 2), S(7, 1), S(80, 8), S(1000, 5)))
        return fed(m, F.cross_entropy, Rooms(S(64, 4), S(48000, 256), S(12000, 64), S(1000, 5)), S(24, 2), count, count > 2)
    return make


# A slice of a body out of X-rays taken from all sides: rings taken out and rows sharpened by NumPy before each call, or by processes meanwhile.
class Sinograms(torch.utils.data.Dataset):
    def __init__(self, count, views, wide):
        self.all = np.random.default_rng(6).integers(500, 60000, (count, views, wide), dtype=np.uint16)
        self.sharp = (np.abs(np.fft.rfftfreq(2 * wide)) * np.hanning(2 * wide + 1)[wide:]).astype(np.float32)

    def __len__(self):
        return 1 << 24

    def __getitem__(self, i):
        x = -np.log(self.all[i % len(self.all)].astype(np.float32) / 65535)
        column = x.mean(0)
        wide = np.convolve(np.pad(column, 7, mode="edge"), np.ones(15, np.float32) / 15, mode="valid")
        x = x - (column - wide)
        x = np.fft.irfft(np.fft.rfft(x, 2 * x.shape[1], axis=1) * self.sharp, axis=1)[:, :x.shape[1]]
        return torch.from_numpy(x.astype(np.float32))


class Slices(nn.Module):
    def __init__(self, views, wide, c, layers):
        super().__init__()
        self.near = nn.Sequential(conv(1, c), *[conv(c, c) for _ in range(layers)], nn.Conv2d(c, 1, 3, padding=1))
        self.after = nn.Sequential(conv(1, c), *[conv(c, c) for _ in range(layers)], nn.Conv2d(c, 1, 3, padding=1))
        angle, line = torch.arange(views) * (math.pi / views), torch.linspace(-1, 1, wide)
        at = line[None, :, None] * torch.sin(angle)[:, None, None] + line[None, None, :] * torch.cos(angle)[:, None, None]
        self.register_buffer("at", ((at * 0.5 + 0.5) * (wide - 1)).long().clamp(0, wide - 1).flatten(1))
        self.wide = wide

    def forward(self, x):
        x = x + self.near(last(x.to(self.near[0][0].weight.dtype)[None, None]))[0, 0]
        slice = x.gather(1, self.at).mean(0, dtype=torch.float32).view(1, 1, self.wide, self.wide).to(x.dtype)
        return slice + self.after(slice)


def slices_ahead(at_once):
    def make():
        views, wide = S(720, 12), S(512, 16)
        m, taken = last(built(lambda: Slices(views, wide, S(64, 8), S(5, 1)), HALF_HERE)).eval(), Sinograms(6, views, wide)
        ahead = dict(batch_size=None, num_workers=S(8, 1), persistent_workers=True, prefetch_factor=2, pin_memory=not DRY)
        made = map(taken.__getitem__, itertools.count()) if at_once else iter(torch.utils.data.DataLoader(taken, **ahead))

        @torch.no_grad()
        def step():
            x = pinned(next(made)) if at_once else next(made)
            return m(x.to(D, non_blocking=True).to(HALF_HERE))
        return step
    return make


# How well molecules dissolve: lines of letters read into atoms and bonds by Python before each call, or by processes meanwhile.
class Lines(torch.utils.data.Dataset):
    KINDS = {letter: i for i, letter in enumerate("CNOFSPBI")}

    def __init__(self, count, length, batch):
        rng, self.batch = np.random.default_rng(7), batch
        self.lines = []
        for _ in range(count):
            line, depth = "C", 0
            while len(line) < length:
                turn = rng.random()
                if turn < 0.12:
                    line, depth = line + "(" + "CNO"[int(rng.integers(0, 3))], depth + 1
                elif turn < 0.22 and depth:
                    line, depth = line + ")", depth - 1
                else:
                    line += "=" * int(turn > 0.9) + "CCCCNNOOFS"[int(rng.integers(0, 10))]
            self.lines.append(line + ")" * depth)

    def __len__(self):
        return 1 << 24

    def __getitem__(self, i):
        kinds, starts, ends, orders, of = [], [], [], [], []
        for j in range(self.batch):
            before, open_, order = None, [], 1
            for letter in self.lines[(i * self.batch + j) % len(self.lines)]:
                if letter == "(":
                    open_.append(before)
                elif letter == ")":
                    before = open_.pop()
                elif letter == "=":
                    order = 2
                else:
                    now = len(kinds)
                    kinds.append(self.KINDS[letter])
                    of.append(j)
                    if before is not None:
                        starts += [before, now]
                        ends += [now, before]
                        orders += [order, order]
                    before, order = now, 1
        return torch.tensor(kinds), torch.tensor([starts, ends]), torch.tensor(orders), torch.tensor(of)


class Dissolved(nn.Module):
    def __init__(self, d, layers):
        super().__init__()
        self.kinds, self.orders = nn.Embedding(8, d), nn.Embedding(3, d)
        self.layers = nn.ModuleList([nn.Sequential(nn.Linear(d, 2 * d), nn.LayerNorm(2 * d), nn.ReLU(), nn.Linear(2 * d, d)) for _ in range(layers)])
        self.out = nn.Sequential(nn.Linear(d, d), nn.ReLU(), nn.Linear(d, 1))

    def forward(self, kinds, bonds, orders, of, batch):
        h, order = self.kinds(kinds), self.orders(orders)
        for layer in self.layers:
            h = h + layer(h.index_add(0, bonds[1], F.relu(h[bonds[0]] + order)))
        return self.out(torch.zeros(batch, h.shape[1], dtype=h.dtype, device=h.device).index_add_(0, of, h)).squeeze(-1)


def molecules_lines(at_once):
    def make():
        batch = S(128, 3)
        m, lines = built(lambda: Dissolved(S(1024, 16), S(12, 2))).eval(), Lines(S(4000, 9), S(44, 12), batch)
        ahead = dict(batch_size=None, num_workers=S(12, 1), persistent_workers=True, prefetch_factor=2, pin_memory=not DRY)
        made = map(lines.__getitem__, itertools.count()) if at_once else iter(torch.utils.data.DataLoader(lines, **ahead))

        @torch.no_grad()
        def step():
            given = [pinned(t) for t in next(made)] if at_once else next(made)
            return m(*(t.to(D, non_blocking=True) for t in given), batch)
        return step
    return make


# ---- Copies: pinned memory ----------------------------------------------------------------------------------------------------


# Nuclei in a growing embryo, found in volumes of light: each sent by non_blocking=True, from ordinary memory or from pinned memory.
class Nuclei(nn.Sequential):
    def __init__(self, c):
        part = lambda i, o, stride=1: [nn.Conv3d(i, o, 3, stride, 1, bias=False), nn.BatchNorm3d(o), nn.ReLU(inplace=True)]
        super().__init__(*part(1, c, 2), *part(c, c), *part(c, 2 * c, 2), *part(2 * c, 2 * c), nn.ConvTranspose3d(2 * c, c, 2, 2), nn.ReLU(inplace=True),
                         nn.Conv3d(c, 2, 1))


def embryos_upload(ordinary):
    def make():
        deep, side, turn = S(48, 8), S(512, 16), [0]
        m = built(lambda: Nuclei(S(32, 4)), HALF_HERE).to(memory_format=torch.channels_last_3d).eval()
        given = lambda: torch.randint(0, 20000, (1, 1, deep, side, side), dtype=torch.int16)
        volumes = [given() if ordinary else pinned(given()) for _ in range(3)]

        @torch.no_grad()
        def step():
            turn[0] = (turn[0] + 1) % 3
            x = volumes[turn[0]].to(D, non_blocking=True).to(HALF_HERE)
            return m((x / 20000).contiguous(memory_format=torch.channels_last_3d)).softmax(1)[:, 1, ::4, ::4, ::4]
        return step
    return make


# How far away each pixel of a film is, for those who put pictures into it: maps fetched by non_blocking=True, into ordinary memory or into pinned memory.
class Depths(nn.Module):
    def __init__(self, patch, d, heads, layers, c):
        super().__init__()
        self.enter, self.layers, self.patch = nn.Conv2d(3, d, patch, patch), blocks(layers, d, heads), patch
        self.spread, self.near = nn.Linear(d, patch * patch), nn.Sequential(nn.Conv2d(4, c, 3, padding=1), nn.ReLU(), nn.Conv2d(c, 1, 3, padding=1))

    def forward(self, x):
        h = self.enter(x)
        told = self.spread(self.layers(h.flatten(2).transpose(1, 2))).transpose(1, 2).unflatten(-1, h.shape[2:])
        return F.softplus(self.near(last(torch.cat([x, F.pixel_shuffle(told, self.patch)], 1)))).float()


def depths_fetched(ordinary):
    def make():
        frames, high, wide, patch = S(8, 2), S(384, 16), S(672, 24), S(16, 4)
        m, x = last(built(lambda: Depths(patch, S(768, 16), S(12, 2), S(8, 1), S(32, 4)), BF)).eval(), last(noise(frames, 3, high, wide, dtype=BF))
        kept = torch.zeros(frames, 1, high, wide)
        kept = kept if ordinary else pinned(kept)

        @torch.no_grad()
        def step():
            kept.copy_(m(x), non_blocking=True)
            return kept
        return step
    return make


# ---- The optimizer: fused=True ------------------------------------------------------------------------------------------------


# Leaves of coffee by their rust, trained: SGD with momentum, one parameter after the other, or fused.
class Narrow(nn.Module):
    def __init__(self, i, c, o, stride):
        super().__init__()
        self.body = nn.Sequential(conv(i, c, 1), conv(c, c, 3, stride), nn.Conv2d(c, o, 1, bias=False), nn.BatchNorm2d(o))
        self.short = nn.Sequential() if i == o and stride == 1 else nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o))

    def forward(self, x):
        return F.relu(self.body(x) + self.short(x))


def bottlenecks(c, counts, kinds):
    parts, i = [conv(3, c, 7, 2), nn.MaxPool2d(3, 2, 1)], c
    for stage, count in enumerate(counts):
        for j in range(count):
            o = 4 * c << stage
            parts, i = parts + [Narrow(i, o // 4, o, 2 if stage and not j else 1)], o
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(i, kinds))


def coffee_sgd(one_by_one):
    def make():
        batch, side = S(32, 2), S(160, 32)
        m = last(built(lambda: bottlenecks(S(64, 4), S((3, 4, 6, 3), (1, 1)), S(16, 4))))
        x, y = last(noise(batch, 3, side, side)), draw(S(16, 4), batch)
        how = dict(foreach=False) if one_by_one else dict(fused=True)
        optimizer = torch.optim.SGD(m.parameters(), lr=1e-4, momentum=0.9, nesterov=True, weight_decay=1e-4, **how)
        return training(m, lambda: F.cross_entropy(m(x).float(), y), optimizer)
    return make


# Sagas told on by a model of language that is wide for its few sentences: AdamW as it comes, or fused.
class Sagas(nn.Module):
    def __init__(self, words, d, heads, layers, t):
        super().__init__()
        self.words, self.places, self.layers = nn.Embedding(words, d), nn.Embedding(t, d), blocks(layers, d, heads, causal=True)
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, words, bias=False)

    def forward(self, ids):
        return self.head(self.norm(self.layers(self.words(ids) + self.places.weight)))


def sagas_adamw(as_it_comes):
    def make():
        words, t, batch = S(32768, 40), S(512, 6), S(3, 2)
        m = built(lambda: Sagas(words, S(1408, 16), S(11, 2), S(10, 1), t))
        ids, goal = draw(words, batch, t), draw(words, batch * t)
        optimizer = torch.optim.AdamW(m.parameters(), lr=1e-5, betas=(0.9, 0.95), **({} if as_it_comes else dict(fused=True)))
        return training(m, lambda: F.cross_entropy(m(ids).flatten(0, 1).float(), goal), optimizer)
    return make


# ---- Attention by hand: scaled_dot_product_attention --------------------------------------------------------------------------


class Look(nn.Module):
    """What one sequence finds in another (or in itself), and two wide layers."""

    def __init__(self, d, heads, by_hand):
        super().__init__()
        self.n1, self.n2, self.n3, self.heads, self.by_hand = nn.LayerNorm(d), nn.LayerNorm(d), nn.LayerNorm(d), heads, by_hand
        self.q, self.kv, self.out, self.up, self.down = nn.Linear(d, d), nn.Linear(d, 2 * d), nn.Linear(d, d), nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def forward(self, x, other, bias=None):
        q = self.q(self.n1(x)).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        k, v = self.kv(self.n2(other)).unflatten(-1, (2, self.heads, -1)).permute(2, 0, 3, 1, 4)
        if self.by_hand:
            score = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
            y = (score if bias is None else score + bias).softmax(-1).to(v.dtype) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.n3(x))))


# Music written note by note, trained: what lies further back counts for less in each head, attention by hand; or by the library's kernel.
class Notes(nn.Module):
    def __init__(self, words, d, heads, layers, t, by_hand):
        super().__init__()
        self.words, self.layers = nn.Embedding(words, d), nn.ModuleList([Look(d, heads, by_hand) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, words)
        apart = (torch.arange(t)[:, None] - torch.arange(t)).float()
        falls = -apart * 2.0 ** -(torch.arange(1, heads + 1)[:, None, None] * 8 / heads)
        self.register_buffer("bias", falls.masked_fill(apart < 0, float("-inf")).to(BF).unsqueeze(0))

    def forward(self, ids):
        x = self.words(ids)
        for layer in self.layers:
            x = layer(x, x, self.bias)
        return self.head(self.norm(x))


def notes_attention(by_hand):
    def make():
        words, t, batch = S(512, 20), S(1024, 8), S(8, 2)
        m = built(lambda: Notes(words, S(512, 16), S(8, 2), S(5, 1), t, by_hand))
        ids, goal = draw(words, batch, t), draw(words, batch * t)
        return training(m, lambda: F.cross_entropy(m(ids).flatten(0, 1).float(), goal))
    return make


# What went wrong in a cloud, asked of long logs by few questions again and again, bfloat16: attention by hand, or by the library's kernel.
class Logs(nn.Module):
    def __init__(self, words, asks, d, heads, rounds, kinds, by_hand):
        super().__init__()
        self.words, self.asks, self.head = nn.Embedding(words, d), nn.Parameter(torch.randn(asks, d)), nn.Linear(d, kinds)
        self.far, self.near = (nn.ModuleList([Look(d, heads, by_hand) for _ in range(rounds)]) for _ in range(2))

    def forward(self, ids):
        seen, x = self.words(ids), self.asks.expand(ids.shape[0], -1, -1)
        for far, near in zip(self.far, self.near):
            x = far(x, seen)
            x = near(x, x)
        return self.head(x.mean(1)).float()


def logs_questions(by_hand):
    def make():
        words, t = S(20000, 30), S(12288, 12)
        m = built(lambda: Logs(words, S(384, 4), S(512, 16), S(8, 2), S(3, 2), S(40, 5), by_hand), BF).eval()
        return inference(m, draw(words, S(4, 2), t))
    return make


# ---- Types ----------------------------------------------------------------------------------------------------------------------


# What lives on a reef, found in one photograph after the other: weights in float32 under autocast, or cast once to bfloat16.
class Reef(nn.Module):
    def __init__(self, patch, d, heads, layers, kinds):
        super().__init__()
        self.enter, self.layers, self.norm, self.head = nn.Conv2d(3, d, patch, patch), blocks(layers, d, heads), nn.LayerNorm(d), nn.Linear(d, kinds)

    def forward(self, x):
        return self.head(self.norm(self.layers(self.enter(x).flatten(2).transpose(1, 2))))


def reefs_autocast(each_time):
    def make():
        side, patch = S(448, 16), S(16, 4)
        m, x = built(lambda: Reef(patch, S(1280, 16), S(16, 2), S(16, 2), S(64, 8))).eval(), noise(1, 3, side, side)
        if not each_time:
            m, x = m.to(BF), x.to(BF)

        @torch.no_grad()
        def step():
            if not each_time:
                return m(x).float()
            with autocast():
                return m(x).float()
        return step
    return make


# Pictures of a story drawn out of noise by a few rounds, weights kept in eight bits: widened at each use, or once before.
class Eight(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.register_buffer("weight", (torch.randn(o, i) * i ** -0.5).to(torch.float8_e4m3fn))
        self.bias = nn.Parameter(torch.zeros(o, dtype=BF))

    def forward(self, x):
        return F.linear(x, self.weight.to(x.dtype), self.bias)


class Scene(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.steer, self.qkv, self.out, self.up, self.down, self.heads = Eight(d, 6 * d), Eight(d, 3 * d), Eight(d, d), Eight(d, 4 * d), Eight(4 * d, d), heads

    def forward(self, x, told):
        a1, b1, c1, a2, b2, c2 = self.steer(F.silu(told)).unsqueeze(1).chunk(6, -1)
        q, k, v = self.qkv(F.layer_norm(x, x.shape[-1:]) * (1 + a1) + b1).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        x = x + c1 * self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        return x + c2 * self.down(F.gelu(self.up(F.layer_norm(x, x.shape[-1:]) * (1 + a2) + b2), approximate="tanh"))


def storyboards_eight(each_time):
    def make():
        d, rounds = S(1536, 16), S(4, 2)
        m = built(lambda: nn.ModuleList([Scene(d, S(12, 2)) for _ in range(S(10, 2))])).eval()
        if not each_time:
            for part in m.modules():
                if isinstance(part, Eight):
                    part.weight = part.weight.to(BF)
        first, told = noise(2, S(512, 6), d, dtype=BF), noise(rounds, 2, d, dtype=BF)

        @torch.no_grad()
        def step():
            x = first
            for i in range(rounds):
                h = x
                for layer in m:
                    h = layer(h, told[i])
                x = x + (h - x) * (0.5 / rounds)
            return x
        return step
    return make


# What was said in debates as vectors, bfloat16: scores held small, gates and sums taken to float32 and back each time, or left in bfloat16.
class Debate(nn.Module):
    def __init__(self, d, wide, back):
        super().__init__()
        self.n1, self.mix, self.gate, self.n2 = nn.LayerNorm(d), nn.Linear(d, d), nn.Linear(d, d), nn.LayerNorm(d)
        self.up, self.down, self.weight, self.back = nn.Linear(d, wide), nn.Linear(wide, d), nn.Parameter(torch.full((d,), 0.5)), back

    def forward(self, x):
        h = self.n1(x)
        mixed, gate = self.mix(h), self.gate(h)
        if self.back:
            mixed = (mixed.float() * torch.sigmoid(gate.float())).to(x.dtype)
            x = (x.float() + mixed.float() * 0.5).to(x.dtype)
            wide = self.up(self.n2(x))
            wide = (30 * torch.tanh(F.gelu(wide.float()) / 30)).to(x.dtype)
            return (x.float() + self.down(wide).float() * 0.5).to(x.dtype)
        x = x + mixed * torch.sigmoid(gate) * 0.5
        wide = self.up(self.n2(x))
        wide = 30 * torch.tanh(F.gelu(wide) / 30)
        return x + self.down(wide) * 0.5


def debates_float(back):
    def make():
        words, d = S(30000, 40), S(1024, 16)
        m = built(lambda: nn.Sequential(nn.Embedding(words, d), *[Debate(d, S(3072, 32), back) for _ in range(S(6, 2))], nn.LayerNorm(d)), BF).eval()
        ids = draw(words, S(16384, 8))
        return inference(lambda: m(ids).unflatten(0, (-1, S(256, 4))).mean(1).float())
    return make


# ---- Products and convolutions ------------------------------------------------------------------------------------------------


# Kinds of orchids by photographs, bfloat16: NCHW as it comes, or channels last.
def orchids_layout(channels_last):
    def make():
        side = S(256, 32)
        m, x = built(lambda: bottlenecks(S(64, 4), S((2, 3, 4, 2), (1, 1)), S(512, 4)), BF).eval(), noise(S(64, 2), 3, side, side, dtype=BF)
        if channels_last:
            m, x = last(m), last(x)
        return inference(lambda: m(x).float())
    return make


# How the ground shakes at any place and time, learnt from simulated quakes in float32, one net for the source and one for the place; TF32 off, or on.
class Quakes(nn.Module):
    def __init__(self, source, d, out):
        super().__init__()
        part = lambda i, o: nn.Sequential(nn.Linear(i, o), nn.SiLU())
        self.source = nn.Sequential(part(source, d), part(d, d), part(d, d), nn.Linear(d, out))
        self.place = nn.Sequential(part(64, d), part(d, d), part(d, d), nn.Linear(d, out))
        self.register_buffer("waves", torch.randn(4, 32))

    def forward(self, source, place):
        at = place @ self.waves
        return self.source(source) @ self.place(torch.cat([at.sin(), at.cos()], -1)).T


def quakes_fp32(full):
    def make():
        quakes, places, seen = S(2048, 4), S(8192, 6), S(1024, 8)
        m, x, at, y = built(lambda: Quakes(seen, S(1536, 16), S(512, 8))), noise(quakes, seen), noise(places, 4), noise(quakes, places)
        step = training(m, lambda: F.mse_loss(m(x, at), y), cast=False)

        def with_precision():
            torch.set_float32_matmul_precision("highest" if full else "high")
            return step()
        return with_precision
    return make


# Novels read on by a model whose gated layers are two thirds of four times as wide, as the paper says; or padded.
class Novel(nn.Module):
    def __init__(self, d, heads, wide, more):
        super().__init__()
        self.n1, self.qkv, self.out, self.heads, self.n2 = nn.RMSNorm(d), nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False), heads, nn.RMSNorm(d)
        self.gate, self.up, self.down = nn.Linear(d, wide, bias=False), nn.Linear(d, wide, bias=False), nn.Linear(wide, d, bias=False)
        for part, sides in ((self.gate, (0, 0, 0, more)), (self.up, (0, 0, 0, more)), (self.down, (0, more))):
            part.weight = nn.Parameter(F.pad(part.weight.data, sides))

    def forward(self, x):
        q, k, v = self.qkv(self.n1(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        h = self.n2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


def novels_odd(odd):
    def make():
        words, d, t, batch = S(32000, 40), S(1024, 16), S(1024, 6), S(6, 2)
        wide = 8 * d // 3
        more = 0 if odd else -wide % 64
        m = built(lambda: nn.Sequential(nn.Embedding(words, d), *[Novel(d, S(16, 2), wide, more) for _ in range(S(6, 1))], nn.RMSNorm(d),
                                        nn.Linear(d, words, bias=False)))
        ids, goal = draw(words, batch, t), draw(words, batch * t)
        return training(m, lambda: F.cross_entropy(m(ids).flatten(0, 1).float(), goal))
    return make


# How fast cars will be at each of many sensors of a town that all look at each other, bfloat16: as many as there are, or padded.
class Roads(nn.Module):
    def __init__(self, sensors, seen, d, layers, more):
        super().__init__()
        self.enter, self.out = nn.Linear(seen, d), nn.Linear(d, 12)
        self.own, self.near = (nn.ModuleList([nn.Linear(d, d) for _ in range(layers)]) for _ in range(2))
        self.register_buffer("links", F.pad((torch.randn(layers, sensors, sensors) * 2).softmax(-1), (0, more, 0, more)))

    def forward(self, x):
        h = self.enter(x)
        for own, near, links in zip(self.own, self.near, self.links):
            seen = (links @ h.flatten(1)).unflatten(1, h.shape[1:])
            h = h + F.relu(own(h) + near(seen))
        return self.out(h)


def roads_odd(odd):
    def make():
        sensors, batch, seen = S(2491, 21), S(128, 3), S(24, 4)
        more = 0 if odd else -sensors % 64
        m = built(lambda: Roads(sensors, seen, S(128, 8), S(5, 2), more), BF).eval()
        x = F.pad(noise(sensors, batch, seen, dtype=BF), (0, 0, 0, 0, 0, more))
        return inference(lambda: m(x)[:sensors].float())
    return make


# ---- Many small kernels: one op instead of a loop -----------------------------------------------------------------------------


# What each station of a weather service will measure, a small net for each behind a common one, trained: one after the other, or all at once.
class Stations(nn.Module):
    def __init__(self, seen, d, count, looped):
        super().__init__()
        self.common = nn.Sequential(nn.Linear(seen, d), nn.SiLU(), nn.Linear(d, d), nn.SiLU())
        first, then = torch.randn(count, d, d // 4) * d ** -0.5, torch.randn(count, d // 4, 3) * d ** -0.5
        self.looped, parameters = looped, nn.ParameterList if looped else nn.Parameter
        self.first, self.then = parameters(list(first) if looped else first), parameters(list(then) if looped else then)

    def forward(self, x):
        h = self.common(x)
        if self.looped:
            return torch.stack([torch.relu(h @ first) @ then for first, then in zip(self.first, self.then)])
        return torch.relu(h @ self.first) @ self.then


def stations_nets(looped):
    def make():
        seen, count, batch = S(256, 8), S(48, 4), S(512, 6)
        m, x, y = built(lambda: Stations(seen, S(256, 16), count, looped)), noise(batch, seen), noise(count, batch, 3)
        return training(m, lambda: F.smooth_l1_loss(m(x).float(), y))
    return make


# Tides of a harbour by the moon and the sun, height and phase of each part fitted: part after part, or all at once.
def tides_fitted(looped):
    def make():
        hours, parts = S(8760, 50), S(37, 5)
        t, level = torch.arange(hours, device=D) / 24, noise(hours)
        speed = 2 * math.pi * torch.linspace(0.04, 4.1, parts, device=D)
        high, phase = nn.Parameter(0.2 * noise(parts)), nn.Parameter(noise(parts))

        def loss_of():
            if looped:
                told = 0.0
                for i in range(parts):
                    told = told + high[i] * torch.cos(speed[i] * t + phase[i])
            else:
                told = (high[:, None] * torch.cos(speed[:, None] * t + phase[:, None])).sum(0)
            return F.huber_loss(told, level)
        return training(None, loss_of, torch.optim.Adam([high, phase], lr=1e-4, fused=True), cast=False)
    return make


# ---- What is made again and again -----------------------------------------------------------------------------------------------


# Which bells ring, by waves of the tones of a scale under windows that get shorter upwards: made in each call, or once and kept.
class Bells(nn.Module):
    def __init__(self, tones, window, c, kinds):
        super().__init__()
        self.tones, self.window = tones, window
        part = lambda i, o: nn.Sequential(nn.Conv1d(i, o, 3, padding=1), nn.BatchNorm1d(o), nn.GELU())
        self.body, self.out = nn.Sequential(part(tones, c), part(c, c), part(c, c)), nn.Conv1d(c, kinds, 1)

    def waves(self):
        tone = 2.0 ** (torch.arange(self.tones, device=D) * (7 / self.tones)) * 0.004
        at = torch.arange(self.window, device=D) - self.window / 2
        wide = self.window * (0.02 + 0.9 * 2.0 ** (torch.arange(self.tones, device=D) * (-7 / self.tones)))
        where = at[None] / wide[:, None]
        bell = torch.where(where.abs() < 0.5, 0.5 + 0.5 * torch.cos(2 * math.pi * where), 0) / wide[:, None]
        angle = math.pi * tone[:, None] * at[None]
        return torch.cat([bell * torch.cos(angle), bell * torch.sin(angle)])

    def forward(self, x, waves):
        re, im = (waves @ x.unfold(-1, self.window, self.window // 4).transpose(1, 2)).chunk(2, 1)
        return torch.sigmoid(self.out(self.body(torch.log1p(100 * (re ** 2 + im ** 2)))))


def bells_waves(each_time):
    def make():
        window = S(16384, 64)
        m, x = built(lambda: Bells(S(504, 6), window, S(512, 8), S(24, 4))).eval(), noise(S(24, 2), S(64, 32) * window)
        kept = m.waves()
        return inference(lambda: m(x, m.waves() if each_time else kept))
    return make


# ---- Nothing is left to mend ----------------------------------------------------------------------------------------------------


def learning(m, *given):
    """A step of training, the model with its loss compiled."""
    f = compiled(m)
    return training(m, lambda: f(*given))


# Sagas again, many at once, trained: the model with its loss compiled.
class Told(nn.Module):
    def __init__(self, *given):
        super().__init__()
        self.m = Sagas(*given)

    def forward(self, ids, goal):
        return F.cross_entropy(self.m(ids).flatten(0, 1).float(), goal)


def sagas_train():
    words, t, batch = S(16384, 40), S(1024, 6), S(16, 2)
    return learning(built(lambda: Told(words, S(1024, 16), S(16, 2), S(6, 1), t)), draw(words, batch, t), draw(words, batch * t))


# Pictures between noise and what they show, in steps straight ahead, trained: the model with its loss compiled.
class Straight(nn.Module):
    def __init__(self, seen, d, heads, layers):
        super().__init__()
        self.enter, self.time, self.layers = nn.Linear(seen, d), nn.Sequential(nn.Linear(64, d), nn.SiLU(), nn.Linear(d, d)), blocks(layers, d, heads)
        self.out = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, seen))
        self.register_buffer("waves", torch.linspace(0, 8, 32).exp())

    def forward(self, x, noisy, t):
        at = t[:, None] * self.waves
        h = self.enter(torch.lerp(noisy, x, t[:, None, None])) + self.time(torch.cat([at.sin(), at.cos()], -1)).unsqueeze(1)
        return F.mse_loss(self.out(self.layers(h)).float(), x - noisy)


def straight_train():
    b, t, seen = S(32, 2), S(1024, 6), S(64, 8)
    return learning(built(lambda: Straight(seen, S(896, 16), S(14, 2), S(5, 1))), noise(b, t, seen), noise(b, t, seen), torch.rand(b, device=D))


# Long reports read before an answer, bfloat16: compiled.
def reports_prefill():
    d, t = S(2048, 16), S(2048, 6)
    m = built(lambda: nn.Sequential(nn.Embedding(S(32768, 40), d), *[Block(d, S(16, 2), causal=True) for _ in range(S(6, 1))], nn.LayerNorm(d)), BF).eval()
    return inference(compiled(m), draw(S(32768, 40), S(8, 2), t))


# Photographs of a gallery by what is on them, bfloat16: compiled, mode="reduce-overhead".
def galleries_infer():
    side = S(512, 16)
    m, x = built(lambda: Reef(S(16, 4), S(1024, 16), S(16, 2), S(8, 2), S(64, 8)), BF).eval(), noise(S(16, 2), 3, side, side, dtype=BF)
    return inference(compiled(m, mode="reduce-overhead"), x)


# Each kind once, then the others.
PAIRS = dict(
    snow_energy=pair(snow_energy, True, False), swarm_foreseen=pair(swarm_foreseen, False, True), gems_drawn=pair(gems_drawn, True, False),
    glaciers_loader=pair(glaciers_loader, 0, 12), slices_ahead=pair(slices_ahead, True, False), embryos_upload=pair(embryos_upload, True, False),
    clauses_turned=pair(clauses_turned, True, False), coffee_sgd=pair(coffee_sgd, True, False), notes_attention=pair(notes_attention, True, False),
    reefs_autocast=pair(reefs_autocast, True, False), orchids_layout=pair(orchids_layout, False, True), quakes_fp32=pair(quakes_fp32, True, False),
    novels_odd=pair(novels_odd, True, False), stations_nets=pair(stations_nets, True, False), bells_waves=pair(bells_waves, True, False),
    debates_float=pair(debates_float, True, False), whales_spectra=pair(whales_spectra, True, False),
    heartbeats_capture=pair(heartbeats_capture, False, True), paintings_triplets=pair(paintings_triplets, True, False),
    rooms_workers=pair(rooms_workers, 2, 12), molecules_lines=pair(molecules_lines, True, False), depths_fetched=pair(depths_fetched, True, False),
    streets_labelled=pair(streets_labelled, True, False), sagas_adamw=pair(sagas_adamw, True, False), logs_questions=pair(logs_questions, True, False),
    storyboards_eight=pair(storyboards_eight, True, False), roads_odd=pair(roads_odd, True, False), tides_fitted=pair(tides_fitted, True, False),
    crystals_energy=pair(crystals_energy, True, False), messages_names=pair(messages_names, False, True), seizures_alarm=pair(seizures_alarm, True, False),
    adapters_locked=pair(adapters_locked, True, False), residues_triangles=pair(residues_triangles, True, False),
    students_distilled=pair(students_distilled, True, False), showers_splines=pair(showers_splines, True, False))
FAULTS = dict(
    snow_energy="unfused_pointwise", whales_spectra="unfused_pointwise", crystals_energy="unfused_pointwise", residues_triangles="unfused_pointwise",
    students_distilled="unfused_pointwise", showers_splines="unfused_pointwise", swarm_foreseen="launch_bound", heartbeats_capture="launch_bound",
    messages_names="launch_bound", gems_drawn="host_sync", paintings_triplets="host_sync", seizures_alarm="host_sync", glaciers_loader="dataloader",
    rooms_workers="dataloader", slices_ahead="preprocessing", molecules_lines="preprocessing", embryos_upload="pageable_copy",
    depths_fetched="pageable_copy", clauses_turned="graph_breaks", streets_labelled="graph_breaks", adapters_locked="graph_breaks",
    coffee_sgd="optimizer_not_fused", sagas_adamw="optimizer_not_fused", notes_attention="unfused_attention", logs_questions="unfused_attention",
    reefs_autocast="repeated_casts", storyboards_eight="repeated_casts", orchids_layout="layout_transforms", quakes_fp32="tf32_off",
    novels_odd="gemm_alignment", roads_odd="gemm_alignment", stations_nets="tiny_kernels", tides_fitted="tiny_kernels", bells_waves="remade_constants",
    debates_float="duplicate_casts")
HEALTHY = dict(sagas_train=sagas_train, straight_train=straight_train, reports_prefill=reports_prefill, galleries_infer=galleries_infer)
PROGRAMS = in_turns(PAIRS, HEALTHY)
COMPILED = [
    "snow_energy", "whales_spectra", "crystals_energy", "residues_triangles", "students_distilled", "showers_splines", "messages_names", "clauses_turned",
    "streets_labelled", "adapters_locked", "sagas_train", "straight_train", "reports_prefill", "galleries_infer"]
FORMS = {}
