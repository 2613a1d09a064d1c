"""Scripts that run one call alone: written where asked, text of the trace stays text, sources only from where the user says; run with torch where it is at hand."""

import ast
import base64
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import types

from checks import check, equal
from harness import refused, succeeds

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures")
ZOO = os.path.join(FIXTURES, "opzoo_eager.json.gz")
KINDS = os.path.join(FIXTURES, "inductor_kernel_kinds.json.gz")
HOSTILE = ["a\"\"\"\nimport os\n", "\\N{BULLET}'''\\", "\u2028import os\u2029", "\x1b[2J\x9b31m\r", "\ud800", "{CALL} %s \\", "'\nraise SystemExit(7)#"]


def trace_of(kernel, op="aten::mm", **args):
    """A trace of one launch whose names and arguments are these."""
    recorded = {"Input Dims": [[4, 4], [4, 4]], "Input type": ["float", "float"], "Input Strides": [[4, 1], [4, 1]], "Concrete Inputs": ["", ""]}
    recorded.update(args)
    slices = [
        {"ph": "X", "cat": "cpu_op", "name": op, "pid": 1, "tid": 1, "ts": 0, "dur": 9, "args": recorded},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": {"correlation": 5}},
        {"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7, "ts": 20, "dur": 4,
         "args": {"correlation": 5, "device": 0, "stream": 7, "grid": [2, 1, 1], "block": [32, 1, 1]}},
    ]
    return json.dumps({"deviceProperties": [], "traceEvents": slices})


def literals_of(script):
    """The literals at module level, without running anything."""
    found = {}
    for node in ast.parse(script).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in ("CALL", "ARGUMENTS", "SOURCE", "CONSTANTS"):
            found[node.targets[0].id] = ast.literal_eval(node.value)
    return found


def shape_of(script):
    """What a script does, its literals left out: equal for all scripts of ops."""
    tree = ast.parse(script)
    tree.body = [node for node in tree.body if not (isinstance(node, ast.Assign) and node.targets[0].id in ("CALL", "ARGUMENTS"))]
    return ast.dump(tree)


def with_stand_in(script):
    """The names of a script, run with a torch that has nothing: for functions that need none."""
    stand_in, had = types.ModuleType("torch"), sys.modules.get("torch")
    sys.modules["torch"] = stand_in
    try:
        names = {"__name__": "script"}
        exec(compile(script, "script", "exec"), names)  # what ridge wrote
        return names
    finally:
        sys.modules.pop("torch")
        if had is not None:
            sys.modules["torch"] = had


def kernel_sources(folder):
    with tarfile.open(os.path.join(FIXTURES, "kernel_files.tar.gz")) as files:
        files.extractall(folder.at("cache"), filter="data")
    return folder.at("cache")


def test_a_script_says_what_the_trace_says(folder):
    path = folder.at("repro.py")
    succeeds("replay", ZOO, "--op", "aten::mm", "--shape", "2048x2048", "-o", path)
    with open(path, encoding="utf-8") as file:
        found = literals_of(file.read())
    call = found["CALL"]
    equal((call["op"], call["shapes"], call["strides"], call["dtypes"]), ("aten::mm", [[2048, 2048]] * 2, [[2048, 1]] * 2, ["float", "float"]), "the call")
    check(call["kernel"] == call["launches"][0]["name"] and call["grid"] == call["launches"][0]["grid"], call)
    equal(call["tf32"], False, "a product on ordinary units")
    equal(succeeds("replay", ZOO, "--op", "mm", "--shape", "2048x2048").out, open(path, encoding="utf-8").read(), "standard output")


def test_a_folder_of_scripts_and_its_index(folder):
    succeeds("replay", ZOO, "--all", "-o", folder.at("scripts"))
    with open(folder.at("scripts/index.json"), encoding="utf-8") as file:
        index = json.load(file)
    equal(sorted(os.listdir(folder.at("scripts"))), sorted([row["script"] for row in index if row["script"]] + ["index.json"]), "files")
    kernels = json.loads(succeeds("kernels", ZOO, "--json").out)["tables"][0]
    column = [one["name"] for one in kernels["columns"]].index("time_ns")
    equal(sum(row["time_ns"] for row in index), sum(row[column] for row in kernels["rows"]), "time of all kernels")
    check(all((row["status"] == "ok") == (row["script"] is not None) == (row["reason"] is None) for row in index), "status, script and reason agree")
    for row in index:
        if row["script"]:
            with open(folder.at("scripts/" + row["script"]), encoding="utf-8") as file:
                equal(literals_of(file.read())["CALL"]["kernel"], row["kernel"], row["script"])
    succeeds("replay", ZOO, "--top", "3", "-o", folder.at("few"))
    equal(len(os.listdir(folder.at("few"))), 4, "three scripts and the index")


