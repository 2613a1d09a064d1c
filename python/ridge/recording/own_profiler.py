"""A program may use torch.profiler itself. There is one profiler per process: the program's comes first."""

import threading
from typing import Callable


class _Ours(threading.local):
    now = False


class OwnProfiler:
    """Knows whether the program profiles itself, and calls `begins` just before it begins to. `ours()` tells our own sessions apart."""

    def __init__(self, torch, begins: Callable[[], None]):
        self._begins = begins
        self._ours = _Ours()
        self._running = set()
        for name in ("profile", "emit_nvtx", "emit_itt"):
            if hasattr(torch.autograd.profiler, name):
                self._install(getattr(torch.autograd.profiler, name))

    def running(self) -> bool:
        return bool(self._running)

    def ours(self, call: Callable, *args):
        self._ours.now = True
        try:
            return call(*args)
        finally:
            self._ours.now = False

    def _install(self, profile_class) -> None:
        for name in ("__enter__", "_prepare_trace", "_start_trace"):
            if hasattr(profile_class, name):
                setattr(profile_class, name, self._beginning(getattr(profile_class, name)))
        profile_class.__exit__ = self._ending(profile_class.__exit__)

    def _beginning(self, original):
        def begin(profile, *args, **kwargs):
            if not self._ours.now and getattr(profile, "enabled", True):
                if id(profile) not in self._running:
                    self._running.add(id(profile))
                    self._begins()
            return original(profile, *args, **kwargs)

        return begin

    def _ending(self, original):
        def end(profile, *args, **kwargs):
            try:
                return original(profile, *args, **kwargs)
            finally:
                self._running.discard(id(profile))

        return end
