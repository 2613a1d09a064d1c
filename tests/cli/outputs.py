"""What comes out: formats, streams, files that are whole or absent."""

import csv
import io
import json
import os
import re
import resource
import stat

from checks import check, equal
from harness import refused, Run, succeeds, TRACE


def test_json_is_the_contract(folder):
    run = succeeds("info", "--json", folder.trace)
    check(run.out.endswith("}\n"), "no newline at the end")
    report = json.loads(run.out)
    equal(list(report), ["schema", "ridge", "command", "traces", "tables", "series", "diagnostics"], "keys")
    equal((report["schema"], report["command"]), (2, "info"), "schema and command")
    equal([trace["name"] for trace in report["traces"]], ["t.json"], "traces")
    equal(report["tables"][0]["name"], "trace", "first table")
    for table in report["tables"]:
        equal(list(table), ["name", "columns", "rows", "total", "parent"], "keys of a table")
        for row in table["rows"] + ([table["total"]] if table["total"] else []):
            equal(len(row), len(table["columns"]), f"cells of a row of {table['name']}")
        for column in table["columns"]:
            equal(list(column), ["name", "type", "unit", "role"], "keys of a column")


def test_csv_is_one_table(folder):
    rows = list(csv.reader(io.StringIO(succeeds("info", "-f", "csv", folder.trace).out)))
    first = json.loads(succeeds("info", "--json", folder.trace).out)["tables"][0]
    equal(rows[0], [column["name"] for column in first["columns"]], "header")
    equal([len(row) for row in rows], [len(first["columns"])] * (1 + len(first["rows"])), "cells")


def test_limit_cuts_tables_and_tells_people(folder):
    rows = {table["name"]: len(table["rows"]) for table in json.loads(succeeds("info", "--json", folder.trace).out)["tables"]}
    check(max(rows.values()) > 1, f"no table has rows to cut: {rows}")
    cut = json.loads(succeeds("info", "--json", "-n", "1", folder.trace).out)
    check(all(len(table["rows"]) <= 1 for table in cut["tables"]), "a table has more than one row")
    check(re.search(r"\[\d+ others?\]", succeeds("info", "-n", "1", folder.trace).out), "no [N others]")
    check(not re.search(r"\[\d+ others?\]", succeeds("info", "-n", "0", folder.trace).out), "[N others] although nothing was cut")


def long_names(folder):
    """A trace whose kernels have long names, the shape of CUTLASS's and PyTorch's."""
    name = "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_%s_32x3_tn_align4, at::native::Functor<float, %s>>" + "(Params)" * 20
    events = []
    for i, tile in enumerate(["64x128", "128x64", "128x128"]):
        events.append({"ph": "X", "cat": "kernel", "name": name % (tile, "x" * 40), "pid": 0, "tid": 7, "ts": 100 * i, "dur": 50 - i,
                       "args": {"device": 0, "stream": 7, "correlation": i + 1}})
    return folder.write("long.json", json.dumps({"traceEvents": events})), [event["name"] for event in events]


def test_a_piped_table_is_readable(folder):
    trace, names = long_names(folder)
    lines = succeeds("kernels", trace, "-q").out.splitlines()
    heading = lines[1]
    check(heading.endswith("label") or heading.endswith("kernel"), f"the name stands last: {heading!r}")
    check(len(heading) <= 110, f"the columns before the name take {len(heading)}")
    for word in ("time", "pct_gpu_time", "count"):
        check(word in heading.split(), f"no {word} in {heading!r}")
    check(any(re.fullmatch(r"  \(--wide shows \d+ more columns: .*\)", line) for line in lines), "what is left out is said")
    wide = succeeds("kernels", trace, "-q", "--wide").out
    json_columns = [column["name"] for column in json.loads(succeeds("kernels", trace, "--json", "-q").out)["tables"][0]["columns"]]
    check(len(wide.splitlines()[1].split()) >= len(json_columns) - 3 and "--wide" not in wide, "all columns")
    for name in names:
        check(name in wide and "…" not in wide, "whole names")
    succeeds("kernels", trace, "-q", "-o", folder.at("out"))
    equal(folder.read("out"), "\n".join(lines) + "\n", "a file is as a pipe")


def test_output_is_stable(folder):
    for fmt in ("table", "json", "csv", "md"):
        outputs = {succeeds("info", "-f", fmt, "--threads", threads, folder.trace).out for threads in ("1", "2", "8")}
        equal(len(outputs), 1, f"different outputs of {fmt}")


def test_quiet_says_nothing_on_stderr(folder):
    equal(succeeds("info", "-q", folder.trace).err, "", "stderr")


def test_warnings_are_few_and_on_stderr(folder):
    run = succeeds("info", folder.trace)
    check("warning" not in run.out, "a warning on stdout")
    check(len(run.err.splitlines()) <= 6, run.err)
    check(all(line.startswith("warning: ") for line in run.err.splitlines()), run.err)


