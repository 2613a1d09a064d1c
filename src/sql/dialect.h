// What Perfetto's dialect of SQL has and SQLite has not: an error that says what to use instead.
#pragma once

#include <optional>
#include <string_view>

#include <ridge/result.h>

namespace ridge::sql {

// Why a query cannot be understood here; nothing of a query of SQLite's.
std::optional<Error> refuse_dialect(std::string_view query);

// Whether anything but spaces, comments and semicolons is left.
bool is_more_than_blank(std::string_view sql);

}  // namespace ridge::sql
