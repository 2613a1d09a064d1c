#!/usr/bin/env python3
"""Times the Python package against the command line that the same build made. Answers are compared first; a time of a wrong answer is not printed.

  run.py [--build build] [--file TRACE] [--size 1G] [--rounds 5]

Needs a release build, with the package and its environment in it, which `python3 python/tests/run` makes. Without --file a trace of that size is made, as
bench/compare does. rivals.py races other tools."""

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


class Build:
    """A build folder: the program, the package, and the interpreter that has pandas and pyarrow."""

    def __init__(self, folder):
        self.ridge = os.path.join(folder, "ridge")
        self.package = os.path.join(folder, "python-package")
        self.python = os.path.join(folder, "python-env", "bin", "python")
        self.environment = {**os.environ, "PYTHONPATH": self.package}


BUILD = Build(os.path.join(ROOT, "build"))

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
t.kernels()  # what every analysis stands on is there
timed("t.tables.kernel_launches, an analysis to be made, to Arrow", lambda: pyarrow.table(t.tables.kernel_launches))
timed("t.tables.kernel_launches, made, to Arrow", lambda: pyarrow.table(t.tables.kernel_launches))
table = t.tables.launches
timed("t.tables.launches, to be made, to Arrow", lambda: pyarrow.table(table))
timed("t.tables.launches, made, to Arrow", lambda: pyarrow.table(table))
timed("t.tables.events, to be made, to Arrow", lambda: pyarrow.table(t.tables.events))
timed("name and duration of all events, to Arrow", lambda: pyarrow.table(t.tables.events.select("name", "dur_ns")))
print(json.dumps(out), flush=True)
import os
os._exit(0)
"""

def use(folder):
    global BUILD
    BUILD = Build(os.path.abspath(folder))


def ran(code, *words, python=None, environment=None):
    """What a script says in its last line, as JSON."""
    done = subprocess.run([python or BUILD.python, "-c", code, *words], capture_output=True, text=True, env=environment or BUILD.environment)
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
    done = subprocess.run([BUILD.ridge, "kernels", path, "-f", "json", "-q"], capture_output=True, text=True, check=True)
    table = json.loads(done.stdout)["tables"][0]
    names = [column["name"] for column in table["columns"]]
    return {name: sum(row[names.index(name)] for row in table["rows"]) for name in ("time_ns", "count")} | {"rows": len(table["rows"])}


def importing(rounds):
    plain, package, engine = [], [], []
    for _ in range(max(rounds, 11)):
        plain.append(seconds(BUILD.python, "-c", "pass", environment=BUILD.environment))
        package.append(seconds(BUILD.python, "-c", "import ridge", environment=BUILD.environment))
        engine.append(seconds(BUILD.python, "-c", "import ridge; ridge.open", environment=BUILD.environment))
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
        theirs.append(times(BUILD.ridge, "kernels", path, "-f", "json", "-q"))
    for i, what in enumerate(("wall", "CPU")):
        ratio = statistics.median(a[i] / b[i] for a, b in zip(ours, theirs))
        mine, other = (statistics.median(each[i] for each in runs) for runs in (ours, theirs))
        print(f"open and kernels().to_pandas(): {mine:.2f} s, ridge kernels: {other:.2f} s, {what}, ratio {ratio:.2f} (at most 1.1)")


def arrow(path):
    for what, (took, rows) in ran(ARROW, path).items():
        print(f"{what}: {1e3 * took:.2f} ms for {rows:,} rows, {1e9 * took / max(rows, 1):.1f} ns a row")


def made_trace(size):
    sys.path.insert(0, os.path.join(ROOT, "bench", "compare"))
    import run as compare

    return compare.trace(compare.parse_size(size))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--file")
    parser.add_argument("--size", default=os.environ.get("BENCH_SIZE", "1G"))
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    use(asked.build)
    path = asked.file or made_trace(asked.size)
    print(f"{path}: {os.path.getsize(path) / 1e6:.0f} MB")
    importing(asked.rounds)
    against_command_line(path, asked.rounds)
    arrow(path)


if __name__ == "__main__":
    main()
