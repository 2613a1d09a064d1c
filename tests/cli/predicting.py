"""Expected times: of lines without a trace, of a trace, and by points of one's own."""

import ast
import json

from checks import check, equal
from harness import refused, succeeds


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
