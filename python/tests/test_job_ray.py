"""Jobs on a real Ray: a cluster of several nodes on this machine, one of which is killed midway; the answers are those of the threads.

Ray is large, and is kept out of the other tests' environment: it has one of its own under build/. Where the registry of packages is out of reach the tests
are skipped."""

import hashlib
import json
import os
import pathlib
import subprocess
import sys

import pytest

import ridge

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
JOB = ROOT / "examples" / "job"
SCRIPT = HERE / "ray_cluster.py"
REQUIREMENTS = HERE / "requirements_ray.txt"
NO_CLUSTER = 75  # of the script


@pytest.fixture(scope="module")
def ray_python():
    """The interpreter of the environment with Ray."""
    place = ROOT / "build" / "ray-env"
    python, stamp = place / "bin" / "python", place / "requirements.sha256"
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return str(python)
    base = os.path.join(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
    made = subprocess.run([base if os.path.exists(base) else sys.executable, "-m", "venv", "--clear", place], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"no environment for Ray can be made: {(made.stderr or made.stdout).strip().splitlines()[-1]}")
    installed = subprocess.run(
        [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--only-binary", ":all:", "-r", REQUIREMENTS], capture_output=True, text=True
    )
    if installed.returncode:
        pytest.skip(f"Ray cannot be had here: {(installed.stderr or installed.stdout).strip().splitlines()[-1]}")
    stamp.write_text(wanted)
    return str(python)


def environment():
    """As for the tests themselves; workers of Ray inherit where the package is."""
    return {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


def rows(tables):
    return {name: [{k: v for k, v in row.items() if k != "file"} for row in table] for name, table in tables.items()}


def test_a_cluster_of_nodes_one_killed_midway(ray_python, tmp_path):
    out = tmp_path / "said.json"
    done = subprocess.run([ray_python, SCRIPT, JOB, out], env=environment(), capture_output=True, text=True, timeout=800)
    if done.returncode == NO_CLUSTER:
        pytest.skip("no node of Ray came up within its 30 s: the machine is too busy")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    said = json.loads(out.read_text())
    wanted = rows({name: table.to_dicts() for name, table in ridge.job(JOB, progress=False).ranks().tables.items()})
    assert said["killed_after"] is not None and said["nodes_after"] == said["nodes_before"] - 1
    assert said["failed"] == []
    assert rows(said["tables"]) == wanted
    assert said["same_bytes"], "digests as the threads make them, in the same order"
    assert rows(said["from_a_store"]) == wanted
    assert said["lost"] == ["truth.json"], "a trace that cannot be read is told, the rest answered"
    assert said["command"] == 0 and "stragglers" in said["command_out"]
