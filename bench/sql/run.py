#!/usr/bin/env python3
"""How long a question in SQL takes from the file to the answer: against `ridge info` on the same file, and against Perfetto's trace
processor (the release that the browser tests fetch; skipped without it). The answers are compared before the times are told.

  run.py RIDGE TRACE.json [--runs N] [--no-perfetto]"""

import argparse
import json
import os
import subprocess
import sys
import time

QUERY = "select name, count(*), sum(dur) from slice group by 1 order by 3 desc"
HERE = os.path.dirname(os.path.abspath(__file__))
PERFETTO = os.path.join(HERE, "../../tests/browser/perfetto.mjs")


def timed(words):
    """Standard output, seconds on the clock, seconds of processors, peak bytes."""
    began = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.PIPE)
    out = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{words[0]} failed with {process.returncode}")
    return out, time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def best(words, runs):
    return min((timed(words) for _ in range(runs)), key=lambda run: run[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ridge")
    parser.add_argument("trace")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--no-perfetto", action="store_true")
    given = parser.parse_args()
    size = os.path.getsize(given.trace)
    _, info_s, info_cpu, _ = best([given.ridge, "info", given.trace, "-q"], given.runs)
    out, sql_s, sql_cpu, memory = best([given.ridge, "sql", given.trace, QUERY, "--json", "-q"], given.runs)
    ours = json.loads(out)["tables"][0]["rows"]
    if not given.no_perfetto:
        out, perfetto_s, perfetto_cpu, perfetto_memory = timed(["node", PERFETTO, given.trace, QUERY])
        dropped = compare(given, ours, json.loads(out)["answers"][0]["rows"])
    print(f"{size / 1e6:.0f} MB, {len(ours)} names, {sum(row[1] for row in ours)} slices")
    print(f"ridge info        {info_s:7.2f} s  ({info_cpu:.2f} s of processors)")
    print(f"ridge sql         {sql_s:7.2f} s  ({sql_cpu:.2f} s), {sql_s / info_s:.2f} x info, {memory / size:.2f} of the file in memory")
    if not given.no_perfetto:
        print(f"Perfetto          {perfetto_s:7.2f} s  ({perfetto_cpu:.2f} s), {perfetto_s / sql_s:.1f} x ridge sql, {perfetto_memory / size:.2f} of the file in memory")
        print(f"the same answers, but for {dropped} overlapping slices that Perfetto drops")


def compare(given, ours, theirs):
    """Perfetto has what ridge has, less the slices that overlap another, which it drops; how many these are."""
    out, *_ = timed([given.ridge, "sql", given.trace, "select name, count(*), sum(dur) from slice where overlaps group by 1", "--json", "-q"])
    expected = {name: (count, ns) for name, count, ns in ours}
    dropped = 0
    for name, count, ns in json.loads(out)["tables"][0]["rows"]:
        dropped += count
        expected[name] = (expected[name][0] - count, expected[name][1] - ns)
        if expected[name][0] == 0:
            del expected[name]
    wrong = [name for name, count, ns in theirs if expected.pop(name, None) != (count, ns)]
    if wrong or expected:
        sys.exit(f"the answers differ: {wrong[:5]} {list(expected)[:5]}")
    return dropped


if __name__ == "__main__":
    main()
