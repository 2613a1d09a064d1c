"""Every configuration of a Triton kernel, timed alone: those of its own autotuner, those that Inductor would add with max-autotune, and what coordinate
descent finds from the best of them. In the worker."""

import contextlib
import importlib.util
import os
import tempfile
import time

from . import products, samples, script, triton_calls

SECONDS = 60.0  # for all configurations of a kernel
EACH_S = 0.6
WITHIN = 0.02


def of_call(worker, request, call, seen, run, module, inputs):
    """A list of configurations, the first being what ran; [] where there is only one way to run the call."""
    until = time.monotonic() + request.get("configs_seconds", SECONDS)
    tuner = module.load_kernel() if callable(getattr(module, "load_kernel", None)) else None
    if hasattr(tuner, "compile_results"):
        one = triton_calls.Seen(tuner, tuple(inputs.args), {})
        constants = {**getattr(module, "CONSTANTS", {}), **getattr(module, "OPTIONS", {})}
        return _Inductor(worker, one, call, until, constants).all(_widened(module.load_kernel))
    if hasattr(tuner, "configs") and seen:
        one = triton_calls.Seen(tuner, tuple(inputs.args), {"grid": tuple(call["grid"]), "warmup": False})
        return _users(worker, one, call, until)
    if products.is_product(call.get("op")):
        return products.against_library(worker, call, run, module, inputs, until)
    return []


def of_inductor(worker, seen, source, seconds):
    """The same for one kernel of a module, whose source stands in the module's text."""
    return _Inductor(worker, seen, {}, time.monotonic() + seconds).all([] if source is None else _widened(lambda: _from_text(source, seen.name)))


