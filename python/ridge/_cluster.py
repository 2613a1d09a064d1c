"""A job's digests on the nodes of a Ray cluster: one task a rank, near its data; what was lost is tried again.

The driver holds digests only, and those one part at a time: traces are read on the nodes, digests are put together there 16 by 16 and these again, and
no more tasks are under way than twice the cluster's cores. Ray makes again what a lost node had made, from the traces."""

import collections

from . import _job, _native
from ._errors import Error, ReadError
from ._job import FailedTrace, Source
from ._stores import FetchError, local_path

_TOGETHER = 16
_LEVELS = 2
# What reading takes of memory, by the size of the file: compressed ones grow.
_MEMORY = {".gz": 6.0, ".zst": 6.0}
_MEMORY_PLAIN = 0.8
_MEMORY_LEAST = 64 << 20


def _ray():
    try:
        import ray
    except ImportError as missing:
        raise ImportError('on="ray" needs Ray: pip install "ridge[ray]"') from missing
    return ray


def run(places, file, options, address=None, retries=3, progress=None):
    """Writes the digests to the file, in the order of the traces; gives what failed, and how many were made."""
    ray = _ray()
    ours = not ray.is_initialized()
    if ours:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    try:
        return _Run(ray, options, retries, progress).run(places, file)
    finally:
        if ours:
            ray.shutdown()


# ---- on the nodes

def _listed(places, options, version):
    _same_version(version)
    found = []
    for source in _job.sources_here(places, options):
        found.append((source.place, source.size))
    return found


def _digested(source, options, version):
    """(why it failed or None, digest). What cannot be read is said; what cannot be reached raises, and is tried again."""
    _same_version(version)
    try:
        return None, _job.digest_of(source, options)
    except Error as error:
        return str(error), b""


def _together(*parts):
    return b"".join(parts)


def _same_version(version):
    if _native.version() != version:
        raise RuntimeError(f"a node has ridge {_native.version()}, the driver {version}")


# ---- the driver

def placed(listings, nodes):
    """Sources from what each node sees: (node, [(place, size)]) of each. What not all see goes to a node that has it."""
    seen = collections.OrderedDict()
    for node, rows in listings:
        for place, size in rows:
            seen.setdefault((place, size), []).append(node)
    everywhere = len(nodes)
    found = []
    for (place, size), at in sorted(seen.items()):
        found.append(Source(place, size, None if len(at) == everywhere else at[0]))
    return found


class _Tree:
    """Digests put together where they lie, by 16 that stand next to each other, and these again: the driver lets go of each as soon as it is handed on."""

    def __init__(self, join, count):
        self._join = join
        self._counts = [count]
        while len(self._counts) < _LEVELS:
            self._counts.append(-(-self._counts[-1] // _TOGETHER))
        self._open = [{} for _ in range(_LEVELS)]  # of each level: block: its parts so far
        self._roots = {}

    def add(self, number, part, level=0):
        """Of the digests, or the blocks, of one level the one with this number; None: it has nothing."""
        if level == _LEVELS:
            self._roots[number] = part
            return
        block = number // _TOGETHER
        parts = self._open[level].setdefault(block, {})
        parts[number] = part
        if len(parts) == min(_TOGETHER, self._counts[level] - block * _TOGETHER):
            del self._open[level][block]
            there = [parts[n] for n in sorted(parts) if parts[n] is not None]
            self.add(block, self._join.remote(*there) if there else None, level + 1)

    def roots(self):
        return [self._roots[number] for number in sorted(self._roots) if self._roots[number] is not None]


class _Run:
    def __init__(self, ray, options, retries, progress):
        self.ray, self.options, self.progress = ray, options, progress
        self.version = _native.version()
        self.list = ray.remote(num_cpus=0, max_retries=0)(_listed)
        self.digest = ray.remote(num_cpus=1, num_returns=2, max_retries=retries, retry_exceptions=[FetchError], scheduling_strategy="SPREAD")(_digested)
        self.join = ray.remote(num_cpus=0.1, max_retries=retries)(_together)

    def run(self, places, file):
        sources = self.sources(places)
        tree, failed, under_way, done = _Tree(self.join, len(sources)), [], {}, 0
        numbers = iter(range(len(sources)))
        try:
            while True:
                while len(under_way) < self.most() and (number := next(numbers, None)) is not None:
                    told, part = self.started(sources[number])
                    under_way[told] = (number, part)
                if not under_way:
                    break
                (told,), _ = self.ray.wait(list(under_way), num_returns=1)
                number, part = under_way.pop(told)
                why = self.why(told)
                if why is not None:
                    failed.append((number, FailedTrace(sources[number].place, why)))
                tree.add(number, part if why is None else None)
                del part
                done += 1
                if self.progress:
                    self.progress("ranks", done, len(sources))
        except BaseException:
            for told in under_way:
                self.ray.cancel(told, force=True)
            raise
        for root in tree.roots():
            file.write(self.ray.get(root))
        return [each for _, each in sorted(failed)], len(sources) - len(failed)

    def most(self):
        """How many tasks may be under way; nodes come and go."""
        return max(4, 2 * int(self.ray.cluster_resources().get("CPU", 1)))

    def sources(self, places):
        """Files and folders are looked for on every node: they may lie on all of them, or on one alone."""
        here = [place for place in places if local_path(place) is not None]
        away = [place for place in places if local_path(place) is None]
        found = _job.sources_here(away, self.options) if away else []
        if not here:
            return found
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        nodes = [node["NodeID"] for node in self.ray.nodes() if node["Alive"]]
        asked = [(node, self.list.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)).remote(here, self.options, self.version)) for node in nodes]
        listings, errors = [], []
        for node, answer in asked:
            try:
                listings.append((node, self.ray.get(answer)))
            except Exception as error:  # a node that has none of them, or is lost
                errors.append(getattr(error, "cause", None) or error)
                listings.append((node, []))
        found += placed(listings, nodes)
        if not found:
            raise errors[0] if isinstance(errors[0], Error) else ReadError(str(errors[0]), code="cannot_open", where=here[0])
        return found

    def started(self, source):
        settings = {"memory": self.memory(source)}
        if source.node is not None:
            from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

            settings["scheduling_strategy"] = NodeAffinitySchedulingStrategy(source.node, soft=False)
        return self.digest.options(**settings).remote(source, self.options, self.version)

    def memory(self, source):
        """What the task will take, so that a node is not given more of them than it can hold; never more than the smallest node has."""
        times = next((times for ending, times in _MEMORY.items() if source.place.endswith(ending)), _MEMORY_PLAIN)
        smallest = min((node["Resources"].get("memory", 0) for node in self.ray.nodes() if node["Alive"]), default=0)
        return int(min(max(_MEMORY_LEAST, times * (source.size or 0)), 0.8 * smallest))

    def why(self, told):
        """Why a trace has no digest; None: it has one."""
        try:
            return self.ray.get(told)
        except Exception as error:  # tried as often as allowed: the task, its node or the store
            cause = getattr(error, "cause", None) or error
            return str(cause).strip().splitlines()[0] if str(cause).strip() else type(cause).__name__
