# Read by every Python process under `ridge record`: this folder stands first in PYTHONPATH. Waits for `import torch`, runs the sitecustomize that
# would have run without this one, and leaves no other mark. Written so that any Python, however old, can read it.
import sys


def _ridge_attach(folder):
    try:
        if sys.version_info < (3, 8):
            return
        from _ridge_recording import attach
        attach.wait_for_torch()
    except Exception as error:  # the program matters more than its trace
        sys.stderr.write("ridge record: this process is not recorded: %s\n" % error)
    finally:
        for place in [place for place in sys.path if place == folder]:
            sys.path.remove(place)


def _ridge_chain():
    """The program's own sitecustomize, in whose place this one was found."""
    mine = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if getattr(error, "name", "sitecustomize") != "sitecustomize":
            raise
        if mine is not None:
            sys.modules["sitecustomize"] = mine


_ridge_attach(__file__.rsplit("/", 1)[0])
_ridge_chain()
