"""Why a kernel took longer in the trace than alone, as far as trace and bench show it. Pure, in the parent."""

SLOWER = 1.05  # of the cold time: what lies within is the caches' doing
BESIDE_PCT = 5.0
ALIKE = 0.03


def usual_ratio(rows):
    """The median over the rows, weighted by time in the trace, of trace over cold time; None where nothing was measured."""
    known = sorted((row["trace_ns"] / row["cold_ns"], row["time_ns"] or 0) for row in rows if row.get("cold_ns") and row.get("trace_ns"))
    half = sum(weight for _, weight in known) / 2
    for ratio, weight in known:
        half -= weight
        if half <= 0:
            return ratio
    return None


def between(row):
    """Where the time in the trace lies: a sentence; None where it is not known."""
    trace, cold, warm = row.get("trace_ns"), row.get("cold_ns"), row.get("warm_ns")
    if not trace or not cold or not warm:
        return None
    if trace > SLOWER * cold:
        return None
    if trace < warm / SLOWER:
        return "faster in the trace than alone"
    if cold > SLOWER * warm:
        way = min(1.0, max(0.0, (trace - warm) / (cold - warm)))
        return "caches: %.0f %% of the way from warm to cold" % (100 * way)
    return "as alone"


def reasons(row, beside_pct, usual, clock_mhz, same_kernel):
    """Of a row with times: what explains that the trace was slower than the cold run, a sentence."""
    said = between(row)
    if said is not None:
        return said
    trace, cold = row.get("trace_ns"), row.get("cold_ns")
    if not trace or not cold:
        return None
    ratio = trace / cold
    found = ["%.2f times its cold time" % ratio]
    if same_kernel is False:
        found.append("another kernel ran here")
    if beside_pct is not None and beside_pct >= BESIDE_PCT:
        found.append("neighbours: other streams worked during %.0f %% of it" % beside_pct)
    if usual is not None and usual > SLOWER and abs(ratio / usual - 1) <= ALIKE:
        lower = "" if clock_mhz is None else " (about %.0f MHz, if all of it is the clock)" % (clock_mhz / usual)
        found.append("clocks: most kernels of the trace were slower by the same factor%s" % lower)
    if len(found) == 1:
        found.append("the trace does not show why")
    return "; ".join(found)
