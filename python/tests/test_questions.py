"""Every analysis is a method, its answers are those of the command line, scopes chain, errors say what to do."""

import ast
import csv
import inspect
import io
import json
import os
import pathlib
import pickle
import subprocess

import pytest

import ridge


def asked(binary, *words):
    done = subprocess.run([binary, *words, "-f", "json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def rows_of(answer):
    table = answer["tables"][0]
    return [tuple(row) for row in table["rows"]]


def test_every_analysis_is_a_method_with_its_parameters(trace):
    names = [info["name"] for info in ridge.analyses() if info["needs_trace"]]
    assert {"kernels", "findings", "gpu", "whatif"} <= set(names)
    for info in ridge.analyses():
        if not info["needs_trace"]:
            continue
        method = getattr(trace, info["name"])
        keywords = set(inspect.signature(method).parameters)
        assert {p["name"] for p in info["parameters"]} == {word.rstrip("_") for word in keywords}
        assert info["description"][1:] in method.__doc__
        for parameter in info["parameters"]:
            assert parameter["description"] in method.__doc__


@pytest.mark.parametrize("analysis", ["summary", "findings", "gpu", "gaps", "kernels", "categories", "ops", "launches", "graphs", "info", "replay"])
def test_answers_are_those_of_the_command_line(trace, path, binary, analysis):
    report = getattr(trace, analysis)()
    answer = asked(binary, analysis, path)
    assert list(report.tables) == [table["name"] for table in answer["tables"]]
    for name, table in zip(report.tables, answer["tables"]):
        assert report.tables[name].columns == [column["name"] for column in table["columns"]]
        assert report.tables[name].rows() == [tuple(row) for row in table["rows"]]
        total = report.tables[name].total
        assert (list(total.values()) if total else None) == table["total"]
    assert report.diagnostics == answer["diagnostics"] or [d["code"] for d in report.diagnostics] == [
        d["code"] for d in answer["diagnostics"]
    ]


def test_keywords_are_the_flags(trace, path, binary):
    assert trace.kernels(by="op").rows() == rows_of(asked(binary, "kernels", path, "--by", "op"))
    assert trace.kernels(device="h100 pcie", clock_mhz=1000).rows() == rows_of(
        asked(binary, "kernels", path, "--device", "h100 pcie", "--clock-mhz", "1000")
    )
    assert trace.whatif(do=["cuda-graphs", "host=0.8x"]).rows() == rows_of(
        asked(binary, "whatif", path, "--do", "cuda-graphs", "--do", "host=0.8x")
    )
    name = trace.kernels()[0]["kernel"]
    assert trace.kernel(name).rows() == trace.kernel(name=name).rows()


def test_a_call_alone_is_a_script():
    zoo = ridge.open(pathlib.Path(__file__).parents[2] / "tests" / "fixtures" / "opzoo_eager.json.gz")
    calls = zoo.replay()
    assert sum(calls["time_ns"]) == sum(zoo.kernels()["time_ns"])
    report = zoo.replay(op="mm", shape="2048x2048")
    script = report.tables["scripts"][0]["text"]
    assert report[0]["status"] == "ok"
    said = {}
    body = ast.parse(script).body
    for node in body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "CALL":
            said = ast.literal_eval(node.value)
    assert said["op"] == "aten::mm" and said["shapes"] == [[2048, 2048], [2048, 2048]]
    assert {"make_inputs", "run", "main"} <= {node.name for node in body if isinstance(node, ast.FunctionDef)}


def test_scopes_chain_and_narrow(trace, path, binary):
    steps = trace.info().tables["iterations"]["iteration"]
    first = steps[0]
    scope = trace.step(first).on(gpu=0)
    assert scope.gpu().rows() == rows_of(asked(binary, "gpu", path, "--step", str(first), "--gpu", "0"))
    assert trace.step(steps[0], steps[1]).kernels().rows() == rows_of(
        asked(binary, "kernels", path, "--step", f"{steps[0]}-{steps[1]}")
    )
    assert trace.step((steps[0], steps[1])).kernels().rows() == trace.step(range(steps[0], steps[1] + 1)).kernels().rows()
    window = trace.between(ms=(3, 9))
    assert window.gpu().rows() == rows_of(asked(binary, "gpu", path, "--from", "3", "--to", "9"))
    assert trace.between(us=(3000, 9000)).gpu().rows() == window.gpu().rows()
    assert trace.matching("triton").kernels().rows() == rows_of(asked(binary, "kernels", path, "--filter", "triton"))
    assert len(trace.kernels()) > len(trace.matching("triton").kernels())
    assert trace.between(3).between(None, 9).gpu().rows() == window.gpu().rows()
    assert trace.between(ms=(1, 9)).between(ms=(3, 20)).gpu().rows() == window.gpu().rows()  # each narrows the one before
    with pytest.raises(ridge.UsageError, match="one pair"):
        trace.between(3, us=(1, 2))
    with pytest.raises(ridge.UsageError, match="already"):
        trace.step(first).step(first + 1)
    assert trace.step(first).step(first).gpu().rows() == trace.step(first).gpu().rows()
    with pytest.raises(ridge.UsageError, match="whole trace"):
        scope.tables


def test_a_wrong_keyword_names_the_nearest(trace):
    with pytest.raises(TypeError, match="has no keyword 'bye'") as raised:
        trace.kernels(bye="op")
    assert isinstance(raised.value, ridge.Error)
    assert raised.value.code == "usage"
    assert "by" in raised.value.hint
    with pytest.raises(ridge.UsageError, match="an integer, not str"):
        trace.kernels(gpu="zero")
    with pytest.raises(ridge.UsageError, match="True or False, not str"):
        trace.findings(all="yes")
    with pytest.raises(ridge.UsageError, match="takes keywords"):
        trace.gpu("h200")
    with pytest.raises(ridge.Error):
        trace.kernels(device="h2000")
    with pytest.raises(AttributeError):
        trace.kernles


def test_errors_say_code_where_and_hint(tmp_path):
    with pytest.raises(ridge.ReadError) as missing:
        ridge.open(tmp_path / "missing.json")
    assert missing.value.code == "cannot_open"
    assert "missing.json" in missing.value.where
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"hello": 1}')
    with pytest.raises(ridge.ReadError) as no_trace:
        ridge.open(wrong)
    assert no_trace.value.code == "not_a_trace"
    assert no_trace.value.hint
    assert "hint:" in str(no_trace.value)


def test_a_folder_and_a_list_are_several_traces(fixtures, tmp_path):
    names = ["ddp_gloo_rank0.json.gz", "ddp_gloo_rank1.json.gz"]
    for name in names:
        (tmp_path / name).write_bytes((fixtures / name).read_bytes())
    folder = ridge.open(tmp_path)
    listed = ridge.open([tmp_path / name for name in names])
    apart = ridge.open(tmp_path / names[0], tmp_path / names[1])
    assert len(folder) == len(listed) == len(apart) == 2
    assert folder.diff().rows() == listed.diff().rows() == apart.diff().rows()
    assert [each.paths[0] for each in folder] == [str(tmp_path / name) for name in names]
    alone = ridge.open(tmp_path / names[1])
    assert folder[1].ops().rows() == alone.ops().rows()
    assert folder[1].tables.ops.rows() == alone.tables.ops.rows()
    assert folder[-1].step(0).gpu().rows() == alone.step(0).gpu().rows()
    with pytest.raises(IndexError):
        folder[2]
    # What is asked of one trace does not answer for the first of several.
    for several in (folder, listed, apart):
        for ask in (several.kernels, several.step(0).gpu, several.sql, several.between(ms=(0, 1)).step(0).ops):
            with pytest.raises(ridge.UsageError, match=r"takes one trace, 2 are open\n  hint: t\[0\]"):
                ask()
        with pytest.raises(ridge.UsageError, match=r"tables are those of one trace, 2 are open\n  hint: t\[0\]\.tables"):
            several.tables


def test_a_folder_holds_what_is_asked_about(fixtures, tmp_path, monkeypatch):
    names = ["ddp_gloo_rank0.json.gz", "ddp_gloo_rank1.json.gz"]
    for name in names:
        (tmp_path / name).write_bytes((fixtures / name).read_bytes())
    read, engine = [], ridge._native.open

    def noted(paths, **how):
        read.append(([os.path.basename(path) for path in paths], how.get("digests_only", False), how.get("digest_findings", False)))
        return engine(paths, **how)

    monkeypatch.setattr(ridge._native, "open", noted)
    folder = ridge.open(tmp_path)
    assert read == [] and len(folder) == 2
    ranks = folder.ranks()
    assert folder.arrivals().rows() and read == [(names, True, False)]
    findings = folder.ranks(findings=True)
    assert read[1:] == [(names, True, True)]
    assert folder[1].kernels().rows() == folder[1].kernels().rows() and folder[1].tables.ops.rows()
    assert folder[0].step(0).gpu().rows() and read[2:] == [(names[1:], False, False), (names[:1], False, False)]
    # To the last digit what the traces tell when all of them are open.
    together = ridge.open([tmp_path / name for name in names])
    assert ranks.text("json") == together.ranks().text("json")
    assert findings.text("json") == together.ranks(findings=True).text("json")
    assert folder.diff().rows() == together.diff().rows() and read[-1] == (names, False, False)
    before = len(read)
    assert folder[1].ops().rows() and len(read) == before  # all are open now
    folder.close()
    with pytest.raises(ridge.Error, match="closed"):
        folder[0].kernels()


def test_diff_takes_paths_and_traces(fixtures, binary):
    before, after = str(fixtures / "clean_casts.json.gz"), str(fixtures / "fault_casts.json.gz")
    expected = rows_of(asked(binary, "diff", before, after))
    assert ridge.diff(before, after).rows() == expected
    a, b = ridge.open(before), ridge.open(after)
    assert ridge.diff(a, b).rows() == expected
    assert ridge.diff(a, after, min_pct="1%").command == "diff"
    with pytest.raises(ridge.GateError) as failed:
        ridge.diff(a, b, fail_above="1%")
    assert isinstance(failed.value, AssertionError)
    assert failed.value.report.rows()


def test_text_is_what_the_command_line_prints(trace, path, binary):
    for form in ("csv", "md", "json"):
        printed = subprocess.run([binary, "categories", path, "-f", form], capture_output=True, text=True, check=True).stdout
        assert trace.categories().text(form) == printed
    for analysis in ("kernels", "findings", "summary"):
        printed = subprocess.run([binary, analysis, path], capture_output=True, text=True, check=True).stdout
        assert getattr(trace, analysis)().text() == printed
    shown = repr(trace.kernels())
    assert "slowdown" in shown and "bytes_written  " not in shown  # the columns that matter, as on the command line
    assert "text(wide=True) shows" in shown and "--wide" not in shown
    assert "slowdown" in repr(trace.kernels().tables["kernels"]) and "bytes_written  " not in repr(trace.kernels().tables["kernels"])
    assert "bytes_written  " in trace.kernels().text(wide=True)
    rows = list(csv.reader(io.StringIO(trace.categories().text("csv"))))
    assert rows[0] == trace.categories().columns


def test_without_a_trace(fixtures, tmp_path):
    assert "H200" in " ".join(str(row) for row in ridge.devices().rows())
    calls = tmp_path / "calls.jsonl"
    calls.write_text('{"op": "aten::mm", "shapes": [[4096, 4096], [4096, 4096]], "dtypes": ["bfloat16", "bfloat16"]}\n')
    assert ridge.predict(ops=calls, device="h200")[0]["flops"] == 2 * 4096**3


def test_a_closed_trace_says_so(path):
    with ridge.open(path) as trace:
        kernels = trace.kernels()
        table = trace.tables.ops
    assert len(kernels.rows()) > 10  # what was made stays
    assert len(table.rows()) > 10
    with pytest.raises(ridge.Error, match="closed"):
        trace.kernels()
    assert "closed" in repr(trace)


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda t: ridge.open(None), "by a path, not by NoneType"),
        (lambda t: ridge.open(3), "by a path, not by int"),
        (lambda t: ridge.open(["a.json", None]), "by a path, not by NoneType"),
        (lambda t: t["x"], "a trace has a number, not str"),
        (lambda t: t.tables[0], "a table has a name, not int"),
        (lambda t: t.tables["opps"], "did you mean ops"),
        (lambda t: t.tables.ops["nam"], "ops has no column 'nam'"),
        (lambda t: t.tables.ops.select("nam"), "did you mean name"),
        (lambda t: t.tables.ops.select(first=-1), "not negative"),
        (lambda t: t.kernels()["time"], "columns: kernel, |did you mean"),
        (lambda t: t.kernels()[1.5], "a row a number, not float"),
        (lambda t: t.kernels().tables["kernel"], "did you mean kernels"),
        (lambda t: t.kernels().tables["zzqq"], "its tables: kernels"),
        (lambda t: t.between(us=(1,)), "a pair of times"),
        (lambda t: t.between(ms=5), "a pair of times"),
        (lambda t: t.between(ms=(1, 2)).between(ms=(5, 6)), "nothing is left: from_=5 ms is after to=2 ms"),
        (lambda t: t.step(1).between(ms=(0.001, 0.002)).kernels(), "step=1 is outside of from_= and to="),
        (lambda t: t.using(device="abacus"), "unknown device 'abacus'"),
        (lambda t: t.using(dtype="zz"), "unknown dtype 'zz'"),
        (lambda t: t.between(ms=("a", 9)), "takes numbers, not str"),
        (lambda t: t.between(ms=(float("nan"), 9)), "takes numbers, not nan"),
        (lambda t: t.step((0, 1, 2)), "a step, or the first and the last"),
        (lambda t: t.step(slice(0, 2)), "a step, or the first and the last"),
        (lambda t: t.step(None), "a step, or the first and the last"),
        (lambda t: t.kernels(limit=3), r"kernels\(\)\[:3\]"),
        (lambda t: t.kernels(sort="count"), r'to_pandas\(\)\.sort_values'),
        (lambda t: t.kernels(format="csv"), r'text\("csv"\)'),
        (lambda t: t.kernel(), r"t\.kernel\(NAME\)"),
        (lambda t: pickle.dumps(t), "an open trace cannot be pickled"),
        (lambda t: pickle.dumps(t.step(1)), "an open trace cannot be pickled"),
        (lambda t: pickle.dumps(t.kernels()), "a report cannot be pickled"),
        (lambda t: pickle.dumps(t.tables.ops), "a table cannot be pickled"),
        (lambda t: t.kernels()[["kernel", "time_ns"]], r"to_pandas\(\)\[\["),
        (lambda t: t.kernels(by="zz"), "^by= takes launch"),
        (lambda t: t.kernels(filter="["), "^filter= is not a valid"),
        (lambda t: t.step(2, 1).kernels(), 'step="2-1" ends before it begins\n  hint: write step="1-2"'),
        (lambda t: t.kernels(from_=5, to=2), "from_=5 is after to=2"),
        (lambda t: t.kernel("zzqq"), r"t\.kernels\(\) lists them"),
        (lambda t: t.sql("select zzqq from slice"), r"t\.sql\(tables=True\) lists all"),
        (lambda t: t.sql(""), r't\.sql\("select \.\.\."\)'),
        (lambda t: t.sql(), r't\.sql\("select name.*"\); tables= lists'),
        (lambda t: t.kernels(device="abacus"), r"ridge\.devices\(\) lists known devices; device_file=FILE describes"),
        (lambda t: t.step(0).sql("select count(*) from slice"), "step=0 does not hold for this query.*the whole trace is in slice"),
        (lambda t: t.matching("gemm").sql("select count(*) from slice"), "filter=gemm does not hold"),
    ],
)
def test_errors_are_in_pythons_words(trace, call, said):
    with pytest.raises(ridge.UsageError, match=said) as failed:
        call(trace)
    assert "--" not in str(failed.value)


