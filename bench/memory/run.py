#!/usr/bin/env python3
"""Peak memory and CPU time of the commands that hold most, per byte of JSON and against `ridge info`.

  run.py [--ridge build/ridge] [--file TRACE] [--size 1G] [--rounds 3]

Fails where one takes more than the most that it may, of 1 GB or more: smaller traces take more per byte, since what is not of the trace weighs more. Memory does not depend on how busy the machine is, nor notably on how the program was optimised; of times the smallest
CPU time is told. Without --file a trace of that size is made, as bench/compare does."""

import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
QUERY = "select name, count(*), sum(dur) from slice group by 1 order by 3 desc"

# Words of the command, goal and limit of its peak memory as a share of the JSON: the goal is what is asked for, the limit what was reached and may not be lost.
COMMANDS = [
    (["info"], None, 0.30),
    (["sql", QUERY], 0.50, 0.30),
    (["critical"], 0.40, 0.40),
    (["whatif"], 0.40, 0.40),
    (["summary"], 0.40, 0.40),
]


def ran(ridge, path, words):
    """(CPU seconds, peak memory in bytes)"""
    command, *more = words
    child = os.posix_spawn(ridge, [ridge, command, path, *more, "-q", "--json", "-o", os.devnull], os.environ)
    _, status, used = os.wait4(child, 0)
    if status != 0:
        sys.exit(f"ridge {command}: exit {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def made_trace(size):
    sys.path.insert(0, os.path.join(ROOT, "bench", "compare"))
    import run as compare

    return compare.trace(compare.parse_size(size))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ridge", default=os.path.join(ROOT, "build", "ridge"))
    parser.add_argument("--file")
    parser.add_argument("--size", default=os.environ.get("BENCH_SIZE", "1G"))
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    path = asked.file or made_trace(asked.size)
    size = os.path.getsize(path)
    print(f"{path}: {size / 1e6:.0f} MB")
    info, over = None, []
    for words, goal, limit in COMMANDS:
        runs = [ran(os.path.abspath(asked.ridge), path, words) for _ in range(asked.rounds)]
        seconds, memory = min(run[0] for run in runs), min(run[1] for run in runs)
        info = info or seconds
        share = memory / size
        against = "" if goal is None else f" (goal {goal:.2f}{'' if share <= goal else ': missed'}; limit {limit:.2f})"
        print(f"ridge {words[0]}: {seconds:.2f} s of CPU time, {seconds / info:.2f} x info; {memory / 1e6:.0f} MB, {share:.3f} of the JSON{against}", flush=True)
        if share > limit and size >= 1e9:
            over.append(words[0])
    if over:
        sys.exit("more memory than there may be: " + ", ".join(over))


if __name__ == "__main__":
    main()
