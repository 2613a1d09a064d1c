"""Questions about a step, and the flags that narrow them: what is said of changes that cannot be made, and of flags that change nothing."""

import gzip
import json
import os
import random

from checks import check, equal
from harness import refused, succeeds

FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fixtures")
ITEM_SYNC = os.path.join(FIXTURES, "fault_item_sync.json.gz")


def rows_of(out, table=0):
    table = json.loads(out)["tables"][table]
    return [dict(zip((column["name"] for column in table["columns"]), row)) for row in table["rows"]]


def test_an_id_that_is_no_finding_names_those_of_the_trace(folder):
    ids = [row["id"] for row in rows_of(succeeds("findings", ITEM_SYNC, "--json").out)]
    check("host_sync" in ids, ids)
    refused(2, "whatif", ITEM_SYNC, "--do", "finding:nope", error="unknown finding 'nope'", hint="findings of this trace: " + ", ".join(ids))
    refused(2, "whatif", ITEM_SYNC, "--do", "finding:host_snyc", error="host_snyc", hint="did you mean host_sync")
    refused(2, "whatif", folder.trace, "--do", "finding:nope", error="nope", hint="this trace has no findings")
    absent = rows_of(succeeds("whatif", ITEM_SYNC, "--do", "finding:tf32_off", "--json").out)[-1]
    equal(absent["saves_ns"], None, "a finding that this trace does not have")
    check("host_sync" in absent["basis"], absent["basis"])


def test_a_filter_chooses_what_whatif_and_critical_list(folder):
    all_scenarios = rows_of(succeeds("whatif", ITEM_SYNC, "--do", "host=0.5x", "--json").out)
    narrow = succeeds("whatif", ITEM_SYNC, "--do", "host=0.5x", "--filter", "^host", "--json")
    equal(rows_of(narrow.out), [row for row in all_scenarios if row["scenario"].startswith("host")], "scenarios, with the figures that they have")
    whole = json.loads(succeeds("critical", ITEM_SYNC, "--json").out)["tables"][0]
    part = json.loads(succeeds("critical", ITEM_SYNC, "--filter", "cudaMemcpy", "--json").out)["tables"][0]
    wanted = [row for row in whole["rows"] if "cudaMemcpy" in row[1]]
    equal(part["rows"], wanted, "pieces of that name; percentages of the whole step")
    check(0 < len(wanted) < len(whole["rows"]), wanted)
    equal(part["total"][3], sum(row[3] for row in wanted), "their total")
    for command in ("whatif", "critical"):
        check("no name matches --filter zzz" in succeeds(command, ITEM_SYNC, "--filter", "zzz").err, command)


def test_flags_that_change_nothing_are_refused(folder):
    for command, flag in (("ops", "--device"), ("ops", "--tf32"), ("ops", "--table"), ("critical", "--device"), ("critical", "--clock-mhz"),
                          ("replay", "--dtype"), ("autotune", "--dtype"), ("roofline", "--table"), ("check", "--expected-file"), ("diff", "--table")):
        refused(2, command, ITEM_SYNC, *([ITEM_SYNC] if command == "diff" else []), flag, *([] if flag == "--tf32" else ["1"]), error="unknown flag " + flag)
    refused(2, "devices", "--tf32", error="unknown flag --tf32")


def in_turns(steps=4, kernels=10, kernel_us=100, pause_us=5, runtime="cuda_runtime", call="cudaLaunchKernel", work="kernel"):
    """Steps of kernels that two streams run in turns, each launched when the one before it is done: the device is busy 95 % of the time, and each stream half of it."""
    events, at, number = [], 1000.0, 0
    for step in range(steps):
        begin = at
        for k in range(kernels):
            number += 1
            common = {"ph": "X", "pid": 0, "args": {"correlation": number}}
            events.append({**common, "cat": runtime, "name": call, "tid": 1, "ts": at + 1, "dur": 2})
            events.append({**common, "cat": work, "name": f"kernel_{k % 2}", "tid": 7 + k % 2, "ts": at + pause_us, "dur": kernel_us,
                           "args": {"correlation": number, "device": 0, "stream": 7 + k % 2}})
            at += pause_us + kernel_us
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 0, "tid": 1, "ts": begin, "dur": at - begin})
    return json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H200"}], "traceEvents": events})


