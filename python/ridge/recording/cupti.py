"""CUPTI is what Kineto sees a GPU through. After a session it stays attached to the program, and slows every launch: by a quarter of the step in a
launch-bound program on an H200. Kineto lets go of it if asked; this asks, for a session in the middle of a program, and sees that it is done.

Kineto reads TEARDOWN_CUPTI when a session stops. A thread of its own then waits for the program's next CUDA call, inside of which it detaches. A process that
ends while that thread waits hangs: hence settle()."""

import os
import time
from typing import Callable, Optional

_VARIABLE = "TEARDOWN_CUPTI"
_SETTLES_WITHIN_S = 1.0  # the thread flushes CUPTI's buffers before it waits
_CALLS = 5


class Cupti:
    def __init__(self, torch):
        self._torch = torch
        self._asked = False  # the variable is ours
        self._asked_at_s: Optional[float] = None

    def stop_and_detach(self, stop: Callable[[], None]) -> None:
        """Where somebody else has set the variable, they are not overruled: torch sets it to 0 for Inductor's CUDA graphs. Before CUDA 12 what is
        detached cannot be attached again."""
        major = (self._torch.version.cuda or "0").split(".")[0]
        if _VARIABLE not in os.environ and major.isdigit() and int(major) >= 12 and self._torch.cuda.is_initialized():
            os.environ[_VARIABLE] = "1"
            self._asked = True
            self._asked_at_s = time.monotonic()
        stop()

    def leave_to_others(self) -> None:
        """The program begins a session of its own: as it would be without ours."""
        if self._asked:
            self._asked = False
            os.environ.pop(_VARIABLE, None)

    def settle(self) -> None:
        """Before the process ends."""
        if self._asked_at_s is None:
            return
        time.sleep(max(0.0, self._asked_at_s + _SETTLES_WITHIN_S - time.monotonic()))
        self._asked_at_s = None
        for _ in range(_CALLS):
            try:
                self._torch.cuda.synchronize()
            except Exception:  # a device that failed; the call was made all the same
                pass
            time.sleep(0.02)
