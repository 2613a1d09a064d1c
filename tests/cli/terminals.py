"""Terminals and signals: colour, progress, interrupts."""

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import termios
import time

from checks import check, equal
from harness import program, succeeds, TIMEOUT_S, TRACE


def read_terminal(leader):
    text = b""
    try:
        while chunk := os.read(leader, 65536):
            text += chunk
    except OSError:  # how Linux says that the other side has gone
        pass
    os.close(leader)
    return text.decode()


def on_terminal(*args, env=None, stream="stdout", columns=100, feed=None):
    """What the program writes to a terminal that is its stdout or stderr; `feed` yields what to write to its stdin."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    environment.update({"TERM": "xterm"}, **(env or {}))
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: follower}
    with subprocess.Popen([program(), *args], env=environment, **streams) as process:
        os.close(follower)
        for chunk in feed or []:
            process.stdin.write(chunk)
            process.stdin.flush()
        process.stdin.close()
        text = read_terminal(leader)
        process.wait(TIMEOUT_S)
    equal(process.returncode, 0, "exit code")
    return text


def test_colour_only_where_wanted(folder):
    check("\x1b[1m" in on_terminal("info", folder.trace), "no colour on a terminal")
    check("\x1b" not in on_terminal("info", folder.trace, "--no-color"), "--no-color")
    check("\x1b" not in on_terminal("info", folder.trace, env={"NO_COLOR": "1"}), "NO_COLOR")
    check("\x1b" in on_terminal("info", folder.trace, env={"NO_COLOR": ""}), "an empty NO_COLOR refuses nothing")
    check("\x1b" not in on_terminal("info", folder.trace, env={"TERM": "dumb"}), "TERM=dumb")
    check("\x1b" not in succeeds("info", folder.trace, env={"TERM": "xterm"}).out, "a pipe")


def test_names_are_cut_in_the_middle(folder):
    """What tells kernels apart, tiles and suffixes, stays."""
    names = [f"nvjet_sm90_tst_{tile}_64x4_1x2_h_bz_coopA_{end}" for tile, end in (("256x128", "NNT"), ("256x128", "TNN"), ("320x128", "NNT"))]
    events = [{"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 100 * i, "dur": 50 - i,
               "args": {"device": 0, "stream": 7, "correlation": i + 1}} for i, name in enumerate(names)]
    trace = folder.write("names.json", json.dumps({"traceEvents": events}))
    lines = on_terminal("kernels", trace, "-q", "--no-color", columns=60).splitlines()
    shown = [line.split()[-1] for line in lines[2:5]]
    equal(len(set(shown)), 3, f"names that differ, in {shown}")
    for name, cut in zip(names, shown):
        check("…" in cut and not cut.endswith("…"), f"{cut!r} is not cut in the middle")
        begin, end = cut.split("…")
        check(name.startswith(begin) and name.endswith(end), f"{cut!r} is not {name!r}")


def slowly(text, pieces=12, pause_s=0.1):
    """The trace in pieces with blanks between, so that reading takes over a second."""
    step = len(text) // pieces + 1
    for begin in range(0, len(text), step):
        yield text[begin:begin + step].encode()
        time.sleep(pause_s)


SPACED_TRACE = TRACE.replace("}, {", "}," + " " * 100_000 + "{")


def test_progress_is_shown_and_erased(_):
    shown = on_terminal("info", "-", stream="stderr", feed=slowly(SPACED_TRACE))
    check("reading" in shown, f"no progress: {shown!r}")
    after = shown.rsplit("\x1b[K", 1)[-1]
    check("reading" not in after, f"progress was left on the terminal: {shown!r}")


def test_no_progress_when_not_wanted(_):
    equal(on_terminal("info", "-q", "-", stream="stderr", feed=slowly(SPACED_TRACE)), "", "quiet")
    check("\r\x1b" not in on_terminal("info", "-", stream="stderr", env={"TERM": "dumb"}, feed=slowly(SPACED_TRACE)), "TERM=dumb")
    check("reading" not in on_terminal("info", "-", stream="stderr", feed=[TRACE.encode()]), "a short run shows progress")


def listens(process, number):
    """Waits until the program has a handler for the signal, however busy the machine is, and then for it to be at its work."""
    for _unused in range(TIMEOUT_S * 100):
        with open(f"/proc/{process.pid}/status", encoding="utf-8") as status:
            caught = next((int(line.split()[1], 16) for line in status if line.startswith("SigCgt:")), 0)
        if caught >> (number - 1) & 1:
            break
        check(process.poll() is None, "it ended before it could be asked to")
        time.sleep(0.01)
    time.sleep(0.3)


def waiting_reader(*more):
    """The program with the beginning of a trace on its stdin, asked for the rest."""
    process = subprocess.Popen([program(), "info", "-", *more], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(SPACED_TRACE[:200_000].encode())
    process.stdin.flush()
    listens(process, signal.SIGINT)
    check(process.poll() is None, "it ended before its input did")
    return process


def stopped_by(number, process):
    """(exit code, stdout, stderr) of a reader whose input goes on, so that only the signal can end it."""
    process.send_signal(number)
    for _unused in range(TIMEOUT_S * 10):
        if process.poll() is not None:
            break
        try:
            process.stdin.write(b" " * 1_000_000)
            process.stdin.flush()
        except BrokenPipeError:
            pass
        time.sleep(0.1)
    if process.poll() is None:
        process.kill()
    return process.wait(), process.stdout.read(), process.stderr.read()


def test_interrupt_stops_the_work(folder):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        answer = stopped_by(number, waiting_reader("-o", folder.at("out")))
        equal(answer, (128 + number, b"", b"interrupted\n"), f"a run ended by {number.name}")
        equal(folder.names(), ["t.json"], f"files after {number.name}")


def test_interrupt_stops_a_query(folder):
    endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"
    for number in (signal.SIGINT, signal.SIGTERM):
        process = subprocess.Popen([program(), "sql", folder.trace, endless], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        listens(process, number)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
        equal((process.returncode, out, err), (128 + number, b"", b"interrupted\n"), f"a query ended by {number.name}")


def full_pipe():
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, b" " * 4096)
    except BlockingIOError:
        os.set_blocking(writer, True)
    return reader, writer


def test_a_write_that_waits_is_ended(folder):
    event = '{"ph":"X","cat":"cpu_op","name":"op_%d","pid":1,"tid":1,"ts":%d,"dur":1}'
    many = folder.write("many.json", '{"traceEvents":[' + ",\n".join(event % (i, i) for i in range(3000)) + "]}")
    help_, tables, copy = ("help",), ("ops", many, "--json"), ("cut", many, "-", "--from", "0")
    for args, pipe in ((help_, full_pipe), (copy, full_pipe), (tables, os.pipe), (copy, os.pipe)):
        for number in (signal.SIGINT, signal.SIGTERM):
            reader, writer = pipe()  # nobody reads; an empty one takes some of the text before it is full
            process = subprocess.Popen([program(), *args], stdout=writer, stderr=subprocess.DEVNULL)
            listens(process, number)
            process.send_signal(number)
            try:
                equal(process.wait(10), 128 + number, f"exit code of {args[0]}")
            finally:
                process.kill()
                os.close(reader)
                os.close(writer)


def test_a_read_that_waits_is_ended(_):
    event = b'{"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":1,"ts":1,"dur":1},\n'
    for threads in ("1", "4"):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen(
                [program(), "-", "--threads", threads], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
            process.stdin.write(b'{"traceEvents": [' + event * 20_000)  # some windows of it, and nothing more comes
            process.stdin.flush()
            listens(process, number)
            process.send_signal(number)
            try:
                equal((process.wait(10), process.stderr.read()), (128 + number, b"interrupted\n"), f"{threads} threads")
            finally:
                process.kill()
                process.stdin.close()


def test_a_pipe_that_does_not_wait_is_waited_for(folder):
    event = '{"ph":"X","cat":"cpu_op","name":"op_%d","pid":1,"tid":1,"ts":%d,"dur":1}'
    many = folder.write("many.json", '{"traceEvents":[' + ",\n".join(event % (i, i) for i in range(3000)) + "]}")
    for args in (("ops", many, "--json"), ("cut", many, "-", "--from", "0")):
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        process = subprocess.Popen([program(), *args], stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        time.sleep(0.3)  # it is full by now
        with os.fdopen(reader, "rb") as output:
            text = output.read()
        equal((process.wait(10), process.stderr.read()), (0, b""), f"{args[0]} into such a pipe")
        check(len(text) > 100_000 and text.rstrip().endswith(b"}"), f"all of what {args[0]} writes")


def test_second_interrupt_ends_at_once(_):
    process = waiting_reader()
    for number in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):  # both come before it can notice one
        process.send_signal(number)
    try:
        check(process.wait(10) in (130, 143), "exit code")
        equal(process.stderr.read(), b"", "a run that was ended at once")
    finally:
        process.kill()


def started_writing(folder, names):
    process = subprocess.Popen(
        [program(), "augment", folder.at("long.json"), folder.at("out.json"), "--threads", "1"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    while folder.names() == names and process.poll() is None:
        time.sleep(0.001)
    return process


def test_a_signal_leaves_no_unfinished_file(folder):
    event = '{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"External id":%d}}'
    events = ",\n".join(event % (i, i) for i in range(300_000))
    folder.write("long.json", '{"traceEvents":[' + events + "]}")
    names = folder.names()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process = started_writing(folder, names)
        check(any(".unfinished-" in name for name in folder.names()), "it ended before it could be asked to")
        process.send_signal(number)
        equal((process.wait(60), process.stderr.read()), (128 + number, b"interrupted\n"), f"a rewrite ended by {number.name}")
        equal(folder.names(), names, f"files after {number.name}")