def test_a_python_number_stays_on_the_host(folder):
    """x * 0.5: the kernel with a number in place of an operand runs only where that operand is on the host, on whichever side it is recorded."""

    def host(kernel, op, shapes, types_):
        strides = [[1] * len(shape) for shape in shapes]
        recorded = {"Input Dims": shapes, "Input type": types_, "Input Strides": strides, "Concrete Inputs": [""] * len(shapes)}
        names = with_stand_in(succeeds("replay", folder.write("n.json", trace_of(kernel, op, **recorded)), "--op", op).out)
        named = dict(zip(("self", "other"), names["ARGUMENTS"]))
        return [name for name, argument in named.items() if names["on_host"](op.partition("::")[2], name, argument, named)]

    a_kernel = "void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> > >"
    b_kernel = a_kernel.replace("AUnary", "BUnary")
    equal(host(a_kernel, "aten::mul", [[64], []], ["float", "double"]), ["other"], "x * 0.5")
    equal(host(a_kernel, "aten::mul", [[], [64]], ["double", "float"]), ["self"], "0.5 * x")
    equal(host(a_kernel, "aten::mul", [[64], []], ["double", "double"]), ["other"], "x * 0.5 of doubles")
    equal(host(a_kernel, "aten::mul", [[], []], ["long int", "double"]), ["other"], "of two numbers the second")
    equal(host(a_kernel, "aten::pow", [[], [64]], ["double", "float"]), ["self"], "2 ** x")
    equal(host(b_kernel, "aten::div", [[64], []], ["double", "double"]), ["other"], "x / 2")
    equal(host("at::native::CUDAFunctorOnOther_add<double>", "aten::add", [[], [64]], ["double", "double"]), ["self"], "1 + x")
    equal(host("at::native::CUDAFunctor_add<double>", "aten::add", [[64], []], ["double", "double"]), [], "two tensors")


def test_sizes_as_people_write_them(folder):
    for shape in ("2048x2048", "2048X2048, 2048X2048", "[2048, 2048], [2048, 2048]", "[[2048, 2048], [2048, 2048]]", "(2048, 2048), (2048, 2048)"):
        equal(literals_of(succeeds("replay", ZOO, "--op", "mm", "--shape", shape).out)["CALL"]["shapes"], [[2048, 2048]] * 2, shape)


def test_several_calls_that_fit_are_said(folder):
    """Equal sizes, other strides: the script is of one of them."""
    first, second = json.loads(trace_of("k")), json.loads(trace_of("k"))
    for one in second["traceEvents"]:
        one["ts"] += 100
        if "correlation" in one["args"]:
            one["args"]["correlation"] += 1
    check("calls have" not in succeeds("replay", folder.write("one.json", json.dumps(first)), "--op", "mm").err, "one call")
    second["traceEvents"][0]["args"]["Input Strides"] = [[1, 4], [4, 1]]
    first["traceEvents"] += second["traceEvents"]
    run = succeeds("replay", folder.write("two.json", json.dumps(first)), "--op", "mm", "--shape", "4x4,4x4")
    check("2 calls have this kernel" in run.err, run.err)


def test_an_op_that_launches_nothing_itself_says_what_it_calls(folder):
    inner = json.loads(trace_of("conv_kernel", "aten::cudnn_convolution"))
    inner["traceEvents"].insert(0, {"ph": "X", "cat": "cpu_op", "name": "aten::conv2d", "pid": 1, "tid": 1, "ts": -1, "dur": 20, "args": {}})
    refused(2, "replay", folder.write("c.json", json.dumps(inner)), "--op", "conv2d", error="conv2d", hint="aten::cudnn_convolution")


