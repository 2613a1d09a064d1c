"""The parent's side of `ridge bench`: statistics, records, roof, reasons, files. Nothing here needs PyTorch or a GPU."""

import json
import os

import pytest

from ridge.bench import answer, cache_files, chosen_config, module_source, options, records, roof, rows, samples, script, scripts, table_file, trace_facts, why_slower
from ridge.bench.ridge_command import Failed

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = os.path.join(HERE, "bench_scripts")


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


# The roof. 4.8 TB/s: 48 MB take 10 us.
H200 = roof.Roof(4.8e12, 60e6)


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


def test_a_convolution_by_winograd_is_not_held_against_its_definition(tmp_path, monkeypatch):
    """Its product multiplies less than is counted: the measurement stands, without a share of the peak."""
    from ridge.bench import parent

    def row_of(beside):
        call = {"kernel": "gemm", "op": "aten::convolution_backward", "grid": [1, 1, 1], "block": [128, 1, 1], "launches": [{"name": beside}, {"name": "gemm"}]}
        path = tmp_path / "s.py"
        path.write_text("CALL = %r" % call)
        told = {"status": "ok", "index": 0, "same_kernel": True, "samples": 20}
        each = {"ns": 14_900, "low_ns": 14_800, "high_ns": 15_000, "samples": 20}
        told["launches"] = [{"name": "gemm", "grid": None, "block": None, "registers": 8, "shared_bytes": 0, "occupancy_pct": 0, "is_kernel": True, "cold": each, "warm": each}]
        asked = type("Asked", (), {"on": "cuda", "deadline": 1, "seconds": 1, "within": 1, "seed": 0, "configs": False})
        bench = type("Bench", (), {"asked": asked, "has_gpu": True, "other_device": False, "modules": {}, "over": staticmethod(lambda: False)})
        bench.workers = type("Workers", (), {"ask": staticmethod(lambda *words, **more: told)})
        monkeypatch.setattr(parent, "_costs", lambda *words: {"flops": 1.156e9, "compute_ns": 17_280, "bytes_read": 1000})
        return parent._row(bench, {"script": "s.py", "path": str(path), "status": "ok"}, None, H200)

    assert row_of("transpose")["status"] == "refused"
    row = row_of("winogradWgradData4x4")
    assert row["status"] == "ok" and row["cold_ns"] == 14_900 and row["pct_peak_flops"] is None and row["flops_per_s"] is None


def test_warm_runs_above_memory_came_from_the_cache():
    costs = {"bytes_read": 24_000_000, "bytes_written": 24_000_000}
    assert H200.served_by(9_000, costs) == "L2"
    assert H200.served_by(11_000, costs) is None
    assert H200.served_by(11_000, {}) is None


def measured(cold=2000, warm=1500, trace_ns=1800, costs=None, same=True):
    launch = {"name": "k", "grid": [1, 1, 1], "block": [128, 1, 1], "registers": 32, "shared_bytes": 0, "occupancy_pct": 0, "is_kernel": True}
    launch["cold"] = {"ns": cold, "low_ns": cold - 10, "high_ns": cold + 10, "samples": 20}
    launch["warm"] = {"ns": warm, "low_ns": warm, "high_ns": warm, "samples": 20}
    told = {"status": "ok", "index": 0, "launches": [launch], "same_kernel": same, "mhz": [1980, 1755], "throttled_by": ["power cap"], "samples": 20}
    row = rows.begun({"script": "s.py", "count": 3, "time_ns": 5400}, {"kernel": "k", "op": "aten::add", "trace_ns": trace_ns})
    return rows.measured(row, told, costs or {"bytes_read": 4_800_000, "bytes_written": 0, "flops": 0}, H200)


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


# Configurations.
def test_the_best_configuration_and_that_of_the_trace():
    row = {"kernel": "k", "config": "what ran"}
    chosen_config.add(row, [{"config": "a", "cold_ns": 10, "in_trace": True, "best": False}, {"config": "b", "cold_ns": 8, "in_trace": False, "best": True}], {})
    assert (row["config"], row["trace_config_ns"], row["best_config"], row["best_ns"]) == ("a", 10, "b", 8)


