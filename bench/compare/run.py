#!/usr/bin/env python3
"""Races ridge against Python's json.load and simdjson on the same generated traces, and prints ratios measured in this one run.

Rivals take turns, round after round, those of a second or less several times in each; the median counts. Every run's answer (events, and per ph and cat the count and total time) is
compared with the one that python_answer.py (for files over 2 GiB: simdjson) gives; if one differs no time is printed.

  run.py [--ridge PATH] [--size 1G] [--rounds 3] [--only SECTION...] [--markdown]

The size is that of the main file (environment: BENCH_SIZE); a tenth and five times of it are made too. All under build/bench/data."""

import argparse
import collections
import gzip
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(ROOT, "build")
FOLDER = os.path.join(BUILD, "bench", "data")

# A mix of what people record: stacks and memory, shapes, compiled code, a loop of small kernels.
MIX = [
    "tests/fixtures/resnet18_compiled_stack_mem.json.gz",
    "tests/fixtures/gpt_eager_train_stack_mem.json.gz",
    "tests/fixtures/resnet18_eager_shapes.json.gz",
    "tests/fixtures/fault_optimizer_loop.json.gz",
    "tests/fixtures/gpt_compiled_train.json.gz",
    "tests/fixtures/graph_breaks_stack.json.gz",
    "examples/resnet18_compiled.json.gz",
]

# os._exit: the time to free the objects is not counted against json.load.
PYTHON_PLAIN = "import json, os, sys\nwith open(sys.argv[1]) as f: d = json.load(f)\nos._exit(0 if d['traceEvents'] else 1)"
PYTHON_GZIP = PYTHON_PLAIN.replace("import json", "import gzip, json").replace("open(sys.argv[1])", "gzip.open(sys.argv[1])")

# The way of PyTorch's script: all of it into objects, and all of it out again. (It adds to them in between; that is not counted.)
PYTHON_DUMP = ("import json, os, sys\nwith open(sys.argv[1]) as f: d = json.load(f)\n"
               "with open(sys.argv[2], 'w') as f: json.dump(d, f)\nos._exit(0 if d['traceEvents'] else 1)")

# rss: None when it cannot be told. A child's peak is never reported below that of the process that started it, this one.
Run = collections.namedtuple("Run", "seconds rss answer")
# value: text of what was measured; good, best: whether the floor and the goal are met (None: there is no such).
Verdict = collections.namedtuple("Verdict", "what value floor goal good best")


# ---- inputs


def parse_size(text):
    units = {"K": 10**3, "M": 10**6, "G": 10**9}
    return int(float(text[:-1]) * units[text[-1]]) if text[-1] in units else int(text)


def made(path, sources, make):
    """The path, made first when it is not there or older than what it is made from."""
    if not os.path.exists(path) or os.path.getmtime(path) < max(map(os.path.getmtime, sources)):
        print(f"making {os.path.relpath(path, ROOT)}", file=sys.stderr)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".part", "wb") as out:
            make(out)
        os.rename(path + ".part", path)
    return path


def inflated(name):
    source = os.path.join(ROOT, name)

    def make(out):
        with gzip.open(source, "rb") as file:
            shutil.copyfileobj(file, out)

    return made(os.path.join(FOLDER, os.path.basename(name).removesuffix(".gz")), [source], make)


def trace(size, layout="native", *flags):
    """A trace of `size` bytes of the mix; flags are make_trace's: --whole rounds, times --since-1970."""
    generator, inputs = os.path.join(BUILD, "make_trace"), [inflated(name) for name in MIX]
    command = [generator, "--size", str(size), "--layout", layout, *flags, *inputs]
    path = os.path.join(FOLDER, f"mix-{layout}-{size}{''.join(flags).replace('--', '-')}.json")
    return made(path, [generator, *inputs], lambda out: subprocess.run(command, stdout=out, check=True))


def zipped(path):
    return made(path + ".gz", [path], lambda out: subprocess.run(["gzip", "-6", "-c", path], stdout=out, check=True))


