# A program that type checkers must accept: what README and docs/python.md show.
import pathlib

import ridge

t: ridge.Trace = ridge.open("trace.json.gz")
ridge.open(pathlib.Path("a.json"), "b.json", threads=2, progress=False)
ridge.open(["a.json", "b.json"], progress=lambda phase, done, total: print(phase, done, total))
names: list[str] = t.kernels(by="op").columns
rows: list[tuple[ridge._Value, ...]] = t.findings(ignore=["launch_bound"], all=True).rows()
kernel: ridge.Report = t.kernel("gemm")
busy: ridge.Report = t.step(2).on(gpu=0).between(ms=(3, 9)).matching("aten").kernels(clock_mhz=1755.0)
steps: ridge.Scope = t.step(range(2, 5)).using(device="h200")
table: ridge.Table = t.kernels().tables["kernels"]
total: dict[str, ridge._Value] | None = table.total
events = t.tables.events.select("name", "dur_ns", first=10, count=20)
column: list[ridge._Value] = t.tables.ops["name"]
frame = t.tables.kernel_launches.to_pandas()
changed: ridge.Report = ridge.diff("a.json", t, fail_above="5%")
whatif = t.whatif(do=["cuda-graphs"]).text("md", limit=5)
page: str = t.report(pathlib.Path("r.html"))
with ridge.open("trace.json") as opened, opened.serve(wait=False) as server:
    url: str = server.url
written: list[str] = ridge.export(t, "out", tables=["ops"], format="parquet")
try:
    t.kernels(device="none")
except ridge.UsageError as error:
    hint: str = error.hint
