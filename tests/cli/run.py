#!/usr/bin/env python3
"""Runs the ridge binary as a user does and checks exit codes, streams, files and signals. What the numbers are is not tested here.

usage: run.py [--ridge] BINARY [WORD...]     only the tests whose names hold one of the words"""

import os
import sys

import asking
import benching
import changes
import commands
import comparing
import costs
import harness
import hostile
import inputs
import made_jobs
import outputs
import predicting
import ranks
import replay_values
import replaying
import scripts
import terminals
from checks import run_tests, words_of

PARTS = [commands, inputs, outputs, terminals, costs, comparing, predicting, changes, replaying, replay_values, benching, asking, ranks, made_jobs, hostile, scripts]


def main():
    binary, words = words_of(sys.argv[1:])
    if not binary or not os.access(binary, os.X_OK):
        print(__doc__, file=sys.stderr)
        return 2
    harness.use(binary)
    tests = {name: test for part in PARTS for name, test in vars(part).items() if name.startswith("test_")}
    return run_tests(tests, words, harness.in_a_folder)


if __name__ == "__main__":
    sys.exit(main())
