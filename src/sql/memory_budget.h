// MemoryBudget: how much memory SQLite may take for the query that this thread runs. SQLite's own limit is one for the whole
// process, where several queries run at a time. SQLite's memory goes through functions of ours, which count by thread: a
// connection lives and dies on one.
#pragma once

#include <cstdint>

namespace ridge::sql {

class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t bytes);  // also sets SQLite up, the first time
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;
  ~MemoryBudget();

  bool exceeded() const { return exceeded_; }  // something was refused

 private:
  friend struct BudgetedMemory;
  const std::int64_t most_;
  std::int64_t used_ = 0;
  bool exceeded_ = false;
  MemoryBudget* const before_;
};

}  // namespace ridge::sql
