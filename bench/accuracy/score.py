#!/usr/bin/env python3
"""The step without the profiler, and what findings save, against what was measured. Prints four Markdown tables; the last holds each figure against what is wanted.

    score.py --ridge build/ridge FOLDER    FOLDER: what recording.py wrote (steps.jsonl and the traces), of any set of programs
    score.py ... --figures                 the last table alone

A program's distance is counted from the range of its nine series. A pair's saving is 1 - mended / fault, of the medians; it is held
against the finding that names the fault (planted.json: chosen by what was planted, not by what ridge says; of several names of one fault, the
first that is told). A fault that no finding names counts as one that saves nothing. A bound is exceeded where the pair saved more than `at_most`;
as a share of the step, too, since the recorded steps may have been shorter than those that were measured.
The halves of a pair were measured in turns, so each turn has a saving of its own; the range of the real saving is where their median lies with 95 %:
of nine turns from the second to the second last. A figure "from the range" counts the distance from that range instead of the medians'.
A healthy program keeps the device busy for 85 % of its real step: no finding may claim more than 5 % of it. Mended halves of pairs count among them,
though one fault less does not make a program one in which nothing is left to mend; those that were written to be healthy have a line of their own.
Where steps.jsonl has the step of a program's compiled form (variant "compiled"), a claim over 5 % is held against what compiling brought, too: it does not
come true where it is more than 5 points above that. What is eager and could be compiled has something to gain, and the count by the letter does not know it.
A step that ridge does not tell is off by all of it. Traces that steps.jsonl names and the folder does not hold are said, and left out."""

import argparse
import contextlib
import functools
import io
import json
import math
import os
import statistics
import subprocess

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "planted.json")) as planted:
    FINDING = json.load(planted)  # by pair: the findings that name the fault
HEALTHY_BUSY, MOST_CLAIMED = 0.85, 0.05


