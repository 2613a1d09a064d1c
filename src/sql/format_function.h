// printf() and format() of a query: SQLite's for what people write, with bounds on width and precision, which SQLite's lacks:
// one call of printf('%.*c', 2000000000, 'x') takes it seconds in which nothing can stop it.
#pragma once

struct sqlite3_context;
struct sqlite3_value;

namespace ridge::sql {

void call_format(sqlite3_context* out, int count, sqlite3_value** values);

}  // namespace ridge::sql
