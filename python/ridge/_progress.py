"""How far a long read is: a line on a terminal, a bar in a notebook, nothing elsewhere; never within its first half second."""

import contextlib
import sys
import time

_SILENCE_S = 0.5
_BETWEEN_S = 0.1


@contextlib.contextmanager
def shown(progress, counts=False):
    """Gives the function to call with (phase, done, total), or None; takes away at the end what was shown. `counts`: of things, not of bytes."""
    if progress is False:
        yield None
    elif progress is not None:
        yield progress
    else:
        bar = _notebook_bar(counts) or _terminal_line(counts)
        if bar is None:
            yield None
            return
        try:
            yield bar.update
        finally:
            bar.clear()


def in_notebook():
    """Whether this process is a kernel of a notebook. IPython is not imported for it."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def _line(phase, done, total, seconds, counts=False):
    said = str if counts else _bytes
    rate = done / seconds if seconds > 0 else 0
    share = f"  {100 * done // total} %" if total else ""
    of = f" of {said(total)}" if total else ""
    speed = "" if counts else f"  {_bytes(rate)}/s"
    left = f"  {(total - done) / rate:.0f} s left" if total > done and rate else ""
    return f"{phase}{share}  {said(done)}{of}{speed}{left}"


def _bytes(count):
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


class _Bar:
    def __init__(self, counts):
        self._counts = counts
        self._began = time.monotonic()
        self._drawn_at = None

    def update(self, phase, done, total):
        now = time.monotonic()
        if now - self._began < _SILENCE_S or (self._drawn_at is not None and now - self._drawn_at < _BETWEEN_S):
            return
        self.draw(phase, done, total, now - self._began)
        self._drawn_at = now

    def clear(self):
        if self._drawn_at is not None:
            self.erase()


class _TerminalLine(_Bar):
    def draw(self, phase, done, total, seconds):
        sys.stderr.write("\r\x1b[K" + _line(phase, done, total, seconds, self._counts)[:78])
        sys.stderr.flush()

    def erase(self):
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


class _NotebookBar(_Bar):
    def __init__(self, counts, display, html):
        super().__init__(counts)
        self._display, self._html, self._handle = display, html, None

    def draw(self, phase, done, total, seconds):
        bar = f'<progress value="{done}" max="{total}"></progress> ' if total else ""
        content = self._html(f"<div>{bar}{_line(phase, done, total, seconds, self._counts)}</div>")
        if self._handle is None:
            self._handle = self._display(content, display_id=True)
        else:
            self._handle.update(content)

    def erase(self):
        self._handle.update(self._html(""))


def _terminal_line(counts):
    try:
        return _TerminalLine(counts) if sys.stderr.isatty() else None
    except (AttributeError, ValueError):  # none, or closed
        return None


def _notebook_bar(counts):
    if not in_notebook():
        return None
    from IPython.display import HTML, display

    return _NotebookBar(counts, display, HTML)
