"""ridge reads the traces that torch.profiler writes and says where the GPU's time went.

    import ridge
    t = ridge.open("trace.json.gz")
    t.findings()
    t.kernels(by="op").to_pandas()

Everything is loaded when first used: `import ridge` costs next to nothing.
"""

import atexit
import importlib
import sys

# Name -> where it is.
_PLACES = {
    "open": "_trace",
    "Trace": "_trace",
    "Scope": "_trace",
    "OneOf": "_trace",
    "Folder": "_folder",
    "diff": "_trace",
    "analyses": "_trace",
    "devices": "_trace",
    "predict": "_trace",
    "export": "_export",
    "job": "_job",
    "Job": "_job",
    "FailedTrace": "_job",
    "Report": "_table",
    "ReportTables": "_table",
    "Table": "_table",
    "Column": "_table",
    "TraceTable": "_tables",
    "TraceTables": "_tables",
    "Server": "_pages",
    "Timeline": "_pages",
    "Error": "_errors",
    "UsageError": "_errors",
    "ReadError": "_errors",
    "GateError": "_errors",
    "profile": "recording",
}
_MODULES = ("testing", "recording")

__all__ = sorted([*_PLACES, *_MODULES, "__version__"])


def __getattr__(name):
    if name in _PLACES:
        value = getattr(importlib.import_module("." + _PLACES[name], __name__), name)
    elif name in _MODULES:
        value = importlib.import_module("." + name, __name__)
    elif name == "__version__":
        value = importlib.import_module("._native", __name__).version()
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


@atexit.register
def _end():
    """Threads that are still at work in the engine stop, and are waited for. What was registered after this module was loaded has run by then."""
    native = sys.modules.get(__name__ + "._native")
    if native:
        native.end()


def __dir__():
    return sorted({*globals(), *__all__})
