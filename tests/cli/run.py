#!/usr/bin/env python3
"""Runs the ridge binary as a user does and checks exit codes, streams, files and signals. What the numbers are is not tested here.

usage: run.py [--ridge] BINARY [WORD...]     only the tests whose names hold one of the words"""

import csv
import fcntl
import io
import json
import os
import pty
import re
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import termios
import time
import xml.dom.minidom

from checks import check, equal, run_tests, words_of

RIDGE = ""
TIMEOUT_S = 60


def event(index):
    """Complete events of several categories, so that a table of categories has rows to cut."""
    cat = ["kernel", "cpu_op", "gpu_memcpy", "user_annotation", "cuda_runtime"][index % 5]
    args = {"device": 0, "stream": 7, "correlation": index} if cat in ("kernel", "gpu_memcpy") else {}
    return {"ph": "X", "cat": cat, "name": f"{cat} {index}", "pid": 0, "tid": 7, "ts": 1000.5 + 10 * index, "dur": 5.25, "args": args}


TRACE = json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": [event(i) for i in range(50)]})


class Run:
    def __init__(self, *args, stdin=None, env=None, cwd=None, **more):
        environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM")}
        environment.update(env or {})
        more.setdefault("stdout", subprocess.PIPE)
        more.setdefault("stderr", subprocess.PIPE)
        done = subprocess.run([RIDGE, *args], input=stdin, stdin=subprocess.DEVNULL if stdin is None else None, env=environment, cwd=cwd,
                              timeout=TIMEOUT_S, **more)
        self.code = done.returncode
        self.out = (done.stdout or b"").decode()
        self.err = (done.stderr or b"").decode()

    def expect(self, code):
        check(self.code == code, f"exit code {self.code}, wanted {code}; stderr: {self.err!r}; stdout: {self.out[:200]!r}")
        return self


def succeeds(*args, **more):
    return Run(*args, **more).expect(0)


def refused(code, *args, error, hint=None, **more):
    """A failure says so on stderr and leaves stdout empty."""
    run = Run(*args, **more).expect(code)
    equal(run.out, "", "stdout")
    check(re.search(error, run.err) and run.err.startswith("error: "), f"stderr {run.err!r} does not say {error!r}")
    if hint:
        check(re.search(r"\n  hint: .*" + hint, run.err), f"stderr {run.err!r} does not hint {hint!r}")
    return run


