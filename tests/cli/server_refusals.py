"""Knocks at `ridge serve` with raw sockets and odd flags: what must be refused, cut off or bounded, and what ends it."""

import contextlib
import http.client
import json
import os
import pty
import re
import signal
import socket
import subprocess
import tempfile
import time

from checks import Failure, check, equal
from harness import program
from serving import START_S, TRACE, Served, request, status_of


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
        printed = subprocess.run([program(), "kernel", "--json", name, trace], capture_output=True, timeout=60).stdout
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
        run = subprocess.run([program(), "serve", *args, TRACE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=START_S)
        check(run.returncode in (1, 2) and run.stderr.startswith(b"error: ") and not run.stdout, f"{args}: {run}")
    with Served() as served:
        run = subprocess.run([program(), "serve", "--port", str(served.port), TRACE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=START_S)
        check(run.returncode == 1 and b"cannot listen" in run.stderr, f"a port in use: {run}")
    run = subprocess.run([program(), "serve"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=START_S)
    equal(run.returncode, 2, "no trace")


def test_signals_end_it():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with Served() as served:
            served.process.send_signal(number)
            equal(served.process.wait(timeout=10), 128 + number, f"exit code of {number.name}")


def test_a_closed_terminal_ends_it():
    master, slave = pty.openpty()
    process = subprocess.Popen([program(), "serve", TRACE], stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
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
