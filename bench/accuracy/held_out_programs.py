"""A second set of programs that no rule was read from: pairs with one fault and without it, and healthy ones. Only scored.

PROGRAMS is what recording.py records, in this order (variety first, so that a run cut short has some of everything).
planted.json says what was planted in each pair. A step returns what it computed, so that a pair can be compared.
"""
import math, os, random, sys
import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from program_parts import BF, D, DRY, HALF, S, autocast, compiled, last, pinned, replayed

SETS = [["shapes", "plain"], ["shapes", "stack"], ["plain", "memory"], ["shapes", "modules"], ["plain", "shapes_stack"], ["memory", "stack"], ["shapes", "memory"]]


def options(index):
    return SETS[index % len(SETS)]


# ---------------------------------------------------------------- pairs


# Reinforcement learning: a rollout of vectorised environments on the device. Environments that ended start again: found by
# nonzero() in every time step, or written through a mask.
class ActorCritic(nn.Module):
    def __init__(self, observations, actions, hidden):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(observations, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.policy = nn.Linear(hidden, actions)
        self.value = nn.Linear(hidden, 1)

    def forward(self, state):
        h = self.trunk(state)
        return self.policy(h), self.value(h).squeeze(-1)


def ppo_rollout(by_index):
    def make():
        envs, width, actions, horizon = S(8192, 32), 64, 8, S(16, 4)
        agent = ActorCritic(width, actions, S(1024, 32)).to(D)
        dynamics = torch.randn(width + actions, width, device=D) * 0.3
        start = torch.randn(envs, width, device=D)
        gumbel = -torch.log(-torch.log(torch.rand(horizon, envs, actions, device=D).clamp(1e-6, 1 - 1e-6)))
        one_hot = torch.eye(actions, device=D)

        @torch.no_grad()
        def step():
            state, values, rewards = start.clone(), [], []
            for t in range(horizon):
                logits, value = agent(state)
                action = (logits + gumbel[t]).argmax(-1)
                state = torch.tanh(torch.cat([state, F.embedding(action, one_hot)], -1) @ dynamics)
                ended = state[:, 0] > 0.95
                if by_index:
                    if ended.any():
                        which = ended.nonzero().squeeze(1)
                        state[which] = start[which]
                else:
                    state = torch.where(ended[:, None], start, state)
                values.append(value)
                rewards.append(state[:, 1])
            returns = torch.zeros(envs, device=D)
            for value, reward in zip(reversed(values), reversed(rewards)):
                returns = reward + 0.99 * returns
            return returns
        return step
    return make


# Graph network with typed edges: a loop over the relations, or one batched product over all of them.
def rgcn_relations(loop):
    def make():
        nodes, dim, relations, edges = S(20000, 60), S(128, 8), S(24, 3), S(4096, 20)
        weights = nn.ParameterList([nn.Parameter(torch.randn(relations, dim, dim, device=D) / dim ** 0.5) for _ in range(2)])
        own = nn.ModuleList([nn.Linear(dim, dim) for _ in range(2)]).to(D)
        features = torch.randn(nodes, dim, device=D)
        source = torch.randint(0, nodes, (relations, edges), device=D)
        target = torch.randint(0, nodes, (relations, edges), device=D)
        labels = torch.randn(nodes, dim, device=D)
        parameters = list(weights) + list(own.parameters())

        def layer(h, w, linear):
            out = linear(h)
            if loop:
                for r in range(relations):
                    out.index_add_(0, target[r], h[source[r]] @ w[r])
                return out
            messages = torch.bmm(h.index_select(0, source.flatten()).view(relations, edges, dim), w)
            return out.index_add_(0, target.flatten(), messages.flatten(0, 1))

        def step():
            for p in parameters:
                p.grad = None
            h = features
            for w, linear in zip(weights, own):
                h = F.relu(layer(h, w, linear))
            loss = F.mse_loss(h, labels)
            loss.backward()
            return loss.detach()
        return step
    return make


# Recommender: the offsets of each table's bags are made on the host and sent, or made where they are used.
class Recommender(nn.Module):
    def __init__(self, tables, rows, dim, on_host):
        super().__init__()
        self.on_host = on_host
        self.tables = nn.ModuleList([nn.EmbeddingBag(rows, dim, mode="sum") for _ in range(tables)])
        self.bottom = nn.Sequential(nn.Linear(13, 512), nn.ReLU(), nn.Linear(512, dim), nn.ReLU())
        self.register_buffer("pairs", torch.triu_indices(tables + 1, tables + 1, 1))
        self.top = nn.Sequential(nn.Linear(dim + (tables + 1) * tables // 2, 1024), nn.ReLU(), nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 1))

    def forward(self, dense, ids):
        first = self.bottom(dense)
        vectors = [first]
        for table, bags in zip(self.tables, ids):
            batch, bag = bags.shape
            if self.on_host:
                offsets = torch.arange(0, batch * bag, bag).to(bags.device)
            else:
                offsets = torch.arange(0, batch * bag, bag, device=bags.device)
            vectors.append(table(bags.flatten(), offsets))
        stack = torch.stack(vectors, 1)
        crossed = torch.bmm(stack, stack.transpose(1, 2))
        return self.top(torch.cat([first, crossed[:, self.pairs[0], self.pairs[1]]], 1))


def dlrm_offsets(on_host):
    def make():
        batch, tables, rows = S(8192, 12), S(26, 3), S(100000, 50)
        m = Recommender(tables, rows, S(64, 8), on_host).to(D).eval()
        dense = torch.rand(batch, 13, device=D)
        ids = [torch.randint(0, rows, (batch, 4), device=D) for _ in range(tables)]

        @torch.no_grad()
        def step():
            return m(dense, ids)
        return step
    return make


# Segmentation, inference in half precision: an encoder and a decoder of convolutions, NCHW or channels last.
def conv_bn(i, o, stride=1):
    return nn.Sequential(nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class Segmenter(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.stem = nn.Sequential(conv_bn(3, c), conv_bn(c, c))
        self.down1 = nn.Sequential(conv_bn(c, 2 * c, 2), conv_bn(2 * c, 2 * c))
        self.down2 = nn.Sequential(conv_bn(2 * c, 4 * c, 2), conv_bn(4 * c, 4 * c))
        self.up1 = nn.ConvTranspose2d(4 * c, 2 * c, 2, 2)
        self.mix1 = conv_bn(4 * c, 2 * c)
        self.up2 = nn.ConvTranspose2d(2 * c, c, 2, 2)
        self.mix2 = conv_bn(2 * c, c)
        self.head = nn.Conv2d(c, 24, 1)

    def forward(self, x):
        a = self.stem(x)
        b = self.down1(a)
        c = self.down2(b)
        b = self.mix1(torch.cat([self.up1(c), b], 1))
        return self.head(self.mix2(torch.cat([self.up2(b), a], 1)))


def segnet_layout(channels_last):
    def make():
        m = Segmenter(S(64, 8)).to(D, HALF if D == "cuda" else BF).eval()
        images = torch.randn(S(16, 2), 3, S(256, 16), S(256, 16), device=D, dtype=HALF if D == "cuda" else BF)
        if channels_last:
            m, images = last(m), last(images)

        @torch.inference_mode()
        def step():
            return m(images)
        return step
    return make


# A block of a diffusion U-net, trained: float32 with TF32 switched off for reproducible runs, or under bf16 autocast.
class ResidualBlock(nn.Module):
    def __init__(self, c, embedding):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(16, c), nn.Conv2d(c, c, 3, padding=1)
        self.time = nn.Linear(embedding, 2 * c)
        self.norm2, self.conv2 = nn.GroupNorm(16, c), nn.Conv2d(c, c, 3, padding=1)

    def forward(self, x, t):
        h = self.conv1(F.silu(self.norm1(x)))
        scale, shift = self.time(F.silu(t))[:, :, None, None].chunk(2, 1)
        return x + self.conv2(F.silu(self.norm2(h) * (1 + scale) + shift))


class SpatialAttention(nn.Module):
    def __init__(self, c, heads):
        super().__init__()
        self.heads, self.norm, self.qkv, self.out = heads, nn.GroupNorm(16, c), nn.Conv2d(c, 3 * c, 1), nn.Conv2d(c, c, 1)

    def forward(self, x):
        b, c, h, w = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, 3, self.heads, c // self.heads, h * w).transpose(-1, -2).contiguous().unbind(1)
        y = F.scaled_dot_product_attention(q, k, v)
        return x + self.out(y.transpose(-1, -2).reshape(b, c, h, w))


class DiffusionNet(nn.Module):
    def __init__(self, c, embedding=128):
        super().__init__()
        self.inner = nn.Conv2d(4, c, 3, padding=1)
        self.a, self.b, self.c = ResidualBlock(c, embedding), ResidualBlock(c, embedding), ResidualBlock(c, embedding)
        self.attention = SpatialAttention(c, 4)
        self.outer = nn.Conv2d(c, 4, 3, padding=1)

    def forward(self, x, t):
        h = self.a(self.inner(x), t)
        low = self.attention(self.b(F.avg_pool2d(h, 2), t))
        return self.outer(self.c(h + F.interpolate(low, scale_factor=2.0, mode="nearest"), t))


def unet_precision(full):
    def make():
        m = DiffusionNet(S(192, 32)).to(D)
        optimizer = torch.optim.AdamW(m.parameters(), lr=1e-4, fused=True)
        clean = torch.randn(S(32, 2), 4, S(32, 8), S(32, 8), device=D)
        noise, t = torch.randn_like(clean), torch.randn(S(32, 2), 128, device=D)

        def step():
            torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = not full
            optimizer.zero_grad()
            if full:
                loss = F.mse_loss(m(clean + 0.5 * noise, t), noise)
            else:
                with autocast():
                    loss = F.mse_loss(m(clean + 0.5 * noise, t).float(), noise)
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# Speech encoder (conformer blocks) trained in float32: products without TF32, or with it.
class Conformer(nn.Module):
    def __init__(self, d, heads, kernel):
        super().__init__()
        self.heads = heads
        half = lambda: nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.SiLU(), nn.Linear(4 * d, d))
        self.first, self.second = half(), half()
        self.norm_a, self.qkv, self.out = nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.norm_c, self.gate, self.mix = nn.LayerNorm(d), nn.Linear(d, 2 * d), nn.Linear(d, d)
        self.depth = nn.Conv1d(d, d, kernel, padding=kernel // 2, groups=d)
        self.norm = nn.LayerNorm(d)

    def forward(self, x):
        b, t, d = x.shape
        x = x + 0.5 * self.first(x)
        q, k, v = self.qkv(self.norm_a(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, d))
        h = F.glu(self.gate(self.norm_c(x)), -1).transpose(1, 2)
        x = x + self.mix(F.silu(self.depth(h)).transpose(1, 2))
        return self.norm(x + 0.5 * self.second(x))


def conformer_tf32(on):
    def make():
        m = nn.Sequential(*[Conformer(S(512, 32), S(8, 2), 15) for _ in range(S(4, 1))]).to(D)
        head = nn.Linear(S(512, 32), 256).to(D)
        sound = torch.randn(S(16, 2), S(400, 20), S(512, 32), device=D)
        labels = torch.randint(0, 256, (S(16, 2) * S(400, 20),), device=D)

        def step():
            torch.backends.cuda.matmul.allow_tf32 = on
            m.zero_grad()
            head.zero_grad()
            loss = F.cross_entropy(head(m(sound)).flatten(0, 1), labels)
            loss.backward()
            return loss.detach()
        return step
    return make


# Language model in training: causal attention written out with masked_fill, or scaled_dot_product_attention.
class CausalBlock(nn.Module):
    def __init__(self, d, heads, length, by_hand):
        super().__init__()
        self.heads, self.by_hand = heads, by_hand
        self.ln_1, self.c_attn, self.c_proj = nn.LayerNorm(d), nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False)
        self.ln_2, self.fc, self.proj = nn.LayerNorm(d), nn.Linear(d, 4 * d, bias=False), nn.Linear(4 * d, d, bias=False)
        self.register_buffer("causal", torch.tril(torch.ones(length, length)).view(1, 1, length, length), persistent=False)

    def forward(self, x):
        b, t, d = x.size()
        q, k, v = self.c_attn(self.ln_1(x)).split(d, dim=2)
        q, k, v = (y.view(b, t, self.heads, d // self.heads).transpose(1, 2) for y in (q, k, v))
        if self.by_hand:
            scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
            scores = scores.masked_fill(self.causal[:, :, :t, :t] == 0, float("-inf"))
            y = F.softmax(scores, dim=-1) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.c_proj(y.transpose(1, 2).contiguous().view(b, t, d))
        return x + self.proj(F.gelu(self.fc(self.ln_2(x))))


def causal_attention(by_hand):
    def make():
        d, t = S(1024, 32), S(1536, 12)
        m = nn.Sequential(*[CausalBlock(d, S(16, 2), t, by_hand) for _ in range(S(3, 1))]).to(D)
        optimizer = torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True)
        x = torch.randn(S(4, 2), t, d, device=D)

        def step():
            optimizer.zero_grad(set_to_none=True)
            with autocast():
                loss = m(x).float().pow(2).mean()
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# Vision, inference: attention inside windows with a learnt position bias, written out or given to the fused kernel as a mask.
class WindowBlock(nn.Module):
    def __init__(self, d, heads, tokens, by_hand):
        super().__init__()
        self.heads, self.by_hand = heads, by_hand
        self.norm1, self.qkv, self.proj = nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.norm2, self.mlp = nn.LayerNorm(d), nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))
        self.bias = nn.Parameter(torch.randn(1, heads, tokens, tokens) * 0.02)

    def forward(self, x):
        w, n, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).reshape(w, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        if self.by_hand:
            q = q * (c // self.heads) ** -0.5
            a = (q @ k.transpose(-2, -1) + self.bias).softmax(-1)
            y = a @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.bias.expand(w, -1, -1, -1))
        x = x + self.proj(y.transpose(1, 2).reshape(w, n, c))
        return x + self.mlp(self.norm2(x))


def window_attention(by_hand):
    def make():
        d, tokens = S(256, 16), S(64, 8)
        m = nn.Sequential(*[WindowBlock(d, S(8, 2), tokens, by_hand) for _ in range(S(3, 1))]).to(D, BF).eval()
        x = torch.randn(S(1024, 4), tokens, d, device=D, dtype=BF)

        @torch.no_grad()
        def step():
            return m(x)
        return step
    return make


# Decoder with linear position biases: the same mask is made again in each layer of each step, or once.
def alibi(heads, length, device, dtype):
    slopes = torch.exp2(-8.0 * torch.arange(1, heads + 1, device=device) / heads)
    position = torch.arange(length, device=device)
    distance = (position[None, :] - position[:, None]).float()
    bias = slopes[:, None, None] * distance
    return bias.masked_fill(distance > 0, float("-inf")).to(dtype)[None]


class AlibiLayer(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.norm, self.qkv, self.out = heads, nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.ff = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x, bias=None):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        if bias is None:
            bias = alibi(self.heads, t, D, x.dtype)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, d))
        return x + self.ff(x)


def alibi_mask(each_time):
    def make():
        d, t, heads = S(512, 16), S(2048, 12), S(8, 2)
        layers = nn.ModuleList([AlibiLayer(d, heads) for _ in range(S(4, 2))]).to(D, BF).eval()
        x = torch.randn(S(4, 2), t, d, device=D, dtype=BF)
        kept = None if each_time else alibi(heads, t, D, BF)

        @torch.no_grad()
        def step():
            h = x
            for layer in layers:
                h = layer(h, kept)
            return h
        return step
    return make


# Mixture of experts: each expert's tokens are found by torch.where, a wait for the device each, or all by one sort and one wait.
class Experts(nn.Module):
    def __init__(self, d, wide, experts, by_where):
        super().__init__()
        self.by_where, self.count = by_where, experts
        self.router = nn.Linear(d, experts, bias=False)
        self.experts = nn.ModuleList([nn.Sequential(nn.Linear(d, wide), nn.SiLU(), nn.Linear(wide, d)) for _ in range(experts)])
        self.register_buffer("numbers", torch.arange(experts))

    def forward(self, x):
        weight, chosen = self.router(x).float().softmax(-1).topk(2, -1)
        weight = (weight / weight.sum(-1, keepdim=True)).to(x.dtype)
        out = torch.zeros_like(x)
        if self.by_where:
            for e, expert in enumerate(self.experts):
                token, slot = torch.where(chosen == e)
                out.index_add_(0, token, expert(x[token]) * weight[token, slot, None])
            return out
        flat = chosen.flatten()
        order = flat.argsort(stable=True)
        sizes = (flat[:, None] == self.numbers).sum(0).tolist()
        token = order // 2
        parts = x[token].split(sizes)
        y = torch.cat([expert(part) for expert, part in zip(self.experts, parts)])
        return out.index_add_(0, token, y * weight.flatten()[order, None])


def moe_routing(by_where):
    def make():
        d = S(512, 16)
        layers = nn.ModuleList([Experts(d, S(1024, 32), S(16, 4), by_where) for _ in range(2)]).to(D, BF).eval()
        x = torch.randn(S(8192, 24), d, device=D, dtype=BF)

        @torch.no_grad()
        def step():
            h = x
            for layer in layers:
                h = h + layer(F.layer_norm(h, (d,)))
            return h
        return step
    return make


# Image classification by a mixer of perceptrons: Adam tensor by tensor, or in one fused kernel.
class MixerLayer(nn.Module):
    def __init__(self, patches, d):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.tokens = nn.Sequential(nn.Linear(patches, patches), nn.GELU(), nn.Linear(patches, patches))
        self.channels = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        x = x + self.tokens(self.n1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.n2(x))


def mixer_adam(one_by_one):
    def make():
        patches, d = S(196, 16), S(384, 16)
        m = nn.Sequential(nn.Linear(768, d), *[MixerLayer(patches, d) for _ in range(S(8, 2))], nn.LayerNorm(d)).to(D)
        head = nn.Linear(d, 100).to(D)
        parameters = list(m.parameters()) + list(head.parameters())
        optimizer = torch.optim.Adam(parameters, lr=1e-4, **(dict(foreach=False) if one_by_one else dict(fused=True)))
        x = torch.randn(S(32, 2), patches, 768, device=D)
        labels = torch.randint(0, 100, (S(32, 2),), device=D)

        def step():
            with autocast():
                loss = F.cross_entropy(head(m(x).mean(1)).float(), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# A masked language model with norm and activation as in old papers' code, or by the library's kernels.
class HandNorm(nn.Module):
    def __init__(self, d, eps=1e-12):
        super().__init__()
        self.weight, self.bias, self.eps = nn.Parameter(torch.ones(d)), nn.Parameter(torch.zeros(d)), eps

    def forward(self, x):
        u = x.mean(-1, keepdim=True)
        s = (x - u).pow(2).mean(-1, keepdim=True)
        return self.weight * ((x - u) / torch.sqrt(s + self.eps)) + self.bias


def hand_gelu(x):
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x * x * x)))


