"""Where a trace goes, and how it gets there: compressed, whole or not at all, never over another file."""

import errno
import os
import zlib
from typing import Callable, Iterator, Optional

from .ranks import Rank

SUFFIX = ".json.gz"
LEVEL = 6  # of a trace: 1.1 times the size of level 9's in a quarter of its time
CHUNK = 1 << 20


class NotWritten(Exception):
    """The trace is nowhere; says why."""


def names(place: str, rank: Optional[Rank]) -> Iterator[str]:
    """The paths that a trace of this process may take, the first free one wins: FOLDER/trace.json.gz, FOLDER/rank3.json.gz, FILE.rank3.json.gz."""
    words = ["rank%d" % rank.rank] if rank is not None else []
    if place.endswith(SUFFIX):
        stem = ".".join([place[: -len(SUFFIX)], *words])
    else:
        stem = os.path.join(place, *(words or ["trace"]))
    yield stem + SUFFIX
    number = 2
    while True:
        yield "%s.%d%s" % (stem, number, SUFFIX)
        number += 1


def folder_of(place: str) -> str:
    return os.path.dirname(os.path.abspath(place)) if place.endswith(SUFFIX) else os.path.abspath(place)


def _publish(temporary: str, candidates: Iterator[str]) -> str:
    """Gives a complete file its name; a name that is taken stays as it is. Ranks and processes may do so at the same time."""
    for path in candidates:
        try:
            os.link(temporary, path)
        except FileExistsError:
            continue
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EXDEV, errno.EMLINK, errno.EACCES):
                raise
            if os.path.exists(path):  # a file system without links
                continue
            os.rename(temporary, path)
            return path
        os.unlink(temporary)
        return path
    raise AssertionError("names() ends nowhere")


def _check_whole(path: str) -> None:
    """The profiler writes its JSON in C++ and tells nobody of a full disk."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 64))
        if not file.read().rstrip().endswith((b"}", b"]")):
            raise NotWritten("the profiler wrote only a part of it (%s bytes); is the disk full?" % format(size, ","))


def _compress(source: str, target: str) -> None:
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, 31)  # 31: gzip's frame. Both calls let other Python threads run
    with open(source, "rb") as json, open(target, "wb") as packed:
        while True:
            chunk = json.read(CHUNK)
            if not chunk:
                break
            packed.write(packer.compress(chunk))
        packed.write(packer.flush())


def _remove(*paths: str) -> None:
    for path in paths:
        try:
            os.unlink(path)
        except OSError:
            pass


def write(save: Callable[[str], object], place: str, rank: Optional[Rank]) -> str:
    """`save(path)` writes the JSON. Returns where the compressed trace is; NotWritten: nowhere, and nothing is left behind."""
    folder = folder_of(place)
    stem = os.path.join(folder, ".ridge-%d-%x" % (os.getpid(), int.from_bytes(os.urandom(4), "little")))
    json, packed = stem + ".json.part", stem + ".gz.part"
    try:
        os.makedirs(folder, exist_ok=True)
        with open(json, "wb"):
            pass  # a folder that cannot be written to tells it here; from C++ it does not
        save(json)
        _check_whole(json)
        _compress(json, packed)
        _remove(json)
        return _publish(packed, names(place, rank))
    except NotWritten:
        raise
    except OSError as error:
        raise NotWritten("%s: %s" % (error.strerror or error, error.filename or folder)) from error
    except Exception as error:
        raise NotWritten("%s: %s" % (type(error).__name__, error)) from error
    finally:
        _remove(json, packed)
