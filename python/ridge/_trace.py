"""Traces and scopes: every analysis of the catalog is a method, its parameters are keywords."""

import numbers
import os

from . import _arguments, _native
from ._errors import Error, GateError, UsageError
from ._table import Report
from ._tables import TraceTables


def open(path, *more, threads=0, max_bytes=0, cache_bytes=0, capture=None, named_files_only=False, progress=None):
    """Reads a trace, several, or a folder of them.

    path: a file (`.json`, `.json.gz`, `.json.zst`), a folder, or a list of such.
    threads: that work on one question; 0: one per core.
    max_bytes: most bytes of uncompressed JSON to read from one trace; 0: 256 GiB.
    cache_bytes: most bytes to keep of what is made of the traces; 0: four times what they take.
    capture: the trace of the capture of the CUDA graphs that this one replays; a list with several traces.
    named_files_only: read no kernel sources whose paths a trace tells; needed to serve to other machines.
    progress: a function of (phase, done, total); False: none. By default a line on a terminal, a bar in a notebook.

    Ctrl-C stops the reading. The traces are given back with `close()`, at the end of a `with`, or with the object.
    The traces of a folder are read when they are asked about: see `Folder`.
    """
    given = [*_paths(path), *(each for one in more for each in _paths(one))]
    captures = [] if capture is None else _paths(capture)
    from ._progress import shown

    def read(paths, **how):
        with shown(progress) as show:
            return _native.open(paths, threads=threads, max_bytes=max_bytes, cache_bytes=cache_bytes, named_files_only=named_files_only, progress=show, **how)

    paths = _native.expanded(given)
    if len(paths) > 1 and not captures and any(os.path.isdir(each) for each in given):
        from ._folder import Folder

        return Folder(read, paths, named_files_only)
    return Trace(read(given, captures=captures), paths, named_files_only)


def _paths(path):
    one = (str, bytes, os.PathLike)
    try:
        paths = [path] if isinstance(path, one) or hasattr(path, "read") else list(path)  # an open file would give its lines
    except TypeError:
        paths = [path]
    for each in paths:
        if not isinstance(each, one):
            raise UsageError(f"a trace is named by a path, not by {type(each).__name__}", hint='ridge.open("trace.json.gz"), or a list of paths')
    return [os.fsdecode(each) for each in paths]


def _printable(path):
    """The path without what cannot be printed: a name need not be text."""
    return os.fsencode(path).decode(errors="replace")


_CUT = {"from_": max, "to": min}


def _scaled(time, unit):
    return time if time is None or unit == 1.0 else time * unit


