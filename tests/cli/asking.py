"""SQL: a query from the command line, a file or a pipe; its tables; gates."""

import json
import os

from checks import check, equal
from harness import Run, refused, succeeds

FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fixtures")
COUNT = "select count(*) as slices from slice"


def rows_of(out):
    return json.loads(out)["tables"][0]["rows"]


def test_a_query_comes_three_ways(folder):
    rows = rows_of(succeeds("sql", folder.trace, COUNT, "--json").out)
    check(rows[0][0] > 0, rows)
    equal(rows_of(succeeds("sql", folder.trace, "--query", COUNT, "--json").out), rows, "by its flag")
    equal(rows_of(succeeds("sql", folder.trace, "-- how many\n" + COUNT, "--json").out), rows, "behind a comment")
    path = folder.write("query.sql", "-- how many\n" + COUNT + ";\n")
    equal(rows_of(succeeds("sql", folder.trace, "--query-file", path, "--json").out), rows, "from a file")
    equal(rows_of(succeeds("sql", folder.trace, "--query-file", "-", "--json", stdin=COUNT.encode()).out), rows, "from a pipe")


def test_formats_of_an_answer(folder):
    query = "select 1 as a, 'x' as b union all select 2, null"
    equal(succeeds("sql", folder.trace, query, "-f", "csv", "-q").out, "a,b\n1,x\n2,\n", "csv")
    check("| a | b |" in succeeds("sql", folder.trace, query, "-f", "md").out, "md")
    table = json.loads(succeeds("sql", folder.trace, query, "--json").out)["tables"][0]
    equal([table["name"], [column["type"] for column in table["columns"]]], ["sql", ["integer", "text"]], "json")


def test_tables_are_listed(folder):
    rows = rows_of(succeeds("sql", folder.trace, "--tables", "--json").out)
    tables = {row[0] for row in rows}
    check({"slice", "events", "kernels", "kernels_by_op", "ridge_ops"} <= tables, sorted(tables))


def test_rows_fail_a_gate(folder):
    equal(Run("sql", folder.trace, COUNT, "--gate").code, 3, "rows")
    equal(Run("sql", folder.trace, COUNT + " where 0 group by name", "--gate").code, 0, "no rows")
    failed = Run("check", folder.trace, "--by-sql", "select name from slice limit 2", "--by-sql", "select 1 where 0", "--json")
    equal(failed.code, 3, "check")
    check("failed: --by-sql gives rows: select name" in failed.err, failed.err)
    tables = {table["name"]: len(table["rows"]) for table in json.loads(failed.out)["tables"]}
    equal([tables["by_sql"], tables["by_sql_2"]], [2, 0], "a table for each query")
    equal(Run("findings", folder.trace, "--by-sql", "select 1 where 0").code, 0, "findings")
    equal(Run("findings", folder.trace, "--by-sql", "select 1").code, 3, "findings")


def test_wrong_queries_are_refused(folder):
    refused(2, "sql", folder.trace, error="query", hint="select")
    refused(2, "sql", error="sql needs", hint="ridge sql")
    refused(2, "sql", folder.trace, "selec 1", error="syntax error")
    refused(2, "sql", folder.trace, "select * from kernel_", error="no such table", hint="kernels")
    refused(2, "sql", folder.trace, "INCLUDE PERFETTO MODULE x", error="Perfetto", hint="--tables")
    refused(2, "sql", folder.trace, "attach 'x' as y", error="reading")
    refused(2, "sql", folder.trace, COUNT, "--query-file", folder.write("q.sql", COUNT), error="two queries")
    refused(1, "sql", folder.trace, "--query-file", folder.at("none.sql"), error="cannot open")
    refused(1, "sql", folder.trace, "--max-seconds", "0.05",
            "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n", error="longer than", hint="--max-seconds")


def test_the_trace_comes_first(folder):
    refused(2, "sql", COUNT, folder.trace, error="the trace comes first", hint=f'ridge sql {folder.trace} "select')
    check("\n  sql TRACE QUERY " in succeeds("help").out, "the order in the help")
    check("usage: ridge sql [FLAGS] TRACE QUERY" in succeeds("help", "sql").out, "the order in its own help")


def test_what_a_scope_does_not_narrow_is_said(folder):
    said = "the whole trace is in slice"
    check(said in Run("sql", folder.trace, COUNT, "--from", "0.1").err, "a table of the trace, narrowed by time")
    check(said in Run("sql", folder.trace, COUNT, "--filter", "kernel").err, "and by names")
    equal(Run("sql", folder.trace, "select count(*) from kernels()", "--from", "0.1").err, "", "an analysis is narrowed")
    equal(Run("sql", folder.trace, COUNT).err, "", "the whole trace was asked for")


def test_a_step_outside_of_the_time_is_refused(_):
    trace = os.path.join(FIXTURES, "mlp_profiler_steps.json.gz")
    for analysis in ("kernels", "gpu", "ops"):
        refused(2, analysis, trace, "--step", "2", "--from", "15", "--to", "18", error="--step 2 is outside of --from and --to", hint="it lasts from 0 ns to 5")
    check(json.loads(succeeds("kernels", trace, "--step", "2", "--from", "1", "--to", "18", "--json").out)["tables"][0]["rows"], "a part of a step")


def test_kinds_are_in_order_whatever_the_threads(folder):
    events = [{"ph": "X", "cat": f"category {(i * 7919) % 101}", "name": "n", "pid": 1, "tid": 1, "ts": i, "dur": 1} for i in range(20_000)]
    trace = folder.write("many.json", json.dumps({"traceEvents": events}))
    for threads in ("1", "2", "7"):
        rows = [tuple(row) for row in rows_of(succeeds("sql", trace, "select ph, cat from kinds", "--json", "--threads", threads).out)]
        equal(len(rows), 101, "kinds")
        equal(rows, sorted(rows), f"their order with {threads} threads")


def test_an_empty_name_is_empty(folder):
    events = [{"ph": "X", "cat": "cpu_op", "name": "", "pid": 1, "tid": 1, "ts": 1, "dur": 1}, {"ph": "X", "cat": "cpu_op", "name": "x", "pid": 1, "tid": 1, "ts": 3, "dur": 1}]
    trace = folder.write("unnamed.json", json.dumps({"traceEvents": events}))
    for table in ("slice", "events", "ops"):
        equal(rows_of(succeeds("sql", trace, f"select name, name is null from {table}", "--json").out), [["", 0], ["x", 0]], table)
