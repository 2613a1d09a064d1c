#!/usr/bin/env python3
"""The drop-in for PyTorch's profile_analysis.py: its flags, its headers and layout, and the right numbers in them.

  profile_analysis.py --program PATH"""

import argparse
import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FIXTURES = os.path.join(ROOT, "tests", "fixtures")
HEADERS = ["Kernel Name", "Kernel Count", "FLOPS", "Kernel Reads (GB)", "Dur (us)", "Achieved FLOPS %", "Achieved Bandwidth %"]

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


class Program:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def run(self, *words, code=0):
        result = subprocess.run([self.path, *map(str, words)], capture_output=True, text=True, cwd=self.folder)
        assert result.returncode == code, f"{words}: exit {result.returncode}, expected {code}\n{result.stderr}"
        return result.stdout

    def file(self, name):
        return os.path.join(self.folder, name)


def fixture(name):
    return os.path.join(FIXTURES, name + ".json.gz")


def tables(text):
    """[(title, header cells, rows of cells)] of what was printed."""
    found, lines = [], text.split("\n")
    for number, line in enumerate(lines):
        if set(line) == {"-"}:
            header = lines[number - 1]
            assert len(header) == len(line), "the dashes are as long as the header"
            rows = []
            for row in lines[number + 1:]:
                if row.count("|") != header.count("|"):
                    break
                assert len(row) == len(header), f"a row of another width: {row!r}"
                rows.append([cell.strip() for cell in row.split("|")])
            found.append((lines[number - 2], [cell.strip() for cell in header.split("|")], rows))
    return found


def device_events(path):
    with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
        return [event for event in json.load(file)["traceEvents"] if event.get("cat") == "kernel"]


def op(name, external_id, dims, types, concrete):
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 5, "tid": 5, "ts": 100.0 * external_id, "dur": 50.5,
            "args": {"External id": external_id, "Input Dims": dims, "Input type": types, "Concrete Inputs": concrete}}


def kernel(name, external_id, dur):
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 100.0 * external_id + 10, "dur": dur,
            "args": {"External id": external_id, "device": 0, "stream": 7}}


def small_profile():
    """The case of the script's own unit test: a 7x7 convolution with stride 2 and padding 3, and an addmm; kernels by External id."""
    scalars = ["ScalarList"] * 3 + ["Scalar", "ScalarList", "Scalar"]
    conv = op("aten::convolution", 1, [[1, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], [], [], []], ["float", "float", ""] + scalars,
              ["", "", "", "[2, 2]", "[3, 3]", "[1, 1]", "False", "[0, 0]", "1"])
    addmm = op("aten::addmm", 2, [[1000], [1, 2048], [2048, 1000], [], [], [1, 1000]],
               ["float", "float", "float", "Scalar", "Scalar", "float"], ["", "", "", "1", "1", ""])
    events = [conv, addmm, kernel("void cutlass_addmm", 2, 251.130), kernel("void convolution_kernel", 1, 200.130)]
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 101997215744, "numSms": 132}],
            "traceEvents": events}


# 2 x 112 x 112 outputs (not 109 x 109: the padding counts) x 7 x 7 x 3 x 64; 2 x 1 x 2048 x 1000.
CONVOLUTION_FLOP = 2 * 112 * 112 * 7 * 7 * 3 * 64
ADDMM_FLOP = 2 * 1 * 2048 * 1000


@check
def nothing_for_no_arguments(program):
    assert program.run() == ""


@check
def wrong_usage(program):
    program.run("--analysis", "only_one", code=2)
    program.run("--nonsense", code=2)
    program.run("--name_limit", "x", code=2)
    program.run("--analysis", "absent.json", "float", code=1)


