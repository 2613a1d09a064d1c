"""Record programs with and without torch.profiler: their real step and their traces.

    python3 recording.py PROGRAMS.py OUT [name ...] [--seconds S] [--prepare P]

PROGRAMS.py has PROGRAMS: {name: maker}; a maker returns step(), or {"fault": maker, "mended": maker} for a pair. Every entry
runs in a process of its own. The real step is measured with nobody profiling, in nine series; those of a pair take turns. Where the turns do not
agree what mending saved (the middle half of them is more than three points wide), nine more are measured, up to 27. What
is measured is written as it comes: OUT/steps.jsonl, OUT/<name>.<options>.json.gz. options(index) of PROGRAMS.py: what entry `index` is recorded
with, or {"fault": ..., "mended": ...}.

A half may keep processes of its own (of a loader, of what works ahead). They stand still while the other half has its turn, and what they have ready is
used up before a series or a recording begins: a step is that of a loop that goes on.

With --prepare, what COMPILED of PROGRAMS.py names is made first, all of it at once, and each waits in the process that compiled it until
it is its turn: nothing is compiled twice. So do FORMS, {name: (eager maker, compiled maker)}: programs whose compiled form is measured beside
the eager one, in turns and in a process of their own; of these steps.jsonl gets a line with variant "compiled". What is not ready after
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


class Processes:
    """Those that each half keeps, by its name; they may be others by its next turn."""

    def __init__(self):
        self.of, self.now = {}, None

    def turn(self, full):
        """What the half has ready is what it has made while its own steps ran."""
        self.learn()
        self.now = full
        for half, its in self.of.items():
            self.signal(its, signal.SIGCONT if half == full else signal.SIGSTOP)

    def learn(self):
        others = {each.pid for half, its in self.of.items() if half != self.now for each in its}
        if self.now is not None:
            self.of[self.now] = [each for each in multiprocessing.active_children() if each.pid not in others]

    def keeps(self):
        self.learn()
        return bool(self.of.get(self.now))

    def end(self):
        """Nothing is left that stands still for ever."""
        for each in multiprocessing.active_children():
            self.signal([each], signal.SIGKILL)

    @staticmethod
    def signal(processes, number):
        for each in processes:
            try:
                os.kill(each.pid, number)
            except ProcessLookupError:
                pass


PROCESSES = Processes()


def take_turn(full, step):
    PROCESSES.turn(full)
    if PROCESSES.keeps():
        for _ in range(READY):
            step()


def warm_up(full, step, series_us=120e3):
    """How many steps make a series."""
    PROCESSES.turn(full)
    for _ in range(6):
        step()
    take_turn(full, step)
    least = LEAST_BEHIND_READY if PROCESSES.keeps() else LEAST
    return max(least, min(400, int((series_us if not DRY else 1e3) / max(timed(step, 3), 1.0))))


def record(step, options, path, steps=5):
    from torch.profiler import ProfilerActivity, profile, schedule
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


def made(name, entry):
    """Steps by full name."""
    import torch
    torch.manual_seed(0)
    makers = entry if isinstance(entry, dict) else {"": entry}
    steps = {}
    for part, maker in makers.items():
        full = f"{name}.{part}" if part else name
        PROCESSES.turn(full)
        steps[full] = maker()
    return steps


def in_turns(steps, rounds, series_us=120e3):
    counts = {full: warm_up(full, step, series_us) for full, step in steps.items()}
    series = {full: [] for full in steps}
    for again in range(MOST_SERIES):
        for _ in range(rounds):
            for full, step in steps.items():
                take_turn(full, step)
                series[full].append(round(timed(step, counts[full]), 2))
        if is_steady(series) or any(PROCESSES.of.values()):
            break
    return counts, series


def is_steady(series):
    if len(series) != 2:
        return True
    savings = sorted(1 - after / before for before, after in zip(*series.values()))
    return savings[len(savings) * 3 // 4] - savings[len(savings) // 4] <= STEADY


def where():
    import torch
    return dict(torch=torch.__version__, device="cpu" if DRY else torch.cuda.get_device_name())


def write(out, line):
    with open(f"{out}/steps.jsonl", "a") as file:
        file.write(json.dumps(line) + "\n")


def measure(steps, options, out):
    counts, series = in_turns(steps, SERIES)
    for full, step in steps.items():
        line = dict(name=full, step_us=statistics.median(series[full]), series_us=series[full], steps=counts[full], **where())
        its = options[full.rsplit(".", 1)[1]] if isinstance(options, dict) else options
        for option in its:
            take_turn(full, step)
            record(step, option, f"{out}/{full}.{option}.json.gz")
        take_turn(full, step)
        line["after_us"] = round(timed(step, counts[full]), 2)
        line["options"] = its
        write(out, line)
        print(full, round(line["step_us"], 1), f"{min(series[full]):.1f}..{max(series[full]):.1f}", flush=True)
    PROCESSES.end()


def measure_form(name, steps, out):
    counts, series = in_turns(steps, FORM_SERIES, 80e3)
    eager, form = (series[f"{name}.{part}"] for part in ("eager", "compiled"))
    write(out, dict(name=name, variant="compiled", step_us=statistics.median(form), series_us=form, eager_us=statistics.median(eager), eager_series_us=eager,
                    steps=counts[f"{name}.compiled"], **where()))
    PROCESSES.end()
    print(name, "compiled", round(statistics.median(form), 1), "for", round(statistics.median(eager), 1), flush=True)


class Child:
    """An entry in a process of its own; with `waits`, it is made at once and measured when told so."""

    def __init__(self, name, work, measuring, waits, others=()):
        self.name, self.ready, self.status = name, not waits, None
        told, self.tell = os.pipe()
        self.hear, said = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid:
            os.close(told)
            os.close(said)
            return
        code = 1
        try:
            for other in others:
                other.close()
            self.close()
            steps = work()
            if waits:
                for full, step in steps.items():
                    PROCESSES.turn(full)
                    for _ in range(3):
                        step()
                settle()
                if not DRY:
                    import torch
                    torch.cuda.empty_cache()  # what waits keeps no memory that it does not need
                os.write(said, b".")
                if not os.read(told, 1):
                    os._exit(1)
            measuring(steps)
            code = 0
        except BaseException:
            traceback.print_exc()
            PROCESSES.end()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)

    def close(self):
        for end in (self.tell, self.hear):
            try:
                os.close(end)
            except OSError:
                pass

    def alive(self):
        if self.status is None and os.waitpid(self.pid, os.WNOHANG) != (0, 0):
            self.status = "ended"
            self.close()
        return self.status is None

    def kill(self):
        if self.alive():
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.status = "killed"
            self.close()

    def go(self, limit):
        """Its turn; True where it came to its end in time and well."""
        begin = time.monotonic()
        try:
            os.write(self.tell, b".")
        except OSError:
            pass
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = "ended"
                self.close()
                if status:
                    print(self.name, "ended with", os.waitstatus_to_exitcode(status), flush=True)
                break
            if time.monotonic() > limit:
                self.kill()
                print(self.name, "killed: too long", flush=True)
                return False
            time.sleep(0.02)
        print(f"  {self.name}: {time.monotonic() - begin:.1f} s", flush=True)
        return status == 0


def prepare(jobs, until):
    """Children by name, as many at a time as there are cores, until all are ready or it is `until`."""
    jobs, children, begin = list(jobs), {}, time.monotonic()
    while time.monotonic() < until:
        making = [child for child in children.values() if not child.ready and child.alive()]
        while jobs and len(making) < AT_ONCE:
            name, work, measuring = jobs.pop(0)
            children[name] = Child(name, work, measuring, True, list(children.values()))
            making.append(children[name])
        if not making:
            break
        for heard in select.select([child.hear for child in making], [], [], 0.2)[0]:
            child = next(c for c in making if c.hear == heard)
            if os.read(heard, 1):
                child.ready = True
                print(f"{child.name} is ready after {time.monotonic() - begin:.1f} s", flush=True)
            elif not child.alive():
                print(child.name, "failed to be made", flush=True)
            else:
                time.sleep(0.02)  # its end of the pipe closed; it is about to end
    for name, child in children.items():
        if not child.ready and child.alive():
            child.kill()
            print(name, "is not ready in time", flush=True)
    print(f"{sum(c.ready for c in children.values())} prepared in {time.monotonic() - begin:.1f} s; not begun: {[name for name, _, _ in jobs]}", flush=True)
    return children


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
    entries = {name: (lambda name=name, entry=entry: made(name, entry), lambda steps, index=index: measure(steps, programs.options(index), args.out))
               for index, (name, entry) in enumerate(programs.PROGRAMS.items()) if wanted(name)}
    forms = {name: (lambda name=name, two=two: made(name, dict(zip(("eager", "compiled"), two))), lambda steps, name=name: measure_form(name, steps, args.out))
             for name, two in getattr(programs, "FORMS", {}).items() if wanted(name)}
    children = {}
    if args.prepare:
        compiled = [(name, *entries[name]) for name in programs.COMPILED if name in entries]
        children = prepare(compiled + [(name + " (form)", *two) for name, two in forms.items()], begin + args.prepare)
    for name, (work, measuring) in entries.items():
        if time.monotonic() > end:
            print("out of time before", name, flush=True)
            break
        limit = min(end + 20, time.monotonic() + 90)
        child = children.get(name)
        if child and child.ready and child.alive():
            child.go(limit)
        else:
            Child(name, work, measuring, False, list(children.values())).go(limit)
        for full in (name, name + ".mended"):
            form = children.get(full + " (form)")
            if form and form.ready and form.alive() and time.monotonic() < end:
                form.go(min(end + 20, time.monotonic() + 40))
    for child in children.values():
        child.kill()


main()
