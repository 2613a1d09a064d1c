"""Files that `ridge bench` reads and writes, its options, and the call from Python. Nothing here needs PyTorch or a GPU."""

import json
import os

import pytest

from measured_rows import measured
from ridge.bench import answer, options, script, scripts, table_file
from ridge.bench.ridge_command import Failed

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = os.path.join(HERE, "bench_scripts")


# Files.
def test_the_saved_table(tmp_path):
    row = measured()
    row["call"].update(shapes=[[4], [4]], strides=[[1], [1]], dtypes=["float", "float"])
    cold_alone = {key: value for key, value in measured().items() if key != "warm_ns"}  # its second run had fewer launches
    told = table_file.document([row, cold_alone, {"status": "failed", "call": {}}], {"device": "NVIDIA H200", "torch": "2.11.0"}, 1755)
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
    bench = parent.Bench(options.parse(["--ridge=ridge", "--save=%s" % path]), str(tmp_path))
    assert bench.save([{"status": "skipped", "call": {}}]) is None
    assert path.read_text() == "good" and "not written" in bench.failed[0]
    assert bench.save([measured()]) == 1755
    assert json.loads(path.read_text())["kernels"] and len(bench.failed) == 1


def test_what_the_compiler_tried_is_not_run():
    from ridge.bench import parent

    bench = type("Bench", (), {"diagnostics": []})
    own, tried = {"kernel": "a", "by_compiler": False}, {"kernel": "b", "by_compiler": True}
    assert parent._of_the_program(bench, [own, tried]) == [own]
    assert "1 calls are what the compiler tried out" in bench.diagnostics[0]["message"]
    assert parent._of_the_program(bench, [tried]) == [tried] and len(bench.diagnostics) == 1  # nothing else is there
    assert parent._of_the_program(bench, [{"kernel": "c"}]) == [{"kernel": "c"}]  # an index of an earlier version


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


# From Python.
def test_a_trace_s_bench_is_a_report(path, monkeypatch, tmp_path):
    """The command is a stand-in that answers as the real one does: what it was asked, and what becomes of its answer, is looked at."""
    import subprocess
    import sys

    import ridge
    from ridge import _bench

    told = answer.document([answer.table("bench", answer.BENCH, [{"kernel": "k", "status": "ok", "cold_ns": 5}])])
    asked = []

    def run(words):
        asked.append(words)
        return subprocess.CompletedProcess(words, 0, json.dumps(told).encode(), b"")

    trace = ridge.open(path)
    monkeypatch.setattr(_bench, "_run", run)
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
