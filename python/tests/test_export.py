"""Tables as files: Arrow that the engine writes and pyarrow reads, Parquet by pyarrow; the same rows as in memory."""

import os
import subprocess

import pytest

import ridge


def arrow_rows(path):
    pyarrow = pytest.importorskip("pyarrow")
    with pyarrow.memory_map(str(path)) as source:
        table = pyarrow.ipc.open_file(source).read_all()
        table.validate(full=True)
        return table, [tuple(row.values()) for row in table.to_pylist()]


def in_order(name, rows):
    """Kinds come in the order in which the reader's threads met them: another one each time that a trace is read."""
    return sorted(rows, key=repr) if name == "kinds" else rows


def test_a_folder_gets_every_table(trace, path, binary, tmp_path):
    subprocess.run([binary, "export", path, str(tmp_path / "out")], check=True)
    assert sorted(os.listdir(tmp_path / "out")) == sorted(f"{name}.arrow" for name in trace.tables if name != "kernel_launches")
    for name in trace.tables:
        if name == "kernel_launches":
            continue
        table, rows = arrow_rows(tmp_path / "out" / f"{name}.arrow")
        assert in_order(name, rows) == in_order(name, trace.tables[name].rows()), name
        assert table.column_names == trace.tables[name].columns
        for column in trace.tables[name].schema:
            unit = (table.schema.field(column.name).metadata or {}).get(b"unit", b"").decode()
            assert unit in (column.unit, ""), (name, column)
    assert arrow_rows(tmp_path / "out" / "ops.arrow")[0].schema.field("dur_ns").metadata == {b"unit": b"ns"}


def test_polars_and_duckdb_read_the_file(trace, path, binary, tmp_path):
    polars = pytest.importorskip("polars")
    file = tmp_path / "ops.arrow"
    subprocess.run([binary, "export", path, str(file), "--table", "ops"], check=True)
    frame = polars.read_ipc(file)
    assert frame.height == len(trace.tables.ops)
    assert frame["name"].cast(polars.String).to_list() == trace.tables.ops["name"]
    assert frame["dur_ns"].to_list() == trace.tables.ops["dur_ns"]


def test_from_python(trace, path, tmp_path):
    written = ridge.export(trace, tmp_path / "two", tables=["ops", "tracks"])
    assert written == [str(tmp_path / "two" / "ops.arrow"), str(tmp_path / "two" / "tracks.arrow")]
    assert arrow_rows(written[0])[1] == trace.tables.ops.rows()
    assert ridge.export(path, tmp_path / "k.arrow", tables="kinds") == [str(tmp_path / "k.arrow")]
    assert in_order("kinds", arrow_rows(tmp_path / "k.arrow")[1]) == in_order("kinds", trace.tables.kinds.rows())


def test_parquet(trace, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    for path in ridge.export(trace, tmp_path / "out", format="parquet"):
        name = os.path.basename(path).removesuffix(".parquet")
        table = parquet.read_table(path)
        assert [tuple(row.values()) for row in table.to_pylist()] == trace.tables[name].rows(), name
    ridge.export(trace, tmp_path / "ops.parquet", tables=["ops"])
    assert parquet.read_table(tmp_path / "ops.parquet").num_rows == len(trace.tables.ops)
    assert sorted(os.listdir(tmp_path)) == ["ops.parquet", "out"]  # nothing unfinished stays


def test_what_cannot_be_written_is_said(trace, path, binary, tmp_path):
    for call, said in (
        (lambda: ridge.export(trace, tmp_path / "x.arrow"), "holds one table"),
        (lambda: ridge.export(trace, tmp_path, tables=["opps"]), "did you mean ops"),
        (lambda: ridge.export(trace, tmp_path, format="csv"), "no format"),
    ):
        with pytest.raises(ridge.UsageError, match=said):
            call()
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(ridge.Error) as failed:
        ridge.export(trace, blocked / "out")
    assert failed.value.code == "cannot_write"
    done = subprocess.run([binary, "export", path, str(tmp_path / "x.arrow")], capture_output=True, text=True)
    assert done.returncode == 2 and "--table" in done.stderr
    done = subprocess.run([binary, "export", path, str(tmp_path), "--table", "opps"], capture_output=True, text=True)
    assert done.returncode == 2 and "did you mean ops" in done.stderr
    assert os.listdir(tmp_path) == ["file"]


def test_files_that_are_there_stay(trace, path, binary, tmp_path):
    for name, write in (
        ("ops.arrow", lambda force: ridge.export(trace, tmp_path / "ops.arrow", tables="ops", force=force)),
        ("out/kinds.arrow", lambda force: ridge.export(trace, tmp_path / "out", tables="kinds", force=force)),
        ("ops.parquet", lambda force: ridge.export(trace, tmp_path / "ops.parquet", tables="ops", force=force)),
    ):
        write(False)
        (tmp_path / name).write_text("mine")
        with pytest.raises(ridge.Error, match="already") as refused:
            write(False)
        assert (refused.value.code, refused.value.hint) == ("cannot_write", "force=True replaces it")
        assert (tmp_path / name).read_text() == "mine"
        write(True)
        assert (tmp_path / name).stat().st_size > 100
    words = [binary, "export", path, str(tmp_path / "ops.arrow"), "--table", "ops"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 1 and "already" in done.stderr and "--force" in done.stderr
    assert subprocess.run([*words, "--force"]).returncode == 0


def test_the_command_makes_no_folder_of_a_files_name(path, binary, tmp_path):
    for name in ("x.parquet", "x.csv", "x.feather"):
        done = subprocess.run([binary, "export", path, str(tmp_path / name)], capture_output=True, text=True)
        assert done.returncode == 2 and "writes Arrow files" in done.stderr and ".arrow" in done.stderr
    assert os.listdir(tmp_path) == []


def test_what_is_no_whole_trace_is_refused(trace, path, tmp_path):
    with pytest.raises(ridge.UsageError, match="by a path, not by int"):
        ridge.export(3, tmp_path / "out")
    with pytest.raises(ridge.UsageError, match="takes one trace, not 2"):
        ridge.export([path, path], tmp_path / "out")
    for part in (trace.step(1), trace.on(gpu=0).between(ms=(1, 2)), trace[0].step(1)):
        for format in ("arrow", "parquet"):
            with pytest.raises(ridge.UsageError, match="of the whole trace"):
                ridge.export(part, tmp_path / "out", format=format)
    with pytest.raises(ridge.UsageError, match="kernel_launches.to_arrow"):
        ridge.export(trace, tmp_path / "out", tables="kernel_launches")
    assert not (tmp_path / "out").exists()
    assert ridge.export(trace[0], tmp_path / "out", tables="kinds") == ridge.export(path.encode(), tmp_path / "out", tables=["kinds"], force=True)
