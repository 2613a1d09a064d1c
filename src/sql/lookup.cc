// Codes and rows side by side, in the order of the codes.
#include "sql/lookup.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace ridge::sql {
namespace {

constexpr std::uint64_t kTopBit = std::uint64_t{1} << 63;

std::uint64_t code_of_integer(std::int64_t value) { return std::bit_cast<std::uint64_t>(value) ^ kTopBit; }

}  // namespace

Lookup::Lookup(const Relation& relation, std::size_t column) {
  Rows all(relation.size());
  std::iota(all.begin(), all.end(), 0U);
  const Type type = relation.columns()[column].type;
  each_value(relation, column, all, [&](std::size_t i, const ValueBuffer& values, std::size_t at) {
    if (!values.known(at)) return;  // null equals nothing
    rows_.push_back(all[i]);
    if (type == Type::text) {
      codes_.push_back(texts_.code(values.text(at)));
    } else {
      codes_.push_back(type == Type::number ? ordered_bits(values.number(at)) : code_of_integer(values.integer(at)));
    }
  });
  if (std::ranges::is_sorted(codes_)) return;
  Rows order(rows_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return codes_[i]; });
  std::vector<std::uint64_t> codes(codes_.size());
  for (std::size_t i = 0; i < order.size(); ++i) codes[i] = codes_[order[i]];
  for (std::uint32_t& place : order) place = rows_[place];
  codes_ = std::move(codes);
  rows_ = std::move(order);
}

std::span<const std::uint32_t> Lookup::rows_of_code(std::uint64_t code) const {
  const auto [first, last] = std::ranges::equal_range(codes_, code);
  return std::span(rows_).subspan(static_cast<std::size_t>(first - codes_.begin()), static_cast<std::size_t>(last - first));
}

std::span<const std::uint32_t> Lookup::rows(const Constant& constant) const {
  if (const auto* text = std::get_if<std::string>(&constant)) {
    const std::uint64_t* code = texts_.find(*text);
    return code == nullptr ? std::span<const std::uint32_t>() : rows_of_code(*code);
  }
  if (const auto* number = std::get_if<double>(&constant)) return rows_of_code(ordered_bits(*number));
  return rows_of_code(code_of_integer(std::get<std::int64_t>(constant)));
}

}  // namespace ridge::sql