class _Questions:
    """What a trace and a part of it share: the analyses, the scopes, the pages. The methods of the catalog are added below."""

    _scope: dict = {}

    def _run(self, analysis, given, trace=None):
        info = _arguments.catalog()[analysis]
        if trace is None and len(self.paths) > 1 and info["fewest_traces"] < 2:
            raise UsageError(f"{analysis}() takes one trace, {len(self.paths)} are open", hint=f"t[0].{analysis}(), or each: for one in t: one.{analysis}()")
        texts = _arguments.as_texts(analysis, {**self._scope_of(info), **given})
        report = Report(self._answer(info, texts, trace))
        if report.gate_failed:
            error = GateError(_why_failed(report), code="gate_failed")
            error.report = report
            raise error
        return report

    # Scopes chain: each is the one before, narrowed.
    def step(self, first, last=None):
        """Only iteration `first`, or `first` to `last`: the number in ProfilerStep#, else the index from 0."""
        return self._narrowed(step=_arguments.steps_text(first if last is None else (first, last)))

    def on(self, *, gpu):
        """Only this device of the trace."""
        return self._narrowed(gpu=gpu)

    def between(self, first=None, last=None, *, ms=None, us=None, ns=None):
        """Only what starts within this time from the window's start: `between(ms=(3, 9))`, or two numbers in ms."""
        given = [(unit, pair) for unit, pair in ((1.0, ms), (1e-3, us), (1e-6, ns)) if pair is not None]
        if first is not None or last is not None:
            given.append((1.0, (first, last)))
        if len(given) != 1:
            raise UsageError("between() takes one pair of times", hint="between(ms=(3, 9))")
        unit, pair = given[0]
        try:
            start, end = pair
        except (TypeError, ValueError):
            raise UsageError("between() takes a pair of times", hint="between(ms=(3, 9)); None for an open end") from None
        for time in (start, end):
            if time is not None and (not isinstance(time, numbers.Real) or time != time):
                raise UsageError(f"between() takes numbers, not {'nan' if time != time else type(time).__name__}", hint="between(ms=(3, 9))")
        return self._narrowed(from_=_scaled(start, unit), to=_scaled(end, unit))

    def matching(self, expression):
        """Only names that match this regular expression."""
        return self._narrowed(filter=expression)

    def using(self, **settings):
        """With other peaks or settings for all that follows: `using(device="h100", clock_mhz=1755)`."""
        known = {_arguments.keyword(p) for info in _arguments.catalog().values() for p in info["parameters"]}
        for word in settings:
            if word not in known:
                raise UsageError(f"no analysis has a keyword '{word}'", hint=_native.did_you_mean(word, sorted(known)))
        # What can be told without a trace is told here: an unknown device, for one.
        for name, info in _arguments.catalog().items():
            own = {word: value for word, value in settings.items() if word.rstrip("_") in info["parameters"]}
            if info["needs_trace"] and own:
                _native.validate(name, _arguments.as_texts(name, own))
        return self._narrowed(**settings)

    def _narrowed(self, **more):
        """The scope with these too. Stretches of time are cut with those before; nothing else can be narrowed twice."""
        scope = dict(self._scope)
        for word, value in more.items():
            if value is None:
                continue
            before = scope.get(word, value)
            if word in _CUT:
                value = _CUT[word](before, value)
            elif before != value:
                raise UsageError(f"already narrowed to {word}={before}", hint="start from the whole trace")
            scope[word] = value
        start, end = scope.get("from_"), scope.get("to")
        if start is not None and end is not None and start > end:
            raise UsageError(f"nothing is left: from_={start} ms is after to={end} ms", hint="stretches of time are cut with those before")
        return Scope(self, scope)

    def _scope_of(self, info):
        """Of the scope what the analysis knows."""
        return {word: value for word, value in self._scope.items() if word.rstrip("_") in info["parameters"]}

    def _page_arguments(self):
        texts = {}
        for info in _arguments.catalog().values():
            if info["needs_trace"]:
                texts.update(_arguments.as_texts(info["name"], self._scope_of(info)))
        texts.pop("filter", None)  # what a page looks for is said on the page
        return texts

    def report(self, path):
        """Writes the viewer and its data into one HTML file, to send or to keep."""
        from . import _pages

        return _pages.write_report(self, path)

    def serve(self, *, port=0, host="127.0.0.1", open=False, wait=None):
        """Serves the viewer at a local URL. In a script it waits until Ctrl-C; in a notebook or a shell it returns at once with a
        handle that has `url` and `stop()`."""
        from . import _pages

        return _pages.serve(self, port, host, open, wait)

    def bench(self, **flags):
        """Runs the trace's longest calls alone on this machine's GPU and times them: `t.bench(top=5, configs=True)`. The flags are those of `ridge bench`."""
        from . import _bench

        if self._scope:
            raise UsageError("bench() takes the whole trace", hint="t.bench(kernel=NAME) or t.bench(top=5)")
        if len(self.paths) != 1:
            raise UsageError("bench() takes one trace", hint="t[0].bench()")
        return _bench.bench(self.paths[0], flags)

    def __reduce__(self):
        raise UsageError("an open trace cannot be pickled or copied", hint="give another process its path: ridge.open(path)")

    def timeline(self, height=700):
        """The viewer, inside the notebook and without a server."""
        from . import _pages

        return _pages.Timeline(self, height)


class Trace(_Questions):
    """One or more open traces. Made by `ridge.open`; safe to use from several threads at once."""

    def __init__(self, engine, paths, named_files_only=False):
        self._engine = engine
        self._named_files_only = named_files_only
        self.paths = tuple(paths)

    def _opened(self):
        """The engine with all of them."""
        if self._engine is None:
            raise Error("the trace is closed", code="closed", hint="open it again")
        return self._engine

    def _answer(self, info, texts, trace):
        return self._opened().run(info["name"], texts, trace)

    def _table(self, trace, name):
        return self._opened().trace_table(trace, name)

    @property
    def tables(self):
        """The trace's own tables (docs/schema.md), made when asked for: `t.tables.ops`."""
        if len(self.paths) > 1:
            raise UsageError(f"tables are those of one trace, {len(self.paths)} are open", hint="t[0].tables.ops")
        return TraceTables(self, 0)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        """One of several traces; a slice gives a list of them."""
        if isinstance(index, slice):
            return [OneOf(self, i) for i in range(*index.indices(len(self.paths)))]
        if not isinstance(index, int):
            raise UsageError(f"a trace has a number, not {type(index).__name__}", hint="t[0]; columns and rows are those of an answer: t.kernels()[0]")
        if not -len(self.paths) <= index < len(self.paths):
            raise IndexError(f"no trace {index}: there are {len(self.paths)}")
        return OneOf(self, index % len(self.paths))

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def close(self):
        """Gives the memory back. What was made of the traces (tables, reports) stays."""
        self._engine = None
        _native.give_memory_back()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self, give_back=_native.give_memory_back):
        if getattr(self, "_engine", None) is not None:
            self._engine = None
            give_back()

    def __repr__(self):
        state = "closed " if self._engine is None else ""
        return f"<{state}ridge.Trace {', '.join(map(_printable, self.paths))}>"


