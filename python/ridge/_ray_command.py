"""`ridge ranks --ray PLACE`: the digests are made on a Ray cluster, and the question is asked of them here."""

import subprocess
import sys
import tempfile
import warnings

_FLAGS = ("--ray", "--ray-address", "--digest")


def run(words):
    """The exit code. Words that are not ours go to the command that answers."""
    from ._errors import Error, UsageError

    try:
        return _run(words)
    except (Error, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    except KeyboardInterrupt:
        return 130


def _run(words):
    given, rest = _split(words)
    from . import _job

    address = given["--ray-address"][-1] if given["--ray-address"] else None
    with tempfile.TemporaryDirectory(prefix="ridge-job-") as folder, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        digests = given["--digest"][-1] if given["--digest"] else f"{folder}/job.digest"
        job = _job.job(given["--ray"], on="ray", address=address, digests=digests)
        for each in said:
            print(f"warning: {each.message}", file=sys.stderr)
        job.close()
        if given["--digest"]:
            return 0
        code = subprocess.run([sys.executable, "-m", "ridge", "ranks", digests, *rest]).returncode
        return 128 - code if code < 0 else code


def _split(words):
    from ._errors import UsageError

    given, rest, words = {flag: [] for flag in _FLAGS}, [], list(words)
    while words:
        word = words.pop(0)
        flag, equals, value = word.partition("=")
        if flag not in given:
            rest.append(word)
            continue
        if not equals and not words:
            raise UsageError(f"{flag} needs a value", hint="ridge ranks --ray s3://bucket/job, or --ray FOLDER")
        given[flag].append(value if equals else words.pop(0))
    return given, rest
