#!/usr/bin/env python3
"""Runs `ridge serve` and `ridge report` as a user does, and knocks at the server with raw sockets: what is served, and what must be refused.

usage: server.py [--ridge] BINARY [WORD...]     only the tests whose names hold one of the words"""

import contextlib
import gzip
import http.client
import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

from checks import Failure, check, equal, run_tests, words_of

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FIXTURES = os.path.join(ROOT, "tests", "fixtures")
TRACE = os.path.join(FIXTURES, "fault_item_sync.json.gz")
OTHER = os.path.join(FIXTURES, "clean_no_sync.json.gz")
RIDGE = ""
START_S = 60

HOSTILE = '<script>alert("1")</script>\u202e&\'"</title>' + "x" * 100_000


class Served:
    """A running `ridge serve`; its URL is the one line of standard output."""

    def __init__(self, *args, traces=(TRACE,), **options):
        self.process = subprocess.Popen([RIDGE, "serve", *args, *traces], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.url = self.process.stdout.readline().decode().strip()
        match = re.fullmatch(r"http://([^/]+):(\d+)/(\?token=([0-9a-f]{32}))?", self.url)
        if not match:
            self.process.kill()
            raise Failure(f"no URL: {self.url!r} {self.process.stderr.read()!r}")
        self.port, self.token = int(match.group(2)), match.group(4)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def get(self, target, headers=(), method="GET", body=None):
        """(status, headers, body) over http.client."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=START_S)
        with contextlib.closing(connection):
            connection.putrequest(method, target, skip_host="Host" in dict(headers), skip_accept_encoding=True)
            for name, value in headers:
                connection.putheader(name, value)
            connection.endheaders(body)
            response = connection.getresponse()
            return response.status, response.headers, response.read()

    def json(self, target):
        status, headers, body = self.get(target)
        equal(status, 200, f"{target}: {body[:300]!r}")
        equal(headers["Content-Type"], "application/json", "content type")
        return json.loads(body)

    def raw(self, data, timeout=20):
        """Everything that comes back for these bytes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as sock:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                sock.sendall(data)
            parts = []
            with contextlib.suppress(ConnectionResetError, socket.timeout):
                while part := sock.recv(65536):
                    parts.append(part)
            return b"".join(parts)


def status_of(answer):
    match = re.match(rb"HTTP/1\.1 (\d\d\d) ", answer)
    return int(match.group(1)) if match else None


def request(line="GET / HTTP/1.1", host="localhost", *more):
    head = [line] + ([f"Host: {host}"] if host is not None else []) + list(more) + ["Connection: close"]
    return ("\r\n".join(head) + "\r\n\r\n").encode()


def cli_json(*args):
    return json.loads(subprocess.run([RIDGE, *args, "--json", "-q"], stdout=subprocess.PIPE, check=True, timeout=START_S).stdout)


# ---- what is served


def test_every_analysis_is_the_clis_json():
    with Served() as served:
        names = [row["name"] for row in served.json("/api/v1/traces")["analyses"]]
        check(len(names) > 10, f"only {names}")
        for name in names:
            run = subprocess.run([RIDGE, name, TRACE, "--json", "-q"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=START_S)
            if b"takes no trace" in run.stderr:
                run = subprocess.run([RIDGE, name, "--json", "-q"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=START_S)
            status, _, body = served.get(f"/api/v1/{name}")
            if run.returncode not in (0, 3):  # needs a second trace, or a name
                equal(status, 400, name)
                continue
            equal(status, 200, name)
            equal(json.loads(body), json.loads(run.stdout), name)


def test_an_iteration_takes_the_same_in_every_answer():
    def value(report, table, column):
        found = next(t for t in report["tables"] if t["name"] == table)
        return found["rows"][0][[c["name"] for c in found["columns"]].index(column)]

    with Served(traces=(TRACE, TRACE)) as served:
        figures = {name: value(served.json(f"/api/v1/{name}"), table, "iteration_ns") for name, table in (("summary", "summary"), ("findings", "iteration"), ("gaps", "iteration"))}
        figures["diff"] = value(served.json("/api/v1/diff"), "traces", "wall_ns")
        spans = served.json("/api/v1/info")["tables"]
        columns, rows = next(([c["name"] for c in t["columns"]], t["rows"]) for t in spans if t["name"] == "iterations")
        figures["info"] = round(sum(row[columns.index("duration_ns")] for row in rows) / len(rows))
        equal(set(figures.values()), {figures["summary"]}, f"{figures}")


def test_options_are_query_parameters():
    with Served() as served:
        equal(served.json("/api/v1/kernels?limit=2&sort=count"), cli_json("kernels", TRACE, "-n", "2", "--sort", "count"), "limit and sort")
        equal(served.json("/api/v1/ops?by=shape"), cli_json("ops", TRACE, "--by", "shape"), "by")
        for target in ("/api/v1/kernels?nonsense=1", "/api/v1/kernels?step=x", "/api/v1/kernels?limit=-1", "/api/v1/kernels?sort=nothing", "/api/v1/kernels?gpu=a"):
            equal(served.get(target)[0], 400, target)


def test_check_tells_where_problems_are():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "damaged.json")
        good = '{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1}'
        with open(path, "w", encoding="utf-8") as file:
            file.write('{"traceEvents":[' + ",\n".join([good, '{"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":"x","dur":1}', good]) + "]}")
        with Served(traces=(path,)) as served:
            answer = served.json("/api/v1/check")
            columns = [column["name"] for column in answer["tables"][0]["columns"]]
            places = [row[columns.index("first_offset")] for row in answer["tables"][0]["rows"]]
            check(any(place is not None for place in places), f"no place in {answer['tables'][0]['rows']}")
            equal(answer, cli_json("check", path), "check")


ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) + {} from n"


def test_a_client_that_went_away_is_not_worked_for():
    """Two long answers are made at a time: whoever leaves makes room for the next."""
    with Served() as served:
        for number in range(6):
            target = "/api/v1/sql?query=" + urllib.parse.quote(ENDLESS.format(number))
            with socket.create_connection(("127.0.0.1", served.port), timeout=START_S) as sock:
                sock.sendall(request(f"GET {target} HTTP/1.1"))
                time.sleep(0.2)
        rows = served.json("/api/v1/sql?query=select+1+as+n&max_seconds=5")["tables"][0]["rows"]
        equal(rows, [[1]], "an answer, long before those are given up by themselves")


def test_of_two_who_ask_the_same_one_may_leave():
    target = "/api/v1/sql?query=" + urllib.parse.quote(ENDLESS.format(0)) + "&max_seconds=3"
    with Served() as served:
        with socket.create_connection(("127.0.0.1", served.port), timeout=START_S) as first:
            first.sendall(request(f"GET {target} HTTP/1.1"))
            time.sleep(0.3)
            answers = []
            second = threading.Thread(target=lambda: answers.append(served.get(target)))
            second.start()
            time.sleep(0.3)
        second.join(START_S)
        equal([answer[0] for answer in answers], [400], "status of the one who stayed: its own query took too long")
        check(b"longer than 3 s" in answers[0][2], answers[0][2])


def test_errors_speak_of_parameters():
    with Served() as served:
        for target, words in (("/api/v1/kernels?t=1", "'t' can only be 0"), ("/api/v1/kernels?step=x-", "'step' takes A or A-B"),
                              ("/api/v1/kernels?filter=(", "'filter' is not a valid regular expression")):
            status, _, body = served.get(target)
            message = json.loads(body)["error"]["message"]
            check(status == 400 and words in message, f"{target}: {status} {message!r}")
            check("--" not in message + json.loads(body)["error"]["hint"], f"{target}: {body!r}")


def test_any_number_of_combinations_is_answered():
    """Each has tables of its own in the engine, which makes room for them."""
    with Served() as served:
        for mhz in range(1000, 1020):
            status, _, body = served.get(f"/api/v1/kernels?device=h100&clock_mhz={mhz}&runs={mhz - 999}")
            equal(status, 200, f"status at {mhz} MHz: {body[:200]}")


def test_the_second_trace_is_t_1():
    with Served(traces=(TRACE, OTHER)) as served:
        traces = served.json("/api/v1/traces")["traces"]
        equal([t["name"] for t in traces], [os.path.basename(TRACE), os.path.basename(OTHER)], "names")
        equal(served.json("/api/v1/kernels?t=1"), cli_json("kernels", OTHER), "t=1")
        equal(served.get("/api/v1/tracks?t=2")[0], 400, "t=2")


def test_the_timelines_doors():
    with Served() as served:
        window = served.json("/api/v1/traces")["traces"][0]["window_ns"]
        groups = served.json("/api/v1/tracks?t=0")["groups"]
        tracks = [track for group in groups for track in group["tracks"]]
        streams = [track for track in tracks if track["kind"] == "stream"]
        check(streams and any(track["kind"] == "thread" for track in tracks), f"tracks {tracks}")
        busy = {}
        for track in tracks:
            answer = served.json(f"/api/v1/slices?t=0&track={track['id']}&from={-2**58}&to={2**58}&px=100")
            seen = 0
            for depth in answer["depths"]:
                for part in ("slices", "buckets"):
                    columns = depth[part]
                    equal({len(column) for column in columns.values()} , {len(columns["id"])}, f"columns of {part}")
                    check(all(0 <= index < len(answer["names"]) for index in columns["name"]), "names")
                    check(all(0 <= index < len(answer["categories"]) for index in columns["color"]), "categories")
                seen += len(depth["slices"]["id"]) + sum(depth["buckets"]["count"])
            equal(seen, track["slices"], f"slices of {track['name']}")
            busy[track["id"]] = answer
        answer = served.json(f"/api/v1/slices?track={streams[0]['id']}&from=0&to={window}&px=100000".replace("100000", "8192"))
        events = [event for depth in answer["depths"] for event in depth["slices"]["id"] + depth["buckets"]["id"]]
        kernel = served.json(f"/api/v1/slice?id={events[0]}")
        equal(kernel["id"], events[0], "id")
        check({"args", "flows", "op", "cost", "parent", "frame", "module", "self_ns"} <= kernel.keys(), f"members {kernel.keys()}")
        flows = [flow for flow in kernel["flows"] if flow["kind"] == "launch" and flow["direction"] == "in"]
        check(flows, "no launch")
        back = served.json(f"/api/v1/slice?id={flows[0]['id']}")
        check(any(flow["id"] == kernel["id"] and flow["direction"] == "out" for flow in back["flows"]), "the flow back")
        following = served.json(f"/api/v1/neighbour?id={kernel['id']}&dir=next")["id"]
        if following is not None:
            equal(served.json(f"/api/v1/neighbour?id={following}&dir=prev")["id"], kernel["id"], "there and back")
        gpu = cli_json("gpu", TRACE)["tables"][0]
        busy_pct = gpu["rows"][0][[column["name"] for column in gpu["columns"]].index("busy_pct")]
        area = served.json(f"/api/v1/area?from=0&to={window}")
        check(abs(area["busy_pct"]["0"] - busy_pct) < 1e-6, f"busy {area['busy_pct']} and {busy_pct}")
        hits = served.json("/api/v1/search?q=ATEN%3A%3A&limit=3")
        check(hits["hits"] > 3 and len(hits["results"]) == 3, f"hits {hits['hits']}")
        later = served.json("/api/v1/search?q=ATEN%3A%3A&limit=3&skip=2")
        equal([later["hits"], later["results"][0]], [hits["hits"], hits["results"][2]], "the page of hits that begins with the third")
        equal(served.json(f"/api/v1/search?q=ATEN%3A%3A&skip={hits['hits']}")["results"], [], "beyond the last")
        check({mark["kind"] for mark in served.json("/api/v1/marks")["marks"]} >= {"sync", "gap", "iteration"}, "marks")
        curve = served.json("/api/v1/overview?px=50")
        check(len(curve["host"]) <= 50 and len(curve["devices"][0]["busy"]) == len(curve["host"]), "overview")


def test_waits_of_a_stream_are_named_by_it():
    wait = {"ph": "X", "cat": "cuda_sync", "name": "Stream Sync", "pid": 0, "ts": 104, "dur": 8}
    kernel = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 100, "dur": 10, "args": {"device": 0, "stream": 7}}
    events = [kernel, {**wait, "tid": 1_000_007, "args": {"device": 0, "stream": 7}}, {**wait, "tid": 1_000_009, "args": {"device": 0, "stream": 8}}]
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "waits.json")
        with open(trace, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": events}, file)
        with Served(traces=(trace,)) as served:
            names = [track["name"] for group in served.json("/api/v1/tracks?t=0")["groups"] for track in group["tracks"]]
            equal(names, ["stream 7", "stream 7, waits", "stream 1000009"], "names of tracks")


def test_hostile_parameters_get_400():
    with Served() as served:
        track = served.json("/api/v1/tracks")["groups"][0]["tracks"][0]["id"]
        huge = 2**63 - 1
        for query in ("", "track=1", f"track={track}&from=0&to=0&px=10", f"track={track}&from=5&to=1&px=10", f"track={track}&from={-huge}&to={huge}&px=10",
                      f"track={track}&from=0&to=9&px=0", f"track={track}&from=0&to=9&px=8193", f"track={track}&from=0&to=9&px=-1", f"track={track}&from=0&to=9&px=1e3",
                      f"track={track}&from=0&to=99999999999999999999&px=10", "track=4294967296&from=0&to=9&px=1", "track=4000000000&from=0&to=9&px=1",
                      f"track={track}&from=0&to=9&px=1&px=2", f"track={track}&from=0&to=9&px=1&x=y", f"track={track}&from=%00&to=9&px=1", "track=%zz"):
            equal(served.get(f"/api/v1/slices?{query}")[0], 400, query)
        for target in ("/api/v1/slice?id=-1", "/api/v1/slice?id=4294967295", "/api/v1/slice?id=0x1", "/api/v1/slice", "/api/v1/neighbour?id=1&dir=up",
                       "/api/v1/area?from=0&to=9&tracks=a", "/api/v1/search?q=", "/api/v1/search?q=re:(", "/api/v1/search?q=" + "a" * 2000, "/api/v1/search?q=%ff",
                       "/api/v1/search?q=a&limit=99999999", "/api/v1/search?q=a&skip=-1", "/api/v1/search?q=a&skip=99999999999", "/api/v1/overview?px=0", "/api/v1/traces?t=0&x=1"):
            status, _, body = served.get(target)
            equal(status, 400, target)
            check({"code", "message", "hint"} <= json.loads(body)["error"].keys(), f"error of {target}")
        for target in ("/api/v1/nothing", "/api/v2/traces", "/nothing", "/assets/nothing.js", "/assets/../index.html", "/api/v1/", "/report.html"):
            equal(served.get(target)[0], 404, target)
        equal(served.process.poll(), None, "the server still runs")


def test_answers_can_be_packed():
    with Served() as served:
        plain = served.get("/api/v1/ops")
        packed = served.get("/api/v1/ops", [("Accept-Encoding", "br, gzip")])
        equal(packed[1]["Content-Encoding"], "gzip", "encoding")
        equal(gzip.decompress(packed[2]), plain[2], "content")
        check(len(packed[2]) < len(plain[2]) / 2, "it is smaller")
        for refused in ("identity", "gzip;q=0", "gzipped"):
            equal(served.get("/api/v1/ops", [("Accept-Encoding", refused)])[1]["Content-Encoding"], None, refused)


def test_answers_tell_the_servers_own_time():
    with Served() as served:
        timing = served.get("/api/v1/ops")[1]["Server-Timing"]
        parts = dict(re.findall(r"(\w+);dur=([0-9.]+)", timing or ""))
        equal(set(parts), {"wait", "work", "cpu"}, f"parts of {timing!r}")
        check(0 < float(parts["cpu"]) and float(parts["work"]) < 1000 * START_S, f"times {timing!r}")
        equal(served.get("/api/v1/traces", [("Host", "evil.example")])[1]["Server-Timing"], None, "none for a stranger")


def test_a_hostile_trace_is_valid_json():
    event = {"ph": "X", "cat": "kernel", "name": HOSTILE, "pid": 0, "tid": HOSTILE[:200], "ts": 1, "dur": 5, "args": {"device": 0, "stream": 7, HOSTILE[:50]: HOSTILE}}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "hostile.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": [event, {"ph": "X", "cat": "cpu_op", "name": "deep", "pid": 1, "tid": 1, "ts": 1, "dur": 1,
                                               "args": {"deep": json.loads("[" * 500 + "]" * 500), "big": 10**40, "nan": 1e400}}]}, file)
        with Served(traces=(path,)) as served:
            track = next(t for g in served.json("/api/v1/tracks")["groups"] for t in g["tracks"] if t["kind"] == "stream")
            answer = served.json(f"/api/v1/slices?track={track['id']}&from=0&to=5000&px=100")
            check(answer["names"][0].startswith(HOSTILE[:30]) and len(answer["names"][0]) < 200, "the name")
            details = served.json(f"/api/v1/slice?id={answer['depths'][0]['slices']['id'][0]}")
            equal(details["name"], HOSTILE, "the whole name")
            equal(details["args"][HOSTILE[:50]], HOSTILE, "the argument")
            deep = served.json("/api/v1/search?q=deep")["results"][0]["id"]
            check(isinstance(served.json(f"/api/v1/slice?id={deep}")["args"]["deep"], str), "nesting that a reader could choke on is text")


