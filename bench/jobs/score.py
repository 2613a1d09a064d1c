#!/usr/bin/env python3
"""Scores what `ridge ranks` says of made jobs against what was planted in them.

usage: score.py --ridge RIDGE [--least PERCENT] [--json FILE] FOLDER...

FOLDER holds jobs as make.py writes them. A job counts as right when every fault that was planted is told with its rank (of a link: the ranks of its
group) and its cause; the cost is compared with the truth, and rows about what was not planted are counted apart, in healthy jobs as false alarms.
Jobs whose faults cost less than --least per cent of the step (5 when not told) are listed, and counted apart."""

import argparse
import json
import os
import re
import subprocess
import sys


def rank_files(folder):
    names = [n for n in os.listdir(folder) if re.fullmatch(r"rank\d+\.json(\.gz)?", n)]
    return [os.path.join(folder, n) for n in sorted(names, key=lambda n: int(re.search(r"\d+", n).group()))]


def ranks_in(text):
    """The ranks that a group is told by: "0-7", "1, 9", "[0, 8]"."""
    found = set()
    for first, last in re.findall(r"(\d+)(?:\s*-\s*(\d+))?", text or ""):
        found.update(range(int(first), int(last or first) + 1))
    return found


def answer(ridge, folder):
    done = subprocess.run([ridge, "ranks", "--json", *rank_files(folder)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{folder}: {done.stderr.strip()}")
    tables = {t["name"]: t for t in json.loads(done.stdout)["tables"]}
    if "stragglers" not in tables:
        raise RuntimeError(f"{folder}: no table of stragglers")
    table = tables["stragglers"]
    names = [c["name"] for c in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def same_place(fault, row):
    if fault["cause"] == "link":
        return row["rank"] is None and ranks_in(row["group"]) == set(fault["group"])
    return row["rank"] == fault["rank"]


def judged(truth, rows):
    """What was found of the faults, and the rows that belong to none."""
    left, found = list(rows), []
    for fault in truth["faults"]:
        row = next((r for r in left if r["cause"] == fault["cause"] and same_place(fault, r)), None)
        if row is not None:
            left.remove(row)
        found.append((fault, row))
    return found, left


def told(row):
    place = f"rank {row['rank']}" if row["rank"] is not None else f"group {row['group']}"
    return f"{row['cause']} {place} {row['costs_pct']:.1f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ridge", default="build/ridge")
    parser.add_argument("--least", type=float, default=5.0)
    parser.add_argument("--json")
    parser.add_argument("folders", nargs="+")
    asked = parser.parse_args()
    jobs = [os.path.join(f, n) for f in asked.folders for n in sorted(os.listdir(f)) if os.path.exists(os.path.join(f, n, "truth.json"))]
    count = {"jobs": 0, "right": 0, "small": 0, "small_right": 0, "healthy": 0, "false_alarms": 0, "extra_rows": 0, "not_answered": 0}
    errors, records = [], []
    for folder in jobs:
        with open(os.path.join(folder, "truth.json"), encoding="utf-8") as file:
            truth = json.load(file)
        try:
            rows = answer(asked.ridge, folder)
        except (RuntimeError, ValueError, KeyError) as error:
            print(f"no answer  {error}")
            count["not_answered"] += 1
            rows = [{"rank": -1, "group": None, "cause": "no answer", "costs_pct": 0.0, "costs_ns": 0}]
        found, extra = judged(truth, rows)
        right = all(row is not None for _, row in found) and (truth["faults"] or not extra)
        small = bool(truth["faults"]) and min(f["costs_pct"] for f in truth["faults"]) < 0.95 * asked.least
        count["small" if small else "jobs"] += 1
        count["small_right" if small else "right"] += bool(right)
        if not truth["faults"]:
            count["healthy"] += 1
            count["false_alarms"] += len(extra)
        else:
            count["extra_rows"] += len(extra)
        off = [(row["costs_ns"] - fault["costs_ns"]) / fault["costs_ns"] for fault, row in found if row is not None]
        if not small:
            errors += off
        planted = ", ".join(told(f) for f, _ in found) or "nothing"
        said = ", ".join(told(r) for r in rows) or "nothing"
        print(f"{'right' if right else 'WRONG':9}  {truth['name']:34} planted: {planted}; told: {said}" + "".join(f" ({e:+.0%})" for e in off), flush=True)
        records.append({"name": truth["name"], "right": bool(right), "small": small, "planted": truth["faults"], "told": rows, "off": off})
    within = sum(abs(e) <= 0.2 for e in errors), sum(abs(e) <= 0.1 for e in errors)
    middle = sorted(abs(e) for e in errors)[len(errors) // 2] if errors else None
    print(f"\n{count['right']} of {count['jobs']} jobs right; healthy ones {count['healthy']}, false alarms {count['false_alarms']}; rows beside what was planted {count['extra_rows']}")
    print(f"cost: {within[0]} of {len(errors)} within 20 %, {within[1]} within 10 %; median {middle if middle is None else round(middle * 100, 1)} % off")
    print(f"effects under {asked.least:g} %: {count['small_right']} of {count['small']} right")
    if asked.json:
        with open(asked.json, "w", encoding="utf-8") as file:
            json.dump({"count": count, "cost_off": errors, "jobs": records}, file, indent=1)
    return 1 if count["not_answered"] else 0


if __name__ == "__main__":
    sys.exit(main())
