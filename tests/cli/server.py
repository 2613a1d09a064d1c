#!/usr/bin/env python3
"""Runs `ridge serve` and `ridge report` as a user does: what is served (server_answers.py), what must be refused (server_refusals.py), what a report holds
(reporting.py).

usage: server.py [--ridge] BINARY [WORD...]     only the tests whose names hold one of the words"""

import os
import sys

import harness
import reporting
import server_answers
import server_refusals
from checks import run_tests, words_of
from serving import ROOT


def main(arguments):
    binary, words = words_of(arguments)
    harness.use(binary or os.path.join(ROOT, "build", "ridge"))
    tests = {name: test for part in (server_answers, server_refusals, reporting) for name, test in vars(part).items() if name.startswith("test_")}
    return run_tests(tests, words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
