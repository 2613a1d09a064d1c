"""A ninth set of programs that no rule was read from: pairs with one fault and without it. Only scored.

PROGRAMS is what recording.py records, in this order (variety first, so that a run cut short has some of everything). What was planted in each pair is said
beside the set. The mended half follows the advice that docs/findings.md gives for the finding, to the letter, and changes nothing else. A step returns
what it computed, so that a pair can be compared. COMPILED: what has something to compile. There are no healthy programs here.
"""
import math, os, sys, zlib
import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from sixth_healthy import Basic, Bottle, angles, encoders, normed, pictures, turned
from program_parts import BF, D, DRY, HALF_HERE, S, autocast, built, compiled, draw, inference, last, noise, pinned, replayed, training, pair, in_turns

SETS = [["shapes", "plain"], ["shapes", "stack"], ["memory", "shapes_stack"], ["plain", "shapes"], ["shapes", "modules"], ["stack", "shapes"]]


def options(index):
    return SETS[index % len(SETS)]


def split_heads(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def repeat_kv(x, times):
    return x[:, :, None].expand(-1, -1, times, -1, -1).flatten(1, 2)


# ---- The host waits for the device: the value is kept there -------------------------------------------------------------------


# Code completion, several tokens guessed ahead by extra heads and checked by the model at once; the model's call is captured. How many guesses held is
# asked of the device after each round, or kept there.
class CheckLayer(nn.Module):
    def __init__(self, d, heads, shared, wide, room):
        super().__init__()
        self.heads, self.shared, self.n1, self.n2 = heads, shared, nn.RMSNorm(d), nn.RMSNorm(d)
        self.q, self.kv, self.out = nn.Linear(d, d, bias=False), nn.Linear(d, 2 * shared * (d // heads), bias=False), nn.Linear(d, d, bias=False)
        self.gate_up, self.down = nn.Linear(d, 2 * wide, bias=False), nn.Linear(wide, d, bias=False)
        self.register_buffer("k", torch.zeros(1, shared, room, d // heads))
        self.register_buffer("v", torch.zeros(1, shared, room, d // heads))

    def forward(self, x, cos, sin, at, mask):
        h = self.n1(x)
        q, (k, v) = split_heads(self.q(h), self.heads), (split_heads(part, self.shared) for part in self.kv(h).chunk(2, -1))
        self.k.index_copy_(2, at, turned(k, cos, sin))
        self.v.index_copy_(2, at, v)
        times = self.heads // self.shared
        y = F.scaled_dot_product_attention(turned(q, cos, sin), repeat_kv(self.k, times), repeat_kv(self.v, times), attn_mask=mask)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        gate, up = self.gate_up(self.n2(x)).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)


class Checker(nn.Module):
    def __init__(self, words, d, heads, shared, wide, layers, room, guesses):
        super().__init__()
        self.embed, self.norm, self.head, self.guess = nn.Embedding(words, d), nn.RMSNorm(d), nn.Linear(d, words, bias=False), nn.Linear(d, guesses * words, bias=False)
        self.layers = nn.ModuleList([CheckLayer(d, heads, shared, wide, room) for _ in range(layers)])
        cos, sin = angles(room, d // heads)
        for name, table in (("cos", cos), ("sin", sin), ("places", torch.arange(room))):
            self.register_buffer(name, table)

    def forward(self, ids, at):
        x, cos, sin = self.embed(ids), self.cos.index_select(0, at), self.sin.index_select(0, at)
        mask = self.places[None, :] <= at[:, None]
        for layer in self.layers:
            x = layer(x, cos, sin, at, mask)
        x = self.norm(x)
        return x, self.head(x).argmax(-1)


def completion_guesses(fetched):
    def make():
        words, d, guesses, room, rounds, begin = S(16000, 30), S(2048, 16), S(4, 2), S(1024, 32), S(8, 3), S(700, 12)
        m = built(lambda: Checker(words, d, S(16, 4), S(4, 2), S(5632, 24), S(3, 1), room, guesses), BF).eval()
        ids, at, first = torch.zeros(1, guesses + 1, dtype=torch.long, device=D), torch.arange(guesses + 1, device=D), draw(words, 1, guesses + 1)
        checked = replayed(torch.no_grad()(lambda: m(ids, at)))

        @torch.no_grad()
        def step():
            at.copy_(m.places[begin:begin + guesses + 1])
            ids.copy_(first)
            for _ in range(rounds):
                h, told = checked()
                held = (told[:, :-1] == ids[:, 1:]).cumprod(1).sum()
                if fetched:
                    held = held.item()
                    now, own = told[:, held:held + 1], h[:, held]
                else:
                    now, own = told.index_select(1, held.view(1)), h.index_select(1, held.view(1))[:, 0]
                ids[:, :1].copy_(now)
                ids[:, 1:].copy_(m.guess(own).view(1, guesses, words).argmax(-1))
                at.add_(held + 1)
            return ids.float()
        return step
    return make


# Pallets and forklifts in a warehouse, a detector with three levels in training: the boxes that hold something picked by boolean indices image by image
# (as torchvision does), or weighted by the mask.
class Levels(nn.Module):
    def __init__(self, c, kinds):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, c, 4, 4), nn.ReLU(inplace=True), Bottle(c, c), Bottle(c, 2 * c, 2))
        self.deeper = nn.ModuleList([nn.Identity(), Bottle(2 * c, 4 * c, 2), Bottle(4 * c, 4 * c, 2)])
        self.beside = nn.ModuleList([nn.Conv2d(i * c, 2 * c, 1) for i in (2, 4, 4)])
        self.tower = nn.Sequential(nn.Conv2d(2 * c, 2 * c, 3, 1, 1), nn.ReLU(inplace=True), nn.Conv2d(2 * c, 2 * c, 3, 1, 1), nn.ReLU(inplace=True))
        self.kinds, self.boxes = nn.Conv2d(2 * c, kinds, 3, 1, 1), nn.Conv2d(2 * c, 4, 3, 1, 1)

    def forward(self, x):
        x, kinds, boxes = self.stem(x), [], []
        for deeper, beside in zip(self.deeper, self.beside):
            x = deeper(x)
            h = self.tower(beside(x))
            kinds.append(self.kinds(h).flatten(2))
            boxes.append(self.boxes(h).flatten(2))
        return torch.cat(kinds, 2).transpose(1, 2).float(), torch.cat(boxes, 2).transpose(1, 2).float()


def focal(told, goal):
    chance = torch.sigmoid(told)
    right = chance * goal + (1 - chance) * (1 - goal)
    return (F.binary_cross_entropy_with_logits(told, goal, reduction="none") * (1 - right) ** 2 * (0.25 * goal + 0.75 * (1 - goal))).sum()


def warehouse_boxes(picked):
    def make():
        batch, side, kinds = S(8, 2), S(512, 64), S(20, 3)
        m, x = last(built(lambda: Levels(S(96, 8), kinds))), last(noise(batch, 3, side, side))
        all_of = sum((side // s) ** 2 for s in (8, 16, 32))
        label, goal = torch.where(torch.rand(batch, all_of, device=D) < 0.03, draw(kinds, batch, all_of) + 1, 0), noise(batch, all_of, 4)
        wanted = (label[..., None] == torch.arange(1, kinds + 1, device=D)).float()

        def loss_of():
            told, boxes = m(x)
            total = 0.0
            for k in range(batch):
                holds = label[k] > 0
                if picked:
                    count = max(1, holds.sum())
                    near = F.smooth_l1_loss(boxes[k][holds], goal[k][holds], reduction="sum")
                else:
                    count = holds.sum().clamp(min=1)
                    near = (F.smooth_l1_loss(boxes[k], goal[k], reduction="none") * holds[:, None]).sum()
                total = total + (focal(told[k], wanted[k]) + near) / count
            return total / batch
        return training(m, loss_of)
    return make


# A dam that breaks, water over a square of land in a few moments: the length of a moment follows the fastest wave, as a number of Python's or on the device.
def flooded(h, p, q, width, fetched):
    u, v, wave = p / h, q / h, torch.sqrt(9.81 * h)
    fastest = torch.maximum(u.abs() + wave, v.abs() + wave).max()
    if fetched:
        fastest = fastest.item()
    moment = 0.4 * width / fastest
    part = moment / (2 * width)
    push = 4.905 * h * h
    along, across = (p, p * u + push, p * v), (q, q * u, q * v + push)
    out = []
    for now, a, b in zip((h, p, q), along, across):
        even = 0.25 * (now.roll(1, 0) + now.roll(-1, 0) + now.roll(1, 1) + now.roll(-1, 1))
        out.append(even - part * (a.roll(-1, 0) - a.roll(1, 0)) - part * (b.roll(-1, 1) - b.roll(1, 1)))
    return out


def dam_break(fetched):
    def make():
        side, moments = S(768, 16), S(10, 3)
        first = [1 + torch.rand(side, side, device=D), 0.1 * noise(side, side), 0.1 * noise(side, side)]

        @torch.no_grad()
        def step():
            state = first
            for _ in range(moments):
                state = flooded(*state, 10.0, fetched)
            return state[0]
        return step
    return make


# A walking robot's policy, eight small batches of an update (PPO): figures for the log and whether to stop early are read from each, or kept on the device.
class Walker(nn.Module):
    def __init__(self, seen, acts, d):
        super().__init__()
        net = lambda o: nn.Sequential(nn.Linear(seen, d), nn.ELU(), nn.Linear(d, d), nn.ELU(), nn.Linear(d, d // 2), nn.ELU(), nn.Linear(d // 2, o))
        self.acting, self.worth, self.spread = net(acts), net(1), nn.Parameter(torch.zeros(acts))

    def chances(self, x, done):
        mean = self.acting(x)
        each = -0.5 * ((done - mean) / self.spread.exp()) ** 2 - self.spread - 0.5 * math.log(2 * math.pi)
        return each.sum(-1)


def walker_update(fetched):
    def make():
        rows, parts, seen, acts = S(8192, 6), S(8, 2), S(96, 5), S(12, 2)
        m = built(lambda: Walker(seen, acts, S(512, 8)))
        optimizer = torch.optim.Adam(m.parameters(), lr=1e-8, fused=True)
        x, done, gain, back = noise(parts, rows, seen), noise(parts, rows, acts), noise(parts, rows), noise(parts, rows)
        with torch.no_grad():
            before = torch.stack([m.chances(x[i], done[i]) for i in range(parts)])
        log, one = dict(policy=0.0, worth=0.0, entropy=0.0, clipped=0.0), torch.ones((), device=D)

        def step():
            keep = one
            for i in range(parts):
                logs = m.chances(x[i], done[i]) - before[i]
                ratio = logs.exp()
                good = (gain[i] - gain[i].mean()) / (gain[i].std() + 1e-8)
                policy = -torch.min(good * ratio, good * ratio.clamp(0.8, 1.2)).mean()
                worth = F.mse_loss(m.worth(x[i])[:, 0], back[i])
                entropy = (m.spread + 0.5 * math.log(2 * math.pi * math.e)).sum()
                with torch.no_grad():
                    apart, clipped = (ratio - 1 - logs).mean(), ((ratio - 1).abs() > 0.2).float().mean()
                loss = policy + 0.5 * worth - 0.01 * entropy
                for name, value in (("policy", policy), ("worth", worth), ("entropy", entropy), ("clipped", clipped)):
                    log[name] += value.item() if fetched else value.detach()
                if fetched:
                    if apart.item() > 0.5:
                        break
                else:
                    keep = keep * (apart <= 0.5)
                    loss = loss * keep
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(m.parameters(), 1.0)
                optimizer.step()
            return loss.detach()
        return step
    return make


# ---- Many launches: captured in a CUDA graph, or by mode="reduce-overhead" ----------------------------------------------------


# A drop of a solvent, three moments of its motion: forces are the gradient of an energy that a small network tells; op by op, or captured.
class Passing(nn.Module):
    def __init__(self, d, waves):
        super().__init__()
        self.filter = nn.Sequential(nn.Linear(waves, d), nn.Softplus(), nn.Linear(d, d))
        self.enter, self.after = nn.Linear(d, d, bias=False), nn.Sequential(nn.Linear(d, d), nn.Softplus(), nn.Linear(d, d))

    def forward(self, x, known, fade, a, b):
        sent = self.enter(x).index_select(0, a) * self.filter(known) * fade
        return x + self.after(torch.zeros_like(x).index_add(0, b, sent))


class Energy(nn.Module):
    def __init__(self, d, waves, layers):
        super().__init__()
        self.embed, self.layers = nn.Embedding(8, d), nn.ModuleList([Passing(d, waves) for _ in range(layers)])
        self.told = nn.Sequential(nn.Linear(d, d // 2), nn.Softplus(), nn.Linear(d // 2, 1))
        self.register_buffer("centres", torch.linspace(0, 5, waves))

    def forward(self, kinds, places, a, b):
        away = (places.index_select(0, a) - places.index_select(0, b)).pow(2).sum(-1, keepdim=True).add(1e-6).sqrt()
        known, fade = torch.exp(-4 * (away - self.centres) ** 2), 0.5 * (torch.cos(away * (math.pi / 5)) + 1) * (away < 5)
        x = self.embed(kinds)
        for layer in self.layers:
            x = layer(x, known, fade, a, b)
        return self.told(x).sum()


def solvent_forces(captured):
    def make():
        atoms, near, moments = S(600, 8), S(24, 3), S(3, 2)
        m = built(lambda: Energy(S(128, 8), S(32, 4), S(3, 1))).requires_grad_(False)
        kinds, first, speed = draw(8, atoms), 6 * torch.rand(atoms, 3, device=D), 0.01 * noise(atoms, 3)
        b = torch.arange(atoms, device=D).repeat_interleave(near)
        a = (b + 1 + draw(atoms - 1, atoms * near)) % atoms

        def forces(places):
            places = places.detach().requires_grad_()
            return -torch.autograd.grad(m(kinds, places, a, b), places)[0]

        def step():
            places, fast = first, speed
            pull = forces(places)
            for _ in range(moments):
                fast = fast + 0.0005 * pull
                places = places + 0.001 * fast
                pull = forces(places)
                fast = fast + 0.0005 * pull
            return places
        return replayed(step) if captured else step
    return make


# Electricity used in a city over the next four days, trained: blocks that each explain a part at a scale of its own; op by op, or the whole step captured.
class Scale(nn.Module):
    def __init__(self, seen, told, pool, d):
        super().__init__()
        self.seen, self.told, self.pool = seen, told, pool
        self.body = nn.Sequential(nn.Linear(seen // pool, d), nn.ReLU(), nn.Linear(d, d), nn.ReLU(), nn.Linear(d, d), nn.ReLU())
        self.back, self.ahead = nn.Linear(d, seen // pool), nn.Linear(d, max(1, told // pool))

    def forward(self, x):
        h = self.body(F.max_pool1d(x[:, None], self.pool)[:, 0])
        back = F.interpolate(self.back(h)[:, None].float(), self.seen, mode="linear")[:, 0]
        return x - back, F.interpolate(self.ahead(h)[:, None].float(), self.told, mode="linear")[:, 0]


class Scales(nn.Module):
    def __init__(self, seen, told, pools, d):
        super().__init__()
        self.blocks = nn.ModuleList([Scale(seen, told, pool, d) for pool in pools])

    def forward(self, x):
        middle, size = x.mean(1, keepdim=True), x.std(1, keepdim=True) + 1e-5
        x, told = (x - middle) / size, 0.0
        for block in self.blocks:
            x, more = block(x)
            told = told + more
        return told * size + middle


def load_scales(captured):
    def make():
        seen, told, batch = S(480, 16), S(96, 8), S(512, 3)
        m = built(lambda: Scales(seen, told, S((16, 16, 8, 8, 2, 2), (4, 2)), S(512, 8)))
        x, y = noise(batch, seen), noise(batch, told)
        step = training(m, lambda: F.huber_loss(m(x).float(), y), torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True, capturable=True))
        return replayed(step) if captured else step
    return make


# What somebody types into a company's search becomes a vector, one query at a time, compiled: as it comes, or with mode="reduce-overhead".
class QueryLayer(nn.Module):
    def __init__(self, d, heads, wide):
        super().__init__()
        self.heads, self.n1, self.n2, self.qkv, self.out = heads, nn.LayerNorm(d, bias=False), nn.LayerNorm(d, bias=False), nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False)
        self.both, self.down = nn.Linear(d, 2 * wide, bias=False), nn.Linear(wide, d, bias=False)

    def forward(self, x, cos, sin):
        q, k, v = (split_heads(part, self.heads) for part in self.qkv(self.n1(x)).chunk(3, -1))
        y = F.scaled_dot_product_attention(turned(q, cos, sin), turned(k, cos, sin), v)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        a, b = self.both(self.n2(x)).chunk(2, -1)
        return x + self.down(F.gelu(a) * b)


class QueryEncoder(nn.Module):
    def __init__(self, words, d, heads, wide, layers, length):
        super().__init__()
        self.embed, self.enter_norm, self.norm = nn.Embedding(words, d), nn.LayerNorm(d, bias=False), nn.LayerNorm(d, bias=False)
        self.layers = nn.ModuleList([QueryLayer(d, heads, wide) for _ in range(layers)])
        cos, sin = angles(length, d // heads)
        self.register_buffer("cos", cos)
        self.register_buffer("sin", sin)

    def forward(self, ids):
        x = self.enter_norm(self.embed(ids))
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        return F.normalize(self.norm(x).mean(1).float(), dim=-1)


def query_vectors(as_it_comes):
    def make():
        words, t = S(30000, 40), S(48, 6)
        m = built(lambda: QueryEncoder(words, S(512, 16), S(8, 2), S(1024, 24), S(8, 1), t), BF).eval()
        return inference(compiled(m) if as_it_comes else compiled(m, mode="reduce-overhead"), draw(words, 1, t))
    return make


# ---- The optimizer: fused=True ------------------------------------------------------------------------------------------------


# Calls to a help desk written down, the encoder in training (conformer blocks): AdamW tensor by tensor ("foreach takes more memory"), or fused.
class CallBlock(nn.Module):
    def __init__(self, d, heads, kernel):
        super().__init__()
        half = lambda: nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.SiLU(), nn.Linear(4 * d, d))
        self.heads, self.first, self.second, self.norm, self.conv_norm, self.end = heads, half(), half(), nn.LayerNorm(d), nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out, self.one, self.two = nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Linear(d, 2 * d), nn.Linear(d, d)
        self.deep, self.batch_norm = nn.Conv1d(d, d, kernel, padding=kernel // 2, groups=d), nn.BatchNorm1d(d)

    def forward(self, x):
        x = x + 0.5 * self.first(x)
        q, k, v = (split_heads(part, self.heads) for part in self.qkv(self.norm(x)).chunk(3, -1))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        h = F.glu(self.one(self.conv_norm(x)), -1).transpose(1, 2)
        x = x + self.two(F.silu(self.batch_norm(self.deep(h))).transpose(1, 2))
        return self.end(x + 0.5 * self.second(x))


def helpdesk_adamw(one_by_one):
    def make():
        d, batch, t, units = S(384, 16), S(16, 2), S(320, 8), S(512, 10)
        m = built(lambda: nn.Sequential(nn.Linear(80, d), *[CallBlock(d, S(6, 2), S(15, 3)) for _ in range(S(8, 1))], nn.Linear(d, units)))
        x, y = noise(batch, t, 80), draw(units, batch * t)
        how = dict(foreach=False) if one_by_one else dict(fused=True)
        return training(m, lambda: F.cross_entropy(m(x).flatten(0, 1).float(), y), torch.optim.AdamW(m.parameters(), lr=1e-5, weight_decay=0.01, **how))
    return make


# Manuals in many languages, a language model with eight experts a layer in training, each token to one: AdamW as it comes, or fused.
class Experts(nn.Module):
    def __init__(self, d, wide, experts, tokens):
        super().__init__()
        self.experts, self.room, self.router = experts, int(1.25 * tokens / experts), nn.Linear(d, experts, bias=False)
        self.up, self.down = nn.Parameter(torch.randn(experts, d, wide) / d ** 0.5), nn.Parameter(torch.randn(experts, wide, d) / wide ** 0.5)
        self.register_buffer("numbers", torch.arange(experts))
        self.register_buffer("spilled", experts * self.room + torch.arange(tokens))

    def forward(self, x):
        flat = x.flatten(0, 1)
        gate, which = self.router(flat).float().softmax(-1).max(-1)
        place = (which[:, None] == self.numbers).cumsum(0).gather(1, which[:, None])[:, 0] - 1
        slot = torch.where(place < self.room, which * self.room + place, self.spilled)
        held = flat.new_zeros(self.experts * self.room + len(flat), flat.shape[1]).index_copy(0, slot, flat)
        y = torch.bmm(F.gelu(torch.bmm(held[:self.experts * self.room].view(self.experts, self.room, -1), self.up)), self.down)
        y = F.pad(y.flatten(0, 1), (0, 0, 0, len(flat))).index_select(0, slot)
        return (y * gate[:, None].to(y.dtype)).view_as(x)


class ManualLayer(nn.Module):
    def __init__(self, d, heads, wide, experts, tokens):
        super().__init__()
        self.heads, self.n1, self.n2, self.qkv, self.out = heads, nn.RMSNorm(d), nn.RMSNorm(d), nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False)
        self.experts = Experts(d, wide, experts, tokens)

    def forward(self, x):
        q, k, v = (split_heads(part, self.heads) for part in self.qkv(self.n1(x)).chunk(3, -1))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.experts(self.n2(x))


class Manuals(nn.Module):
    def __init__(self, words, d, heads, wide, experts, layers, batch, t):
        super().__init__()
        self.embed, self.places = nn.Embedding(words, d), nn.Parameter(torch.randn(t, d) * 0.02)
        self.layers = nn.Sequential(*[ManualLayer(d, heads, wide, experts, batch * t) for _ in range(layers)])
        self.norm, self.head = nn.RMSNorm(d), nn.Linear(d, words, bias=False)

    def forward(self, ids):
        return self.head(self.norm(self.layers(self.embed(ids) + self.places)))


def manuals_experts(as_it_comes):
    def make():
        words, batch, t = S(16384, 40), S(8, 2), S(512, 8)
        m = built(lambda: Manuals(words, S(1024, 16), S(16, 2), S(4096, 24), S(8, 2), S(3, 1), batch, t))
        ids, labels = draw(words, batch, t), draw(words, batch * t)
        optimizer = torch.optim.AdamW(m.parameters(), lr=1e-5, betas=(0.9, 0.95), **({} if as_it_comes else dict(fused=True)))
        return training(m, lambda: F.cross_entropy(m(ids).flatten(0, 1).float(), labels), optimizer)
    return make


# ---- Chains of pointwise kernels: torch.compile around what holds them ----------------------------------------------------------


# A chat model learns which of two answers people prefer (DPO), its norms, turning and gates as in its authors' code: eager, or model and loss compiled.
class PlainRms(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))

    def forward(self, x):
        wide = x.to(torch.float32)
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * wide.to(x.dtype)


class ChatLayer(nn.Module):
    def __init__(self, d, heads, shared, wide):
        super().__init__()
        self.heads, self.shared, self.n1, self.n2 = heads, shared, PlainRms(d), PlainRms(d)
        self.q, self.kv, self.out = nn.Linear(d, d, bias=False), nn.Linear(d, 2 * shared * (d // heads), bias=False), nn.Linear(d, d, bias=False)
        self.gate, self.up, self.down = nn.Linear(d, wide, bias=False), nn.Linear(d, wide, bias=False), nn.Linear(wide, d, bias=False)

    def forward(self, x, cos, sin):
        h = self.n1(x)
        q, (k, v) = split_heads(self.q(h), self.heads), (split_heads(part, self.shared) for part in self.kv(h).chunk(2, -1))
        times = self.heads // self.shared
        y = F.scaled_dot_product_attention(turned(q, cos, sin), repeat_kv(turned(k, cos, sin), times), repeat_kv(v, times), is_causal=True)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        h = self.n2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Chat(nn.Module):
    def __init__(self, words, d, heads, shared, wide, layers, length):
        super().__init__()
        self.embed, self.norm, self.head = nn.Embedding(words, d), PlainRms(d), nn.Linear(d, words, bias=False)
        self.layers = nn.ModuleList([ChatLayer(d, heads, shared, wide) for _ in range(layers)])
        cos, sin = angles(length, d // heads)
        self.register_buffer("cos", cos)
        self.register_buffer("sin", sin)

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        return self.head(self.norm(x))


def answers_preferred(eager):
    def make():
        words, t, two = S(16384, 40), S(512, 8), S(8, 4)
        m = built(lambda: Chat(words, S(1024, 16), S(16, 4), S(4, 2), S(2816, 24), S(3, 1), t))
        ids, counts, before = draw(words, two, t), (torch.rand(two, t - 1, device=D) < 0.7).float(), -10.0 + 0.1 * noise(two)

        def preferred(ids, counts, before):
            logs = m(ids)[:, :-1].float().log_softmax(-1)
            each = logs.gather(-1, ids[:, 1:, None])[..., 0] * counts
            gain = each.sum(-1) / counts.sum(-1) - before
            good, bad = gain.chunk(2)
            return -F.logsigmoid(0.5 * (good - bad)).mean() - 0.05 * (each.chunk(2)[0].sum() / counts.chunk(2)[0].sum())
        f = preferred if eager else compiled(preferred)
        return training(m, lambda: f(ids, counts, before))
    return make


# Voices freed of a street's noise, trained on spectra: gated convolutions with a norm over all of a clip, a complex mask and a compressed loss; eager, or
# model and loss compiled.
class CleanLayer(nn.Module):
    def __init__(self, c, dilation):
        super().__init__()
        self.conv, self.weight, self.bias = nn.Conv2d(c, 2 * c, 3, 1, (1, dilation), (1, dilation)), nn.Parameter(torch.ones(2 * c, 1, 1)), nn.Parameter(torch.zeros(2 * c, 1, 1))

    def forward(self, x):
        y = self.conv(x).float()
        middle = y.mean((1, 2, 3), keepdim=True)
        spread = (y - middle).pow(2).mean((1, 2, 3), keepdim=True)
        y = (y - middle) / torch.sqrt(spread + 1e-5) * self.weight + self.bias
        a, b = y.to(x.dtype).chunk(2, 1)
        return x + torch.tanh(a) * torch.sigmoid(b)


def street_loss(m, x, goal):
    mask = 5 * torch.tanh(m(x).float())
    (a, b), (c, d), (e, f) = mask.unbind(1), x.unbind(1), goal.unbind(1)
    real, imag = a * c - b * d, a * d + b * c
    told, wanted = torch.sqrt(real ** 2 + imag ** 2 + 1e-4), torch.sqrt(e ** 2 + f ** 2 + 1e-4)
    told_less, wanted_less = told ** 0.3, wanted ** 0.3
    parts = (real / told * told_less - e / wanted * wanted_less) ** 2 + (imag / told * told_less - f / wanted * wanted_less) ** 2
    return 0.3 * parts.mean() + 0.7 * ((told_less - wanted_less) ** 2).mean() + 0.1 * (torch.log(told) - torch.log(wanted)).abs().mean()


def street_voices(eager):
    def make():
        c, shape = S(64, 4), (S(4, 2), 2, S(256, 8), S(320, 12))
        m = last(built(lambda: nn.Sequential(nn.Conv2d(2, c, 3, 1, 1), *[CleanLayer(c, 2 ** k) for k in range(S(4, 2))], nn.Conv2d(c, 2, 1))))
        x, goal = last(noise(*shape)), last(noise(*shape))
        f = street_loss if eager else compiled(street_loss)
        return training(m, lambda: f(m, x, goal))
    return make


# Product pictures out of words, one call of the denoiser: picture and words keep weights of their own and attend together, all of it moved and scaled by the
# time; eager, or the model compiled.
class Stream(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.moved, self.qkv, self.out = heads, nn.Linear(d, 6 * d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.q_weight, self.k_weight = nn.Parameter(torch.ones(d // heads)), nn.Parameter(torch.ones(d // heads))
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def unit(self, x, weight):
        return (x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * weight

    def enter(self, x, time):
        shift, scale, *rest = self.moved(F.silu(time))[:, None].chunk(6, -1)
        q, k, v = (split_heads(part, self.heads) for part in self.qkv(F.layer_norm(x, x.shape[-1:]) * (1 + scale) + shift).chunk(3, -1))
        return self.unit(q, self.q_weight), self.unit(k, self.k_weight), v, rest

    def leave(self, x, y, rest):
        gate, shift, scale, gate_two = rest
        x = x + gate * self.out(y)
        h = F.layer_norm(x, x.shape[-1:]) * (1 + scale) + shift
        return x + gate_two * self.down(F.gelu(self.up(h), approximate="tanh"))


class TwoStreams(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.picture, self.words = Stream(d, heads), Stream(d, heads)

    def forward(self, x, w, time, cos, sin):
        q, k, v, rest = self.picture.enter(x, time)
        wq, wk, wv, words_rest = self.words.enter(w, time)
        q, k, v = torch.cat([wq, turned(q, cos, sin)], 2), torch.cat([wk, turned(k, cos, sin)], 2), torch.cat([wv, v], 2)
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        many = w.shape[1]
        return self.picture.leave(x, y[:, many:], rest), self.words.leave(w, y[:, :many], words_rest)


class ProductDenoiser(nn.Module):
    def __init__(self, seen, d, heads, layers, places):
        super().__init__()
        self.enter, self.layers, self.out = nn.Linear(seen, d), nn.ModuleList([TwoStreams(d, heads) for _ in range(layers)]), nn.Linear(d, seen)
        cos, sin = angles(places, d // heads)
        self.register_buffer("cos", cos)
        self.register_buffer("sin", sin)

    def forward(self, x, words, time):
        x = self.enter(x)
        for layer in self.layers:
            x, words = layer(x, words, time, self.cos, self.sin)
        return self.out(F.layer_norm(x, x.shape[-1:]))


def product_pictures(eager):
    def make():
        d, places, batch, seen = S(1024, 16), S(1024, 6), S(8, 2), S(64, 4)
        m = built(lambda: ProductDenoiser(seen, d, S(16, 2), S(3, 1), places), BF).eval()
        return inference(m if eager else compiled(m), noise(batch, places, seen, dtype=BF), noise(batch, S(128, 3), d, dtype=BF), noise(batch, d, dtype=BF))
    return make


# Rain out of clouds over a region, two moments of a warm rain scheme in every cell of a weather model: written out, in eager mode or compiled.
def showers(heat, vapour, cloud, rain, air, press, part, moments=2):
    for _ in range(moments):
        warm = heat * part
        holds = 380.0 / press * torch.exp(17.27 * (warm - 273.0) / (warm - 36.0))
        turns = (vapour - holds) / (1 + 2.5e6 * 4093.0 * holds / (1004.0 * (warm - 36.0) ** 2))
        turns = torch.maximum(turns, -cloud)
        grows = torch.clamp(0.001 * (cloud - 0.0005), min=0.0) + 2.2 * cloud * torch.clamp(rain, min=0.0) ** 0.875
        grows = torch.minimum(grows, cloud / 5.0)
        wet = air * torch.clamp(rain, min=1e-9)
        vent = 1.6 + 30.39 * wet ** 0.2046
        dries = torch.clamp(1 - vapour / holds, min=0.0) * vent * wet ** 0.525 / (2.03e4 + 9.58e6 / (holds * press)) / air
        dries = torch.minimum(dries, rain / 5.0)
        falls = 36.34 * wet ** 0.1364 * torch.rsqrt(air) * air * rain
        above = F.pad(falls[1:], (0, 0, 0, 1))
        heat = heat + 2490.0 / part * (turns - 5.0 * dries)
        vapour = torch.clamp(vapour - turns + 5.0 * dries, min=0.0)
        cloud = torch.clamp(cloud + turns - 5.0 * grows, min=0.0)
        rain = torch.clamp(rain + 5.0 * (grows - dries) + 5.0 * (above - falls) / (air * 300.0), min=0.0)
    return heat


def rain_scheme(eager):
    def make():
        levels, columns = S(64, 6), S(49152, 10)
        f = showers if eager else compiled(showers)
        few = lambda top: top * torch.rand(levels, columns, device=D)
        height = torch.linspace(0, 1, levels, device=D)[:, None].expand(levels, columns).contiguous()
        state = (290 + few(10), 0.004 + few(0.01), few(0.002), few(0.001), 1.2 - 0.6 * height + few(0.01), 1e5 - 5e4 * height + few(10), 1 - 0.15 * height + few(0.001))
        return inference(f, *state)
    return make


# Debris on its way around the earth, millions of pieces in double precision: Kepler's equation by Newton's rounds and a turn into space; eager or compiled.
def orbits(half, round_off, tilt, node, low, begin, time=5400.0):
    mean = torch.remainder(begin + torch.sqrt(398600.4418 / half ** 3) * (1 + 1e-6 * torch.cos(tilt)) * time, 2 * math.pi)
    e = mean + round_off * torch.sin(mean)
    for _ in range(6):
        e = e - (e - round_off * torch.sin(e) - mean) / (1 - round_off * torch.cos(e))
    x, y = half * (torch.cos(e) - round_off), half * torch.sqrt(1 - round_off ** 2) * torch.sin(e)
    cn, sn, cl, sl, ct, st = torch.cos(node), torch.sin(node), torch.cos(low), torch.sin(low), torch.cos(tilt), torch.sin(tilt)
    return (x * (cn * cl - sn * sl * ct) - y * (cn * sl + sn * cl * ct), x * (sn * cl + cn * sl * ct) - y * (sn * sl - cn * cl * ct), x * (sl * st) + y * (cl * st))


def debris_orbits(eager):
    def make():
        many = S(3 << 20, 50)
        f = orbits if eager else compiled(orbits)
        some = lambda low, high: low + (high - low) * torch.rand(many, device=D, dtype=torch.float64)
        parts = (some(6700, 42000), some(0, 0.2), some(0, 3.1), some(0, 6.2), some(0, 6.2), some(0, 6.2))

        @torch.no_grad()
        def step():
            return f(*parts)[0]
        return step
    return make


# ---- Attention by hand: scaled_dot_product_attention --------------------------------------------------------------------------


# A contract read piece by piece: 512 new tokens look at 3584 that were read before and at each other, heads share keys; written out as in the model's own
# plain code, or by the library's kernel.
class ContractLayer(nn.Module):
    def __init__(self, d, heads, shared, wide, by_hand):
        super().__init__()
        self.heads, self.shared, self.by_hand, self.n1, self.n2 = heads, shared, by_hand, nn.RMSNorm(d), nn.RMSNorm(d)
        self.q, self.kv, self.out = nn.Linear(d, d, bias=False), nn.Linear(d, 2 * shared * (d // heads), bias=False), nn.Linear(d, d, bias=False)
        self.gate_up, self.down = nn.Linear(d, 2 * wide, bias=False), nn.Linear(wide, d, bias=False)

    def forward(self, x, cos, sin, past, mask):
        h = self.n1(x)
        q, (k, v) = split_heads(self.q(h), self.heads), (split_heads(part, self.shared) for part in self.kv(h).chunk(2, -1))
        q, k, v = turned(q, cos, sin), torch.cat([past[0], turned(k, cos, sin)], 2), torch.cat([past[1], v], 2)
        times = self.heads // self.shared
        k, v = repeat_kv(k, times), repeat_kv(v, times)
        if self.by_hand:
            weights = torch.matmul(q, k.transpose(2, 3)) * q.shape[-1] ** -0.5 + mask
            weights = F.softmax(weights, dim=-1, dtype=torch.float32).to(q.dtype)
            y = torch.matmul(weights, v)
        else:
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        gate, up = self.gate_up(self.n2(x)).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)


def contract_pieces(by_hand):
    def make():
        d, heads, shared, layers, batch, past, new = S(2048, 16), S(16, 4), S(4, 2), S(4, 2), S(4, 2), S(3584, 10), S(512, 6)
        m = built(lambda: nn.ModuleList([ContractLayer(d, heads, shared, S(5632, 24), by_hand) for _ in range(layers)]), BF).eval()
        with torch.device(D):
            cos, sin = (table[past:] for table in angles(past + new, d // heads))
        kept = [(noise(batch, shared, past, d // heads, dtype=BF), noise(batch, shared, past, d // heads, dtype=BF)) for _ in range(layers)]
        mask = torch.full((new, past + new), torch.finfo(BF).min, device=D, dtype=BF).triu(past + 1)[None, None]
        x = noise(batch, new, d, dtype=BF)

        @torch.no_grad()
        def step():
            h = x
            for layer, both in zip(m, kept):
                h = layer(h, cos, sin, both, mask)
            return h
        return step
    return make


# What people do in front of a shop's camera, half precision: patches look at the same place in other pictures, then at their own picture; written out, or by
# the library's kernel.
class Look(nn.Module):
    def __init__(self, d, heads, by_hand):
        super().__init__()
        self.heads, self.by_hand, self.norm, self.qkv, self.out = heads, by_hand, nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        if self.by_hand:
            weights = (q @ k.transpose(-2, -1)) * q.shape[-1] ** -0.5
            y = weights.softmax(dim=-1) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).flatten(2))


class Divided(nn.Module):
    def __init__(self, d, heads, by_hand):
        super().__init__()
        self.times, self.places, self.norm, self.mlp = Look(d, heads, by_hand), Look(d, heads, by_hand), nn.LayerNorm(d), nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        b, t, n, d = x.shape
        x = x + self.times(x.transpose(1, 2).reshape(b * n, t, d)).view(b, n, t, d).transpose(1, 2)
        x = x + self.places(x.reshape(b * t, n, d)).view(b, t, n, d)
        return x + self.mlp(self.norm(x))


def shop_camera(by_hand):
    def make():
        d, batch, times, places = S(768, 16), S(8, 2), S(16, 3), S(196, 4)
        m = built(lambda: nn.Sequential(*[Divided(d, S(12, 2), by_hand) for _ in range(S(3, 1))], nn.LayerNorm(d), nn.Linear(d, S(400, 5))), HALF_HERE).eval()
        return inference(m, noise(batch, times, places, d, dtype=HALF_HERE))
    return make


# Questions and the pages that answer them, vectors learnt by contrast within a batch: scores masked and put through a softmax, or the library's kernel.
class PageLayer(nn.Module):
    def __init__(self, d, heads, by_hand):
        super().__init__()
        self.heads, self.by_hand, self.n1, self.n2 = heads, by_hand, nn.LayerNorm(d), nn.LayerNorm(d)
        self.q, self.k, self.v, self.out = (nn.Linear(d, d) for _ in range(4))
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x, real):
        h = self.n1(x)
        q, k, v = (split_heads(layer(h), self.heads) for layer in (self.q, self.k, self.v))
        if self.by_hand:
            scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.shape[-1])
            scores = scores.masked_fill(~real, torch.finfo(scores.dtype).min)
            y = torch.matmul(torch.softmax(scores, -1), v)
        else:
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=real)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.mlp(self.n2(x))


class Pages(nn.Module):
    def __init__(self, words, d, heads, layers, length, by_hand):
        super().__init__()
        self.embed, self.places, self.norm = nn.Embedding(words, d), nn.Parameter(torch.randn(length, d) * 0.02), nn.LayerNorm(d)
        self.layers = nn.ModuleList([PageLayer(d, heads, by_hand) for _ in range(layers)])

    def forward(self, ids, real):
        x = self.embed(ids) + self.places
        for layer in self.layers:
            x = layer(x, real[:, None, None])
        weight = real[..., None].float()
        return F.normalize((self.norm(x).float() * weight).sum(1) / weight.sum(1), dim=-1)


def questions_pages(by_hand):
    def make():
        words, two, t = S(20000, 40), S(96, 4), S(256, 8)
        m = built(lambda: Pages(words, S(512, 16), S(8, 2), S(4, 1), t, by_hand))
        ids, real = draw(words, two, t), torch.arange(t, device=D) < draw(t // 2, two)[:, None] + t // 2
        labels = torch.arange(two // 2, device=D)

        def loss_of():
            asked, told = m(ids, real).chunk(2)
            close = asked @ told.t() / 0.05
            return (F.cross_entropy(close.float(), labels) + F.cross_entropy(close.t().float(), labels)) / 2
        return training(m, loss_of)
    return make


# ---- Input: workers, pinned memory, the next request in a process of its own ----------------------------------------------------


def fed(m, loss_of, dataset, batch, **more):
    """Training from a data loader."""
    batches, optimizer = iter(torch.utils.data.DataLoader(dataset, batch_size=batch, **more)), torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True)

    def step():
        *x, y = (t.to(D, non_blocking=True) for t in next(batches))
        optimizer.zero_grad(set_to_none=True)
        with autocast():
            loss = loss_of(m(*x).float(), y)
        loss.backward()
        optimizer.step()
        return loss.detach()
    return step


# Gestures in short films: pictures of a film picked, cut, mirrored and made darker by the training process itself, or by workers and with pinned memory.
class Gestures(torch.utils.data.Dataset):
    def __init__(self, films, times, side, cut, picked):
        self.cut, self.picked, self.films = cut, picked, np.random.default_rng(11).integers(0, 256, (films, times, side, side, 3), dtype=np.uint8)

    def __len__(self):
        return 1000000

    def __getitem__(self, i):
        rng, film = np.random.default_rng(i), self.films[i % len(self.films)]
        side, stride = film.shape[1], int(rng.integers(1, len(film) // self.picked + 1))
        begin, (top, left) = int(rng.integers(0, len(film) - stride * (self.picked - 1))), rng.integers(0, side - self.cut + 1, 2)
        film = film[begin:begin + stride * self.picked:stride][:self.picked, top:top + self.cut, left:left + self.cut]
        if rng.random() < 0.5:
            film = film[:, :, ::-1]
        film = film.astype(np.float32) * np.float32(rng.uniform(0.7, 1.3) / 255)
        grey = film.mean((1, 2, 3), keepdims=True)
        film = np.clip((film - grey) * np.float32(rng.uniform(0.7, 1.3)) + grey, 0, 1)
        return torch.from_numpy(np.round(film * 255).astype(np.uint8)), i % 20


class Gesture(nn.Module):
    def __init__(self, c, d, heads, layers):
        super().__init__()
        self.pictures, self.layers, self.head = pictures(Basic, c, S((2, 2, 2), (1, 1)), 3, d), encoders(d, heads, layers), nn.Linear(d, 20)

    def forward(self, films):
        x = films.flatten(0, 1).permute(0, 3, 1, 2).float() / 255
        return self.head(self.layers(self.pictures(x).unflatten(0, films.shape[:2])).mean(1))


def gestures_loader(workers):
    def make():
        m = last(built(lambda: Gesture(S(64, 8), S(512, 16), S(8, 2), S(2, 1))))
        more = dict(num_workers=S(workers, 1), persistent_workers=True, prefetch_factor=2, pin_memory=not DRY) if workers else {}
        return fed(m, F.cross_entropy, Gestures(S(24, 3), S(32, 6), S(128, 40), S(96, 32), S(8, 3)), S(12, 2), **more)
    return make


# How well molecules dissolve: what is near each of their atoms, at which angles, worked out by two workers, or by ten and with pinned memory.
class Molecules(torch.utils.data.Dataset):
    def __init__(self, many, atoms, near, shells):
        rng = np.random.default_rng(12)
        self.near, self.shells = near, shells
        self.places, self.kinds = rng.uniform(0, 8, (many, atoms, 3)).astype(np.float32), rng.integers(0, 10, (many, atoms))

    def __len__(self):
        return 1000000

    def __getitem__(self, i):
        rng, places = np.random.default_rng(i), self.places[i % len(self.places)]
        places = places + rng.normal(0, 0.05, places.shape).astype(np.float32)
        apart = places[None] - places[:, None]
        away = np.sqrt((apart ** 2).sum(-1) + 1e-6)
        which = np.argsort(away, 1)[:, 1:self.near + 1]
        away, apart = np.take_along_axis(away, which, 1), np.take_along_axis(apart, which[..., None], 1) / np.take_along_axis(away, which, 1)[..., None]
        fade = 0.5 * np.cos(np.minimum(away / 6, 1) * np.pi) + 0.5
        angle, middle = apart @ apart.transpose(0, 2, 1), (away[:, :, None] + away[:, None]) / 2
        centres = np.linspace(-1, 1, self.shells, dtype=np.float32)
        shells = np.exp(-8 * (angle[..., None] - centres) ** 2) * np.exp(-2 * (middle[..., None] - 3 * centres - 3) ** 2)
        known = (shells * (fade[:, :, None] * fade[:, None])[..., None]).sum((1, 2))
        return torch.from_numpy(self.kinds[i % len(self.kinds)]), torch.from_numpy(known.astype(np.float32)), np.float32(away.mean())


class Soluble(nn.Module):
    def __init__(self, shells, d, heads, layers):
        super().__init__()
        self.embed, self.enter, self.layers, self.norm, self.head = nn.Embedding(10, d), nn.Linear(shells, d), encoders(d, heads, layers), nn.LayerNorm(d), nn.Linear(d, 1)

    def forward(self, kinds, known):
        return self.head(self.norm(self.layers(self.embed(kinds) + self.enter(known))).mean(1))[:, 0]


def molecules_workers(workers):
    def make():
        shells = S(16, 3)
        m = built(lambda: Soluble(shells, S(512, 16), S(8, 2), S(4, 1)))
        more = dict(num_workers=S(workers, 1), persistent_workers=True, prefetch_factor=2, pin_memory=workers > 2 and not DRY)
        return fed(m, F.mse_loss, Molecules(S(200, 4), S(48, 6), S(10, 3), shells), S(32, 3), **more)
    return make


# Is a click paid for by a robot, a few hundred a request: lines of a log are split and hashed ahead of each request, or in a process of its own meanwhile.
def hashed(lines, columns, rooms):
    rows = []
    for line in lines:
        values = line.rstrip("\n").split("|")
        row = [zlib.crc32(f"{k}={values[k].strip().lower()}".encode()) % rooms for k in range(columns - 2)]
        row.append(zlib.crc32(f"{values[0]}x{values[1]}".encode()) % rooms)
        row.append(zlib.crc32(f"{values[2]}x{values[3]}".encode()) % rooms)
        rows.append(row)
    return torch.tensor(rows)


class Clicks(torch.utils.data.Dataset):
    def __init__(self, columns, rooms, rows):
        values = np.random.default_rng(13).integers(0, 5000, (4 * rows, columns - 2))
        self.columns, self.rooms, self.rows, self.lines = columns, rooms, rows, ["|".join(f"Value-{v} " for v in line) + "\n" for line in values.tolist()]

    def __len__(self):
        return 1000000

    def __getitem__(self, i):
        at = i % 4 * self.rows
        return hashed(self.lines[at:at + self.rows], self.columns, self.rooms)


class Clicked(nn.Module):
    def __init__(self, rooms, columns, d, heads, layers):
        super().__init__()
        self.embed, self.column, self.layers, self.norm, self.head = nn.Embedding(rooms, d), nn.Parameter(torch.randn(columns, d) * 0.02), encoders(d, heads, layers), nn.LayerNorm(d), nn.Linear(d, 1)

    def forward(self, ids):
        return torch.sigmoid(self.head(self.norm(self.layers(self.embed(ids) + self.column).mean(1))).float())


def clicks_hashed(at_once):
    def make():
        columns, rooms, turn = S(24, 6), S(200000, 50), [0]
        m, requests = built(lambda: Clicked(rooms, columns, S(1024, 16), S(16, 2), S(12, 1)), BF).eval(), Clicks(columns, rooms, S(192, 4))
        loader = None if at_once else iter(torch.utils.data.DataLoader(requests, batch_size=None, num_workers=1, prefetch_factor=4, persistent_workers=True, pin_memory=not DRY))

        @torch.no_grad()
        def step():
            if at_once:
                ids = pinned(requests[turn[0]])
                turn[0] += 1
            else:
                ids = next(loader)
            return m(ids.to(D, non_blocking=True))
        return step
    return make


# ---- Copies: pinned memory ----------------------------------------------------------------------------------------------------


# Tomorrow's weather on a grid of the whole earth, 64 fields: each state sent by non_blocking=True, from ordinary memory or from pinned memory.
class Earth(nn.Module):
    def __init__(self, fields, patch, d, heads, layers, places):
        super().__init__()
        self.enter, self.places, self.layers = nn.Conv2d(fields, d, patch, patch), nn.Parameter(torch.randn(places, d) * 0.02), encoders(d, heads, layers)
        self.norm, self.out = nn.LayerNorm(d), nn.Linear(d, fields * patch * patch)

    def forward(self, x):
        x = self.enter(x).flatten(2).transpose(1, 2) + self.places
        return self.out(self.norm(self.layers(x)))


def earth_upload(ordinary):
    def make():
        fields, patch, high, wide, turn = S(64, 3), 8, S(360, 16), S(720, 32), [0]
        m = built(lambda: Earth(fields, patch, S(1024, 16), S(16, 2), S(6, 1), high * wide // patch ** 2), BF).eval()
        rng = np.random.default_rng(14)
        states = [torch.from_numpy(rng.standard_normal((1, fields, high, wide), dtype=np.float32)) for _ in range(2)]
        if not ordinary:
            states = [pinned(state) for state in states]

        @torch.no_grad()
        def step():
            turn[0] = (turn[0] + 1) % 2
            return m(states[turn[0]].to(D, non_blocking=True).to(BF))
        return step
    return make


# Flats shown to those who look for one, scored in bulk: thirty-two arrays of a batch are sent one by one, from ordinary memory or from pinned memory.
class Flats(nn.Module):
    def __init__(self, sizes, d, plain, wide):
        super().__init__()
        self.tables, self.seen = nn.ModuleList([nn.Embedding(size, d) for size in sizes]), nn.Embedding(sizes[0], d)
        self.bottom = nn.Sequential(nn.Linear(plain, 4 * d), nn.ReLU(), nn.Linear(4 * d, d), nn.ReLU())
        many = len(sizes) + 2
        self.top = nn.Sequential(nn.Linear(d + many * many, wide), nn.ReLU(), nn.Linear(wide, wide), nn.ReLU(), nn.Linear(wide, 1))

    def forward(self, plain, seen, *ids):
        bottom = self.bottom(plain)
        x = torch.stack([bottom, self.seen(seen).mean(1), *[table(each) for table, each in zip(self.tables, ids)]], 1)
        crossed = torch.bmm(x, x.transpose(1, 2)).flatten(1)
        return torch.sigmoid(self.top(torch.cat([bottom, crossed], 1)).float())


def flats_upload(ordinary):
    def make():
        batch, plain, turn, rng = S(24576, 4), 16, [0], np.random.default_rng(15)
        sizes = [int(n) for n in rng.integers(S(2000, 10), S(60000, 30), S(30, 3))]
        m = built(lambda: Flats(sizes, S(64, 4), plain, S(1024, 8)), BF).eval()
        batches = []
        for _ in range(2):
            dense = torch.from_numpy(rng.standard_normal((batch, plain), dtype=np.float32))
            batches.append([dense, torch.from_numpy(rng.integers(0, sizes[0], (batch, S(10, 3)))), *[torch.from_numpy(rng.integers(0, size, batch)) for size in sizes]])
        if not ordinary:
            batches = [[pinned(t) for t in arrays] for arrays in batches]

        @torch.no_grad()
        def step():
            turn[0] = (turn[0] + 1) % 2
            dense, *ids = (t.to(D, non_blocking=True) for t in batches[turn[0]])
            return m(dense.to(BF), *ids)
        return step
    return make


# ---- Products and convolutions ------------------------------------------------------------------------------------------------


# Heart rates of the coming hours from pieces of those before, each sensor for itself, trained in float32: TF32 off for products, or on.
class Hearts(nn.Module):
    def __init__(self, piece, pieces, d, heads, layers, told):
        super().__init__()
        self.piece, self.enter, self.places, self.layers = piece, nn.Linear(piece, d), nn.Parameter(torch.randn(pieces, d) * 0.02), encoders(d, heads, layers)
        self.head = nn.Linear(pieces * d, told)

    def forward(self, x):
        middle, size = x.mean(-1, keepdim=True), x.std(-1, keepdim=True) + 1e-5
        x = ((x - middle) / size).unfold(-1, self.piece, self.piece).flatten(0, 1)
        told = self.head(self.layers(self.enter(x) + self.places).flatten(1))
        return told.view(*middle.shape[:2], -1) * size + middle


def hearts_fp32(full):
    def make():
        batch, sensors, piece, pieces, told = S(48, 2), S(8, 2), S(16, 4), S(40, 3), S(96, 4)
        m = built(lambda: Hearts(piece, pieces, S(512, 16), S(8, 2), S(3, 1), told))
        x, y = noise(batch, sensors, piece * pieces), noise(batch, sensors, told)
        step = training(m, lambda: F.mse_loss(m(x), y), cast=False)

        def with_precision():
            torch.set_float32_matmul_precision("highest" if full else "high")
            return step()
        return with_precision
    return make


# A small assistant learns from a large one, both of 50257 words: as many as there are, or filled up to 50304 words of which the last are never used.
class Assistant(nn.Module):
    def __init__(self, words, d, heads, layers, length):
        super().__init__()
        self.embed, self.places, self.layers = nn.Embedding(words, d), nn.Parameter(torch.randn(length, d) * 0.02), nn.ModuleList([AssistantLayer(d, heads) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, words, bias=False)

    def forward(self, ids):
        x = self.embed(ids) + self.places
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


class AssistantLayer(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.n1, self.n2, self.qkv, self.out = heads, nn.LayerNorm(d), nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        q, k, v = (split_heads(part, self.heads) for part in self.qkv(self.n1(x)).chunk(3, -1))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.mlp(self.n2(x))


def filled_up(m, words):
    """Rows of zeros behind the last word."""
    for part in (m.embed, m.head):
        part.weight = nn.Parameter(F.pad(part.weight.detach(), (0, 0, 0, words - len(part.weight))))
    m.embed.num_embeddings = m.head.out_features = words
    return m


def assistant_words(padded):
    def make():
        words, more, t, batch = S(50257, 1001), S(50304, 1008), S(512, 6), S(8, 2)
        large, m = built(lambda: Assistant(words, S(1024, 16), S(16, 2), S(3, 1), t)), built(lambda: Assistant(words, S(768, 16), S(12, 2), S(3, 1), t))
        if padded:
            large, m = filled_up(large, more), filled_up(m, more)
        large, ids, labels = large.to(BF).eval().requires_grad_(False), draw(words, batch, t), draw(words, batch * t)

        def loss_of():
            with torch.no_grad():
                wanted = (large(ids).flatten(0, 1) / 2).float().log_softmax(-1)
            told = m(ids).flatten(0, 1)
            near = F.kl_div((told / 2).float().log_softmax(-1), wanted, reduction="batchmean", log_target=True)
            return 0.5 * F.cross_entropy(told.float(), labels) + 2 * near
        return training(m, loss_of)
    return make


# Instruments told apart in a spectrum of 513 bins, frame by frame, trained: layers 513 and 1539 wide as the spectrum has it, or filled up by zeros to 520 and 1560.
class Bins(nn.Module):
    def __init__(self, bins, layers):
        super().__init__()
        self.up, self.down = (nn.ModuleList([nn.Linear(i * bins, o * bins) for _ in range(layers)]) for i, o in ((1, 3), (3, 1)))
        self.mask = nn.Linear(bins, bins)

    def forward(self, x):
        h = x
        for up, down in zip(self.up, self.down):
            h = h + down(F.gelu(up(h)))
        return x * torch.sigmoid(self.mask(h))


def zeros_around(m, bins, room):
    """All layers as wide as there is room, zeros where nothing was."""
    for part in m.modules():
        if isinstance(part, nn.Linear):
            more_out, more_in = (size // bins * (room - bins) for size in part.weight.shape)
            part.weight, part.bias = nn.Parameter(F.pad(part.weight.detach(), (0, more_in, 0, more_out))), nn.Parameter(F.pad(part.bias.detach(), (0, more_out)))
            part.out_features, part.in_features = part.weight.shape
    return m


def instruments_bins(padded):
    def make():
        bins, room, frames = S(513, 9), S(520, 16), S(16384, 6)
        m, x, goal = built(lambda: Bins(bins, S(5, 2))), noise(frames, bins), noise(frames, bins)
        if padded:
            m, x, goal = zeros_around(m, bins, room), F.pad(x, (0, room - bins)), F.pad(goal, (0, room - bins))
        return training(m, lambda: (m(x).float() - goal).abs().sum() / (frames * bins))
    return make


# Roofs fit for solar panels in aerial pictures, a U-shaped net trained under autocast: NCHW as it comes, or channels last.
def roof_block(i, o):
    return nn.Sequential(normed(i, o, 3), nn.ReLU(inplace=True), normed(o, o, 3), nn.ReLU(inplace=True))


class Roofs(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.down, self.bottom = nn.ModuleList([roof_block(4, c), roof_block(c, 2 * c)]), roof_block(2 * c, 4 * c)
        self.wider, self.up = nn.ModuleList([nn.ConvTranspose2d(4 * c, 2 * c, 2, 2), nn.ConvTranspose2d(2 * c, c, 2, 2)]), nn.ModuleList([roof_block(4 * c, 2 * c), roof_block(2 * c, c)])
        self.head = nn.Conv2d(c, 1, 1)

    def forward(self, x):
        kept = []
        for down in self.down:
            x = down(x)
            kept.append(x)
            x = F.max_pool2d(x, 2)
        x = self.bottom(x)
        for wider, up in zip(self.wider, self.up):
            x = up(torch.cat([wider(x), kept.pop()], 1))
        return self.head(x)


def roofs_layout(channels_last):
    def make():
        batch, side = S(16, 2), S(256, 16)
        m, x, y = built(lambda: Roofs(S(64, 8))), noise(batch, 4, side, side), draw(2, batch, 1, side, side).float()
        if channels_last:
            m, x = last(m), last(x)
        return training(m, lambda: F.binary_cross_entropy_with_logits(m(x).float(), y))
    return make


# ---- What the framework does besides --------------------------------------------------------------------------------------------


# Spare parts needed by each workshop, a token for each, compiled: each layer asks whether a row hardly varies before it limits its size from below, or limits
# it in any case.
class Workshop(nn.Module):
    def __init__(self, d, heads, asks):
        super().__init__()
        self.heads, self.asks, self.norm, self.qkv, self.out = heads, asks, nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        q, k, v = (split_heads(part, self.heads) for part in self.qkv(self.norm(x)).chunk(3, -1))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        middle, size = x.mean(-1, keepdim=True), x.float().std(-1, keepdim=True)
        if self.asks:
            if size.min() < 1e-3:
                size = size.clamp(min=1e-3)
        else:
            size = size.clamp(min=1e-3)
        h = (x - middle) / size.to(x.dtype)
        return x + self.down(F.gelu(self.up(h)))


class Workshops(nn.Module):
    def __init__(self, seen, told, d, heads, layers, asks):
        super().__init__()
        self.enter, self.layers, self.head = nn.Linear(seen, d), nn.ModuleList([Workshop(d, heads, asks) for _ in range(layers)]), nn.Linear(d, told)

    def forward(self, x):
        x = self.enter(x)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def workshops_breaks(asks):
    def make():
        seen = S(192, 8)
        f = compiled(built(lambda: Workshops(seen, S(32, 4), S(512, 16), S(8, 2), S(5, 2), asks), BF).eval())
        return inference(f, noise(S(12, 2), S(512, 6), seen, dtype=BF))
    return make


# One model serves many customers, each with small matrices of their own beside it (LoRA), a token for each request: request by request in Python, or by
# batched products over the matrices that are wanted.
class Served(nn.Module):
    def __init__(self, d, customers, rank, loop):
        super().__init__()
        self.loop, self.norm, self.up, self.down = loop, nn.RMSNorm(d), nn.Linear(d, 4 * d, bias=False), nn.Linear(4 * d, d, bias=False)
        self.a, self.b = nn.Parameter(torch.randn(customers, d, rank) / d ** 0.5), nn.Parameter(torch.randn(customers, rank, 4 * d) / rank ** 0.5)

    def forward(self, x, whose, whose_here):
        h = self.norm(x)
        if self.loop:
            own = torch.cat([h[i:i + 1] @ self.a[k] @ self.b[k] for i, k in enumerate(whose)])
        else:
            own = torch.bmm(torch.bmm(h[:, None], self.a[whose_here]), self.b[whose_here])[:, 0]
        return x + self.down(F.silu(self.up(h) + own))


def customers_adapters(loop):
    def make():
        d, customers, requests = S(2048, 16), S(24, 3), S(32, 4)
        m = built(lambda: nn.ModuleList([Served(d, customers, S(16, 2), loop) for _ in range(S(6, 2))]), BF).eval()
        whose = np.random.default_rng(16).integers(0, customers, requests).tolist()
        x, whose_here = noise(requests, d, dtype=BF), torch.tensor(whose, device=D)

        @torch.no_grad()
        def step():
            h = x
            for layer in m:
                h = layer(h, whose, whose_here)
            return h
        return step
    return make


# A book read aloud, eight voices at once, sound code by sound code: weights kept in float32 are cast where they are used, or once when they are loaded.
class CastLinear(nn.Linear):
    def forward(self, x):
        return F.linear(x, self.weight.to(x.dtype))


class CastNorm(nn.RMSNorm):
    def forward(self, x):
        return F.rms_norm(x, self.normalized_shape, self.weight.to(x.dtype), 1e-6)


class AloudLayer(nn.Module):
    def __init__(self, d, heads, wide):
        super().__init__()
        self.heads, self.n1, self.n2 = heads, CastNorm(d), CastNorm(d)
        self.qkv, self.out = CastLinear(d, 3 * d, bias=False), CastLinear(d, d, bias=False)
        self.gate_up, self.down = CastLinear(d, 2 * wide, bias=False), CastLinear(wide, d, bias=False)

    def forward(self, x, k_all, v_all, at):
        q, k, v = (split_heads(part, self.heads) for part in self.qkv(self.n1(x)).chunk(3, -1))
        k_all[:, :, at:at + 1], v_all[:, :, at:at + 1] = k, v
        y = F.scaled_dot_product_attention(q, k_all[:, :, :at + 1], v_all[:, :, :at + 1])
        x = x + self.out(y.transpose(1, 2).flatten(2))
        gate, up = self.gate_up(self.n2(x)).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)


class Aloud(nn.Module):
    def __init__(self, codes, d, heads, wide, layers):
        super().__init__()
        self.embed, self.layers, self.norm, self.head = nn.Embedding(codes, d), nn.ModuleList([AloudLayer(d, heads, wide) for _ in range(layers)]), CastNorm(d), CastLinear(d, codes, bias=False)

    def forward(self, ids, kept, at):
        x = self.embed(ids).to(BF)
        for layer, (k, v) in zip(self.layers, kept):
            x = layer(x, k, v, at)
        return self.head(self.norm(x))


def aloud_codes(cast_each):
    def make():
        codes, d, heads, layers, batch, begin, room = S(2048, 20), S(2560, 16), S(20, 2), S(4, 2), S(8, 2), S(160, 4), S(256, 12)
        m = built(lambda: Aloud(codes, d, heads, S(6912, 24), layers)).eval()
        if not cast_each:
            m = m.to(BF)
        kept = [tuple(noise(batch, heads, room, d // heads, dtype=BF) for _ in range(2)) for _ in range(layers)]
        first = draw(codes, batch, 1)

        @torch.no_grad()
        def step():
            ids = first
            for k in range(S(4, 3)):
                told = m(ids, kept, begin + k)
                ids = told.argmax(-1)
            return told
        return step
    return make


# Tickets sorted by what they ask for, an encoder whose heads weigh how far apart words are: each layer finds the class of each distance in each call, or all
# take what was found once.
def classes_of(length, classes, far, device):
    apart = torch.arange(length, device=device)[None, :] - torch.arange(length, device=device)[:, None]
    half = classes // 2
    exact = half // 2
    ahead, apart = (apart > 0).long() * half, apart.abs()
    wide = exact + (torch.log(apart.float().clamp(min=1) / exact) / math.log(far / exact) * (half - exact)).long()
    return ahead + torch.where(apart < exact, apart, torch.minimum(wide, torch.full_like(wide, half - 1)))


class TicketLayer(nn.Module):
    def __init__(self, d, heads, wide, classes, length, again):
        super().__init__()
        self.heads, self.classes, self.again, self.n1, self.n2 = heads, classes, again, nn.RMSNorm(d), nn.RMSNorm(d)
        self.qkv, self.out, self.weigh = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False), nn.Embedding(classes, heads)
        self.gate_up, self.down = nn.Linear(d, 2 * wide, bias=False), nn.Linear(wide, d, bias=False)
        if not again:
            self.register_buffer("found", classes_of(length, classes, 128, self.weigh.weight.device))

    def forward(self, x):
        found = classes_of(x.shape[1], self.classes, 128, x.device) if self.again else self.found
        bias = self.weigh(found).permute(2, 0, 1)[None].contiguous()
        q, k, v = (split_heads(part, self.heads) for part in self.qkv(self.n1(x)).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        gate, up = self.gate_up(self.n2(x)).chunk(2, -1)
        return x + self.down(F.gelu(gate, approximate="tanh") * up)


class Tickets(nn.Module):
    def __init__(self, words, d, heads, wide, layers, length, again):
        super().__init__()
        self.embed, self.norm, self.head = nn.Embedding(words, d), nn.RMSNorm(d), nn.Linear(d, 32)
        self.layers = nn.Sequential(*[TicketLayer(d, heads, wide, 32, length, again) for _ in range(layers)])

    def forward(self, ids):
        return self.head(self.norm(self.layers(self.embed(ids))).mean(1))


def tickets_distances(again):
    def make():
        words, t = S(32000, 40), S(1024, 8)
        m = built(lambda: Tickets(words, S(768, 16), S(12, 2), S(2048, 24), S(6, 2), t, again), BF).eval()
        return inference(m, draw(words, S(4, 2), t))
    return make


# Each kind once, then the others.
PAIRS = dict(
    completion_guesses=pair(completion_guesses, True, False), answers_preferred=pair(answers_preferred, True, False), contract_pieces=pair(contract_pieces, True, False),
    gestures_loader=pair(gestures_loader, 0, 8), hearts_fp32=pair(hearts_fp32, True, False), solvent_forces=pair(solvent_forces, False, True),
    earth_upload=pair(earth_upload, True, False), aloud_codes=pair(aloud_codes, True, False), helpdesk_adamw=pair(helpdesk_adamw, True, False),
    workshops_breaks=pair(workshops_breaks, True, False), roofs_layout=pair(roofs_layout, False, True), tickets_distances=pair(tickets_distances, True, False),
    assistant_words=pair(assistant_words, False, True), customers_adapters=pair(customers_adapters, True, False), clicks_hashed=pair(clicks_hashed, True, False),
    warehouse_boxes=pair(warehouse_boxes, True, False), street_voices=pair(street_voices, True, False), query_vectors=pair(query_vectors, True, False),
    flats_upload=pair(flats_upload, True, False), manuals_experts=pair(manuals_experts, True, False), molecules_workers=pair(molecules_workers, 2, 10),
    dam_break=pair(dam_break, True, False), product_pictures=pair(product_pictures, True, False), questions_pages=pair(questions_pages, True, False),
    load_scales=pair(load_scales, False, True), rain_scheme=pair(rain_scheme, True, False), instruments_bins=pair(instruments_bins, False, True),
    walker_update=pair(walker_update, True, False), shop_camera=pair(shop_camera, True, False), debris_orbits=pair(debris_orbits, True, False))


PROGRAMS = in_turns(PAIRS, {})
COMPILED = ["answers_preferred", "street_voices", "product_pictures", "query_vectors", "workshops_breaks", "rain_scheme", "debris_orbits"]  # what takes longest first
FORMS = {}