# ---- what must be refused


def test_security_headers_on_everything():
    with Served() as served:
        for target in ("/", "/api/v1/traces", "/nothing", "/api/v1/slices?px=0"):
            headers = served.get(target)[1]
            policy = headers["Content-Security-Policy"]
            check("default-src 'none'" in policy and "unsafe" not in policy and "*" not in policy, f"policy {policy}")
            equal(headers["X-Content-Type-Options"], "nosniff", "nosniff")
            equal(headers["Referrer-Policy"], "no-referrer", "referrer")
            check(not any(name.lower().startswith("access-control") for name in headers), "CORS")
            equal(headers["Server"], None, "no name of a server")


def test_only_get_and_no_body():
    with Served() as served:
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE", "CONNECT", "get", "BREW"):
            answer = served.raw(request(f"{method} / HTTP/1.1"))
            check(status_of(answer) in (405, 400), f"{method}: {answer[:100]!r}")
        check(b"\r\nAllow: GET\r\n" in served.raw(request("POST / HTTP/1.1")), "Allow")
        equal(status_of(served.raw(request("GET / HTTP/1.1", "localhost", "Content-Length: 5") + b"hello")), 413, "a body")
        equal(status_of(served.raw(request("GET / HTTP/1.1", "localhost", "Content-Length: 99999999999") + b"x" * 200_000)), 413, "a huge body")
        equal(status_of(served.raw(request("GET / HTTP/1.1", "localhost", "Transfer-Encoding: chunked") + b"5\r\nhello\r\n0\r\n\r\n")), 413, "chunks")
        for odd in (("Content-Length: 0", "Transfer-Encoding: chunked"), ("Content-Length: 1", "Content-Length: 2")):  # where would the next request begin?
            answer = served.raw(request("GET / HTTP/1.1", "localhost", *odd) + b"0\r\n\r\n" + request("GET /api/v1/traces HTTP/1.1"))
            check(status_of(answer) in (400, 413) and answer.count(b"HTTP/1.1 ") == 1, f"{odd}: {answer[:80]!r}")
        equal(status_of(served.raw(request())) in (200, 503), True, "and still serves")


