"""Notebooks and pages: tables, pictures and the viewer show; text of a trace cannot act; the server serves what is open."""

import base64
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.request

import pytest

import ridge
from ridge import _html, _pages

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def has_page(trace):
    try:
        return _pages.page_of(trace)
    except ridge.Error as error:
        pytest.skip(f"this build has no web page: {error.message}")


def python_blocks(document):
    return re.findall(r"^```python\n(.*?)^```", (ROOT / document).read_text(), re.MULTILINE | re.DOTALL)


def test_the_notebook_runs_and_shows(has_page):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    pytest.importorskip("pandas")
    pytest.importorskip("duckdb")
    notebook = nbformat.read(ROOT / "examples" / "first_look.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(ROOT / "examples")}}).execute()
    shown = {}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs, cell.source
            assert not [output for output in cell.outputs if output.output_type in ("error", "stream")], cell.source
            shown[cell.source] = "".join(output.data.get("text/html", "") for output in cell.outputs if "data" in output)
    assert "<table" in shown["t.findings()"]
    assert any("<svg" in each for source, each in shown.items() if "roofline()" in source)
    assert "<iframe srcdoc=" in shown["t.timeline(height=500)"]
    assert all("outputs" not in cell or not cell.outputs for cell in nbformat.read(ROOT / "examples" / "first_look.ipynb", 4).cells)


def test_the_lines_of_the_document_run(path, tmp_path):
    pytest.importorskip("duckdb")
    (tmp_path / "trace.json.gz").write_bytes(pathlib.Path(path).read_bytes())
    shutil.copytree(ROOT / "examples" / "job", tmp_path / "traces")
    code = "\n".join(python_blocks("docs/python.md"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_table_shows_figures_with_units(trace):
    shown = trace.categories()._repr_html_()
    assert "3.038 ms" in shown and "61.5 %" in shown and "category_kernels" in shown
    assert [_html.cell(0, unit) for unit in ("ns", "bytes", "flop_per_s", "percent", "")] == ["0 ns", "0 B", "0 FLOP/s", "0.0 %", "0"]
    events = trace.tables.events._repr_html_()
    assert f"{len(trace.tables.events) - 20:,} more rows" in events


def test_pictures_and_curves_are_drawn(fixtures):
    roofline = ridge.open(fixtures / "gpt_compiled_train.json.gz").roofline()
    assert roofline.svg().startswith("<svg")
    assert roofline._repr_html_().count("<svg") == 1
    memory = ridge.open(fixtures / "gpt_eager_train_stack_mem.json.gz").memory()
    assert memory.series
    assert memory._repr_html_().count("<polyline") == len(memory.series)
    points = [(0, 1.0), (50, 9.0), (51, 0.0), (100, 4.0)]
    drawn = _html.curve(points, "bytes")
    assert "up to 9" in drawn and drawn.startswith("<svg")


def test_text_of_a_trace_cannot_act(tmp_path):
    evil = "<script>alert(1)</script>\" onmouseover=\"alert(2)" + "x" * 80
    event = {"ph": "X", "cat": "cpu_op", "name": evil, "pid": 1, "tid": 1, "ts": 1, "dur": 5}
    file = tmp_path / "evil.json"
    file.write_text(json.dumps({"traceEvents": [event]}))
    trace = ridge.open(file)
    for shown in (trace.ops()._repr_html_(), trace.tables.ops._repr_html_()):
        assert html.escape("<script>") in shown
        assert "<script>" not in shown and '" onmouseover="' not in shown


def test_the_page_is_that_of_the_command_line(has_page, trace, path, binary, tmp_path):
    assert trace.report(tmp_path / "mine.html") == str(tmp_path / "mine.html")
    subprocess.run([binary, "report", path, "-o", str(tmp_path / "other.html")], check=True)
    assert (tmp_path / "mine.html").read_bytes() == (tmp_path / "other.html").read_bytes()
    frame = trace.timeline(height=300)._repr_html_()
    inside = html.unescape(re.search(r'srcdoc="([^"]*)"', frame)[1])
    assert base64.b64decode(re.search(r'id="page">([^<]*)<', inside)[1]).decode() == has_page
    assert max(map(len, re.findall(r'src = "([^"]*)"', inside))) < 2**20  # no address of more than 2 MiB opens
    assert "width:100%" in frame and "box-sizing:border-box" in frame  # with its border it is as wide as the cell, which gets no scroll bar
    assert "height:300px" in frame
    with pytest.raises(ridge.Error) as refused:
        trace.report(path)
    assert refused.value.code == "cannot_write"
    with pytest.raises(ridge.Error):
        trace.report(tmp_path / "none" / "r.html")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["mine.html", "other.html"]


def test_the_server_serves_what_is_open(trace):
    with trace.step(1).serve(wait=False) as server:
        assert server.url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(server.url.rstrip("/") + "/api/v1/gpu") as answer:
            table = json.load(answer)["tables"][0]
    assert [tuple(row) for row in table["rows"]] == trace.step(1).gpu().rows()
    with pytest.raises(OSError):
        urllib.request.urlopen(server.url, timeout=5)
    assert server.url in server._repr_html_()
    with pytest.raises(ridge.Error, match="kernel sources"):
        trace.serve(host="0.0.0.0", wait=False)


def test_progress_shows_on_a_terminal_only(capsys, monkeypatch):
    from ridge import _progress

    monkeypatch.setattr(_progress, "_SILENCE_S", 0)
    with _progress.shown(None) as show:
        assert show is None  # a test's stderr is no terminal
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with _progress.shown(None) as show:
        show("reading", 250_000_000, 1_000_000_000)
    said = capsys.readouterr().err
    assert "reading  25 %  250.0 MB of 1.0 GB" in said and said.endswith("\x1b[K")
    with _progress.shown(False) as show:
        assert show is None
