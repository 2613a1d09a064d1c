"""Times calls by the device's own records: each repetition flushes the cache, runs the call (cold) and runs it again (warm). In the worker."""

import os
import tempfile
import time

from . import records, samples

FIRST_REPEATS = 12
MOST_REPEATS = 400
FLUSH_CACHES = 4  # as many times the second-level cache as the flush writes; two would do for a cache that replaced the oldest line
LEAST_FLUSH_BYTES = 64 << 20
WARM_UP_S = 0.3  # of clocks, once per process


class NothingRan(Exception):
    """The call launches nothing on the device."""


class Timed:
    """The runs of a call: `cold` and `warm` are lists of runs, a run is the list of its launches."""

    def __init__(self):
        self.cold, self.warm = [], []
        self.mhz, self.throttled_by = [], None

    def launches(self):
        """Those of one run, in order."""
        return self.cold[-1] if self.cold else []

    def times(self, phase, index):
        return [run[index].ns for run in getattr(self, phase)]

    def whole(self, phase):
        """Of each run the sum of its kernels, in ns."""
        return [sum(each.ns for each in run if each.is_kernel) for run in getattr(self, phase)]


def cache_bytes(properties):
    """Of the second-level cache; None: the device does not tell."""
    return int(getattr(properties, "L2_cache_size", 0)) or None


def flush_bytes(properties):
    wanted = FLUSH_CACHES * (cache_bytes(properties) or LEAST_FLUSH_BYTES)
    return min(max(wanted, LEAST_FLUSH_BYTES), properties.total_memory // 8)


class Meter:
    def __init__(self, torch, clocks):
        self._torch = torch
        self._clocks = clocks
        properties = torch.cuda.get_device_properties(0)
        self._buffer = torch.empty(flush_bytes(properties) // 4, dtype=torch.int32, device="cuda")
        self._warm_up()

    def _warm_up(self):
        """Clocks rise with work, and the first profile loads CUPTI."""
        until = time.monotonic() + WARM_UP_S
        while time.monotonic() < until:
            for _ in range(50):
                self._buffer.zero_()
            self._torch.cuda.synchronize()
        self._window(lambda: self._buffer.zero_(), 1)

    def _window(self, call, repeats):
        torch = self._torch
        profiler = torch.profiler
        activities = [profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.CUDA]
        mark = profiler.record_function
        clocks = []
        throttled_by = None
        with profiler.profile(activities=activities) as profile:
            for i in range(repeats):
                self._buffer.zero_()
                with mark(records.MARK + "cold:%d" % i):
                    call()
                with mark(records.MARK + "warm:%d" % i):
                    call()
                if i == 0 or i == repeats - 1:
                    clocks.append(self._clocks.mhz())
                    throttled_by = self._clocks.throttled_by()  # while the device works
            torch.cuda.synchronize()
        handle, path = tempfile.mkstemp(suffix=".json", prefix="ridge-bench-")
        os.close(handle)
        try:
            profile.export_chrome_trace(path)
            return records.by_mark(records.read(path)), clocks, throttled_by
        finally:
            os.remove(path)

    def launches(self, call):
        """What one call launches, not timed for its own sake."""
        call()
        self._torch.cuda.synchronize()
        found, _, _ = self._window(call, 2)
        return (found.get("warm") or [[]])[-1]

    def time(self, call, choose=None, seconds=5.0, within=samples.ENOUGH, most=MOST_REPEATS, until=None):
        """Runs `call` until the medians, cold and warm, are known, or a cap is reached: those of one launch, whose number `choose` tells from the
        launches of a run; without `choose`, or where it tells None, those of all kernels of a run together.

        until: time.monotonic() after which no further window begins."""
        call()
        self._torch.cuda.synchronize()
        begun = time.monotonic()
        call()
        self._torch.cuda.synchronize()
        once = max(time.monotonic() - begun, 1e-5)
        timed = Timed()
        repeats = max(3, min(FIRST_REPEATS, int(seconds / (4 * once)))) + 1
        stop = begun + seconds
        cold, warm = [], []
        while True:
            found, clocks, timed.throttled_by = self._window(call, repeats)
            timed.mhz += [each for each in clocks if each is not None]
            cold += found.get("cold", [])[1:]  # the first of a window finds the profiler's own traces in caches and clocks
            warm += found.get("warm", [])[1:]
            timed.cold, timed.warm = records.usual(cold), records.usual(warm)
            if not timed.cold or not timed.cold[-1]:
                raise NothingRan("the call launched nothing on the device")
            index = None if choose is None else choose(timed.launches())
            well = all(samples.known_well(self._values(timed, phase, index), within) for phase in ("cold", "warm"))
            now = time.monotonic()
            if well or len(cold) >= most or now >= stop or (until is not None and now >= until):
                return timed
            repeats = min(2 * len(cold), most - len(cold), max(4, int((stop - now) / (3 * once)))) + 1

    @staticmethod
    def _values(timed, phase, index):
        runs = getattr(timed, phase)
        if index is None or any(index >= len(run) for run in runs):
            return timed.whole(phase)
        return timed.times(phase, index)
