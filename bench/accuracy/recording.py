"""Record programs with and without torch.profiler: their real step and their traces.

    python3 recording.py PROGRAMS.py OUT [--seconds S] [name ...]

PROGRAMS.py has PROGRAMS: {name: maker}; a maker returns step(), or {"fault": maker, "mended": maker} for a pair. Every entry
runs in a process of its own. The real step is measured with nobody profiling, in nine series; those of a pair take turns. What
is measured is written as it comes: OUT/steps.jsonl, OUT/<name>.<options>.json.gz.
"""
import argparse, gzip, importlib.util, json, os, random, shutil, statistics, sys, time, traceback

SERIES = 9
OPTIONS = {
    "plain": {},
    "shapes": dict(record_shapes=True),
    "memory": dict(record_shapes=True, profile_memory=True),
    "stack": dict(with_stack=True),
    "shapes_stack": dict(record_shapes=True, with_stack=True),
    "modules": dict(record_shapes=True, with_stack=True, with_modules=True),
}


def timed(step, count):
    import torch
    torch.cuda.synchronize()
    start = time.perf_counter_ns()
    for _ in range(count):
        step()
    torch.cuda.synchronize()
    return (time.perf_counter_ns() - start) / 1e3 / count


def warm_up(step):
    for _ in range(6):
        step()
    return max(3, min(400, int(120e3 / max(timed(step, 3), 1.0))))


def record(step, options, path, steps=5):
    import torch
    from torch.profiler import ProfilerActivity, profile, schedule
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], schedule=schedule(wait=1, warmup=3, active=steps, repeat=1),
                 **OPTIONS[options]) as prof:
        for _ in range(4 + steps):
            step()
            prof.step()
        torch.cuda.synchronize()
    prof.export_chrome_trace(path[:-3])
    with open(path[:-3], "rb") as plain, gzip.open(path, "wb", 6) as packed:
        shutil.copyfileobj(plain, packed)
    os.remove(path[:-3])


def run(name, entry, options, out):
    import torch
    torch.manual_seed(0)
    makers = entry if isinstance(entry, dict) else {"": entry}
    steps, counts, series = {}, {}, {}
    for part, maker in makers.items():
        full = f"{name}.{part}" if part else name
        steps[full] = maker()
        counts[full] = warm_up(steps[full])
        series[full] = []
    for _ in range(SERIES):
        for full, step in steps.items():
            series[full].append(round(timed(step, counts[full]), 2))
    for full, step in steps.items():
        line = dict(name=full, step_us=statistics.median(series[full]), series_us=series[full], steps=counts[full], torch=torch.__version__,
                    device=torch.cuda.get_device_name())
        for option in options:
            record(step, option, f"{out}/{full}.{option}.json.gz")
        line["after_us"] = round(timed(step, counts[full]), 2)
        line["options"] = options
        with open(f"{out}/steps.jsonl", "a") as file:
            file.write(json.dumps(line) + "\n")
        print(full, round(line["step_us"], 1), f"{min(series[full]):.1f}..{max(series[full]):.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("out")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=500)
    args = parser.parse_args()
    end = time.monotonic() + args.seconds
    os.makedirs(args.out, exist_ok=True)
    import torch  # before the forks, once; the device is first touched behind them
    try:
        import torch._inductor, torch._dynamo
    except Exception:
        pass
    spec = importlib.util.spec_from_file_location("programs", args.programs)
    programs = importlib.util.module_from_spec(spec)
    sys.modules["programs"] = programs  # as Dynamo looks it up
    spec.loader.exec_module(programs)
    for index, (name, entry) in enumerate(programs.PROGRAMS.items()):
        if args.names and name not in args.names:
            continue
        if time.monotonic() > end:
            print("out of time before", name, flush=True)
            break
        begin = time.monotonic()
        child = os.fork()
        if child == 0:
            code = 0
            try:
                run(name, entry, programs.options(index), args.out)
            except BaseException:
                traceback.print_exc()
                code = 1
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        limit = min(end + 20, time.monotonic() + 90)
        while os.waitpid(child, os.WNOHANG)[0] == 0:
            if time.monotonic() > limit:
                os.kill(child, 9)
                print(name, "killed: too long", flush=True)
                os.waitpid(child, 0)
                break
            time.sleep(0.05)
        print(f"  {name}: {time.monotonic() - begin:.1f} s", flush=True)


main()
