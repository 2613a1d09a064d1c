"""The second part of a tenth set of programs that no rule was read from: pairs with one fault and without it, and healthy ones. Only scored.

Robots, physics and climate, speech and music, pictures out of noise, search engines, games, factories. PROGRAMS is what recording.py records, in
this order (variety first, so that a run cut short has some of everything); FAULTS says what was planted in each pair. The mended half follows the
advice that docs/findings.md gives for the finding, to the letter, and changes nothing else. A step returns what it computed, so that a pair can be
compared. COMPILED: what has something to compile.
"""
import contextlib, logging, math, os, sys
import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from program_parts import BF, D, DRY, HALF_HERE, S, autocast, built, compiled, draw, inference, last, noise, pinned, replayed, training
from program_parts import in_turns, pair

SETS = [["shapes", "plain"], ["shapes", "stack"], ["memory", "shapes_stack"], ["plain", "shapes"], ["shapes", "modules"], ["stack", "shapes"]]


def options(index):
    return SETS[index % len(SETS)]


# ---- Layers that several programs share ---------------------------------------------------------------------------------------


def mlp(*sizes, act=nn.SiLU):
    return nn.Sequential(*[part for i, o in zip(sizes, sizes[1:]) for part in (nn.Linear(i, o), act())][:-1])


def normed(i, o, k=3, stride=1):
    return nn.Sequential(nn.Conv2d(i, o, k, stride, k // 2, bias=False), nn.BatchNorm2d(o))


class Residual(nn.Module):
    def __init__(self, i, o, stride=1):
        super().__init__()
        self.a, self.b, self.short = normed(i, o, 3, stride), normed(o, o), nn.Identity() if i == o and stride == 1 else normed(i, o, 1, stride)

    def forward(self, x):
        return F.relu(self.short(x) + self.b(F.relu(self.a(x))))


def tower(seen, c, kinds, blocks=1):
    """A small residual network: four widths, each half as large as the one before."""
    stage = lambda i, o: (Residual(i, o, 2), *[Residual(o, o) for _ in range(blocks - 1)])
    stages = [*stage(c, 2 * c), *stage(2 * c, 4 * c), *stage(4 * c, 4 * c)]
    return nn.Sequential(normed(seen, c, 7, 2), nn.ReLU(), Residual(c, c), *stages, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * c, kinds))


def angles(t, d, dtype=None):
    angle = torch.arange(t, device=D)[:, None] * 10000.0 ** -torch.linspace(0, 1, d // 2, device=D)
    return torch.cat([angle, angle], -1).cos().to(dtype), torch.cat([angle, angle], -1).sin().to(dtype)


def turned(x, cos, sin):
    a, b = x.chunk(2, -1)
    return (x * cos + torch.cat([-b, a], -1) * sin).type_as(x)


class RMS(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))

    def forward(self, x):
        h = x.float()
        return self.weight * (h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)).type_as(x)


class Attention(nn.Module):
    def __init__(self, d, heads, causal=False, by_hand=False, linear=nn.Linear):
        super().__init__()
        self.heads, self.causal, self.by_hand, self.q, self.kv, self.out = heads, causal, by_hand, linear(d, d), linear(d, 2 * d), linear(d, d)

    def forward(self, x, turns=None, mask=None, other=None):
        q = self.q(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        k, v = self.kv(x if other is None else other).unflatten(-1, (2, self.heads, -1)).permute(2, 0, 3, 1, 4)
        if turns is not None:
            q, k = turned(q, *turns), turned(k, *turns)
        if self.by_hand:
            scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.shape[-1])
            y = torch.matmul(scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1), v)
        else:
            y = F.scaled_dot_product_attention(q, k, v, mask, is_causal=self.causal)
        return self.out(y.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, d, heads, **more):
        super().__init__()
        self.n1, self.n2, self.look = nn.LayerNorm(d), nn.LayerNorm(d), Attention(d, heads, **more)
        self.up, self.down = (more.get("linear", nn.Linear)(i, o) for i, o in ((d, 4 * d), (4 * d, d)))

    def forward(self, x, turns=None, mask=None):
        x = x + self.look(self.n1(x), turns, mask)
        return x + self.down(F.gelu(self.up(self.n2(x))))


class Words(nn.Module):
    """A reader: words and their places, then layers."""
    def __init__(self, words, d, heads, layers, length, **more):
        super().__init__()
        self.embed, self.places, self.norm = nn.Embedding(words, d), nn.Parameter(torch.randn(length, d) * 0.02), nn.LayerNorm(d)
        self.layers = nn.ModuleList([Block(d, heads, **more) for _ in range(layers)])

    def forward(self, ids, mask=None):
        x = self.embed(ids) + self.places
        for layer in self.layers:
            x = layer(x, None, mask)
        return self.norm(x)


