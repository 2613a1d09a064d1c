"""The recorded part of a program, from the end of one step to the end of another. Told where steps end, it opens and closes a profiler session. Knows
nothing of torch: a session is anything with start(), step() and stop().

  waiting -> open -> closed

1. A session is started, stepped and stopped in one thread: torch records per thread.
2. Whatever a session raises ends the window, and nothing else."""

import threading
import time
from typing import Callable, Optional


class Window:
    def __init__(
        self,
        settings,
        make_session: Callable[[bool], object],  # takes whether the first step is for warming up
        closed: Callable[[object, int], None],  # the session, stopped, and how many whole steps it recorded
        failed: Callable[[BaseException], None],
        in_the_way: Callable[[], bool] = lambda: False,  # the profiler can neither start nor stop here
        clock: Callable[[], float] = time.monotonic,
    ):
        self._settings = settings
        self._make_session = make_session
        self._closed = closed
        self._failed = failed
        self._in_the_way = in_the_way
        self._clock = clock
        self._begun_s = clock()
        self._session: Optional[object] = None
        self._thread = 0
        self._warming = False
        self._opened_s = 0.0
        self._recorded = 0
        self.seen = 0  # steps that ended, until the window opened
        self.over = False

    @property
    def open(self) -> bool:
        return self._session is not None

    def before_steps(self) -> None:
        """The program is about to make steps: the place to start when the first of them counts."""
        if not self.over and not self.open and self._settings.after_steps in (0, 1):
            self._start(warm_up=self._settings.after_steps == 1)

    def step_ended(self) -> None:
        if self.over:
            return
        if self.open:
            if threading.get_ident() == self._thread:
                self._go_on()
            return
        self.seen += 1
        if self._due():
            self._start(warm_up=True)

    def close(self) -> None:
        """Now, with what there is. From the thread that opened it, or when that one is gone."""
        session, self._session = self._session, None
        if session is None:
            return
        self.over = True
        try:
            session.stop()
        except Exception as error:
            self._failed(error)
            return
        if self._warming:
            return  # nothing was recorded yet
        self._closed(session, self._recorded)

    def abandon(self) -> None:
        """Without a trace; the session is somebody else's: a parent's, before a fork."""
        self._session = None
        self.over = True

    def _due(self) -> bool:
        if self._settings.after_steps is not None:
            return self.seen >= self._settings.after_steps - 1
        return self._clock() - self._begun_s >= self._settings.after_seconds

    def _start(self, warm_up: bool) -> None:
        if self._in_the_way():
            return
        session = None
        try:
            session = self._make_session(warm_up)
            session.start()
        except Exception as error:
            self.over = True
            self._failed(error)
            return
        self._session = session
        self._thread = threading.get_ident()
        self._warming = warm_up
        self._opened_s = self._clock()

    def _complete(self) -> bool:
        steps, seconds = self._settings.steps, self._settings.seconds
        return (steps is not None and self._recorded >= steps) or (seconds is not None and self._clock() - self._opened_s >= seconds)

    def _go_on(self) -> None:
        if self._warming:
            self._opened_s = self._clock()
        else:
            self._recorded += 1
            if self._complete() and not self._in_the_way():
                self.close()
                return
        try:
            self._session.step()
            self._warming = False
        except Exception as error:
            session = self._session
            self.abandon()
            self._failed(error)
            self._stop_quietly(session)

    @staticmethod
    def _stop_quietly(session) -> None:
        """A session that failed should not go on; that it cannot be stopped either says nothing new."""
        try:
            session.stop()
        except Exception:
            pass
