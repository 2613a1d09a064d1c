"""One process of a command under `ridge record` that has imported torch: joins steps, window, files, and the ways in which a process ends."""

import atexit
import os
import signal
import sys
import threading
import time
from typing import Callable

from . import background, console
from .cupti import Cupti
from .own_profiler import OwnProfiler
from .ranks import this_process
from .session import Session
from .steps import ModuleCalls, OptimizerSteps
from .window import Window

TERM_WAITS_S = 20  # for a trace that is being written; torchrun kills after 30
STEP_WITHIN_S = 5  # the next step of an optimizer that has made some
MODEL_CALL_WITHIN_S = 2  # else a process that uses a GPU is recorded by time alone
WARM_UP_S = 0.1  # of a window that knows no steps
KERNEL_WITHIN_S = 60  # else such a window is kept as it is; CUDA may take seconds to load what the first kernel needs

told = False  # whether this process has said what became of its trace


def _say(text: str) -> None:
    global told
    told = True
    console.say(text)


def _harmless(method):
    """What is called from within the program must not raise into it."""

    def call(self):
        try:
            method(self)
        except Exception as error:
            self._window.abandon()
            self._window_failed(error)

    return call


class _OursOnly:
    """A session whose profiler is known to be ours."""

    def __init__(self, session, own_profiler: OwnProfiler, stop: Callable):
        self._session = session
        self._ours = own_profiler.ours
        self._stop = stop
        self.save = session.save
        self.saw_device = session.saw_device

    def start(self):
        self._ours(self._session.start)

    def step(self):
        self._ours(self._session.step)

    def stop(self):
        self._ours(self._stop, self._session.stop)


