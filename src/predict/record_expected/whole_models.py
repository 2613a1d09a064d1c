# ---- Whole models: every op of a step, with how often it is called -------------------------------------------------------

class Collector(TorchDispatchMode):
    """The distinct calls of a program, made again from their shapes; integers keep their values."""

    def __init__(self):
        super().__init__()
        self.calls = {}

    @staticmethod
    def text(x):
        if isinstance(x, torch.Tensor):
            return (tuple(x.shape), tuple(x.stride()), x.dtype)
        return tuple(map(Collector.text, x)) if isinstance(x, (list, tuple)) else str(x)

    @staticmethod
    def keep(x):
        if isinstance(x, torch.Tensor):
            if not x.is_cuda or not x.dtype.is_floating_point:
                return x.detach().clone()
            return ("tensor", tuple(x.shape), tuple(x.stride()), x.dtype)
        return [Collector.keep(y) for y in x] if isinstance(x, (list, tuple)) else x

    @staticmethod
    def remake(x):
        if isinstance(x, tuple) and x and x[0] == "tensor":
            y = torch.empty_strided(x[1], x[2], dtype=x[3], device=DEVICE)
            return y.normal_().abs_() if x[3] in (BF, HALF, FP32) else y.zero_()
        return [Collector.remake(y) for y in x] if isinstance(x, list) else x

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        if not func.is_view and "empty" not in str(func) and "_local_scalar" not in str(func):
            key = (str(func), self.text(args), self.text(list(kwargs.values())))
            if key in self.calls:
                self.calls[key][3] += 1
            else:
                self.calls[key] = [func, self.keep(args), {k: self.keep(v) for k, v in kwargs.items()}, 1]
        return out


