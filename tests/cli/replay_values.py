"""Values of replayed calls: an op gets what it takes, told by its other arguments. What is out of range is refused on the CPU; on a GPU it ends the process, or reads memory that is not its own."""

import json
import subprocess

from checks import equal
from harness import succeeds
from replaying import has_torch, python_with_torch

F, I, B, N = "float", "long int", "bool", ""  # types as the profiler writes them

SYSTEM = "/usr/bin/python3"  # Debian's torch, an old one: what is asked here it can do

# op, then an argument each: (sizes, type) of a tensor, else the text of a value.
CALLS = [
    ("aten::bernoulli", ([64, 32], F), N),
    ("aten::bernoulli_", ([64, 32], F), ([64, 32], F), N),
    ("aten::binary_cross_entropy", ([64, 32], F), ([64, 32], F), N, "1"),
    ("aten::masked_scatter_", ([64, 32], F), ([64, 32], B), ([700], F)),
    ("aten::masked_scatter", ([64, 32], F), ([64, 1], B), ([64], F)),
    ("aten::normal", ([64], F), ([64], F), N),
    ("aten::repeat_interleave", ([5], I), "12"),
    ("aten::linalg_lu_solve", ([8, 8], F), ([8], "int"), ([8, 3], F), "True", "False"),
    ("aten::lu_unpack", ([4, 8, 8], F), ([4, 8], "int"), "True", "True"),
    ("aten::_assert_async", ([], B)),
    ("aten::_linalg_check_errors", ([4], "int"), N, "False"),
    ("aten::_ctc_loss", ([50, 3, 20], F), ([3, 30], I), "[50, 50, 50]", "[30, 29, 28]", "0", "False"),
    ("aten::_sample_dirichlet", ([9, 4], F), N),
]

RUN = """
import sys
for path in sys.argv[1:]:
    scope = {"__name__": "one"}
    exec(open(path).read(), scope)
    try:
        inputs = scope["make_inputs"]("cpu")
        scope["run"](inputs)
        print("ok", [[float(v.double().min()), float(v.double().max()), float(v.double().sum())] for v in inputs.args if isinstance(v, scope["torch"].Tensor)])
    except Exception as error:
        print(type(error).__name__, str(error).splitlines()[0])
"""


def recorded(arguments):
    tensors = [argument if isinstance(argument, tuple) else ([], "" if argument == N else "Scalar") for argument in arguments]
    strides = [[] for _ in tensors]
    for (sizes, _), own in zip(tensors, strides):
        step = 1
        for size in reversed(sizes):
            own.insert(0, step)
            step *= size
    values = ["" if isinstance(argument, tuple) else argument for argument in arguments]
    return {"Input Dims": [sizes for sizes, _ in tensors], "Input type": [name for _, name in tensors], "Input Strides": strides, "Concrete Inputs": values}


def trace_of_calls(calls):
    events = []
    for number, (op, *arguments) in enumerate(calls):
        at = 100 * number
        events.append({"ph": "X", "cat": "cpu_op", "name": op, "pid": 1, "tid": 1, "ts": at, "dur": 9, "args": recorded(arguments)})
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": at + 1, "dur": 2, "args": {"correlation": number + 1}})
        device = {"correlation": number + 1, "device": 0, "stream": 7, "grid": [2, 1, 1], "block": [32, 1, 1]}
        events.append({"ph": "X", "cat": "kernel", "name": f"kernel{number}", "pid": 0, "tid": 7, "ts": at + 20, "dur": 4, "args": device})
    return json.dumps({"deviceProperties": [], "traceEvents": events})


def run_on_cpu(folder, calls):
    """What each says: ok with [least, most, sum] of its tensors, or its error. None without torch."""
    python = python_with_torch() or (SYSTEM if has_torch(SYSTEM) else None)
    if python is None:
        return None
    succeeds("replay", folder.write("calls.json", trace_of_calls(calls)), "--all", "-o", folder.at("scripts"))
    with open(folder.at("scripts/index.json"), encoding="utf-8") as file:
        scripts = {row["kernel"]: row["script"] for row in json.load(file)}
    paths = [folder.at("scripts/" + scripts[f"kernel{number}"]) for number in range(len(calls))]
    return subprocess.run([python, "-c", RUN, *paths], stdout=subprocess.PIPE, timeout=300, check=True).stdout.decode().splitlines()


def test_values_are_what_the_op_takes(folder):
    said = run_on_cpu(folder, CALLS)
    if said is None:
        print("skipped: test_values_are_what_the_op_takes: no Python with torch (RIDGE_TORCH_PYTHON)")
        return
    wrong = [f"{op}: {line}" for (op, *_), line in zip(CALLS, said) if not line.startswith("ok") and "has no op" not in line]
    equal((len(said), wrong), (len(CALLS), []), "calls on the CPU")
    # The CPU looks at neither of these: classes of a text below their number, counts that add up.
    values = {op: json.loads(line[3:]) for (op, *_), line in zip(CALLS, said) if line.startswith("ok")}
    equal(values["aten::_ctc_loss"][1][1] < 20, True, "targets")
    equal(values["aten::repeat_interleave"][0][2], 12, "repeats")


def test_arguments_that_another_torch_has_besides(folder):
    """The last arguments of a schema may be of a later torch than the trace's, or of an earlier one."""
    said = run_on_cpu(folder, [("aten::softplus", ([4], F), "1"), ("aten::relu", ([4], F), N), ("aten::relu", ([4], F), "2")])
    if said is None:
        print("skipped: test_arguments_that_another_torch_has_besides: no Python with torch (RIDGE_TORCH_PYTHON)")
        return
    equal([line.partition(" ")[0] for line in said], ["ok", "ok", "NotImplementedError"], said)
