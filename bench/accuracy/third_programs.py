"""A third set of programs that no rule was read from: pairs with one fault and without it, and healthy ones. Only scored.

PROGRAMS is what recording.py records, in this order (variety first, so that a run cut short has some of everything).
planted.json says what was planted in each pair. A step returns what it computed, so that a pair can be compared. The mended half is what the
usual advice says to write, not the fault's exact opposite: where it helps by more than the fault cost, the score shows it.
COMPILED: what is to be compiled ahead. The healthy programs are in third_healthy.py.
"""
import io, math, os, sys
import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from third_healthy import HEALTHY
from program_parts import BF, D, DRY, HALF, S, autocast, compiled, last, pinned, replayed, pair, in_turns

SETS = [["shapes", "plain"], ["stack", "shapes"], ["memory", "plain"], ["modules", "shapes"], ["plain", "shapes_stack"], ["memory", "stack"], ["shapes", "memory"]]


def options(index):
    return SETS[index % len(SETS)]


# ---- The host waits for the device --------------------------------------------------------------------------------------------


# Pose estimation, gradients of six small batches added up: the figures of each batch are read at once, or all at the end.
def pose_net(c, joints):
    layer = lambda i, o, s: nn.Sequential(nn.Conv2d(i, o, 3, s, 1, bias=False), nn.GroupNorm(8, o), nn.ReLU(inplace=True))
    return nn.Sequential(layer(3, c, 2), layer(c, 2 * c, 2), layer(2 * c, 2 * c, 1), layer(2 * c, 2 * c, 1), nn.Conv2d(2 * c, joints, 1))


