// What the tables evaluate themselves is what SQLite would have found: each condition, order and grouping is asked twice, the
// second time of a cast of the column to its own type, which SQLite then evaluates alone.
#include <algorithm>
#include <array>
#include <set>

#include "asked.h"
#include "made_sql_trace.h"
#include "sql/trace_sql.h"
#include "support/files.h"

namespace ridge::sql {
namespace {

std::string in_quotes(std::string_view name) { return "\"" + std::string(name) + "\""; }

void expect_same(const Asked& asked, const std::string& pushed, const std::string& plain) {
  const std::string found = asked.rows(pushed);
  EXPECT_EQ(found, asked.rows(plain)) << pushed;
  EXPECT_EQ(found.find("error"), std::string::npos) << pushed << ": " << found;
}

// Between them they have columns of every type, known and unknown.
constexpr std::array<std::string_view, 3> kVaried = {"slice", "args", "event_args"};

std::string cast(const RelationColumn& column) {
  const char* const type = column.type == Type::text ? "text" : column.type == Type::number ? "real" : "integer";
  return "cast(" + in_quotes(column.name) + " as " + type + ")";
}

// One condition of every kind with constants of every type, each column of each table.
void expect_same_everywhere(const Asked& asked) {
  for (const TableInfo& table : table_list()) {
    if (std::ranges::find(kVaried, table.name) == kVaried.end()) continue;
    for (const RelationColumn& column : table.columns) {
      const std::string name = in_quotes(column.name), same = cast(column), from = " from " + in_quotes(table.name);
      std::string any = asked.rows("select quote(" + name + ")" + from + " where " + name + " is not null limit 1 offset 1");
      any = any.empty() ? "'x'" : any.substr(0, any.size() - 1);
      for (const std::string op : {"=", "<>", "<", "<=", ">", ">=", "is"}) {
        for (const std::string& constant :
             {any, std::string("3"), std::string("2.5"), std::string("'a'"), std::string("null")}) {
          const std::string select = "select count(*)" + from + " where ";
          expect_same(asked, select + name + " " + op + " " + constant, select + same + " " + op + " " + constant);
        }
      }
      for (const std::string pattern :
           {"like '%A%'", "glob '*a*'", "regexp '[ab]$'", "is null", "is not null", "in (1, 2, 'a', "}) {
        const std::string closes = pattern.starts_with("in") ? pattern + any + ")" : pattern;
        expect_same(asked, "select count(*)" + from + " where " + name + " " + closes,
                    "select count(*)" + from + " where " + same + " " + closes);
      }
      for (const std::string order : {"", " desc"})
        expect_same(asked, "select " + name + from + " order by " + name + order,
                    "select " + name + from + " order by " + same + order);
      expect_same(
          asked,
          "select quote(k), n from (select " + name + " as k, count(*) as n" + from + " group by " + name + ") order by +k, +n",
          "select quote(k), n from (select " + same + " as k, count(*) as n" + from + " group by " + same +
              ") order by +k, +n");
      // No sorting behind the grouping: SQLite takes the groups to be in order.
      expect_same(asked, "select quote(" + name + "), count(*)" + from + " group by " + name + " order by " + name,
                  "select quote(" + same + "), count(*)" + from + " group by " + same + " order by " + same);
      expect_same(asked, "select count(*) from (select distinct " + name + from + ")",
                  "select count(*) from (select distinct " + same + from + ")");
    }
  }
}

TEST(SqlPushdown, FindsWhatSqliteFinds) { expect_same_everywhere(Asked(kMadeTrace)); }

TEST(SqlPushdown, FindsWhatSqliteFindsInARealTrace) {
  const Asked asked(test::fixture("compiled_one_kernel"));
  for (const std::string where :
       {"dur > 5000 and name like 'aten%'", "name = 'aten::mm' or dur = 0", "ts between 1 and 1e18 and dur >= 10.5",
        "category = 'kernel' and name glob '*gemm*'", "id in (5, 6, 7, 100000)"}) {
    expect_same(asked, "select name, count(*), sum(dur) from slice where " + where + " group by name order by 3 desc, 1",
                "select +name, count(*), sum(dur) from slice where (" + where + ") is true group by +name order by 3 desc, 1");
  }
  expect_same(asked, "select track_id, ts, dur desc, name from slice order by track_id, ts desc, dur",
              "select track_id, ts, dur desc, name from slice order by +track_id, +ts desc, +dur");
}

// Joins look rows up from the second time on.
TEST(SqlPushdown, JoinsFindEveryRow) {
  const Asked asked(test::fixture("compiled_one_kernel"));
  for (const std::string on :
       {"a.event = b.event", "a.name = b.name", "a.dur_ns = b.dur_ns", "a.track = b.track and a.ph = b.ph"}) {
    const std::string pushed = "select count(*), sum(b.event) from events a join events b on " + on + " where a.event < 50";
    std::string plain = pushed;
    for (std::size_t at = 0; (at = plain.find(" = b.", at)) != std::string::npos; at += 6) plain.replace(at, 5, " = +b.");
    expect_same(asked, pushed, plain);
  }
}

}  // namespace
}  // namespace ridge::sql
