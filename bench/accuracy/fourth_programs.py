"""A fourth set of programs that no rule was read from: pairs with one fault and without it, and healthy ones. Only scored.

PROGRAMS is what recording.py records, in this order (variety first, so that a run cut short has some of everything).
planted.json says what was planted in each pair; the faults are such as people report of their own programs. A step returns what it computed, so
that a pair can be compared. The mended half is what the usual advice says to write. COMPILED: what has something to compile; FORMS: the compiled
forms of what runs eagerly (mended halves and healthy programs), of which only the step is measured. The healthy programs are in fourth_healthy.py.
"""
import math, os, sys
import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fourth_healthy import EAGER, HEALTHY, Block
from program_parts import BF, D, DRY, HALF_HERE, S, autocast, built, compiled, compiled_form, draw, formed, inference, last, noise, pinned, replayed, training, pair, in_turns

SETS = [["shapes", "plain"], ["shapes", "stack"], ["memory", "plain"], ["modules", "shapes"], ["plain", "shapes_stack"], ["memory", "stack"], ["shapes", "memory"]]


def options(index):
    return SETS[index % len(SETS)]


# ---- The host waits for the device --------------------------------------------------------------------------------------------


# Graphs of molecules in one batch: what a graph holds in common is given to each of its atoms, their number asked of the device or known.
class Common(nn.Module):
    def __init__(self, d, layers, asked):
        super().__init__()
        self.asked = asked
        self.own, self.shared = nn.ModuleList([nn.Linear(d, d) for _ in range(layers)]), nn.ModuleList([nn.Linear(d, d) for _ in range(layers)])

    def forward(self, h, owner, counts, atoms):
        for own, shared in zip(self.own, self.shared):
            whole = torch.zeros(counts.shape[0], h.shape[1], device=h.device).index_add(0, owner, h) / counts[:, None]
            common = shared(whole)
            spread = torch.repeat_interleave(common, counts, 0) if self.asked else torch.repeat_interleave(common, counts, 0, output_size=atoms)
            h = F.relu(own(h) + spread)
        return h


def molecule_sizes(asked):
    def make():
        sizes = [10 + (i * 29) % 40 for i in range(S(3000, 6))]
        atoms = sum(sizes)
        counts = torch.tensor(sizes, device=D)
        owner = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes)).to(D)
        m = built(lambda: Common(S(256, 8), S(5, 2), asked)).eval()
        return inference(formed(m), noise(atoms, S(256, 8)), owner, counts, atoms)
    return make


# Pictures out of noise in ten steps: how much noise is left is kept on the device and compared there, or is a list of numbers.
def sampler_sigmas(on_device):
    def make():
        c, side, steps = S(192, 8), S(128, 8), S(10, 3)
        kind = HALF_HERE
        net = last(built(lambda: nn.Sequential(nn.Conv2d(4, c, 3, padding=1), nn.SiLU(), nn.Conv2d(c, c, 3, padding=1), nn.SiLU(), nn.Conv2d(c, c, 3, padding=1), nn.SiLU(), nn.Conv2d(c, 4, 3, padding=1)), kind)).eval()
        f, begin, more = formed(net), last(noise(4, 4, side, side, dtype=kind)), last(noise(4, 4, side, side, dtype=kind))
        sigmas = torch.cat([torch.linspace(4.0, 0.2, steps, device=D), torch.zeros(1, device=D)])
        levels = sigmas if on_device else sigmas.tolist()

        @torch.no_grad()
        def step():
            x = begin * 4.0
            for i in range(steps):
                now, then = levels[i], levels[i + 1]
                clean = x - now * 0.1 * f(x / (now ** 2 + 1) ** 0.5)
                if then == 0:
                    x = clean
                    continue
                up = min(then, (then ** 2 * (now ** 2 - then ** 2) / now ** 2) ** 0.5)
                down = (then ** 2 - up ** 2) ** 0.5
                x = x + (x - clean) / now * (down - now) + more * up
            return x
        return step
    return make


# An actor and a critic that weigh entropy: the weight and each loss are read in every update, or once behind four.
def entropy_weight(read):
    def make():
        batch, d, seen, acts, updates = S(32768, 8), S(1024, 16), S(64, 6), S(16, 3), S(4, 2)
        body = lambda i, o: nn.Sequential(nn.Linear(i, d), nn.ReLU(), nn.Linear(d, d), nn.ReLU(), nn.Linear(d, o))
        nets = built(lambda: nn.ModuleList([body(seen, 2 * acts), body(seen + acts, 1)]))
        actor, critic = (formed(n) for n in nets)
        log_weight = torch.zeros((), device=D, requires_grad=True)
        optimizer = torch.optim.Adam([*nets.parameters(), log_weight], lr=1e-5, fused=True)
        states, rewards, chance = noise(batch, seen), noise(batch, 1), noise(batch, acts)

        def step():
            losses = []
            for _ in range(updates):
                weight = log_weight.exp().item() if read else log_weight.detach().exp()
                with autocast():
                    mean, spread = actor(states).float().chunk(2, -1)
                    spread = spread.clamp(-4, 1)
                    act = torch.tanh(mean + spread.exp() * chance)
                    value = critic(torch.cat([states, act], -1)).float()
                    held = critic(torch.cat([states, act.detach()], -1)).float()
                entropy = spread.mean()
                loss = F.mse_loss(held, rewards) - 0.01 * value.mean() - weight * entropy + log_weight * (entropy.detach() + 1.0)
                if read and math.isnan(loss.item()):
                    raise ValueError("the loss is not a number")
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
                losses.append(loss.detach())
            losses = torch.stack(losses)
            if not read and not math.isfinite(losses.sum().item()):
                raise ValueError("the loss is not a number")
            return losses
        return step
    return make