class Process:
    def __init__(self, torch, settings):
        self._torch = torch
        self._settings = settings
        self._optimizers = 0
        self._why_early = ""
        self._term_handled = False
        self._ending = False
        self._kernel_until_s = 0.0  # of a window by time alone: until then one without a kernel is made again
        self._allocations = None  # on the device, when it began to record
        self._cupti = Cupti(torch)
        self._own_profiler = OwnProfiler(torch, begins=self._program_profiles)
        self._window = self._new_window()
        self._module_calls = ModuleCalls(torch, begins=self._model_called)
        OptimizerSteps(torch, created=self._optimizer_created, ended=self._step_ended)
        self._ends_with_multiprocessing = False
        atexit.register(self._at_exit)
        os.register_at_fork(after_in_child=self._in_forked_child)
        self._wait_for_time()

    def _wait_for_time(self) -> None:
        if self._settings.after_seconds is not None:
            threading.Thread(target=self._without_optimizer, name="ridge waits", daemon=True).start()

    def _new_window(self, settings=None) -> Window:
        return Window(settings or self._settings, self._make_session, closed=self._window_closed, failed=self._window_failed, in_the_way=self._in_the_way)

    def _make_session(self, warm_up: bool):
        self._end_with_multiprocessing()
        settings = self._settings
        made = Session(shapes=settings.shapes, stacks=settings.stacks, memory=settings.memory, warm_up=warm_up)
        self._handle_term()
        return _OursOnly(made, self._own_profiler, self._stop)

    def _stop(self, stop) -> None:
        """A program that goes on is left without CUPTI; one that ends need not be, and would have to wait for it. Nor is one that is about to be
        recorded once more."""
        if self._ending or self._did_nothing():
            stop()
        else:
            self._cupti.stop_and_detach(stop)

    def _in_the_way(self) -> bool:
        """The program's own profiler, or a CUDA graph's capture, which a profiler must not disturb."""
        if self._own_profiler.running() and not self._window.open:
            return True
        cuda = self._torch.cuda
        return cuda.is_initialized() and cuda.is_current_stream_capturing()

    # Steps.

    @_harmless
    def _optimizer_created(self) -> None:
        self._end_with_multiprocessing()
        self._optimizers += 1
        self._window.before_steps()

    @_harmless
    def _step_ended(self) -> None:
        if self._window.over:
            self._unhandle_term()
        else:
            self._module_calls.remove()  # there are steps after all
            self._window.step_ended()

    @staticmethod
    def _is_loader() -> bool:
        """A data loader's worker; its transforms may be modules."""
        from torch.utils.data import get_worker_info

        return get_worker_info() is not None

    @_harmless
    def _model_called(self) -> None:
        if self._is_loader():
            self._module_calls.remove()
            return
        self._window.step_ended()
        if self._window.over:
            self._module_calls.remove()

    def _compiling(self) -> bool:
        """Whether any thread is inside Dynamo: what it traces now must not meet a replaced method."""
        frames = list(sys._current_frames().values())
        while frames:
            frame = frames.pop()
            if frame.f_code.co_filename.endswith("torch/_dynamo/convert_frame.py"):
                return True
            if frame.f_back is not None:
                frames.append(frame.f_back)
        return False

    @_harmless
    def _without_optimizer(self) -> None:
        """A thread of its own, when the window opens by time. Where no optimizer makes steps by then (any more: a CUDA graph may hold them), calls of a
        model stand for steps; where there are none either, but work on a GPU, time alone counts."""
        time.sleep(self._settings.after_seconds)
        if self._is_loader():
            return
        if self._window.seen > 0 and self._opens_within(STEP_WITHIN_S):
            return
        while self._compiling():
            time.sleep(0.05)
        if self._window.open or self._window.over:
            return
        self._module_calls.install()
        while not self._torch.cuda.is_initialized():
            if self._opens_within(1):
                return
        if not self._opens_within(MODEL_CALL_WITHIN_S) and not self._is_loader():
            self._module_calls.remove()
            self._record_by_time()

    def _opens_within(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while not (self._window.open or self._window.over):
            if time.monotonic() >= until:
                return False
            time.sleep(0.02)
        return True

    def _record_by_time(self) -> None:
        """From a thread that only waits; the profiler itself is started and stopped by the main thread, between two of its bytecodes."""
        from . import main_thread

        self._kernel_until_s = time.monotonic() + KERNEL_WITHIN_S
        while True:
            window = self._window
            if not main_thread.call(self._by_time_steps) or not window.open:
                return
            time.sleep(WARM_UP_S)
            main_thread.call(self._by_time_steps)
            time.sleep(self._settings.seconds or 1.0)
            main_thread.call(self._by_time_ends)
            if self._window is window:
                return
            self._cupti.settle()

    def _device_allocations(self):
        """How often the program has asked for memory of a device so far; tells without a CUDA call whether it does anything there."""
        try:
            return self._torch.cuda.memory_stats().get("allocation.all.allocated")
        except Exception:
            return None

    def _did_nothing(self) -> bool:
        return self._allocations is not None and self._allocations == self._device_allocations()

    def _is_empty(self, session) -> bool:
        """A window by time alone that holds no kernel though there may be some soon: CUDA was still loading."""
        return not self._ending and time.monotonic() < self._kernel_until_s and not session.saw_device()

    @_harmless
    def _by_time_steps(self) -> None:
        self._window.step_ended()
        self._allocations = self._device_allocations()

    @_harmless
    def _by_time_ends(self) -> None:
        self._window.close()

    # Ends.

    def _window_closed(self, session, steps: int) -> None:
        if self._is_empty(session):
            self._window = self._new_window(self._settings._replace(after_seconds=0.0))
            return
        rank = this_process()

        def written(path: str) -> None:
            if self._settings.quiet or (rank is not None and rank.rank != 0):
                return
            length = "%d step%s" % (steps, "" if steps == 1 else "s") if steps else "by time"
            what = "%s%s, %s" % (length, self._why_early, console.size_of(os.path.getsize(path)))
            each = "; every rank writes its own" if rank is not None else ""
            _say("wrote %s (%s%s)" % (console.printable(path), what, each))

        background.write(session.save, self._settings.place, rank, written, lambda error: _say("no trace: %s" % error))

    def _window_failed(self, error: BaseException) -> None:
        _say("no trace: %s: %s" % (type(error).__name__, error))

    @_harmless
    def _program_profiles(self) -> None:
        if self._window.open:
            self._why_early = ": the program began to profile itself"
            self._window.close()
        self._cupti.leave_to_others()

    @_harmless
    def _at_exit(self) -> None:
        self._ending = True
        self._cupti.settle()
        self._module_calls.remove()
        window = self._window
        if window.open:
            self._why_early = self._why_early or ": the program ended"
            window.close()
            background.wait()
            if not told:
                _say("no trace: the program ended before its first recorded step")
        elif not window.over and self._optimizers and not self._settings.quiet:
            if self._own_profiler.running():
                _say("no trace: the program profiles itself, and a process has one profiler")
            elif window.seen == 0:
                _say("no trace: no step() of an optimizer was seen (a compiled one is not); try --after 10s --seconds 2")
            elif self._settings.after_steps is not None:
                _say("no trace: the program ended after %d optimizer steps; --after %d skips more" % (window.seen, self._settings.after_steps))
        background.wait()

    @_harmless
    def _in_forked_child(self) -> None:
        """A data loader's worker, or a rank: the child has a window of its own, and leaves the parent's session, files and messages alone."""
        global told
        told = False
        background.forget()
        self._parents = self._window  # kept, so that nothing of the parent's profiler is destroyed here
        self._parents.abandon()
        self._module_calls.remove()
        self._optimizers = 0
        self._window = self._new_window()
        self._ends_with_multiprocessing = False
        self._unhandle_term()
        self._wait_for_time()  # a thread of the parent's, which the child has not

    def _end_with_multiprocessing(self) -> None:
        """A process that multiprocessing forks ends without atexit, but not without multiprocessing's own list. That list is emptied after the fork:
        this has to come later."""
        multiprocessing = sys.modules.get("multiprocessing.process")
        if self._ends_with_multiprocessing or multiprocessing is None or multiprocessing.parent_process() is None:
            return
        from multiprocessing.util import Finalize

        self._ends_with_multiprocessing = True
        atexit.unregister(self._at_exit)  # where that is heeded too: once will do
        Finalize(None, self._at_exit, exitpriority=0)

    # SIGTERM ends a process without atexit. While a window is open or being written, the trace is saved first; then the signal does what it does.

    def _handle_term(self) -> None:
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._on_term)
            self._term_handled = True

    def _unhandle_term(self) -> None:
        if not self._term_handled or threading.current_thread() is not threading.main_thread() or not background.wait(0):
            return
        self._term_handled = False
        if signal.getsignal(signal.SIGTERM) == self._on_term:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def _on_term(self, number, frame) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        try:
            self._ending = True
            self._why_early = ": SIGTERM"
            self._window.close()
            background.wait(TERM_WAITS_S)
        finally:
            os.kill(os.getpid(), number)
