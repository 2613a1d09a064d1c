"""What ends a bench early: Ctrl-C, SIGTERM, a terminal that was closed. The worker must not be left on the GPU, and what was measured by then is kept. In the parent."""

import signal
import time

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
AS_ONE_S = 1.0  # a key that was hit twice, a signal to the group and to the process

_first = None


class Stopped(BaseException):
    """Carries the exit code that a shell expects of the signal."""

    def __init__(self, number):
        super().__init__(number)
        self.code = 128 + number


def _stop(number, frame):
    global _first
    now = time.monotonic()
    if _first is not None and now - _first < AS_ONE_S:
        return
    _first = now
    raise Stopped(number)


def listen():
    for each in SIGNALS:
        if signal.getsignal(each) is not signal.SIG_IGN:  # nohup, or behind a shell
            signal.signal(each, _stop)
