# ---- Pieces of networks over sequences, tables and graphs; optimizers over whole lists of weights -------------------------------------

def tokens_of(d, width, most=4e7):
    for _ in range(100):
        b = some(d, (1, 1, 2, 4, 8, 8, 16, 24, 32, 48, 64, 128))
        s = some(d, (32, 49, 64, 77, 100, 128, 128, 196, 197, 256, 256, 320, 384, 512, 512, 577, 784, 1024, 1024, 1500, 2048, 4096), 8)
        if LIMIT < 1 or 2e5 < b * s * width < most:
            return make((b, s, width), FP32)
    raise Skip("size")


def heads_of(d):
    """(width, heads)"""
    e, h = d.of(32, 40, 48, 64, 64, 64, 72, 80, 96, 128, 128), d.of(4, 6, 8, 8, 12, 12, 16, 16, 20, 24, 32)
    return (e * h, h) if LIMIT == 1 else (32, 4)


def split(y, h):
    return y.view(*y.shape[:2], h, -1).transpose(1, 2)


def l_attention(d):
    """By hand, or by the op; with what masks programs have."""
    width, h = heads_of(d)
    x = tokens_of(d, width, 2.5e7)
    b, s, _ = x.shape
    kind, mask = d.of("hand", "hand", "op", "op", "op"), d.of("none", "causal", "bool", "float", "pairs", "heads")
    if b * h * s * s > (1.5e8 if kind == "hand" or mask == "heads" else 8e8):
        raise Skip("size")
    low = torch.full((), -1e4, device=DEVICE)
    masks = {"bool": lambda: make((b, 1, 1, s), torch.bool), "float": lambda: make((s, s), FP32), "pairs": lambda: make((b, 1, s, s), torch.bool), "heads": lambda: make((1, h, s, s), FP32),
             "causal": lambda: torch.ones((s, s), device=DEVICE, dtype=torch.bool).tril(), "none": lambda: None}[mask]()
    drop, wide = d.of(0.0, 0.0, 0.1), d.yes(0.3)

    def f(m, x):
        q, k, v = (split(y, h) for y in m.qkv(x).chunk(3, -1))
        at = masks if masks is None or masks.dtype == torch.bool else masks.to(q.dtype)
        if kind == "op":
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=None if mask == "causal" else at, is_causal=mask == "causal", dropout_p=drop)
        else:
            y = q @ k.transpose(2, 3) / math.sqrt(width // h)
            if at is not None:
                y = y + at if at.dtype != torch.bool else d.of(lambda: y.masked_fill(~at, -1e4), lambda: torch.where(at, y, low.to(y.dtype)))()
            y = F.dropout(torch.softmax(y.float() if wide else y, -1).to(q.dtype), drop) @ v
        return m.out(y.transpose(1, 2).reshape(b, s, width))
    return Of(f, qkv=nn.Linear(width, 3 * width, bias=d.yes()), out=nn.Linear(width, width)), [x]


def l_cross(d):
    width, h = heads_of(d)
    x = tokens_of(d, width, 2e7)
    other = d.of(512, 768, 1024, width) if LIMIT == 1 else width
    y = make((x.shape[0], some(d, (77, 100, 128, 256, 300, 900, 1500), 8), other), FP32)
    if x.shape[0] * h * x.shape[1] * y.shape[1] > 5e8:
        raise Skip("size")

    def f(m, x, y):
        k, v = m.kv(y).chunk(2, -1)
        o = F.scaled_dot_product_attention(split(m.q(m.norm(x)), h), split(k, h), split(v, h))
        return x + m.out(o.transpose(1, 2).flatten(2))
    return Of(f, norm=nn.LayerNorm(width), q=nn.Linear(width, width), kv=nn.Linear(other, 2 * width), out=nn.Linear(width, width)), [x, y]


def l_rotary(d):
    """Attention of today's language models, as programs write it."""
    width, h = heads_of(d)
    e, group = width // h, d.of(1, 2, 4) if h % 4 == 0 else 1
    x, kind = tokens_of(d, width, 2.5e7), d.of("halves", "halves", "pairs", "complex")
    b, s, _ = x.shape
    if b * h * s * s > 1.5e9:
        raise Skip("size")
    angle = torch.outer(torch.arange(s, device=DEVICE).float(), 1e4 ** (-torch.arange(0, e, 2, device=DEVICE).float() / e))

    def turn(t):
        if kind == "complex":
            return torch.view_as_real(torch.view_as_complex(t.float().reshape(*t.shape[:-1], -1, 2)) * torch.polar(torch.ones_like(angle), angle)).flatten(3).to(t.dtype)
        if kind == "pairs":
            a, c, cos, sin = t[..., ::2], t[..., 1::2], angle.cos().to(t.dtype), angle.sin().to(t.dtype)
            return torch.stack([a * cos - c * sin, a * sin + c * cos], -1).flatten(-2)
        cos, sin = (torch.cat([z, z], -1).to(t.dtype) for z in (angle.cos(), angle.sin()))
        return t * cos + torch.cat([-t[..., e // 2:], t[..., :e // 2]], -1) * sin

    def norm(m, x):
        y = x.float()
        return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * m.scale.weight[0].to(x.dtype)

    def f(m, x):
        y = norm(m, x)
        q, k, v = split(m.q(y), h), split(m.k(y), h // group), split(m.v(y), h // group)
        q, k = turn(q), turn(k)
        if group > 1:
            k, v = (t[:, :, None].expand(b, h // group, group, s, e).reshape(b, h, s, e) for t in (k, v))
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + m.out(o.transpose(1, 2).reshape(b, s, width))
    parts = dict(q=nn.Linear(width, width, bias=False), k=nn.Linear(width, width // group, bias=False), v=nn.Linear(width, width // group, bias=False), out=nn.Linear(width, width, bias=False))
    return Of(f, scale=nn.Embedding(1, width), **parts), [x]


def l_wide(d):
    width, _ = heads_of(d)
    x, inner, kind, drop = tokens_of(d, width), int(width * d.of(2, 2.6875, 3.5, 4, 4)), d.of("gelu", "tanh", "swiglu", "geglu", "relu2", "relu"), d.of(0.0, 0.0, 0.1)

    def f(m, x):
        y = m.up(m.norm(x))
        if kind in ("swiglu", "geglu"):
            a, c = y.chunk(2, -1)
            y = (F.silu(a) if kind == "swiglu" else F.gelu(a)) * c
        else:
            y = {"gelu": F.gelu, "tanh": lambda z: F.gelu(z, approximate="tanh"), "relu": F.relu, "relu2": lambda z: F.relu(z).square()}[kind](y)
        return x + F.dropout(m.down(F.dropout(y, drop)), drop)
    norm = d.of(nn.LayerNorm(width), nn.LayerNorm(width, bias=False), nn.RMSNorm(width))
    return Of(f, norm=norm, up=nn.Linear(width, inner * (2 if "glu" in kind else 1), bias=d.yes()), down=nn.Linear(inner, width, bias=d.yes())), [x]


def l_modulate(d):
    """A transformer's layer that a vector steers, and one that mixes tokens and channels by turns."""
    width, _ = heads_of(d)
    x = tokens_of(d, width)
    b, s, _ = x.shape
    if d.yes(0.6):
        def f(m, x, c):
            shift, scale, gate = m.steer(F.silu(c)).chunk(3, 1)
            return x + gate.unsqueeze(1) * m.a(m.norm(x) * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1))
        return Of(f, steer=nn.Linear(width, 3 * width), norm=nn.LayerNorm(width, elementwise_affine=False), a=nn.Linear(width, width)), [x, make((b, width), FP32)]
    return Of(lambda m, x: x + m.b(F.gelu(m.a(m.norm(x).transpose(1, 2)))).transpose(1, 2), norm=nn.LayerNorm(width), a=nn.Linear(s, 2 * s), b=nn.Linear(2 * s, s)), [x]


def l_words(d):
    words, width = some(d, (1000, 5000, 8192, 16000, 24576, 30522, 32000, 32128, 49152, 50257, 50304, 64000, 100277, 128256, 151936), 40), d.of(128, 256, 384, 512, 768, 1024, 2048)
    b, s = some(d, (1, 2, 4, 8, 16, 32)), some(d, (64, 128, 256, 512, 1024, 2048), 8)
    if b * s * words > 4e8 or words * width > 2.5e8:
        raise Skip("size")
    ids, kind = make((b, s), torch.int64, words), d.of("plain", "plain", "smooth", "shifted", "masked", "low", "lookup", "sum")
    weight = torch.ones((b * s,), device=DEVICE)

    def f(m, ids):
        x = m.embed(ids)
        if kind == "lookup":
            return x + m.place(torch.arange(s, device=DEVICE))
        y = m.head(x)
        if kind == "shifted":
            return F.cross_entropy(y[:, :-1].reshape(-1, words), ids[:, 1:].reshape(-1))
        if kind == "sum":
            at = torch.gather(torch.log_softmax(y.float(), -1), 2, ids.unsqueeze(-1)).squeeze(-1)
            return at.sum(1)
        if kind == "masked":
            return (F.cross_entropy(y.float().view(-1, words), ids.view(-1), reduction="none") * weight).sum()
        y = y if kind == "low" else y.float()
        return F.cross_entropy(y.view(-1, words), ids.view(-1), label_smoothing=0.1 if kind == "smooth" else 0.0, ignore_index=-100)
    return Of(f, embed=nn.Embedding(words, width), place=nn.Embedding(s, width), head=nn.Linear(width, words, bias=d.yes(0.3))), [ids]


def l_experts(d):
    width, count, top = some(d, (256, 512, 768, 1024, 2048), 16), d.of(4, 8, 16, 64), d.of(1, 2, 2)
    x = tokens_of(d, width, 1.5e7).flatten(0, 1)
    inner = width * d.of(1, 2, 4)

    def f(m, x):
        p = torch.softmax(m.router(x).float(), -1)
        gate, at = torch.topk(p, top, -1)
        gate = (gate / gate.sum(-1, keepdim=True)).to(x.dtype)
        out = torch.zeros_like(x)
        load = F.one_hot(at, count).sum(1).float().mean(0)
        order = at.flatten().argsort()
        for e in range(2):
            rows, which = torch.where(at == e)
            out.index_add_(0, rows, (m.down(F.silu(m.up(x[rows]))) * gate[rows, which, None]).to(out.dtype))
        mixed = x[order // top]
        back = torch.empty_like(mixed)
        back[order] = mixed
        return out + back.view(-1, top, width).sum(1) + (load * p.mean(0)).sum()
    return Of(f, router=nn.Linear(width, count, bias=False), up=nn.Linear(width, inner), down=nn.Linear(inner, width)), [x]


def l_scan(d):
    """State space layers: a short convolution over time, running sums, products of chunks."""
    width, state, chunk = some(d, (256, 512, 768, 1024, 1536), 16), d.of(16, 32, 64, 128), some(d, (32, 64, 128), 4)
    b, s, h = some(d, (1, 2, 4, 8), 1), chunk * some(d, (4, 8, 16, 32), 2), 8
    if b * s * width > 2e7 or b * s * h * chunk > 6e7:
        raise Skip("size")

    def f(m, x):
        y, z = m.enter(x).chunk(2, -1)
        y = F.silu(m.short(y.transpose(1, 2))[..., :s].transpose(1, 2))
        decay = F.softplus(m.step(y).float()).view(b, s // chunk, chunk, h).permute(0, 3, 1, 2)
        total = torch.cumsum(decay, -1)
        seen = (total[..., :, None] - total[..., None, :]).masked_fill(torch.ones(chunk, chunk, device=x.device, dtype=torch.bool).triu(1), -1e4)
        k, q = m.keys(y).view(b, s // chunk, chunk, 2, state).unbind(3)
        score = torch.einsum("bcls,bcms->bclm", q, k).unsqueeze(1) * torch.exp(seen).to(y.dtype)
        y = torch.einsum("bhclm,bcmhd->bclhd", score, y.view(b, s // chunk, chunk, h, width // h)).reshape(b, s, width)
        return m.leave(y * F.silu(z))
    return Of(f, enter=nn.Linear(width, 2 * width, bias=False), short=nn.Conv1d(width, width, 4, groups=width, padding=3), step=nn.Linear(width, h), keys=nn.Linear(width, 2 * state, bias=False),
              leave=nn.Linear(width, width, bias=False)), [make((b, s, width), FP32)]


def l_running(d):
    width, h = heads_of(d)
    x = tokens_of(d, width, 1e7)
    kind = d.of("linear", "cumsum", "gate", "mean")

    def f(m, x):
        q, k, v = (split(y, h) for y in m.qkv(x).chunk(3, -1))
        if kind == "linear":
            q, k = F.elu(q) + 1, F.elu(k) + 1
            return torch.einsum("bhnd,bhde->bhne", q, torch.einsum("bhnd,bhne->bhde", k, v)) / (torch.einsum("bhnd,bhd->bhn", q, k.sum(2)) + 1e-6).unsqueeze(-1)
        if kind == "cumsum":
            return torch.cumsum(k * v, 2) / torch.cumsum(k.abs(), 2).clamp_min(1e-4) * q
        if kind == "gate":
            return torch.sigmoid(q) * torch.cat([torch.zeros_like(v[:, :, :1]), v[:, :, :-1]], 2) + (1 - torch.sigmoid(q)) * v
        return torch.cumsum(x, 1) / torch.arange(1, x.shape[1] + 1, device=x.device)[:, None]
    return Of(f, qkv=nn.Linear(width, 3 * width)), [x]


def l_pairs(d):
    """Pairs of residues: outer products, triangles, axial attention."""
    c, s, h = d.of(32, 64, 128), some(d, (48, 64, 96, 128, 192, 256), 6), 4
    if s * s * c > 1e7:
        raise Skip("size")

    def f(m, z):
        y = m.norm(z)
        a, b = (torch.sigmoid(m.gate(y)) * m.both(y)).chunk(2, -1)
        y = m.last(torch.einsum("bikc,bjkc->bijc", a, b)) * torch.sigmoid(m.norm(z))
        q = m.both(y).view(1, s, s, h, -1).permute(0, 1, 3, 2, 4)
        bias = m.bias(z).permute(0, 3, 1, 2).unsqueeze(1)
        w = torch.softmax(q @ q.transpose(-1, -2) + bias, -1)
        return z + y + (w @ q).transpose(2, 3).reshape(1, s, s, -1)[..., :c]
    return Of(f, norm=nn.LayerNorm(c), gate=nn.Linear(c, 2 * c), both=nn.Linear(c, 2 * c), last=nn.Linear(c, c), bias=nn.Linear(c, h, bias=False)), [make((1, s, s, c), FP32)]


def l_sound(d):
    c = d.of(1, 2, 32, 64, 80, 80, 128, 256, 384, 512)
    for _ in range(50):
        b, s = some(d, (1, 4, 8, 16, 32, 64), 1), some(d, (200, 500, 800, 1000, 1500, 3000, 4000, 8000, 16000, 48000), 64)
        if 2e5 < b * c * s < 2e7 or LIMIT < 1:
            break
    else:
        raise Skip("size")
    k, f = d.of(32, 64, 128, 256, 384, 512), d.of(3, 3, 5, 7, 10, 15, 31)
    kind = d.of("plain", "dilated", "glu", "deep", "strided", "up")
    x = make((b, c, s), FP32)
    norm = d.of(nn.BatchNorm1d(k), nn.GroupNorm(1, k), nn.GroupNorm(k, k), nn.Identity())
    if kind == "glu":
        return nn.Sequential(nn.Conv1d(c, 2 * k, 1), nn.GLU(1), nn.Conv1d(k, k, f, padding=f // 2, groups=k), norm, nn.SiLU(), nn.Conv1d(k, c, 1)), [x]
    if kind == "deep":
        return Of(lambda m, x: m.b(m.norm(m.a(x).transpose(1, 2)).transpose(1, 2)), a=nn.Conv1d(c, k, f, padding=f // 2), norm=nn.LayerNorm(k), b=nn.Conv1d(k, k, 3, 2)), [x]
    stride, dilation = d.of(2, 4, 5) if kind == "strided" else 1, d.of(2, 4, 8) if kind == "dilated" else 1
    last = nn.ConvTranspose1d(k, max(4, k // 2), 4, 2, 1) if kind == "up" else nn.Conv1d(k, k, 3, padding=1)
    return nn.Sequential(nn.Conv1d(c, k, f, stride, f // 2 * dilation, dilation), norm, action(d), last), [x]


def l_graph(d):
    nodes, per, c = some(d, (2000, 10000, 20000, 50000, 100000), 40), d.of(2, 4, 8, 16), d.of(16, 32, 64, 128, 256)
    edges = nodes * per
    if edges * c > 8e7:
        raise Skip("size")
    source, target = make((edges,), torch.int64, nodes), make((edges,), torch.int64, nodes)
    target = target.sort().values if d.yes() else target
    kind = d.of("index_add", "scatter_add", "mean", "max", "attend", "put")

    def f(m, x):
        y = m.a(x)
        msg = d.of(lambda: y[source], lambda: y.index_select(0, source), lambda: F.embedding(source, y))()
        wide = target.unsqueeze(1).expand_as(msg)
        if kind == "attend":
            score = F.leaky_relu(m.b(torch.cat([msg, y[target]], 1)), 0.2).float().squeeze(1)
            score = torch.exp(score - score.max())
            total = torch.zeros(nodes, device=x.device).index_add_(0, target, score)
            msg = msg * (score / total[target]).unsqueeze(1).to(msg.dtype)
        out = torch.zeros_like(y)
        if kind == "scatter_add":
            return out.scatter_add_(0, wide, msg)
        if kind in ("mean", "max"):
            return out.scatter_reduce_(0, wide, msg, "mean" if kind == "mean" else "amax", include_self=False)
        return out.index_put((target,), msg, accumulate=True) if kind == "put" else out.index_add_(0, target, msg)
    return Of(f, a=nn.Linear(c, c), b=nn.Linear(2 * c, 1)), [make((nodes, c), FP32)]


def l_tables(d):
    """Clicks: lookups of many tables, their products, a small network."""
    b, tables, rows, c = some(d, (512, 2048, 4096, 8192, 16384), 8), some(d, (4, 8, 13, 26), 3), some(d, (1000, 20000, 100000, 400000), 50), d.of(16, 32, 64, 128)
    if b * tables * c > 3e7 or rows * c > 3e7:
        raise Skip("size")
    at, dense, kind = make((b, tables), torch.int64, rows), make((b, 13), FP32), d.of("bag", "one", "each", "each")
    first, second = torch.tril_indices(tables + 1, tables + 1, -1, device=DEVICE)

    def f(m, dense):
        x = m.bottom(dense)
        if kind == "bag":
            return m.top(torch.cat([x, F.embedding_bag(at, m.table.weight, mode=d.of("sum", "mean"))], 1))
        found = m.table(at) if kind == "one" else torch.stack([m.table(at[:, i]) for i in range(tables)], 1)
        all_of = torch.cat([x.unsqueeze(1), found.to(x.dtype)], 1)
        if d.yes(0.4):
            return 0.5 * (all_of.sum(1).square() - all_of.square().sum(1))
        return m.over(torch.cat([x, torch.bmm(all_of, all_of.transpose(1, 2))[:, first, second]], 1))
    return Of(f, table=nn.Embedding(rows, c), bottom=nn.Sequential(nn.Linear(13, 256), nn.ReLU(), nn.Linear(256, c), nn.ReLU()), top=nn.Linear(2 * c, 128),
              over=nn.Sequential(nn.Linear(c + first.numel(), 512), nn.ReLU(), nn.Dropout(0.1), nn.Linear(512, 1), nn.Sigmoid())), [dense]


def l_sample(d):
    """A word is drawn, a beam is kept, boxes are ranked."""
    b, words, kind = some(d, (1, 4, 8, 16, 32, 64, 128)), some(d, (1000, 32000, 50257, 128256), 50), d.of("top", "nucleus", "beam", "boxes", "cache")

    def f(m, x):
        if kind == "boxes":
            n = some(d, (100, 300, 1000), 10)
            score, at = torch.sigmoid(x).flatten(1).topk(n, 1)
            box = torch.gather(m.box.weight[None, :n].expand(b, n, 4), 1, (at % n).unsqueeze(-1).expand(-1, -1, 4))
            low, high = torch.max(box[:, :, None, :2], box[:, None, :, :2]), torch.min(box[:, :, None, 2:], box[:, None, :, 2:])
            both = (high - low).clamp(min=0).prod(3)
            return both / (both.sum(2, keepdim=True) + 1)
        if kind == "cache":
            at = torch.arange(4, device=x.device)
            store = torch.zeros((b, 8, some(d, (512, 2048, 4096), 8), 64), device=x.device, dtype=x.dtype)
            store.index_copy_(2, at, store[:, :, :4] + 1)
            store[:, :, 4] = store[:, :, 5] * 2
            return torch.cat([store, store[:, :, :1]], 2)
        p = x.float() / 0.8
        if kind == "top":
            p = p.masked_fill(p < torch.topk(p, 40).values[:, -1:], -1e9)
            return torch.multinomial(torch.softmax(p, -1), 1)
        if kind == "beam":
            score, at = torch.log_softmax(p, -1).view(1, -1).topk(8)
            return x.index_select(0, (at // words).flatten())
        v, at = torch.sort(p, -1, True)
        cut = torch.softmax(v, -1).cumsum(-1) > 0.9
        return p.masked_fill(cut.scatter(1, at, cut), -1e9).softmax(-1)
    return Of(f, box=nn.Embedding(1000, 4)), [make((b, words), FP32)]


def l_alike(d):
    """What belongs together, by the products of unit vectors; distances."""
    n, c, kind = some(d, (256, 512, 1024, 2048, 4096, 8192), 8), d.of(64, 128, 256, 512), d.of("pairs", "pairs", "distance", "kl", "cosine")
    x, y = make((n, c), FP32), make((n, c), FP32)

    def f(m, x, y):
        if kind == "pairs":
            s = F.normalize(x, dim=1) @ F.normalize(y, dim=1).t() * 14.0
            at = torch.arange(n, device=x.device)
            return (F.cross_entropy(s.float(), at) + F.cross_entropy(s.float().t(), at)) / 2
        if kind == "kl":
            return F.kl_div(torch.log_softmax(x, 1), torch.softmax(y, 1), reduction="batchmean")
        return F.cosine_similarity(x, y) if kind == "cosine" else torch.cdist(x.float(), y.float()).min(1).values
    return Of(f), [x, y]


def l_weights(d):
    """What an optimizer does, and what is done around it: not a layer, but a step of its own."""
    width, sizes = d.of(64, 128, 256, 384, 512, 768, 1024) if LIMIT == 1 else 8, []
    for _ in range(d.of(1, 2, 4, 8, 16, 30)):
        sizes += d.of([(width, width), (width,)], [(width, width, 3, 3), (width,), (width,)], [(4 * width, width), (4 * width,), (width, 4 * width), (width,)], [(width, 1, 3, 3), (width,)])
    if d.yes(0.3):
        sizes.append((some(d, (10000, 32000), 20), width))
    if sum(math.prod(s) for s in sizes) > 1.2e8:
        raise Skip("size")
    weights = [nn.Parameter(make(s, FP32)) for s in sizes]
    o = torch.optim
    made = d.of(lambda: o.AdamW(weights, foreach=True), lambda: o.Adam(weights, foreach=True), lambda: o.Adam(weights, foreach=False), lambda: o.SGD(weights, 0.1, 0.9, foreach=True, weight_decay=1e-4, nesterov=d.yes()),
                lambda: o.SGD(weights, 0.1, 0.9, foreach=False), lambda: o.RMSprop(weights, momentum=0.9), lambda: o.AdamW(weights, fused=True), lambda: o.Adagrad(weights), lambda: o.NAdam(weights))()
    kept = [w.detach().clone() for w in weights]
    found, scale = torch.zeros((), device=DEVICE), torch.ones((), device=DEVICE)

    def f(m):
        for w in weights:
            w.grad = torch.zeros_like(w) if w.grad is None else w.grad
        with torch.no_grad():
            if d.yes(0.4):
                torch._amp_foreach_non_finite_check_and_unscale_([w.grad for w in weights], found, scale)
            if d.yes():
                torch.nn.utils.clip_grad_norm_(weights, 1.0, foreach=d.yes(0.8))
            made.step()
            if d.yes(0.4):
                torch._foreach_lerp_(kept, [w.detach() for w in weights], 0.001) if d.yes() else [k.mul_(0.999).add_(w, alpha=0.001) for k, w in zip(kept, weights)]
            made.zero_grad(set_to_none=False)
    return Of(f), []


def l_strided(d):
    """Sums, products and copies of tensors that are parts of others, or turned."""
    dims = d.of(3, 3, 4, 4, 5)
    for _ in range(50):
        shape = [some(d, (1, 2, 3, 4, 7, 8, 12, 16, 32, 48, 64, 77, 80, 96, 128, 196, 256, 384, 512, 768, 1024), 3) for _ in range(dims)]
        if LIMIT < 1 or 5e5 < math.prod(shape) < 4e7:
            break
    else:
        raise Skip("size")

    def lies(shape):
        how = d.of("dense", "turned", "turned", "part", "part_last", "narrow", "narrow", "step")
        if how == "turned":
            order = list(range(len(shape)))
            i, j = d.r.sample(order, 2)
            order[i], order[j] = order[j], order[i]
            return make([shape[i] for i in order], FP32).permute(order)
        if how in ("part", "part_last", "step"):
            at = len(shape) - 1 if how == "part_last" else d.r.randrange(len(shape))
            wide = list(shape)
            wide[at] = wide[at] * 2 + (0 if how == "step" else d.of(0, 0, 4))
            whole = make(wide, FP32)
            return whole[(slice(None),) * at + (slice(None, None, 2),)] if how == "step" else whole.narrow(at, d.of(0, wide[at] - shape[at]), shape[at])
        return make([1 if how == "narrow" and d.yes() else n for n in shape], FP32)
    xs = [lies(shape) for _ in range(2)]
    whole = torch.broadcast_shapes(*(x.shape for x in xs))
    dim, pick = d.r.randrange(dims), d.of("sum", "mean", "amax", "var", "norm", "argmax", "std", "softmax", "cumsum", "all")
    other = d.of(BF, HALF)

    def f(m, x, y):
        z = d.of(torch.add, torch.mul, torch.sub, torch.maximum, torch.div)(x, y)
        a = [x.expand(whole).contiguous(), torch.cat([x.expand(whole), y.expand(whole)], dim), torch.stack([x.expand(whole), y.expand(whole)], dim), x.to(other), torch.where(x > 0, x, y), F.silu(x), x * 0.5]
        if pick == "all":
            return z.sum()
        b = {"norm": lambda: torch.linalg.vector_norm(z, dim=dim), "softmax": lambda: torch.softmax(z, dim), "cumsum": lambda: torch.cumsum(z, dim)}.get(pick) or (lambda: getattr(z, pick)(dim, keepdim=d.yes()))
        return d.of(*a), b()
    return Of(f), xs


SEQUENCE_LAYERS = [(l_attention, 9), (l_cross, 3), (l_rotary, 6), (l_wide, 6), (l_modulate, 4), (l_words, 6), (l_experts, 4), (l_scan, 6), (l_running, 4), (l_pairs, 4), (l_sound, 7),
                   (l_graph, 5), (l_tables, 4), (l_sample, 4), (l_alike, 3), (l_weights, 5), (l_strided, 10)]