class EncoderLayer(nn.Module):
    def __init__(self, d, heads, by_hand):
        super().__init__()
        norm = HandNorm if by_hand else lambda n: nn.LayerNorm(n, eps=1e-12)
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
        self.norm1, self.norm2 = norm(d), norm(d)
        self.act = hand_gelu if by_hand else lambda x: F.gelu(x, approximate="tanh")

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        x = self.norm1(x + self.o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, d)))
        return self.norm2(x + self.down(self.act(self.up(x))))


def hand_norms(by_hand):
    def make():
        d = S(768, 32)
        m = nn.ModuleList([EncoderLayer(d, S(12, 2), by_hand) for _ in range(S(4, 1))]).to(D)
        x = torch.randn(S(32, 2), S(256, 10), d, device=D)
        target = torch.randn_like(x)

        def step():
            m.zero_grad()
            with autocast():
                h = x
                for layer in m:
                    h = layer(h)
            loss = F.mse_loss(h.float(), target)
            loss.backward()
            return loss.detach()
        return step
    return make


# A modern decoder's prefill: root-mean-square norm, rotary positions, gated activation, in eager mode or compiled.
class RotaryBlock(nn.Module):
    def __init__(self, d, heads, wide):
        super().__init__()
        self.heads = heads
        self.g1, self.g2 = nn.Parameter(torch.ones(d)), nn.Parameter(torch.ones(d))
        self.qkv, self.o = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False)
        self.gate, self.up, self.down = nn.Linear(d, wide, bias=False), nn.Linear(d, wide, bias=False), nn.Linear(wide, d, bias=False)

    @staticmethod
    def norm(x, g):
        y = x.float()
        return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * g

    @staticmethod
    def rotate(x, cos, sin):
        a, b = x.chunk(2, -1)
        return x * cos + torch.cat((-b, a), -1) * sin

    def forward(self, x, cos, sin):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm(x, self.g1)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(self.rotate(q, cos, sin), self.rotate(k, cos, sin), v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(b, t, d))
        h = self.norm(x, self.g2)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class RotaryModel(nn.Module):
    def __init__(self, layers, d, heads, wide, length):
        super().__init__()
        self.layers = nn.ModuleList([RotaryBlock(d, heads, wide) for _ in range(layers)])
        half = d // heads // 2
        angle = torch.arange(length)[:, None] / 10000.0 ** (torch.arange(half) / half)
        self.register_buffer("cos", torch.cat([angle, angle], -1).cos())
        self.register_buffer("sin", torch.cat([angle, angle], -1).sin())

    def forward(self, x):
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        return x


