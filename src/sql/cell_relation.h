// A relation whose columns are functions of a state and a row: how tables are written that no other part of the house has.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sql/relation.h"

namespace ridge::sql {

// Where the value of one cell goes; what is not set is null.
class CellOut {
 public:
  CellOut(const ValueRun& run, std::size_t i) : run_(run), i_(i) {}
  void set(std::int64_t value) const {
    run_.known[i_] = 1;
    run_.integers[i_] = value;
  }
  void set(double value) const {
    run_.known[i_] = 1;
    run_.numbers[i_] = value;
  }
  void set(std::string_view value) const {
    run_.known[i_] = 1;
    run_.texts[i_] = value;
  }
  template <class T>
  void set(const std::optional<T>& value) const {
    if (value) set(*value);
  }

 private:
  const ValueRun& run_;
  std::size_t i_;
};

template <class State>
struct CellColumn {
  std::string_view name;
  Type type;
  Unit unit;
  Role role;
  std::string_view line;
  void (*value)(const State& state, std::uint64_t row, const CellOut& out);  // nullptr: it is always null
};

template <class State>
class CellRelation : public Relation {
 public:
  CellRelation(const State& state, std::span<const CellColumn<State>> cells, std::uint64_t rows)
      : state_(state), cells_(cells), rows_(rows) {
    for (const auto& c : cells) columns_.push_back({std::string(c.name), c.type, c.unit, c.role, std::string(c.line)});
  }

  std::span<const RelationColumn> columns() const override { return columns_; }
  std::uint64_t size() const override { return rows_; }
  void read(std::size_t column, std::uint64_t first, const ValueRun& out) const override {
    const auto value = cells_[column].value;
    for (std::size_t i = 0; i < out.known.size(); ++i) {
      out.known[i] = 0;
      if (value != nullptr) value(state_, first + i, CellOut(out, i));
    }
  }

 protected:
  const State& state_;

 private:
  std::span<const CellColumn<State>> cells_;
  std::uint64_t rows_;
  std::vector<RelationColumn> columns_;
};

}  // namespace ridge::sql
