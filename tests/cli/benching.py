"""`ridge show`, and what `ridge bench` refuses before it starts a Python. What is measured is tested in python/tests."""

import json
import os

from checks import check, equal
from harness import Run, refused, succeeds

ANSWER = {
    "schema": 2,
    "command": "bench",
    "traces": [],
    "tables": [
        {
            "name": "bench",
            "important": ["kernel", "no such column"],
            "columns": [
                {"name": "kernel", "type": "text", "unit": None, "role": None},
                {"name": "cold_ns", "type": "integer", "unit": "ns", "role": None},
                {"name": "pct_peak_bandwidth", "type": "number", "unit": "percent", "role": None},
                {"name": "same_kernel", "type": "boolean", "unit": None, "role": None},
                {"name": "why", "type": "text", "unit": None, "role": None, "sentence": True},
            ],
            "rows": [["k\u001b[31m<a>", 1500, 12, True, "as alone"], ["l", None, None, None, None]],
            "total": [None, 1500, None, None, None],
            "parent": None,
        }
    ],
    "series": [{"name": "s", "unit": "bytes", "points": [[1, 2.5]]}],
    "diagnostics": [{"code": "clock", "count": 1, "message": "it ran at 1200 MHz", "severity": "warning"}],
}


def changed(**tables):
    return json.dumps({**ANSWER, "tables": [{**ANSWER["tables"][0], **tables}]})


def test_a_saved_answer_in_every_format(folder):
    saved = folder.write("a.json", json.dumps(ANSWER))
    table = succeeds("show", saved)
    check("1.500 us" in table.out and "as alone" in table.out and "12.0 %" in table.out, table.out)
    check("\x1b[31m" not in table.out, "a name moves no cursor")
    check("it ran at 1200 MHz" in table.err, table.err)
    equal(succeeds("show", saved, "-f", "csv", "-q").out.splitlines()[2], "l,,,,", "unknown is nothing")
    again = json.loads(succeeds("show", saved, "--json", "-q").out)
    equal([again["tables"][0]["rows"], again["series"], again["command"]], [ANSWER["tables"][0]["rows"], ANSWER["series"], "bench"], "what was saved")
    equal(succeeds("show", "-", "--json", "-q", stdin=json.dumps(ANSWER).encode()).out, succeeds("show", saved, "--json", "-q").out, "from a pipe")


def test_an_answer_of_ridge_is_the_same_after_saving(folder):
    for command in ("kernels", "gpu", "memory", "summary"):
        whole = succeeds(command, folder.trace, "--json", "-q").out
        equal(succeeds("show", folder.write("k.json", whole), "--json", "-q").out, whole, command)


def test_what_is_no_saved_answer_is_refused(folder):
    hostile = [
        "",
        "{}",
        "[]",
        '{"schema": 3, "command": "x", "tables": []}',
        '{"schema": 2, "command": "x"}',
        changed(name=""),
        changed(columns=[]),
        changed(rows=[["a"]]),
        changed(rows=[[1, 2, 3, True, "x"]]),
        changed(rows=[["a", 1.5, 3, True, "x"]]),
        changed(rows=[["a", 2**70, 3, True, "x"]]),
        changed(total=[1]),
        changed(columns=[ANSWER["tables"][0]["columns"][0]] * 5),
        changed(columns=[{"name": "a", "type": "colour"}], rows=[], total=None),
        "[" * 5000,
    ]
    for text in hostile:
        refused(1, "show", folder.write("bad.json", text), error="not a saved answer")
    refused(1, "show", folder.at("none.json"), error="cannot be read")
    refused(2, "show", error="one saved answer")
    saved = folder.write("a.json", json.dumps(ANSWER))
    refused(2, "show", saved, "-o", saved, error="input")


