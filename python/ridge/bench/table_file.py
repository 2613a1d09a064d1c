"""`--save`: the measured times as a table that predict, kernels and whatif read with --table. Pure, in the parent."""

import json
import os
import tempfile

from . import script
from .ridge_command import Failed

VERSION = 1


def document(rows, machine, clock_mhz):
    """rows: those of bench with status ok, each with `call` and `launch`, the launch that was measured. A kernel from another source than ran is none of the trace's."""
    kernels = []
    for row in rows:
        if row.get("status") != "ok" or row.get("warm_ns") is None or script.source_differs(row["call"]):
            continue
        call, launch = row["call"], row["launch"]
        kernels.append(
            {
                "op": call.get("op"),
                "shapes": call.get("shapes"),
                "strides": call.get("strides"),
                "dtypes": call.get("dtypes"),
                "args": call.get("args"),
                "kernel": launch["name"],
                "grid": launch["grid"],
                "block": launch["block"],
                "cold_ns": row["cold_ns"],
                "warm_ns": row["warm_ns"],
                "low_ns": row["low_ns"],
                "high_ns": row["high_ns"],
            }
        )
    return {
        "ridge_table": VERSION,
        "device": machine.get("device"),
        "torch": machine.get("torch"),
        "clock_mhz": clock_mhz,
        "kernels": kernels,
    }


def write(path, value):
    """Appears whole, or not at all."""
    folder = os.path.dirname(os.path.abspath(path))
    try:
        handle, made = tempfile.mkstemp(dir=folder, prefix=".ridge-", suffix=".json")
    except OSError as error:
        raise Failed("error: the file cannot be written: %s\n  at: %s" % (error.strerror, path)) from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(value, file, indent=1)
            file.write("\n")
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(made, 0o666 & ~mask)
        os.replace(made, path)
    except OSError as error:
        os.remove(made)
        raise Failed("error: the file cannot be written: %s\n  at: %s" % (error.strerror, path)) from error
    except BaseException:
        os.remove(made)
        raise
