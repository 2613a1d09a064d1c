// How the values of a Table are kept and given back.
#include <ridge/report.h>
#include <ridge/table.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "base/heap_bytes.h"

namespace ridge {
namespace {

// For std::visit.
template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

template <class T, class Got>
std::optional<T> as(const Got& cell) {
  const T* value = std::get_if<T>(&cell);
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

std::size_t bytes_of_value(Type type) {
  switch (type) {
    case Type::text: return sizeof(std::uint32_t);
    case Type::integer: return sizeof(std::int64_t);
    case Type::number: return sizeof(double);
    case Type::boolean: break;  // a bitmap, which is small
  }
  return 0;
}

}  // namespace

std::string_view name_of(Type type) {
  constexpr std::array<std::string_view, 4> kNames = {"text", "integer", "number", "boolean"};  // in the order of the enum
  return kNames[static_cast<std::size_t>(type)];
}

std::string_view name_of(Unit unit) {
  constexpr std::array<std::string_view, 8> kNames = {"",     "count",   "ns",         "bytes",
                                                      "flop", "percent", "flop_per_s", "bytes_per_s"};
  return kNames[static_cast<std::size_t>(unit)];
}

CellView view_of(const Cell& cell) {
  return std::visit(Overloaded{[](const std::string& text) { return CellView(std::string_view(text)); },
                               [](const auto& value) { return CellView(value); }},
                    cell);
}

Cell owned(const CellView& cell) {
  return std::visit(
      Overloaded{[](std::string_view text) { return Cell(std::string(text)); }, [](const auto& value) { return Cell(value); }},
      cell);
}

CellView Values::at(std::size_t row) const {
  if (!known_[row]) return {};
  return std::visit(Overloaded{[](std::monostate) { return CellView(); },
                               [&](const Texts& texts) { return CellView(texts.dictionary.text(texts.codes[row])); },
                               [&](const Bitmap& flags) { return CellView(flags[row]); },
                               [&](const auto& numbers) { return CellView(numbers[row]); }},
                    of_);
}

// An empty vector of that type, in the place of none.
void Values::hold(Type type) {
  if (!std::holds_alternative<std::monostate>(of_)) return;
  switch (type) {
    case Type::text: of_.emplace<Texts>(); break;
    case Type::integer: of_.emplace<ColumnVector<std::int64_t>>(); break;
    case Type::number: of_.emplace<ColumnVector<double>>(); break;
    case Type::boolean: of_.emplace<Bitmap>(); break;
  }
}

void Values::push(Type type, const CellView& cell) {
  hold(type);
  // The value in the column's type; an unknown one has a place too.
  const auto put = [&]<class T>(auto& values, T otherwise) {
    const T* value = std::get_if<T>(&cell);
    values.push_back(value != nullptr ? *value : otherwise);
    known_.push_back(value != nullptr);
    assert(value != nullptr || is_null(cell));
  };
  std::visit(Overloaded{[](std::monostate) {},
                        [&](Texts& texts) {
                          const auto* text = std::get_if<std::string_view>(&cell);
                          texts.codes.push_back(text != nullptr ? texts.dictionary.add(*text) : 0);
                          known_.push_back(text != nullptr);
                          assert(text != nullptr || is_null(cell));
                        },
                        [&](ColumnVector<double>& numbers) {
                          const auto* whole = std::get_if<std::int64_t>(&cell);
                          if (whole == nullptr) return put(numbers, 0.0);
                          numbers.push_back(static_cast<double>(*whole));
                          known_.push_back(true);
                        },
                        [&](Bitmap& flags) { put(flags, false); },
                        [&](ColumnVector<std::int64_t>& integers) { put(integers, std::int64_t{0}); }},
             of_);
}

std::span<const std::int64_t> Values::integers() const {
  const auto* values = std::get_if<ColumnVector<std::int64_t>>(&of_);
  return values != nullptr ? std::span<const std::int64_t>(*values) : std::span<const std::int64_t>();
}

std::span<const double> Values::numbers() const {
  const auto* values = std::get_if<ColumnVector<double>>(&of_);
  return values != nullptr ? std::span<const double>(*values) : std::span<const double>();
}

void Values::append(std::span<const std::string_view> texts, std::span<const std::uint8_t> known) {
  hold(Type::text);
  Texts& all = std::get<Texts>(of_);
  for (std::size_t i = 0; i < texts.size(); ++i) all.codes.push_back(known[i] != 0 ? all.dictionary.add(texts[i]) : 0);
  known_.append(known);
}

void Values::append_unknown(Type type, std::size_t rows) {
  hold(type);
  known_.append_unset(rows);
  std::visit(Overloaded{[](std::monostate) {}, [&](Texts& texts) { texts.codes.append_zeros(rows); },
                        [&](Bitmap& flags) { flags.append_unset(rows); }, [&](auto& values) { values.append_zeros(rows); }},
             of_);
}

Values::Rows Values::rows_to_write() {
  Rows rows;
  rows.known = known_.words_to_write();
  std::visit(Overloaded{[](std::monostate) {}, [&](Bitmap& flags) { rows.booleans = flags.words_to_write(); },
                        [&](ColumnVector<std::int64_t>& integers) { rows.integers = integers.to_write(); },
                        [&](ColumnVector<double>& numbers) { rows.numbers = numbers.to_write(); },
                        [&](Texts& texts) {
                          rows.codes = texts.codes.to_write();
                          rows.dictionary = &texts.dictionary;
                        }},
             of_);
  return rows;
}

void Values::reserve(Type type, std::size_t rows, const std::shared_ptr<ColumnRoom>& room) {
  hold(type);
  known_.reserve(rows);
  std::visit(Overloaded{[](std::monostate) {}, [&](Texts& texts) { texts.codes.reserve(rows, room); },
                        [&](Bitmap& flags) { flags.reserve(rows); }, [&](auto& values) { values.reserve(rows, room); }},
             of_);
}

void Values::truncate(std::size_t rows) {
  if (rows >= size()) return;
  known_.truncate(rows);
  std::visit(Overloaded{[](std::monostate) {}, [&](Texts& texts) { texts.codes.truncate(rows); },
                        [&](auto& values) { values.truncate(rows); }},
             of_);
}

std::optional<std::int64_t> Column::int64(std::size_t row) const { return as<std::int64_t>(at(row)); }
std::optional<bool> Column::boolean(std::size_t row) const { return as<bool>(at(row)); }
std::optional<std::string_view> Column::text(std::size_t row) const { return as<std::string_view>(at(row)); }

std::optional<double> Column::number(std::size_t row) const {
  const CellView cell = at(row);
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  return as<double>(cell);
}

void Table::add_row(const Row& row) {
  assert(row.size() <= columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i].push(i < row.size() ? view_of(row[i]) : CellView());
}

void Table::add_column(Column column, const Row& cells) {
  for (const Cell& cell : cells) column.push(view_of(cell));
  columns.push_back(std::move(column));
}

void Table::reserve(std::size_t rows) {
  std::size_t bytes = 0;
  for (const Column& column : columns) bytes += rows * bytes_of_value(column.type) + ColumnRoom::kAlignment;
  const auto room = bytes >= ColumnRoom::kLarge ? std::make_shared<ColumnRoom>(bytes) : nullptr;
  for (Column& column : columns) column.values.reserve(column.type, rows, room);
}

void Table::truncate(std::size_t rows) {
  for (Column& column : columns) column.values.truncate(rows);
}

Row Table::row(std::size_t i) const {
  Row out;
  out.reserve(columns.size());
  for (const Column& column : columns) out.push_back(owned(column.at(i)));
  return out;
}

const Column* Table::find(std::string_view column) const {
  const auto found = std::ranges::find(columns, column, &Column::name);
  return found == columns.end() ? nullptr : &*found;
}

const Column& Table::column(std::string_view called) const {
  const Column* found = find(called);
  assert(found != nullptr);
  return *found;
}

std::uint64_t Values::heap_bytes() const {
  return ridge::heap_bytes(known_) +
         std::visit(Overloaded{[](std::monostate) { return std::uint64_t{0}; },
                               [](const Texts& texts) { return ridge::heap_bytes(texts.codes, texts.dictionary); },
                               [](const auto& values) { return ridge::heap_bytes(values); }},
                    of_);
}

std::uint64_t Table::heap_bytes() const {
  std::uint64_t bytes = hints.joined.titles.values.heap_bytes();
  for (const Column& each : columns) bytes += each.values.heap_bytes();
  return bytes;
}

std::uint64_t Report::memory_bytes() const {
  std::uint64_t bytes = sizeof(Report);
  for (const Table& table : tables) bytes += sizeof(Table) + table.heap_bytes();
  for (const Series& each : series) bytes += sizeof(Series) + each.points.capacity() * sizeof each.points[0];
  return bytes;
}

}  // namespace ridge