def test_no_change_of_the_host_saves_more_than_the_device_waits(folder):
    trace = folder.write("turns.json", in_turns())
    rows = {row["scenario"]: row for row in rows_of(succeeds("whatif", trace, "--do", "cuda-graphs", "--do", "host=0x", "--do", "kernel:kernel_1=0.5x", "--json").out)}
    for name in ("cuda-graphs", "host=0x"):
        row = rows[name]
        check(row["saves_ns"] <= 10 * 5_000 and row["step_ns"] >= 10 * 100_000, row)
        check(row["high_pct"] < 20, row)
    halved = rows["kernel:kernel_1=0.5x"]
    check(halved["step_ns"] >= 5 * 100_000 + 5 * 50_000, halved)


def test_a_runtime_without_cuda_graphs_is_promised_none(folder):
    trace = folder.write("mtia.json", in_turns(runtime="mtia_runtime", call="runFunction", work="mtia_ccp_events"))
    rows = rows_of(succeeds("whatif", trace, "--do", "cuda-graphs", "--do", "host=0x", "--json").out)
    graphs = next(row for row in rows if row["scenario"] == "cuda-graphs")
    equal(graphs["saves_ns"], None, "not told")
    check("CUDA or HIP" in graphs["basis"], graphs)
    host = next(row for row in rows if row["scenario"] == "host=0x")
    check(host["saves_ns"] <= 10 * 5_000, host)


def test_an_interval_leaves_what_the_device_needs(folder):
    for name in ("fault_tiny_kernels", "fault_optimizer_loop", "clean_no_sync", "fault_unfused_pointwise", "resnet18_compiled_stack_mem"):
        trace = os.path.join(FIXTURES, name + ".json.gz")
        rows = rows_of(succeeds("whatif", trace, "--do", "cuda-graphs", "--json").out)
        for row in rows:
            check(row["high_pct"] is None or row["high_pct"] < 100, (name, row))
        summary = rows_of(succeeds("summary", trace, "--json").out)[0]
        without = next(row for row in rows if row["scenario"] == "without_profiler")["step_ns"]
        longest = 1.6 * without  # what is known of the step without the profiler is wide, and no wider
        check((100 - rows[-1]["high_pct"]) / 100 * longest >= 0.9 * summary["gpu_busy_per_iteration_ns"], (name, rows[-1], summary["gpu_busy_per_iteration_ns"]))


def test_an_interval_around_what_a_change_costs_has_two_sides(folder):
    trace = os.path.join(FIXTURES, "pair_sync_mask_fault.json.gz")
    for row in rows_of(succeeds("whatif", trace, "--do", "batch=2x", "--do", "device=H20", "--json").out)[-3:-1]:
        check(row["low_pct"] < row["saves_pct"] < row["high_pct"] and row["saves_pct"] < 0, row)


def findings_of(path):
    return rows_of(succeeds("findings", path, "--json").out)


def test_equal_ranks_have_the_findings_of_one(folder):
    """Counts, times and savings are a rank's, whatever number of ranks goes through each iteration."""
    for name in ("fault_optimizer_loop", "fault_tiny_kernels", "fault_uncached_allocator", "fault_recompile_limit", "fault_casts",
                 "fault_cast_loop_train", "pair_sync_mask_fault", "pair_weights_fault", "pair_strided_softmax_fault"):
        alone = os.path.join(FIXTURES, name + ".json.gz")
        four = folder.at(name + ".json")
        succeeds("combine", *[alone] * 4, four)
        one, together = ({row["id"]: row for row in findings_of(path)} for path in (alone, four))
        check(one, name)
        equal(*({id: (row["finding"], row["do"], row["evidence"]) for id, row in told.items()} for told in (together, one)), name)
        for id, row in one.items():
            check(abs((row["saves_pct"] or 0) - (together[id]["saves_pct"] or 0)) < 2.5, (name, id, row["saves_pct"], together[id]["saves_pct"]))


