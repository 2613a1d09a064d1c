#!/usr/bin/env python3
"""The step without the profiler, and what findings save, against what was measured. Prints three Markdown tables.

    score.py --ridge build/ridge FOLDER    FOLDER: what recording.py wrote

A program's distance is counted from the range of its nine series. A pair's saving is 1 - mended / fault, of the medians; it is held
against the finding that names the fault (planted.json: chosen by what was planted, not by what ridge says; of several names of one fault, the
first that is told). A healthy program keeps the device busy for 85 % of its real step: no finding may claim more than 5 % of it."""

import argparse
import json
import os
import statistics
import subprocess

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "planted.json")) as planted:
    FINDING = json.load(planted)  # by pair: the findings that name the fault
HEALTHY_BUSY, MOST_CLAIMED = 0.85, 0.05


def rows(ridge, command, trace):
    done = subprocess.run([ridge, command, "--json", trace], capture_output=True, text=True, check=True)
    table = json.loads(done.stdout)["tables"][0]
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def beyond(value, series):
    low, high = min(series), max(series)
    return 0.0 if low <= value <= high else value / (low if value < low else high) - 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ridge", default="build/ridge")
    parser.add_argument("folder")
    args = parser.parse_args()
    programs = {}
    for line in open(os.path.join(args.folder, "steps.jsonl")):
        program = json.loads(line)
        programs[program["name"]] = program
    print("| program | recorded with | in the trace us | without us | low | high | real us | range | off % |\n|---|---|---|---|---|---|---|---|---|")
    off, inside = [], []
    for name, program in programs.items():
        for option in program["options"]:
            summary = rows(args.ridge, "summary", f"{args.folder}/{name}.{option}.json.gz")[0]
            value, low, high = (summary[key] / 1e3 for key in ("step_without_profiler_ns", "step_low_ns", "step_high_ns"))
            series = program["series_us"]
            off.append(beyond(value, series))
            inside.append(low <= program["step_us"] <= high)
            print(f"| {name} | {option} | {summary['iteration_ns'] / 1e3:.0f} | {value:.0f} | {low:.0f} | {high:.0f} | {program['step_us']:.0f} |"
                  f" {min(series):.0f} to {max(series):.0f} | {100 * off[-1]:+.1f} |")
    share = lambda limit: 100 * sum(abs(each) <= limit for each in off) / len(off)
    print(f"\n{len(off)} recordings of {len(programs)} programs: median {100 * statistics.median(map(abs, off)):.1f} %; within 10 %: {share(.1):.0f} %,"
          f" within 15 %: {share(.15):.0f} %; real step inside [low, high]: {100 * sum(inside) / len(inside):.0f} %\n")
    print("| pair | recorded with | finding | saves % | low | high | real % | off points | bound holds |\n|---|---|---|---|---|---|---|---|---|")
    off, inside = [], []
    for name, names in FINDING.items():
        fault, mended = programs.get(name + ".fault"), programs.get(name + ".mended")
        if not fault or not mended:
            continue
        real = 100 * (1 - mended["step_us"] / fault["step_us"])
        for option in fault["options"]:
            told = {row["id"]: row for row in rows(args.ridge, "findings", f"{args.folder}/{name}.fault.{option}.json.gz")}
            found = [told[each] for each in names if each in told and told[each]["saves_pct"] is not None]
            row = found[0] if found else dict(saves_pct=0, low_pct=None, high_pct=None, at_most_ns=None)
            saves = row["saves_pct"]
            off.append(abs(saves - real))
            told = row["low_pct"] is not None
            if told:
                inside.append(row["low_pct"] <= real <= row["high_pct"])
            gain_ns = 1e3 * (fault["step_us"] - mended["step_us"])
            holds = "" if row["at_most_ns"] is None else "yes" if row["at_most_ns"] >= gain_ns else "no"
            print(f"| {name} | {option} | {found[0]['id'] if found else 'not found'} | {saves:.1f} |" + (f" {row['low_pct']:.0f} | {row['high_pct']:.0f} |" if told else " | |")
                  + f" {real:.1f} | {off[-1]:.1f} | {holds} |")
    print(f"\n{len(off)} recordings: within 5 points {100 * sum(each <= 5 for each in off) / len(off):.0f} %, within 10 {100 * sum(each <= 10 for each in off) / len(off):.0f} %,"
          f" median {statistics.median(off):.1f} points; truth inside [low, high] {100 * sum(inside) / len(inside):.0f} % of {len(inside)}")
    healthy(args, programs)


def healthy(args, programs):
    print("\n| healthy program | recorded with | busy % of the real step | largest finding | % of the real step |\n|---|---|---|---|---|")
    counted, claimed = 0, 0
    for name, program in programs.items():
        for option in program["options"] if not name.endswith(".fault") else []:
            trace = f"{args.folder}/{name}.{option}.json.gz"
            busy = rows(args.ridge, "summary", trace)[0]["gpu_busy_per_iteration_ns"] / 1e3 / program["step_us"]
            if busy < HEALTHY_BUSY:
                continue
            claims = [(row["saves_ns"] / 1e3 / program["step_us"], row["id"]) for row in rows(args.ridge, "findings", trace)
                      if row["saves_ns"] is not None and row["id"] != "all"]
            share, finding = max(claims, default=(0.0, ""))
            counted, claimed = counted + 1, claimed + (share > MOST_CLAIMED)
            print(f"| {name} | {option} | {100 * busy:.0f} | {finding} | {100 * share:.1f} |")
    print(f"\n{counted} recordings of healthy programs: {claimed} with a finding of more than {100 * MOST_CLAIMED:.0f} %")


main()
