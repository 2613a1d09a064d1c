"""Which jobs are made: those that may be read while the answers are built, and those held back until they are scored."""

import random

from program import Fault, Groups, Job

# name: ranks by kind, and the layers of a rank
LAYOUTS = {
    "dp8": dict(dp=8),
    "dp16": dict(dp=16),
    "dp32": dict(dp=32, layers=3),
    "dp64": dict(dp=64, layers=2),
    "tp8": dict(tp=8),
    "tp4_dp2": dict(tp=4, dp=2),
    "tp8_dp2": dict(tp=8, dp=2, layers=4),
    "tp4_dp8": dict(tp=4, dp=8, layers=3),
    "tp8_dp8": dict(tp=8, dp=8, layers=2, steps=3),
    "fsdp8": dict(fsdp=8),
    "fsdp16": dict(fsdp=16),
    "fsdp32": dict(fsdp=32, layers=3),
    "fsdp8_dp2": dict(fsdp=8, dp=2),
    "fsdp8_dp4": dict(fsdp=8, dp=4, layers=3),
    "fsdp8_dp8": dict(fsdp=8, dp=8, layers=2, steps=3),
    "pp4_dp2": dict(pp=4, dp=2, layers=2, microbatches=4),
    "pp8": dict(pp=8, layers=1, microbatches=8),
    "pp4_dp4": dict(pp=4, dp=4, layers=1, microbatches=6),
    "pp2_tp4_dp2": dict(pp=2, tp=4, dp=2, layers=2, microbatches=3),
    "pp4_tp4_dp2": dict(pp=4, tp=4, dp=2, layers=1, microbatches=5),
    "pp4_tp4_dp4": dict(pp=4, tp=4, dp=4, layers=1, microbatches=4, steps=3),
    # Shards within a machine, replicas between; weights gathered without limit; three kinds at once, all forward before all backward.
    "hsdp4_dp2": dict(fsdp=4, dp=2, sums_apart=True, streams_apart=True, gather="layer", per_host=4),
    "hsdp4_dp4": dict(fsdp=4, dp=4, sums_apart=True, streams_apart=True, gather="next", per_host=4),
    "hsdp8_dp2": dict(fsdp=8, dp=2, sums_apart=True, gather="next"),
    "fsdp8_ahead": dict(fsdp=8, gather="unlimited", streams_apart=True, sync=False),
    "fsdp16_ahead": dict(fsdp=16, gather="unlimited", sync=False),
    "pp2_tp2_dp2": dict(pp=2, tp=2, dp=2, layers=2, microbatches=4, all_forward=True, posted=True, peers_in_group=True),
    "pp2_tp2_dp4": dict(pp=2, tp=2, dp=4, layers=2, microbatches=4, all_forward=True, posted=True),
    "pp4_tp2_dp2": dict(pp=4, tp=2, dp=2, layers=1, microbatches=6, posted=True),
}

