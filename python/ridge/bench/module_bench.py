"""`ridge bench output_code.py`: what Inductor's -k, -k -c and -p tell of a module, with names, from any module. In the parent."""

import json
import os

from . import answer, chosen_config, module_source, rows
from .progress import printable
from .ridge_command import Failed
from .roof import Roof
from .stopping import Stopped

DEADLINE_FACTOR = 5  # a module has many kernels

MODULE = (
    ("module", answer.TEXT, None),
    ("wall_ns", answer.WHOLE, "ns"),
    ("gpu_busy_ns", answer.WHOLE, "ns"),
    ("busy_pct", answer.NUMBER, "percent"),
    ("peak_memory_bytes", answer.WHOLE, "bytes"),
    ("triton_kernels", answer.WHOLE, "count"),
    ("runs", answer.WHOLE, "count"),
)
CATEGORIES = (
    ("category", answer.TEXT, None),
    ("kernels", answer.WHOLE, "count"),
    ("launches", answer.NUMBER, "count"),
    ("time_ns", answer.WHOLE, "ns"),
    ("pct_wall", answer.NUMBER, "percent"),
    ("pct_gpu_time", answer.NUMBER, "percent"),
)
CATEGORY_KERNELS = (
    ("category", answer.TEXT, None),
    ("kernel", answer.TEXT, None),
    ("launches", answer.NUMBER, "count"),
    ("time_ns", answer.WHOLE, "ns"),
    ("pct_wall", answer.NUMBER, "percent"),
)


def answer_for(bench, path):
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        known = module_source.kernels(text)
        if not module_source.is_module(text):
            raise module_source.NotAModule("it is neither a script of ridge replay nor a module of Inductor")
        known = [each for each in known if module_source.is_asked(each.name, bench.asked.kernel)]
        if bench.asked.kernel and not known:
            raise module_source.NotAModule("no kernel of the module is called like '%s'" % printable(bench.asked.kernel))
    except (OSError, UnicodeDecodeError, module_source.NotAModule) as error:
        raise Failed("error: %s\n  at: %s" % (error, path), 2) from error
    bench.ask_machine()
    bench.diagnostics.append(answer.diagnostic("foreign_code", "the module is run as it is: it is the file that you named", severity="info"))
    told = _ran(bench, path, len(known)) if bench.has_gpu else {"status": "skipped", "reason": "no GPU"}
    peaks = bench.peaks()
    roof = Roof(peaks.get("bandwidth_bytes_per_s"), bench.machine.get("l2_bytes"))
    found = _kernel_rows(path, known, told, roof)
    bench.save(found)
    tables = [answer.table("bench", answer.BENCH, found)]
    configs = [each for row in found for each in row.get("configs") or ()]
    if configs:
        tables.append(answer.table("configs", answer.CONFIGS, configs))
    if told.get("wall_ns") is not None:
        tables += _whole(bench, path, told, len(known))
    if told["status"] != "ok" and bench.stopped is None:
        how = "did not run" if told.get("wall_ns") is None else "ran, its kernels were not timed to the end"
        bench.failed.append("the module %s: %s" % (how, told.get("reason")))
    return answer.document(tables, diagnostics=bench.diagnostics)


def _ran(bench, path, kernels):
    """The worker's answer; where it has none, or a signal came first, what was known by then."""
    so_far = os.path.join(bench.folder, "module_so_far.jsonl")
    if os.path.exists(so_far):  # in a folder of --keep
        os.remove(so_far)
    try:
        told = bench.workers.ask(
            "module",
            bench.asked.deadline * DEADLINE_FACTOR,
            module=os.path.abspath(path),
            trace=os.path.join(bench.folder, "module.json"),
            so_far=so_far,
            seconds=bench.asked.seconds,
            within=bench.asked.within / 100,
            configs=bench.asked.configs,
            kernel=bench.asked.kernel,
        )
    except Stopped as stopped:
        known = _known_so_far(so_far)
        if not known.get("kernels"):
            raise
        bench.stop(stopped, "%d of %d kernels were timed" % (len(known["kernels"]), kernels))
        return {**known, "status": "skipped", "reason": "interrupted"}
    return told if told["status"] == "ok" else {**_known_so_far(so_far), **told}


def _known_so_far(path):
    """The first line is of the module, the others are of its kernels; one that has no end was being written."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file if line.endswith("\n")]
    except (OSError, ValueError):
        return {}
    return {**lines[0], "kernels": lines[1:]} if lines else {}


def _kernel_rows(module, known, told, roof):
    """A row per kernel of the source; one that did not run says so."""
    ran = {each["name"]: each for each in told.get("kernels") or ()}
    found = []
    for name in dict.fromkeys([*(each.name for each in known), *ran]):
        path = next((each.path for each in known if each.name == name), None)
        each = ran.get(name)
        row = {"kernel": name, "call": each["call"] if each else {"kernel": name}, "trace_ns": None, "kernel_file": path, "module": module}
        if each is None:
            failed = told["status"] != "ok"
            row.update(status=told["status"] if failed else "skipped", reason=told.get("reason") if failed else "the module's call did not run it")
            found.append(row)
            continue
        if each["status"] == "ok":
            each["index"] = next((i for i, launch in enumerate(each["launches"]) if launch["is_kernel"]), 0)
        # How much of Inductor's count is read cannot be told: no roof is held against it.
        rows.measured(row, each, {}, roof)
        if row.get("cold_ns") and each["bytes"]:
            row.update({key: value for key, value in roof.rates(row["cold_ns"], {"bytes_read": each["bytes"]}).items() if value is not None})
            row["warm_served_by"] = roof.served_by(row["warm_ns"], {"bytes_read": each["bytes"]})
        if each.get("configs"):
            chosen_config.add(row, each["configs"], {})
        found.append(row)
    return found


def _whole(bench, path, told, kernels):
    """The module as a whole, from its profile as ridge reads it, against the wall time that nobody profiled."""
    trace = os.path.join(bench.folder, "module.json")
    runs, wall = told["runs"], told["wall_ns"]
    gpu = bench.ridge.tables("gpu", trace)["gpu"]
    busy = sum(row["busy_ns"] for row in gpu) / runs
    row = {"module": path, "wall_ns": wall, "gpu_busy_ns": busy, "busy_pct": 100 * busy / wall, "peak_memory_bytes": told["peak_memory_bytes"], "triton_kernels": kernels, "runs": runs}
    asked = bench.ridge.tables("categories", trace)
    categories = [_per_run(each, runs, wall) for each in asked["categories"] if each["launches"]]
    inside = [_per_run(each, runs, wall) for each in asked.get("category_kernels", ())]
    return [
        answer.table("module", MODULE, [row]),
        answer.table("categories", CATEGORIES, categories),
        answer.table("category_kernels", CATEGORY_KERNELS, inside),
    ]


def _per_run(row, runs, wall):
    return {**row, "launches": row["launches"] / runs, "time_ns": row["time_ns"] / runs, "pct_wall": 100 * row["time_ns"] / runs / wall}