def test_savings_are_asked_of_whatif_with_the_name_as_text():
    asked = []

    class Ridge:
        def tables(self, *words):
            asked.extend(words)
            return {"whatif": [{"scenario": "recorded"}, {"scenario": "x", "step_ns": 9, "saves_ns": 1, "saves_pct": 10.0, "basis": "replay"}]}

    better = {"kernel": "k<a*>(b)", "cold_ns": 10, "best_ns": 8, "best_config": "b"}
    found = chosen_config.savings(Ridge(), "t.json", [], [better, {"kernel": "same", "cold_ns": 10, "best_ns": 10, "best_config": "a"}])
    assert asked[-1] == "kernel:^k<a\\*>\\(b\\)$=0.8000x"
    assert [(each["kernel"], each["saves_ns"]) for each in found] == [("k<a*>(b)", 1)]


def test_savings_of_several_end_with_all_of_them():
    class Ridge:
        def tables(self, *words):
            return {"whatif": [{"scenario": name, "saves_ns": i} for i, name in enumerate(("recorded", "a", "b", "together"))]}

    better = [{"kernel": name, "cold_ns": 10, "best_ns": 8, "best_config": "x"} for name in "ab"]
    found = chosen_config.savings(Ridge(), "t.json", [], better)
    assert [(each["kernel"], each["saves_ns"]) for each in found] == [("a", 1), ("b", 2), ("all of these", 3)]


def test_configurations_are_marked_by_grid_outputs_and_time():
    from ridge.bench import configs

    one = {"status": "ok", "same_outputs": True, "grid": [4, 1, 1], "block": [128, 1, 1]}
    rows_ = [
        {**one, "config": "a", "cold_ns": 10},
        {**one, "config": "b", "cold_ns": 8, "grid": [8, 1, 1]},
        {**one, "config": "wrong", "cold_ns": 1, "same_outputs": False},
        {"config": "c", "status": "failed: OutOfResources"},
    ]
    configs.mark(rows_, {"grid": (4, 1, 1), "block": (128, 1, 1)})
    assert [(row["config"], row["in_trace"], row["best"]) for row in rows_] == [("a", True, False), ("b", False, True), ("wrong", True, False), ("c", None, False)]
    # Where it is known what the kernel was compiled with, that decides: several configurations have the same grid and block.
    for row, size in zip(rows_, (1024, 512, 2048)):
        row["chosen"] = {"XBLOCK": size, "num_warps": 4}
    configs.mark(rows_[:3], {"grid": (4, 1, 1), "block": (128, 1, 1)}, {"XBLOCK": 512, "num_warps": 4})
    assert [row["in_trace"] for row in rows_[:3]] == [False, True, False]


def test_settings_are_tried_only_where_they_can_matter():
    from ridge.bench import settings

    assert [words for words, _ in settings.for_op("aten::cudnn_convolution")][0] == "cudnn.benchmark"
    assert "tf32" in [words for words, _ in settings.for_op("aten::addmm")]
    assert settings.for_op("aten::gelu") == [] and settings.for_op(None) == []


# Files.
def test_the_saved_table(tmp_path):
    row = measured()
    row["call"].update(shapes=[[4], [4]], strides=[[1], [1]], dtypes=["float", "float"])
    told = table_file.document([row, {"status": "failed", "call": {}}], {"device": "NVIDIA H200", "torch": "2.11.0"}, 1755)
    path = tmp_path / "table.json"
    table_file.write(str(path), told)
    read = json.loads(path.read_text())
    assert read["ridge_table"] == 1 and read["device"] == "NVIDIA H200" and read["clock_mhz"] == 1755
    assert read["kernels"] == [
        {
            "op": "aten::add",
            "shapes": [[4], [4]],
            "strides": [[1], [1]],
            "dtypes": ["float", "float"],
            "args": None,
            "kernel": "k",
            "grid": [1, 1, 1],
            "block": [128, 1, 1],
            "cold_ns": 2000,
            "warm_ns": 1500,
            "low_ns": 1990,
            "high_ns": 2010,
        }
    ]
    assert os.listdir(tmp_path) == ["table.json"]


