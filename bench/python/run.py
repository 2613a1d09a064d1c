#!/usr/bin/env python3
"""Times the Python package against the command line that the same build made, and against other tools where they are installed. Answers are compared first; a
time of a wrong answer is not printed.

  run.py [--file TRACE] [--size 1G] [--rounds 5] [--rivals PYTHON]

Needs build/python-package and build/python-env, which `python3 python/tests/run` makes, and a release build. --rivals: an interpreter with HolisticTraceAnalysis or
TraceLens installed. Without --file a trace of that size is made, as bench/compare does."""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(ROOT, "build")
PYTHON = os.path.join(BUILD, "python-env", "bin", "python")
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.path.join(BUILD, "python-package")}

KERNELS = """
import json, sys, time
import pandas
began, worked = time.perf_counter(), time.process_time()
import ridge
t = ridge.open(sys.argv[1], progress=False)
frame = t.kernels().to_pandas()
print(json.dumps({"seconds": time.perf_counter() - began, "cpu": time.process_time() - worked, "rows": len(frame), "time_ns": int(frame["time_ns"].sum()), "count": int(frame["count"].sum())}), flush=True)
import os
os._exit(0)  # the command line does not free its memory either
"""

ARROW = """
import json, sys, time
import pyarrow, ridge
pyarrow.table({"a": [1]})  # what it loads when first used
t = ridge.open(sys.argv[1], progress=False)
out = {}
def timed(name, make):
    began = time.perf_counter()
    made = make()
    out[name] = [time.perf_counter() - began, made.num_rows]
report = t.kernels(by="launch")
timed("launches of kernels, made, to Arrow", lambda: pyarrow.table(report))
table = t.tables.launches
timed("t.tables.launches, to be made, to Arrow", lambda: pyarrow.table(table))
timed("t.tables.launches, made, to Arrow", lambda: pyarrow.table(table))
timed("t.tables.events, to be made, to Arrow", lambda: pyarrow.table(t.tables.events))
timed("name and duration of all events, to Arrow", lambda: pyarrow.table(t.tables.events.select("name", "dur_ns")))
print(json.dumps(out), flush=True)
import os
os._exit(0)
"""

HTA = """
import json, os, shutil, sys, tempfile, time, warnings, logging
warnings.simplefilter("ignore"); logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis
folder = tempfile.mkdtemp()
path = os.path.join(folder, "rank0.json")
os.symlink(os.path.abspath(sys.argv[1]), path)
began = time.perf_counter()
analysis = TraceAnalysis(trace_files={0: path}, trace_dir=folder)
types, kernels = analysis.get_gpu_kernel_breakdown(visualize=False, num_kernels=1_000_000, duration_ratio=1.0)
done = time.perf_counter()
print(json.dumps({"seconds": done - began, "time_us": float(kernels["sum (us)"].sum()), "rows": len(kernels)}), flush=True)
os._exit(0)
"""

TRACELENS = """
import json, os, sys, time, warnings
warnings.simplefilter("ignore")
from TraceLens import TreePerfAnalyzer
began = time.perf_counter()
analyzer = TreePerfAnalyzer.from_file(sys.argv[1])
frame = analyzer.get_df_gpu_timeline()
done = time.perf_counter()
rows = {row["type"]: row["time ms"] for _, row in frame.iterrows()}
print(json.dumps({"seconds": done - began, "busy_ms": float(rows["busy_time"])}), flush=True)
os._exit(0)
"""


