"""What is opened goes away: memory is given back, Ctrl-C stops a read, a progress function may stop it, other threads run meanwhile."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import ridge


def resident_mb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def opens(path, count):
    for i in range(count):
        trace = ridge.open(path)
        if i % 10 == 0:
            held = [trace.kernels().rows(), trace.gpu(), trace.tables.ops.__arrow_c_stream__(), trace.step(0)]
            with pytest.raises(ridge.UsageError):
                trace.kernels(bye=1)
            del held
        if i % 2:
            trace.close()


def test_a_thousand_opens_and_closes_do_not_grow(fixtures):
    path = str(fixtures / "triton_short_names.json.gz")
    opens(path, 200)
    gc.collect()
    before = resident_mb()
    opens(path, 1000)
    gc.collect()
    grown = resident_mb() - before
    assert grown < 8, f"{grown:.1f} MB more after 1,000 opens"


@pytest.fixture(scope="module")
def long_trace(tmp_path_factory):
    """240 MB of events: long enough to be stopped on the way, at half a second a gigabyte."""
    path = tmp_path_factory.mktemp("long") / "long.json"
    events = "".join(
        '{"ph":"X","cat":"cpu_op","name":"aten::op_%d","pid":1,"tid":1,"ts":%d,"dur":3,"args":{"External id":%d}},\n' % (i % 50, i * 10, i)
        for i in range(20_000)
    )
    with open(path, "w") as file:
        file.write('{"traceEvents": [\n')
        for _ in range(120):
            file.write(events)
        file.write('{"ph":"X","cat":"cpu_op","name":"last","pid":1,"tid":1,"ts":1,"dur":1}]}\n')
    return str(path)


AT_WORK = """
import atexit, sys, threading, time
if sys.argv[3] == "first": atexit.register(lambda: print("at exit", len(ridge.open(sys.argv[1], progress=False).kernels().rows())))
import ridge
if sys.argv[3] == "last": atexit.register(lambda: print("at exit", len(ridge.open(sys.argv[1], progress=False).kernels().rows())))
def work():
    while True:
        trace = ridge.open(sys.argv[1], progress=False)
        trace.findings(), trace.kernels().rows()
for _ in range(2): threading.Thread(target=work, daemon=True).start()
ridge.open(sys.argv[1], progress=False)
time.sleep(float(sys.argv[2]))
"""


@pytest.mark.parametrize("registered", ("first", "last"))
def test_a_program_ends_while_its_threads_are_at_work(fixtures, registered):
    path = str(fixtures / "gpt_compiled_train.json.gz")
    for i in range(8):
        done = subprocess.run([sys.executable, "-c", AT_WORK, path, str(0.01 * i), registered], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("at exit ")


def test_memory_is_given_back(long_trace):
    ridge.open(long_trace).close()  # what stays is there from now on
    before = resident_mb()
    trace = ridge.open(long_trace)
    table = trace.tables.events
    table._table  # made
    while_open = resident_mb() - before
    del table
    trace.close()
    gc.collect()
    left = resident_mb() - before
    assert while_open > 30
    assert left < while_open / 3, f"{left:.0f} MB of {while_open:.0f} MB are left"


def test_a_progress_function_is_told_and_may_stop(long_trace):
    told = []

    def stop(phase, done, total):
        told.append((phase, done, total))
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        ridge.open(long_trace, progress=stop)
    assert len(told) == 1
    phase, done, total = told[0]
    assert phase == "reading" and 0 <= done <= total == os.path.getsize(long_trace)


def test_other_threads_run_while_one_reads(long_trace):
    ticks, reading = [0], [True]

    def count():
        while reading[0]:
            ticks[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    ridge.open(long_trace).close()
    reading[0] = False
    thread.join()
    assert ticks[0] > 10


# A suite that runs in the background is told to ignore Ctrl-C, and so are its children: these listen.
CTRL_C = """
import signal, sys, ridge
signal.signal(signal.SIGINT, signal.default_int_handler)
print("ready", flush=True)
try:
    ridge.open("-")
except KeyboardInterrupt:
    print("stopped", flush=True)
    print(len(ridge.open(sys.argv[1]).kernels()) > 0, flush=True)  # and the process goes on
"""


def test_ctrl_c_stops_a_read(path):
    process = subprocess.Popen([sys.executable, "-c", CTRL_C, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.stdin.write('{"traceEvents": [')  # and no more: it waits
    process.stdin.flush()
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert out == "stopped\nTrue\n"
    assert process.returncode == 0


STOPPED = """
import os, signal, sys, threading, ridge
signal.signal(signal.SIGINT, signal.default_int_handler)
t = ridge.open(sys.argv[1], progress=False)
question = eval("lambda: " + sys.argv[2])
before = t._engine.cached_bytes
threading.Timer(float(sys.argv[3]), os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    question()
    print("answered")
except KeyboardInterrupt:
    print("stopped", t._engine.cached_bytes - before, flush=True)
if "sql" not in sys.argv[2]:
    question()  # and can be asked again
    print("whole", t._engine.cached_bytes - before, flush=True)
"""


def stopped(path, question, after_s):
    done = subprocess.run([sys.executable, "-c", STOPPED, path, question, str(after_s)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_ctrl_c_stops_a_query(path):
    endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"
    assert stopped(path, f"t.sql('{endless}')", 0.3)[0].startswith("stopped"), "it would take 60 seconds, and then another error"


def test_ctrl_c_stops_an_analysis(long_trace):
    """What a stopped one has made is less than what a whole one makes."""
    said = [line.split() for line in stopped(long_trace, "t.ops(by='shape')", 0.08)]
    assert [words[0] for words in said] == ["stopped", "whole"], said
    assert int(said[0][1]) < int(said[1][1]) * 0.9, said


def test_a_server_that_is_stopped_gives_up_what_it_does(path):
    import http.client

    trace = ridge.open(path)
    server = trace.serve(wait=False)
    endless = "with+recursive+n(i)+as+(select+1+union+all+select+i%2b1+from+n)+select+count(*)+from+n"
    host = server.url.split("/")[2]
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.request("GET", "/api/v1/sql?query=" + endless)
    time.sleep(0.3)
    begun = time.monotonic()
    server.stop()
    assert time.monotonic() - begun < 30, "the query alone takes 60 seconds"
    connection.close()
