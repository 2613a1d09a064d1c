// The functions that a query may call: those of SQLite that read nothing but their arguments, and ours: regexp() and
// extract_arg(). Those of SQLite's that take the product of their texts' lengths have a linear form here.
#pragma once

#include <span>
#include <string_view>

#include "sql/perfetto.h"

struct sqlite3;

namespace ridge::sql {

std::span<const std::string_view> allowed_functions();

// `state` must outlive the connection. False: out of memory.
bool offer_functions(sqlite3* connection, const PerfettoState& state);

}  // namespace ridge::sql
