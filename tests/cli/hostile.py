"""Traces that were made to hurt: what is linear stays linear. A quadratic step would take minutes here."""

import json
import os
import resource

from checks import check
from harness import succeeds

SANITIZED = "ASAN_OPTIONS" in os.environ  # everything takes many times as long
DEPTH = 20_000 if SANITIZED else 150_000
MANY = 1_000 if SANITIZED else 8_000


def deep_stack(category):
    """A stack of DEPTH slices; below it launches, whose kernels run with gaps between when the stack is over."""
    head = [{"ph": "X", "cat": category, "name": f"f{i % 50}", "pid": 1, "tid": 1, "ts": i, "dur": 4 * DEPTH - 2 * i} for i in range(DEPTH)]
    tail = []
    for i in range(DEPTH):
        args = {"correlation": i + 1, "External id": i + 5}
        tail.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": DEPTH + 1 + i / 2, "dur": 0.4, "args": args})
        tail.append({"ph": "X", "cat": "kernel", "name": f"k{i % 7}", "pid": 0, "tid": 7, "ts": 5 * DEPTH + 2 * i, "dur": 0.9,
                     "args": {**args, "device": 0, "stream": 7}})
    return json.dumps({"traceEvents": head + tail})


def test_deep_stacks_cost_no_more_than_flat_ones(folder):
    for category, questions in {
        "python_function": [["summary"], ["gaps"], ["kernels", "--by", "graph"]],
        "cpu_op": [["summary"], ["ops", "--by", "annotation"], ["kernels", "--by", "annotation"]],
        "user_annotation": [["summary"], ["kernels", "--by", "annotation"]],
    }.items():
        trace = folder.write(f"{category}.json", deep_stack(category))
        for question in questions:
            succeeds(*question, trace, "-f", "json")  # within the time limit of every test


def launched(i, start, kernel, **more):
    """A launch at `start` and its kernel."""
    args = {"correlation": i + 1}
    yield {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": start, "dur": 0.3, "args": args}
    yield {"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7, "ts": start + 1, "dur": 0.5, "args": {**args, "device": 0, "stream": 7, **more}}


def op(name, start, dur, **args):
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": dur, "args": args}


def many_gradients(n):
    """n gradients, then n calls of an optimizer whose lists the trace leaves out."""
    for i in range(n):
        yield op("torch::autograd::AccumulateGrad", i * 20, 10, **{"Input Dims": [[i + 1, 8]], "Input type": ["float"]})
    for i in range(n):
        at = (n + i) * 20
        yield op("aten::_foreach_add_", at, 10, **{"Input Dims": [[], [], []], "Input type": ["TensorList", "TensorList", "Scalar"]})
        yield from launched(i, at + 2, "multi_tensor_apply_kernel", grid=[320, 1, 1], block=[512, 1, 1])


def nested_ops(n):
    """n ops inside each other, a launch of one kernel in each."""
    for i in range(n):
        yield op("aten::op", i, 2 * n - 2 * i)
        yield from launched(i, i + 0.2, "k")


def nested_shapes(n):
    """n ops inside each other, each of another shape, a launch of one kernel in each."""
    for i in range(n):
        yield op("aten::op", i, 2 * n - 2 * i, **{"Input Dims": [[i + 1]], "Input type": ["float"]})
        yield from launched(i, i + 0.2, "k")


def nested_regions(n):
    """n compiled regions inside each other, each of another frame, a launch of one kernel in each."""
    for i in range(n):
        yield op(f"Torch-Compiled Region: {i}/0", i * 10, (2 * n - 2 * i) * 10)
        yield op(f"## Call CompiledFxGraph f{i} ##", i * 10 + 1, 5)
        yield from launched(i, i * 10 + 2, "k")


def cpu_time_s(*words):
    """The least of three runs: what others do on the machine only adds."""
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        succeeds(*words)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def test_four_times_the_trace_takes_about_four_times_as_long(folder):
    page = folder.at("page.html")
    for events, question, after in [
        (many_gradients, ["kernels"], ["-f", "json"]),
        (nested_ops, ["kernel", "k"], ["-f", "json"]),
        (nested_ops, ["report"], ["-o", page]),
        (nested_shapes, ["replay"], ["-f", "json"]),
        (nested_regions, ["report"], ["-o", page]),
    ]:
        times = []
        for n in (MANY, 4 * MANY):
            trace = folder.write(f"{events.__name__}{n}.json", json.dumps({"traceEvents": list(events(n))}))
            times.append(cpu_time_s(*question, trace, *after))
        # 4 where it is linear, 16 where it is quadratic; what is too short to measure passes
        check(times[1] < 8 * times[0] + 0.3, f"{question[0]} of {events.__name__}: {times[0]:.2f} s, of four times as many {times[1]:.2f} s")