class Folder:
    """A temporary folder that holds t.json; a test works in a fresh one."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="ridge-cli-")
        self.trace = self.write("t.json", TRACE)

    def write(self, name, text):
        path = os.path.join(self.path, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def at(self, name):
        return os.path.join(self.path, name)

    def read(self, name):
        with open(self.at(name), encoding="utf-8") as file:
            return file.read()

    def names(self):
        return sorted(os.listdir(self.path))

    def remove(self):
        shutil.rmtree(self.path)


# Help, version, completion


def test_nothing_given_is_short_help_on_stderr(_):
    run = Run().expect(2)
    equal(run.out, "", "stdout")
    check("usage: ridge" in run.err and len(run.err.splitlines()) < 10, run.err)


def test_help_is_on_stdout(_):
    for words in (["help"], ["--help"], ["-h"]):
        run = succeeds(*words)
        equal(run.err, "", "stderr")
        for word in ("usage: ridge", "  info ", "--format", "Examples:", "Exit codes"):
            check(word in run.out, f"{words}: no {word!r} in the help")


def test_help_on_a_command(folder):
    run = succeeds("help", "info")
    check(run.out.startswith("ridge info: "), run.out)
    equal(succeeds("info", "--help").out, run.out, "info --help")
    equal(succeeds("info", folder.trace, "-h").out, run.out, "info TRACE -h")
    check("usage: ridge completion" in succeeds("help", "completion").out, "help completion")
    refused(2, "help", "inof", error="no command 'inof'", hint="info")


def test_help_fits_a_screen(_):
    longest = max(len(line) for line in succeeds("help").out.splitlines())
    check(longest <= 120, f"a line of {longest} characters")


def test_more_threads_than_cores_say_nothing(folder):
    equal(succeeds("info", "--threads", "64", folder.trace).err, "", "standard error")


def test_version(_):
    run = succeeds("version")
    check(re.fullmatch(r"ridge \d+\.\d+\.\d+\S*\n", run.out), run.out)
    equal(succeeds("--version").out, run.out, "--version")


def test_a_second_trace_is_not_dropped(folder):
    other = folder.write("other.json", TRACE)
    refused(2, "summary", folder.trace, other, error="summary takes one trace, and 2 were given", hint="ridge diff")
    refused(2, folder.trace, other, error="takes one trace")


def test_the_next_command_can_be_pasted(folder):
    spaced = folder.write("my trace.json", TRACE)
    check(re.search(rf"next: ridge \w+ '{re.escape(spaced)}'\n", succeeds(spaced).out), "a path with a space")
    check("next:" not in succeeds("summary", "-", stdin=TRACE.encode()).out, "standard input cannot be read again")


def test_completion_of_bash_works(_):
    script = succeeds("completion", "bash").out
    asked = 'COMP_WORDS=(ridge inf); COMP_CWORD=1; _ridge; echo "${COMPREPLY[@]}"; COMP_WORDS=(ridge info --js); COMP_CWORD=2; _ridge; echo "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", script + asked], capture_output=True, text=True, timeout=TIMEOUT_S, cwd="/")
    equal((done.stdout, done.stderr), ("info\n--json\n", ""), "bash completes")


def test_completion_of_bash_keeps_names_with_spaces_whole(folder):
    folder.write("my trace.json", TRACE)
    asked = 'COMP_WORDS=(ridge info my); COMP_CWORD=2; _ridge; printf "%s|" "${COMPREPLY[@]}"'
    script = succeeds("completion", "bash").out + asked
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=TIMEOUT_S, cwd=folder.path)
    equal(done.stdout, "my trace.json|", "bash completes")


def test_completion_of_other_shells(_):
    check("#compdef ridge" in succeeds("completion", "zsh").out, "zsh")
    check("complete -c ridge" in succeeds("completion", "fish").out, "fish")
    refused(2, "completion", "tcsh", error="no completion for 'tcsh'", hint="bash")
    refused(2, "completion", error="one shell")


# Which command


def test_a_trace_alone_runs_the_first_question(folder):
    run = succeeds("--json", folder.trace)
    check(json.loads(run.out)["command"] in ("summary", "info"), run.out[:100])


def test_unknown_command_names_the_nearest(_):
    refused(2, "inof", error="no command 'inof'", hint="did you mean info")
    refused(2, "inof", "t.json", error="no command 'inof'")
    refused(2, "xyzzy", error="no command 'xyzzy'", hint="ridge help")


def test_missing_file_is_not_an_unknown_command(_):
    refused(1, "no_such.json", error="no_such.json")
    refused(1, "no/such", error="no/such")
    refused(1, "info", "nosuch", error="nosuch")


def test_a_file_named_like_nothing_is_a_trace(folder):
    folder.write("plainname", TRACE)
    succeeds("plainname", cwd=folder.path)


def test_a_command_wins_over_a_file_of_its_name(folder):
    folder.write("info", TRACE)
    refused(2, "info", cwd=folder.path, error="info needs a trace")
    succeeds("./info", cwd=folder.path)
    succeeds("--", "info", cwd=folder.path)


def test_flags_stand_anywhere(folder):
    wanted = succeeds("info", folder.trace, "--format", "csv").out
    for words in (["info", "-f", "csv", folder.trace], ["-f", "csv", "info", folder.trace], ["--format=csv", "info", folder.trace],
                  ["info", "-fcsv", folder.trace], ["info", folder.trace, "--json", "-f", "csv"]):
        equal(succeeds(*words).out, wanted, " ".join(words))
    equal(succeeds("info", "-f", "csv", "--json", folder.trace).out[:1], "{", "the last of two formats wins")


def test_wrong_flags(folder):
    refused(2, "info", folder.trace, "--jsn", error="no flag --jsn", hint="--json")
    refused(2, "info", folder.trace, "--zzzzzzz", error="no flag --zzzzzzz", hint="ridge help info")
    refused(2, "info", folder.trace, "-n", error="--limit needs a value")
    refused(2, "info", folder.trace, "-n", "x", error="'x' is not a value for --limit")
    refused(2, "info", folder.trace, "-n", "-1", error="'-1' is not a value for --limit")
    refused(2, "info", folder.trace, "--threads", "1.5", error="--threads")
    refused(2, "info", folder.trace, "-f", "jsno", error="no format 'jsno'", hint="json")
    refused(2, "info", folder.trace, "--sort", "evnets", error="no column 'evnets'", hint="events")
    refused(2, "info", "--json", error="info needs a trace")


def test_byte_counts(folder):
    for text in ("1000000", "64k", "64K", "64kB", "1.5G", "2GiB", "1T", "512MiB"):
        succeeds("info", folder.trace, "--max-bytes", text)
    for text in ("", "x", "5Q", "-1", "0", "1e5", "GiB", "99999999999T"):
        refused(2, "info", folder.trace, "--max-bytes=" + text if text else "--max-bytes", error="--max-bytes|number of bytes")


def test_max_bytes_is_a_limit(folder):
    refused(1, "info", folder.trace, "--max-bytes", "100", error=".")


# Traces


def test_standard_input(folder):
    wanted = json.loads(succeeds("info", "--json", folder.trace).out)
    got = json.loads(succeeds("info", "--json", "-", stdin=TRACE.encode()).out)
    equal([len(table["rows"]) for table in got["tables"]], [len(table["rows"]) for table in wanted["tables"]], "rows from stdin")


def test_not_a_trace(folder):
    refused(1, "info", folder.write("n.json", '{"a": 1}'), error=".")
    refused(1, "info", folder.write("e.json", ""), error=".")


def test_a_folder_of_several_traces_lists_them(folder):
    folder.write("u.json", TRACE)
    run = refused(2, "info", folder.path, error=".")
    check("t.json" in run.err and "u.json" in run.err, run.err)


def test_input_is_never_touched(folder):
    before = os.stat(folder.trace)
    succeeds("info", folder.trace)
    after = os.stat(folder.trace)
    equal((after.st_mtime_ns, after.st_size, folder.read("t.json")), (before.st_mtime_ns, before.st_size, TRACE), "the input")


def test_hostile_names_reach_no_terminal(folder):
    name = "\x1b]0;owned\x07" + "\u202e"
    trace = folder.write("h.json", json.dumps({"traceEvents": [dict(event(0), name=name, cat=name), dict(event(1), name=name)]}))
    for fmt in ("table", "md", "json"):
        run = succeeds("info", trace, "-f", fmt)
        check("\x1b" not in run.out + run.err and "\x07" not in run.out + run.err, f"{fmt}: an escape got through")
    refused(1, "no\x1b[31m.json", error=r"no\\u001b\[31m")


# Formats


def test_json_is_the_contract(folder):
    run = succeeds("info", "--json", folder.trace)
    check(run.out.endswith("}\n"), "no newline at the end")
    report = json.loads(run.out)
    equal(list(report), ["schema", "ridge", "command", "traces", "tables", "series", "diagnostics"], "keys")
    equal((report["schema"], report["command"]), (1, "info"), "schema and command")
    equal([trace["name"] for trace in report["traces"]], ["t.json"], "traces")
    equal(report["tables"][0]["name"], "trace", "first table")
    for table in report["tables"]:
        equal(list(table), ["name", "columns", "rows", "total", "parent"], "keys of a table")
        for row in table["rows"] + ([table["total"]] if table["total"] else []):
            equal(len(row), len(table["columns"]), f"cells of a row of {table['name']}")
        for column in table["columns"]:
            equal(list(column), ["name", "type", "unit", "role"], "keys of a column")


def test_csv_is_one_table(folder):
    rows = list(csv.reader(io.StringIO(succeeds("info", "-f", "csv", folder.trace).out)))
    first = json.loads(succeeds("info", "--json", folder.trace).out)["tables"][0]
    equal(rows[0], [column["name"] for column in first["columns"]], "header")
    equal([len(row) for row in rows], [len(first["columns"])] * (1 + len(first["rows"])), "cells")


def test_limit_cuts_tables_and_tells_people(folder):
    rows = {table["name"]: len(table["rows"]) for table in json.loads(succeeds("info", "--json", folder.trace).out)["tables"]}
    check(max(rows.values()) > 1, f"no table has rows to cut: {rows}")
    cut = json.loads(succeeds("info", "--json", "-n", "1", folder.trace).out)
    check(all(len(table["rows"]) <= 1 for table in cut["tables"]), "a table has more than one row")
    check(re.search(r"\[\d+ others?\]", succeeds("info", "-n", "1", folder.trace).out), "no [N others]")
    check(not re.search(r"\[\d+ others?\]", succeeds("info", "-n", "0", folder.trace).out), "[N others] although nothing was cut")


def test_output_is_stable(folder):
    for fmt in ("table", "json", "csv", "md"):
        outputs = {succeeds("info", "-f", fmt, "--threads", threads, folder.trace).out for threads in ("1", "2", "8")}
        equal(len(outputs), 1, f"different outputs of {fmt}")


# Streams


def test_quiet_says_nothing_on_stderr(folder):
    equal(succeeds("info", "-q", folder.trace).err, "", "stderr")


def test_warnings_are_few_and_on_stderr(folder):
    run = succeeds("info", folder.trace)
    check("warning" not in run.out, "a warning on stdout")
    check(len(run.err.splitlines()) <= 6, run.err)
    check(all(line.startswith("warning: ") for line in run.err.splitlines()), run.err)


def test_closed_pipe_is_quiet(folder):
    for words in (["info", "-q", folder.trace], ["help"], ["version"]):
        reader, writer = os.pipe()
        os.close(reader)
        try:
            run = Run(*words, stdout=writer).expect(0)
        finally:
            os.close(writer)
        equal(run.err, "", "stderr of " + words[0])


def test_full_disk_is_an_error(folder):
    for words in (["info", folder.trace], ["help"], ["version"], ["completion", "bash"]):
        with open("/dev/full", "wb") as full:
            run = Run(*words, stdout=full).expect(1)
        check(run.err.startswith("error: cannot write to standard output: No space"), run.err)


def test_closed_streams(folder):
    run = Run("info", folder.trace, preexec_fn=lambda: os.close(1)).expect(1)
    check("cannot write" in run.err, run.err)
    wanted = succeeds("info", folder.trace).out
    succeeds("info", folder.trace, "-o", folder.at("out"), preexec_fn=lambda: (os.close(0), os.close(1), os.close(2)))
    equal(folder.read("out"), wanted, "the output file")


# -o


def test_output_file(folder):
    wanted = succeeds("info", folder.trace).out
    run = succeeds("info", folder.trace, "-o", folder.at("out.txt"))
    equal((run.out, folder.read("out.txt")), ("", wanted), "output")
    equal(folder.names(), ["out.txt", "t.json"], "files")
    equal(succeeds("info", folder.trace, "-o", "-").out, wanted, "-o -")
    equal(succeeds("info", folder.trace, "-o", "here", cwd=folder.path).out, "", "a bare name")
    equal(folder.read("here"), wanted, "a bare name")


def test_output_file_mode(folder):
    succeeds("info", folder.trace, "-o", folder.at("new"), preexec_fn=lambda: os.umask(0o027))
    equal(stat.S_IMODE(os.stat(folder.at("new")).st_mode), 0o640, "mode of a new file")
    os.chmod(folder.write("old", "x"), 0o604)
    succeeds("info", folder.trace, "-o", folder.at("old"))
    equal(stat.S_IMODE(os.stat(folder.at("old")).st_mode), 0o604, "mode of a replaced file")


def test_output_through_a_link_keeps_the_link(folder):
    folder.write("real", "x")
    os.symlink("real", folder.at("link"))
    succeeds("info", folder.trace, "-o", folder.at("link"))
    check(os.path.islink(folder.at("link")) and folder.read("real") != "x", "the link was replaced")


def test_output_is_never_an_input(folder):
    os.symlink("t.json", folder.at("link"))
    os.link(folder.trace, folder.at("hard"))
    for name in ("t.json", "link", "hard", "./t.json"):
        refused(2, "info", folder.trace, "-o", folder.at(name), error="is an input")
        refused(2, "info", folder.path, "-o", folder.at(name), error="is an input")
    equal((folder.read("t.json"), folder.names()), (TRACE, ["hard", "link", "t.json"]), "the folder")


def test_failed_run_leaves_the_old_output(folder):
    folder.write("out", "old")
    refused(1, "info", folder.at("none.json"), "-o", folder.at("out"), error="none.json")
    equal((folder.read("out"), folder.names()), ("old", ["out", "t.json"]), "the folder")


def test_failed_write_leaves_the_old_output(folder):
    folder.write("out", "old")
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
    refused(1, "info", folder.trace, "-o", folder.at("out"), preexec_fn=limit, error="cannot write '.*out': File too large")
    equal((folder.read("out"), folder.names()), ("old", ["out", "t.json"]), "the folder")


def test_output_that_cannot_be_made(folder):
    refused(1, "info", folder.trace, "-o", folder.at("none/out"), error="cannot write '.*none/out': No such file")
    os.mkdir(folder.at("sub"))
    refused(1, "info", folder.trace, "-o", folder.at("sub"), error="it is a folder")
    refused(1, "info", folder.trace, "-o", "/dev/full", error="cannot write '/dev/full': No space")
    succeeds("info", folder.trace, "-o", "/dev/null")
    check(stat.S_ISCHR(os.stat("/dev/null").st_mode), "/dev/null was replaced")


# Terminals


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
    with subprocess.Popen([RIDGE, *args], env=environment, **streams) as process:
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


# Signals


def waiting_reader(*more):
    """The program with the beginning of a trace on its stdin, asked for the rest."""
    process = subprocess.Popen([RIDGE, "info", "-", *more], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
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
    process = subprocess.Popen([RIDGE, "help"], stdout=writer, stderr=subprocess.DEVNULL)
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


# Gates


def test_a_gate_that_fails_is_3(folder):
    if "--strict" not in Run("help", "check").out:
        return
    bad = folder.write("bad.json", TRACE[:-200])
    succeeds("check", bad)
    Run("check", "--strict", bad).expect(3)
    succeeds("check", "--strict", folder.trace)


# Devices, costs, one kernel


DEVICE = '{"name": "X1", "bf16_tflops": 100, "bandwidth_gb_per_s": 1000}'


def test_devices_need_no_trace(folder):
    table = json.loads(succeeds("devices", "--json").out)["tables"][0]
    equal(table["name"], "devices", "first table")
    names = [row[0] for row in table["rows"]]
    check("NVIDIA H200" in names and "AMD Instinct MI300X" in names, names)
    refused(2, "devices", folder.trace, error="devices takes no trace", hint="ridge info")
    check("usage: ridge devices [FLAGS]\n" in succeeds("help", "devices").out, "help devices")
    check(re.search(r"Other commands:\n(.*\n)*  devices ", succeeds("help").out), "devices stands among the other commands")


def test_a_device_of_ones_own(folder):
    path = folder.write("device.json", DEVICE)
    rows = json.loads(succeeds("devices", "--device-file", path, "--json").out)["tables"][0]["rows"]
    equal([row[0] for row in rows], ["X1"], "devices of the file")
    succeeds("kernels", folder.trace, "--device-file", path)
    several = folder.write("several.json", f"[{DEVICE}, {DEVICE.replace('X1', 'X2')}]")
    refused(2, "kernels", folder.trace, "--device-file", several, error="several devices", hint="X1, X2")
    succeeds("kernels", folder.trace, "--device-file", several, "--device", "X2")
    refused(2, "kernels", folder.trace, "--device-file", several, "--device", "X3", error="no device 'X3'", hint="X1, X2")
    refused(1, "kernels", folder.trace, "--device-file", folder.at("none.json"), error="cannot open the device file")
    refused(2, "kernels", folder.trace, "--device-file", folder.write("bad.json", "{"), error="no JSON", hint="adding-a-device")
    refused(2, "kernels", folder.trace, "--device-file", folder.write("typo.json", '{"name": "X", "bf16_tflop": 1}'), error="bf16_tflop",
            hint="bf16_tflops")


def test_wrong_flags_of_costs(folder):
    # Told before the trace is read: there is none.
    refused(2, "kernels", "none.json", "--device", "h2000", error="no device 'h2000'", hint="NVIDIA H200|ridge devices")
    refused(2, "kernels", "none.json", "--device", "a100", error="several devices", hint="A100-SXM4-40GB")
    refused(2, "kernels", "none.json", "--dtype", "bfloat61", error="no dtype 'bfloat61'", hint="bfloat16")
    refused(2, "kernels", "none.json", "--clock-mhz", "fast", error="'fast' is not a value for --clock-mhz")
    refused(2, "kernels", "none.json", "--clock-mhz", "-5", error="--clock-mhz takes a clock in MHz")
    refused(1, "kernels", "none.json", "--inductor-cache", folder.trace, error="--inductor-cache is no folder")
    refused(2, "gpu", folder.trace, "--tf32", error="no flag --tf32")
    succeeds("kernels", folder.trace, "--device", "h200", "--clock-mhz", "1500", "--dtype", "bf16", "--tf32")


def test_one_kernel(folder):
    refused(2, "kernel", error="kernel needs a NAME and a trace", hint="ridge kernel NAME trace.json")
    refused(2, "kernel", folder.trace, error="kernel needs a NAME and a trace")
    refused(2, "kernel", "kernel", folder.trace, error="10 kernels fit 'kernel'", hint="say which")
    refused(2, "kernel", "zzzzzz", folder.trace, error="no kernel 'zzzzzz'", hint="ridge kernels")
    report = json.loads(succeeds("kernel", "kernel 5", folder.trace, "--json").out)
    equal(report["tables"][0]["rows"][0][0], "kernel 5", "the kernel's name")
    equal(json.loads(succeeds("kernel", folder.trace, "--name", "kernel 5", "--json").out)["tables"], report["tables"], "--name")
    check("usage: ridge kernel [FLAGS] NAME TRACE\n" in succeeds("help", "kernel").out, "help kernel")


def test_pictures(folder):
    refused(2, "gpu", folder.trace, "-f", "svg", error="nothing to draw in gpu", hint="roofline")
    fixtures = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fixtures")
    trace = os.path.join(fixtures, "resnet18_eager_shapes.json.gz")
    svg = succeeds("roofline", trace, "-f", "svg").out
    xml.dom.minidom.parseString(svg)
    check(svg.count("<circle") > 5, "points of kernels")
    text = succeeds("roofline", trace).out
    check("FLOP per byte" in text and "of the time" in text, "the picture under the table")


# Comparing


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
    refused(2, "diff", a, error="diff needs 2 traces", hint="ridge diff before")
    refused(1, "diff", a, folder.at("none.json"), error="none.json")
    refused(1, "diff", a, folder.write("bad.json", "{}"), error=".")
    refused(2, "diff", a, a, "--fail-above", "much", error="--fail-above", hint="5%")
    refused(2, "diff", a, a, "--fail-abov", "5%", error="no flag --fail-abov", hint="--fail-above")


def in_a_folder(test):
    folder = Folder()
    try:
        test(folder)
    finally:
        folder.remove()


def main():
    global RIDGE
    binary, words = words_of(sys.argv[1:])
    if not binary or not os.access(binary, os.X_OK):
        print(__doc__, file=sys.stderr)
        return 2
    RIDGE = os.path.abspath(binary)
    return run_tests(globals(), words, in_a_folder)


if __name__ == "__main__":
    sys.exit(main())