@check
def example_of_the_script(program):
    assert (CONVOLUTION_FLOP, ADDMM_FLOP) == (236_027_904, 4_096_000)
    path, out = program.file("small.json"), program.file("small.out.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(small_profile(), file)
    program.run("--augment_trace", path, out, "float32")
    flops = {event["name"]: event["args"].get("kernel_flop") for event in device_events(out)}
    assert flops == {"void cutlass_addmm": ADDMM_FLOP, "void convolution_kernel": CONVOLUTION_FLOP}, flops
    (title, header, rows), = tables(program.run("--analysis", path, "float32"))
    assert title.startswith("Device(NVIDIA H100, 0): DeviceInfo(tops={torch.float64: "), title
    assert header == HEADERS, header
    by_name = {row[0]: row[1:] for row in rows}
    for name, flop, us in (("void cutlass_addmm", ADDMM_FLOP, 251.130), ("void convolution_kernel", CONVOLUTION_FLOP, 200.130)):
        count, rate, _, duration, percent, _ = by_name[name]
        assert count == "1" and duration == f"{us:.4f}", by_name[name]
        assert abs(float(rate) / (flop / us * 1e6) - 1) < 1e-6, by_name[name]
        assert 0 < float(percent) < 10, by_name[name]


@check
def the_scripts_own_profile_is_on_the_device_that_it_lists(program):
    """Its kernels name no device, and stand under the pid of the process."""
    profile = small_profile()
    for event in profile["traceEvents"]:
        event["pid"] = event["tid"] = 1147039
        event["args"].pop("device", None)
        event["args"].pop("stream", None)
    path = program.file("own.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(profile, file)
    (title, _, rows), = tables(program.run("--analysis", path, "float32"))
    assert title.startswith("Device(NVIDIA H100, 0): DeviceInfo(tops={"), title
    assert len(rows) == 2 and all(float(row[5]) > 0 for row in rows), rows


@check
def ops_get_what_the_script_gives_them(program):
    path, out = program.file("small.json"), program.file("small.out.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(small_profile(), file)
    program.run("--augment_trace", path, out, "float32")
    with open(out, encoding="utf-8") as file:
        ops = {event["name"]: event["args"] for event in json.load(file)["traceEvents"] if event["cat"] == "cpu_op"}
    kernels = {event["args"]["External id"]: event["args"] for event in device_events(out)}
    for args in ops.values():
        kernel_args = kernels[args["External id"]]
        assert args["kernel_flop"] == kernel_args["kernel_flop"], args
        assert args["kernel_num_gb"] == kernel_args["kernel_num_gb"], args


@check
def a_full_disk_is_an_error(program):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([program.path, "--analysis", fixture("opzoo_eager"), "float"], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1 and b"No space left" in done.stderr, (done.returncode, done.stderr)
    reader, writer = os.pipe()
    os.close(reader)  # who reads no more has seen what he wanted
    done = subprocess.run([program.path, "--analysis", fixture("opzoo_eager"), "float"], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b""), (done.returncode, done.stderr)


@check
def a_signal_leaves_no_unfinished_file(program):
    event = '{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"External id":%d}}'
    with open(program.file("long.json"), "w", encoding="utf-8") as file:
        file.write('{"traceEvents":[' + ",\n".join(event % (i, i) for i in range(300_000)) + "]}")
    for number in (signal.SIGINT, signal.SIGTERM):
        process = subprocess.Popen([program.path, "-a", "long.json", "out.json", "float"], cwd=program.folder, stderr=subprocess.PIPE)
        while len(os.listdir(program.folder)) == 1 and process.poll() is None:
            time.sleep(0.001)
        assert any(".unfinished-" in name for name in os.listdir(program.folder)), "it ended before it could be asked to"
        process.send_signal(number)
        assert (process.wait(60), process.stderr.read()) == (128 + number, b"interrupted\n"), number
        assert os.listdir(program.folder) == ["long.json"], os.listdir(program.folder)


@check
def a_device_known_by_other_signs_than_its_name(program):
    profile = small_profile()
    profile["deviceProperties"] = [{"id": 0, "name": "AMD Radeon Graphics", "totalGlobalMem": 68702699520, "numSms": 104,
                                    "computeMajor": 9, "computeMinor": 0, "warpSize": 64}]
    path = program.file("radeon.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(profile, file)
    (title, _, rows), = tables(program.run("--analysis", path, "float32"))
    assert title.startswith("Device(AMD Radeon Graphics, 0): DeviceInfo(tops={"), title
    assert any(float(row[5]) > 0 for row in rows), "percentages of its peaks"


@check
def every_launch_counts(program):
    path = fixture("opzoo_eager")
    (_, header, rows), = tables(program.run("--analysis", path, "bfloat16", "--name_limit", 10000))
    assert header == HEADERS
    durations = {}
    for event in device_events(path):
        durations.setdefault(event["name"], []).append(event["dur"])
    assert sum(int(row[1]) for row in rows) == sum(map(len, durations.values()))
    for row in rows:
        mean = sum(durations[row[0]]) / len(durations[row[0]])
        assert int(row[1]) == len(durations[row[0]]) and abs(float(row[4]) - mean) < 1e-3, row
    assert sum(float(row[2]) > 0 for row in rows) > 10, "FLOP/s"
    assert sum(float(row[3]) > 0 for row in rows) > 20, "GB/s"


@check
def names_are_cut(program):
    for words, most in (((), 40), (("--name_limit", 30), 30), (("--name_limit=12",), 12)):
        (_, _, rows), = tables(program.run("--analysis", fixture("opzoo_eager"), "float", *words))
        assert max(len(row[0]) for row in rows) == most


@check
def a_word_that_is_no_dtype(program):
    program.run("--analysis", fixture("omni_eager_double"), "foo", code=2)
    program.run("--diff", fixture("omni_eager_double"), "a", fixture("omni_eager_double"), "b", "foo", code=2)
    for word in ("int", "long int", "float"):  # known to the script
        program.run("--analysis", fixture("omni_eager_double"), word)
    program.run("--augment_trace", fixture("omni_eager_double"), program.file("out.json"), "foo")  # which asks for no dtype


@check
def diff_side_by_side(program):
    text = program.run("--diff", fixture("omni_eager_double"), "foo", fixture("omni_compiled_half_x5"), "bar", "float16", "--name_limit", 200)
    (_, header, rows), = tables(text)
    assert header == HEADERS[:1] + ["foo " + h for h in HEADERS[1:]] + ["bar " + h for h in HEADERS[1:]], header
    assert any(row[1:7] == ["Empty"] * 6 for row in rows) and any(row[7:] == ["Empty"] * 6 for row in rows)


@check
def combine_two(program):
    out = program.file("both.json")
    first, second = fixture("ddp_gloo_rank0"), fixture("ddp_gloo_rank1")
    assert program.run("--combine", first, second, out) == f"Successfully combined {first}, {second} into {out}\n"
    assert len(device_events(out)) == len(device_events(first)) + len(device_events(second))
    assert program.run("--combine", first, out) == "Error: At least 2 input files are required for combining\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "profile_analysis"))
    arguments = parser.parse_args()
    failed = 0
    for function in CHECKS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                function(Program(os.path.abspath(arguments.program), folder))
            except Exception as error:  # one failed check does not hide the others
                failed += 1
                print(f"{function.__name__}: {type(error).__name__}: {error}")
    print(f"{len(CHECKS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
