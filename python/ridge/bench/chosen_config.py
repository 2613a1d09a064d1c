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


def savings(ridge, trace, flags, rows):
    """What each better configuration is worth to a step, by replay: rows of the table `savings`."""
    better = []
    for row in rows:
        before = row.get("trace_config_ns") or row.get("cold_ns")
        if row.get("best_ns") and before and row["best_ns"] < WORTH * before:
            better.append((row, row["best_ns"] / before))
    if not better:
        return []
    words = [word for row, factor in better for word in ("--do", "kernel:^%s$=%.4fx" % (re.escape(row["kernel"]), factor))]
    scenarios = ridge.tables("whatif", trace, *flags, *words)["whatif"]
    if len(better) > 1:  # the last is all of them together
        better.append(({"kernel": "all of these", "best_config": None}, None))
    scenarios = scenarios[-len(better) :]
    found = []
    for (row, factor), scenario in zip(better, scenarios):
        found.append(
            {
                "kernel": row["kernel"],
                "best_config": row["best_config"],
                "trace_config": row.get("config") if row.get("trace_config_ns") else None,
                "factor": factor,
                "step_ns": scenario.get("step_ns"),
                "saves_ns": scenario.get("saves_ns"),
                "saves_pct": scenario.get("saves_pct"),
                "basis": scenario.get("basis"),
            }
        )
    return found
