// What a query may do, as SQLite's authorizer and limits have it.
#include "sql/connection.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/nearest.h"
#include "base/stop.h"
#include "base/units.h"
#include "sql/functions.h"

namespace ridge::sql {
namespace {

struct LimitRow {
  int id;
  int value;
};
constexpr LimitRow kLimits[] = {
    {SQLITE_LIMIT_LENGTH, kLongestValue}, {SQLITE_LIMIT_SQL_LENGTH, 1 << 18}, {SQLITE_LIMIT_COLUMN, 256},
    {SQLITE_LIMIT_EXPR_DEPTH, 100},       {SQLITE_LIMIT_COMPOUND_SELECT, 50}, {SQLITE_LIMIT_VDBE_OP, 1 << 18},
    {SQLITE_LIMIT_FUNCTION_ARG, 32},      {SQLITE_LIMIT_ATTACHED, 0},         {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200},
    {SQLITE_LIMIT_TRIGGER_DEPTH, 1},      {SQLITE_LIMIT_WORKER_THREADS, 0},
};

constexpr int kStepsBetweenLooks = 2'000;  // of SQLite's machine: about a tenth of a millisecond

// Tables that SQLite itself brings and that read nothing but their arguments.
constexpr std::string_view kOwnTables[] = {"json_each", "json_tree"};

bool same(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}
template <class List>
bool lists(const List& list, const char* word) {
  return word != nullptr && std::ranges::any_of(list, [&](std::string_view each) { return same(each, word); });
}

bool is_table(const char* name) {
  return lists(kOwnTables, name) ||
         (name != nullptr && std::ranges::any_of(table_list(), [&](const TableInfo& t) { return same(t.name, name); }));
}

// What stands behind a prefix in an error message of SQLite's.
std::optional<std::string> word_behind(std::string_view message, std::string_view prefix) {
  const std::size_t at = message.find(prefix);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view word = message.substr(at + prefix.size());
  return std::string(word.substr(0, word.find_first_of(" (")));
}

std::string nearest_to(std::string_view word, const std::vector<std::string_view>& names, std::string_view otherwise) {
  const std::string near = did_you_mean(word, names);
  return near.empty() ? std::string(otherwise) : near;
}

std::string hint_for(std::string_view message) {
  constexpr std::string_view kList = "ridge sql TRACE --tables lists all tables and columns";
  std::vector<std::string_view> names;
  if (const auto table = word_behind(message, "no such table: ")) {
    if (same(*table, "thread_slice") || same(*table, "process_slice"))
      return "slice JOIN thread_track ON slice.track_id = thread_track.id JOIN thread USING (utid) JOIN process USING (upid)";
    for (const TableInfo& info : table_list()) names.push_back(info.name);
    return nearest_to(*table, names, kList);
  }
  if (auto column = word_behind(message, "no such column: ")) {
    column = column->substr(column->find_last_of('.') + 1);
    for (const TableInfo& info : table_list()) {
      for (const RelationColumn& each : info.columns) {
        if (std::ranges::find(names, each.name) == names.end()) names.push_back(each.name);
      }
    }
    return nearest_to(*column, names, kList);
  }
  if (const auto function = word_behind(message, "no such function: ")) {
    const auto known = allowed_functions();
    return nearest_to(*function, {known.begin(), known.end()}, "SQLite's own functions, regexp() and extract_arg() are there");
  }
  if (message.find("unrecognized token: \"!\"") != std::string_view::npos)
    return "macros of Perfetto's library are not known here: write the query out";
  return {};
}

}  // namespace

Connection::Connection(const Limits& limits)
    : limits_(limits),
      budget_(limits.memory_bytes),
      end_(std::chrono::steady_clock::now() +
           std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(limits.seconds))) {}

Connection::~Connection() { sqlite3_close(handle_); }

int Connection::on_progress(void* connection) {
  const auto& self = *static_cast<const Connection*>(connection);
  return Stop::asked() || std::chrono::steady_clock::now() > self.end_;
}

int Connection::authorize(void* tables, int action, const char* a, const char* b, const char*, const char*) {
  if (static_cast<const Tables*>(tables)->is_declaring()) return SQLITE_OK;
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_READ:  // no column: its rows are counted; it may be a part of the query that bears a name
      return is_table(a) || (b != nullptr && *b == '\0') ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_FUNCTION: return lists(allowed_functions(), b) ? SQLITE_OK : SQLITE_DENY;
    default: return SQLITE_DENY;
  }
}

bool Connection::set_up(TraceSql& tables) {
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(":memory:", &handle_, flags, nullptr) != SQLITE_OK) return false;
  for (const LimitRow& limit : kLimits) sqlite3_limit(handle_, limit.id, limit.value);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  // What is sorted stays in memory, however much it is: the budget bounds it.
  if (sqlite3_exec(handle_, "pragma temp_store = memory; pragma query_only = on", nullptr, nullptr, nullptr) != SQLITE_OK)
    return false;
  if (!offer_tables(handle_, tables) || !offer_functions(handle_, tables.perfetto())) return false;
  // SQLite declares its own tables when they are first used, which the authorizer would refuse.
  for (const std::string_view name : kOwnTables) {
    const std::string query = "select 1 from " + std::string(name) + "('[]')";
    if (sqlite3_exec(handle_, query.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return false;
  }
  sqlite3_set_authorizer(handle_, authorize, static_cast<Tables*>(&tables));
  tables.set_end(end_);
  sqlite3_progress_handler(handle_, kStepsBetweenLooks, on_progress, this);
  return true;
}

Result<std::unique_ptr<Connection>> Connection::open(TraceSql& tables, const Limits& limits) {
  table_list();  // before anything is counted: it is made once
  std::unique_ptr<Connection> made(new Connection(limits));
  if (!made->set_up(tables)) return tl::unexpected(made->error(SQLITE_NOMEM));
  return made;
}

Error Connection::error(int code) const {
  if (Stop::asked()) return {ErrorCode::interrupted, "interrupted", "", ""};
  if (code == SQLITE_INTERRUPT)
    return {ErrorCode::too_large, fmt::format("the query took longer than {} s", limits_.seconds), "",
            "narrow it with WHERE, or raise --max-seconds"};
  if (code == SQLITE_NOMEM || budget_.exceeded())
    return {ErrorCode::too_large,
            fmt::format("the query needs more than {} of memory", format_bytes(static_cast<double>(limits_.memory_bytes))), "",
            "narrow it with WHERE, or raise --max-memory"};
  if (code == SQLITE_TOOBIG)
    return {ErrorCode::too_large, fmt::format("a text is longer than {} bytes", kLongestValue), "",
            "take a part of it with substr()"};
  std::string message = sqlite3_errmsg(handle_);
  if (code == SQLITE_AUTH || message == "not authorized")
    return {ErrorCode::usage, "SQL is for reading: " + message, "",
            "one SELECT, or WITH ... SELECT, on the tables of --tables"};
  return {ErrorCode::usage, message, "", hint_for(message)};
}

}  // namespace ridge::sql
