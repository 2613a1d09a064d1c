#!/usr/bin/env python3
"""Tests of `ridge record` and of python/ridge/recording: on PyTorch where there is one, without where none is needed.

usage: run.py [--ridge] BINARY [WORD...]     only the tests whose names hold one of the words"""

import os
import sys

import detaching
import files
import launching
import programs_recorded
import recording_inside
import stage
import windows
from checks import EXPECTED, words_of

PARTS = [windows, files, detaching, launching, programs_recorded, recording_inside]


def main():
    binary, words = words_of(sys.argv[1:])
    if not binary or not os.access(binary, os.X_OK):
        print(__doc__, file=sys.stderr)
        return 2
    stage.use(binary)
    tests = [test for part in PARTS for name, test in vars(part).items() if name.startswith("test_") and (not words or any(w in name for w in words))]
    failed = skipped = 0
    for test in tests:
        at = stage.Stage()
        try:
            test(at)
        except stage.Skipped as why:
            skipped += 1
            print(f"skipped recording.{test.__name__[5:]}: {why}")
        except EXPECTED as error:
            failed += 1
            print(f"FAILED {test.__name__[5:]}: {type(error).__name__}: {str(error)[:2500]}")
        finally:
            at.remove()
    print(f"{len(tests) - failed - skipped} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
