"""Walks over all that the binding has, under sanitizers: every analysis, every table, rows, Arrow, pages, errors, threads, closing. Tests that
answers are right are elsewhere; here nothing may be read after it went, twice, or by two threads at once."""

import pathlib
import threading

import ridge
from ridge import _pages

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACES = [str(ROOT / "tests" / "fixtures" / name) for name in ("clean_tf32.json.gz", "fault_casts.json.gz", "ddp_gloo_rank0.json.gz")]


def walk(path):
    trace = ridge.open(path, progress=lambda *_: None)
    held = []
    for info in ridge.analyses():
        if not info["needs_trace"] or info["fewest_traces"] > 1 or info["operand"]:
            continue
        try:
            report = getattr(trace, info["name"])()
        except ridge.Error as error:
            str(error)
            continue
        for table in report.tables.values():
            table.rows()
            held.append((table.name, len(table), table.__arrow_c_stream__()))
            table.__arrow_c_schema__()
            for i, column in enumerate(table.schema):
                values, mask, texts = table._table.numpy_column(i)
                assert len(values) == len(table) and (mask is None or len(mask) == len(table)), column
                assert (texts is not None) == (column.type == "text")
        report.text("json")
        report._repr_html_()
        held.append(report.diagnostics)
    for name in trace.tables:
        table = trace.tables[name]
        held.append((len(table), table.__arrow_c_stream__(), table.rows()[:3]))
    trace.close()
    return held


def pyarrow_reads(path):
    import pyarrow

    trace = ridge.open(path)
    kept = [pyarrow.table(trace.kernels()), pyarrow.table(trace.tables.events)]
    column = kept[1]["name"].chunk(0)
    trace.close()
    del trace, kept
    assert len(column.to_pylist()) == len(column)


def wrong_calls(path):
    trace = ridge.open(path)
    for call in (
        lambda: trace.kernels(bye=1),
        lambda: trace.kernels(device="none such"),
        lambda: trace.tables.opps,
        lambda: trace.step(10_000).gpu(),
        lambda: ridge.open("/nowhere.json"),
        lambda: ridge.open([]),
        lambda: trace.tables.ops._native.read([99], 0, 1),
        lambda: trace.kernels().text("nonsense"),
    ):
        try:
            call()
        except (ridge.Error, IndexError, AttributeError):
            continue
        raise AssertionError("it did not raise")


def stopped(path):
    """A progress function that raises: at once, or not at all where the read is done before it is asked."""

    def refuse(*_):
        raise ValueError("no")

    try:
        ridge.open(path, progress=refuse).close()
    except ValueError:
        pass


def main():
    passed = 0
    for path in TRACES:
        walk(path)
        wrong_calls(path)
        stopped(path)
        passed += 3
    threads = [threading.Thread(target=walk, args=(path,)) for path in TRACES]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    passed += 1
    pyarrow_reads(TRACES[0])
    trace = ridge.open(TRACES[0])
    assert "<html" in _pages.page_of(trace).lower()
    with trace.serve(wait=False) as server:
        import urllib.request

        with urllib.request.urlopen(server.url + "api/v1/gpu") as answer:
            assert answer.status == 200
    ridge.diff(TRACES[0], TRACES[1]).rows()
    passed += 3
    print(f"{passed} passed, 0 failed")


if __name__ == "__main__":
    main()
