"""A bench that is stopped, or whose worker dies, keeps what it has measured. The worker here is a Python without PyTorch that speaks as one with a GPU does."""

import gzip
import json
import os
import shlex
import signal
import subprocess
import sys
import time

import pytest

import ridge.bench
from ridge.bench import stopping
from test_bench_workers import SCRIPTS, as_in_a_terminal

START = os.path.join(os.path.dirname(ridge.bench.__file__), "start.py")
# Measures what comes first; what comes then lasts, or takes it down.
WORKER = '''import json, os, sys, time
answers = os.fdopen(int(sys.argv[3]), "w", buffering=1)
interval = {"ns": 2000, "low_ns": 1990, "high_ns": 2010, "samples": 20}
launch = {"name": "k", "grid": [1, 1, 1], "block": [128, 1, 1], "registers": 32, "shared_bytes": 0, "occupancy_pct": 50, "is_kernel": True, "cold": interval, "warm": interval}
measured = {"status": "ok", "index": 0, "launches": [launch], "same_kernel": True, "mhz": [1980], "throttled_by": [], "samples": 20}
scripts = 0
for line in sys.stdin:
    request = json.loads(line)
    told = {"status": "ok", "device": "NVIDIA H200", "torch": "2.11.0", "l2_bytes": 60000000}
    if request["do"] == "script":
        scripts += 1
        told = measured
        if scripts > %(runs)d:
            open(%(reached)r, "w").close()
            time.sleep(600)
    if request["do"] == "module":
        with open(%(trace)r, "rb") as profile, open(request["trace"], "wb") as file:
            file.write(profile.read())
        with open(request["so_far"], "w") as file:
            file.write(json.dumps({"runs": 2, "wall_ns": 10**9, "peak_memory_bytes": 4096}) + "\\n")
            file.write((json.dumps({"name": "triton_poi_fused_add_0", "call": {"op": "triton_poi_fused_add_0", "shapes": [[8]], "strides": [[1]], "dtypes": ["float"]}, "bytes": 4096, **measured}) + "\\n") * %(runs)d + "{\\"name\\": ")
        open(%(reached)r, "w").close()
        %(then)s
    answers.write(json.dumps({**told, "id": request["id"]}) + "\\n")
'''
MODULE = """
# kernel path: /tmp/ind/ab/cabc.py
triton_poi_fused_add_0 = async_compile.triton('triton_poi_fused_add_0', '''
import triton
''', device_str='cuda')
# kernel path: /tmp/ind/ab/cabd.py
triton_poi_fused_mul_1 = async_compile.triton('triton_poi_fused_mul_1', '''
import triton
''', device_str='cuda')

def call(args):
    return ()
"""


def program_at(path, code):
    """An executable that runs that code. An interpreter whose path has spaces cannot stand behind #!."""
    script = path.with_suffix(".py")
    script.write_text(code)
    path.write_text("#!/bin/sh\nexec %s %s \"$@\"\n" % (shlex.quote(sys.executable), shlex.quote(str(script))))
    path.chmod(0o755)
    return path


class Begun:
    """A bench in a process of its own, with a worker that measures `runs` kernels."""

    def __init__(self, tmp_path, path, binary, words, runs, what, then="time.sleep(600)"):
        self.reached = tmp_path / "reached"
        profile = tmp_path / "profile.json"
        profile.write_bytes(gzip.decompress(open(path, "rb").read()))
        worker = program_at(tmp_path / "python", WORKER % {"reached": str(self.reached), "trace": str(profile), "runs": runs, "then": then})
        asked = [sys.executable, START, "parent", "--ridge=" + binary, "--python=%s" % worker, "--show=--json", *words, "--", str(what)]
        self.process = subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=as_in_a_terminal)

    def stop(self, number):
        until = time.monotonic() + 60
        while not self.reached.exists() and self.process.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        self.process.send_signal(number)
        return self.end()

    def end(self):
        """(exit code, the answer or None)."""
        said, errors = self.process.communicate(timeout=60)
        assert "Traceback" not in errors, errors
        return self.process.returncode, json.loads(said) if said else None


def rows(told, name="bench"):
    (table,) = [each for each in told["tables"] if each["name"] == name]
    return [dict(zip([column["name"] for column in table["columns"]], row)) for row in table["rows"]]


