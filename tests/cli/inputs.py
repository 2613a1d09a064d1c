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
    refused(1, "info", folder.write("n.json", '{"a": 1}'), error=".")
    refused(1, "info", folder.write("e.json", ""), error=".")


def test_a_folder_of_several_traces_lists_them(folder):
    folder.write("u.json", TRACE)
    run = refused(2, "info", folder.path, error=".")
    check("t.json" in run.err and "u.json" in run.err, run.err)


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
    refused(2, "gaps", folder.trace, "--from", "1000", error="--from 1000 lies behind the end of the window", hint="ends")
    refused(2, "gaps", folder.trace, "--to", "0", error="--to 0 lies before the start")
    refused(2, "cut", folder.trace, folder.at("out.json"), "--from", "1000", "--to", "2000", error="behind the end")
    equal(folder.names(), ["t.json"], "files")


def test_runs_have_a_limit(folder):
    refused(2, "summary", folder.trace, "--runs", "100000000", error="--runs takes a number from 1 to")


def test_times_count_from_the_start_of_the_trace(folder):
    def first_gap(*flags):
        report = json.loads(succeeds("gaps", folder.trace, "-f", "json", *flags).out)
        table = next(table for table in report["tables"] if table["name"] == "gaps")
        at = [column["name"] for column in table["columns"]].index("start_ns")
        return min(row[at] for row in table["rows"])

    check(first_gap("--from", "0.2") >= 200_000 - 10_000, "a gap of a part is placed in the whole")