# ---- Work that could be one kernel --------------------------------------------------------------------------------------------


# The colours of rays from what is along them, with depth and a penalty on spread: in eager mode or compiled.
def rendered(density, colour, edges):
    gaps = edges[:, 1:] - edges[:, :-1]
    middle = 0.5 * (edges[:, 1:] + edges[:, :-1])
    thick = F.softplus(density - 1.0) * gaps
    opaque = 1.0 - torch.exp(-thick)
    before = torch.cumsum(thick, -1) - thick
    weights = opaque * torch.exp(-before)
    seen = (weights[..., None] * torch.sigmoid(colour)).sum(1)
    total = weights.sum(-1)
    depth = (weights * middle).sum(-1) / total.clamp(min=1e-6)
    spread = (weights * (middle - depth[:, None]).abs()).sum(-1)
    return torch.cat([seen + (1.0 - total)[:, None], depth[:, None], spread[:, None]], -1)


def ray_colours(eager):
    def make():
        rays, samples = S(131072, 20), S(128, 6)
        f = rendered if eager else compiled(rendered)
        edges = torch.rand(rays, samples + 1, device=D).cumsum(-1)
        return inference(f, noise(rays, samples), noise(rays, samples, 3), edges)
    return make


# A flow on a lattice, nine directions: collision and movement written as in the paper, in eager mode or compiled.
WAYS = [(0, 0, 4 / 9), (1, 0, 1 / 9), (0, 1, 1 / 9), (-1, 0, 1 / 9), (0, -1, 1 / 9), (1, 1, 1 / 36), (-1, 1, 1 / 36), (-1, -1, 1 / 36), (1, -1, 1 / 36)]


def flowed(f, solid):
    dense = f.sum(0)
    ux = (f[1] + f[5] + f[8] - f[3] - f[6] - f[7]) / dense
    uy = (f[2] + f[5] + f[6] - f[4] - f[7] - f[8]) / dense
    square = 1.5 * (ux * ux + uy * uy)
    out = []
    for i, (cx, cy, w) in enumerate(WAYS):
        along = 3.0 * (cx * ux + cy * uy)
        level = w * dense * (1.0 + along + 0.5 * along * along - square)
        moved = f[i] + 1.2 * (level - f[i])
        out.append(torch.roll(torch.where(solid, f[i], moved), (cx, cy), (0, 1)))
    return torch.stack(out)


def lattice_flow(eager):
    def make():
        tall, wide = S(1536, 8), S(3072, 12)
        step_of = flowed if eager else compiled(flowed)
        begin = torch.tensor([w for _, _, w in WAYS], device=D)[:, None, None] * (1 + 0.05 * noise(9, tall, wide))
        return inference(step_of, begin, torch.rand(tall, wide, device=D) < 0.02)
    return make


# Rows of related proteins attend along themselves with a bias from pairs: written out, or given to the fused kernel as a mask.
class PairBias(nn.Module):
    def __init__(self, c, heads, by_hand):
        super().__init__()
        self.heads, self.by_hand = heads, by_hand
        self.norm, self.q, self.k, self.v, self.gate, self.out = nn.LayerNorm(c), nn.Linear(c, c, bias=False), nn.Linear(c, c, bias=False), nn.Linear(c, c, bias=False), nn.Linear(c, c), nn.Linear(c, c)

    def forward(self, rows, bias):
        s, n, c = rows.shape
        h = self.norm(rows)
        q, k, v = (f(h).view(s, n, self.heads, -1) for f in (self.q, self.k, self.v))
        if self.by_hand:
            scores = torch.einsum("sihe,sjhe->shij", q * (c // self.heads) ** -0.5, k) + bias
            y = torch.einsum("shij,sjhe->sihe", torch.softmax(scores, -1), v)
        else:
            y = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), attn_mask=bias.expand(s, -1, -1, -1)).transpose(1, 2)
        return rows + self.out(torch.sigmoid(self.gate(h)) * y.reshape(s, n, c))


def pair_bias(by_hand):
    def make():
        c, heads, n = S(256, 16), S(8, 2), S(384, 8)
        m = built(lambda: nn.ModuleList([PairBias(c, heads, by_hand) for _ in range(S(3, 1))]), BF).eval()
        layers = [formed(layer) for layer in m]
        rows, bias = noise(S(96, 3), n, c, dtype=BF), noise(1, heads, n, n, dtype=BF)

        @torch.no_grad()
        def step():
            x = rows
            for layer in layers:
                x = layer(x, bias)
            return x
        return step
    return make


# A prompt read by a chat model whose heads share keys: attention as a model's plain implementation has it, or by the library's.
class PromptLayer(nn.Module):
    def __init__(self, d, heads, shared, plain):
        super().__init__()
        self.heads, self.shared, self.plain, self.e = heads, shared, plain, d // heads
        self.norm, self.q, self.kv, self.out = nn.RMSNorm(d), nn.Linear(d, d, bias=False), nn.Linear(d, 2 * shared * self.e, bias=False), nn.Linear(d, d, bias=False)

    def forward(self, x, mask):
        b, t, d = x.shape
        h = self.norm(x)
        q = self.q(h).view(b, t, self.heads, self.e).transpose(1, 2)
        k, v = self.kv(h).view(b, t, 2, self.shared, self.e).permute(2, 0, 3, 1, 4)
        if self.plain:
            times = self.heads // self.shared
            k, v = (a[:, :, None].expand(b, self.shared, times, t, self.e).reshape(b, self.heads, t, self.e) for a in (k, v))
            scores = torch.matmul(q, k.transpose(2, 3)) * self.e ** -0.5 + mask
            weights = F.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype)
            y = torch.matmul(weights, v)
        else:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return x + self.out(y.transpose(1, 2).reshape(b, t, d))


