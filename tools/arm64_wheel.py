"""What tools/arm64 --wheel runs in the emulated Python: opens a trace, asks it a few questions and checks that the answers agree with one another."""

import os
import platform
import sys
import tempfile

import ridge

t = ridge.open(sys.argv[1], progress=False)
kernels = t.kernels()
launches = t.tables.kernel_launches
assert sum(kernels["count"]) == len(launches) > 0
assert sum(kernels["time_ns"]) == sum(launches["time_ns"])
assert len(t.tables.events) == t.sql("select count(*) as n from events")[0]["n"]
findings = t.findings()
assert len(findings) > 0 and findings[0]["id"] in findings.text()
with tempfile.TemporaryDirectory() as folder:
    page = os.path.join(folder, "r.html")
    t.report(page)
    assert os.path.getsize(page) > 100_000
print(f"{platform.machine()}, Python {platform.python_version()}: {len(launches)} launches of {len(kernels)} kernels; first: {findings[0]['id']}")