def llama_pointwise(eager):
    def make():
        t, d = S(1024, 12), S(1024, 32)
        m = RotaryModel(2, d, S(16, 2), S(2816, 48), t).to(D, BF).eval()
        f = m if eager else compiled(m)
        x = torch.randn(S(8, 2), t, d, device=D, dtype=BF)

        @torch.no_grad()
        def step():
            return f(x)
        return step
    return make


# Contrastive training of images and texts: the loss anchor by anchor, or as one matrix.
def clip_pairs(loop):
    def make():
        batch, d = S(96, 6), S(768, 16)
        tower = lambda: nn.Sequential(nn.Linear(d, 2 * d), nn.ReLU(), nn.Linear(2 * d, d)).to(D)
        image, text = tower(), tower()
        scale = nn.Parameter(torch.tensor(2.6, device=D))
        a, b = torch.randn(batch, d, device=D), torch.randn(batch, d, device=D)
        targets = torch.arange(batch, device=D)
        optimizer = torch.optim.SGD([*image.parameters(), *text.parameters(), scale], lr=1e-4)

        def step():
            optimizer.zero_grad()
            u, v = F.normalize(image(a), dim=-1), F.normalize(text(b), dim=-1)
            if loop:
                loss = 0.0
                for i in range(batch):
                    logits = (v @ u[i]) * scale.exp()
                    loss = loss + F.cross_entropy(logits, targets[i]) / batch
            else:
                loss = F.cross_entropy(u @ v.t() * scale.exp(), targets)
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# Spoken commands: spectrograms computed by the loading process itself, or by workers.
class Utterances(torch.utils.data.Dataset):
    samples, window, hop, bands = 16000, 400, 160, 80

    def __init__(self):
        edges = np.linspace(0, 257, self.bands + 2)
        bins = np.arange(257)[:, None]
        self.mel = np.clip(np.minimum((bins - edges[:-2]) / (edges[1:-1] - edges[:-2]), (edges[2:] - bins) / (edges[2:] - edges[1:-1])), 0, None).astype(np.float32)
        self.hann = np.hanning(self.window).astype(np.float32)

    def __len__(self):
        return 200000

    def __getitem__(self, i):
        wave = np.random.default_rng(i).standard_normal(self.samples, dtype=np.float32)
        wave = np.append(wave[:1], wave[1:] - 0.97 * wave[:-1])
        frames = np.lib.stride_tricks.sliding_window_view(wave, self.window)[::self.hop] * self.hann
        power = np.abs(np.fft.rfft(frames, 512)) ** 2
        features = np.log(power.astype(np.float32) @ self.mel + 1e-6)
        return torch.from_numpy((features - features.mean()) / features.std()), i % 35


class CommandNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(80, 256, 5, 2, 2), nn.ReLU(), nn.Conv1d(256, 256, 5, 2, 2), nn.ReLU())
        self.gru = nn.GRU(256, 512, 2, batch_first=True)
        self.out = nn.Linear(512, 35)

    def forward(self, x):
        return self.out(self.gru(self.conv(x.transpose(1, 2)).transpose(1, 2))[0][:, -1])


def speech_loader(workers):
    def make():
        more = dict(num_workers=S(workers, 2), persistent_workers=True, prefetch_factor=2, pin_memory=not DRY) if workers else {}
        batches = iter(torch.utils.data.DataLoader(Utterances(), batch_size=S(16, 4), **more))
        m = CommandNet().to(D)
        optimizer = torch.optim.Adam(m.parameters(), lr=1e-4, fused=True)

        def step():
            x, y = next(batches)
            x, y = x.to(D, non_blocking=True), y.to(D, non_blocking=True)
            optimizer.zero_grad()
            loss = F.cross_entropy(m(x), y)
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# Video: clips of bytes go to the device from ordinary memory, or from pinned memory and without waiting.
def video_upload(ordinary):
    def make():
        clips = [torch.randint(0, 256, (S(4, 1), 16, 3, S(224, 16), S(224, 16)), dtype=torch.uint8) for _ in range(2)]
        if not ordinary:
            clips = [pinned(c) for c in clips]
        m = last(nn.Sequential(conv_bn(3, 32, 2), conv_bn(32, 64, 2), conv_bn(64, 128, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten()).to(D, BF)).eval()
        over_time, head = nn.Conv1d(128, 128, 3, padding=1).to(D, BF), nn.Linear(128, 400).to(D, BF)
        turn = [0]

        @torch.inference_mode()
        def step():
            turn[0] ^= 1
            clip = clips[turn[0]].to(D) if ordinary else clips[turn[0]].to(D, non_blocking=True)
            b, t = clip.shape[:2]
            frames = last(clip.flatten(0, 1).to(BF).div(255))
            h = m(frames).view(b, t, -1).transpose(1, 2)
            return head(F.relu(over_time(h)).mean(-1))
        return step
    return make


# Text generation with a cache of keys and values: asks the device after each token whether all have ended, or once at the end.
class CachedLayer(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out, self.up, self.down = nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x, keys, values, at):
        b, _, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, 1, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        keys[:, :, at:at + 1], values[:, :, at:at + 1] = k, v
        y = F.scaled_dot_product_attention(q, keys[:, :, :at + 1], values[:, :, :at + 1])
        x = x + self.out(y.transpose(1, 2).reshape(b, 1, d))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


def kv_generate(ask_each):
    def make():
        d, heads, batch, vocabulary, prompt, new = S(1024, 16), S(16, 2), S(64, 2), S(32000, 40), S(512, 4), S(8, 3)
        layers = nn.ModuleList([CachedLayer(d, heads) for _ in range(S(4, 2))]).to(D, BF).eval()
        embed = nn.Embedding(vocabulary, d).to(D, BF)
        shape = (batch, heads, prompt + new, d // heads)
        caches = [(torch.randn(shape, device=D, dtype=BF), torch.randn(shape, device=D, dtype=BF)) for _ in layers]
        first = torch.randint(0, vocabulary, (batch,), device=D)
        end = vocabulary + 1  # that no text ends is what keeps all steps alike

        @torch.inference_mode()
        def step():
            token, ended, said = first, torch.zeros(batch, dtype=torch.bool, device=D), []
            for i in range(new):
                x = embed(token)[:, None]
                for layer, (keys, values) in zip(layers, caches):
                    x = layer(x, keys, values, prompt + i)
                token = F.linear(x[:, 0], embed.weight).argmax(-1)
                ended |= token == end
                said.append(token)
                if ask_each and ended.all().item():
                    break
            text = torch.stack(said, 1)
            if not ask_each:
                ended.all().item()
            return text
        return step
    return make


# A small vocoder of dilated convolutions, compiled: in the default mode, or with CUDA graphs.
class Vocoder(nn.Module):
    def __init__(self, c, layers):
        super().__init__()
        self.enter = nn.Conv1d(1, c, 1)
        self.gates = nn.ModuleList([nn.Conv1d(c, 2 * c, 3, padding=2 ** (i % 6), dilation=2 ** (i % 6)) for i in range(layers)])
        self.skips = nn.ModuleList([nn.Conv1d(c, c, 1) for _ in range(layers)])
        self.leave = nn.Conv1d(c, 1, 1)

    def forward(self, x):
        h, total = self.enter(x), 0.0
        for gate, skip in zip(self.gates, self.skips):
            a, b = gate(h).chunk(2, 1)
            y = skip(torch.tanh(a) * torch.sigmoid(b))
            h, total = (h + y) * 0.7071, total + y
        return self.leave(F.relu(total))


def vocoder_graphs(graphs):
    def make():
        m = Vocoder(S(64, 8), S(18, 3)).to(D, BF).eval()
        f = compiled(m, mode="reduce-overhead") if graphs else compiled(m)
        x = torch.randn(1, 1, S(2048, 64), device=D, dtype=BF)

        @torch.no_grad()
        def step():
            return f(x)
        return step
    return make


# Sampling of a small diffusion model, ten steps of denoising: launched op by op, or captured in a CUDA graph.
class Denoiser(nn.Module):
    def __init__(self, d, layers):
        super().__init__()
        self.layers = nn.ModuleList([nn.Sequential(nn.LayerNorm(d), nn.Linear(d, d), nn.SiLU(), nn.Linear(d, d)) for _ in range(layers)])
        self.times = nn.Embedding(10, d)

    def forward(self, x, t):
        h = x + self.times.weight[t]
        for layer in self.layers:
            h = h + layer(h)
        return h


def sampler_graph(captured):
    def make():
        d = S(512, 16)
        m = Denoiser(d, S(5, 2)).to(D, BF).eval()
        start = torch.randn(S(512, 4), d, device=D, dtype=BF)
        alphas = [0.9 ** (i + 1) for i in range(10)]

        def sample():
            with torch.no_grad():
                x = start
                for t in reversed(range(10)):
                    eps = m(x, t) * 0.1
                    clean = (x - (1 - alphas[t]) ** 0.5 * eps) / alphas[t] ** 0.5
                    x = clean.clamp(-3, 3) * 0.98 + 0.02 * eps
                return x
        return replayed(sample) if captured else sample
    return make


# A transformer over the columns of a table, compiled: each block reports to a Python list half way (a break), or returns its figure.
reported = []


@torch._dynamo.disable
def report(value):
    reported.append(value)


class ColumnBlock(nn.Module):
    def __init__(self, d, heads, breaks):
        super().__init__()
        self.heads, self.breaks = heads, breaks
        self.n1, self.qkv, self.out = nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.n2, self.up, self.down = nn.LayerNorm(d), nn.Linear(d, 2 * d), nn.Linear(d, d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, d))
        peak = x.abs().amax()
        if self.breaks:
            report(peak)
        a, g = self.up(self.n2(x)).chunk(2, -1)
        x = x + self.down(a * F.gelu(g))
        return x if self.breaks else (x, peak)


class ColumnModel(nn.Module):
    def __init__(self, d, heads, breaks):
        super().__init__()
        self.breaks = breaks
        self.b1, self.b2, self.b3, self.b4, self.b5, self.b6 = (ColumnBlock(d, heads, breaks) for _ in range(6))
        self.head = nn.Linear(d, 1)

    def forward(self, x):
        if self.breaks:
            x = self.b1(x)
            x = self.b2(x)
            x = self.b3(x)
            x = self.b4(x)
            x = self.b5(x)
            x = self.b6(x)
            return self.head(x.mean(1))
        x, p1 = self.b1(x)
        x, p2 = self.b2(x)
        x, p3 = self.b3(x)
        x, p4 = self.b4(x)
        x, p5 = self.b5(x)
        x, p6 = self.b6(x)
        return self.head(x.mean(1)), (p1, p2, p3, p4, p5, p6)


def table_breaks(breaks):
    def make():
        m = ColumnModel(S(192, 16), S(8, 2), breaks).to(D, BF).eval()
        f = compiled(m)
        x = torch.randn(S(256, 4), 32, S(192, 16), device=D, dtype=BF)

        @torch.no_grad()
        def step():
            reported.clear()
            y = f(x)
            if not breaks:
                y, peaks = y
                reported.extend(peaks)
            return y
        return step
    return make


# A gated recurrent cell written out in half precision: the float32 weights are cast in each time step, or once when loaded.
def gru_casts(each_step):
    def make():
        hidden, batch, length = S(1536, 16), S(1024, 3), S(24, 4)
        recurrent = nn.Parameter(torch.randn(3 * hidden, hidden, device=D) / hidden ** 0.5)
        enter = nn.Parameter(torch.randn(3 * hidden, 256, device=D) / 16)
        bias = nn.Parameter(torch.zeros(3 * hidden, device=D))
        loaded = [p.detach().to(BF) for p in (recurrent, enter, bias)]
        x = torch.randn(length, batch, 256, device=D, dtype=BF)

        @torch.no_grad()
        def step():
            h = torch.zeros(batch, hidden, device=D, dtype=BF)
            for t in range(length):
                w, u, b = [p.to(BF) for p in (recurrent, enter, bias)] if each_step else loaded
                ir, iz, ic = F.linear(x[t], u, b).chunk(3, -1)
                hr, hz, hc = F.linear(h, w).chunk(3, -1)
                r, z = torch.sigmoid(ir + hr), torch.sigmoid(iz + hz)
                h = torch.lerp(torch.tanh(ic + r * hc), h, z)
            return h
        return step
    return make


# A residual network in training that gives its memory back after each step, or keeps it.
class Bottleneck(nn.Module):
    def __init__(self, c, inner):
        super().__init__()
        self.a, self.b, self.c = nn.Conv2d(c, inner, 1, bias=False), nn.Conv2d(inner, inner, 3, padding=1, bias=False), nn.Conv2d(inner, c, 1, bias=False)
        self.na, self.nb, self.nc = nn.BatchNorm2d(inner), nn.BatchNorm2d(inner), nn.BatchNorm2d(c)

    def forward(self, x):
        y = F.relu(self.na(self.a(x)))
        y = F.relu(self.nb(self.b(y)))
        return F.relu(x + self.nc(self.c(y)))


def residual_net(c, inner, blocks):
    return nn.Sequential(conv_bn(3, c, 2), nn.MaxPool2d(2), *[Bottleneck(c, inner) for _ in range(blocks)], nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(c, 100))


def image_training(batch, c, inner, blocks, side, empty):
    m = last(residual_net(c, inner, blocks).to(D))
    optimizer = torch.optim.SGD(m.parameters(), lr=1e-3, momentum=0.9, fused=True)
    x, y = last(torch.randn(batch, 3, side, side, device=D)), torch.randint(0, 100, (batch,), device=D)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with autocast():
            loss = F.cross_entropy(m(x).float(), y)
        loss.backward()
        optimizer.step()
        if empty and D == "cuda":
            torch.cuda.empty_cache()
        return loss.detach()
    return step


def resnet_emptied(empty):
    return lambda: image_training(S(64, 2), S(256, 16), S(64, 8), S(6, 1), S(192, 16), empty)


# A perceptron on a table of 1021 columns with layers of 2045, or the same padded with zeros to sizes that suit the tensor cores.
def tabular_odd(padded):
    def make():
        sizes = S([1021, 2045, 2045, 2045, 2045, 33], [13, 21, 21, 3])
        up = lambda n: (n + 7) // 8 * 8 if n < 1000 else (n + 63) // 64 * 64
        x = torch.randn(S(8192, 4), sizes[0], device=D, dtype=BF)
        layers = nn.ModuleList()
        for i, o in zip(sizes, sizes[1:]):
            plain = nn.Linear(i, o).to(D, BF)
            if padded:
                wide = nn.Linear(up(i), up(o)).to(D, BF)
                with torch.no_grad():
                    wide.weight.zero_()
                    wide.bias.zero_()
                    wide.weight[:o, :i] = plain.weight
                    wide.bias[:o] = plain.bias
                layers.append(wide)
            else:
                torch.nn.Linear(up(i), up(o))  # draws as many numbers as the other
                layers.append(plain)
        if padded:
            x = F.pad(x, (0, up(sizes[0]) - sizes[0]))

        @torch.inference_mode()
        def step():
            h = x
            for layer in layers[:-1]:
                h = F.relu(layer(h))
            return layers[-1](h)[:, :sizes[-1]]
        return step
    return make


# Deep Q-learning: batches are gathered from a Python list of frames in the step, or indexed in a buffer on the device.
class QNetwork(nn.Module):
    def __init__(self, actions):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(4, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Conv2d(64, 64, 3), nn.ReLU(), nn.Flatten())
        self.head = nn.Sequential(nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, actions))

    def forward(self, frames):
        return self.head(self.conv(frames.float() / 255))


