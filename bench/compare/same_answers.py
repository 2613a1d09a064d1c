#!/usr/bin/env python3
"""Whether two builds of ridge answer alike: the JSON and CSV of every command and every --by, of each trace, byte for byte.

  same_answers.py --record FILE --ridge OLD TRACE...   keep what OLD answers, as hashes
  same_answers.py --against FILE --ridge NEW TRACE...  hold NEW against it; exit 1 where an answer differs
  --texts  also what people read: table, md and svg
TRACE is a file, or a folder that is searched for traces. Commands and their --by come from the binary itself, so that a new one is
recorded by itself; those that only one of the two has are listed, not compared."""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys

FORMATS, TEXTS = ("json", "csv"), ("table", "md", "svg")
TRACE = re.compile(r"\.json(\.gz|\.zst)?$")
NOT_A_TRACE = re.compile(r"flops\.json$|/tests/(?!fixtures)|snapshot")
# What narrows a trace, tried with every command: each changes which part of it is asked about.
SCOPES = ((), ("--step", "1"), ("--gpu", "0"), ("--from", "1", "--to", "9"), ("--filter", "aten|gemm|triton"))


def output(ridge, *arguments):
    return subprocess.run([ridge, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)


def commands(ridge, trace):
    """name -> its values of --by, None for without: the words of its help that it takes."""
    listed, found = False, {}
    for line in output(ridge, "help").stdout.decode().splitlines():
        if line.startswith("Questions"):
            listed = True
        elif listed and not line.startswith("  "):
            break
        elif listed:
            found[line.split()[0]] = [None]
    for name, by in found.items():
        match = re.search(r"--by \w+ +(.*)", output(ridge, "help", name).stdout.decode())
        words = dict.fromkeys(re.findall(r"[a-z_]+", match.group(1))) if match else ()
        by += [word for word in words if output(ridge, name, "--by", word, trace).returncode == 0]
    return found


def calls(ridge, traces, formats):
    known = commands(ridge, traces[0])
    for path in traces:
        for name, groupings in known.items():
            operand = first_kernel(ridge, path) if name == "kernel" else ()
            if name == "diff" or operand is None:
                continue
            for by in groupings:
                for scope in SCOPES if by is None else SCOPES[:1]:
                    for form in formats:
                        yield [name, *operand, path, *(["--by", by] if by else []), *scope, "-f", form]
    for first, second in zip(traces, traces[1:]):
        for form in formats:
            yield ["diff", first, second, "-f", form]
    for form in formats:
        yield ["devices", "-f", form]


def first_kernel(ridge, path):
    answer = output(ridge, "kernels", path, "--json", "-n", "1")
    if answer.returncode != 0:
        return None
    rows = json.loads(answer.stdout)["tables"][0]["rows"]
    return (rows[0][0],) if rows else None


def traces_of(paths):
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        for folder, folders, files in os.walk(path):
            folders.sort()
            for name in sorted(files):
                whole = os.path.join(folder, name)
                if TRACE.search(name) and not NOT_A_TRACE.search(whole):
                    yield whole


def digest(ridge, call):
    done = output(ridge, *call)
    return [done.returncode, hashlib.sha256(done.stdout).hexdigest(), hashlib.sha256(done.stderr).hexdigest()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ridge", required=True)
    parser.add_argument("--record", metavar="FILE")
    parser.add_argument("--against", metavar="FILE")
    parser.add_argument("--texts", action="store_true")
    parser.add_argument("traces", nargs="+", metavar="TRACE")
    given = parser.parse_args()
    traces = list(traces_of(given.traces))
    asked = list(calls(given.ridge, traces, FORMATS + TEXTS if given.texts else FORMATS))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = dict(zip(map(json.dumps, asked), pool.map(lambda call: digest(given.ridge, call), asked)))
    if given.record:
        with open(given.record, "w", encoding="utf-8") as file:
            json.dump(answers, file, indent=0)
        print(f"{len(answers)} answers recorded of {len(traces)} traces")
        return 0
    with open(given.against, encoding="utf-8") as file:
        before = json.load(file)
    failed = 0
    for call, answer in answers.items():
        if call in before and before[call] != answer:
            failed += 1
            what = [part for part, a, b in zip(("exit code", "stdout", "stderr"), before[call], answer) if a != b]
            print(f"{', '.join(what)} differ: ridge {' '.join(json.loads(call))}")
    for call in sorted(set(before) ^ set(answers)):
        print(f"only in {'the record' if call in before else 'the new'}: ridge {' '.join(json.loads(call))}")
    print(f"{len(set(before) & set(answers)) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
