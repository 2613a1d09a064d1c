# ---- Measuring ---------------------------------------------------------------------------------------------------------------

REPEATS = 3


class Recorder:
    def __init__(self, folder, repeats=REPEATS):
        self.folder, self.repeats = folder, repeats
        self.flush = torch.empty(int(256e6 if LIMIT == 1 else 1e4), dtype=torch.int8, device=DEVICE)
        self.failed, self.readers = {}, []
        self.doing, self.since = "", time.time()
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self):
        """A call that does not end takes its process with it: the next goes on with other shapes."""
        while True:
            time.sleep(1)
            if time.time() - self.since > 20 and self.doing:
                print("did not end:", self.doing, flush=True)
                os._exit(3)

    def begin(self, what):
        self.doing, self.since = what, time.time()

    def finish(self):
        for reader in self.readers:
            reader.join()
        self.readers = []

    def run(self, key, call, tf32):
        """Inside a profile: the calls of one point, under annotations that carry its key."""
        torch.backends.cuda.matmul.allow_tf32 = tf32
        torch.backends.cudnn.allow_tf32 = tf32
        call()
        torch.cuda.synchronize()
        began = time.time()
        call()
        torch.cuda.synchronize()
        if time.time() - began > 0.04:
            raise Skip("slow")
        for _ in range(self.repeats):
            self.flush.zero_()
            with record_function("point:%d:c" % key):
                call()
        call()
        for _ in range(self.repeats):
            with record_function("point:%d:w" % key):
                call()

    def points(self, out, makes, deadline, keep_trace=None, apart=False):
        """makes: functions that return (call, tf32, about the point). One profile for all of them; apart: another process reads it meanwhile."""
        about, n = [], 0
        gc_limit = 30e9
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True) as prof:
            for m in makes:
                if time.time() > deadline:
                    break
                try:
                    self.begin("a point")
                    call, tf32, what = m()
                    self.begin(what.get("maker", what.get("model", "a point")))
                    about.append(dict(what, tf32=tf32))
                    n += 1
                    self.run(n - 1, call, tf32)
                except Skip:
                    pass
                except Exception as e:  # a shape that the op or its library refuses: said at the end, the sweep goes on
                    text = "%s: %s" % (type(e).__name__, str(e).split("\n")[0][:150])
                    if "CUDA error" in text or "unspecified launch" in text:  # nothing runs after it in this process
                        print("lost the device:", about[-1:], text, flush=True)
                        os._exit(3)
                    self.failed[text] = self.failed.get(text, 0) + 1
                call = None
                if torch.cuda.memory_reserved() > gc_limit:
                    torch.cuda.empty_cache()
            torch.cuda.synchronize()
        self.begin("")
        if not n:
            return 0
        path = tempfile.mktemp(suffix=".json")
        prof.export_chrome_trace(path)
        del prof
        if keep_trace:
            with open(path, "rb") as f, gzip.open(keep_trace, "wb", 6) as g:
                g.write(f.read())
        told = (path, about, self.repeats, os.path.join(self.folder, out + ".jsonl.gz"))
        if not apart:
            return write_points(*told)
        self.readers = [r for r in self.readers if r.is_alive()]
        self.readers.append(multiprocessing.get_context("fork").Process(target=write_points, args=told))  # it never touches the device
        self.readers[-1].start()
        return n


def write_points(path, about, repeats, out):
    with open(path) as f:
        events = json.load(f)["traceEvents"]
    os.remove(path)
    lines = [json.dumps(line, separators=(",", ":")) + "\n" for line in read_points(events, about, repeats)]
    with open(out, "ab") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        f.write(gzip.compress("".join(lines).encode(), 6))  # a member of its own: whole after an early end
    return len(lines)


def median(xs):
    xs = sorted(xs)
    return xs[len(xs) // 2] if len(xs) % 2 else (xs[len(xs) // 2 - 1] + xs[len(xs) // 2]) / 2


def read_points(events, about, repeats):
    """The lines of a profile: kernels by the correlation of their launches, launches by the annotation they stand in."""
    device, launches, ops, marks = {}, {}, {}, []
    for e in events:
        cat, args = e.get("cat"), e.get("args", {})
        if cat in ("kernel", "gpu_memcpy", "gpu_memset"):
            device[args.get("correlation")] = e
        elif cat in ("cuda_runtime", "cuda_driver"):
            launches.setdefault(e["tid"], []).append((e["ts"], args.get("correlation")))
        elif cat == "cpu_op":
            ops.setdefault(e["tid"], []).append((e["ts"], -e["dur"], e))
        elif cat == "user_annotation" and e["name"].startswith("point:"):
            marks.append(e)
    for by_thread in (launches, ops):
        for v in by_thread.values():
            v.sort(key=lambda x: x[:2])
    points = {}
    for mark in marks:
        _, key, phase = mark["name"].split(":")
        mine = launches.get(mark["tid"], [])
        begin, end = mark["ts"], mark["ts"] + mark["dur"]
        found = []
        for ts, correlation in mine[bisect.bisect_left(mine, (begin,)):]:
            if ts > end:
                break
            if correlation in device:
                found.append((ts, device[correlation]))
        points.setdefault(int(key), {"c": [], "w": []})[phase].append((mark, found))
    for key, phases in sorted(points.items()):
        if len(phases["w"]) < repeats or not phases["w"][0][1]:
            continue
        names = [k["name"] for _, k in phases["w"][-1][1]]
        runs = {p: [found for _, found in phases[p] if [k["name"] for _, k in found] == names] for p in "cw"}
        if not runs["c"] or not runs["w"]:
            continue
        mark, found = phases["w"][-1]
        begin, end = mark["ts"], mark["ts"] + mark["dur"]
        mine = ops.get(mark["tid"], [])
        nested = []
        for ts, _, e in mine[bisect.bisect_left(mine, (begin, -1e18)):]:
            if ts > end:
                break
            nested.append(e)

        def around(ts):
            return [e for e in nested if e["ts"] <= ts <= e["ts"] + e["dur"]]

        def call_of(e):
            a = e.get("args", {})
            line = {"op": e["name"], "shapes": a.get("Input Dims"), "dtypes": a.get("Input type"), "strides": a.get("Input Strides"),
                    "concrete": a.get("Concrete Inputs")}
            for k in ("kernel_file", "kernel_backend", "grid", "num_warps", "num_stages", "kernel_hash", "kernel_kwargs"):
                if k in a:
                    line[k] = a[k]
            return line
        line, kernels, inner = {}, [], {}
        for i, (ts, k) in enumerate(found):
            chain = around(ts)
            if chain and not line:
                line = call_of(chain[0])
            if chain and chain[-1] is not chain[0]:
                inner.setdefault(id(chain[-1]), call_of(chain[-1]))
            times = {p: median([run[i][1]["dur"] for run in runs[p]]) * 1000 for p in "cw"}
            args = k.get("args", {})
            kernels.append({"name": k["name"], "op": chain[-1]["name"] if chain else None, "warm_ns": round(times["w"]),
                            "cold_ns": round(times["c"]), "grid": args.get("grid"), "block": args.get("block"),
                            "bytes": args.get("bytes")})
        whole = {p: median([sum(k["dur"] for _, k in run) for run in runs[p]]) * 1000 for p in "cw"}
        line.update(about[key])
        line.update(warm_ns=round(whole["w"]), cold_ns=round(whole["c"]), kernels=kernels)
        if inner:
            line["inner"] = list(inner.values())[:8]
        yield line
