"""Configurations of `ridge bench`: the best, the one of the trace, what a step would save. Nothing here needs PyTorch or a GPU."""

from ridge.bench import chosen_config


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

    better = {"kernel": "k<a*>(b)\0", "cold_ns": 10, "best_ns": 8, "best_config": "b"}
    found = chosen_config.savings(Ridge(), "t.json", [], [better, {"kernel": "same", "cold_ns": 10, "best_ns": 10, "best_config": "a"}], {})
    assert asked[-1] == "kernel:^k<a\\*>\\(b\\)\\x00$=0.800000x"
    assert [(each["kernel"], each["saves_ns"]) for each in found] == [("k<a*>(b)\0", 1)]


def test_savings_of_several_end_with_all_of_them():
    class Ridge:
        def tables(self, *words):
            return {"whatif": [{"scenario": name, "saves_ns": i} for i, name in enumerate(("recorded", "a", "b", "together"))]}

    better = [{"kernel": name, "cold_ns": 10, "best_ns": 8, "best_config": "x"} for name in "ab"]
    found = chosen_config.savings(Ridge(), "t.json", [], better, {})
    assert [(each["kernel"], each["saves_ns"]) for each in found] == [("a", 1), ("b", 2), ("all of these", 3)]


def test_savings_of_a_call_leave_the_other_calls_of_its_kernel_alone():
    asked = []

    class Ridge:
        def tables(self, *words):
            asked.append([word.partition("=")[2] for word in words if word.startswith("kernel:")])
            return {"whatif": [{"scenario": word, "basis": "replay"} for word in words] + [{"scenario": "together", "basis": "replay", "saves_ns": len(asked)}]}

    # Two calls of one kernel, a quarter and half of its time: of all launches the first takes 5 %, the second 25 % off, both 30 %.
    took = [{"kernel": "gemm", "time_ns": ns} for ns in (100, 200, 100)]
    times = chosen_config.kernel_times([*took, {"kernel": "gemm", "time_ns": 9000, "by_compiler": True}])
    rows_ = [
        {"kernel": "gemm", "time_ns": 100, "cold_ns": 10, "best_ns": 8, "best_config": "x"},
        {"kernel": "gemm", "time_ns": 200, "cold_ns": 10, "best_ns": 5, "best_config": "y"},
        {"kernel": "gemm", "time_ns": 9000, "cold_ns": 10, "best_ns": 1, "best_config": "tried", "by_compiler": True},
    ]
    found = chosen_config.savings(Ridge(), "t.json", [], rows_, times)
    assert asked == [["0.950000x", "0.750000x"], ["0.700000x"]]
    assert [(each["best_config"], each["factor"]) for each in found] == [("x", 0.8), ("y", 0.5), (None, None)]
    assert "25 %" in found[0]["basis"] and found[2]["saves_ns"] == 2


def test_a_saving_that_cannot_be_asked_leaves_what_was_measured():
    from types import SimpleNamespace

    from ridge.bench import parent
    from ridge.bench.ridge_command import Failed

    for error in (Failed("error: no such thing\n  hint: none", 2), OSError(7, "Argument list too long")):

        def fails(*words, error=error):
            raise error

        bench = SimpleNamespace(ridge=SimpleNamespace(tables=fails), asked=SimpleNamespace(flag=[]), kernel_times={}, diagnostics=[])
        rows_ = [{"kernel": "k", "cold_ns": 10, "best_ns": 5, "best_config": "x"}]
        assert list(parent._savings(bench, "t.json", rows_)) == []
        assert [each["code"] for each in bench.diagnostics] == ["no_savings"]
        assert "hint" not in bench.diagnostics[0]["message"]


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