def prompt_attention(plain):
    def make():
        d, t = S(2048, 16), S(2048, 8)
        m = built(lambda: nn.ModuleList([PromptLayer(d, S(16, 4), S(4, 2), plain) for _ in range(S(2, 1))]), BF).eval()
        x = noise(2, t, d, dtype=BF)
        mask = torch.full((t, t), torch.finfo(BF).min, device=D, dtype=BF).triu(1)

        def read(x, mask):
            for layer in m:
                x = layer(x, mask)
            return x
        return inference(formed(read), x, mask)
    return make


# ---- Products that miss the tensor cores --------------------------------------------------------------------------------------


# Noise taken out of microscope pictures, trained in float32: convolutions without TF32 ("for reproducible runs"), or with it.
def microscope_fp32(full):
    def make():
        c, side, batch = S(64, 8), S(128, 12), S(16, 2)
        body = lambda: [layer for _ in range(S(6, 1)) for layer in (nn.Conv2d(c, c, 3, padding=1, bias=False), nn.BatchNorm2d(c), nn.ReLU(inplace=True))]
        m = built(lambda: nn.Sequential(nn.Conv2d(1, c, 3, padding=1), nn.ReLU(inplace=True), *body(), nn.Conv2d(c, 1, 3, padding=1)))
        f, x, goal = formed(m), noise(batch, 1, side, side), noise(batch, 1, side, side)
        train = training(m, lambda: F.mse_loss(f(x), goal), cast=False)

        def step():
            torch.backends.cudnn.allow_tf32 = not full
            return train()
        return step
    return make


# Weather on a mesh: perceptrons over nodes and edges in float32; products without TF32, or with it.
class MeshStep(nn.Module):
    def __init__(self, d):
        super().__init__()
        mlp = lambda i: nn.Sequential(nn.Linear(i, d), nn.SiLU(), nn.Linear(d, d), nn.LayerNorm(d))
        self.edge, self.node = mlp(2 * d), mlp(2 * d)

    def forward(self, h, source, target):
        sent = self.edge(torch.cat([h.index_select(0, source), h.index_select(0, target)], -1))
        return h + self.node(torch.cat([h, torch.zeros_like(h).index_add(0, target, sent)], -1))


def mesh_fp32(full):
    def make():
        d, nodes, edges = S(512, 8), S(20480, 20), S(61440, 50)
        m = built(lambda: nn.ModuleList([MeshStep(d) for _ in range(S(3, 1))])).eval()
        h, source, target = noise(nodes, d), draw(nodes, edges), draw(nodes, edges).sort().values

        def ahead(h, source, target):
            for layer in m:
                h = layer(h, source, target)
            return h
        f = formed(ahead)

        @torch.no_grad()
        def step():
            torch.backends.cuda.matmul.allow_tf32 = not full
            return f(h, source, target)
        return step
    return make


# Features of a shop's customers, 1037 after all were joined, crossed with themselves: as they are, or filled up with zeros to 1088.
def features_odd(padded):
    def make():
        width, rows = S(1037, 13), S(16384, 6)
        wide = (width + 63) // 64 * 64 if padded else width
        layers = built(lambda: nn.ModuleList([nn.Linear(width, width) for _ in range(S(3, 1))] + [nn.Linear(width, 1)]))
        x = noise(rows, width)
        y = torch.rand(rows, 1, device=D).round()
        if padded:
            more = wide - width
            for layer in layers:
                tall = 0 if layer.out_features == 1 else more
                layer.weight = nn.Parameter(F.pad(layer.weight.data, (0, more, 0, tall)))
                layer.bias = nn.Parameter(F.pad(layer.bias.data, (0, tall)))
            x = F.pad(x, (0, more))

        def loss(x, y):
            h = x
            for layer in layers[:-1]:
                h = torch.addcmul(h, x.to(h.dtype), layer(h).to(h.dtype))
            return F.binary_cross_entropy_with_logits(layers[-1](h).float(), y)
        f = formed(loss)
        return training(layers, lambda: f(x, y))
    return make


# Speech to letters of a large alphabet: 5001 outputs for each frame, or 5056 of which the last are never chosen.
class Letters(nn.Module):
    def __init__(self, d, out):
        super().__init__()
        self.layers = nn.ModuleList([nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.ReLU(), nn.Linear(4 * d, d)) for _ in range(2)])
        self.head = nn.Linear(d, out)

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return F.log_softmax(self.head(x), -1)


def letters_odd(padded):
    def make():
        out, frames, d = S(5001, 27), S(16000, 12), S(512, 16)
        m = built(lambda: Letters(d, out), HALF_HERE).eval()
        if padded:
            more = -out % 64
            m.head.weight = nn.Parameter(F.pad(m.head.weight.data, (0, 0, 0, more)))
            m.head.bias = nn.Parameter(F.pad(m.head.bias.data, (0, more), value=-1e4))
        f, x = formed(m), noise(frames, d, dtype=HALF_HERE)

        @torch.no_grad()
        def step():
            return f(x).amax(-1)
        return step
    return make


# ---- Optimizers ---------------------------------------------------------------------------------------------------------------


