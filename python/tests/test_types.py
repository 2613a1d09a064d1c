"""The stub is what the catalog makes it, agrees with what runs, and serves both type checkers."""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import ridge

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKAGE = pathlib.Path(ridge.__file__).resolve().parent


def checked(*command, cwd):
    return subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, cwd=cwd)


def wrong_lines():
    lines = (HERE / "typing" / "wrong.py").read_text().splitlines()
    return [number for number, line in enumerate(lines, 1) if line.endswith("# wrong")]


def test_the_stub_is_up_to_date():
    done = subprocess.run([sys.executable, str(ROOT / "tools" / "make_stubs"), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (PACKAGE / "py.typed").exists() and (PACKAGE / "__init__.pyi").exists()


def test_the_stub_has_what_runs(tmp_path):
    pytest.importorskip("mypy")
    config = str(HERE / "typing" / "stubtest.ini")
    os.environ["MYPYPATH"] = str(PACKAGE.parent)
    done = checked("mypy.stubtest", "ridge", "--concise", "--ignore-missing-stub", "--mypy-config-file", config, cwd=tmp_path)
    public = [line for line in done.stdout.splitlines() if not re.match(r"ridge\.(_|recording|testing)", line)]
    assert not public, "\n".join(public)
    assert "not checking stubs" not in done.stdout + done.stderr, done.stdout


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_checkers_accept_what_is_right_and_refuse_what_is_wrong(checker, tmp_path):
    if importlib.util.find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed")
    if checker == "pyright" and shutil.which("node") is None:
        pytest.skip("pyright needs node")
    command = {
        "mypy": ["mypy", "--strict", f"--cache-dir={tmp_path}"],
        "pyright": ["pyright", "--pythonpath", sys.executable],
    }[checker]
    files = [str(HERE / "typing" / name) for name in ("right.py", "wrong.py")]
    os.environ["MYPYPATH"] = str(PACKAGE.parent)
    done = checked(*command, *files, cwd=tmp_path)
    if checker == "pyright" and not re.search(r"\d+ errors?,", done.stdout):
        pytest.skip(f"pyright cannot run here: {(done.stderr or done.stdout).strip().splitlines()[-1]}")
    errors = re.findall(r"(right|wrong)\.py:(\d+).*error", done.stdout)
    assert [int(line) for name, line in errors if name == "wrong"] == wrong_lines(), done.stdout
    assert not [line for name, line in errors if name == "right"], done.stdout
