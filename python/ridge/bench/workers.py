"""The parent's side of a worker: starts it, asks it, and tells what became of it when it dies, hangs or answers nonsense. Never imports torch."""

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time

from . import stopping

START = os.path.join(os.path.dirname(os.path.abspath(__file__)), "start.py")
MOST_BYTES = 64 << 20  # of one answer
TOLD_LINES = 3  # of what the worker said last


class Workers:
    """One worker at a time, started when it is needed."""

    def __init__(self, on="cuda", python=None, environment=None, command=None):
        self._command = command or [python or sys.executable, START, "worker"]
        self._on = on
        self._environment = environment
        self._process = None
        self._said = None
        self._said_before = 0
        self._next = 0
        self.started = 0

    def ask(self, do, deadline_s, **request):
        """The worker's answer: a dict with `status`. A worker that does not answer is ended, and the answer says why."""
        try:
            self._start()
        except OSError as error:
            return {"status": "failed", "reason": "the worker cannot be started: %s" % error}
        self._next += 1
        request.update(do=do, id=self._next)
        self._said_before = self._said.seek(0, os.SEEK_END)  # by earlier requests
        try:
            self._process.stdin.write((json.dumps(request) + "\n").encode())
            self._process.stdin.flush()
        except OSError:
            return self._ended()
        line, why = self._line(time.monotonic() + deadline_s)
        if why == "deadline":
            self._kill()
            return {"status": "hung", "reason": "no answer within %g s" % deadline_s}
        if line is None:
            return self._ended(why)
        answer = _answer(line, self._next)
        if answer is None:
            self._kill()
            return {"status": "failed", "reason": "the worker's answer is no answer: %s" % _printable(line[:80])}
        if answer.get("lost"):
            self._kill(wait_s=5)
        return answer

    def close(self, finish=True):
        """finish: the worker may end by itself; else it is ended whatever it does."""
        if self._process is not None and finish:
            self._process.stdin.close()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                pass
        self._kill()

    def _start(self):
        if self._process is not None and self._process.poll() is None:
            return
        self._kill()
        read, write = os.pipe()
        self._said = tempfile.TemporaryFile()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, stopping.SIGNALS)  # one that is started is known, and ended with the parent
        try:
            self._process = subprocess.Popen(
                [*self._command, str(write), self._on],
                stdin=subprocess.PIPE,
                stdout=self._said,
                stderr=self._said,
                pass_fds=[write],
                env=self._environment,
                start_new_session=True,  # compilers that it starts end with it
            )
            self._answers = read
            self._rest = b""
            self.started += 1
        except OSError:
            os.close(read)
            raise
        finally:
            os.close(write)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _line(self, deadline):
        """(one line of the answers, None), or (None, why there is none)."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._answers, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                left = deadline - time.monotonic()
                if left <= 0:
                    return None, "deadline"
                ended = self._process.poll() is not None  # what it started may hold the pipe open
                if not selector.select(0 if ended else min(left, 1.0)):
                    if ended:
                        return None, "ended"
                    continue
                read = os.read(self._answers, 1 << 16)
                if not read:
                    return None, "ended"
                self._rest += read
                if len(self._rest) > MOST_BYTES:
                    return None, "its answer has no end"
        line, _, self._rest = self._rest.partition(b"\n")
        return line, None

    def _ended(self, why="ended"):
        process = self._process
        try:
            code = process.wait(5)
        except subprocess.TimeoutExpired:
            code = None
        said = self._last_words()
        self._kill()
        if code is None:
            how = why
        elif code < 0:
            how = "killed by %s" % _signal_name(-code)
        else:
            how = "ended with exit code %d" % code
        reason = "the worker was lost: %s%s" % (how, ": " + said if said else "")
        return {"status": "crashed", "reason": reason}

    def _last_words(self):
        end = self._said.seek(0, os.SEEK_END)
        self._said.seek(max(self._said_before, end - 4096))
        lines = [line.strip() for line in self._said.read().decode("utf-8", "replace").splitlines() if line.strip()]
        return _printable(" / ".join(lines[-TOLD_LINES:]))

    def _kill(self, wait_s=0.0):
        process, self._process = self._process, None
        if process is None:
            return
        try:
            if wait_s:
                process.wait(wait_s)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        for each in (process.stdin, self._said):
            try:
                each.close()
            except OSError:  # a pipe whose other end is gone
                pass
        os.close(self._answers)


def _answer(line, expected):
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(answer, dict) or answer.get("id") != expected or not isinstance(answer.get("status"), str):
        return None
    return answer


def _signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return "signal %d" % number


def _printable(text):
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    return "".join(c if c.isprintable() else "\ufffd" for c in text)[:500]