def test_scripts_of_a_folder():
    items = scripts.of_folder(SCRIPTS)
    assert [item["status"] for item in items] == ["ok", "ok", "cannot"]
    assert scripts.chosen(items, "nvjet", None) == [items[0]]
    assert scripts.kind_of(SCRIPTS) == "scripts"
    assert scripts.kind_of(os.path.join(SCRIPTS, "sum.py")) == "script"


def test_a_folder_of_scripts_without_an_index(tmp_path):
    (tmp_path / "a.py").write_text("CALL = {'kernel': 'k'}\n")
    (tmp_path / "other.py").write_text("raise SystemExit(7)\n")
    (tmp_path / "broken.py").write_text("CALL = {")
    assert scripts.kind_of(str(tmp_path)) == "scripts"
    assert [item["script"] for item in scripts.of_folder(str(tmp_path))] == ["a.py"]
    (tmp_path / "a.py").unlink()
    assert scripts.kind_of(str(tmp_path)) == "trace"


def test_a_table_without_times_does_not_take_the_place_of_a_good_one(tmp_path):
    from ridge.bench import parent

    path = tmp_path / "table.json"
    path.write_text("good")
    bench = type("Bench", (), {"asked": type("Asked", (), {"save": str(path)}), "failed": []})
    parent._save(bench, table_file.document([{"status": "skipped", "call": {}}], {}, None))
    assert path.read_text() == "good" and "not written" in bench.failed[0]
    parent._save(bench, table_file.document([measured()], {}, None))
    assert json.loads(path.read_text())["kernels"] and len(bench.failed) == 1


def test_a_file_that_cannot_be_written_is_said():
    with pytest.raises(Failed, match="cannot be written.*\n.*/proc/x"):
        table_file.write("/proc/x", {})


@pytest.mark.parametrize("name", ["../outside.py", "/etc/passwd", "", None, 7, "absent.py", "sub/inside.py"])
def test_an_index_names_only_scripts_of_its_folder(tmp_path, name):
    (tmp_path / "index.json").write_text(json.dumps([{"script": name, "kernel": "k", "status": "ok"}]))
    (item,) = scripts.of_folder(str(tmp_path))
    assert item["status"] == "cannot" and "path" not in item


@pytest.mark.parametrize("text", ["", "{}", "[1]", "[", '{"a": ['])
def test_a_damaged_index_is_said(tmp_path, text):
    (tmp_path / "index.json").write_text(text)
    with pytest.raises(Failed, match="index of scripts"):
        scripts.of_folder(str(tmp_path))


@pytest.mark.parametrize("text", ["CALL = open('/etc/passwd').read()", "CALL = [1]", "x = 1", "CALL = {", "CALL = " + "(" * 5000])
def test_a_script_s_call_is_a_literal_and_is_not_run(tmp_path, text):
    path = tmp_path / "s.py"
    path.write_text(text)
    with pytest.raises(script.NotAScript):
        script.call_of(str(path))


def test_hostile_names_stay_text():
    name = 'a"b\nc\x1b[31m\u2028\ud800'
    table = answer.table("bench", answer.BENCH, [{"kernel": name, "status": "ok", "cold_ns": 1.6}])
    assert table["rows"][0][0] == name
    assert table["rows"][0][5] == 2


def test_options_carry_the_words_of_other_commands():
    asked = options.parse(["--ridge=python", "--ridge=-m", "--ridge=ridge", "--show=--limit", "--show=3", "--kernel=--top", "--", "t.json"])
    assert asked.ridge == ["python", "-m", "ridge"] and asked.show == ["--limit", "3"] and asked.kernel == "--top" and asked.words == ["t.json"]


# Compiled modules.
MODULE = '''
# kernel path: /tmp/ind/ab/cabc.py
# Graph fragment:
#   %arg0_1 : Tensor "f32[8, 4][4, 1]cuda:0" = PlaceHolder[target=arg0_1]
#   %arg1_1 : Tensor "i64[8][1]cuda:0" = PlaceHolder[target=arg1_1]
triton_poi_fused_add_0 = async_compile.triton('triton_poi_fused_add_0', \'\'\'
import triton
\'\'\', device_str='cuda')

unnamed = async_compile.triton(name_of_it, source_of_it)
other = something.cuda('a', 'b')

class Runner:
    def call(self, args):
        arg0_1, arg1_1 = args
        args.clear()
        assert_size_stride(arg0_1, (8, 4), (4, 1))
        assert_size_stride(arg1_1, (8, ), (1, ))
'''


