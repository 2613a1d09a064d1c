"""One row of the answer: what the script says of its call, what the trace says of its launches, what the worker measured. Pure, in the parent."""

from . import why_slower


def cannot(item):
    """A call for which there is no script."""
    return {
        "kernel": item.get("kernel"),
        "op": item.get("op"),
        "count": item.get("count"),
        "time_ns": item.get("time_ns"),
        "status": "cannot",
        "reason": item.get("reason"),
        "call": {},
    }


def begun(item, call):
    """What is known before anything has run."""
    return {
        "kernel": call.get("kernel") or item.get("kernel"),
        "op": call.get("op") or item.get("op"),
        "count": item.get("count") or call.get("count"),
        "time_ns": item.get("time_ns"),
        "trace_ns": call.get("trace_ns"),
        "script": item.get("script"),
        "by_compiler": bool(item.get("by_compiler")),
        "note": call.get("note"),
        "call": call,
    }


def measured(row, answer, costs, roof):
    """The row with what the worker answered. A cold time that beats the roof is refused: its figures are left out."""
    row.update(status=answer["status"], reason=answer.get("reason"), settings=answer.get("settings"))
    row["expected_ns"] = costs.get("expected_ns")
    index = answer.get("index")
    if answer["status"] != "ok" or index is None:
        return row
    launch = answer["launches"][index]
    cold, warm = launch["cold"], launch["warm"]
    compiled = answer.get("compiled") or {}
    row.update(
        launch=launch,
        ran=launch["name"] if launch["name"] != row["kernel"] else None,
        grid=_text(launch["grid"]),
        block=_text(launch["block"]),
        same_kernel=answer.get("same_kernel"),
        registers=_first(launch["registers"], compiled.get("registers")),
        spills=compiled.get("spills"),
        shared_bytes=_first(launch["shared_bytes"], compiled.get("shared_bytes")),
        occupancy_pct=launch["occupancy_pct"] or None,  # the profiler writes 0 where it does not know
        config=compiled.get("config"),
        samples=answer.get("samples"),
        clock_mhz=answer["mhz"][-1] if answer.get("mhz") else None,
        throttled=None if answer.get("throttled_by") is None else ", ".join(answer["throttled_by"]) or "no",
    )
    refused = roof.refusal(cold["ns"], costs) if row["same_kernel"] else None
    if refused is not None:
        row.update(status="refused", reason=refused)
        return row
    row.update(
        cold_ns=cold["ns"],
        cold_low_ns=cold["low_ns"],
        cold_high_ns=cold["high_ns"],
        low_ns=cold["low_ns"],
        high_ns=cold["high_ns"],
    )
    if warm is not None:
        row.update(warm_ns=warm["ns"], warm_low_ns=warm["low_ns"], warm_high_ns=warm["high_ns"])
        row["warm_served_by"] = roof.served_by(warm["ns"], costs)
    if row["trace_ns"]:
        row["slowdown"] = row["trace_ns"] / cold["ns"]
    row.update(roof.rates(cold["ns"], costs))
    return row


def explain(rows, launches):
    """Adds `beside_pct` and `why` to rows with times; `launches` may be None."""
    usual = why_slower.usual_ratio(rows)
    for row in rows:
        if row.get("cold_ns") is None:
            continue
        beside = launches.beside(row["call"]) if launches is not None else None
        row["beside_pct"] = beside
        row["why"] = why_slower.reasons(row, beside, usual, row.get("clock_mhz"), row.get("same_kernel"))


def _first(*values):
    return next((value for value in values if value is not None), None)


def _text(sizes):
    return None if sizes is None else "x".join(str(each) for each in sizes)
