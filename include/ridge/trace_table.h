// The tables of a trace as its schema has them (docs/schema.md): which there are, their columns as data, and their rows as a
// Table, whole or piece by piece. Arrow, Python and exports stand on it. Nothing is made before it is asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <ridge/table.h>

namespace ridge {

struct TraceColumnInfo {
  std::string_view name;
  Type type;
  std::string_view unit;  // ns, bytes, percent, ...; empty: none
  std::string_view description;
};

struct TraceTableInfo {
  std::string_view name;
  std::string_view description;  // what a row is
  std::span<const TraceColumnInfo> columns;
};

// In the schema's order; the same for every trace.
std::span<const TraceTableInfo> trace_tables();

// One of them in one trace; see Engine::trace_table(). It keeps the trace. Thread-safe.
class TraceTable {
 public:
  TraceTable() = default;
  TraceTable(const TraceTable&) = delete;
  TraceTable& operator=(const TraceTable&) = delete;
  virtual ~TraceTable() = default;

  virtual const TraceTableInfo& info() const = 0;
  virtual std::uint64_t size() const = 0;  // rows

  // Rows [first, first + count), as many of them as there are, with these columns by their place in info().columns. The texts
  // of a column are those of its rows alone.
  virtual Table read(std::span<const std::size_t> columns, std::uint64_t first, std::uint64_t count) const = 0;
};

}  // namespace ridge
