// Cursor: one reading of a relation as a Plan asks for it: conditions are evaluated over runs of rows, rows ordered, and values
// given one by one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sql/condition.h"
#include "sql/lookup.h"
#include "sql/plan.h"
#include "sql/relation.h"

namespace ridge::sql {

// A relation that is being asked: with what was looked up in it.
class AskedRelation {
 public:
  explicit AskedRelation(const Relation& relation) : relation_(relation), columns_(relation.columns().size()) {}

  const Relation& relation() const { return relation_; }
  // The rows of which this holds, where that is known without a scan: from the second time on that it is asked for.
  std::optional<std::span<const std::uint32_t>> find(const Condition& equal);

 private:
  struct Column {
    unsigned asked = 0;
    std::optional<Lookup> lookup;
  };
  const Relation& relation_;
  std::vector<Column> columns_;
};

struct CellValue {
  Type type = Type::integer;
  bool known = false;
  std::int64_t integer = 0;
  double number = 0;
  std::string_view text;
};

class Cursor {
 public:
  explicit Cursor(AskedRelation& asked);

  // Starts a reading. The conditions are those of the plan for which there is a constant.
  void start(const Plan& plan, std::vector<Condition> conditions);

  bool at_end() const { return at_ >= selected_.size(); }
  std::uint32_t row() const { return selected_[at_]; }
  void next() {
    if (++at_ >= selected_.size() && scanned_ < scan_end_) fill();
  }
  CellValue value(std::size_t column);

 private:
  // Values of a run of rows, read together because most of them will be asked for.
  struct Batch {
    std::uint64_t run = 0;  // of fill(); 0: none
    ValueBuffer values;
  };

  std::optional<RowRange> known_range() const;
  std::optional<std::span<const std::uint32_t>> look_up();
  void fill();                                     // the next run of rows that is not empty
  void filter(std::span<const std::uint32_t> in);  // those that hold, into selected_

  AskedRelation& asked_;
  const Relation& relation_;
  std::vector<Condition> conditions_;
  Rows selected_;
  std::size_t at_ = 0;
  std::uint64_t scanned_ = 0;   // rows of a scan done
  std::uint64_t scan_end_ = 0;  // 0: no scan
  std::uint64_t run_ = 0;
  std::uint64_t run_first_ = 0;  // the run's first row, and how many it has; none: rows are read one by one
  std::size_t run_rows_ = 0;
  std::vector<Batch> batches_;
  ValueBuffer single_;
  std::vector<std::uint8_t> keep_;
};

}  // namespace ridge::sql
