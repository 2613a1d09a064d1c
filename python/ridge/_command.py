"""The commands of the package: `ridge` and the drop-in `profile_analysis`, the same as the programs that `make` builds."""

import os
import signal
import sys


def ridge():
    """`ridge ...`"""
    from . import _native

    if sys.argv[1:2] == ["ranks"] and any(word == "--ray" or word.startswith("--ray=") for word in sys.argv[2:]):
        from . import _ray_command

        sys.exit(_ray_command.run(sys.argv[2:]))
    _signals_as_found()
    os.environ["RIDGE_PACKAGE_PYTHON"] = sys.executable  # what `ridge bench` starts, and how it comes back here
    _native.command(sys.argv[1:])


def profile_analysis():
    """`profile_analysis ...`, as PyTorch's script of that name."""
    from . import _native

    _signals_as_found()
    _native.profile_analysis(sys.argv[1:])


def _signals_as_found():
    """Takes back what Python did to signals when it started: the command has ways of its own, and hands signals on to what it starts."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    for name in ("SIGPIPE", "SIGXFSZ"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
