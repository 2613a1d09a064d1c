"""One session of torch.profiler as this package uses it."""

import contextlib
import warnings
from typing import Iterable, Iterator, Optional


class Session:
    """start(), step() at the end of each step, stop(); then save(path), from any thread."""

    def __init__(self, *, shapes: bool, stacks: bool, memory: bool, warm_up: bool, activities: Optional[Iterable[object]] = None):
        from torch import profiler

        first = profiler.ProfilerAction.WARMUP if warm_up else profiler.ProfilerAction.RECORD
        self.torch = profiler.profile(
            activities=activities,
            record_shapes=shapes,
            with_stack=stacks,
            profile_memory=memory,
            schedule=lambda step: first if step == 0 else profiler.ProfilerAction.RECORD,  # a schedule: without one there is no ProfilerStep#
        )

    def start(self) -> None:
        with _without_warnings():
            self.torch.start()

    def step(self) -> None:
        with _without_warnings():
            self.torch.step()

    def stop(self) -> None:
        self.torch.stop()

    def saw_device(self) -> bool:
        """Whether the stopped session holds work of a device; True where that cannot be told."""
        import torch

        results = getattr(getattr(self.torch, "profiler", None), "kineto_results", None)
        if results is None or not torch.cuda.is_available():
            return True
        return any(event.device_type() != torch.autograd.DeviceType.CPU for event in results.events())

    def save(self, path: str) -> None:
        self.torch.export_chrome_trace(path)


@contextlib.contextmanager
def _without_warnings() -> Iterator[None]:
    """Newer versions warn that a schedule forgets the events of earlier windows. There are none."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Profiler clears events")
        yield
