"""Tables to others: the same values in every form, unknown stays unknown, nothing is copied where it need not be."""

import copy
import gzip
import json
import threading

import pytest

import ridge


@pytest.fixture(scope="module")
def kernels(trace):
    return trace.kernels()


def test_rows_columns_and_dicts_agree(kernels):
    rows = kernels.rows()
    assert len(rows) == len(kernels) > 50
    assert kernels.to_dicts() == [dict(zip(kernels.columns, row)) for row in rows]
    assert list(kernels) == kernels.to_dicts()
    for i, name in enumerate(kernels.columns):
        assert kernels[name] == [row[i] for row in rows]
    assert kernels[3] == kernels.to_dicts()[3]
    assert kernels[-1] == kernels.to_dicts()[-1]
    assert any(None in row for row in rows)  # unknown is None, never 0
    assert {column.type for column in kernels.schema} == {"text", "integer", "number"}
    assert {column.name: column.unit for column in kernels.schema}["time_ns"] == "ns"
    with pytest.raises(KeyError, match="did you mean time_ns"):
        kernels["time"]
    with pytest.raises(IndexError):
        kernels[len(kernels)]


def every_table(trace):
    for name in ("kernels", "gpu", "findings", "info", "ops", "check"):
        yield from getattr(trace, name)().tables.values()
    for name in trace.tables:
        yield trace.tables[name]


def test_arrow_has_the_same_values(trace):
    pyarrow = pytest.importorskip("pyarrow")
    kinds = {"integer": pyarrow.int64(), "number": pyarrow.float64(), "boolean": pyarrow.bool_()}
    seen = set()
    for table in every_table(trace):
        arrow = table.to_arrow()
        arrow.validate(full=True)
        assert arrow.column_names == table.columns
        assert [tuple(row.values()) for row in arrow.to_pylist()] == table.rows(), table.name
        for column in table.schema:
            field = arrow.schema.field(column.name)
            assert field.type == kinds.get(column.type, field.type)
            assert pyarrow.types.is_dictionary(field.type) == (column.type == "text")
            seen.add(column.type)
    assert seen == {"integer", "number", "boolean", "text"}
    assert kernels_unit(trace) == {b"unit": b"ns"}


def kernels_unit(trace):
    return trace.kernels().to_arrow().schema.field("time_ns").metadata


def test_arrow_is_not_copied(trace):
    pyarrow = pytest.importorskip("pyarrow")
    numpy = pytest.importorskip("numpy")
    table = trace.kernels()
    first, second = pyarrow.table(table), pyarrow.table(table)
    for column in ("time_ns", "mean_ns", "flops"):
        one, other = (each[column].chunk(0).buffers()[1].address for each in (first, second))
        own = table._table.numpy_column(table.columns.index(column))[0]
        assert one == other == own.__array_interface__["data"][0]
    assert isinstance(own, numpy.ndarray) and not own.flags.writeable
    codes = first["kernel"].chunk(0).indices.buffers()[1].address
    assert codes == second["kernel"].chunk(0).indices.buffers()[1].address


def test_arrow_outlives_the_trace(path):
    pyarrow = pytest.importorskip("pyarrow")
    trace = ridge.open(path)
    arrow, expected = pyarrow.table(trace.tables.ops), trace.tables.ops.rows()
    trace.close()
    del trace
    assert [tuple(row.values()) for row in arrow.to_pylist()] == expected


def test_pandas_has_the_same_values(trace):
    pandas = pytest.importorskip("pandas")
    for table in every_table(trace):
        frame = table.to_pandas()
        assert list(frame.columns) == table.columns
        rows = [tuple(None if pandas.isna(value) else value for value in row) for row in frame.itertuples(index=False, name=None)]
        assert rows == table.rows(), table.name
    kernels = trace.kernels().to_pandas(categories=True)
    assert isinstance(kernels["kernel"].dtype, pandas.CategoricalDtype)
    assert list(kernels["kernel"]) == trace.kernels()["kernel"]


def test_a_pandas_frame_is_its_owners(trace):
    pytest.importorskip("pandas")
    for table, columns in ((trace.kernels(), ("time_ns", "mean_ns", "expected_ns", "kernel")), (trace.tables.events, ("ts_ns", "dur_ns", "name"))):
        before = table.rows()
        frame = table.to_pandas()
        for column in columns:
            value = "other" if isinstance(before[0][table.columns.index(column)], str) else 5
            frame.loc[0, column] = value
            assert frame.loc[0, column] == value
        frame[columns[0]] -= frame[columns[0]].min()
        assert table.rows() == before
        assert table.to_pandas().loc[0, columns[0]] == before[0][table.columns.index(columns[0])]


