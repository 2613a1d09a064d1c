"""Jobs of several layouts, made here with a known fault (bench/jobs): `ranks` tells its rank or group, its cause and its cost, and nothing of healthy ones."""

import json
import os
import sys

from checks import check, equal
from harness import succeeds

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "bench", "jobs"))

import make  # noqa: E402
import score  # noqa: E402
from program import Fault, Job  # noqa: E402

SMALL = dict(layers=2, steps=3, per_host=4, skew_ms=150)


def told(folder, name, layout, faults, seed, change=None):
    """(what was planted, what ranks says of it). `change`: what is done to the traces in between."""
    place = folder.at(name)
    job, groups, sim, truth = make.made(Job(name, seed, **{**SMALL, **layout}), faults)
    make.written(place, job, groups, sim, truth, False)
    if change:
        change(place)
    answer = json.loads(succeeds("ranks", "--json", *score.rank_files(place)).out)
    tables = {table["name"]: [dict(zip([c["name"] for c in table["columns"]], row)) for row in table["rows"]] for table in answer["tables"]}
    off = tables["job"][0]["step_ns"] / truth["step_ns"] - 1
    check(abs(off) < 0.05, f"{name}: the step is {off:+.0%} off")
    return truth, tables["stragglers"]


def found(folder, name, layout, fault, seed=11, change=None):
    truth, rows = told(folder, name, layout, [fault], seed, change)
    check(truth["faults"][0]["costs_pct"] > 4, f"the fault costs too little to be told: {truth['faults']}")
    pairs, extra = score.judged(truth, rows)
    said = ", ".join(map(score.told, rows)) or "nothing"
    check(pairs[0][1] is not None and not extra, f"{name}: planted {score.told(pairs[0][0])}, told {said}")
    off = pairs[0][1]["costs_ns"] / pairs[0][0]["costs_ns"] - 1
    check(abs(off) < 0.2, f"{name}: the cost is {off:+.0%} off; told {said}")


def test_made_pipeline_with_a_slow_device(folder):
    found(folder, "pp", dict(pp=4, layers=1, microbatches=4), Fault("device", rank=2, by=1.4))


def test_made_shards_with_a_late_host(folder):
    found(folder, "fsdp", dict(fsdp=4), Fault("host", rank=1, by=1.2, how="stall"))


# Scattering within a machine, sums between machines behind it on a stream of their own, and the next gathering end at one time: the sum waits for the
# first of them, which alone had been issued.
def test_made_shards_with_replicas_and_a_slow_device(folder):
    layout = dict(fsdp=4, dp=2, sums_apart=True, streams_apart=True, gather="layer")
    found(folder, "device", layout, Fault("device", rank=6, by=1.2))
    found(folder, "data", layout, Fault("data", rank=1, by=0.8))


def test_made_shards_that_are_gathered_without_limit(folder):
    found(folder, "device", dict(fsdp=4, gather="unlimited", streams_apart=True, sync=False), Fault("device", rank=2, by=1.2))
    # Some ranks record from a step later, when their hosts are ahead of the device: what is gained before is lost, and counts for nothing.
    found(folder, "windows", dict(fsdp=8, layers=3, gather="unlimited", streams_apart=True, sync=False, late_windows=True), Fault("device", rank=0, by=1.15), seed=31_047_527)


# The other end of a send by its number in the group: in the pipeline of ranks 1 and 3 the first stage sends to 1.
def test_made_stages_with_tensor_groups_and_a_slow_device(folder):
    layout = dict(pp=2, tp=2, dp=2, layers=1, microbatches=4, all_forward=True, posted=True, peers_in_group=True)
    found(folder, "stage", layout, Fault("device", rank=3, by=1.3))


def test_made_groups_with_a_slow_link(folder):
    found(folder, "link", dict(tp=2, dp=4), Fault("link", group="tp:1", by=4.0))


def test_made_replicas_with_uneven_work(folder):
    found(folder, "kernels", dict(dp=4), Fault("imbalance", rank=3, by=1.15, how="kernels"))
    found(folder, "shapes", dict(dp=4), Fault("imbalance", rank=0, by=1.15, how="shapes"))


def without(rank):
    return lambda place: os.remove(os.path.join(place, f"rank{rank}.json"))


def cut_off(rank, part, lines=False):
    """The file of a rank ends early. `lines`: its events in order of time, as some writers have them."""

    def change(place):
        path = os.path.join(place, f"rank{rank}.json")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if lines:
            head, body = text.split('"traceEvents": [\n')
            events = [json.loads(line.rstrip(",")) for line in body.splitlines() if line.startswith("{")]
            events.sort(key=lambda e: (e["ph"] == "X" and e["name"].startswith("ProfilerStep"), e.get("ts", 0)))
            text = head + '"traceEvents": [\n' + ",\n".join(map(json.dumps, events)) + "\n]}\n"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text[: int(len(text) * part)])

    return change


def unmarked(rank):
    """The marks of the profiler's and the optimizer's steps are gone."""

    def change(place):
        path = os.path.join(place, f"rank{rank}.json")
        with open(path, encoding="utf-8") as file:
            lines = file.readlines()
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(line for line in lines if "ProfilerStep#" not in line and "Optimizer.step#" not in line)

    return change


# Who waits for the one that is missing would wait for ever as long as recorded: the slow one beside it was never told.
def test_made_groups_with_a_rank_missing(folder):
    found(folder, "tp", dict(tp=4, dp=2, layers=1), Fault("device", rank=5, by=1.25), change=without(4))
    found(folder, "data", dict(tp=4, dp=2, layers=1), Fault("data", rank=6, by=0.9), change=without(2))


def test_made_pipeline_with_a_rank_missing(folder):
    found(folder, "pp", dict(pp=4, dp=2, layers=1, microbatches=4), Fault("device", rank=4, by=1.4), change=without(2))
    found(folder, "likest", dict(pp=4, dp=2, layers=1, microbatches=4), Fault("device", rank=4, by=1.4), change=without(5))


def test_made_job_with_a_trace_that_is_cut_off(folder):
    layout = dict(tp=4, dp=2, layers=1, steps=4)
    found(folder, "host_only", layout, Fault("device", rank=5, by=1.25), change=cut_off(6, 0.3))
    found(folder, "other", layout, Fault("device", rank=5, by=1.25), change=cut_off(6, 0.6, lines=True))
    found(folder, "itself", layout, Fault("device", rank=5, by=1.25), change=cut_off(5, 0.8, lines=True))
    found(folder, "itself_early", layout, Fault("device", rank=5, by=1.25), change=cut_off(5, 0.4, lines=True))


def test_made_job_with_a_rank_without_steps(folder):
    found(folder, "slow", dict(dp=4), Fault("device", rank=1, by=1.2), change=unmarked(1))
    found(folder, "other", dict(dp=4), Fault("device", rank=1, by=1.2), change=unmarked(3))


def test_made_healthy_jobs(folder):
    for name, layout in (("dp", dict(dp=4)), ("tp", dict(tp=4)), ("pp", dict(pp=4, layers=1)), ("fsdp", dict(fsdp=4)), ("mixed", dict(tp=2, dp=2))):
        _, rows = told(folder, name, layout, [], 5)
        equal([score.told(row) for row in rows], [], name)