# Who speaks: many small layers over frames; Adam tensor by tensor ("to save memory"), or fused.
class Frames(nn.Module):
    def __init__(self, c, k):
        super().__init__()
        self.conv, self.norm, self.s1, self.s2 = nn.Conv1d(c, c, 3, dilation=k, padding=k), nn.BatchNorm1d(c), nn.Conv1d(c, c // 4, 1), nn.Conv1d(c // 4, c, 1)

    def forward(self, x):
        y = self.norm(F.relu(self.conv(x)))
        return x + y * torch.sigmoid(self.s2(F.relu(self.s1(y.mean(-1, keepdim=True)))))


def speaker_adam(one_by_one):
    def make():
        c, batch = S(512, 8), S(64, 3)
        m = built(lambda: nn.Sequential(nn.Conv1d(80, c, 5, padding=2), *[Frames(c, k) for k in (2, 3, 4, 5)], nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(c, S(1024, 9))))
        optimizer = torch.optim.Adam(m.parameters(), lr=1e-5, **(dict(foreach=False) if one_by_one else dict(fused=True)))
        f, x, y = formed(m), noise(batch, 80, S(300, 12)), draw(S(1024, 9), batch)
        return training(m, lambda: F.cross_entropy(f(x).float(), y), optimizer)
    return make


# Answers ranked by a reward model, few at a time: AdamW as it comes, or fused.
def reward_adamw(as_it_comes):
    def make():
        d, batch, t = S(1024, 16), S(32, 2), S(256, 6)
        m = built(lambda: nn.Sequential(*[Block(d, S(16, 2)) for _ in range(S(6, 1))], nn.LayerNorm(d), nn.Linear(d, 1)))
        optimizer = torch.optim.AdamW(m.parameters(), lr=1e-5, **({} if as_it_comes else dict(fused=True)))
        f, x = formed(m), noise(2 * batch, t, d)

        def loss_of():
            score = f(x)[:, -1].float().view(batch, 2)
            return -F.logsigmoid(score[:, 0] - score[:, 1]).mean()
        return training(m, loss_of, optimizer)
    return make


# ---- Many launches ------------------------------------------------------------------------------------------------------------


# Arms that learn to reach, simulated where the policy runs: sixteen moments launched op by op, or captured in a CUDA graph.
def arm_rollout(captured):
    def make():
        arms, joints, d, moments = S(2048, 5), S(7, 3), S(128, 8), S(16, 3)
        policy = built(lambda: nn.Sequential(nn.Linear(3 * joints, d), nn.Tanh(), nn.Linear(d, d), nn.Tanh(), nn.Linear(d, joints))).eval()
        begin, goal = noise(arms, joints), noise(arms, joints)

        def rollout():
            with torch.no_grad():
                angle, speed, reward = begin.clone(), torch.zeros_like(begin), torch.zeros(arms, device=D)
                for _ in range(moments):
                    force = policy(torch.cat([angle, speed, goal - angle], -1)).clamp(-1, 1)
                    speed = (0.98 * speed + 0.05 * (force - 0.3 * torch.sin(angle))).clamp(-2, 2)
                    angle = angle + 0.05 * speed
                    away = (angle - goal).norm(dim=-1)
                    reward = reward - away - 0.01 * force.pow(2).sum(-1)
                return torch.cat([angle, reward[:, None]], -1)
        return replayed(rollout) if captured else rollout
    return make


# What a sweep of points shows, one at a time: eager, or compiled with mode="reduce-overhead".
class Points(nn.Module):
    def __init__(self, c):
        super().__init__()
        layer = lambda i, o: nn.Sequential(nn.Conv1d(i, o, 1, bias=False), nn.BatchNorm1d(o), nn.ReLU())
        self.register_buffer("straight", torch.eye(3))
        self.turn = nn.Sequential(layer(3, c), layer(c, 2 * c))
        self.nine = nn.Sequential(nn.Linear(2 * c, c), nn.ReLU(), nn.Linear(c, 9))
        self.body, self.head = nn.Sequential(layer(3, c), layer(c, c), layer(c, 2 * c), layer(2 * c, 8 * c)), nn.Sequential(nn.Linear(8 * c, 4 * c), nn.ReLU(), nn.Linear(4 * c, 40))

    def forward(self, x):
        turn = self.nine(self.turn(x).amax(-1)).view(-1, 3, 3) + self.straight
        return self.head(self.body(torch.bmm(turn, x)).amax(-1))


def points_overhead(eager):
    def make():
        m = built(lambda: Points(S(64, 8)), HALF_HERE).eval()
        f, x = m if eager else compiled(m, mode="reduce-overhead"), noise(1, 3, S(1024, 12), dtype=HALF_HERE)

        @torch.no_grad()
        def step():
            return f(x).clone()
        return step
    return make


# Calls for an ambulance by hour, a small network in training: eager, or its model compiled with mode="reduce-overhead".
def calls_overhead(eager):
    def make():
        c, batch = S(64, 8), S(64, 4)
        layers = lambda: [layer for k in (1, 2, 4, 8, 16) for layer in (nn.ConstantPad1d((2 * k, 0), 0.0), nn.Conv1d(c, c, 3, dilation=k), nn.ReLU())]
        m = built(lambda: nn.Sequential(nn.Conv1d(6, c, 1), *layers(), nn.Conv1d(c, 1, 1)))
        f, x, y = m if eager else compiled(m, mode="reduce-overhead"), noise(batch, 6, S(168, 24)), noise(batch, 1, S(168, 24))
        return training(m, lambda: F.mse_loss(f(x), y), cast=False)
    return make


# ---- Input ----------------------------------------------------------------------------------------------------------------------


# Sentences with gaps to fill: gaps are cut by the training process itself, or by workers.
class Gaps(torch.utils.data.Dataset):
    length = 512

    def __len__(self):
        return 10000000

    def __getitem__(self, i):
        rng = np.random.default_rng(i)
        words, kept, missing, at, mark = rng.integers(100, 32000, self.length).tolist(), [], [], 0, 31999
        while at < self.length:
            run = min(int(rng.geometric(0.18)), self.length - at)
            kept.extend(words[at:at + run])
            at += run
            gap = min(int(rng.integers(1, 6)), self.length - at)
            if gap:
                kept.append(mark)
                missing.append(mark)
                missing.extend(words[at:at + gap])
                mark -= 1
                at += gap
        pad = lambda ids: np.asarray((ids + [0] * self.length)[:self.length], dtype=np.int64)
        return torch.from_numpy(pad(kept)), torch.from_numpy(pad(missing))


def gaps_loader(workers):
    def make():
        batch, d, words = S(32, 2), S(512, 16), 32000
        more = dict(num_workers=S(workers, 2), persistent_workers=True, prefetch_factor=4, pin_memory=not DRY) if workers else {}
        batches = iter(torch.utils.data.DataLoader(Gaps(), batch_size=batch, **more))
        embed, body = built(lambda: nn.Embedding(words, d)), built(lambda: nn.Sequential(Block(d, S(8, 2)), Block(d, S(8, 2)), nn.LayerNorm(d)))
        m = nn.ModuleList([embed, body])
        f, optimizer = formed(body), torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True)

        def step():
            kept, missing = (t.to(D, non_blocking=True) for t in next(batches))
            optimizer.zero_grad(set_to_none=True)
            with autocast():
                h = f(embed(kept))
                loss = F.mse_loss(h.float(), embed(missing).detach().float())
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# Sweeps of a scanner on a car's roof: from ordinary memory, or pinned and without waiting.
class Pillars(nn.Module):
    def __init__(self, c, side):
        super().__init__()
        self.side, self.lift = side, nn.Sequential(nn.Linear(5, c), nn.ReLU())
        self.register_buffer("ways", torch.tensor([side, 1]))
        self.body = nn.Sequential(nn.Conv2d(c, c, 3, 2, 1), nn.ReLU(), nn.Conv2d(c, 2 * c, 3, 2, 1), nn.ReLU(), nn.Conv2d(2 * c, 9, 1))

    def forward(self, points):
        h = self.lift(points)
        cell = ((points[:, :2].sigmoid() * (self.side - 1)).long() * self.ways).sum(-1)
        grid = torch.zeros(self.side * self.side, h.shape[1], device=h.device, dtype=h.dtype).index_add(0, cell, h)
        return self.body(grid.view(1, self.side, self.side, -1).permute(0, 3, 1, 2))


