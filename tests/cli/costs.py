"""Devices, costs and one kernel."""

import json
import os
import re
import xml.dom.minidom

from checks import check, equal
from harness import refused, Run, succeeds, TRACE


DEVICE = '{"name": "X1", "bf16_tflops": 100, "bandwidth_gb_per_s": 1000}'


def test_devices_need_no_trace(folder):
    table = json.loads(succeeds("devices", "--json").out)["tables"][0]
    equal(table["name"], "devices", "first table")
    names = [row[0] for row in table["rows"]]
    check("NVIDIA H200" in names and "AMD Instinct MI300X" in names, names)
    refused(2, "devices", folder.trace, error="devices ", hint="ridge info")
    check("usage: ridge devices [FLAGS]\n" in succeeds("help", "devices").out, "help devices")
    check(re.search(r"Other commands:\n(.*\n)*  devices ", succeeds("help").out), "devices stands among the other commands")


def test_peaks_scale_from_the_clocks_that_are_shown(_):
    def h200(*flags):
        table = json.loads(succeeds("devices", "--device", "h200", *flags, "--json").out)["tables"][0]
        return dict(zip((column["name"] for column in table["columns"]), table["rows"][0]))

    plain = h200()
    equal(h200("--clock-mhz", str(plain["matrix_mhz"]))["bf16_flops_per_s"], plain["bf16_flops_per_s"], "matrix peak at its clock")
    equal(h200("--clock-mhz", str(plain["boost_mhz"]))["f32_flops_per_s"], plain["f32_flops_per_s"], "vector peak at its clock")
    half = h200("--clock-mhz", str(plain["matrix_mhz"] / 2))
    equal(half["bf16_flops_per_s"], plain["bf16_flops_per_s"] / 2, "half the clock")
    equal(half["matrix_mhz"], plain["matrix_mhz"] / 2, "the clock of the peaks")


def test_a_device_of_ones_own(folder):
    path = folder.write("device.json", DEVICE)
    rows = json.loads(succeeds("devices", "--device-file", path, "--json").out)["tables"][0]["rows"]
    equal([row[0] for row in rows], ["X1"], "devices of the file")
    succeeds("kernels", folder.trace, "--device-file", path)
    several = folder.write("several.json", f"[{DEVICE}, {DEVICE.replace('X1', 'X2')}]")
    refused(2, "kernels", folder.trace, "--device-file", several, error="device", hint="X1, X2")
    succeeds("kernels", folder.trace, "--device-file", several, "--device", "X2")
    refused(2, "kernels", folder.trace, "--device-file", several, "--device", "X3", error="'X3'", hint="X1, X2")
    refused(1, "kernels", folder.trace, "--device-file", folder.at("none.json"), error="device file")
    refused(2, "kernels", folder.trace, "--device-file", folder.write("bad.json", "{"), error="JSON", hint="adding-a-device")
    refused(2, "kernels", folder.trace, "--device-file", folder.write("typo.json", '{"name": "X", "bf16_tflop": 1}'), error="bf16_tflop",
            hint="bf16_tflops")


def test_wrong_flags_of_costs(folder):
    # Told before the trace is read: there is none.
    refused(2, "kernels", "none.json", "--device", "h2000", error="'h2000'", hint="NVIDIA H200|ridge devices")
    refused(2, "kernels", "none.json", "--device", "a100", error="device", hint="A100-SXM4-40GB")
    refused(2, "kernels", "none.json", "--dtype", "bfloat61", error="'bfloat61'", hint="bfloat16")
    refused(2, "kernels", "none.json", "--clock-mhz", "fast", error="'fast'")
    refused(2, "kernels", "none.json", "--clock-mhz", "-5", error="--clock-mhz")
    refused(1, "kernels", "none.json", "--inductor-cache", folder.trace, error="--inductor-cache")
    refused(2, "gpu", folder.trace, "--tf32", error="--tf32")
    succeeds("kernels", folder.trace, "--device", "h200", "--clock-mhz", "1500", "--dtype", "bf16", "--tf32")


