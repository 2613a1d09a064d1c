"""diff and its gates."""

import json
import re

from checks import check, equal
from harness import refused, Run, succeeds


def step_trace(mm_us, relu_us=10, steps=3, compiled_break=False):
    """Steps of two ops with one kernel each; with a frame that is left and resumed, if asked for."""
    events = []

    def add(cat, name, ts, dur, pid=1, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": 7 if cat == "kernel" else 1, "ts": ts, "dur": dur, "args": args})

    for i in range(steps):
        start = 1000 * (i + 1)
        add("user_annotation", f"ProfilerStep#{i}", start, 900)
        for op, kernel, at, dur in (("aten::mm", "sm90_xmma_gemm_f32", 10, mm_us), ("aten::relu", "relu_kernel", 400, relu_us)):
            correlation = len(events)
            add("cpu_op", op, start + at, 20)
            add("cuda_runtime", "cudaLaunchKernel", start + at + 5, 5, correlation=correlation)
            add("kernel", kernel, start + at + 30, dur, pid=0, correlation=correlation, device=0, stream=7)
        if compiled_break:
            add("cpu_op", "TorchDynamo Cache Lookup", start + 600, 5)
            add("cpu_op", "Torch-Compiled Region: 0/0", start + 610, 100)
            add("cpu_op", "TorchDynamo Cache Lookup", start + 650, 5)
            add("cpu_op", "Torch-Compiled Region: 1/0", start + 660, 45)
    return json.dumps({"traceEvents": events})


def table_of(report, name):
    """Rows of one table of a JSON report, each by column."""
    table = next(table for table in report["tables"] if table["name"] == name)
    return [dict(zip([column["name"] for column in table["columns"]], row)) for row in table["rows"]]


def test_diff_of_two(folder):
    a, b = folder.write("a.json", step_trace(100)), folder.write("b.json", step_trace(150))
    report = json.loads(succeeds("diff", a, b, "--json").out)
    equal((report["command"], report["tables"][0]["name"]), ("diff", "diff"), "command and first table")
    equal([trace["name"] for trace in report["traces"]], ["a.json", "b.json"], "traces")
    rows = {row["group"]: row for row in table_of(report, "diff")}
    equal((rows["aten::mm"]["delta_ns"], rows["aten::mm"]["significant"]), (50_000, True), "mm by step")
    equal(rows["aten::relu"]["delta_ns"], 0, "JSON folds nothing that is unchanged")
    check("[1 unchanged]" in succeeds("diff", a, b).out, "the table for people folds what is unchanged")
    equal({row["delta_ns"] for row in table_of(json.loads(succeeds("diff", a, a, "--json").out), "diff")}, {0}, "a trace against itself")


def test_diff_of_three_has_a_column_each(folder):
    paths = [folder.write(f"{name}.json", step_trace(mm)) for name, mm in (("a", 100), ("b", 150), ("c", 80))]
    report = json.loads(succeeds("diff", *paths, "--json").out)
    mm = next(row for row in table_of(report, "diff") if row["group"] == "aten::mm")
    equal((mm["time_a_ns"], mm["time_b_ns"], mm["time_c_ns"]), (100_000, 150_000, 80_000), "times")
    equal((mm["delta_b_ns"], mm["delta_c_ns"]), (50_000, -20_000), "each against the first")
    run = Run("diff", *paths, "--fail-above", "5%").expect(3)
    equal(run.err.count("failed: "), 1, "only the second trace is slower")


def test_diff_of_a_stretch_of_time_is_called_that(folder):
    a, b = folder.write("a.json", step_trace(100)), folder.write("b.json", step_trace(2_000))  # whose first step ends at 2.04 ms
    for other, until, head, said in ((b, "0.5", "Between --from and --to (no whole iteration): ", [(0, "time_range"), (0, "time_range")]),
                                     (b, "0.95", "Per iteration (b: between --from and --to, no whole iteration): ", [(1, "profiler_step"), (0, "time_range")]),
                                     (a, "0.95", "Per iteration: ", [(1, "profiler_step"), (1, "profiler_step")])):
        words = ["diff", a, other, "--from", "0", "--to", until]
        traces = table_of(json.loads(succeeds(*words, "--json").out), "traces")
        equal([(trace["iterations"], trace["per"]) for trace in traces], said, until)
        check(succeeds(*words).out.startswith(head), succeeds(*words).out[:100])
    run = Run("diff", a, b, "--from", "0", "--to", "0.5", "--fail-above", "5%").expect(3)
    check("per iteration (" not in run.err, run.err)


def test_help_on_diff_says_what_its_times_choose(_):
    flags = [line for line in succeeds("help", "diff").out.splitlines() if line.split()[:1] in (["--from"], ["--to"])]
    equal(len(flags), 2, "one line each")
    for line in flags:
        check("whole iterations" in line, line)


def test_diff_gates_exit_with_3_and_name_the_row(folder):
    a, b = folder.write("a.json", step_trace(100)), folder.write("b.json", step_trace(150))
    for words, said in ((["--fail-above", "5%"], r"--fail-above: GPU time 110\.000 us -> 160\.000 us per iteration \(\+45\.5 %\)"),
                        (["--fail-kernel-above", "10%"], r"--fail-kernel-above: aten::mm 100\.000 us -> 150\.000 us per iteration \(\+50\.0 %\)"),
                        (["--fail-above=5%", "--significant"], "--fail-above: GPU time")):
        for form in ("table", "md", "json"):
            run = Run("diff", *words, "-f", form, a, b).expect(3)
            check(re.search(f"^failed: {said}", run.err, re.M), f"{words} {form}: {run.err!r}")
            check(run.out, "the report is printed although a gate failed")
    for words in (["--fail-above", "50%"], ["--fail-kernel-above", "60%"], ["--fail-kernel-above", "10%", "--min-ns", "60000"],
                  ["--max-new-breaks", "0"]):
        equal(succeeds("diff", *words, a, b).err.count("failed"), 0, " ".join(words))
    succeeds("diff", "--fail-above", "5%", "--fail-kernel-above", "5%", b, a)  # faster is no failure


def test_quiet_says_why_a_gate_failed(folder):
    a, b = folder.write("a.json", step_trace(100)), folder.write("b.json", step_trace(150))
    run = Run("diff", "-q", "--fail-above", "5%", a, b, "-o", folder.at("out.md")).expect(3)
    equal((run.out, run.err.count("\n")), ("", 1), "one line and no more")
    check(run.err.startswith("failed: --fail-above: GPU time"), run.err)


def test_diff_says_which_trace_lacks_a_device(folder):
    a, b = folder.write("a.json", step_trace(100)), folder.write("b.json", step_trace(100).replace('"device": 0', '"device": 1'))
    run = refused(2, "diff", a, b, "--gpu", "0", error="device 0")
    check("b.json" in run.err and "a.json" not in run.err, run.err)


def test_a_range_of_steps_is_written_from_first_to_last(folder):
    trace = folder.write("a.json", step_trace(100))
    refused(2, "gpu", trace, "--step", "1-", error="'1-'", hint="0 to 2")
    refused(2, "gpu", trace, "--step", "2-1", error="--step 2-1", hint="--step 1-2")
    refused(2, "gpu", trace, "--step", "2-9", error="'2-9'")
    succeeds("gpu", trace, "--step", "1-2")


def test_diff_gate_on_new_breaks(folder):
    a, b = folder.write("a.json", step_trace(100)), folder.write("b.json", step_trace(100, compiled_break=True))
    run = Run("diff", "--max-new-breaks", "0", a, b).expect(3)
    check(re.search(r"^failed: --max-new-breaks: 1 new graph break: .*1", run.err, re.M), run.err)
    succeeds("diff", "--max-new-breaks", "1", a, b)
    succeeds("diff", "--max-new-breaks", "0", b, b)


def test_diff_as_a_comment(folder):
    a, b = folder.write("a.json", step_trace(100)), folder.write("b.json", step_trace(150))
    out = succeeds("diff", "-f", "md", a, b).out
    check(out.startswith("Per iteration: GPU time 110.000 us -> 160.000 us (+45.5 %)"), out[:100])
    tables = re.findall(r"^\|.*\|\n\| ?-.*\|\n(?:\|.*\|\n?)*", out, re.M)
    check(len(tables) >= 4, f"{len(tables)} tables")
    for table in tables:
        cells = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        equal(len(cells), 1, f"columns of {table.splitlines()[0]}")


def test_diff_errors(folder):
    a = folder.write("a.json", step_trace(100))
    refused(2, "diff", a, error="diff .*2 traces", hint="ridge diff before")
    refused(1, "diff", a, folder.at("none.json"), error="none.json")
    refused(1, "diff", a, folder.write("bad.json", "{}"), error="traceEvents")
    refused(2, "diff", a, a, "--fail-above", "much", error="--fail-above", hint="5%")
    refused(2, "diff", a, a, "--fail-abov", "5%", error="--fail-abov", hint="--fail-above")


def test_a_truncated_trace_passes_no_gate(folder):
    whole = step_trace(mm_us=100)
    a = folder.write("a.json", whole)
    b = folder.write("b.json", whole[: len(whole) * 3 // 4])
    for gate in (["--fail-above", "5%"], ["--fail-kernel-above", "5%"]):
        run = Run("diff", a, b, *gate).expect(3)
        check("truncated: b (b.json)" in run.err, f"stderr {run.err!r}")
    succeeds("diff", a, b)
