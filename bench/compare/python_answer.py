"""The answer all readers must agree on, by Python's own json module: exact, slow.

  python_answer.py TRACE    prints {"events": N, "categories": [[ph, cat, events, time_ns], ...]}, sorted"""

import gzip
import json
import sys


def to_ns(text):
    """Decimal microseconds, as written, to nanoseconds; digits beyond are dropped."""
    whole, _, fraction = str(text).partition(".")
    sign = -1 if whole.startswith("-") else 1
    return sign * int(whole.lstrip("-") + fraction[:3].ljust(3, "0"))


def answer(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        events = json.load(file, parse_float=str)["traceEvents"]
    totals = {}
    for event in events:
        total = totals.setdefault((event["ph"], event.get("cat", "")), [0, 0])
        total[0] += 1
        total[1] += to_ns(event.get("dur", 0))
    return {"events": len(events), "categories": sorted([*kind, *total] for kind, total in totals.items())}


if __name__ == "__main__":
    print(json.dumps(answer(sys.argv[1])))