def test_a_trace_of_an_old_version_lacks_numbers_and_strides(folder):
    def row_of(op, types_, shapes, **more):
        recorded = {"Input Dims": shapes, "Input type": types_, "Input Strides": None, "Concrete Inputs": None, **more}
        events = json.loads(trace_of("k", op))
        args = {**events["traceEvents"][0]["args"], **recorded}
        events["traceEvents"][0]["args"] = {key: value for key, value in args.items() if value is not None}
        table = json.loads(succeeds("replay", folder.write("old.json", json.dumps(events)), "--json").out)["tables"][0]
        return dict(zip([one["name"] for one in table["columns"]], table["rows"][0]))

    row = row_of("aten::sum", ["float", "", "Scalar", ""], [[8, 4], [], [], []])
    equal(row["status"], "cannot", "which dimensions are summed")
    check("Concrete Inputs" in row["reason"] and "record_shapes" in row["reason"], row)
    row = row_of("aten::mm", ["float", "float"], [[8, 4], [4, 2]])
    equal(row["status"], "ok", "tensors alone")
    check("strides are not in the trace" in row["note"], row)
    equal(row_of("aten::addmm", ["float"] * 3 + ["Scalar"] * 2, [[2], [8, 4], [4, 2], [], []])["status"], "ok", "factors that change no kernel")
    equal(row_of("aten::add", ["float", "Scalar", "Scalar"], [[8], [], []])["status"], "cannot", "what is added")
    equal(row_of("aten::mm", ["float", "float"], [[8, 4], [4, 2]], **{"Concrete Inputs": ["", ""], "Input Strides": [[4, 1], [2, 1]]})["note"], None, "all is there")
    check("no_such" in row_of("aten::mm", ["no_such", "float"], [[8, 4], [4, 2]])["reason"], "an element type that is not known")
    check("values of indices" in row_of("aten::nonzero", ["float"], [[8]], **{"Concrete Inputs": [""]})["note"], "data that decides the work")


def test_wrong_calls_of_replay(folder):
    refused(2, "replay", ZOO, "--op", "native_layer_nrm", "-o", folder.at("x.py"), error="native_layer_nrm", hint="native_layer_norm")
    refused(2, "replay", ZOO, "--op", "mm", "--shape", "3x3", "-o", folder.at("x.py"), error="3x3")
    refused(2, "replay", ZOO, "--all", "--top", "2", error="--top")
    refused(2, "replay", ZOO, "--top", "none", error="--top")
    refused(1, "replay", KINDS, "--kernel", "triton_red_fused_sum_0", "-o", folder.at("x.py"), error="--inductor-cache")
    check(not os.path.exists(folder.at("x.py")), "no script where there is an error")


def test_text_of_a_trace_stays_text(folder):
    plain = shape_of(succeeds("replay", folder.write("plain.json", trace_of("gemm")), "--op", "mm").out)
    for text in HOSTILE:
        recorded = {"Input Dims": [[4, 4], [4, 4], []], "Input type": ["float", "float", text], "Concrete Inputs": ["", "", text]}
        path = folder.write("hostile.json", trace_of(text, **recorded))
        script = succeeds("replay", path, "--op", "mm").out
        check(script.isascii() and "\r" not in script, text)
        equal(shape_of(script), plain, repr(text))
        equal(literals_of(script)["CALL"]["kernel"], text.replace("\ud800", "\ufffd"), "the kernel's name")
        succeeds("replay", path, "--all", "-o", folder.at("hostile"))
        check(all(name == "index.json" or name == "0001_aten_mm.py" for name in os.listdir(folder.at("hostile"))), os.listdir(folder.at("hostile")))


def test_a_script_prints_names_that_move_no_cursor(folder):
    """All that it prints goes through one function, which stands alone: run here without PyTorch."""
    tree = ast.parse(succeeds("replay", folder.write("t.json", trace_of("gemm")), "--op", "mm").out)
    (show,) = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == "show"]
    printed = [ast.unparse(each) for each in ast.walk(tree) if isinstance(each, ast.Call) and ast.unparse(each.func) == "print"]
    equal(sorted(printed), sorted([ast.unparse(show.body[-1]), "print(json.dumps(answer))"]), "what prints")
    for text in HOSTILE:
        lines, names = [], {"print": lambda line: lines.append(line)}
        exec(compile(ast.Module([show], []), "show", "exec"), names)  # noqa: S102
        names["show"](text)
        check(len(lines) == 1 and lines[0].isprintable() and len(lines[0]) == len(text), (text, lines))