def _from_text(source, name):
    """The autotuner of a kernel's source; Inductor's decorators want a file of their own."""
    folder = tempfile.mkdtemp(prefix="ridge-bench-")
    path = os.path.join(folder, "kernel.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    spec = importlib.util.spec_from_file_location("ridge_kernel", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def _row(config, origin, **more):
    return {"config": config, "from": origin, "status": "ok", **more}


def _timed(worker, launch, until):
    timed = worker.meter.time(launch, None, seconds=EACH_S, within=WITHIN, until=until)
    first = next((each for each in timed.launches() if each.is_kernel), None)
    return {
        "cold_ns": samples.median(timed.whole("cold")),
        "warm_ns": samples.median(timed.whole("warm")),
        "grid": first.grid if first else None,
        "block": first.block if first else None,
    }


def mark(rows, call, constants=None):
    """Adds `in_trace` and `best` (the shortest cold time with the outputs of the first).

    constants: what the kernel of the trace was compiled with, where that is known; else grid and block tell which configurations it may have been."""
    for row in rows:
        chosen = row.pop("chosen", None)
        if constants and chosen:
            row["in_trace"] = all(constants.get(name) == value for name, value in chosen.items() if name in constants)
            continue
        known = row.get("grid") is not None and call.get("grid") is not None
        row["in_trace"] = script.sizes(row["grid"]) == script.sizes(call["grid"]) and script.sizes(row["block"]) == script.sizes(call.get("block")) if known else None
    good = [row for row in rows if row["status"] == "ok" and row.get("cold_ns") and row.get("same_outputs") is not False]
    best = min(good, key=lambda row: row["cold_ns"], default=None)
    for row in rows:
        row["best"] = row is best
    return rows


class _Outputs:
    """What a kernel leaves in the tensors that it writes, compared with what the first configuration left."""

    def __init__(self, torch, tensors):
        self._torch = torch
        self._tensors = tensors
        self._before = [each.clone() for each in tensors]
        self._first = None

    def same(self, launch):
        for tensor, before in zip(self._tensors, self._before):
            tensor.copy_(before)
        launch()
        self._torch.cuda.synchronize()
        after = [each.clone() for each in self._tensors]
        if self._first is None:
            self._first = after
            return True
        return all(self._close(a, b) for a, b in zip(self._first, after))

    def _close(self, a, b):
        if not a.is_floating_point():
            return bool(self._torch.equal(a, b))
        loose = {2: 2e-2, 1: 0.25}.get(a.element_size(), 1e-3)
        return bool(self._torch.allclose(a.double(), b.double(), rtol=loose, atol=loose, equal_nan=True))


class _Inductor:
    """The configurations of one of Inductor's kernels, with the arguments that it ran with."""

    def __init__(self, worker, seen, call, until, constants=None):
        self._worker, self._call, self._until, self._constants = worker, call, until, constants
        self._tuner = seen.tuner
        self._args = seen.args
        self._kwargs = {key: value for key, value in seen.kwargs.items() if key not in ("stream", "benchmark_run")}
        torch = worker.torch
        names = list(self._tuner.fn.arg_names)[: len(self._args)]
        written = [arg for name, arg in zip(names, self._args) if name.startswith(("out_ptr", "in_out_ptr")) or name in self._tuner.mutated_arg_names]
        self._outputs = _Outputs(torch, [each for each in written if isinstance(each, torch.Tensor)])
        self._stream = torch.cuda.current_stream().cuda_stream
        self._rows, self._launchers = {}, {}

    def all(self, widened):
        if not self._tuner.compile_results:
            self._tuner.precompile()
        for result in self._tuner.compile_results:
            self._try(result.make_launcher, "autotuner")
        for config in widened:
            if triton_calls.words_of(config) not in self._rows:
                self._try(lambda config=config: self._tuner._precompile_config(config).make_launcher(), "max-autotune", triton_calls.words_of(config))
        self._descend()
        return mark(list(self._rows.values()), self._call, self._constants)

    def _try(self, make, origin, words=None):
        """Compiles, compares and times a configuration; its cold time in ms."""
        if time.monotonic() > self._until:
            if words is not None and words not in self._rows:
                self._rows[words] = {"config": words, "from": origin, "status": "skipped"}
            return float("inf")
        try:
            launcher = make()
        except Exception as error:  # too much shared memory, too many registers: Triton's own word for it
            if words is not None:
                self._rows[words] = {"config": words, "from": origin, "status": "failed: %s" % type(error).__name__}
            return float("inf")
        told = triton_calls.of_launcher(launcher)
        if told["config"] in self._rows:
            return (self._rows[told["config"]].get("cold_ns") or float("inf")) / 1e6

        def launch():
            launcher(*self._args, **self._kwargs, stream=self._stream)

        row = _row(told.pop("config"), origin, same_outputs=self._outputs.same(launch), **told)
        row["chosen"] = {**launcher.config.kwargs, "num_warps": launcher.config.num_warps, "num_stages": launcher.config.num_stages}
        row.update(_timed(self._worker, launch, self._until))
        self._rows[row["config"]] = row
        self._launchers[row["config"]] = launcher
        return row["cold_ns"] / 1e6

    def _descend(self):
        """Inductor's coordinate descent from the best so far, with our times in place of its own."""
        timed = [row for row in self._rows.values() if row.get("cold_ns")]
        if not timed or time.monotonic() > self._until:
            return
        start = self._launchers[min(timed, key=lambda row: row["cold_ns"])["config"]]
        tuner = self._tuner
        kept = tuner.save_cache_hook

        def bench(launcher, *args, **kwargs):
            return self._try(lambda: launcher, "coordinate descent", triton_calls.words_of(launcher.config))

        tuner.bench, tuner.save_cache_hook = bench, None
        try:
            tuner.coordinate_descent_tuning(start, *self._args, **self._kwargs)
        except Exception:  # it is an extra, and its inside changes between versions: what was tried by then stands
            pass
        finally:
            del tuner.bench
            tuner.save_cache_hook = kept


HEURISTICS = ("pointwise", "reduction", "persistent_reduction", "cooperative_reduction", "split_scan")


@contextlib.contextmanager
def _tuning_all(heuristics):
    """Inductor's decorators as they are with max-autotune."""
    kept = {name: getattr(heuristics, name) for name in HEURISTICS if hasattr(heuristics, name)}

    def wrapped(original):
        def decorate(*args, **kwargs):
            meta = {**(kwargs.get("inductor_meta") or {}), "max_autotune": True, "max_autotune_pointwise": True, "autotune_local_cache": False, "force_disable_caches": True}
            return original(*args, **{**kwargs, "inductor_meta": meta})

        return decorate

    try:
        for name, original in kept.items():
            setattr(heuristics, name, wrapped(original))
        yield
    finally:
        for name, original in kept.items():
            setattr(heuristics, name, original)


def _widened(load):
    """The configurations of the autotuner that `load` makes as max-autotune would have them; [] where they cannot be had."""
    import torch._inductor.runtime.triton_heuristics as heuristics

    try:
        with _tuning_all(heuristics):
            return list(load().configs or ())
    except Exception:
        return []


def _users(worker, seen, call, until):
    """The configurations of a kernel under triton.autotune."""
    torch, tuner = worker.torch, seen.tuner
    tensors = [each for each in (*seen.args, *seen.kwargs.values()) if isinstance(each, torch.Tensor)]
    outputs = _Outputs(torch, tensors)
    rows = []
    for config in tuner.configs:
        words = triton_calls.words_of(config)
        if time.monotonic() > until:
            rows.append({"config": words, "from": "autotuner", "status": "skipped"})
            continue
        kernels = []

        def launch(config=config, kernels=kernels):
            kernels[:] = [tuner.fn.run(*seen.args, **seen.kwargs, **config.all_kwargs())]

        try:
            same = outputs.same(launch)
            row = _row(words, "autotuner", same_outputs=same, **_timed(worker, launch, until))
        except Exception as error:
            rows.append({"config": words, "from": "autotuner", "status": "failed: %s" % type(error).__name__})
            continue
        kernel = kernels[0]
        row.update(registers=getattr(kernel, "n_regs", None), spills=getattr(kernel, "n_spills", None), shared_bytes=getattr(getattr(kernel, "metadata", None), "shared", None))
        rows.append(row)
    return mark(rows, call)
