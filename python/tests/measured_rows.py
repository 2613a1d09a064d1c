"""Rows of `ridge bench` as they are after a measurement, for tests."""

from ridge.bench import roof, rows

H200 = roof.Roof(4.8e12, 60e6)  # 4.8 TB/s: 48 MB take 10 us


def measured(cold=2000, warm=1500, trace_ns=1800, costs=None, same=True):
    launch = {"name": "k", "grid": [1, 1, 1], "block": [128, 1, 1], "registers": 32, "shared_bytes": 0, "occupancy_pct": 0, "is_kernel": True}
    launch["cold"] = {"ns": cold, "low_ns": cold - 10, "high_ns": cold + 10, "samples": 20}
    launch["warm"] = {"ns": warm, "low_ns": warm, "high_ns": warm, "samples": 20}
    told = {"status": "ok", "index": 0, "launches": [launch], "same_kernel": same, "mhz": [1980, 1755], "throttled_by": ["power cap"], "samples": 20}
    row = rows.begun({"script": "s.py", "count": 3, "time_ns": 5400}, {"kernel": "k", "op": "aten::add", "trace_ns": trace_ns})
    return rows.measured(row, told, costs or {"bytes_read": 4_800_000, "bytes_written": 0, "flops": 0}, H200)