def test_host_and_origin_are_checked():
    with Served() as served:
        target = "GET /api/v1/traces HTTP/1.1"
        for host in ("localhost", f"localhost:{served.port}", f"127.0.0.1:{served.port}", "[::1]:1"):
            equal(status_of(served.raw(request(target, host))), 200, host)
        for host in ("evil.example", f"evil.example:{served.port}", "127.0.0.1.evil.example", "10.1.2.3", "0.0.0.0"):
            equal(status_of(served.raw(request(target, host))), 403, host)
        equal(status_of(served.raw(request(target, None))), 400, "no Host")
        equal(status_of(served.raw(request(target, "localhost", "Host: evil.example"))), 400, "two Hosts")
        own = f"localhost:{served.port}"
        equal(status_of(served.raw(request(target, own, f"Origin: http://{own}"))), 200, "own origin")
        for origin in ("null", "http://evil.example", f"https://{own}", f"http://{own}.evil.example", "http://localhost:1"):
            equal(status_of(served.raw(request(target, own, f"Origin: {origin}"))), 403, origin)
        equal(status_of(served.raw(request(target, own, "Sec-Fetch-Site: cross-site"))), 403, "another site")


def test_no_other_file_is_read():
    with Served() as served:
        for target in ("/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/assets/../../../../etc/passwd", "/assets/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "//etc/passwd",
                       "/etc/passwd", TRACE, "/api/v1/../../etc/passwd", "/assets//etc/passwd", "file:///etc/passwd"):
            answer = served.raw(request(f"GET {target} HTTP/1.1"))
            check(status_of(answer) in (400, 404), f"{target}: {answer[:80]!r}")
            check(b"root:" not in answer, f"{target} shows a file")
        files = [(row["name"], p["name"]) for row in served.json("/api/v1/traces")["analyses"] for p in row["parameters"]
                 if re.search("file|cache|path|folder|dir$", p["name"])]
        for analysis, parameter in files:
            equal(served.get(f"/api/v1/{analysis}?{parameter}=/etc/passwd")[0], 400, f"{analysis} {parameter}")


