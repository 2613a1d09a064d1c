// The one file here that knows simdjson: its tape becomes a tree that owns its texts.
#include "json_value.h"

#include <algorithm>

#include <simdjson.h>

namespace ridge::mcp {
namespace {

namespace dom = simdjson::dom;

JsonValue value_of(const dom::element& element) {
  switch (element.type()) {
    case dom::element_type::ARRAY: {
      JsonValue::List list;
      for (const dom::element& each : dom::array(element)) list.push_back(value_of(each));
      return {std::move(list)};
    }
    case dom::element_type::OBJECT: {
      JsonValue::Members members;
      for (const dom::key_value_pair& each : dom::object(element))
        members.push_back({std::string(each.key), value_of(each.value)});
      return {std::move(members)};
    }
    case dom::element_type::STRING: return {std::string(std::string_view(element))};
    case dom::element_type::INT64: return {std::int64_t(element)};
    case dom::element_type::UINT64:  // only those that are no int64
      return {static_cast<double>(std::uint64_t(element))};
    case dom::element_type::DOUBLE: return {double(element)};
    case dom::element_type::BOOL: return {bool(element)};
    default: return {nullptr};
  }
}

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
  const Members* members = object();
  if (members == nullptr) return nullptr;
  const auto found = std::ranges::find(*members, name, &JsonMember::name);
  return found == members->end() ? nullptr : &found->value;
}

Result<JsonValue> parse_json(std::string_view text) {
  dom::parser parser;
  dom::element root;
  simdjson::error_code error = parser.allocate(std::max<std::size_t>(text.size(), 64), kDeepestJson);
  if (!error) error = parser.parse(text.data(), text.size()).get(root);  // copies it, with the room that it reads ahead
  if (error) return fail(ErrorCode::usage, std::string("invalid JSON: ") + simdjson::error_message(error));
  return value_of(root);
}

// On demand: values that are not asked for are stepped over, not parsed.
JsonValue salvage_member(std::string_view text, std::string_view name) {
  namespace ondemand = simdjson::ondemand;
  ondemand::parser parser;
  ondemand::document document;
  ondemand::value value;
  const simdjson::padded_string padded(text);
  if (parser.iterate(padded).get(document) || document.find_field(name).get(value)) return {nullptr};
  std::int64_t number = 0;
  std::string_view string;
  if (!value.get_int64().get(number)) return {number};
  if (!value.get_string().get(string)) return {std::string(string)};
  return {nullptr};
}

}  // namespace ridge::mcp
