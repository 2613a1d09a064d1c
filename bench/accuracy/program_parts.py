"""What the programs of all sets are made with: sizes for the device or for a dry run, compiled and captured forms, steps, the order of recording."""
import os
import torch

DRY = os.environ.get("HELD_OUT_DRY") == "1"  # on the CPU, small: checks that both halves of a pair do the same work
D = "cpu" if DRY else "cuda"
BF, HALF = torch.bfloat16, torch.float16
HALF_HERE = torch.float32 if DRY else HALF
FORM = {"compiled": False}
torch.set_float32_matmul_precision("high")  # TF32 for all but the pairs whose fault is that it is off
torch.backends.cudnn.allow_tf32 = True


def S(full, small):
    return small if DRY else full


def autocast(dtype=BF):
    return torch.autocast(D, dtype=BF if DRY else dtype)


def compiled(f, **more):
    if DRY:
        return torch.compile(f, backend=os.environ.get("HELD_OUT_BACKEND", "aot_eager"))
    return torch.compile(f, **more)


def formed(f):
    """f as it is, or compiled where the compiled form of a program is made."""
    return compiled(f) if FORM["compiled"] else f


def compiled_form(maker):
    def make():
        FORM["compiled"] = True
        try:
            return maker()
        finally:
            FORM["compiled"] = False
    return make


def built(make, dtype=None):
    """A module made where it runs: drawing large weights on the host takes seconds."""
    with torch.device(D):
        m = make()
    return m.to(dtype) if dtype else m


def noise(*shape, dtype=None):
    return torch.randn(*shape, device=D, dtype=dtype)


def draw(top, *shape):
    return torch.randint(0, top, shape, device=D)


def pinned(x):
    return x if DRY else x.pin_memory()


def last(x):
    return x.to(memory_format=torch.channels_last)


def replayed(f):
    """f captured once in a CUDA graph; its result is rewritten by each replay."""
    if DRY:
        return f
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            f()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = f()

    def step():
        graph.replay()
        return result
    return step


def training(m, loss_of, optimizer=None, cast=True):
    """A step of training; loss_of() runs under autocast where `cast` says so."""
    optimizer = optimizer or torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        if cast:
            with autocast():
                loss = loss_of()
        else:
            loss = loss_of()
        loss.backward()
        optimizer.step()
        return loss.detach()
    return step


def inference(f, *inputs):
    @torch.no_grad()
    def step():
        return f(*inputs)
    return step


def pair(maker, fault, mended):
    return {"fault": maker(fault), "mended": maker(mended)}


def in_turns(pairs, healthy):
    """Three pairs, two healthy programs, and so on: a run cut short has some of everything."""
    pairs, healthy, order = list(pairs.items()), list(healthy.items()), []
    while pairs or healthy:
        order += pairs[:3] + healthy[:2]
        pairs, healthy = pairs[3:], healthy[2:]
    return dict(order)
