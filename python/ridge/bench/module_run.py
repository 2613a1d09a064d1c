"""Runs a module that Inductor generated: the whole of it for wall time, busy time and categories, and each of its Triton kernels alone. In the worker."""

import importlib.util
import json
import time

from . import configs, module_source, tasks, triton_calls

WALL_TIMES = 10  # calls of one timing
WALL_REPEATS = 10
WALL_ROUNDS = 24
WALL_SETTLED = 0.02  # of a round's time
WALL_PATIENCE = 4  # rounds in a row that are no faster
WALL_SECONDS = 3.0  # after which no further round begins
PROFILED_RUNS = 20


def run(worker, request):
    """Answers with wall time, memory, and one entry per Triton kernel in the order in which the module runs them; the profile goes to request["trace"]. What is known
    goes to request["so_far"] as well, a line each: the rows of kernels that ran outlive one that takes the worker down."""
    torch = worker.torch
    with open(request["module"], encoding="utf-8") as file:
        text = file.read()
    module = _load(request["module"])
    once = _call(torch, module, text)
    with torch.no_grad():
        once()  # compiles what is left
        torch.cuda.synchronize()
        answer = {"status": "ok", "reason": None, "runs": PROFILED_RUNS}
        _end_compilers()
        torch.cuda.reset_peak_memory_stats()
        answer["wall_ns"] = _wall_ns(torch, once)
        answer["peak_memory_bytes"] = torch.cuda.max_memory_allocated()
        with triton_calls.watched() as seen:  # keeps the arguments of kernels alive
            once()
        torch.cuda.synchronize()
        _profile(torch, once, request["trace"])
        answer["kernels"] = []
        with open(request["so_far"], "w", encoding="utf-8") as so_far:
            _add_line(so_far, {key: answer[key] for key in ("runs", "wall_ns", "peak_memory_bytes")})
            for each in _first_of_each(seen):
                if not module_source.is_asked(each.name, request.get("kernel")):
                    continue
                answer["kernels"].append(_kernel(worker, request, text, each))
                _add_line(so_far, answer["kernels"][-1])
    return answer


def _add_line(file, value):
    file.write(json.dumps(value, default=str) + "\n")
    file.flush()


def _load(path):
    spec = importlib.util.spec_from_file_location("ridge_compiled_module", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _call(torch, module, text):
    """A function that runs the module once, with the inputs that it makes itself; else with those that its asserts describe."""
    if callable(getattr(module, "get_args", None)):
        args = module.get_args()
        return lambda: module.call(list(args))
    if callable(getattr(module, "benchmark_compiled_module", None)):
        return _captured(module.benchmark_compiled_module)
    from torch._dynamo.testing import rand_strided

    torch.manual_seed(0)
    made = [rand_strided(each.size, each.stride, device="cuda:0", dtype=getattr(torch, each.dtype)) for each in module_source.inputs(text)]
    return lambda: module.call(list(made))


def _captured(benchmark):
    """What an older module hands to Inductor's own timer: the function is kept and not timed."""
    import torch._inductor.utils as utils

    kept, original = [], utils.print_performance
    utils.print_performance = lambda function, *args, **kwargs: kept.append(function) or 0.0
    try:
        benchmark(times=1, repeat=1)
    finally:
        utils.print_performance = original
    if not kept:
        raise module_source.NotAModule("the module's own benchmark runs nothing")
    return kept[0]


def _end_compilers():
    """Processes that compiled the module's kernels still start up and take the host's cores from what is timed."""
    try:
        from torch._inductor.async_compile import shutdown_compile_workers

        shutdown_compile_workers()
    except Exception:  # of versions that have none
        pass


def _wall_ns(torch, once):
    """Of one run that nobody profiles, as the module's own -p measures it: each run is waited for, its outputs live until the next has made its own. The best of
    rounds, until several in a row are no faster: the first runs of a process are slow, and a host has slow phases that outlast a round."""
    return best_of_rounds(lambda: sorted(_wall_once(torch, once) for _ in range(WALL_REPEATS))[(WALL_REPEATS - 1) // 2])


def best_of_rounds(timed_round, clock=time.monotonic):
    best, waited, until = None, 0, clock() + WALL_SECONDS
    for _ in range(WALL_ROUNDS):
        taken = timed_round()
        waited = 0 if best is None or taken < (1 - WALL_SETTLED) * best else waited + 1
        best = taken if best is None else min(best, taken)
        if waited >= WALL_PATIENCE or clock() > until:
            break
    return best


def _wall_once(torch, once):
    torch.cuda.synchronize()
    begun = time.perf_counter_ns()
    for _ in range(WALL_TIMES):
        made = once()
        torch.cuda.synchronize()
    taken = (time.perf_counter_ns() - begun) // WALL_TIMES
    del made  # freed when its time is taken
    return taken


def _profile(torch, once, path):
    profiler = torch.profiler
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.CUDA], record_shapes=True) as profile:
        for number in range(PROFILED_RUNS):
            with profiler.record_function("ProfilerStep#%d" % number):
                once()
        torch.cuda.synchronize()
    profile.export_chrome_trace(path)


def _first_of_each(seen):
    found = {}
    for each in seen:
        found.setdefault(each.name, each)
    return list(found.values())


def _kernel(worker, request, text, seen):
    """One kernel alone, with the arguments that the module gave it."""
    stream = worker.torch.cuda.current_stream().cuda_stream

    def launch():
        if hasattr(seen.tuner, "launchers"):
            seen.tuner.run(*seen.args, **{**seen.kwargs, "stream": stream})
        else:
            seen.tuner.run(*seen.args, **seen.kwargs)

    told = {"name": seen.name, "call": seen.call(), "bytes": _bytes(seen)}
    try:
        timed = worker.meter.time(launch, None, seconds=request["seconds"], within=request.get("within", 0.01))
        told.update(status="ok", compiled=seen.compiled(), **tasks.described(timed))
        if request.get("configs") and hasattr(seen.tuner, "compile_results"):
            told["configs"] = configs.of_inductor(worker, seen, _source_of(text, seen.name), request.get("configs_seconds", configs.SECONDS))
    except Exception as error:
        if worker._is_lost(error):
            raise
        told.update(status="failed", reason="%s: %s" % (type(error).__name__, str(error).split("\n")[0][:300]))
    return told


def _source_of(text, name):
    return next((each.source for each in module_source.kernels(text) if each.name == name), None)


def _bytes(seen):
    """What the kernel moves, as Inductor counts it: its own figure where it was told to write one, else every tensor once, in_out twice."""
    meta = getattr(seen.tuner, "inductor_meta", None) or {}
    if meta.get("kernel_num_gb"):
        return round(1e9 * meta["kernel_num_gb"])
    names = list(getattr(seen.tuner.fn, "arg_names", ()))
    total = 0
    for name, value in zip(names, seen.args):
        if hasattr(value, "element_size"):
            total += value.numel() * value.element_size() * (2 if name.startswith("in_out_ptr") else 1)
    return total or None