def test_kernels_of_a_module_have_names_and_files():
    (kernel,) = module_source.kernels(MODULE)
    assert (kernel.name, kernel.path, kernel.source) == ("triton_poi_fused_add_0", "/tmp/ind/ab/cabc.py", "\nimport triton\n")
    assert module_source.is_module(MODULE)


def test_inputs_of_a_module_without_its_own():
    assert module_source.inputs(MODULE) == [("arg0_1", (8, 4), (4, 1), "float32"), ("arg1_1", (8,), (1,), "int64")]
    with pytest.raises(module_source.NotAModule, match="arg1_1"):
        module_source.inputs(MODULE.replace("%arg1_1", "%other"))
    with pytest.raises(module_source.NotAModule, match="no call"):
        module_source.inputs("x = 1")


def test_the_wall_time_of_a_module_waits_for_each_run_until_it_settles(monkeypatch):
    """As the module's own -p: one wait a run. The first rounds of a process are slow and are not what is told."""
    from ridge.bench import module_run

    clock, waits, runs = [0], [], []
    cost = iter([900] * 100 + [500] * 100 + [400] * 100 + [399] * 100)

    def once():
        clock[0] += next(cost)
        runs.append(clock[0])
        return "made"

    torch = type("torch", (), {"cuda": type("cuda", (), {"synchronize": staticmethod(lambda: waits.append(1))})})
    monkeypatch.setattr(module_run.time, "perf_counter_ns", lambda: clock[0])
    assert module_run._wall_ns(torch, once) == 399
    assert len(runs) == 400 and len(waits) == 440  # each run, and each begin of ten


def test_modules_of_a_cache_are_told_and_not_run(tmp_path):
    (tmp_path / "ab").mkdir()
    (tmp_path / "ab" / "cmod.py").write_text("raise SystemExit('run')\n" + MODULE)
    (tmp_path / "ab" / "cother.py").write_text("x = 1")
    (tmp_path / "ab" / "link.py").symlink_to(tmp_path / "nowhere")
    assert cache_files.modules_by_kernel(str(tmp_path)) == {"triton_poi_fused_add_0": str(tmp_path / "ab" / "cmod.py")}


@pytest.mark.parametrize("text", ["def f(:", "\0", "print('hello')"])
def test_what_is_no_module(text):
    try:
        assert not module_source.is_module(text)
    except module_source.NotAModule:
        pass


# From Python.
def test_a_trace_s_bench_is_a_report(path, monkeypatch, tmp_path):
    """The command is a stand-in that answers as the real one does: what it was asked, and what becomes of its answer, is looked at."""
    import subprocess
    import sys

    import ridge

    told = answer.document([answer.table("bench", answer.BENCH, [{"kernel": "k", "status": "ok", "cold_ns": 5}])])
    asked = []

    def run(words, **more):
        asked.append(words)
        return subprocess.CompletedProcess(words, 0, json.dumps(told).encode(), b"")

    trace = ridge.open(path)
    monkeypatch.setattr(subprocess, "run", run)
    report = trace.bench(top=5, configs=True, inductor_cache=None)
    assert asked == [[sys.executable, "-m", "ridge", "bench", "--json", "--quiet", "--top=5", "--configs", "--", trace.paths[0]]]
    assert report.command == "bench" and report[0]["cold_ns"] == 5 and report[0]["warm_ns"] is None


def test_what_the_bench_refuses_is_an_error(path, tmp_path):
    import ridge

    with pytest.raises(ridge.UsageError, match="--seconds"):
        ridge.open(path).bench(seconds=0)
    with pytest.raises(ridge.UsageError, match="whole trace"):
        ridge.open(path).step(0).bench()
    with pytest.raises(ridge.Error, match="cannot run"):
        ridge.open(path).bench(python=str(tmp_path / "nowhere"))
