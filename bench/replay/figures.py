#!/usr/bin/env python3
"""How well calls of whole models replay, on the GPU that they were recorded on. Four figures, as Markdown:

  replays      share of the kernels' time whose call got a script that ran
  same kernel  of that, the share that launched the trace's own kernel: name, grid and block
  in range     of that, the share whose time in the trace lies within [warm - 5 %, cold + 5 %] of its time alone
  two runs     how far two runs of bench are apart, median and 95th percentile of calls, and the share of time within 2 %

  figures.py --ridge ridge --out DIR [--seconds 240] [--inductor-cache DIR] TRACE|FOLDER|TAR...
  figures.py --score DIR                      only prints the tables of what was measured

A trace is a model; of a folder or a tar those with shapes whose name holds no ".fault". Calls are run by share of their model's time, all models in turn, so
that an early end cuts the same tail of each; what was not run counts as not replayed, unless --seconds cut it: those rows say so and leave the count, and a line
says what the share is with them. The first run is in parts, each written when it is done: what an accident leaves can be scored.
Sources of Triton kernels are taken from --inductor-cache; a compiled model without them cannot replay these kernels: their share has a column, and models
without Triton kernels ("eager") and all models without these kernels have a line each. Needs no package: the binary and a Python with PyTorch."""

import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

COVER = 0.985  # of a model's kernel time: the calls beyond are many and short, and count as not replayed
TWICE = 0.58  # of the time that is left goes to the first run
PARTS = (0.8, 1.0)  # of the time of all calls, by model: where parts of the first run end
DEADLINE_S = 25  # of one call; a Triton kernel compiles first
NOT_REACHED = "no time was left"
NO_SOURCE = "a Triton kernel without its source"
SHAPES = re.compile(r"\.(shapes|shapes_stack|memory|modules)\.json\.gz$")


def traces_of(words, folder):
    """[(model, path)]"""
    found = {}
    for word in words:
        if word.endswith((".tar", ".tar.gz")):
            inside = os.path.join(folder, os.path.basename(word) + ".unpacked")
            with tarfile.open(word) as packed:
                packed.extractall(inside, filter="data")
            word = inside
        paths = [word] if os.path.isfile(word) else sorted(glob.glob(os.path.join(word, "**", "*.json.gz"), recursive=True))
        for path in paths:
            name = os.path.basename(path)
            if ".fault" in name or (not os.path.isfile(word) and not SHAPES.search(name)):
                continue
            found.setdefault(SHAPES.sub("", name).removesuffix(".json.gz"), path)
    return sorted(found.items())


def scripts_of(ridge, trace, cache, folder):
    words = [ridge, "replay", trace, "--all", "-o", folder] + (["--inductor-cache", cache] if cache else [])
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        print("no scripts of %s: %s" % (trace, done.stderr.strip()[:300]), flush=True)
        return []
    with open(os.path.join(folder, "index.json"), encoding="utf-8") as file:
        items = [item for item in json.load(file) if not item.get("by_compiler")]  # what an autotuner tried is no call of the model
    return sorted(items, key=lambda item: -item["time_ns"])


def gathered(ridge, models, cache, folder, cover):
    """All calls in one folder with one index, those of each model that cover most of its time; {index, whole: {model: kernel time}, no_source: the same of Triton
    kernels without a source, triton: of all Triton kernels}."""
    whole, no_source, triton, index = {}, {}, {}, []
    for model, trace in models:
        made = os.path.join(folder, "scripts_of", model)
        items = scripts_of(ridge, trace, cache, made)
        whole[model] = sum(item["time_ns"] for item in items)
        no_source[model] = sum(item["time_ns"] for item in items if lacks_source(item))
        triton[model] = sum(item["time_ns"] for item in items if item["kernel"].startswith("triton_"))
        covered = 0
        for rank, item in enumerate(items):
            if covered > cover * whole[model]:
                break
            covered += item["time_ns"]
            entry = dict(item, model=model, rank=rank, share=item["time_ns"] / whole[model])
            if item["status"] == "ok" and item["script"]:
                entry["script"] = "%s__%s" % (re.sub(r"\W", "_", model), item["script"])
                shutil.copyfile(os.path.join(made, item["script"]), os.path.join(folder, entry["script"]))
            index.append(entry)
    index.sort(key=lambda item: -item["share"])
    return {"index": index, "whole": whole, "no_source": no_source, "triton": triton}


