"""Traces as users hand them over: files, folders, standard input, and what is none."""

import json
import os

from checks import check, equal
from harness import event, refused, Run, succeeds, TRACE


def test_standard_input(folder):
    wanted = json.loads(succeeds("info", "--json", folder.trace).out)
    got = json.loads(succeeds("info", "--json", "-", stdin=TRACE.encode()).out)
    equal([len(table["rows"]) for table in got["tables"]], [len(table["rows"]) for table in wanted["tables"]], "rows from stdin")


def test_not_a_trace(folder):
    refused(1, "info", folder.write("n.json", '{"a": 1}'), error="traceEvents")
    refused(1, "info", folder.write("e.json", ""), error="empty")


def test_a_folder_of_several_traces_lists_them(folder):
    folder.write("u.json", TRACE)
    run = refused(2, "info", folder.path, error="traces")
    check("t.json" in run.err and "u.json" in run.err, run.err)


def test_a_folder_stands_for_its_traces(folder):
    """In natural order, where a command takes several."""
    os.mkdir(folder.at("ranks"))
    for rank in (10, 2, 1):
        folder.write(f"ranks/rank{rank}.json", TRACE)
    folder.write("ranks/notes.txt", "")
    ranks = ["rank1.json", "rank2.json", "rank10.json"]
    succeeds("combine", folder.at("ranks"), folder.at("all.json"))
    combined = json.loads(folder.read("all.json"))
    equal([part["trace"] for part in combined["ridge_combined"]], ranks, "combined")
    equal(sum(e.get("ph") == "X" for e in combined["traceEvents"]), 3 * 50, "events")
    answer = json.loads(succeeds("diff", folder.at("ranks"), "--json").out)
    equal([trace["name"] for trace in answer["traces"]], ranks, "compared")
    succeeds("report", folder.at("ranks"), "-o", folder.at("page.html"))
    check(all(rank in folder.read("page.html") for rank in ranks), "the page holds all")
    refused(2, "combine", folder.at("ranks"), folder.at("ranks/rank1.json"), error="rank1")
    os.mkdir(folder.at("none"))
    refused(1, "combine", folder.at("none"), folder.at("o.json"), error="folder")
    os.mkdir(folder.at("one"))
    folder.write("one/t.json", TRACE)
    refused(2, "diff", folder.at("one"), error="diff .*2 traces")


def test_a_filter_that_matches_nothing_says_so(folder):
    run = succeeds("kernels", "--filter", "nomatch", folder.trace)
    check("no name matches --filter nomatch" in run.err, run.err)
    check("no name matches" not in succeeds("kernels", "--filter", "kernel", folder.trace).err, "what matches")
    for command in "gpu", "launches", "summary", "info":
        run = succeeds(command, "--filter", "nomatch", folder.trace)
        equal(run.err.count("no name matches --filter nomatch"), 1, command)


def test_a_filter_that_narrows_a_part_says_so(folder):
    for command, name in ("gpu", "kernel"), ("launches", "cuda_runtime"), ("summary", "kernel"), ("info", "kernel"):
        run = succeeds(command, "--filter", name, folder.trace)
        equal(run.err.count("warning: --filter "), 1, f"{command}: {run.err}")
        equal(succeeds(command, "-q", "--filter", name, folder.trace).err, "", command)


def test_every_time_has_its_unit(folder):
    for table in json.loads(succeeds("info", "--json", folder.trace).out)["tables"]:
        for column in table["columns"]:
            check(not column["name"].endswith("_ns") or column["unit"] == "ns", f"{table['name']}: {column}")


def test_input_is_never_touched(folder):
    before = os.stat(folder.trace)
    succeeds("info", folder.trace)
    after = os.stat(folder.trace)
    equal((after.st_mtime_ns, after.st_size, folder.read("t.json")), (before.st_mtime_ns, before.st_size, TRACE), "the input")


def test_hostile_names_reach_no_terminal(folder):
    name = "\x1b]0;owned\x07" + "\u202e"
    trace = folder.write("h.json", json.dumps({"traceEvents": [dict(event(0), name=name, cat=name), dict(event(1), name=name)]}))
    for fmt in ("table", "md", "json"):
        run = succeeds("info", trace, "-f", fmt)
        check("\x1b" not in run.out + run.err and "\x07" not in run.out + run.err, f"{fmt}: an escape got through")
    refused(1, "no\x1b[31m.json", error=r"no\\u001b\[31m")


def test_a_gate_that_fails_is_3(folder):
    if "--strict" not in Run("help", "check").out:
        return
    bad = folder.write("bad.json", TRACE[:-200])
    succeeds("check", bad)
    Run("check", "--strict", bad).expect(3)
    succeeds("check", "--strict", folder.trace)


def test_times_outside_the_window_are_refused(folder):
    refused(2, "gaps", folder.trace, "--from", "1000", error="--from 1000", hint="ends")
    refused(2, "gaps", folder.trace, "--to", "0", error="--to 0")
    refused(2, "cut", folder.trace, folder.at("out.json"), "--from", "1000", "--to", "2000", error="--from")
    equal(folder.names(), ["t.json"], "files")


def test_runs_have_a_limit(folder):
    refused(2, "summary", folder.trace, "--runs", "100000000", error="--runs")


def test_times_count_from_the_start_of_the_trace(folder):
    def first_gap(*flags):
        report = json.loads(succeeds("gaps", folder.trace, "-f", "json", *flags).out)
        table = next(table for table in report["tables"] if table["name"] == "gaps")
        at = [column["name"] for column in table["columns"]].index("start_ns")
        return min(row[at] for row in table["rows"])

    check(first_gap("--from", "0.2") >= 200_000 - 10_000, "a gap of a part is placed in the whole")


def test_ranks_of_one_file_name_have_names_that_differ(folder):
    for rank in ("r0", "r1"):
        os.mkdir(folder.at(rank))
        folder.write(os.path.join(rank, "trace.json"), TRACE)
    paths = [folder.at(os.path.join(rank, "trace.json")) for rank in ("r0", "r1")]
    names = ["r0/trace.json", "r1/trace.json"]
    report = json.loads(succeeds("diff", *paths, "--json").out)
    equal([trace["name"] for trace in report["traces"]], names, "names in JSON")
    equal([trace["path"] for trace in report["traces"]], paths, "paths in JSON")
    people = succeeds("diff", *paths).out
    check(all(name in people for name in names), people)
    equal([trace["name"] for trace in json.loads(succeeds("info", paths[0], "--json").out)["traces"]], ["trace.json"], "alone")
    succeeds("combine", *paths, folder.at("all.json"))
    equal([part["trace"] for part in json.loads(folder.read("all.json"))["ridge_combined"]], names, "combined")


def test_reports_hold_no_path_of_the_machine(folder):
    for rank in ("r0", "r1"):
        os.mkdir(folder.at(rank))
        folder.write(os.path.join(rank, "trace.json"), TRACE)
    page = folder.at("page.html")
    succeeds("report", folder.at("r0/trace.json"), folder.at("r1/trace.json"), "-o", page)
    with open(page, encoding="utf-8") as file:
        text = file.read()
    check("r1/trace.json" in text or "r1\\/trace.json" in text, "the traces have no names that differ")
    check(folder.at("r0") not in text and os.path.dirname(folder.at("r0")) not in text, "the page tells where the traces lie")
