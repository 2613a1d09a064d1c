#!/usr/bin/env python3
"""Holds `ridge predict` against measured op times that the table was not made of.

  expected.py --ridge build/ridge --score score.jsonl.gz [--models models.jsonl.gz] [--compiled compiled_score.jsonl.gz]

The files are those that the script of `ridge predict --calibrate` records. An op's error is its distance from the interval [warm, cold], in percent
of the nearer end; of models it is weighted by time (count x warm). Ops without an expected time are counted, and left out of
the means."""

import argparse
import collections
import gzip
import importlib.machinery
import importlib.util
import json
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
loader = importlib.machinery.SourceFileLoader("make_expected_table", os.path.join(HERE, "..", "tools", "make_expected_table"))
spec = importlib.util.spec_from_loader("make_expected_table", loader)
table = importlib.util.module_from_spec(spec)
loader.exec_module(table)
from expected_points import item_of  # beside make_expected_table, which has made it known


def lines(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
        return [json.loads(line) for line in f]


def ask(ridge, *words):
    out = json.loads(subprocess.run([ridge, *words, "--json", "--limit", "0"], capture_output=True, text=True, check=True).stdout)["tables"][0]
    at = {c["name"]: i for i, c in enumerate(out["columns"])}
    return [{name: row[i] for name, i in at.items()} for row in out["rows"]]


def predicted(ridge, points):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as f:
        for p in points:
            call = {k: p[k] for k in ("op", "shapes", "dtypes", "strides", "concrete", "tf32", "sizes") if p.get(k) is not None}
            if item_of(p):
                call["item"] = item_of(p)
            f.write(json.dumps(call) + "\n")
        f.flush()
        return ask(ridge, "predict", "--ops", f.name, "--features")


def error(expected, warm, cold):
    low, high = min(warm, cold), max(warm, cold)
    return 100 * max(0.0, (low - expected) / low, (expected - high) / high)


def line(name, rows):
    """rows: (error, weight, within the interval given)"""
    known = [r for r in rows if r[0] is not None]
    if not known:
        return "| %s | %d | 0 | | | | | |" % (name, len(rows))
    errors = sorted(r[0] for r in known)
    weight = sum(r[1] for r in known)
    return "| %s | %d | %d | %.1f | %.1f | %.1f | %.1f | %.0f |" % (
        name, len(rows), len(known), sum(errors) / len(errors), errors[len(errors) // 2], errors[len(errors) * 9 // 10],
        sum(r[0] * r[1] for r in known) / weight, 100 * sum(r[2] for r in known) / len(known))


def score(points, answers, name_of):
    groups = collections.defaultdict(list)
    for p, a in zip(points, answers):
        row = (None, 0, False)
        if a["expected_ns"]:
            # What was measured overlaps with what was said.
            inside = a["low_ns"] <= max(p["warm_ns"], p["cold_ns"]) and min(p["warm_ns"], p["cold_ns"]) <= a["high_ns"]
            row = (error(a["expected_ns"], p["warm_ns"], p["cold_ns"]), p["warm_ns"] * p.get("count", 1), inside)
        groups[name_of(p, a)].append(row)
    for name in sorted(groups):
        print(line(name, groups[name]))
    print(line("all", [r for rows in groups.values() for r in rows]))


def family(point, answer):
    """A convolution is asked about in parts."""
    if answer["kind"] and "conv" in point["op"]:
        return "convolution_backward" if "backward" in point["op"] else "convolution"
    return (answer["kind"] or "not told").split(" + ")[0]


HEAD = "| %s | ops | told | mean %% | median %% | 90th %% | weighted by time %% | inside [low, high] %% |\n|---|---|---|---|---|---|---|---|"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--ridge", default="build/ridge")
    p.add_argument("--score")
    p.add_argument("--models")
    p.add_argument("--compiled")
    a = p.parse_args()
    if a.score:
        points = [x for x in lines(a.score) if x.get("op")]
        print(HEAD % "kind")
        score(points, predicted(a.ridge, points), family)
    if a.models:
        points = [x for x in lines(a.models) if x.get("op")]
        print("\n" + HEAD % "model")
        score(points, predicted(a.ridge, points), lambda p, answer: p["model"])
    if a.compiled:
        trace, times = table.trace_of(lines(a.compiled))
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/trace.json", "w") as f:
                json.dump(trace, f)
            answers = ask(a.ridge, "kernels", folder + "/trace.json", "--by", "launch")
        print("\n" + HEAD % "generated kernels")
        answers = [dict(x, low_ns=0, high_ns=1e18) for x in answers]
        score([{"warm_ns": w, "cold_ns": c} for w, c in times], answers, lambda p, answer: answer["category"])


if __name__ == "__main__":
    main()
