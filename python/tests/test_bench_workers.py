"""A worker that answers, dies, hangs or talks nonsense: the parent goes on with the next. The workers here are Python without PyTorch."""

import os
import signal
import subprocess
import sys
import time

import pytest

from ridge.bench import workers

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bench_scripts")
WORKER = '''
import json, os, signal, subprocess, sys, time
answers = os.fdopen(int(sys.argv[1]), "w", buffering=1)
for line in sys.stdin:
    request = json.loads(line)
    do = request["do"]
    if do == "exit": print("last words", flush=True); os._exit(7)
    if do == "abort": os.kill(os.getpid(), signal.SIGSEGV)
    if do == "hang": time.sleep(600)
    if do == "garbage": answers.write("\\x1b[2J nonsense\\n"); continue
    if do == "old": answers.write(json.dumps({"id": 0, "status": "ok"}) + "\\n"); continue
    if do == "list": answers.write("[]\\n"); continue
    if do == "deep": answers.write("[" * 100000 + "\\n"); continue
    if do == "child":  # a process that outlives it and holds the pipe
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], close_fds=False, pass_fds=[int(sys.argv[1])])
        os._exit(3)
    print("what a script prints is no answer", flush=True)
    lost = do == "lost"
    answers.write(json.dumps({"id": request["id"], "status": "ok", "pid": os.getpid(), "lost": lost}) + "\\n")
    if lost: os._exit(3)
'''


@pytest.fixture
def asked(tmp_path):
    path = tmp_path / "worker.py"
    path.write_text(WORKER)
    made = workers.Workers(command=[sys.executable, str(path)])
    yield made
    made.close()


def test_one_worker_answers_many(asked):
    pids = {asked.ask("fine", 20)["pid"] for _ in range(3)}
    assert len(pids) == 1 and asked.started == 1


@pytest.mark.parametrize(
    "do, status, words",
    [
        ("exit", "crashed", "exit code 7: last words"),
        ("abort", "crashed", "SIGSEGV"),
        ("garbage", "failed", "no answer"),
        ("old", "failed", "no answer"),
        ("list", "failed", "no answer"),
        ("deep", "failed", "no answer"),
        ("child", "crashed", "exit code 3"),
    ],
)
def test_what_became_of_it_is_said_and_the_next_is_served(asked, do, status, words):
    told = asked.ask(do, 20)
    assert told["status"] == status and words in told["reason"]
    assert "\x1b" not in told["reason"]
    assert asked.ask("fine", 20)["status"] == "ok"
    assert asked.started == 2


def test_its_last_words_are_not_those_of_an_earlier_call(asked):
    assert asked.ask("fine", 20)["status"] == "ok"
    assert asked.ask("abort", 20)["reason"] == "the worker was lost: killed by SIGSEGV"


def test_one_that_hangs_is_ended_at_its_deadline(asked):
    assert asked.ask("fine", 20)["status"] == "ok"
    begun = time.monotonic()
    told = asked.ask("hang", 0.5)
    assert told["status"] == "hung" and "0.5 s" in told["reason"]
    assert time.monotonic() - begun < 10
    assert asked.ask("fine", 20)["status"] == "ok"


def test_one_that_lost_the_device_is_replaced(asked):
    first = asked.ask("lost", 20)
    assert first["status"] == "ok"
    assert asked.ask("fine", 20)["pid"] != first["pid"]


def test_one_that_cannot_be_started():
    assert "cannot be started" in workers.Workers(command=["/no/such/python"]).ask("fine", 5)["reason"]


def test_the_parent_never_loads_torch():
    code = "import sys; import ridge.bench.parent, ridge.bench.module_bench, ridge.bench.device_file; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr


def as_in_a_terminal():
    """A shell starts what runs behind it with SIGINT ignored."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_bench_that_is_stopped_leaves_no_worker(tmp_path, number):
    """The worker is a shell that says its number and sleeps."""
    import ridge.bench

    fake = tmp_path / "python"
    fake.write_text('#!/bin/sh\necho $$ > "%s"\nexec sleep 600\n' % (tmp_path / "pid"))
    fake.chmod(0o755)
    start = os.path.join(os.path.dirname(ridge.bench.__file__), "start.py")
    parent = subprocess.Popen([sys.executable, start, "parent", "--ridge=ridge", "--python=%s" % fake, "--", SCRIPTS], stderr=subprocess.PIPE, preexec_fn=as_in_a_terminal)
    until = time.monotonic() + 30
    while not ((tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip()) and time.monotonic() < until:
        time.sleep(0.02)
    parent.send_signal(number)
    assert parent.wait(20) == 128 + number, parent.stderr.read()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


# With PyTorch, on its CPU: scripts run and are not timed.
def python_with_torch():
    for candidate in filter(None, (os.environ.get("RIDGE_TEST_PYTHON"), sys.executable, "/usr/bin/python3")):
        found = subprocess.run([candidate, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"], capture_output=True)
        if found.returncode == 0:
            return candidate
    pytest.skip("no Python here has PyTorch (Debian: apt-get install python3-torch; or set RIDGE_TEST_PYTHON)")


def test_scripts_run_on_the_cpu_and_one_that_fails_says_why(tmp_path):
    asked = workers.Workers("cpu", python_with_torch())
    try:
        told = asked.ask("script", 120, script=os.path.join(SCRIPTS, "product.py"), seconds=1)
        assert told["status"] == "ran" and "cpu" in told["reason"], told
        bad = tmp_path / "bad.py"
        bad.write_text(open(os.path.join(SCRIPTS, "sum.py"), encoding="utf-8").read().replace("torch.ops.aten.add.Tensor(*inputs)", "inputs[0] @ inputs[1][:3]"))
        told = asked.ask("script", 120, script=str(bad), seconds=1)
        assert told["status"] == "failed" and "RuntimeError" in told["reason"] and not told["lost"], told
        ended = tmp_path / "ended.py"
        ended.write_text(open(os.path.join(SCRIPTS, "sum.py"), encoding="utf-8").read().replace("return torch.ops", "import os; os._exit(9); return torch.ops"))
        assert asked.ask("script", 120, script=str(ended), seconds=1)["status"] == "crashed"
        assert asked.ask("machine", 120)["device"] is None
    finally:
        asked.close()


def test_kernels_are_timed_on_a_gpu():
    python = python_with_torch()
    if subprocess.run([python, "-c", "import sys, torch; sys.exit(not torch.cuda.is_available())"], capture_output=True).returncode != 0:
        pytest.skip("no GPU")
    asked = workers.Workers("cuda", python)
    try:
        told = asked.ask("script", 120, script=os.path.join(SCRIPTS, "sum.py"), seconds=1)
        assert told["status"] == "ok" and told["launches"][told["index"]]["cold"]["ns"] > 0
    finally:
        asked.close()