def sweeps_upload(ordinary):
    def make():
        count = S(500000, 60)
        sweeps = [torch.randn(count, 5) for _ in range(3)]
        if not ordinary:
            sweeps = [pinned(s) for s in sweeps]
        m = last(built(lambda: Pillars(S(64, 8), S(256, 8)))).eval()
        f, turn = formed(m), [0]

        @torch.no_grad()
        def step():
            turn[0] = (turn[0] + 1) % len(sweeps)
            return f(sweeps[turn[0]].to(D) if ordinary else sweeps[turn[0]].to(D, non_blocking=True))
        return step
    return make


# Vectors of documents for a search index: each batch of them brought back by .cpu(), or into pinned memory while the next is computed.
def vectors_back(each):
    def make():
        d, rows, parts = S(1024, 16), S(4096, 5), S(6, 2)
        m = built(lambda: nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d), nn.GELU(), nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d)), BF).eval()
        f, documents = formed(m), [noise(rows, d, dtype=BF) for _ in range(parts)]
        room = None if each else [pinned(torch.empty(rows, d)) for _ in range(parts)]

        @torch.no_grad()
        def step():
            found = []
            for i, x in enumerate(documents):
                y = F.normalize(f(x).float(), dim=-1)
                if each:
                    found.append(y.cpu())
                else:
                    room[i].copy_(y, non_blocking=True)
                    found.append(room[i])
            if not each and not DRY:
                torch.cuda.synchronize()
            return torch.stack([v[0] for v in found])
        return step
    return make


# Sales of shops: windows are cut, scaled and stacked by NumPy in each step, or indexed on the device.
def windows_in_python(on_host):
    def make():
        series, long, window, batch = S(64, 3), S(20000, 90), S(256, 8), S(1024, 4)
        rng = np.random.default_rng(0)
        table = rng.standard_normal((series, long), dtype=np.float32).cumsum(1)
        m = built(lambda: nn.Sequential(nn.Linear(window, 4 * window), nn.ReLU(), nn.Linear(4 * window, 4 * window), nn.ReLU(), nn.Linear(4 * window, 24)))
        f, optimizer, turn = formed(m), torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True), [0]
        kept, span = torch.from_numpy(table).to(D), torch.arange(window + 24, device=D)
        number = torch.arange(batch, device=D)

        def step():
            turn[0] += 1
            if on_host:
                rows = []
                for i in range(batch):
                    begin = (i * 131 + turn[0] * 977) % (long - window - 24)
                    piece = table[i % series, begin:begin + window + 24]
                    past = piece[:window]
                    rows.append((piece - past.mean()) / (past.std() + 1e-5))
                both = torch.from_numpy(np.stack(rows)).to(D)
            else:
                begin = (number * 131 + turn[0] * 977) % (long - window - 24)
                piece = kept[(number % series)[:, None], begin[:, None] + span]
                spread, mean = torch.std_mean(piece[:, :window], -1, correction=0, keepdim=True)
                both = (piece - mean) / (spread + 1e-5)
            optimizer.zero_grad(set_to_none=True)
            with autocast():
                loss = F.l1_loss(f(both[:, :window]).float(), both[:, window:])
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# ---- What the framework does besides --------------------------------------------------------------------------------------------


