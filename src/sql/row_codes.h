// Values of a column as integers that compare as SQL does: what rows are ordered, grouped and looked up by.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sql/condition.h"
#include "sql/relation.h"

namespace ridge::sql {

using Rows = std::vector<std::uint32_t>;

// Equal texts have equal codes, in order of first arrival.
class TextCodes {
 public:
  std::uint64_t code(std::string_view text);
  const std::uint64_t* find(std::string_view text) const;                // nullptr: never met
  const std::vector<std::string_view>& texts() const { return texts_; }  // by code

 private:
  std::unordered_map<TextPlace, std::uint64_t, TextPlaceHash> by_place_;
  std::unordered_map<std::string_view, std::uint64_t> by_text_;
  std::vector<std::string_view> texts_;
};

// A double as an integer of the same order.
std::uint64_t ordered_bits(double number);

// One key by which rows are ordered.
struct OrderKey {
  std::size_t column;
  bool descending = false;
};

// Orders rows by these keys, the first one first, rows that are equal as they stood; null comes before everything.
void order_rows(const Relation& relation, const std::vector<OrderKey>& keys, Rows* rows);

// Drops every row that is equal in these columns to the one before it.
void drop_repeated(const Relation& relation, const std::vector<OrderKey>& keys, Rows* rows);

// Calls take(i, values, at) for each of the rows: its value is values' at. Rows in a row are read together.
template <class Take>
void each_value(const Relation& relation, std::size_t column, const Rows& rows, Take take) {
  constexpr std::size_t kMost = 1024;
  ValueBuffer values;
  const Type type = relation.columns()[column].type;
  for (std::size_t i = 0; i < rows.size();) {
    std::size_t count = 1;
    while (count < kMost && i + count < rows.size() && rows[i + count] == rows[i] + count) ++count;
    relation.read(column, rows[i], values.room(type, count));
    for (std::size_t at = 0; at < count; ++at) take(i + at, values, at);
    i += count;
  }
}

}  // namespace ridge::sql
