#!/usr/bin/env python3
"""Every command of two builds of ridge in turns: the smallest time and memory of N runs each, and where the new one is worse.

  commands.py OLD NEW TRACE [--runs 15] [--only kernels,gaps]
Exit 1 where a command is slower by more than 10 % or larger by more than 3 %. Both are asked in turns, so that a slow moment of the
machine meets both; a command over the limit is run as often again before it is believed. Answers are not compared here: see
same_answers.py."""

import argparse
import os
import sys
import time

from same_answers import commands, first_kernel

SLOWER, LARGER = 1.10, 1.03
LEAST_S = 0.002  # below this a difference is the start of a process


def run(ridge, call):
    """(seconds, peak bytes) of one run; its output is thrown away."""
    started = time.monotonic()
    pid = os.fork()
    if pid == 0:
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        os.execv(ridge, [ridge, *call])
    _, status, usage = os.wait4(pid, 0)
    seconds = time.monotonic() - started
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 3):
        sys.exit(f"ridge {' '.join(call)} exits with {code}")
    return seconds, usage.ru_maxrss * 1024


def calls(ridge, trace):
    for name, groupings in commands(ridge, trace).items():
        operand = first_kernel(ridge, trace) if name == "kernel" else ()
        if operand is None:
            continue
        traces = (trace, trace) if name == "diff" else (trace,)
        for by in groupings:
            yield (name, *operand, *traces, *(("--by", by) if by else ()), "--json")


def best(old, new, runs, call):
    """Smallest seconds and smallest peak of memory of both: what is above them is the machine's."""
    taken = ([], [])
    for turn in range(runs):
        for side in (0, 1) if turn % 2 == 0 else (1, 0):
            taken[side].append(run((old, new)[side], call))
    return [(min(t for t, _ in side), min(m for _, m in side)) for side in taken]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("trace")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    print(f"{'command':34} {'old ms':>9} {'new ms':>9} {'ratio':>6}   {'old MB':>8} {'new MB':>8} {'ratio':>6}")
    failed = passed = 0
    for call in calls(given.new, given.trace):
        if given.only and call[0] not in given.only.split(","):
            continue
        for _ in range(2):
            (old_s, old_b), (new_s, new_b) = best(given.old, given.new, given.runs, call)
            slow = new_s > old_s * SLOWER and new_s - old_s > LEAST_S
            large = new_b > old_b * LARGER
            if not (slow or large):
                break
        name = " ".join([call[0], *(call[call.index("--by") :][:2] if "--by" in call else ())])
        verdict = " slower" * slow + " larger" * large
        print(f"{name:34} {old_s * 1e3:9.1f} {new_s * 1e3:9.1f} {new_s / old_s:6.2f}   "
              f"{old_b / 1e6:8.1f} {new_b / 1e6:8.1f} {new_b / old_b:6.2f}{verdict}", flush=True)
        failed += bool(verdict)
        passed += not verdict
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
