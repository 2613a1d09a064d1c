"""One session of torch.profiler as this package uses it."""

from typing import Iterable, Optional


class Session:
    """start(), step() at the end of each step, stop(); then save(path), from any thread."""

    def __init__(self, *, shapes: bool, stacks: bool, memory: bool, warm_up: bool, activities: Optional[Iterable] = None, all_threads: bool = False):
        from torch import profiler

        more = {}
        if all_threads:
            from torch._C._profiler import _ExperimentalConfig

            more["experimental_config"] = _ExperimentalConfig(profile_all_threads=True)
        first = profiler.ProfilerAction.WARMUP if warm_up else profiler.ProfilerAction.RECORD
        self.torch = profiler.profile(
            activities=activities,
            record_shapes=shapes,
            with_stack=stacks,
            profile_memory=memory,
            schedule=lambda step: first if step == 0 else profiler.ProfilerAction.RECORD,  # a schedule: without one there is no ProfilerStep#
            **more,
        )

    def start(self) -> None:
        self.torch.start()

    def step(self) -> None:
        self.torch.step()

    def stop(self) -> None:
        self.torch.stop()

    def save(self, path: str) -> None:
        self.torch.export_chrome_trace(path)


def can_record_all_threads() -> bool:
    """Whether a session may be started by a thread that is not the one to be recorded (PyTorch 2.7 and later)."""
    try:
        from torch._C._profiler import _ExperimentalConfig

        _ExperimentalConfig(profile_all_threads=True)
        return True
    except Exception:
        return False
