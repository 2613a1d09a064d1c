# ---- Pieces of networks over images, volumes and points: a module and its inputs, in sizes that are drawn -----------------------------

nn = torch.nn


def some(d, usual, small=2):
    """One of the usual sizes; on a small machine a small one."""
    return d.of(*usual) if LIMIT == 1 else small


class Of(nn.Module):
    """A function with the modules it uses."""

    def __init__(self, f, **parts):
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)
        self.f = f

    def forward(self, *xs):
        return self.f(self, *xs)


def picture(d, c, sides=(14, 28, 32, 40, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 512), most=6e7, least=4e5):
    """Images of c channels: as large as activations of a training are."""
    for _ in range(100):
        n, h = some(d, (1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)), some(d, sides, 16)
        w = h if d.yes(0.8) else some(d, sides, 16)
        if LIMIT < 1 or least < n * c * h * w < most:
            x = make((n, c, h, w), FP32)
            return x.contiguous(memory_format=torch.channels_last) if d.yes() else x
    raise Skip("size")


def width_of_images(d):
    return some(d, (16, 24, 32, 32, 40, 48, 48, 56, 64, 64, 64, 72, 80, 96, 96, 112, 128, 128, 144, 160, 192, 192, 256, 256, 320, 384, 512, 512, 640, 768, 1024), 16)


def norm_of_images(d, c):
    return d.of(nn.BatchNorm2d(c), nn.BatchNorm2d(c), nn.BatchNorm2d(c), nn.GroupNorm(d.of(1, 4, 8), c), nn.InstanceNorm2d(c, affine=d.yes()), nn.Identity())


def action(d):
    return d.of(nn.ReLU(), nn.ReLU(inplace=True), nn.SiLU(), nn.GELU(), nn.LeakyReLU(0.2), nn.LeakyReLU(0.1, inplace=True), nn.ELU(), nn.Hardswish(), nn.Mish(), nn.PReLU(), nn.ReLU6(), nn.Tanh())


