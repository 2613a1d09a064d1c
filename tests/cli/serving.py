"""A running `ridge serve`, and requests to it: well-formed ones, and bytes as they are."""

import contextlib
import http.client
import json
import os
import re
import socket
import subprocess

from checks import Failure, equal
from harness import program

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FIXTURES = os.path.join(ROOT, "tests", "fixtures")
TRACE = os.path.join(FIXTURES, "fault_item_sync.json.gz")
OTHER = os.path.join(FIXTURES, "clean_no_sync.json.gz")
START_S = 60

HOSTILE = '<script>alert("1")</script>\u202e&\'"</title>' + "x" * 100_000


class Served:
    """A running `ridge serve`; its URL is the one line of standard output."""

    def __init__(self, *args, traces=(TRACE,), **options):
        self.process = subprocess.Popen([program(), "serve", *args, *traces], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
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
    return json.loads(subprocess.run([program(), *args, "--json", "-q"], stdout=subprocess.PIPE, check=True, timeout=START_S).stdout)
