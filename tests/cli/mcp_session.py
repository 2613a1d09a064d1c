"""A session with `ridge mcp` over pipes: messages to it, its answers, and traces for it to read."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading

from checks import check, equal
from harness import program

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FIXTURES = os.path.join(ROOT, "tests", "fixtures")
SHARED = os.path.join(os.path.dirname(ROOT), "shared", "traces")
PATIENCE_S = 120
SANITIZED = "ASAN_OPTIONS" in os.environ
ANSWER_BYTES = 8192
META = "io.modelcontextprotocol/"
MODERN = {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": {}}


def request(number, method, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def call(number, tool, /, **arguments):
    return request(number, "tools/call", name=tool, arguments=arguments)


def line_of(message):
    if isinstance(message, bytes):
        return message + b"\n"
    return (message if isinstance(message, str) else json.dumps(message)).encode() + b"\n"


def exchange(args, messages):
    """All messages at once, then the end of the input: every request that can be answered is."""
    run = subprocess.run([program(), "mcp", *args], input=b"".join(map(line_of, messages)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE_S)
    equal((run.returncode, run.stderr), (0, b""), "how it ends")
    lines = run.stdout.decode().splitlines()
    for line, answer in ((line, json.loads(line)) for line in lines):
        if "tools" not in answer.get("result", {}):
            check(len(line.encode()) <= ANSWER_BYTES or b"answer_bytes" in b"".join(map(line_of, messages)), f"an answer of {len(line.encode())} bytes")
    return [json.loads(line) for line in lines]


def ask(args, tool, /, **arguments):
    """The result of one call."""
    answers = exchange(args, [call(1, tool, **arguments)])
    equal(len(answers), 1, "answers")
    return answers[0]["result"]


def text_of(result):
    return result["content"][0]["text"]


def refused(args, tool, says, /, **arguments):
    result = ask(args, tool, **arguments)
    check(result.get("isError") and says in text_of(result), f"{tool} {arguments}: {text_of(result)!r} does not say {says!r}")


def rows_of(result, name):
    table = next(each for each in result["structuredContent"]["tables"] if each["name"] == name)
    return [dict(zip(table["columns"], row)) for row in table["rows"]]


def fixture(name):
    return os.path.join(FIXTURES, name + ".json.gz")


@contextlib.contextmanager
def folder_of(*names):
    with tempfile.TemporaryDirectory(prefix="ridge-mcp-") as folder:
        folder = os.path.realpath(folder)
        for name in names:
            shutil.copy(fixture(name), folder)
        yield folder


class Running:
    """A session that stays open, for what depends on time."""

    def __init__(self, *args):
        self.process = subprocess.Popen([program(), "mcp", *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def send(self, *messages):
        self.process.stdin.write(b"".join(map(line_of, messages)))
        self.process.stdin.flush()

    def next(self):
        timer = threading.Timer(PATIENCE_S, self.process.kill)
        timer.start()
        try:
            return json.loads(self.process.stdout.readline())
        finally:
            timer.cancel()

    def memory(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            return int(re.search(r"VmHWM:\s+(\d+) kB", file.read()).group(1)) * 1024
