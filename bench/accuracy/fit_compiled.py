#!/usr/bin/env python3
"""What the kernels take that a compiler makes of a program's eager ones: fits the figures of src/predict/compiled_form.cc, and says how well they tell.

    fit_compiled.py --build build FOLDER...           FOLDER: what recording.py wrote of pairs whose mended half is compiled whole
    fit_compiled.py --build build --check FOLDER...   the figures as they are, nothing fitted

A pair counts whose finding is unfused_pointwise, or whose name ends in _form (read_again.py). Its eager traces are grouped by build/ridge_compiled_form
(cmake --preset release -DRIDGE_BENCH=ON; cmake --build build --target ridge_compiled_form); the trace of the compiled half tells what its generated kernels
take, with those that are eager still. Halves with much left eager say little, and are left out. Errors are in points of the step."""

import argparse
import json
import math
import os
import random
import statistics
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
WITH_SHAPES = ("shapes", "memory", "shapes_stack", "modules")
STAYS = {"gemm", "conv", "attention", "comm", "optimizer", "memcpy", "memset"}
MOST_EAGER = 0.1  # of what a compiled half takes besides products
ONE = 0.85  # of what a kernel takes that stands alone
NAMES = ("of_traffic", "of_beyond", "of_sums", "of_moves", "elements_per_ns", "group_ns", "of_one")
START = ((0.3, 0.2, 0.4, 0.2, 10_000, 4_000, ONE), (1.0, 0.2, 0.4, 0.1, 10_000, 6_000, ONE))  # by guesses, by sizes
DOUBLES_PER_NS = 800


def rows(ridge, *command):
    table = json.loads(subprocess.run([ridge, *command, "--json", "--limit", "0"], capture_output=True, text=True, check=True).stdout)["tables"][0]
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def compiled_ns(ridge, trace):
    """Per iteration: of all but products and what is an optimizer's; of that, what is eager still."""
    iterations = rows(ridge, "summary", trace)[0]["iterations"]
    kernels = [k for k in rows(ridge, "kernels", "--by", "launch", trace) if k["category"] not in STAYS and k["op"] != "[launched before the window]"]
    return tuple(sum(k["time_ns"] for k in some) / iterations for some in (kernels, [k for k in kernels if not k["category"].startswith("triton")]))


def read(args):
    """(name, groups, iterations, what the compiled form takes, the step, whether shapes are known), times in ns."""
    with open(os.path.join(HERE, "planted.json")) as file:
        planted = json.load(file)
    cases = []
    for folder in args.folders:
        with open(os.path.join(folder, "steps.jsonl")) as file:
            steps = {line["name"]: line for line in map(json.loads, file)}
        for full, step in steps.items():
            name, _, half = full.rpartition(".")
            if half != "fault" or not (name.endswith("_form") or planted.get(name, [""])[0] == "unfused_pointwise") or name in args.without:
                continue
            traces = [f"{folder}/{name}.mended.{option}.json.gz" for option in steps[name + ".mended"]["options"]]
            traces = [trace for trace in traces if os.path.exists(trace)]
            if not traces:
                continue
            takes, eager = compiled_ns(args.ridge, traces[0])
            if eager > MOST_EAGER * takes:
                continue
            for option in step["options"]:
                trace = f"{folder}/{full}.{option}.json.gz"
                if os.path.exists(trace):
                    form = json.loads(subprocess.run([args.form, trace], capture_output=True, text=True, check=True).stdout)
                    cases.append((name, form["groups"], form["iterations"], takes, 1e3 * step["step_us"], option in WITH_SHAPES))
    return cases


def left(fit, groups, iterations):
    out = 0
    for _, ops, sure, now, _, traffic, beyond, sums, moves, elements, doubles in groups:
        of_traffic, of_beyond, of_sums, of_moves, elements_per_ns, group_ns, of_one = fit[sure]
        ns = of_traffic * traffic + of_beyond * beyond + of_sums * sums + of_moves * moves + elements / elements_per_ns + doubles / DOUBLES_PER_NS + group_ns
        out += min(now, max(ns, of_one * now) if ops == 1 else ns)
    return out / iterations


def errors(fit, cases):
    return [100 * (left(fit, groups, iterations) - takes) / step for _, groups, iterations, takes, step, _ in cases]


def loss(fit, cases):
    factors = [abs(math.log(max(1, left(fit, groups, iterations)) / takes)) for _, groups, iterations, takes, _, _ in cases]
    return statistics.mean(min(25, abs(error)) for error in errors(fit, cases)) + 3 * statistics.mean(factors)


def fitted(cases, start, rounds):
    random.seed(1)
    best, least = start, loss(start, cases)
    for _ in range(rounds):
        tried = [[value * math.exp(random.gauss(0, 0.12)) if random.random() < 0.3 else value for value in each[:-1]] + [ONE] for each in best]
        its = loss(tried, cases)
        if its < least:
            best, least = tried, its
    return best


def told(cases):
    return [100 * (sum(group[4] for group in groups) / iterations - takes) / step for _, groups, iterations, takes, step, _ in cases]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--rounds", type=int, default=3000)
    parser.add_argument("--without", nargs="*", default=[], help="names of pairs")
    parser.add_argument("--folds", type=int, default=0, help="of programs, each left out in turn")
    parser.add_argument("folders", nargs="+")
    args = parser.parse_args()
    args.ridge, args.form = os.path.join(args.build, "ridge"), os.path.join(args.build, "ridge_compiled_form")
    cases = read(args)
    if args.check:
        its = told(cases)
    elif args.folds:
        names, its = sorted({case[0] for case in cases}), [0.0] * len(cases)
        for fold in range(args.folds):
            out = set(names[fold::args.folds])
            fit = fitted([case for case in cases if case[0] not in out], START, args.rounds)
            for i, case in enumerate(cases):
                if case[0] in out:
                    its[i] = errors(fit, [case])[0]
    else:
        fit = fitted(cases, START, args.rounds)
        its = errors(fit, cases)
        for what, figures in zip(("by guesses", "by sizes"), fit):
            print(what, {name: round(value, 3) for name, value in zip(NAMES, figures)})
    for shapes in (True, False):
        some = [(error, case) for error, case in zip(its, cases) if case[5] == shapes]
        for error, (name, groups, iterations, takes, *_) in sorted(some, key=lambda pair: -abs(pair[0])):
            now = sum(group[3] for group in groups) / iterations
            print(f"  {name:32} now {now / 1e3:8.0f} us, compiled {takes / 1e3:8.0f}, off {error:+6.1f} points")
        within = lambda most: 100 * sum(abs(error) <= most for error, _ in some) / len(some)
        print(f"{'with' if shapes else 'without'} shapes: {len(some)} recordings, within 5 points {within(5):.0f} %, within 10 {within(10):.0f} %\n")


main()
