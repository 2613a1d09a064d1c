"""The package's side of recording: what needs no PyTorch. tests/recording has the rest."""

import os
import signal
import subprocess
import sys

import pytest

import ridge

TELL = "import os, signal, sys; print(os.getpid(), [int(signal.getsignal(n) == signal.SIG_IGN) for n in (2, 15, 1)]); sys.exit(41)"


def command(*words, **more):
    return subprocess.run([sys.executable, "-m", "ridge", *words], capture_output=True, text=True, **more)


def test_the_package_carries_ridge_record(tmp_path):
    done = command("record", "-q", "-o", str(tmp_path), "--", sys.executable, "-c", TELL)
    assert done.returncode == 41, done.stderr
    plain = subprocess.run([sys.executable, "-c", TELL], capture_output=True, text=True)
    assert done.stdout.split(None, 1)[1] == plain.stdout.split(None, 1)[1]  # a suite in the background ignores some, and so do its children


def test_it_becomes_the_command(tmp_path):
    started = subprocess.Popen([sys.executable, "-m", "ridge", "record", "-q", "-o", str(tmp_path), "--", sys.executable, "-c", TELL], stdout=subprocess.PIPE, text=True)
    out, _ = started.communicate()
    assert int(out.split()[0]) == started.pid


@pytest.mark.parametrize("number", [signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM])
def test_signals_are_as_without(tmp_path, number):
    done = command("record", "-q", "-o", str(tmp_path), "--", "sh", "-c", f"kill -{int(number)} $$")
    assert done.returncode == -number


def test_the_hook_is_that_of_the_package(tmp_path):
    """The files that the program lays out are those of the package, byte by byte."""
    done = command("record", "-q", "-o", str(tmp_path / "t"), "--", sys.executable, "-c", "import sitecustomize; print(sitecustomize.__file__)", env={**os.environ, "HOME": str(tmp_path)})
    folder = os.path.dirname(done.stdout.strip())
    package = os.path.join(os.path.dirname(ridge.__file__), "recording")
    for path, folders, names in os.walk(package):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            inside = os.path.relpath(os.path.join(path, name), package)
            laid_out = os.path.join(folder, name) if inside.startswith("hook") else os.path.join(folder, "_ridge_recording", inside)
            with open(os.path.join(path, name), "rb") as file, open(laid_out, "rb") as other:
                assert file.read() == other.read(), inside


def test_recording_is_part_of_the_package_without_torch():
    done = subprocess.run([sys.executable, "-c", "import sys, ridge; ridge.profile, ridge.recording.trace_handler; print('torch' in sys.modules)"], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr


def test_wrong_arguments_are_said_before_anything_runs():
    for wrong in ({"after": -1}, {"steps": 0}):
        with pytest.raises(ValueError):
            ridge.profile("nowhere", **wrong)


def test_the_first_lines_of_a_summary(path):
    from ridge.recording.summary import first_lines

    lines = first_lines(path).splitlines()
    assert path in lines[0]
    assert any("launch_bound" in line for line in lines)
    assert 5 < len(lines) <= 15
