"""SQL: a query from the command line, a file or a pipe; its tables; gates."""

import json

from checks import check, equal
from harness import Run, refused, succeeds

COUNT = "select count(*) as slices from slice"


def rows_of(out):
    return json.loads(out)["tables"][0]["rows"]


def test_a_query_comes_three_ways(folder):
    rows = rows_of(succeeds("sql", folder.trace, COUNT, "--json").out)
    check(rows[0][0] > 0, rows)
    equal(rows_of(succeeds("sql", folder.trace, "--query", COUNT, "--json").out), rows, "by its flag")
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
