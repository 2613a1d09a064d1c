"""The commands of the package: `ridge` and the drop-in `profile_analysis`, the same as the programs that `make` builds."""

import sys


def ridge():
    """`ridge ...`"""
    import signal

    from . import _native

    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them; what `ridge record` starts would too
        signal.signal(number, signal.SIG_DFL)
    _native.command(sys.argv[1:])


def profile_analysis():
    """`profile_analysis ...`, as PyTorch's script of that name."""
    from . import _native

    _native.profile_analysis(sys.argv[1:])
