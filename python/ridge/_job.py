"""The ranks of a whole job: each trace is reduced to a digest where it lies, and the questions are asked of the digests."""

import collections
import concurrent.futures
import os
import tempfile
import warnings

from . import _native, _stores
from ._errors import Error, ReadError, UsageError
from ._trace import Trace, _paths

Source = collections.namedtuple("Source", "place size node")  # a trace; its bytes, or None; the only node that has it, or None
FailedTrace = collections.namedtuple("FailedTrace", "place why")
ON = ("threads", "ray")


def job(path, *more, on="threads", digests=None, threads=0, max_bytes=0, storage=None, storage_options=None, address=None, retries=3, progress=None):
    """Reads the traces of a job's ranks and gives a `Job`, which answers `ranks()`.

    path: a folder, a file, or a list of such; of this machine, or a URL that obstore or fsspec reads (s3://, gs://, az://, memory://, ...).
    on: "threads" of this machine, or "ray": one task a rank, on the nodes of a cluster (pip install "ridge[ray]").
    digests: a file that keeps the digests; they are read again like traces. Without, they are gone with the job.
    threads: how many traces are read at once here; 0: one per core.
    max_bytes: most bytes of uncompressed JSON to read from one trace; 0: 256 GiB.
    storage: "obstore" or "fsspec"; the first that is there, unless told. storage_options: what it is opened with.
    address: of the Ray cluster; unless told, the one that is running, else one of this machine alone.
    retries: how often a trace is tried again whose task, node or store failed.
    progress: a function of (phase, done, total); False: none.

    A trace that cannot be read is left out and said, as a warning and in `failed`; if none can be read it is an error.
    """
    if on not in ON:
        raise UsageError(f"no way to run on '{on}'", hint=" or ".join(f'"{name}"' for name in ON))
    places = [*_paths(path), *(each for one in more for each in _paths(one))]
    options = {"max_bytes": max_bytes, "storage": storage, "storage_options": storage_options}
    kept = None
    if digests is None:
        kept = tempfile.TemporaryDirectory(prefix="ridge-job-")
        digests = os.path.join(kept.name, "job.digest")
    else:
        digests = os.fsdecode(digests)
    from ._progress import shown

    beside = f"{digests}.{os.getpid()}.tmp"
    try:
        with shown(progress, counts=True) as show, open(beside, "wb") as file:
            if on == "ray":
                from . import _cluster

                failed, made = _cluster.run(places, file, options, address=address, retries=retries, progress=show)
            else:
                failed, made = _run(places, file, options, threads or os.cpu_count() or 1, retries, show)
        if not made:
            raise ReadError(f"none of {len(failed)} traces can be read: {failed[0].why}", code="cannot_open", where=failed[0].place)
        os.replace(beside, digests)
    except OSError as error:
        raise Error(f"cannot write: {error.strerror}", code="cannot_write", where=digests) from error
    finally:
        if os.path.exists(beside):
            os.unlink(beside)
    for each in failed:
        warnings.warn(f"left out: {each.place}: {each.why}", stacklevel=2)
    return Job(_native.open([digests], threads=threads), [digests], failed, kept)


class Job(Trace):
    """The ranks of a job, as digests. `ranks()` says which are slow, why, and what it costs."""

    def __init__(self, engine, paths, failed, kept):
        super().__init__(engine, paths)
        self.failed = tuple(failed)
        self._kept = kept

    @property
    def digests(self):
        """The file of digests; `ridge ranks FILE` and `ridge.open(FILE)` read it."""
        return self.paths[0]

    def to_parquet(self, folder):
        """Writes what the digests hold as Parquet, one file a table, for DuckDB, Spark or pandas; gives the paths."""
        return to_parquet(self.digests, folder)

    def __repr__(self):
        return f"<ridge.Job {self.digests}>"


def to_parquet(digests, folder):
    """The tables of a file of digests (ranks, groups, steps, collectives, kernels, ops, intervals) as Parquet files in a folder; gives the paths."""
    from ._export import write_parquet
    from ._table import Table

    tables = [Table(each) for each in _native.digest_tables([os.fsdecode(digests)])]
    return [write_parquet(table, os.path.join(os.fsdecode(folder), f"{table.name}.parquet")) for table in tables]


def sources_here(places, options):
    """What the places name, as this machine sees it."""
    found = []
    for place in places:
        path = _stores.local_path(place)
        if path is None:
            found += [Source(where, size, None) for where, size in _stores.listed(place, options["storage"], options["storage_options"])]
        else:
            found += [Source(each, _size(each), None) for each in _native.expanded([path])]
    return found


def _size(path):
    try:
        return os.stat(path).st_size
    except OSError:
        return None


def digest_of(source, options):
    """The bytes of one digest. A place that cannot be reached raises FetchError, a trace that cannot be read an Error of ours."""
    with _stores.brought_here(source.place, options["storage"], options["storage_options"]) as path:
        if path.endswith(".digest"):
            try:
                with open(path, "rb") as file:
                    return file.read()
            except OSError as error:
                raise ReadError(f"cannot open: {error.strerror}", code="cannot_open", where=path) from error
        return _native.digest(path, name=source.place, max_bytes=options["max_bytes"])


def _run(places, file, options, threads, retries, show):
    """On the threads of this machine: no more digests wait to be written than traces are read at once."""
    sources = sources_here(places, options)
    failed, made, waiting = [], 0, collections.deque()
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        left = iter(sources)
        done = 0
        while True:
            while len(waiting) < 2 * threads and (source := next(left, None)) is not None:
                waiting.append((source, pool.submit(_tried, source, options, retries)))
            if not waiting:
                return failed, made
            source, result = waiting.popleft()
            try:
                file.write(result.result())
                made += 1
            except (Error, _stores.FetchError) as error:
                failed.append(FailedTrace(source.place, str(error)))
            done += 1
            if show:
                show("ranks", done, len(sources))


def _tried(source, options, retries):
    for left in range(retries, -1, -1):
        try:
            return digest_of(source, options)
        except _stores.FetchError:
            if not left:
                raise
