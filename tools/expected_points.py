"""Points of src/predict/record_expected: what was called, and how long each piece of it took.

A point is one op call with its kernels. It gives a row for the call itself, and one for each op inside it that launches: a trace's
kernels belong to the innermost op. Of a convolution's backward the row also says which kernels made which gradient: they are told
by their names and by their order.

  expected_points.py OUT.jsonl.gz POINTS.jsonl.gz.. [--without MODELS.jsonl.gz]

joins recordings into the one that the repository keeps: without the calls that a score set holds, and with of each kernel's name
only what is read of it."""

import argparse
import collections
import gzip
import json
import re
import zlib

FIELDS = ("op", "shapes", "dtypes", "strides", "concrete")
ITEMS = {"1": "uint8", "2": "bfloat16", "4": "float32", "8": "int64"}
# Kernels around a convolution's own: those that prepare go with what follows, those that finish with what was before.
PREPARES = re.compile("nchwToNhwc|AddPadding|Memset|Memcpy|convertTensor|init_device_workspace|precompute_indices|flip_filter|strided_dgrad_")
FINISHES = re.compile("nhwcToNchw|SliceC|tensorTransform|scalePacked|splitK|reduce", re.I)
SUMS_OF_WEIGHT = re.compile("cnn::reduce_(wgrad| wgrad)")  # behind a product that its name does not tell; also as shortened below
INPUT = re.compile("dgrad|depthwise2d_backward|backward_input", re.I)
WEIGHT = re.compile("wgrad|grad_weight|backward_weight", re.I)


def read_lines(paths):
    for path in paths:
        with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
            yield from (json.loads(line) for line in f)


def item_of(point):
    """The type of a list's tensors, which a trace does not tell: from the kernel's name."""
    if point.get("item"):
        return point["item"]
    names = " ".join(k["name"] for k in point["kernels"])
    if re.search("aten::(cat|stack)", point["op"]):
        found = re.search(r"OpaqueType<(\d+)u?>", names)
        return ITEMS.get(found.group(1)) if found else None
    if re.search("aten::_(foreach|fused)_", point["op"]):
        found = re.search(r"(?:Functor|Math\w*)<(float|c10::BFloat16|c10::Half|double)", names)
        return {"float": "float32", "c10::BFloat16": "bfloat16", "c10::Half": "float16", "double": "float64"}.get(found.group(1)) if found else None
    return None


def short_name(point, name):
    if "conv" in point["op"]:
        found = [m.group(0) for r in (PREPARES, WEIGHT, INPUT, FINISHES) for m in [r.search(name)] if m]
        return " ".join([name[:24]] + found[:1])
    return name[:400] if re.search("aten::(cat|stack|_foreach|_fused)", point["op"]) else name[:24]


def same_call(point):
    """Lists are left out of the shapes: their sizes tell them apart."""
    return json.dumps([point["op"].split("::")[-1].replace("conv2d", "convolution"), point["shapes"], point["dtypes"], point["strides"], point.get("sizes")])


def sum_of(kernels):
    kernels = list(kernels)
    return sum(k["warm_ns"] for k in kernels), sum(k["cold_ns"] for k in kernels)


def gradients(kernels):
    """Which kernels made the gradient of the input and which that of the weight; None where that cannot be told."""
    roles = ["helper" if PREPARES.search(k["name"]) or SUMS_OF_WEIGHT.search(k["name"]) else "weight" if WEIGHT.search(k["name"]) else "input" if INPUT.search(k["name"])
             else "helper" if FINISHES.search(k["name"]) else "?" for k in kernels]
    unknown = [i for i, r in enumerate(roles) if r == "?"]
    known = {r: [i for i, x in enumerate(roles) if x == r] for r in ("input", "weight")}
    if unknown and not known["input"] and not known["weight"]:
        if len(unknown) != 2:  # two plain products: the input's comes first
            return None
        roles[unknown[0]], roles[unknown[1]] = "input", "weight"
    elif unknown:
        for i in unknown:
            if known["weight"] and i < min(known["weight"]) and not known["input"]:
                roles[i] = "input"
            elif known["input"] and i > max(known["input"]) and not known["weight"]:
                roles[i] = "weight"
            else:
                return None
    if "input" not in roles or "weight" not in roles:
        return None
    out = {"input": [], "weight": []}
    for i, k in enumerate(kernels):
        role = roles[i]
        if role == "helper":
            after = next((r for r in roles[i + 1:] if r != "helper"), None)
            before = next((r for r in reversed(roles[:i]) if r != "helper"), None)
            role = (after or before) if PREPARES.search(k["name"]) else (before or after)
        out[role].append(k)
    return out


