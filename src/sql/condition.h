// Condition: what a query asks of one column of a table (`dur > 1000`, `name like '%gemm%'`), evaluated over runs of rows
// before SQLite sees one. SQLite checks the rows that are let through again, so that whatever is not told here for certain
// passes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "sql/relation.h"

namespace re2 {
class RE2;
}

namespace ridge::sql {

enum class Compare : std::uint8_t { eq, ne, lt, le, gt, ge, is_null, not_null, like, glob, regexp };

using Constant = std::variant<std::monostate, std::int64_t, double, std::string>;  // std::monostate: null

// A text of a column, told by where it lies: equal texts of a trace lie at one place, so that most are met again.
struct TextPlace {
  const char* data;
  std::size_t size;
  bool operator==(const TextPlace&) const = default;
};
struct TextPlaceHash {
  std::size_t operator()(const TextPlace& text) const {
    return (reinterpret_cast<std::uintptr_t>(text.data) >> 3) * 0x9E3779B97F4A7C15U + text.size;
  }
};

class Condition {
 public:
  // Nothing where the constant does not compare with the column's type as they stand: SQLite converts first.
  static std::optional<Condition> make(const RelationColumn& column, std::size_t index, Compare op, Constant constant);

  Condition(Condition&&) noexcept;
  Condition& operator=(Condition&&) noexcept;
  ~Condition();

  std::size_t column() const { return column_; }
  Type type() const { return type_; }
  Compare op() const { return op_; }
  const Constant& constant() const { return constant_; }

  // Clears the marks of those values that do not hold. `keep` has the length of the buffer.
  void filter(const ValueBuffer& values, std::span<std::uint8_t> keep);

 private:
  Condition(std::size_t column, Type type, Compare op, Constant constant);
  template <class T, class Get>
  void compare_all(const ValueBuffer& values, std::span<std::uint8_t> keep, const T& with, Get get) const;
  bool matches(std::string_view text);

  std::size_t column_;
  Type type_;
  Compare op_;
  Constant constant_;
  std::unique_ptr<const re2::RE2> expression_;
  std::unordered_map<TextPlace, bool, TextPlaceHash> matched_;  // patterns: what was found of each text
};

}  // namespace ridge::sql
