# ---- Products by Triton: each configuration that Inductor's template is tried with ------------------------------------------------

# Tiles of m, n and k, stages, warps: as of PyTorch 2.11.
TILES = ((32, 32, 16, 1, 2), (32, 32, 128, 2, 4), (32, 64, 32, 5, 8), (64, 32, 32, 5, 8), (64, 32, 128, 5, 4), (64, 64, 16, 2, 4), (64, 64, 32, 2, 4),
         (64, 64, 64, 3, 8), (64, 64, 128, 5, 4), (64, 128, 32, 3, 4), (64, 128, 32, 4, 8), (64, 128, 64, 3, 4), (64, 128, 128, 4, 4), (128, 64, 32, 3, 4),
         (128, 64, 32, 4, 8), (128, 128, 32, 2, 8), (128, 128, 32, 3, 4), (128, 128, 64, 3, 4), (128, 128, 64, 5, 8), (128, 128, 128, 4, 8))

if triton:
    @triton.jit
    def tile_body(A, B, C, M, N, K, am, ak, bk, bn, plain_a: tl.constexpr, plain_b: tl.constexpr, even: tl.constexpr, BLOCK_M: tl.constexpr,
                  BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
        pid = tl.program_id(0)
        grid_m = (M + BLOCK_M - 1) // BLOCK_M
        grid_n = (N + BLOCK_N - 1) // BLOCK_N
        width = GROUP_M * grid_n
        group = pid // width
        rows_here = min(grid_m - group * GROUP_M, GROUP_M)
        pid_m = group * GROUP_M + (pid % rows_here)
        pid_n = (pid % width) // rows_here
        tl.assume(pid_m >= 0)
        tl.assume(pid_n >= 0)
        rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
        rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
        if plain_a:
            at_m = tl.max_contiguous(tl.multiple_of(rm % M, BLOCK_M), BLOCK_M)
        else:
            at_m = rm % M
        if plain_b:
            at_n = tl.max_contiguous(tl.multiple_of(rn % N, BLOCK_N), BLOCK_N)
        else:
            at_n = rn % N
        at_k = tl.arange(0, BLOCK_K)
        sum_of_tile = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for step in range(0, tl.cdiv(K, BLOCK_K)):
            ka = at_k[None, :] + step * BLOCK_K
            kb = at_k[:, None] + step * BLOCK_K
            if even:
                a = tl.load(A + at_m[:, None] * am + ka * ak)
                b = tl.load(B + kb * bk + at_n[None, :] * bn)
            else:
                a = tl.load(A + at_m[:, None] * am + ka * ak, mask=at_k[None, :] < K - step * BLOCK_K, other=0.0)
                b = tl.load(B + kb * bk + at_n[None, :] * bn, mask=at_k[:, None] < K - step * BLOCK_K, other=0.0)
            sum_of_tile += tl.dot(a, b, allow_tf32=True, out_dtype=tl.float32)
        rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
        rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
        inside = (rm[:, None] < M) & (rn[None, :] < N)
        tl.store(C + rm[:, None] * N + rn[None, :], sum_of_tile.to(C.dtype.element_ty), mask=inside)

    @triton.jit
    def tile_constants(A, B, C, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, am: tl.constexpr, ak: tl.constexpr, bk: tl.constexpr,
                       bn: tl.constexpr, plain_a: tl.constexpr, plain_b: tl.constexpr, even: tl.constexpr, BLOCK_M: tl.constexpr,
                       BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
        tile_body(A, B, C, M, N, K, am, ak, bk, bn, plain_a, plain_b, even, BLOCK_M, BLOCK_N, BLOCK_K, GROUP_M)

    @triton.jit
    def tile_sizes(A, B, C, M, N, K, am, ak, bk, bn, plain_a: tl.constexpr, plain_b: tl.constexpr, even: tl.constexpr, BLOCK_M: tl.constexpr,
                   BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
        tile_body(A, B, C, M, N, K, am, ak, bk, bn, plain_a, plain_b, even, BLOCK_M, BLOCK_N, BLOCK_K, GROUP_M)


def tiles_of(m, n, k):
    """Those of the template, made small where the product is, each once."""
    def power(x):
        return max(16, 1 << (x - 1).bit_length())
    found = []
    for bm, bn, bk, stages, warps in TILES:
        bm, bn, bk = min(bm, power(m)), min(bn, power(n)), min(bk, power(k))
        tile = (bm, bn, bk, stages, min(warps, bm * bn // 256))
        if tile not in found:
            found.append(tile)
    return found


def tile_products(seed, count, constants):
    """(m, n, k, type, A turned, B turned, sizes as constants) of random products."""
    d, found = Draw(seed), []
    while len(found) < count:
        m = d.size(1, 128) if d.yes(0.2) else d.size(16, 16384)
        n, k = d.size(16, 16384), d.size(16, 8192)
        if not constants:  # few kernels for many sizes: those that divide by 16 share theirs
            m, n, k = (max(16, x // 16 * 16) for x in (m, n, k))
        if not 2e7 < 2.0 * m * n * k < 4e11:
            continue
        found.append((m, n, k, d.of("bfloat16", "bfloat16", "bfloat16", "float16" if constants else "bfloat16", "float32"), constants and d.yes(0.15), d.yes(), constants))
    return found


def tile_jobs(a):
    """(which file, product, tile), in the order in which they are compiled: a third of the products whose sizes are constants is for scoring."""
    count = a.tiles
    if LIMIT < 1:
        count = 3
    learn = [("tiles", p) for p in tile_products(a.seed + 71, count, True)]
    score = [("tiles_score", p) for p in tile_products(a.seed + 1000071, (count + 1) // 2, True)]
    free = [("tiles", p) for p in tile_products(a.seed + 2000071, 4 * count, False)]
    turns = [x for i in range(len(learn)) for x in (score[i // 2:i // 2 + 1] if i % 2 == 0 else []) + learn[i:i + 1] + free[4 * i:4 * i + 4]]
    return [(out, p, tile) for out, p in turns for tile in tiles_of(*p[:3])]


def tile_arguments(p, tile):
    m, n, k, kind, turned_a, turned_b, constants = p
    bm, bn, bk, stages, warps = tile
    am, ak = (1, m) if turned_a else (k, 1)
    sk, sn = (1, k) if turned_b else (n, 1)
    return (m, n, k, am, ak, sk, sn), dict(plain_a=m >= bm and k > 1, plain_b=n >= bn and k > 1, even=k % bk == 0, BLOCK_M=bm, BLOCK_N=bn, BLOCK_K=bk,
                                           GROUP_M=8, num_warps=warps, num_stages=stages)


def compile_tiles(a):
    """A worker: every so many-th kernel into Triton's cache. What it has done is said in a file of its own."""
    seen = set()
    with open(os.path.join(os.environ["TRITON_CACHE_DIR"], "done_%d" % a.worker), "w") as done:
        for i, (_, p, tile) in enumerate(tile_jobs(a)):
            sizes, options = tile_arguments(p, tile)
            # Sizes that are no constants share kernels.
            key = (p if p[6] else (p[3], p[5], [(x % 16 == 0, x == 1) for x in p[:3]]), sorted(options.items()))
            if zlib.crc32(str(key).encode()) % a.workers != a.worker or time.time() > a.until:
                continue
            try:
                if str(key) not in seen:
                    kind = getattr(torch, p[3])
                    (tile_constants if p[6] else tile_sizes).warmup(kind, kind, kind, *sizes, grid=(1,), **options)
                seen.add(str(key))
                print(i, file=done, flush=True)
            except Exception as e:
                print("tile", p, tile, type(e).__name__, str(e).split("\n")[0][:150], flush=True)


def measure_tiles(a, log):
    jobs, ready = tile_jobs(a), set()
    for path in glob.glob(os.path.join(os.environ["TRITON_CACHE_DIR"], "done_*")):
        with open(path) as f:
            ready |= {int(line) for line in f if line.endswith("\n")}
    log("tiles", len(jobs), "compiled", len(ready))
    recorder = Recorder(a.out, 5)
    made = {}

    def ready_call(p, tile):
        def f():
            m, n, k, kind, turned_a, turned_b, _ = p
            if p not in made:
                made.clear()
                dtype = getattr(torch, kind)
                made[p] = (make((k, m) if turned_a else (m, k), dtype), make((n, k) if turned_b else (k, n), dtype), torch.empty((m, n), device=DEVICE, dtype=dtype))
            sizes, options = tile_arguments(p, tile)
            kernel = (tile_constants if p[6] else tile_sizes)[((m + tile[0] - 1) // tile[0] * ((n + tile[1] - 1) // tile[1]),)]
            tensors = made[p]
            built = kernel(*tensors, *sizes, **options)
            return lambda: kernel(*tensors, *sizes, **options), False, {
                "product": [m, n, k], "dtype": kind, "turned": [turned_a, turned_b], "constants": p[6], "tile": tile,
                "registers": built.n_regs, "spills": built.n_spills, "shared": built.metadata.shared}
        return f
    for out in ("tiles_score", "tiles"):
        mine = [ready_call(p, tile) for i, (name, p, tile) in enumerate(jobs) if name == out and i in ready]
        for at in range(0, len(mine), 400):
            log(out, recorder.points(out, mine[at:at + 400], a.until))
    for text, n in sorted(recorder.failed.items(), key=lambda x: -x[1])[:10]:
        log("refused", n, text)
