"""The first lines of a trace's summary, from the ridge program that lies beside this package, or stands in PATH; else how to get them."""

import os
import shutil
import subprocess
from typing import Optional

from . import console

LINES = 12
TIMEOUT_S = 120


def _program() -> Optional[str]:
    beside = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin", "ridge")
    return beside if os.access(beside, os.X_OK) else shutil.which("ridge")


def first_lines(path: str) -> str:
    where = "wrote %s (%s)\n" % (console.printable(path), console.size_of(os.path.getsize(path)))
    program = _program()
    if program is None:
        return "ridge: " + where
    try:
        done = subprocess.run([program, "summary", "--quiet", "--no-color", "--", path], stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S)
        lines = done.stdout.decode("utf-8", "replace").splitlines()
    except (OSError, subprocess.SubprocessError):
        lines = []
    return "ridge: " + where + "".join("  %s\n" % line for line in lines[:LINES] if line)
