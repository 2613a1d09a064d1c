"""Whole jobs from Python: on the threads of this machine, from stores of other machines, as digests that are kept, as Parquet.

The job is examples/job: eight ranks, of which rank 5 waits for its loader and rank 6 has a slow device."""

import functools
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import threading

import pytest

import ridge

ROOT = pathlib.Path(__file__).resolve().parents[2]
JOB = ROOT / "examples" / "job"
RANKS = sorted(str(path) for path in JOB.iterdir())
PLANTED = {(5, "data"), (6, "device")}


def told(job):
    return {(row["rank"], row["cause"]) for row in job.ranks().tables["stragglers"]}


def tables(report, without=("file",)):
    """Rows of each table; where a file lies is not part of the answer."""
    return {name: [{k: v for k, v in row.items() if k not in without} for row in table] for name, table in report.tables.items()}


@pytest.fixture(scope="module")
def job():
    return ridge.job(JOB, progress=False)


def test_threads_answer_as_the_command_line(job, binary):
    assert told(job) == PLANTED
    said = json.loads(subprocess.run([binary, "ranks", "--json", str(JOB)], check=True, capture_output=True).stdout)
    for table in said["tables"]:
        names = [column["name"] for column in table["columns"]]
        wanted = [{k: v for k, v in zip(names, row) if k != "file"} for row in table["rows"]]
        assert tables(job.ranks())[table["name"]] == wanted, table["name"]
    assert tables(ridge.open(JOB).ranks()) == tables(job.ranks())


def test_digests_are_kept_and_read_again(job, tmp_path):
    kept = ridge.job(RANKS[:4], RANKS[4:], digests=tmp_path / "job.digest", progress=False)
    assert kept.digests == str(tmp_path / "job.digest") and os.listdir(tmp_path) == ["job.digest"]
    assert tables(ridge.open(tmp_path / "job.digest").ranks()) == tables(job.ranks())
    assert tables(ridge.job(tmp_path / "job.digest", progress=False).ranks()) == tables(job.ranks())


def test_what_cannot_be_read_is_left_out_and_said(tmp_path):
    shutil.copytree(JOB, tmp_path / "job")
    (tmp_path / "job" / "truth.json").write_text('{"made": "up"}')
    with pytest.warns(UserWarning, match="truth.json"):
        job = ridge.job(tmp_path / "job", progress=False)
    assert told(job) == PLANTED and [os.path.basename(each.place) for each in job.failed] == ["truth.json"]
    with pytest.raises(ridge.ReadError, match="none of 1 traces can be read"):
        ridge.job(tmp_path / "job" / "truth.json", progress=False)
    assert os.listdir(tmp_path) == ["job"]


def test_usage():
    with pytest.raises(ridge.UsageError, match="no way to run on 'mpi'"):
        ridge.job(JOB, on="mpi")
    with pytest.raises(ridge.UsageError, match="no storage 'ftp'"):
        ridge.job("memory://job", storage="ftp")


def test_progress_counts_ranks():
    seen = []
    ridge.job(JOB, progress=lambda phase, done, total: seen.append((phase, done, total)))
    assert seen == [("ranks", done, 8) for done in range(1, 9)]


def test_a_folder_in_memory(job):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    for path in RANKS:
        memory.pipe(f"/bucket/job/{os.path.basename(path)}", pathlib.Path(path).read_bytes())
    memory.pipe("/bucket/job/notes.txt", b"")
    memory.pipe("/bucket/job/deeper/rank0.json.gz", b"")
    got = ridge.job("memory://bucket/job", storage="fsspec", progress=False)
    assert tables(got.ranks()) == tables(job.ranks())
    assert all(row["file"].startswith("rank") or "memory://" in row["file"] for row in got.ranks())
    with pytest.raises(ridge.ReadError, match="no traces there"):
        memory.makedirs("/bucket/empty")
        ridge.job("memory://bucket/empty", storage="fsspec", progress=False)


def test_a_file_url_is_a_path(job):
    assert tables(ridge.job(JOB.as_uri(), progress=False).ranks()) == tables(job.ranks())


