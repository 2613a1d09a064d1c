"""Record programs with and without torch.profiler: their real step and their traces.

    python3 recording.py PROGRAMS.py OUT [name ...] [--seconds S] [--prepare P]

PROGRAMS.py has PROGRAMS: {name: maker}; a maker returns step(), or {"fault": maker, "mended": maker} for a pair. Every program, and each half of a pair,
runs in a process of its own: what Dynamo gave up in one half it would not compile in the other. The real step is measured with nobody profiling, in nine
series; those of a pair take turns. Where the turns do not agree what mending saved (the middle half of them is more than three points wide), nine more are
measured, up to 27. What is measured is written as it comes: OUT/steps.jsonl, OUT/<name>.<options>.json.gz. options(index) of PROGRAMS.py: what entry
`index` is recorded with, or {"fault": ..., "mended": ...}. Each of them is recorded in a process that was not recorded before: a host stays
slower (1.2 times) once it was, and whoever looks at a program profiles it once.

A half may keep processes of its own (of a loader, of what works ahead). They stand still while the other half has its turn, and what they have ready is
used up before a series or a recording begins: a step is that of a loop that goes on.

With --prepare, what COMPILED of PROGRAMS.py names is made first, all of it at once, and each waits in the process that compiled it until
it is its turn: nothing is compiled twice. So do FORMS, {name: (eager maker, compiled maker)}: programs whose compiled form is measured beside
the eager one, in turns; of these steps.jsonl gets a line with variant "compiled". What is not ready after
P seconds is given up (forms), or made when it is its turn (programs). HELD_OUT_DRY=1: a rehearsal on the CPU.
"""
import argparse, gzip, importlib.util, json, multiprocessing, os, select, shutil, signal, statistics, sys, time, traceback

SERIES, FORM_SERIES, AT_ONCE = int(os.environ.get("RECORD_SERIES", "9")), 5, 16
MOST_SERIES, STEADY = 3, 0.03  # times SERIES; of the step: what the middle half of the savings spans
DRY = os.environ.get("HELD_OUT_DRY") == "1"
READY = 2 if DRY else 24  # steps, at most: what processes of a program keep ready (8 workers, two batches each), and some more
LEAST, LEAST_BEHIND_READY = 3, 8  # steps of a series
OPTIONS = {
    "plain": {},
    "shapes": dict(record_shapes=True),
    "memory": dict(record_shapes=True, profile_memory=True),
    "stack": dict(with_stack=True),
    "shapes_stack": dict(record_shapes=True, with_stack=True),
    "modules": dict(record_shapes=True, with_stack=True, with_modules=True),
}


def settle():
    import torch
    if not DRY:
        torch.cuda.synchronize()


def timed(step, count):
    settle()
    start = time.perf_counter_ns()
    for _ in range(count):
        step()
    settle()
    return (time.perf_counter_ns() - start) / 1e3 / count


# ---- In the process of a program ----------------------------------------------------------------------------------------------


def signal_own(number):
    """To the processes that the program keeps."""
    for each in multiprocessing.active_children():
        try:
            os.kill(each.pid, number)
        except ProcessLookupError:
            pass


def keeps_processes():
    return bool(multiprocessing.active_children())


def use_up(step):
    """What its processes have made while nobody asked."""
    if keeps_processes():
        for _ in range(READY):
            step()


def steps_of_series(step, series_us):
    for _ in range(6):
        step()
    use_up(step)
    least = LEAST_BEHIND_READY if keeps_processes() else LEAST
    return max(least, min(400, int((series_us if not DRY else 1e3) / max(timed(step, 3), 1.0))))


def series(step, count):
    use_up(step)
    return round(timed(step, count), 2)


def record(step, options, path, steps=5):
    from torch.profiler import ProfilerActivity, profile, schedule
    use_up(step)
    activities = [ProfilerActivity.CPU] + ([] if DRY else [ProfilerActivity.CUDA])
    with profile(activities=activities, schedule=schedule(wait=1, warmup=3, active=steps, repeat=1), **OPTIONS[options]) as prof:
        for _ in range(4 + steps):
            step()
            prof.step()
        settle()
    prof.export_chrome_trace(path[:-3])
    with open(path[:-3], "rb") as plain, gzip.open(path, "wb", 6) as packed:
        shutil.copyfileobj(plain, packed)
    os.remove(path[:-3])


def device(_):
    import torch
    return dict(torch=torch.__version__, device="cpu" if DRY else torch.cuda.get_device_name())


ASKED = {each.__name__: each for each in (steps_of_series, series, record, device)}


