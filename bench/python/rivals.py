#!/usr/bin/env python3
"""Races other tools that analyse PyTorch traces in Python, in one run, on one trace: HolisticTraceAnalysis and AMD's TraceLens. What each answers is compared first; a time
of another answer is not printed. A tool that is not there is skipped by name.

  rivals.py [--build build] [--file TRACE] [--size 50M] [--rounds 3] [--python PYTHON] [--tracelens FOLDER] [--install]

--python: an interpreter that has them (default: build/rivals-env, which --install makes, with HolisticTraceAnalysis from PyPI and what TraceLens needs).
--tracelens: a checkout of TraceLens (AMD-AGI/TraceLens on GitHub; the package of that name on PyPI is another)."""

import argparse
import gzip
import itertools
import json
import os
import statistics
import subprocess
import sys

import run

IDS = ("correlation", "External id")
NEEDED = ["HolisticTraceAnalysis", "pandas", "tqdm", "orjson", "openpyxl", "tabulate", "PyYAML"]

HTA = """
import json, os, sys, tempfile, time, warnings, logging
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
import json, os, sys, time, warnings, logging
warnings.simplefilter("ignore"); logging.disable(logging.CRITICAL)
from TraceLens import TreePerfAnalyzer
began = time.perf_counter()
analyzer = TreePerfAnalyzer.from_file(sys.argv[1])
frame = analyzer.get_df_gpu_timeline()
done = time.perf_counter()
rows = {row["type"]: row["time ms"] for _, row in frame.iterrows()}
print(json.dumps({"seconds": done - began, "busy_ms": float(rows["busy_time"])}), flush=True)
os._exit(0)
"""

KERNELS = """
import json, os, sys, time
began = time.perf_counter()
import ridge
t = ridge.open(sys.argv[1], progress=False)
time_ns = t.categories().total
print(json.dumps({"seconds": time.perf_counter() - began}), flush=True)
os._exit(0)
"""

BUSY = KERNELS.replace("t.categories().total", "t.gpu()")


def answers(path):
    """(device events, their time in ns, busy ns) as the command line tells them."""

    def table(command):
        done = subprocess.run([run.BUILD.ridge, command, path, "-f", "json", "-q"], capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)["tables"][0]
        names = [column["name"] for column in found["columns"]]
        return [dict(zip(names, row)) for row in found["rows"]], dict(zip(names, found["total"] or []))

    total = table("categories")[1]
    return total["launches"], total["time_ns"], sum(row["busy_ns"] for row in table("gpu")[0])


def rivals(path):
    """(name, its script, ours for the same question, whether its answer is ours, in words)."""
    events, device_ns, busy_ns = answers(path)
    return [
        # It truncates every duration to a microsecond.
        ("HolisticTraceAnalysis", HTA, KERNELS, lambda ran: 0 <= device_ns - ran["time_us"] * 1e3 <= 1_100 * events, f"device time {device_ns / 1e6:.3f} ms, but for what it truncates"),
        ("TraceLens", TRACELENS, BUSY, lambda ran: abs(ran["busy_ms"] * 1e6 - busy_ns) <= 0.02 * busy_ns, f"busy time {busy_ns / 1e6:.3f} ms, within 2 %"),
    ]


def why_absent(python, name, environment):
    module = {"HolisticTraceAnalysis": "hta", "TraceLens": "TraceLens"}[name]
    if not os.path.exists(python):
        return f"{python} is not there (--install makes it)"
    found = subprocess.run([python, "-c", f"import {module}"], capture_output=True, text=True, env=environment)
    return None if found.returncode == 0 else found.stderr.strip().splitlines()[-1]


def race(path, python, environment, rounds):
    for name, code, ours, same, what in rivals(path):
        absent = why_absent(python, name, environment)
        if absent:
            print(f"skipped {name}: {absent}")
            continue
        theirs, mine = [], []
        try:
            for _ in range(rounds):  # in turn: the machine's speed varies
                theirs.append(run.ran(code, path, python=python, environment=environment))
                mine.append(run.ran(ours, path)["seconds"])
        except (RuntimeError, ValueError) as failed:
            print(f"{name}: did not answer: {failed}")
            continue
        if not all(map(same, theirs)):
            print(f"{name}: another answer ({what}): {theirs[0]}; no time is printed")
            continue
        ratio = statistics.median(a["seconds"] / b for a, b in zip(theirs, mine))
        print(f"{name}: {statistics.median(each['seconds'] for each in theirs):.2f} s, ridge.open and the same question {statistics.median(mine):.2f} s: {ratio:.0f} times ({what})")


def repeated(size):
    """A trace of that size: examples/resnet18_compiled.json.gz, recorded again and again. Of the mix of bench/compare HolisticTraceAnalysis tells another device time."""
    path = os.path.join(run.ROOT, "build", "bench", f"rivals_{size}.json")
    if os.path.exists(path):
        return path
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with gzip.open(os.path.join(run.ROOT, "examples", "resnet18_compiled.json.gz"), "rt", encoding="utf-8") as file:
        trace = json.load(file)
    events = trace.pop("traceEvents")
    timed = [event for event in events if event["ph"] != "M"]
    first = min(event["ts"] for event in timed)
    length = max(event["ts"] + event.get("dur", 0) for event in timed) - first + 1000
    most = 1 + max(max(event.get("args", {}).get(key, 0) for key in IDS) for event in timed)
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(json.dumps(trace)[:-1] + ', "traceEvents": [\n' + ",\n".join(json.dumps(event) for event in events))
        for n in itertools.count(1):
            for event in timed:
                args = {key: value + n * most if key in IDS else value for key, value in event.get("args", {}).items()}
                moved = {**event, "ts": round(event["ts"] + n * length, 3), **({"args": args} if "args" in event else {}), **({"id": event["id"] + n * most} if "id" in event else {})}
                file.write(",\n" + json.dumps(moved))
            if file.tell() >= size:
                break
        file.write("\n]}\n")
    os.rename(path + ".part", path)
    return path


def installed(folder):
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--prefer-binary", "--disable-pip-version-check", *NEEDED], check=True)
    return python


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(run.ROOT, "build"))
    parser.add_argument("--file")
    parser.add_argument("--size", type=lambda text: int(text.rstrip("M")) * 1_000_000, default="50M")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python")
    parser.add_argument("--tracelens")
    parser.add_argument("--install", action="store_true")
    asked = parser.parse_args()
    run.use(asked.build)
    if not os.path.isdir(run.BUILD.package):
        print(f"skipped rivals: {run.BUILD.package} is not there (python3 python/tests/run makes it)")
        return
    folder = os.path.join(run.ROOT, "build", "rivals-env")
    python = asked.python or (installed(folder) if asked.install else os.path.join(folder, "bin", "python"))
    environment = {**os.environ, **({"PYTHONPATH": os.path.abspath(asked.tracelens)} if asked.tracelens else {})}
    path = asked.file or repeated(asked.size)
    print(f"{path}: {os.path.getsize(path) / 1e6:.0f} MB")
    race(path, python, environment, asked.rounds)


if __name__ == "__main__":
    main()
