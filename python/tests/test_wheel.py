"""The wheel as users get it: small, whole, for old systems; in an empty environment it gives the package, the commands and the viewer."""

import os
import pathlib
import re
import subprocess
import sys
import venv
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WHEEL = os.environ.get("RIDGE_WHEEL", "")

pytestmark = pytest.mark.skipif("manylinux" not in WHEEL, reason="no repaired wheel is at hand: python/tests/run makes one")


def test_pip_install_of_the_sources_knows_what_to_build(tmp_path):
    """`pip install .` builds the library too: CMake is asked what goes into the module, and nothing is compiled."""
    configure = ["cmake", "-S", ROOT / "python", "-B", tmp_path, "-G", "Ninja", f"-DPython_EXECUTABLE={sys.executable}", "-DCMAKE_BUILD_TYPE=Release"]
    configured = subprocess.run(configure, capture_output=True, text=True, env=clean())
    assert configured.returncode == 0, configured.stderr
    inputs = subprocess.run(["ninja", "-C", tmp_path, "-t", "inputs", "_native"], capture_output=True, text=True, env=clean())
    assert inputs.returncode == 0 and "libridge_core.a" in inputs.stdout and "python/src/module.cc" in inputs.stdout, inputs.stdout + inputs.stderr


def test_a_build_may_lie_in_a_folder_of_any_name(tmp_path):
    """A comma in it parts a list of CMake's."""
    named = tmp_path / "two words, and a comma"
    named.symlink_to(os.environ.get("RIDGE_BUILD", ROOT / "build"))
    defined = {"Python_EXECUTABLE": sys.executable, "CMAKE_BUILD_TYPE": "Release", "RIDGE_BUILD": named}
    made = tmp_path / "made"
    configure = ["cmake", "-S", ROOT / "python", "-B", made, "-G", "Ninja", *(f"-D{name}={value}" for name, value in defined.items())]
    configured = subprocess.run(configure, capture_output=True, text=True, env=clean())
    assert configured.returncode == 0, configured.stderr
    inputs = subprocess.run(["ninja", "-C", made, "-t", "inputs", "_native"], capture_output=True, text=True, env=clean())
    assert inputs.returncode == 0 and "libridge_core.a" in inputs.stdout, inputs.stdout + inputs.stderr


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """An environment with nothing but the wheel; no registry is asked."""
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, with_pip=True)
    bin = folder / "bin"
    install = [bin / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index", WHEEL]
    subprocess.run(install, check=True, env=clean())
    return bin


def clean():
    """Without the paths of this suite."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MYPYPATH", "LD_LIBRARY_PATH")}


def ran(empty, *words, **options):
    return subprocess.run([str(empty / words[0]), *words[1:]], capture_output=True, text=True, env=clean(), cwd=ROOT, **options)


def test_it_is_small_and_needs_nothing(empty):
    assert os.path.getsize(WHEEL) <= 8_000_000
    with zipfile.ZipFile(WHEEL) as wheel:
        names = wheel.namelist()
        (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        required = re.findall(r"^Requires-Dist: (.*)$", wheel.read(metadata).decode(), re.MULTILINE)
    assert all("extra ==" in each for each in required)
    assert {"ridge/py.typed", "ridge/__init__.pyi"} <= set(names)
    inside = " ".join(names)
    for library in ("fmt", "tbb", "re2", "simdjson", "isal", "zstd"):
        assert f"lib{library}" in inside
    assert "libstdc++" not in inside and "libgcc" not in inside  # the system's
    listed = ran(empty, "python", "-m", "pip", "list", "--format=freeze").stdout.split()
    assert [line.split("==")[0] for line in listed if not line.startswith(("pip", "setuptools"))] == ["ridge"]


def test_it_runs_where_glibc_is_old():
    audit = subprocess.run([sys.executable, "-m", "auditwheel", "show", WHEEL], capture_output=True, text=True)
    assert re.search(r'following platform tag:\s*"?manylinux_2_(1\d|2\d|3[0-4])_', audit.stdout), audit.stdout


def test_the_commands_are_those_of_the_build(empty, binary, path):
    for words in (["version"], ["categories", path, "-f", "csv"], ["help", "kernels"], ["nonsense"], ["kernels", "/nowhere.json"]):
        mine, other = ran(empty, "ridge", *words), subprocess.run([binary, *words], capture_output=True, text=True, cwd=ROOT)
        assert (mine.returncode, mine.stdout, mine.stderr) == (other.returncode, other.stdout, other.stderr)
    drop_in = ran(empty, "profile_analysis", "--analysis", path, "float32")
    assert drop_in.returncode == 0 and "Kernel Name" in drop_in.stdout
    assert ran(empty, "python", "-m", "ridge", "version").stdout == ran(empty, "ridge", "version").stdout


def test_a_closed_pipe_is_a_quiet_end(empty, path):
    done = subprocess.run(["bash", "-c", f"set -o pipefail; '{empty}/ridge' kernels '{path}' -q -f csv | head -1"], capture_output=True, text=True, env=clean())
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


def test_the_viewer_is_inside(empty, path, tmp_path):
    page = tmp_path / "r.html"
    done = ran(empty, "ridge", "report", path, "-o", str(page))
    if "without its web page" in done.stderr:
        pytest.skip("this build has no web page")
    assert done.returncode == 0, done.stderr
    assert page.stat().st_size > 100_000


def python_blocks(document):
    text = (ROOT / document).read_text()
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_python_lines_of_the_readme_run_in_it(empty, path, tmp_path):
    blocks = python_blocks("README.md")
    assert blocks
    (tmp_path / "trace.json.gz").write_bytes(pathlib.Path(path).read_bytes())
    code = "\n".join(blocks)
    done = subprocess.run([str(empty / "python"), "-c", code], capture_output=True, text=True, env=clean(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
