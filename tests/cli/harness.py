"""What the tests of the command line stand on: the program, run as a user runs it, and a folder with a trace for each test."""

import json
import os
import re
import shutil
import subprocess
import tempfile

from checks import check, equal

TIMEOUT_S = 60
_program = [""]


def use(path):
    _program[0] = os.path.abspath(path)


def program():
    return _program[0]


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
        done = subprocess.run([program(), *args], input=stdin, stdin=subprocess.DEVNULL if stdin is None else None, env=environment, cwd=cwd,
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


def in_a_folder(test):
    folder = Folder()
    try:
        test(folder)
    finally:
        folder.remove()