# Six steps of a diffusion transformer: weights in float32, autocast entered anew by each step, or the model cast once.
class Tokens(nn.Module):
    def __init__(self, d, heads, layers):
        super().__init__()
        self.layers, self.out = nn.ModuleList([Block(d, heads) for _ in range(layers)]), nn.Linear(d, d)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.out(x)


def sampler_autocast(each_step):
    def make():
        d, steps = S(1536, 16), S(6, 2)
        m = built(lambda: Tokens(d, S(12, 2), S(3, 1)), None if each_step else BF).eval()
        f, begin = formed(m), noise(2, S(1024, 6), d)

        @torch.no_grad()
        def step():
            x = begin
            for _ in range(steps):
                if each_step:
                    with autocast():
                        away = f(x)
                else:
                    away = f(x.to(BF))
                x = x - 0.1 * away.float()
            return x
        return step
    return make


# Calls of whales, in bfloat16: each norm and activation is taken to float32 and back "to be safe", or left to the kernels, which compute so inside.
class Island(nn.Module):
    def __init__(self, d, safe):
        super().__init__()
        self.safe, self.n1, self.n2 = safe, nn.LayerNorm(d), nn.LayerNorm(d)
        self.a, self.b, self.c, self.e = nn.Linear(d, 2 * d), nn.Linear(2 * d, d), nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def normed(self, norm, x):
        return F.layer_norm(x.float(), x.shape[-1:], norm.weight.float(), norm.bias.float()).to(x.dtype) if self.safe else norm(x)

    def act(self, x):
        return F.gelu(x.float()).to(x.dtype) if self.safe else F.gelu(x)

    def forward(self, x):
        x = x + self.b(self.act(self.a(self.normed(self.n1, x))))
        return x + self.e(self.act(self.c(self.normed(self.n2, x))))


def float_islands(safe):
    def make():
        d = S(1024, 16)
        m = built(lambda: nn.Sequential(*[Island(d, safe) for _ in range(S(4, 1))]), BF).eval()
        return inference(formed(m), noise(S(16, 2), S(1000, 6), d, dtype=BF))
    return make


# A reader of long documents, compiled: turning of queries and keys is kept out of the compiler ("it failed once"), or compiled with the rest.
def turned(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


turned_apart = torch.compiler.disable(turned)


class ReaderLayer(nn.Module):
    def __init__(self, d, heads, apart):
        super().__init__()
        self.heads, self.apart, self.n1, self.n2 = heads, apart, nn.RMSNorm(d), nn.RMSNorm(d)
        self.qkv, self.out, self.both, self.down = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False), nn.Linear(d, 4 * d, bias=False), nn.Linear(2 * d, d, bias=False)

    def forward(self, x, cos, sin):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        turn = turned_apart if self.apart else turned
        x = x + self.out(F.scaled_dot_product_attention(turn(q, cos, sin), turn(k, cos, sin), v).transpose(1, 2).reshape(b, t, d))
        a, g = self.both(self.n2(x)).chunk(2, -1)
        return x + self.down(a * F.silu(g))


