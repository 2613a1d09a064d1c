"""`ridge report`: one file with the server's answers in it, in which a trace's text stays text."""

import json
import os
import re
import subprocess
import tempfile

from checks import check, equal
from harness import program
from serving import OTHER, START_S, TRACE, Served


def report(folder, *traces):
    path = os.path.join(folder, "report.html")
    run = subprocess.run([program(), "report", *traces, "-o", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=START_S)
    if b"built without its web page" in run.stderr:
        return None
    equal(run.returncode, 0, run.stderr.decode())
    with open(path, encoding="utf-8") as file:
        return file.read()


def data_of(page):
    found = re.findall(r'<script type="application/json" id="ridge-data">(.*?)</script>', page, re.DOTALL)
    equal(len(found), 1, "one element with data")
    check("<" not in found[0], "a < inside the data")
    return json.loads(found[0])


def test_report_holds_the_servers_answers():
    with tempfile.TemporaryDirectory() as folder:
        page = report(folder, TRACE, OTHER)
        if page is None:
            return
        check(len(page) < 3_000_000, f"{len(page)} bytes")
        data = data_of(page)
        equal(data["version"], 1, "version")
        responses = data["responses"]
        for key in ("/api/v1/traces", "/api/v1/summary", "/api/v1/summary?t=1", "/api/v1/kernels", "/api/v1/tracks?t=0", "/api/v1/marks?t=1", "/api/v1/overview?px=1000&t=0"):
            check(key in responses, f"{key} is missing from {sorted(responses)}")
        equal(sum(key.startswith("/api/v1/all_slices?") for key in responses), 2, "the slices of each trace")
        pages = [key for key in responses if key.startswith("/api/v1/kernel?name=")]
        largest = [row[0] for row in responses["/api/v1/kernels"]["tables"][0]["rows"]][:3]
        equal([any(responses[key]["tables"][0]["rows"][0][0] == name for key in pages) for name in largest], [True] * len(largest), "pages of the largest kernels")
        with Served(traces=(TRACE, OTHER)) as served:
            for key in ("/api/v1/tracks?t=0", "/api/v1/marks?t=1"):
                equal(responses[key], served.json(key), key)
        equal(report(folder, TRACE, OTHER), page, "the same again")


def test_report_refuses_what_it_cannot_do():
    run = subprocess.run([program(), "report", TRACE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=START_S)
    equal(run.returncode, 2, "without -o")
    run = subprocess.run([program(), "report", TRACE, "-o", TRACE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=START_S)
    equal(run.returncode, 2, "over its input")


def test_a_hostile_trace_stays_text_in_the_report():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.json")
        event = {"ph": "X", "cat": "kernel", "name": "</script><script>alert(1)</script>", "pid": 0, "tid": 7, "ts": 1, "dur": 5, "args": {"device": 0, "stream": 7}}
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": [event]}, file)
        page = report(folder, path)
        if page is not None:
            check("<script>alert(1)" not in page, "a script of the trace")
            check("</script><script>alert(1)</script>" in json.dumps(data_of(page)), "the name is there as text")
