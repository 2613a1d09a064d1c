"""The commands of the package: `ridge` and the drop-in `profile_analysis`, the same as the programs that `make` builds."""

import sys


def ridge():
    """`ridge ...`"""
    from . import _native

    _native.command(sys.argv[1:])


def profile_analysis():
    """`profile_analysis ...`, as PyTorch's script of that name."""
    from . import _native

    _native.profile_analysis(sys.argv[1:])
