"""A line that tells how far the bench is, on a terminal only. In the parent."""

import shutil
import sys
import time

WIDTH = 24


class Progress:
    def __init__(self, total, quiet=False, out=None):
        self._out = out or sys.stderr
        self._shown = not quiet and self._out.isatty()
        self._total = total
        self._begun = time.monotonic()

    def tell(self, done, what):
        if not self._shown:
            return
        filled = WIDTH * done // max(1, self._total)
        line = "[%s%s] %d/%d  %3.0f s  %s" % ("#" * filled, "." * (WIDTH - filled), done, self._total, time.monotonic() - self._begun, printable(what))
        self._out.write("\r\x1b[K" + line[: shutil.get_terminal_size().columns - 1])
        self._out.flush()

    def end(self):
        if self._shown:
            self._out.write("\r\x1b[K")
            self._out.flush()


def printable(text):
    """A name from a trace on one line, without what moves a cursor."""
    return "".join(c if c.isprintable() else "\ufffd" for c in str(text))
