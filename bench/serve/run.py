#!/usr/bin/env python3
"""How quickly `ridge serve` answers on a large trace, and whether it stays healthy under load.

  run.py [--size 1G]                                   time until the page is usable; latency and size of slices queries, one client; what
                                                       a frame of the timeline costs the page
  run.py --size 500M --clients 8 --seconds 60          load: clients that pan and zoom at random; errors, latencies, growth of memory

The trace is made by make_trace from real ones and kept in build/bench. Answers are checked before times are reported: every answer must be JSON with
columns of one length. Exit 1 when a target is missed: p99 under 50 ms, answers under 200 KB, no error, no growth after the first pass, every step of panning and zooming within 8 ms."""

import argparse
import http.client
import json
import os
import random
import re
import statistics
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TARGET_MS, TARGET_BYTES = 50, 200_000
SOURCES = ["resnet18_eager_shapes", "gpt_compiled_train", "gpt_eager_train_stack_mem", "mlp_profiler_steps"]


def make_trace(build, size):
    path = os.path.join(build, "bench", f"serve_{size}.json")
    if os.path.exists(path):
        return path
    os.makedirs(os.path.dirname(path), exist_ok=True)
    inputs = []
    for name in SOURCES:
        plain = os.path.join(build, "bench", f"{name}.json")
        with open(plain, "wb") as file:
            subprocess.run(["gzip", "-dc", os.path.join(ROOT, "tests", "fixtures", f"{name}.json.gz")], stdout=file, check=True)
        inputs.append(plain)
    with open(path + ".part", "wb") as file:
        subprocess.run([os.path.join(build, "make_trace"), "--size", size, *inputs], stdout=file, check=True)
    os.replace(path + ".part", path)
    return path


def memory_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) / 1024


class Client:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def get(self, target):
        """(parsed, bytes on the wire, seconds as seen here, ms of processor time that the server's thread took)"""
        start = time.perf_counter()
        self.connection.request("GET", target)
        response = self.connection.getresponse()
        body = response.read()
        seconds = time.perf_counter() - start
        if response.status != 200:
            raise RuntimeError(f"{target}: {response.status} {body[:200]!r}")
        cpu = re.search(r"cpu;dur=([0-9.]+)", response.headers["Server-Timing"] or "")
        return json.loads(body), len(body), seconds, float(cpu.group(1))


def check(answer, target):
    for depth in answer["depths"]:
        for part in ("slices", "buckets"):
            if len({len(column) for column in depth[part].values()}) != 1:
                raise RuntimeError(f"{target}: columns of different lengths")


def wander(client, tracks, window, rng, stop, out):
    """Pans and zooms over one track after another, as a person does with the keyboard."""
    while not stop():
        track = rng.choice(tracks)
        length = max(1000, int(window / 2 ** rng.uniform(0, 16)))
        at = rng.randrange(max(1, window - length))
        for _ in range(rng.randint(2, 8)):
            target = f"/api/v1/slices?t=0&track={track}&from={at}&to={at + length}&px=1600"
            try:
                answer, size, seconds, cpu_ms = client.get(target)
                check(answer, target)
                out.append((1000 * seconds, size, cpu_ms, target))
            except Exception as error:  # pylint: disable=broad-except
                out.append(error)
                return
            at += int(length * rng.uniform(-0.5, 0.5))
            length = max(1000, int(length * rng.choice((0.5, 1, 1, 2))))
            if stop():
                return


def summarise(results):
    errors = [result for result in results if isinstance(result, Exception)]
    good = [result for result in results if not isinstance(result, Exception)]
    seen, sizes, cpu = (sorted(column) for column in list(zip(*good))[:3])
    pick = lambda times, share: times[min(len(times) - 1, int(share * len(times)))]
    spread = lambda times: f"p50 {pick(times, 0.5):.1f} ms, p99 {pick(times, 0.99):.1f} ms, longest {times[-1]:.1f} ms"
    print(f"  {len(good)} queries, as clients saw them: {spread(seen)}; largest answer {sizes[-1] / 1000:.0f} KB; {len(errors)} errors")
    print(f"  the server's own processor time: {spread(cpu)}; the longest: {max(good, key=lambda result: result[2])[3]}")
    for error in errors[:3]:
        print(f"  error: {error}")
    return pick(seen, 0.99), sizes[-1], len(errors)


