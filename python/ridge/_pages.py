"""The viewer: as a file, inside a notebook, and served."""

import html
import os
import sys
import tempfile
import threading

from . import _native
from ._errors import Error
from ._frame import frame
from ._progress import in_notebook


def page_of(trace):
    """The viewer and its data as one HTML text."""
    return _native.page_with_data(trace._opened(), trace._page_arguments())


def write_report(trace, path):
    """Written beside its place and renamed when whole; an input is never touched."""
    path = os.fsdecode(path)
    for each in trace.paths:
        if os.path.exists(path) and os.path.exists(each) and os.path.samefile(path, each):
            raise Error("the output is the trace itself", code="cannot_write", where=path, hint="choose another name")
    text = page_of(trace)
    folder, name = os.path.split(path)
    try:
        handle, beside = tempfile.mkstemp(prefix=name + ".", dir=folder or ".")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(beside, 0o666 & ~_umask())
            os.replace(beside, path)
        except BaseException:
            os.unlink(beside)
            raise
    except OSError as failed:
        raise Error(f"cannot write: {failed.strerror}", code="cannot_write", where=path) from failed
    return path


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


class Timeline:
    """The viewer in a frame: all of it is in the notebook, nothing is served, nothing is loaded from elsewhere."""

    def __init__(self, trace, height):
        self._trace = trace
        self._height = height

    def _repr_html_(self):
        return frame(page_of(self._trace), self._height)

    def __repr__(self):
        return "<ridge.Timeline: shown in a notebook; elsewhere use t.report('r.html') or t.serve()>"


class Server:
    """The viewer, served from the traces that are open. `stop()` or the end of a `with` ends it."""

    def __init__(self, native):
        self._native = native
        self.url = native.url

    def stop(self):
        """Waits for answers under way, closes connections."""
        self._native.stop()

    def wait(self):
        """Until Ctrl-C; then it stops."""
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            self.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def __repr__(self):
        return f"<ridge.Server {self.url}>"

    def _repr_html_(self):
        url = html.escape(self.url, quote=True)
        return f'<a href="{url}" target="_blank">{url}</a>'


def serve(trace, port, host, open_browser, wait):
    engine = trace._opened()
    served = Server(_native.serve(engine, trace._page_arguments(), host, port))
    if not served._native.is_loopback and not trace._named_files_only:
        served.stop()
        raise Error(
            "kernel sources that a trace names would be read for others",
            hint="ridge.open(..., named_files_only=True) before serving to other machines",
        )
    if open_browser:
        import webbrowser

        webbrowser.open(served.url)
    interactive = in_notebook() or hasattr(sys, "ps1") or sys.flags.interactive
    if wait is None:
        wait = not interactive
    if wait:
        print(served.url, flush=True)
        served.wait()
    return served