@functools.lru_cache(maxsize=None)
def rows(ridge, command, trace):
    done = subprocess.run([ridge, command, "--json", "--limit", "0", trace], capture_output=True, text=True, check=True)
    table = json.loads(done.stdout)["tables"][0]
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def range_of(series):
    """Of nine series all; of more the same part of them."""
    ordered, beside = sorted(series), max(1, len(series) // 9)
    return ordered[beside - 1], ordered[-beside]


def beyond(value, series):
    low, high = range_of(series)
    return 0.0 if low <= value <= high else value / (low if value < low else high) - 1


def of_median(turns):
    """Between which of so many turns, in order, the median lies with 95 %: of nine from the second to the second last."""
    beside, chance = 0, 0.0
    while beside < turns // 2 and 2 * (chance := chance + math.comb(turns, beside) / 2**turns) <= 0.05:
        beside += 1
    return max(0, beside - 1)


def saving_by_turns(fault, mended):
    """The saving in percent, and the range in which the turns have it."""
    turns = sorted(100 * (1 - after / before) for before, after in zip(fault["series_us"], mended["series_us"]))
    real, beside = 100 * (1 - mended["step_us"] / fault["step_us"]), of_median(len(turns))
    return real, min(real, turns[beside]), max(real, turns[-1 - beside])


def percent(part, whole):
    return 100 * part / whole if whole else 0.0


def within(off, limit):
    return percent(sum(each <= limit for each in off), len(off))


def read(folder):
    """Programs by name, each with the options whose traces are there; the share of the step that compiling brings, by name; and the traces that are not there."""
    programs, brought, absent = {}, {}, []
    with open(os.path.join(folder, "steps.jsonl")) as file:
        for line in file:
            program = json.loads(line)
            if program.get("variant") == "compiled":
                brought[program["name"]] = 1 - program["step_us"] / program["eager_us"]
                continue
            here = [option for option in program["options"] if os.path.exists(f"{folder}/{program['name']}.{option}.json.gz")]
            absent += [f"{program['name']}.{option}" for option in program["options"] if option not in here]
            programs[program["name"]] = dict(program, options=here)
    return programs, brought, absent


def steps(args, programs):
    print("| program | recorded with | in the trace us | without us | low | high | real us | range | off % |\n|---|---|---|---|---|---|---|---|---|")
    off, inside = [], []
    for name, program in programs.items():
        for option in program["options"]:
            summary = rows(args.ridge, "summary", f"{args.folder}/{name}.{option}.json.gz")[0]
            told = [summary[key] for key in ("iteration_ns", "step_without_profiler_ns", "step_low_ns", "step_high_ns")]
            series = program["series_us"]
            least, most = range_of(series)
            measured = f"{program['step_us']:.0f} | {least:.0f} to {most:.0f} |"
            if any(each is None for each in told):
                off.append(1.0)
                print(f"| {name} | {option} | | not told | | | {measured} |")
                continue
            recorded, value, low, high = (each / 1e3 for each in told)
            signed = beyond(value, series)
            off.append(abs(signed))
            inside.append(low <= program["step_us"] <= high)
            print(f"| {name} | {option} | {recorded:.0f} | {value:.0f} | {low:.0f} | {high:.0f} | {measured} {100 * signed:+.1f} |")
    print(f"\n{len(off)} recordings of {len(programs)} programs: median {100 * statistics.median(off):.1f} %; within 10 %: {within(off, .1):.0f} %,"
          f" within 15 %: {within(off, .15):.0f} %; real step inside [low, high]: {percent(sum(inside), len(inside)):.0f} %\n")
    return off, inside


def savings(args, programs):
    print("| pair | recorded with | finding | saves % | low | high | real % | range | off points | bound holds |\n|---|---|---|---|---|---|---|---|---|---|")
    off, off_range, inside, bounds, shares, silent = [], [], [], [], [], 0
    for name, names in FINDING.items():
        fault, mended = programs.get(name + ".fault"), programs.get(name + ".mended")
        if not fault or not mended:
            continue
        real, least, most = saving_by_turns(fault, mended)
        measured = f"{real:.1f} | {least:.0f} to {most:.0f}"
        gain_ns = 1e3 * (fault["step_us"] - mended["step_us"])
        for option in fault["options"]:
            told = {row["id"]: row for row in rows(args.ridge, "findings", f"{args.folder}/{name}.fault.{option}.json.gz")}
            row = next((told[each] for each in names if each in told and told[each]["saves_pct"] is not None), None)
            if row is None:
                off.append(abs(real))
                off_range.append(max(least, -most, 0.0))
                silent += 1
                print(f"| {name} | {option} | not found | 0.0 | | | {measured} | {off[-1]:.1f} | |")
                continue
            off.append(abs(row["saves_pct"] - real))
            off_range.append(max(least - row["saves_pct"], row["saves_pct"] - most, 0.0))
            interval = " | |"
            if row["low_pct"] is not None and row["high_pct"] is not None:
                inside.append(row["low_pct"] <= real <= row["high_pct"])
                interval = f" {row['low_pct']:.0f} | {row['high_pct']:.0f} |"
            holds = ""
            if row["at_most_ns"] is not None:
                bounds.append(row["at_most_ns"] >= gain_ns)
                holds = "yes" if bounds[-1] else "no"
                shares.append(row["at_most_pct"] >= real)
            print(f"| {name} | {option} | {row['id']} | {row['saves_pct']:.1f} |{interval} {measured} | {off[-1]:.1f} | {holds} |")
    if off:
        print(f"\n{len(off)} recordings: within 5 points {within(off, 5):.0f} %, within 10 {within(off, 10):.0f} %, median {statistics.median(off):.1f} points;"
              f" truth inside [low, high] {percent(sum(inside), len(inside)):.0f} % of {len(inside)}; {silent} not found;"
              f" {bounds.count(False)} of {len(bounds)} bounds exceeded")
    untold = sorted({name.rsplit(".", 1)[0] for name in programs if name.endswith(".fault")} - set(FINDING))
    if untold:
        print("pairs of which planted.json says nothing:", ", ".join(untold))
    return off, off_range, inside, bounds, shares


def healthy(args, programs, brought):
    print("\n| healthy program | recorded with | busy % of the real step | largest finding | % of the real step | compiling brought % |\n|---|---|---|---|---|---|")
    shares, held = [], []
    for name, program in programs.items():
        for option in program["options"] if not name.endswith(".fault") else []:
            trace = f"{args.folder}/{name}.{option}.json.gz"
            busy_ns = rows(args.ridge, "summary", trace)[0]["gpu_busy_per_iteration_ns"]
            busy = (busy_ns or 0) / 1e3 / program["step_us"]
            if busy < HEALTHY_BUSY:
                continue
            claims = [(row["saves_ns"] / 1e3 / program["step_us"], row["id"]) for row in rows(args.ridge, "findings", trace)
                      if row["saves_ns"] is not None and row["id"] != "all"]
            share, finding = max(claims, default=(0.0, ""))
            shares.append((share, name.endswith(".mended")))
            if share > MOST_CLAIMED and name in brought:
                held.append(share - brought[name] > MOST_CLAIMED)
            gained = f"{100 * brought[name]:.1f}" if name in brought else ""
            print(f"| {name} | {option} | {100 * busy:.0f} | {finding} | {100 * share:.1f} | {gained} |")
    claimed = [mended for share, mended in shares if share > MOST_CLAIMED]
    print(f"\n{len(shares)} recordings of healthy programs: {len(claimed)} with a finding of more than {100 * MOST_CLAIMED:.0f} %"
          f" ({claimed.count(True)} of them mended halves of pairs)")
    if brought:
        print(f"of {len(held)} such claims where the compiled form was measured, {sum(held)} are more than {100 * MOST_CLAIMED:.0f} points above what it brought;"
              f" of {len(claimed) - len(held)} it was not")
    written = [share > MOST_CLAIMED for share, mended in shares if not mended]
    return len(shares), len(claimed), held if brought else None, written


def figures(steps_of, savings_of, healthy_of):
    """(what, measured, floor, goal): each a text and whether it is reached."""
    off, inside = steps_of
    missed, missed_range, truth, bounds, shares = savings_of
    counted, claimed, held, written = healthy_of
    said = lambda reached: "reached" if reached else "missed"
    share = lambda part: percent(sum(part), len(part))
    table = [("without_profiler within 15 % of the real step", f"{within(off, .15):.0f} % of {len(off)}", ("75 %", within(off, .15) >= 75), None),
             ("without_profiler, median", f"{100 * statistics.median(off):.1f} %", ("10 %", statistics.median(off) <= .1), None),
             ("without_profiler within 10 %", f"{within(off, .1):.0f} %", None, ("90 %", within(off, .1) >= 90)),
             ("real step inside [low, high]", f"{share(inside):.0f} % of {len(inside)}", ("70 to 90 %", 70 <= share(inside) <= 90), None)]
    if missed:
        table += [("saves_pct within 10 points of the real saving", f"{within(missed, 10):.0f} % of {len(missed)}", ("90 %", within(missed, 10) >= 90), None),
                  ("the same, from the range of the real saving", f"{within(missed_range, 10):.0f} %", None, None),
                  ("saves_pct within 5 points", f"{within(missed, 5):.0f} %", None, ("90 %", within(missed, 5) >= 90)),
                  ("real saving inside [low, high]", f"{share(truth):.0f} % of {len(truth)}", ("70 to 90 %", 70 <= share(truth) <= 90), None),
                  ("bounds (at_most) exceeded", f"{bounds.count(False)} of {len(bounds)}", ("0", all(bounds)), None),
                  ("the same, as shares of the step", f"{shares.count(False)} of {len(shares)}", None, None)]
    table.append(("healthy recordings with a finding over 5 %", f"{claimed} of {counted}", ("0", claimed == 0), None))
    if written:
        table.append(("of these, of programs written to be healthy", f"{sum(written)} of {len(written)}", ("0", not any(written)), None))
    if held is not None:
        table.append(("of the claims, more than 5 points above what compiling brought", f"{sum(held)} of {len(held)} where it was measured", ("0", not any(held)), None))
    print("\n| figure | measured | floor | goal |\n|---|---|---|---|")
    for what, measured, *wanted in table:
        print(f"| {what} | {measured} | " + " | ".join(f"{one[0]}: {said(one[1])}" if one else "" for one in wanted) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ridge", default="build/ridge")
    parser.add_argument("--figures", action="store_true", help="only what was reached of each figure")
    parser.add_argument("folder")
    args = parser.parse_args()
    programs, brought, absent = read(args.folder)
    with contextlib.redirect_stdout(io.StringIO()) if args.figures else contextlib.nullcontext():
        scores = steps(args, programs), savings(args, programs), healthy(args, programs, brought)
    figures(*scores)
    if absent:
        print(f"\n{len(absent)} traces are absent:", ", ".join(absent))


main()