def ran(code, *words, python=PYTHON, environment=ENVIRONMENT):
    done = subprocess.run([python, "-c", code, *words], capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        raise RuntimeError((done.stderr or done.stdout).strip().splitlines()[-1] if done.stderr or done.stdout else "it died")
    return json.loads(done.stdout.splitlines()[-1])


def times(*command, environment=None):
    """(seconds, CPU seconds) of a process."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def seconds(*command, environment=None):
    return times(*command, environment=environment)[0]


def ridge_answer(path):
    done = subprocess.run([os.path.join(BUILD, "ridge"), "kernels", path, "-f", "json", "-q"], capture_output=True, text=True, check=True)
    table = json.loads(done.stdout)["tables"][0]
    names = [column["name"] for column in table["columns"]]
    return {name: sum(row[names.index(name)] for row in table["rows"]) for name in ("time_ns", "count")} | {"rows": len(table["rows"])}


def importing(rounds):
    plain, package, engine = [], [], []
    for _ in range(max(rounds, 11)):
        plain.append(seconds(PYTHON, "-c", "pass", environment=ENVIRONMENT))
        package.append(seconds(PYTHON, "-c", "import ridge", environment=ENVIRONMENT))
        engine.append(seconds(PYTHON, "-c", "import ridge; ridge.open", environment=ENVIRONMENT))
    base = statistics.median(plain)
    print(f"import ridge: {1e3 * (statistics.median(package) - base):.1f} ms, with the engine loaded {1e3 * (statistics.median(engine) - base):.1f} ms (under 50)")


def against_command_line(path, rounds):
    expected = ridge_answer(path)
    ours, theirs = [], []
    for _ in range(rounds):
        run = ran(KERNELS, path)
        wrong = {name: (run[name], expected[name]) for name in expected if run[name] != expected[name]}
        if wrong:
            sys.exit(f"other answers than the command line's: {wrong}")
        ours.append((run["seconds"], run["cpu"]))
        theirs.append(times(os.path.join(BUILD, "ridge"), "kernels", path, "-f", "json", "-q"))
    for i, what in enumerate(("wall", "CPU")):
        ratio = statistics.median(a[i] / b[i] for a, b in zip(ours, theirs))
        mine, other = (statistics.median(each[i] for each in runs) for runs in (ours, theirs))
        print(f"open and kernels().to_pandas(): {mine:.2f} s, ridge kernels: {other:.2f} s, {what}, ratio {ratio:.2f} (at most 1.1)")


def arrow(path):
    for what, (took, rows) in ran(ARROW, path).items():
        print(f"{what}: {1e3 * took:.2f} ms for {rows:,} rows, {1e9 * took / max(rows, 1):.1f} ns a row")


def rivals(path, python, rounds):
    expected = ridge_answer(path)
    busy = subprocess.run([os.path.join(BUILD, "ridge"), "gpu", path, "-f", "json", "-q"], capture_output=True, text=True, check=True)
    work = subprocess.run([os.path.join(BUILD, "ridge"), "categories", path, "-f", "json", "-q"], capture_output=True, text=True, check=True)
    total = json.loads(work.stdout)["tables"][0]["total"]
    device_events, device_ns = total[2], total[3]
    busy_ns = sum(row[3] for row in json.loads(busy.stdout)["tables"][0]["rows"])
    checks = {
        # It truncates every duration to a microsecond.
        "HolisticTraceAnalysis": (HTA, lambda run: 0 <= device_ns - run["time_us"] * 1e3 <= 1_100 * device_events, "device time, but for what it truncates"),
        "TraceLens": (TRACELENS, lambda run: abs(run["busy_ms"] * 1e6 - busy_ns) <= 0.02 * busy_ns, "busy time within 2 %"),
    }
    for name, (code, same, what) in checks.items():
        try:
            runs = [ran(code, path, python=python, environment=dict(os.environ)) for _ in range(rounds)]
        except (RuntimeError, ValueError, OSError) as failed:
            print(f"{name}: did not run: {failed}")
            continue
        if not all(map(same, runs)):
            print(f"{name}: another answer ({what}): {runs[0]}, ridge {expected} busy {busy_ns} ns; no time is printed")
            continue
        ours = statistics.median(ran(KERNELS, path)["seconds"] for _ in range(rounds))
        took = statistics.median(run["seconds"] for run in runs)
        print(f"{name}: {took:.2f} s, ridge.open and kernels().to_pandas() {ours:.2f} s: {took / ours:.0f} times ({what})")


def made_trace(size):
    sys.path.insert(0, os.path.join(ROOT, "bench", "compare"))
    import run as compare

    return compare.trace(compare.parse_size(size))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file")
    parser.add_argument("--size", default=os.environ.get("BENCH_SIZE", "1G"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rivals")
    asked = parser.parse_args()
    path = asked.file or made_trace(asked.size)
    print(f"{path}: {os.path.getsize(path) / 1e6:.0f} MB")
    importing(asked.rounds)
    against_command_line(path, asked.rounds)
    arrow(path)
    if asked.rivals:
        rivals(path, asked.rivals, min(asked.rounds, 3))


if __name__ == "__main__":
    main()
