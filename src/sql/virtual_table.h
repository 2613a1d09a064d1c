// Relations as tables of a SQLite connection: read-only, known by their names from the start and made when a query names them.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <ridge/result.h>

#include "base/stop.h"
#include "sql/relation.h"

struct sqlite3;

namespace ridge::sql {

// Who gives the relations. One thread at a time.
class Tables {
 public:
  Tables() = default;
  Tables(const Tables&) = delete;
  Tables& operator=(const Tables&) = delete;
  virtual ~Tables() = default;

  virtual std::size_t count() const = 0;
  virtual const std::string& name(std::size_t table) const = 0;
  // Made when first asked for; it lives as long as this.
  virtual Result<const Relation*> relation(std::size_t table) = 0;

  // While SQLite is told of a table's columns: it asks its authorizer as if somebody wrote a schema.
  bool is_declaring() const { return declaring_; }
  void set_declaring(bool declaring) { declaring_ = declaring; }

  // A reading that begins after this is refused: SQLite itself looks at its clock between rows only.
  void set_end(std::chrono::steady_clock::time_point end) { end_ = end; }
  bool is_late() const { return Stop::asked() || std::chrono::steady_clock::now() > end_; }

 private:
  bool declaring_ = false;
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::time_point::max();
};

// Makes every table known to the connection, which `tables` must outlive. False: out of memory.
bool offer_tables(sqlite3* connection, Tables& tables);

}  // namespace ridge::sql
