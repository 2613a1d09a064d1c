"""Which configuration the trace ran, which is best, and what the step would save with it. In the parent."""

import re

WORTH = 0.99  # of the time: a best that is no better than this is no change


def add(row, configs, call):
    """Puts the configurations into the row; `config` becomes that of the trace, where one is like it."""
    for each in configs:
        each["kernel"] = row["kernel"]
    row["configs"] = configs
    ran = [each for each in configs if each.get("in_trace") and each.get("cold_ns")]
    best = next((each for each in configs if each.get("best")), None)
    if ran:
        row["config"] = ran[0]["config"]
        row["trace_config_ns"] = ran[0]["cold_ns"]
    if best is not None:
        row["best_config"], row["best_ns"] = best["config"], best["cold_ns"]


def kernel_times(items):
    """What the program's launches of each name took, in all: {kernel: ns}."""
    times = {}
    for item in items:
        if not item.get("by_compiler"):
            times[item.get("kernel")] = times.get(item.get("kernel"), 0) + (item.get("time_ns") or 0)
    return times


def savings(ridge, trace, flags, rows, times):
    """What each better configuration is worth to a step, by replay: rows of the table `savings`. `times`: see kernel_times()."""
    better = [each for each in map(_better, rows) if each is not None]
    if not better:
        return []
    parts = [(row["kernel"], (1 - factor) * _share(row, times)) for row, factor in better]
    scenarios = _scenarios(ridge, trace, flags, parts)
    found = [_saving(row, factor, scenario, _share(row, times)) for (row, factor), scenario in zip(better, scenarios)]
    if len(better) > 1:
        whole = _added(parts)  # calls of one kernel: factors one after the other would take each of what the other left
        together = scenarios[-1] if len(whole) == len(parts) else _scenarios(ridge, trace, flags, whole)[-1]
        found.append(_saving({"kernel": "all of these"}, None, together, 1))
    return found


def _better(row):
    """The row with the factor that its best configuration brings; what the compiler tried is no part of a step."""
    before = row.get("trace_config_ns") or row.get("cold_ns")
    if row.get("by_compiler") or not row.get("best_ns") or not before or row["best_ns"] >= WORTH * before:
        return None
    return row, row["best_ns"] / before


def _share(row, times):
    """Of the time of its kernel's launches: whatif knows them by name, and other calls may launch the same one."""
    whole, own = times.get(row["kernel"]), row.get("time_ns")
    return min(1, own / whole) if whole and own else 1


def _added(parts):
    whole = {}
    for kernel, less in parts:
        whole[kernel] = whole.get(kernel, 0) + less
    return list(whole.items())


def _scenarios(ridge, trace, flags, parts):
    """The rows of whatif for kernels that take a part less: one each, and where there are several one for all of them."""
    words = [word for kernel, less in parts for word in ("--do", "kernel:^%s$=%.6fx" % (_as_pattern(kernel), max(0, 1 - less)))]
    asked = len(parts) + (len(parts) > 1)
    return ridge.tables("whatif", trace, *flags, *words)["whatif"][-asked:]


def _as_pattern(name):
    """As RE2 and a command line take it: a word there cannot hold a byte 0."""
    return re.escape(name).replace("\0", r"\x00")


def _saving(row, factor, scenario, share):
    basis = scenario.get("basis")
    if share < 0.995:
        basis = "%s; the call has %.0f %% of the time of this kernel's launches, the factor is its own" % (basis, 100 * share)
    return {
        "kernel": row["kernel"],
        "best_config": row.get("best_config"),
        "trace_config": row.get("config") if row.get("trace_config_ns") else None,
        "factor": factor,
        "step_ns": scenario.get("step_ns"),
        "saves_ns": scenario.get("saves_ns"),
        "saves_pct": scenario.get("saves_pct"),
        "basis": basis,
    }
