// Takes every constraint that a Condition understands, and the order where it is of columns alone.
#include "sql/plan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <sqlite3.h>

namespace ridge::sql {
namespace {

struct OperatorRow {
  int sqlite;
  Compare op;
  double share;  // of the rows it may let through: a guess, for the order in which tables are joined
};
constexpr std::array kOperators = {
    OperatorRow{SQLITE_INDEX_CONSTRAINT_EQ, Compare::eq, 0.001},
    OperatorRow{SQLITE_INDEX_CONSTRAINT_IS, Compare::eq, 0.001},
    OperatorRow{SQLITE_INDEX_CONSTRAINT_NE, Compare::ne, 0.9},
    OperatorRow{SQLITE_INDEX_CONSTRAINT_LT, Compare::lt, 0.25},
    OperatorRow{SQLITE_INDEX_CONSTRAINT_LE, Compare::le, 0.25},
    OperatorRow{SQLITE_INDEX_CONSTRAINT_GT, Compare::gt, 0.25},
    OperatorRow{SQLITE_INDEX_CONSTRAINT_GE, Compare::ge, 0.25},
    OperatorRow{SQLITE_INDEX_CONSTRAINT_ISNULL, Compare::is_null, 0.1},
    OperatorRow{SQLITE_INDEX_CONSTRAINT_ISNOTNULL, Compare::not_null, 0.9},
    OperatorRow{SQLITE_INDEX_CONSTRAINT_LIKE, Compare::like, 0.1},
    OperatorRow{SQLITE_INDEX_CONSTRAINT_GLOB, Compare::glob, 0.1},
    OperatorRow{SQLITE_INDEX_CONSTRAINT_REGEXP, Compare::regexp, 0.1},
};

const OperatorRow* row_of_operator(unsigned char sqlite) {
  const auto found = std::ranges::find(kOperators, static_cast<int>(sqlite), &OperatorRow::sqlite);
  return found == kOperators.end() ? nullptr : &*found;
}

bool is_binary(sqlite3_index_info* info, int constraint) {
  return sqlite3_stricmp(sqlite3_vtab_collation(info, constraint), "BINARY") == 0;
}

// What SQLite calls the order that it wants, where these rows can be put into it.
Arrange arrangement(sqlite3_index_info* info, std::uint64_t rows) {
  const int mode = sqlite3_vtab_distinct(info);
  if (info->nOrderBy == 0 || rows > std::numeric_limits<std::uint32_t>::max() || mode < 0 || mode > 3) return Arrange::none;
  for (int i = 0; i < info->nOrderBy; ++i) {
    if (info->aOrderBy[i].iColumn < 0) return Arrange::none;
  }
  return mode >= 2 ? Arrange::distinct : Arrange::sorted;
}

}  // namespace

Plan choose_plan(const Relation& relation, sqlite3_index_info* info) {
  Plan plan;
  const auto rows = static_cast<double>(relation.size());
  double share = 1;
  bool looked_up = false;
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& constraint = info->aConstraint[i];
    const OperatorRow* const op = row_of_operator(constraint.op);
    if (!constraint.usable || op == nullptr || constraint.iColumn < 0 || !is_binary(info, i)) continue;
    plan.asked.push_back({static_cast<std::size_t>(constraint.iColumn), op->op});
    info->aConstraintUsage[i].argvIndex = static_cast<int>(plan.asked.size());
    share *= op->share;
    looked_up |= op->op == Compare::eq;
  }
  plan.arrange = arrangement(info, relation.size());
  for (int i = 0; plan.arrange != Arrange::none && i < info->nOrderBy; ++i)
    plan.order.push_back({static_cast<std::size_t>(info->aOrderBy[i].iColumn), info->aOrderBy[i].desc != 0});
  info->orderByConsumed = plan.arrange != Arrange::none;
  const double found = std::max(1.0, rows * share);
  info->estimatedRows = static_cast<sqlite3_int64>(found);
  info->estimatedCost = looked_up ? 20 + found : 20 + found + rows / 8;  // a scan is cheap beside what SQLite does with a row
  return plan;
}

std::string Plan::text() const {
  std::string out(1, static_cast<char>(arrange));
  for (const Asked& each : asked) out += " " + std::to_string(each.column) + "?" + std::to_string(static_cast<int>(each.op));
  for (const OrderKey& key : order) out += " " + std::to_string(key.column) + (key.descending ? "-" : "+");
  return out;
}

Plan Plan::read(std::string_view text) {
  Plan plan;
  plan.arrange = static_cast<Arrange>(text.front());
  const char* at = text.data() + 1;
  const char* const end = text.data() + text.size();
  while (at < end) {
    std::size_t column = 0;
    at = std::from_chars(at + 1, end, column).ptr;
    const char sign = *at++;
    if (sign != '?') {
      plan.order.push_back({column, sign == '-'});
      continue;
    }
    int op = 0;
    at = std::from_chars(at, end, op).ptr;
    plan.asked.push_back({column, static_cast<Compare>(op)});
  }
  return plan;
}

}  // namespace ridge::sql