def test_a_step_of_few_kernels_is_no_step_of_one(folder):
    """Three eager kernels a step; four such ranks have one file."""
    events = []
    for step in range(5):
        begin = 1000 * step
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": begin, "dur": 999})
        for kernel in range(3):
            at, args = begin + 300 * kernel + 50, {"correlation": 3 * step + kernel + 1}
            events.append({"ph": "X", "cat": "cpu_op", "name": "aten::mul", "pid": 1, "tid": 1, "ts": at, "dur": 250})
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": at + 230, "dur": 5, "args": args})
            events.append({"ph": "X", "cat": "kernel", "name": f"k{kernel}", "pid": 0, "tid": 7, "ts": at + 240, "dur": 5, "args": {**args, "device": 0, "stream": 7}})
    alone, four = folder.write("alone.json", json.dumps({"traceEvents": events})), folder.at("four.json")
    succeeds("combine", *[alone] * 4, four)
    advice = [[row["do"] for row in findings_of(path) if row["id"] == "launch_bound"] for path in (alone, four)]
    check(advice[0] and "a step of one kernel" not in advice[0][0], advice)
    equal(advice[1], advice[0], "four ranks")


def test_a_rank_that_casts_is_told_beside_one_that_does_not(folder):
    """Without shapes, by which kernel runs behind which."""
    ranks = []
    for name in ("fault", "mended"):
        with gzip.open(os.path.join(FIXTURES, f"pair_casts_{name}.json.gz")) as file:
            whole = json.load(file)
        for event in whole["traceEvents"]:
            for key in ("Input Dims", "Input type", "Input Strides", "Concrete Inputs"):
                event.get("args", {}).pop(key, None)
        ranks.append(folder.write(f"{name}.json", json.dumps(whole)))
    both = folder.at("both.json")
    succeeds("combine", *ranks, both)
    for path in (ranks[0], both):
        check("repeated_casts" in [row["id"] for row in findings_of(path)], path)


def test_what_goes_costs_nothing_whatever_the_rest_takes(folder):
    with gzip.open(os.path.join(FIXTURES, "pair_breaks_fault.json.gz")) as file:
        whole = json.load(file)
    for seed, share in ((5, 0.01), (6, 0.01), (7, 0.01), (0, 0.02)):  # graph_breaks was told to cost 300 us, and more; sums wrapped around
        draw = random.Random(seed)
        damaged = [{**event, "dur": 1e15} if event.get("ph") == "X" and draw.random() < share else event for event in whole["traceEvents"]]
        rows = findings_of(folder.write(f"{seed}.json", json.dumps({**whole, "traceEvents": damaged})))
        check(any(row["id"] == "graph_breaks" for row in rows), seed)
        for row in rows:
            check((row["saves_ns"] or 0) >= 0 and (row["low_pct"] or 0) >= 0, row)


def test_a_step_alone_is_no_longer_than_it_was_recorded(folder):
    """A rank whose gloo threads wait for others: they wait no second time behind the first (129 ms of 83 were told)."""
    rank = os.path.join(FIXTURES, "gloo_threads_rank2.json.gz")
    for step in ("2", "3", "2-3"):
        rows = {row["scenario"]: row["step_ns"] for row in rows_of(succeeds("whatif", rank, "--step", step, "--json").out)}
        check(0.5 * rows["recorded"] < rows["without_profiler"] < 1.03 * rows["recorded"], rows)
