// Orders rows by a stable radix sort of codes, from the last key to the first.
#include "sql/row_codes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace ridge::sql {

std::uint64_t TextCodes::code(std::string_view text) {
  const auto [place, new_place] = by_place_.try_emplace(TextPlace{text.data(), text.size()}, 0);
  if (!new_place) return place->second;
  const auto [met, is_new] = by_text_.try_emplace(text, texts_.size());
  if (is_new) texts_.push_back(text);
  return place->second = met->second;
}

const std::uint64_t* TextCodes::find(std::string_view text) const {
  const auto met = by_text_.find(text);
  return met == by_text_.end() ? nullptr : &met->second;
}

std::uint64_t ordered_bits(double number) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const auto bits = std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number);  // -0 is 0
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

namespace {

using Codes = std::vector<std::uint64_t>;

constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

struct CodeColumn {
  Codes codes;
  std::vector<std::uint8_t> known;
};

// Codes of texts become their places in alphabetical order.
void rank_texts(const TextCodes& texts, CodeColumn* column) {
  std::vector<std::uint64_t> order(texts.texts().size()), rank(order.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::uint64_t code) { return texts.texts()[code]; });
  for (std::size_t place = 0; place < order.size(); ++place) rank[order[place]] = place;
  for (std::size_t i = 0; i < column->codes.size(); ++i) {
    if (column->known[i] != 0) column->codes[i] = rank[column->codes[i]];
  }
}

// `ranked`: texts compare by their letters, else by whether they are equal.
CodeColumn codes_of(const Relation& relation, std::size_t index, bool ranked, const Rows& rows) {
  const Type type = relation.columns()[index].type;
  CodeColumn column{Codes(rows.size()), std::vector<std::uint8_t>(rows.size())};
  TextCodes texts;
  each_value(relation, index, rows, [&](std::size_t i, const ValueBuffer& values, std::size_t at) {
    if (!values.known(at)) return;
    column.known[i] = 1;
    if (type == Type::text) {
      column.codes[i] = texts.code(values.text(at));
    } else if (type == Type::number) {
      column.known[i] = !std::isnan(values.number(at));
      column.codes[i] = ordered_bits(values.number(at));
    } else {
      column.codes[i] = std::bit_cast<std::uint64_t>(values.integer(at)) ^ kSignBit;
    }
  });
  if (type == Type::text && ranked) rank_texts(texts, &column);
  return column;
}

// By the digits of their codes, the lowest first; few enough digits for the first level of cache.
void radix_sort(Codes* codes, Rows* rows) {
  constexpr unsigned kBits = 11;
  constexpr std::size_t kBuckets = std::size_t{1} << kBits;
  const std::uint64_t largest = codes->empty() ? 0 : *std::ranges::max_element(*codes);
  Codes other_codes(codes->size());
  Rows other_rows(rows->size());
  for (unsigned shift = 0; shift < 64 && largest >> shift != 0; shift += kBits) {
    std::array<std::size_t, kBuckets + 1> starts{};
    const auto digit = [shift](std::uint64_t code) { return static_cast<std::size_t>(code >> shift) & (kBuckets - 1); };
    for (const std::uint64_t code : *codes) ++starts[digit(code) + 1];
    for (std::size_t i = 1; i <= kBuckets; ++i) starts[i] += starts[i - 1];
    for (std::size_t i = 0; i < codes->size(); ++i) {
      const std::size_t to = starts[digit((*codes)[i])]++;
      other_codes[to] = (*codes)[i];
      other_rows[to] = (*rows)[i];
    }
    codes->swap(other_codes);
    rows->swap(other_rows);
  }
}

// Those that are null go to `unknown`; the rest close up, and their codes count from 0.
void split_unknown(CodeColumn* column, Rows* rows, Rows* unknown) {
  std::size_t kept = 0;
  std::uint64_t least = UINT64_MAX;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    if (column->known[i] == 0) {
      unknown->push_back((*rows)[i]);
      continue;
    }
    least = std::min(least, column->codes[i]);
    column->codes[kept] = column->codes[i];
    (*rows)[kept++] = (*rows)[i];
  }
  column->codes.resize(kept);
  rows->resize(kept);
  for (std::uint64_t& code : column->codes) code -= least;
}

}  // namespace

void order_rows(const Relation& relation, const std::vector<OrderKey>& keys, Rows* rows) {
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
    CodeColumn column = codes_of(relation, key->column, true, *rows);
    Rows unknown;
    split_unknown(&column, rows, &unknown);
    if (key->descending && !column.codes.empty()) {
      const std::uint64_t largest = *std::ranges::max_element(column.codes);
      for (std::uint64_t& code : column.codes) code = largest - code;
    }
    radix_sort(&column.codes, rows);
    rows->insert(key->descending ? rows->end() : rows->begin(), unknown.begin(), unknown.end());
  }
}

void drop_repeated(const Relation& relation, const std::vector<OrderKey>& keys, Rows* rows) {
  if (rows->empty()) return;
  std::vector<std::uint8_t> differs(rows->size(), 0);
  differs[0] = 1;
  for (const OrderKey& key : keys) {
    const CodeColumn column = codes_of(relation, key.column, false, *rows);
    for (std::size_t i = 1; i < rows->size(); ++i) {
      const bool same = column.known[i] == column.known[i - 1] && column.codes[i] == column.codes[i - 1];
      differs[i] |= static_cast<std::uint8_t>(!same);
    }
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    if (differs[i] != 0) (*rows)[kept++] = (*rows)[i];
  }
  rows->resize(kept);
}

}  // namespace ridge::sql