def small_zipped(size):
    """A trace whose .gz is about `size` bytes."""
    probe = zipped(trace(16_000_000))
    return zipped(trace(int(16_000_000 * size / os.path.getsize(probe))))


def warm(path):
    """Brings the file into the page cache as reading leaves it there: what was just written lies in smaller pages, which are slower to copy."""
    with open(path, "rb", buffering=0) as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while file.read(1 << 24):
            pass


# ---- measuring


def measure(command, parse):
    with tempfile.TemporaryFile() as out:
        started = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"failed with {process.returncode}: {' '.join(command)}")
        out.seek(0)
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        rss = usage.ru_maxrss * 1024 if usage.ru_maxrss > own else None
        return Run(seconds, rss, parse(out.read()) if parse else None)


def parse_ridge(output):
    tables = {table["name"]: table for table in json.loads(output)["tables"]}

    def column(table, name):
        index = [column["name"] for column in tables[table]["columns"]].index(name)
        return [row[index] for row in tables[table]["rows"]]

    rows = zip(*(column("categories", name) for name in ("ph", "cat", "events", "time_ns")))
    categories = sorted([ph, cat or "", events, time_ns or 0] for ph, cat, events, time_ns in rows)
    return {"events": column("trace", "events")[0], "categories": categories}


def parse_summary(output):
    """Device work of the summary, as the `device` part of an answer."""
    table = next(table for table in json.loads(output)["tables"] if table["name"] == "categories")
    names = [column["name"] for column in table["columns"]]
    return {"device": [table["total"][names.index("launches")], table["total"][names.index("time_ns")]]}


def device_part(answer):
    work = [row for row in answer["categories"] if row[0] == "X" and row[1] in ("kernel", "gpu_memcpy", "gpu_memset")]
    return {"device": [sum(row[2] for row in work), sum(row[3] for row in work)]}


def parse_simdjson(output):
    answer = json.loads(output)
    return {"events": answer["events"], "categories": sorted(answer["categories"])}


class Race:
    def __init__(self, ridge, rounds):
        self.ridge, self.rounds = ridge, rounds

    def contender(self, name, path):
        """(command, parser of its answer)."""
        kind, _, threads = name.partition(" ")
        if kind == "ridge":  # the load alone, to columns
            return [os.path.join(BUILD, "ridge_reader"), path, threads], parse_simdjson
        if kind == "augment":
            return [self.ridge, "augment", "-q", "--threads", threads, path, path + ".augmented"], None
        if kind == "dump":
            return [sys.executable, "-c", PYTHON_DUMP, path, path + ".dumped"], None
        if kind == "summary":
            return [self.ridge, "summary", "--json", "-q", "--threads", threads, path], parse_summary
        if kind == "info":  # the whole process
            return [self.ridge, "info", "--json", "--threads", threads, path], parse_ridge
        if kind == "simdjson":
            reader = [os.path.join(BUILD, "simdjson_reader")]
            return [*reader, "whole", path] if threads == "whole" else [*reader, "chunked", path, threads], parse_simdjson
        return [sys.executable, "-c", PYTHON_GZIP if path.endswith(".gz") else PYTHON_PLAIN, path], None

    def reference(self, path):
        """The right answer for the file, computed once and kept beside it. Of what Python has not the memory for, simdjson's."""
        plain = path.removesuffix(".gz")

        def make(out):
            if os.path.getsize(plain) > 2 << 30:
                command, _ = self.contender("simdjson 2", plain)
            else:
                command = [sys.executable, os.path.join(HERE, "python_answer.py"), plain]
            subprocess.run(command, stdout=out, check=True)

        with open(made(plain + ".answer", [plain], make), "rb") as file:
            return parse_simdjson(file.read())

    def rounds_of(self, entries, rounds=None, warm_up=False):
        """Runs all (name, path) in turns, as often in each as they are named; per round {(name, path): median Run}. warm_up: without the first of
        equal ones."""
        for path in {path for _, path in entries}:
            warm(path)
        return [self.one_round(entries, number, warm_up) for number in range(rounds or self.rounds)]

    def one_round(self, entries, number, warm_up):
        runs, announced = collections.defaultdict(list), set()
        for before, (name, path) in zip([None, *entries], entries):
            if number < 3 and (name, path) not in announced:
                announced.add((name, path))
                print(f"round {number + 1}: {name} on {os.path.basename(path)}", file=sys.stderr)
            run = measure(*self.contender(name, path))
            expected = self.reference(path) if run.answer else None
            if run.answer and "device" in run.answer:
                expected = device_part(expected)
            if run.answer != expected:
                sys.exit(f"wrong answer of {name} on {path}:\n  {run.answer}\nexpected\n  {expected}")
            if not warm_up or before == (name, path):
                runs[name, path].append(run)
        return {key: median_run(group) for key, group in runs.items()}

    def run(self, entries, rounds=None):
        return over_rounds(self.rounds_of(entries, rounds))


