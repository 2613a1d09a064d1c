"""Records a set of programs (held_out_programs.py, or --programs FILE) by recording.py, within a number of seconds.

    python3 record_held_out.py --out $OUT --seconds 280                                  on the device
    python3 record_held_out.py --out $OUT --seconds 310 --programs third_programs.py     another set
    python3 record_held_out.py --dry-run [--programs FILE] [name ...]                    on a CPU, small: each program runs, and the halves of a pair agree

FILE has PROGRAMS and options(index), and may have COMPILED: the names of what is to be compiled ahead, and FORMS: compiled forms of eager programs.

What is compiled is compiled first, all at once in processes of their own: Inductor's cache on disk then serves the recording. A set with FORMS is
compiled by recording.py itself, whose processes wait for their turn (--prepare). The
recording itself runs one program at a time and nothing beside it. OUT gets steps.jsonl, console.log and held_out_N.tar (several, as a
file that comes back has at most 16 MiB, all of them 64), each written on as programs are done. A set with more traces than that is recorded by
--part 1/2, --part 2/2: of its programs every second one, in order.
"""
import argparse, ast, json, os, shutil, subprocess, sys, tarfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
FIRST = os.path.join(HERE, "held_out_programs.py")
TAR_LIMIT, TARS = 15 << 20, 4


def load(path):
    import importlib.util
    spec = importlib.util.spec_from_file_location("programs", path)
    programs = importlib.util.module_from_spec(spec)
    sys.modules["programs"] = programs  # the name that recording.py gives it: part of what a cached graph is known by
    spec.loader.exec_module(programs)
    return programs


def assigned(path, name):
    """What the file assigns to a name, as a tree; read without running it: that would take as long as a program."""
    with open(path) as file:
        for statement in ast.parse(file.read()).body:
            if isinstance(statement, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in statement.targets):
                return statement.value
    return None


def compiled_ahead(path):
    value = assigned(path, "COMPILED")
    return COMPILED if value is None else ast.literal_eval(value)


def makers_of(entry):
    return entry if isinstance(entry, dict) else {"": entry}


def warm(path, name):
    import torch
    programs = load(path)
    torch.manual_seed(0)
    for part, maker in makers_of(programs.PROGRAMS[name]).items():
        begin = time.monotonic()
        torch._dynamo.reset()  # what it gave up in one half it would not compile in the other
        step = maker()
        for _ in range(3):
            step()
        torch.cuda.synchronize()
        print(f"compiled {name} {part} {time.monotonic() - begin:.1f} s", flush=True)


def dry_run(path, names):
    """Exit status 1 when a program fails, when the halves of a pair give different results, or when it is not said what was planted."""
    import torch
    programs = load(path)
    torch.set_num_threads(1)
    unequal = {"mlm_masking"}  # hides other tokens each time: only the size of its loss can be compared
    bad = 0
    for name, entry in programs.PROGRAMS.items():
        if names and name not in names:
            continue
        results, text = {}, ""
        try:
            for part, maker in makers_of(entry).items():
                torch.manual_seed(0)
                torch._dynamo.reset()
                step = maker()
                results[part] = [step().detach().float().clone() for _ in range(3)]
                assert all(r.isfinite().all() for r in results[part]), "not finite"
            if len(results) == 2:
                worst = 0.0
                for a, b in zip(results["fault"], results["mended"]):
                    assert a.shape == b.shape, (a.shape, b.shape)
                    worst = max(worst, ((a - b).abs().max() / b.abs().max().clamp(min=1e-6)).item())
                limit = 0.25 if name in unequal else 0.03
                text = f"differs by {worst:.2g} of the largest value"
                assert worst <= limit, text
        except Exception as error:
            import traceback
            traceback.print_exc()
            bad += 1
            text = f"FAILED: {error}"
        print(f"{name:24} {text}", flush=True)
    for name, makers in getattr(programs, "FORMS", {}).items():
        if names and name.split(".")[0] not in names:
            continue
        try:
            results = []
            for maker in makers:
                torch.manual_seed(0)
                torch._dynamo.reset()
                results.append(maker()().detach().float().clone())
            worst = ((results[0] - results[1]).abs().max() / results[0].abs().max().clamp(min=1e-6)).item()
            assert worst <= 0.03, f"differs by {worst:.2g}"
            text = f"its compiled form differs by {worst:.2g}"
        except Exception as error:
            import traceback
            traceback.print_exc()
            bad += 1
            text = f"FAILED: {error}"
        print(f"{name:32} {text}", flush=True)
    pairs = sum(isinstance(e, dict) for e in programs.PROGRAMS.values())
    with open(os.path.join(HERE, "planted.json")) as file:
        planted = json.load(file)
    missing = [n for n, e in programs.PROGRAMS.items() if isinstance(e, dict) and n not in planted]
    print(f"{pairs} pairs, {len(programs.PROGRAMS) - pairs} single programs, {bad} failed; pairs without a finding: {missing}")
    sys.exit(1 if bad or missing else 0)


