# ---- Steps of drawn layers: each of their calls becomes a point, with the strides, types and indices that the layer gave it ----------------

def layer_step(d, build):
    """A layer in one of the ways that programs run one: (step, whether float32 products are TF32)."""
    how, train = d.of("cast", "cast", "low", "low", "full", "full"), d.yes(0.65)
    half = d.of(BF, BF, HALF)
    module, xs = build(d)
    module = module.to(DEVICE)
    if any(x.dim() == 4 and x.is_contiguous(memory_format=torch.channels_last) and not x.is_contiguous() for x in xs):
        module = module.to(memory_format=torch.channels_last)
    if how == "low":
        module, xs = module.to(half), [x.to(half) if x.dtype == FP32 else x for x in xs]
    module.train(train)
    xs = [x.requires_grad_() if train and x.is_floating_point() else x for x in xs]
    state = d.r.getrandbits(32)

    def step():
        d.r.seed(state)  # the same choices each time
        module.zero_grad(set_to_none=True)
        for x in xs:
            x.grad = None
        with torch.autocast(DEVICE, half, enabled=how == "cast"), torch.set_grad_enabled(train):
            y = module(*xs)
        made = [t for t in (y if isinstance(y, (tuple, list)) else [y]) if isinstance(t, torch.Tensor) and t.requires_grad]
        if train and made:
            torch.autograd.backward(made, [torch.ones_like(t) for t in made])
    return step, d.yes(0.85)


def bytes_of(x):
    if isinstance(x, tuple) and x and x[0] == "tensor":
        return math.prod(x[1]) * x[3].itemsize
    if isinstance(x, torch.Tensor):
        return x.numel() * x.element_size()
    return sum(map(bytes_of, x)) if isinstance(x, (list, tuple)) else 0


HEAVY = ("convolution", "mm", "norm", "softmax", "attention", "pool", "upsample", "index", "scatter", "gather", "embedding", "sort", "topk", "cum", "rnn", "fft", "grid", "loss", "cat", "stack", "fused", "foreach")


def worth(d, func, args, seen):
    """What carries time, and of each op not more than there is to learn."""
    name, size = str(func).split(".")[1], bytes_of(args)
    large = size > 5e5
    chance = (1.0 if large else 0.08) * (1.0 if any(w in name for w in HEAVY) else 0.55)
    chance *= min(1.0, 400 / (1 + seen.get(name, 0)))
    if size > 6e9 or not d.yes(chance):
        return False
    seen[name] = seen.get(name, 0) + 1
    return True


def remade(func, args, kwargs, tf32, about):
    def f():
        x, k = Collector.remake(args), {n: Collector.remake(v) for n, v in kwargs.items()}
        lists = [y for y in x if isinstance(y, list) and y and all(isinstance(t, torch.Tensor) for t in y)]
        told = {"sizes": [t.numel() for t in lists[0]], "item": str(lists[0][0].dtype)} if lists else {}
        return lambda: func(*x, **k), tf32, dict(told, **about)
    return f


def layer_points(draw, recorder, seen):
    """Functions that make the points of one drawn layer; none where its sizes do not suit."""
    layers = IMAGE_LAYERS + SEQUENCE_LAYERS
    build = draw.r.choices([f for f, _ in layers], [w for _, w in layers])[0]
    name, later = build.__name__[2:], random.Random(draw.r.getrandbits(32))
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    calls = None
    recorder.begin("layer " + name)
    try:
        step, tf32 = layer_step(draw, build)
        step()
        with Collector() as calls:
            step()
    except Skip:
        pass
    except Exception as e:  # a library refuses what was drawn: the next layer
        text = "%s: %s: %s" % (name, type(e).__name__, str(e).split("\n")[0][:150])
        if "CUDA error" in text:
            print("lost the device:", text, flush=True)
            os._exit(3)
        recorder.failed[text] = recorder.failed.get(text, 0) + 1
        calls = None
    recorder.begin("")
    draw.r = later  # the layer has left its own choices in it
    found = [remade(f, args, kwargs, tf32, {"maker": "layer_" + name}) for f, args, kwargs, _ in calls.calls.values() if worth(draw, f, args, seen)] if calls is not None else []
    return found


def sweep_layers(a, log):
    recorder, draw, seen, have = Recorder(a.out), Draw(a.seed + 77), {}, 0
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):
        torch.mm(make((64, 64)), make((64, 64)))
    log("ready")
    while time.time() < a.until - 3:
        makes, layers = [], 0
        while len(makes) < a.batch and time.time() < a.until - 2:
            makes += layer_points(draw, recorder, seen)
            layers += 1
            if layers % 8 == 0:
                torch.cuda.empty_cache()
        have += recorder.points("layers", makes, a.until, apart=True)
        log(layers, "layers", len(makes), "calls", have, "points")
    recorder.finish()
    for text, n in sorted(recorder.failed.items(), key=lambda x: -x[1])[:40]:
        log("refused", n, text)
