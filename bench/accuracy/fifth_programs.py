"""A fifth set of programs that no rule was read from: pairs with one fault and without it, and healthy ones. Only scored.

PROGRAMS is what recording.py records, in this order (variety first, so that a run cut short has some of everything). planted.json says what was
planted in each pair. The faults are such as people report of their own programs and mend there: a few words behind each pair say where that was
read. They are as frequent here as among users: waits most, then work in eager mode, launches, input, copies. A step returns what it computed, so
that a pair can be compared. COMPILED: what has something to compile; FORMS: the compiled forms of what runs eagerly (mended halves and healthy
programs), of which only the step is measured. The healthy programs are in fifth_healthy.py.
"""
import math, os, sys, time
import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fifth_healthy import EAGER, HEALTHY, Heads, Layer
from program_parts import BF, D, DRY, HALF_HERE, S, autocast, built, compiled, compiled_form, draw, formed, inference, last, noise, pinned, replayed, training, pair, in_turns

SETS = [["shapes", "stack"], ["plain", "memory"], ["shapes", "plain"], ["shapes_stack", "plain"], ["memory", "shapes"], ["modules", "plain"], ["stack", "memory"]]


def options(index):
    return SETS[index % len(SETS)]


def settle():
    if not DRY:
        torch.cuda.synchronize()


# ---- The host waits for the device --------------------------------------------------------------------------------------------


# Ships in radar images, boxes matched by the host: each decoder layer's costs fetched alone, or those of all layers at once. (doctr 2141, rf-detr 1361)
class Ships(nn.Module):
    def __init__(self, d, heads, layers, queries, kinds):
        super().__init__()
        self.enter, self.queries = nn.Conv2d(2, d, 16, 16), nn.Parameter(torch.randn(queries, d))
        self.layers, self.box, self.kind = nn.ModuleList([Layer(d, heads) for _ in range(layers)]), nn.Linear(d, 4), nn.Linear(d, kinds + 1)

    def forward(self, x):
        pixels = self.enter(x).flatten(2).transpose(1, 2)
        q, boxes, kinds = self.queries.expand(x.shape[0], -1, -1), [], []
        for layer in self.layers:
            q = layer(q, pixels)
            boxes.append(self.box(q).sigmoid())
            kinds.append(self.kind(q))
        return torch.stack(boxes).float(), torch.stack(kinds).float()


def taken(costs):
    """For each target in turn the cheapest query that is left; costs: [..., queries, targets]."""
    costs = costs.reshape(-1, *costs.shape[-2:]).copy()
    rows, found = np.arange(len(costs)), []
    for t in range(costs.shape[-1]):
        best = costs[:, :, t].argmin(1)
        costs[rows, best] = np.inf
        found.append(best)
    return np.stack(found, -1)


def ships_matching(each):
    def make():
        d, layers, queries, kinds, batch, targets, side = S(256, 16), S(6, 2), S(300, 8), S(8, 3), S(12, 2), S(16, 3), S(512, 32)
        m = built(lambda: Ships(d, S(8, 2), layers, queries, kinds))
        f, optimizer = formed(m), torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True)
        x, goal, kind = noise(batch, 2, side, side), torch.rand(batch, targets, 4, device=D), draw(kinds, batch, targets)

        def costs_of(boxes, kinds):
            apart = (boxes.unsqueeze(-2) - goal.unsqueeze(-3)).abs().sum(-1)
            chance = kinds.softmax(-1).gather(-1, kind.unsqueeze(-2).expand(*kinds.shape[:-1], targets))
            return apart - chance

        def loss_of(boxes, kinds, which):
            pick = which.unsqueeze(-1)
            near = boxes.gather(-2, pick.expand(*which.shape, 4))
            wanted = torch.full(kinds.shape[:-1], kinds.shape[-1] - 1, device=D).scatter(-1, which, kind.expand(which.shape))
            return F.l1_loss(near, goal.expand(near.shape)) + F.cross_entropy(kinds.flatten(0, -2), wanted.flatten())

        def step():
            optimizer.zero_grad(set_to_none=True)
            with autocast():
                boxes, kinds = f(x)
            if each:
                losses = []
                for b, k in zip(boxes, kinds):
                    which = taken(costs_of(b.detach(), k.detach()).cpu().numpy())
                    losses.append(loss_of(b, k, torch.from_numpy(which).to(D)))
                loss = torch.stack(losses).mean()
            else:
                which = taken(costs_of(boxes.detach(), kinds.detach()).cpu().numpy())
                loss = loss_of(boxes, kinds, torch.from_numpy(which).view(layers, batch, targets).to(D))
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# A voice learns pitch, length, loudness and sound: each of its losses is read for the progress bar, or all of them now and then. (StyleTTS2 217)
class Speaker(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.enter, self.body = nn.Linear(80, d), nn.ModuleList([nn.Sequential(nn.Conv1d(d, d, 5, padding=2), nn.GELU(), nn.Conv1d(d, d, 5, padding=2)) for _ in range(4)])
        self.heads = nn.ModuleList([nn.Linear(d, n) for n in (80, 80, 1, 1, 1, 16, 16, 4)])

    def forward(self, x):
        h = self.enter(x).transpose(1, 2)
        for part in self.body:
            h = h + part(h)
        h = h.transpose(1, 2)
        return [head(h) for head in self.heads]


def voice_losses(each):
    def make():
        d, batch, t = S(512, 16), S(32, 2), S(400, 8)
        m = built(lambda: Speaker(d))
        f, optimizer, shown, turn = formed(m), torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True), {}, [0]
        x = noise(batch, t, 80)
        goals = [noise(batch, t, head.out_features) for head in m.heads]

        def step():
            turn[0] += 1
            optimizer.zero_grad(set_to_none=True)
            losses = []
            with autocast():
                for i, (told, goal) in enumerate(zip(f(x), goals)):
                    loss = F.l1_loss(told.float(), goal) if i % 2 else F.mse_loss(told.float(), goal)
                    if each:
                        shown[i] = loss.item()
                    losses.append(loss)
            total = torch.stack(losses).sum()
            total.backward()
            optimizer.step()
            if each:
                shown["all"] = total.item()
            elif turn[0] % 50 == 0:
                shown.update(enumerate(torch.stack(losses).tolist()))
            return total.detach()
        return step
    return make


# Titles of shop articles: each layer asks whether a row has no word at all before it mends such rows, or mends in any case. (x-transformers 355)
class Titles(nn.Module):
    def __init__(self, words, d, heads, layers, asks):
        super().__init__()
        self.asks, self.embed = asks, nn.Embedding(words, d)
        self.layers, self.norm = nn.ModuleList([Layer(d, heads) for _ in range(layers)]), nn.LayerNorm(d)

    def forward(self, ids, keep):
        x = self.embed(ids)
        for layer in self.layers:
            empty = ~keep.any(-1)
            mask = keep[:, None, None] | empty[:, None, None, None]
            x = layer(x, None, mask)
            if not self.asks or empty.any():
                x = x.masked_fill(empty[:, None, None], 0.0)
        return self.norm(x)


def titles_empty(asks):
    def make():
        words, batch, t = S(20000, 30), S(48, 3), S(128, 6)
        m = built(lambda: Titles(words, S(768, 16), S(12, 2), S(8, 2), asks), BF).eval()
        keep = torch.arange(t, device=D)[None] < torch.randint(1, t + 1, (batch, 1), device=D)
        return inference(formed(m), draw(words, batch, t), keep)
    return make


# Receipts of different size in one row of tokens: each layer reads from the device where one ends, or it is known from their sizes. (transformers 47703)
class ReceiptLayer(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.n1, self.qkv, self.out, self.n2 = heads, nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d), nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x, lengths):
        q, k, v = self.qkv(self.n1(x)).unflatten(-1, (3, self.heads, -1)).permute(1, 2, 0, 3)
        parts = [F.scaled_dot_product_attention(a[None], b[None], c[None])[0] for a, b, c in zip(q.split(lengths, 1), k.split(lengths, 1), v.split(lengths, 1))]
        x = x + self.out(torch.cat(parts, 1).transpose(0, 1).flatten(1))
        return x + self.mlp(self.n2(x))


