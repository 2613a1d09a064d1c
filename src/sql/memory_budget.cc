// SQLite's memory functions over malloc, with a count for each thread.
#include "sql/memory_budget.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <sqlite3.h>

namespace ridge::sql {
namespace {

thread_local MemoryBudget* current_budget = nullptr;

}  // namespace

struct BudgetedMemory {
  static std::int64_t size(void* memory) { return static_cast<std::int64_t>(malloc_usable_size(memory)); }

  // Whether there is room for as much more.
  static bool allows(std::int64_t more) {
    MemoryBudget* const budget = current_budget;
    if (budget == nullptr || budget->used_ + more <= budget->most_) return true;
    budget->exceeded_ = true;
    return false;
  }
  static void count(std::int64_t more) {
    if (current_budget != nullptr) current_budget->used_ += more;
  }

  static void* allocate(int bytes) {
    if (!allows(bytes)) return nullptr;
    void* const memory = std::malloc(static_cast<std::size_t>(bytes));
    if (memory != nullptr) count(size(memory));
    return memory;
  }
  static void release(void* memory) {
    if (memory != nullptr) count(-size(memory));
    std::free(memory);
  }
  static void* resize(void* memory, int bytes) {
    const std::int64_t before = memory == nullptr ? 0 : size(memory);
    if (!allows(bytes - before)) return nullptr;
    void* const moved = std::realloc(memory, static_cast<std::size_t>(bytes));
    if (moved != nullptr) count(size(moved) - before);
    return moved;
  }
  static int size_as_int(void* memory) {
    return static_cast<int>(std::min<std::int64_t>(size(memory), std::numeric_limits<int>::max()));
  }
  static int round_up(int bytes) { return (bytes + 7) & ~7; }
  static int start(void*) { return SQLITE_OK; }
  static void stop(void*) {}
};

namespace {

// Before the first connection of the process: this copy of SQLite is ours alone, its names are hidden.
void set_up_sqlite() {
  static const bool kDone = [] {
    sqlite3_mem_methods methods{};
    methods.xMalloc = BudgetedMemory::allocate;
    methods.xFree = BudgetedMemory::release;
    methods.xRealloc = BudgetedMemory::resize;
    methods.xSize = BudgetedMemory::size_as_int;
    methods.xRoundup = BudgetedMemory::round_up;
    methods.xInit = BudgetedMemory::start;
    methods.xShutdown = BudgetedMemory::stop;
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);  // its count takes a lock at each call
    sqlite3_config(SQLITE_CONFIG_MULTITHREAD);   // no connection is shared
    sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
    return sqlite3_initialize() == SQLITE_OK;
  }();
  static_cast<void>(kDone);
}

}  // namespace

MemoryBudget::MemoryBudget(std::uint64_t bytes)
    : most_(static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, std::numeric_limits<std::int64_t>::max() / 2))),
      before_(current_budget) {
  set_up_sqlite();
  current_budget = this;
}

MemoryBudget::~MemoryBudget() { current_budget = before_; }

}  // namespace ridge::sql