def test_closed_pipe_is_quiet(folder):
    for words in (["info", "-q", folder.trace], ["help"], ["version"]):
        reader, writer = os.pipe()
        os.close(reader)
        try:
            run = Run(*words, stdout=writer).expect(0)
        finally:
            os.close(writer)
        equal(run.err, "", "stderr of " + words[0])


def test_full_disk_is_an_error(folder):
    for words in (["info", folder.trace], ["help"], ["version"], ["completion", "bash"]):
        with open("/dev/full", "wb") as full:
            run = Run(*words, stdout=full).expect(1)
        check(run.err.startswith("error: cannot write to standard output: No space"), run.err)


def test_closed_streams(folder):
    run = Run("info", folder.trace, preexec_fn=lambda: os.close(1)).expect(1)
    check("cannot write" in run.err, run.err)
    wanted = succeeds("info", folder.trace).out
    succeeds("info", folder.trace, "-o", folder.at("out"), preexec_fn=lambda: (os.close(0), os.close(1), os.close(2)))
    equal(folder.read("out"), wanted, "the output file")


# -o


def test_output_file(folder):
    wanted = succeeds("info", folder.trace).out
    run = succeeds("info", folder.trace, "-o", folder.at("out.txt"))
    equal((run.out, folder.read("out.txt")), ("", wanted), "output")
    equal(folder.names(), ["out.txt", "t.json"], "files")
    equal(succeeds("info", folder.trace, "-o", "-").out, wanted, "-o -")
    equal(succeeds("info", folder.trace, "-o", "here", cwd=folder.path).out, "", "a bare name")
    equal(folder.read("here"), wanted, "a bare name")


def test_output_file_mode(folder):
    succeeds("info", folder.trace, "-o", folder.at("new"), preexec_fn=lambda: os.umask(0o027))
    equal(stat.S_IMODE(os.stat(folder.at("new")).st_mode), 0o640, "mode of a new file")
    os.chmod(folder.write("old", "x"), 0o604)
    succeeds("info", folder.trace, "-o", folder.at("old"))
    equal(stat.S_IMODE(os.stat(folder.at("old")).st_mode), 0o604, "mode of a replaced file")


def test_output_through_a_link_keeps_the_link(folder):
    folder.write("real", "x")
    os.symlink("real", folder.at("link"))
    succeeds("info", folder.trace, "-o", folder.at("link"))
    check(os.path.islink(folder.at("link")) and folder.read("real") != "x", "the link was replaced")


def test_output_is_never_an_input(folder):
    os.symlink("t.json", folder.at("link"))
    os.link(folder.trace, folder.at("hard"))
    for name in ("t.json", "link", "hard", "./t.json"):
        refused(2, "info", folder.trace, "-o", folder.at(name), error="input")
        refused(2, "info", folder.path, "-o", folder.at(name), error="input")
    equal((folder.read("t.json"), folder.names()), (TRACE, ["hard", "link", "t.json"]), "the folder")


def test_failed_run_leaves_the_old_output(folder):
    folder.write("out", "old")
    refused(1, "info", folder.at("none.json"), "-o", folder.at("out"), error="none.json")
    equal((folder.read("out"), folder.names()), ("old", ["out", "t.json"]), "the folder")


def test_failed_write_leaves_the_old_output(folder):
    folder.write("out", "old")
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
    refused(1, "info", folder.trace, "-o", folder.at("out"), preexec_fn=limit, error="'.*out': File too large")
    equal((folder.read("out"), folder.names()), ("old", ["out", "t.json"]), "the folder")


def test_output_that_cannot_be_made(folder):
    refused(1, "info", folder.trace, "-o", folder.at("none/out"), error="'.*none/out': No such file")
    os.mkdir(folder.at("sub"))
    refused(1, "info", folder.trace, "-o", folder.at("sub"), error="folder")
    refused(1, "info", folder.trace, "-o", "/dev/full", error="'/dev/full': No space")
    succeeds("info", folder.trace, "-o", "/dev/null")
    check(stat.S_ISCHR(os.stat("/dev/null").st_mode), "/dev/null was replaced")


def test_the_recorders_folders_are_not_told(folder):
    trace = folder.write("t.json", json.dumps({"traceName": "/home/someone/secret/run.json", "traceEvents": []}))
    out = Run("info", trace, "--json").out
    check("run.json" in out and "secret" not in out, out[:800])


def test_kernels_of_replays_count_as_of_graphs(folder):
    events = [{"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": {"correlation": 5}}]
    events += [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 10 + 5 * i, "dur": 3, "args": {"correlation": 5, "device": 0, "stream": 7}} for i in range(3)]
    out = json.loads(Run("kernel", "k", folder.write("g.json", json.dumps({"traceEvents": events})), "--json").out)
    table = out["tables"][0]
    row = dict(zip([column["name"] for column in table["columns"]], table["rows"][0]))
    equal(row["graph_count"], 3, "kernels that a graph launched")
