"""One session of torch.profiler as this package uses it."""

import contextlib
import os
import warnings
from typing import Iterable, Iterator, Optional


class Session:
    """start(), step() at the end of each step, stop(); then save(path), from any thread.

    alone: no other session of this process is expected. CUPTI is then detached from the program behind this one: attached, it slows every launch, by
    a quarter of the step in a launch-bound program on an H200."""

    def __init__(
        self,
        *,
        shapes: bool,
        stacks: bool,
        memory: bool,
        warm_up: bool,
        activities: Optional[Iterable[object]] = None,
        all_threads: bool = False,
        alone: bool = False,
    ):
        from torch import profiler

        more = {}
        if all_threads:
            from torch._C._profiler import _ExperimentalConfig

            more["experimental_config"] = _ExperimentalConfig(profile_all_threads=True)
        first = profiler.ProfilerAction.WARMUP if warm_up else profiler.ProfilerAction.RECORD
        self._alone = alone
        self.torch = profiler.profile(
            activities=activities,
            record_shapes=shapes,
            with_stack=stacks,
            profile_memory=memory,
            schedule=lambda step: first if step == 0 else profiler.ProfilerAction.RECORD,  # a schedule: without one there is no ProfilerStep#
            **more,
        )

    def start(self) -> None:
        with _without_warnings():
            self.torch.start()

    def step(self) -> None:
        with _without_warnings():
            self.torch.step()

    def stop(self) -> None:
        with _detaching_cupti() if self._alone else contextlib.nullcontext():
            self.torch.stop()

    def save(self, path: str) -> None:
        self.torch.export_chrome_trace(path)


@contextlib.contextmanager
def _without_warnings() -> Iterator[None]:
    """Newer versions warn that a schedule forgets the events of earlier windows. There are none."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Profiler clears events")
        yield


@contextlib.contextmanager
def _detaching_cupti() -> Iterator[None]:
    """Kineto reads this variable when a session stops. Whoever has set it is not overruled: torch itself sets it to 0 for Inductor's CUDA graphs.
    Before CUDA 12 what is detached cannot be attached again."""
    import torch

    major = (torch.version.cuda or "0").split(".")[0]
    ours = "TEARDOWN_CUPTI" not in os.environ and major.isdigit() and int(major) >= 12
    if ours:
        os.environ["TEARDOWN_CUPTI"] = "1"
    try:
        yield
    finally:
        if ours:
            del os.environ["TEARDOWN_CUPTI"]


def can_record_all_threads() -> bool:
    """Whether a session may be started by a thread that is not the one to be recorded (PyTorch 2.7 and later)."""
    try:
        from torch._C._profiler import _ExperimentalConfig

        _ExperimentalConfig(profile_all_threads=True)
        return True
    except Exception:
        return False
