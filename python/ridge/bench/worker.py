"""The process that runs scripts on the GPU. One JSON line in, one out; the answers have a pipe of their own, so that whatever a script prints is no answer.
An error that takes the device down ends the process: the parent starts another."""

import json
import os
import signal
import sys
import traceback


class Lost(Exception):
    """The device cannot be used by this process any more."""


def _last_line(error):
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    return text.splitlines()[0][:500] if text else type(error).__name__


class Worker:
    def __init__(self, torch, on):
        self.torch = torch
        self.on = on
        self.has_gpu = torch.cuda.is_available()
        self._meter = None
        self._clocks = None

    @property
    def clocks(self):
        from .clocks import Clocks

        if self._clocks is None:
            self._clocks = Clocks(self.torch)
        return self._clocks

    @property
    def meter(self):
        from .meter import Meter

        if self._meter is None:
            self._meter = Meter(self.torch, self.clocks)
        return self._meter

    def answer(self, request):
        """What the request asks for; an error of the script is an answer too."""
        from . import tasks

        try:
            return tasks.TASKS[request["do"]](self, request)
        except Exception as error:
            answer = {"status": "failed", "reason": _last_line(error), "lost": self._is_lost(error)}
            traceback.print_exc()
            return answer

    def _is_lost(self, error):
        """Whether the device is out of reach: after an illegal access every call fails. Out of memory, the parent starts afresh too."""
        if isinstance(error, getattr(self.torch, "OutOfMemoryError", self.torch.cuda.OutOfMemoryError)):  # of versions before 2.5 only the latter
            return True
        if not self.has_gpu or not self.torch.cuda.is_initialized():
            return False
        try:
            self.torch.cuda.synchronize()
            self.torch.ones(1, device="cuda").add_(1).item()
            return False
        except Exception:
            return True


def main(words):
    """words: the number of the pipe for answers, and where to run: cuda, cpu or meta."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())  # the parent holds some back while it starts a worker
    answers = os.fdopen(int(words[0]), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)  # what is printed goes where errors go
    import torch

    worker = Worker(torch, words[1])
    for line in sys.stdin:
        request = json.loads(line)
        answer = worker.answer(request)
        answer["id"] = request["id"]
        sys.stdout.flush()  # what this call printed is not the next one's
        answers.write(json.dumps(answer, default=str) + "\n")
        answers.flush()
        if answer.get("lost"):
            os._exit(3)  # nothing of torch is taken down: it would wait for the device
    return 0