def errors(told):
    return [each["message"] for each in told["diagnostics"] if each["severity"] == "error"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_ran_before_the_signal_is_kept_and_written(tmp_path, path, binary, number):
    table = tmp_path / "table.json"
    code, told = Begun(tmp_path, path, binary, ["--save=%s" % table], 1, SCRIPTS).stop(number)
    assert code == 128 + number
    assert [(row["status"], row["cold_ns"]) for row in rows(told)] == [("ok", 2000), ("skipped", None), ("cannot", None)]
    assert rows(told)[1]["reason"] == "interrupted" and errors(told) == ["interrupted: 2 of 3 calls were not run"]
    assert [each["cold_ns"] for each in json.loads(table.read_text())["kernels"]] == [2000]


def test_a_key_hit_twice_is_one_signal(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(stopping, "_first", None)
    monkeypatch.setattr(stopping.time, "monotonic", lambda: clock[0])
    with pytest.raises(stopping.Stopped):
        stopping._stop(signal.SIGINT, None)
    clock[0] += 0.9
    assert stopping._stop(signal.SIGINT, None) is None
    clock[0] += 0.2
    with pytest.raises(stopping.Stopped):
        stopping._stop(signal.SIGINT, None)


def test_where_nothing_had_run_there_is_no_answer(tmp_path, path, binary):
    table = tmp_path / "table.json"
    assert Begun(tmp_path, path, binary, ["--save=%s" % table], 0, SCRIPTS).stop(signal.SIGINT) == (130, None)
    assert not table.exists()


def test_peaks_are_not_measured_after_the_signal(tmp_path, path, binary):
    device = tmp_path / "device.json"
    code, told = Begun(tmp_path, path, binary, ["--save-device=%s" % device], 1, SCRIPTS).stop(signal.SIGINT)
    assert code == 130 and not device.exists()
    assert errors(told) == ["interrupted: 2 of 3 calls were not run", "no peaks were measured: %s is not written" % device]


def test_kernels_of_a_module_that_ran_before_the_signal(tmp_path, path, binary):
    module, table = tmp_path / "output_code.py", tmp_path / "table.json"
    module.write_text(MODULE)
    code, told = Begun(tmp_path, path, binary, ["--save=%s" % table], 1, module).stop(signal.SIGINT)
    assert code == 130 and errors(told) == ["interrupted: 1 of 2 kernels were timed"]
    assert [(row["kernel"], row["status"], row["cold_ns"]) for row in rows(told)] == [("triton_poi_fused_add_0", "ok", 2000), ("triton_poi_fused_mul_1", "skipped", None)]
    assert rows(told, "module")[0]["wall_ns"] == 10**9
    saved = json.loads(table.read_text())
    assert [(each["kernel"], each["op"], each["shapes"], each["cold_ns"]) for each in saved["kernels"]] == [("k", "triton_poi_fused_add_0", [[8]], 2000)] and saved["clock_mhz"] == 1980
    assert subprocess.run([binary, "kernels", path, "--table", str(table)], capture_output=True).returncode == 0, "one that ridge reads"


def test_kernels_of_a_module_that_ran_before_one_took_the_worker_down(tmp_path, path, binary):
    module = tmp_path / "output_code.py"
    module.write_text(MODULE)
    code, told = Begun(tmp_path, path, binary, [], 1, module, then="os.abort()").end()
    assert code == 1 and [row["status"] for row in rows(told)] == ["ok", "crashed"] and "SIGABRT" in rows(told)[1]["reason"]
    assert len(errors(told)) == 1 and errors(told)[0].startswith("the module ran, its kernels were not timed to the end: the worker was lost")


def test_only_the_kernels_of_a_module_that_are_asked_for(tmp_path, path, binary):
    module = tmp_path / "output_code.py"
    module.write_text(MODULE)
    code, told = Begun(tmp_path, path, binary, ["--kernel=mul_1"], 0, module, then="os.abort()").end()
    assert code == 1 and [row["kernel"] for row in rows(told)] == ["triton_poi_fused_mul_1"]
    none = Begun(tmp_path, path, binary, ["--kernel=\x1b[2Jno"], 0, module)
    said = none.process.communicate(timeout=60)[1]
    assert none.process.returncode == 2 and "no kernel of the module is called like '\ufffd[2Jno'" in said


def test_a_module_that_was_stopped_before_its_first_kernel(tmp_path, path, binary):
    module = tmp_path / "output_code.py"
    module.write_text(MODULE)
    assert Begun(tmp_path, path, binary, [], 0, module).stop(signal.SIGINT) == (130, None)


def test_a_bench_from_python_that_is_interrupted_may_write_what_it_has(tmp_path):
    """The signal comes to the process that called it alone, as from a debugger; the bench here takes longer than an instant to end."""
    fake, reached, written = tmp_path / "python", tmp_path / "reached", tmp_path / "written"
    waits = "import time\ntry:\n    open(%r, 'w').close()\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    time.sleep(1)\n    open(%r, 'w').close()\n"
    program_at(fake, waits % (str(reached), str(written)))
    code = "import sys, ridge._bench as b\nsys.executable = %r\ntry:\n    b.bench('t.json', {})\nexcept KeyboardInterrupt:\n    sys.exit(41)" % str(fake)
    called = subprocess.Popen([sys.executable, "-c", code], preexec_fn=as_in_a_terminal)
    until = time.monotonic() + 60
    while not reached.exists() and called.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    called.send_signal(signal.SIGINT)
    assert called.wait(30) == 41 and written.exists()