def test_sources_come_only_from_where_the_user_says(folder):
    source = "import triton\nimport triton.language as tl\n@triton.jit\ndef triton_poi_fused_add_0(in_ptr0, xnumel, XBLOCK : tl.constexpr):\n    pass\n"
    secret = folder.write("planted.py", source)
    args = {"Input Dims": [[4], []], "Input type": ["float", "Scalar"], "Input Strides": [[1], []], "Concrete Inputs": ["", "4"],
            "kernel_file": secret, "kernel_backend": "triton", "kernel_kwargs": "XBLOCK=64,x\"=1,A=b", "num_warps": 4, "num_stages": 1}  # fmt: skip
    path = folder.write("t.json", trace_of("triton_poi_fused_add_0", "triton_poi_fused_add_0", **args))
    refused(1, "replay", path, "--kernel", "triton_poi_fused_add_0", error="--inductor-cache")
    os.mkdir(folder.at("empty"))
    refused(1, "replay", path, "--kernel", "triton_poi_fused_add_0", "--inductor-cache", folder.at("empty"), error="--inductor-cache")
    script = succeeds("replay", path, "--kernel", "triton_poi_fused_add_0", "--source", secret).out
    found = literals_of(script)
    check("def triton_poi_fused_add_0" in found["SOURCE"], found["SOURCE"])
    equal(found["CONSTANTS"], {"XBLOCK": 64}, "whole numbers only")
    bad = folder.write("bad.py", source.replace("pass", "triton.runtime.os.system('x')"))
    refused(1, "replay", path, "--kernel", "triton_poi_fused_add_0", "--source", bad, error="line 5.*--trust-source")
    check("os.system" in succeeds("replay", path, "--kernel", "triton_poi_fused_add_0", "--source", bad, "--trust-source").out, "as it stands")


def test_a_source_that_is_not_what_ran(folder):
    """Of several sources of one name the one with the trace's hash; without that one none, but for a file that the user names, which is said."""
    source = "import triton\nimport triton.language as tl\n@triton.jit\ndef triton_poi_fused_add_0(in_ptr0, xnumel, XBLOCK : tl.constexpr):\n    x = %d\n"
    module = "async_compile.triton('triton_poi_fused_add_0', '''\n%s''', device_str='cuda')\n"
    digest = base64.b32encode(hashlib.sha256((source % 2).strip().encode()).digest())
    os.mkdir(folder.at("cache"))
    first = folder.write("cache/a_first.py", module % (source % 1))
    args = {"Input Dims": [[4], []], "Input type": ["float", "Scalar"], "Input Strides": [[1], []], "Concrete Inputs": ["", "4"], "kernel_hash": "c" + digest[:51].decode().lower(),
            "kernel_file": "/tmp/x/cabc.py", "kernel_backend": "triton", "kernel_kwargs": "XBLOCK=64", "num_warps": 4, "num_stages": 1}  # fmt: skip
    path = folder.write("t.json", trace_of("triton_poi_fused_add_0", "triton_poi_fused_add_0", **args))
    ask = ("replay", path, "--kernel", "triton_poi_fused_add_0")
    refused(1, *ask, "--inductor-cache", folder.at("cache"), error="not the one that ran.*--source")
    named = succeeds(*ask, "--source", first)
    check("not what ran" in named.err, named.err)
    call = literals_of(named.out)["CALL"]
    equal(call["source"]["match"], "differs", "said in the script")
    check("not what ran" in call["note"], call["note"])
    folder.write("cache/b_second.py", module % (source % 2))
    right = succeeds(*ask, "--inductor-cache", folder.at("cache"))
    found = literals_of(right.out)
    equal((found["CALL"]["source"]["match"], found["CALL"]["note"], right.err), ("matches", None, ""), "the one with the hash")
    check("x = 2" in found["SOURCE"], found["SOURCE"])
    # Files of one name in several folders: generated modules, and kernels' own files that the trace names by another path.
    for name in ("output_code.py", "cabc.py"):
        for number, place in ((1, "a"), (2, "b")):
            os.makedirs(folder.at(f"{name}_cache/{place}"))
            folder.write(f"{name}_cache/{place}/{name}", (module % (source % number)) if name == "output_code.py" else source % number)
        found = literals_of(succeeds(*ask, "--inductor-cache", folder.at(f"{name}_cache")).out)
        equal((found["CALL"]["source"]["match"], "x = 2" in found["SOURCE"]), ("matches", True), name)


def test_a_folder_is_written_anew(folder):
    succeeds("replay", ZOO, "--all", "-o", folder.at("s"))
    said = succeeds("replay", ZOO, "--top", "2", "-o", folder.at("s")).out
    equal(len(os.listdir(folder.at("s"))), 3, "two scripts and the index")
    check(said.startswith("2 scripts of ") and "can be run alone" in said, said)
    os.remove(folder.at("s/index.json"))
    folder.write("s/0099_own.py", "")
    succeeds("replay", ZOO, "--top", "1", "-o", folder.at("s"))
    check(os.path.exists(folder.at("s/0099_own.py")), "a folder without an index is somebody else's")