def median_run(runs):
    return Run(statistics.median(run.seconds for run in runs), max((run.rss for run in runs if run.rss), default=None), None)


def over_rounds(rounds):
    return {key: median_run([each[key] for each in rounds]) for key in rounds[0]}


# ---- sections: each returns (rows of times, verdicts)


def memory(run, json_bytes):
    """Peak memory per byte of JSON, or None."""
    return run.rss / json_bytes if run.rss else None


def times(result, json_bytes):
    rows = []
    for (name, path), run in result.items():
        label = "Python gzip + json" if name == "python" and path.endswith(".gz") else {"python": "Python json.load", "dump": "Python json.load + json.dump"}.get(name, name)
        threads = label.split(" ")[-1]
        if threads.isdigit():
            label = f"{label.removesuffix(threads)}on {threads} thread{'s' if threads != '1' else ''}"
        rows.append((label, os.path.basename(path), run.seconds, json_bytes[path] / run.seconds, memory(run, json_bytes[path])))
    return rows


def in_turns(path, slow, fast):
    """Entries of a round: the slow ones once, the fast ones five times in turn. A virtual machine's host takes processors and idle memory away for
    moments: it costs a run of 30 s nothing that shows, and a run of 0.6 s up to a third of its time, so that three of them tell little."""
    return [(name, path) for name in [*slow, *fast * 5]]


def at_least(what, ratio, floor, goal=None):
    return Verdict(what, f"{ratio:.1f} x", f">= {floor} x", f"{goal} x" if goal else "", ratio >= floor, goal and ratio >= goal)


def at_most(what, value, unit, floor, goal=None):
    if value is None:
        return Verdict(what, "too small to tell", "", "", True, None)
    text = f"{value:.2f}{unit}" if unit != " ms" else f"{value:.1f}{unit}"
    return Verdict(what, text, f"<= {floor}{unit}", f"{goal}{unit}" if goal else "", value <= floor, goal and value <= goal)


def plain(race, size):
    path = trace(size)
    rivals = ["python", "simdjson 1", "simdjson 2"] if size >= 4 << 30 else ["python", "simdjson whole", "simdjson 1", "simdjson 2"]
    result = race.run(in_turns(path, rivals, ["ridge 1", "ridge 2"]))
    seconds = {name: run.seconds for (name, _), run in result.items()}
    rss = memory(result["ridge 2", path], os.path.getsize(path))
    return times(result, {path: os.path.getsize(path)}), [
        at_least("plain JSON, 2 threads, against json.load", seconds["python"] / seconds["ridge 2"], 25, 50),
        at_least("1 thread to 2 threads", seconds["ridge 1"] / seconds["ridge 2"], 1.6),
        at_most("peak memory, plain, per byte of JSON", rss, "", 0.30, 0.20),
    ]


