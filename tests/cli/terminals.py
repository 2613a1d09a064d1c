"""Terminals and signals: colour, progress, interrupts."""

import fcntl
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


def waiting_reader(*more):
    """The program with the beginning of a trace on its stdin, asked for the rest."""
    process = subprocess.Popen([program(), "info", "-", *more], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(SPACED_TRACE[:200_000].encode())
    process.stdin.flush()
    time.sleep(0.3)
    check(process.poll() is None, "it ended before its input did")
    return process


def test_interrupt_stops_the_work(folder):
    process = waiting_reader("-o", folder.at("out"))
    process.send_signal(signal.SIGINT)
    for _unused in range(TIMEOUT_S * 10):  # its input goes on, so only the signal can end it
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
    equal((process.wait(), process.stdout.read(), process.stderr.read()), (130, b"", b"interrupted\n"), "an interrupted run")
    equal(folder.names(), ["t.json"], "files")


def full_pipe():
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, b" " * 4096)
    except BlockingIOError:
        os.set_blocking(writer, True)
    return reader, writer


def test_second_interrupt_ends_at_once(_):
    reader, writer = full_pipe()  # nobody reads: the program waits in a write, where the first signal does not end it
    process = subprocess.Popen([program(), "help"], stdout=writer, stderr=subprocess.DEVNULL)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    try:
        equal(process.wait(10), 130, "exit code")
    finally:
        process.kill()
        os.close(reader)
        os.close(writer)
