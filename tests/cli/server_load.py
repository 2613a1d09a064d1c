#!/usr/bin/env python3
"""Loads `ridge serve`: many clients that ask for much, that do not read, that pipeline. Memory stays bounded and others are served.

usage: server_load.py [--ridge] BINARY [WORD...]     only the tests whose names hold one of the words"""

import contextlib
import gzip
import http.client
import json
import os
import re
import socket
import sys
import tempfile
import threading
import time

import harness
from checks import check, equal, run_tests, words_of
from serving import ROOT, START_S, Served, request, status_of

LAUNCHES = 4_000
MOST_MB = 60  # answers are packed while they are made; what is kept of them is bounded besides


def write_trace(path):
    """Kernels with long names, so that a table with one row of each is large."""
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write('{"traceEvents": [')
        for i in range(LAUNCHES):
            name = f"void at::native::vectorized_elementwise_kernel<4, at::native::functor_number_{i % 97}<{'float, ' * 700}int> >(int, at::native::functor)"
            file.write(("," if i else "") + json.dumps({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 10 * i, "dur": 3, "args": {"correlation": i + 1}}))
            file.write("," + json.dumps({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 10 * i + 5, "dur": 4, "args": {"device": 0, "stream": 7, "correlation": i + 1}}))
        file.write("]}")


def memory_mb(process, field="VmRSS"):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        return int(re.search(field + r":\s+(\d+)", file.read()).group(1)) / 1024


def is_sanitized(process):
    """Sanitizers keep freed memory for a while, and reserve terabytes of addresses for their shadow."""
    return memory_mb(process, "VmSize") > 1e6


def test_answers_for_eight_clients_take_little_memory():
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "launches.json.gz")
        write_trace(trace)
        with Served(traces=(trace,)) as served:
            served.json("/api/v1/summary")
            served.json("/api/v1/kernels?by=launch&limit=1")
            before = memory_mb(served.process)
            failures = []

            def ask(client):
                """Each its own rows of a table of many megabytes."""
                for turn in range(4):
                    target = f"/api/v1/kernels?by=launch&limit={LAUNCHES - client * 4 - turn}"
                    status, headers, body = served.get(target, [("Accept-Encoding", "gzip")] if client % 2 else [])
                    body = gzip.decompress(body) if headers["Content-Encoding"] == "gzip" else body
                    if status != 200 or body.count(b"\n[") < LAUNCHES - 100:
                        failures.append((target, status, body[:200]))

            clients = [threading.Thread(target=ask, args=(client,)) for client in range(8)]
            for client in clients:
                client.start()
            for client in clients:
                client.join()
            equal(failures, [], "answers")
            grown = memory_mb(served.process, "VmHWM") - before
            print(f"  grown by {grown:.0f} MB at most")
            if not is_sanitized(served.process):
                check(grown < MOST_MB, f"grown by {grown:.0f} MB, from {before:.0f}")


def pipelining(served, target, clients, requests=1000):
    """Connections that ask again and again and never read."""
    sockets = []
    for client in range(clients):
        lines = [f"GET {target.format(number=client * requests + i)} HTTP/1.1\r\nHost: localhost\r\n\r\n" for i in range(requests)]
        sock = socket.create_connection(("127.0.0.1", served.port), timeout=START_S)
        sock.setblocking(False)
        with contextlib.suppress(OSError):
            sock.send("".join(lines).encode())
        sockets.append(sock)
    return sockets


def test_who_pipelines_without_reading_keeps_nobody_out():
    with Served() as served:
        served.json("/api/v1/summary")
        for target in ("/api/v1/kernels", "/api/v1/traces", "/", "/api/v1/slices?track=0&from=0&to=100000000&px=1600"):
            sockets = pipelining(served, target, 64)
            try:
                time.sleep(2)  # until the first of them wait for answers to be taken
                for _ in range(5):
                    start = time.monotonic()
                    equal(served.get("/api/v1/gpu")[0], 200, f"another client, while 64 ask for {target}")
                    check(time.monotonic() - start < 10, f"{time.monotonic() - start:.1f} s for an answer")
            finally:
                for sock in sockets:
                    sock.close()


def test_a_client_that_is_there_is_served_before_those_that_pipeline():
    with Served() as served:
        served.json("/api/v1/summary")
        kept = http.client.HTTPConnection("127.0.0.1", served.port, timeout=START_S)
        with contextlib.closing(kept):
            sockets = pipelining(served, "/api/v1/findings?clock_mhz={number}", 62)
            try:
                start = time.monotonic()
                for turn in range(10):
                    kept.request("GET", f"/api/v1/slices?track=0&from={turn}&to=100000000&px=1600")
                    check(kept.getresponse().read().startswith(b'{"track"'), "an answer")
                print(f"  {time.monotonic() - start:.1f} s for ten answers")
                check(time.monotonic() - start < 10, f"{time.monotonic() - start:.1f} s for ten answers")
            finally:
                for sock in sockets:
                    sock.close()


def test_pipelined_requests_are_answered_in_order():
    with Served() as served:
        targets = ["/api/v1/gpu", "/api/v1/nothing", "/api/v1/traces", "/", "/api/v1/ops?limit=3"]
        data = b"".join(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() for target in targets) + request("GET /api/v1/overview HTTP/1.1")
        answer = served.raw(data)
        page = served.get("/")[0]
        equal([int(status) for status in re.findall(rb"HTTP/1\.1 (\d\d\d) ", answer)], [200, 404, 200, page, 200, 200], "statuses")


def test_a_link_of_another_site_opens_the_page_only():
    with Served() as served:
        click = ("Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document", "Sec-Fetch-User: ?1")
        page = served.get("/")[0]
        equal(status_of(served.raw(request("GET / HTTP/1.1", "localhost", *click))), page, "the page")
        equal(status_of(served.raw(request("GET /?x=1 HTTP/1.1", "localhost", *click))), page, "the page with parameters")
        for target in ("/api/v1/traces", "/api/v1/summary", "/assets/index.js", "/api/v1/", "//"):
            equal(status_of(served.raw(request(f"GET {target} HTTP/1.1", "localhost", *click))), 403, target)
        for name, other in (("Dest", "iframe"), ("Dest", "empty"), ("Mode", "cors"), ("Mode", "no-cors")):
            changed = [line for line in click if f"-{name}:" not in line] + [f"Sec-Fetch-{name}: {other}"]
            equal(status_of(served.raw(request("GET / HTTP/1.1", "localhost", *changed))), 403, f"{name} {other}")


def main(arguments):
    binary, words = words_of(arguments)
    harness.use(binary or os.path.join(ROOT, "build", "ridge"))
    return run_tests(globals(), words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