class Scope(_Questions):
    """A part of a trace: steps, a device, a stretch of time. It asks the same questions, and narrows further."""

    def __init__(self, of, scope):
        self._of = of
        self._scope = scope

    def _opened(self):
        return self._of._opened()

    @property
    def paths(self):
        return self._of.paths

    @property
    def _named_files_only(self):
        return self._of._named_files_only

    def _run(self, analysis, given, trace=None):
        report = self._of._run(analysis, {**self._scope_of(_arguments.catalog()[analysis]), **given}, trace)
        if analysis == "sql" and self._scope:
            self._refuse_whole_tables(report)
        return report

    def _refuse_whole_tables(self, report):
        """A query of a part of a trace must not answer for the whole of it."""
        for each in report.diagnostics:
            if each["code"] == "whole_trace":
                words = ", ".join(f"{name}={value}" for name, value in self._scope.items())
                raise UsageError(f"{words} does not hold for this query: {each['message']}", hint="t.sql(...) of the whole trace, with a WHERE on start_ns, or tables of analyses alone")

    @property
    def tables(self):
        raise UsageError("tables are those of the whole trace", hint="t.tables.ops, and filter by start_ns or track")

    def __repr__(self):
        words = ", ".join(f"{name.rstrip('_')}={value}" for name, value in self._scope.items())
        return f"<ridge.Scope {words} of {self._of!r}>"


class OneOf(Scope):
    """One of several open traces."""

    def __init__(self, of, index):
        super().__init__(of, {})
        self._index = index

    def _run(self, analysis, given, trace=None):
        return super()._run(analysis, given, self._index)

    @property
    def tables(self):
        return TraceTables(self._of, self._index)

    @property
    def paths(self):
        return (self._of.paths[self._index],)

    def __repr__(self):
        return f"<ridge.Trace {_printable(self.paths[0])}>"


def _why_failed(report):
    said = [d["message"] for d in report.diagnostics if "gate" in d["code"] or d["severity"] == "error"]
    return "\n".join(said) or f"a gate of {report.command} failed"


def diff(before, after, *more, **given):
    """What changed between two or more traces, call by call. Takes paths or open traces. See `help(ridge.Trace.diff)` for keywords.

    A gate that is asked for (`fail_above="5%"`) and fails raises GateError, with the report as its `report`."""
    traces = [before, after, *more]
    jobs = [_job_path(each) for each in traces]
    if all(jobs):
        if more or given:
            raise UsageError("diff() of jobs compares two, and takes no keywords", hint="of one rank: give the two traces")
        with open(jobs[1]) as together:
            return together.ranks(before=jobs[0])
    opened = [each for each in traces if isinstance(each, _Questions)]
    if any(each._scope for each in opened):
        raise UsageError("diff() compares whole traces", hint="give step=, from_= or to= to diff()")
    paths = [path for each in traces for path in (each.paths if isinstance(each, _Questions) else _paths(each))]
    with open(paths) as together:
        return together.diff(**given)


def _job_path(given):
    """Where the traces or digests of a whole job lie; None: it is not a job."""
    if isinstance(given, _Questions):
        given = given.digests if hasattr(given, "digests") else None
    if not isinstance(given, (str, bytes, os.PathLike)):
        return None
    path = os.fsdecode(given)
    if path.endswith(".digest"):
        return path
    return path if os.path.isdir(path) and len(_native.expanded([path])) > 1 else None


def devices(**given):
    """Known devices: their peaks, and the source of each figure."""
    return Report(_native.without_trace().run("devices", _arguments.as_texts("devices", given)))


def predict(**given):
    """What each op call should take on a device: `ridge.predict(ops="calls.jsonl", device="h200")`."""
    return Report(_native.without_trace().run("predict", _arguments.as_texts("predict", given)))


def analyses():
    """The catalog: name, description and parameters of every analysis."""
    return _native.analyses()


def docstring(info):
    """What help() shows of an analysis."""
    lines = [info["description"][:1].upper() + info["description"][1:] + ".", ""]
    for name, parameter in info["parameters"].items():
        lines.append(f"{_arguments.keyword(name)}: {parameter['description']}")
    return "\n".join(lines)


def _method(info):
    name = info["name"]
    operand = info["operand"]

    def ask(self, *words, **given):
        if len(words) > (1 if operand else 0):
            raise UsageError(f"{name}() takes keywords", hint=f"see help(ridge.Trace.{name})")
        if words:
            given[operand] = words[0]
        return self._run(name, given)

    words = [_arguments.keyword(each) + "=None" for each in info["parameters"]]
    first = [_arguments.keyword(operand) + "=None"] if operand else []
    others = [each for each in words if each not in first]
    made = {}
    exec(f"def {name}({', '.join(['self', *first, *(['*'] if others else []), *others])}): pass", made)
    ask.__name__ = name
    ask.__qualname__ = f"Trace.{name}"
    ask.__doc__ = docstring(info)
    ask.__wrapped__ = made[name]  # whose signature help() and editors show; inspect itself takes longer to load than all of this
    return ask


for _info in _arguments.catalog().values():
    if _info["needs_trace"]:
        setattr(_Questions, _info["name"], _method(_info))
del _info
