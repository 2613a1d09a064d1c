// What a query may not do, and what it may not take. Each refusal says what to do instead.
#include <chrono>
#include <fstream>
#include <thread>

#include <unistd.h>

#include "asked.h"
#include "made_sql_trace.h"
#include "support/says.h"

namespace ridge::sql {
namespace {

using test::says;

TEST(SqlHeld, ReadsAndNothingElse) {
  const Asked made(kMadeTrace);
  for (const char* query : {"create table t(x)",
                            "create temp table t(x)",
                            "create view v as select 1",
                            "drop table slice",
                            "delete from slice",
                            "insert into slice(id) values (1)",
                            "update slice set id = 1",
                            "attach 'x.db' as x",
                            "attach ':memory:' as x",
                            "detach main",
                            "pragma writable_schema = on",
                            "pragma temp_store = file",
                            "pragma journal_mode = wal",
                            "pragma database_list",
                            "vacuum",
                            "vacuum into '/tmp/ridge_out.db'",
                            "reindex",
                            "analyze",
                            "begin",
                            "savepoint s",
                            "select load_extension('x')",
                            "select readfile('/etc/passwd')",
                            "select writefile('/tmp/x', 'y')",
                            "select fts3_tokenizer('simple')",
                            "select * from sqlite_master",
                            "select * from dbstat",
                            "select * from pragma_database_list",
                            "select * from sqlite_stmt",
                            "pragma table_info(slice)",
                            "select randomblob(10)",
                            "select zeroblob(10)",
                            "select sqlite_version()",
                            "explain delete from slice",
                            "create virtual table x using fts5(y)"}) {
    const Error error = made.error(query);
    EXPECT_EQ(error.code, ErrorCode::usage) << query;
    EXPECT_FALSE(error.message.empty()) << query;
  }
  EXPECT_NE(::access("/tmp/ridge_out.db", F_OK), 0);
}

TEST(SqlHeld, TakesNoMoreThanItMay) {
  const Asked made(kMadeTrace);
  const auto code = [&](std::string_view query) {
    return made.error(query, {{"max_seconds", "0.2"}, {"max_memory", "20000000"}}).code;
  };
  EXPECT_EQ(code("with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"),
            ErrorCode::too_large);
  EXPECT_EQ(code("with recursive n(i) as (select 1 union all select i + 1 from n limit 9000000) select i from n order by -i"),
            ErrorCode::too_large);
  EXPECT_EQ(code("with recursive n(i) as (select 1 union all select i + 1 from n) select i, i, i, i from n"),
            ErrorCode::too_large);
  EXPECT_EQ(code("select printf('%.*c', 900000000, 'x')"), ErrorCode::too_large);
  EXPECT_EQ(code("select count(*) from events a, events b, events c, events d, events e, events f, events g, events h where "
                 "a.ts_ns < b.ts_ns"),
            ErrorCode::too_large);
  EXPECT_EQ(code("select group_concat(hex(hex(hex(hex(hex(printf('%1000d', 1))))))) from events a, events b"),
            ErrorCode::too_large);
  EXPECT_EQ(code("select replace(hex(printf('%1000d', 1)), '2', hex(hex(printf('%1000d', 1))))"), ErrorCode::too_large);
  std::string deep = "1";
  for (int i = 0; i < 2000; ++i) deep = "(" + deep + "+1)";
  EXPECT_EQ(made.error("select " + deep).code, ErrorCode::usage);
  EXPECT_EQ(made.error("select '" + std::string(300'000, 'x') + "'").code, ErrorCode::too_large);
}

// SQLite's own take the product of the lengths: minutes.
TEST(SqlHeld, LongTextsTakeNoLongTime) {
  const Asked made(kMadeTrace);
  const std::string long_text =
      "(with recursive t(x) as (select 'aaaaaaaa' union all select x || x from t where length(x) < 500000) select x from t "
      "order by length(x) desc limit 1)";
  EXPECT_EQ(made.rows("select instr(x, substr(x, 1, 200000) || 'b') from (select " + long_text + " as x)"), "0\n");
  EXPECT_EQ(made.rows("select length(replace(x, substr(x, 1, 200000) || 'b', 'c')) from (select " + long_text + " as x)"),
            "524288\n");
  EXPECT_EQ(made.error("select trim(x, replace(x, 'a', 'b')) from (select " + long_text + " as x)").code, ErrorCode::usage);
}

TEST(SqlHeld, TextFunctionsAreSqlites) {
  const Asked made(kMadeTrace);
  EXPECT_EQ(made.rows("select instr('grün', 'n'), instr('abc', 'x'), instr('abc', ''), instr(null, 'a'), instr(123, '2')"),
            "4|0|1|NULL|2\n");
  EXPECT_EQ(
      made.rows("select replace('aXbX', 'X', ''), replace('abc', '', 'x'), replace('aa', 'a', 'aa'), replace(null, 'a', 'b')"),
      "ab|abc|aaaa|NULL\n");
  EXPECT_EQ(made.rows("select trim('xxaxx', 'x'), ltrim('äöaö', 'öä'), rtrim('abcba', 'ab'), trim('a', ''), trim('  a ')"),
            "a|aö|abc|a|a\n");
  EXPECT_EQ(made.rows("select printf('%d %5.2f|%-6s|%6s|%x|%c|%%|%,d|%05d', 7, 3.14159, 'ab', 'cd', 255, 'xyz', 1234567, 42), "
                      "printf(null)"),
            "7  3.14|ab    |    cd|ff|x|%|1,234,567|00042|NULL\n");
  EXPECT_EQ(made.rows("select length(printf('%.*c', 100, 'x')), printf('%6.2c|', 'äb'), length(printf('%.0c', 'x'))"),
            "100|    ää||1\n");
  EXPECT_TRUE(says(made.error("select printf('%10000s', 'a')").message, {"1000"}));
  EXPECT_EQ(made.rows("select format('%s %d', 'no value'), printf('%.*f', 1, 2.25), printf('%.3s', 'abcdef')"),
            "no value 0|2.2|abc\n");
  EXPECT_EQ(made.rows("select 'kernel_12' regexp '_\\d+$', 'x' regexp null, null regexp 'x'"), "1|NULL|NULL\n");
  EXPECT_TRUE(says(made.error("select name from slice where name regexp '('").message, {"regexp"}));
}

TEST(SqlHeld, JsonIsTakenApart) {
  const Asked made(kMadeTrace);
  EXPECT_EQ(made.rows("select key, value from json_each('[5, 7]')"), "0|5\n1|7\n");
  EXPECT_EQ(made.rows("select count(*) from json_tree('{\"a\": [1, 2]}')"), "4\n");
}

// A join has two columns of one name: who reads rows by name must not lose one.
TEST(SqlHeld, ColumnsHaveNamesOfTheirOwn) {
  const Asked made(kMadeTrace);
  const auto table = answer_query(made.scope(), "select 1 as a, 2 as a, 3 as a_2, 4 as a", {});
  ASSERT_TRUE(table);
  std::vector<std::string> names;
  for (const Column& column : table->columns) names.push_back(column.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "a_2", "a_2_2", "a_3"}));
}

TEST(SqlHeld, SaysWhatToUseInstead) {
  const Asked made(kMadeTrace);
  EXPECT_TRUE(says(made.error("INCLUDE PERFETTO MODULE slices.with_context; select 1").hint, {"slice", "--tables"}));
  EXPECT_TRUE(says(made.error("-- a comment\nCREATE PERFETTO TABLE x AS select 1").hint, {"WITH"}));
  EXPECT_TRUE(says(made.error("CREATE OR REPLACE PERFETTO FUNCTION f() RETURNS INT AS select 1").hint, {"WITH"}));
  EXPECT_TRUE(says(made.error("CREATE VIRTUAL TABLE x USING SPAN_JOIN(a, b)").hint, {"a.ts < b.ts + b.dur"}));
  EXPECT_TRUE(says(made.error("select * from thread_slice").hint, {"thread_track"}));
  EXPECT_TRUE(says(made.error("select * from slic").hint, {"slice"}));
  EXPECT_TRUE(says(made.error("select nme from slice").hint, {"name"}));
  EXPECT_TRUE(says(made.error("select cont(*) from slice").hint, {"count"}));
  EXPECT_TRUE(says(made.error("select 1; select 2").hint, {"WITH"}));
  EXPECT_TRUE(says(made.error("select 1,\n  nothing from slice").where, {"line 2", "column 3"}));
  EXPECT_EQ(made.error("  -- nothing\n;").code, ErrorCode::usage);
  EXPECT_EQ(made.rows("select 1; -- and a comment\n ;"), "1\n");
}

// Each query has its own budget and clock, whatever runs beside it.
TEST(SqlHeld, QueriesRunSideBySide) {
  const Asked made(kMadeTrace);
  std::vector<std::thread> threads;
  std::vector<std::string> answers(4);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    threads.emplace_back([&, i] {
      if (i % 2 == 0) {
        answers[i] = made.rows("select count(*), sum(dur) from slice where dur > 0");
      } else {
        answers[i] = made.error("with recursive n(i) as (select 1 union all select i + 1 from n) select i from n order by 1",
                                {{"max_memory", "4000000"}})
                         .message;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answers[0], answers[2]);
  EXPECT_EQ(answers[0].find("error"), std::string::npos);
  EXPECT_TRUE(says(answers[1], {"4.00 MB"})) << answers[1];
  EXPECT_EQ(answers[1], answers[3]);
}

TEST(SqlHeld, AnswersHaveOneTypeAColumn) {
  const Asked made(kMadeTrace);
  const auto types = [&](std::string_view query) {
    const auto table = answer_query(made.scope(), query, {});
    std::string text;
    for (const Column& column : table->columns) text += "tind"[static_cast<int>(column.type)];
    return text;
  };
  EXPECT_EQ(types("select 1 as a, 1.5 as b, 'x' as c, null as d"), "intt");
  EXPECT_EQ(types("select 1 as a union all select 2.5"), "n");
  EXPECT_EQ(types("select 1.5 as a union all select 2"), "n");
  EXPECT_EQ(types("select 1 as a union all select 'x'"), "t");
  EXPECT_EQ(types("select null as a union all select 3"), "i");
  EXPECT_EQ(types("select id, name from slice where 0"), "it");
  EXPECT_EQ(types("select overlaps from slice"), "d");
  EXPECT_EQ(made.rows("select 1 as a union all select 2.5 union all select 'x' union all select null"), "1\n2.5\nx\nNULL\n");
  const auto table = answer_query(made.scope(), "select id, dur, start_ns, sum(dur) as total_ns from slice", {});
  EXPECT_EQ(table->columns[0].role, Role::event);
  EXPECT_EQ(table->columns[1].unit, Unit::ns);
  EXPECT_EQ(table->columns[2].role, Role::time_start);
  EXPECT_EQ(table->columns[3].unit, Unit::ns);
}

}  // namespace
}  // namespace ridge::sql
