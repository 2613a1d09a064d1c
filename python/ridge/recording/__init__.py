"""Recording traces: from inside a program (profile, trace_handler), and, under `ridge record`, from outside (attach). Needs PyTorch and nothing else;
`ridge record` brings these files into programs whose Python has no ridge, under the name _ridge_recording, so they import each other relatively."""

__all__ = ["profile", "trace_handler"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .context import profile as profile, trace_handler as trace_handler


def __getattr__(name: str) -> object:  # loaded when asked for: under `ridge record`, every Python process reads this file
    if name in __all__:
        from . import context

        return getattr(context, name)
    raise AttributeError("module %r has no attribute %r" % (__name__, name))
