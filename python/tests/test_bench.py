"""What `ridge bench` makes of measurements: statistics, records, roof, reasons. Nothing here needs PyTorch or a GPU."""

import pytest

from measured_rows import H200, measured
from ridge.bench import records, roof, samples, script, table_file, trace_facts, why_slower


# Statistics. The ranks are those of the sign test: for n = 6 the whole range holds the median in 1 - 2 / 64 = 96.9 % of cases, for n = 20 the
# 6th smallest to the 6th largest in 1 - 2 * 0.0207 = 95.9 %.
@pytest.mark.parametrize("n, rank", [(5, 0), (6, 1), (8, 1), (9, 2), (20, 6), (100, 40)])
def test_the_interval_is_between_two_order_statistics(n, rank):
    middle, low, high = samples.interval(list(range(1, n + 1)))
    assert middle == (n + 1) // 2
    assert (low, high) == ((rank, n + 1 - rank) if rank else (None, None))


def test_few_or_scattered_times_are_not_known_well():
    assert not samples.known_well([100] * 5)
    assert samples.known_well([100] * 6)
    assert samples.known_well([99, 100, 100, 100, 100, 101, 100, 100, 500, 20])  # outliers do not matter
    assert not samples.known_well([90, 95, 100, 105, 110, 100])


def test_the_clock_s_own_step_is_close_enough():
    ticks = [2208, 2208, 2240, 2209, 2240, 2208, 2176, 2208, 2240, 2240, 2208, 2176]  # 32 ns apart: 1.4 % of the time
    assert samples.resolution(ticks) in (31, 32)
    assert samples.known_well(ticks)
    assert not samples.known_well([200, 264, 200, 264, 200, 264, 200, 264, 200, 264])  # but no step excuses a third of the time


def test_the_median_of_whole_numbers_is_one_of_them():
    assert samples.median([4, 1, 3, 2]) == 2


# Records.
def events(*, flush_is_called_like_the_call=True):
    name = "void fill" if flush_is_called_like_the_call else "memset"
    found = []

    def launch(at, correlation, kernel, dur, tid=1):
        found.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": at, "dur": 1, "tid": tid, "args": {"correlation": correlation}})
        args = {"correlation": correlation, "grid": [2, 1, 1], "block": [128, 1, 1], "registers per thread": 32, "shared memory": 16, "est. achieved occupancy %": 50}
        found.append({"ph": "X", "cat": "kernel", "name": kernel, "ts": at + 1000, "dur": dur, "tid": 7, "args": args})

    launch(5, 1, name, 60.0)
    found.append({"ph": "X", "cat": "user_annotation", "name": "ridge_bench:cold:0", "ts": 10, "dur": 10, "tid": 1})
    launch(12, 2, "void fill", 2.016)
    launch(14, 3, "second", 1.5, tid=2)  # from another thread, as autograd's
    found.append({"ph": "X", "cat": "user_annotation", "name": "ridge_bench:warm:0", "ts": 30, "dur": 10, "tid": 1})
    launch(31, 4, "void fill", 1.0)
    found.append({"ph": "X", "cat": "user_annotation", "name": "ridge_bench:warm:1", "ts": 50, "dur": 10, "tid": 1})
    found.append({"ph": "X", "cat": "user_annotation", "name": "somebody else's", "ts": 0, "dur": 100, "tid": 1})
    return found


def test_work_is_told_by_correlation_and_not_by_name():
    found = records.by_mark(events())
    assert [[each.name for each in run] for run in found["cold"]] == [["void fill", "second"]]
    assert found["cold"][0][0].ns == 2016
    assert found["cold"][0][0][2:7] == ([2, 1, 1], [128, 1, 1], 32, 16, 50)
    assert [len(run) for run in found["warm"]] == [1, 0]


def test_runs_that_launch_something_else_are_no_samples():
    launch = records.by_mark(events())["cold"][0][0]
    other = launch._replace(name="tuning")
    assert records.usual([[launch], [other, launch], [launch]]) == [[launch], [launch]]
    assert records.usual([]) == []


# Which launch is the kernel's.
def launches(*names):
    return [records.Launch(name, 10 * (i + 1), [1, 1, 1], [128, 1, 1], 8, 0, None, True, i) for i, name in enumerate(names)]


def test_the_kernel_of_a_call():
    call = {"kernel": "b", "grid": [1, 1, 1], "block": [128, 1, 1], "launches": [{"name": "a"}, {"name": "b", "grid": [1, 1, 1]}]}
    assert script.launch_in(launches("a", "b"), call) == (1, True)
    assert script.launch_in(launches("a", "b"), {**call, "block": [256, 1, 1]}) == (1, False)  # its name, another block
    assert script.launch_in(launches("a", "c"), call) == (1, False)  # its place
    assert script.launch_in(launches("x", "y", "z"), call) == (2, False)  # the longest
    assert script.launch_in([], call) == (None, False)
    assert script.launch_in(launches("b", "b", "b"), call) == (1, True)  # of several the one of middle length
    assert script.launch_in(launches("b", "a", "b"), call) == (2, True)  # the upper of two


