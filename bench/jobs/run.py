#!/usr/bin/env python3
"""How long `ridge ranks` takes over the ranks of a whole job, and how much memory: from traces against `ridge info` over the same files one after the
other, and from many digests. Every answer is checked before a time is told: the fault that was planted is found, with its rank and cause, and digests
say the same as the traces that they were made of, to the last digit.

  run.py [--ridge build/ridge] [--folder build/bench/jobs] [--ranks 8] [--size 125M] [--digests 1000 10000] [--runs 5]

The traces and digests are made when they are not there: about two minutes for the traces, ten for 10,000 digests."""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)

import make  # noqa: E402
import program  # noqa: E402
import score  # noqa: E402
import write_trace  # noqa: E402

UNITS = {"K": 10**3, "M": 10**6, "G": 10**9}
AT_ONCE = 50  # traces that lie there while their digests are made


def bytes_of(text):
    return int(float(text[:-1]) * UNITS[text[-1].upper()]) if text[-1].isalpha() else int(text)


def timed(words):
    """Standard output, seconds, peak bytes."""
    began = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.PIPE)
    out = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(words[:4])} ... failed with {process.returncode}")
    return out, time.monotonic() - began, used.ru_maxrss * 1024


def played(job):
    groups = program.Groups(job)
    return groups, make.played(job, groups)


def written(folder, job, groups, sim, ranks):
    os.makedirs(folder, exist_ok=True)
    paths = []
    for rank in ranks:
        paths.append(os.path.join(folder, f"rank{rank}.json"))
        with open(paths[-1] + ".part", "w", encoding="utf-8") as file:
            file.write(write_trace.Writer(job, groups, sim, rank).document(1, job.steps))
        os.replace(paths[-1] + ".part", paths[-1])
    return paths


def large_traces(folder, ranks, size):
    """Traces of about this many bytes: as many steps as that takes."""
    place = os.path.join(folder, f"{ranks}_ranks_{size}")
    job = program.Job("large", 20_251, dp=ranks, faults=[program.Fault("device", rank=ranks // 2, by=1.12)])
    if not os.path.exists(os.path.join(place, "whole")):
        groups, sim = played(job)
        short = len(write_trace.Writer(job, groups, sim, 0).document(1, job.steps))
        job.steps = max(1, round(job.steps * size / short))
        written(place, job, *played(job), range(ranks))
        open(os.path.join(place, "whole"), "w", encoding="utf-8").close()
    return [os.path.join(place, f"rank{rank}.json") for rank in range(ranks)], job.faults[0]


def many_digests(ridge, folder, count):
    """Digests of one job of `count` ranks, tensor parallel by 8: a file of them all, and the rank that is slow."""
    place = os.path.join(folder, f"{count}.digest")
    job = program.Job("many", 31 + count, dp=count // 8, tp=8, layers=1, steps=2, faults=[program.Fault("device", rank=count // 3, by=1.3)])
    if not os.path.exists(place):
        groups, sim = played(job)
        traces = os.path.join(folder, "traces")
        with open(place + ".part", "wb") as file:
            for first in range(0, count, AT_ONCE):
                paths = written(traces, job, groups, sim, range(first, min(first + AT_ONCE, count)))
                one = os.path.join(traces, "some.digest")
                timed([ridge, "ranks", "-q", "--digest", one, *paths])
                with open(one, "rb") as part:
                    shutil.copyfileobj(part, file)
                shutil.rmtree(traces)
        os.replace(place + ".part", place)
    return place, job.faults[0]


def tables(out):
    return json.loads(out)["tables"]


def check_found(out, fault, what):
    """The planted one, and it alone."""
    table = next(t for t in tables(out) if t["name"] == "stragglers")
    names = [c["name"] for c in table["columns"]]
    rows = [dict(zip(names, row)) for row in table["rows"]]
    if len(rows) != 1 or rows[0]["cause"] != fault.cause or rows[0]["rank"] != fault.rank:
        sys.exit(f"{what}: {fault.cause} on rank {fault.rank} was planted, told: {', '.join(map(score.told, rows)) or 'nothing'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ridge", default=os.path.join(ROOT, "build", "ridge"))
    parser.add_argument("--folder", default=os.path.join(ROOT, "build", "bench", "jobs"))
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--size", type=bytes_of, default=bytes_of("125M"))
    parser.add_argument("--digests", type=int, nargs="*", default=[1000, 10000])
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    os.makedirs(asked.folder, exist_ok=True)
    traces, fault = large_traces(asked.folder, asked.ranks, asked.size)
    largest = max(os.path.getsize(t) for t in traces)
    ask = [asked.ridge, "ranks", "--json", "-q"]
    from_traces, _, _ = timed([*ask, *traces])
    check_found(from_traces, fault, "traces")
    digest = os.path.join(asked.folder, f"large_{asked.ranks}.digest")
    _, digesting, _ = timed([asked.ridge, "ranks", "-q", "--digest", digest, *traces])
    from_digests, _, _ = timed([*ask, digest])
    if tables(from_traces) != tables(from_digests):
        sys.exit("the digests say something else than the traces")
    ranks_s, infos_s, peaks = [], [], []
    for _ in range(asked.runs):  # in turns: the machine's speed varies
        infos_s.append(sum(timed([asked.ridge, "info", "--json", "-q", t])[1] for t in traces))
        _, seconds, peak = timed([*ask, *traces])
        ranks_s.append(seconds)
        peaks.append(peak)
    ratio = statistics.median(r / i for r, i in zip(ranks_s, infos_s))
    room = (statistics.median(peaks) - 2e6 * asked.ranks) / largest
    print(f"{asked.ranks} ranks of {largest / 1e6:.0f} MB: {statistics.median(ranks_s):.2f} s; ridge info one after the other {statistics.median(infos_s):.2f} s; {ratio:.2f} times (floor 1.5, goal 1.0)")
    print(f"  peak memory {statistics.median(peaks) / 1e6:.0f} MB: {room:.2f} of one rank's JSON beside 2 MB a rank (floor 0.8, goal 0.5 beside 1 MB)")
    print(f"  digests in {digesting:.2f} s, {os.path.getsize(digest) / asked.ranks / 1e6:.3f} MB a rank (floor 1, goal 0.3)")
    for count in asked.digests:
        place, fault = many_digests(asked.ridge, asked.folder, count)
        runs = [timed([*ask, place]) for _ in range(max(1, asked.runs // 2))]
        check_found(runs[0][0], fault, f"{count} digests")
        print(f"{count} digests of {os.path.getsize(place) / count / 1e3:.1f} kB: {statistics.median(r[1] for r in runs):.2f} s, peak {max(r[2] for r in runs) / 1e9:.2f} GB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
