"""`ridge bench`: from the words of the command line to an answer. Asks ridge for scripts and facts, the worker for times; touches no GPU itself."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from . import answer, cache_files, chosen_config, options, rows, script, scripts, table_file, trace_facts
from .progress import Progress, printable
from .ridge_command import Failed, Ridge
from .roof import Roof
from .stopping import Stopped, listen
from .workers import Workers

START_DEADLINE_S = 180


class Bench:
    """One bench: options, the command `ridge`, the workers, and what the machine is."""

    def __init__(self, asked, folder):
        self.asked = asked
        self.folder = folder
        self.ridge = Ridge(asked.ridge)
        caches = {"TORCHINDUCTOR_CACHE_DIR": os.path.join(folder, "inductor"), "TRITON_CACHE_DIR": os.path.join(folder, "triton")}
        self.workers = Workers(asked.on, asked.python, environment={**os.environ, **caches})
        self.until = None if asked.at_most is None else time.monotonic() + asked.at_most
        self.diagnostics = []
        self.failed = []  # what was asked for and did not come about: the exit code tells it too
        self.stopped = None  # the signal that ended it early
        self.machine = {}
        self.other_device = False  # the trace is of another one than this machine's
        self.modules = {}  # of Inductor, by kernel
        self.kernel_times = {}  # of the trace, by name

    def ask_machine(self):
        self.machine = self.workers.ask("machine", START_DEADLINE_S)
        if self.machine["status"] != "ok":
            raise Failed("error: PyTorch does not start: %s\n  hint: --python names the interpreter that has it" % printable(self.machine.get("reason")))
        if self.asked.on == "cuda" and self.machine["device"] is None:
            self.diagnostics.append(answer.diagnostic("no_gpu", "no GPU: nothing was timed" + self.without_gpu))

    @property
    def without_gpu(self):
        """What can be done instead; of a module nothing."""
        return "" if scripts.kind_of(self.asked.words[0]) == "module" else "; --on cpu runs the scripts on the CPU"

    @property
    def has_gpu(self):
        return self.asked.on == "cuda" and self.machine.get("device") is not None

    def over(self):
        return self.until is not None and time.monotonic() > self.until

    def stop(self, stopped, left):
        """What was measured stays; left: what was not done, in words. A second signal ends all."""
        self.stopped = stopped
        self.workers.close(finish=False)
        self.failed.append("interrupted: %s" % left)

    def save(self, found):
        """Writes the table where one was asked for; answers with the clock of these rows. A table without times would be of no use, and would take the place of a good one."""
        clocks = sorted(row["clock_mhz"] for row in found if row.get("clock_mhz"))
        clock = clocks[(len(clocks) - 1) // 2] if clocks else None
        if self.asked.save:
            document = table_file.document(found, self.machine, clock)
            if document["kernels"]:
                table_file.write(self.asked.save, document)
            else:
                self.failed.append("nothing was timed: %s is not written" % self.asked.save)
        return clock

    def peaks(self):
        """The row of ridge's table of devices for this machine's GPU; {} where there is none."""
        words = [*self.asked.flag] if "--device-file" in self.asked.flag else []
        known = self.ridge.tables("devices", *words)["devices"] if self.has_gpu else []
        for row in known:
            if row["device"] == self.machine["device"] or words:
                return row
        if self.has_gpu:
            self.diagnostics.append(
                answer.diagnostic("unknown_device", "no peaks of '%s' are known: --save-device FILE measures them for --device-file" % self.machine["device"])
            )
        return {}


def run_items(bench, items, launches, roof):
    """A row per item, in order. Where a signal ends it after a call has run, the others are skipped."""
    found = []
    progress = Progress(len(items), bench.asked.quiet)
    try:
        for number, item in enumerate(items):
            progress.tell(number, item.get("kernel") or item.get("script") or "")
            found.append(_row(bench, item, launches, roof))
    except Stopped as stopped:
        progress.end()
        if not any(map(_has_run, found)):
            raise
        rest = items[len(found) :]
        bench.stop(stopped, "%d of %d calls were not run" % (len(rest), len(items)))
        found += [_row(bench, item, launches, roof) for item in rest]
    progress.end()
    rows.explain(found, launches)
    return found


def _has_run(row):
    return row["status"] in ("ok", "ran", "refused")


def _row(bench, item, launches, roof):
    if item.get("status", "ok") != "ok":
        return {**rows.cannot(item), "module": bench.modules.get(item.get("kernel"))}
    try:
        call = script.call_of(item["path"])
    except (script.NotAScript, OSError) as error:
        return {**rows.cannot(item), "status": "failed", "reason": str(error)}
    row = rows.begun(item, call)
    row["kernel_file"] = launches.kernel_file(call) if launches is not None else None
    row["module"] = bench.modules.get(row["kernel"])
    if bench.stopped is not None:
        row.update(status="skipped", reason="interrupted")
        return row
    if bench.over():
        row.update(status="skipped", reason="no time was left (--for)")
        return row
    if bench.asked.on == "cuda" and not bench.has_gpu:
        row.update(status="skipped", reason="no GPU")
        return row
    asked = bench.asked
    told = bench.workers.ask(
        "script",
        asked.deadline,
        script=item["path"],
        seconds=asked.seconds,
        within=asked.within / 100,
        seed=asked.seed,
        configs=asked.configs,
    )
    costs = _costs(launches, call)
    if bench.other_device:
        costs.update(compute_ns=None, expected_ns=None)
    row = rows.measured(row, told, costs, roof)
    if told.get("configs"):
            chosen_config.add(row, told["configs"], call)
    return row


def _costs(launches, call):
    found = launches.costs(call) if launches is not None else {}
    for name in trace_facts.COSTS:
        if found.get(name) is None:
            found[name] = call.get(name)
    return found


def bench_scripts(bench, items, trace=None, launches=None):
    """The answer for scripts, of a trace or not."""
    bench.ask_machine()
    known = bench.peaks()
    roof = Roof(known.get("bandwidth_bytes_per_s"), bench.machine.get("l2_bytes"))
    if launches is not None:
        _compare_devices(bench, launches)
    found = run_items(bench, items, launches, roof)
    clock = bench.save(found)
    if found and not any(map(_has_run, found)):
        bench.failed.append("none of the calls ran")
    tables = [answer.table("bench", answer.BENCH, found, _total(found))]
    configs = [each for row in found for each in row.get("configs") or ()]
    if configs:
        tables.append(answer.table("configs", answer.CONFIGS, configs))
        saved = _savings(bench, trace, found)
        if saved:
            tables.append(answer.table("savings", answer.SAVINGS, saved))
    tables.append(answer.table("machine", answer.MACHINE, [_machine_row(bench, known, clock, found)]))
    _tell_clock(bench, known, clock)
    return answer.document(tables, traces=[trace] if trace else [], diagnostics=bench.diagnostics)


def _savings(bench, trace, found):
    """Of a trace that may be large: it is asked once more for each."""
    if trace is None:
        return ()
    try:
        return chosen_config.savings(bench.ridge, trace, bench.asked.flag, found, bench.kernel_times)
    except Stopped as stopped:
        bench.stop(stopped, "what a step would save was not asked")
    except (Failed, OSError) as error:  # what was measured stays
        bench.diagnostics.append(answer.diagnostic("no_savings", "what a step would save is not known: %s" % printable(str(error).partition("\n")[0])))
    return ()


def _compare_devices(bench, launches):
    """Times and costs of a trace are of its own device."""
    if bench.has_gpu and launches.devices and bench.machine["device"] not in launches.devices:
        message = "the trace is of %s, this is %s: its times are not those of this device" % (", ".join(sorted(set(launches.devices))), bench.machine["device"])
        bench.diagnostics.append(answer.diagnostic("other_device", message))
        bench.other_device = True


def _total(found):
    """Counts and times of the trace that the rows hold; what is per launch has no sum."""
    known = [row for row in found if row.get("time_ns") is not None]
    if not known:
        return None
    ok = sum(row["time_ns"] for row in known if row["status"] == "ok")
    whole = sum(row["time_ns"] for row in known)
    ran = "%.1f %% of the time of these kernels was replayed" % (100 * ok / whole if whole else 0)
    return {"count": sum(row["count"] or 0 for row in known), "time_ns": whole, "why": ran}


def _machine_row(bench, known, clock, found):
    held_back = sorted({row["throttled"] for row in found if row.get("throttled") not in (None, "no")})
    told = any(row.get("throttled") is not None for row in found)
    return {
        **bench.machine,
        "bandwidth_bytes_per_s": known.get("bandwidth_bytes_per_s"),
        "clock_mhz": clock,
        "throttled": ", ".join(held_back) or ("no" if told else None),
        "workers": bench.workers.started,
    }


def _tell_clock(bench, known, clock):
    """The clock under these kernels, where it is not the one that the peaks are of."""
    boost = known.get("boost_mhz")
    if clock is not None and boost and abs(clock / boost - 1) > 0.02:
        message = "the GPU ran at %d MHz, its peaks are of %d: --clock-mhz %d scales them" % (clock, boost, clock)
        bench.diagnostics.append(answer.diagnostic("clock", message, severity="info"))


def bench_trace(bench, trace):
    asked = bench.asked
    folder = os.path.join(bench.folder, "scripts")
    bench.ridge.run("replay", trace, "--all", *asked.replay, "-o", folder)
    items = scripts.of_folder(folder)
    bench.kernel_times = chosen_config.kernel_times(items)
    items = scripts.chosen(items, asked.kernel, asked.op)
    items.sort(key=lambda item: (bool(item.get("by_compiler")), -(item.get("time_ns") or 0)))
    if not (asked.kernel or asked.op):
        items = _of_the_program(bench, items)
    _tell_rest(bench, items[asked.top :], sum(item.get("time_ns") or 0 for item in items))
    del items[asked.top :]
    if (asked.kernel or asked.op) and not items:
        raise Failed("error: no kernel of the trace is called like '%s'\n  hint: ridge kernels lists them" % printable(asked.kernel or asked.op), 2)
    if "--inductor-cache" in asked.replay:
        bench.modules = cache_files.modules_by_kernel(asked.replay[asked.replay.index("--inductor-cache") + 1])
    return bench_scripts(bench, items, trace, trace_facts.read(bench.ridge, trace, asked.flag))


def _of_the_program(bench, items):
    """Without what the compiler tried out, unless that is all."""
    own = [item for item in items if not item.get("by_compiler")]
    if own and len(own) < len(items):
        message = "%d calls are what the compiler tried out, and were not run: ridge autotune has their times, --kernel runs one" % (len(items) - len(own))
        bench.diagnostics.append(answer.diagnostic("compiler_calls", message, len(items) - len(own), "info"))
    return own or items


def _tell_rest(bench, rest, whole):
    if rest and whole:
        share = 100 * sum(item.get("time_ns") or 0 for item in rest) / whole
        message = "%d further calls with %.1f %% of the kernel time were not run: --top" % (len(rest), share)
        bench.diagnostics.append(answer.diagnostic("not_run", message, len(rest), "info"))


def bench_module(bench, path):
    from . import module_bench

    return module_bench.answer_for(bench, path)


KINDS = {
    "trace": bench_trace,
    "scripts": lambda bench, path: bench_scripts(bench, scripts.chosen(scripts.of_folder(path), bench.asked.kernel, bench.asked.op)),
    "script": lambda bench, path: bench_scripts(bench, scripts.of_file(path)),
    "module": bench_module,
}


def _show(asked, told):
    """Hands the answer to `ridge show`, which prints it as the user wants it."""
    shown = subprocess.Popen([*asked.ridge, "show", *asked.show, "-"], stdin=subprocess.PIPE)
    try:
        shown.stdin.write(json.dumps(told).encode("utf-8", "replace"))
        shown.stdin.close()
    except BrokenPipeError:  # it has said why
        pass
    return shown.wait()


def _save_device(bench, path):
    from . import device_file

    try:
        if bench.stopped is None:
            device_file.save(bench, path)
        else:
            bench.failed.append("no peaks were measured: %s is not written" % path)
    except Stopped as stopped:
        bench.stop(stopped, "the peaks were not measured, %s is not written" % path)


def main(words):
    asked = options.parse(words)
    listen()
    folder = asked.keep or tempfile.mkdtemp(prefix="ridge-bench-")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        print("error: the folder cannot be made: %s\n  at: %s" % (error.strerror, printable(folder)), file=sys.stderr)
        return 1
    bench = Bench(asked, folder)
    told = None
    try:
        (path,) = asked.words
        told = KINDS[scripts.kind_of(path)](bench, path)
        if asked.save_device:
            _save_device(bench, asked.save_device)
        told["diagnostics"] = bench.diagnostics + [answer.diagnostic("not_done", printable(each), severity="error") for each in bench.failed]
    except Failed as error:
        print(error, file=sys.stderr)
        return error.code
    except Stopped as stopped:
        return stopped.code
    finally:
        bench.workers.close(finish=told is not None)
        if not asked.keep:
            shutil.rmtree(folder, ignore_errors=True)
    try:
        shown = _show(asked, told)
    except Stopped as stopped:
        return stopped.code
    return bench.stopped.code if bench.stopped is not None else shown or (1 if bench.failed else 0)
