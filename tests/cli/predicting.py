"""Expected times: of lines without a trace, of a trace, and by points of one's own."""

import ast
import json
import os
import sys

from checks import check, equal
from harness import refused, succeeds

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "tools"))
from expected_points import gradients

FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fixtures")
PRODUCT = '{"op": "aten::mm", "shapes": [[4096, 4096], [4096, 4096]], "dtypes": ["bfloat16", "bfloat16"]}'


def rows_of(out):
    table = json.loads(out)["tables"][0]
    return [dict(zip((column["name"] for column in table["columns"]), row)) for row in table["rows"]]


def test_lines_need_no_trace(folder):
    path = folder.write("ops.jsonl", PRODUCT + "\n\n" + '{"op": "mine::op", "shapes": [[4]], "dtypes": ["float32"]}\n')
    rows = rows_of(succeeds("predict", "--ops", path, "--json").out)
    equal([row["op"] for row in rows], ["aten::mm", "mine::op"], "a row for each line, in order")
    product, unknown = rows
    equal(product["flops"], 2 * 4096**3, "FLOPs of the product")
    check(product["roof_ns"] < product["low_ns"] + 1 and product["low_ns"] < product["expected_ns"] < product["high_ns"], product)
    equal(unknown["expected_ns"], None, "an op that was not measured")
    check(unknown["basis"], "why there is none")
    other = rows_of(succeeds("predict", "--ops", path, "--device", "A100-SXM4-80GB", "--json").out)[0]
    check("scaled" in other["basis"] and other["high_ns"] / other["low_ns"] > product["high_ns"] / product["low_ns"], other)


def test_wrong_calls_of_predict(folder):
    refused(2, "predict", error="predict needs", hint="--ops")
    refused(1, "predict", "--ops", folder.at("none.jsonl"), error="--ops")
    refused(2, "predict", "--ops", folder.write("bad.jsonl", PRODUCT + "\n{\n"), error="JSON", hint="aten::mm")
    refused(2, "predict", folder.trace, "--ops", folder.write("ops.jsonl", PRODUCT), error="not several")
    refused(2, "kernels", folder.trace, "--expected-file", folder.write("empty.jsonl", PRODUCT), error="measured", hint="--calibrate")


def test_lines_may_come_through_a_pipe(folder):
    path = folder.write("ops.jsonl", PRODUCT + "\n")
    wanted = succeeds("predict", "--ops", path, "--json").out
    for name in ("-", "/dev/stdin"):
        equal(succeeds("predict", "--ops", name, "--json", stdin=(PRODUCT + "\n").encode()).out, wanted, name)


def test_lines_that_cannot_be_are_named(folder):
    bad = PRODUCT + "\n" + PRODUCT.replace("[[4096, 4096], [4096, 4096]]", "[[4096, 4096], [4095, 4096]]")
    refused(2, "predict", "--ops", folder.write("sizes.jsonl", bad), error="inner sizes")
    refused(2, "predict", "--ops", folder.write("types.jsonl", PRODUCT.replace("bfloat16", "bfloat17")), error="bfloat17")


