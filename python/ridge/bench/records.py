"""What the device did, from the records of a profile: kernels by the correlation of their launch, launches by the mark that they stand in.

A mark is an annotation `ridge_bench:KIND:NUMBER` on the host. Its launches may come from any thread: whatever is called inside of a mark has
returned at its end. Nothing is told by a kernel's name, so that what a call launches may be called like the flush between two calls."""

import bisect
import collections
import json

MARK = "ridge_bench:"
DEVICE_WORK = ("kernel", "gpu_memcpy", "gpu_memset")
LAUNCHES = ("cuda_runtime", "cuda_driver")

Launch = collections.namedtuple("Launch", ["name", "ns", "grid", "block", "registers", "shared_bytes", "occupancy_pct", "is_kernel", "start_ns"])


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return json.load(file)["traceEvents"]


def _ns(us):
    return round(float(us) * 1000)


def _number(value):
    return value if isinstance(value, (int, float)) else None


def _launch(event):
    args = event.get("args", {})
    shared = [args.get(key) for key in ("shared memory", "dynamic shared memory")]
    return Launch(
        name=event["name"],
        ns=_ns(event["dur"]),
        grid=args.get("grid"),
        block=args.get("block"),
        registers=_number(args.get("registers per thread")),
        shared_bytes=next((int(each) for each in shared if isinstance(each, (int, float))), None),
        occupancy_pct=_number(args.get("est. achieved occupancy %")),
        is_kernel=event.get("cat") == "kernel",
        start_ns=_ns(event["ts"]),
    )


def by_mark(events):
    """{kind: [launches of each mark, in order]}: what ran on the device for each mark, by the order of its launch. A mark without work has an empty list."""
    work, calls, marks = {}, [], []
    for event in events:
        if event.get("ph") != "X":
            continue
        kind = event.get("cat")
        if kind in DEVICE_WORK:
            work.setdefault(event.get("args", {}).get("correlation"), []).append(event)
        elif kind in LAUNCHES:
            calls.append((float(event["ts"]), event.get("args", {}).get("correlation")))
        elif kind == "user_annotation" and str(event.get("name", "")).startswith(MARK):
            marks.append((float(event["ts"]), float(event["ts"]) + float(event["dur"]), event["name"][len(MARK) :]))
    calls.sort(key=lambda each: each[0])
    times = [each[0] for each in calls]
    found = collections.defaultdict(list)
    for begin, end, name in sorted(marks):
        inside = calls[bisect.bisect_left(times, begin) : bisect.bisect_right(times, end)]
        launched = [event for _, correlation in inside for event in work.get(correlation, ())]
        found[name.partition(":")[0]].append([_launch(event) for event in launched])
    return dict(found)


def usual(runs):
    """The runs that launched what most of them did, in the same order: one that a library tuned in, or that lost a record, is not a sample."""
    forms = [tuple((each.name, str(each.grid), str(each.block)) for each in run) for run in runs]
    if not forms:
        return []
    most, _ = collections.Counter(forms).most_common(1)[0]
    return [run for run, form in zip(runs, forms) if form == most]