def test_generated_kernels_from_their_sources(folder):
    cache = kernel_sources(folder)
    succeeds("replay", KINDS, "--all", "--inductor-cache", cache, "-o", folder.at("scripts"))
    with open(folder.at("scripts/index.json"), encoding="utf-8") as file:
        index = json.load(file)
    equal([row["kernel"] for row in index if row["status"] != "ok"], [], "every kernel has a script")
    for row in index:
        if row["op"].startswith("triton_"):
            with open(folder.at("scripts/" + row["script"]), encoding="utf-8") as file:
                found = literals_of(file.read())
            ast.parse(found["SOURCE"])
            source = found["CALL"]["source"]
            equal(source["match"], "matches" if source["hash"] else "unknown", row["kernel"])


def has_torch(python):
    if not python or not os.path.exists(python):
        return False
    return subprocess.run([python, "-c", "import torch"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def python_with_torch():
    """A Python that has torch: RIDGE_TORCH_PYTHON, or this one."""
    return next((python for python in (os.environ.get("RIDGE_TORCH_PYTHON"), sys.executable) if has_torch(python)), None)


RUN_ALL = """
import importlib.util, json, os, sys
for folder in sys.argv[1:]:
    for row in json.load(open(folder + "/index.json")):
        if row["script"] is None:
            continue
        spec = importlib.util.spec_from_file_location("one", os.path.join(folder, row["script"]))
        one = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(one)
        one.set_modes()
        one.run(one.make_inputs("meta"))
"""


MASKS = """
import sys
for path in sys.argv[1:]:
    scope = {"__name__": "one"}
    exec(open(path).read(), scope)
    indices = scope["make_inputs"]("cpu").args[1]
    result = scope["run"](scope["make_inputs"]("cpu"))
    print([[str(i.dtype), list(i.shape), int(i.sum()) if i.dtype == scope["torch"].bool else None] for i in indices], list(result.shape))
"""


def test_a_mask_chooses_as_many_as_ran(folder):
    """Indices are not recorded: that a mask chose is told by nonzero's kernels in the call, how many by the grid."""
    python = python_with_torch()
    if python is None:
        print("skipped: test_a_mask_chooses_as_many_as_ran: no Python with torch (RIDGE_TORCH_PYTHON)")
        return
    rows = "void at::native::vectorized_gather_kernel<16, long>(char*)"
    args = {"Input Dims": [[64, 32], []], "Input type": ["float", ""], "Input Strides": [[32, 1], []], "Concrete Inputs": ["", ""]}
    paths = []
    for name, beside in (("indices", None), ("rows", "void cub::Sweep<NonZeroOp<bool>>(int)")):
        trace = json.loads(trace_of(rows, "aten::index", **args))
        events = trace["traceEvents"]
        events[-1]["args"]["grid"] = [24, 1, 1]
        if beside:
            launch, kernel = json.loads(json.dumps(events[1])), json.loads(json.dumps(events[2]))
            launch["args"]["correlation"] = kernel["args"]["correlation"] = 4
            kernel.update(name=beside, ts=15)
            events += [launch, kernel]
        paths.append(folder.at(name + ".py"))
        succeeds("replay", folder.write(name + ".json", json.dumps(trace)), "--kernel", "vectorized_gather_kernel", "-o", paths[-1])
    said = subprocess.run([python, "-c", MASKS, *paths], stdout=subprocess.PIPE, timeout=300, check=True).stdout.decode().splitlines()
    equal(said, ["[['torch.int64', [24], None]] [24, 32]", "[['torch.bool', [64], 24]] [24, 32]"], "indices, and a mask of rows")


def test_scripts_run_where_torch_is_at_hand(folder):
    python = python_with_torch()
    if python is None:
        print("skipped: test_scripts_run_where_torch_is_at_hand: no Python with torch (RIDGE_TORCH_PYTHON)")
        return
    succeeds("replay", ZOO, "--all", "-o", folder.at("zoo"))
    succeeds("replay", KINDS, "--all", "--inductor-cache", kernel_sources(folder), "-o", folder.at("kinds"))
    done = subprocess.run([python, "-c", RUN_ALL, folder.at("zoo"), folder.at("kinds")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    equal(done.returncode, 0, done.stderr.decode()[-2000:])
    succeeds("replay", ZOO, "--op", "native_layer_norm", "-o", folder.at("one.py"))
    said = json.loads(subprocess.run([python, folder.at("one.py"), "--device", "meta", "--json"], stdout=subprocess.PIPE, timeout=300, check=True).stdout)
    check(said["kernels"] is None and said["outputs"], said)