class Reader(nn.Module):
    def __init__(self, d, heads, layers, length, apart):
        super().__init__()
        self.layers = nn.ModuleList([ReaderLayer(d, heads, apart) for _ in range(layers)])
        angle = torch.arange(length)[:, None] / 10000.0 ** (torch.arange(d // heads // 2) / (d // heads // 2))
        self.register_buffer("cos", angle.cos())
        self.register_buffer("sin", angle.sin())

    def forward(self, x):
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        return x


def reader_breaks(apart):
    def make():
        d, t = S(768, 16), S(1024, 6)
        f = compiled(built(lambda: Reader(d, S(12, 2), S(4, 2), t, apart), BF).eval())
        return inference(f, noise(S(4, 2), t, d, dtype=BF))
    return make


# Land use in aerial images by dilated convolutions, half precision: NCHW as it comes, or channels last.
def land_layout(channels_last):
    def make():
        c, side = S(128, 8), S(128, 12)
        conv = lambda i, o, k: nn.Sequential(nn.Conv2d(i, o, 3, padding=k, dilation=k), nn.ReLU(inplace=True))
        m = built(lambda: nn.Sequential(nn.Conv2d(4, c, 3, padding=1), conv(c, c, 1), conv(c, c, 2), conv(c, 2 * c, 4), conv(2 * c, 2 * c, 2), conv(2 * c, c, 1), nn.Conv2d(c, 20, 1)), HALF_HERE).eval()
        x = noise(S(16, 2), 4, side, side, dtype=HALF_HERE)
        if channels_last:
            m, x = last(m), last(x)
        return inference(formed(m), x)
    return make


# Answers scored in groups of like length: memory given back behind each group ("against running out"), or kept.
def answers_emptied(empty):
    def make():
        d, words = S(1024, 16), S(16000, 30)
        m = built(lambda: nn.Sequential(nn.Embedding(words, d), Block(d, S(16, 2)), Block(d, S(16, 2)), nn.LayerNorm(d), nn.Linear(d, words)), BF).eval()
        groups = [draw(words, rows, t) for rows, t in S(((16, 64), (8, 128), (4, 256), (2, 512)), ((2, 3), (1, 6)))]
        f = formed(m)

        @torch.no_grad()
        def step():
            scores = []
            for ids in groups:
                logits = f(ids)
                scores.append(torch.gather(F.log_softmax(logits.float(), -1), 2, ids[..., None]).mean())
                del logits
                if empty and not DRY:
                    torch.cuda.empty_cache()
            return torch.stack(scores)
        return step
    return make


# ---- Small and slow kernels -----------------------------------------------------------------------------------------------------


# An advertisement's 26 tables, a bag from each: one after the other, or all in one by their offsets.
def tables_loop(loop):
    def make():
        tables, rows, e, batch, hot = S(26, 3), S(20000, 9), S(64, 4), S(2048, 5), S(4, 2)
        all_rows = noise(tables * rows, e)
        parts = list(all_rows.view(tables, rows, e))
        top = built(lambda: nn.Sequential(nn.Linear(tables * e, S(512, 8)), nn.ReLU(), nn.Linear(S(512, 8), 1))).eval()
        ids = draw(rows, batch, tables, hot)
        shifted = (ids + torch.arange(tables, device=D)[None, :, None] * rows).view(-1, hot)

        def joined(shifted):
            return top(F.embedding_bag(shifted, all_rows, mode="sum").view(batch, -1))
        f = formed(joined)

        @torch.no_grad()
        def step():
            if not loop:
                return f(shifted)
            return top(torch.cat([F.embedding_bag(ids[:, i], parts[i], mode="sum") for i in range(tables)], -1))
        return step
    return make


# Things in a picture: the best boxes of each of 60 classes, class by class, or of all at once.
def classes_loop(loop):
    def make():
        classes, boxes, best = S(60, 4), S(20000, 40), S(50, 5)
        scores, offsets, anchors = noise(classes, boxes), noise(boxes, 4) * 0.1, torch.rand(boxes, 4, device=D) + 0.5

        def chosen(scores, offsets, anchors):
            top, which = torch.sigmoid(scores).topk(best, -1)
            o, a = offsets[which], anchors[which]
            centre, size = a[..., :2] + o[..., :2] * a[..., 2:], a[..., 2:] * torch.exp(o[..., 2:])
            return torch.cat([centre - size / 2, centre + size / 2, top[..., None]], -1)
        f = formed(chosen)

        @torch.no_grad()
        def step():
            if not loop:
                return f(scores, offsets, anchors)
            return torch.stack([chosen(scores[i], offsets, anchors) for i in range(classes)])
        return step
    return make


# Water that runs off a slope: a row of eight numbers for each cell, of which each op reads a column, or a plane for each.
def heights(depth, ux, uy, ground, rough, rain, soak, heat):
    level = depth + ground
    drag = rough * (ux + uy)
    ux, uy = ux - 0.01 * drag - 0.01 * level, uy - 0.01 * drag + 0.01 * level
    depth = torch.clamp(depth + 0.01 * (rain - soak * heat), min=0.0)
    return depth.sum(), (ux * depth).sum(), (uy * depth).sum(), torch.maximum(level, rain).sum()


def cells_by_row(by_row):
    def make():
        cells = S(6_000_000, 50)
        planes = torch.rand(8, cells, device=D)
        state = planes.t().contiguous() if by_row else planes
        f = formed(heights)

        @torch.no_grad()
        def step():
            columns = state.unbind(1) if by_row else state.unbind(0)
            return torch.stack(f(*columns))
        return step
    return make


# Friends of friends, trained: what lies at the ends of edges is taken by square brackets, whose gradient sorts, or by index_select.
class Ends(nn.Module):
    def __init__(self, d, bracket):
        super().__init__()
        self.bracket, self.message, self.own = bracket, nn.Linear(2 * d, d), nn.Linear(2 * d, d)

    def forward(self, h, source, target):
        a, b = (h[source], h[target]) if self.bracket else (h.index_select(0, source), h.index_select(0, target))
        sent = F.relu(self.message(torch.cat([a, b], -1)))
        return F.relu(self.own(torch.cat([h, torch.zeros_like(h).index_add(0, target, sent)], -1)))


def edges_backward(bracket):
    def make():
        d, nodes, edges = S(128, 8), S(20000, 15), S(300000, 60)
        m = built(lambda: nn.ModuleList([Ends(d, bracket) for _ in range(S(3, 1))]))
        h, goal, source, target = noise(nodes, d), noise(nodes, d), draw(nodes, edges), draw(nodes, edges)

        def loss(h, source, target):
            for layer in m:
                h = layer(h, source, target)
            return F.mse_loss(h, goal)
        f = formed(loss)
        return training(m, lambda: f(h, source, target), cast=False)
    return make


# Genes read by filters of a thousand letters: convolved directly, or by Fourier transforms.
def long_filters(direct):
    def make():
        batch, c, t, taps = S(4, 2), S(128, 4), S(4096, 40), S(1023, 9)
        x, filters = noise(batch, c, t), noise(c, taps) / taps
        mix = built(lambda: nn.Conv1d(c, c, 1)).eval()

        def by_waves(x, filters):
            size = 1 << (t + taps - 1).bit_length()
            y = torch.fft.irfft(torch.fft.rfft(x, n=size) * torch.fft.rfft(filters.flip(-1), n=size), n=size)
            begin = taps // 2
            return mix(F.gelu(y[..., begin:begin + t]))
        f = formed(by_waves)

        @torch.no_grad()
        def step():
            if not direct:
                return f(x, filters)
            return mix(F.gelu(F.conv1d(x, filters[:, None], padding=taps // 2, groups=c)))
        return step
    return make


# ---- Constants made again -------------------------------------------------------------------------------------------------------


# A prompt of 8192 tokens: each layer makes the tables that it turns queries and keys by, or takes the model's.
class TableLayer(nn.Module):
    def __init__(self, d, heads, again):
        super().__init__()
        self.heads, self.again, self.norm, self.qkv, self.out = heads, again, nn.RMSNorm(d), nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False)

    def forward(self, x, cos, sin):
        b, t, d = x.shape
        if self.again:
            cos, sin = tables(t, d // self.heads, x)
        q, k, v = self.qkv(self.norm(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        return x + self.out(F.scaled_dot_product_attention(turned(q, cos, sin), turned(k, cos, sin), v, is_causal=True).transpose(1, 2).reshape(b, t, d))


def tables(t, e, x):
    speed = 1.0 / 500000.0 ** (torch.arange(0, e, 2, device=x.device).float() / e)
    angle = torch.outer(torch.arange(t, device=x.device).float(), speed)
    return angle.cos().to(x.dtype), angle.sin().to(x.dtype)


def tables_again(again):
    def make():
        d, heads, t = S(512, 16), S(4, 2), S(8192, 6)
        m = built(lambda: nn.ModuleList([TableLayer(d, heads, again) for _ in range(S(6, 2))]), BF).eval()
        x = noise(1, t, d, dtype=BF)
        cos, sin = tables(t, d // heads, x)

        def read(x):
            for layer in m:
                x = layer(x, cos, sin)
            return x
        return inference(formed(read), x)
    return make


# Parcels on a belt: the grid of a detector is made on the host and sent in each call, or kept where it is used.
def parcel_grid(again):
    def make():
        c, side, kind = S(64, 8), S(320, 32), HALF_HERE
        conv = lambda i, o: nn.Sequential(nn.Conv2d(i, o, 3, 2, 1), nn.SiLU(inplace=True))
        parts = last(built(lambda: nn.ModuleList([nn.Sequential(conv(3, c), conv(c, c), conv(c, 2 * c)), conv(2 * c, 2 * c), conv(2 * c, 2 * c), *[nn.Conv2d(2 * c, 5, 1) for _ in range(3)]]), kind)).eval()
        x = last(noise(S(4, 1), 3, side, side, dtype=kind))
        sides = [side // 8, side // 16, side // 32]

        def grid(n):
            y, x = torch.meshgrid(torch.arange(n), torch.arange(n), indexing="ij")
            return torch.stack([x, y], -1).reshape(1, -1, 2).to(kind)
        kept = [grid(n).to(D) for n in sides]

        def found(x, grids):
            out = []
            for i in range(3):
                x = parts[i](x)
                y = parts[3 + i](x).flatten(2).transpose(1, 2)
                out.append(torch.cat([(y[..., :2].sigmoid() + grids[i]) * (8 << i), y[..., 2:4].exp() * (8 << i), y[..., 4:].sigmoid()], -1))
            return torch.cat(out, 1)
        f = formed(found)

        @torch.no_grad()
        def step():
            return f(x, [grid(n).to(D) for n in sides] if again else kept)
        return step
    return make


# Each kind once, then the others.
PAIRS = dict(
    sampler_sigmas=pair(sampler_sigmas, True, False), ray_colours=pair(ray_colours, True, False), pair_bias=pair(pair_bias, True, False),
    microscope_fp32=pair(microscope_fp32, True, False), features_odd=pair(features_odd, False, True), speaker_adam=pair(speaker_adam, True, False),
    arm_rollout=pair(arm_rollout, False, True), gaps_loader=pair(gaps_loader, 0, 10), sweeps_upload=pair(sweeps_upload, True, False),
    sampler_autocast=pair(sampler_autocast, True, False), reader_breaks=pair(reader_breaks, True, False), land_layout=pair(land_layout, False, True),
    answers_emptied=pair(answers_emptied, True, False), windows_in_python=pair(windows_in_python, True, False), tables_loop=pair(tables_loop, True, False),
    cells_by_row=pair(cells_by_row, True, False), edges_backward=pair(edges_backward, True, False), tables_again=pair(tables_again, True, False),
    mesh_fp32=pair(mesh_fp32, True, False), prompt_attention=pair(prompt_attention, True, False), lattice_flow=pair(lattice_flow, True, False),
    points_overhead=pair(points_overhead, True, False), molecule_sizes=pair(molecule_sizes, True, False), letters_odd=pair(letters_odd, False, True),
    reward_adamw=pair(reward_adamw, True, False), vectors_back=pair(vectors_back, True, False), float_islands=pair(float_islands, True, False),
    classes_loop=pair(classes_loop, True, False), long_filters=pair(long_filters, True, False), calls_overhead=pair(calls_overhead, True, False),
    entropy_weight=pair(entropy_weight, True, False), parcel_grid=pair(parcel_grid, True, False))


PROGRAMS = in_turns(PAIRS, HEALTHY)
COMPILED_PAIRS = ["ray_colours", "reader_breaks", "lattice_flow", "points_overhead", "calls_overhead"]
CAPTURED = ["arm_rollout"]  # a graph's replay has no compiled form
COMPILED = [name for name in HEALTHY if name not in EAGER and name != "small_games_replay"] + COMPILED_PAIRS  # what takes longest first
FORMS = {name: (HEALTHY[name], compiled_form(HEALTHY[name])) for name in EAGER}
FORMS |= {name + ".mended": (halves["mended"], compiled_form(halves["mended"])) for name, halves in PAIRS.items() if name not in COMPILED_PAIRS + CAPTURED}