def test_the_script_that_records(folder):
    script = succeeds("predict", "--calibrate").out
    ast.parse(script)
    check("--seconds" in script and script.startswith("#!"), script[:80])
    defined = [node.name for node in ast.parse(script).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    equal(len(defined), len(set(defined)), "the files of the script define nothing twice")
    check("p_model_convolution" in defined and defined[-1] == "main", defined[-3:])
    path = folder.at("record.py")
    succeeds("predict", "--calibrate", "-o", path)
    with open(path) as file:
        equal(file.read(), script, "the script in a file")


def test_points_of_ones_own_move_the_answer(folder):
    ops = folder.write("ops.jsonl", PRODUCT)
    plain = rows_of(succeeds("predict", "--ops", ops, "--json").out)[0]["expected_ns"]
    point = dict(json.loads(PRODUCT), warm_ns=3 * plain, cold_ns=3 * plain)
    points = folder.write("points.jsonl", json.dumps(point))
    moved = rows_of(succeeds("predict", "--ops", ops, "--expected-file", points, "--json").out)[0]
    check(abs(moved["expected_ns"] / plain - 3) < 0.01 and "measured points" in moved["basis"], moved)


def test_a_table_of_measured_kernels_comes_first(folder):
    ops = folder.write("ops.jsonl", PRODUCT)
    row = {"op": "aten::mm", "shapes": [[4096, 4096], [4096, 4096]], "strides": None, "dtypes": ["c10::BFloat16", "c10::BFloat16"], "args": None,
           "kernel": "nvjet_tst", "grid": [132, 1, 1], "block": [384, 1, 1], "cold_ns": 250000, "warm_ns": 160000, "low_ns": 159000, "high_ns": 251000}
    table = {"ridge_table": 1, "device": "NVIDIA H200", "torch": "2.11.0", "clock_mhz": 1830, "kernels": [row]}
    path = folder.write("table.json", json.dumps(table))
    found = rows_of(succeeds("predict", "--ops", ops, "--table", path, "--json").out)[0]
    equal((found["expected_ns"], found["low_ns"], found["high_ns"]), (200000, 159000, 251000), "what was measured")
    equal(found["basis"], "measured alone on NVIDIA H200, PyTorch 2.11.0", "its basis")
    other = rows_of(succeeds("predict", "--ops", ops, "--table", path, "--device", "A100-SXM4-80GB", "--json").out)[0]
    check("scaled" in other["basis"], "another device's")
    trace = os.path.join(FIXTURES, "clean_busy_gemm.json.gz")
    kernels = rows_of(succeeds("kernels", trace, "--json").out)
    busiest = max((k for k in kernels if k["expected_ns"]), key=lambda k: k["time_ns"])
    table["kernels"] = [{"kernel": busiest["kernel"], "warm_ns": 7, "cold_ns": 7}]
    path = folder.write("table.json", json.dumps(table))
    told = next(k for k in rows_of(succeeds("kernels", trace, "--table", path, "--json").out) if k["kernel"] == busiest["kernel"])
    equal((told["expected_ns"], told["basis"]), (7 * told["count"], "measured alone"), "in a trace")
    check("--table" not in succeeds("kernels", trace, "--table", path).err, "something of it was taken")
    unused = {**table, "kernels": [{"kernel": "no such kernel", "warm_ns": 7, "cold_ns": 7}]}
    check("none of its 1 tells" in succeeds("kernels", trace, "--table", folder.write("unused.json", json.dumps(unused))).err, "kernels of another trace")
    both = {**table, "kernels": table["kernels"] + unused["kernels"]}
    check("1 of 2 rows of --table stand for" in succeeds("kernels", trace, "--table", folder.write("both.json", json.dumps(both))).err, "how many served")
    for command in (("predict", trace), ("whatif", trace), ("predict", "--ops", ops)):
        check("none of its 1 tells" in succeeds(*command, "--table", folder.write("unused.json", json.dumps(unused))).err, command)
    unused["device"] = "NVIDIA A100-SXM4-80GB"
    check("measured on NVIDIA A100-SXM4-80GB" in succeeds("kernels", trace, "--table", folder.write("unused.json", json.dumps(unused))).err, "another device")
    changed = rows_of(succeeds("whatif", trace, "--table", path, "--do", "kernel:.=expected", "--json").out)[-1]
    check("measured of them alone" in changed["basis"], changed["basis"])


def test_tables_that_cannot_be_are_refused(folder):
    ops = folder.write("ops.jsonl", PRODUCT)
    for name, text, error in (("no.json", "{", "not JSON"), ("version.json", '{"ridge_table": 9, "device": "H200", "kernels": []}', "version 9"),
                              ("points.jsonl", PRODUCT, "ridge_table"),
                              ("row.json", '{"ridge_table": 1, "device": "H200", "kernels": [{"kernel": "k", "warm_ns": -1}]}', "kernel 1")):
        for command in (("predict", "--ops", ops), ("kernels", folder.trace), ("whatif", folder.trace)):
            refused(2, *command, "--table", folder.write(name, text), error=error, hint="ridge bench --save")
    refused(1, "kernels", folder.trace, "--table", folder.at("none.json"), error="cannot open")


def test_kernels_of_a_convolution_are_told_by_gradient(folder):
    def split(*names):
        found = gradients([{"name": name} for name in names])
        return found and {role: [k["name"] for k in kernels] for role, kernels in found.items()}

    product, other, sums = "nvjet_sm90_hsh_320x128_6", "nvjet_sm90_hss_128x128_6", "void cudnn::cnn::reduce_wgrad_nchw_helper<float>"
    for name in (sums, "void cudnn::cnn::reduce_ wgrad"):  # whole, and as the repository keeps it
        equal(split(product, other, name), {"input": [product], "weight": [other, name]}, "sums behind a product whose name does not tell")
    equal(split("sm90_xmma_dgrad_x", "Memset (Device)", "sm80_xmma_wgrad_y"),
          {"input": ["sm90_xmma_dgrad_x"], "weight": ["Memset (Device)", "sm80_xmma_wgrad_y"]}, "told by their names")
    equal(split(product, other, "magma_sgemm"), None, "three products tell nothing")