def frames(trace, ridge):
    """What panning and zooming costs the page's main thread, in headless Chromium; True: within the target, or no browser to ask."""
    script = os.path.join(ROOT, "tests", "browser", "run")
    run = subprocess.run([script, "frames.mjs", trace], env={**os.environ, "RIDGE": os.path.abspath(ridge)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if run.returncode == 77:
        print(f"  frames: {run.stderr.decode().strip()}")
        return True
    figures = json.loads(run.stdout)
    spread = lambda name: ", ".join(f"{key} {value:.1f}" for key, value in figures[name].items())
    print(f"  {figures['steps']} steps of panning, zooming and scrolling, {figures['walks']} times, ms of the main thread in a step's longest frame: {spread('step_ms')}; in the quietest of them: {spread('least_ms')}")
    print(f"  {figures['frames']} frames: {spread('frame_ms')}; of it the page's drawing: {spread('script_ms')}; with pixels made without a GPU: {spread('with_raster_ms')}")
    return run.returncode == 0


def timed_summary(ridge, trace):
    start = time.perf_counter()
    subprocess.run([ridge, "summary", trace, "-q"], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default=os.environ.get("BENCH_SIZE") or "1G")
    parser.add_argument("--clients", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--ridge", default=os.path.join(ROOT, "build", "ridge"))
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--trace")
    options = parser.parse_args()
    trace = options.trace or make_trace(options.build, options.size)

    summary_s = statistics.median(timed_summary(options.ridge, trace) for _ in range(4))  # the first reads from the disk
    start = time.perf_counter()
    server = subprocess.Popen([options.ridge, "serve", trace], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        port = int(re.search(rb":(\d+)/", server.stdout.readline()).group(1))
        client = Client(port)
        window = client.get("/api/v1/traces")[0]["traces"][0]["window_ns"]
        client.get("/api/v1/summary")
        groups = client.get("/api/v1/tracks?t=0")[0]["groups"]
        tracks = [track["id"] for group in groups for track in group["tracks"]]
        for track in tracks[:8]:
            client.get(f"/api/v1/slices?t=0&track={track}&from=0&to={window}&px=1600")
        usable_s = time.perf_counter() - start
        print(f"{os.path.basename(trace)}: {os.path.getsize(trace) / 1e6:.0f} MB, {len(tracks)} tracks, {sum(t['slices'] for g in groups for t in g['tracks'])} slices")
        print(f"  ridge summary {summary_s:.2f} s; page usable after {usable_s:.2f} s ({usable_s - summary_s:+.2f} s)")

        results, halfway = [], []
        end = time.perf_counter() + options.seconds
        middle = time.perf_counter() + options.seconds / 2
        stop = lambda: time.perf_counter() > end
        threads = [threading.Thread(target=wander, args=(Client(port), tracks, window, random.Random(seed), stop, results)) for seed in range(options.clients)]
        for thread in threads:
            thread.start()
        while time.perf_counter() < middle:
            time.sleep(0.1)
        halfway.append(memory_mb(server.pid))
        for thread in threads:
            thread.join()
        after = memory_mb(server.pid)
        p99, largest, errors = summarise(results)
        print(f"  memory {halfway[0]:.0f} MB halfway, {after:.0f} MB at the end")
        grown = after > halfway[0] * 1.05 + 5
        late = options.clients == 1 and p99 > TARGET_MS
        missed = errors or grown or late or largest > TARGET_BYTES
    finally:
        server.kill()
        server.wait()
    smooth = options.clients > 1 or frames(trace, options.ridge)
    return 1 if missed or not smooth else 0


if __name__ == "__main__":
    sys.exit(main())
