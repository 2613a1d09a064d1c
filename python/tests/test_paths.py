"""How a trace may be named: whatever the system names a file is a path, and what is no path is said to be none."""

import io
import os
import shutil
import subprocess
import sys

import pytest

import ridge

NOT_UTF8 = b"tr\xff\xe9ce.json.gz"


@pytest.fixture
def odd(tmp_path, fixtures):
    """A folder with a trace whose name is not UTF-8, and one whose name is."""
    try:
        shutil.copy(fixtures / "omni_eager_double.json.gz", os.path.join(os.fsencode(tmp_path), NOT_UTF8))
    except OSError:
        pytest.skip("this file system takes no such names")
    shutil.copy(fixtures / "omni_compiled_half_x5.json.gz", tmp_path / "träce 日本 'q\" %20#.json.gz")
    return tmp_path


def test_a_name_that_is_not_utf8(odd):
    path = os.path.join(os.fsencode(odd), NOT_UTF8)
    for name in (path, os.fsdecode(path)):
        trace = ridge.open(name)
        assert trace.paths == (os.fsdecode(path),)
        assert trace.kernels().rows()
        assert [os.fsencode(each) for each in trace.kernels().traces] == [path]
        repr(trace).encode()  # can be printed
    assert ridge.diff(path, path).command == "diff"
    assert ridge.export(path, odd / "out")
    with pytest.raises(ridge.ReadError) as missing:
        ridge.open(b"nowhere\xff.json")
    str(missing.value).encode()


def test_a_folder_with_such_names(odd):
    folder = ridge.open(odd)
    assert [os.fsencode(each) for each in folder.paths] == sorted(os.path.join(os.fsencode(odd), each) for each in os.listdir(os.fsencode(odd)))
    assert all(each.kernels().rows() for each in folder)
    assert len(ridge.job(odd).ranks()) == 2


def test_the_command_takes_them_too(odd):
    path = os.path.join(os.fsencode(odd), NOT_UTF8)
    done = subprocess.run([sys.executable, "-m", "ridge", "info", path], capture_output=True)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    assert b"kineto" in done.stdout


@pytest.mark.parametrize("make", [io.BytesIO, io.StringIO, lambda: open(__file__, "rb"), lambda: open(__file__, encoding="utf-8")])
def test_an_open_file_is_not_a_path(make):
    with make() as file, pytest.raises(ridge.UsageError, match="a path, not by") as wrong:
        ridge.open(file)
    assert "ridge.open(" in wrong.value.hint