def lacks_source(item):
    return item["status"] != "ok" and (item["reason"] or "").startswith(NO_SOURCE)


def parts_of(index):
    """The index cut where each part ends."""
    whole, covered, parts = sum(item["share"] for item in index), 0, [[]]
    for item in index:
        if covered >= PARTS[len(parts) - 1] * whole and len(parts) < len(PARTS):
            parts.append([])
        parts[-1].append(item)
        covered += item["share"]
    return parts


def bench(ridge, folder, index, seconds, out, asked):
    """Whether its rows are there."""
    with open(os.path.join(folder, "index.json"), "w", encoding="utf-8") as file:
        json.dump(index, file)
    words = [ridge, "bench", folder, "--json", "-q", "-o", out, "--seconds", str(asked.each), "--deadline", str(DEADLINE_S), "--for", "%.0f" % seconds]
    words += ["--python", sys.executable, "--on", asked.on]
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=seconds + DEADLINE_S + 15)
    except subprocess.TimeoutExpired:
        print(out, "did not end in time", flush=True)
    else:
        print(out, "exit", done.returncode, done.stderr.strip()[-500:], flush=True)
    return os.path.exists(out)


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        table = json.load(file)["tables"][0]
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def measure(asked):
    begun = time.monotonic()
    os.makedirs(asked.out, exist_ok=True)
    for path in glob.glob(os.path.join(asked.out, "first*.json")) + glob.glob(os.path.join(asked.out, "second.json")):
        os.remove(path)  # of an earlier run: rows are known by their place
    with tempfile.TemporaryDirectory() as folder:
        models = traces_of(asked.traces, folder)
        told = gathered(asked.ridge, models, asked.inductor_cache, folder, asked.cover)
        index = told["index"]
        with open(os.path.join(asked.out, "index.json"), "w", encoding="utf-8") as file:
            json.dump(told, file)
        print("%d models, %d calls, %.0f s so far" % (len(models), len(index), time.monotonic() - begun), flush=True)
        first_until = begun + asked.seconds - (1 - TWICE) * (asked.seconds - (time.monotonic() - begun))
        for number, part in enumerate(parts_of(index)):
            left = first_until - time.monotonic()
            if not bench(asked.ridge, folder, part, max(10, left), os.path.join(asked.out, "first_%d.json" % (number + 1)), asked):
                break  # its rows would be missing in the middle
        left = asked.seconds - (time.monotonic() - begun)
        runs = [item for item in index if item["status"] == "ok"]
        if left > 20:
            bench(asked.ridge, folder, runs, left - 10, os.path.join(asked.out, "second.json"), asked)


def measured(folder, index):
    """A row per call of the index; those that no part has were not reached."""
    rows = [row for path in sorted(glob.glob(os.path.join(folder, "first*.json"))) for row in rows_of(path)]
    missing = {"status": "skipped", "reason": NOT_REACHED, "same_kernel": None}
    return rows + [missing] * (len(index) - len(rows))


def sums_of(model, told, rows):
    """Times of a model's calls by what became of them."""
    mine = [(item, row) for item, row in rows if item["model"] == model]
    cut = [(item, row) for item, row in mine if row["reason"] and NOT_REACHED in row["reason"]]
    ran = [(item, row) for item, row in mine if row["status"] == "ok"]
    same = [(item, row) for item, row in ran if row["same_kernel"]]
    within = [(item, row) for item, row in same if in_range(row)]
    one = {"calls": len(mine), "cut_calls": len(cut), "whole": told["whole"][model], "no_source": told.get("no_source", {}).get(model, 0)}
    for name, some in (("cut", cut), ("ran", ran), ("same", same), ("within", within)):
        one[name] = sum(item["time_ns"] for item, _ in some)
    return one


