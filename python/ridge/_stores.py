"""Where the traces of a job lie: files of this machine, or anything that obstore or fsspec can reach (s3://, gs://, az://, memory://, ...).

A trace from elsewhere is copied to a file beside the work, a block at a time, and taken away when its digest is made."""

import contextlib
import os
import tempfile
import urllib.parse

from ._errors import ReadError, UsageError

_BLOCK = 8 << 20
ENDINGS = (".json", ".json.gz", ".json.zst", ".digest")
LIBRARIES = ("obstore", "fsspec")


class FetchError(Exception):
    """A trace could not be brought here: the network, the store, a node. It is tried again."""


def local_path(place):
    """The path of a file or folder of this machine; None where it is elsewhere."""
    scheme, rest = _split(place)
    if scheme == "file":
        return urllib.parse.unquote(urllib.parse.urlsplit(place).path)
    return None if scheme else place


def _split(place):
    scheme, separator, rest = place.partition("://")
    return (scheme.lower(), rest) if separator else ("", place)


def listed(place, library=None, options=None):
    """The traces at a place that is not of this machine: itself, or those in the folder that it names. With sizes, where told."""
    store = _store(place, library, options)
    try:
        found = store.listed()
    except Exception as error:
        raise ReadError(f"cannot list: {error}", code="cannot_open", where=place) from error
    if not found:
        raise ReadError("no traces there", code="cannot_open", where=place, hint=f"a folder of {', '.join(ENDINGS)}, or one such file")
    return sorted(found)


@contextlib.contextmanager
def brought_here(place, library=None, options=None):
    """The path of the trace on this machine, while it is needed."""
    path = local_path(place)
    if path is not None:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="ridge-") as folder:
        path = os.path.join(folder, os.path.basename(_split(place)[1].rstrip("/")) or "trace.json")
        store = _store(place, library, options)
        try:
            with open(path, "wb") as file:
                for block in store.blocks():
                    file.write(block)
        except Exception as error:
            raise FetchError(f"{place}: {error}") from error
        yield path


def _store(place, library, options):
    if library is not None and library not in LIBRARIES:
        raise UsageError(f"no storage '{library}'", hint=" or ".join(f'"{name}"' for name in LIBRARIES))
    for name in [library] if library else LIBRARIES:
        try:
            return {"obstore": _Obstore, "fsspec": _Fsspec}[name](place, options or {})
        except ImportError:
            continue
        except Exception as error:
            if library or name == LIBRARIES[-1]:
                raise ReadError(f"{name} cannot open it: {error}", code="cannot_open", where=place) from error
    raise ImportError(f'{_split(place)[0]}:// needs {library or "obstore or fsspec"}: pip install "ridge[ray]"')


class _Obstore:
    """By obstore: s3, gs, az, http, file, memory. The store is at the folder, what is in it has names."""

    def __init__(self, place, options):
        import obstore

        self._obstore = obstore
        self._place = place.rstrip("/")
        folder, _, name = self._place.rpartition("/")
        if not self._place.endswith(ENDINGS):
            folder, name = self._place, ""
        self._folder, self._name = folder, name
        self._store = obstore.store.from_url(folder, **options)

    def listed(self):
        if self._name:
            return [(self._place, self._obstore.head(self._store, self._name)["size"])]
        rows = self._obstore.list(self._store).collect()
        return [(f"{self._folder}/{row['path']}", row["size"]) for row in rows if _is_trace(row["path"])]

    def blocks(self):
        for block in self._obstore.get(self._store, self._name).stream(min_chunk_size=_BLOCK):
            yield bytes(block)


class _Fsspec:
    """By fsspec, and the package that it asks for by the scheme."""

    def __init__(self, place, options):
        import fsspec.core

        self._system, self._path = fsspec.core.url_to_fs(place, **options)
        self._scheme = _split(place)[0]

    def listed(self):
        if not self._system.isdir(self._path):
            return [(f"{self._scheme}://{self._path}", self._system.size(self._path))]
        rows = [row for row in self._system.ls(self._path, detail=True) if row["type"] == "file" and _is_trace(row["name"])]
        return [(f"{self._scheme}://{row['name']}", row["size"]) for row in rows]

    def blocks(self):
        with self._system.open(self._path, "rb") as file:
            while block := file.read(_BLOCK):
                yield block


def _is_trace(name):
    return name.endswith(ENDINGS) and "/" not in name.strip("/")[len(os.path.dirname(name).strip("/")) + 1 :]
