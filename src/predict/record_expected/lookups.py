# ---- Gathers, scatters, sorts ----------------------------------------------------------------------------------------------------

def p_gather(d):
    dtype = d.float()
    width = d.size(4, 8192) if d.yes() else d.of(64, 128, 256, 512, 768, 1024, 2048, 4096)
    table_rows = d.size(16, 200000)
    if table_rows * width > 4e8:
        raise Skip("large")
    picks = max(1, min(int(d.elements(256, 1.5e8) / width), 4000000))
    table, index = make((table_rows, width), dtype), make((picks,), torch.int64, table_rows)
    kind = d.of("embedding", "embedding", "embedding_backward", "embedding_backward", "index_select", "index", "index", "gather",
                "gather", "scatter_add", "scatter", "index_add", "index_put", "index_put_accumulate", "one", "index_copy", "repeat")
    if kind == "embedding":
        ids = index.view(d.of(1, 2, 4), -1) if picks % 4 == 0 else index
        return lambda: F.embedding(ids, table)
    if kind == "embedding_backward":
        g = make((picks, width), dtype)
        return lambda: aten.embedding_dense_backward(g, index, table_rows, -1, False)
    if kind == "index_select":
        return lambda: torch.index_select(table, 0, index)
    if kind == "index":
        return lambda: aten.index(table, [index]), False, {"sizes": [picks], "item": "torch.int64"}
    if kind == "repeat":
        x = make((max(1, picks // 4), width), dtype)
        return lambda: x.repeat_interleave(4, 0)
    if kind == "one":
        x = make((picks, 1000), dtype)
        one = make((picks, 1), torch.int64, 1000)
        return lambda: torch.gather(x, 1, one)
    source = make((picks, width), dtype)
    if kind in ("index_add", "index_put", "index_put_accumulate", "index_copy"):
        if kind == "index_put_accumulate" and picks * width > 3e7:
            raise Skip("slow")
        return {"index_add": lambda: table.index_add_(0, index, source),
                "index_copy": lambda: table.index_copy_(0, index, source),
                "index_put": lambda: aten.index_put_(table, [index], source, False),
                "index_put_accumulate": lambda: aten.index_put_(table, [index], source, True)}[kind], False, {"sizes": [picks],
                                                                                                         "item": "torch.int64"}
    wide = make((picks, width), torch.int64, table_rows)
    if kind == "gather":
        return lambda: torch.gather(table, 0, wide)
    if kind == "scatter":
        return lambda: table.scatter_(0, wide, source)
    return lambda: table.scatter_add_(0, wide, source)


def p_sort(d):
    dtype = d.float()
    kind = d.of("sort", "sort", "topk", "topk", "topk", "cumsum", "cumsum", "argsort", "nonzero", "bincount", "searchsorted", "multinomial",
                "kthvalue", "unique", "fft")
    n = d.elements(256, 3e7)
    width = d.size(8, 131072)
    x = make((max(1, int(n / width)), width), dtype)
    if kind == "sort":
        return lambda: torch.sort(x, -1)
    if kind == "argsort":
        ids = make((int(n) + 1,), torch.int64, 256)
        return lambda: torch.argsort(ids)
    if kind == "topk":
        k = min(width, d.of(1, 2, 4, 8, 16, 50, 64, 128))
        return lambda: torch.topk(x, k, -1)
    if kind == "kthvalue":
        return lambda: torch.kthvalue(x, 1, -1)
    if kind == "cumsum":
        dim = d.of(-1, -1, 0)
        return lambda: torch.cumsum(x, dim)
    if kind == "nonzero":
        y = x > 1
        return lambda: torch.nonzero(y)
    if kind == "bincount":
        ids = make((int(n) + 1,), torch.int64, 512)
        return lambda: torch.bincount(ids, minlength=512)
    if kind == "unique":
        ids = make((int(n) + 1,), torch.int64, 4096)
        return lambda: torch.unique(ids)
    if kind == "fft":
        y = x.float()
        return lambda: torch.fft.rfft(y)
    if kind == "multinomial":
        p = torch.rand((min(x.shape[0], 512), min(width, 50000)), device=DEVICE)
        return lambda: torch.multinomial(p, 1)
    edges = torch.linspace(-3, 3, 1024, device=DEVICE, dtype=dtype)
    return lambda: torch.searchsorted(edges, x)