class Heard(nn.Module):
    """A listener: two convolutions over a spectrogram, then layers whose places are angles."""
    def __init__(self, mels, d, heads, layers, frames, dtype=None, **more):
        super().__init__()
        self.enter = nn.Sequential(nn.Conv1d(mels, d, 3, 2, 1), nn.GELU(), nn.Conv1d(d, d, 3, 2, 1), nn.GELU())
        self.layers, self.norm = nn.ModuleList([Block(d, heads, **more) for _ in range(layers)]), nn.LayerNorm(d)
        self.turns = angles(frames // 4, d // heads, dtype)

    def forward(self, x):
        x = self.enter(x).transpose(1, 2)
        for layer in self.layers:
            x = layer(x, self.turns)
        return self.norm(x)


def modulated(x, shift, scale):
    return x * (1 + scale) + shift


class Modulated(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.n1, self.n2 = (nn.LayerNorm(d, elementwise_affine=False, eps=1e-6) for _ in range(2))
        self.look, self.up, self.down, self.six = Attention(d, heads), nn.Linear(d, 4 * d), nn.Linear(4 * d, d), nn.Linear(d, 6 * d)

    def forward(self, x, c):
        shift, scale, gate, shift2, scale2, gate2 = self.six(c).unsqueeze(1).chunk(6, -1)
        x = x + gate * self.look(modulated(self.n1(x), shift, scale))
        return x + gate2 * self.down(F.gelu(self.up(modulated(self.n2(x), shift2, scale2)), approximate="tanh"))


class Denoiser(nn.Module):
    """A diffusion transformer over patches, told the time and the kind."""
    def __init__(self, patch, places, d, heads, layers, kinds):
        super().__init__()
        self.enter, self.places = nn.Linear(patch, d), nn.Parameter(torch.randn(places, d) * 0.02)
        self.kinds, self.time = nn.Embedding(kinds, d), mlp(256, d, d)
        self.layers, self.norm = nn.ModuleList([Modulated(d, heads) for _ in range(layers)]), nn.LayerNorm(d, elementwise_affine=False, eps=1e-6)
        self.two, self.out = nn.Linear(d, 2 * d), nn.Linear(d, patch)
        self.register_buffer("rates", torch.exp(-math.log(10000) * torch.arange(128) / 128))

    def forward(self, x, t, kind):
        angle = t[:, None] * self.rates
        c = F.silu(self.time(torch.cat([angle.cos(), angle.sin()], -1)) + self.kinds(kind))
        x = self.enter(x) + self.places
        for layer in self.layers:
            x = layer(x, c)
        shift, scale = self.two(c).unsqueeze(1).chunk(2, -1)
        return self.out(modulated(self.norm(x), shift, scale))


def flow_training(m, f, batch, places, patch, kinds):
    """Rectified flow: times drawn near the middle, the way from the picture to noise is learnt. f(noised, time, kind, goal) is the loss."""
    pictures, labels = noise(batch, places, patch), draw(kinds, batch)

    def loss_of():
        t, far = torch.sigmoid(noise(batch)), torch.randn_like(pictures)
        return f(torch.lerp(pictures, far, t[:, None, None]), 1000 * t, labels, far - pictures)
    return training(m, loss_of)


# ---- The host waits for the device: the value is kept there -------------------------------------------------------------------


# A rover learns by soft actor-critic: the temperature and what is logged are fetched in each update, or stay on the device.
class Actor(nn.Module):
    def __init__(self, seen, acts, d):
        super().__init__()
        self.body, self.mean, self.spread = nn.Sequential(mlp(seen, d, d, act=nn.ReLU), nn.ReLU()), nn.Linear(d, acts), nn.Linear(d, acts)

    def forward(self, x):
        h = self.body(x)
        mean, log_spread = self.mean(h), -1.5 + 3.5 * torch.tanh(self.spread(h))
        draws = torch.randn_like(mean)
        act = torch.tanh(mean + log_spread.exp() * draws)
        chance = -0.5 * draws ** 2 - log_spread - 0.5 * math.log(2 * math.pi) - torch.log(1 - act ** 2 + 1e-6)
        return act, chance.sum(-1, keepdim=True)


def rovers_sac(fetched):
    def make():
        rows, seen, acts, d = S(8192, 6), S(64, 6), S(12, 2), S(1024, 16)
        critic = lambda: mlp(seen + acts, d, d, 1, act=nn.ReLU)
        actor, critics, slow = (built(lambda: Actor(seen, acts, d)), *(built(lambda: nn.ModuleList([critic(), critic()])) for _ in range(2)))
        slow.load_state_dict(critics.state_dict())
        log_alpha = torch.zeros(1, device=D, requires_grad=True)
        judging, acting, cooling = (torch.optim.Adam(p, lr=1e-4, fused=True) for p in (critics.parameters(), actor.parameters(), [log_alpha]))
        before, done, gain, after = noise(rows, seen), torch.rand(rows, acts, device=D) * 2 - 1, noise(rows, 1), noise(rows, seen)
        going, alpha, told = (torch.rand(rows, 1, device=D) > 0.02).float(), [1.0], dict(q=0.0, actor=0.0, alpha=0.0)

        def step():
            with torch.no_grad():
                act, chance = actor(after)
                then = torch.cat([after, act], -1)
                goal = gain + 0.99 * going * (torch.minimum(slow[0](then), slow[1](then)) - alpha[0] * chance)
            now = torch.cat([before, done], -1)
            loss = F.mse_loss(critics[0](now), goal) + F.mse_loss(critics[1](now), goal)
            judging.zero_grad()
            loss.backward()
            judging.step()
            act, chance = actor(before)
            now = torch.cat([before, act], -1)
            actor_loss = (alpha[0] * chance - torch.minimum(critics[0](now), critics[1](now))).mean()
            acting.zero_grad()
            actor_loss.backward()
            acting.step()
            alpha_loss = (-log_alpha.exp() * (chance.detach() - acts)).mean()
            cooling.zero_grad()
            alpha_loss.backward()
            cooling.step()
            alpha[0] = log_alpha.exp().item() if fetched else log_alpha.detach().exp()
            for name, value in (("q", loss), ("actor", actor_loss), ("alpha", alpha_loss)):
                told[name] += value.item() if fetched else value.detach()
            with torch.no_grad():
                torch._foreach_lerp_(list(slow.parameters()), list(critics.parameters()), 0.005)
            return loss.detach()
        return step
    return make


# Warm air that rises, a gas on a grid: the time step that its waves allow and a check for NaN are fetched in each round, or stay on the device.
def limited(q, axis):
    a, b = q - q.roll(1, axis), q.roll(-1, axis) - q
    return torch.where(a * b > 0, torch.where(a.abs() < b.abs(), a, b), 0.0)


def gas(q, axis):
    pressure = 0.4 * (q[3] - 0.5 * (q[1] ** 2 + q[2] ** 2) / q[0])
    pace = q[axis] / q[0]
    f = q * pace
    f[axis] += pressure
    f[3] += pressure * pace
    return f, pace.abs() + torch.sqrt(1.4 * pressure / q[0])


def plume_cfl(fetched):
    def make():
        n, rounds = S(1024, 16), S(8, 3)
        x = torch.linspace(-1, 1, n, device=D)
        warm = torch.exp(-20 * (x[:, None] ** 2 + (x[None] + 0.5) ** 2))
        first = torch.stack([1 - 0.4 * warm, torch.zeros_like(warm), 0.3 * warm, 2.5 + 0.1 * noise(n, n).clamp(-1, 1)])

        @torch.no_grad()
        def step():
            q, clock, sound = first, 0.0, torch.ones((), dtype=torch.bool, device=D)
            for _ in range(rounds):
                dt = 0.3 / torch.maximum(gas(q, 1)[1], gas(q, 2)[1]).max()
                if fetched:
                    dt = dt.item()
                change = 0.0
                for axis in (1, 2):
                    slope = 0.5 * limited(q, axis)
                    left, right = q + slope, (q - slope).roll(-1, axis)
                    (f_left, c_left), (f_right, c_right) = gas(left, axis), gas(right, axis)
                    f = 0.5 * (f_left + f_right) - 0.5 * torch.maximum(c_left, c_right) * (right - left)
                    change = change + f - f.roll(1, axis)
                q = q - dt * change
                q[2] += dt * 0.01 * (1 - q[0])
                clock = clock + dt
                fine = torch.isfinite(q).all()
                if fetched:
                    if not fine:
                        raise FloatingPointError("the gas is torn")
                else:
                    sound &= fine
            return q
        return step
    return make


# Radio calls written down by a transducer: each frame asks the device whether anything was said, or goes on with what masks keep.
class Transducer(nn.Module):
    def __init__(self, mels, d, heads, layers, frames, words, small, dtype):
        super().__init__()
        self.listen, self.embed, self.cell = Heard(mels, d, heads, layers, frames, dtype), nn.Embedding(words, small), nn.LSTMCell(small, small)
        self.a, self.b, self.joint = nn.Linear(d, small), nn.Linear(small, small), nn.Linear(small, words)


def dispatch_transducer(fetched):
    def make():
        batch, mels, frames, words, small = S(64, 2), S(80, 8), S(800, 32), S(1024, 12), S(512, 8)
        m = built(lambda: Transducer(mels, S(768, 16), S(12, 2), S(8, 1), frames, words, small, HALF_HERE), HALF_HERE).eval()
        sound, start = noise(batch, mels, frames, dtype=HALF_HERE), torch.zeros(batch, dtype=torch.long, device=D)

        @torch.no_grad()
        def step():
            heard, told = m.a(m.listen(sound)), []
            h, c = m.cell(m.embed(start))
            for t in range(heard.shape[1]):
                best = m.joint(torch.tanh(heard[:, t] + m.b(h))).argmax(-1)
                told.append(best)
                said = best != 0
                if fetched and not said.any():
                    continue
                h_then, c_then = m.cell(m.embed(best), (h, c))
                h, c = torch.where(said[:, None], h_then, h), torch.where(said[:, None], c_then, c)
            return torch.stack(told, 1)
        return step
    return make


# ---- Many launches: captured in a CUDA graph ----------------------------------------------------------------------------------


# A drone plans its way between posts, a thousand ways flown in a model of it: op by op, or the whole plan captured.
def flown(state, act, wind, dt):
    place, pace, q = state
    a, x, y, z = q.unbind(-1)
    up = torch.stack([2 * (x * z + a * y), 2 * (y * z - a * x), 1 - 2 * (x * x + y * y)], -1)
    push, (p, r, s) = 9.81 * (1 + act[:, :1]), (4 * act[:, 1:]).unbind(-1)
    pull = up * push + 0.1 * wind(torch.cat([pace, q], -1))
    pull[:, 2] -= 9.81
    spin = torch.stack([-x * p - y * r - z * s, a * p + y * s - z * r, a * r + z * p - x * s, a * s + x * r - y * p], -1)
    return place + dt * pace, pace + dt * pull, F.normalize(q + 0.5 * dt * spin, dim=-1)


def drone_planner(captured):
    def make():
        ways, far = S(1024, 12), S(24, 4)
        wind = built(lambda: mlp(7, 64, 64, 3, act=nn.Tanh)).eval()
        posts, goal, draws, plan = noise(32, 2) * 6, torch.full((3,), 5.0, device=D), 0.3 * noise(far, ways, 4), torch.zeros(far, 4, device=D)
        level = torch.zeros(ways, 4, device=D)
        level[:, 0] = 1

        @torch.no_grad()
        def step():
            acts = (plan[:, None] + draws).clamp(-1, 1)
            state, cost = (torch.zeros(ways, 3, device=D), torch.zeros(ways, 3, device=D), level), torch.zeros(ways, device=D)
            for t in range(far):
                state = flown(state, acts[t], wind, 0.05)
                near = torch.cdist(state[0][:, :2], posts, compute_mode="donot_use_mm_for_euclid_dist").amin(1)
                cost = cost + (state[0] - goal).norm(dim=-1) + 20 * torch.sigmoid(20 * (0.4 - near)) + 0.05 * (acts[t] ** 2).sum(-1)
            weight = torch.softmax((cost.min() - cost) / 2.0, 0)
            best = (plan + (weight[None, :, None] * draws).sum(1)).clamp(-1, 1)
            plan.copy_(torch.cat([best[1:], best[-1:]]))
            return best
        return replayed(step) if captured else step
    return make


# Mazes walked in thought: a latent world model, its values and its policy learnt along five steps; op by op, or the whole step captured.
def wide(*sizes):
    return [part for i, o in zip(sizes, sizes[1:]) for part in (nn.Linear(i, o), nn.LayerNorm(o), nn.Mish())]


def simplex(x):
    return x.unflatten(-1, (-1, 8)).softmax(-1).flatten(-2)


class Thought(nn.Module):
    def __init__(self, seen, acts, d, latent):
        super().__init__()
        head = lambda i, o: nn.Sequential(*wide(i, d, d), nn.Linear(d, o))
        self.encode, self.then, self.gain, self.acts = head(seen, latent), head(latent + acts, latent), head(latent + acts, 1), head(latent, acts)
        self.values = nn.ModuleList([head(latent + acts, 1) for _ in range(2)])

    def act(self, z):
        return torch.tanh(self.acts(z))


def mazes_latent(captured):
    def make():
        batch, far, seen, acts, latent, d = S(256, 4), S(5, 2), S(128, 6), S(8, 2), S(512, 16), S(512, 16)
        m, slow = (built(lambda: Thought(seen, acts, d, latent)) for _ in range(2))
        slow.load_state_dict(m.state_dict())
        slow.requires_grad_(False)
        mine = [p for name, p in m.named_parameters() if not name.startswith("acts")]
        learning, acting = (torch.optim.Adam(p, lr=1e-5, fused=True, capturable=True) for p in (mine, m.acts.parameters()))
        views, done, gains = noise(far + 1, batch, seen), torch.rand(far, batch, acts, device=D) * 2 - 1, noise(far, batch, 1)
        both, least = lambda z, a: torch.cat([z, a], -1), lambda values, x: torch.minimum(values[0](x), values[1](x))

        def step():
            with torch.no_grad():
                ahead = simplex(m.encode(views[1:]))
                goals = gains + 0.99 * least(slow.values, both(ahead, m.act(ahead)))
            z, loss, visited = simplex(m.encode(views[0])), 0.0, []
            for t in range(far):
                x = both(z, done[t])
                visited.append(z.detach())
                z = simplex(m.then(x))
                miss = sum(F.mse_loss(value(x), goals[t]) for value in m.values)
                loss = loss + 0.5 ** t * (20 * F.mse_loss(z, ahead[t]) + 0.1 * F.mse_loss(m.gain(x), gains[t]) + 0.1 * miss)
            learning.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(mine, 20.0)
            learning.step()
            visited = torch.stack(visited)
            acting.zero_grad(set_to_none=True)
            (-least(m.values, both(visited, m.act(visited)))).mean().backward()
            nn.utils.clip_grad_norm_(m.acts.parameters(), 20.0)
            acting.step()
            with torch.no_grad():
                torch._foreach_lerp_(list(slow.parameters()), list(m.parameters()), 0.01)
            return loss.detach()
        return replayed(step) if captured else step
    return make


# Eddies behind a cylinder on a mesh, messages along its edges, compiled: as it comes, or with mode="reduce-overhead".
class Message(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.edge, self.node = (nn.Sequential(mlp(i, d, d), nn.LayerNorm(d)) for i in (3 * d, 2 * d))

    def forward(self, x, e, a, b):
        e = e + self.edge(torch.cat([x[a], x[b], e], -1))
        told = torch.zeros_like(x).index_add(0, b, e)
        return x + self.node(torch.cat([x, told], -1)), e


class Mesh(nn.Module):
    def __init__(self, seen, d, layers):
        super().__init__()
        self.enter, self.edges = (nn.Sequential(mlp(i, d, d), nn.LayerNorm(d)) for i in (seen, 3))
        self.layers, self.out = nn.ModuleList([Message(d) for _ in range(layers)]), mlp(d, d, 2)

    def forward(self, x, ways, a, b):
        h, e = self.enter(x), self.edges(ways)
        for layer in self.layers:
            h, e = layer(h, e, a, b)
        return x[:, :2] + self.out(h)


def eddies_mesh(captured):
    def make():
        nodes, edges = S(1920, 12), S(11264, 40)
        m = built(lambda: Mesh(S(12, 4), S(128, 8), S(6, 2))).eval()
        f = compiled(m, **(dict(mode="reduce-overhead") if captured else {}))
        return inference(f, noise(nodes, S(12, 4)), noise(edges, 3), draw(nodes, edges), draw(nodes, edges))
    return make


# ---- The optimizer: fused=True ------------------------------------------------------------------------------------------------


# Go against itself, a tower of residual blocks learns moves and who wins: SGD as it comes, or fused.
class Stones(nn.Module):
    def __init__(self, seen, c, blocks, side):
        super().__init__()
        self.body = nn.Sequential(normed(seen, c), nn.ReLU(), *[Residual(c, c) for _ in range(blocks)])
        self.moves = nn.Sequential(normed(c, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(2 * side * side, side * side + 1))
        self.wins = nn.Sequential(normed(c, 1, 1), nn.ReLU(), nn.Flatten(), nn.Linear(side * side, 256), nn.ReLU(), nn.Linear(256, 1), nn.Tanh())

    def forward(self, x):
        h = self.body(x)
        return self.moves(h), self.wins(h)


def stones_sgd(as_it_comes):
    def make():
        batch, side, seen = S(64, 2), S(19, 5), S(17, 3)
        m = last(built(lambda: Stones(seen, S(128, 8), S(8, 1), side)))
        x, visits, won = last(noise(batch, seen, side, side)), noise(batch, side * side + 1).mul(2).softmax(-1), torch.sign(noise(batch, 1))
        more = {} if as_it_comes else dict(fused=True)
        optimizer = torch.optim.SGD(m.parameters(), lr=1e-4, momentum=0.9, weight_decay=1e-4, nesterov=True, **more)

        def loss_of():
            moves, wins = m(x)
            return F.cross_entropy(moves.float(), visits) + F.mse_loss(wins.float(), won)
        return training(m, loss_of, optimizer)
    return make


# Vowels of dialects, a speech model tuned with smaller rates in lower layers, so with many groups: AdamW as it comes, or fused.
class Tagged(nn.Module):
    def __init__(self, body, d, kinds):
        super().__init__()
        self.body, self.head = body, nn.Linear(d, kinds)

    def forward(self, x):
        return self.head(self.body(x))


def rates_by_layer(m, rate=2e-5, decay=0.8):
    groups, deepest = {}, len(m.body.layers)
    for name, p in m.named_parameters():
        depth = int(name.split(".")[2]) + 1 if name.startswith("body.layers") else 0 if name.startswith("body.enter") else deepest + 1
        options_of = dict(lr=rate * decay ** (deepest + 1 - depth), weight_decay=0.01 if p.ndim > 1 else 0.0)
        groups.setdefault((depth, p.ndim > 1), dict(params=[], **options_of))["params"].append(p)
    return list(groups.values())


def vowels_adamw(as_it_comes):
    def make():
        batch, mels, frames, d, kinds = S(8, 2), S(80, 8), S(1000, 24), S(768, 16), S(48, 5)
        m = built(lambda: Tagged(Heard(mels, d, S(12, 2), S(8, 2), frames), d, kinds))
        optimizer = torch.optim.AdamW(rates_by_layer(m), betas=(0.9, 0.98), **({} if as_it_comes else dict(fused=True)))
        x, labels = noise(batch, mels, frames), draw(kinds, batch * (frames // 4))
        return training(m, lambda: F.cross_entropy(m(x).flatten(0, 1).float(), labels, label_smoothing=0.1), optimizer)
    return make


# ---- Chains of pointwise kernels: torch.compile around what holds them ----------------------------------------------------------


# Piano music as tokens, a language model with norms, angles and gates written out, trained: eager, or the model with its loss compiled.
class Player(nn.Module):
    def __init__(self, d, heads, inner):
        super().__init__()
        self.n1, self.n2, self.look = RMS(d), RMS(d), Attention(d, heads, causal=True)
        self.gate, self.up, self.down = (nn.Linear(i, o, bias=False) for i, o in ((d, inner), (d, inner), (inner, d)))

    def forward(self, x, turns):
        x = x + self.look(self.n1(x), turns)
        h = self.n2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Pianos(nn.Module):
    def __init__(self, words, d, heads, inner, layers, length):
        super().__init__()
        self.embed, self.norm, self.head, self.turns = nn.Embedding(words, d), RMS(d), nn.Linear(d, words, bias=False), angles(length, d // heads)
        self.layers = nn.ModuleList([Player(d, heads, inner) for _ in range(layers)])

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x, self.turns)
        return self.head(self.norm(x))


def pianos_train(eager):
    def make():
        words, t, batch = S(2048, 30), S(1024, 6), S(8, 2)
        m = built(lambda: Pianos(words, S(1024, 16), S(16, 2), S(2816, 24), S(4, 1), t))
        loss = lambda ids, labels: F.cross_entropy(m(ids).flatten(0, 1).float(), labels)
        f, ids, labels = loss if eager else compiled(loss), draw(words, batch, t), draw(words, batch * t)
        return training(m, lambda: f(ids, labels))
    return make


# Patterns for kimonos out of noise, a wide diffusion transformer trained by rectified flow: eager, or the model with its loss compiled.
def kimonos_flow(eager):
    def make():
        places, patch, kinds = S(256, 9), S(16, 4), S(100, 5)
        m = built(lambda: Denoiser(patch, places, S(1280, 16), S(20, 2), S(4, 1), kinds))
        loss = lambda x, t, kind, goal: F.mse_loss(m(x, t, kind).float(), goal)
        return flow_training(m, loss if eager else compiled(loss), S(32, 2), places, patch, kinds)
    return make


# A tsunami on its way over the sea, shallow water with weights that keep its front sharp: one step in time, eager or compiled.
def sharp(a, b, c, d, e):
    one, two, three = (2 * a - 7 * b + 11 * c) / 6, (-b + 5 * c + 2 * d) / 6, (2 * c + 5 * d - e) / 6
    rough = 13 / 12 * (a - 2 * b + c) ** 2 + 0.25 * (a - 4 * b + 3 * c) ** 2
    rough2 = 13 / 12 * (b - 2 * c + d) ** 2 + 0.25 * (b - d) ** 2
    rough3 = 13 / 12 * (c - 2 * d + e) ** 2 + 0.25 * (3 * c - 4 * d + e) ** 2
    w, w2, w3 = 0.1 / (rough + 1e-6) ** 2, 0.6 / (rough2 + 1e-6) ** 2, 0.3 / (rough3 + 1e-6) ** 2
    return (w * one + w2 * two + w3 * three) / (w + w2 + w3)


def water(q, axis):
    height, speed = q[0], q[axis] / q[0]
    press = 4.905 * height ** 2
    f = torch.stack([q[axis], q[1] * speed + (press if axis == 1 else 0.0), q[2] * speed + (press if axis == 2 else 0.0)])
    return f, speed.abs() + torch.sqrt(9.81 * height)


def spread(q, dx):
    change, n = torch.zeros_like(q), q.shape[1]
    for axis in (1, 2):
        ghosts = torch.cat([q.narrow(axis, n - 3, 3), q, q.narrow(axis, 0, 3)], axis)
        a, b, c, d, e, f = (ghosts.narrow(axis, k, n + 1) for k in range(6))
        left, right = sharp(a, b, c, d, e), sharp(f, e, d, c, b)
        (f_left, c_left), (f_right, c_right) = water(left, axis), water(right, axis)
        face = 0.5 * (f_left + f_right) - 0.5 * torch.maximum(c_left, c_right) * (right - left)
        change = change - face.diff(dim=axis) / dx
    return change


def surge(q, before, dt, dx):
    now = spread(q, dx)
    return q + dt * (1.5 * now - 0.5 * before), now


def tsunami_weno(eager):
    def make():
        n = S(2048, 16)
        x = torch.linspace(-1, 1, n, device=D)
        first = torch.stack([2.0 + torch.exp(-40 * (x[:, None] ** 2 + x[None] ** 2)), *(0.01 * noise(n, n) for _ in range(2))])
        f, sea = surge if eager else compiled(surge), [(first, torch.zeros_like(first))]

        @torch.no_grad()
        def step():
            sea[0] = f(*sea[0], 0.02, 1.0)
            return sea[0][0]
        return step
    return make


# A castle by torchlight, a game's frame shaded from what was drawn of it and blended with the frame before: eager, or the function compiled.
def shaded(albedo, normal, place, rough, metal, lights, colours):
    n, v = normal / normal.norm(dim=0, keepdim=True), -place / place.norm(dim=0, keepdim=True)
    base, alpha, k, to_eye = 0.04 + (albedo - 0.04) * metal, rough ** 4, (rough + 1) ** 2 / 8, (n * v).sum(0).clamp(min=1e-3)
    total = 0.03 * albedo
    for light, colour in zip(lights, colours):
        way = light[:, None, None] - place
        far = (way * way).sum(0)
        ray = way * torch.rsqrt(far)
        half = ray + v
        half = half * torch.rsqrt((half * half).sum(0))
        nl, nh, vh = ((one * two).sum(0).clamp(0, 1) for one, two in ((n, ray), (n, half), (v, half)))
        facets = alpha / (math.pi * (nh * nh * (alpha - 1) + 1) ** 2)
        hidden = 0.25 / ((to_eye * (1 - k) + k) * (nl * (1 - k) + k))
        mirrored = base + (1 - base) * (1 - vh) ** 5
        total = total + ((1 - mirrored) * (1 - metal) * albedo / math.pi + facets * hidden * mirrored) * nl * colour[:, None, None] / far
    total = total * (2.51 * total + 0.03) / (total * (2.43 * total + 0.59) + 0.14)
    return total.clamp(0, 1) ** (1 / 2.2)


def frame_of(drawn, before, motion, lights, colours):
    now = shaded(*drawn, lights, colours)[None]
    old = F.grid_sample(before, motion, align_corners=False, padding_mode="border")
    most, least = F.max_pool2d(now, 3, 1, 1), -F.max_pool2d(-now, 3, 1, 1)
    return torch.lerp(now, torch.minimum(torch.maximum(old, least), most), 0.9)


def castle_shading(eager):
    def make():
        rows, columns, torches = S(1440, 12), S(2560, 16), S(6, 2)
        places, looks = noise(3, rows, columns) + 4.0, (torch.rand(rows, columns, device=D) for _ in range(2))
        drawn = torch.rand(3, rows, columns, device=D), noise(3, rows, columns), places, *looks
        y, x = torch.meshgrid(torch.linspace(-1, 1, rows, device=D), torch.linspace(-1, 1, columns, device=D), indexing="ij")
        motion, lights, colours = torch.stack([x + 0.003, y - 0.002], -1)[None], 3 * noise(torches, 3), 20 * torch.rand(torches, 3, device=D)
        f, shown = frame_of if eager else compiled(frame_of), [torch.zeros(1, 3, rows, columns, device=D)]

        @torch.no_grad()
        def step():
            shown[0] = f(drawn, shown[0], motion, lights, colours)
            return shown[0]
        return step
    return make


# Flutes played from a spectrogram, a vocoder whose activations are written out: eager, or the model compiled.
class Snake(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.alpha, self.beta = (nn.Parameter(torch.zeros(1, c, 1)) for _ in range(2))

    def forward(self, x):
        return x + (1.0 / (self.beta.exp() + 1e-9)) * torch.sin(x * self.alpha.exp()).pow(2)


class Tube(nn.Module):
    def __init__(self, c, k):
        super().__init__()
        conv = lambda far: nn.Conv1d(c, c, k, 1, far * (k // 2), far)
        self.pairs = nn.ModuleList([nn.Sequential(Snake(c), conv(far), Snake(c), conv(1)) for far in (1, 3)])

    def forward(self, x):
        for two in self.pairs:
            x = x + two(x)
        return x


class Flute(nn.Module):
    def __init__(self, mels, c):
        super().__init__()
        self.enter, self.norm, self.out = nn.Conv1d(mels, c, 7, 1, 3), Snake(c // 4), nn.Conv1d(c // 4, 1, 7, 1, 3)
        self.ups = nn.ModuleList([nn.ConvTranspose1d(i, i // 2, 16, 8, 4) for i in (c, c // 2)])
        self.tubes = nn.ModuleList([nn.ModuleList([Tube(i, k) for k in (3, 7, 11)]) for i in (c // 2, c // 4)])

    def forward(self, x):
        x = self.enter(x)
        for up, tubes in zip(self.ups, self.tubes):
            x = up(x)
            x = sum(tube(x) for tube in tubes) / len(tubes)
        return torch.tanh(self.out(self.norm(x)))


def flutes_snake(eager):
    def make():
        m = built(lambda: Flute(S(80, 8), S(512, 16)), HALF_HERE).eval()
        return inference(m if eager else compiled(m), noise(S(8, 1), S(80, 8), S(256, 6), dtype=HALF_HERE))
    return make


# ---- Attention by hand: scaled_dot_product_attention --------------------------------------------------------------------------


# What stands on a shop's shelves put in order for a query, half precision: attention with a mask written out, or by the library's kernel.
def shelves_rerank(by_hand):
    def make():
        batch, t, d, words = S(48, 3), S(384, 8), S(768, 16), S(30528, 40)
        reader = built(lambda: Words(words, d, S(12, 2), S(4, 2), t, by_hand=by_hand), HALF_HERE).eval()
        head, lengths = built(lambda: nn.Linear(d, 1), HALF_HERE), torch.linspace(t // 3, t, batch, device=D).long()
        mask, ids = (torch.arange(t, device=D) < lengths[:, None])[:, None, None], draw(words, batch, t)
        return inference(lambda: head(reader(ids, mask)[:, 0]))
    return make


# ---- Input: workers and pinned memory -----------------------------------------------------------------------------------------


# Castings under a lamp, pictures cut, turned, lit and roughened by NumPy: by the training process itself, or by workers and with pinned memory.
class Castings(torch.utils.data.Dataset):
    def __init__(self, count, side, cut):
        self.cut, self.all = cut, np.random.default_rng(20).integers(0, 256, (count, side, side), dtype=np.uint8)

    def __len__(self):
        return 1000000

    def __getitem__(self, i):
        rng, whole = np.random.default_rng(i), self.all[i % len(self.all)]
        y, x = rng.integers(0, len(whole) - self.cut + 1, 2)
        part = np.rot90(whole[y:y + self.cut, x:x + self.cut], int(rng.integers(4))).astype(np.float32) / 255
        if rng.random() < 0.5:
            part = part[:, ::-1]
        part = part ** np.float32(rng.uniform(0.7, 1.4)) * np.linspace(rng.uniform(0.6, 1), 1, self.cut, dtype=np.float32)
        part = part + 0.02 * rng.standard_normal(part.shape, dtype=np.float32)
        return torch.from_numpy((part - part.mean()) / (part.std() + 1e-6))[None], i % 5


def batches_of(dataset, batch, workers, pin):
    more = dict(num_workers=S(workers, 1), persistent_workers=True, prefetch_factor=2, pin_memory=pin and not DRY) if workers else {}
    return iter(torch.utils.data.DataLoader(dataset, batch_size=batch, **more))


def castings_loader(workers):
    def make():
        cut = S(256, 32)
        m = last(built(lambda: tower(1, S(128, 8), 5, S(2, 1))))
        batches = batches_of(Castings(S(64, 4), cut + S(64, 8), cut), S(16, 2), workers, workers > 0)

        def loss_of():
            x, y = (t.to(D, non_blocking=True) for t in next(batches))
            return F.cross_entropy(m(last(x)).float(), y)
        return training(m, loss_of)
    return make


# Who strikes which drum and when: stems mixed, stretched, turned into spectrograms by NumPy; by three workers, or by twelve and pinned memory.
class Drums(torch.utils.data.Dataset):
    def __init__(self, count, long, cut, mels):
        rng = np.random.default_rng(21)
        self.cut, self.stems, self.window = cut, rng.standard_normal((count, long), dtype=np.float32), np.hanning(1024).astype(np.float32)
        self.filters = np.maximum(0, 1 - np.abs(np.arange(513)[:, None] / (513 / mels) - np.arange(mels))).astype(np.float32)

    def __len__(self):
        return 1000000

    def __getitem__(self, i):
        rng, wave = np.random.default_rng(i), np.zeros(self.cut, np.float32)
        for _ in range(2):
            stem, pace = self.stems[rng.integers(len(self.stems))], rng.uniform(0.9, 1.1)
            at = rng.integers(0, len(stem) - int(1.1 * self.cut) - 2)
            part = stem[at:at + int(1.1 * self.cut) + 2]
            wave += rng.uniform(0.2, 1) * np.interp(np.arange(self.cut) * pace, np.arange(len(part)), part)
        parts = np.lib.stride_tricks.sliding_window_view(wave, 1024)[::256] * self.window
        power = np.abs(np.fft.rfft(parts, axis=1)) ** 2
        heard = np.log1p(power.astype(np.float32) @ self.filters)
        return torch.from_numpy(heard), torch.from_numpy((rng.random((len(heard) // 2, 8)) < 0.05).astype(np.float32))


class Drummer(nn.Module):
    def __init__(self, mels, c, d, layers):
        super().__init__()
        two = normed(1, c), nn.ReLU(), normed(c, c), nn.ReLU(), nn.MaxPool2d(2)
        self.parts, self.head = nn.Sequential(*two, normed(c, 2 * c), nn.ReLU(), nn.MaxPool2d((1, 2))), nn.Linear(2 * d, 8)
        self.gru = nn.GRU(2 * c * (mels // 4), d, layers, batch_first=True, bidirectional=True)

    def forward(self, x):
        h = self.parts(x[:, None]).transpose(1, 2).flatten(2)
        return self.head(self.gru(h)[0])


def drums_workers(workers):
    def make():
        mels, cut, long = S(96, 8), S(87808, 2048), S(400000, 6000)
        m = built(lambda: Drummer(mels, S(32, 4), S(512, 8), S(3, 1)))
        batches, seldom = batches_of(Drums(S(16, 2), long, cut, mels), S(16, 2), workers, workers > 3), torch.full((8,), 8.0, device=D)

        def loss_of():
            x, y = (t.to(D, non_blocking=True) for t in next(batches))
            told = m(x)
            return F.binary_cross_entropy_with_logits(told, y[:, :told.shape[1]], pos_weight=seldom)
        return training(m, loss_of, cast=False)
    return make


# ---- Weights cast at every use ------------------------------------------------------------------------------------------------


# Lectures written down word by word: layers that cast their float32 weights whenever they are called, or whose weights are cast once.
class Casting(nn.Linear):
    def forward(self, x):
        return F.linear(x, self.weight.to(x.dtype), self.bias.to(x.dtype))


class Writing(Block):
    def __init__(self, d, heads):
        super().__init__(d, heads, causal=True, linear=Casting)
        self.n3, self.ask = nn.LayerNorm(d), Attention(d, heads, linear=Casting)

    def forward(self, x, heard):
        x = x + self.look(self.n1(x.float()).to(x.dtype))
        x = x + self.ask(self.n3(x.float()).to(x.dtype), other=heard)
        return x + self.down(F.gelu(self.up(self.n2(x.float()).to(x.dtype))))


class Writer(nn.Module):
    def __init__(self, words, d, heads, layers, length):
        super().__init__()
        self.embed, self.places, self.norm = nn.Embedding(words, d), nn.Parameter(torch.randn(length, d) * 0.02), nn.LayerNorm(d)
        self.layers = nn.ModuleList([Writing(d, heads) for _ in range(layers)])

    def forward(self, ids, heard):
        x = (self.embed(ids) + self.places[:ids.shape[1]]).to(heard.dtype)
        for layer in self.layers:
            x = layer(x, heard)
        return self.norm(x.float()).to(x.dtype)[:, -1] @ self.embed.weight.to(x.dtype).T


def lectures_whisper(cast_each):
    def make():
        words, d, batch, first, more = S(51872, 40), S(1024, 16), S(8, 2), 4, S(6, 2)
        m = built(lambda: Writer(words, d, S(16, 2), S(4, 1), 32)).eval()
        if not cast_each:
            for part in m.modules():
                if isinstance(part, (nn.Linear, nn.Embedding)):
                    part.to(BF)
        heard, start = noise(batch, S(512, 6), d, dtype=BF), draw(words, batch, first)

        @torch.no_grad()
        def step():
            ids = start
            for _ in range(more):
                scores = m(ids, heard)
                ids = torch.cat([ids, scores.argmax(-1, keepdim=True)], 1)
            return scores
        return step
    return make


# Sneakers drawn out of noise with guidance, second order: each call of the model under an autocast of its own, or one autocast around all of them.
def sneakers_guidance(cast_each):
    def make():
        places, patch, batch, kinds, rounds = S(256, 9), S(16, 4), S(2, 1), S(50, 4), S(4, 2)
        m, start = built(lambda: Denoiser(patch, places, S(1152, 16), S(16, 2), S(6, 1), kinds)).eval(), noise(batch, places, patch)
        told = torch.cat([draw(kinds - 1, batch), torch.full((batch,), kinds - 1, device=D)])
        levels = [(80 ** (1 / 7) + i / (rounds - 1) * (0.002 ** (1 / 7) - 80 ** (1 / 7))) ** 7 for i in range(rounds)] + [0.0]
        times = {level: torch.full((2 * batch,), 250 * math.log(level), device=D) for level in levels[:-1]}

        def cleaned(x, level):
            two, total = torch.cat([x, x]), level ** 2 + 0.25
            with autocast() if cast_each else contextlib.nullcontext():
                out = m(two / total ** 0.5, times[level], told)
            with_kind, without = (two * (0.25 / total) + out.float() * (0.5 * level / total ** 0.5)).chunk(2)
            return without + 4.0 * (with_kind - without)

        @torch.no_grad()
        def step():
            x = start * levels[0]
            with contextlib.nullcontext() if cast_each else autocast():
                for level, then in zip(levels, levels[1:]):
                    slope = (x - cleaned(x, level)) / level
                    ahead = x + (then - level) * slope
                    if then:
                        ahead = x + (then - level) * 0.5 * (slope + (ahead - cleaned(ahead, then)) / then)
                    x = ahead
            return x
        return step
    return make


# ---- Copies, products, convolutions -------------------------------------------------------------------------------------------


# Monsoon weather a few hours ahead, learnt in the space of waves: states sent by non_blocking=True, from ordinary memory or from pinned memory.
class Waves(nn.Module):
    def __init__(self, c, modes):
        super().__init__()
        self.modes, self.weight, self.own = modes, nn.Parameter(torch.randn(2, c, c, modes, modes, 2) / c), nn.Conv2d(c, c, 1)

    def forward(self, x):
        f, n, (one, two) = torch.fft.rfft2(x, norm="ortho"), self.modes, torch.view_as_complex(self.weight)
        out = torch.zeros_like(f)
        out[:, :, :n, :n] = torch.einsum("bixy,ioxy->boxy", f[:, :, :n, :n], one)
        out[:, :, -n:, :n] = torch.einsum("bixy,ioxy->boxy", f[:, :, -n:, :n], two)
        return F.gelu(torch.fft.irfft2(out, s=x.shape[-2:], norm="ortho") + self.own(x))


def monsoon_states(ordinary):
    def make():
        seen, c, high, across, count, turn = S(26, 3), S(64, 6), S(360, 12), S(720, 16), S(5, 3), [0]
        ends = lambda: [nn.Conv2d(c, 2 * c, 1), nn.GELU(), nn.Conv2d(2 * c, seen, 1)]
        m = built(lambda: nn.Sequential(nn.Conv2d(seen, c, 1), *[Waves(c, S(32, 3)) for _ in range(S(4, 1))], *ends()))
        states = noise(count, seen, high, across).cpu()
        states = states if ordinary else pinned(states)
        weight = torch.cos(torch.linspace(-1.5, 1.5, high, device=D))[:, None]

        def loss_of():
            turn[0] = (turn[0] + 1) % (count - 1)
            now, then = (states[turn[0] + k].to(D, non_blocking=True)[None] for k in (0, 1))
            return (weight * (now + m(now) - then) ** 2).mean()
        return training(m, loss_of, cast=False)
    return make


# A claw's way to move, learnt by seven networks at once in float32: TF32 off for products, or on.
class Seven(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(7, i, o) / (2 * i ** 0.5)), nn.Parameter(torch.zeros(7, 1, o))

    def forward(self, x):
        return torch.baddbmm(self.bias, x, self.weight)


class Claws(nn.Module):
    def __init__(self, seen, acts, d, layers):
        super().__init__()
        sizes = [seen + acts, *[d] * layers]
        self.layers, self.out = nn.ModuleList([Seven(i, o) for i, o in zip(sizes, sizes[1:])]), Seven(d, 2 * seen)
        self.least, self.most = nn.Parameter(torch.full((seen,), -10.0)), nn.Parameter(torch.full((seen,), 0.5))

    def forward(self, x):
        for layer in self.layers:
            x = F.silu(layer(x))
        mean, spread = self.out(x).chunk(2, -1)
        spread = self.most - F.softplus(self.most - spread)
        return mean, self.least + F.softplus(spread - self.least)


def claws_ensemble(full):
    def make():
        rows, seen, acts = S(4096, 6), S(48, 4), S(16, 2)
        m = built(lambda: Claws(seen, acts, S(512, 16), S(4, 2)))
        x, goal = noise(7, rows, seen + acts), noise(7, rows, seen)

        def loss_of():
            mean, spread = m(x)
            return (((mean - goal) ** 2 * (-spread).exp()).mean((1, 2)) + spread.mean((1, 2))).sum() + 0.01 * (m.most.sum() - m.least.sum())
        step = training(m, loss_of, cast=False)

        def with_precision():
            torch.set_float32_matmul_precision("highest" if full else "high")
            return step()
        return with_precision
    return make


# Papers as weights over all words for a search engine: 30522 words as the vocabulary comes, or padded to a multiple of eight.
def papers_splade(as_it_comes):
    def make():
        batch, t, d, words = S(32, 2), S(128, 6), S(768, 16), S(30522, 37)
        reader = built(lambda: Words(words, d, S(12, 2), S(6, 1), t), BF).eval()
        head, out = built(lambda: nn.Sequential(nn.Linear(d, d), nn.GELU(), nn.LayerNorm(d)), BF), built(lambda: nn.Linear(d, words), BF)
        if not as_it_comes:
            more = -words % 8
            out.weight, out.bias = nn.Parameter(F.pad(out.weight.detach(), (0, 0, 0, more))), nn.Parameter(F.pad(out.bias.detach(), (0, more)))
        ids, mask = draw(words, batch, t), torch.ones(batch, t, 1, device=D, dtype=BF)

        @torch.no_grad()
        def step():
            scores = out(head(reader(ids)))
            return (torch.log1p(torch.relu(scores)) * mask).amax(1)[:, :words]
        return step
    return make


# Faults on wafers drawn pixel by pixel, trained: NCHW as it comes, or channels last.
class Wafers(nn.Module):
    def __init__(self, c, kinds):
        super().__init__()
        two = lambda i, o: nn.Sequential(normed(i, o), nn.ReLU(inplace=True), normed(o, o), nn.ReLU(inplace=True))
        self.down = nn.ModuleList([two(1, c), two(c, 2 * c), two(2 * c, 4 * c)])
        self.up = nn.ModuleList([two(4 * c, 2 * c), two(2 * c, c)])
        self.wide, self.out = nn.ModuleList([nn.ConvTranspose2d(2 * i, i, 2, 2) for i in (2 * c, c)]), nn.Conv2d(c, kinds, 1)

    def forward(self, x):
        kept = []
        for i, part in enumerate(self.down):
            x = part(F.max_pool2d(x, 2) if i else x)
            kept.append(x)
        for wide, part, old in zip(self.wide, self.up, kept[-2::-1]):
            x = part(torch.cat([old, wide(x)], 1))
        return self.out(x)


def wafers_layout(channels_last):
    def make():
        c, kinds, batch, side = S(64, 8), S(8, 3), S(16, 2), S(256, 16)
        m, x, y = built(lambda: Wafers(c, kinds)), noise(batch, 1, side, side), draw(kinds, batch, side, side)
        if channels_last:
            m, x = last(m), last(x)
        marks = F.one_hot(y, kinds).permute(0, 3, 1, 2).float()

        def loss_of():
            told = m(x).float()
            share = told.softmax(1)
            dice = 1 - (2 * (share * marks).sum((2, 3)) + 1) / ((share + marks).sum((2, 3)) + 1)
            return F.cross_entropy(told, y) + dice.mean()
        return training(m, loss_of)
    return make


# ---- What the framework does besides, and what Python does ----------------------------------------------------------------------


# Shogi positions judged, compiled: each layer logs the shape that it saw, or no longer does.
log = logging.getLogger("shogi")


class Shogi(nn.Module):
    def __init__(self, d, heads, logs):
        super().__init__()
        self.logs, self.block, self.gate = logs, Block(d, heads), nn.Linear(d, d)

    def forward(self, x):
        y = self.block(x)
        if self.logs:
            log.debug("positions %s", tuple(y.shape))
        return x + torch.sigmoid(self.gate(x)) * y


class Judge(nn.Module):
    def __init__(self, seen, d, heads, layers, moves, logs):
        super().__init__()
        self.enter, self.places = nn.Linear(seen, d), nn.Parameter(torch.randn(81, d) * 0.02)
        self.layers = nn.ModuleList([Shogi(d, heads, logs) for _ in range(layers)])
        self.moves, self.wins = nn.Linear(d, moves), mlp(d, 128, 1, act=nn.ReLU)

    def forward(self, x):
        x = self.enter(x) + self.places
        for layer in self.layers:
            x = layer(x)
        return torch.cat([self.moves(x).flatten(1).float().log_softmax(-1), torch.tanh(self.wins(x.mean(1))).float()], -1)


def shogi_breaks(logs):
    def make():
        m = built(lambda: Judge(S(48, 6), S(512, 16), S(8, 2), S(4, 2), S(32, 4), logs), BF).eval()
        return inference(compiled(m), noise(S(96, 2), 81, S(48, 6), dtype=BF))
    return make


# Passages of law judged word against word: a loop over the passages that were found, or one product for all.
def passages_maxsim(loop):
    def make():
        found, long, d, small, t, words = S(120, 5), S(192, 6), S(768, 16), S(128, 8), S(32, 4), S(30528, 40)
        reader, narrow = built(lambda: Words(words, d, S(12, 2), S(4, 1), t), BF).eval(), built(lambda: nn.Linear(d, small, bias=False), BF)
        ids, passages = draw(words, 1, t), F.normalize(noise(found, long, small, dtype=BF), dim=-1)

        @torch.no_grad()
        def step():
            q = F.normalize(narrow(reader(ids)[0]), dim=-1)
            if loop:
                return torch.stack([(q @ passage.T).amax(1).float().sum() for passage in passages])
            return (q @ passages.transpose(1, 2)).amax(2).float().sum(1)
        return step
    return make


# ---- Healthy programs ---------------------------------------------------------------------------------------------------------


# Banners out of noise, a diffusion transformer trained in large batches: compiled, autocast, fused AdamW.
def banners_train():
    places, patch, kinds = S(256, 9), S(64, 4), S(64, 4)
    m = built(lambda: Denoiser(patch, places, S(1024, 16), S(16, 2), S(4, 1), kinds))
    f = compiled(lambda x, t, kind, goal: F.mse_loss(m(x, t, kind).float(), goal))
    return flow_training(m, f, S(96, 2), places, patch, kinds)


# Rails on a belt inspected, half precision: a residual network, channels last, compiled; pictures sent as bytes from pinned memory.
def rails_inspect():
    batch, side, turn = S(128, 2), S(320, 32), [0]
    f = compiled(last(built(lambda: tower(3, S(128, 8), 16, S(2, 1)), HALF_HERE)).eval())
    batches = [pinned(torch.randint(0, 256, (batch, side, side, 3), dtype=torch.uint8)) for _ in range(2)]

    @torch.no_grad()
    def step():
        turn[0] = 1 - turn[0]
        x = batches[turn[0]].to(D, non_blocking=True).permute(0, 3, 1, 2)
        return f(x.to(HALF_HERE) / 255)
    return step


# Podcasts heard in pieces of forty seconds, bfloat16: a transformer over spectrograms, compiled.
def podcasts_encode():
    frames, mels, d = S(4096, 16), S(128, 8), S(1024, 16)
    m = built(lambda: Heard(mels, d, S(16, 2), S(5, 1), frames, BF), BF).eval()
    return inference(compiled(m), noise(S(24, 2), mels, frames, dtype=BF))


# Each kind once, then the others.
PAIRS = dict(
    rovers_sac=pair(rovers_sac, True, False), pianos_train=pair(pianos_train, True, False),
    shelves_rerank=pair(shelves_rerank, True, False), castings_loader=pair(castings_loader, 0, 8),
    claws_ensemble=pair(claws_ensemble, True, False), drone_planner=pair(drone_planner, False, True),
    monsoon_states=pair(monsoon_states, True, False), lectures_whisper=pair(lectures_whisper, True, False),
    vowels_adamw=pair(vowels_adamw, True, False), shogi_breaks=pair(shogi_breaks, True, False),
    wafers_layout=pair(wafers_layout, False, True), passages_maxsim=pair(passages_maxsim, True, False),
    papers_splade=pair(papers_splade, True, False), tsunami_weno=pair(tsunami_weno, True, False),
    dispatch_transducer=pair(dispatch_transducer, True, False), mazes_latent=pair(mazes_latent, False, True),
    flutes_snake=pair(flutes_snake, True, False), sneakers_guidance=pair(sneakers_guidance, True, False),
    drums_workers=pair(drums_workers, 3, 12), kimonos_flow=pair(kimonos_flow, True, False),
    eddies_mesh=pair(eddies_mesh, False, True), plume_cfl=pair(plume_cfl, True, False),
    castle_shading=pair(castle_shading, True, False), stones_sgd=pair(stones_sgd, True, False))
FAULTS = dict(
    rovers_sac="host_sync", plume_cfl="host_sync", dispatch_transducer="host_sync", drone_planner="launch_bound", mazes_latent="launch_bound",
    eddies_mesh="launch_bound", stones_sgd="optimizer_not_fused", vowels_adamw="optimizer_not_fused", pianos_train="unfused_pointwise",
    kimonos_flow="unfused_pointwise", tsunami_weno="unfused_pointwise", castle_shading="unfused_pointwise", flutes_snake="unfused_pointwise",
    shelves_rerank="unfused_attention", castings_loader="dataloader", drums_workers="dataloader", lectures_whisper="repeated_casts",
    sneakers_guidance="repeated_casts", monsoon_states="pageable_copy", claws_ensemble="tf32_off", papers_splade="gemm_alignment",
    wafers_layout="layout_transforms", shogi_breaks="graph_breaks", passages_maxsim="tiny_kernels")
HEALTHY = dict(banners_train=banners_train, rails_inspect=rails_inspect, podcasts_encode=podcasts_encode)


PROGRAMS = in_turns(PAIRS, HEALTHY)
COMPILED = ["kimonos_flow", "banners_train", "pianos_train", "eddies_mesh", "tsunami_weno", "flutes_snake", "shogi_breaks", "castle_shading",
            "rails_inspect", "podcasts_encode"]  # what takes longest first
FORMS = {}
