"""A trace's tables as files: Arrow by the engine itself, Parquet by pyarrow."""

import os

from . import _native, _trace
from ._errors import Error, UsageError
from ._tables import schema

_ROWS = 1 << 20  # of a batch


def export(trace, output, *, tables=None, format=None, force=False, progress=None):
    """Writes a trace's tables (docs/schema.md) and gives the paths written.

    trace: a path, or an open trace.
    output: a folder, which gets one file per table; or a file that ends with .arrow or .parquet, for one table.
    tables: names of the tables; all unless told.
    format: "arrow", or "parquet" (pip install "ridge[parquet]"); by the ending of `output`, else Arrow.
    force: replace files that are there.
    """
    trace = _whole(trace)
    output = os.fsdecode(output)
    named = [tables] if isinstance(tables, str) else list(tables or [])
    format = format or ("parquet" if output.endswith(".parquet") else "arrow")
    if format not in ("arrow", "parquet"):
        raise UsageError(f"no format '{format}'", hint='"arrow" or "parquet"')
    for name in named:
        if name not in schema():
            hint = "ask for it: t.tables.kernel_launches.to_arrow()" if name == "kernel_launches" else _native.did_you_mean(name, list(schema()))
            raise UsageError(f"the file has no table '{name}'", hint=hint)
    single = output.endswith("." + format)
    if single and len(named) != 1:
        raise UsageError(f"a {format} file holds one table", where=output, hint="name it with tables=, or give a folder")
    names = named or list(schema())
    paths = [output] if single else [os.path.join(output, f"{name}.{format}") for name in names]
    there = [path for path in paths if os.path.isfile(path)]
    if there and not force:
        raise Error("there is such a file already", code="cannot_write", where=there[0], hint="force=True replaces it")
    if format == "arrow":
        _arrow(trace, output, named, progress)
    else:
        _parquet(trace, names, paths, progress)
    return paths


def _arrow(trace, output, names, progress):
    from ._progress import shown

    path = trace if isinstance(trace, str) else _only_path(trace)
    with shown(progress) as show:
        arguments = {"force": "true", **({"table": "\x1f".join(names)} if names else {})}
        _native.rewrite("export", [path], output, arguments, progress=show)


def _whole(trace):
    """A path as a str, or the open trace; a part of one is refused, since tables are those of the whole."""
    if not isinstance(trace, _trace._Questions):
        paths = _trace._paths(trace)
        if len(paths) != 1:
            raise UsageError(f"export() takes one trace, not {len(paths)}", hint="export each into a folder of its own")
        return paths[0]
    if trace._scope:
        raise UsageError("export() writes the tables of the whole trace", hint="ridge.export(t, ...); or to_arrow() of an answer: t.step(2).kernels().to_arrow()")
    return trace


def _only_path(trace):
    if len(trace.paths) != 1:
        raise UsageError("export() takes one trace", hint="export each: for one in t: ridge.export(one, ...)")
    return trace.paths[0]


def _parquet(trace, names, paths, progress):
    _pyarrow()
    opened = _trace.open(trace, progress=progress) if isinstance(trace, str) else trace
    _only_path(opened)
    for name, path in zip(names, paths):
        table = opened.tables[name]
        _write(lambda row, table=table: table.select(first=row, count=_ROWS), len(table), path)


def write_parquet(table, path):
    """A table that is whole in memory, as a Parquet file; gives the path."""
    _write(lambda row: table, min(len(table), 1), path)
    return path


def _pyarrow():
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as missing:
        raise ImportError('Parquet needs pyarrow: pip install "ridge[parquet]"') from missing
    return pyarrow


def _write(part_from, rows, path):
    """Part after part, beside its place, and renamed when whole."""
    pyarrow = _pyarrow()
    beside = f"{path}.{os.getpid()}.tmp"
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        first = pyarrow.table(part_from(0))
        plain = pyarrow.schema([_plain(pyarrow, field) for field in first.schema])
        with pyarrow.parquet.ParquetWriter(beside, plain, compression="zstd") as writer:
            writer.write_table(first.cast(plain))
            for row in range(_ROWS, rows, _ROWS):
                writer.write_table(pyarrow.table(part_from(row)).cast(plain))
        os.replace(beside, path)
    except OSError as failed:
        raise Error(f"cannot write: {failed.strerror}", code="cannot_write", where=path) from failed
    finally:
        if os.path.exists(beside):
            os.unlink(beside)


def _plain(pyarrow, field):
    """Parquet has dictionaries of its own: texts are texts to its readers."""
    return field.with_type(pyarrow.string()) if pyarrow.types.is_dictionary(field.type) else field