def test_a_trace_cannot_name_files_to_be_read():
    with tempfile.TemporaryDirectory() as folder:
        secret, trace = os.path.join(folder, "secret.py"), os.path.join(folder, "trace.json")
        with open(secret, "w") as file:
            file.write("password = 'hunter2'\n")
        event = lambda **members: {"ph": "X", "pid": 1, "tid": 1, **members}
        events = [event(cat="cpu_op", name="triton_poi_fused_add_0", ts=0, dur=50, args={"External id": 1, "kernel_file": secret, "kernel_hash": "x", "kernel_backend": "triton"}),
                  event(cat="cuda_driver", name="cuLaunchKernel", ts=5, dur=5, args={"correlation": 7, "External id": 1}),
                  event(cat="kernel", name="triton_poi_fused_add_0", pid=0, tid=7, ts=20, dur=10, args={"device": 0, "stream": 7, "correlation": 7, "External id": 1})]
        with open(trace, "w") as file:
            json.dump({"traceEvents": events}, file)
        name = "triton_poi_fused_add_0"
        printed = subprocess.run([RIDGE, "kernel", "--json", name, trace], capture_output=True, timeout=60).stdout
        check(b"hunter2" in printed, "the command line shows the source to its own user")
        with Served(traces=(trace,)) as served:
            status, _, body = served.get(f"/api/v1/kernel?name={name}")
            equal(status, 200, "kernel")
            check(b"hunter2" not in body, "the server shows a file that only the trace names")


