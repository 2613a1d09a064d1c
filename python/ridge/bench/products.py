"""A product: the library's kernel against Inductor's templates, as max-autotune chooses between them. In the worker."""

import time

from . import samples

PRODUCTS = ("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::linear", "aten::matmul")
SHOWN = 12  # of the templates that were tried, the fastest


def is_product(op):
    return op in PRODUCTS


def _measured(worker, call, seconds=1.5):
    timed = worker.meter.time(call, None, seconds=seconds)
    longest = max((each for each in timed.launches() if each.is_kernel), key=lambda each: each.ns, default=None)
    return {
        "cold_ns": samples.median(timed.whole("cold")),
        "warm_ns": samples.median(timed.whole("warm")),
        "registers": longest.registers if longest else None,
        "shared_bytes": longest.shared_bytes if longest else None,
        "kernel_name": longest.name if longest else None,
    }


def against_library(worker, call, run, module, inputs, until):
    """The library's row, those of the templates with the tuner's own times, and the winner timed as everything here is."""
    torch = worker.torch
    library = {"config": "library", "from": "library", "status": "ok", "same_outputs": True, **_measured(worker, run)}
    library["config"] = library.pop("kernel_name") or "library"
    library["in_trace"] = library["config"] == call.get("kernel")
    rows, tried = [library], []

    def keep(timings, name, input_nodes, choices, *rest):
        tried.extend((choice, float(ms)) for choice, ms in timings.items())

    import torch._inductor.select_algorithm as algorithms
    from torch._inductor import config as inductor

    reference = module.run(inputs)
    torch.compiler.reset()
    settings = {"max_autotune": True, "max_autotune_gemm": True, "fx_graph_cache": False, "autotune_local_cache": False, "autotune_in_subproc": False}
    with inductor.patch({key: value for key, value in settings.items() if hasattr(inductor, key)}):
        algorithms.add_feedback_saver(keep)
        try:
            compiled = torch.compile(module.run, fullgraph=False, dynamic=False)
            made = compiled(inputs)
            torch.cuda.synchronize()
            winner = _measured(worker, lambda: compiled(inputs))
        finally:
            algorithms.clear_feedback_savers()
    tried.sort(key=lambda each: each[1])
    for place, (choice, ms) in enumerate(tried[:SHOWN]):
        row = {"config": _words(choice), "from": "max-autotune", "status": "ok", "tuner_ns": round(1e6 * ms) if ms < 1e6 else None}
        if place == 0:
            winner.pop("kernel_name")
            row.update(winner, same_outputs=_close(torch, reference, made))
        rows.append(row)
    good = [row for row in rows if row.get("cold_ns") and row.get("same_outputs") is not False]
    best = min(good, key=lambda row: row["cold_ns"])
    for row in rows:
        row["best"] = row is best
        row.setdefault("in_trace", False)
    return rows


def _words(choice):
    """A choice as one line: its name, and of a template its tiles."""
    described = getattr(choice, "description", "") or ""
    name = getattr(choice, "name", None) or str(choice)
    return "%s %s" % (name, described) if described else name


def _close(torch, a, b):
    if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor) or a.shape != b.shape:
        return None
    loose = 2e-2 if a.element_size() <= 2 else 1e-3
    scale = float(a.double().abs().max()) or 1.0
    return float((a.double() - b.double()).abs().max()) <= loose * scale