class Packing:
    """Puts the traces of programs that are done into tars, each once."""

    def __init__(self, work, out):
        self.work, self.out, self.done, self.number, self.size = work, out, set(), 1, 0
        self.left_out = []

    def more(self):
        path = os.path.join(self.work, "steps.jsonl")
        if not os.path.exists(path):
            return
        with open(path) as file:
            lines = [line for line in file.read().splitlines(keepends=True) if line.endswith("\n")]
        fresh = False
        for line in lines:
            program = json.loads(line)
            key = program["name"], program.get("variant")
            if key in self.done:
                continue
            self.done.add(key)
            fresh = True
            for option in program.get("options", []):
                name = f"{program['name']}.{option}.json.gz"
                full = os.path.join(self.work, name)
                if not os.path.exists(full):
                    continue
                size = os.path.getsize(full) + 1024
                if self.size and self.size + size > TAR_LIMIT and self.number < TARS:
                    self.number, self.size = self.number + 1, 0
                if self.size + size > TAR_LIMIT:
                    self.left_out.append(name)
                    continue
                with tarfile.open(os.path.join(self.out, f"held_out_{self.number}.tar"), "a") as tar:
                    tar.add(full, "held_out/" + name)
                self.size += size
        if fresh:
            shutil.copy(path, os.path.join(self.out, "steps.jsonl"))


def environment():
    more = dict(os.environ, PYTHONUNBUFFERED="1", OPENBLAS_NUM_THREADS="1")
    more.setdefault("TORCHINDUCTOR_CACHE_DIR", "/tmp/held_out_inductor")
    more.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # no pool of compilers: each process is one
    return more


def names_of_part(path, part):
    number, parts = (int(each) for each in part.split("/"))
    return list(load(path).PROGRAMS)[number - 1::parts]


def record(args):
    begin = time.monotonic()
    if args.part:
        args.names = names_of_part(args.programs, args.part)
    recording = next((p for p in (os.path.join(HERE, "recording.py"), os.path.join(HERE, "../../bench/accuracy/recording.py"), "bench/accuracy/recording.py")
                      if os.path.exists(p)), None)
    if not recording:
        sys.exit("recording.py (bench/accuracy) must be in the same folder")
    os.makedirs(args.out, exist_ok=True)
    work = args.work
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    log = open(os.path.join(args.out, "console.log"), "ab", buffering=0)

    def say(text):
        print(text, flush=True)
        log.write((text + "\n").encode())

    waiting = assigned(args.programs, "FORMS") is not None
    compiled = [] if waiting else [name for name in compiled_ahead(args.programs) if not args.names or name in args.names]
    children = {name: subprocess.Popen([sys.executable, __file__, "--programs", args.programs, "--warm", name], env=environment(), stdout=log, stderr=log) for name in compiled}
    until = begin + args.compile_seconds
    for name, child in children.items():
        try:
            child.wait(max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            say(f"compiling {name} took too long; it goes on from what is cached")
        if child.returncode:
            say(f"compiling {name} ended with {child.returncode}")
    if not waiting:
        say(f"compiled after {time.monotonic() - begin:.1f} s")
    left = args.seconds - (time.monotonic() - begin) - 8  # recording.py begins no program behind its seconds; the last may take a few more
    command = [sys.executable, recording, args.programs, work, *args.names, "--seconds", f"{left:.0f}"]
    if waiting:
        command += ["--prepare", f"{args.compile_seconds:.0f}"]
    child = subprocess.Popen(command, env=environment(), stdout=log, stderr=log, start_new_session=True)
    packing = Packing(work, args.out)
    while child.poll() is None:
        time.sleep(2)
        packing.more()
        if time.monotonic() - begin > args.seconds + 12:
            os.killpg(child.pid, 9)
            child.wait()
            say("stopped: out of time")
    packing.more()
    if packing.left_out:
        say("no room for " + ", ".join(packing.left_out))
    say(f"{len(packing.done)} programs (halves of pairs and compiled forms counted each) in {time.monotonic() - begin:.0f} s; {packing.number} tars, the last {packing.size >> 20} MiB")
    log.close()
    with open(os.path.join(args.out, "console.log"), errors="replace") as file:
        print(file.read()[-9000:])


# Of a set that says nothing of it: held_out_programs.py.
COMPILED = ["gpt_train_compiled", "llama_pointwise", "table_breaks", "vocoder_graphs", "simclr_train_compiled", "rerank_reduce_overhead", "upscaler_compiled"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", default=FIRST)
    parser.add_argument("--out", default=os.environ.get("OUT"))
    parser.add_argument("--work", default="/tmp/held_out")
    parser.add_argument("--seconds", type=float, default=280)
    parser.add_argument("--compile-seconds", type=float, default=60)
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--warm")
    parser.add_argument("--part", help="1/2, 2/2: of the programs every second one")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    if args.warm:
        warm(args.programs, args.warm)
    elif args.dry_run:
        os.environ["HELD_OUT_DRY"] = "1"
        dry_run(args.programs, args.names)
    elif not args.out:
        sys.exit("--out is missing")
    else:
        record(args)


main()