def keypoint_items(at_once):
    def make():
        batch, joints, side, parts = S(8, 2), 17, S(192, 16), S(6, 2)
        m = last(pose_net(S(64, 8), joints).to(D))
        optimizer = torch.optim.AdamW(m.parameters(), lr=1e-4, fused=True)
        images = [last(torch.randn(batch, 3, side, side, device=D)) for _ in range(parts)]
        maps = [torch.rand(batch, joints, side // 4, side // 4, device=D) for _ in range(parts)]
        peaks = [t.flatten(2).argmax(-1) for t in maps]

        def step():
            total, right = 0.0, 0.0
            for x, y, peak in zip(images, maps, peaks):
                with autocast():
                    out = m(x)
                loss = F.mse_loss(out.float(), y) / parts
                loss.backward()
                hit = (out.flatten(2).argmax(-1) == peak).float().mean()
                if at_once:
                    total += loss.item()
                    right += hit.item()
                else:
                    total = total + loss.detach()
                    right = right + hit
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            if not at_once:
                total, right = torch.stack([total, right]).tolist()
            return torch.tensor([total, right + 1.0])
        return step
    return make


# Depth from images at four scales: only pixels with a measured depth count, picked by a boolean index or weighted by the mask.
def depth_masks(picked):
    def make():
        batch, side, c = S(8, 2), S(256, 16), S(48, 8)
        conv = lambda i, o, s=1: nn.Sequential(nn.Conv2d(i, o, 3, s, 1), nn.ReLU(inplace=True))
        stages = nn.ModuleList([conv(3, c), conv(c, c, 2), conv(c, 2 * c, 2), conv(2 * c, 2 * c, 2)])
        heads = nn.ModuleList([nn.Conv2d(k, 1, 1) for k in (c, c, 2 * c, 2 * c)])
        m = last(nn.ModuleList([stages, heads]).to(D))
        optimizer = torch.optim.SGD(m.parameters(), lr=1e-4, fused=True)
        x = last(torch.randn(batch, 3, side, side, device=D))
        truth = [torch.rand(batch, 1, side >> i, side >> i, device=D) * 10 for i in range(4)]

        def step():
            optimizer.zero_grad(set_to_none=True)
            h, loss = x, 0.0
            for stage, head, depth in zip(stages, heads, truth):
                with autocast():
                    h = stage(h)
                    out = head(h)
                valid = (depth > 0.5) & (depth < 8.0)
                if picked:
                    error = out[valid].float() - depth[valid]
                    loss = loss + error.abs().mean() + error.pow(2).mean().sqrt()
                else:
                    error = torch.where(valid, out.float() - depth, 0.0)
                    count = valid.sum()
                    loss = loss + error.abs().sum() / count + (error.pow(2).sum() / count).sqrt()
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# Fraud scores of a table: loss and size of the gradient are written into a log in each step, or in each hundredth.
def loss_print(each):
    def make():
        rows, columns, wide = S(16384, 8), S(256, 12), S(1024, 16)
        m = nn.Sequential(nn.Linear(columns, wide), nn.ReLU(), nn.Linear(wide, wide), nn.ReLU(), nn.Linear(wide, wide), nn.ReLU(), nn.Linear(wide, 1)).to(D)
        optimizer = torch.optim.AdamW(m.parameters(), lr=1e-4, fused=True)
        x, y = torch.randn(rows, columns, device=D), (torch.rand(rows, 1, device=D) < 0.1).float()
        log, turn = io.StringIO(), [0]

        def step():
            turn[0] += 1
            with autocast():
                loss = F.binary_cross_entropy_with_logits(m(x).float(), y)
            optimizer.zero_grad()
            loss.backward()
            size = nn.utils.clip_grad_norm_(m.parameters(), 1.0)
            optimizer.step()
            if each or turn[0] % 100 == 0:
                print(f"step {turn[0]} loss {loss:.4f} gradient {size:.3f}", file=log)
            return loss.detach()
        return step
    return make


# ---- Work that could be one kernel --------------------------------------------------------------------------------------------


# Options priced by simulation: a stochastic volatility model, path by path in eager mode or compiled.
def heston(noise, spot, rate, kappa, theta, xi, rho, dt):
    price = torch.full_like(noise[0, 0], spot)
    variance = torch.full_like(price, theta)
    for t in range(noise.shape[0]):
        z1 = noise[t, 0]
        z2 = rho * z1 + math.sqrt(1 - rho * rho) * noise[t, 1]
        positive = torch.clamp(variance, min=0.0)
        root = torch.sqrt(positive * dt)
        price = price * torch.exp((rate - 0.5 * positive) * dt + root * z1)
        variance = variance + kappa * (theta - positive) * dt + xi * root * z2
    payoff = torch.clamp(price - spot, min=0.0)
    return payoff.mean(), payoff.std()


def option_pricing(eager):
    def make():
        paths, steps = S(6_000_000, 200), S(10, 3)
        noise = torch.randn(steps, 2, paths, device=D)
        f = heston if eager else compiled(heston)

        @torch.no_grad()
        def step():
            return torch.stack(f(noise, 100.0, 0.03, 1.5, 0.04, 0.3, -0.7, 1.0 / steps))
        return step
    return make


# Segmentation of organs: a focal and a Dice loss written out, in eager mode or compiled; the network is the same.
def focal_dice(logits, target):
    p = torch.softmax(logits.float(), 1)
    hot = F.one_hot(target, logits.shape[1]).permute(0, 3, 1, 2).float()
    p_t = (p * hot).sum(1).clamp(1e-6, 1.0)
    focal = (-0.25 * (1 - p_t) ** 2 * torch.log(p_t)).mean()
    cross = (p * hot).sum((2, 3))
    dice = 1 - ((2 * cross + 1) / (p.sum((2, 3)) + hot.sum((2, 3)) + 1)).mean()
    return focal + dice


def focal_loss(eager):
    def make():
        c, classes, side = S(64, 8), S(14, 4), S(256, 16)
        m = last(nn.Sequential(nn.Conv2d(1, c, 3, padding=1), nn.ReLU(), nn.Conv2d(c, c, 3, padding=1), nn.ReLU(), nn.Conv2d(c, classes, 1)).to(D))
        x = last(torch.randn(S(12, 2), 1, side, side, device=D))
        y = torch.randint(0, classes, (S(12, 2), side, side), device=D)
        loss_of = focal_dice if eager else compiled(focal_dice)
        optimizer = torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True)

        def step():
            optimizer.zero_grad()
            with autocast():
                out = m(x)
            loss = loss_of(out, y)
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# Images from text: attention of image tokens to themselves and to the words, heads folded into the batch and written out, or fused.
class ImageTextAttention(nn.Module):
    def __init__(self, d, heads, text, by_hand):
        super().__init__()
        self.heads, self.by_hand = heads, by_hand
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d) for _ in range(3))
        self.to_q1, self.to_k1, self.to_v1, self.out1 = (nn.Linear(d, d, bias=False) for _ in range(4))
        self.to_q2, self.to_k2, self.to_v2, self.out2 = nn.Linear(d, d, bias=False), nn.Linear(text, d, bias=False), nn.Linear(text, d, bias=False), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 8 * d), nn.Linear(4 * d, d)

    def attend(self, q, k, v):
        b, n, d = q.shape
        e = d // self.heads
        if not self.by_hand:
            q, k, v = (t.view(b, -1, self.heads, e).transpose(1, 2) for t in (q, k, v))
            return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, d)
        q, k, v = (t.view(b, -1, self.heads, e).transpose(1, 2).reshape(b * self.heads, -1, e) for t in (q, k, v))
        empty = torch.empty(q.shape[0], q.shape[1], k.shape[1], dtype=q.dtype, device=q.device)
        scores = torch.baddbmm(empty, q, k.transpose(-1, -2), beta=0, alpha=e ** -0.5)
        y = torch.bmm(scores.softmax(-1), v)
        return y.view(b, self.heads, n, e).transpose(1, 2).reshape(b, n, d)

    def forward(self, x, words):
        h = self.norm1(x)
        x = x + self.out1(self.attend(self.to_q1(h), self.to_k1(h), self.to_v1(h)))
        x = x + self.out2(self.attend(self.to_q2(self.norm2(x)), self.to_k2(words), self.to_v2(words)))
        a, g = self.up(self.norm3(x)).chunk(2, -1)
        return x + self.down(a * F.gelu(g))


