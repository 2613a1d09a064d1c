// Takes JSON texts apart. They were written by the reader, so that they are valid; what is not has no leaves.
#include "sql/flat_args.h"

#include <charconv>
#include <utility>

#include <simdjson.h>

namespace ridge::sql {
namespace {

void flatten(const simdjson::dom::element& element, const std::string& path, const std::string& flat,
             std::deque<FlatLeaf>* out) {
  using simdjson::dom::element_type;
  const auto leaf = [&](FlatType type) -> FlatLeaf& {
    FlatLeaf& made = out->emplace_back();
    made.path = path;
    made.flat_path = flat;
    made.value.type = type;
    return made;
  };
  switch (element.type()) {
    case element_type::ARRAY: {
      std::size_t i = 0;
      for (const simdjson::dom::element& each : simdjson::dom::array(element))
        flatten(each, path + "[" + std::to_string(i++) + "]", flat, out);
      break;
    }
    case element_type::OBJECT:
      for (const auto& [key, each] : simdjson::dom::object(element))
        flatten(each, path + "." + std::string(key), flat + "." + std::string(key), out);
      break;
    case element_type::INT64: leaf(FlatType::integer).value.integer = std::int64_t(element); break;
    case element_type::UINT64: leaf(FlatType::number).value.number = static_cast<double>(std::uint64_t(element)); break;
    case element_type::DOUBLE: leaf(FlatType::number).value.number = double(element); break;
    case element_type::BOOL: leaf(FlatType::boolean).value.integer = bool(element) ? 1 : 0; break;
    case element_type::STRING: {
      FlatLeaf& made = leaf(FlatType::text);
      made.text = std::string(std::string_view(element));
      made.value.text = made.text;
      break;
    }
    default: break;
  }
}

}  // namespace

const std::deque<FlatLeaf>& FlatArgs::leaves(StringId json) {
  const auto [found, is_new] = leaves_.try_emplace(json);
  if (!is_new) return found->second;
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  const std::string_view text = trace_.text(json);
  if (parser.parse(text.data(), text.size()).get(root) == simdjson::SUCCESS) flatten(root, "", "", &found->second);
  return found->second;
}

std::optional<FlatValue> FlatArgs::plain(const ArgValue& value) {
  switch (value.type) {
    case ArgType::false_value:
    case ArgType::true_value: return FlatValue{FlatType::boolean, value.type == ArgType::true_value, 0, {}};
    case ArgType::fixed_text:
    case ArgType::text:
    case ArgType::big_integer: return FlatValue{FlatType::text, 0, 0, value.text};
    case ArgType::int32:
    case ArgType::int64: return FlatValue{FlatType::integer, value.integer, 0, {}};
    case ArgType::uint64: return FlatValue{FlatType::number, 0, static_cast<double>(value.large_integer), {}};
    case ArgType::real: return FlatValue{FlatType::number, 0, value.real, {}};
    default: return std::nullopt;
  }
}

std::optional<FlatValue> FlatArgs::find(EventId event, std::string_view key) {
  if (!key.starts_with(kArgsPrefix)) return std::nullopt;
  key.remove_prefix(kArgsPrefix.size());
  for (const Slot& slot : trace_.forms.schema(trace_.events.form(event)).slots) {
    const std::string_view own = trace_.text(slot.key);
    if (slot.member || !key.starts_with(own)) continue;
    const ArgValue value = value_of(trace_, slot, trace_.events.words(event));
    if (value.type != ArgType::json) {
      if (key.size() == own.size()) return plain(value);
      continue;
    }
    for (const FlatLeaf& leaf : leaves(StringId{trace_.events.words(event)[slot.word]})) {
      if (leaf.path == key.substr(own.size())) return leaf.value;
    }
  }
  return std::nullopt;
}

}  // namespace ridge::sql