def serve(maker, told, said):
    import torch
    torch.manual_seed(0)
    step = maker()
    for _ in range(3):
        step()
    settle()
    if not DRY:
        torch.cuda.empty_cache()  # what waits keeps no memory that it does not need
    answer = None
    while True:
        signal_own(signal.SIGSTOP)
        said.write(json.dumps(dict(answer=answer, keeps=keeps_processes())) + "\n")
        said.flush()
        line = told.readline()
        if not line:
            return
        signal_own(signal.SIGCONT)
        question, given = json.loads(line)
        answer = ASKED[question](step, *given)


# ---- The process that measures ------------------------------------------------------------------------------------------------


class Failed(Exception):
    pass


class Program:
    """A program, or half of a pair, in a process of its own, which answers what it is asked. Made as soon as it is begun."""

    def __init__(self, full, maker, others=()):
        self.full, self.maker, self.ready, self.keeps, self.alive = full, maker, False, False, True
        told, tell = os.pipe()
        hear, said = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid:
            os.close(told)
            os.close(said)
            self.tell, self.hear = os.fdopen(tell, "w"), os.fdopen(hear, "r")
            return
        code = 1
        try:
            for other in others:
                other.close()
            os.close(tell)
            os.close(hear)
            serve(maker, os.fdopen(told, "r"), os.fdopen(said, "w"))
            code = 0
        except BaseException:
            traceback.print_exc()
        signal_own(signal.SIGKILL)  # nothing is left that stands still for ever
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)

    def close(self):
        for end in (self.tell, self.hear):
            try:
                end.close()
            except OSError:
                pass

    def answer(self, until):
        """What it says next; the first is that it is ready."""
        if not self.alive or not select.select([self.hear], [], [], max(0.0, until - time.monotonic()))[0]:
            raise Failed(f"{self.full} takes too long" if self.alive else f"{self.full} is gone")
        line = self.hear.readline()
        if not line:
            raise Failed(f"{self.full} ended")
        said = json.loads(line)
        self.ready, self.keeps = True, said["keeps"]
        return said["answer"]

    def ask(self, until, question, *given):
        if not self.ready:
            self.answer(until)
        try:
            self.tell.write(json.dumps([question, given]) + "\n")
            self.tell.flush()
        except OSError:
            raise Failed(f"{self.full} is gone")
        return self.answer(until)

    def again(self, others):
        """The same program in another process, as far as this one was before it was measured."""
        return Program(self.full, self.maker, [self, *others])

    def end(self, wait=3.0):
        """It is told to end, by closing its pipe; killed where it does not."""
        if not self.alive:
            return
        self.alive = False
        self.close()
        until = time.monotonic() + wait
        while os.waitpid(self.pid, os.WNOHANG) == (0, 0):
            if time.monotonic() > until:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                break
            time.sleep(0.02)


def in_turns(programs, rounds, series_us, until):
    counts = {p.full: p.ask(until, "steps_of_series", series_us) for p in programs}
    times = {p.full: [] for p in programs}
    for _ in range(MOST_SERIES):
        for _ in range(rounds):
            for p in programs:
                times[p.full].append(p.ask(until, "series", counts[p.full]))
        if is_steady(times) or any(p.keeps for p in programs):
            break
    return counts, times