def test_one_kernel(folder):
    refused(2, "kernel", error="NAME", hint="ridge kernel NAME trace.json")
    refused(2, "kernel", folder.trace, error="NAME")
    refused(2, "kernel", "kernel", folder.trace, error="10 .*'kernel'", hint=r".*\n        0\n        10\n")
    refused(2, "kernel", "zzzzzz", folder.trace, error="'zzzzzz'", hint="ridge kernels")
    report = json.loads(succeeds("kernel", "kernel 5", folder.trace, "--json").out)
    equal(report["tables"][0]["rows"][0][0], "kernel 5", "the kernel's name")
    equal(json.loads(succeeds("kernel", folder.trace, "--name", "kernel 5", "--json").out)["tables"], report["tables"], "--name")
    check("usage: ridge kernel [FLAGS] NAME TRACE\n" in succeeds("help", "kernel").out, "help kernel")


def test_pictures(folder):
    refused(2, "gpu", folder.trace, "-f", "svg", error="gpu", hint="roofline")
    fixtures = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fixtures")
    trace = os.path.join(fixtures, "resnet18_eager_shapes.json.gz")
    svg = succeeds("roofline", trace, "-f", "svg").out
    xml.dom.minidom.parseString(svg)
    check(svg.count("<circle") > 5, "points of kernels")
    text = succeeds("roofline", trace).out
    check("FLOP per byte" in text and "of the time" in text, "the picture under the table")


def captured_model(kernels, ops, batch=4):
    """ROCm's capture: ops with launch calls that name their kernels."""
    call = lambda name, at, **args: {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 1, "tid": 1, "ts": at, "dur": 1, "args": args}
    events = [call("hipStreamBeginCapture", 0)]
    for i, (kernel, op) in enumerate(zip(kernels, ops)):
        events.append({"ph": "X", "cat": "cpu_op", "name": op, "pid": 1, "tid": 1, "ts": 10 + 20 * i, "dur": 10,
                       "args": {"Input Dims": [[batch, 4], [4, 4]], "Input type": ["float", "float"]}})
        events.append(call("hipLaunchKernel", 12 + 20 * i, kernel=kernel))
    events.append(call("hipStreamEndCapture", 1000))
    return json.dumps({"traceEvents": events})


def replayed_model(kernels):
    events = [{"ph": "X", "cat": "cuda_runtime", "name": "hipGraphLaunch", "pid": 1, "tid": 1, "ts": 0, "dur": 5, "args": {"correlation": 1}}]
    for i, kernel in enumerate(kernels):
        events.append({"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7, "ts": 20 + 10 * i, "dur": 5,
                       "args": {"correlation": 1, "device": 0, "stream": 7}})
    return json.dumps({"traceEvents": events})


def diagnostics(done):
    return {found["code"]: found["message"] for found in json.loads(done.out)["diagnostics"]}


def test_captures(folder):
    kernels, ops = ["Cijk_a", "add_kernel", "Cijk_b", "relu_kernel"], ["aten::mm", "aten::add", "aten::mm", "aten::relu"]
    replay, capture = folder.write("replay.json", replayed_model(kernels)), folder.write("capture.json", captured_model(kernels, ops))
    short = folder.write("short.json", replayed_model(kernels[:1] + kernels[2:]))
    other = folder.write("other.json", captured_model(["x", "y"], ["aten::exp", "aten::sin"]))

    hint = diagnostics(succeeds("kernels", replay, "--json"))
    check("--capture" in hint["replays_without_ops"], hint)
    done = succeeds("ops", replay, "--capture", capture, "--json")
    table = json.loads(done.out)["tables"][0]
    rows = [dict(zip((column["name"] for column in table["columns"]), row)) for row in table["rows"]]
    equal({row["op"]: row["kernels"] for row in rows}, {"aten::mm": 2, "aten::add": 1, "aten::relu": 1}, "ops of the replay")
    equal({row["op_from"] for row in rows}, {"capture_file"}, "where they are from")
    equal({row["count"] for row in rows}, {0}, "calls in this trace")
    check("4 of 4" in diagnostics(done)["capture_matched"], diagnostics(done))
    equal(done.err, "", "nothing to warn of")
    check("3 of 3" in diagnostics(succeeds("kernels", "--capture", capture, short, "--json"))["capture_matched"], "a missing record")
    check("capture_mismatch" in diagnostics(succeeds("summary", replay, "--capture", other, "--json")), "another program's")
    check("capture_unused" in diagnostics(succeeds("kernels", capture, "--capture", capture, "--json")), "no replays")

    both = succeeds("diff", replay, short, "--capture", capture, "--capture", capture, "--json")
    equal(sum(found["code"] == "capture_matched" for found in json.loads(both.out)["diagnostics"]), 2, "a capture for each trace")
    second = succeeds("diff", replay, short, "--capture", "-", "--capture", capture, "--json")
    equal(sum(found["code"] == "capture_matched" for found in json.loads(second.out)["diagnostics"]), 1, "- skips one")
    refused(2, "kernels", replay, "--capture", capture, "--capture", capture, error="2 captures for 1 trace", hint="- skips")
    refused(2, "cut", replay, folder.at("cut.json"), "--step", "0", "--capture", capture, error="--capture", hint="result")
    refused(1, "kernels", replay, "--capture", folder.at("absent.json"), error="--capture: ")

    augmented = folder.at("augmented.json")
    succeeds("augment", replay, augmented, "--capture", capture)
    with open(augmented) as file:
        events = json.load(file)["traceEvents"]
    equal(len(events), 5, "events")
    equal([event["args"].get("kernel_flop") for event in events if event["cat"] == "kernel"][0], 128, "FLOPs of 4x4 by 4x4")