def receipts_ends(read):
    def make():
        d = S(1024, 16)
        m = built(lambda: nn.ModuleList([ReceiptLayer(d, S(16, 2)) for _ in range(S(6, 2))]), BF).eval()
        layers = [formed(layer) for layer in m]
        known = S([1024, 576, 1920, 784, 1296, 400], [4, 6, 3])
        x, ends = noise(sum(known), d, dtype=BF), torch.tensor([0] + known, device=D).cumsum(0)

        @torch.no_grad()
        def step():
            h = x
            for layer in layers:
                h = layer(h, (ends[1:] - ends[:-1]).tolist() if read else known)
            return h
        return step
    return make


# Spam: gradients clipped by a loop that reads the size of each, or by the library's function. (pytorch 60691)
def spam_clipping(by_hand):
    def make():
        words, d, batch, t = S(12000, 30), S(512, 16), S(64, 3), S(128, 6)
        m = built(lambda: nn.Sequential(nn.Embedding(words, d), *[Layer(d, S(8, 2)) for _ in range(S(6, 1))], nn.LayerNorm(d), nn.Linear(d, 2)))
        f, optimizer = formed(m), torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True)
        ids, y = draw(words, batch, t), draw(2, batch)

        def step():
            optimizer.zero_grad(set_to_none=True)
            with autocast():
                loss = F.cross_entropy(f(ids).mean(1).float(), y)
            loss.backward()
            if by_hand:
                total = 0.0
                for p in m.parameters():
                    total += p.grad.norm(2).item() ** 2
                if total ** 0.5 > 1.0:
                    for p in m.parameters():
                        p.grad.mul_(1.0 / (total ** 0.5 + 1e-6))
            else:
                nn.utils.clip_grad_norm_(m.parameters(), 1.0)
            optimizer.step()
            return loss.detach()
        return step
    return make


# Depth of the sea floor from sonar: the device is waited for at each phase, for the times in the log, or not. (advice: synchronize only to measure)
def sonar_timers(timed):
    def make():
        c, side, batch, marks = S(64, 8), S(96, 12), S(24, 2), []
        wait = settle if timed else (lambda: None)
        conv = lambda i, o: nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.SiLU())
        m = last(built(lambda: nn.Sequential(conv(2, c), conv(c, c), nn.AvgPool2d(2), conv(c, 2 * c), conv(2 * c, 2 * c), conv(2 * c, 2 * c), nn.Upsample(scale_factor=2.0), conv(2 * c, c), nn.Conv2d(c, 1, 1))))
        f, optimizer = formed(m), torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True)
        batches = [(pinned(torch.randn(batch, 2, side, side)), pinned(torch.randn(batch, 1, side, side))) for _ in range(3)]

        def step():
            x, y = batches[len(marks) % 3]
            x, y = last(x.to(D, non_blocking=True)), y.to(D, non_blocking=True)
            wait()
            with autocast():
                told = f(x)
            wait()
            loss = F.l1_loss(told.float(), y)
            wait()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            wait()
            optimizer.step()
            wait()
            marks.append(0)
            return loss.detach()
        return step
    return make


# Tunes, note by note: the next one drawn by torch.multinomial, which checks its input on the host, or by exponential noise. (gpt-fast)
class Tune(nn.Module):
    def __init__(self, notes, d):
        super().__init__()
        self.embed, self.a, self.b, self.head = nn.Embedding(notes, d), nn.GRUCell(d, d), nn.GRUCell(d, d), nn.Linear(d, notes)

    def forward(self, note, a, b):
        a = self.a(self.embed(note), a)
        b = self.b(a, b)
        return self.head(b), a, b


def tunes_drawn(checked):
    def make():
        notes, d, batch, long = S(4096, 20), S(2048, 16), S(512, 3), S(12, 4)
        m = built(lambda: Tune(notes, d), HALF_HERE).eval()
        f, begin, still = formed(m), draw(notes, batch), torch.zeros(batch, d, device=D, dtype=HALF_HERE)

        @torch.no_grad()
        def step():
            note, a, b, tune = begin, still, still, []
            for _ in range(long):
                logits, a, b = f(note, a, b)
                chances = torch.softmax(logits.float() * 3, -1)
                if checked:
                    note = torch.multinomial(chances, 1).squeeze(1)
                else:
                    note = (chances / torch.empty_like(chances).exponential_(1)).argmax(-1)
                tune.append(note)
            return torch.stack(tune, 1)
        return step
    return make


# ---- Copies ---------------------------------------------------------------------------------------------------------------------


# Masses of molecules: five arrays of a batch sent by .to(), from ordinary memory, or pinned and without waiting. (pinmem_nonblock tutorial)
class Masses(nn.Module):
    def __init__(self, peaks, d):
        super().__init__()
        self.peaks, self.whole, self.charge, self.body = nn.Linear(2 * peaks, d), nn.Linear(1, d), nn.Embedding(8, d), nn.Sequential(nn.ReLU(), nn.Linear(d, d), nn.ReLU(), nn.Linear(d, d), nn.ReLU(), nn.Linear(d, 512))

    def forward(self, mass, strength, whole, charge):
        return self.body(self.peaks(torch.cat([mass, strength], -1)) + self.whole(whole) + self.charge(charge))


def masses_upload(ordinary):
    def make():
        rows, peaks = S(6000, 6), S(1000, 8)
        m = built(lambda: Masses(peaks, S(1024, 16)))
        f, optimizer, turn = formed(m), torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True), [0]
        batches = [[torch.randn(rows, peaks), torch.rand(rows, peaks), torch.rand(rows, 1), torch.randint(0, 8, (rows,)), torch.rand(rows, 512)] for _ in range(3)]
        if not ordinary:
            batches = [[pinned(t) for t in batch] for batch in batches]

        def step():
            turn[0] = (turn[0] + 1) % 3
            mass, strength, whole, charge, bits = (t.to(D) if ordinary else t.to(D, non_blocking=True) for t in batches[turn[0]])
            optimizer.zero_grad(set_to_none=True)
            with autocast():
                loss = F.binary_cross_entropy_with_logits(f(mass, strength, whole, charge).float(), bits)
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# Payments between accounts: what is known of those drawn is taken on the host and sent, or all of it lies on the device. (DGL: features on GPU)
class Payments(nn.Module):
    def __init__(self, i, d):
        super().__init__()
        self.a, self.b, self.own, self.head = nn.Linear(i, d), nn.Linear(d, d), nn.Linear(i, d), nn.Linear(d, 2)

    def forward(self, x, around):
        near = F.relu(self.a(x))[:around.shape[0] * around.shape[1]].view(*around.shape, -1).mean(1)
        return self.head(F.relu(self.b(near) + self.own(x[:around.shape[0]])))


def payments_features(on_host):
    def make():
        accounts, i, drawn, near = S(200000, 90), S(256, 8), S(2048, 4), S(15, 3)
        table = torch.randn(accounts, i)
        kept = None if on_host else table.to(D)
        m = built(lambda: Payments(i, S(512, 16)))
        f, optimizer, turn = formed(m), torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True), [0]
        which = [pinned(torch.randint(0, accounts, (drawn * near,))) for _ in range(4)]
        around, y = torch.zeros(drawn, near, device=D), draw(2, drawn)

        def step():
            turn[0] = (turn[0] + 1) % 4
            ids = which[turn[0]]
            x = table[ids].to(D) if on_host else kept.index_select(0, ids.to(D, non_blocking=True))
            optimizer.zero_grad(set_to_none=True)
            with autocast():
                loss = F.cross_entropy(f(x, around).float(), y)
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# Signs of the hand from joints: parents and mirrored joints picked by Python lists, sent at each use, or by buffers. (pytorch 12461)
PARENTS = [0, 0, 1, 2, 3, 0, 5, 6, 7, 0, 9, 10, 11, 0, 13, 14, 15, 0, 17, 18, 19]
MIRROR = [0, 17, 18, 19, 20, 13, 14, 15, 16, 9, 10, 11, 12, 5, 6, 7, 8, 1, 2, 3, 4]