def cross_attention(by_hand):
    def make():
        d, text, kind = S(640, 16), S(768, 24), S(HALF, torch.float32)
        layers = nn.ModuleList([ImageTextAttention(d, S(10, 2), text, by_hand) for _ in range(S(3, 1))]).to(D, kind).eval()
        x, words = torch.randn(S(2, 2), S(4096, 16), d, device=D, dtype=kind), torch.randn(S(2, 2), S(77, 5), text, device=D, dtype=kind)

        @torch.inference_mode()
        def step():
            h = x
            for layer in layers:
                h = layer(h, words)
            return h
        return step
    return make


# Sentiment, trained with the library's own module: its weights are asked for (the default) and thrown away, or not.
def mha_weights(asked):
    def make():
        d, heads = S(768, 16), S(12, 2)
        layers = nn.ModuleList([nn.ModuleList([nn.MultiheadAttention(d, heads, batch_first=True), nn.LayerNorm(d),
                                               nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d)), nn.LayerNorm(d)]) for _ in range(S(4, 1))]).to(D)
        head = nn.Linear(d, 2).to(D)
        parameters = [*layers.parameters(), *head.parameters()]
        optimizer = torch.optim.AdamW(parameters, lr=1e-5, fused=True)
        x, y = torch.randn(S(24, 2), S(512, 10), d, device=D), torch.randint(0, 2, (S(24, 2),), device=D)

        def step():
            optimizer.zero_grad()
            with autocast():
                h = x
                for attention, n1, feed, n2 in layers:
                    h = n1(h + attention(h, h, h, need_weights=asked)[0])
                    h = n2(h + feed(h))
                loss = F.cross_entropy(head(h.mean(1)).float(), y)
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# ---- Products that miss the tensor cores --------------------------------------------------------------------------------------


# Faces by a variational autoencoder in float32: TF32 switched off for products and convolutions, or on.
class FaceCoder(nn.Module):
    def __init__(self, c, latent, side):
        super().__init__()
        self.c, self.side = c, side // 8
        self.encode = nn.Sequential(nn.Conv2d(3, c, 4, 2, 1), nn.ReLU(), nn.Conv2d(c, 2 * c, 4, 2, 1), nn.ReLU(), nn.Conv2d(2 * c, 4 * c, 4, 2, 1), nn.ReLU(), nn.Flatten())
        flat = 4 * c * self.side ** 2
        self.both, self.enter = nn.Linear(flat, 2 * latent), nn.Linear(latent, flat)
        self.decode = nn.Sequential(nn.Conv2d(4 * c, 4 * c, 3, padding=1), nn.ReLU(), nn.Upsample(scale_factor=2), nn.Conv2d(4 * c, 2 * c, 3, padding=1), nn.ReLU(),
                                    nn.Upsample(scale_factor=2), nn.Conv2d(2 * c, c, 3, padding=1), nn.ReLU(), nn.Upsample(scale_factor=2), nn.Conv2d(c, 3, 3, padding=1))

    def forward(self, x, noise):
        mean, log = self.both(self.encode(x)).chunk(2, -1)
        z = mean + noise * torch.exp(0.5 * log.clamp(-5, 5))
        out = self.decode(F.relu(self.enter(z)).view(-1, 4 * self.c, self.side, self.side))
        return F.mse_loss(out, x) + 1e-3 * (mean.pow(2) + log.exp() - log - 1).mean()


def vae_precision(full):
    def make():
        side, latent, batch = S(64, 16), S(256, 8), S(192, 2)
        m = FaceCoder(S(64, 8), latent, side).to(D)
        optimizer = torch.optim.Adam(m.parameters(), lr=1e-5, fused=True)
        x, noise = torch.rand(batch, 3, side, side, device=D), torch.randn(batch, latent, device=D)

        def step():
            torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = not full
            optimizer.zero_grad()
            loss = m(x, noise)
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# Search among 60,001 documents of 301 numbers each (300 and a bias), or with rows and columns filled up by zeros when loaded.
def retrieval_odd(padded):
    def make():
        width, wide, documents = S(301, 13), S(1203, 27), S(60001, 37)
        up = lambda n: (n + 63) // 64 * 64
        kind = S(HALF, torch.float32)
        first, second = torch.randn(wide, width, device=D, dtype=kind) / width ** 0.5, torch.randn(width, wide, device=D, dtype=kind) / wide ** 0.5
        store = torch.randn(documents, width, device=D, dtype=kind)
        queries = torch.randn(S(2048, 4), width, device=D, dtype=kind)
        if padded:
            fill = lambda t, rows, columns: F.pad(t, (0, columns - t.shape[1], 0, rows - t.shape[0]))
            first, second, store = fill(first, up(wide), up(width)), fill(second, up(width), up(wide)), fill(store, up(documents), up(width))
            queries = fill(queries, queries.shape[0], up(width))

        @torch.inference_mode()
        def step():
            q = F.linear(F.relu(F.linear(queries, first)), second)
            return F.linear(q, store)[:, :documents].amax(-1)
        return step
    return make


