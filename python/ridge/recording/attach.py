"""Waits for `import torch` in a Python process under `ridge record`. Until then it costs one string comparison per import, and a program that never
imports torch is never touched."""

import os
import sys

# Nothing else is imported here: this is read at the start of every Python process, of which few import torch.

# Processes that PyTorch and Python start for themselves; they compute and train nothing of the program's. A fork server is none of them: what it
# forks is the program's.
HELPERS = ("torch._inductor", "torch/_inductor", "multiprocessing.resource_tracker")


class _Finder:
    """First in sys.meta_path until torch is found by whoever finds it without this."""

    def __init__(self, then):
        self._then = then

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        self.remove()
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find is not None else None
            if spec is not None:
                self._watch(spec)
                return spec
        return None

    def remove(self):
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def _watch(self, spec):
        """Replaces one method of the loader for one call: the module keeps its loader, and its spec, as they are."""
        loader = spec.loader
        load = loader.exec_module

        def exec_module(module):
            del loader.exec_module
            try:
                load(module)
            except BaseException:
                sys.meta_path.insert(0, self)  # the program may try again
                raise
            self._then(module)

        try:
            loader.exec_module = exec_module
        except AttributeError:
            from . import console

            console.say("this process is not recorded: torch is loaded in an unusual way (%s)" % type(loader).__name__)


def _begin(torch):
    from . import console

    try:
        from . import settings
        from .process import Process

        Process(torch, settings.of_environment())
    except Exception as error:
        console.say("this process is not recorded: %s: %s" % (type(error).__name__, error))


def _traces_since(place, begun_s):
    """Whether a trace was written there since; also by other processes of the command."""
    from . import trace_file

    try:
        folder = trace_file.folder_of(place)
        return any(entry.name.endswith(trace_file.SUFFIX) and entry.stat().st_mtime >= begun_s for entry in os.scandir(folder))
    except OSError:
        return False


def _tell_at_the_end(pid, begun_s):
    """In the process that the command began with: if nobody wrote a trace, why not, and what to do."""
    from . import console, settings

    try:
        wishes = settings.of_environment()
    except ValueError as error:
        console.say("no trace: %s" % error)
        return
    if os.getpid() != pid or wishes is None or _traces_since(wishes.place, begun_s):
        return
    if wishes.quiet:
        return
    if "torch" not in sys.modules:
        console.say("no trace: this process imported no torch, and no other process wrote one")
        return
    from . import process

    if not process.told:
        console.say("no trace: this process took no optimizer step, and no other process wrote one; `ridge record --after 10s --seconds 2 -- ...` records programs without an optimizer")


def wait_for_torch():
    """Called while Python starts."""
    if not os.environ.get("RIDGE_RECORD_TO") or any(helper in word for word in getattr(sys, "orig_argv", ()) for helper in HELPERS):
        return
    begun = os.environ.get("RIDGE_RECORD_BEGUN", "").split(":")  # PID:SECONDS
    if len(begun) == 2 and begun[0] == str(os.getpid()):
        import atexit

        atexit.register(_tell_at_the_end, os.getpid(), float(begun[1]))
    sys.meta_path.insert(0, _Finder(_begin))