def test_polars_has_the_same_values(trace):
    polars = pytest.importorskip("polars")
    for table in every_table(trace):
        frame = table.to_polars()
        assert frame.columns == table.columns
        assert frame.rows() == table.rows(), table.name
    assert polars.DataFrame(trace.kernels()).height == len(trace.kernels())


def test_duckdb_reads_tables_by_name(trace):
    duckdb = pytest.importorskip("duckdb")
    ev = trace.tables.events
    counted = duckdb.sql("select count(*), count(dur_ns), sum(dur_ns) from ev where cat = 'kernel'").fetchall()
    times = [row["dur_ns"] for row in ev if row["cat"] == "kernel"]
    assert counted == [(len(times), len(times), sum(times))]
    kernels = trace.kernels()
    assert duckdb.sql("select sum(time_ns) from kernels").fetchall() == [(sum(kernels["time_ns"]),)]


def test_tables_of_the_trace(trace):
    assert set(trace.tables) == {row["name"] for row in ridge._tables.schema().values()} | {"kernel_launches"}
    ops = trace.tables.ops
    assert len(ops) == len(ops.rows()) > 1000
    some = ops.select("dur_ns", "name", first=10, count=5)
    assert some.columns == ["dur_ns", "name"]
    assert some.rows() == [(row["dur_ns"], row["name"]) for row in ops.to_dicts()[10:15]]
    assert ops["name"] == [row["name"] for row in ops]
    launches = trace.tables.kernel_launches
    assert len(launches) == sum(trace.kernels()["count"])
    assert "events" in repr(trace.tables) and "more rows" in repr(ops)
    with pytest.raises(AttributeError, match="did you mean ops"):
        trace.tables.opps
    with pytest.raises(ridge.UsageError, match="did you mean name"):
        ops.select("nam")


def test_tables_are_found_by_attribute_and_by_name(trace):
    assert len(trace.tables) == len(list(trace.tables)) == len(trace.tables.keys())
    assert "ops" in trace.tables and "opz" not in trace.tables
    assert sorted(dict(trace.tables)) == sorted(trace.tables)
    report = trace.gpu()
    assert copy.deepcopy(report).rows() == report.rows()
    assert "| device" in report.tables.idle.text("md")
    assert report.tables.idle is report.tables["idle"]
    assert "idle" in dir(report.tables)
    assert not hasattr(report.tables, "__nothing__")
    with pytest.raises(AttributeError, match="did you mean idle"):
        report.tables.idel


def test_any_bytes_of_a_name_become_text(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    event = '{"ph": "X", "cat": "cpu_op", "name": "%s", "pid": 1, "tid": 1, "ts": %d, "dur": 5}'
    lines = [event % ("good", 1), event % ("bad \x80 name", 10), event % ("caf\\u00e9", 20)]
    file = tmp_path / "bytes.json"
    file.write_bytes(('{"traceEvents": [%s]}' % ",".join(lines)).encode("latin-1"))
    trace = ridge.open(file)
    expected = ["good", "bad \ufffd name", "café"]
    assert trace.tables.ops["name"] == expected
    arrow = pyarrow.table(trace.tables.ops)
    arrow.validate(full=True)
    assert arrow["name"].to_pylist() == expected


def test_empty_tables_keep_their_columns(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    file = tmp_path / "host.json.gz"
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 5}
    file.write_bytes(gzip.compress(json.dumps({"traceEvents": [event]}).encode()))
    kernels = ridge.open(file).kernels()
    assert len(kernels) == 0 and kernels
    assert [d["code"] for d in kernels.diagnostics] == ["no_device_events"]
    assert kernels.to_arrow().column_names == list(kernels.to_pandas().columns) == kernels.to_polars().columns == kernels.columns
    assert pyarrow.types.is_int64(kernels.to_arrow().schema.field("time_ns").type)
    assert repr(kernels)
    assert "kernel" in kernels._repr_html_()


def test_threads_ask_at_once(path, fixtures):
    """Several threads on one trace, and several traces at once: the answers are those of one after the other."""
    others = [str(fixtures / name) for name in ("clean_tf32.json.gz", "fault_casts.json.gz")]
    names = ["kernels", "ops", "gpu", "findings", "categories", "summary", "whatif", "launches"]
    alone = {(p, name): getattr(ridge.open(p), name)().rows() for p in [path, *others] for name in names}
    opened = {p: ridge.open(p) for p in [path, *others]}
    wrong = []

    def ask(p, name):
        fresh = ridge.open(p)
        for trace in (opened[p], fresh):
            if getattr(trace, name)().rows() != alone[p, name]:
                wrong.append((p, name))
            if not trace.tables.events.to_dicts():
                wrong.append(p)

    threads = [threading.Thread(target=ask, args=key) for key in alone]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
