"""Devices, costs and one kernel."""

import json
import os
import re
import xml.dom.minidom

from checks import check, equal
from harness import refused, succeeds, TRACE


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
