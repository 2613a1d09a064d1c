"""Writes traces behind the program's back: compressing one takes longer than the steps that it holds. Whoever leaves waits for what is under way."""

import atexit
import os
import threading
from typing import Callable, List, Optional

from . import trace_file
from .ranks import Rank

_under_way: List[threading.Thread] = []
_registered_in = 0


def wait(timeout_s: Optional[float] = None) -> bool:
    """Until all that was begun is written; False: not within the time."""
    for thread in list(_under_way):
        thread.join(timeout_s)
        if thread.is_alive():
            return False
        _under_way.remove(thread)
    return True


def forget() -> None:
    """After a fork, in the child: threads are the parent's."""
    _under_way.clear()


def write(save, place: str, rank: Optional[Rank], written: Callable[[str], None], failed: Callable[[trace_file.NotWritten], None]) -> None:
    """Returns at once, unless the interpreter is ending, when no thread can be started any more."""
    global _registered_in
    if _registered_in != os.getpid():
        _registered_in = os.getpid()
        atexit.register(wait)

    def work():
        try:
            path = trace_file.write(save, place, rank)
        except trace_file.NotWritten as error:
            failed(error)
        else:
            written(path)

    thread = threading.Thread(target=work, name="ridge writes a trace", daemon=True)
    try:
        thread.start()
    except RuntimeError:
        work()
    else:
        _under_way.append(thread)
