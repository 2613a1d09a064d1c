"""Where a program's steps end, without its help: the return of its optimizer's step(), or, for programs without one, its calls of a model.

Methods of classes are replaced for it. Dynamo may trace the replacements: while it compiles, they are what they replace, so compiled code is as it
is without them."""

import inspect
import threading
from typing import Callable

OTHERS_MAY_STEP = 10  # of one other optimizer; then the leading one is taken to be retired


class _Inside(threading.local):
    yes = False


def _compiling_test(torch) -> Callable[[], bool]:
    return getattr(getattr(torch, "compiler", None), "is_compiling", None) or (lambda: False)


def _looks_like(replacement, original):
    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        if hasattr(original, name):
            setattr(replacement, name, getattr(original, name))
    try:
        replacement.__signature__ = inspect.signature(original)
    except (TypeError, ValueError):
        pass
    return replacement


class OptimizerSteps:
    """Calls `ended` after every step of the program, `created` when it makes an optimizer.

    Of several optimizers one leads, the first to step: its steps are the program's. A step inside another's is no step of its own, and one in a
    thread of autograd's (optimizers that run inside backward) is no place to start a profiler."""

    def __init__(self, torch, created: Callable[[], None], ended: Callable[[], None]):
        self._compiling = _compiling_test(torch)
        self._created = created
        self._ended = ended
        self._inside = _Inside()
        self._leader = None
        self._others = {}
        self._install(torch.optim.Optimizer)

    def _install(self, optimizer_class) -> None:
        # Runs in every optimizer's __init__ and after unpickling: wraps step() of its class for the profiler's annotation, once.
        name = "_patch_step_function" if hasattr(optimizer_class, "_patch_step_function") else "_hook_for_profile"
        original = getattr(optimizer_class, name)

        def patch(optimizer):
            original(optimizer)
            self._watch(type(optimizer))
            self._created()

        setattr(optimizer_class, name, _looks_like(patch, original))

    def _watch(self, cls) -> None:
        step = cls.step
        if getattr(step, "ridge_watches", False):
            return
        watched = self._watched(step)
        if getattr(step, "hooked", False):
            watched.hooked = True  # by torch, which else hooks it again
            unhooked = getattr(step, "__wrapped__", None)
            if unhooked is not None:
                watched.__wrapped__ = self._watched(unhooked)  # what Dynamo puts in its place
        cls.step = watched

    def _watched(self, function):
        compiling, inside, ended = self._compiling, self._inside, self._step_of

        def step(self, *args, **kwargs):
            if compiling() or inside.yes:
                return function(self, *args, **kwargs)
            inside.yes = True
            try:
                result = function(self, *args, **kwargs)
            finally:
                inside.yes = False
            ended(self)
            return result

        step.ridge_watches = True
        return _looks_like(step, function)

    def _step_of(self, optimizer) -> None:
        if isinstance(threading.current_thread(), threading._DummyThread):
            return
        which = id(optimizer)
        if self._leader is not None and which != self._leader:
            self._others[which] = self._others.get(which, 0) + 1
            if self._others[which] < OTHERS_MAY_STEP:
                return
        self._leader = which
        self._others.clear()
        self._ended()


class ModuleCalls:
    """Calls `begins` at each call of a module that no other module makes. Replaces Module.__call__: only for as long as it is needed."""

    def __init__(self, torch, begins: Callable[[], None]):
        self._module_class = torch.nn.Module
        original = self._original = torch.nn.Module.__call__
        compiling, inside = _compiling_test(torch), _Inside()

        def __call__(self, *args, **kwargs):
            if compiling() or inside.yes:
                return original(self, *args, **kwargs)
            inside.yes = True
            try:
                begins()
                return original(self, *args, **kwargs)
            finally:
                inside.yes = False

        self._replacement = _looks_like(__call__, original)

    def install(self) -> None:
        self._module_class.__call__ = self._replacement

    def remove(self) -> None:
        if self._module_class.__call__ is self._replacement:
            self._module_class.__call__ = self._original
