#!/usr/bin/env python3
"""What stays behind the window of `ridge record` in a launch-bound program, on a machine with a GPU.

    bench/record_cost.py [--deadline 105] [--out FILE.jsonl]

Each process is compared with itself, steps behind the window against steps before it, in turns of four kinds:
  alone      nobody records
  recorded   under ridge's recorder: its hooks, its window of 5 steps, its detaching of CUPTI
  torch      torch.profiler alone over the same 5 steps; CUPTI stays attached, as torch leaves it
  detached   the same, with TEARDOWN_CUPTI=1 when it stops, and nothing of ridge's: what Kineto's own detaching leaves
One process imports torch and forks a child for each run (CUDA is begun in the child): a run takes seconds, so that there are many. Ends by itself."""
import argparse, json, os, random, shutil, signal, statistics, sys, tempfile, time

parser = argparse.ArgumentParser()
parser.add_argument("--deadline", type=float, default=105)
parser.add_argument("--steps", type=int, default=300)   # before, and as many behind
parser.add_argument("--layers", type=int, default=25)
parser.add_argument("--out", default="record_cost.jsonl", help="a line for each run, as it is done")
asked = parser.parse_args()
BEGUN = time.time()
HERE = os.path.dirname(os.path.abspath(__file__))
WORK = tempfile.mkdtemp(prefix="ridge-record-cost-")
shutil.copytree(os.path.join(HERE, os.pardir, "python", "ridge", "recording"), os.path.join(WORK, "_ridge_recording"), ignore=shutil.ignore_patterns("__pycache__"))
sys.path.insert(0, WORK)
os.environ.pop("TEARDOWN_CUPTI", None)
import torch  # not torch.cuda: a child of a process that has begun CUDA cannot use it

import torch.profiler

# What the first optimizer and its first step import, once for all children. No backward: its engine would begin CUDA.
_weight = torch.nn.Parameter(torch.zeros(2))
_weight.grad = torch.ones(2)
_first = torch.optim.SGD([_weight], lr=1e-3, foreach=False)
_first.step()
_first.zero_grad()
READY = time.time()

KINDS = ("alone", "recorded", "torch", "detached")
WARM, WINDOW, SETTLE = 60, 5, 40


def run(kind, place):
    steps = asked.steps
    first = WARM + steps  # steps that end before the window's own warm-up step
    if kind == "recorded":
        os.environ.update(RIDGE_RECORD_TO=place, RIDGE_RECORD_WITH="shapes,quiet", RIDGE_RECORD_AFTER=str(first + 1), RIDGE_RECORD_STEPS=str(WINDOW))
        from _ridge_recording import attach
        attach._begin(torch)  # what the hook does when torch was imported
    device = "cuda" if torch.cuda.is_available() else "cpu"
    wait = torch.cuda.synchronize if device == "cuda" else (lambda: None)
    model = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(asked.layers)]).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, foreach=False)
    x = torch.randn(8, 64, device=device)

    def step():
        begun = time.perf_counter()
        model(x).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        wait()
        return time.perf_counter() - begun

    for _ in range(WARM):
        step()
    before = [step() for _ in range(steps)]
    profiler = None
    if kind in ("torch", "detached"):
        action = torch.profiler.ProfilerAction
        profiler = torch.profiler.profile(record_shapes=True, schedule=lambda i: action.WARMUP if i == 0 else action.RECORD)
        profiler.start()
    for _ in range(WINDOW + 1):
        step()
        if profiler is not None:
            profiler.step()
    if profiler is not None:
        if kind == "detached":
            os.environ["TEARDOWN_CUPTI"] = "1"
        profiler.stop()
        profiler.export_chrome_trace(os.path.join(place + ".json.gz"))
        del profiler
    for _ in range(3):
        step()
    until = time.time() + 4
    while kind == "recorded" and time.time() < until and not (os.path.isdir(place) and any(name.endswith(".gz") for name in os.listdir(place))):
        time.sleep(0.02)
    time.sleep(0.2)
    for _ in range(SETTLE):
        step()
    behind = [step() for _ in range(steps)]
    low = lambda values: statistics.quantiles(values, n=10)[0]
    return {
        "before": statistics.median(before), "behind": statistics.median(behind), "before_low": low(before), "behind_low": low(behind),
        "files": len(os.listdir(place)) if os.path.isdir(place) else int(os.path.exists(place + ".json.gz")), "device": device,
        "teardown": os.environ.get("TEARDOWN_CUPTI"),
    }


def child(kind, place):
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)  # one that hangs ends, and is counted as failed
        try:
            said = json.dumps(run(kind, place))
        except BaseException as error:
            said = json.dumps({"error": repr(error)[:300]})
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        said = file.read()
    os.waitpid(pid, 0)
    return json.loads(said or b"{}")


rows, longest = [], 0.0
with open(asked.out, "w") as figures:
    while True:
        at = len(rows)
        kind = KINDS[(at + at // len(KINDS)) % len(KINDS)]  # each kind at each place of a turn
        if time.time() - BEGUN + 1.2 * longest > asked.deadline:
            break
        begun = time.time()
        row = {"kind": kind, **child(kind, os.path.join(WORK, f"run{at}")), "seconds": time.time() - begun}
        longest = max(longest, row["seconds"])
        rows.append(row)
        print(json.dumps(row), file=figures, flush=True)


def ratios(kind, suffix):
    return [row["behind" + suffix] / row["before" + suffix] for row in rows if row["kind"] == kind and "behind" in row]


random.seed(7)
for suffix, what in (("", "medians of steps"), ("_low", "quickest tenth of steps")):
    alone = ratios("alone", suffix)
    for kind in KINDS[1:]:
        of = ratios(kind, suffix)
        if len(alone) < 2 or len(of) < 2:
            continue
        cost = lambda a, b: 100 * (statistics.median(a) / statistics.median(b) - 1)
        made = sorted(cost(random.choices(of, k=len(of)), random.choices(alone, k=len(alone))) for _ in range(4000))
        print(f"{what}: {kind}: behind / before {statistics.median(of):.4f} ({len(of)}), alone {statistics.median(alone):.4f} ({len(alone)}): costs {cost(of, alone):+.2f} % (90 %: {made[200]:+.2f} to {made[-200]:+.2f})")
errors = [row | {"error": row.get("error", "died or hung")} for row in rows if "behind" not in row]
print(f"{len(rows)} runs, {len(errors)} failed{': ' + errors[0]['error'] if errors else ''}; recorded without a file: {sum(row['kind'] == 'recorded' and not row.get('files') for row in rows)}; {time.time() - BEGUN:.0f} s, of which torch {READY - BEGUN:.0f}, a run {statistics.median(row['seconds'] for row in rows):.1f}")