# layout, cause (with how), per cent of the step that the fault is to cost. Two causes: two faults at once.
READ = [
    ("dp8", "device", 12), ("dp8", "host:stall", 9), ("tp4_dp2", "link", 10), ("pp4_dp2", "device", 8),
    ("fsdp8", "imbalance:shapes", 10), ("tp8", "device", 7), ("dp16", "data", 8), ("dp8", "none", 0),
    ("dp16", "host:slow", 12), ("dp32", "device", 6), ("tp8", "host:slow", 10), ("tp4_dp2", "imbalance:shapes", 9), ("tp8_dp2", "device", 10),
    ("tp4_dp8", "link", 8), ("tp8_dp2", "data", 7), ("fsdp8", "device", 15), ("fsdp16", "host:stall", 8), ("fsdp8_dp2", "link:fsdp", 9),
    ("fsdp32", "data", 6), ("fsdp8_dp4", "device", 9), ("pp8", "device", 7), ("pp4_dp2", "imbalance:kernels", 9), ("pp2_tp4_dp2", "device", 8),
    ("pp4_tp4_dp2", "host:stall", 7), ("pp4_dp4", "data", 6), ("pp2_tp4_dp2", "link:tp", 8), ("dp64", "imbalance:shapes", 10), ("tp8_dp8", "device", 6),
    ("fsdp8_dp8", "host:slow", 9), ("pp4_tp4_dp4", "imbalance:shapes", 7), ("dp8", "imbalance:kernels", 8), ("fsdp16", "device+data", 8),
    ("tp8", "host:stall+device", 7), ("fsdp16", "none", 0), ("tp8", "none", 0), ("pp4_dp2", "none", 0), ("tp4_dp8", "none", 0), ("dp32", "none", 0),
    ("fsdp8_dp2", "device+link", 8), ("tp4_dp2", "data", 11),
    # Small effects, told apart: 2 to 5 %.
    ("dp8", "device", 3), ("tp8", "device", 3.5), ("fsdp8", "host:stall", 3), ("pp4_dp2", "data", 3), ("tp4_dp2", "link", 4), ("fsdp8_dp2", "imbalance:shapes", 3),
]
HELD = [
    ("dp8", "device", 8), ("dp16", "imbalance:shapes", 7), ("dp32", "host:stall", 9), ("tp8", "data", 6), ("tp8", "device", 11), ("tp8_dp2", "host:slow", 8),
    ("tp8_dp2", "link:dp", 8), ("tp4_dp8", "device", 7), ("fsdp8", "host:slow", 14), ("fsdp16", "device", 7), ("fsdp8_dp4", "link:fsdp", 8), ("fsdp32", "imbalance:kernels", 9),
    ("pp8", "data", 8), ("pp4_dp4", "device", 10), ("pp4_tp4_dp2", "link:tp", 7), ("pp2_tp4_dp2", "imbalance:shapes", 8), ("fsdp8", "none", 0), ("pp4_tp4_dp2", "none", 0),
    ("dp64", "none", 0), ("tp8", "device+data", 8),
    ("dp16", "device", 3), ("tp4_dp8", "data", 3.5),
]

# Made after the others had been scored and read; scored once.
NEW = [
    ("dp32", "host:stall", 7), ("dp16", "host:stall", 10), ("dp8", "data", 9), ("dp64", "host:slow", 8), ("tp4_dp8", "host:stall", 8), ("fsdp16", "imbalance:kernels", 8),
    ("tp8_dp2", "link:tp", 8), ("pp4_dp4", "host:slow", 8), ("fsdp8_dp4", "data", 7), ("pp2_tp4_dp2", "device", 9), ("dp16", "device+host:stall", 8), ("tp4_dp2", "none", 0),
]
# Layouts that the others lack, and jobs that are not whole: a fourth part says what is other than drawn.
SHAPES = [
    ("hsdp4_dp2", "device", 9), ("hsdp4_dp4", "device", 7), ("hsdp8_dp2", "device", 10), ("hsdp4_dp2", "data", 8), ("hsdp4_dp4", "link:fsdp", 8), ("hsdp4_dp2", "none", 0),
    ("fsdp8_ahead", "device", 9), ("fsdp16_ahead", "device", 7), ("fsdp8_ahead", "imbalance:shapes", 8), ("fsdp8_ahead", "none", 0),
    ("pp2_tp2_dp2", "device:stage0", 9), ("pp2_tp2_dp4", "device:stage0", 7), ("pp4_tp2_dp2", "device:stage0", 8), ("pp2_tp2_dp2", "data", 8), ("pp4_tp2_dp2", "none", 0),
    ("tp4_dp2", "device", 10, dict(missing=1)), ("dp16", "data", 8, dict(missing=4)), ("pp2_tp2_dp4", "device", 9, dict(missing=2)), ("hsdp4_dp4", "device", 9, dict(missing=1)),
    ("tp4_dp2", "device", 9, dict(cut=0.75)), ("dp8", "host:stall", 9, dict(cut=0.9)), ("fsdp8", "device", 9, dict(cut=0.6)), ("pp4_dp2", "device", 9, dict(cut=0.8)),
    ("tp8_dp2", "none", 0, dict(missing=2)), ("fsdp8", "none", 0, dict(cut=0.7)),
]
SHAPES_HELD = [
    ("hsdp4_dp2", "device", 8), ("hsdp4_dp4", "device", 11), ("hsdp8_dp2", "data", 8), ("fsdp8_ahead", "device", 7), ("fsdp16_ahead", "imbalance:kernels", 9), ("pp2_tp2_dp2", "device:stage0", 7),
    ("pp2_tp2_dp4", "device:stage0", 10), ("pp4_tp2_dp2", "host:stall", 8), ("tp4_dp8", "device", 9, dict(missing=3)), ("pp4_tp2_dp2", "device", 9, dict(missing=1)),
    ("hsdp4_dp2", "device", 9, dict(cut=0.8)), ("dp16", "device", 8, dict(cut=0.65)), ("hsdp8_dp2", "none", 0), ("pp2_tp2_dp2", "none", 0, dict(missing=1)),
]

