"""The answer as ridge's JSON has it (docs/formats.md): tables with typed columns. `ridge show` prints it in every format. Pure, in the parent."""

SCHEMA = 2
TEXT, WHOLE, NUMBER, FLAG = "text", "integer", "number", "boolean"

# name, type, unit. The first columns are the contract of `bench`; the others follow.
BENCH = (
    ("kernel", TEXT, None),
    ("status", TEXT, None),
    ("reason", TEXT, None),
    ("trace_ns", WHOLE, "ns"),
    ("expected_ns", WHOLE, "ns"),
    ("cold_ns", WHOLE, "ns"),
    ("warm_ns", WHOLE, "ns"),
    ("config", TEXT, None),
    ("best_config", TEXT, None),
    ("best_ns", WHOLE, "ns"),
    ("bytes_per_s", NUMBER, "bytes_per_s"),
    ("pct_peak_bandwidth", NUMBER, "percent"),
    ("flops_per_s", NUMBER, "flop_per_s"),
    ("registers", WHOLE, "count"),
    ("spills", WHOLE, "count"),
    ("shared_bytes", WHOLE, "bytes"),
    ("pct_peak_flops", NUMBER, "percent"),
    ("occupancy_pct", NUMBER, "percent"),
    ("op", TEXT, None),
    ("count", WHOLE, "count"),
    ("time_ns", WHOLE, "ns"),
    ("same_kernel", FLAG, None),
    ("settings", TEXT, None),
    ("slowdown", NUMBER, None),
    ("why", TEXT, None),
    ("beside_pct", NUMBER, "percent"),
    ("warm_served_by", TEXT, None),
    ("cold_low_ns", WHOLE, "ns"),
    ("cold_high_ns", WHOLE, "ns"),
    ("warm_low_ns", WHOLE, "ns"),
    ("warm_high_ns", WHOLE, "ns"),
    ("samples", WHOLE, "count"),
    ("clock_mhz", WHOLE, None),
    ("throttled", TEXT, None),
    ("ran", TEXT, None),
    ("grid", TEXT, None),
    ("block", TEXT, None),
    ("kernel_file", TEXT, None),
    ("module", TEXT, None),
    ("script", TEXT, None),
    ("note", TEXT, None),
)
CONFIGS = (
    ("kernel", TEXT, None),
    ("config", TEXT, None),
    ("status", TEXT, None),
    ("from", TEXT, None),
    ("cold_ns", WHOLE, "ns"),
    ("warm_ns", WHOLE, "ns"),
    ("tuner_ns", WHOLE, "ns"),
    ("registers", WHOLE, "count"),
    ("spills", WHOLE, "count"),
    ("shared_bytes", WHOLE, "bytes"),
    ("same_outputs", FLAG, None),
    ("in_trace", FLAG, None),
    ("best", FLAG, None),
)
SAVINGS = (
    ("kernel", TEXT, None),
    ("best_config", TEXT, None),
    ("trace_config", TEXT, None),
    ("factor", NUMBER, None),
    ("step_ns", WHOLE, "ns"),
    ("saves_ns", WHOLE, "ns"),
    ("saves_pct", NUMBER, "percent"),
    ("basis", TEXT, None),
)
MACHINE = (
    ("device", TEXT, None),
    ("torch", TEXT, None),
    ("cuda", TEXT, None),
    ("memory_bytes", WHOLE, "bytes"),
    ("multiprocessors", WHOLE, "count"),
    ("l2_bytes", WHOLE, "bytes"),
    ("flush_bytes", WHOLE, "bytes"),
    ("bandwidth_bytes_per_s", NUMBER, "bytes_per_s"),
    ("clock_mhz", WHOLE, None),
    ("max_mhz", WHOLE, None),
    ("throttled", TEXT, None),
    ("workers", WHOLE, "count"),
)


def _cell(value, kind):
    if value is None:
        return None
    if kind == TEXT:
        return value if isinstance(value, str) else str(value)
    if kind == WHOLE:
        return round(value)
    return bool(value) if kind == FLAG else float(value)


SENTENCES = ("reason", "why", "note")  # stand under their row on a terminal

# What people see where not all columns fit, the most important first.
IMPORTANT = {
    "bench": ("kernel", "status", "trace_ns", "cold_ns", "warm_ns", "expected_ns", "pct_peak_bandwidth", "pct_peak_flops", "same_kernel", "best_config", "best_ns", "op"),
    "configs": ("kernel", "config", "cold_ns", "warm_ns", "registers", "spills", "same_outputs", "in_trace", "best"),
}


def table(name, columns, rows, total=None):
    """total: {column: value}, or None."""
    return {
        "name": name,
        "important": IMPORTANT.get(name, ()),
        "columns": [{"name": column, "type": kind, "unit": unit, "role": None, "sentence": column in SENTENCES} for column, kind, unit in columns],
        "rows": [[_cell(row.get(column), kind) for column, kind, _ in columns] for row in rows],
        "total": None if total is None else [_cell(total.get(column), kind) for column, kind, _ in columns],
        "parent": None,
    }


def diagnostic(code, message, count=1, severity="warning"):
    return {"code": code, "count": count, "message": message, "severity": severity}


def document(tables, traces=(), diagnostics=(), command="bench"):
    return {
        "schema": SCHEMA,
        "ridge": None,
        "command": command,
        "traces": [{"path": path, "name": path.rpartition("/")[2]} for path in traces],
        "tables": list(tables),
        "series": [],
        "diagnostics": list(diagnostics),
    }