def test_heads_are_bounded():
    with Served() as served:
        equal(status_of(served.raw(request("GET / HTTP/1.1", "localhost", "X-Long: " + "a" * 20_000))), 431, "one long header")
        equal(status_of(served.raw(request("GET / HTTP/1.1", "localhost", *[f"X-{i}: {'a' * 100}" for i in range(300)]))), 431, "many headers")
        check(status_of(served.raw(request("GET /" + "a" * 9000 + " HTTP/1.1"))) in (400, 431), "a long target")
        for data in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 100 + b"\r\n\r\n", b"\r\n\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
                     b"GET / HTTP/1.1\nHost: localhost\n\n", bytes(range(256)) * 10, b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n"):
            answer = served.raw(data + b"\r\n\r\n", timeout=15)
            check(status_of(answer) in (None, 400, 403), f"{data[:30]!r}: {answer[:80]!r}")
        equal(served.process.poll(), None, "the server still runs")
        equal(status_of(served.raw(request("GET /api/v1/traces HTTP/1.1"))), 200, "and serves")


def test_slow_heads_are_cut_off_and_connections_counted():
    with Served() as served:
        slow = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(80)]
        try:
            for sock in slow:
                with contextlib.suppress(OSError):
                    sock.sendall(b"GET / HTTP/1.1\r\nHost: local")
            equal(status_of(served.raw(request("GET /api/v1/traces HTTP/1.1"))), 200, "another client, while the heads are under way")
            deadline = time.monotonic() + 25
            slow[-1].settimeout(25)
            with contextlib.suppress(ConnectionResetError):
                equal(slow[-1].recv(100), b"", "cut off without an answer")
            check(time.monotonic() < deadline, "the slow head was waited for")
        finally:
            for sock in slow:
                sock.close()


