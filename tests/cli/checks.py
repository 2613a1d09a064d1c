"""What the scripts of this folder share: checks that say what differed, and the loop that runs the functions called test_*."""

import subprocess


class Failure(Exception):
    pass


# What an answer that is not as it should be may end in; anything else is a fault of the test itself and stops the script.
EXPECTED = (Failure, OSError, subprocess.SubprocessError, ValueError, KeyError, IndexError, StopIteration)


def check(condition, what):
    if not condition:
        raise Failure(what)


def equal(got, wanted, what):
    check(got == wanted, f"{what}: got {got!r}, wanted {wanted!r}")


def words_of(arguments):
    """The binary, if it is named, and the words that choose tests: [--ridge] BINARY [WORD...]."""
    words = [word for word in arguments if word != "--ridge"]
    return (words[0] if words else None), words[1:]


def run_tests(module, words, call=lambda test: test()):
    """Runs the module's tests whose names hold one of the words, or all; returns the exit code."""
    chosen = [test for name, test in module.items() if name.startswith("test_") and (not words or any(word in name for word in words))]
    failed = 0
    for test in chosen:
        try:
            call(test)
        except EXPECTED as error:
            failed += 1
            print(f"FAILED {test.__name__[5:]}: {type(error).__name__}: {str(error)[:1500]}")
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed or not chosen else 0