def compressed(race, size):
    json_bytes = os.path.getsize(trace(size))
    path = zipped(trace(size))
    result = race.run(in_turns(path, ["python"], ["ridge 1", "ridge 2"]))
    ratio = result["python", path].seconds / result["ridge 2", path].seconds
    return times(result, {path: json_bytes}), [
        at_least(".json.gz, 2 threads, against Python's gzip + json", ratio, 18, 26),
        at_most("peak memory, .json.gz, per byte of JSON", memory(result["ridge 2", path], json_bytes), "", 0.30, 0.20),
    ]


def empty_trace():
    """A trace without events: reading it is the start of the process and nothing else."""
    path = os.path.join(FOLDER, "empty.json")
    return made(path, [__file__], lambda out: out.write(b'{"traceEvents": []}'))


def linear(race, size):
    nothing = empty_trace()
    paths = [trace(bytes_of_json, "native", "--whole") for bytes_of_json in (size // 10, size, size * 5)]  # the same mix of events in all
    json_bytes = {path: os.path.getsize(path) for path in [nothing, *paths]}
    # As many bytes of each size in a round. The first run of a row is not counted: a virtual machine may have given memory that lay idle back to its
    # host, and the larger the file the more of it is fetched anew.
    rows = [("ridge 2", nothing, 20), *(("ridge 2", path, size * 5 // json_bytes[path] + 1) for path in paths)]
    entries = [(name, path) for name, path, times in rows for _ in range(times + 1)]
    rounds = race.rounds_of(entries, race.rounds * 3, warm_up=True)

    def spread(without_start):
        # The speed of a shared machine changes from one minute to the next, so sizes are compared within a round: each one's time per byte in
        # units of the round's mean, of which the median over the rounds counts.
        def in_units(each):
            offset = each["ridge 2", nothing].seconds if without_start else 0
            rates = [(each["ridge 2", path].seconds - offset) / json_bytes[path] for path in paths]
            return [rate / statistics.geometric_mean(rates) for rate in rates]

        units = [statistics.median(column) for column in zip(*map(in_units, rounds))]
        return (max(units) / min(units) - 1) * 100

    return times(over_rounds(rounds), json_bytes), [
        at_most("time per byte, a tenth to five times the size, spread, process start taken off", spread(True), " %", 10),
        Verdict("the same, process start included", f"{spread(False):.0f} %", "", "", True, None),
    ]


def start(race, _):
    path = small_zipped(1_000_000)
    middle = zipped(inflated("tests/fixtures/gpt_eager_train_stack_mem.json.gz"))  # a recording of middle size
    example = zipped(inflated("examples/resnet18_compiled.json.gz"))
    json_bytes = {p: os.path.getsize(p.removesuffix(".gz")) for p in (path, middle, example)}
    result = race.run([(name, p) for p in json_bytes for name in ("python", "ridge 2", "info 2")], rounds=20)
    ratio = {p: result["python", p].seconds / result["info 2", p].seconds for p in json_bytes}
    return times(result, json_bytes), [
        at_most("a .json.gz of 1 MB (14 MB of JSON), process start to columns", result["ridge 2", path].seconds * 1000, " ms", 15),
        at_most("the same, ridge info", result["info 2", path].seconds * 1000, " ms", 15),
        at_most(f"one that takes Python {result['python', middle].seconds * 1000:.0f} ms, ridge info", result["info 2", middle].seconds * 1000, " ms", 15),
        at_most("one of 1.8 MB of JSON, ridge info", result["info 2", example].seconds * 1000, " ms", 15),
        Verdict("ridge info on these three against Python's gzip + json", ", ".join(f"{r:.1f}" for r in ratio.values()) + " x", "", "", True, None),
    ]


def model_ns(path, events):
    """Wall time of the model's tables per event."""
    answer = json.loads(subprocess.run([os.path.join(BUILD, "ridge_model"), path, "2"], capture_output=True, check=True).stdout)
    if answer["events"] != events:
        sys.exit(f"ridge_model saw {answer['events']} events of {events}")
    return answer["model_ns"] / events


def summary(race, size):
    path = trace(size)
    json_bytes = os.path.getsize(path)
    result = race.run(in_turns(path, ["python"], ["ridge 2", "summary 1", "summary 2"]))
    events = race.reference(path)["events"]
    whole = (result["summary 2", path].seconds - result["ridge 2", path].seconds) / events * 1e9
    model = statistics.median(model_ns(path, events) for _ in range(race.rounds + 4))
    return times(result, {path: json_bytes}), [
        at_least("ridge summary, whole process, against json.load", result["python", path].seconds / result["summary 2", path].seconds, 15, 28),
        at_most("peak memory of ridge summary, per byte of JSON", memory(result["summary 2", path], json_bytes), "", 0.40),
        at_most("the model's tables that summary needs, per event, wall", model, " ns", 60),
        Verdict("the same with the analyses, costs and findings of summary", f"{whole:.0f} ns", "", "", True, None),
    ]


def augment(race, size):
    path = trace(size)
    result = race.run([(name, path) for name in ("dump", "augment 1", "augment 2")])
    # What was written is the same trace with more in its args.
    command, parse = race.contender("ridge 2", path + ".augmented")
    if measure(command, parse).answer != race.reference(path):
        sys.exit("the augmented trace is another one")
    if os.path.getsize(path + ".augmented") < os.path.getsize(path) * 1.005:
        sys.exit("nothing was added to the trace")
    for ending in (".augmented", ".dumped"):
        os.remove(path + ending)
    ratio = result["dump", path].seconds / result["augment 2", path].seconds
    return times(result, {path: os.path.getsize(path)}), [
        at_least("ridge augment, plain to plain, against json.load + json.dump", ratio, 40),
    ]


def layouts(race, size):
    paths = [trace(size // 10, layout) for layout in ("native", "oneline", "indent2", "keyline")]
    paths.append(trace(size // 10, "native", "--since-1970"))
    result = race.run([("ridge 2", path) for path in paths])
    per_byte = [result["ridge 2", path].seconds / os.path.getsize(path) for path in paths]
    return times(result, {path: os.path.getsize(path) for path in paths}), [
        at_most("time per byte of the slowest layout, against the native one", max(per_byte) / per_byte[0], " x", 1.5),
    ]


SECTIONS = {"plain": plain, "compressed": compressed, "linear": linear, "start": start, "summary": summary, "augment": augment, "layouts": layouts}


# ---- printing


def verdict_word(verdict):
    if not verdict.floor:
        return ""
    if not verdict.good:
        return "missed"
    return "ok" if not verdict.goal or not verdict.best else "ok, goal reached"


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    cpu = names[0] if names else platform.machine()
    return f"{len(os.sched_getaffinity(0))} cores of {cpu} ({platform.machine()}), Python {platform.python_version()}, warm page cache"


def print_table(header, rows, markdown):
    rows = [header, *rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    for number, row in enumerate(rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths)]
        print("| " + " | ".join(cells) + " |" if markdown else "  ".join(cells).rstrip())
        if number == 0 and markdown:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ridge", default=os.path.join(BUILD, "ridge"))
    parser.add_argument("--size", default=os.environ.get("BENCH_SIZE") or "1G")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=list(SECTIONS), default=list(SECTIONS))
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    os.makedirs(FOLDER, exist_ok=True)
    race = Race(os.path.abspath(arguments.ridge), arguments.rounds)

    rows, verdicts = [], []
    for name in arguments.only:
        section_rows, section_verdicts = SECTIONS[name](race, parse_size(arguments.size))
        rows += section_rows
        verdicts += section_verdicts

    print(machine())
    print(f"all answers agree; medians of {arguments.rounds} rounds or more\n")
    print_table(("reader", "file", "seconds", "MB/s of JSON", "peak memory / JSON"),
                [(label, file, f"{s:.3f}", f"{rate / 1e6:.0f}", f"{rss:.2f}" if rss else "-") for label, file, s, rate, rss in rows],
                arguments.markdown)
    print_table(("what", "measured", "floor", "goal", ""),
                [(v.what, v.value, v.floor, v.goal, verdict_word(v)) for v in verdicts], arguments.markdown)


if __name__ == "__main__":
    main()
