"""What is told to the person at the terminal: one line each, on standard error, never in the way of the program."""

import sys

from .ranks import this_process


def say(text: str) -> None:
    rank = this_process()
    try:
        sys.stderr.write("ridge%s: %s\n" % ("" if rank is None else " [rank %d]" % rank.rank, text))
        sys.stderr.flush()
    except Exception:  # closed, or a pipe that nobody reads
        pass


def printable(path: str) -> str:
    """A path as one line, whatever bytes are in it."""
    text = path.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if text.isprintable() else ascii(text)


def size_of(bytes: int) -> str:
    return "%.1f MB" % (bytes / 1e6) if bytes >= 100_000 else "%.1f KB" % (bytes / 1e3)
