"""`t.bench()`: kernels of a trace alone on this machine's GPU. The bench runs in processes of its own: a kernel that takes one down leaves this one alone."""

import signal
import subprocess
import sys

from . import _native
from ._errors import Error, UsageError
from ._table import Report

_USAGE, _NOT_DONE = 2, 1
_PATIENCE_S = 30  # for what an interrupted bench still writes


def bench(path, given):
    """The answer of `ridge bench` for a trace. given: its flags as keywords; a flag that is True stands alone."""
    words = [sys.executable, "-m", "ridge", "bench", "--json", "--quiet"]
    for name, value in given.items():
        if value is not None and value is not False:
            flag = "--" + name.rstrip("_").replace("_", "-")
            words.append(flag if value is True else f"{flag}={value}")
    done = _run([*words, "--", path])
    answered = done.returncode == _NOT_DONE and done.stdout.lstrip().startswith(b"{")  # nothing ran: the answer says why
    if done.returncode != 0 and not answered:
        message, where, hint = _said(done.stderr.decode("utf-8", "replace"))
        kind, code = (UsageError, "usage") if done.returncode == _USAGE else (Error, "bench")
        raise kind(message or f"ridge bench ended with exit code {done.returncode}", code=code, where=where, hint=hint)
    return Report(_native.saved_report(done.stdout.decode("utf-8", "replace")))


def _run(words):
    """As subprocess.run does; but one that is interrupted, in a notebook say, may write what it has measured (save=) and ends its worker."""
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
        try:
            out, errors = started.communicate()
        except KeyboardInterrupt:
            try:
                started.send_signal(signal.SIGINT)  # the key's own may have come to this process alone; two at once are one there
                started.communicate(timeout=_PATIENCE_S)
            except (KeyboardInterrupt, subprocess.TimeoutExpired):
                started.kill()
            raise
        except BaseException:
            started.kill()
            raise
    return subprocess.CompletedProcess(words, started.returncode, out, errors)


def _said(text):
    """(message, where, hint) of what the command line says of an error."""
    found = {"error": "", "at": "", "hint": ""}
    for line in text.splitlines():
        key, colon, rest = line.strip().partition(": ")
        if colon and key in found:
            found[key] = rest
    return found["error"], found["at"], found["hint"]