class Signs(nn.Module):
    def __init__(self, c, layers, lists):
        super().__init__()
        self.lists, self.enter, self.head = lists, nn.Linear(3, c), nn.Linear(c, 60)
        self.mix = nn.ModuleList([nn.Linear(3 * c, c) for _ in range(layers)])
        self.time = nn.ModuleList([nn.Linear(c, c) for _ in range(layers)])
        self.register_buffer("parents", torch.tensor(PARENTS))
        self.register_buffer("mirror", torch.tensor(MIRROR))

    def forward(self, x):
        parents, mirror = (PARENTS, MIRROR) if self.lists else (self.parents, self.mirror)
        h = self.enter(x)
        for mix, time in zip(self.mix, self.time):
            h = h + F.relu(mix(torch.cat([h, h[:, :, parents], h[:, :, mirror]], -1)))
            h = h + F.relu(time(torch.roll(h, 1, 1)))
        return self.head(h.mean((1, 2)))


def signs_lists(lists):
    def make():
        m = built(lambda: Signs(S(128, 8), S(8, 2), lists), BF).eval()
        return inference(formed(m), noise(S(48, 2), S(64, 4), 21, 3, dtype=BF))
    return make


# ---- Work that could be one kernel --------------------------------------------------------------------------------------------


# Singing from a code: between convolutions a periodic activation written out, in eager mode or compiled. (sglang-omni 2263, BigVGAN)
def periodic(x, rate, size):
    return x + (1.0 / (torch.exp(size) + 1e-9)) * torch.sin(x * torch.exp(rate)) ** 2