@pytest.fixture
def address():
    """The folder of the job, served over HTTP."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(JOB))
    handler.log_message = lambda *_: None
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_store_of_another_machine(job, address):
    pytest.importorskip("obstore")
    places = [f"{address}/{os.path.basename(path)}" for path in RANKS]
    got = ridge.job(places, storage="obstore", storage_options={"client_options": {"allow_http": True}}, progress=False)
    assert tables(got.ranks()) == tables(job.ranks())


def test_a_store_that_fails_is_tried_again(job, monkeypatch):
    """Each trace breaks off once on its way; with no trial left it is told as lost."""
    fsspec = pytest.importorskip("fsspec")
    from ridge import _stores

    memory = fsspec.filesystem("memory")
    for path in RANKS:
        memory.pipe(f"/flaky/{os.path.basename(path)}", pathlib.Path(path).read_bytes())
    whole, broken = _stores._Fsspec.blocks, set()

    def blocks(self):
        if self._path not in broken:
            broken.add(self._path)
            raise ConnectionError("reset by peer")
        yield from whole(self)

    monkeypatch.setattr(_stores._Fsspec, "blocks", blocks)
    assert tables(ridge.job("memory://flaky", storage="fsspec", progress=False).ranks()) == tables(job.ranks())
    broken.clear()
    with pytest.raises(ridge.ReadError, match="reset by peer"):
        ridge.job("memory://flaky", storage="fsspec", retries=0, progress=False)


def test_parquet_that_duckdb_asks(job, tmp_path):
    pytest.importorskip("pyarrow")
    duckdb = pytest.importorskip("duckdb")
    paths = job.to_parquet(tmp_path / "tables")
    assert sorted(os.path.basename(path) for path in paths) == [
        f"{name}.parquet" for name in ("collectives", "groups", "intervals", "kernels", "ops", "ranks", "steps")
    ]

    def asked(query):
        return duckdb.sql(query.replace("@", str(tmp_path / "tables"))).fetchall()

    assert asked("select rank, world_size, steps from '@/ranks.parquet' order by 1") == [(rank, 8, 3) for rank in range(8)]
    loader = asked("select rank from '@/steps.parquet' group by 1 order by sum(idle_loader_ns) desc limit 1")
    assert loader == [(5,)]
    slow = asked("select k.rank from '@/kernels.parquet' k where kernel not like 'nccl%' group by 1 order by sum(time_ns) desc limit 1")
    assert slow == [(6,)]
    assert asked("select count(*) from '@/collectives.parquet'") == [(sum(row["collectives"] for row in ranks_of(tmp_path)),)]


def ranks_of(tmp_path):
    import pyarrow.parquet

    return pyarrow.parquet.read_table(tmp_path / "tables" / "ranks.parquet").to_pylist()


def test_traces_go_to_the_nodes_that_have_them():
    from ridge import _cluster

    listings = [("a", [("/shared/rank0.json", 5), ("/tmp/rank1.json", 7)]), ("b", [("/shared/rank0.json", 5), ("/tmp/rank1.json", 8)])]
    assert [tuple(each) for each in _cluster.placed(listings, ["a", "b"])] == [
        ("/shared/rank0.json", 5, None),
        ("/tmp/rank1.json", 7, "a"),
        ("/tmp/rank1.json", 8, "b"),
    ]


def test_ray_says_how_to_get_it(monkeypatch):
    import builtins

    real = builtins.__import__

    def without_ray(name, *rest):
        if name == "ray":
            raise ImportError("no ray")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_ray)
    with pytest.raises(ImportError, match=r'pip install "ridge\[ray\]"'):
        ridge.job(JOB, on="ray", progress=False)


def test_diff_of_two_jobs_is_what_changed_between_them(job, tmp_path):
    mended = JOB.parent / "job_mended"
    wanted = tables(ridge.open(mended).ranks(before=str(JOB)))
    assert "waterfall" in wanted
    assert tables(ridge.diff(JOB, mended)) == wanted
    after = ridge.job(mended, digests=tmp_path / "after.digest", progress=False)
    assert tables(ridge.diff(job, after)) == wanted
    with pytest.raises(ridge.UsageError, match="compares two"):
        ridge.diff(JOB, mended, JOB)
    with pytest.raises(ridge.UsageError, match="keywords"):
        ridge.diff(JOB, mended, fail_above="5%")


def test_findings_of_digests_without_them_are_said_to_be_unknown(job):
    assert "findings_unknown" in {each["code"] for each in job.ranks(findings=True).diagnostics}
