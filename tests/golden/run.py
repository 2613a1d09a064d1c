#!/usr/bin/env python3
"""Runs the golden cases: folders that hold a `command` and what it is expected to print.

  command    one line, the arguments of ridge: info --json trace.json. It runs in the case's folder, so a trace is a file of that
             folder or ../../fixtures/NAME. "< FILE" at its end gives standard input.
  expected   what came of it: "exit N", then "--- stdout" and "--- stderr" with what was written; an empty stream is left out.

  run.py [--ridge PATH] [--update] [NAME...]   --update rewrites the expected files; NAME: only cases whose name contains it

The program's version is written as VERSION, so that a release does not touch every case. Of a run of spaces inside a line two
stay: a wider name in one row then changes that row alone. How columns are aligned is tested in tests/unit/render."""

import argparse
import difflib
import os
import re
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
VERSION = re.compile(r'("ridge": ?)"[^"]*"')
PADDING = re.compile(r"(?<=\S) {3,}")


def cases(names):
    for path, folders, files in os.walk(HERE):
        folders.sort()
        name = os.path.relpath(path, HERE)
        if "command" in files and (not names or any(part in name for part in names)):
            yield name, path


def text(stream):
    whole = VERSION.sub(r'\1"VERSION"', stream.decode("utf-8", "surrogateescape"))
    return PADDING.sub("  ", whole)


def outcome(path, ridge):
    """What the case's command does now, in the form of an `expected` file."""
    with open(os.path.join(path, "command"), encoding="utf-8") as file:
        words = shlex.split(file.read())
    stdin = os.devnull
    if len(words) > 1 and words[-2] == "<":
        stdin = os.path.join(path, words[-1])
        words = words[:-2]
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "CLICOLOR_FORCE", "FORCE_COLOR")}
    with open(stdin, "rb") as source:
        done = subprocess.run([ridge, *words], cwd=path, env=environment, stdin=source,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    result = f"exit {done.returncode}\n"
    for name, stream in (("stdout", done.stdout), ("stderr", done.stderr)):
        if stream:
            result += f"--- {name}\n{text(stream)}"
            if not result.endswith("\n"):
                result += "\n\\ no newline at the end\n"
    return result


def read_expected(path):
    try:
        with open(os.path.join(path, "expected"), encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def write_expected(path, content):
    with open(os.path.join(path, "expected"), "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(content)


def show_difference(name, expected, actual):
    lines = difflib.unified_diff(expected.splitlines(), actual.splitlines(), f"{name}/expected", "now", lineterm="")
    for count, line in enumerate(lines):
        if count == 60:
            print("  ...")
            break
        print("  " + line[:400].encode("utf-8", "replace").decode())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ridge", default=os.path.join(ROOT, "build", "ridge"))
    parser.add_argument("--update", action="store_true")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    ridge = os.path.abspath(arguments.ridge)

    passed = failed = 0
    for name, path in cases(arguments.names):
        expected, actual = read_expected(path), outcome(path, ridge)
        if expected == actual:
            passed += 1
        elif arguments.update:
            write_expected(path, actual)
            passed += 1
            print(f"updated {name}")
        else:
            failed += 1
            print(f"FAILED {name}")
            show_difference(name, expected, actual)
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
