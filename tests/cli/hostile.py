"""Traces that were made to hurt: what is linear stays linear. A quadratic step would take minutes here."""

import json

from harness import succeeds

DEPTH = 150_000


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