def test_a_missing_name_is_a_key_error_too(trace):
    for call in (lambda: trace.kernels()["zzqq"], lambda: trace.kernels().tables["zzqq"], lambda: trace.tables["zzqq"], lambda: trace.tables.ops["zzqq"]):
        with pytest.raises(KeyError) as failed:
            call()
        assert "zzqq" in str(failed.value) and not str(failed.value).startswith('"')
    assert not hasattr(trace.tables, "zzqq")


def test_slices_of_rows(trace):
    for table in (trace.kernels(), trace.kernels().tables["kernels"], trace.tables.ops):
        rows = table.to_dicts()
        for part in (slice(0, 2), slice(None, 3), slice(-2, None), slice(5, 2), slice(None, None, 2), slice(None, None, -1)):
            assert table[part] == rows[part]
    assert [one.paths for one in trace[:1]] == [trace.paths]


def test_sql_of_a_part_is_of_that_part(trace):
    of_step = trace.step(1).sql("select count(*) as n, sum(time_ns) as ns from kernels()")
    assert of_step[0]["ns"] == sum(row["time_ns"] for row in trace.step(1).kernels())
    assert of_step[0]["ns"] < trace.sql("select sum(time_ns) as ns from kernels()")[0]["ns"]
    assert trace.sql("select count(*) as n from slice", step=1).diagnostics[0]["code"] == "whole_trace"  # asked for in as many words
