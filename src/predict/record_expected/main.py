# ---- The sweep: which points, how many, and when to stop -------------------------------------------------------------------------

# What carries the time of models has the most points.
MAKERS = [(p_mm, 9), (p_addmm, 5), (p_linear, 7), (p_bmm, 6), (p_scaled_mm, 4), (p_mv, 1),
          (p_sdpa, 4), (p_flash, 3), (p_flash_backward, 3.5), (p_efficient, 2), (p_efficient_backward, 2), (p_cudnn_attention, 1),
          (p_cudnn_attention_backward, 0.7), (p_convolution, 6), (p_convolution_backward, 6), (p_layer_norm, 2.5),
          (p_layer_norm_backward, 2.5), (p_rms_norm, 2), (p_group_norm, 2.5), (p_batch_norm, 4), (p_softmax, 4), (p_reduction, 7),
          (p_pointwise, 14), (p_copy, 8), (p_gather, 7), (p_sort, 4), (p_optimizer, 4), (p_loss, 4), (p_pooling, 5), (p_model_convolution, 12),
          (p_model_convolution_backward, 12), (p_model_norm, 4), (p_model_attention, 4), (p_model_product, 5), (p_model_move, 7),
          (p_other_convolution, 8), (p_other_convolution_backward, 8), (p_other_norm, 5), (p_other_move, 6), (p_vocabulary, 1), (p_drawn_convolution, 5), (p_drawn_convolution_backward, 7),
          (p_edge_convolution, 6), (p_edge_convolution_backward, 8), (p_edge_norm, 3), (p_edge_product, 3), (p_edge_attention, 1.5), (p_edge_move, 3)]


def point_maker(maker, draw):
    def f():
        for _ in range(20):
            try:
                made = maker(draw)
            except Skip:
                continue
            call, tf32, more = (made + ({},))[:3] if isinstance(made, tuple) else (made, False, {})
            return call, tf32, dict(more, maker=maker.__name__[2:])
        raise Skip("no shape")
    return f


def sweep(seed, count, batch, only=""):
    """Batches of points, all families in each, by turns until `count`. only: "mm=2,bmm=1", families and their weights."""
    draw = Draw(seed)
    makers = MAKERS
    if only:
        weights = dict(x.split("=") for x in only.split(","))
        makers = [(m, float(weights[m.__name__[2:]])) for m, _ in MAKERS if m.__name__[2:] in weights]
    order = [m for m, w in makers for _ in range(max(0, round(count * w / sum(w for _, w in makers))))]
    draw.r.shuffle(order)
    for i in range(0, len(order), batch):
        yield [point_maker(m, draw) for m in order[i:i + batch]]


def count_lines(path):
    try:
        with gzip.open(path, "rt") as f:
            return sum(1 for _ in f)
    except OSError:
        return 0