def dqn_replay(on_host):
    def make():
        held, batch, actions = S(2000, 30), S(128, 4), 6
        rng = np.random.default_rng(0)
        memory = [(rng.integers(0, 256, (4, 84, 84), dtype=np.uint8), int(rng.integers(actions)), float(rng.random()), i) for i in range(held)]
        draws = [rng.integers(0, held - 1, batch).tolist() for _ in range(16)]
        online, target = QNetwork(actions).to(D), QNetwork(actions).to(D)
        optimizer = torch.optim.Adam(online.parameters(), lr=1e-5, fused=True)
        if not on_host:
            frames = torch.from_numpy(np.stack([m[0] for m in memory])).to(D)
            acted, earned = torch.tensor([m[1] for m in memory], device=D), torch.tensor([m[2] for m in memory], device=D)
            drawn = torch.tensor(draws, device=D)
        turn = [0]

        def step():
            turn[0] = (turn[0] + 1) % len(draws)
            if on_host:
                rows = [memory[i] for i in draws[turn[0]]]
                after = [memory[i + 1] for i in draws[turn[0]]]
                state = torch.from_numpy(np.stack([r[0] for r in rows])).to(D)
                following = torch.from_numpy(np.stack([r[0] for r in after])).to(D)
                action, reward = torch.tensor([r[1] for r in rows]).to(D), torch.tensor([r[2] for r in rows]).to(D)
            else:
                index = drawn[turn[0]]
                state, following, action, reward = frames[index], frames[index + 1], acted[index], earned[index]
            with torch.no_grad():
                wanted = reward + 0.99 * target(following).max(1).values
            value = online(state).gather(1, action[:, None]).squeeze(1)
            loss = F.smooth_l1_loss(value, wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    return make


# Time series: LSTMCell in a Python loop over the time steps, or the library's LSTM over all of them.
def lstm_cells(loop):
    def make():
        batch, length, width, hidden = S(64, 3), S(48, 5), S(128, 8), S(256, 8)
        whole = nn.LSTM(width, hidden, batch_first=True).to(D)
        cell = nn.LSTMCell(width, hidden).to(D)
        cell.load_state_dict({k[:-3]: v for k, v in whole.state_dict().items()})
        head = nn.Linear(hidden, 1).to(D)
        x, y = torch.randn(batch, length, width, device=D), torch.randn(batch, 1, device=D)
        m = cell if loop else whole

        def step():
            m.zero_grad()
            head.zero_grad()
            if loop:
                h = c = torch.zeros(batch, hidden, device=D)
                for t in range(length):
                    h, c = cell(x[:, t], (h, c))
            else:
                h = whole(x)[0][:, -1]
            loss = F.mse_loss(head(h), y)
            loss.backward()
            return loss.detach()
        return step
    return make


# Self-supervised training: the teacher follows the student parameter by parameter, or by one list operation.
def ema_loop(one_by_one):
    def make():
        d = S(512, 8)
        net = lambda: nn.Sequential(*[layer for _ in range(S(16, 2)) for layer in (nn.Linear(d, d), nn.LayerNorm(d), nn.ReLU())]).to(D)
        student, teacher = net(), net().requires_grad_(False)
        optimizer = torch.optim.SGD(student.parameters(), lr=1e-3, fused=True)
        a, b = torch.randn(S(1024, 4), d, device=D), torch.randn(S(1024, 4), d, device=D)
        theirs, ours = list(teacher.parameters()), list(student.parameters())

        def step():
            with torch.no_grad():
                goal = F.normalize(teacher(b), dim=-1)
            loss = 2 - 2 * (F.normalize(student(a), dim=-1) * goal).sum(-1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                if one_by_one:
                    for t, s in zip(theirs, ours):
                        t.mul_(0.99).add_(s, alpha=0.01)
                else:
                    torch._foreach_mul_(theirs, 0.99)
                    torch._foreach_add_(theirs, ours, alpha=0.01)
            return loss.detach()
        return step
    return make


# Masked language modelling: which tokens are hidden is decided in Python in the step, or by the device.
def mlm_masking(in_python):
    def make():
        vocabulary, d, batch, length = S(8192, 50), S(512, 16), S(24, 2), S(256, 100)
        embed = nn.Embedding(vocabulary, d).to(D, BF)
        m = nn.Sequential(*[WindowBlock(d, S(8, 2), length, False) for _ in range(S(4, 1))]).to(D, BF)
        head = nn.Linear(d, vocabulary).to(D, BF)
        text = torch.randint(5, vocabulary, (batch, length))
        rows, on_device = text.tolist(), text.to(D)
        chance = random.Random(0)
        modules = nn.ModuleList([embed, m, head])

        def step():
            if in_python:
                tokens, labels = [], []
                for row in rows:
                    hidden = [chance.random() < 0.15 for _ in row]
                    tokens.append([4 if h else t for t, h in zip(row, hidden)])
                    labels.append([t if h else -100 for t, h in zip(row, hidden)])
                tokens, labels = torch.tensor(tokens).to(D), torch.tensor(labels).to(D)
            else:
                hidden = torch.rand(batch, length, device=D) < 0.15
                tokens, labels = on_device.masked_fill(hidden, 4), on_device.masked_fill(~hidden, -100)
            modules.zero_grad()
            loss = F.cross_entropy(head(m(embed(tokens))).flatten(0, 1).float(), labels.flatten())
            loss.backward()
            return loss.detach()
        return step
    return make


# ---------------------------------------------------------------- healthy programs


def gpt_train_compiled():
    d, t = S(1024, 32), S(1024, 12)
    m = RotaryModel(S(3, 1), d, S(16, 2), S(2816, 48), t).to(D)
    f = compiled(m)
    optimizer = torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True)
    x = torch.randn(S(8, 2), t, d, device=D)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with autocast():
            loss = f(x).float().pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss.detach()
    return step


def resnet_train():
    return image_training(S(128, 2), S(512, 16), S(128, 8), S(4, 1), S(224, 16), False)


def bert_batch_infer():
    d = S(1024, 16)
    m = nn.ModuleList([EncoderLayer(d, S(16, 2), False) for _ in range(S(4, 1))]).to(D, BF).eval()
    x = torch.randn(S(64, 2), S(256, 6), d, device=D, dtype=BF)

    @torch.inference_mode()
    def step():
        h = x
        for layer in m:
            h = layer(h)
        return h
    return step


def vit_replay():
    d = S(384, 16)
    patch = nn.Conv2d(3, d, 16, 16).to(D, BF).eval()
    m = nn.Sequential(*[EncoderLayer(d, S(6, 2), False) for _ in range(S(8, 1))]).to(D, BF).eval()
    head = nn.Linear(d, 1000).to(D, BF)
    images = torch.randn(S(16, 2), 3, S(224, 32), S(224, 32), device=D, dtype=BF)

    def infer():
        with torch.no_grad():
            return head(m(patch(images).flatten(2).transpose(1, 2)).mean(1))
    return replayed(infer)


def wide_mlp_train():
    d = S(4096, 16)
    m = nn.Sequential(nn.Linear(d, 2 * d), nn.ReLU(), nn.Linear(2 * d, 2 * d), nn.ReLU(), nn.Linear(2 * d, d)).to(D, BF)
    optimizer = torch.optim.AdamW(m.parameters(), lr=1e-6, fused=True)
    x, y = torch.randn(S(4096, 4), d, device=D, dtype=BF), torch.randn(S(4096, 4), d, device=D, dtype=BF)

    def step():
        optimizer.zero_grad()
        loss = F.mse_loss(m(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()
    return step


def segment_batch_infer():
    m = last(Segmenter(S(96, 8)).to(D, BF)).eval()
    x = last(torch.randn(S(24, 2), 3, S(320, 16), S(320, 16), device=D, dtype=BF))

    @torch.inference_mode()
    def step():
        return m(x)
    return step


def long_context():
    heads, t, hd = S(16, 2), S(8192, 16), S(128, 8)
    q, k, v = (torch.randn(1, heads, t, hd, device=D, dtype=BF, requires_grad=True) for _ in range(3))
    up = torch.randn(1, heads, t, hd, device=D, dtype=BF)

    def step():
        q.grad = k.grad = v.grad = None
        F.scaled_dot_product_attention(q, k, v, is_causal=True).backward(up)
        return q.grad
    return step


def lstm_wide():
    m = nn.LSTM(S(1024, 8), S(1024, 8), 2).to(D, HALF if D == "cuda" else torch.float32).eval()
    x = torch.randn(S(64, 4), S(512, 2), S(1024, 8), device=D, dtype=HALF if D == "cuda" else torch.float32)

    @torch.no_grad()
    def step():
        return m(x)[0]
    return step


def prefetched_scoring():
    """Batches come from pinned memory on a stream of their own, one ahead of the products that use them."""
    d, batch = S(4096, 16), S(4096, 4)
    m = nn.Sequential(*[layer for _ in range(4) for layer in (nn.Linear(d, d), nn.ReLU())]).to(D, BF).eval()
    waiting = [pinned(torch.randn(batch, d, dtype=BF)) for _ in range(2)]
    slots = [w.to(D) for w in waiting]
    if DRY:
        return lambda: m(slots[0]).detach()
    side = torch.cuda.Stream()
    ready, free = [torch.cuda.Event() for _ in range(2)], [torch.cuda.Event() for _ in range(2)]
    turn = [0]

    @torch.no_grad()
    def step():
        now, ahead = turn[0], turn[0] ^ 1
        turn[0] = ahead
        with torch.cuda.stream(side):
            side.wait_event(free[ahead])
            slots[ahead].copy_(waiting[ahead], non_blocking=True)
            ready[ahead].record(side)
        torch.cuda.current_stream().wait_event(ready[now])
        y = m(slots[now])
        free[now].record()
        return y
    return step


def moe_capacity():
    experts, capacity, d = S(16, 2), S(1024, 4), S(1024, 8)
    up = nn.Parameter(torch.randn(experts, d, 4 * d, device=D, dtype=BF) * 0.02)
    down = nn.Parameter(torch.randn(experts, 4 * d, d, device=D, dtype=BF) * 0.02)
    tokens = torch.randn(experts * capacity, d, device=D, dtype=BF)
    route = torch.randperm(experts * capacity, device=D)
    back = route.argsort()

    @torch.no_grad()
    def step():
        x = tokens.index_select(0, route).view(experts, capacity, d)
        y = torch.bmm(F.relu_(torch.bmm(x, up)), down)
        return y.view(-1, d).index_select(0, back)
    return step


def simclr_train_compiled():
    d, batch = S(2048, 16), S(8192, 6)
    m = nn.Sequential(nn.Linear(d, d), nn.GELU(), nn.Linear(d, S(512, 8))).to(D)
    targets = torch.arange(batch, device=D)
    a, b = torch.randn(batch, d, device=D), torch.randn(batch, d, device=D)

    def loss_of(a, b):
        u, v = F.normalize(m(a), dim=-1), F.normalize(m(b), dim=-1)
        return F.cross_entropy((u @ v.t()).float() * 10.0, targets)
    f = compiled(loss_of)
    optimizer = torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True)

    def step():
        optimizer.zero_grad()
        with autocast():
            loss = f(a, b)
        loss.backward()
        optimizer.step()
        return loss.detach()
    return step


def rerank_reduce_overhead():
    d = S(512, 16)
    m = nn.Sequential(*[WindowBlock(d, S(8, 2), S(128, 4), False) for _ in range(3)]).to(D, BF).eval()
    f = compiled(m, mode="reduce-overhead")
    x = torch.randn(S(64, 2), S(128, 4), d, device=D, dtype=BF)

    @torch.no_grad()
    def step():
        return f(x)
    return step


def upscaler_compiled():
    c = S(128, 8)
    body = [layer for _ in range(4) for layer in (nn.Conv2d(c, c, 3, padding=1), nn.LeakyReLU(0.2))]
    m = last(nn.Sequential(nn.Conv2d(16, c, 3, padding=1), *body, nn.Conv2d(c, 64, 3, padding=1), nn.PixelShuffle(2)).to(D, HALF if D == "cuda" else BF)).eval()
    f = compiled(m)
    x = last(torch.randn(S(8, 1), 16, S(256, 8), S(256, 8), device=D, dtype=HALF if D == "cuda" else BF))

    @torch.no_grad()
    def step():
        return f(x)
    return step


def decoder_replay():
    """One token for each of many sequences: products of thin matrices and attention over a long cache, in one CUDA graph."""
    d, heads, batch, held = S(2048, 16), S(16, 2), S(64, 2), S(2048, 8)
    layers = nn.ModuleList([CachedLayer(d, heads) for _ in range(S(4, 1))]).to(D, BF).eval()
    shape = (batch, heads, held, d // heads)
    caches = [(torch.randn(shape, device=D, dtype=BF), torch.randn(shape, device=D, dtype=BF)) for _ in layers]
    x = torch.randn(batch, 1, d, device=D, dtype=BF)

    def decode():
        with torch.no_grad():
            h = x
            for layer, (keys, values) in zip(layers, caches):
                h = layer(h, keys, values, held - 1)
            return h
    return replayed(decode)


def vision_train_tf32():
    m = nn.Sequential(*[nn.Sequential(nn.Linear(S(3072, 12), S(3072, 12)), nn.ReLU()) for _ in range(5)]).to(D)
    optimizer = torch.optim.SGD(m.parameters(), lr=1e-4, momentum=0.9, fused=True)
    x = torch.randn(S(4096, 4), S(3072, 12), device=D)

    def step():
        optimizer.zero_grad()
        loss = m(x).mean()
        loss.backward()
        optimizer.step()
        return loss.detach()
    return step


def pair(maker, fault, mended):
    return {"fault": maker(fault), "mended": maker(mended)}


PROGRAMS = dict(
    ppo_rollout=pair(ppo_rollout, True, False), segnet_layout=pair(segnet_layout, False, True), gpt_train_compiled=gpt_train_compiled,
    llama_pointwise=pair(llama_pointwise, True, False), speech_loader=pair(speech_loader, 0, 10), resnet_train=resnet_train,
    rgcn_relations=pair(rgcn_relations, True, False), causal_attention=pair(causal_attention, True, False), vit_replay=vit_replay,
    mixer_adam=pair(mixer_adam, True, False), table_breaks=pair(table_breaks, True, False), bert_batch_infer=bert_batch_infer,
    tabular_odd=pair(tabular_odd, False, True), video_upload=pair(video_upload, True, False), wide_mlp_train=wide_mlp_train,
    conformer_tf32=pair(conformer_tf32, False, True), vocoder_graphs=pair(vocoder_graphs, False, True), segment_batch_infer=segment_batch_infer,
    gru_casts=pair(gru_casts, True, False), resnet_emptied=pair(resnet_emptied, True, False), long_context=long_context,
    dqn_replay=pair(dqn_replay, True, False), moe_routing=pair(moe_routing, True, False), simclr_train_compiled=simclr_train_compiled,
    hand_norms=pair(hand_norms, True, False), alibi_mask=pair(alibi_mask, True, False), prefetched_scoring=prefetched_scoring,
    dlrm_offsets=pair(dlrm_offsets, True, False), kv_generate=pair(kv_generate, True, False), decoder_replay=decoder_replay,
    sampler_graph=pair(sampler_graph, False, True), rerank_reduce_overhead=rerank_reduce_overhead, moe_capacity=moe_capacity,
    unet_precision=pair(unet_precision, True, False), upscaler_compiled=upscaler_compiled, lstm_wide=lstm_wide, vision_train_tf32=vision_train_tf32,
    clip_pairs=pair(clip_pairs, True, False), window_attention=pair(window_attention, True, False), lstm_cells=pair(lstm_cells, True, False),
    ema_loop=pair(ema_loop, True, False), mlm_masking=pair(mlm_masking, True, False))
