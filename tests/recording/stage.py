"""What the tests of recording stand on: programs run under `ridge record`, with and without it, and what their traces hold."""

import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PACKAGE = os.path.join(ROOT, "python", "ridge")
sys.path.insert(0, os.path.join(ROOT, "tests", "cli"))

from checks import check, equal  # noqa: E402, F401

TIMEOUT_S = 300
_ridge = [""]
_python_with_torch = []


class Skipped(Exception):
    """Says what is missing."""


def use(path):
    _ridge[0] = os.path.abspath(path)


def ridge():
    return _ridge[0]


def program(name):
    return os.path.join(HERE, "programs", name)


def python_with_torch():
    """The first Python that has PyTorch: RIDGE_TEST_PYTHON, this one, Debian's."""
    if not _python_with_torch:
        for candidate in filter(None, (os.environ.get("RIDGE_TEST_PYTHON"), sys.executable, "/usr/bin/python3")):
            found = subprocess.run([candidate, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"], capture_output=True)
            if found.returncode == 0:
                _python_with_torch.append(candidate)
                break
        else:
            _python_with_torch.append(None)
    if _python_with_torch[0] is None:
        raise Skipped("no Python here has PyTorch (Debian: apt-get install python3-torch; or set RIDGE_TEST_PYTHON)")
    return _python_with_torch[0]


class Stage:
    """A folder of its own for a test, with a home: what `ridge record` keeps lies there."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="ridge-recording-")
        os.mkdir(self.at("home"))

    def at(self, *names):
        return os.path.join(self.path, *names)

    def write(self, name, text):
        with open(self.at(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.at(name)

    def environment(self, more=None):
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("RIDGE_", "PYTHON", "XDG_"))}
        return {**kept, "HOME": self.at("home"), "OMP_NUM_THREADS": "1", **(more or {})}

    def run(self, *command, env=None, **more):
        return Run(subprocess.run(command, cwd=self.path, env=self.environment(env), stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, **more))

    def record(self, *command, flags=("-o", "traces"), env=None, **more):
        return self.run(ridge(), "record", *flags, "--", *command, env=env, **more)

    def train(self, *words, flags=(), env=None, **more):
        """Of the training program, with its traces in the folder `traces`."""
        return self.record(python_with_torch(), program("train.py"), *words, flags=("-o", "traces", *flags), env=env, **more)

    def names(self, folder="traces"):
        return sorted(os.listdir(self.at(folder))) if os.path.isdir(self.at(folder)) else []

    def trace(self, name="trace.json.gz", folder="traces"):
        return Trace(self.at(folder, name))

    def only_trace(self):
        equal(self.names(), ["trace.json.gz"], "files")
        return self.trace()

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)


class Run:
    def __init__(self, done):
        self.code = done.returncode
        self.out = done.stdout.decode("utf-8", "replace")
        self.err = done.stderr.decode("utf-8", "replace")

    def expect(self, code):
        check(self.code == code, f"exit code {self.code}, wanted {code}; stderr: {self.err[-1500:]!r}; stdout: {self.out[-300:]!r}")
        return self

    def says(self, *texts):
        for text in texts:
            check(text in self.err, f"stderr {self.err[-1500:]!r} does not say {text!r}")
        return self

    def prints(self, *texts):
        for text in texts:
            check(text in self.out, f"stdout {self.out[-1500:]!r} does not say {text!r}")
        return self


class Trace:
    """A trace as Python's own gzip and json read it."""

    def __init__(self, path):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            read = json.load(file)
        self.events = read if isinstance(read, list) else read["traceEvents"]

    def count(self, name):
        return sum(event.get("name") == name for event in self.events)

    def optimizer_steps(self, kind="SGD"):
        """As PyTorch itself marks them."""
        return self.count(f"Optimizer.step#{kind}.step")
