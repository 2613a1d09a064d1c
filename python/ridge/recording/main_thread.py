"""Runs a function in the main thread, between two of its bytecodes, from any other thread. The profiler records the thread that starts it."""

import ctypes
import sys
import threading
from typing import Callable, List

_PendingCall = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_kept: List[object] = []  # what the interpreter may still call

# While autograd calls back into Python, what the profiler sets for the thread is undone behind the call.
_NOT_INSIDE = ("torch/autograd/", "torch/_dynamo/convert_frame.py")


def _is_inside(places) -> bool:
    frame = sys._current_frames().get(threading.main_thread().ident)
    while frame is not None:
        if any(place in frame.f_code.co_filename for place in places):
            return True
        frame = frame.f_back
    return False


def call(function: Callable[[], None], within_s: float = 10.0) -> bool:
    """Waits for it. False: the main thread did not come to it; then it never does."""
    done, given_up = threading.Event(), threading.Event()

    def pending(_):
        if given_up.is_set() or done.is_set():
            return 0
        if _is_inside(_NOT_INSIDE):
            return 0  # not here; asked again
        function()
        done.set()
        return 0

    callback = _PendingCall(pending)
    _kept.append(callback)
    tries = max(1, int(within_s / 0.01))
    for _ in range(tries):
        ctypes.pythonapi.Py_AddPendingCall(callback, None)
        if done.wait(0.01):
            return True
    given_up.set()
    return done.is_set()