def test_a_kernel_that_a_call_launches_with_several_grids():
    """Each grid is a call of its own in the trace: the launch with this one is taken, whatever the others take."""
    forms = [{"name": "b", "grid": [9, 1, 1], "block": [128, 1, 1]}, {"name": "b", "grid": [1, 1, 1], "block": [128, 1, 1]}]
    call = {"kernel": "b", "grid": [1, 1, 1], "block": [128, 1, 1], "launches": forms}
    ran = [launches("b")[0], launches("b", "b")[1]._replace(grid=[9, 1, 1])]
    assert script.launch_in(ran, call) == (0, True)
    assert script.launch_in(ran, {**call, "grid": [9, 1, 1]}) == (1, True)
    assert script.launch_in(ran, {**call, "grid": [7, 1, 1]}) == (1, False)  # its name, a grid that did not run


def test_another_source_is_never_the_same_kernel():
    """Name, grid and block are equal, but the trace's hash is another: what is timed is not the trace's kernel, and no table has it."""
    call = {"kernel": "b", "grid": [1, 1, 1], "block": [128, 1, 1], "source": {"hash": "c", "match": "matches"}}
    assert script.launch_in(launches("b"), call) == (0, True)
    call["source"]["match"] = "differs"
    assert script.launch_in(launches("b"), call) == (0, False)
    row = measured()
    assert len(table_file.document([row], {}, None)["kernels"]) == 1
    row["call"]["source"] = call["source"]
    assert table_file.document([row], {}, None)["kernels"] == []


# The roof.
def test_a_cold_time_that_beats_memory_is_refused():
    costs = {"bytes_read": 48_000_000, "bytes_written": 48_000_000}  # the written half may stay in the cache until after the kernel
    assert H200.refusal(9_900, costs) is None
    assert "faster than memory allows" in H200.refusal(9_000, costs)
    assert "faster than memory allows" in H200.refusal(25_000, {"bytes_read": 48_000_000, "bytes_written": 180_000_000})  # 120 MB of it must leave
    assert H200.refusal(100, {"bytes_read": None}) is None
    assert roof.Roof(None, None).refusal(100, costs) is None


def test_a_cold_time_that_beats_the_arithmetic_is_refused():
    assert "faster than the arithmetic" in H200.refusal(900, {"bytes_read": 0, "compute_ns": 1000})
    assert H200.refusal(990, {"bytes_read": 0, "compute_ns": 1000}) is None


def test_percents_of_peak_are_of_what_the_kernel_executes():
    """A convolution by Winograd's algorithm multiplies less than its FLOPs say: its roof is what `kernels` has as percent of peak; without one there is none."""
    row = {"kernel": "gemm", "op": "aten::convolution_backward", "start_ns": 0, "stream": 7, "device": 0, "time_ns": 14_880, "flops": 1.156e9, "bytes_read": 1000}
    call = {"kernel": "gemm", "op": "aten::convolution_backward"}

    def compute_ns(percent):
        unknown = dict.fromkeys(("bytes_written", "roof_ns", "expected_ns"))
        return trace_facts.Launches([{**unknown, **row, "pct_peak_flops": percent}], []).costs(call)["compute_ns"]

    executed = 36 * 2 * 256 * 256 * 80 / 66.9e12 * 1e9  # ns at peak; by the definition: 17280
    assert compute_ns(100 * executed / 14_880) == pytest.approx(executed)
    assert H200.refusal(14_900, {"bytes_read": 0, "compute_ns": executed}) is None
    assert H200.rates(14_900, {"flops": 1.156e9, "compute_ns": executed})["pct_peak_flops"] < 100
    assert compute_ns(None) is None


def test_warm_runs_above_memory_came_from_the_cache():
    costs = {"bytes_read": 24_000_000, "bytes_written": 24_000_000}
    assert H200.served_by(9_000, costs) == "L2"
    assert H200.served_by(11_000, costs) is None
    assert H200.served_by(11_000, {}) is None


def test_a_measured_row():
    row = measured()
    assert (row["cold_ns"], row["warm_ns"], row["low_ns"], row["high_ns"]) == (2000, 1500, 1990, 2010)
    assert row["pct_peak_bandwidth"] == pytest.approx(50)
    assert row["flops_per_s"] is None  # none, not 0
    assert row["occupancy_pct"] is None  # the profiler's 0 is "not known"
    assert row["throttled"] == "power cap" and row["clock_mhz"] == 1755
    assert row["slowdown"] == pytest.approx(0.9)
    assert row["warm_served_by"] is None


