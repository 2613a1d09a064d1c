// Connection: a SQLite database in memory, empty but for the tables that it is offered, that lets a query read and nothing
// else: no files, no extensions, no change, and bounds on time, memory, depth and the length of values.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <ridge/result.h>

#include "sql/memory_budget.h"
#include "sql/trace_sql.h"

struct sqlite3;

namespace ridge::sql {

struct Limits {
  double seconds = 60;
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;  // of SQLite: sorting, grouping, intermediate results
};

inline constexpr int kLongestValue = 1 << 20;  // bytes; printf('%.*c', 900000000, 'x') is a query too

class Connection {
 public:
  // `tables` must outlive it. On the thread that made it.
  static Result<std::unique_ptr<Connection>> open(TraceSql& tables, const Limits& limits);
  ~Connection();

  sqlite3* handle() const { return handle_; }
  // What SQLite says went wrong, in words that say what to do.
  Error error(int code) const;
  const MemoryBudget& budget() const { return budget_; }

 private:
  explicit Connection(const Limits& limits);
  bool set_up(TraceSql& tables);
  static int on_progress(void* connection);
  static int authorize(void* tables, int action, const char* a, const char* b, const char*, const char*);

  const Limits limits_;
  MemoryBudget budget_;
  const std::chrono::steady_clock::time_point end_;
  sqlite3* handle_ = nullptr;
};

}  // namespace ridge::sql
