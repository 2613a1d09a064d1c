// JsonValue: JSON that came from outside, as a tree. Whoever reads it bounds its length first; its depth is bounded here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <ridge/result.h>

namespace ridge::mcp {

inline constexpr std::size_t kDeepestJson = 32;

struct JsonMember;

struct JsonValue {
  using List = std::vector<JsonValue>;
  using Members = std::vector<JsonMember>;  // in their order; a name may come twice

  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, List, Members> of;

  // Null where it is of another type.
  const bool* boolean() const { return std::get_if<bool>(&of); }
  const std::int64_t* integer() const { return std::get_if<std::int64_t>(&of); }
  const std::string* text() const { return std::get_if<std::string>(&of); }
  const List* list() const { return std::get_if<List>(&of); }
  const Members* object() const { return std::get_if<Members>(&of); }

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(of); }

  // The first member of that name; null where there is none or this is no object.
  const JsonValue* find(std::string_view name) const;
};

struct JsonMember {
  std::string name;
  JsonValue value;
};

// Refuses what is no JSON, no UTF-8, or deeper than kDeepestJson.
Result<JsonValue> parse_json(std::string_view text);

// The member of that name of the outermost object, of a text that parse_json refused: what stands before it must close, what
// its neighbours hold need not be readable. An integer or a string; null for anything else.
JsonValue salvage_member(std::string_view text, std::string_view name);

}  // namespace ridge::mcp
