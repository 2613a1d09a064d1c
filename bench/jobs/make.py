#!/usr/bin/env python3
"""Makes jobs of many ranks with known faults: traces of all ranks, and truth.json with what was planted and what it costs.

usage: make.py --out FOLDER [--example | --set held] [--only PART_OF_NAME] [--first N] [--gzip] [--keep]

The cost of a fault is the mean step with it less the mean step of the same job, the same noise, without it; of several, without that one alone.
How strong it is follows from what it is to cost (plan.py): it is made stronger or weaker until it does. Without --set the jobs that may be read
while the answers are built; "held" are kept for the score, "new" came after these had been read, "shapes" are layouts that those lack and jobs that are
not whole, and "shapes_held" are kept for the score of these."""

import argparse
import copy
import gzip
import json
import os
import random
import sys

import plan
import program
import simulate
import write_trace


def played(job, groups):
    return simulate.Simulation(job, groups, program.programs(job, groups)).run()


def with_faults(job, faults):
    other = copy.copy(job)
    other.faults = faults
    return other


def stronger(fault, by):
    other = copy.copy(fault)
    milliseconds = fault.cause == "data" or fault.how == "stall"
    other.by = fault.by * by if milliseconds else 1 + (fault.by - 1) * by
    return other


def costing(job, groups, fault, percent):
    """The fault, as strong as the cost of `percent` of the step asks. A weak one may cost nothing, as slack hides it: the strength is bracketed."""
    healthy = played(job, groups).step_ns()

    def cost(strength):
        step = played(with_faults(job, [stronger(fault, strength)]), groups).step_ns()
        return (step - healthy) / step * 100

    weak, strong = (0.0, 0.0), None  # strength, cost
    strength = 1.0
    for _ in range(14):
        now = cost(strength)
        if abs(now - percent) < 0.06 * percent:
            break
        if now < percent:
            weak = (strength, now)
        else:
            strong = (strength, now)
        if strong is None:
            strength *= min(2.0, max(1.15, percent / max(now, 0.05)))
        else:
            part = (percent - weak[1]) / (strong[1] - weak[1])
            strength = weak[0] + (strong[0] - weak[0]) * min(0.85, max(0.15, part))
    return stronger(fault, strength)


def chosen(job, causes, percent):
    """Faults of these causes, as strong as their cost asks."""
    groups = plan.groups_of(job)
    rng = random.Random(f"{job.seed}/faults")
    taken, faults = set(), []
    for cause in causes:
        faults.append(costing(job, groups, plan.planted(cause, plan.FIRST[cause], rng, groups, taken), percent))
    return faults


def made(job, faults):
    """The job with its faults, and what is true of them."""
    groups = plan.groups_of(job)
    job = with_faults(job, faults)
    sim = played(job, groups)
    step, healthy = sim.step_ns(), played(with_faults(job, []), groups).step_ns()
    rows = []
    for fault in faults:
        without = played(with_faults(job, [f for f in faults if f is not fault]), groups).step_ns()
        link = fault.cause == "link"
        rows.append({
            "cause": fault.cause, "how": fault.how, "rank": None if link else fault.rank, "group": groups.ranks[fault.group] if link else None,
            "by": round(fault.by, 4), "costs_ns": round(step - without), "costs_pct": round((step - without) / step * 100, 3),
        })
    ends = sim.boundaries()
    truth = {
        "name": job.name, "seed": job.seed, "ranks": job.world, "layout": {k: getattr(job, k) for k in ("dp", "tp", "pp", "fsdp") if getattr(job, k) > 1},
        "steps": job.steps, "step_ns": round(step), "step_without_faults_ns": round(healthy), "steps_ns": [b - a for a, b in zip(ends, ends[1 : job.steps + 1])],
        "hosts": [r // job.per_host for r in range(job.world)], "clock_ahead_ns": [write_trace.Clock(job, r // job.per_host).ahead for r in range(job.world)],
        "sync": job.sync, "faults": rows, **damage(job, faults),
    }
    return job, groups, sim, truth


def damage(job, faults):
    """Which ranks have no trace, and whose is cut off: none of those that are slow."""
    rng = random.Random(f"{job.seed}/damage")
    sound = [r for r in range(job.world) if all(r != f.rank for f in faults)]
    missing = sorted(rng.sample(sound, job.missing))
    cut = rng.choice([r for r in sound if r not in missing]) if job.cut else None
    return {"missing": missing, "cut_off": cut}


def cut_off(text, part):
    """The first part of the file, its events in order of time: what a job leaves that is killed while it writes."""
    head, body = text.split('"traceEvents": [\n')
    lines = [line.rstrip(",") for line in body.splitlines() if line.startswith("{")]
    lines.sort(key=lambda line: json.loads(line).get("ts", 0))
    return (head + '"traceEvents": [\n' + ",\n".join(lines))[: int(len(text) * part)]


def written(folder, job, groups, sim, truth, packed):
    os.makedirs(folder, exist_ok=True)
    late = random.Random(f"{job.seed}/windows")
    for rank in range(job.world):
        first = 2 if job.late_windows and late.random() < 0.25 else 1
        if rank in truth["missing"]:
            continue
        text = write_trace.Writer(job, groups, sim, rank).document(first, job.steps)
        if rank == truth["cut_off"]:
            text = cut_off(text, job.cut)
        if packed:
            with open(os.path.join(folder, f"rank{rank}.json.gz"), "wb") as file:
                file.write(gzip.compress(text.encode(), 6, mtime=0))
        else:
            with open(os.path.join(folder, f"rank{rank}.json"), "w", encoding="utf-8") as file:
                file.write(text)
    with open(os.path.join(folder, "truth.json"), "w", encoding="utf-8") as file:
        json.dump(truth, file, indent=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--set", choices=sorted(plan.SETS), default="read")
    parser.add_argument("--only", default="")
    parser.add_argument("--first", type=int, default=10_000)
    parser.add_argument("--gzip", action="store_true")
    parser.add_argument("--keep", action="store_true", help="leave jobs that are there")
    parser.add_argument("--example", action="store_true", help="the job of docs/jobs.md, and the same without its faults")
    asked = parser.parse_args()
    if asked.example:
        job, faults = plan.example()
        for name, planted in (("job", faults), ("job_mended", [])):
            written(os.path.join(asked.out, name), *made(job, planted), True)
        return 0
    for number, (job, causes, percent) in enumerate(plan.jobs(asked.set)):
        if number >= asked.first or asked.only not in job.name or (asked.keep and os.path.exists(os.path.join(asked.out, job.name, "truth.json"))):
            continue
        job, groups, sim, truth = made(job, chosen(job, causes, percent))
        written(os.path.join(asked.out, job.name), job, groups, sim, truth, asked.gzip)
        told = ", ".join(f"{f['cause']} {f['rank'] if f['group'] is None else f['group']} x{f['by']} {f['costs_pct']:.1f} %" for f in truth["faults"])
        print(f"{job.name}: {truth['step_ns'] / 1e6:.2f} ms, {told or 'nothing planted'}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