class Attention(torch.nn.Module):
    def __init__(self, width, heads, groups=1, causal=True):
        super().__init__()
        self.h, self.g, self.e, self.causal = heads, groups, width // heads, causal
        self.qkv = torch.nn.Linear(width, width + 2 * width // groups, bias=False)
        self.out = torch.nn.Linear(width, width, bias=False)

    def forward(self, x, cache=None):
        b, s, w = x.shape
        q, k, v = self.qkv(x).split([w, w // self.g, w // self.g], -1)
        q = q.view(b, s, self.h, self.e).transpose(1, 2)
        k, v = (t.view(b, s, self.h // self.g, self.e).transpose(1, 2) for t in (k, v))
        if cache is not None:
            k, v = torch.cat([cache, k], 2), torch.cat([cache, v], 2)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal and cache is None, enable_gqa=self.g > 1)
        return self.out(o.transpose(1, 2).reshape(b, s, w))


class Llama(torch.nn.Module):
    def __init__(self, width, inner, heads, groups, layers, vocabulary):
        super().__init__()
        nn = torch.nn
        self.embed, self.head = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary, bias=False)
        self.blocks = nn.ModuleList([nn.ModuleList([nn.RMSNorm(width), Attention(width, heads, groups), nn.RMSNorm(width),
                                                    nn.Linear(width, inner, bias=False), nn.Linear(width, inner, bias=False),
                                                    nn.Linear(inner, width, bias=False)]) for _ in range(layers)])
        self.norm = nn.RMSNorm(width)

    def forward(self, ids, cache=None):
        x = self.embed(ids)
        for n1, attention, n2, gate, up, down in self.blocks:
            x = x + attention(n1(x), cache)
            y = n2(x)
            x = x + down(F.silu(gate(y)) * up(y))
        return self.head(self.norm(x))


class Bottleneck(torch.nn.Module):
    def __init__(self, c, mid, out, stride):
        super().__init__()
        nn = torch.nn
        self.body = nn.Sequential(nn.Conv2d(c, mid, 1, bias=False), nn.BatchNorm2d(mid), nn.ReLU(),
                                  nn.Conv2d(mid, mid, 3, stride, 1, bias=False), nn.BatchNorm2d(mid), nn.ReLU(),
                                  nn.Conv2d(mid, out, 1, bias=False), nn.BatchNorm2d(out))
        self.short = None if c == out and stride == 1 else nn.Sequential(nn.Conv2d(c, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        return F.relu(self.body(x) + (x if self.short is None else self.short(x)))


def resnet():
    nn, layers, c = torch.nn, [], 64
    for mid, count in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for i in range(count):
            layers.append(Bottleneck(c, mid, 4 * mid, 2 if i == 0 and mid > 64 else 1))
            c = 4 * mid
    return nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1), *layers,
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


class UNetBlock(torch.nn.Module):
    def __init__(self, c, out):
        super().__init__()
        nn = torch.nn
        self.a = nn.Sequential(nn.GroupNorm(32, c), nn.SiLU(), nn.Conv2d(c, out, 3, 1, 1))
        self.b = nn.Sequential(nn.GroupNorm(32, out), nn.SiLU(), nn.Conv2d(out, out, 3, 1, 1))
        self.short = nn.Conv2d(c, out, 1) if c != out else nn.Identity()

    def forward(self, x):
        return self.short(x) + self.b(self.a(x))


def unet():
    nn = torch.nn
    return nn.Sequential(nn.Conv2d(4, 320, 3, 1, 1), UNetBlock(320, 320), nn.Conv2d(320, 320, 3, 2, 1), UNetBlock(320, 640),
                         nn.Conv2d(640, 640, 3, 2, 1), UNetBlock(640, 1280), nn.Upsample(scale_factor=2), UNetBlock(1280, 640),
                         nn.Upsample(scale_factor=2), UNetBlock(640, 320), nn.GroupNorm(32, 320), nn.SiLU(), nn.Conv2d(320, 4, 3, 1, 1))


def encoder(width, heads, inner, layers):
    return torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(width, heads, inner, 0.1, "gelu", batch_first=True), layers)


def convnext():
    nn, layers = torch.nn, [torch.nn.Conv2d(3, 96, 4, 4)]
    for a, b in ((96, 192), (192, 384), (384, 768)):
        layers += [nn.Conv2d(a, a, 7, 1, 3, groups=a), nn.GroupNorm(1, a), nn.Conv2d(a, 4 * a, 1), nn.GELU(), nn.Conv2d(4 * a, a, 1),
                   nn.Conv2d(a, b, 2, 2)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(768, 1000))


def train(model, x, loss, cast=None, fused=True):
    model = model.to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=fused, foreach=None if fused else True)

    def step():
        with torch.autocast("cuda", cast or BF, enabled=cast is not None):
            value = loss(model(x))
        value.backward()
        optimizer.step()
        optimizer.zero_grad()
    return step


def infer(model, x, dtype, **more):
    model = model.to(DEVICE, dtype).eval()

    def step():
        with torch.no_grad():
            model(x, **more)
    return step


def models():
    last = torch.channels_last
    ids = lambda b, s: make((b, s), torch.int64, 32000)
    target = lambda n, c: make((n,), torch.int64, c)
    bert, small = target(32 * 128, 1024), target(32, 1000)
    words = target(4 * 1024, 32000)
    cross = lambda t: (lambda y: F.cross_entropy(y.reshape(-1, y.shape[-1]).float(), t))
    yield "llama_prefill", lambda: infer(Llama(4096, 14336, 32, 4, 2, 32000), ids(2, 2048), BF)
    yield "llama_decode", lambda: infer(Llama(4096, 14336, 32, 4, 2, 32000), ids(16, 1), BF, cache=make((16, 8, 1500, 128), BF))
    yield "llama_train", lambda: train(Llama(1024, 2816, 16, 1, 3, 32000).to(BF), ids(4, 1024), cross(words))
    yield "bert_train", lambda: train(encoder(1024, 16, 4096, 3), make((32, 128, 1024), FP32), cross(bert), BF)
    yield "vit_infer", lambda: infer(encoder(768, 12, 3072, 4), make((32, 197, 768), HALF), HALF)
    yield "resnet50_train", lambda: train(resnet().to(memory_format=last), make((32, 3, 224, 224), FP32).contiguous(memory_format=last),
                                          cross(small), BF, fused=False)
    yield "resnet50_infer_fp32", lambda: infer(resnet(), make((8, 3, 224, 224), FP32), FP32)
    yield "unet_infer", lambda: infer(unet().to(memory_format=last), make((4, 4, 64, 64), HALF).contiguous(memory_format=last), HALF)
    yield "unet_train", lambda: train(unet(), make((2, 4, 64, 64), FP32), lambda y: y.float().square().mean(), HALF)
    yield "convnext_train", lambda: train(convnext(), make((32, 3, 224, 224), FP32), cross(small), BF)