# ---- Optimizers ---------------------------------------------------------------------------------------------------------------


# Skin lesions by densely connected layers: AdamW tensor by tensor, or fused.
class DenseStage(nn.Module):
    def __init__(self, c, growth, layers):
        super().__init__()
        self.layers = nn.ModuleList([nn.Sequential(nn.BatchNorm2d(c + i * growth), nn.ReLU(inplace=True), nn.Conv2d(c + i * growth, 4 * growth, 1, bias=False),
                                                   nn.BatchNorm2d(4 * growth), nn.ReLU(inplace=True), nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False))
                                     for i in range(layers)])

    def forward(self, x):
        for layer in self.layers:
            x = torch.cat([x, layer(x)], 1)
        return x


def densenet_adam(one_by_one):
    def make():
        c, growth, layers = S(64, 8), S(32, 4), S(6, 2)
        out = c + layers * growth
        m = nn.Sequential(nn.Conv2d(3, c, 7, 2, 3, bias=False), DenseStage(c, growth, layers), nn.Conv2d(out, c, 1), nn.AvgPool2d(2), DenseStage(c, growth, layers),
                          nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(out, 7)).to(D)
        m = last(m)
        optimizer = torch.optim.AdamW(m.parameters(), lr=1e-4, **(dict(foreach=False) if one_by_one else dict(fused=True)))
        x, y = last(torch.randn(S(64, 2), 3, S(128, 16), S(128, 16), device=D)), torch.randint(0, 7, (S(64, 2),), device=D)

        def step():
            optimizer.zero_grad()
            with autocast():
                loss = F.cross_entropy(m(x).float(), y)
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# Wind power from station data: Adam as in a paper's own code, parameter by parameter, or the library's fused one.
class HandAdam:
    def __init__(self, parameters, lr):
        self.parameters, self.lr, self.t = list(parameters), lr, 0
        self.m = [torch.zeros_like(p) for p in self.parameters]
        self.v = [torch.zeros_like(p) for p in self.parameters]

    def zero_grad(self):
        for p in self.parameters:
            p.grad = None

    @torch.no_grad()
    def step(self):
        self.t += 1
        for p, m, v in zip(self.parameters, self.m, self.v):
            g = p.grad
            m.mul_(0.9).add_(g, alpha=0.1)
            v.mul_(0.999).addcmul_(g, g, value=0.001)
            upright = m / (1 - 0.9 ** self.t)
            spread = (v / (1 - 0.999 ** self.t)).sqrt() + 1e-8
            p.sub_(self.lr * upright / spread)


