// Functions of a query. Texts come from SQLite with their length, since they may hold a NUL.
#include "sql/functions.h"

#include <cstring>
#include <memory>
#include <new>
#include <string>

#include <re2/re2.h>
#include <sqlite3.h>

#include "base/stop.h"
#include "sql/connection.h"
#include "sql/format_function.h"

namespace ridge::sql {
namespace {

constexpr std::string_view kFunctions[] = {
    // aggregates and windows
    "count",
    "sum",
    "total",
    "avg",
    "min",
    "max",
    "group_concat",
    "row_number",
    "rank",
    "dense_rank",
    "percent_rank",
    "cume_dist",
    "ntile",
    "lag",
    "lead",
    "first_value",
    "last_value",
    "nth_value",
    "json_group_array",
    "json_group_object",
    // values
    "abs",
    "coalesce",
    "ifnull",
    "iif",
    "nullif",
    "typeof",
    "round",
    "sign",
    "likely",
    "unlikely",
    "likelihood",
    // texts
    "char",
    "format",
    "glob",
    "hex",
    "instr",
    "length",
    "like",
    "lower",
    "ltrim",
    "printf",
    "quote",
    "replace",
    "rtrim",
    "substr",
    "substring",
    "trim",
    "unicode",
    "upper",
    "regexp",
    "extract_arg",
    // numbers
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "ceil",
    "ceiling",
    "cos",
    "cosh",
    "degrees",
    "exp",
    "floor",
    "ln",
    "log",
    "log10",
    "log2",
    "mod",
    "pi",
    "pow",
    "power",
    "radians",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
    // times
    "date",
    "time",
    "datetime",
    "julianday",
    "strftime",
    "unixepoch",
    // JSON
    "json",
    "json_array",
    "json_array_length",
    "json_extract",
    "json_object",
    "json_quote",
    "json_type",
    "json_valid",
    "->",
    "->>",
};

std::string_view text_of(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return text == nullptr ? std::string_view() : std::string_view(text, static_cast<std::size_t>(sqlite3_value_bytes(value)));
}
bool is_null_value(sqlite3_value* value) { return sqlite3_value_type(value) == SQLITE_NULL; }

void give(sqlite3_context* out, std::string_view text) {
  sqlite3_result_text64(out, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

// No exception goes back into SQLite.
template <void (*Function)(sqlite3_context*, int, sqlite3_value**)>
void guarded_call(sqlite3_context* out, int count, sqlite3_value** values) {
  try {
    Function(out, count, values);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(out);
  } catch (const Stopped&) {
    sqlite3_result_error_code(out, SQLITE_INTERRUPT);
  }
}

// text REGEXP expression, RE2's syntax: in time that grows with the text alone.
void call_regexp(sqlite3_context* out, int, sqlite3_value** values) {
  if (is_null_value(values[0]) || is_null_value(values[1])) return;
  auto* expression = static_cast<re2::RE2*>(sqlite3_get_auxdata(out, 0));
  std::unique_ptr<re2::RE2> made;
  if (expression == nullptr) {
    re2::RE2::Options quiet;
    quiet.set_log_errors(false);
    const std::string_view text = text_of(values[0]);
    made = std::make_unique<re2::RE2>(re2::StringPiece(text.data(), text.size()), quiet);
    expression = made.get();
    if (!made->ok()) {
      const std::string why = "regexp: " + made->error();
      return sqlite3_result_error(out, why.c_str(), static_cast<int>(why.size()));
    }
  }
  const std::string_view text = text_of(values[1]);
  sqlite3_result_int(out, re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *expression) ? 1 : 0);
  if (made) sqlite3_set_auxdata(out, 0, made.release(), [](void* old) { delete static_cast<re2::RE2*>(old); });
}

// extract_arg(arg_set_id, 'args.Input Dims[0][1]')
void call_extract_arg(sqlite3_context* out, int, sqlite3_value** values) {
  const auto& state = *static_cast<const PerfettoState*>(sqlite3_user_data(out));
  if (sqlite3_value_type(values[0]) != SQLITE_INTEGER || is_null_value(values[1])) return;
  const std::int64_t event = sqlite3_value_int64(values[0]);
  if (event < 0 || event >= std::int64_t{state.trace.recorded_events()}) return;
  const auto found = state.flat_args().find(EventId{static_cast<std::uint32_t>(event)}, text_of(values[1]));
  if (!found) return;
  switch (found->type) {
    case FlatType::number: sqlite3_result_double(out, found->number); break;
    case FlatType::text:
      sqlite3_result_text64(out, found->text.data() == nullptr ? "" : found->text.data(), found->text.size(), SQLITE_STATIC,
                            SQLITE_UTF8);
      break;
    default: sqlite3_result_int64(out, found->integer); break;
  }
}

// SQLite's own compare at every place, which is the product of both lengths.
void call_instr(sqlite3_context* out, int, sqlite3_value** values) {
  if (is_null_value(values[0]) || is_null_value(values[1])) return;
  const std::string_view text = text_of(values[0]), part = text_of(values[1]);
  const void* const found = part.empty() ? text.data() : ::memmem(text.data(), text.size(), part.data(), part.size());
  if (found == nullptr && !part.empty()) return sqlite3_result_int(out, 0);
  std::int64_t characters = 1;  // before it
  const char* const end = part.empty() ? text.data() : static_cast<const char*>(found);
  for (const char* at = text.data(); at != end; ++at) characters += (static_cast<unsigned char>(*at) & 0xC0U) != 0x80U;
  sqlite3_result_int64(out, characters);
}

void call_replace(sqlite3_context* out, int, sqlite3_value** values) {
  for (int i = 0; i < 3; ++i) {
    if (is_null_value(values[i])) return;
  }
  std::string_view text = text_of(values[0]);
  const std::string_view part = text_of(values[1]), with = text_of(values[2]);
  if (part.empty()) return sqlite3_result_value(out, values[0]);
  std::string made;
  for (const void* found = nullptr; (found = ::memmem(text.data(), text.size(), part.data(), part.size())) != nullptr;) {
    const auto before = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    made.append(text.substr(0, before)).append(with);
    if (made.size() > static_cast<std::size_t>(kLongestValue)) return sqlite3_result_error_toobig(out);
    text.remove_prefix(before + part.size());
  }
  give(out, made.append(text));
}

// The characters to trim are few: each end of the text is compared with all of them.
enum class Side : int { left = 1, right = 2, both = 3 };
template <Side kSide>
void call_trim(sqlite3_context* out, int, sqlite3_value** values) {
  if (is_null_value(values[0]) || is_null_value(values[1])) return;
  std::string_view text = text_of(values[0]);
  const std::string_view set = text_of(values[1]);
  constexpr std::size_t kMost = 256;
  if (set.size() > kMost) return sqlite3_result_error(out, "trim: at most 256 bytes of characters to trim", -1);
  const auto length = [](unsigned char lead) -> std::size_t { return lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4; };
  const auto each = [&](auto ends) {
    for (std::size_t at = 0; at < set.size();) {
      const std::string_view one = set.substr(at, length(static_cast<unsigned char>(set[at])));
      if (!one.empty() && ends(one)) return one.size();
      at += one.size();
    }
    return std::size_t{0};
  };
  if constexpr (kSide != Side::right) {
    while (const std::size_t size = each([&](std::string_view one) { return text.starts_with(one); })) text.remove_prefix(size);
  }
  if constexpr (kSide != Side::left) {
    while (const std::size_t size = each([&](std::string_view one) { return text.ends_with(one); })) text.remove_suffix(size);
  }
  give(out, text);
}

struct FunctionRow {
  const char* name;
  int arguments;
  void (*call)(sqlite3_context*, int, sqlite3_value**);
};
constexpr FunctionRow kOurs[] = {
    {"regexp", 2, guarded_call<call_regexp>},
    {"extract_arg", 2, guarded_call<call_extract_arg>},
    {"printf", -1, guarded_call<call_format>},
    {"format", -1, guarded_call<call_format>},
    {"instr", 2, guarded_call<call_instr>},
    {"replace", 3, guarded_call<call_replace>},
    {"trim", 2, guarded_call<call_trim<Side::both>>},
    {"ltrim", 2, guarded_call<call_trim<Side::left>>},
    {"rtrim", 2, guarded_call<call_trim<Side::right>>},
};

}  // namespace

std::span<const std::string_view> allowed_functions() { return kFunctions; }

bool offer_functions(sqlite3* connection, const PerfettoState& state) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  for (const FunctionRow& row : kOurs) {
    const int made = sqlite3_create_function_v2(connection, row.name, row.arguments, kFlags, const_cast<PerfettoState*>(&state),
                                                row.call, nullptr, nullptr, nullptr);
    if (made != SQLITE_OK) return false;
  }
  return true;
}

}  // namespace ridge::sql
