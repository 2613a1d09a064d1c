"""The tables of a trace as its schema has them, each made when it is asked for."""

import functools

from . import _native
from ._errors import NoSuchName, UsageError
from ._table import Table, _Rows, Column, no_column


@functools.lru_cache(maxsize=None)
def schema():
    """The tables by name."""
    return {row["name"]: row for row in _native.trace_tables()}


class TraceTables:
    """`t.tables`: the trace's own tables as attributes. `kernel_launches` is `t.kernels(by="launch")`: each launch with its op and costs."""

    def __init__(self, trace, index):
        self._trace = trace
        self._index = index

    @property
    def kernel_launches(self):
        """A launch of a kernel, with its op, FLOPs and bytes: `t.kernels(by="launch")`."""
        report = self._trace._run("kernels", {"by": "launch"}, self._index)
        return next(iter(report.tables.values()))

    def __getattr__(self, name):  # of names that no table has
        if name.startswith("__"):
            raise AttributeError(name)
        raise NoSuchName(f"a trace has no table '{name}'", hint=_native.did_you_mean(name, list(self)) or "list(t.tables) has their names")

    def __getitem__(self, name):
        if not isinstance(name, str):
            raise UsageError(f"a table has a name, not {type(name).__name__}", hint='t.tables["ops"]')
        return getattr(self, name)

    def __iter__(self):
        return iter(self.keys())

    def __len__(self):
        return len(self.keys())

    def __contains__(self, name):
        return name in self.keys()

    def keys(self):
        """The tables' names."""
        return [*schema(), "kernel_launches"]

    def __dir__(self):
        return self.keys()

    def __repr__(self):
        width = max(len(name) for name in self)
        lines = [f"{name:{width}}  {schema()[name]['description'].splitlines()[0]}" for name in schema()]
        lines.append(f"{'kernel_launches':{width}}  A launch of a kernel, with its op, FLOPs and bytes.")
        return "\n".join(lines)


def _table(info):
    """The property that makes a table of the schema."""
    name = info["name"]
    return property(lambda self: TraceTable(self._trace._table(self._index, name), info), doc=info["description"])


for _info in schema().values():
    setattr(TraceTables, _info["name"], _table(_info))
del _info


class TraceTable(_Rows):
    """One table of a trace. Nothing of it is made before it is asked for; then it is kept."""

    def __init__(self, native, info):
        self._native = native
        self._info = info
        self.name = info["name"]
        self.__doc__ = info["description"]

    def __len__(self):
        return len(self._native)

    @property
    def schema(self):
        return [Column(name, kind, unit, "plain") for name, kind, unit, _ in self._info["columns"]]

    @property
    def columns(self):
        return [each[0] for each in self._info["columns"]]

    @functools.cached_property
    def _table(self):
        return self._native.read(list(range(len(self.columns))), 0, len(self))

    def select(self, *columns, first=0, count=None):
        """Only these columns, and only `count` rows from `first` on: quicker and smaller than the whole."""
        names = self.columns
        for column in columns:
            if column not in names:
                raise no_column(self.name, column, names)
        if first < 0 or (count is not None and count < 0):
            raise UsageError("first and count are not negative", hint="select(first=1000, count=500)")
        places = [names.index(column) for column in columns] or list(range(len(names)))
        return Table(self._native.read(places, first, len(self) if count is None else count))

    def __getitem__(self, key):
        if isinstance(key, str) and key in self.columns:
            return self.select(key)._table.column(0)
        if isinstance(key, slice) and key.step in (None, 1):  # no more of it than is asked for
            first, last, _ = key.indices(len(self))
            return self.select(first=first, count=max(last - first, 0)).to_dicts()
        return super().__getitem__(key)

    def __repr__(self):
        shown = self.select(count=20)
        more = len(self) - len(shown)
        return repr(shown) + (f"\n[{more:,} more rows]" if more > 0 else "")

    def _repr_html_(self):
        from . import _html

        return _html.table(self)
