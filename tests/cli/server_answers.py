"""What `ridge serve` answers: the command line's JSON, the timeline's doors, errors, whatever the trace holds."""

import gzip
import json
import os
import re
import socket
import subprocess
import tempfile
import threading
import time
import urllib.parse

from checks import check, equal
from harness import program
from serving import HOSTILE, OTHER, START_S, TRACE, Served, cli_json, request


def test_every_analysis_is_the_clis_json():
    with Served() as served:
        names = [row["name"] for row in served.json("/api/v1/traces")["analyses"]]
        check(len(names) > 10, f"only {names}")
        for name in names:
            run = subprocess.run([program(), name, TRACE, "--json", "-q"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=START_S)
            if b"takes no trace" in run.stderr:
                run = subprocess.run([program(), name, "--json", "-q"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=START_S)
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