def test_idle_connections_keep_nobody_out():
    with Served() as served:
        with contextlib.ExitStack() as open_ones:
            kept = http.client.HTTPConnection("127.0.0.1", served.port, timeout=START_S)
            open_ones.callback(kept.close)
            kept.request("GET", "/api/v1/traces")
            equal(len(json.loads(kept.getresponse().read())["traces"]), 1, "the first answer")
            for _ in range(1000):
                open_ones.enter_context(socket.create_connection(("127.0.0.1", served.port), timeout=START_S))
            for _ in range(3):
                equal(served.get("/api/v1/traces")[0], 200, "among a thousand that say nothing")
            files = len(os.listdir(f"/proc/{served.process.pid}/fd"))
            check(files < 120, f"{files} files are open")
            kept.request("GET", "/api/v1/traces")  # a client whose idle connection gave way opens another, as browsers do
            with contextlib.suppress(http.client.RemoteDisconnected, ConnectionError):
                kept.getresponse().read()


def test_loopback_only_unless_told_otherwise():
    with Served() as served:
        listening = subprocess.run(["ss", "-ltnH"], stdout=subprocess.PIPE, check=False).stdout.decode() if os.path.exists("/usr/bin/ss") else ""
        for line in listening.splitlines():
            address = line.split()[3]
            if address.endswith(f":{served.port}"):
                equal(address, f"127.0.0.1:{served.port}", "listens on")
        equal(served.token, None, "no token on loopback")


