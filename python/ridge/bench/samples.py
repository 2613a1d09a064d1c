"""The median of repeated times and how well it is known. No distribution is assumed: the interval is between two order statistics."""

import math

CONFIDENCE = 0.95
ENOUGH = 0.01  # of the median, to either side
ROUNDING = 2  # ns that records of equal length may differ by
COARSEST = 0.03  # of the median: a step of the clock beyond that is no excuse


def median(values):
    """Of whole numbers a whole number: the lower of the two in the middle."""
    ordered = sorted(values)
    return ordered[(len(ordered) - 1) // 2]


def _rank(n):
    """The largest k for which [k-th smallest, k-th largest] holds the median with CONFIDENCE; 0 where even the whole range does not."""
    left = (1 - CONFIDENCE) / 2
    tail, rank = 0.0, 0
    for i in range(n // 2):
        tail += math.comb(n, i) / 2**n
        if tail > left:
            break
        rank = i + 1
    return rank


def interval(values):
    """(median, low, high); low and high are None where there are too few values to tell (fewer than six)."""
    rank = _rank(len(values))
    ordered = sorted(values)
    if rank == 0:
        return median(ordered), None, None
    return median(ordered), ordered[rank - 1], ordered[-rank]


def resolution(values):
    """The step of the clock behind the values, as far as they show it: the smallest difference between two of them, that of rounding aside."""
    ordered = sorted(set(values))
    return min((b - a for a, b in zip(ordered, ordered[1:]) if b - a > ROUNDING), default=0)


def known_well(values, within=ENOUGH):
    """Whether the interval is within this share of the median, or as narrow as the clock's step allows: a kernel of 2 us has records 32 ns apart."""
    middle, low, high = interval(values)
    if low is None:
        return False
    slack = max(within * middle, min(resolution(values), COARSEST * middle) + ROUNDING)
    return high - middle <= slack and middle - low <= slack
