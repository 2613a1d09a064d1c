"""Measured times against the roof: what cannot be true is refused, what the cache served is marked. Pure arithmetic, in the parent."""

TOLERANCE = 0.02  # of the roof's time: data sheets round, and clocks may stand a little above the one they name


class Roof:
    """bandwidth in bytes/s, cache in bytes; None: not known. Of a call: FLOPs, bytes read and written, and the time of its arithmetic at peak."""

    def __init__(self, bandwidth, cache_bytes):
        self.bandwidth = bandwidth
        self.cache_bytes = cache_bytes

    def least_ns(self, costs):
        """What a cold run must take: reading everything from memory, and writing what the cache cannot keep until after the kernel. None: not known."""
        if not self.bandwidth or costs.get("bytes_read") is None:
            return None
        written = max(0, (costs.get("bytes_written") or 0) - (self.cache_bytes or 0))
        return 1e9 * (costs["bytes_read"] + written) / self.bandwidth

    def refusal(self, cold_ns, costs):
        """Why a cold time cannot be true, or None."""
        least = self.least_ns(costs)
        if least is not None and cold_ns < least * (1 - TOLERANCE):
            read = costs["bytes_read"] / 1e6
            return "faster than memory allows: %.3f us cold, and its %.1f MB take %.3f us at %.0f GB/s; the flush or the byte count is wrong" % (
                cold_ns / 1e3,
                read,
                least / 1e3,
                self.bandwidth / 1e9,
            )
        compute = costs.get("compute_ns")
        if compute is not None and cold_ns < compute * (1 - TOLERANCE):
            return "faster than the arithmetic allows: %.3f us cold, and its FLOPs take %.3f us at peak; the FLOP count is wrong, or the dtype's peak" % (
                cold_ns / 1e3,
                compute / 1e3,
            )
        return None

    def rates(self, ns, costs):
        """{bytes_per_s, pct_peak_bandwidth, flops_per_s, pct_peak_flops} of a run."""
        moved = None if costs.get("bytes_read") is None else costs["bytes_read"] + (costs.get("bytes_written") or 0)
        per_s = None if moved is None else 1e9 * moved / ns
        flops = costs.get("flops")
        compute = costs.get("compute_ns")
        return {
            "bytes_per_s": per_s,
            "pct_peak_bandwidth": None if per_s is None or not self.bandwidth else 100 * per_s / self.bandwidth,
            "flops_per_s": None if not flops else 1e9 * flops / ns,
            "pct_peak_flops": None if compute is None else 100 * compute / ns,
        }

    def served_by(self, warm_ns, costs):
        """Where the bytes of a warm run came from: "L2" where memory could not have brought them all; else None, for it may have."""
        moved = None if costs.get("bytes_read") is None else costs["bytes_read"] + (costs.get("bytes_written") or 0)
        if moved is None or not self.bandwidth:
            return None
        return "L2" if 1e9 * moved / warm_ns > self.bandwidth else None