SETS = {
    "read": (READ, 1_000_003), "held": (HELD, 7_000_003), "new": (NEW, 19_000_013), "shapes": (SHAPES, 31_000_013), "shapes_held": (SHAPES_HELD, 53_000_017),
}

FIRST = {"device": 0.15, "device:stage0": 0.15, "host:slow": 2.0, "host:stall": 1.5, "data": 1.5, "imbalance:shapes": 0.15, "imbalance:kernels": 0.15, "link": 1.5, "link:tp": 1.5, "link:dp": 3.0, "link:fsdp": 2.0}


def planted(cause, size, rng, groups, taken):
    """A fault of this cause on a rank, or a group, that has none yet."""
    kind, _, how = cause.partition(":")
    if kind == "link":
        kinds = {}
        for key, k in groups.kind.items():
            if key != "world" and k in ("tp", "dp", "fsdp") and how in ("", k):
                kinds.setdefault(k, []).append(key)
        several = [keys for keys in kinds.values() if len(keys) > 1]  # a group without its like is slow by nobody's measure
        return Fault("link", group=rng.choice(rng.choice(several)), by=1 + size)
    rank = rng.choice([r for r in range(groups.job.world) if r not in taken and (how != "stage0" or groups.places[r]["pp"] == 0)])
    taken.add(rank)
    milliseconds = kind == "data" or how == "stall"
    return Fault(kind, rank=rank, by=size if milliseconds else 1 + size, how=how)


def jobs(which):
    """(job without faults, causes, wanted per cent) of each row."""
    rows, first = SETS[which]
    held = which not in ("read", "shapes")
    for number, (layout, causes, percent, *other) in enumerate(rows):
        seed = first + 7919 * number
        rng = random.Random(seed)
        settings = dict(LAYOUTS[layout])
        settings.setdefault("steps", rng.choice([3, 4, 5] if settings.get("layers", 5) > 3 else [4, 5, 6]))
        settings.update(
            batch=rng.choice([6, 10, 12] if held else [6, 8, 12]),
            host_us=rng.uniform(6, 13),
            skew_ms=rng.choice([120, 400, 3000] if held else [100, 250, 1500]),
            drift_ppm=rng.choice([5, 25] if held else [2, 15, 30]),
            noise=rng.choice([0.008, 0.015, 0.02]),
            groups_named=rng.choice(["mesh", "megatron", "undefined"]),
            late_windows=rng.random() < 0.2,
            host_names=rng.random() < 0.3,
            sync=rng.random() < 0.75,
            bucket=rng.choice([1, 2]),
            per_host=4 if settings.get("tp", 1) <= 4 and settings.get("fsdp", 1) <= 4 and rng.random() < 0.3 else 8,
        )
        if settings.get("pp", 1) > 1 or settings.get("fsdp", 1) * settings.get("tp", 1) * settings.get("dp", 1) > 32:
            settings["steps"] = min(settings["steps"], 4)
        settings.update(LAYOUTS[layout])
        for row in other:
            settings.update(row)
        name = f"{number:02d}_{layout}_{causes.replace(':', '_').replace('+', '_and_')}"
        if "host" in causes or "data" in causes:
            settings["sync"] = True  # a host that runs ahead hides it all, or nothing of it
        name += "".join(f"_{key}" for row in other for key in row)
        job = Job(name, seed, **settings)
        yield job, [] if causes == "none" else causes.split("+"), percent


def example():
    """The job that docs/jobs.md tells of: two hosts, a loader that is late on one rank and a device that is slow on another."""
    job = Job("example", 425, tp=4, dp=2, layers=2, steps=3, per_host=4, batch=8, skew_ms=240, drift_ppm=12, host_names=True, bucket=1)
    return job, [Fault("data", rank=5, by=1.0), Fault("device", rank=6, by=1.12)]


def groups_of(job):
    return Groups(job)