def parts_of(point):
    """(warm, cold) of each part of a convolution, by the name that ridge has for it."""
    kernels = [k for k in point["kernels"] if "conv" in (k["op"] or "conv")]  # the bias and copies are ops of their own
    if "backward" not in point["op"]:
        return {"forward": sum_of(kernels)}
    mask = [word == "True" for word in re.findall("True|False", (point["concrete"] or [""])[-1])]
    if mask[:2] == [True, True]:
        found = gradients(kernels)
        return {role: sum_of(mine) for role, mine in found.items()} if found else {}
    return {"input": sum_of(kernels)} if mask[:1] == [True] else {"weight": sum_of(kernels)}


def tile_row(p):
    """A product by Triton in one configuration. Those of one product are one point: folds are to be of other products."""
    (m, n, k), (turned_a, turned_b), (bm, bn, bk, stages, warps) = p["product"], p["turned"], p["tile"]
    product = json.dumps([p["product"], p["dtype"], p["turned"]])
    return dict(op="aten::mm", shapes=[[m, k], [k, n]], strides=[[1, m] if turned_a else [k, 1], [1, k] if turned_b else [n, 1]], dtypes=[p["dtype"]] * 2,
                tf32=True, config={"BLOCK_M": bm, "BLOCK_N": bn, "BLOCK_K": bk, "num_warps": warps, "num_stages": stages},
                times={"": (p["warm_ns"], p["cold_ns"])}, point=zlib.crc32(product.encode()))


def rows_of(points):
    """Rows with `times`: (warm, cold) of the whole call under "", of what it launches itself under "own", and of its parts."""
    for number, p in enumerate(points):
        if p.get("tile"):
            yield tile_row(p)
            continue
        if not p.get("op"):
            continue
        more = {k: v for k, v in (("sizes", p.get("sizes")), ("item", item_of(p)), ("tf32", p.get("tf32", False)), ("model", p.get("model"))) if v is not None}
        convolution = "conv" in p["op"]
        times = dict(parts_of(p) if convolution else {}, **{"": (p["warm_ns"], p["cold_ns"])}, own=sum_of(k for k in p["kernels"] if k["op"] == p["op"]))
        yield dict({k: p[k] for k in FIELDS if p.get(k) is not None}, **more, times=times, point=number)
        inner = p.get("inner", [])
        names = collections.Counter(i["op"] for i in inner)
        for i in inner:
            kernels = [k for k in p["kernels"] if k["op"] == i["op"]]
            if names[i["op"]] != 1 or i["op"] == p["op"] or not kernels or (convolution and "conv" in i["op"]):
                continue
            yield dict({k: i[k] for k in FIELDS if i.get(k) is not None}, **more, times={"": sum_of(kernels), "own": sum_of(kernels)}, point=number)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("out")
    p.add_argument("points", nargs="+")
    p.add_argument("--without", default=[], action="append")
    a = p.parse_args()
    held = {same_call(x) for x in read_lines(a.without) if x.get("op")}
    with gzip.open(a.out, "wt", 9) as f:
        for point in read_lines(a.points):
            if point.get("tile"):
                kept = {k: point[k] for k in ("product", "dtype", "turned", "tile", "warm_ns", "cold_ns", "registers", "spills", "shared", "constants")}
                f.write(json.dumps(kept, separators=(",", ":")) + "\n")
                continue
            if not point.get("op") or same_call(point) in held:
                continue
            point["kernels"] = [{"name": short_name(point, k["name"]), "op": k["op"], "warm_ns": k["warm_ns"], "cold_ns": k["cold_ns"]}
                                for k in point["kernels"]]
            f.write(json.dumps({k: v for k, v in point.items() if v is not None and k != "maker"}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
