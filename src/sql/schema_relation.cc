// Reads the schema's columns by their batch getters.
#include "sql/schema_relation.h"

#include <algorithm>
#include <array>
#include <deque>

namespace ridge::sql {
namespace {

Type type_of(schema::ColumnType type) {
  constexpr std::array kTypes = {Type::integer, Type::number, Type::boolean, Type::text};
  return kTypes[static_cast<std::size_t>(type)];
}

Unit unit_of(std::string_view unit) {
  if (unit == "ns") return Unit::ns;
  if (unit == "bytes") return Unit::bytes;
  if (unit == "percent") return Unit::percent;
  if (unit == "flop") return Unit::flop;
  return unit == "count" ? Unit::count : Unit::none;
}

Role role_of(std::string_view name) {
  if (name == "event") return Role::event;
  return name == "start_ns" ? Role::time_start : Role::plain;
}

class SchemaRelation final : public Relation {
 public:
  SchemaRelation(const schema::Table& table, const Trace& trace) : table_(table), rows_(table.rows(trace)) {
    for (const schema::Column& column : table.columns) {
      columns_.push_back(described(column));
      readers_.emplace_back(rows_, column);
    }
  }

  std::span<const RelationColumn> columns() const override { return columns_; }
  std::uint64_t size() const override { return rows_.count; }

  void read(std::size_t column, std::uint64_t first, const ValueRun& out) const override {
    const schema::ColumnReader& reader = readers_[column];
    switch (table_.columns[column].type()) {
      case schema::ColumnType::integer: reader.read<std::int64_t>(first, {out.integers, out.known}); break;
      case schema::ColumnType::number: reader.read<double>(first, {out.numbers, out.known}); break;
      case schema::ColumnType::text: reader.read<std::string_view>(first, {out.texts, out.known}); break;
      case schema::ColumnType::boolean: read_booleans(reader, first, out); break;
    }
  }

 private:
  static void read_booleans(const schema::ColumnReader& reader, std::uint64_t first, const ValueRun& out) {
    std::array<bool, 256> values{};
    for (std::size_t done = 0; done < out.known.size();) {
      const std::size_t count = std::min(values.size(), out.known.size() - done);
      reader.read<bool>(first + done, {std::span(values).first(count), out.known.subspan(done, count)});
      std::copy_n(values.begin(), count, out.integers.begin() + static_cast<std::ptrdiff_t>(done));
      done += count;
    }
  }

  const schema::Table& table_;
  const schema::TableRows rows_;
  std::vector<RelationColumn> columns_;
  std::deque<schema::ColumnReader> readers_;
};

}  // namespace

RelationColumn described(const schema::Column& column) {
  return {std::string(column.name), type_of(column.type()), unit_of(column.unit), role_of(column.name),
          std::string(column.line)};
}

std::unique_ptr<Relation> relation_of(const schema::Table& table, const Trace& trace) {
  return std::make_unique<SchemaRelation>(table, trace);
}

}  // namespace ridge::sql
