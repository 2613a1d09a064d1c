"""Which Triton kernels a call runs, with their arguments and what the compiler made of them: watched where Inductor's and Triton's own autotuners and
compiled functions are run. In the worker; without Triton nothing is seen."""

import contextlib
import sys


# Element types as the profiler writes them.
PROFILED_TYPES = {
    "float64": "double",
    "float32": "float",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "int64": "long int",
    "int32": "int",
    "int16": "short int",
    "int8": "signed char",
    "uint8": "unsigned char",
    "bool": "bool",
}


class Seen:
    """One run of a Triton kernel. `tuner` has the configurations, where there is one; `launcher` and `kernel` what was run."""

    def __init__(self, tuner, args, kwargs):
        self.tuner, self.args, self.kwargs = tuner, args, kwargs
        self.kernel = None  # of Triton's own launches

    @property
    def name(self):
        function = getattr(self.tuner, "fn", self.tuner)
        return getattr(function, "__name__", None) or getattr(getattr(function, "fn", None), "__name__", "")

    def call(self):
        """What a trace would say of it, as the CALL of a script does: generated kernels of one name and grid are told apart by their tensors."""
        tensors = [each for each in self.args if hasattr(each, "element_size")]
        types = [PROFILED_TYPES.get(str(each.dtype).removeprefix("torch.")) for each in tensors]
        return {
            "kernel": self.name,
            "op": self.name,
            "shapes": [list(each.shape) for each in tensors],
            "strides": [list(each.stride()) for each in tensors],
            "dtypes": None if None in types else types,
        }

    def compiled(self):
        """{registers, spills, shared_bytes, config} of what ran; what is not told is None."""
        launchers = getattr(self.tuner, "launchers", None)
        if launchers:
            return of_launcher(launchers[0])
        if self.kernel is not None:
            metadata = getattr(self.kernel, "metadata", None)
            best = getattr(self.tuner, "best_config", None)
            return {
                "registers": getattr(self.kernel, "n_regs", None),
                "spills": getattr(self.kernel, "n_spills", None),
                "shared_bytes": getattr(metadata, "shared", None),
                "config": None if best is None else words_of(best),
            }
        return {"registers": None, "spills": None, "shared_bytes": None, "config": None}


def of_launcher(launcher):
    return {
        "registers": launcher.n_regs,
        "spills": launcher.n_spills,
        "shared_bytes": launcher.shared,
        "config": words_of(launcher.config),
    }


def words_of(config):
    """A configuration as one line: XBLOCK=1024 num_warps=4 num_stages=1."""
    parts = ["%s=%s" % each for each in sorted(config.kwargs.items())]
    return " ".join([*parts, "num_warps=%s" % config.num_warps, "num_stages=%s" % config.num_stages])


def _patched(of, name, around):
    original = getattr(of, name)

    def run(self, *args, **kwargs):
        return around(original, self, args, kwargs)

    setattr(of, name, run)
    return lambda: setattr(of, name, original)


@contextlib.contextmanager
def watched():
    """A list that fills with what is run inside."""
    seen, undo, inside = [], [], []

    def tuner(original, self, args, kwargs):
        one = Seen(self, args, kwargs)
        seen.append(one)
        inside.append(one)
        try:
            return original(self, *args, **kwargs)
        finally:
            inside.pop()

    def function(original, self, args, kwargs):
        kernel = original(self, *args, **kwargs)
        if inside:
            inside[-1].kernel = kernel
        elif not kwargs.get("warmup"):
            seen.append(Seen(self, args, kwargs))
            seen[-1].kernel = kernel
        return kernel

    heuristics = sys.modules.get("torch._inductor.runtime.triton_heuristics")
    if heuristics is not None:
        undo.append(_patched(heuristics.CachingAutotuner, "run", tuner))
    if "triton" in sys.modules:
        from triton.runtime.autotuner import Autotuner
        from triton.runtime.jit import JITFunction

        undo.append(_patched(Autotuner, "run", tuner))
        undo.append(_patched(JITFunction, "run", function))
    try:
        yield seen
    finally:
        for each in reversed(undo):
            each()
