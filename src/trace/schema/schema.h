// The schema: every table of a Trace with its columns, as data. docs/schema.md is written from it; whatever offers the tables
// to others stands on it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "trace/schema/column.h"
#include "trace/schema/table_rows.h"

namespace ridge::schema {

struct Table {
  std::string_view name;
  std::string_view line;  // what a row is
  std::span<const Column> columns;
  TableRows (*rows)(const Trace& trace);
};

std::span<const Table> tables();
const Table* find_table(std::string_view name);  // nullptr when there is none

// The tables by what they are about, each in its file.
std::span<const Table> trace_tables();     // the file: what is around the events and what they share
std::span<const Table> event_tables();     // events: all of them, and one table per class
std::span<const Table> argument_tables();  // arguments by key, and the values of counters

// The schema as docs/schema.md has it.
std::string as_markdown();

}  // namespace ridge::schema