class Singing(nn.Module):
    def __init__(self, c, steps, act):
        super().__init__()
        self.act, self.enter, self.leave = act, nn.Conv1d(64, c, 7, padding=3), nn.Conv1d(c >> len(steps), 1, 7, padding=3)
        self.wider = nn.ModuleList([nn.ConvTranspose1d(c >> i, c >> (i + 1), 2 * s, s, s // 2) for i, s in enumerate(steps)])
        self.convs = nn.ModuleList([nn.ModuleList([nn.Conv1d(c >> (i + 1), c >> (i + 1), 3, padding=1) for _ in range(2)]) for i in range(len(steps))])
        self.rates = nn.ParameterList([nn.Parameter(torch.randn(1, c >> ((j + 2) // 3), 1) * 0.1) for j in range(3 * len(steps))])
        self.sizes = nn.ParameterList([nn.Parameter(torch.randn(1, c >> ((j + 2) // 3), 1) * 0.1) for j in range(3 * len(steps))])

    def forward(self, x):
        x = self.enter(x)
        for i, (wider, convs) in enumerate(zip(self.wider, self.convs)):
            x = wider(self.act(x, self.rates[3 * i], self.sizes[3 * i]))
            for j, conv in enumerate(convs):
                x = x + conv(self.act(x, self.rates[3 * i + 1 + j], self.sizes[3 * i + 1 + j]))
        return torch.tanh(self.leave(x))


def singing_periodic(eager):
    def make():
        m = built(lambda: Singing(S(256, 16), S((8, 4, 4), (4, 2)), periodic if eager else compiled(periodic, dynamic=False)), BF).eval()
        return inference(m, noise(S(8, 1), 64, S(1200, 5), dtype=BF))
    return make


# Answers rated by a program: chances of tokens, ratio, divergence and entropy written out, in eager mode or compiled. (open-instruct 584, NeMo-RL 994)
def rated(logits, ids, before, base, gain, keep):
    chances = F.log_softmax(logits.float() / 0.9, -1)
    own = chances.gather(-1, ids[..., None]).squeeze(-1)
    entropy = -(chances.exp() * chances).sum(-1)
    ratio = torch.exp(own - before)
    worth = torch.minimum(ratio * gain, ratio.clamp(0.8, 1.2) * gain)
    apart = torch.exp(base - own) - (base - own) - 1
    return ((-worth + 0.04 * apart - 0.001 * entropy) * keep).sum() / keep.sum()


def answers_rated(eager):
    def make():
        words, d, rows, t = S(32000, 30), S(1024, 16), S(6, 2), S(512, 5)
        m = built(lambda: nn.Sequential(nn.Linear(d, d), nn.GELU(), nn.Linear(d, words, bias=False)))
        f, h, ids = rated if eager else compiled(rated), noise(rows, t, d), draw(words, rows, t)
        before, base, gain, keep = -torch.rand(rows, t, device=D) - math.log(words), -torch.rand(rows, t, device=D) - math.log(words), noise(rows, 1), (torch.rand(rows, t, device=D) < 0.8).float()
        return training(m, lambda: f(m(h), ids, before, base, gain, keep))
    return make


# Photographs of food varied on the device: brightness, contrast, colour and tone, in eager mode or compiled. (kornia 3827)
def varied(x, bright, contrast, colour, tone, mean, spread):
    x = x.float() * (1 / 255)
    x = (x * bright).clamp(0, 1)
    grey = 0.299 * x[:, :1] + 0.587 * x[:, 1:2] + 0.114 * x[:, 2:]
    x = (contrast * x + (1 - contrast) * grey.mean((2, 3), keepdim=True)).clamp(0, 1)
    grey = 0.299 * x[:, :1] + 0.587 * x[:, 1:2] + 0.114 * x[:, 2:]
    x = (colour * x + (1 - colour) * grey).clamp(0, 1)
    x = (x + 1e-6) ** tone
    x = torch.where(x > 0.9, 1 - x, x)
    return ((x - mean) / spread).to(BF)


def food_varied(eager):
    def make():
        batch, side, d = S(256, 2), S(256, 32), S(192, 8)
        f = varied if eager else compiled(varied)
        body = built(lambda: nn.Sequential(nn.Conv2d(3, d, 16, 16), nn.Flatten(2)), BF).eval()
        x = torch.randint(0, 256, (batch, 3, side, side), device=D, dtype=torch.uint8)
        some = lambda low, high: low + (high - low) * torch.rand(batch, 1, 1, 1, device=D)
        args = [some(0.6, 1.4), some(0.6, 1.4), some(0.6, 1.4), some(0.8, 1.2), torch.tensor([0.48, 0.46, 0.41], device=D)[:, None, None], torch.tensor([0.23, 0.22, 0.23], device=D)[:, None, None]]

        @torch.no_grad()
        def step():
            return body(f(x, *args))
        return step
    return make


# Faults of bearings, trained for eight bits: rounding of weights and activations written out, in eager mode or compiled. (QAT by hand, torchao)
def rounded(x, top):
    scale = top / 127.0
    q = (torch.clamp(torch.round(x / scale), -128, 127)) * scale
    return x + (q - x).detach()


class Rounded(nn.Module):
    def __init__(self, i, o, act):
        super().__init__()
        self.act, self.linear = act, nn.Linear(i, o)
        self.register_buffer("top", torch.tensor(4.0))

    def forward(self, x):
        w = self.linear.weight
        return F.linear(self.act(x, self.top), self.act(w, w.detach().abs().amax(1, keepdim=True)), self.linear.bias)


def bearings_rounded(eager):
    def make():
        rows, d = S(16384, 8), S(1024, 16)
        act = rounded if eager else compiled(rounded, dynamic=False)
        m = built(lambda: nn.Sequential(Rounded(d, d, act), nn.ReLU(), Rounded(d, d, act), nn.ReLU(), Rounded(d, d, act), nn.ReLU(), nn.Linear(d, 10)))
        x, y = noise(rows, d), draw(10, rows)
        return training(m, lambda: F.cross_entropy(m(x).float(), y))
    return make


# Moving pictures: the norms of each layer, and of its queries and keys, written out in float32, or the library's. (HF modelling code, sglang-omni 2075)
class HandNorm(nn.Module):
    def __init__(self, d, eps=1e-6):
        super().__init__()
        self.eps, self.weight = eps, nn.Parameter(torch.ones(d))

    def forward(self, x):
        kind = x.dtype
        x = x.to(torch.float32)
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * x.to(kind)


class Clip(nn.Module):
    def __init__(self, d, heads, norm):
        super().__init__()
        self.heads, self.n1, self.n2, self.nq, self.nk = heads, norm(d), norm(d), norm(d // heads), norm(d // heads)
        self.qkv, self.out, self.up, self.down = nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        q, k, v = self.qkv(self.n1(x)).unflatten(-1, (3, self.heads, -1)).unbind(2)
        y = F.scaled_dot_product_attention(self.nq(q).transpose(1, 2), self.nk(k).transpose(1, 2), v.transpose(1, 2))
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.n2(x)), approximate="tanh"))


def clips_norms(by_hand):
    def make():
        d = S(1536, 16)
        norm = HandNorm if by_hand else (lambda n: nn.RMSNorm(n, eps=1e-6))
        m = built(lambda: nn.Sequential(*[Clip(d, S(12, 2), norm) for _ in range(S(4, 1))]), BF).eval()
        return inference(formed(m), noise(1, S(7800, 8), d, dtype=BF))
    return make


# ---- Attention by hand ----------------------------------------------------------------------------------------------------------


# Eyes of diabetics, trained: patches attend to each other as in a course's code, or by the library's kernel. (timm fused_attn)
class Looking(nn.Module):
    def __init__(self, d, heads, by_hand):
        super().__init__()
        self.heads, self.by_hand, self.scale, self.qkv, self.proj = heads, by_hand, (d // heads) ** -0.5, nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        if self.by_hand:
            weights = (q * self.scale) @ k.transpose(-2, -1)
            x = weights.softmax(dim=-1) @ v
        else:
            x = F.scaled_dot_product_attention(q, k, v)
        return self.proj(x.transpose(1, 2).reshape(b, n, c))


class EyeBlock(nn.Module):
    def __init__(self, d, heads, by_hand):
        super().__init__()
        self.n1, self.look, self.n2, self.mlp = nn.LayerNorm(d), Looking(d, heads, by_hand), nn.LayerNorm(d), nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        x = x + self.look(self.n1(x))
        return x + self.mlp(self.n2(x))


class Eyes(nn.Module):
    def __init__(self, d, heads, layers, side, by_hand):
        super().__init__()
        self.patch, self.first = nn.Conv2d(3, d, 16, 16), nn.Parameter(torch.randn(1, 1, d) * 0.02)
        self.places, self.blocks, self.head = nn.Parameter(torch.randn((side // 16) ** 2 + 1, d) * 0.02), nn.Sequential(*[EyeBlock(d, heads, by_hand) for _ in range(layers)]), nn.Linear(d, 5)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        return self.head(self.blocks(torch.cat([self.first.expand(x.shape[0], -1, -1), x], 1) + self.places)[:, 0])


def eyes_attention(by_hand):
    def make():
        side, batch = S(448, 32), S(24, 2)
        m = built(lambda: Eyes(S(384, 16), S(6, 2), S(4, 1), side, by_hand))
        f, x, y = formed(m), noise(batch, 3, side, side), draw(5, batch)
        return training(m, lambda: F.cross_entropy(f(x).float(), y))
    return make


# Rain from satellites: few queries look at many pixels, by einsum and softmax, or by the library's kernel. (Perceiver code, lucidrains)
class RainLook(nn.Module):
    def __init__(self, d, other, heads, by_hand):
        super().__init__()
        self.heads, self.by_hand, self.nx, self.ny = heads, by_hand, nn.LayerNorm(d), nn.LayerNorm(other)
        self.q, self.kv, self.out = nn.Linear(d, d, bias=False), nn.Linear(other, 2 * d, bias=False), nn.Linear(d, d)

    def forward(self, x, y):
        q, (k, v) = self.q(self.nx(x)).unflatten(-1, (self.heads, -1)), self.kv(self.ny(y)).unflatten(-1, (2, self.heads, -1)).unbind(2)
        if self.by_hand:
            alike = torch.einsum("bihd,bjhd->bhij", q, k) * q.shape[-1] ** -0.5
            z = torch.einsum("bhij,bjhd->bihd", alike.softmax(-1), v)
        else:
            z = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)).transpose(1, 2)
        return x + self.out(z.flatten(2))


def rain_attention(by_hand):
    def make():
        d, other, heads, kind = S(512, 16), S(256, 8), S(8, 2), HALF_HERE
        m = built(lambda: nn.ModuleList([RainLook(d, other, heads, by_hand) for _ in range(S(3, 1))]), kind).eval()
        queries, pixels = noise(S(4, 2), S(512, 4), d, dtype=kind), noise(S(4, 2), S(16384, 12), other, dtype=kind)

        def look(x, y):
            for layer in m:
                x = layer(x, y)
            return x
        return inference(formed(look), queries, pixels)
    return make


# Support letters, filled up to one length: a mask of large negative numbers added to scores, or given to the kernel. (old HF BERT code, huggingface sdpa)
class Letter(nn.Module):
    def __init__(self, d, heads, by_hand):
        super().__init__()
        self.heads, self.by_hand, self.q, self.k, self.v, self.out, self.n1 = heads, by_hand, nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d), nn.LayerNorm(d)
        self.up, self.down, self.n2 = nn.Linear(d, 4 * d), nn.Linear(4 * d, d), nn.LayerNorm(d)

    def forward(self, x, mask):
        split = lambda a: a.view(*a.shape[:2], self.heads, -1).permute(0, 2, 1, 3)
        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        if self.by_hand:
            scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.shape[-1])
            scores = scores + mask
            y = torch.matmul(nn.functional.softmax(scores, dim=-1), v)
        else:
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = self.n1(x + self.out(y.permute(0, 2, 1, 3).contiguous().flatten(2)))
        return self.n2(x + self.down(F.gelu(self.up(x))))


def letters_attention(by_hand):
    def make():
        d, batch, t, kind = S(768, 16), S(48, 3), S(384, 6), HALF_HERE
        m = built(lambda: nn.ModuleList([Letter(d, S(12, 2), by_hand) for _ in range(S(4, 1))]), kind).eval()
        keep = torch.arange(t, device=D)[None] < torch.randint(t // 2, t + 1, (batch, 1), device=D)
        mask = ((1.0 - keep[:, None, None].to(kind)) * -10000.0).expand(-1, -1, t, -1)

        def read(x, mask):
            for layer in m:
                x = layer(x, mask)
            return x
        return inference(formed(read), noise(batch, t, d, dtype=kind), mask)
    return make


# ---- Products that miss the tensor cores --------------------------------------------------------------------------------------


# How to make a molecule, trained in float32 as it comes: products without TF32 (the default), or with "high". (pytorch 153195, retrochimera 36)
class Recipe(nn.Module):
    def __init__(self, letters, d, heads, layers):
        super().__init__()
        self.embed, self.read = nn.Embedding(letters, d), nn.ModuleList([Layer(d, heads) for _ in range(layers)])
        self.write, self.across, self.head = nn.ModuleList([Layer(d, heads, causal=True) for _ in range(layers)]), nn.ModuleList([Heads(d, heads) for _ in range(layers)]), nn.Linear(d, letters)

    def forward(self, wanted, made):
        x, y = self.embed(wanted), self.embed(made)
        for layer in self.read:
            x = layer(x)
        for layer, across in zip(self.write, self.across):
            y = layer(y)
            y = y + across(y, x)
        return self.head(y)


def precise(full, step):
    def with_precision():
        torch.set_float32_matmul_precision("highest" if full else "high")
        return step()
    return with_precision


def recipes_fp32(full):
    def make():
        letters, d, batch, t = S(320, 12), S(512, 16), S(48, 2), S(160, 6)
        m = built(lambda: Recipe(letters, d, S(8, 2), S(3, 1)))
        f, wanted, made, goal = formed(m), draw(letters, batch, t), draw(letters, batch, t), draw(letters, batch * t)
        return precise(full, training(m, lambda: F.cross_entropy(f(wanted, made).flatten(0, 1), goal), cast=False))
    return make


# Jobs and people, two towers, in float32: products without TF32, or with "high". (Lightning's warning)
def jobs_fp32(full):
    def make():
        rows, i, d = S(8192, 6), S(768, 16), S(2048, 16)
        tower = lambda: nn.Sequential(nn.Linear(i, d), nn.LayerNorm(d), nn.ReLU(), nn.Linear(d, d), nn.LayerNorm(d), nn.ReLU(), nn.Linear(d, 256))
        towers = built(lambda: nn.ModuleList([tower(), tower()])).eval()

        def alike(jobs, people):
            return F.normalize(towers[0](jobs), dim=-1) @ F.normalize(towers[1](people), dim=-1).t()
        return precise(full, inference(formed(alike), noise(rows, i), noise(rows, i)))
    return make


# Folk songs, trained: 24,001 signs, or 24,064 of which the last are never used. (nanoGPT, nanoPALM 6)
class Songs(nn.Module):
    def __init__(self, signs, d, heads, layers):
        super().__init__()
        self.embed, self.layers, self.norm = nn.Embedding(signs, d), nn.ModuleList([Layer(d, heads, causal=True) for _ in range(layers)]), nn.LayerNorm(d)

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return F.linear(self.norm(x), self.embed.weight)


def songs_odd(padded):
    def make():
        signs, d, batch, t = S(24001, 41), S(512, 16), S(16, 2), S(512, 6)
        m = built(lambda: Songs(signs, d, S(8, 2), S(2, 1)))
        if padded:
            m.embed.weight = nn.Parameter(F.pad(m.embed.weight.data, (0, 0, 0, -signs % 64 if not DRY else 1)))
        f, ids, labels = formed(m), draw(signs, batch, t), draw(signs, batch * t)
        return training(m, lambda: F.cross_entropy(f(ids).flatten(0, 1).float(), labels))
    return make


# Laws, trained: gated layers two thirds of four times as wide, which is 2730, or filled up to 2752. (gpt-fast find_multiple, Llama multiple_of)
class Gate(nn.Module):
    def __init__(self, d, wide):
        super().__init__()
        self.norm, self.w1, self.w3, self.w2 = nn.RMSNorm(d), nn.Linear(d, wide, bias=False), nn.Linear(d, wide, bias=False), nn.Linear(wide, d, bias=False)

    def forward(self, x):
        h = self.norm(x)
        return x + self.w2(F.silu(self.w1(h)) * self.w3(h))


def laws_odd(padded):
    def make():
        d, rows = S(1024, 16), S(12288, 6)
        wide = int(8 * d / 3)
        m = built(lambda: nn.Sequential(*[Gate(d, wide) for _ in range(S(4, 1))]))
        if padded:
            more = -wide % 64
            for gate in m:
                gate.w1.weight, gate.w3.weight = (nn.Parameter(F.pad(w.data, (0, 0, 0, more))) for w in (gate.w1.weight, gate.w3.weight))
                gate.w2.weight = nn.Parameter(F.pad(gate.w2.weight.data, (0, more)))
        f, x, goal = formed(m), noise(rows, d), noise(rows, d)
        return training(m, lambda: F.mse_loss(f(x).float(), goal))
    return make


# ---- Optimizers ---------------------------------------------------------------------------------------------------------------


# Logs of servers, a deep and narrow model: AdamW as it comes, or fused. (deepmd-kit 4463, litgpt 857)
def servers_adamw(as_it_comes):
    def make():
        d, batch, t = S(384, 16), S(16, 2), S(192, 6)
        m = built(lambda: nn.Sequential(*[Layer(d, S(6, 2)) for _ in range(S(12, 2))], nn.LayerNorm(d), nn.Linear(d, S(400, 9))))
        optimizer = torch.optim.AdamW(m.parameters(), lr=1e-5, weight_decay=0.05, **({} if as_it_comes else dict(fused=True)))
        f, x, y = formed(m), noise(batch, t, d), draw(S(400, 9), batch * t)
        return training(m, lambda: F.cross_entropy(f(x).flatten(0, 1).float(), y), optimizer)
    return make


# Weeds among crops: an optimizer from a paper's page, tensor by tensor, or by lists of tensors. (lion-pytorch; foreach in torch.optim)
class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr, one_by_one):
        self.one_by_one = one_by_one
        super().__init__(params, dict(lr=lr))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            params = [p for p in group["params"] if p.grad is not None]
            for p in params:
                if not self.state[p]:
                    self.state[p]["mean"] = torch.zeros_like(p)
            grads, means, lr = [p.grad for p in params], [self.state[p]["mean"] for p in params], group["lr"]
            if self.one_by_one:
                for p, grad, mean in zip(params, grads, means):
                    p.mul_(1 - lr * 0.1)
                    p.add_(mean.clone().mul_(0.9).add_(grad, alpha=0.1).sign_(), alpha=-lr)
                    mean.mul_(0.99).add_(grad, alpha=0.01)
            else:
                torch._foreach_mul_(params, 1 - lr * 0.1)
                moves = torch._foreach_mul(means, 0.9)
                torch._foreach_add_(moves, grads, alpha=0.1)
                torch._foreach_sign_(moves)
                torch._foreach_add_(params, moves, alpha=-lr)
                torch._foreach_mul_(means, 0.99)
                torch._foreach_add_(means, grads, alpha=0.01)


class Narrow(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.a, self.na, self.b, self.nb = nn.Conv2d(i, o, 1, bias=False), nn.BatchNorm2d(o), nn.Conv2d(o, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o)

    def forward(self, x):
        return F.relu(self.nb(self.b(F.relu(self.na(self.a(x))))))


def weeds_lion(one_by_one):
    def make():
        c, batch, side = S(128, 8), S(64, 2), S(128, 32)
        body = lambda: [Narrow(c << (i // 4), c << ((i + 1) // 4), 2 if i % 4 == 3 else 1) for i in range(S(11, 3))]
        m = last(built(lambda: nn.Sequential(nn.Conv2d(3, c, 4, 4), *body(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(c << (S(11, 3) // 4), 12))))
        f, x, y = formed(m), last(noise(batch, 3, side, side)), draw(12, batch)
        return training(m, lambda: F.cross_entropy(f(x).float(), y), Lion(m.parameters(), 1e-5, one_by_one))
    return make


# ---- Many launches ------------------------------------------------------------------------------------------------------------


# A ball followed through a match, frame by frame: op by op, or captured in a CUDA graph. (sam2 768)
class Ball(nn.Module):
    def __init__(self, d, heads, kept, side):
        super().__init__()
        conv = lambda i, o, k: nn.Sequential(nn.Conv2d(i, o, k, k), nn.GroupNorm(4, o), nn.GELU())
        self.see, self.layers = nn.Sequential(conv(3, d // 4, 4), conv(d // 4, d // 2, 2), conv(d // 2, d, 2)), nn.ModuleList([Layer(d, heads) for _ in range(4)])
        self.remember, self.head = nn.ModuleList([Layer(d, heads) for _ in range(4)]), nn.Sequential(nn.Linear(d, d), nn.GELU(), nn.Linear(d, 4))
        self.register_buffer("memory", torch.randn(1, kept, d))

    def forward(self, frame):
        x = self.see(frame).flatten(2).transpose(1, 2)
        for layer, remember in zip(self.layers, self.remember):
            x = remember(layer(x), self.memory)
        return self.head(x).sigmoid()


def ball_frames(captured):
    def make():
        m, frame = built(lambda: Ball(S(256, 16), S(8, 2), S(1024, 6), S(384, 32)), HALF_HERE).eval(), noise(1, 3, S(384, 32), S(384, 32), dtype=HALF_HERE)

        def follow():
            with torch.no_grad():
                return m(frame)
        return replayed(follow) if captured else follow
    return make


# Speech as eight codes for a moment, one after the other by a small model: eager, or compiled with mode="reduce-overhead". (moshi, gpt-fast)
class Codes(nn.Module):
    def __init__(self, codes, d, heads, count):
        super().__init__()
        self.embeds, self.heads = nn.ModuleList([nn.Embedding(codes, d) for _ in range(count)]), nn.ModuleList([nn.Linear(d, codes, bias=False) for _ in range(count)])
        self.layers, self.enter = nn.ModuleList([Layer(d, heads) for _ in range(2)]), nn.Linear(d, d)

    def forward(self, h):
        sequence, out = self.enter(h).unsqueeze(1), []
        for embed, head in zip(self.embeds, self.heads):
            x = sequence
            for layer in self.layers:
                x = layer(x)
            code = head(x[:, -1]).argmax(-1)
            out.append(code)
            sequence = torch.cat([sequence, embed(code).unsqueeze(1)], 1)
        return torch.stack(out, 1)


def codes_overhead(eager):
    def make():
        d = S(512, 16)
        m = built(lambda: Codes(S(1024, 20), d, S(8, 2), S(8, 3)), HALF_HERE).eval()
        f, h = m if eager else compiled(m, mode="reduce-overhead"), noise(S(4, 2), d, dtype=HALF_HERE)

        @torch.no_grad()
        def step():
            return f(h).clone()
        return step
    return make


# Ten judges of one move, trained: called one after the other, or stacked into batched products. (REDQ code, torch.func ensembling tutorial)
class Stack(nn.Module):
    def __init__(self, judges):
        super().__init__()
        layers = [[layer for layer in judge if isinstance(layer, nn.Linear)] for judge in judges]
        self.weights = nn.ParameterList([nn.Parameter(torch.stack([layer.weight.data.t() for layer in same])) for same in zip(*layers)])
        self.biases = nn.ParameterList([nn.Parameter(torch.stack([layer.bias.data[None] for layer in same])) for same in zip(*layers)])

    def forward(self, x):
        x = x.expand(self.weights[0].shape[0], -1, -1)
        for i, (w, b) in enumerate(zip(self.weights, self.biases)):
            x = torch.baddbmm(b, x, w)
            x = F.relu(x) if i < len(self.weights) - 1 else x
        return x


def judges_loop(loop):
    def make():
        judges, seen, d, rows = S(10, 3), S(64, 5), S(256, 8), S(1024, 6)
        m = built(lambda: nn.ModuleList([nn.Sequential(nn.Linear(seen, d), nn.ReLU(), nn.Linear(d, d), nn.ReLU(), nn.Linear(d, 1)) for _ in range(judges)]))
        m = m if loop else Stack(m)
        f, x, y = formed(m) if not loop else None, noise(rows, seen), noise(rows, 1)
        told = (lambda: torch.stack([judge(x) for judge in m])) if loop else (lambda: f(x))
        return training(m, lambda: F.mse_loss(told(), y.expand(judges, -1, -1)), torch.optim.Adam(m.parameters(), lr=1e-4, fused=True), cast=False)
    return make


# Visits to a shop, twenty in a row: a perceptron and a crossing for each visit, or for all visits at once. (tbsm 1)
class Visits(nn.Module):
    def __init__(self, rows, e, fields, dense, loop):
        super().__init__()
        self.loop, self.table, self.bottom = loop, nn.Embedding(rows, e), nn.Sequential(nn.Linear(dense, 4 * e), nn.ReLU(), nn.Linear(4 * e, e))
        self.top = nn.Sequential(nn.Linear(e + fields * (fields + 1) // 2, 4 * e), nn.ReLU(), nn.Linear(4 * e, e))
        a, b = torch.tril_indices(fields + 1, fields + 1, -1)
        self.register_buffer("pairs", a * (fields + 1) + b)
        self.head = nn.Linear(e, 1)

    def visit(self, ids, dense):
        d = self.bottom(dense)
        v = torch.cat([d.unsqueeze(1), self.table(ids)], 1)
        crossed = torch.bmm(v, v.transpose(1, 2)).flatten(1).index_select(1, self.pairs)
        return self.top(torch.cat([d, crossed], -1))

    def forward(self, ids, dense):
        if self.loop:
            h = torch.stack([self.visit(ids[:, t], dense[:, t]) for t in range(ids.shape[1])], 1)
        else:
            h = self.visit(ids.flatten(0, 1), dense.flatten(0, 1)).view(*ids.shape[:2], -1)
        weights = torch.softmax((h[:, :-1] * h[:, -1:]).sum(-1), -1)
        return self.head((weights.unsqueeze(-1) * h[:, :-1]).sum(1) + h[:, -1])


def visits_loop(loop):
    def make():
        rows, fields, dense, long, batch = S(100000, 50), S(8, 3), S(13, 4), S(20, 4), S(1024, 4)
        m = built(lambda: Visits(rows, S(64, 8), fields, dense, loop))
        f, ids, x, y = formed(m), draw(rows, batch, long, fields), noise(batch, long, dense), torch.rand(batch, 1, device=D).round()
        return training(m, lambda: F.binary_cross_entropy_with_logits(f(ids, x), y), cast=False)
    return make


# ---- Input ----------------------------------------------------------------------------------------------------------------------


# Pieces of brain scans, turned, stretched and made noisy: by the training process itself, or by workers. (lightning 1216)
class Scans(torch.utils.data.Dataset):
    def __init__(self, count, side, cut):
        self.cut, self.all = cut, np.random.default_rng(2).standard_normal((count, 2, side, side, side), dtype=np.float32)

    def __len__(self):
        return 1000000

    def __getitem__(self, i):
        rng, c = np.random.default_rng(i), self.cut
        scan = self.all[i % len(self.all)]
        z, y, x = rng.integers(0, scan.shape[1] - c, 3)
        piece = np.rot90(scan[:, z:z + c, y:y + c, x:x + c], int(rng.integers(0, 4)), (2, 3))
        low = piece.min()
        piece = ((piece - low) / (piece.max() - low + 1e-6)) ** rng.uniform(0.7, 1.5)
        piece = piece * rng.uniform(0.9, 1.1) + 0.02 * rng.standard_normal(piece.shape, dtype=np.float32)
        return torch.from_numpy(np.ascontiguousarray(piece, dtype=np.float32)), torch.from_numpy((piece[0] > piece[0].mean()).astype(np.int64))


def scans_loader(workers):
    def make():
        cut, batch, c = S(48, 6), S(4, 1), S(32, 4)
        more = dict(num_workers=S(workers, 2), persistent_workers=True, prefetch_factor=4, pin_memory=not DRY) if workers else {}
        batches = iter(torch.utils.data.DataLoader(Scans(S(4, 2), cut + S(32, 4), cut), batch_size=batch, **more))
        conv = lambda i, o: nn.Sequential(nn.Conv3d(i, o, 3, padding=1, bias=False), nn.InstanceNorm3d(o), nn.LeakyReLU(0.01))
        m = built(lambda: nn.Sequential(conv(2, c), conv(c, 2 * c), conv(2 * c, c), nn.Conv3d(c, 2, 1)))
        f, optimizer = formed(m), torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True)

        def step():
            x, y = (t.to(D, non_blocking=True) for t in next(batches))
            optimizer.zero_grad(set_to_none=True)
            with autocast():
                loss = F.cross_entropy(f(x).float(), y)
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# Lines of handwriting, slanted and blotted: two workers, or twelve. (geti 5958)
class Lines(torch.utils.data.Dataset):
    def __init__(self, tall, wide):
        self.tall, self.wide = tall, wide
        self.all = np.random.default_rng(3).integers(0, 256, (32, tall, 2 * wide), dtype=np.uint8)

    def __len__(self):
        return 1000000

    def __getitem__(self, i):
        rng = np.random.default_rng(i)
        page, at = self.all[i % 32], int(rng.integers(0, self.wide // 2))
        line = page[:, at:at + self.wide + self.tall].astype(np.float32)
        slant = rng.uniform(-0.5, 0.5)
        rows = np.stack([np.roll(row, int(slant * k))[:self.wide] for k, row in enumerate(line)])
        for _ in range(4):
            rows = 0.25 * (rows + np.roll(rows, 1, 1) + np.roll(rows, 1, 0) + np.roll(rows, -1, 1))
        y, x = int(rng.integers(0, self.tall // 2)), int(rng.integers(0, self.wide - 20))
        rows[y:y + 6, x:x + 20] = 0
        return torch.from_numpy((rows / 255)[None].astype(np.float32)), torch.from_numpy(rng.integers(0, 90, self.wide // 8))


def lines_workers(workers):
    def make():
        tall, wide, batch, c = S(64, 16), S(768, 32), S(24, 2), S(64, 8)
        batches = iter(torch.utils.data.DataLoader(Lines(tall, wide), batch_size=batch, num_workers=S(workers, 1), persistent_workers=True, prefetch_factor=2, pin_memory=not DRY))
        conv = lambda i, o, s: nn.Sequential(nn.Conv2d(i, o, 3, s, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))
        m = last(built(lambda: nn.Sequential(conv(1, c, 2), conv(c, 2 * c, 2), conv(2 * c, 4 * c, 2), conv(4 * c, 4 * c, 1), nn.AdaptiveAvgPool2d((1, wide // 8)), nn.Conv2d(4 * c, 90, 1))))
        f, optimizer = formed(m), torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True)

        def step():
            x, y = (t.to(D, non_blocking=True) for t in next(batches))
            optimizer.zero_grad(set_to_none=True)
            with autocast():
                loss = F.cross_entropy(f(x).squeeze(2).float(), y)
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# Genes as strings: letter by letter through a Python dictionary in each step, or as bytes through a table on the device. (forum: slow one-hot of DNA)
def genes_in_python(on_host):
    def make():
        batch, long, c = S(48, 3), S(2048, 80), S(256, 8)
        rng = np.random.default_rng(4)
        genes = ["".join(rng.choice(list("ACGTN"), long)) for _ in range(batch)]
        number = {"A": 0, "C": 1, "G": 2, "T": 3, "N": 4}
        table = torch.full((256,), 4, device=D)
        for letter, i in number.items():
            table[ord(letter)] = i
        m = built(lambda: nn.Sequential(nn.Conv1d(5, c, 15, padding=7), nn.GELU(), nn.Conv1d(c, c, 9, 4), nn.GELU(), nn.Conv1d(c, 2 * c, 9, 4), nn.GELU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(2 * c, 3)))
        f, optimizer, y = formed(m), torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True), draw(3, batch)

        def step():
            if on_host:
                ids = torch.tensor([[number[letter] for letter in gene] for gene in genes]).to(D)
            else:
                raw = torch.from_numpy(np.frombuffer("".join(genes).encode(), dtype=np.uint8).copy()).view(batch, long)
                ids = table[raw.to(D).long()]
            x = F.one_hot(ids, 5).transpose(1, 2).float()
            optimizer.zero_grad(set_to_none=True)
            with autocast():
                loss = F.cross_entropy(f(x).float(), y)
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# ---- What the framework does besides --------------------------------------------------------------------------------------------


# A small reader learns from a large one that is frozen: the large one kept in float32, cast in each call, or once. (sglang-omni 2262 and 2075, diffusers 1465)
class Reading(nn.Module):
    def __init__(self, d, heads, layers, out):
        super().__init__()
        self.layers, self.out = nn.ModuleList([Layer(d, heads) for _ in range(layers)]), nn.Linear(d, out)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.out(x)


def teacher_frozen(cast_each):
    def make():
        big, small, out, batch, t = S(1536, 24), S(384, 16), S(512, 6), S(8, 2), S(256, 5)
        teacher = built(lambda: Reading(big, S(12, 2), S(6, 1), out)).eval().requires_grad_(False)
        m = built(lambda: Reading(small, S(6, 2), S(2, 1), out))
        if not cast_each:
            teacher = teacher.to(BF)
        f, g, x = formed(m), formed(teacher), noise(batch, t, big)

        def loss_of():
            with torch.no_grad():
                goal = g(x if cast_each else x.to(BF))
            return F.kl_div(F.log_softmax(f(x[..., :small]).float(), -1), F.log_softmax(goal.float(), -1), log_target=True, reduction="batchmean")
        return training(m, loss_of)
    return make


# Forces on atoms, compiled: each layer takes the number of real atoms to the host, or works on all and leaves the others out. (aimnetcentral 109)
class Force(nn.Module):
    def __init__(self, d, asks):
        super().__init__()
        self.asks, self.norm, self.q, self.up, self.down = asks, nn.LayerNorm(d), nn.Linear(d, 2 * d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x, real):
        a, g = self.q(self.norm(x)).chunk(2, -1)
        h = F.silu(a) * torch.sigmoid(g) * real[..., None]
        count = float(real.sum().item()) if self.asks else real.sum()
        x = x + h.sum(1, keepdim=True) / count
        return (x + self.down(F.silu(self.up(h)))) * real[..., None]


class Forces(nn.Module):
    def __init__(self, d, layers, asks):
        super().__init__()
        self.layers, self.head = nn.ModuleList([Force(d, asks) for _ in range(layers)]), nn.Linear(d, 3)

    def forward(self, x, real):
        for layer in self.layers:
            x = layer(x, real)
        return self.head(x)


def forces_breaks(asks):
    def make():
        d, batch, atoms = S(256, 8), S(64, 3), S(96, 5)
        f = compiled(built(lambda: Forces(d, S(5, 2), asks), BF).eval())
        real = (torch.arange(atoms, device=D)[None] < torch.randint(atoms // 3, atoms + 1, (batch, 1), device=D)).to(BF)
        return inference(f, noise(batch, atoms, d, dtype=BF), real)
    return make


# Words of a machine's manual, compiled: a clock is read ahead of each layer, for a table of times, or no longer. (pytorch 137068, 157352)
class Manual(nn.Module):
    def __init__(self, d, heads, layers, clock):
        super().__init__()
        self.clock, self.times, self.layers = clock, [0.0] * layers, nn.ModuleList([Layer(d, heads, wide=2) for _ in range(layers)])

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            if self.clock:
                self.times[i] = time.perf_counter()
            x = layer(x)
        return x


def manual_breaks(clock):
    def make():
        d, t = S(512, 16), S(256, 6)
        f = compiled(built(lambda: Manual(d, S(8, 2), S(8, 2), clock), BF).eval())
        return inference(f, noise(S(8, 2), t, d, dtype=BF))
    return make


# Cracks in bridges, trained under autocast: NCHW as it comes, or channels last. (ultralytics 13179)
class Crack(nn.Module):
    def __init__(self, c):
        super().__init__()
        conv = lambda i, o, s=1: nn.Sequential(nn.Conv2d(i, o, 3, s, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))
        self.a, self.b, self.c = nn.Sequential(conv(3, c), conv(c, c)), nn.Sequential(conv(c, 2 * c, 2), conv(2 * c, 2 * c)), nn.Sequential(conv(2 * c, 4 * c, 2), conv(4 * c, 4 * c))
        self.up, self.out = nn.ModuleList([conv(6 * c, 2 * c), conv(3 * c, c)]), nn.Conv2d(c, 1, 1)

    def forward(self, x):
        a = self.a(x)
        b = self.b(a)
        h = self.up[0](torch.cat([F.interpolate(self.c(b), scale_factor=2.0), b], 1))
        return self.out(self.up[1](torch.cat([F.interpolate(h, scale_factor=2.0), a], 1)))


def cracks_layout(channels_last):
    def make():
        batch, side = S(12, 2), S(192, 16)
        m, x = built(lambda: Crack(S(64, 8))), noise(batch, 3, side, side)
        if channels_last:
            m, x = last(m), last(x)
        f, y = formed(m), torch.rand(batch, 1, side, side, device=D).round()
        return training(m, lambda: F.binary_cross_entropy_with_logits(f(x).float(), y))
    return make


# Teeth in a jaw's volume, half precision: as it comes, or channels last. (MONAI channels_last_3d)
def teeth_layout(channels_last):
    def make():
        c, kind = S(32, 8), HALF_HERE
        conv = lambda i, o, s=1: nn.Sequential(nn.Conv3d(i, o, 3, s, 1), nn.ReLU(inplace=True))
        m = built(lambda: nn.Sequential(nn.Conv3d(1, c, 3, padding=1), conv(c, c), conv(c, 2 * c, 2), conv(2 * c, 2 * c), conv(2 * c, 4 * c, 2), conv(4 * c, 4 * c), nn.Conv3d(4 * c, 32, 1), nn.Upsample(scale_factor=4.0)), kind).eval()
        x = noise(1, 1, S(96, 8), S(128, 8), S(128, 8), dtype=kind)
        if channels_last:
            m, x = m.to(memory_format=torch.channels_last_3d), x.to(memory_format=torch.channels_last_3d)
        return inference(formed(m), x)
    return make


# Poems, gradients of four small batches added up: memory given back behind each of them, or kept. (transformers 31372, FastVideo 606)
def poems_emptied(empty):
    def make():
        signs, d, batch, t = S(8192, 40), S(768, 16), S(8, 2), S(384, 6)
        m = built(lambda: Songs(signs, d, S(12, 2), S(3, 1)))
        f, optimizer = formed(m), torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True)
        parts = [(draw(signs, batch, t), draw(signs, batch * t)) for _ in range(4)]

        def step():
            optimizer.zero_grad(set_to_none=True)
            total = torch.zeros((), device=D)
            for ids, labels in parts:
                with autocast():
                    loss = F.cross_entropy(f(ids).flatten(0, 1).float(), labels) / 4
                loss.backward()
                total += loss.detach()
                del loss
                if empty and not DRY:
                    torch.cuda.empty_cache()
            optimizer.step()
            return total
        return step
    return make


# ---- Slow kernels and constants -------------------------------------------------------------------------------------------------


# Insects counted: boxes compared with all that are known by torch.cdist of order one, or by differences. (libreyolo 761)
def insects_cdist(by_cdist):
    def make():
        boxes, known, d = S(24000, 20), S(320, 6), S(512, 16)
        head = built(lambda: nn.Sequential(nn.Linear(d, d), nn.ReLU(), nn.Linear(d, 4), nn.Sigmoid())).eval()
        h, goal = noise(boxes, d), torch.rand(known, 4, device=D)

        def costs(h, goal):
            told = head(h)
            apart = torch.cdist(told, goal, p=1) if by_cdist else (told[:, None] - goal).abs().sum(-1)
            return apart.amin(1)
        return inference(formed(costs), h, goal)
    return make


# Birds heard in a wood: window and filters of the spectrum made on the host in each call, or kept by the model. (torchaudio transforms made in forward)
def filters(bands, waves, rate):
    edges = 700 * (10 ** (np.linspace(0, 2595 * np.log10(1 + rate / 1400), bands + 2) / 2595) - 1)
    at = np.linspace(0, rate / 2, waves)[:, None]
    rise, fall = (at - edges[:-2]) / (edges[1:-1] - edges[:-2]), (edges[2:] - at) / (edges[2:] - edges[1:-1])
    return np.maximum(0, np.minimum(rise, fall)).astype(np.float32)


class Heard(nn.Module):
    def __init__(self, c, size, bands, again):
        super().__init__()
        self.again, self.size, self.bands = again, size, bands
        self.register_buffer("window", torch.hann_window(size))
        self.register_buffer("filters", torch.from_numpy(filters(bands, size // 2 + 1, 32000)).to(D))
        conv = lambda i, o: nn.Sequential(nn.Conv2d(i, o, 3, 2, 1), nn.ReLU())
        self.body = nn.Sequential(conv(1, c), conv(c, 2 * c), conv(2 * c, 4 * c), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * c, 300))

    def forward(self, sound):
        window = torch.hann_window(self.size, device="cpu").to(sound.device) if self.again else self.window
        weights = torch.from_numpy(filters(self.bands, self.size // 2 + 1, 32000)).to(sound.device) if self.again else self.filters
        waves = torch.stft(sound, self.size, self.size // 4, window=window, return_complex=True)
        bands = torch.log(waves.abs().square().transpose(1, 2) @ weights + 1e-5)
        return self.body(bands.unsqueeze(1))


def birds_filters(again):
    def make():
        m = built(lambda: Heard(S(48, 4), S(1024, 64), S(128, 8), again)).eval()
        return inference(formed(m), noise(S(32, 2), S(96000, 640)))
    return make


# Each kind once, then the others.
PAIRS = dict(
    voice_losses=pair(voice_losses, True, False), singing_periodic=pair(singing_periodic, True, False), eyes_attention=pair(eyes_attention, True, False),
    scans_loader=pair(scans_loader, 0, 10), recipes_fp32=pair(recipes_fp32, True, False), ball_frames=pair(ball_frames, False, True),
    masses_upload=pair(masses_upload, True, False), teacher_frozen=pair(teacher_frozen, True, False), servers_adamw=pair(servers_adamw, True, False),
    forces_breaks=pair(forces_breaks, True, False), cracks_layout=pair(cracks_layout, False, True), poems_emptied=pair(poems_emptied, True, False),
    songs_odd=pair(songs_odd, False, True), judges_loop=pair(judges_loop, True, False), genes_in_python=pair(genes_in_python, True, False),
    ships_matching=pair(ships_matching, True, False), answers_rated=pair(answers_rated, True, False), insects_cdist=pair(insects_cdist, True, False),
    signs_lists=pair(signs_lists, True, False), clips_norms=pair(clips_norms, True, False), codes_overhead=pair(codes_overhead, True, False),
    spam_clipping=pair(spam_clipping, True, False), letters_attention=pair(letters_attention, True, False), lines_workers=pair(lines_workers, 2, 12),
    receipts_ends=pair(receipts_ends, True, False), food_varied=pair(food_varied, True, False), weeds_lion=pair(weeds_lion, True, False),
    payments_features=pair(payments_features, True, False), jobs_fp32=pair(jobs_fp32, True, False), manual_breaks=pair(manual_breaks, True, False),
    tunes_drawn=pair(tunes_drawn, True, False), birds_filters=pair(birds_filters, True, False), visits_loop=pair(visits_loop, True, False),
    rain_attention=pair(rain_attention, True, False), laws_odd=pair(laws_odd, False, True), sonar_timers=pair(sonar_timers, True, False),
    titles_empty=pair(titles_empty, True, False), bearings_rounded=pair(bearings_rounded, True, False), teeth_layout=pair(teeth_layout, False, True))


PROGRAMS = in_turns(PAIRS, HEALTHY)
COMPILED_PAIRS = ["singing_periodic", "forces_breaks", "answers_rated", "codes_overhead", "food_varied", "manual_breaks", "bearings_rounded"]
CAPTURED = ["ball_frames"]  # a graph's replay has no compiled form
COMPILED = [name for name in HEALTHY if name not in EAGER and name != "small_gestures_replay"] + COMPILED_PAIRS  # what takes longest first
FORMS = {name: (HEALTHY[name], compiled_form(HEALTHY[name])) for name in EAGER}
FORMS |= {name + ".mended": (halves["mended"], compiled_form(halves["mended"])) for name, halves in PAIRS.items() if name not in COMPILED_PAIRS + CAPTURED}
