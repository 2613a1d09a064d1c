"""What a worker can be asked: a row per task, each a function of (worker, request) that answers with a dict."""

import time

from . import meter, samples, script, settings, triton_calls


def machine(worker, request):
    """What the machine is. Never fails: `device` is None without a GPU."""
    torch = worker.torch
    told = {"status": "ok", "torch": torch.__version__, "cuda": torch.version.cuda, "hip": torch.version.hip, "device": None}
    if worker.has_gpu and worker.on == "cuda":
        properties = torch.cuda.get_device_properties(0)
        told.update(
            device=properties.name,
            memory_bytes=properties.total_memory,
            multiprocessors=properties.multi_processor_count,
            capability=10 * properties.major + properties.minor,
            l2_bytes=meter.cache_bytes(properties),
            flush_bytes=meter.flush_bytes(properties),
            max_mhz=worker.clocks.max_mhz(),
            bus_bits=getattr(properties, "memory_bus_width", None),
            memory_mhz=worker.clocks.memory_mhz(),
        )
    return told


def run_script(worker, request):
    """A script of ridge replay: run, and timed where there is a GPU."""
    torch = worker.torch
    begun = time.monotonic()
    call = script.call_of(request["script"])
    module = script.load(request["script"])
    if worker.on != "cuda":
        inputs = module.make_inputs(device=worker.on, seed=request.get("seed", 0))
        module.run(inputs)
        return {"status": "ran", "reason": "on %s, where nothing is timed" % worker.on}

    with torch.no_grad(), settings.kept(torch):
        if callable(getattr(module, "set_modes", None)):
            module.set_modes()
        inputs = module.make_inputs(device="cuda", seed=request.get("seed", 0))

        def run():
            module.run(inputs)

        with triton_calls.watched() as seen:
            run()
        torch.cuda.synchronize()
        timed = _timed(worker, request, run, call)
        index, same = script.launch_in(typical(timed), call)
        set_to = None
        if not same and call.get("kernel") and not script.source_differs(call):
            set_to = _other_settings(worker, run, call)
        if set_to is not None:
            timed = _timed(worker, request, run, call)
            index, same = script.launch_in(typical(timed), call)
    answer = {"status": "ok", "reason": None, "same_kernel": same, "settings": set_to, "index": index, "took_s": round(time.monotonic() - begun, 3)}
    answer.update(described(timed))
    answer["compiled"] = _compiled(seen, timed.launches()[index].name if index is not None else "")
    if request.get("configs"):
        from . import configs

        answer["configs"] = configs.of_call(worker, request, call, seen, run, module, inputs)
    return answer


def _timed(worker, request, run, call):
    def choose(launches):
        return script.launch_in(launches, call)[0]

    return worker.meter.time(run, choose, seconds=request["seconds"], within=request.get("within", samples.ENOUGH))


def _other_settings(worker, run, call):
    """Sets the process so that the trace's own kernel runs, and says how; None where nothing that is tried helps."""
    torch = worker.torch
    for words, setter in settings.for_op(call.get("op")):
        with settings.kept(torch):
            setter(torch)
            tried = worker.meter.launches(run)
        if script.launch_in(tried, call)[1]:
            setter(torch)
            return words
    return None


def typical(timed):
    """The launches of a run, each with its median cold time."""
    return [each._replace(ns=samples.median(timed.times("cold", i))) for i, each in enumerate(timed.launches())]


def described(timed):
    """The launches of a call with their times, clocks, throttling."""
    launches = []
    for i, each in enumerate(timed.launches()):
        launches.append(
            {
                "name": each.name,
                "grid": each.grid,
                "block": each.block,
                "registers": each.registers,
                "shared_bytes": each.shared_bytes,
                "occupancy_pct": each.occupancy_pct,
                "is_kernel": each.is_kernel,
                "cold": _interval(timed.times("cold", i)),
                "warm": _interval([run[i].ns for run in timed.warm if i < len(run)]),
            }
        )
    return {"launches": launches, "mhz": timed.mhz, "throttled_by": timed.throttled_by, "samples": len(timed.cold)}


def _interval(values):
    if not values:
        return None
    middle, low, high = samples.interval(values)
    return {"ns": middle, "low_ns": low, "high_ns": high, "samples": len(values)}


def _compiled(seen, kernel):
    """Of the Triton kernel of that name, where one ran."""
    for each in seen:
        if each.name == kernel or len(seen) == 1:
            return each.compiled()
    return None


def run_module(worker, request):
    from . import module_run

    return module_run.run(worker, request)


def peaks(worker, request):
    from . import peaks as measured

    return measured.measure(worker, request)


TASKS = {"machine": machine, "script": run_script, "module": run_module, "peaks": peaks}
