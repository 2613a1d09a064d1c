// Relation: a table as SQL reads it, whatever it is made of: columns with a type, rows by number, values of a run of rows at a
// time. Texts stay where they are: a value is a view that is valid as long as the relation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/table.h>

namespace ridge::sql {

struct RelationColumn {
  std::string name;
  Type type = Type::integer;
  Unit unit = Unit::none;
  Role role = Role::plain;
  std::string line = {};  // what it means
};

// Values of one column for a run of rows; which of the spans counts is the column's type. Booleans are integers, 0 and 1.
struct ValueRun {
  std::span<std::int64_t> integers;
  std::span<double> numbers;
  std::span<std::string_view> texts;
  std::span<std::uint8_t> known;  // 0: null; its length is the number of rows asked for
};

struct RowRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

class Relation {
 public:
  Relation() = default;
  Relation(const Relation&) = delete;
  Relation& operator=(const Relation&) = delete;
  virtual ~Relation() = default;

  virtual std::span<const RelationColumn> columns() const = 0;
  virtual std::uint64_t size() const = 0;
  // The rows from `first` on into `out`.
  virtual void read(std::size_t column, std::uint64_t first, const ValueRun& out) const = 0;
  // The rows with this value, where they stand together and the relation knows where: no index is needed then.
  virtual std::optional<RowRange> range_of(std::size_t, std::int64_t) const { return std::nullopt; }
};

// Room for the values of a run of rows.
class ValueBuffer {
 public:
  ValueRun room(Type type, std::size_t rows);

  std::size_t size() const { return known_.size(); }
  bool known(std::size_t i) const { return known_[i] != 0; }
  std::int64_t integer(std::size_t i) const { return integers_[i]; }
  double number(std::size_t i) const { return numbers_[i]; }
  std::string_view text(std::size_t i) const { return texts_[i]; }

 private:
  std::vector<std::int64_t> integers_;
  std::vector<double> numbers_;
  std::vector<std::string_view> texts_;
  std::vector<std::uint8_t> known_;
};

}  // namespace ridge::sql
