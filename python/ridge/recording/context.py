"""ridge.profile() and ridge.trace_handler(): recording from inside a program."""

import os
import sys
from typing import Iterable, List, NamedTuple, Optional, Union

from . import background, console, settings as settings_of
from .ranks import this_process
from .session import Session
from .summary import first_lines
from .window import Window

Place = Union[str, "os.PathLike[str]"]


class _Wishes(NamedTuple):
    after_steps: Optional[int]
    steps: Optional[int]
    after_seconds: Optional[float] = None
    seconds: Optional[float] = None


def _is_first_rank() -> bool:
    rank = this_process()
    return rank is None or rank.rank == 0


class Profile:
    """What `with ridge.profile(...) as prof:` gives: prof.step() at the end of each step; prof.files has the traces once they are written. All else
    (key_averages(), events(), add_metadata(), ...) is torch.profiler's."""

    def __init__(self, to: str, wishes: _Wishes, options: dict, summary: bool):
        self.files: List[str] = []
        self._to = to
        self._wishes = wishes
        self._options = options
        self._summary = summary
        self._session = None
        self._stepped = 0
        self._window = Window(wishes, self._make_session, closed=self._closed, failed=self._failed)

    def __enter__(self) -> "Profile":
        self._window.before_steps()
        return self

    def step(self) -> None:
        """The end of a step."""
        self._stepped += 1
        self._window.step_ended()

    def __exit__(self, *exception) -> None:
        self._window.close()
        background.wait()
        self._report()

    def __getattr__(self, name: str):
        session = self.__dict__.get("_session")
        if session is None:
            raise AttributeError("%s: nothing is recorded yet, so there is no torch.profiler to ask" % name)
        return getattr(session.torch, name)

    def _make_session(self, warm_up: bool):
        self._session = Session(warm_up=warm_up, **self._options)
        return self._session

    def _closed(self, session, steps: int) -> None:
        background.write(session.save, self._to, this_process(), self.files.append, self._not_written)

    def _not_written(self, error) -> None:
        console.say("no trace: %s" % error)

    def _failed(self, error: BaseException) -> None:
        raise error  # this program asked for it: it gets to know

    def _report(self) -> None:
        if not self.files:
            if self._session is None:
                wanted = self._wishes.after_steps
                console.say("no trace: %d calls of step(), and after=%s skips more; steps=None records the whole block" % (self._stepped, wanted))
            return
        if self._summary and _is_first_rank():
            sys.stderr.write(first_lines(self.files[-1]))


def profile(
    to: Place = "ridge-traces",
    *,
    after: int = settings_of.STEPS_AFTER,
    steps: Optional[int] = settings_of.STEPS,
    shapes: bool = True,
    stacks: bool = False,
    memory: bool = False,
    activities: Optional[Iterable] = None,
    summary: bool = True,
) -> Profile:
    """Records `steps` steps after the first `after`, the last of which warms the profiler up; steps=None: the whole block, as one.

        with ridge.profile("traces") as prof:
            for batch in loader:
                train(batch)
                prof.step()

    `to` is a folder (trace.json.gz, or rank0.json.gz, rank1.json.gz, ... of a job) or a file that ends in .json.gz. The trace is compressed beside
    the program's own work, appears only when whole, and replaces no other. At the end the first lines of its summary go to standard error."""
    if after < 0 or (steps is not None and steps < 1):
        raise ValueError("after is at least 0 and steps at least 1: %r, %r" % (after, steps))
    options = dict(shapes=shapes, stacks=stacks, memory=memory, activities=activities)
    return Profile(os.fspath(to), _Wishes(0 if steps is None else after, steps), options, summary)


def trace_handler(to: Place = "ridge-traces"):
    """For torch.profiler.profile(on_trace_ready=...): each window becomes a file of its own, as with profile(), while the program goes on."""
    place = os.fspath(to)

    def handle(prof) -> None:
        save = getattr(prof, "profiler", None) or prof  # of this window: the next one replaces it
        written = lambda path: console.say("wrote %s" % console.printable(path))
        background.write(save.export_chrome_trace, place, this_process(), written, lambda error: console.say("no trace: %s" % error))

    return handle