def score(folder):
    with open(os.path.join(folder, "index.json"), encoding="utf-8") as file:
        told = json.load(file)
    first = measured(folder, told["index"])
    rows = list(zip(told["index"], first))
    print("| model | calls | kernel ms | replays % | same kernel % | in range % | no source % |\n|---|---|---|---|---|---|---|")
    models = {model: sums_of(model, told, rows) for model in told["whole"]}
    for model, one in models.items():
        print_line(model, one)
    groups = {"all, by time": list(models)}
    compiled = [model for model, ns in told.get("triton", {}).items() if ns]
    if compiled:
        groups["eager models"] = [model for model in models if model not in compiled]
        groups["models with Triton kernels"] = compiled
    together = {name: {key: sum(models[model][key] for model in some) for key in next(iter(models.values()))} for name, some in groups.items() if some}
    every = together["all, by time"]
    if every["no_source"]:
        together["all, without kernels that have no source"] = dict(every, whole=every["whole"] - every["no_source"], no_source=0)
    for name, one in together.items():
        print_line(name, one)
    if every["cut_calls"]:
        left = every["whole"] - every["cut"]
        print("\n%d of %d calls, %.1f %% of the time, were not reached and left the count; counted as not replayed: %.1f %% replay instead of %.1f" % (
            every["cut_calls"], every["calls"], 100 * every["cut"] / every["whole"], 100 * every["ran"] / every["whole"], 100 * every["ran"] / left if left else 0))
    reasons(rows)
    second = os.path.join(folder, "second.json")
    if os.path.exists(second):
        two_runs(first, rows_of(second))


def print_line(name, one):
    print("| %s | %d | %.2f | %s | %s | %s | %s |" % (name, one["calls"], one["whole"] / 1e6, *shares(one)))


def in_range(row):
    if None in (row["warm_ns"], row["cold_ns"], row["trace_ns"]):
        return False
    fast, slow = sorted((row["warm_ns"], row["cold_ns"]))
    return 0.95 * fast <= row["trace_ns"] <= 1.05 * slow


def shares(one):
    part = lambda a, b: "%.1f" % (100 * a / b) if b else "-"
    return part(one["ran"], one["whole"] - one["cut"]), part(one["same"], one["ran"]), part(one["within"], one["same"]), part(one["no_source"], one["whole"])


def reasons(rows):
    """What stands in the way, by time."""
    lost = {}
    for item, row in rows:
        if row["status"] == "ran":
            continue  # a rehearsal
        if row["status"] != "ok":
            key = ("not replayed", row["status"], (row["reason"] or "")[:110], item["op"] or "")
        elif not row["same_kernel"]:
            key = ("another kernel", "", "%s -> %s" % (row["kernel"][:60], (row["ran"] or "its grid: " + row["grid"])[:60]), item["op"] or "")
        elif not in_range(row):
            key = ("out of range", "slower in the trace" if row["trace_ns"] > row["cold_ns"] else "faster", row["kernel"][:60], item["op"] or "")
        else:
            continue
        lost[key] = lost.get(key, 0) + item["time_ns"]
    print("\n| what | how | which | op | ms |\n|---|---|---|---|---|")
    for key, ns in sorted(lost.items(), key=lambda each: -each[1])[:40]:
        print("| %s | %.3f |" % (" | ".join(key), ns / 1e6))


def two_runs(first, second):
    again = {row["script"]: row for row in second if row["status"] == "ok"}
    off, weights = [], []
    for row in first:
        other = again.get(row["script"])
        if row["status"] != "ok" or other is None or None in [each[key] for each in (row, other) for key in ("cold_ns", "warm_ns")]:
            continue
        off.append(max(abs(other[key] / row[key] - 1) for key in ("cold_ns", "warm_ns")))
        weights.append(row["time_ns"] or 0)
    if not off:
        return
    ordered = sorted(off)
    share = 100 * sum(w for o, w in zip(off, weights) if o <= 0.02) / (sum(weights) or 1)
    print("\n%d calls run twice: apart by %.2f %% (median), %.2f %% (95th percentile); within 2 %%: %.1f %% of calls, %.1f %% of time" % (
        len(off), 100 * ordered[len(off) // 2], 100 * ordered[min(len(off) - 1, int(0.95 * len(off)))], 100 * sum(o <= 0.02 for o in off) / len(off), share))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ridge", default="build/ridge")
    parser.add_argument("--out", default=".")
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--cover", type=float, default=COVER, help="share of a model's kernel time whose calls are run, longest first")
    parser.add_argument("--on", default="cuda", choices=("cuda", "cpu", "meta"), help="without a GPU: that the scripts run")
    parser.add_argument("--each", type=float, default=0.8, help="most seconds to repeat one call")
    parser.add_argument("--inductor-cache")
    parser.add_argument("--score")
    parser.add_argument("traces", nargs="*")
    asked = parser.parse_args()
    if asked.score:
        score(asked.score)
        return
    measure(asked)
    score(asked.out)


if __name__ == "__main__":
    main()
