"""The first lines of a trace's summary, by the ridge that this package is part of, or the one in PATH. In a process of its own: a program that has
trained for hours should not end with a fault of ours."""

import importlib.util
import os
import shutil
import subprocess
import sys
from typing import Dict, List, Optional, Tuple

from . import console

LINES = 14
TIMEOUT_S = 120


def _ridge() -> Tuple[Optional[List[str]], Dict[str, str]]:
    """The command, and the environment that it needs."""
    package = (__package__ or "").rpartition(".")[0]
    if package and importlib.util.find_spec(package + "._native") is not None:
        here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        path = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
        return [sys.executable, "-m", package], {**os.environ, "PYTHONPATH": path}
    found = shutil.which("ridge")
    return ([found] if found else None), dict(os.environ)


def first_lines(path: str) -> str:
    """Where the trace is, and what it says first, where that can be had."""
    where = "ridge: wrote %s (%s)\n" % (console.printable(path), console.size_of(os.path.getsize(path)))
    command, environment = _ridge()
    if command is None:
        return where
    asked = [*command, "summary", "--quiet", "--no-color", "--", path]
    try:
        done = subprocess.run(asked, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, env=environment)
        lines = done.stdout.decode("utf-8", "replace").splitlines()
    except (OSError, subprocess.SubprocessError):
        lines = []
    return where + "".join("  %s\n" % line if line else "\n" for line in lines[:LINES])