def l_residual(d):
    c = width_of_images(d)
    k, stride, f = d.of(c, c, 2 * c, max(8, c // 2)), d.of(1, 1, 1, 2), d.of(3, 3, 3, 5, 7)
    body = nn.Sequential(nn.Conv2d(c, k, f, stride, f // 2, bias=d.yes(0.3)), norm_of_images(d, k), action(d), nn.Conv2d(k, k, 3, 1, 1, bias=False), norm_of_images(d, k))
    short = nn.Identity() if c == k and stride == 1 else nn.Conv2d(c, k, 1, stride, bias=False)
    return Of(lambda m, x: m.act(m.body(x) + m.short(x)), body=body, short=short, act=nn.ReLU()), [picture(d, c)]


def l_bottleneck(d):
    c = width_of_images(d)
    mid, groups, stride = max(16, c // d.of(1, 2, 4)), d.of(1, 1, 2, 8, 16, 32), d.of(1, 1, 2)
    mid = -(-mid // groups) * groups
    body = nn.Sequential(nn.Conv2d(c, mid, 1, bias=False), nn.BatchNorm2d(mid), action(d), nn.Conv2d(mid, mid, 3, stride, 1, groups=groups, bias=False), nn.BatchNorm2d(mid), action(d),
                         nn.Conv2d(mid, 4 * mid, 1, bias=False), nn.BatchNorm2d(4 * mid))
    return body, [picture(d, c)]


def l_mobile(d):
    c = d.of(16, 24, 32, 40, 48, 64, 80, 96, 112, 160, 192)
    wide, f, stride, act = c * d.of(1, 2, 3, 4, 6), d.of(3, 3, 5, 7), d.of(1, 1, 2), action(d)
    gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(wide, max(4, c // 4), 1), nn.SiLU(), nn.Conv2d(max(4, c // 4), wide, 1), d.of(nn.Sigmoid(), nn.Hardsigmoid()))
    first = nn.Sequential(nn.Conv2d(c, wide, 1, bias=False), nn.BatchNorm2d(wide), act, nn.Conv2d(wide, wide, f, stride, f // 2, groups=wide, bias=False), nn.BatchNorm2d(wide), act)
    return Of(lambda m, x: (lambda y: m.last(y * m.gate(y)))(m.first(x)), first=first, gate=gate, last=nn.Sequential(nn.Conv2d(wide, c, 1, bias=False), nn.BatchNorm2d(c))), [picture(d, c, most=2.5e7)]


def l_next(d):
    c, f = some(d, (64, 80, 96, 128, 160, 192, 256, 320, 384, 512, 768), 16), d.of(7, 7, 7, 5, 9, 13)
    parts = dict(deep=nn.Conv2d(c, c, f, 1, f // 2, groups=c), norm=nn.LayerNorm(c), up=nn.Linear(c, 4 * c), down=nn.Linear(4 * c, c))
    return Of(lambda m, x: x + m.down(F.gelu(m.up(m.norm(m.deep(x).permute(0, 2, 3, 1))))).permute(0, 3, 1, 2), **parts), [picture(d, c, most=3e7)]


def l_dense(d):
    c, growth = width_of_images(d), d.of(12, 16, 24, 32, 48, 64)
    a = nn.Sequential(nn.BatchNorm2d(c), nn.ReLU(), nn.Conv2d(c, growth, 3, 1, 1, bias=False))
    b = nn.Sequential(nn.BatchNorm2d(c + growth), nn.ReLU(), nn.Conv2d(c + growth, growth, 1, bias=False))
    return Of(lambda m, x: (lambda y: torch.cat([y, m.b(y)], 1))(torch.cat([x, m.a(x)], 1)), a=a, b=b, ), [picture(d, c, most=4e7)]


def l_stem(d):
    c, k, f, s, p = d.of(1, 3, 3, 3, 4, 6, 12), some(d, (16, 24, 32, 32, 40, 48, 64, 64, 96, 128), 8), *d.of((7, 2, 3), (3, 2, 1), (3, 1, 1), (3, 1, 1), (4, 4, 0), (5, 1, 2), (9, 1, 4), (8, 4, 0), (16, 16, 0), (14, 14, 0))
    x = picture(d, c, (64, 84, 96, 128, 160, 192, 224, 224, 256, 256, 299, 320, 384, 416, 448, 512, 640, 768, 1024), 4e7, 1e5)
    return nn.Sequential(nn.Conv2d(c, k, f, s, p, bias=d.yes()), norm_of_images(d, k), action(d), d.of(nn.MaxPool2d(3, 2, 1), nn.MaxPool2d(2), nn.AvgPool2d(2), nn.Identity())), [x]


def l_unet(d):
    c = width_of_images(d)
    norm = lambda k: d.of(nn.BatchNorm2d(k), nn.GroupNorm(8, k), nn.GroupNorm(8, k), nn.Identity())
    kind, k = d.of("transposed", "nearest", "bilinear", "transposed4"), 2 * c
    up = {"transposed": nn.ConvTranspose2d(k, c, 2, 2), "transposed4": nn.ConvTranspose2d(k, c, 4, 2, 1)}.get(kind) or nn.Sequential(nn.Upsample(scale_factor=2, mode=kind), nn.Conv2d(k, c, 3, 1, 1))
    a = nn.Sequential(nn.Conv2d(c, c, 3, 1, 1), norm(c), action(d))
    low = nn.Sequential(d.of(nn.MaxPool2d(2), nn.AvgPool2d(2), nn.Conv2d(c, c, 3, 2, 1)), nn.Conv2d(c, k, 3, 1, 1), norm(k), action(d))
    return Of(lambda m, x: (lambda y: m.last(torch.cat([y, m.up(m.low(y))], 1)))(m.a(x)), a=a, low=low, up=up, last=nn.Conv2d(k, c, 3, 1, 1)), [picture(d, c, (32, 64, 96, 128, 128, 160, 192, 256, 256, 320, 384, 512), 5e7)]


def l_atrous(d):
    c, k = some(d, (64, 128, 256, 512, 1024, 2048), 8), some(d, (32, 64, 128, 256), 8)
    branches = nn.ModuleList([nn.Sequential(nn.Conv2d(c, k, 3, 1, r, r, bias=False), nn.BatchNorm2d(k), nn.ReLU()) for r in d.of((6, 12), (2, 4), (1, 3), (12, 24))])
    pooled = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(c, k, 1))
    scale = d.of(2, 4, 8)

    def f(m, x):
        y = F.interpolate(m.pooled(x), x.shape[2:], mode="bilinear", align_corners=False)
        y = m.last(torch.cat([b(x) for b in m.branches] + [y], 1))
        return F.interpolate(y, scale_factor=scale, mode="bilinear", align_corners=False)
    return Of(f, branches=branches, pooled=pooled, last=nn.Conv2d(3 * k, 21, 1)), [picture(d, c, (16, 28, 32, 33, 48, 64, 65), 3e7)]


def l_pyramid(d):
    c = some(d, (64, 96, 128, 256), 8)
    x = picture(d, c, (16, 20, 32, 40, 50, 64, 80, 100, 128), 3e7)
    y = F.max_pool2d(x, 2)
    how = d.of("nearest", "bilinear", "bicubic")
    return Of(lambda m, x, y: m.b(m.a(x) + F.interpolate(y, x.shape[2:], mode=how)), a=nn.Conv2d(c, c, 1), b=nn.Conv2d(c, c, 3, 1, 1)), [x, y]


def l_sharpen(d):
    c, r = some(d, (32, 48, 64, 64, 96, 128, 180), 8), d.of(2, 2, 3, 4)
    return nn.Sequential(nn.Conv2d(c, c, 3, 1, 1), nn.PReLU(), nn.Conv2d(c, d.of(3, c) * r * r, 3, 1, 1), nn.PixelShuffle(r), action(d)), [picture(d, c, (24, 32, 48, 64, 96, 128, 180), 1.5e7)]


def l_drawn(d):
    """A generator's layer, or a discriminator's."""
    c = width_of_images(d)
    k = max(8, c // 2)
    x = picture(d, c, (4, 8, 16, 32, 64, 128), 3e7)
    if d.yes():
        return nn.Sequential(nn.ConvTranspose2d(c, k, 4, 2, 1, bias=False), nn.BatchNorm2d(k), nn.ReLU(), nn.Conv2d(k, 3, d.of(3, 7), 1, 1), nn.Tanh()), [x]
    return nn.Sequential(nn.ReflectionPad2d(1), nn.Conv2d(c, 2 * c, 4, 2, 0), nn.InstanceNorm2d(2 * c), nn.LeakyReLU(0.2), nn.Conv2d(2 * c, 1, 4, 1, 1)), [x]


def l_modulated(d):
    c, k = some(d, (32, 64, 128, 256, 512), 8), some(d, (32, 64, 128, 256, 512), 8)
    x = picture(d, c, (8, 16, 32, 64, 128, 256), 1.5e7).contiguous()
    style = make((x.shape[0], c), FP32)

    def f(m, x, style):
        n = x.shape[0]
        w = m.weight.weight.unsqueeze(0) * style[:, None, :, None, None]
        w = w * torch.rsqrt((w.float() * w.float()).sum((2, 3, 4), keepdim=True) + 1e-8).to(w.dtype)
        return F.conv2d(x.reshape(1, -1, *x.shape[2:]), w.reshape(n * k, c, 3, 3).to(x.dtype), padding=1, groups=n).view(n, k, *x.shape[2:])
    return Of(f, weight=nn.Conv2d(c, k, 3, bias=False)), [x, style]


def l_volume(d):
    c, k = d.of(1, 1, 4, 8, 16, 16, 32, 32, 48, 64, 64, 96, 128, 256), d.of(8, 16, 16, 24, 32, 32, 48, 64, 64, 128, 256)
    for _ in range(100):
        n, s = some(d, (1, 1, 2, 2, 4, 8), 1), some(d, (8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128), 6)
        deep = s if d.yes(0.6) else d.of(4, 8, 16)
        if LIMIT < 1 or 8e5 < n * max(c, k) * s * s * deep < 4e7:
            break
    else:
        raise Skip("size")
    x = make((n, c, deep, s, s), FP32)
    x = x.contiguous(memory_format=torch.channels_last_3d) if d.yes(0.25) else x
    window, pad = d.of((3, 1), (3, 1), (3, 1), (3, 1), ((1, 3, 3), (0, 1, 1)), ((3, 1, 1), (1, 0, 0)), (1, 0), (5, 2), (7, 3))
    norm = d.of(nn.BatchNorm3d(k), nn.InstanceNorm3d(k, affine=True), nn.InstanceNorm3d(k), nn.GroupNorm(4, k), nn.Identity())
    layers = [nn.Conv3d(c, k, window, d.of(1, 1, 1, 2), pad, bias=d.yes()), norm, action(d)]
    last = d.of("none", "pool", "average", "up", "transposed", "mean")
    layers += {"pool": [nn.MaxPool3d(2)], "average": [nn.AvgPool3d(2)], "up": [nn.Upsample(scale_factor=2, mode=d.of("nearest", "trilinear"))],
               "transposed": [nn.ConvTranspose3d(k, max(4, k // 2), 2, 2)], "mean": [nn.AdaptiveAvgPool3d(1)], "none": []}[last]
    return nn.Sequential(*layers), [x]


def l_warp(d):
    c = d.of(1, 3, 16, 32, 64, 128)
    x = picture(d, c, most=2e7)
    n, _, h, w = x.shape

    def f(m, x, flow):
        at = torch.stack(torch.meshgrid(torch.linspace(-1, 1, w, device=x.device), torch.linspace(-1, 1, h, device=x.device), indexing="xy"), -1)
        return F.grid_sample(x.float(), at + flow.permute(0, 2, 3, 1), mode=d.of("bilinear", "nearest"), align_corners=True)
    return Of(f), [x, make((n, 2, h, w), FP32) * 0.1]


def l_pictures_loss(d):
    c = d.of(1, 2, 10, 19, 21, 150)
    x = picture(d, c, (64, 96, 128, 192, 256, 320, 384, 512), 3e7)
    n, _, h, w = x.shape
    labels, masks = make((n, h, w), torch.int64, c), (torch.rand(x.shape, device=DEVICE) < 0.3).float()

    def dice(x):
        p = torch.sigmoid(x.float())
        return 1 - ((2 * p * masks).sum((2, 3)) + 1) / (p.sum((2, 3)) + masks.sum((2, 3)) + 1)

    def focal(x):
        p = torch.sigmoid(x.float())
        return ((1 - p) ** 2 * F.binary_cross_entropy_with_logits(x.float(), masks, reduction="none")).mean()
    f = d.of(lambda m, x: F.cross_entropy(x.float(), labels), lambda m, x: F.cross_entropy(x.float(), labels, ignore_index=255), lambda m, x: dice(x), lambda m, x: focal(x),
             lambda m, x: F.smooth_l1_loss(x.float(), masks), lambda m, x: F.l1_loss(x, masks.to(x.dtype)), lambda m, x: F.mse_loss(x, masks.to(x.dtype)), lambda m, x: torch.softmax(x, 1), lambda m, x: x.argmax(1))
    return Of(f), [x]


def l_read(d):
    """Pictures as they come: bytes, turned, scaled, cut."""
    n, h = some(d, (1, 8, 16, 32, 64, 128)), some(d, (96, 128, 192, 224, 256, 320, 512), 16)
    x, mean = make((n, h, h, 3), torch.uint8, 255), make((3, 1, 1), FP32)

    def f(m, x, mean):
        y = (x.permute(0, 3, 1, 2).float() / 255 - mean) / mean.abs()
        y = torch.where((torch.rand(n, device=DEVICE) < 0.5)[:, None, None, None], y.flip(3), y)
        y = F.interpolate(y[:, :, h // 8:h // 8 * 7, h // 8:h // 8 * 7], (h // 2, h // 2), mode=d.of("bilinear", "bicubic"), antialias=d.yes())
        return y.clamp(-2, 2).to(memory_format=torch.channels_last)
    return Of(f), [x, mean]


def l_windows(d):
    """Windows of a picture that attend within themselves."""
    c, w, heads, shift = some(d, (64, 96, 128, 192, 256, 384), 16), d.of(7, 7, 8, 12, 16), d.of(4, 4, 8), d.yes()
    side = w * some(d, (2, 4, 4, 8), 2)
    n = some(d, (1, 2, 4, 8, 16, 32), 1)
    if n * side * side * c > 4e7 or n * (side // w) ** 2 * heads * w ** 4 > 1.2e8:
        raise Skip("size")

    def f(m, x):
        y = m.norm(x)
        y = torch.roll(y, (-3, -3), (1, 2)) if shift else y
        y = y.view(n, side // w, w, side // w, w, c).permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, w * w, c)
        q, k, v = m.qkv(y).reshape(-1, w * w, 3, heads, c // heads).permute(2, 0, 3, 1, 4).unbind(0)
        s = (q * 0.125) @ k.transpose(-2, -1) + m.bias(torch.arange(w ** 4, device=x.device) % 225).view(w * w, w * w, heads).permute(2, 0, 1).contiguous().unsqueeze(0)
        y = (s.softmax(-1) @ v).transpose(1, 2).reshape(-1, w * w, c)
        y = m.out(y).view(n, side // w, side // w, w, w, c).permute(0, 1, 3, 2, 4, 5).contiguous().view(n, side, side, c)
        return x + (torch.roll(y, (3, 3), (1, 2)) if shift else y)
    return Of(f, norm=nn.LayerNorm(c), qkv=nn.Linear(c, 3 * c), bias=nn.Embedding(225, heads), out=nn.Linear(c, c)), [make((n, side, side, c), FP32)]


def l_points(d):
    n, points, c, k = some(d, (4, 8, 16, 32)), some(d, (512, 1024, 2048, 4096), 32), d.of(3, 64, 64), d.of(64, 128, 256, 1024)
    if d.yes(0.3):
        near = some(d, (8, 16, 20), 4)

        def f(m, x):
            at = torch.cdist(x.transpose(1, 2).float(), x.transpose(1, 2).float()).topk(near, largest=False).indices
            y = torch.gather(x.unsqueeze(2).expand(-1, -1, points, -1), 3, at.unsqueeze(1).expand(-1, c, -1, -1))
            return m.a(torch.cat([y - x.unsqueeze(3), x.unsqueeze(3).expand_as(y)], 1)).amax(3)
        return Of(f, a=nn.Sequential(nn.Conv2d(2 * c, 64, 1, bias=False), nn.BatchNorm2d(64), nn.LeakyReLU(0.2))), [make((min(n, 8), c, min(points, 1024)), FP32)] if points <= 1024 else [make((n, c, points), FP32)]
    return Of(lambda m, x: m.a(x).amax(2), a=nn.Sequential(nn.Conv1d(c, k, 1), nn.BatchNorm1d(k), nn.ReLU(), nn.Conv1d(k, 2 * k, 1), nn.BatchNorm1d(2 * k))), [make((n, c, points), FP32)]


def l_rays(d):
    rays, steps, wide = some(d, (1024, 4096, 8192), 16), some(d, (32, 64, 128), 4), d.of(64, 128, 256)

    def f(m, x):
        at = x[:, None, :] * torch.linspace(0, 1, steps, device=x.device)[:, None]
        y = at[..., None] * (2.0 ** torch.arange(10, device=x.device))
        y = m.body(torch.cat([y.sin(), y.cos()], -1).flatten(2).to(m.body[0].weight.dtype))
        alpha = 1 - torch.exp(-F.relu(y[..., 0].float()) * 0.1)
        left = torch.cumprod(1 - alpha + 1e-10, -1)
        return ((alpha * left)[..., None] * torch.sigmoid(y[..., 1:].float())).sum(1)
    return Of(f, body=nn.Sequential(nn.Linear(60, wide), nn.ReLU(), nn.Linear(wide, wide), nn.ReLU(), nn.Linear(wide, 4))), [make((rays, 3), FP32)]


def l_waves(d):
    c = some(d, (16, 20, 32, 64), 4)
    x = picture(d, c, (32, 64, 85, 128, 256), 1.5e7).contiguous()
    modes = 12 if LIMIT == 1 else 4
    w = torch.view_as_complex(make((c, c, modes, modes, 2), FP32))

    def f(m, x):
        y = torch.fft.rfft2(x.float())
        out = torch.zeros_like(y)
        out[:, :, :modes, :modes] = torch.einsum("bixy,ioxy->boxy", y[:, :, :modes, :modes], w)
        return F.gelu(torch.fft.irfft2(out, s=x.shape[2:]) + m.a(x))
    return Of(f, a=nn.Conv2d(c, c, 1)), [x]


def drawn_convolution(d):
    """A convolution of activations in usual sizes: few channels over large images as well as many over small ones."""
    for _ in range(200):
        kind = d.of(*["plain"] * 13, *["point"] * 3, *["stem"] * 3, *["deep"] * 3, *["grouped"] * 2, *["volume"] * 4, *["line"] * 2, *["up"] * 2, "atrous")
        n, c, dims, stride, groups, dilation, up = d.of(1, 1, 2, 2, 4, 4, 6, 8, 8, 12, 16, 16, 24, 32, 32, 48, 64, 96, 128), width_of_images(d), 2, d.of(1, 1, 1, 1, 2), 1, 1, False
        k, f, side = d.of(c, c, c, 2 * c, max(8, c // 2), width_of_images(d)), d.of(3, 3, 3, 3, 3, 5, 7), d.of(7, 14, 16, 20, 28, 32, 40, 48, 56, 64, 72, 80, 96, 112, 128, 144, 160, 192, 224, 256, 320, 384, 512)
        if kind == "point":
            k, f = d.of(k, 4 * c, max(8, c // 4)), 1
        elif kind == "stem":
            c, k = d.of(1, 2, 3, 3, 3, 3, 4, 6), d.of(16, 24, 32, 32, 40, 48, 64, 64, 96, 128, 192)
            f, stride = d.of((3, 1), (3, 2), (3, 2), (5, 1), (7, 2), (7, 2), (7, 1), (4, 4), (2, 2), (8, 4), (16, 16))
            side = d.of(84, 96, 112, 128, 160, 192, 224, 224, 256, 256, 320, 384, 448, 512, 640)
        elif kind == "deep":
            k, groups, f = c, c, d.of(3, 3, 5, 7, 7)
        elif kind == "grouped":
            groups = d.of(2, 4, 8, 16, 32)
            c, k = -(-c // groups) * groups, -(-k // groups) * groups
        elif kind == "volume":
            dims, side, f, c, k = 3, d.of(8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64, 72, 80, 96, 112, 128), d.of(1, 3, 3, 3, 3, 5), d.of(1, 1, 2, 4, 8, 16, 16, 24, 32, 32, 48, 64, 96, 128, 256), d.of(8, 16, 16, 24, 32, 32, 48, 64, 96, 128, 256)
        elif kind == "line":
            dims, side, f = 1, d.of(64, 100, 250, 400, 500, 800, 1000, 1500, 2000, 3000, 4000, 8000, 16000, 32000), d.of(1, 3, 3, 5, 7, 9, 15)
            c = d.of(1, 80, c, c, c)
        elif kind == "up":
            up, stride, f = True, 2, d.of(2, 2, 4, 3)
        elif kind == "atrous":
            dilation, f, stride = d.of(2, 4, 6, 12), 3, 1
        pad = 0 if kind == "up" and f == 2 or stride == f else (f - 1) // 2 if up else f // 2 * dilation
        out = (side - 1) * stride - 2 * pad + f if up else (side + 2 * pad - dilation * (f - 1) - 1) // stride + 1
        dtype = d.of(BF, BF, BF, HALF, HALF, FP32, FP32)
        elements, flops = n * max(c * side ** dims, k * out ** dims), 2.0 * n * (side if up else out) ** dims * c * k // groups * f ** dims
        if out < 1 or not 4e5 < elements < 8e7 or flops > (3e11 if dtype == FP32 or groups > 1 else 1.5e12):
            continue
        form = {1: torch.contiguous_format, 2: torch.channels_last, 3: torch.channels_last_3d}[dims] if d.yes(0.25 if dims == 3 else 0.5) else torch.contiguous_format
        x = make([n, c] + [side] * dims, dtype).contiguous(memory_format=form)
        w = make([c, k // groups] + [f] * dims if up else [k, c // groups] + [f] * dims, dtype).contiguous(memory_format=form)
        return x, w, d.yes(0.3), [stride] * dims, [pad] * dims, [dilation] * dims, up, [0] * dims, groups, dtype == FP32 and d.yes(0.85)
    raise Skip("size")


def p_drawn_convolution(d):
    x, w, biased, *more, tf32 = drawn_convolution(d)
    bias = make((w.shape[1] * more[-1] if more[3] else w.shape[0],), x.dtype) if biased else None
    return lambda: aten.convolution(x, w, bias, *more), tf32


def p_drawn_convolution_backward(d):
    x, w, biased, *more, tf32 = drawn_convolution(d)
    g = torch.randn_like(aten.convolution(x, w, None, *more))
    mask = [x.shape[1] > 4 or d.yes(0.2), True, biased]
    return lambda: aten.convolution_backward(g, x, w, [g.shape[1]] if biased else [0], *more, mask), tf32


IMAGE_LAYERS = [(l_residual, 10), (l_bottleneck, 6), (l_mobile, 6), (l_next, 4), (l_dense, 4), (l_stem, 7), (l_unet, 10), (l_atrous, 3), (l_pyramid, 3), (l_sharpen, 3), (l_drawn, 4), (l_modulated, 2),
                (l_volume, 10), (l_warp, 2), (l_pictures_loss, 4), (l_read, 2), (l_windows, 5), (l_points, 3), (l_rays, 2), (l_waves, 2)]