def test_bench_refuses_before_it_starts(folder):
    refused(2, "bench", error="one trace")
    refused(1, "bench", folder.at("none.json"), error="no such file")
    refused(2, "bench", folder.trace, "--seconds", "0", error="--seconds", hint="above 0")
    refused(2, "bench", folder.trace, "--top", "-3", error="--top")
    refused(2, "bench", folder.trace, "--on", "tpu", error="--on", hint="cuda")
    refused(2, "bench", folder.trace, "--save", folder.trace, error="input")
    refused(1, "bench", folder.trace, "--python", folder.at("nowhere"), error="cannot run", hint="--python")
    for other in ("/bin/false", "/bin/cat"):
        refused(1, "bench", folder.trace, "--python", other, error=other + " is no Python", hint="--python")


def test_a_folder_that_cannot_be_made_is_said(folder):
    refused(1, "bench", folder.trace, "--keep", "/proc/x", error="the folder cannot be made")
    refused(1, "bench", folder.trace, "--keep", "/proc/x", error="the folder cannot be made", env={"PYTHONUNBUFFERED": "1"})  # Python writes word by word


def test_the_page_takes_what_bench_wrote_only(folder):
    """The answer of another command has kernels too, and nothing of it would be shown."""
    kernels = folder.at("kernels.json")
    succeeds("kernels", folder.trace, "--json", "-o", kernels)
    refused(2, "report", folder.trace, "--bench", kernels, "-o", folder.at("page.html"), error="of 'kernels', not of bench", hint="ridge bench")
    check(not os.path.exists(folder.at("page.html")), "no page")
    succeeds("report", folder.trace, "--bench", folder.write("bench.json", json.dumps(ANSWER)), "-o", folder.at("page.html"))


def test_bench_becomes_python_with_the_words_as_they_are(folder):
    """A Python that prints its words: names with spaces, quotes and dashes arrive whole."""
    fake = folder.write("python", '#!/bin/sh\nif [ "$1" = -c ]; then echo python 3; exit 0; fi\nfor word in "$@"; do printf "%s\\n" "$word"; done\nexit 41\n')
    os.chmod(fake, 0o755)
    done = Run("bench", folder.trace, "--python", fake, "--kernel", "a 'b' --c\n=d", "--json", "-n", "3", "--configs", "--trust-source", "--device", "h200", "--table", "earlier.json")
    equal(done.code, 41, "its exit code")
    words = done.out.replace("a 'b' --c\n=d", "NAME").splitlines()
    check(words[0].endswith("/_ridge_bench/start.py") and os.path.exists(words[0]), words)
    for word in ("parent", "--kernel=NAME", "--configs", "--show=--format", "--show=json", "--show=--limit", "--show=3", "--replay=--trust-source", "--flag=--device", "--flag=h200", "--flag=--table", "--flag=earlier.json"):
        check(word in words, (word, words))
    equal(words[-2:], ["--", folder.trace], "the trace comes last")


def test_results_of_another_trace_or_device_are_said(folder):
    trace = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fixtures", "clean_busy_gemm.json.gz")
    kernel = json.loads(succeeds("kernels", trace, "--json").out)["tables"][0]["rows"][0][0]

    def said(kernels, device, *flags):
        machine = {"name": "machine", "columns": [{"name": "device", "type": "text", "unit": None, "role": None}], "rows": [[device]], "total": None, "parent": None}
        answer = json.loads(changed(rows=[[name, 1500, None, None, None] for name in kernels]))
        answer["tables"].append(machine)
        return succeeds("report", trace, "--bench", folder.write("bench.json", json.dumps(answer)), "-o", folder.at("page.html"), *flags).err

    equal(said([kernel], "NVIDIA H200"), "", "its own")
    check("none of its 2 kernels is in the trace" in said(["other", "another"], "NVIDIA H200"), "another trace")
    check("1 of its 2 kernels" in said([kernel, "other"], "NVIDIA H200"), "more than the trace has")
    check("measured on NVIDIA A100-SXM4-80GB, the trace is of NVIDIA H200" in said([kernel], "NVIDIA A100-SXM4-80GB"), "another device")
    check("bench_on_other_device" in folder.read("page.html"), "on the page too")
    equal(said(["other"], "NVIDIA A100-SXM4-80GB", "-q"), "", "quiet")
