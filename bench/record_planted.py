# Programs with a planted change, in three sizes each, and without it, in turns within one recording, because hosts vary by tens
# of percent within minutes: blocks of four steps, plain, small, plain, middle, plain, large, three rounds, a synchronisation
# behind each block. `whatif` from a plain block is held against the block with the change beside it. The host spins in the annotation "planted_spin" ahead of each layer; the device sleeps in
# torch.cuda._sleep's kernel behind each layer. The plain program has both with next to no length, so that only the sizes differ.
# Writes $OUT/planted/*.json.gz and planted.jsonl as it goes; at the end $OUT/planted.tar.
import gzip, json, os, shutil, sys, tarfile, time
import torch
from torch.profiler import profile, record_function, schedule, ProfilerActivity

OUT = os.path.join(os.environ.get("OUT", "."), "planted")
os.makedirs(OUT, exist_ok=True)
LOG = open(os.path.join(OUT, "planted.jsonl"), "a")
dev = "cuda"
torch.manual_seed(0)
torch.backends.cuda.matmul.allow_tf32 = True
NONE_CYCLES = 2000


def spin(us):
    with record_function("planted_spin"):
        if us:
            start = time.perf_counter_ns()
            while time.perf_counter_ns() - start < us * 1000:
                pass


class Change:
    spin_us = 0
    cycles = NONE_CYCLES


change = Change()


def before():
    spin(change.spin_us)


def after():
    torch.cuda._sleep(change.cycles)


def eager_small():
    layers = torch.nn.ModuleList(
        [torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.GELU(), torch.nn.LayerNorm(256)) for _ in range(24)]
    ).to(dev)
    x = torch.randn(16, 256, device=dev)

    @torch.no_grad()
    def step():
        h = x
        for layer in layers:
            before()
            h = h + layer(h)
            after()

    return step


def gpu_products():
    a = [torch.randn(4096, 4096, device=dev, dtype=torch.bfloat16) for _ in range(2)]

    @torch.no_grad()
    def step():
        h = a[0]
        for _ in range(12):
            before()
            h = torch.mm(h, a[1])
            after()
            h = h * 0.01

    return step


def training():
    layers = torch.nn.ModuleList([torch.nn.Sequential(torch.nn.Linear(2048, 2048), torch.nn.GELU()) for _ in range(10)]).to(dev)
    head = torch.nn.Linear(2048, 10).to(dev)
    opt = torch.optim.AdamW([*layers.parameters(), *head.parameters()], lr=1e-4)
    x = torch.randn(1024, 2048, device=dev)
    y = torch.randint(0, 10, (1024,), device=dev)

    def step():
        opt.zero_grad()
        h = x
        for layer in layers:
            before()
            h = h + layer(h)
            after()
        loss = torch.nn.functional.cross_entropy(head(h), y)
        loss.backward()
        opt.step()
        return loss.item()

    return step


def compiled():
    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = torch.nn.Linear(1024, 2048), torch.nn.Linear(2048, 1024)
            self.norm = torch.nn.LayerNorm(1024)

        def forward(self, x):
            return x + self.b(torch.nn.functional.gelu(self.a(self.norm(x))))

    blocks = [torch.compile(Block().to(dev).bfloat16()) for _ in range(8)]
    x = torch.randn(2048, 1024, device=dev, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        h = x
        for block in blocks:
            before()
            h = block(h)
            after()

    return step


def prefetch():  # batches come by a stream of their own
    w = torch.randn(2048, 2048, device=dev, dtype=torch.bfloat16)
    batches = [torch.randn(4096, 2048, dtype=torch.bfloat16).pin_memory() for _ in range(3)]
    side = torch.cuda.Stream()
    state = {"i": 0, "next": batches[0].to(dev)}

    @torch.no_grad()
    def step():
        torch.cuda.current_stream().wait_stream(side)
        h = state["next"]
        state["i"] += 1
        with torch.cuda.stream(side):
            state["next"] = batches[state["i"] % 3].to(dev, non_blocking=True)
        h.record_stream(torch.cuda.current_stream())
        for _ in range(10):
            before()
            h = torch.relu(torch.mm(h, w)) * 0.01
            after()

    return step


def cycles_per_us():
    for n in (1000, 10_000_000):
        torch.cuda._sleep(n)
    torch.cuda.synchronize()
    a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    a.record()
    torch.cuda._sleep(20_000_000)
    b.record()
    torch.cuda.synchronize()
    return 20_000_000 / (a.elapsed_time(b) * 1000)


ROUNDS, BLOCK = 3, 4
rate = cycles_per_us()
kinds = {"host": [(us, 0) for us in (10, 40, 160)], "sleep": [(0, us) for us in (10, 40, 160)]}
for program in (eager_small, gpu_products, training, compiled, prefetch):
    try:
        step = program()
        for _ in range(8):
            step()
        torch.cuda.synchronize()
        for kind, sizes in kinds.items():
            blocks = [b for _ in range(ROUNDS) for size in sizes for b in ((0, 0), size)]
            raw = os.path.join(OUT, f"{program.__name__}.{kind}.json")
            with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True,
                         schedule=schedule(wait=0, warmup=4, active=BLOCK * len(blocks), repeat=1),
                         on_trace_ready=lambda p: p.export_chrome_trace(raw)) as prof:
                for _ in range(4):
                    step()
                    torch.cuda.synchronize()
                    prof.step()
                for spin_us, sleep_us in blocks:
                    change.spin_us, change.cycles = spin_us, NONE_CYCLES + int(sleep_us * rate)
                    for i in range(BLOCK):
                        step()
                        if i + 1 == BLOCK:
                            torch.cuda.synchronize()
                        prof.step()
            change.spin_us, change.cycles = 0, NONE_CYCLES
            with open(raw, "rb") as src, gzip.open(raw + ".gz", "wb", 6) as dst:
                shutil.copyfileobj(src, dst)
            os.remove(raw)
            LOG.write(json.dumps({"name": f"{program.__name__}.{kind}", "block": BLOCK, "first": 4,
                                  "blocks": [max(b) for b in blocks]}) + "\n")
            LOG.flush()
            print(program.__name__, kind, "recorded", flush=True)
    except Exception as error:
        print(program.__name__, "failed:", repr(error), flush=True)
with tarfile.open(OUT + ".tar", "w") as tar:
    tar.add(OUT, "planted")
shutil.rmtree(OUT)