def test_a_refused_row_has_no_figures():
    row = measured(cold=900, warm=700)
    assert row["status"] == "refused" and "memory" in row["reason"]
    assert row.get("cold_ns") is None and row.get("bytes_per_s") is None and row.get("warm_ns") is None


def test_another_kernel_is_not_held_against_the_trace_s_bytes():
    assert measured(cold=900, warm=700, same=False)["status"] == "ok"


# Why slower.
def test_what_the_trace_shows_of_the_reason():
    row = {"trace_ns": 1800, "cold_ns": 2000, "warm_ns": 1500, "time_ns": 1}
    assert why_slower.reasons(row, 0.0, 1.0, 1980, True) == "caches: 60 % of the way from warm to cold"
    assert why_slower.reasons({**row, "trace_ns": 1000}, 0.0, 1.0, 1980, True) == "faster in the trace than alone"
    slow = {**row, "trace_ns": 3000}
    assert "neighbours: other streams worked during 40 %" in why_slower.reasons(slow, 40.0, 1.0, 1980, True)
    assert "clocks" in why_slower.reasons(slow, 0.0, 1.51, 1980, True) and "about 1311 MHz" in why_slower.reasons(slow, 0.0, 1.51, 1980, True)
    assert "the trace does not show why" in why_slower.reasons(slow, 0.0, 1.0, 1980, True)
    assert why_slower.reasons({"trace_ns": None, "cold_ns": 5, "warm_ns": 5}, None, None, None, True) is None


def test_the_usual_ratio_is_weighted_by_time():
    many = [{"trace_ns": 2, "cold_ns": 1, "time_ns": 1}] * 5 + [{"trace_ns": 1, "cold_ns": 1, "time_ns": 100}]
    assert why_slower.usual_ratio(many) == 1
    assert why_slower.usual_ratio([]) is None


def test_launches_of_a_call_and_what_ran_beside_them():
    def cost(start, stream, op="aten::add", **more):
        return {"kernel": "k", "op": op, "start_ns": start, "time_ns": 100, "stream": stream, "device": 0, "flops": 0, "bytes_read": 10, "bytes_written": None, "roof_ns": 1.5, "expected_ns": 90, **more}

    def work(start, dur, stream, name="k", grid="[4,1,1]"):
        return {"name": name, "start_ns": start, "dur_ns": dur, "device": 0, "stream": stream, "grid": grid, "block": "[128,1,1]"}

    costs = [cost(0, 7), cost(1000, 7), cost(2000, 7, op="aten::mul"), cost(3000, 7, bytes_read=99)]
    done = [work(0, 100, 7), work(1000, 100, 7), work(2000, 100, 7), work(3000, 100, 7, grid="[8,1,1]"), work(1050, 100, 20, "copy", None), work(990, 20, 20, "copy", None)]
    found = trace_facts.Launches(costs, done)
    call = {"kernel": "k", "op": "aten::add", "grid": (4, 1, 1), "block": [128, 1, 1]}
    assert [row["start_ns"] for row in found.of(call)] == [0, 1000]
    assert found.costs(call) == {"flops": 0, "bytes_read": 10, "bytes_written": None, "roof_ns": 1.5, "expected_ns": 90, "compute_ns": None}
    assert found.beside(call) == pytest.approx(100 * 60 / 200)  # 10 ns of one neighbour and 50 of another, of 200
    assert found.beside({"kernel": "unknown"}) is None


def test_products_of_two_sizes_with_one_grid_have_each_their_own_costs():
    row = {"kernel": "nvjet", "op": "aten::addmm", "time_ns": 100, "stream": 7, "device": 0, "bytes_read": 1, "bytes_written": 1, "roof_ns": 1, "expected_ns": 1}
    costs = [{**row, "start_ns": start, "flops": 600} for start in (0, 200)] + [{**row, "start_ns": 400, "flops": 100}]
    form = {"name": "nvjet", "dur_ns": 100, "device": 0, "stream": 7, "grid": "[2,66,1]", "block": "[384,1,1]"}
    done = [{**form, "start_ns": start, "input_dims": "[[8],[64,%d],[%d,8],[],[]]" % (size, size)} for start, size in ((0, 6), (200, 6), (400, 1))]
    found = trace_facts.Launches(costs, done)
    call = {"kernel": "nvjet", "op": "aten::addmm", "grid": [2, 66, 1], "block": [384, 1, 1]}
    assert found.costs({**call, "shapes": [[8], [64, 1], [1, 8]]})["flops"] == 100
    assert found.costs({**call, "shapes": [[8], [64, 6], [6, 8]]})["flops"] == 600
    assert found.costs(call)["flops"] == 600  # no shapes: the median