def sweep_all(a, log):
    """The table and the score set by turns, so that an early end leaves both covered; then the models."""
    recorder = Recorder(a.out)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):  # the first profile loads CUPTI
        torch.mm(make((64, 64)), make((64, 64)))
    log("ready")
    have = {n: count_lines(os.path.join(a.out, n + ".jsonl.gz")) for n in ("points", "score")}
    sources = {"points": sweep(a.seed, a.points - have["points"], a.batch, a.only),
               "score": sweep(a.seed + 1000003, a.score - have["score"], a.batch, a.only)}
    turn = 2
    while sources and time.time() < a.sweep_until:
        name = "score" if turn % 6 == 3 and "score" in sources or "points" not in sources else "points"
        turn += 1
        makes = next(sources[name], None)
        if makes is None:
            del sources[name]
            continue
        have[name] += recorder.points(name, makes, a.sweep_until, apart=True)
        log(have)
    recorder.finish()
    done = set()
    if have["points"] and os.path.exists(os.path.join(a.out, "models.jsonl.gz")):
        with gzip.open(os.path.join(a.out, "models.jsonl.gz"), "rt") as f:
            done = {json.loads(line)["model"] for line in f}
    for name, build in models():
        if a.no_models or name in done or time.time() > a.until:
            continue
        try:
            torch.backends.cuda.matmul.allow_tf32 = False
            torch.backends.cudnn.allow_tf32 = True
            step = build()
            step()
            with Collector() as seen:
                step()
            step = None
            torch.cuda.synchronize()
            n = recorder.points("models", [remade(f, args, kwargs, name.endswith("fp32"), dict(model=name, count=count))
                                           for f, args, kwargs, count in seen.calls.values()], a.until)
            log(name, len(seen.calls), "calls", n, "points")
        except Exception as e:
            log(name, type(e).__name__, str(e).split("\n")[0][:200])
        step = seen = None
        torch.cuda.empty_cache()
    for text, n in sorted(recorder.failed.items(), key=lambda x: -x[1])[:40]:
        log("refused", n, text)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--out", default=os.environ.get("OUT", "."))
    p.add_argument("--seconds", type=float, default=240)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--points", type=int, default=7000)
    p.add_argument("--score", type=int, default=1300)
    p.add_argument("--batch", type=int, default=220)
    p.add_argument("--no-compiled", action="store_true")
    p.add_argument("--tiles", type=int, default=40, help="products by Triton, each in all configurations; 0: none")
    p.add_argument("--no-models", action="store_true")
    p.add_argument("--only", default="", help="families and their weights, such as mm=2,convolution=1; default all")
    p.add_argument("--workers", type=int, default=10)
    for hidden in ("--until", "--sweep-until"):
        p.add_argument(hidden, type=float, default=0, help=argparse.SUPPRESS)
    p.add_argument("--worker", type=int, default=None, help=argparse.SUPPRESS)
    p.add_argument("--layers", type=float, default=0.3, help="the share of the time that goes to layers as models have them; 0: none")
    for hidden in ("--child", "--tile-worker", "--tile-child", "--layer-child"):
        p.add_argument(hidden, action="store_true", help=argparse.SUPPRESS)
    a = p.parse_args()
    start = time.time()
    log = lambda *x: print("%6.1f" % (time.time() - start), *x, flush=True)
    os.makedirs(a.out, exist_ok=True)
    torch.manual_seed(a.seed)
    if a.worker is not None and a.tile_worker:
        return compile_tiles(a)
    if a.tile_child:
        return measure_tiles(a, log)
    if a.worker is not None:
        return compile_worker(a, os.environ["TORCHINDUCTOR_CACHE_DIR"])
    if a.layer_child:
        return sweep_layers(a, log)
    if a.child:
        return sweep_all(a, log)
    props = torch.cuda.get_device_properties(0)
    with open(os.path.join(a.out, "device.json"), "w") as f:
        json.dump({"device": props.name, "multiprocessors": props.multi_processor_count, "memory": props.total_memory,
                   "torch": torch.__version__, "cuda": torch.version.cuda, "seed": a.seed}, f)
    # A process of its own: a library that breaks on a shape ends it, and the next goes on with other shapes.
    here = [sys.executable, os.path.abspath(__file__), "--out", a.out, "--batch", str(a.batch), "--only", a.only]
    compiled = 0 if a.no_compiled else max(45, 0.3 * a.seconds)
    if not triton:
        a.tiles = 0
    until = start + a.seconds - compiled - (25 if a.tiles else 0)
    tiles = ["--tiles", str(a.tiles), "--seed", str(a.seed), "--workers", str(a.workers)]
    tile_env = dict(os.environ, TRITON_CACHE_DIR=tempfile.mkdtemp())
    # Compiling needs no GPU: while the sweep runs.
    tilers = [subprocess.Popen(here + tiles + ["--tile-worker", "--worker", str(i), "--until", str(until)], env=tile_env)
              for i in range(a.workers if a.tiles else 0)]
    # Layers first: what of them is left out, no other points stand for.
    layers_until = start + a.layers * a.seconds
    for attempt in range(6):
        if layers_until - time.time() < 10 or subprocess.call(here + ["--layer-child", "--seed", str(a.seed + 31 * attempt), "--until", str(layers_until)]) == 0:
            break
    for attempt in range(6):
        if until - time.time() < 20:
            break
        more = ["--child", "--seed", str(a.seed + 31 * attempt), "--points", str(a.points), "--score", str(a.score), "--until", str(until),
                "--sweep-until", str(until - (0 if a.no_models else 0.16 * a.seconds))] + (["--no-models"] if a.no_models else [])
        code = subprocess.call(here + more)
        if code == 0:
            break
        log("the sweep ended with", code)
    for t in tilers:
        t.wait()
    if a.tiles:
        subprocess.call(here + tiles + ["--tile-child", "--until", str(time.time() + 25)], env=tile_env)
    if not a.no_compiled:
        cache = tempfile.mkdtemp()
        env = dict(os.environ, TORCHINDUCTOR_CACHE_DIR=cache, TORCHINDUCTOR_COMPILE_THREADS="2")
        stop = max(time.time() + 25, start + a.seconds - 4 * a.workers)
        children = [subprocess.Popen(here + ["--worker", str(i), "--seed", str(a.seed), "--until", str(stop)], env=env)
                    for i in range(a.workers)]
        for c in children:
            c.wait()
        with tarfile.open(os.path.join(a.out, "compiled.tar.gz"), "w:gz") as t:
            for path in glob.glob(os.path.join(cache, "**", "*"), recursive=True):
                if path.endswith((".py", ".json.gz")) and os.path.getsize(path) < 2e6:
                    t.add(path, os.path.relpath(path, cache))
    log("done")


if __name__ == "__main__":
    main()
