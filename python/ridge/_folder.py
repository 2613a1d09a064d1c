"""The traces of a folder, of which only what is asked about is held."""

from . import _native
from ._errors import Error
from ._trace import Trace


class Folder(Trace):
    """The traces of a folder, read when they are asked about: `t[3].kernels()` holds that one, until another is asked about, and `t.ranks()` digests alone,
    whatever their number. What shows or compares all of them (`serve()`, `report()`, `diff()`) opens all, and they stay open."""

    def __init__(self, read, paths, named_files_only=False):
        super().__init__(None, paths, named_files_only)
        self._read = read
        self._one = None  # (number, engine): the trace that was asked about last
        self._digests = {}  # with findings or without: engine

    def _opened(self):
        if self._engine is None:
            self._engine = self._reader()(list(self.paths))
            self._one = None
        return self._engine

    def _reader(self):
        if self._read is None:
            raise Error("the folder is closed", code="closed", hint="open it again")
        return self._read

    def _answer(self, info, texts, trace):
        if self._engine is None and trace is not None:
            return self._alone(trace).run(info["name"], texts, 0)
        if self._engine is None and info["whole_job"]:
            return self._as_digests("findings" in texts).run(info["name"], texts, None)
        return super()._answer(info, texts, trace)

    def _table(self, trace, name):
        return self._alone(trace).trace_table(0, name) if self._engine is None else super()._table(trace, name)

    def _alone(self, trace):
        held = self._one
        if held is None or held[0] != trace:
            self._one = None  # one at a time
            self._one = held = trace, self._reader()([self.paths[trace]])
        return held[1]

    def _as_digests(self, findings):
        if findings not in self._digests:
            self._digests[findings] = self._reader()(list(self.paths), digests_only=True, digest_findings=findings)
        return self._digests[findings]

    def close(self):
        self._read = self._one = None
        self._digests = {}
        super().close()

    def __del__(self, give_back=_native.give_memory_back):
        if getattr(self, "_read", None) is not None:
            self._read = self._one = self._engine = None
            self._digests = {}
            give_back()

    def __repr__(self):
        return f"<{'closed ' if self._read is None else ''}ridge.Folder of {len(self.paths)} traces>"