def test_damaged_captures(folder):
    kernels, ops = ["Cijk_a", "add_kernel", "Cijk_b", "relu_kernel"], ["aten::mm", "aten::add", "aten::mm", "aten::relu"]
    replay, whole = folder.write("replay.json", replayed_model(kernels)), captured_model(kernels, ops)
    for size in range(0, len(whole), 97):  # cut anywhere
        succeeds_or_refuses(folder.write("cut.json", whole[:size]), replay)
    for text in ("[]", "{}", '{"traceEvents": []}', whole.replace("BeginCapture", "Begin"), whole.replace('"kernel"', '"no"'),
                 whole.replace('"ts": 1', '"ts": -9e18'), whole.replace("aten::mm", "\\ud800")):
        succeeds_or_refuses(folder.write("odd.json", text), replay)


def test_a_capture_that_is_cut_is_said_to_be(folder):
    kernels, ops = ["Cijk_a", "add_kernel", "Cijk_b", "relu_kernel"], ["aten::mm", "aten::add", "aten::mm", "aten::relu"]
    replay, whole = folder.write("replay.json", replayed_model(kernels)), captured_model(kernels, ops)
    codes = lambda done: [d["code"] for d in json.loads(done.out)["diagnostics"]]
    check("capture_damaged" not in codes(Run("kernels", replay, "--capture", folder.write("whole.json", whole), "--json")),
          "a whole capture is called damaged")
    cut = Run("kernels", replay, "--capture", folder.write("cut.json", whole[:len(whole) * 9 // 10]), "--json")
    check("capture_damaged" in codes(cut), cut.out[-600:])


def succeeds_or_refuses(capture, replay):
    done = Run("kernels", replay, "--capture", capture, "--json")
    check(done.code in (0, 1), f"exit {done.code}: {done.err}")


def test_a_device_that_cannot_have_run_the_trace_is_said(folder):
    trace = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fixtures", "clean_busy_gemm.json.gz")
    for command in (["kernels"], ["roofline"], ["summary"], ["kernel", "nvjet"]):
        said = [d for d in json.loads(succeeds(*command, trace, "--device", "H20", "--json").out)["diagnostics"] if d["code"] == "device_beaten"]
        equal(len(said), 1, f"{command}: once a report")
        check(re.search(r"up to 5\d\d\.\d % of a peak of 'NVIDIA H20'.*cannot be.*'NVIDIA H200'", said[0]["message"]), said)
        for flags in ((), ("--device", "H200"), ("--device", "B200")):
            check("device_beaten" not in succeeds(*command, trace, *flags, "--json").out, (command, flags))


def test_holders_of_the_peak_add_up_to_it(folder):
    trace = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fixtures", "resnet18_compiled_stack_mem.json.gz")
    tables = {table["name"]: table for table in json.loads(succeeds("memory", trace, "--json").out)["tables"]}
    holders, devices = tables["peak_holders"], tables["memory_devices"]
    equal(holders["total"][2], sum(row[2] for row in holders["rows"]), "the parts")
    equal(holders["total"][2], sum(row[1] for row in devices["rows"]), "the peak")
    check(abs(holders["total"][3] - 100) < 1e-9, holders["total"])
    shown = succeeds("memory", trace, "-n", "3").out.split("peak_holders")[1].split("\n\n")[0]
    check("others]" in shown and "TOTAL" in shown, shown)
