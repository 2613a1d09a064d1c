"""Tables and reports: what every question answers with. Values are in base units (ns, bytes, FLOP), percent as 0-100, unknown is None."""

import collections
import operator

from . import _native
from ._errors import NoSuchName, UsageError, in_python

Column = collections.namedtuple("Column", ["name", "type", "unit", "role"])
Column.__doc__ = "A column: its name, type (text, integer, number, boolean), unit ('ns', 'bytes', ..., or '') and role."

_SHOWN_ROWS = 20


class _Rows:
    """What a table, a report's first table and a table of a trace have in common. `_table` is the native one."""

    @property
    def _table(self):
        raise NotImplementedError

    @property
    def schema(self):
        """The columns, in order."""
        return [Column(*each) for each in self._table.columns]

    @property
    def columns(self):
        """The columns' names, in order."""
        return [each[0] for each in self._table.columns]

    @property
    def total(self):
        """The TOTAL row as a dict, or None. It is never among the rows."""
        total = self._table.total
        return None if total is None else dict(zip(self.columns, total))

    @property
    def parent(self):
        """The column that holds the parent row's key, where the table is a tree."""
        return self._table.parent

    def __len__(self):
        return len(self._table)

    def __bool__(self):
        return True  # a table without rows is an answer

    def __iter__(self):
        return iter(self.to_dicts())

    def rows(self):
        """The rows, as tuples in the columns' order."""
        return self._table.rows(0, len(self._table))

    def to_dicts(self):
        """The rows, as dicts."""
        names = self.columns
        return [dict(zip(names, row)) for row in self.rows()]

    def __getitem__(self, key):
        """A column by its name, as a list; a row by its number, as a dict; a slice of rows, as a list of dicts."""
        names = self.columns
        if isinstance(key, str):
            if key not in names:
                raise no_column(getattr(self, "name", "the table"), key, names)
            return self._table.column(names.index(key))
        size = len(self)
        if isinstance(key, slice):
            first, last, step = key.indices(size)
            if step == 1:
                return [dict(zip(names, row)) for row in self._table.rows(first, max(last - first, 0))]
            return [self[i] for i in range(first, last, step)]
        try:
            row = operator.index(key)
        except TypeError:
            raise UsageError(f"a column has a name and a row a number, not {type(key).__name__}", hint='report["time_ns"], report[3], report[:10]; several columns: report.to_pandas()[["kernel", "time_ns"]]') from None
        if not -size <= row < size:
            raise IndexError(f"no row {row}: there are {size}")
        return dict(zip(names, self._table.rows(row % size, 1)[0]))

    def __arrow_c_stream__(self, requested_schema=None):
        """Arrow's PyCapsule interface: pyarrow, polars, DuckDB and others read the table where it lies."""
        return self._table.arrow_stream(requested_schema)

    def __arrow_c_schema__(self):
        return self._table.arrow_schema()

    def to_arrow(self):
        """A pyarrow.Table over the same memory. Texts are dictionaries."""
        return _needed("pyarrow", "to_arrow").table(self)

    def to_polars(self):
        """A polars.DataFrame; texts are polars.String."""
        polars = _needed("polars", "to_polars")
        frame = polars.DataFrame(self)
        texts = [column.name for column in self.schema if column.type == "text"]
        return frame.with_columns(polars.col(texts).cast(polars.String)) if texts else frame

    def to_pandas(self, categories=False):
        """A pandas.DataFrame of its own, to write into. Unknown is what pandas.isna() tells: numbers with unknown values are of pandas'
        nullable types (pandas.NA), others of numpy's. Needs no pyarrow.

        categories: texts as pandas.Categorical, which is quick and small where they repeat."""
        pandas = _needed("pandas", "to_pandas")
        from ._pandas import frame_of

        return frame_of(pandas, self._table, self.schema, categories)

    def __reduce__(self):
        what = "report" if isinstance(self, Report) else "table"
        raise UsageError(f"a {what} cannot be pickled", hint="to_dicts(), to_pandas(), to_polars() or to_arrow() can")

    def __copy__(self):
        return self  # nothing of it changes

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return table_text(self._table)

    def _repr_html_(self):
        from . import _html

        return _html.table(self)


class Table(_Rows):
    """One table of a report, or one of a trace's own."""

    def __init__(self, table):
        self._held = table

    @property
    def _table(self):
        return self._held

    @property
    def name(self):
        return self._held.name

    def text(self, format="table", *, sort="", limit=None, wide=False):
        """The table as the command line prints it: see `Report.text`."""
        return _text(_native.alone(self._held, 0), format, sort, limit, wide)


class ReportTables(dict):
    """The tables of a report by name, as keys and as attributes."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __dir__(self):
        return [*super().__dir__(), *self]

    def __missing__(self, name):
        raise NoSuchName(f"the report has no table '{name}'", hint=_native.did_you_mean(str(name), list(self)) or f"its tables: {', '.join(self)}")


class Report(_Rows):
    """What an analysis answers: tables, curves, diagnostics. Used as a table, it is its first one."""

    def __init__(self, report):
        self._report = report
        self.tables = ReportTables((table.name, Table(table)) for table in report.tables)

    @property
    def _table(self):
        if not self.tables:
            raise UsageError(f"{self.command} has no table")
        return next(iter(self.tables.values()))._held

    @property
    def command(self):
        """The analysis."""
        return self._report.command

    @property
    def traces(self):
        """Paths of the traces that it is about."""
        return [path for path, _ in self._report.traces]

    @property
    def series(self):
        """Curves over time: name -> [(ns from the window's start, value), ...]."""
        return {name: points for name, _, points in self._report.series}

    @property
    def diagnostics(self):
        """What to know of the answer: dicts of code, count, message, severity."""
        return [{**each, "message": in_python(each["message"])} for each in self._report.diagnostics]

    @property
    def headline(self):
        """The answer in a sentence, or ''."""
        return self._report.headline

    @property
    def next(self):
        """A command worth running next, or ''."""
        return self._report.next

    @property
    def gate_failed(self):
        return self._report.gate_failed

    def text(self, format="table", *, sort="", limit=None, wide=False):
        """The report as the command line prints it: table, json, csv, md or svg. `limit`: rows per table, 0 for all; 20 unless told for
        table and md. `wide`: all columns, not only those that matter most."""
        return _text(self._report, format, sort, limit, wide)

    def svg(self):
        """The report's picture as SVG, or None where it has none."""
        return self._report.text("svg") if self._report.plots else None

    def __repr__(self):
        return _without_flags(self.text())

    def _repr_html_(self):
        from . import _html

        return _html.report(self)


def no_column(table, name, names):
    return NoSuchName(f"{table} has no column '{name}'", hint=_native.did_you_mean(name, names) or f"columns: {', '.join(names)}")


def table_text(table):
    """A table as text: its first rows, and how many more there are."""
    text = _native.alone(table, _SHOWN_ROWS).text("table", fold=False, wide=False)
    more = len(table) - _SHOWN_ROWS
    return _without_flags(text) + (f"\n[{more:,} more rows]" if more > 0 else "")


def _text(report, format, sort, limit, wide):
    people = format in ("table", "md")
    limit = (_SHOWN_ROWS if people else 0) if limit is None else limit
    return report.text(format, sort=sort, limit=limit, fold=people, wide=wide)


def _without_flags(text):
    return text.rstrip("\n").replace("(--wide shows ", "(text(wide=True) shows ")


def _needed(module, method):
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as missing:
        raise ImportError(f"{method}() needs {module}: pip install {module}") from missing