def test_the_tunnel_leads_to_the_address_that_is_listened_on():
    for host in ("127.0.0.1", "127.0.0.2", "::1"):
        try:
            socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
        except OSError:
            continue  # no such address here
        with Served("--host", host) as served:
            said = served.process.stderr.readline().decode()
            there = f"[{host}]" if ":" in host else host
            check(f"ssh -L {served.port}:{there}:{served.port} " in said, f"{host}: {said!r}")


def test_beyond_loopback_a_token_is_needed():
    with Served("--host", "0.0.0.0") as served:
        check(served.token, f"no token in {served.url}")
        equal(served.get("/api/v1/traces")[0], 403, "without")
        equal(served.get("/")[0], 403, "the page without")
        equal(served.get("/api/v1/traces?token=" + "0" * 32)[0], 403, "a wrong one")
        status, headers, _ = served.get(f"/api/v1/traces?token={served.token}")
        equal(status, 200, "with")
        cookie = headers["Set-Cookie"]
        check("HttpOnly" in cookie and "SameSite=Strict" in cookie, f"cookie {cookie}")
        equal(served.get("/api/v1/traces", [("Cookie", cookie.split(";")[0])])[0], 200, "by cookie")
        equal(served.get("/api/v1/traces", [("Host", "evil.example")])[0], 403, "rebinding")


def test_bad_flags_are_refused():
    for args in (("--port", "70000"), ("--port", "-1"), ("--port", "x"), ("--host", "no.such.host.invalid"), ("--nonsense",)):
        run = subprocess.run([RIDGE, "serve", *args, TRACE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=START_S)
        check(run.returncode in (1, 2) and run.stderr.startswith(b"error: ") and not run.stdout, f"{args}: {run}")
    with Served() as served:
        run = subprocess.run([RIDGE, "serve", "--port", str(served.port), TRACE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=START_S)
        check(run.returncode == 1 and b"cannot listen" in run.stderr, f"a port in use: {run}")
    run = subprocess.run([RIDGE, "serve"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=START_S)
    equal(run.returncode, 2, "no trace")


def test_signals_end_it():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with Served() as served:
            served.process.send_signal(number)
            equal(served.process.wait(timeout=10), 128 + number, f"exit code of {number.name}")


def test_a_closed_terminal_ends_it():
    master, slave = pty.openpty()
    process = subprocess.Popen([RIDGE, "serve", TRACE], stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                               preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0))
    os.close(slave)
    seen = b""
    while b"http://" not in seen or b"ssh -L " not in seen:  # the URL, and the line for another machine
        seen += os.read(master, 1000)
    os.close(master)
    try:
        process.wait(timeout=10)
    finally:
        if process.poll() is None:
            process.kill()
            raise Failure("it still runs")


# ---- report


def report(folder, *traces):
    path = os.path.join(folder, "report.html")
    run = subprocess.run([RIDGE, "report", *traces, "-o", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=START_S)
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
    run = subprocess.run([RIDGE, "report", TRACE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=START_S)
    equal(run.returncode, 2, "without -o")
    run = subprocess.run([RIDGE, "report", TRACE, "-o", TRACE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=START_S)
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


def main(arguments):
    global RIDGE
    binary, words = words_of(arguments)
    RIDGE = os.path.abspath(binary or os.path.join(ROOT, "build", "ridge"))
    return run_tests(globals(), words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