def is_steady(times):
    if len(times) != 2:
        return True
    savings = sorted(1 - after / before for before, after in zip(*times.values()))
    return savings[len(savings) * 3 // 4] - savings[len(savings) // 4] <= STEADY


def write(out, line):
    with open(f"{out}/steps.jsonl", "a") as file:
        file.write(json.dumps(line) + "\n")


def record_each(program, options, out, until, others):
    """The first by the process that was measured, each other one by a process of its own; which were recorded."""
    recorded = []
    for option in options:
        fresh = program.again(others) if recorded else None
        try:
            if fresh:
                fresh.ask(until, "steps_of_series", 120e3)  # as warm as the first
            (fresh or program).ask(until, "record", option, f"{out}/{program.full}.{option}.json.gz")
            recorded.append(option)
        except Failed as failed:
            print(f"{program.full} with {option}: {failed}", flush=True)
            break
        finally:
            if fresh:
                fresh.end()
    return recorded


def measure(programs, options, out, until, others):
    counts, times = in_turns(programs, SERIES, 120e3, until)
    for p in programs:
        full, its = p.full, options[p.full.rsplit(".", 1)[1]] if isinstance(options, dict) else options
        line = dict(name=full, step_us=statistics.median(times[full]), series_us=times[full], steps=counts[full], **p.ask(until, "device"))
        line["options"] = record_each(p, its, out, until, others)
        write(out, line)
        print(full, round(line["step_us"], 1), f"{min(times[full]):.1f}..{max(times[full]):.1f}", flush=True)


def measure_form(programs, out, until, _others):
    counts, times = in_turns(programs, FORM_SERIES, 80e3, until)
    eager, form = (times[p.full] for p in programs)
    name = programs[1].full.rsplit(".", 1)[0]
    write(out, dict(name=name, variant="compiled", step_us=statistics.median(form), series_us=form, eager_us=statistics.median(eager), eager_series_us=eager,
                    steps=counts[programs[1].full], **programs[1].ask(until, "device")))
    print(name, "compiled", round(statistics.median(form), 1), "for", round(statistics.median(eager), 1), flush=True)


class Entry:
    """A program, a pair or a compiled form: its processes, and what measures them."""

    def __init__(self, name, makers, measuring):
        self.name, self.makers, self.measuring, self.programs = name, makers, measuring, []

    def begin(self, others):
        self.programs = []
        for part, maker in self.makers.items():
            self.programs.append(Program(f"{self.name}.{part}" if part else self.name, maker, [*others, *self.programs]))

    def ready(self):
        return bool(self.programs) and all(p.ready and p.alive for p in self.programs)

    def end(self, wait=3.0):
        for p in self.programs:
            p.end(wait)

    def go(self, until, others):
        begin = time.monotonic()
        try:
            if not self.ready():
                self.begin(others)
            self.measuring(self.programs, until, [*others, *self.programs])
        except Failed as failed:
            print(f"{self.name}: {failed}", flush=True)
        self.end()
        print(f"  {self.name}: {time.monotonic() - begin:.1f} s", flush=True)


def processes(entries):
    return [p for entry in entries for p in entry.programs if p.alive]


def prepare(entries, until):
    """As many at a time as there are cores, until all are ready or it is `until`."""
    waiting, begun, begin = list(entries), [], time.monotonic()
    while time.monotonic() < until:
        making = [p for p in processes(begun) if not p.ready]
        while waiting and len(making) + len(waiting[0].makers) <= AT_ONCE:
            begun.append(waiting.pop(0))
            begun[-1].begin(processes(begun))
            making += begun[-1].programs
        if not making:
            break
        for heard in select.select([p.hear for p in making], [], [], 0.2)[0]:
            p = next(each for each in making if each.hear is heard)
            try:
                p.answer(until)
                print(f"{p.full} is ready after {time.monotonic() - begin:.1f} s", flush=True)
            except Failed as failed:
                print(failed, "while it was made", flush=True)
                p.end()
    for entry in begun:
        if not entry.ready():
            print(entry.name, "is not ready in time", flush=True)
            entry.end(0)
    print(f"{sum(e.ready() for e in begun)} prepared in {time.monotonic() - begin:.1f} s; not begun: {[e.name for e in waiting]}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("out")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=500)
    parser.add_argument("--prepare", type=float, default=0)
    args = parser.parse_args()
    begin = time.monotonic()
    end = begin + args.seconds
    os.makedirs(args.out, exist_ok=True)
    import torch  # before the forks, once; the device is first touched behind them
    try:
        import torch._inductor, torch._dynamo
    except Exception:
        pass
    spec = importlib.util.spec_from_file_location("programs", args.programs)
    programs = importlib.util.module_from_spec(spec)
    sys.modules["programs"] = programs  # as Dynamo looks it up
    spec.loader.exec_module(programs)
    wanted = lambda name: not args.names or name.split(".")[0] in args.names
    entries, forms = {}, {}
    for index, (name, entry) in enumerate(programs.PROGRAMS.items()):
        if wanted(name):
            options = programs.options(index)
            measuring = lambda its, until, others, options=options: measure(its, options, args.out, until, others)
            entries[name] = Entry(name, entry if isinstance(entry, dict) else {"": entry}, measuring)
    for name, two in getattr(programs, "FORMS", {}).items():
        if wanted(name):
            forms[name] = Entry(name, dict(zip(("eager", "compiled"), two)), lambda its, until, others: measure_form(its, args.out, until, others))
    every = [*entries.values(), *forms.values()]
    if args.prepare:
        prepare([entries[name] for name in programs.COMPILED if name in entries] + list(forms.values()), begin + args.prepare)
    for name, entry in entries.items():
        if time.monotonic() > end:
            print("out of time before", name, flush=True)
            break
        entry.go(min(end + 20, time.monotonic() + 90), processes(every))
        for full in (name, name + ".mended"):
            form = forms.get(full)
            if form and form.ready() and time.monotonic() < end:
                form.go(min(end + 20, time.monotonic() + 40), processes(every))
    for entry in every:
        entry.end(0)


main()
