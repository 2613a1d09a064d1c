#!/usr/bin/env python3
"""Takes the kernels of one layer, of the head and of the optimizer out of a recorded GPT training step into kernels.json: what they are called,
how long they took (the median over layers and steps), of which shapes, with which grid. The made jobs are built of these.

usage: extract.py gpt_eager_train.json.gz > kernels.json

Shapes are told with "B" for the batch, "S" for the length of a sequence and "T" for their product, so that a job may have others. Kernels under
2.5 us (casts of biases, memsets) are left out: they would make traces larger, and no step longer."""

import gzip
import json
import statistics
import sys

SHORTEST_US = 2.5
LAYERS, STEPS = 8, 3
NAMED_BY_POSITION = {"aten::mm", "aten::sum", "aten::addmm", "aten::gather", "aten::embedding_dense_backward"}


def device_work(trace):
    """Kernels by their start, each with the op that launched it."""
    events = trace["traceEvents"]
    ops = {e["args"]["External id"]: e for e in events if e.get("cat") == "cpu_op"}
    found = sorted((e for e in events if e.get("cat") == "kernel"), key=lambda e: e["ts"])
    return [(e, ops.get(e["args"].get("External id"))) for e in found]


def symbolic(op, kernel):
    """The shapes of an op with B, S and T where the batch stands."""
    dims = json.loads(json.dumps(op["args"].get("Input Dims", [])))

    def named(shape):
        if len(shape) == 4 and shape[0] == 4:
            return ["B", shape[1], "S", shape[3]]
        if len(shape) == 3 and shape[:2] == [4, 1024]:
            return ["B", "S", shape[2]]
        return shape

    dims = [[named(s) for s in d] if d and isinstance(d[0], list) else named(d) for d in dims]
    name = op["name"]
    if name == "aten::addmm":
        dims[1][0] = "T"
    elif name == "aten::mm" and kernel["name"].endswith("NTN"):  # a gradient of weights: summed over tokens
        dims[0][1] = dims[1][0] = "T"
    elif name in ("aten::mm", "aten::sum", "aten::nll_loss_backward", "aten::_log_softmax"):
        for d in dims:
            if d and d[0] == 4096 and (name != "aten::mm" or d is dims[0]):
                d[0] = "T"
    elif name.startswith(("aten::nll_loss", "aten::_log_softmax", "aten::embedding")):
        for d in dims:
            if d and d[0] == 4096:
                d[0] = "T"
    return dims


def row(samples):
    kernel, op = samples[0]
    args = kernel["args"]
    return {
        "op": op["name"], "dims": symbolic(op, kernel), "types": op["args"].get("Input type", []), "kernel": kernel["name"],
        "ns": round(statistics.median(k["dur"] for k, _ in samples) * 1000), "grid": args["grid"], "block": args["block"],
        "registers": args["registers per thread"], "shared": args["shared memory"],
    }


def parts_of(work):
    """One step cut into parts: each begins where a kernel of its own stands."""
    is_norm = [op["name"] == "aten::native_layer_norm" for _, op in work]
    norms = [i for i, yes in enumerate(is_norm) if yes]  # two a layer, and one before the head
    backs = [i for i, (k, op) in enumerate(work) if op["name"] == "aten::native_layer_norm_backward" and "GammaBeta" in k["name"]]
    adam = next(i for i, (k, op) in enumerate(work) if "_fused_adam" in op["name"])
    parts = {"embed": [work[: norms[0]]], "attention": [], "mlp": [], "attention_back": [], "mlp_back": []}
    for layer in range(LAYERS):
        # An addition of the residual stands at the end of each half: right before the next norm.
        parts["attention"].append(work[norms[2 * layer] : norms[2 * layer + 1]])
        parts["mlp"].append(work[norms[2 * layer + 1] : norms[2 * layer + 2]])
    parts["head"] = [work[norms[2 * LAYERS] : backs[0] - 1]]  # with its backward
    for half in range(2 * LAYERS):
        begin = backs[half] + (1 if half == 0 else 2)
        parts["mlp_back" if half % 2 == 0 else "attention_back"].append(work[begin : backs[half + 1] + 2])
    parts["embed_back"] = [work[backs[2 * LAYERS] + 2 : adam]]
    parts["optimizer"] = [work[adam:]]
    return parts


def main():
    with gzip.open(sys.argv[1]) as file:
        work = device_work(json.load(file))
    size = len(work) // STEPS
    steps = [parts_of(work[size * i : size * (i + 1)]) for i in range(STEPS)]
    table = {}
    for name in steps[0]:
        takes = [take for step in steps for take in step[name]]
        usual = statistics.mode(len(t) for t in takes)
        takes = [t for t in takes if len(t) == usual]
        rows = [row([t[i] for t in takes]) for i in range(usual)]
        table[name] = [r for r in rows if r["ns"] >= SHORTEST_US * 1000]
    names = sorted({r["kernel"] for rows in table.values() for r in rows})
    for rows in table.values():
        for r in rows:
            r["kernel"] = names.index(r["kernel"])
    print("{\n\"kernels\": " + json.dumps(names, indent=1) + ",\n\"parts\": {")
    print(",\n".join(f'"{name}": [\n' + ",\n".join("  " + json.dumps(r) for r in rows) + "\n]" for name, rows in table.items()))
    print("}\n}")


main()