class StationMixer(nn.Module):
    def __init__(self, d, stations):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.across, self.a, self.b = nn.Linear(stations, stations), nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def forward(self, x):
        x = x + self.across(self.n1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.b(F.silu(self.a(self.n2(x))))


def hand_adam(by_hand):
    def make():
        d, stations = S(512, 16), S(96, 6)
        m = nn.Sequential(*[StationMixer(d, stations) for _ in range(S(10, 2))], nn.Linear(d, 24)).to(D)
        optimizer = HandAdam(m.parameters(), 1e-4) if by_hand else torch.optim.Adam(m.parameters(), lr=1e-4, fused=True)
        x, y = torch.randn(S(64, 2), stations, d, device=D), torch.randn(S(64, 2), stations, 24, device=D)

        def step():
            optimizer.zero_grad()
            loss = F.l1_loss(m(x), y)
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# ---- Many launches ------------------------------------------------------------------------------------------------------------


# Particles of a fluid: four steps of a small message passing network, launched op by op or captured in a CUDA graph.
class Messages(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.edge = nn.Sequential(nn.Linear(2 * d, d), nn.ReLU(), nn.Linear(d, d), nn.LayerNorm(d))
        self.node = nn.Sequential(nn.Linear(2 * d, d), nn.ReLU(), nn.Linear(d, d), nn.LayerNorm(d))

    def forward(self, h, source, target):
        sent = self.edge(torch.cat([h[source], h[target]], -1))
        return h + self.node(torch.cat([h, torch.zeros_like(h).index_add_(0, target, sent)], -1))


def fluid_graph(captured):
    def make():
        d, particles, edges, steps = S(128, 8), S(1500, 20), S(9000, 60), S(4, 2)
        enter, leave = nn.Linear(6, d).to(D), nn.Linear(d, 3).to(D)
        layers = nn.ModuleList([Messages(d) for _ in range(S(4, 1))]).to(D).eval()
        begin, speed = torch.rand(particles, 3, device=D), torch.randn(particles, 3, device=D) * 0.01
        source, target = (torch.randint(0, particles, (edges,), device=D) for _ in range(2))

        def simulate():
            with torch.no_grad():
                x, v = begin, speed
                for _ in range(steps):
                    h = enter(torch.cat([x, v], -1))
                    for layer in layers:
                        h = layer(h, source, target)
                    v = v + 0.01 * torch.tanh(leave(h))
                    x = (x + 0.01 * v).clamp(0.0, 1.0)
                return x
        return replayed(simulate) if captured else simulate
    return make


# The next token of one chat, a small model: eager, or compiled with mode="reduce-overhead".
class TokenLayer(nn.Module):
    def __init__(self, d, heads, held):
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.RMSNorm(d), nn.RMSNorm(d)
        self.q, self.k, self.v, self.o = (nn.Linear(d, d, bias=False) for _ in range(4))
        self.gate, self.up, self.down = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, 3 * d, bias=False), nn.Linear(3 * d, d, bias=False)
        self.register_buffer("keys", torch.randn(1, heads, held, d // heads))
        self.register_buffer("values", torch.randn(1, heads, held, d // heads))

    def forward(self, x):
        h = self.n1(x)
        q, k, v = (f(h).view(1, 1, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(q, torch.cat([self.keys, k], 2), torch.cat([self.values, v], 2))
        x = x + self.o(y.transpose(1, 2).reshape(x.shape))
        h = self.n2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


def token_overhead(eager):
    def make():
        d = S(1024, 16)
        m = nn.Sequential(*[TokenLayer(d, S(16, 2), S(768, 6)) for _ in range(S(8, 1))], nn.RMSNorm(d), nn.Linear(d, S(32000, 40), bias=False)).to(D, BF).eval()
        f = m if eager else compiled(m, mode="reduce-overhead")
        x = torch.randn(1, 1, d, device=D, dtype=BF)

        @torch.no_grad()
        def step():
            return f(x).clone()
        return step
    return make


# A robot's policy in training, small: each op launched, or the whole step (backward and Adam too) captured once.
def policy_training(captured):
    def make():
        batch, d = S(512, 8), S(256, 8)
        actor = nn.Sequential(nn.Linear(48, d), nn.ELU(), nn.Linear(d, d), nn.ELU(), nn.Linear(d, 12)).to(D)
        critic = nn.Sequential(nn.Linear(60, d), nn.ELU(), nn.Linear(d, d), nn.ELU(), nn.Linear(d, 1)).to(D)
        parameters = [*actor.parameters(), *critic.parameters()]
        optimizer = torch.optim.Adam(parameters, lr=1e-5, **(dict(capturable=True) if captured and not DRY else {}))
        state, noise, reward = torch.randn(batch, 48, device=D), torch.randn(batch, 12, device=D), torch.randn(batch, 1, device=D)

        def train():
            optimizer.zero_grad(set_to_none=True)
            action = torch.tanh(actor(state))
            value = critic(torch.cat([state, (action + 0.1 * noise).detach()], -1))
            q = critic(torch.cat([state, action], -1))
            loss = F.smooth_l1_loss(value, reward) - 0.1 * q.mean() + 1e-3 * action.pow(2).mean()
            loss.backward()
            optimizer.step()
            return loss.detach()
        return replayed(train) if captured else train
    return make


# ---- Input ----------------------------------------------------------------------------------------------------------------------


# Crops of satellite images with 13 bands: stretched, cut and turned by the training process itself, or by workers.
class Fields(torch.utils.data.Dataset):
    bands, side, cut = 13, 72, 56

    def __len__(self):
        return 500000

    def __getitem__(self, i):
        rng = np.random.default_rng(i)
        image = rng.random((self.bands, self.side, self.side), dtype=np.float32)
        low, high = np.percentile(image[:, ::3, ::3], (2, 98), axis=(1, 2), keepdims=True).astype(np.float32)
        image = np.clip((image - low) / (high - low), 0, 1)
        y, x = rng.integers(0, self.side - self.cut, 2)
        image = np.rot90(image[:, y:y + self.cut, x:x + self.cut], int(rng.integers(4)), (1, 2))
        if rng.random() < 0.5:
            image = image[:, :, ::-1]
        image = image ** rng.uniform(0.8, 1.2) + rng.standard_normal(image.shape, dtype=np.float32) * 0.01
        return torch.from_numpy(np.ascontiguousarray(image, dtype=np.float32)), i % 10


def satellite_loader(workers):
    def make():
        more = dict(num_workers=S(workers, 2), persistent_workers=True, prefetch_factor=4, pin_memory=not DRY) if workers else {}
        batches = iter(torch.utils.data.DataLoader(Fields(), batch_size=S(12, 2), **more))
        conv = lambda i, o: nn.Sequential(nn.Conv2d(i, o, 3, 2, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))
        m = last(nn.Sequential(conv(13, 64), conv(64, 128), conv(128, 256), conv(256, 512), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10)).to(D))
        optimizer = torch.optim.SGD(m.parameters(), lr=1e-4, momentum=0.9, fused=True)

        def step():
            x, y = next(batches)
            x, y = x.to(D, non_blocking=True, memory_format=torch.channels_last), y.to(D, non_blocking=True)
            optimizer.zero_grad()
            with autocast():
                loss = F.cross_entropy(m(x).float(), y)
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# Volumes of a scanner: from ordinary memory, or pinned and without waiting.
def volume_upload(ordinary):
    def make():
        side, deep = S(112, 16), torch.channels_last_3d
        volumes = [torch.randn(S(4, 1), 1, side, side, side) for _ in range(3)]
        if not ordinary:
            volumes = [pinned(v) for v in volumes]
        conv = lambda i, o, s: nn.Sequential(nn.Conv3d(i, o, 3, s, 1), nn.ReLU(inplace=True))
        m = nn.Sequential(conv(1, 32, 2), conv(32, 64, 2), conv(64, 64, 1), conv(64, 128, 2), nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(128, 4)).to(D, BF).to(memory_format=deep).eval()
        turn = [0]

        @torch.inference_mode()
        def step():
            turn[0] = (turn[0] + 1) % len(volumes)
            x = volumes[turn[0]].to(D) if ordinary else volumes[turn[0]].to(D, non_blocking=True)
            return m(x.to(BF).to(memory_format=deep))
        return step
    return make


# Photographs of a shop: bytes become normalised floats by NumPy in the step, or on the device.
def image_normalise(on_host):
    def make():
        batch, side = S(32, 2), S(160, 16)
        rng = np.random.default_rng(0)
        photos = [rng.integers(0, 256, (batch, side, side, 3), dtype=np.uint8) for _ in range(2)]
        kept = [pinned(torch.from_numpy(p)) for p in photos]
        mean, std = np.array([0.485, 0.456, 0.406], np.float32), np.array([0.229, 0.224, 0.225], np.float32)
        on_device = torch.from_numpy(mean).to(D), torch.from_numpy(std).to(D)
        conv = lambda i, o, s: nn.Sequential(nn.Conv2d(i, o, 3, s, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))
        m = last(nn.Sequential(conv(3, 64, 2), conv(64, 128, 2), conv(128, 256, 1), conv(256, 256, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 500)).to(D)).eval()
        turn = [0]

        @torch.inference_mode()
        def step():
            turn[0] ^= 1
            if on_host:
                x = (photos[turn[0]].astype(np.float32) / 255.0 - mean) / std
                x = torch.from_numpy(np.ascontiguousarray(x.transpose(0, 3, 1, 2))).to(D)
                x = last(x)
            else:
                x = kept[turn[0]].to(D, non_blocking=True)
                x = ((x.float() / 255.0 - on_device[0]) / on_device[1]).permute(0, 3, 1, 2)
            with autocast():
                return m(x).float()
        return step
    return make


# ---- What the framework does besides --------------------------------------------------------------------------------------------


# A tagger kept in float32 and run under autocast, which casts its weights in each call, or cast once when loaded.
def autocast_inference(each_call):
    def make():
        d = S(2048, 16)
        m = nn.Sequential(*[layer for _ in range(S(4, 2)) for layer in (nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d), nn.Tanh())], nn.Linear(d, 64)).to(D).eval()
        x = torch.randn(S(512, 4), d, device=D)
        if not each_call:
            m, x = m.to(BF), x.to(BF)

        @torch.inference_mode()
        def step():
            if not each_call:
                return m(x)
            with autocast():
                return m(x)
        return step
    return make


# Speech to text, compiled: each layer asks in Python whether it overflowed (a break and a wait), or clamps in any case.
class GuardedLayer(nn.Module):
    def __init__(self, d, heads, asks):
        super().__init__()
        self.heads, self.asks = heads, asks
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.o, self.fc1, self.fc2 = nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        x = x + self.o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, d))
        x = x + self.fc2(F.gelu(self.fc1(self.n2(x))))
        most = torch.finfo(x.dtype).max * 0.98
        if self.asks:
            if torch.isinf(x).any():
                x = torch.clamp(x, -most, most)
            return x
        return torch.clamp(x, -most, most)


class GuardedEncoder(nn.Module):
    def __init__(self, d, heads, layers, asks):
        super().__init__()
        self.enter = nn.Conv1d(80, d, 3, 2, 1)
        self.layers = nn.ModuleList([GuardedLayer(d, heads, asks) for _ in range(layers)])
        self.norm = nn.LayerNorm(d)

    def forward(self, sound):
        x = F.gelu(self.enter(sound)).transpose(1, 2)
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


def whisper_breaks(asks):
    def make():
        kind = S(HALF, torch.float32)
        f = compiled(GuardedEncoder(S(384, 16), S(6, 2), S(6, 2), asks).to(D, kind).eval())
        x = torch.randn(S(4, 2), 80, S(750, 16), device=D, dtype=kind)

        @torch.no_grad()
        def step():
            return f(x)
        return step
    return make


# Vehicles in street images, trained under autocast: NCHW as it comes, or channels last.
class SplitStage(nn.Module):
    def __init__(self, i, o, n):
        super().__init__()
        conv = lambda a, b, k, s=1: nn.Sequential(nn.Conv2d(a, b, k, s, k // 2, bias=False), nn.BatchNorm2d(b), nn.SiLU(inplace=True))
        self.down, self.left, self.right, self.join = conv(i, o, 3, 2), conv(o, o // 2, 1), conv(o, o // 2, 1), conv(o, o, 1)
        self.body = nn.ModuleList([nn.Sequential(conv(o // 2, o // 2, 1), conv(o // 2, o // 2, 3)) for _ in range(n)])

    def forward(self, x):
        x = self.down(x)
        y = self.left(x)
        for block in self.body:
            y = y + block(y)
        return self.join(torch.cat([y, self.right(x)], 1))


def detector_layout(channels_last):
    def make():
        c, side, batch = S(48, 8), S(320, 32), S(16, 2)
        m = nn.Sequential(SplitStage(3, c, 1), SplitStage(c, 2 * c, 2), SplitStage(2 * c, 4 * c, 2), SplitStage(4 * c, 8 * c, 1), nn.Conv2d(8 * c, 85, 1)).to(D)
        x = torch.randn(batch, 3, side, side, device=D)
        if channels_last:
            m, x = last(m), last(x)
        optimizer = torch.optim.SGD(m.parameters(), lr=1e-5, momentum=0.9, fused=True)

        def step():
            optimizer.zero_grad()
            with autocast():
                loss = F.softplus(m(x).float()).mean()
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# Large pictures made sharp tile by tile: memory given back behind each tile, or kept.
def tiles_emptied(empty):
    def make():
        c, kind, side = S(64, 8), S(HALF, torch.float32), S(192, 16)
        body = [layer for _ in range(S(6, 1)) for layer in (nn.Conv2d(c, c, 3, padding=1), nn.PReLU(c))]
        m = last(nn.Sequential(nn.Conv2d(3, c, 3, padding=1), *body, nn.Conv2d(c, 48, 3, padding=1), nn.PixelShuffle(4)).to(D, kind)).eval()
        picture = last(torch.randn(1, 3, 2 * side, 2 * side, device=D, dtype=kind))

        @torch.inference_mode()
        def step():
            out = torch.empty(1, 3, 8 * side, 8 * side, device=D, dtype=kind)
            for i in range(2):
                for j in range(2):
                    tile = m(picture[:, :, i * side:(i + 1) * side, j * side:(j + 1) * side])
                    out[:, :, 4 * i * side:4 * (i + 1) * side, 4 * j * side:4 * (j + 1) * side] = tile
                    del tile
                    if empty and not DRY:
                        torch.cuda.empty_cache()
            return out
        return step
    return make


# ---- Small and slow kernels -----------------------------------------------------------------------------------------------------


# Sentences of different length, pooled one by one in Python, or all at once by their numbers.
def ragged_pool(loop):
    def make():
        count, d = S(80, 5), S(256, 8)
        lengths = [8 + (i * 37) % 50 for i in range(count)]
        enter, leave = nn.Linear(d, d).to(D), nn.Linear(d, 20).to(D)
        m = nn.ModuleList([enter, leave])
        words, y = torch.randn(sum(lengths), d, device=D), torch.randint(0, 20, (count,), device=D)
        owner = torch.repeat_interleave(torch.arange(count), torch.tensor(lengths)).to(D)
        sizes = torch.tensor(lengths, device=D, dtype=torch.float32)[:, None]

        def step():
            m.zero_grad()
            h = F.gelu(enter(words))
            if loop:
                rows, begin = [], 0
                for length in lengths:
                    rows.append(h[begin:begin + length].mean(0))
                    begin += length
                pooled = torch.stack(rows)
            else:
                pooled = torch.zeros(count, d, device=D).index_add(0, owner, h) / sizes
            loss = F.cross_entropy(leave(pooled), y)
            loss.backward()
            return loss.detach()
        return step
    return make


# Objects in a video, each with a filter of its own: predicted and corrected one by one, or as one batch.
def kalman_loop(loop):
    def make():
        tracks = S(48, 4)
        move = torch.eye(6, device=D) + 0.1 * torch.diag(torch.ones(3, device=D), 3)
        see = torch.eye(2, 6, device=D)
        drift, blur = 0.01 * torch.eye(6, device=D), 0.1 * torch.eye(2, device=D)
        states, covers, seen = torch.randn(tracks, 6, 1, device=D), torch.eye(6, device=D).repeat(tracks, 1, 1), torch.randn(tracks, 2, 1, device=D)

        def update(x, p, z):
            x, p = move @ x, move @ p @ move.t() + drift
            s = see @ p @ see.t() + blur
            a, b, c, d = s[..., 0, 0], s[..., 0, 1], s[..., 1, 0], s[..., 1, 1]
            inverse = torch.stack([torch.stack([d, -b], -1), torch.stack([-c, a], -1)], -2) / (a * d - b * c)[..., None, None]
            gain = p @ see.t() @ inverse
            return x + gain @ (z - see @ x), p - gain @ see @ p

        @torch.no_grad()
        def step():
            if not loop:
                x, p = update(states, covers, seen)
                return torch.cat([x, p], -1)
            out = []
            for i in range(tracks):
                x, p = update(states[i], covers[i], seen[i])
                out.append(torch.cat([x, p], -1))
            return torch.stack(out)
        return step
    return make


# Spectra and their gates: one kept with time last and one with channels last, so that every read of one is across, or both alike.
def mixed_layout(across):
    def make():
        batch, channels, frames = S(32, 2), S(512, 6), S(2048, 10)
        sound = torch.randn(batch, channels, frames, device=D)
        others = [torch.randn(batch, frames, channels, device=D) for _ in range(3)]
        if not across:
            others = [o.transpose(1, 2).contiguous() for o in others]

        @torch.no_grad()
        def step():
            gate, shift, scale = (o.transpose(1, 2) if across else o for o in others)
            y = sound * gate
            y = torch.addcmul(y, shift, scale)
            y = torch.maximum(y, shift)
            return (y - gate).sum(-1)
        return step
    return make


# Clusters of customers: points added into sixteen rows, all at the same few addresses, or by a product with who belongs where.
def cluster_sums(added):
    def make():
        points, d, k = S(262144, 50), S(64, 4), S(16, 3)
        x = torch.randn(points, d, device=D)
        begin = x[:k].clone()

        @torch.no_grad()
        def step():
            centres = begin
            for _ in range(S(4, 2)):
                nearest = (centres.pow(2).sum(-1) - 2 * x @ centres.t()).argmin(-1)
                if added:
                    sums = torch.zeros(k, d, device=D).index_add_(0, nearest, x)
                    counts = torch.zeros(k, device=D).index_add_(0, nearest, torch.ones(points, device=D))
                else:
                    member = F.one_hot(nearest, k).float()
                    sums, counts = member.t() @ x, member.sum(0)
                centres = sums / counts.clamp(min=1)[:, None]
            return centres + 1.0
        return step
    return make


# Restoring two large photographs: one norm over all of each, a block of the device per picture, or its moments by the library's reduction.
def wide_norm(one_group):
    def make():
        c, side = S(32, 8), S(512, 16)
        convs = nn.ModuleList([nn.Conv2d(c, c, 3, padding=1) for _ in range(S(4, 1))]).to(D).eval()
        weight, bias = torch.ones(c, device=D), torch.zeros(c, device=D)
        x = torch.randn(2, c, side, side, device=D)

        @torch.inference_mode()
        def step():
            h = x
            for conv in convs:
                if one_group:
                    y = F.group_norm(h, 1, weight, bias)
                else:
                    variance, mean = torch.var_mean(h, (1, 2, 3), correction=0, keepdim=True)
                    scale = torch.rsqrt(variance + 1e-5) * weight[None, :, None, None]
                    y = torch.addcmul(bias[None, :, None, None] - mean * scale, h, scale)
                h = h + F.relu_(conv(y))
            return h
        return step
    return make


PAIRS = dict(
    keypoint_items=pair(keypoint_items, True, False), option_pricing=pair(option_pricing, True, False), cross_attention=pair(cross_attention, True, False),
    vae_precision=pair(vae_precision, True, False), retrieval_odd=pair(retrieval_odd, False, True), densenet_adam=pair(densenet_adam, True, False),
    fluid_graph=pair(fluid_graph, False, True), satellite_loader=pair(satellite_loader, 0, 12), volume_upload=pair(volume_upload, True, False),
    autocast_inference=pair(autocast_inference, True, False), whisper_breaks=pair(whisper_breaks, True, False), detector_layout=pair(detector_layout, False, True),
    tiles_emptied=pair(tiles_emptied, True, False), image_normalise=pair(image_normalise, True, False), ragged_pool=pair(ragged_pool, True, False),
    mixed_layout=pair(mixed_layout, True, False), cluster_sums=pair(cluster_sums, True, False), depth_masks=pair(depth_masks, True, False),
    token_overhead=pair(token_overhead, True, False), mha_weights=pair(mha_weights, True, False), focal_loss=pair(focal_loss, True, False),
    hand_adam=pair(hand_adam, True, False), loss_print=pair(loss_print, True, False), policy_training=pair(policy_training, False, True),
    kalman_loop=pair(kalman_loop, True, False), wide_norm=pair(wide_norm, True, False))


PROGRAMS = in_turns(PAIRS, HEALTHY)
COMPILED = ["gqa_train", "t5_train", "mbconv_train", "bert_train", "mamba_scan", "whisper_breaks", "wav2vec_infer", "dit_denoise", "token_overhead", "option_pricing",
            "focal_loss"]
